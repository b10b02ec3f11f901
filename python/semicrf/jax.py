"""log Z, probabilities and losses of semi-Markov CRFs as functions of JAX arrays, with gradients.

B sequences are padded to T positions; what lies beyond `lengths` is not looked at and has gradient 0. All scores are natural
logarithms, -inf forbids. Answers have the type of the arguments: float64, which is computed in double, where one of them has it
(jax_enable_x64), else float32. The engine computes on the host: arrays on a GPU go there and back.

Arguments of all functions: scores: (B, T, C), of label c at position t. start_scores, end_scores: (B, T, C), added where a segment
of label c starts at t, or has its last position there. transition: (C, C), [from, to]. duration: (K, C), row k-1 has duration k.
tail: (C), ln q: what each position beyond K adds; -inf: no segment of the label is longer than K. start, end: (C), added for the
labels of the first and the last position. lengths: (B) whole numbers, default T. initial: "uniform", the first segment scores the
sum over all labels before it, or "none". centering: as in parameter files (docs/users/formats.md). threads: of the host; default:
all.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from . import _core
from .arrays import check_shapes

_LOCAL = threading.local()


class Marginals(NamedTuple):
    """Probabilities and expected counts under P(y|x). All are differentiable.

    labels: (B, T, C), of label c at t. starts, ends: (B, T, C), that a segment of label c starts at t, has its last position at
    t. transition: (B, C, C), duration: (B, K, C), tail: (B, C): expected counts; row K of the durations has the segments that go
    on into the tail, `tail` the positions by which they exceed K. log_partition: (B).
    """

    labels: Array
    starts: Array
    ends: Array
    transition: Array
    duration: Array
    tail: Array
    log_partition: Array


class _Given(NamedTuple):
    """Checked arguments, of one type. Also their gradients."""

    scores: Any
    start_scores: Any
    end_scores: Any
    transition: Any
    duration: Any
    tail: Any
    start: Any
    end: Any
    lengths: Any


# ---- what runs on the host, with NumPy arrays


def _view(array: np.ndarray | None) -> tuple[int, ...] | None:
    """Address, bytes of a value and strides by sequence, row and column; (B, C) has one row."""
    if array is None or array.size == 0:
        return None
    shape = array.shape if array.ndim == 3 else (array.shape[0], 1, array.shape[1])
    return array.ctypes.data, array.itemsize, shape[1] * shape[2], shape[2], 1


def _layer(given: _Given, double: bool, uniform: bool, threads: int) -> _core.Layer:
    """This thread's engine, with these tables."""
    layers = _LOCAL.__dict__.setdefault("layers", {})
    if (double, threads) not in layers:
        layers[double, threads] = _core.Layer("cpu", double, threads, 0)
    with np.errstate(under="ignore"):
        q = None if given.tail is None else np.exp(given.tail.astype(np.float64))
    tables = [None if one is None else np.ascontiguousarray(one, np.float64)
              for one in (given.transition, given.duration, q, given.start, given.end)]
    layers[double, threads].set_tables(*reversed(given.duration.shape), [0 if one is None else one.ctypes.data for one in tables],
                                       uniform)
    return layers[double, threads]


def _lengths(given: _Given) -> list[int]:
    positions = given.scores.shape[1]
    if np.any((given.lengths < 1) | (given.lengths > positions)):
        raise ValueError(f"lengths: from {given.lengths.min()} to {given.lengths.max()}, expected 1 to {positions}")
    return given.lengths.tolist()


def _on_host(tree: Any) -> Any:
    return jax.tree_util.tree_map(lambda one: np.ascontiguousarray(np.asarray(one)), tree)


def _marginals_on_host(uniform: bool, threads: int, wanted: bool, given: _Given) -> Any:
    given = _on_host(given)
    dtype = given.scores.dtype
    layer = _layer(given, dtype == np.float64, uniform, threads)
    found = [np.zeros(one.shape, dtype if n < 3 else np.float64) for n, one in enumerate(_like(given))]
    *by_table, log_z = found[3:]
    layer.forward_backward(_lengths(given), *map(_view, given[:3]), log_z.ctypes.data,
                           *[_view(one) if wanted else None for one in (*found[:3], *by_table)], 0)
    for one in found[:3]:
        one[np.isinf(log_z)] = 0
    return Marginals(*[one.astype(dtype) for one in found]) if wanted else log_z.astype(dtype)


