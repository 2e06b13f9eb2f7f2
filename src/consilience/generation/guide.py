"""Guides: what a user knows or wishes of the clusterings, as pairs of objects and as labels to be like or unlike."""

# For every column, r is the mean squared difference of the pairs to be kept apart over that of the pairs to be kept together. Labels to be
# like are such pairs too, those inside and those between their groups; labels to be unlike count the other way round. Both means are drawn
# towards that of all objects, by `PRIOR` pairs' worth of it beside half as many pairs as there are objects in them: a few pairs say little,
# and pairs that share objects are not counted as if each said something new. The weight of a column is r^strength, r from 1/10 to 10.

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_labels, check_positive, check_share, count, fingerprint, listed, show
from consilience._types import ArrayLike, EnsembleLike, Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.inputs import as_ensemble, known_labels_of
from consilience.inputs.guess import is_table
from consilience.inputs.known_labels import names_aside
from consilience.measures.pairwise import with_each
from consilience.tables import Table
from consilience.tables.file_formats import open_raw
from consilience.tables.raw_table import Options

PRIOR = 10.0  # pairs that the mean over all objects counts for
LARGEST_RATIO = 10.0  # of a column, at most; 1 over it at least
MEASURE = "adjusted_mutual_information"
PAIRS, LABELS = ("together", "apart"), ("like", "unlike")
Means = tuple[Floats, float]  # mean squared differences, and how many pairs they are worth


@dataclass(frozen=True, eq=False)
class Guide:
    """Wishes that clusterings are made and chosen by: weights, not rules, so any clustering may break some of them.

    Parameters
    ----------
    together, apart : pairs of objects, optional
        A list of pairs, an array or a frame of two columns, or the path of a table of two columns. Objects go by their ids where
        they have ids, otherwise by their row, from 0; by row also where ids are text and a number is given.
    like, unlike : label vector, Series, DataFrame, mapping of names to label vectors, path, or names of columns, optional
        Groupings that clusterings should, or should not, be like; objects may lack a label. Names are those of columns that
        the table set aside (`known`), or, in :func:`consilience.generate`, that it has.
    strength : float
        How much columns are weighed by it: the weight is r^strength, r the ratio of the differences of pairs to be kept apart to those of
        pairs to be kept together. 0 leaves the columns alone, so that the guide only scores.

    Notes
    -----
    Every clustering's weights, whatever its method draws, are multiplied by those that the guide learns in the space of that method: of the
    columns or, for "pca", of the components. For a grouping that is new to one you know of all objects, :func:`consilience.contrast`
    does more than `unlike`.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> from consilience.generation import Guide
    >>> beads = load_beads()
    >>> guide = Guide(like="shape")
    >>> plain, guided = (cs.generate(beads, 100, n_clusters=3, guide=g) for g in (None, guide))
    >>> [round(float(guide.score(ens, beads)["total"].mean()), 2) for ens in (plain, guided)]
    [0.32, 0.64]
    >>> guide.select(guided, 0.1, beads).n_clusterings
    10
    """

    together: Any = None
    apart: Any = None
    like: Any = None
    unlike: Any = None
    strength: float = 1.5

    def __post_init__(self) -> None:
        check_positive("strength", self.strength, or_equal=True)
        if all(wish is None for wish in (self.together, self.apart, self.like, self.unlike)):
            raise InputError("a guide needs at least one of together, apart, like and unlike")

    def of(self, objects: Table | Ensemble) -> "BoundGuide":
        """The guide in the numbers of some objects; names of columns are looked up in a Table's `labels`."""
        pairs = {side: _check_pairs(getattr(self, side), side, objects) for side in PAIRS}
        if both := set.intersection(*(set(map(tuple, pairs[side].tolist())) for side in PAIRS)):
            one, other = (show(i if objects.ids is None else objects.ids[i]) for i in min(both))
            raise InputError(f"{one} and {other} are to be apart, and together: leave one of these pairs out")
        labels = {side: _check_known(getattr(self, side), side, objects) for side in LABELS}
        return BoundGuide(objects.n_objects, float(self.strength), pairs, labels)

    def score(self, ensemble: EnsembleLike, data: Table | None = None) -> pd.DataFrame:
        """How well every clustering keeps to the guide.

        Parameters
        ----------
        ensemble : Ensemble, or what one is made from
        data : Table, optional
            Whose columns `like` and `unlike` name, if they do.

        Returns
        -------
        DataFrame
            `together` and `apart`: the share of such pairs that the clustering keeps so, of those whose objects it labels.
            `like:NAME` and `unlike:NAME`: the adjusted mutual information with those labels. `total`: the mean of what there is of
            (1) the share of pairs to be together that are, less the share of pairs to be apart that are together (for a kind
            that was not given, the share of all pairs), (2) the mean information with what it should be like, and (3) minus that
            with what it should be unlike. Each is 0 by chance whatever the number of clusters, and 1, or 0 for (3), at best.
        """
        ens = as_ensemble(ensemble)
        if data is not None and data.n_objects != ens.n_objects:
            of = count(ens.n_objects, "object")
            raise InputError(f"{data.source} has {count(data.n_objects, 'row')}, and the clusterings are of {of}")
        return self.of(ens if data is None else data).score(ens)

    def select(self, ensemble: EnsembleLike, share: float = 0.2, data: Table | None = None) -> Ensemble:
        """The clusterings with the highest total, a share of all, in their order; those that label none of its objects come last."""
        ens = as_ensemble(ensemble)
        number = max(1, round(check_share("share", share) * ens.n_clusterings))
        total = self.score(ens, data)["total"].fillna(-np.inf).to_numpy()
        return ens[:, np.sort(np.argsort(-total, kind="stable")[:number])]


