"""Pieces that were cut out of something longer ("edges": "censored"), against an enumeration of all segmentations."""

import json
import math
import random

import make_inputs
import oracle
from cases_claims import all_claims, check_answers, lines_of, table
from cases_expectations import random_model
from harness import check
from make_inputs import npy

INFINITY = float("inf")
ENGINES = (("-x reference --precision double", 1e-10), ("-x cpu --precision double", 1e-9), ("-x cpu --precision float", 1e-5))
BIN = 10


def censored(model, seen, c, ways):
    """ln of the sum over the durations j >= seen of ways(j) e^B[j]; the tail term by term."""
    longest = len(model.bias)
    terms = [math.log(ways(j)) + model.duration(j, c) for j in range(seen, max(seen, longest) + (200 if model.tail[c] else 1))]
    return oracle.log_sum(terms) if terms else -INFINITY


def score_of(scores, model, path, cut, combine):
    total, length = 0.0, len(scores)
    for i, (begin, end, c) in enumerate(path):
        left, right = cut[0] and begin == 0, cut[1] and end == length
        if i > 0:
            total += model.transition[path[i - 1][2]][c]
        else:
            total += model.start[c] if left else model.first(c, combine)
        if left and right:
            total += censored(model, length, c, lambda j: j - length + 1)
        elif left or right:
            total += censored(model, end - begin, c, lambda j: 1)
        else:
            total += model.duration(end - begin, c)
        total += sum(row[c] for row in scores[begin:end]) + (model.end[c] if end == length else 0)
    return total


def segmentations(scores, model, cut):
    """[(segments, score)] and log Z."""
    found = []

    def extend(path):
        begin = path[-1][1] if path else 0
        if begin == len(scores):
            score = score_of(scores, model, path, cut, oracle.log_sum)
            if score > -INFINITY:
                found.append((path, score))
            return
        for c in range(len(model.labels)):
            for end in range(begin + 1, len(scores) + 1):
                extend(path + [(begin, end, c)])

    extend([])
    return found, oracle.log_sum([score for _, score in found])


