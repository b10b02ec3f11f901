"""semicrf learn: models from tracks alone."""

import json
import math
import random
import signal
import subprocess

from harness import check
from make_inputs import bigwig, npy

BINS = 600


def near(found, expected, tolerance, what):
    check(abs(found - expected) <= tolerance * max(1.0, abs(expected)), "%s: %r, expected %r" % (what, found, expected))


def drawn_rows(rng, draw, bins=BINS, labels=3, tracks=3):
    """Rows of segments of 4 to 20 bins; draw(label, track) is a value."""
    rows, label = [], 0
    while len(rows) < bins:
        label = (label + rng.randint(1, labels - 1)) % labels
        for _ in range(rng.randint(4, 20)):
            rows.append([draw(label, f) for f in range(tracks)])
    return rows[:bins]


def bernoulli(rng):
    return lambda c, f: 1.0 if rng.random() < (0.9 if c == f else 0.1) else 0.0


def counts(rng):
    def poisson(mean):
        value, product, limit = -1, 1.0, math.exp(-mean)
        while product > limit:
            value += 1
            product *= rng.random()
        return float(value)

    return lambda c, f: poisson(6.0 if c == f else 1.0)


def categories(rng):
    """0, 1, 2 or 3; the label's own track has mostly 2."""
    return lambda c, f: float(rng.choice((2, 2, 2, 2, 0, 1, 3) if c == f else (0, 0, 1, 3, 3, 2)))


def gauss(rng):
    return lambda c, f: rng.gauss(3.0 if c == f else 0.0, 1.0 + 0.5 * f)


def write_samples(box, draw, seed=1):
    """Two arrays; returns their names and rows."""
    rng = random.Random(seed)
    all_rows = []
    for name in ("a.npy", "b.npy"):
        rows = drawn_rows(rng, draw(rng))
        box.write(name, npy(rows))
        all_rows += rows
    return all_rows


def stats(box, name="s.json"):
    return json.loads(box.text(name))


def log_z(box, model, extra=""):
    box.ok("posterior -q -p %s --precision double --stats z.json -o z.bg a.npy b.npy %s" % (model, extra))
    return sum(sequence["log_partition"] for sequence in stats(box, "z.json")["sequences"])


def check_rising(values, gain=True):
    """A start may be a maximum already: then there is nothing to gain."""
    for before, after in zip(values, values[1:]):
        check(after >= before - 1e-9 * abs(before), "the log likelihood falls from %r to %r" % (before, after))
    check(not gain or values[-1] > values[0], "nothing was learned: %r" % values)


def test_log_z_is_the_probability_of_the_tracks(box):
    """Of the written model, with the base measure of counts."""
    cases = (("bernoulli", bernoulli, lambda x: 0.0), ("poisson", counts, lambda x: -math.lgamma(x + 1)))
    for family, draw, base in cases:
        rows = write_samples(box, draw)
        box.ok("learn -q --precision double --labels 3 --emission %s --max-iterations 12 --max-duration 25 -o m.json --stats s.json a.npy b.npy" % family)
        found = stats(box)
        check_rising(found["log_likelihood"])
        total = log_z(box, "m.json") + sum(base(x) for row in rows for x in row)
        near(found["log_likelihood"][-1], total, 1e-9, family)
        model = json.loads(box.text("m.json"))
        check([label["name"] for label in model["labels"]] == ["1", "2", "3"], "labels %r" % model["labels"])
        check(model["training"]["emission"] == family, "emission %r" % model["training"])
        near(found["aic"], 2 * model["training"]["free_parameters"] - 2 * found["log_likelihood"][-1], 1e-12, "AIC")
        near(found["bic"], math.log(len(rows)) * model["training"]["free_parameters"] - 2 * found["log_likelihood"][-1], 1e-12, "BIC")


def test_densities_are_those_of_the_values(box):
    """And not of what transforms make of them."""
    slopes = {"none": lambda x: 0.0, "log1p": lambda x: -math.log1p(x), "asinh": lambda x: -0.5 * math.log1p(x * x)}
    rows = [[abs(x) for x in row] for row in write_samples(box, gauss)]
    box.write("a.npy", npy(rows[:BINS]))
    box.write("b.npy", npy(rows[BINS:]))
    command = "learn -q --precision double --labels 3 --emission gaussian --max-iterations 6 --max-duration 25 -o m.json --stats s.json --transform %s %s"
    for transform, slope in slopes.items():
        box.ok(command % (transform, "a.npy b.npy"))
        tracks = json.loads(box.text("m.json"))["tracks"][:3]
        check([track.get("transform", "none") for track in tracks] == [transform] * 3, "%r" % tracks)
        base = sum(slope(x) - math.log(track["scale"]) for row in rows for x, track in zip(row, tracks))
        near(stats(box)["log_likelihood"][-1], log_z(box, "m.json") + base, 1e-6, transform)
    # In another unit the values are as likely, but for the unit. What is held out, too.
    box.ok(command % ("none", "--val-region b:1-600 a.npy b.npy"))
    first = stats(box)
    for name, part in (("a", rows[:BINS]), ("b", rows[BINS:])):
        box.write(name + ".npy", npy([[8 * x for x in row] for row in part]))
    box.ok(command % ("none", "--val-region b:1-600 a.npy b.npy"))
    for key, value in (("log_likelihood", stats(box)["log_likelihood"][-1]), ("validation", stats(box)["validation_log_likelihood"])):
        before = first["log_likelihood"][-1] if key == "log_likelihood" else first["validation_log_likelihood"]
        near(value, before - 3 * BINS * math.log(8), 1e-6, key)


