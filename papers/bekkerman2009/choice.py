"""Not in Bekkerman et al. 2009: when is it right to choose the clusterings that take part by their information?

Information on single words needs no labels, but does not go with accuracy everywhere. What can be known without labels is whether it goes
with centrality: how alike a clustering is to the others of its kind.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from consilience.agreement import MDC, agree
from consilience.agreement.co_clustering import engine_of
from consilience.agreement.count_table import check_counts
from consilience.measures import accuracy, adjusted_mutual_information
from papers.bekkerman2009.data import Documents
from papers.bekkerman2009.documents import by_gap
from papers.cells import Cells
from papers.report import Report, over_seeds, with_error

TIMES = 2  # clusterings made for each that takes part
SHOWN = ("information_and_centrality", "information_and_accuracy", "first", "chosen", "first_cap", "chosen_cap")


def run_choice(
    sets: Sequence[Documents],
    n_seeds: Mapping[str, int],
    *,
    m: int,
    n_iter: int,
    cells: Cells | None = None,
    **how: Any,
) -> pd.DataFrame:
    """One row per set and ensemble; the ensembles of each set are as many as `n_seeds` says of its name."""
    tasks = [
        ({**one.key, "m": m, "n_iter": n_iter, "seed": seed}, (one, how.get("n_jobs")))
        for one in sets
        for seed in range(n_seeds[one.name])
    ]
    return (cells or Cells()).run("choice", _one_choice, tasks)["rows"]


def _one_choice(
    source: Documents, n_jobs: int | None, data: str, documents: int, m: int, n_iter: int, seed: int
) -> list[dict[str, Any]]:
    """Twice as many runs as take part; the process on the first of them, and on those with the most information."""
    start = time.process_time()
    table = check_counts(source.counts)
    runs = [
        MDC(source.n_clusters)._run(table, seed, run) for run in range(TIMES * m)
    ]  # the first m are those of agree()
    labels = [run.rows for run in runs]
    values = np.array([engine_of(table.rows.views, int(rows.max()) + 1).value(rows) for rows in labels])
    alike = np.array([[adjusted_mutual_information(a, b) for b in labels] for a in labels])
    central = (alike.sum(axis=1) - 1) / (len(runs) - 1)
    right = np.array([accuracy(source.truth[table.rows.kept], rows) for rows in labels])
    picked = {"first": np.arange(m), "chosen": np.sort(np.argsort(values, kind="stable")[-m:])}
    row: dict[str, Any] = {"data": data, "seed": seed, "information_and_centrality": _goes_with(values, central)}
    row |= {
        "information_and_accuracy": _goes_with(values, right),
        "centrality_and_accuracy": _goes_with(central, right),
    }
    for name, which in picked.items():
        sides = {side: table_of(source, table, runs, which, side) for side in ("rows", "columns")}
        found = agree(
            source.counts, **sides, max_iter=n_iter, model="mdc", random_state=seed, n_jobs=n_jobs, progress=False
        )
        after = found.after.rows
        row |= {
            name: right[which].mean(),
            f"{name}_cap": _mean(source, after),
            f"{name}_sccc": _mean(source, by_gap(after)),
        }
    return [row | {"cpu_seconds": time.process_time() - start}]


def table_of(source: Documents, table: Any, runs: Sequence[Any], which: Any, side: str) -> Any:
    """The labels of some runs for all objects of a side, −1 where an object has no counts."""
    kept = getattr(table, side).kept
    labels = np.full((source.counts.shape[side == "columns"], len(which)), -1, np.int32)
    for at, run in enumerate(which):
        labels[kept, at] = getattr(runs[run], side)
    return labels


def _goes_with(one: Any, other: Any) -> float:
    """Spearman's rank correlation; 0 where one of the two does not vary."""
    return 0.0 if np.ptp(one) == 0 or np.ptp(other) == 0 else float(spearmanr(one, other).statistic)


def _mean(source: Documents, ensemble: Any) -> float:
    return float(np.mean([accuracy(source.truth, labels) for labels in ensemble.labels.T]))


def report_choice(report: Report, rows: pd.DataFrame, *, m: int) -> None:
    """Does the rule choose where choosing helps?"""
    report.section("6. Which clusterings take part")
    report.runs("choice", rows)
    mean = over_seeds(rows, ["data"])
    report.text(
        f"Not in the paper. Of {TIMES * m} clusterings those {m} take part that have the most information on single words, or simply the "
        f"first {m}. Information and centrality (mean AMI with the other clusterings) need no labels: the rule would be to choose where "
        "their rank correlation is above 0. Beside it, what only the categories can tell: the rank correlation of information and "
        "accuracy, and the accuracy of the first and of the chosen, before and after the process."
    )
    shown = mean[["data", "repeats"]].assign(**{name.replace("_", " "): with_error(mean, name) for name in SHOWN})
    report.table(
        "choice", mean, "Clusterings chosen by information; mean ± standard error over ensembles.", shown=shown
    )
