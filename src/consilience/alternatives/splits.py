"""Stages 1 and 2 of conditional ensembles: split every known group, and extend every split to all objects.

What splits a group is one of our base clusterers by name, or any scikit-learn clusterer.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from consilience._check import InputError, check_choice
from consilience._run.parallel import own_threads, workers
from consilience._run.progress import track
from consilience._run.random import child_seed
from consilience._types import Floats, Labels
from consilience.alternatives.count_bases import CountBottleneck, MultinomialMixture
from consilience.alternatives.given_groups_and_centering import Centering, Group, NoSplitError, group_means
from consilience.ensemble import Ensemble
from consilience.generation.kmeans import check_base as check_clusterer
from consilience.generation.kmeans import clusterer_settings

KEEP = ("all", "best")
OBJECTIVES = {"lower_bound_": 1.0, "objective_": 1.0, "inertia_": -1.0}  # what they maximize, or minimize


def _kmeans(n_objects: int, n_features: int, n_clusters: int) -> Any:
    from sklearn.cluster import KMeans  # here and below: importing consilience must stay quick

    return KMeans(n_init=1)


def _gaussian(n_objects: int, n_features: int, n_clusters: int) -> Any:
    """Full covariances where a cluster can be expected to have twice as many objects as features, otherwise variances."""
    from sklearn.mixture import GaussianMixture

    full = n_objects >= 2 * n_clusters * n_features
    return GaussianMixture(covariance_type="full" if full else "diag", init_params="k-means++")


BASES: dict[str, Callable[[int, int, int], Any]] = {
    "kmeans": _kmeans,
    "multinomial": lambda n, d, k: MultinomialMixture(),
    "gaussian": _gaussian,
    "bottleneck": lambda n, d, k: CountBottleneck(),
    "annealing": lambda n, d, k: CountBottleneck(search="annealing"),
}
COUNTS = ("multinomial", "bottleneck", "annealing")


@dataclass(frozen=True)
class Split:
    rows: NDArray[np.int64]  # the group's objects
    labels: NDArray[np.int32]  # their clusters, −1 where the base leaves an object out
    model: Any
    objective: float  # what the base maximizes; squares explained where it tells nothing of its own


def check_base(base: Any) -> None:
    if isinstance(base, str):
        check_choice(base, BASES, "base")
    else:
        check_clusterer(base)


def takes_counts(base: Any) -> bool:
    return base in COUNTS if isinstance(base, str) else isinstance(base, (MultinomialMixture, CountBottleneck))


def is_random(base: Any) -> bool:
    """Whether restarts of the base can differ."""
    return isinstance(base, str) or any(name.endswith("random_state") for name in clusterer_settings(base, 2, 0))


def fit_base(base: Any, X: Any, rows: NDArray[Any], n_clusters: int, seed: int) -> Split:
    """One run of the base on the objects of a group; X holds these only."""
    estimator = BASES[base](X.shape[0], X.shape[1], n_clusters) if isinstance(base, str) else clone(base)
    estimator.set_params(**clusterer_settings(estimator, n_clusters, seed))
    found = estimator.fit_predict(X) if hasattr(estimator, "fit_predict") else estimator.fit(X).labels_
    labels = np.asarray(found).astype(np.int32)
    return Split(rows, np.where(labels < 0, -1, labels), estimator, _objective(estimator, X, labels))


def _objective(estimator: Any, X: Any, labels: NDArray[np.int32]) -> float:
    for name, sign in OBJECTIVES.items():
        if hasattr(estimator, name):
            return sign * float(getattr(estimator, name))
    k = int(labels.max()) + 1
    size = np.bincount(labels[labels >= 0], minlength=max(k, 1))
    return float(size @ (group_means(X, labels, k) ** 2).sum(axis=1)) if k > 0 else -np.inf


def split_groups(
    X: Any,
    groups: list[Group],
    n_clusters: int,
    *,
    base: Any,
    n_init: int,
    keep: str,
    centering: Centering | None,
    seed: int,
    n_jobs: int | None,
    progress: bool | None,
) -> tuple[Ensemble, dict[tuple[int, int], str]]:
    """Split every group, and extend every split to all objects; and why the base refused a group, by grouping and group."""
    from joblib import delayed

    runs = range(n_init)
    units = [(group, [run]) for group in groups for run in runs] if keep == "all" else [(g, runs) for g in groups]

    def one(group: Group, runs: Any) -> tuple[NDArray[np.int32] | None, dict[str, Any]]:
        here = None if centering is None else centering.at(X, group.rows)
        part = X[group.rows] if here is None else here.seen(X, group.rows)
        with own_threads(of="openmp"):  # a setting of this thread alone
            tried = {run: _split(base, part, group, n_clusters, [seed, group.given, group.code, run]) for run in runs}
            made = {run: split for run, split in tried.items() if isinstance(split, Split)}
            about = {"given": group.given, "group": group.code, "name": group.name}
            if not made:
                return None, about | {"reason": next(iter(tried.values()))}
            best = max(made, key=lambda run: made[run].objective)
            return extend(X, made[best], here), about | {"run": best, "objective": made[best].objective}

    # One thread each, so that no sum depends on their number; that of BLAS belongs to the process, so it is set out here.
    with warnings.catch_warnings(), own_threads(of="blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a member of an ensemble need not be the last word
        lazily = workers(n_jobs, lazily=True)
        found = list(track(lazily(delayed(one)(*u) for u in units), len(units), "clustering within groups", progress))
    made = [(labels, about) for labels, about in found if labels is not None]
    failed = [about for labels, about in found if labels is None]
    if not made:
        first = failed[0]
        raise InputError(f"the base clusterer cannot split group {first['name']!r}: {first['reason']}")
    made = [(labels, about) for labels, about in made if len(np.unique(labels[labels >= 0])) > 1]
    if not made:
        raise NoSplitError("the base clusterer found a single cluster in every group, so there is nothing to combine")
    codes, about = np.column_stack([labels for labels, _ in made]), pd.DataFrame([about for _, about in made])
    ens = Ensemble.from_codes(codes, info=about)
    return ens, {(about["given"], about["group"]): about["reason"] for about in failed}


def _split(base: Any, part: Any, group: Group, n_clusters: int, stream: list[int]) -> Split | str:
    """A run of the base, or in words why it refused the group: one group must not take the others with it."""
    state = child_seed(stream[0], "alternatives.splits", *stream[1:]) >> 31
    try:
        return fit_base(base, part, group.rows, n_clusters, state)
    except (TypeError, ValueError) as error:
        if isinstance(error, TypeError) and not sparse.issparse(part):  # how scikit-learn refuses sparse data
            raise
        return " ".join(str(error).split())


def extend(X: Any, split: Split, centering: Centering | None = None) -> Labels:
    """Labels of all rows of X (−1 where the model leaves an object out), with the model's parameters fixed."""
    # An estimator that can `predict` does; one that knows probabilities only takes the likeliest; any other one's clusters take the
    # objects whose nearest mean they have. The group's own objects keep the labels they got.
    centers, names = _centers(X, split, centering)
    out = np.empty(X.shape[0], np.int32)
    if centers is not None:
        out[:] = names[_nearest(X, centers, centering)]
    elif centering is None:
        out[:] = _predict(split.model, X)
    else:
        for some, part in centering.blocks(X, np.arange(X.shape[0])):
            out[some] = _predict(split.model, part)
    out[split.rows] = split.labels
    return np.where(out < 0, -1, out)


