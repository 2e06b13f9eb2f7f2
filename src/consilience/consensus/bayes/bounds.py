"""From a problem to a variational bound, and from the bound to one answer for its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._parallel import workers
from consilience._random import child_seed, stream
from consilience._types import Floats, Labels
from consilience.consensus.bayes.merging import merge_clusters
from consilience.consensus.bayes.predictive import Components
from consilience.consensus.bayes.sampling import quick_consensus
from consilience.consensus.bayes.variational import (
    Block,
    Fit,
    State,
    begin,
    first_state,
    iterate,
    label_scores,
    merge,
    size_scores,
    soften,
)
from consilience.consensus.distinct_rows import Problem
from consilience.consensus.label_tables import LabelRows

BLOCK = 8192  # rows in a block, so that tables of rows × components stay small
SAMPLE = 10_000  # objects on which starts compete
SHORT = 50  # passes of a start
FINER = (1.0, 1.5, 2.0, 3.0)  # times the usual number of clusters, where starts begin; one more begins at random


@dataclass(frozen=True)
class Method:
    """What is fitted: "vb", "cvb" or "cvb2", with its prior; α and β None to be estimated; the power of the likelihood."""

    kind: str
    prior: str
    n_components: int
    alpha: float | None
    beta: float | None
    power: float = 1.0

    def fit(self, rows: LabelRows, start: NDArray[Any], *, max_iter: int, tol: float) -> Fit:
        """Passes from a start, in blocks of rows."""
        cuts = range(0, len(rows.labels), BLOCK)
        parts = [rows.take(np.arange(i, min(i + BLOCK, len(rows.labels)))) for i in cuts]
        begun = [
            begin(part, start[i : i + BLOCK], self.kind, self.n_components) for i, part in zip(cuts, parts, strict=True)
        ]
        merged = merge(found for _, found in begun)
        hyper: dict[str, Any] = {"alpha": self.alpha, "beta": self.beta, "power": self.power}
        state = first_state(merged, rows.offsets, self.kind, self.prior, **hyper)
        return iterate([block for block, _ in begun], state, max_iter=max_iter, tol=tol)


def fit_bound(
    problem: Problem,
    method: Method,
    *,
    init: str,
    n_init: int,
    max_iter: int,
    tol: float,
    seed: int,
    n_jobs: int | None,
) -> Fit:
    """The best of several starts by its bound, carried on until it stands still; of many objects, they compete on a sample."""
    from joblib import delayed

    rows, part = LabelRows.of(problem), problem
    if problem.weights.sum() > SAMPLE:
        part = _some_objects(problem, seed)
    starts = [_start(part, init, i, method.n_components, seed) for i in range(n_init)]
    some = LabelRows(part.labels, part.weights, rows.offsets)
    tasks = (delayed(method.fit)(some, each, max_iter=min(SHORT, max_iter), tol=tol) for each in starts)
    found = workers(n_jobs)(tasks)
    best = max(found, key=lambda fit: fit.history[-1])
    if part is problem and best.converged:
        return best
    return method.fit(rows, _extend(rows, best.state), max_iter=max_iter, tol=tol)


def _some_objects(problem: Problem, seed: int) -> Problem:
    """Objects drawn at random, not rows: rows made heavier than they are would look like clusters."""
    share = problem.weights / problem.weights.sum()
    counts = stream(seed, "consensus.variational_rows").multinomial(SAMPLE, share)
    rows = np.flatnonzero(counts)
    labels = np.ascontiguousarray(problem.labels[rows])
    return Problem(labels, counts[rows].astype(float), problem.n_clusters, np.arange(len(rows)))


def _start(problem: Problem, init: str, number: int, most: int, seed: int) -> Labels:
    """Consensus starts of growing fineness and, every fifth, one with every row anywhere; or all of one kind."""
    turn = number % (len(FINER) + 1)
    if init == "random" or (init == "both" and turn == len(FINER)):
        return stream(seed, "consensus.variational_start", number).integers(0, most, problem.n_rows).astype(np.int32)
    return quick_consensus(
        problem, most, child_seed(seed, "consensus.variational_quick", number), FINER[turn % len(FINER)]
    )


def _extend(rows: LabelRows, state: State) -> NDArray[np.int64]:
    """The likeliest component of every row under what a sample has taught."""
    parts = [np.arange(i, min(i + BLOCK, len(rows.labels))) for i in range(0, len(rows.labels), BLOCK)]
    fixed = size_scores(state, None)
    return np.concatenate([(label_scores(rows.take(part), state, None) + fixed).argmax(axis=1) for part in parts])


def answer_of(fit: Fit, *, loss: str, n_clusters: int | None) -> tuple[NDArray[np.int64], Floats, Components]:
    """Labels and memberships of the rows, and the components with the clusters that they stand for.

    A cluster is a component that is the likeliest of some row; the others stand for the clusters of the rows that they share.
    """
    state, blocks = fit.state, fit.blocks
    labels = np.concatenate([_soft(block, state).argmax(axis=1) for block in blocks])
    used, labels = np.unique(labels, return_inverse=True)
    labels = labels.reshape(-1)
    weights = np.concatenate([block.rows.weights for block in blocks])
    shared = np.zeros((len(state.statistics.sizes), len(used)))
    for i, block in enumerate(blocks):
        own = np.eye(len(used))[labels[i * BLOCK : i * BLOCK + len(block.rows.labels)]]
        shared += (_soft(block, state) * block.rows.weights[:, None]).T @ own
    owner = shared / np.maximum(shared.sum(axis=1, keepdims=True), 1e-300)
    owner[used] = np.eye(len(used))
    if n_clusters is not None:
        sizes = np.bincount(labels, weights, minlength=len(used)).astype(float)
        merged = merge_clusters(shared, sizes, loss, n_clusters)
        if merged is not None:
            names, place = np.unique(merged, return_inverse=True)
            labels, owner = place[labels], owner @ np.eye(len(names))[place]
    membership = np.concatenate([_soft(block, state) @ owner for block in blocks])
    s = state.statistics
    return labels, membership, Components(s.sizes, s.table, state.alpha, state.beta, state.prior, owner)


def _soft(block: Block, state: State) -> Floats:
    """γ of a block under the last state."""
    if block.soft is not None:
        return block.soft if state.order is None else block.soft[:, state.order]
    return soften(size_scores(state, None) + label_scores(block.rows, state, None))
