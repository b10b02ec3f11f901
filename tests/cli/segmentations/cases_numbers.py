"""Numbers of report, compare and describe against plain accounts: what is in no segment or scored 0 counts, too."""

import json
import math
import random

from harness import check

SEED = 4201


def model(box, labels, duration, longest, name="m.json"):
    box.write(name, json.dumps({"format": "semicrf-params", "format_version": "1.0", "labels": labels, "max_duration": longest, "bin_size": 1,
                                "centering": "none", "transition": [[0] * len(labels)] * len(labels), "duration": duration}))


def rows(text):
    lines = [line.split("\t") for line in text.splitlines() if line]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def write_posteriors(box, prefix, steps):
    """steps: [(begin, end, {label: P})] of chromosome c."""
    for label in sorted({label for _, _, values in steps for label in values}):
        box.write("%s.%s.bedgraph" % (prefix, label), "#semicrf 0.2.0 posterior\n#option bin-size=1\n" + "".join(
            "c\t%d\t%d\t%.6f\n" % (begin, end, values[label]) for begin, end, values in steps if label in values))


def random_posteriors(rng, labels, length):
    steps, at = [], 0
    while at < length:
        end = min(length, at + rng.randint(1, 9))
        weights = [rng.random() ** 3 for _ in labels]
        steps.append((at, end, {label: round(weight / sum(weights), 6) for label, weight in zip(labels, weights)}))
        at = end
    return steps


def test_durations_of_the_model(box):
    """The column `model`: exp(score) of a class over that of all durations, also those longer than any segment."""
    rng = random.Random(SEED)
    for _ in range(6):
        longest, seen = rng.choice([(10, 2), (40, 7), (6, 30), (200, 90)])
        bias = [[rng.gauss(0, 1) for _ in "ab"] for _ in range(longest)]
        tail = rng.choice([None, [0.9, None], [0.5, 0.999]])
        duration = {"kind": "table", "bias": bias}
        if tail:
            duration["tail"] = tail
        model(box, ["a", "b"], duration, longest)
        lines, at = [], 0
        for i in range(30):
            end = at + (seen if i == 3 else rng.randint(1, seen if tail else min(seen, longest)))
            lines.append("c\t%d\t%d\t%s\n" % (at, end, "ab"[i % 2]))
            at = end
        box.write("s.bed", "".join(lines))
        box.ok("report -q -p m.json --segments s.bed --figures f -o r.html")

        def weight(label, k):
            c = "ab".index(label)
            if k <= longest:
                return math.exp(bias[k - 1][c])
            return math.exp(bias[-1][c]) * tail[c] ** (k - longest) if tail and tail[c] else 0.0

        for row in rows(box.text("f/durations.tsv")):
            label = row["label"]
            total = math.fsum(weight(label, k) for k in range(1, longest + 40000))
            expected = math.fsum(weight(label, k) for k in range(int(row["from"]), int(row["to"]) + 1)) / total
            check(abs(float(row["model"]) - expected) < 1e-7, "%s: expected %r" % (row, expected))


def test_labels_that_no_segment_has(box):
    """The means of describe with posteriors of labels that are called nowhere."""
    rng = random.Random(SEED + 1)
    labels = ["a", "b", "c", "d"]
    box.write("x.bed", "c\t0\t150\ta\n")
    box.write("y.bed", "c\t0\t60\ta\nc\t60\t150\tb\n")
    posteriors = {sample: random_posteriors(rng, labels, 150) for sample in "xy"}
    at = {sample: [values for begin, end, values in steps for _ in range(begin, end)] for sample, steps in posteriors.items()}
    for sample, steps in posteriors.items():
        write_posteriors(box, sample, steps)
    for row in rows(box.ok("describe y.bed --labels y").stdout):
        bases = range(60) if row["label"] == "a" else range(60, 150) if row["label"] == "b" else []
        check(int(row["bases"]) == len(bases) and (row["posterior"] != ".") == bool(bases), "%r" % row)
        if bases:
            check(abs(float(row["posterior"]) - sum(at["y"][base][row["label"]] for base in bases) / len(bases)) < 1e-5, "%r" % row)
            entropy = -sum(p * math.log(p) for base in bases for p in at["y"][base].values() if p > 0) / len(bases)
            check(abs(float(row["entropy"]) - entropy) < 1e-5, "%r: expected %r" % (row, entropy))
    box.write("x.boundary.bedgraph", "c\t0\t150\t1\n")
    for command in ("compare --posterior x y", "describe x.bed --labels x"):
        box.fails(command, 3, "x", "add up to 2")


