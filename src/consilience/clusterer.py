"""Generation and consensus as one scikit-learn estimator: many clusterings of the data, combined, and new objects labeled."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from consilience import _kernels
from consilience._check import InputError, check_count, check_seed, count
from consilience._random import child_seed
from consilience._types import ArrayLike, Floats, Ints, Labels, RandomState
from consilience.consensus import Consensus, combine
from consilience.consensus.confidence import cluster_shares, discount
from consilience.consensus.distinct_rows import Problem, label_tables, sum_over_labels
from consilience.ensemble import Ensemble
from consilience.generation.labeler import Labeler
from consilience.generation.plan import Plan
from consilience.generation.runner import Runner
from consilience.generation.sklearn_base import base_text, check_base
from consilience.generation.spaces import GenerationWarning
from consilience.tables import check_matrix

LEAST, MOST = 2, 20  # clusters of the members where nothing is said


@dataclass(eq=False, repr=False)
class EnsembleClusterer(ClusterMixin, BaseEstimator):
    """Cluster data many times, differently each time, and combine the clusterings into one.

    Parameters
    ----------
    n_clusters : int, "auto" or None
        Of the answer. "auto" takes the most stable of the numbers at which the members agree with each other
        (`scales_`), as :func:`consilience.combine` does; None the middle of the numbers that the members draw from (with `base`, the
        median of those that they found).
    n_clusterings : int, default 100
        Members of the ensemble.
    base_n_clusters : int, (low, high), list of int or None
        Clusters of the members, as `n_clusters` of :func:`consilience.generate`. None draws from k … 2k where
        ``n_clusters=k``, and otherwise from 2 … √n, at most 20.
    methods : str or dict, default "minima+features"
        Where the members' diversity comes from: names of :data:`consilience.generation.METHODS`.
    base : scikit-learn clusterer, optional
        Takes the place of k-means.
    method : str, default "auto"
        How the members are combined: a name of :data:`consilience.consensus.METHODS`; "auto" is "mcla" where they err
        independently, and else "walk".
    standardize : bool, default True
        Give every column mean 0 and standard deviation 1 first; sparse data is only scaled.
    random_state : int, generator or None
    n_jobs : int, optional

    Attributes
    ----------
    labels_ : (n_objects,) int array
        Clusters 0 … k − 1, the largest first; −1 for objects that no member labels.
    confidence_ : (n_objects,) array
        Probability that an independent ensemble of the same kind puts the object in the same cluster.
    support_ : (n_objects,) array
        Share of the members that agree with that.
    n_clusters_ : int
        Fewer than `n_clusters`, with a :class:`~sklearn.exceptions.ConvergenceWarning`, where the consensus leaves some without objects.
    scales_ : DataFrame or None
        With ``n_clusters="auto"``: the numbers at which the members agree, the most stable first, and whether each is `real`,
        more than chance; see :class:`~consilience.consensus.Consensus`.
    ensemble_ : Ensemble
        The members.
    consensus_ : Consensus
    n_features_in_ : int
    feature_names_in_ : array of str
        Where the columns have names.

    Notes
    -----
    A new object gets a label from every member: the nearest of its cluster means, in the member's own weighted columns, or the
    label of the nearest object where a member has no means. Objects of the data with the same labels from all members decide
    where it belongs; without such, p(c | labels) ∝ π_c Π_q p_q(y_q | c)^τ does (:mod:`consilience.consensus.confidence`). Where
    the two differ, they exchange their probabilities.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import gaussians_8d5k
    >>> X, known = gaussians_8d5k(300, random_state=0)
    >>> model = cs.EnsembleClusterer(5, n_clusterings=30, random_state=0).fit(X[:200])
    >>> model.n_clusters_, model.predict(X[200:]).shape
    (5, (100,))
    """

    n_clusters: int | str | None = None
    _: KW_ONLY
    n_clusterings: int = 100
    base_n_clusters: Any = None
    methods: Any = "minima+features"
    base: Any = None
    method: str = "auto"
    standardize: bool = True
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: ArrayLike, y: object = None) -> EnsembleClusterer:
        """Generate the members and combine them.

        Parameters
        ----------
        X : (n_objects, n_columns) array, sparse matrix or DataFrame
            Finite numbers.
        y : ignored
        """
        data, seed = check_matrix(X, estimator=self, min_objects=2), check_seed(self.random_state)
        check_count("n_clusterings", self.n_clusterings)
        if self.base is not None:
            check_base(self.base)
        plan = Plan.checked(
            methods=self.methods,
            n_clusters=self._member_clusters(data.shape[0]),
            base=None if self.base is None else base_text(self.base),
            standardize=self.standardize,
        )
        with warnings.catch_warnings():  # a fold of the data often has constant columns, which is not worth a warning
            warnings.filterwarnings("ignore", ".* being constant", GenerationWarning)
            runner = Runner(data, plan, self.base, self.n_jobs)
        members = child_seed(seed, "clusterer.members")
        self.ensemble_ = runner.run(self.n_clusterings, members, progress=False)
        wanted = self.n_clusters
        if wanted is None and self.base is None:
            wanted = min(int(np.median(plan.n_clusters)), len(self.ensemble_.signatures()))
        self.consensus_ = self._combine(self.ensemble_, wanted, child_seed(seed, "clusterer.consensus"))
        self.labels_, self.n_clusters_ = self.consensus_.labels, self.consensus_.n_clusters
        if not isinstance(self.n_clusters, str) and self.n_clusters_ < (self.n_clusters or 0):
            found = f"the consensus has {count(self.n_clusters_, 'cluster')}, fewer than n_clusters={self.n_clusters}"
            warnings.warn(f"{found}: ask for fewer, or for another method", ConvergenceWarning, stacklevel=2)
        self.scales_ = self.consensus_.scales
        self.confidence_, self.support_ = self.consensus_.confidence, self.consensus_.support
        self._labeler = Labeler(runner, self.ensemble_)
        self._learn_labels()
        return self

    def predict(self, X: ArrayLike) -> Ints:
        """The cluster of each row of `X`; −1 where no member has a label for it."""
        return self._places(self._rows(X))[0]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """(n_new, n_clusters_) probabilities of the clusters given the members' labels; :meth:`predict` is the largest."""
        return self._places(self._rows(X))[1]

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean support of the rows of `X`: the share of the members that agree with their cluster. One cluster has 1."""
        rows = self._rows(X)
        labels = self._places(rows)[0]
        known = labels >= 0
        return float(cluster_shares(rows[known], self._tables)[np.arange(known.sum()), labels[known]].mean())

    def _member_clusters(self, n: int) -> Any:
        if self.base_n_clusters is not None:
            return self.base_n_clusters
        if isinstance(self.n_clusters, str) or self.n_clusters is None:
            return LEAST, max(LEAST, min(MOST, int(np.sqrt(n))))
        k = check_count("n_clusters", self.n_clusters)
        if k > n:
            raise InputError(f"{k} clusters need as many objects, and there are {n}: lower n_clusters")
        return max(k, LEAST), min(max(2 * k, LEAST), n)

    def _combine(self, ensemble: Ensemble, n_clusters: int | str | None, seed: int) -> Consensus:
        if n_clusters == 1:
            known = (ensemble.labels >= 0).any(axis=1)
            full = known.astype(float)
            return Consensus(
                labels=np.where(known, 0, -1),
                confidence=full,
                support=full,
                membership=full[:, None],
                n_clusters=1,
                method=self.method,
                anmi=0.0,
            )
        how: dict[str, Any] = {"random_state": seed, "n_jobs": self.n_jobs, "progress": False}
        found = combine(ensemble, n_clusters, self.method, **how)
        if self.method == "auto" and not isinstance(n_clusters, str) and found.n_clusters < (n_clusters or 0):
            found = combine(ensemble, n_clusters, "quadratic", **how)  # whose search leaves no cluster empty
        return found

    def _learn_labels(self) -> None:
        """What the labels of the members say of the clusters: the tables and τ of `consensus.confidence`."""
        rows = self.ensemble_.signatures()
        self._seen, self._seen_labels = rows.labels, self.labels_[rows.first]
        known = self._seen_labels >= 0
        place = np.where(known, np.cumsum(known) - 1, -1)[rows.inverse]
        problem = Problem(rows.labels[known], rows.counts[known].astype(float), self.n_clusters_, place)
        labels = self._seen_labels[known]
        self._tables = label_tables(problem, labels, self.n_clusters_)
        tau, logs = discount(problem, labels, self._tables), []
        for table in self._tables:
            prior = table.shape[1] * table.sum(axis=0) / table.sum()
            shares = (table + prior) / (table.sum(axis=1, keepdims=True) + table.shape[1])
            logs.append(tau * np.log(np.maximum(shares, 1e-300)))
        self._logs = np.ascontiguousarray(np.concatenate(logs, axis=1).T)
        sizes = np.bincount(labels, problem.weights, minlength=self.n_clusters_)
        self._log_shares = np.log(sizes / sizes.sum())

    def _rows(self, X: ArrayLike) -> Labels:
        check_is_fitted(self)
        return self._labeler.label(check_matrix(X, estimator=self, reset=False))

    def _places(self, rows: Labels) -> tuple[Ints, Floats]:
        """Clusters of rows of labels, and their probabilities."""
        offsets = np.concatenate([[0], np.cumsum([table.shape[1] for table in self._tables])])
        scores = sum_over_labels(rows, offsets, self._logs) + self._log_shares
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        first, inverse, _ = _kernels.signatures(np.concatenate([self._seen, rows]))
        at = first[inverse[len(self._seen) :]]
        labels = np.full(len(rows), -1)
        labels[at < len(self._seen)] = self._seen_labels[at[at < len(self._seen)]]
        seen, best = np.flatnonzero(labels >= 0), scores.argmax(axis=1)
        scores[seen, best[seen]] = scores[seen, labels[seen]]
        scores[seen, labels[seen]] = 1 + 1e-9  # the largest, where two are equal too
        labels = np.where((rows >= 0).any(axis=1), scores.argmax(axis=1), -1)
        return labels, scores / scores.sum(axis=1, keepdims=True)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # scikit-learn's check of sparse data asks this of whatever has predict_proba
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags
