#!/usr/bin/env python3
"""Tests of what follows the tables: the claims that are drawn from them, and their pictures.

    tests/lab/test_claims.py

Tables are made here, with numbers that must give one verdict and numbers that must give the other. Standard library only.
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "pictures"))
sys.path.insert(0, str(HERE))

import claims  # noqa: E402
import draw  # noqa: E402


def write(folder, name, head, *rows):
    pathlib.Path(folder, name + ".tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in [head.split(), *rows]))


class Folder(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def claims(self):
        """{claim: (paper, ours, verdict, command)} of the tables in the folder, as claims.tsv has them."""
        with contextlib.redirect_stdout(io.StringIO()) as said:
            claims.main([str(self.folder)])
        rows = [line.split("\t") for line in (self.folder / "claims.tsv").read_text().splitlines()[1:]]
        self.assertIn("%d claims" % len(rows), said.getvalue())
        return {row[1]: tuple(row[2:]) for row in rows}


class Claims(Folder):
    def test_what_was_not_run_is_said(self):
        found = self.claims()
        self.assertEqual(found["validation"][2:], ("not run", "semicrf-lab validation"))
        self.assertEqual(found["on a card"][2], "not reproducible here")

    def test_every_claim_has_a_verdict_and_a_command(self):
        for claim, (_, _, verdict, command) in self.claims().items():
            self.assertTrue(verdict and command, claim)

    def test_training(self):
        head = "engine B T C K epochs first_nll final_nll relative_difference curve_cosine seconds"
        reference = ["reference", 4, 500, 32, 50, 100, 2000, 40, 0, 1, 15]
        for difference, verdict in ((1e-12, "reproduced"), (1e-8, "differs")):
            rows = [reference] + [[name, 4, 500, 32, 50, 100, 2000, 40, difference, 1, 1] for name in ("cpu double", "cuda double, emulated")]
            write(self.folder, "training", head, *rows)
            found = [row for claim, row in self.claims().items() if "final NLL" in claim]
            self.assertEqual([row[2] for row in found], [verdict] * 2)

    def test_time_flat_in_T_and_near_linear_in_K(self):
        head = "figure method pass B T K C threads seconds positions_per_second"
        for speed, verdicts in ((4e6, ["reproduced", "better"]), (1e5, ["differs", "differs"])):
            write(self.folder, "frontier_long", head,
                  *[["flat in T", "cpu float", "forward", 1, T, 100, 24, 2, 1, value] for T, value in ((10000, 5e6), (4000000, speed))],
                  *[["G", "cpu float", "forward", 32, 50000, K, 6, 2, 1, value] for K, value in ((2000, 8e6), (8000, speed))])
            found = self.claims()
            self.assertEqual([row[2] for claim, row in found.items() if row[3] == "semicrf-lab long"], verdicts)

    def test_a_gain_of_rank_2_must_be_one_on_every_corpus(self):
        head = "seed rank law_gain per nll_per_sentence segments_per_sentence"
        for last, verdict in ((60, "a gain"), (67, "no gain")):
            write(self.folder, "speech_ranks", head, [1, 1, 0, .3, 66, 33], [1, 2, .14, .3, 60, 33], [2, 1, 0, .3, 66, 33], [2, 2, .1, .3, last, 33])
            found = next(row for claim, row in self.claims().items() if claim.startswith("rank 2 over rank 1, phones"))
            self.assertEqual(found[2], verdict)
            self.assertIn("+0.120", found[1])


class Pictures(Folder):
    def test_memory_is_bars_on_a_logarithmic_axis(self):
        write(self.folder, "frontier_memory", "method pass T K C bytes", ["tree", "forward", 128, 4, 3, 100000], ["tree", "forward+backward", 128, 4, 3, 1000000],
              ["scan", "forward", 128, 4, 3, 1000], ["scan", "forward+backward", 128, 4, 3, 10000])
        picture = draw.frontier(self.folder)["frontier_C"]
        shapes = xml.etree.ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect")
        widths = sorted(float(shape.get("width")) for shape in shapes if shape.get("height") == "11.00")
        self.assertEqual(len(widths), 4)
        # From 1e3 on an axis of 1e3 to 1e6: nothing, a third, two thirds, all of it.
        for width, share in zip(widths, (0, 1 / 3, 2 / 3, 1)):
            self.assertAlmostEqual(width / widths[-1], share, places=3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
