"""Plug-in estimates for a semi-Markov model from a segmentation in BED: transitions and durations, in log scores.

Standard library only. Nothing here is training: it counts, smooths and writes the parameter file (format 1).
"""

import json
import math
from collections import defaultdict

FORBIDDEN = "-inf"
LONGEST_TABLED = 3.0  # a label's table ends at this multiple of its longest example when it has no tail


def read_bed(path, chromosomes=None, end=None):
    """{chromosome: [(start, end, label)]} in bases, sorted; `end` keeps only the segments that end before it."""
    segments = defaultdict(list)
    with open(path) as source:
        for line in source:
            if not line.strip() or line.startswith(("#", "track", "browser")):
                continue
            fields = line.rstrip("\n").split("\t")
            if chromosomes is None or fields[0] in chromosomes:
                segments[fields[0]].append((int(fields[1]), int(fields[2]), fields[3]))
    for items in segments.values():
        items.sort()
        while end is not None and items and items[-1][1] > end:
            items.pop()
    return dict(segments)


def durations(segments, bin_size):
    """{label: [duration in bins]}."""
    found = defaultdict(list)
    for items in segments.values():
        for start, end, label in items:
            found[label].append(max(1, round((end - start) / bin_size)))
    return found


def percentile(values, fraction):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(fraction * len(ordered)) - 1)]


def transitions(segments, labels, smoothing):
    """Log scores [from][to] from the counts of neighbours plus `smoothing`; a label never follows itself."""
    counts = {(a, b): smoothing for a in labels for b in labels if a != b}
    for items in segments.values():
        for left, right in zip(items, items[1:]):
            if left[1] == right[0] and left[2] != right[2]:
                counts[left[2], right[2]] += 1
    rows = []
    for a in labels:
        total = sum(counts[a, b] for b in labels if b != a)
        rows.append([FORBIDDEN if a == b else math.log(counts[a, b] / total) for b in labels])
    return rows


def tail_ratio(examples, longest):
    """q of the geometric continuation beyond `longest`, or None when no example gets there."""
    beyond = [d - longest for d in examples if d > longest]
    if not beyond:
        return None
    return 1 - 1 / (1 + sum(beyond) / len(beyond))


def duration_column(examples, longest, bandwidth):
    """(log probability of the durations 1..longest, q or None) of one label.

    Each example is spread as a Gaussian of `bandwidth` on the scale of log durations.
    """
    mass = [0.0] * (longest + 1)
    counts = defaultdict(int)
    for d in examples:
        counts[d] += 1
    for d, count in counts.items():
        kernel = {}
        for k in range(max(1, int(d * math.exp(-5 * bandwidth))), int(d * math.exp(5 * bandwidth)) + 2):
            kernel[k] = math.exp(-0.5 * (math.log(k / d) / bandwidth) ** 2) / k
        total = sum(kernel.values())
        for k, value in kernel.items():
            if k <= longest:
                mass[k] += count * value / total
    q = tail_ratio(examples, longest)
    last = longest if q is not None else min(longest, int(LONGEST_TABLED * max(examples)))
    floor = 1e-3 / last  # every duration up to `last` stays possible
    whole = len(examples)
    column = [math.log(0.999 * mass[k] / whole + floor) if k <= last else FORBIDDEN for k in range(1, longest + 1)]
    return column, q


def fit_negative_binomial(examples):
    """(r, p) of (duration - 1) by maximum likelihood, with p at its optimum for each r."""
    failures = [d - 1 for d in examples]
    mean = max(1e-3, sum(failures) / len(failures))

    def log_likelihood(r):
        p = r / (r + mean)
        return sum(math.lgamma(x + r) - math.lgamma(r) - math.lgamma(x + 1) + r * math.log(p) + x * math.log1p(-p)
                   for x in failures)

    low, high = math.log(0.05), math.log(200.0)
    for _ in range(60):  # golden-section search over log r; the likelihood has one maximum
        a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
        if log_likelihood(math.exp(a)) < log_likelihood(math.exp(b)):
            low = a
        else:
            high = b
    r = math.exp((low + high) / 2)
    return r, r / (r + mean)


def table_durations(examples_of, labels, longest, bandwidth):
    """The `duration` section as a table of `longest` rows, with tails for the labels that need one."""
    columns, tails = zip(*(duration_column(examples_of[label], longest, bandwidth) for label in labels))
    return {"kind": "table", "tail": _rounded(tails), "bias": _rounded([list(row) for row in zip(*columns)])}


def negative_binomial_durations(examples_of, labels):
    """The `duration` section as negative binomials; beyond K they go on with their own limiting ratio 1 - p."""
    fits = [fit_negative_binomial(examples_of[label]) for label in labels]
    return {"kind": "negative_binomial", "r": _rounded([r for r, _ in fits]), "p": _rounded([p for _, p in fits]),
            "tail": _rounded([1 - p for _, p in fits])}


def _rounded(value):
    if isinstance(value, float):
        return float("%.5g" % value)
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value


def to_json(parameters):
    """The text of a parameter file: a key per line, a row of a matrix per line."""
    parameters = {key: _rounded(value) for key, value in parameters.items()}

    def text(value, depth):
        pad, close = "  " * (depth + 1), "  " * depth
        if isinstance(value, dict) and depth < 2 and any(isinstance(item, (dict, list)) for item in value.values()):
            body = ",\n".join("%s%s: %s" % (pad, json.dumps(key), text(item, depth + 1)) for key, item in value.items())
            return "{\n%s\n%s}" % (body, close)
        if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
            return "[\n%s\n%s]" % (",\n".join(pad + json.dumps(item) for item in value), close)
        return json.dumps(value)

    return text(parameters, 0) + "\n"


def write(parameters, output):
    if output == "-":
        print(to_json(parameters), end="")
        return
    with open(output, "w") as sink:
        sink.write(to_json(parameters))