def test_float_is_near_double(box):
    write_samples(box, bernoulli)
    box.ok("learn -q --labels 3 --max-iterations 8 -o m.json --stats f.json a.npy b.npy")
    box.ok("learn -q --precision double --labels 3 --max-iterations 8 -o m.json --stats s.json a.npy b.npy")
    for found, expected in zip(stats(box, "f.json")["log_likelihood"], stats(box)["log_likelihood"]):
        near(found, expected, 1e-5, "float")


def test_families_are_chosen_and_labels_found(box):
    for family, draw in (("bernoulli", bernoulli), ("gaussian", gauss), ("negative-binomial", counts)):
        write_samples(box, draw, seed=4)
        box.ok("learn -q --precision double --labels 3 --max-duration 25 -o m.json a.npy b.npy")
        check(json.loads(box.text("m.json"))["training"]["emission"] == family, "not %s" % family)
        # Labels differ in which track is high; a decoded segmentation has all three, in stretches.
        box.ok("decode -q -p m.json -o m.bed a.npy")
        segments = [line.split("\t") for line in box.text("m.bed").splitlines() if not line.startswith("#")]
        check(len({s[3] for s in segments}) == 3, "labels of %s" % family)
        check(20 < len(segments) < 120, "%d segments of %s" % (len(segments), family))


def test_categories(box):
    write_samples(box, categories, seed=4)
    box.ok("learn -q --precision double --labels 3 --max-duration 25 --emission categorical -o m.json --stats s.json a.npy b.npy")
    check_rising(stats(box)["log_likelihood"])
    model = json.loads(box.text("m.json"))
    of_track = [[i for i, track in enumerate(model["tracks"]) if track.get("indicator_of") == "track%d" % f] for f in (1, 2, 3)]
    check([len(columns) for columns in of_track] == [4, 4, 4] and model["format_version"] == "1.2", "%r" % model["tracks"])
    high = set()
    for row in model["emission"]["weights"]:
        for columns in of_track:
            near(sum(math.exp(row[i]) for i in columns), 1, 1e-12, "probabilities")
        high.add(max(range(3), key=lambda f: row[of_track[f][2]]))
    check(high == {0, 1, 2}, "labels differ in the track of many 2")
    near(stats(box)["log_likelihood"][-1], log_z(box, "m.json"), 1e-6, "ln P")
    box.ok("decode -q -p m.json -o m.bed a.npy")
    box.ok("decode -q -x reference -p m.json -o r.bed a.npy")
    check(box.text("m.bed").splitlines()[3:] == box.text("r.bed").splitlines()[3:], "the engines decode categories differently")
    check("indicator of 2 in track1" in box.ok("info m.json").stdout, "info")
    box.ok("edit m.json --rename-track track1=base -o e.json")
    check(json.loads(box.text("e.json"))["tracks"][3]["indicator_of"] == "base", "renamed")
    box.write("half.npy", npy([[0.5, 1, 2]] * 5))
    box.fails("learn --labels 2 --emission categorical half.npy", (3,), "no category")


def test_shapes(box):
    write_samples(box, bernoulli)
    for options, longest, tail in (("", 100, True), ("--max-duration 7", 7, False), ("--max-duration 7 --tail", 7, True),
                                   ("--duration geometric", 1, True), ("--duration negative-binomial --max-duration 30", 30, False),
                                   ("--duration geometric --max-duration 4", 4, True)):
        box.ok("learn -q --precision double --labels 2 --max-iterations 8 -o m.json --stats s.json %s a.npy" % options)
        model = json.loads(box.text("m.json"))
        check(model["max_duration"] == longest, "%s: K %d" % (options, model["max_duration"]))
        check(("tail" in model["duration"]) == tail, "%s: tail" % options)
        check(model["transition"][0][0] == "-inf", "a label follows itself")
        check_rising(stats(box)["log_likelihood"], gain=False)
    box.ok("learn -q --precision double --labels 1 --self-transitions --max-duration 1 --max-iterations 2 -o m.json a.npy")


def test_threads_and_seeds(box):
    write_samples(box, bernoulli)
    command = "learn -q --precision double --labels 3 --max-iterations 5 %s a.npy b.npy"
    box.ok(command % "-t 1 -o one.json")
    box.ok(command % "-t 3 -o three.json")
    check(box.text("one.json") == box.text("three.json"), "threads change the model")
    box.ok(command % "--seed 2 -o two.json")
    check(box.text("two.json") != box.text("one.json"), "the seed does not matter")
    box.ok(command % "--init random --restarts 4 -o best.json")
    fits = json.loads(box.text("best.json"))["training"]["fits"]
    check(len(fits) == 4, "%d fits" % len(fits))
    best = json.loads(box.text("best.json"))["training"]["log_likelihood"][-1]
    check(best == max(fit["log_likelihood"] for fit in fits), "not the likeliest start is kept")


