#!/usr/bin/env python3
"""Makes the BAM files in data/reads (see data/README.md). Standard library only.

    make_reads_data.py data/chromatin data/reads

Draws reads of 50 bases from fragments of 200 whose density follows the signal of the marks in data/chromatin. They have no
names and no bases, which neither counts nor browsers need, so that the files are small.
"""

import argparse
import bisect
import itertools
import math
import pathlib
import random
import struct
import sys
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
from bbi_files import bigwig_intervals  # pylint: disable=wrong-import-position

SAMPLE, MARKS, CHROMOSOME, LENGTH = "E065", ["H3K4me3", "H3K27me3", "H3K36me3"], "pilot", 8000000
READS, FRAGMENT, READ, BLOCK = 20000, 200, 50, 65280
END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")  # the block that ends a BGZF file


def bgzf(content):
    whole = b""
    for at in range(0, len(content), BLOCK):
        part = content[at:at + BLOCK]
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(part) + packer.flush()
        whole += b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25) + packed
        whole += struct.pack("<II", zlib.crc32(part), len(part))
    return whole + END


def bin_number(begin, end):
    """The bin of the binning index, which every record holds."""
    for shift, first in ((14, 4681), (17, 585), (20, 73), (23, 9), (26, 1)):
        if begin >> shift == (end - 1) >> shift:
            return first + (begin >> shift)
    return 0


def record(begin, reverse):
    body = struct.pack("<iiBBHHHiiii", 0, begin, 2, 60, bin_number(begin, begin + READ), 1, 16 if reverse else 0, 0, -1, -1, 0)
    body += b"*\0" + struct.pack("<I", READ << 4)
    return struct.pack("<i", len(body)) + body


def bam(begins):
    text = b"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:%s\tLN:%d\n" % (CHROMOSOME.encode(), LENGTH)
    name = CHROMOSOME.encode() + b"\0"
    header = b"BAM\1" + struct.pack("<i", len(text)) + text + struct.pack("<ii", 1, len(name)) + name + struct.pack("<i", LENGTH)
    return bgzf(header + b"".join(record(*one) for one in sorted(begins)))


def draw(rng, intervals):
    """(first base, whether it is of the other strand) of READS reads."""
    density = [(begin, end, (end - begin) * (0.03 + math.sinh(value) ** 1.5)) for begin, end, value in intervals]
    sums = list(itertools.accumulate(weight for _, _, weight in density))
    begins = []
    while len(begins) < READS:
        begin, end, _ = density[bisect.bisect(sums, rng.random() * sums[-1])]
        first = rng.randrange(begin, end) - FRAGMENT // 2
        if not 0 <= first <= LENGTH - FRAGMENT:
            continue
        reverse = rng.random() < 0.5
        begins.append((first + FRAGMENT - READ if reverse else first, reverse))
    return begins


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    options = parser.parse_args()
    options.target.mkdir(exist_ok=True)
    for mark in MARKS:
        content = (options.source / ("%s.%s.bw" % (SAMPLE, mark))).read_bytes()
        intervals = [one[1:] for one in bigwig_intervals(content)[0]]
        (options.target / ("%s.%s.bam" % (SAMPLE, mark))).write_bytes(bam(draw(random.Random(mark), intervals)))


if __name__ == "__main__":
    main()
