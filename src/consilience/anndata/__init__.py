"""Cells, with scanpy's manners: an AnnData goes in, and what was found is written to it under a key.

`generate` makes Leiden clusterings over resolutions, `combine` one clustering of many with its confidence, `compare` says how alike
resolutions are and how steady each cell is, `split_genes` which genes drive each split of the tree over resolutions; `ensemble` and
`consensus` read back what was written, from a file too, and the `plot_…` functions draw it.
"""

from consilience.anndata.combining import combine, compare, consensus
from consilience.anndata.genes import split_genes
from consilience.anndata.leiden_runs import ensemble, generate
from consilience.anndata.plots import plot_stability, plot_tree

__all__ = [
    "combine",
    "compare",
    "consensus",
    "ensemble",
    "generate",
    "plot_stability",
    "plot_tree",
    "split_genes",
]
