#!/usr/bin/env python3
"""Makes the files in data/ (see data/README.md). Standard library only.

    make_demo_data.py ../shared/data/yeast data

Cuts 30 kb out of the six codon tracks of yeast chromosome III at their true coordinates, with the gene labels of the
same bases, estimates the parameters of the demo from the other chromosomes, and writes a small score array.
"""

import argparse
import pathlib
import struct
import subprocess
import sys

import bigwig

TRACKS = ["codon_%s%d" % (strand, frame) for strand in ("fwd", "rev") for frame in range(3)]
CHROMOSOME, BEGIN, END, BIN_SIZE = "III", 90360, 120360, 3
EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "docs" / "examples"


def cut_track(source, target):
    reader = bigwig.Reader(source)
    values = [value for start, end, value in reader.intervals(CHROMOSOME) if start >= BEGIN and end <= END]
    if len(values) != (END - BEGIN) // BIN_SIZE:
        raise SystemExit("%s: %d values in the region" % (source, len(values)))
    bigwig.write(target, {CHROMOSOME: reader.chromosomes[CHROMOSOME]},
                 bigwig.fixed_step(CHROMOSOME, BEGIN, BIN_SIZE, values))


def cut_genes(source, target):
    with open(source) as lines, open(target, "w") as out:
        for line in lines:
            chromosome, start, end, label = line.rstrip("\n").split("\t")
            start, end = max(int(start), BEGIN), min(int(end), END)
            if chromosome == CHROMOSOME and start < end:
                out.write("%s\t%d\t%d\t%s\n" % (chromosome, start, end, label))


def write_npy(path, rows):
    """float32, C order, header version 1.0."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for row in rows:
            out.write(struct.pack("<%df" % len(row), *row))


def score_rows(length=300, labels=3):
    """Scores in eighths, so that sums of them are exact: one label up at a time, for 3 to 20 rows, with noise."""
    state, rows, label, left = 12345, [], 0, 0

    def draw(below):
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return (state >> 12) % below

    while len(rows) < length:
        if left == 0:
            label, left = (label + 1 + draw(labels - 1)) % labels, 3 + draw(18)
        rows.append([(draw(17) - 8) / 8 + (0.75 if c == label else -0.25) for c in range(labels)])
        left -= 1
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("yeast", type=pathlib.Path, help="folder with codon_*.bw and genes.bed")
    parser.add_argument("output", type=pathlib.Path, help="folder to write to")
    options = parser.parse_args()
    for track in TRACKS:
        cut_track(options.yeast / (track + ".bw"), options.output / (track + ".bw"))
    cut_genes(options.yeast / "genes.bed", options.output / "genes.bed")
    subprocess.run([sys.executable, EXAMPLES / "make_yeast_params.py", options.yeast / "genes.bed",
                    "--durations", "negative_binomial", "--max-duration", "1500", "--missing", "skip",
                    "-o", options.output / "demo.params.json"], check=True)
    write_npy(options.output / "scores.npy", score_rows())


if __name__ == "__main__":
    main()
