"""Genes that drive the splits of the tree over numbers of clusters."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import rankdata

from consilience._check import InputError, check_choice, check_count
from consilience._kernels import contingency
from consilience._types import Floats, Ints
from consilience.anndata.combining import MADE_BY
from consilience.anndata.combining import consensus as read_back
from consilience.anndata.h5ad_values import HANDFUL, check_adata, safe_frame, written
from consilience.consensus import Consensus

SHORTLIST = 5  # safeguard: time; genes whose order is looked at, for every one that is shown
Split = tuple[int, int, int, int, dict[int, Ints]]  # level, numbers of clusters, cluster, and cells by child
COLUMNS = ("level", "from_k", "to_k", "cluster", "child", "gene", "auc", "log2_fold_change", "share_in", "share_out")


def split_genes(
    adata: Any, key: str = "consensus", *, n_genes: int = 5, layer: str | None = None, use_raw: bool | None = None
) -> pd.DataFrame:
    """The genes that tell the parts of every split apart: of each child of a cluster, those it has more of than its siblings.

    Parameters
    ----------
    adata : AnnData
        With a consensus that has scales.
    key : str, default "consensus"
    n_genes : int, default 5
        For each child.
    layer : str, optional
        Of the values, which should be logged (``sc.pp.log1p``).
    use_raw : bool, optional
        Take the values of ``adata.raw``; by default if there is one and no layer is named.

    Returns
    -------
    DataFrame
        Also in ``uns[key]["split_genes"]``: `level` (row of the tree that splits), `from_k`, `to_k`, `cluster` that splits, `child`,
        `gene`, `auc` (chance that a cell of the child has more of the gene than one of its siblings; ties count half), `log2_fold_change`
        of the means without the logarithm (NaN if values are negative), and the shares of cells that have the gene at all.

    Notes
    -----
    Welch's t over all genes shortlists five times as many as are shown, of which the AUC is computed. O(values) for each level. Parts
    of fewer than five cells are not compared; where nothing is left to compare, an error says why.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> rng = np.random.default_rng(0)
    >>> types = np.repeat(np.arange(6), 20)  # two kinds, of three types each, and a gene that marks each type
    >>> adata = anndata.AnnData(rng.poisson(0.5 + 4.0 * (types[:, None] == np.arange(8))).astype(float))
    >>> adata.var_names = [f"gene{i}" for i in range(8)]
    >>> for i in range(6):
    ...     adata.obs[f"leiden_{i}"] = (types // 3 if i % 2 else types).astype(str)
    >>> found = ca.combine(adata, "leiden_", n_clusters=6)
    >>> ca.split_genes(adata, n_genes=1)[["from_k", "to_k", "cluster", "child", "gene"]]
       from_k  to_k  cluster  child   gene
    0       2     6        0      0  gene0
    1       2     6        0      1  gene1
    2       2     6        0      2  gene2
    3       2     6        1      3  gene3
    4       2     6        1      4  gene4
    5       2     6        1      5  gene5
    """
    found = read_back(check_adata(adata), key)
    if found.scale_labels is None or found.scale_labels.shape[1] < 2:
        remedy = "combine with scales=True and more clusterings"
        raise InputError(f"{key!r} has one number of clusters only, so nothing splits: {remedy}")
    values, names = _values(adata, layer, use_raw)
    wanted = check_count("n_genes", n_genes)
    splits = splits_of(found)
    if not splits:
        numbers = ", ".join(str(column.max() + 1) for column in found.scale_labels.T)
        what = f"no cluster of {key!r} splits into two parts of {HANDFUL} cells or more"
        where = f"from one of its numbers of clusters ({numbers}) to the next"
        raise InputError(f"{what} {where}: combine with another n_clusters")
    rows = [row for split in splits for row in _of_split(values, names, split, wanted)]
    if not rows:
        remedy = "are these the values? Name a layer, or set use_raw"
        raise InputError(f"no gene has more in one part of a split than in another: {remedy}")
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    adata.uns[key] = {**written(adata, key, MADE_BY), "split_genes": safe_frame(table)}
    return table


def splits_of(found: Consensus) -> list[Split]:
    # A child belongs to the cluster that most of its cells come from; only these count.
    assert found.scale_labels is not None
    made = []
    for level in range(found.scale_labels.shape[1] - 1):
        upper, lower = found.scale_labels[:, level], found.scale_labels[:, level + 1]
        k, finer = int(upper.max()) + 1, int(lower.max()) + 1
        table = contingency(upper.astype(np.int32), lower.astype(np.int32), (k, finer))
        parent = table.argmax(axis=0)
        for cluster in range(k):
            some = [c for c in range(finer) if parent[c] == cluster and table[cluster, c] >= HANDFUL]
            if len(some) > 1:
                cells = {c: np.flatnonzero((upper == cluster) & (lower == c)) for c in some}
                made.append((level, k, finer, cluster, cells))
    return made


def _values(adata: Any, layer: str | None, use_raw: bool | None) -> tuple[Any, list[str]]:
    """Cells × genes, as CSR if sparse, and the genes' names."""
    if use_raw and (adata.raw is None or layer is not None):
        raise InputError("use_raw needs adata.raw, and no layer: leave it out")
    raw = adata.raw is not None and layer is None and use_raw is not False
    if layer is not None:
        check_choice(layer, list(map(str, adata.layers)), "layer")
    values = adata.raw.X if raw else adata.X if layer is None else adata.layers[layer]
    if values is None:
        raise InputError("the AnnData has no X: name a layer")
    names = (adata.raw if raw else adata).var_names
    return (values.tocsr() if sparse.issparse(values) else np.asarray(values)), [str(name) for name in names]


def _of_split(values: Any, names: list[str], split: Split, n_genes: int) -> list[tuple[Any, ...]]:
    """Rows of the table for all children of one cluster."""
    level, k, finer, cluster, cells = split
    sums = {c: _sums(values[some]) for c, some in cells.items()}
    rows = []
    for child, inside in cells.items():
        others = [c for c in cells if c != child]
        outside = np.concatenate([cells[c] for c in others])
        own, rest = sums[child], tuple(np.sum([sums[c][i] for c in others], axis=0) for i in range(3))
        score = _welch(own, len(inside), rest, len(outside))
        short = np.argsort(-score, kind="stable")[: n_genes * SHORTLIST]
        short = short[score[short] > 0]
        a, b = _dense(values[inside][:, short]), _dense(values[outside][:, short])
        auc = _auc(a, b)
        for at in np.lexsort((-score[short], -auc))[:n_genes]:
            gene, x, y = short[at], a[:, at], b[:, at]
            fold = np.nan
            if min(x.min(), y.min()) >= 0:
                fold = float(np.log2((np.expm1(x.mean()) + 1e-9) / (np.expm1(y.mean()) + 1e-9)))
            shares = float((x > 0).mean()), float((y > 0).mean())
            rows.append((level, k, finer, cluster, child, names[gene], float(auc[at]), fold, *shares))
    return rows


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if sparse.issparse(values) else values, float)


