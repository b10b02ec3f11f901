"""compare --posterior: every number base by base, planted changes with replicates, what is refused."""

import bisect
import itertools
import math
import os
import random
import subprocess

from accounts import hold_rows, table
from bbi_files import bigbed_lines, bigwig_intervals
from cases_accounts import SIZES, random_steps, write_posteriors
from harness import check
from make_inputs import npy

SEED = 481
LABELS = ["a", "b", "c", "d"]


def steps_of(text):
    return [(c, int(begin), int(end), float(value)) for c, begin, end, value in (line.split("\t") for line in text.splitlines())]


def compared(box, arguments):
    """The only row of the table."""
    columns, rows = table(box.ok("compare --posterior " + arguments).stdout)
    check(len(rows) == 1, "rows")
    return columns, rows[0]


class Account:
    """Conditions as lists of {chromosome: [{label: P}] by base}, one of each replicate."""

    def __init__(self, conditions, fdr):
        self.places = [(c, base) for c, bases in SIZES.items() for base in range(bases)]
        mean = lambda place, runs: {label: sum(run[place[0]][place[1]].get(label, 0) for run in runs) / len(runs) for label in LABELS}
        self.means = {place: [mean(place, runs) for runs in conditions] for place in self.places}
        differs = lambda of: 1 - sum(math.prod(p.get(label, 0) for p in of) for label in LABELS)
        self.p = {place: differs(of) for place, of in self.means.items()}
        runs = [run for of_condition in conditions for run in of_condition]
        own = set(range(len(conditions[0])))
        mixed = []
        if len(conditions) == 2 and len(runs) > 2:
            groups = [set(group) for group in itertools.combinations(range(len(runs)), len(own))]
            apart = lambda group: abs(len(group & own) / len(own) - len(own - group) / (len(runs) - len(own)))
            for group in groups:
                mirror = set(range(len(runs))) - group
                if apart(group) < min(map(apart, groups)) + 1e-9 and not (len(mirror) == len(group) and mirror in mixed):
                    mixed.append(group)
        self.relabellings = len(mixed)
        self.null = sorted(differs([mean(place, [runs[i] for i in group]), mean(place, [run for i, run in enumerate(runs) if i not in group])])
                           for group in mixed for place in self.places)
        self.fdr = fdr

    def at_least(self, threshold):
        return [p for p in self.p.values() if p >= threshold - 5e-7]

    def same_share(self, threshold):
        return sum(1 - p for p in self.at_least(threshold)) / len(self.at_least(threshold))

    def null_bases(self, threshold):
        return (len(self.null) - bisect.bisect_left(self.null, threshold - 5e-7)) / self.relabellings if self.relabellings else None

    def null_share(self, threshold):
        return min(1.0, self.null_bases(threshold) / len(self.at_least(threshold))) if self.relabellings else None

    def labels(self, place):
        tuples = (one for one in itertools.product(LABELS, repeat=len(self.means[place])) if len(set(one)) > 1)
        return "|".join(max(tuples, key=lambda one: math.prod(p[label] for p, label in zip(self.means[place], one))))

    def regions(self, threshold):
        runs = []
        for c, base in self.places:
            if self.p[c, base] < threshold - 5e-7:
                continue
            labels = self.labels((c, base))
            if runs and runs[-1][0] == c and runs[-1][2] == base and runs[-1][3] == labels:
                runs[-1][2] += 1
            else:
                runs.append([c, base, base + 1, labels])
        return runs


def surer(rng, at):
    """Posteriors of which many are close to 0 or 1."""
    for part in at.values():
        for base, values in enumerate(part):
            if base % 3 and base > 0:
                part[base] = part[base - 1]
            elif rng.random() < 0.7:
                sure = rng.choice(sorted(values))
                part[base] = {label: 0.97 if label == sure else round(0.03 / (len(values) - 1), 6) for label in values}
    return {label: "#semicrf 0.2.0 posterior\n#option bin-size=1\n" +
                   "".join("%s\t%d\t%d\t%.6f\n" % (c, base, base + 1, values[label]) for c, part in at.items() for base, values in enumerate(part))
            for label in next(iter(at.values()))[0]}


