"""Conditional ensembles: split every known group, extend the splits to all objects, combine them.

D. Gondek and T. Hofmann, Non-redundant clustering with conditional ensembles, KDD 2005. Inside a group the known grouping tells
nothing apart, so whatever splits it is something else; what shows up in many groups survives the combination. Two points
differ from it: all runs enter one ensemble (they take the best of 20 and do not say best by what), and the
combination by information maximizes Σ_j I(C; C_j), since the information about the joint row (Eq. 8) is H(C) whatever C.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from consilience._check import InputError, check_choice, check_count, check_seed, kind_of
from consilience._run.random import child_seed
from consilience._types import EnsembleLike, Ints, RandomState
from consilience.alternatives.given_groups_and_centering import (
    MULTIPLE_GIVEN,
    Centering,
    Group,
    TooSmallError,
    check_counts,
    checked,
    group_table,
    groups_of,
    joint,
)
from consilience.alternatives.splits import KEEP, check_base, is_random, split_groups, takes_counts
from consilience.consensus import METHODS, combine
from consilience.consensus.combine import combined_labels
from consilience.ensemble import Ensemble

COMBINATIONS = ("auto", *METHODS)
MEMBERS = 2000  # safeguard: time; splits in an ensemble at most; many groups get fewer runs each


@dataclass(eq=False, repr=False)
class CondEns(ClusterMixin, BaseEstimator):
    """A clustering that is new to a known one: conditional ensembles.

    Parameters
    ----------
    n_clusters : int
    base : str or scikit-learn clusterer
        What splits the groups: "kmeans", "gaussian" (mixture), or for counts "multinomial" (mixture), "bottleneck" (sequential)
        and "annealing" (deterministic annealing of the bottleneck); or any estimator with `fit_predict`. Its
        `n_clusters` or `n_components` and `random_state` are set where it has them.
    combine : str
        "information", "quadratic", any method of :func:`consilience.combine`, or "auto".
    n_clusters_local : int, optional
        Clusters in every group; `n_clusters` by default.
    n_init : int
        Runs of the base in every group, each with its own stream; one where the base has no `random_state`, and fewer where
        groups times runs would be more than 2,000.
    keep : {"all", "best"}
        All runs enter the ensemble, or for each group the best by the base's own objective.
    center : {None, "group"}
        "group" takes the means of the known groups out of the features before splits are extended. It cures
        boundaries that shift from group to group, and harms where membership in the new clusters depends on the group.
    multiple_given : {"joint", "each"}
        With several given groupings: split the cells they make together, or the groups of each of them after taking the
        means of the cells out (which implies centering): larger parts, for groupings that add up.
    random_state : int, optional
    n_jobs : int, optional
        Threads over groups and runs; the labels do not depend on it.

    Attributes
    ----------
    labels_ : (n_objects,) int array
        The new clustering, 0 … k − 1 by falling size.
    confidence_, support_, membership_
        As of the consensus; see :mod:`consilience.consensus.trust.confidence`.
    n_clusters_ : int
    ensemble_ : Ensemble
        The extended splits; ``ensemble_.info`` says of which group and run.
    n_init_ : int
        Runs made in every group.
    groups_ : DataFrame
        Every group: its name, size, and whether it was split, or why not.
    consensus_ : Consensus

    Notes
    -----
    The cost is that of the base on every group, plus O(n · d · k) for each extension, plus the combination's.

    Examples
    --------
    >>> from consilience.alternatives import CondEns
    >>> from consilience.datasets import orthogonal_multinomials
    >>> from consilience.measures import matched_accuracy
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> found = CondEns(2, base="multinomial", random_state=0).fit(X, given)
    >>> matched_accuracy(hidden, found.labels_)
    1.0
    """

    n_clusters: int = 2
    _: KW_ONLY
    base: Any = "kmeans"
    combine: str = "information"
    n_clusters_local: int | None = None
    n_init: int = 10
    keep: str = "all"
    center: str | None = None
    multiple_given: str = "joint"
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: Any, given: EnsembleLike | None = None, *, learn: Any = None) -> Self:
        """Find a clustering of X that is new to `given`.

        Parameters
        ----------
        X : (n_objects, n_features) array, DataFrame or sparse matrix
        given : label vector, or several (as an Ensemble is made from), optional
            The known grouping or groupings. Missing labels are allowed: such objects are labeled by what was learned from
            the others. Without any, all objects are one group, which gives the consensus of plain runs of the base.
        learn : (n_objects,) bool array, optional
            Objects that splits are learned from; all by default. The others only join what was learned.
        """
        return self._fit(*checked(X, given, self, estimator=self), learn)

    def fit_predict(self, X: Any, given: EnsembleLike | None = None, **options: Any) -> NDArray[np.int64]:
        """Labels of :meth:`fit`."""
        return self.fit(X, given, **options).labels_

    def _fit(self, X: Any, given: Ensemble | None, learn: Any = None, progress: bool | None = False) -> Self:
        splits, seed = self._splits(X, given, learn, progress)
        how: dict[str, Any] = {"random_state": seed, "n_jobs": self.n_jobs, "progress": progress}
        self.consensus_ = combine(splits, self.n_clusters, self.combine, **how)
        self.labels_, self.n_clusters_ = self.consensus_.labels, self.consensus_.n_clusters
        self.confidence_, self.support_ = self.consensus_.confidence, self.consensus_.support
        self.membership_ = self.consensus_.membership
        return self

    def _labels(self, X: Any, given: Ensemble | None, learn: Any = None) -> Ints:
        """Labels of `_fit`, without how far to trust them."""
        splits, seed = self._splits(X, given, learn, False)
        return combined_labels(splits, self.n_clusters, self.combine, random_state=seed, n_jobs=self.n_jobs)

    def _splits(self, X: Any, given: Ensemble | None, learn: Any, progress: bool | None) -> tuple[Ensemble, int]:
        """The clusterings that are to be combined, and the seed for that."""
        seed, k = check_seed(self.random_state), self.n_clusters_local or self.n_clusters
        groups = groups_of(given, X.shape[0], self.multiple_given)
        if learn is not None:
            mask = np.asarray(learn)
            if mask.shape != (X.shape[0],) or mask.dtype != bool:
                raise InputError(
                    f"learn must be True or False for each of the {X.shape[0]:,} objects; got {kind_of(learn)}"
                )
            groups = [replace(group, rows=group.rows[mask[group.rows]]) for group in groups]
        chosen = [group for group in groups if len(group.rows) > k]
        if not chosen:
            largest = max((len(group.rows) for group in groups), default=0)
            raise TooSmallError(
                f"no group can be split into {k} clusters, the largest has n_samples = {largest}: ask for fewer clusters, or give "
                "coarser groups"
            )
        # one run where the base is not random, and fewer where all together would make too large an ensemble
        most = self.n_init if self.keep == "best" else max(1, MEMBERS // len(chosen))
        self.n_init_ = min(self.n_init, most) if is_random(self.base) else 1
        how: dict[str, Any] = {"base": self.base, "n_init": self.n_init_, "keep": self.keep, "n_jobs": self.n_jobs}
        self.ensemble_, failed = split_groups(
            X, chosen, k, **how, centering=self._centering(X, given), seed=seed, progress=progress
        )
        done = set(zip(self.ensemble_.info["given"], self.ensemble_.info["group"], strict=True))
        self.groups_ = group_table(groups, [_outcome(group, k, done, failed) for group in groups])
        if (rows := len(self.ensemble_.signatures())) < self.n_clusters:
            raise TooSmallError(
                f"{self.n_clusters} clusters cannot be told apart: the splits of all groups make only {rows} different rows "
                "of labels; ask for fewer clusters, or for more with n_clusters_local"
            )
        return self.ensemble_, child_seed(seed, "alternatives.condens")

    def _check(self, X: Any) -> None:
        check_count("n_clusters", self.n_clusters, 2)
        check_base(self.base)
        check_choice(self.combine, COMBINATIONS, "combination")
        if self.n_clusters_local is not None:
            check_count("n_clusters_local", self.n_clusters_local, 2)
        check_count("n_init", self.n_init)
        check_choice(self.keep, KEEP, "choice of runs to keep")
        check_choice(self.multiple_given, MULTIPLE_GIVEN, "way to use multiple given groupings")
        if self.center is not None:
            check_choice(self.center, ("group",), "center")
        if not takes_counts(self.base):
            return
        if self.center or self.multiple_given == "each":
            raise InputError(
                'taking group means out leaves no counts: with a base for counts use center=None and multiple_given="joint"'
            )
        check_counts(X, f"the base {self.base!r}" if isinstance(self.base, str) else type(self.base).__name__)

    def _centering(self, X: Any, given: Ensemble | None) -> Centering | None:
        each = given is not None and given.n_clusterings > 1 and self.multiple_given == "each"
        if given is None or (self.center is None and not each):
            return None
        labels = given.labels
        if each:  # a missing label is a group of its own here, so that the means of the others can still be taken out
            labels = np.where(labels >= 0, labels, labels.max(axis=0) + 1)
        return Centering.of(X, joint(labels))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = takes_counts(self.base)
        return tags


def _outcome(group: Group, k: int, done: set[tuple[int, int]], failed: dict[tuple[int, int], str]) -> str:
    key = group.given, group.code
    if len(group.rows) <= k:
        return "too small"
    if key in done:
        return "split"
    return f"refused by the base: {failed[key]}" if key in failed else "not split by the base"
