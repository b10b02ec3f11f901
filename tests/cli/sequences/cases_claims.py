"""`semicrf query`: every kind of claim against an enumeration of all segmentations of small random models."""

import json
import math
import random
import re

from cases_expectations import random_model, segmentations
from harness import check
from make_inputs import npy

KINDS = ("segment", "boundary", "no-boundary", "label", "within", "starts", "ends")
BIN = 10


def holds(kind, label, begin, end, path):
    """Whether a claim about bins [begin, end) is true of a segmentation."""
    mine = [(a, b) for a, b, c in path if c == label]
    if kind in ("boundary", "no-boundary"):
        return any(begin <= a < end for a, _, _ in path) == (kind == "boundary")
    return {"segment": (begin, end) in mine, "within": any(a <= begin and b >= end for a, b in mine),
            "label": all(c == label for a, b, c in path if a < end and b > begin),
            "starts": any(begin <= a < end for a, b in mine), "ends": any(begin < b <= end for a, b in mine)}[kind]


def table(text):
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def test_claims_equal_the_enumeration(box):
    for seed in range(6):
        model, scores = random_model(box, seed)
        paths, _ = segmentations(scores, model)
        claims = [(kind, label, a, b) for kind in KINDS for label in range(len(model.labels)) for a in range(len(scores))
                  for b in range(a + 1, len(scores) + 1) if label == 0 or "boundary" not in kind]
        random.Random(seed).shuffle(claims)
        # Not at the edges of bins: intervals are widened.
        box.write("claims.bed", "".join("x\t%d\t%d\t%s\n" % (a * BIN + 3, b * BIN - 4, kind if "boundary" in kind else
                                                            "%s:%s" % (kind, model.labels[label])) for kind, label, a, b in claims))
        for engine, precision, tolerance in (("reference", "double", 1e-10), ("cpu", "double", 1e-9), ("cpu", "float", 1e-5)):
            found = table(box.ok("query -p m.json -x %s --precision %s --digits 17 --claims claims.bed x.npy" % (engine, precision)).stdout)
            check(len(found) == len(claims), "%d lines" % len(found))
            for (kind, label, a, b), row in zip(claims, found):
                expected = sum(p for path, p in paths if holds(kind, label, a, b, path))
                check(abs(float(row[4]) - expected) < tolerance, "seed %d, %s: %s, not %.17g" % (seed, engine, row, expected))
                if 1e-6 < expected < 1 - 1e-6:
                    odds = math.log(expected / (1 - expected))
                    check(abs(float(row[5]) - odds) < 1e6 * tolerance, "seed %d, %s: %s, not %.17g" % (seed, engine, row, odds))


def small(box, bins=3000):
    """A model of two labels with tails, and long enough scores."""
    random_model(box, 4)
    model = json.loads(box.text("m.json"))
    draw = random.Random(1)
    model.update(labels=["l0", "l1"], max_duration=3, transition=[["-inf", 0.5], [-0.5, -1]], start=[0, 0], end=[0, 0],
                 duration={"kind": "table", "bias": [[0, -1], [0.5, -2], [-1, 0]], "tail": [0.4, None]})
    box.write("m.json", json.dumps(model))
    box.write("x.npy", npy([[draw.gauss(0, 1.5) for _ in range(2)] for _ in range(bins)], "<f4"))


def test_threads_and_memory_give_the_same_bytes(box):
    small(box, 300000)
    draw = random.Random(2)
    lines = []
    for _ in range(300):
        a = draw.randrange(2999000)
        lines.append("x\t%d\t%d\t%s\n" % (a, a + draw.randrange(1, 400), draw.choice(
            ("boundary", "no-boundary", "label:l0", "within:l1", "starts:l0", "ends:l1", "segment:l1"))))
    box.write("claims.bed", "".join(lines))
    for precision in ("float", "double"):
        texts = [box.ok("query -p m.json --precision %s --claims claims.bed %s x.npy" % (precision, more)).stdout
                 for more in ("", "-t 3", "-t 2 --max-memory 45M")]
        check(len(table(texts[0])) == 300 and texts[0] == texts[1] == texts[2], "bytes differ, " + precision)
    stats = box.ok("query -p m.json --claims claims.bed --stats s.json -o q.tsv x.npy")
    check(json.loads(box.text("s.json"))["sequences"][0]["log_partition"] != 0, stats.stderr)
    check("claims: 1 window" in box.ok("query -p m.json --claims claims.bed --dry-run x.npy").stdout, "dry run")


