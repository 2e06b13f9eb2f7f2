"""The Clustering Agreement Process (section 4 of paper 000): m clusterings of each side are made to agree.

Every clustering of the rows is joined to every clustering of the columns, and Σ_i Σ_j I(X̃_i; Ỹ_j) is raised (Eq. 4): all row
clusterings at once while the columns' are fixed (each on its own, Eq. 5), then all column clusterings. A row is summed by the m clusterings
of the columns when it is looked at, so that no table of m times the counts is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from consilience._check import InputError, check_count, check_positive, check_seed
from consilience._progress import track
from consilience._random import stream
from consilience._types import Labels
from consilience.agreement.count_table import Counts, Side, check_counts
from consilience.agreement.local_search import random_labels
from consilience.agreement.markov_field import Node, infer
from consilience.ensemble import Ensemble, as_ensemble

TEMPERATURE = 0.4
Pair = tuple[list[Labels], list[Labels]]


def cap(
    counts: Counts,
    rows: list[Labels],
    columns: list[Labels],
    *,
    n_iter: int = 4,
    passes: int = 1,
    temperature: float = TEMPERATURE,
    tol: float = 0.0,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Iterator[tuple[Pair, list[float]]]:
    """After every iteration both sides' clusterings, and the objective so far; labels are of the objects with counts."""
    labels = {f"row {i}": one for i, one in enumerate(rows)} | {f"column {j}": one for j, one in enumerate(columns)}
    names = [f"row {i}" for i in range(len(rows))], [f"column {j}" for j in range(len(columns))]
    classes = [
        [Node(name, side.views, [(other, 0, 1.0) for other in others]) for name in mine]
        for side, mine, others in ((counts.rows, *names), (counts.columns, *names[::-1]))
    ]
    how: dict[str, Any] = {"n_iter": n_iter, "passes": passes, "temperature": temperature, "tol": tol}
    for found, history in infer(classes, labels, **how, seed=seed, n_jobs=n_jobs):
        yield ([found[name] for name in names[0]], [found[name] for name in names[1]]), history


class CAP:
    """Make given clusterings of rows and of columns agree, without losing what they know of each other.

    Parameters
    ----------
    n_iter : int
        Turns of both sides; the paper takes four, and two do most of it.
    passes : int
        Passes of local search in every turn.
    temperature : float
        Of a noisy pass over the rows that goes first in every turn; it falls evenly from turn to turn, and there is none in the last.
        Where the passes after it end lower than it began, they start again without it. 0 leaves it out: the paper's process.
    tol : float
        Stop earlier when a turn of both sides gains no more than this share of the objective.
    weighting : {"uniform", "length"}
        Every row with the same mass, or with its counts as they are.
    random_state : int, optional
    n_jobs : int, optional
        Threads over the clusterings of a side; the labels do not depend on it.
    progress : bool, optional
        None shows a bar on a terminal.

    Attributes
    ----------
    rows_, columns_ : Ensemble
        After the last iteration, in the order given.
    iterations_ : list of (Ensemble, Ensemble)
        After every iteration.
    objective_ : array
        Σ_i Σ_j I(X̃_i; Ỹ_j) in nats, at the start and after every half of an iteration; it never falls.

    Notes
    -----
    A half iteration costs O(m² · counts · clusters). Rows and columns without counts keep their labels. An object whose label is
    missing in one clustering starts there in a random cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.agreement import CAP
    >>> counts = np.kron([[3, 0], [0, 3]], np.ones((4, 6), int))
    >>> rows = [[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 0, 1]]
    >>> columns = [[0] * 6 + [1] * 6] * 2
    >>> CAP(random_state=0).fit(counts, rows, columns).rows_.labels.T.tolist()
    [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]]
    """

    def __init__(
        self,
        n_iter: int = 4,
        *,
        passes: int = 1,
        temperature: float = TEMPERATURE,
        tol: float = 0.0,
        weighting: str = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.n_iter = n_iter
        self.passes = passes
        self.temperature = temperature
        self.tol = tol
        self.weighting = weighting
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, counts: Any, rows: Any, columns: Any) -> CAP:
        """Let the clusterings agree on a count table; `rows` and `columns` are ensembles, or what they are made from."""
        n_iter = check_count("n_iter", self.n_iter)
        check_count("passes", self.passes)
        check_positive("temperature", self.temperature, or_equal=True)
        check_positive("tol", self.tol, or_equal=True)
        seed = check_seed(self.random_state)
        table = check_counts(counts, self.weighting)
        given = as_ensemble(rows), as_ensemble(columns)
        starts = [
            start_labels(ensemble, side, what, seed)
            for ensemble, side, what in zip(given, (table.rows, table.columns), ("row", "column"), strict=True)
        ]
        how: dict[str, Any] = {"passes": self.passes, "temperature": self.temperature, "tol": self.tol}
        steps = cap(table, *starts, n_iter=n_iter, **how, seed=seed, n_jobs=self.n_jobs)
        self.iterations_: list[tuple[Ensemble, Ensemble]] = []
        for pair, history in track(steps, n_iter, "agreement", self.progress):
            self.iterations_.append(
                (ensemble_like(given[0], table.rows, pair[0]), ensemble_like(given[1], table.columns, pair[1]))
            )
            self.objective_ = np.array(history)
        self.rows_, self.columns_ = self.iterations_[-1]
        return self


def start_labels(ensemble: Ensemble, side: Side, what: str, seed: int) -> list[Labels]:
    """Labels of a side's objects with counts in every clustering, codes without gaps; missing ones drawn at random."""
    if ensemble.n_objects != side.n_objects:
        raise InputError(
            f"the {what} clusterings are of {ensemble.n_objects} objects, and the table has {side.n_objects} {what}s"
        )
    found = []
    for j, labels in enumerate(ensemble.labels.T):
        mine = labels[side.kept]
        known = mine >= 0
        if not known.any():
            raise InputError(f"{what} clustering {j} labels no {what} that has counts")
        names, codes = np.unique(mine[known], return_inverse=True)
        start = random_labels(len(mine), len(names), stream(seed, "agreement.cap", j))
        start[known] = codes
        found.append(start)
    return found


def ensemble_like(given: Ensemble, side: Side, labels: list[Labels]) -> Ensemble:
    """The clusterings of all objects; those without counts keep the labels they had, numbered as before."""
    spread = []
    for new, old in zip(labels, given.labels.T, strict=True):
        names = np.unique(old[side.kept][old[side.kept] >= 0])
        spread.append(side.spread(names[new], old))
    return Ensemble(np.column_stack(spread), info=given.info, ids=given.ids if given.ids is not None else side.ids)
