"""What an ensemble says of a partition of its objects: confidence, support and average NMI.

**Confidence** is the probability that an independent ensemble of the same kind puts the object in the same cluster. Clusterings err
in two ways. Where their errors are independent of one another (noisy copies of one grouping; the mean correlation of their errors is
below 0.04), the model of :mod:`consilience.consensus.rows.error_model` is right and its posterior probability is the answer.
Where they err
alike, as runs of k-means on one data set do, no model of independent errors holds, and the clusterings are resampled
(:mod:`consilience.consensus.trust.resampling`). Hundreds of clusters leave no time for that: the model of
:mod:`consilience.consensus.trust.confidence`, discounted, is all there is.

**Few clusterings.** The answer of fewer than five is so much their own that the model claims too much. Two estimates do not: how far the
clusterings confirm one another (:mod:`consilience.consensus.trust.confirmation`), which is right where they err independently, and
resamples of
them, right where they err alike. Which of the two they do cannot be told of two or three: the estimate that is lower on average is
taken, and of four too if they err alike. A single clustering is confirmed by nothing: its confidence is what chance gives, the share of
the object's cluster.

**No seed.** The resamples are the same every time, so that the confidence is a property of the ensemble and the answer, whatever
`random_state` the answer was found with. The noise of drawing 20 of them stays in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from consilience._types import Array, Floats
from consilience.consensus.rows.error_model import error_posterior
from consilience.consensus.rows.problem import Problem, label_tables
from consilience.consensus.rows.row_tree import fits, narrowed
from consilience.consensus.trust.confidence import average_nmi, cluster_posterior, error_correlation, support_of
from consilience.consensus.trust.confirmation import confirmed_posterior
from consilience.consensus.trust.resampling import resampled_confidence, resampled_shares

INDEPENDENT = 0.04  # correlation of errors up to which clusterings err independently
FEWEST = 5  # clusterings that are enough for the model, or resamples, alone
TELLING = 4  # clusterings of which it can be told whether they err alike: of three, two always outvote one
DRAWN = 0  # the seed of the resamples
MATCHED = 500  # clusters that resamples are matched with, at most


@dataclass(frozen=True, eq=False)
class Assessment:
    """What the clusterings say of a partition of the rows.

    Attributes
    ----------
    posterior : (n_rows, k) array
        Probabilities of the clusters given the row: of the model, or shares of resamples.
    confidence, support : (n_rows,) arrays
        Of each row's own cluster.
    anmi : float
        Average NMI of the partition with the clusterings.
    """

    posterior: Floats
    confidence: Floats
    support: Floats
    anmi: float


def err_alike(problem: Problem, labels: Array, tables: list[Floats] | None = None) -> bool:
    """Whether the clusterings err alike beside some clusters of the rows, so that they do not bear witness independently."""
    return error_correlation(problem, labels, tables) >= INDEPENDENT


def agreement_of(problem: Problem, labels: Array, tables: list[Floats] | None = None) -> tuple[Floats, float]:
    """Support and average NMI of an :class:`Assessment`, without the rest of it."""
    tables = label_tables(problem, labels, int(labels.max()) + 1) if tables is None else tables
    return support_of(problem.labels, labels, tables), average_nmi(tables)


def assess(problem: Problem, labels: Array, kind: str = "walk") -> Assessment:
    """Confidence, support and average NMI of clusters 0 … k − 1 of the rows. Cost O(rows · clusterings · clusters), 20 times.

    `kind` says how resamples are combined: by a "walk", or by plain "association".
    """
    tables = label_tables(problem, labels, int(labels.max()) + 1)
    return Assessment(*confidence_of(problem, labels, kind, tables), *agreement_of(problem, labels, tables))


def confidence_of(
    problem: Problem, labels: Array, kind: str = "walk", tables: list[Floats] | None = None
) -> tuple[Floats, Floats]:
    """Posterior and confidence of an :class:`Assessment`, without the rest of it."""
    tables = label_tables(problem, labels, int(labels.max()) + 1) if tables is None else tables
    several = 1 < len(tables[0]) <= MATCHED and fits(narrowed(problem))
    if problem.n_clusterings < FEWEST:
        found = confirmed_posterior(problem, labels, tables)
        if problem.n_clusterings == 1:
            return found, found[np.arange(problem.n_rows), labels]
        confirmed = found, resampled_confidence(found, labels)  # the same mean, for the same reason
        unclear = problem.n_clusterings < TELLING or err_alike(problem, labels, tables)
        again = _resampled(problem, labels, kind) if several and unclear else confirmed
        return min(confirmed, again, key=lambda one: float(np.average(one[1], weights=problem.weights)))
    if several and err_alike(problem, labels, tables):
        return _resampled(problem, labels, kind)
    posterior = error_posterior(problem, labels)[0] if several else cluster_posterior(problem, labels, tables)
    return posterior, posterior[np.arange(problem.n_rows), labels]


def _resampled(problem: Problem, labels: Array, kind: str) -> tuple[Floats, Floats]:
    shares = resampled_shares(problem, labels, DRAWN, kind)
    rest = np.maximum(1 - shares.sum(axis=1, keepdims=True), 0)  # went to clusters that match none
    return shares + rest / shares.shape[1], resampled_confidence(shares, labels)
