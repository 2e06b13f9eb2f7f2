"""Which clusterings an answer is made without: those that agree with no other, and all but one tool's of those that are the same.

Two clusterings agree by chance if the pairs of objects together in both are within 3 standard deviations of what shuffled labels have in
common (Mantel 1967, exact). One that agrees with no other by more says nothing of what the others say. It is left out where at least
half of them are three times as far beyond chance: few objects, or noisy clusterings, cannot tell, and then all stay.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from consilience._check import listed
from consilience._types import Array, Floats
from consilience.consensus.rows.cluster_similarity import Overlaps
from consilience.consensus.rows.problem import Problem, check_problem
from consilience.consensus.rows.row_tree import CLUSTERS
from consilience.consensus.trust.confidence import ENOUGH
from consilience.ensemble import Ensemble

CHANCE = 3.0  # standard deviations of shuffled labels


def worth_combining(
    ens: Ensemble, n_clusters: int | None = None, sample_weight: Any = None, *, keep_all: bool | Array = False
) -> tuple[Ensemble, Problem, str]:
    """The clusterings that are combined, alone and as a problem, and those that are left out, in words."""
    problem = check_problem(ens, n_clusters, sample_weight)
    out, said = left_out(ens, problem, keep_all=keep_all)
    if out.any():
        some = ens[:, ~out]
        info = some.info.assign(name=np.array(ens.names, object)[~out])  # their places, where they have no names
        ens = Ensemble.from_codes(some.labels, label_names=some.label_names, info=info, ids=ens.ids)
        problem = check_problem(ens, n_clusters, sample_weight)
    return ens, problem, said


def left_out(ens: Ensemble, problem: Problem, *, keep_all: bool | Array = False) -> tuple[Array, str]:
    """(n_clusterings,) bool: those that are left out, and which these are, in words."""
    names, free = ens.names, ~(members_of_runs(ens) | keep_all)
    out, said = np.zeros(ens.n_clusterings, bool), []
    if free.any() and problem.given is not None and problem.sizes.sum() <= CLUSTERS:
        order, at = problem.columns_as_given(), np.sort(problem.given.columns)
        beyond, same = (table[np.ix_(order, order)] for table in agreement(problem))
        copies = _copies(same, [names[j] for j in at]) & free[at]
        if len(at) - copies.sum() < ENOUGH:  # to be judged by
            copies[:] = False
        some = np.flatnonzero(~copies)
        odd = some[lone(beyond[np.ix_(some, some)]) & free[at[some]]]
        twins = [f"{names[at[j]]} ({names[at[some[same[j, some].argmax()]]]})" for j in np.flatnonzero(copies)]
        out[at[odd]] = out[at[copies]] = True
        parts = {"agreeing with no other": [names[j] for j in at[odd]], "the same as another": twins}
        said = [f"{what}: {listed(which)}" for what, which in parts.items() if which]
    return out, "; ".join(said)


def members_of_runs(ens: Ensemble) -> Array:
    """Which clusterings `info` tells more of than a name."""
    return np.asarray(ens.info.drop(columns="name", errors="ignore").notna().any(axis=1))


def agreement(problem: Problem) -> tuple[Floats, Array]:
    """(m, m) standard deviations by which every two clusterings agree beyond chance, and whether they are the same partition."""
    overlaps, begin, sizes = Overlaps.of(problem), problem.offsets[:-1], problem.sizes
    n, square, cube = (np.add.reduceat(overlaps.labeled**power, begin) for power in (1, 2, 3))
    tables = [np.add.reduceat(table, begin) for table in (overlaps.counts**2, (overlaps.counts > 0).astype(float))]
    joint, cells = (np.add.reduceat(table, begin, axis=1) for table in tables)
    pairs, paths = square - n, cube - 3 * square + 2 * n  # of objects, and of three, inside the clusters
    apart, two = pairs**2 - 2 * pairs - 4 * paths, np.maximum(n * (n - 1), 1)
    expected = pairs * pairs.T / two
    variance = 2 * expected - expected**2 + 4 * paths * paths.T / (two * np.maximum(n - 2, 1))
    variance += apart * apart.T / (two * np.maximum((n - 2) * (n - 3), 1))
    tells = (n > 3) & (variance > 1e-9 * expected)  # not so if one has all objects together, or all apart
    beyond = np.divide(joint - n - expected, np.sqrt(np.maximum(variance, 0)), out=np.zeros_like(n), where=tells)
    whole = n.diagonal()
    return beyond, (cells == sizes) & (cells == sizes[:, None]) & (n == whole) & (n == whole[:, None])


def lone(beyond: Floats) -> Array:
    """Which of some clusterings agree with no other beyond chance, where at least half of them clearly do."""
    best = np.max(beyond, axis=1, initial=-np.inf, where=~np.eye(len(beyond), dtype=bool))
    return np.asarray((best <= CHANCE) & (np.median(best) > CHANCE**2))


def _copies(same: Array, names: Sequence[str]) -> Array:
    """Which are those of further tools that found a partition: all but those of the tool that found it most often."""
    # Names of tools differ by more than a number, as "ward" and "birch". Runs of one tool, as "kmeans_1" and "kmeans_2", and clusterings
    # without names are repeated on purpose: how often a partition comes again is what they tell.
    tools = np.array([re.sub(r"[\W\d_]", "", name) for name in names])
    mine = same & (tools == tools[:, None])
    rank = len(names) * mine.sum(axis=1) - mine.argmax(axis=1)  # the more often the better, and then the first
    return np.asarray(rank < np.where(same, rank, 0).max(axis=1))
