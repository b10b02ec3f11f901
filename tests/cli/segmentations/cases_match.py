"""eval --match, --label-map: labels of other names, against all pairings; the adjusted Rand index by pairs of bases."""

import itertools
import json
import random

import make_inputs
from harness import check

SEED = 4231


def write_bed(box, name, labels):
    """labels: one per base of chromosome c, None for none; a line per run."""
    lines, at = [], 0
    while at < len(labels):
        end = at
        while end < len(labels) and labels[end] == labels[at]:
            end += 1
        if labels[at] is not None:
            lines.append("c\t%d\t%d\t%s\n" % (at, end, labels[at]))
        at = end
    return box.write(name, "".join(lines))


def random_labels(rng, names, length, gaps=0.0):
    labels = []
    while len(labels) < length:
        labels += [None if rng.random() < gaps else rng.choice(names)] * rng.randint(1, 9)
    return labels[:length]


def evaluate(box, arguments):
    result = box.ok("eval --json e.json -o e.txt " + arguments)
    return json.loads(box.text("e.json")), result.stderr


def rand_index(a, b):
    both = [(x, y) for x, y in zip(a, b) if x is not None and y is not None]
    pairs = list(itertools.combinations(both, 2))
    first, second = (sum(x[side] == y[side] for x, y in pairs) for side in (0, 1))
    together = sum(x == y for x, y in pairs)
    expected = first * second / len(pairs)
    most = (first + second) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)


def common(a, b, truth, predicted):
    return sum(x == truth and y == predicted for x, y in zip(a, b))


def test_best_pairs_of_all(box):
    rng = random.Random(SEED)
    for round_ in range(25):
        true_names = ["A", "B", "C", "D"][:rng.randint(1, 4)]
        others = rng.choice([["1", "2", "3", "4"], ["B", "A", "E", "C"], ["D", "A", "x", "B"]])[:rng.randint(1, 4)]
        length = 150
        truth = random_labels(rng, true_names, length)
        wrong = dict(zip(true_names, itertools.cycle(rng.sample(others, len(others)))))
        predicted = [rng.choice(others) if rng.random() < 0.3 else wrong[x] for x in truth]
        if round_ % 2:
            predicted = [None if gap is None else x for gap, x in zip(random_labels(rng, ["x"], length, 0.2), predicted)]
        write_bed(box, "t.bed", truth)
        write_bed(box, "p.bed", predicted)
        document, said = evaluate(box, "--match --truth t.bed p.bed")
        check("no-common-label" not in said, said)
        pairs = {entry["predicted"]: entry["truth"] for entry in document["match"]["labels"] if entry["predicted"] and entry["truth"]}
        for entry in document["match"]["labels"]:
            if entry["predicted"] and entry["truth"]:
                check(entry["bases"] == common(truth, predicted, entry["truth"], entry["predicted"]) > 0, "%r" % entry)
        check(len(set(pairs.values())) == len(pairs), "%r" % pairs)
        named = {entry["predicted"] for entry in document["match"]["labels"]} - {None}
        check(named == {x for x in predicted if x}, "labels of the prediction: %r" % named)
        check({entry["truth"] for entry in document["match"]["labels"]} - {None} == set(truth), "labels of the truth")
        places = true_names + [None] * len(others)
        most = max(sum(common(truth, predicted, t, p) for t, p in zip(order, others) if t)
                   for order in itertools.permutations(places, len(others)))
        matched = document["overall"]["bases"]["matched"]
        check(matched == sum(common(truth, predicted, t, p) for p, t in pairs.items()) == most, "%d, expected %d" % (matched, most))
        index = document["overall"]["bases"]["adjusted_rand_index"]
        check(abs(index - rand_index(truth, predicted)) < 1e-12, "%r, expected %r" % (index, rand_index(truth, predicted)))
        # All numbers are those of a prediction that was written with the names of the truth.
        write_bed(box, "q.bed", [x and pairs.get(x, x + " (unmatched)" if x in true_names else x) for x in predicted])
        again, _ = evaluate(box, "--truth t.bed q.bed")
        for key in ("overall", "missing", "bases"):
            check(document[key] == again[key], "%s: %r, expected %r" % (key, document[key], again[key]))
        by_name = {entry["name"]: entry for entry in again["labels"]}
        check({entry["name"]: entry for entry in document["labels"]} == by_name, "labels: %r" % document["labels"])
        text = box.text("e.txt")
        check("labels " not in text.split("\n\n")[0], "not matched, but said to be")
        check("adjusted Rand index" in text, text)


