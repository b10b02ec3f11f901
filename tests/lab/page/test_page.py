#!/usr/bin/env python3
"""Tests that docs/paper.md is what the figures of docs/paper make, and that a change of either is seen.

    tests/lab/page/test_page.py

Standard library only.
"""

import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import figures  # noqa: E402
import page  # noqa: E402
import tables  # noqa: E402


class Page(unittest.TestCase):
    def test_page_and_pictures_are_what_the_figures_make(self):
        found = subprocess.run([sys.executable, "-B", str(HERE.parent / "page.py"), "--check"], capture_output=True, text=True)
        self.assertEqual((found.returncode, found.stderr), (0, ""))

    def test_every_table_is_on_the_page_and_written_by_a_script(self):
        names = [name for path in page.PAGES for _, name, _ in page.BLOCK.findall(path.read_text())]
        self.assertEqual(sorted(names), sorted(tables.makers()))
        self.assertEqual(page.loose_tables(page.PAGE.read_text()), [])

    def test_a_digit_that_was_changed_by_hand_is_seen(self):
        text = page.PAGE.read_text()
        begin = text.index("<!-- table largest n -->")
        place = text.index("3,939", begin)
        changed = text[:place] + "3,940" + text[place + 5:]
        self.assertEqual(page.filled(changed, figures.Folder(page.FIGURES)), text)
        self.assertNotEqual(changed, text)

    def test_a_figure_that_changed_is_seen(self):
        folder = figures.Folder(page.FIGURES)
        folder("frontier_largest")[0]["largest_n"] += 1
        for row in folder("frontier_largest"):
            row["largest_n"] += 1000
        self.assertNotEqual(page.filled(page.PAGE.read_text(), folder), page.PAGE.read_text())

    def test_files_are_those_that_are_taken(self):
        self.assertLessEqual({path.stem for path in page.FIGURES.glob("*.tsv")}, set(page.KEPT))
        self.assertLess(sum(path.stat().st_size for path in page.FIGURES.iterdir()), 400000)

    def test_cells_are_short(self):
        for line in page.PAGE.read_text().splitlines():
            if line.startswith("|"):
                self.assertLessEqual(max(map(len, line.split("|"))), 300, line)


class Words(unittest.TestCase):
    def test_numbers(self):
        for value, text in ((0.0123, "0.0123"), (3939.0, "3,940"), (1.234e-6, "1.2e-6"), (12.34, "12.3"), (999.9, "1,000"), (0, "0")):
            self.assertEqual(figures.figure(value), text)
        self.assertEqual((figures.speed(20.6e3), figures.speed(8.6e8), figures.amount(28.8e9)), ("20.6 k/s", "860 M/s", "28.8 GB"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
