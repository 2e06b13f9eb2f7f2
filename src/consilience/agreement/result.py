"""What the agreement process gives: clusterings of both sides, before and after every iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import check_choice, check_labels, count
from consilience.comparison import accuracy, stability
from consilience.ensemble import Ensemble


@dataclass(frozen=True)
class Sides:
    """Clusterings of the rows and of the columns."""

    rows: Ensemble
    columns: Ensemble


@dataclass(frozen=True)
class Agreement:
    """What :func:`agree` found.

    Attributes
    ----------
    before, after : Sides
        ``.rows`` and ``.columns``, ensembles of m clusterings each. Rows and columns without counts have no label (−1), or the
        label they were given.
    iterations : list of Sides
        After every iteration; the last is `after`.
    objective : array
        Σ_i Σ_j I(X̃_i; Ỹ_j) in nats, at the start and after every half of an iteration; it never falls.
    empty_rows, empty_columns : int arrays
        Those without counts, which nothing can move.
    """

    before: Sides
    after: Sides
    iterations: list[Sides]
    objective: NDArray[np.float64]
    empty_rows: NDArray[np.int64] = field(repr=False)
    empty_columns: NDArray[np.int64] = field(repr=False)

    def stability(self, measure: str = "jaccard") -> pd.DataFrame:
        """How alike the clusterings are, before (iteration 0) and after every iteration: mean over pairs and standard error."""
        rows = []
        for t, sides in enumerate([self.before, *self.iterations]):
            for side in ("rows", "columns"):
                found = stability(getattr(sides, side), measure)
                rows.append({"iteration": t, "side": side, "mean": found.mean, "sem": found.sem})
        return pd.DataFrame(rows)

    def accuracy(self, truth: Any, side: str = "rows") -> pd.DataFrame:
        """Mean accuracy of a side's clusterings and its standard error, before (iteration 0) and after every iteration."""
        check_choice(side, ("rows", "columns"), "side")
        known = check_labels(truth, "truth")
        rows = []
        for t, sides in enumerate([self.before, *self.iterations]):
            values = np.array([accuracy(known, labels) for labels in getattr(sides, side)])
            sem = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
            rows.append({"iteration": t, "mean": float(values.mean()), "sem": sem})
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        m, steps = self.after.rows.n_clusterings, len(self.iterations)
        lines = [f"Agreement of {count(m, 'clustering')} of rows and columns, {count(steps, 'iteration')}"]
        if m > 1:
            table = self.stability()
            for side in ("rows", "columns"):
                mean = table[table["side"] == side]["mean"]
                n = getattr(self.after, side).n_objects
                lines.append(f"{n:,} {side}: jaccard {mean.iloc[0]:.4f} before, {mean.iloc[-1]:.4f} after")
        lines.append(f"objective {self.objective[0]:.6g} before, {self.objective[-1]:.6g} after")
        for what, empty in (("row", self.empty_rows), ("column", self.empty_columns)):
            if len(empty):
                lines.append(f"{count(len(empty), what)} without counts")
        return "\n  ".join(lines)
