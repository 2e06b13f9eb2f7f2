"""Is a split real? What every scale splits of the next coarser one, beside the splits of clouds without clusters.

A split is real if, within the cluster, the halves agree on its parts more than the halves of clouds do within theirs, corrected for the
number of splits that are looked at.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.stats import t

from consilience._types import Floats, Ints
from consilience.consensus.how_many.curve import Scales
from consilience.consensus.how_many.significance import NEARLY, Halves, z_of

PART = 0.05  # of a cluster that must leave it to be a split
CHANCE = 0.05  # that any split of a table is called real where there are no clusters


def find_splits(scales: Scales, labels: dict[int, Ints], objects: Floats) -> pd.DataFrame:
    """What every scale splits of the next coarser one, given the answers for the rows at every scale, and the objects of every row.

    Columns: `from_k`, `to_k`, `cluster`, `into`, `size`, `stability`, `null_high`, `real`.
    """
    weights, at = scales.halves.weights, {int(k): i for i, k in enumerate(scales.halves.numbers)}
    found = []
    for coarse, fine in pairwise(sorted(labels)):
        one, two = labels[coarse][scales.rows], labels[fine][scales.rows]
        table = np.zeros((coarse, fine))
        np.add.at(table, (one, two), weights)
        for cluster in range(coarse):
            parts = np.flatnonzero((table[cluster] >= PART * table[cluster].sum()) & (table.argmax(axis=0) == cluster))
            if len(parts) < 2:
                continue
            stability = float(np.mean(scales.halves.within(at[fine], (one == cluster) & np.isin(two, parts))))
            size = round(objects[labels[coarse] == cluster].sum())
            found.append((coarse, fine, cluster, ", ".join(map(str, parts)), size, stability))
    splits = pd.DataFrame(found, columns=["from_k", "to_k", "cluster", "into", "size", "stability"])
    high = {
        pair: _null_within(scales.null, *pair, len(found))
        for pair in zip(splits["from_k"], splits["to_k"], strict=True)
    }
    splits["null_high"] = [high[pair] for pair in zip(splits["from_k"], splits["to_k"], strict=True)]
    splits["real"] = splits["stability"].clip(upper=NEARLY) > splits["null_high"]
    return splits


def _null_within(null: list[Halves], coarse: int, fine: int, n_splits: int) -> float:
    """What the halves of clouds hardly ever reach inside a cluster of the coarser scale: once in twenty tables of as many splits."""
    values = []
    for cloud in null:
        at = {int(k): i for i, k in enumerate(cloud.numbers)}
        if fine not in at:
            continue
        one, two = cloud.labels[0, 0, at[coarse]], cloud.labels[0, 0, at[fine]]
        for cluster in range(coarse):
            inside = one == cluster
            if len(np.unique(two[inside])) > 1 and inside.sum() >= 4:
                values.append(cloud.within(at[fine], inside).mean())
    if len(values) < 2:
        return 1.0
    z = z_of(np.array(values))
    return float(np.tanh(z.mean() + t.ppf(1 - CHANCE / n_splits, len(z) - 1) * z.std(ddof=1)))
