#!/usr/bin/env python3
"""pyBigWig writing the intervals of a bedGraph file, and what pyBigWig, pybigtools and pybbi read of a bigWig file.

usage: bigwig_peers.py BOUNDARIES.bedgraph BOUNDARIES.bw

Both of the same run of `semicrf posterior`. Libraries that are not installed are passed over; pip install pyBigWig
pybigtools pybbi installs them.
"""

import os
import statistics
import sys
import tempfile
import time


def joined(intervals):
    """Touching intervals of one value as one."""
    result = []
    for begin, end, value in intervals:
        if result and result[-1][1] == begin and abs(result[-1][2] - value) < 1e-9:
            begin = result.pop()[0]
        result.append((begin, end, value))
    return result


def same(found, expected):
    found, expected = joined(found), joined(expected)
    return len(found) == len(expected) and all(f[0] == e[0] and f[1] == e[1] and abs(f[2] - e[2]) < 1e-6 for f, e in zip(found, expected))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = [line.split("\t") for line in open(sys.argv[1], encoding="utf-8") if not line.startswith(("#", "track"))]
    expected = {}
    for chromosome, begin, end, value in lines:
        expected.setdefault(chromosome, []).append((int(begin), int(end), float(value)))
    try:
        import pyBigWig

        columns = {}
        for name, found in expected.items():
            starts, ends, values = zip(*found)
            columns[name] = [name] * len(found), list(starts), list(ends), list(values)
        seconds = []
        for _ in range(5):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "peer.bw")
                begin = time.perf_counter()
                file = pyBigWig.open(path, "w")
                file.addHeader([(name, found[-1][1]) for name, found in expected.items()])
                for names, starts, ends, values in columns.values():
                    file.addEntries(names, starts, ends=ends, values=values)
                file.close()
                seconds.append(time.perf_counter() - begin)
                size = os.path.getsize(path)
        print("pyBigWig writes %d intervals in %.3f s (median of 5), %d bytes; %s has %d" %
              (len(lines), statistics.median(seconds), size, sys.argv[2], os.path.getsize(sys.argv[2])))
        file = pyBigWig.open(sys.argv[2])
        print("pyBigWig reads the same:", all(same(file.intervals(name), found) for name, found in expected.items()))
    except ImportError as error:
        print(error)
    try:
        import pybigtools

        file = pybigtools.open(sys.argv[2])
        print("pybigtools reads the same:", all(same(list(file.records(name)), found) for name, found in expected.items()),
              "zoom levels", file.zooms())
    except ImportError as error:
        print(error)
    try:
        import bbi

        file = bbi.open(sys.argv[2])
        for name, found in expected.items():
            values = file.fetch(name, found[0][0], found[0][1])
            print("pybbi reads", name, len(values), "bases from", found[0][0], "zoom levels", file.zooms)
    except ImportError as error:
        print(error)


if __name__ == "__main__":
    main()
