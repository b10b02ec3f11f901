"""Every column of the tables that report --figures writes, against accounts of a few lines each (accounts.py).

The page has the same numbers: `cli: report` compares them with these tables.
"""

import collections
import hashlib
import json
import math
import random

from accounts import Evaluation, bed, by_base, hold_rows, quantile, random_segments, reliability, stretches, table
from cases_accounts import describe_accounts, enrich_accounts, flat
from harness import check
from make_inputs import npy

SEED = 4281
BIN = 2
LABELS = ["a", "b", "c", "never"]
TRACKS = ["x", "y"]


def make_model(rng):
    count = range(len(LABELS))
    score = lambda: rng.randint(-16, 16) / 8
    offsets = 3
    return {"format": "semicrf-params", "format_version": "1.0", "labels": LABELS, "max_duration": 9, "bin_size": BIN, "centering": "none",
            "transition": [["-inf" if i == j and i < 2 else score() for j in count] for i in count],
            "duration": {"kind": "table", "bias": [["-inf" if k < c else score() for c in count] for k in range(9)], "tail": [None, 0.75, None, 0.5]},
            "start": [score() for _ in count], "end": [score() for _ in count],
            "tracks": [{"name": "x", "transform": "asinh", "center": 0.5, "scale": 2}, {"name": "y"}],
            "emission": {"weights": [[score() for _ in TRACKS] for _ in count], "bias": [score() for _ in count]},
            "boundary": {"window": [-1, 1], "start_weights": [[score() for _ in range(offsets * 2)] for _ in count],
                         "end_weights": [[score() for _ in range(offsets * 2)] for _ in count]}}


class World:
    """Files of one report, and what they say by bin."""

    def __init__(self, box, rng):
        self.model = make_model(rng)
        box.write("m.json", json.dumps(self.model))
        self.bins = {"c1": rng.randint(120, 160), "c2": rng.randint(40, 60)}
        self.rows = {c: [[rng.randint(-40, 40) / 8 for _ in TRACKS] for _ in range(n)] for c, n in self.bins.items()}
        for c in self.bins:
            box.write(c + ".npy", npy(self.rows[c]))
        in_bins = random_segments(rng, LABELS[:3], self.bins, longest=14, gaps=0.1)
        self.segments = {c: [(BIN * b, BIN * e, label) for b, e, label in part] for c, part in in_bins.items()}
        self.scores = {segment: rng.randint(1, 1000) for segment in flat(self.segments)}
        box.write("s.bed", "".join("%s\t%d\t%d\t%s\t%d\n" % (segment + (score,)) for segment, score in self.scores.items()))
        self.called = {c: by_base(part, self.bins[c]) for c, part in in_bins.items()}
        self.truth = {c: [(BIN * b, BIN * e, label) for b, e, label in part]
                      for c, part in random_segments(rng, LABELS[:3], self.bins, longest=12, gaps=0.1).items()}
        box.write("t.bed", bed(self.truth))
        self.posterior = {c: [rng.choice([0.0, 1.0, round(rng.random(), 6), round(rng.random() ** 6, 6)]) for _ in range(n)] for c, n in self.bins.items()}
        head = "#semicrf 0.2.0 posterior\n#option bin-size=%d\n" % BIN
        line = lambda c, i, p: "%s\t%d\t%d\t%.6f\n" % (c, BIN * i, BIN * i + BIN, p)
        box.write("b.bedgraph", head + "".join(line(c, i, p) for c, part in self.posterior.items() for i, p in enumerate(part)))
        self.labels = {}
        for c, n in self.bins.items():
            self.labels[c] = []
            for _ in range(n):
                weights = [rng.random() ** 3 + 1e-3 for _ in LABELS]
                self.labels[c].append({label: round(w / sum(weights), 6) for label, w in zip(LABELS, weights)})
        for label in LABELS:
            box.write("l.%s.bedgraph" % label, head + "".join(line(c, i, p[label]) for c, part in self.labels.items() for i, p in enumerate(part)))
        self.annotation = [(c, begin, begin + rng.randint(1, 20)) for c in self.bins for begin in [rng.randrange(BIN * self.bins[c] - 25) for _ in range(6)]]
        box.write("n.bed", "".join("%s\t%d\t%d\n" % one for one in self.annotation))

    def touching(self):
        """(chromosome, segment before, segment) of those that touch."""
        return [(c, a, b) for c, part in self.segments.items() for a, b in zip(part, part[1:]) if a[1] == b[0]]

    def covered(self):
        return [(c, i) for c in self.called for i, label in enumerate(self.called[c]) if label is not None]

    def durations(self, label):
        """[(bins, weight)] by the duration scores alone, the tail as far as it counts."""
        c = LABELS.index(label)
        bias = [float(row[c]) for row in self.model["duration"]["bias"]]
        tail = self.model["duration"]["tail"][c]
        weights = [(k + 1, math.exp(score)) for k, score in enumerate(bias)]
        return weights + [(len(bias) + j, math.exp(bias[-1]) * tail ** j) for j in range(1, 400)] if tail else weights