@dataclass(frozen=True, eq=False)
class BoundGuide:
    """What a guide says of the objects of one table: pairs of their numbers, every pair once, in order, and codes of labels by name."""

    n_objects: int
    strength: float
    pairs: dict[str, Ints]  # by PAIRS, each (n_pairs, 2)
    labels: dict[str, dict[str, Labels]]  # by LABELS

    def as_json(self) -> dict[str, Any]:
        pairs = {side: pairs.tolist() for side, pairs in self.pairs.items()}
        labels = {side: {name: codes.tolist() for name, codes in named.items()} for side, named in self.labels.items()}
        return {"n_objects": self.n_objects, **pairs, "strength": self.strength, **labels}

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> "BoundGuide":
        pairs = {side: np.array(kept[side], np.int64).reshape(-1, 2) for side in PAIRS}
        labels = {side: {name: np.array(codes, np.int32) for name, codes in kept[side].items()} for side in LABELS}
        return cls(int(kept["n_objects"]), float(kept["strength"]), pairs, labels)

    def of_rows(self, rows: Ints) -> "BoundGuide":
        place = np.full(self.n_objects, -1)
        place[rows] = np.arange(len(rows))
        among = {side: place[pairs][(place[pairs] >= 0).all(axis=1)] for side, pairs in self.pairs.items()}
        pairs = {side: np.unique(np.sort(found, axis=1), axis=0) for side, found in among.items()}
        labels = {side: {name: codes[rows] for name, codes in named.items()} for side, named in self.labels.items()}
        return BoundGuide(len(rows), self.strength, pairs, labels)

    @property
    def words(self) -> str:
        said = [f"{count(len(pairs), 'pair')} {side}" for side, pairs in self.pairs.items() if len(pairs)]
        said += [f"{side} {listed(list(named))}" for side, named in self.labels.items() if named]
        parts = [*self.pairs.values(), *(codes for named in self.labels.values() for codes in named.values())]
        return f"{', '.join(said)}, strength {self.strength:g} ({fingerprint(*parts)[:8]})"

    def weights(self, table: ArrayLike) -> Floats:
        """(width,) what every column of a table is multiplied by; their geometric mean is 1. Cost O(n_objects · width)."""
        overall = 2 * _variance(table)  # the mean squared difference of all pairs
        ratios: Floats = np.zeros(table.shape[1])
        together, apart = (_of_pairs(table, self.pairs[side]) for side in PAIRS)
        ratios += _log_ratio(apart, together, overall)
        for side, named in self.labels.items():
            for codes in named.values():
                ratios += (1 if side == "like" else -1) * _log_ratio(*_of_groups(table, codes), overall) / len(named)
        ratios = np.clip(ratios, -np.log(LARGEST_RATIO), np.log(LARGEST_RATIO))
        return np.asarray(np.exp(self.strength * (ratios - ratios.mean())))

    def score(self, ensemble: Ensemble) -> pd.DataFrame:
        labels, parts = ensemble.labels, []
        joined = {side: _share_joined(labels, pairs) for side, pairs in self.pairs.items() if len(pairs)}
        table = {side: shares if side == "together" else 1 - shares for side, shares in joined.items()}
        if joined:
            # One cluster of everything keeps all pairs together, and single objects all apart: neither says anything.
            usual = _share_of_all(labels) if len(joined) < 2 else np.zeros(0)
            parts.append(joined.get("together", usual) - joined.get("apart", usual))
        for side, named in self.labels.items():
            shared = {f"{side}:{name}": with_each(MEASURE, codes, ensemble) for name, codes in named.items()}
            if shared:
                table |= shared
                parts.append((1 if side == "like" else -1) * _mean(list(shared.values())))
        return pd.DataFrame({**table, "total": _mean(parts)})


