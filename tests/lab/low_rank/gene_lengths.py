#!/usr/bin/env python3
"""Lengths of exons and introns, which the paper quotes from elsewhere (section 7), on GENCODE v29, chromosome 19:

    python3 tests/lab/low_rank/gene_lengths.py build/paper ../shared/data

Writes gene_lengths.tsv: number, median and 95th percentile, in bases. Standard library only.
"""

import pathlib
import sys

SKIPPED = 77


def main():
    folder, data = map(pathlib.Path, sys.argv[1:3])
    path = data / "segway_chr19_GRCh38" / "gencode29.chr19.structure.bed"
    if not path.exists():
        print("skipped: %s is not there" % path)
        return SKIPPED
    lengths = {}
    for line in path.read_text().splitlines():
        _, begin, end, kind = line.split("\t")[:4]
        lengths.setdefault(kind, []).append(int(end) - int(begin))
    part = folder / "gene_lengths.tsv.part"
    with part.open("w") as file:
        print("kind", "number", "median", "percentile_95", sep="\t", file=file)
        for kind in ("exon", "intron"):
            values = sorted(lengths[kind])
            print(kind, len(values), values[len(values) // 2], values[int(0.95 * len(values))], sep="\t", file=file)
    part.rename(folder / "gene_lengths.tsv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