def test_regions_and_several_sequences(box):
    small(box)
    box.write("y.npy", box.path("x.npy").read_bytes())
    box.write("claims.bed", "y\t100\t200\tboundary\nx\t100\t200\tboundary\nx\t995\t1005\tboundary\nx\t20000\t20010\tboundary\n")
    result = box.ok("query -p m.json --claims claims.bed -r x:1-1000 -r x:1001-5000 -r y x.npy y.npy")
    rows = table(result.stdout)
    check([row[0] for row in rows] == ["y", "x", "x", "x"] and [row[4] == "." for row in rows] == [False, False, True, True], "%s" % rows)
    check("claims-not-decoded" in result.stderr and "2 claims have no answer" in result.stderr, result.stderr)
    # The first bin of a piece starts a segment.
    box.write("claims.bed", "x\t0\t10\tboundary\nx\t0\t10\tno-boundary\n")
    rows = table(box.ok("query -p m.json --claims claims.bed x.npy").stdout)
    check([row[4:] for row in rows] == [["1", "inf"], ["0", "-inf"]], "%s" % rows)


def test_a_short_piece_has_the_memory_for_both_directions(box):
    """The scores of the reversed sequence, too, where one chunk is longer than the piece."""
    draw = random.Random(3)
    labels = 8
    model = {"format": "semicrf-params", "format_version": "1.0", "labels": ["l%d" % c for c in range(labels)],
             "max_duration": 2000, "bin_size": BIN, "centering": "none", "initial": "none",
             "transition": [[0] * labels] * labels, "duration": {"kind": "geometric", "p": [0.01] * labels}}
    box.write("m.json", json.dumps(model))
    box.write("x.npy", npy([[draw.gauss(0, 1) for _ in range(labels)] for _ in range(3000)], "<f4"))
    box.write("claims.bed", "x\t300\t600\tboundary\n")
    rows = table(box.ok("query -t 2 -p m.json --claims claims.bed x.npy").stdout)
    check(0 < float(rows[0][4]) < 1, "%s" % rows)


def test_bad_claims(box):
    small(box)
    for line, texts in (("x\t0\t10\tboundry\n", ["line 1", "boundry", "segment:LABEL, boundary"]), ("x\t0\t10\n", ["line 1", "no claim in column 4"]),
                        ("x\t0\t10\tlabel\n", ["label:LABEL"]), ("x\t0\t10\tboundary:l0\n", ["has a label"]),
                        ("x\t0\t10\tlabel:l7\n", ["l7", "l0, l1"]), ("x\t0\t40000\tboundary\n", ["line 1", "40000", "30000 bases"]),
                        ("z\t0\t10\tboundary\n", ["no input has the chromosome z"]), ("x\t10\t10\tlabel:l0\n", ["line 1", "point"]),
                        ("# nothing\n", ["no claim in this file"])):
        box.write("claims.bed", line)
        box.fails("query -p m.json --claims claims.bed -o out.tsv x.npy", 3, "claims.bed", *texts)
        check("out.tsv" not in box.listing(), "an output of " + line)
    box.fails("query -p m.json --claims none.bed x.npy", 4, "none.bed")
    box.fails("query -p m.json x.npy", 2, "--claims")
    small(box, 300000)
    box.write("claims.bed", "x\t0\t10\tboundary\nx\t0\t3000000\tlabel:l0\n")
    error = box.fails("query -p m.json --claims claims.bed --max-memory 50M x.npy", 6, "the claim of line 2", "give --max-memory").error
    box.ok("query -p m.json --claims claims.bed --max-memory %s -o big.tsv x.npy" % re.search("give --max-memory ([0-9]+M)", error).group(1))
    small(box)
    box.write("claims.bed", "x\t0\t10\tboundary\n")
    box.fails("query -p m.json --claims claims.bed --digits 18 x.npy", 2, "--digits")
