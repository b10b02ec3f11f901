"""Training: what comes out of it, stopping and going on, and labels that do not fit."""

import json
import math
import os
import random
import signal
import subprocess
import time

import make_inputs
from harness import Skip, check
from make_inputs import npy

try:
    import pycrfsuite
except ImportError:
    pycrfsuite = None

TRACKS = ["codon_%s%d.bw" % (strand, frame) for strand in ("fwd", "rev") for frame in range(3)]
SMALL = ["--max-duration", "60", "--tail", "--margin", "0", "-b", "3", "--labels", "genes.bed"]
QUICK = SMALL + ["--max-iterations", "5"]


def train(box, output, *options, tracks=TRACKS, base=tuple(QUICK)):
    return box.ok(["train"] + list(base) + ["-o", output] + list(options) + tracks)


def load(box, name):
    return json.loads(box.text(name))


def toy(box, labels=None, length=400):
    """A track of runs of 0 and 3 over chrA, and the labels that go with it."""
    make_inputs.bigwig_track(box, "signal.bw", chromosomes={"chrA": length})
    if labels is None:
        runs = [(i, min(i + 70, length)) for i in range(0, length, 70)]
        labels = "".join("chrA\t%d\t%d\t%s\n" % (a, b, "on" if n % 2 else "off") for n, (a, b) in enumerate(runs))
    box.write("labels.bed", labels)
    return ["train", "--labels", "labels.bed", "-b", "10", "--max-duration", "20", "--margin", "0", "-o", "out.json", "signal.bw"]


def test_help_names_every_option(box):
    text = box.ok("train --help-all").stdout
    for option in ("--labels", "--init", "--max-duration", "--tail", "--val-region", "--boundary-window", "--bin-size",
                   "--centering", "--duration", "--freeze", "--l2", "--smoothness", "--optimizer", "--max-iterations",
                   "--checkpoint", "--resume", "--seed", "--output", "--region", "--regions-file", "--exclude",
                   "--chrom-sizes", "--threads", "--device", "--precision", "--max-memory", "--dry-run", "--stats",
                   "--progress", "--log-file", "--background", "--checkpoint-every", "--resume-must-exist"):
        check(option in text, "no %s in train --help" % option)


def test_parameters_can_be_used_and_say_where_they_come_from(box):
    result = train(box, "out.json", "--stats", "stats.json")
    check(result.stderr.count(": NLL ") == 5, "not one line per iteration\n%s" % result)
    document = load(box, "out.json")
    check(document["centering"] == "none" and document["bin_size"] == 3, "%s" % document.keys())
    made = document["training"]
    check(made["iterations"] == 5 and made["converged"] is False, "%s" % made)
    check(made["positions"] == 10000 and made["segments"] == 49, "%s" % made)
    check(made["nll_per_position"] > 0 and "validation_nll_per_position" not in made, "%s" % made)
    check({"labels", "track"} == {entry["role"] for entry in made["files"]}, "%s" % made)
    check(all(len(entry["sha256"]) == 64 and "/" not in entry["name"] for entry in made["files"]), "%s" % made)
    check(load(box, "stats.json")["sequences"][0]["covered"] == 10000, "the statistics are wrong")
    box.ok("info out.json")
    box.ok(["decode", "-p", "out.json", "-o", "out.bed"] + TRACKS)


def test_the_order_of_the_tracks_on_the_command_line_is_theirs(box):
    train(box, "out.json", tracks=TRACKS[::-1])
    names = [track["name"] for track in load(box, "out.json")["tracks"]]
    check(names == [name[:-3] for name in TRACKS[::-1]], "%s" % names)


def test_same_bytes_for_any_number_of_threads(box):
    for options in ([], ["--boundary-window", "-2,2"], ["--centering", "mean"], ["--duration", "geometric"],
                    ["--optimizer", "adamw", "--window", "500", "--seed", "3"]):
        train(box, "one.json", "-t", "1", *options)
        train(box, "two.json", "-t", "2", *options)
        check(box.text("one.json") == box.text("two.json"), "differs with %s" % options)


def test_what_is_chosen_where_nothing_is_said(box):
    few = ["--labels", "genes.bed", "-b", "3", "--max-iterations", "3"]
    train(box, "out.json", "--precision", "double", base=few)
    chosen = load(box, "out.json")
    check(chosen["boundary"]["window"] == [-2, 2], "%s" % chosen["boundary"]["window"])
    check(abs(float(chosen["training"]["options"]["margin"]) - 16 * 49 / 10000) < 1e-12, "%s" % chosen["training"])
    check(0.125 < chosen["training"]["scale"] < 8, "%s" % chosen["training"])
    # What is written down is the likelihood of the parameters as they are written.
    box.ok(["eval", "--truth", "genes.bed", "-p", "out.json", "--precision", "double", "--json", "eval.json", "genes.bed"] + TRACKS)
    truth = load(box, "eval.json")["model"]["truth"]["log_likelihood_per_position"]
    check(math.isclose(truth, -chosen["training"]["nll_per_position"], rel_tol=1e-7), "%r" % truth)
    train(box, "out.json", "--max-duration", "60", "--tail", base=few)
    given = load(box, "out.json")
    check(given["max_duration"] == 60 and given["boundary"]["window"] == [-2, 2], "K alone is given")
    check(given["training"]["options"]["margin"] == chosen["training"]["options"]["margin"], "K alone is given")
    for options in (["--max-duration", "1"], ["--duration", "geometric"], ["--boundary-window", "none", "--margin", "0"]):
        train(box, "out.json", *options, base=few)
        plain = load(box, "out.json")
        check("boundary" not in plain and "margin" not in plain["training"]["options"], "%s" % options)
        check("scale" not in plain["training"], "%s" % options)
    for margin in ("-1", "nan", "much", "1x"):
        box.fails(["train", "--margin=" + margin] + few + ["-o", "out.json"] + TRACKS, 2, "--margin")


