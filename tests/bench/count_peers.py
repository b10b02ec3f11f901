#!/usr/bin/env python3
"""Times `semicrf count` against samtools view -c, mosdepth, bamCoverage and ChromHMM's BinarizeBam on simulated reads.

usage: count_peers.py --program SEMICRF --folder FOLDER [--reads 50000000] [--runs 5] [--slow-runs 1] [--keep]

Writes FOLDER/reads.bam and its index (with numpy and samtools), sorted reads of 50 bases on chromosomes as long as those
of hg38, half of them in peaks. The programs run in turn with two threads; the table has the medians of their processor
time and wall time, and both over those of samtools. Programs that are not installed are passed over; bamCoverage and
BinarizeBam take minutes and have runs of their own. Without --keep the reads are deleted at the end.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

LENGTHS = [248956422, 242193529, 198295559, 190214555, 181538259, 170805979, 159345973, 145138636, 138394717, 133797422, 135086622, 133275309,
           114364328, 107043718, 101991189, 90338345, 83257441, 80373285, 58617616, 64444167, 46709983, 50818468, 156040895, 57227415]
CHROMOSOMES = [("chr%s" % name, length) for name, length in zip([*range(1, 23), "X", "Y"], LENGTHS)]
READ, NAME, PEAKS_PER_MB, PEAK = 50, 24, 20, 2000
RECORD = [("block", "<i4"), ("tid", "<i4"), ("pos", "<i4"), ("name_size", "u1"), ("mapq", "u1"), ("bin", "<u2"), ("cigars", "<u2"), ("flag", "<u2"),
          ("bases", "<i4"), ("mate_tid", "<i4"), ("mate_pos", "<i4"), ("span", "<i4"), ("name", "u1", NAME), ("cigar", "<u4"), ("seq", "u1", READ // 2),
          ("qual", "u1", READ)]


def records(random, numpy, tid, length, count, first):
    peaks = random.integers(0, length - PEAK - READ, max(1, length * PEAKS_PER_MB // 1000000))
    in_peaks = random.choice(peaks, count // 2) + random.integers(0, PEAK, count // 2)
    begins = numpy.sort(numpy.concatenate([in_peaks, random.integers(0, length - READ, count - count // 2)]))
    made = numpy.zeros(count, dtype=RECORD)
    made["block"], made["tid"], made["pos"], made["name_size"] = made.dtype.itemsize - 4, tid, begins, NAME
    made["mapq"] = random.choice(numpy.array([0, 20, 37, 60, 60, 60, 60, 60], "u1"), count)
    low, high = begins >> 14, (begins + READ - 1) >> 14
    made["bin"] = numpy.select([low == high, low >> 3 == high >> 3, low >> 6 == high >> 6, low >> 9 == high >> 9],
                               [4681 + low, 585 + (low >> 3), 73 + (low >> 6), 9 + (low >> 9)], 1 + (low >> 12))
    made["cigars"], made["cigar"], made["bases"], made["mate_tid"], made["mate_pos"] = 1, READ << 4, READ, -1, -1
    made["flag"] = 16 * random.integers(0, 2, count) + 1024 * (random.random(count) < 0.05)
    digits = numpy.char.zfill((first + numpy.arange(count)).astype("S9"), 9)
    names = numpy.char.add(b"RUN7:1:1101:17", digits).astype("S%d" % NAME)
    made["name"] = names.view("u1").reshape(count, NAME)
    bases = 1 << random.integers(0, 4, (count, READ), dtype="u1")
    made["seq"] = bases[:, ::2] << 4 | bases[:, 1::2]
    made["qual"] = numpy.array([11, 25, 37, 37, 37, 37, 37, 37], "u1")[random.integers(0, 8, (count, READ), dtype="u1")]
    return made.tobytes()


def simulate(path, reads):
    import numpy

    random = numpy.random.default_rng(1)
    header = "@HD\tVN:1.6\tSO:coordinate\n" + "".join("@SQ\tSN:%s\tLN:%d\n" % pair for pair in CHROMOSOMES)
    names = b"".join(len(name + "0").to_bytes(4, "little") + name.encode() + b"\0" + length.to_bytes(4, "little") for name, length in CHROMOSOMES)
    with subprocess.Popen(["samtools", "view", "-b", "-@", "2", "-o", str(path), "-"], stdin=subprocess.PIPE) as writer:
        writer.stdin.write(b"BAM\1" + len(header).to_bytes(4, "little") + header.encode() + len(CHROMOSOMES).to_bytes(4, "little") + names)
        written, total = 0, sum(LENGTHS)
        for tid, (_, length) in enumerate(CHROMOSOMES):
            count = reads * length // total
            writer.stdin.write(records(random, numpy, tid, length, count, written))
            written += count
        writer.stdin.close()
    subprocess.run(["samtools", "index", "-@", "2", str(path)], check=True)
    return written


def commands(program, folder):
    """{name: words}, samtools first."""
    bam, sizes, table = folder / "reads.bam", folder / "sizes.txt", folder / "table.txt"
    sizes.write_text("".join("%s\t%d\n" % pair for pair in CHROMOSOMES))
    table.write_text("cell\tmark\treads.bam\n")
    out = folder / "out"
    return {"samtools view -c -@ 2": ["samtools", "view", "-c", "-@", "2", bam],
            "semicrf count -t 2": [program, "count", "-q", "-t", "2", "-b", "200", "-o", out / "count.bw", bam],
            "semicrf count -t 2 --binarise": [program, "count", "-q", "-t", "2", "-b", "200", "--shift", "100", "--exclude-flags", "0", "--binarise",
                                              "--chromhmm-out", out / "binarised", bam],
            "mosdepth -t 2": ["mosdepth", "-t", "2", "-n", "-x", "-b", "200", out / "depth", bam],
            "bamCoverage -p 2": ["bamCoverage", "-p", "2", "-bs", "200", "-b", bam, "-o", out / "coverage.bw"],
            "BinarizeBam": ["ChromHMM", "BinarizeBam", sizes, folder, table, out / "theirs"]}


def run(words, out):
    """Seconds of processor and wall time."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    begin, before = time.perf_counter(), os.times()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - begin, os.times()
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(map(str, words)), done.stderr[-1000:]))
    return after.children_user + after.children_system - before.children_user - before.children_system, wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--reads", type=int, default=50_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--slow-runs", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the reads; they are made only where they are missing")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    bam = options.folder / "reads.bam"
    if not bam.exists():
        print("%d reads" % simulate(bam, options.reads))
    times = {}
    for number in range(options.runs):
        for name, words in commands(options.program, options.folder).items():
            slow = name.startswith(("bamCoverage", "BinarizeBam"))
            if shutil.which(words[0]) is not None and number < (options.slow_runs if slow else options.runs):
                times.setdefault(name, []).append(run(words, options.folder / "out"))
                print("# %-30s %7.1f s of the processor, %7.1f s" % (name, *times[name][-1]), flush=True)
    least = [statistics.median(column) for column in zip(*next(iter(times.values())))]
    print("%d bytes" % bam.stat().st_size)
    for name, found in times.items():
        medians = [statistics.median(column) for column in zip(*found)]
        print("%-30s %d runs: processor %7.1f s (%.2f), wall %7.1f s (%.2f)" %
              (name, len(found), medians[0], medians[0] / least[0], medians[1], medians[1] / least[1]))
    shutil.rmtree(options.folder / "out", ignore_errors=True)
    if not options.keep:
        for path in options.folder.glob("reads.bam*"):
            path.unlink()


if __name__ == "__main__":
    main()
