#!/usr/bin/env python3
"""Parameters for chromatin states from a ChromHMM model of 0/1 marks and its segmentation, by plug-in estimates.

    make_chr11_params.py --emissions chromhmm10.emissions_10.txt --transitions chromhmm10.transitions_10.txt \\
        --model chromhmm10.model_10.txt --segments GM12878.chromhmm10.bed -o chr11.params.json
    semicrf decode -p chr11.params.json -o segments.bed GM12878.*.bw

A mark x in {0, 1} with P(1) = p scores x (log p - log(1-p)) + log(1-p): linear in the tracks. ChromHMM's transition
to the same state becomes the duration; the rest is renormalised.
"""

import argparse
import math

import plug_in

COLORS = ["#7f7f7f", "#d9d9d9", "#404040", "#0072b2", "#f0e442", "#e69f00", "#ff7f0e", "#d55e00", "#cc79a7", "#009e73"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emissions", required=True)
    parser.add_argument("--transitions", required=True)
    parser.add_argument("--model", required=True, help="for the initial probabilities")
    parser.add_argument("--segments", required=True, help="BED of the states, for the durations")
    parser.add_argument("-o", "--output", default="-")
    parser.add_argument("--train-end", type=int, default=67000000, help="bases of the segmentation to use")
    parser.add_argument("--bin-size", type=int, default=200)
    parser.add_argument("--max-duration", type=int, default=500, help="K in bins (default %(default)s)")
    parser.add_argument("--durations", choices=["table", "negative_binomial"], default="table")
    parser.add_argument("--bandwidth", type=float, default=0.2, help="of the smoothing, on log durations")
    parser.add_argument("--least", type=float, default=1e-6, help="probability put in place of a smaller one")
    parser.add_argument("--track-prefix", default="GM12878.", help="before the mark's name in the track's name")
    return parser.parse_args()


def read_matrix(path):
    """(column names, rows) of ChromHMM's tab-separated tables."""
    with open(path) as source:
        lines = [line.rstrip("\n").split("\t") for line in source if line.strip()]
    return lines[0][1:], [[float(cell) for cell in line[1:]] for line in lines[1:]]


def initial_probabilities(path, states):
    found = [0.0] * states
    with open(path) as source:
        for line in source:
            fields = line.split()
            if fields[0] == "probinit":
                found[int(fields[1]) - 1] = float(fields[2])
    return found


def transition_scores(rows, least):
    """Without the diagonal, each row renormalised."""
    scores = []
    for a, row in enumerate(rows):
        kept = [max(least, p) if b != a else 0.0 for b, p in enumerate(row)]
        scores.append([math.log(p / sum(kept)) if p > 0 else plug_in.FORBIDDEN for p in kept])
    return scores


def main():
    options = parse_arguments()
    marks, emissions = read_matrix(options.emissions)
    _, transition_rows = read_matrix(options.transitions)
    labels = ["E%d" % (state + 1) for state in range(len(emissions))]
    segments = plug_in.read_bed(options.segments, end=options.train_end)
    examples = plug_in.durations(segments, options.bin_size)
    if options.durations == "table":
        duration = plug_in.table_durations(examples, labels, options.max_duration, options.bandwidth)
    else:
        duration = plug_in.negative_binomial_durations(examples, labels)
    initial = initial_probabilities(options.model, len(labels))
    plug_in.write({
        "format": "semicrf-params",
        "format_version": "1.0",
        "labels": [{"name": name, "color": COLORS[i % len(COLORS)]} for i, name in enumerate(labels)],
        "max_duration": options.max_duration,
        "bin_size": options.bin_size,
        "centering": "none",
        "initial": "none",
        "transition": transition_scores(transition_rows, options.least),
        "duration": duration,
        "start": [math.log(max(options.least, p)) for p in initial],
        "tracks": [{"name": options.track_prefix + mark} for mark in marks],
        "emission": {"weights": [[math.log(p / (1 - p)) for p in row] for row in emissions],
                     "bias": [sum(math.log1p(-p) for p in row) for row in emissions]},
        "training": {"method": "plug-in estimates of make_chr11_params.py", "bases": options.train_end},
    }, options.output)


if __name__ == "__main__":
    main()
