#!/usr/bin/env python3
"""Makes every table and picture of docs/paper.md and docs/paper-experiments.md, then prints the table of claims:

    python3 tests/lab/paper.py --program build/release/bin/semicrf-lab --out build/paper [--full] [--only STEP ...]

A step is a table of semicrf-lab, one of the experiments (cap, speech, which run the program semicrf) or a comparison
with other programs (peers ...). A step that needs what is not there is named as skipped, which is no failure; one that fails
is named at the end, and the exit status is 1. Steps of earlier runs in the same folder stay, so --only makes a part anew.
OUT/steps.tsv has the seconds of every step: on the clock, and of processors (user and system).
"""

import argparse
import concurrent.futures
import csv
import os
import pathlib
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TABLES = ["banded", "centring", "numbers", "semirings", "low-rank", "validation", "complexity", "frontier", "long", "training"]
STEPS = TABLES + ["genes", "cap", "speech", "peers", "bandwidth-peers", "training-peers"]
SKIPPED = 77
COLUMNS = ["step", "form", "outcome", "seconds", "processor_seconds"]


def python_with(module):
    """The interpreter of this script, or Debian's, whichever has `module`; the first where neither has."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.access(python, os.X_OK) and subprocess.run([python, "-c", "import " + module], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return sys.executable


def command_of(name, options):
    out, full = ["--out", str(options.out)], ["--full"] * options.full
    if name == "peers":
        return [python_with("torch"), "-B", str(HERE / "peers" / "peers.py"), str(options.out), "--program", str(options.program)] + full
    if name in ("bandwidth-peers", "training-peers"):
        return [python_with("torch"), "-B", str(HERE / "peers" / (name.replace("-", "_") + ".py")), str(options.out)]
    if name == "genes":
        return [sys.executable, "-B", str(HERE / "low_rank" / "gene_lengths.py"), str(options.out), str(options.data)]
    if name in ("cap", "speech"):
        command = [python_with("numpy"), "-B", str(HERE / name / "run.py"), "--program", str(options.semicrf)] + out
        command += ["--small"] * (not options.full) + ["--data", str(options.data)] * (name == "cap")
        return command + ["--corpora", str(options.corpora)] * (name == "speech" and options.corpora is not None)
    # Where it was built, the program with the emulated device adds the CUDA engine to the training table.
    emulated = options.program.with_name("semicrf-lab-emulated")
    program = emulated if name == "training" and emulated.exists() else options.program
    return [str(program), name] + out + ["--data", str(options.data)] + full


def run(name, options):
    """The row of steps.tsv."""
    begin = time.monotonic()
    process = subprocess.Popen(command_of(name, options))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    outcome = {0: "done", SKIPPED: "skipped"}.get(process.returncode, "failed")
    row = {"step": name, "form": "full" if options.full else "small", "outcome": outcome,
           "seconds": "%.1f" % (time.monotonic() - begin), "processor_seconds": "%.1f" % (usage.ru_utime + usage.ru_stime)}
    print("%(step)-12s %(outcome)-8s %(seconds)8s s, of processors %(processor_seconds)8s s" % row, flush=True)
    return row


def write_steps(path, rows):
    """`rows` in place of those that an earlier run left of the same steps."""
    known = {}
    if path.exists():
        with path.open(newline="") as file:
            known = {row["step"]: row for row in csv.DictReader(file, delimiter="\t")}
    known.update({row["step"]: row for row in rows})
    part = path.with_name(path.name + ".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(known[name] for name in STEPS if name in known)
    part.rename(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True, help="semicrf-lab")
    parser.add_argument("--semicrf", type=pathlib.Path, help="the program, for cap and speech (default: beside semicrf-lab)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/paper"))
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent.parent.parent / "shared/data", help="real segmentations")
    parser.add_argument("--full", action="store_true", help="the paper's sizes: about half an hour of one core; else one or two minutes")
    parser.add_argument("--only", nargs="+", choices=STEPS, default=STEPS)
    parser.add_argument("--corpora", type=int, help="of speech (default: 3; 2 in the small form)")
    parser.add_argument("--jobs", type=int, default=1, help="steps at a time; more than one disturbs what is timed")
    options = parser.parse_args()
    options.semicrf = options.semicrf or options.program.with_name("semicrf")
    for program in (options.program, options.semicrf):
        if not program.exists():
            sys.exit("paper.py: error: %s: is not there; build it: make lab" % program)
    options.out.mkdir(parents=True, exist_ok=True)
    rows, lock = [], threading.Lock()

    def step(name):
        row = run(name, options)
        with lock:
            rows.append(row)
            write_steps(options.out / "steps.tsv", rows)

    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
        list(pool.map(step, options.only))
    failed = [row["step"] for row in rows if row["outcome"] == "failed"]
    for script in ("pictures/draw.py", "page/claims.py"):
        if subprocess.run([sys.executable, "-B", str(HERE / script), str(options.out)]).returncode != 0:
            failed.append(script)
    skipped = [row["step"] for row in rows if row["outcome"] == "skipped"]
    print("%d steps, %.0f s of processors%s" % (len(rows), sum(float(row["processor_seconds"]) for row in rows),
                                                "; skipped: " + ", ".join(skipped) if skipped else ""))
    if failed:
        sys.exit("paper.py: error: %s failed" % ", ".join(failed))


if __name__ == "__main__":
    main()
