"""`--constraints`: what is computed under constraints, against the segmentations that meet them.

All segmentations of small random models are enumerated; constraints are drawn at random.
"""

import json
import math
import random

from cases_claims import all_claims, check_answers, lines_of as claim_lines, table
from cases_decode import segments
from cases_expectations import Expected, check_close, random_model, read_npz, segmentations
from cases_posterior import per_bin
from harness import check
from make_inputs import npy

import oracle

BIN = 10
ENGINES = (("reference", "double", 1e-10), ("cpu", "double", 1e-9), ("cpu", "float", 1e-5))


def met(constraint, path):
    """Whether a segmentation meets (kind, labels, begin, end), in bins; labels as numbers."""
    kind, labels, begin, end = constraint
    starts = [a for a, _, _ in path]
    inside = [c for a, b, c in path if a < end and b > begin]
    return {"label": all(c in labels for c in inside), "not": not any(c in labels for c in inside),
            "boundary": begin in starts, "no-boundary": not any(begin <= a < end for a in starts)}[kind]


def random_constraints(draw, bins, labels):
    found = []
    for _ in range(draw.randrange(1, 4)):
        kind = draw.choice(("label", "not", "boundary", "no-boundary"))
        begin = draw.randrange(1 if kind == "no-boundary" else 0, bins)
        chosen = sorted(draw.sample(range(labels), draw.randrange(1, labels)))
        found.append((kind, chosen, begin, draw.randrange(begin + 1, bins + 1)))
    return found


def lines_of(constraints, names):
    """Not at the edges of bins: intervals are widened."""
    text = lambda kind, labels: kind if "boundary" in kind else kind + ":" + ",".join(names[c] for c in labels)
    return "".join("x\t%d\t%d\t%s\n" % (a * BIN + 3, b * BIN - 4, text(kind, labels)) for kind, labels, a, b in constraints)


class Constrained(Expected):
    """As Expected, over the segmentations that meet the constraints alone."""

    def __init__(self, scores, model, constraints):
        every, log_z = segmentations(scores, model)
        kept = [(path, p) for path, p in every if all(met(one, path) for one in constraints)]
        self.probability = sum(p for _, p in kept)
        self.paths = [(path, p / self.probability) for path, p in kept]
        super().__init__(scores, model, (self.paths, log_z + math.log(self.probability) if kept else 0))


def cases(box, seeds):
    """(oracle's model, scores, constraints, what is expected) of possible ones; files are in the box."""
    for seed in seeds:
        model, scores = random_model(box, seed)
        draw = random.Random(seed)
        for _ in range(6):
            constraints = random_constraints(draw, len(scores), len(model.labels))
            truth = Constrained(scores, model, constraints)
            box.write("what.bed", lines_of(constraints, model.labels))
            if truth.paths and 1e-12 < truth.probability < 1 - 1e-6:
                yield seed, model, scores, constraints, truth
                break


def test_posteriors_and_their_probability(box):
    seen = 0
    for seed, model, scores, constraints, truth in cases(box, range(12)):
        seen += 1
        for engine, precision, tolerance in ENGINES:
            box.ok("posterior -p m.json -x %s --precision %s --digits 15 --constraints what.bed --labels-out l --starts-out s.npy --ends-out e.npy "
                   "--counts-out c.npz --stats s.json -o b.bedgraph x.npy" % (engine, precision))
            what = "seed %d, %s %s, %s" % (seed, engine, precision, constraints)
            check_close(what, per_bin(box.text("b.bedgraph")), [sum(row) for row in truth.starts], tolerance)
            for c, label in enumerate(model.labels):
                check_close(what + ", labels", per_bin(box.text("l.%s.bedgraph" % label)), [row[c] for row in truth.labels], tolerance)
            counts = read_npz(box.path("c.npz"))
            for name, table in (("transition", truth.transition), ("duration", truth.duration), ("tail", truth.tail)):
                check_close("%s, %s" % (what, name), counts[name], table, 10 * tolerance)
            stats = json.loads(box.text("s.json"))
            own = stats["sequences"][0]
            check_close(what + ", log Z", [own["log_partition"]], [truth.log_z], 10 * tolerance)
            check_close(what + ", entropy", [own["segmentation_entropy"]], [truth.entropy], 100 * tolerance)
            for entry in (stats, own, own["each_piece"][0]):
                check_close(what + ", ln P", [entry["log_constraint_probability"]], [math.log(truth.probability)], 10 * tolerance)
    check(seen > 8, "%d cases" % seen)


