"""eval --against: entropy, cross-entropy and divergence against an enumeration of all segmentations."""

import json
import math
import random

import make_inputs
from cases_eval import demo_tracks
from harness import check

INFINITY = float("inf")
EXACT = "-x reference --precision double"
ENGINES = ((EXACT, 1e-10), ("-x cpu --precision double", 1e-9), ("-x cpu --precision float", 1e-4))


def against(box, arguments):
    return json.loads(box.ok("eval --json - " + arguments).stdout)["against"]


def number(value):
    return -INFINITY if value == "-inf" else value


def log_sum(values):
    top = max(values)
    return top if top == -INFINITY else top + math.log(sum(math.exp(value - top) for value in values))


class Scored:
    """The scores of a model of the parameter format on rows of tracks, or of label scores named `columns`."""

    def __init__(self, parameters, rows, columns):
        self.parameters, self.labels, self.length = parameters, parameters["labels"], len(rows)
        position = {name: i for i, name in enumerate(columns)}
        if "emission" in parameters:
            order = [position[track["name"]] for track in parameters["tracks"]]
            self.features = [[row[i] for i in order] for row in rows]
            emission = parameters["emission"]
            scores = [[emission["bias"][c] + sum(w * x for w, x in zip(emission["weights"][c], row))
                       for c in range(len(self.labels))] for row in self.features]
        else:
            scores = [[row[position[name]] for name in self.labels] for row in rows]
        kind = parameters.get("centering", "mean")
        means = [sum(column) / len(rows) if kind == "mean" else 0 for column in zip(*scores)]
        self.scores = [[x - mean - (max(row) if kind == "position-max" else 0) for x, mean in zip(row, means)]
                       for row in scores]

    def boundary(self, which, t, c):
        section = self.parameters.get("boundary")
        if not section:
            return 0
        total, weights = section[which + "_bias"][c], section[which + "_weights"][c]
        first, last = section["window"]
        width = len(self.features[0])
        for offset in range(first, last + 1):
            if 0 <= t + offset < self.length:
                total += sum(w * x for w, x in zip(weights[(offset - first) * width:], self.features[t + offset]))
        return total

    def duration(self, k, c):
        duration = self.parameters["duration"]
        bias = duration["bias"]
        if k <= len(bias):
            return number(bias[k - 1][c])
        tail = (duration.get("tail") or [None] * len(self.labels))[c]
        return number(bias[-1][c]) + (k - len(bias)) * math.log(tail) if tail else -INFINITY

    def score(self, path):
        """Of [(begin, end, label name)]; -inf where the model forbids it."""
        total, before = 0.0, None
        for begin, end, name in path:
            if name not in self.labels:
                return -INFINITY
            c = self.labels.index(name)
            transition = self.parameters["transition"]
            if before is not None:
                total += number(transition[before][c])
            elif self.parameters["initial"] == "uniform":
                total += log_sum([number(row[c]) for row in transition])
            total += self.duration(end - begin, c) + sum(row[c] for row in self.scores[begin:end])
            total += self.boundary("start", begin, c) + self.boundary("end", end - 1, c)
            total += number(self.parameters["start"][c]) if begin == 0 else 0
            total += number(self.parameters["end"][c]) if end == self.length else 0
            before = c
        return total


def all_paths(length, labels, begin=0):
    if begin == length:
        yield []
        return
    for end in range(begin + 1, length + 1):
        for rest in all_paths(length, labels, end):
            for label in labels:
                yield [(begin, end, label)] + rest


def expected(first, second):
    """(H(P), H(P,Q), log Z_P) by enumeration; the cross-entropy may be infinite. None: P has no segmentation."""
    labels = first.labels + [name for name in second.labels if name not in first.labels]
    pairs = [(first.score(path), second.score(path)) for path in all_paths(first.length, labels)]
    z_p, z_q = (log_sum([pair[i] for pair in pairs]) for i in (0, 1))
    if z_p == -INFINITY:
        return None
    entropy = cross = 0.0
    for p, q in pairs:
        if p == -INFINITY:
            continue
        entropy -= math.exp(p - z_p) * (p - z_p)
        cross = INFINITY if q == -INFINITY else cross - math.exp(p - z_p) * (q - z_q)
    return entropy, cross, z_p


