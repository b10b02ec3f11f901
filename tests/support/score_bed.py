#!/usr/bin/env python3
"""Compares a predicted segmentation with a true one, both BED: per-base accuracy, boundary F1, segment F1.

    score_bed.py truth.bed predicted.bed --tolerance 30

Only the chromosomes of the prediction are looked at, and only bases that both files label. Boundaries are the inner
starts of segments, matched one to one within the tolerance. Segments match when the label is the same and the
intersection is at least half of the union. Standard library only.
"""

import argparse
import json
from collections import defaultdict


def read_bed(path):
    """{chromosome: [(start, end, label)]}, sorted."""
    segments = defaultdict(list)
    with open(path) as source:
        for line in source:
            if line.strip() and not line.startswith(("#", "track", "browser")):
                fields = line.rstrip("\n").split("\t")
                segments[fields[0]].append((int(fields[1]), int(fields[2]), fields[3]))
    return {chromosome: sorted(items) for chromosome, items in segments.items()}


def clip(items, begin, end):
    return [(max(s, begin), min(e, end), label) for s, e, label in items if s < end and e > begin]


def base_agreement(truth, predicted):
    """(bases with the same label, bases labelled in both)."""
    same = both = i = j = 0
    while i < len(truth) and j < len(predicted):
        shared = min(truth[i][1], predicted[j][1]) - max(truth[i][0], predicted[j][0])
        if shared > 0:
            both += shared
            same += shared if truth[i][2] == predicted[j][2] else 0
        if truth[i][1] <= predicted[j][1]:
            i += 1
        else:
            j += 1
    return same, both


def matched_boundaries(truth, predicted, tolerance):
    a, b = [s for s, _, _ in truth[1:]], [s for s, _, _ in predicted[1:]]
    matched = i = j = 0
    while i < len(a) and j < len(b):
        if abs(a[i] - b[j]) <= tolerance:
            matched, i, j = matched + 1, i + 1, j + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return matched, len(a), len(b)


def matched_segments(truth, predicted):
    """One to one from left to right: two segments of one label that cover half of a third cannot overlap."""
    matched = first = 0
    used = set()
    for start, end, label in predicted:
        while first < len(truth) and truth[first][1] <= start:
            first += 1
        for i in range(first, len(truth)):
            if truth[i][0] >= end:
                break
            shared = min(end, truth[i][1]) - max(start, truth[i][0])
            union = max(end, truth[i][1]) - min(start, truth[i][0])
            if i not in used and truth[i][2] == label and 2 * shared >= union:
                used.add(i)
                matched += 1
                break
    return matched, len(truth), len(predicted)


def f1(matched, truth, predicted):
    return 2 * matched / (truth + predicted) if truth + predicted else 1.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth")
    parser.add_argument("predicted")
    parser.add_argument("--tolerance", type=int, default=30, help="of boundaries, in bases (default %(default)s)")
    options = parser.parse_args()
    truth, predicted = read_bed(options.truth), read_bed(options.predicted)
    totals = {"bases": [0, 0], "boundaries": [0, 0, 0], "segments": [0, 0, 0]}
    for chromosome, items in predicted.items():
        expected = clip(truth.get(chromosome, []), items[0][0], items[-1][1])
        found = {"bases": base_agreement(expected, items),
                 "boundaries": matched_boundaries(expected, items, options.tolerance),
                 "segments": matched_segments(expected, items)}
        for key, values in found.items():
            totals[key] = [a + b for a, b in zip(totals[key], values)]
    same, both = totals["bases"]
    print(json.dumps({"accuracy": round(same / both, 4) if both else None,
                      "boundary_f1": round(f1(*totals["boundaries"]), 4),
                      "segment_f1": round(f1(*totals["segments"]), 4),
                      "true_segments": totals["segments"][1], "predicted_segments": totals["segments"][2]}))


if __name__ == "__main__":
    main()
