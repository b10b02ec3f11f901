"""Log densities as features: in parameter files, and learned by semicrf learn."""

import json
import math
import random

from cases_learn import check_rising, drawn_rows, log_z, near, stats
from harness import check
from make_inputs import npy


def density_model(means, scales, families):
    """Of two labels and two tracks: normal densities by squares, or as densities of their own."""
    model = {"format": "semicrf-params", "format_version": "1.3", "labels": ["A", "B"], "max_duration": 1, "centering": "none", "initial": "none",
             "transition": [["-inf", 0.0], [0.0, "-inf"]], "start": [math.log(0.5)] * 2,
             "duration": {"kind": "table", "bias": [[math.log(0.1)] * 2], "tail": [0.9] * 2}}
    model["tracks"] = [{"name": name, "missing": "marginal"} for name in ("x", "y")]
    cells = [(f, means[c][f], scales[c][f]) for c in range(2) for f in range(2)]
    if families == "squares":
        model["tracks"] += [{"name": name + "^2", "square_of": name} for name in ("x", "y")]
        model["emission"] = {"weights": [[means[c][f] / scales[c][f] ** 2 for f in range(2)] + [-0.5 / scales[c][f] ** 2 for f in range(2)] for c in range(2)],
                             "bias": [sum(-0.5 * (means[c][f] / scales[c][f]) ** 2 - 0.5 * math.log(2 * math.pi * scales[c][f] ** 2) for f in range(2)) for c in range(2)]}
        return json.dumps(model)
    model["tracks"] += [{"name": "%s in %s" % ("xy"[f], "AB"[i // 2]), "density_of": "xy"[f], "family": "student", "mean": m, "scale": s, **families} for i, (f, m, s) in enumerate(cells)]
    model["emission"] = {"weights": [[0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]]}
    return json.dumps(model)


def test_densities_of_a_parameter_file(box):
    """Normal densities are what squares make of them, with holes and without a track; others are what the recursion says."""
    rng = random.Random(9)
    rows = drawn_rows(rng, lambda c, f: float("nan") if rng.random() < 0.2 else rng.gauss(2.0 * (c == 1), 1 + 0.5 * f), bins=200, labels=2, tracks=2)
    box.write("a.npy", npy(rows))
    means, scales = ((0.0, 0.2), (2.0, 1.1)), ((1.0, 1.5), (0.8, 1.2))
    box.write("squares.json", density_model(means, scales, "squares"))
    box.write("densities.json", density_model(means, scales, {}))
    for extra in ("", "--missing-track y"):
        values = []
        for name in ("squares", "densities"):
            inputs = "a.npy" if not extra else "x.npy"
            box.write("x.npy", npy([row[:1] for row in rows]))
            box.ok("posterior -q -p %s.json --precision double --stats z.json -o %s.bg %s %s" % (name, name, extra, inputs))
            values.append(stats(box, "z.json")["sequences"][0]["log_partition"])
            box.ok("decode -q -p %s.json --score none --no-header-comments -o %s.bed %s %s" % (name, name, extra, inputs))
        near(values[0], values[1], 1e-7, "log Z" + extra)
        check(box.text("squares.bed") == box.text("densities.bed"), "paths" + extra)
    # Student's density with outliers, mirrored: log Z by hand. With a tail and K = 1 each label is geometric.
    extra = {"degrees": 3, "outliers": 0.1, "outlier_density": 0.05, "mirrored": True}
    box.write("t.json", density_model(means, scales, extra))

    def density(x, m, s):
        t = lambda z: 2 / (math.pi * math.sqrt(3) * (1 + z * z / 3) ** 2) / s
        return 0.9 * 0.5 * (t((x - m) / s) + t((-x - m) / s)) + 0.1 * 0.05

    alpha, total = [0.5, 0.5], 0.0
    for t, row in enumerate(rows):
        if t > 0:
            alpha = [alpha[c] * 0.9 + alpha[1 - c] * 0.1 for c in range(2)]
        for c in range(2):
            for f in range(2):
                if not math.isnan(row[f]):
                    alpha[c] *= density(row[f], means[c][f], scales[c][f])
        scale = sum(alpha)
        total += math.log(scale)
        alpha = [a / scale for a in alpha]
    total += math.log(0.1)
    box.ok("posterior -q -p t.json --precision double --stats z.json -o t.bg a.npy")
    near(stats(box, "z.json")["sequences"][0]["log_partition"], total, 1e-6, "Student")
    shown = box.ok("info t.json")
    check("log density of x" in shown.stdout, "info: %s" % shown.stdout)
    box.ok("edit t.json --rename-track x=z -o renamed.json")
    tracks = json.loads(box.text("renamed.json"))["tracks"]
    check(tracks[2]["density_of"] == "z" and tracks[2]["degrees"] == 3 and tracks[2]["mirrored"] is True, "%r" % tracks)


def write_mixed(box):
    """Two arrays of x (Student with outliers and holes), k of n trials, y counts beside an exposure e; and their labels."""
    rng = random.Random(21)
    rows, label, lines = {"a.npy": [], "b.npy": []}, 0, []
    for name in rows:
        while len(rows[name]) < 700:
            label = (label + rng.randint(1, 2)) % 3
            begin = len(rows[name])
            for _ in range(rng.randint(6, 30)):
                x = label + 0.3 * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(2, 0.5)) if rng.random() > 0.03 else rng.uniform(-9, 9)
                n, p = rng.randint(0, 30), rng.betavariate(3 + 4 * label, 9)
                e = rng.uniform(0.5, 2.0)
                mean = rng.gammavariate(4, (1 + 3 * label) * e / 4)
                rows[name].append([float("nan") if rng.random() < 0.2 else x, sum(rng.random() < p for _ in range(n)), n, poisson(rng, mean), e])
            lines.append("%s\t%d\t%d\t%s\n" % (name[0], begin, len(rows[name]), "ABC"[label]))
        box.write(name, npy(rows[name]))
    box.write("labels.bed", "".join(lines))
    return rows


def poisson(rng, mean):
    value, product = -1, 1.0
    while product > math.exp(-mean):
        value += 1
        product *= rng.random()
    return value


MIXED = "learn -q --precision double --track-names x,k,n,y,e --emission x=student-t --emission k/n=beta-binomial --emission y/e=negative-binomial --outliers 0.05 --min-duration 3"


def densities(model):
    return [track for track in model["tracks"] if "density_of" in track]


def learned(box, name="m.json"):
    return json.loads(box.text(name))


def test_learned_densities(box):
    write_mixed(box)
    box.ok(MIXED + " --labels 3 --max-duration 20 --tail --tolerance 1e-8 -t 1 --stats s.json -o m.json a.npy b.npy")
    model = learned(box)
    check(model["format_version"] == "1.3" and model["training"]["emission"] == "x student-t, k/n beta-binomial, y/e negative-binomial", model["training"]["emission"])
    values = model["training"]["log_likelihood"]
    check_rising(values)
    # log Z of the file by posterior, which reads and scores the tracks by itself, is what learn says.
    near(log_z(box, "m.json"), values[-1], 1e-8, "ln P(tracks)")
    near(stats(box)["log_likelihood"][-1], values[-1], 1e-12, "--stats")
    found = densities(model)
    check([track["name"] for track in found] == ["%s in %d" % (x, c) for c in (1, 2, 3) for x in "xky"], "%r" % found)
    check(all(track["outliers"] == 0.05 and 0.04 < track["outlier_density"] < 0.07 for track in found if track["density_of"] == "x"), "%r" % found)
    for name, truth, margin in (("x", (0, 1, 2), 0.1), ("k", (0.25, 0.4375, 0.55), 0.06), ("y", (1, 4, 7), 0.8)):
        means = sorted(track["mean"] for track in found if track["density_of"] == name)
        check(all(abs(a - b) < margin for a, b in zip(means, truth)), "%s: means %r" % (name, means))
    # Same bytes on any number of threads; and a fit in two parts, from a checkpoint.
    box.ok(MIXED + " --labels 3 --max-duration 20 --tail --tolerance 1e-8 -t 3 -o t.json a.npy b.npy")
    check(box.text("t.json") == box.text("m.json"), "other bytes from three threads")
    fit = MIXED + " --labels 3 --max-duration 20 --tail --tolerance 0 --init random --max-iterations %d --checkpoint %s -o %s %s a.npy b.npy"
    box.ok(fit % (18, "whole", "whole.json", ""))
    for first in (5, 6, 7):
        box.ok(fit % (first, "point", "part.json", ""))
        box.ok(fit % (18, "point", "parts.json", "--resume point"))
        check(box.text("parts.json") == box.text("whole.json"), "other bytes from a checkpoint after %d iterations" % first)
    box.fails(fit.replace("0.05", "0.06") % (18, "point", "n.json", "--resume point"), (3,), "other data or options")
    # From a model: everything frozen stays to the bit, ties hold.
    box.ok("learn -q --precision double --init m.json --freeze emission,transition,duration,start --max-iterations 3 -o frozen.json a.npy b.npy")
    frozen = learned(box, "frozen.json")
    for key in ("tracks", "emission", "transition", "duration", "start"):
        check(frozen[key] == model[key], "%s was frozen" % key)
    check(len(frozen["training"]["log_likelihood"]) == 2 and frozen["training"]["free_parameters"] == 0, "%r" % frozen["training"])
    near(frozen["training"]["log_likelihood"][0], values[-1], 1e-9, "goes on")
    box.ok("learn -q --init m.json --tie sizes --freeze means --max-iterations 8 -o tied.json a.npy b.npy")
    check_rising(learned(box, "tied.json")["training"]["log_likelihood"])
    tied = densities(learned(box, "tied.json"))
    check([track["mean"] for track in tied] == [track["mean"] for track in found], "means were frozen")
    check(len({track.get("degrees") for track in tied if track["density_of"] == "x"}) == 1, "degrees are tied")
    for name in "ky":
        check(len({track["size"] for track in tied if track["density_of"] == name}) == 1, "sizes of %s are tied" % name)
    check(len({track["scale"] for track in tied if track["density_of"] == "x"}) == 3, "scales are not")
    box.ok("decode -q -p m.json --score none -o d.bed a.npy b.npy")
    box.ok("learn --labels 2 --track-names x,k,n,y,e --emission x=student-t --emission k/n=binomial --emission poisson --dry-run a.npy")


def test_families_of_densities_alone(box):
    """Families for all tracks; normal densities are what --emission gaussian fits."""
    rng = random.Random(8)
    rows = drawn_rows(rng, lambda c, f: rng.gauss(3.0 * (c == f), 1 + 0.5 * f), bins=600, labels=2, tracks=2)
    box.write("a.npy", npy(rows))
    box.write("b.npy", npy(rows[:300]))
    common = " --labels 2 --duration geometric --init random --max-iterations 60 --tolerance 1e-10 --precision double"
    box.ok("learn -q --emission gaussian --transform none -o squares.json" + common + " a.npy b.npy")
    box.ok("learn -q --emission track1=gaussian --emission track2=gaussian -o normal.json" + common + " a.npy b.npy")
    near(learned(box, "normal.json")["training"]["log_likelihood"][-1], learned(box, "squares.json")["training"]["log_likelihood"][-1], 1e-6, "normal densities")
    check("degrees" not in densities(learned(box, "normal.json"))[0], "normal densities have no degrees")
    trials = drawn_rows(rng, lambda c, f: 20.0 if f else float(sum(rng.random() < 0.2 + 0.5 * c for _ in range(20))), bins=500, labels=2, tracks=2)
    box.write("k.npy", npy(trials))
    for family in ("binomial", "beta-binomial"):
        box.ok("learn -q --labels 2 --emission %s -o k.json k.npy" % family)
        found = densities(learned(box, "k.json"))
        check(len(found) == 2 and found[0]["trials"] == "track2" and ("size" in found[0]) == (family == "beta-binomial"), "%r" % found)
        check(all(abs(a - b) < 0.05 for a, b in zip(sorted(one["mean"] for one in found), (0.2, 0.7))), "%r" % found)
    box.ok("learn -q --labels 2 --tie sizes --max-iterations 5 -o c.json k.npy")
    # Labels in the order of their means, whatever bins they cover.
    rows = drawn_rows(rng, lambda c, f: rng.gauss(4.0 * c if f else -3.0 * c, 1), bins=900, labels=3, tracks=2)
    box.write("o.npy", npy(rows))
    for tie, track in (("ordered", "track1"), ("track2=ordered", "track2")):
        box.ok("learn -q --labels 3 --emission gaussian --tie %s --max-iterations 60 -o o.json o.npy" % tie)
        means = [one["mean"] for one in densities(learned(box, "o.json")) if one["density_of"] == track]
        check(means == sorted(means), "%r" % means)
        check_rising(learned(box, "o.json")["training"]["log_likelihood"])
    check(all(abs(a - b) < 0.3 for a, b in zip(means, (0, 4, 8))), "%r" % means)
    box.ok("learn -q --init o.json --tie track2=ordered --max-iterations 2 -o p.json o.npy")
    box.fails("learn -q --labels 3 --tie z=ordered -o p.json o.npy", 2, "no track of this name")
    box.fails("learn -q --labels 3 --tie ordered,means -o p.json o.npy", 2, "neither tied nor frozen")
    check(learned(box, "c.json")["training"]["emission"] == "negative-binomial", "by the values")


def test_wishes_that_cannot_be(box):
    write_mixed(box)
    tail = " -o n.json --track-names x,k,n,y,e a.npy"
    for words, status, what in (("--labels 2 --emission normal", 2, "no family"),
                                ("--labels 2 --emission x=student-t", 2, "nothing of the track"),
                                ("--labels 2 --emission binomial", 2, "takes pairs"),
                                ("--labels 2 --emission bernoulli --outliers 0.1", 2, "for all tracks of a model alike"),
                                ("--labels 2 --emission poisson", 3, "negative value"),
                                ("--labels 2 --emission x/y=poisson --emission gaussian", 3, "negative value"),
                                ("--labels 2 --emission k/n=binomial --emission y=poisson --emission e=poisson --emission x=gaussian --tie modes", 2, "no part 'modes'"),
                                ("--labels 2 --freeze emission", 2, "--init FILE"),
                                ("--labels 2 --emission student-t --tie means --freeze means --init kmeans", 2, "--init FILE")):
        box.fails("learn -q " + words + tail, (status,), what)
    box.ok(MIXED + " --labels 2 --max-iterations 2 -o m.json a.npy")
    box.fails("learn -q --init m.json --emission student-t -o n.json a.npy", (2,), "which has them")
    box.fails("learn -q --init m.json --tie sizes --freeze sizes -o n.json a.npy", (2,), "cannot be tied, too")
    box.fails("learn -q --init m.json --freeze modes -o n.json a.npy", (2,), "no part 'modes'")
    model = learned(box)
    model["emission"]["weights"][0] = [2 * weight for weight in model["emission"]["weights"][0]]
    box.write("twice.json", json.dumps(model))
    box.fails("learn -q --init twice.json -o n.json a.npy", (3,), "weights 0 and 1")


TRAIN = "train -q --precision double -b 1 --labels labels.bed -t 1"
NAMES = " --track-names x,k,n,y,e"
FAMILIES = " --emission x=student-t --emission k/n=beta-binomial --emission y/e=negative-binomial --outliers 0.05"


def nll(box, name):
    return learned(box, name)["training"]["nll_per_position"]


def test_trained_densities(box):
    write_mixed(box)
    box.ok(TRAIN + NAMES + FAMILIES + " -o m.json a.npy b.npy")
    model = learned(box)
    found = densities(model)
    check(model["format_version"] == "1.3" and model["training"]["options"]["emission"] == "x=student-t k/n=beta-binomial y/e=negative-binomial", "%r" % model["training"]["options"])
    check("boundary" not in model and "scale" not in model["training"] and [track["name"] for track in found] == ["%s in %s" % (x, c) for c in "ABC" for x in "xky"], "%r" % found)
    # What the file says of the true segments, computed by eval from the tracks, is what train made small.
    box.ok("eval --truth labels.bed -p m.json --precision double --json e.json labels.bed a.npy b.npy")
    near(-json.loads(box.text("e.json"))["model"]["truth"]["log_likelihood_per_position"], nll(box, "m.json"), 1e-7, "likelihood of the labels")
    # From distributions that stay at the joint maximum, less is to be had; a fit goes on from its end.
    box.ok(TRAIN + NAMES + FAMILIES + " --freeze emission -o joint.json a.npy b.npy")
    for name, truth, margin in (("x", (0, 1, 2), 0.1), ("k", (0.25, 0.4375, 0.55), 0.06), ("y", (1, 4, 7), 0.8)):
        means = [track["mean"] for track in densities(learned(box, "joint.json")) if track["density_of"] == name]
        check(all(abs(a - b) < margin for a, b in zip(means, truth)), "%s: means %r" % (name, means))
    check(nll(box, "m.json") < nll(box, "joint.json") - 1e-3, "%r, %r" % (nll(box, "m.json"), nll(box, "joint.json")))
    box.ok(TRAIN + " --init m.json -o more.json a.npy b.npy")
    check(nll(box, "more.json") < nll(box, "m.json") + 1e-6 and densities(learned(box, "more.json")) != found, "%r" % nll(box, "more.json"))
    box.ok(TRAIN + " --init m.json --freeze emission -o frozen.json a.npy b.npy")
    check(densities(learned(box, "frozen.json")) == found, "frozen")
    box.ok(TRAIN + " --init m.json --tie sizes --freeze means -o tied.json a.npy b.npy")
    tied = densities(learned(box, "tied.json"))
    check([track["mean"] for track in tied] == [track["mean"] for track in found] and len({track["size"] for track in tied if track["density_of"] == "k"}) == 1, "%r" % tied)
    # learn goes on from it, and train from what learn found.
    box.ok("learn -q --precision double --init m.json --max-iterations 3 -o unsupervised.json a.npy b.npy")
    check_rising(learned(box, "unsupervised.json")["training"]["log_likelihood"])
    box.ok(TRAIN + " --init unsupervised.json -o again.json a.npy b.npy")
    check(nll(box, "again.json") < nll(box, "joint.json"), "from a model of learn")
    # Same bytes on any number of threads, and in two parts.
    box.ok(TRAIN.replace("-t 1", "-t 3") + NAMES + FAMILIES + " -o t.json a.npy b.npy")
    check(box.text("t.json") == box.text("m.json"), "other bytes from three threads")
    fit = TRAIN + NAMES + FAMILIES + " --max-iterations %d --tolerance 0 --checkpoint point --resume point -o %s a.npy b.npy"
    box.ok(fit % (50, "part.json"))
    box.ok(fit % (60, "parts.json"))
    box.ok((fit % (60, "whole.json")).replace(" point", " other"))
    check(box.text("parts.json") == box.text("whole.json"), "other bytes from a checkpoint")
    box.ok(TRAIN + NAMES + FAMILIES + " --optimizer adamw --window 200 --max-iterations 5 -o a.json a.npy b.npy")
    box.ok("decode -q -p m.json --score none -o d.bed a.npy b.npy")


def test_trained_families_of_all_tracks(box):
    """What 0/1 tracks and categories say, holes among them, is read by the other commands as train has it."""
    rng = random.Random(4)
    def value(c, f):
        return math.nan if f == 0 and rng.random() < 0.2 else float(rng.random() < (0.7 if c == f else 0.3)) + float(rng.random() < 0.3) * (f == 2)
    rows, lines, label = [], [], 0
    while len(rows) < 900:
        begin, label = len(rows), 1 - label
        rows += [[value(label, f) for f in range(3)] for _ in range(rng.randint(4, 20))]
        lines.append("%%s\t%d\t%d\t%s\n" % (begin, len(rows), "AB"[label]))
    box.write("z.npy", npy([row[:2] for row in rows]))
    box.write("c.npy", npy(rows))
    for name, emission, chosen in (("z", "bernoulli", "bernoulli"), ("z", "auto", "bernoulli"), ("c", "categorical", "categorical"), ("c", "auto", "poisson"), ("c", "gaussian", "gaussian")):
        box.write("labels.bed", "".join(lines).replace("%s", name))
        result = box.ok(TRAIN.replace("-q ", "") + " --emission %s -o m.json %s.npy" % (emission, name))
        check("emissions %s" % chosen in result.stderr, result.stderr[:800])
        box.ok("eval --truth labels.bed -p m.json --precision double --json e.json labels.bed %s.npy" % name)
        near(-json.loads(box.text("e.json"))["model"]["truth"]["log_likelihood_per_position"], nll(box, "m.json"), 1e-7, emission)
        box.ok(TRAIN + " --emission %s --freeze emission -o joint.json %s.npy" % (emission, name))
        check(nll(box, "m.json") <= nll(box, "joint.json") + 1e-6, emission)
        check(all(track["missing"] == "marginal" for track in learned(box)["tracks"] if "density_of" not in track and "indicator_of" not in track), "policies")
    # Without holes arrays are read as they always were.
    box.write("z.npy", npy([[float(b)] for b in range(2)] * 40))
    box.write("labels.bed", "".join("z\t%d\t%d\t%s\n" % (i, i + 10, "AB"[i // 10 % 2]) for i in range(0, 80, 10)))
    box.ok(TRAIN + " --emission gaussian -o m.json z.npy")
    check(learned(box)["tracks"][0]["missing"] == "skip", "%r" % learned(box)["tracks"])


def test_trained_wishes_that_cannot_be(box):
    write_mixed(box)
    tail = NAMES + " -o n.json a.npy b.npy"
    for words, status, what in (("--emission x=student-t", 2, "nothing of the track"),
                                ("--emission poisson", 3, "negative value"),
                                ("--emission normal", 2, "no family"),
                                ("--outliers 0.1", 2, "--outliers is for"),
                                ("--tie means", 2, "of which there are none"),
                                ("--freeze scales", 2, "of which there are none"),
                                ("--freeze scale", 2, "parts are"),
                                ("--missing marginal", 2, "--emission, which is not given"),
                                ("--emission gaussian --tie durations", 2, "are for learn alone"),
                                ("--emission gaussian --tie means --freeze means", 2, "cannot be tied, too"),
                                ("--emission gaussian --boundary-window=-1,1", 2, "--boundary-window"),
                                ("--emission gaussian --margin 0.1", 2, "--margin"),
                                ("--emission gaussian --centering mean", 2, "--centering"),
                                ("--emission categorical", 3, "no category")):
        box.fails(TRAIN + " " + words + tail, status, what)
    box.ok(TRAIN + " --emission gaussian --max-iterations 2" + tail.replace("n.json", "m.json"))
    box.fails(TRAIN + " --init m.json --emission gaussian -o n.json a.npy b.npy", 2, "--init")
