"""One grouping after another, each new to all before it, until nothing is left that is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_count, check_positive, check_seed, count
from consilience._progress import track
from consilience._random import child_seed
from consilience.alternatives.bases import takes_counts
from consilience.alternatives.condens import CondEns
from consilience.alternatives.diagnostics import diagnose
from consilience.alternatives.given import NoSplitError, TooSmallError, check_given
from consilience.alternatives.significance import reproducibility, surprise
from consilience.ensemble import Ensemble
from consilience.tables import check_matrix

COLUMNS = ["n_clusters", "quality", "redundancy", "reproducibility", "surprise", "kept"]
TOO_SMALL = "the groups have become too small to split"
NO_SPLIT = "the base finds no split in any group of what is left"
NUMBERS = range(2, 9)  # tried where n_clusters is left open
NEARLY = 0.05  # the largest number of clusters that comes so near to the most reproducible one


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Groupings of the same data, each new to all before it.

    Attributes
    ----------
    ensemble : Ensemble or None
        One clustering per alternative, in the order found; None if there is none.
    table : DataFrame
        Every alternative tried, the one that stopped the search too: clusters, quality, redundancy (largest NMI with what
        came before), reproducibility, surprise (see :mod:`consilience.alternatives.significance`), and whether it was kept.
    stopped : str
        Why there are no more.
    """

    ensemble: Ensemble | None
    table: pd.DataFrame
    stopped: str

    @property
    def labels(self) -> Any:
        """(n_objects, n_alternatives) labels."""
        return np.empty((0, 0), np.int32) if self.ensemble is None else self.ensemble.labels

    def __len__(self) -> int:
        return 0 if self.ensemble is None else self.ensemble.n_clusterings

    def __repr__(self) -> str:
        lines = [f"Alternatives: {count(len(self), 'grouping')}, each new to all before it"]
        for i, row in self.table[self.table["kept"]].iterrows():
            lines.append(
                f"{i}  {row['n_clusters']} clusters, quality {row['quality']:.3f}, redundancy {row['redundancy']:.3f}, "
                f"reproducibility {row['reproducibility']:.3f}"
            )
        return "\n  ".join([*lines, f"stopped: {self.stopped}"])


def alternatives(
    X: Any,
    n: int = 3,
    *,
    n_clusters: int | Sequence[int] | None = None,
    given: Any = None,
    base: Any = "kmeans",
    center: str | None = "auto",
    min_reproducibility: float = 0.5,
    min_surprise: float = 2.0,
    max_redundancy: float = 0.3,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Alternatives:
    """Find up to `n` groupings of the data, each new to all before it.

    The first is a plain clustering, the best of its restarts (or the first that is new to `given`); every further one is found by
    :class:`CondEns` given all that came before. **Stop rule**: the search ends when what it finds next is not reproducible (answers
    learned from two halves of the objects agree to an adjusted Rand index below `min_reproducibility`), explains no more of the
    variance than such an answer does of a plain cloud (by less than `min_surprise` standard deviations; dense tables only), repeats
    something (NMI above `max_redundancy` with what came before), or when the groups have become too small to split
    or the base finds no split in them.

    Parameters
    ----------
    X : (n_objects, n_features) array, DataFrame or sparse matrix
    n : int
        Groupings at most.
    n_clusters : int or sequence of n ints, optional
        Clusters of all, or of each. By default the largest of 2 … 8 whose reproducibility comes within .05 of the best.
    given : label vector or vectors, optional
        What is known already.
    center : {"auto", "group", None}
        As of :class:`CondEns`; "auto" is "group", and None for counts, which have no means to take out.
    base, n_jobs, **options
        As of :class:`CondEns`.
    min_reproducibility, min_surprise, max_redundancy : float
    random_state : int
    progress : bool, optional

    Returns
    -------
    Alternatives

    Examples
    --------
    >>> from consilience.alternatives import alternatives
    >>> from consilience.datasets import load_beads
    >>> X = load_beads().values
    >>> found = alternatives((X - X.mean(axis=0)) / X.std(axis=0), n_clusters=[3, 4, 3], n_restarts=5)
    >>> found.table["kept"].tolist()  # shape, color, and then nothing
    [True, True, False]
    """
    n = check_count("n", n)
    numbers = _numbers(n_clusters, n)
    check_positive("min_reproducibility", min_reproducibility, above=-1, or_equal=True)
    check_positive("min_surprise", min_surprise, above=-np.inf)
    check_positive("max_redundancy", max_redundancy, or_equal=True)
    seed = check_seed(random_state)
    if center == "auto":
        center = None if takes_counts(base) else "group"
    index, X = X, check_matrix(X, estimator=CondEns(), min_objects=2)
    known = [] if given is None else list(check_given(given, X.shape[0], index).ensemble.labels.T)
    limits = (min_reproducibility, min_surprise, max_redundancy)
    found: list[Any] = []
    rows, stopped = [], f"{n} were asked for"
    for step in track(range(n), n, "alternatives", progress):
        past = [*known, *found] or None
        settings = {"base": base, "center": center, "random_state": _seed_of(seed, step), "n_jobs": n_jobs}
        if past is None:  # restarts of a plain clustering may find different groupings, whose consensus is none of them
            settings["restarts"] = "best"
        try:
            labels, row = _next(X, past, numbers[step], settings | options)
        except (TooSmallError, NoSplitError) as error:
            stopped = NO_SPLIT if isinstance(error, NoSplitError) else TOO_SMALL
            break
        reason = _why_stop(row, *limits)
        rows.append((*row, not reason))
        if reason:
            stopped = reason
            break
        found.append(labels)
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"kept": bool})
    return Alternatives(Ensemble(found) if found else None, table, stopped)


