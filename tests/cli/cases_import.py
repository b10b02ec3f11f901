"""semicrf import: models of other programs."""

import array
import json
import math
import random

import make_inputs
from harness import Skip, check
from make_inputs import npy


def model_text(first, transition, emission, marks, header=None):
    """As ChromHMM writes it."""
    lines = [header or "%d\t%d\tE\t-12.5\t7" % (len(first), len(marks))]
    lines += ["probinit\t%d\t%r" % (i + 1, p) for i, p in enumerate(first)]
    lines += ["transitionprobs\t%d\t%d\t%r" % (i + 1, j + 1, p) for i, row in enumerate(transition) for j, p in enumerate(row)]
    for i, row in enumerate(emission):
        for m, p in enumerate(row):
            lines += ["emissionprobs\t%d\t%d\t%s\t0\t%r" % (i + 1, m, marks[m], 1 - p), "emissionprobs\t%d\t%d\t%s\t1\t%r" % (i + 1, m, marks[m], p)]
    return "\n".join(lines) + "\n"


SMALL = ([0.25, 0.75, 0.0], [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.125, 0.125, 0.75]],
         [[0.9, 0.1], [0.2, 0.7], [0.5, 0.01]], ["A", "B"])


def forward(rows, first, transition, emission):
    """ln P(rows) of a hidden Markov model."""
    total, alpha = 0.0, None
    for row in rows:
        density = [math.prod(p if x == 1 else 1 - p for x, p in zip(row, state)) for state in emission]
        into = first if alpha is None else [sum(a * t[c] for a, t in zip(alpha, transition)) for c in range(len(first))]
        alpha = [d * i for d, i in zip(density, into)]
        scale = sum(alpha)
        total += math.log(scale)
        alpha = [a / scale for a in alpha]
    return total


def test_log_z_is_the_likelihood_of_the_model(box):
    rng = random.Random(5)
    rows = [[float(rng.random() < 0.4), float(rng.random() < 0.3)] for _ in range(500)]
    box.write("a.npy", npy(rows))
    box.write("model.txt", model_text(*SMALL))
    box.ok("import chromhmm model.txt -b 100 -o m.json")
    box.ok("posterior -q -p m.json --precision double --stats s.json -o a.bg a.npy")
    found = json.loads(box.text("s.json"))["sequences"][0]["log_partition"]
    expected = forward(rows, *SMALL[:3])
    check(abs(found - expected) < 1e-9 * abs(expected), "%r, expected %r" % (found, expected))
    model = json.loads(box.text("m.json"))
    check([label if isinstance(label, str) else label["name"] for label in model["labels"]] == ["E1", "E2", "E3"], "labels")
    check(model["training"]["log_likelihood"] == -12.5 and model["bin_size"] == 100, "%r" % model["training"])
    check(model["transition"][1][0] == "-inf" and model["start"][2] == "-inf", "zeros")
    # Learning goes on from it, and what it forbids stays so.
    box.ok("learn -q --init m.json --emission bernoulli --max-iterations 3 --precision double -o n.json --stats s.json a.npy")
    values = json.loads(box.text("s.json"))["log_likelihood"]
    check(abs(values[0] - expected) < 1e-9 * abs(expected) and values[-1] > values[0], "%r" % values)
    check(json.loads(box.text("n.json"))["transition"][1][0] == "-inf", "a transition of 0 came back")


def test_certain_emissions_are_told(box):
    box.write("model.txt", model_text([1.0], [[1.0]], [[0.0, 1.0]], ["A", "B"]))
    result = box.ok("import chromhmm model.txt -o m.json")
    check(result.stderr.count("certain-emission") == 2, result.stderr)


def test_bad_models(box):
    good = model_text(*SMALL).splitlines()
    edits = (("", "is empty"), ("hello\n", "first line"), ("\n".join(good[:-1]) + "\n", "no line for"),
             ("\n".join(good + [good[3]]) + "\n", "line 26"), ("\n".join(good).replace("0.25", "x", 1), "line 2"),
             ("\n".join(good).replace("0.25", "1.5", 1), "no probability"), ("\n".join(good).replace("0.75", "0.7", 1), "sum to"),
             ("\n".join(good).replace("probinit\t3", "probinit\t4"), "no number of a state"),
             ("\n".join(good).replace("transitionprobs\t1\t1", "transit\t1\t1"), "begins with"),
             ("\n".join(good).replace("\tB\t1\t", "\tC\t1\t", 1), "before it was"), ("9999999\t2\tE\t0\t1\n", "can be read"),
             ("\n".join(good).replace("\t0.25\n", "\n", 1), "columns"))
    for text, needle in edits:
        box.write("bad.txt", text)
        box.fails("import chromhmm bad.txt -o m.json", (3,), "bad.txt", needle)
    box.fails("import chromhmm nothing.txt", (4,), "nothing.txt")
    box.fails("import", (2,), "subcommand")
    box.fails("import chromhmm bad.txt -o bad.txt", (2, 3), "bad.txt")


def test_chromosome_11(box):
    """log Z is the likelihood in the model file but for the last bin, and labels are ChromHMM's in every bin."""
    folder = make_inputs.shared_data() / "chr11_hg18"
    if not folder.exists():
        raise Skip("needs %s" % folder.name)
    tracks = " ".join("%s=%s" % (path.stem.split(".")[1], path) for path in sorted(folder.glob("GM12878.*.bw")))
    box.ok("import chromhmm %s -o m.json" % (folder / "chromhmm10.model_10.txt"))
    box.ok("posterior -q -t 2 -p m.json --precision double --stats s.json -o m.bg --labels-out l.npy %s" % tracks)
    found = json.loads(box.text("s.json"))["sequences"][0]["log_partition"]
    check(abs(found - -346072.058) < 0.01, "log Z %r" % found)
    data = box.path("l.npy").read_bytes()
    header = 10 + int.from_bytes(data[8:10], "little")
    check(b"<f8" in data[:header], "not double")
    values = array.array("d", data[header:])
    different = bins = 0
    for line in (folder / "GM12878.chromhmm10.bed").read_text().splitlines():
        fields = line.split("\t")
        label = int(fields[3][1:]) - 1
        for number in range(int(fields[1]) // 200, -(-int(fields[2]) // 200)):
            row = values[number * 10 : number * 10 + 10]
            bins += 1
            different += row.index(max(row)) != label
    check(bins > 672000 and different == 0, "%d of %d bins differ" % (different, bins))
