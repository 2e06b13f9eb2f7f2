"""One grouping after another, each new to all before it, until nothing reproducible is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_bool, check_count, check_positive, check_seed, count
from consilience._run.progress import track
from consilience._run.random import child_seed
from consilience._types import Array, EnsembleLike, Ints, RandomState
from consilience.alternatives.at_once import STARTS, find_at_once, reproducibility_at_once
from consilience.alternatives.condens import CondEns
from consilience.alternatives.diagnostics import diagnostics_of, quality_of
from consilience.alternatives.given_groups_and_centering import Data, NoSplitError, TooSmallError, check_data
from consilience.alternatives.reproducibility import null_data, reproducibility_of, z_score_of
from consilience.alternatives.splits import takes_counts
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result
from consilience.measures import compare_labelings, nmi
from consilience.measures.compare_labelings import LabelingComparison
from consilience.tables.raw_table import split_reading

COLUMNS = ["n_clusters", "quality", "redundancy", "reproducibility", "z_score", "kept"]
TOO_SMALL = "the groups have become too small to split"
NO_SPLIT = "the base finds no split in any group of what is left"
NUMBERS = range(2, 9)  # tried where n_clusters is left open
SPLITS, NULL = 2, 5  # halvings of the objects, and null data sets, that a grouping is judged by
NEARLY = 0.05  # the largest number of clusters that comes so near to the most reproducible one


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives(Result):
    """Groupings of the same data, each new to all before it.

    Attributes
    ----------
    ensemble : Ensemble or None
        One clustering per alternative, in the order found, named `cluster_1` and so on; None if there is none.
    table : DataFrame
        Every alternative tried, numbered from 1, the one that stopped the search too: clusters, quality, redundancy (largest NMI with what
        came before), reproducibility, z-score (see :mod:`consilience.alternatives.reproducibility`), and whether it was kept.
    stopped : str
        Why there are no more.
    ids : array or None
        Names of the objects.
    scaling : str
        What was done to the columns of the data.

    Examples
    --------
    >>> from consilience.alternatives import alternatives
    >>> from consilience.datasets import load_beads
    >>> found = alternatives(load_beads(), 1, n_clusters=3)
    >>> found.labels.shape, list(found.table.columns)[:3]
    ((300, 1), ['n_clusters', 'quality', 'redundancy'])
    """

    ensemble: Ensemble | None
    table: pd.DataFrame
    stopped: str
    ids: Array | None = None
    scaling: str = ""

    @property
    def labels(self) -> Any:
        """(n_objects, n_alternatives) labels."""
        return np.empty((0, 0), np.int32) if self.ensemble is None else self.ensemble.labels

    def to_frame(self) -> pd.DataFrame:
        """One row per object: id (or number), and its cluster in every alternative, `cluster_1` and so on."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        clusters = dict(zip(_names(len(self)), self.labels.T, strict=True))
        return pd.DataFrame({"id": ids[: len(self.labels)], **clusters})

    def score(self, known: Any, measure: str = "nmi") -> LabelingComparison:
        """The groupings beside known ones: which is which, and how much of all of them was found.

        Parameters
        ----------
        known : label vector, Series, DataFrame, mapping of name to label vector, or path
        measure : str
            As of :func:`consilience.measures.compare_labelings`, whose answer this is.
        """
        if self.ensemble is None:
            raise InputError("no grouping was kept, so there is none to compare with what is known")
        return compare_labelings(self.ensemble, known, measure)

    def __len__(self) -> int:
        return 0 if self.ensemble is None else self.ensemble.n_clusterings

    def __repr__(self) -> str:
        lines = [f"Alternatives: {count(len(self), 'grouping')}, each new to all before it"]
        for i, row in self.table[self.table["kept"]].iterrows():
            lines.append(
                f"{i}  {row['n_clusters']} clusters, quality {row['quality']:.3f}, redundancy {row['redundancy']:.3f}, "
                f"reproducibility {row['reproducibility']:.3f}"
            )
        return "\n  ".join([*lines, f"data     {self.scaling}", f"stopped  {self.stopped}"])


