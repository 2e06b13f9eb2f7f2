"""How far to trust each object's place in a consensus: its confidence and its support, which docs/consensus.md defines.

Where errors are independent, the confidence is the posterior of :mod:`consilience.consensus.rows.error_model`, and else what resamples of
the clusterings say. Hundreds of clusters leave no time for either, and the answer of fewer than five clusterings is so much their own that
both claim too much. There every clustering is a witness as far as the others confirm it: p(c | row) ∝ π_c Π_q p_q(y_q | c)^τ, where
τ = 1 / (1 + (r − 1) ρ) discounts clusterings whose errors are correlated (the design effect of survey sampling), ρ being the mean
correlation, over pairs, of "disagrees with the consensus".

In every other resample half of the clusterings are drawn without replacement, and not all with. Each draw has its own weights, walk, tree
and clusters (:mod:`consilience.consensus.methods.walk`). Leiden runs are spread evenly over their numbers of clusters (`place` in `info`):
there, clusterings are exchanged for others of about as many clusters. Evidence accumulation is resampled by itself.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from joblib import delayed
from scipy.optimize import linear_sum_assignment

from consilience import _kernels
from consilience._kernels import x_log_x
from consilience._run.parallel import workers
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.rows.cluster_similarity import Groups, nearest_clusters
from consilience.consensus.rows.co_association import mean_association
from consilience.consensus.rows.error_model import error_posterior
from consilience.consensus.rows.problem import Problem, by_size, label_tables, row_scores
from consilience.consensus.rows.row_tree import (
    LEAVES,
    choose_leaves,
    cut_clusters,
    cut_tree,
    fits,
    narrowed,
    row_tree,
    similarity_tree,
    weighted_linkage,
)
from consilience.measures.counts import Sums
from consilience.measures.information import nmi_from

SAMPLE = 20_000  # safeguard: for time, objects by which the dependence of clusterings is judged
PAIRED = 400  # safeguard: for time, clusterings of which all pairs are looked at
MATCHED = 500  # safeguard: for time, clusters that resamples are matched with, at most
INDEPENDENT = 0.04  # mean correlation of errors below which they count as independent
ENOUGH = 5  # clusterings that are enough for the model, or resamples, alone
TELLING = 4  # clusterings of which it can be told whether errors are correlated: of three, two always outvote one

RESAMPLES = 20  # of which a share is known to .1
ALIKE = 6  # clusterings of about as many clusters that are exchanged for one another in even ensembles
GROUPS = 500  # safeguard: for time, groups of rows that a tree is built on
EVIDENCE = 700  # safeguard: for time, rows that a tree of co-association is built on
CLUSTERS = 1500  # safeguard: for time, of all clusterings together, that are resampled
CLUSTERINGS = 30  # safeguard: for time, that are resampled at least, where there are too many objects for all
ROUNDS = 4  # safeguard: for time, rounds in which rows join the clusters of a resample
WORK = 2e9  # safeguard: for time, labels × clusters that are looked at, about


def cluster_shares(rows: Labels, tables: Sequence[Floats]) -> Floats:
    """(n_rows, k): the share of the row's clusterings whose label for it is, by plurality, a label of each cluster."""
    offsets = np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])])
    votes = _kernels.label_votes(rows.T, offsets, label_owners(np.hstack(tables).T), len(tables[0]))
    return np.asarray(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1))


def support_of(rows: Labels, labels: Array, tables: Sequence[Floats]) -> Floats:
    agree, known = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for column, owners in zip(rows.T, owners_of_labels(tables), strict=True):
        agree += np.append(owners, -1)[column] == labels
        known += column >= 0
    return np.asarray(agree / np.maximum(known, 1))  # a row that none of the clusterings knows has no support


def label_owners(table: Array) -> Labels:
    """The cluster that holds most of each label, from the weights of labels × clusters."""
    # Ties go to the cluster with more labels, then to the one with purer ones: not by the clusters' numbers, which may depend on the
    # order of the objects.
    order = np.lexsort((-(table.astype(float) ** 2).sum(axis=0), -table.sum(axis=0)))
    return order[table[:, order].argmax(axis=1)].astype(np.int32)