def test_every_number(box):
    rng = random.Random(SEED)
    box.write("sizes.tsv", "".join("%s\t%d\n" % item for item in [("other", 7)] + list(SIZES.items())))
    for shape in ([1, 1], [2, 2], [3, 1], [1, 1, 1]):
        conditions, arguments = [], []
        for s, replicates in enumerate(shape):
            names = ["%s%d" % ("xyz"[s], r) for r in range(replicates)]
            conditions.append([])
            for name in names:
                at, _ = random_steps(rng, LABELS, SIZES)
                write_posteriors(box, name, surer(rng, at))
                conditions[-1].append(at)
            arguments.append(",".join(names))
        arguments[0] = "first=" + arguments[0]
        columns, row = compared(box, " ".join(arguments) + " --fdr 0.1 --regions r.bed --disagreement d.bedgraph --curves c.tsv")
        account = Account(conditions, 0.1)
        for c, begin, end, value in steps_of(box.text("d.bedgraph")):
            for base in range(begin, end):
                check(abs(value - account.p[c, base]) < 1e-6, "%s:%d: %r, expected %r" % (c, base, value, account.p[c, base]))
        check(sum(end - begin for _, begin, end, _ in steps_of(box.text("d.bedgraph"))) == len(account.places), "bases")

        points, rows = table(box.text("c.tsv"))
        threshold = lambda one: float(one["threshold"])
        hold_rows("curves", points, rows, {
            "threshold": lambda one: one["threshold"], "bases": lambda one: len(account.at_least(threshold(one))),
            "same_share": lambda one: account.same_share(threshold(one)), "null_bases": lambda one: account.null_bases(threshold(one)),
            "null_share": lambda one: account.null_share(threshold(one))})
        small = [threshold(one) for one in rows if account.same_share(threshold(one)) + (account.null_share(threshold(one)) or 0) <= 0.1]
        lowest = min(small) if small else None
        check(lowest is not None or shape != [1, 1], "no region: the test shows nothing")

        runs = account.regions(lowest) if small else []
        means = [sum(account.p[run[0], base] for base in range(run[1], run[2])) for run in runs]
        largest = [max(account.p[run[0], base] for base in range(run[1], run[2])) for run in runs]
        found = [line.split("\t") for line in box.text("r.bed").splitlines()]
        check([line[:4] for line in found] == [[str(cell) for cell in run] for run in runs], "regions")
        for line, run, expected, most in zip(found, runs, means, largest):
            mean = expected / (run[2] - run[1])
            check(abs(int(line[4]) - 1000 * mean) <= 0.51 and line[5] == ".", "%r" % line)
            check(all(abs(float(a) - b) < 2e-5 * max(1, b) for a, b in zip(line[6:], [mean, expected, most])) and len(line) == 9, "%r" % line)
        total = sum(account.p.values())
        hold_rows("table", columns, [row], {
            "conditions": lambda _: "|".join(["first"] + ["yz"[s] + "0" for s in range(len(shape) - 1)]), "bases": lambda _: len(account.places),
            "expected_bases": lambda _: total, "expected_share": lambda _: total / len(account.places), "fdr": lambda _: 0.1,
            "threshold": lambda _: lowest, "regions": lambda _: len(runs), "region_bases": lambda _: len(account.at_least(lowest)) if small else 0,
            "same_share": lambda _: account.same_share(lowest) if small else None,
            "empty_regions": lambda _: sum(1 - p for p in largest) / len(runs) if runs else None, "relabellings": lambda _: account.relabellings,
            "null_bases": lambda _: account.null_bases(lowest) if small else None,
            "null_share": lambda _: account.null_share(lowest) if small else None}, tolerance=1e-5)

        box.ok("compare --posterior %s --fdr 0.1 --regions r.bb --disagreement d.bw -g sizes.tsv -o t.tsv" % " ".join(arguments))
        lines, _, chromosomes, _ = bigbed_lines(box.path("r.bb").read_bytes(), bed_columns=6) if runs else ([], 0, list(SIZES.items()), 0)
        check(lines == box.text("r.bed").splitlines(), "r.bb")
        found = bigwig_intervals(box.path("d.bw").read_bytes())[0]
        check(len(found) == len(steps_of(box.text("d.bedgraph"))), "d.bw")


