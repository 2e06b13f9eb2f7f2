"""Table 2 of Bekkerman et al. 2009: users by movies, ranked by what clusters add to popularity."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from consilience.agreement import agree
from consilience.agreement.result import sem
from papers.bekkerman2009.data import Ratings
from papers.bekkerman2009.recommend import Recommender
from papers.cells import Cells
from papers.report import Report, with_error

PAPER = {  # Netflix: before, after one and two iterations
    "auc": [(0.73128, 0.00023), (0.73172, 0.00020), (0.73201, 0.00023)],
    "users": [(0.1488, 0.0014), (0.1658, 0.0015), (0.1716, 0.0014)],
    "movies": [(0.2745, 0.0024), (0.3158, 0.0024), (0.3321, 0.0022)],
}
TITLES = {
    "popularity": "AUC of popularity alone",
    "auc": "AUC, mean of the co-clusterings",
    "together": "AUC of their mean ranking",
    "users": "Jaccard, users",
    "movies": "Jaccard, movies",
}


def run_ratings(
    sets: Sequence[tuple[str, Ratings]],
    n_clusters: int,
    *,
    m: int,
    n_iter: int,
    seed: int = 0,
    n_jobs: int | None = None,
    cells: Cells | None = None,
) -> pd.DataFrame:
    """Co-cluster users and movies, let the clusterings agree, and rank held-out pairs after every iteration.

    `sets` has the ratings, each with words for how its pairs were drawn. One row per set, measure and iteration.
    """
    sizes = {"n_clusters": n_clusters, "m": m, "n_iter": n_iter, "seed": seed}
    tasks = [
        ({"data": one.name, "pairs": int(one.counts.nnz), "negatives": drawn, **sizes}, (one, n_jobs))
        for drawn, one in sets
    ]
    return (cells or Cells()).run("ratings", _one_set, tasks)["rows"]


def _one_set(
    source: Ratings,
    n_jobs: int | None,
    data: str,
    pairs: int,
    negatives: str,
    n_clusters: int,
    m: int,
    n_iter: int,
    seed: int,
) -> list[dict[str, Any]]:
    start = time.process_time()
    how: dict[str, Any] = {
        "n_clusterings": m,
        "max_iter": n_iter,
        "model": "dataloom",
        "weighting": "length",
        "progress": False,
    }
    result = agree(source.counts, n_clusters, n_clusters, **how, random_state=seed, n_jobs=n_jobs)
    where = {"data": data, "negatives": negatives, "seed": seed, "cpu_seconds": time.process_time() - start}
    alike = result.stability_by_iteration(n_jobs=n_jobs)
    return [
        {**where, "measure": measure, "iteration": iteration, "value": mean, "value_sem": error}
        for iteration, sides in enumerate((result.before, *result.iterations))
        for measure, (mean, error) in _look(source, sides, alike.iloc[iteration]).items()
    ]


def _look(data: Ratings, sides: Any, alike: Any) -> dict[str, tuple[float, float]]:
    ranking = Recommender(data.counts, sides.rows, sides.columns)
    pairs = data.users, data.movies
    each = ranking.auc(*pairs, data.positive)
    return {
        "popularity": (float(roc_auc_score(data.positive, ranking.popularity(*pairs))), np.nan),
        "auc": (float(each.mean()), sem(each)),
        "together": (float(roc_auc_score(data.positive, ranking.scores(*pairs).mean(axis=1))), np.nan),
        "users": (alike["rows"], alike["rows_sem"]),
        "movies": (alike["columns"], alike["columns_sem"]),
    }


def report_ratings(report: Report, rows: pd.DataFrame, *, n_clusters: int, m: int) -> None:
    """Table 2 beside the paper's."""
    report.section("4. Users and movies (Table 2)")
    report.text(
        f"m = {m} co-clusterings with {n_clusters} × {n_clusters} clusters (the paper's have 800 × 800), pairs ranked by "
        "r(u, m) = p(u) p(m) p(ũ, m̃) / (p(ũ) p(m̃)). Held out are known pairs, and as many pairs that never happened that 7.8 % of all came "
        "true, as in the Netflix hold-out. The paper does not say how its pairs were drawn. Fewer than 1.2 % of all pairs of "
        "Netflix were ever rated, so a hold-out with 7.8 % must favor active users and popular movies; hence “popular”: users and "
        "movies of pairs that never happened come in proportion to their ratings. “Uniform” draws them alike, which popularity alone tells "
        "apart easily."
    )
    paper = [
        {
            "data": "Netflix",
            "negatives": "unknown",
            "measure": measure,
            "iteration": i,
            "value": mean,
            "value_sem": error,
        }
        for measure, values in PAPER.items()
        for i, (mean, error) in enumerate(values)
    ]
    both = pd.concat([pd.DataFrame(paper), rows], ignore_index=True)
    report.table("table2", both, "Table 2, the paper's and ours; the last column is the change.", shown=_wide(both))
    for drawn, group in rows.groupby("negatives", sort=False):
        last = group[group["iteration"] == group["iteration"].max()].set_index("measure")["value"]
        first = group[group["iteration"] == 0].set_index("measure")["value"]
        report.text(
            f"**{drawn}:** clusters lift AUC by {last['auc'] - last['popularity']:+.4f} above popularity alone; the process changes it by "
            f"{last['auc'] - first['auc']:+.4f}, the Jaccard index of users by {last['users'] / first['users'] - 1:+.1%} and of movies by "
            f"{last['movies'] / first['movies'] - 1:+.1%}."
        )


def _wide(rows: pd.DataFrame) -> pd.DataFrame:
    texts = rows.assign(text=with_error(rows, "value", digits=4))
    out = []
    for (data, drawn, measure), group in texts.groupby(["data", "negatives", "measure"], sort=False):
        cells = {"before" if i == 0 else f"iteration {i}": text for i, text in enumerate(group["text"])}
        change = group["value"].iloc[-1] / group["value"].iloc[0] - 1
        out.append({"data": data, "negatives": drawn, "measure": TITLES[measure], **cells, "change": f"{change:+.1%}"})
    return pd.DataFrame(out)
