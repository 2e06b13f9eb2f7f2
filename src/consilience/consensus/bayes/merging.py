"""Merging clusters along the expected loss, pair by pair."""

from __future__ import annotations

import numpy as np

from consilience._types import Floats, Ints
from consilience.consensus.samples.expected_loss import term


def merge_clusters(table: Floats, sizes: Floats, loss: str, n_clusters: int) -> Ints | None:
    """The new cluster of every cluster after merging, down to `n_clusters`, the pair that adds least to the loss; None if none merge.

    `table` (components × clusters) says how much of every component each cluster has, and stands for one sample of
    :mod:`consilience.consensus.samples.expected_loss`.
    """
    square = loss == "binder"
    k, left = len(sizes), len(sizes)
    columns, sizes, owner = table.T.copy(), sizes.copy(), np.arange(len(sizes))
    alive, inside = np.ones(k, bool), term(columns, square).sum(axis=1)
    change = np.full((k, k), np.inf)
    for a in range(k):
        change[a, :a] = _merge_changes(columns, inside, sizes, a, np.arange(a), square)
    change = np.minimum(change, change.T)
    while left > max(n_clusters, 1):
        a, b = divmod(int(change.argmin()), k)
        columns[a] += columns[b]
        sizes[a] += sizes[b]
        inside[a] = term(columns[a], square).sum()
        owner[owner == b] = a
        alive[b], left = False, left - 1
        change[b], change[:, b] = np.inf, np.inf
        others = np.flatnonzero(alive & (np.arange(k) != a))
        change[a, others] = change[others, a] = _merge_changes(columns, inside, sizes, a, others, square)
    return None if left == k else owner


def _merge_changes(columns: Floats, inside: Floats, sizes: Floats, a: int, others: Ints, square: bool) -> Floats:
    """How merging cluster a with each of some others changes f₀ times the loss; `inside` is Σ f of every column."""
    gain = term(columns[a] + columns[others], square).sum(axis=1) - inside[a] - inside[others]
    whole = term(sizes[a] + sizes[others], square) - term(sizes[a], square) - term(sizes[others], square)
    return np.asarray(whole - 2 * gain)