def test_the_same_for_any_form_of_the_files(box):
    """bedGraph, compressed, and bigWig; for any number of threads that wrote them."""
    rng = random.Random(SEED + 1)
    box.write("p.json", '{"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b", "c"], "max_duration": 6, "bin_size": 10, "centering": "none", '
              '"transition": [["-inf", 0, 0], [0, "-inf", 0], [0, 0, "-inf"]], "duration": {"kind": "uniform"}}')
    box.write("g.tsv", "chr1\t20000\n")
    for sample in "xy":
        box.write("chr1.npy", npy([[rng.gauss(0, 2) for _ in range(3)] for _ in range(2000)]))
        for threads in (1, 3):
            box.ok("posterior -q -t %d -p p.json --labels-out %s%d -o o.bedgraph chr1.npy" % (threads, sample, threads))
        box.ok("posterior -q -p p.json -g g.tsv --labels-out %sw.bw -o o.bedgraph chr1.npy" % sample)
        box.ok("decode -q -p p.json -o o.bed --boundaries %s.tsv chr1.npy" % sample)
        for label in "abc":
            box.path("%s1.%s.bedgraph" % (sample, label)).rename(box.path("%sz.%s.bedgraph" % (sample, label)))
            box.ok(["posterior", "-q", "-p", "p.json", "--labels-out", sample + "1", "-o", "o.bedgraph", "chr1.npy"])
    results = []
    for form in ("1", "3", "z"):
        out = compared(box, "A=x%s B=y%s --regions r.bed --disagreement d.bedgraph --fdr 0.2" % (form, form))
        results.append((out, box.text("r.bed"), box.text("d.bedgraph")))
    check(results.count(results[0]) == 3 and results[0][1], "other bytes")
    compared(box, "A=xw.bw B=yw.bw --regions r.bed --disagreement w.bedgraph --fdr 0.2")
    for (c, begin, end, value), (c2, begin2, end2, value2) in zip(steps_of(box.text("w.bedgraph")), steps_of(results[0][2])):
        check((c, begin) == (c2, begin2) and abs(value - value2) < 1e-5, "bigWig")
        if end != end2:
            break
    box.ok("compare --posterior A=x1 B=y1 --boundaries x.tsv y.tsv --shifts s.tsv -o t.tsv")
    columns, rows = table(box.text("s.tsv"))
    known = [{(int(f[1]), f[2], f[3]): (f[5], f[6]) for f in (line.split("\t") for line in box.text(name).splitlines() if line[0] != "#")} for name in ("x.tsv", "y.tsv")]
    interval = lambda row: [known[s][int(row["position_" + "ab"[s]]), row["from"], row["to"]] for s in (0, 1)]
    bound = lambda row, a, b: int(interval(row)[1][a]) - int(interval(row)[0][b]) if "." not in interval(row)[0] + interval(row)[1] else None
    check(len(rows) > 20, "matches")
    hold_rows("shifts", columns, rows, {
        "chrom": lambda row: "chr1", "from": lambda row: row["from"], "to": lambda row: row["to"], "position_a": lambda row: row["position_a"],
        "position_b": lambda row: row["position_b"], "shift": lambda row: int(row["position_b"]) - int(row["position_a"]),
        "lower": lambda row: bound(row, 0, 1), "upper": lambda row: bound(row, 1, 0),
        "level": lambda row: 0.95 ** 2 if bound(row, 0, 1) is not None else None})


STATES, NOISE, LONGEST = 3, 0.7, 40


def drawn_path(rng, length):
    path, state = [], rng.randrange(STATES)
    while len(path) < length:
        path += [state] * min(rng.randint(5, LONGEST), length - len(path))
        state = rng.choice([other for other in range(STATES) if other != state])
    return path


def write_run(box, rng, name, path):
    """Label posteriors of a noisy track of the path, under the model that drew it."""
    rows = [[-(x - state) ** 2 / (2 * NOISE ** 2) for state in range(STATES)] for x in (label + rng.gauss(0, NOISE) for label in path)]
    box.write("s.npy", npy(rows))
    box.ok("posterior -q -p planted.json --labels-out %s -o o.bedgraph s.npy" % name)


def planted(rng, path, size=25, share=0.05):
    changed = list(path)
    for begin in range(0, len(path) - size, size):
        if rng.random() < share:
            changed[begin:begin + size] = [(changed[begin] + 1) % STATES] * size
    return changed


