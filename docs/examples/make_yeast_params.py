#!/usr/bin/env python3
"""Parameters for gene structure on yeast from a labelled genome, by plug-in estimates.

    make_yeast_params.py genes.bed -o yeast.params.json
    semicrf decode -p yeast.params.json -o segments.bed codon_*.bw

Labels: intergenic, intron, CDS+0..2 and CDS-0..2 (strand, frame of the first base of the codon, modulo 3).
Tracks: codon_fwd0..2 and codon_rev0..2, log odds of the codon in that strand and frame, bins of 3 bases. A coding
label scores its own track; intergenic and intron score 0.
"""

import argparse
import math

import plug_in

CODING = [strand + str(frame) for strand in "+-" for frame in range(3)]
LABELS = ["intergenic", "intron"] + ["CDS" + suffix for suffix in CODING]
COLORS = ["#bdbdbd", "#e69f00", "#0072b2", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#a6761d"]
TRACKS = ["codon_%s%s" % ("fwd" if suffix[0] == "+" else "rev", suffix[1]) for suffix in CODING]
BIN_SIZE = 3


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("genes", help="BED with a label for every base")
    parser.add_argument("-o", "--output", default="-")
    parser.add_argument("--chromosomes", default="II,V,VIII", help="what to estimate from (default %(default)s)")
    parser.add_argument("--weight", type=float, default=1.0, help="of the log odds (default %(default)s)")
    parser.add_argument("--durations", choices=["table", "negative_binomial"], default="table")
    parser.add_argument("--max-duration", type=int, help="K in bins; default: the 99.5th percentile")
    parser.add_argument("--bandwidth", type=float, default=0.2, help="of the smoothing, on log durations")
    parser.add_argument("--smoothing", type=float, default=0.1, help="added to each count of neighbours")
    parser.add_argument("--missing", choices=["zero", "skip"], default="zero", help="bases without a value")
    return parser.parse_args()


def pooled_durations(segments):
    """All six coding labels share one set of examples: strand and frame do not change how long a gene is."""
    found = plug_in.durations(segments, BIN_SIZE)
    coding = [d for label in LABELS[2:] for d in found[label]]
    return {label: coding if label.startswith("CDS") else found[label] for label in LABELS}


def start_scores(segments):
    """Log share of the segments: a piece may begin anywhere."""
    counts = [1 + sum(label == wanted for items in segments.values() for _, _, label in items) for wanted in LABELS]
    return [math.log(count / sum(counts)) for count in counts]


def main():
    options = parse_arguments()
    chromosomes = options.chromosomes.split(",")
    segments = plug_in.read_bed(options.genes, chromosomes)
    if set(segments) != set(chromosomes):
        raise SystemExit("%s: not all of %s are there" % (options.genes, options.chromosomes))
    examples = pooled_durations(segments)
    longest = options.max_duration or plug_in.percentile(examples["intergenic"] + examples["CDS+0"], 0.995)
    if options.durations == "table":
        duration = plug_in.table_durations(examples, LABELS, longest, options.bandwidth)
    else:
        duration = plug_in.negative_binomial_durations(examples, LABELS)
    weights = [[options.weight if label == "CDS" + suffix else 0 for suffix in CODING] for label in LABELS]
    plug_in.write({
        "format": "semicrf-params",
        "format_version": "1.0",
        "labels": [{"name": name, "color": color} for name, color in zip(LABELS, COLORS)],
        "max_duration": longest,
        "bin_size": BIN_SIZE,
        "centering": "none",
        "initial": "none",
        "transition": plug_in.transitions(segments, LABELS, options.smoothing),
        "duration": duration,
        "start": start_scores(segments),
        "tracks": [{"name": name, "missing": options.missing} for name in TRACKS],
        "emission": {"weights": weights, "bias": [0] * len(LABELS)},
        "training": {"method": "plug-in estimates of make_yeast_params.py", "chromosomes": chromosomes},
    }, options.output)


if __name__ == "__main__":
    main()