def alternatives(
    X: Any,
    n_clusterings: int = 3,
    *,
    n_clusters: int | Sequence[int] | None = None,
    given: EnsembleLike | None = None,
    base: Any = "kmeans",
    center: str | None = "auto",
    at_once: bool = False,
    min_reproducibility: float = 0.5,
    min_z_score: float = 2.0,
    max_redundancy: float = 0.3,
    standardize: bool = True,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Alternatives:
    """Find up to `n_clusterings` groupings of the data, each new to all before it.

    The first is a plain clustering, the best of its runs (or the first that is new to `given`); every further one is found by
    :class:`CondEns` given all that came before. **Stop rule**: the search ends when what it finds next is not reproducible (answers
    learned from two halves of the objects agree to an adjusted Rand index below `min_reproducibility`), explains no more of the
    variance than such an answer does of data without clusters (by less than `min_z_score` standard deviations; dense tables only),
    repeats something (NMI above `max_redundancy` with what came before), or when the groups have become too small to split
    or the base finds no split in them.

    Parameters
    ----------
    X : (n_objects, n_features) array or sparse matrix, data frame, Table, AnnData, or a path
    n_clusterings : int
        Groupings at most.
    n_clusters : int or sequence of ints, one for each grouping, optional
        Clusters of all, or of each. By default the largest of 2 … 8 whose reproducibility comes within .05 of the best.
    given : label vector or vectors, optional
        What is known already; as of :func:`contrast`.
    center : {"auto", "group", None}
        As of :class:`CondEns`; "auto" is "group", and None for counts, which have no means to take out.
    base, n_jobs, **options
        As of :class:`CondEns`; and how to read a table: `id_column`, `columns` and the other parameters of
        :func:`consilience.tables.read_table`.
    at_once : bool
        Look for all groupings at once, each in a space of its own at right angles to the others', instead of one after another
        (:mod:`consilience.alternatives.at_once`): better where they are about equally strong. It needs `n_clusters`, and takes dense
        tables of up to 200 columns, and of the options only `n_init` (30 starts). Groupings that the stop rule refuses are not
        kept; what they explain beyond null data is that of their own space.
    min_reproducibility, min_z_score, max_redundancy : float
    standardize : bool
        Scale every column to mean 0 and standard deviation 1 first (sparse: standard deviation only); counts stay as they are.
    random_state : int
    progress : bool, optional

    Returns
    -------
    Alternatives

    Examples
    --------
    >>> from consilience.alternatives import alternatives
    >>> from consilience.datasets import load_beads
    >>> found = alternatives(load_beads(), n_clusters=[3, 4, 3], n_init=5)
    >>> found.table["kept"].tolist()  # shape, color, and then nothing
    [True, True, False]
    >>> found.score(load_beads().labels)
    LabelingComparison: 2 found, 2 known groupings
                 shape  color
      found
      cluster_1  0.949  0.006
      cluster_2  0.003  0.852
      nmi: 0.900 matched one to one, 0.900 with the nearest
      pairs: precision 0.957, recall 0.958, f1 0.957, rand 0.957, jaccard 0.918
    """
    n = check_count("n_clusterings", n_clusterings)
    numbers = _numbers(n_clusters, n)
    check_positive("min_reproducibility", min_reproducibility, above=-1, or_equal=True)
    check_positive("min_z_score", min_z_score, above=-np.inf)
    check_positive("max_redundancy", max_redundancy, or_equal=True)
    seed, counts = check_seed(random_state), takes_counts(base)
    reading, options = split_reading(options)
    limits = (min_reproducibility, min_z_score, max_redundancy)
    if check_bool("at_once", at_once):
        n_init = _check_at_once(n_clusters, given, base, center, options)
        data = check_data(X, None, counts=False, standardize=standardize, **reading)
        sizes = [k for (k,) in numbers]
        return _found(data, *_all_at_once(data.X, sizes, limits, n_init=n_init, seed=seed, n_jobs=n_jobs))
    settings = {"base": base, "center": None if counts else "group", "n_jobs": n_jobs} | options
    if center != "auto":
        settings["center"] = center
    data = check_data(X, given, counts=counts, standardize=standardize, **reading)
    CondEns(2, **settings)._check(data.X)
    known: list[Any] = [] if data.given is None else list(data.given.labels.T)
    found: list[Ints] = []
    rows, stopped = [], f"{n} were asked for"
    for step in track(range(n), n, "alternatives", progress):
        past = _together([*known, *found])
        settings["random_state"] = child_seed(seed, "alternatives.sequence", step)
        # Runs of a plain clustering may find different groupings, whose consensus is none of them.
        own = {"keep": "best"} | settings if past is None else settings
        try:
            labels, row = _next(data.X, past, numbers[step], own)
        except (TooSmallError, NoSplitError) as error:
            stopped = NO_SPLIT if isinstance(error, NoSplitError) else TOO_SMALL
            break
        reason = _why_stop(row, *limits)
        rows.append((*row, not reason))
        if reason:
            stopped = reason
            break
        found.append(labels)
    return _found(data, rows, found, stopped)


def _found(data: Data, rows: list[tuple[Any, ...]], found: list[Ints], stopped: str) -> Alternatives:
    table = pd.DataFrame(rows, pd.RangeIndex(1, len(rows) + 1), COLUMNS).astype({"kept": bool})
    ensemble = _together(found, data.ids, {"name": _names(len(found))})
    return Alternatives(ensemble, table, stopped, data.ids, data.scaling)


def _check_at_once(n_clusters: Any, given: Any, base: Any, center: Any, options: dict[str, Any]) -> int:
    """Number of starts; what only a sequence has is refused."""
    if n_clusters is None:
        raise InputError("at_once needs the numbers of clusters: give n_clusters, one for all or one for each")
    used = {"given": given is not None, "base": base != "kmeans", "center": center != "auto"}
    others = [*(name for name in options if name != "n_init"), *(name for name in used if used[name])]
    if others:
        raise InputError(f"{others[0]} is of groupings found one after another: leave it out, or at_once")
    return check_count("n_init", options.get("n_init", STARTS))


def _all_at_once(
    X: Any, sizes: list[int], limits: tuple[float, float, float], *, n_init: int, seed: int, n_jobs: int | None
) -> tuple[list[tuple[Any, ...]], list[Ints], str]:
    """All groupings, what the stop rule says of each, and what it says of the first that is not kept."""
    how: dict[str, Any] = {"n_init": n_init, "n_jobs": n_jobs}
    groupings = find_at_once(X, sizes, seed=seed, **how)
    again = reproducibility_at_once(X, groupings, sizes, SPLITS, seed=seed, **how)
    null, everyone = [], np.zeros(len(X), np.int32)
    for i in range(NULL):
        drawn = null_data(X, everyone, everyone >= 0, i, seed)
        own = child_seed(seed, "alternatives.at_once_null", i)
        null.append(find_at_once(drawn, sizes, seed=own, **how).quality(drawn))
    beyond = (groupings.quality(X) - np.mean(null, axis=0)) / np.maximum(np.std(null, axis=0, ddof=1), 1e-12)
    rows: list[tuple[Any, ...]] = []
    found: list[Ints] = []
    reasons = []
    for j, labels in enumerate(groupings.labels.T):
        repeated = max((nmi(labels, other) for other in found), default=0.0)
        row = (sizes[j], quality_of(X, labels, "variance"), repeated, float(again[j]), float(beyond[j]))
        reason = _why_stop(row, *limits)
        rows.append((*row, not reason))
        if reason:
            reasons.append(reason)
        else:
            found.append(labels)
    if not reasons:
        return rows, found, "all were looked for at once"
    return rows, found, f"{len(reasons)} of {len(sizes)} looked for at once are not kept: {reasons[0]}"


def _together(labels: list[Any], ids: Array | None = None, info: Any = None) -> Ensemble | None:
    return Ensemble.from_codes(np.column_stack(labels), ids=ids, info=info) if labels else None


def _names(n: int) -> list[str]:
    return [f"cluster_{number}" for number in range(1, n + 1)]


def _next(
    X: Any, past: Ensemble | None, numbers: Sequence[int], settings: dict[str, Any]
) -> tuple[Ints, tuple[Any, ...]]:
    """The next grouping, and its clusters, quality, redundancy, reproducibility and z-score."""
    k, again = _most_reproducible(X, past, numbers, settings)
    if np.isnan(again):
        raise TooSmallError(TOO_SMALL)
    model, counts = CondEns(k, **settings), takes_counts(settings["base"])
    labels = model._labels(X, past)
    about = diagnostics_of(X, labels, past, "information" if counts else "variance")
    repeated = 0.0 if past is None else float(about.redundancy["nmi"].max())
    beyond = float("nan") if counts else z_score_of(X, past, model, NULL, settings["random_state"], labels)
    return labels, (k, about.quality, repeated, again, beyond)


def _why_stop(row: tuple[Any, ...], min_reproducibility: float, min_z_score: float, max_redundancy: float) -> str:
    """The reason not to keep a grouping; empty if there is none."""
    _, _, repeated, again, beyond = row
    if again < min_reproducibility:
        return f"the next one is not reproducible (two halves of the objects agree to {again:.2f} only)"
    if beyond < min_z_score:
        return (
            f"the next one explains no more than it would of data without clusters ({beyond:.1f} standard deviations)"
        )
    if repeated > max_redundancy:
        return f"the next one repeats what was found before (NMI {repeated:.2f})"
    return ""


def _numbers(n_clusters: Any, n: int) -> list[Sequence[int]]:
    if n_clusters is None:
        return [NUMBERS] * n
    several = isinstance(n_clusters, (Sequence, np.ndarray)) and not isinstance(n_clusters, str)
    given = list(n_clusters) if several else [n_clusters] * n
    if len(given) != n:
        raise InputError(f"n_clusters must be one number or one for each of the {n} alternatives; got {len(given)}")
    return [[check_count("n_clusters", k, 2)] for k in given]


def _most_reproducible(
    X: Any, past: Ensemble | None, numbers: Sequence[int], settings: dict[str, Any]
) -> tuple[int, float]:
    """The number of clusters to take and its reproducibility; NaN where no number can be tried."""
    seed = settings["random_state"]
    values = np.array([reproducibility_of(X, past, CondEns(k, **settings), SPLITS, seed) for k in numbers])
    if np.isnan(values).all():
        return numbers[0], float("nan")
    at = int(np.flatnonzero(values >= np.nanmax(values) - NEARLY)[-1])
    return numbers[at], float(values[at])
