"""Segmentation by semi-Markov conditional random fields and hidden semi-Markov models: exact, and fast.

`Model` has the parameters and answers questions about scores: `log_partition`, `decode`, `posteriors`, `k_best`,
`sample`, `entropy`, `score`. It reads and writes the parameter files of the command `semicrf`, which gives the same
answers on the same scores.
"""

from ._core import version as _version
from .hsmm import HSMM
from .model import Constraint, Model, Posteriors, Segmentation

__version__ = _version()
__all__ = ["HSMM", "Constraint", "Model", "Posteriors", "Segmentation"]
