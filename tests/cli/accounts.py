"""Plain accounts of numbers that commands write, base by base, and the comparison that misses no column and no member.

A table has an account for every column: a function of the row, as a dictionary of its cells, that gives the number (or the text) which
must stand there. A document has a whole expected document. What has no account fails, as does an account of what is not there.
"""

import collections
import math

from harness import check


def table(text):
    lines = [line.split("\t") for line in text.splitlines() if line]
    check(all(len(line) == len(lines[0]) for line in lines), "rows of several widths")
    return lines[0], [dict(zip(lines[0], line)) for line in lines[1:]]


def close(found, expected, tolerance):
    return abs(found - expected) <= tolerance * max(1.0, abs(expected))


def hold_rows(name, columns, rows, accounts, tolerance=2e-6):
    """Every cell is what its column's account says; None stands for '.'."""
    check(set(columns) == set(accounts), "%s: columns without an account: %s; accounts without a column: %s"
          % (name, sorted(set(columns) - set(accounts)), sorted(set(accounts) - set(columns))))
    for row in rows:
        for column in columns:
            expected = accounts[column](row)
            cell = row[column]
            if expected is None or isinstance(expected, str):
                good = cell == (expected or ".")
            elif isinstance(expected, int):
                good = cell == str(expected)
            else:
                good = cell != "." and close(float(cell), expected, tolerance)
            check(good, "%s, %s: %r, expected %r in %r" % (name, column, cell, expected, row))


def hold_document(found, expected, tolerance=1e-9, path=""):
    """The same members in all objects, lists of the same length, the same values; a function is asked whether a value is right."""
    if callable(expected):
        check(expected(found), "%s is %r" % (path, found))
    elif isinstance(expected, dict):
        check(isinstance(found, dict), "%s is no object" % path)
        check(set(found) == set(expected), "%s: members without an account: %s; accounts without a member: %s"
              % (path or "document", sorted(set(found) - set(expected)), sorted(set(expected) - set(found))))
        for key in expected:
            hold_document(found[key], expected[key], tolerance, path + "." + key)
    elif isinstance(expected, list):
        check(isinstance(found, list) and len(found) == len(expected), "%s: %r, expected %r" % (path, found, expected))
        for i, one in enumerate(expected):
            hold_document(found[i], one, tolerance, "%s[%d]" % (path, i))
    elif isinstance(expected, float):
        check(isinstance(found, (int, float)) and close(found, expected, tolerance), "%s: %r, expected %r" % (path, found, expected))
    else:
        check(found == expected and isinstance(found, bool) == isinstance(expected, bool), "%s: %r, expected %r" % (path, found, expected))


# Segmentations: {chromosome: [(begin, end, label)]}, sorted and disjoint, begins counted from 0.

def random_segments(rng, labels, chromosomes, longest=9, gaps=0.0):
    """On `chromosomes`, {name: bases}."""
    found = {}
    for name, bases in chromosomes.items():
        at, found[name] = 0, []
        while at < bases:
            end = min(bases, at + rng.randint(1, longest))
            if rng.random() >= gaps:
                found[name].append((at, end, rng.choice(labels)))
            at = end
    return {name: segments for name, segments in found.items() if segments}


def bed(segmentation, more=lambda segment: ""):
    return "".join("%s\t%d\t%d\t%s%s\n" % (name, begin, end, label, more((begin, end, label)))
                   for name, segments in segmentation.items() for begin, end, label in segments)


def by_base(segments, bases):
    labels = [None] * bases
    for begin, end, label in segments:
        labels[begin:end] = [label] * (end - begin)
    return labels


def quantile(lengths, share):
    """The smallest length that this share of them does not exceed."""
    lengths = sorted(lengths)
    return lengths[max(0, math.ceil(share * len(lengths)) - 1)]


def ratio(part, whole):
    return part / whole if whole else None


# Evaluation, as docs/users/evaluation.md defines it.

