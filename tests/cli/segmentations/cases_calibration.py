"""eval of posteriors and intervals that were written to files, against plain accounts bin by bin."""

import gzip
import json
import math
import random
import struct
import xml.etree.ElementTree as tree

import make_inputs
from cases_eval import demo_tracks, evaluate
from harness import bed_rows, check

BIN = 10
HEADER = "#option bin-size=%d\n" % BIN


def close(found, expected, what):
    check(abs(found - expected) <= 1e-12 * max(1, abs(expected)), "%s: %r, expected %r" % (what, found, expected))


def plain_numbers(pairs, parts=10):
    """Of [(p, happened)] with six decimals, by the definitions."""
    loss = 0
    table = [[0, 0, 0.0] for _ in range(parts)]
    for p, y in pairs:
        q = min(max(p, 5e-7), 1 - 5e-7)
        loss -= math.log(q) if y else math.log1p(-q)
        row = table[min(parts - 1, max(i for i in range(parts) if i / parts <= p))]
        row[0] += 1
        row[1] += y
        row[2] += p
    number = len(pairs)
    return {"bins": number, "events": sum(y for _, y in pairs), "mean_predicted": sum(p for p, _ in pairs) / number,
            "observed": sum(y for _, y in pairs) / number, "brier": sum((p - y) ** 2 for p, y in pairs) / number,
            "log_loss": loss / number, "expected_calibration_error": sum(abs(row[2] - row[1]) for row in table) / number,
            "table": table}


def compare(found, pairs, parts=10):
    expected = plain_numbers(pairs, parts)
    for key in ("bins", "events", "mean_predicted", "observed", "brier", "log_loss", "expected_calibration_error"):
        close(found[key], expected[key], key)
    check(len(found["reliability"]) == parts, "rows of the table")
    for index, (row, (count, events, total)) in enumerate(zip(found["reliability"], expected["table"])):
        check((row["count"], row["events"]) == (count, events), "row %s, expected %s of %s" % (row, events, count))
        check((row["lower"], row["upper"]) == (index / parts, (index + 1) / parts), "edges %s" % row)
        if count:
            close(row["mean_predicted"], total / count, "mean of a row")
            close(row["observed"], events / count, "share of a row")
        else:
            check(row["mean_predicted"] is None and row["observed"] is None, "%s" % row)


class Made:
    """A random truth with gaps and random posteriors, which lack some bins, on two chromosomes."""

    def __init__(self, seed, bins=120):
        self.random = random.Random(seed)
        self.chromosomes = {}
        for name in ("c1", "c2"):
            length = bins * BIN - 3  # the last bin is cut
            truth, at = [], self.random.randrange(0, 25)
            while at < length:
                end = min(length, at + self.random.randrange(1, 60))
                truth.append((at, end, self.random.choice("abc")))
                at = end + (self.random.randrange(1, 40) if self.random.random() < 0.15 else 0)
            have = [self.random.random() > 0.05 for _ in range(bins)]
            p = [self.random.choice([0, 1, 0.25, 0.1, 0.3, 0.7, round(self.random.random(), 6)]) for _ in range(bins)]
            rows = []
            for _ in range(bins):
                weights = [self.random.choice([0, 1, self.random.random()]) for _ in "abc"]
                rows.append([round(w / (sum(weights) or 1), 6) for w in weights])
            self.chromosomes[name] = (length, truth, have, p, rows)

    def write_truth(self, box, name="t.bed"):
        return box.write(name, "".join("%s\t%d\t%d\t%s\n" % (c, *segment) for c, made in self.chromosomes.items()
                                       for segment in made[1]))

    def bedgraph(self, value_of):
        lines = []
        for name, (length, _, have, _, _) in self.chromosomes.items():
            for i, there in enumerate(have):
                value = "%.6f" % value_of(name, i)
                end = min(length, (i + 1) * BIN)
                if not there:
                    continue
                if lines and lines[-1][0] == name and lines[-1][2] == i * BIN and lines[-1][3] == value:
                    lines[-1][2] = end
                else:
                    lines.append([name, i * BIN, end, value])
        return HEADER + "".join("%s\t%d\t%d\t%s\n" % tuple(line) for line in lines)

    def owners(self, name):
        """Index of the stretch and the label of each base."""
        length, truth = self.chromosomes[name][:2]
        owner, stretch, last = [None] * length, -1, None
        for begin, end, label in truth:
            if begin != last:
                stretch, first = stretch + 1, begin
            last = end
            for base in range(begin, end):
                owner[base] = (stretch, label, first)
        return owner

    def bins_of(self, name):
        """(bin, bases) of the bins that have a posterior and lie in one stretch as a whole."""
        length, _, have = self.chromosomes[name][:3]
        owner = self.owners(name)
        for i, there in enumerate(have):
            bases = owner[i * BIN:min(length, (i + 1) * BIN)]
            if there and None not in bases and len({base[0] for base in bases}) == 1:
                yield i, bases

    def boundary_pairs(self):
        pairs = []
        for name, (_, truth, have, p, _) in self.chromosomes.items():
            starts = {begin for begin, _, _ in truth}
            for i, bases in self.bins_of(name):
                inside = range(i * BIN, i * BIN + len(bases))
                if bases[0][2] in inside or i == 0 or not have[i - 1]:
                    continue
                pairs.append((p[i], int(any(base in starts for base in inside))))
        return pairs

    def label_pairs(self, label):
        pairs = []
        for name, made in self.chromosomes.items():
            for i, bases in self.bins_of(name):
                names = [base[1] for base in bases]
                # The segment that covers most, not the label: the earliest of several that cover as much.
                begins = sorted({begin for begin, end, _ in made[1] if begin < i * BIN + len(bases) and end > i * BIN})
                spans = []
                for begin, end, of in made[1]:
                    if begin in begins:
                        spans.append((min(end, i * BIN + len(bases)) - max(begin, i * BIN), of))
                best = {}
                for size, of in spans:
                    best[of] = best.get(of, 0) + size
                most = max(best.values())
                true = next(of for of in names if best[of] == most)
                pairs.append((made[4][i]["abc".index(label)], int(true == label)))
        return pairs


