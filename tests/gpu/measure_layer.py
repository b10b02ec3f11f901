#!/usr/bin/env python3
"""semicrf.torch on a GPU: milliseconds of log Z with loss.backward(), and of flash-semicrf where it is installed.

usage: measure_layer.py [REPEATS]

The package must be importable. Prints a line of JSON for each shape. Every step has other tables, as in training; a step ends
when the GPU is done. Memory is what the GPU has less after the steps than before them, scores and their gradients included.
"""

import json
import statistics
import sys
import time

import torch

import semicrf.torch as layer

SHAPES = ((1, 50, 5, 3), (32, 300, 30, 39), (64, 10_000, 50, 12), (1, 1_000_000, 100, 24))  # B, T, K, C


def ours(scores, transition, duration, lengths):
    return layer.log_partition(scores, transition, duration, lengths=lengths)


def theirs(scores, transition, duration, lengths):
    from flash_semicrf.streaming import semi_crf_streaming_forward
    sums = torch.nn.functional.pad(scores.double().cumsum(1), (0, 0, 1, 0)).to(scores.dtype)
    return semi_crf_streaming_forward(sums, transition, duration, lengths.to(scores.device), duration.shape[0], use_triton=True)


def milliseconds(function, shape, repeats):
    batch, positions, durations, labels = shape
    torch.manual_seed(1)
    inputs = [torch.randn(*size, device="cuda", requires_grad=True)
              for size in ((batch, positions, labels), (labels, labels), (durations, labels))]
    lengths = torch.full((batch,), positions)
    before = torch.cuda.mem_get_info()[0]
    times = []
    for step in range(repeats + 2):
        with torch.no_grad():
            for one in inputs:
                one.grad = None
            inputs[2] += 1e-4
        torch.cuda.synchronize()
        begin = time.perf_counter()
        log_z = function(*inputs, lengths)
        log_z.sum().backward()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    used = before - torch.cuda.mem_get_info()[0]
    return 1e3 * statistics.median(times[2:]), log_z.detach().double().cpu(), inputs[0].grad.cpu(), used


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    try:
        import flash_semicrf  # noqa: F401
        peer = True
    except ImportError:
        peer = False
    for shape in SHAPES:
        time_of, log_z, gradient, used = milliseconds(ours, shape, repeats)
        line = {"card": torch.cuda.get_device_name(), "shape": "B %d, T %d, K %d, C %d" % shape, "ms": round(time_of, 3),
                "GiB": round(used / 2**30, 2)}
        if peer:
            try:
                their_time, their_z, their_gradient, _ = milliseconds(theirs, shape, 3 if shape[0] * shape[1] > 50_000 else repeats)
                line["flash-semicrf ms"] = round(their_time, 3)
                line["ratio"] = round(their_time / time_of, 1)
                line["log Z apart"] = float(((log_z - their_z) / their_z).abs().max())
                line["gradients apart"] = float((gradient - their_gradient).abs().max())
            except Exception as error:  # of any kind: it is not ours
                line["flash-semicrf"] = str(error).splitlines()[0][:120]
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
