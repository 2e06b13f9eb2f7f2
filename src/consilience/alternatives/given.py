"""What the user knows already: one or more groupings of the objects, and the groups they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._check import InputError, check_choice, count, show
from consilience._types import Labels
from consilience.ensemble import Ensemble, check_same_objects
from consilience.tables.vectors import columns_of

SEVERAL = ("joint", "each")


class TooSmallError(InputError):
    """There are too few objects, or too few that differ, for the clusters asked for."""


class NoSplitError(InputError):
    """The base clusterer left every group whole."""


@dataclass(frozen=True)
class Given:
    """The known groupings.

    Attributes
    ----------
    ensemble : Ensemble
        One column each, −1 where an object's group is not known.
    names : list of lists of str
        What the user calls the groups of each.
    """

    ensemble: Ensemble
    names: list[list[str]]

    @property
    def labels(self) -> Labels:
        """(n_objects, n_groupings) codes."""
        return self.ensemble.labels


@dataclass(frozen=True)
class Group:
    """Objects to split: those of one group, which grouping it is of, its number there, and what to call it."""

    rows: NDArray[np.int64]
    given: int
    code: int
    name: str


def check_given(given: Any, n_objects: int, X: Any = None) -> Given:
    """The known groupings: of the same objects as the data, each with at least two groups.

    Examples
    --------
    >>> from consilience.alternatives import check_given
    >>> check_given(["news", "sport", None], 3).names
    [['news', 'sport']]
    """
    ens = given if isinstance(given, Ensemble) else Ensemble(given)
    if ens.n_objects != n_objects:
        raise InputError(
            f"the given labels are of {count(ens.n_objects, 'object')}, the data of {n_objects:,}: give one label per row"
        )
    check_same_objects(ens, X, given)
    for name, groups in zip(ens.names, ens.n_clusters, strict=True):
        which = "the given grouping" if ens.n_clusterings == 1 else f"the given grouping {show(name)}"
        if groups == 0:
            raise InputError(f"{which} has no label at all: leave it out")
        if groups == 1:
            raise InputError(f"{which} has one group only, so anything would be new to it: give at least two groups")
    return Given(ens, _group_names(given, ens))


def _group_names(given: Any, ens: Ensemble) -> list[list[str]]:
    """The label of the first object of every group, as the user wrote it."""
    vectors = [None] * ens.n_clusterings if isinstance(given, Ensemble) else columns_of(given)[1]
    names = []
    for vector, codes in zip(vectors, ens.labels.T, strict=True):
        first = [int(np.argmax(codes == code)) for code in range(int(codes.max()) + 1)]
        values = range(len(first)) if vector is None else [getattr(vector, "iloc", vector)[i] for i in first]
        names.append([_text(value) for value in values])
    return names


def _text(value: Any) -> str:
    """A label as the user would say it: whole numbers without the point that a missing one beside them brought."""
    return str(int(value)) if isinstance(value, (float, np.floating)) and float(value).is_integer() else str(value)


def joint(labels: NDArray[Any]) -> Labels:
    """The groups that several groupings (n_objects, m) make together, numbered through; −1 where any label is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.alternatives.given import joint
    >>> joint(np.array([[0, 0], [0, 1], [1, 1], [0, 0], [1, -1]])).tolist()
    [0, 1, 2, 0, -1]
    """
    known = (labels >= 0).all(axis=1)
    out = np.full(len(labels), -1, np.int32)
    if known.any():
        out[known] = np.unique(labels[known], axis=0, return_inverse=True)[1].ravel()
    return out


def groups_of(given: Given | None, n_objects: int, several: str) -> list[Group]:
    """The groups to split: the cells of all groupings together ("joint"), or the groups of each ("each").

    Without a given grouping all objects are one group.

    Examples
    --------
    >>> from consilience.alternatives import check_given, groups_of
    >>> given = check_given([["a", "a", "b", "b"], [0, 1, 1, 1]], 4)
    >>> [(group.name, group.rows.tolist()) for group in groups_of(given, 4, "joint")]
    [('a × 0', [0]), ('a × 1', [1]), ('b × 1', [2, 3])]
    """
    check_choice(several, SEVERAL, "way to use several groupings")
    if given is None:
        return [Group(np.arange(n_objects), 0, 0, "all objects")]
    if several == "each" or given.labels.shape[1] == 1:
        return [
            Group(np.flatnonzero(codes == code), j, code, name)
            for j, (codes, names) in enumerate(zip(given.labels.T, given.names, strict=True))
            for code, name in enumerate(names)
        ]
    cells = joint(given.labels)
    groups = []
    for code in range(int(cells.max()) + 1):
        rows = np.flatnonzero(cells == code)
        parts = [names[label] for names, label in zip(given.names, given.labels[rows[0]], strict=True)]
        groups.append(Group(rows, 0, code, " × ".join(parts)))
    return groups
