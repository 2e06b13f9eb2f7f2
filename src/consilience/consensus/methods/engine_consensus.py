"""Consensus by the information engine: starts on a sample of the rows, then passes over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from consilience._check import InputError, check_labels, check_seed
from consilience._run.random import child_seed
from consilience.consensus.methods.estimator import Answer
from consilience.consensus.rows.problem import Problem, sample_rows
from consilience.engine.information import Engine, batch_scores, random_starts, refill_empty
from consilience.engine.views import Views, label_views

SAMPLE = 2_000  # rows on which starts compete
ENOUGH = 3  # starts that reach the same best: no more are tried


def problem_views(problem: Problem, weights: Any = None) -> Views:
    """The clusterings of a problem as views of its rows."""
    return label_views(problem.labels, weights=weights, object_weights=problem.weights)


def rows_of_start(problem: Problem, start: Any) -> NDArray[np.int64]:
    """Labels of the objects as labels of the rows: the plurality of a row's objects, −1 where none has a label."""
    codes = check_labels(start, "init")
    if len(codes) != len(problem.inverse):
        raise InputError(f"a start has {len(codes)} labels for {len(problem.inverse)} objects")
    if codes.max() + 1 > problem.n_clusters:
        raise InputError(f"a start has {codes.max() + 1} clusters; at most {problem.n_clusters} are wanted")
    use = (codes >= 0) & (problem.inverse >= 0)
    if not use.any():
        raise InputError("a start has no label for any object that a clustering labels")
    if problem.n_rows == len(codes) and problem.inverse.min() >= 0:  # every object is a row of its own
        found = np.empty(problem.n_rows, np.int64)
        found[problem.inverse] = codes
        return found
    shape = (problem.n_rows, problem.n_clusters)
    counts = csr_array((np.ones(use.sum()), (problem.inverse[use], codes[use])), shape)
    found = np.asarray(counts.argmax(axis=1)).ravel().astype(np.int64)
    return np.where(np.diff(counts.indptr) > 0, found, -1)


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
    part = views.rows(sample)
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
    refill_empty(out, everyone[np.arange(len(out)), out], n_clusters)
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
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Answer:
    """The best partition of a problem's rows under an objective, from given starts or from random ones."""
    seed = check_seed(random_state)
    views = problem_views(problem)
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
    engine = Engine(views, k, objective=objective)
    polish_seed = child_seed(seed, "consensus.polish")
    found = engine.best(
        starts, seed=polish_seed, n_jobs=n_jobs, batch=polish, max_iter=max_iter, temperature=temperature
    )
    extras = {"objective": found.objective, "history": found.history, "n_iter": len(found.moves)}
    return Answer(found.labels, extras=extras)
