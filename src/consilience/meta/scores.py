"""What there is to say about every clustering of an ensemble: on the data, against known labels, under small changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError, check_choice, check_count, check_positive, check_seed, count
from consilience._run.progress import track
from consilience._run.random import stream
from consilience._types import Array, ArrayLike, Columns, EnsembleLike, Floats, Ints
from consilience.consensus.combine import combined_labels
from consilience.ensemble import Ensemble, check_same_objects
from consilience.ensemble.results import Result
from consilience.generation import Variations
from consilience.inputs import as_ensemble, open_source
from consilience.measures import accuracy, compactness
from consilience.measures.compactness import davies_bouldins, silhouettes
from consilience.measures.compare import known_labels
from consilience.measures.counts import sums_with_each, tables
from consilience.measures.distinguishing_columns import mixed_table
from consilience.measures.matching import accuracy_of
from consilience.measures.pairs import jaccard_from
from consilience.measures.pairwise import sample_objects
from consilience.meta.group_consensus import quick_labels
from consilience.tables import Table, check_matrix
from consilience.tables.scaling_and_counts import Standardizer

NEEDS = {"compactness": "X", "accuracy": "known", "silhouette": "X", "davies_bouldin": "X", "variation_stability": "X"}
STACK = 2**18  # safeguard: for memory, labels counted at a time


def score(
    ensemble: EnsembleLike,
    X: ArrayLike = None,
    *,
    known: Any = None,
    measures: Sequence[str] | None = None,
    metric: str = "euclidean",
    standardize: bool = True,
    n_sample: int = 1000,
    columns: Columns = None,
    id_column: str | int | None = None,
    variations: Callable[..., Any] | None = None,
    n_variations: int = 5,
    jitter: float = 0.1,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Score every clustering of an ensemble.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from: path, folder, DataFrame, array, AnnData, result
    X : (n_objects, n_features) array, sparse matrix or Table, or (n_objects, n_objects) distances
        The data itself, for all measures but "accuracy".
    known : label vector, Series, DataFrame, mapping of name to label vector, path, or names of columns of the table, optional
        Auxiliary labels; the accuracy against each is a column ``"accuracy:NAME"``.
    measures : sequence of str, optional
        Of "compactness" (Eq. 3 of Caruana et al. 2006; small is compact), "accuracy" (Eq. 4), "silhouette",
        "davies_bouldin" (scikit-learn's; small is good) and "variation_stability". By default the first two, as far as `X` and
        `known` are there.
    metric : {"euclidean", "precomputed"}
        "precomputed" takes X as distances; Davies–Bouldin and variations need the data.
    standardize : bool, default True
        Score on columns of mean 0 and standard deviation 1 (sparse: only scaled), as :func:`consilience.generate` clusters them;
        counts and distances stay as they are.
    n_sample : int
        Silhouette and Davies–Bouldin are of at most so many objects of `measures.pairwise.sample_objects`, on all of which
        compactness is.
    variations : callable, optional
        ``variations(row, n, jitter=jitter, random_state=seed)`` makes `n` clusterings near the one that a row of
        ``ensemble.info`` describes. :class:`consilience.generation.Variations` by default; pass
        ``Variations(X, base=base)`` where another clusterer than k-means made them.
    columns : str, int or sequence of them, optional
        Of a table or a run: the clusterings to take, by name, position or pattern (``"leiden_*"``).
    id_column : str or int, optional
        Of a table: the column that names the objects.
    n_variations, jitter
        For "variation_stability": how many variations, and the standard deviation of the logarithm of their weights. It is the mean
        Jaccard index of a clustering with its variations.
    random_state : int
    n_jobs : int, optional
        Threads, for compactness.
    progress : bool, optional

    Returns
    -------
    DataFrame
        One row per clustering: ``name``, ``clusters``, and a column for every score; NaN where a score is not defined.

    Notes
    -----
    Objects without a label are left out of a clustering's scores. Silhouette costs O(m · n_sample²).

    Examples
    --------
    >>> from consilience.meta import score
    >>> score([[0, 0, 1, 1], [0, 1, 0, 1]], [[0.0], [1.0], [5.0], [6.0]], known={"side": ["a", "a", "b", "b"]})
      name  clusters  compactness  accuracy:side
    0    0         2     0.392232            1.0
    1    1         2     1.961161            0.5
    """
    opened = open_source(ensemble, kind="labels", known=known, columns=columns, id_column=id_column)
    ens, known, seed = opened.ensemble, opened.known, check_seed(random_state)
    chosen = _check_measures(measures, X, known)
    check_choice(metric, ("euclidean", "precomputed"), "metric")
    for name in {"davies_bouldin", "variation_stability"} & set(chosen) if metric == "precomputed" else ():
        raise InputError(f"{name} needs the data itself, not distances; leave it out")
    data = X
    if X is not None:
        check_same_objects(ens, X)
        X = mixed_table(X) if metric == "euclidean" else X
        data = check_matrix(X, n_objects=ens.n_objects, kind="data" if metric == "euclidean" else "distances")
        if standardize and metric == "euclidean" and getattr(X, "kind", "data") == "data":
            data = (X.scaling() if isinstance(X, Table) else Standardizer.of(data)).apply(data)
    some = sample_objects(ens.n_objects, check_count("n_sample", n_sample, least=2))
    rows = pd.DataFrame({"name": ens.names, "clusters": ens.n_clusters})
    for name in chosen:
        if name == "compactness":
            rows[name] = _compactness(data, ens, metric, n_jobs, progress)
        elif name == "accuracy":
            for called, codes in known_labels(known, ens).items():
                rows[f"accuracy:{called}"] = _accuracies(codes, ens)
        elif name == "silhouette":
            rows[name] = silhouettes(data, ens, some, metric=metric, progress=progress)
        elif name == "davies_bouldin":
            rows[name] = davies_bouldins(data, ens, some, progress=progress)
        else:
            make = Variations(X, n_jobs=n_jobs) if variations is None else variations
            rows[name] = _stabilities(make, ens, n_variations, jitter, seed, progress)
    return rows


