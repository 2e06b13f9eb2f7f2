"""What ``methods="auto"`` means: which methods make the clusterings that are to be combined, by the kind of data."""

# Chosen by the quality of the consensus on some data sets and confirmed on others: the figures are in ``docs/bases.md``. They are for one
# good clustering; for many that differ, to be explored, Zipf weights remain the way.

from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience._check import count
from consilience.tables import Table
from consilience.tables.scaling_and_counts import looks_like_counts, varying

AUTO = "auto"
WIDE = 100  # columns from which random subspaces are taken; docs/bases.md
MIXED = "zipf+pca+minima"  # of tables with columns of words
COUNTED = "reduced+components"
MOST_CLUSTERS, MOST_SEARCHED = 60, 20  # where nothing is said


@dataclass(frozen=True)
class Recipe:
    """How the clusterings of some data are made: its kind, the methods, and why in one line."""

    kind: str
    methods: str
    words: str


def is_auto(methods: Any) -> bool:
    return isinstance(methods, str) and methods.strip() == AUTO


def recipe_of(data: Any, *, metric: str = "euclidean", base: Any = None) -> Recipe:
    values = data.values if isinstance(data, Table) else data
    n, width = values.shape
    if metric == "euclidean" and n:  # what is constant takes no part, and must not decide
        width = int(varying(values).sum()) or width
    size = f"{count(n, 'object')} × {count(width, 'column')}"
    if metric == "graph":
        return Recipe("graph", "graph", f"a graph of {count(n, 'object')}: graph")
    if base is not None:
        return Recipe("base", "minima+features", "another clusterer in place of k-means: minima and features")
    if metric == "precomputed":
        return Recipe("distances", "landmarks", f"distances of {count(n, 'object')}: landmarks")
    cells = isinstance(data, Table) and data.source.endswith(("AnnData", ".h5ad"))
    if data.is_counts if isinstance(data, Table) else looks_like_counts(values):
        kind, what = ("cells", "counts of cells") if cells else ("counts", "counts")
        return Recipe(kind, COUNTED, f"{what}, {size}: {COUNTED}, k-means and landmarks on principal components")
    if width >= WIDE:
        kind, what = ("cells", "cells") if cells else ("wide", "a wide table")
        return Recipe(kind, "metrics", f"{what}, {size}: metrics, random ones on random columns")
    if isinstance(data, Table) and data.has_words and width > 1:
        words = f"{size}, some of words: {MIXED}, k-means with random weights and from random starts"
        return Recipe("mixed", MIXED, words)
    return Recipe("columns", "landmarks", f"{size}: landmarks")


def usual_clusters(n_objects: int, n_clusters: int | None = None, *, search: bool = False) -> tuple[int, int]:
    # Where the answer is to have k: k to 4k but at most √n, at least 2k. Else √n / 4 to √n, at most 60; or, to `search` the answer's
    # number among theirs, 2 to √n, at most 20.
    root = int(np.sqrt(n_objects))
    if n_clusters is None:
        high = min(max(root, 2), MOST_SEARCHED if search else MOST_CLUSTERS)
        return 2 if search else max(2, high // 4), high
    low = max(2, min(n_clusters, n_objects))
    return low, min(n_objects, max(2 * low, min(4 * low, root)))
