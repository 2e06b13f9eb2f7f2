"""Documents: clusters of counts, and of both sides of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.agreement import planted_blocks
from benchmarks.beside.task import Arrays, Task, ari
from benchmarks.beside.tasks.data import read

FAMILY = "Counts"
WORDS = 10_000


def arrays(table: Any, k: int) -> Arrays:
    table = sparse.csr_matrix(table)
    table.sum_duplicates()
    return {
        "data": table.data.astype(np.int64),
        "indices": table.indices,
        "indptr": table.indptr,
        "shape": np.array(table.shape),
        "k": np.array(k),
    }


def blocks() -> tuple[Arrays, Any]:
    table, known = planted_blocks()
    return arrays(table[:, np.asarray(table.sum(axis=0)).ravel() > 0], 20), known


def news() -> tuple[Arrays, Any]:
    """The most frequent words of messages that have some."""
    parts = read("newsgroups20_bydate")
    table = sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
    table = table[:, np.sort(np.argsort(-np.asarray(table.sum(axis=0)).ravel(), kind="stable")[:WORDS])]
    some = np.asarray(table.sum(axis=1)).ravel() > 0
    return arrays(table[some], 20), parts["y"][some]


TASKS = [
    Task(
        "bottleneck",
        "sequential information bottleneck",
        "20 Newsgroups by date, 10,000 words, 20 clusters, one start",
        FAMILY,
        news,
        "bottleneck",
        {("sib", "bottleneck"): "SIB"},
        "ARI, groups",
        ari,
    ),
    Task(
        "co_clustering",
        "co-clustering",
        "5,000 × 10,000, 60 counts a row, 20 planted blocks",
        FAMILY,
        blocks,
        "co_clustering",
        {
            ("scikit_learn", "spectral_coclustering"): "SpectralCoclustering",
        },
        "ARI of rows, planted",
        ari,
    ),
]