def test_boundaries_are_those_of_a_plain_account(box):
    for seed in range(12):
        made = Made(seed)
        made.write_truth(box)
        box.write("p.bedgraph", made.bedgraph(lambda name, i: made.chromosomes[name][3][i]))
        document = evaluate(box, "--truth t.bed --posterior p.bedgraph")
        found = document["calibration"]["boundaries"]
        check(document["calibration"]["bin_size"] == BIN and "overall" not in document, "%s" % list(document))
        pairs = made.boundary_pairs()
        check(len(pairs) > 50 and any(y for _, y in pairs), "seed %d: nothing to compare" % seed)
        compare(found, pairs)
        compare(evaluate(box, "--truth t.bed --posterior p.bedgraph --reliability-bins 7")["calibration"]["boundaries"], pairs, 7)
        box.write("p.bedgraph.gz", gzip.compress(box.path("p.bedgraph").read_bytes()))
        packed = evaluate(box, "--truth t.bed --posterior p.bedgraph.gz")["calibration"]["boundaries"]
        check(dict(packed, file="") == dict(found, file=""), "compressed input")


def test_labels_are_those_of_a_plain_account(box):
    for seed in range(12):
        made = Made(seed + 100)
        made.write_truth(box)
        for label in "abc":
            box.write("L.%s.bedgraph" % label,
                      made.bedgraph(lambda name, i, at="abc".index(label): made.chromosomes[name][4][i][at]))
        found = evaluate(box, "--truth t.bed --labels-posterior L")["calibration"]["labels"]
        names = [entry["name"] for entry in found["labels"]]
        check(sorted(names) == list("abc"), "%s" % names)
        pairs = {entry["name"]: made.label_pairs(entry["name"]) for entry in found["labels"]}
        for entry in found["labels"]:
            compare(entry, pairs[entry["name"]])
        bins = len(pairs["a"])
        check(found["bins"] == bins and found["without_posterior"] == 0, "%s bins" % found["bins"])
        close(found["brier"], sum((p - y) ** 2 for all_pairs in pairs.values() for p, y in all_pairs) / bins, "Brier score")
        close(found["log_loss"], -sum(math.log(min(max(p, 5e-7), 1 - 5e-7)) for all_pairs in pairs.values()
                                      for p, y in all_pairs if y) / bins, "log loss")
        pooled = plain_numbers([pair for label in names for pair in pairs[label]])
        close(found["expected_calibration_error"], pooled["expected_calibration_error"], "calibration error")


