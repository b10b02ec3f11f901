"""App. B and D: semirings, exponents, memory, low rank."""

from figures import figure, first
from rules import BETTER, CORRECTED, REPRODUCED, above, at_most, off_by

# Exponents of T, K and C in seconds, then in bytes, as the paper states them.
STATED = {"edge-tensor": (1, 1, 2, 1, 1, 2), "linear-scan": (1, 1, 2, 1, 1, 2), "ring-scan": (1, 1, 2, 1, 1, 2), "streaming": (1, 1, 2, .5, .5, 1),
          "binary-tree": (1, 3, 3, 1, 2, 2), "sharded-tree": (1, 3, 3, .5, 2, 2), "block-triangular": (1, 3, 3, 1, 2, 2)}
TOLERANCE = 0.2


def exponents(rows, method):
    """Of T, K and C in seconds, and in bytes."""
    found = [first(rows, method=method, axis=axis, **{"pass": "forward+backward"}) for axis in "TKC"]
    return [row["exponent_of_time"] for row in found], [row["exponent_of_memory"] for row in found]


def written(values, axes="TKC"):
    return " ".join("%s %.2f" % item for item in zip(axes, values))


def complexity(claims, rows):
    command = "semicrf-lab complexity"

    def judge(where, claim, paper, method, part, axes, note=""):
        values = [exponents(rows, method)[part]["TKC".index(axis)] for axis in axes]
        stated = [STATED[method][3 * part + "TKC".index(axis)] for axis in axes]
        off = max(abs(value - want) for value, want in zip(values, stated))
        claims.judge(where, claim, paper, "exponents " + written(values, axes), off, off_by(TOLERANCE), command, note)
    judge("Table 3", "streaming: time", "O(T K C²)", "streaming", 0, "TKC")
    judge("Table 3", "streaming: memory", "O(KC + √(T/K) KC): at most √T √K C", "streaming", 1, "TKC")
    judge("App. B", "linear scan: time", "O(T K C²)", "linear-scan", 0, "TKC")
    judge("App. B", "linear scan: memory", "O(T K C²)", "linear-scan", 1, "TKC")
    for method in ("binary-tree", "sharded-tree"):
        judge("App. B", method.replace("-", " ") + ": time in T and C", "O(T n³)", method, 0, "TC")
        judge("App. B", method.replace("-", " ") + ": time in K", "O(T n³)", method, 0, "K", "sums of impossible terms end early, and n is (K+1) C")
        judge("App. B", method.replace("-", " ") + ": memory", "O(√T n²)" if method == "sharded-tree" else "O(T n²)", method, 1, "TKC")
    over = max(value - bound for method in ("cpu double", "cpu float") for value, bound in zip(exponents(rows, method)[0], (1, 1, 1)))
    claims.judge("App. B", "the product takes O(T (K C + C²)): exponents of T, K, C over 1", "O(T K C²)", "cpu: %+.2f at most" % over, over, at_most(TOLERANCE, BETTER), command)


def semirings(claims, rows, durations, short):
    worst = max(max(row["error_of_total"], row["error_through_edges"]) for row in rows)
    count = [len({row[key] for row in rows}) for key in ("backend", "semiring")]
    claims.judge("App. B", "semirings by one algorithm, here against enumeration", "named", "%d backends, %d semirings: error %s" % (*count, figure(worst)),
                 worst, at_most(1e-11), "semicrf-lab semirings")
    worst = max(row["error_of_marginals"] for row in durations)
    claims.judge("App. B", "distributions of durations", "4 named", "%d and tables: error %s" % (len({row["kind"] for row in durations}) - 1, figure(worst)),
                 worst, at_most(1e-11), "semicrf-lab semirings")
    worst = max(row["relative_difference"] for row in short)
    claims.judge("App. D", "K = 1 and K = 2 need algorithms of their own; the streaming one at K = 1, 2 is off by", "stated", figure(worst),
                 worst, at_most(1e-12, CORRECTED, REPRODUCED), "semicrf-lab numbers")


def low_rank(claims, costs, gains):
    worst = max(row["relative_difference_of_log_Z"] for row in costs)
    claims.judge("App. B", "T[k,c',c] costs O(T K C²); as a sum of products, log Z is off by", "no other way", figure(worst), worst, at_most(1e-12), "semicrf-lab low-rank")
    dear = max((row for row in costs if row["R"] == 1), key=lambda row: row["K"] * row["C"])
    claims.judge("App. B", "and rank 1 takes less time", "O(T K C²)", "%s times as fast (K %g, C %g)" % (figure(dear["ratio"]), dear["K"], dear["C"]),
                 dear["ratio"], above(1.5, BETTER), "semicrf-lab low-rank")
    real = [row for row in gains if row["rank"] == 2 and not str(row["data"]).startswith("synthetic")]
    if real:
        most = max(row["gain_over_rank_1"] / -row["nats_per_segment_judged"] for row in real)
        claims.judge("App. B", "durations of real segments depend on the label before: gain of rank 2, share of the nats", "not asked",
                     "%.1f %% at most, of %d data sets" % (100 * most, len(real)), most, at_most(0.02, "hardly", "they do"), "semicrf-lab low-rank")


GROUPS = [("semicrf-lab complexity", ("complexity",), complexity),
          ("semicrf-lab semirings", ("semirings", "durations", "numbers_short"), semirings),
          ("semicrf-lab low-rank", ("low_rank_cost", "low_rank_gain"), low_rank)]
