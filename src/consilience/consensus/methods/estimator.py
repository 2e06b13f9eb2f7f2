"""The estimator that every consensus method is: scikit-learn's contract around one pure function."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from consilience._check import InputError, check_count, check_positive, is_number, show
from consilience._run.progress import step
from consilience._types import Array, EnsembleLike, Floats, Ints, RandomState
from consilience.consensus.rows.problem import Problem, by_size, check_problem
from consilience.consensus.trust.confidence import Assessment
from consilience.ensemble import Ensemble
from consilience.inputs import as_ensemble


def _check_imbalance(name: str, imbalance: Any) -> None:
    if not is_number(imbalance) or not 0 <= imbalance <= 10:
        raise InputError(f"{name} must be a number from 0 to 10; got {show(imbalance)}")


# What parameters of our own methods must be, by name; None is well where it is the default.
COUNTS = "n_init", "max_iter", "n_chains", "n_samples", "n_components", "n_neighbors", "steps", "max_leaves"
CHECKS: dict[str, Callable[[str, Any], object]] = dict.fromkeys(COUNTS, check_count)
CHECKS |= dict.fromkeys(("theta", "memory_budget", "alpha", "beta"), check_positive)
CHECKS |= {"tol": partial(check_positive, or_equal=True), "imbalance": _check_imbalance}


@dataclass(frozen=True)
class Answer:
    """A method's answer for the distinct rows.

    Attributes
    ----------
    labels : (n_rows,) int array
        Cluster numbers; gaps are allowed and closed by the estimator.
    membership : (n_rows, k) array, optional
        How strongly each row belongs to each cluster, in the numbering of `labels`, where the method has a sense of
        it; scaled so that rows sum to 1.
    extras : dict
        Fitted attributes of the method, by name without the closing underscore.

    Examples
    --------
    >>> from consilience.consensus import Answer
    >>> Answer([0, 0, 1], extras={"passes": 2}).extras
    {'passes': 2}
    """

    labels: Array
    membership: Floats | None = None
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class ConsensusEstimator(ClusterMixin, BaseEstimator):
    """Base of the consensus methods: `fit` collapses the ensemble, a method answers for the rows, `fit` spreads it.

    A method is a dataclass of its parameters, after the two that all have, and answers in ``_combine(problem)``. A class that is
    entered in ``consilience.consensus.METHODS`` works in every verb. What stands here is not repeated by the methods.

    Parameters
    ----------
    n_clusters : int, optional
        Clusters wanted; None takes the median of the clusterings' numbers.
    random_state : int, generator or None
        Seed of whatever is drawn: the same seed gives the same labels, whatever the number of threads.
    n_jobs : int, optional
        Of methods with several starts: threads over these.

    Attributes
    ----------
    labels_ : (n_objects,) int array
        Consensus clusters 0 … k − 1, numbered by falling size, equals by their first object; −1 for objects that no clustering labels.
    confidence_ : (n_objects,) float array
        Probability that an independent ensemble of the same kind puts the object in the same cluster; see
        :mod:`consilience.consensus.trust.confidence`.
    support_ : (n_objects,) float array
        Share of the object's clusterings whose label for it is, by plurality, a label of its cluster.
    membership_ : (n_objects, n_clusters_) array
        How strongly each object belongs to each cluster, in the method's own sense, or else the probability of each
        cluster given the object's labels. Rows sum to 1; zero for objects without labels.
    n_clusters_ : int
    anmi_ : float
        Average NMI with the clusterings, as :func:`consilience.measures.anmi`.
    n_rows_ : int
        Distinct rows that were worked on.

    Examples
    --------
    >>> from consilience.consensus import MCLA, ConsensusEstimator
    >>> model = MCLA(2, random_state=0).fit([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 1, 0]])
    >>> isinstance(model, ConsensusEstimator), model.labels_.tolist(), model.n_clusters_
    (True, [0, 0, 1, 1], 2)
    """

    n_clusters: int | None = None
    _: KW_ONLY
    random_state: RandomState = None

    _resample: ClassVar[str] = "walk"  # how resamples are combined for the confidence
    _checks: ClassVar[Mapping[str, Callable[[str, Any], object]]] = {}  # what parameters must be, by name

    def fit(self, X: EnsembleLike, y: Any = None, sample_weight: Any = None) -> Any:
        """Combine the clusterings of `X`: an Ensemble, or what one is made from (columns are clusterings).

        Parameters
        ----------
        X : Ensemble, (n_objects, n_clusterings) array, list of label vectors, or DataFrame
        y : ignored
            There for scikit-learn.
        sample_weight : (n_objects,) array, optional
            Whole numbers count copies of an object; others are relative.
        """
        ens = as_ensemble(X)
        return self._fit(ens, check_problem(ens, self.n_clusters, sample_weight))

    def _fit(self, ens: Ensemble, problem: Problem) -> Any:
        """`fit` for an ensemble whose problem has been checked."""
        return self._take(problem, self._answer(problem))

    def _take(self, problem: Problem, answered: tuple[Answer, Ints, Floats | None]) -> Any:
        """`fit` for what `_answer` gave: assess it, and spread it over the objects."""
        answer, labels, membership = answered
        with step("how far to trust the answer"):
            found = Assessment(problem, labels, self._resample)
            self.confidence_ = problem.to_objects(found.confidence, 0.0)
        self.labels_ = problem.to_objects(labels, -1)
        self.n_clusters_ = int(labels.max()) + 1
        self.membership_ = problem.to_objects(found.posterior if membership is None else membership, 0.0)
        self.support_ = problem.to_objects(found.support, 0.0)
        self.anmi_ = found.anmi
        self.n_rows_ = problem.n_rows
        self.n_features_in_ = problem.n_clusterings
        for name, value in answer.extras.items():
            setattr(self, f"{name}_", value)
        return self

    def _answer(self, problem: Problem) -> tuple[Answer, Ints, Floats | None]:
        """The method's answer, its labels of the rows numbered by falling size, and its memberships in that order."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in self._checks and not (value is None and one.default is None):
                self._checks[one.name](one.name, value)
        with step(f"combining by {type(self).__name__}"):
            answer = self._combine(problem)
        return self._ordered(problem, answer)

    def _ordered(self, problem: Problem, answer: Answer) -> tuple[Answer, Ints, Floats | None]:
        order = by_size(answer.labels, problem.weights, int(answer.labels.max()) + 1, problem.first)
        labels, membership = np.argsort(order)[answer.labels], answer.membership
        if membership is not None:  # of the clusters that have a row
            membership = membership[:, order[: labels.max() + 1]]
            total = membership.sum(axis=1, keepdims=True)
            membership = np.divide(membership, total, out=np.zeros(membership.shape), where=total > 0)  # row by row
        return answer, labels, membership

    def _combine(self, problem: Problem) -> Answer:
        raise NotImplementedError


class CheckedMethod(ConsensusEstimator):
    """Base of our own methods. A class of a user's own means by its parameters what it likes."""

    _checks = CHECKS