def _seed_of(seed: int, step: int) -> int:
    """A 63-bit seed of its own for every step."""
    return child_seed(seed, "alternatives.sequence", step)


def _next(X: Any, past: Any, numbers: Sequence[int], settings: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The next grouping, and its clusters, quality, redundancy, reproducibility and surprise."""
    k, again = _most_reproducible(X, past, numbers, settings)
    if np.isnan(again):
        raise TooSmallError(TOO_SMALL)
    model, counts = CondEns(k, **settings), takes_counts(settings["base"])
    labels = model.fit(X, past, progress=False).labels_
    about = diagnose(X, labels, past, measure="information" if counts else "variance")
    repeated = 0.0 if past is None else float(about.redundancy["nmi"].max())
    beyond = float("nan") if counts else surprise(X, past, model, random_state=settings["random_state"])
    return labels, (k, about.quality, repeated, again, beyond)


def _why_stop(row: tuple[Any, ...], min_reproducibility: float, min_surprise: float, max_redundancy: float) -> str:
    """The reason not to keep a grouping; empty if there is none."""
    _, _, repeated, again, beyond = row
    if again < min_reproducibility:
        return f"the next one is not reproducible (two halves of the objects agree to {again:.2f} only)"
    if beyond < min_surprise:
        return f"the next one explains no more than it would of a plain cloud ({beyond:.1f} standard deviations)"
    if repeated > max_redundancy:
        return f"the next one repeats what was found before (NMI {repeated:.2f})"
    return ""


def _numbers(n_clusters: Any, n: int) -> list[Sequence[int]]:
    """The numbers of clusters to try at each step."""
    if n_clusters is None:
        return [NUMBERS] * n
    several = isinstance(n_clusters, (Sequence, np.ndarray)) and not isinstance(n_clusters, str)
    given = list(n_clusters) if several else [n_clusters] * n
    if len(given) != n:
        raise InputError(f"n_clusters must be one number or one for each of the {n} alternatives; got {len(given)}")
    return [[check_count("n_clusters", k, 2)] for k in given]


def _most_reproducible(X: Any, given: Any, numbers: Sequence[int], settings: dict[str, Any]) -> tuple[int, float]:
    """The number of clusters to take and its reproducibility; NaN where no number can be tried."""
    seed = settings["random_state"]
    values = np.array([reproducibility(X, given, CondEns(k, **settings), random_state=seed) for k in numbers])
    if np.isnan(values).all():
        return numbers[0], float("nan")
    at = int(np.flatnonzero(values >= np.nanmax(values) - NEARLY)[-1])
    return numbers[at], float(values[at])