def test_the_array_says_what_the_tracks_say(box):
    # In double, where no label that is true has a posterior that is written as 0: an array has another last digit than a text.
    tracks = demo_tracks(box)
    box.ok(["posterior", "--precision", "double", "-p", "demo.params.json", "-o", "b.bedgraph", "--labels-out", "L", "--digits", "15"] + tracks)
    box.ok(["posterior", "--precision", "double", "-p", "demo.params.json", "-o", "b.bedgraph", "--labels-out", "L.npy"] + tracks)
    by_tracks = evaluate(box, "--truth genes.bed --labels-posterior L -p demo.params.json")["calibration"]["labels"]
    for name in ("L.npy", "III=L.npy"):
        by_array = evaluate(box, "--truth genes.bed -p demo.params.json --labels-posterior " + name)["calibration"]["labels"]
        check(by_array["bins"] == by_tracks["bins"] == 10000, "bins")
        for a, b in zip(by_array["labels"], by_tracks["labels"]):
            check(a["name"] == b["name"] and a["events"] == b["events"], "%s, %s" % (a["name"], b["name"]))
            check(abs(a["brier"] - b["brier"]) < 1e-6 and abs(a["mean_predicted"] - b["mean_predicted"]) < 1e-6, "%s" % a["name"])
        check(abs(by_array["log_loss"] - by_tracks["log_loss"]) < 1e-5, "log loss")
    # Without the parameters the labels come from the truth and from the names of the files.
    named = evaluate(box, "--truth genes.bed --posterior b.bedgraph --labels-posterior L")["calibration"]["labels"]
    check({e["name"]: e["brier"] for e in named["labels"]} == {e["name"]: e["brier"] for e in by_tracks["labels"]}, "labels")


def test_intervals(box):
    random_numbers = random.Random(5)
    for _ in range(20):
        edges = sorted(random_numbers.sample(range(1, 100), 20))
        truth = [(a * BIN, b * BIN, random_numbers.choice("ab")) for a, b in zip([0] + edges, edges + [100])]
        box.write("t.bed", "".join("c\t%d\t%d\t%s\n" % segment for segment in truth))
        lines, rows = "#option bin-size=10\n#option intervals=0.9\n#chrom\tposition\tfrom\tto\tp\tlower\tupper\n", []
        for position in sorted(random_numbers.sample(range(1, 110), 25)):
            lower, upper = max(0, position - random_numbers.randrange(4)), position + random_numbers.randrange(4)
            label, known = random_numbers.choice("ab"), random_numbers.random() < 0.8
            rows.append((position * BIN, lower * BIN, upper * BIN, label, known))
            lines += "c\t%d\tx\t%s\t0.5\t%s\n" % (position * BIN, label, "%d\t%d" % (lower * BIN, upper * BIN) if known else ".\t.")
        box.write("b.tsv", lines)
        found = evaluate(box, "--truth t.bed --intervals b.tsv")["calibration"]["intervals"]
        starts = [(begin, label) for begin, _, label in truth if begin > 0]
        inside = [row for row in rows if (row[2] + BIN if row[4] else row[0] + 1) <= 1000]
        held = [row for row in inside if row[4] and any(row[1] <= begin < row[2] + BIN and of == row[3] for begin, _, of in truth)]
        covered = [1 for at, of in starts if any(row[4] and row[1] <= at < row[2] + BIN and of == row[3] for row in rows)]
        expected = {"file": "b.tsv", "level": 0.9, "boundaries": len(inside), "intervals": sum(row[4] for row in inside),
                    "holding": len(held), "truth": len(starts), "inside": len(covered)}
        check({key: found[key] for key in expected} == expected, "%s, expected %s" % (found, expected))
        close(found["holding_share"], len(held) / expected["intervals"], "share")
        close(found["inside_share"], len(covered) / len(starts), "share of the truth")


def test_the_demo_as_users_run_it(box):
    box.ok(["decode", "-p", "demo.params.json", "-o", "out.bed", "--boundaries", "b.tsv", "--posterior", "p.bedgraph"] + demo_tracks(box))
    text = box.ok("eval --truth genes.bed out.bed --posterior p.bedgraph --intervals b.tsv --json e.json -o - --reliability-out r.svg").stdout
    document = json.loads(box.text("e.json"))
    check("overall" in document and document["calibration"]["boundaries"]["events"] == 48, "%s" % document["calibration"])
    for part in ("accuracy over all bases", "a segment starts", "predicted 0.1 to 0.2", "wanted (nominal level)"):
        check(part in text, "the text lacks %r:\n%s" % (part, text))
    check(not any(line.endswith(" ") for line in text.splitlines()), "blanks at the end of a line")
    picture = box.text("r.svg")
    root = tree.fromstring(picture)
    check(root.tag.endswith("svg") and root.get("role") == "img" and root.get("viewBox"), "no SVG")
    names = {child.tag.split("}")[1] for child in root}
    check({"title", "desc", "text", "path"} <= names, "%s" % names)
    box.ok("eval --truth genes.bed --posterior p.bedgraph -o e.txt --reliability-out again.svg")
    check(box.text("again.svg") == picture, "the picture is another one the second time")
    # A part of it, by a region.
    part = evaluate(box, "--truth genes.bed --posterior p.bedgraph -r III:93001-96000")["calibration"]["boundaries"]
    check(part["bins"] == 999, "%s bins" % part["bins"])


