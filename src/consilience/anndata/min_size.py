"""Clusters of a handful of cells: they are reported, but do not decide that a number of clusters, or a split, is real.

Adjusted Rand indices hardly see them: six clusters, of which one has three cells, are as stable as the five that are left without it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from consilience._types import Ints
from consilience.consensus import Consensus

HANDFUL = 5  # cells of a cluster, at least, that counts


def without_crumbs(found: Consensus) -> Consensus:
    """The answer with `real` of its scales and splits judged by clusters of at least five cells.

    A scale is real if it was, and has more of them than every coarser scale; a split if two of its parts are such. Scales that are
    real still come before others, and those that differ from coarser ones by crumbs alone last.
    """
    if found.scales is None or found.scale_labels is None:
        return found
    numbers, most, solid = sorted(found.scales["n_clusters"]), 1, {}
    columns = dict(zip(numbers, found.scale_labels.T, strict=True))
    for k in numbers:
        counted = int(np.count_nonzero(sizes_of(columns[k]) >= HANDFUL))
        solid[k], most = counted > most, max(most, counted)
    kept = found.scales["n_clusters"].map(solid).to_numpy(bool)
    table = found.scales.assign(real=found.scales["real"].to_numpy(bool) & kept)
    table = table.iloc[np.lexsort((~kept, ~table["real"].to_numpy(bool)))].reset_index(drop=True)
    splits = found.splits
    if splits is not None and len(splits):
        parts = [
            sizes_of(columns[row.to_k][columns[row.from_k] == row.cluster])[np.array(str(row.into).split(", "), int)]
            for row in splits.itertuples()
        ]
        solid_parts = np.array([np.count_nonzero(part >= HANDFUL) for part in parts])
        splits = splits.assign(real=splits["real"].to_numpy(bool) & (solid_parts > 1))
    return replace(found, scales=table, splits=splits)


def sizes_of(labels: Ints) -> Ints:
    """Cells of every cluster; those without one do not count."""
    return np.bincount(labels[labels >= 0])
