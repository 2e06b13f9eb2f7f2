"""How each clustering is to be made: drawn from the run's seed and the clustering's own number, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from consilience import _kernels
from consilience._check import InputError, check_count, show
from consilience._random import child_seed
from consilience._types import Floats
from consilience.generation.plan import METHODS, Settings


@dataclass(frozen=True)
class Recipe:
    """All that is needed to make one clustering again: these fields are columns of `info`.

    `seed` and `unit` name its random stream; `weights` multiply the columns of its space (None: all alike). A variation has
    the starts and objects of the clustering it is near, whose stream `from_seed` and `from_unit` name.
    """

    method: str
    seed: int
    unit: int
    n_clusters: int
    alpha: float | None = None
    weights: NDArray[Any] | None = None
    sigma_divisor: float | None = None
    around: int | None = None
    spread: float | None = None
    from_seed: int | None = None
    from_unit: int | None = None

    @property
    def space(self) -> str:
        """Which form of the data it is made on: its columns, or their principal components."""
        return "components" if self.method == "pca" else "columns"

    def objects(self, n_objects: int, share: float) -> NDArray[np.int64] | None:
        """The objects of a subsample, in order; None where all take part."""
        if self.method != "objects":
            return None
        kept = max(self.n_clusters, round(share * n_objects))
        seed, unit = self.origin
        return np.sort(_kernels.random_permutation(child_seed(seed, "generation.objects"), unit, n_objects)[:kept])

    @property
    def origin(self) -> tuple[int, int]:
        """Seed and unit that its starts and objects come from."""
        return (self.seed, self.unit) if self.from_unit is None else (self.from_seed or 0, self.from_unit)

    @property
    def run_stream(self) -> tuple[int, int]:
        """Seed and unit of the clusterer's own stream."""
        return child_seed(self.origin[0], "generation.run"), self.origin[1]


def draw(
    settings: Settings, seed: int, units: Iterable[int], methods: Sequence[str], width: Callable[[str], int]
) -> list[Recipe]:
    """The recipes of some units; `methods` are those of all units, `width` gives the number of columns of a space."""
    made = []
    for unit in units:
        method = methods[unit]
        recipe = Recipe(method, seed, unit, 0)
        u = _kernels.random_uniform(child_seed(seed, "generation.draw"), unit, 3 + width(recipe.space))
        recipe = replace(recipe, n_clusters=settings.n_clusters[int(u[0] * len(settings.n_clusters))])
        if method in ("zipf", "pca", "spectral"):
            alpha = float(settings.max_alpha * u[1])
            recipe = replace(recipe, alpha=alpha, weights=zipf(alpha, settings.zipf_max, u[3:]))
        if method == "spectral":
            divisors = settings.sigma_divisors
            recipe = replace(recipe, sigma_divisor=divisors[int(u[2] * len(divisors))])
        if method == "features":
            recipe = replace(recipe, weights=_subset(u[3:], settings.feature_share))
        made.append(recipe)
    return made


def zipf(alpha: float, largest: int, u: Floats) -> NDArray[np.int64]:
    """Zipf numbers 1 … largest with p(i) ∝ i^−α, from uniform ones (Caruana et al. 2006, section 2.1.2)."""
    below = np.cumsum(np.arange(1, largest + 1, dtype=float) ** -alpha)
    return np.searchsorted(below, u * below[-1], side="right") + 1


def _subset(u: Floats, share: float) -> NDArray[np.int64]:
    """Ones for a share of the columns, at least one."""
    weights = np.zeros(len(u), np.int64)
    weights[np.argsort(u, kind="stable")[: max(1, round(share * len(u)))]] = 1
    return weights


def vary(
    recipe: Recipe, width: int, spread: float, seed: int, units: Iterable[int], around: int | None
) -> list[Recipe]:
    """Recipes near one: its weights times exp(spread · N(0, 1)), and everything else, its starts too, as it was."""
    from_seed, from_unit = recipe.origin
    recipe = replace(
        recipe, seed=seed, alpha=None, around=around, spread=spread, from_seed=from_seed, from_unit=from_unit
    )
    weights = np.ones(width) if recipe.weights is None else np.asarray(recipe.weights, float)
    made = []
    for unit in units:
        u = _kernels.random_uniform(child_seed(seed, "generation.vary"), unit, width)
        noise = np.exp(spread * ndtri(np.clip(u, 2.0**-54, None)))
        made.append(replace(recipe, unit=unit, weights=weights * noise))
    return made


def variation_seed(seed: int, around: int) -> int:
    """The seed of the variations of a clustering: another one's draw other numbers."""
    return int(_kernels.random_bits(child_seed(seed, "generation.vary"), around, 1)[0] >> 1)


def of_row(row: Any) -> Recipe:
    """The recipe in a row of `info`, of an ensemble or a store."""
    cells = {str(key): value for key, value in dict(row).items()}
    for name in ("method", "seed", "unit", "n_clusters"):
        if name not in cells or _is_missing(cells[name]):
            raise InputError(f"the clustering has no {name!r} in its info: only one made by generate can be made again")
    if cells["method"] not in METHODS:
        raise InputError(f"the clustering was made by {show(cells['method'])}, which generate does not know")
    weights, known = cells.get("weights"), {name: cells.get(name) for name in ("alpha", "sigma_divisor", "spread")}
    return Recipe(
        method=str(cells["method"]),
        seed=check_count("seed", cells["seed"], 0),
        unit=check_count("unit", cells["unit"], 0),
        n_clusters=check_count("n_clusters", cells["n_clusters"], 2),
        weights=None if weights is None or np.ndim(weights) == 0 else np.asarray(weights),
        **{name: _whole(cells.get(name)) for name in ("around", "from_seed", "from_unit")},
        **{name: None if _is_missing(value) else float(value) for name, value in known.items()},  # type: ignore[arg-type]
    )


def _whole(value: Any) -> int | None:
    return None if _is_missing(value) else int(value)


def _is_missing(value: Any) -> bool:
    return np.ndim(value) == 0 and bool(pd.isna(value))