def largest_matching(left, right, fits):
    """The size of a largest one to one matching, by augmenting paths."""
    partner = {}

    def place(i, seen):
        for j, one in enumerate(right):
            if j in seen or not fits(left[i], one):
                continue
            seen.add(j)
            if j not in partner or place(partner[j], seen):
                partner[j] = i
                return True
        return False

    return sum(place(i, set()) for i in range(len(left)))


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            before, row[j] = row[j], min(before + (left != right), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def stretches(segments):
    """Runs of true segments that touch: [(begin, end)]."""
    found = []
    for begin, end, _ in segments:
        if found and found[-1][1] == begin:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def cut(segments, begin, end):
    return [(max(b, begin), min(e, end), label) for b, e, label in segments if b < end and e > begin]


def counts(truth, predicted, matched):
    return {"truth": truth, "predicted": predicted, "matched": matched, "precision": ratio(matched, predicted),
            "recall": ratio(matched, truth), "f1": ratio(2 * matched, truth + predicted)}


def half_shared(a, b):
    both = min(a[1], b[1]) - max(a[0], b[0])
    return a[2] == b[2] and both > 0 and 2 * both >= max(a[1], b[1]) - min(a[0], b[0])


def rand_index(pairs):
    """Hubert and Arabie's, of the two labels of each base: of all pairs of bases, those that have one label in both, less the expected ones."""
    if not pairs:
        return None
    together = lambda labels: sum(n * (n - 1) / 2 for n in collections.Counter(labels).values())
    both, first, second = together(pairs), together(a for a, _ in pairs), together(b for _, b in pairs)
    every = len(pairs) * (len(pairs) - 1) / 2
    expected, most = first * second / every if every else 0, (first + second) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


class Evaluation:
    """All numbers of a prediction and its truth."""

    def __init__(self, truth, predicted, labels, tolerance):
        self.labels = labels
        self.parts = [(name, begin, end, cut(segments, begin, end), cut(predicted.get(name, []), begin, end))
                      for name, segments in truth.items() for begin, end in stretches(segments)]
        self.pairs = []  # of labels by base
        self.pairs_on = {}
        for name, begin, end, true, called in self.parts:
            pairs = list(zip(by_base([(b - begin, e - begin, l) for b, e, l in true], end - begin),
                             by_base([(b - begin, e - begin, l) for b, e, l in called], end - begin)))
            self.pairs += pairs
            self.pairs_on.setdefault(name, []).extend(pairs)
        self.edits = sum(edit_distance([s[2] for s in true], [s[2] for s in called]) for _, _, _, true, called in self.parts)
        self.tolerance = tolerance

    def bases(self, label=None):
        own = lambda x: x is not None and label in (None, x)
        return counts(sum(own(t) for t, _ in self.pairs), sum(own(p) for _, p in self.pairs),
                      sum(t == p and own(t) for t, p in self.pairs))

    def _sum(self, per_part):
        truth, predicted, matched = (sum(column) for column in zip(*[per_part(*part) for part in self.parts]))
        return counts(truth, predicted, matched)

    def boundaries(self, tolerance, labels):
        """`labels`: (label,), several of them: summed; None: whatever the label."""
        def count(_, begin, end, true, called):
            result = [0, 0, 0]
            for label in labels or (None,):
                a, b = ([s[0] for s in side if s[0] > begin and label in (None, s[2])] for side in (true, called))
                for i, one in enumerate((len(a), len(b), largest_matching(a, b, lambda x, y: abs(x - y) <= tolerance))):
                    result[i] += one
            return result
        return self._sum(count)

    def segments(self, fits, labels):
        def count(_, begin, end, true, called):
            a, b = ([s for s in side if s[2] in labels] for side in (true, called))
            return len(a), len(b), largest_matching(a, b, fits)
        return self._sum(count)

    def exact(self, labels):
        return self.segments(lambda a, b: a == b, labels)

    def overlap(self, labels):
        return self.segments(half_shared, labels)

    def accuracy(self, label):
        return ratio(sum((t == label) == (p == label) for t, p in self.pairs), len(self.pairs))

    def macro_f1(self):
        present = [label for label in self.labels if any(t == label for t, _ in self.pairs)]
        return ratio(sum(self.bases(label)["f1"] for label in present), len(present))

    def rand_index(self):
        return rand_index([pair for pair in self.pairs if pair[1] is not None])


# Predicted probabilities and what came true, as docs/users/evaluation.md defines it.

def reliability(pairs, parts=10, resolution=5e-7):
    """pairs: (p, whether it happened). All members of R and the table."""
    loss = lambda p: -math.log(min(max(p, resolution), 1 - resolution))
    rows, error = [], 0.0
    for part in range(parts):
        inside = [(p, y) for p, y in pairs if min(int(p * parts + 1e-9), parts - 1) == part]
        mean, share = (ratio(math.fsum(x[i] for x in inside), len(inside)) for i in (0, 1))
        if inside:
            error += len(inside) * abs(mean - share)
        rows.append({"lower": part / parts, "upper": (part + 1) / parts, "count": len(inside),
                     "events": sum(y for _, y in inside), "mean_predicted": mean, "observed": share})
    n = len(pairs)
    return {"bins": n, "events": sum(y for _, y in pairs), "mean_predicted": ratio(math.fsum(p for p, _ in pairs), n),
            "observed": ratio(float(sum(y for _, y in pairs)), n), "brier": ratio(math.fsum((p - y) ** 2 for p, y in pairs), n),
            "log_loss": ratio(math.fsum(loss(p) if y else loss(1 - p) for p, y in pairs), n),
            "expected_calibration_error": ratio(error, n), "reliability": rows}
