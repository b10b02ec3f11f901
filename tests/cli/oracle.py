"""The model worked out in plain Python, for small inputs: an implementation that shares nothing with the program.

Log semiring over alpha and beta as in docs/algorithm.md; no centring, no boundary scores, 'initial' uniform or none.
"""

import ast
import json
import math
import struct

INFINITY = float("inf")


def read_npy(path):
    """Rows of a float32 C-order file of header version 1."""
    data = open(path, "rb").read()
    size = struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    length, width = header["shape"]
    values = struct.unpack_from("<%df" % (length * width), data, 10 + size)
    return [values[t * width:(t + 1) * width] for t in range(length)]


def log_sum(terms):
    top = max(terms, default=-INFINITY)
    if top == -INFINITY:
        return -INFINITY
    return top + math.log(sum(math.exp(term - top) for term in terms))


class Model:
    """Parameters with a duration table; durations beyond it follow the tail, up to the length of the input."""

    def __init__(self, path):
        parameters = json.load(open(path))
        self.labels = [label if isinstance(label, str) else label["name"] for label in parameters["labels"]]
        self.transition = [[float(x) for x in row] for row in parameters["transition"]]
        self.bias = [[float(x) for x in row] for row in parameters["duration"]["bias"]]
        self.tail = parameters["duration"].get("tail") or [None] * len(self.labels)
        self.uniform = parameters.get("initial", "uniform") == "uniform"
        self.start = [float(x) for x in parameters.get("start") or [0] * len(self.labels)]
        self.end = [float(x) for x in parameters.get("end") or [0] * len(self.labels)]

    def duration(self, k, c):
        longest = len(self.bias)
        if k <= longest:
            return self.bias[k - 1][c]
        return self.bias[-1][c] + (k - longest) * math.log(self.tail[c]) if self.tail[c] else -INFINITY

    def durations(self, length, c):
        return range(1, (length if self.tail[c] else min(length, len(self.bias))) + 1)

    def first(self, c, combine):
        return self.start[c] + (combine([row[c] for row in self.transition]) if self.uniform else 0)


def prefix_sums(scores, model):
    sums = [[0.0] for _ in model.labels]
    for row in scores:
        for c, value in enumerate(row):
            sums[c].append(sums[c][-1] + value)
    return sums


def run(scores, model, combine, may_start=lambda t, c: True):
    """alpha[t][c] and gamma[s][c] (without -S): scores of what ends at t, and of what starts at s where it may."""
    length, labels = len(scores), range(len(model.labels))
    sums = prefix_sums(scores, model)
    alpha, gamma = [None], [[model.first(c, combine) for c in labels]]
    for t in range(1, length + 1):
        last = [model.end[c] if t == length else 0 for c in labels]
        alpha.append([last[c] + combine([gamma[t - k][c] + model.duration(k, c) + sums[c][t] - sums[c][t - k]
                                         for k in model.durations(t, c)]) for c in labels])
        gamma.append([combine([alpha[t][a] + model.transition[a][c] for a in labels]) if may_start(t, c) else -INFINITY
                      for c in labels])
    return alpha, gamma


def edge_posteriors(scores, model):
    """(log Z, starts, ends): rows of P(a segment of label c starts at t), and of P(one ends with t)."""
    length, labels = len(scores), range(len(model.labels))
    alpha, gamma = run(scores, model, log_sum)
    sums = prefix_sums(scores, model)
    log_z = log_sum(alpha[length])
    beta = [None] * length + [[model.end[c] for c in labels]]  # what follows boundary t after label c
    delta = [None] * length                                     # what follows when c starts at t
    for t in range(length - 1, -1, -1):
        delta[t] = [log_sum([model.duration(k, c) + sums[c][t + k] - sums[c][t] + beta[t + k][c]
                             for k in model.durations(length - t, c)]) for c in labels]
        beta[t] = [log_sum([model.transition[a][c] + delta[t][c] for c in labels]) for a in labels]
    beta[length] = [0.0 for _ in labels]  # alpha has the score of the end already
    starts = [[math.exp(gamma[t][c] + delta[t][c] - log_z) for c in labels] for t in range(length)]
    ends = [[math.exp(alpha[t + 1][c] + beta[t + 1][c] - log_z) for c in labels] for t in range(length)]
    return log_z, starts, ends


def start_probability(scores, model, log_z, label, lower, upper):
    """P(a segment of label number `label` starts at one of the positions lower..upper), above 0."""
    log_none = log_sum(run(scores, model, log_sum, lambda t, c: c != label or not lower <= t <= upper)[0][-1])
    return 1 - math.exp(log_none - log_z)


def segment_posteriors(scores, model, segments):
    """P(exactly this segment) for each (begin, end, label)."""
    length = len(scores)
    alpha, gamma = run(scores, model, log_sum)
    sums = prefix_sums(scores, model)
    log_z, _, ends = edge_posteriors(scores, model)
    found = []
    for begin, end, label in segments:
        c = model.labels.index(label)
        after = math.log(ends[end - 1][c]) - alpha[end][c] + log_z  # beta
        score = gamma[begin][c] + model.duration(end - begin, c) + sums[c][end] - sums[c][begin]
        found.append(math.exp(score + (model.end[c] if end == length else 0) + after - log_z))
    return found


def boundary_posterior(scores, model):
    """(log Z, [probability that a segment starts at t])."""
    log_z, starts, _ = edge_posteriors(scores, model)
    return log_z, [sum(row) for row in starts]


def best_score(scores, model):
    alpha, _ = run(scores, model, lambda terms: max(terms, default=-INFINITY))
    return max(alpha[len(scores)])


def path_score(scores, model, segments):
    """Score of [(begin, end, label name)] in bins."""
    total, previous = 0.0, None
    for begin, end, name in segments:
        c = model.labels.index(name)
        if previous is None:
            total += model.first(c, max)
        else:
            total += model.transition[previous][c]
        total += model.duration(end - begin, c) + sum(row[c] for row in scores[begin:end])
        previous = c
    return total + model.end[previous]
