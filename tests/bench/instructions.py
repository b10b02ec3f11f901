#!/usr/bin/env python3
"""Instructions of commands over the examples in data/, with models that `train` and `learn` have just written.

    instructions.py --program build/release/bin/semicrf [--update]

Times depend on the machine and on what else runs there, counts of instructions (valgrind's callgrind) hardly do: a row that
takes 1.5 times what instructions.tsv says, or less than 1 / 1.5 of it, fails. --update writes the table anew, with the
commit whose counts are meant to stand. Skipped (exit code 77) without valgrind, or on a processor without AVX2, which
callgrind runs the engines with. Standard library only.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
TABLE = HERE / "instructions.tsv"
MOST = 1.5
MARKS = sorted(str(path) for path in (DATA / "chromatin").glob("*.bw"))
PEAK = [str(DATA / "chromatin" / "E065.H3K4me3.bw")]
CODONS = sorted(str(path) for path in DATA.glob("codon_*.bw"))
STATES, PEAKS, GENES = DATA / "chromatin" / "states.bed", DATA / "chromatin" / "peaks.bed", DATA / "genes.bed"

# What writes the models, not counted: few iterations, since what they cost depends on K, labels and heads alone.
MODELS = {
    "states": ["train", "--labels", str(STATES), "--max-iterations", "1", *MARKS],
    "peaks": ["train", "--labels", str(PEAKS), "--background", "none", "--max-iterations", "1", *PEAK],
    "genes": ["train", "--labels", str(GENES), "--max-iterations", "1", *CODONS],
    "learned": ["learn", "--labels", "4", "--max-iterations", "1", *MARKS],
    "markov": ["learn", "--labels", "4", "--duration", "geometric", "--max-iterations", "1", *MARKS],
}
TRACKS = {"states": MARKS, "peaks": PEAK, "genes": CODONS, "learned": MARKS, "markov": MARKS}


def rows():
    """{name: command line without the program}; {model} is a parameter file."""
    found = {}
    for model, tracks in TRACKS.items():
        found["decode, " + model] = ["decode", "-p", "{%s}" % model, "-o", "o.bed", *tracks]
        found["posterior, " + model] = ["posterior", "-p", "{%s}" % model, "-o", "o.bedgraph", "--stats", "s.json", *tracks]
    for model in ("peaks", "genes"):
        found["fit, " + model] = [*MODELS[model], "-o", "fit.json"]
    for model in ("learned", "markov"):
        found["iterations, " + model] = ["learn", "--init", "{%s}" % model, "--max-iterations", "1", "-o", "fit.json", *MARKS]
    return found


def instructions(program, arguments, folder):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *arguments, "-q", "-t", "1"],
                          cwd=folder, capture_output=True, text=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or counted is None:
        sys.exit("FAILED: %s: exit code %d\n%s" % (" ".join(arguments), done.returncode, done.stderr[-2000:]))
    return int(counted.group(1)) / 1e6


def known_counts():
    lines = TABLE.read_text().splitlines()
    return {name: float(count) for name, count in (line.split("\t") for line in lines[1:])}


def has_avx2():
    try:
        return " avx2 " in pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    if shutil.which("valgrind") is None or not has_avx2():
        print("skipped: valgrind is not installed, or the processor has no AVX2")
        sys.exit(77)
    program = str(pathlib.Path(given.program).resolve())
    counts, known, wrong = {}, {} if given.update else known_counts(), []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        models = {model: str(folder / (model + ".json")) for model in MODELS}
        for model, command in MODELS.items():
            subprocess.run([program, *command, "-o", models[model], "-q", "-t", "2"], cwd=folder, check=True)
        for row, command in rows().items():
            counts[row] = instructions(program, [word.format(**models) for word in command], folder)
            before = known.get(row)
            print("%-24s %10.1f million instructions%s" % (row, counts[row], "" if before is None else ", %.2f times as many as known" % (counts[row] / before)), flush=True)
            if not given.update and (before is None or not before / MOST <= counts[row] <= before * MOST):
                wrong.append(row)
    if given.update:
        TABLE.write_text("row\tmillion_instructions\n" + "".join("%s\t%.1f\n" % row for row in counts.items()))
    if wrong:
        sys.exit("FAILED: %s; if that is meant, run with --update" % "; ".join(wrong))


if __name__ == "__main__":
    main()
