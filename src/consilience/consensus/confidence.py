"""How sure is each object of its consensus cluster?

**Meaning.** The probability that the object belongs to its cluster if every clustering gives the objects of a cluster their
labels at random, independently of the other clusterings: p(c | row) ∝ π_c Π_q p_q(y_q | c)^τ. Both are estimated from the
consensus itself; p_q without the object in question, and with one count of smoothing per label. Missing labels contribute no factor.

**Dependence.** Clusterings made alike err alike, and counting each of them in full would claim too much. The exponent
τ = 1 / (1 + (r − 1) ρ) discounts them, where ρ is the mean correlation, over pairs of clusterings, of "disagrees with the consensus"
(the design effect of survey sampling): independent errors give τ = 1, copies that err alike count as one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._random import stream
from consilience._types import Floats
from consilience.consensus.distinct_rows import Problem
from consilience.consensus.rows import label_tables, row_scores

SAMPLE = 20_000  # rows by which the dependence of clusterings is judged
PAIRED = 400  # clusterings of which all pairs are looked at


def cluster_posterior(problem: Problem, labels: NDArray[Any]) -> Floats:
    """(n_rows, k) probabilities of the clusters given the row, under independent label noise, discounted by τ.

    Cost O(rows · clusterings · clusters).
    """
    k, everyone = int(labels.max()) + 1, np.arange(problem.n_rows)
    tau = discount(problem, labels)
    logs, alone = [], []
    for table in label_tables(problem, labels, k):
        total, width = table.sum(axis=1, keepdims=True), table.shape[1]
        prior = width * table.sum(axis=0) / table.sum()  # one count per label, spread as the clustering spreads them
        logs.append(tau * np.log((table + prior) / (total + width)))
        # An object is no witness for itself: its own cluster is judged without it.
        alone.append(tau * np.log((np.maximum(table - 1, 0) + prior) / (np.maximum(total - 1, 0) + width)))
    share = np.log(np.maximum(np.bincount(labels, problem.weights, minlength=k) / problem.weights.sum(), 1e-300))
    scores = row_scores(problem, logs) + share
    scores[everyone, labels] = row_scores(problem, alone)[everyone, labels] + share[labels]
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def agreement(problem: Problem, labels: NDArray[Any], *, step: int = 1) -> Floats:
    """Which clusterings agree with the cluster of each `step`-th row: 1, 0, or NaN where the label is missing.

    A clustering agrees on a row if the row's label is, by plurality, a label of the row's cluster.
    """
    k = int(labels.max()) + 1
    rows, own = problem.labels[::step], labels[::step]
    agree = np.empty(rows.shape)
    for q, table in enumerate(label_tables(problem, labels, k)):
        owner = np.append(table.argmax(axis=0), -1)  # the cluster that holds most of each label
        agree[:, q] = np.where(rows[:, q] >= 0, owner[rows[:, q]] == own, np.nan)
    return agree


def discount(problem: Problem, labels: NDArray[Any]) -> float:
    """τ: how much a clustering counts, given how alike the clusterings err."""
    r = problem.n_clusterings
    if r == 1:
        return 1.0
    # Every step-th row, and some hundred clusterings: a mean over pairs of clusterings needs no more.
    step = -(-problem.n_rows // SAMPLE)
    some = problem
    if r > PAIRED:
        chosen = np.sort(stream(r, "consensus.confidence").permutation(r)[:PAIRED])
        some = Problem(problem.labels[:, chosen], problem.weights, problem.n_clusters, problem.inverse)
    agree = agreement(some, labels, step=step)
    known, mass = ~np.isnan(agree), problem.weights[::step, None]
    weights = mass * known
    wrong = np.where(known, 1 - agree, 0.0)
    rate = (weights * wrong).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
    centered = np.where(known, wrong - rate, 0.0)
    covariance = (centered * mass).T @ centered
    both = weights.T @ known.astype(float)
    covariance = np.divide(covariance, both, out=np.zeros_like(covariance), where=both > 0)
    spread = np.sqrt(rate * (1 - rate))
    scale = np.outer(spread, spread)
    correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 1e-12)
    pairs = ~np.eye(len(scale), dtype=bool) & (both > 0) & (scale > 1e-12)
    mean = float(correlation[pairs].mean()) if pairs.any() else 0.0
    return 1.0 / (1.0 + (r - 1) * min(max(mean, 0.0), 1.0))
