"""Missing cells filled from the most similar rows, in as many ways as there are clusterings to try them."""

from dataclasses import dataclass

import numpy as np

from consilience._run.random import stream
from consilience._types import Array, Floats, Ints

NEIGHBORS = 10  # rows that a cell may be taken from
# safeguard: of time, and of memory in saved models: size of the rows that are compared with
CELLS, MOST_DONORS, FEWEST_DONORS = 300_000, 1000, 50
BLOCK = 2**22  # safeguard: of memory, comparisons at a time


@dataclass(frozen=True, eq=False)
class Gap:
    """The missing cells of one column: their rows, and the donors (rows of another table) that each may be taken from."""

    columns: Ints  # of the encoded table
    rows: Ints
    donors: Array  # (rows, neighbors) int32; the nearest first


@dataclass(frozen=True, eq=False)
class Gaps:
    """All missing cells of a table, and the encoded rows that they are filled from."""

    gaps: list[Gap]  # one for each column that has any
    donors: Floats  # (donors, columns); NaN where a donor lacks a cell itself, and no gap names such a donor

    @property
    def n_cells(self) -> int:
        """Number of missing cells, a category counted once."""
        return sum(len(gap.rows) for gap in self.gaps)

    def fill(self, values: Floats, filling: int | None = None) -> None:
        """Fill the missing cells of `values`, in place: from one donor each, drawn by the filling's own stream, or with the mean."""
        draws = None if filling is None else stream(0, "tables.filling", filling)
        for gap in self.gaps:
            at = np.ix_(gap.rows, gap.columns)
            if draws is None:
                values[at] = self.donors[:, gap.columns][gap.donors].mean(axis=1)
            else:
                pick = draws.integers(0, gap.donors.shape[1], len(gap.rows))
                values[at] = self.donors[:, gap.columns][gap.donors[np.arange(len(pick)), pick]]

    def of_rows(self, places: Ints) -> "Gaps":
        found = []
        for gap in self.gaps:
            where = np.full(int(max(places.max(initial=-1), gap.rows.max(initial=-1))) + 1, -1)
            where[gap.rows] = np.arange(len(gap.rows))
            own = where[places]
            rows = np.flatnonzero(own >= 0)
            if rows.size:
                found.append(Gap(gap.columns, rows, gap.donors[own[rows]]))
        return Gaps(found, self.donors)


def choose_donors(n_rows: int, width: int) -> Ints:
    """Which rows of a table are compared with: all of a small one, otherwise rows drawn once."""
    most = int(np.clip(CELLS // max(width, 1), FEWEST_DONORS, MOST_DONORS))
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(stream(0, "tables.donors").choice(n_rows, most, replace=False))


def find_gaps(values: Floats, donors: Floats, groups: Ints, scale: Floats) -> Gaps:
    """The missing cells of an encoded table, whose groups of columns lack them together, and the donors nearest to their rows."""
    # The distance is the mean square over the columns that both rows have. A donor that is the row itself lacks the cell, so it is
    # never taken. O(rows with gaps · donors · columns) time; blocks keep memory bounded.
    from sklearn.metrics.pairwise import nan_euclidean_distances

    lost = np.isnan(values)
    rows = np.flatnonzero(lost.any(axis=1))
    first = np.unique(groups, return_index=True)[1]
    has = ~np.isnan(donors)
    chosen: dict[int, list[tuple[Ints, Array]]] = {}
    step = max(1, BLOCK // max(len(donors), 1))
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        far = np.nan_to_num(nan_euclidean_distances(values[some] / scale, donors / scale), nan=np.inf)
        for column in first:
            here = np.flatnonzero(lost[some, column])
            give = np.flatnonzero(has[:, column])
            if here.size:
                take = min(NEIGHBORS, len(give))
                distances = far[np.ix_(here, give)]
                near = np.tile(np.arange(take), (len(here), 1))
                if take < len(give):
                    near = np.argpartition(distances, take - 1, axis=1)[:, :take]
                chosen.setdefault(int(column), []).append((some[here], give[near].astype(np.int32)))
    gaps = []
    for column, parts in sorted(chosen.items()):
        columns = np.flatnonzero(groups == groups[column])
        gaps.append(Gap(columns, np.concatenate([r for r, _ in parts]), np.concatenate([d for _, d in parts])))
    return Gaps(gaps, donors)
