"""Bekkerman et al. 2009 on documents: clusterings before and after the agreement process, and their consensus.

The same runs give Table 1, Figures 3 and 4, the stability of words by how often they occur, and the words that came together.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience.agreement import Agreement, agree, stable_groups
from consilience.agreement.result import sem
from consilience.agreement.stable_groups import column_information
from consilience.consensus import SCCC
from consilience.consensus.rows.problem import check_problem
from consilience.ensemble import Ensemble
from consilience.measures import accuracy, stability
from papers.bekkerman2009.data import Documents
from papers.bekkerman2009.others import judged
from papers.cells import Cells

RECIPES = {"default": "mdc", "paper's": "mdc_plain"}  # the model of `agree`
BANDS = ((1, 5), (6, 20), (21, None))  # documents that a word occurs in
FEWEST = 50  # words that make a band worth a number
MEMBERS = ("m", "before", "before_sem", "after", "after_sem")
GROUPS = 200  # groups of words that are kept of each set


@dataclass(frozen=True)
class Found:
    """What the runs found.

    Attributes
    ----------
    sizes : DataFrame
        Data set, recipe, documents, words, clusters of both, CPU-seconds.
    stages : DataFrame
        Data set, recipe, measure, stage; value, its standard error and the number of clusterings (or gaps of SCCC) behind them.
    iterations : DataFrame
        Data set, recipe and the columns of :meth:`~consilience.agreement.Agreement.stability`.
    bands : DataFrame
        Data set, recipe, band of document frequency; Jaccard index of its words before and after.
    groups : DataFrame
        Data set, recipe and the groups of words that were apart before and are together now.
    members : DataFrame
        Data set, recipe, number m of clusterings in the process; accuracy before and after.
    judged : DataFrame
        Data set, recipe, stage; mean accuracy, AMI and ARI with the categories, and CPU-seconds up to there.
    """

    sizes: pd.DataFrame
    stages: pd.DataFrame
    iterations: pd.DataFrame
    bands: pd.DataFrame
    groups: pd.DataFrame
    members: pd.DataFrame
    judged: pd.DataFrame


def run_documents(
    sets: Sequence[tuple[Documents, str]],
    *,
    m: int,
    n_iter: int,
    members: dict[str, Sequence[int]],
    seed: int = 0,
    n_jobs: int | None = None,
    cells: Cells | None = None,
) -> Found:
    """Let m clusterings of every set agree, each set by the recipe named with it.

    `members` has, by the name of a set, the numbers of clusterings with which to run the process again (Figure 3; by the default
    recipe alone, since it takes as long as all else).
    """
    sizes = {"m": m, "n_iter": n_iter, "seed": seed}
    tasks = [
        ({**one.key, "recipe": recipe, **sizes, "members": _numbers(members, one, recipe)}, (one, n_jobs))
        for one, recipe in sets
    ]
    found = (cells or Cells()).run("documents", _one_set, tasks)
    members_found = found.get("members", pd.DataFrame(columns=["data", "recipe", *MEMBERS]))
    return Found(
        **{name: found[name] for name in Found.__dataclass_fields__ if name != "members"}, members=members_found
    )


def _numbers(members: dict[str, Sequence[int]], one: Documents, recipe: str) -> list[int]:
    return list(members.get(one.name, ())) if recipe == "default" else []


def _one_set(
    source: Documents,
    n_jobs: int | None,
    data: str,
    documents: int,
    recipe: str,
    m: int,
    n_iter: int,
    seed: int,
    members: Sequence[int],
) -> dict[str, list[dict[str, Any]]]:
    start = time.process_time()
    result = run_agree(source, recipe, m, n_iter, seed, n_jobs)
    seconds = time.process_time() - start
    made = {
        "sizes": _sizes(source, result, seconds),
        "stages": _stages(result, source.truth, n_jobs),
        "iterations": result.stability_by_iteration(source.truth, n_jobs=n_jobs),
        "bands": _bands(result, source.frequency, n_jobs),
        "groups": _groups(result, source),
        "members": _members(source, result, recipe, members, n_iter, seed, n_jobs),
        "judged": _judged(result, source.truth, seconds),
    }
    where = {"data": data, "recipe": recipe, "seed": seed}
    return {name: [where | row for row in frame.to_dict("records")] for name, frame in made.items() if len(frame)}


def run_agree(data: Documents, recipe: str, m: int, n_iter: int, seed: int, n_jobs: int | None) -> Agreement:
    """The process on a document set, by one of the recipes."""
    how: dict[str, Any] = {"n_clusterings": m, "max_iter": n_iter, "model": RECIPES[recipe]}
    return agree(data.counts, data.n_clusters, **how, random_state=seed, n_jobs=n_jobs, progress=False)


def _sizes(data: Documents, result: Agreement, seconds: float) -> pd.DataFrame:
    documents, words = data.counts.shape
    k = {"clusters": data.n_clusters, "word_clusters": int(np.median(result.after.columns.n_clusters))}
    return pd.DataFrame([{"documents": documents, "words": words, **k, "cpu_seconds": seconds}])


def _stages(result: Agreement, truth: Any, n_jobs: int | None) -> pd.DataFrame:
    """Table 1: the clusterings before and after, and their consensus over all valid gaps."""
    rows: list[dict[str, Any]] = []
    for stage, sides in (("before", result.before), ("cap", result.after)):
        consensus = {"rows": by_gap(sides.rows), "columns": by_gap(sides.columns)}
        after = {"before": "sccc", "cap": "cap_sccc"}[stage]
        rows += _look(stage, sides.rows, sides.columns, truth, n_jobs)
        rows += _look(after, consensus["rows"], consensus["columns"], truth, n_jobs)
    return pd.DataFrame(rows)


def _judged(result: Agreement, truth: Any, seconds: float) -> pd.DataFrame:
    stages = {"before": result.before.rows, "cap": result.after.rows}
    stages |= {"sccc": by_gap(result.before.rows), "cap_sccc": by_gap(result.after.rows)}
    rows = []
    for stage, ensemble in stages.items():
        values = pd.DataFrame([judged(truth, labels) for labels in ensemble.labels.T]).mean().to_dict()
        rows.append({"stage": stage, **values, "cpu_seconds": seconds})
    return pd.DataFrame(rows)


def by_gap(ensemble: Ensemble) -> Ensemble:
    """The consensus of an ensemble by SCCC, for every gap that gives enough seeds."""
    found: Ensemble = SCCC()._combine(check_problem(ensemble)).extras["labels_by_gap"]
    return found


def _look(stage: str, rows: Ensemble, columns: Ensemble, truth: Any, n_jobs: int | None) -> list[dict[str, Any]]:
    values = np.array([accuracy(truth, labels) for labels in rows.labels.T])
    found = [
        {"measure": "accuracy", "stage": stage, "value": values.mean(), "value_sem": sem(values), "n": len(values)}
    ]
    for measure, ensemble in (("documents", rows), ("words", columns)):
        row = {"measure": measure, "stage": stage, "n": ensemble.n_clusterings, "value": np.nan, "value_sem": np.nan}
        if ensemble.n_clusterings > 1:
            value = stability(ensemble, "jaccard", n_jobs=n_jobs)
            row |= {"value": value.mean, "value_sem": value.sem}
        found.append(row)
    return found


def _bands(result: Agreement, frequency: Any, n_jobs: int | None) -> pd.DataFrame:
    """Stability of the words of every band of document frequency, and of all."""
    rows = []
    for low, high in ((1, None), *BANDS):
        words = np.flatnonzero((frequency >= low) & (frequency <= (high or frequency.max())))
        if len(words) < FEWEST:
            continue
        values = [stability(sides.columns[words], "jaccard", n_jobs=n_jobs) for sides in (result.before, result.after)]
        row: dict[str, Any] = {"low": low, "high": high or int(frequency.max()), "words": len(words)}
        for when, value in zip(("before", "after"), values, strict=True):
            row |= {when: value.mean, f"{when}_sem": value.sem}
        rows.append(row)
    return pd.DataFrame(rows)


def _groups(result: Agreement, data: Documents) -> pd.DataFrame:
    """Words that came together, those first that tell most about the consensus of the documents."""
    before, after = result.before.columns, result.after.columns
    weights = column_information(data.counts, SCCC().fit(result.after.rows).labels_)
    found = stable_groups(before, after, names=data.words, weights=weights, smallest=3, new=True, top=GROUPS)
    return found.assign(members=["; ".join(map(str, members)) for members in found["members"]])


def _members(
    data: Documents, result: Agreement, recipe: str, numbers: Sequence[int], n_iter: int, seed: int, n_jobs: int | None
) -> pd.DataFrame:
    """Figure 3: the process again with only the first clusterings of the same ensemble."""
    rows = []
    for m in numbers:
        some = result
        if m < result.before.rows.n_clusterings:
            start: dict[str, Any] = {side: getattr(result.before, side)[:, :m] for side in ("rows", "columns")}
            how: dict[str, Any] = {"max_iter": n_iter, "model": RECIPES[recipe], "random_state": seed}
            some = agree(data.counts, **start, **how, n_jobs=n_jobs, progress=False)
        row: dict[str, Any] = {"m": m}
        for when, sides in (("before", some.before), ("after", some.after)):
            values = np.array([accuracy(data.truth, labels) for labels in sides.rows.labels.T])
            row |= {when: values.mean(), f"{when}_sem": sem(values)}
        rows.append(row)
    return pd.DataFrame(rows, columns=list(MEMBERS))
