#!/usr/bin/env python3
"""Whole runs of a model as `train` writes it, on a GPU and on the processor, from file to file.

    tests/gpu/measure_trained.py PROGRAM MODEL ROWS [--rows 15100000] [--repeats 3] [--threads 16] [--json FILE]

MODEL is a parameter file with `"edges": "censored"`; beside it the same model is run with `complete`, which an array without
cut edges would cost. ROWS is an NPY array of its tracks, laid end to end until there are enough rows. Prints the median of
the seconds and the largest peak memory for every output, engine and model, and the ratio of the two models.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

OUTPUTS = {  # name: command and what is written besides
    "decode": ["decode", "-o", "{folder}/o.bed"],
    "decode --stats": ["decode", "--stats", "{folder}/s.json", "-o", "{folder}/o.bed"],
    "decode --score none": ["decode", "--score", "none", "-o", "{folder}/o.bed"],
    "decode --table": ["decode", "--table", "{folder}/t.tsv", "-o", "{folder}/o.bed"],
    "posterior": ["posterior", "-o", "{folder}/o.bedgraph"],
    "posterior --stats": ["posterior", "--stats", "{folder}/s.json", "-o", "{folder}/o.bedgraph"],
    "posterior to .bw": ["posterior", "-o", "{folder}/o.bw"],
}


def run(command):
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: {message.decode()[-500:]}")
    return time.perf_counter() - begin, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("array")
    parser.add_argument("--rows", type=int, default=15_100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--engines", default="cuda,cpu")
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        rows = numpy.load(options.array)
        numpy.save(f"{folder}/rows.npy", numpy.tile(rows, (options.rows // len(rows) + 1, 1))[: options.rows])
        model = json.load(open(options.model))
        models = {}
        for edges in ("censored", "complete"):
            models[edges] = f"{folder}/{edges}.json"
            json.dump({**model, "edges": edges}, open(models[edges], "w"))
        records = []
        for name, command in OUTPUTS.items():
            command = [word.format(folder=folder) for word in command]
            for engine in options.engines.split(","):
                found = {edges: [] for edges in models}
                for _ in range(options.repeats):
                    for edges, path in models.items():
                        found[edges].append(run([options.program, command[0], "-q", "-x", engine, "-t", str(options.threads),
                                                 "-p", path, *command[1:], f"{folder}/rows.npy"]))
                seconds = {edges: statistics.median(one[0] for one in all_) for edges, all_ in found.items()}
                memory = {edges: max(one[1] for one in all_) for edges, all_ in found.items()}
                print(f"{name:22s} {engine:5s} -t {options.threads:2d}  censored {seconds['censored']:6.2f} s "
                      f"{memory['censored']:6.0f} MB  complete {seconds['complete']:6.2f} s {memory['complete']:6.0f} MB  "
                      f"{seconds['censored'] / seconds['complete']:5.2f}", flush=True)
                records.append({"output": name, "engine": engine, "threads": options.threads, "seconds": seconds,
                                "megabytes": memory})
        if options.json:
            json.dump(records, open(options.json, "w"), indent=1)


if __name__ == "__main__":
    main()