def average_nmi(tables: Sequence[Floats]) -> float:
    """Σ_q n_q NMI_q / Σ_q n_q, as :func:`consilience.measures.anmi`."""
    n = np.array([table.sum() for table in tables])
    sums = ([x_log_x(part).sum() for part in (table, table.sum(axis=1), table.sum(axis=0))] for table in tables)
    return float(np.average(nmi_from(Sums(n, *np.array(list(sums)).T)), weights=n))


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


def heaviest_first(problem: Problem, labels: Array) -> tuple[Ints, Ints]:
    """Clusters by falling weight, equals by their first row, and the rows' clusters as places in this order, −1 for none."""
    there = np.flatnonzero(labels >= 0)
    order = by_size(labels[there], problem.weights[there], int(labels.max(initial=-1)) + 1, there)
    return order, np.append(np.argsort(order), -1)[labels]


def owners_of_labels(tables: Sequence[Floats]) -> list[Ints]:
    """The cluster that each label of every clustering speaks for, from weights of clusters × labels."""
    owners = label_owners(np.hstack(tables).T) if len(tables[0]) else np.zeros(0, np.int32)
    return np.split(owners, np.cumsum([table.shape[1] for table in tables])[:-1])


def what_others_say(rows: Labels, owners: Sequence[Ints], k: int) -> Iterator[Ints]:
    """For every clustering, the cluster of every row that most votes of the *other* clusterings speak for; −1 where none does."""
    # Ties go to the first cluster. Cost O(rows · (clusterings + clusters)), memory O(rows · clusters).
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


@dataclass(frozen=True, eq=False)
class Assessment:
    """What the clusterings say of clusters 0 … k − 1 of the rows, each worked out when it is asked for."""

    problem: Problem
    labels: Array
    kind: str = "walk"  # resamples are combined by a "walk" or by "association"

    @cached_property
    def tables(self) -> list[Floats]:
        return label_tables(self.problem, self.labels, int(self.labels.max()) + 1)

    @property
    def posterior(self) -> Floats:
        """(n_rows, k), of the model, or shares of resamples."""
        return self._judged[0]

    @property
    def confidence(self) -> Floats:
        return self._judged[1]

    @property
    def support(self) -> Floats:
        return support_of(self.problem.labels, self.labels, self.tables)

    @property
    def anmi(self) -> float:
        return average_nmi(self.tables)

    @property
    def discount(self) -> float:
        """τ: how much a clustering counts, given how alike the clusterings err."""
        return 1.0 / (1.0 + (self.problem.n_clusterings - 1) * self.error_correlation)

    @property
    def errors_correlate(self) -> bool:
        return self.error_correlation >= INDEPENDENT

    @cached_property
    def error_correlation(self) -> float:
        """ρ: the mean correlation, over pairs of clusterings, of "disagrees with the clusters"; between 0 and 1."""
        r = self.problem.n_clusterings
        if r == 1:
            return 0.0
        chosen = np.arange(r)
        if r > PAIRED:  # a mean over pairs of clusterings needs no more
            chosen = np.sort(stream(r, "consensus.confidence").permutation(r)[:PAIRED])
        rows, mass = _sampled(self.problem)
        codes, own = (each if rows is None else each[rows] for each in (self.problem.labels, self.labels))
        # A clustering agrees on a row if the row's label is more common in the row's cluster than in any other. Shares, not counts,
        # decide: a cluster that holds most objects would else own all labels.
        tables = [self.tables[q] for q in chosen]
        owners = owners_of_labels([table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300) for table in tables])
        known, wrong = np.empty((2, len(codes), len(chosen)))
        for i, (q, owner) in enumerate(zip(chosen, owners, strict=True)):
            known[:, i] = codes[:, q] >= 0
            wrong[:, i] = known[:, i] * (np.append(owner, -1)[codes[:, q]] != own)
        weights = mass[:, None] * known
        rate = (weights * wrong).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
        centered = (wrong - rate) * known
        both = weights.T @ known
        covariance = (centered * mass[:, None]).T @ centered / np.where(both > 0, both, 1)
        deviation = np.sqrt(rate * (1 - rate))
        scale = np.outer(deviation, deviation)
        pairs = ~np.eye(len(scale), dtype=bool) & (both > 0) & (scale > 1e-12)
        mean = float((covariance[pairs] / scale[pairs]).mean()) if pairs.any() else 0.0
        return min(max(mean, 0.0), 1.0)

    @cached_property
    def _judged(self) -> tuple[Floats, Floats]:
        problem = self.problem
        own, few = (np.arange(problem.n_rows), self.labels), problem.n_clusterings < ENOUGH
        several = 1 < len(self.tables[0]) <= MATCHED and fits(narrowed(problem))
        if several and not few:
            if self.errors_correlate:
                return self._resampled
            posterior = error_posterior(problem, self.labels)[0]
            return posterior, posterior[own]
        posterior = confirmed_posterior(self)
        if not few or problem.n_clusterings == 1:
            return posterior, posterior[own]
        confirmed = posterior, resampled_confidence(posterior, self.labels)  # the same mean, for the same reason
        unclear = several and (problem.n_clusterings < TELLING or self.errors_correlate)
        both = [confirmed, self._resampled] if unclear else [confirmed]
        return min(both, key=lambda one: float(np.average(one[1], weights=problem.weights)))

    @property
    def _resampled(self) -> tuple[Floats, Floats]:
        shares = resampled_shares(self.problem, self.labels, self.kind)
        rest = np.maximum(1 - shares.sum(axis=1, keepdims=True), 0)  # went to clusters that match none
        return shares + rest / shares.shape[1], resampled_confidence(shares, self.labels)


