#!/usr/bin/env python3
"""The cohort workflow under kill -9: at each of 10 random moments a random job and, later, the scheduler are killed.

After the kill every file that stands under its final name has the bytes of an undisturbed run; after the next run all
results have, and nothing else is left. With --slurm the jobs are those of a one-node Slurm (slurm.py).
"""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import cohort
import slurm
import tools

BINS, LONGEST = {"chr1": 30000, "chr2": 10000}, 300
POINTS = 10


def parents():
    """{process: its parent} of this machine."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                found[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
    return found


def name_of(process):
    with contextlib.suppress(OSError):
        return pathlib.Path("/proc/%d/comm" % process).read_text().strip()
    return ""


def in_folder(process, folder):
    with contextlib.suppress(OSError):
        return os.readlink("/proc/%d/cwd" % process) == str(folder)
    return False


def jobs_of(folder):
    """Processes of ours that compute in this folder, whoever started them."""
    return [process for process in parents() if name_of(process) == "semicrf" and in_folder(process, folder)]


def command_of(process):
    """`semicrf decode`, say."""
    with contextlib.suppress(OSError):
        return " ".join(pathlib.Path("/proc/%d/cmdline" % process).read_text().split("\0")[:2]).rsplit("/", 1)[-1]
    return "gone"


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


class Runner:
    """Starts the workflow in a folder."""

    def __init__(self, program, home, more, environment):
        self.program, self.more = program, more
        self.environment = environment(program, HOME=str(home))

    def command(self, folder, *more):
        return cohort.snakemake(folder, *more, *self.more)

    def start(self, folder):
        log = open(folder / "workflow.log", "a", encoding="utf-8")
        return subprocess.Popen(self.command(folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)

    def finish(self, folder):
        tools.run(self.command(folder, "--unlock"), env=self.environment, check=False)
        begin = time.monotonic()
        tools.run(self.command(folder), env=self.environment)
        return time.monotonic() - begin


def fresh(original, folder):
    for name in ("config", "tracks", "truth"):
        shutil.copytree(original / name, folder / name)
    return folder


def temporaries(folder):
    return [path for path in (folder / "results").rglob("*") if path.name.endswith((".tmp", ".unfinished", ".unfinished.gz"))]


def check_finished_files(folder, expected):
    """What has its final name is complete, whatever the scheduler thinks of it."""
    found = {name: content for name, content in cohort.results(folder).items()
             if not name.rsplit("/", 1)[-1].startswith(".") and ".unfinished" not in name and not name.startswith("plan.")
             and not name.endswith(".evaluation.txt.tmp")}
    half = [name for name, content in found.items() if content != expected.get(name)]
    tools.expect(not half, "half written, or not what an undisturbed run writes: %s" % half)
    return len(found)


def files_of(folder):
    """How many results there are; quick, so that no moment is missed."""
    top = folder / "results"
    return sum(cohort.is_result((pathlib.Path(there) / name).relative_to(top)) for there, _, names in os.walk(top) for name in names)


def disturb(runner, folder, numbers, expected):
    """One run with a killed job and a killed scheduler, and the run that follows."""
    # After so many files and a little later: a moment of the work, however busy the machine is.
    job_at, end_at = sorted(numbers.randrange(0, len(expected) * 4 // 5) for _ in range(2))
    killed = ""
    while True:
        scheduler = runner.start(folder)
        while scheduler.poll() is None and (done := files_of(folder)) < max(end_at, 1):
            if not killed and done >= job_at and (jobs := jobs_of(folder)):
                victim = numbers.choice(jobs)
                killed = "a job (%s) after %d files, " % (command_of(victim), done)
                kill(victim)
            time.sleep(0.01)
        time.sleep(numbers.uniform(0, 0.2))
        if scheduler.poll() is None:
            break
        # Without a further attempt for the job that was killed, the workflow ends with an error, and is started again.
        tools.expect(killed and scheduler.returncode != 0 and "ended with it, " not in killed,
                     "the workflow ended before it was killed, after %s%d of %d files:\n%s"
                     % (killed, files_of(folder), len(expected), (folder / "workflow.log").read_text()[-4000:]))
        killed += "the workflow ended with it, "
        check_finished_files(folder, expected)
        end_at = max(end_at, files_of(folder) + 1)
    kill(scheduler.pid)
    scheduler.wait()
    orphans = len(jobs_of(folder))
    if numbers.random() < 0.5:  # the machine went down, not the scheduler alone
        for process in jobs_of(folder):
            kill(process)
    complete = check_finished_files(folder, expected)
    took = runner.finish(folder)
    found = cohort.results(folder)
    tools.expect(found == expected, "results differ: %s" % cohort.differences(found, expected))
    tools.expect(not temporaries(folder), "left behind: %s" % temporaries(folder))
    print("killed %sthe scheduler with %d jobs running, %d of %d files complete; the next run took %.1f s, same bytes"
          % (killed, orphans, complete, len(expected), took), flush=True)


def main():
    parser = tools.arguments(__doc__)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--seed", type=int, default=cohort.SEED)
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--multiqc", action="store_true", help="with the page of all samples")
    options = parser.parse_args()
    tools.tool("snakemake")
    unpacked = slurm.packages() if options.slurm else None
    numbers = random.Random(options.seed)
    print("seed %d" % options.seed)
    with tools.Folder(options.keep) as folder, contextlib.ExitStack() as daemons:
        more, environment = [], tools.environment
        if options.slurm:
            cluster = daemons.enter_context(slurm.Slurm(folder / "slurm", unpacked))
            more, environment = cluster.options(), cluster.environment
        original = folder / "original"
        original.mkdir()
        cohort.make(options.program, original, chromosomes=BINS, longest=LONGEST)
        cohort.configure(original, multiqc=options.multiqc)
        runner = Runner(options.program, folder, more, environment)
        undisturbed = fresh(original, folder / "undisturbed")
        seconds = runner.finish(undisturbed)
        expected = cohort.results(undisturbed)
        print("undisturbed: %.1f s, %d files" % (seconds, len(expected)))
        for point in range(options.points):
            disturb(runner, fresh(original, folder / ("point%d" % point)), numbers, expected)
            shutil.rmtree(folder / ("point%d" % point))
    print("%d points: after every kill the next run gave the same bytes" % options.points)


if __name__ == "__main__":
    main()
