"""The nested stochastic block model of documents and words, for a Python that has graph-tool (Debian: ``python3-graph-tool``).

Run by itself, as ``python3 hsbm.py counts.npz labels.npy SEED``, since graph-tool comes with a Python of its own, which has NumPy alone.
`counts.npz` has `rows`, `columns` and `counts` of the cells. Written are the blocks of the documents, levels × documents, finest first.
"""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np


def fit(source: Path, target: Path, seed: int) -> None:
    """Documents and words are the nodes, counts the numbers of edges; no block has nodes of both kinds (Gerlach and others 2018)."""
    gt = import_module("graph_tool.all")
    cells = np.load(source)
    n = int(cells["rows"].max()) + 1
    np.random.seed(seed)  # noqa: NPY002 (graph-tool draws from it)
    gt.seed_rng(seed)
    graph = gt.Graph(directed=False)
    weight = graph.new_ep("int")
    graph.add_edge_list(np.column_stack([cells["rows"], n + cells["columns"], cells["counts"]]), eprops=[weight])
    kind = graph.new_vp("int")
    kind.a = np.arange(graph.num_vertices()) >= n
    how = {"clabel": kind, "pclabel": kind, "eweight": weight}
    state = gt.minimize_nested_blockmodel_dl(graph, state_args=how)
    levels = [np.asarray(state.project_level(level).get_blocks().a[:n]) for level in range(len(state.get_levels()))]
    np.save(target, np.array([np.unique(level, return_inverse=True)[1] for level in levels]))


if __name__ == "__main__":
    fit(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
