"""Figure 2 on a processor."""

import math

from figures import amount, first, select, speed, whole
from rules import BETTER, NOT_COMPARABLE, above, at_least, at_most, between

FRONTIER, LONG = "semicrf-lab frontier", "semicrf-lab long"
GIB_48 = 49152.0


def memory(claims, memory):
    rows = {row["method"]: row["bytes"] + row["scores_bytes"] for row in select(memory, **{"pass": "forward+backward"})}
    many = rows["binary-tree"] / rows["streaming"]
    claims.judge("Fig. 2C", "trees need orders of magnitude more memory (T 128, K 4, C 3, the prefix sums counted)", "picture",
                 "%s, linear scan %s, streaming %s" % tuple(amount(rows[name]) for name in ("binary-tree", "linear-scan", "streaming")), many, at_least(100), FRONTIER)


def largest_with_products(T, bytes_at_most):
    """The largest n of a tree that keeps all n^3 products of its first level, in float32, as pytorch-struct does."""
    return math.floor((bytes_at_most / (T / 2 * 4)) ** (1 / 3) + 1e-9)


def largest(claims, rows):
    def n(method, T):
        return first(rows, method=method, T=T, limit_mib=GIB_48)["largest_n"]
    fall = n("binary-tree", 4096.0) / n("binary-tree", 1e6)
    claims.judge("Fig. 2D, F", "largest n of a tree falls with T (48 GiB, n² kept): T 4,096 over T 1M", "picture", "%s / %s" % (whole(n("binary-tree", 4096.0)), whole(n("binary-tree", 1e6))),
                 fall, at_least(5), FRONTIER)
    limit = max(row["limit_mib"] for row in rows) * 2 ** 20
    products = [largest_with_products(T, limit) for T in (4096, 16384)]
    claims.judge("Fig. 2D, F", "n < 100 to 150: a tree that keeps n³ products, T 4,096 and 16,384", "100 to 150", "%d and %d" % tuple(products), products[-1], between(100, 150), FRONTIER)
    stays = n("streaming", 1e6) / n("streaming", 1e5)
    claims.judge("Fig. 2D, F", "largest n of streaming is constant: T 1M over T 100k", "picture", "%s / %s" % (whole(n("streaming", 1e6)), whole(n("streaming", 1e5))), stays, at_least(0.9), FRONTIER)
    wrong = len([row for row in rows if row["tried"] == "wrong"])
    claims.judge("Fig. 2D", "what is predicted is taken, the next n is refused: runs where not", "-", "%d of %d" % (wrong, len([row for row in rows if row["tried"] != "no"])), wrong, at_most(0), FRONTIER)


def nanoseconds(times, method, T, K, passed="forward"):
    row = first(times, method=method, T=T, K=K, **{"pass": passed})
    return row["seconds_per_position"] * 1e9 if row else None


def scans(claims, times):
    T = max(row["T"] for row in times if row["method"] == "binary-tree" and row["K"] == 8)
    tree, triangle = (nanoseconds(times, name, T, 8.0) for name in ("binary-tree", "block-triangular"))
    claims.judge("Backend 2", "block-triangular is not faster than the tree: time over the tree's (K 8, C 3)", "not faster", "%.2f" % (triangle / tree), triangle / tree, at_least(1), FRONTIER,
                 "no indirect indexing on a processor")
    T = max(row["T"] for row in times if row["method"] == "streaming" and row["K"] == 24)
    slow, fast = (nanoseconds(times, name, T, 24.0) for name in ("streaming", "cpu float"))
    claims.judge("Fig. 2E", "the product against Alg. 1 as it is written, one core (K 24, C 4)", "O(T K C²)", "%.0f times as fast" % (slow / fast), slow / fast, above(1, BETTER), FRONTIER)
    linear, joint = (nanoseconds(times, name, T, 12.0) for name in ("linear-scan", "joint-scan"))
    if linear and joint:
        claims.note("Backend 3", "the vectorised scan: ours adds the terms of a sum at once, without vectors", "2 to 3 times", "%.1f times (K 12, C 4)" % (linear / joint), NOT_COMPARABLE,
                    "the authors' is below", FRONTIER)


def long(claims, rows):
    for scores, said in (("long", "durations that count"), ("random", "N(0,1) scores")):
        flat = [row["positions_per_second"] for row in select(rows, figure="flat in T", scores=scores, **{"pass": "forward"})]
        claims.judge("Fig. 2E", "time per position does not grow with T, %s: largest over least" % said, "flat", "%s to %s" % (speed(min(flat)), speed(max(flat))),
                     max(flat) / min(flat), at_most(1.5), LONG)
        G = {row["K"]: row for row in select(rows, figure="G", scores=scores, **{"pass": "forward"})}
        growth = G[2000.0]["positions_per_second"] / G[8000.0]["positions_per_second"]
        claims.judge("Fig. 2G", "near-linear in K: time at K 8000 over K 2000 (T 50k, C 6), %s" % said, "near 4", "%.2f; %s" % (growth, ", ".join(speed(G[K]["positions_per_second"]) for K in sorted(G))),
                     growth, between(0.5, 4.4), LONG)


GROUPS = [("semicrf-lab frontier: bytes of Fig. 2C", ("frontier_memory",), memory),
          ("semicrf-lab frontier: largest n", ("frontier_largest",), largest),
          ("semicrf-lab frontier: times", ("frontier_times",), scans),
          ("semicrf-lab long", ("frontier_long",), long)]
