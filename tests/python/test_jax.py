"""semicrf.jax against all segmentations of tiny sequences, and against JAX's own ways of checking a function."""

import doctest
import math
import pathlib
import threading
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from enumeration import NAMES, SEED, Truth, cases, statistics
from jax.test_util import check_grads

import semicrf
import semicrf.jax as layer

jax.config.update("jax_enable_x64", True)


def arguments(tables, scores, starts, ends, dtype=np.float64):
    """Those that are differentiated, by name, and the others. The tail becomes its logarithm."""
    with np.errstate(divide="ignore"):
        given = {name: np.log(tables[name]) if name == "tail" else tables[name] for name in NAMES if tables.get(name) is not None}
    given.update({name: one[None] for name, one in (("scores", scores), ("start_scores", starts), ("end_scores", ends)) if one is not None})
    return {name: jnp.asarray(one, dtype) for name, one in given.items()}, {"initial": tables["initial"], "centering": tables["centering"]}


def problem(dtype=np.float64):
    rng = np.random.default_rng(SEED)
    return [jnp.asarray(rng.normal(size=shape), dtype) for shape in ((3, 9, 3), (3, 3), (4, 3))]


class Enumeration(unittest.TestCase):
    def test_log_partition_gradients_and_marginals(self):
        for tables, scores, starts, ends, truth in cases(8):
            for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-5)):
                given, how = arguments(tables, scores, starts, ends, dtype)
                log_z, gradients = jax.value_and_grad(lambda given: layer.log_partition(**given, **how).sum())(given)
                self.assertEqual(log_z.dtype, dtype)
                boundary, *posteriors, transition, duration, tail = truth.posteriors()
                expected = dict(zip(("scores", "start_scores", "end_scores"), posteriors))
                expected.update(transition=transition, duration=duration, tail=tail, start=posteriors[0][0], end=posteriors[0][-1])
                if tables["centering"] != "none":
                    del expected["scores"]  # by uncentred scores; check_grads below
                pairs = [(log_z, truth.log_z), (layer.log_partition(**given, **how), [truth.log_z])]
                pairs += [(gradients[name].reshape(expected[name].shape), expected[name]) for name in gradients if name in expected]
                found = layer.marginals(**given, **how)
                pairs += [(one[0], other) for one, other in zip(found, (*posteriors, transition, duration, tail, truth.log_z))]
                for one, other in pairs:
                    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)

    def test_second_derivatives(self):
        rng = np.random.default_rng(SEED)
        for tables, scores, starts, ends, truth in cases(6, SEED + 1):
            tables = {**tables, "centering": "none"}
            truth = Truth(tables, scores, starts, ends)
            given, how = arguments(tables, scores, starts, ends)
            along = {name: rng.normal(size=one.shape) for name, one in given.items()}

            def moved(given):
                first = jax.grad(lambda given: layer.log_partition(**given, **how).sum())(given)
                return sum((along[name] * one).sum() for name, one in first.items())

            second = jax.grad(moved)(given)
            mean, product, mean_along = {}, {}, 0.0
            for p, count in statistics(truth):
                sizes = {name: count[name][None] if name.endswith("scores") else count[name] for name in given}
                by = sum((along[name] * sizes[name]).sum() for name in given)
                mean_along += p * by
                for name in given:
                    mean[name] = mean.get(name, 0) + p * sizes[name]
                    product[name] = product.get(name, 0) + p * by * sizes[name]
            for name, found in second.items():
                np.testing.assert_allclose(found, product[name] - mean_along * mean[name], rtol=1e-10, atol=1e-10, err_msg=name)

    def test_scores_and_losses(self):
        for tables, scores, starts, ends, truth in cases(4, SEED + 3):
            given, how = arguments(tables, scores, starts, ends)
            for path, score in truth.paths[:: max(1, len(truth.paths) // 4)]:
                labels, first = np.zeros((1, len(scores)), int), np.zeros((1, len(scores)), bool)
                for begin, end, c in path:
                    labels[0, begin:end], first[0, begin] = c, True
                np.testing.assert_allclose(layer.path_score(labels=labels, starts=first, **given, **how), [score], atol=1e-9)
                np.testing.assert_allclose(layer.loss(labels=labels, starts=first, **given, **how), [truth.log_z - score], atol=1e-9)


class Functions(unittest.TestCase):
    def test_finite_differences(self):
        scores, transition, duration = problem()
        rng = np.random.default_rng(1)
        starts, ends = jnp.asarray(rng.normal(size=(2, 3, 9, 3)))
        start, end = jnp.asarray(rng.normal(size=(2, 3)))
        tail = jnp.array([-0.5, -1.0, -2.0])
        labels = jnp.array([[0, 0, 1, 1, 1, 2, 2, 0, 0], [1, 2, 2, 2, 0, 9, 9, 9, 9], [2] * 9])
        for centering in ("none", "mean", "position-max"):
            options = dict(lengths=jnp.array([9, 4, 1]), centering=centering)

            def log_z(*given):
                return layer.log_partition(*given[:6], start_scores=given[6], end_scores=given[7], **options)

            def loss(*given):
                return layer.loss(given[0], labels, *given[1:6], start_scores=given[6], end_scores=given[7], **options)

            given = (scores, transition, duration, tail, start, end, starts, ends)
            check_grads(log_z, given, 2, modes=["rev"], atol=1e-5, rtol=1e-5)
            check_grads(loss, given, 1, modes=["rev"], atol=1e-5, rtol=1e-5)
            np.testing.assert_allclose(loss(*given), log_z(*given) - layer.path_score(
                given[0], labels, *given[1:6], start_scores=starts, end_scores=ends, **options), atol=1e-9)

    def test_the_model_says_the_same(self):
        scores, transition, duration = problem()
        model = semicrf.Model(transition, duration)
        found, theirs = layer.marginals(scores, transition, duration), model.posteriors(np.asarray(scores), precision="double", counts=True)
        for b in range(3):
            self.assertEqual(float(found.log_partition[b]), theirs[b].log_partition)
            np.testing.assert_array_equal(found.labels[b], theirs[b].labels)
            np.testing.assert_array_equal(found.duration[b], theirs[b].duration)

    def test_jit_and_vmap(self):
        scores, transition, duration = problem()
        lengths = jnp.array([9, 4, 1])
        def gradient(scores, lengths):
            return jax.grad(lambda *given: layer.log_partition(*given, transition, duration, lengths=lengths).sum())(scores)

        expected = gradient(scores, lengths)
        np.testing.assert_array_equal(jax.jit(gradient)(scores, lengths), expected)
        one_by_one = jax.vmap(lambda one, length: gradient(one[None], length[None])[0])
        np.testing.assert_allclose(jax.jit(one_by_one)(scores, lengths), expected, atol=1e-12)
        self.assertEqual(jax.jit(layer.log_partition)(scores.astype(jnp.bfloat16), *problem(np.float32)[1:]).dtype, np.float32)

    def test_padding_changes_nothing(self):
        scores, transition, duration = problem(np.float32)
        padded = scores.at[1, 4:].set(jnp.nan).at[2, 1:].set(1e30)
        for centering in ("none", "mean", "position-max"):
            def total(scores, **options):
                return layer.log_partition(scores, transition, duration, centering=centering, **options).sum()

            gradient = jax.grad(total)(padded, lengths=jnp.array([9, 4, 1]))
            for b, length in enumerate((9, 4, 1)):
                np.testing.assert_allclose(gradient[b, :length], jax.grad(total)(scores[b:b + 1, :length])[0], atol=2e-6)
                self.assertFalse(np.any(gradient[b, length:]))

    def test_what_is_impossible(self):
        scores, transition, duration = problem()
        scores = scores.at[1, 2].set(-jnp.inf)
        log_z, gradient = jax.value_and_grad(lambda scores: layer.log_partition(scores, transition, duration)[jnp.array([0, 2])].sum())(scores)
        self.assertEqual(layer.log_partition(scores, transition, duration)[1], -math.inf)
        self.assertTrue(np.isfinite(log_z) and np.isfinite(gradient).all() and not np.any(gradient[1]))
        self.assertEqual(layer.loss(problem()[0], jnp.zeros((3, 9), int), transition, duration)[0], math.inf)  # 9 positions, K = 4

    def test_long_sequences(self):
        """Large arrays under jit; and losses in float32 that do not lose the digits that log Z has lost."""
        rng = np.random.default_rng(2)
        labels = np.repeat(rng.integers(0, 8, 40000), 5)[None]
        scores = rng.normal(size=(1, 200000, 8)) + 3 + 4 * (labels[:, :, None] == np.arange(8))
        transition, duration = np.zeros((8, 8)), np.full((25, 8), -3.0)
        exact = layer.loss(scores, labels, transition, duration, tail=jnp.full(8, -1.0))
        short = [jnp.asarray(one, jnp.float32) for one in (scores, transition, duration, np.full(8, -1.0))]
        value, gradient = jax.jit(jax.value_and_grad(lambda scores: layer.loss(scores, labels, *short[1:]).sum()))(short[0])
        self.assertAlmostEqual(float(value) / float(exact[0]), 1, delta=1e-5)
        self.assertAlmostEqual(float(gradient.sum()), 0, delta=1e-2)

    def test_page(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "api" / "jax.md"
        failed, tried = doctest.testfile(str(page), module_relative=False)
        self.assertTrue(failed == 0 and tried > 10)

    def test_learning(self):
        labels = jnp.array([[0] * 5 + [1] * 7 + [0] * 4 + [2] * 8] * 4)
        features = jax.nn.one_hot(labels, 3) + 0.3 * jax.random.normal(jax.random.key(3), (4, 24, 3))
        parameters = {"weights": jnp.zeros((3, 3)), "transition": jnp.zeros((3, 3)), "duration": jnp.zeros((10, 3))}

        @jax.jit
        @jax.value_and_grad
        def step(given):
            return layer.loss(features @ given["weights"], labels, given["transition"], given["duration"]).mean()

        losses = []
        for _ in range(60):
            loss, change = step(parameters)
            parameters = jax.tree_util.tree_map(lambda one, by: one - 0.2 * by, parameters, change)
            losses.append(float(loss))
        self.assertLess(losses[-1], 0.1 * losses[0])
        best = semicrf.Model(parameters["transition"], parameters["duration"]).decode(np.asarray(features @ parameters["weights"])[0])
        np.testing.assert_array_equal(best.at_positions(), labels[0])

    def test_threads(self):
        scores, transition, duration = problem()
        expected = layer.log_partition(scores, transition, duration)
        failures = []

        def work(shift):
            for _ in range(10):
                if not np.allclose(layer.log_partition(scores + shift, transition, duration), expected + 9 * shift):
                    failures.append(shift)

        threads = [threading.Thread(target=work, args=(0.1 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_mistakes_are_named(self):
        scores, transition, duration = problem()
        for text, call in [("scores: the shape", lambda: layer.log_partition(scores[0], transition, duration)),
                           ("scores: .*expected floating-point", lambda: layer.log_partition(scores.astype(int), transition, duration)),
                           ("transition: the shape", lambda: layer.log_partition(scores, transition[:2], duration)),
                           ("tail: the shape", lambda: layer.log_partition(scores, transition, duration, jnp.zeros(2))),
                           ("start_scores: the shape", lambda: layer.log_partition(scores, transition, duration, start_scores=scores[:2])),
                           ("lengths: ", lambda: layer.log_partition(scores, transition, duration, lengths=[1.0, 2.0, 3.0])),
                           ("initial", lambda: layer.log_partition(scores, transition, duration, initial="some")),
                           ("centering", lambda: layer.log_partition(scores, transition, duration, centering="some")),
                           ("labels: the shape", lambda: layer.loss(scores, jnp.zeros((3, 8), int), transition, duration))]:
            with self.subTest(text=text):
                self.assertRaisesRegex(ValueError, text, call)
        for text, call in [("lengths: from 0 to 2, expected 1 to 9", lambda: layer.log_partition(scores, transition, duration, lengths=[0, 1, 2])),
                           ("sequence 1.*NaN", lambda: layer.log_partition(scores.at[1, 3, 2].set(jnp.nan), transition, duration))]:
            with self.subTest(text=text):
                self.assertRaisesRegex(Exception, text, lambda: jax.block_until_ready(call()))


if __name__ == "__main__":
    unittest.main()
