"""`semicrf query`: every kind of claim against an enumeration of all segmentations of small random models."""

import json
import math
import random
import re

import oracle
from cases_expectations import ENGINES, random_model, segmentations
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


def all_claims(labels, bins):
    return [(kind, label, a, b) for kind in KINDS for label in range(labels) for a in range(bins) for b in range(a + 1, bins + 1)
            if label == 0 or "boundary" not in kind]


def lines_of(claims, labels, first=0, inset=0):
    """Claims about bins as lines, `inset` bases away from the edges of bins."""
    return "".join("x\t%d\t%d\t%s\n" % ((a + first) * BIN + inset, (b + first) * BIN - inset, kind if "boundary" in kind else
                                         "%s:%s" % (kind, labels[label])) for kind, label, a, b in claims)


def check_answers(what, claims, rows, paths, tolerance):
    """Probabilities and log odds against [(segmentation, probability)] of all that are possible: inf and -inf exactly where all or none agree."""
    check(len(rows) == len(claims), "%s: %d lines" % (what, len(rows)))
    for (kind, label, a, b), row in zip(claims, rows):
        sides = [[], []]
        for path, p in paths:
            sides[holds(kind, label, a, b, path)].append(p)
        no, yes = map(sum, sides)
        check(abs(float(row[4]) - yes) < tolerance, "%s: %s, not %.17g" % (what, row, yes))
        if not (sides[0] and sides[1]):
            check(row[5] == ("inf" if sides[1] else "-inf"), "%s: %s is certain or impossible" % (what, row))
        else:
            odds = math.log(yes) - math.log(no)
            check(abs(float(row[5]) - odds) < 3 * tolerance * max(1, abs(odds)), "%s: %s, not %.17g" % (what, row, odds))


def test_claims_equal_the_enumeration(box):
    for seed in range(6):
        model, scores = random_model(box, seed)
        paths, _ = segmentations(scores, model)
        claims = all_claims(len(model.labels), len(scores))
        random.Random(seed).shuffle(claims)
        # Not at the edges of bins: intervals are widened.
        box.write("claims.bed", lines_of(claims, model.labels, inset=3))
        for engine, precision, tolerance in ENGINES:
            found = table(box.ok("query -p m.json -x %s --precision %s --digits 17 --claims claims.bed x.npy" % (engine, precision)).stdout)
            check_answers("seed %d, %s" % (seed, engine), claims, found, paths, tolerance)


def test_claims_that_are_nearly_certain(box):
    """Odds of tens of nats: what is nearly certain keeps the digits of what is nearly impossible."""
    large = 0.0
    for seed in range(20, 26):
        random_model(box, seed, transition=[[0.3, -25, -1], [-30, 0.2, -2], [-1, -12, 0]], labels=["l0", "l1", "l2"], start=[0, -20, -1], end=[0, 0, -18],
                     max_duration=3, duration={"kind": "table", "bias": [[-18, 1, "-inf"], [0, -15, 0], [1, 0.5, -9]], "tail": [0.1, None, 0.4]})
        draw = random.Random(seed)
        scores = [[draw.gauss(0, 12) for _ in range(3)] for _ in range(5)]
        box.write("x.npy", npy(scores, "<f4"))
        model, scores = oracle.Model(box.path("m.json")), oracle.read_npy(box.path("x.npy"))
        paths, _ = segmentations(scores, model)
        claims = all_claims(3, len(scores))
        box.write("claims.bed", lines_of(claims, model.labels))
        for engine, precision, tolerance in ENGINES:
            found = table(box.ok("query -p m.json -x %s --precision %s --digits 17 --claims claims.bed x.npy" % (engine, precision)).stdout)
            check_answers("seed %d, %s" % (seed, engine), claims, found, paths, tolerance)
            large = max([large] + [float(row[5]) for row in found if row[5] != "inf"])
    check(large > 40, "the largest log odds are %g" % large)


