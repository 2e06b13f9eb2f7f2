"""The base clusterers that split a group: four of ours and scikit-learn's by name, or any scikit-learn clusterer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from consilience._check import check_choice
from consilience.alternatives.count_bases import CountBottleneck, MultinomialMixture
from consilience.alternatives.data import group_means
from consilience.generation.sklearn_base import check_base as check_clusterer
from consilience.generation.sklearn_base import clusterer_settings

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
    """A group split by a base clusterer."""

    rows: NDArray[np.int64]  # the group's objects
    labels: NDArray[np.int32]  # their clusters, −1 where the base leaves an object out
    model: Any
    objective: float  # what the base maximizes; squares explained where it tells nothing of its own


def check_base(base: Any) -> None:
    """Refuse what is neither a name among BASES nor an estimator that clusters."""
    if isinstance(base, str):
        check_choice(base, BASES, "base")
    else:
        check_clusterer(base)


def takes_counts(base: Any) -> bool:
    """Whether the base is a model of counts."""
    return base in COUNTS if isinstance(base, str) else isinstance(base, (MultinomialMixture, CountBottleneck))


def is_random(base: Any) -> bool:
    """Whether restarts of the base can differ."""
    return isinstance(base, str) or any(name.endswith("random_state") for name in clusterer_settings(base, 2, 0))


def fit_base(base: Any, X: Any, rows: NDArray[Any], n_clusters: int, seed: int) -> Split:
    """One run of the base on the objects of a group; X holds these only."""
    check_base(base)
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
