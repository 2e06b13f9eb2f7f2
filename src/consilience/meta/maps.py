"""Clusterings as points in the plane, and how much of their distances the plane keeps.

The space of clusterings is not low in dimension (Caruana et al. 2006, section 2.2.2): a map comes second, the tree first, and
every map says how much it distorts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._check import check_choice, check_count, check_seed
from consilience._run.parallel import own_threads
from consilience._run.progress import track
from consilience._run.random import stream
from consilience._types import Floats
from consilience.ensemble.results import Result
from consilience.meta.tree import square

Matrix = NDArray[np.float32]
NEIGHBORS = 10  # by which a map is judged
BLOCK = 2**18  # safeguard: distances at a time: what the cache holds
STEPS, WORK = 200, 10**9  # safeguard: for time, steps of the descent, and distances looked at in all of them
ENOUGH = 1e-5  # safeguard: a tolerance, share by which a step must lower the squared error
ALONE = 3000  # safeguard: for time, items up to which t-SNE has one thread, and runs in one go
STAGE, STAGES = 250, 4  # safeguard: so that progress is shown, steps of a stage beyond, and how many there are
POWER, WIDTH = 10, 12  # safeguard: enough for a start, passes and vectors of the classical start


@dataclass(frozen=True, eq=False)
class Map(Result):
    """Clusterings in the plane.

    Attributes
    ----------
    xy : (m, 2) array
    kind : {"mds", "neighbors"}
    stress : float
        Kruskal's stress-1 at the best common scale, √(1 − (Σ d δ)² / (Σ d² Σ δ²)) with d on the map and δ the distances: 0 is
        perfect, above 0.2 is poor, and 0.4 is usual for clusterings.
    neighbors_kept : float
        Share of the nearest neighbors of a clustering that are its nearest on the map too, on average.
    n_neighbors : int
        How many neighbors that is: 10, or fewer of few clusterings.
    note : str
        How it was made.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> meta = cs.organize(cs.generate(load_beads(), 12, n_clusters=4), 3)
    >>> found = meta.map()
    >>> found.xy.shape, found.kind, found.n_neighbors
    ((12, 2), 'mds', 5)
    """

    xy: Floats = field(repr=False)
    kind: str
    stress: float
    neighbors_kept: float
    n_neighbors: int
    note: str

    def __repr__(self) -> str:
        return (
            f"Map ({self.kind}): {len(self.xy):,} clusterings, stress {self.stress:.2f}, keeps {100 * self.neighbors_kept:.0f} % of the "
            f"{self.n_neighbors} nearest neighbors; {self.note}"
        )


def make_map(
    distances: Floats,
    kind: str = "mds",
    *,
    max_iter: int | None = None,
    random_state: Any = 0,
    progress: bool | None = None,
    step: Callable[[], None] = lambda: None,
) -> Map:
    # `step` is called after each of the four stages of "neighbors" beyond 3,000 items; it may raise to end the work.
    check_choice(kind, ("mds", "neighbors"), "kind of map")
    seed = check_seed(random_state)
    if max_iter is not None:
        check_count("max_iter", max_iter, least=250 if kind == "neighbors" else 1)
    matrix = square(np.asarray(distances, float))
    start = _classical(matrix, stream(seed, "meta.classical"))
    if kind == "mds":
        xy, note = _smacof(matrix, start, max_iter, progress)
    else:
        xy, note = _tsne(matrix, start, max_iter, seed, step)
    near = max(1, min(NEIGHBORS, (len(matrix) - 1) // 2))
    stress, kept = _distortion(matrix, xy, near)
    return Map(xy, kind, stress, kept, near, note)


def _classical(matrix: Matrix, rng: np.random.Generator) -> Floats:
    """Two main axes of the doubly centered squares, by a few passes of subspace iteration."""
    m = len(matrix)
    squares = np.square(matrix)
    means = squares.mean(axis=1, dtype=float)
    squares -= means[:, None].astype(np.float32)
    squares -= means.astype(np.float32)
    squares += np.float32(means.mean())
    basis = np.linalg.qr(rng.standard_normal((m, min(m, WIDTH))))[0]
    for _ in range(POWER):
        basis = np.linalg.qr(-(squares @ basis.astype(np.float32)).astype(float))[0]
    small = -basis.T @ (squares @ basis.astype(np.float32))
    values, vectors = np.linalg.eigh((small + small.T) / 4)
    xy = basis @ vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    return np.asarray(xy * np.where(xy[np.abs(xy).argmax(axis=0), [0, 1]] < 0, -1, 1))


def _smacof(matrix: Matrix, start: Floats, max_iter: int | None, progress: bool | None) -> tuple[Floats, str]:
    """Majorization of Σ (δ − d)²: x ← (1/m) Σ_j (δ_ij / d_ij)(x_i − x_j). Every step lowers it."""
    m, xy = len(matrix), start
    most = max(10, min(STEPS, WORK // m**2)) if max_iter is None else max_iter
    last, steps = np.inf, 0
    for _ in track(range(most), most, "map", progress):
        error, new = 0.0, np.empty_like(xy)
        for rows in _blocks(m):
            d = _plane(xy, rows)
            error += float(np.square(matrix[rows] - d).sum(dtype=float))
            ratio = np.divide(matrix[rows], d, out=np.zeros_like(d), where=d > 0)
            new[rows] = (ratio.sum(axis=1)[:, None] * xy[rows] - ratio @ xy.astype(np.float32)) / m
        if error >= (1 - ENOUGH) * last:
            break
        xy, last, steps = new, error, steps + 1
    ended = "" if steps < most else ", stopped early"
    return xy, f"{steps} step{'' if steps == 1 else 's'} after classical scaling{ended}"


def _tsne(
    matrix: Matrix, start: Floats, max_iter: int | None, seed: int, step: Callable[[], None]
) -> tuple[Floats, str]:
    """In one go, or, where that takes long, in stages of 250 steps, so that it can be followed and ended."""
    # Only the first stage exaggerates; the later ones go on from where the last ended. scikit-learn's momentum is 0.5 in them instead
    # of 0.8, which a step 2.5 times as long makes up for.
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(matrix) - 1) / 3)
    xy = (1e-4 * start / max(start[:, 0].std(), 1e-300)).astype(np.float32)
    how: dict[str, Any] = {"metric": "precomputed", "perplexity": perplexity, "random_state": seed % 2**32}
    stages: list[dict[str, Any]] = [{} if max_iter is None else {"max_iter": max_iter}]
    if len(matrix) >= ALONE and max_iter is None:
        pace = 2.5 * max(len(matrix) / 12 / 4, 50)
        later = {"max_iter": STAGE, "early_exaggeration": 1.0, "learning_rate": pace}
        stages = [{"max_iter": STAGE}] + (STAGES - 1) * [later]
    # On a busy machine threads that wait for each other take many times as long as one that does not.
    with own_threads(1 if len(matrix) < ALONE else None):
        for stage in stages:
            xy = TSNE(init=xy, **how, **stage).fit_transform(matrix).astype(np.float32)
            step()
    return xy.astype(float), f"t-SNE of perplexity {perplexity:.3g}; far distances mean nothing"


def _blocks(m: int) -> list[slice]:
    step = max(1, BLOCK // m)
    return [slice(begin, min(begin + step, m)) for begin in range(0, m, step)]


def _plane(xy: Floats, rows: slice) -> Matrix:
    x, y = xy.T.astype(np.float32)
    return np.hypot(x[rows, None] - x, y[rows, None] - y)


def _distortion(matrix: Matrix, xy: Floats, near: int) -> tuple[float, float]:
    """Stress-1 at the best scale, and the mean share of kept neighbors."""
    sums, kept = np.zeros(3), 0
    for rows in _blocks(len(matrix)):
        given, d = matrix[rows], _plane(xy, rows)
        sums += [np.multiply(a, b, dtype=float).sum() for a, b in ((d, given), (d, d), (given, given))]
        ours, theirs = (_nearest(block, rows.start, near) for block in (d, given))
        kept += sum(np.isin(a, b).sum() for a, b in zip(ours, theirs, strict=True))
    fit = sums[0] ** 2 / (sums[1] * sums[2]) if sums[1] * sums[2] > 0 else 1.0
    return float(np.sqrt(max(0.0, 1 - fit))), float(kept / (near * len(matrix)))


def _nearest(block: Matrix, begin: int, near: int) -> NDArray[np.int64]:
    others = block.copy()
    others[np.arange(len(block)), begin + np.arange(len(block))] = np.inf
    return np.argpartition(others, near - 1, axis=1)[:, :near]