def test_best_paths_and_draws(box):
    for seed, model, scores, constraints, truth in cases(box, range(20, 30)):
        score = lambda path: oracle.path_score(scores, model, [(a, b, model.labels[c]) for a, b, c in path])
        for engine, precision, tolerance in ENGINES:
            box.ok("decode -p m.json -x %s --precision %s --constraints what.bed --stats s.json --table t.tsv -o o.bed x.npy" % (engine, precision))
            what = "seed %d, %s %s, %s" % (seed, engine, precision, constraints)
            path = [(a, b, model.labels.index(name)) for a, b, name in segments(box.text("o.bed"), BIN)]
            check(all(met(one, path) for one in constraints), "%s: %s" % (what, path))
            best = max(score(one) for one, _ in truth.paths)
            stats = json.loads(box.text("s.json"))["sequences"][0]
            check_close(what + ", best", [score(path), stats["viterbi_score"]], [best, best], 10 * tolerance)
            check_close(what + ", ln P", [stats["log_constraint_probability"]], [math.log(truth.probability)], 10 * tolerance)
            shares = [float(line.split("\t")[5]) for line in box.text("t.tsv").splitlines() if not line.startswith("#")]
            exact = [sum(p for one, p in truth.paths if segment in one) for segment in path]
            check_close(what + ", segments", shares, exact, max(tolerance, 1e-5))
            box.ok("simulate -p m.json -x %s --precision %s --constraints what.bed --draws 10 --stats s.json -o d.bed x.npy" % (engine, precision))
            likelihoods = json.loads(box.text("s.json"))["sequences"][0]["log_likelihood"]
            probability = {tuple(one): p for one, p in truth.paths}
            for number in range(10):
                drawn = tuple((a, b, model.labels.index(name)) for a, b, name in segments(box.text("d.%d.bed" % (number + 1)), BIN))
                check(drawn in probability, "%s: drew %s" % (what, drawn))
                check_close(what + ", draw", [likelihoods[number]], [math.log(probability[drawn])], 100 * tolerance)
        box.ok("decode -p m.json --rule posterior --constraints what.bed -o o.bed x.npy")
        box.ok("decode -p m.json --score none --constraints what.bed --stats s.json -o o.bed x.npy")
        check_close("ln P of a path alone", [json.loads(box.text("s.json"))["log_constraint_probability"]], [math.log(truth.probability)], 1e-4)


def test_the_n_best_meet_the_constraints(box):
    seen = 0
    for seed, model, scores, constraints, truth in cases(box, range(30, 42)):
        most = min(40, len(truth.paths) + 5)
        box.ok("decode -p m.json --precision double --constraints what.bed --best %d -o b.bed --stats s.json x.npy" % most)
        ranks = [name for name in box.listing() if name.startswith("b.")]
        check(len(ranks) == min(most, len(truth.paths)), "seed %d: %s, not %d" % (seed, ranks, len(truth.paths)))
        score = {tuple(one): oracle.path_score(scores, model, [(a, b, model.labels[c]) for a, b, c in one]) for one, _ in truth.paths}
        order = sorted(score.values(), reverse=True)
        for n in range(len(ranks)):
            path = tuple((a, b, model.labels.index(name)) for a, b, name in segments(box.text("b.%d.bed" % (n + 1)), BIN))
            check(path in score, "seed %d, rank %d: %s" % (seed, n + 1, path))
            check(abs(score[path] - order[n]) < 1e-8, "seed %d, rank %d: %r" % (seed, n + 1, score[path]))
            box.path("b.%d.bed" % (n + 1)).unlink()
        seen += any(one[0] == "boundary" for one in constraints)
    check(seen >= 3, "few cases with boundaries")