def test_no_common_label(box):
    write_bed(box, "t.bed", list("AAAABBBBAA"))
    write_bed(box, "p.bed", list("1111222211"))
    said = evaluate(box, "--truth t.bed p.bed")[1]
    check(said.count("\n") == 1 and "[no-common-label]" in said, said)
    for part in ("p.bed", "t.bed", "1, 2", "A, B", "--match", "--label-map"):
        check(part in said, "%r is not in %s" % (part, said))
    write_bed(box, "q.bed", list("1111222A11"))
    check("no-common-label" not in evaluate(box, "--truth t.bed q.bed")[1], "one label is shared")
    box.path("m").mkdir()
    box.ok("eval --match --truth t.bed p.bed --multiqc m --multiqc-name s -o e.txt")
    check("paired by the largest overlap (--match)" in box.text("e.txt"), box.text("e.txt"))
    check([line.split() for line in box.text("e.txt").split("\n\n")[1].splitlines()[1:]] == [["1", "A", "6"], ["2", "B", "4"]], box.text("e.txt"))
    row = json.loads(box.text("m/s.semicrf_evaluation_mqc.json"))["data"]["s"]
    check(row["accuracy"] == 100 and row["adjusted_rand_index"] == 1, "%r" % row)
    heads = json.loads(box.text("m/s.semicrf_label_f1_mqc.json"))["headers"]
    check(heads["A"]["description"].endswith("in the prediction 1"), "%r" % heads)


def test_a_map(box):
    rng = random.Random(SEED + 1)
    truth, predicted = random_labels(rng, ["A", "B", "A B"], 200), random_labels(rng, ["1", "2", "3", "A"], 200)
    write_bed(box, "t.bed", truth)
    write_bed(box, "p.bed", predicted)
    box.write("map", "# prediction\ttruth\r\n1\tA B\r\n\r\n2\tA\r\n3\tA\r\n")
    names = {"1": "A B", "2": "A", "3": "A", "A": "A (unmatched)"}
    write_bed(box, "q.bed", [names[x] for x in predicted])
    document, said = evaluate(box, "--label-map map --truth t.bed p.bed --merge-adjacent")
    check("matched by map" in box.text("e.txt"), box.text("e.txt"))
    again, _ = evaluate(box, "--truth t.bed q.bed --merge-adjacent")
    check(document["overall"] == again["overall"] and said == "", said)
    check(document["match"]["map"] == "map" and len(document["match"]["labels"]) == 5, "%r" % document["match"])
    box.write("more", "1\tA\n9\tZ\n")
    said = evaluate(box, "--label-map more --truth t.bed p.bed")[1]
    check(said.count("\n") == 1 and "9, Z" in said and "[label-map]" in said, said)
    for text, place in (("1 A\n", "line 1"), ("1\tA\n\n1\tB\n", "line 3"), ("1\t\n", "line 1"), ("1\tA\t2\n", "line 1"), ("\n# 1\tA\n", "no line")):
        box.write("bad", text)
        box.fails("eval --truth t.bed p.bed --label-map bad", 3, "bad", place)
    box.fails("eval --truth t.bed p.bed --label-map absent", 4, "absent")
    box.fails("eval --truth t.bed p.bed --label-map map --match", 2, "--match")
    box.fails("eval --truth t.bed p.bed --label-map map -o map", 2, "map")
    box.fails(["eval", "--truth", "t.bed", "p.bed", "--label-map", ""], 2, "--label-map")
    box.fails("eval --truth t.bed --posterior x.bedgraph --match", 2, "PRED")


def test_under_a_model(box):
    """Scores and posteriors are asked for by the names of the model, whichever side has them."""
    make_inputs.parameters(box, "m.json")
    names = [label if isinstance(label, str) else label["name"] for label in json.loads(box.text("m.json"))["labels"]]
    other = dict(zip(names, ["B", "C", names[0]]))  # one name means another label
    document = json.loads(box.text("m.json"))
    document["labels"] = [other[name] for name in names]
    box.write("n.json", json.dumps(document))
    for which in ("m", "n"):
        box.ok("decode -q -p %s.json -o %s.bed scores.npy" % (which, which))
        box.ok("posterior -q -p %s.json -o %s.b.bedgraph --labels-out %s scores.npy" % (which, which, which))
    box.write("map", "".join("%s\t%s\n" % (b, a) for a, b in other.items()))
    expected, _ = evaluate(box, "--truth m.bed m.bed -p m.json scores.npy --labels-posterior m --posterior m.b.bedgraph")
    for how in ("--match", "--label-map map"):
        found, _ = evaluate(box, how + " --truth m.bed n.bed -p n.json scores.npy --labels-posterior n --posterior n.b.bedgraph")
        for side in ("truth", "predicted"):
            check(found["model"][side] == expected["model"][side], "%s: %r" % (side, found["model"][side]))
        check(found["overall"] == expected["overall"], "%r" % found["overall"])
        for one in (found, expected):
            one["calibration"]["labels"]["file"] = ""
            one["calibration"]["labels"]["labels"].sort(key=lambda entry: entry["name"])
        check(found["calibration"]["labels"] == expected["calibration"]["labels"], "%r" % found["calibration"]["labels"])
    # The model may have the names of the truth instead.
    box.write("x.bed", "".join(line.replace("\t%s\t" % line.split("\t")[3], "\tx%s\t" % line.split("\t")[3])
                               for line in box.text("n.bed").splitlines(True) if not line.startswith("#")))
    found, _ = evaluate(box, "--match --truth m.bed x.bed -p m.json scores.npy")
    check(found["model"]["predicted"] == expected["model"]["predicted"], "%r" % found["model"])
    box.write("map", "".join("%s\t%s\n" % (name, names[0]) for name in other.values()))
    box.fails("eval --truth m.bed n.bed -p n.json scores.npy --label-map map", 3, "map", "union")
