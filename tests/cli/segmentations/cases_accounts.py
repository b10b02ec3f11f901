"""Every column and every member that compare, describe and enrich write, against accounts of a few lines each (accounts.py)."""

import collections
import itertools
import json
import math
import random
import re

from accounts import bed, by_base, hold_rows, quantile, rand_index, random_segments, table
from command_line import all_commands
from harness import check

SEED = 4261
SIZES = {"c1": 150, "c2": 90, "c3": 40}


def random_steps(rng, labels, sizes):
    """Posteriors of all labels: {chromosome: [{label: P}] by base}, and the files' lines by label."""
    at, lines = {}, {label: [] for label in labels}
    for name, bases in sizes.items():
        at[name], begin = [], 0
        while begin < bases:
            end = min(bases, begin + rng.randint(1, 9))
            weights = [rng.random() ** 3 + 1e-3 for _ in labels]
            values = {label: round(weight / sum(weights), 6) for label, weight in zip(labels, weights)}
            at[name] += [values] * (end - begin)
            for label, p in values.items():
                lines[label].append("%s\t%d\t%d\t%.6f\n" % (name, begin, end, p))
            begin = end
    return at, {label: "#semicrf 0.2.0 posterior\n#option bin-size=1\n" + "".join(part) for label, part in lines.items()}


def write_posteriors(box, prefix, files):
    for label, text in files.items():
        box.write("%s.%s.bedgraph" % (prefix, label), text)


def outputs_of(box, command):
    """Options of outputs, as the part "Outputs" of the help lists them."""
    text = box.ok(command.split() + ["--help-all"]).stdout
    return set(re.findall(r"^  (--?[a-z-]+) ", text[text.index("\nOutput"):], re.MULTILINE))


def test_every_output_has_an_account(box):
    """An output that comes with a new option needs accounts here, in cases_differences, in cases_reproducibility, cases_eval_accounts or in cases_report_accounts."""
    known = {"compare": {"-o", "--jaccard", "--switches", "--regions", "--disagreement", "--shifts", "--curves"}, "describe": {"-o", "--transitions", "--multiqc"},
             "reproducibility": {"-o", "--r-values", "--confident", "--curves", "--granularity", "--reliability-out", "--multiqc"}, "enrich": {"-o", "--svg"}, "eval": {"-o", "--json", "--reliability-out", "--multiqc"}, "report": {"-o", "--figures"}}
    for command, outputs in known.items():
        check(outputs_of(box, command) == outputs, "%s writes %r" % (command, sorted(outputs_of(box, command))))
    check(set(known) <= {" ".join(one.path) for one in all_commands(box)}, "commands")


def test_compare(box):
    rng = random.Random(SEED)
    labels = ["a", "b", "c"]
    for round_ in range(8):
        sizes = {"x": SIZES, "y": dict(SIZES, c2=70), "z": {"c1": 120, "c2": 90}}
        samples = {name: random_segments(rng, labels, sizes[name], gaps=rng.choice([0, 0.2])) for name in sizes}
        names = list(samples)
        for name in names:
            box.write(name + ".bed", bed(samples[name]))
        at = {name: {c: by_base(part, 150) for c, part in samples[name].items()} for name in names}
        pairs = {(a, b): [(p, q) for c in at[a] if c in at[b] for p, q in zip(at[a][c], at[b][c]) if p and q]
                 for a, b in itertools.combinations(names, 2)}
        box.ok("compare x.bed y.bed z.bed -o p.tsv --jaccard j.tsv --switches s.tsv --regions r.bed")
        of = lambda row: pairs[row["a"], row["b"]]

        columns, rows = table(box.text("p.tsv"))
        check([(row["a"], row["b"]) for row in rows] == list(pairs), "pairs")
        hold_rows("pairs", columns, rows, {
            "a": lambda row: row["a"], "b": lambda row: row["b"],
            "common_bases": lambda row: len(of(row)), "agreeing_bases": lambda row: sum(p == q for p, q in of(row)),
            "agreement": lambda row: sum(p == q for p, q in of(row)) / len(of(row)), "adjusted_rand_index": lambda row: rand_index(of(row))})

        columns, rows = table(box.text("j.tsv"))
        in_any = sorted({segment[2] for part in samples.values() for segments in part.values() for segment in segments})
        check([(row["a"], row["b"], row["label"]) for row in rows] == [pair + (label,) for pair in pairs for label in in_any], "labels")
        either = lambda row: sum(row["label"] in pair for pair in of(row))
        both = lambda row: of(row).count((row["label"],) * 2)
        hold_rows("jaccard", columns, rows, {
            "a": lambda row: row["a"], "b": lambda row: row["b"], "label": lambda row: row["label"],
            "a_bases": lambda row: sum(p == row["label"] for p, _ in of(row)), "b_bases": lambda row: sum(q == row["label"] for _, q in of(row)),
            "both": both, "either": either, "jaccard": lambda row: both(row) / either(row) if either(row) else None})

        columns, rows = table(box.text("s.tsv"))
        expected = {pair + labels_ for pair, bases in pairs.items() for labels_ in bases if labels_[0] != labels_[1]}
        check({(row["a"], row["b"], row["label_a"], row["label_b"]) for row in rows} == expected and len(rows) == len(expected), "switches")
        switched = lambda row: of(row).count((row["label_a"], row["label_b"]))
        hold_rows("switches", columns, rows, {
            "a": lambda row: row["a"], "b": lambda row: row["b"], "label_a": lambda row: row["label_a"], "label_b": lambda row: row["label_b"],
            "bases": switched, "share": lambda row: switched(row) / len(of(row))})

        runs = []
        for c in at["x"]:
            before = None
            for base, vector in enumerate(zip(*[at[name].get(c, [None] * 150) for name in names])):
                differs = None not in vector and len(set(vector)) > 1
                if differs and before == vector:
                    runs[-1][2] = base + 1
                elif differs:
                    runs.append([c, base, base + 1, "|".join(vector)])
                before = vector if differs else None
        runs.sort(key=lambda run: run[1] - run[2])
        check([line.split("\t") for line in box.text("r.bed").splitlines()] == [[str(cell) for cell in run] for run in runs], "regions")