def test_claims(box):
    for seed, model, scores, constraints, truth in cases(box, range(40, 52)):
        claims = all_claims(len(model.labels), len(scores))
        box.write("claims.bed", claim_lines(claims, model.labels))
        for engine, precision, tolerance in ENGINES:
            text = box.ok("query -p m.json -x %s --precision %s --digits 17 --claims claims.bed --constraints what.bed --stats s.json x.npy" % (engine, precision)).stdout
            check_answers("seed %d, %s %s, %s" % (seed, engine, precision, constraints), claims, table(text), truth.paths, 2 * tolerance)
            check_close("ln P", [json.loads(box.text("s.json"))["log_constraint_probability"]], [math.log(truth.probability)], 10 * tolerance)
        # The probability of a constraint is that of the claim.
        box.write("claims.bed", "x\t20\t40\tlabel:l0\nx\t20\t40\tno-boundary\nx\t20\t30\tboundary\n")
        rows = [line.split("\t") for line in box.ok("query -p m.json --precision double --digits 17 --claims claims.bed x.npy").stdout.splitlines()[-3:]]
        for row in rows:
            if float(row[4]) < 1e-12:
                continue
            box.write("one.bed", "\t".join(row[:4]) + "\n")
            box.ok("posterior -p m.json --precision double --constraints one.bed --stats s.json -o b.bedgraph x.npy")
            check_close("claim and constraint", [math.exp(json.loads(box.text("s.json"))["log_constraint_probability"])], [float(row[4])], 1e-9)


def test_claims_that_constraints_decide(box):
    """Also where a required boundary is far away: segments of l0 have 2 bins, and l1, which has 1, is not between the bins 20 and 280."""
    draw = random.Random(5)
    box.write("m.json", json.dumps({
        "format": "semicrf-params", "format_version": "1.0", "labels": ["l0", "l1"], "max_duration": 2, "bin_size": 10, "transition": [[0.1, 0.2], [0, -1]],
        "duration": {"kind": "table", "bias": [["-inf", 0.5], [0, "-inf"]]}}))
    box.write("x.npy", npy([[draw.gauss(0, 1) for _ in range(2)] for _ in range(300)], "<f4"))
    what = "x\t200\t2800\tnot:l1\n" + "x\t%d\t%d\tlabel:l1\n" * 2 % (10, 20, 2900, 2910)
    by_boundary = ["600 610 boundary", "2000 2010 boundary", "2010 2020 no-boundary", "2000 2020 segment:l0", "700 720 within:l0", "2000 2010 starts:l0",
                   "2010 2020 ends:l0"]
    against = ["2010 2020 boundary", "2010 2030 segment:l0", "2000 2030 within:l0"]
    by_label = ["500 2000 label:l0", "10 20 label:l1"]
    box.write("claims.bed", "".join("x\t%s\n" % claim.replace(" ", "\t") for claim in by_boundary + against + by_label + ["600 610 label:l1"]))
    known = ["inf", "inf", "-inf"]
    for required, decided in (("", False), ("x\t600\t610\tboundary\n", True), ("x\t600\t610\tboundary\nx\t2400\t2410\tboundary\n", True)):
        box.write("what.bed", what + required)
        for engine, precision, _ in ENGINES:
            rows = table(box.ok("query -p m.json -x %s --precision %s --claims claims.bed --constraints what.bed x.npy" % (engine, precision)).stdout)
            odds = [row[5] for row in rows]
            if decided:
                check(odds == ["inf"] * 7 + ["-inf"] * 3 + known, "%s %s, %s: %s" % (engine, precision, required, odds))
            else:
                check(all(math.isfinite(float(one)) for one in odds[:9]) and odds[9:] == ["-inf"] + known, "%s %s: %s" % (engine, precision, odds))


def long_model(box, bins, name="x.npy"):
    """A model of two labels that takes windows and threads; its scores."""
    box.write("m.json", json.dumps({
        "format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b", "c"], "max_duration": 12, "bin_size": 10, "centering": "mean",
        "transition": [["-inf", 0.5, 0], [-0.5, -1, 0], [0, 0, "-inf"]],
        "duration": {"kind": "table", "bias": [[-0.1 * abs(k - 5), 0.02 * k, -1] for k in range(12)], "tail": [0.4, None, 0.8]}}))
    draw = random.Random(5)
    box.write(name, npy([[draw.gauss(0, 1.5) for _ in range(3)] for _ in range(bins)], "<f4"))


