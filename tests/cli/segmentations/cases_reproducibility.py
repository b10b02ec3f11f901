"""Every number that reproducibility writes against an account base by base; what it refuses."""

import collections
import fractions
import itertools
import json
import random
import struct

from accounts import bed, by_base, cut, hold_document, hold_rows, random_segments, ratio, reliability, table
from bbi_files import bigwig_intervals
from cases_accounts import SIZES, random_steps, write_posteriors
from harness import check

SEED = 490
HELD = collections.namedtuple("HELD", "bases reproduced")


class Account:
    """Two replicates; posteriors: {(chromosome, base): {label: P}}, without the bases that have none."""

    def __init__(self, first, second, posteriors, others, matches, tolerance, level, fold):
        at = [{(c, base): label for c, part in one.items() for base, label in enumerate(by_base(part, 150)) if label} for one in (first, second)]
        self.first, self.second = at
        self.posteriors, self.others, self.matches, self.level = posteriors, others, matches, level
        self.common = sorted(set(self.first) & set(self.second))
        self.near = {label: {(c, base) for c, base in self.common
                             if any(self.second.get((c, other)) == label for other in range(base - tolerance, base + tolerance + 1))}
                     for label in set(self.second.values()) | {None}}
        self.fold = lambda place: place[1] // fold % 2
        self.curves = {label: Curve(self.pairs(label)) for label in {self.first[place] for place in self.common}}

    def pairs(self, label, fold=None):
        """(P, whether it is reproduced) of the bases of the label that have a posterior."""
        return [(self.posteriors[place][label], place in self.near[self.matches[label]]) for place in self.own(label)
                if place in self.posteriors and fold in (None, self.fold(place))]

    def own(self, label):
        return [place for place in self.common if self.first[place] == label]

    def having(self, label):
        return [place for place in self.common if self.second[place] == label]

    def both(self, label):
        return sum(self.second[place] == self.matches[label] for place in self.own(label))

    def share(self, places):
        return len(places) / len(self.common)

    def held_out(self, label):
        """(r of the other half's curve, whether it is reproduced)."""
        halves = [self.pairs(label, fold) for fold in (0, 1)]
        if not all(halves):
            return []
        return [(Curve(halves[1 - fold]).at(p), y) for fold in (0, 1) for p, y in halves[fold]]

    def kappa(self, label):
        """One label against all others."""
        a, b = self.share(self.own(label)), self.share(self.having(self.matches[label]))
        same = self.share([place for place in self.common if (self.first[place] == label) == (self.second[place] == self.matches[label])])
        expected = a * b + (1 - a) * (1 - b)
        return (same - expected) / (1 - expected) if expected < 1 else None

    def merged(self, label):
        """(added, coverage, overlap) of labels of the second taken together by falling Jaccard index."""
        own, taken, steps = set(self.own(label)), set(), []
        for other in sorted(set(self.second.values()), key=lambda other: (-jaccard(own, set(self.having(other))), other)):
            taken |= set(self.having(other))
            steps.append((other, self.share(taken), len(own & taken) / len(own)))
        return steps

    def columns(self):
        every = [label for label in self.curves]
        mean = lambda values: ratio(float(sum(values)), len(values))
        error = lambda pairs: reliability(pairs)["expected_calibration_error"] if pairs else None
        posteriors = lambda label: [p for p, _ in self.pairs(label)]
        of_match = lambda label: [self.others[place][self.matches[label]] for place in self.own(label)] if self.others and self.matches[label] else []
        confident = lambda label: [self.curves[label].at(p) >= self.level for p in posteriors(label)]
        steps = lambda label: [(0, 0, 0)] + self.merged(label)
        chance = lambda label: self.share(self.having(self.matches[label]))
        area = lambda label: sum((y[1] - x[1]) * (x[2] + y[2]) / 2 for x, y in zip(steps(label), steps(label)[1:]))
        total = sum(self.both(label) for label in every) / len(self.common)
        total_chance = sum(self.share(self.own(label)) * chance(label) for label in every)
        together = lambda of: list(itertools.chain.from_iterable(of(label) for label in every))

        def account(of_label, of_all):
            return lambda row: of_all() if row["label"] == "." else of_label(row["label"]) if row["label"] in every else None
        none = lambda: None
        return {
            "label": lambda row: row["label"], "match": lambda row: self.matches.get(row["label"]),
            "bases": lambda row: len(self.common) if row["label"] == "." else len(self.own(row["label"])),
            "match_bases": lambda row: None if row["label"] == "." else len(self.having(self.matches[row["label"]])) if self.matches[row["label"]] else 0,
            "both": lambda row: sum(map(self.both, every)) if row["label"] == "." else self.both(row["label"]),
            "jaccard": account(lambda label: float(jaccard(set(self.own(label)), set(self.having(self.matches[label])))), none),
            "overlap": account(lambda label: self.both(label) / len(self.own(label)), lambda: total),
            "expected_overlap": account(chance, lambda: total_chance),
            "kappa": account(self.kappa, lambda: (total - total_chance) / (1 - total_chance)),
            "reproduced": account(lambda label: mean([place in self.near[self.matches[label]] for place in self.own(label)]),
                                  lambda: mean(together(lambda label: [place in self.near[self.matches[label]] for place in self.own(label)]))),
            "expected_reproduced": account(lambda label: self.share(self.near[self.matches[label]]),
                                           lambda: sum(self.share(self.own(label)) * self.share(self.near[self.matches[label]]) for label in every)),
            "confident": account(lambda label: mean(confident(label)), lambda: mean(together(confident))),
            "calibration_error": account(lambda label: error(self.held_out(label)), lambda: error(together(self.held_out))),
            "granularity_area": account(area, none),
            "posterior": account(lambda label: mean(posteriors(label)), lambda: mean(together(posteriors))),
            "match_posterior": account(lambda label: mean(of_match(label)), lambda: mean(together(of_match)))}


