#!/usr/bin/env python3
"""Random sequences of commands over random odd files, each outcome held against the contract of the command line.

    random_commands.py --program build/release/bin/semicrf [--seconds 600] [--seed 7] [--first 12] [--sequences 1] [--keep DIR]

A sequence makes a folder of small files, sound, damaged and strange, and runs commands over them; what one writes the next may read.
After each command: the exit code is a documented one and no bug of ours; an error is one line; messages are short; no temporary file
is left; what failed has left nothing, and what succeeded has only the files it was asked for, which the program reads again; a second
run with other threads gives the same bytes. A finding is printed with its seed, its command lines and its folder, which is kept.
--seed S --first N --sequences 1 runs one sequence again. Standard library only. Exit code 1 when there was a finding.
"""

import argparse
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import odd_files
import outcome
from command_lines import KEPT_OUTPUTS, CommandLine, Grammar
from outcome import Finding, Surroundings

# How often commands are drawn; those that make what others read come first.
WEIGHTS = {"count": 0, "decode": 6, "posterior": 5, "simulate": 4, "train": 4, "eval": 3, "learn": 2, "query": 3, "describe": 2, "compare": 2, "reproducibility": 2, "enrich": 2,
           "report": 2, "edit": 2, "info": 2, "import chromhmm": 1, "import segway": 1, "export chromhmm": 1}
COMMANDS = 9  # of a sequence
# Lists that are sorted by what matters most, and no segmentations, are not read again: --regions, --review.
READERS = {".json": "info", ".bw": "info", ".npy": "info", ".npz": "info", ".bed": "describe", ".bb": "describe"}


class Sequence:
    def __init__(self, program, grammar, seed, number, base):
        self.program, self.grammar = program, grammar
        self.name = "%d.%d" % (seed, number)
        self.random = random.Random(self.name)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="semicrf-random-%d-%d-" % (seed, number), dir=base))
        self.work, self.again = self.folder / "work", self.folder / "again"
        self.work.mkdir()
        self.world = odd_files.World(self.work, self.random)
        self.lines = []  # command lines as a shell takes them
        self.last = None  # the last outcome

    def surroundings(self, line):
        draw, is_sanitized = self.random.random(), SANITIZED
        piped = b""
        if any(word == "-" or word.endswith(("=-", "=pipe")) or word == "pipe" for word in line.words):
            piped = (self.work / self.world.random.choice([name for name in os.listdir(self.work) if (self.work / name).is_file()])).read_bytes()
        if draw < 0.02 and not is_sanitized:
            return Surroundings({"RLIMIT_AS": self.random.choice([150, 200, 400]) << 20}, piped=piped)
        if draw < 0.04:
            return Surroundings({"RLIMIT_FSIZE": self.random.choice([0, 100, 5000])}, piped=piped)
        if draw < 0.06:
            return Surroundings({"RLIMIT_NOFILE": self.random.choice([5, 8, 12, 20])}, piped=piped)
        if draw < 0.07:
            return Surroundings(closed=[self.random.choice([0, 1])], piped=piped)
        if draw < 0.09:
            return Surroundings(stdout="/dev/full", piped=piped)
        return Surroundings(piped=piped)

    def step(self, name=None):
        names = [name for name in self.grammar.commands if WEIGHTS.get(name, 1)]
        name = name or self.random.choices(names, [WEIGHTS.get(one, 1) for one in names])[0]
        line = CommandLine(self.grammar.commands[name], self.world, self.random)
        if any("\0" in word for word in line.words):
            return
        around = self.surroundings(line)
        self.lines.append(shlex.join(["semicrf"] + line.words) + ("   # " + str(around) if not around.is_plain() else ""))
        before = outcome.state(self.work)
        compares = around.is_plain() and self.random.random() < 0.35
        if compares:
            shutil.copytree(self.work, self.again, symlinks=True)
        done = self.last = outcome.run(self.program, line.words, self.work, around)
        after = outcome.state(self.work)
        if "RLIMIT_AS" in around.limits and done.code == 127:  # too little to load the program
            return
        if 2 not in around.closed:
            outcome.check_messages(done, line.written.get("log-file") in outcome.STANDARD_OUTPUTS)
        outcome.check_files(done, self.work, before, after, line.written, KEPT_OUTPUTS)
        if done.code == 0:
            ranked = {line.written[option] for option in ("regions", "review") if option in line.written}
            self.read_again([one for one in after if one not in before and os.path.normpath(one) not in ranked])
            line.remember()
        if compares:
            self.repeat(line, done, after, around)

    def repeat(self, line, done, after, around):
        threads = [str(self.random.randint(1, 4))] if "--threads" in self.grammar.commands[line.name].names() else []
        begin = len(line.name.split())
        words = line.words[:begin] + (["--threads"] + threads if threads and "threads" not in line.given else []) + line.words[begin:]
        second = outcome.run(self.program, words, self.again, around)
        logs = {line.written[one] for one in line.written if one == "log-file"}
        logs |= {"nowhere"} if "dangling" in logs else set()  # where that link leads
        outcome.check_same(done, second, after, outcome.state(self.again), logs, "max-memory" in line.given)
        shutil.rmtree(self.again)

    def read_again(self, names):
        for name in names:
            reader = READERS.get(pathlib.Path(name).suffix)
            if name.endswith("_expanded.bed"):  # of --chromhmm-out: a line for each state over the whole chromosome
                continue
            content = (self.work / name).read_bytes() if (self.work / name).is_file() else b""
            if reader is None or not content or name.endswith((".json",)) and b"semicrf-params" not in content[:200]:
                continue
            done = outcome.run(self.program, [reader, "./" + name], self.work)
            if done.code != 0 and not ("there are no segments" in done.stderr or "no segment" in done.stderr or "empty" in done.stderr):
                raise Finding("%s does not read what was written: %s" % (reader, done.stderr.strip()[:600]))

    def run(self):
        for _ in range(COMMANDS):
            self.step()
        # Last and by draws of its own, so that those of the other commands stay as they are.
        self.random = self.world.random = random.Random("%s.count" % self.name)
        self.world.make_reads()
        self.step("count")
        shutil.rmtree(self.folder)
        return len(self.lines)


