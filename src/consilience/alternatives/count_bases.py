"""A mixture of multinomials for counts, by expectation maximization.

p(x) = Σ_c π_c Π_y θ_cy^x_y. E: p(c | x) ∝ π_c Π_y θ_cy^x_y. M: π_c from the summed p(c | x), and
θ_cy ∝ Σ_x p(c | x) x_y + s · d · p(y): `smoothing` s adds s · d counts, d the number of columns, spread as the data's own are.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from consilience._check import InputError, check_choice, check_count, check_positive, check_seed
from consilience._run.random import child_seed, stream
from consilience._types import Floats
from consilience.alternatives.given_groups_and_centering import check_counts
from consilience.engine.annealing import anneal, soft_rows
from consilience.engine.search import Engine, random_starts
from consilience.engine.views import cluster_tables, count_views
from consilience.tables import check_matrix


def log_profiles(counts: Floats, smoothing: float) -> Floats:
    """log θ (clusters × columns) of summed counts, smoothed towards the profile of all of them."""
    columns = counts.sum(axis=0)
    prior = smoothing * counts.shape[1] * columns / max(columns.sum(), 1e-300)
    smoothed = counts + prior
    with np.errstate(divide="ignore"):
        return np.log(smoothed / np.maximum(smoothed.sum(axis=1, keepdims=True), 1e-300))


class CountClusterer(ClusterMixin, BaseEstimator):
    def _checked(self, X: Any) -> Any:
        X = check_matrix(X, estimator=self, min_objects=2)
        check_counts(X, type(self).__name__)
        if check_count("n_clusters", self.n_clusters) > X.shape[0]:
            raise InputError(f"{self.n_clusters} clusters of {X.shape[0]} objects cannot be made; ask for fewer")
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


@dataclass(eq=False, repr=False)
class MultinomialMixture(CountClusterer):
    """Clusters of counts by a mixture of multinomials.

    Parameters
    ----------
    n_clusters : int
    smoothing : float
        Counts added to a cluster's profile, per column, spread as the columns' totals are. Above 0: a word unseen in a
        cluster is unlikely there, not impossible.
    max_iter : int
    tol : float
        Stop when the mean log-likelihood per object grows by less.
    random_state : int, optional

    Attributes
    ----------
    labels_ : (n_objects,) int array
    weights_ : (n_clusters,) array
        π.
    log_profiles_ : (n_clusters, n_columns) array
        log θ.
    lower_bound_ : float
        Mean log-likelihood per object, up to the multinomial coefficients.
    n_iter_ : int

    Examples
    --------
    >>> from consilience.alternatives import MultinomialMixture
    >>> MultinomialMixture(2, random_state=0).fit_predict([[9, 1], [8, 1], [1, 9], [0, 7]])
    array([0, 0, 1, 1])
    """

    n_clusters: int = 2
    _: KW_ONLY
    smoothing: float = 0.1
    max_iter: int = 100
    tol: float = 1e-3
    random_state: Any = None

    def fit(self, X: Any, y: None = None) -> Self:
        """Fit to counts, dense or sparse (n_objects, n_columns); y is ignored."""
        X, k = self._checked(X), self.n_clusters
        check_positive("smoothing", self.smoothing)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol, or_equal=True)
        rng = stream(check_seed(self.random_state), "alternatives.multinomial")
        soft = _start(X, k, rng)
        bound = -np.inf
        self.n_iter_ = 0
        while self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            self.weights_ = np.maximum(soft.sum(axis=0), 1e-300) / X.shape[0]
            self.log_profiles_ = log_profiles(np.asarray(X.T @ soft).T, self.smoothing)
            soft, likelihoods = soft_rows(self._scores(X))
            before, bound = bound, float(likelihoods.mean())
            if bound - before <= self.tol:
                break
        self.labels_ = soft.argmax(axis=1)
        self.lower_bound_ = bound
        return self

    def _scores(self, X: Any) -> Floats:
        return _product(X, self.log_profiles_.T) + np.log(self.weights_)

    def predict_proba(self, X: Any) -> Floats:
        """p(c | x) of every row, parameters fixed."""
        check_is_fitted(self)
        X = check_matrix(X, estimator=self, reset=False)
        return soft_rows(self._scores(X))[0]

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The likeliest cluster of every row."""
        return self.predict_proba(X).argmax(axis=1)


