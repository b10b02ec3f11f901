#!/usr/bin/env python3
"""`semicrf reproducibility` against SAGAconf (PyPI sagaconf 1.1.0) on the same two replicates: ranks of r-values by bin and by label.

usage: reproducibility_by_sagaconf.py --program SEMICRF [--marks FOLDER] [--keep FOLDER]

Two replicates of one hidden segmentation, whose labels have other names and another order in the second. Both programs judge the most
probable label of each bin. Skipped (exit code 77) where there is no program sagaconf.

--marks: replicates are made of the GM12878.*.bw of this folder in place of it (docs/real-data.md, "Replicates"): of the calls of each mark
four fifths are kept, and one bin in 500 gets a false one; a model is learned of each replicate. Some minutes; tells and holds nothing.
"""

import argparse
import array
import math
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]
import make_inputs  # noqa: E402
import packages  # noqa: E402
from bbi_files import bigwig_intervals  # noqa: E402

SEED, LABELS, BINS, BIN, TOLERANCE = 4911, 6, 24000, 200, 1000
MODEL = """{"format": "semicrf-params", "format_version": "1.0", "labels": [%s], "max_duration": 1, "bin_size": 200, "centering": "none",
 "initial": "none", "transition": [%s], "duration": {"kind": "uniform"}}"""


def hidden(rng):
    """The label of each bin; some labels have short segments."""
    labels = []
    while len(labels) < BINS:
        label = rng.randrange(LABELS)
        labels += [label] * (1 + int(rng.expovariate(1 / (3 + 5 * label))))
    return labels[:BINS]


def write_replicate(box, program, name, rng, truth, order):
    """Scores of noisy values, posteriors and segments. `order`: which hidden label each column is."""
    rows = []
    for label in truth:
        value = 1.4 * label + rng.gauss(0, 0.5 + 0.12 * label)
        rows.append([-0.5 * ((value - 1.4 * c) / (0.5 + 0.12 * c)) ** 2 - math.log(0.5 + 0.12 * c) for c in order])
    (box / "chr1.npy").write_bytes(make_inputs.npy(rows))
    row = lambda c: "[%s]" % ", ".join("2.5" if c == d else "0" for d in range(LABELS))
    (box / (name + ".json")).write_text(MODEL % (", ".join('"%s%d"' % (name, c) for c in range(LABELS)), ", ".join(map(row, range(LABELS)))))
    segment(box, program, name, ["%s%d" % (name, c) for c in range(LABELS)], "chr1", BINS, "chr1.npy")


def segment(box, program, name, labels, chromosome, bins, path):
    """Segments and posteriors of a replicate, and the latter as sagaconf reads them."""
    for command in ("decode -q -p %s.json --rule posterior --gamma 0 --merge-adjacent -o %s.bed %s=%s" % (name, name, chromosome, path),
                    "posterior -q -p %s.json -o %s.b.bw --labels-out %s %s=%s" % (name, name, name, chromosome, path)):
        subprocess.run([program, *command.split()], cwd=box, check=True)
    columns = [values(box / ("%s.%s.bedgraph" % (name, label)), bins) for label in labels]
    with open(box / (name + ".parsed_posterior.bed"), "w") as file:
        file.write("chr\tstart\tend\t%s\n" % "\t".join("posterior%d" % c for c in range(len(labels))))
        for i, row in enumerate(zip(*columns)):
            file.write("%s\t%d\t%d\t%s\n" % (chromosome, BIN * i, BIN * i + BIN, "\t".join("%.6f" % p for p in row)))


def learn_replicate(box, program, name, seed, marks):
    """`marks`: a list of 0 and 1 per track."""
    rng = random.Random(seed)
    rows = array.array("f", (float(rng.random() < (0.8 + 0.2 * 0.002 if call else 0.002)) for calls in zip(*marks) for call in calls))
    (box / (name + ".npy")).write_bytes(make_inputs.npy_header(shape=(len(marks[0]), len(marks))) + rows.tobytes())
    line = "learn -q --labels 8 -b 200 --emission bernoulli --max-duration 50 --max-iterations 30 --seed %d -o %s.json chr11=%s.npy" % (seed, name, name)
    subprocess.run([program, *line.split()], cwd=box, check=True)
    segment(box, program, name, [str(c + 1) for c in range(8)], "chr11", len(marks[0]), name + ".npy")


