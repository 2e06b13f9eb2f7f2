"""What the agreement process gives: clusterings of both sides, before and after every iteration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError, check_labels, count
from consilience.agreement.storage import read_agreement, write_agreement
from consilience.ensemble import Ensemble
from consilience.measures import accuracy, stability


@dataclass(frozen=True, eq=False)
class Sides:
    """Clusterings of the rows and of the columns."""

    rows: Ensemble
    columns: Ensemble


@dataclass(frozen=True, eq=False)
class Agreement:
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
        codes = {f"accuracy:{name}" if name else "accuracy": self._codes(labels) for name, labels in given.items()}
        looks = [_look(sides, codes, n_jobs) for sides in (self.before, *self.iterations)]
        return pd.DataFrame([{"iteration": i, **look} for i, look in enumerate(looks)])

    def _codes(self, known: Any) -> NDArray[np.int32]:
        codes, rows = check_labels(known, "the known labels"), self.before.rows.n_objects
        if len(codes) != rows:
            raise InputError(
                f"the known labels are {len(codes)} for {count(rows, 'row')}: give one per row, in its order"
            )
        return codes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a new folder: two stores, `rows` and `columns`, with the clusterings of every iteration, and a header.

        ``Ensemble.load(folder / "rows")`` reads all clusterings of the rows; `iteration` (0 is before) and `run` in its info
        say which is which. The folder appears whole or not at all.

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
        steps = (self.before, *self.iterations)
        header = {
            "n_clusterings": self.before.rows.n_clusterings,
            "n_column_clusterings": self.before.columns.n_clusterings,
            "n_iter": len(self.iterations),
            "objective": self.objective.tolist(),
            "empty_rows": self.empty_rows.tolist(),
            "empty_columns": self.empty_columns.tolist(),
            "source": self.source,
        }
        sides = {"rows": [sides.rows for sides in steps], "columns": [sides.columns for sides in steps]}
        write_agreement(path, header, sides)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Agreement:
        """Read what :meth:`save` wrote; a folder that lacks anything is refused by the name of what is damaged."""
        header, found = read_agreement(path)
        before, *after = (Sides(rows, columns) for rows, columns in zip(found["rows"], found["columns"], strict=True))
        arrays = header["objective"], header["empty_rows"], header["empty_columns"]
        return Agreement(before, after[-1], after, *arrays, header.get("source"))

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
