#!/usr/bin/env python3
"""Times semicrf.HSMM on one thread against hmmlearn (K = 1) and mhsmm (R): posteriors, and an iteration of a fit.

usage: hsmm_peers.py [--positions 1000000] [--hsmm-positions 20000] [--iterations 3] [--runs 3]

Needs the package semicrf, NumPy, hmmlearn, and R with mhsmm; a peer that is not installed is passed over. Both programs have the same
model and data: Gaussian values, 10 states and single positions against hmmlearn, 24 states and durations to 100 against mhsmm. Seconds
of processor time, the least of the runs; an iteration is a fit of several less one of a single one. A line of JSON for each figure.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

for name in ("OPENBLAS", "OMP", "MKL"):
    os.environ[name + "_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

import semicrf  # noqa: E402

PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"


def seconds(call, runs):
    def once():
        begin = time.process_time()
        call()
        return time.process_time() - begin
    return min(once() for _ in range(runs))


def values_of(states, mean_duration, positions):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 2 * mean_duration, positions)
    labels = np.cumsum(rng.integers(1, states, positions)) % states
    of_position = np.repeat(labels, lengths)[:positions]
    return (2.0 * of_position + rng.normal(size=positions))[:, None]


def ours(model, values, given, precision):
    """Seconds of posteriors, and of an iteration."""
    model.precision = precision

    def fit(iterations):
        return seconds(lambda: model._learn([values], model.model_, iterations), given.runs)

    return seconds(lambda: model.predict_proba(values), given.runs), (fit(1 + given.iterations) - fit(1)) / given.iterations


def tell(peer, theirs, model, values, given):
    for precision in ("double", "float"):
        for what, one, other in zip(("posterior", "iteration"), ours(model, values, given, precision), theirs):
            print(json.dumps({"peer": peer, "what": what, "precision": precision, "semicrf": round(one, 4), "theirs": round(other, 4),
                              "ratio": round(other / one, 1)}), flush=True)


def against_hmmlearn(given):
    from hmmlearn import hmm
    values = values_of(10, 20, given.positions)
    model = semicrf.HSMM(10, max_duration=1, self_transitions=True, n_iter=2, tol=0).fit(values[:20000])
    for implementation in ("log", "scaling"):
        def peer_of(iterations):
            peer = hmm.GaussianHMM(10, "diag", n_iter=iterations, tol=-np.inf, init_params="", implementation=implementation)
            peer.startprob_, peer.transmat_, peer.means_, peer.covars_ = model.startprob_, model.transmat_, model.means_, model.covars_
            return peer

        fits = [seconds(lambda: peer_of(n).fit(values), 1) for n in (1, 1 + given.iterations)]
        tell("hmmlearn, " + implementation, (seconds(lambda: peer_of(1).predict_proba(values), 1), (fits[1] - fits[0]) / given.iterations),
             model, values, given)


def against_mhsmm(given):
    values = values_of(24, 50, given.hsmm_positions)
    model = semicrf.HSMM(24, max_duration=100, n_iter=2, tol=0).fit(values)
    numbers = {"init": model.startprob_, "transition": model.transmat_, "duration": model.durationprob_, "mean": model.means_,
               "variance": model.covars_}
    with tempfile.TemporaryDirectory() as box:
        folder = pathlib.Path(box)
        (folder / "model.R").write_text("list(%s)\n" % ", ".join(
            "%s = c(%s)" % (name, ", ".join("%.17g" % x for x in np.ravel(one))) for name, one in numbers.items()))
        np.savetxt(folder / "x.txt", values, "%.17g")
        told = subprocess.run(["Rscript", "--vanilla", str(PEERS / "mhsmm.R"), box, str(given.iterations)], check=True, capture_output=True, text=True)
    posterior, one, several = (float(line) for line in told.stdout.split())
    tell("mhsmm", (posterior, (several - one) / given.iterations), model, values, given)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--positions", type=int, default=1_000_000)
    parser.add_argument("--hsmm-positions", type=int, default=20_000)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    for compare in (against_mhsmm, against_hmmlearn):
        try:
            compare(given)
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            print("passed over: %s" % error)


if __name__ == "__main__":
    main()
