"""What the agreement process gives: clusterings of both sides, before and after every iteration."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError, check_labels, count
from consilience._types import Array
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result, register
from consilience.ensemble.store import StoreWarning
from consilience.ensemble.store.columns import encode_info
from consilience.measures import accuracy, stability

PLACES = ("iteration", "run")  # columns of a saved side's info that say which clustering is which
TAKEN = ("name", *PLACES, "number")  # those that saving fills itself: the clusterings' own get a prefix
GIVEN = "given_"


@register
@dataclass(frozen=True, eq=False)
class Sides:
    rows: Ensemble
    columns: Ensemble


@dataclass(frozen=True, eq=False)
class Agreement(Result):
    """What :func:`agree` found.

    Attributes
    ----------
    before, after : Sides
        ``.rows`` and ``.columns``, ensembles. Rows and columns without counts have no label (−1), or the
        label they were given.
    iterations : list of Sides
        After every iteration; the last is `after`.
    objective : array
        Σ_i Σ_j I(X̃_i; Ỹ_j) in nats, at the start and after every half of an iteration; it never falls.
    empty_rows, empty_columns : int arrays
        Those without counts, which nothing can move.
    source : str or None
        The file the counts came from, or the type of the object.

    Notes
    -----
    A saved agreement holds two stores: ``Ensemble.load(folder / "rows")`` reads all clusterings of the rows, and `iteration`
    (0 is before) and `run` in its info say which is which.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import consilience as cs
    >>> folder = Path(tempfile.mkdtemp()) / "found"
    >>> cs.agree(np.kron([[3, 0], [0, 3]], np.ones((4, 6), int)), 2, n_clusterings=3, max_iter=1).save(folder)
    >>> cs.agreement.Agreement.load(folder).after.rows.n_clusterings
    3
    >>> cs.Ensemble.load(folder / "rows").info.query("iteration == 1")["run"].tolist()
    [0, 1, 2]
    """

    before: Sides
    after: Sides
    iterations: list[Sides]
    objective: NDArray[np.float64]
    empty_rows: NDArray[np.int64] = field(repr=False)
    empty_columns: NDArray[np.int64] = field(repr=False)
    source: str | None = None

    def stability_by_iteration(self, known: Any = None, *, n_jobs: int | None = None) -> pd.DataFrame:
        """How alike the clusterings are before the process and after every iteration, and how near to known labels.

        Parameters
        ----------
        known : (n_rows,) labels, or a mapping of names to them, optional
            Known classes of the rows; rows without one are left out of the accuracy.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        DataFrame
            One row per `iteration`, 0 is before: `rows` and `columns`, the mean Jaccard index over all pairs of clusterings (NaN for
            a single one), and with `known` the mean `accuracy` of the clusterings of the rows (``accuracy:name`` for each of
            a mapping); each with its standard error (`rows_sem` and so on).

        Notes
        -----
        The process makes the clusterings depend on each other: their standard error afterwards says how much they differ, not how far
        another run of the process would end from this one.

        Examples
        --------
        >>> import numpy as np
        >>> import consilience as cs
        >>> counts = np.kron([[3, 0], [0, 3]], np.ones((2, 3), int))
        >>> rows, columns = [[0, 0, 1, 1], [0, 1, 1, 1]], [[0, 0, 0, 1, 1, 1]] * 2
        >>> found = cs.agree(counts, rows=rows, columns=columns, max_iter=1)
        >>> found.stability_by_iteration(list("aabb"))[["iteration", "rows", "columns", "accuracy"]]
           iteration  rows  columns  accuracy
        0          0  0.25      1.0     0.875
        1          1  1.00      1.0     1.000
        """
        given = known if isinstance(known, Mapping) else {} if known is None else {"": known}
        codes = {
            f"accuracy:{name}" if name else "accuracy": check_labels(labels, "the known labels")
            for name, labels in given.items()
        }
        n_rows = self.before.rows.n_objects
        if wrong := [len(some) for some in codes.values() if len(some) != n_rows]:
            raise InputError(
                f"the known labels are {wrong[0]} for {count(n_rows, 'row')}: give one per row, in its order"
            )
        looks = [_look(sides, codes, n_jobs) for sides in (self.before, *self.iterations)]
        return pd.DataFrame([{"iteration": i, **look} for i, look in enumerate(looks)])

    @property
    def ensemble(self) -> Ensemble:
        """The clusterings of the rows after the process: what a verb on clusterings takes."""
        return self.after.rows

    @property
    def ids(self) -> Array | None:
        """Names of the rows."""
        return self.after.rows.ids

    def to_frame(self) -> pd.DataFrame:
        """:meth:`stability_by_iteration`."""
        return self.stability_by_iteration()

    def _write(self, folder: Path) -> dict[str, Any]:
        """Two stores, `rows` and `columns`, with the clusterings of every iteration (0 is before) one after the other."""
        steps = (self.before, *self.iterations)
        for side in ("rows", "columns"):
            _joined([getattr(sides, side) for sides in steps]).save(folder / side)
        return {
            "n_clusterings": self.before.rows.n_clusterings,
            "n_column_clusterings": self.before.columns.n_clusterings,
            "n_iter": len(self.iterations),
            "objective": self.objective.tolist(),
            "empty_rows": self.empty_rows.tolist(),
            "empty_columns": self.empty_columns.tolist(),
            "source": self.source,
        }

    @classmethod
    def _read(cls, folder: Path, header: Mapping[str, Any]) -> Self:
        m = {"rows": int(header["n_clusterings"]), "columns": int(header["n_column_clusterings"])}
        objective = np.array(header["objective"], np.float64)
        empty = np.array(header["empty_rows"], np.int64), np.array(header["empty_columns"], np.int64)
        rows, columns = (_parted(folder / side, runs, int(header["n_iter"]) + 1) for side, runs in m.items())
        before, *after = (Sides(*pair) for pair in zip(rows, columns, strict=True))
        return cls(before, after[-1], after, objective, *empty, header["source"])

    def __repr__(self) -> str:
        m, steps = self.after.rows.n_clusterings, len(self.iterations)
        lines = [f"Agreement of {count(m, 'clustering')} of rows and columns, {count(steps, 'iteration')}"]
        table = self.stability_by_iteration()
        for side in ("rows", "columns"):
            n, alike = getattr(self.after, side).n_objects, table[side]
            if not alike.isna().any():
                lines.append(f"{n:,} {side}: jaccard {alike.iloc[0]:.4f} before, {alike.iloc[-1]:.4f} after")
        lines.append(f"objective {self.objective[0]:.6g} before, {self.objective[-1]:.6g} after")
        for what, empty in (("row", self.empty_rows), ("column", self.empty_columns)):
            if len(empty):
                lines.append(f"{count(len(empty), what)} without counts")
        return "\n  ".join(lines)


def _joined(ensembles: Sequence[Ensemble]) -> Ensemble:
    """All clusterings of a side, with their places in the info."""
    parts = []
    for t, ensemble in enumerate(ensembles):
        own = ensemble.info.rename(columns={name: GIVEN + name for name in TAKEN})
        own.insert(0, "iteration", t)
        own.insert(1, "run", np.arange(len(own)))
        encode_info(own, len(own))
        parts.append(Ensemble.from_codes(ensemble.labels, label_names=ensemble.label_names, info=own, ids=ensemble.ids))
    return Ensemble.concat(parts)


def _parted(folder: Path, m: int, steps: int) -> list[Ensemble]:
    """The store of a side, one ensemble for every step; a store that lacks anything is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", StoreWarning)
        try:
            whole = Ensemble.load(folder)
        except StoreWarning as damage:
            raise InputError(f"the saved agreement is damaged: {damage}") from None
    places = np.array([np.repeat(np.arange(steps), m), np.tile(np.arange(m), steps)]).T
    if not set(PLACES) <= set(whole.info) or not np.array_equal(whole.info[list(PLACES)].to_numpy(), places):
        raise InputError(f"{folder} does not hold {m} clusterings of each of {steps} steps: save it again")
    info = whole.info.drop(columns=list(PLACES)).rename(columns={GIVEN + name: name for name in TAKEN})
    found = Ensemble.from_codes(whole.labels, label_names=whole.label_names, info=info, ids=whole.ids)
    return [found[:, t * m : (t + 1) * m] for t in range(steps)]


def _look(sides: Sides, known: dict[str, Any], n_jobs: int | None) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, ensemble in (("rows", sides.rows), ("columns", sides.columns)):
        alone = ensemble.n_clusterings == 1
        value = None if alone else stability(ensemble, "jaccard", n_jobs=n_jobs)
        found |= {name: value.mean if value else np.nan, f"{name}_sem": value.sem if value else np.nan}
    for name, codes in known.items():
        values = np.array([accuracy(codes, labels) for labels in sides.rows.labels.T])
        found |= {name: float(values.mean()), f"{name}_sem": sem(values)}
    return found


def sem(values: NDArray[np.float64]) -> float:
    """Standard error of the mean; NaN for a single value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
