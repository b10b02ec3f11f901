"""count: reads to tracks, against plain sums over bases of the alignments that the test wrote."""

import ast
import gzip
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import zipfile

from bbi_files import bigwig_intervals
from harness import Skip, bed_rows, check

# Not in the order of their names, one that no read lies on, one shorter than a bin.
CHROMOSOMES = [("chrB", 5003), ("chrA", 3001), ("empty", 700), ("tiny", 150)]
UNMAPPED, REVERSE, FIRST, PROPER, PAIRED = 4, 16, 64, 2, 1
USUAL = 4 | 256 | 512 | 1024 | 2048


class Alignment:
    def __init__(self, chromosome, begin, cigar, flags, mapq, template=0, tags=()):
        self.chromosome, self.begin, self.cigar, self.flags, self.mapq, self.template = chromosome, begin, cigar, flags, mapq, template
        self.tags = list(tags)

    def steps(self):
        return [(int(length), kind) for length, kind in re.findall(r"(\d+)([MIDNSHP=X])", self.cigar)]

    def bases(self):
        """Aligned bases, and one past the last base that it spans."""
        at, bases = self.begin, []
        for length, kind in self.steps():
            if kind in "M=X":
                bases += range(at, at + length)
            if kind in "M=XDN":
                at += length
        return bases, at

    def sam(self, number):
        query = sum(length for length, kind in self.steps() if kind in "MIS=X")
        mate = ["=", str(self.begin + 1), str(self.template)] if self.flags & PAIRED else ["*", "0", "0"]
        return "\t".join(["r%d" % number, str(self.flags), self.chromosome, str(self.begin + 1), str(self.mapq), self.cigar] + mate
                         + ["A" * query, "*"] + self.tags)


def random_alignments(seed, count=400):
    rng, found = random.Random(seed), []
    shapes = ["30M", "5S25M", "25M6S", "10M2I18M", "12M3D18M", "10M40N20M", "4H20M5S", "8=1X20=", "3S10M1D5M200N7M2I9M4H", "6M6I6M", "10M1P4M"]
    for name, length in CHROMOSOMES:
        for _ in range(0 if name == "empty" else 15 if name == "tiny" else count):
            one = Alignment(name, 0, rng.choice(shapes), 0, rng.choice([0, 1, 10, 29, 30, 60, 255]))
            span = one.bases()[1]
            if span > length:
                continue
            one.begin = rng.randrange(length - span + 1)
            one.flags = rng.choice([0, REVERSE]) | rng.choice([0, 0, 0, 0, 256, 512, 1024, 2048, UNMAPPED])
            if rng.random() < 0.6:
                one.flags |= PAIRED | rng.choice([0, PROPER]) | rng.choice([FIRST, 128])
                reach = rng.randrange(span, 400) if span < 400 else span
                low = one.begin if not one.flags & REVERSE else one.begin + span - reach
                one.template = (-reach if one.flags & REVERSE else reach) if low >= 0 and low + reach <= length else 0
            found.append(one)
    order = {name: i for i, (name, _) in enumerate(CHROMOSOMES)}
    return sorted(found, key=lambda one: (order[one.chromosome], one.begin))


def sam_text(alignments, chromosomes=None):
    header = ["@HD\tVN:1.6\tSO:coordinate"] + ["@SQ\tSN:%s\tLN:%d" % pair for pair in chromosomes or CHROMOSOMES]
    return "\n".join(header + [one.sam(i) for i, one in enumerate(alignments)]) + "\n"


def make(box, alignments, name, *options, chromosomes=None):
    """The alignments as BAM, CRAM or SAM."""
    sam = box.write(name + ".sam" if not name.endswith(".sam") else name, sam_text(alignments, chromosomes))
    if name.endswith(".sam"):
        return name
    tool = pathlib.Path(box.program).parents[1] / "tests" / "cli" / "make_reads"
    if not tool.exists():
        raise Skip("%s is not built" % tool)
    done = subprocess.run([str(tool), sam, name, *options], cwd=box.folder, capture_output=True, text=True, check=False)
    check(done.returncode == 0, "make_reads %s: %s" % (name, done.stderr))
    box.path(sam).unlink()
    return name


