"""K-means over row blocks: Lloyd's passes whose sums add up, for many runs at once, from the starts that they have in memory.

Sums are taken over chunks of rows that begin at multiples of 4,096 and added in their order: they depend neither on the blocks nor on the
workers, and differ from those in memory by rounding alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from scipy import sparse

from consilience import _kernels
from consilience._check import CHUNK
from consilience._run.parallel import own_threads, workers
from consilience._run.random import child_seed, stream
from consilience._run.row_blocks import Piece, Span
from consilience._types import Floats, Ints, Labels
from consilience.generation.kmeans import Runs
from consilience.generation.methods.method import Space
from consilience.generation.number_blocks import NumberBlocks, chunks_of
from consilience.generation.spaces import Preparation

NEAR = 1e-10  # share of the squared lengths by which scores may be off
SAMPLE = 20_000  # rows that starts far apart are drawn from


@dataclass(frozen=True, eq=False)
class BlockSpace:
    """A space whose objects are in row blocks.

    Attributes
    ----------
    blocks : NumberBlocks
    preparation : Preparation
    space : Space
        Without its table.
    width : int
    n_jobs : int, optional
    """

    blocks: NumberBlocks
    preparation: Preparation
    space: Space
    width: int
    n_jobs: int | None

    def settle(self, spec: Any) -> Any:
        """A spec as it was drawn."""
        return self.space.settle(spec)

    def each(
        self,
        task: Callable[..., Any],
        *common: Any,
        own: Callable[[Span], Any] | None = None,
        within: Span | None = None,
    ) -> Iterator[Any]:
        """What a task gives for every chunk of rows, of all or of some that begin at a multiple of the chunks' size, in their order."""
        low, high = within or (0, self.blocks.n_rows)
        spans = [(max(a, low), min(b, high)) for a, b in self.blocks.spans(CHUNK) if a < high and b > low]
        tasks = (
            delayed(task)(self.blocks.piece(span), self.preparation, self.space, *common, *([own(span)] if own else []))
            for span in spans
        )
        for found in workers(self.n_jobs, lazily=True)(tasks):
            yield from found

    def gather(self, rows: Ints) -> Floats:
        """Some objects, in the order given."""
        order = np.argsort(rows, kind="stable")
        wanted, found = rows[order], np.empty((len(rows), self.width))
        place = 0
        for part in self.each(_take, own=lambda span: wanted[slice(*np.searchsorted(wanted, span))] - span[0]):
            found[order[place : place + len(part)]] = part
            place += len(part)
        return found


def _placed(piece: Piece, preparation: Preparation, space: Space) -> Iterator[Floats]:
    with own_threads():  # the same numbers whatever the number of threads
        for chunk in chunks_of(piece):
            yield np.ascontiguousarray(space.transform(preparation.apply(chunk)))


def _take(piece: Piece, preparation: Preparation, space: Space, rows: Ints) -> list[Floats]:
    found = []
    for j, chunk in enumerate(_placed(piece, preparation, space)):
        here = rows[slice(*np.searchsorted(rows, [j * CHUNK, (j + 1) * CHUNK]))]
        found.append(chunk[here - j * CHUNK])
    return found


@dataclass(frozen=True, eq=False)
class Part:
    """What a pass of one run makes of a chunk: labels, sums and sizes of clusters, squares to the old centers and to the origin."""

    labels: Labels
    sums: Floats
    sizes: Ints
    squares: float
    lengths: float


def lloyd_pass(
    piece: Piece, preparation: Preparation, space: Space, runs: Sequence[tuple[Floats, Floats]]
) -> list[list[Part]]:
    """Objects to the nearest centers of every run (weights, centers in the weighted space), chunk by chunk."""
    return [
        [_nearest(chunk * weights, centers) for weights, centers in runs]
        for chunk in _placed(piece, preparation, space)
    ]


def _nearest(rows: Floats, centers: Floats) -> Part:
    k, lengths = len(centers), np.square(rows).sum(axis=1)
    norms = np.square(centers).sum(axis=1)
    scores = norms - 2 * (rows @ centers.T)
    scores[np.isnan(scores)] = np.inf  # a center that is nowhere
    labels = scores.argmin(axis=1).astype(np.int32)
    margin = NEAR * (lengths + np.nanmax(norms))
    near = np.flatnonzero(np.count_nonzero(scores <= scores.min(axis=1)[:, None] + margin[:, None], axis=1) > 1)
    for begin in range(
        0, len(near), 256
    ):  # where rounding could have mattered, as in memory by the distances themselves
        some = near[begin : begin + 256]
        squares = np.stack([np.square(rows[some] - center).sum(axis=1) for center in centers], axis=1)
        labels[some] = np.where(np.isnan(squares), np.inf, squares).argmin(axis=1)
    members = sparse.csr_matrix((np.ones(len(rows)), labels, np.arange(len(rows) + 1)), shape=(len(rows), k))
    inertia = float(np.square(rows - centers[labels]).sum())
    return Part(labels, members.T @ rows, np.bincount(labels, minlength=k), inertia, float(lengths.sum()))


