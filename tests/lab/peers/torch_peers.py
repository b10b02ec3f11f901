"""Peers that are PyTorch, each given the same problem: flash-semicrf's package with all of its backends, and pytorch-struct.

A peer is a function of a problem on a device; it returns a function without arguments that computes log Z of every sequence,
and the tensors that gradients are taken by. Nothing of the packages is part of this repository.
"""

import time
import warnings

import torch

warnings.filterwarnings("ignore", "(?s).*arg_constraints")
IMPOSSIBLE = -1e9  # as the packages have it
MUCH_LONGER_THAN_COMPILING = 10.0  # seconds; a kernel takes one or two, and each length is compiled anew
BYTES_OF_PRODUCTS = {"cpu": 4e9, "cuda": 20e9}


class TooLarge(Exception):
    pass


class Given:
    """Scores of a batch: emissions (B, T, C), transitions (C, C) [from][to], durations (K, C), row k-1; float64."""

    def __init__(self, emissions, transition, duration):
        self.emissions, self.transition, self.duration = emissions, transition, duration
        self.B, self.T, self.C = emissions.shape
        self.K = duration.shape[0]

    def on(self, device, real):
        return Given(*(values.to(device=device, dtype=real) for values in (self.emissions, self.transition, self.duration)))

    def sums(self):
        """S (B, T+1, C), summed in double."""
        sums = torch.zeros(self.B, self.T + 1, self.C, device=self.emissions.device, dtype=torch.float64)
        sums[:, 1:] = self.emissions.double().cumsum(1)
        return sums.to(self.emissions.dtype)

    def edges(self, first):
        """psi (B, T, rows, C, C) [to][from], at the position where a segment begins; `first` is the duration of row 0. The linear
        scans of the packages count from 1, the trees from 0 (a row that nothing may use)."""
        rows = self.K + 1 - first
        sums, result = self.sums(), None
        result = torch.full((self.B, self.T, rows, self.C, self.C), IMPOSSIBLE, device=sums.device, dtype=sums.dtype)
        for k in range(1, min(self.K, self.T) + 1):
            segments = sums[:, k:] - sums[:, :self.T + 1 - k] + self.duration[k - 1]
            result[:, :self.T + 1 - k, k - first] = segments[..., :, None] + self.transition.t()
        return result


def streaming(given, triton):
    from flash_semicrf.streaming import semi_crf_streaming_forward
    inputs = [given.sums(), given.transition.clone(), given.duration.clone()]
    lengths = torch.full((given.B,), given.T, device=inputs[0].device)
    return lambda: semi_crf_streaming_forward(*inputs, lengths, given.K, use_triton=triton), inputs


def their_scan(given, name):
    import flash_semicrf
    from flash_semicrf.semirings import LogSemiring
    edges = given.edges(1)
    lengths = torch.full((given.B,), given.T + 1, device=edges.device)
    return lambda: getattr(flash_semicrf.SemiMarkov(LogSemiring), name)(edges, lengths)[0], [edges]


def refuse_products(given):
    """A tree multiplies matrices over n = K C states by all n^3 products before they are summed."""
    products = given.B * given.T / 2 * (given.K * given.C) ** 3 * given.emissions.element_size()
    if products > BYTES_OF_PRODUCTS[given.emissions.device.type]:
        raise TooLarge("not tried: %.0f GB for the first level of its tree" % (products * 1e-9))


def their_tree(given, name):
    import flash_semicrf
    from flash_semicrf.semirings import LogSemiring
    refuse_products(given)
    edges = given.edges(0)
    lengths = torch.full((given.B,), given.T + 1, device=edges.device)
    return lambda: getattr(flash_semicrf.SemiMarkov(LogSemiring), name)(edges, lengths)[0], [edges]


def pytorch_struct(given):
    import torch_struct
    refuse_products(given)
    edges = given.edges(0)
    lengths = torch.full((given.B,), given.T + 1, device=edges.device)
    return lambda: torch_struct.SemiMarkovCRF(edges, lengths=lengths).partition, [edges]


# Name, package, function. The names of the linear scan and of the trees are those of the package's methods.
PEERS = {
    "flash-semicrf, PyTorch": ("flash_semicrf", lambda given: streaming(given, False)),
    "flash-semicrf, Triton": ("flash_semicrf", lambda given: streaming(given, True)),
    "linear scan": ("flash_semicrf", lambda given: their_scan(given, "_dp_standard")),
    "vectorised scan": ("flash_semicrf", lambda given: their_scan(given, "_dp_standard_vectorized")),
    "binary tree": ("flash_semicrf", lambda given: their_tree(given, "_dp_binary_tree")),
    "block-triangular": ("flash_semicrf", lambda given: their_tree(given, "_dp_blocktriangular")),
    "pytorch-struct, tree": ("torch_struct", pytorch_struct),
}


def clock(device):
    """Seconds until the device is done; of processors, on a processor."""
    if device == "cuda":
        torch.cuda.synchronize()
        return time.perf_counter()
    return time.process_time()


def measure(name, given, backward, device, real, enough):
    """Seconds (the least of up to three runs; one where a run takes longer than `enough`), the peak of bytes beside the inputs
    (on a card), the sum of log Z. On a card a run before is not counted, unless it takes so long that compiling its kernels is
    little of it."""
    compute, inputs = PEERS[name][1](given.on(device, real))
    for values in inputs:
        values.requires_grad_(backward)

    def run():
        with torch.set_grad_enabled(backward):
            value = compute().sum()
            if backward:
                for values in inputs:
                    values.grad = None
                value.backward()
        return value

    least, spent, peak = float("inf"), 0.0, None
    for counted in [False] * (device == "cuda") + [True] * 3:
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
        begin = clock(device)
        value = run()
        seconds = clock(device) - begin
        if device == "cuda":
            peak = torch.cuda.max_memory_allocated() - before
        if counted or seconds > MUCH_LONGER_THAN_COMPILING:
            least, spent = min(least, seconds), spent + seconds
            if spent > enough:
                break
    return least, peak, float(value.detach())

