#!/usr/bin/env python3
"""Makes scores whose best segments are long, and parameters for them: the end-to-end row of docs/performance.md.

    make_long_scores.py FOLDER LENGTH [LABELS] [PARTS]

FOLDER/scores.npy, or scores_0.npy ... of unequal lengths for several PARTS: float32, (LENGTH, LABELS), multiples of
1/8. FOLDER/none.json and FOLDER/mean.json: K = 100 with tails, the two centrings; many segmentations are nearly as good as
the best. FOLDER/long.json: the same with K = 4000, which takes longer to compute than to bring up. FOLDER/exact.json: no
tails, multiples of 1/8, whose best segmentation is the same to the bit anywhere. Needs numpy.
"""
import json
import pathlib
import sys

import numpy as np

MEAN_LENGTH = 250
SLAB = 1 << 20
MAX_DURATION = 100
LONG_DURATION = 4000


def draw_noise(random, labels):
    """Rows that write_scores() takes stretches of."""
    return np.round(random.standard_normal((2 * SLAB, labels), dtype=np.float32) * 0.6 * 8) / 8


def write_scores(path, length, labels, random, noise):
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(length, labels))
    for begin in range(0, length, SLAB):
        n = min(SLAB, length - begin)
        lengths = 1 + random.geometric(1 / MEAN_LENGTH, size=2 * n // MEAN_LENGTH + 50)
        label = np.repeat(random.integers(0, labels, size=lengths.size), lengths)[:n]
        first = int(random.integers(0, len(noise) - n + 1))
        rows = noise[first:first + n].copy()
        rows[np.arange(n), label] += 0.25
        out[begin:begin + n] = rows
    out.flush()


def parameters(labels, centering, max_duration=MAX_DURATION):
    log_stay = float(np.log(1 - 1 / MEAN_LENGTH))
    # A geometric law from the first position on.
    bias = [[k * log_stay] * labels for k in range(max_duration)]
    off = float(np.log(1 / MEAN_LENGTH / max(1, labels - 1)))
    transition = [["-inf" if i == j and labels > 1 else off for j in range(labels)] for i in range(labels)]
    return {
        "format": "semicrf-params", "format_version": "1.0", "labels": [f"s{c}" for c in range(labels)],
        "max_duration": max_duration, "bin_size": 1, "centering": centering, "initial": "none",
        "transition": transition,
        "duration": {"kind": "table", "tail": [1 - 1 / MEAN_LENGTH] * labels, "bias": bias},
    }


def exact_parameters(labels):
    table = parameters(labels, "none")
    table["transition"] = [["-inf" if i == j and labels > 1 else -2 - (3 * i + 5 * j) % 7 / 8 for j in range(labels)]
                           for i in range(labels)]
    table["duration"] = {"kind": "table", "bias": [[-((7 * k + 3 * c) % 16) / 8 for c in range(labels)]
                                                   for k in range(MAX_DURATION)]}
    return table


def main():
    folder = pathlib.Path(sys.argv[1])
    length = int(sys.argv[2])
    labels = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    parts = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    noise = draw_noise(random, labels)
    if parts == 1:
        write_scores(folder / "scores.npy", length, labels, random, noise)
    for i in range(parts if parts > 1 else 0):
        write_scores(folder / f"scores_{i:02}.npy", int(length * (1.5 - i / parts)), labels, random, noise)
    (folder / "exact.json").write_text(json.dumps(exact_parameters(labels)))
    for centering in ("none", "mean"):
        (folder / f"{centering}.json").write_text(json.dumps(parameters(labels, centering)))
    (folder / "long.json").write_text(json.dumps(parameters(labels, "none", LONG_DURATION)))


if __name__ == "__main__":
    main()
