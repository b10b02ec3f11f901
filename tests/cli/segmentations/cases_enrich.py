"""describe and enrich, against plain accounts base by base."""

import collections
import gzip
import json
import math
import os
import random
import re
import struct
import time

from bbi_files import bigbed_lines, bigwig_intervals
from harness import Skip, check
from make_inputs import npy, shared_data

GENOME = {"chr1": 3000, "chr2": 900}
LABELS = ["E1", "E2", "E10"]


def random_segments(rng, gaps=True):
    """(chromosome, begin, end, label, score), touching or with gaps."""
    lines = []
    for chromosome, length in GENOME.items():
        at = rng.randint(0, 40)
        while at < length:
            end = min(length, at + rng.randint(1, 120))
            lines.append((chromosome, at, end, rng.choice(LABELS), rng.randint(0, 1000)))
            at = end + (rng.randint(1, 60) if gaps and rng.random() < 0.2 else 0)
    return lines


def random_intervals(rng, count):
    lines = []
    for _ in range(count):
        chromosome = rng.choice(["chr1", "chr2", "chr3"])
        begin = rng.randint(0, GENOME.get(chromosome, 100) + 50)
        lines.append((chromosome, begin, begin + rng.choice([1, 2, 7, 60, 200]), rng.choice(["gene", "CpG island"]), 0, rng.choice("+-")))
    return lines


def bed(lines):
    return "".join("\t".join(map(str, line)) + "\n" for line in lines)


def labels_of_bases(segments):
    return {(chromosome, base): label for chromosome, begin, end, label, _ in segments for base in range(begin, end)}


def rows(text):
    lines = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def check_row(row, label_bases, annotation, both, every, names=("label_bases", "annotation_bases", "both", "all_bases")):
    for name, expected in zip(names, (label_bases, annotation, both, every)):
        check(abs(float(row[name]) - expected) <= 1e-6 * max(1.0, expected), "%s: expected %r in %r" % (name, expected, row))
    if label_bases > 0 and annotation > 0:
        fold = both / label_bases / (annotation / every)
        check(abs(float(row["fold"]) - fold) <= 1e-6 * max(1.0, fold), "fold: expected %r in %r" % (fold, row))
    else:
        check(row["fold"] == ".", "%r" % row)


def test_regions_are_what_counts(box):
    """-r, -L and --exclude: every number is that of the segments within them, base by base."""
    rng = random.Random(47)
    segments, intervals = random_segments(rng), random_intervals(rng, 60)
    box.write("seg.bed", bed(segments))
    box.write("genes.bed", bed(intervals))
    box.write("regions.bed", "chr1\t150\t420\nchr1\t400\t777\nchr2\t33\t501\n")
    box.write("not.bed", "chr1\t300\t350\n")
    wanted = {("chr1", base) for base in range(150, 777)} | {("chr2", base) for base in range(33, 501)}
    annotated = {(interval[0], base) for interval in intervals for base in range(interval[1], interval[2])}
    options = {"-L regions.bed": wanted, "-r chr1:151-777 -r chr2:34-501": wanted,
               "-L regions.bed --exclude not.bed": wanted - {("chr1", base) for base in range(300, 350)}}
    for option, bases in options.items():
        labels = {base: label for base, label in labels_of_bases(segments).items() if base in bases}
        for row in rows(box.ok("enrich %s seg.bed genes.bed" % option).stdout):
            own = {base for base, label in labels.items() if label == row["label"]}
            check_row(row, len(own), len(annotated & labels.keys()), len(own & annotated), len(labels))
    around = rows(box.ok("enrich -r chr1:151-777 --around start --step 10 seg.bed genes.bed").stdout)
    check({float(row["all_bases"]) for row in around} == {sum(1 for base in labels_of_bases(segments) if base[0] == "chr1" and 150 <= base[1] < 777)},
          "--around counts another number of bases")
    box.fails("enrich -r chr3:1-10 seg.bed genes.bed", 3, "chr3")


def test_annotation_that_may_not_be_meant(box):
    """A labelled file taken as one, one that tiles its chromosome, and --by-name beside a file without names."""
    box.write("seg.bed", "".join("chr1\t%d\t%d\t%s\n" % (100 * i, 100 * i + 100, "ab"[i % 2]) for i in range(20)))
    box.write("lad.bed", "".join("chr1\t%d\t%d\t%s\n" % (200 * i, 200 * i + 200, ("LAD", "iLAD")[i % 2]) for i in range(8)))
    box.write("tss.bed", "".join("chr1\t%d\t%d\n" % (300 * i, 300 * i + 10) for i in range(5)))
    result = box.ok("enrich seg.bed lad.bed tss.bed -o e.tsv")
    check("2 names in column 4 (LAD, iLAD) are taken as one annotation; --by-name makes one of each" in result.stderr
          and "annotation-names" in result.stderr, result.stderr)
    check("it covers 100 % of the bases between" in result.stderr and "annotation-covers" in result.stderr, result.stderr)
    result = box.ok("enrich seg.bed lad.bed tss.bed --by-name -o e.tsv")
    found = {line.split("\t")[1] for line in box.text("e.tsv").splitlines()[1:]}
    check(found == {"LAD", "iLAD", "tss"} and result.stderr == "", "%s, %s" % (found, result.stderr))
    box.write("ids.bed", "".join("chr1\t%d\t%d\tgene%d\n" % (300 * i, 300 * i + 10, i) for i in range(5)))
    check(box.ok("enrich seg.bed ids.bed -o e.tsv").stderr == "", "identifiers are not kinds")


