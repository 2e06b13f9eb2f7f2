"""Arithmetic on the rows of a problem that several methods share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience import _kernels
from consilience._random import stream
from consilience._types import Floats, Labels
from consilience.consensus.distinct_rows import Problem


def incidence(problem: Problem) -> Any:
    """H, sparse (n_rows, Σ k_q): 1 where a row lies in a cluster; missing labels leave zeros."""
    numbers, offsets = problem.hyperedges()
    known = numbers >= 0
    starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    return sparse.csr_array((np.ones(starts[-1]), numbers[known], starts), shape=(problem.n_rows, int(offsets[-1])))


def label_tables(problem: Problem, labels: NDArray[Any], k: int) -> list[Floats]:
    """For every clustering, the weight of each cluster's rows with each label: k × k_q; labels −1 count nowhere."""
    weights = problem.weights.astype(np.int64) if problem.whole else problem.weights
    offsets = np.concatenate([[0], np.cumsum(problem.sizes)])
    table = _kernels.label_tables(problem.labels.T, offsets, labels, k, weights=weights).astype(float)
    return [np.ascontiguousarray(part.T) for part in np.split(table, offsets[1:-1])]


def row_scores(problem: Problem, tables: Sequence[NDArray[Any]]) -> Floats:
    """Σ_q table_q[c, y_q] for every row and cluster (n_rows × k); missing labels add nothing."""
    scores = np.zeros((problem.n_rows, len(tables[0])))
    offsets = np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])[:-1]])
    _kernels.row_scores(problem.labels, offsets, np.hstack(tables).T, scores)
    return scores


def row_distances(labels: Labels, others: Labels) -> Floats:
    """(n, m) distances of two sets of rows: the share of clusterings, of those that label both, that part them; else 1."""
    agree = np.zeros((len(labels), len(others)), np.float32)
    for mine, theirs in zip(labels.T, others.T, strict=True):
        agree += np.where(mine >= 0, mine, -2)[:, None] == theirs  # missing equals nothing
    both = (labels >= 0).astype(np.float32) @ (others >= 0).astype(np.float32).T
    distances = np.ones(agree.shape)
    np.divide(both - agree, both, out=distances, where=both > 0, dtype=float)
    return distances


def representative_rows(problem: Problem, size: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats]:
    """A few rows that stand for all, with weights that do: the heaviest half, and a uniform draw from the others."""
    order = np.lexsort((rng.random(problem.n_rows), -problem.weights))
    heavy, rest = order[: size // 2], order[size // 2 :]
    drawn = np.sort(rng.choice(len(rest), size - len(heavy), replace=False))
    weights = problem.weights[rest[drawn]] * (problem.weights[rest].sum() / problem.weights[rest[drawn]].sum())
    rows = np.concatenate([heavy, rest[drawn]])
    return rows, np.concatenate([problem.weights[heavy], weights])


def sample_rows(weights: Floats, size: int, seed: int) -> NDArray[np.int64]:
    """Numbers of `size` rows, drawn without replacement in proportion to their weights; all if there are no more."""
    if len(weights) <= size:
        return np.arange(len(weights))
    # The smallest of exponential times with these rates are such a draw.
    times = stream(seed, "consensus.rows").exponential(size=len(weights)) / weights
    return np.sort(np.argpartition(times, size)[:size])
