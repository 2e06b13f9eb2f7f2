"""Consensus by the information engine: starts on a sample of the rows, then passes over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._check import check_seed
from consilience.consensus.problem import Problem
from consilience.consensus.rows import sample_rows
from consilience.information import Engine, Search, Views, batch_scores, label_views, random_starts, refill_empty

SAMPLE = 2_000  # rows on which starts compete
ENOUGH = 3  # starts that reach the same best: no more are tried


def problem_views(problem: Problem, weights: Any = None) -> Views:
    """The clusterings of a problem as views of its rows."""
    return label_views(problem.labels, weights=weights, object_weights=problem.weights)


def best_start(
    views: Views,
    n_clusters: int,
    *,
    objective: str,
    n_init: int,
    batch: int,
    max_iter: int,
    seed: int,
    n_jobs: int | None,
) -> NDArray[np.int32]:
    """Labels of all rows from the best of `n_init` searches, on a sample of the rows where there are many.

    The sample is drawn by weight without replacement; the other rows join the cluster that suits them best. Once three
    starts have reached the same best objective, no more are tried.
    """
    sample = sample_rows(views.object_weights, SAMPLE, seed)
    part = Views(views.table[sample], views.view_of, views.weights, views.object_weights[sample])
    starts = random_starts(part, n_clusters, n_init, random_state=seed)
    engine = Engine(part, n_clusters, objective=objective)
    found = engine.best(starts, enough=ENOUGH, seed=seed, n_jobs=n_jobs, batch=batch, max_iter=max_iter)
    return spread_labels(views, part, sample, found.labels, n_clusters, objective)


def spread_labels(
    views: Views, part: Views, sample: NDArray[Any], labels: NDArray[np.int32], n_clusters: int, objective: str
) -> NDArray[np.int32]:
    """Labels of a sample of the rows extended to all of them."""
    if len(sample) == views.n_objects:
        return labels
    everyone = batch_scores(part, labels, n_clusters, objective, rows=views)
    out = everyone.argmax(axis=1).astype(np.int32)
    out[sample] = labels
    refill_empty(out, everyone, n_clusters)
    return out


def engine_search(
    problem: Problem,
    *,
    objective: str,
    n_init: int = 10,
    batch: int = 20,
    max_iter: int = 50,
    temperature: float = 0.0,
    starts: list[NDArray[Any]] | None = None,
    view_weights: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    keep_clusters: bool = True,
) -> Search:
    """The best partition of a problem's rows under an objective, from given starts or from random ones."""
    seed = check_seed(random_state)
    views = problem_views(problem, view_weights)
    k = problem.n_clusters
    if starts is None:
        polish = 0 if views.n_objects > SAMPLE else batch  # the sample has had its batch passes
        starts = [
            best_start(
                views, k, objective=objective, n_init=n_init, batch=batch, max_iter=max_iter, seed=seed, n_jobs=n_jobs
            )
        ]
    else:
        polish = batch
    engine = Engine(views, k, objective=objective, keep_clusters=keep_clusters)
    return engine.best(starts, seed=seed, n_jobs=n_jobs, batch=polish, max_iter=max_iter, temperature=temperature)
