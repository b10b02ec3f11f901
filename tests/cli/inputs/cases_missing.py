"""Tracks without a file, and bins without a value."""

import itertools
import json
import math
import random

from cases_learn import bernoulli, counts, drawn_rows, gauss, near
from harness import check
from make_inputs import bigwig, bigwig_track, npy

NAN = math.nan
BINS = 60


def log_sum(values):
    largest = max(values)
    return largest + math.log(sum(math.exp(value - largest) for value in values))


def test_little_is_told_in_one_line(box):
    """The last, partial bin of a chromosome is no news: one line for all tracks."""
    bins = 3000
    for track in ("A", "B", "C"):
        bigwig_track(box, "S.%s.bw" % track, {"chr1": 10 * bins}, bigwig.fixed_step("chr1", 0, 10, [1.0, 2.0] * (bins // 2 - 1)))
    box.write("l.bed", "chr1\t0\t20000\tp\nchr1\t20000\t30000\tq\n")
    said = box.ok("train -b 10 --labels l.bed --max-iterations 2 --max-duration 9 --tail -o m.json --track-pattern {sample}.{track}.bw S.A.bw S.B.bw S.C.bw").stderr
    lines = [line for line in said.splitlines() if "missing:" in line]
    check(lines == ["semicrf: info: missing: 3 of 3 tracks lack values in a thousandth of the bins at most"], "%s" % lines)
    bigwig_track(box, "S.B.bw", {"chr1": 10 * bins}, bigwig.fixed_step("chr1", 0, 10, [1.0, 2.0] * (bins // 4)))
    said = box.ok("decode -p m.json -o o.bed --track-pattern {sample}.{track}.bw S.A.bw S.B.bw S.C.bw").stderr
    lines = [line for line in said.splitlines() if "missing:" in line]
    check(len(lines) == 2 and "missing: B: 1500 of 3000 bins" in lines[0] and "3 of 3 tracks lack values, 2 of them in" in lines[1], "%s" % lines)


def learned(box, draw, options="", name="m.json"):
    """A model of tracks a, b and c; the rows that it was learned from."""
    rng = random.Random(3)
    rows = drawn_rows(rng, draw(rng), bins=BINS)
    box.write("x.npy", npy(rows))
    box.ok("learn -q --precision double --labels 3 --max-duration 12 --max-iterations 6 --track-names a,b,c %s -o %s x.npy" % (options, name))
    return rows


def log_z(box, rows, options="", precision="double", model="m.json"):
    box.write("y.npy", npy(rows))
    box.ok("posterior -q -p %s --precision %s --stats z.json -o z.bg %s y.npy" % (model, precision, options))
    return json.loads(box.text("z.json"))["sequences"][0]["log_partition"]


def log_slopes(model, rows, names):
    """What makes densities of a model's features those of the values in `rows`, a column for each name."""
    tracks = {track["name"]: track for track in model["tracks"]}
    of_function = {"none": lambda x: 0.0, "asinh": lambda x: -0.5 * math.log1p(x * x), "log1p": lambda x: -math.log1p(x)}
    return sum(of_function[tracks[name].get("transform", "none")](x) - math.log(tracks[name].get("scale", 1))
               for row in rows for x, name in zip(row, names) if not math.isnan(x))


def with_values(rows, holes, values):
    changed = [list(row) for row in rows]
    for (t, f), value in zip(holes, values):
        changed[t][f] = value
    return changed


def test_marginal_is_the_sum_over_all_values(box):
    rows = learned(box, bernoulli)
    holes = [(0, 1), (7, 0), (7, 2), (8, 2), (30, 0), (59, 1)]
    total = log_sum([log_z(box, with_values(rows, holes, values)) for values in itertools.product((0.0, 1.0), repeat=len(holes))])
    empty = with_values(rows, holes, [NAN] * len(holes))
    found = log_z(box, empty, "--missing marginal")
    near(found, total, 1e-10, "log Z with holes")
    near(log_z(box, empty, "--missing marginal", precision="float"), total, 1e-6, "float")
    check(abs(log_z(box, empty, "--missing zero") - total) > 0.1, "the holes say nothing")
    # The same from the file, which is of format 1.1 then.
    model = json.loads(box.text("m.json"))
    for track in model["tracks"]:
        track["missing"] = "marginal"
    box.write("marginal.json", json.dumps(model))
    box.fails("posterior -p marginal.json -o z.bg y.npy", 3, "marginal.json", "marginal", "1.1")
    model["format_version"] = "1.1"
    box.write("marginal.json", json.dumps(model))
    check(log_z(box, empty, model="marginal.json") == found, "the policy of the file is not that of the option")
    check("marginal" in box.ok("info marginal.json").stdout, "info does not tell the policy")


def test_a_track_without_a_file(box):
    rows = learned(box, bernoulli)[:8]
    total = log_sum([log_z(box, [[row[0], one, row[2]] for row, one in zip(rows, ones)])
                     for ones in itertools.product((0.0, 1.0), repeat=len(rows))])
    two = [[row[0], row[2]] for row in rows]
    near(log_z(box, two, "--missing-track b"), total, 1e-10, "log Z without a track")
    near(log_z(box, [[row[0], NAN, row[2]] for row in rows], "--missing marginal"), total, 1e-10, "holes everywhere")
    statistics = json.loads(box.text("z.json"))
    check(statistics["sequences"][0]["missing_values"] == [{"track": "b", "bins": 8, "policy": "marginal"}], str(statistics))
    result = box.ok("decode -p m.json --missing-track b --stats s.json -o y.bed --track-names a,c y.npy".replace("y.npy", box.write("two.npy", npy(two))))
    check("b <- no file: its term is left out" in result.stderr, "the log does not tell: %s" % result)
    check(json.loads(box.text("s.json"))["missing_tracks"] == [{"track": "b", "policy": "marginal"}], box.text("s.json"))
    check("#option missing-track=b\n" in box.text("y.bed"), "the header does not tell")
    check("b <- no file" in box.ok("decode --dry-run -p m.json --missing-track b two.npy").stdout, "the plan does not tell")
    box.fails("decode -p m.json --missing-track q -o y.bed two.npy", 2, "--missing-track", "'q'", "a, b, c")
    box.fails("decode -p m.json --missing-track a --missing-track b --missing-track c -o y.bed two.npy", 2, "every track")
    box.fails("decode -p m.json -o y.bed two.npy", 3, "two.npy", "2 columns", "3 tracks", "--missing-track")
    box.fails("decode -p scores.params.json --missing-track a -o y.bed scores.npy", 2, "label scores")
    box.fails("decode -p m.json --missing never -o y.bed two.npy", 2, "--missing", "marginal")


def test_other_families(box):
    """Against the model of the remaining tracks, whose bias is computed here."""
    for family, draw in (("gaussian", gauss), ("poisson", counts), ("negative-binomial", counts)):
        rows = learned(box, draw, "--emission " + family)
        model = json.loads(box.text("m.json"))
        sizes = model["training"].get("sizes")
        weights, bias = model["emission"]["weights"], model["emission"]["bias"]
        for c, row in enumerate(weights):
            if family == "gaussian":
                precision = -2 * row[4]
                part = 0.5 * (math.log(precision / (2 * math.pi)) - row[1] ** 2 / precision)
                del row[4]
            else:
                part = -math.exp(row[1]) if family == "poisson" else sizes[1] * math.log1p(-math.exp(row[1]))
            del row[1]
            bias[c] -= part
        model["tracks"] = [track for track in model["tracks"] if "b" not in (track["name"], track.get("square_of"))]
        box.write("two.json", json.dumps(model))
        two = [[row[0], row[2]] for row in rows]
        expected = log_z(box, two, model="two.json")
        near(log_z(box, two, "--missing-track b"), expected, 1e-10, family)
        # Rows whose squares are rounded to float would not be compared here: log Z is of the same features.
        near(log_z(box, [[row[0], NAN, row[2]] for row in rows], "--missing marginal"), expected, 1e-10, family + ", holes")


def test_the_mean_where_tracks_are_not_independent(box):
    """A feature of 0, which the value at the track's center has."""
    rows = learned(box, gauss, "--emission gaussian")
    model = json.loads(box.text("m.json"))
    model["emission"]["bias"][0] += 1
    box.write("other.json", json.dumps(model))
    holes = [(4, 1), (20, 0)]
    at_center = with_values(rows, holes, [model["tracks"][1]["center"], model["tracks"][0]["center"]])
    expected = log_z(box, at_center, model="other.json")
    for policy in ("mean", "marginal"):
        near(log_z(box, with_values(rows, holes, [NAN] * 2), "--missing " + policy, model="other.json"), expected, 1e-6, policy)
        counted = json.loads(box.text("z.json"))["sequences"][0]["missing_values"]
        check(counted == [{"track": "a", "bins": 1, "policy": "mean"}, {"track": "b", "bins": 1, "policy": "mean"}], str(counted))
    log_z(box, [[row[0], row[2]] for row in rows], "--missing-track b", model="other.json")
    check(json.loads(box.text("z.json"))["missing_tracks"] == [{"track": "b", "policy": "mean"}], box.text("z.json"))
    box.ok("train -q --labels %s --missing mean --max-iterations 2 -o t.json --max-duration 20 y.npy" % box.write("l.bed", "y\t0\t20\tp\ny\t20\t40\tq\ny\t40\t60\tp\n"))


def test_bigwig_bins_without_a_value(box):
    """Partly covered bins have the mean of their bases with a value."""
    tracks = {"a": [(0, 10, 1.0), (10, 20, 0.0), (24, 27, 1.0), (30, 60, 1.0)], "b": [(0, 60, 1.0)]}
    from make_inputs import bigwig
    for name, intervals in tracks.items():
        bigwig_track(box, name + ".bw", {"chr1": 60}, bigwig.bedgraph("chr1", intervals))
    model = {"format": "semicrf-params", "format_version": "1.1", "labels": [{"name": "on"}, {"name": "off"}], "max_duration": 3,
             "bin_size": 10, "centering": "none", "transition": [["-inf", 0], [0, "-inf"]], "duration": {"kind": "uniform"},
             "tracks": [{"name": name, "missing": "marginal"} for name in "ab"],
             "emission": {"weights": [[math.log(p / (1 - p)) for p in row] for row in ((0.9, 0.8), (0.2, 0.4))],
                          "bias": [sum(math.log(1 - p) for p in row) for row in ((0.9, 0.8), (0.2, 0.4))]}}
    box.write("m.json", json.dumps(model))
    box.ok("posterior -q -p m.json --precision double --stats s.json -o z.bg a.bw b.bw")
    entry = json.loads(box.text("s.json"))["sequences"][0]
    check(entry["missing_values"] == [{"track": "a", "bins": 0, "bases": 7, "policy": "marginal"}], str(entry))
    box.write("y.npy", npy([[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]))
    box.ok("posterior -q -p m.json --precision double --stats z.json -o z.bg y.npy")
    near(entry["log_partition"], json.loads(box.text("z.json"))["sequences"][0]["log_partition"], 1e-12, "partly covered")
    bigwig_track(box, "a.bw", {"chr1": 60}, bigwig.bedgraph("chr1", tracks["a"][:2] + tracks["a"][3:]))
    box.ok("posterior -q -p m.json --precision double --stats s.json -o z.bg a.bw b.bw")
    box.write("y.npy", npy([[1.0, 1.0], [0.0, 1.0], [NAN, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]))
    box.ok("posterior -q -p m.json --precision double --stats z.json -o z.bg y.npy")
    entry = json.loads(box.text("s.json"))["sequences"][0]
    near(entry["log_partition"], json.loads(box.text("z.json"))["sequences"][0]["log_partition"], 1e-12, "an uncovered bin")
    check(entry["missing_values"] == [{"track": "a", "bins": 1, "bases": 10, "policy": "marginal"}], str(entry))


def test_learn_leaves_holes_of_arrays_open(box):
    """Without --missing a NaN cuts no sequence, and the model says so; arrays without NaN give the model of before."""
    rng = random.Random(9)
    rows = drawn_rows(rng, gauss(rng), bins=400)
    box.write("x.npy", npy(rows))
    command = "learn -q --precision double --labels 3 --max-duration 20 --max-iterations 5 -o %s %s x.npy"
    box.ok(command % ("m.json", ""))
    box.ok(command % ("skip.json", "--missing skip"))
    check(box.text("m.json") == box.text("skip.json"), "holes that are not there change the model")
    rows[7][1] = rows[200][0] = NAN
    box.write("x.npy", npy(rows))
    box.ok(command % ("m.json", ""))
    box.ok(command % ("marginal.json", "--missing marginal"))
    check(box.text("m.json") == box.text("marginal.json"), "holes of arrays are not marginal")


def test_learn_from_tracks_with_holes(box):
    """ln P is that of the values there are; what is learned has the policy, and threads change nothing."""
    for draw in (bernoulli, gauss, counts):
        rng = random.Random(8)
        rows = drawn_rows(rng, draw(rng), bins=400)
        for row in rows:
            for f in range(3):
                row[f] = NAN if rng.random() < 0.2 else row[f]
        box.write("x.npy", npy(rows))
        command = "learn -q --precision double --labels 3 --max-duration 20 --max-iterations 15 --tolerance 0 --missing marginal --stats s.json %s x.npy"
        box.ok(command % "-t 1 -o one.json")
        values = json.loads(box.text("s.json"))["log_likelihood"]
        for before, after in zip(values, values[1:]):
            check(after >= before - 1e-9 * abs(before), "falls from %r to %r" % (before, after))
        box.ok(command % "-t 3 -o m.json")
        check(box.text("one.json") == box.text("m.json"), "threads change the model")
        model = json.loads(box.text("m.json"))
        check([track.get("missing") for track in model["tracks"][:3]] == ["marginal"] * 3, str(model["tracks"]))
        check(len(model["tracks"]) == (6 if draw is gauss else 3), str(model["tracks"]))
        if draw is not counts:
            near(log_z(box, rows) + log_slopes(model, rows, ("track1", "track2", "track3")), values[-1], 1e-6, "ln P of the model that is written")
        # It goes on where it ended, and without a track.
        box.ok("learn -q --precision double --init m.json --max-iterations 1 --tolerance 0 -o n.json --stats n-s.json x.npy")
        near(json.loads(box.text("n-s.json"))["log_likelihood"][0], values[-1], 1e-9, "--init")
        box.write("two.npy", npy([[row[0], row[2]] for row in rows]))
        box.ok("learn -q --precision double --init m.json --missing-track track2 --max-iterations 1 --tolerance 0 -o n.json --stats n-s.json two.npy")
        statistics = json.loads(box.text("n-s.json"))
        check(statistics["missing_tracks"] == [{"track": "track2", "policy": "marginal"}], str(statistics))
        if draw is not counts:
            left = [[row[0], row[2]] for row in rows]
            expected = log_z(box, left, "--missing-track track2") + log_slopes(model, left, ("track1", "track3"))
            near(statistics["log_likelihood"][0], expected, 1e-6, "--missing-track")
        check([track["name"] for track in json.loads(box.text("n.json"))["tracks"]][:2] == ["track1", "track3"], "tracks")
    box.fails("learn --labels 2 --missing-track a -o n.json x.npy", 2, "--missing-track", "--init")
    box.write("empty.npy", npy([[1.0, NAN]] * 30 + [[0.0, NAN]] * 30))
    box.fails("learn --labels 2 --missing marginal -o n.json empty.npy", 3, "track2", "no value")
