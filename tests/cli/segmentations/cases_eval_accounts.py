"""Every member of the document of eval, and of its documents for MultiQC, against accounts of a few lines each (accounts.py)."""

import hashlib
import json
import math
import random

import oracle
from accounts import Evaluation, bed, by_base, hold_document, random_segments, ratio, reliability, stretches
from cases_accounts import random_steps, write_posteriors
from harness import check
from make_inputs import npy

SEED = 4271
IS_TEXT = lambda value: isinstance(value, str) and value != ""


def evaluate(box, arguments):
    box.ok("eval -q --json e.json -o e.txt " + arguments)
    return json.loads(box.text("e.json"))


def codes(*expected):
    return lambda warnings: {one["code"] for one in warnings} == set(expected) and all(
        set(one) == {"code", "message"} and IS_TEXT(one["message"]) for one in warnings)


def lines_of(segmentation):
    return sum(len(segments) for segments in segmentation.values())


def names_in_order(*segmentations):
    return list(dict.fromkeys(label for segmentation in segmentations for segments in segmentation.values() for _, _, label in segments))


def where(truth, predicted=None):
    """The members about what is evaluated."""
    parts = {name: stretches(segments) for name, segments in truth.items()}
    bases = {name: sum(e - b for b, e in part) for name, part in parts.items()}
    document = {"format": "semicrf-eval", "format_version": "1.2", "version": IS_TEXT, "truth": {"file": "t.bed", "segments": lines_of(truth)},
                "merge_adjacent": False, "bases": sum(bases.values()), "stretches": sum(map(len, parts.values())),
                "chromosomes": [{"name": name, "bases": bases[name]} for name in truth]}
    if predicted is not None:
        document["predicted"] = {"file": "p.bed", "segments": lines_of(predicted)}
    return document


def comparison(truth, predicted, labels, tolerance):
    """All members of a prediction with its truth."""
    e = Evaluation(truth, predicted, labels, tolerance)
    document = where(truth, predicted)
    missing = {name: sum(p is None for _, p in pairs) for name, pairs in e.pairs_on.items()}
    for entry in document["chromosomes"]:
        entry["missing"] = missing[entry["name"]]
    every = e.bases()
    document.update({
        "tolerance": tolerance, "missing": sum(missing.values()),
        "overall": {
            "bases": dict(every, accuracy=every["recall"], accuracy_predicted=every["precision"], macro_f1=e.macro_f1(),
                          adjusted_rand_index=e.rand_index()),
            "boundaries": {"exact": e.boundaries(0, None), "within": e.boundaries(tolerance, None),
                           "label_exact": e.boundaries(0, labels), "label_within": e.boundaries(tolerance, labels)},
            "segments": {"exact": e.exact(labels), "overlap": e.overlap(labels)},
            "label_sequence": {"edit_distance": e.edits, "truth": e.exact(labels)["truth"], "predicted": e.exact(labels)["predicted"],
                               "error_rate": ratio(e.edits, e.exact(labels)["truth"])}},
        "labels": [{"name": label, "bases": dict(e.bases(label), accuracy=e.accuracy(label)),
                    "boundaries": {"exact": e.boundaries(0, [label]), "within": e.boundaries(tolerance, [label])},
                    "segments": {"exact": e.exact([label]), "overlap": e.overlap([label])}} for label in labels],
        "confusion": {"truth": labels, "predicted": labels + [None],
                      "bases": [[e.pairs.count((t, p)) for p in labels + [None]] for t in labels]}})
    return document