def counted_bases(one, options):
    """What of a read counts, in bases of its chromosome, which may lie outside of it; nothing: it does not count."""
    if one.flags & (options.get("exclude", USUAL) | UNMAPPED) or one.flags & options.get("include", 0) != options.get("include", 0):
        return []
    if one.mapq < options.get("mapq", 0):
        return []
    reverse = bool(one.flags & REVERSE)
    if "strand" in options and (options["strand"] == "reverse") != reverse:
        return []
    aligned, end = one.bases()
    span = list(range(one.begin, max(end, one.begin + 1)))
    part = options.get("count", "centre" if options.get("fragments") else "start")
    by = options.get("shift", 0) * (-1 if reverse else 1)
    single = options.get("mixed") and not one.flags & PAIRED
    if single and part == "centre":
        return [(span[-1] if reverse else span[0]) + by]
    if options.get("fragments") and not single:
        by = 0
        if one.flags & (PAIRED | PROPER | FIRST) != PAIRED | PROPER | FIRST or one.template == 0 or abs(one.template) > options.get("longest", 1000):
            return []
        size = abs(one.template)
        span = aligned = list(range(span[-1] + 1 - size, span[-1] + 1) if reverse else range(span[0], span[0] + size))
    elif options.get("extend"):
        size = options["extend"]
        span = aligned = list(range(span[-1] + 1 - size, span[-1] + 1) if reverse else range(span[0], span[0] + size))
    if part == "start":
        return [(span[-1] if reverse else span[0]) + by]
    if part == "centre":
        ahead = options.get("fragments") and not reverse
        return [(span[0] + len(span) // 2 if ahead else (span[0] + span[-1]) // 2) + by]
    return [base + by for base in (range(span[0], span[-1] + 1) if part == "span" else aligned)]


def without_duplicates(alignments, options):
    """The first reads of each 5' end, strand and fragment."""
    seen, kept = {}, []
    for one in alignments:
        if not counted_bases(one, options):
            continue
        place = one.bases()[1] - 1 if one.flags & REVERSE else one.begin
        mate = 0 if not one.flags & PAIRED else one.template if one.template else (one.chromosome, one.begin)
        key = (one.chromosome, place, one.flags & REVERSE, abs(one.template) if options.get("fragments") else mate)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= options["keep"]:
            kept.append(one)
    return kept


def expected(alignments, size, options, excluded=(), regions=None):
    """{chromosome: [value of each bin]} of those with reads, and the number of reads that count."""
    length_of, sums, reads = dict(CHROMOSOMES), {}, 0
    wanted = None if regions is None else {(name, number) for name, begin, end in regions for number in range(begin // size, -(-end // size))}
    if options.get("keep"):
        alignments = without_duplicates(alignments, options)
    for one in alignments:
        length = length_of[one.chromosome]
        bases = [base for base in counted_bases(one, options) if 0 <= base < length]
        if any(name == one.chromosome and begin <= base < end for name, begin, end in excluded for base in bases):
            continue
        if wanted is not None:
            bases = [base for base in bases if (one.chromosome, base // size) in wanted]
        if not bases:
            continue
        reads += 1
        bins = sums.setdefault(one.chromosome, [0] * -(-length // size))
        if options.get("count") == "depth":
            for base in bases:
                bins[base // size] += 1 / min(size, length - base // size * size)
        else:
            for number in {base // size for base in bases}:
                bins[number] += 1
    if wanted is not None:
        sums = {name: [value if (name, number) in wanted else None for number, value in enumerate(bins)] for name, bins in sums.items()}
    return sums, reads


def values_of(box, name, size):
    """{chromosome: [value of each bin or None]} of a bigWig file."""
    found, length_of = {}, dict(CHROMOSOMES)
    for chromosome, begin, end, value in bigwig_intervals(box.path(name).read_bytes())[0]:
        bins = found.setdefault(chromosome, [None] * -(-length_of[chromosome] // size))
        check(begin % size == 0 and (end % size == 0 or end == length_of[chromosome]), "an interval that is no bins: %d-%d" % (begin, end))
        for number in range(begin // size, -(-end // size)):
            bins[number] = value
    return found


def read_npz(path):
    """{name: rows} of float32 arrays."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            size = struct.unpack_from("<H", data, 8)[0]
            length, width = ast.literal_eval(data[10:10 + size].decode())["shape"]
            values = struct.unpack_from("<%df" % (length * width), data, 10 + size)
            found[name.removesuffix(".npy")] = [values[t * width:(t + 1) * width] for t in range(length)]
    return found


def same(found, wanted, what, exact=True):
    check(sorted(found) == sorted(wanted), "%s: chromosomes %s, expected %s" % (what, sorted(found), sorted(wanted)))
    for chromosome, bins in wanted.items():
        for number, value in enumerate(bins):
            given = found[chromosome][number]
            fits = given == value if exact or value is None or given is None else abs(given - value) <= 1e-6 * max(1, abs(value))
            check(fits, "%s: bin %d of %s is %s, expected %s" % (what, number, chromosome, given, value))


NAMES = {"mapq": "--min-mapq", "include": "--include-flags", "exclude": "--exclude-flags", "strand": "--strand", "count": "--count",
         "mixed": "--mixed", "shift": "--shift", "extend": "--extend", "longest": "--longest-fragment", "keep": "--keep-dup"}


def arguments(options):
    words = [NAMES.get(key, "--" + key) for key in ("fragments", "mixed") if options.get(key)]
    for key, value in options.items():
        if key not in ("fragments", "mixed"):
            words.append("%s=%s" % (NAMES[key], value))
    return words


OPTIONS = [{}, {"mapq": 30}, {"exclude": 0}, {"exclude": 4, "include": 1}, {"strand": "forward"}, {"strand": "reverse", "count": "overlap"},
           {"shift": 100}, {"shift": -37, "count": "centre"}, {"extend": 150}, {"extend": 150, "count": "centre"}, {"extend": 220, "count": "overlap"},
           {"count": "overlap"}, {"count": "depth"}, {"count": "depth", "extend": 90, "shift": 11, "exclude": 1024}, {"fragments": True},
           {"count": "span"}, {"count": "span", "shift": 30, "strand": "forward"}, {"fragments": True, "mixed": True, "shift": 60},
           {"fragments": True, "mixed": True, "count": "overlap", "extend": 80}, {"fragments": True, "count": "overlap", "longest": 300}, {"fragments": True, "count": "depth", "exclude": 0}]


def test_every_option_on_every_format(box):
    """Exact counts from SAM, BAM and CRAM, with an index and without one, for bins of 1 base and more, also beyond the chromosome."""
    alignments = random_alignments(20)
    files = [make(box, alignments, "plain.sam"), make(box, alignments, "indexed.bam"), make(box, alignments, "bare.bam", "--no-index"),
             make(box, alignments, "indexed.cram"), make(box, alignments, "bare.cram", "--no-index")]
    for number, options in enumerate(OPTIONS):
        for size in (1, 7, 200):
            wanted, reads = expected(alignments, size, options)
            check(reads > 10, "the test counts no reads with %s" % options)
            name = files[(number + size) % len(files)] if size != 200 else None
            for file in files if name is None else [name]:
                result = box.ok(["count", "-b", size, "-o", "out.bw", "-t", 1 + number % 3, *arguments(options), file])
                check(" %d read" % reads in result.stderr, "%s: expected %d reads\n%s" % (options, reads, result))
                same(values_of(box, "out.bw", size), wanted, "%s %s, bins of %d" % (file, options, size), exact=options.get("count") != "depth")


def test_regions(box):
    """Bins of regions alone, widened to whole bins, with an index and without one; with it nothing else is read."""
    alignments = random_alignments(31)
    files = [make(box, alignments, "indexed.bam"), make(box, alignments, "bare.bam", "--no-index"), make(box, alignments, "indexed.cram")]
    box.write("regions.bed", "chrA\t2200\t2204\nchrB\t4100\t4950\nchrB\t90\t110\n")
    regions = [("chrB", 300, 1777), ("chrB", 1500, 2000), ("tiny", 0, 150), ("chrA", 2200, 2204), ("chrB", 4100, 4950), ("chrB", 90, 110)]
    words = ["-r", "chrB:301-1777", "-r", "chrB:1,501-2000", "-r", "tiny", "-L", "regions.bed"]
    for number, options in enumerate([{}, {"shift": 100}, {"count": "overlap"}, {"count": "depth", "extend": 200}, {"fragments": True}]):
        for size in (7, 200):
            wanted, reads = expected(alignments, size, options, regions=regions)
            for file in files if size == 200 else files[number % 3:][:1]:
                result = box.ok(["count", "-b", size, "-o", "out.bw", "-t", 1 + number % 3, *words, *arguments(options), file])
                check(" %d read" % reads in result.stderr, "%s: expected %d reads\n%s" % (options, reads, result))
                same(values_of(box, "out.bw", size), wanted, "%s %s, bins of %d" % (file, options, size), exact=options.get("count") != "depth")
    whole = box.path(make(box, random_alignments(31, count=3000), "more.bam")).read_bytes()
    box.write("torn.bam", whole[:-3000] + bytes(600) + whole[-2400:])
    box.write("torn.bam.bai", box.path("more.bam.bai").read_bytes())
    box.fails("count -o x.bw torn.bam", 3, "torn.bam", "damaged")
    box.ok("count -r chrB:1-100 -o near.bw torn.bam")
    box.fails("count -r chrC:1-2 -o x.bw indexed.bam", 3, "chrC", "chrB")
    box.fails("count -r chrA:9-2 -o x.bw indexed.bam", 2, "chrA:9-2")
    box.fails("count -r chrA --binarise -o x.bw indexed.bam", 2, "--region", "-g")


def test_duplicates_by_place(box):
    """The first reads of each 5' end, strand and fragment, in all files and whatever the tiles and regions are."""
    rng, alignments = random.Random(32), []
    for one in random_alignments(32, count=120):
        for _ in range(rng.choice([1, 1, 2, 5])):
            copy = Alignment(one.chromosome, one.begin, one.cigar, one.flags & ~1024, one.mapq, one.template)
            if rng.random() < 0.3 and one.cigar == "30M" and not one.flags & PAIRED:  # trimmed, with the same 5' end
                cut = rng.randrange(1, 20)
                copy.cigar, copy.begin = "%dM" % (30 - cut), one.begin + (cut if one.flags & REVERSE else 0)
            alignments.append(copy)
    order = {name: i for i, (name, _) in enumerate(CHROMOSOMES)}
    alignments.sort(key=lambda one: (order[one.chromosome], one.begin))
    files = [make(box, alignments, "plain.sam"), make(box, alignments, "indexed.bam"), make(box, alignments, "indexed.cram")]
    for options in ({"keep": 1}, {"keep": 2, "mapq": 10}, {"keep": 1, "count": "overlap"}, {"keep": 1, "shift": 50}, {"keep": 1, "fragments": True}):
        wanted, reads = expected(alignments, 50, options)
        check(reads < expected(alignments, 50, {**options, "keep": 0})[1], "the test has no duplicates with %s" % options)
        for file in files:
            result = box.ok(["count", "-b", 50, "-o", "out.bw", "-t", 2, *arguments(options), file])
            check(" %d read" % reads in result.stderr, "%s: expected %d reads\n%s" % (options, reads, result))
            same(values_of(box, "out.bw", 50), wanted, "%s %s" % (file, options))
    long = [("long", 3 << 20)]
    reads = []
    for border in (1 << 20, 2 << 20):
        for _ in range(300):
            begin = border - rng.randrange(60)
            reads.append(Alignment("long", begin, rng.choice(["20M", "40M", "60M", "10M900N50M"]), rng.choice([0, REVERSE]), 60))
    reads.sort(key=lambda one: one.begin)
    make(box, reads, "indexed.bam", chromosomes=long)
    make(box, reads, "bare.bam", "--no-index", chromosomes=long)
    for how in ("start", "overlap", "centre"):
        for file, region in (("indexed.bam", []), ("bare.bam", []), ("indexed.bam", ["-r", "long:1048577-1048800"]), ("bare.bam", ["-r", "long:1048577-1048800"])):
            box.ok(["count", "-b", 10, "--keep-dup", 1, "--count", how, "-t", 2, "-o", file + str(len(region)) + ".bw", *region, file])
        for tail in ("0.bw", "2.bw"):
            check(box.path("indexed.bam" + tail).read_bytes() == box.path("bare.bam" + tail).read_bytes(), "the index changes counts of %s" % how)
    box.fails("count --keep-dup 1 --unsorted -o x.bw bare.bam", 2, "--keep-dup", "sorted")


def test_groups_of_cells(box):
    """A track for each group, of alignments with CB tags and of fragments; barcodes that the table lacks are counted and told."""
    rng, cells = random.Random(33), {"AAA-1": "T cell", "CCC-1": "B", "GGG-1": "T cell", "TTT-1": "C10", "ACG-1": "C9"}
    alignments = random_alignments(33)
    for one in alignments:
        barcode = rng.choice([*cells, "XXX-1", None])
        one.tags = [] if barcode is None else ["CB:Z:" + barcode]
    groups = {group: [one for one in alignments if any(one.tags == ["CB:Z:" + cell] for cell in cells if cells[cell] == group)] for group in set(cells.values())}
    box.write("cells.tsv", "".join("%s\t%s\n" % pair for pair in cells.items()) + "NNN-1\tB\n")
    box.write("cells.csv.gz", gzip.compress(("x,Cluster,Barcode\n" + "".join("0,%s,%s\n" % (group, cell) for cell, group in cells.items())).encode()))
    counted = lambda kind: sum(bool(counted_bases(one, {})) for one in alignments if kind(one.tags))
    for file, table in ((make(box, alignments, "cells.bam"), "cells.tsv"), (make(box, alignments, "cells.cram"), "cells.csv.gz"), (make(box, alignments, "bare.bam", "--no-index"), "cells.tsv")):
        result = box.ok(["count", "-b", 50, "--groups", table, "--prefix", "out", "-t", 2, file])
        others, without = counted(lambda tags: tags == ["CB:Z:XXX-1"]), counted(lambda tags: not tags)
        check("[reads-without-group]" in result.stderr and "%d reads with a barcode" % others in result.stderr and "and %d without one" % without in result.stderr
              and "XXX-1" in result.stderr and "5 of %d cells found" % (5 + (table == "cells.tsv")) in result.stderr, "what is told\n%s" % result)
        for group, own in groups.items():
            same(values_of(box, "out.%s.bw" % group, 50), expected(own, 50, {})[0], "%s %s" % (file, group))
    box.ok("count -b 50 --groups cells.tsv -o all.npz cells.bam")
    arrays = read_npz(box.path("all.npz"))
    columns = [expected(groups[name], 50, {})[0] for name in ("B", "C9", "C10", "T cell")]
    for name, rows in arrays.items():
        wanted = [list(row) for row in zip(*[one.get(name, [0] * len(rows)) for one in columns])]
        check([list(row) for row in rows] == wanted, "the rows of %s" % name)
    box.ok("count -b 50 --groups cells.tsv --binarise --chromhmm-out binary cells.bam")
    check(box.path("binary/T cell_chrA_binary.txt.gz").exists(), "binarised text of a group: %s" % box.listing())
    check(gzip.decompress(box.path("binary/B_chrB_binary.txt.gz").read_bytes()).decode().splitlines()[:2] == ["B\tchrB", "cells"], "the head of the text")
    many_cells(box, rng)
    box.fails("count --groups cells.tsv -o x.bw cells.bam", 2, "--prefix")
    box.fails("count --groups cells.tsv --control cells.bam --prefix x cells.bam", 2, "controls", "--groups")
    box.fails("count --groups cells.tsv --barcode-tag CR --prefix x cells.bam", 3, "cells.bam", "no read has a barcode (tag CR, --barcode-tag)")
    box.fails("count --groups cells.tsv --barcode-tag CBX --prefix x cells.bam", 2, "--barcode-tag")
    for text, place, word in (("AAA-1\tA\nAAA-1\tB\n", ":line 2", "in the groups A and B"), ("AAA-1\n", ":line 1", "no barcode with a group"), ("AAA-1\t\n", ":line 1", "no barcode with a group"),
                              ("barcode\tx\ty\n", ":line 1", "no column group or cluster"), ("# nothing\n", "", "no barcode in this table"), ("AAA\tA\n", "", "there is AAA, here AAA-1")):
        box.write("bad.tsv", text)
        box.fails("count --groups bad.tsv --prefix x cells.bam", 3, "bad.tsv" + place, word)


def many_cells(box, rng):
    """Fragments of two samples and two marks, whose cells share barcodes: groups are the samples of the outputs."""
    cells = {"S1": {"AAA-1": "A", "CCC-1": "B"}, "S2": {"AAA-1": "B", "CCC-1": "A", "GGG-1": "A"}}
    box.write("sizes.txt", "".join("%s\t%d\n" % pair for pair in CHROMOSOMES))
    box.write("both.tsv", "barcode\tcluster\nS1#AAA-1\tA\nS1_CCC-1\tB\nS2:AAA-1\tB\nCCC-1\tA\nGGG-1\tA\n")
    rows, sheet = {}, "sample\ttrack\tpath\n"
    for sample, own in cells.items():
        for mark in ("K4", "K27"):
            fragments = sorted((rng.randrange(2900), rng.randrange(1, 99), rng.choice(list(own))) for _ in range(200))
            box.write("%s.%s.tsv.gz" % (sample, mark), gzip.compress("".join("chrA\t%d\t%d\t%s\t1\n" % (begin, begin + size, cell) for begin, size, cell in fragments).encode()))
            sheet += "%s\t%s\t%s.%s.tsv.gz\n" % (sample, mark, sample, mark)
            for begin, size, cell in fragments:
                rows.setdefault((own[cell], mark), []).append(Alignment("chrA", begin, "%dM" % size, 0, 60))
    box.write("sheet.tsv", sheet)
    result = box.ok("count -g sizes.txt -b 50 --fragments --groups both.tsv --samples sheet.tsv -t 2 --prefix two")
    check("[reads-without-group]" not in result.stderr, "barcodes are not found\n%s" % result)
    for (group, mark), own in rows.items():
        same(values_of(box, "two.%s.%s.bw" % (group, mark), 50), expected(own, 50, {"count": "centre"})[0], "%s %s" % (group, mark))


def test_threads_and_index_change_no_byte(box):
    alignments = random_alignments(21)
    indexed, bare = make(box, alignments, "indexed.bam"), make(box, alignments, "bare.bam", "--no-index")
    contents = set()
    for file in (indexed, bare):
        for threads in (1, 2, 5):
            box.ok(["count", "-b", 10, "-t", threads, "--scale", "cpm", "--count", "overlap", "-o", "out.bw", file])
            contents.add(box.path("out.bw").read_bytes())
    check(len(contents) == 1, "%d different files" % len(contents))


def test_text(box):
    """BED, tagAlign and fragments, plain and compressed, in any order of chromosomes."""
    rng = random.Random(22)
    alignments = []
    for name, length in reversed(CHROMOSOMES[:2]):
        for _ in range(300):
            size = rng.randrange(1, 90)
            alignments.append(Alignment(name, rng.randrange(length - size), "%dM" % size, rng.choice([0, REVERSE]), 60))
    alignments.sort(key=lambda one: (one.chromosome, one.begin))
    ends = [one.bases()[1] for one in alignments]
    strands = ["-" if one.flags & REVERSE else "+" for one in alignments]
    box.write("sizes.txt", "".join("%s\t%d\n" % pair for pair in CHROMOSOMES))
    tags = "".join("%s\t%d\t%d\tN\t1000\t%s\n" % (one.chromosome, one.begin, end, strand) for one, end, strand in zip(alignments, ends, strands))
    box.write("reads.tagAlign", tags)
    box.write("reads.bed.gz", gzip.compress(tags.encode()))
    box.write("four.bed", "".join("%s\t%d\t%d\t%s\n" % (one.chromosome, one.begin, end, strand) for one, end, strand in zip(alignments, ends, strands)))
    box.write("fragments.tsv.gz", gzip.compress(("# made for a test\n" + "".join(
        "%s\t%d\t%d\tACGT-1\t2\n" % (one.chromosome, one.begin, end) for one, end in zip(alignments, ends))).encode()))
    for options in ({}, {"shift": 100}, {"count": "overlap", "extend": 120}, {"count": "depth"}, {"count": "centre"}):
        wanted, _ = expected(alignments, 50, options)
        for file in ("reads.tagAlign", "reads.bed.gz", "four.bed"):
            box.ok(["count", "-g", "sizes.txt", "-b", 50, "-o", "out.bw", *arguments(options), file])
            same(values_of(box, "out.bw", 50), wanted, "%s %s" % (file, options), exact=options.get("count") != "depth")
    wanted, _ = expected(alignments, 50, {"count": "centre"})
    box.ok("count -g sizes.txt -b 50 -o out.bw --fragments fragments.tsv.gz")
    same(values_of(box, "out.bw", 50), wanted, "fragments")
    lines = tags.splitlines(True)
    rng.shuffle(lines)
    box.write("shuffled.bed", "".join(lines))
    box.ok("count -g sizes.txt -b 50 --count centre --unsorted -o out.bw shuffled.bed")
    same(values_of(box, "out.bw", 50), wanted, "shuffled")
    box.fails("count -g sizes.txt -b 50 -o out2.bw shuffled.bed", 3, "shuffled.bed", "line ", "--unsorted")
    box.fails("count -g sizes.txt -b 50 -o out2.bw fragments.tsv.gz", 3, "line 2", "no strand", "--count centre")
    box.fails("count -b 50 -o out2.bw reads.tagAlign", 3, "how long chromosomes are", "-g")
    box.fails("count -g sizes.txt --min-mapq 3 -o out2.bw reads.tagAlign", 3, "no mapping qualities")


def test_scale_exclude_and_control(box):
    alignments, others = random_alignments(23), random_alignments(24, count=250)
    make(box, alignments, "one.bam")
    make(box, others, "two.bam")
    wanted, reads = expected(alignments, 100, {})
    control, control_reads = expected(others, 100, {})
    box.ok("count -b 100 --scale cpm -o cpm.bw one.bam")
    same(values_of(box, "cpm.bw", 100), {name: [count * 1e6 / reads for count in bins] for name, bins in wanted.items()}, "cpm", exact=False)
    least = min(reads, control_reads)
    for how, formula in (("difference", lambda a, b: a - b), ("ratio", lambda a, b: (a + 1) / (b + 1))):
        box.ok("count -b 100 --control two.bam --control-as %s -o against.bw one.bam" % how)
        same(values_of(box, "against.bw", 100),
             {name: [formula(a * least / reads, b * least / control_reads) for a, b in zip(wanted[name], control[name])] for name in wanted}, how, exact=False)
    excluded = [("chrA", 450, 710), ("chrA", 700, 730), ("chrB", 0, 5)]
    box.write("black.bed", "".join("%s\t%d\t%d\n" % one for one in excluded))
    for options in ({}, {"count": "overlap"}):
        wanted, reads = expected(alignments, 100, options, excluded)
        for name, begin, end in excluded:
            for number in range(begin // 100, -(-end // 100)):
                wanted[name][number] = None
        result = box.ok(["count", "-b", 100, "--exclude", "black.bed", "-o", "kept.bw", *arguments(options), "one.bam"])
        check(" %d read" % reads in result.stderr, "%d reads\n%s" % (reads, result))
        same(values_of(box, "kept.bw", 100), wanted, "exclude %s" % options)


def test_many_samples(box):
    """A sheet makes a file per row; -o .npz has a column per file."""
    first, second = random_alignments(25), random_alignments(26)
    make(box, first, "a.bam")
    make(box, second, "b.bam")
    box.write("sheet.tsv", "sample\ttrack\tpath\tcontrol\nS1\tK4\ta.bam\t\nS1\tK27\tb.bam\t\nS2\tK4\tb.bam\ta.bam\n")
    box.ok("count --samples sheet.tsv -b 50 --prefix out -t 2")
    for name, alignments in (("out.S1.K4.bw", first), ("out.S1.K27.bw", second)):
        same(values_of(box, name, 50), expected(alignments, 50, {})[0], name)
    check(box.path("out.S2.K4.bw").exists(), "the file of S2")
    box.ok("count -b 50 -o both.npz K4=a.bam K27=b.bam")
    arrays = read_npz(box.path("both.npz"))
    one, two = expected(first, 50, {})[0], expected(second, 50, {})[0]
    check(sorted(arrays) == sorted(one), "members %s" % sorted(arrays))
    for name, rows in arrays.items():
        check([list(row) for row in rows] == [list(pair) for pair in zip(one[name], two[name])], "the rows of %s" % name)
    box.fails("count --samples sheet.tsv -o x.bw", 2, "--prefix")
    box.fails("count --samples sheet.tsv -o x.npz", 2, "one sample")
    box.fails("count -o x.bw K4=a.bam K27=b.bam", 2, "--prefix")
    box.fails("count -o x.npz a.bam K4=b.bam a=b.bam", 2, "two tracks are named 'a'")
    box.fails("count a.bam", 2, "no output is given")
    box.fails("count -o x.bed a.bam", 2, ".bw or .npz")


def test_plan_tells_memory(box):
    """--dry-run writes nothing; what it says holds for ten times as many reads."""
    make(box, random_alignments(27, count=40), "few.bam")
    make(box, random_alignments(27, count=400), "many.bam")
    before = box.listing()
    few, many = box.ok("count --dry-run -b 1 -o x.bw few.bam").stdout, box.ok("count --dry-run -b 1 -o x.bw many.bam").stdout
    check(few.replace("few", "many") == many and "memory: " in many and "by its index" in many, "the plan\n%s\n%s" % (few, many))
    check(box.listing() == before, "files were written")
    box.fails("count --max-memory 1M -o x.bw few.bam", 6, "needs ", "--max-memory is 1 MiB")


def test_files_that_are_wrong(box):
    """One clear line each."""
    alignments = random_alignments(28)
    make(box, alignments, "good.bam")
    whole = box.path("good.bam").read_bytes()
    box.write("cut.bam", whole[:-28])
    box.fails("count -o x.bw cut.bam", 3, "cut.bam", "truncated")
    box.write("cut2.bam", whole[:len(whole) // 2])
    box.fails("count -o x.bw cut2.bam", 3, "cut2.bam", "truncated")
    box.write("torn.bam", whole[:3000] + bytes(64) + whole[3064:])
    box.fails("count -o x.bw torn.bam", 3, "torn.bam", "damaged")
    box.write("nothing.bam", b"")
    box.fails("count -o x.bw nothing.bam", 3, "empty file")
    box.write("bad.bam", whole)
    box.write("bad.bam.bai", b"BAI\1" + b"\xff" * 40)
    box.fails("count -o x.bw bad.bam", 3, "bad.bam.bai", "index")
    box.fails("count -o x.bw none.bam", 4, "none.bam")
    box.fails("count -o x.bw demo.params.json", 3, "a JSON file", "BAM")
    make(box, list(reversed(alignments)), "backwards.bam", "--no-index")
    box.fails("count -o x.bw backwards.bam", 3, "backwards.bam", "samtools sort", "--unsorted")
    box.ok("count -o forwards.bw good.bam")
    box.ok("count --unsorted -o x.bw backwards.bam")
    check(box.path("x.bw").read_bytes() == box.path("forwards.bw").read_bytes(), "unsorted reads have the same counts")
    box.path("x.bw").unlink()
    box.write("sizes.txt", "chrA\t3000\nchrB\t5003\n")
    box.fails("count -g sizes.txt -o x.bw good.bam", 3, "chrA has 3001 bases", "sizes.txt 3000")
    box.write("sizes.txt", "1\t3000\n")
    box.fails("count -g sizes.txt -o x.bw good.bam", 3, "no chromosome of sizes.txt", "chrB")
    make(box, [], "header.bam", chromosomes=[("other", 100)])
    box.fails("count --prefix x good.bam header.bam", 3, "header.bam", "other")
    make(box, [], "none.sam.bam")
    result = box.ok("count -o none.bw none.sam.bam")
    check("no-reads" in result.stderr, "no warning\n%s" % result)
    check(values_of(box, "none.bw", 200) == {}, "values of no reads")


def test_damaged_cram_and_references(box):
    """CRAM files made by a reference are counted without it, unless a slice has several chromosomes; one that is given must be theirs."""
    os.environ["REF_PATH"] = "none"  # else HTSlib asks a server
    rng, alignments = random.Random(34), random_alignments(34)
    for one in alignments:
        one.tags = ["CB:Z:AAA-1"]
    bases = {name: "".join(rng.choice("ACGT") for _ in range(length)) for name, length in CHROMOSOMES}
    write = lambda name, lengths: (box.write(name, "".join(">%s\n%s\n" % (one, bases[one][:length]) for one, length in lengths)),
                                   box.write(name + ".fai", "".join("%s\t%d\t0\t%d\t%d\n" % (one, length, length, length + 1) for one, length in lengths)))
    write("genome.fa", CHROMOSOMES)
    make(box, alignments, "by.cram", "--fasta", "genome.fa")
    make(box, alignments, "plain.bam")
    box.write("cells.tsv", "AAA-1\tA\n")
    box.ok("count -b 50 -o checked.bw --fasta genome.fa by.cram")
    box.ok("count -b 50 --fasta genome.fa --groups cells.tsv --prefix cram by.cram")
    make(box, [one for one in alignments if one.chromosome == "chrB"], "one.cram", "--fasta", "genome.fa")
    for name in ("genome.fa", "genome.fa.fai"):
        box.path(name).unlink()
    box.ok("count -b 50 --groups cells.tsv --prefix cram one.cram")
    box.fails("count -b 50 -o x.bw by.cram", 3, "by.cram", "or needs the reference", "--fasta", "REF_PATH")
    box.ok("count -b 50 -r chrB:1-1000 -o near.bw by.cram")
    box.ok("count -b 50 -o plain.bw plain.bam")
    check(box.path("plain.bw").read_bytes() == box.path("checked.bw").read_bytes(), "counts of CRAM")
    wanted = {name: bins for name, bins in expected(alignments, 50, {})[0].items() if name == "chrB"}
    same(values_of(box, "cram.A.bw", 50), wanted, "counts without the reference")
    box.fails("count -o x.bw --fasta genome.fa by.cram", 4, "genome.fa")
    write("short.fa", CHROMOSOMES[:2])
    box.fails("count -o x.bw --fasta short.fa by.cram", 3, "by.cram", "chromosomes that short.fa has not", "empty, tiny")
    write("other.fa", [*CHROMOSOMES[:3], ("tiny", 149)])
    box.fails("count -o x.bw --fasta other.fa by.cram", 3, "by.cram", "tiny has 150 bases, in other.fa 149")
    box.path("other.fa.fai").unlink()
    box.fails("count -o x.bw --fasta other.fa by.cram", 3, "other.fa", "no index other.fa.fai", "samtools faidx")
    whole = box.path("by.cram").read_bytes()
    box.write("cut.cram", whole[:len(whole) // 2])
    box.fails("count -o x.bw cut.cram", 3, "cut.cram", "truncated")
    write("genome.fa", CHROMOSOMES)
    box.write("torn.cram", whole[:len(whole) // 2] + bytes(200) + whole[len(whole) // 2 + 200:])
    box.fails("count -o x.bw --fasta genome.fa torn.cram", 3, "torn.cram", "damaged or truncated")
    box.write("torn.cram.crai", box.path("by.cram.crai").read_bytes()[:-9])
    box.fails("count -o x.bw torn.cram", 3, "torn.cram.crai", "damaged")
    make(box, random_alignments(35, count=4000), "large.bam")
    box.write("plain.bam.bai", box.path("large.bam.bai").read_bytes())
    result = box.run("count -o x.bw plain.bam")
    check(result.code in (0, 3) and result.stderr.count("semicrf: error: ") == (result.code != 0), "an index of another file\n%s" % result)


def test_an_index_that_is_older(box):
    """Is not used, with a warning."""
    alignments = random_alignments(29)
    make(box, alignments, "reads.bam")
    os.utime(box.path("reads.bam.bai"), (1, 1))
    result = box.ok("count -b 50 -o out.bw reads.bam")
    check("[index-older]" in result.stderr and "reads.bam.bai" in result.stderr, "no warning\n%s" % result)
    same(values_of(box, "out.bw", 50), expected(alignments, 50, {})[0], "an older index")


def test_headers_that_are_odd(box):
    """A chromosome without a base is left out; very many small ones work."""
    box.write("zero.sam", "@SQ\tSN:none\tLN:0\n@SQ\tSN:chr1\tLN:500\nr\t0\tchr1\t11\t60\t5M\t*\t0\t0\tAAAAA\t*\n")
    result = box.ok("count -b 100 -o out.bw zero.sam")
    check("[empty-chromosomes]" in result.stderr, "no warning\n%s" % result)
    box.write("huge.sam", "@SQ\tSN:chr1\tLN:%d\nr\t0\tchr1\t11\t60\t5M\t*\t0\t0\tAAAAA\t*\n" % (1 << 62))
    box.fails("count -b 1 -o huge.npz huge.sam", 3, "huge.sam", "chr1 has 4611686018427387904 bases")
    many = [("c%d" % i, 300) for i in range(70000)]
    reads = [Alignment("c%d" % i, 7, "10M", 0, 60) for i in range(70000)]
    make(box, reads, "most.bam", "--no-index", chromosomes=many)
    box.fails("count -b 100 -o most.npz most.bam", 3, "most.npz", "65535 arrays at most", "bigWig")
    reads = reads[::7]
    make(box, reads, "many.bam", chromosomes=many)
    box.ok("count -b 100 -o many.npz many.bam")
    arrays = read_npz(box.path("many.npz"))
    check(len(arrays) == len(reads) and all(list(map(list, rows)) == [[1], [0], [0]] for rows in arrays.values()), "%d chromosomes" % len(arrays))


def test_reads_are_tracks(box):
    """Three commands from BAM to states; the parameters remember how reads are counted and refuse another way."""
    rng, reads = random.Random(30), {"K4": [], "K27": []}
    chromosomes = [("chrA", 60000), ("chrB", 30000)]
    for name, length in chromosomes:
        for track, shift in (("K4", 0), ("K27", 5000)):
            found = []
            for begin in range(0, length - 100, 20):
                if rng.random() < (0.9 if (begin + shift) // 5000 % 2 else 0.05):
                    found.append(Alignment(name, begin + rng.randrange(20), "40M", rng.choice([0, REVERSE]), rng.choice([5, 60])))
            reads[track] += sorted(found, key=lambda one: one.begin)
    make(box, reads["K4"], "k4.bam", chromosomes=chromosomes)
    make(box, reads["K27"], "k27.cram", chromosomes=chromosomes)
    way = "?mapq=30&shift=50"
    files = ["K4=k4.bam" + way, "K27=k27.cram" + way]
    fit = ["learn", "--labels", 2, "-b", 200, "--max-duration", 60, "--restarts", 1, "--max-iterations", 8, "-o"]
    box.ok([*fit, "model.json", *files])
    for track, file in (("K4", "k4.bam"), ("K27", "k27.cram")):
        box.ok(["count", "-b", 200, "--min-mapq", 30, "--shift", 50, "-o", track + ".bw", file])
    box.ok([*fit, "same.json", "K4=K4.bw", "K27=K27.bw"])
    one, other = (json.loads(box.text(name)) for name in ("model.json", "same.json"))
    check([track.pop("reads") for track in one["tracks"]] == ["mapq=30&shift=50"] * 2, "tracks %s" % one["tracks"])
    check(one["format_version"] == "1.2" and one["tracks"] == other["tracks"] and one["emission"] == other["emission"], "reads and their counts give other models")
    box.ok(["decode", "-p", "model.json", "-o", "states.bed", "K4=k4.bam", "K27=k27.cram"])
    result = box.ok(["decode", "-p", "model.json", "-o", "again.bed", "K4=K4.bw", files[1]])
    check("[reads-not-checked]" in result.stderr, "no warning of a bigWig file\n%s" % result)
    rows = ["\n".join(line for line in box.text(name).splitlines() if not line.startswith("#")) for name in ("states.bed", "again.bed")]
    check(rows[0] == rows[1] and 10 < len(rows[0].splitlines()) < 60, "segments of reads and of their counts\n%s" % rows[0])
    box.ok("report -p model.json --segments states.bed -o report.html K4=k4.bam K27=k27.cram")
    box.write("sheet.tsv", "sample\ttrack\tpath\nS\tK4\tk4.bam%s\nS\tK27\tk27.cram%s\n" % (way, way))
    box.ok("decode -p model.json --samples sheet.tsv -o sheet.bed")
    check(bed_rows(box.text("sheet.bed")) == bed_rows(box.text("states.bed")), "segments by the sheet")
    box.fails(["decode", "-p", "model.json", "-o", "x.bed", "K4=k4.bam?mapq=3", files[1]], 3, "k4.bam", "'mapq=30&shift=50'", "'mapq=3'")
    for text, code, word in (("mapq=300", 2, "0 to 255"), ("mapk=3", 2, "did you mean mapq?"), ("", 3, "'mapq=30&shift=50'"), ("count=ends", 2, "start, centre"),
                             ("mapq=1&mapq=2", 2, "twice"), ("strand=x", 2, "+ or -"), ("fragments=200&shift=3", 2, "neither shifted"), ("shift", 2, "whole number")):
        box.fails(["decode", "-p", "model.json", "-o", "x.bed", "K4=k4.bam?" + text, files[1]], code, word)
    box.fails(["decode", "-p", "model.json", "-o", "x.bed", "K4=K4.bw?mapq=3", files[1]], 3, "no options behind a ?")
