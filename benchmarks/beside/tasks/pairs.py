"""How alike are clusterings: all pairs, or every object."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.beside.task import Arrays, Task, difference

FAMILY = "All pairs of clusterings"


def related(n: int, m: int) -> tuple[Arrays, Any]:
    """Clusterings into 10 to 50 clusters that have a part in common."""
    rng = np.random.default_rng(0)
    numbers, shared = rng.integers(10, 51, m), rng.integers(0, 30, n)
    labels = np.where(rng.random((n, m)) < 0.4, rng.integers(0, numbers, (n, m)), shared[:, None] % numbers)
    return {"labels": labels}, None


def _pairs(name: str, title: str, n: int, m: int, *peers: str) -> Task:
    words = {"scikit_learn": "a loop over its score", "clusim": "a loop over its score"}
    return Task(
        name,
        title,
        f"{m} clusterings × {n:,} objects, 10 to 50 clusters: {m * (m - 1) // 2:,} pairs",
        FAMILY,
        lambda: related(n, m),
        name,
        {(peer, name): words.get(peer, title) for peer in peers},
        "largest difference",
        difference,
    )


TASKS = [
    _pairs("adjusted_rand", "adjusted Rand index", 1_000, 40, "scikit_learn", "clusim"),
    _pairs("nmi", "normalized mutual information", 1_000, 40, "scikit_learn", "clusim"),
    _pairs("ami", "adjusted mutual information", 1_000, 40, "scikit_learn"),
    _pairs("element_centric", "element-centric similarity", 1_000, 20, "ClustAssessPy", "clusim"),
    _pairs("element_consistency", "element consistency", 5_000, 50, "ClustAssessPy"),
]
