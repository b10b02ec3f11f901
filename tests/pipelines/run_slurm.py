#!/usr/bin/env python3
"""The cohort workflow under a Slurm of one node (slurm.py): the results of a local run, resources as planned, kills.

SEMICRF_SLURM names the folder that unpack_slurm.sh filled.
"""

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
    print("Slurm: %d jobs, %.1f s, memory planned %d MiB; same bytes as a local run" % (len({a or b for a, b in jobs}), seconds, planned))
    return runner


def main():
    parser = tools.arguments(__doc__)
    parser.add_argument("--samples", type=int, default=12)
    options = parser.parse_args()
    tools.tool("snakemake")
    unpacked = slurm.packages()
    with tools.Folder(options.keep) as folder, slurm.Slurm(folder / "slurm", unpacked) as cluster:
        (folder / "original").mkdir()
        cohort.make(options.program, folder / "original", samples=options.samples)
        cohort.configure(folder / "original", multiqc=False)
        check_cluster_run(options.program, folder, cluster)


if __name__ == "__main__":
    main()
