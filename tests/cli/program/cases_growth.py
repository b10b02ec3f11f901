"""Processor time and memory at n and 4n sequences, regions, samples or names: time may grow in proportion, memory by a bounded number of bytes each."""

import os
import subprocess

from harness import check
from make_inputs import bigwig, track_parameters

SMALL, FACTOR = 5000, 4
MOST_TIMES = 8  # what takes the square of n takes 16 times as long
LEAST_SECONDS = 0.15  # less is noise


class Use:
    """What one run took."""

    def __init__(self, box, arguments, codes=(0,)):
        with open(box.path("stderr.txt"), "wb") as errors:
            run = box.start(arguments, stdout=subprocess.DEVNULL, stderr=errors)
            _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.error = box.path("stderr.txt").read_text(errors="replace")
        check(run.returncode in codes, "exit %d of %s\n%s" % (run.returncode, " ".join(arguments), self.error[:1000]))
        self.seconds, self.bytes = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


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
