"""Clusters of counts that keep the most information about the columns, I(C; Y)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from consilience._check import check_choice, check_count, check_positive, check_seed
from consilience._run.random import child_seed, stream
from consilience.alternatives.multinomial import CountClusterer, log_profiles
from consilience.engine.annealing import anneal
from consilience.engine.information import Engine, random_starts
from consilience.engine.views import cluster_tables, count_views
from consilience.tables import check_matrix

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

    def fit(self, X: Any, y: None = None) -> CountBottleneck:
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
