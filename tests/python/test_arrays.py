"""What may be given as arrays, and what is said of what may not; models to JSON and back; threads, forks, memory."""

import gc
import os
import pickle
import resource
import threading
import time
import unittest

import numpy as np

import semicrf

RNG = np.random.default_rng(7)
NEVER = -np.inf
MODEL = semicrf.Model([[NEVER, 0, -1], [0, NEVER, -1], [-2, -1, NEVER]], np.log(np.full((6, 3), 1 / 6)), tail=[0.5, 0, 0.2], labels=["a", "b", "c"])
SCORES = RNG.normal(size=(200, 3)).astype(np.float32)


class Foreign:
    """An array that is known by its `__dlpack__` alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Arrays(unittest.TestCase):
    def test_layouts(self):
        """Every layout of the same numbers gives the same digits."""
        truth = MODEL.posteriors(SCORES)
        spread = np.zeros((400, 6), np.float32)
        spread[::2, ::2] = SCORES
        frozen = SCORES.copy()
        frozen.flags.writeable = False
        layouts = [np.asfortranarray(SCORES), spread[::2, ::2], SCORES[::-1].copy()[::-1], frozen, SCORES.tolist(), Foreign(SCORES),
                   SCORES.astype(">f4"), SCORES.astype(np.float64)]
        for number, layout in enumerate(layouts):
            with self.subTest(layout=number):
                found = MODEL.posteriors(layout)
                np.testing.assert_array_equal(found.labels, truth.labels)
                self.assertEqual(found.labels.dtype, np.float32)
                self.assertEqual(MODEL.log_partition(layout), MODEL.log_partition(SCORES))
        np.testing.assert_array_equal(MODEL.posteriors(SCORES.astype(np.float16)).labels,
                                      MODEL.posteriors(SCORES.astype(np.float16).astype(np.float32)).labels)
        whole = np.rint(SCORES * 2)
        self.assertEqual(MODEL.log_partition(whole.astype(int)), MODEL.log_partition(whole))

    def test_batches(self):
        """Ragged lists and (B, T, C) arrays are their sequences, for any number of threads."""
        batch = [RNG.normal(size=(length, 3)) for length in (1, 50, 7, 20000, 300)]
        for threads in (1, 3):
            np.testing.assert_array_equal(MODEL.log_partition(batch, threads=threads), [MODEL.log_partition(one) for one in batch])
            for one, path in zip(batch, MODEL.decode(batch, threads=threads)):
                np.testing.assert_array_equal(path.segments, MODEL.decode(one).segments)
                self.assertEqual(len(path.at_positions()), len(one))
        block = RNG.normal(size=(4, 30, 3))
        np.testing.assert_array_equal(MODEL.entropy(block), [MODEL.entropy(one) for one in block])
        starts = RNG.normal(size=block.shape)
        np.testing.assert_array_equal(MODEL.log_partition(block, starts), [MODEL.log_partition(a, b) for a, b in zip(block, starts)])
        paths = MODEL.decode(block)
        np.testing.assert_array_equal(MODEL.score(block, paths), [MODEL.score(one, path.segments) for one, path in zip(block, paths)])
        self.assertEqual(MODEL.decode([]), [])
        self.assertEqual(MODEL.log_partition([]).shape, (0,))
        self.assertEqual(MODEL.log_partition(np.empty((0, 5, 3))).shape, (0,))

    def test_posteriors_that_are_asked_for(self):
        every = MODEL.posteriors(SCORES, starts=True, ends=True, counts=True)
        for names in ((), ("labels",), ("starts",), ("ends",), ("labels", "ends")):
            found = MODEL.posteriors(SCORES, **{name: name in names for name in ("labels", "starts", "ends")})
            for name in ("labels", "starts", "ends"):
                if name in names:
                    np.testing.assert_array_equal(getattr(found, name), getattr(every, name))
                else:
                    self.assertIsNone(getattr(found, name))
            np.testing.assert_array_equal(found.boundary, every.boundary)
            self.assertIsNone(found.transition)

    def test_refusals(self):
        """Errors name the argument."""
        bad = SCORES.copy()
        bad[3, 1] = np.nan
        up = SCORES.copy()
        up[0, 0] = np.inf
        path = [[0, 100, 0], [100, 200, 1]]
        refusals = [
            (ValueError, r"^scores of sequence 0:row 3, column 1: the value is NaN", lambda: MODEL.decode(bad)),
            (ValueError, r"^scores of sequence 1:row 0, column 0: the value is \+Inf", lambda: MODEL.decode([SCORES, up])),
            (ValueError, r"^scores: the shape is \(200,\)", lambda: MODEL.decode(SCORES[:, 0])),
            (ValueError, r"^scores of sequence 0: the shape is \(200, 2\), expected \(200, 3\)", lambda: MODEL.decode(SCORES[:, :2])),
            (ValueError, r"^scores of sequence 0: has no rows", lambda: MODEL.decode(SCORES[:0])),
            (ValueError, r"^scores\[1\]: ", lambda: MODEL.decode([SCORES, SCORES[0]])),
            (ValueError, r"^scores\[1\]: ", lambda: MODEL.decode([SCORES, [[1, 2, 3], [1]]])),
            (TypeError, r"^scores: the dtype is complex64", lambda: MODEL.decode(SCORES * 1j)),
            (TypeError, r"^scores: the dtype is object", lambda: MODEL.decode(np.array([[None, 1, 2]]))),
            (ValueError, r"^start_scores of sequence 0: the shape is \(10, 3\)", lambda: MODEL.decode(SCORES, SCORES[:10])),
            (ValueError, r"^end_scores: 1 entries for 2 sequences", lambda: MODEL.decode([SCORES] * 2, end_scores=[SCORES])),
            (ValueError, r"^precision: ", lambda: MODEL.decode(SCORES, precision="half")),
            (ValueError, r"^backend is \"gpu\"", lambda: MODEL.decode(SCORES, device="gpu")),
            (ValueError, r"^device: ", lambda: MODEL.decode(SCORES, device="cuda:x")),
            (ValueError, r"^threads must not be negative", lambda: MODEL.decode(SCORES, threads=-1)),
            (ValueError, r"^k: 0", lambda: MODEL.k_best(SCORES, 0)),
            (ValueError, r"^n: 0", lambda: MODEL.sample(SCORES, 0)),
            (ValueError, r"^segments: float64", lambda: MODEL.score(SCORES, np.array(path, float))),
            (ValueError, r"^segment 1 of sequence 0: \[101, 200\)", lambda: MODEL.score(SCORES, [[0, 100, 0], [101, 200, 1]])),
            (ValueError, r"^segment 1 of sequence 0: there is no label 3", lambda: MODEL.score(SCORES, [[0, 100, 0], [100, 200, 3]])),
            (ValueError, r"^segments of sequence 0 end at 0", lambda: MODEL.score(SCORES, np.empty((0, 3), int))),
            (ValueError, r"no label \"d\"", lambda: MODEL.decode(SCORES, constraints=[semicrf.Constraint("only", 0, 1, ["d"])])),
            (ValueError, r"^constraints: the kind", lambda: MODEL.decode(SCORES, constraints=[semicrf.Constraint("or", 0)])),
            (ValueError, r"^constraint 0 of sequence 0: \[190, 201\) is no range",
             lambda: MODEL.decode(SCORES, constraints=[semicrf.Constraint("not", 190, 201, ["a"])])),
            (ValueError, r"^constraint 1 of sequence 0: no segmentation meets",
             lambda: MODEL.decode(SCORES, constraints=[semicrf.Constraint("only", 5, 6, [0]), semicrf.Constraint("not", 5, 6, [0])])),
            (ValueError, r"^transition: the shape is \(2, 3\), expected \(2, 2\)", lambda: semicrf.Model(np.zeros((2, 3)), np.zeros((4, 2)))),
            (ValueError, r"^labels: 1 names", lambda: semicrf.Model(np.zeros((2, 2)), np.zeros((4, 2)), labels=["a"])),
            (ValueError, r"^transition: entry 0 is nan", lambda: semicrf.Model(np.full((2, 2), np.nan), np.zeros((4, 2)))),
            (ValueError, r"tail", lambda: semicrf.Model(np.zeros((2, 2)), np.zeros((4, 2)), tail=[1.5, 0])),
            (ValueError, r"^centering is \"median\"", lambda: semicrf.Model(np.zeros((2, 2)), np.zeros((4, 2)), centering="median")),
            (ValueError, r"^json:", lambda: semicrf.Model.from_json("[]")),
            (OSError, r"nowhere", lambda: semicrf.Model.read("/nowhere/p.json")),
        ]
        for error, text, call in refusals:
            with self.subTest(text=text):
                self.assertRaisesRegex(error, text, call)
        self.assertTrue(np.isfinite(MODEL.log_partition(SCORES)))
        self.assertEqual(MODEL.score(SCORES, path), -np.inf)  # label b has no tail

    def test_models(self):
        """A model from arrays, its JSON and its pickle have the same numbers."""
        for again in (semicrf.Model.from_json(MODEL.to_json()), pickle.loads(pickle.dumps(MODEL))):
            for name in ("transition", "duration", "tail", "start", "end"):
                np.testing.assert_array_equal(getattr(again, name), getattr(MODEL, name))
            self.assertEqual((again.labels, again.initial, again.centering, again.max_duration, again.num_columns),
                             (["a", "b", "c"], "uniform", "none", 6, 3))
            self.assertEqual(again.log_partition(SCORES), MODEL.log_partition(SCORES))

    def test_threads_and_forks(self):
        """Several threads may call one model; the interpreter goes on meanwhile; a forked child computes."""
        scores = RNG.normal(size=(200_000, 3))
        truth = MODEL.log_partition(scores, threads=2)
        found = [None] * 4

        def work(i):
            for _ in range(3):
                found[i] = MODEL.log_partition(scores, threads=2)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        turns = 0
        while any(thread.is_alive() for thread in threads):
            turns += 1
            time.sleep(0.0005)
        self.assertEqual(found, [truth] * 4)
        self.assertGreater(turns, 5)
        child = os.fork()
        if child == 0:
            os._exit(0 if MODEL.log_partition(scores, threads=2) == truth else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_memory_stays(self):
        """Two thousand calls, a third of which fail, keep nothing."""
        def calls(number):
            for i in range(number):
                MODEL.posteriors(SCORES, starts=True, counts=True)
                MODEL.k_best(SCORES, 3)
                with self.assertRaises(ValueError):
                    MODEL.decode([SCORES, SCORES[:, :1]])
            gc.collect()

        calls(300)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        calls(1700)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 4096)  # KiB


if __name__ == "__main__":
    unittest.main()
