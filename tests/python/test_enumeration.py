"""The package against all segmentations of tiny sequences."""

import unittest

import numpy as np
from enumeration import Truth, random_tables

import semicrf

SEED = 20261127
# device, precision, tolerance
WAYS = [("reference", "double", 1e-10), ("cpu", "double", 1e-10), ("cpu", "float", 1e-5)]


def cases(number):
    rng = np.random.default_rng(SEED)
    for i in range(number):
        count, durations, length = rng.integers(1, 4), rng.integers(1, 5), rng.integers(1, 6)
        tables = random_tables(rng, count, durations)
        scores = rng.normal(size=(length, count))
        starts, ends = (rng.normal(size=scores.shape) if rng.random() < 0.4 else None for _ in range(2))
        yield i, tables, scores, starts, ends


def as_tuple(segmentation):
    return tuple(map(tuple, segmentation.segments.tolist()))


class Enumeration(unittest.TestCase):
    def near(self, found, truth, tolerance, what):
        np.testing.assert_allclose(found, truth, rtol=tolerance, atol=tolerance, err_msg=what)

    def test_answers(self):
        """log Z, posteriors, counts, the best and the k best, draws, entropy and scores."""
        possible = 0
        for i, tables, scores, starts, ends in cases(60):
            truth = Truth(tables, scores, starts, ends)
            model = semicrf.Model(**tables)
            given = (scores, starts, ends)
            for device, precision, tolerance in WAYS:
                how = dict(device=device, precision=precision)
                with self.subTest(case=i, **how):
                    log_z = model.log_partition(*given, **how)
                    if not truth.paths:
                        self.assertEqual(log_z, -np.inf)
                        for question in (model.decode, model.posteriors, model.sample, model.entropy):
                            with self.assertRaisesRegex(ValueError, "no segmentation"):
                                question(scores, start_scores=starts, end_scores=ends, **how)
                        continue
                    possible += 1
                    self.near(log_z, truth.log_z, tolerance, "log Z")
                    found = model.posteriors(*given, starts=True, ends=True, counts=True, **how)
                    for name, value in zip(("boundary", "labels", "starts", "ends", "transition", "duration", "tail"), truth.posteriors()):
                        self.near(getattr(found, name), value, tolerance, name)
                    self.near(found.log_partition, truth.log_z, tolerance, "log Z beside posteriors")
                    self.near(model.entropy(*given, **how), truth.entropy(), 10 * tolerance, "entropy")
                    self.check_paths(model, given, how, truth, tolerance)
        self.assertGreater(possible, 100)

    def check_paths(self, model, given, how, truth, tolerance):
        probabilities = dict(zip((path for path, _ in truth.paths), truth.probabilities))
        ranked = model.k_best(given[0], 1000, *given[1:], **how)
        self.assertEqual(len(ranked), min(1000, len(truth.paths)))
        for one in ranked:
            self.near(np.exp(one.log_probability), probabilities[as_tuple(one)], 10 * tolerance, "a rank")
        self.assertEqual(len({as_tuple(one) for one in ranked}), len(ranked))
        best = model.decode(*given, **how)
        self.assertEqual(as_tuple(best), as_tuple(ranked[0]))
        self.assertEqual(best.score, ranked[0].score)
        drawn = model.sample(given[0], 5, *given[1:], seed=3, **how)
        for one in drawn:
            self.near(np.exp(one.log_probability), probabilities[as_tuple(one)], 10 * tolerance, "a draw")
        path, score = truth.paths[len(truth.paths) // 2]
        self.near(model.score(given[0], np.array(path), *given[1:], **how), score, tolerance, "score")

    def test_draws_have_their_frequencies(self):
        rng = np.random.default_rng(SEED)
        tables = random_tables(rng, 2, 3)
        scores = rng.normal(size=(4, 2))
        truth = Truth(tables, scores)
        drawn = [as_tuple(one) for one in semicrf.Model(**tables).sample(scores, 20000, seed=5)]
        squares = 0.0
        for (path, _), p in zip(truth.paths, truth.probabilities):
            squares += (drawn.count(path) - 20000 * p) ** 2 / (20000 * p)
        self.assertLess(squares, len(truth.paths) + 5 * np.sqrt(2 * len(truth.paths)))  # chi-square, five standard deviations

    def test_posteriors_are_gradients(self):
        rng = np.random.default_rng(SEED)
        tables = {"transition": rng.normal(size=(3, 3)), "duration": rng.normal(size=(4, 3)), "tail": np.array([0.5, 0, 0.8]), "initial": "none"}
        scores, starts, ends = (rng.normal(size=(30, 3)) for _ in range(3))
        found = semicrf.Model(**tables).posteriors(scores, starts, ends, starts=True, ends=True, counts=True, precision="double")
        arrays = {"labels": scores, "starts": starts, "ends": ends, "transition": tables["transition"], "duration": tables["duration"]}
        for name, array in arrays.items():
            for place in [(0, 0), tuple(s - 1 for s in array.shape), (1, 2)]:
                values = []
                for step in (1e-5, -1e-5):
                    kept = array[place]
                    array[place] = kept + step
                    values.append(semicrf.Model(**tables).log_partition(scores, starts, ends, precision="double"))
                    array[place] = kept
                self.near(getattr(found, name)[place], (values[0] - values[1]) / 2e-5, 1e-7, name)

    def test_constraints(self):
        rng = np.random.default_rng(SEED)
        tables = {"transition": rng.normal(size=(3, 3)), "duration": rng.normal(size=(4, 3)), "labels": ["a", "b", "c"]}
        scores = rng.normal(size=(5, 3))
        truth = Truth({name: value for name, value in tables.items() if name != "labels"}, scores)
        Constraint = semicrf.Constraint
        kept = [score for path, score in truth.paths
                if any(b <= 2 < e and c != 1 for b, e, c in path) and any(b == 3 for b, _, _ in path)
                and all(not (b <= 4 < e and c == 0) for b, e, c in path) and all(b != 1 for b, _, _ in path)]
        model = semicrf.Model(**tables)
        constraints = [Constraint("only", 2, labels=["a", 2]), Constraint("boundary", 3), Constraint("not", 4, 5, ["a"]), Constraint("no_boundary", 1, 2)]
        log_z = model.log_partition(scores, constraints=constraints, precision="double")
        top = max(kept)
        self.near(log_z, top + np.log(sum(np.exp(score - top) for score in kept)), 1e-9, "log Z")
        self.assertIn(3, model.decode(scores, constraints=constraints).starts)
        batch = model.log_partition([scores, scores], constraints=[None, constraints], precision="double")
        self.near(batch, [truth.log_z, log_z], 1e-9, "a batch")


if __name__ == "__main__":
    unittest.main()
