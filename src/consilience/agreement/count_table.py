"""A count table as both of its sides see it, and clusterings of the objects of a side that have counts."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_choice, count
from consilience._names import unique_names
from consilience._types import Labels
from consilience.engine.views import Views, count_views
from consilience.ensemble import Ensemble
from consilience.inputs import as_ensemble, as_table

WEIGHTINGS = ("uniform", "length")


@dataclass(frozen=True)
class Objects:
    kept: NDArray[np.int64]  # which of the objects have counts
    n_objects: int  # with those that have none
    ids: NDArray[Any] | None

    @property
    def empty(self) -> NDArray[np.int64]:
        return np.setdiff1d(np.arange(self.n_objects), self.kept)

    def to_all(self, labels: Labels) -> Labels:
        """Labels of all objects from those of the kept ones; the rest have −1."""
        found = np.full(self.n_objects, -1, np.int32)
        found[self.kept] = labels
        return found


@dataclass(frozen=True)
class Side(Objects):
    """The objects of one side that have counts, each with its counts over the objects of the other (`views`: one, the table itself)."""

    views: Views


@dataclass(frozen=True)
class Clusterings:
    """Clusterings of the objects of a side that have counts; :meth:`ensemble` is the only place where all objects come in."""

    side: Objects
    codes: list[Labels]  # 0 … k − 1, every number in use
    info: pd.DataFrame  # one row per clustering
    # of the user: objects without counts keep their labels, and clusters their numbers and names
    given: Ensemble | None = None

    def ensemble(self, improved: list[Labels] | None = None) -> Ensemble:
        """The clusterings of all objects, or others of their kind; −1 for those without counts, unless they had a label."""
        side, given, now = self.side, self.given, improved or self.codes
        if given is None:
            labels = np.column_stack([side.to_all(codes) for codes in now])
            return Ensemble.from_codes(labels, info=self.info, ids=side.ids)
        labels = np.array(given.labels)
        for j, codes in enumerate(now):
            before = given.labels[side.kept, j]
            labels[side.kept, j] = np.unique(before[before >= 0])[codes]
        ids = side.ids if given.ids is None else given.ids
        return Ensemble.from_codes(labels, label_names=given.label_names, info=self.info, ids=ids)


@dataclass(frozen=True)
class Counts:
    rows: Side
    columns: Side
    source: str

    @property
    def transposed(self) -> Self:
        return replace(self, rows=self.columns, columns=self.rows)


def check_counts(counts: Any, weighting: str = "uniform") -> Counts:
    """A count table, ready for the engine: rows and columns without counts set aside, rows weighted."""
    check_choice(weighting, WEIGHTINGS, "weighting")
    table = as_table(counts, "counts")
    values = sparse.csr_matrix(table.values, dtype=np.float64, copy=True)
    values.eliminate_zeros()
    length = np.asarray(values.sum(axis=1)).ravel()
    kept = np.flatnonzero(length > 0)
    seen = np.flatnonzero(np.asarray(values.sum(axis=0)).ravel() > 0)
    if not len(kept):
        raise InputError(f"{table.source}: all counts are 0, so that nothing can be clustered")
    shape = values.shape
    if (len(kept), len(seen)) != shape:
        values = values[kept][:, seen]
    if weighting == "uniform":
        values = sparse.csr_matrix(sparse.diags(length[kept].mean() / length[kept]) @ values)
    rows = Side(kept, shape[0], table.ids, count_views([values]))
    names = None if table.columns is None else np.array(unique_names(table.columns), object)
    return Counts(rows, Side(seen, shape[1], names, count_views([values.T])), table.source)


def ensemble_of(clusterings: Any, what: str, n_objects: int) -> Ensemble:
    """Clusterings of all rows or all columns of a table; `what` is one of them."""
    ens = as_ensemble(clusterings)
    if ens.n_objects != n_objects:
        raise InputError(
            f"the table has {count(n_objects, what)}, and the clusterings of the {what}s are of {ens.n_objects:,} objects: "
            "give those made from this table"
        )
    return ens
