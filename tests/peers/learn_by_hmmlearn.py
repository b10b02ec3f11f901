#!/usr/bin/env python3
"""`learn` with segments of one bin against hmmlearn: the same start, and every iteration of Baum and Welch.

usage: learn_by_hmmlearn.py --program SEMICRF

Runs where hmmlearn is installed for this Python, else it is skipped (exit code 77).
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

try:
    import numpy as np
    from hmmlearn import hmm
except ImportError as error:
    packages.skip("hmmlearn is not installed for this Python: %s" % error)

SEED, LABELS, ITERATIONS = 4711, 3, 5  # no step ahead is taken before
LENGTHS = (900, 400, 1)


def check(condition, message):
    if not condition:
        sys.exit("FAILED: " + message)


def drawn(rng, draw):
    """Sequences of a chain that changes its label every twelfth bin; draw(label) is a row."""
    sequences = []
    for length in LENGTHS:
        label, rows = 0, []
        for _ in range(length):
            if rng.random() < 1 / 12:
                label = (label + rng.integers(1, LABELS)) % LABELS
            rows.append(draw(label))
        sequences.append(np.array(rows, dtype=np.float32).astype(float))
    return sequences


def probabilities(scores):
    return np.array([[0.0 if score == "-inf" else math.exp(score) for score in row] for row in scores])


def start_of(model, family):
    """hmmlearn's model with the numbers of a parameter file; priors that say nothing."""
    weights, bias = np.array(model["emission"]["weights"]), np.array(model["emission"]["bias"])
    common = dict(n_components=LABELS, n_iter=ITERATIONS + 1, tol=-math.inf, init_params="", implementation="scaling")
    if family == "gaussian":
        peer = hmm.GaussianHMM(covariance_type="diag", covars_prior=0.0, covars_weight=0.0, means_weight=0.0, min_covar=0.0, **common)
        tracks = weights.shape[1] // 2
        center = np.array([track.get("center", 0) for track in model["tracks"][:tracks]])
        scale = np.array([track.get("scale", 1) for track in model["tracks"][:tracks]])
        variance = -0.5 / weights[:, tracks:]
        peer.means_, peer.covars_ = weights[:, :tracks] * variance * scale + center, variance * scale ** 2
    elif family == "poisson":
        peer = hmm.PoissonHMM(lambdas_prior=0.0, lambdas_weight=0.0, **common)
        peer.lambdas_ = np.exp(weights)
    elif family == "categorical":
        probabilities_of = np.exp(weights[:, 1:])
        peer = hmm.CategoricalHMM(n_features=probabilities_of.shape[1], **common)
        peer.emissionprob_ = probabilities_of
    else:
        peer = hmm.CategoricalHMM(n_features=2, **common)
        one = np.exp(weights[:, :1] + bias[:, None])
        peer.emissionprob_ = np.hstack([1 - one, one])
    peer.startprob_ = probabilities([model["start"]])[0]
    peer.transmat_ = probabilities(model["transition"])
    return peer


def numbers_of(peer, family):
    shown = {"gaussian": lambda: np.hstack([peer.means_, peer._covars_]), "poisson": lambda: peer.lambdas_,
             "bernoulli": lambda: peer.emissionprob_, "categorical": lambda: peer.emissionprob_}[family]()
    return np.concatenate([peer.startprob_, peer.transmat_.ravel(), shown.ravel()])


def compare(box, program, family, sequences, tolerance):
    def learn(*options):
        command = [program, "learn", "-q", "--precision", "double", "--emission", family, "--tolerance", "0", "--stats", "s.json", *options]
        subprocess.run(command + ["%d.npy" % i for i in range(len(sequences))], cwd=box, check=True)

    def load(name):
        return json.loads((box / name).read_text())

    for i, rows in enumerate(sequences):
        np.save(box / ("%d.npy" % i), rows)
    transform = ["--transform", "none"] if family == "gaussian" else []
    learn("--labels", str(LABELS), "--max-duration", "1", "--self-transitions", "--max-iterations", "0", "-o", "start.json", *transform)
    learn("--init", "start.json", "--max-iterations", str(ITERATIONS), "-o", "end.json")
    found = load("s.json")["log_likelihood"]
    peer = start_of(load("start.json"), family)
    values = np.concatenate(sequences)
    peer.fit(values.astype(int) if family != "gaussian" else values, [len(rows) for rows in sequences])
    expected = list(peer.monitor_.history)
    check(len(found) == ITERATIONS + 1 and len(expected) == ITERATIONS + 1, "%s: %d and %d iterations" % (family, len(found), len(expected)))
    worst = max(abs(a - b) / abs(b) for a, b in zip(found, expected))
    check(worst < tolerance, "%s: ln P of the iterations is off by %g of it: %r, hmmlearn %r" % (family, worst, found, expected))
    # hmmlearn has made one step more than it has values of.
    learn("--init", "start.json", "--max-iterations", str(ITERATIONS + 1), "-o", "end.json")
    ours, theirs = numbers_of(start_of(load("end.json"), family), family), numbers_of(peer, family)
    apart = float(np.max(np.abs(ours - theirs) / np.maximum(1, np.abs(theirs))))  # probabilities have a floor of 1e-9
    check(apart < 10 * tolerance, "%s: numbers of the models are %g apart" % (family, apart))
    print("%s: %d iterations, ln P %.6f to %.6f, off by %.1g; %d numbers within %.1g" % (family, ITERATIONS, found[0], found[-1], worst, len(ours), apart))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--packages", help="not used")
    options = parser.parse_args()
    print("seed %d" % SEED)
    rng = np.random.default_rng(SEED)
    draws = {"gaussian": (lambda c: rng.normal(2.0 * (c == np.arange(3)), 1 + 0.2 * c), 1e-6),
             "poisson": (lambda c: rng.poisson(1 + 5.0 * (c == np.arange(3))), 1e-9),
             "categorical": (lambda c: [float(rng.choice(5, p=np.roll([0.5, 0.2, 0.15, 0.1, 0.05], c)))], 1e-9),
             "bernoulli": (lambda c: [float(rng.random() < 0.1 + 0.4 * c)], 1e-9)}
    with tempfile.TemporaryDirectory() as folder:
        for family, (draw, tolerance) in draws.items():
            compare(pathlib.Path(folder), str(pathlib.Path(options.program).resolve()), family, drawn(rng, draw), tolerance)


if __name__ == "__main__":
    main()