def false_share(box, first, second):
    bases = [base for line in box.text("r.bed").splitlines() for base in range(int(line.split("\t")[1]), int(line.split("\t")[2]))]
    check(bases, "nothing is reported")
    differing = {base for base, (a, b) in enumerate(zip(first, second)) if a != b}
    return sum(base not in differing for base in bases) / len(bases), len(differing.intersection(bases)) / len(differing)


def test_false_discoveries(box):
    """Independent paths: the share of false bases is what --fdr says. Planted changes in a common path: replicates hold it."""
    rng = random.Random(SEED + 2)
    duration = [["-inf" if k < 5 else -math.log(LONGEST - 4)] * STATES for k in range(1, LONGEST + 1)]
    transition = [["-inf" if a == b else -math.log(STATES - 1) for b in range(STATES)] for a in range(STATES)]
    box.write("planted.json", '{"format": "semicrf-params", "format_version": "1.1", "labels": ["a", "b", "c"], "max_duration": %d, "centering": "none", '
              '"edges": "censored", "transition": %s, "duration": {"kind": "table", "bias": %s}}' % (LONGEST, str(transition).replace("'", '"'), str(duration).replace("'", '"')))
    length = 20000
    path = drawn_path(rng, length)
    other, changed = drawn_path(rng, length), planted(rng, path)
    for name, truth in (("a1", path), ("a2", path), ("o", other), ("b1", changed), ("b2", changed)):
        write_run(box, rng, name, truth)
    for rate in (0.02, 0.05, 0.1):
        _, row = compared(box, "a1 o --regions r.bed --fdr %g" % rate)
        false, found = false_share(box, path, other)
        check(float(row["same_share"]) <= rate and 0.8 * rate < false < 1.2 * rate and found > 0.8, "independent: %r of %r false, %r found" % (false, rate, found))
    _, row = compared(box, "a1,a2 b1,b2 --regions r.bed --fdr 0.05")
    false, found = false_share(box, path, changed)
    check(float(row["null_share"]) + float(row["same_share"]) <= 0.05 and false <= 0.05 and found > 0.7, "planted: %r false, %r found" % (false, found))
    _, without = compared(box, "a1 b1 --regions r.bed --fdr 0.05")
    false, _ = false_share(box, path, changed)
    check(without["null_share"] == "." and false > 0.2, "docs/conditions.md says that the posteriors alone are not enough here: %r false" % false)