def cells_of(key):
    return {name: (lambda name: lambda row: row[name])(name) for name in key}


def classes(values, row):
    """Of probabilities, those in the row's class: 20 of equal width, 1 belongs to the last."""
    return sum(min(int(p * 20 + 1e-9), 19) == round(20 * float(row["from"])) for p in values)


def probability_accounts(of, things):
    """of: {label: [P]}; the row "(all)" has those of all labels."""
    values = lambda row: of.get(row["label"]) or [p for part in of.values() for p in part]
    mean = lambda row: math.fsum(values(row)) / len(values(row))
    return dict(cells_of(("label", "from", "to")), **{things: lambda row: classes(values(row), row),
                                                      "share": lambda row: classes(values(row), row) / len(values(row)), "mean": mean})


def entropy_in_bits(p):
    return -(p * math.log2(p) + (1 - p) * math.log2(1 - p)) if 0 < p < 1 else 0.0


def label_accounts(world):
    described = describe_accounts(flat(world.segments), LABELS, longest=9, bin_size=BIN, tails={"b", "never"}, scores=world.scores)
    segments = flat(world.segments)
    columns = ("label", "segments", "bases", "share", "mean", "shortest", "q05", "median", "q95", "longest", "posterior", "at_cap", "in_tail")
    labels = {column: described[column] for column in columns}
    shares = {column: described[column] for column in ("label", "share", "q05", "median", "q95")}
    of = lambda row: [(e - b) // BIN for _, b, e, label in segments if label == row["label"]]
    inside = lambda row, k: int(row["from"]) <= BIN * k <= int(row["to"])

    def law(row):
        weights = world.durations(row["label"])
        return math.fsum(w for k, w in weights if inside(row, k)) / math.fsum(w for _, w in weights)

    number = lambda row: sum(inside(row, k) for k in of(row))
    durations = dict(cells_of(("label", "from", "to")), segments=number, model=law, share=lambda row: number(row) / len(of(row)) if of(row) else 0.0)
    follows = collections.Counter((a[2], b[2]) for _, a, b in world.touching())
    row_sum = lambda row: sum(n for (a, _), n in follows.items() if a == row["from"])
    seen = dict(cells_of(("from", "to")), segments=lambda row: follows[row["from"], row["to"]],
                share=lambda row: follows[row["from"], row["to"]] / row_sum(row) if row_sum(row) else None)
    return {"labels": labels, "shares": shares, "durations": durations, "transitions-seen": seen}


def model_accounts(world):
    model = world.model
    at = lambda row, key="label": LABELS.index(row[key])

    def allowed(row):
        return [(k, float(score[at(row)])) for k, score in enumerate(model["duration"]["bias"], 1) if score[at(row)] != "-inf"]

    def tail_mass(row):
        weights = world.durations(row["label"])
        return math.fsum(w for k, w in weights if k > 9) / math.fsum(w for _, w in weights) if model["duration"]["tail"][at(row)] else None

    def mean(row):
        weights = world.durations(row["label"])
        return BIN * math.fsum(k * w for k, w in weights) / math.fsum(w for _, w in weights)

    number = lambda value: float(value)
    labels = {"label": lambda row: row["label"], "shortest": lambda row: BIN * min(k for k, _ in allowed(row)),
              "most_likely": lambda row: BIN * max(allowed(row), key=lambda one: (one[1], -one[0]))[0], "mean": mean,
              "tail_q": lambda row: model["duration"]["tail"][at(row)], "tail_mass": tail_mass,
              "bias": lambda row: number(model["emission"]["bias"][at(row)]), "start": lambda row: number(model["start"][at(row)]),
              "end": lambda row: number(model["end"][at(row)])}
    weights = dict(cells_of(("label", "track")), weight=lambda row: number(model["emission"]["weights"][at(row)][TRACKS.index(row["track"])]))
    boundary = dict(cells_of(("label", "side", "offset", "track")), weight=lambda row: number(
        model["boundary"][row["side"] + "_weights"][at(row)][2 * (int(row["offset"]) + 1) + TRACKS.index(row["track"])]))

    def score(row):
        value = model["transition"][at(row, "from")][at(row, "to")]
        return value if value == "-inf" else float(value)

    return {"model-labels": labels, "weights": weights, "boundary-weights": boundary, "transitions": dict(cells_of(("from", "to")), score=score)}


def certainty_accounts(world, by_segments=False):
    """by_segments: no posteriors are given, so that column 5 stands for those of labels."""
    if by_segments:
        score = {(c, base // BIN): score / 1000 for (c, b, e, _), score in world.scores.items() for base in range(b, e)}
    called = lambda c, i: score[c, i] if by_segments else world.labels[c][i][world.called[c][i]]
    values = lambda row: [world.rows[c][i][TRACKS.index(row["track"])] for c, i in world.covered() if world.called[c][i] == row["label"]]
    mean = lambda row: math.fsum(values(row)) / len(values(row)) if values(row) else None
    spread = lambda row: math.sqrt(math.fsum((v - mean(row)) ** 2 for v in values(row)) / len(values(row))) if values(row) else None
    signal = dict(cells_of(("label", "track")), bins=lambda row: len(values(row)), mean=mean, deviation=spread)
    starts, bins = {}, {}
    for c, _, segment in world.touching():
        starts.setdefault(segment[2], []).append(world.posterior[c][segment[0] // BIN])
    for c, i in world.covered():
        bins.setdefault(world.called[c][i], []).append(called(c, i))
    window = lambda row: [i for c, i in world.covered() if c == row["sequence"] and int(row["begin"]) <= BIN * i < int(row["end"])]
    average = lambda row, value: math.fsum(map(value, window(row))) / len(window(row))
    along = dict(cells_of(("sequence", "begin", "end")), bins=lambda row: len(window(row)),
                 called_label=lambda row: average(row, lambda i: called(row["sequence"], i)),
                 boundary_entropy=lambda row: None if by_segments else average(row, lambda i: entropy_in_bits(world.posterior[row["sequence"]][i])))
    return {"signal": signal, "boundary-posterior": probability_accounts(starts, "starts"),
            "label-posterior": probability_accounts(bins, "bins"), "along": along}


def calibration_accounts(world):
    true = {c: by_base([(b // BIN, e // BIN, label) for b, e, label in part], world.bins[c]) for c, part in world.truth.items()}
    parts = [(c, b // BIN, e // BIN) for c, part in world.truth.items() for b, e in stretches(part)]
    evaluated = [(c, i) for c, b, e in parts for i in range(b, e)]
    begins = {(c, segment[0] // BIN) for c, part in world.truth.items() for segment in part}
    firsts = {(c, b) for c, b, _ in parts} | {(c, 0) for c in world.bins}
    starts = [(world.posterior[c][i], int((c, i) in begins)) for c, i in evaluated if (c, i) not in firsts]
    labels = [(world.labels[c][i][label], int(true[c][i] == label)) for c, i in evaluated for label in LABELS]
    pairs = {"starts of segments": starts, "labels of bins": labels}
    found = {of: reliability(part) for of, part in pairs.items()}
    in_class = lambda row: found[row["of"]]["reliability"][round(10 * float(row["lower"]))]

    def wilson(row, sign):
        n, share, z = in_class(row)["count"], in_class(row)["observed"], 1.959963984540054
        return (share + z * z / (2 * n) + sign * z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)

    curve = cells_of(("of", "lower", "upper"))
    for key in ("count", "events", "mean_predicted", "observed"):
        curve[key] = (lambda key: lambda row: in_class(row)[key])(key)
    curve.update(observed_lower=lambda row: wilson(row, -1), observed_upper=lambda row: wilson(row, 1))
    per_bin = {"brier": math.fsum((p - y) ** 2 for p, y in labels) / len(evaluated),
               "log_loss": math.fsum(-math.log(world.labels[c][i][true[c][i]]) for c, i in evaluated) / len(evaluated)}
    of_all = lambda key: lambda row: per_bin[key] if row["of"] == "labels of bins" else found[row["of"]][key]
    summary = {"of": lambda row: row["of"], "bins": lambda row: len(pairs[row["of"]]), "brier": of_all("brier"), "log_loss": of_all("log_loss")}
    for key in ("events", "observed", "mean_predicted", "expected_calibration_error"):
        summary[key] = (lambda key: lambda row: found[row["of"]][key])(key)
    return {"calibration": curve, "calibration-summary": summary}


def evaluation_accounts(world):
    names = LABELS
    e = Evaluation(world.truth, world.segments, names, 30)
    overall = {"bases": e.bases(), "boundaries, exact": e.boundaries(0, None), "boundaries, within 30": e.boundaries(30, None),
               "boundaries and label, exact": e.boundaries(0, names), "boundaries and label, within 30": e.boundaries(30, names),
               "segments, exact": e.exact(names), "segments, overlap": e.overlap(names)}
    evaluation = {"of": lambda row: row["of"]}
    for key in ("truth", "predicted", "matched", "precision", "recall", "f1"):
        evaluation[key] = (lambda key: lambda row: overall[row["of"]][key])(key)
    of = lambda counted, key: lambda row: counted([row["label"]])[key]
    labels = {"label": lambda row: row["label"], "truth": lambda row: e.bases(row["label"])["truth"],
              "precision": lambda row: e.bases(row["label"])["precision"], "recall": lambda row: e.bases(row["label"])["recall"],
              "f1": lambda row: e.bases(row["label"])["f1"], "boundary_f1": of(lambda l: e.boundaries(0, l), "f1"),
              "boundary_f1_within": of(lambda l: e.boundaries(30, l), "f1"), "segment_f1": of(e.exact, "f1"), "segment_f1_overlap": of(e.overlap, "f1")}
    shared = lambda row: e.pairs.count((row["truth"], None if row["called"] == "(none)" else row["called"]))
    confusion = dict(cells_of(("truth", "called")), bases=shared, share=lambda row: shared(row) / e.bases(row["truth"])["truth"])
    return {"evaluation": evaluation, "evaluation-labels": labels, "confusion": confusion}


def other_accounts(world, box):
    at = {c: by_base(part, BIN * world.bins[c]) for c, part in world.segments.items()}
    inside = [(c, base) for c in at for base, label in enumerate(at[c]) if label]
    annotated = sorted({(c, base) for c, begin, end in world.annotation for base in range(begin, end) if at[c][base]})
    count = lambda row, places: sum(at[c][base] == row["label"] for c, base in places)
    enrichment = enrich_accounts(("label", "annotation"), lambda row: count(row, inside), ("annotation_bases", lambda row: len(annotated)),
                                 lambda row: count(row, annotated), len(inside))
    path = lambda row: box.path(row["file"])
    files = {"role": lambda row: row["role"], "file": lambda row: row["file"], "bytes": lambda row: path(row).stat().st_size,
             "sha256": lambda row: hashlib.sha256(path(row).read_bytes()).hexdigest()}
    return {"enrichment": enrichment, "files": files}


def locus_accounts(world):
    bins = lambda row: range(int(row["start"]) // BIN, -(-int(row["end"]) // BIN))
    mean = lambda values: math.fsum(values) / len(values)

    def label(row):
        """The one that most of its bins have, any of several."""
        held = collections.Counter(world.called[row["chrom"]][i] for i in bins(row) if world.called[row["chrom"]][i] is not None)
        return row["label"] if held and held[row["label"]] == max(held.values()) else max(held, key=held.get) if held else None

    accounts = dict(cells_of(("chrom", "start", "end")), label=label, p_boundary=lambda row: max(world.posterior[row["chrom"]][i] for i in bins(row)))
    for f, track in enumerate(TRACKS):
        accounts["track:" + track] = (lambda f: lambda row: mean([world.rows[row["chrom"]][i][f] for i in bins(row)]))(f)
    for name in LABELS:
        accounts["p:" + name] = (lambda name: lambda row: mean([world.labels[row["chrom"]][i][name] for i in bins(row)]))(name)
    return accounts


def test_every_column_of_every_table(box):
    rng = random.Random(SEED)
    for round_ in range(4):
        world = World(box, rng)
        folder = "f%d" % round_  # files of an earlier run would stay
        box.ok("report -q -p m.json --segments s.bed --posterior b.bedgraph --labels-posterior l --truth t.bed --annotation n=n.bed --figures %s -o r.html c1.npy c2.npy" % folder)
        accounts = {}
        for part in (label_accounts(world), model_accounts(world), certainty_accounts(world), calibration_accounts(world), evaluation_accounts(world),
                     other_accounts(world, box)):
            accounts.update(part)
        tables = {name[:-4] for name in box.listing(folder) if name.endswith(".tsv")}
        loci = {name for name in tables if name.startswith("locus-")}
        check(len(loci) >= 3, "loci: %r" % loci)
        accounts.update({name: locus_accounts(world) for name in loci})
        check(tables == set(accounts), "tables without accounts: %s; accounts without a table: %s" % (sorted(tables - set(accounts)), sorted(set(accounts) - tables)))
        for name in sorted(tables):
            columns, rows = table(box.text("%s/%s.tsv" % (folder, name)))
            check(rows, "%s is empty" % name)
            hold_rows(name, columns, rows, accounts[name], 2e-6)
        for name, key, wanted in (("labels", "label", LABELS), ("shares", "label", LABELS), ("model-labels", "label", LABELS), ("evaluation-labels", "label", LABELS[:3])):
            rows = table(box.text("%s/%s.tsv" % (folder, name)))[1]
            check([row[key] for row in rows] == wanted, "rows of %s: %r" % (name, [row[key] for row in rows]))
        box.ok("report -q -p m.json --segments s.bed --figures g%d -o r.html c1.npy c2.npy" % round_)
        for name in ("signal", "label-posterior", "along"):
            columns, rows = table(box.text("g%d/%s.tsv" % (round_, name)))
            hold_rows(name + " by column 5", columns, rows, certainty_accounts(world, True)[name], 2e-6)
        rows = table(box.text(folder + "/along.tsv"))[1]
        check(sum(int(row["bins"]) for row in rows) == len(world.covered()), "along: bins")
