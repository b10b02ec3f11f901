"""What a pipeline needs: the memory of a job, and an amount that is enough where it was too little."""

import array
import json
import random
import re

import make_inputs
from harness import check
from make_inputs import bigwig

MEBIBYTE = 1 << 20
# A forecast is at most so much below the peak, as a share of it, and above it, as a share and in MiB.
BELOW, ABOVE, SLACK = 0.03, 0.2, 6
# Threads that a busy machine runs one after the other take less than threads that run at once. So a peak that looks too
# small is measured again, and the largest of so many runs counts.
RUNS = 4


def model(box, name, labels, longest, tracks=0, tail=False, bin_size=1):
    document = {"format": "semicrf-params", "format_version": "1.0", "labels": ["l%d" % i for i in range(labels)],
                "max_duration": longest, "bin_size": bin_size,
                "transition": [[-1 if a != b else "-inf" for b in range(labels)] for a in range(labels)],
                "duration": {"kind": "negative_binomial", "r": [2] * labels, "p": [min(0.9, 6 / max(9, longest))] * labels}}
    if tail:
        document["duration"]["tail"] = [0.9] * labels
    if tracks:
        numbers = random.Random(2)
        document["tracks"] = [{"name": "t%d" % i} for i in range(tracks)]
        document["emission"] = {"weights": [[numbers.gauss(0, 1) for _ in range(tracks)] for _ in range(labels)],
                                "bias": [0] * labels}
    return box.write(name, json.dumps(document))


