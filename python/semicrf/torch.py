"""A semi-Markov CRF as a layer of PyTorch networks: log Z and everything that follows from it, with gradients.

`SemiCRF` is the module; `log_partition`, `marginals` and `path_score` are the functions below it. Below these are the
operators `semicrf::forward_backward` and `semicrf::hessian_product` of torch.library, which torch.compile and autograd know.

B sequences are padded to T positions; what lies beyond `lengths` is not looked at and has gradient 0. All scores are natural
logarithms, -inf forbids. Scores may have any floating-point type: float64 is computed in double, the others in float. log Z and
what is made of it is float64. Scores on a GPU stay there.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from . import _core
from .arrays import check_shapes
from .model import Model, Segmentation

_LOCAL = threading.local()


class Marginals(NamedTuple):
    """Probabilities and expected counts under P(y|x). All are differentiable.

    labels: (B, T, C), of label c at t. starts, ends: (B, T, C), that a segment of label c starts at t, has its last position at
    t. transition: (B, C, C), duration: (B, K, C), tail: (B, C): expected counts; row K of the durations has the segments that go
    on into the tail, `tail` the positions by which they exceed K. log_partition: (B).
    """

    labels: Tensor
    starts: Tensor
    ends: Tensor
    transition: Tensor
    duration: Tensor
    tail: Tensor
    log_partition: Tensor


# ---- the operators


def _is_compiling() -> bool:
    return hasattr(torch, "compiler") and hasattr(torch.compiler, "is_compiling") and torch.compiler.is_compiling()


def _register(name: str, compute: Any, fake: Any, backward: Any = None, setup_context: Any = None) -> Any:
    """The function as an operator of PyTorch (2.4), which torch.compile takes as one step. Elsewhere, and where nothing is
    compiled, it is an autograd function, which costs a third of an operator."""
    operator = None
    if hasattr(torch.library, "custom_op"):
        operator = torch.library.custom_op(name, compute, mutates_args=())
        operator.register_fake(fake)
    if backward is None:
        return operator or torch.no_grad()(compute)

    def forward(ctx: Any, *inputs: Any) -> Any:
        output = compute(*inputs)
        setup_context(ctx, inputs, output)
        return output

    eager = type(compute.__name__, (torch.autograd.Function,),
                 {"forward": staticmethod(forward), "backward": staticmethod(backward)}).apply
    if operator is None:
        return eager
    operator.register_autograd(backward, setup_context=setup_context)
    return lambda *inputs: (operator if _is_compiling() else eager)(*inputs)


def _layer(device: torch.device, double: bool, threads: int) -> _core.Layer:
    """This thread's engine for a device. threads: 0, as many as PyTorch has."""
    threads = threads or torch.get_num_threads()
    layers = _LOCAL.__dict__.setdefault("layers", {})
    key = (device.type, device.index, double, threads)
    if key not in layers:
        layers[key] = _core.Layer(device.type, double, threads, device.index or 0)
    return layers[key]


def _set_tables(layer: _core.Layer, transition: Tensor, duration: Tensor, tail: Tensor | None, start: Tensor | None,
                end: Tensor | None, uniform: bool) -> None:
    given = (transition, duration, None if tail is None else tail.double().exp(), start, end)
    there = [one if one.dim() == 2 else one[None] for one in given if one is not None]
    if transition.is_cuda and all(one.is_cuda for one in there):
        rows = torch.cat([one.double() for one in there]).cpu()  # one wait for the GPU
    else:
        rows = torch.cat([one.to("cpu", torch.float64) for one in there])
    at, addresses = 0, []
    for one in given:
        addresses.append(0 if one is None else rows.data_ptr() + 8 * at)
        at += 0 if one is None else one.numel()
    layer.set_tables(duration.shape[1], duration.shape[0], addresses, uniform)


def _view(array: Tensor | None) -> tuple[int, ...] | None:
    return None if array is None or array.numel() == 0 else (array.data_ptr(), array.element_size(), *array.stride())


def _table_views(counts: Tensor, labels: int) -> list[tuple[int, ...] | None]:
    """Of the rows of transitions, of durations and of the tail in (B, C + K + 1, C)."""
    if counts.numel() == 0:
        return [None] * 3
    return [(counts.data_ptr() + 8 * labels * row, 8, *counts.stride()) for row in (0, labels, counts.shape[1] - 1)]


