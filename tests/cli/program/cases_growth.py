"""Processor time and memory at n and 4n sequences, regions, samples or names: time may grow in proportion, memory by a bounded number of bytes each."""

import json
import re
import subprocess
import sys

from harness import check
from make_inputs import bigwig, track_parameters

SMALL, FACTOR = 5000, 4
MOST_TIMES = 8  # what takes the square of n takes 16 times as long
LEAST_SECONDS = 0.15  # less is noise

# A process of its own: the system counts what the parent has in memory as a peak of the child.
MEASURE = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""


class Use:
    """What one run took."""

    def __init__(self, box, arguments, codes=(0,)):
        done = subprocess.run([sys.executable, "-c", MEASURE, box.program] + arguments, cwd=box.folder, capture_output=True, text=True, check=True)
        code, self.seconds, self.bytes = json.loads(done.stdout)
        check(code in codes, "exit %d of %s\n%s" % (code, " ".join(arguments)[:200], done.stderr[:1000]))


def grows_in_proportion(box, arguments_of, bytes_each=1500, small=SMALL, codes=(0,)):
    """Runs arguments_of(n), which makes the inputs, for n and 4n."""
    few, many = (Use(box, arguments_of(n).split(), codes) for n in (small, FACTOR * small))
    what = "from %d to %d: %.2f to %.2f s, %.1f to %.1f MiB" % (small, FACTOR * small, few.seconds, many.seconds, few.bytes / 2**20, many.bytes / 2**20)
    check(many.seconds <= MOST_TIMES * max(few.seconds, LEAST_SECONDS), what)
    check(many.bytes - few.bytes <= bytes_each * (FACTOR - 1) * small + 2**22, what)
    return many


def scaffold(i):
    return "s%06d" % i


def scaffolds(box, n, bins=3):
    """x.bw: n scaffolds of a few bins of 10 bases each, with other values in every second one."""
    chromosomes = {scaffold(i): 10 * bins for i in range(n)}
    sections = [bigwig.fixed_step(scaffold(i), 0, 10, [3.0 if (i + j) % 2 else 0.0 for j in range(bins)])[0] for i in range(n)]
    bigwig.write(box.path("x.bw"), chromosomes, sections, compress=False)
    return track_parameters(box)


def bed(box, name, n, line="%s\t0\t20\n", first="s"):
    return box.write(name, "".join(line % (first + "%06d" % i) for i in range(n)))


def test_regions(box):
    """-L, --exclude: a region on each scaffold, and one on each of as many that the inputs lack."""
    def run(n, option, first="s"):
        scaffolds(box, n)
        bed(box, "r.bed", n, first=first)
        return "decode -q -p track.json signal=x.bw -o o.bed %s r.bed" % option

    grows_in_proportion(box, lambda n: run(n, "-L"))
    grows_in_proportion(box, lambda n: run(n, "--exclude"))
    grows_in_proportion(box, lambda n: run(n, "-L", first="q"), codes=(3,))


