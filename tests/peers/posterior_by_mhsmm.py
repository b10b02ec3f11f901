#!/usr/bin/env python3
"""Posteriors, score of the best path and log likelihood of a hidden semi-Markov model against mhsmm (R) with the same numbers.

usage: posterior_by_mhsmm.py --program SEMICRF

mhsmm takes the last segment as cut off, and the first as whole: as here `"edges": "censored"` and a region that ends before its
sequence. Skipped (exit code 77) where Rscript or its package mhsmm is not installed.
"""

import argparse
import array
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]
import make_inputs  # noqa: E402
import packages  # noqa: E402

SEED, STATES, LONGEST, LENGTH, TOLERANCE = 4711, 3, 12, 500, 1e-6


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def normalised(weights):
    return [w / sum(weights) for w in weights]


def drawn_model(rng):
    transition = [normalised([0.0 if a == b else 0.2 + rng.random() for b in range(STATES)]) for a in range(STATES)]
    columns = [normalised([0.0 if rng.random() < 0.2 else rng.random() for _ in range(LONGEST)]) for _ in range(STATES)]
    return {"init": normalised([0.2 + rng.random() for _ in range(STATES)]), "transition": transition,
            "duration": [list(row) for row in zip(*columns)], "mean": [0.0, 1.0, 2.2], "variance": [1.0, 0.5, 1.5]}


def drawn_values(rng, model):
    values, state = [], 0
    while len(values) < LENGTH:
        k = rng.choices(range(1, LONGEST + 1), [row[state] for row in model["duration"]])[0]
        values += [rng.gauss(model["mean"][state], math.sqrt(model["variance"][state])) for _ in range(k)]
        state = rng.choices(range(STATES), model["transition"][state])[0]
    return values[:LENGTH]


def log_or_never(p):
    return math.log(p) if p > 0 else "-inf"


def write_inputs(folder, model, values):
    def listed(rows):
        numbers = [x for row in rows for x in row] if isinstance(rows[0], list) else rows
        return "c(%s)" % ", ".join("%.17g" % x for x in numbers)

    (folder / "model.R").write_text("list(%s)\n" % ", ".join("%s = %s" % (name, listed(rows)) for name, rows in model.items()))
    (folder / "x.txt").write_text("".join("%.17g\n" % x for x in values))
    scores = [[-0.5 * ((x - m) ** 2 / v + math.log(2 * math.pi * v)) for m, v in zip(model["mean"], model["variance"])] for x in values]
    (folder / "s.npy").write_bytes(make_inputs.npy(scores + [[0.0] * STATES], descr="<f8"))  # one more: the region is cut off
    (folder / "sizes.txt").write_text("s\t%d\n" % (LENGTH + 1))  # so that its begin is known
    logs = {name: [[log_or_never(p) for p in row] for row in model[name]] for name in ("transition", "duration")}
    (folder / "model.json").write_text(json.dumps(
        {"format": "semicrf-params", "format_version": "1.1", "edges": "censored", "labels": [str(c) for c in range(STATES)],
         "max_duration": LONGEST, "centering": "none", "initial": "none", "start": [log_or_never(p) for p in model["init"]],
         "transition": logs["transition"], "duration": {"kind": "table", "bias": logs["duration"]}}))


def ours(program, folder):
    def run(command, *options):
        subprocess.run([program, command, "-q", "-x", "cpu", "--precision", "double", "-p", "model.json", "-g", "sizes.txt", "-r",
                        "s:1-%d" % LENGTH, *options, "s.npy"], cwd=folder, check=True)

    def told(key):
        return json.loads((folder / "stats.json").read_text())["sequences"][0][key]

    run("decode", "-o", "best.bed", "--stats", "stats.json")
    best = told("viterbi_score")
    run("posterior", "-o", "b.bg", "--labels-out", "p.npz", "--stats", "stats.json")
    with zipfile.ZipFile(folder / "p.npz") as members:
        raw = members.read(members.namelist()[0])
    return told("log_partition"), best, array.array("d" if b"f8" in raw[:128] else "f", raw[10 + int.from_bytes(raw[8:10], "little"):])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--packages", help="not used")
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    if shutil.which("Rscript") is None:
        packages.skip("Rscript is not installed (r-base-core)")
    rng = random.Random(SEED)
    print("seed %d" % SEED)
    with tempfile.TemporaryDirectory() as box:
        folder = pathlib.Path(box)
        model = drawn_model(rng)
        write_inputs(folder, model, drawn_values(rng, model))
        done = subprocess.run(["Rscript", "--vanilla", str(HERE / "mhsmm.R"), box])
        if done.returncode == packages.SKIPPED:
            packages.skip("the package mhsmm of R is not installed")
        check(done.returncode == 0, "mhsmm.R")
        first, *rows = [[float(x) for x in line.split()] for line in (folder / "result.txt").read_text().splitlines()]
        log_z, best, values = ours(program, folder)
        # The path itself would differ: that of mhsmm 0.4.21 asks for the state before a segment at the segment's end.
        for what, one, other in (("log Z", log_z, first[0]), ("the best score", best, first[1])):
            check(abs(one - other) <= TOLERANCE * abs(other), "%s is %.12g, of mhsmm %.12g" % (what, one, other))
        worst = max(abs(values[t * STATES + c] - row[c]) for t, row in enumerate(rows) for c in range(STATES))
        check(worst < TOLERANCE, "posteriors differ by %g" % worst)
        print("log Z %.9f and best score %.9f, off by %.1g and %.1g; posteriors within %.1g" % (
            log_z, best, abs(log_z - first[0]), abs(best - first[1]), worst))


if __name__ == "__main__":
    main()