def sparse_peaks(box):
    """A track of 40,000 bases with peaks of 60 to 130 bases, far apart, and the list of the peaks."""
    rng, values, lines, at = random.Random(5), [0.3] * 4000, [], 150
    while at + 13 < 4000:
        bins = rng.randint(6, 13)
        values[at:at + bins] = [1.4] * bins
        lines.append("chrA\t%d\t%d\tpeak\n" % (10 * at, 10 * (at + bins)))
        at += bins + rng.randint(40, 300)
    signal = [round(abs(value + rng.gauss(0, 0.45)), 3) for value in values]
    make_inputs.bigwig_track(box, "signal.bw", {"chrA": 40000}, make_inputs.bigwig.fixed_step("chrA", 0, 10, signal))
    box.write("peaks.bed", "".join(lines))
    return lines


def test_peaks_from_one_list(box):
    """K and the margin are those of the peaks, not of the gaps between them; so are they where K is given."""
    lines = sparse_peaks(box)
    train_them = ["train", "-b", "10", "--background", "none", "--labels", "peaks.bed", "-o", "p.json", "signal.bw"]
    box.ok(train_them)
    model = load(box, "p.json")
    check(model["labels"][1] == {"name": "none", "color": "#e0e0e0"}, "the background is not pale: %r" % model["labels"])
    bins = [(int(line.split()[2]) - int(line.split()[1])) // 10 for line in lines]
    check(model["max_duration"] == max(bins) and model["boundary"]["window"] == [-2, 2], "K %d" % model["max_duration"])
    check(abs(float(model["training"]["options"]["margin"]) - 16 * len(bins) / sum(bins)) < 1e-12, "%s" % model["training"])
    check([track.get("square_of") for track in model["tracks"]] == [None, "signal"], "%r" % model["tracks"])
    box.ok("decode -p p.json -o p.bed signal.bw")
    box.ok("eval --background none --truth peaks.bed --json e.json p.bed")
    score = [row["segments"]["overlap"]["f1"] for row in load(box, "e.json")["labels"] if row["name"] == "peak"][0]
    check(score > 0.75, "F1 %r" % score)
    box.ok(train_them + ["--max-duration", "15"])  # the gaps are longer, and need no --tail
    model = load(box, "p.json")
    check(model["duration"]["tail"][0] is None and 0 < model["duration"]["tail"][1] < 1, "%r" % model["duration"]["tail"])
    check("boundary" in model and "margin" in model["training"]["options"], "K given drops heads or margin")


def test_validation_regions_are_left_out_of_the_training(box):
    train(box, "out.json", "--val-region", "III:113001-120360", "--freeze", "transition,duration")
    made = load(box, "out.json")["training"]
    check(made["positions"] + made["validation_positions"] == 10000, "%s" % made)
    check(made["validation_nll_per_position"] > 0, "%s" % made)
    check(made["options"]["val-region"] == "III:113001-120360", "%s" % made)


def test_seed_changes_what_adamw_does(box):
    for seed in "12":
        train(box, seed + ".json", "--optimizer", "adamw", "--window", "500", "--seed", seed)
    check(load(box, "1.json")["emission"] != load(box, "2.json")["emission"], "the seed has no effect")


def test_schedules_of_adamw(box):
    found = {}
    for name, options in (("linear", []), ("cosine", ["--schedule", "cosine"]), ("warm", ["--warm-up", "20"]),
                          ("clip", ["--clip-norm", "0.001"]), ("constant", ["--schedule", "constant"])):
        train(box, name + ".json", "--optimizer", "adamw", "--window", "500", *options)
        found[name] = load(box, name + ".json")
    for name in found:
        check(name == "linear" or found[name]["emission"] != found["linear"]["emission"], name + " has no effect")
    check(found["cosine"]["training"]["options"]["schedule"] == "cosine", "the record of the schedule")


def test_frozen_parts_stay_as_they_are(box):
    train(box, "first.json")
    base = ["--labels", "genes.bed", "--init", "first.json", "--max-iterations", "3"]
    parts = {"transition": "transition", "duration": "duration", "start": "start", "end": "end", "emission": "emission"}
    before = load(box, "first.json")
    for part, key in parts.items():
        options = ["--freeze", part] + (["--freeze", "tail"] if part == "duration" else [])
        train(box, "next.json", *options, base=tuple(base))
        after = load(box, "next.json")
        check(after.get(key) == before.get(key), "%s moved" % part)
        check(after["transition"] != before["transition"] or part == "transition", "nothing else moved")
    train(box, "next.json", "--freeze", ",".join(list(parts) + ["tail", "boundary"]), base=tuple(base))
    after = load(box, "next.json")
    check(after["training"]["stopped_because"] == "there is no free parameter", "%s" % after["training"])
    check({k: v for k, v in after.items() if k != "training"} == {k: v for k, v in before.items() if k != "training"},
          "something moved")
    box.fails(["train", "--freeze", "transitions"] + QUICK + TRACKS, 2, "transition")


def test_linear_chain(box):
    arguments = toy(box)
    arguments[arguments.index("20")] = "1"
    box.ok(arguments)
    document = load(box, "out.json")
    check(document["max_duration"] == 1 and document["transition"][0][0] != "-inf", "%s" % document)
    check(document["training"]["segments"] == 40, "%s" % document["training"])


def test_dry_run_writes_nothing(box):
    result = box.ok(["train", "--dry-run"] + QUICK + ["-o", "out.json"] + TRACKS)
    check("10000 bins, 49 segments" in result.stdout and "out.json" not in box.listing(), "%s" % result)


def wait_for(condition, process):
    for _ in range(3000):
        if condition() or process.poll() is not None:
            return
        time.sleep(0.02)


def test_a_killed_run_goes_on_to_the_same_bytes(box):
    box.write("few.bed", "".join(line + "\n" for line in box.text("genes.bed").splitlines()[:11]))
    long_run = SMALL[:-1] + ["few.bed", "--tolerance", "0", "--max-iterations", "400", "-q"]
    box.ok(["train", "-o", "whole.json"] + long_run + TRACKS)
    process = box.start(["train", "-o", "killed.json", "--checkpoint", "point"] + long_run + TRACKS)
    wait_for(lambda: box.path("point").exists(), process)
    process.send_signal(signal.SIGKILL)
    check(process.wait() == -signal.SIGKILL, "the run was over before it was killed")
    check("killed.json" not in box.listing(), "an output of a killed run")
    box.ok(["train", "-o", "resumed.json", "--resume", "point", "--checkpoint", "point"] + long_run + TRACKS)
    check(box.text("resumed.json") == box.text("whole.json"), "other bytes after a kill")
    # A finished fit has nothing left to do.
    box.ok(["train", "-o", "again.json", "--resume", "point"] + long_run + TRACKS)
    check(box.text("again.json") == box.text("whole.json"), "other bytes from a finished checkpoint")


def test_a_signal_leaves_no_output(box):
    process = box.start(["train", "-o", "out.json", "--tolerance", "0", "--max-iterations", "5000", "-q"] + SMALL + TRACKS)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    check(process.wait() == -signal.SIGTERM, "exit %s" % process.returncode)
    check(not [name for name in box.listing() if "out.json" in name], "%s" % box.listing())


def test_one_command_starts_and_goes_on(box):
    """What a pipeline runs again and again: the same options whether there is a checkpoint or not."""
    arguments = toy(box) + ["--tolerance", "0", "--max-iterations", "60", "--checkpoint", "point", "--resume", "point"]
    check("no checkpoint point yet: the training starts anew" in box.ok(arguments).stderr, "no note")
    first = box.text("out.json")
    check("resumed after iteration" in box.ok(arguments).stderr and box.text("out.json") == first, "another result")
    box.fails(toy(box) + ["--resume-must-exist"], 2, "--resume")


def test_a_signal_writes_the_checkpoint(box):
    endless = SMALL + ["--tolerance", "0", "--max-iterations", "5000"]
    for number in (signal.SIGTERM, signal.SIGINT):
        process = box.start(["train", "-o", "out.json", "--checkpoint", "point", "--checkpoint-every", "4000", "--log-file", "log"]
                            + endless + TRACKS, stderr=subprocess.DEVNULL)
        wait_for(lambda: "iteration 3:" in (box.text("log") if box.path("log").exists() else ""), process)
        process.send_signal(number)
        check(process.wait() == -number, "exit %s" % process.returncode)
        check("point has the state after iteration" in box.text("log"), box.text("log"))
        check("out.json" not in box.listing() and [name for name in box.listing() if "point" in name] == ["point"],
              "%s" % box.listing())
        result = box.ok(["train", "-o", "resumed.json", "--resume", "point"] + SMALL +
                        ["--tolerance", "0", "--max-iterations", "40"] + TRACKS)
        check("resumed after iteration" in result.stderr, "%s" % result)
        for name in ("point", "log"):
            os.unlink(box.path(name))


def test_checkpoints_as_often_as_asked_for(box):
    arguments = toy(box) + ["--tolerance", "0", "--max-iterations", "7", "--log-file", "log"]
    process = box.start(arguments + ["--checkpoint", "point", "--checkpoint-every", "2"], stderr=subprocess.DEVNULL)
    check(process.wait() == 0 and b"iteration 7" in box.path("point").read_bytes(), "not at the end")
    # Killed without a chance to write: the last checkpoint is at most two iterations old.
    endless = SMALL + ["--tolerance", "0", "--max-iterations", "5000", "--log-file", "log"]
    process = box.start(["train", "-o", "out.json", "--checkpoint", "often", "--checkpoint-every", "2"] + endless + TRACKS,
                        stderr=subprocess.DEVNULL)
    wait_for(lambda: box.path("often").exists(), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    iteration = int(box.text("often").split("\niteration ")[1].split()[0])
    check(iteration % 2 == 0 and iteration < 50, "iteration %d" % iteration)
    text = box.ok(["train", "-o", "out.json", "--resume", "often"] + SMALL + ["--max-iterations", "%d" % (iteration + 3)] + TRACKS).stderr
    check("within a round of 50" in text, text)
    box.fails(toy(box) + ["--checkpoint", "point", "--checkpoint-every", "0"], 2, "--checkpoint-every")


def test_bad_checkpoints(box):
    arguments = toy(box) + ["--max-iterations", "4"]
    box.ok(arguments + ["--checkpoint", "point"])
    os.unlink(box.path("out.json"))
    good = box.path("point").read_bytes()
    for name, content in (("empty", b""), ("cut", good[:-20]), ("half", good[:len(good) // 2]),
                          ("changed", good.replace(b"iteration 4", b"iteration 3")), ("other", b'{"format": 1}')):
        box.write(name, content)
        box.fails(arguments + ["--resume", name], 3, name)
    box.fails(arguments + ["--resume", "absent", "--resume-must-exist"], 4, "absent")
    box.fails(arguments + ["--resume", "point", "--l2", "2"], 3, "point", "other data or options")
    box.ok(arguments + ["--resume", "point"])


def test_labels_on_other_chromosomes(box):
    box.fails(toy(box, "chr1\t0\t50\ton\nchr2\t0\t40\toff\n"), 3, "labels.bed", "chr1", "chr2", "chrA")
    text = box.ok(toy(box, "A\t0\t50\ton\nchrA\t0\t40\toff\nchrA\t40\t90\ton\n")).stderr
    check("labels-not-used" in text, text)


def test_labels_that_cannot_be_used(box):
    box.fails(toy(box, "chrA\t0\t50\ton\nchrA\t60\t401\toff\n"), 3, "line 2", "400")
    box.fails(toy(box, "chrA\t0\t50\ton\nchrA\t60\t70\ton\nchrA\t40\t60\toff\n"), 3, "line 3", "line 1")
    box.fails(toy(box, "# none\n"), 3, "labels.bed")
    box.fails(toy(box, "chrA\t0\t50\n"), 3, "line 1")
    box.fails(toy(box, "chrA\t0\t3\ton\n"), 3, "labels.bed")  # no bin is covered enough
    box.fails(toy(box) + ["--region", "chrA:1-60", "--val-region", "chrA:1-60"], 3, "no bin of the training")
    box.fails(toy(box) + ["--val-region", "chrA:71-400"], 3, '"on"')  # no training segment is left
    box.fails(toy(box)[:2] + ["absent.bed"] + toy(box)[3:], 4, "absent.bed")


def test_labels_that_do_not_match_the_first_parameters(box):
    arguments = toy(box, "chrA\t0\t50\ton\nchrA\t50\t90\toff\nchrA\t90\t120\tother\n") + ["--init", "track.json"]
    arguments = [item for item in arguments if item not in ("--max-duration", "20", "-b", "10")]
    make_inputs.track_parameters(box)
    box.fails(arguments, 3, "line 3", '"other"')
    box.write("labels.bed", "chrA\t0\t50\ton\n")
    box.fails(arguments, 3, '"off"')
    box.write("labels.bed", "chrA\t0\t50\ton\nchrA\t50\t90\ton\nchrA\t90\t120\toff\n")
    box.fails(arguments, 3, "line 2", "forbid")


def peaks(box, length=400):
    """Peaks where the track is high, as a peak list has them: one name, and nothing between."""
    return toy(box, "".join("chrA\t%d\t%d\tpeak\n" % (a, min(a + 70, length)) for a in range(70, length, 140)), length)


def test_a_peak_list_needs_a_background(box):
    arguments = peaks(box)
    box.fails(arguments, 3, "labels.bed: every line has the label \"peak\"", "add --background NAME")
    box.fails(arguments + ["--background", "peak"], 3, "another name than \"peak\"")
    box.fails(arguments + ["--background", "a\tb"], 2, "--background")
    box.ok(arguments + ["--background", "rest"])
    document = load(box, "out.json")
    check([label["name"] for label in document["labels"]] == ["peak", "rest"], "%s" % document["labels"])
    check(document["training"]["positions"] == 40 and document["training"]["segments"] == 6, "%s" % document["training"])
    check(document["training"]["options"]["background"] == "rest", "%s" % document["training"])
    check(len(document["tracks"]) == 1, "a square of two values: %s" % document["tracks"])
    box.ok("decode -p out.json -o out.bed signal.bw")
    lines = [line.split("\t")[:4] for line in box.text("out.bed").splitlines() if not line.startswith("#")]
    edges = list(range(0, 400, 70)) + [400]
    check(lines == [["chrA", str(a), str(b), ("peak" if n % 2 else "rest")]
                    for n, (a, b) in enumerate(zip(edges, edges[1:]))], "%s" % lines)
    # The first fit says what it needs, the next one goes on from it.
    again = [item for item in arguments if item not in ("-b", "10", "--max-duration", "20", "out.json", "-o")]
    box.ok(again + ["--init", "out.json", "--background", "rest", "-o", "again.json"])
    box.fails(again + ["--init", "out.json", "--background", "other", "-o", "again.json"], 2, "\"other\"", "--init")


def test_peaks_far_from_a_line(box):
    """Labels that have a signal between two others, which no line tells apart, are found by the square of the signal."""
    draw, values, lines = random.Random(3), [], []
    while len(values) < 3000:
        peak = len(lines) and draw.random() < 0.5
        level, bins = (1, draw.randint(8, 15)) if peak else (draw.choice((0, 2)), draw.randint(10, 30))
        lines += ["chrA\t%d\t%d\tpeak\n" % (10 * len(values), 10 * (len(values) + bins))] * bool(peak) or [""]
        values += [round(abs(level + draw.gauss(0, 0.25)), 3) for _ in range(bins)]
    make_inputs.bigwig_track(box, "signal.bw", {"chrA": 10 * len(values)}, make_inputs.bigwig.fixed_step("chrA", 0, 10, values))
    box.write("peaks.bed", "".join(lines))
    box.ok("train -q -b 10 --background none --labels peaks.bed --boundary-window none -o p.json signal.bw")
    box.ok("decode -q -p p.json -o p.narrowPeak signal.bw")
    box.ok("eval --background none --truth peaks.bed --json e.json p.narrowPeak")
    score = [row["bases"]["f1"] for row in load(box, "e.json")["labels"] if row["name"] == "peak"][0]
    check(score > 0.9, "F1 %r" % score)


def test_the_background_is_inside_the_regions_trained_on(box):
    arguments = peaks(box) + ["--background", "rest"]
    make_inputs.bigwig_track(box, "signal.bw", {"chrA": 400, "chrB": 200}, make_inputs.bigwig.fixed_step(
        "chrA", 0, 10, make_inputs.signal(40)) + make_inputs.bigwig.fixed_step("chrB", 0, 10, [0.0] * 20))

    def positions(*options):
        box.ok(arguments + list(options))
        made = load(box, "out.json")["training"]
        return made["positions"], made.get("validation_positions", 0)

    check(positions() == (40, 0), "a chromosome without labels was used")
    check(positions("-r", "chrA:1-200", "-r", "chrB:1-50") == (25, 0), "not the regions")
    check(positions("--val-region", "chrA:301-400") == (30, 10), "not the validation region")
    box.write("gap.bed", "chrA\t200\t260\n")
    check(positions("--exclude", "gap.bed") == (34, 0), "not without what is excluded")
    # Other labels stay as they are; one of the file's own may be the background.
    box.write("labels.bed", "chrA\t0\t70\tflat\nchrA\t70\t140\tpeak\nchrA\t210\t280\tpeak\n")
    arguments[-1] = "flat"
    check(positions() == (40, 0) and [label["name"] for label in load(box, "out.json")["labels"]] == ["flat", "peak"], "another background")


def test_a_model_that_predicts_one_label_is_warned_about(box):
    labels = "".join("chrA\t%d\t%d\t%s\n" % (a, a + 10, "rare" if a == 200 else "usual") for a in range(0, 400, 10))
    arguments = toy(box, labels) + ["--freeze", "transition,duration,start,end", "--stats", "stats.json"]
    make_inputs.bigwig_track(box, "signal.bw", sections=make_inputs.bigwig.fixed_step("chrA", 0, 10, [1.0, 2.0] * 20))
    text = box.ok(arguments).stderr
    check("the model predicts the label \"usual\" for all of its training data, which have 2 labels" in text, text)
    check("one-label-predicted" in [w["code"] for w in load(box, "stats.json")["warnings"]], "not in the statistics")
    check("one-label-predicted" not in box.ok(toy(box)).stderr, "a warning for a model that finds both labels")


def test_segments_longer_than_k(box):
    arguments = toy(box, "chrA\t0\t50\ton\nchrA\t50\t90\toff\nchrA\t90\t360\ton\n")
    box.fails(arguments, 3, "line 3", "--max-duration 27", "chrA:91-360")
    box.ok(arguments + ["--tail"])


def test_shortest_segments(box):
    lengths, labels, at = (30, 50, 40, 70, 60, 90, 30, 30), "", 0
    for number, length in enumerate(lengths):
        labels += "chrA\t%d\t%d\t%s\n" % (at, at + length, "on" if number % 2 else "off")
        at += length
    arguments = toy(box, labels) + ["--max-iterations", "5"]
    box.ok(arguments + ["--min-duration", "3"])
    bias = load(box, "out.json")["duration"]["bias"]
    check(all(row == ["-inf", "-inf"] for row in bias[:2]) and all(score != "-inf" for row in bias[2:] for score in row), "%s" % bias[:4])
    box.ok(["decode", "-p", "out.json", "-o", "out.bed", "signal.bw"])
    check(all(int(line.split()[2]) - int(line.split()[1]) >= 30 for line in box.text("out.bed").splitlines() if line[0] != "#"), "too short")
    box.ok(arguments + ["--min-duration", "on=3", "--min-duration", "2"])
    bias = load(box, "out.json")["duration"]["bias"]
    check(bias[0] == ["-inf", "-inf"] and bias[1][1] == "-inf" and bias[1][0] != "-inf", "%s" % bias[:3])
    # The first segment that is too short is named, and what to do.
    box.fails(arguments + ["--min-duration", "4"], 3, "labels.bed:line 1", 'the segment of "off" has 3 bins, but the shortest has 4',
              "chrA:1-30", "give a smaller --min-duration, LABEL=N for a label alone")
    box.fails(arguments + ["--min-duration", "on=4"], 3, "line 8", '"on"')
    # Geometric from three bins on: one duration in the table, and the tail.
    geometric = [item for item in arguments if item not in ("--max-duration", "20")] + ["--max-duration", "3", "--tail", "--min-duration", "3"]
    box.ok(geometric)
    check([row[0] == "-inf" for row in load(box, "out.json")["duration"]["bias"]] == [True, True, False], "%s" % load(box, "out.json")["duration"])
    # K is as long at least; a model to go on from may get shortest segments, or have them.
    chosen = [item for item in arguments if item not in ("--max-duration", "20")]
    box.fails(chosen + ["--min-duration", "12"], 3, "but the shortest has 12")
    box.ok(chosen + ["--min-duration", "3"])
    box.write("first.json", box.text("out.json"))
    box.ok(chosen + ["--init", "first.json"])
    check(load(box, "out.json")["duration"]["bias"][1] == ["-inf", "-inf"], "lost")
    box.ok("edit first.json --min-duration on=4 -o edited.json")
    box.fails(chosen + ["--init", "edited.json"], 3, "line 8", "but the shortest has 4", "what --init forbids")
    for text in ("0", "x", "off=", "off=x", "-3"):
        box.fails(arguments + ["--min-duration=" + text], 2, "--min-duration")
    box.fails(arguments + ["--min-duration", "of=3"], 2, "there is no such label", "off, on")
    box.fails(arguments + ["--min-duration", "21"], 2, "at most the longest duration of the model, 20 bins")
    box.fails(arguments + ["--min-duration", "2", "--duration", "geometric"], 2, "table of durations", "--tail --min-duration N")


def test_a_loss_that_is_not_finite(box):
    make_inputs.track_parameters(box, emission={"weights": [[0], [1e30]], "bias": [0, 0]})
    arguments = [item for item in toy(box) if item not in ("--max-duration", "20", "-b", "10")] + ["--init", "track.json"]
    make_inputs.bigwig_track(box, "signal.bw", sections=make_inputs.bigwig.fixed_step("chrA", 0, 10, [3e38] * 40))
    box.fails(arguments, 3, "not finite")


def test_shape_options_that_cannot_be(box):
    arguments = toy(box)
    box.fails(arguments + ["--boundary-window", "3,-3"], 2, "--boundary-window")
    box.fails(arguments + ["--boundary-window", "3"], 2, "--boundary-window")
    box.fails(arguments + ["--duration", "gamma"], 2)
    box.fails(arguments + ["--l2", "-1"], 2)
    box.fails(arguments + ["--max-memory", "1M"], 6, "--max-memory")


def test_outputs_are_not_inputs(box):
    arguments = toy(box)
    arguments[arguments.index("out.json")] = "labels.bed"
    box.fails(arguments, 2, "labels.bed")
    box.fails(toy(box) + ["--checkpoint", "out.json"], 2, "out.json")
    arguments[arguments.index("labels.bed", 3)] = "nowhere/out.json"
    box.fails(arguments, 5, "nowhere")


def test_arrays(box):
    rows = [[x, -x] for x in make_inputs.signal(40)]
    box.write("chrA.npy", make_inputs.npy(rows))
    arguments = [item if item != "signal.bw" else "chrA.npy" for item in toy(box)]
    box.ok(arguments)
    document = load(box, "out.json")
    check([track["name"] for track in document["tracks"]] == ["track1", "track2"], "%s" % document["tracks"])
    box.ok("decode -p out.json -o out.bed chrA.npy")


# What CRFsuite (python-crfsuite 0.9.12: lbfgs, c2 0.5, epsilon 1e-8, delta 1e-10, all transitions and states) found for
# the data of the test below: negative log-likelihood without the penalty c2 |w|^2. Found anew where it is installed.
CRFSUITE_NLL = 944.07184


def crfsuite_nll(box, rows, labels, penalty):
    settings = {"c2": penalty, "epsilon": 1e-8, "delta": 1e-10, "max_iterations": 2000,
                "feature.possible_transitions": 1, "feature.possible_states": 1}
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False, params=settings)
    trainer.append([{"x": row[0], "y": row[1]} for row in rows], labels)
    trainer.train(str(box.path("crfsuite.model")))
    last = trainer.logparser.last_iteration
    return last["loss"] - penalty * last["feature_norm"] ** 2


def test_a_linear_chain_equals_that_of_crfsuite(box):
    numbers = random.Random(5)
    names, rows, labels, label = ["a", "b", "c"], [], [], 0
    for _ in range(3000):
        if numbers.random() < 0.2:
            label = numbers.randrange(3)
        # Quarters, which float32 holds exactly.
        rows.append([round(4 * numbers.gauss(label, 1.5)) / 4, round(4 * numbers.gauss(label % 2, 1)) / 4])
        labels.append(names[label])
    if pycrfsuite is not None:
        again = crfsuite_nll(box, rows, labels, 0.5)
        check(math.isclose(again, CRFSUITE_NLL, rel_tol=1e-6), "CRFsuite has %r now" % again)
    zeros = [0, 0, 0]
    make_inputs.track_parameters(box, tracks=("x", "y"), labels=names, bin_size=1, max_duration=1, initial="none",
                                 transition=[zeros] * 3, duration={"kind": "table", "bias": [zeros]},
                                 emission={"weights": [[0, 0]] * 3, "bias": zeros})
    box.write("chrA.npy", make_inputs.npy(rows))
    box.write("labels.bed", "".join("chrA\t%d\t%d\t%s\n" % (i, i + 1, name) for i, name in enumerate(labels)))
    box.ok("train --labels labels.bed --init track.json --freeze bias,start,end --l2 1 --l2-transition 1 --precision double"
           " --tolerance 1e-9 --max-iterations 1000 -o out.json chrA.npy")
    found = load(box, "out.json")["training"]["nll_per_position"] * len(rows)
    check(math.isclose(found, CRFSUITE_NLL, rel_tol=1e-4), "%r, CRFsuite has %r" % (found, CRFSUITE_NLL))


def test_gaps_may_have_any_label(box):
    """Short gaps by default, all with `free`, none with `cut`; several labels of one line."""
    toy(box, length=2100)
    train = "train -b 10 --max-iterations 4 -o %s.json --labels %s.bed %s signal.bw"
    lines = [line.split("\t") for line in box.text("labels.bed").splitlines()]
    known = [line for i, line in enumerate(lines) if i % 3 != 1 or i + 1 == len(lines)]
    box.write("gaps.bed", "".join("\t".join(line) + "\n" for line in known))
    bins, labelled = (sum(int(line[2]) - int(line[1]) for line in some) // 10 for some in (lines, known))
    positions = {}
    for how in ("auto", "cut", "free"):
        found = box.ok(train % (how, "gaps", "--unlabeled " + how))
        training = json.loads(box.text(how + ".json"))["training"]
        positions[how] = training["positions"]
        if how == "free":
            check(training["free_positions"] == bins - labelled, "%r free bins" % training["free_positions"])
            check("may have any label" in found.stderr, found.stderr)
    check(positions["cut"] == labelled and positions["free"] == bins, "positions %r" % positions)
    check(positions["cut"] <= positions["auto"] <= positions["free"], "positions %r" % positions)
    box.ok(train % ("three", "gaps", "--unlabeled free -t 3"))
    check(box.text("three.json") == box.text("free.json"), "threads change the model")
    # The whole list of a line's labels, with weights.
    names = sorted({line[3] for line in known})
    known[1][3] = "%s:3|%s:1" % (names[0], names[1])
    box.write("choice.bed", "".join("\t".join(line) + "\n" for line in known))
    box.ok(train % ("choice", "choice", "--unlabeled free"))
    for name, complaint in (("%s|other" % names[0], "other"), ("%s:0.5|%s" % (names[0], names[1]), "weight"),
                            ("%s|%s" % (names[0], names[0]), "twice"), ("%s:-1|%s:1" % (names[0], names[1]), "weight")):
        known[1][3] = name
        box.write("choice.bed", "".join("\t".join(line) + "\n" for line in known))
        box.fails(train % ("no", "choice", "-q"), (3,), complaint)


def given_scores(box):
    """Tracks, labels, and scores of starts that know most starts; returns segments and scores."""
    rng = random.Random(12)
    rows, segments, t = [], [], 0
    while t < 300:
        label, end = len(segments) % 2, min(300, t + rng.randint(3, 9))
        segments.append((t, end, label))
        rows += [[rng.gauss(0.6 * label, 1.0), rng.gauss(0.0, 2.0)] for _ in range(t, end)]
        t = end
    scores = [[0.0, 0.0] for _ in rows]
    for begin, _, label in segments:
        scores[begin][label] = 3.0 if rng.random() < 0.8 else -1.0
    box.write("x.npy", npy(rows))
    box.write("start.npy", npy(scores))
    box.write("zero.npy", npy([[0.0, 0.0] for _ in rows]))
    box.write("l.bed", "".join("x\t%d\t%d\t%s\n" % (b, e, "pq"[c]) for b, e, c in segments))
    return rows, segments, scores


GIVEN = "train -q --labels l.bed --precision double --max-duration 10 --max-iterations 25 --tolerance 0 "


def test_given_scores_of_starts(box):
    rows, segments, scores = given_scores(box)
    box.ok(GIVEN + "-o m.json --start-scores start.npy x.npy")
    model = json.loads(box.text("m.json"))
    check([entry["role"] for entry in model["training"]["files"]] == ["track", "start-scores", "labels"], str(model["training"]["files"]))
    check("boundary" not in model, "a boundary head beside given scores")
    # The loss is log Z of `posterior` with the same scores, less the score of the truth.
    box.ok("posterior -q -p m.json --precision double --start-scores start.npy --stats s.json -o z.bg x.npy")
    log_z = json.loads(box.text("s.json"))["sequences"][0]["log_partition"]
    features = [[(x - track["center"]) / track["scale"] for x, track in zip(row, model["tracks"])] for row in rows]
    weights, bias, before, score = model["emission"]["weights"], model["emission"]["bias"], None, 0.0
    for begin, end, c in segments:
        score += sum(bias[c] + sum(w * x for w, x in zip(weights[c], features[t])) for t in range(begin, end))
        score += model["duration"]["bias"][end - begin - 1][c] + scores[begin][c]
        score += model["transition"][before][c] if before is not None else model.get("start", [0, 0])[c]
        before = c
    score += model.get("end", [0, 0])[before]
    expected = (log_z - score) / len(rows)
    check(abs(model["training"]["nll_per_position"] - expected) < 1e-6, "NLL %r, expected %r" % (model["training"]["nll_per_position"], expected))
    # They help, zeros change nothing, threads neither.
    box.ok(GIVEN + "--boundary-window none --margin 0 -o none.json x.npy")
    without = json.loads(box.text("none.json"))
    check(without["training"]["nll_per_position"] > model["training"]["nll_per_position"] + 0.05, "given scores do not help")
    box.ok(GIVEN + "-o zero.json --start-scores zero.npy --end-scores x=zero.npy x.npy")
    zero = json.loads(box.text("zero.json"))
    difference = abs(zero["training"]["nll_per_position"] - without["training"]["nll_per_position"])
    check(difference < 1e-9, "zeros change the loss by %r" % difference)
    box.ok(GIVEN + "-t 3 -o three.json --start-scores start.npy x.npy")
    check(box.text("three.json") == box.text("m.json"), "threads change the model")
    # Pieces, windows and gaps have their part.
    box.ok(GIVEN + "-r x:101-260 --val-region x:1-90 -o part.json --start-scores start.npy x.npy")
    box.ok(GIVEN.replace("25", "3") + "--optimizer adamw --window 50 -o adamw.json --start-scores start.npy x.npy")
    # A checkpoint belongs to its scores.
    box.ok(GIVEN + "--checkpoint point -o m.json --start-scores start.npy x.npy")
    box.fails(GIVEN + "--resume point -o n.json --start-scores zero.npy x.npy", 3, "point", "other data or options")


def test_bad_given_scores(box):
    rows, segments, scores = given_scores(box)
    for more, words in (("--boundary-window -1,1", "--boundary-window"), ("--margin 0.5", "--margin")):
        box.fails(GIVEN + more + " -o m.json --start-scores start.npy x.npy", 2, words, "--start-scores")
    box.fails(GIVEN + "-o m.json --start-scores y=start.npy x.npy", 3, "start.npy", "--start-scores", '"y"')
    box.write("three.npy", npy([[0.0, 0.0, 0.0] for _ in rows]))
    box.fails(GIVEN + "-o m.json --start-scores three.npy x.npy", 3, "three.npy", "3 columns", "2 labels")
    box.write("short.npy", npy(scores[:-1]))
    box.fails(GIVEN + "-o m.json --end-scores short.npy x.npy", 3, "short.npy", "299 rows")
    scores[segments[4][0]][segments[4][2]] = -math.inf
    box.write("never.npy", npy(scores))
    box.fails(GIVEN + "-o m.json --start-scores never.npy x.npy", 3, "line 5", "--start-scores is -inf")
    scores[7][0] = math.nan
    box.write("nan.npy", npy(scores))
    box.fails(GIVEN + "-o m.json --start-scores nan.npy x.npy", 3, "nan.npy", "row 7")
    box.ok(GIVEN + "--boundary-window -1,1 -o heads.json x.npy")
    box.fails(GIVEN.replace("--max-duration 10 ", "") + "--init heads.json -o m.json --start-scores start.npy x.npy", 2, "--start-scores")
    box.fails("decode -p heads.json --start-scores start.npy -o m.bed x.npy", 2, "--start-scores")


def test_one_of_several_processes_is_refused_without_mpi(box):
    if b"libmpi" in subprocess.run(["ldd", box.program], capture_output=True, check=False).stdout:
        raise Skip("the program was built with MPI")
    arguments = [box.program] + toy(box)
    environment = dict(os.environ, OMPI_COMM_WORLD_SIZE="2")
    lines = []
    for rank in ("0", "1"):
        environment["OMPI_COMM_WORLD_RANK"] = rank
        done = subprocess.run(arguments, cwd=box.folder, capture_output=True, text=True, env=environment, check=False)
        check(done.returncode == 2, "exit %d\n%s" % (done.returncode, done.stderr))
        lines += done.stderr.splitlines()
    check(len(lines) == 1 and "built without MPI" in lines[0], "%s" % lines)
    check(not box.path("out.json").exists(), "an output was written")