def marks_of(folder):
    found = []
    for path in sorted(pathlib.Path(folder).glob("GM12878.*.bw")):
        intervals, _ = bigwig_intervals(path.read_bytes())
        calls = bytearray(max(end for _, _, end, _ in intervals) // BIN + 1)
        for _, begin, end, value in intervals:
            if value > 0:
                calls[begin // BIN:-(-end // BIN)] = b"\1" * (-(-end // BIN) - begin // BIN)
        found.append(calls)
    bins = min(map(len, found))
    return [calls[:bins] for calls in found]


def values(path, bins):
    """Of each bin of a bedGraph file."""
    found = [math.nan] * bins
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            _, begin, end, value = line.split("\t")
            begin, end = int(begin) // BIN, -(-int(end) // BIN)
            found[begin:end] = [float(value)] * (end - begin)
    return found


def ranks(numbers):
    """The mean rank of equal ones."""
    order = sorted(range(len(numbers)), key=lambda i: numbers[i])
    found, i = [0.0] * len(numbers), 0
    while i < len(order):
        j = i
        while j < len(order) and numbers[order[j]] == numbers[order[i]]:
            j += 1
        for k in order[i:j]:
            found[k] = (i + j - 1) / 2
        i = j
    return found


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    covariance = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    return covariance / math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))


def timed(line, box):
    """Runs it; seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, cwd=box, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("FAILED: %s\n%s" % (" ".join(line), done.stderr[-2000:]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def judge(box, program, labels, bins):
    """Both programs on replicates a and b: {label: row of ours}, rho by bin, rho by label, mean difference."""
    line = "reproducibility a.bed b.bed --labels a --tolerance %d --r-values r.bedgraph -o labels.tsv" % TOLERANCE
    seconds = timed([program, *line.split()], box)
    line = "sagaconf run a.parsed_posterior.bed b.parsed_posterior.bed saga --mode rvalues -w %d" % TOLERANCE
    print("processor time: %.2f s, sagaconf %.1f s" % (seconds, timed(line.split(), box)))
    theirs = [row.split("\t") for row in (box / "saga" / "r_values.bed").read_text().splitlines()[1:]]
    ours = values(box / "r.bedgraph", bins)
    table = [row.split("\t") for row in (box / "labels.tsv").read_text().splitlines()]
    by_label = {row[0]: dict(zip(table[0], row)) for row in table[1:]}
    of_bins = spearman(ours, [float(row[4]) for row in theirs])
    means = [(float(by_label[label]["reproduced"]), mean_of(theirs, c)) for c, label in enumerate(labels)]
    of_labels = spearman([one[0] for one in means], [one[1] for one in means])
    apart = sum(abs(r - float(row[4])) for r, row in zip(ours, theirs)) / bins
    print("mean r-value %.4f, sagaconf %.4f" % (sum(ours) / bins, sum(float(row[4]) for row in theirs) / bins))
    print("Spearman's rho of r-values by bin %.4f, by label %.4f; mean difference %.4f; labels: %s"
          % (of_bins, of_labels, apart, ", ".join("%.3f %.3f" % one for one in means)))
    return by_label, of_bins, of_labels, apart


def compare(box, program):
    rng = random.Random(SEED)
    truth = hidden(rng)
    order = list(range(LABELS))
    write_replicate(box, program, "a", rng, truth, order)
    rng.shuffle(order)
    write_replicate(box, program, "b", rng, truth, order)
    by_label, of_bins, of_labels, apart = judge(box, program, ["a%d" % c for c in range(LABELS)], BINS)
    if {label: row["match"] for label, row in by_label.items()} != dict({"a%d" % c: "b%d" % order.index(c) for c in range(LABELS)}, **{".": "."}):
        sys.exit("FAILED: labels are not matched: %r" % by_label)
    if of_bins < 0.95 or of_labels < 0.9 or apart > 0.03:
        sys.exit("FAILED: r-values do not agree")


def compare_marks(box, program, folder):
    marks = marks_of(folder)
    for name, seed in (("a", 1), ("b", 2)):
        learn_replicate(box, program, name, seed, marks)
    judge(box, program, [str(c + 1) for c in range(8)], len(marks[0]))


def mean_of(rows, label):
    found = [float(row[4]) for row in rows if row[3] == "posterior%d" % label]
    return sum(found) / len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--packages", help="not used")
    parser.add_argument("--marks", help="folder of GM12878.*.bw")
    parser.add_argument("--keep", help="an empty folder to work in")
    options = parser.parse_args()
    if shutil.which("sagaconf") is None:
        packages.skip("there is no program sagaconf")
    print("seed %d" % SEED)
    program = str(pathlib.Path(options.program).resolve())
    with tempfile.TemporaryDirectory(prefix="semicrf-peers-") as folder:
        box = pathlib.Path(options.keep or folder)
        if options.marks:
            compare_marks(box, program, options.marks)
        else:
            compare(box, program)


if __name__ == "__main__":
    main()