def random_model(dice, labels, tracks, longest, forbid):
    """`tracks`: empty for label scores."""
    count = len(labels)

    def entry():
        return "-inf" if dice.random() < forbid else round(dice.gauss(0, 1), 3)

    model = {"format": "semicrf-params", "format_version": "1.0", "labels": labels, "max_duration": longest, "bin_size": 10,
             "centering": dice.choice(["mean", "none", "position-max"]), "initial": dice.choice(["uniform", "none"]),
             "transition": [[entry() for _ in labels] for _ in labels],
             "duration": {"kind": "table", "bias": [[round(dice.gauss(0, 1), 3) if k == longest - 1 else entry() for _ in labels]
                                                    for k in range(longest)]},
             "start": [entry() for _ in labels], "end": [entry() for _ in labels]}
    if dice.random() < 0.5:
        model["duration"]["tail"] = [dice.choice([None, 0.4, 0.9]) for _ in labels]
    if tracks:
        model["tracks"] = [{"name": name} for name in tracks]
        model["emission"] = {"weights": [[round(dice.gauss(0, 1), 2) for _ in tracks] for _ in labels],
                             "bias": [round(dice.gauss(0, 1), 2) for _ in labels]}
        if dice.random() < 0.5:
            width = 2 * len(tracks)
            model["boundary"] = {"window": [-1, 0], "start_weights": [[round(dice.gauss(0, 1), 2) for _ in range(width)] for _ in labels],
                                 "end_weights": [[round(dice.gauss(0, 1), 2) for _ in range(width)] for _ in labels],
                                 "start_bias": [0.25] * count, "end_bias": [-0.5] * count}
    return model


def compare(found, wanted, tolerance, what):
    entropy, cross, log_partition = wanted
    limit = tolerance * max(1, abs(entropy), 0 if cross == INFINITY else abs(cross))
    check(abs(found["segmentation_entropy"] - entropy) <= limit, "%s: entropy %r, expected %r" % (what, found["segmentation_entropy"], entropy))
    check(abs(found["log_partition"] - log_partition) <= tolerance * max(1, abs(log_partition)), "%s: log Z" % what)
    if cross == INFINITY:
        check(found["cross_entropy"] is None and found["kl_divergence"] is None and found["infinite"], "%s: not infinite: %s" % (what, found))
        return
    check("infinite" not in found, "%s: infinite, expected %r: %s" % (what, cross, found))
    check(abs(found["cross_entropy"] - cross) <= limit, "%s: cross-entropy %r, expected %r" % (what, found["cross_entropy"], cross))
    check(abs(found["kl_divergence"] - (cross - entropy)) <= 2 * limit, "%s: divergence" % what)


def check_seed(box, seed, tracks):
    dice = random.Random(seed)
    labels = list("abc")[:dice.randrange(2, 4)]
    other = labels[:]
    dice.shuffle(other)
    if dice.random() < 0.3:
        other = other[:-1]
    if tracks and dice.random() < 0.3:
        other.insert(dice.randrange(len(other) + 1), "z")
    length = dice.randrange(1, 6) if len(set(labels + other)) > 3 else dice.randrange(1, 7)
    columns = ["t1", "t2"] if tracks else labels
    rows = [[dice.randrange(-16, 17) / 8 for _ in columns] for _ in range(length)]
    forbid = dice.choice([0, 0, 0.1])
    models = []
    for name, of, own, durations in (("a.json", labels, columns, (1, 3)), ("b.json", other, dice.sample(columns, dice.randrange(1, 3)), (1, 7))):
        models.append(random_model(dice, of, own if tracks else [], dice.randint(*durations), forbid))
        box.write(name, json.dumps(models[-1]))
    box.write("x.npy", make_inputs.npy(rows))
    wanted = expected(*(Scored(model, rows, columns) for model in models))
    if wanted is None:
        return None
    for options, tolerance in ENGINES:
        found = against(box, "-p a.json --against b.json x.npy " + options)
        compare(found, wanted, tolerance, "seed %d, %s" % (seed, options))
        check(found["sequences"][0]["cross_entropy"] == found["cross_entropy"] and found["positions"] == length, "sequences")
    return wanted[1]


def test_label_scores_against_enumeration(box):
    results = [check_seed(box, seed, False) for seed in range(60)]
    check(results.count(INFINITY) > 5 and sum(value is not None and value < INFINITY for value in results) > 20, "%s" % results)


def test_tracks_against_enumeration(box):
    results = [check_seed(box, 1000 + seed, True) for seed in range(60)]
    check(results.count(INFINITY) > 5 and sum(value is not None and value < INFINITY for value in results) > 20, "%s" % results)


def two_labels(box, name, **changes):
    document = {"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b"], "max_duration": 4, "bin_size": 10,
                "centering": "none", "initial": "none", "transition": [[0, 0], [0, 0]], "duration": {"kind": "uniform"}}
    document.update(changes)
    return box.write(name, json.dumps(document))


