#!/usr/bin/env python3
"""Tests of the verdicts and of the pictures that are drawn from tables.

    tests/lab/page/test_claims.py

Every claim is made from the figures of docs/paper; then the figures are altered, one column of one table at a time, until its
verdict turns. A claim whose verdict no figure can turn is an error. Standard library only.
"""

import contextlib
import io
import math
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "pictures")]

import claims  # noqa: E402
import draw  # noqa: E402
import rules  # noqa: E402
from figures import Folder  # noqa: E402

FIGURES = HERE.parents[2] / "docs" / "paper"
# What is done to a column, in all rows or in one: (its value, the row) to another value.
ALTERATIONS = ([lambda value, row, by=by: value * by for by in (0.0, 1e9, 1e3, 10, 2.5, 1.5, 1.1, 0.6, 0.5, 0.1, 1e-3, -1)]
               + [lambda value, row, by=by: value + by for by in (1, -1)] + [lambda value, row: 1.0])


def alterations(rows, column):
    """Those of numbers; of a text, the one that a failed run would leave; and every other column of numbers in its place."""
    if any(isinstance(row[column], float) for row in rows):
        others = [key for key, value in rows[0].items() if key != column and isinstance(value, float)]
        return ALTERATIONS + [lambda value, row, other=other: row[other] for other in others]
    return [lambda value, row: "wrong"]


class Altered:
    """The tables of `folder` with one column altered: of all rows, or of row `only`."""

    def __init__(self, folder, name, column, alteration, only=None):
        self.folder, self.name, self.rows = folder, name, list(folder(name))
        for index in range(len(self.rows)) if only is None else (only,):
            row = self.rows[index]
            try:
                self.rows[index] = dict(row, **{column: alteration(row[column], row)})
            except TypeError:
                pass  # a text among numbers

    def __call__(self, name):
        return self.rows if name == self.name else self.folder(name)


def identity(row):
    """Where and what a claim is, without the figures that some of them name."""
    return row[0], "".join(letter for letter in row[1] if not letter.isdigit())




def turned_by(group, folder, before, change):
    """The numbers of the claims of the group whose verdict is another with the altered tables."""
    try:
        after = claims.of_group(group, change)
    except (ArithmeticError, ValueError, LookupError, AttributeError, TypeError):
        return set()  # the altered key of a row: the claim was not made
    if len(after) != len(before):
        return set()
    return {i for i, (a, b) in enumerate(zip(before, after)) if identity(a)[0] == identity(b)[0] and claims.kind(a[5]) != claims.kind(b[5])}


def turning(group, folder):
    """For every claim of a group whether an alteration turned it."""
    before = claims.of_group(group, folder)
    wanted = {i for i, row in enumerate(before) if claims.kind(row[5]) not in rules.NO_JUDGEMENT}
    found = set()
    for single in (False, True):
        for name in group[1]:
            for column in reversed(list(folder(name)[0] if folder(name) else ())):  # results come after their shapes
                for only in (range(len(folder(name))) if single else [None]):
                    for alteration in alterations(folder(name), column)[::3 if single else 1]:
                        if wanted <= found:
                            return before, found
                        found |= turned_by(group, folder, before, Altered(folder, name, column, alteration, only))
    return before, found


class Turning(unittest.TestCase):
    def test_every_verdict_of_the_page_turns_when_a_figure_is_altered(self):
        folder, count = Folder(FIGURES), 0
        for group in claims.GROUPS:
            before, found = turning(group, folder)
            for i, row in enumerate(before):
                if claims.kind(row[5]) not in rules.NO_JUDGEMENT:
                    count += 1
                    with self.subTest(where=row[0], claim=row[1]):
                        self.assertIn(i, found, "no figure turns \"%s\"" % row[5])
        self.assertGreater(count, 80)

    def test_a_constant_verdict_would_be_found(self):
        def constant(made, rows):
            made.judge("nowhere", "nothing", "-", "-", 1.0, rules.at_least(0.5), "-")
        before, found = turning(("constant", ("numbers_short",), constant), Folder(FIGURES))
        self.assertEqual((len(before), found), (1, set()))


class Rules(unittest.TestCase):
    def test_bars(self):
        for rule, good, bad in ((rules.at_most(2), 2, 2.001), (rules.at_least(2), 2, 1.999), (rules.above(0), 1e-9, 0), (rules.below(0), -1e-9, 0), (rules.within(1.28, 0.1), 1.38, 1.381),
                                (rules.between(2, 3), 3, 3.001), (rules.exceeds(8.0, 10), 0.8, 0.801)):
            with self.subTest(bar=rule.bar):
                self.assertEqual((rule.verdict(good), rule.verdict(bad)), (rule.good, rule.bad))
                self.assertEqual(rule.verdict(math.nan), rule.bad)

    def test_no_figure_no_judgement(self):
        made = rules.Claims()
        for kind in (rules.REPRODUCED, rules.BETTER, rules.CORRECTED, rules.DIFFERS):
            self.assertRaises(ValueError, made.note, "", "", "", "", kind, "")


class Files(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def claims(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            claims.main([str(self.folder)])
        rows = [line.split("\t") for line in (self.folder / "claims.tsv").read_text().splitlines()[1:]]
        self.assertIn("%d claims" % len(rows), said.getvalue())
        return rows

    def test_what_was_not_run_is_said(self):
        found = {row[1]: row[5] for row in self.claims()}
        self.assertEqual(found["semicrf-lab validation"], "not run")
        self.assertEqual(found["gpu.sh, on a card"], "not run")

    def test_peers_that_are_not_installed_are_not_run(self):
        head = "method device precision B T K C pass scores seconds log_z peak_bytes".split()
        rows = [["flash-semicrf", "cpu", "-", "-", "-", "-", "-", "-", "-", "not installed", "-", "-"],
                ["semicrf", "cpu", "double", 1, 128, 4, 3, "forward", "random", 6e-6, 212.9, 1000]]
        for name in ("peers", "peers_cuda"):
            (self.folder / (name + ".tsv")).write_text("".join("\t".join(map(str, row)) + "\n" for row in [head, *rows]))
        found = [row for row in self.claims() if row[0] in ("Backend 2", "Backend 3", "Fig. 2A", "Fig. 2B")]
        self.assertGreater(len(found), 6)
        self.assertEqual({row[5] for row in found}, {"not run"})

    def test_every_claim_has_a_verdict_and_a_command(self):
        for row in self.claims():
            self.assertTrue(row[5] and row[6], row)

    def test_memory_is_bars_on_a_logarithmic_axis(self):
        rows = [["tree", "forward", 128, 4, 3, 100000, 0], ["tree", "forward+backward", 128, 4, 3, 1000000, 0], ["scan", "forward", 128, 4, 3, 1000, 0], ["scan", "forward+backward", 128, 4, 3, 10000, 0]]
        head = "method pass T K C bytes scores_bytes".split()
        (self.folder / "frontier_memory.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in [head, *rows]))
        picture = draw.frontier(self.folder)["frontier_C"]
        shapes = xml.etree.ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect")
        widths = sorted(float(shape.get("width")) for shape in shapes if shape.get("height") == "11.00")
        self.assertEqual(len(widths), 4)
        # From 1e3 on an axis of 1e3 to 1e6: nothing, a third, two thirds, all of it.
        for width, share in zip(widths, (0, 1 / 3, 2 / 3, 1)):
            self.assertAlmostEqual(width / widths[-1], share, places=3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
