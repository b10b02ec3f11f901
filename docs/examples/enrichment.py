#!/usr/bin/env python3
"""Fold enrichment of annotations in the labels of a segmentation, per base.

usage: enrichment.py SEGMENTS.bed [NAME=]ANNOTATION.bed...

A label's fold for an annotation is (bases of the annotation in the label / bases of the label) over (bases of the
annotation / bases of all segments); annotated bases outside all segments do not count. Segments must not overlap.
"""

import bisect
import collections
import sys


def read_bed(path):
    lines = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith(("#", "track", "browser")):
                fields = line.rstrip("\n").split("\t")
                lines[fields[0]].append((int(fields[1]), int(fields[2]), fields[3] if len(fields) > 3 else ""))
    return {chromosome: sorted(found) for chromosome, found in lines.items()}


def merged(lines):
    """Overlapping lines as one."""
    runs = []
    for begin, end, _ in lines:
        if runs and begin <= runs[-1][1]:
            runs[-1][1] = max(runs[-1][1], end)
        else:
            runs.append([begin, end])
    return runs


def overlaps(segments, annotation):
    """Bases of the annotation in every label."""
    bases = collections.Counter()
    for chromosome, found in segments.items():
        begins = [segment[0] for segment in found]
        for begin, end in merged(annotation.get(chromosome, [])):
            i = max(0, bisect.bisect_right(begins, begin) - 1)
            while i < len(found) and found[i][0] < end:
                bases[found[i][2]] += max(0, min(end, found[i][1]) - max(begin, found[i][0]))
                i += 1
    return bases


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    segments = read_bed(sys.argv[1])
    size = collections.Counter()
    for found in segments.values():
        for begin, end, label in found:
            size[label] += end - begin
    total = sum(size.values())
    folds = {}
    for argument in sys.argv[2:]:
        name, _, path = argument.rpartition("=")
        inside = overlaps(segments, read_bed(path))
        share = sum(inside.values()) / total
        folds[name or path] = {label: inside[label] / size[label] / share if share else float("nan") for label in size}
    print("\t".join(["label", "share of bases"] + list(folds)))
    for label in sorted(size, key=size.get, reverse=True):
        print("\t".join([label, "%.4f" % (size[label] / total)] + ["%.2f" % fold[label] for fold in folds.values()]))


if __name__ == "__main__":
    main()
