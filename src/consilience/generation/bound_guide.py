"""A guide on the objects of one table: what it says of the columns, and how well clusterings keep to it.

**Columns.** For every column, the mean squared difference of the pairs to be kept apart, over that of the pairs to be kept together: its
ratio r. Labels to be like are such pairs too, those inside and those between their groups; labels to be unlike count the other way round.
Both means are drawn towards that of all objects, by `PRIOR` pairs' worth of it beside half as many pairs as there are objects in them: a
few pairs say little, and pairs that share objects are not counted as if each said something new. The weight of a column is
r^strength, r between 1/10 and 10.

**Clusterings.** See :meth:`BoundGuide.score`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import count, fingerprint, listed
from consilience._types import Array, ArrayLike, Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.measures.pairwise import with_each

PRIOR = 10.0  # pairs that the mean over all objects counts for
LARGEST = 10.0  # ratio of a column, at most; 1 over it at least
MEASURE = "adjusted_mutual_information"


@dataclass(frozen=True, eq=False)
class BoundGuide:
    """What a :class:`~consilience.generation.Guide` says of the objects of one table.

    Attributes
    ----------
    n_objects : int
    together, apart : (n_pairs, 2) int arrays
        Numbers of objects, every pair once, in order.
    like, unlike : dict of str to (n_objects,) int32 array
        Codes of labels, −1 where there is none.
    strength : float
    """

    n_objects: int
    together: Ints
    apart: Ints
    strength: float
    like: dict[str, Labels] = field(default_factory=dict)
    unlike: dict[str, Labels] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As it is kept in the plan of a run."""
        return {
            "n_objects": self.n_objects,
            "together": self.together.tolist(),
            "apart": self.apart.tolist(),
            "strength": self.strength,
            "like": {name: codes.tolist() for name, codes in self.like.items()},
            "unlike": {name: codes.tolist() for name, codes in self.unlike.items()},
        }

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> BoundGuide:
        """What :meth:`as_json` gave."""
        together, apart = (np.array(kept[side], np.int64).reshape(-1, 2) for side in ("together", "apart"))
        like, unlike = (
            {name: np.array(codes, np.int32) for name, codes in kept[side].items()} for side in ("like", "unlike")
        )
        return cls(int(kept["n_objects"]), together, apart, float(kept["strength"]), like, unlike)

    def of_rows(self, rows: Ints) -> BoundGuide:
        """What it says of some of the objects, given by their numbers: the pairs that are among them, and their labels."""
        place = np.full(self.n_objects, -1)
        place[rows] = np.arange(len(rows))
        pairs = [place[side][(place[side] >= 0).all(axis=1)] for side in (self.together, self.apart)]
        together, apart = (np.unique(np.sort(side, axis=1), axis=0) for side in pairs)
        like, unlike = ({name: codes[rows] for name, codes in side.items()} for side in (self.like, self.unlike))
        return BoundGuide(len(rows), together, apart, self.strength, like, unlike)

    @property
    def words(self) -> str:
        """In one line, with a digest that tells guides apart: what `info` has of it.

        Examples
        --------
        >>> from consilience.datasets import load_beads
        >>> from consilience.generation import Guide
        >>> Guide(together=[("b001", "b004")], unlike="shape").of(load_beads()).words
        '1 pair together, unlike shape, strength 1.5 (e290d3cd)'
        """
        said = [f"{count(len(pairs), 'pair')} {side}" for side, pairs in self._pairs.items() if len(pairs)]
        said += [f"{side} {listed(list(named))}" for side, named in self._labels.items() if named]
        parts: list[Array] = [self.together, self.apart, *self.like.values(), *self.unlike.values()]
        return f"{', '.join(said)}, strength {self.strength:g} ({fingerprint(*parts)[:8]})"

    @property
    def _pairs(self) -> dict[str, Ints]:
        return {"together": self.together, "apart": self.apart}

    @property
    def _labels(self) -> dict[str, dict[str, Labels]]:
        return {"like": self.like, "unlike": self.unlike}

    def weights(self, table: ArrayLike) -> Floats:
        """What every column of a table is to be multiplied by; their geometric mean is 1.

        Parameters
        ----------
        table : (n_objects, width) array or CSR matrix

        Returns
        -------
        (width,) array
            Cost O(n_objects · width), and the pairs' rows.
        """
        overall = 2 * _variance(table)
        found: Floats = np.zeros(table.shape[1])
        if len(self.together) or len(self.apart):
            found += _log_ratio(_of_pairs(table, self.apart), _of_pairs(table, self.together), overall)
        for labels, sign in ((self.like, 1), (self.unlike, -1)):
            for codes in labels.values():
                found += sign * _log_ratio(*_of_groups(table, codes), overall) / len(labels)
        found = np.clip(found, -np.log(LARGEST), np.log(LARGEST))
        return np.asarray(np.exp(self.strength * (found - found.mean())))

    def score(self, ensemble: Ensemble) -> pd.DataFrame:
        """How well every clustering keeps to the guide.

        Returns
        -------
        DataFrame
            `together` and `apart`: the share of such pairs that the clustering keeps so, of those whose objects it labels.
            `like:NAME` and `unlike:NAME`: the adjusted mutual information with those labels. `total`: the mean of what there is of
            (1) the share of pairs to be together that are, less the share of pairs to be apart that are together (for a kind
            that was not given, the share of all pairs), (2) the mean information with what it should be like, and (3) minus that
            with what it should be unlike. Each is 0 by chance whatever the number of clusters, and 1, or 0 for (3), at best.
        """
        labels = ensemble.labels
        table: dict[str, Floats] = {}
        parts = []
        if len(self.together) or len(self.apart):
            joined = {side: _share_joined(labels, pairs) for side, pairs in self._pairs.items() if len(pairs)}
            table |= {side: shares if side == "together" else 1 - shares for side, shares in joined.items()}
            usual = _share_of_all(labels) if len(joined) < 2 else np.zeros(0)
            parts.append(joined.get("together", usual) - joined.get("apart", usual))
        for side, named in self._labels.items():
            found = {f"{side}:{name}": with_each(MEASURE, codes, ensemble) for name, codes in named.items()}
            if found:
                table |= found
                parts.append((1 if side == "like" else -1) * _mean(list(found.values())))
        return pd.DataFrame({**table, "total": _mean(parts)})