@dataclass(frozen=True, eq=False)
class Far:
    """Objects of a chunk that are far from their centers: how far (squared), which, in which cluster, and where."""

    squares: Floats
    rows: Ints
    labels: Labels
    places: Floats


def farthest(
    piece: Piece,
    preparation: Preparation,
    space: Space,
    weights: Floats,
    centers: Floats,
    most: int,
    own: tuple[int, Labels],
) -> list[Far]:
    """The `most` objects of every chunk that are farthest from their centers."""
    begin, labels = own
    found = []
    for j, chunk in enumerate(_placed(piece, preparation, space)):
        rows, mine = chunk * weights, labels[j * CHUNK : (j + 1) * CHUNK]
        squares = np.square(rows - centers[mine]).sum(axis=1)
        size = np.square(rows).sum(axis=1) + np.square(centers[mine]).sum(axis=1)
        squares[squares <= 1e-24 * size] = 0
        top = np.argsort(-squares, kind="stable")[:most]
        found.append(Far(squares[top], begin + j * CHUNK + top, mine[top], rows[top]))
    return found


class _Run:
    """The state of one run."""

    def __init__(self, weights: Floats, centers: Floats, n: int) -> None:
        self.weights, self.centers = weights, centers
        self.labels = np.full(n, -1, np.int32)
        self.steps, self.closing, self.inertia, self.seconds = 0, False, np.nan, 0.0


def lloyd_by_blocks(space: BlockSpace, n_clusters: Ints, *args: Any, **how: Any) -> Runs:
    """K-means runs over row blocks; see :func:`~consilience.generation.kmeans.kmeans_runs`, whose answers they have to rounding."""
    found = dict(as_they_rest(space, n_clusters, *args, **how))
    ones = [found[place] for place in range(len(n_clusters))]
    names = ("labels", "inertia", "steps", "seconds")
    together: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in ones]) for name in names}
    return Runs(**together)


def as_they_rest(
    space: BlockSpace, n_clusters: Ints, weights: Floats, units: Ints, *, seed: int, init: str, max_iter: int
) -> Iterator[tuple[int, Runs]]:
    """The places of k-means runs that share their passes over row blocks, and the runs, each as soon as it is done."""
    began, n = time.perf_counter(), space.blocks.n_rows
    starts = [
        _starts(space, int(k), w, seed, int(unit), init) for k, w, unit in zip(n_clusters, weights, units, strict=True)
    ]
    runs = [_Run(w, centers, n) for w, centers in zip(weights, starts, strict=True)]
    if space.blocks.mini_batch:
        _mini_batches(space, runs, seed)
    active = dict(enumerate(runs))
    del runs  # whose labels are the caller's once they are done
    while active:
        _step(space, list(active.values()), max_iter)
        now = time.perf_counter()
        for run in active.values():
            run.seconds += (now - began) / len(active)  # its share of what they had in common
        for place in [place for place, run in active.items() if not np.isnan(run.inertia)]:
            run = active.pop(place)
            steps, numbers = np.array([run.steps], np.int32), (np.array([run.inertia]), np.array([run.seconds]))
            yield place, Runs(run.labels[None], numbers[0], steps, numbers[1])
        began = time.perf_counter()


class _Sums:
    """What a pass makes of a run, chunk after chunk."""

    def __init__(self, run: _Run) -> None:
        k = len(run.centers)
        self.labels, self.sums, self.sizes = (
            np.empty_like(run.labels),
            np.zeros_like(run.centers),
            np.zeros(k, np.int64),
        )
        self.squares = self.lengths = 0.0

    def add(self, part: Part, place: int) -> None:
        self.labels[place : place + len(part.labels)] = part.labels
        self.sums += part.sums
        self.sizes += part.sizes
        self.squares += part.squares
        self.lengths += part.lengths


def _step(space: BlockSpace, runs: list[_Run], max_iter: int) -> None:
    """One pass for all runs; one that rests has its inertia then, and one that was cut short after the labels of its last centers."""
    found = [_Sums(run) for run in runs]
    place = 0
    for parts in space.each(lloyd_pass, [(run.weights, run.centers) for run in runs]):
        for part, now in zip(parts, found, strict=True):
            now.add(part, place)
        place += len(parts[0].labels)
    for run, now in zip(runs, found, strict=True):
        run.steps += not run.closing
        if not run.closing and np.array_equal(now.labels, run.labels):
            run.inertia = now.squares
            continue
        if not now.sizes.all():
            _fill(space, run, now)
        run.labels, some = now.labels, now.sizes > 0
        run.centers = now.sums / np.where(some, now.sizes, np.nan)[:, None]
        if run.closing:
            explained = np.square(now.sums[some]).sum(axis=1) / now.sizes[some]
            run.inertia = max(now.lengths - float(explained.sum()), 0.0)
        run.closing = run.steps == max_iter


