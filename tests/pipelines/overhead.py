#!/usr/bin/env python3
"""What the cohort workflow costs over its commands: user and system time, and wall time, of a run on two cores against the same
commands by xargs, in turn. By hand:

    tests/pipelines/overhead.py --program build/release/bin/semicrf --turns 3
"""

import resource
import shutil
import statistics
import time

import cohort
import tools

BINS, LONGEST = {"chr1": 30000, "chr2": 10000}, 300


def measured(action):
    """Wall and processor seconds of what `action` starts."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def commands(program, folder, names):
    """What the rules run for every sample, one after the other in one line of a shell."""
    lines = []
    for sample in names:
        tracks = " ".join("%s=tracks/%s.%s.bw" % (track, sample, track) for track in cohort.TRACKS)
        out = "plain/%s" % sample
        lines.append("%s decode -q --device cpu --threads 1 --write-index --params config/model.json --output %s.bed.gz --posterior %s.bg.gz "
                     "--stats %s.json --multiqc plain --multiqc-name %s %s && %s eval -q --truth truth/%s.bed --output %s.txt "
                     "--multiqc plain --multiqc-name %s %s.bed.gz"
                     % (program, out, out, out, sample, tracks, program, sample, out, sample, out))
    (folder / "commands.txt").write_text("\n".join(lines) + "\n")


def plain(folder):
    shutil.rmtree(folder / "plain", ignore_errors=True)
    (folder / "plain").mkdir()
    tools.run(["bash", "-c", "tr '\\n' '\\0' < commands.txt | xargs -0 -P 2 -n 1 bash -c"], cwd=folder)


def workflow(program, folder):
    shutil.rmtree(folder / "results", ignore_errors=True)
    shutil.rmtree(folder / ".snakemake", ignore_errors=True)
    tools.run(cohort.snakemake(folder), env=tools.environment(program, HOME=str(folder)))


def main():
    parser = tools.arguments(__doc__)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with tools.Folder(options.keep) as folder:
        names = cohort.make(options.program, folder, chromosomes=BINS, longest=LONGEST)
        cohort.configure(folder, multiqc=False, report=False)
        commands(options.program, folder, names)
        rows = []
        for _ in range(options.turns):
            rows.append((measured(lambda: plain(folder)), measured(lambda: workflow(options.program, folder))))
            print("commands: wall %.1f s, processor %.2f s; workflow: wall %.1f s, processor %.2f s" % (rows[-1][0] + rows[-1][1]))
        wall = statistics.median(row[1][0] - row[0][0] for row in rows)
        processor = statistics.median(row[1][1] - row[0][1] for row in rows)
        print("overhead of the workflow, medians: wall %.1f s, processor %.2f s for %d jobs" % (wall, processor, 2 * len(names) + 1))


if __name__ == "__main__":
    main()
