"""Looking at models and changing them by hand: info and edit."""

import json
import math
import random

import make_inputs
from harness import bed_rows, check
from make_inputs import parameters

TRACKS = ["codon_fwd%d.bw" % i for i in range(3)] + ["codon_rev%d.bw" % i for i in range(3)]


def trained(box, name="trained.json"):
    box.ok(["train", "-q", "-x", "cpu", "--labels", "genes.bed", "-b", "3", "--max-iterations", "4", "--margin", "0.1",
            "-o", name] + TRACKS)
    return name


def names(box, path):
    return [label if isinstance(label, str) else label["name"] for label in json.loads(box.text(path))["labels"]]


def test_info_shows_durations_as_users_see_them(box):
    """The training labels' and the decoded durations beside those of the scores, in bases too."""
    text = box.ok(["info", trained(box)]).stdout
    record = json.loads(box.text("trained.json"))["training"]
    lengths = {}
    for row in bed_rows(box.text("genes.bed")):
        lengths.setdefault(row[3], []).append((int(row[2]) - int(row[1])) // 3)
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ") and line.split()}
    for label, bins in lengths.items():
        seen = record["durations"][label]["training"]
        check(seen["segments"] == len(bins), "%s: %r, expected %d segments" % (label, seen, len(bins)))
        check(abs(seen["mean"] - sum(bins) / len(bins)) < 1e-9, "mean of %s: %r" % (label, seen))
        check(seen["q05"] <= seen["median"] <= seen["q95"], "quantiles of %s: %r" % (label, seen))
        mean = sum(bins) / len(bins)
        check("%.1f (%.0f)" % (mean, 3 * mean) in text, "the mean of %s is not shown:\n%s" % (label, text))
    truth = bed_rows(box.text("genes.bed"))
    region = "%s:%d-%s" % (truth[0][0], int(truth[0][1]) + 1, truth[-1][2])
    box.ok(["decode", "-q", "-p", "trained.json", "-r", region, "-o", "out.bed"] + TRACKS)
    for label in lengths:
        found = sum(row[3] == label for row in bed_rows(box.text("out.bed")))
        check(record["durations"][label]["decoded"]["segments"] == found, "decoded segments of %s" % label)
    check("training: segments" in text and "scores alone: mean" in text and lines, text)


def test_info_says_what_calibration_means(box):
    text = box.ok(["info", trained(box)]).stdout
    scale = json.loads(box.text("trained.json"))["training"]["scale"]
    check("Calibration: " in text and "%.6g" % scale in text and "semicrf edit --duration" in text, text)
    check("Calibration" not in box.ok("info scores.params.json").stdout, "a model that was not calibrated")


def test_a_training_section_of_another_program_is_left_alone(box):
    for section in ({"durations": 3, "scale": "x"}, {"durations": {"low": [], "mid": {"training": {"mean": -1}}}}, {}):
        parameters(box, "other.json", training=section)
        check("training section: present" in box.ok("info other.json").stdout, "%r" % section)


def test_info_prints_transitions_and_weights_with_names(box):
    model = json.loads(box.text("demo.params.json"))
    text = box.ok("info --transitions demo.params.json").stdout.splitlines()
    labels = names(box, "demo.params.json")
    check(text[1].split()[3:] == labels, "columns %r" % text[1])
    for line, label, scores in zip(text[2:], labels, model["transition"]):
        shown = ["-" if score == "-inf" else "%.6g" % float(score) for score in scores]
        check(line.split() == [label] + shown, "row %r" % line)
    text = box.ok("info --weights demo.params.json").stdout
    head = next(line.split() for line in text.splitlines() if line.startswith("  label"))
    check(head[:2] == ["label", "bias"] and head[2:] == [track["name"] for track in model["tracks"]], "%r" % head)
    check(all("%.6g" % weight in text for row in model["emission"]["weights"] for weight in row), text)
    both = box.ok("info --weights --transitions demo.params.json").stdout
    check("transition scores" in both and "emission weights" in both, both)
    check("none" in box.ok("info --weights scores.params.json").stdout, "label scores have no weights")
    box.fails("info --weights scores.params.json demo.params.json", 2, "--weights")
    box.fails("info --weights scores.npy", 3, "scores.npy")


def test_info_lists_what_differs(box):
    check(box.ok("info scores.params.json scores.params.json").stdout == "no differences\n", "one file")
    model = json.loads(box.text("scores.params.json"))
    transition = model["transition"]
    first, second = names(box, "scores.params.json")[:2]
    transition[0][1] += 0.5
    parameters(box, "other.json", transition=transition, bin_size=20)
    lines = box.ok("info scores.params.json other.json").stdout.splitlines()
    check("bin size: 10 -> 20" in lines, "%r" % lines)
    found = [line for line in lines if line.startswith("transitions: 1 of 9 differ")]
    check(len(found) == 1 and "%s to %s" % (first, second) in found[0], "%r" % lines)
    lines = box.ok("info scores.params.json demo.params.json").stdout
    check("labels only in the first: " in lines and "tracks only in the second: " in lines, lines)
    box.fails("info scores.params.json demo.params.json scores.params.json", 2, "")


def test_edit_forbids_transitions(box):
    labels = names(box, "scores.params.json")
    path = [row[3] for row in bed_rows(box.ok("decode -p scores.params.json scores.npy").stdout)]
    pairs = [pair for pair in zip(path, path[1:])]
    forbidden = max(set(pairs), key=pairs.count)
    box.ok(["edit", "scores.params.json", "--forbid", ",".join(forbidden), "-o", "edited.json"])
    model = json.loads(box.text("edited.json"))
    check(model["transition"][labels.index(forbidden[0])][labels.index(forbidden[1])] == "-inf", "not forbidden")
    check(model["training"]["edited"] == ["--forbid " + ",".join(forbidden)], "%r" % model["training"])
    path = [row[3] for row in bed_rows(box.ok("decode -p edited.json scores.npy").stdout)]
    check(forbidden not in list(zip(path, path[1:])), "still there")
    check("edited after training" in box.ok("info edited.json").stdout, "info does not say it")
    box.fails("edit scores.params.json --forbid low,nothing", 2, "nothing", ", ".join(labels))
    box.fails("edit scores.params.json --forbid low", 2, "FROM,TO")
    others = ["--forbid=%s,%s" % (labels[0], to) for to in labels]
    box.fails(["edit", "scores.params.json"] + others, 2, "no label could follow " + labels[0])


def test_edit_sets_shortest_durations(box):
    rows = bed_rows(box.ok("decode -p scores.params.json scores.npy").stdout)
    label = min(rows, key=lambda row: int(row[2]) - int(row[1]))[3]
    box.ok(["edit", "scores.params.json", "--min-duration", label + "=4", "-o", "edited.json"])
    for row in bed_rows(box.ok("decode -p edited.json scores.npy").stdout):
        check(row[3] != label or int(row[2]) - int(row[1]) >= 40, "%r" % row)
    box.fails("edit scores.params.json --min-duration %s=0" % label, 2, "must be 1 or more")
    box.fails("edit scores.params.json --min-duration %s=100000" % label, 2, "the longest duration of the model")
    box.fails("edit scores.params.json --min-duration %s=x" % label, 2, "not a number of bins")


def test_edit_gives_one_label_another_law(box):
    """Laws may differ from label to label: a table is made. NB: mean 12, of k - 1."""
    label = names(box, "scores.params.json")[1]
    box.ok(["edit", "scores.params.json", "--duration", label + "=negative-binomial:r=2,mean=12", "-o", "edited.json"])
    before, after = (json.loads(box.text(name)) for name in ("scores.params.json", "edited.json"))
    check(after["duration"]["kind"] == "table", "%r" % after["duration"]["kind"])
    r, p = 2, 2 / (2 + 12 - 1)
    for k, row in enumerate(after["duration"]["bias"], 1):
        law = math.lgamma(k + r - 1) - math.lgamma(r) - math.lgamma(k) + r * math.log(p) + (k - 1) * math.log(1 - p)
        check(abs(row[1] - law) < 1e-9, "duration %d: %g, expected %g" % (k, row[1], law))
        if before["duration"]["kind"] == "table":
            check(row[0] == before["duration"]["bias"][k - 1][0], "another label changed")
    box.ok("decode -p edited.json -o out.bed scores.npy")


def test_edit_follows_calibration(box):
    """The logarithms of a law by hand are multiplied as the others were."""
    trained(box)
    scale = json.loads(box.text("trained.json"))["training"]["scale"]
    for more, factor in ([], scale), (["--scale", "1"], 1), (["--scale", "0.5"], 0.5):
        box.ok(["edit", "trained.json", "--duration", "intron=geometric:mean=20", "-o", "edited.json"] + more)
        model = json.loads(box.text("edited.json"))
        c = names(box, "edited.json").index("intron")
        for k in (1, 2, 30):
            law = factor * (math.log(1 / 20) + (k - 1) * math.log(19 / 20))
            found = float(model["duration"]["bias"][k - 1][c])
            check(abs(found - law) < 1e-9, "duration %d: %g, expected %g" % (k, found, law))
        check(abs(model["duration"]["tail"][c] - (19 / 20) ** factor) < 1e-12, "tail %r" % model["duration"]["tail"])
    check("files" in model["training"] and "edited" in model["training"], "the record of the training is lost")


def test_edit_keeps_the_kind_where_it_can(box):
    box.ok("info --template -L off,on -T x")
    box.write("t.json", box.ok("info --template -L off,on -T x").stdout)
    box.ok("edit t.json --duration on=geometric:p=0.25 -o edited.json")
    duration = json.loads(box.text("edited.json"))["duration"]
    check(duration["kind"] == "geometric" and duration["p"] == [0.05, 0.25], "%r" % duration)
    check(duration["tail"] == ["continue", "continue"], "%r" % duration)


def test_edit_refuses_what_it_does_not_understand(box):
    box.fails("edit scores.params.json", 2, "--forbid")
    box.fails("edit scores.params.json --forbid low,mid -o scores.params.json", 2, "scores.params.json")
    label = names(box, "scores.params.json")[0]
    for law, what in (("weibull:k=1", "does not begin with a kind of law"), ("geometric:q=0.5", "lacks p"),
                      ("geometric:p=2", "below 1"), ("geometric:p=0.5,p=0.5", "given twice"),
                      ("geometric:p=0.5,r=1", "not a parameter"), ("geometric:mean=1", "more than 1 bin"),
                      ("geometric:mean=x", "not a number"), ("geometric:mean", "not NAME=VALUE"),
                      ("table", "does not begin with a kind of law"), ("poisson:lambda=-1", "above 0")):
        box.fails(["edit", "scores.params.json", "--duration", label + "=" + law], 2, what)
    box.fails("edit scores.params.json --duration nothing=uniform", 2, "nothing")


def test_edit_writes_no_numbers_that_are_refused(box):
    """Numbers inside a text are checked as those of options are; what they make is a file that can be read."""
    label = names(box, "scores.params.json")[0]
    for number in ("nan", "NaN", "-nan", "inf", "-inf", "infinity", "1e999", "-1e999", "0x10", "1e", "", "+5", "5 ", "1,5"):
        for law in ("geometric:mean=%s", "geometric:p=%s", "poisson:lambda=%s", "negative_binomial:r=%s,mean=3", "negative_binomial:r=2,mean=%s"):
            if number != "+5" or "r=" not in law:
                box.fails(["edit", "scores.params.json", "-o", "n.json", "--duration", label + "=" + law % number], 2, "--duration")
        for option in ("--min-duration", ):
            box.fails(["edit", "scores.params.json", "-o", "n.json", option, label + "=" + number], 2, option)
    for law, scale in (("poisson:lambda=9e29", "1e5"), ("geometric:mean=1e300", "1e300"), ("negative_binomial:r=9e29,p=0.5", "10")):
        box.fails(["edit", "scores.params.json", "-o", "n.json", "--duration", label + "=" + law, "--scale", scale], 2, "at most 1e30")
    for law in ("poisson:lambda=9e29", "geometric:mean=1e300", "negative_binomial:r=1e-300,p=1e-300", "negative_binomial:r=2,mean=1e308"):
        box.ok(["edit", "scores.params.json", "-o", "n.json", "--duration", label + "=" + law])
        box.ok("info n.json")


def test_edit_takes_the_sample_out_of_names_of_tracks(box):
    model = json.loads(box.text("demo.params.json"))
    for track in model["tracks"]:
        track["name"] = "K562." + track["name"]
    box.write("sample.json", json.dumps(model))
    box.fails(["decode", "-p", "sample.json"] + TRACKS, 3, "semicrf edit --drop-track-prefix")
    looped = box.run(["decode", "-p", "sample.json", "--track-pattern", "{track}.bw"] + TRACKS).stderr
    check("semicrf edit --drop-track-prefix" in looped and "or all files at once" not in looped, looped)
    box.ok("edit sample.json --drop-track-prefix K562. -o plain.json")
    found = box.ok(["decode", "-q", "-p", "plain.json"] + TRACKS).stdout
    check(bed_rows(found) == bed_rows(box.ok(["decode", "-q", "-p", "demo.params.json"] + TRACKS).stdout), "segments")
    box.ok("edit demo.params.json --rename-track codon_fwd0=first -o other.json")
    check(json.loads(box.text("other.json"))["tracks"][0]["name"] == "first", "not renamed")
    box.fails("edit sample.json --drop-track-prefix K56 --drop-track-prefix x", 2, "")
    box.fails("edit demo.params.json --drop-track-prefix K562.", 2, "does not begin with 'K562.'")
    box.fails("edit demo.params.json --rename-track nothing=x", 2, "not a track of the model")
    box.fails("edit demo.params.json --rename-track codon_fwd0=codon_fwd1", 2, "already has a track")
    box.fails("edit demo.params.json --rename-track codon_fwd0", 2, "OLD=NEW")


def rich_model(box):
    """A model with something different in every place that has a number per label, and a training record."""
    labels = [{"name": "a"}, {"name": "b,c", "color": "#102030"}, {"name": "c"}, {"name": "d=e"}]
    four = range(4)
    document = {"format": "semicrf-params", "format_version": "1.0", "labels": labels, "max_duration": 6, "bin_size": 10,
                "centering": "mean", "initial": "uniform",
                "transition": [["-inf" if i == j else round(-0.3 * i - 0.17 * j * j, 3) for j in four] for i in four],
                "duration": {"kind": "negative_binomial", "r": [1.5, 2.0, 2.5, 3.0], "p": [0.2, 0.3, 0.4, 0.5],
                             "tail": [0.8, None, 0.7, 0.6]},
                "start": [0.1, 0.2, 0.3, 0.4], "end": [-0.1, -0.2, -0.3, -0.4],
                "tracks": [{"name": "x"}, {"name": "y", "transform": "asinh"}],
                "emission": {"weights": [[-1.5, 0.3], [1.25, -0.5], [0.25, 6.5], [-0.75, -7.0]], "bias": [0.5, -0.2, -0.4, 0.9]},
                "boundary": {"window": [-1, 0], "start_weights": [[0.1 * i + 0.01 * j for j in four] for i in four],
                             "start_bias": [0.01, 0.02, 0.03, 0.04], "end_weights": [[-0.07 * i + 0.02 * j for j in four] for i in four],
                             "end_bias": [0.4, 0.3, 0.2, 0.1]},
                "training": {"program": "semicrf train", "options": {"background": "a"}, "scale": 0.5,
                             "durations": {label["name"]: {kind: {"segments": i + 2, "mean": 3.0 + i, "q05": 1, "median": 3, "q95": 5}
                                                           for kind in ("training", "decoded")} for i, label in enumerate(labels)}}}
    box.write("rich.json", json.dumps(document))
    rng = random.Random(77)
    for name in ("x", "y"):
        box.write(name + ".npy", make_inputs.npy([[rng.gauss(0, 2)] for _ in range(400)]))
    box.write("t.npy", make_inputs.npy([[rng.gauss(0, 2), rng.random() * 3] for _ in range(400)]))
    return document


def without_edits(text):
    document = json.loads(text)
    document["training"].pop("edited")
    return document


def test_edit_labels_keeps_segments(box):
    """Whatever the names and the order of labels, the same segments with the same probabilities."""
    document = rich_model(box)
    old = [label["name"] for label in document["labels"]]
    box.ok(["edit", "rich.json", "--color", "a=#0000ff", "-o", "base.json"])
    decode = "decode -q --table t.tsv -p %s -o o.bed t.npy"
    box.ok(decode % "base.json")
    segments, table = bed_rows(box.text("o.bed")), bed_rows(box.text("t.tsv"))
    check({row[3] for row in segments} == set(old), "labels that never occur: %r" % {row[3] for row in segments})
    rng = random.Random(78)
    for _ in range(12):
        new = old + ["new", "b"]
        rng.shuffle(new)
        new = new[:4]
        order = list(range(4))
        rng.shuffle(order)
        options = ["--rename-label=%s=%s" % pair for pair in zip(old, new) if pair[0] != pair[1]]
        rng.shuffle(options)
        options += ["--label-order", ",".join(new[i] for i in order)]
        box.ok(["edit", "base.json", "-o", "edited.json"] + options)
        box.ok(decode % "edited.json")
        renamed = dict(zip(old, new))
        found = bed_rows(box.text("o.bed"))
        check([row[:3] + row[4:8] for row in found] == [row[:3] + row[4:8] for row in segments], "other segments with %r" % options)
        check([row[3] for row in found] == [renamed[row[3]] for row in segments], "other labels with %r" % options)
        for left, right in zip(bed_rows(box.text("t.tsv")), table):
            check(left[3] == renamed[right[3]], "%r, %r" % (left, right))
            check(all(abs(float(x) - float(y)) < 1e-5 for x, y in zip(left[4:], right[4:])), "%r, %r" % (left, right))
        edited = json.loads(box.text("edited.json"))
        check([label["name"] for label in edited["labels"]] == [new[i] for i in order], "%r" % edited["labels"])
        by_name = {label["name"]: label.get("color") for label in edited["labels"]}
        check((by_name[renamed["a"]], by_name[renamed["b,c"]]) == ("#0000ff", "#102030"), "%r" % by_name)
        durations = edited["training"]["durations"]
        check({renamed[name]: seen for name, seen in document["training"]["durations"].items()} == durations, "%r" % durations)
        check(edited["training"]["options"] == {"background": "a"}, "history was changed")
        check(len(edited["training"]["edited"]) == len(options) - 1 + 1, "%r" % edited["training"]["edited"])
        # And back, to the same file but for its history.
        back = ["--rename-label=%s=%s" % pair for pair in zip(new, old) if pair[0] != pair[1]] + ["--label-order", ",".join(old)]
        box.ok(["edit", "edited.json", "-o", "back.json"] + back)
        lines = [[line for line in box.text(name).splitlines() if '"training"' not in line] for name in ("base.json", "back.json")]
        check(lines[0] == lines[1], "%r" % [pair for pair in zip(*lines) if pair[0] != pair[1]])
        check(without_edits(box.text("base.json")) == without_edits(box.text("back.json")), "the record of the training")


def test_edit_label_order_of_every_kind_of_durations(box):
    for kind in ({"kind": "table", "bias": [[-0.1 * k * (c + 1) for c in range(3)] for k in range(5)]}, {"kind": "uniform"},
                 {"kind": "geometric", "p": [0.2, 0.3, 0.4], "tail": "continue"}, {"kind": "poisson", "lambda": [2, 3, 4], "tail": [None, None, 0.5]}):
        longest = 5 if kind["kind"] == "table" else 8
        make_inputs.parameters(box, "m.json", duration=kind, max_duration=longest)
        labels = names(box, "m.json")
        order = [2, 0, 1]
        box.write("s.npy", make_inputs.npy([[math.sin(i * (c + 1.3)) * 2 for c in range(3)] for i in range(200)]))
        box.write("r.npy", make_inputs.npy([[math.sin(i * (c + 1.3)) * 2 for c in order] for i in range(200)]))
        said = box.ok(["edit", "m.json", "--label-order", ",".join(labels[c] for c in order), "-o", "n.json"]).stderr
        check("[label-columns]" in said and ", ".join(labels[c] for c in order) in said and said.count("\n") == 1, said)
        before, after = (bed_rows(box.ok("decode -q -p %s c=%s" % pair).stdout) for pair in (("m.json", "s.npy"), ("n.json", "r.npy")))
        check([row[:8] for row in before] == [row[:8] for row in after] and len(before) > 20, "%s: other segments" % kind["kind"])


def test_edit_labels_refuses(box):
    rich_model(box)
    for option, code, part in (("--rename-label=a=c", 2, "two labels would be called 'c'"), ("--rename-label=z=y", 2, "'z' is not a label"),
                               ("--rename-label=a", 2, "LABEL=VALUE"), ("--rename-label=a=", 2, "must not be empty"),
                               ("--rename-label=a=x\ty", 2, "control"), ("--rename-label=a=\udcff", 2, "UTF-8"),
                               ("--color=a=red", 2, "'red'"), ("--color=a=#12345", 2, "'#12345'"), ("--color=a=#12345g", 2, "'#12345g'"),
                               ("--color=q=#123456", 2, "'q' is not a label"), ("--color=a", 2, "LABEL=VALUE"),
                               ("--label-order=a,c", 2, "'b,c' is not in the list"), ("--label-order=a,a,b,c,c,d=e", 2, "'a' is given twice"),
                               ("--label-order=a,x,b,c,c,d=e", 2, "'x' is not a label"), ("--label-order=", 2, "--label-order"),
                               ("--label-order=a,b,c,c,d=e,", 2, "'' is not a label")):
        box.fails(["edit", "rich.json", "-o", "n.json", option], code, part)
    box.fails("edit rich.json -o n.json --rename-label a=x --rename-label a=y", 2, "renamed twice")
    box.fails("edit rich.json -o n.json --rename-label a=x --rename-label c=x", 2, "two labels would be called 'x'")
    box.fails("edit rich.json -o n.json --rename-label a=x --color a=#123456", 2, "'a' is not a label", "x")
    box.ok("edit rich.json -o n.json --rename-label a=x --color x=#A0b0C0 --forbid x,c --min-duration x=2")
    document = json.loads(box.text("n.json"))
    check(document["labels"][0] == {"name": "x", "color": "#a0b0c0"} and document["transition"][0][2] == "-inf", "%r" % document["labels"])
    box.ok(["edit", "rich.json", "-o", "n.json", "--rename-label", "d=e=f=g"])
    check(names(box, "n.json")[3] == "f=g", "%r" % names(box, "n.json"))