def _check_measures(measures: Any, X: Any, known: Any) -> list[str]:
    """The measures asked for, or those there are data for; refused if theirs are not there."""
    given = {"X": X is not None, "known": bool(known)}
    if measures is None:
        measures = [name for name in ("compactness", "accuracy") if given[NEEDS[name]]]
        if not measures:
            raise InputError("there is nothing to score by: give the data X, known labels, or both")
    names = list(dict.fromkeys([measures] if isinstance(measures, str) else measures))
    for name in names:
        if not given[NEEDS[check_choice(name, NEEDS, "measure")]]:
            raise InputError(f"{name} needs {NEEDS[name]}, which is not given")
    return names


def _compactness(data: Any, ens: Ensemble, metric: str, n_jobs: int | None, progress: bool | None) -> Floats:
    objects = sample_objects(ens.n_objects)
    if len(objects) < ens.n_objects:
        data, ens = data[np.ix_(objects, objects)] if metric == "precomputed" else data[objects], ens[objects]
    return np.asarray(compactness(data, ens, metric=metric, n_jobs=n_jobs, progress=progress))


def _accuracies(codes: NDArray[np.int32], ens: Ensemble) -> Floats:
    step = max(1, STACK // ens.n_objects)
    blocks = (ens.labels[:, begin : begin + step].T for begin in range(0, ens.n_clusterings, step))
    return np.concatenate([accuracy_of(tables(codes, np.ascontiguousarray(block))) for block in blocks])


def _stabilities(
    make: Callable[..., Any], ens: Ensemble, n_variations: int, jitter: float, seed: int, progress: bool | None
) -> Floats:
    check_count("n_variations", n_variations)
    check_positive("jitter", jitter)
    values = np.empty(ens.n_clusterings)
    for j in track(range(ens.n_clusterings), ens.n_clusterings, "stability", progress):
        made = as_ensemble(make(ens.info.iloc[j], n_variations, jitter=jitter, random_state=seed))
        if made.n_objects != ens.n_objects:
            raise InputError(f"variations made labels of {made.n_objects} objects, not of {ens.n_objects}")
        values[j] = np.nanmean(jaccard_from(sums_with_each(ens.labels[:, j], made.labels, "square")))
    return values


# Is the best of many groups better than chance? The same group sizes with members shuffled answer it.
#
# The best of g consensus clusterings beats the consensus of all partly because it is the best of g: that much the null has too.

Score = Callable[[Any], float]


@dataclass(frozen=True, eq=False)
class Null(Result):
    """The best of the groups, against the best of random groups of the same sizes.

    Attributes
    ----------
    table : DataFrame
        One row per score: ``best`` of the groups, which ``group``, ``null_mean`` and ``null_sd`` of the best of shuffled groups,
        and ``p_value`` = (1 + shuffles that are at least as good) / (1 + shuffles).
    groups : DataFrame
        One row per group, by number: size, and the scores of its consensus (Caruana et al. 2006, Table 2).
    shuffled : DataFrame
        One row per shuffle: the best score among its groups.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> meta = cs.organize(cs.generate(load_beads(), 12, n_clusters=4), 3)
    >>> found = meta.null(load_beads().labels, n_shuffles=2)
    >>> list(found.table.index), list(found.table.columns)
    (['shape', 'color'], ['best', 'group', 'null_mean', 'null_sd', 'p_value'])
    """

    table: pd.DataFrame
    groups: pd.DataFrame = field(repr=False)
    shuffled: pd.DataFrame = field(repr=False)

    def __repr__(self) -> str:
        groups, shuffles = count(len(self.groups), "group"), count(len(self.shuffled), "shuffle")
        lines = [f"Best of {groups}, against {shuffles} of their members"]
        for name, row in self.table.iterrows():
            best = f"{row['best']:.4f} (group {row['group']:.0f})"
            spread = f"{row['null_mean']:.4f} ± {row['null_sd']:.4f}"
            lines.append(f"{name}: {best}; shuffled {spread}, p = {row['p_value']:.3g}")
        return "\n  ".join(lines)


def best_of_groups(
    ensemble: Ensemble,
    groups: Ints,
    scores: Any,
    *,
    n_shuffles: int,
    random_state: Any,
    progress: bool | None,
    **how: Any,
) -> Null:
    check_count("n_shuffles", n_shuffles)
    seed = check_seed(random_state)
    functions = _score_functions(scores, ensemble)

    def labels_of(some: Ensemble) -> Array:
        quick = how["method"] == "auto"
        return quick_labels(some, how["n_clusters"]) if quick else combined_labels(some, random_state=seed, **how)

    def score_groups(assigned: Ints) -> pd.DataFrame:
        parts = (ensemble[:, np.flatnonzero(assigned == group)] for group in range(1, assigned.max() + 1))
        found = [(some.n_clusterings, labels_of(some)) for some in parts]
        rows = [{"size": n} | {name: score(labels) for name, score in functions.items()} for n, labels in found]
        return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="group"))

    observed = score_groups(groups)
    best = []
    for shuffle in track(range(n_shuffles), n_shuffles, "null", progress):
        drawn = stream(seed, "meta.null", shuffle).permutation(groups)
        best.append(score_groups(drawn).drop(columns="size").max())
    shuffled = pd.DataFrame(best).reset_index(drop=True)
    seen = observed[list(functions)]
    table = pd.DataFrame({"best": seen.max().astype(float), "group": seen.idxmax(), "null_mean": shuffled.mean()})
    table["null_sd"] = shuffled.std()
    table["p_value"] = (1 + (shuffled >= seen.max()).sum()) / (1 + n_shuffles)
    return Null(table.rename_axis("score"), observed, shuffled)


def _score_functions(scores: Any, ensemble: Ensemble) -> dict[str, Score]:
    """A function of labels for every score, known labels by their accuracy."""
    given = {getattr(scores, "__name__", "score"): scores} if callable(scores) else scores
    if given is None or (isinstance(given, Mapping) and not given):
        raise InputError("there is no score: give known labels, or functions of labels")
    functions = {str(name): f for name, f in given.items() if callable(f)} if isinstance(given, Mapping) else {}
    labels = {name: x for name, x in given.items() if not callable(x)} if functions else given
    known = known_labels(labels, ensemble) if len(labels) else {}
    return functions | {name: partial(accuracy, codes) for name, codes in known.items()}
