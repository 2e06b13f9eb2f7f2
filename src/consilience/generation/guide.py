"""What a user knows or wishes of the clusterings: pairs of objects, and labels to be like or unlike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from consilience._check import InputError, check_count, check_labels, check_positive, check_share, count, show
from consilience._types import EnsembleLike, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.generation.bound_guide import BoundGuide
from consilience.opening import as_ensemble, known_labels_of
from consilience.tables import Table

STRENGTH = 1.5  # of a guide, if nothing is said


@dataclass(frozen=True, eq=False)
class Guide:
    """Wishes that clusterings are made and chosen by: weights, not rules, so any clustering may break some of them.

    Parameters
    ----------
    together, apart : pairs of objects, optional
        A list of pairs, an array or a frame of two columns. Objects go by their ids where they have ids, otherwise by their row, from 0;
        by row also where ids are text and a number is given.
    like, unlike : label vector, Series, DataFrame, mapping of names to label vectors, path, or names of columns, optional
        Groupings that clusterings should, or should not, be like; objects may lack a label. Names are those of columns that
        the table set aside (`known`), or, in :func:`consilience.generate`, that it has.
    strength : float
        How much columns are weighed by it: the weight is r^strength, r the ratio of the differences of pairs to be kept apart to those of
        pairs to be kept together. 0 leaves the columns alone, so that the guide only scores.

    Notes
    -----
    In generation every clustering's weights, whatever its method draws, are multiplied by those that the guide learns in the
    space of that method: of the columns or, for "pca", of the components. What is learned from few pairs stays near 1; see
    :mod:`consilience.generation.bound_guide`. For a grouping that is new to one you know, given for all objects,
    :func:`consilience.contrast` does more than `unlike`.

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
    strength: float = STRENGTH

    def __post_init__(self) -> None:
        check_positive("strength", self.strength, or_equal=True)
        if all(wish is None for wish in (self.together, self.apart, self.like, self.unlike)):
            raise InputError("a guide needs at least one of together, apart, like and unlike")

    def of(self, objects: Table | Ensemble) -> BoundGuide:
        """The guide in the numbers of some objects; names of columns are looked up in a Table's `labels`."""
        together, apart = (_pairs(getattr(self, side), side, objects) for side in ("together", "apart"))
        _check_consistent(together, apart, objects)
        like, unlike = (_labels(getattr(self, side), side, objects) for side in ("like", "unlike"))
        return BoundGuide(objects.n_objects, together, apart, float(self.strength), like, unlike)

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
            One row per clustering: `together`, `apart` (shares of pairs kept so), `like:NAME`, `unlike:NAME` (adjusted mutual information)
            and `total`, 0 by chance and at most 1; what each means says
            :meth:`~consilience.generation.bound_guide.BoundGuide.score`.
        """
        ens = as_ensemble(ensemble)
        if data is not None and data.n_objects != ens.n_objects:
            of = count(ens.n_objects, "object")
            raise InputError(f"{data.source} has {count(data.n_objects, 'row')}, and the clusterings are of {of}")
        return self.of(ens if data is None else data).score(ens)

    def select(self, ensemble: EnsembleLike, share: float = 0.2, data: Table | None = None) -> Ensemble:
        """The clusterings with the highest total, a share of all, in their order: what to combine, organize or look at.

        Those that the guide says nothing of (they label none of its objects) come last.
        """
        ens = as_ensemble(ensemble)
        number = max(1, round(check_share("share", share) * ens.n_clusterings))
        total = self.score(ens, data)["total"].fillna(-np.inf).to_numpy()
        return ens[:, np.sort(np.argsort(-total, kind="stable")[:number])]


def check_guide(guide: Any, **wishes: Any) -> Guide | None:
    """One guide from what `generate` was given: as one, or as its parts."""
    strength = wishes.pop("strength")
    given = [name for name, wish in wishes.items() if wish is not None]
    if guide is None:
        if not given:
            if strength is not None:
                raise InputError(
                    "guide_strength is that of together, apart, like and unlike, and none of them is given"
                )
            return None
        return Guide(**wishes, strength=STRENGTH if strength is None else strength)
    if not isinstance(guide, Guide):
        raise InputError(f"guide must be a Guide(together=…, apart=…, like=…, unlike=…); got {show(guide)}")
    if given or strength is not None:
        raise InputError(f"{[*given, 'guide_strength'][0]} and guide are both given: put it into the guide")
    return guide


def _pairs(given: Any, side: str, objects: Table | Ensemble) -> Ints:
    """Numbers of the objects, every pair once, smaller number first, in order."""
    if given is None:
        return np.zeros((0, 2), np.int64)
    if isinstance(given, pd.DataFrame):
        given = given.to_numpy(object)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(f"{side} must be a list of pairs of objects; got {show(given)}")
    find, found = _Finder(objects, side), []
    for at, pair in enumerate(given):
        if isinstance(pair, (str, bytes)) or not isinstance(pair, Iterable) or len(names := list(pair)) != 2:
            raise InputError(f"{side} must be pairs of objects; number {at} is {show(pair)}")
        one, other = (find(name, at) for name in names)
        if one == other:
            what = "cannot be apart from itself" if side == "apart" else "is always together with itself"
            raise InputError(f"{side}: {show(names[0])} (pair {at}) {what}: name two objects, or leave the pair out")
        found.append((min(one, other), max(one, other)))
    return np.unique(np.array(found, np.int64).reshape(-1, 2), axis=0)


class _Finder:
    """Objects by id or row."""

    def __init__(self, objects: Table | Ensemble, side: str) -> None:
        self.n, self.side, ids = objects.n_objects, side, objects.ids
        self.numbers = {} if ids is None else {str(name): i for i, name in enumerate(ids)}
        self.by_row = ids is None or all(isinstance(name, str) for name in ids)

    def __call__(self, name: Any, at: int) -> int:
        if (number := self.numbers.get(str(name))) is not None:
            return number
        if self.by_row and isinstance(name, (int, np.integer)) and not isinstance(name, bool):
            if check_count(f"{self.side}, pair {at}: a row", name, 0) >= self.n:
                raise InputError(f"{self.side}: there is no row {name} (pair {at}) in {count(self.n, 'object')}")
            return int(name)
        known = "no id of an object" if self.numbers else "no row, and the objects have no ids"
        raise InputError(f"{self.side}: {show(name)} (pair {at}) is {known}: check the name")


def _check_consistent(together: Ints, apart: Ints, objects: Table | Ensemble) -> None:
    """Refuse a pair to be apart that is to be together too, directly or through others."""
    if not len(together) or not len(apart):
        return
    n = objects.n_objects
    graph = coo_matrix((np.ones(len(together)), (together[:, 0], together[:, 1])), (n, n))
    part = connected_components(graph, directed=False)[1]
    same = part[apart[:, 0]] == part[apart[:, 1]]
    if same.any():
        pair = apart[int(np.argmax(same))]
        a, b = (show(i if objects.ids is None else objects.ids[i]) for i in pair.tolist())
        how = "" if (together == pair).all(axis=1).any() else ", through others that are"
        raise InputError(f"{a} and {b} are to be apart, and together{how}: leave one of these pairs out")


def _labels(given: Any, side: str, objects: Table | Ensemble) -> dict[str, Labels]:
    """Labels by name, as codes, one for each object."""
    if given is None:
        return {}
    names = [given] if isinstance(given, str) else given
    aside = getattr(objects, "labels", None) if isinstance(objects, Table) else None
    if aside is not None and isinstance(names, (list, tuple)) and names and all(name in list(aside) for name in names):
        found = {str(name): aside[name] for name in names}
    elif isinstance(given, str) and not Path(given).is_file():
        raise InputError(f"{side}={given!r} is {_no_column(objects)}")
    else:
        found = known_labels_of(given, objects)
    codes = {}
    for name, labels in found.items():
        codes[name] = check_labels(labels, f"{side} {name!r}")
        if len(codes[name]) != objects.n_objects:
            raise InputError(f"{side} {name!r} has {len(codes[name])} labels for {count(objects.n_objects, 'object')}")
        if codes[name].max(initial=-1) < 1:
            raise InputError(f"{side} {name!r} has only one group: there is nothing to be {side}")
    return codes


def _no_column(objects: Table | Ensemble) -> str:
    """Why a name stands for no labels."""
    if isinstance(objects, Ensemble):
        return "a name, and clusterings have no columns: give the table that has it too, as in guide.score(ens, table)"
    if objects.labels is None:
        return f"no file, and {objects.source} set no column aside: read it with known=, or give the labels themselves"
    return f"no file and none of the columns that {objects.source} set aside: {', '.join(map(str, objects.labels))}"
