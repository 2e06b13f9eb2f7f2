"""Floaters (Bekkerman et al. 2009, section 5.3): objects that no majority of their clusterings puts where the consensus does."""

from typing import Any

import numpy as np
import pandas as pd

from consilience import _kernels
from consilience._check import InputError, check_labels, count, is_number
from consilience._types import Array, EnsembleLike, Ints
from consilience.consensus.rows.problem import Problem, label_tables
from consilience.consensus.trust.confidence import Assessment, cluster_shares
from consilience.inputs import as_ensemble

FLOATING = 0.5  # support up to which an object floats; the default of `floating` and `floaters`


def floating(labels: Array, support: Array, threshold: float = FLOATING) -> Ints:
    """The objects with a cluster and a support of at most the threshold, the weakest first: the one rule for floaters."""
    weak = np.flatnonzero((labels >= 0) & (support <= threshold + 1e-12))
    return weak[np.argsort(support[weak], kind="stable")]


def floaters(ensemble: EnsembleLike, consensus: Any, *, threshold: float = FLOATING) -> pd.DataFrame:
    """List the objects whose cluster has weak support, weakest first.

    The **support** of a cluster for an object is the share of the object's clusterings whose label for it is, by plurality,
    a label of that cluster. An object floats if the support of its own cluster is at most `threshold`.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from
    consensus : Consensus, Contrast, or (n_objects,) labels
        Objects without a label here, or in every clustering, are left out.
    threshold : float, default 0.5
        The default lists the objects that no majority of their clusterings puts where the consensus has them.

    Returns
    -------
    DataFrame
        `id` (or number), `cluster`, `support`, `second` (the best other cluster; −1 if no clustering speaks for one), `second_support`,
        `confidence` and `labeled` (clusterings that label the object). Clusters are numbered 0 … k − 1 in the order of their labels.

    Examples
    --------
    >>> from consilience.consensus import floaters
    >>> labels = [[0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 1, 1, 1]]
    >>> floaters(labels, [0, 0, 0, 1, 1]).drop(columns="confidence")
       id  cluster  support  second  second_support  labeled
    0   2        0      0.5       1             0.5        4
    """
    ens, done = as_ensemble(ensemble), consensus if hasattr(consensus, "support") else None
    codes = check_labels(consensus, "the consensus labels") if done is None else done.labels.astype(np.int32)
    if not is_number(threshold) or not 0 <= threshold <= 1:
        raise InputError(f"threshold must lie between 0 and 1; got {threshold!r}")
    if len(codes) != ens.n_objects:
        raise InputError(f"the consensus has {len(codes)} labels for {count(ens.n_objects, 'object')}")
    objects = np.flatnonzero((codes >= 0) & (ens.labels >= 0).any(axis=1))
    if not len(objects):
        raise InputError("no object has a consensus label and a label of a clustering")
    # Rows agree in all labels and in the consensus, which need not be a function of the row.
    first, inverse, counts = _kernels.signatures(np.column_stack([ens.labels[objects], codes[objects]]))
    rows, own, k = ens.labels[objects[first]], codes[objects[first]].astype(np.int64), int(codes[objects].max()) + 1
    rows = np.ascontiguousarray(rows[:, (rows >= 0).any(axis=0)])
    problem = Problem(rows, counts.astype(float), k, inverse)
    shares, everyone = cluster_shares(rows, label_tables(problem, own, k)), np.arange(problem.n_rows)
    if done is None:
        support = shares[everyone, own][problem.inverse]
        confidence = Assessment(problem, own).confidence[problem.inverse]
    else:
        support, confidence = done.support[objects], done.confidence[objects]
    at = floating(codes[objects], support, threshold)
    mine, others = codes[objects[at]].astype(np.int64), shares[problem.inverse[at]]
    others[np.arange(len(at)), mine] = -1
    second, other = others.argmax(axis=1), np.maximum(others.max(axis=1, initial=-1), 0)
    return pd.DataFrame(
        {
            "id": objects[at] if ens.ids is None else ens.ids[objects[at]],
            "cluster": mine,
            "support": support[at],
            "second": np.where(other > 0, second, -1),
            "second_support": other,
            "confidence": confidence[at],
            "labeled": (ens.labels[objects[at]] >= 0).sum(axis=1),
        }
    )
