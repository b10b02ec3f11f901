"""Every segmentation of a tiny sequence with its score, from the definition: shares nothing with the package."""

import itertools
import math

import numpy as np

FORBIDDEN = -math.inf
SEED = 20261128
NAMES = ("transition", "duration", "tail", "start", "end")


def log_sum(terms):
    top = max(terms, default=FORBIDDEN)
    return top if top == FORBIDDEN else top + math.log(math.fsum(math.exp(term - top) for term in terms))


class Truth:
    """All segmentations of `scores` under `tables`, a dict of Model's arguments; answers by adding up their probabilities."""

    def __init__(self, tables, scores, starts=None, ends=None):
        self.tables = tables
        self.length, self.count = scores.shape
        scores = scores.astype(float)
        if tables.get("centering") == "mean":
            scores = scores - scores.mean(axis=0)
        elif tables.get("centering") == "position-max":
            scores = scores - scores.max(axis=1, keepdims=True)
        nothing = np.zeros(scores.shape)
        self.scores, self.starts, self.ends = scores, nothing if starts is None else starts, nothing if ends is None else ends
        self.paths = [(path, score) for path in self._all() if (score := self.score(path)) > FORBIDDEN]
        self.log_z = log_sum([score for _, score in self.paths])
        self.probabilities = [math.exp(score - self.log_z) for _, score in self.paths]

    def _all(self):
        for cuts in itertools.product((0, 1), repeat=self.length - 1):
            edges = [0] + [t for t, cut in enumerate(cuts, 1) if cut] + [self.length]
            for labels in itertools.product(range(self.count), repeat=len(edges) - 1):
                yield tuple(zip(edges, edges[1:], labels))

    def _duration(self, k, c):
        table = self.tables["duration"]
        if k <= len(table):
            return table[k - 1, c]
        tail = self.tables.get("tail")
        return FORBIDDEN if tail is None or tail[c] == 0 else table[-1, c] + (k - len(table)) * math.log(tail[c])

    def score(self, path):
        tables, total = self.tables, []
        for n, (begin, end, c) in enumerate(path):
            total += [self._duration(end - begin, c), self.scores[begin:end, c].sum(), self.starts[begin, c], self.ends[end - 1, c]]
            if n > 0:
                total.append(tables["transition"][path[n - 1][2], c])
            elif tables.get("initial", "uniform") == "uniform":
                total.append(log_sum(list(tables["transition"][:, c])))
        for name, label in (("start", path[0][2]), ("end", path[-1][2])):
            if tables.get(name) is not None:
                total.append(tables[name][label])
        return FORBIDDEN if FORBIDDEN in total else math.fsum(total)

    def posteriors(self):
        """boundary, labels, starts, ends, transition, duration, tail: as `Posteriors` has them."""
        shape, durations = (self.length, self.count), len(self.tables["duration"])
        labels, starts, ends = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        transition, duration, tail = np.zeros((self.count, self.count)), np.zeros((durations, self.count)), np.zeros(self.count)
        before = np.exp(self.tables["transition"])
        for (path, _), p in zip(self.paths, self.probabilities):
            for n, (begin, end, c) in enumerate(path):
                labels[begin:end, c] += p
                starts[begin, c] += p
                ends[end - 1, c] += p
                duration[min(end - begin, durations) - 1, c] += p
                tail[c] += p * max(0, end - begin - durations)
                if n > 0:
                    transition[path[n - 1][2], c] += p
                elif self.tables.get("initial", "uniform") == "uniform":
                    transition[:, c] += p * before[:, c] / before[:, c].sum()
        return starts.sum(axis=1), labels, starts, ends, transition, duration, tail

    def entropy(self):
        return -math.fsum(p * math.log(p) for p in self.probabilities if p > 0)


def random_tables(rng, count, durations):
    """A model with a random subset of what models may have."""
    def maybe(value):
        return value if rng.random() < 0.5 else None

    tables = {"transition": rng.normal(size=(count, count)), "duration": rng.normal(size=(durations, count)),
              "tail": maybe(rng.choice([0, 0.3, 0.9], size=count)), "start": maybe(rng.normal(size=count)),
              "end": maybe(rng.normal(size=count)), "initial": str(rng.choice(["uniform", "none"])),
              "centering": str(rng.choice(["none", "mean", "position-max"]))}
    for name in ("transition", "duration"):
        if rng.random() < 0.4:
            tables[name][rng.random(tables[name].shape) < 0.2] = FORBIDDEN
    if tables["tail"] is not None:
        tables["tail"][np.isinf(tables["duration"][-1])] = 0
    return tables


def cases(number, seed=SEED):
    """Random problems that have segmentations: tables, scores, start and end scores or None, and their Truth."""
    rng = np.random.default_rng(seed)
    while number > 0:
        count, durations, length = (int(rng.integers(low, high)) for low, high in ((1, 4), (1, 5), (1, 6)))
        tables = random_tables(rng, count, durations)
        scores = rng.normal(size=(length, count))
        starts, ends = (rng.normal(size=scores.shape) if rng.random() < 0.4 else None for _ in range(2))
        truth = Truth(tables, scores, starts, ends)
        if truth.paths:
            number -= 1
            yield tables, scores, starts, ends, truth


def statistics(truth):
    """For every segmentation, and every label before it: its probability, and how often it has each score."""
    tables = truth.tables
    durations = len(tables["duration"])
    for (path, _), p in zip(truth.paths, truth.probabilities):
        before = [(None, 1.0)]
        if tables["initial"] == "uniform":
            weights = np.exp(tables["transition"][:, path[0][2]])
            before = list(enumerate(weights / weights.sum()))
        for source, share in before:
            count = {name: np.zeros(np.shape(tables[name])) for name in NAMES if tables.get(name) is not None}
            count.update({name: np.zeros((truth.length, truth.count)) for name in ("scores", "start_scores", "end_scores")})
            last = source
            for begin, end, c in path:
                count["scores"][begin:end, c] += 1
                count["start_scores"][begin, c] += 1
                count["end_scores"][end - 1, c] += 1
                count["duration"][min(end - begin, durations) - 1, c] += 1
                if "tail" in count:
                    count["tail"][c] += max(0, end - begin - durations)
                if last is not None:
                    count["transition"][last, c] += 1
                last = c
            for name, c in (("start", path[0][2]), ("end", path[-1][2])):
                if name in count:
                    count[name][c] += 1
            yield p * share, count
