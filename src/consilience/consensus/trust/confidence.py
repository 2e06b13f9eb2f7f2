"""What the clusterings say of each object's place in a consensus: its confidence and its support.

**Confidence** is a probability: that the object belongs to its cluster if every clustering gives the objects of a cluster their
labels at random, independently of the other clusterings: p(c | row) ∝ π_c Π_q p_q(y_q | c)^τ. Both are estimated from the
consensus itself; p_q without the object in question, and with one count of smoothing per label. Missing labels contribute no factor.

**Support** is a share: of the clusterings that label the object, those whose label for it is, by plurality, a label of its cluster.
Objects with a support of at most one half float: no majority of their clusterings puts them where the consensus has them.

**Dependence.** Clusterings made alike err alike, and counting each of them in full would claim too much. The exponent
τ = 1 / (1 + (r − 1) ρ) discounts them, where ρ is the mean correlation, over pairs of clusterings, of "disagrees with the consensus"
(the design effect of survey sampling): independent errors give τ = 1, copies that err alike count as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from consilience import _kernels
from consilience._kernels import x_log_x
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.rows.problem import Problem, label_tables, sum_over_labels
from consilience.measures.counts import Sums
from consilience.measures.information import nmi_from

SAMPLE = 20_000  # objects by which the dependence of clusterings is judged
PAIRED = 400  # clusterings of which all pairs are looked at
FLOATING = 0.5  # support up to which an object floats


def floating(labels: Array, support: Array, threshold: float = FLOATING) -> Ints:
    """The objects with a cluster and a support of at most the threshold, the weakest first: the one rule for floaters.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.consensus import floating
    >>> floating(np.array([0, 0, 1, -1]), np.array([0.9, 0.4, 0.5, 0.0])).tolist()
    [1, 2]
    """
    weak = np.flatnonzero((labels >= 0) & (support <= threshold + 1e-12))
    return weak[np.argsort(support[weak], kind="stable")]


def cluster_posterior(problem: Problem, labels: Array, tables: Sequence[Floats] | None = None) -> Floats:
    """(n_rows, k) probabilities of the clusters given the row, under independent label noise, discounted by τ."""
    k = int(labels.max()) + 1
    tables = label_tables(problem, labels, k) if tables is None else tables
    mass = np.bincount(labels, problem.weights, minlength=k).astype(float)
    return posterior_of(problem.labels, labels, *noise_tables(tables, mass, discount(problem, labels, tables)))


def noise_tables(tables: Sequence[Floats], mass: Floats, tau: float) -> tuple[Ints, Floats, Floats, Floats]:
    """Offsets, log p(label | cluster), the same without the object itself (labels × k), and log p(cluster), from weights."""
    logs, alone = [], []
    for table in tables:
        total, width = table.sum(axis=1, keepdims=True), table.shape[1]
        prior = width * table.sum(axis=0) / table.sum()  # one count per label, divided as the clustering divides them
        logs.append(tau * np.log((table + prior) / (total + width)))
        # An object is not a witness for itself: its own cluster is judged without it.
        alone.append(tau * np.log((np.maximum(table - 1, 0) + prior) / (np.maximum(total - 1, 0) + width)))
    share = np.log(np.maximum(mass / mass.sum(), 1e-300))
    offsets = np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])])
    return offsets, np.hstack(logs).T, np.hstack(alone).T, share


def posterior_of(rows: Labels, labels: Array, offsets: Ints, logs: Floats, alone: Floats, share: Floats) -> Floats:
    """(n, k) probabilities of the clusters given rows of labels, whose own clusters are `labels`."""
    everyone = np.arange(len(rows))
    scores = sum_over_labels(rows, offsets, logs) + share
    scores[everyone, labels] = sum_over_labels(rows, offsets, alone)[everyone, labels] + share[labels]
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def cluster_shares(rows: Labels, tables: Sequence[Floats]) -> Floats:
    """(n_rows, k): the share of the row's clusterings whose label for it is, by plurality, a label of each cluster."""
    offsets = np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])])
    votes = _kernels.label_votes(rows.T, offsets, label_owners(np.hstack(tables).T), len(tables[0]))
    return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1))


def support_of(rows: Labels, labels: Array, tables: Sequence[Floats]) -> Floats:
    """(n_rows,) of :func:`cluster_shares`, that of each row's own cluster alone."""
    parts = np.split(label_owners(np.hstack(tables).T), np.cumsum([table.shape[1] for table in tables])[:-1])
    agree, known = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for column, part in zip(rows.T, parts, strict=True):
        agree += np.append(part, -1)[column] == labels
        known += column >= 0
    return np.asarray(agree / known)


