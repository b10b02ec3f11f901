"""Transitions that depend on the duration, as low rank, in a model with tracks: exp T_k = sum over r of u_r(k,c) A_r[c',c].

The program holds them without a change: a label becomes R copies ("aa_1", "aa_2") with its emission, a copy r of c has the
durations u_r(., c) and is entered by A_r[., c]. Summed over copies that is the chain of rank R. It is trained by lines that
name all copies ("aa_1|aa_2"), with emissions held.

A start is drawn by expectation maximization from the segments alone, as in tests/lab/low_rank/segment_law.cpp.
Needs numpy.
"""

import json
import math

import numpy

import models

PRIOR, ROUNDS, STARTS = 0.5, 100, 3  # as in segment_law.cpp: of every entry, shared by the ranks; of the fit


def steps_of(path, labels, sequences):
    """(label before, label, duration - 1, line) of a BED file, rows of indices; a sequence's first segment has none before."""
    index, rows, before = {name: n for n, name in enumerate(labels)}, [], None
    for number, line in enumerate(path.read_text().splitlines()):
        name, first, end, label = line.split("\t")
        if before is not None and before[0] == name and (sequences is None or name in sequences):
            rows.append((index[before[1]], index[label], int(end) - int(first) - 1, number))
        before = (name, label)
    return numpy.array(rows)


def by_copy(law, steps):
    """q(copy, label, duration | label before) of every step: (R, steps)."""
    entered, durations = law
    return entered[:, steps[:, 0], steps[:, 1]] * durations[:, steps[:, 2], steps[:, 1]]


def probability(law, steps):
    """q(label, duration | label before) of every step."""
    return by_copy(law, steps).sum(axis=0)


def clearest(law, steps):
    """{line: copy} of one segment for every copy of every label that has as many: training wants one that is sure."""
    shares = by_copy(law, steps)
    shares, found = shares / shares.sum(axis=0), {}
    for label in range(law[0].shape[2]):
        for r in range(len(shares)):
            open_ = [n for n in numpy.flatnonzero(steps[:, 1] == label) if steps[n, 3] not in found]
            if open_:
                found[steps[max(open_, key=lambda n: shares[r, n]), 3]] = r
    return found


def fitted(steps, rank, labels, longest):
    """(A (R, C, C), u (R, K, C)): A sums to 1 over copies and labels, u over durations. The best of STARTS by its own steps."""
    best, found = -math.inf, None
    for seed in range(1, 1 + STARTS):
        numbers = numpy.random.default_rng(seed)
        law = normalised(numbers.uniform(0.5, 1.5, (rank, labels, labels)), numbers.uniform(0.5, 1.5, (rank, longest, labels)))
        for _ in range(ROUNDS):
            shares = by_copy(law, steps)
            shares /= shares.sum(axis=0)
            entered, durations = numpy.full_like(law[0], PRIOR / rank), numpy.full_like(law[1], PRIOR / rank)
            for r in range(rank):
                numpy.add.at(entered[r], (steps[:, 0], steps[:, 1]), shares[r])
                numpy.add.at(durations[r], (steps[:, 2], steps[:, 1]), shares[r])
            law = normalised(entered, durations)
        value = numpy.log(probability(law, steps)).mean()
        if value > best:
            best, found = value, law
    return found


def normalised(entered, durations):
    return entered / entered.sum(axis=(0, 2), keepdims=True), durations / durations.sum(axis=1, keepdims=True)


def copies_of(name, rank):
    return [name] if rank == 1 else ["%s_%d" % (name, r + 1) for r in range(rank)]


def moved(score, change):
    return score if score == "-inf" else score + float(change)


def expanded(model, usual, law):
    """The model with as many copies of each label as `law` has ranks. Its chain scores as before, times `law` over `usual`."""
    entered, durations = (numpy.log(part) for part in law)
    entered_before, durations_before = (numpy.log(part[0]) for part in usual)
    rank, count = len(entered), len(model["labels"])
    share = numpy.log(law[0].sum(axis=1) / law[0].sum(axis=(0, 1)))  # of a copy, for first segments
    pairs = [(c, r) for c in range(count) for r in range(rank)]
    wide = {key: value for key, value in model.items() if key != "training"}
    wide["labels"] = [{"name": name} for label in model["labels"] for name in copies_of(label["name"], rank)]
    wide["transition"] = [[moved(model["transition"][a][c], entered[r, a, c] - entered_before[a, c]) for c, r in pairs]
                          for a, _ in pairs]
    wide["duration"] = dict(model["duration"], bias=[[moved(row[c], durations[r, k, c] - durations_before[k, c]) for c, r in pairs]
                                                     for k, row in enumerate(model["duration"]["bias"])])
    wide["start"] = [moved(model["start"][c], share[r, c]) for c, r in pairs]
    wide["end"] = [model["end"][c] for c, _ in pairs]
    wide["emission"] = {"weights": [model["emission"]["weights"][c] for c, _ in pairs],
                        "bias": [model["emission"]["bias"][c] for c, _ in pairs]}
    return wide


def rename(source, target, rank, known):
    """A BED file whose labels are all copies, or the one that `known` gives a line: the truth of training."""
    with open(source) as lines, open(target, "w") as file:
        for number, line in enumerate(lines):
            *place, label = line.rstrip("\n").split("\t")
            copies = copies_of(label, rank)
            file.write("\t".join(place + [copies[known[number]] if number in known else "|".join(copies)]) + "\n")


def gain_of(usual, law, steps):
    """Nats per segment by which `law` is above `usual`, and its standard error."""
    gain = numpy.log(probability(law, steps) / probability(usual, steps))
    return {"law_gain": float(gain.mean()), "law_gain_se": float(gain.std() / math.sqrt(len(gain)))}


def experiment(program, folder, corpus, iterations, base="semi.json", ranks=(1, 2)):
    """Rows by rank: the base model trained on with R copies of each label, emissions held; judged as all models are."""
    model = json.loads((program.folder / base).read_text())
    labels = [label["name"] for label in model["labels"]]
    parts = corpus["parts"]
    development, training = ([one["name"] for one in parts[part]] for part in ("dev", "train"))
    steps, judged = steps_of(folder / "fit.bed", labels, set(training)), steps_of(folder / "test.bed", labels, None)
    usual = fitted(steps, 1, len(labels), model["max_duration"])
    rows = []
    for rank in ranks:
        law = fitted(steps, rank, len(labels), model["max_duration"])
        (program.folder / "start.json").write_text(json.dumps(expanded(model, usual, law)))
        rename(folder / "fit.bed", program.folder / "copies.bed", rank, clearest(law, steps))
        done = models.train_on(program, folder, development, "start.json", "copies.bed", iterations, "rank.json")
        sentences = len(parts["test"])
        rows.append({"rank": rank, "segments_per_sentence": (len(judged) + sentences) / sentences, **gain_of(usual, law, judged), **done,
                     **models.judge(program, folder, "rank.json", copies=lambda name: copies_of(name, rank))})
    return rows