def test_comparison(box):
    rng = random.Random(SEED)
    box.path("m").mkdir()
    for round_ in range(12):
        sizes = {"c1": rng.randint(30, 200), "c2": rng.randint(5, 60)}
        truth = random_segments(rng, ["a", "b", "c"][:rng.randint(1, 3)], sizes, gaps=rng.choice([0, 0.2]))
        if not truth:
            continue
        predicted = random_segments(rng, ["b", "a", "d"], {name: sizes[name] for name in truth}, gaps=rng.choice([0, 0.3]))
        if not predicted:
            continue
        box.write("t.bed", bed(truth))
        box.write("p.bed", bed(predicted))
        tolerance = rng.choice([0, 2, 7])
        labels = names_in_order(truth, predicted)
        expected = comparison(truth, predicted, labels, tolerance)
        found = evaluate(box, "--truth t.bed p.bed --tolerance %d --multiqc m --multiqc-name s" % tolerance)
        expected["warnings"] = lambda warnings: codes(*[one["code"] for one in warnings])(warnings) and (
            ("not-predicted" in {one["code"] for one in warnings}) == (found["missing"] > 0))
        hold_document(found, expected)
        overall = expected["overall"]
        percent = lambda value: value if value is None else 100.0 * value
        row = {"accuracy": percent(overall["bases"]["accuracy"]), "macro_f1": overall["bases"]["macro_f1"],
               "boundary_f1": overall["boundaries"]["within"]["f1"], "segment_f1": overall["segments"]["overlap"]["f1"],
               "adjusted_rand_index": overall["bases"]["adjusted_rand_index"]}
        hold_document(json.loads(box.text("m/s.semicrf_evaluation_mqc.json"))["data"], {"s": {key: value for key, value in row.items() if value is not None}})
        by_label = {entry["name"]: entry["bases"]["f1"] for entry in expected["labels"]}
        hold_document(json.loads(box.text("m/s.semicrf_label_f1_mqc.json"))["data"], {"s": {key: value for key, value in by_label.items() if value is not None}})


def test_matched_labels(box):
    rng = random.Random(SEED + 1)
    for _ in range(6):
        truth = random_segments(rng, ["a", "b", "c"], {"c1": 120})
        predicted = random_segments(rng, ["1", "2"], {"c1": 120})
        box.write("t.bed", bed(truth))
        box.write("p.bed", bed(predicted))
        box.write("map", "1\tb\n2\ta\n")
        renamed = {c: [(b, e, {"1": "b", "2": "a"}[label]) for b, e, label in segments] for c, segments in predicted.items()}
        pairs = list(zip(by_base(truth["c1"], 120), by_base(predicted["c1"], 120)))
        expected = comparison(truth, renamed, names_in_order(truth), 30)
        expected["warnings"] = []
        others = [{"predicted": None, "truth": "c", "bases": 0}]
        expected["match"] = {"map": "map", "labels": [{"predicted": p, "truth": t, "bases": pairs.count((t, p))} for p, t in (("1", "b"), ("2", "a"))] + others}
        found = evaluate(box, "--truth t.bed p.bed --label-map map")
        found["match"]["labels"].sort(key=lambda entry: entry["predicted"] or "9")
        hold_document(found, expected)


# Under a model.

def random_model(rng, labels, longest, forbidden=0.0):
    count = range(len(labels))
    score = lambda: rng.randint(-16, 16) / 8
    return {"format": "semicrf-params", "format_version": "1.0", "labels": labels, "max_duration": longest, "bin_size": 2, "centering": "none",
            "initial": rng.choice(["uniform", "none"]), "transition": [["-inf" if i != j and rng.random() < forbidden else score() for j in count] for i in count],
            "duration": {"kind": "table", "bias": [[score() for _ in count] for _ in range(longest)], "tail": [0.5 if c == 0 else None for c in count]},
            "start": [score() for _ in count], "end": [score() for _ in count]}


def binned(segments, bins):
    """Segments of 2-base bins: each bin is that of the segment with most of it, the left one of two; [(begin, end, label)] and moved, lost."""
    owners = []
    for i in range(bins):
        shares = [(min(e, 2 * i + 2) - max(b, 2 * i), -n) for n, (b, e, _) in enumerate(segments)]
        most = max(shares)
        owners.append(-most[1] if most[0] > 0 else None)
    runs = []
    for i, owner in enumerate(owners):
        if owner is None:
            continue
        if runs and runs[-1][3] == owner and runs[-1][1] == i:
            runs[-1][1] = i + 1
        else:
            runs.append([i, i + 1, segments[owner][2], owner])
    moved = sum(b % 2 == 1 or e % 2 == 1 for b, e, _ in segments)
    return [tuple(run[:3]) for run in runs], moved, len(segments) - len({run[3] for run in runs})


