#!/usr/bin/env python3
"""The cohort workflow under a Slurm of one node (slurm.py): the results of a local run, resources as planned, kills.

SEMICRF_SLURM names the folder that unpack_slurm.sh filled.
"""

import random
import re

import cohort
import run_stops
import slurm
import tools


def check_cluster_run(program, folder, cluster):
    local = run_stops.fresh(folder / "original", folder / "local")
    run_stops.Runner(program, folder, [], tools.environment).finish(local)
    there = run_stops.fresh(folder / "original", folder / "cluster")
    runner = run_stops.Runner(program, folder, cluster.options(), cluster.environment)
    seconds = runner.finish(there)
    left, right = cohort.results(local), cohort.results(there)
    tools.expect(left == right, "results of Slurm differ: %s" % cohort.differences(left, right))
    log = (cluster.folder / "slurmctld.log").read_text()
    jobs = set(re.findall(r"_job_complete: JobId=(\d+) WEXITSTATUS 0|sched: Allocate JobId=(\d+)", log))
    planned = int(re.search(r"^memory\t(\d+) MiB$", (there / "results" / "plan.decode.txt").read_text(), re.MULTILINE).group(1))
    print("Slurm: %d jobs, %.1f s, memory planned %d MiB; same bytes as a local run" % (len({a or b for a, b in jobs}), seconds, planned),
          flush=True)


def check_kills(program, folder, cluster, samples, points, seed):
    """As in run_stops.py, with jobs of Slurm, which go on when Snakemake is killed; few samples, as a job starts Snakemake twice."""
    folder.mkdir()
    (folder / "original").mkdir()
    cohort.make(program, folder / "original", samples=samples, chromosomes=run_stops.BINS, longest=run_stops.LONGEST)
    cohort.configure(folder / "original", multiqc=False)
    undisturbed = run_stops.fresh(folder / "original", folder / "undisturbed")
    run_stops.Runner(program, folder, [], tools.environment).finish(undisturbed)
    expected = cohort.results(undisturbed)
    runner = run_stops.Runner(program, folder, cluster.options(), cluster.environment)
    numbers = random.Random(seed)
    for point in range(points):
        run_stops.disturb(runner, run_stops.fresh(folder / "original", folder / ("point%d" % point)), numbers, expected)
    print("%d points under Slurm: after every kill the next run gave the same bytes" % points)


def main():
    parser = tools.arguments(__doc__)
    parser.add_argument("--samples", type=int, default=12)
    parser.add_argument("--points", type=int, default=2, help="moments of kills")
    parser.add_argument("--seed", type=int, default=cohort.SEED)
    options = parser.parse_args()
    tools.tool("snakemake")
    unpacked = slurm.packages()
    with tools.Folder(options.keep) as folder, slurm.Slurm(folder / "slurm", unpacked) as cluster:
        (folder / "original").mkdir()
        cohort.make(options.program, folder / "original", samples=options.samples)
        cohort.configure(folder / "original", multiqc=False)
        check_cluster_run(options.program, folder, cluster)
        print("seed %d" % options.seed)
        check_kills(options.program, folder / "kills", cluster, min(options.samples, 3), options.points, options.seed)


if __name__ == "__main__":
    main()
