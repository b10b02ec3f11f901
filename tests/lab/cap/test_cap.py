#!/usr/bin/env python3
"""Tests of the parts of the cap experiment: labels on bins, cutting, repeats, the NLL of a labelling.

    tests/lab/cap/test_cap.py [--program build/release/bin/semicrf]

Without a program its test is skipped with the reason. Standard library only. Exit code 1 when a test fails.
"""

import argparse
import pathlib
import random
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import labels  # noqa: E402
import run  # noqa: E402
import svg  # noqa: E402
from program import Program  # noqa: E402

DATA = HERE.parents[2] / "data"
PROGRAM = None
SEED = 7


class Labels(unittest.TestCase):
    def test_ends_go_to_the_nearest_bin_edge(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.bed")
            path.write_text("#x\nI\t0\t10\ta\nI\t10\t11\tb\nI\t11\t30\tc\nII\t0\t9\ta\n")
            self.assertEqual(labels.read_bins(path, 3, {"I"}), [("I", 0, 3, "a"), ("I", 3, 4, "b"), ("I", 4, 10, "c")])

    def test_parts_tile_what_was_cut(self):
        numbers = random.Random(SEED)
        for _ in range(200):
            first, length, longest = numbers.randint(0, 99), numbers.randint(1, 500), numbers.randint(1, 60)
            parts = labels.cut([("I", first, first + length, "a")], longest)
            sizes = [end - begin for _, begin, end, _ in parts]
            self.assertEqual((parts[0][1], parts[-1][2], sum(sizes)), (first, first + length, length), "seed %d" % SEED)
            self.assertTrue(max(sizes) <= longest and max(sizes) - min(sizes) <= 1)
            self.assertEqual(len(parts), -(-length // longest))

    def test_within_cuts_at_the_ends(self):
        segments = [("I", 0, 5, "a"), ("I", 5, 9, "b"), ("II", 0, 9, "c")]
        self.assertEqual(labels.within(segments, "I", 3, 6), [("I", 3, 5, "a"), ("I", 5, 6, "b")])


class Repeats(unittest.TestCase):
    def test_only_what_was_forbidden_changes(self):
        transition = [["-inf", -1.5, "-inf"], [0.5, -2, -3], ["-inf", "-inf", "-inf"]]
        run.let_labels_repeat(transition)
        self.assertEqual(transition, [[-1.5, -1.5, "-inf"], [0.5, -2, -3], ["-inf", "-inf", 0]])


class LabellingLikelihood(unittest.TestCase):
    def test_where_a_labelling_is_one_segmentation_it_is_that_of_eval(self):
        if PROGRAM is None:
            self.skipTest("no --program")
        with tempfile.TemporaryDirectory() as folder:
            program = Program(PROGRAM, folder)
            model = ["-p", DATA / "demo.params.json", *sorted(DATA.glob("codon_*.bw"))]
            genes = [row.split("\t") for row in (DATA / "genes.bed").read_text().splitlines() if not row.startswith("#")]
            place = "III:%d-%d" % (3 * (int(genes[0][1]) // 3) + 1, 3 * (int(genes[-1][2]) // 3))
            first, end = (int(base) for base in place[4:].split("-"))
            known = labels.within(labels.read_bins(DATA / "genes.bed", 3, {"III"}), "III", first // 3, end // 3)
            labels.write_bed(program.folder / "truth.bed", known, 3)
            labels.write_bed(program.folder / "known.bed", known, 3, "label:%s")
            options = ["-r", place, "--precision", "double"]
            found = program.report("posterior", "-o", "b.bedgraph", "--no-entropy", "--constraints", "known.bed", *options,
                                   *model, option="--stats")["log_constraint_probability"]
            told = program.report("eval", "--truth", "truth.bed", *options, "truth.bed", *model)["model"]["truth"]
            self.assertAlmostEqual(found, told["log_likelihood"], places=6)


class Pictures(unittest.TestCase):
    def test_steps_are_round(self):
        self.assertEqual([svg.nice_step(span) for span in (1, 3.9, 0.07, 800)], [0.2, 1, 0.02, 200])

    def test_a_picture_of_the_results_is_svg(self):
        rows = [{"data": "yeast", "K": k, "tail": tail, "boundary_f1_near": 0.5 + k / 1000, "segment_f1": 0.6,
                 "nll_per_bin": 0.01, "train_cpu_s_per_iteration": k / 10} for k in (1, 10, 100) for tail in ("yes", "no")]
        drawn = run.picture(rows)
        self.assertTrue(drawn.startswith("<svg") and drawn.endswith("</svg>\n"))
        self.assertEqual(drawn.count("<circle"), 4 * len(rows))


def main():
    global PROGRAM
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    options, rest = parser.parse_known_args()
    PROGRAM = options.program.resolve() if options.program else None
    result = unittest.main(argv=[sys.argv[0], "-v", *rest], exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