def confirmed_posterior(answer: Assessment) -> Floats:
    """(n_rows, k) probabilities of the clusters given the row, every clustering a witness as far as the others confirm it."""
    # p_q(y | c) is counted over the clusters that the votes of the *other* clusterings speak for, without the object in question. Labels
    # drawn at random then say nothing, since the others do not foretell them, and the probabilities stay at chance, the shares π_c of
    # the clusters; so they do for a single clustering, which nothing confirms.
    problem, (order, mine) = answer.problem, heaviest_first(answer.problem, answer.labels)
    k, logs = len(order), []
    share = np.bincount(mine, problem.weights, minlength=k) / problem.weights.sum()
    scores = np.tile(np.log(np.maximum(share, 1e-300)), (problem.n_rows, 1))
    if problem.n_clusterings > 1:
        owners = owners_of_labels([table[order] for table in answer.tables])
        for column, others in zip(problem.labels.T, what_others_say(problem.labels, owners, k), strict=True):
            both, width = np.flatnonzero((column >= 0) & (others >= 0)), int(column.max()) + 1
            own, label = others[both], column[both]
            cells = np.bincount(own.astype(np.int64) * width + label, problem.weights[both], minlength=k * width)
            table = cells.reshape(k, width)
            total, marginal = table.sum(axis=1), np.bincount(column + 1, problem.weights)[1:]
            prior = width * marginal / marginal.sum()  # one count per label, divided as the clustering divides them
            log = answer.discount * np.log((table + prior) / (total + width)[:, None])
            alone = (np.maximum(table[own, label] - 1, 0) + prior[label]) / (np.maximum(total[own] - 1, 0) + width)
            # an object is not a witness for itself
            scores[both, own] += answer.discount * np.log(alone) - log[own, label]
            logs.append(log)
        scores += row_scores(problem, logs)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))[:, np.argsort(order)]


def resampled_shares(problem: Problem, labels: Array, kind: str = "walk") -> Floats:
    """(n_rows, k) share of the resamples, of those that label a row, that put it into each cluster of an answer."""
    # Shares sum to less than 1 where a row went to a cluster that matches none of the answer's.
    k = int(labels.max()) + 1
    affordable = max(CLUSTERINGS, WORK / (problem.n_rows * k * RESAMPLES))
    narrow = narrowed(problem, int(min(CLUSTERS, affordable * problem.sizes.mean())))
    combine_again = (_by_walk if kind == "walk" else _by_association)(narrow, k)
    found, rows, judged = np.zeros((narrow.n_rows, k)), np.arange(narrow.n_rows), np.zeros(narrow.n_rows)
    first = np.full(k, narrow.n_rows)
    np.minimum.at(first, labels, rows)
    order = np.argsort(first)  # ties of matches go by the clusters' first rows, however they are numbered
    mine = np.argsort(order)[labels]
    drawn = [_copies(alike(narrow), b) for b in range(RESAMPLES)]
    answers = workers(None, lazily=True)(delayed(combine_again)(copies) for copies in drawn)
    for copies, again in zip(drawn, answers, strict=True):
        place = matched(mine, again, narrow.weights, k)[again]
        seen = (narrow.labels[:, copies > 0] >= 0).any(axis=1)
        met = (place >= 0) & seen
        found[rows[met], order[place[met]]] += 1
        judged += seen
    return np.asarray(found / np.maximum(judged, 1)[:, None])


