#!/usr/bin/env python3
"""Long inputs with real statistics, for tests/gpu/measure_tool.sh: tracks laid end to end, each copy shifted.

    real_inputs.py rows BIN_SIZE ROWS.npy TRACK.bw...      means per bin of all chromosomes, one row per bin (float16)
    real_inputs.py tile ROWS.npy COPIES OUT.npy            copies after each other, copy i rotated by i x 997 rows
    real_inputs.py scores OUT.npy PARAMS.json SCORES.npy   label scores that the parameters' emission head makes

`rows` needs pyBigWig; all need numpy.
"""

import json
import sys

import numpy


def rows(bin_size, out, paths):
    import pyBigWig

    columns = []
    for path in paths:
        track = pyBigWig.open(path)
        parts = []
        for name, length in sorted(track.chroms().items()):
            values = numpy.nan_to_num(track.values(name, 0, length, numpy=True))
            bins = length // bin_size
            parts.append(values[:bins * bin_size].reshape(bins, bin_size).mean(1))
        columns.append(numpy.concatenate(parts))
    numpy.save(out, numpy.stack(columns, 1).astype(numpy.float16))


def tile(source, copies, out):
    one = numpy.load(source).astype(numpy.float32)
    target = numpy.lib.format.open_memmap(out, "w+", numpy.float32, (copies * len(one), one.shape[1]))
    for i in range(copies):
        target[i * len(one):(i + 1) * len(one)] = numpy.roll(one, i * 997, 0)
    target.flush()


def scores(source, parameters, out):
    model = json.load(open(parameters))
    tracks = numpy.load(source, mmap_mode="r")
    features = []
    transforms = {"none": lambda x: x, "log1p": numpy.log1p, "asinh": numpy.arcsinh}
    for track in model["tracks"]:
        features.append((transforms[track.get("transform", "none")], track.get("center", 0), track.get("scale", 1)))
    weights = numpy.array(model["emission"]["weights"], dtype=numpy.float32)
    bias = numpy.array(model["emission"]["bias"], dtype=numpy.float32)
    target = numpy.lib.format.open_memmap(out, "w+", numpy.float32, (len(tracks), len(weights)))
    for begin in range(0, len(tracks), 1 << 20):
        part = tracks[begin:begin + (1 << 20)]
        x = numpy.stack([(g(part[:, f]) - center) / scale for f, (g, center, scale) in enumerate(features)], 1)
        target[begin:begin + len(part)] = x @ weights.T + bias
    target.flush()


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "rows":
        rows(int(arguments[0]), arguments[1], arguments[2:])
    elif what == "tile":
        tile(arguments[0], int(arguments[1]), arguments[2])
    else:
        scores(*arguments)


if __name__ == "__main__":
    main()