def test_the_first_reason_is_given_with_its_place(box):
    two_labels(box, "a.json")
    box.write("s.npy", make_inputs.npy([[0.5, -0.25]] * 30))
    cases = ((dict(transition=[[0, "-inf"], [0, 0]]), '"b" cannot follow "a", s:11-20'),
             (dict(duration={"kind": "table", "bias": [[0, 0], [0, 0], ["-inf", 0], [0, 0]]}), 'a segment of "a" cannot have 3 bins, somewhere in s:1-300'),
             (dict(max_duration=2), 'a segment of "a" cannot have 3 bins'),
             (dict(start=[0, "-inf"]), 'no segment of "b" may start, s:1-10'),
             (dict(end=["-inf", 0]), 'no segment of "a" may end, s:291-300'),
             (dict(initial="uniform", transition=[["-inf", 0], ["-inf", 0]]), 'no transition leads to "a", so that it cannot be first, s:1-10'),
             (dict(labels=["a", "c"], x_note=1), "has no label \"c\""))
    for changes, reason in cases[:-1]:
        two_labels(box, "b.json", **changes)
        for options, _ in ENGINES:
            found = against(box, "-p a.json --against b.json s.npy " + options)
            check(found["cross_entropy"] is None and reason in found["infinite"], "%s: %s" % (changes, found))
        text = box.ok("eval -p a.json --against b.json s.npy").stdout
        check("  inf  inf  inf" in " ".join(text.split("\n")[2].split()).replace(" ", "  ") and "s: infinite: " in text, text)
    # A label less: infinite that way, finite the other way round.
    two_labels(box, "b.json", labels=["a"], transition=[[0]])
    found = against(box, "-p a.json --against b.json s.npy")
    check('b.json has no label "b", s:1-10' == found["infinite"], "%s" % found)
    box.write("one.npy", make_inputs.npy([[0.5]] * 30))
    # With a tail that the other lacks.
    two_labels(box, "t.json", duration={"kind": "uniform", "tail": [0.5, None]})
    check('"a" cannot have more than 4 bins' in against(box, "-p t.json --against a.json s.npy")["infinite"], "no tail")
    check("infinite" not in against(box, "-p a.json --against t.json s.npy"), "a tail more does not hurt")
    # What P forbids Q may forbid too.
    two_labels(box, "c.json", transition=[["-inf", 0], [0, "-inf"]])
    check(against(box, "-p c.json --against c.json s.npy")["kl_divergence"] < 1e-9, "a model against itself")
    # A score of -inf.
    box.write("n.npy", make_inputs.npy([[0.5, -0.25]] * 10 + [[-INFINITY, 0]] + [[0.5, -0.25]] * 10))
    check(against(box, "-p a.json --against c.json n.npy")["infinite"], "transitions")
    check(against(box, "-p c.json --against a.json n.npy")["kl_divergence"] > 0, "finite")


def random_sequence(box, name, length, labels, seed):
    dice = random.Random(seed)
    box.write(name, make_inputs.npy([[dice.gauss(0, 1) for _ in range(labels)] for _ in range(length)]))


def large_model(box, name, labels, longest, seed):
    dice = random.Random(seed)
    document = {"format": "semicrf-params", "format_version": "1.0", "labels": ["l%d" % c for c in range(labels)], "max_duration": longest,
                "transition": [[dice.gauss(0, 1) for _ in range(labels)] for _ in range(labels)],
                "duration": {"kind": "table", "bias": [[dice.gauss(0, 1) for _ in range(labels)] for _ in range(longest)]}}
    return box.write(name, json.dumps(document))


def test_a_large_model(box):
    random_sequence(box, "s.npy", 12000, 24, 5)
    large_model(box, "a.json", 24, 100, 1)
    large_model(box, "b.json", 24, 100, 2)
    exact = against(box, "-p a.json --against b.json s.npy " + EXACT)
    for options, tolerance in (("-x cpu --precision double", 1e-9), ("-x cpu --precision float", 1e-4)):
        found = against(box, "-p a.json --against b.json s.npy " + options)
        for key in ("segmentation_entropy", "cross_entropy", "kl_divergence"):
            check(abs(found[key] - exact[key]) <= tolerance * exact[key], "%s: %r, expected %r" % (key, found[key], exact[key]))
        same = against(box, "-p a.json --against a.json s.npy " + options)
        check(abs(same["cross_entropy"] - same["segmentation_entropy"]) <= 1e-6 * same["segmentation_entropy"], "%s" % same)


def test_windows_and_threads_change_nothing(box):
    random_sequence(box, "s.npy", 120000, 4, 6)
    large_model(box, "a.json", 4, 30, 3)
    large_model(box, "b.json", 4, 50, 4)
    common = "eval -q -p a.json --against b.json --json - s.npy -x cpu"
    texts = {box.ok(common + options).stdout
             for options in ("", " -t 3", " --max-memory 48M", " --max-memory 48M -t 3")}
    check(len(texts) == 1, "threads or windows change the numbers")
    box.fails(common + " --max-memory 33M", 6, "--max-memory")


