"""Pictures of what was written to an AnnData, each on a Matplotlib axis: a new one, or one that is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_choice, check_count
from consilience.anndata.combining import MADE_BY, chosen
from consilience.anndata.combining import consensus as read_back
from consilience.anndata.frames import check_adata, written
from consilience.reports.figures import score_colors
from consilience.reports.scales import scales_figure
from consilience.reports.tree_over_k import tree_over_k

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASES = ("X_umap", "X_tsne", "X_draw_graph_fa", "X_pca")


def plot_tree(
    adata: Any,
    key: str = "consensus",
    *,
    keys: str | Sequence[str] | None = None,
    color: str | None = None,
    genes: int = 2,
    ax: Axes | None = None,
) -> Axes:
    """How clusters split from one number of clusters to the next: a tree over resolutions.

    Parameters
    ----------
    adata : AnnData
    key : str, default "consensus"
        Of a consensus with scales.
    keys : str or list of str, optional
        In place of the consensus: clusterings themselves, as in :func:`combine`; 60 at most.
    color : str, optional
        A column of `obs` with numbers, or a gene (of ``adata.raw`` where there is one): nodes have the color of its mean. By
        default the confidence of a consensus.
    genes : int, default 2
        Genes of :func:`split_genes`, if it was called, that stand under the children of a split; 0 for none.
    ax : Axes, optional

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> adata = anndata.AnnData(np.repeat(8 * np.eye(3, 8), 40, axis=0) + np.random.default_rng(0).normal(size=(120, 8)))
    >>> ca.generate(adata, 20, use_rep="X")
    >>> found = ca.combine(adata, n_clusters="auto")
    >>> ca.plot_tree(adata, keys="clusterings").get_figure() is not None
    True
    """
    check_count("genes", genes, 0)
    score = None if color is None else _numbers(check_adata(adata), color)
    if keys is not None:
        return _axis(tree_over_k(chosen(check_adata(adata), keys)[0], color=score, canvas=_canvas(ax)), ax)
    found = read_back(check_adata(adata), key)
    table, notes = written(adata, key, MADE_BY).get("split_genes"), {}
    if table is not None and genes:
        for (level, child), some in table.groupby(["level", "child"], sort=False):
            notes[int(level) + 1, int(child)] = "\n".join(some["gene"].astype(str).head(genes))
    return _axis(tree_over_k(found, color=score, notes=notes, canvas=_canvas(ax)), ax)


def plot_stability(adata: Any, key: str = "consensus", *, ax: Axes | None = None) -> Axes:
    """How stable the consensus is by its number of clusters, beside what data without clusters give.

    Parameters
    ----------
    adata : AnnData
        With a consensus that has scales.
    key : str, default "consensus"
    ax : Axes, optional

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> adata = anndata.AnnData(np.repeat(8 * np.eye(3, 8), 40, axis=0) + np.random.default_rng(0).normal(size=(120, 8)))
    >>> ca.generate(adata, 20, use_rep="X")
    >>> found = ca.combine(adata, n_clusters="auto")
    >>> ca.plot_stability(adata).get_xlabel()
    'number of clusters'
    """
    return _axis(scales_figure(read_back(check_adata(adata), key), _canvas(ax)), ax)


def plot_confidence(
    adata: Any, key: str = "consensus", *, basis: str | None = None, size: float | None = None, ax: Axes | None = None
) -> Axes:
    """The confidence of every cell on an embedding, with the clusters' numbers at their middles.

    Parameters
    ----------
    adata : AnnData
    key : str, default "consensus"
    basis : str, optional
        An entry of `obsm`, with or without "X_"; by default the first there is of UMAP, t-SNE, a drawn graph and principal components.
    size : float, optional
        Of a cell, in square points.
    ax : Axes, optional

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import consilience.anndata as ca
    >>> adata = anndata.AnnData(np.repeat(8 * np.eye(3, 8), 40, axis=0) + np.random.default_rng(0).normal(size=(120, 8)))
    >>> ca.generate(adata, 20, use_rep="X")
    >>> adata.obsm["X_pca"] = np.asarray(adata.X)[:, :2]
    >>> found = ca.combine(adata, n_clusters=3)
    >>> ca.plot_confidence(adata).get_figure() is not None
    True
    """
    written(check_adata(adata), key, MADE_BY)
    held = [str(name) for name in adata.obsm]
    if basis is None:
        basis = next((name for name in BASES if name in held), None)
        if basis is None:
            raise InputError("the AnnData has no embedding: call sc.tl.umap first, or name one with basis")
    name = basis if basis in held else check_choice(f"X_{basis}", held, "basis")
    xy = np.asarray(adata.obsm[name], float)[:, :2]
    confidence, labels = adata.obs[f"{key}_confidence"].to_numpy(float), adata.obs[key]
    axis = _canvas(ax)(5.6, 4.6)
    area = float(np.clip(20_000 / len(xy), 0.5, 40)) if size is None else size
    order = np.argsort(-confidence, kind="stable")  # the doubtful ones on top
    look: dict[str, Any] = {"s": area, "cmap": score_colors(), "linewidths": 0, "rasterized": True}
    low = min(0.5, float(np.nanmin(confidence)))
    dots = axis.scatter(xy[order, 0], xy[order, 1], c=confidence[order], vmin=low, vmax=1, **look)
    for cluster in labels.cat.categories:
        middle = np.median(xy[(labels == cluster).to_numpy()], axis=0)
        if np.isfinite(middle).all():
            box: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.7}
            how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "weight": "bold", "bbox": box}
            axis.text(float(middle[0]), float(middle[1]), str(cluster), **how)
    figure: Any = axis.get_figure()
    figure.colorbar(dots, ax=axis, shrink=0.7, pad=0.02, aspect=30, label="confidence")
    plain = name.removeprefix("X_")
    axis.set(xticks=[], yticks=[], xlabel=f"{plain} 1", ylabel=f"{plain} 2")
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(f"{len(labels.cat.categories)} clusters", loc="left", fontsize=11)
    return axis


def _numbers(adata: Any, color: str) -> pd.Series:
    """A score of every cell: a column of `obs`, or a gene."""
    if color in adata.obs:
        values = adata.obs[color]
        if not pd.api.types.is_numeric_dtype(values):
            raise InputError(f"obs column {color!r} holds no numbers: a color is a score of the cells")
        return values
    held = adata if adata.raw is None or color not in adata.raw.var_names else adata.raw
    at = np.flatnonzero(held.var_names == color)
    if not len(at):
        raise InputError(f"{color!r} is neither a column of obs nor a gene")
    if len(at) > 1:
        raise InputError(f"{len(at)} genes are called {color!r}: adata.var_names_make_unique() tells them apart")
    column = held.X[:, at[0]]
    return pd.Series(np.ravel(column.toarray() if sparse.issparse(column) else column).astype(float), name=color)


def _canvas(ax: Axes | None) -> Callable[[float, float], Axes]:
    """What makes the axis: the one given, or one of a figure that notebooks show."""
    if ax is not None:
        return lambda width, height: ax

    def make(width: float, height: float) -> Axes:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("pictures need matplotlib: pip install 'consilience[plots]'") from error
        return pyplot.figure(figsize=(width, height), layout="constrained").subplots()

    return make


def _axis(figure: Any, ax: Axes | None) -> Axes:
    return figure.axes[0] if ax is None else ax