def scores(box, name, rows, columns):
    """Noise, a block of which is repeated."""
    numbers = random.Random(1)
    block = array.array("f", [numbers.gauss(0, 1) for _ in range(4096 * columns)]).tobytes()
    bytes_wanted = 4 * rows * columns
    data = (block * (bytes_wanted // len(block) + 1))[:bytes_wanted]
    return box.write(name, make_inputs.npy_header(shape=(rows, columns)) + data)


def tracks(box, count, bins, bin_size):
    numbers = random.Random(3)
    for i in range(count):
        block = [round(numbers.random(), 3) for _ in range(4096)]
        values = (block * (bins // len(block) + 1))[:bins]
        bigwig.write(box.path("t%d.bw" % i), {"chrA": bins * bin_size}, bigwig.fixed_step("chrA", 0, bin_size, values))
    return ["t%d.bw" % i for i in range(count)]


def forecast(box, arguments):
    found = re.search(r"^memory\t(\d+) MiB$", box.ok(arguments + ["--dry-run"]).stdout, re.M)
    check(found, "no line for the memory")
    return int(found.group(1))


def compare(box, arguments, entropy=False):
    """The forecast of a run by its peak, which the statistics have."""
    arguments = arguments + ["--stats", "stats.json"]
    if arguments[0] != "train" and not entropy:
        arguments.append("--no-entropy")
    said, peak = forecast(box, arguments), 0
    for _ in range(RUNS):
        box.ok(arguments + ["-q"])
        peak = max(peak, json.loads(box.text("stats.json"))["peak_memory"] / MEBIBYTE)
        if said <= (1 + ABOVE) * peak + SLACK:
            break
    if not (1 - BELOW) * peak <= said <= (1 + ABOVE) * peak + SLACK:
        return ["%d MiB forecast, %.1f MiB taken (%.2f): %s" % (said, peak, said / peak, " ".join(arguments))]
    return []


def test_the_memory_of_a_dry_run_is_that_of_the_run(box):
    scores(box, "short.npy", 100000, 8), scores(box, "long.npy", 1000000, 8)
    files = tracks(box, 4, 400000, 10)
    for longest in (20, 400, 2000):
        model(box, "k%d.json" % longest, 8, longest)
    model(box, "tail.json", 5, 50, 4, True, 10)
    wrong = []
    for threads in ("1", "2", "8"):
        for command in ("decode", "posterior"):
            for parameters, inputs in (("k20.json", ["short.npy"]), ("k20.json", ["long.npy"]), ("k400.json", ["short.npy"]),
                                       ("tail.json", files)):
                wrong += compare(box, [command, "-t", threads, "-p", parameters, "-o", "out"] + inputs)
    wrong += compare(box, ["posterior", "-t", "8", "-p", "k2000.json", "-o", "out", "short.npy"])
    wrong += compare(box, ["decode", "-p", "tail.json", "--posterior", "out2", "-o", "out"] + files)
    wrong += compare(box, ["decode", "-p", "tail.json", "-r", "chrA:1-400000", "-o", "out"] + files)
    for threads in ("1", "8"):
        for parameters, inputs in (("k20.json", ["short.npy"]), ("k20.json", ["long.npy"]), ("k2000.json", ["short.npy"]),
                                   ("tail.json", files)):
            wrong += compare(box, ["posterior", "-t", threads, "-p", parameters, "-o", "out"] + inputs, entropy=True)
        wrong += compare(box, ["posterior", "-t", threads, "-p", "k20.json", "--starts-out", "s", "--counts-out", "c.npz",
                               "-o", "out", "long.npy"])
        wrong += compare(box, ["decode", "--rule", "posterior", "-t", threads, "-p", "k20.json", "-o", "out", "long.npy"])
    check(not wrong, "\n".join(wrong))


def test_the_memory_of_a_training(box):
    files = tracks(box, 4, 200000, 10)
    edges = list(range(0, 2000000, 4000)) + [2000000]
    box.write("labels.bed", "".join("chrA\t%d\t%d\t%s\n" % (a, b, "xyz"[n % 3]) for n, (a, b) in enumerate(zip(edges, edges[1:]))))
    wrong = []
    for options in (["-t", "1"], ["-t", "8"], ["-t", "2", "--max-duration", "50", "--tail"], ["-t", "2", "--precision", "double"],
                    ["-t", "2", "--optimizer", "adamw", "--window", "50000"]):
        wrong += compare(box, ["train", "-b", "10", "--max-iterations", "2", "--labels", "labels.bed", "-o", "out.json"]
                         + options + files)
    check(not wrong, "\n".join(wrong))


def test_the_rules_of_the_readme(box):
    """What the shell lines of the Snakemake rules of docs/users/pipelines.md run, with small numbers."""
    files = tracks(box, 2, 3000, 10)
    edges = list(range(0, 30000, 600)) + [30000]
    box.write("labels.bed", "".join("chrA\t%d\t%d\t%s\n" % (a, b, "xy"[n % 2]) for n, (a, b) in enumerate(zip(edges, edges[1:]))))
    for _ in range(2):  # the second time from the checkpoint
        box.ok(["train", "-b", "10", "-t", "2", "--max-memory", "2000M", "--max-iterations", "5", "--labels", "labels.bed",
                "--checkpoint", "point", "--resume", "point", "-o", "model.json"] + files)
    box.ok(["decode", "-t", "2", "--max-memory", "1000M", "--write-index", "-p", "model.json", "-o", "segments.bed.gz",
            "--posterior", "boundaries.bg.gz", "--stats", "segments.stats.json"] + files)
    names = box.listing()
    for name in ("segments.bed.gz", "segments.bed.gz.tbi", "boundaries.bg.gz", "boundaries.bg.gz.tbi", "segments.stats.json"):
        check(name in names, "no %s" % name)


def test_an_error_names_an_amount_that_is_enough(box):
    model(box, "k400.json", 8, 400)
    scores(box, "long.npy", 300000, 8)
    for command in ("decode", "posterior", "decode -t 3"):
        arguments = command.split() + ["-p", "k400.json", "-o", "out.txt", "long.npy"]
        for little in ("1M", "33M"):
            error = box.fails(arguments + ["--max-memory", little], 6, "--max-memory", "MiB is not enough").error
            enough = int(re.search(r"give --max-memory (\d+)M$", error).group(1))
            box.fails(arguments + ["--max-memory", "%dM" % (enough - 1)], 6, "give --max-memory %dM" % enough)
            box.ok(arguments + ["--max-memory", "%dM" % enough])
        box.path("out.txt").unlink()
    files = tracks(box, 2, 2000, 10)
    box.write("labels.bed", "chrA\t0\t6000\tx\nchrA\t6000\t20000\ty\n")
    arguments = ["train", "-b", "10", "--max-iterations", "2", "--labels", "labels.bed", "-o", "out.json"] + files
    error = box.fails(arguments + ["--max-memory", "10M"], 6).error
    enough = int(re.search(r"give --max-memory (\d+)M,", error).group(1))
    box.ok(arguments + ["--max-memory", "%dM" % enough])
    box.fails(arguments + ["--max-memory", "%dM" % (enough - 1)], 6)
