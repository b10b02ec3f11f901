#!/usr/bin/env python3
"""Bandwidths as the paper's package measures them, on the grid of `semicrf-lab banded`'s banded_counted.tsv:

    python3 tests/lab/peers/bandwidth_peers.py build/paper

Calls functions of flash-semicrf (its matrix of compatible durations, its orderings; reverse Cuthill-McKee comes from SciPy) and
writes banded_peers.tsv. Nothing of the package is part of this repository.
"""

import importlib.util
import pathlib
import sys

SKIPPED = 77


def main():
    if not all(importlib.util.find_spec(name) for name in ("flash_semicrf", "scipy")):
        print("skipped: flash-semicrf or SciPy is not installed")
        return SKIPPED
    import flash_semicrf as package
    from flash_semicrf.semirings import LogSemiring
    chain = package.SemiMarkov(LogSemiring)

    def bandwidth(matrix, order):
        return package.measure_effective_bandwidth(package.apply_permutation(matrix, order))

    folder = pathlib.Path(sys.argv[1])
    part = folder / "banded_peers.tsv.part"
    with part.open("w") as file:
        print("K", "C", "S", "n", "identity", "low_high", "rcm", "best/(n-1)", sep="\t", file=file)
        for K in (8, 12, 16, 20):
            for C in (3, 4, 6):
                for S in (4, 8, 16, 32, 64):
                    matrix = chain._build_adjacency(S, K, C, "cpu")
                    n = matrix.shape[0]
                    found = (package.measure_effective_bandwidth(matrix), bandwidth(matrix, package.snake_ordering(n // C, C)),
                             bandwidth(matrix, package.rcm_ordering_from_adjacency(matrix)[0]))
                    print(K, C, S, n, *found, "%.10g" % (min(found) / (n - 1)), sep="\t", file=file)
    part.rename(folder / "banded_peers.tsv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
