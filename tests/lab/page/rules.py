"""How a figure becomes a verdict: a rule is a bar that is printed, and the same bar as a test.

    reproduced   the paper's claim holds here, within a tolerance that the bar names
    better       the same claim with a better figure
    corrected    the paper's statement is wrong: the bar is what refutes it
    differs      measured, with another size or sign
"""

import math

REPRODUCED, BETTER, CORRECTED, DIFFERS = "reproduced", "better", "corrected", "differs"
# What needs no figure, because it is no judgement.
NOT_HERE, NOT_COMPARABLE, NOT_RUN, MEASURED = "not here", "not comparable", "not run", "measured"
NO_JUDGEMENT = (NOT_HERE, NOT_COMPARABLE, NOT_RUN, MEASURED)


class Rule:
    """`good` where the test holds of a figure, else `bad`. A figure that is no number never passes."""

    def __init__(self, bar, test, good=REPRODUCED, bad=DIFFERS):
        self.bar, self.test, self.good, self.bad = bar, test, good, bad

    def verdict(self, value):
        return self.good if not math.isnan(value) and self.test(value) else self.bad


def at_most(bound, good=REPRODUCED, bad=DIFFERS):
    return Rule("<= %.3g" % bound, lambda value: value <= bound, good, bad)


def off_by(tolerance):
    """Of a difference to what the paper says."""
    return Rule("off by <= %.3g" % tolerance, lambda value: value <= tolerance)


def at_least(bound, good=REPRODUCED, bad=DIFFERS):
    return Rule(">= %.3g" % bound, lambda value: value >= bound, good, bad)


def below(bound, good=REPRODUCED, bad=DIFFERS):
    return Rule("< %.3g" % bound, lambda value: value < bound, good, bad)


def above(bound, good=REPRODUCED, bad=DIFFERS):
    return Rule("> %.3g" % bound, lambda value: value > bound, good, bad)


def within(paper, tolerance, good=REPRODUCED, bad=DIFFERS):
    return Rule("%.4g ± %.2g" % (paper, tolerance), lambda value: abs(value - paper) <= tolerance * (1 + 1e-9), good, bad)


def between(low, high, good=REPRODUCED, bad=DIFFERS):
    return Rule("%.3g to %.3g" % (low, high), lambda value: low <= value <= high, good, bad)


def exceeds(paper, times=1.0):
    """Errors: better where ours is below the paper's by this factor."""
    return at_most(paper / times, BETTER)


class Claims:
    def __init__(self):
        self.rows = []  # (where, claim, paper, here, bar, verdict, command)

    def judge(self, where, claim, paper, here, figure, rule, command, note=""):
        """The verdict of `figure` by `rule`; `here` is what is printed, after it `note`."""
        verdict = rule.verdict(figure)
        self.rows.append((where, claim, paper, here, rule.bar, verdict + (": " + note if note else ""), command))

    def note(self, where, claim, paper, here, kind, reason, command="-"):
        if kind not in NO_JUDGEMENT:
            raise ValueError("%s needs a figure" % kind)
        self.rows.append((where, claim, paper, here, "-", kind + (": " + reason if reason else ""), command))
