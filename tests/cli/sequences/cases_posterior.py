"""posterior: boundary posteriors as bedGraph, label posteriors, statistics."""

import gzip
import json
import math
import random
import re

import oracle
from harness import VALUE_TOLERANCE, bed_rows, bedgraph_steps, check
from make_inputs import npy, track_parameters

ENTRY_KEYS = {"name", "length", "covered", "missing", "pieces", "baseline", "log_partition", "boundary_entropy",
              "position_entropy", "max_normalization_error", "blocks", "fallbacks", "repaired_chunks"}


def per_bin(text, bin_size=10):
    """The values of one chromosome, a bin each; checks order and that no two lines overlap or could be one."""
    values, at, previous = [], 0, None
    for chromosome, start, end, value in bedgraph_steps(text):
        check(start == at and end > start, "%s:%d-%d after %d" % (chromosome, start, end, at))
        check(value != previous, "%s:%d: equal neighbours are not merged" % (chromosome, start))
        values += [value] * ((end - start) // bin_size)
        at, previous = end, value
    return values


def exact(box, begin=0, end=300):
    model, scores = oracle.Model(box.path("scores.params.json")), oracle.read_npy(box.path("scores.npy"))
    return oracle.boundary_posterior(scores[begin:end], model)


def test_values_are_the_expected_ones(box):
    box.ok("posterior -p scores.params.json -o out.bedgraph scores.npy")
    box.matches("posterior.bedgraph", box.text("out.bedgraph"))


def test_values_are_those_of_a_plain_implementation(box):
    _, expected = exact(box)
    for device in ("cpu --precision float", "cpu --precision double", "reference"):
        found = per_bin(box.ok("posterior -p scores.params.json --device %s scores.npy" % device).stdout)
        check(len(found) == 300, "%d bins" % len(found))
        worst = max(abs(a - b) for a, b in zip(found, expected))
        check(worst < VALUE_TOLERANCE, "%s: off by %g" % (device, worst))


def test_format_of_the_lines(box):
    rows = bed_rows(box.ok("posterior -p scores.params.json scores.npy").stdout)
    check(float(rows[0][3]) == 1 and rows[0][1] == "0", "the first bin of a piece is %r" % rows[0])
    for row in rows:
        check(len(row) == 4 and row[1].isdigit() and row[2].isdigit(), "line %r" % row)
        check(re.fullmatch(r"[01](\.\d{1,6})?", row[3]), "value %r" % row[3])


def test_digits(box):
    text = box.ok("posterior -p scores.params.json --digits 2 scores.npy").stdout
    check(all(re.fullmatch(r"[01](\.\d{1,2})?", row[3]) for row in bed_rows(text)), "more than two digits")
    for found, expected in zip(per_bin(text), exact(box)[1]):
        check(abs(found - expected) <= 0.005 + VALUE_TOLERANCE, "%g, expected %g" % (found, expected))


def test_small_values_can_be_dropped(box):
    _, expected = exact(box)
    result = box.ok("posterior -p scores.params.json --min-posterior 0.1 --stats stats.json scores.npy")
    found = bedgraph_steps(result.stdout)
    check(found and all(value >= 0.1 for _, _, _, value in found), "a value below 0.1")
    kept = sum(value * (end - start) / 10 for _, start, end, value in found)
    check(abs(kept - sum(p for p in expected if p >= 0.1)) < 1e-3, "kept %g" % kept)
    dropped = sum(p for p in expected if p < 0.1)
    check("%.1f" % dropped in result.stderr or "dropped" in box.text("stats.json") + result.stderr,
          "the mass dropped (%g) is not reported:\n%s" % (dropped, result))


def test_pieces_begin_with_one(box):
    text = box.ok("posterior -p scores.params.json -r scores:501-1000 -r scores:2001-2500 scores.npy").stdout
    for begin, end in ((50, 100), (200, 250)):
        _, expected = exact(box, begin, end)
        found = [(start // 10, stop // 10, value) for _, start, stop, value in bedgraph_steps(text)]
        values = {t: value for start, stop, value in found for t in range(start, stop)}
        check(values[begin] == 1, "bin %d" % begin)
        worst = max(abs(values[begin + t] - p) for t, p in enumerate(expected))
        check(worst < VALUE_TOLERANCE, "off by %g" % worst)
        check(end not in values, "a line for the end of the piece")


def test_bigwig_demo(box):
    tracks = sorted(p.name for p in box.folder.glob("codon_*.bw"))
    box.ok(["posterior", "-p", "demo.params.json", "-o", "out.bedgraph.gz", "--write-index"] + tracks)
    text = gzip.decompress(box.path("out.bedgraph.gz").read_bytes()).decode()
    box.matches("demo.bedgraph", "\n".join(text.splitlines()[:500]) + "\n")
    check(box.path("out.bedgraph.gz.tbi").exists(), "no index")
    check(sum((end - start) / 3 * value for _, start, end, value in bedgraph_steps(text)) > 20, "too few boundaries")


def test_label_posteriors(box):
    box.ok("posterior -p scores.params.json -o out.bedgraph --labels-out lab scores.npy")
    columns = [per_bin(box.text("lab.%s.bedgraph" % label)) for label in ("low", "mid", "high")]
    check(all(abs(sum(values) - 1) < 5e-6 for values in zip(*columns)), "labels do not sum to 1")
    box.ok("posterior -p scores.params.json -o out.bedgraph --labels-out lab.npy scores.npy")
    rows = oracle.read_npy(box.path("lab.npy"))
    check(len(rows) == 300 and len(rows[0]) == 3, "shape %d x %d" % (len(rows), len(rows[0])))
    worst = max(abs(a - b) for row, values in zip(rows, zip(*columns)) for a, b in zip(row, values))
    check(worst < 1e-6, "the array and the bedGraphs differ by %g" % worst)


def test_labels_that_bins_cannot_have(box):
    """Exactly 0 where a score, a mask, a constraint or an end of the sequence forbids the label, exactly 1 where it is the only one left."""
    draw, bins, infinity = random.Random(11), 4000, float("inf")
    model = {"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b", "c"], "max_duration": 12, "bin_size": 10, "initial": "none",
             "transition": [[draw.gauss(0, 1) for _ in range(3)] for _ in range(3)], "start": [0, "-inf", 0], "end": ["-inf", 0, 0],
             "duration": {"kind": "table", "bias": [[draw.gauss(0, 1) for _ in range(3)] for _ in range(12)], "tail": [0.3, None, None]}}
    box.write("one.json", json.dumps(dict(model, labels=["a"], transition=[[0.5]], start=[0], end=[0], duration={"kind": "geometric", "p": [0.2]})))
    for low in (-infinity, -1e9):
        rows = [[draw.gauss(0, 3) for _ in range(3)] for _ in range(bins)]
        possible = [set(range(3)) for _ in range(bins)]
        for t in range(bins):
            for c in draw.sample(range(3), draw.choice((0, 0, 0, 1, 2))):
                rows[t][c] = low
                possible[t].discard(c)
        more = ""
        if low == -infinity:
            rows[0], possible[0] = [0.0] * 3, {0, 2}
            rows[-1], possible[-1] = [0.0] * 3, {1, 2}
            rows[1000:1020], possible[1000:1020] = [[0.0] * 3] * 20, [{1}] * 20
            rows[2000:2040], possible[2000:2040] = [[0.0] * 3] * 40, [{1, 2}] * 40
            box.write("what.bed", "hard\t10000\t10200\tlabel:b\nhard\t20000\t20400\tnot:a\n")
            more = "--constraints what.bed"
        box.write("hard.json", json.dumps(model if more else dict(model, start=[0, 0, 0], end=[0, 0, 0])))
        box.write("hard.npy", npy(rows, "<f4"))
        for precision in ("float", "double"):
            box.ok("posterior -p hard.json --precision %s --digits 15 %s -o out.bedgraph --labels-out lab hard.npy" % (precision, more))
            columns = [per_bin(box.text("lab.%s.bedgraph" % label)) for label in model["labels"]]
            for t, values in enumerate(zip(*columns)):
                for c, value in enumerate(values):
                    check((c in possible[t]) or value == 0, "%s %s: bin %d, label %d is impossible and has %.17g" % (low, precision, t, c, value))
                    check(possible[t] != {c} or value == 1, "%s %s: bin %d, label %d is certain and has %.17g" % (low, precision, t, c, value))
                check(abs(sum(values) - 1) < 5e-6, "bin %d: %s" % (t, values))
    box.write("one.npy", npy([[draw.gauss(0, 1)] for _ in range(bins)], "<f4"))
    for precision in ("float", "double"):
        box.ok("posterior -p one.json --precision %s --digits 15 -o out.bedgraph --labels-out one one.npy" % precision)
        check(set(per_bin(box.text("one.a.bedgraph"))) == {1}, "the only label is not certain")


def test_labels_that_the_structure_forbids(box):
    """Exactly 0 where shortest durations and the order of the labels leave no room, or a mask does beside cut edges; never what rounding leaves."""
    draw, bins, shortest, low = random.Random(12), 6000, 400, "-inf"
    bias = [[low if k + 1 < shortest else draw.gauss(0, 1) for _ in range(3)] for k in range(600)]
    model = {"format": "semicrf-params", "format_version": "1.1", "labels": ["a", "b", "c"], "max_duration": 600, "bin_size": 10, "initial": "none",
             "transition": [[low, 0, low], [low, low, 0], [low, low, low]], "start": [0, low, low], "end": [low, low, 0],
             "duration": {"kind": "table", "bias": bias, "tail": [0.9995, 0.9995, 0.9995]}, "edges": "complete"}
    scores = [[draw.gauss(0, 3) for _ in range(3)] for _ in range(bins)]
    possible = [{c for c in range(3) if c * shortest <= t < bins - (2 - c) * shortest and (c > 0 or t < bins) and (t >= shortest or c == 0)
                 and (t < bins - shortest or c == 2)} for t in range(bins)]
    box.write("ordered.json", json.dumps(model))
    box.write("ordered.npy", npy(scores, "<f4"))
    free = [[draw.gauss(0, 0.2) for _ in range(3)] for _ in range(30)]
    masked = dict(model, transition=[[-1, 0, 0], [0, -1, 0], [0, 0, -1]], start=[0, 0, 0], end=[0, 0, 0], edges="censored", max_duration=30,
                  duration={"kind": "table", "bias": free, "tail": [0.5, 0.5, 0.5]})
    allowed = [set(range(3)) for _ in range(bins)]
    rows = [list(row) for row in scores]
    for t in range(bins):
        for c in draw.sample(range(3), draw.choice((0, 0, 1, 2))):
            rows[t][c] = -1e9
            allowed[t].discard(c)
    box.write("masked.json", json.dumps(masked))
    box.write("masked.npy", npy(rows, "<f4"))
    for name, sets in (("ordered", possible), ("masked", allowed)):
        for choice in ("-x reference", "-x cpu --precision float", "-x cpu --precision double"):
            box.ok("posterior -p %s.json %s --digits 15 -o out.bedgraph --labels-out lab %s.npy" % (name, choice, name))
            columns = [per_bin(box.text("lab.%s.bedgraph" % label)) for label in model["labels"]]
            for t, values in enumerate(zip(*columns)):
                for c, value in enumerate(values):
                    check(c in sets[t] or value == 0, "%s %s: bin %d, label %d is impossible and has %.17g" % (name, choice, t, c, value))
                    check(sets[t] != {c} or value == 1, "%s %s: bin %d, label %d is certain and has %.17g" % (name, choice, t, c, value))
                check(abs(sum(values) - 1) < 5e-6, "%s %s: bin %d: %s" % (name, choice, t, values))


def test_prefix_names_the_outputs(box):
    box.ok("posterior -p scores.params.json --prefix run scores.npy")
    check("run.boundary.bedgraph" in box.listing() and "run.stats.json" in box.listing(), "%s" % box.listing())
    box.ok("decode -p scores.params.json --prefix run scores.npy")
    check("run.segments.bed" in box.listing(), "%s" % box.listing())


def test_same_bytes_for_any_threads(box):
    expected = None
    for threads in (1, 2, 3, 8):
        box.ok("posterior -p scores.params.json -t %d -o out.bedgraph --labels-out lab --stats stats.json scores.npy" % threads)
        found = [box.path(name).read_bytes() for name in box.listing() if name.startswith(("out", "lab"))]
        found.append(json.dumps(json.loads(box.text("stats.json"))["sequences"]).encode())
        expected = expected or found
        check(found == expected, "-t %d gives other bytes" % threads)


def test_statistics(box):
    box.ok("posterior -p scores.params.json -o out.bedgraph --stats stats.json scores.npy")
    stats = json.loads(box.text("stats.json"))
    check(stats["format"] == "semicrf-stats" and stats["format_version"] == "1.0", "format")
    check({"version", "device", "timings", "peak_memory", "warnings", "sequences"} <= set(stats), "keys %s" % list(stats))
    entry = stats["sequences"][0]
    check(ENTRY_KEYS <= set(entry), "missing %s" % (ENTRY_KEYS - set(entry)))
    check("viterbi_score" not in entry and "segments" not in entry, "what was not computed is there")
    check((entry["name"], entry["length"], entry["covered"], entry["missing"]) == ("scores", 3000, 300, 0), "%s" % entry)
    log_z, starts = exact(box)
    check(abs(entry["log_partition"] - log_z) < 1e-7 * log_z, "log Z %r, expected %r" % (entry["log_partition"], log_z))
    check(abs(entry["max_normalization_error"]) <= 1e-5, "normalisation")
    total = sum(starts)
    entropy = -sum(p / total * math.log(p / total) for p in starts if p > 0)
    check(abs(entry["boundary_entropy"] - entropy) < 1e-4, "H_bdy %r, expected %r" % (entry["boundary_entropy"], entropy))


def test_statistics_of_decode(box):
    box.ok("decode -p scores.params.json -o out.bed --score none --stats stats.json scores.npy")
    entry = json.loads(box.text("stats.json"))["sequences"][0]
    check("log_partition" not in entry and "boundary_entropy" not in entry, "what was not computed is there")
    model, scores = oracle.Model(box.path("scores.params.json")), oracle.read_npy(box.path("scores.npy"))
    check(abs(entry["viterbi_score"] - oracle.best_score(scores, model)) < 1e-9, "score %r" % entry["viterbi_score"])
    check(entry["segments"] == len(bed_rows(box.text("out.bed"))), "number of segments")
    box.ok("decode -p scores.params.json -o out.bed --posterior out.bedgraph --stats stats.json scores.npy")
    entry = json.loads(box.text("stats.json"))["sequences"][0]
    check(ENTRY_KEYS | {"viterbi_score", "segments"} <= set(entry), "keys %s" % sorted(entry))


def test_entropy_of_single_bins_is_log_length(box):
    document = json.loads(box.text("scores.params.json"))
    document.update(max_duration=1, duration={"kind": "uniform"}, transition=[[0] * 3] * 3)
    box.write("k1.json", json.dumps(document))
    box.ok("posterior -p k1.json -o out.bedgraph --stats stats.json scores.npy")
    entry = json.loads(box.text("stats.json"))["sequences"][0]
    check(abs(entry["boundary_entropy"] - math.log(300)) < 1e-5, "H_bdy %r" % entry["boundary_entropy"])


def test_boundary_scores(box):
    zeros = box.path("scores.npy").read_bytes()
    head = len(zeros) - 300 * 3 * 4
    box.write("zero.npy", zeros[:head] + bytes(300 * 3 * 4))
    plain = per_bin(box.ok("posterior -p scores.params.json scores.npy").stdout)
    both = "posterior -p scores.params.json --start-scores scores=%s --end-scores scores=%s scores.npy"
    with_zeros = per_bin(box.ok(both % ("zero.npy", "zero.npy")).stdout)
    check(all(abs(a - b) <= VALUE_TOLERANCE for a, b in zip(with_zeros, plain)), "zeros change the result")
    check(per_bin(box.ok(both % ("scores.npy", "zero.npy")).stdout) != plain, "scores change nothing")
    box.fails(both.replace("scores=%s", "other=%s") % ("zero.npy", "zero.npy"), (2, 3), "other")


def test_given_scores_beside_tracks(box):
    """As label scores that are what the head makes of the tracks."""
    rng = random.Random(4)
    rows = [[rng.gauss(0, 1)] for _ in range(120)]
    starts, ends = ([[rng.gauss(0, 1.5) for _ in range(2)] for _ in rows] for _ in range(2))
    box.write("x.npy", npy(rows))
    box.write("s.npy", npy(starts))
    box.write("e.npy", npy(ends))
    track_parameters(box, bin_size=1)
    document = json.loads(box.text("track.json"))
    box.write("f.npy", npy([[sum(w * x for w, x in zip(weights, row)) + b for weights, b in
                             zip(document["emission"]["weights"], document["emission"]["bias"])] for row in rows]))
    del document["emission"], document["tracks"]
    box.write("label.json", json.dumps(document))
    given = "--start-scores s.npy --end-scores e.npy"
    for engine in ("reference", "cpu"):
        for more in ("", "--edges censored -r x:11-77", "--max-memory 64M"):
            box.ok("posterior -q -x %s --precision double -p track.json %s %s --stats a.json -o a.bg x.npy" % (engine, given, more))
            box.ok("posterior -q -x %s --precision double -p label.json %s %s --stats b.json -o b.bg x=f.npy" % (engine, given, more))
            a, b = (json.loads(box.text(name))["sequences"][0]["log_partition"] for name in ("a.json", "b.json"))
            check(abs(a - b) < 1e-6 * abs(b), "log Z %r, expected %r (%s, %s)" % (a, b, engine, more))
    box.ok("posterior -q --precision double -p track.json --stats c.json -o c.bg x.npy")
    check(abs(json.loads(box.text("c.json"))["sequences"][0]["log_partition"] - a) > 0.1, "the given scores say nothing")
    box.ok("decode -q -p track.json %s -o a.bed x.npy" % given)
    box.ok("decode -q -p label.json %s -o b.bed x=f.npy" % given)
    lines = [[line.split("\t")[:4] for line in box.text(name).splitlines() if not line.startswith("#")] for name in ("a.bed", "b.bed")]
    check(lines[0] == lines[1] and len(lines[0]) > 10, "paths differ")
