"""Hidden semi-Markov models that are learned from data without labels, in the manner of hmmlearn."""

from __future__ import annotations

import inspect
import json
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core
from .arrays import matrix
from .model import Model, Segmentation

_START = {"kmeans": False, "random": True}


class HSMM:
    """A hidden semi-Markov model: states with explicit durations, and observations that are independent given the states.

    n_components: number of states.
    emission: "gaussian" (diagonal), "poisson", "negative-binomial", "bernoulli" or "categorical" (whole numbers from 0
    to 999); None: by the values.
    durations: "table" (any distribution over 1..max_duration), "negative-binomial" or "geometric".
    max_duration: K, in positions. tail: whether longer segments are possible, falling geometrically beyond K.
    self_transitions: whether a state may follow itself. With max_duration 1 that is a hidden Markov model.
    n_iter, tol: at most so many iterations; they end where the log likelihood rises by less than `tol` of its size.
    init: "kmeans" (clusters of positions) or "random". n_init: fits with other seeds, of which the likeliest is kept.
    random_state: the seed. precision: "float" (with checks) or "double". threads: of the E-steps.

    X is an (n, F) array with the sequences one after the other and their `lengths`, as in hmmlearn, or a list of (T, F) arrays.
    After `fit`: `model_`, the `Model` of observations, which may be saved and given to the command; `startprob_` (C),
    `transmat_` (C, C), `durationprob_` (K, C), `tail_` (C) or None; `means_` and `covars_`, or `lambdas_`, `sizes_` and
    `probabilities_`, (C, F) each, or `emissionprob_`, for each of the F columns the (C, N) probabilities of its values; `history_`, ln P of the data before each iteration and at the end, `n_iter_`, `converged_`.
    States are sorted by how many positions they have, the commonest first.
    """

    def __init__(self, n_components: int = 2, *, emission: str | None = "gaussian", durations: str = "table", max_duration: int = 100,
                 tail: bool = False, self_transitions: bool = False, n_iter: int = 100, tol: float = 1e-6, init: str = "kmeans",
                 n_init: int = 1, random_state: int = 1, precision: str = "float", threads: int = 1) -> None:
        self.n_components = n_components
        self.emission = emission
        self.durations = durations
        self.max_duration = max_duration
        self.tail = tail
        self.self_transitions = self_transitions
        self.n_iter = n_iter
        self.tol = tol
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.precision = precision
        self.threads = threads

    # ---- the conventions of scikit-learn

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, as scikit-learn's `clone` wants them."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> HSMM:
        """Sets arguments of the constructor. ValueError: there is none of this name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name}: not a parameter of HSMM; there are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = inspect.signature(type(self)).parameters
        changed = (f"{name}={value!r}" for name, value in self.get_params().items() if value != default[name].default)
        return f"HSMM({', '.join(changed)})"

    # ---- learning and answers

    def fit(self, X: Any, lengths: Sequence[int] | None = None) -> HSMM:
        """Fits the model by expectation maximization (Baum-Welch with durations), from a start of its own."""
        self._take(self._learn(self._sequences(X, lengths, None), None, self.n_iter))
        return self

    def score(self, X: Any, lengths: Sequence[int] | None = None) -> float:
        """ln P(X), summed over the sequences: a density for Gaussian emissions."""
        again = self._learn(self._sequences(X, lengths, self._fitted().num_columns), self._fitted(), 0)
        return json.loads(again.json())["training"]["log_likelihood"][0]

    def segments(self, X: Any, lengths: Sequence[int] | None = None) -> list[Segmentation]:
        """The best segmentation of each sequence."""
        return self._fitted().decode(self._sequences(X, lengths, self._fitted().num_columns), **self._how())

    def predict(self, X: Any, lengths: Sequence[int] | None = None) -> NDArray[np.int64]:
        """(n) the state of every position in the best segmentation."""
        return np.concatenate([path.at_positions() for path in self.segments(X, lengths)])

    def predict_proba(self, X: Any, lengths: Sequence[int] | None = None) -> NDArray[Any]:
        """(n, C) posterior probabilities of the states."""
        found = self._fitted().posteriors(self._sequences(X, lengths, self._fitted().num_columns), **self._how())
        return found[0].labels if len(found) == 1 else np.concatenate([one.labels for one in found])

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """A sequence that the model generates: observations (n_samples, F) and states (n_samples). The last segment is cut off.

        random_state: a seed or a numpy.random.Generator; None: the seed of the model.
        """
        model = self._fitted()
        rng = np.random.default_rng(self.random_state if random_state is None else random_state)
        states: list[int] = []
        state = int(rng.choice(model.num_labels, p=self.startprob_))
        while len(states) < n_samples:
            weights = self.durationprob_[:, state].copy()
            q = 0.0 if self.tail_ is None else self.tail_[state]
            weights[-1] /= 1 - q  # those beyond K
            duration = int(rng.choice(len(weights), p=weights / weights.sum())) + 1
            if duration == len(weights) and q > 0:
                duration += int(rng.geometric(1 - q)) - 1
            states += [state] * min(duration, n_samples - len(states))
            state = int(rng.choice(model.num_labels, p=self.transmat_[state]))
        found = np.array(states)
        return self._observations(found, rng), found

    def _observations(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        if self.emission_ == "gaussian":
            return rng.normal(self.means_[states], np.sqrt(self.covars_[states]))
        if self.emission_ == "poisson":
            return rng.poisson(self.lambdas_[states]).astype(np.float64)
        if self.emission_ == "bernoulli":
            return (rng.random((len(states), self.probabilities_.shape[1])) < self.probabilities_[states]).astype(np.float64)
        if self.emission_ == "categorical":
            below = [np.cumsum(table, axis=1)[states][:, :-1] for table in self.emissionprob_]
            return np.stack([(rng.random((len(states), 1)) > one).sum(axis=1) for one in below], axis=1).astype(np.float64)
        return rng.negative_binomial(np.broadcast_to(self.sizes_, self.probabilities_.shape)[states],
                                     self.probabilities_[states]).astype(np.float64)

    # ---- inside

    def _how(self) -> dict[str, Any]:
        return {"precision": self.precision, "threads": self.threads}

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise ValueError("this HSMM is not fitted yet: call fit(X) first")
        return self.model_

    @staticmethod
    def _sequences(X: Any, lengths: Sequence[int] | None, columns: int | None) -> list[NDArray[Any]]:
        if isinstance(X, (list, tuple)) and len(X) > 0 and np.ndim(X[0]) == 2:
            if lengths is not None:
                raise ValueError("lengths: not with a list of arrays, which have lengths of their own")
            found = [matrix(one, f"X[{i}]") for i, one in enumerate(X)]
        else:
            whole = matrix(X, "X")
            ends = np.cumsum([len(whole)] if lengths is None else np.asarray(lengths, dtype=int))
            if len(ends) == 0 or ends[-1] != len(whole) or np.any(np.diff(ends, prepend=0) < 1):
                raise ValueError(f"lengths: {lengths}, expected whole numbers above 0 with the sum {len(whole)}")
            found = np.split(whole, ends[:-1])
        for one in found:
            if one.shape[1] != (columns or found[0].shape[1]):
                raise ValueError(f"X: {one.shape[1]} columns, expected {columns or found[0].shape[1]}")
        return found

    def _learn(self, sequences: list[NDArray[Any]], start: Model | None, iterations: int) -> _core.Model:
        if self.init not in _START:
            raise ValueError(f'init: "{self.init}", expected "kmeans" or "random"')
        if self.precision not in ("float", "double"):
            raise ValueError(f'precision: "{self.precision}", expected "float" or "double"')
        if self.max_duration < 1:
            raise ValueError(f"max_duration: {self.max_duration}, expected at least 1")
        return _core.Model.learn(sequences, None if start is None else start._core, self.n_components, self.emission, self.durations,
                                 self.max_duration, self.tail, self.self_transitions, _START[self.init], self.n_init, iterations,
                                 self.tol, self.random_state, self.precision == "double", self.threads)

    def _take(self, core: _core.Model) -> None:
        self.model_ = Model._of(core)
        read = json.loads(core.json())
        training, emission = read["training"], read["emission"]
        self.history_: list[float] = training["log_likelihood"]
        self.n_iter_: int = training["iterations"]
        self.converged_: bool = training["converged"]
        self.emission_: str = training["emission"]
        self.startprob_, self.transmat_, self.durationprob_ = (
            np.exp(table) for table in (self.model_.start, self.model_.transition, self.model_.duration))
        self.startprob_ /= self.startprob_.sum()
        self.transmat_ /= self.transmat_.sum(axis=1, keepdims=True)
        self.tail_ = self.model_.tail
        weights = np.array(emission["weights"])
        if self.emission_ == "gaussian":
            # Features are (x - center) / scale and their squares.
            inputs = weights.shape[1] // 2
            center = np.array([track.get("center", 0.0) for track in read["tracks"][:inputs]])
            scale = np.array([track.get("scale", 1.0) for track in read["tracks"][:inputs]])
            variance = -0.5 / weights[:, inputs:]
            self.means_, self.covars_ = weights[:, :inputs] * variance * scale + center, variance * scale ** 2
        elif self.emission_ == "poisson":
            self.lambdas_ = np.exp(weights)
        elif self.emission_ == "bernoulli":
            self.probabilities_ = 1 / (1 + np.exp(-weights))
        elif self.emission_ == "categorical":
            inputs = [track["name"] for track in read["tracks"] if "indicator_of" not in track]
            columns = [[i for i, track in enumerate(read["tracks"]) if track.get("indicator_of") == name] for name in inputs]
            self.emissionprob_ = [np.exp(weights[:, of_track]) for of_track in columns]
        else:
            self.sizes_, self.probabilities_ = np.array(training["sizes"]), -np.expm1(weights)  # NB(r, p), as in NumPy