def test_probabilities_of_a_drawn_truth_are_right(box):
    """Where the truth is drawn from the model, its posteriors are calibrated."""
    box.ok("simulate -p scores.params.json --length 60000 --seed 4 -o t.bed --emissions s.npy")
    box.ok("posterior -p scores.params.json -o p.bedgraph --labels-out L simulated=s.npy")
    box.write("t.bed", box.text("t.bed").replace(bed_rows(box.text("t.bed"))[0][0] + "\t", bed_rows(box.text("p.bedgraph"))[0][0] + "\t"))
    found = evaluate(box, "--truth t.bed --posterior p.bedgraph --labels-posterior L")["calibration"]
    check(found["boundaries"]["expected_calibration_error"] < 0.01, "%s" % found["boundaries"])
    check(found["labels"]["expected_calibration_error"] < 0.01, "%s" % found["labels"]["expected_calibration_error"])
    for row in found["boundaries"]["reliability"]:
        if row["count"] > 200:
            deviation = math.sqrt(row["mean_predicted"] * (1 - row["mean_predicted"]) / row["count"])
            check(abs(row["mean_predicted"] - row["observed"]) < 5 * deviation + 1e-3, "%s" % row)


def test_missing_values_and_labels(box):
    box.write("t.bed", "c\t0\t500\ta\nc\t500\t1000\tz\nd\t0\t100\ta\n")
    box.write("p.bedgraph", HEADER + "c\t0\t300\t0.100000\n")
    result = box.ok("eval --truth t.bed --posterior p.bedgraph --json -")
    check("no value on 800 bases" in result.stderr and "[no-posterior]" in result.stderr, result.stderr)
    check(json.loads(result.stdout)["calibration"]["boundaries"]["missing"] == 800, result.stdout)
    for label, value in (("a", "0.900000"), ("b", "0.100000")):
        box.write("L.%s.bedgraph" % label, HEADER + "c\t0\t1000\t%s\n" % value)
    result = box.ok("eval --truth t.bed --labels-posterior L --json -")
    check("true label 'z'" in result.stderr and "[label-without-posterior]" in result.stderr, result.stderr)
    labels = json.loads(result.stdout)["calibration"]["labels"]
    check((labels["bins"], labels["without_posterior"]) == (100, 50), "%s" % labels)
    close(labels["log_loss"], (-50 * math.log(0.9) - 50 * math.log(5e-7)) / 100, "log loss")
    close(labels["brier"], (50 * 0.02 + 50 * (0.81 + 0.01 + 1)) / 100, "Brier score")


