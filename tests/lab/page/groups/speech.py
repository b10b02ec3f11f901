"""Tables 6 and 7 in shape: a corpus from text, linear heads (docs/paper-experiments.md)."""

import math

from figures import figure, first
from rules import above, at_most, below

COMMAND = "speech/run.py"


def judge_sign(claims, row):
    """The difference K = 30 less K = 1 has the paper's sign, by more than its standard error."""
    error = row["difference_sd"] / math.sqrt(row["corpora"]) if isinstance(row["difference_sd"], float) else math.inf
    claims.judge("Tables 6, 7", "K = 30 less K = 1: " + row["number"], "%+.3g" % row["difference_paper"],
                 "%+.3g, standard error %s, %g corpora" % (row["difference"], figure(error, 2), row["corpora"]),
                 row["difference"] - (error if row["difference_paper"] > 0 else -error), above(0) if row["difference_paper"] > 0 else below(0), COMMAND)


def tables(claims, rows, training):
    for row in rows:
        if row["sign"] in ("the same", "the other"):
            judge_sign(claims, row)
    per = first(rows, number="phone error rate")
    gain = per["k30_heads"] - per["k30"]
    claims.judge("3.4", "heads for starts and ends can improve accuracy: phone error rate with less without, K = 30", "stated", "%.3f less %.3f: %+.3f" % (per["k30_heads"], per["k30"], gain),
                 gain, at_most(-0.01), COMMAND)
    true = first(rows, number="mean P(true phone)")
    claims.judge("Fig. 4", "K = 30 concentrates posterior mass on the correct label: mean P(true phone), K = 30 less K = 1", "picture", "%.3f less %.3f" % (true["k30"], true["k1"]),
                 true["difference"], above(0), COMMAND)
    early = [iterations for iterations in sorted({row["iterations"] for row in training}) if iterations <= 10]
    for number, name, better in (("per", "phone error rate", -1), ("segment_f1", "segment F1", 1)):
        gains = [better * (first(training, model="semi", iterations=iterations)[number] - first(training, model="chain", iterations=iterations)[number]) for iterations in early]
        claims.judge("Fig. 3", "K = 30 is ahead from the first epochs on, %s: gains after %s passes" % (name, ", ".join("%g" % one for one in early)),
                     "from epoch %d" % (5 if number == "per" else 1), ", ".join("%+.3f" % gain for gain in gains), gains[-1], above(0), COMMAND)


def ranks(claims, rows):
    whole = []
    for seed in dict.fromkeys(row["seed"] for row in rows):
        one, two = (first(rows, seed=seed, rank=rank) for rank in (1.0, 2.0))
        whole.append((one["nll_per_sentence"] - two["nll_per_sentence"]) / one["segments_per_sentence"])
    claims.judge("App. B", "durations that depend on the label before, phones with tracks: least gain of rank 2, nats per segment", "not asked",
                 "%+.3f of %d corpora" % (min(whole), len(whole)), min(whole), above(0, "a gain", "no gain"), COMMAND)


GROUPS = [("speech/run.py", ("speech", "speech_training"), tables), ("speech/run.py: ranks", ("speech_ranks",), ranks)]
