"""Majority vote: give the clusters of all clusterings common names, then let the clusterings vote on every object.

Maximizes the agreement  A(C, m) = Σ_q Σ_i w_i [m_q(y_iq) = C(i)]  over the consensus C and the maps m_q from labels to clusters, in turn.
"""

# The best maps for C are found by the Hungarian method, the best C for the maps by a vote, so A never falls. A map is one-to-one where a
# clustering has at most k clusters, and onto where it has more: k of its labels are matched and the surplus ones go to their plurality
# cluster, the k being chosen so that this loses least. The alternation (Dimitriadou, Weingessel and Hornik 2002 without the fuzzy part)
# finds the optimum near its start, so the start matters: the best of several runs of k-means on the one-hot labels (the quadratic mutual
# information of Topchy, Jain and Punch 2005), and every clustering with k clusters.

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from consilience import _kernels
from consilience._check import InputError, check_choice, check_seed
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.methods.information_and_quadratic import ENOUGH, best_start, problem_views, rows_of_start
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import choose_leaves

SAMPLE = 4_000  # safeguard: for time, rows on which starts are made and compared
INITS = ("best", "quadratic", "clusterings")


def align(table: Floats) -> Ints:
    """The cluster of every label, from the weights of clusters × labels: one-to-one, or onto where labels abound."""
    k, size = table.shape
    if size <= k:
        clusters, labels = linear_sum_assignment(table, maximize=True)
        owner = np.zeros(size, np.int64)
    else:
        owner = table.argmax(axis=0)
        clusters, labels = linear_sum_assignment(table.max(axis=0) - table)
    owner[labels] = clusters
    return owner


def vote_on(problem: Problem, labels: Array, max_iter: int) -> tuple[Ints, Labels, int]:
    """Labels, votes (rows × clusters) and rounds, from a start; its rows without a label (−1) do not speak at first."""
    columns, offsets, k = np.ascontiguousarray(problem.labels.T), problem.offsets, problem.n_clusters
    everyone, done, n_iter = np.arange(problem.n_rows), False, 0
    while not done and n_iter < max_iter:
        tables = _kernels.label_tables(columns, offsets, labels, k, weights=problem.exact)
        votes = _kernels.label_votes(columns, offsets, owners_of(tables, offsets), k)
        new = votes.argmax(axis=1)
        tied = (labels >= 0) & (votes[everyone, labels] == votes[everyone, new])
        new[tied] = labels[tied]
        done, labels, n_iter = bool((new == labels).all()), new, n_iter + 1
    return labels, votes, n_iter


def owners_of(tables: Array, offsets: Ints) -> Labels:
    parts = np.split(tables.astype(float), offsets[1:-1])
    return np.concatenate([align(part.T) for part in parts]).astype(np.int32)


def _best_start(problem: Problem, init: str, n_init: int, max_iter: int, seed: int) -> Ints:
    """The start whose vote, on a sample of the rows if they are many, agrees most with the clusterings."""
    sample, k = problem, problem.n_clusters
    if problem.n_rows > SAMPLE:
        rows, weights = choose_leaves(problem, SAMPLE, stream(seed, "consensus.vote"))
        sample = replace(problem, labels=np.asfortranarray(problem.labels[rows]), weights=weights)
    best, most, again = None, -1.0, 0
    for labels in _starts(sample, init, n_init, seed):
        labels, votes, _ = vote_on(sample, labels, max_iter)
        agreement = float(sample.weights @ votes[np.arange(sample.n_rows), labels])
        if best is None or agreement > most * (1 + 1e-9):
            best, most, again = labels, agreement, 0
        again += agreement >= most * (1 - 1e-9)
        if again == ENOUGH:
            break
    if best is None:
        raise InputError(f"no clustering has {k} clusters to start from; use init='quadratic'")
    if sample is problem:
        return best
    columns, offsets = sample.labels.T, problem.offsets  # of all rows: the sample may lack a rare label
    tables = _kernels.label_tables(columns, offsets, best.astype(np.int32), k, weights=sample.exact)
    return _kernels.label_votes(problem.labels.T, offsets, owners_of(tables, offsets), k).argmax(axis=1)


def _starts(problem: Problem, init: str, n_init: int, seed: int, *, most: int = 50, passes: int = 30) -> Iterator[Ints]:
    """At most `most` clusterings that have as many clusters as are wanted, and the best k-means of so many passes."""
    if init != "quadratic":
        fitting = [column for column in problem.labels.T if column.max() + 1 == problem.n_clusters]
        yield from (column.astype(np.int64) for column in fitting[:: -(-len(fitting) // most) or 1])
    if init != "clusterings":
        how: dict[str, Any] = {"n_init": n_init, "batch": passes, "max_iter": passes, "seed": seed, "n_jobs": 1}
        yield best_start(problem_views(problem), problem.n_clusters, objective="quadratic", **how).astype(np.int64)


@dataclass(eq=False, repr=False, kw_only=True)
class MajorityVote(CheckedMethod):
    """Consensus by iterated voting with aligned cluster names; fast, and among the best under label noise.

    Parameters
    ----------
    init : {"best", "quadratic", "clusterings"} or (n_objects,) labels, default "best"
        Where the vote begins: k-means on the labels (the best of `n_init` runs), each clustering with `n_clusters` clusters (every second
        or further one, so that there are at most 50), or the best of both by the agreement its vote reaches (no more are tried once three
        have reached the best so far); or labels of your own, such as another method's result, −1 where you have none. With more than 4,000
        distinct rows the starts are made and compared on 4,000 of them.
    n_init : int, default 10
        Runs of k-means.
    max_iter : int, default 100
        Rounds of aligning and voting.

    Attributes
    ----------
    labels_, membership_
        A cluster that wins no object is dropped, so there may be fewer than asked for.
    membership_ : (n_objects, n_clusters_) array
        Shares of the votes.
    agreement_ : float
        Share of all labels that vote for their object's cluster: the objective, between 0 and 1.
    n_iter_ : int
        Rounds until nothing changed.

    Notes
    -----
    A missing label does not vote. A tie leaves the object where it is. A row of weight w has w objects' votes in the
    alignment. One round costs O(rows · clusterings · clusters) plus an assignment problem per clustering.

    Examples
    --------
    >>> from consilience.consensus import MajorityVote
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2]]
    >>> vote = MajorityVote(n_clusters=3, random_state=0).fit(labels)
    >>> vote.labels_.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    >>> vote.membership_[2].round(2).tolist()
    [0.67, 0.33, 0.0]
    """

    init: Any = "best"
    n_init: int = 10
    max_iter: int = 100

    def _combine(self, problem: Problem) -> Answer:
        labels, start = problem.labels, None
        if isinstance(self.init, str):
            check_choice(self.init, INITS, "init")
        else:  # in the order of the ensemble, as the quick vote of a branch that has such a start
            labels, start = problem.as_given(labels), rows_of_start(problem, self.init)
            labels = labels[:, labels.max(axis=0) >= 0]
        problem = replace(problem, labels=np.asfortranarray(labels))  # all work goes column by column
        if start is None:
            start = _best_start(problem, self.init, self.n_init, self.max_iter, check_seed(self.random_state))
        placed, votes, n_iter = vote_on(problem, start, self.max_iter)
        known = (problem.labels >= 0).sum(axis=1)
        agreement = float(problem.weights @ votes[np.arange(problem.n_rows), placed] / (problem.weights @ known))
        return Answer(placed, votes / known[:, None], {"agreement": agreement, "n_iter": n_iter})
