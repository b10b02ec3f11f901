#!/usr/bin/env python3
"""What a training margin does where the truth is known: simulates, trains, decodes, evaluates.

    docs/examples/simulate_margins.py [--program semicrf] [--length 100000]

Prints a line per model and margin: F1 of bases, of boundaries within 2 bins, and of segments by overlap, on a
sequence that was not trained on. Standard library only.
"""

import argparse
import json
import math
import os
import random
import subprocess
import tempfile

LABELS, TRACKS = 5, 3
MODELS = [(8, 0.5), (8, 1.2), (60, 0.15), (60, 0.4)]  # typical duration in bins, spread of the weights


def write_model(path, duration, spread, numbers):
    """Durations are negative binomial (r = 3) with means of half to one and a half times `duration`."""
    weights = [[numbers.gauss(0, spread) for _ in range(TRACKS)] for _ in range(LABELS)]
    transition = [["-inf" if i == j else math.log((numbers.random() + 0.2) / LABELS) for j in range(LABELS)]
                  for i in range(LABELS)]
    bias = []
    for k in range(1, 3 * duration + 1):
        row = []
        for label in range(LABELS):
            r, mean = 3.0, duration * (0.5 + 0.25 * label)
            p = r / (r + mean - 1)
            row.append(math.lgamma(k - 1 + r) - math.lgamma(k) - math.lgamma(r) + r * math.log(p) +
                       (k - 1) * math.log(1 - p))
        bias.append(row)
    model = {"format": "semicrf-params", "format_version": "1.0", "labels": [{"name": "L%d" % i} for i in range(LABELS)],
             "max_duration": 3 * duration, "bin_size": 1, "centering": "none", "initial": "none",
             "transition": transition, "duration": {"kind": "table", "bias": bias},
             "tracks": [{"name": "track%d" % (i + 1)} for i in range(TRACKS)],
             "emission": {"weights": weights, "bias": [0] * LABELS}}
    with open(path, "w") as file:
        json.dump(model, file)


def simulate(run, name, length, seed):
    """NAME.npy and NAME.bed, the sequence called NAME."""
    run("simulate", "-p", "truth.json", "--length", str(length), "--seed", str(seed), "--emissions", name + ".npy",
        "-o", "drawn.bed")
    with open("drawn.bed") as drawn, open(name + ".bed", "w") as named:
        for line in drawn:
            if not line.startswith("#"):
                named.write(name + "\t" + line.split("\t", 1)[1])


def evaluate(run, params):
    run("decode", "-p", params, "-o", "predicted.bed", "test.npy")
    overall = json.loads(run("eval", "--truth", "test.bed", "--tolerance", "2", "--json", "-", "predicted.bed"))["overall"]
    return "%.4f %.4f %.4f" % (overall["bases"]["f1"], overall["boundaries"]["within"]["f1"],
                               overall["segments"]["overlap"]["f1"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="semicrf")
    parser.add_argument("--length", type=int, default=100000)
    options = parser.parse_args()
    program = os.path.abspath(options.program) if os.sep in options.program else options.program

    def run(command, *arguments):
        return subprocess.run([program, command, "-q", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    numbers = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for duration, spread in MODELS:
            write_model("truth.json", duration, spread, numbers)
            simulate(run, "train", options.length, 1)
            simulate(run, "test", options.length, 2)
            print("duration %d, weights %g: the truth %s" % (duration, spread, evaluate(run, "truth.json")), flush=True)
            for segment_margin in (0, 4, 10, 16):
                run("train", "--labels", "train.bed", "--boundary-window", "none", "--margin", "%g" % (segment_margin / duration),
                    "--max-iterations", "100", "-o", "trained.json", "train.npy")
                print("  margin %g / duration: %s" % (segment_margin, evaluate(run, "trained.json")), flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
