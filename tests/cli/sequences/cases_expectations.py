"""What is expected under all segmentations (starts, ends, counts, entropies), and the path made of it.

Everything is compared with an enumeration of all segmentations of small random models.
"""

import itertools
import json
import math
import random
import struct
import zipfile

import oracle
from cases_decode import segments
from cases_posterior import per_bin
from harness import check
from make_inputs import npy, npz

ENGINES = (("reference", "double", 1e-10), ("cpu", "double", 1e-9), ("cpu", "float", 1e-5))
INFINITY = float("inf")


def random_model(box, seed, **changes):
    """(oracle's model, scores, arguments of the program) of 5 to 7 bins with 2 or 3 labels; files are in the box."""
    draw = random.Random(seed)
    labels, length, longest = draw.choice(((2, 7, 3), (3, 5, 2), (2, 6, 1), (2, 6, 4)))
    number = lambda: draw.choice((-INFINITY,) + (draw.gauss(0, 1),) * 7)
    document = {
        "format": "semicrf-params", "format_version": "1.0", "labels": ["l%d" % c for c in range(labels)],
        "max_duration": longest, "bin_size": 10, "centering": "none", "initial": draw.choice(("uniform", "none")),
        "transition": [[number() if a != b else draw.gauss(0, 1) for b in range(labels)] for a in range(labels)],
        "duration": {"kind": "table", "bias": [[draw.gauss(0, 1) for _ in range(labels)] for _ in range(longest)],
                     "tail": [draw.choice((None, 0.4)) for _ in range(labels)]},
        "start": [draw.gauss(0, 1)] + [number() for _ in range(labels - 1)],
        "end": [draw.gauss(0, 1)] + [number() for _ in range(labels - 1)]}
    document.update(changes)
    texts = json.dumps(document).replace("-Infinity", '"-inf"')
    box.write("m.json", texts)
    scores = [[draw.gauss(0, 1.5) for _ in range(labels)] for _ in range(length)]
    box.write("x.npy", npy(scores, "<f4"))
    return oracle.Model(box.path("m.json")), oracle.read_npy(box.path("x.npy"))


def segmentations(scores, model):
    """[(segments, probability)] with labels as numbers, and log Z."""
    found = []

    def extend(path, score):
        begin = path[-1][1] if path else 0
        if begin == len(scores):
            found.append((list(path), score + model.end[path[-1][2]]))
            return
        for c in range(len(model.labels)):
            before = model.transition[path[-1][2]][c] if path else model.first(c, oracle.log_sum)
            for end in range(begin + 1, len(scores) + 1):
                own = before + model.duration(end - begin, c) + sum(row[c] for row in scores[begin:end])
                if own > -INFINITY:
                    extend(path + [(begin, end, c)], score + own)

    extend([], 0.0)
    found = [(path, score) for path, score in found if score > -INFINITY]
    log_z = oracle.log_sum([score for _, score in found])
    return [(path, math.exp(score - log_z)) for path, score in found], log_z


class Expected:
    """Posteriors and counts by adding up segmentations: all, or those that are given, as segmentations() has them."""

    def __init__(self, scores, model, given=None):
        paths, self.log_z = given or segmentations(scores, model)
        self.feasible = bool(paths)
        labels, longest = len(model.labels), len(model.bias)
        table = lambda rows: [[0.0] * labels for _ in range(rows)]
        self.labels, self.starts, self.ends = table(len(scores)), table(len(scores)), table(len(scores))
        self.transition, self.duration, self.tail = table(labels), table(longest), [0.0] * labels
        self.entropy = -sum(p * math.log(p) for _, p in paths if p > 0)
        for path, p in paths:
            for n, (begin, end, c) in enumerate(path):
                self.starts[begin][c] += p
                self.ends[end - 1][c] += p
                for t in range(begin, end):
                    self.labels[t][c] += p
                self.duration[min(end - begin, longest) - 1][c] += p
                self.tail[c] += p * max(0, end - begin - longest)
                if n:
                    self.transition[path[n - 1][2]][c] += p
                elif model.uniform:
                    into = model.first(c, oracle.log_sum) - model.start[c]
                    for a in range(labels):
                        self.transition[a][c] += p * math.exp(model.transition[a][c] - into)


