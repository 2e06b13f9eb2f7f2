"""The clusterings of a run with more objects: every one of them labels the new rows as it labeled the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._check import InputError, count, fingerprint
from consilience._types import Array, EnsembleLike
from consilience.ensemble import Ensemble
from consilience.generation.clustering_spec import Spec
from consilience.generation.predict import Labeler
from consilience.generation.runner import Runner, data_table
from consilience.generation.variations import of_row
from consilience.inputs import open_source
from consilience.measures import adjusted_rand
from consilience.tables import Encoder, Table, check_matrix, encode_rows

ALIKE = 0.5  # adjusted Rand index of a clustering and the same made again, below which the data is not that of the run
OTHER = "the clusterings do not fit the data: is it the data, in the order, that they were made from?"


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
        raise InputError(
            f"the clusterings are of {count(ens.n_objects, 'object')}, and the data has {table.n_objects:,}: give the data that "
            "they were made from"
        )
    if opened.provenance.fingerprint not in (None, fingerprint(table.values)):
        raise InputError(OTHER)
    values, ids = _new_values(table, new)
    labels = np.full((values.shape[0], ens.n_clusterings), -1, np.int32)
    for columns, labeler in _labelers(ens, table, base):
        labels[:, columns] = labeler.label(values)
    if ens.ids is not None and ids is None:
        raise InputError(
            "the objects of the clusterings have names: give the new ones names as well, in a column of ids"
        )
    every = None if ens.ids is None else np.concatenate([np.asarray(ens.ids, object), np.asarray(ids, object)])
    return Ensemble.from_codes(
        np.concatenate([ens.labels, labels]), label_names=ens.label_names, info=ens.info, ids=every
    )


def _labelers(ens: Ensemble, table: Table, base: Any) -> list[tuple[Array, Labeler]]:
    """What labels new rows, for the clusterings of every plan."""
    settings: dict[str, list[int]] = {}
    rows = ens.info.to_dict("records") or [{}] * ens.n_clusterings  # pandas has no rows without columns
    for j, row in enumerate(rows):
        settings.setdefault(str(row.get("settings")), []).append(j)
    made = []
    for columns in settings.values():
        plan = of_row(rows[columns[0]], base)[1]
        if plan.metric != "euclidean":
            raise InputError(f"clusterings of {plan.metric} data cannot label new objects: give them the whole again")
        runner = Runner(table, plan, base)
        _check_data(runner, ens[:, columns])
        made.append((np.array(columns), Labeler.of(runner, ens[:, columns])))
    return made


def _check_data(runner: Runner, ens: Ensemble) -> None:
    """Refuse data that the clusterings were not made from: the one with the most clusters must come out again."""
    best = int(np.argmax(ens.n_clusters))
    again, _ = runner.make([runner.fitted(Spec.of_row(ens.info.iloc[best]))])
    if not adjusted_rand(ens.labels[:, best], again[0]) >= ALIKE:  # not a number where none has a label in both
        raise InputError(OTHER)


def _new_values(table: Table, new: Any) -> tuple[Any, Array | None]:
    """New rows as numbers, and their names."""
    if table.encoder is not None:
        read = encode_rows(new, table.encoder)
    elif table.aside and table.columns is not None:  # by name, whatever else the new table has
        read = encode_rows(new, Encoder.of_numbers(table.values, table.columns, decimal=table.decimal))
    else:
        read = data_table(new, "euclidean", least=1)
    values = check_matrix(read)
    if values.shape[1] != table.values.shape[1]:
        raise InputError(
            f"the data has {count(table.values.shape[1], 'column')}, and the new objects have {values.shape[1]:,}"
        )
    return values, read.ids
