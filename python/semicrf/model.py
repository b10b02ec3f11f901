"""The model, and what it says about scores."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arrays import beside, is_batch, matrix, table

# Numbers of semicrf.h.
_LOG_PARTITION, _GIVEN_SCORE, _ENTROPY = 1, 2, 3
_BEST_PATH, _RANKED, _SAMPLED = 1, 2, 3
_KINDS = {"only": 1, "not": 2, "boundary": 3, "no_boundary": 4}
_DTYPES = {"float": np.float32, "double": np.float64}


@dataclass(frozen=True)
class Segmentation:
    """Segments that follow each other from the first position to the last.

    segments: (n, 3) int64, a row for each: begin, end (exclusive), label.
    score: natural logarithm, of the best and of ranked segmentations; else NaN. Under `initial` "uniform" it takes the
    best label before the first segment, where `Model.score` takes the sum over all.
    log_probability: ln P(y|x), of ranked and sampled segmentations; else NaN.
    """

    segments: NDArray[np.int64]
    score: float = float("nan")
    log_probability: float = float("nan")

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def starts(self) -> NDArray[np.int64]:
        """(n) first positions."""
        return self.segments[:, 0]

    @property
    def labels(self) -> NDArray[np.int64]:
        """(n) numbers of labels."""
        return self.segments[:, 2]

    def at_positions(self) -> NDArray[np.int64]:
        """(T) the label of every position."""
        return np.repeat(self.segments[:, 2], self.segments[:, 1] - self.segments[:, 0])


@dataclass(frozen=True)
class Posteriors:
    """Probabilities under P(y|x) of one sequence, in the precision of the call; None: not asked for.

    boundary: (T) that a segment starts at t.
    labels: (T, C) of label c at t; the gradient of log Z by the (centred) scores.
    starts, ends: (T, C) that a segment of label c starts at t, has its last position at t; the gradients of log Z by
    start scores and end scores.
    transition: (C, C), duration: (K, C), tail: (C): expected counts, float64; the gradients of log Z by these tables, and by
    the logarithms of `tail`.
    log_partition: log Z.
    """

    boundary: NDArray[Any]
    labels: NDArray[Any] | None
    starts: NDArray[Any] | None
    ends: NDArray[Any] | None
    transition: NDArray[np.float64] | None
    duration: NDArray[np.float64] | None
    tail: NDArray[np.float64] | None
    log_partition: float


@dataclass(frozen=True)
class Constraint:
    """What all segmentations must be like at positions [begin, end).

    kind: "only" or "not" (every position has one, or none, of `labels`: names or numbers), "boundary" (a segment starts at
    `begin`), "no_boundary" (none starts at any of the positions). end: None stands for begin + 1.
    """

    kind: str
    begin: int
    end: int | None = None
    labels: Sequence[str | int] = ()


class Model:
    """Parameters of C labels whose segments have durations 1..K, and longer ones where a label has a tail.

    All scores are natural logarithms, -inf forbids. A segmentation scores the sum, over its segments, of the scores of
    their positions, of their duration and of the transition into them, and whatever start and end scores there are.

    transition: (C, C), [from, to].
    duration: (K, C), row k-1 has duration k.
    tail: (C) or None: the factor in (0, 1) of each position beyond K, 0: no longer segments.
    start, end: (C) or None: added for the label of the first, of the last position.
    labels: C names, all different; None: "0", "1", ...
    initial: "uniform": the first segment gets the sum of the transitions into it; "none": nothing.
    centering: "none", "mean", "position-max" or "mean-preserving": what is subtracted from the scores of a sequence.

    Methods take `scores`, a (T, C) array for one sequence, or a list of such arrays of any lengths, or a (B, T, C) array; then
    they return a list, or an array of B numbers, and the other arguments have an entry for each sequence. Arrays of float16,
    float32 and float64 in C order are not copied. Models whose parameter file has tracks take (T, number of tracks) raw values.

    start_scores, end_scores: (T, C), added where a segment of the label starts, has its last position.
    constraints: a list of `Constraint`.
    device: "cpu", "reference" (slow, always double), "cuda", "cuda:1" (where the library has it).
    precision: "float" (with checks, double where they fail) or "double".
    threads: of the cpu. No result depends on it.

    Any number of threads may call one model at a time; the interpreter goes on meanwhile.
    """

    def __init__(self, transition: ArrayLike, duration: ArrayLike, *, tail: ArrayLike | None = None,
                 start: ArrayLike | None = None, end: ArrayLike | None = None, labels: Sequence[str] | None = None,
                 initial: str = "uniform", centering: str = "none") -> None:
        of_duration = matrix(duration, "duration")
        durations, count = of_duration.shape
        names = [str(name) for name in (range(count) if labels is None else labels)]
        if len(names) != count:
            raise ValueError(f"labels: {len(names)} names, and duration has {count} columns")
        if durations == 0 or count == 0:
            raise ValueError(f"duration: the shape is {of_duration.shape}, expected at least one row and column")
        self._take(_core.Model.make(table(transition, (count, count), "transition"), table(duration, (durations, count), "duration"),
                                    table(tail, (count,), "tail"), table(start, (count,), "start"), table(end, (count,), "end"),
                                    names, initial, centering))

    def _take(self, core: _core.Model) -> None:
        self._core = core
        self._tables = core.tables()
        self._numbers = {name: number for number, name in enumerate(self._tables["labels"])}
        self._engines: dict[tuple[str, str, int], _core.Engine] = {}
        self._lock = threading.Lock()

    @classmethod
    def _of(cls, core: _core.Model) -> Model:
        model = cls.__new__(cls)
        model._take(core)
        return model

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Model:
        """The model of a parameter file."""
        return cls._of(_core.Model.read(os.fspath(path)))

    @classmethod
    def from_json(cls, text: str) -> Model:
        """The model of the text of a parameter file."""
        return cls._of(_core.Model.parse(text))

    def to_json(self) -> str:
        """The text of the parameter file, which reads back as the same numbers."""
        return self._core.json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the parameter file, which the command `semicrf` takes."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"<semicrf.Model: {self.num_labels} labels, durations to {self.max_duration}>"

    @property
    def labels(self) -> list[str]:
        """(C) names."""
        return list(self._tables["labels"])

    @property
    def num_labels(self) -> int:
        """C."""
        return len(self._tables["labels"])

    @property
    def max_duration(self) -> int:
        """K, in positions."""
        return len(self._tables["duration"])

    @property
    def num_columns(self) -> int:
        """Columns of `scores`: labels, or tracks where the parameters have tracks."""
        return self._tables["columns"]

    @property
    def transition(self) -> NDArray[np.float64]:
        """(C, C), [from, to], natural logarithms; a copy."""
        return self._tables["transition"].copy()

    @property
    def duration(self) -> NDArray[np.float64]:
        """(K, C), row k-1 has duration k, natural logarithms; a copy."""
        return self._tables["duration"].copy()

    @property
    def tail(self) -> NDArray[np.float64] | None:
        """(C), the factor of each position beyond K, 0: no longer segments; None: of no label. A copy."""
        tail = self._tables["tail"]
        return None if tail is None else tail.copy()

    @property
    def start(self) -> NDArray[np.float64]:
        """(C), for the label of the first position, natural logarithms; a copy."""
        return self._tables["start"].copy()

    @property
    def end(self) -> NDArray[np.float64]:
        """(C), for the label of the last position, natural logarithms; a copy."""
        return self._tables["end"].copy()

    @property
    def initial(self) -> str:
        """What the first segment scores: "uniform" or "none"."""
        return self._tables["initial"]

    @property
    def centering(self) -> str:
        """What is subtracted from scores: "none", "mean", "position-max" or "mean-preserving"."""
        return self._tables["centering"]

    # ---- answers

    def log_partition(self, scores: Any, start_scores: Any = None, end_scores: Any = None, *, constraints: Any = None,
                      device: str = "cpu", precision: str = "float", threads: int = 1) -> Any:
        """log Z, of the segmentations that meet the constraints; -inf where none is possible.

        Returns: a float, or (B) float64.
        """
        call = _Call(self, scores, start_scores, end_scores, constraints, precision)
        return call.numbers(call.run(device, threads, log_partition=True), _LOG_PARTITION)

    def decode(self, scores: Any, start_scores: Any = None, end_scores: Any = None, *, constraints: Any = None,
               device: str = "cpu", precision: str = "float", threads: int = 1) -> Any:
        """The best segmentation (Viterbi): a `Segmentation`, or a list of them."""
        call = _Call(self, scores, start_scores, end_scores, constraints, precision)
        result = call.run(device, threads, best_path=True)
        return call.answers(lambda i: call.paths(result, i, _BEST_PATH)[0])

    def posteriors(self, scores: Any, start_scores: Any = None, end_scores: Any = None, *, labels: bool = True,
                   starts: bool = False, ends: bool = False, counts: bool = False, constraints: Any = None, device: str = "cpu",
                   precision: str = "float", threads: int = 1) -> Any:
        """Probabilities of boundaries and, where they are asked for, labels, starts, ends, and expected counts: `Posteriors`."""
        call = _Call(self, scores, start_scores, end_scores, constraints, precision)
        for i in range(len(call)):
            call.want(i, labels, starts, ends)
        result = call.run(device, threads, counts=counts)

        def answer(i: int) -> Posteriors:
            log_z = call.possible(result, i)
            boundary, *by_label = call.outputs[i]
            tables = result.counts(i, self.num_labels, self.max_duration) if counts else (None, None, None)
            return Posteriors(boundary[:, 0], *by_label, *tables, log_z)

        return call.answers(answer)

    def k_best(self, scores: Any, k: int, start_scores: Any = None, end_scores: Any = None, *, constraints: Any = None,
               device: str = "cpu", precision: str = "float", threads: int = 1) -> Any:
        """The k best segmentations, 1 <= k <= 1000, the best first; fewer where there are fewer. A list of `Segmentation`s with
        their scores and probabilities, or a list of such lists."""
        if not 1 <= k <= 1000:
            raise ValueError(f"k: {k}, expected 1 to 1000")
        call = _Call(self, scores, start_scores, end_scores, constraints, precision)
        result = call.run(device, threads, best=k)
        return call.answers(lambda i: call.paths(result, i, _RANKED))

    def sample(self, scores: Any, n: int = 1, start_scores: Any = None, end_scores: Any = None, *, seed: int = 0,
               names: Any = None, constraints: Any = None, device: str = "cpu", precision: str = "float", threads: int = 1) -> Any:
        """n independent draws from P(y|x): a list of `Segmentation`s with their probabilities, or a list of such lists.

        They depend on the seed and on the name of the sequence: its number from 0, if no name is given. With the name of
        the file, without its ending, they are those of `semicrf simulate`.
        """
        if n < 1:
            raise ValueError(f"n: {n}, expected at least 1")
        call = _Call(self, scores, start_scores, end_scores, constraints, precision, names=names)
        result = call.run(device, threads, samples=n, seed=seed)
        return call.answers(lambda i: call.paths(result, i, _SAMPLED))

    def entropy(self, scores: Any, start_scores: Any = None, end_scores: Any = None, *, constraints: Any = None,
                device: str = "cpu", precision: str = "float", threads: int = 1) -> Any:
        """Entropy of the segmentation under P(y|x), in nats: a float, or (B) float64."""
        call = _Call(self, scores, start_scores, end_scores, constraints, precision)
        result = call.run(device, threads, entropy=True)
        for i in range(len(call)):
            call.possible(result, i)
        return call.numbers(result, _ENTROPY)

    def score(self, scores: Any, segments: Any, start_scores: Any = None, end_scores: Any = None, *, device: str = "cpu",
              precision: str = "float", threads: int = 1) -> Any:
        """The score of given segmentations; score - log_partition is ln P(y|x). -inf where the model forbids one.

        segments: a `Segmentation`, or an (n, 3) array of whole numbers as it has; a list of them for several sequences.
        Returns: a float, or (B) float64.
        """
        call = _Call(self, scores, start_scores, end_scores, None, precision, segments=segments)
        return call.numbers(call.run(device, threads), _GIVEN_SCORE)

    def _engine(self, device: str, precision: str, threads: int) -> _core.Engine:
        key = (device, precision, threads)
        engine = self._engines.get(key)
        if engine is not None:
            return engine
        backend, _, number = device.partition(":")
        if number and not number.isdigit():
            raise ValueError(f'device: "{device}", expected for example "cpu" or "cuda:0"')
        with self._lock:
            if key not in self._engines:
                self._engines[key] = _core.Engine(self._core, backend, precision == "double", threads, int(number or 0))
            return self._engines[key]

    def _constraint(self, one: Constraint) -> tuple[int, int, int, list[int]]:
        if one.kind not in _KINDS:
            raise ValueError(f'constraints: the kind is "{one.kind}", expected one of {", ".join(_KINDS)}')
        numbers = []
        for label in one.labels:
            if isinstance(label, str) and label not in self._numbers:
                raise ValueError(f'constraints: the model has no label "{label}"')
            numbers.append(self._numbers[label] if isinstance(label, str) else int(label))
        return _KINDS[one.kind], one.begin, one.begin + 1 if one.end is None else one.end, numbers


class _Call:
    """One call: its arguments as a list of sequences, and the shape of its answer."""

    def __init__(self, model: Model, scores: Any, start_scores: Any, end_scores: Any, constraints: Any, precision: str, *,
                 segments: Any = None, names: Any = None) -> None:
        if precision not in _DTYPES:
            raise ValueError(f'precision: "{precision}", expected "float" or "double"')
        self.model, self.precision = model, precision
        self.single = not is_batch(scores)
        given = (start_scores, end_scores, constraints, segments, names)
        if self.single:
            scores, given = [scores], tuple(None if one is None else [one] for one in given)
        named = ("start_scores", "end_scores", "constraints", "segments", "names")
        starts, ends, constrained, scored, called = (beside(one, len(scores), name) for one, name in zip(given, named))
        self.scores = [matrix(one, "scores" if self.single else f"scores[{i}]") for i, one in enumerate(scores)]
        self.starts = [None if one is None else matrix(one, "start_scores") for one in starts]
        self.ends = [None if one is None else matrix(one, "end_scores") for one in ends]
        self.constraints = [None if one is None else [model._constraint(part) for part in one] for one in constrained]
        self.segments = [None if one is None else self._segments(one) for one in scored]
        self.names = called
        self.outputs: list[list[Any]] = [[None] * 4 for _ in self.scores]

    def __len__(self) -> int:
        return len(self.scores)

    @staticmethod
    def _segments(given: Any) -> NDArray[np.int64]:
        found = np.asarray(given.segments if isinstance(given, Segmentation) else given)
        if found.dtype.kind not in "iu" or found.ndim != 2 or found.shape[1] != 3:
            raise ValueError(f"segments: {found.dtype} of shape {found.shape}, expected whole numbers of shape (n, 3): "
                             "begin, end, label")
        return np.ascontiguousarray(found, dtype=np.int64)

    def want(self, i: int, labels: bool, starts: bool, ends: bool) -> None:
        """Makes the arrays that posteriors of sequence i are written to."""
        dtype = _DTYPES[self.precision]
        length, columns = len(self.scores[i]), self.model.num_labels
        wanted = (True, labels, starts, ends)
        self.outputs[i] = [np.empty((length, columns if n else 1), dtype) if want else None for n, want in enumerate(wanted)]

    def run(self, device: str, threads: int, *, log_partition: bool = False, best_path: bool = False, entropy: bool = False,
            counts: bool = False, best: int = 0, samples: int = 0, seed: int = 0) -> _core.Result:
        sequences = [(self.names[i], self.scores[i], self.starts[i], self.ends[i], self.constraints[i], self.segments[i],
                      *self.outputs[i]) for i in range(len(self))]
        engine = self.model._engine(device, self.precision, threads)
        return engine.compute(sequences, log_partition, best_path, entropy, counts, best, samples, seed)

    def answers(self, answer: Any) -> Any:
        return answer(0) if self.single else [answer(i) for i in range(len(self))]

    def numbers(self, result: _core.Result, which: int) -> Any:
        if self.single:
            return result.number(0, which)
        return np.array([result.number(i, which) for i in range(len(self))], dtype=np.float64)

    def possible(self, result: _core.Result, i: int) -> float:
        """log Z; ValueError: no segmentation is possible."""
        log_z = result.number(i, _LOG_PARTITION)
        if log_z == -np.inf:
            raise ValueError(f"scores of sequence {i}: no segmentation of {len(self.scores[i])} positions has a finite score")
        return log_z

    def paths(self, result: _core.Result, i: int, kind: int) -> list[Segmentation]:
        self.possible(result, i)
        found = (result.path(i, kind, index) for index in range(result.paths(i, kind)))
        return [Segmentation(segments.view(np.int64), score, probability) for segments, score, probability in found]