def test_memory_does_not_grow_with_the_genome(box):
    peaks = []  # which are never below that of this interpreter
    for bins in (5000, 400000):
        for run, label in itertools.product("xy", "ab"):
            rng = random.Random(run)
            with box.path("%s.%s.bedgraph" % (run, label)).open("w") as file:
                for i in range(bins):
                    p = rng.random()
                    file.write("c\t%d\t%d\t%.6f\n" % (10 * i, 10 * i + 10, p if label == "a" else 1 - p))
        run = box.start("compare --posterior x y --regions r.bed --disagreement d.bedgraph --curves c.tsv -o t.tsv".split(), stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = status
        check(status == 0, "status %d" % status)
        peaks.append(usage.ru_maxrss)
    check(peaks[1] < peaks[0] + 4096, "peaks of %r KiB" % peaks)


def test_refused(box):
    rng = random.Random(SEED + 3)
    for name in "xy":
        _, files = random_steps(rng, LABELS, SIZES)
        write_posteriors(box, name, files)
    box.fails("compare --posterior x", 2, "--posterior")
    box.fails("compare --posterior x y a.bed", (2, 3, 4), "a.bed")
    box.fails("compare genes.bed --posterior x y", 2, "two ways")
    box.fails("compare --posterior x x", 2, "'x' is given twice")
    box.fails("compare --posterior x, y", 2, "commas")
    box.fails("compare --posterior a=x a=y", 2, "two conditions", "'a'")
    box.fails("compare --posterior x y --fdr 0", 2, "--fdr")
    box.fails("compare --posterior x y --jaccard j.tsv", 2, "--jaccard", "segmentations")
    box.fails("compare genes.bed a=genes.bed --fdr 0.1", 2, "--fdr", "--posterior")
    box.fails("compare genes.bed a=genes.bed --disagreement d.bedgraph", 2, "--disagreement", "--posterior")
    box.fails("compare --posterior x y --shifts s.tsv", 2, "--boundaries")
    box.fails("compare --posterior x y --disagreement d.bw", 2, "d.bw", "--chrom-sizes")
    box.fails("compare --posterior x y -o x.a.bedgraph", 2, "x.a.bedgraph")
    box.fails("compare --posterior x nothing", 3, "nothing.LABEL.bedgraph", "--labels-out")
    box.write("short.tsv", "".join("%s\t%d\n" % (name, 30) for name in SIZES))
    box.fails("compare --posterior x y --disagreement d.bw -g short.tsv", 3, "short.tsv", "30 bases")
    box.write("few.tsv", "c1\t900\n")
    box.fails("compare --posterior x y --disagreement d.bw -g few.tsv", 3, "few.tsv", '"c2"')

    def bad(name, text, needle, label="a"):
        for one in LABELS:
            box.write("%s.%s.bedgraph" % (name, one), text(one, box.text("y.%s.bedgraph" % one)) if label in (one, None) else box.text("y.%s.bedgraph" % one))
        box.fails("compare --posterior x " + name, 3, *needle)

    lines = lambda text: text.splitlines(True)
    bad("value", lambda _, text: "".join(lines(text)[:5]) + lines(text)[5].rsplit("\t", 1)[0] + "\t1.5\n", ["value.a.bedgraph:line 6", "1.5"])
    bad("word", lambda _, text: "".join(lines(text)[:5]) + lines(text)[5].rsplit("\t", 1)[0] + "\tmuch\n", ["word.a.bedgraph:line 6", "much"])
    bad("cut", lambda _, text: "".join(lines(text)[:5]), ["cut:c1", "add up to"])
    bad("dropped", lambda _, text: text.replace("#option bin-size=1\n", "#option bin-size=1\n#option min-posterior=0.1\n"), ["--min-posterior"])
    bad("wide", lambda _, text: text.replace("bin-size=1\n", "bin-size=2\n"), ["wide.a.bedgraph", "bins of 2 bases", "of 1"], None)
    bad("else", lambda _, text: text.replace("c1\t", "k1\t").replace("c2\t", "k2\t").replace("c3\t", "k3\t"), ["else", "no chromosome in common", "k1", "c1"], None)
    order = lambda _, text: "".join(lines(text)[:2] + sorted(lines(text)[2:], key=lambda line: -int(line[1])))
    bad("order", order, ["order.a.bedgraph", '"c3"', '"c1"'], None)
    for one in LABELS:
        parts = ["c1\t0\t150\t%d\n" % (one == "a"), "c2\t0\t90\t%d\n" % (one == "a")]
        box.write("mixed.%s.bedgraph" % one, "".join(reversed(parts) if one == "d" else parts))
    box.fails("compare --posterior x mixed", 3, "mixed.d.bedgraph:line 2", "another order")
    for one in LABELS:
        box.write("named.%s_2.bedgraph" % one, box.text("y.%s.bedgraph" % one))
        box.write("far.%s.bedgraph" % one, "c1\t5000\t5001\t0.25\n")
        box.write("part.%s.bedgraph" % one, "".join(line for line in lines(box.text("y.%s.bedgraph" % one)) if not line.startswith("c3")))
        if one != "d":
            box.write("three.%s.bedgraph" % one, "c1\t0\t100\t%s\n" % {"a": "0.5"}.get(one, "0.25"))
    box.fails("compare --posterior x named", 3, "no label in common", "a_2")
    box.fails("compare --posterior x far", 3, "no base in common")
    box.fails("compare --posterior x,part three,y far", 2, "two conditions")
    said = box.ok("compare --posterior x part -o t.tsv").stderr
    check("chromosomes-differ" in said and "c3 (not in part)" in said, said)
    said = box.ok("compare --posterior x three -o t.tsv").stderr
    check("labels-differ" in said and "d (not in three)" in said and "no-posterior" in said, said)
    box.write("t1.tsv", "#chrom\tposition\tfrom\tto\tp\tlower\tupper\nc\t5\ta\tb\t1\t.\t.\n")
    box.write("t2.tsv", "#chrom\tposition\tfrom\tto\tp\tlower\tupper\nd\t5\ta\tb\t1\t.\t.\n")
    box.fails("compare --posterior x y --boundaries t1.tsv t2.tsv --shifts s.tsv", 3, "t2.tsv", "no chromosome in common")
    box.fails("compare --posterior x y --boundaries t1.tsv few.tsv --shifts s.tsv", 3, "few.tsv", "columns chrom, position, from")