SANITIZED = False


def is_sanitized(program):
    return b"__asan_init" in pathlib.Path(program).read_bytes()


def report(seed, number, sequence, finding):
    print("FINDING: %s" % finding)
    print("  again: --seed %d --first %d --sequences 1" % (seed, number))
    if sequence is not None:
        print("  folder: %s" % sequence.work)
        print("\n".join("  " + line for line in sequence.lines))
        if sequence.last is not None:
            print("  exit %d, %s" % (sequence.last.code, sequence.last.stderr.strip()[-1500:].replace("\n", "\n    ")))
    sys.stdout.flush()


def help_of(program, path):
    """All options of a command, or the help of what only has commands."""
    done = subprocess.run([program] + path + ["--help-all"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        done = subprocess.run([program] + path + ["--help"], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def main():
    global SANITIZED  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SEMICRF_RANDOM_SECONDS", "600")),
                        help="stop after these (default: SEMICRF_RANDOM_SECONDS, or 600)")
    parser.add_argument("--seed", type=int, default=None, help="(default: SEMICRF_RANDOM_SEED, or a new one, which is printed)")
    parser.add_argument("--first", type=int, default=0, help="number of the first sequence")
    parser.add_argument("--sequences", type=int, default=10**9, help="how many")
    parser.add_argument("--keep", default=None, help="folder for the folders of findings")
    parser.add_argument("--most-findings", type=int, default=5, help="stop after so many")
    parser.add_argument("--known", default="", help="numbers of sequences with findings that are open: they are reported and do not fail")
    options = parser.parse_args()
    known = {int(one) for one in options.known.split(",") if one}
    program = str(options.program.resolve())
    SANITIZED = is_sanitized(program)
    seed = options.seed if options.seed is not None else int(os.environ.get("SEMICRF_RANDOM_SEED", random.SystemRandom().randrange(10**6)))
    print("seed %d" % seed)
    sys.stdout.flush()
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
    fish = subprocess.run([program, "completion", "fish"], stdout=subprocess.PIPE, check=True, text=True).stdout
    grammar = Grammar(lambda path: help_of(program, path), fish)
    begin, commands, findings, sequences = time.monotonic(), 0, 0, 0
    while sequences < options.sequences and time.monotonic() - begin < options.seconds and findings < options.most_findings:
        number, sequence = options.first + sequences, None
        sequences += 1
        try:
            sequence = Sequence(program, grammar, seed, number, options.keep)
            commands += sequence.run()
        except Finding as finding:
            findings += number not in known
            print("known:" if number in known else "new:")
            report(seed, number, sequence, finding)
    print("%d sequences, %d commands, %d findings in %.0f s (seed %d)" % (sequences, commands, findings, time.monotonic() - begin, seed))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
