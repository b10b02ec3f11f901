"""Section 4: emission baselines."""

import math

from figures import figure, first, select
from rules import CORRECTED, REPRODUCED, above, at_least, at_most, between, within

COMMAND = "semicrf-lab centring"
TABLE_1 = ((3.25, 0.75), (0.27, 4.73), (-0.12, 8.12))


def counts(row):
    return "/".join("%.0f" % row["segments_%d" % c] for c in range(3))


def tables(claims, example, ablation, peaks, maxima, trained):
    off = max(abs(value - said) for row, pair in zip(example, TABLE_1) for value, said in zip((row["nu"], row["contrast"]), pair))
    claims.judge("Table 1", "baselines; contrasts", "; ".join(" ".join("%.2f" % pair[i] for pair in TABLE_1) for i in (0, 1)),
                 "largest difference %.3f" % off, off, at_most(0.0051), COMMAND)

    none, mean, truth, parted = (first(ablation, proportions="75/15/10", centring=name, noise=4.0) for name in ("none", "mean", "truth", "position-max"))
    moved = min(mean["segments_2"] - none["segments_2"], none["segments_0"] - mean["segments_0"])
    claims.judge("Table 2", "mean centring: more segments of rare labels, fewer of the dominant one", "90/64/59 against 142/35/19",
                 "%s against %s (truth %s): by %.0f at least" % (counts(mean), counts(none), counts(truth), moved), moved, at_least(5), COMMAND)
    gain = mean["rare_f1"] - none["rare_f1"]
    claims.judge("Table 2", "this \"improves recovery of rare classes\": F1 of the rare label, mean less none", "not measured",
                 "%.2f against %.2f (accuracy %.2f against %.2f): %+.2f" % (mean["rare_f1"], none["rare_f1"], mean["accuracy"], none["accuracy"], gain),
                 gain, at_most(-0.05, CORRECTED, REPRODUCED), COMMAND)
    other = max(abs(none["segments_%d" % c] - parted["segments_%d" % c]) for c in range(3))
    claims.judge("Table 2", "\"path-invariant\" in the text is \"none\" in the column: segments of position-max less none", "-",
                 "differ by %g" % other, other, at_most(0.01), COMMAND, "harmless, the paths are the same")
    none, mean = (first(ablation, proportions="balanced", centring=name, noise=4.0) for name in ("none", "mean"))
    claims.judge("Table 2", "balanced labels: no difference (of accuracy)", "80/80/76, 84/80/77",
                 "%s, %s: %+.3f" % (counts(mean), counts(none), mean["accuracy"] - none["accuracy"]), abs(mean["accuracy"] - none["accuracy"]), at_most(0.01), COMMAND)

    for trained_on in dict.fromkeys(row["trained_on"] for row in trained):
        rows = select(trained, trained_on=trained_on)
        tests = list(dict.fromkeys(row["tested_on"] for row in rows))
        gains = [first(rows, tested_on=name, centring="mean")["accuracy"] - first(rows, tested_on=name, centring="none")["accuracy"] for name in tests]
        claims.judge("4.1, E.8", "with trained durations the mean regularises sequences of another balance; trained on %s" % trained_on.replace("varied", "varied shares"),
                     "not measured", "accuracy, mean less none, tested on " + ", ".join("%s %+.3f" % item for item in zip(tests, gains)),
                     max(gains), at_most(-0.01, CORRECTED, REPRODUCED), COMMAND)

    def peak(T, name):
        return first(peaks, T=T, centring=name)["peak/sqrt(T)"]
    growth = {name: math.log(peak(50000.0, name) / peak(500.0, name)) / math.log(100) + 0.5 for name in ("mean", "none")}
    claims.judge("Table 2", "cumulative scores grow as √T with the mean taken out", "O(√T)", "T^%.2f" % growth["mean"], growth["mean"], within(0.5, 0.1), COMMAND)
    claims.judge("Table 2", "and as T without", "O(T)", "T^%.2f" % growth["none"], growth["none"], within(1.0, 0.1), COMMAND)
    claims.judge("Table 2", "peak / √T at T = 50k, mean", "1.28", "%.2f" % peak(50000.0, "mean"), peak(50000.0, "mean"), between(0.64, 2.56), COMMAND,
                 "the paper's generator is not in its text")
    claims.judge("Table 2", "peak / √T at T = 50k, none", "484", "%.0f" % peak(50000.0, "none"), peak(50000.0, "none"), within(484, 48.4), COMMAND)
    worst = max(row["relative_difference"] for row in maxima)
    claims.judge("4.1", "subtracting the position's maximum cancels: log Z moves by Σ max", "-", figure(worst) + " of log Z", worst, at_most(1e-12), COMMAND)
    moved = min(abs(row["log_Z_none"] - row["log_Z_mean"]) for row in maxima)
    claims.judge("App. D", "\"ν cancels in the forward recurrence\"", "cancels", "log Z moves by %.0f at least" % moved, moved, above(1.0, CORRECTED, REPRODUCED), COMMAND,
                 "ν has one entry per label")


GROUPS = [("semicrf-lab centring", ("centring_example", "centring_ablation", "centring_peaks", "centring_position_max", "centring_trained"), tables)]
