"""semicrf import and export: models of other programs."""

import array
import json
import math
import random

import make_inputs
from harness import Skip, bed_rows, check
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


def test_boundaries_are_changes_of_state(box):
    """decode, posterior and --stats of an imported model: a segment is a stay in a state, not a bin."""
    rng = random.Random(6)
    rows = [[float(rng.random() < (0.9 if t // 50 % 2 else 0.1)), float(rng.random() < 0.3)] for t in range(600)]
    first, transition, emission, marks = [0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], [[0.9, 0.3], [0.1, 0.3]], ["A", "B"]
    box.write("a.npy", npy(rows))
    box.write("model.txt", model_text(first, transition, emission, marks))
    box.ok("import chromhmm model.txt -b 1 -o m.json")
    viterbi = bed_rows(box.ok("decode -q -p m.json --rule viterbi --precision double a.npy").stdout)
    check(2 < len(viterbi) < 60 and all(a[3] != b[3] for a, b in zip(viterbi, viterbi[1:])), "%d segments" % len(viterbi))
    # ChromHMM takes the label of largest posterior: the file says so, and decode follows it.
    result = box.ok("decode -p m.json --precision double -o o.bed a.npy")
    check("rule: posterior, as the parameters say; --rule viterbi" in result.stderr, result.stderr)
    segments = bed_rows(box.text("o.bed"))
    check(segments == bed_rows(box.ok("decode -q -p m.json --rule posterior --precision double a.npy").stdout), "another rule")
    document = json.loads(box.text("m.json"))
    check(document["rule"] == "posterior" and document["format_version"] == "1.2", "%r" % document["format_version"])
    document["format_version"] = "1.1"
    box.write("old.json", json.dumps(document))
    box.fails("decode -p old.json a.npy", 3, "old.json:/rule", "format version 1.2")
    box.write("odd.json", box.text("m.json").replace('"rule": "posterior"', '"rule": "best"'))
    box.fails("decode -p odd.json a.npy", 3, "odd.json:/rule", "viterbi")
    check(2 < len(segments) < 60 and all(a[3] != b[3] for a, b in zip(segments, segments[1:])), "%d segments" % len(segments))
    box.ok("posterior -q -p m.json --precision double --digits 9 --stats s.json -o a.bg a.npy")
    # P(the state changes) from scaled forward and backward sums.
    density = [[math.prod(p if x == 1 else 1 - p for x, p in zip(row, state)) for state in emission] for row in rows]
    alpha, beta = [[d * f for d, f in zip(density[0], first)]], [[1.0, 1.0]]
    for t in range(1, len(rows)):
        alpha.append([density[t][c] * sum(alpha[-1][b] * transition[b][c] for b in (0, 1)) for c in (0, 1)])
        alpha[-1] = [a / sum(alpha[-1]) for a in alpha[-1]]
        u = len(rows) - t
        beta.append([sum(transition[b][c] * density[u][c] * beta[-1][c] for c in (0, 1)) for b in (0, 1)])
        beta[-1] = [b / sum(beta[-1]) for b in beta[-1]]
    beta.reverse()
    expected = [1.0]
    for t in range(1, len(rows)):
        pair = [[alpha[t - 1][b] * transition[b][c] * density[t][c] * beta[t][c] for c in (0, 1)] for b in (0, 1)]
        expected.append((pair[0][1] + pair[1][0]) / sum(map(sum, pair)))
    found = [0.0] * len(rows)
    for line in box.text("a.bg").splitlines():
        if not line.startswith("#"):
            _, begin, end, value = line.split("\t")
            found[int(begin):int(end)] = [float(value)] * (int(end) - int(begin))
    check(max(abs(a - b) for a, b in zip(found, expected)) < 1e-8, "boundary posteriors")
    check(abs(json.loads(box.text("s.json"))["sequences"][0]["expected_segments"] - sum(expected)) < 1e-6, "expected segments")


def test_certain_emissions_are_told(box):
    box.write("model.txt", model_text([1.0], [[1.0]], [[0.0, 1.0]], ["A", "B"]))
    result = box.ok("import chromhmm model.txt -o m.json")
    check(result.stderr.count("certain-emission") == 2, result.stderr)


def test_bad_models(box):
    good = model_text(*SMALL).splitlines()
    edits = (("", "bad.txt:line 1"), ("hello\n", "first line"), ("\n".join(good[:-1]) + "\n", "without a line for"),
             ("\n".join(good + [good[3]]) + "\n", "line 26"), ("\n".join(good).replace("0.25", "x", 1), "line 2"),
             ("\n".join(good).replace("0.25", "1.5", 1), "not a probability"), ("\n".join(good).replace("0.75", "0.7", 1), "sum to"),
             ("\n".join(good).replace("probinit\t3", "probinit\t4"), "not the number of a state"),
             ("\n".join(good).replace("transitionprobs\t1\t1", "transit\t1\t1"), "begins with"),
             ("\n".join(good).replace("\tB\t1\t", "\tC\t1\t", 1), "before it was"), ("9999999\t2\tE\t0\t1\n", "can be read"),
             ("\n".join(good).replace("\t0.25\n", "\n", 1), "columns"))
    for text, needle in edits:
        box.write("bad.txt", text)
        box.fails("import chromhmm bad.txt -o m.json", (3,), "bad.txt:line ", needle, "LearnModel")
    box.write("bad.txt", "\n".join(good).encode().replace(b"\tB\t", b"\tB\xff\t"))
    box.fails("import chromhmm bad.txt -o m.json", 3, "bad.txt:line ", "UTF-8")
    box.fails("import chromhmm nothing.txt", (4,), "nothing.txt")
    box.fails("import", 2, "a command is missing after semicrf import")
    box.fails("import chromhmm bad.txt -o bad.txt", (2, 3), "bad.txt")


SEGMENTS = "".join("chr1\t%d\t%d\t%s\t0\t.\t0\t0\t%s\n" % row for row in (
    (0, 400, "E1", "10,20,30"), (400, 600, "E2", "0"), (600, 2600, "E3", "1,2,3"), (2600, 2750, "E1", "9,9,9")))


def test_explicit_durations_of_a_segmentation(box):
    box.write("model.txt", model_text(*SMALL))
    box.write("s.bed", SEGMENTS)
    box.ok("import chromhmm model.txt --segments s.bed -o m.json")
    model = json.loads(box.text("m.json"))
    check(model["max_duration"] == 10 and len(model["duration"]["bias"]) == 10, "K = %r" % model["max_duration"])
    check([label.get("color") for label in model["labels"]] == ["#0a141e", None, "#010203"], "%r" % model["labels"])
    check(model["training"]["segments"]["file"] == "s.bed" and model["training"]["file"] == "model.txt", "%r" % model["training"])
    for c in range(3):
        column = [math.exp(row[c]) for row in model["duration"]["bias"]]
        q = model["duration"]["tail"][c]
        check(min(column) > 0 and abs(sum(column) + column[-1] * q / (1 - q) - 1) < 1e-9, "durations of label %d" % c)
        row = [score if score == "-inf" else math.exp(score) for score in model["transition"][c]]
        check(row[c] == "-inf" and abs(sum(p for p in row if p != "-inf") - 1) < 1e-9, "transitions %r" % row)
    check(model["start"][2] == "-inf" and abs(model["start"][0] - math.log(0.25)) < 1e-12, "%r" % model["start"])
    box.ok("import chromhmm model.txt --segments s.bed --max-duration 4 -o m.json")
    check(json.loads(box.text("m.json"))["max_duration"] == 4, "--max-duration")
    rng = random.Random(3)
    box.write("a.npy", npy([[float(rng.random() < 0.5), float(rng.random() < 0.5)] for _ in range(100)]))
    box.ok("decode -q -p m.json -o d.bed a.npy")
    box.write("few.bed", "chr1\t0\t400\tE1\n")
    check("labels-without-segments" in box.ok("import chromhmm model.txt --segments few.bed -o m.json").stderr, "no warning")


def test_bad_segmentations(box):
    box.write("model.txt", model_text(*SMALL))
    for text, needle in (("", "no segments"), ("chr1\t0\t400\tE4\n", "line 1"), ("chr1\t0\t400\tE1\nchr1\t500\t600\tE2\n", "line 2"),
                         ("chr1\t0\t400\tE1\nchr1\t200\t600\tE2\n", "line 2")):
        box.write("s.bed", text)
        box.fails("import chromhmm model.txt --segments s.bed -o m.json", 3, "s.bed", needle)
    box.write("s.bed", SEGMENTS)
    box.fails("import chromhmm model.txt --segments nothing.bed -o m.json", 4, "nothing.bed")
    box.fails("import chromhmm model.txt --max-duration 5 -o m.json", 2, "--segments")
    box.fails("import chromhmm model.txt --segments s.bed --max-duration 0 -o m.json", 2, "--max-duration")
    box.fails("import chromhmm model.txt --segments s.bed --max-duration 99999999 -o m.json", 2, "--max-duration")
    box.fails("import chromhmm model.txt --segments s.bed -o s.bed", 2, "s.bed")


def entries(text):
    """Lines of a model without their last column, and these."""
    rows = [line.split("\t") for line in text.splitlines()]
    return [row[:-1] for row in rows], [float(row[-1]) for row in rows]


def check_same_model(expected, found):
    (names, numbers), (other_names, other_numbers) = entries(expected), entries(found)
    check(names[1:] == other_names[1:] and len(numbers) == len(other_numbers), "other entries")
    head, other_head = names[0], other_names[0]
    check(head[:3] == other_head[:3] and float(head[3]) == float(other_head[3]), "%r, expected %r" % (other_head, head))
    for name, number, other in zip(names, numbers, other_numbers):
        check(abs(number - other) <= 1e-12 * number + 1e-15, "%s: %r, expected %r" % (name, other, number))


def test_export_gives_the_model_back(box):
    for order in "ETU":
        box.write("model.txt", model_text(*SMALL, header="3\t2\t%s\t-12.5\t7" % order))
        box.ok("import chromhmm model.txt -o m.json")
        result = box.ok("export chromhmm m.json -o back.txt")
        check("warning" not in result.stderr, result.stderr)
        check_same_model(box.text("model.txt"), box.text("back.txt"))
    box.ok("import chromhmm back.txt -o again.json")
    check_same_model(box.text("back.txt"), box.ok("export chromhmm again.json").stdout)


def test_export_of_a_learned_model(box):
    """Geometric durations are a hidden Markov model; of the end of a sequence ChromHMM knows nothing."""
    rng = random.Random(8)
    rows = [[float(rng.random() < (0.9 if t // 40 % 2 else 0.1)), float(rng.random() < 0.3)] for t in range(2000)]
    box.write("a.npy", npy(rows))
    box.ok("learn -q --labels 2 --emission bernoulli --duration geometric --track-names A,B --precision double --max-iterations 20 -o g.json a.npy")
    result = box.ok("export chromhmm g.json -o g.txt")
    check("labels-renamed" in result.stderr and "ends-lost" in result.stderr, result.stderr)
    box.ok("import chromhmm g.txt -o h.json")
    box.ok("posterior -q -p h.json --precision double --stats h.st -o h.bg a.npy")
    box.ok("posterior -q -p g.json --precision double --stats g.st -o g.bg a.npy")
    first, second = (json.loads(box.text(name))["sequences"][0]["log_partition"] for name in ("g.st", "h.st"))
    check(second > first and second - first < 10, "%r and %r: not the end of one segment" % (first, second))
    box.ok("learn -q --labels 2 --emission bernoulli --max-duration 20 --track-names A,B --max-iterations 3 -o t.json a.npy")
    box.fails("export chromhmm t.json -o t.txt", 3, "t.json:/duration", "explicit durations", "--duration geometric")
    box.fails("export chromhmm demo.params.json -o t.txt", 3, "demo.params.json")
    box.fails("export chromhmm scores.params.json -o t.txt", 3, "scores.params.json", "label scores")
    box.fails("export chromhmm nothing.json", 4, "nothing.json")
    box.fails("export chromhmm g.json -o g.json", 2, "g.json")
    box.fails("export", 2, "a command is missing after semicrf export")


def test_heads_that_are_no_probabilities_are_not_exported(box):
    box.write("model.txt", model_text(*SMALL))
    box.ok("import chromhmm model.txt -o m.json")
    model = json.loads(box.text("m.json"))
    model["emission"]["bias"][1] += 0.5
    box.write("m.json", json.dumps(model))
    box.fails("export chromhmm m.json -o out.txt", 3, "m.json:/emission/bias/1", "'E2'")


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


def test_chromosome_11_with_durations(box):
    """Explicit durations of ChromHMM's own segmentation fit the tracks better, and the labels stay close."""
    folder = make_inputs.shared_data() / "chr11_hg18"
    if not folder.exists():
        raise Skip("needs %s" % folder.name)
    model, bed = folder / "chromhmm10.model_10.txt", folder / "GM12878.chromhmm10.bed"
    tracks = " ".join("%s=%s" % (path.stem.split(".")[1], path) for path in sorted(folder.glob("GM12878.*.bw")))
    box.ok("import chromhmm %s -o m.json" % model)
    check_same_model(model.read_text(), box.ok("export chromhmm m.json").stdout)
    box.ok("import chromhmm %s --segments %s -o s.json" % (model, bed))
    box.ok("decode -q -t 2 -p s.json --rule posterior --stats s.st -o s.bed %s" % tracks)
    found = json.loads(box.text("s.st"))["sequences"][0]["log_partition"]
    check(-343746 < found < -343546, "log Z %r" % found)
    check(json.loads(box.text("s.json"))["max_duration"] == 518, "K")
    # ChromHMM takes the best label of each bin; the path of posteriors makes no change that the model forbids.
    box.ok("decode -q -t 2 -p m.json --rule posterior -o m.bed %s" % tracks)
    truth, path = label_bins(bed.read_text()), label_bins(box.text("m.bed"))
    different = sum(a != b for a, b in zip(truth, path))
    check(different < 50, "%d bins differ" % different)
    # Segments are stays: as many as ChromHMM's, with their boundaries; the best path has other ones.
    for options, least in (("", 0.999), ("--rule viterbi", 0.85)):
        box.ok("decode -q -t 2 -p m.json %s -o v.bed %s" % (options, tracks))
        box.ok("eval --truth %s --tolerance 200 --json e.json v.bed" % bed)
        found = json.loads(box.text("e.json"))["overall"]["boundaries"]["within"]["f1"]
        check(found > least, "decode %s: F1 %r" % (options, found))


def label_bins(text):
    labels = []
    for row in bed_rows(text):
        labels += [row[3]] * (-(-int(row[2]) // 200) - int(row[1]) // 200)
    return labels
