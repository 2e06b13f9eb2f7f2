"""Generation on numbers in row blocks: the runner of k-means whose passes go over the blocks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from consilience._check import InputError, chunk_digest, count, fingerprint_of_chunks
from consilience._run.parallel import own_threads
from consilience._run.progress import Where
from consilience._run.row_blocks import Piece
from consilience._types import Floats, Ints
from consilience.generation.block_kmeans import SAMPLE, BlockSpace, as_they_rest, lloyd_by_blocks
from consilience.generation.methods import METHODS
from consilience.generation.methods.method import Space
from consilience.generation.methods.pca import PCA, Components, check_size, largest_first, n_axes
from consilience.generation.number_blocks import NumberBlocks, chunks_of
from consilience.generation.plan import Plan, Spec, check_methods
from consilience.generation.recipes import is_auto
from consilience.generation.runner import LARGEST_BATCH, Runner
from consilience.generation.spaces import GenerationWarning, Preparation
from consilience.generation.tasks import Made, batch_weights
from consilience.inputs.guess import in_blocks
from consilience.tables import Standardizer
from consilience.tables.scaling import FAR

TOGETHER = 2**28  # labels of runs that share their passes over the blocks


class BlockSpaces:
    """The forms of the data that methods ask for, of numbers in row blocks: what stands for them is found by passes over the blocks."""

    stress = None
    distances = None
    groups = None
    own_scales = None

    def __init__(self, blocks: NumberBlocks, plan: Plan, n_jobs: int | None) -> None:
        self.blocks, self.plan, self._spaces = blocks, plan, dict[str, BlockSpace]()
        self.n_objects, self.given_width, self._n_jobs = blocks.n_rows, blocks.n_columns, n_jobs
        everything = Preparation(None, np.arange(blocks.n_columns), blocks.n_columns)
        given = BlockSpace(blocks, everything, Space(None), blocks.n_columns, n_jobs)
        looks = list(given.each(_look))
        low, high = np.min([one[0] for one in looks], axis=0), np.max([one[1] for one in looks], axis=0)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise InputError(
                f"{blocks.source}: some cells are missing or not finite: fill them, or leave their columns out"
            )
        if max(-low.min(), high.max()) > FAR:
            raise InputError(f"{blocks.source}: a number is larger than {FAR:g}: scale its column")
        mean = _added(one[2] for one in looks) / self.n_objects
        sd = np.sqrt(_added(given.each(_spread, mean)) / self.n_objects)
        constant = (low == high) | (sd == 0)
        self.fingerprint = fingerprint_of_chunks(
            (blocks.n_rows, blocks.n_columns), np.float64, (one[3] for one in looks)
        )
        self.kept = np.flatnonzero(~constant)
        if not self.kept.size:
            raise InputError(f"all columns of {blocks.source} are constant: there is nothing to cluster")
        if constant.any():
            said = f"{constant.sum():,} of {count(self.given_width, 'column')} left out, being constant"
            warnings.warn(GenerationWarning(said), stacklevel=5)
        scaling = Standardizer(np.where(constant, low, mean), np.where(constant, 1.0, sd), None, constant, False)
        self.preparation = Preparation(scaling if plan.standardize else None, self.kept, self.given_width)
        self.columns = Columns(BlockSpace(blocks, self.preparation, Space(None), len(self.kept), n_jobs))

    def of(self, method: str, filling: int | None = None) -> BlockSpace:
        """The form of the data that a method works on; computed once."""
        name = METHODS[method].space
        if name not in self._spaces:
            here = self.columns.space
            self._spaces[name] = here if name == "columns" else _components(here, self.plan)
        return self._spaces[name]


class Columns:
    """The columns in use, of which some rows can be asked for."""

    def __init__(self, space: BlockSpace) -> None:
        self.space, self.shape = space, (space.blocks.n_rows, space.width)
        self._known: tuple[Ints, Floats] | None = None

    def __getitem__(self, rows: Ints) -> Floats:
        if self._known is None or not np.array_equal(self._known[0], rows):
            self._known = rows, self.space.gather(rows)
        return self._known[1]


class BlockRunner(Runner):
    """Makes the clusterings of numbers in row blocks by one plan."""

    def __init__(self, blocks: NumberBlocks, plan: Plan, n_jobs: int | None = None) -> None:
        if plan.blockwise != _blockwise(blocks, plan):
            raise InputError(_other_words(blocks, plan))
        self.table: Any = blocks
        self.plan, self.base, self.n_jobs, self.keeps_predictors = plan, None, n_jobs, False
        self.time_limit = None
        self.n_fillings, self.guide, self.predictors = 0, None, {}
        self._settings, self.scoring, self._guide_weights = plan.text(), 0.0, {}
        largest = max(plan.n_clusters)
        if largest > blocks.n_rows:
            raise InputError(
                f"{largest} clusters need as many objects, and {blocks.source} has {blocks.n_rows}: lower n_clusters"
            )
        self.spaces: Any = BlockSpaces(blocks, plan, n_jobs)
        for name, _ in plan.methods:
            if len(self.spaces.kept) < METHODS[name].min_columns:
                raise InputError(f"{name} weighs columns against each other, and only one is not constant")

    def _fingerprint(self) -> str:
        return str(self.spaces.fingerprint)

    def _stream(
        self, units: Sequence[int], methods: list[str], seed: int, center: Spec | None
    ) -> Iterator[tuple[list[Spec], Made]]:
        """Clusterings as they rest: those that share their passes take many of these, and each is kept when it is done."""
        for begin in range(0, len(units), self._size):
            for some in self._alike(self._specs(units[begin : begin + self._size], methods, seed, center)):
                args, how = self._passes(some)
                for place, runs in as_they_rest(*args, **how):
                    yield [some[place]], Made(None, runs, Where.here())

    def _call(self, specs: list[Spec], threads: int) -> tuple[Any, tuple[Any, ...]]:
        return _make, self._passes(specs)

    def _passes(self, specs: list[Spec]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What :func:`as_they_rest` is called with."""
        space, (seed, _) = self.spaces.of(specs[0].method), specs[0].run_stream
        weights = batch_weights(specs, space.width).astype(np.float64)
        clusters, units = np.array([(spec.n_clusters, spec.run_stream[1]) for spec in specs], np.uint64).T
        how = {"seed": seed, "init": self.plan.init, "max_iter": self.plan.max_iter}
        return (space, clusters.astype(np.int64), weights, units), how

    @cached_property
    def _size(self) -> int:
        """As many as have room for their labels: a pass over the blocks serves them all."""
        return int(np.clip(TOGETHER // self.spaces.n_objects, 1, LARGEST_BATCH))


def _make(args: tuple[Any, ...], how: dict[str, Any]) -> Made:
    return Made(None, lloyd_by_blocks(*args, **how), Where.here())


def blocks_of(X: Any, mini_batch: int = 0, **reading: Any) -> NumberBlocks | None:
    """Numbers in row blocks; None for what is read as a whole. Of all that says how to read it they know `columns` and `id_column`."""
    if not (isinstance(X, NumberBlocks) or in_blocks(X)):
        return None
    reading = {name: value for name, value in reading.items() if value is not None}
    for name in reading:
        if name not in ("columns", "id_column") or isinstance(X, NumberBlocks):
            raise InputError(
                f"{name}= is for tables that are read as a whole: row blocks have NumberBlocks(source, columns=, id_column=)"
            )
    return X if isinstance(X, NumberBlocks) else NumberBlocks(X, mini_batch=mini_batch, **reading)


def plan_of(blocks: NumberBlocks, plan: Plan) -> Plan:
    """The plan with what its clusterings of these blocks cannot be made again without."""
    return replace(plan, options={**plan.options, **_blockwise(blocks, plan)})


def _blockwise(blocks: NumberBlocks, plan: Plan) -> dict[str, int]:
    sampled = plan.init != "random" and blocks.n_rows > SAMPLE
    found = {"mini_batch": blocks.mini_batch, "starts_from": SAMPLE if sampled else 0}
    return {name: value for name, value in found.items() if value}


def _other_words(blocks: NumberBlocks, plan: Plan) -> str:
    """Why clusterings of the plan are not those of these blocks."""
    made = plan.blockwise.get("mini_batch", 0)
    if made != blocks.mini_batch:
        return f"the clustering was made with mini_batch={made}: give NumberBlocks(source, mini_batch={made})"
    return "the clustering was made in memory, from starts that row blocks do not draw: give the table itself"


def check_for_blocks(methods: Any, metric: str, **unused: Any) -> None:
    """Refuse what needs all objects in memory."""
    if is_auto(methods):
        raise InputError("methods='auto' looks at the whole table: name methods for row blocks, such as 'zipf+pca'")
    if metric != "euclidean":
        raise InputError(f"row blocks hold columns of numbers, and metric={metric!r} needs the whole matrix in memory")
    for name, value in unused.items():
        if value is not None:
            raise InputError(f"{name}= needs the whole table in memory: leave it out, or give the table itself")
    for name, _ in check_methods(methods):
        method = METHODS[name]
        if not method.is_batched or not (method.space == "columns" or isinstance(method, PCA)):
            raise InputError(
                f"{name} needs the whole table in memory: row blocks have the methods zipf, pca, minima and features"
            )


def _added(parts: Any) -> Any:
    """Sums in the order of the chunks."""
    total: Any = 0.0
    for part in parts:
        total = total + part
    return total


def _look(piece: Piece, *_: Any) -> list[tuple[Floats, Floats, Floats, bytes]]:
    return [(c.min(axis=0), c.max(axis=0), c.sum(axis=0), chunk_digest(c)) for c in chunks_of(piece)]


def _spread(piece: Piece, preparation: Preparation, space: Space, mean: Floats) -> list[Floats]:
    return [np.square(chunk - mean).sum(axis=0) for chunk in chunks_of(piece)]


def _products(piece: Piece, preparation: Preparation, space: Space) -> list[Floats]:
    """Sums of products of the columns in use, and below them the sums of the columns themselves."""
    with own_threads():
        rows = [preparation.apply(chunk) for chunk in chunks_of(piece)]
        return [np.vstack([chunk.T @ chunk, chunk.sum(axis=0)]) for chunk in rows]


def _extremes(piece: Piece, preparation: Preparation, space: Space) -> list[Floats]:
    """The score of every component that is farthest from 0."""
    with own_threads():
        scores = [space.transform(preparation.apply(chunk)) for chunk in chunks_of(piece)]
    return [one[np.abs(one).argmax(axis=0), range(one.shape[1])] for one in scores]


def _components(here: BlockSpace, plan: Plan) -> BlockSpace:
    """Principal components from the sums of products, as :class:`PCA` has them from the table."""
    n, d = here.blocks.n_rows, here.width
    if n < d:
        raise InputError(f"principal components of row blocks need at least as many rows as columns: {n} and {d}")
    check_size(n, d)
    sums = _added(here.each(_products))
    mean = sums[-1] / n
    with own_threads():
        values, vectors = largest_first(sums[:-1] - n * np.outer(mean, mean))
    axes = vectors[:, : n_axes(values, plan.options["pca_share"], plan.options["pca_rule"])]
    placed = BlockSpace(here.blocks, here.preparation, Components(None, axes, mean @ axes), axes.shape[1], here.n_jobs)
    far = np.array(list(placed.each(_extremes)))
    largest = far[np.abs(far).argmax(axis=0), range(axes.shape[1])]
    axes = axes * np.where(largest < 0, -1.0, 1.0)
    return BlockSpace(here.blocks, here.preparation, Components(None, axes, mean @ axes), axes.shape[1], here.n_jobs)
