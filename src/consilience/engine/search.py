"""The engine: the search for the partition that keeps the most information about its views, by an objective."""

# **Search** is element by element (Hartigan): take an object out, put it where the objective is largest; ties stay. Only the cells that
# change are looked at; x log x comes from a table where labels are counted, and elsewhere single-precision scores of all clusters tell
# first which few deserve an exact look. Rules: the last row of a cluster stays (``keep_clusters``), so k clusters stay k; a cluster takes
# no row that would lift it above `capacity`; a row without entries stays where it started. A temperature adds Gumbel noise to the scores,
# falling linearly to a tenth over the noisy passes, which then give way to plain ones. ``shortlist=m`` scores all clusters linearly
# (multiply-add with a table of logarithms kept up to date), for a block of rows at a time and in threads, and checks only the best m
# exactly: for hundreds of clusters. Views may group the columns of one table (:func:`consilience.engine.views.grouped_views`): rows are
# summed by groups as they are read, or where there is one view once for all passes. **Batch** passes move all objects at once by a matrix
# product with the tables' logarithms, and stop when the objective no longer grows.

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import _kernels
from consilience._check import InputError, check_choice, check_seed
from consilience._kernels import OBJECTIVES
from consilience._run.parallel import n_tasks, n_threads, workers
from consilience._run.random import child_seed, stream
from consilience._types import Floats, Labels
from consilience.engine.objective import constant_of, objective_of, scales
from consilience.engine.views import Views, cluster_tables, summed

STILL = 1e-5  # safeguard: share of rows that may move in a last pass
SCORES = 2**22  # safeguard: scores of rows that are moved at once, held at a time, 32 MB


@dataclass(frozen=True)
class Search:
    labels: Labels  # (n_objects,)
    objective: float  # Equal to `objective_of`
    history: list[float]  # The objective at the start and after every pass
    moves: list[int]  # Rows moved in every pass