def test_scores_of_zero(box):
    """Column 5: 0 is a value where posteriors were computed, and none where nobody filled the column."""
    rng = random.Random(SEED + 2)
    head = "#semicrf 0.2.0 decode\n#option score=%s\n"
    for _ in range(4):
        lines, at = [], 0
        for _ in range(40):
            end = at + rng.randint(1, 30)
            lines.append((at, end, rng.choice("ab"), rng.choice([0, 0, rng.randint(0, 1000)])))
            at = end
        for header, scale in (("", 1), (head % "posterior", 1), (head % "posterior", 0), (head % "none", 0), ("", 0)):
            box.write("s.bed", header + "".join("c\t%d\t%d\t%s\t%d\n" % (b, e, label, scale * score) for b, e, label, score in lines))
            known = scale == 1 or "posterior" in header
            for row in rows(box.ok("describe s.bed").stdout):
                mine = [(e - b, scale * score / 1000) for b, e, label, score in lines if label == row["label"]]
                mean = sum(bases * score for bases, score in mine) / sum(bases for bases, _ in mine)
                check((row["posterior"] != ".") == known, "%r with %r" % (row, header))
                check(not known or abs(float(row["posterior"]) - mean) < 1e-5, "%r: expected %r" % (row, mean))


def test_calibration_of_labels_in_the_report(box):
    """Brier score and log loss per bin, those of eval; the table's sums over pairs of a bin and a label."""
    rng = random.Random(SEED + 3)
    labels = ["a", "b", "c"]
    model(box, labels, {"kind": "uniform"}, 400)
    for _ in range(3):
        truth, at = [], 0
        while at < 120:
            end = min(120, at + rng.randint(1, 20))
            truth.append((at, end, rng.choice("ab")))
            at = end
        box.write("t.bed", "".join("c\t%d\t%d\t%s\n" % line for line in truth))
        box.write("s.bed", "c\t0\t120\ta\n")
        steps = random_posteriors(rng, labels, 120)
        write_posteriors(box, "l", steps)
        at_base = [values for begin, end, values in steps for _ in range(begin, end)]
        true = [label for begin, end, label in truth for _ in range(begin, end)]
        box.ok("report -q -p m.json --segments s.bed --truth t.bed --labels-posterior l --figures f -o r.html")
        box.ok("eval -q --truth t.bed s.bed --labels-posterior l --json e.json -o t.txt")
        brier = sum(sum((p - (label == true[i])) ** 2 for label, p in values.items()) for i, values in enumerate(at_base)) / 120
        loss = -sum(math.log(values[true[i]] or 5e-7) for i, values in enumerate(at_base)) / 120
        row, = rows(box.text("f/calibration-summary.tsv"))
        mine = json.loads(box.text("e.json"))["calibration"]["labels"]
        for found, expected in ((row["brier"], brier), (mine["brier"], brier), (row["log_loss"], loss), (mine["log_loss"], loss)):
            check(abs(float(found) - expected) < 1e-6, "%s, expected %r" % (found, expected))
        check(row["bins"] == "360" and abs(float(row["observed"]) - 1 / 3) < 1e-6, "%r" % row)


def test_intervals_at_edges(box):
    """A true segment that starts with its stretch is held, unless a region cut it there."""
    box.write("t.bed", "c\t20\t40\tB\nc\t60\t80\tB\nc\t80\t90\tA\n")
    box.write("b.tsv", "#option bin-size=1\n#option intervals=0.95\n#chrom\tposition\tfrom\tto\tp\tlower\tupper\n"
                       "c\t10\tB\tA\t0.9\t10\t10\nc\t20\tA\tB\t0.96\t20\t20\nc\t31\tA\tB\t0.96\t30\t32\nc\t81\tB\tA\t0.9\t79\t82\n"
                       "c\t85\tA\tB\t0.3\t.\t.\n")
    for more, expected in (("", (4, 3, 2, 1, 1)), (" -r c:31-90", (3, 2, 1, 1, 1))):
        box.ok("eval -q --truth t.bed --intervals b.tsv --json e.json -o t.txt" + more)
        found = json.loads(box.text("e.json"))["calibration"]["intervals"]
        check(tuple(found[key] for key in ("boundaries", "intervals", "holding", "truth", "inside")) == expected, "%s: %r" % (more, found))