def test_claims_that_are_certain(box):
    """Far from the ends of a sequence, where a float engine has added up many numbers."""
    draw = random.Random(7)
    document = {"format": "semicrf-params", "format_version": "1.0", "labels": ["l0"], "max_duration": 3, "bin_size": BIN, "transition": [[0.3]],
                "duration": {"kind": "table", "bias": [[0.1], [-0.7], [0.4]]}}
    box.write("one.json", json.dumps(document))
    box.write("one.npy", npy([[draw.gauss(0, 1)] for _ in range(3000)], "<f4"))
    certain = ["label:l0 2000 2200", "label:l0 0 30000", "within:l0 70 80", "boundary 1000 1030", "starts:l0 20000 20030", "ends:l0 20000 20030",
               "starts:l0 0 10", "ends:l0 29990 30000"]
    impossible = ["segment:l0 100 140", "within:l0 20000 20040", "no-boundary 1000 1030"]
    odd = ["boundary 1000 1020", "within:l0 70 90", "segment:l0 100 130"]
    # l1 is behind a transition that is forbidden, or a mask. l2 is where the sequence must end, and cannot be left.
    document.update(labels=["l0", "l1", "l2"], transition=[[0.3, "-inf", -3], [0, 0.5, 0], ["-inf", "-inf", 0.2]], start=[0, "-inf", "-inf"],
                    end=["-inf", "-inf", 0], duration={"kind": "table", "bias": [["-inf"] * 3, [0.1, 0, 0], [0, 0.4, 0.2]]})
    box.write("three.json", json.dumps(document))
    box.write("three.npy", npy([[draw.gauss(0, 1) for _ in range(3)] for _ in range(3000)], "<f4"))
    three = {"inf": ["label:l0 0 20", "label:l2 29980 30000", "boundary 20000 20030", "ends:l0 0 29990", "starts:l2 20 30000"],
             "-inf": ["label:l1 2000 2010", "starts:l1 0 30000", "ends:l2 0 20", "segment:l0 100 110", "within:l2 0 10"], "": ["label:l0 2000 2010"]}
    for name, expected in (("one", {"inf": certain, "-inf": impossible, "": odd}), ("three", three)):
        claims = [(claim.split(), odds) for odds in expected for claim in expected[odds]]
        box.write("claims.bed", "".join("%s\t%s\t%s\t%s\n" % (name, begin, end, kind) for (kind, begin, end), _ in claims))
        for engine, precision, _ in ENGINES:
            rows = table(box.ok("query -p %s.json -x %s --precision %s --claims claims.bed %s.npy" % (name, engine, precision, name)).stdout)
            for row, (_, odds) in zip(rows, claims):
                wanted = {"inf": ["1", "inf"], "-inf": ["0", "-inf"]}.get(odds)
                check(row[4:] == wanted if wanted else math.isfinite(float(row[5])), "%s %s: %s" % (engine, precision, row))


def test_masks_are_no_certainty(box):
    """-1e9 for "impossible" is a score like others."""
    small(box, 40)
    model = json.loads(box.text("m.json"))
    scores = [[0.0, -1e9 if 10 <= t < 12 else 0.5] for t in range(40)]
    box.write("x.npy", npy(scores, "<f4"))
    for changes in ({"transition": [[0, 0.5], [-0.5, -1]]}, {"transition": [[0, 0.5], [-0.5, "-inf"]]}, {"duration": {"kind": "table", "bias": [["-inf", -1], [0.5, -2], [-1, 0]]}}):
        box.write("m.json", json.dumps(dict(model, **changes)))
        box.write("claims.bed", "x\t100\t110\tlabel:l0\nx\t100\t120\tlabel:l1\n")
        for engine, precision, _ in ENGINES:
            rows = table(box.ok("query -p m.json -x %s --precision %s --claims claims.bed x.npy" % (engine, precision)).stdout)
            check([row[4:] for row in rows] == [["1", "1e+09"], ["0", "-2e+09"]], "%s %s: %s" % (engine, precision, rows))


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


def test_sequences_without_claims_are_not_read(box):
    """By one thread or by several: what is wrong with them stops nothing."""
    small(box, 40)
    labels = len(json.loads(box.text("m.json"))["labels"])
    for name in "abc":
        box.write(name + ".npy", npy([[math.nan] * labels for _ in range(40)], "<f4"))
    box.write("claims.bed", "x\t0\t10\tboundary\n")
    for threads in (1, 2, 3):
        box.ok("query -p m.json -t %d --claims claims.bed -o out%d.tsv a.npy x.npy b.npy c.npy" % (threads, threads))
    check(len({box.text("out%d.tsv" % threads) for threads in (1, 2, 3)}) == 1, "threads show")
    box.write("claims.bed", "x\t0\t10\tboundary\nb\t0\t10\tboundary\n")
    for threads in (1, 2, 3):
        box.fails("query -p m.json -t %d --claims claims.bed a.npy x.npy b.npy c.npy" % threads, 3, "b.npy", "NaN")


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
