"""Figure 2 and Table 7 with the authors' package beside: on a processor, and on a card."""

import math

from figures import amount, figure, select, speed
from rules import BETTER, CORRECTED, NOT_RUN, REPRODUCED, above, at_least, at_most, below, between

FORWARD, BOTH = "forward", "forward+backward"
STREAMING, FUSED = "flash-semicrf, PyTorch", "flash-semicrf, Triton"
SCRIPTS = {"cpu": "peers/peers.py", "cuda": "gpu.sh"}


def measured(rows):
    return [row for row in rows if isinstance(row["seconds"], float)]


def shape_of(row):
    return tuple(int(row[key]) if isinstance(row[key], float) else 0 for key in "BTKC")


def named(shape):
    return "B %d, T %d, K %d, C %d" % shape


def row_of(rows, method, shape, passed, precision=None):
    found = [row for row in rows if row["method"] == method and shape_of(row) == shape and row["pass"] == passed and (precision is None or row["precision"] == precision)]
    return found[0] if found else None


def seconds(rows, method, shape, passed, precision=None):
    row = row_of(rows, method, shape, passed, precision)
    return row["seconds"] if row else None


def log_z(claims, rows, device, methods):
    """log Z of every method against the engine in double, from the same scores in double."""
    truth = {(shape_of(row), row["scores"]): row["log_z"] for row in rows if row["method"] == "semicrf" and row["precision"] == "double" and isinstance(row["log_z"], float)}
    for method in methods:
        here = [row for row in rows if row["method"] == method and row["precision"] == "double" and row["pass"] == FORWARD and isinstance(row["log_z"], float) and (shape_of(row), row["scores"]) in truth]
        if not here:
            continue
        off = max(abs(row["log_z"] / truth[shape_of(row), row["scores"]] - 1) for row in here)
        claims.judge("Table 7", "all backends compute the same log Z: %s less ours, relative, %d shapes" % (method, len(here)), "the same", figure(off), off,
                     at_most(1e-9, REPRODUCED, CORRECTED), SCRIPTS[device], "its log Z is another" if off > 1e-9 else "")


def pairs(claims, where, claim, paper, rows, slow, fast, shape, passed, rule, device, fast_precision=None):
    """How many times as fast `fast` is."""
    a, b = seconds(rows, slow, shape, passed), seconds(rows, fast, shape, passed, fast_precision)
    if a is None or b is None:
        claims.note(where, claim, paper, named(shape), NOT_RUN, "", SCRIPTS[device])
        return
    claims.judge(where, "%s (%s, %s)" % (claim, named(shape), passed), paper, "%s ms / %s ms = %s" % (figure(a * 1e3), figure(b * 1e3), figure(a / b)), a / b, rule, SCRIPTS[device])


def small_states(claims, rows, device, scan):
    """Fig. 2 A and B: trees are the fastest where n is small, and fall behind."""
    for passed, where in ((FORWARD, "Fig. 2A"), (BOTH, "Fig. 2B")):
        small, large = (1, 128, 4, 3), ((1, 256, 12, 4) if device == "cpu" else (1, 1024, 24, 4))
        pairs(claims, where, "trees are the fastest at small n, their package: linear scan over tree", "> 1", rows, scan, "binary tree", small, passed, above(1), device)
        pairs(claims, where, "and degrade as n grows, their package: linear scan over tree", "< 1", rows, scan, "binary tree", large, passed, below(1), device)


def vectorised_scan(claims, rows, device, passes):
    """Backend 3: the geometric mean of linear scan over vectorised scan, over the shapes that ran both."""
    timed = [(seconds(rows, "linear scan", shape, passed), seconds(rows, "vectorised scan", shape, passed)) for shape in dict.fromkeys(shape_of(row) for row in rows) for passed in passes]
    ratios = [linear / vectorised for linear, vectorised in timed if linear and vectorised]
    claim = "their vectorised scan over their linear scan, %s, %d cases: geometric mean" % ({"cpu": "processor", "cuda": "card"}[device], len(ratios))
    if not ratios:
        claims.note("Backend 3", claim, "2 to 3 times", "", NOT_RUN, "", SCRIPTS[device])
        return
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    claims.judge("Backend 3", claim, "2 to 3 times", "%.1f to %.1f, mean %.1f" % (min(ratios), max(ratios), mean), mean, between(2, 3), SCRIPTS[device])