def _copies(groups: list[Ints], b: int) -> Floats:
    """How often each clustering counts in a resample, of each group as many as it has."""
    rng, drawn = stream(0, "consensus.resamples", b), []
    for i, group in enumerate(groups):
        # half of them, those of odd groups rounded up and down by turns; or as many as there are, with replacement
        half = (len(group) + (i % 2 or len(groups) == 1)) // 2
        drawn.append(group[rng.permutation(len(group))[:half] if b % 2 else rng.integers(0, len(group), len(group))])
    return np.bincount(np.concatenate(drawn), minlength=sum(map(len, groups))).astype(float)


def alike(problem: Problem) -> list[Ints]:
    """Clusterings that are exchanged for one another: all, or about six with neighboring numbers of clusters where these are even."""
    m = problem.n_clusterings
    if not problem.even or m < 2 * ALIKE:
        return [np.arange(m)]
    return np.array_split(np.argsort(problem.sizes, kind="stable"), m // ALIKE)


def _by_walk(problem: Problem, k: int) -> Callable[[Floats], Ints]:
    """Clusters of the rows by how often each clustering counts, as :class:`ClusterWalk` finds them."""
    whole, most = row_tree(problem, max(LEAVES, k)), max(GROUPS, k)
    n = len(whole.leaves)
    some = _only(problem, whole.leaves, whole.weights)
    groups = np.arange(n) if n <= most else cut_tree(whole.linkage, most)
    items = Groups.of(some, groups)

    def again(copies: Floats) -> Ints:
        similarity = whole.overlaps.similarity(copies)
        tree = similarity_tree(similarity.of_groups(items), items.mass)
        labels, _ = nearest_clusters(some, similarity, cut_clusters(tree, items.mass, k)[groups], k, ROUNDS)
        if n < problem.n_rows:
            labels = similarity.to_clusters(some, labels, k, problem.labels).argmax(axis=1)
        return labels

    return again


def _by_association(problem: Problem, k: int) -> Callable[[Floats], Ints]:
    """Clusters of the rows by how often each clustering counts, as :class:`EvidenceAccumulation` finds them."""
    leaves, weights = choose_leaves(problem, max(EVIDENCE, k))
    some = _only(problem, leaves, weights)

    def again(copies: Floats) -> Ints:
        used = np.flatnonzero(copies)
        sizes = problem.sizes[used]
        times, offsets = np.repeat(copies[used], sizes), np.concatenate([[0], np.cumsum(sizes)])
        part = replace(some, labels=np.ascontiguousarray(some.labels[:, used]))
        tree = weighted_linkage(_kernels.row_distances(part.labels.T, offsets, times), weights)
        mine = cut_tree(tree, min(k, len(leaves)))
        if len(leaves) == problem.n_rows:
            return mine
        whole = replace(problem, labels=np.ascontiguousarray(problem.labels[:, used]))
        return np.asarray(mean_association(whole, part, mine, times).argmax(axis=1))

    return again


def _only(problem: Problem, rows: Ints, weights: Floats) -> Problem:
    """The problem of some of the rows, that weigh as told; a cluster that none of them is in keeps its number."""
    some = problem.part(rows, weights)
    vars(some)["sizes"] = problem.sizes
    return some


def matched(labels: Array, others: Array, weights: Floats, k: int) -> Ints:
    """The cluster of `labels` that each cluster of `others` is matched with, one to one, by most weight in common; −1 for none."""
    table = np.zeros((k, int(others.max()) + 1))
    np.add.at(table, (labels, others), weights)
    mine, theirs = linear_sum_assignment(-table)
    place = np.full(table.shape[1], -1)
    place[theirs] = mine
    return place


def resampled_confidence(shares: Floats, labels: Array) -> Floats:
    """(n_rows,) the mean of the own cluster's share and of the agreement of two resamples."""
    own = shares[np.arange(len(labels)), labels]
    return np.asarray((own + (shares**2).sum(axis=1)) / 2)