def read_npz(path):
    """{name: rows or numbers} of stored float64 arrays."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        check(archive.testzip() is None, "a damaged archive")
        for name in archive.namelist():
            data = archive.read(name)
            size = struct.unpack_from("<H", data, 8)[0]
            header = data[10:10 + size].decode()
            check("'<f8'" in header and "'fortran_order': False" in header, header)
            shape = [int(n) for n in header.split("(")[1].split(")")[0].replace(",", " ").split()]
            values = struct.unpack_from("<%dd" % math.prod(shape), data, 10 + size)
            rows = [list(values[i:i + shape[1]]) for i in range(0, len(values), shape[1])] if len(shape) == 2 else list(values)
            arrays[name[:-len(".npy")]] = rows
    return arrays


def flat(rows):
    return [x for row in rows for x in row] if rows and isinstance(rows[0], list) else list(rows)


def check_close(what, found, expected, tolerance):
    found, expected = flat(found), flat(expected)
    check(len(found) == len(expected), "%s: %d numbers, expected %d" % (what, len(found), len(expected)))
    worst = max(abs(a - b) for a, b in zip(found, expected))
    check(worst <= tolerance, "%s: off by %g" % (what, worst))


def small_models(box, count):
    for seed in range(count):
        model, scores = random_model(box, seed)
        expected = Expected(scores, model)
        if expected.feasible:
            yield seed, model, scores, expected


def test_counts_and_entropies_are_those_of_all_segmentations(box):
    for seed, model, scores, expected in small_models(box, 16):
        for device, precision, tolerance in ENGINES:
            what = "seed %d on %s %s: " % (seed, device, precision)
            box.ok("posterior -q -p m.json -x %s --precision %s --counts-out c.npz --stats s.json -o b.bedgraph x.npy"
                   % (device, precision))
            counts = read_npz(box.path("c.npz"))
            check(list(counts) == ["log_partition", "transition", "duration", "tail"], "%s" % list(counts))
            check_close(what + "log Z", counts["log_partition"], [expected.log_z], tolerance)
            for name in ("transition", "duration", "tail"):
                check_close(what + name, counts[name], getattr(expected, name), tolerance)
            entry = json.loads(box.text("s.json"))["sequences"][0]
            sure = 1e-4 if precision == "float" else tolerance
            check_close(what + "entropy", [entry["segmentation_entropy"]], [expected.entropy], sure * max(1, expected.entropy))
            check_close(what + "segments", [entry["expected_segments"]], [sum(flat(expected.starts))], 10 * tolerance)
            check_close(what + "segments of labels", [label["expected_segments"] for label in entry["labels"]],
                        [sum(column) for column in zip(*expected.starts)], 10 * tolerance)
            check_close(what + "bases of labels", [label["expected_bases"] for label in entry["labels"]],
                        [10 * sum(column) for column in zip(*expected.labels)], 100 * tolerance)
            plogp = lambda column: -sum(p * math.log(p) for p in column if p > 0) / len(scores)
            check_close(what + "position entropies of labels", [label["position_entropy"] for label in entry["labels"]],
                        [plogp(column) for column in zip(*expected.labels)], 20 * tolerance)
            check_close(what + "position entropy", [entry["position_entropy"]],
                        [sum(label["position_entropy"] for label in entry["labels"])], 20 * tolerance)
            check([label["name"] for label in entry["labels"]] == model.labels, "names %s" % entry["labels"])
            check(len(entry["each_piece"]) == 1 and entry["each_piece"][0]["end"] == 10 * len(scores), "%s" % entry)


def chain_rule_entropy(scores, model):
    """Entropy of the segmentation by the chain rule: nothing is subtracted from anything of its size."""
    alpha, entropy = [None], [None]  # log weights, and entropies of what lies left of (boundary, label)

    def mixture(ways):
        total = oracle.log_sum([w for w, _ in ways])
        return total, sum(math.exp(w - total) * (h - (w - total)) for w, h in ways if w > -INFINITY)

    for t in range(1, len(scores) + 1):
        alpha.append([]), entropy.append([])
        for c in range(len(model.labels)):
            ways, content = [], 0.0
            for k in range(1, min(t, len(model.bias)) + 1):
                content += scores[t - k][c]
                own = model.duration(k, c) + content
                if k == t:
                    ways.append((own + model.first(c, oracle.log_sum), 0.0))
                else:
                    ways += [(own + alpha[t - k][b] + model.transition[b][c], entropy[t - k][b])
                             for b in range(len(model.labels))]
            total, own_entropy = mixture(ways) if any(w > -INFINITY for w, _ in ways) else (-INFINITY, 0.0)
            alpha[t].append(total), entropy[t].append(own_entropy)
    return mixture([(a + e, h) for a, e, h in zip(alpha[-1], model.end, entropy[-1])])[1]


def test_entropy_of_masks_and_large_scores(box):
    draw = random.Random(44)
    labels, longest, bins = 3, 12, 400
    document = {"format": "semicrf-params", "format_version": "1.0", "labels": list("abc"), "max_duration": longest,
                "centering": "none", "initial": "none",
                "transition": [["-inf" if a == b else 0.0 for b in range(labels)] for a in range(labels)],
                "duration": {"kind": "table", "bias": [[draw.gauss(0, 1) for _ in range(labels)] for _ in range(longest)]}}
    box.write("m.json", json.dumps(document))
    document["duration"]["bias"][0][0] += 0.5
    box.write("q.json", json.dumps(document))
    model = oracle.Model(box.path("m.json"))
    plain = [[draw.gauss(0, 1) for _ in range(labels)] for _ in range(bins)]
    forbidden = {(t, draw.randrange(labels)) for t in range(0, bins, 4)}
    mask = lambda value: [[value if (t, c) in forbidden else x for c, x in enumerate(row)] for t, row in enumerate(plain)]
    cases = [("masks of %g" % -m, mask(-m)) for m in (1e2, 1e3, 1e4, 1e5, 1e7, 1e9, INFINITY)]
    cases += [("scores of %g" % s, [[s * x for x in row] for row in plain]) for s in (1, 10, 30, 100, 300, 1000, 3000)]
    for what, scores in cases:
        box.write("x.npy", npy(scores, "<f4"))
        wanted = chain_rule_entropy(oracle.read_npy(box.path("x.npy")), model)
        compared = []
        for engine in ("-x reference --precision double", "-x cpu --precision double", "-x cpu", "-x cpu -t 3",
                       "-x cpu --max-memory 40M"):
            result = box.ok("posterior -p m.json --stats s.json -o b.bedgraph x.npy " + engine)
            found = json.loads(box.text("s.json"))["sequences"][0]["segmentation_entropy"]
            check(abs(found - wanted) < 6e-4 * wanted + 1e-5, "%s, %s: %r, not %r" % (what, engine, found, wanted))
            check("uncertain-entropy" not in result.stderr, "%s, %s: %s" % (what, engine, result.stderr))
            compared.append(json.loads(box.ok("eval -q -p m.json --against q.json --json - x.npy "
                                              + engine.split(" --max")[0]).stdout)["against"])
        for member in ("segmentation_entropy", "cross_entropy"):
            exact = compared[0][member]
            check(all(abs(one[member] - exact) < 1e-3 * exact + 2e-5 for one in compared), "%s: %s" % (what, compared))


def test_scores_that_leave_no_digits_are_refused_or_warned_of(box):
    draw = random.Random(45)
    box.write("x.npy", npy([[draw.gauss(0, 1) for _ in range(3)] for _ in range(300)], "<f4"))
    refused = 0
    for size in (1e9, 1e15, 1e17, 1e30):
        document = {"format": "semicrf-params", "format_version": "1.0", "labels": list("abc"), "max_duration": 9,
                    "transition": [[0, size, 0], [0, 0, 0], [0.5, -size, 0]], "duration": {"kind": "uniform"}}
        box.write("m.json", json.dumps(document))
        for engine in ("-x cpu", "-x cpu --precision double", "-x reference"):
            result = box.run("posterior -p m.json -o b.bedgraph x.npy " + engine)
            check(result.code == 0 or result.code == 3 and "the scores are too large" in result.stderr and size > 1e12, str(result))
            check(result.code == 3 or ("[uncertain-posteriors]" in result.stderr) == (size > 1e12), str(result))
            refused += result.code == 3
    check(refused > 0, "nothing was refused")
    box.write("v.npy", npy([[draw.gauss(0, 1), 3e38 if t % 9 == 0 else 1] for t in range(300)], "<f4"))
    box.write("v.bed", "".join("v\t%d\t%d\t%s\n" % (i * 10, i * 10 + 10, "ab"[i % 2]) for i in range(30)))
    for words in ("train -q --labels v.bed --max-iterations 2", "learn -q --labels 2 --max-iterations 2"):
        box.fails(words + " --track-names s,t -o n.json v.npy", 3, '"t"', "no data")


def test_entropies_of_short_pieces_are_the_same_on_any_threads(box):
    draw = random.Random(46)
    model, _ = random_model(box, 3, centering="none")
    for i in range(6):
        box.write("s%d.npy" % i, npy([[draw.gauss(0, 500) for _ in model.labels] for _ in range(40)], "<f4"))
    names = " ".join("s%d.npy" % i for i in range(6))
    found = set()
    for options in ("-t 1", "-t 2", "-t 5", "-t 1 --max-memory 60M", "-t 4 --max-memory 60M"):
        box.ok("posterior -q -x cpu -p m.json --stats s.json -o b.bedgraph %s %s" % (names, options))
        found.add(tuple(one["segmentation_entropy"] for one in json.loads(box.text("s.json"))["sequences"]))
    check(len(found) == 1, "%s" % found)


def test_starts_and_ends_are_those_of_all_segmentations(box):
    for seed, model, scores, expected in small_models(box, 10):
        for device, precision, tolerance in ENGINES:
            box.ok("posterior -q -p m.json -x %s --precision %s --digits 12 --starts-out s.npy --ends-out e "
                   "-o b.bedgraph x.npy" % (device, precision))
            what = "seed %d on %s %s: " % (seed, device, precision)
            head, descr = (4, "f") if precision == "float" else (8, "d")
            data = box.path("s.npy").read_bytes()
            values = struct.unpack("<%d%s" % (len(scores) * len(model.labels), descr),
                                   data[-head * len(scores) * len(model.labels):])
            check_close(what + "starts", values, expected.starts, tolerance)
            ends = [per_bin(box.text("e.%s.bedgraph" % label)) for label in model.labels]
            check_close(what + "ends", [list(row) for row in zip(*ends)], expected.ends, tolerance)


def test_several_sequences_are_added_up(box):
    scores = oracle.read_npy(box.path("scores.npy"))
    npz(box.path("two.npz"), [("a.npy", npy(scores[:120])), ("b.npy", npy(scores[120:]))])
    box.ok("posterior -q -p scores.params.json --precision double --counts-out all.npz --stats s.json -o b.bedgraph two.npz")
    found, parts = read_npz(box.path("all.npz")), []
    for region in ("a", "b"):
        box.ok("posterior -q -p scores.params.json --precision double --counts-out one.npz -o b.bedgraph -r %s two.npz" % region)
        parts.append(read_npz(box.path("one.npz")))
    for name in found:
        check_close(name, found[name], [a + b for a, b in zip(*(flat(part[name]) for part in parts))], 1e-9)
    entries = json.loads(box.text("s.json"))["sequences"]
    check_close("log Z", [sum(entry["log_partition"] for entry in entries)], found["log_partition"], 1e-9)
    # Sums over durations are those over starts.
    segments_of = [sum(entry["labels"][c]["expected_segments"] for entry in entries) for c in range(3)]
    check_close("segments", segments_of, [sum(column) for column in zip(*found["duration"])], 1e-9)
    box.ok("posterior -q -p scores.params.json --precision double --stats s.json -o b.bedgraph -r a:1-500 -r a:701-1200 two.npz")
    entry = json.loads(box.text("s.json"))["sequences"][0]
    check([(piece["start"], piece["end"]) for piece in entry["each_piece"]] == [(0, 500), (700, 1200)], "%s" % entry)
    for key in ("segmentation_entropy", "expected_segments", "log_partition"):
        check_close(key, [sum(piece[key] for piece in entry["each_piece"])], [entry[key]], 1e-9)


def long_input(box, length=60000):
    draw = random.Random(4)
    box.write("long.npy", npy([[draw.gauss(0, 1) for _ in range(3)] for _ in range(length)]))
    return "long.npy"


def outputs_of(box, arguments, names):
    box.ok(arguments)
    found = [box.path(name).read_bytes() for name in names if name != "s.json"]
    return found + [json.dumps(json.loads(box.text("s.json"))["sequences"]) if "s.json" in names else ""]


def test_threads_windows_and_batches_change_no_byte(box):
    name = long_input(box)
    pieces = "-r long:1-3000 -r long:5001-9000 -r long:20001-500000 "
    for precision in ("float", "double"):
        for more in ("", pieces):
            run = "posterior -q -p scores.params.json --precision %s --counts-out c.npz --starts-out st --ends-out en " \
                  "--stats s.json -o b.bedgraph %s%s" % (precision, more, name)
            path = "decode -q -p scores.params.json --precision %s --rule posterior --gamma 0.5 --table t.tsv " \
                   "--stats s.json -o o.bed %s%s" % (precision, more, name)
            for command, names in ((run, ["c.npz", "st.low.bedgraph", "en.high.bedgraph", "s.json"]),
                                   (path, ["o.bed", "t.tsv", "s.json"])):
                expected = outputs_of(box, command, names)
                for setting in ("-t 3", "--max-memory 36M", "-t 2 --max-memory 38M"):
                    check(outputs_of(box, command + " " + setting, names) == expected, "%s: other bytes" % setting)


def test_a_phase_that_the_end_alone_fixes_has_the_same_counts(box):
    """Windows whose first result does not stand are counted once, and as they turn out."""
    document = json.loads(box.text("scores.params.json"))
    document.update(max_duration=5, transition=[["-inf", 0, "-inf"], ["-inf", "-inf", 0], [0, "-inf", "-inf"]],
                    initial="none", duration={"kind": "table", "bias": [["-inf"] * 3] * 4 + [[0] * 3]},
                    end=[0, "-inf", "-inf"])
    box.write("periodic.json", json.dumps(document))
    box.write("flat.npy", npy([[0, 0, 0]] * 60000))
    run = "posterior -q -p periodic.json --counts-out c.npz --stats s.json -o b.bedgraph flat.npy"
    box.ok(run)
    expected = box.path("c.npz").read_bytes()
    check_close("duration", read_npz(box.path("c.npz"))["duration"][4], [4000] * 3, 1e-6)
    box.ok(run + " --max-memory 36M")
    check(json.loads(box.text("s.json"))["sequences"][0]["repaired_chunks"] > 0, "nothing was computed again")
    check(box.path("c.npz").read_bytes() == expected, "other counts")
    check(json.loads(box.text("s.json"))["sequences"][0]["segmentation_entropy"] < 1e-3, "one segmentation is not certain")


def test_a_model_without_a_tail_has_zeros(box):
    random_model(box, 0, duration={"kind": "table", "bias": [[0, 0]] * 3}, max_duration=3)
    box.ok("posterior -q -p m.json --counts-out c.npz -o b.bedgraph x.npy")
    check(set(read_npz(box.path("c.npz"))["tail"]) == {0.0}, "a tail")


def test_entropy_can_be_left_out(box):
    box.ok("posterior -q -p scores.params.json --no-entropy --stats s.json -o b.bedgraph scores.npy")
    entry = json.loads(box.text("s.json"))["sequences"][0]
    check("segmentation_entropy" not in entry and "labels" not in entry and "expected_segments" in entry, "%s" % entry)
    box.ok("decode -q -p scores.params.json --score posterior --stats s.json -o b.bed scores.npy")
    with_path = json.loads(box.text("s.json"))["sequences"][0]
    box.ok("posterior -q -p scores.params.json --stats s.json -o b.bedgraph scores.npy")
    alone = json.loads(box.text("s.json"))["sequences"][0]
    check(with_path["segmentation_entropy"] == alone["segmentation_entropy"] > 0, "entropies differ")
    box.ok("decode -q -p scores.params.json --score none --stats s.json -o b.bed scores.npy")
    check("segmentation_entropy" not in json.loads(box.text("s.json"))["sequences"][0], "posteriors were computed")


def test_names_of_outputs_that_cannot_be(box):
    box.fails("posterior -p scores.params.json --counts-out c.npy -o b.bedgraph scores.npy", 2, "c.npy", ".npz")
    box.fails("posterior -p scores.params.json --starts-out same --ends-out same -o b.bedgraph scores.npy", 2, "same")
    npz(box.path("two.npz"), [("a.npy", npy([[0, 0, 1]] * 20)), ("b.npy", npy([[0, 0, 1]] * 20))])
    box.fails("posterior -p scores.params.json --ends-out e.npy -o b.bedgraph two.npz", 2, "--ends-out", "one sequence")


def allowed(labels, model):
    """Whether a sequence of labels may be the path of the rule `posterior`."""
    first = model.first(labels[0], oracle.log_sum) > -INFINITY and model.end[labels[-1]] > -INFINITY
    return first and all(a == b or model.transition[a][b] > -INFINITY for a, b in zip(labels, labels[1:]))


def objective(labels, expected, gamma):
    bins = sum(expected.labels[t][c] for t, c in enumerate(labels))
    starts = sum(expected.starts[t][c] for t, c in enumerate(labels) if t and labels[t - 1] != c)
    return bins + gamma * starts, bins, starts


def labels_of(text, model):
    return [model.labels.index(name) for begin, end, name in segments(text) for _ in range(begin, end)]


def test_rule_posterior_is_the_best_of_all_sequences_of_labels(box):
    differ = 0
    for seed, model, scores, expected in small_models(box, 24):
        everything = [labels for labels in itertools.product(range(len(model.labels)), repeat=len(scores))
                      if allowed(labels, model)]
        viterbi = labels_of(box.ok("decode -q -p m.json x.npy").stdout, model)
        for gamma in (0, 0.7, 3):
            best = max(objective(labels, expected, gamma)[0] for labels in everything)
            for device, precision, tolerance in ENGINES:
                text = box.ok("decode -q -p m.json -x %s --precision %s --rule posterior --gamma %g --stats s.json x.npy"
                              % (device, precision, gamma)).stdout
                found = labels_of(text, model)
                what = "seed %d, gamma %g, %s %s" % (seed, gamma, device, precision)
                check(allowed(found, model), what + ": not allowed: %s" % found)
                value, bins, starts = objective(found, expected, gamma)
                check(best - value <= 20 * tolerance, "%s: %.12g, the best is %.12g" % (what, value, best))
                entry = json.loads(box.text("s.json"))["sequences"][0]
                check_close(what, [entry["expected_correct_bins"], entry["expected_correct_boundaries"]],
                            [bins, starts], 20 * tolerance)
                check(entry["segments"] == len(segments(text)) and "viterbi_score" not in entry, what)
                check(all(a[2] != b[2] for a, b in zip(segments(text), segments(text)[1:])), "equal neighbours")
                differ += found != viterbi
    check(differ > 20, "only %d paths differ from those of Viterbi" % differ)


def test_rule_posterior_ties_go_to_the_smallest_label(box):
    document = json.loads(box.text("scores.params.json"))
    document.update(max_duration=1, transition=[[0] * 3] * 3, duration={"kind": "uniform"})
    box.write("even.json", json.dumps(document))
    box.write("flat.npy", npy([[0, 0, 0]] * 9))
    check(segments(box.ok("decode -q -p even.json --rule posterior flat.npy").stdout) == [(0, 9, "low")], "not the smallest")


def test_rule_posterior_has_all_outputs(box):
    box.ok("decode -q -p scores.params.json --rule posterior --gamma 0.25 -o o.bed --table t.tsv --boundaries b.tsv "
           "--intervals 0.9 --posterior p.bedgraph --stats s.json scores.npy")
    text = box.text("o.bed")
    check("#option rule=posterior\n#option gamma=0.25\n" in text, text[:300])
    model, scores = oracle.Model(box.path("scores.params.json")), oracle.read_npy(box.path("scores.npy"))
    path = segments(text)
    rows = [line.split("\t") for line in box.text("t.tsv").splitlines() if not line.startswith("#")]
    known = oracle.edge_posteriors(scores, model)
    check(len(rows) == len(path), "%d rows" % len(rows))
    possible = []
    for (begin, end, label), row in zip(path, rows):
        c = model.labels.index(label)
        check_close("p_start and p_end", [float(row[6]), float(row[7])], [known[1][begin][c], known[2][end - 1][c]], 2e-5)
        possible.append(model.duration(end - begin, c) > -INFINITY)
    exact = iter(oracle.segment_posteriors(scores, model, [segment for segment, ok in zip(path, possible) if ok]))
    check_close("p_segment", [float(row[5]) for row in rows], [next(exact) if ok else 0 for ok in possible], 2e-5)
    check(sum(line[0] != "#" for line in box.text("b.tsv").splitlines()) == len(path) - 1, "boundaries")
    box.ok("decode -q -p scores.params.json --rule posterior --gamma 0.25 -o n.bed --score none scores.npy")
    check("#option score=none" in box.text("n.bed") and segments(box.text("n.bed")) == path, "another path")
    check(any(line.split("\t")[4] != "0" for line in text.splitlines() if line[0] != "#"), "no scores")


def test_segments_longer_than_the_model_allows_have_no_probability(box):
    document = json.loads(box.text("scores.params.json"))
    document.update(max_duration=2, duration={"kind": "table", "bias": [[-1] * 3, [0] * 3]},
                    transition=[[0] * 3] * 3)
    box.write("short.json", json.dumps(document))
    box.write("high.npy", npy([[0, 0, 3]] * 20))
    box.ok("decode -q -p short.json --rule posterior -o o.bed --table t.tsv high.npy")
    rows = [line.split("\t") for line in box.text("t.tsv").splitlines() if not line.startswith("#")]
    check(len(rows) == 1 and rows[0][5] == "0" and float(rows[0][4]) > 0.9, "%s" % rows)


def test_gamma_is_refused_where_it_means_nothing(box):
    box.fails("decode -p scores.params.json --gamma 1 -o o.bed scores.npy", 2, "--gamma", "--rule posterior")
    box.fails("decode -p scores.params.json --rule posterior --gamma -1 -o o.bed scores.npy", 2, "--gamma", "at least 0")
    box.fails("decode -p scores.params.json --rule best -o o.bed scores.npy", 2, "--rule", "viterbi")


def test_pieces_without_a_segmentation_are_left_out(box):
    rows = oracle.read_npy(box.path("scores.npy"))
    npz(box.path("two.npz"), [("a.npy", npy([[-INFINITY] * 3] + [list(row) for row in rows[:20]])), ("b.npy", npy(rows))])
    box.fails("decode -p scores.params.json --rule posterior -o o.bed two.npz", 3, "a:1-210")
    box.ok("posterior -q -p scores.params.json --infeasible skip --counts-out c.npz --stats s.json -o b.bedgraph two.npz")
    counts = read_npz(box.path("c.npz"))
    box.ok("posterior -q -p scores.params.json --counts-out d.npz -o b.bedgraph scores.npy")
    check(counts == read_npz(box.path("d.npz")), "other counts than those of the piece alone")
    check(json.loads(box.text("s.json"))["sequences"][0]["log_partition"] is None, "a piece without a segmentation")
    check("segmentation_entropy" not in json.loads(box.text("s.json"))["sequences"][0], "an entropy of nothing")