def label_owners(table: Array) -> Labels:
    """The cluster that holds most of each label, from the weights of labels × clusters.

    Ties go to the cluster with more labels, then to the one with purer ones: not by the clusters' numbers, which may depend on the
    order of the objects.
    """
    order = np.lexsort((-(table.astype(float) ** 2).sum(axis=0), -table.sum(axis=0)))
    return order[table[:, order].argmax(axis=1)].astype(np.int32)


def average_nmi(tables: Sequence[Floats]) -> float:
    """Σ_q n_q NMI_q / Σ_q n_q, as :func:`consilience.measures.anmi`."""
    n = np.array([table.sum() for table in tables])
    sums = ([x_log_x(part).sum() for part in (table, table.sum(axis=1), table.sum(axis=0))] for table in tables)
    return float(np.average(nmi_from(Sums(n, *np.array(list(sums)).T)), weights=n))


def agreement(
    problem: Problem, labels: Array, tables: Sequence[Floats] | None = None, rows: Array | None = None
) -> Floats:
    """Which clusterings agree with the cluster of each row, or of some: 1, 0, or NaN where the label is missing.

    A clustering agrees on a row if the row's label is more common in the row's cluster than in any other. Shares, not counts, decide:
    a cluster that holds most objects would else own all labels.
    """
    tables = label_tables(problem, labels, int(labels.max()) + 1) if tables is None else tables
    codes, own = (problem.labels, labels) if rows is None else (problem.labels[rows], labels[rows])
    agree = np.empty(codes.shape)
    shares = [table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300) for table in tables]
    parts = np.split(label_owners(np.hstack(shares).T), np.cumsum([table.shape[1] for table in tables])[:-1])
    for q, part in enumerate(parts):
        owner = np.append(part, -1)
        agree[:, q] = np.where(codes[:, q] >= 0, owner[codes[:, q]] == own, np.nan)
    return agree


def discount(problem: Problem, labels: Array, tables: Sequence[Floats] | None = None) -> float:
    """τ: how much a clustering counts, given how alike the clusterings err."""
    r = problem.n_clusterings
    return 1.0 / (1.0 + (r - 1) * error_correlation(problem, labels, tables))


def error_correlation(problem: Problem, labels: Array, tables: Sequence[Floats] | None = None) -> float:
    """ρ: the mean correlation, over pairs of clusterings, of "disagrees with the clusters"; between 0 and 1."""
    r = problem.n_clusterings
    if r == 1:
        return 0.0
    tables = label_tables(problem, labels, int(labels.max()) + 1) if tables is None else tables
    if r > PAIRED:  # a mean over pairs of clusterings needs no more
        chosen = np.sort(stream(r, "consensus.confidence").permutation(r)[:PAIRED])
        problem = replace(problem, labels=problem.labels[:, chosen], given=None)
        tables = [tables[q] for q in chosen]
    rows, mass = _sampled(problem)
    agree = agreement(problem, labels, tables, rows)
    known, mass = ~np.isnan(agree), mass[:, None]
    weights = mass * known
    wrong = np.where(known, 1 - agree, 0.0)
    rate = (weights * wrong).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
    centered = np.where(known, wrong - rate, 0.0)
    covariance = (centered * mass).T @ centered
    both = weights.T @ known.astype(float)
    covariance = np.divide(covariance, both, out=np.zeros_like(covariance), where=both > 0)
    deviation = np.sqrt(rate * (1 - rate))
    scale = np.outer(deviation, deviation)
    correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 1e-12)
    pairs = ~np.eye(len(scale), dtype=bool) & (both > 0) & (scale > 1e-12)
    mean = float(correlation[pairs].mean()) if pairs.any() else 0.0
    return min(max(mean, 0.0), 1.0)


def _sampled(problem: Problem) -> tuple[Ints | None, Floats]:
    """Rows, and weights of them, of every so-manieth object in the order of the rows, where there are many; None for all rows."""
    objects = problem.n_objects_of_rows
    ends = np.cumsum(objects)
    step = -(-int(ends[-1]) // SAMPLE)
    if step <= 1:
        return None, problem.weights
    drawn = np.diff(-(-ends // step), prepend=0)  # multiples of the step that lie among a row's objects
    rows = np.flatnonzero(drawn)
    return rows, drawn[rows] * problem.weights[rows] / objects[rows]
