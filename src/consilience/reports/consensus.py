"""A consensus for people and for files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from consilience._check import count
from consilience.consensus import Consensus
from consilience.ensemble import Ensemble
from consilience.measures import Stability, accuracy, adjusted_rand, nmi
from consilience.reports.terminal import print_table, terminal


def consensus_table(result: Consensus, ensemble: Ensemble, *, membership: bool = False) -> pd.DataFrame:
    """One row per object: cluster (empty where no clustering labels it), confidence, and the memberships if asked for."""
    names = range(ensemble.n_objects) if ensemble.ids is None else ensemble.ids
    frame = pd.DataFrame(index=pd.Index(names, name="object"))
    frame["cluster"] = whole_or_empty(result.labels)
    frame["confidence"] = np.round(result.confidence, 6)
    if membership:
        for c in range(result.n_clusters):
            frame[f"membership_{c}"] = np.round(result.membership[:, c], 6)
    return frame


def whole_or_empty(labels: Any) -> Any:
    """Labels for a table: whole numbers, empty where they are -1."""
    return pd.arrays.IntegerArray(np.asarray(labels, np.int64), np.asarray(labels) < 0)


def consensus_summary(
    result: Consensus, stability: Stability | None, n_floaters: int, truth: dict[str, dict[str, float]]
) -> dict[str, Any]:
    """Plain numbers and text, ready for JSON."""
    known = result.labels >= 0
    return {
        "method": result.method,
        "n_clusters": result.n_clusters,
        "sizes": result.sizes.tolist(),
        "n_objects": len(result.labels),
        "n_without_labels": int(np.count_nonzero(~known)),
        "mean_confidence": float(result.confidence[known].mean()),
        "n_floaters": n_floaters,
        "anmi": result.anmi,
        "ensemble_jaccard": None if stability is None or np.isnan(stability.mean) else stability.mean,
        "truth": truth,
        "chosen": result.note,
        "candidates": None if result.candidates is None else records(result.candidates),
        "curve": None if result.curve is None else records(result.curve),
        "seconds": result.seconds,
    }


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table for JSON, None where a number is missing."""
    return [
        {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in row.items()}
        for row in frame.to_dict("records")
    ]


def against(truth: Any, labels: Any) -> dict[str, float]:
    """How well labels match known ones."""
    return {
        "nmi": nmi(truth, labels),
        "adjusted_rand": adjusted_rand(truth, labels),
        "accuracy": accuracy(truth, labels),
    }


def print_consensus(summary: dict[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`consensus_summary` holds."""
    console = console or terminal()
    objects = summary["n_objects"] - summary["n_without_labels"]
    console.print(
        f"{title}: {count(summary['n_clusters'], 'cluster')} of {count(objects, 'object')} by {summary['method']}",
        markup=False,
    )
    if summary["chosen"]:
        console.print(f"Chosen: {summary['chosen']}.")
    sizes = summary["sizes"]
    shown = ", ".join(f"{size:,}" for size in sizes[:15]) + (f" … ({len(sizes) - 15} more)" if len(sizes) > 15 else "")
    lines = {
        "sizes": shown,
        "confidence": f"{summary['mean_confidence']:.3f} on average (as if clusterings erred independently: read it as a ranking)",
        "floaters": f"{count(summary['n_floaters'], 'object')} that at most half of their clusterings put there",
        "ANMI": f"{summary['anmi']:.4f} with the clusterings",
    }
    if summary["ensemble_jaccard"] is not None:
        lines["ensemble"] = (
            f"the clusterings agree with each other to a Jaccard index of {summary['ensemble_jaccard']:.3f}"
        )
    if summary["n_without_labels"]:
        lines["no label"] = f"{count(summary['n_without_labels'], 'object')} that no clustering labels"
    for name, values in summary["truth"].items():
        lines[f"with {name}"] = ", ".join(f"{measure} {value:.3f}" for measure, value in values.items())
    width = max(map(len, lines)) + 2
    for name, text in lines.items():
        console.print(f"{name:<{width}}{text}")
    if summary["candidates"]:
        console.print("\nCandidates, by how much they tell about clusterings they have not seen")
        print_table(console, ["method", "NMI ± s.e."], [_candidate(row) for row in summary["candidates"]], (1,))


def _candidate(row: dict[str, Any]) -> list[str]:
    if row["unseen_nmi"] is None:
        return [row["method"], f"– ({row['error']})"]
    return [row["method"], f"{row['unseen_nmi']:.3f} ± {row['sem'] or 0:.3f}"]
