#!/usr/bin/env python3
"""Other programs and the product on the same problems, in one call, on one machine:

    python3 tests/lab/peers/peers.py build/paper --program build/release/bin/semicrf-lab [--full]
    python3 tests/lab/peers/peers.py build/paper --device cuda --bench build/cuda/tests/gpu/gpu_bench [--full]

flash-semicrf (flash_semicrf: its streaming passes, its linear scans and its trees), pytorch-struct (torch_struct), hsmmlearn for
Python, mhsmm for R, each where the user has installed it; "not installed" elsewhere. Nothing is installed, and nothing of them is
part of this repository. Writes peers.tsv or peers_cuda.tsv: seconds of log Z (forward), and of log Z with its gradients
(forward+backward): processor time of one thread, or with --device cuda the seconds until the device is done, the scores on the
device. Peers that take an edge tensor are timed with it given. `log_z` is the sum over the sequences; all of them are given the
same scores, so that it must be the same number.
"""

import argparse
import array
import ctypes
import importlib.util
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HEAD = ("method", "device", "precision", "B", "T", "K", "C", "scores", "pass", "seconds", "positions_per_second", "peak_bytes", "log_z", "note")
SKIPPED = 77
FORWARD, BOTH = "forward", "forward+backward"
TREES = ["binary tree", "block-triangular", "pytorch-struct, tree"]
SCANS = ["linear scan", "vectorised scan"]
STREAMING = ["flash-semicrf, PyTorch"]
FUSED = ["flash-semicrf, Triton"]

# Shapes (B, T, K, C), the scores, and who computes them with which passes. "random": all scores N(0, 1). "long": faint emissions, no
# preference for a duration, rare transitions, so that every duration counts.
CPU = [((1, 128, 4, 3), "random", STREAMING + SCANS + TREES, (FORWARD, BOTH)),
       ((1, 256, 12, 4), "random", STREAMING + SCANS + TREES, (FORWARD, BOTH)),
       ((1, 1024, 24, 4), "random", STREAMING + SCANS, (FORWARD,)),
       ((4, 100, 20, 8), "random", STREAMING + SCANS, (FORWARD, BOTH))]
CPU_FULL = [((1, 1024, 24, 4), "random", TREES, (FORWARD,)),
            ((4, 300, 30, 39), "random", STREAMING + SCANS, (FORWARD, BOTH)),
            ((1, 4096, 60, 8), "random", STREAMING + SCANS + TREES, (FORWARD,))]
CUDA = [((1, 128, 4, 3), "random", FUSED + SCANS + TREES, (FORWARD, BOTH)),
        ((1, 256, 12, 4), "random", FUSED + SCANS + TREES, (FORWARD, BOTH)),
        ((1, 1024, 24, 4), "random", FUSED + SCANS + TREES, (FORWARD, BOTH)),
        ((32, 300, 30, 39), "random", FUSED, (FORWARD, BOTH))]
CUDA_FULL = [((2, 5000, 1000, 24), "long", FUSED, (FORWARD,)),
             ((1, 100000, 100, 24), "random", FUSED, (FORWARD,)),
             ((32, 5000, 2000, 6), "long", FUSED, (FORWARD,)),
             ((32, 5000, 4000, 6), "long", FUSED, (FORWARD,)),
             ((32, 300, 30, 39), "random", SCANS + STREAMING, (FORWARD, BOTH)),
             ((4, 500, 50, 32), "random", FUSED + STREAMING + SCANS, (FORWARD, BOTH)),
             ((1, 4000, 100, 24), "random", FUSED, (FORWARD, BOTH))]
OURS_ALONE = [((32, 50000, 2000, 6), "long"), ((32, 50000, 4000, 6), "long"), ((32, 50000, 8000, 6), "long"), ((2, 100000, 1000, 24), "long")]


