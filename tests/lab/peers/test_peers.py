#!/usr/bin/env python3
"""Tests of the comparison with other programs where none is installed.

    tests/lab/peers/test_peers.py

Standard library only.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import peers  # noqa: E402


class Peers(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def test_a_problem_is_its_shape_and_its_scores(self):
        shape = (2, 3, 4, 5)
        numbers = peers.drawn(shape, "long")
        self.assertEqual([len(values) for values in numbers], [2 * 3 * 5, 25, 20])
        peers.write_problem(self.folder / "problem.bin", shape, numbers)
        written = (self.folder / "problem.bin").read_bytes()
        self.assertEqual(struct.unpack("<4q", written[:32]), shape)
        doubles = struct.unpack("<75d", written[32:])
        self.assertEqual(list(doubles[:30]), [float(value) for value in numbers[0]])
        self.assertEqual(doubles[55:], (0.0,) * 20)  # all durations alike
        self.assertLess(max(doubles[30:55]), 0)      # rare transitions

    def test_what_is_not_installed_is_said(self):
        # -S: without the packages of this machine.
        found = subprocess.run([sys.executable, "-S", "-B", str(HERE / "peers.py"), str(self.folder)], capture_output=True, text=True, env={"PATH": "/nowhere"})
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        rows = [line.split("\t") for line in (self.folder / "peers.tsv").read_text().splitlines()]
        self.assertEqual(tuple(rows[0]), peers.HEAD)
        self.assertEqual({row[0]: row[-1] for row in rows[1:]}, dict.fromkeys(("flash-semicrf", "pytorch-struct", "hsmmlearn", "mhsmm"), "not installed"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