def _mini_batches(space: BlockSpace, runs: list[_Run], seed: int) -> None:
    """One pass in which centers move after every batch (Sculley 2010).

    Each is the mean of all rows that were nearest to it when they were met. Batches are consecutive rows, in a
    random order that is the same for all runs of a seed.
    """
    n, size = space.blocks.n_rows, -(-space.blocks.mini_batch // CHUNK) * CHUNK
    met = [_Sums(run) for run in runs]
    for batch in _kernels.random_permutation(child_seed(seed, "generation.mini_batches"), 0, -(-n // size)):
        within, place = (int(batch) * size, min((int(batch) + 1) * size, n)), int(batch) * size
        for parts in space.each(lloyd_pass, [(run.weights, run.centers) for run in runs], within=within):
            for part, now in zip(parts, met, strict=True):
                now.add(part, place)
            place += len(parts[0].labels)
        for run, now in zip(runs, met, strict=True):
            some = now.sizes > 0
            run.centers[some] = now.sums[some] / now.sizes[some, None]


def _fill(space: BlockSpace, run: _Run, now: _Sums) -> None:
    """Every empty cluster takes the object farthest from its center, out of a cluster that has others."""
    labels, sums, sizes = now.labels, now.sums, now.sizes
    empty = np.flatnonzero(sizes == 0)
    most = len(empty) + len(sizes)  # those that are alone in their cluster cannot be taken
    found = list(space.each(farthest, run.weights, run.centers, most, own=lambda span: (span[0], labels[slice(*span)])))
    far = Far(
        *(np.concatenate([getattr(one, name) for one in found]) for name in ("squares", "rows", "labels", "places"))
    )
    for cluster in empty:
        can = np.where(sizes[far.labels] > 1, far.squares, 0)
        i = int(can.argmax())
        if can[i] == 0:
            return
        old = far.labels[i]
        labels[far.rows[i]], far.squares[i] = cluster, 0
        sums[old] -= far.places[i]
        sums[cluster] += far.places[i]
        sizes[old] -= 1
        sizes[cluster] += 1


def _starts(space: BlockSpace, k: int, weights: Floats, seed: int, unit: int, init: str) -> Floats:
    """The centers that a run starts from: distinct objects, at random or far apart."""
    n = space.blocks.n_rows
    bits = iter(_kernels.random_bits(seed, unit, 4 * k + 64).tolist())
    if init == "random":
        return space.gather(np.array(at_random(n, k, bits))) * weights
    rows = np.arange(n)
    if n > SAMPLE:
        rows = np.sort(stream(seed, "generation.block_starts", unit).choice(n, SAMPLE, replace=False, shuffle=False))
    sample = space.gather(rows) * weights
    return sample[far_apart(sample, k, bits)]


def _below(bits: Iterator[int], n: int) -> int:
    """Unbiased in [0, n), as the kernels draw it."""
    return next(x for x in bits if x >= 2**64 % n) % n


def at_random(n: int, k: int, bits: Iterator[int]) -> list[int]:
    """The first k of a shuffle of 0 … n − 1 from the front, without the rest of it."""
    moved: dict[int, int] = {}
    for c in range(k):
        other = c + _below(bits, n - c)
        moved[c], moved[other] = moved.get(other, other), moved.get(c, c)
    return [moved[c] for c in range(k)]


def far_apart(rows: Floats, k: int, bits: Iterator[int]) -> list[int]:
    """k-means++ (Arthur and Vassilvitskii 2007): each next with odds as its squared distance to the nearest so far."""
    chosen = [_below(bits, len(rows))]
    nearest = np.full(len(rows), np.inf)
    while len(chosen) < k:
        nearest = np.minimum(nearest, np.square(rows - rows[chosen[-1]]).sum(axis=1))
        nearest[chosen] = 0
        target = (next(bits) >> 11) / 2**53 * nearest.sum()
        some = np.flatnonzero(nearest > 0)
        if len(some):
            place = int(np.searchsorted(np.cumsum(nearest[some]), target, side="right"))
            chosen.append(int(some[min(place, len(some) - 1)]))
        else:
            chosen.append(next(i for i in range(len(rows)) if i not in chosen))
    return chosen
