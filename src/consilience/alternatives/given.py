"""What the user knows already: one or more groupings of the objects, and the groups they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._check import InputError, check_choice, count, show
from consilience._types import EnsembleLike, Labels
from consilience.ensemble import Ensemble, check_same_objects
from consilience.inputs import as_ensemble

MULTIPLE_GIVEN = ("joint", "each")


class TooSmallError(InputError):
    """There are too few objects, or too few that differ, for the clusters asked for."""


class NoSplitError(InputError):
    """The base clusterer left every group whole."""


@dataclass(frozen=True)
class Group:
    """Objects to split: those of one group, which grouping it is of, its number there, and what to call it."""

    rows: NDArray[np.int64]
    given: int
    code: int
    name: str


def check_given(given: EnsembleLike, n_objects: int, X: Any = None) -> Ensemble:
    """The known groupings: of the same objects as the data, each with at least two groups."""
    ens = as_ensemble(given)
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
    return ens


def group_names(given: Ensemble) -> list[list[str]]:
    """What the user calls the groups of each grouping, by code.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.alternatives.given import group_names
    >>> group_names(cs.Ensemble([["news", "sport", None], [2.0, 1.0, float("nan")]]))
    [['news', 'sport'], ['1', '2']]
    """
    return [[_text(label) for label in given.categories(j)] for j in range(given.n_clusterings)]


def _text(label: Any) -> str:
    """Whole numbers without the point that a missing one beside them brought."""
    return str(int(label)) if isinstance(label, (float, np.floating)) and float(label).is_integer() else str(label)


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


def groups_of(given: Ensemble | None, n_objects: int, multiple_given: str) -> list[Group]:
    """The groups to split: the cells of all groupings together ("joint"), or the groups of each ("each").

    Without a given grouping all objects are one group.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.alternatives.given import groups_of
    >>> given = cs.Ensemble([["a", "a", "b", "b"], [0, 1, 1, 1]])
    >>> [(group.name, group.rows.tolist()) for group in groups_of(given, 4, "joint")]
    [('a × 0', [0]), ('a × 1', [1]), ('b × 1', [2, 3])]
    """
    check_choice(multiple_given, MULTIPLE_GIVEN, "way to use multiple given groupings")
    if given is None:
        return [Group(np.arange(n_objects), 0, 0, "all objects")]
    names = group_names(given)
    if multiple_given == "each" or given.n_clusterings == 1:
        return [
            Group(rows, j, code, name)
            for j, codes in enumerate(given.labels.T)
            for code, name in enumerate(names[j])
            if len(rows := np.flatnonzero(codes == code))
        ]
    cells = joint(given.labels)
    groups = []
    for code in range(int(cells.max()) + 1):
        rows = np.flatnonzero(cells == code)
        parts = [own[label] for own, label in zip(names, given.labels[rows[0]], strict=True)]
        groups.append(Group(rows, 0, code, " × ".join(parts)))
    return groups
