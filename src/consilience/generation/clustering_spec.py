"""How each clustering is to be made: drawn from the run's seed and the clustering's own number, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from consilience import _kernels
from consilience._check import InputError, check_count, show
from consilience._run.random import child_seed
from consilience._types import Array, Ints
from consilience.generation.methods.registry import METHODS
from consilience.generation.plan import Plan

WHOLE = ("number", "n_clusters", "seed", "unit", "steps", "around", "from_seed", "from_unit", "filling")
FRACTIONS = ("jitter", "stress", "inertia", "seconds", "compactness")


@dataclass(frozen=True)
class Spec:
    """All that is needed to reproduce one clustering: these fields are columns of `info`.

    `seed` and `unit` name its random stream; `weights` multiply the columns of its space (None: all alike); `drawn` holds what
    else its method drew. A variation has the starts and objects of the clustering it is near, whose stream `from_seed` and
    `from_unit` name. `filling` is the number of the way in which missing cells of the data were filled; None where none are.
    """

    method: str
    seed: int
    unit: int
    n_clusters: int
    weights: Array | None = None
    drawn: Mapping[str, float] = field(default_factory=dict)
    around: int | None = None
    jitter: float | None = None
    from_seed: int | None = None
    from_unit: int | None = None
    filling: int | None = None

    @property
    def origin(self) -> tuple[int, int]:
        """Seed and unit that its starts and objects come from."""
        return (self.seed, self.unit) if self.from_unit is None else (self.from_seed or 0, self.from_unit)

    @property
    def run_stream(self) -> tuple[int, int]:
        """Seed and unit of the clusterer's own stream."""
        return child_seed(self.origin[0], "generation.run"), self.origin[1]

    @classmethod
    def of_row(cls, row: Any) -> Spec:
        """The spec in a row of `info`, of an ensemble or a store."""
        cells = {str(key): value for key, value in dict(row).items() if np.ndim(value) or not pd.isna(value)}
        for name in ("method", "seed", "unit", "n_clusters"):
            if name not in cells:
                raise InputError(
                    f"the clustering has no {name!r} in its info: only one made by generate can be reproduced"
                )
        method = cells["method"]
        if method not in METHODS:
            raise InputError(f"the clustering was made by {show(method)}, which generate does not know")
        weights = cells.get("weights")
        return cls(
            method=str(method),
            seed=check_count("seed", cells["seed"], 0),
            unit=check_count("unit", cells["unit"], 0),
            n_clusters=check_count("n_clusters", cells["n_clusters"], 2),
            weights=None if weights is None else np.asarray(weights),
            drawn={name: float(cells[name]) for name in METHODS[method].drawn if name in cells},
            jitter=float(cells["jitter"]) if "jitter" in cells else None,
            **{name: int(cells[name]) for name in ("around", "from_seed", "from_unit", "filling") if name in cells},
        )

    def as_center(self, number: int, jitter: float, seed: int) -> Spec:
        """What the variations of this clustering share; `number` is the one it has in its run."""
        own = int(_kernels.random_bits(child_seed(seed, "generation.vary"), number, 1)[0]) >> 1
        from_seed, from_unit = self.origin
        return replace(self, seed=own, around=number, jitter=jitter, from_seed=from_seed, from_unit=from_unit)


def draw(
    plan: Plan,
    method: str,
    width: int,
    seed: int,
    unit: int,
    *,
    groups: Ints | None = None,
    n_fillings: int = 0,
) -> Spec:
    """What clustering `unit` of a run is asked to be.

    `width` is the number of columns of its method's space; those of one of the `groups` share what is drawn for them.
    """
    u = _kernels.random_uniform(child_seed(seed, "generation.draw"), unit, 3 + width)
    if groups is not None:
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        u = np.concatenate([u[:3], u[3:][first][group]])
    spec = Spec(method, seed, unit, plan.n_clusters[int(u[0] * len(plan.n_clusters))])
    if n_fillings:
        share = _kernels.random_uniform(child_seed(seed, "generation.filling"), unit, 1)[0]
        spec = replace(spec, filling=int(share * n_fillings))
    return METHODS[method].draw(spec, u[1:], plan)


def vary(center: Spec, width: int, units: Iterable[int]) -> list[Spec]:
    """Specs near one: weights (and what its method varies) times exp(jitter · N(0, 1)), all else, its starts too, as it was."""
    weights = np.ones(width) if center.weights is None else np.asarray(center.weights, float)
    varied = METHODS[center.method].varied
    made = []
    for unit in units:
        u = _kernels.random_uniform(child_seed(center.seed, "generation.vary"), unit, width + len(varied))
        noise = np.exp((center.jitter or 0.0) * ndtri(np.clip(u, 2.0**-54, None)))
        drawn = {name: center.drawn[name] * by for name, by in zip(varied, noise[width:], strict=True)}
        new = weights * noise[:width] if width else None
        made.append(replace(center, unit=unit, weights=new, drawn={**center.drawn, **drawn}))
    return made


def number_columns() -> set[str]:
    """Columns of `info` that say how a clustering was made, in numbers."""
    return {*WHOLE, *FRACTIONS, *(name for method in METHODS.values() for name in method.drawn)}
