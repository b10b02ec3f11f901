#!/usr/bin/env python3
"""Other programs on the shapes of figure 2, measured where they are installed and named "not installed" elsewhere:

    python3 tests/lab/peers.py build/paper [--full] [--device cuda]

pytorch-struct (torch_struct) and flash-semicrf (flash_semicrf) for Python, hsmmlearn for Python, mhsmm for R. Nothing is
installed, and nothing of them is part of this repository. Writes peers.tsv: seconds and positions per second of one
forward pass (log Z), the least of three runs: processor time of one thread, or with --device cuda the seconds until the
device is done. Peers that take an edge tensor are timed with it given, on the device.
"""

import argparse
import importlib.util
import pathlib
import shutil
import subprocess
import time

HEAD = ("peer", "device", "B", "T", "K", "C", "seconds", "positions_per_second", "note")


def least(body, device="cpu", repeats=3):
    """The shortest of `repeats` runs after one that is not counted (on a device it compiles kernels)."""
    if device == "cuda":
        import torch
        clock, wait = time.perf_counter, torch.cuda.synchronize
        body()
        wait()
    else:
        clock, wait = time.process_time, lambda: None
    best = float("inf")
    for _ in range(repeats):
        begin = clock()
        body()
        wait()
        best = min(best, clock() - begin)
    return best


def pytorch_struct(shapes, device):
    import torch
    import torch_struct
    torch.set_num_threads(1)
    for B, T, K, C in shapes:
        # It multiplies matrices over n = (K - 1) C states up a tree, by all n^3 products before they are summed.
        products = B * T / 2 * ((K - 1) * C) ** 3 * 4
        if products > (2e9 if device == "cpu" else 20e9):
            yield (B, T, K, C), None, "not tried: %.0f GB for the first level of its tree" % (products * 1e-9)
            continue
        edges = torch.randn(B, T - 1, K, C, C, device=device)
        lengths = torch.full((B,), T, device=device)
        with torch.no_grad():
            yield (B, T, K, C), least(lambda: torch_struct.SemiMarkovCRF(edges, lengths=lengths).partition, device), "edge tensor given"


def flash_semicrf(shapes, device):
    import torch
    from flash_semicrf.streaming import semi_crf_streaming_forward
    torch.set_num_threads(1)
    real = torch.float32 if device == "cuda" else torch.float64
    for B, T, K, C in shapes:
        sums = torch.zeros(B, T + 1, C, device=device, dtype=real)
        sums[:, 1:] = torch.randn(B, T, C, device=device, dtype=torch.float64).cumsum(1).to(real)
        transition, durations = (torch.randn(rows, C, device=device, dtype=real) for rows in (C, K))
        lengths = torch.full((B,), T, device=device)
        with torch.no_grad():
            yield (B, T, K, C), least(lambda: semi_crf_streaming_forward(sums, transition, durations, lengths, K), device), str(real).split(".")[1]


def hsmmlearn(shapes, device):
    import numpy
    from hsmmlearn.hsmm import GaussianHSMM
    for _, T, K, C in shapes:
        transition = (1 - numpy.eye(C)) / max(1, C - 1)
        model = GaussianHSMM(numpy.arange(C, dtype=float), numpy.ones(C), numpy.full((C, K), 1 / K), transition)
        observed = numpy.random.default_rng(1).normal(size=T)
        yield (1, T, K, C), least(lambda: model.decode(observed)), "Viterbi"


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


def mhsmm(shapes, device):
    for _, T, K, C in shapes:
        found = subprocess.run(["Rscript", "-e", R_SCRIPT, str(T), str(K), str(C)], capture_output=True, text=True)
        if found.returncode != 0:
            raise RuntimeError(found.stderr.strip().splitlines()[-1] if found.stderr.strip() else "Rscript failed")
        yield (1, T, K, C), float(found.stdout.split()[-1]), "Viterbi"


def installed(peer):
    if peer == "mhsmm":
        if not shutil.which("Rscript"):
            return False
        return subprocess.run(["Rscript", "-e", "quit(status = !requireNamespace('mhsmm', quietly = TRUE))"], capture_output=True).returncode == 0
    return importlib.util.find_spec({"pytorch-struct": "torch_struct", "flash-semicrf": "flash_semicrf"}.get(peer, peer)) is not None


def measure_one(peer, measure, shape, device, file):
    """Writes the row of one shape. A peer of another version, or out of memory, must not stop the rest: "failed"."""
    try:
        for (B, T, K, C), seconds, note in measure([shape], device):
            text = ("%.4g" % seconds, "%.4g" % (B * T / max(seconds, 1e-9))) if seconds is not None else ("-", "-")
            print("%s: B %d T %d K %d C %d: %s s %s" % (peer, B, T, K, C, text[0], note), flush=True)
            print(peer, device, B, T, K, C, *text, note, sep="\t", file=file, flush=True)
        return "done"
    except Exception as error:
        print(peer, device, *shape, "-", "-", "failed: " + " ".join(str(error).split())[:160], sep="\t", file=file, flush=True)
        return "failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="for the peers that are PyTorch")
    options = parser.parse_args()
    shapes = [(1, 128, 4, 3), (1, 256, 12, 4), (1, 1024, 24, 4)] + [(1, 4096, 60, 8), (1, 10000, 100, 8)] * options.full
    peers = [("pytorch-struct", pytorch_struct), ("flash-semicrf", flash_semicrf), ("hsmmlearn", hsmmlearn), ("mhsmm", mhsmm)]
    if options.device == "cuda":
        shapes += [(1, 100000, 100, 24), (32, 300, 30, 39)] * options.full
        del peers[2:]
    name = "peers.tsv" if options.device == "cpu" else "peers_cuda.tsv"
    part = options.folder / (name + ".part")
    with part.open("w") as file:
        print(*HEAD, sep="\t", file=file)
        for peer, measure in peers:
            if not installed(peer):
                print("%s: not installed" % peer)
                print(peer, *"-------", "not installed", sep="\t", file=file)
                continue
            for shape in shapes:
                note = measure_one(peer, measure, shape, options.device, file)
                if note == "failed":
                    print("%s: failed on %s" % (peer, shape), flush=True)
    part.rename(options.folder / name)


if __name__ == "__main__":
    main()
