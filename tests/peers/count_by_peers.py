#!/usr/bin/env python3
"""Compares `semicrf count` with samtools, bedtools, bamCoverage (deepTools) and ChromHMM's BinarizeBam and BinarizeBed.

usage: count_by_peers.py --program SEMICRF

Those that are installed are asked; without samtools, which makes the BAM file, the test is skipped (exit code 77).
"""

import argparse
import gzip
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cli"), str(HERE.parent / "cli" / "inputs")]
from cases_reads import CHROMOSOMES, PAIRED, PROPER, random_alignments, sam_text, values_of  # noqa: E402

SEED = 20261127
OPTIONS = [("", ""), ("-b 100", "-b 100"), ("-p 0.01", "--poisson 0.01"), ("-strictthresh -p 0.02", "--strict --poisson 0.02"),
           ("-peaks", "--count span --poisson 1 --shift 0"), ("-peaks -b 50", "--count span --poisson 1 --shift 0 -b 50"), ("-f 3", "--fold 3"), ("-g 4", "--min-count 4"), ("-n 37 -b 50", "--shift 37 -b 50"), ("-center -b 50", "--count centre --shift 0 -b 50")]
# Of pairs, and of pairs and single reads in one file; BinarizeBam alone.
PAIRS = [("-paired", "--fragments --longest-fragment 100000000 --shift 0"), ("-paired -b 50", "--fragments --longest-fragment 100000000 --shift 0 -b 50")]
MIXED = [("-mixed", "--fragments --mixed --longest-fragment 100000000 --shift 100"), ("-mixed -n 31 -b 50 -p 0.01", "--fragments --mixed --longest-fragment 100000000 --shift 31 -b 50 --poisson 0.01")]
CONTROLLED = [("", ""), ("-w 0 -b 100", "--control-flank 0 -b 100"), ("-u 3 -w 20", "--control-pseudocount 3 --control-flank 20"),
              ("-p 0.05 -f 1.5 -strictthresh -b 50", "--poisson 0.05 --fold 1.5 --strict -b 50")]


