#!/usr/bin/env python3
"""Table 5 (d) with a program that is not ours: the training that `semicrf-lab training` wrote down, by flash-semicrf:

    python3 tests/lab/peers/training_peers.py build/paper

Reads training_shared_data.txt, begins with the same zeros, takes the same steps (Adam), and writes training_peers.tsv: the mean
negative log-likelihood after the last epoch, which training_shared.tsv has from the product's engines. Automatic differentiation
is PyTorch's, log Z flash-semicrf's: its streaming pass, and the linear scan that it has from pytorch-struct.
"""

import importlib.util
import pathlib
import sys
import time

SKIPPED = 77


def read(path):
    lines = path.read_text().splitlines()
    B, T, C, K, D, epochs = map(int, lines[0].split())
    rows = [[float(value) for value in line.split()] for line in lines[1::2]]
    numbers = [list(map(int, line.split())) for line in lines[2::2]]
    segments = [[tuple(one[i:i + 3]) for i in range(0, len(one), 3)] for one in numbers]
    return (B, T, C, K, D, epochs), rows, segments


def train(name, path):
    import torch
    import torch_peers
    torch.set_num_threads(1)
    (B, T, C, K, D, epochs), rows, segments = read(path)
    rows = torch.tensor(rows, dtype=torch.float64).reshape(B, T, D)
    weights, transition, duration = (torch.zeros(*size, dtype=torch.float64, requires_grad=True) for size in ((D, C), (C, C), (K, C)))

    def mean_loss():
        emissions = rows @ weights
        given = torch_peers.Given(emissions, transition, duration)
        if name == "flash-semicrf, PyTorch":
            from flash_semicrf.streaming import semi_crf_streaming_forward
            log_z = semi_crf_streaming_forward(given.sums(), transition, duration, torch.full((B,), T), K, use_triton=False).sum()
        else:
            log_z = torch_peers.PEERS[name][1](given)[0]().sum()
        score = torch.zeros((), dtype=torch.float64)
        for b, one in enumerate(segments):
            before = None
            for begin, end, label in one:
                score = score + emissions[b, begin:end, label].sum() + duration[end - begin - 1, label]
                # The first segment has no source, which is summed over.
                score = score + (transition[:, label].logsumexp(0) if before is None else transition[before, label])
                before = label
        return (log_z - score) / B

    adam = torch.optim.Adam([weights, transition, duration], lr=0.02, betas=(0.9, 0.999), eps=1e-8)
    begin = time.process_time()
    for _ in range(epochs):
        adam.zero_grad()
        mean_loss().backward()
        adam.step()
    with torch.no_grad():
        return (B, T, C, K, epochs), float(mean_loss()), time.process_time() - begin


def main():
    folder = pathlib.Path(sys.argv[1])
    path = folder / "training_shared_data.txt"
    if not importlib.util.find_spec("flash_semicrf") or not path.exists():
        print("skipped: flash-semicrf is not installed, or semicrf-lab training did not run")
        return SKIPPED
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    part = folder / "training_peers.tsv.part"
    with part.open("w") as file:
        print("program", *"BTCK", "epochs", "final_nll", "seconds", sep="\t", file=file)
        for name in ("flash-semicrf, PyTorch", "linear scan"):
            shape, loss, seconds = train(name, path)
            print(name, *shape, "%.17g" % loss, "%.4g" % seconds, sep="\t", file=file, flush=True)
            print("%s: final NLL %.15g, %.3g s" % (name, loss, seconds), flush=True)
    part.rename(folder / "training_peers.tsv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