def test_statements(box):
    """--claims and --constraints: many lines, most of them between the regions that are decoded, and many that all hold at the same bins."""
    def regions(n, command):
        scaffolds(box, 1, bins=5 * n)
        box.write("r.bed", "".join("s000000\t%d\t%d\n" % (50 * i, 50 * i + 40) for i in range(n)))
        lines = lambda text: "".join("s000000\t%d\t%d\t%s\n" % (50 * (i // 5) + 40, 50 * (i // 5) + 50, text) for i in range(5 * n))
        whole = "s000000\t0\t%d\tlabel:on,off\n" % (50 * n)
        box.write("claims.bed", lines("label:on") + whole.replace(",off", "") * n + "s000000\t0\t10\tlabel:on\n")
        box.write("what.bed", lines("not:on") + whole)
        return "%s -q -t 1 -p track.json -L r.bed signal=x.bw" % command

    def together(n):
        scaffolds(box, 1, bins=50)
        box.write("what.bed", "".join("s000000\t%d\t500\tlabel:on,off\n" % (i % 400) for i in range(n)))
        return "decode -q -p track.json --score none --constraints what.bed -o o.bed signal=x.bw"

    grows_in_proportion(box, lambda n: regions(n, "query --claims claims.bed -o q.tsv"), 3000)
    grows_in_proportion(box, lambda n: regions(n, "decode --score none --constraints what.bed -o o.bed"), 3000)
    grows_in_proportion(box, together, 3000, small=25000)


def sheet(box, n, track="signal"):
    return box.write("sheet.tsv", "sample\ttrack\tpath\n" + "".join("s%06d\t%s\tx.bw\n" % (i, track) for i in range(n)))


def test_samples(box):
    """Sample sheets: one of many samples is decoded; a model is trained on all of them."""
    def one(n):
        scaffolds(box, 2)
        sheet(box, n)
        return "decode -q -p track.json --samples sheet.tsv --sample s%06d -o o.bed" % (n - 1)

    def all_of_them(n):
        scaffolds(box, 1, bins=40)
        sheet(box, n)
        box.write("l.bed", "s000000\t0\t200\toff\ns000000\t200\t400\ton\n")
        options = "".join(" --sample s%06d" % i for i in range(n))
        return "train -q --labels l.bed --bin-size 10 --max-iterations 1 --samples sheet.tsv -o m.json" + options

    grows_in_proportion(box, one, 500, small=20000)
    grows_in_proportion(box, all_of_them, 30000, small=1000)


def test_statistics(box):
    """--stats says much of every sequence, and keeps little of it in memory."""
    def run(n, command):
        scaffolds(box, n)
        return command + " -q -p track.json signal=x.bw --stats s.json"

    most = grows_in_proportion(box, lambda n: run(n, "decode --score posterior -o o.bed"), 1000)
    grows_in_proportion(box, lambda n: run(n, "posterior -o o.bedgraph"), 1000)
    is_planned(box, run(FACTOR * SMALL, "decode --score posterior -o o.bed"), most)


def is_planned(box, arguments, used):
    """--dry-run tells what the run took, and not much more."""
    planned = box.ok(arguments + " --dry-run").stdout
    mebibytes = float(next(line for line in planned.splitlines() if line.startswith("memory\t")).split()[1])
    check(0.9 * used.bytes <= mebibytes * 2**20 <= 1.7 * used.bytes, "--dry-run says %g MiB, the run took %.1f" % (mebibytes, used.bytes / 2**20))


def respects_limit(box, arguments, tight="33M"):
    """A limit that lists of sequences do not fit into is refused; the amount that the error names is enough, and kept to."""
    error = box.fails(arguments + " --max-memory " + tight, 6, "--max-memory").stderr
    enough = re.search("give --max-memory ([0-9]+)M", error)
    check(enough, error)
    used = Use(box, (arguments + " --max-memory %sM" % enough[1]).split())
    check(used.bytes <= int(enough[1]) * 2**20, "--max-memory %sM, and the run took %.1f MiB" % (enough[1], used.bytes / 2**20))


def test_binary_outputs(box):
    """bigWig, bigBed and indexes: a few bytes for each scaffold, which --dry-run and --max-memory know."""
    def run(n, command):
        scaffolds(box, n)
        return command + " -q -p track.json signal=x.bw"

    for command, bytes_each in (("decode --hub hub --hub-genome g", 850), ("posterior -o o.bw --labels-out l.bw", 800), ("decode -o o.bb", 750), ("decode -o o.bed.gz --write-index", 1300)):
        used = grows_in_proportion(box, lambda n: run(n, command), bytes_each)
        is_planned(box, run(FACTOR * SMALL, command), used)
        respects_limit(box, run(FACTOR * SMALL, command))


def test_tracks(box):
    """Thousands of bigWig files."""
    def run(n):
        scaffolds(box, 1, bins=40)
        names = ["t%05d" % i for i in range(n)]
        track_parameters(box, tracks=names)
        box.write("sheet.tsv", "sample\ttrack\tpath\n" + "".join("s\t%s\tx.bw\n" % name for name in names))
        return "posterior -q -p track.json --samples sheet.tsv --sample s -o o.bedgraph"

    grows_in_proportion(box, run, 9000, small=500)
    respects_limit(box, run(2000))


def test_training(box):
    """train and learn keep what they read, and say how much that is."""
    def run(n, command):
        scaffolds(box, n)
        bed(box, "l.bed", n, "%s\t0\t20\toff\n")
        box.write("l.bed", open(box.path("l.bed")).read() + "s000000\t20\t30\ton\n")
        return command + " -q --bin-size 10 --max-iterations 1 signal=x.bw -o m.json"

    for command in ("train --labels l.bed", "learn --labels 2 --restarts 1"):
        grows_in_proportion(box, lambda n: run(n, command), 2200, small=2000)
        respects_limit(box, run(8000, command))


def test_claims(box):
    def run(n):
        scaffolds(box, n)
        bed(box, "claims.bed", n, "%s\t0\t20\tlabel:on\n")
        return "query -q -p track.json signal=x.bw --claims claims.bed -o q.tsv"

    used = grows_in_proportion(box, run, 1300, small=2000)
    is_planned(box, run(8000), used)
    respects_limit(box, run(FACTOR * SMALL))


def segments(box, name, n, each=10):
    """n scaffolds of some segments of 20 bases, with posteriors in column 5."""
    lines = ("%s\t%d\t%d\t%s\t%d\t.\n" % (scaffold(i), 20 * k, 20 * k + 20, ("off", "on")[k % 2], 500 + k) for i in range(n) for k in range(each))
    return box.write(name, "".join(lines))


def test_segmentations(box):
    """Commands that read segments of many sequences."""
    def run(n, command):
        track_parameters(box)
        for name in ("a.bed", "b.bed"):
            segments(box, name, n)
        for label in ("off", "on"):
            box.write("p.%s.bedgraph" % label, "".join("%s\t0\t20\t0.5\n" % scaffold(i) for i in range(n)))
        return command

    grows_in_proportion(box, lambda n: run(n, "report -p track.json --segments a.bed -o r.html"), 3000)
    grows_in_proportion(box, lambda n: run(n, "describe a.bed -o d"), 1500)
    grows_in_proportion(box, lambda n: run(n, "compare a.bed b.bed -o c"), 3000)
    grows_in_proportion(box, lambda n: run(n, "enrich a.bed b.bed -o e"), 3000)
    grows_in_proportion(box, lambda n: run(n, "reproducibility a.bed b.bed --labels p --r-values r -o t"), 3000)
    grows_in_proportion(box, lambda n: run(n, "eval --truth a.bed b.bed -o e.txt"), 4000)


def test_many_labels(box):
    """Names of genes are no labels."""
    box.write("genes.bed", "".join("chr1\t%d\t%d\tgene%d\n" % (20 * i, 20 * i + 20, i) for i in range(2001)))
    bed(box, "r.bed", 1)
    box.write("segments.bed", "chr1\t0\t20\ton\n")
    parameters = track_parameters(box)
    for command in ("describe genes.bed -o d", "compare segments.bed genes.bed -o c", "enrich genes.bed r.bed -o e",
                    "eval --truth segments.bed genes.bed", "eval --truth genes.bed segments.bed",
                    "report -p %s --segments genes.bed -o r.html" % parameters):
        box.fails(command, 3, "genes.bed:line 200", "there are more than 2000 different labels; column 4 must hold the label")


def test_more_values_than_memory_are_known_before_they_are_kept(box):
    """The rows that a fit would keep are beyond --max-memory by themselves."""
    length = 20_000_000
    bigwig.write(box.path("x.bw"), {"c": length}, bigwig.bedgraph("c", [(0, length // 2, 1.0), (length // 2, length, 2.0)]))
    box.write("x.bed", "c\t0\t%d\ta\nc\t%d\t%d\tb\n" % (length // 2, length // 2, length))
    for arguments in ("train --labels x.bed", "learn --labels 2"):
        line = (arguments + " -b 1 -o out.json --max-memory 48M t=x.bw").split()
        box.fails(line, 6, "keeping the tracks in memory needs 76.3 MiB", "up to the end of c", "--max-memory is 48 MiB")
        used = Use(box, line, (6,))
        check(used.bytes < 48 * 2**20, "%s: the run took %.1f MiB" % (arguments, used.bytes / 2**20))