def segments(text, model, first=0):
    return [(int(f[1]) // BIN - first, int(f[2]) // BIN - first, model.labels.index(f[3]))
            for f in (line.split("\t") for line in text.splitlines() if not line.startswith("#"))]


def starts_of(box, name, model, bins, first=0):
    """P(a segment of the label starts at the bin), from bedGraph files."""
    rows = [[0.0] * len(model.labels) for _ in range(bins)]
    for c, label in enumerate(model.labels):
        for line in box.text("%s.%s.bedgraph" % (name, label)).splitlines():
            if not line.startswith(("#", "track")):
                fields = line.split("\t")
                for t in range(int(fields[1]) // BIN - first, int(fields[2]) // BIN - first):
                    rows[t][c] = float(fields[3])
    return rows


def check_piece(box, model, scores, cut, arguments, first=0):
    """Everything about one piece, whose first bin is `first` of its chromosome."""
    paths, log_z = segmentations(scores, model, cut)
    best = max(score_of(scores, model, path, cut, max) for path, _ in paths)
    probability = [(path, math.exp(score - log_z)) for path, score in paths]
    for engine, tolerance in ENGINES:
        note = "cut %s, %s" % (cut, engine)
        bed = box.ok("decode -p m.json %s --stats s.json %s" % (engine, arguments)).stdout
        stats = json.loads(box.text("s.json"))["sequences"][0]
        path = segments(bed, model, first)
        near = lambda a, b: abs(a - b) < tolerance * max(1, abs(b))
        check(near(stats["viterbi_score"], best), "%s: best %r, not %r" % (note, stats["viterbi_score"], best))
        check(near(score_of(scores, model, path, cut, max), best), "%s: path %s" % (note, path))
        box.ok("posterior -p m.json %s --digits 12 --stats s.json --starts-out p --counts-out c.npz -o /dev/null %s" % (engine, arguments))
        stats = json.loads(box.text("s.json"))["sequences"][0]
        check(near(stats["log_partition"], log_z), "%s: log Z %r, not %r" % (note, stats["log_partition"], log_z))
        entropy = -sum(p * math.log(p) for _, p in probability if p > 0)
        check(abs(stats["segmentation_entropy"] - entropy) < 50 * tolerance, "%s: entropy %r" % (note, stats["segmentation_entropy"]))
        found = starts_of(box, "p", model, len(scores), first)
        for t in range(len(scores)):
            for c in range(len(model.labels)):
                expected = sum(p for one, p in probability if any(a == t and d == c for a, _, d in one))
                check(abs(found[t][c] - expected) < tolerance + 1e-11, "%s: start %d %d: %r, not %r" % (note, t, c, found[t][c], expected))
    check_claims(box, model, scores, probability, arguments, first)
    check_draws(box, model, scores, cut, log_z, arguments, first)


def check_claims(box, model, scores, probability, arguments, first):
    claims = all_claims(len(model.labels), len(scores))
    box.write("claims.bed", lines_of(claims, model.labels, first))
    for engine, tolerance in ENGINES:
        found = table(box.ok("query -p m.json %s --digits 17 --claims claims.bed %s" % (engine, arguments)).stdout)
        check_answers(engine, claims, found, probability, tolerance)


def check_draws(box, model, scores, cut, log_z, arguments, first):
    box.ok("simulate -p m.json --precision double --draws 3 --seed 5 -o d.bed --stats s.json %s" % arguments)
    found = json.loads(box.text("s.json"))["sequences"][0]["log_likelihood"]
    for n in range(3):
        path = segments(box.text("d.%d.bed" % (n + 1)), model, first)
        expected = score_of(scores, model, path, cut, oracle.log_sum) - log_z
        check(abs(found[n] - expected) < 1e-8, "draw %d: %r, not %r" % (n, found[n], expected))


def test_regions_of_a_chromosome(box):
    # Which edges are cut depends on where the region lies; -g says that the array is a whole chromosome.
    for seed, (begin, end) in ((1, (0, 4)), (2, (2, 6)), (3, (1, 5)), (4, (1, 2))):
        model, scores = random_model(box, seed, format_version="1.1", edges="censored")
        end = min(end, len(scores))
        box.write("sizes", "x\t%d\n" % (len(scores) * BIN))
        cut = (begin > 0, end < len(scores))
        check_piece(box, model, scores[begin:end], cut, "-g sizes -r x:%d-%d x.npy" % (begin * BIN + 1, end * BIN), begin)


def test_an_array_is_cut_at_both_ends_unless_it_is_a_chromosome(box):
    model, scores = random_model(box, 7, format_version="1.1", edges="censored")
    check_piece(box, model, scores, (True, True), "x.npy")
    box.write("sizes", "x\t%d\n" % (len(scores) * BIN))
    check_piece(box, model, scores, (False, False), "-g sizes x.npy")
    check_piece(box, model, scores, (False, False), "--edges complete x.npy")


def test_the_option_stands_above_the_file(box):
    model, scores = random_model(box, 9)
    box.write("sizes", "x\t%d\n" % (len(scores) * BIN))
    check_piece(box, model, scores[1:], (True, False), "--edges censored -g sizes -r x:%d-%d x.npy" % (BIN + 1, len(scores) * BIN), 1)
    bed = box.ok("decode -p m.json --edges censored x.npy").stdout
    check("edges=censored" in bed or "edges censored" in bed or "--edges censored" in bed, "header\n" + bed)


def test_regions_that_touch_are_no_cut(box):
    model, scores = random_model(box, 2, format_version="1.1", edges="censored")
    box.write("sizes", "x\t%d\n" % (len(scores) * BIN))
    box.write("r.bed", "x\t0\t20\nx\t20\t%d\n" % (len(scores) * BIN))
    box.ok("decode -p m.json --precision double --stats s.json -g sizes -L r.bed x.npy")
    stats = json.loads(box.text("s.json"))["sequences"][0]
    best = sum(max(score_of(part, model, path, (False, False), max) for path, _ in segmentations(part, model, (False, False))[0])
               for part in (scores[:2], scores[2:]))
    check(abs(stats["viterbi_score"] - best) < 1e-9, "%r, not %r" % (stats["viterbi_score"], best))


def test_threads_and_memory_give_the_same_bytes(box):
    random_model(box, 4, format_version="1.1", edges="censored", labels=["l0", "l1"], max_duration=3,
                 transition=[["-inf", 0.5], [-0.5, -1]], start=[0, 0], end=[0, 0],
                 duration={"kind": "table", "bias": [[0, -1], [0.5, -2], [-1, 0]], "tail": [0.4, None]})
    draw = random.Random(1)
    box.write("x.npy", npy([[draw.gauss(0, 1.5) for _ in range(2)] for _ in range(200000)], "<f4"))
    box.write("r.bed", "x\t70\t1500000\n" + "".join("x\t%d\t%d\n" % (a, a + 300) for a in range(1600000, 1900000, 1000)))
    for command in ("decode --score posterior", "posterior", "simulate --seed 3"):
        texts = [box.ok("%s -p m.json -L r.bed %s x.npy" % (command, more)).stdout
                 for more in ("-t 1", "-t 3", "-t 2 --max-memory 45M")]
        check(texts[0] == texts[1] == texts[2] and len(texts[0]) > 10000, "bytes differ: " + command)


def test_evaluation_scores_paths_the_same_way(box):
    model, scores = random_model(box, 3, format_version="1.1", edges="censored")
    paths, log_z = segmentations(scores, model, (True, True))
    path = max(paths, key=lambda one: one[1])[0]
    box.write("truth.bed", "".join("x\t%d\t%d\t%s\n" % (a * BIN, b * BIN, model.labels[c]) for a, b, c in path))
    found = json.loads(box.ok("eval --json - --truth truth.bed truth.bed -p m.json -x reference --precision double x.npy").stdout)
    text = json.dumps(found)
    expected = max(score for _, score in paths) - log_z
    numbers = [v for v in _numbers(found)]
    check(any(abs(v - expected) < 1e-9 for v in numbers), "no %r in %s" % (expected, text))
    box.write("sure.json", box.text("m.json"))
    against = json.loads(box.ok("eval --json - -p m.json --against sure.json -x reference --precision double x.npy").stdout)["against"]
    entropy = -sum(math.exp(s - log_z) * (s - log_z) for _, s in paths)
    check(any(abs(v - entropy) < 1e-9 for v in _numbers(against)), "no %r in %s" % (entropy, against))
    document = json.loads(box.text("m.json"))
    del document["edges"]
    box.write("other.json", json.dumps(document))
    box.fails("eval -p m.json --against other.json x.npy", 3, "/edges", "--edges complete or --edges censored")


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, float):
        yield value


def test_training_learns_cuts_as_such(box):
    make_inputs.bigwig_track(box, "signal.bw", chromosomes={"chrA": 4000})
    runs = [(i, min(i + 70, 4000)) for i in range(0, 4000, 70)]
    box.write("labels.bed", "".join("chrA\t%d\t%d\t%s\n" % (a, b, "on" if n % 2 else "off") for n, (a, b) in enumerate(runs)))
    train = "train --labels labels.bed -b 10 --max-duration 20 --max-iterations 3 -o out.json "
    edges = lambda: json.loads(box.text("out.json")).get("edges", "complete")
    version = lambda: json.loads(box.text("out.json"))["format_version"]
    said = box.ok(train + "signal.bw").stderr
    check(edges() == "complete" and version() == "1.0" and "edges:" not in said, "a whole chromosome: " + said)
    said = box.ok(train + "-r chrA:101-3000 signal.bw").stderr
    check(edges() == "censored" and version() == "1.1" and "edges: censored, as pieces end" in said, "a region: " + said)
    box.ok(train + "--val-region chrA:1001-1500 signal.bw")
    check(edges() == "censored", "validation")
    box.ok(train + "--edges complete -r chrA:101-3000 signal.bw")
    check(edges() == "complete", "the option")
    box.ok(train + "--edges censored signal.bw")
    check(edges() == "censored", "the other option")
    check("edges: censored" in box.ok("info out.json").stdout, "info")
    bed = box.ok("decode -p out.json -r chrA:101-3000 signal.bw").stdout
    check(len(bed.splitlines()) > 3, bed)


def test_bad_input(box):
    random_model(box, 1, edges="censored")
    box.fails("decode -p m.json x.npy", 3, "m.json:/edges", "1.1")
    random_model(box, 1, format_version="1.1", edges="open")
    box.fails("decode -p m.json x.npy", 3, "m.json:/edges", '"complete" or "censored"')
    random_model(box, 1, format_version="1.4")
    box.fails("decode -p m.json x.npy", 3, "/format_version", '"1.3"')
    random_model(box, 1)
    box.fails("decode -p m.json --edges open x.npy", 2, "--edges must be complete or censored, not 'open'")
    box.fails("train --labels l.bed --edges open -o o.json x.npy", 2, "--edges must be auto, complete or censored, not 'open'")