class Folder:
    def __init__(self, program, folder):
        self.program, self.folder, self.failures = program, pathlib.Path(folder), 0

    def path(self, name):
        return self.folder / name

    def run(self, *words):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit("FAILED: %s\n%s%s" % (" ".join(map(str, words)), done.stdout[-500:], done.stderr[-500:]))
        return done.stdout

    def count(self, size, *words):
        """{chromosome: value of each bin}; 0 where there is none."""
        self.run(self.program, "count", "-q", "-b", size, "-o", "ours.bw", *words)
        found = values_of(self, "ours.bw", size)
        return {name: [value or 0 for value in found.get(name, [0] * -(-length // size))] for name, length in CHROMOSOMES}

    def compare(self, what, ours, theirs, tolerance=0.0):
        """`theirs`: (chromosome, first base, value)."""
        size, bad, number = ours["bin"], 0, 0
        for chromosome, begin, value in theirs:
            number += 1
            given = ours[chromosome][begin // size]
            bad += abs(given - value) > tolerance * max(1, abs(value))
        self.judge(what, bad, number)

    def judge(self, what, bad, number):
        print("%-4s %s: %d of %d differ" % ("ok" if bad == 0 and number else "FAIL", what, bad, number))
        self.failures += bad > 0 or number == 0


def rows(text):
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def with_samtools(box):
    box.run("samtools", "view", "-C", "--output-fmt-option", "no_ref=1", "-o", "a.cram", "a.bam")
    box.run("samtools", "index", "a.cram")
    depths = rows(box.run("samtools", "depth", "-a", "a.bam"))
    for file in ("a.bam", "a.cram"):
        ours = dict(box.count(1, "--count", "depth", "--exclude-flags", 1796, file), bin=1)
        box.compare("samtools depth, " + file, ours, ((row[0], int(row[1]) - 1, float(row[2])) for row in depths))
        ours = dict(box.count(1, "--count", "depth", "--exclude-flags", 1796, "-r", "chrA:301-900", file), bin=1)
        box.compare("samtools depth -r, " + file, ours, ((row[0], int(row[1]) - 1, float(row[2])) for row in rows(box.run("samtools", "depth", "-a", "-r", "chrA:301-900", "a.bam"))))
    ours = dict(box.count(50, "--count", "depth", "--exclude-flags", 1796, "--min-mapq", 30, "a.bam"), bin=50)
    box.path("bins.bed").write_text("".join("%s\t%d\t%d\n" % (name, begin, min(begin + 50, length)) for name, length in CHROMOSOMES for begin in range(0, length, 50)))
    found = rows(box.run("samtools", "bedcov", "-j", "-Q", 30, "bins.bed", "a.bam"))
    box.compare("samtools bedcov", ours, ((row[0], int(row[1]), float(row[3]) / (int(row[2]) - int(row[1]))) for row in found), 1e-6)


def with_bedtools(box):
    box.path("a.bed").write_text(box.run("bedtools", "bamtobed", "-i", "a.bam"))
    for how, option in (("overlap", "-counts"), ("depth", "-mean")):
        ours = dict(box.count(50, "-g", "sizes.txt", "--count", how, "a.bed"), bin=50)
        found = rows(box.run("bedtools", "coverage", option, "-a", "bins.bed", "-b", "a.bed"))
        box.compare("bedtools coverage " + option, ours, ((row[0], int(row[1]), float(row[3])) for row in found), 1e-6)


def with_bam_coverage(box):
    for theirs, own in (([], ["--exclude-flags", 0]), (["--minMappingQuality", 30, "--samFlagExclude", 1796], ["--min-mapq", 30, "--exclude-flags", 1796]),
                        (["-e", 120, "--samFlagExclude", 1], ["--extend", 120, "--exclude-flags", 1]), (["--normalizeUsing", "CPM"], ["--scale", "cpm", "--exclude-flags", 0])):
        ours = dict(box.count(20, "--count", "overlap", *own, "a.bam"), bin=20)
        box.run("bamCoverage", "-b", "a.bam", "-bs", 20, "-of", "bedgraph", "-o", "theirs.bedgraph", *theirs)
        found = ((row[0], begin, float(row[3])) for row in rows(box.path("theirs.bedgraph").read_text()) for begin in range(int(row[1]), int(row[2]), 20))
        box.compare("bamCoverage " + " ".join(map(str, theirs)), ours, found, 2e-5)
    # Duplicates by place: there by the first base in place of the 5' end, which is the same for reads of one length without gaps.
    rng, plain = random.Random(SEED), [one for one in random_alignments(SEED, count=800) if one.cigar == "30M" and not one.flags & PAIRED]
    box.path("d.sam").write_text(sam_text([one for one in plain for _ in range(rng.choice([1, 1, 3]))]))
    box.run("samtools", "sort", "-o", "d.bam", "d.sam")
    box.run("samtools", "index", "d.bam")
    ours = dict(box.count(20, "--count", "overlap", "--exclude-flags", 0, "--keep-dup", 1, "d.bam"), bin=20)
    box.run("bamCoverage", "-b", "d.bam", "-bs", 20, "-of", "bedgraph", "-o", "theirs.bedgraph", "--ignoreDuplicates")
    found = ((row[0], begin, float(row[3])) for row in rows(box.path("theirs.bedgraph").read_text()) for begin in range(int(row[1]), int(row[2]), 20))
    box.compare("bamCoverage --ignoreDuplicates", ours, found)


def with_chromhmm(box):
    beds = box.path("a.bed").exists()
    for kind in ("bam", "bed") if beds else ("bam",):
        if kind == "bed":
            box.path("b.bed").write_text(box.run("bedtools", "bamtobed", "-i", "b.bam"))
        tables = [("cell\tm1\ta.%s\ncell\tm2\tb.%s\nother\tm2\ta.%s\n", False, OPTIONS), ("cell\tm1\ta.%s\tb.%s\n", True, CONTROLLED)]
        if kind == "bam":
            tables += [("cell\tm1\tpairs.bam\ncell\tm2\tb.pairs.bam\n", False, PAIRS), ("cell\tm1\tpairs.bam\tb.pairs.bam\n", True, PAIRS),
                       ("cell\tm1\ta.bam\ncell\tm2\tb.bam\n", False, MIXED), ("cell\tm1\ta.bam\tb.bam\n", True, MIXED)]
        for table, control, options in tables:
            table = table.replace("%s", kind)
            box.path("table.txt").write_text(table)
            box.path("sheet.tsv").write_text("sample\ttrack\tpath%s\n%s" % ("\tcontrol" if control else "", table))
            for theirs, own in options:
                for folder in ("theirs", "ours"):
                    shutil.rmtree(box.path(folder), ignore_errors=True)
                box.run("ChromHMM", "Binarize" + kind.capitalize(), *theirs.split(), "sizes.txt", ".", "table.txt", "theirs")
                shift = [] if "--shift" in own else ["--shift", 100]
                box.run(box.program, "count", "-q", "--samples", "sheet.tsv", "-g", "sizes.txt", "--binarise", "--chromhmm-out", "ours",
                        *(["--exclude-flags", 0] if kind == "bam" else []), *shift, *own.split())
                names = sorted(path.name.removesuffix(".gz") for path in box.path("theirs").iterdir())
                same_names = names == sorted(path.name.removesuffix(".gz") for path in box.path("ours").iterdir())
                bad = sum(box.path("theirs/" + name).read_bytes() != gzip.decompress(box.path("ours/%s.gz" % name).read_bytes()) for name in names) if same_names else len(names)
                box.judge("Binarize%s %s%s" % (kind.capitalize(), theirs, ", with a control" if control else ""), bad, len(names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--packages", help="not used: these peers are programs")
    options = parser.parse_args()
    if shutil.which("samtools") is None:
        print("SKIPPED: samtools is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="semicrf-peers-") as folder:
        box = Folder(pathlib.Path(options.program).resolve(), folder)
        box.path("sizes.txt").write_text("".join("%s\t%d\n" % pair for pair in CHROMOSOMES))
        for name, other, seed in (("a", "pairs", SEED), ("b", "b.pairs", SEED + 1)):
            # BinarizeBam counts a pair that spans nothing by its first read's start.
            alignments = [one for one in random_alignments(seed, count=800) if one.template or not one.flags & PROPER]
            random.Random(seed).shuffle(alignments)
            for file, written in ((name, alignments), (other, [one for one in alignments if one.flags & PAIRED])):
                box.path(file + ".sam").write_text(sam_text(written))
                box.run("samtools", "sort", "-o", file + ".bam", file + ".sam")
                box.run("samtools", "index", file + ".bam")
        for peer, compare in (("samtools", with_samtools), ("bedtools", with_bedtools), ("bamCoverage", with_bam_coverage), ("ChromHMM", with_chromhmm)):
            if shutil.which(peer) is None:
                print("skip %s is not installed" % peer)
                continue
            compare(box)
        sys.exit(1 if box.failures else 0)


if __name__ == "__main__":
    main()
