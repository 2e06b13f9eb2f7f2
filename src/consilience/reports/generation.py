"""What generation made, for people and for machines."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console

from consilience._check import check_labels, count
from consilience.ensemble import Ensemble
from consilience.measures import accuracy
from consilience.reports.terminal import print_table, terminal

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def generation_summary(ensemble: Ensemble, known: dict[str, Any]) -> dict[str, Any]:
    """Plain numbers and text, ready for JSON; `known` are label columns that clusterings are held against."""
    low, high = (int(f(ensemble.n_clusters)) for f in (np.min, np.max))
    scores = {"compactness": ensemble.info["compactness"].to_numpy(float)}
    for name, labels in known.items():
        codes = check_labels(labels, f"known labels {name!r}")
        scores[f"accuracy with {name}"] = np.array([accuracy(codes, column) for column in ensemble.labels.T])
    return {
        "n_clusterings": ensemble.n_clusterings,
        "n_objects": ensemble.n_objects,
        "n_clusters": [low, high],
        "methods": {str(k): int(v) for k, v in ensemble.info["method"].value_counts(sort=False).items()},
        "seconds": float(ensemble.info["seconds"].sum()),
        "share_missing": float(np.mean(ensemble.labels < 0)),
        "scores": {name: _spread(values, ensemble, least=name == "compactness") for name, values in scores.items()},
    }


def _spread(values: Any, ensemble: Ensemble, *, least: bool) -> dict[str, Any]:
    """The quantiles of a score, and the number of the best clustering: the one with the least, or the most of it."""
    at = int(np.nanargmin(values) if least else np.nanargmax(values))
    number = int(ensemble.info["number"].iloc[at]) if "number" in ensemble.info else at
    return {"best": number, "quantiles": [float(q) for q in np.nanquantile(values, QUANTILES)]}


def print_generation(summary: dict[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`generation_summary` holds."""
    console = console or terminal()
    low, high = summary["n_clusters"]
    clusters = count(low, "cluster") if low == high else f"{low} to {high} clusters"
    what = f"{count(summary['n_clusterings'], 'clustering')} of {count(summary['n_objects'], 'object')}, {clusters}"
    console.print(f"{title}: {what}, in {summary['seconds']:.2g} seconds of clustering")
    console.print("made by " + ", ".join(f"{name} {n:,}" for name, n in summary["methods"].items()))
    if summary["share_missing"]:
        console.print(f"{100 * summary['share_missing']:.3g} % of the labels are missing: objects left out, or noise")
    console.print()
    names = ["", "least", "¼ below", "median", "¾ below", "most", "best clustering"]
    rows = [
        [name, *(f"{q:.3f}" for q in found["quantiles"]), f"number {found['best']}"]
        for name, found in summary["scores"].items()
    ]
    print_table(console, names, rows, (1, 2, 3, 4, 5))