def test_numbers_of_labels_are_compared(box):
    write_samples(box, bernoulli)
    result = box.ok("learn --progress off --labels 2,3,4 --max-duration 25 -o m.json a.npy b.npy")
    check(result.stderr.count("chosen") == 1 and "ICL" in result.stderr, result.stderr)
    training = json.loads(box.text("m.json"))["training"]
    by_icl = min(training["fits"], key=lambda fit: fit["icl"])
    check(len(json.loads(box.text("m.json"))["labels"]) == by_icl["labels"], "not the smallest ICL")
    # Its entropy is what posteriors say of the segmentations, of linear emissions and of densities.
    for emission in ("bernoulli", "gaussian", "student-t"):
        box.ok("learn -q --precision double --labels 3 --emission %s --max-duration 25 --max-iterations 5 -o e.json a.npy b.npy" % emission)
        found = json.loads(box.text("e.json"))["training"]
        log_z(box, "e.json")
        entropy = sum(sequence["segmentation_entropy"] for sequence in stats(box, "z.json")["sequences"])
        check(entropy > (1 if emission == "bernoulli" else 0), "%s: entropy %r" % (emission, entropy))
        near(found["icl"], found["bic"] + 2 * entropy, 1e-6, emission + ": ICL")
    box.ok("learn -q --precision double --labels 2,3,4 --max-duration 25 --val-region b:1-600 -o v.json --stats s.json a.npy b.npy")
    training = json.loads(box.text("v.json"))["training"]
    check(training["positions"] == BINS and training["validation_positions"] == BINS, "bins %r" % training)
    best = max(training["fits"], key=lambda fit: fit["validation_log_likelihood"] - fit["validation_entropy"])
    check(len(json.loads(box.text("v.json"))["labels"]) == best["labels"], "not the best held-out likelihood")
    near(stats(box)["validation_log_likelihood"], best["validation_log_likelihood"], 0, "held out")


def test_going_on_from_a_file(box):
    for draw in (gauss, counts, bernoulli):
        write_samples(box, draw)
        box.ok("learn -q --precision double --labels 3 --max-iterations 4 --tolerance 0 -o m.json --stats s.json a.npy b.npy")
        first = stats(box)["log_likelihood"]
        box.ok("learn -q --precision double --init m.json --max-iterations 4 --tolerance 0 -o n.json --stats s.json a.npy b.npy")
        second = stats(box)["log_likelihood"]
        near(second[0], first[-1], 1e-9, "the start")
        check_rising(first + second[1:])
    box.fails("learn --init m.json --labels 3 -o n.json a.npy", (2,), "--labels")
    # What a model forbids stays forbidden.
    box.ok("edit m.json --forbid 1,2 -o f.json")
    box.ok("learn -q --precision double --init f.json --max-iterations 3 -o n.json a.npy b.npy")
    check(json.loads(box.text("n.json"))["transition"][0][1] == "-inf", "a forbidden transition came back")


def test_binarize(box):
    """A track of counts with a threshold is the 0/1 track."""
    rng = random.Random(8)
    rows = drawn_rows(rng, counts(rng))
    box.write("a.npy", npy(rows))
    box.write("ones.npy", npy([[1.0 if x >= 4 else 0.0 for x in row] for row in rows]))
    box.ok("learn -q --precision double --labels 3 --max-iterations 6 --emission bernoulli --threshold 4 -o m.json a.npy")
    box.ok("learn -q --precision double --labels 3 --max-iterations 6 -o ones.json ones.npy")
    model, ones = json.loads(box.text("m.json")), json.loads(box.text("ones.json"))
    check(model["tracks"][0]["transform"] == "binarize" and model["tracks"][0]["threshold"] == 4, "%r" % model["tracks"])
    check(model["format_version"] == "1.1", model["format_version"])
    check(model["emission"] == ones["emission"] and model["duration"] == ones["duration"], "another model")
    box.ok("decode -q -p m.json -o m.bed a=a.npy")
    box.ok("decode -q -p ones.json -o ones.bed a=ones.npy")
    lines = [[line for line in box.text(name).splitlines() if not line.startswith("#")] for name in ("m.bed", "ones.bed")]
    check(lines[0] == lines[1], "another segmentation")
    check("binarize from 4" in box.ok("info m.json").stdout, "info does not tell the threshold")


