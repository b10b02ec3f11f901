#!/usr/bin/env python3
"""Kills every command that writes, with every signal, at random moments.

    kills.py --program build/release/bin/semicrf [--seconds 600] [--seed 7] [--keep DIR]

Each command runs undisturbed first, which gives its outputs and how long it takes. Then it is started again and again in a folder that
holds its inputs alone, and gets a signal after a random part of that time. Afterwards no name of an output holds anything but the whole
output; temporary files are left by SIGKILL alone; the program ended by that signal, or was done before; and the same command, run once
more in the same folder, writes the same bytes. Fits get a checkpoint, and go on from it by --resume where there is one.
A finding is printed with its folder, which is kept. Standard library only. Exit code 1 when there was a finding.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from outcome import TEMPORARY, comparable, state

# After these the program says nothing of its own; after the others it cleans up first.
SIGNALS = ["KILL", "TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "XCPU", "ALRM"]
CHECKPOINT = "fit.checkpoint"

MODEL = """{"format": "semicrf-params", "format_version": "1.0", "labels": ["A", "B", "C"], "max_duration": 30, "bin_size": 10,
 "centering": "none", "initial": "none", "transition": [["-inf", 0, 0], [0, "-inf", 0], [0, 0, "-inf"]],
 "duration": {"kind": "geometric", "p": [0.2, 0.1, 0.3], "tail": "continue"}}"""

# Command lines by name; a word that begins with "out" is an output, or the beginning of the names of several.
COMMANDS = {
    "simulate": "simulate -q -p m.json --length 60000 --name c --seed 3 -o out.bed --emissions out.npy --stats out.json",
    "decode": "decode -q -p m.json -o out.bed --posterior out.bw --table out.tsv --boundaries out.b.tsv --review out.r.bed --stats out.json x.npy",
    "decode --hub": "decode -q -p m.json -o out.bed.gz --write-index --hub out.hub --hub-genome hg38 x.npy",
    "decode --best": "decode -q -p m.json -o out.bed --best 3 x.npy",
    "posterior": "posterior -q -p m.json -o out.bedgraph.gz --labels-out out.labels.npy --counts-out out.npz --stats out.json x.npy",
    "posterior to bigWig": "posterior -q -p m.json -o out.bw --labels-out out.labels.bw x.npy",
    "query": "query -q -p m.json --claims claims.bed -o out.tsv x.npy",
    "train": "train -q -x cpu --labels x.bed -b 10 --max-iterations 6 --checkpoint %s --checkpoint-every 1 -o out.json x.npy" % CHECKPOINT,
    "learn": "learn -q -x cpu --labels 2 -b 10 --max-iterations 5 --checkpoint %s --checkpoint-every 1 -o out.json x.npy" % CHECKPOINT,
    "describe": "describe -o out.tsv x.bed",
    "enrich": "enrich -o out.tsv --svg out.svg x.bed a=y.bed",
    "compare": "compare -o out.tsv --regions out.bed a=x.bed b=y.bed",
    "reproducibility": "reproducibility --labels y -o out.tsv --r-values out.bedgraph --confident out.bed a=y.bed b=x.bed",
    "eval": "eval -q --truth y.bed -o out.txt --json out.json x.bed",
    "report": "report -q -p m.json --segments x.bed --truth y.bed --figures out.figures -o out.html x.npy",
    "edit": "edit m.json --min-duration A=3 -o out.json",
}


class Finding(Exception):
    pass


class Command:
    def __init__(self, program, name, inputs):
        self.program, self.name, self.words, self.inputs = program, name, COMMANDS[name].split(), inputs
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            self.fill(pathlib.Path(folder))
            done = subprocess.run([program] + self.words, cwd=folder, stderr=subprocess.PIPE, check=False)
            self.seconds = time.monotonic() - begin
            if done.returncode != 0:
                raise SystemExit("%s cannot be run: %s" % (name, done.stderr.decode()))
            self.wanted = self.outputs(folder)

    def fill(self, folder):
        for path in self.inputs.iterdir():
            shutil.copy(path, folder)

    @staticmethod
    def outputs(folder):
        return {name: comparable(name, content, ()) for name, content in state(folder).items() if name.startswith("out") and content is not None and not TEMPORARY.search(name)}

    def kill(self, number, draw, folder):
        self.fill(folder)
        process = subprocess.Popen([self.program] + self.words, cwd=folder, stderr=subprocess.PIPE)  # pylint: disable=consider-using-with
        time.sleep(draw.random() * self.seconds * 1.1)
        process.send_signal(number)
        messages = process.communicate()[1].decode("utf-8", "replace")
        if process.returncode not in (0, -number):
            raise Finding("exit code %d: %s" % (process.returncode, messages.strip()[-300:]))
        left = [name for name in state(folder) if TEMPORARY.search(name)]
        if left and number != signal.SIGKILL:
            raise Finding("temporary files are left: %s" % ", ".join(left))
        found = self.outputs(folder)
        partial = [name for name in found if found[name] != self.wanted.get(name)]
        if partial:
            raise Finding("not whole: %s" % ", ".join(partial))
        if process.returncode == 0 and set(found) != set(self.wanted):
            raise Finding("exit code 0 without %s" % ", ".join(set(self.wanted) - set(found)))
        return process.returncode != 0

    def run_again(self, folder):
        words = list(self.words)
        if CHECKPOINT in words and (folder / CHECKPOINT).exists():
            words += ["--resume", CHECKPOINT]
        done = subprocess.run([self.program] + words, cwd=folder, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Finding("run again: %s" % done.stderr.decode().strip()[-300:])
        found = self.outputs(folder)
        # L-BFGS forgets its memory of a round that was not finished (docs/fitting.md, "Optimisers").
        if self.name != "train" and found != self.wanted:
            raise Finding("run again, other bytes: %s" % ", ".join(name for name in self.wanted if found.get(name) != self.wanted[name]))


def make_inputs(program, folder):
    (folder / "m.json").write_text(MODEL)
    for name, seed in (("x", 1), ("y", 2)):
        words = "simulate -q -p m.json --length 40000 --name x --seed %d -o %s.bed --emissions %s.npy" % (seed, name, name)
        subprocess.run([program] + words.split(), cwd=folder, check=True)
    subprocess.run([program] + "posterior -q -p m.json -o y.bw --labels-out y x=y.npy".split(), cwd=folder, check=True)
    (folder / "claims.bed").write_text("".join("x\t%d\t%d\tsegment:A\n" % (begin, begin + 50) for begin in range(0, 300000, 1000)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SEMICRF_KILL_SECONDS", "40")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEMICRF_RANDOM_SEED", random.SystemRandom().randrange(10**6))))
    parser.add_argument("--keep", default=None, help="folder for the folders of findings")
    options = parser.parse_args()
    program, draw = str(options.program.resolve()), random.Random(options.seed)
    print("seed %d" % options.seed, flush=True)
    kills = in_flight = findings = 0
    with tempfile.TemporaryDirectory() as inputs:
        make_inputs(program, pathlib.Path(inputs))
        commands = [Command(program, name, pathlib.Path(inputs)) for name in COMMANDS]
        begin = time.monotonic()
        while time.monotonic() - begin < options.seconds:
            command, name = commands[kills % len(commands)], draw.choice(SIGNALS)
            folder = pathlib.Path(tempfile.mkdtemp(prefix="semicrf-kill-", dir=options.keep))
            kills += 1
            try:
                in_flight += command.kill(getattr(signal, "SIG" + name), draw, folder)
                command.run_again(folder)
                shutil.rmtree(folder)
            except Finding as finding:
                findings += 1
                print("FINDING: %s, SIG%s: %s\n  folder: %s" % (command.name, name, finding, folder), flush=True)
    print("%d kills, %d in flight, %d findings (seed %d)" % (kills, in_flight, findings, options.seed))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