class Engine:
    """Searches of one problem: the arrays are laid out once for many starts."""

    # capacity: Largest weight of a cluster. keep_clusters: The last row of a cluster stays.
    # shortlist: Candidates checked exactly; 0 checks all clusters. They are listed for a block of rows at a time, before any of them moves.
    # n_jobs: Threads that list candidates; the labels do not depend on it.
    # fixed: Last rows that never move: each stands for all that a cluster holds elsewhere.

    def __init__(
        self,
        views: Views,
        n_clusters: int,
        *,
        objective: str = "shannon",
        capacity: float = np.inf,
        keep_clusters: bool = True,
        shortlist: int = 0,
        n_jobs: int | None = None,
        fixed: int = 0,
    ) -> None:
        check_choice(objective, OBJECTIVES, "objective")
        if n_clusters < 1 or shortlist < 0 or capacity <= 0:
            raise InputError("n_clusters and capacity must be positive, and shortlist not negative")
        self.views, self.n_clusters, self.objective = views, n_clusters, objective
        # Whole-number labels let x log x come from a table; the rest is as exact, and faster, in floating point.
        exact = objective == "normalized" or (objective == "shannon" and views.one_hot)
        count = np.int64 if exact and views.whole else np.float64
        table = views.table
        value = np.empty(0) if views.one_hot else table.data
        weight, groups = views.object_weights.astype(count, copy=False), np.empty((0, 0), np.int32)
        starts, columns = table.indptr.astype(np.int64, copy=False), table.indices.astype(np.int32, copy=False)
        rows = starts, columns, value.astype(count, copy=False)
        # The sums of several views would need as many times the room.
        if views.groups is not None and views.n_views == 1:
            rows = _kernels.sum_rows(*rows, weight, views.groups[0])
        elif views.groups is not None:
            groups = views.groups
        self._arrays = (*rows, weight, views.view_of, scales(views, objective), groups)
        self._constant = constant_of(views, objective)
        self._movable = views.n_objects - fixed
        self._options: dict[str, Any] = {"n_clusters": n_clusters, "objective": objective, "capacity": capacity}
        self._options |= {"keep_clusters": keep_clusters, "shortlist": shortlist, "fixed": fixed}
        self._options |= {"block": min(256, max(16, self._movable // 64)), "threads": n_threads(n_jobs)}

    def value(self, labels: Labels) -> float:
        """The objective of a partition, as :func:`objective_of`, from the kernel's own tables."""
        return _kernels.sweep(*self._arrays, labels, np.empty(0, np.int64), **self._options)[0] + self._constant

    def step(self, labels: Labels, turn: int, *, seed: int, temperature: float = 0.0) -> tuple[float, float, int]:
        """One pass over the rows, in the order and with the noise of the stream (seed, turn); `labels` are changed in place."""
        # Returns the objective before and after, up to a constant, and the number of moves.
        seed = child_seed(seed, "information.search")
        order = _kernels.random_permutation(seed, 2 * turn, self._movable)
        how = {"temperature": temperature, "seed": seed, "unit": 2 * turn + 1, **self._options}
        return _kernels.sweep(*self._arrays, labels, order, **how)

    def search(
        self,
        labels: Any,
        *,
        max_iter: int = 50,
        tol: float = 0.0,
        batch: int = 0,
        temperature: float = 0.0,
        noisy_iter: int = 8,
        seed: int = 0,
        unit: int = 0,
        revalue: bool = True,
    ) -> Search:
        """Improve a partition until no row moves (of 100,000), the gain falls below `tol`, or `max_iter` passes are done."""
        # Every pass takes the rows in its own random order, drawn from the stream (seed, unit). `batch` passes go first, then `noisy_iter`
        # at a falling temperature if it is above 0, then the plain ones. Without `revalue` the objective at the end is that before the last
        # pass and the sum of its gains: the same up to rounding, and a look at all rows less.
        if batch and np.isfinite(self._options["capacity"]):
            raise InputError("batch passes know no capacity: leave one of the two out")
        if not (np.isfinite(temperature) and temperature >= 0):
            raise InputError(f"the temperature must be finite and not negative; got {temperature!r}")
        labels = np.array(labels, np.int32)
        history, moves = list[float](), list[int]()
        for _ in range(batch):
            if not self._batch_pass(labels, history, moves):
                break
        noisy = noisy_iter if temperature > 0 else 0
        heat = [temperature * (1 - 0.9 * t / max(noisy - 1, 1)) for t in range(noisy)]
        for t, degree in enumerate(heat + [0.0] * max_iter):
            before, after, moved = self.step(labels, (unit << 20) + t, seed=seed, temperature=degree)
            if not history:
                history.append(before + self._constant)
            history.append(after + self._constant)
            moves.append(moved)
            if degree == 0 and (moved <= STILL * self._movable or after - before <= tol):
                break
        if not history or (revalue and moves and moves[-1]):  # the sum of a pass's gains is only nearly the value
            history = [*history[:-1], self.value(labels)]
        return Search(labels, history[-1], history, moves)

    def _batch_pass(self, labels: Labels, history: list[float], moves: list[int]) -> bool:
        """Move all rows at once, if that is better; rows that fit worst refill clusters that ran empty."""
        if not history:
            history.append(objective_of(self.views, labels, self.n_clusters, self.objective))
        new, fit = move_at_once(self.views, labels, score_tables(self.views, labels, self.n_clusters, self.objective))
        refill_empty(new, fit, self.n_clusters)
        value = objective_of(self.views, new, self.n_clusters, self.objective)
        if value <= history[-1] + 1e-12 * abs(history[-1]):
            return False
        moves.append(int(np.count_nonzero(new != labels)))
        history.append(value)
        labels[:] = new
        return True

    def best(
        self, starts: Sequence[Any], *, enough: int | None = None, seed: int = 0, n_jobs: int | None = None, **how: Any
    ) -> Search:
        """The best of the searches from several starts; each has its own stream, so `n_jobs` does not matter."""
        # With `enough`, the starts are taken in order until the best objective so far has been reached so many times.
        from joblib import delayed

        one = delayed(lambda unit: self.search(starts[unit], seed=seed, unit=unit, **how))
        found: list[Search] = []
        step = n_tasks(n_jobs) if enough else len(starts)
        with workers(n_jobs) as parallel:
            for begin in range(0, len(starts), step):
                for search in parallel(one(unit) for unit in range(begin, min(begin + step, len(starts)))):
                    found.append(search)
                    top = max(s.objective for s in found)
                    if enough and sum(s.objective >= top - 1e-9 * abs(top) for s in found) >= enough:
                        return max(found, key=lambda search: search.objective)
        return max(found, key=lambda search: search.objective)


def refill_empty(labels: Labels, fit: Floats, n_clusters: int) -> None:
    """Give every empty cluster the row that fits its own cluster worst, from a cluster that can spare it."""
    size = np.bincount(labels, minlength=n_clusters)
    empty = np.flatnonzero(size == 0)
    if not len(empty):
        return
    worst = iter(np.argsort(fit, kind="stable"))
    for c in empty:
        for i in worst:
            if size[labels[i]] > 1:
                size[labels[i]] -= 1
                labels[i] = c
                size[c] += 1
                break


def batch_scores(views: Views, labels: Any, n_clusters: int, objective: str, *, rows: Views | None = None) -> Floats:
    """(n_objects, n_clusters): what each row would add to the objective, to first order, by one matrix product."""
    # Shannon and normalized: Σ x log(T_cy / T_c·), cells lifted by a small share of a mean entry so that none is −∞.
    # Quadratic: 2 Σ x μ_cy − Σ_v |μ_cv|² x_v, minus the squared distance up to the row's own part. The clusters are
    # those of `views`; `rows` scores other objects over the same columns.
    return _score(summed(views if rows is None else rows), score_tables(views, labels, n_clusters, objective))


Scoring = tuple[Floats, Floats]  # clusters × columns and clusters × views, by which rows are scored


def quadratic_scores(table: Floats, totals: Floats, view_of: NDArray[Any], scale: Floats) -> Scoring:
    """Of the objective "quadratic", from tables of clusters × columns and clusters × views; `scale` is that of the views."""
    center = np.divide(table, totals[:, view_of], out=np.zeros_like(table), where=table > 0)
    length = np.zeros_like(totals)
    np.add.at(length.T, view_of, (center**2).T)
    return 2 * center * scale[view_of], length * scale


def score_tables(views: Views, labels: Any, n_clusters: int, objective: str) -> Scoring:
    table, totals = cluster_tables(views, labels, n_clusters)
    scale = scales(views, "shannon")
    if objective == "quadratic":
        return quadratic_scores(table, totals, views.view_of, scale)
    entry = views.mean_entry
    if entry is None:
        entry = float(views.table.data.mean()) if views.table.nnz else math.e
    lift = entry / math.e
    return np.log(table + lift) * scale[views.view_of], np.log(totals + lift) * scale


def move_at_once(rows: Views, labels: Labels, scoring: Scoring) -> tuple[Labels, Floats]:
    """Every row in the cluster of its best score, ties where it is; and that score."""
    # A row's answer does not depend on the other rows, so that blocks of them may be moved anywhere.
    new, fit = np.empty(rows.n_objects, np.int32), np.empty(rows.n_objects)
    step = max(1, SCORES // len(scoring[0]))
    for begin in range(0, len(new), step):
        part = slice(begin, begin + step)
        scores = _score(summed(rows.rows(part)), scoring)
        here, old, best = np.arange(len(scores)), labels[part], scores.argmax(axis=1)
        stays = scores[here, best] <= scores[here, old] + 1e-12 * np.abs(scores[here, old])
        new[part] = np.where(stays, old, best)
        fit[part] = scores[here, new[part]]
    return new, fit


def _score(views: Views, scoring: Scoring) -> Floats:
    """Σ x · columns − Σ x_v · by_view for every row: tables clusters × columns, and clusters × views."""
    columns, by_view = scoring
    if views.one_hot:  # one column of every view at most: its part of the view's term goes along with it
        return np.asarray(views.table @ (columns - by_view[:, views.view_of]).T)
    return np.asarray(views.table @ columns.T - views.mass @ by_view.T)


def random_starts(views: Views, n_clusters: int, n_init: int, *, random_state: Any = None) -> list[Labels]:
    """Partitions seeded by rows (greedy k-means++), every row with its nearest seed."""
    seed = check_seed(random_state)
    rows, mass = _points(views)
    return [_seeded(rows, mass, n_clusters, stream(seed, "information.starts", unit)) for unit in range(n_init)]


def _points(views: Views) -> tuple[Any, Floats]:
    """Rows of one object each, scaled by the root of their views' scales: Euclidean distance is the objective's own."""
    mass = np.maximum(np.asarray(views.object_weights, float), 1e-300)
    scale = np.sqrt(scales(views, "shannon") * max(float(views.table.sum()), 1e-300))
    rows = views.table.copy()
    rows.data = rows.data * scale[views.view_of[rows.indices]] / np.repeat(mass, np.diff(rows.indptr))
    return rows, mass


def _seeded(rows: Any, mass: Floats, n_clusters: int, rng: np.random.Generator) -> Labels:
    """Each seed is the best of a few rows drawn with odds by distance: that which leaves the least distance to go."""
    n = rows.shape[0]
    squares = np.bincount(np.repeat(np.arange(n), np.diff(rows.indptr)), rows.data**2, minlength=n)
    nearest, labels = np.full(n, np.inf), np.zeros(n, np.int32)
    tries = 2 + int(np.log(n_clusters))
    odds = np.cumsum(mass)
    for c in range(n_clusters):
        drawn = np.minimum(np.searchsorted(odds, rng.random(1 if c == 0 else tries) * odds[-1], side="right"), n - 1)
        products = np.asarray((rows @ rows[drawn].T).todense())
        distance = np.maximum(squares[:, None] + squares[drawn] - 2 * products, 0.0)
        distance[drawn, np.arange(len(drawn))] = -1.0  # the seed itself stays with its cluster
        left = mass @ np.maximum(np.minimum(nearest[:, None], distance), 0.0)
        best = distance[:, int(np.argmin(left))]
        closer = best < nearest
        labels[closer], nearest[closer] = c, best[closer]
        odds = np.cumsum(np.maximum(nearest, 0) * mass)
        if odds[-1] <= 0:
            odds = np.cumsum(mass * (nearest >= 0))  # only copies are left: any row that is not a seed
        if odds[-1] <= 0:
            break
    return labels
