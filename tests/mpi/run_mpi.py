#!/usr/bin/env python3
"""Training as several processes under mpirun: the bytes of one process, and an end for all where one fails.

    run_mpi.py --program build/mpi/bin/semicrf [test ...]

Exit code 77, which CTest shows as skipped, without mpirun or for a program that was built without SEMICRF_MPI.
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cli"), str(HERE.parent / "pipelines")]
from harness import check  # noqa: E402  pylint: disable=wrong-import-position
from make_inputs import npy  # noqa: E402  pylint: disable=wrong-import-position
import tools  # noqa: E402  pylint: disable=wrong-import-position

SEED = 5
TIME_LIMIT = 120  # seconds of a run that takes one: processes that wait for each other are slow on a busy machine
LENGTHS = [34000, 9000, 9000, 9000, 8500, 3000, 3000, 900]  # long and short pieces: several shards, unequal
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root"]
SHAPE = ["--max-duration", "40", "--tail", "-t", "1"]
LBFGS = SHAPE + ["--max-iterations"]  # and their number
ADAMW = SHAPE + ["--optimizer", "adamw", "--window", "2500", "--batch", "5", "--max-iterations"]


def make_data(folder):
    """Sequences of three labels in turn over two tracks; labels.bed says all of them, partly.bed not quite."""
    draw = random.Random(SEED)
    print("seed %d" % SEED)
    lines = []
    for number, length in enumerate(LENGTHS):
        rows, label, begin = [], 0, 0
        while begin < length:
            end = min(begin + draw.randrange(4, 30), length)
            rows += [(label + draw.gauss(0, 1), -label + draw.gauss(0, 1)) for _ in range(begin, end)]
            lines.append(("s%d" % number, begin, end, "ABC"[label]))
            label, begin = (label + draw.randrange(1, 3)) % 3, end
        (folder / ("s%d.npy" % number)).write_bytes(npy(rows))
    text = ["%s\t%d\t%d\t%s\n" % line for line in lines]
    (folder / "labels.bed").write_text("".join(text))
    partly = []
    for i, (name, begin, end, label) in enumerate(lines):
        if i % 11 == 3:
            continue  # any label
        if i % 13 == 5:
            label = "A|B|C"
        if i % 17 == 6 and end - begin > 6:  # two lines of one label: a boundary, or none
            partly.append("%s\t%d\t%d\t%s\n" % (name, begin, begin + 3, label))
            begin += 4
        partly.append("%s\t%d\t%d\t%s\n" % (name, begin, end, label))
    (folder / "partly.bed").write_text("".join(partly))


class Runner:
    def __init__(self, program, folder):
        self.program, self.folder = str(program), folder
        self.tracks = ["s%d=s%d.npy" % (i, i) for i in range(len(LENGTHS))]

    def command(self, options, output="out.json", labels="labels.bed"):
        return [self.program, "train", "--labels", labels, "-o", output] + options + self.tracks

    def start(self, ranks, command):
        launcher = MPIRUN + ["-np", str(ranks)] if ranks else []
        environment = dict(os.environ, TMPDIR=str(self.folder.parent))
        return subprocess.Popen(launcher + command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=environment)

    def end(self, process):
        """(exit code, standard error); all processes of the run have gone."""
        try:
            stderr = process.communicate(timeout=TIME_LIMIT)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            check(False, "still running after %d s" % TIME_LIMIT)
        return process.returncode, stderr

    def run(self, ranks, command):
        return self.end(self.start(ranks, command))

    def train(self, ranks, options, **more):
        """Runs in place of ranks processes, 0: without mpirun. The bytes of the parameters and the lines of the iterations."""
        output = "%d.json" % ranks
        code, stderr = self.run(ranks, self.command(options, output, **more))
        check(code == 0, "%d ranks: exit %d\n%s" % (ranks, code, stderr))
        # What other ranks say would be said twice.
        check(stderr.count("info: model: ") == 1, "more than one rank speaks\n" + stderr)
        lines = [re.sub(r", [^,]* positions/s", "", line) for line in stderr.splitlines() if "iteration" in line]
        return (self.folder / output).read_bytes(), lines

    def fails(self, ranks, command, code, *needles):
        found, stderr = self.run(ranks, command)
        lines = [line for line in stderr.splitlines() if line.startswith("semicrf: error: ")]
        check(found == code, "exit %d in place of %d\n%s" % (found, code, stderr))
        check(len(lines) == 1 and all(needle in lines[0] for needle in needles), "not one line with %s\n%s" % (needles, stderr))
        check(not (self.folder / "out.json").exists(), "an output was written")
        return lines[0]


def same_for_any_number(runner, options, **more):
    expected = runner.train(0, options, **more)
    for ranks in (1, 2, 3, 4):
        check(runner.train(ranks, options, **more) == expected, "%d ranks differ with %s" % (ranks, options))


def test_lbfgs_with_validation(runner):
    same_for_any_number(runner, LBFGS + ["4", "--val-region", "s2:1-9000", "--val-region", "s6:501-2500", "--margin", "1"])


def test_labels_of_a_part(runner):
    same_for_any_number(runner, LBFGS + ["2", "--unlabeled", "free", "--boundary-window", "-1,1"], labels="partly.bed")


def test_adamw(runner):
    same_for_any_number(runner, ADAMW + ["3", "--val-region", "s2:1-9000"])
    same_for_any_number(runner, ADAMW + ["2", "--duration", "negative-binomial", "--centering", "mean"])


def test_threads_of_ranks(runner):
    expected = runner.train(0, LBFGS + ["3"])
    two = [option if option != "1" else "2" for option in LBFGS] + ["3"]
    check(runner.train(2, two) == expected, "two threads differ")


def test_checkpoint_goes_from_ranks_to_ranks(runner):
    checkpoint = ["--checkpoint", "c.txt", "--checkpoint-every", "2"]
    for optimizer in (LBFGS, ADAMW):
        found = []
        for first, then in ((0, 0), (3, 2), (2, 0), (0, 4)):
            # A fit with AdamW must know its last pass: it goes on from its end, which only writes the model again.
            runner.train(first, optimizer + ["4"] + checkpoint)
            kept = (runner.folder / "c.txt").read_bytes()
            found.append((kept, runner.train(then, optimizer + ["6" if optimizer is LBFGS else "4", "--resume", "c.txt"])))
        check(all(one == found[0] for one in found), "a resumed fit differs")


def wait_for(condition, what):
    end = time.monotonic() + TIME_LIMIT
    while not condition():
        check(time.monotonic() < end, "%s never came" % what)
        time.sleep(0.02)


def processes_of(runner):
    """The ranks of a run, by their numbers."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd") == str(runner.folder):
                rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", (entry / "environ").read_bytes())
                if rank and b"train" in (entry / "cmdline").read_bytes():
                    found[int(rank.group(1))] = int(entry.name)
        except OSError:
            pass
    return found


