"""Pictures of what was written to an AnnData, each on a Matplotlib axis: a new one, or one that is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_count
from consilience.anndata.combining import MADE_BY, chosen
from consilience.anndata.combining import consensus as read_back
from consilience.anndata.h5ad_values import check_adata, written
from consilience.reports.scales import scales_figure
from consilience.reports.tree_over_k import tree_over_k

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
