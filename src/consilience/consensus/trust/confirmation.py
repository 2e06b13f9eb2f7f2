"""How far a few clusterings confirm one another: the confidence where there are fewer than five.

An answer is made of its clusterings, so they always seem to bear it out, the more the fewer they are: one clustering agrees with itself
whatever it says. Here every clustering bears witness only as far as **the others** confirm it: p_q(y | c), how often clustering q gives
label y to objects of cluster c, is counted over the clusters that the votes of the other clusterings speak for, without the object in
question, and with one count of smoothing per label. Labels drawn at random then say nothing, since the others do not foretell them, and
the probabilities p(c | row) ∝ π_c Π_q p_q(y_q | c)^τ stay at chance, the shares π_c of the clusters. So they do for a single
clustering, which nothing confirms. τ and π are those of :mod:`consilience.consensus.trust.confidence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from consilience import _kernels
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.rows.problem import Problem, label_tables
from consilience.consensus.trust.confidence import discount, label_owners


def heaviest_first(problem: Problem, labels: Array) -> tuple[Ints, Ints]:
    """Clusters by falling weight, equals by their first row, and the rows' clusters as places in this order, −1 for none.

    So ties, which go to the first, do not depend on how clusters are numbered.
    """
    there = np.flatnonzero(labels >= 0)
    k = int(labels.max(initial=-1)) + 1
    first = np.full(k, problem.n_rows)
    np.minimum.at(first, labels[there], there)
    order = np.lexsort((first, -np.bincount(labels[there], problem.weights[there], minlength=k)))
    return order, np.append(np.argsort(order), -1)[labels]


def owners_of_labels(tables: Sequence[Floats]) -> list[Ints]:
    """The cluster that each label of every clustering speaks for, from weights of clusters × labels."""
    owners = label_owners(np.hstack(tables).T) if len(tables[0]) else np.zeros(0, np.int32)
    return np.split(owners, np.cumsum([table.shape[1] for table in tables])[:-1])


def what_others_say(rows: Labels, owners: Sequence[Ints], k: int) -> Iterator[Ints]:
    """For every clustering, the cluster of every row that most votes of the *other* clusterings speak for; −1 where none does.

    Ties go to the first cluster. Cost O(rows · (clusterings + clusters)), memory O(rows · clusters).
    """
    offsets = np.concatenate([[0], np.cumsum([len(owner) for owner in owners])])
    columns = np.ascontiguousarray(rows.T)
    votes = _kernels.label_votes(columns, offsets, np.concatenate(owners).astype(np.int32), k)
    everyone, total = np.arange(len(votes)), votes.sum(axis=1)
    first = votes.argmax(axis=1)
    most = votes[everyone, first]
    votes[everyone, first] = -1
    second = votes.argmax(axis=1)
    lead = most - votes[everyone, second]
    # without one vote of the first: ahead, or a tie that goes to the first in order
    without = np.where((lead > 1) | ((lead == 1) & (first < second)), first, second)
    for column, owner in zip(columns, owners, strict=True):
        voted = column >= 0
        mine = np.append(owner, -1)[column]
        yield np.where(total > voted, np.where(mine == first, without, first), -1)


def confirmed_posterior(problem: Problem, labels: Array, tables: Sequence[Floats] | None = None) -> Floats:
    """(n_rows, k) probabilities of the clusters given the row, every clustering a witness as far as the others confirm it.

    Cost O(rows · clusterings · clusters).

    Examples
    --------
    >>> from consilience.consensus.rows.problem import check_problem
    >>> problem = check_problem([[0, 0, 0, 0, 0, 0, 1, 1]], 2)  # one clustering: chance
    >>> confirmed_posterior(problem, problem.labels[:, 0]).round(6).tolist()
    [[0.75, 0.25], [0.75, 0.25]]
    """
    order, mine = heaviest_first(problem, labels)
    k, everyone = len(order), np.arange(problem.n_rows)
    tables = label_tables(problem, labels, k) if tables is None else tables
    share = np.bincount(mine, problem.weights, minlength=k) / problem.weights.sum()
    scores = np.tile(np.log(np.maximum(share, 1e-300)), (problem.n_rows, 1))
    if problem.n_clusterings > 1:
        tau, owners = discount(problem, labels, tables), owners_of_labels([table[order] for table in tables])
        for column, others in zip(problem.labels.T, what_others_say(problem.labels, owners, k), strict=True):
            scores += tau * _witness(column, others, problem.weights, k)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    found = np.empty_like(scores)
    found[everyone[:, None], order] = scores
    return found


def _witness(column: Ints, others: Ints, weights: Floats, k: int) -> Floats:
    """(n_rows, k) log p(label | cluster) of one clustering; 0 where it has no label."""
    known = np.flatnonzero(column >= 0)
    both = known[others[known] >= 0]
    width = int(column.max()) + 1
    cells = np.bincount(others[both].astype(np.int64) * width + column[both], weights[both], minlength=k * width)
    table = cells.reshape(k, width)
    total = table.sum(axis=1)
    marginal = np.bincount(column[known], weights[known], minlength=width)
    prior = width * marginal / marginal.sum()  # one count per label, divided as the clustering divides them
    found = np.zeros((len(column), k))
    found[known] = np.log((table + prior[None, :]) / (total + width)[:, None]).T[column[known]]
    own, label = others[both], column[both]  # an object is not a witness for itself
    alone = np.maximum(table[own, label] - 1, 0) + prior[label]
    found[both, own] = np.log(alone / (np.maximum(total[own] - 1, 0) + width))
    return found
