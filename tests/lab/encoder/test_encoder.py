"""tests/lab/encoder: the counts of `semicrf eval`, losses that fall, tables that are written. Run by run_python_tests.py."""

import csv
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import genome  # noqa: E402
import learning  # noqa: E402
import run  # noqa: E402

try:
    import flash_semicrf  # noqa: F401
    FLASH = True
except ImportError:
    FLASH = False
SEED = 5


def labels_at_random(numbers, count):
    return np.repeat(numbers.integers(0, 3, count), numbers.integers(1, 9, count))


def table(path):
    with open(path) as file:
        return list(csv.DictReader(file, delimiter="\t"))


class Judging(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("SEMICRF_PROGRAM"), "no program (SEMICRF_PROGRAM)")
    def test_as_the_program_counts(self):
        numbers = np.random.default_rng(SEED)
        for case in range(8):
            with tempfile.TemporaryDirectory() as folder:
                pairs, lines = [], ([], [])
                for name in "ab":
                    truth = labels_at_random(numbers, 30)
                    found = np.where(numbers.random(len(truth)) < 0.15, numbers.integers(0, 3, len(truth)), np.roll(truth, 1))
                    pairs.append((truth, found))
                    for one, into in zip(pairs[-1], lines):
                        into += ["%s\t%d\t%d\tx%d\n" % (name, *row) for row in learning.runs_of(one).tolist()]
                for stem, into in zip(("truth.bed", "path.bed"), lines):
                    pathlib.Path(folder, stem).write_text("".join(into))
                said = subprocess.run([os.environ["SEMICRF_PROGRAM"], "eval", "-q", "--truth", "truth.bed", "--tolerance", "2", "--json",
                                       "-", "path.bed"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
            overall, found = json.loads(said)["overall"], learning.judge(pairs, (2,))
            for key, expected in (("accuracy", overall["bases"]["accuracy"]), ("boundary_f1", overall["boundaries"]["exact"]["f1"]),
                                  ("boundary_f1_2", overall["boundaries"]["within"]["f1"]),
                                  ("segment_f1", overall["segments"]["exact"]["f1"]),
                                  ("segment_f1_iou", overall["segments"]["overlap"]["f1"])):
                self.assertAlmostEqual(found[key], expected, places=6, msg="%s, seed %d, case %d" % (key, SEED, case))

    def test_a_perfect_path(self):
        truth = np.array([0, 0, 1, 1, 1, 0])
        self.assertEqual(learning.judge([(truth, truth)], (1,)), {"accuracy": 1, "boundary_f1": 1, "boundary_f1_1": 1, "segment_f1": 1,
                                                                  "segment_f1_iou": 1, "segments": 3})


class Experiments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, script, *arguments):
        before = sys.argv
        self.addCleanup(setattr, sys, "argv", before)
        sys.argv = [script.__file__, "--small", "--device", "cpu", "--out", str(self.folder / "out"), *map(str, arguments)]
        self.assertEqual(script.main(), 0)

    def test_speech_is_learned_and_tables_are_written(self):
        numbers = np.random.default_rng(SEED)
        labels = [labels_at_random(numbers, 8) for _ in range(30)]
        values = [one[:, None] + 0.3 * numbers.normal(size=(len(one), run.FEATURES)) for one in labels]
        np.savez(self.folder / "c.npz", values=np.concatenate(values).astype(np.float16), labels=np.concatenate(labels).astype(np.uint8),
                 ends=np.cumsum([len(one) for one in labels]), train=24)
        self.call(run, "--corpus", self.folder / "c.npz")
        rows = table(self.folder / "out" / "encoder_runs.tsv")
        for name in ("chain", "semi", "semi+heads", "softmax"):
            row = next(one for one in rows if one["model"] == name)
            self.assertLess(float(row["train_loss"]), 0.8 * float(row["first_loss"]), name)
            for key in ("per", "boundary_f1_2", "segment_f1_iou", "nll", "s_per_epoch"):
                self.assertGreaterEqual(float(row[key]), 0, (name, key))
            if name != "softmax":
                self.assertLessEqual(float(row["h_pos"]), np.log(39) + 1e-6)
        chain = next(one for one in rows if one["model"] == "chain")
        true = [len(one) for one in labels[24:]]
        self.assertAlmostEqual(float(chain["h_bdy"]), float(np.mean(np.log(true))), places=4)  # at K = 1 every position is a start
        summary = {row["number"]: row for row in table(self.folder / "out" / "encoder.tsv")}
        self.assertEqual(summary["phone error rate"]["paper_k30"], "0.218")
        self.assertGreater(float(table(self.folder / "out" / "encoder_times.tsv")[0]["ms_per_step"]), 0)

    def test_genes_are_learned_and_tables_are_written(self):
        numbers = random.Random(SEED)
        text, bed = "", []
        for name in (*genome.TRAIN, genome.TEST):
            bases, begin = [], 0
            while begin < 5200:  # coding: rich in G on its own strand
                label, size = numbers.choice(["intergenic", "CDS+0", "CDS-2", "intron"]), numbers.randint(40, 200)
                weights = {"CDS+": [1, 1, 6, 1], "CDS-": [1, 6, 1, 1]}.get(label[:4], [1, 1, 1, 1])
                bases += numbers.choices("ACGT", weights, k=size)
                bed.append("%s\t%d\t%d\t%s\n" % (name, begin, begin + size, label))
                begin += size
            text += ">%s\n%s\n" % (name, "".join(bases))
        (self.folder / "genome.fa.gz").write_bytes(gzip.compress(text.encode()))
        (self.folder / "genes.bed").write_text("".join(bed))
        self.call(genome, "--data", self.folder)
        rows = table(self.folder / "out" / "genome_runs.tsv")
        self.assertEqual([row["model"] for row in rows if row["labels"] == "best path"], [model[0] for model in genome.MODELS])
        self.assertGreater(float(rows[0]["accuracy"]), 0.5)
        for row in rows[3:]:
            self.assertLess(float(row["train_loss"]), float(rows[0]["train_loss"]), row["model"])  # a label stays

    @unittest.skipUnless(FLASH, "flash-semicrf is not installed")
    def test_flash_semicrf_scores_true_segments_one_position_too_long(self):
        torch.manual_seed(SEED)
        made, lengths, labels = torch.randn(3, 12, 6), torch.tensor([12, 9, 5]), torch.randint(4, (3, 12)).sort(1).values
        layer, fast = (learning.FlashSemiCRF(6, 4, 12, fast=fast) for fast in (False, True))
        fast.load_state_dict(layer.state_dict())
        torch.testing.assert_close(layer.losses(made, lengths, labels), fast.losses(made, lengths, labels))
        self.assertGreater(float((layer.losses(made, lengths, labels) - layer.nll(made, lengths, labels)).abs().min()), 0.1)
        with torch.no_grad():  # it has no least value
            layer.crf.duration_dist.duration_bias[2] = 50
            in_pairs = (torch.arange(12) // 2 % 2).repeat(3, 1)
            self.assertLess(float(layer.losses(made, torch.full((3,), 12), in_pairs).max()), -50)
            fast.load_state_dict(layer.state_dict())
        for one, other in zip(layer.decode(made, lengths), fast.decode(made, lengths)):
            self.assertEqual(one.tolist(), other.tolist())


if __name__ == "__main__":
    sys.exit(not unittest.main(argv=[sys.argv[0], "-v"], exit=False).result.wasSuccessful())
