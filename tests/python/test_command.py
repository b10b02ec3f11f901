"""The same parameters and scores through the command and through the package: the same bytes and digits."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

import semicrf

RNG = np.random.default_rng(11)
LABELS = {"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b", "c"], "max_duration": 20,
          "transition": [["-inf", 0, -1], [0, "-inf", -1], [-0.5, 0, "-inf"]],
          "duration": {"kind": "geometric", "p": [0.1, 0.15, 0.2], "tail": "continue"}}
TRACKS = {**LABELS, "centering": "mean", "tracks": [{"name": "x", "transform": "asinh", "center": 0.3, "scale": 2, "missing": "zero"},
                                                    {"name": "y", "transform": "log1p"}],
          "emission": {"weights": [[1, 0.5], [-1, 0.2], [0.3, -1]], "bias": [0.1, 0, -0.1]},
          "boundary": {"window": [-1, 0], "start_weights": [[0.5, 0, -0.5, 0], [0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4]]}}


def tracks(length):
    values = np.abs(RNG.normal(size=(length, 2)) * 3)
    values[RNG.random(length) < 0.01, 0] = np.nan
    return values


CASES = {
    "no centring": ({**LABELS, "centering": "none"}, RNG.normal(size=(3000, 3)).astype(np.float32)),
    "mean": ({**LABELS, "centering": "mean"}, RNG.normal(size=(40000, 3))),
    "position-max": ({**LABELS, "centering": "position-max", "initial": "none"}, RNG.normal(size=(500, 3)).astype(np.float16)),
    "mean-preserving": ({**LABELS, "centering": "mean-preserving"}, np.asfortranarray(RNG.normal(size=(700, 3)))),
    "tracks": (TRACKS, tracks(5000)),
}


class Command(unittest.TestCase):
    def setUp(self):
        box = tempfile.TemporaryDirectory(prefix="semicrf-python-")
        self.addCleanup(box.cleanup)
        self.box = pathlib.Path(box.name)

    def run_program(self, command, *options):
        """The statistics of the only sequence."""
        subprocess.run([os.environ["SEMICRF_PROGRAM"], command, "-q", "-p", "p.json", "--stats", "stats.json", *options, "s.npy"],
                       cwd=self.box, check=True)
        return json.loads((self.box / "stats.json").read_text())["sequences"][0]

    def lines(self, name):
        return [line.split("\t")[:4] for line in (self.box / name).read_text().splitlines() if not line.startswith("#")]

    def assert_same_lines(self, name, model, found):
        self.assertEqual(self.lines(name), [["s", str(b), str(e), model.labels[c]] for b, e, c in found.segments.tolist()])

    def test_same_answers(self):
        for case, (parameters, scores) in CASES.items():
            for precision in ("float", "double"):
                with self.subTest(case=case, precision=precision):
                    self.check(parameters, scores, precision)

    def check(self, parameters, scores, precision):
        np.save(self.box / "s.npy", scores)
        (self.box / "p.json").write_text(json.dumps(parameters))
        model = semicrf.Model.read(self.box / "p.json")
        how, options = dict(precision=precision, threads=2), ["-x", "cpu", "--precision", precision]
        model.save(self.box / "p.json")  # the command takes what the package wrote

        stats = self.run_program("decode", *options, "-o", "best.bed", "--score", "none")
        best = model.decode(scores, **how)
        self.assert_same_lines("best.bed", model, best)
        self.assertEqual(best.score, stats["viterbi_score"])

        stats = self.run_program("posterior", *options, "-o", "b.bedgraph", "--labels-out", "l.npy", "--starts-out", "s_.npy",
                                 "--ends-out", "e.npy", "--counts-out", "c.npz")
        self.assertEqual(model.log_partition(scores, **how), stats["log_partition"])
        self.assertEqual(model.entropy(scores, **how), stats["segmentation_entropy"])
        found = model.posteriors(scores, starts=True, ends=True, counts=True, **how)
        self.assertEqual(found.log_partition, stats["log_partition"])
        for name, array in (("l.npy", found.labels), ("s_.npy", found.starts), ("e.npy", found.ends)):
            written = np.load(self.box / name)
            self.assertEqual(written.dtype, array.dtype)
            np.testing.assert_array_equal(written, array)
        with np.load(self.box / "c.npz") as counts:
            for name in ("transition", "duration", "tail"):
                np.testing.assert_array_equal(counts[name], getattr(found, name))

        stats = self.run_program("decode", *options, "--best", "3", "-o", "k.bed")
        for rank, one in enumerate(model.k_best(scores, 3, **how)):
            self.assert_same_lines(f"k.{rank + 1}.bed", model, one)
            self.assertEqual((one.score, one.log_probability), (stats["score"][rank], stats["log_probability"][rank]))

        stats = self.run_program("simulate", *options, "--seed", "5", "--draws", "2", "-o", "d.bed")
        for draw, one in enumerate(model.sample(scores, 2, seed=5, names="s", **how)):
            self.assert_same_lines(f"d.{draw + 1}.bed", model, one)
            self.assertEqual(one.log_probability, stats["log_likelihood"][draw])

    def test_constraints(self):
        parameters, scores = CASES["mean"]
        np.save(self.box / "s.npy", scores)
        (self.box / "p.json").write_text(json.dumps(parameters))
        (self.box / "c.bed").write_text("s\t100\t150\tlabel:a,b\ns\t120\t121\tboundary\ns\t3000\t3100\tnot:c\ns\t200\t260\tno-boundary\n")
        Constraint = semicrf.Constraint
        constraints = [Constraint("only", 100, 150, ["a", "b"]), Constraint("boundary", 120), Constraint("not", 3000, 3100, ["c"]),
                       Constraint("no_boundary", 200, 260)]
        model = semicrf.Model.read(self.box / "p.json")
        stats = self.run_program("decode", "-x", "cpu", "--constraints", "c.bed", "-o", "best.bed")
        best = model.decode(scores, constraints=constraints)
        self.assert_same_lines("best.bed", model, best)
        self.assertEqual(best.score, stats["viterbi_score"])
        stats = self.run_program("posterior", "-x", "cpu", "--constraints", "c.bed", "-o", "b.bedgraph")
        self.assertEqual(model.posteriors(scores, constraints=constraints).log_partition, stats["log_partition"])


if __name__ == "__main__":
    unittest.main()