def jaccard(a, b):
    return fractions.Fraction(len(a & b), len(a | b)) if a | b else fractions.Fraction(0)


def edge(p):
    """The smallest P, in millionths, that is the same to three digits of P or of 1 - P, whichever is smaller."""
    whole = round(p * 10**6)
    small = min(whole, 10**6 - whole)
    unit = 10 ** max(0, len(str(small)) - 3)
    small -= small % unit
    return small if 2 * whole <= 10**6 else 10**6 - (small + unit - 1)


class Curve:
    """[(smallest P in millionths, bases, share reproduced, r)]; the fit by its formula: the largest over the strata up to this one of the
    smallest mean of a run that begins there and reaches at least this one."""

    def __init__(self, pairs):
        cells = collections.defaultdict(list)
        for p, y in pairs:
            cells[edge(p)].append(y)
        strata, low, waiting = [], None, []
        for low in sorted(cells, reverse=True):
            waiting += cells[low]
            if 100 * len(waiting) >= len(pairs):
                strata.append((low, waiting))
                waiting = []
        if waiting:
            strata[-1] = (low, strata[-1][1] + waiting)
        strata.reverse()
        runs = lambda j, k: fractions.Fraction(sum(sum(ys) for _, ys in strata[j:k + 1]), sum(len(ys) for _, ys in strata[j:k + 1]))
        n = len(strata)
        self.rows = [(low, len(ys), sum(ys) / len(ys), float(max(min(runs(j, k) for k in range(i, n)) for j in range(i + 1))))
                     for i, (low, ys) in enumerate(strata)]

    def at(self, p):
        return [row for row in self.rows if row[0] <= edge(p)][-1][3] if edge(p) >= self.rows[0][0] else self.rows[0][3]


def found_matches(rule, rows, first, second, labels):
    """{label: match} as the rule has it. Several one to one matches may be the best: then the one that was found."""
    bases = lambda one: {(c, base): label for c, part in one.items() for base, label in enumerate(by_base(part, 150)) if label}
    a, b = bases(first), bases(second)
    common = set(a) & set(b)
    own = lambda at, label: {place for place in common if at[place] == label}
    others = sorted(set(b.values()))
    if rule == "names":
        return {label: label if label in others else None for label in labels}
    if rule == "best":
        index = lambda label, other: jaccard(own(a, label), own(b, other))
        best = {label: max(others, key=lambda other: (index(label, other), [-ord(letter) for letter in other])) for label in labels}
        return {label: other if index(label, other) > 0 else None for label, other in best.items()}
    found = {row["label"]: None if row["match"] == "." else row["match"] for row in rows if row["label"] != "."}
    used = [match for match in found.values() if match]
    check(len(used) == len(set(used)), "not one to one: %r" % found)
    shared = lambda label, other: len(own(a, label) & own(b, other)) if other else 0
    most = max(sum(map(shared, labels, order)) for order in itertools.permutations(others + [None] * len(labels), len(labels)))
    check(sum(shared(label, found[label]) for label in labels) == most, "%r has not most bases in common" % found)
    return found