def test_folds_are_their_definition(box):
    rng = random.Random(31)
    for _ in range(4):
        segments, intervals = random_segments(rng), random_intervals(rng, 25)
        box.write("s.bed", bed(segments))
        box.write("a.bed", bed(intervals))
        at = labels_of_bases(segments)
        count = collections.Counter(at.values())
        found = rows(box.ok("enrich s.bed all=a.bed").stdout)
        check([row["label"] for row in found] == [label for label in LABELS if label in count], "order of %r" % found)
        covered = {(c, base) for c, begin, end, *_ in intervals for base in range(begin, end)} & set(at)
        for row in found:
            check_row(row, count[row["label"]], len(covered), sum(at[place] == row["label"] for place in covered), len(at))
        centres = {(c, (begin + end) // 2) for c, begin, end, *_ in intervals} & set(at)
        for row in rows(box.ok("enrich s.bed a.bed --centres").stdout):
            check_row(row, count[row["label"]], len(centres), sum(at[place] == row["label"] for place in centres), len(at))
        found = rows(box.ok("enrich s.bed x=a.bed --by-name").stdout)
        check({row["annotation"] for row in found} == {"x:" + line[3] for line in intervals}, "%r" % found)
        for row in found:
            inside = {(c, base) for c, begin, end, name, *_ in intervals for base in range(begin, end) if "x:" + name == row["annotation"]} & set(at)
            check_row(row, count[row["label"]], len(inside), sum(at[place] == row["label"] for place in inside), len(at))


def test_surroundings(box):
    rng = random.Random(32)
    segments, intervals = random_segments(rng), random_intervals(rng, 40)
    box.write("s.bed", bed(segments))
    box.write("a.bed", bed(intervals))
    at = labels_of_bases(segments)
    count = collections.Counter(at.values())
    for around in ("start", "centre", "end"):
        anchors = set()
        for chromosome, begin, end, _, _, strand in intervals:
            first = (around == "start") == (strand == "+")
            anchors.add((chromosome, (begin + end) // 2 if around == "centre" else begin if first else end - 1, strand))
        found = rows(box.ok("enrich s.bed a.bed --around %s --step 15 --upstream 4 --downstream 6 --svg n.svg" % around).stdout)
        check(len(found) == 11 * len(count), "%d rows" % len(found))
        for row in found:
            distance = int(row["distance"])
            places = [(c, base + (distance if strand == "+" else -distance)) for c, base, strand in anchors]
            inside = [at[place] for place in places if place in at]
            check_row(row, count[row["label"]], len(inside), inside.count(row["label"]), len(at), ("label_bases", "anchors", "both", "all_bases"))
        check({row["distance"] for row in found} == {str(15 * i) for i in range(-4, 7)}, "distances")


def test_expected_folds(box):
    """With posteriors: sums of P(label) over bases."""
    rng = random.Random(33)
    rows_of_scores = [[rng.gauss(0, 2) for _ in range(3)] for _ in range(90)]
    box.write("chr1.npy", npy(rows_of_scores))
    box.write("p.json", '{"format": "semicrf-params", "format_version": "1.0", "labels": ["E1", "E2", "E10"], "max_duration": 6, "bin_size": 10,'
              '"centering": "none", "transition": [["-inf", 0, 0], [0, "-inf", 0], [0, 0, "-inf"]], "duration": {"kind": "uniform"}}')
    box.ok("decode -q -p p.json -o s.bed chr1.npy")
    box.ok("posterior -q -p p.json --digits 9 --labels-out post -o b.bg chr1.npy")
    box.write("a.bed", "chr1\t95\t333\nchr1\t300\t420\nchr1\t880\t2000\n")
    posterior = {}
    for label in LABELS:
        for line in box.text("post.%s.bedgraph" % label).splitlines():
            if not line.startswith(("#", "track")):
                _, begin, end, value = line.split("\t")
                for base in range(int(begin), int(end)):
                    posterior[label, base] = float(value)
    covered = {base for begin, end in ((95, 420), (880, 900)) for base in range(begin, end)}
    for row in rows(box.ok("enrich s.bed a.bed --labels post").stdout):
        expected = [posterior.get((row["label"], base), 0.0) for base in range(900)]
        check_row(row, sum(expected), len(covered), sum(expected[base] for base in covered), 900)
    box.fails("enrich s.bed a.bed --labels absent", 3, "absent.E1.bedgraph", "--labels-out")
    centres = [214, 360]
    for row in rows(box.ok("enrich s.bed a.bed --labels post --centres").stdout):
        expected = [posterior.get((row["label"], base), 0.0) for base in range(900)]
        check_row(row, sum(expected), len(centres), sum(expected[base] for base in centres), 900)
    for row in rows(box.ok("enrich s.bed a.bed --labels post --around start --step 90 --upstream 2 --downstream 1").stdout):
        expected = [posterior.get((row["label"], base), 0.0) for base in range(900)]
        places = [base for base in (95 + int(row["distance"]), 300 + int(row["distance"]), 880 + int(row["distance"])) if 0 <= base < 900]
        check_row(row, sum(expected), len(places), sum(expected[base] for base in places), 900, ("label_bases", "anchors", "both", "all_bases"))
    for row in rows(box.ok("describe s.bed --labels post").stdout):
        bases = [base for line in box.text("s.bed").splitlines() if not line.startswith("#") and line.split("\t")[3] == row["label"]
                 for base in range(int(line.split("\t")[1]), int(line.split("\t")[2]))]
        mean = sum(posterior.get((row["label"], base), 0.0) for base in bases) / len(bases)
        each = [[posterior.get((label, base), 0.0) for label in LABELS] for base in bases]
        entropy = sum(-p * math.log(p) for values in each for p in values if p > 0) / len(bases)
        check(abs(float(row["posterior"]) - mean) < 1e-5 and abs(float(row["entropy"]) - entropy) < 1e-5, "%r: %r, %r" % (row, mean, entropy))
    # A label that no segment has counts as well.
    box.write("two.bed", "".join(line + "\n" for line in box.text("s.bed").splitlines() if "\tE10\t" not in line))
    lines = [line.split("\t") for line in box.text("two.bed").splitlines() if not line.startswith("#")]
    bases = [base for line in lines for base in range(int(line[1]), int(line[2]))]
    found = rows(box.ok("enrich two.bed a.bed --labels post").stdout)
    check([row["label"] for row in found] == LABELS, "%r" % found)
    expected = [posterior.get(("E10", base), 0.0) for base in bases]
    inside = [base for base in bases if base in covered]
    check_row(found[2], sum(expected), len(inside), sum(posterior.get(("E10", base), 0.0) for base in inside), len(bases))
    check(rows(box.ok("describe two.bed --labels post -p p.json").stdout)[2]["entropy"] == ".", "E10 has no segment")
    check(rows(box.ok("describe s.bed").stdout)[0]["entropy"] == ".", "no entropy without posteriors")
    box.fails("describe s.bed --labels absent", 3, "absent.E1.bedgraph")
    box.fails("describe s.bed --labels post -o post.E1.bedgraph", 2, "post.E1.bedgraph")


def test_pictures(box):
    rng = random.Random(34)
    box.write("s.bed", bed(random_segments(rng)))
    box.write("a.bed", bed(random_intervals(rng, 30)))
    box.write("b & c.bed", bed(random_intervals(rng, 3)))
    seen = set()
    for options in ("", "--scale common", "--scale log", "--rows bases", "--order E10,E1"):
        box.ok(["enrich", "s.bed", "a.bed", "b & c.bed", "--svg", "e.svg", "-o", "t.tsv"] + options.split())
        text = box.text("e.svg")
        check(text not in seen and text.startswith("<svg ") and text.endswith("</svg>\n"), "picture of %r" % options)
        seen.add(text)
        check({"--rows bases": "rows by bases", "--order E10,E1": "rows in the given order"}.get(options, "rows by name") in text, "order of rows, %r" % options)
        check("b &amp; c" in text and "Colours: " in text and "<desc" in text, "texts of %r" % options)
        labels = 2 if "order" in options else 3
        check(len(re.findall(r'<rect [^>]*class="cell ', text)) == 2 * labels, "cells of %r" % options)
        again = box.ok(["enrich", "s.bed", "a.bed", "b & c.bed", "--svg", "f.svg", "-o", "t.tsv"] + options.split())
        check(again.code == 0 and box.text("f.svg") == text, "other bytes")
    folds = [row["label"] for row in rows(box.text("t.tsv"))]
    check(folds == ["E10", "E1", "E10", "E1"], "%r" % folds)


def test_descriptions(box):
    rng = random.Random(35)
    segments = random_segments(rng)
    box.write("s.bed", bed(segments))
    found = {row["label"]: row for row in rows(box.ok("describe s.bed --transitions t.tsv").stdout)}
    every = sum(end - begin for _, begin, end, *_ in segments)
    for label in LABELS:
        own = sorted(end - begin for _, begin, end, name, _ in segments if name == label)
        row = found[label]
        check(int(row["segments"]) == len(own) and int(row["bases"]) == sum(own), "%r" % row)
        check(abs(float(row["share"]) - sum(own) / every) < 1e-5 and abs(float(row["mean"]) - sum(own) / len(own)) < 1e-3 * sum(own), "%r" % row)
        for name, share in (("q05", 0.05), ("q25", 0.25), ("median", 0.5), ("q75", 0.75), ("q95", 0.95)):
            check(int(row[name]) == own[max(0, math.ceil(share * len(own)) - 1)], "%s of %r" % (name, row))
        check(int(row["shortest"]) == own[0] and int(row["longest"]) == own[-1], "%r" % row)
        scored = [(end - begin, score) for _, begin, end, name, score in segments if name == label and score > 0]
        mean = sum(n * score for n, score in scored) / sum(n for n, _ in scored) / 1000
        check(abs(float(row["posterior"]) - mean) < 1e-5 and row["at_cap"] == row["in_tail"] == ".", "%r" % row)
    counts = collections.Counter((a[3], b[3]) for a, b in zip(segments, segments[1:]) if a[0] == b[0] and a[2] == b[1])
    for row in rows(box.text("t.tsv")):
        for label in LABELS:
            check(int(row[label]) == counts[row["from"], label], "transitions %r" % row)


def test_descriptions_with_a_model(box):
    model = ('{"format": "semicrf-params", "format_version": "1.0", "labels": ["b", "a", "never"], "max_duration": 3, "bin_size": 10,'
             '"transition": [["-inf", 0, 0], [0, "-inf", 0], [0, 0, "-inf"]], "duration": {"kind": "uniform", "tail": [null, 0.5, 0.5]}}')
    box.write("p.json", model)
    box.write("s.bed", "c\t0\t30\tb\nc\t30\t70\ta\nc\t70\t80\tb\nc\t80\t110\ta\nc\t110\t139\tb\n")
    found = {row["label"]: row for row in rows(box.ok("describe s.bed -p p.json").stdout)}
    check(list(found) == ["b", "a", "never"], "order of the model: %r" % list(found))
    check(found["b"]["at_cap"] == "0.666667" and found["b"]["in_tail"] == ".", "%r" % found["b"])
    check(found["a"]["in_tail"] == "0.5" and found["a"]["at_cap"] == ".", "%r" % found["a"])
    check(found["never"]["segments"] == "0" and found["never"]["median"] == ".", "%r" % found["never"])
    box.write("other.bed", "c\t0\t30\tb\nc\t30\t70\tx\n")
    box.fails("describe other.bed -p p.json", 3, "other.bed", "line 2", '"x"', "b, a, never")


def test_bad_input(box):
    box.write("s.bed", "chr1\t0\t30\ta\nchr1\t30\t70\tb\n")
    box.write("a.bed", "chr1\t5\t8\n")
    for name, text, words in (("none.bed", "chr1\t0\t30\n", ("line 1", "no label")), ("empty.bed", "", ("no segments",)),
                              ("unsorted.bed", "chr1\t10\t30\ta\nchr1\t0\t10\tb\n", ("line 2", "sort")),
                              ("over.bed", "chr1\t0\t30\ta\nchr1\t20\t40\tb\n", ("line 2", "overlap")),
                              ("twice.bed", "c\t0\t3\ta\nd\t0\t3\ta\nc\t3\t4\ta\n", ("line 3", "two places")),
                              ("bad.bed", "c\t0\tx\ta\n", ("line 1",))):
        box.write(name, text)
        box.fails(["describe", name], 3, name, *words)
        box.fails(["enrich", name, "a.bed"], 3, name, *words)
    box.write("other.bed", "1\t5\t8\n")
    box.fails("enrich s.bed other.bed", 3, "other.bed", "no chromosome", "chr1")
    box.write("void.bed", "#\n")
    box.fails("enrich s.bed void.bed", 3, "void.bed", "no intervals")
    box.fails("enrich s.bed void.bed --by-name", 3, "void.bed", "no intervals")
    box.fails("enrich s.bed a.bed --by-name", 3, "a.bed", "line 1", "column 4")
    # A name may lie on chromosomes without segments alone, if not all do.
    box.write("part.bed", "chr1\t5\t8\tx\nchrElse\t5\t8\ty\n")
    found = {(row["annotation"], row["annotation_bases"]) for row in rows(box.ok("enrich s.bed part.bed --by-name").stdout)}
    check({name: bases for name, bases in found} == {"x": "3", "y": "0"}, "%r" % found)
    box.write("part.bed", "chrElse\t5\t8\tx\nchrElse\t5\t8\ty\n")
    box.fails("enrich s.bed part.bed --by-name", 3, "part.bed", "no chromosome", "chrElse")
    box.fails("enrich s.bed absent.bed", 4, "absent.bed")
    box.fails("enrich s.bed a.bed -o a.bed", 2, "a.bed")
    box.fails("enrich s.bed a.bed --order c", 2, "--order", "'c'")
    # Annotation of another genome with the same names lies mostly elsewhere.
    box.write("beyond.bed", "chr1\t60\t70\nchr1\t1000\t2000\nchr1\t3000\t3100\n")
    check("1100 of its 1110 bases" in box.ok("enrich s.bed beyond.bed").stderr, "no warning")
    check("annotation-outside" in box.ok("enrich s.bed beyond.bed --around start --step 1").stderr, "no warning")
    check("annotation-outside" not in box.ok("enrich s.bed a.bed").stderr, "a warning of nothing")
    box.fails("enrich s.bed a.bed a.bed --around start", 2, "--around")
    box.fails("enrich s.bed a.bed --around start --centres", 2, "--around", "--centres")
    box.fails("enrich s.bed a.bed --around start --step 0", 2, "--step")
    box.fails("describe s.bed -o s.bed", 2, "s.bed")
    box.fails("enrich s.bed a.bed --order a,a", 2, "--order", "'a' twice")
    box.fails("enrich s.bed a.bed b/a.bed", 4, "b/a.bed")
    box.fails("enrich s.bed a.bed a.bed", 2, "two annotations", "'a'", "NAME=PATH")
    box.fails("enrich s.bed demo.params.json", 3, "demo.params.json", "JSON", "not BED or bigBed")
    box.fails("describe codon_fwd0.bw", 3, "codon_fwd0.bw", "a bigWig file", "not BED or bigBed")


def test_control_characters_stay_out_of_tables(box):
    box.write("s.bed", "chr1\t0\t30\ta\x1b[31m\nchr1\t30\t70\tb\n")
    box.write("t.bed", "chr1\t0\t40\ta\nchr1\t40\t70\tb\n")
    for line in ("describe s.bed", "enrich s.bed g=t.bed", "enrich t.bed s.bed --by-name", "compare s.bed t.bed --jaccard j.tsv --switches w.tsv --regions r.bed"):
        box.fails(line, 3, "s.bed:line 1", "column 4", "a\\x1b[31m")


def test_posteriors_of_something_else(box):
    box.write("s.bed", "chr1\t0\t30\ta\nchr1\t30\t70\tb\n")
    box.write("g.bed", "chr1\t5\t8\n")
    for label in "ab":
        box.write("other.%s.bedgraph" % label, "chr9\t0\t70\t0.5\n")
        box.write("part.%s.bedgraph" % label, "chr1\t0\t30\t0.5\n")
        box.write("whole.%s.bedgraph" % label, "chr1\t0\t70\t0.49\n")
    lines = ["enrich s.bed g.bed --labels NAME", "enrich s.bed g.bed --around start --labels NAME", "describe s.bed --labels NAME"]
    for line in lines:
        box.fails(line.replace("NAME", "other"), 3, "other", "no chromosome of s.bed", "chr9", "chr1")
        said = box.ok(line.replace("NAME", "part")).stderr
        check("posteriors-incomplete" in said and "0.429" in said, said)
        check("posteriors-incomplete" not in box.ok(line.replace("NAME", "whole")).stderr, "a warning of nothing")


def test_lengths_of_bigbed_tell_genomes_apart(box):
    box.write("m.json", json.dumps({"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b"], "max_duration": 9, "bin_size": 10,
                                    "centering": "none", "transition": [["-inf", 0], [0, "-inf"]], "duration": {"kind": "uniform"}}))
    rng = random.Random(5)
    for name, length in (("one", 600), ("two", 700)):
        box.write("c.npy", npy([[rng.gauss(0, 2), 0.0] for _ in range(length // 10)]))
        box.write("g.tsv", "c\t%d\nd\t50\n" % length)
        box.ok("decode -q -p m.json -g g.tsv -o %s.bb c.npy" % name)
        box.ok("decode -q -p m.json -g g.tsv -o %s.bed c.npy" % name)
    box.fails("enrich one.bb two.bed", 3, "two.bed:c:", "600 bases in one.bb")
    box.fails("enrich one.bb two.bb", 3, "two.bb", "c has 700 bases, in one.bb 600")
    box.fails("compare one.bb two.bb", 3, "two.bb", "c has 700 bases, in one.bb 600")
    box.fails("compare one.bb two.bed", 3, "two.bed:line ", "ends at 700", "600")
    box.ok("enrich one.bb one.bed")
    box.ok("compare two.bb x=two.bed")
    # Lengths for bigBed come from the first sample; places in bigBed are bases.
    box.ok("compare one.bb x=one.bed --regions r.bb")
    found = bigbed_lines(box.path("r.bb").read_bytes(), 4)[2]
    check(found == [("c", 600)], "chromosomes of r.bb: %r" % found)
    box.fails("compare one.bed x=one.bb --regions r.bb", 2, "--chrom-sizes")
    box.write("n.json", box.text("m.json").replace('"b"', '"q"'))
    box.fails("describe one.bb -p n.json", 3, "one.bb:c:", '"b"')


def test_annotation_on_chromosomes_without_segments_is_said(box):
    box.write("s.bed", "c1\t0\t100\ta\nc2\t0\t100\tb\n")
    box.write("x.bed", "c1\t0\t9\tn\nc10\t0\t9\tn\nc10\t5\t19\tm\nc9\t0\t9\tn\n")
    box.write("y.bed", "c2\t0\t9\tn\n")
    for options in ("", " --centres", " --around start"):
        said = box.ok("enrich s.bed x.bed" + options).stderr
        check(said.count("\n") == 1 and "3 of 4 intervals of x lie on chromosomes without segments and do not count: c9, c10 [annotation-elsewhere]" in said, said)
    check(box.ok("enrich s.bed y.bed").stderr == "", "all count")
    box.ok("enrich s.bed " + " ".join("n%d=x.bed" % i for i in range(8)) + " y.bed")
    said = box.ok("enrich s.bed " + " ".join("n%d=x.bed" % i for i in range(8)) + " y.bed").stderr
    check(said.count("\n") == 1 and "3 of 4 intervals of n4 and some of 3 other annotations lie" in said, said)
    box.write("m.json", json.dumps({"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b"], "max_duration": 200,
                                    "transition": [[0, 0], [0, 0]], "duration": {"kind": "uniform"}, "bin_size": 1}))
    box.ok("report -q -p m.json --segments s.bed --annotation x.bed -o r.html")
    check("3 of 4 intervals of x lie on chromosomes without segments" in box.text("r.html"), "not on the page")


def test_chromosomes_that_some_samples_lack_are_said(box):
    box.write("a.bed", "c1\t0\t100\ta\nc2\t0\t100\tb\n")
    box.write("b.bed", "c1\t0\t100\ta\nc3\t0\t100\tb\n")
    said = box.ok("compare a.bed b.bed c=a.bed").stderr
    check(said.count("\n") == 1 and "c2 (not in b), c3 (not in a, c) [chromosomes-differ]" in said, said)
    check(box.ok("compare a.bed c=a.bed").stderr == "", "nothing differs")


def test_many_scaffolds(box):
    """As many as a draft genome has; a search through all of them for each would take a minute."""
    names = ["scaffold_%d" % i for i in range(60000)]
    box.write("a.bed", "".join("%s\t0\t10\ta\n%s\t10\t20\tb\n" % (name, name) for name in names))
    box.write("b.bed", "".join("%s\t0\t12\ta\n%s\t12\t20\tb\n" % (name, name) for name in reversed(names)))
    box.write("g.tsv", "".join("%s\t20\n" % name for name in names))
    begin = time.process_time() + sum(os.times()[2:4])
    box.ok("compare a.bed b.bed -o p.tsv --regions r.bb -g g.tsv")
    box.ok("enrich a.bed b.bed --by-name -o e.tsv")
    seconds = time.process_time() + sum(os.times()[2:4]) - begin
    check(seconds < 5, "%.1f s" % seconds)
    row = rows(box.text("p.tsv"))[0]
    check((row["common_bases"], row["agreeing_bases"]) == ("1200000", "1080000"), "%r" % row)


def test_kinds_of_text(box):
    """gzip, CRLF, track and browser lines, blanks: the same numbers."""
    rng = random.Random(38)
    segments, intervals = random_segments(rng), random_intervals(rng, 20)
    box.write("s.bed", bed(segments))
    box.write("a.bed", bed([line[:3] for line in intervals]))
    plain = box.ok("enrich s.bed x=a.bed").stdout
    described = box.ok("describe s.bed").stdout
    head = "browser position chr1:1-100\ntrack name=\"a b\" itemRgb=On\n#comment\n\n"
    for name, change in (("crlf", lambda text: (head + text).replace("\n", "\r\n").encode()), ("gz", lambda text: gzip.compress((head + text).encode())),
                         ("blanks", lambda text: text.replace("\t", "  ").encode())):
        box.write("s2.bed", change(bed(segments)))
        box.write("a2.bed", change(bed([line[:3] for line in intervals])))
        check(box.ok("enrich s2.bed x=a2.bed").stdout == plain, name)
        check(box.ok("describe s2.bed").stdout == described, name)
        agreement = rows(box.ok("compare s.bed s2.bed").stdout)[0]
        check(agreement["agreement"] == "1", "%s: %r" % (name, agreement))


def shared_chromosome(box):
    folder = shared_data() / "chr11_hg18"
    if not folder.exists():
        raise Skip("no %s" % folder)
    return folder


def test_folds_of_a_chromosome(box):
    """The published definition, (C/A)/(B/D), on chromosome 11 with ChromHMM's own segmentation, base by base."""
    folder = shared_chromosome(box)
    segments = [line.split("\t")[:4] for line in (folder / "GM12878.chromhmm10.bed").read_text().splitlines() if line.startswith("chr")]
    names = sorted({fields[3] for fields in segments}, key=lambda name: int(re.sub(r"\D", "", name)))
    length = max(int(fields[2]) for fields in segments)
    genome = bytearray(length)  # 0: in no segment
    for _, begin, end, name in segments:
        genome[int(begin):int(end)] = bytes([names.index(name) + 1]) * (int(end) - int(begin))
    files = {"CpG": "chr11.CpGIsland.bed", "TSS": "chr11.RefSeqTSS.bed", "gene": "chr11_0-67M.gene.bed"}
    arguments = ["enrich", str(folder / "GM12878.chromhmm10.bed")]
    found = {}
    for more in (["%s=%s" % (name, folder / files[name]) for name in ("CpG", "TSS")], ["--by-name", str(folder / files["gene"])]):
        found.update({(row["label"], row["annotation"]): row for row in rows(box.ok(arguments + more).stdout)})
    check(len(found) == len(names) * (len(files) + 1), "%d rows" % len(found))  # and intergenic
    every = length - genome.count(0)
    for name, file in files.items():
        annotated = bytearray(length)
        for line in (folder / file).read_text().splitlines():
            if line.startswith("chr") and line.split("\t")[3:4] != ["intergenic"]:
                begin, end = (min(length, int(field)) for field in line.split("\t")[1:3])
                annotated[begin:end] = genome[begin:end]
        inside = length - annotated.count(0)
        for i, label in enumerate(names):
            check_row(found[label, name], genome.count(i + 1), inside, annotated.count(i + 1), every)


def random_samples(box, rng, count):
    all_segments = []
    for i in range(count):
        segments = random_segments(rng)
        box.write("s%d.bed" % i, bed(segments))
        all_segments.append(labels_of_bases(segments))
    return all_segments


def test_comparisons(box):
    rng = random.Random(36)
    for count in (2, 3):
        samples = random_samples(box, rng, count)
        names = ["one", "s1", "s2"][:count]
        arguments = "one=s0.bed " + " ".join("s%d.bed" % i for i in range(1, count))
        found = rows(box.ok("compare %s --jaccard j.tsv --switches w.tsv --regions r.bed" % arguments).stdout)
        pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
        check([(row["a"], row["b"]) for row in found] == [(names[a], names[b]) for a, b in pairs], "%r" % found)
        jaccard = {(row["a"], row["b"], row["label"]): row for row in rows(box.text("j.tsv"))}
        switches = {(row["a"], row["b"], row["label_a"], row["label_b"]): int(row["bases"]) for row in rows(box.text("w.tsv"))}
        expected_switches = collections.Counter()
        for (a, b), row in zip(pairs, found):
            both = samples[a].keys() & samples[b].keys()
            agree = sum(samples[a][place] == samples[b][place] for place in both)
            check(int(row["common_bases"]) == len(both) and int(row["agreeing_bases"]) == agree, "%r" % row)
            check(abs(float(row["agreement"]) - agree / len(both)) < 1e-5, "%r" % row)
            for label in LABELS:
                in_a, in_b = ({place for place in both if samples[s][place] == label} for s in (a, b))
                found_label = jaccard[names[a], names[b], label]
                check([int(found_label[key]) for key in ("a_bases", "b_bases", "both", "either")] ==
                      [len(in_a), len(in_b), len(in_a & in_b), len(in_a | in_b)], "%r" % found_label)
                check(abs(float(found_label["jaccard"]) - len(in_a & in_b) / len(in_a | in_b)) < 1e-5, "%r" % found_label)
            for place in both:
                if samples[a][place] != samples[b][place]:
                    expected_switches[names[a], names[b], samples[a][place], samples[b][place]] += 1
        check(switches == expected_switches, "switches")
        everywhere = set.intersection(*(set(sample) for sample in samples))
        differing = {}
        sizes = []
        for line in box.text("r.bed").splitlines():
            chromosome, begin, end, labels = line.split("\t")
            sizes.append(int(end) - int(begin))
            for base in range(int(begin), int(end)):
                differing[chromosome, base] = labels
        check(sizes == sorted(sizes, reverse=True), "not the widest first")
        check(differing == {place: "|".join(sample[place] for sample in samples) for place in everywhere
                            if len({sample[place] for sample in samples}) > 1}, "regions that differ")


def test_the_probability_that_labels_differ(box):
    rng = random.Random(37)
    model = ('{"format": "semicrf-params", "format_version": "1.0", "labels": ["E1", "E2", "E10"], "max_duration": 6, "bin_size": 10,'
             '"centering": "none", "transition": [["-inf", 0, 0], [0, "-inf", 0], [0, 0, "-inf"]], "duration": {"kind": "uniform"}}')
    box.write("p.json", model)
    posterior = []
    for sample in "ab":
        box.write("chr1.npy", npy([[rng.gauss(0, 2) for _ in range(3)] for _ in range(80)]))
        box.ok("decode -q -p p.json -o %s.bed chr1.npy" % sample)
        box.ok("posterior -q -p p.json --digits 9 --labels-out %s -o %s.bg chr1.npy" % (sample, sample))
        values = {}
        for label in LABELS:
            for line in box.text("%s.%s.bedgraph" % (sample, label)).splitlines():
                if not line.startswith(("#", "track")):
                    _, begin, end, value = line.split("\t")
                    values.update(((label, base), float(value)) for base in range(int(begin), int(end)))
        posterior.append(values)
    box.ok("compare --posterior a b --disagreement d.bedgraph -o t.tsv")
    at = 0
    for line in box.text("d.bedgraph").splitlines():
        chromosome, begin, end, value = line.split("\t")
        check(chromosome == "chr1" and int(begin) == at, line)
        at = int(end)
        for base in (int(begin), at - 1):
            expected = 1 - sum(posterior[0].get((label, base), 0.0) * posterior[1].get((label, base), 0.0) for label in LABELS)
            check(abs(float(value) - expected) < 2e-6, "%s: expected %r" % (line, expected))
    check(at == 800, "ends at %d" % at)
    box.write("g.tsv", "chr9\t70\nchr1\t900\n")
    box.ok("compare --posterior a b --disagreement d.bw -g g.tsv -o t.tsv")
    box.ok("compare a.bed b.bed --regions r.bb -g g.tsv -o t.tsv")
    box.ok("compare a.bed b.bed --regions r.bed -o t.tsv")
    steps = [line.split("\t") for line in box.text("d.bedgraph").splitlines()]
    expected = [(c, int(begin), int(end), struct.unpack("<f", struct.pack("<f", float(value)))[0]) for c, begin, end, value in steps]
    check(bigwig_intervals(box.path("d.bw").read_bytes())[0] == expected, "d.bw")
    lines, _, chromosomes, _ = bigbed_lines(box.path("r.bb").read_bytes(), bed_columns=4)
    check(sorted(lines) == sorted(box.text("r.bed").splitlines()) and chromosomes == [("chr1", 900), ("chr9", 70)], "r.bb")
    begins = [int(line.split("\t")[1]) for line in lines]
    check(begins == sorted(begins), "not sorted")
    box.fails("compare a.bed b.bed --regions r2.bb", 2, "--chrom-sizes")
    box.fails("compare a.bed b.bed --regions r2.bw", 2, "r2.bw", ".bb")
    box.fails("compare a.bed b.bed --jaccard r2.bw", 2, "r2.bw", ".tsv")
    box.write("other.tsv", "chr9\t70\n")
    box.fails("compare a.bed b.bed --regions r2.bb -g other.tsv", 3, "a.bed", "chr1", "--chrom-sizes")
    box.write("short.tsv", "chr1\t70\n")
    box.fails("compare a.bed b.bed --regions r2.bb -g short.tsv", 3, "a.bed", "line", "70 bases")


def test_bad_comparisons(box):
    box.write("a.bed", "chr1\t0\t30\ta\nchr1\t30\t70\tb\n")
    box.write("far.bed", "chr1\t70\t90\ta\n")
    box.write("other.bed", "1\t0\t90\ta\n")
    box.write("labels.bed", "chr1\t0\t90\tx\n")
    box.fails("compare a.bed", 2, "two or more")
    box.fails("compare a.bed far.bed", 3, "far.bed", "no base in common")
    box.fails("compare a.bed other.bed", 3, "other.bed", "no base in common")
    box.fails("compare a.bed labels.bed", 3, "labels.bed", "no label in common with a.bed", "it has x, the other a, b")
    box.fails("compare a.bed a.bed", 2, "two samples", "'a'")
    box.fails("compare a.bed b=a.bed -o a.bed", 2, "a.bed")
    box.write("more.bed", "chr1\t0\t30\ta\nchr1\t30\t70\tc\n")
    said = box.ok("compare a.bed more.bed -o t.tsv").stderr
    check("labels-differ" in said and "b (not in more); c (not in a)" in said, said)
    box.ok("compare a.bed b=a.bed -o t.tsv --regions r.bed")
    check(box.text("r.bed") == "" and rows(box.text("t.tsv"))[0]["agreement"] == "1", box.text("t.tsv"))


def test_statistics_of_a_run_say_the_same(box):
    tracks = " ".join("codon_%s%d.bw" % (strand, frame) for strand in ("fwd", "rev") for frame in range(3))
    box.ok("decode -q -p demo.params.json --stats s.json -o d.bed -r III:90361-99360 -r III:102361-120358 " + tracks)
    statistics = json.loads(box.text("s.json"))
    for found in (statistics["decoded_labels"], statistics["sequences"][0]["decoded_labels"]):
        described = rows(box.ok("describe d.bed -p demo.params.json --transitions t.tsv").stdout)
        transitions = rows(box.text("t.tsv"))
        for label, row, after in zip(found, described, transitions):
            check(label["name"] == row["label"] and label["segments"] == int(row["segments"]) and label["bases"] == int(row["bases"]), "%r, %r" % (label, row))
            check(abs(label["share"] - float(row["share"])) < 1e-5, "%r" % label)
            if label["segments"]:
                check(abs(label["length"]["mean"] - float(row["mean"])) < 1e-5 * label["length"]["mean"], "%r" % label)
                for key in ("q05", "q25", "median", "q75", "q95", "longest"):
                    check(label["length"][key] == int(row[key]), "%s of %r" % (key, label))
                for key in ("at_cap", "in_tail"):
                    check((key in label) == (row[key] != ".") and (key not in label or abs(label[key] - float(row[key])) < 1e-5), "%r, %r" % (label, row))
            check(label["followed_by"] == [int(after[other["name"]]) for other in found], "transitions of %r" % label)
    box.ok("decode -q -p demo.params.json --score posterior --stats s.json -o d.bed " + tracks)
    described = rows(box.ok("describe d.bed -p demo.params.json").stdout)
    for label, row in zip(json.loads(box.text("s.json"))["decoded_labels"], described):
        check(("posterior" in label) == (label["segments"] > 0), "%r" % label)
        if label["segments"]:  # a score is a whole number of thousandths
            check(abs(label["posterior"] - float(row["posterior"])) < 0.00051, "%r, %r" % (label, row))
