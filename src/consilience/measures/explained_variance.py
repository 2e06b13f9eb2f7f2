"""What a clustering follows: the share of every column's variance that lies between its clusters."""

from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import beta

from consilience._types import Array, Floats
from consilience.measures.spreads_and_top_words import ComparableTable

OBJECTS, COLUMNS = 5000, 1000  # safeguard: time; objects and columns looked at
MARKED = 0.25  # safeguard: display; share of a column's variance between clusters that is worth a word
WORTHY = 3  # safeguard: display; columns that are named
LISTED = 20  # safeguard: time; columns that clusterings are told apart by
CLEARLY = 0.1  # safeguard: display; by how much more one goes by a column than others on average, to be named by it
RARE = 0.01  # how often chance may make one of the columns look followed


class VarianceBetween:
    """A table, ready to say of any clustering of its objects which columns it follows. Cost O(n d) to make, and for every clustering."""

    # Of large data some rows are looked at, evenly spaced, and of wide data the columns of the largest variance; the columns that stand
    # for one of the table as it came are taken together.

    def __init__(self, table: ComparableTable) -> None:
        data = table.data
        assert data is not None
        n = data.n_objects
        self._rows = np.arange(n)[:: max(1, -(-n // OBJECTS))]
        values, names = table.comparable[self._rows], table.features
        groups = data.groups if data.in_words else None
        if groups is not None and data.original is not None:
            names = [str(name) for name in data.original.columns]
        elif values.shape[1] > COLUMNS:
            places = _widest(values)
            values, names = values[:, places], [names[i] for i in places]
        dense: Array = np.asarray(values.toarray() if sparse.issparse(values) else values, float)
        dense = dense - dense.mean(axis=0)
        spread = dense.std(axis=0)
        self._table, self.names = dense / np.where(spread > 0, spread, 1), names
        self._groups = np.arange(len(names)) if groups is None else groups

    def of(self, labels: Array) -> Floats:
        """The shares, one for each name, of label codes of all objects; −1 is left out."""
        codes = labels[self._rows]
        known = np.flatnonzero(codes >= 0)
        some = self._table[known]
        shape = (int(codes.max(initial=-1)) + 1, len(known))
        member = sparse.csr_matrix((np.ones(len(known)), (codes[known], np.arange(len(known)))), shape=shape)
        sizes = np.maximum(np.asarray(member.sum(axis=1)).ravel(), 1)
        center = some.mean(axis=0) if len(known) else np.zeros(some.shape[1])
        away = np.square(np.asarray(member @ some) / sizes[:, None] - center)
        between = away.T @ (sizes * (np.diff(member.indptr) > 0))
        total = np.square(some - center).sum(axis=0)
        both = [np.bincount(self._groups, part, minlength=len(self.names)) for part in (between, total)]
        return np.asarray(both[0] / np.where(both[1] > 0, both[1], 1))

    def followed(self, labels: Array, most: int = WORTHY) -> list[tuple[str, float]]:
        """The columns with the largest share of their variance between the clusters, where shuffled labels would not have as much."""
        if labels.max(initial=-1) < 1:
            return []
        shares, least = self.of(labels), max(MARKED, self.by_chance(labels))
        order = np.argsort(-shares, kind="stable")[:most]
        return [(self.names[i], float(shares[i])) for i in order if shares[i] >= least]

    def by_chance(self, labels: Array) -> float:
        """The share that the same labels, shuffled, reach once in a hundred times, in whichever column it is largest."""
        # That of one normal column is beta distributed, with (k − 1)/2 and (n − k)/2; infinite where chance can do anything.
        codes = labels[self._rows]
        n, k = int((codes >= 0).sum()), len(np.unique(codes[codes >= 0]))
        if not 1 < k < n:
            return np.inf
        return float(beta.isf(RARE / len(self.names), (k - 1) / 2, (n - k) / 2))


def set_apart(followed: list[list[tuple[str, float]]], most: int = WORTHY) -> list[list[tuple[str, float]]]:
    """Of several clusterings, the columns to name each by: first those that it goes by clearly more than they do on average."""
    means: dict[str, float] = {}
    for name, share in chain.from_iterable(followed):
        means[name] = means.get(name, 0.0) + share / len(followed)

    def behind(one: tuple[str, float]) -> float:
        excess = one[1] - means[one[0]]
        return -excess if excess >= CLEARLY else 0.0

    return [sorted(some, key=behind)[:most] for some in followed]


def _widest(values: Any) -> Array:
    squares = values.multiply(values) if sparse.issparse(values) else values**2
    spread = np.asarray(squares.mean(axis=0)).ravel() - np.asarray(values.mean(axis=0)).ravel() ** 2
    return np.sort(np.argsort(-spread, kind="stable")[:COLUMNS])
