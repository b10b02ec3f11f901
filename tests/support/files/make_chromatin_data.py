#!/usr/bin/env python3
"""Makes the files in data/chromatin (see data/README.md). Standard library only.

    make_chromatin_data.py ../shared/data/pilot_hg19 data/chromatin

Takes the first 8 Mb of five marks of the cell type E065 and the ChromHMM states of the same bases, and the TSS states
among these as a list of peaks.
"""

import argparse
import pathlib
import struct

import bigwig

MARKS = ["H3K4me1", "H3K4me3", "H3K27me3", "H3K36me3", "H3K9me3"]  # the columns of the array
SAMPLE, CHROMOSOME, LENGTH, BIN_SIZE = "E065", "pilot", 8000000, 200
PEAK_STATE = "E1"
STEP = 16  # values are rounded to sixteenths, so that the files are small


def read_rows(path, count):
    """The first rows of a float32 array in C order."""
    with open(path, "rb") as file:
        content = file.read(10)
        header = file.read(struct.unpack("<H", content[8:10])[0])
        if b"'<f4'" not in header or b"'fortran_order': False" not in header:
            raise SystemExit("%s: not float32 in C order" % path)
        size = 4 * len(MARKS)
        return [struct.unpack("<%df" % len(MARKS), file.read(size)) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    options = parser.parse_args()
    options.target.mkdir(exist_ok=True)
    rows = read_rows(options.source / (SAMPLE + ".200bp.npy"), LENGTH // BIN_SIZE)
    for column, mark in enumerate(MARKS):
        values = [round(row[column] * STEP) / STEP for row in rows]
        bigwig.write(options.target / ("%s.%s.bw" % (SAMPLE, mark)), {CHROMOSOME: LENGTH},
                     bigwig.fixed_step(CHROMOSOME, 0, BIN_SIZE, values))
    states, peaks = [], []
    for line in (options.source / (SAMPLE + ".chromhmm8.bed")).read_text().splitlines():
        _, start, end, state = line.split("\t")[:4]
        start, end = int(start), min(int(end), LENGTH)
        if start < end:
            states.append("%s\t%d\t%d\t%s\n" % (CHROMOSOME, start, end, state))
            if state == PEAK_STATE:
                peaks.append("%s\t%d\t%d\tpeak\n" % (CHROMOSOME, start, end))
    (options.target / "states.bed").write_text("".join(states))
    (options.target / "peaks.bed").write_text("".join(peaks))


if __name__ == "__main__":
    main()