def lose_bases(rng, posteriors, files):
    """Takes lines away from every file: {(chromosome, base): {label: P}} of what remains."""
    left = {(c, base): dict(values) for c, part in posteriors.items() for base, values in enumerate(part)}
    number = len(next(iter(files.values())).splitlines())
    lost = {i for i in range(2, number) if rng.random() < 0.1}
    for label, text in files.items():
        lines = text.splitlines(True)
        for i in lost:
            c, begin, end, _ = lines[i].split("\t")
            for base in range(int(begin), int(end)):
                left.pop((c, base), None)
        files[label] = "".join(line for i, line in enumerate(lines) if i not in lost)
    return left


def disturbed(rng, segmentation, labels):
    return {c: [(begin, end, rng.choice(labels) if rng.random() < 0.3 else label) for begin, end, label in part] for c, part in segmentation.items()}


def test_every_number(box):
    rng = random.Random(SEED)
    labels = ["a", "b", "c"]
    for round_ in range(6):
        first = random_segments(rng, labels, SIZES, gaps=0.1)
        second = disturbed(rng, random_segments(rng, labels, SIZES, gaps=0.1) if round_ % 3 == 0 else first, ["b", "c", "d"][: 2 + round_ % 2])
        box.write("x.bed", bed(first))
        box.write("y.bed", bed(second))
        at, files = random_steps(rng, labels, SIZES)
        posteriors = lose_bases(rng, at, files)
        write_posteriors(box, "x", files)
        other_at, files = random_steps(rng, labels + ["d"], SIZES)
        others = {(c, base): values for c, part in other_at.items() for base, values in enumerate(part)}
        write_posteriors(box, "y", files)
        names = sorted({label for part in first.values() for _, _, label in part})
        regions = {"c1": [(10, 60), (75, 140)], "c2": [(0, 50)]} if round_ % 2 else {c: [(0, 150)] for c in SIZES}
        box.write("regions.bed", "".join("%s\t%d\t%d\n" % (c, *one) for c, part in regions.items() for one in part))
        first = {c: [segment for one in regions.get(c, []) for segment in cut(part, *one)] for c, part in first.items()}
        rule, tolerance, level, fold = ["best", "pairs", "names"][round_ % 3], rng.randint(0, 4), rng.choice([0, 0.5, 0.9]), rng.choice([7, 20, 1000])
        two = round_ % 2 == 0
        box.path("mqc%d" % round_).mkdir()
        options = (["--labels", "y"] if two else []) + (["-L", "regions.bed"] if round_ % 2 else []) + ["-t", str(1 + round_ % 2)]
        box.ok(("reproducibility x.bed y.bed --labels x --match %s --tolerance %d --level %g --fold-size %d -o t.tsv --r-values r.bedgraph --confident f.bed "
                "--curves c.tsv --granularity g.tsv --reliability-out r.svg --multiqc mqc%d --multiqc-name s" % (rule, tolerance, level, fold, round_)).split() + options)
        columns, rows = table(box.text("t.tsv"))
        matches = found_matches(rule, rows, first, second, names)
        account = Account(first, second, posteriors, others if two else None, matches, tolerance, level, fold)
        check([row["label"] for row in rows] == names + ["."], "%r" % rows)
        hold_rows("reproducibility", columns, rows, account.columns())
        check_documents(box, "mqc%d" % round_, rows)
        check(box.text("r.svg").startswith("<svg") and "Reliability of r-values" in box.text("r.svg"), "r.svg")

        columns, rows = table(box.text("c.tsv"))
        expected = {(label, low): row for label, curve in account.curves.items() for low, *row in curve.rows}
        of = lambda row: expected[row["label"], round(float(row["posterior"]) * 1e6)]
        check([(row["label"], round(float(row["posterior"]) * 1e6)) for row in rows] == sorted(expected), "strata")
        hold_rows("curves", columns, rows, {"label": lambda row: row["label"], "posterior": lambda row: row["posterior"],
                                            "bases": lambda row: of(row)[0], "reproduced": lambda row: of(row)[1], "r_value": lambda row: of(row)[2]})

        columns, rows = table(box.text("g.tsv"))
        expected = {(label, i): step for label in account.curves for i, step in enumerate(account.merged(label), 1)}
        of = lambda row: expected[row["label"], int(row["merged"])]
        check([(row["label"], int(row["merged"])) for row in rows] == sorted(expected), "steps")
        hold_rows("granularity", columns, rows, {"label": lambda row: row["label"], "merged": lambda row: row["merged"], "added": lambda row: of(row)[0],
                                                 "coverage": lambda row: of(row)[1], "overlap": lambda row: of(row)[2]})
        check_tracks(box, account, first)


