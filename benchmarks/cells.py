"""Cells through `consilience.anndata`: the consensus of Leiden runs beside the runs themselves, and whether its confidence holds.

    python -m benchmarks.cells --data FOLDER --seeds 3

FOLDER holds the single-cell sets (sc_*.npz); CONSILIENCE_DATA, or shared/data beside the repository, by default. Counts are scaled to
10,000 a cell and logged, RPKM logged; the 2,000 most variable genes, 50 principal components, scanpy's graph of 15 neighbors. Single runs
are Leiden at the resolutions that `generate` draws. A second, independent ensemble says whether the confidence is what happens.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

import consilience.anndata as ca
from benchmarks.pools import calibration, matched
from consilience.measures import adjusted_rand, nmi

SETS = "sc_pollen", "sc_yan", "sc_worm_neuron", "sc_mouse_bladder", "sc_pbmc68k_reduced"
COUNTS = "sc_worm_neuron", "sc_mouse_bladder"
GENES, COMPONENTS, NEIGHBORS = 2000, 50, 15


def folder(given=None):
    given = given or os.environ.get("CONSILIENCE_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"


def read_cells(name, data=None):
    """An AnnData as a scanpy user has it: logged values, principal components, a graph."""
    import anndata
    import scanpy

    with np.load(folder(data) / f"{name}.npz") as file:
        parts = dict(file)
    X = parts.get("X")
    if X is None:
        prefix = next(key[: -len("indptr")] for key in parts if key.endswith("indptr"))
        shape = tuple(parts[f"{prefix}shape"])
        X = sparse.csr_matrix(tuple(parts[f"{prefix}{part}"] for part in ("data", "indices", "indptr")), shape)
    adata = anndata.AnnData(sparse.csr_matrix(X, dtype=np.float32))
    if "vocab" in parts:
        adata.var_names = [str(gene) for gene in parts["vocab"]]
    known = parts["y"]
    adata.obs["known"] = [str(parts["y_names"][c]) if "y_names" in parts else str(c) for c in known]
    adata.obs["known"] = adata.obs["known"].astype("category")
    if name in COUNTS:
        scanpy.pp.normalize_total(adata, target_sum=1e4)
    if name in COUNTS or name == "sc_yan":
        scanpy.pp.log1p(adata)
    mean = np.asarray(adata.X.mean(axis=0)).ravel()
    spread = np.asarray(adata.X.multiply(adata.X).mean(axis=0)).ravel() - mean**2
    adata.var["highly_variable"] = np.isin(np.arange(adata.n_vars), np.argsort(-spread)[:GENES])
    scanpy.pp.pca(adata, n_comps=min(COMPONENTS, adata.n_obs - 1))
    scanpy.pp.neighbors(adata, n_neighbors=NEIGHBORS)
    return adata


def measure(name, data=None, seeds=3, n_clusterings=50, **how):
    """Means over seeds: ARI and NMI of single runs and of the consensus, and its confidence beside an independent ensemble."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = read_cells(name, data)
    known, found = adata.obs["known"].cat.codes.to_numpy(), []
    for seed in range(seeds):
        begin = time.process_time()
        ca.generate(adata, n_clusterings, random_state=2 * seed, key_added="runs", progress=False, **how)
        made = time.process_time()
        best = ca.combine(adata, "runs", progress=False, scales=False)
        combined = time.process_time()
        stable = ca.combine(adata, "runs", n_clusters="auto", key_added="stable", progress=False)
        at_classes = ca.combine(adata, "runs", n_clusters=int(known.max()) + 1, key_added="at_classes", scales=False)
        ca.generate(adata, n_clusterings, random_state=2 * seed + 1, key_added="others", progress=False, **how)
        runs, others = ca.ensemble(adata, "runs"), ca.ensemble(adata, "others")
        single = np.array([adjusted_rand(known, labels) for labels in runs.labels.T])
        row = {
            "runs_median": np.median(single),
            "runs_best": single.max(),
            "consensus": adjusted_rand(known, best.labels),
            "consensus_k": best.n_clusters,
            "auto": adjusted_rand(known, stable.labels),
            "auto_k": stable.n_clusters,
            "at_classes": adjusted_rand(known, at_classes.labels),
            "runs_nmi": np.median([nmi(known, labels) for labels in runs.labels.T]),
            "consensus_nmi": nmi(known, best.labels),
            "generate_s": made - begin,
            "combine_s": combined - made,
        }
        for name_of, one in (("consensus", best), ("at_classes", at_classes)):
            again = ca.combine(adata, "others", n_clusters=one.n_clusters, key_added="again", scales=False)
            sure = calibration(one.confidence, matched(one.labels, again.labels) == one.labels)
            row |= {f"{name_of}_{key}": sure[key] for key in ("confidence", "stays", "ece")}
            row[f"{name_of}_support"] = one.support.mean()
            row[f"{name_of}_held_out"] = held_out(one.labels, others.labels)
        found.append(row)
    mean = {key: float(np.mean([row[key] for row in found])) for key in found[0]}
    return {"set": name, "cells": adata.n_obs, "classes": int(known.max()) + 1, **mean}


def held_out(labels, others):
    """Share of a cell's clusterings, of an independent ensemble, whose label for it is by plurality one of its cluster."""
    shares = []
    for column in others.T:
        table = np.zeros((column.max() + 1, labels.max() + 1))
        np.add.at(table, (column, labels), 1)
        shares.append((table.argmax(axis=1)[column] == labels).mean())
    return float(np.mean(shares))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the sets")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--neighbors", type=int, nargs="*", help="find neighbors anew in X_pca, instead of the graph")
    given = parser.parse_args()
    how = {"n_neighbors": given.neighbors} if given.neighbors else {}
    for name in given.sets:
        found = measure(name, given.data, given.seeds, **how)
        print(json.dumps({key: round(v, 3) if isinstance(v, float) else v for key, v in found.items()}), flush=True)


if __name__ == "__main__":
    main()