def path_account(model, scores, segments, log_z):
    runs, moved, lost = binned(segments, len(scores))
    account = {"segments": len(runs), "moved": moved, "lost": lost, "viterbi_score": None, "log_weight": None, "log_likelihood": None,
               "log_likelihood_per_position": None}
    whole = runs and runs[0][0] == 0 and runs[-1][1] == len(scores) and all(a[1] == b[0] for a, b in zip(runs, runs[1:]))
    known = whole and all(label in model.labels for _, _, label in runs)
    score = oracle.path_score(scores, model, runs) if known else -math.inf
    if score == -math.inf:
        return dict(account, impossible=IS_TEXT)
    first = model.labels.index(runs[0][2])
    weight = score - model.first(first, max) + model.first(first, oracle.log_sum)
    account.update(viterbi_score=score, log_weight=weight, log_likelihood=weight - log_z, log_likelihood_per_position=(weight - log_z) / len(scores))
    return account


def entropies(model, scores):
    log_z, starts, ends = oracle.edge_posteriors(scores, model)
    boundary = [sum(row) for row in starts]
    share = [p / sum(boundary) for p in boundary]
    labels, inside = [], [0.0] * len(model.labels)
    for start, end in zip(starts, ends):
        inside = [p + s for p, s in zip(inside, start)]
        labels.append(list(inside))
        inside = [p - e for p, e in zip(inside, end)]
    entropy = lambda row: -sum(p * math.log(p) for p in row if p > 1e-15)
    return log_z, entropy(share), sum(map(entropy, labels)) / len(scores)


def sums_of(paths):
    """Of several sequences; impossible where one is."""
    total = {key: sum(path[key] for path in paths) for key in ("segments", "moved", "lost")}
    keys = ("viterbi_score", "log_weight", "log_likelihood", "log_likelihood_per_position")
    if any("impossible" in path for path in paths):
        return dict(total, impossible=IS_TEXT, **dict.fromkeys(keys))
    return dict(total, **{key: sum(path[key] for path in paths) for key in keys[:3]})


def test_scores_under_a_model(box):
    rng = random.Random(SEED + 2)
    impossible = 0
    for round_ in range(14):
        labels = ["a", "b", "c"][:rng.randint(2, 3)]
        box.write("m.json", json.dumps(random_model(rng, labels, 5, forbidden=0.2 if round_ % 3 == 0 else 0)))
        model = oracle.Model(box.path("m.json"))
        bins = {"c1": rng.randint(8, 30), "c2": rng.randint(3, 9)}
        scores = {name: [[rng.randint(-24, 24) / 8 for _ in labels] for _ in range(length)] for name, length in bins.items()}
        for name in bins:
            box.write(name + ".npy", npy(scores[name]))
        bases = {name: 2 * length for name, length in bins.items()}
        truth, predicted = (random_segments(rng, labels + (["z"] if round_ % 5 == 4 else []), bases, longest=7) for _ in range(2))
        box.write("t.bed", bed(truth))
        box.write("p.bed", bed(predicted))
        every = labels + [label for label in names_in_order(truth, predicted) if label not in labels]
        expected = comparison(truth, predicted, every, 3)
        sequences = []
        for name in bins:
            try:
                log_z, h_boundary, h_position = entropies(model, scores[name])
            except (ValueError, ZeroDivisionError):
                break
            sequences.append({"name": name, "positions": bins[name], "pieces": 1, "log_partition": log_z, "boundary_entropy": h_boundary,
                              "effective_boundaries": math.exp(h_boundary), "position_entropy": h_position,
                              "truth": path_account(model, scores[name], truth[name], log_z),
                              "predicted": path_account(model, scores[name], predicted[name], log_z)})
        if len(sequences) < 2:
            continue
        positions = sum(bins.values())
        entropy = sum(one["boundary_entropy"] for one in sequences) / 2
        total = {"params": "m.json", "params_sha256": hashlib.sha256(box.path("m.json").read_bytes()).hexdigest(),
                 "device": lambda text: IS_TEXT(text) and "2 thread" not in text, "bin_size": 2, "positions": positions, "pieces": 2,
                 "log_partition": sum(one["log_partition"] for one in sequences), "boundary_entropy": entropy,
                 "effective_boundaries": math.exp(entropy), "position_entropy": sum(one["position_entropy"] * one["positions"] for one in sequences) / positions,
                 "sequences": sequences}
        for side in ("truth", "predicted"):
            total[side] = sums_of([one[side] for one in sequences])
            impossible += "impossible" in total[side]
            if "impossible" not in total[side]:
                total[side]["log_likelihood_per_position"] = total[side]["log_likelihood"] / positions
        found = evaluate(box, "--truth t.bed p.bed --tolerance 3 -p m.json c1.npy c2.npy --precision double -t 2")
        expected.update(model=total, bin_size=2, warnings=lambda warnings: True)
        hold_document(found, expected, 1e-7)
    check(impossible > 2, "no segmentation was impossible")


