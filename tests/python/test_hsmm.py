"""HSMM: parameters found again, the same model as the command, hmmlearn at K = 1 where it is installed, scikit-learn's conventions."""

import json
import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
from enumeration import log_sum

import semicrf
from semicrf import HSMM

RNG = np.random.default_rng(3)


def drawn(lengths, values):
    """States that last 5 to 14 positions in turn, and values(states)."""
    sequences, truth = [], []
    for length in lengths:
        states = np.concatenate([np.full(RNG.integers(5, 15), n % 3) for n in range(length // 5 + 1)])[:length]
        truth.append(states)
        sequences.append(values(states))
    return sequences, truth


def gaussian(states):
    return np.array([[0, 1], [4, -1], [-4, 0]])[states] + RNG.normal(size=(len(states), 2))


class Fits(unittest.TestCase):
    def test_parameters_come_back(self):
        sequences, truth = drawn((3000, 2000), gaussian)
        found = HSMM(3, max_duration=20, random_state=4).fit(sequences)
        order = np.argsort(found.means_[:, 0])  # -4, 0, 4
        np.testing.assert_allclose(found.means_[order], [[-4, 0], [0, 1], [4, -1]], atol=0.15)
        np.testing.assert_allclose(found.covars_, 1, atol=0.15)
        np.testing.assert_allclose(found.durationprob_.sum(axis=0), 1, atol=1e-6)
        mean = (np.arange(1, 21)[:, None] * found.durationprob_).sum(axis=0)
        np.testing.assert_allclose(mean, 9.5, atol=1)
        self.assertTrue(all(b >= a - 1e-6 * abs(a) for a, b in zip(found.history_, found.history_[1:])))
        names = np.empty(3, int)
        names[order] = [2, 0, 1]
        self.assertGreater(np.mean(names[found.predict(sequences)] == np.concatenate(truth)), 0.99)
        whole, lengths = np.concatenate(sequences), [3000, 2000]
        np.testing.assert_array_equal(found.predict(whole, lengths), found.predict(sequences))
        posteriors = found.predict_proba(whole, lengths)
        np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-5)
        self.assertAlmostEqual(found.score(whole, lengths), found.history_[-1], delta=1e-6 * abs(found.history_[-1]))
        self.assertEqual(len(found.segments(whole, lengths)), 2)

    def test_score_is_the_density(self):
        """ln P of a short sequence as the sum over all segmentations of densities and probabilities."""
        sequences, _ = drawn((600,), gaussian)
        found = HSMM(2, max_duration=3, precision="double", n_iter=5).fit(sequences)
        values = sequences[0][:6].astype(np.float32).astype(float)
        density = -0.5 * (((values[:, None] - found.means_) ** 2 / found.covars_) + np.log(2 * np.pi * found.covars_)).sum(axis=2)
        before = {0: [(0.0, None)]}  # by boundary: ln P of what lies before, last state
        for end in range(1, 7):
            before[end] = []
            for c in range(2):
                terms = [score + (math.log(found.startprob_[c]) if last is None else
                                  math.log(found.transmat_[last, c]) if found.transmat_[last, c] > 0 else -math.inf)
                         + (math.log(found.durationprob_[k - 1, c]) if found.durationprob_[k - 1, c] > 0 else -math.inf)
                         + density[end - k:end, c].sum()
                         for k in range(1, min(3, end) + 1) for score, last in before[end - k]]
                before[end].append((log_sum(terms), c))
        truth = log_sum([score for score, _ in before[6]])
        self.assertAlmostEqual(found.score(values), truth, delta=1e-5 * abs(truth))

    def test_the_command_learns_the_same(self):
        sequences, _ = drawn((1500, 700), gaussian)
        counts, _ = drawn((1500, 700), lambda states: RNG.poisson(np.array([[1, 9], [5, 2], [20, 1]])[states]))
        cases = [("gaussian", "table", sequences, ["--transform", "none"], {}), ("poisson", "negative-binomial", counts, [], {"tail": True}),
                 ("negative-binomial", "geometric", counts, [], {}),
                 ("categorical", "table", [np.minimum(one, 6) for one in counts], [], {}),
                 ("bernoulli", "table", [one > 3 for one in counts], [], {"n_init": 2, "init": "random"})]
        for emission, durations, data, options, more in cases:
            with self.subTest(emission=emission), tempfile.TemporaryDirectory(prefix="semicrf-python-") as box:
                found = HSMM(3, emission=emission, durations=durations, max_duration=15, n_iter=8, random_state=5, threads=2, **more).fit(data)
                for i, one in enumerate(data):
                    np.save(pathlib.Path(box) / f"{i}.npy", one.astype(np.float32))
                more_options = (["--tail"] if more.get("tail") else []) + ["--init", more.get("init", "kmeans"), "--restarts", str(more.get("n_init", 1))]
                subprocess.run([os.environ["SEMICRF_PROGRAM"], "learn", "-q", "-x", "cpu", "--labels", "3", "--emission", emission, "--max-duration", "15",
                                "--duration", durations, "--max-iterations", "8", "--seed", "5", *options, *more_options, "-o", "p.json",
                                "0.npy", "1.npy"], cwd=box, check=True)
                written = json.loads((pathlib.Path(box) / "p.json").read_text())
                own = json.loads(found.model_.to_json())
                self.assertEqual(own["training"]["log_likelihood"], written["training"]["log_likelihood"])
                for part in ("transition", "duration", "start", "emission", "tracks"):
                    self.assertEqual(own[part], written[part])

    def test_samples_have_the_model(self):
        sequences, _ = drawn((4000,), gaussian)
        found = HSMM(3, max_duration=20, tail=True).fit(sequences)
        values, states = found.sample(20000, random_state=1)
        self.assertEqual((values.shape, states.shape), ((20000, 2), (20000,)))
        for c in range(3):
            np.testing.assert_allclose(values[states == c].mean(axis=0), found.means_[c], atol=0.1)
        cuts = np.flatnonzero(np.diff(states)) + 1
        lengths, of = np.diff(cuts), states[cuts[:-1]]
        expected = (np.arange(1, 21)[:, None] * found.durationprob_).sum(axis=0)
        for c in range(3):
            self.assertLess(abs(lengths[of == c].mean() - expected[c]), 0.6)
        names, _ = drawn((4000,), lambda states: np.column_stack([states, RNG.integers(0, 5, len(states))]))
        categorical = HSMM(3, max_duration=20, emission="categorical").fit(names)
        self.assertEqual([table.shape for table in categorical.emissionprob_], [(3, 3), (3, 5)])
        values_of, states_of = categorical.sample(20000, random_state=1)
        for c in range(3):
            for f, table in enumerate(categorical.emissionprob_):
                share = np.bincount(values_of[states_of == c, f].astype(int), minlength=table.shape[1]) / np.sum(states_of == c)
                np.testing.assert_allclose(share, table[c], atol=0.03)
        again = found.sample(20000, random_state=1)
        np.testing.assert_array_equal(again[0], values)

    def test_hmmlearn(self):
        """With segments of one position: the log likelihood of hmmlearn's model with the same numbers."""
        try:
            from hmmlearn import hmm
        except ImportError as error:
            self.skipTest(str(error))
        sequences, _ = drawn((800, 300), gaussian)
        whole, lengths = np.concatenate(sequences).astype(np.float32), [800, 300]
        found = HSMM(3, max_duration=1, self_transitions=True, precision="double").fit(whole, lengths)
        peer = hmm.GaussianHMM(3, "diag")
        peer.startprob_, peer.transmat_, peer.means_, peer.covars_ = found.startprob_, found.transmat_, found.means_, found.covars_
        self.assertAlmostEqual(found.score(whole, lengths), peer.score(whole, lengths), delta=1e-6 * abs(peer.score(whole, lengths)))
        np.testing.assert_allclose(found.predict_proba(whole, lengths), peer.predict_proba(whole, lengths), atol=1e-5)
        names = RNG.integers(0, 4, (900, 1)) * (RNG.random((900, 1)) < np.repeat([0.2, 0.9, 0.5], 300)[:, None])
        found = HSMM(2, max_duration=1, self_transitions=True, precision="double", emission="categorical").fit(names)
        peer = hmm.CategoricalHMM(2)
        peer.startprob_, peer.transmat_, (peer.emissionprob_,) = found.startprob_, found.transmat_, found.emissionprob_
        self.assertAlmostEqual(found.score(names), peer.score(names), delta=1e-6 * abs(peer.score(names)))

    def test_conventions(self):
        one = HSMM(4, emission="poisson", tol=1e-3)
        self.assertEqual(HSMM(**one.get_params()).get_params(), one.get_params())
        self.assertEqual(one.set_params(n_iter=3).n_iter, 3)
        self.assertEqual(repr(HSMM(3, tail=True)), "HSMM(n_components=3, tail=True)")
        values = RNG.normal(size=(50, 2))
        bad = values.copy()
        bad[4, 1] = np.nan
        negative = HSMM(2, emission="poisson", max_duration=5)
        fitted = HSMM(2, max_duration=5, n_iter=2).fit(values)
        refusals = [(r"^n_states: not a parameter", lambda: one.set_params(n_states=3)), (r"not fitted", lambda: HSMM().predict(values)),
                    (r"^X: the shape is \(50,\)", lambda: HSMM().fit(values[:, 0])), (r"^lengths: ", lambda: HSMM().fit(values, [20, 20])),
                    (r"^sequence 0:row 4, column 1: the value is NaN", lambda: HSMM(2, max_duration=5).fit(bad)),
                    (r"negative value", lambda: negative.fit(values)), (r"^emission is \"normal\"", lambda: HSMM(emission="normal").fit(values)),
                    (r"^durations is \"any\"", lambda: HSMM(durations="any").fit(values)), (r"^init: ", lambda: HSMM(init="best").fit(values)),
                    (r"^max_duration: 0", lambda: HSMM(max_duration=0).fit(values)), (r"^X: 1 columns, expected 2", lambda: fitted.predict(values[:, :1])),
                    (r"^num_labels is 0", lambda: HSMM(0).fit(values))]
        for text, call in refusals:
            with self.subTest(text=text):
                self.assertRaisesRegex(ValueError, text, call)
        with tempfile.TemporaryDirectory(prefix="semicrf-python-") as box:
            fitted.model_.save(pathlib.Path(box) / "p.json")
            again = semicrf.Model.read(pathlib.Path(box) / "p.json")
            self.assertEqual(again.log_partition(values), fitted.model_.log_partition(values))


if __name__ == "__main__":
    unittest.main()