def _centers(X: Any, split: Split, centering: Centering | None) -> tuple[Floats | None, NDArray[Any]]:
    """The clusters' means and labels, where assignment goes by them; None where the model has its own way."""
    from sklearn.cluster import KMeans

    if isinstance(split.model, KMeans):
        return split.model.cluster_centers_, np.arange(len(split.model.cluster_centers_))
    if hasattr(split.model, "predict") or hasattr(split.model, "predict_proba"):
        return None, np.empty(0, int)
    known = split.labels >= 0
    names, codes = np.unique(split.labels[known], return_inverse=True)
    rows = split.rows[known]
    part = X[rows] if centering is None else centering.seen(X, rows)
    return group_means(part, codes, len(names)), names


def _predict(model: Any, X: Any) -> NDArray[Any]:
    if hasattr(model, "predict"):
        return np.asarray(model.predict(X))
    return np.asarray(model.predict_proba(X)).argmax(axis=1)


def _nearest(X: Any, centers: Floats, centering: Centering | None) -> NDArray[np.int64]:
    """argmax_c of x·μ_c − |μ_c|²/2, the nearest center; the shift of x is taken up by the centers, so X stays sparse."""
    home = centers.mean(axis=0) if centering is None else centering.home
    moved = centers - home  # about a place among them: far from zero the squares of the centers would lose their digits
    half = (moved**2).sum(axis=1) / 2
    if centering is None:
        return np.asarray(X @ moved.T - (home @ moved.T + half)).argmax(axis=1)
    return np.asarray(X @ moved.T - (centering.means @ moved.T + half)[centering.cells]).argmax(axis=1)