def long_constraints(box, bins, count):
    draw = random.Random(6)
    lines = []
    for i in range(count):
        begin = (1 + i * (bins // count)) * 10
        lines.append("x\t%d\t%d\t%s\n" % (begin, begin + 10 * draw.randrange(1, 5), draw.choice(("boundary", "no-boundary", "label:a,b", "not:a", "label:c"))))
    draw.shuffle(lines)
    box.write("what.bed", "".join(lines))


def test_threads_and_memory_give_the_same_bytes(box):
    bins = 200000
    long_model(box, bins)
    long_constraints(box, bins, 900)
    for command in ("decode --posterior p.bedgraph", "posterior", "simulate --seed 3"):
        seen = set()
        for more in ("", "-t 3", "-t 2 --max-memory 48M"):
            box.ok("%s -p m.json --constraints what.bed --stats s.json %s -o out x.npy" % (command, more))
            stats = json.loads(box.text("s.json"))["sequences"][0]
            seen.add((box.text("out"), stats["log_constraint_probability"], stats.get("segmentation_entropy")))
        check(len(seen) == 1, command)
        check("constraints: " in box.ok("%s -p m.json --constraints what.bed --dry-run -o out x.npy" % command).stdout, "dry run")
    box.ok("decode -p m.json --score posterior --constraints what.bed --stats s.json --table t.tsv -o out x.npy")
    starts = {a for a, _, _ in segments(box.text("out"), 10)}
    for line in box.text("what.bed").splitlines():
        _, begin, end, what = line.split("\t")
        inside = [a for a in range(int(begin) // 10, int(end) // 10) if a in starts]
        check(what != "no-boundary" or not inside, line)
        check(what != "boundary" or int(begin) // 10 in starts, line)
    check("#option constraints=what.bed" in box.text("out"), "header")


def test_pieces_sequences_and_single_precision(box):
    long_model(box, 600)
    box.write("y.npy", box.path("x.npy").read_bytes())
    box.write("what.bed", "# comment\nx\t1500\t1530\tboundary\nx\t2990\t3010\tnot:a\nx\t100\t110\tboundary\n")
    for threads in ("1", "2"):
        # Many short pieces, computed side by side; constraints in some of them.
        result = box.ok("decode -p m.json -t %s --precision double --score posterior --constraints what.bed --stats s.json -r x:1001-2000 -r x:2001-3000 -r x:3001-4000 "
                        "-r y -o o.bed x.npy y.npy" % threads)
        stats = json.loads(box.text("s.json"))
        x, y = stats["sequences"]
        parts = [piece["log_constraint_probability"] for piece in x["each_piece"]]
        check(len(parts) == 3 and all(p < 0 for p in parts) and abs(sum(parts) - x["log_constraint_probability"]) < 1e-12, "%s" % parts)
        check(y["log_constraint_probability"] == 0 and stats["log_constraint_probability"] == x["log_constraint_probability"], "%s" % stats)
        check("boundary-first-bin" in result.stderr and "constraints-not-decoded" in result.stderr, result.stderr)
        # What has no constraint is as it is without any.
        lines = [line for line in box.text("o.bed").splitlines() if line.startswith("y")]
        box.ok("decode -p m.json --precision double --score posterior -r y -o plain.bed x.npy y.npy")
        check(lines == [line for line in box.text("plain.bed").splitlines() if line.startswith("y")], "another sequence changed")
    # The first bin of a piece starts a segment.
    box.write("what.bed", "x\t1000\t1010\tboundary\n")
    box.ok("posterior -p m.json --constraints what.bed --stats s.json -r x:1001-2000 -o o.bedgraph x.npy")
    check(json.loads(box.text("s.json"))["log_constraint_probability"] == 0, "a certain boundary")
    box.write("what.bed", "sim\t100\t120\tlabel:b\nsim\t300\t310\tboundary\n")
    box.ok("simulate -p m.json --length 50 --name sim --constraints what.bed -o o.bed")
    drawn = segments(box.text("o.bed"), 10)
    check(any(a == 30 for a, _, _ in drawn) and all(name == "b" for a, b, name in drawn if a < 12 and b > 10), "%s" % drawn)


def test_cut_pieces(box):
    """Probabilities of constraints are those of the same claims, and multiply as probabilities do."""
    long_model(box, 300)
    run = "-p m.json -x %s --precision double --edges censored -r x:1001-1400"
    lines = ["x\t1100\t1130\tlabel:a\n", "x\t1200\t1210\tboundary\n", "x\t1010\t1040\tno-boundary\n", "x\t1390\t1400\tlabel:c\n"]
    entropies = {}
    for engine in ("reference", "cpu"):
        product, used = 0.0, ""
        for line in lines:
            box.write("claims.bed", line)
            box.write("used.bed", used)
            more = "--constraints used.bed" if used else ""
            text = box.ok("query %s --digits 17 --claims claims.bed %s x.npy" % (run % engine, more)).stdout
            product += math.log(float(text.splitlines()[-1].split("\t")[4]))
            used += line
            box.write("used.bed", used)
            box.ok("posterior %s --constraints used.bed --stats s.json -o b.bedgraph x.npy" % (run % engine))
            stats = json.loads(box.text("s.json"))["sequences"][0]
            check_close("%s after %s" % (engine, line), [stats["log_constraint_probability"]], [product], 1e-8)
            entropies.setdefault(line, []).append(stats["segmentation_entropy"])
    for line, (first, second) in entropies.items():
        check_close("entropy after %s" % line, [second], [first], 1e-7)


def test_bad_constraints(box):
    long_model(box, 300)
    for lines, texts in (("x\t0\t10\tlabl:a\n", ["line 1", "labl:a", "label:LABEL,LABEL, not:LABEL, boundary and no-boundary"]),
                         ("x\t0\t10\n", ["line 1", "no constraint in column 4"]), ("x\t0\t10\tlabel\n", ["label:LABEL"]),
                         ("x\t0\t10\tboundary:a\n", ["has a label"]), ("x\t0\t10\tlabel:a,z\n", ["\"z\"", "a, b, c"]),
                         ("x\t0\t10\tnot:a,b,c\n", ["line 1", "leaves no label"]),
                         ("x\t0\t4000\tboundary\n", ["line 1", "4000", "3000 bases"]), ("z\t0\t10\tboundary\n", ["no input has the chromosome z"]),
                         ("x\t10\t10\tlabel:a\n", ["line 1", "point"]), ("# nothing\n", ["no constraint in this file"]),
                         ("x\t0\t900\tnot:c\nx\t50\t60\tlabel:b\nx\t40\t52\tlabel:a,c\n", ["lines 2 and 3", "x:51-60", "leave no label"]),
                         ("x\t0\t900\tnot:c\nx\t50\t60\tnot:b\nx\t40\t58\tlabel:b,c\n", ["lines 1, 2 and 3", "x:51-60", "leave no label"]),
                         ("x\t95\t100\tboundary\nx\t20\t92\tno-boundary\n", ["lines 1 and 2", "x:91-100", "boundary"]),
                         ("x\t0\t100\tno-boundary\n", ["line 1", "x:1-10", "first bin of a stretch"])):
        box.write("what.bed", lines)
        for command in ("decode", "posterior"):
            box.fails("%s -p m.json --constraints what.bed -o out x.npy" % command, 3, "what.bed", *texts)
        check("out" not in box.listing(), "an output of " + lines)
    box.fails("decode -p m.json --constraints none.bed x.npy", 4, "none.bed")
    box.write("what.bed", "x\t100\t110\tboundary\n")
    box.fails("decode -p m.json --constraints what.bed -o what.bed x.npy", 2, "what.bed")


def test_impossible_sets_name_their_first_place(box):
    long_model(box, 300)
    model = json.loads(box.text("m.json"))
    # Segments of a are 5 bins at least, and a does not follow itself.
    for k in range(4):
        model["duration"]["bias"][k][0] = "-inf"
    box.write("m.json", json.dumps(model))
    box.write("claims.bed", "x\t0\t10\tboundary\n")
    good = "x\t200\t210\tboundary\nx\t100\t150\tlabel:b\nx\t2500\t2510\tno-boundary\n"
    for bad, line, text in (("x\t1400\t1410\tboundary\nx\t1350\t1450\tlabel:a\n", 4, "boundary"),
                            ("x\t1400\t1420\tlabel:a\nx\t1380\t1400\tnot:a\nx\t1420\t1440\tnot:a\n", 6, "not:a"),
                            ("x\t1400\t1420\tlabel:a\nx\t1400\t1402\tboundary\nx\t1430\t1431\tboundary\n", 6, "boundary")):
        box.write("what.bed", good + bad)
        for command in ("decode", "posterior", "simulate", "query --claims claims.bed", "decode --infeasible skip", "decode -x reference", "posterior --precision double"):
            box.fails("%s -p m.json --constraints what.bed -o out x.npy" % command, 3, "what.bed", "line %d" % line, '"%s"' % text, "impossible")
    # What is impossible without constraints is told as without them.
    model["max_duration"], model["duration"] = 2, {"kind": "table", "bias": [["-inf"] * 3] * 2}
    box.write("m.json", json.dumps(model))
    box.write("what.bed", good)
    box.fails("decode -p m.json --constraints what.bed -o out x.npy", 3, "every duration is forbidden", "--infeasible skip")
    box.ok("decode -p m.json --infeasible skip --constraints what.bed -o out x.npy")
