#!/usr/bin/env python3
"""Reads what the program writes as bigWig and bigBed with libraries of others, and compares it with the text outputs.

usage: read_by_peers.py --program SEMICRF --packages FOLDER

pyBigWig (libBigWig), pybigtools and pybbi (UCSC's code) are installed in FOLDER by pip where they are not yet; where
that is impossible, the test is skipped (exit code 77).
"""

import argparse
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "cli"))
import packages  # noqa: E402
from make_inputs import npy  # noqa: E402

SEED = 4711
WIDE = 10240  # bases of a bin that zoom levels answer


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def as_float(text):
    return struct.unpack("<f", struct.pack("<f", float(text)))[0]


def lines_of(path):
    return [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]


def by_chromosome(lines, item):
    found = {}
    for fields in lines:
        found.setdefault(fields[0], []).append(item(fields))
    return found


def joined(intervals):
    """Touching intervals of one value as one."""
    found = []
    for begin, end, value in intervals or []:
        if found and found[-1][1] == begin and found[-1][2] == value:
            begin = found.pop()[0]
        found.append((begin, end, value))
    return found


class Peers:
    """The three libraries; each method checks one file."""

    def __init__(self, folder):
        sys.path.insert(0, str(folder))
        import bbi
        import numpy
        import pyBigWig
        import pybigtools

        self.bbi, self.numpy, self.pyBigWig, self.pybigtools = bbi, numpy, pyBigWig, pybigtools

    def check_lists(self, path, sizes):
        file = self.pyBigWig.open(str(path))
        check(dict(file.chroms()) == sizes, "%s: chromosomes of pyBigWig" % path.name)
        check(file.header()["nLevels"] >= 1, "%s: no zoom level" % path.name)
        check(dict(self.pybigtools.open(str(path)).chroms()) == sizes, "%s: chromosomes of pybigtools" % path.name)
        check(len(self.pybigtools.open(str(path)).zooms()) >= 1, "%s: zoom levels of pybigtools" % path.name)
        with self.bbi.open(str(path)) as file:
            check(dict(file.chromsizes) == sizes and len(file.zooms) >= 1, "%s: chromosomes or zoom levels of pybbi" % path.name)

    def check_values(self, path, expected, sizes):
        """`expected`: {chromosome: [(begin, end, value)]}."""
        self.check_lists(path, sizes)
        one, two = self.pyBigWig.open(str(path)), self.pybigtools.open(str(path))
        with self.bbi.open(str(path)) as three:
            for name, length in sizes.items():
                wanted = joined(expected.get(name, []))
                check(joined(one.intervals(name)) == wanted, "%s: pyBigWig on %s" % (path.name, name))
                check(joined(two.records(name)) == wanted, "%s: pybigtools on %s" % (path.name, name))
                bases = self.numpy.full(length, math.nan)
                for begin, end, value in wanted:
                    bases[begin:end] = value
                found = three.fetch(name, 0, length, missing=math.nan, oob=math.nan)
                check(self.numpy.array_equal(found, bases, equal_nan=True), "%s: pybbi on %s" % (path.name, name))
                self.check_zooms(path, one, two, three, name, length, bases)

    def check_zooms(self, path, one, two, three, name, length, bases):
        """Means over wide bins come from zoom levels. Records of 160, 640, 2560 ... bases fill these bins exactly."""
        bins = max(1, length // WIDE)
        end = bins * WIDE if length >= WIDE else length
        parts = [bases[i * WIDE:min(end, (i + 1) * WIDE)] for i in range(bins)]
        mean = [float(self.numpy.nanmean(part)) if self.numpy.isfinite(part).any() else math.nan for part in parts]
        if all(math.isnan(value) for value in mean):
            return
        found = {"pyBigWig": one.stats(name, 0, end, nBins=bins),
                 "pybigtools": list(two.values(name, 0, end, bins=bins, summary="mean", fillna=None)),
                 "pybbi": list(three.fetch(name, 0, end, bins=bins, missing=math.nan))}
        for library, values in found.items():
            for i, (a, b) in enumerate(zip(values, mean)):
                a = math.nan if a is None else float(a)
                check(math.isnan(a) == math.isnan(b) and (math.isnan(b) or abs(a - b) < 1e-4 * max(1, abs(b))),
                      "%s: zoom of %s on %s, bin %d: %r, expected %r" % (path.name, library, name, i, a, b))

    def check_segments(self, path, lines, columns, sizes):
        """`lines`: of the BED file; `columns`: names behind the ninth."""
        self.check_lists(path, sizes)
        expected = by_chromosome(lines, lambda f: (int(f[1]), int(f[2]), "\t".join(f[3:])))
        one, two = self.pyBigWig.open(str(path)), self.pybigtools.open(str(path))
        check(one.isBigBed() and two.is_bigbed, "%s is no bigBed" % path.name)
        for text in (one.SQL(), two.sql()):
            text = text.decode() if isinstance(text, bytes) else text
            fields = [line.split(";")[0].split()[-1] for line in text.splitlines() if ";" in line]
            check(fields == ["chrom", "chromStart", "chromEnd", "name", "score", "strand", "thickStart", "thickEnd", "reserved"] + columns,
                  "%s: columns %r" % (path.name, fields))
        header = self.bbi.info(str(path)) if hasattr(self.bbi, "info") else {}
        check(header.get("definedFieldCount", 9) == 9 and header.get("fieldCount", 9 + len(columns)) == 9 + len(columns), "%s: %r" % (path.name, header))
        with self.bbi.open(str(path)) as three:
            for name, length in sizes.items():
                wanted = expected.get(name, [])
                check([tuple(item) for item in one.entries(name, 0, length) or []] == wanted, "%s: pyBigWig on %s" % (path.name, name))
                check([tuple(item[:2]) + ("\t".join(item[2:]),) for item in two.records(name)] == wanted, "%s: pybigtools on %s" % (path.name, name))
                cover = self.numpy.zeros(length)
                for begin, end, _ in wanted:
                    cover[begin:end] += 1
                check(self.numpy.array_equal(three.fetch(name, 0, length, missing=0.0), cover), "%s: pybbi on %s" % (path.name, name))


class Case:
    """A run of the program in a folder of its own."""

    def __init__(self, program, folder, sizes, labels=("on", "off"), bin_size=10, **more):
        self.program, self.folder, self.sizes = program, folder, sizes
        folder.mkdir()
        parameters = {"format": "semicrf-params", "format_version": "1.0", "labels": list(labels), "max_duration": 5, "bin_size": bin_size,
                      "centering": "none", "transition": [["-inf" if a == b else 0 for b in labels] for a in labels], "duration": {"kind": "uniform"}}
        parameters.update(more)
        (folder / "p.json").write_text(json.dumps(parameters))
        (folder / "g.tsv").write_text("".join("%s\t%d\n" % item for item in sizes.items()))
        self.labels, self.bin_size, self.inputs = labels, bin_size, []

    def add(self, name, rng, row=None):
        bins = -(-self.sizes[name] // self.bin_size)
        rows = [row or [rng.gauss(0, 1.5) for _ in self.labels] for _ in range(bins)]
        (self.folder / (name + ".npy")).write_bytes(npy(rows))
        self.inputs.append(name + ".npy")

    def run(self, command, *options):
        arguments = [str(self.program), command, "-q", "-p", "p.json", "-g", "g.tsv", *options, *self.inputs]
        done = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, "%s: %s" % (" ".join(arguments[1:]), done.stderr))

    def check(self, peers, *options):
        text = self.folder / "b.bedgraph"
        self.run("posterior", "-o", "b.bedgraph", "--labels-out", "l", *options)
        self.run("posterior", "-o", "b.bw", "--labels-out", "l.bw", *options)
        pairs = [("b.bw", text)] + [("l.%s.bw" % label, self.folder / ("l.%s.bedgraph" % label)) for label in self.labels]
        for binary, text in pairs:
            values = by_chromosome(lines_of(text), lambda f: (int(f[1]), int(f[2]), as_float(f[3])))
            peers.check_values(self.folder / binary, values, self.sizes)
        if options and options[0] != "-r":
            return  # of posteriors alone
        self.run("decode", "-o", "s.bed", "--score", "none", *options)
        self.run("decode", "-o", "s.bb", "--score", "none", *options)
        peers.check_segments(self.folder / "s.bb", lines_of(self.folder / "s.bed"), [], self.sizes)
        self.run("decode", "-o", "t.bed", "--table", "t.tsv", *options)
        self.run("decode", "-o", "t.bb", "--extra-columns", *options)
        lines = [bed + table[4:8] for bed, table in zip(lines_of(self.folder / "t.bed"), lines_of(self.folder / "t.tsv"))]
        peers.check_segments(self.folder / "t.bb", lines, ["p_label", "p_segment", "p_start", "p_end"], self.sizes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--packages", required=True)
    arguments = parser.parse_args()
    peers = Peers(packages.installed(HERE / "requirements.txt", arguments.packages))
    print("seed", SEED)
    rng = random.Random(SEED)
    program = arguments.program.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        # Several chromosomes, not in the order of their names; the last bin is cut.
        case = Case(program, folder / "several", {"chrB": 24995, "chrA": 400, "chrC": 7})
        for name in ("chrA", "chrB", "chrC"):
            case.add(name, rng)
        case.check(peers)
        case.check(peers, "--digits", "2")
        case.check(peers, "--min-posterior", "0.1")
        case.check(peers, "-r", "chrB:101-3000", "-r", "chrA")
        case = Case(program, folder / "one_bin", {"c": 1}, bin_size=1)
        case.add("c", rng)
        case.check(peers)
        # The second label can never be: its posterior is 0 everywhere.
        case = Case(program, folder / "zero", {"c": 5000}, transition=[[0, "-inf"], ["-inf", "-inf"]], start=[0, "-inf"], initial="none")
        case.add("c", rng, row=[0.0, 0.0])
        case.check(peers)
        case.check(peers, "--min-posterior", "0.5")  # no value at all
        sizes = {"scaffold_%d" % i: rng.randint(1, 60) for i in range(1000)}
        case = Case(program, folder / "scaffolds", sizes)
        for name in sizes:
            case.add(name, rng)
        case.check(peers)
    print("pyBigWig, pybigtools and pybbi read what was written")


if __name__ == "__main__":
    main()