def test_what_a_model_cannot_tell(box):
    """A threshold above all values, and a label in which a track is always exactly zero."""
    rng = random.Random(9)
    box.write("low.npy", npy([[rng.choice([0, .5, 4.25]), rng.choice([0.0, 30.0])] for _ in range(300)]))
    low = "learn --labels 2 --max-iterations 2 --track-names weak,strong --emission bernoulli -o m.json low.npy "
    said = [line for line in box.ok(low).stderr.splitlines() if "[threshold-not-reached]" in line]
    track = next(track for track in json.loads(box.text("m.json"))["tracks"] if track["name"] == "weak")
    check(len(said) == 1 and '"weak" is 4.25, below its threshold %d,' % track["threshold"] in said[0] and "--threshold" in said[0], "%s" % said)
    check("threshold-not-reached" not in box.ok(low + "--threshold 4.25").stderr, "a threshold that is reached")
    rows = [[(t // 20 % 2) * rng.gauss(3, 1), rng.gauss(0, 1)] for t in range(800)]
    box.write("zeros.npy", npy(rows))
    zeros = "learn --labels 2 --max-iterations 10 --track-names holes,noise -o z.json "
    said = box.ok(zeros + "zeros.npy").stderr
    check("[variance-at-floor]" in said and '"holes" in label "' in said and '"noise"' not in said, said)
    box.write("spread.npy", npy([[x + rng.gauss(0, 1), y] for x, y in rows]))
    check("variance-at-floor" not in box.ok(zeros + "spread.npy").stderr, "no variance is small")


def test_bigwigs(box):
    tracks = " ".join(sorted(name for name in box.listing() if name.startswith("codon") and name.endswith(".bw")))
    box.ok("learn -q --precision double --labels 3 -b 30 --max-iterations 6 -o m.json --stats s.json %s" % tracks)
    check_rising(stats(box)["log_likelihood"])
    model = json.loads(box.text("m.json"))
    check(model["bin_size"] == 30 and model["training"]["emission"] == "gaussian", "%r" % model["training"])
    check(sum("square_of" in track for track in model["tracks"]) == 6, "squares")
    for command in ("decode -o m.bed", "posterior -o m.bg", "decode -x reference -o r.bed"):
        box.ok("%s -q -p m.json %s" % (command, tracks))
    lines = [[line for line in box.text(name).splitlines() if not line.startswith("#")] for name in ("m.bed", "r.bed")]
    check(lines[0] == lines[1], "the engines decode squares differently")
    plan = box.ok("learn --labels 3,4 -b 30 --dry-run %s" % tracks).stdout
    check("emission\tgaussian" in plan and plan.count("model\t") == 2 and "least --max-memory" in plan, plan)


def test_samples_are_learned_together(box):
    write_samples(box, bernoulli)
    box.ok("learn -q --precision double --labels 3 --max-iterations 4 --missing skip -o both.json a.npy b.npy")
    training = json.loads(box.text("both.json"))["training"]
    check(training["positions"] == 2 * BINS, "bins %r" % training["positions"])


def write_bigwig_samples(box, draw=bernoulli, samples=("A", "B"), bins=BINS):
    """Files SAMPLE.t0.bw, ... of one model; returns the rows of each."""
    rng = random.Random(11)
    rows = {}
    for sample in samples:
        rows[sample] = drawn_rows(rng, draw(rng), bins)
        for f in range(3):
            sections = bigwig.fixed_step("chrA", 0, 10, [row[f] for row in rows[sample]])
            bigwig.write(box.path("%s.t%d.bw" % (sample, f)), {"chrA": 10 * bins}, sections)
    box.write("sheet.tsv", "sample\ttrack\tpath\n" + "".join("%s\tt%d\t%s.t%d.bw\n" % (s, f, s, f) for s in samples for f in range(3)))
    return rows


def test_samples_of_sheets_and_of_the_command_line(box):
    write_bigwig_samples(box)
    learn = ["learn", "-q", "--precision", "double", "--labels", "3", "-b", "10", "--max-iterations", "3", "--max-duration", "25"]
    box.ok(learn + ["-o", "sheet.json", "--samples", "sheet.tsv"])
    def without_sheet(name):
        model = json.loads(box.text(name))
        model["training"]["files"] = [entry for entry in model["training"]["files"] if entry["name"] != "sheet.tsv"]
        return model

    training = json.loads(box.text("sheet.json"))["training"]
    check(training["positions"] == 2 * BINS and training["options"]["sample"] == "A B", "%r" % training)
    ways = (["--samples", "sheet.tsv", "--sample", "A,B"], ["--samples", "sheet.tsv", "--sample", "A", "--sample", "B"],
            ["--sample", "A=A.*.bw", "--sample", "B=B.t0.bw,B.t1.bw,B.t2.bw"],
            ["--sample", "A=t0=A.t0.bw,t1=A.t1.bw,t2=A.t2.bw", "--sample", "B=B.t?.bw"],
            ["--track-pattern", "{sample}.{track}.bw", "--sample", "A=A.*.bw", "--sample", "B=B.*.bw"])
    for way in ways:
        box.ok(learn + ["-t", "2", "-o", "other.json"] + way)
        check(without_sheet("other.json") == without_sheet("sheet.json"), "another model by %r" % way)
    box.ok(learn + ["-o", "one.json", "--samples", "sheet.tsv", "--sample", "B"])
    check(json.loads(box.text("one.json"))["training"]["positions"] == BINS, "one sample")
    bad = learn + ["-o", "no.json"]
    box.fails(bad + ["--sample", "A=C.*.bw"], 4, "C.*.bw", "no file matches")
    box.fails(bad + ["--sample", "A=none.bw"], 4, "none.bw")
    box.fails(bad + ["--sample", "A=A.t0.bw", "--sample", "A=B.t0.bw"], 2, '"A" twice')
    box.fails(bad + ["--sample", "A=A.t0.bw,A.t0.bw"], 2, '"t0" twice')
    box.fails(bad + ["--sample", "=A.t0.bw"], 2, "empty name")
    box.fails(bad + ["--sample", "A="], 2, "empty list of files")
    box.fails(bad + ["--sample", "A=A.t0.bw", "--samples", "sheet.tsv"], 2, "one way")
    box.fails(bad + ["--sample", "A=A.t0.bw", "--sample", "B"], 2, '"B"', "NAME=FILE")
    box.fails(bad + ["--sample", "A=A.t0.bw", "A.t1.bw"], 2, "one way")
    box.fails(bad + ["--sample", "A", "A.t1.bw"], 2, "--samples")
    box.fails(bad + ["--track-pattern", "{sample}.{track}.bw", "--sample", "A=B.t0.bw"], 2, "B.t0.bw", "--track-pattern")
    box.fails(learn + ["-o", "A.t0.bw", "--sample", "A=A.*.bw"], 2, "A.t0.bw")


def test_a_sample_may_lack_a_track(box):
    """Its bins say nothing of the track: ln P is that of the tracks which are there."""
    for draw, family in ((bernoulli, "bernoulli"), (gauss, "gaussian"), (categories, "categorical"), (counts, "negative-binomial")):
        rows = write_bigwig_samples(box, draw)
        command = "learn --precision double --labels 3 -b 10 --emission %s --max-duration 25 --max-iterations 5 --stats s.json -o m.json " % family
        result = box.ok(command + "--sample A=A.t*.bw --sample B=B.t0.bw,B.t2.bw")
        check("B: t1 <- no file: its term is left out" in result.stderr, result.stderr)
        check_rising(stats(box)["log_likelihood"])
        model = json.loads(box.text("m.json"))
        tracks = [track for track in model["tracks"] if "square_of" not in track and "indicator_of" not in track]
        check([track["name"] for track in tracks] == ["t0", "t1", "t2"], "%r" % tracks)
        check(all(track.get("missing", "zero") == "zero" for track in tracks), "other policies: %r" % tracks)
        total = 0.0
        for sample, more in (("A", "t1=A.t1.bw"), ("B", "--missing-track t1")):
            box.ok("posterior -q --precision double -p m.json --stats z.json -o z.bg t0=%s.t0.bw t2=%s.t2.bw %s" % (sample, sample, more))
            total += sum(sequence["log_partition"] for sequence in stats(box, "z.json")["sequences"])
            for f, track in enumerate(tracks):
                if sample == "B" and f == 1:
                    continue
                for x in (row[f] for row in rows[sample]):
                    if family == "negative-binomial":
                        r = model["training"]["sizes"][f]
                        total += math.lgamma(x + r) - math.lgamma(r) - math.lgamma(x + 1)
                    elif family == "gaussian":
                        total -= math.log(track["scale"]) + (0.5 * math.log1p(x * x) if track.get("transform") == "asinh" else 0)
        near(stats(box)["log_likelihood"][-1], total, 1e-6 if family == "gaussian" else 1e-9, family)
        # The fit goes on from the file, and to the same bytes with other threads.
        last = stats(box)["log_likelihood"][-1]
        box.ok("learn -q --precision double --init m.json --max-iterations 2 --tolerance 0 -o n.json --stats s.json --sample A=A.t*.bw --sample B=B.t0.bw,B.t2.bw")
        near(stats(box)["log_likelihood"][0], last, 1e-9, "going on")
        box.ok(command.replace("m.json", "t.json") + "-t 3 --sample A=A.t*.bw --sample B=B.t0.bw,B.t2.bw")
        check(box.text("t.json") == box.text("m.json"), "threads change the model")
    # The order of the samples is that of the tracks.
    box.ok(command.replace("m.json", "o.json") + "--sample B=B.t0.bw,B.t2.bw --sample A=A.t*.bw")
    check([track["name"] for track in json.loads(box.text("o.json"))["tracks"]] == ["t0", "t2", "t1"], "the order of tracks")


def test_bad_input(box):
    rng = random.Random(3)
    box.write("a.npy", npy(drawn_rows(rng, gauss(rng))))
    box.fails("learn a.npy", (2,), "--labels")
    box.fails("learn --labels 0 a.npy", (2,), "--labels")
    box.fails("learn --labels 1 a.npy", (2,), "--self-transitions")
    box.fails("learn --labels 2", (2,), "TRACK")
    box.fails("learn --labels 2 --emission poisson a.npy", (3,), "negative")
    box.fails("learn --labels 2 --emission cauchy a.npy", (2,), "cauchy")
    box.fails("learn --labels 2 -o no/such/m.json a.npy", (3, 4, 5), "no/such")
    box.fails("learn --labels 2 --max-memory 1M a.npy", (6,), "--max-memory")
    box.fails("learn --labels 2 --init missing.json a.npy", (2, 3, 4), "--labels")
    box.fails("learn --init missing.json a.npy", (3, 4), "missing.json")
    box.fails("learn --init demo.params.json a.npy", (3,), "tracks")


def test_constant_and_empty_tracks(box):
    rng = random.Random(2)
    rows = [row + [0.0, 1.0] for row in drawn_rows(rng, bernoulli(rng))]
    box.write("a.npy", npy(rows))
    result = box.ok("learn --labels 4 --max-iterations 30 -o m.json --stats s.json a.npy")
    check(result.stderr.count("constant-track") == 2, result.stderr)
    check_rising(stats(box)["log_likelihood"])
    box.ok("decode -q -p m.json -o m.bed a.npy")


def write_known(box, rows_of_a, every=5):
    """Labels of some stretches of a.npy: "high0" where track 0 is high, "rest" where it is low."""
    lines = []
    for begin in range(0, BINS, 10 * every):
        high = sum(row[0] for row in rows_of_a[begin:begin + 4]) >= 3
        lines.append("a\t%d\t%d\t%s\n" % (begin, begin + 4, "high0" if high else "rest"))
    box.write("known.bed", "".join(lines))
    return lines


def test_known_labels(box):
    rows = write_samples(box, bernoulli)
    lines = write_known(box, rows[:BINS])
    result = box.ok("learn --precision double --labels 4 --labels-known known.bed --max-iterations 6 -o m.json --stats s.json a.npy b.npy")
    model = json.loads(box.text("m.json"))
    check([label["name"] for label in model["labels"]] == ["high0", "rest", "1", "2"], "labels %r" % model["labels"])
    check("%d bins are labelled" % (4 * len(lines)) in result.stderr and "ln P(tracks, labels)" in result.stderr, result.stderr)
    check_rising(stats(box)["log_likelihood"])
    # ln P(tracks, labels) is ln P(tracks) and the log probability of the same lines as constraints.
    box.write("c.bed", "".join(line.replace("\thigh0", "\tlabel:high0").replace("\trest", "\tlabel:rest") for line in lines))
    box.ok("posterior -q -p m.json --precision double --constraints c.bed --stats z.json -o z.bg a.npy")
    probability = stats(box, "z.json")["log_constraint_probability"]
    near(stats(box)["log_likelihood"][-1], log_z(box, "m.json") + probability, 1e-9, "ln P(tracks, labels)")
    # Without --labels there are no others; two labels of one line.
    box.write("known.bed", lines[0].rstrip("\n") + "\n" + "a\t20\t30\thigh0|rest\na\t40\t50\thigh0\na\t60\t70\trest\n")
    box.ok("learn -q --labels-known known.bed --max-iterations 2 -o n.json a.npy")
    check([label["name"] for label in json.loads(box.text("n.json"))["labels"]] == ["high0", "rest"], "labels")
    box.fails("learn -q --labels 1 --labels-known known.bed a.npy", (2,), "--labels-known")
    box.write("other.bed", "zzz\t0\t10\tx\n")
    box.fails("learn -q --labels 2 --labels-known other.bed a.npy", (3,), "other.bed")


def test_init_gets_durations(box):
    write_samples(box, bernoulli)
    box.ok("learn -q --precision double --labels 3 --duration geometric --max-iterations 20 -o g.json a.npy b.npy")
    geometric = log_z(box, "g.json")
    command = "learn -q --precision double --init g.json %s --stats s.json -o m.json a.npy b.npy"
    # The same law in another shape, at the first iteration.
    for options in ("", "--max-duration 9 --tail", "--max-duration 40 --tail --duration negative-binomial"):
        box.ok(command % ("--max-iterations 0 " + options))
        near(stats(box)["log_likelihood"][0], geometric, 1e-6, "the law reshaped by " + options)
    box.ok(command % "--max-iterations 10 --max-duration 25")
    model = json.loads(box.text("m.json"))
    check(model["max_duration"] == 25 and "tail" not in model["duration"], "the shape")
    check_rising(stats(box)["log_likelihood"])


def test_init_from_chromhmm(box):
    write_samples(box, bernoulli)
    box.ok("learn -q --labels 3 --duration geometric --max-iterations 20 -o g.json a.npy b.npy")
    box.ok("export chromhmm g.json -o model_3.txt")
    box.ok("learn -q --precision double --init chromhmm:model_3.txt --bin-size 1 --max-iterations 5 --stats s.json -o m.json a.npy b.npy")
    model = json.loads(box.text("m.json"))
    check(model["max_duration"] == 100 and "tail" in model["duration"], "the shape")
    check_rising(stats(box)["log_likelihood"])
    box.fails("learn --init chromhmm:none.txt a.npy", (3, 4), "none.txt")


def long_fit(inputs="a.npy b.npy", **changes):
    options = {"precision": "double", "labels": "3,4", "restarts": "2", "max-duration": "25", "max-iterations": "80", "tolerance": "0",
               "init": "random", "threads": "2", "output": "m.json"}
    options.update({name.replace("_", "-"): value for name, value in changes.items()})
    return ["learn"] + [word for name, value in options.items() for word in ("--" + name, value)] + inputs.split()


def started_fit(box, **changes):
    """A fit of four starts that has got some iterations far."""
    process = box.start(long_fit(**changes), stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "iteration 5:" in line:
            return process
    raise AssertionError("the fit ended by itself")


def test_a_stopped_fit_goes_on_to_the_same_bytes(box):
    write_samples(box, bernoulli)
    box.ok(long_fit(output="whole.json"))
    # Stopped by a signal: the file has what was done.
    process = started_fit(box, checkpoint="point", checkpoint_every="1000")
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    check(process.returncode == -signal.SIGTERM, "exit %d" % process.returncode)
    check("stopped by a signal; point has how far the fits are" in said, said[-500:])
    check(not box.path("m.json").exists(), "a model of a stopped fit")
    said = box.ok(long_fit(resume="point", threads="1")).stderr
    # Which of the fits had got far when the signal came is up to the machine.
    check("resumed after" in said and said.count(", iteration 1:") < 4, said)
    check(box.text("m.json") == box.text("whole.json"), "other bytes after a signal")
    # Killed: the file has the iterations before.
    process = started_fit(box, checkpoint="often", checkpoint_every="2")
    process.kill()
    process.communicate(timeout=60)
    box.ok(long_fit(output="killed.json", resume="often", checkpoint="often"))
    check(box.text("killed.json") == box.text("whole.json"), "other bytes after a kill")
    box.ok(long_fit(output="again.json", resume="often"))
    check(box.text("again.json") == box.text("whole.json"), "other bytes from a finished checkpoint")


def test_checkpoints_of_something_else(box):
    write_samples(box, bernoulli)
    few = {"labels": "2", "restarts": "1", "max_iterations": "3"}
    box.ok(long_fit(checkpoint="point", **few))
    for name, value in (("seed", "2"), ("max-duration", "26"), ("emission", "gaussian"), ("restarts", "3"), ("init", "kmeans"),
                        ("labels", "3"), ("precision", "float"), ("duration", "negative-binomial")):
        box.fails(long_fit(output="n.json", resume="point", **{**few, name: value}), 3, "point", "other data or options")
    box.fails(long_fit("a.npy", output="n.json", resume="point", **few), 3, "point", "other data or options")
    # A longer fit is the same one.
    box.ok(long_fit(output="n.json", resume="point", **{**few, "max_iterations": "7"}))
    box.ok(long_fit(output="whole.json", **{**few, "max_iterations": "7"}))
    check(box.text("n.json") == box.text("whole.json"), "a longer fit has other bytes")
    box.fails(long_fit(output="o.json", resume="absent", **few) + ["--resume-must-exist"], 4, "absent")
    box.fails(long_fit(output="o.json", **few) + ["--resume-must-exist"], 2, "--resume")
    box.fails(long_fit(output="o.json", checkpoint="a.npy", **few), 2, "a.npy")
    check("no checkpoint absent yet" in box.ok(long_fit(resume="absent", **few)).stderr, "no note")
    box.write("damaged", box.text("point")[:-3])
    box.fails(long_fit(output="o.json", resume="damaged", **few), 3, "damaged checkpoint")
    box.ok(["train", "--labels", box.write("l.bed", "a\t0\t300\tp\na\t300\t600\tq\n"), "--max-iterations", "1", "-o", "t.json", "--checkpoint",
            "trained", "--max-duration", "400", "a.npy"])
    box.fails(long_fit(output="o.json", resume="trained", **few), 3, "trained", "not a checkpoint")


def test_starts_side_by_side(box):
    """The number of threads decides how many, and changes nothing."""
    write_samples(box, gauss)
    command = "learn -q --precision double --labels 2,3 --restarts 3 --max-iterations 6 --max-duration 20 %s a.npy b.npy"
    box.ok(command % "-t 1 -o one.json")
    for threads in (2, 5):
        box.ok(command % ("-t %d -o more.json --stats s.json" % threads))
        check(box.text("one.json") == box.text("more.json"), "%d threads change the model" % threads)
    check(len(json.loads(box.text("one.json"))["training"]["fits"]) == 6, "fits")
    box.ok(command % "-t 2 --max-memory 64M -o more.json")
    check(box.text("one.json") == box.text("more.json"), "the memory changes the model")


def test_both_spellings_of_negative_binomial_are_one_law(box):
    draw = random.Random(5)
    box.write("x.npy", npy([[float(t // 9 % 2) + 0.1 * draw.random()] for t in range(400)]))
    models = []
    for law in ("negative-binomial", "negative_binomial", "table"):
        box.ok("learn -q --labels 2 --max-iterations 2 --max-duration 20 --duration %s -o m.json x.npy" % law)
        models.append(json.loads(box.text("m.json"))["duration"])
    check(models[0] == models[1] != models[2], "learn --duration negative_binomial is another law than negative-binomial")


def segment_lengths(box, path):
    rows = [line.split("\t") for line in box.text(path).splitlines() if not line.startswith("#")]
    return [int(row[2]) - int(row[1]) for row in rows]


def test_shortest_segments(box):
    write_samples(box, gauss)
    for law in ("table", "negative-binomial", "geometric"):
        box.ok("learn -q --precision double --labels 3 --emission gaussian --duration %s --min-duration 7 --max-iterations 5 -o m.json --stats s.json a.npy b.npy" % law)
        check_rising(stats(box)["log_likelihood"])
        near(stats(box)["log_likelihood"][-1], log_z(box, "m.json") - sum(math.log(track["scale"]) for track in json.loads(box.text("m.json"))["tracks"][:3]) * 2 * BINS, 1e-6, law)
        box.ok("decode -q -p m.json -o s.bed a.npy b.npy")
        found = segment_lengths(box, "s.bed")
        check(len(found) > 4 and min(found) >= 7, "%s: lengths %r" % (law, found))
    # A fit that goes on keeps what its table forbids; the law of durations may get a shortest one, too.
    box.ok("learn -q --labels 3 --emission gaussian --max-iterations 2 --max-duration 30 --tail -o free.json a.npy b.npy")
    box.ok("learn -q --init free.json --min-duration 9 --max-iterations 2 -o m.json a.npy b.npy")
    box.ok("learn -q --init m.json --max-iterations 2 -o m2.json a.npy b.npy")
    box.ok("decode -q -p m2.json -o s.bed a.npy b.npy")
    check(min(segment_lengths(box, "s.bed")) >= 9, "lengths %r" % segment_lengths(box, "s.bed"))
    # Labels that have names may have one of their own.
    names = [label["name"] for label in json.loads(box.text("free.json"))["labels"]]
    box.ok("learn -q --init free.json --min-duration 3 --min-duration %s=12 --max-iterations 2 -o own.json a.npy b.npy" % names[1])
    table = json.loads(box.text("own.json"))["duration"]["bias"]
    check([next(k + 1 for k, row in enumerate(table) if row[c] != "-inf") for c in range(3)] == [3, 12, 3], "%r" % table[:12])
    box.ok("decode -q -p own.json -o s.bed a.npy b.npy")
    rows = [line.split("\t") for line in box.text("s.bed").splitlines() if not line.startswith("#")]
    check(min(int(row[2]) - int(row[1]) for row in rows if row[3] == names[1]) >= 12, "%r" % rows)
    box.fails("learn -q --init free.json --min-duration nobody=3 -o m.json a.npy", (2,), "there is no such label")
    box.fails("learn -q --labels 3 --min-duration 2=3 -o m.json a.npy", (2,), "labels have no names before they are learned")
    box.fails("learn -q --labels 3 --min-duration 0 -o m.json a.npy", (2,), "is no number of bins")
    box.fails("learn -q --labels 3 --min-duration 601 --max-duration 700 -o m.json a.npy", (3,), "this piece has 600 bins, fewer than the shortest segment")
    box.fails("learn -q --labels 3 --min-duration 9 --max-duration 8 -o m.json a.npy", (2,), "--min-duration 9 is more than the longest duration, 8 bins")


def test_ranges_of_labels(box):
    write_samples(box, bernoulli)
    box.ok("learn -q --labels 2..4 --max-iterations 3 -o range.json a.npy b.npy")
    box.ok("learn -q --labels 2,3,4 --max-iterations 3 -o list.json a.npy b.npy")
    check(box.text("range.json") == box.text("list.json"), "a range is the list of its numbers")
    check([fit["labels"] for fit in json.loads(box.text("range.json"))["training"]["fits"]] == [2, 3, 4], "numbers of labels")
    for text, what in (("4..2", "ends before it begins"), ("x", "is no number of labels"), ("2..", "is no number of labels"), ("0", "is no number of labels"), ("2..201", "is no number of labels")):
        box.fails("learn -q --labels %s -o m.json a.npy" % text, (2,), what)


def test_rare_labels_are_named(box):
    rng = random.Random(4)
    rows = [[rng.gauss(0.0, 1.0)] for _ in range(12000)]
    for t in range(5000, 5006):
        rows[t][0] += 60.0
    box.write("a.npy", npy(rows))
    run = box.ok("learn --labels 2 --emission gaussian --duration geometric --transform none --max-iterations 20 -o m.json --stats s.json a.npy")
    warnings = [warning for warning in stats(box)["warnings"] if warning["code"] == "rare-label"]
    check(len(warnings) == 1 and "label '2' (0.05 %)" in warnings[0]["message"].replace('"', "'"), "warnings %r" % stats(box)["warnings"])
