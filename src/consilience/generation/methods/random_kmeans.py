"""K-means in four random forms: random starts, random weights of the columns, random columns, random objects."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from consilience import _kernels
from consilience._check import check_count, check_positive, check_share
from consilience._run.random import child_seed
from consilience._types import Floats, Ints
from consilience.generation.methods.method import Method, Options
from consilience.generation.plan import Plan, Spec

NOT_NEGATIVE = partial(check_positive, or_equal=True)


# The local minima of k-means, the columns as they are (Caruana et al. 2006, section 2.1.1).
class Minima(Method):
    """k-means from a random start."""


# K-means on columns with random weights (Caruana et al. 2006, section 2.1.2): every column is multiplied by a number from a Zipf
# distribution, p(i) ∝ i^−α on 1 … `zipf_max`, with α uniform in [0, `max_alpha`] for each clustering: at α = 0 all weights are equally
# likely, at 1.5 few columns matter.
class Zipf(Method):
    """k-means, the columns multiplied by random weights."""

    options: ClassVar[Options] = {"max_alpha": (1.5, NOT_NEGATIVE), "zipf_max": (100, check_count)}
    drawn: ClassVar[tuple[str, ...]] = ("alpha",)
    min_columns = 2

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        alpha = float(plan.options["max_alpha"] * u[0])
        weights = zipf_numbers(alpha, plan.options["zipf_max"], u[2:])
        return replace(spec, weights=weights, drawn={"alpha": alpha})

    def describe(self, row: Mapping[str, Any]) -> str:
        return f"{super().describe(row)} (Zipf, α = {row['alpha']:.2f})"


def zipf_numbers(alpha: float, largest: int, u: Floats) -> Ints:
    """Numbers 1 … largest with p(i) ∝ i^−α, from uniform ones."""
    below = np.cumsum(np.arange(1, largest + 1, dtype=float) ** -alpha)
    return np.searchsorted(below, u * below[-1], side="right") + 1


# K-means on a random share of the columns, `feature_share` of them (the random subspaces of Ho 1998).
class Features(Method):
    """k-means on a random share of the columns."""

    options: ClassVar[Options] = {"feature_share": (0.5, check_share)}

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        return replace(spec, weights=some_columns(plan.options["feature_share"], u[2:]))


def some_columns(share: float, u: Floats) -> Ints:
    """Weights 1 of a share of the columns, and 0 of the others, from uniform numbers."""
    order = np.argsort(u, kind="stable")
    weights = np.zeros(len(order), np.int64)
    weights[order[: max(1, round(share * len(order)))]] = 1
    return weights


# K-means on a random share of the objects, `object_share` of them; the others have no label (Strehl and Ghosh 2002).
class Objects(Method):
    """k-means on a random share of the objects."""

    options: ClassVar[Options] = {"object_share": (0.8, check_share)}

    def objects(self, spec: Spec, n_objects: int, plan: Plan) -> Ints:
        seed, unit = spec.origin
        size = max(spec.n_clusters, round(plan.options["object_share"] * n_objects))
        return np.sort(_kernels.random_permutation(child_seed(seed, "generation.objects"), unit, n_objects)[:size])
