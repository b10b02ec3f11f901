#!/usr/bin/env python3
"""Made calls of methylation of two groups, two samples each, as Bismark's coverage files.

    make_methylation_data.py FOLDER

700 CpGs of a chromosome: islands of close, unmethylated ones, stretches of low and partial methylation, and full methylation between them. The
treated samples lose methylation in three stretches, which changed.bed has. Standard library only; always the same bytes.
"""

import gzip
import pathlib
import random
import sys

LEVELS = {"unmethylated": (.03, 15), "low": (.25, 6), "partial": (.6, 6), "full": (.9, 12)}  # mean, size of the beta distribution
STRETCHES = [("full", 60), ("unmethylated", 50), ("full", 80), ("partial", 60), ("full", 70), ("low", 40), ("full", 60), ("unmethylated", 50), ("full", 90),
             ("partial", 50), ("full", 90)]  # CpGs
CHANGED = {2: (20, 55, "low"), 6: (10, 40, "unmethylated"), 8: (30, 70, "partial")}  # by stretch: CpGs and what they become


def truth(draw):
    """(base, label of the controls, label of the treated) of each CpG."""
    base, found = 1000, []
    for number, (label, count) in enumerate(STRETCHES):
        begin, end, other = CHANGED.get(number, (0, 0, label))
        for i in range(count):
            base += 2 + int(draw.expovariate(1 / (12 if label == "unmethylated" else 110)))
            found.append((base, label, other if begin <= i < end else label))
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)
    sites = truth(draw)
    for group in ("control", "treated"):
        for sample in (1, 2):
            lines = []
            for base, *labels in sites:
                mean, size = LEVELS[labels[group == "treated"]]
                share = draw.betavariate(mean * size, (1 - mean) * size)
                calls = 1 + min(40, int(draw.expovariate(1 / 10)))
                methylated = sum(draw.random() < share for _ in range(calls))
                lines.append("chr1\t%d\t%d\t%.4g\t%d\t%d\n" % (base + 1, base + 1, 100 * methylated / calls, methylated, calls - methylated))
            (folder / ("%s%d.cov.gz" % (group, sample))).write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    runs = []
    for base, label, other in sites:
        if label == other:
            continue
        if runs and runs[-1][2:] == [label + "|" + other] and base - runs[-1][1] < 2000:
            runs[-1][1] = base + 1
        else:
            runs.append([base, base + 1, label + "|" + other])
    (folder / "changed.bed").write_text("".join("chr1\t%d\t%d\t%s\n" % tuple(run) for run in runs))


if __name__ == "__main__":
    main()
