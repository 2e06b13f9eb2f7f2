"""Making a series of clusterings: the data checked, recipes carried out batch by batch, all of it kept."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from consilience._check import (
    InputError,
    count,
    fingerprint,
)
from consilience._progress import Bar
from consilience.ensemble import Ensemble
from consilience.generation.batch import Workshop
from consilience.generation.ledger import Ledger, Series
from consilience.generation.plan import Settings
from consilience.generation.spaces import GenerationWarning, Spaces
from consilience.generation.specs import Recipe
from consilience.generation.spectral import check_spectral
from consilience.store import Store
from consilience.tables import Table, read_table

GIVE_UP = 20  # failures in a row, with nothing made, after which a base clusterer is taken to be wrong for the data


def make_series(
    shop: Workshop,
    ledger: Ledger,
    series: Series,
    n: int,
    recipes: Callable[[Sequence[int]], list[Recipe]],
    progress: bool | None,
) -> Ensemble:
    """Make what is not finished of a series, batch by batch, and return it whole."""
    finished = ledger.finished(series)
    todo = [unit for unit in range(n) if unit not in finished]
    failed: list[str] = []
    with Bar(n, "clusterings", progress, done=n - len(todo)) as bar:
        size = shop.batch_size
        for begin in range(0, len(todo), size):
            some = todo[begin : begin + size]
            labels, info = shop.make(recipes(some))
            ledger.add(labels, info)
            failed += info.loc[(labels < 0).all(axis=1), "note"].tolist()
            nothing = not finished and len(failed) == begin + len(some)
            if nothing and len(failed) >= min(len(todo), GIVE_UP):
                raise InputError(f"none of the first {len(failed)} clusterings could be made by base: {failed[0]}")
            bar.advance(len(some))
    if failed:
        message = f"{len(failed)} of {count(n, 'clustering')} could not be made by base and are left out: {failed[0]}"
        warnings.warn(GenerationWarning(message), stacklevel=3)
    return ledger.ensemble(series, n)


def data_table(X: Any, metric: str) -> Table:
    """The data as a table of the kind that the metric needs, with at least two objects."""
    kind = "distances" if metric == "precomputed" else "data"
    if isinstance(X, Table) and X.kind != kind:
        raise InputError(f"{X!r} holds {X.kind}, and metric={metric!r} needs {kind}")
    table = X if isinstance(X, Table) else read_table(np.asarray(X) if isinstance(X, (list, tuple)) else X, kind=kind)
    if table.n_objects < 2:
        raise InputError(f"{table.source}: there is nothing to cluster in {count(table.n_objects, 'object')}")
    return table


def workshop_for(table: Table, settings: Settings, base: Any, n_jobs: int | None) -> Workshop:
    """What makes clusterings of the data by these settings; refused if it could not."""
    largest = max(settings.n_clusters)
    if largest > table.n_objects:
        raise InputError(
            f"{largest} clusters need as many objects, and {table.source} has {table.n_objects}: lower n_clusters"
        )
    if "spectral" in dict(settings.methods):
        check_spectral(table.n_objects)
    return Workshop(Spaces(table.values, settings), base, n_jobs)


@contextlib.contextmanager
def ledger_for(table: Table, path: Any, plan: Any) -> Iterator[Ledger]:
    """Memory, or the store of a run, held until the end."""
    if path is None:
        yield Ledger(table.ids)
        return
    with Store.resume(
        path, n_objects=table.n_objects, fingerprint=fingerprint(table.values), plan=plan, ids=table.ids
    ) as store:
        yield Ledger(table.ids, store)
