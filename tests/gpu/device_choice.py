#!/usr/bin/env python3
"""Is a GPU faster than threads of its host, and does `-x auto` know it? From the root of the repository:

    device_choice.py PROGRAM [SCRATCH [POSITIONS [THREADS]]]

For models of many sizes, `decode` and `posterior` of one NPY of POSITIONS label scores (default 5,000,000), as whole
processes with THREADS threads (default 4): on the cpu, on the GPU, and with `-x auto`. A line per model: seconds (the
better of two runs where they are short), what auto took, its two predictions, and LOSS where the other engine took less
than 0.9 of the time of its choice. SCRATCH (default /dev/shm/semicrf-choice) holds 3 GB. Needs numpy.
"""
import json
import pathlib
import re
import subprocess
import sys
import time

import make_long_scores
import numpy

LABELS = (2, 5, 10, 24, 40)
DURATIONS = (1, 16, 100, 500, 2000)
LOSS = 0.9
LONG = 1.5  # seconds of a run that is not repeated


def model(labels, max_duration):
    if max_duration > 1:
        return make_long_scores.parameters(labels, "none", max_duration)
    table = make_long_scores.parameters(labels, "none", 1)
    # Segments of one position: a hidden Markov model, which stays where it is.
    off = table["transition"][0][1]
    table["transition"] = [[-0.004 if i == j else off for j in range(labels)] for i in range(labels)]
    table["duration"] = {"kind": "table", "bias": [[0] * labels]}
    return table


def run(command):
    """Seconds, and what the program said."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return time.perf_counter() - begin, done.stderr


def compare(arguments):
    """Seconds with each device, the better of two runs where they are short, and what auto took and said of it."""
    best = {}
    for device in ("cpu", "cuda", "cpu", "cuda"):
        if best.get(device, 0) < LONG:
            seconds, _ = run([*arguments, "-x", device])
            best[device] = min(seconds, best.get(device, seconds))
    best["auto"], said = run([*arguments, "-x", "auto"])
    took, expected = re.search(r"device auto: (cpu|cuda)(.*)", said).groups()
    return best, took, expected


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "/dev/shm/semicrf-choice")
    positions = int(sys.argv[3]) if len(sys.argv) > 3 else 5_000_000
    threads = sys.argv[4] if len(sys.argv) > 4 else "4"
    folder.mkdir(parents=True, exist_ok=True)
    scores, parameters, out = folder / "scores.npy", folder / "params.json", folder / "out"
    files = ["-p", str(parameters), "-o", str(out), str(scores)]
    losses = 0
    print(f"{positions} positions, {threads} threads; seconds\n  K  C command        cpu   cuda  auto took")
    for labels in LABELS:
        random = numpy.random.default_rng(labels)
        noise = make_long_scores.draw_noise(random, labels)
        make_long_scores.write_scores(scores, positions, labels, random, noise)
        for max_duration in DURATIONS:
            parameters.write_text(json.dumps(model(labels, max_duration)))
            for command in (["decode", "--score", "none"], ["posterior", "--digits", "2"]):
                best, took, expected = compare([program, *command, "-v", "-t", threads, *files])
                lost = best["cuda" if took == "cpu" else "cpu"] < LOSS * best[took]
                losses += lost
                print(f"{max_duration:4} {labels:2} {command[0]:9} {best['cpu']:8.2f} {best['cuda']:6.2f}  "
                      f"{best['auto']:5.2f} {took:4}{expected}{'  LOSS' if lost else ''}", flush=True)
    print(f"auto lost in {losses} of {2 * len(LABELS) * len(DURATIONS)}")


if __name__ == "__main__":
    main()