def processor(claims, rows):
    everything, rows = rows, measured(rows)
    log_z(claims, everything, "cpu", (STREAMING, "linear scan", "vectorised scan", "binary tree", "pytorch-struct, tree", "block-triangular"))
    small_states(claims, rows, "cpu", "linear scan")
    vectorised_scan(claims, rows, "cpu", (FORWARD, BOTH))
    shape = (1, 256, 12, 4)
    pairs(claims, "Backend 2", "block-triangular is not faster than the tree, their package: tree over block-triangular", "<= 1", rows, "binary tree", "block-triangular", shape, FORWARD, at_most(1), "cpu")
    speech = (4, 300, 30, 39)
    for method in (STREAMING, "linear scan", "vectorised scan"):
        pairs(claims, "Table 7", "ours (cpu, double, one thread) against %s" % method, "-", rows, method, "semicrf", speech, BOTH, above(1, BETTER), "cpu", "double")


def card(claims, rows):
    everything, rows = rows, measured(rows)
    log_z(claims, everything, "cuda", (FUSED,))
    speech, training = (32, 300, 30, 39), (4, 500, 50, 32)
    pairs(claims, "Table 7", "their kernel against the linear scan of pytorch-struct, training", "25", rows, "linear scan", FUSED, speech, BOTH, at_least(12.5), "cuda")
    pairs(claims, "Table 7", "their kernel against the linear scan of pytorch-struct, inference", "178", rows, "linear scan", FUSED, speech, FORWARD, at_least(89), "cuda")
    pairs(claims, "Table 5d", "their kernel against their PyTorch pass, training", "5.7", rows, STREAMING, FUSED, training, BOTH, at_least(2.85), "cuda")
    small_states(claims, rows, "cuda", "linear scan")
    vectorised_scan(claims, rows, "cuda", (FORWARD,))
    for row in rows:
        if row["method"] == FUSED and row["precision"] == "float":
            pairs(claims, "Fig. 2 E, G", "ours against their kernel, %s scores, float" % row["scores"], "-", select(rows, scores=row["scores"]), FUSED, "semicrf", shape_of(row), row["pass"],
                  above(1, BETTER), "cuda", "float")
    two, four = (row_of(rows, FUSED, (32, 5000, K, 6), FORWARD) for K in (2000, 4000))
    if two and four:
        claims.judge("Fig. 2G", "their kernel is near-linear in K: time at K 4000 over K 2000", "near 2", figure(four["seconds"] / two["seconds"]), four["seconds"] / two["seconds"], between(1.6, 2.2), SCRIPTS["cuda"])
        claims.judge("Fig. 2G", "and its memory stable: bytes at K 4000 over K 2000", "stable", "%s / %s" % (amount(four["peak_bytes"]), amount(two["peak_bytes"])),
                     four["peak_bytes"] / two["peak_bytes"], at_most(1.2), SCRIPTS["cuda"], "with the checkpoints of its forward pass")
    ours = {K: seconds(rows, "semicrf", (32, 50000, K, 6), FORWARD, "float") for K in (2000, 4000, 8000)}
    if all(ours.values()):
        growth = ours[8000] / ours[2000]
        claims.judge("Fig. 2G", "ours on the card: time at K 8000 over K 2000 (B 32, T 50k, C 6, durations that count)", "near 4",
                     "%.2f; %s" % (growth, ", ".join(speed(32 * 50000 / ours[K]) for K in sorted(ours))), growth, at_most(4.4), SCRIPTS["cuda"])


GROUPS = [("peers/peers.py", ("peers",), processor), ("gpu.sh, on a card", ("peers_cuda",), card)]
