#!/usr/bin/env python3
"""Breakpoints of copy number that `semicrf learn` finds from total and allele fraction alone, against where they are.

    tests/lab/copy_number.py --program build/release/bin/semicrf --data GSE11976_CRL2324.rds [learn options]

The data are the annotated regions of the dilution series CRL2324 of the R package acnr (inst/extdata). For every share of tumour
cells 40 profiles of 5,000 SNPs are put together from values that are drawn within regions, with five changes of region each. The
allele fraction is |2b - 1| of heterozygous SNPs; of the others it is missing. A breakpoint is found where one of the best path is
at most 20 SNPs away; each counts once. With `--preset copy-number` the tracks are log2(total / 2) and folded allele fractions,
0.5 to 1; `--alone N` learns from each of the first N profiles by itself. Needs numpy. Profiles and models are written into the folder at hand.
"""

import argparse
import gzip
import pathlib
import resource
import struct
import subprocess

import numpy

PROFILES, SNPS, CHANGES, TOLERANCE = 40, 5000, 5, 20
DEFAULT = "--labels 7 --emission student-t --min-duration 10 --max-duration 10 --tail".split()


class Serialized:
    """A data frame in R's XDR serialisation: numbers, whole numbers, strings, lists and their attributes."""

    def __init__(self, path):
        self.bytes, self.at, self.references = gzip.open(path).read(), 0, []
        assert self.bytes[:2] == b"X\n", "no XDR file of R"
        self.at = 2
        version = self.number()
        self.at += 8
        if version >= 3:
            self.at += self.number()

    def number(self):
        self.at += 4
        return struct.unpack_from(">i", self.bytes, self.at - 4)[0]

    def array(self, kind, size):
        count = self.number()
        self.at += size * count
        return numpy.frombuffer(self.bytes, kind, count, self.at - size * count)

    def item(self):
        flags = self.number()
        kind, has_attributes, has_tag = flags & 255, flags & 512, flags & 1024
        if kind == 254:
            return None
        if kind == 255:
            return self.references[(flags >> 8) - 1]
        if kind == 1:
            self.references.append(self.item())
            return self.references[-1]
        if kind == 2:
            pairs = {}
            while kind == 2:
                name = self.item() if has_tag else None
                pairs[name] = self.item()
                flags = self.number()
                kind, has_tag = flags & 255, flags & 1024
            return pairs
        if kind == 9:
            size = self.number()
            self.at += max(0, size)
            return self.bytes[self.at - size:self.at].decode() if size >= 0 else None
        if kind in (10, 13):
            value = self.array(">i4", 4)
        elif kind == 14:
            value = self.array(">f8", 8)
        elif kind in (16, 19):
            value = [self.item() for _ in range(self.number())]
            value = numpy.array(value) if kind == 16 else value
        else:
            raise ValueError("items of kind %d are not read" % kind)
        attributes = self.item() if has_attributes else {}
        if "levels" in attributes:
            return numpy.array(attributes["levels"])[value - 1]
        return dict(zip(attributes["names"], value)) if kind == 19 and "names" in attributes else value


def simulate(path):
    """Arrays (SNPs, 2) by share and profile, and their true breakpoints."""
    table = Serialized(path).item()
    shares = numpy.round(table["cellularity"].astype(float), 2)
    fraction = numpy.where(numpy.isclose(table["genotype"].astype(float), 0.5), numpy.abs(2 * table["b"].astype(float) - 1), numpy.nan)
    values = numpy.stack([table["c"].astype(float), fraction], axis=1)
    random, profiles = numpy.random.default_rng(7), {}
    for share in sorted(set(shares.tolist())):
        regions = {name: values[(shares == share) & (table["region"] == name)] for name in sorted(set(table["region"].tolist()))}
        for number in range(PROFILES):
            breaks = numpy.sort(random.choice(numpy.arange(1, SNPS // 20), CHANGES, replace=False)) * 20
            edges, last, rows = [0, *breaks, SNPS], None, []
            for begin, end in zip(edges, edges[1:]):
                last = random.choice([name for name in regions if name != last])
                rows.append(regions[last][random.integers(len(regions[last]), size=end - begin)])
            profiles[float(share), number] = numpy.vstack(rows).astype(numpy.float32), list(breaks)
    return profiles


def found_breaks(path, name):
    starts = []
    for line in pathlib.Path(path).read_text().splitlines():
        cells = line.split("\t")
        if cells[0] == name and cells[1] != "0":
            starts.append(int(cells[1]))
    return starts


def matched(found, truth):
    """How many true breakpoints have one of their own near them, nearest first, from left to right."""
    used = set()
    for place in truth:
        near = [(abs(one - place), i) for i, one in enumerate(sorted(found)) if i not in used and abs(one - place) <= TOLERANCE]
        if near:
            used.add(min(near)[1])
    return len(used)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--shares", default=".21,.30,.50,.79,1.0", help="of tumour cells")
    parser.add_argument("--alone", type=int, default=0, metavar="N")
    options, learn = parser.parse_known_args()
    names_of_tracks = "log2,baf" if "--preset" in learn else "total,allele"
    profiles = simulate(options.data)
    program = str(options.program.resolve())
    print("tumour\trecall\tprecision\tF1\tprocessor seconds")
    for share in [float(text) for text in options.shares.split(",")]:
        names = []
        for number in range(PROFILES):
            names.append("s_%d_%d" % (round(100 * share), number))
            values = profiles[share, number][0].astype(float)
            if "--preset" in learn:
                values = numpy.stack([numpy.log2(numpy.maximum(values[:, 0], 0.05) / 2), 0.5 + values[:, 1] / 2], axis=1)
            numpy.save(names[-1] + ".npy", values.astype(numpy.float32))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        right = found = true = 0
        for together in ([name] for name in names[:options.alone]) if options.alone else (names,):
            files = [name + ".npy" for name in together]
            subprocess.run([program, "learn", "-q", "--track-names", names_of_tracks, *(learn or DEFAULT), "-o", "model.json", *files], check=True)
            subprocess.run([program, "decode", "-q", "-p", "model.json", "--score", "none", "-o", "best.bed", *files], check=True)
            for name in together:
                breaks, truth = found_breaks("best.bed", name), profiles[share, int(name.rsplit("_", 1)[1])][1]
                right, found, true = right + matched(breaks, truth), found + len(breaks), true + len(truth)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        recall, precision = right / true, right / max(1, found)
        print("%.2f\t%.3f\t%.3f\t%.3f\t%.1f" % (share, recall, precision, 2 * right / (found + true), seconds), flush=True)


if __name__ == "__main__":
    main()
