"""Table 3 of Bekkerman et al. 2009: do different ensembles end in the same consensus?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from consilience.agreement.result import sem
from consilience.ensemble import Ensemble
from consilience.measures import accuracy, stability
from papers.bekkerman2009.data import Documents
from papers.bekkerman2009.documents import by_gap, run_agree
from papers.cells import Cells
from papers.report import Report, with_error

GAP = 5  # the paper's
PAPER = {"accuracy": (0.6771, 0.0033, 0.6870, 0.0027)}
PAPER |= {"documents": (0.5365, 0.0090, 0.6186, 0.0057), "words": (0.2163, 0.0018, 0.3310, 0.0028)}
TITLES = {
    "accuracy": "accuracy of the document consensus",
    "documents": "Jaccard, document consensus",
    "words": "Jaccard, word consensus",
}


def run_consistency(
    sets: Sequence[Documents],
    n_ensembles: int,
    *,
    recipe: str,
    m: int,
    n_iter: int,
    n_jobs: int | None = None,
    cells: Cells | None = None,
) -> pd.DataFrame:
    """The consensus of every ensemble, before and after the process, and how alike those are.

    One row per set and measure: `before` and `after` with standard errors, over the ensembles for accuracy and over all pairs of
    them for the Jaccard index.
    """
    rows: list[dict[str, Any]] = []
    tasks = [
        ({**one.key, "recipe": recipe, "m": m, "n_iter": n_iter, "seed": seed}, (one, n_jobs))
        for one in sets
        for seed in range(n_ensembles)
    ]
    answers = (cells or Cells()).run("consistency", _one_ensemble, tasks)["rows"]
    for data in sets:
        sides = answers[answers["data"] == data.name].groupby(["when", "side"])["labels"]
        found = {key: Ensemble(list(labels)) for key, labels in sides}
        rows += [{"data": data.name, "measure": measure, **_values(found, measure, data, n_jobs)} for measure in TITLES]
    return pd.DataFrame(rows).assign(recipe=recipe, ensembles=n_ensembles, seeds=f"0 to {n_ensembles - 1}")


def _one_ensemble(
    source: Documents, n_jobs: int | None, data: str, documents: int, recipe: str, m: int, n_iter: int, seed: int
) -> list[dict[str, Any]]:
    result = run_agree(source, recipe, m, n_iter, seed, n_jobs)
    return [
        {"data": data, "seed": seed, "when": when, "side": side, "labels": consensus(ensemble)}
        for when, sides in (("before", result.before), ("after", result.after))
        for side, ensemble in (("documents", sides.rows), ("words", sides.columns))
    ]


def consensus(ensemble: Ensemble) -> Any:
    """SCCC at the paper's gap, or at the largest below it that gives enough seeds."""
    found = by_gap(ensemble)
    gaps = found.info["gap"].to_numpy()
    at = int(np.flatnonzero(gaps <= GAP)[-1]) if (gaps <= GAP).any() else 0
    return found.labels[:, at]


def _values(found: dict[Any, Ensemble], measure: str, data: Documents, n_jobs: int | None) -> dict[str, float]:
    values: dict[str, float] = {}
    for when in ("before", "after"):
        if measure == "accuracy":
            each = np.array([accuracy(data.truth, labels) for labels in found[when, "documents"].labels.T])
            mean, error = float(each.mean()), sem(each)
        else:
            alike = stability(found[when, measure], "jaccard", n_jobs=n_jobs)
            mean, error = alike.mean, alike.sem
        values |= {when: mean, f"{when}_sem": error}
    return values


def report_consistency(report: Report, rows: pd.DataFrame, *, m: int) -> None:
    """Table 3 beside the paper's."""
    report.section("3. Is it consistent? (Table 3)")
    report.text(
        f"{rows['ensembles'].iloc[0]} ensembles of {m} clusterings each, all made from other seeds. The consensus of every ensemble "
        f"is taken before and after the process (SCCC with gap {GAP}; where that leaves too few seeds, the largest gap below): "
        "the more alike these are, the less it matters which ensemble one happened to draw."
    )
    paper = [
        {"data": "sanders-r", "recipe": "the paper", "measure": measure}
        | dict(zip(("before", "before_sem", "after", "after_sem"), values, strict=True))
        for measure, values in PAPER.items()
    ]
    both = pd.concat([pd.DataFrame(paper), rows], ignore_index=True)
    shown = both[["data", "recipe"]].assign(
        measure=both["measure"].map(TITLES),
        before=with_error(both, "before", digits=4),
        after=with_error(both, "after", digits=4),
        change=[f"{change:+.1%}" for change in both["after"] / both["before"] - 1],
    )
    report.table("table3", both, "Table 3: the consensus of different ensembles.", shown=shown)
    documents = rows[rows["measure"] == "documents"]
    up = int((documents["after"] > documents["before"]).sum())
    report.text(
        f"**Consistency.** The process makes the document consensus of different ensembles more alike on {up} of {len(documents)} sets, "
        "as it did in the paper."
        if up == len(documents)
        else f"**Consistency.** Unlike in the paper, the process makes the document consensus of different ensembles more alike on only "
        f"{up} of {len(documents)} sets."
    )
