#!/usr/bin/env python3
"""Distributions of tracks against scipy: ln P of the tracks by its log densities, and an M-step against its optimisers.

usage: densities_by_scipy.py --program SEMICRF --packages FOLDER

For each family a model of two labels with geometric durations: a forward algorithm in this file, with emissions by scipy.stats, gives ln P, which
`learn` says before its first iteration; what one iteration makes of the numbers is compared with the largest expected log likelihood that
scipy.optimize finds: an M-step takes six steps at most, so that it may leave a little. Skipped (exit code 77) without scipy.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import packages  # noqa: E402

SEED, BINS = 20261128, 700
STAY, START = (0.97, 0.9), (0.6, 0.4)
OUTLIERS, OUTLIER_DENSITY = 0.05, 0.02

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--program", required=True)
options.add_argument("--packages", required=True)
given = options.parse_args()
try:
    import numpy as np
    from scipy import optimize, special, stats
except ImportError:
    sys.path.insert(0, str(packages.installed(pathlib.Path(__file__).with_name("scipy.txt"), given.packages + "-scipy")))
    import numpy as np
    from scipy import optimize, special, stats


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


# Log densities of values (x, and what stands beside it) by the free numbers.
def student(x, numbers):
    mean, log_scale, log_degrees = numbers
    return stats.t.logpdf(x[:, 0], math.exp(log_degrees), mean, math.exp(log_scale))


def with_outliers(x, numbers):
    return np.logaddexp(math.log(1 - OUTLIERS) + student(x, numbers), math.log(OUTLIERS * OUTLIER_DENSITY))


def normal(x, numbers):
    return stats.norm.logpdf(x[:, 0], numbers[0], math.exp(numbers[1]))


def poisson(x, numbers):
    return stats.poisson.logpmf(x[:, 0], math.exp(numbers[0]))


def negative_binomial(x, numbers):
    mean, size = math.exp(numbers[0]) * x[:, 1], math.exp(numbers[1])
    return stats.nbinom.logpmf(x[:, 0], size, size / (size + mean))


def binomial(x, numbers):
    return stats.binom.logpmf(x[:, 0], x[:, 1], special.expit(numbers[0]))


def beta_binomial(x, numbers):
    mean, size = special.expit(numbers[0]), math.exp(numbers[1])
    return stats.betabinom.logpmf(x[:, 0], x[:, 1], mean * size, (1 - mean) * size)


def mirrored(x, numbers):
    other = np.column_stack([x[:, 1] - x[:, 0], x[:, 1]])
    return np.logaddexp(beta_binomial(x, numbers), beta_binomial(other, numbers)) - math.log(2)


# The free numbers of a density in a file.
def logs(*names):
    return lambda density: [special.logit(density["mean"]) if name == "logit" else density["mean"] if name == "mean" else math.log(density[name[4:]]) for name in names]


OF_STUDENT = logs("mean", "log scale", "log degrees")
# By name: what all densities of the file have, what those of the two labels have before, the log density, the free numbers, and draws of a label.
FAMILIES = {
    "gaussian": ({"family": "student"}, [{"mean": 0, "scale": 1}, {"mean": 1.5, "scale": 2}], normal, logs("mean", "log scale"),
                 lambda rng, c: [rng.normal((0, 1.5)[c], (1, 2)[c])]),
    "student-t": ({"family": "student"}, [{"mean": 0, "scale": 1, "degrees": 5}, {"mean": 1.5, "scale": 2, "degrees": 9}], student, OF_STUDENT,
                  lambda rng, c: [(0.2, 1.4)[c] + (0.9, 2.2)[c] * rng.standard_t((3, 20)[c])]),
    "student-t with outliers": ({"family": "student", "outliers": OUTLIERS, "outlier_density": OUTLIER_DENSITY},
                                [{"mean": 0, "scale": 1, "degrees": 5}, {"mean": 1.5, "scale": 2, "degrees": 9}], with_outliers, OF_STUDENT,
                                lambda rng, c: [rng.uniform(-25, 25) if rng.random() < OUTLIERS else (0.2, 1.4)[c] + (0.9, 2.2)[c] * rng.standard_t((4, 20)[c])]),
    "poisson": ({"family": "negative-binomial"}, [{"mean": 3}, {"mean": 6}], poisson, logs("log mean"), lambda rng, c: [rng.poisson((2.5, 7)[c])]),
    "negative-binomial with exposure": ({"family": "negative-binomial", "exposure": "n"}, [{"mean": 3, "size": 4}, {"mean": 6, "size": 9}], negative_binomial,
                                        logs("log mean", "log size"),
                                        lambda rng, c: (lambda n: [rng.negative_binomial((3, 12)[c], (3, 12)[c] / ((3, 12)[c] + (2.5, 7)[c] * n)), n])(0.5 + rng.random())),
    "binomial": ({"family": "beta-binomial", "trials": "n"}, [{"mean": 0.3}, {"mean": 0.6}], binomial, logs("logit"),
                 lambda rng, c: (lambda n: [rng.binomial(n, (0.25, 0.7)[c]), n])(rng.integers(1, 30))),
    "beta-binomial": ({"family": "beta-binomial", "trials": "n"}, [{"mean": 0.3, "size": 5}, {"mean": 0.6, "size": 9}], beta_binomial, logs("logit", "log size"),
                      lambda rng, c: (lambda n: [rng.binomial(n, rng.beta((2, 12)[c], (6, 5)[c])), n])(rng.integers(1, 30))),
    "beta-binomial, mirrored": ({"family": "beta-binomial", "trials": "n", "mirrored": True}, [{"mean": 0.63, "size": 40}, {"mean": 0.82, "size": 30}], mirrored,
                                logs("logit", "log size"),
                                lambda rng, c: (lambda n, p: [rng.binomial(n, p if rng.random() < .5 else 1 - p), n])(rng.integers(5, 30), rng.beta((34, 24)[c], (17, 6)[c]))),
}


def model_of(shared, labels, tracks):
    def scores(values):
        return ["-inf" if value == 0 else math.log(value) for value in values]
    densities = [{"name": "x in %d" % c, "density_of": "x", **shared, **label} for c, label in enumerate(labels)]
    return {"format": "semicrf-params", "format_version": "1.3", "labels": ["a", "b"], "max_duration": 1, "bin_size": 1, "centering": "none", "initial": "none",
            "transition": [["-inf", 0], [0, "-inf"]], "start": scores(START),
            "duration": {"kind": "table", "bias": [scores([1 - STAY[0], 1 - STAY[1]])], "tail": list(STAY)},
            "tracks": [{"name": name, "missing": "marginal"} for name in tracks] + densities,
            "emission": {"weights": [[0] * len(tracks) + [int(c == other) for other in range(2)] for c in range(2)], "bias": [0, 0]}}


def forward_backward(emission):
    """ln P and the posteriors of the labels; the last segment ends with the data."""
    stay, leave = np.log(STAY), np.log1p(-np.array(STAY))
    move = np.array([[stay[0], leave[0]], [leave[1], stay[1]]])
    forward = [np.log(START) + emission[0]]
    for row in emission[1:]:
        forward.append(special.logsumexp(forward[-1][:, None] + move, axis=0) + row)
    backward = [leave]
    for row in emission[:0:-1]:
        backward.append(special.logsumexp(move + row + backward[-1], axis=1))
    both = np.array(forward) + np.array(backward[::-1])
    log_z = special.logsumexp(forward[-1] + leave)
    return log_z, np.exp(both - log_z)


def compare(box, program, name, rng):
    shared, labels, log_density, numbers_of, draw = FAMILIES[name]
    rows, c = [], 0
    for _ in range(BINS):
        c = 1 - c if rng.random() < 0.05 else c
        rows.append([float(value) for value in draw(rng, c)])
    values = np.array(rows, dtype=np.float32)
    tracks = ["x", "n"][:values.shape[1]]
    np.save(box / "a.npy", values)
    values = values.astype(float)
    (box / "m.json").write_text(json.dumps(model_of(shared, labels, tracks)))
    subprocess.run([program, "learn", "-q", "--init", "m.json", "--precision", "double", "--tolerance", "0", "--max-iterations", "1", "--stats", "s.json",
                    "-o", "n.json", "a.npy"], cwd=box, check=True)
    before = [numbers_of(label) for label in labels]
    log_z, posteriors = forward_backward(np.column_stack([log_density(values, numbers) for numbers in before]))
    said = json.loads((box / "s.json").read_text())["log_likelihood"][0]
    check(abs(said - log_z) < 1e-8 * abs(log_z), "%s: ln P is %.9f, by scipy %.9f" % (name, said, log_z))
    after = [numbers_of(track) for track in json.loads((box / "n.json").read_text())["tracks"] if "density_of" in track]
    worst = 0
    for label, (old, new) in enumerate(zip(before, after)):
        def expected(numbers):
            value = float(posteriors[:, label] @ log_density(values, numbers))
            return -value if math.isfinite(value) else 1e300
        best = min(optimize.minimize(expected, at, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-7, "fatol": 1e-9}).fun for at in (old, new))
        gained, possible = expected(old) - expected(new), expected(old) - best
        check(gained >= 0, "%s: an M-step loses %g" % (name, -gained))
        worst = max(worst, (possible - gained) / max(1, possible))
    print("%-32s ln P %.6f, off by %.1g of it; the M-step gains all but %.1g of what scipy finds" % (name, said, abs(said - log_z) / abs(log_z), worst))
    return worst


def main():
    print("seed %d" % SEED)
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as folder:
        for name in FAMILIES:
            worst = compare(pathlib.Path(folder), str(pathlib.Path(given.program).resolve()), name, rng)
            check(worst < 1e-3, "%s: an M-step gains %g less than scipy" % (name, worst))


if __name__ == "__main__":
    main()