def _mean(parts: list[Floats]) -> Floats:
    return pd.DataFrame(parts).mean().to_numpy()


def _share_joined(labels: Labels, pairs: Ints) -> Floats:
    one, other = labels[pairs[:, 0]], labels[pairs[:, 1]]
    known = (one >= 0) & (other >= 0)
    number = known.sum(axis=0)
    return np.where(number > 0, ((one == other) & known).sum(axis=0) / np.maximum(number, 1), np.nan)


def _share_of_all(labels: Labels) -> Floats:
    sizes = [np.bincount(column[column >= 0]).astype(float) for column in labels.T]
    pairs = [(size.sum() * (size.sum() - 1), (size * (size - 1)).sum()) for size in sizes]
    return np.array([joined / total if total else np.nan for total, joined in pairs])


def _of_pairs(table: ArrayLike, pairs: Ints) -> Means:
    # Worth half as many as there are objects in them: pairs that share objects do not each say something new.
    if not len(pairs):
        return np.zeros(table.shape[1]), 0.0
    return _mean_square(table[pairs[:, 0]] - table[pairs[:, 1]]), len(np.unique(pairs)) / 2


def _of_groups(table: ArrayLike, codes: Labels) -> tuple[Means, Means]:
    # Of all pairs between groups, and of all inside one: Σ (x − y)² over the pairs of a group is n Σ x² − (Σ x)².
    known = np.flatnonzero(codes >= 0)
    sizes = np.bincount(codes[known]).astype(float)
    members = sparse.csr_matrix((np.ones(len(known)), (codes[known], known)), (len(sizes), len(codes)))
    sums, squares = (_plain(members @ part) for part in (table, _square(table)))
    inside = (sizes[:, None] * squares - np.square(sums)).sum(axis=0)
    total = len(known) * squares.sum(axis=0) - np.square(sums.sum(axis=0))
    n_inside = (sizes * (sizes - 1)).sum() / 2
    n_between = len(known) * (len(known) - 1) / 2 - n_inside
    sides = (total - inside, n_between), (inside, n_inside)
    apart, together = ((np.maximum(square, 0) / max(n, 1), len(known) / 2 if n else 0.0) for square, n in sides)
    return apart, together


def _log_ratio(apart: Means, together: Means, overall: Floats) -> Floats:
    # A prior: a few pairs that happen to be alike in a column must not decide its weight.
    drawn = [(mean * worth + PRIOR * overall) / (worth + PRIOR) for mean, worth in (apart, together)]
    varies = overall > 0
    return np.where(varies, np.log(np.where(varies, drawn[0], 1) / np.where(varies, drawn[1], 1)), 0.0)


def _variance(table: ArrayLike) -> Floats:
    if not sparse.issparse(table):
        return np.asarray(np.var(table, axis=0, dtype=float))
    return np.maximum(_mean_square(table) - np.square(_plain(table.mean(axis=0)).ravel()), 0)


def _mean_square(table: ArrayLike) -> Floats:
    return np.asarray(_square(table).mean(axis=0), float).ravel()


def _square(table: ArrayLike) -> Any:
    return table.multiply(table) if sparse.issparse(table) else np.square(table, dtype=float)


def _plain(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, float)


def check_guide(guide: Any, *, strength: float | None = None, **wishes: Any) -> Guide | None:
    given = {name: wish for name, wish in wishes.items() if wish is not None}
    if strength is not None:
        given["strength"] = strength
    if guide is None:
        if list(given) == ["strength"]:
            raise InputError("guide_strength is that of together, apart, like and unlike, and none of them is given")
        return Guide(**given) if given else None
    if not isinstance(guide, Guide):
        raise InputError(f"guide must be a Guide(together=…, apart=…, like=…, unlike=…); got {show(guide)}")
    if given:
        raise InputError(f"{next(iter(given))} and guide are both given: put it into the guide")
    return guide


def set_aside(X: Any, guide: Guide, reading: dict[str, Any]) -> dict[str, Any]:
    # How to read a table, with the columns that a guide names set aside.
    if not is_table(X):
        return reading
    # A grouping that clusterings are to be like must not be clustered by: that would be no evidence.
    named = [name for side in (guide.like, guide.unlike) for name in names_aside(X, side, reading)[0]]
    if not named:
        return reading
    known = reading.get("known") or []
    known = [known] if isinstance(known, (str, int)) else list(known)
    return reading | {"known": list(dict.fromkeys([*known, *named]))}