def check_documents(box, folder, rows):
    """MultiQC's documents have numbers of the table, shares in percent."""
    number = lambda row, column: {} if row[column] == "." else {column: float(row[column])}
    percent = lambda row, column: {name: 100 * value for name, value in number(row, column).items()}
    data = lambda kind: json.loads(box.text("%s/s.semicrf_%s_mqc.json" % (folder, kind)))["data"]
    every = rows[-1]
    hold_document(data("reproducibility"), {"s": {**percent(every, "reproduced"), **percent(every, "confident"), **number(every, "kappa"),
                                                  **percent(every, "overlap"), **number(every, "calibration_error")}}, 2e-6)
    hold_document(data("label_reproducibility"), {"s": {row["label"]: value for row in rows[:-1] for value in percent(row, "reproduced").values()}}, 2e-6)


def check_tracks(box, account, first):
    """r-values of all bases of the first, and what is confident of its segments."""
    r = {place: account.curves[label].at(account.posteriors[place][label]) for place, label in account.first.items()
         if place in account.posteriors and label in account.curves}
    found, before = {}, None
    for line in box.text("r.bedgraph").splitlines():
        c, begin, end, value = line.split("\t")
        check(before != (c, begin, value), "two lines of one value: %s" % line)
        before = c, end, value
        found.update(((c, base), float(value)) for base in range(int(begin), int(end)))
    check(set(found) == set(r) and all(abs(found[place] - r[place]) < 1e-6 for place in r), "r-values")
    lines = []
    for c, part in first.items():
        for begin, end, label in part:
            good = [base for base in range(begin, end) if r.get((c, base), -1) >= account.level]
            for _, run in itertools.groupby(enumerate(good), lambda pair: pair[1] - pair[0]):
                run = [base for _, base in run]
                lines.append((c, run[0], run[-1] + 1, label, 1000 * sum(r[c, base] for base in run) / len(run)))
    rows = [line.split("\t") for line in box.text("f.bed").splitlines()]
    check([(row[0], int(row[1]), int(row[2]), row[3]) for row in rows] == [line[:4] for line in lines], "confident: %r" % rows)
    for row, line in zip(rows, lines):
        check(abs(int(row[4]) - line[4]) <= 0.5 + 1e-6 and row[5] == "." and row[6:8] == row[1:3] and len(row[8].split(",")) == 3, "%r" % row)


def test_formats_of_files(box):
    """bigWig out and in, compressed files, chromosomes in an order that is not the alphabet's."""
    rng = random.Random(SEED + 1)
    sizes = {"c2": 90, "c1": 150, "c10": 40}
    first = random_segments(rng, ["a", "b"], sizes)
    box.write("x.bed", bed(first))
    second = disturbed(rng, first, ["a", "b"])
    box.write("y.bed", bed(dict(reversed(second.items()))))
    box.write("z.bed", bed(second))
    at, files = random_steps(rng, ["a", "b"], sizes)
    write_posteriors(box, "x", files)
    box.write("g.tsv", "".join("%s\t%d\n" % one for one in [("c9", 70), *sizes.items()]))
    box.ok("reproducibility x.bed y.bed --labels x --fold-size 9 -o t.tsv --r-values r.bedgraph --confident f.bed.gz")
    box.ok("reproducibility x.bed y.bed --labels x --fold-size 9 -o t2.tsv --r-values r.bw -g g.tsv -t 2")
    check(box.text("t.tsv") == box.text("t2.tsv"), "other numbers on two threads")
    steps = [line.split("\t") for line in box.text("r.bedgraph").splitlines()]
    expected = [(c, int(begin), int(end), struct.unpack("<f", struct.pack("<f", float(value)))[0]) for c, begin, end, value in steps]
    check(bigwig_intervals(box.path("r.bw").read_bytes())[0] == expected, "r.bw")
    box.fails("reproducibility x.bed y.bed --labels x --r-values r2.bw", 2, "--chrom-sizes")
    box.fails("reproducibility x.bed y.bed --labels x --r-values r2.bb", 2, "r2.bb")
    box.fails("reproducibility x.bed y.bed --labels x --confident f.bb", 2, "f.bb")
    box.fails("reproducibility x.bed y.bed --labels x --confident x.bed", 2, "x.bed")
    # Posteriors as the program writes them, in both formats; bigWig has floats.
    box.write("p.json", '{"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b"], "max_duration": 5, "bin_size": 10, '
              '"transition": [[0, 0], [0, 0]], "duration": {"kind": "uniform"}, "tracks": [{"name": "r"}], "emission": {"weights": [[3], [-3]], "bias": [0, 1]}}')
    tables = []
    for ending in ("", ".bw"):
        for sample, track in (("one", "r.bw"), ("two", "t.bw")):
            if not box.path(track).exists():
                box.ok("reproducibility z.bed x.bed --labels x --fold-size 9 --r-values t.bw -g g.tsv -o t3.tsv")
            box.ok("decode -q -p p.json -o %s.bed r=%s" % (sample, track))
            box.ok("posterior -q -p p.json -o boundaries.%s%s --labels-out %s%s r=%s" % (sample, ending or ".bedgraph", sample, ending, track))
        tables.append(box.ok("reproducibility one.bed two.bed --labels one%s --labels two%s --tolerance 10" % (ending, ending)).stdout)
        for label in "ab":
            for sample in ("one", "two"):
                box.path("%s.%s%s" % (sample, label, ending or ".bedgraph")).unlink()
    for line, other in zip(*(text.splitlines() for text in tables)):
        for one, two in zip(line.split("\t"), other.split("\t")):
            check(one == two or abs(float(one) - float(two)) < 2e-6, "%s\n%s" % (line, other))