# Calibration.

def test_calibration(box):
    rng = random.Random(SEED + 3)
    for round_ in range(8):
        labels = ["a", "b", "c"]
        sizes = {"c1": 160, "c2": 60}
        truth = random_segments(rng, labels + ["d"][:round_ % 2], sizes, gaps=0.15)
        box.write("t.bed", bed(truth))
        true = {c: by_base(segments, 200) for c, segments in truth.items()}
        parts = [(c, begin, end) for c, segments in truth.items() for begin, end in stretches(segments)]
        evaluated = [(c, base) for c, begin, end in parts for base in range(begin, end)]
        firsts = {(c, begin) for c, begin, _ in parts}
        starts = {(c, segment[0]) for c, segments in truth.items() for segment in segments}
        # The boundary posterior, with a hole: (chromosome, base): P.
        boundary, lines = {}, []
        for c, bases in sizes.items():
            hole = range(bases // 3, bases // 3 + rng.randint(0, 20))
            for base in range(bases):
                if base in hole:
                    continue
                boundary[c, base] = rng.choice([0.0, 1.0, round(rng.random(), 6), round(rng.random() ** 8, 6)])
                lines.append("%s\t%d\t%d\t%.6f\n" % (c, base, base + 1, boundary[c, base]))
        head = "#semicrf 0.2.0 posterior\n#option bin-size=1\n"
        box.write("b.bedgraph", head + "".join(lines))
        counted = [place for place in evaluated if place in boundary and place not in firsts and (place[0], place[1] - 1) in boundary]
        at, files = random_steps(rng, labels, sizes)
        write_posteriors(box, "l", files)
        pairs = {label: [(at[c][base][label], int(true[c][base] == label)) for c, base in evaluated] for label in labels}
        each = {label: reliability(pairs[label]) for label in labels}
        pooled = reliability([pair for label in labels for pair in pairs[label]])
        without = sum(true[c][base] not in labels for c, base in evaluated)
        brier = math.fsum((p - y) ** 2 for label in labels for p, y in pairs[label]) + without
        loss = math.fsum(-math.log(max(at[c][base].get(true[c][base], 0), 5e-7)) for c, base in evaluated)
        # Boundaries with and without intervals.
        rows = []
        for c, bases in sizes.items():
            for position in sorted(rng.sample(range(1, bases - 1), 12)):
                low, high = max(0, position - rng.randint(0, 4)), min(bases - 1, position + rng.randint(0, 4))
                rows.append((c, position, rng.choice(labels)) + ((low, high) if rng.random() < 0.8 else (None, None)))
        dot = lambda value: "." if value is None else str(value)
        box.write("i.tsv", "#option bin-size=1\n#option intervals=0.9\n#chrom\tposition\tfrom\tto\tp\tlower\tupper\n" + "".join(
            "%s\t%d\tx\t%s\t0.5\t%s\t%s\n" % (c, position, label, dot(low), dot(high)) for c, position, label, low, high in rows))
        in_one = lambda c, low, high: any(c == one and begin <= low and high < end for one, begin, end in parts)
        judged = [row for row in rows if in_one(row[0], *(row[3:] if row[3] is not None else (row[1], row[1])))]
        with_interval = [row for row in judged if row[3] is not None]
        holds = lambda c, label, low, high: any((c, base) in starts and true[c][base] == label for base in range(low, high + 1))
        holding = sum(holds(c, label, low, high) for c, _, label, low, high in with_interval)
        wanted = [place for place in starts if place not in firsts]
        inside = sum(any(row[0] == c and row[2] == true[c][base] and row[3] is not None and row[3] <= base <= row[4] for row in rows) for c, base in wanted)
        expected = dict(where(truth), bin_size=1, warnings=codes(*(
            ["no-posterior"] if any(place not in boundary for place in evaluated) else []) + (["label-without-posterior"] if without else [])),
            calibration={
                "bin_size": 1,
                "boundaries": dict(reliability([(boundary[place], int(place in starts)) for place in counted]), file="b.bedgraph",
                                   missing=sum(place not in boundary for place in evaluated)),
                "labels": {"file": "l", "missing": 0, "bins": len(evaluated), "without_posterior": without, "brier": brier / len(evaluated),
                           "log_loss": loss / len(evaluated), "expected_calibration_error": pooled["expected_calibration_error"],
                           "reliability": pooled["reliability"], "labels": [dict(each[label], name=label) for label in labels]},
                "intervals": {"file": "i.tsv", "level": 0.9, "boundaries": len(judged), "intervals": len(with_interval), "holding": holding,
                              "holding_share": ratio(holding, len(with_interval)), "truth": len(wanted), "inside": inside,
                              "inside_share": ratio(inside, len(wanted))}})
        found = evaluate(box, "--truth t.bed --posterior b.bedgraph --labels-posterior l --intervals i.tsv")
        found["calibration"]["labels"]["labels"].sort(key=lambda entry: entry["name"])
        hold_document(found, expected)


# Two models.

def segmentations(length, labels, longest):
    if length == 0:
        yield []
    for k in range(1, min(length, longest) + 1):
        for rest in segmentations(length - k, labels, longest):
            for label in labels:
                yield [(0, k, label)] + [(b + k, e + k, l) for b, e, l in rest]


def divergence(p, q, scores):
    """All members of one sequence, by enumeration."""
    weight = lambda model, path: oracle.path_score(scores, model, path) + model.first(model.labels.index(path[0][2]), oracle.log_sum) - \
        model.first(model.labels.index(path[0][2]), max)
    paths = list(segmentations(len(scores), p.labels, len(scores)))
    of_p, of_q = [weight(p, path) for path in paths], [weight(q, path) for path in paths]
    z_p, z_q = oracle.log_sum(of_p), oracle.log_sum(of_q)
    share = [math.exp(w - z_p) for w in of_p]
    entropy = -sum(s * (w - z_p) for s, w in zip(share, of_p) if s > 0)
    cross = -sum(s * (w - z_q) if s > 0 else 0 for s, w in zip(share, of_q))
    account = {"positions": len(scores), "pieces": 1, "log_partition": z_p, "other_log_partition": z_q, "segmentation_entropy": entropy,
               "cross_entropy": cross, "kl_divergence": cross - entropy}
    if math.isinf(cross):
        account.update(cross_entropy=None, kl_divergence=None, infinite=IS_TEXT)
    return account


def test_two_models(box):
    rng = random.Random(SEED + 4)
    kinds = set()
    for round_ in range(10):
        labels = ["a", "b"]
        box.write("p.json", json.dumps(dict(random_model(rng, labels, 3), start=[0, 0])))
        box.write("q.json", json.dumps(random_model(rng, labels, 3, forbidden=0.5 if round_ % 3 == 0 else 0)))
        p, q = oracle.Model(box.path("p.json")), oracle.Model(box.path("q.json"))
        bins = {"c1": rng.randint(4, 6), "c2": rng.randint(3, 5)}
        scores = {name: [[rng.randint(-16, 16) / 8 for _ in labels] for _ in range(length)] for name, length in bins.items()}
        for name in bins:
            box.write(name + ".npy", npy(scores[name]))
        digest = lambda name: hashlib.sha256(box.path(name).read_bytes()).hexdigest()
        for region in (False, True):
            used = {"c1": scores["c1"][1:]} if region else scores
            each = [dict(divergence(p, q, rows), name=name) for name, rows in used.items()]
            total = {key: sum(one[key] for one in each) for key in ("positions", "pieces", "log_partition", "other_log_partition", "segmentation_entropy")}
            for key in ("cross_entropy", "kl_divergence"):
                values = [one[key] for one in each]
                total[key] = None if None in values else sum(values)
            if any("infinite" in one for one in each):
                total["infinite"] = IS_TEXT
            kinds.add("infinite" in total)
            place = "c1:3-%d" % (2 * bins["c1"])
            if region:
                total["regions"] = [dict(each[0], name=place)]
            expected = {"format": "semicrf-eval", "format_version": "1.2", "version": IS_TEXT, "bin_size": 2, "warnings": lambda warnings: True,
                        "against": dict(total, params="p.json", params_sha256=digest("p.json"), other="q.json", other_sha256=digest("q.json"),
                                        device=IS_TEXT, bin_size=2, sequences=each)}
            found = evaluate(box, "-p p.json --against q.json c1.npy c2.npy --precision double" + (" -r " + place if region else ""))
            hold_document(found, expected, 1e-7)
    check(kinds == {True, False}, "no divergence was infinite, or all were")
