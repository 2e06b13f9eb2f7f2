"""How alike clusterings of cells are, and how steady each cell is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice
from consilience.anndata.combining import chosen
from consilience.anndata.frames import check_adata, check_key, safe_frame
from consilience.measures import MEASURES, element_consistency, pairwise

MADE_BY = "consilience.anndata.compare"
SHORT = {"ami": "adjusted_mutual_information", "ecs": "element_centric", "ari": "adjusted_rand"}


def compare(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    measure: str = "ami",
    key_added: str = "comparison",
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Compare every two clusterings of the cells, resolutions for example, by rising number of clusters.

    Parameters
    ----------
    adata : AnnData
    keys : str or list of str, optional
        As in :func:`combine`.
    measure : {"ami", "ecs", "ari"} or a name in :data:`consilience.measures.MEASURES`
        Adjusted mutual information, element-centric similarity (which ClustAssess reports), adjusted Rand index.
    key_added : str, default "comparison"
    n_jobs : int, optional
    progress : bool, optional

    Returns
    -------
    (clusterings, clusterings) DataFrame
        Also in ``uns[key_added]["values"]``; ``obs[key_added + "_consistency"]`` has the element-centric consistency of each cell: 1 if its
        cluster has the same cells in every clustering.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> adata = anndata.AnnData(np.zeros((6, 1)))
    >>> adata.obs["leiden_0.5"], adata.obs["leiden_1"] = list("aaabbb"), list("aabccc")
    >>> ca.compare(adata, "leiden_", measure="ecs").round(3)
                leiden_0.5  leiden_1
    leiden_0.5       1.000     0.778
    leiden_1         0.778     1.000
    >>> adata.obs["comparison_consistency"].round(2).tolist()
    [0.67, 0.67, 0.33, 1.0, 1.0, 1.0]
    """
    name = check_choice(SHORT.get(measure, measure), MEASURES, "measure")
    check_key(check_adata(adata), key_added, MADE_BY)
    ens, names = chosen(adata, keys)
    if ens.n_clusterings < 2:
        raise InputError("there is only one clustering: nothing to compare it with")
    order = np.argsort(ens.n_clusters, kind="stable")
    ens, names = ens[:, order], [names[i] for i in order]
    values = pd.DataFrame(pairwise(ens, name, n_jobs=n_jobs, progress=progress), index=names, columns=names)
    adata.obs[f"{key_added}_consistency"] = element_consistency(ens, n_jobs=n_jobs, progress=progress)
    adata.uns[key_added] = {
        "made_by": MADE_BY,
        "measure": name,
        "values": safe_frame(values).set_axis(names),
        "n_clusters": np.asarray(ens.n_clusters),
    }
    return values