def test_what_is_refused(box):
    box.write("a.bed", "c1\t0\t30\tx\nc1\t30\t70\ty\nc2\t0\t20\tx\n")
    box.write("b.bed", "c1\t0\t40\tx\nc1\t40\t70\tz\n")
    box.write("far.bed", "c1\t70\t90\tx\n")
    for label in "xy":
        box.write("a.%s.bedgraph" % label, "c1\t0\t70\t0.5\nc2\t0\t20\t0.5\n")
    said = box.ok("reproducibility a.bed b.bed --labels a").stderr
    check("chromosomes-differ" in said and "c2 (not in b)" in said, said)
    for command, code, *needles in (
            ("reproducibility a.bed --labels a", 2, "1 segmentation given", "give two"),
            ("reproducibility a.bed b.bed c=b.bed --labels a", 2, "3 segmentations given"),
            ("reproducibility a.bed b.bed", 2, "--labels"),
            ("reproducibility a.bed b.bed --labels a --labels a --labels a", 2, "--labels is given 3 times"),
            ("reproducibility a.bed b.bed --labels a --match some", 2, "best, pairs, names"),
            ("reproducibility a.bed b.bed --labels a --level 2", 2, "--level"),
            ("reproducibility a.bed b.bed --labels a --fold-size 0", 2, "--fold-size"),
            ("reproducibility a.bed far.bed --labels a", 3, "far.bed", "no base in common"),
            ("reproducibility b.bed a.bed --labels a", 3, "a.z.bedgraph", "posterior --labels-out a"),
            ("reproducibility a.bed b.bed --labels a --labels a", 3, "a.z.bedgraph")):
        if command.endswith("--labels a --labels a") and code == 3:
            command += " --match pairs"
        box.fails(command, code, *needles)
    box.write("o.x.bedgraph", "c2\t0\t20\t0.5\nc1\t0\t70\t0.5\n")
    box.write("o.y.bedgraph", "c1\t0\t70\t0.5\n")
    box.fails("reproducibility a.bed b.bed --labels o", 3, "o.x.bedgraph:line 2", '"c1" stands behind "c2"', "a.bed before it")
    box.write("o.x.bedgraph", "c1\t0\t70\t1.5\n")
    box.fails("reproducibility a.bed b.bed --labels o", 3, "o.x.bedgraph:line 1", "1.5 is not a probability")
    box.write("o.x.bedgraph", "c7\t0\t70\t0.5\n")
    said = box.ok("reproducibility a.bed b.bed --labels o").stderr
    check("no-posterior" in said and "no value on 30 of the 70 bases" in said, said)
    box.write("o.y.bedgraph", "c7\t0\t70\t0.5\n")
    box.fails("reproducibility a.bed b.bed --labels o", 3, "o: ", "no value on any base that both have", "of the run that made the segments")