def _change_on_host(uniform: bool, threads: int, given: _Given, along: tuple[Array, ...]) -> tuple[np.ndarray, ...]:
    given, along = _on_host((given, along))
    dtype = given.scores.dtype
    layer = _layer(given, True, uniform, threads)
    scores = [None if one is None else one.astype(np.float64) for one in given[:3]]
    directions = [one.astype(np.float64) for one in along]
    products = [np.zeros(one.shape) for one in along]
    layer.hessian_product(_lengths(given), *map(_view, scores), list(map(_view, directions)), list(map(_view, products)))
    return tuple(one.astype(dtype) for one in products)


# ---- what JAX differentiates


def _like(given: _Given) -> Marginals:
    batch, positions, labels = given.scores.shape
    def shape(*sizes: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((batch, *sizes), given.scores.dtype)

    by_position = [shape(positions, labels)] * 3
    return Marginals(*by_position, shape(labels, labels), shape(given.duration.shape[0], labels), shape(labels), shape())


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _log_partition(uniform: bool, threads: int, given: _Given) -> Array:
    return jax.pure_callback(partial(_marginals_on_host, uniform, threads, False), _like(given).log_partition, given,
                             vmap_method="sequential")


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _marginals(uniform: bool, threads: int, given: _Given) -> Marginals:
    return jax.pure_callback(partial(_marginals_on_host, uniform, threads, True), _like(given), given, vmap_method="sequential")


def _gradient(given: _Given, change: tuple[Array, ...]) -> _Given:
    """Of what changes with labels, starts, ends, transitions, durations and tails of each sequence like this."""
    labels, starts, ends, *by_table = change
    first, last = labels[:, 0], labels[jnp.arange(len(labels)), given.lengths - 1]
    found = (labels, starts, ends, *[one.sum(0) for one in (*by_table, first, last)])
    return _Given(*[None if one is None else value for one, value in zip(given, found)], lengths=None)


def _weighted(found: Marginals, weights: Array) -> tuple[Array, ...]:
    return tuple(weights.reshape(-1, *[1] * (one.ndim - 1)) * one for one in found[:6])


def _log_partition_forward(uniform: bool, threads: int, given: _Given) -> tuple[Array, Any]:
    found = _marginals(uniform, threads, given)  # which is differentiated for second derivatives
    return found.log_partition, (given, found)


def _log_partition_backward(uniform: bool, threads: int, kept: tuple[_Given, Marginals], weights: Array) -> tuple[_Given]:
    return (_gradient(kept[0], _weighted(kept[1], weights)),)


def _marginals_forward(uniform: bool, threads: int, given: _Given) -> tuple[Marginals, Any]:
    found = _marginals(uniform, threads, given)
    return found, (given, found)


def _marginals_backward(uniform: bool, threads: int, kept: tuple[_Given, Marginals], along: Marginals) -> tuple[_Given]:
    given, found = kept
    change = jax.pure_callback(partial(_change_on_host, uniform, threads), tuple(_like(given)[:6]), given, tuple(along[:6]),
                               vmap_method="sequential")
    own = _weighted(found, along.log_partition)
    return (_gradient(given, tuple(one + other for one, other in zip(change, own))),)


_log_partition.defvjp(_log_partition_forward, _log_partition_backward)
_marginals.defvjp(_marginals_forward, _marginals_backward)


# ---- functions


def _given(scores: Any, transition: Any, duration: Any, tail: Any, start: Any, end: Any, lengths: Any, start_scores: Any,
           end_scores: Any, initial: str, centering: str) -> tuple[bool, _Given]:
    named = {"scores": scores, "start_scores": start_scores, "end_scores": end_scores, "transition": transition, "duration": duration,
             "tail": tail, "start": start, "end": end}
    arrays = {name: None if one is None else jnp.asarray(one) for name, one in named.items()}
    if not jnp.issubdtype(arrays["scores"].dtype, jnp.floating):
        raise ValueError(f"scores: {arrays['scores'].dtype}, expected floating-point numbers")
    check_shapes(arrays, initial)
    dtype = jnp.result_type(jnp.float32, *[one.dtype for one in arrays.values() if one is not None])
    batch, positions, _ = arrays["scores"].shape
    sizes = jnp.full(batch, positions) if lengths is None else jnp.asarray(lengths)
    if sizes.shape != (batch,) or not jnp.issubdtype(sizes.dtype, jnp.integer):
        raise ValueError(f"lengths: {sizes.dtype} of shape {sizes.shape}, expected whole numbers of shape ({batch},)")
    given = _Given(*[None if one is None else one.astype(dtype) for one in arrays.values()], lengths=sizes)
    given = given._replace(scores=jnp.where(_valid(given)[:, :, None], given.scores, 0))
    return initial == "uniform", given._replace(scores=_centred(given, centering))


def _threads(threads: int | None) -> int:
    return len(os.sched_getaffinity(0)) if threads is None else threads


def _valid(given: _Given) -> Array:
    """(B, T): whether a position belongs to its sequence."""
    return jnp.arange(given.scores.shape[1]) < given.lengths[:, None]


def _centred(given: _Given, centering: str) -> Array:
    scores = given.scores
    if centering in ("none", "mean-preserving"):  # numbers along a sequence are relative to where they are, always
        return scores
    if centering == "position-max":
        largest = scores.max(-1, keepdims=True)
        return scores - jnp.where(jnp.isfinite(largest), largest, 0)
    if centering != "mean":
        raise ValueError(f'centering: "{centering}", expected "none", "mean", "position-max" or "mean-preserving"')
    counted = jnp.isfinite(scores) & _valid(given)[:, :, None]
    return scores - jnp.where(counted, scores, 0).sum(1, keepdims=True) / jnp.maximum(counted.sum(1, keepdims=True), 1)


def log_partition(scores: ArrayLike, transition: ArrayLike, duration: ArrayLike, tail: ArrayLike | None = None,
                  start: ArrayLike | None = None, end: ArrayLike | None = None, *, lengths: ArrayLike | None = None,
                  start_scores: ArrayLike | None = None, end_scores: ArrayLike | None = None, initial: str = "uniform",
                  centering: str = "none", threads: int | None = None) -> Array:
    """log Z of each sequence: (B), differentiable twice (in reverse mode) by every array of floating-point numbers; -inf, with
    gradient 0, where no segmentation is possible."""
    uniform, given = _given(scores, transition, duration, tail, start, end, lengths, start_scores, end_scores, initial, centering)
    return _log_partition(uniform, _threads(threads), given)


def marginals(scores: ArrayLike, transition: ArrayLike, duration: ArrayLike, tail: ArrayLike | None = None,
              start: ArrayLike | None = None, end: ArrayLike | None = None, *, lengths: ArrayLike | None = None,
              start_scores: ArrayLike | None = None, end_scores: ArrayLike | None = None, initial: str = "uniform",
              centering: str = "none", threads: int | None = None) -> Marginals:
    """The `Marginals` of each sequence. They may be differentiated once, by a pass in double."""
    uniform, given = _given(scores, transition, duration, tail, start, end, lengths, start_scores, end_scores, initial, centering)
    return _marginals(uniform, _threads(threads), given)


def path_score(scores: ArrayLike, labels: ArrayLike, transition: ArrayLike, duration: ArrayLike, tail: ArrayLike | None = None,
               start: ArrayLike | None = None, end: ArrayLike | None = None, *, starts: ArrayLike | None = None,
               lengths: ArrayLike | None = None, start_scores: ArrayLike | None = None, end_scores: ArrayLike | None = None,
               initial: str = "uniform", centering: str = "none") -> Array:
    """The score of one segmentation of each sequence: (B); -inf where the model forbids it.

    labels: (B, T), whole numbers; those beyond `lengths` may be anything. starts: (B, T), whether a segment starts there; default:
    wherever the label changes.
    """
    uniform, given = _given(scores, transition, duration, tail, start, end, lengths, start_scores, end_scores, initial, centering)
    return _path_score(uniform, given, labels, starts)


def loss(scores: ArrayLike, labels: ArrayLike, transition: ArrayLike, duration: ArrayLike, tail: ArrayLike | None = None,
         start: ArrayLike | None = None, end: ArrayLike | None = None, *, starts: ArrayLike | None = None,
         lengths: ArrayLike | None = None, start_scores: ArrayLike | None = None, end_scores: ArrayLike | None = None,
         initial: str = "uniform", centering: str = "none", threads: int | None = None) -> Array:
    """The negative log likelihood of one segmentation of each sequence, log Z - score: (B); labels and starts as for `path_score`.
    Infinite where the model forbids it. More exact in float32 than a difference of the two."""
    uniform, given = _given(scores, transition, duration, tail, start, end, lengths, start_scores, end_scores, initial, centering)
    # What is subtracted from all labels of a position changes log Z and score alike. So neither grows with the length.
    own = _picked(given.scores, _labels(given, labels))
    given = given._replace(scores=given.scores - jnp.where(jnp.isfinite(own) & _valid(given), own, 0)[:, :, None])
    return _log_partition(uniform, _threads(threads), given) - _path_score(uniform, given, labels, starts)


def _labels(given: _Given, labels: Any) -> Array:
    found = jnp.asarray(labels)
    if found.shape != given.scores.shape[:2]:
        raise ValueError(f"labels: the shape is {found.shape}, expected {given.scores.shape[:2]}")
    return jnp.where(_valid(given), found, 0)


def _picked(values: Array, labels: Array) -> Array:
    return jnp.take_along_axis(values, labels[:, :, None], 2)[:, :, 0]


def _path_score(uniform: bool, given: _Given, labels: Any, starts: Any) -> Array:
    valid, labels, lengths = _valid(given), _labels(given, labels), given.lengths[:, None]
    changed = jnp.pad(labels[:, 1:] != labels[:, :-1], ((0, 0), (1, 0))) if starts is None else jnp.asarray(starts).astype(bool)
    starts = changed.at[:, 0].set(True) & valid
    place, positions = jnp.arange(labels.shape[1]), labels.shape[1]
    # The first start behind each position, or the length.
    nearest = jax.lax.cummin(jnp.where(starts, place, lengths), axis=1, reverse=True)
    lasting = jnp.minimum(jnp.pad(nearest[:, 1:], ((0, 0), (0, 1)), constant_values=positions), lengths) - place
    ends = valid & (jnp.pad(starts[:, 1:], ((0, 0), (0, 1))) | (place + 1 == lengths))

    def over(mask: Array, values: Array) -> Array:
        return jnp.where(mask, values, 0).sum(1)

    longest = given.duration.shape[0]
    durations = given.duration[jnp.clip(lasting, 1, longest) - 1, labels]
    beyond = -jnp.inf if given.tail is None else durations + (lasting - longest) * given.tail[labels]
    total = (over(valid, _picked(given.scores, labels)) + over(starts, jnp.where(lasting > longest, beyond, durations))
             + over(starts[:, 1:], given.transition[labels[:, :-1], labels[:, 1:]]))
    for mask, values in ((starts, given.start_scores), (ends, given.end_scores)):
        if values is not None:
            total = total + over(mask, _picked(values, labels))
    first, last = labels[:, 0], jnp.take_along_axis(labels, lengths - 1, 1)[:, 0]
    if uniform:
        follows = jnp.isfinite(given.transition).any(0)
        into = jax.scipy.special.logsumexp(jnp.where(follows, given.transition, 0), axis=0)
        total = total + jnp.where(follows, into, -jnp.inf)[first]
    for table, at in ((given.start, first), (given.end, last)):
        if table is not None:
            total = total + table[at]
    return total