def _product(X: Any, columns: Floats) -> Floats:
    """X @ columns where −∞ times 0 is 0: a word no cluster knows tells nothing apart."""
    known: NDArray[np.bool_] = np.asarray(np.isfinite(columns).all(axis=1))
    if known.all():
        return np.asarray(X @ columns)
    return np.asarray(X @ np.where(known[:, None], columns, 0.0))


def _start(X: Any, k: int, rng: np.random.Generator) -> Floats:
    """Every row with the nearest of k random rows, their profiles half mixed with that of all."""
    seeds = rng.choice(X.shape[0], k, replace=False)
    rows = X[seeds].toarray() if sparse.issparse(X) else X[seeds]
    everything = np.asarray(X.sum(axis=0)).ravel()
    prior = everything / everything.sum()
    profile = 0.5 * rows / rows.sum(axis=1, keepdims=True) + 0.5 * prior
    with np.errstate(divide="ignore"):
        nearest = _product(X, np.log(profile).T).argmax(axis=1)
    nearest[seeds] = np.arange(k)
    return np.eye(k)[nearest]


# Clusters of counts that keep the most information about the columns, I(C; Y).

SEARCHES = ("sequential", "annealing")


@dataclass(eq=False, repr=False)
class CountBottleneck(CountClusterer):
    """The information bottleneck on counts: the k clusters that keep the most of I(X; Y).

    Parameters
    ----------
    n_clusters : int
    search : {"sequential", "annealing"}
        Objects moved one at a time from random seeds, or deterministic annealing followed by such moves.
    max_iter : int
        Sequential passes at most.
    cooling : float
        Factor between the steps of β in annealing.
    smoothing : float
        Counts per column added to a cluster's profile when new objects are judged by it, as in :class:`MultinomialMixture`.
    random_state : int, optional

    Attributes
    ----------
    labels_ : (n_objects,) int array
    objective_ : float
        I(C; Y) in nats per count.
    log_profiles_ : (n_clusters, n_columns) array
    n_iter_ : int
        Passes of the search.

    Notes
    -----
    A pass costs O(entries · k).

    Examples
    --------
    >>> from consilience.alternatives import CountBottleneck
    >>> CountBottleneck(2, random_state=0).fit_predict([[9, 1], [8, 1], [1, 9], [0, 7]])
    array([0, 0, 1, 1], dtype=int32)
    """

    n_clusters: int = 2
    _: KW_ONLY
    search: str = "sequential"
    max_iter: int = 50
    cooling: float = 1.3
    smoothing: float = 0.1
    random_state: Any = None

    def fit(self, X: Any, y: None = None) -> Self:
        """Fit to counts, dense or sparse (n_objects, n_columns); y is ignored."""
        X, k = self._checked(X), self.n_clusters
        check_choice(self.search, SEARCHES, "search")
        check_count("max_iter", self.max_iter)
        check_positive("cooling", self.cooling, above=1)
        check_positive("smoothing", self.smoothing)
        seed = check_seed(self.random_state)
        views = count_views([X])
        if self.search == "annealing":
            start = anneal(views, k, cooling=self.cooling, rng=stream(seed, "alternatives.bottleneck"))
        else:
            own = child_seed(seed, "alternatives.bottleneck_start")
            start = random_starts(views, k, 1, random_state=own)[0]
        own = child_seed(seed, "alternatives.bottleneck_search")
        found = Engine(views, k).search(start, max_iter=self.max_iter, seed=own)
        self.labels_, self.objective_, self.n_iter_ = found.labels, found.objective, len(found.moves)
        self.log_profiles_ = log_profiles(cluster_tables(views, found.labels, k)[0], self.smoothing)
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster whose profile is nearest to the row's (least Kullback–Leibler divergence), profiles fixed."""
        check_is_fitted(self)
        X = check_matrix(X, estimator=self, reset=False)
        logs = np.where(np.isfinite(self.log_profiles_), self.log_profiles_, 0.0)
        return np.asarray(X @ logs.T).argmax(axis=1)