def test_bad_input(box):
    box.write("t.bed", "c\t0\t500\ta\nc\t500\t1000\tb\n")

    def refused(content, *needles, code=3, options=""):
        box.write("p.bedgraph", content)
        box.fails("eval --truth t.bed --posterior p.bedgraph " + options, code, *needles)

    refused("c\t0\t100\t0.5\n", "p.bedgraph", "--bin-size", code=2)
    refused(HEADER + "c\t0\t100\t0.5\n", "bins of 10 bases", "20 bases", options="-b 20")
    refused(HEADER + "c\t0\t100\t0.5\nc\t100\t205\t0.1\nc\t205\t300\t0.5\n", "p.bedgraph:line 3", "inside a bin")
    refused(HEADER + "x\t0\t100\t0.5\n", "no chromosome in common", "it has x", "the truth has c")
    refused(HEADER, "no chromosome in common", code=(2, 3))
    refused(HEADER + "c\t0\t100\t1.5\n", "p.bedgraph:line 2", "1.5", "must be between 0 and 1")
    refused(HEADER + "c\t0\t100\t-0.1\n", "p.bedgraph:line 2", "must be between 0 and 1")
    refused(HEADER + "c\t0\t100\tlabel\n", "p.bedgraph:line 2", "'label'", "not bedGraph")
    refused(HEADER + "c\t0\t100\tnan\n", "p.bedgraph:line 2", "not bedGraph")
    refused("c\t0\t100\ta\t0\t.\n", "p.bedgraph:line 1", "expected 4", "not bedGraph")
    refused(HEADER + "c\t0\t100\t0.5\nc\t50\t200\t0.1\n", "p.bedgraph:line 3", "overlap")
    refused(HEADER + "c\t0\t10\t0.5\nd\t0\t10\t0.1\nc\t10\t20\t0.1\n", "p.bedgraph:line 4", "second time")
    refused("#option min-posterior=0.1\n" + HEADER + "c\t0\t100\t0.5\n", "--min-posterior")
    box.fails("eval --truth t.bed --posterior codon_fwd0.bw", 2, "codon_fwd0.bw", "--bin-size")
    box.write("x.bb", b"\xEB\xF2\x89\x87" + bytes(100))
    box.fails("eval --truth t.bed --posterior x.bb", 3, "x.bb", "a bigBed file")
    box.fails("eval --truth t.bed --posterior none.bedgraph", 4, "none.bedgraph")
    box.fails("eval --truth t.bed --labels-posterior none", 3, "none.LABEL.bedgraph")
    box.write("p.bedgraph", HEADER + "c\t0\t1000\t0.5\n")
    for wrong, needle in (("c\t0\t100\ta\n", "columns chrom, position"), ("#chrom\tposition\tfrom\tto\tp\tlower\tupper\nc\tx\ta\tb\t1\t.\t.\n", "b.tsv:line 2"),
                          ("#chrom\tposition\tfrom\tto\tp\tlower\tupper\nc\t50\ta\tb\t1\t60\t70\n", "does not hold its boundary")):
        box.write("b.tsv", wrong)
        box.fails("eval --truth t.bed --posterior p.bedgraph --intervals b.tsv", 3, "b.tsv", needle)
    # Arrays.
    box.write("L.npy", make_inputs.npy([[0.5, 0.2, 0.3]] * 10))
    box.fails("eval --truth t.bed --labels-posterior L.npy", 2, "L.npy", "-p")
    box.fails("eval --truth t.bed --labels-posterior d=L.npy -p scores.params.json", 3, "no chromosome in common")
    box.fails("eval --truth t.bed --labels-posterior L.npy -p demo.params.json", 3, "3 columns")
    box.write("L.npy", make_inputs.npy([[0.5, 1.2, 0.3]] * 10))
    box.fails("eval --truth t.bed --labels-posterior L.npy -p scores.params.json", 3, "L.npy:row 0, column 1", "1.2")
    # Tracks of different runs.
    box.write("M.a.bedgraph", HEADER + "c\t0\t1000\t0.5\n")
    box.write("M.b.bedgraph", HEADER + "c\t0\t900\t0.5\n")
    box.fails("eval --truth t.bed --labels-posterior M", 3, "90 evaluated bins", "100")
    box.write("M.b.bedgraph", "#option bin-size=20\nc\t0\t1000\t0.5\n")
    box.fails("eval --truth t.bed --labels-posterior M", 3, "bins of 20 bases")


def test_usage(box):
    box.write("t.bed", "c\t0\t500\ta\nc\t500\t1000\tb\n")
    box.write("p.bedgraph", HEADER + "c\t0\t1000\t0.5\n")
    box.fails("eval --posterior p.bedgraph", 2, "--truth")
    box.fails("eval --truth t.bed t.bed --reliability-out r.svg", 2, "--posterior")
    box.fails("eval --truth t.bed --posterior p.bedgraph --reliability-bins 0", 2, "reliability-bins")
    box.fails("eval --truth t.bed --posterior p.bedgraph --reliability-out p.bedgraph", 2, "p.bedgraph")
    box.write("L.a.bedgraph", HEADER + "c\t0\t1000\t0.5\n")
    box.fails("eval --truth t.bed --labels-posterior L --reliability-out L.a.bedgraph", 2, "L.a.bedgraph")
    box.fails("eval --truth t.bed --posterior p.bedgraph --reliability-out none/r.svg", 5, "none")
    for text in ("--posterior", "--labels-posterior", "--intervals", "--reliability-out", "--reliability-bins"):
        check(text in box.ok("eval --help-all").stdout, "--help lacks %s" % text)
