"""Cells through `consilience.anndata`: the consensus of Leiden runs beside the runs themselves, and whether its confidence holds.

    python -m benchmarks.cells --data FOLDER --ensembles 12

FOLDER holds the single-cell sets (sc_*.npz); CONSILIENCE_DATA, or shared/data beside the repository, by default. Counts are scaled to
10,000 a cell and logged, RPKM logged; the 2,000 most variable genes, 50 principal components, scanpy's graph of 15 neighbors. Single runs
are Leiden at the resolutions that `generate` draws.

Whether the confidence is what happens is asked of all pairs of independent ensembles, and judged for all of them together: in a single
pair (`single_ece`) whole clusters stay or go, so that even the shares of all other ensembles miss by as much as `floor` says.
"""

import argparse
import json
import os
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

import consilience as cs
import consilience.anndata as ca
from benchmarks.pools import calibration, matched
from consilience.measures import adjusted_rand, nmi

SETS = "sc_pollen", "sc_yan", "sc_worm_neuron", "sc_mouse_bladder", "sc_pbmc68k_reduced"
COUNTS = "sc_worm_neuron", "sc_mouse_bladder"
GENES, COMPONENTS, NEIGHBORS = 2000, 50, 15
STABLE = 3  # ensembles whose number of clusters is looked for


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


def measure(name, data=None, ensembles=12, n_clusterings=50, **how):
    """ARI and NMI of single runs and of the consensus, means over ensembles, and the confidence beside other ensembles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = read_cells(name, data)
    known, rows, runs = adata.obs["known"].cat.codes.to_numpy(), [], []
    answers = {"consensus": [], "at_classes": []}
    for seed in range(ensembles):
        begin = time.process_time()
        ca.generate(adata, n_clusterings, random_state=seed, key_added="runs", progress=False, **how)
        made = time.process_time()
        best = ca.combine(adata, "runs", progress=False, scales=False)
        combined = time.process_time()
        at_classes = ca.combine(adata, "runs", n_clusters=int(known.max()) + 1, key_added="at_classes", scales=False)
        answers["consensus"].append(best)
        answers["at_classes"].append(at_classes)
        runs.append(ca.ensemble(adata, "runs"))
        single = np.array([adjusted_rand(known, labels) for labels in runs[-1].labels.T])
        row = {
            "runs_median": np.median(single),
            "runs_best": single.max(),
            "consensus": adjusted_rand(known, best.labels),
            "consensus_k": best.n_clusters,
            "at_classes": adjusted_rand(known, at_classes.labels),
            "runs_nmi": np.median([nmi(known, labels) for labels in runs[-1].labels.T]),
            "consensus_nmi": nmi(known, best.labels),
            "generate_s": made - begin,
            "combine_s": combined - made,
        }
        row["below"] = float(row["consensus"] < row["runs_median"] - 1e-9)
        if seed < STABLE:
            stable = ca.combine(adata, "runs", n_clusters="auto", key_added="stable", progress=False)
            row |= {"auto": adjusted_rand(known, stable.labels), "auto_k": stable.n_clusters}
        rows.append(row)
    found = {key: float(np.mean([row[key] for row in rows if key in row])) for key in rows[0]}
    for what, some in answers.items():
        found |= {f"{what}_{key}": value for key, value in beside_others(some, runs).items()}
    return {"set": name, "cells": adata.n_obs, "classes": int(known.max()) + 1, **found}


def beside_others(answers, runs):
    """Confidence of every answer beside the answers of all other ensembles at as many clusters, all pairs together; support too."""
    sure, stays, alone, floor, held = [], [], [], [], []
    again = cache(lambda j, k: cs.combine(runs[j], k).labels)
    for i, one in enumerate(answers):
        others = [j for j in range(len(runs)) if j != i]
        right = np.array([matched(one.labels, again(j, one.n_clusters)) == one.labels for j in others])
        for j, stayed in enumerate(right):
            sure.append(one.confidence)
            stays.append(stayed)
            alone.append(calibration(one.confidence, stayed)["ece"])
            if len(right) > 1:
                floor.append(calibration(np.delete(right, j, axis=0).mean(axis=0), stayed)["ece"])
        held.append(held_out(one.labels, runs[others[0]].labels))
    together = calibration(np.concatenate(sure), np.concatenate(stays))
    return {
        **{key: together[key] for key in ("confidence", "stays", "ece", "auc")},
        "single_ece": float(np.mean(alone)),
        "floor": float(np.mean(floor)) if floor else np.nan,
        "support": float(np.mean([one.support.mean() for one in answers])),
        "held_out": float(np.mean(held)),
    }


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
    parser.add_argument("--ensembles", type=int, default=12, help="of 50 runs each, at least two")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--neighbors", type=int, nargs="*", help="find neighbors anew in X_pca, instead of the graph")
    given = parser.parse_args()
    how = {"n_neighbors": given.neighbors} if given.neighbors else {}
    for name in given.sets:
        found = measure(name, given.data, given.ensembles, **how)
        print(json.dumps({key: round(v, 3) if isinstance(v, float) else v for key, v in found.items()}), flush=True)


if __name__ == "__main__":
    main()
