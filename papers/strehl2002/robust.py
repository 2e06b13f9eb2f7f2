"""Experiment 4 of Strehl and Ghosh 2002: ten clusterers of all kinds, and their consensus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_count, check_seed
from consilience._run.random import child_seed
from consilience._types import ArrayLike, RandomState
from consilience.consensus.methods.graph_partition import partition_graph, partition_hypergraph
from consilience.ensemble import Ensemble
from consilience.measures import nmi
from consilience.reports.figures import new_figure
from papers.cells import Cells
from papers.figures import curve, legend_outside
from papers.report import Report, over_seeds, with_error
from papers.strehl2002.data import SUPRA, DataSet, answers, supra
from papers.strehl2002.scenarios import check_data
from papers.strehl2002.similarities import SIMILARITIES, kmeans_by, neighbors_by
from papers.strehl2002.som import SOM

CONSENSUS = {"best ANMI of three": "supra", "LWEA": "lwea", "LWGP": "lwgp", "auto": "auto"}
RANDOM = 20  # random clusterings to compare with


def robust_centralized(
    X: ArrayLike, n_clusters: int, *, n_neighbors: int = 20, random_state: RandomState = 0
) -> Ensemble:
    """Cluster the data by the ten algorithms of the slides.

    A self-organizing map, hypergraph partitioning, k-means with four distances (Euclidean, cosine, correlation and extended
    Jaccard), and graph partitioning with the same four.

    Parameters
    ----------
    X : (n_objects, n_features) array
    n_clusters : int
    n_neighbors : int, default 20
        Graphs have an edge to so many most similar objects, weighted by the similarity.
    random_state : int, generator or None

    Returns
    -------
    Ensemble
        Ten clusterings; `info` has the method and the similarity.

    Notes
    -----
    The slides leave open how graphs and hypergraphs come from measured data. Here the similarities are
    1 / (1 + Euclidean distance), the cosine, the correlation of the two rows, and x·y / (|x|² + |y|² − x·y), negative ones
    counting as none; a hyperedge is an object with its neighbors (Euclidean). Partitions are balanced, as theirs were. Columns
    are taken as they are: bring them to one scale first if they are not.
    Cost O(n² · features) for the neighbors, in blocks of rows.

    Examples
    --------
    >>> from consilience.datasets.scenarios import gaussians_8d5k
    >>> from papers.strehl2002.robust import robust_centralized
    >>> X, truth = gaussians_8d5k(n_objects=100, random_state=0)
    >>> robust_centralized(X, 5, random_state=0).info.iloc[[0, 1, 5, 9]]
           method        similarity
    0         SOM         euclidean
    1  hypergraph         euclidean
    5     k-means  extended Jaccard
    9       graph  extended Jaccard
    """
    if sparse.issparse(X):
        raise InputError("the ten clusterers need dense data; convert it with X.toarray()")
    X = check_data(X, n_clusters)
    check_count("n_neighbors", n_neighbors)
    root = check_seed(random_state)
    seeds = [child_seed(root, "scenarios.views", q) >> 31 for q in range(10)]
    columns = [("SOM", "euclidean", SOM(n_clusters, random_state=seeds[0]).fit_predict(X))]
    near = neighbors_by(X, "euclidean", n_neighbors)
    edges = [np.append(row, i) for i, row in enumerate(np.split(near.indices, near.indptr[1:-1]))]
    hyper = partition_hypergraph(edges, n_clusters, n_vertices=len(X), random_state=seeds[1])
    columns.append(("hypergraph", "euclidean", hyper))
    for seed, name in zip(seeds[2:6], SIMILARITIES, strict=True):
        columns.append(("k-means", name, kmeans_by(X, n_clusters, name, seed)))
    for seed, name in zip(seeds[6:], SIMILARITIES, strict=True):
        near = neighbors_by(X, name, n_neighbors)
        graph = near.maximum(near.T)
        columns.append(("graph", name, partition_graph(graph, n_clusters, random_state=seed)))
    methods, names, labels = zip(*columns, strict=True)
    return Ensemble(list(labels), info={"method": methods, "similarity": names})


def run_rcc(sets: Sequence[tuple[DataSet, Sequence[int], int]], *, cells: Cells | None = None) -> pd.DataFrame:
    """Cluster samples by the ten algorithms and combine them; `sets` has the data, sample sizes and how many seeds.

    One row per run and clusterer; `gain` is NMI with the categories above that of random clusterings.
    """
    tasks = [
        ({**one.key(n), "seed": seed}, (one,)) for one, sizes, n_seeds in sets for n in sizes for seed in range(n_seeds)
    ]
    return (cells or Cells()).run("robust centralized", _one_rcc, tasks)["rows"]


def _one_rcc(source: DataSet, data: str, n_objects: int, n_clusters: int, seed: int) -> list[dict[str, Any]]:
    X, truth = source.draw(seed, n_objects)
    ten = robust_centralized(X.toarray() if sparse.issparse(X) else X, n_clusters, random_state=seed)
    found = answers(ten, n_clusters, (*SUPRA, "lwea", "lwgp", "auto"), seed)
    found["supra"] = found[supra(ten, found)]
    quality = {
        f"{method}, {similarity}": nmi(truth, labels)
        for method, similarity, labels in zip(ten.info["method"], ten.info["similarity"], ten.labels.T, strict=True)
    }
    single = list(quality.values())
    quality |= {"worst of ten": min(single), "mean of ten": float(np.mean(single)), "best of ten": max(single)}
    quality |= {name: nmi(truth, found[method]) for name, method in CONSENSUS.items()}
    chance = _chance(truth, n_clusters, seed)
    where = {"seed": seed, "data": data, "objects": n_objects}
    return [{**where, "clusterer": c, "nmi": q, "gain": q - chance} for c, q in quality.items()]


def _chance(truth: Any, n_clusters: int, seed: int) -> float:
    """Mean NMI of uniformly random labels with the categories."""
    rng = np.random.default_rng([seed, 2])
    return float(np.mean([nmi(truth, rng.integers(n_clusters, size=len(truth))) for _ in range(RANDOM)]))


def report_rcc(report: Report, rows: pd.DataFrame) -> None:
    """What ten clusterers and their consensus gain over chance."""
    mean = over_seeds(rows, ["data", "objects", "clusterer"])
    report.section("4. Robust centralized clustering (RCC)")
    report.text(
        "Ten algorithms see all objects and features of a sample; their consensus should be good without anybody knowing which "
        "of them suits the data. As on the slides, quality is NMI with the categories less that of random clusterings "
        f"(the mean of {RANDOM}, uniform labels, same number of clusters); the slides' numbers are only in their figure."
    )
    report.runs("rcc", rows)
    for name, group in mean.groupby("data", sort=False):
        texts = group.assign(text=with_error(group, "gain"))
        wide = texts.pivot(index="clusterer", columns="objects", values="text").loc[group["clusterer"].unique()]
        wide.columns = [f"n = {n}" for n in wide.columns]
        first = group.iloc[0]
        report.table(
            f"rcc_{name.split('-')[0].lower()}",
            group,
            f"{name}: NMI above chance; seeds {first['seeds']}, {first['repeats']} repeats, mean ± standard error of the mean. "
            "Worst, mean and best of ten are taken in every sample by the truth.",
            shown=wide.rename_axis("clusterer").reset_index(),
        )
    report.figure(
        "rcc",
        _draw(mean),
        "NMI above chance: ten clusterers (grey band: worst to best), their mean and their consensus.",
    )
    report.text(*_in_words(mean))


def _in_words(mean: pd.DataFrame) -> list[str]:
    said = [
        "**“Cluster ensembles can be used to boost robustness.”** The consensus among the ten, mean over sample sizes:"
    ]
    for name, group in mean.groupby("data", sort=False):
        table = group.groupby("clusterer", sort=False)["gain"].mean()
        ten = table.drop([*CONSENSUS, "worst of ten", "mean of ten", "best of ten"])
        ranks = [f"{c} {table[c]:.3f} ({_beaten_by(ten, table[c])})" for c in CONSENSUS]
        said.append(
            f"**{name}**: {', '.join(ranks)}; the single clusterers range from {ten.min():.3f} "
            f"({ten.idxmin()}) to {ten.max():.3f} ({ten.idxmax()}), mean {ten.mean():.3f}."
        )
    return said


def _beaten_by(ten: pd.Series, value: float) -> str:
    better = int((ten > value + 0.0005).sum())
    return f"{better} of the ten do better" if better else "none of the ten does better"


def _draw(mean: pd.DataFrame) -> Any:
    groups = list(mean.groupby("data", sort=False))
    figure = new_figure(2.8 + 3.2 * len(groups), 3.8)
    axes = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
    for axis, (name, group) in zip(axes, groups, strict=True):
        table = group.pivot(index="objects", columns="clusterer", values="gain")
        axis.fill_between(
            table.index, table["worst of ten"], table["best of ten"], color="0.88", label="worst to best of ten"
        )
        for number, clusterer in enumerate(("mean of ten", *CONSENSUS)):
            rows = group[group["clusterer"] == clusterer]
            curve(axis, rows["objects"], rows["gain"], rows["gain_sem"], number, clusterer)
        axis.set_xscale("log")
        axis.set_xticks(table.index, [str(n) for n in table.index])
        axis.minorticks_off()
        axis.set(title=name, xlabel="objects in the sample")
    axes[0].set_ylabel("NMI above that of random clusterings")
    legend_outside(figure, axes[0])
    return figure