def describe_accounts(segments, labels, longest=None, bin_size=1, tails=(), posteriors=None, scores=None):
    """segments: [(chromosome, begin, end, label)]. Accounts of the columns that describe writes."""
    own = lambda row: [s for s in segments if s[3] == row["label"]]
    lengths = lambda row: [e - b for _, b, e, _ in own(row)]
    bins = lambda row: [-(-(e - b) // bin_size) for _, b, e, _ in own(row)]
    every = sum(e - b for _, b, e, _ in segments)
    of_lengths = lambda value: lambda row: value(lengths(row)) if own(row) else None

    def share_of_segments(row, has_tail, fits):
        if longest is None or not own(row) or (row["label"] in tails) != has_tail:
            return None
        return sum(map(fits, bins(row))) / len(own(row))

    def mean_over_bases(row, value):
        values = [value(s, base) for s in own(row) for base in range(s[1], s[2])]
        return sum(values) / len(values) if values else None

    def posterior(row):
        if posteriors:
            return mean_over_bases(row, lambda s, base: posteriors[s[0]][base][s[3]])
        return mean_over_bases(row, lambda s, base: scores[s] / 1000) if scores else None

    def entropy(row):
        return mean_over_bases(row, lambda s, base: -sum(p * math.log(p) for p in posteriors[s[0]][base].values() if p > 0)) if posteriors else None

    return {"label": lambda row: row["label"], "segments": lambda row: len(own(row)), "bases": lambda row: sum(lengths(row)),
            "share": lambda row: sum(lengths(row)) / every, "mean": of_lengths(lambda x: sum(x) / len(x)), "shortest": of_lengths(min),
            "q05": of_lengths(lambda x: quantile(x, 0.05)), "q25": of_lengths(lambda x: quantile(x, 0.25)),
            "median": of_lengths(lambda x: quantile(x, 0.5)), "q75": of_lengths(lambda x: quantile(x, 0.75)),
            "q95": of_lengths(lambda x: quantile(x, 0.95)), "longest": of_lengths(max), "posterior": posterior,
            "at_cap": lambda row: share_of_segments(row, False, lambda k: k == longest),
            "in_tail": lambda row: share_of_segments(row, True, lambda k: k > longest), "entropy": entropy}


def flat(segmentation):
    return [(c,) + segment for c, segments in segmentation.items() for segment in segments]


def test_describe(box):
    rng = random.Random(SEED + 2)
    labels = ["a", "b", "c", "never"]
    tails = {"b", "never"}
    box.write("m.json", json.dumps({"format": "semicrf-params", "format_version": "1.0", "labels": labels, "max_duration": 4, "bin_size": 3,
                                    "transition": [[0] * 4] * 4, "duration": {"kind": "uniform", "tail": [None, 0.5, None, 0.5]}}))
    for round_ in range(6):
        segmentation = random_segments(rng, labels[:3], SIZES, longest=20, gaps=0.2)
        segments = flat(segmentation)
        scores = {s: rng.randint(1, 1000) for s in segments}
        box.write("s.bed", "".join("%s\t%d\t%d\t%s\t%d\n" % (s + (scores[s],)) for s in segments))
        posteriors, files = random_steps(rng, labels, SIZES)
        write_posteriors(box, "l", files)
        for options, more in (("", {"scores": scores}), (" -p m.json", {"scores": scores, "longest": 4, "bin_size": 3, "tails": tails}),
                              (" -p m.json --labels l", {"posteriors": posteriors, "longest": 4, "bin_size": 3, "tails": tails})):
            columns, rows = table(box.ok("describe s.bed --transitions t.tsv" + options).stdout)
            shown = labels if "-p" in options else sorted({s[3] for s in segments})
            check([row["label"] for row in rows] == shown, "%r" % rows)
            hold_rows("describe" + options, columns, rows, describe_accounts(segments, shown, **more), 6e-6)
            follows = collections.Counter((x[3], y[3]) for x, y in zip(segments, segments[1:]) if x[0] == y[0] and x[2] == y[1])
            columns, rows = table(box.text("t.tsv"))
            hold_rows("transitions", columns, rows, dict({"from": lambda row: row["from"]}, **{
                to: (lambda to: lambda row: follows[row["from"], to])(to) for to in shown}))
            check([row["from"] for row in rows] == shown, "rows of the transitions")


def fold(row, both, label, annotation, every):
    a, b, c, d = label(row), annotation(row), both(row), every
    return c / a / (b / d) if a > 0 and b > 0 else None


def enrich_accounts(key, label, annotation, both, every):
    """`key`: the columns that name the row; `annotation`: the name of the third number's column, and its account."""
    accounts = {name: (lambda name: lambda row: row[name])(name) for name in key}
    accounts.update({"label_bases": label, annotation[0]: annotation[1], "both": both, "all_bases": lambda row: every,
                     "fold": lambda row: fold(row, both, label, annotation[1], every)})
    return accounts


def test_enrich(box):
    rng = random.Random(SEED + 3)
    labels = ["a", "b", "c"]
    for round_ in range(6):
        segmentation = random_segments(rng, labels, SIZES, gaps=0.2)
        box.write("s.bed", bed(segmentation))
        at = {c: by_base(segments, 150) for c, segments in segmentation.items()}
        inside = [(c, base) for c in at for base in range(150) if at[c][base]]
        posteriors, files = random_steps(rng, labels, SIZES)
        write_posteriors(box, "l", files)
        lines = {}
        for name in ("x", "y"):
            lines[name] = [(c, begin, begin + rng.randint(1, 30), rng.choice("mn"), rng.choice("+-"))
                           for c in ("c1", "c2", "c9") for begin in [rng.randrange(140) for _ in range(8)]]
            box.write(name + ".bed", "".join("%s\t%d\t%d\t%s\t0\t%s\n" % line for line in lines[name]))
        by_name = {"x:" + name: [line for line in lines["x"] if line[3] == name] for name in "mn"}

        def check_table(arguments, annotations, points, with_posteriors):
            """`points`: of an annotation the bases that count, as a list of (chromosome, base)."""
            columns, rows = table(box.run("enrich s.bed " + arguments + (" --labels l" if with_posteriors else "")).stdout)
            check([(row["label"], row["annotation"]) for row in sorted(rows, key=lambda row: row["annotation"])] ==
                  [(label, name) for name in sorted(annotations) for label in labels], "%r" % rows)
            weight = lambda row, place: posteriors[place[0]][place[1]][row["label"]] if with_posteriors else at[place[0]][place[1]] == row["label"]
            total = lambda value: float(value) if with_posteriors else value
            counted = {name: [place for place in points(one) if place[0] in at and place[1] < 150 and at[place[0]][place[1]]] for name, one in annotations.items()}
            hold_rows("enrich " + arguments, columns, rows, enrich_accounts(
                ("label", "annotation"), lambda row: total(sum(weight(row, place) for place in inside)),
                ("annotation_bases", lambda row: len(counted[row["annotation"]])),
                lambda row: total(sum(weight(row, place) for place in counted[row["annotation"]])), len(inside)), 6e-6)

        covered = lambda one: sorted({(c, base) for c, begin, end, _, _ in one for base in range(begin, end)})
        centres = lambda one: sorted({(c, (begin + end) // 2) for c, begin, end, _, _ in one})
        for with_posteriors in (False, True):
            check_table("x.bed y.bed", lines, covered, with_posteriors)
            check_table("x.bed y.bed --centres", lines, centres, with_posteriors)
            check_table("x=x.bed --by-name", by_name, covered, with_posteriors)
            for anchor in ("start", "centre", "end"):
                step, up, down = rng.randint(1, 9), rng.randint(0, 3), rng.randint(1, 4)
                columns, rows = table(box.run("enrich s.bed x.bed --around %s --step %d --upstream %d --downstream %d%s" % (
                    anchor, step, up, down, " --labels l" if with_posteriors else "")).stdout)
                check([(row["label"], int(row["distance"])) for row in rows] ==
                      [(label, step * p) for label in labels for p in range(-up, down + 1)], "%r" % rows)
                anchors = {(c, (begin + end) // 2 if anchor == "centre" else begin if (anchor == "start") == (strand == "+") else end - 1, strand)
                           for c, begin, end, _, strand in lines["x"]}

                def reached(row):
                    places = [(c, base + int(row["distance"]) * (1 if strand == "+" else -1)) for c, base, strand in anchors if c in at]
                    return [(c, base) for c, base in places if 0 <= base < 150 and at[c][base]]

                weight = lambda row, place: posteriors[place[0]][place[1]][row["label"]] if with_posteriors else at[place[0]][place[1]] == row["label"]
                total = lambda value: float(value) if with_posteriors else value
                hold_rows("enrich --around " + anchor, columns, rows, enrich_accounts(
                    ("label", "distance"), lambda row: total(sum(weight(row, place) for place in inside)),
                    ("anchors", lambda row: len(reached(row))), lambda row: total(sum(weight(row, place) for place in reached(row))), len(inside)), 6e-6)
