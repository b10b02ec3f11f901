#!/usr/bin/env python3
"""Draws the picture of README.md and those of docs/users/uncertainty.md from the demo tracks, with the program that is named:

    python3 docs/pictures/draw.py build/release/bin/semicrf
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import bigwig_values

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent.parent / "data"
WIDTH, LEFT, RIGHT = 900, 124, 12
LABELS = {label["name"]: label["color"] for label in json.loads((DATA / "demo.params.json").read_text())["labels"]}


def rows(path, begin, end):
    """The fields of the lines that meet [begin, end)."""
    fields = (line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#"))
    return [row for row in fields if int(row[1]) < end and int(row[2]) > begin]


class Picture:
    def __init__(self, begin, end, title):
        self.begin, self.end, self.title = begin, end, title
        self.y, self.parts = 8, []

    def x(self, base):
        base = min(max(base, self.begin), self.end)
        return LEFT + (WIDTH - LEFT - RIGHT) * (base - self.begin) / (self.end - self.begin)

    def text(self, x, y, words, anchor="end", size=12):
        self.parts.append('<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">%s</text>' % (x, y, anchor, size, words))

    def name(self, words, height):
        self.text(LEFT - 8, self.y + height / 2 + 4, words)

    def box(self, first, last, y, height, fill, least=0.4):
        left = self.x(first)
        self.parts.append('<rect x="%.1f" y="%.1f" width="%.2f" height="%.1f" fill="%s"/>'
                          % (left, y, max(self.x(last) - left, least), height, fill))

    def segments(self, words, segments, height=16, gap=6, labels=False):
        if words:
            self.name(words, height)
        for row in segments:
            first, last = max(int(row[1]), self.begin), min(int(row[2]), self.end)
            self.box(first, last, self.y, height, LABELS[row[3]])
            if labels and self.x(last) - self.x(first) > 7 * len(row[3]) + 4:
                self.text((self.x(first) + self.x(last)) / 2, self.y + height / 2 + 4, row[3], "middle", 11)
        self.y += height + gap

    def curve(self, words, values, top=0.25, height=90, gap=8):
        """Bars of (first base, end, value from 0 to `top`)."""
        self.name(words, height)
        for n in range(3):
            y = self.y + height * (1 - n / 2)
            self.parts.append('<path d="M%d %.1fH%d" stroke="#dddddd"/>' % (LEFT, y, WIDTH - RIGHT))
            if n != 1:
                self.text(LEFT - 8, y + 4, "%g" % (top * n / 2), size=10)
        for first, last, value in values:
            if value > 0.002:
                self.box(first, last, self.y + height * (1 - value / top), height * value / top, "#000000")
        self.y += height + gap

    def area(self, words, values, colour, reach=0.6, height=24, gap=3):
        """Means of a track as an area between them and 0: [(first base, mean)], the last one only ends it."""
        self.name(words, height)
        middle = self.y + height / 2
        scaled = [(self.x(base), middle - max(-1, min(1, mean / reach)) * height / 2) for base, mean in values]
        path = "M%.1f %.1f" % (scaled[0][0], middle)
        path += "".join("V%.1fH%.1f" % (y, after) for (_, y), (after, _) in zip(scaled, scaled[1:]))
        self.parts.append('<path d="%sV%.1fZ" fill="%s"/>' % (path, middle, colour))
        self.y += height + gap

    def intervals(self, words, boundaries, height=18, gap=8):
        self.name(words, height)
        for position, lower, upper, label in boundaries:
            self.box(lower, upper, self.y + height / 2 - 3, 6, LABELS[label])
            self.box(position, position + 1, self.y, height, "#000000", 1)
        self.y += height + gap

    def shares(self, words, stacks, height=70, gap=8):
        """Labels over each other: (label, [(first base, end, bottom, top)])."""
        self.name(words, height)
        for label, parts in stacks:
            for first, last, low, top in parts:
                if top - low > 0.004:
                    self.box(first, last, self.y + height * (1 - top), height * (top - low), LABELS[label])
        self.y += height + gap

    def axis(self):
        self.parts.append('<path d="M%d %.1fH%d" stroke="#000000"/>' % (LEFT, self.y, WIDTH - RIGHT))
        step = 1000 if self.end - self.begin < 10000 else 2000
        for base in range(-(-self.begin // step) * step, self.end + 1, step):
            self.parts.append('<path d="M%.1f %.1fv5" stroke="#000000"/>' % (self.x(base), self.y))
            anchor = "start" if base == self.begin else "end" if base == self.end else "middle"
            self.text(self.x(base), self.y + 18, format(base, ","), anchor, 11)
        self.text(LEFT - 8, self.y + 18, "III")
        self.y += 26

    def write(self, path):
        path.write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" shape-rendering="crispEdges" role="img">\n'
                        '<title>%s</title>\n<rect width="100%%" height="100%%" fill="#ffffff"/>\n%s\n</svg>\n'
                        % (WIDTH, self.y + 4, self.title, "\n".join(self.parts)))


def label_shares(folder, begin, end, step=6):
    """P(label) as stacks, from one bedGraph per label, every `step` bases; neighbours that look the same are one."""
    below, stacks = {}, []
    for label in LABELS:
        value = {base: float(row[3]) for row in rows(folder / ("labels.%s.bedgraph" % label), begin, end)
                 for base in range(int(row[1]), int(row[2]), 3)}
        parts = []
        for base in range(begin - begin % 3, end, step):
            low = below.get(base, 0)
            below[base] = top = round(low + value.get(base, 0), 2)
            if parts and parts[-1][2:] == (low, top):
                parts[-1] = (parts[-1][0], base + step, low, top)
            else:
                parts.append((base, base + step, low, top))
        stacks.append((label, parts))
    return stacks


def means(path, begin, end, step):
    """[(first base, mean of the track's values)] of each `step` bases."""
    sums = {}
    for first, _, value in bigwig_values.values(path):
        if begin <= first < end:
            total, count = sums.get((first - begin) // step, (0, 0))
            sums[(first - begin) // step] = (total + value, count + 1)
    return [(begin + n * step, total / count) for n, (total, count) in sorted(sums.items())] + [(end, 0)]


def draw_demo(folder, begin=90360, end=107160, step=60):
    """Tracks, annotation, segments and boundary posterior of the demonstration."""
    picture = Picture(begin, end, "Six tracks of codon statistics, the annotation, the segments found and the boundaries "
                                  "expected in every 60 bases: 17 kb of yeast chromosome III")
    for strand, sign in (("fwd", "+"), ("rev", "-")):
        for frame in range(3):
            track = "codon_%s%d" % (strand, frame)
            picture.area(track, means(DATA / (track + ".bw"), begin, end, step), LABELS["CDS%s%d" % (sign, frame)])
    picture.y += 6
    picture.segments("annotation", rows(DATA / "genes.bed", begin, end), labels=True)
    picture.segments("semicrf decode", rows(folder / "path.bed", begin, end), labels=True)
    expected = [0.0] * ((end - begin) // step)
    for row in rows(folder / "boundaries.bedgraph", begin, end):
        for base in range(max(int(row[1]), begin), min(int(row[2]), end), 3):
            expected[(base - begin) // step] += float(row[3])
    picture.text(LEFT - 8, picture.y + 48, "per 60 bases", size=10)
    picture.curve("boundaries expected", [(begin + n * step, begin + (n + 1) * step, value)
                                         for n, value in enumerate(expected) if n > 0], top=1, height=60)
    picture.axis()
    picture.text(LEFT, picture.y + 10, "grey: between genes; CDS+0 to CDS-2: coding, with strand and reading frame; height of the tracks: "
                                       "log odds, coding upwards", "start", 11)
    picture.y += 16
    picture.write(HERE / "demo.svg")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    tracks = sorted(str(path) for path in DATA.glob("codon_*.bw"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*arguments):
            subprocess.run([program, *arguments, "-q", "-p", DATA / "demo.params.json", *tracks], cwd=folder, check=True)

        run("decode", "-o", "path.bed", "--boundaries", "boundaries.tsv", "--posterior", "boundaries.bedgraph")
        run("posterior", "-o", "again.bedgraph", "--labels-out", "labels")
        run("simulate", "--draws", "12", "--seed", "1", "-o", "draw.bed")
        draw_demo(folder)
        begin, end = 101000, 106000
        picture = Picture(begin, end, "Annotation, path, boundary posterior and intervals of 5 kb of yeast chromosome III")
        picture.segments("annotation", rows(DATA / "genes.bed", begin, end), labels=True)
        picture.segments("path", rows(folder / "path.bed", begin, end), labels=True)
        table = [line.split("\t") for line in (folder / "boundaries.tsv").read_text().splitlines() if not line.startswith("#")]
        known = [(int(row[1]), int(row[5]), int(row[6]) + 3, row[3]) for row in table
                 if begin < int(row[1]) < end and row[5] != "."]
        picture.intervals("95 % intervals", known)
        picture.curve("P(boundary)", [(int(row[1]), int(row[2]), float(row[3]))
                                      for row in rows(folder / "boundaries.bedgraph", begin, end)])
        picture.axis()
        picture.write(HERE / "boundaries.svg")

        picture = Picture(begin, end, "Label posteriors and twelve draws of 5 kb of yeast chromosome III")
        picture.segments("path", rows(folder / "path.bed", begin, end), labels=True)
        picture.shares("P(label)", label_shares(folder, begin, end))
        for n in range(1, 13):
            picture.segments("draws" if n == 6 else "", rows(folder / ("draw.%d.bed" % n), begin, end), height=9, gap=2)
        picture.y += 6
        picture.axis()
        picture.write(HERE / "draws.svg")


main()
