"""What callers give as arrays, as the library wants it: (T, C) floating-point arrays, one per sequence."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np


def array_of(value: Any, name: str) -> np.ndarray:
    """The value as a NumPy array of native float16, float32 or float64, without a copy where it is one already.

    Takes what NumPy takes, and objects with `__dlpack__` in the memory of the host.
    """
    if not isinstance(value, np.ndarray):
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            value = np.from_dlpack(value)
        else:
            try:
                value = np.asarray(value)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
    if value.dtype.kind in "iub":
        return value.astype(np.float64)
    if value.dtype.kind != "f" or value.dtype.itemsize > 8:
        raise TypeError(f"{name}: the dtype is {value.dtype}, expected floating-point numbers of at most 64 bits")
    return value if value.dtype.isnative else value.astype(value.dtype.newbyteorder("="))


def matrix(value: Any, name: str) -> np.ndarray:
    found = array_of(value, name)
    if found.ndim != 2:
        raise ValueError(f"{name}: the shape is {found.shape}, expected two dimensions: positions, columns")
    return found


def is_batch(scores: Any) -> bool:
    """Whether these are the scores of several sequences: a list or tuple of arrays, or an array of three dimensions."""
    if isinstance(scores, (list, tuple)):
        return len(scores) == 0 or np.ndim(scores[0]) >= 2
    return np.ndim(scores) == 3 if isinstance(scores, np.ndarray) else getattr(scores, "ndim", 2) == 3


def beside(value: Any, count: int, name: str) -> Sequence[Any]:
    """An optional argument that has an entry for each of `count` sequences."""
    if value is None:
        return [None] * count
    if len(value) != count:
        raise ValueError(f"{name}: {len(value)} entries for {count} sequences")
    return value


def table(value: Any, shape: tuple[int, ...], name: str) -> np.ndarray | None:
    """A table of the model as float64 in C order."""
    if value is None:
        return None
    found = np.ascontiguousarray(array_of(value, name), dtype=np.float64)
    if found.shape != shape:
        raise ValueError(f"{name}: the shape is {found.shape}, expected {shape}")
    return found


def check_shapes(arrays: dict[str, Any], initial: str) -> None:
    """ValueError where arguments of a layer, by name, do not fit: scores (B, T, C) and what belongs to them; None: there is none."""
    shapes = {name: tuple(one.shape) for name, one in arrays.items() if one is not None}
    scores, duration = shapes["scores"], shapes["duration"]
    if len(scores) != 3 or 0 in scores[1:]:
        raise ValueError(f"scores: the shape is {scores}, expected (B, T, C) with at least one position and one label")
    labels = scores[2]
    if len(duration) != 2 or duration[0] == 0:
        raise ValueError(f"duration: the shape is {duration}, expected (K, C) = (K, {labels})")
    expected = {"transition": (labels, labels), "duration": (duration[0], labels), "tail": (labels,), "start": (labels,),
                "end": (labels,)}
    for name, shape in shapes.items():
        if shape != expected.get(name, scores):
            raise ValueError(f"{name}: the shape is {shape}, expected {expected.get(name, scores)}")
    if initial not in ("uniform", "none"):
        raise ValueError(f'initial: "{initial}", expected "uniform" or "none"')