def test_stopped_by_a_signal(runner):
    options = ADAMW + ["25"]
    expected = runner.train(0, options)[0]
    process = runner.start(3, runner.command(options + ["--checkpoint", "c.txt"]))
    wait_for((runner.folder / "c.txt").exists, "the checkpoint")
    process.send_signal(signal.SIGTERM)
    code, stderr = runner.end(process)
    check(code != 0, "exit %d\n%s" % (code, stderr))
    check(not processes_of(runner), "a rank was left behind")
    check(runner.train(2, options + ["--resume", "c.txt"])[0] == expected, "the resumed fit differs")


def test_a_killed_rank_ends_all(runner):
    process = runner.start(4, runner.command(ADAMW + ["2000", "--checkpoint", "c.txt"]))
    wait_for((runner.folder / "c.txt").exists, "the checkpoint")
    os.kill(processes_of(runner)[2], signal.SIGKILL)
    code, stderr = runner.end(process)
    check(code != 0, "exit 0\n" + stderr)
    check(not processes_of(runner) and not (runner.folder / "out.json").exists(), "something was left behind")


def in_folders(runner, ranks, change):
    """Every rank in a folder of its own; `change` gets that of rank 1."""
    for rank in range(ranks):
        shutil.copytree(runner.folder, runner.folder / ("rank%d" % rank), ignore=shutil.ignore_patterns("rank*"))
    change(runner.folder / "rank1")
    return ["sh", "-c", 'cd rank$OMPI_COMM_WORLD_RANK; exec "$@"', "sh"] + runner.command(LBFGS + ["3"])


def test_a_file_that_one_rank_lacks(runner):
    command = in_folders(runner, 3, lambda folder: (folder / "s3.npy").unlink())
    runner.fails(3, command, 4, "rank 1: s3.npy: ")


def test_a_file_that_differs(runner):
    command = in_folders(runner, 3, lambda folder: (folder / "s3.npy").write_bytes((folder / "s2.npy").read_bytes()))
    line = runner.fails(3, command, 3, "rank 1")
    print("     " + line)


def test_errors_are_told_once(runner):
    runner.fails(3, runner.command(LBFGS + ["3", "--margin", "-1"]), 2, "--margin")
    runner.fails(3, runner.command(LBFGS + ["3", "--no-such-option"]), 2, "unknown option")
    runner.fails(3, runner.command(LBFGS + ["3"], "no/folder.json"), 5, "no/folder.json")
    # In the middle of a fit: the shard with s1, which is not of rank 0, has no finite loss.
    runner.train(0, LBFGS + ["1"])
    first = json.loads((runner.folder / "0.json").read_text())
    first["emission"]["weights"][0][0] = 1e5
    (runner.folder / "init.json").write_text(json.dumps(first))
    (runner.folder / "s1.npy").write_bytes(npy([(0, 0), (3e38, 0), (0, 0)] * (LENGTHS[1] // 3)))
    runner.fails(3, runner.command(["--init", "init.json", "-t", "1"]), 3, "rank 1: s1:", "not finite")


TESTS = [value for name, value in list(globals().items()) if name.startswith("test_")]


def main():
    parser = tools.arguments(__doc__)
    parser.add_argument("--without-mpi", action="store_true", help="the program was built without SEMICRF_MPI")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    if options.without_mpi:
        tools.skip("the program was built without SEMICRF_MPI")
    tools.tool("mpirun")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="semicrf-mpi-") as home:
        data = pathlib.Path(home) / "data"
        data.mkdir()
        make_data(data)
        for test in TESTS:
            if options.tests and test.__name__[len("test_"):] not in options.tests:
                continue
            begin, reason = time.monotonic(), ""
            folder = pathlib.Path(home) / test.__name__
            shutil.copytree(data, folder)
            try:
                test(Runner(options.program, folder))
            except Exception as error:  # pylint: disable=broad-except
                reason = "%s: %s" % (type(error).__name__, error)
            failed += bool(reason)
            print("%-4s %-45s %5.2f s\n%s" % ("FAIL" if reason else "ok", test.__name__[len("test_"):], time.monotonic() - begin,
                                             "     " + reason + "\n" if reason else ""), end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
