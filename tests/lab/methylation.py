#!/usr/bin/env python3
"""Boundaries of simulated methylation: the preset beside hidden Markov models of two labels with distances.

    methylation.py --program build/release/bin/semicrf --calls r1.cov --out FOLDER [--seed N]

CpGs and coverages are those of --calls, a coverage file of Bismark with one chromosome (docs/methylation.md has how BS.chr22 becomes one); levels
and boundaries are drawn. Prints a table. Standard library only.
"""

import argparse
import bisect
import pathlib
import random
import subprocess

from pairs import pairs_within

LENGTHS = [2000, 1500, 4000, 12000]  # bases: unmethylated, low, partial, full
LEVELS = [(.04, 15), (.25, 6), (.6, 6), (.9, 10)]  # mean and size of the beta distribution
FOLLOWING = [[0, .1, .2, .7], [.1, 0, .2, .7], [.1, .1, 0, .8], [.35, .25, .4, 0]]
MODELS = {"two labels, binomial": ["--sites", "--labels", "2", "--emission", "binomial"],
          "two labels, beta-binomial": ["--sites", "--labels", "2", "--emission", "beta-binomial"],
          "preset": ["--preset", "methylation"]}


def draw_labels(rows, draw):
    """A label for each row of a coverage file."""
    labels = []
    label, end = 3, None
    for row in rows:
        base = int(row[1]) - 1
        end = base + draw.expovariate(1 / LENGTHS[label]) if end is None else end
        while base >= end:
            label = draw.choices(range(4), FOLLOWING[label])[0]
            end += draw.expovariate(1 / LENGTHS[label])
        labels.append(label)
    return labels


def draw_shares(labels, draw):
    """The share of each CpG that is methylated."""
    return [draw.betavariate(mean * size, (1 - mean) * size) for mean, size in (LEVELS[label] for label in labels)]


def write_calls(rows, shares, draw, out):
    """As many calls of each CpG as its row has, drawn with its share."""
    lines = []
    for row, share in zip(rows, shares):
        calls = int(row[4]) + int(row[5])
        methylated = sum(draw.random() < share for _ in range(calls))
        lines.append("%s\t%s\t%s\t%.6g\t%d\t%d\n" % (row[0], row[1], row[1], 100 * methylated / calls, methylated, calls - methylated))
    out.write_text("".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--calls", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    calls = options.out / "simulated.cov"
    rows, draw = [line.split() for line in open(options.calls)], random.Random(options.seed)
    labels = draw_labels(rows, draw)
    write_calls(rows, draw_shares(labels, draw), draw, calls)
    bases = [int(row[1]) - 1 for row in rows]
    true = [i for i in range(1, len(labels)) if labels[i] != labels[i - 1]]
    print("model\tboundaries\tfound\tprecision\trecall\tF1\tF1 at the CpG\tF1 within 5")
    for name, arguments in MODELS.items():
        model, segments = options.out / "model.json", options.out / "segments.bed"
        subprocess.run([options.program, "learn", "-q", *arguments, "-o", model, calls], check=True)
        subprocess.run([options.program, "decode", "-q", "--sites", "-p", model, "-o", segments, calls], check=True)
        rows = [line.split("\t") for line in segments.read_text().splitlines() if not line.startswith("#")]
        found = sorted({bisect.bisect_left(bases, int(row[1])) for row in rows} - {0})
        scores = []
        for tolerance in (2, 0, 5):
            hits = pairs_within(true, found, tolerance)
            precision, recall = hits / max(1, len(found)), hits / len(true)
            scores += [precision, recall] if tolerance == 2 else []
            scores.append(2 * precision * recall / max(1e-9, precision + recall))
        print("%s\t%d\t%d\t%s" % (name, len(true), len(found), "\t".join("%.3f" % score for score in scores)))


if __name__ == "__main__":
    main()
