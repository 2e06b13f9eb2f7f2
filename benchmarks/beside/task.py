"""What a task is: inputs, the sides that get them, and how their answers are judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

Arrays = dict[str, np.ndarray]
Score = Callable[[Any, np.ndarray, np.ndarray], float]


class NoDataError(Exception):
    """A task's data are not on this machine."""


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes
    ----------
    name, title, about : str
        In file names; in tables; what the inputs are.
    family : str
    inputs : callable
        The arrays that every side gets, and the truth, which none gets. Raises NoDataError.
    ours : str
        Function of sides/consilience.py.
    peers : mapping of (peer, function) to a few words on the method
    quality : str
        What `score` is called in tables.
    score : callable
        Truth, an answer and ours → a number: more is better, except of differences.
    also : mapping of functions of sides/consilience.py to a few words
        Parts of ours that are timed too.
    """

    name: str
    title: str
    about: str
    family: str
    inputs: Callable[[], tuple[Arrays, Any]]
    ours: str
    peers: Mapping[tuple[str, str], str]
    quality: str
    score: Score
    also: Mapping[str, str] = field(default_factory=dict)


def ari(truth: Any, answer: np.ndarray, ours: np.ndarray) -> float:
    """By scikit-learn."""
    return float(adjusted_rand_score(truth, answer.ravel()))


def difference(truth: Any, answer: np.ndarray, ours: np.ndarray) -> float:
    """The largest from our answer."""
    return float(np.abs(answer - ours).max())


def mean_ari(truth: Any, answer: np.ndarray, ours: np.ndarray) -> float:
    """Of all clusterings."""
    return float(np.mean([adjusted_rand_score(truth, column) for column in answer.T]))


def matched_ari(truth: Any, answer: np.ndarray, ours: np.ndarray) -> float:
    """Mean over the known groupings of the ARI with the found one that it is matched with; 0 for one without."""
    table = np.array([[adjusted_rand_score(known, found) for found in answer.T] for known in truth.T])
    return float(table[linear_sum_assignment(-table)].sum() / len(table))
