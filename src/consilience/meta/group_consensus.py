"""What a group of clusterings says together: one consensus, quick enough to be shown while one waits.

By default it is evidence accumulation, as in Caruana et al. 2006: average linkage of the co-association. Beyond 2,000 objects the tree is
built on 2,000 drawn ones, and every object joins the cluster with whose objects it is together most often.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._check import InputError, check_choice, count
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus import METHODS, Consensus, EvidenceAccumulation, combine
from consilience.consensus.combine import combined_labels
from consilience.consensus.methods.estimator import by_size
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.rows.row_tree import (
    association_tree,
    best_of_unions,
    join_tree_of,
    joiner,
    joiner_of_scales,
)
from consilience.consensus.trust.confidence import confidence_of, label_owners
from consilience.consensus.trust.tables import reliability_of
from consilience.ensemble import Ensemble
from consilience.meta.tree import medoid_of

METHOD = "evidence"
DRAWN = 2000  # objects that the tree is built on
BLOCK = 8192  # objects at a time, where they are many
OWN = {"linkage", "memory_budget", "objects"}  # options that ask for another tree


def group_consensus(
    ensemble: Ensemble,
    distances: Floats,
    members: Ints,
    *,
    method: str = METHOD,
    n_clusters: int | str | None = None,
    random_state: Any = 0,
    **options: Any,
) -> Consensus:
    """Combine some clusterings of an ensemble; evidence accumulation is on drawn objects where they are many.

    That is quick, so that the explorer shows the same answer at once (:func:`group_labels`). A vote starts from the most central member
    that has `n_clusters` clusters, by the tree's condensed `distances`, which costs nothing; :func:`combine` alone tries several starts.
    """
    check_choice(method, ("auto", *METHODS), "method")
    options = _quick(ensemble, distances, members, method, n_clusters, options)
    return combine(ensemble[:, members], n_clusters, method, random_state=random_state, **options)


def _quick(
    ensemble: Ensemble,
    distances: Floats,
    members: Ints,
    method: str,
    n_clusters: int | str | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    """The options of a method with those that make it quick, where they were left open."""
    if method == METHOD and ensemble.n_objects > DRAWN and OWN.isdisjoint(options):
        return options | {"objects": drawn_objects(ensemble.n_objects)}
    if method == "vote" and "init" not in options and not isinstance(n_clusters, str):
        have = ensemble.n_clusters[members]
        fitting = members[have == (_median(have) if n_clusters is None else n_clusters)]
        start = ensemble.labels[:, medoid_of(distances, members, fitting)] if len(fitting) else "quadratic"
        return options | {"init": start}
    return options


def consensus_labels(
    ensemble: Ensemble,
    distances: Floats,
    members: Ints,
    *,
    method: str = METHOD,
    n_clusters: int | str | None = None,
    random_state: Any = 0,
    **options: Any,
) -> Labels:
    """The labels of :func:`group_consensus` alone: how far to trust them costs more than they do, and is left out.

    Where the number of clusters is to be found, the whole answer is computed.

    Examples
    --------
    >>> ens = Ensemble(np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]))
    >>> consensus_labels(ens, np.zeros(3), np.arange(3), method="vote", n_clusters=2)
    array([0, 0, 1, 1], dtype=int32)
    """
    how: dict[str, Any] = {"method": method, "n_clusters": n_clusters, "random_state": random_state}
    if isinstance(n_clusters, str) or method == "nbce" or (method == "auto" and options):
        return group_consensus(ensemble, distances, members, **how, **options).labels.astype(np.int32)
    check_choice(method, ("auto", *METHODS), "method")
    if method == METHOD and not options and (n_clusters is None or ensemble.n_objects <= DRAWN):
        return group_labels(ensemble.labels[:, members], ensemble.n_clusters[members], n_clusters)
    options = _quick(ensemble, distances, members, method, n_clusters, options)
    found = combined_labels(ensemble[:, members], n_clusters, method, random_state=random_state, **options)
    return np.asarray(found, np.int32)


def group_labels(rows: Labels, n_clusters: Ints, wanted: int | None = None) -> Labels:
    """The labels of :func:`group_consensus` by default, in a fraction of its time, since nothing else is computed.

    Parameters
    ----------
    rows : (n_objects, n_members) int array
        The members' labels, −1 missing.
    n_clusters : (n_members,) int array
        Their numbers of clusters.
    wanted : int, optional
        Clusters of the consensus; by default the median of theirs.

    Returns
    -------
    (n_objects,) int32 array
        Clusters by falling size; −1 for objects without labels.

    Examples
    --------
    >>> group_labels(np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]), np.array([2, 2, 2]))
    array([0, 0, 1, 1], dtype=int32)
    """
    if len(rows) <= DRAWN:
        problem = check_problem(Ensemble(rows), wanted)
        return np.asarray(problem.to_objects(EvidenceAccumulation()._answer(problem)[1], -1).astype(np.int32))
    k = wanted or _median(n_clusters)
    labels = join_tree_of(rows[drawn_objects(len(rows))], rows, k)
    return _numbered(np.where(rows.max(axis=1) >= 0, labels, -1), k)


def group_scales(
    columns: Callable[[Any], Array],
    n_objects: int,
    n_clusters: Ints,
    numbers: list[int],
    *,
    missing: bool = True,
    threads: int = 1,
    step: Callable[[], None] = lambda: None,
) -> Labels:
    """The labels of :func:`group_labels` at several numbers of clusters, from one tree and one pass over the objects.

    The clusters of a smaller number are unions of those of a larger one among the objects that the tree is built on; an object that joins
    them may change sides, since it joins the nearest at every number.

    Parameters
    ----------
    columns, n_objects, n_clusters, missing, threads, step
        As for :func:`group_answer`.
    numbers : list of int
        Clusters wanted, at least 2 each.

    Returns
    -------
    (len(numbers), n_objects) int32 array
        Clusters by falling size; −1 for objects without labels.

    Examples
    --------
    >>> rows = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]], np.int32)
    >>> group_scales(lambda objects: rows.T[:, objects], 4, np.array([2, 2, 2]), [2, 3])
    array([[0, 0, 1, 1],
           [0, 0, 1, 2]], dtype=int32)
    """
    found = np.full((len(numbers), n_objects), -1, np.int32)
    if n_objects <= DRAWN:
        problem = check_problem(Ensemble(_signed(columns(slice(0, n_objects))).T), max(numbers))
        tree = association_tree(problem)
        for at, k in enumerate(numbers):
            step()
            labels = tree.cut(k)
            place = np.argsort(by_size(labels, problem.weights, k, problem.first))
            found[at] = problem.to_objects(place[labels], -1)
        return found
    sums, unions = joiner_of_scales(_drawn_rows(columns, n_objects, max(numbers)), n_clusters, numbers)
    for block in blocks_of(n_objects):
        step()
        some = columns(block)
        mine = sums.sums_of_columns(some, missing, threads)
        has = ~(some == _none(some)).all(axis=0) if missing else True
        for at, union in enumerate(unions):
            found[at, block] = np.where(has, best_of_unions(mine, union), -1)
    return np.stack([_numbered(labels, k) for labels, k in zip(found, numbers, strict=True)])


def _drawn_rows(columns: Callable[[Any], Array], n_objects: int, wanted: int | None) -> Labels:
    """The labels of the objects that the tree is built on; refused where they, of all objects, cannot make so many clusters."""
    rows = np.ascontiguousarray(_signed(columns(drawn_objects(n_objects))).T)
    distinct = len(_kernels.distinct_rows(rows[(rows >= 0).any(axis=1)])[0]) if wanted else 0
    if wanted and wanted > distinct:
        raise InputError(
            f"{wanted} clusters cannot be told apart: the {DRAWN:,} objects that the tree is built on have only "
            f"{count(distinct, 'distinct row')} of labels; ask for fewer clusters"
        )
    return rows


def _numbered(labels: Array, k: int) -> Labels:
    """The same clusters of objects, numbered by falling size; −1 stays."""
    has = labels >= 0
    place = np.argsort(by_size(labels[has], np.ones(int(has.sum())), k))
    return np.where(has, place[labels], -1).astype(np.int32)


def blocks_of(n_objects: int) -> list[slice]:
    """The objects, some at a time."""
    return [slice(begin, min(begin + BLOCK, n_objects)) for begin in range(0, n_objects, BLOCK)]


def group_answer(
    columns: Callable[[Any], Array],
    n_objects: int,
    n_clusters: Ints,
    *,
    wanted: int | None = None,
    missing: bool = True,
    threads: int = 1,
    step: Callable[[], None] = lambda: None,
) -> tuple[Labels, Floats]:
    """The labels of :func:`group_labels` and their :func:`group_support`, from some objects at a time.

    Parameters
    ----------
    columns : function of a slice or an array of objects
        The members' labels of them, members × objects: int32 with −1 missing, or as `encode_codes` makes them, which is quicker and
        has no second copy of what holds all.
    n_objects : int
    n_clusters : (n_members,) int array
    wanted : int, optional
        Clusters of the consensus; by default the median of the members'.
    missing : bool
        Whether labels can be missing.
    threads : int
    step : function
        Called between blocks; may raise to end the work.

    Returns
    -------
    labels : (n_objects,) int32 array
    support : (n_objects,) array
    """
    if n_objects <= DRAWN:
        everyone = _signed(columns(slice(0, n_objects)))
        labels = group_labels(everyone.T, n_clusters, wanted)
        return labels, group_support(everyone, labels, threads)
    blocks = blocks_of(n_objects)
    k, offsets = wanted or _median(n_clusters), np.concatenate([[0], np.cumsum(n_clusters)])
    means = joiner(_drawn_rows(columns, n_objects, wanted), n_clusters, k)
    found, tables = np.empty(n_objects, np.int32), np.zeros((int(offsets[-1]), k), np.int64)
    for block in blocks:
        step()
        some = columns(block)
        found[block] = means.of_columns(some, missing, threads).argmax(axis=1)
        if missing:
            found[block][(some == _none(some)).all(axis=0)] = -1
        tables += _kernels.label_tables(some, offsets, found[block], k, threads=threads)
    has = found >= 0
    order = by_size(found[has], np.ones(int(has.sum())), k)
    codes = np.where(has, np.argsort(order)[found], -1).astype(np.int32)
    n_found = int(codes.max()) + 1
    owners, support = label_owners(tables[:, order][:, :n_found]), np.empty(n_objects)
    for block in blocks:
        step()
        support[block] = _own_share(columns(block), offsets, owners, codes[block], n_found, threads)
    return codes, support


def _none(columns: Array) -> int:
    """What stands for a missing label."""
    return -1 if columns.dtype.kind == "i" else int(np.iinfo(columns.dtype).max)


def _signed(columns: Array) -> Labels:
    """The same labels with −1 missing."""
    labels = columns.astype(np.int32)
    labels[columns == _none(columns)] = -1
    return labels


def group_support(columns: Labels, labels: Labels, threads: int = 1) -> Floats:
    """Share of the members (`columns`, members × objects) whose label for an object is, by plurality, a label of its cluster."""
    k, offsets = int(labels.max()) + 1, np.concatenate([[0], np.cumsum(columns.max(axis=1) + 1)])
    tables = _kernels.label_tables(columns, offsets, labels, k, threads=threads)
    return _own_share(columns, offsets, label_owners(tables), labels, k, threads)


def _own_share(columns: Array, offsets: Ints, owners: Labels, labels: Labels, k: int, threads: int) -> Floats:
    votes = _kernels.label_votes(columns, offsets, owners, k, threads=threads)
    own = votes[np.arange(len(votes)), np.maximum(labels, 0)]
    return np.asarray(own / np.maximum(votes.sum(axis=1), 1))


def group_confidence(some: Ensemble, labels: Labels) -> Floats:
    """Probability that an independent group of the kind puts each object where it is; 0 without labels."""
    problem = check_problem(some)
    _, found = confidence_of(problem, labels[problem.first], kind=EvidenceAccumulation._resample)
    return np.asarray(problem.to_objects(found, 0.0))


def group_reliability(some: Ensemble, labels: Labels) -> tuple[Floats, Array]:
    """Of every member of a group, its reliability, and whether the consensus is better without it; see `Consensus.members`."""
    return reliability_of(check_problem(some), labels)


def drawn_objects(n_objects: int) -> Ints:
    """The objects that a tree is built on, where they are many: the same ones for every group."""
    return np.sort(stream(0, "consensus.sample").choice(n_objects, DRAWN, replace=False))


def _median(n_clusters: Ints) -> int:
    return max(2, int(np.median(n_clusters)))
