#!/usr/bin/env python3
"""Makes every table and picture of docs/paper.md, then prints the table of claims:

    python3 tests/lab/paper.py --program build/lab/bin/semicrf-lab --out build/paper [--full] [--only TABLE ...]

Each table is a command of semicrf-lab. One that fails is named at the end, and the exit status is 1.
"""

import argparse
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TABLES = ["banded", "centring", "semirings", "low-rank", "validation", "training", "frontier", "complexity"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True, help="semicrf-lab")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/paper"))
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent.parent.parent / "shared/data", help="real segmentations")
    parser.add_argument("--full", action="store_true", help="the paper's sizes: up to two hours on two cores; else about ten minutes")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=TABLES)
    options = parser.parse_args()
    if not options.program.exists():
        sys.exit("paper.py: error: %s: is not there; build it with the preset lab" % options.program)
    options.out.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in options.only:
        # Where it was built, the program with the emulated device adds the CUDA engine to the small training table.
        emulated = options.program.with_name("semicrf-lab-emulated")
        program = emulated if name == "training" and emulated.exists() and not options.full else options.program
        command = [str(program), name, "--out", str(options.out), "--data", str(options.data)] + ["--full"] * options.full
        begin = time.monotonic()
        if subprocess.run(command).returncode != 0:
            failed.append(name)
        print("%-12s %6.1f s" % (name, time.monotonic() - begin), flush=True)
    for script in ("peers.py",):
        subprocess.run([sys.executable, str(HERE / script), str(options.out)] + ["--full"] * options.full)
    for script in ("pictures/draw.py", "claims.py"):
        if subprocess.run([sys.executable, "-B", str(HERE / script), str(options.out)]).returncode != 0:
            failed.append(script)
    if failed:
        sys.exit("paper.py: error: %s failed" % ", ".join(failed))


if __name__ == "__main__":
    main()