def _mean(parts: list[Floats]) -> Floats:
    """Of several vectors, number by number, of those that are known."""
    known = ~np.isnan(parts)
    return np.where(known.any(axis=0), np.nansum(parts, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)


def _share_joined(labels: Labels, pairs: Ints) -> Floats:
    """Of every clustering, the share of the pairs that are in one cluster; NaN where it labels none of them."""
    one, other = labels[pairs[:, 0]], labels[pairs[:, 1]]
    known = (one >= 0) & (other >= 0)
    number = known.sum(axis=0)
    return np.where(number > 0, ((one == other) & known).sum(axis=0) / np.maximum(number, 1), np.nan)


def _share_of_all(labels: Labels) -> Floats:
    """Of every clustering, the share of all pairs of objects that are in one cluster."""
    sizes = [np.bincount(column[column >= 0]).astype(float) for column in labels.T]
    pairs = [(size.sum() * (size.sum() - 1), (size * (size - 1)).sum()) for size in sizes]
    return np.array([joined / total if total else np.nan for total, joined in pairs])


Means = tuple[Floats, float]  # mean squared differences, and how many pairs they are worth


def _of_pairs(table: ArrayLike, pairs: Ints) -> Means:
    """Of some pairs; worth half as many as there are objects in them."""
    if not len(pairs):
        return np.zeros(table.shape[1]), 0.0
    apart = table[pairs[:, 0]] - table[pairs[:, 1]]
    return _mean_square(apart), len(np.unique(pairs)) / 2


def _of_groups(table: ArrayLike, codes: Labels) -> tuple[Means, Means]:
    """Of all pairs between groups, and of all inside one."""
    known = np.flatnonzero(codes >= 0)
    sizes = np.bincount(codes[known]).astype(float)
    members = sparse.csr_matrix((np.ones(len(known)), (codes[known], known)), (len(sizes), len(codes)))
    sums = _plain(members @ table)
    squares = _plain(members @ (table.multiply(table) if sparse.issparse(table) else np.square(table)))
    inside = (sizes[:, None] * squares - np.square(sums)).sum(axis=0)
    total = len(known) * squares.sum(axis=0) - np.square(sums.sum(axis=0))
    n_inside = (sizes * (sizes - 1)).sum() / 2
    n_between = len(known) * (len(known) - 1) / 2 - n_inside
    worth = len(known) / 2
    return (
        (np.maximum(total - inside, 0) / max(n_between, 1), worth if n_between else 0.0),
        (np.maximum(inside, 0) / max(n_inside, 1), worth if n_inside else 0.0),
    )


def _log_ratio(apart: Means, together: Means, overall: Floats) -> Floats:
    """log of the ratio of the two, each drawn towards that of all objects; 0 for a column that does not vary."""
    drawn = [(mean * worth + PRIOR * overall) / (worth + PRIOR) for mean, worth in (apart, together)]
    varies = overall > 0
    return np.where(varies, np.log(np.where(varies, drawn[0], 1) / np.where(varies, drawn[1], 1)), 0.0)


def _variance(table: ArrayLike) -> Floats:
    if not sparse.issparse(table):
        return np.asarray(np.var(table, axis=0, dtype=float))
    mean = np.asarray(table.mean(axis=0), float).ravel()
    return np.maximum(_mean_square(table) - np.square(mean), 0)


def _mean_square(table: ArrayLike) -> Floats:
    """Mean over the rows of the squares."""
    squares = table.multiply(table) if sparse.issparse(table) else np.square(table, dtype=float)
    return np.asarray(squares.mean(axis=0), float).ravel()


def _plain(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, float)
