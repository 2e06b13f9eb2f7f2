"""Stable components and floaters (paper 000, sections 4.2 and 5.3), and the arithmetic of rows that methods share.

A **stable component** is the set of all objects with the same row of labels: every clustering keeps them together.
A **floater** is an object that wanders: its clusterings spread it over several clusters of the consensus.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience import _kernels
from consilience._check import InputError, check_count, check_labels, is_number
from consilience._types import Floats, Labels
from consilience.consensus.confidence import cluster_posterior
from consilience.consensus.distinct_rows import Problem
from consilience.consensus.rows import label_tables, row_scores
from consilience.ensemble import Ensemble

SHOWN = 5  # objects named for each component


def stable_components(ensemble: Any, *, top: int | None = None) -> pd.DataFrame:
    """List the groups of objects that no clustering separates, largest first.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from
    top : int, optional
        Only so many of the largest.

    Returns
    -------
    DataFrame
        One row per component: `size`, `share` of all objects, `objects` (ids, or numbers, of its first five) and
        `labels` (its label in every clustering, −1 missing). Equally large ones stand in the order of their first object.
        Objects that miss the same labels and agree in the others form a component too.

    Examples
    --------
    >>> from consilience.consensus import stable_components
    >>> stable_components([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])
       size  share objects  labels
    0     2    0.4  [0, 1]  (0, 0)
    1     2    0.4  [3, 4]  (1, 1)
    2     1    0.2     [2]  (0, 1)
    """
    ens = ensemble if isinstance(ensemble, Ensemble) else Ensemble(ensemble)
    if top is not None:
        check_count("top", top)
    signatures = ens.signatures()
    order = np.argsort(-signatures.counts, kind="stable")[:top]
    members = np.argsort(signatures.inverse, kind="stable")
    begin = np.cumsum(signatures.counts) - signatures.counts
    names = members if ens.ids is None else ens.ids[members]
    sizes = signatures.counts[order]
    return pd.DataFrame(
        {
            "size": sizes,
            "share": sizes / ens.n_objects,
            "objects": [names[begin[i] : begin[i] + min(SHOWN, signatures.counts[i])].tolist() for i in order],
            "labels": [tuple(row) for row in signatures.labels[order].tolist()],
        }
    )


def floaters(ensemble: Any, labels: Any, *, threshold: float = 0.5) -> pd.DataFrame:
    """List the objects whose cluster has weak support, weakest first.

    The **share** of a cluster for an object is the share of the object's clusterings whose label for it is, by plurality,
    a label of that cluster. An object floats if the share of its own cluster is at most `threshold`.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from
    labels : (n_objects,) labels
        The consensus; objects without a label here, or in every clustering, are left out.
    threshold : float, default 0.5
        The default lists the objects that no majority of their clusterings puts where the consensus has them.

    Returns
    -------
    DataFrame
        `object` (id, or number), `cluster`, `share`, `second` (the best other cluster; −1 if no clustering speaks for
        one), `second_share`, `probability` (of the own cluster, as in `confidence_`) and `known` (clusterings that
        label the object). Clusters are numbered 0 … k − 1 in the order of their labels.

    Examples
    --------
    >>> from consilience.consensus import floaters
    >>> labels = [[0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 1, 1, 1]]
    >>> floaters(labels, [0, 0, 0, 1, 1]).drop(columns="probability")
       object  cluster  share  second  second_share  known
    0       2        0    0.5       1           0.5      4
    """
    ens = ensemble if isinstance(ensemble, Ensemble) else Ensemble(ensemble)
    codes = check_labels(labels, "the consensus labels")
    if not is_number(threshold) or not 0 <= threshold <= 1:
        raise InputError(f"threshold must lie between 0 and 1; got {threshold!r}")
    if len(codes) != ens.n_objects:
        raise InputError(f"the consensus has {len(codes)} labels for {ens.n_objects} objects")
    objects = np.flatnonzero((codes >= 0) & (ens.labels >= 0).any(axis=1))
    if not len(objects):
        raise InputError("no object has a consensus label and a label of a clustering")
    problem, own = with_consensus(ens.labels[objects], codes[objects])
    table = _support(problem, own)
    row = np.flatnonzero(table["share"] <= threshold + 1e-12)
    at = np.flatnonzero(np.isin(problem.inverse, row))
    found = table.iloc[problem.inverse[at]].reset_index(drop=True)
    named = objects[at] if ens.ids is None else ens.ids[objects[at]]
    found.insert(0, "object", named)
    return found.sort_values(["share", "probability"], kind="stable", ignore_index=True)


def with_consensus(labels: Labels, consensus: Labels) -> tuple[Problem, NDArray[np.int64]]:
    """Rows that agree in all labels and in the consensus, which need not be a function of the row."""
    first, inverse, counts = _kernels.signatures(np.column_stack([labels, consensus]))
    rows = labels[first]
    known = (rows >= 0).any(axis=0)
    problem = Problem(np.ascontiguousarray(rows[:, known]), counts.astype(float), int(consensus.max()) + 1, inverse)
    return problem, consensus[first].astype(np.int64)


def cluster_shares(problem: Problem, own: NDArray[np.int64]) -> Floats:
    """(n_rows, k): the share of the row's clusterings whose label for it is, by plurality, a label of each cluster."""
    owners = [_one_hot(table.argmax(axis=0), len(table)) for table in label_tables(problem, own, problem.n_clusters)]
    return np.asarray(row_scores(problem, owners) / (problem.labels >= 0).sum(axis=1)[:, None])


def _support(problem: Problem, own: NDArray[np.int64]) -> pd.DataFrame:
    everyone = np.arange(problem.n_rows)
    known = (problem.labels >= 0).sum(axis=1)
    shares = cluster_shares(problem, own)
    mine = shares[everyone, own]
    shares[everyone, own] = -1
    second = shares.argmax(axis=1)
    other = np.maximum(shares[everyone, second], 0)
    return pd.DataFrame(
        {
            "cluster": own,
            "share": mine,
            "second": np.where(other > 0, second, -1),
            "second_share": other,
            "probability": cluster_posterior(problem, own)[everyone, own],
            "known": known,
        }
    )


def _one_hot(owner: NDArray[Any], k: int) -> Floats:
    return np.asarray(owner[None, :] == np.arange(k)[:, None], float)
