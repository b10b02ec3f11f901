#!/usr/bin/env python3
"""Other programs on the shapes of figure 2, measured where they are installed and named "not installed" elsewhere:

    python3 tests/lab/peers.py build/paper [--full]

pytorch-struct (torch_struct) and flash-semicrf (flash_semicrf) for Python, hsmmlearn for Python, mhsmm for R. Nothing is
installed, and nothing of them is part of this repository. Writes peers.tsv: seconds of processor time and positions per
second of one forward pass (log Z), the least of three runs, one thread. Peers that take an edge tensor are timed with
it given.
"""

import argparse
import importlib.util
import pathlib
import shutil
import subprocess
import time

HEAD = ("peer", "pass", "T", "K", "C", "seconds", "positions_per_second", "note")


def least(body, repeats=3):
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        body()
        best = min(best, time.process_time() - begin)
    return best


def pytorch_struct(shapes):
    import torch
    import torch_struct
    torch.set_num_threads(1)
    for T, K, C in shapes:
        edges = torch.randn(1, T - 1, K, C, C)
        lengths = torch.tensor([T])
        yield (T, K, C), least(lambda: torch_struct.SemiMarkovCRF(edges, lengths=lengths).partition), "edge tensor given"


def flash_semicrf(shapes):
    import torch
    from flash_semicrf.streaming import semi_crf_streaming_forward
    torch.set_num_threads(1)
    for T, K, C in shapes:
        scores = torch.randn(1, T, C, dtype=torch.float64)
        sums = torch.cat([torch.zeros(1, 1, C, dtype=torch.float64), scores.cumsum(1)], 1)
        transition, durations = torch.randn(C, C, dtype=torch.float64), torch.randn(K, C, dtype=torch.float64)
        lengths = torch.tensor([T])
        yield (T, K, C), least(lambda: semi_crf_streaming_forward(sums, transition, durations, lengths, K)), "its PyTorch path on the processor"


def hsmmlearn(shapes):
    import numpy
    from hsmmlearn.hsmm import GaussianHSMM
    for T, K, C in shapes:
        transition = (1 - numpy.eye(C)) / max(1, C - 1)
        model = GaussianHSMM(numpy.arange(C, dtype=float), numpy.ones(C), numpy.full((C, K), 1 / K), transition)
        observed = numpy.random.default_rng(1).normal(size=T)
        yield (T, K, C), least(lambda: model.decode(observed)), "Viterbi"


R_SCRIPT = """
library(mhsmm)
shape <- as.integer(commandArgs(TRUE)); T <- shape[1]; K <- shape[2]; C <- shape[3]
set.seed(1)
P <- (matrix(1, C, C) - diag(C)) / max(1, C - 1)
model <- hsmmspec(init = rep(1 / C, C), transition = P, parms.emis = list(mu = 1:C, sigma = rep(1, C)),
                  sojourn = list(d = matrix(1 / K, K, C), type = "nonparametric"), dens.emis = dnorm.hsmm)
x <- rnorm(T)
cat(min(sapply(1:3, function(i) sum(system.time(predict(model, x, method = "viterbi"))[1:2]))))
"""


def mhsmm(shapes):
    for T, K, C in shapes:
        found = subprocess.run(["Rscript", "-e", R_SCRIPT, str(T), str(K), str(C)], capture_output=True, text=True)
        if found.returncode != 0:
            raise RuntimeError(found.stderr.strip().splitlines()[-1] if found.stderr.strip() else "Rscript failed")
        yield (T, K, C), float(found.stdout.split()[-1]), "Viterbi"


def installed(peer):
    if peer == "mhsmm":
        if not shutil.which("Rscript"):
            return False
        return subprocess.run(["Rscript", "-e", "quit(status = !requireNamespace('mhsmm', quietly = TRUE))"], capture_output=True).returncode == 0
    return importlib.util.find_spec({"pytorch-struct": "torch_struct", "flash-semicrf": "flash_semicrf"}.get(peer, peer)) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    shapes = [(128, 4, 3), (256, 12, 4), (1024, 24, 4)] + [(4096, 60, 8), (10000, 100, 8)] * options.full
    part = options.folder / "peers.tsv.part"
    with part.open("w") as file:
        print(*HEAD, sep="\t", file=file)
        for peer, measure in (("pytorch-struct", pytorch_struct), ("flash-semicrf", flash_semicrf), ("hsmmlearn", hsmmlearn), ("mhsmm", mhsmm)):
            if not installed(peer):
                print("%s: not installed" % peer)
                print(peer, "-", "-", "-", "-", "-", "-", "not installed", sep="\t", file=file)
                continue
            try:
                for (T, K, C), seconds, note in measure(shapes):
                    print("%s: T %d K %d C %d: %.4g s" % (peer, T, K, C, seconds))
                    print(peer, "forward", T, K, C, "%.4g" % seconds, "%.4g" % (T / max(seconds, 1e-9)), note, sep="\t", file=file)
            except Exception as error:  # a peer of another version must not stop the rest
                print("%s: failed: %s" % (peer, error))
                print(peer, "-", "-", "-", "-", "-", "-", "failed: " + " ".join(str(error).split()), sep="\t", file=file)
    part.rename(options.folder / "peers.tsv")


if __name__ == "__main__":
    main()
