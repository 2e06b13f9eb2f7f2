"""The data of a run, in the forms that its methods ask for."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from consilience._check import InputError, count
from consilience._run.parallel import own_threads
from consilience._types import ArrayLike, Floats, Ints
from consilience.generation.methods.mds import embed
from consilience.generation.methods.method import Space
from consilience.generation.methods.neighbors import check_graph
from consilience.generation.plan import METHODS, Plan
from consilience.tables import Standardizer, check_matrix
from consilience.tables.scaling_and_counts import CountScaling

ONE_UNIT = 10.0  # spreads of columns up to which they may share a unit, and their own scales mean something
Scaling: TypeAlias = Standardizer | CountScaling | None
Filled: TypeAlias = Callable[[int], ArrayLike] | None


class GenerationWarning(UserWarning):
    """Something of the data or the clusterings had to be left out; the message says what."""


@dataclass(frozen=True, eq=False)
class Preparation:
    scaling: Scaling
    kept: Ints
    given_width: int

    def apply(self, values: ArrayLike) -> ArrayLike:
        table = values if self.scaling is None else self.scaling.apply(values)
        return table[:, self.kept] if len(self.kept) < self.given_width else table


class Spaces:
    # `columns` are the table without its constant columns; `groups` say which of them stand for one column of the table as it came, and
    # so share their weights; `own_scales` how far they spread before they were standardized, their median 1. They are None where columns
    # are not standardized, are not all numbers of the table as it came, or spread so differently that their units differ: other units must
    # change nothing. `filled` gives the values with their missing cells filled in another way.

    def __init__(
        self, values: ArrayLike, plan: Plan, groups: Ints | None = None, scaling: Scaling = None, filled: Filled = None
    ) -> None:
        self.plan, self._filled = plan, filled
        self.stress: float | None = None
        self.distances: Floats | None = None
        self._spaces: dict[tuple[str, int | None], Space] = {}
        self.groups: Ints | None = None
        self.own_scales: Floats | None = None
        if plan.metric == "precomputed":
            self.distances = np.asarray(values, float)
            if not self.distances.any():
                raise InputError("every distance is 0: there is nothing to cluster")
            with own_threads():  # the same numbers whatever the number of threads
                self.columns, self.stress = embed(self.distances, min(plan.n_dimensions, len(values) - 1))
        elif plan.metric == "graph":
            self.columns = check_graph(values)
        else:
            self._standardize(values, groups, scaling)
        width = int(self.columns.shape[1])
        if plan.metric != "euclidean":
            self.preparation = Preparation(None, np.arange(width), width)
        for name, _ in plan.methods:
            if width < METHODS[name].min_columns:
                why = f"{name} weighs columns against each other, and only one is not constant"
                raise InputError(f"{why}: give more columns, or use methods='minima'")

    def _standardize(self, values: ArrayLike, groups: Ints | None, scaling: Scaling) -> None:
        if scaling is None or not self.plan.standardize:
            scaling = Standardizer.of(values if self.plan.standardize else check_matrix(values))
        kept, width = np.flatnonzero(~scaling.constant), values.shape[1]
        columns = count(width, "column")
        if not kept.size:
            raise InputError(f"all {columns} of the table are constant: there is nothing to cluster")
        self.preparation = Preparation(scaling if self.plan.standardize else None, kept, width)
        self.columns = self.preparation.apply(values)
        self.groups = None if groups is None else groups[kept]
        if self.plan.standardize and groups is None and isinstance(scaling, Standardizer):
            spread = scaling.sd[kept] / (1 if scaling.factor is None else scaling.factor[kept])
            if spread.max() <= ONE_UNIT * np.quantile(spread, 0.25, method="lower"):  # a few may hardly vary
                self.own_scales = spread / np.median(spread)
        if constant := width - len(kept):
            warnings.warn(GenerationWarning(f"{constant:,} of {columns} left out, being constant"), stacklevel=5)

    @property
    def n_objects(self) -> int:
        return int(self.columns.shape[0])

    def of(self, method: str, filling: int | None = None) -> Space:
        # Computed once, with missing cells filled as always or in a way of its own.
        name = METHODS[method].space
        if (name, None) not in self._spaces:
            self._spaces[name, None] = METHODS[method].fit_space(self.columns, self.plan)
        usual = self._spaces[name, None]  # whose axes all fillings share, so that weights mean the same in them
        if filling is None or self._filled is None:
            return usual
        if (name, filling) not in self._spaces:
            columns = self.preparation.apply(self._filled(filling))
            if type(usual).places is Space.places:
                self._spaces[name, filling] = replace(usual, table=usual.transform(columns))
            else:  # its table is not that of places: a graph
                self._spaces[name, filling] = METHODS[method].fit_space(columns, self.plan)
        return self._spaces[name, filling]