def _sums(values: Any) -> tuple[Floats, Floats, Floats]:
    """Sums, sums of squares, and numbers of values above 0, of every gene."""
    squares = values.multiply(values) if sparse.issparse(values) else np.square(values)
    total, square, above = (np.asarray(part.sum(axis=0), float).ravel() for part in (values, squares, values > 0))
    return total, square, above


def _welch(own: tuple[Floats, ...], n: int, rest: tuple[Floats, ...], m: int) -> Floats:
    """Welch's t of every gene; 0 where nothing varies."""
    means = own[0] / n, rest[0] / m
    spread = np.maximum(own[1] / n - means[0] ** 2, 0) / n + np.maximum(rest[1] / m - means[1] ** 2, 0) / m
    difference = means[0] - means[1]
    # A gene that is constant on both sides, but at two levels, tells them apart best of all.
    least = 1e-12 * (1 + np.abs(difference))
    return np.where(np.abs(difference) > least, difference / np.sqrt(np.maximum(spread, least)), 0.0)


def _auc(a: Floats, b: Floats) -> Floats:
    """Chance that a value of `a` exceeds one of `b`, column by column; ties count half."""
    n, m = len(a), len(b)
    if not a.shape[1]:
        return np.zeros(0)
    ranks = rankdata(np.vstack([a, b]), axis=0)[:n].sum(axis=0)
    return (ranks - n * (n + 1) / 2) / (n * m)
