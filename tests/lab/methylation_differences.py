#!/usr/bin/env python3
"""What differs between two groups, drawn on real CpGs: compare --posterior beside the segmentation of modkit dmr.

    methylation_differences.py --program build/release/bin/semicrf --calls r1.cov --calls r2.cov --out FOLDER [--seed N] [--changed .1]

Two groups of two samples have the CpGs that both files have, with the coverages of the files. A share of the segments of one group has another label in the
other; elsewhere each CpG is methylated to the same share in all samples. modkit's model is the one that its book describes ("DMR segmentation hidden Markov
model"): two states, the probability of `same` exp(-score), the score a ratio of marginal likelihoods of the pooled counts under Jeffreys' priors,
transitions by distance (prior .1, stay .9, decay of 500 bases, linear). Prints a table. Standard library only.
"""

import argparse
import bisect
import math
import pathlib
import random
import subprocess

from methylation import draw_labels, draw_shares, write_calls
from pairs import pairs_within

PRIOR, STAY, DECAY = .1, .9, 500
WITHIN = 2  # CpGs


def changed_labels(labels, share, draw):
    """Some segments have another label, which is not that of their neighbours."""
    changed = list(labels)
    begin = 0
    for end in range(1, len(labels) + 1):
        if end < len(labels) and labels[end] == labels[begin]:
            continue
        if draw.random() < share:
            beside = {changed[begin - 1] if begin > 0 else None, labels[end] if end < len(labels) else None, labels[begin]}
            changed[begin:end] = [draw.choice([label for label in range(4) if label not in beside])] * (end - begin)
        begin = end
    return changed


def log_marginal(methylated, other):
    """Of the counts under the posterior that they give a Beta(1/2, 1/2)."""
    def log_beta(a, b):
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    a, b = methylated + .5, other + .5
    return log_beta(a + methylated, b + other) - log_beta(a, b)


def modkit_states(bases, first, second):
    """The most probable path of `differs` (1) and `same` (0); counts of either group."""
    best, back = None, []
    for i, (a, b) in enumerate(zip(first, second)):
        score = log_marginal(*a) + log_marginal(*b) - log_marginal(a[0] + b[0], a[1] + b[1])
        same = min(1 - 1e-10, max(1e-10, math.exp(-score)))
        emission = [math.log(same), math.log(1 - same)]
        if best is None:
            best = [math.log(1 - PRIOR) + emission[0], math.log(PRIOR) + emission[1]]
            continue
        near = max(0.0, 1 - (bases[i] - bases[i - 1]) / DECAY)
        stay = PRIOR + (STAY - PRIOR) * near
        ways = [[best[0] + math.log(1 - PRIOR), best[1] + math.log(1 - stay)], [best[0] + math.log(PRIOR), best[1] + math.log(stay)]]
        back.append([0 if way[0] >= way[1] else 1 for way in ways])
        best = [max(way) + emission[state] for state, way in enumerate(ways)]
    path = [0 if best[0] >= best[1] else 1]
    for choice in reversed(back):
        path.append(choice[path[-1]])
    return path[::-1]


def write_posteriors(program, groups, out):
    """Of each sample, by a model of all."""
    samples = [word for group in groups for path in group for word in ("--sample", "%s=%s" % (path.stem, path))]
    model = out / "model.json"
    subprocess.run([program, "learn", "-q", "--preset", "methylation", "-t", "2", *samples, "-o", model], check=True)
    for group in groups:
        for path in group:
            prefix = out / path.stem
            subprocess.run([program, "posterior", "-q", "--sites", "-p", model, "--labels-out", prefix, "-o", "%s.bedgraph" % prefix, path], check=True)


def semicrf_states(program, groups, out, bases, fdr):
    """The CpGs within regions that differ at this false discovery rate."""
    regions = out / "regions.bed"
    names = ["%s=%s" % (name, ",".join(str(out / path.stem) for path in group)) for name, group in zip("ab", groups)]
    subprocess.run([program, "compare", "--fdr", str(fdr), "--posterior", *names, "--regions", regions, "-o", out / "summary.tsv"], check=True)
    states = [0] * len(bases)
    for row in (line.split("\t") for line in regions.read_text().splitlines() if not line.startswith("#")):
        for i in range(bisect.bisect_left(bases, int(row[1])), bisect.bisect_left(bases, int(row[2]))):
            states[i] = 1
    return states


def edges(states):
    return [i for i in range(1, len(states)) if states[i] != states[i - 1]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--calls", required=True, action="append")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--changed", type=float, default=.1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    files = [{int(row[1]): row for row in (line.split() for line in open(path))} for path in options.calls]
    both = sorted(set(files[0]) & set(files[1]))
    rows = [[file[base] for base in both] for file in files]
    bases = [base - 1 for base in both]
    draw = random.Random(options.seed)
    labels = draw_labels(rows[0], draw)
    others = changed_labels(labels, options.changed, draw)
    shares = draw_shares(labels, draw)
    new = draw_shares(others, draw)
    of_others = [one if a == b else two for one, two, a, b in zip(shares, new, labels, others)]
    groups, counts = [], []
    for name, group in (("a", shares), ("b", of_others)):
        paths = [options.out / ("%s%d.cov" % (name, i + 1)) for i in range(len(rows))]
        for path, coverage in zip(paths, rows):
            write_calls(coverage, group, draw, path)
        groups.append(paths)
        columns = [[(int(row[4]), int(row[5])) for row in (line.split() for line in open(path))] for path in paths]
        counts.append([(sum(one[0] for one in site), sum(one[1] for one in site)) for site in zip(*columns)])
    true = [int(a != b) for a, b in zip(labels, others)]
    print("%d CpGs, %d of them differ; %d edges" % (len(true), sum(true), len(edges(true))))
    print("method\tfalse of those reported\tfound\tF1 of CpGs\tregions\tF1 of edges within %d CpGs" % WITHIN)
    found = {"modkit's model": modkit_states(bases, *counts)}
    write_posteriors(options.program, groups, options.out)
    for fdr in (.05, .2):
        found["compare --posterior --fdr %g" % fdr] = semicrf_states(options.program, groups, options.out, bases, fdr)
    for name, states in found.items():
        hits = sum(a and b for a, b in zip(states, true))
        here, there = edges(states), edges(true)
        matched = pairs_within(there, here, WITHIN)
        print("%s\t%.3f\t%.3f\t%.3f\t%d\t%.3f" % (name, 1 - hits / max(1, sum(states)), hits / sum(true), 2 * hits / (sum(states) + sum(true)),
                                                  (len(here) + 1) // 2, 2 * matched / (len(here) + len(there))))


if __name__ == "__main__":
    main()
