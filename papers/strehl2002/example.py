"""The worked example of Strehl and Ghosh 2002: seven objects, four clusterings, one of them partial, and every answer there is."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import mutual_info_score

from consilience.measures import nmi
from papers.report import Report

CLUSTERINGS = np.array([[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, 0, 1, 2, 0, 0]])
ANSWER = (0, 0, 0, 1, 1, 2, 2)
SIZES = (2, 2, 3)  # of three groups of about the same size


def run_example() -> pd.DataFrame:
    """Every partition of the seven objects into at most three clusters: what it shares with the four, and what it cuts."""
    answers = {tuple(np.unique(labels, return_inverse=True)[1]) for labels in product(range(3), repeat=7)}
    partitions = sorted({labels for labels in answers if labels == _first_seen(labels)})
    rows = [{"partition": " ".join(str(c + 1) for c in labels), **_measure(np.array(labels))} for labels in partitions]
    return pd.DataFrame(rows).sort_values(["weighted", "plain"], ascending=False, ignore_index=True)


def _first_seen(labels: tuple[Any, ...]) -> tuple[int, ...]:
    order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return tuple(order[label] for label in labels)


def _measure(labels: Any) -> dict[str, Any]:
    known = [clustering > 0 for clustering in CLUSTERINGS]
    each = [nmi(clustering[k], labels[k]) for clustering, k in zip(CLUSTERINGS, known, strict=True)]
    edges = [np.flatnonzero(c == label) for c in CLUSTERINGS for label in np.unique(c[c > 0])]
    return {
        "plain": float(np.mean(each)),
        "weighted": float(np.average(each, weights=[k.mean() for k in known])),
        "cut_hyperedges": sum(len(np.unique(labels[edge])) > 1 for edge in edges),
        "balanced": tuple(sorted(np.bincount(labels, minlength=3))) == SIZES,
        "information_about_itself": float(mutual_info_score(labels, labels)),
    }


def report_example(report: Report, rows: pd.DataFrame) -> None:
    """The best answers, by the mean NMI over known objects, plain and weighted by how many objects each clustering labels."""
    report.section("0. The worked example")
    report.text(
        "Seven objects in four clusterings, the last of which labels four of them; the slides' answer is 1 1 1 2 2 3 3. All "
        f"{len(rows)} partitions into at most three clusters were tried."
    )
    report.table(
        "example", rows, "Partitions by the mean NMI weighted by coverage; the first ten.", shown=rows.head(10)
    )