def drawn(shape, scores, seed=1):
    """Emissions, transitions, durations: tensors of doubles where torch is there, else arrays (made more slowly)."""
    B, T, K, C = shape
    scale, offset, durations = (0.1, -8.0, 0.0) if scores == "long" else (1.0, 0.0, 1.0)
    if importlib.util.find_spec("torch"):
        import torch
        generator = torch.Generator().manual_seed(seed)

        def normal(count):
            return torch.randn(count, dtype=torch.float64, generator=generator)
        return scale * normal(B * T * C), offset + normal(C * C), durations * normal(K * C)
    gauss = random.Random(seed).gauss
    return tuple(array.array("d", [base + factor * gauss(0, 1) for _ in range(count)])
                 for base, factor, count in ((0, scale, B * T * C), (offset, 1, C * C), (0, durations, K * C)))


def write_problem(path, shape, numbers):
    with path.open("wb") as file:
        file.write(struct.pack("<4q", *shape))
        for values in numbers:
            file.write(ctypes.string_at(values.data_ptr(), 8 * len(values)) if hasattr(values, "data_ptr") else values.tobytes())


def given_of(torch_peers, shape, numbers):
    B, T, K, C = shape
    return torch_peers.Given(*(values.reshape(size) for values, size in zip(numbers, ((B, T, C), (C, C), (K, C)))))


def failure(error):
    return "failed: " + " ".join(str(error).split())[:120]


class Rows:
    def __init__(self, path, device):
        self.path, self.device, self.lines = path, device, []
        self.write()

    def write(self):
        part = self.path.with_name(self.path.name + ".part")
        part.write_text("".join("\t".join(line) + "\n" for line in [HEAD, *self.lines]))
        part.rename(self.path)

    def add(self, method, shape=("-",) * 4, scores="-", done="-", seconds=None, peak=None, log_z=None, precision="-", note="-", device=None):
        speed = "%.4g" % (shape[0] * shape[1] / max(seconds, 1e-9)) if seconds is not None else "-"
        line = (method, device or self.device, precision, *map(str, shape), scores, done, "-" if seconds is None else "%.4g" % seconds, speed,
                "-" if peak is None else "%d" % peak, "-" if log_z is None else "%.15g" % log_z, note)
        self.lines.append(line)
        print("%-24s %-8s B %s T %s K %s C %s %s %s: %s s, log Z %s %s" % (method, precision, *shape, scores, done, line[9], line[12], note), flush=True)
        self.write()


def ours_on_processor(rows, program, path, shape, scores):
    found = subprocess.run([program, "given", str(path)], capture_output=True, text=True, check=True)
    for line in found.stdout.splitlines():
        name, done, seconds, log_z = line.split("\t")
        engine, precision = name.split()
        rows.add("semicrf", shape, scores, done, float(seconds), None, float(log_z), precision, device=engine)


