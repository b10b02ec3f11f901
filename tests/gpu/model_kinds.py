#!/usr/bin/env python3
"""How long models of many kinds take beside N(0,1) scores and tables, on the cpu and on a GPU. From anywhere:

    model_kinds.py PROGRAM POSITIONS THREADS DEVICES [KIND ...]

Hand-made models of K = 200 and C = 8 with forbidden scores, masks of -1e9, shortest durations, peaks and periods among
durations, transitions in a circle, sites. `decode --score none` and `posterior` of one NPY of POSITIONS label scores (a
multiple of 150: some models need that), as whole processes: the best seconds of three on every device (a list such as
cpu,cuda), how many times those of the first kind that is, exact blocks per block and repaired chunks of a run with
--stats. Needs numpy.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

DURATIONS, LABELS = 200, 8
FORBIDDEN, MASK = -np.inf, -1e9
LONG = 1.5  # seconds of a run that is not repeated
TIMEOUT = 60


class Maker:
    """Scores and tables; the same for the same number of positions."""

    def __init__(self, positions):
        self.positions = positions
        self.random = np.random.default_rng(3)
        self.k = np.arange(1, DURATIONS + 1)[:, None]

    def noise(self, scale=1):
        return (self.random.standard_normal((self.positions, LABELS), dtype=np.float32) * scale).astype(np.float32)

    def runs(self, mean=100, gap=13):
        """Segments of `mean` positions, whose label is `gap` better than the others."""
        count = 2 * self.positions // mean + 10
        lengths = self.random.geometric(1 / mean, size=count)
        label = np.resize(np.repeat(self.random.integers(LABELS, size=count), lengths), self.positions)
        scores = self.noise() - np.float32(gap)
        scores[np.arange(self.positions), label] += np.float32(gap)
        return scores

    def some(self, scores, share, value):
        scores[self.random.random(scores.shape) < share] = value
        return scores

    def stretches(self, scores, value, length=5000):
        for label in range(1, LABELS):
            at = 0
            while at < self.positions:
                begin = at + self.random.integers(1, 4 * length)
                at = begin + self.random.integers(1, length)
                scores[begin:at, label] = value
        return scores

    def without(self, scores, value, label=3):
        scores[:, label] = value
        return scores

    def durations(self):
        return self.random.standard_normal((DURATIONS, LABELS))

    def every(self, column):
        return np.tile(np.broadcast_to(column, (DURATIONS, 1)), (1, LABELS))

    def peak(self, mean, deviation):
        return self.every(-((self.k - mean) ** 2) / (2.0 * deviation**2))

    def poisson(self, mean):
        return self.every(np.array([[k * math.log(mean) - mean - math.lgamma(k + 1)] for k in self.k[:, 0]]))

    def longer_than(self, shorter, value):
        table = self.durations()
        table[:shorter] = value
        return table

    def multiples(self, of):
        return np.where(self.k % of == 0, self.durations(), FORBIDDEN)

    def circle(self, others):
        table = np.full((LABELS, LABELS), float(others))
        table[np.arange(LABELS), (np.arange(LABELS) + 1) % LABELS] = 0
        return table

    def sites(self, share, elsewhere):
        scores = self.some(np.full((self.positions, LABELS), elsewhere, np.float32), share, 0)
        scores[0] = 0
        return scores


def kinds(m):
    """Name: a function that makes scores, durations, and what else differs (transitions, starts, ends)."""
    return {
        "normal": lambda: (m.noise(), m.durations(), {}),
        "runs": lambda: (m.runs(), m.durations(), {}),
        "size 100": lambda: (m.noise(100), m.durations(), {}),
        "size 1000": lambda: (m.noise(1000), m.durations(), {}),
        "outliers of 1e5": lambda: (m.some(m.noise(), 0.001, 1e5), m.durations(), {}),
        "zeros": lambda: (np.zeros((m.positions, LABELS), np.float32), m.every(0.0), {}),
        "peak 100 +- 10": lambda: (m.noise(), m.peak(100, 10), {}),
        "peak 100 +- 10, runs": lambda: (m.runs(), m.peak(100, 10), {}),
        "peak 150 +- 1, runs": lambda: (m.runs(), m.peak(150, 1), {}),
        "poisson 30, runs": lambda: (m.runs(30, 5), m.poisson(30), {}),
        "-5 per position": lambda: (m.noise(), m.every(-5.0 * m.k), {}),
        "+5 per position": lambda: (m.noise(), m.every(5.0 * m.k), {}),
        "10 or more": lambda: (m.noise(), m.longer_than(9, FORBIDDEN), {}),
        "10 or more, runs": lambda: (m.runs(), m.longer_than(9, FORBIDDEN), {}),
        "10 or more by masks, runs": lambda: (m.runs(), m.longer_than(9, MASK), {}),
        "multiples of 3": lambda: (m.noise(), m.multiples(3), {}),
        "50 or 100 or ..., runs": lambda: (m.runs(), m.multiples(50), {}),
        "circle": lambda: (m.runs(), m.durations(), {"transition": m.circle(FORBIDDEN)}),
        "circle by masks": lambda: (m.runs(), m.durations(), {"transition": m.circle(MASK)}),
        "2 % forbidden": lambda: (m.some(m.noise(), 0.02, FORBIDDEN), m.durations(), {}),
        "2 % masks": lambda: (m.some(m.noise(), 0.02, MASK), m.durations(), {}),
        "2 % masks, runs": lambda: (m.some(m.runs(), 0.02, MASK), m.durations(), {}),
        "2 % masks, 10 or more": lambda: (m.some(m.noise(), 0.02, MASK), m.longer_than(9, FORBIDDEN), {}),
        "2 % of -1e6": lambda: (m.some(m.noise(), 0.02, -1e6), m.durations(), {}),
        "forbidden stretches": lambda: (m.stretches(m.noise(), FORBIDDEN), m.durations(), {}),
        "masked stretches": lambda: (m.stretches(m.noise(), MASK), m.durations(), {}),
        "a label forbidden": lambda: (m.without(m.noise(), FORBIDDEN), m.durations(), {}),
        "a label masked": lambda: (m.without(m.noise(), MASK), m.durations(), {}),
        "start sites": lambda: (m.noise(), m.durations(), {"start": m.sites(0.05, FORBIDDEN)}),
        "start sites by masks": lambda: (m.noise(), m.durations(), {"start": m.sites(0.05, MASK)}),
        "start sites by -20": lambda: (m.noise(), m.durations(), {"start": m.sites(0.05, -20)}),
        "start and end sites": lambda: (
            m.noise(),
            m.durations(),
            {"start": m.sites(0.3, FORBIDDEN), "end": m.sites(0.3, FORBIDDEN)},
        ),
    }


def rows(table):
    return [["-inf" if value == FORBIDDEN else float(value) for value in row] for row in table]


def write_inputs(folder, scores, durations, other):
    """The arguments that name the files."""
    np.save(folder / "scores.npy", scores)
    arguments = ["-p", str(folder / "params.json"), str(folder / "scores.npy")]
    for edge in ("start", "end"):
        if edge in other:
            np.save(folder / f"{edge}.npy", other[edge])
            arguments += [f"--{edge}-scores", str(folder / f"{edge}.npy")]
    parameters = {
        "format": "semicrf-params", "format_version": "1.0", "bin_size": 1, "initial": "none", "centering": "none",
        "labels": [f"s{c}" for c in range(LABELS)], "max_duration": DURATIONS,
        "transition": rows(other.get("transition", np.full((LABELS, LABELS), -2.0))),
        "duration": {"kind": "table", "bias": rows(durations)},
    }
    (folder / "params.json").write_text(json.dumps(parameters))
    return arguments


def seconds_of(command):
    """None: it took too long."""
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return time.perf_counter() - begin


def measure(command, stats):
    """The best seconds of up to three runs, exact blocks per block and repaired chunks."""
    best = seconds_of(command)
    if best is None:
        return None, "", ""
    for _ in range(2):
        if best < LONG:
            best = min(best, seconds_of(command))
    if best >= LONG or seconds_of([*command, "--stats", str(stats)]) is None:
        return best, "", ""
    sequence = json.loads(stats.read_text())["sequences"][0]
    return best, f"{sequence['fallbacks'] / max(1, sequence['blocks']):.2f}", sequence["repaired_chunks"]


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    program, positions, threads, devices = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].split(",")
    wanted = sys.argv[5:]
    first = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        for kind, make in kinds(Maker(positions)).items():
            if wanted and kind not in wanted and kind != "normal":
                continue
            files = write_inputs(folder, *make())
            line = f"{kind:26}"
            for command in (["decode", "--score", "none"], ["posterior", "--digits", "2"]):
                for device in devices:
                    run = [program, *command, "-q", "-t", threads, "-x", device, "-o", str(folder / "out"), *files]
                    best, exact, repaired = measure(run, folder / "stats.json")
                    base = first.setdefault((command[0], device), best)
                    times = f"{best:7.3f} s {best / base:5.1f} x" if best is not None else f"  > {TIMEOUT} s        "
                    line += f" | {command[0][:6]} {device} {times} {exact:>5} {repaired:>5}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
