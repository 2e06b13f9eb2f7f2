"""One clustering of cells from many, written to an AnnData and read back."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd

from consilience import consensus as verbs
from consilience._check import InputError, check_choice, listed
from consilience._types import Ints
from consilience.anndata.h5ad_values import check_adata, check_key, safe_frame, small_codes, without_crumbs, written
from consilience.consensus import Consensus
from consilience.consensus.how_many.stability import NEAR
from consilience.ensemble import Ensemble
from consilience.ensemble.from_sources import stored_ensemble, stored_keys
from consilience.measures import MEASURES, element_consistency, pairwise
from consilience.reports.tree_over_k import tree_over_k_edges
from consilience.tables.in_memory import answers_in

MADE_BY = "consilience.anndata.combine"
USUAL = ("leiden", "louvain")  # what scanpy calls its clusterings
ASIDE = ("labels", "ids", "estimator")


def combine(
    adata: Any,
    keys: str | Sequence[str] | None = None,
    *,
    n_clusters: int | str | None = None,
    method: str = "auto",
    scales: bool = True,
    key_added: str = "consensus",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Consensus:
    """Combine clusterings of the cells into one, with a confidence for every cell.

    Parameters
    ----------
    adata : AnnData
    keys : str or list of str, optional
        The clusterings: what :func:`generate` wrote under this key; or columns of `obs`, by their names, a prefix ("leiden_") or a
        pattern ("leiden_res*"). By default what :func:`generate` wrote last, and else all columns of `obs` whose names begin
        with leiden or louvain. What this function and :func:`compare` wrote is taken only where a list names it.
    n_clusters : int, "auto" or None
        None is the median of the clusterings' numbers, rounded up; "auto" the finest on which halves of them
        agree.
    method : str
        As in :func:`consilience.combine`.
    scales : bool, default True
        Find the numbers of clusters at which the clusterings agree, and the answers there, whatever `n_clusters`: the tree and the curve
        of stability are made of them. Without, a consensus of 100,000 cells is a matter of seconds.
    key_added : str, default "consensus"
    random_state, n_jobs, progress
        As in :func:`consilience.combine`.
    **options
        Of the method.

    Returns
    -------
    Consensus
        As :func:`consilience.combine` returns it; :func:`consensus` reads it back. Written are

        - ``obs[key_added]``: the clusters "0", "1", …, the largest first; ``obs[key_added + "_confidence"]``: how likely an independent
          ensemble of the same kind is to put the cell there; ``obs[key_added + "_support"]``: share of the clusterings that agree;
        - ``obsm[key_added + "_membership"]``, the answers at all scales and at `n_clusters`, ``obsm[key_added + "_scale_labels"]``, and
          their confidence;
        - ``uns[key_added]``: `clusters` and `members` (how far to trust each of them), `families` (that of every clustering, −1 for none),
          `scales`, `curve`, and `tree`, what flows between clusters of neighboring numbers of clusters; all in forms that an h5ad
          file keeps. Clusters of fewer than five cells do not decide what is `real` of the scales.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> adata = anndata.AnnData(np.repeat(8 * np.eye(3, 8), 40, axis=0) + np.random.default_rng(0).normal(size=(120, 8)))
    >>> ca.generate(adata, 20, use_rep="X")
    >>> ca.combine(adata, n_clusters="auto").n_clusters
    3
    >>> adata.obs["consensus"].value_counts().to_dict()
    {'0': 40, '1': 40, '2': 40}
    """
    check_key(check_adata(adata), key_added, MADE_BY)
    ens, names = chosen(adata, keys)
    how: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs, "progress": progress, **options}
    stable = without_crumbs(verbs.combine(ens, "auto", method, **how)) if scales or n_clusters == "auto" else None
    wanted, said = _number(ens, n_clusters, method, stable)
    if stable is not None and wanted in (None, "auto", stable.n_clusters):
        found = stable
    else:
        found = verbs.combine(ens, wanted, method, **how)
        found = found if stable is None else _with_scales(found, stable)
    found = replace(found, note="; ".join(filter(None, [found.note, said])))
    _write(adata, key_added, found, names)
    return found


def _number(ens: Ensemble, given: int | str | None, method: str, stable: Consensus | None) -> tuple[Any, str]:
    """How many clusters, and what is to be said of it: those given, the median or the first of the scales; None if all cells are alike."""
    rows = int(np.count_nonzero((ens.signatures().labels >= 0).any(axis=1)))
    if given is None and method != "nbce" and rows > 1:  # nbce has a number of its own
        # rounded up: two clusters are merged more easily than one is split
        middle = min(max(2, int(np.ceil(np.median(ens.n_clusters)))), rows)
        return middle, f'{middle} is the median of the clusterings\' numbers of clusters; "auto" looks for one'
    if given == "auto" and stable is not None and stable.scales is not None:
        first, best = int(stable.scales["n_clusters"].iloc[0]), stable.n_clusters
        why = f"since {best}, on which halves of the clusterings agree best, differ from fewer by crumbs alone"
        return first, "" if first == best else f"{first}, {why}"
    return given, ""


def consensus(adata: Any, key: str = "consensus") -> Consensus:
    """The consensus that :func:`combine` wrote to an AnnData, as it was, but for the fitted estimator.

    Of an AnnData whose cells have been selected since, labels and confidence are those of its cells; the tables still tell of all
    of them, and a warning says so. Clusters that were renamed (``adata.rename_categories``) are known by their order.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> adata = anndata.AnnData(np.repeat(8 * np.eye(3, 8), 40, axis=0) + np.random.default_rng(0).normal(size=(120, 8)))
    >>> ca.generate(adata, 20, use_rep="X")
    >>> found = ca.combine(adata, n_clusters=3)
    >>> ca.consensus(adata).n_clusters
    3
    """
    held: dict[str, Any] = dict(written(check_adata(adata), key, MADE_BY))
    values: dict[str, Any] = {}
    if (made_of := int(held.get("n_cells", adata.n_obs))) != adata.n_obs:
        what = f"the AnnData has {adata.n_obs:,} cells, and {key!r} was made of {made_of:,}"
        tables = "its tables (clusters, members, scales, tree) tell of all of these"
        warnings.warn(f"{what}: {tables}; consilience.anndata.combine makes them anew", stacklevel=2)
    for field in fields(Consensus):
        if field.name == "families" and field.name in held:
            family = np.asarray(held["families"])
            values["families"] = [np.flatnonzero(family == number) for number in range(family.max(initial=-1) + 1)]
        elif field.name in held:
            values[field.name] = _plain(held[field.name])
        elif f"{key}_{field.name}" in adata.obs:
            values[field.name] = adata.obs[f"{key}_{field.name}"].to_numpy(float)
        elif f"{key}_{field.name}" in adata.obsm:
            cells = np.asarray(adata.obsm[f"{key}_{field.name}"])
            values[field.name] = cells.astype(np.int64 if cells.dtype.kind in "iu" else float)
    if key not in adata.obs:
        raise InputError(f"obs has no column {key!r}, which consilience.anndata.combine wrote: it has been removed")
    values["labels"] = _cluster_numbers(adata.obs[key], key, int(values["n_clusters"]))
    return Consensus(**values, ids=np.asarray(adata.obs_names, object))


def _cluster_numbers(column: pd.Series, key: str, n_clusters: int) -> Ints:
    """The clusters of a column by their names, which are numbers, or by the order of their names."""
    codes = pd.Categorical(column)
    names = [str(name) for name in codes.categories]
    own = {str(c) for c in range(n_clusters)}
    if not own.issuperset(names) and len(names) != n_clusters:
        others = f"{len(names)} clusters of other names than the {n_clusters} that consilience.anndata.combine wrote"
        raise InputError(f"obs column {key!r} has {others}: rename them without merging any, or combine again")
    numbers = np.array([int(name) for name in names] if own.issuperset(names) else range(n_clusters), np.int64)
    return np.where(codes.codes < 0, -1, numbers[codes.codes] if len(numbers) else -1)


def _with_scales(found: Consensus, other: Consensus) -> Consensus:
    """An answer with the scales of another one of the same clusterings; it becomes one of them."""
    if other.scales is None or other.curve is None or other.scale_labels is None or other.scale_confidence is None:
        return found
    k, table, labels, sure = found.n_clusters, other.scales, other.scale_labels, other.scale_confidence
    tried = other.curve[other.curve["n_clusters"] == k]
    if len(tried) and k not in set(table["n_clusters"]):
        row = tried.assign(real=tried["stability"] >= 1 - NEAR, confidence=found.mean_confidence)
        table = pd.concat([table, row[list(table.columns)]], ignore_index=True)
        at = int((table["n_clusters"] < k).sum())
        labels, sure = np.insert(labels, at, found.labels, axis=1), np.insert(sure, at, found.confidence, axis=1)
    return replace(found, curve=other.curve, scales=table, scale_labels=labels, scale_confidence=sure)


def chosen(adata: Any, keys: str | Sequence[str] | None) -> tuple[Ensemble, list[str]]:
    """The clusterings that keys name, and what they are called."""
    made = answers_in(adata)
    columns = [name for name in map(str, adata.obs.columns) if name not in made]
    if keys is None:
        keys = next(iter(stored_keys(adata)), [name for name in columns if name.startswith(USUAL)])
        if not keys:
            remedy = "call consilience.anndata.generate, or name columns of obs with keys"
            raise InputError(f"the AnnData has no clusterings: {remedy}")
    if isinstance(keys, str):
        if keys in stored_keys(adata):
            ens = stored_ensemble(adata, keys)
            return ens, list(ens.names)
        own = [name for name in columns if fnmatchcase(name, keys) or name.startswith(keys)]
        found = [keys] if keys in own and not any(c in keys for c in "*?[") and len(own) == 1 else own
    else:
        found = [str(name) for name in keys]
    if missing := [name for name in found if name not in adata.obs]:
        raise InputError(f"obs has no column {missing[0]!r}: it has {listed(list(map(str, adata.obs.columns)))}")
    if len(found) < 2:
        said = f"only {found[0]!r}" if found else "none"
        raise InputError(f"keys={keys!r} names {said} of the columns of obs, and a consensus needs several clusterings")
    return Ensemble(adata.obs[found]), found


def _write(adata: Any, key: str, found: Consensus, names: Sequence[str]) -> None:
    """Every field where it belongs: of cells in `obs` and `obsm`, else in `uns`."""
    n = len(found.labels)
    for old in [name for name in adata.obsm if name.startswith(f"{key}_")]:
        if old[len(key) + 1 :] in {field.name for field in fields(Consensus)}:
            del adata.obsm[old]  # of an earlier answer, which may have had scales
    adata.obs[key] = pd.Categorical.from_codes(found.labels, [str(c) for c in range(found.n_clusters)])
    held: dict[str, Any] = {"made_by": MADE_BY, "written": f"{time.time():.6f}", "n_cells": n}
    held["keys"] = np.array(names, object)
    for field in fields(Consensus):
        value = None if field.name in ASIDE else getattr(found, field.name)
        if value is None:
            continue
        if field.name == "families":
            held["families"] = np.full(len(names), -1, np.int64)  # the family of every clustering, which a file keeps
            for family, members in enumerate(value):
                held["families"][members] = family
        elif isinstance(value, pd.DataFrame):
            held[field.name] = safe_frame(value)
        elif isinstance(value, np.ndarray) and value.shape[:1] == (n,):
            if value.ndim == 1:
                adata.obs[f"{key}_{field.name}"] = value
            else:
                adata.obsm[f"{key}_{field.name}"] = small_codes(value) if value.dtype.kind in "iu" else value
        elif not isinstance(value, list):
            held[field.name] = value
        elif value:  # of text
            held[field.name] = np.array(value, object)
    if found.scale_labels is not None and found.scale_labels.shape[1] > 1:
        held["tree"] = safe_frame(tree_over_k_edges(found))
    adata.uns[key] = held


def _plain(value: Any) -> Any:
    """Numbers and text as they were before a file kept them."""
    if isinstance(value, pd.DataFrame):
        frame = value.reset_index(drop=True)
        return frame.astype(dict.fromkeys(frame.select_dtypes("category"), object))
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


# How alike clusterings of cells are, and how steady each cell is in them.

COMPARED_BY = "consilience.anndata.compare"
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
    check_key(check_adata(adata), key_added, COMPARED_BY)
    ens, names = chosen(adata, keys)
    if ens.n_clusterings < 2:
        raise InputError("there is only one clustering: nothing to compare it with")
    order = np.argsort(ens.n_clusters, kind="stable")
    ens, names = ens[:, order], [names[i] for i in order]
    values = pd.DataFrame(pairwise(ens, name, n_jobs=n_jobs, progress=progress), index=names, columns=names)
    adata.obs[f"{key_added}_consistency"] = element_consistency(ens, n_jobs=n_jobs, progress=progress)
    held = {"values": safe_frame(values).set_axis(names), "n_clusters": np.asarray(ens.n_clusters)}
    adata.uns[key_added] = {"made_by": COMPARED_BY, "measure": name, **held}
    return values