def ours_on_card(rows, bench, path, shape, scores):
    found = subprocess.run([bench, "given", str(path)], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    log_z = {line["precision"]: line["value"] for line in lines if line["op"] == "log Z"}
    for line in lines:
        if line["op"] != "log Z":
            rows.add("semicrf", shape, scores, line["op"], line["seconds"], None, log_z[line["precision"]], line["precision"])


def peers_of_torch(rows, shape, scores, names, passes, numbers, device):
    import torch
    import torch_peers
    torch.set_num_threads(1)
    given = given_of(torch_peers, shape, numbers)
    real = torch.float32 if device == "cuda" else torch.float64
    for name in names:
        if not importlib.util.find_spec(torch_peers.PEERS[name][0]):
            continue
        for done in passes:
            precision = "float" if real == torch.float32 else "double"
            try:
                seconds, peak, log_z = torch_peers.measure(name, given, done == BOTH, device, real, 1.0)
                rows.add(name, shape, scores, done, seconds, peak, log_z, precision)
            except torch_peers.TooLarge as reason:
                rows.add(name, shape, scores, done, precision=precision, note=str(reason))
            except Exception as error:  # of another version, or out of memory: that must not stop the others
                rows.add(name, shape, scores, done, precision=precision, note=failure(error))
            if device == "cuda":
                torch.cuda.empty_cache()


def log_z_in_double(rows, shape, scores, numbers, device):
    """flash-semicrf's log Z from scores in double, which is compared with the engine in double."""
    import torch
    import torch_peers
    given = given_of(torch_peers, shape, numbers)
    name = FUSED[0]
    try:
        seconds, peak, log_z = torch_peers.measure(name, given, False, device, torch.float64, 0)
        rows.add(name, shape, scores, FORWARD, seconds, peak, log_z, "double")
    except Exception as error:
        rows.add(name, shape, scores, FORWARD, precision="double", note=failure(error))


def least(body, repeats=3):
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        body()
        best = min(best, time.process_time() - begin)
    return best


def hsmmlearn(rows, shape):
    import numpy
    from hsmmlearn.hsmm import GaussianHSMM
    _, T, K, C = shape
    transition = (1 - numpy.eye(C)) / max(1, C - 1)
    model = GaussianHSMM(numpy.arange(C, dtype=float), numpy.ones(C), numpy.full((C, K), 1 / K), transition)
    observed = numpy.random.default_rng(1).normal(size=T)
    rows.add("hsmmlearn", shape, "-", "best path", least(lambda: model.decode(observed)), precision="double")


R_SCRIPT = """
library(mhsmm)
shape <- as.integer(commandArgs(TRUE)); T <- shape[1]; K <- shape[2]; C <- shape[3]
set.seed(1)
P <- (matrix(1, C, C) - diag(C)) / max(1, C - 1)
model <- hsmmspec(init = rep(1 / C, C), transition = P, parms.emis = list(mu = 1:C, sigma = rep(1, C)),
                  sojourn = list(d = matrix(1 / K, K, C), type = "nonparametric"), dens.emis = dnorm.hsmm)
x <- rnorm(T)
times <- 1
repeat {  # the clock of R ticks in milliseconds
  seconds <- sum(system.time(for (i in 1:times) predict(model, x, method = "viterbi"))[1:2])
  if (seconds > 0.1) break
  times <- times * 2
}
cat(seconds / times)
"""


def mhsmm(rows, shape):
    _, T, K, C = shape
    found = subprocess.run(["Rscript", "-e", R_SCRIPT, str(T), str(K), str(C)], capture_output=True, text=True)
    if found.returncode != 0:
        raise RuntimeError(found.stderr.strip().splitlines()[-1] if found.stderr.strip() else "Rscript failed")
    rows.add("mhsmm", shape, "-", "best path", float(found.stdout.split()[-1]), precision="double")


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
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--program", type=pathlib.Path, help="semicrf-lab: the product on a processor")
    parser.add_argument("--bench", type=pathlib.Path, help="gpu_bench: the product on a card")
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    cuda = options.device == "cuda"
    rows = Rows(options.folder / ("peers_cuda.tsv" if cuda else "peers.tsv"), options.device)
    peers = ["flash-semicrf", "pytorch-struct"] + ["hsmmlearn", "mhsmm"] * (not cuda)
    there = [peer for peer in peers if installed(peer)]
    for peer in peers:
        if peer not in there:
            rows.add(peer, note="not installed")
    torch_here = importlib.util.find_spec("torch") is not None
    shapes = (CUDA + [(shape, scores, [], ()) for shape, scores in OURS_ALONE if options.full] + CUDA_FULL * options.full if cuda
              else CPU + CPU_FULL * options.full)
    seen = set()
    for shape, scores, names, passes in shapes:
        numbers = drawn(shape, scores)
        first = (shape, scores) not in seen
        seen.add((shape, scores))
        if first and (options.bench if cuda else options.program):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "problem.bin")
                write_problem(path, shape, numbers)
                try:
                    (ours_on_card if cuda else ours_on_processor)(rows, options.bench if cuda else options.program, path, shape, scores)
                except (OSError, subprocess.CalledProcessError) as error:
                    rows.add("semicrf", shape, scores, note=failure(error))
        if torch_here and names:
            peers_of_torch(rows, shape, scores, names, passes, numbers, options.device)
            if cuda and first and "flash-semicrf" in there and shape[1] <= 10000 and shape[2] <= 100:
                log_z_in_double(rows, shape, scores, numbers, options.device)
        for peer, measure in (("hsmmlearn", hsmmlearn), ("mhsmm", mhsmm)):
            if peer in there and shape[0] == 1 and scores == "random":
                try:
                    measure(rows, shape)
                except Exception as error:
                    rows.add(peer, shape, "-", "best path", note=failure(error))


if __name__ == "__main__":
    main()
