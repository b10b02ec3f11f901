#!/usr/bin/env python3
"""What training as several processes saves: processor seconds of every process, and wall time, of one process and of 1 and 2
under mpirun, in turn. By hand:

    tests/mpi/speed.py --program build/mpi/bin/semicrf --turns 3
"""

import re
import subprocess
import time

import run_mpi
import tools

TIMES = 8  # as long as the sequences of run_mpi.py
TIMED = ["bash", "-c", 'TIMEFORMAT="rank ${OMPI_COMM_WORLD_RANK:-0}: %U"; time "$@"', "timed"]


def main():
    parser = tools.arguments(__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=20)
    options = parser.parse_args()
    tools.tool("mpirun")
    run_mpi.LENGTHS = [TIMES * length for length in run_mpi.LENGTHS]
    with tools.Folder(options.keep) as folder:
        run_mpi.make_data(folder)
        command = run_mpi.Runner(options.program, folder).command(["-q", "-x", "cpu"] + run_mpi.LBFGS + [str(options.iterations)])
        for _ in range(options.turns):
            for ranks in (0, 1, 2):
                launcher = run_mpi.MPIRUN + ["--bind-to", "none", "-np", str(ranks)] if ranks else []
                begin = time.monotonic()
                done = subprocess.run(launcher + TIMED + command, cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                      check=True)
                wall = time.monotonic() - begin
                users = sorted(re.findall(r"rank \d+: [0-9.]+", done.stderr))
                print("%s: %s s; wall %.1f s" % ("mpirun -np %d" % ranks if ranks else "one process", ", ".join(users), wall), flush=True)


if __name__ == "__main__":
    main()