def _check_pairs(given: Any, side: str, objects: Table | Ensemble) -> Ints:
    # Every pair once, smaller number first, in order.
    numbers, pairs = _numbers_of(objects), []
    for place, pair in () if given is None else _named_pairs(given, side, numbers):
        missing = [name for name in pair if _find(name, numbers) is None]
        if missing:
            raise InputError(f"{place}: {show(missing[0])} is no id of an object, nor a row from 0: check the name")
        one, other = sorted(_find(name, numbers) for name in pair)
        if one == other:
            raise InputError(f"{place}: {show(pair[0])} is named twice: name two objects, or leave the pair out")
        pairs.append((one, other))
    return np.unique(np.array(pairs, np.int64).reshape(-1, 2), axis=0)


def _numbers_of(objects: Table | Ensemble) -> dict[Any, int]:
    # By all that may name the objects: ids as text, and rows as numbers where those are no ids.
    n, ids = objects.n_objects, objects.ids
    if ids is None:  # text of a file may be a row
        return {str(i): i for i in range(n)} | {i: i for i in range(n)}
    by_name = {str(name): i for i, name in enumerate(ids)}
    return by_name | ({i: i for i in range(n)} if all(isinstance(name, str) for name in ids) else {})


def _find(name: Any, numbers: Mapping[Any, int]) -> Any:
    by_row = numbers.get(name) if isinstance(name, Integral) else None
    return numbers.get(str(name), by_row)


def _named_pairs(given: Any, side: str, numbers: Mapping[Any, int]) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(given, (str, os.PathLike)):
        yield from _pairs_in_file(Path(given), side, numbers)
        return
    if isinstance(given, pd.DataFrame):
        given = given.to_numpy(object)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InputError(f"{side} must be a list of pairs of objects, or a file of them; got {show(given)}")
    for at, pair in enumerate(given, 1):
        if isinstance(pair, (str, bytes)) or not isinstance(pair, Iterable) or len(names := list(pair)) != 2:
            raise InputError(f"{side} must be pairs of objects; pair {at} is {show(pair)}")
        yield f"{side}, pair {at}", names


def _pairs_in_file(file: Path, side: str, numbers: Mapping[Any, int]) -> Iterator[tuple[str, list[Any]]]:
    # A first line that names no object holds the names of the columns, which is said.
    raw = open_raw(file, Options("labels", header=None if file.suffix.lower() == ".parquet" else False))
    if raw.width != 2:
        raise InputError(f"{raw.source}: has {count(raw.width, 'column')}, and pairs to be {side} need two")
    columns = [pd.Series(raw.column(j), dtype=object) for j in (0, 1)]
    pairs = [[name.strip() if isinstance(name, str) else name for name in pair] for pair in zip(*columns, strict=True)]
    first = 0
    if raw.names is None and all(_find(name, numbers) is None for name in pairs[0]):
        first, names = 1, " and ".join(map(show, pairs[0]))  # a misspelt pair must not be lost without a word
        warnings.warn(f"{raw.source}: the first line, {names}, names no object: a heading", stacklevel=2)
    if first == len(pairs):
        raise InputError(f"{raw.source}: names no pair of objects: write two of them into every row")
    for row, pair in enumerate(pairs[first:], 1):  # counted as those of tables are, below the names of the columns
        line = "" if raw.line is None else f" (line {raw.line(row + first - 1)})"
        yield f"{raw.source}, row {row}{line}", pair


def _check_known(given: Any, side: str, objects: Table | Ensemble) -> dict[str, Labels]:
    if given is None:
        return {}
    names = [given] if isinstance(given, str) else given
    aside = objects.labels if isinstance(objects, Table) and objects.labels is not None else {}
    if isinstance(names, (list, tuple)) and names and all(name in list(aside) for name in names):
        known = {str(name): aside[name] for name in names}
    elif isinstance(given, str) and not Path(given).is_file():
        there = f" ({', '.join(map(str, aside))})" if len(aside) else ""
        unknown = f"{side}={given!r} is no file and no column that was set aside{there}"
        raise InputError(f"{unknown}: give the table that has it, read with known=")
    else:
        known = known_labels_of(given, objects)
    found = {name: check_labels(labels, f"{side} {name!r}") for name, labels in known.items()}
    for name, codes in found.items():
        if len(codes) != objects.n_objects:
            raise InputError(f"{side} {name!r} has {len(codes)} labels for {count(objects.n_objects, 'object')}")
        if codes.max(initial=-1) < 1:
            raise InputError(f"{side} {name!r} has only one group: there is nothing to be {side}")
    return found
