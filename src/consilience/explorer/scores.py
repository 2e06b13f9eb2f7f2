"""What is known of every clustering in numbers: one row of the explorer's scores each."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience.generation.plan import number_columns
from consilience.measures import compactness
from consilience.measures.pairwise import sample_objects
from consilience.meta import MetaClustering, score
from consilience.tables import Table

BETTER = dict.fromkeys(("compactness", "davies_bouldin"), "low")
BETTER |= dict.fromkeys(("silhouette", "variation_stability", "information", "guide"), "high")


def score_table(meta: MetaClustering, data: Table | None, known: dict[str, NDArray[np.int32]]) -> pd.DataFrame:
    """One column per score: compactness, accuracy with known labels, the user's own numbers, and what the tree knows.

    Compactness is taken from the run where it is there; otherwise it is measured on the standardized data.
    """
    ensemble, info = meta.ensemble, meta.ensemble.info
    table: dict[str, Any] = {}
    if "compactness" in info:
        table["compactness"] = info["compactness"].to_numpy(float)
    elif data is not None:
        rows, values, metric = measured(data)
        some = ensemble if len(rows) == ensemble.n_objects else ensemble[rows]
        table["compactness"] = np.asarray(compactness(values, some, metric=metric))
    if known:
        found = score(ensemble, known=known)
        table |= {name: found[name].to_numpy(float) for name in found if str(name).startswith("accuracy:")}
    ours = number_columns() | set(table)
    for name in info.columns:
        if str(name) not in ours and info[name].dtype.kind in "iuf" and info[name].notna().any():
            table[str(name)] = info[name].to_numpy(float, na_value=np.nan)
    table["clusters"] = ensemble.n_clusters.astype(float)
    table["mean difference"] = _mean_distances(meta)
    return pd.DataFrame(table)


def measured(data: Table) -> tuple[NDArray[np.int64], Any, str]:
    """The objects that compactness is taken of, their standardized data or distances, and the metric."""
    rows, distances = sample_objects(data.n_objects), data.kind == "distances"
    values = data.values[np.ix_(rows, rows)] if distances else data.scaling().apply(data.values)[rows]
    return rows, values, "precomputed" if distances else "euclidean"


def _mean_distances(meta: MetaClustering) -> NDArray[np.float64]:
    """Of every clustering, the mean distance to all others: how unusual it is."""
    m, end = meta.n_clusterings, 0
    sums = np.zeros(m)
    for i in range(m - 1):
        begin, end = end, end + m - 1 - i
        sums[i] += meta.distances[begin:end].sum()
        sums[i + 1 :] += meta.distances[begin:end]
    return sums / max(1, m - 1)


def score_summary(table: pd.DataFrame) -> list[dict[str, Any]]:
    finite = table.where(np.isfinite(table))
    return [
        {"name": name, "low": finite[name].min(), "high": finite[name].max()}
        | {"better": "high" if name.startswith("accuracy:") else BETTER.get(name)}
        for name in map(str, table)
    ]
