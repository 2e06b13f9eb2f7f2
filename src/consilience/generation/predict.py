"""Labels of new objects, by every clustering of a run: the nearest mean, what its method says, or else the nearest object."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from consilience._check import InputError, count, fingerprint
from consilience._run.random import stream
from consilience._types import Array, ArrayLike, EnsembleLike, Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.ensemble.results import register
from consilience.generation.kmeans import cluster_means
from consilience.generation.methods.method import Space
from consilience.generation.plan import METHODS, Spec, of_row
from consilience.generation.runner import Runner, data_table
from consilience.generation.spaces import Preparation
from consilience.generation.tasks import weighted
from consilience.inputs import open_source
from consilience.measures import adjusted_rand
from consilience.tables import Encoder, Standardizer, Table, check_matrix, encode_rows
from consilience.tables.scaling_and_counts import CountScaling

BLOCK = 2**24  # safeguard: scores at a time, 128 MB
# safeguard: objects that a clustering without means keeps at most, and at least; and of all that weigh the columns in ways of their own.
NEIGHBORS, FEWEST, TOTAL = 20_000, 1000, 100_000
ALIKE = 0.5  # safeguard: adjusted Rand index of a clustering and the same made again, below which the data is not that of the run
OTHER = "the clusterings do not fit the data: is it the data, in the order, that they were made from?"

register(Preparation)
register(Standardizer)
register(CountScaling)


@register
@dataclass(frozen=True, eq=False)
class Means:
    # |w (x − c)|² = |w x|² − 2 x·(w² c) + |w c|², and the nearest mean needs the last two terms alone.

    space: Space
    columns: Ints  # which clusterings these are
    sizes: Ints  # their numbers of clusters
    factors: Floats  # (all clusters, width): −2 w² c
    constants: Floats  # |w c|²

    @classmethod
    def of(cls, space: Space, specs: list[Spec], columns: list[int], labels: Labels) -> Self:
        means, counts, sizes = cluster_means(space.table, labels[:, columns])
        weights = [np.ones(space.width) if spec.weights is None else spec.weights for spec in specs]
        squares = np.repeat(np.square(weights, dtype=float), sizes, axis=0)
        lengths = (squares * np.square(means)).sum(axis=1)
        constants = np.where(counts > 0, lengths, np.inf)  # no object joins an empty cluster
        return cls(space.bare(), np.asarray(columns), sizes, -2 * squares * means, constants)

    def label(self, table: ArrayLike, labels: Labels) -> None:
        table, begins = self.space.transform(table), np.concatenate([[0], np.cumsum(self.sizes)])
        step = max(1, BLOCK // len(self.factors))
        for begin in range(0, table.shape[0], step):
            rows = slice(begin, begin + step)
            scores = np.asarray(table[rows] @ self.factors.T) + self.constants
            for j, first, last in zip(self.columns, begins, begins[1:], strict=False):
                labels[rows, j] = scores[:, first:last].argmin(axis=1)


@register
@dataclass(frozen=True, eq=False)
class Nearest:
    """Clusterings without means: a new object has the labels of the nearest of the objects that are kept."""

    space: Space  # without its table
    columns: Ints
    weights: Array | None
    objects: Any  # (kept, width) array or CSR matrix, its columns weighted already
    labels: Labels  # (kept, clusterings)

    @classmethod
    def of(cls, space: Space, weights: Array | None, columns: list[int], labels: Labels, most: int) -> Self:
        # All objects, or a random sample of `most`, and of every cluster at least one.
        kept = np.arange(len(labels))
        if len(labels) > most:
            order = stream(len(labels), "generation.neighbors", columns[0]).permutation(len(labels))
            firsts = [order[np.unique(labels[order, j], return_index=True)[1]] for j in columns]
            kept = np.unique(np.concatenate([order[:most], *firsts]))
        objects = weighted(space.places[kept], weights)
        return cls(space.bare(), np.asarray(columns), weights, objects, labels[kept][:, columns])

    def label(self, table: ArrayLike, labels: Labels) -> None:
        from sklearn.metrics import pairwise_distances_argmin

        new = weighted(self.space.transform(table), self.weights)
        labels[:, self.columns] = self.labels[pairwise_distances_argmin(new, self.objects)]


@register
@dataclass(frozen=True, eq=False)
class Predicted:
    space: Space
    column: int
    weights: Array | None
    predictor: Any

    def label(self, table: ArrayLike, labels: Labels) -> None:
        labels[:, self.column] = self.predictor.label(weighted(self.space.transform(table), self.weights))


@register
@dataclass(frozen=True, eq=False)
class Labeler:
    # K-means keeps its means, and some methods what they place new objects by, so that no data is kept. Of other clusterers up to 20,000
    # objects are, fewer each where many of them weigh the columns in ways of their own (100,000 in all).

    preparation: Preparation
    n_clusterings: int
    parts: list[Any]

    @classmethod
    def of(cls, runner: Runner, ensemble: Ensemble) -> Self:
        specs = [runner.fitted(Spec.of_row(row)) for row in ensemble.info.to_dict("records")]
        means: dict[str, list[int]] = {}
        alike: dict[str, list[int]] = {}  # without means, but one search serves them all
        others: list[list[int]] = []
        parts: list[Any] = []
        for j, spec in enumerate(specs):
            space, method = runner.spaces.of(spec.method), METHODS[spec.method]
            if runner.base is None and method.is_kmeans:
                means.setdefault(method.space, []).append(j)
            elif (spec.seed, spec.unit) in runner.predictors:
                parts.append(Predicted(space.bare(), j, spec.weights, runner.predictors[spec.seed, spec.unit]))
            elif spec.weights is None:
                alike.setdefault(method.space, []).append(j)
            else:
                others.append([j])
        for columns in means.values():
            space = runner.spaces.of(specs[columns[0]].method)
            parts.append(Means.of(space, [specs[j] for j in columns], columns, ensemble.labels))
        each = int(np.clip(TOTAL // max(1, len(others)), FEWEST, NEIGHBORS))
        for columns, most in [*((part, NEIGHBORS) for part in alike.values()), *((part, each) for part in others)]:
            spec = specs[columns[0]]
            parts.append(Nearest.of(runner.spaces.of(spec.method), spec.weights, columns, ensemble.labels, most))
        return cls(runner.spaces.preparation, ensemble.n_clusterings, parts)

    def label(self, X: ArrayLike) -> Labels:
        # O(n_new · columns · all clusters).
        table = self.preparation.apply(X)
        labels = np.full((X.shape[0], self.n_clusterings), -1, np.int32)
        for part in self.parts:
            part.label(table, labels)
        return labels


def extend(ensemble: EnsembleLike, X: Any, new: Any, *, base: Any = None) -> Ensemble:
    """The clusterings of an ensemble that `generate` made with more objects, without clustering again.

    Parameters
    ----------
    ensemble : Ensemble, or the folder of a run
    X
        The data it was made from.
    new
        More rows of it.
    base : scikit-learn clusterer, optional
        The one it was made with, if it was.

    Returns
    -------
    Ensemble
        The objects of `X`, with their labels as they were, and then the new ones: at the nearest mean, or with the label of the
        nearest object where a clustering has no means. ``found.update(…)`` of a consensus takes it on.

    Notes
    -----
    Cost O(new · columns · all clusters). One clustering of every run in the ensemble is made again, which tells whether `X` is its data; a
    stored run knows it by its fingerprint besides.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> from consilience.generation import extend
    >>> beads = load_beads().values
    >>> ens = cs.generate(beads[:250], 20, n_clusters=4)
    >>> extend(ens, beads[:250], beads[250:])
    Ensemble: 20 clusterings of 300 objects
      clusters  4
      made by   zipf 10, pca 10
    """
    opened = open_source(ensemble, kind="labels")
    ens = opened.ensemble
    table = data_table(X, "euclidean")
    if table.n_objects != ens.n_objects:
        differ = f"the clusterings are of {count(ens.n_objects, 'object')}, and the data has {table.n_objects:,}"
        raise InputError(f"{differ}: give the data that they were made from")
    if opened.provenance.fingerprint not in (None, fingerprint(table.values)):
        raise InputError(OTHER)
    values, ids = _new_values(table, new)
    labels = np.full((values.shape[0], ens.n_clusterings), -1, np.int32)
    for columns, labeler in _labelers(ens, table, base):
        labels[:, columns] = labeler.label(values)
    if ens.ids is not None and ids is None:
        raise InputError("the objects of the clusterings have names: give the new ones names too, in a column of ids")
    every = None if ens.ids is None else np.concatenate([np.asarray(ens.ids, object), np.asarray(ids, object)])
    joined = np.concatenate([ens.labels, labels])
    return Ensemble.from_codes(joined, label_names=ens.label_names, info=ens.info, ids=every)


def _labelers(ens: Ensemble, table: Table, base: Any) -> list[tuple[Array, Labeler]]:
    settings: dict[str, list[int]] = {}
    rows = ens.info.to_dict("records") or [{}] * ens.n_clusterings  # pandas has no rows without columns
    for j, row in enumerate(rows):
        settings.setdefault(str(row.get("settings")), []).append(j)
    made = []
    for columns in settings.values():
        plan = of_row(rows[columns[0]], base)[1]
        if plan.metric != "euclidean":
            raise InputError(f"clusterings of {plan.metric} data cannot label new objects: give them the whole again")
        if plan.sample_size is not None:
            raise InputError("the clusterings were made from row blocks: run generate on all blocks, the new ones too")
        runner, some = Runner(table, plan, base), ens[:, columns]
        # The clustering with the most clusters must come out again, or the data is not that of the run.
        best = int(np.argmax(some.n_clusters))
        again, _ = runner.make(runner.fitted(Spec.of_row(some.info.iloc[best])))
        if not adjusted_rand(some.labels[:, best], again[0]) >= ALIKE:  # not a number where none has a label in both
            raise InputError(OTHER)
        made.append((np.array(columns), Labeler.of(runner, some)))
    return made


def _new_values(table: Table, new: Any) -> tuple[Any, Array | None]:
    if table.encoder is not None:
        read = encode_rows(new, table.encoder)
    elif table.aside and table.columns is not None:  # by name, whatever else the new table has
        read = encode_rows(new, Encoder.of_numbers(table.values, table.columns, decimal=table.reading.decimal))
    else:
        read = data_table(new, "euclidean", least=1)
    values = check_matrix(read)
    if values.shape[1] != table.values.shape[1]:
        columns = count(table.values.shape[1], "column")
        raise InputError(f"the data has {columns}, and the new objects have {values.shape[1]:,}")
    return values, read.ids