def test_regions_and_sequences(box):
    tracks = " ".join(demo_tracks(box))
    document = json.loads(box.text("demo.params.json"))
    document["max_duration"] += 7
    if "bias" in document["duration"]:
        document["duration"]["bias"] += [document["duration"]["bias"][-1]] * 7
    document["transition"][0][1] = -3
    box.write("other.json", json.dumps(document))
    box.write("r.bed", "III\t90360\t93360\nIII\t96360\t99360\nIII\t98360\t99960\n")
    whole = against(box, "-p demo.params.json --against other.json %s" % tracks)
    check([one["name"] for one in whole["sequences"]] == ["III"] and "regions" not in whole, "%s" % whole)
    found = against(box, "-p demo.params.json --against other.json -L r.bed %s" % tracks)
    names = [one["name"] for one in found["regions"]]
    check(names == ["III:90361-93360", "III:96361-99960"], "%s" % names)
    for region in found["regions"]:
        alone = against(box, "-p demo.params.json --against other.json -r %s %s" % (region["name"], tracks))
        check(alone["cross_entropy"] == region["cross_entropy"] and alone["segmentation_entropy"] == region["segmentation_entropy"], "%s" % region)
    total = sum(one["kl_divergence"] for one in found["regions"])
    check(abs(total - found["kl_divergence"]) <= 1e-9 * max(1, total) and found["pieces"] == 2, "%s" % found)
    text = box.ok("eval -p demo.params.json --against other.json -L r.bed %s" % tracks).stdout
    check("III:96361-99960" in text and "KL(P||Q)" in text, text)
    # Beside a truth and a prediction.
    box.ok("decode -p demo.params.json -o out.bed " + tracks)
    both = json.loads(box.ok("eval --json - --truth genes.bed out.bed -p demo.params.json --against other.json %s" % tracks).stdout)
    check(both["against"]["cross_entropy"] == whole["cross_entropy"] and "model" in both and "overall" in both, "%s" % list(both))


def test_missing_bins_are_left_out_for_both(box):
    """A bin that one model skips is skipped for both: the pieces are the same."""
    rows = [[0.5, -1.0]] * 20
    rows[8] = [float("nan"), 1.0]
    box.write("x.npy", make_inputs.npy(rows))
    for name, missing in (("a.json", "zero"), ("b.json", "skip")):
        make_inputs.track_parameters(box, name, tracks=("u", "v"))
        document = json.loads(box.text(name))
        for track in document["tracks"]:
            track["missing"] = missing
        box.write(name, json.dumps(document))
    for first, second in (("a.json", "b.json"), ("b.json", "a.json")):
        found = against(box, "-p %s --against %s x.npy" % (first, second))
        check((found["positions"], found["pieces"]) == (19, 2) and found["kl_divergence"] < 1e-6, "%s" % found)


def test_bad_input(box):
    two_labels(box, "a.json")
    box.write("s.npy", make_inputs.npy([[0.5, -0.25]] * 30))
    two_labels(box, "b.json", bin_size=20)
    box.fails("eval -p a.json --against b.json s.npy", 3, "b.json:/bin_size", "is 20, but a.json has 10")
    two_labels(box, "b.json", labels=["a", "b", "c"], transition=[[0] * 3] * 3)
    box.fails("eval -p a.json --against b.json s.npy", 3, "b.json:/labels", '"c"', "a.json")
    make_inputs.track_parameters(box, "b.json", labels=("a", "b"))
    box.fails("eval -p a.json --against b.json s.npy", 3, "b.json:/emission", "tracks", "label scores")
    box.write("b.json", "{}")
    box.fails("eval -p a.json --against b.json s.npy", 3, "b.json")
    box.fails("eval -p a.json --against none.json s.npy", 4, "none.json")
    two_labels(box, "b.json")
    box.fails("eval --against b.json s.npy", 2, "-p and TRACK")
    box.fails("eval -p a.json --against b.json", 2, "-p and TRACK")
    box.write("p.bedgraph", "#option bin-size=10\ns\t0\t300\t0.5\n")
    box.fails("eval -p a.json --against b.json --posterior p.bedgraph s.npy", 2, "--truth")
    box.fails("eval -p a.json --against b.json s.npy --json b.json", 2, "b.json")
    two_labels(box, "c.json", transition=[["-inf", "-inf"], ["-inf", "-inf"]])
    box.fails("eval -p c.json --against a.json s.npy", 3, "no segmentation of 30 bins", "c.json")
    check("--against" in box.ok("eval --help-all").stdout, "--help")
