#!/usr/bin/env python3
"""Makes data/copy_number/tumour.cnr: a made profile of copy number, with log ratios and allele fractions.

    tests/support/files/make_copy_number_data.py data/copy_number

Bins of 100,000 bases of three chromosomes, as CNVkit writes them, with a column of allele fractions of a heterozygous SNP in
two bins of five. 60 % of the cells are of a tumour with the segments below, whose mean copies are the ploidy of the log ratios.
"""

import math
import pathlib
import random
import sys

PURITY = 0.6
# chromosome: bins, copies of one parent and of the other
SEGMENTS = {"chr1": ((90, 1, 1), (60, 2, 1), (50, 1, 1)), "chr2": ((70, 1, 0), (30, 2, 0), (100, 1, 1)), "chr3": ((60, 2, 2), (25, 3, 1), (65, 1, 1), (40, 2, 1))}


def main():
    rng = random.Random(17)
    everything = [segment for segments in SEGMENTS.values() for segment in segments]
    ploidy = sum(n * (a + b) for n, a, b in everything) / sum(n for n, _, _ in everything)
    lines = ["chromosome\tstart\tend\tgene\tlog2\tbaf"]
    for chromosome, segments in SEGMENTS.items():
        bin_number = 0
        for bins, one, other in segments:
            total = PURITY * (one + other) + 2 * (1 - PURITY)
            mean = math.log2(total / (PURITY * ploidy + 2 * (1 - PURITY)))
            for _ in range(bins):
                share = (PURITY * (one if rng.random() < 0.5 else other) + 1 - PURITY) / total
                fraction = "%.3f" % min(1, max(0, share + 0.05 * rng.gauss(0, 1))) if rng.random() < 0.4 else "NA"
                lines.append("%s\t%d\t%d\t-\t%.3f\t%s" % (chromosome, 100000 * bin_number, 100000 * (bin_number + 1), mean + 0.2 * rng.gauss(0, 1), fraction))
                bin_number += 1
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tumour.cnr").write_text("\n".join(lines) + "\n")
    print("ploidy %.3f, %d bins" % (ploidy, len(lines) - 1))


if __name__ == "__main__":
    main()
