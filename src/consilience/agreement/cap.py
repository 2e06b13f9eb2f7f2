"""The Clustering Agreement Process (Bekkerman et al. 2009, section 4): many clusterings of each side are made to agree.

Every clustering of the rows is joined to every clustering of the columns, and Σ_i Σ_j I(X̃_i; Ỹ_j) is raised (Eq. 4): all row
clusterings at once while the columns' are fixed (each on its own, Eq. 5), then all column clusterings. A row is summed by the clusterings
of the columns when it is looked at, so that no table of as many times the counts is held.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from consilience._check import InputError, check_count, check_positive, check_seed
from consilience._run.progress import track
from consilience._run.random import child_seed, stream
from consilience._types import EnsembleLike, Labels, RandomState
from consilience.agreement.block_search import BlockCounts, counts_of, infer_blocks
from consilience.agreement.co_clustering import random_labels
from consilience.agreement.comraf import Node, infer
from consilience.agreement.count_table import Clusterings, Counts, Objects, ensemble_of
from consilience.agreement.result import Agreement, Sides
from consilience.consensus import SCCC

AGAIN = 2  # iterations after the row clusterings began again
SIDES = ("row", "column")
#: All clusterings, and the objective at the start and after every half of an iteration.
Turn = tuple[dict[str, Labels], list[float]]


def start_from(clusterings: Any, side: Objects, what: str, seed: int) -> Clusterings:
    """Given clusterings on the objects of a side that have counts; missing labels are drawn at random."""
    if isinstance(clusterings, Clusterings):
        return clusterings
    given = ensemble_of(clusterings, what, side.n_objects)
    starts = []
    for j, labels in enumerate(given.labels.T):
        mine = labels[side.kept]
        known = mine >= 0
        if not known.any():
            raise InputError(f"{what} clustering {j} labels no {what} that has counts")
        names, codes = np.unique(mine[known], return_inverse=True)
        start = random_labels(len(mine), len(names), stream(seed, f"agreement.cap_{what}s", j))
        start[known] = codes
        starts.append(start)
    return Clusterings(side, starts, given.info, given)


@dataclass(eq=False, repr=False)
class CAP(BaseEstimator):
    """Make given clusterings of rows and of columns agree, without losing their mutual information.

    Parameters
    ----------
    max_iter : int
        Turns of both sides; Bekkerman et al. 2009 take four, and two do most of it.
    max_iter_local : int
        Passes of local search in every turn.
    temperature : float
        Of a noisy pass over the rows that goes first in every turn; it falls evenly from turn to turn, and there is none in the last.
        Where the passes after it end lower than it began, they start again without it. 0 leaves it out, as in Bekkerman et al. 2009.
    tol : float
        Stop earlier when a turn of both sides gains no more than this share of the objective.
    restart : bool
        At the end begin again, with every row clustering at their consensus (:class:`~consilience.SCCC`, the median number of clusters) and
        the column clusterings as they are, for two more iterations without noise; taken back where the objective ends no higher. The
        clusterings are all but the same then: for one good answer, not where they shall tell how sure it is.
    weighting : {"uniform", "length"}
        Every row with the same mass, or with its counts as they are.
    random_state : int, optional
    n_jobs : int, optional
        Threads over the clusterings of a side; the labels do not depend on it.

    Attributes
    ----------
    agreement_ : Agreement
        The clusterings before the process and after every iteration, as :func:`agree` returns them.
    rows_, columns_ : Ensemble
        After the last iteration, in the order given.
    objective_ : array
        Σ_i Σ_j I(X̃_i; Ỹ_j) in nats, at the start and after every half of an iteration; it never falls, but where `restart` makes
        the clusterings one.
    n_iter_ : int
        Iterations done.

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

    max_iter: int = 4
    _: KW_ONLY
    max_iter_local: int = 1
    temperature: float = 0.4
    tol: float = 0.0
    restart: bool = False
    weighting: str = "uniform"
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: Any, rows: EnsembleLike, columns: EnsembleLike) -> Self:
        """Let clusterings of the rows and of the columns of a count table agree.

        Parameters
        ----------
        X : sparse or dense array, DataFrame, Table, or a path; or row blocks
            The counts; row blocks are what :class:`CountBlocks` takes, and are never held all at once.
        rows, columns : Ensemble, or what one is made from
            Where the process starts.
        """
        self._check_options()
        return self._fit(counts_of(X, self.weighting, self.n_jobs), rows, columns, check_seed(self.random_state))

    def _check_options(self) -> None:
        check_count("max_iter", self.max_iter)
        check_count("max_iter_local", self.max_iter_local)
        check_positive("temperature", self.temperature, or_equal=True)
        check_positive("tol", self.tol, or_equal=True)

    def _fit(
        self, table: Counts | BlockCounts, rows: Any, columns: Any, seed: int, progress: bool | None = False
    ) -> Self:
        """The process on a checked table; labels are those of objects with counts until the record is made."""
        starts = start_from(rows, table.rows, "row", seed), start_from(columns, table.columns, "column", seed)
        names = [[f"{what} {i}" for i in range(len(start.codes))] for what, start in zip(SIDES, starts, strict=True)]
        labels = dict(zip([*names[0], *names[1]], [*starts[0].codes, *starts[1].codes], strict=True))
        seed = child_seed(seed, "agreement.cap_search")
        iterations = self.max_iter + (AGAIN if self.restart else 0)
        done = list(track(self._turns(table, names, labels, seed), iterations, "agreement", progress))
        before = Sides(*(start.given or start.ensemble() for start in starts))
        sides = list(zip(starts, names, strict=True))
        after = [Sides(*(start.ensemble([found[name] for name in mine]) for start, mine in sides)) for found, _ in done]
        empty = table.rows.empty, table.columns.empty
        self.agreement_ = Agreement(before, after[-1], after, np.array(done[-1][1]), *empty, table.source)
        self.rows_, self.columns_ = after[-1].rows, after[-1].columns
        self.objective_, self.n_iter_ = self.agreement_.objective, len(after)
        self.n_features_in_ = table.columns.n_objects
        return self

    def _turns(
        self, table: Counts | BlockCounts, names: list[list[str]], labels: dict[str, Labels], seed: int
    ) -> Iterator[Turn]:
        """All clusterings and the objective so far after every iteration; with `restart`, of a second round too if it ends higher."""
        how: dict[str, Any] = {name: getattr(self, name) for name in ("max_iter_local", "tol", "n_jobs")}
        if isinstance(table, BlockCounts):
            infer_from: Callable[..., Iterator[Turn]] = partial(infer_blocks, table, names)
        else:
            classes = [
                [Node(name, side.views, [(other, 0, 1.0) for other in others]) for name in mine]
                for side, mine, others in zip((table.rows, table.columns), names, names[::-1], strict=True)
            ]
            infer_from = partial(infer, classes)
        turn: Turn = (labels, [])
        # the annealing schedule: noise falls evenly to nothing in the last iteration
        heats = [self.temperature * (1 - t / self.max_iter) for t in range(1, self.max_iter + 1)]
        for turn in infer_from(labels, heats=heats, seed=seed, **how):
            yield turn
        if not self.restart:
            return
        labels, history = turn
        again = labels | dict.fromkeys(names[0], _consensus([labels[name] for name in names[0]]))
        second = list(infer_from(again, heats=[0.0] * AGAIN, seed=child_seed(seed, "agreement.cap_restart"), **how))
        if second[-1][1][-1] > history[-1]:
            yield from ((found, history + values[1:]) for found, values in second)


def _consensus(clusterings: list[Labels]) -> Labels:
    if len(clusterings) == 1:
        return clusterings[0]
    labels = SCCC().fit(np.column_stack(clusterings)).labels_
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)
