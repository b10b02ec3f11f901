#!/usr/bin/env python3
"""Tests of the pure parts of the speech experiment: folding, frames, error rates, closures, sentences, MFCC.

    tests/lab/speech/test_speech.py [--program build/release/bin/semicrf] [Folding ...]

A test without what it needs (numpy, libespeak-ng, the program) is skipped with the reason; exit code 1 when one fails, 77 when
all that were asked for were skipped. Random tests print their seed.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
sys.path.insert(0, str(HERE))

import espeak  # noqa: E402
import models  # noqa: E402
import phones  # noqa: E402
import sentences  # noqa: E402

try:
    import numpy
    import mfcc
    import ranks
except ImportError:
    numpy = None

PROGRAM = None
SEED = 20240917
# python_speech_features 0.6: mfcc(signal, 16000, 0.025, 0.01, 13, 26, 512, 0, 8000, 0.97, 0, False, numpy.hamming)[3]
SIGNAL = [round(1000 * math.sin(0.05 * t) + 700 * math.sin(0.61 * t * (1 + t / 5000)) + 300 * math.cos(1.9 * t))
          for t in range(1600)]
CEPSTRA = [36.4807007, -3.6812391, -0.3242503, 5.9542266, 8.7747725, 4.6117541, -8.2319336,
           10.1141018, 0.2472950, -2.6337690, -1.7917959, -0.6833868, 2.8340980]


class Folding(unittest.TestCase):
    def test_there_are_39_phones(self):
        self.assertEqual(len(phones.PHONES), 39)
        self.assertEqual(len(set(phones.PHONES)), 39)
        self.assertEqual(set(phones.FOLDED.values()), set(phones.PHONES))

    def test_lee_and_hon(self):
        self.assertEqual([phones.fold(name) for name in ("Z", "O:", "@L", "t#", espeak.CLOSURE, "_:")],
                         ["sh", "aa", "l", "dx", "sil", "sil"])

    def test_a_phoneme_that_nobody_knows_is_named(self):
        with self.assertRaisesRegex(ValueError, "'Q5'"):
            phones.fold("Q5")

    def test_frames_are_the_nearest_edges(self):
        spoken = [(espeak.CLOSURE, 0, 300), ("k", 300, 344), ("a", 344, 1000), ("aa", 1000, 1500), ("t", 1500, 2100)]
        # 100 samples a frame: k has no frame left, a and aa are both ae, the last run goes on to the last frame.
        self.assertEqual(phones.frames_of(spoken, 10000, 100, 22), [("sil", 0, 3), ("ae", 3, 15), ("t", 15, 22)])


class ErrorRate(unittest.TestCase):
    def test_known_distances(self):
        for left, right, distance in [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "abc", 0), ("ab", "ba", 2)]:
            self.assertEqual(phones.edit_distance(left, right), distance)

    def test_as_the_program_counts(self):
        if PROGRAM is None:
            self.skipTest("no --program")
        numbers = random.Random(SEED)
        with tempfile.TemporaryDirectory() as folder:
            for case in range(5):
                strings, names = [], ("truth.bed", "path.bed")
                for name in names:
                    runs, first = [], 0
                    while first < 400:
                        end = min(400, first + numbers.randint(1, 30))
                        runs.append((first, end, numbers.choice([p for p in "abcde" if not runs or p != runs[-1][2]])))
                        first = end
                    strings.append([label for _, _, label in runs])
                    pathlib.Path(folder, name).write_text("".join("s\t%d\t%d\t%s\n" % run for run in runs))
                said = subprocess.run([PROGRAM, "eval", "-q", "--truth", "truth.bed", "--json", "-", "path.bed"], cwd=folder,
                                      check=True, stdout=subprocess.PIPE, text=True).stdout
                found = json.loads(said)["overall"]["label_sequence"]
                self.assertEqual(found["edit_distance"], phones.edit_distance(*strings), "seed %d case %d" % (SEED, case))
                self.assertAlmostEqual(found["error_rate"], phones.edit_distance(*strings) / len(strings[0]))


class Closures(unittest.TestCase):
    def test_zeros_before_a_phoneme_are_its_closure(self):
        samples = [0] * 20 + [5] * 30 + [0] * 12 + [7] * 38 + [9] * 10
        self.assertEqual(espeak.with_closures(samples, [("a", 20), ("t", 62), ("s", 100)], 10),
                         [(espeak.CLOSURE, 0, 20), ("a", 20, 50), (espeak.CLOSURE, 50, 62), ("t", 62, 100), ("s", 100, 110)])

    def test_few_zeros_are_none(self):
        samples = [5] * 30 + [0] * 4 + [7] * 6
        self.assertEqual(espeak.with_closures(samples, [("a", 0), ("t", 34)], 10), [("a", 0, 34), ("t", 34, 40)])


class Voices(unittest.TestCase):
    def setUp(self):
        try:
            self.speaker = espeak.Speaker()
        except espeak.Missing as missing:
            self.skipTest(str(missing))

    def test_a_voice_speaks_known_phonemes(self):
        speaker = self.speaker
        samples, spoken = speaker.speak("the little cat laughed", "en-us+m3", 170, 50)
        self.assertGreater(len(samples), speaker.rate / 2)
        self.assertEqual([first for _, first, _ in spoken[1:]], [end for _, _, end in spoken[:-1]])
        self.assertEqual((spoken[0][1], spoken[-1][2]), (0, len(samples)))
        heard = [phones.fold(name) for name, _, _ in spoken if phones.fold(name) != "sil"]
        self.assertEqual(heard, "dh ah l ih dx l k ae t l ae f t".split())

    def test_every_word_has_phones(self):
        words = sorted({word for value in vars(sentences).values() if isinstance(value, list) for word in value})
        for begin in range(0, len(words), 8):
            for name, _, _ in self.speaker.speak(" ".join(words[begin:begin + 8]), "en-us+f1", 200, 50)[1]:
                phones.fold(name)


class Sentences(unittest.TestCase):
    def test_the_seed_decides(self):
        first, second, other = (sentences.different_sentences(random.Random(seed), 50) for seed in (3, 3, 4))
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)
        self.assertEqual(len(set(first)), 50)


class Posteriors(unittest.TestCase):
    def test_mean_p_true_is_over_all_frames_and_sums_copies(self):
        with tempfile.TemporaryDirectory() as kept:
            folder = pathlib.Path(kept)
            (folder / "truth.bed").write_text("a\t0\t3\tx\na\t3\t4\ty\nb\t0\t1\ty\n")
            (folder / "p.x.bedgraph").write_text("#semicrf\na\t0\t2\t0.5\na\t2\t4\t0.1\n")
            (folder / "p.y_1.bedgraph").write_text("a\t3\t4\t0.6\nb\t0\t1\t0.2\n")
            (folder / "p.y_2.bedgraph").write_text("a\t2\t4\t0.3\nb\t0\t1\t0.4\n")
            found = models.mean_p_true(folder / "truth.bed", folder / "p", lambda label: ["y_1", "y_2"] if label == "y" else [label])
            self.assertAlmostEqual(found, (0.5 + 0.5 + 0.1 + 0.6 + 0.3 + 0.2 + 0.4) / 5)


class Cepstra(unittest.TestCase):
    def setUp(self):
        if numpy is None:
            self.skipTest("numpy is not there")

    def test_as_python_speech_features(self):
        signal = numpy.array(SIGNAL, dtype=float)
        emphasised = numpy.append(signal[:1], signal[1:] - 0.97 * signal[:-1])
        found = mfcc.cepstra(emphasised[None, 480:880], 16000)[0]
        for one, other in zip(found, CEPSTRA):
            self.assertAlmostEqual(one, other, places=6)

    def test_frames_are_centred(self):
        # A click in the middle of frame 30 is loudest there.
        signal = numpy.zeros(16000)
        signal[30 * 160 + 80] = 1000
        values = mfcc.features(signal, 16000)
        self.assertEqual(values.shape, (100, 39))
        self.assertEqual(int(values[:, 0].argmax()), 30)

    def test_differences_of_a_line_are_its_slope(self):
        line = numpy.arange(20.0)[:, None] * 3 + 1
        self.assertTrue(numpy.allclose(mfcc.differences(line)[2:-2], 3))

    def test_context_repeats_the_ends(self):
        rows = numpy.arange(4.0)[:, None]
        self.assertEqual(mfcc.with_context(rows, (-2, 0, 3)).tolist(), [[0, 0, 3], [0, 1, 3], [0, 2, 3], [1, 3, 3]])


class Ranks(unittest.TestCase):
    """Two labels whose durations depend on the label before: 1 frame after a, 4 after b."""
    LINES = ["s\t%d\t%d\t%s\n" % row for row in
             [(0, 4, "b"), (4, 8, "a"), (8, 9, "b"), (9, 13, "b"), (13, 17, "a"), (17, 18, "a"), (18, 19, "b")] * 30]

    def setUp(self):
        if numpy is None:
            self.skipTest("numpy is not there")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "truth.bed")
        self.path.write_text("".join(self.LINES))
        self.steps = ranks.steps_of(self.path, ["a", "b"], {"s"})
        self.usual, self.law = (ranks.fitted(self.steps, rank, 2, 4) for rank in (1, 2))

    def test_steps_have_the_label_before(self):
        self.assertEqual(self.steps[:3].tolist(), [[1, 0, 3, 1], [0, 1, 0, 2], [1, 1, 3, 3]])
        self.assertEqual(len(ranks.steps_of(self.path, ["a", "b"], {"another"})), 0)

    def test_rank_2_finds_what_depends_on_the_label_before(self):
        gain = ranks.gain_of(self.usual, self.law, self.steps)
        self.assertGreater(gain["law_gain"], 0.5)
        self.assertLess(gain["law_gain_se"], 0.1)
        self.assertEqual(ranks.gain_of(self.usual, self.usual, self.steps)["law_gain"], 0)

    def test_copies_sum_to_the_law_over_the_usual_one(self):
        numbers = numpy.random.default_rng(SEED)
        model = {"labels": [{"name": "a"}, {"name": "b"}], "max_duration": 4, "start": [0.0, "-inf"], "end": [0.1, 0.2],
                 "transition": numbers.normal(size=(2, 2)).tolist(), "training": {},
                 "duration": {"kind": "table", "bias": numbers.normal(size=(4, 2)).tolist()},
                 "emission": {"weights": [[1.0], [2.0]], "bias": [3.0, 4.0]}}
        model["transition"][1][1] = "-inf"
        wide = ranks.expanded(model, self.usual, self.law)
        self.assertEqual([label["name"] for label in wide["labels"]], ["a_1", "a_2", "b_1", "b_2"])
        self.assertEqual(wide["emission"], {"weights": [[1.0], [1.0], [2.0], [2.0]], "bias": [3.0, 3.0, 4.0, 4.0]})
        self.assertEqual(wide["transition"][2][2:], ["-inf"] * 2)
        self.assertNotIn("training", wide)
        self.assertAlmostEqual(sum(map(math.exp, wide["start"][:2])), 1)
        for before, label in ((0, 0), (0, 1), (1, 0)):
            for k in range(4):
                step = numpy.array([[before, label, k]])
                ratio = ranks.probability(self.law, step)[0] / ranks.probability(self.usual, step)[0]
                usual = math.exp(model["transition"][before][label] + model["duration"]["bias"][k][label])
                found = sum(math.exp(wide["transition"][2 * before][2 * label + r] + wide["duration"]["bias"][k][2 * label + r])
                            for r in (0, 1))
                self.assertAlmostEqual(found / (usual * ratio), 1)

    def test_truth_names_all_copies_and_one_of_each_is_sure(self):
        known = ranks.clearest(self.law, self.steps)
        target = self.path.with_name("copies.bed")
        ranks.rename(self.path, target, 2, known)
        names = [line.split()[3] for line in target.read_text().splitlines()]
        self.assertEqual(sorted(name for name in names if "|" not in name), ["a_1", "a_2", "b_1", "b_2"])
        self.assertEqual(names[0], "b_1|b_2")  # the first segment follows nothing
        ranks.rename(self.path, target, 1, {})
        self.assertEqual(target.read_text(), self.path.read_text())

    def test_copies_are_taken_off_again(self):
        import models
        path = self.path.with_name("path.bed")
        path.write_text("s\t0\t4\taa_2\t0\t.\ns\t4\t9\tb\t0\t.\n")
        models.without_copies(path)
        self.assertEqual(path.read_text(), "s\t0\t4\taa\t0\t.\ns\t4\t9\tb\t0\t.\n")


def main():
    global PROGRAM
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    options, rest = parser.parse_known_args()
    PROGRAM = options.program.resolve() if options.program else None
    result = unittest.main(argv=[sys.argv[0], "-v", *rest], exit=False).result
    if not result.wasSuccessful():
        return 1
    if result.skipped:
        print("skipped: " + "; ".join(sorted({reason for _, reason in result.skipped})))
    return 77 if len(result.skipped) == result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