def _compute_forward_backward(scores: Tensor, start_scores: Tensor | None, end_scores: Tensor | None, transition: Tensor,
                              duration: Tensor, tail: Tensor | None, start: Tensor | None, end: Tensor | None, lengths: Tensor,
                              uniform: bool, counts: bool, starts: bool, ends: bool,
                              threads: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    layer = _layer(scores.device, scores.dtype == torch.float64, threads)
    _set_tables(layer, transition, duration, tail, start, end, uniform)
    on_gpu = scores.is_cuda
    host = dict(device="cpu", pin_memory=True) if on_gpu else {}
    found = _outputs(scores, duration, counts, starts, ends, torch.zeros, host)
    log_z, *by_position, by_table = found
    given = [None if one is None else one.contiguous() if on_gpu else one for one in (scores, start_scores, end_scores)]
    layer.forward_backward(lengths.tolist(), *map(_view, given), log_z.data_ptr(), *map(_view, by_position),
                           *_table_views(by_table, scores.shape[2]),
                           torch.cuda.current_stream(scores.device).cuda_stream if on_gpu else 0)
    if not on_gpu:
        return found
    impossible = np.isinf(log_z.numpy()).nonzero()[0].tolist()
    for one in by_position:
        if impossible and one.numel():
            one[impossible] = 0
    return (log_z.to(scores.device, non_blocking=True), *by_position, by_table.to(scores.device, non_blocking=True))


def _outputs(scores: Tensor, duration: Tensor, counts: bool, starts: bool, ends: bool, make: Any,
             host: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """log Z; labels, starts and ends (B, T, C); counts (B, C + K + 1, C). `host`: where those are that the host makes."""
    batch, _, labels = scores.shape

    def by_position(wanted: bool) -> Tensor:
        return make(tuple(scores.shape) if wanted else (0,), dtype=scores.dtype, device=scores.device)

    where = {"device": scores.device, "dtype": torch.float64, **host}
    return (make((batch,), **where), by_position(counts), by_position(starts), by_position(ends),
            make((batch if counts else 0, labels + duration.shape[0] + 1, labels), **where))


def _like_forward_backward(scores: Tensor, start_scores: Any, end_scores: Any, transition: Any, duration: Tensor, tail: Any,
                           start: Any, end: Any, lengths: Any, uniform: bool, counts: bool, starts: bool, ends: bool,
                           threads: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return _outputs(scores, duration, counts, starts, ends, torch.empty, {})


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs[:9], *output[1:])
    ctx.uniform, _, _, _, ctx.threads = inputs[9:]


def _backward(ctx: Any, along_log_z: Tensor | None, *along: Tensor | None) -> tuple[Tensor | None, ...]:
    inputs, found = ctx.saved_tensors[:9], ctx.saved_tensors[9:]
    scores, start_scores, end_scores, transition, duration, tail, start, end, lengths = inputs
    if found[0].dim() != 3:
        raise RuntimeError("semicrf: log Z was computed without its gradients, and is differentiated")
    changes: list[Tensor | None] = [None] * 4  # by scores, start_scores, end_scores and, for every sequence, all tables
    if along_log_z is not None:
        weights = along_log_z.reshape(-1, 1, 1)
        changes = [None if one.numel() == 0 else weights.to(one.dtype) * one for one in found]
    if any(one is not None for one in along):
        products = _hessian_product(*inputs, ctx.uniform, ctx.threads, *along)
        changes = [own if one.numel() == 0 else one if own is None else own + one for own, one in zip(changes, products)]
    *by_position, by_table = changes
    rows = None if by_table is None else by_table.sum(0)
    labels = scores.shape[2]

    def of_table(table: Tensor | None, first: int) -> Tensor | None:
        if table is None or rows is None:
            return None
        return rows[first:first + (table.shape[0] if table.dim() == 2 else 1)].to(table).reshape(table.shape)

    def at_edge(table: Tensor | None, last: bool) -> Tensor | None:
        if table is None or by_position[0] is None:
            return None
        change = by_position[0]
        at = change[:, 0] if not last else change[torch.arange(len(change)), lengths - 1]
        return at.sum(0).to(table)

    return (*[None if given is None or change is None else change.to(given)
              for given, change in zip((scores, start_scores, end_scores), by_position)],
            of_table(transition, 0), of_table(duration, labels), of_table(tail, labels + duration.shape[0]),
            at_edge(start, False), at_edge(end, True), None, None, None, None, None, None)


def _compute_hessian_product(scores: Tensor, start_scores: Tensor | None, end_scores: Tensor | None, transition: Tensor,
                             duration: Tensor, tail: Tensor | None, start: Tensor | None, end: Tensor | None, lengths: Tensor,
                             uniform: bool, threads: int, along_labels: Tensor | None, along_starts: Tensor | None,
                             along_ends: Tensor | None, along_counts: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """How label, start and end posteriors and the expected counts change along a direction, for every sequence."""
    def double(one: Tensor | None) -> Tensor:
        return torch.empty(0) if one is None else one.detach().to("cpu", torch.float64).contiguous()

    layer = _layer(torch.device("cpu"), True, threads)
    _set_tables(layer, transition, duration, tail, start, end, uniform)
    host = [double(one) for one in (scores, start_scores, end_scores)]
    *directions, by_table = (double(one) for one in (along_labels, along_starts, along_ends, along_counts))
    products = _products(host[0], start_scores, end_scores, duration, torch.zeros, torch.float64)
    labels = scores.shape[2]
    layer.hessian_product(lengths.tolist(), *map(_view, host), [*map(_view, directions), *_table_views(by_table, labels)],
                          [*map(_view, products[:3]), *_table_views(products[3], labels)])
    return (*[one.to(scores) for one in products[:3]], products[3].to(scores.device))


def _products(scores: Tensor, start_scores: Tensor | None, end_scores: Tensor | None, duration: Tensor, make: Any,
              dtype: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    batch, _, labels = scores.shape

    def by_position(wanted: bool) -> Tensor:
        return make(tuple(scores.shape) if wanted else (0,), dtype=dtype, device=scores.device)

    return (by_position(True), by_position(start_scores is not None), by_position(end_scores is not None),
            make((batch, labels + duration.shape[0] + 1, labels), dtype=torch.float64, device=scores.device))


def _like_hessian_product(scores: Tensor, start_scores: Tensor | None, end_scores: Tensor | None, transition: Any,
                          duration: Tensor, tail: Any, start: Any, end: Any, lengths: Any, uniform: bool, threads: int,
                          along_labels: Any, along_starts: Any, along_ends: Any,
                          along_counts: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return _products(scores, start_scores, end_scores, duration, torch.empty, scores.dtype)


_hessian_product = _register("semicrf::hessian_product", _compute_hessian_product, _like_hessian_product)
_forward_backward = _register("semicrf::forward_backward", _compute_forward_backward, _like_forward_backward, _backward,
                              _setup_context)


# ---- functions


class _Problem:
    """Checked arguments of one call."""

    def __init__(self, scores: Tensor, transition: Tensor, duration: Tensor, tail: Tensor | None, start: Tensor | None,
                 end: Tensor | None, lengths: Any, start_scores: Tensor | None, end_scores: Tensor | None, initial: str,
                 centering: str, threads: int | None) -> None:
        if not scores.is_floating_point():
            raise ValueError(f"scores: {scores.dtype}, expected floating-point numbers")
        check_shapes({"scores": scores, "start_scores": start_scores, "end_scores": end_scores, "transition": transition,
                      "duration": duration, "tail": tail, "start": start, "end": end}, initial)
        for name, one in (("start_scores", start_scores), ("end_scores", end_scores)):
            if one is not None and one.device != scores.device:
                raise ValueError(f"{name}: is on {one.device}, the scores on {scores.device}")
        batch, positions, _ = scores.shape
        self.lengths = _lengths(lengths, batch, positions)
        dtype = torch.float64 if scores.dtype == torch.float64 else torch.float32
        self.scores = _centred(scores.to(dtype), lengths, self.lengths, centering)
        self.start_scores = None if start_scores is None else start_scores.to(dtype)
        self.end_scores = None if end_scores is None else end_scores.to(dtype)
        self.transition, self.duration, self.tail, self.start, self.end = transition, duration, tail, start, end
        self.uniform = initial == "uniform"
        self.threads = 0 if threads is None else threads

    def inputs(self) -> tuple[Tensor | None, ...]:
        return (self.scores, self.start_scores, self.end_scores, self.transition, self.duration, self.tail, self.start, self.end)

    def solve(self, marginals: bool) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        needed = torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in self.inputs())
        counts = marginals or needed
        starts, ends = (marginals or needed and one is not None for one in (self.start_scores, self.end_scores))
        return _forward_backward(*self.inputs(), self.lengths, self.uniform, counts, starts, ends, self.threads)

    def marginals(self) -> Marginals:
        log_z, labels, starts, ends, counts = self.solve(True)
        columns = self.scores.shape[2]
        return Marginals(labels, starts, ends, counts[:, :columns], counts[:, columns:-1], counts[:, -1], log_z)


def _lengths(lengths: Any, batch: int, positions: int) -> Tensor:
    """(B) int64 on the host."""
    if lengths is None:
        return torch.full((batch,), positions, dtype=torch.int64)
    found = torch.as_tensor(lengths).to("cpu", torch.int64)
    if tuple(found.shape) != (batch,):
        raise ValueError(f"lengths: the shape is {tuple(found.shape)}, expected ({batch},)")
    if not _is_compiling() and batch > 0 and not bool(((found >= 1) & (found <= positions)).all()):
        raise ValueError(f"lengths: from {int(found.min())} to {int(found.max())}, expected 1 to {positions}")
    return found


def _valid(lengths: Tensor, scores: Tensor) -> Tensor:
    """(B, T): whether a position belongs to its sequence."""
    return torch.arange(scores.shape[1], device=scores.device) < lengths.to(scores.device)[:, None]


def _centred(scores: Tensor, given: Any, lengths: Tensor, centering: str) -> Tensor:
    if centering in ("none", "mean-preserving"):  # numbers along a sequence are relative to where they are, always
        return scores
    if centering == "position-max":
        largest = scores.amax(-1, keepdim=True)
        return scores - torch.where(torch.isfinite(largest), largest, 0)
    if centering != "mean":
        raise ValueError(f'centering: "{centering}", expected "none", "mean", "position-max" or "mean-preserving"')
    counted = torch.isfinite(scores)
    if given is not None:
        counted = counted & _valid(lengths, scores)[:, :, None]
    sums = torch.where(counted, scores, 0).sum(1, keepdim=True, dtype=torch.float64)
    return (scores - sums / counted.sum(1, keepdim=True).clamp(min=1)).to(scores.dtype)


def log_partition(scores: Tensor, transition: Tensor, duration: Tensor, tail: Tensor | None = None, start: Tensor | None = None,
                  end: Tensor | None = None, *, lengths: Any = None, start_scores: Tensor | None = None,
                  end_scores: Tensor | None = None, initial: str = "uniform", centering: str = "none",
                  threads: int | None = None) -> Tensor:
    """log Z of each sequence: (B), float64, differentiable twice by every tensor; -inf (with gradient 0) where no segmentation is
    possible.

    scores: (B, T, C), of label c at position t. start_scores, end_scores: (B, T, C), added where a segment of label c starts at
    t, or has its last position there. transition: (C, C), [from, to]. duration: (K, C), row k-1 has duration k. tail: (C), ln q:
    what each position beyond K adds; -inf: no segment of the label is longer than K. start, end: (C), added for the labels of the
    first and the last position. lengths: (B), default T. initial: "uniform", the first segment scores the sum over all labels
    before it, or "none". centering: as in parameter files (docs/users/formats.md). threads: of the host; default:
    torch.get_num_threads().
    """
    return _Problem(scores, transition, duration, tail, start, end, lengths, start_scores, end_scores, initial, centering,
                    threads).solve(False)[0]


def marginals(scores: Tensor, transition: Tensor, duration: Tensor, tail: Tensor | None = None, start: Tensor | None = None,
              end: Tensor | None = None, *, lengths: Any = None, start_scores: Tensor | None = None,
              end_scores: Tensor | None = None, initial: str = "uniform", centering: str = "none",
              threads: int | None = None) -> Marginals:
    """The `Marginals` of each sequence; arguments as for `log_partition`. They may be differentiated once: the products of the
    Hessian of log Z that this needs are computed on the host, in double."""
    return _Problem(scores, transition, duration, tail, start, end, lengths, start_scores, end_scores, initial, centering,
                    threads).marginals()


def path_score(scores: Tensor, labels: Tensor, transition: Tensor, duration: Tensor, tail: Tensor | None = None,
               start: Tensor | None = None, end: Tensor | None = None, *, starts: Tensor | None = None, lengths: Any = None,
               start_scores: Tensor | None = None, end_scores: Tensor | None = None, initial: str = "uniform",
               centering: str = "none") -> Tensor:
    """The score of one segmentation of each sequence: (B), float64; -inf where the model forbids it.

    labels: (B, T), whole numbers; those beyond `lengths` may be anything. starts: (B, T), whether a segment starts there; default:
    wherever the label changes. The others as for `log_partition`.
    """
    given = _Problem(scores, transition, duration, tail, start, end, lengths, start_scores, end_scores, initial, centering, 1)
    if tuple(labels.shape) != tuple(scores.shape[:2]):
        raise ValueError(f"labels: the shape is {tuple(labels.shape)}, expected {tuple(scores.shape[:2])}")
    scores = given.scores
    device, positions = scores.device, scores.shape[1]
    valid = _valid(given.lengths, scores)
    labels = torch.where(valid, labels.to(device, torch.int64), 0)
    if starts is None:
        starts = functional.pad(labels[:, 1:] != labels[:, :-1], (1, 0), value=True)
    starts = starts.to(device).bool() & valid
    starts = torch.cat([torch.ones_like(starts[:, :1]), starts[:, 1:]], 1)
    # The first start behind each position, or the length.
    place = torch.arange(positions, device=device).expand(starts.shape)
    behind = torch.where(starts, place, given.lengths.to(device)[:, None])
    nearest = behind.flip(1).cummin(1).values.flip(1)
    following = functional.pad(nearest[:, 1:], (0, 1), value=positions).minimum(given.lengths.to(device)[:, None])
    lasting = following - place
    ends = functional.pad(starts[:, 1:], (0, 1), value=False) | (place + 1 == given.lengths.to(device)[:, None])

    def table(values: Tensor) -> Tensor:
        return values.to(device, torch.float64)

    def picked(values: Tensor) -> Tensor:
        return values.gather(2, labels[:, :, None])[:, :, 0].double()

    def over(mask: Tensor, values: Tensor) -> Tensor:
        return torch.where(mask, values, 0).sum(1)

    longest = duration.shape[0]
    durations = table(duration)[lasting.clamp(1, longest) - 1, labels]
    if tail is None:
        durations = torch.where(lasting > longest, -torch.inf, durations)
    else:
        durations = durations + torch.where(lasting > longest, (lasting - longest) * table(tail)[labels], 0)
    changes = table(transition)[labels[:, :-1], labels[:, 1:]]
    total = over(valid, picked(scores)) + over(starts, durations) + over(starts[:, 1:], changes)
    if start_scores is not None:
        total = total + over(starts, picked(given.start_scores))
    if end_scores is not None:
        total = total + over(ends & valid, picked(given.end_scores))
    first = labels[:, 0]
    if given.uniform:
        total = total + torch.logsumexp(table(transition), 0)[first]
    if start is not None:
        total = total + table(start)[first]
    if end is not None:
        total = total + table(end)[labels.gather(1, given.lengths.to(device)[:, None] - 1)[:, 0]]
    return total


# ---- the module


class SemiCRF(nn.Module):
    """The last layer of a network that segments: scores (B, T, C) in, log Z, losses, probabilities and segmentations out.

    num_labels: C. max_duration: K, the longest duration with a score of its own.
    durations: "table", a free score for each of the K durations of each label; "geometric" or "negative-binomial", the
    logarithms of these laws over 1, 2, ..., with one or two parameters a label.
    tail: segments may be longer than K; each further position adds ln q of the label, which is learned. Under "geometric" it goes
    on with the law's own q.
    boundary: which scores the calls are given beside those of positions: "none", "start" (where segments start), "end" or "both".
    self_transitions: whether a segment may follow one of the same label.
    min_duration: shorter segments are forbidden.
    initial, centering, threads: as for `log_partition`.

    Calls take scores (B, T, C), lengths (B) or None, and start_scores and end_scores (B, T, C) as `boundary` says.
    """

    def __init__(self, num_labels: int, max_duration: int, *, durations: str = "table", tail: bool = False, boundary: str = "none",
                 self_transitions: bool = False, min_duration: int = 1, initial: str = "uniform", centering: str = "none",
                 threads: int | None = None) -> None:
        super().__init__()
        if num_labels < 1 or max_duration < 1:
            raise ValueError(f"num_labels: {num_labels}, max_duration: {max_duration}, expected at least 1")
        if not 1 <= min_duration <= max_duration:
            raise ValueError(f"min_duration: {min_duration}, expected 1 to {max_duration}")
        if durations not in ("table", "geometric", "negative-binomial"):
            raise ValueError(f'durations: "{durations}", expected "table", "geometric" or "negative-binomial"')
        if boundary not in ("none", "start", "end", "both"):
            raise ValueError(f'boundary: "{boundary}", expected "none", "start", "end" or "both"')
        if num_labels == 1 and not self_transitions:
            self_transitions = True  # or nothing could follow
        self.num_labels, self.max_duration, self.min_duration = num_labels, max_duration, min_duration
        self.durations, self.boundary, self.self_transitions = durations, boundary, self_transitions
        self.initial, self.centering, self.threads = initial, centering, threads
        self.transition_scores = nn.Parameter(torch.zeros(num_labels, num_labels))
        self.start = nn.Parameter(torch.zeros(num_labels))
        self.end = nn.Parameter(torch.zeros(num_labels))
        mean = max(1.5, max_duration / 4)  # of durations at first
        log_odds = float(np.log(mean - 1))  # of a further position
        if durations == "table":
            self.duration_scores = nn.Parameter(torch.zeros(max_duration, num_labels))
        else:
            self.duration_log_odds = nn.Parameter(torch.full((num_labels,), log_odds))
        if durations == "negative-binomial":
            self.duration_log_size = nn.Parameter(torch.zeros(num_labels))
        self.has_tail = tail
        if tail and durations != "geometric":
            self.tail_log_odds = nn.Parameter(torch.full((num_labels,), log_odds))

    def extra_repr(self) -> str:
        return (f"num_labels={self.num_labels}, max_duration={self.max_duration}, durations={self.durations!r}, "
                f"tail={self.has_tail}, boundary={self.boundary!r}")

    # ---- tables

    def transition(self) -> Tensor:
        """(C, C), [from, to]."""
        if self.self_transitions:
            return self.transition_scores
        own = torch.eye(self.num_labels, dtype=torch.bool, device=self.transition_scores.device)
        return self.transition_scores.masked_fill(own, -torch.inf)

    def duration(self) -> Tensor:
        """(K, C), row k-1 has duration k."""
        if self.durations == "table":
            table = self.duration_scores
        else:
            further = torch.arange(self.max_duration, dtype=self.start.dtype, device=self.start.device)[:, None]
            log_q, log_p = functional.logsigmoid(self.duration_log_odds), functional.logsigmoid(-self.duration_log_odds)
            if self.durations == "geometric":
                table = log_p + further * log_q
            else:
                size = self.duration_log_size.exp()
                table = (torch.lgamma(further + size) - torch.lgamma(size) - torch.lgamma(further + 1) + size * log_p
                         + further * log_q)
        if self.min_duration == 1:
            return table
        short = torch.arange(1, self.max_duration + 1, device=table.device)[:, None] < self.min_duration
        return table.masked_fill(short, -torch.inf)

    def tail(self) -> Tensor | None:
        """(C), ln q; None: there is none."""
        if not self.has_tail:
            return None
        return functional.logsigmoid(self.duration_log_odds if self.durations == "geometric" else self.tail_log_odds)

    def _tables(self) -> tuple[Tensor | None, ...]:
        return self.transition(), self.duration(), self.tail(), self.start, self.end

    def _options(self, lengths: Any, start_scores: Tensor | None, end_scores: Tensor | None) -> dict[str, Any]:
        for name, one, kinds in (("start_scores", start_scores, ("start", "both")), ("end_scores", end_scores, ("end", "both"))):
            if (one is not None) != (self.boundary in kinds):
                raise ValueError(f'{name}: {"missing" if one is None else "given"}, and boundary is "{self.boundary}"')
        return dict(lengths=lengths, start_scores=start_scores, end_scores=end_scores, initial=self.initial,
                    centering=self.centering)

    # ---- answers

    def forward(self, scores: Tensor, lengths: Any = None, *, start_scores: Tensor | None = None,
                end_scores: Tensor | None = None) -> Tensor:
        """log_partition()."""
        return self.log_partition(scores, lengths, start_scores=start_scores, end_scores=end_scores)

    def log_partition(self, scores: Tensor, lengths: Any = None, *, start_scores: Tensor | None = None,
                      end_scores: Tensor | None = None) -> Tensor:
        """log Z: (B), float64."""
        return log_partition(scores, *self._tables(), threads=self.threads, **self._options(lengths, start_scores, end_scores))

    def score(self, scores: Tensor, labels: Any, lengths: Any = None, *, starts: Tensor | None = None,
              start_scores: Tensor | None = None, end_scores: Tensor | None = None) -> Tensor:
        """The scores of given segmentations: (B), float64.

        labels: (B, T), the label of every position, whose runs are the segments unless `starts` (B, T) says where segments start;
        or a list of B segmentations, each a `Segmentation` or (n, 3) whole numbers: begin, end, label.
        """
        if not isinstance(labels, Tensor):
            labels, starts = _at_positions(labels, scores, lengths)
        return path_score(scores, labels, *self._tables(), starts=starts, **self._options(lengths, start_scores, end_scores))

    def loss(self, scores: Tensor, labels: Any, lengths: Any = None, *, starts: Tensor | None = None,
             start_scores: Tensor | None = None, end_scores: Tensor | None = None, reduction: str = "mean") -> Tensor:
        """The negative log likelihood of given segmentations, log Z - score: (B), or the mean or sum over the batch that
        `reduction` names ("mean", "sum", "none").

        Infinite where the model forbids a segmentation: one longer than K without a tail, say. labels, starts: as for `score`.
        """
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f'reduction: "{reduction}", expected "mean", "sum" or "none"')
        boundaries = dict(start_scores=start_scores, end_scores=end_scores)
        log_z = self.log_partition(scores, lengths, **boundaries)
        losses = log_z - self.score(scores, labels, lengths, starts=starts, **boundaries)
        return losses.mean() if reduction == "mean" else losses.sum() if reduction == "sum" else losses

    def marginals(self, scores: Tensor, lengths: Any = None, *, start_scores: Tensor | None = None,
                  end_scores: Tensor | None = None) -> Marginals:
        """Probabilities of labels, starts and ends, and expected counts."""
        return marginals(scores, *self._tables(), threads=self.threads, **self._options(lengths, start_scores, end_scores))

    def starts(self, scores: Tensor, lengths: Any = None, *, start_scores: Tensor | None = None,
               end_scores: Tensor | None = None) -> Tensor:
        """(B, T): the probability that a segment starts at t."""
        return self.marginals(scores, lengths, start_scores=start_scores, end_scores=end_scores).starts.sum(2)

    def entropy(self, scores: Tensor, lengths: Any = None, *, start_scores: Tensor | None = None,
                end_scores: Tensor | None = None) -> Tensor:
        """Entropy of the segmentation, in nats: (B), float64, differentiable once. Computed in double."""
        options = self._options(lengths, *[None if one is None else one.double() for one in (start_scores, end_scores)])
        tables = [None if one is None else one.to(scores.device, torch.float64) for one in self._tables()]
        given = _Problem(scores.double(), *tables, **options, threads=self.threads)
        found = given.marginals()

        def expected(probabilities: Tensor, values: Tensor | None) -> Tensor | float:
            if values is None:
                return 0.0
            return (probabilities * values.masked_fill(torch.isinf(values), 0)).flatten(1).sum(1)

        transition, duration, tail, start, end = tables
        first = found.labels[:, 0]
        last = found.labels[torch.arange(len(first)), given.lengths - 1]
        changes = found.transition
        mean = 0.0
        if self.initial == "uniform":
            changes = changes - torch.softmax(transition, 0).nan_to_num(0) * first[:, None, :]
            mean = expected(first, torch.logsumexp(transition, 0))
        mean = (mean + expected(found.labels, given.scores) + expected(found.starts, given.start_scores)
                + expected(found.ends, given.end_scores) + expected(changes, transition) + expected(found.duration, duration)
                + expected(found.tail, tail) + expected(first, start) + expected(last, end))
        return found.log_partition - mean

    def decode(self, scores: Tensor, lengths: Any = None, *, start_scores: Tensor | None = None,
               end_scores: Tensor | None = None) -> list[Segmentation]:
        """The best segmentation (Viterbi) of each sequence."""
        return self._ask("decode", scores, lengths, start_scores, end_scores)

    def k_best(self, scores: Tensor, k: int, lengths: Any = None, *, start_scores: Tensor | None = None,
               end_scores: Tensor | None = None) -> list[list[Segmentation]]:
        """The k best segmentations of each sequence, the best first."""
        return self._ask("k_best", scores, lengths, start_scores, end_scores, k)

    def sample(self, scores: Tensor, n: int = 1, lengths: Any = None, *, start_scores: Tensor | None = None,
               end_scores: Tensor | None = None, seed: int = 0) -> list[list[Segmentation]]:
        """n independent draws from P(y|x) for each sequence, which depend on the seed."""
        return self._ask("sample", scores, lengths, start_scores, end_scores, n, seed=seed)

    @torch.no_grad()
    def _ask(self, question: str, scores: Tensor, lengths: Any, start_scores: Tensor | None, end_scores: Tensor | None,
             *arguments: Any, **options: Any) -> Any:
        self._options(lengths, start_scores, end_scores)  # checks
        sizes = _lengths(lengths, *scores.shape[:2]).tolist()

        def arrays(one: Tensor | None) -> list[np.ndarray] | None:
            if one is None:
                return None
            dtype = torch.float64 if one.dtype == torch.float64 else torch.float32
            host = one.detach().to("cpu", dtype).numpy()
            return [host[b, :size] for b, size in enumerate(sizes)]

        return getattr(self.to_model(), question)(
            arrays(scores), *arguments, start_scores=arrays(start_scores), end_scores=arrays(end_scores),
            device="cuda:%d" % (scores.device.index or 0) if scores.is_cuda else "cpu",
            precision="double" if scores.dtype == torch.float64 else "float",
            threads=torch.get_num_threads() if self.threads is None else self.threads, **options)

    # ---- parameter files

    @torch.no_grad()
    def to_model(self, labels: Sequence[str] | None = None) -> Model:
        """The tables as a `semicrf.Model`, whose JSON the command reads."""
        transition, duration, tail, start, end = (None if one is None else one.detach().to("cpu", torch.float64).numpy()
                                                  for one in self._tables())
        return Model(transition, duration, tail=None if tail is None else np.exp(tail), start=start, end=end,
                     initial=self.initial, centering=self.centering, labels=labels)

    @torch.no_grad()
    def load_model(self, model: Model) -> None:
        """Takes the tables of a model, for a layer of the same shape with free durations ("table")."""
        if self.durations != "table":
            raise ValueError(f'durations are "{self.durations}", and tables fit "table" alone')
        if (model.num_labels, model.max_duration) != (self.num_labels, self.max_duration):
            raise ValueError(f"the model has {model.num_labels} labels and durations to {model.max_duration}, the layer "
                             f"{self.num_labels} and {self.max_duration}")
        if (model.tail is not None) != self.has_tail:
            raise ValueError(f"tail: the model {'has one' if model.tail is not None else 'has none'}")
        if model.initial != self.initial or model.centering != self.centering:
            raise ValueError(f'the model has initial "{model.initial}" and centering "{model.centering}"')
        for parameter, values in ((self.transition_scores, model.transition), (self.duration_scores, model.duration),
                                  (self.start, model.start), (self.end, model.end)):
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))
        if self.has_tail:
            q = torch.from_numpy(model.tail)
            self.tail_log_odds.copy_(torch.log(q) - torch.log1p(-q))


def _at_positions(segmentations: Sequence[Any], scores: Tensor, lengths: Any) -> tuple[Tensor, Tensor]:
    """(B, T) labels and starts."""
    sizes = _lengths(lengths, *scores.shape[:2]).tolist()
    if len(segmentations) != len(sizes):
        raise ValueError(f"labels: {len(segmentations)} segmentations for {len(sizes)} sequences")
    labels, starts = np.zeros(tuple(scores.shape[:2]), np.int64), np.zeros(tuple(scores.shape[:2]), bool)
    for b, one in enumerate(segmentations):
        rows = np.asarray(one.segments if isinstance(one, Segmentation) else one)
        at = 0
        for begin, end, label in rows:
            if begin != at or not begin < end <= sizes[b] or not 0 <= label < scores.shape[2]:
                raise ValueError(f"labels: segment {(int(begin), int(end), int(label))} of sequence {b}, expected one that begins at "
                                 f"{at}, ends by {sizes[b]} and has a label below {scores.shape[2]}")
            labels[b, begin:end], starts[b, begin], at = label, True, end
        if at != sizes[b]:
            raise ValueError(f"labels: the segments of sequence {b} end at {at}, the sequence at {sizes[b]}")
    return torch.from_numpy(labels).to(scores.device), torch.from_numpy(starts).to(scores.device)
