"""App. C: bandwidths."""

import math

from figures import select
from rules import BETTER, CORRECTED, DIFFERS, REPRODUCED, Rule, at_least, at_most

COMMAND = "semicrf-lab banded"
# Name, which spans, and the paper's least, largest and mean smallest bandwidth / (n - 1); None: not given.
SPANS = (("S <= K/2", lambda row: row["S"] <= row["K"] / 2, 0.23, 0.68, 0.44),
         ("K/2 < S <= K", lambda row: row["K"] / 2 < row["S"] <= row["K"], 0.78, 0.99, 0.90),
         ("S > K", lambda row: row["S"] > row["K"], 0.97, 1.0, None),
         ("S = K", lambda row: row["S"] == row["K"], 0.97, 1.0, None))


def spread(values):
    return min(values), max(values), sum(values) / len(values)


def written(low, high, mean):
    return "%.2f to %.2f, mean %.2f" % (low, high, mean)


def ratios(rows, matrix, inside):
    return spread([row["best/(n-1)"] for row in rows if inside(row) and row.get("matrix", matrix) == matrix])


def empirical(claims, counted):
    for name, inside, low, high, mean in SPANS:
        paper = written(low, high, mean) if mean else ">= %.2f" % low
        for matrix, said in (("from 0", "the matrix of the authors' package"), ("C.4", "M_S of (C.4)")):
            found = ratios(counted, matrix, inside)
            claim = "smallest bandwidth of three orderings over n - 1, %s, on %s" % (name, said)
            if mean:
                off = max(abs(value - want) for value, want in zip(found, (low, high, mean))) if matrix == "from 0" else abs(found[2] - mean)
                rule = at_most(0.0051 if matrix == "from 0" else 0.05, REPRODUCED, DIFFERS if matrix == "from 0" else CORRECTED)
                what = "of least, largest and mean" if matrix == "from 0" else "of the mean"
                claims.judge("C, Empirical", claim, paper, written(*found) + ": off by %.3f %s" % (off, what), off, rule, COMMAND)
            else:
                claims.judge("C, Empirical", claim, paper, written(*found), found[0], at_least(low - 0.0051, REPRODUCED, CORRECTED), COMMAND)


def authors(claims, counted, peers):
    ours = {(row["K"], row["C"], row["S"]): row for row in counted if row["matrix"] == "from 0"}
    off = max(abs(row["best/(n-1)"] - ours[row["K"], row["C"], row["S"]]["best/(n-1)"]) for row in peers)
    claims.judge("C, Empirical", "the authors' package measures that matrix: its functions on the same grid, ratios less ours", "-",
                 "%d cases, off by %.3f at most" % (len(peers), off), off, at_most(0.001), "tests/lab/peers/bandwidth_peers.py")


def bounds(claims, orderings, bounds, powers, levels):
    broken = [row for row in bounds if not row["printed_holds"]]
    holds = all(row["corrected_holds"] for row in bounds) and all((not row["printed_holds"]) == (row["S"] >= 2 * row["K"] + 2) for row in bounds)
    claims.judge("C.5", "bandwidth >= C⌊S/2⌋ - 1 under any ordering; C·min(K, ⌊S/2⌋) - 1 holds", "all S",
                 "fails in %d of %d cases, where S >= 2K + 2; the other never" % (len(broken), len(bounds)), len(broken) if holds else math.nan,
                 at_least(1, CORRECTED, REPRODUCED), COMMAND)
    late = [row for row in powers if not row["m<=T"] and row["bandwidth"] == 0]
    early = all(row["bandwidth"] == row["min(T,mK)"] for row in powers if row["m<=T"])
    claims.judge("C.7", "bw(B^m) = min(T, mK) for all m", "all m", "for m <= T; B^m is empty in %d cases beyond" % len(late), len(late) if early else math.nan,
                 at_least(1, CORRECTED, REPRODUCED), COMMAND)
    for name, inside, *_ in (SPANS[1], SPANS[2]):
        rows = [row for row in orderings if inside(row) and row["K"] >= 16]
        best, middle = (sum(values) / len(rows) for values in ([row["best/(n-1)"] for row in rows], [row["middle_out"] / (row["n"] - 1) for row in rows]))
        claims.judge("C.5", "\"reordering offers negligible benefit\", %s: most neighbours in the middle against the best of three (K >= 16)" % name,
                     "mean .90" if name != "S > K" else ">= .97", "mean %.2f against %.2f" % (middle, best), middle / best,
                     at_most(0.9, CORRECTED, REPRODUCED), COMMAND)
    late = []
    for model in dict.fromkeys((row["K"], row["C"]) for row in levels):
        dense = [row["level"] for row in levels if (row["K"], row["C"]) == model and row["entries/n^2"] > 0.99]
        late.append((min(dense) if dense else math.inf) - math.log2(model[0]))
    claims.judge("C.7", "the tree's operators are dense after about log2 levels: first dense level less log2 K", "log2(T/K)", "%+.0f at most" % max(late), max(late),
                 Rule("<= 1", lambda value: value <= 1), COMMAND)


def storage(claims, memory):
    rows = {row["method"]: row["bytes"] for row in select(memory, **{"pass": "forward+backward"})}
    share = rows["block-triangular"] / rows["binary-tree"]
    claims.judge("Backend 2", "block-triangular storage over the tree's", "about 0.5", "%.2f (T 128, K 4, C 3)" % share, share, at_most(0.4, BETTER, REPRODUCED), "semicrf-lab frontier",
                 "nodes of few boundaries have few durations, too")


GROUPS = [("semicrf-lab banded", ("banded_counted",), empirical),
          ("peers/bandwidth_peers.py", ("banded_counted", "banded_peers"), authors),
          ("semicrf-lab banded: bounds", ("banded_orderings", "banded_bounds", "banded_powers", "banded_fill_in"), bounds),
          ("semicrf-lab frontier: bytes", ("frontier_memory",), storage)]
