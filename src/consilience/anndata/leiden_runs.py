"""Leiden clusterings of cells over resolutions, on the graph or the representation that an AnnData has."""

import json
import time
from typing import Any

import numpy as np

from consilience import generation
from consilience._check import InputError, check_choice, check_count
from consilience.anndata.h5ad_values import check_adata, check_key, safe_frame, small_codes
from consilience.ensemble import Ensemble
from consilience.ensemble.from_sources import MADE_BY, stored_ensemble
from consilience.generation.default_methods import usual_clusters
from consilience.generation.methods.graph import own_graph

DRAWS = 64  # safeguard: time; numbers of clusters that stand for a range, evenly in logarithms
LEFT_OUT = ("weights", "settings", "inertia", "steps", "compactness")  # empty here, or the same for all


def generate(
    adata: Any,
    n_clusterings: int = 50,
    *,
    resolutions: Any = None,
    n_clusters: Any = None,
    n_neighbors: Any = None,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    key_added: str = "clusterings",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> None:
    """Cluster the cells many times: Leiden at many resolutions.

    Parameters
    ----------
    adata : AnnData
        With a graph (``sc.pp.neighbors``) or principal components (``sc.pp.pca``).
    n_clusterings : int, default 50
    resolutions : float, (low, high) or list, optional
        To draw from. By default resolutions at which 2 … √cells clusters come out, 60 at most, evenly in logarithms.
    n_clusters : int, (low, high) or list, optional
        In place of resolutions: the numbers of clusters that are aimed at.
    n_neighbors : int or list of int, optional
        Find neighbors anew in `use_rep`, each clustering with one of these numbers of them.
    use_rep : str, optional
        The entry of `obsm` to find neighbors in, or "X"; "X_pca" where only `n_neighbors` is given. Without both the graph
        that ``sc.pp.neighbors`` made is used; where there is none, "X_pca" with 10, 15, 20 and 30 neighbors.
    neighbors_key : str, optional
        Of that graph, as in scanpy.
    key_added : str, default "clusterings"
    random_state, n_jobs, progress
        As in :func:`consilience.generate`.

    Returns
    -------
    None; writes
        ``obsm[key_added]``, (cells, clusterings) labels, −1 without one; and ``uns[key_added]``: `info`, one row for each
        clustering, and the settings. :func:`ensemble` reads them back.

    Notes
    -----
    About O(edges) for each clustering: 15 ms for 2,000 cells. Clustering i depends on `random_state` and i alone. The clusterings
    spread evenly over the numbers of clusters, or resolutions, so that another seed gives as many fine ones. None has a single cluster:
    a resolution at which there would be one is raised to the lowest with two.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> adata = anndata.AnnData(np.repeat(8 * np.eye(3, 8), 40, axis=0) + np.random.default_rng(0).normal(size=(120, 8)))
    >>> ca.generate(adata, 20, use_rep="X")
    >>> adata.obsm["clusterings"].shape
    (120, 20)
    """
    check_key(check_adata(adata), key_added, MADE_BY)
    if resolutions is not None and n_clusters is not None:
        raise InputError("resolutions and n_clusters say the same thing: give one of them")
    matrix, source, metric = _given(adata, n_neighbors, use_rep, neighbors_key)
    options: dict[str, Any] = {} if resolutions is None else {"resolutions": resolutions}
    if n_neighbors is not None:
        options["graph_neighbors"] = n_neighbors
    if n_clusters is None:  # from 2 to √n, 60 at most, as often as makes them even in logarithms
        n_clusters = [round(k) for k in np.geomspace(2, usual_clusters(adata.n_obs)[1], DRAWS)]
    options |= {"random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    number = check_count("n_clusterings", n_clusterings)
    ens = generation.generate(matrix, number, n_clusters, "graph", metric=metric, standardize=False, **options)
    empty = ("note",) if ens.info["note"].isna().all() else ()
    info = ens.info.drop(columns=[name for name in (*LEFT_OUT, *empty) if name in ens.info])
    info.insert(0, "name", [f"{key_added}_{i}" for i in range(len(info))])
    info["found"] = ens.n_clusters
    adata.obsm[key_added] = small_codes(ens.labels)
    adata.uns[key_added] = {
        "made_by": MADE_BY,
        "written": f"{time.time():.6f}",
        "source": source,
        "settings": str(ens.info["settings"].iloc[0]),
        "random_state": json.dumps(random_state, default=str),
        "info": safe_frame(info),
    }


def ensemble(adata: Any, key: str = "clusterings") -> Ensemble:
    """The clusterings that :func:`generate` wrote to an AnnData, with what made them, for any verb of the package.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> adata = anndata.AnnData(np.random.default_rng(0).normal(size=(60, 5)))
    >>> ca.generate(adata, 5, use_rep="X", n_clusters=3)
    >>> ca.ensemble(adata).names
    ['clusterings_0', 'clusterings_1', 'clusterings_2', 'clusterings_3', 'clusterings_4']
    """
    return stored_ensemble(check_adata(adata), key)


def _given(adata: Any, n_neighbors: Any, use_rep: str | None, neighbors_key: str | None) -> tuple[Any, str, str]:
    """What is clustered, what it is called, and its metric."""
    graph = own_graph(adata, neighbors_key)
    if use_rep is None and n_neighbors is None and graph is not None:
        return adata.obsp[graph], f"obsp {graph}", "graph"
    if neighbors_key is not None:
        what = f"the AnnData has no graph {neighbors_key!r}, or n_neighbors or use_rep ask for a new one"
        raise InputError(f"{what}: leave out one of them")
    held = ["X", *map(str, adata.obsm)]
    if use_rep is None and "X_pca" not in held:
        remedy = "call sc.pp.pca or sc.pp.neighbors first, or name use_rep"
        raise InputError(f"the AnnData has no graph of neighbors and no X_pca: {remedy}")
    name = check_choice(use_rep or "X_pca", held, "use_rep")
    values = adata.X if name == "X" else adata.obsm[name]
    if values is None:
        raise InputError("the AnnData has no X: name an entry of obsm with use_rep")
    values = values.to_numpy() if hasattr(values, "to_numpy") else values
    return values, "X" if name == "X" else f"obsm {name}", "euclidean"
