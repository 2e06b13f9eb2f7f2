"""K-means on columns with random weights (Caruana et al. 2006, section 2.1.2).

Every column is multiplied by a number from a Zipf distribution, p(i) ∝ i^−α on 1 … `zipf_max`, with α uniform in
[0, `max_alpha`] for each clustering: at α = 0 all weights are equally likely, at 1.5 few columns matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from consilience._check import check_count, check_positive
from consilience._types import Floats, Ints
from consilience.generation.methods.method import Method, Options

if TYPE_CHECKING:
    from consilience.generation.clustering_spec import Spec
    from consilience.generation.plan import Plan


class Zipf(Method):
    """k-means, the columns multiplied by random weights."""

    options: ClassVar[Options] = {
        "max_alpha": (1.5, partial(check_positive, or_equal=True)),
        "zipf_max": (100, check_count),
    }
    drawn: ClassVar[tuple[str, ...]] = ("alpha",)
    min_columns = 2

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        """Draw α, then a weight for every column."""
        alpha = float(plan.options["max_alpha"] * u[0])
        weights = zipf_numbers(alpha, plan.options["zipf_max"], u[2:])
        return replace(spec, weights=weights, drawn={"alpha": alpha})

    def describe(self, row: Mapping[str, Any]) -> str:
        """With the α that the weights were drawn with."""
        return f"{super().describe(row)} (Zipf, α = {row['alpha']:.2f})"


def zipf_numbers(alpha: float, largest: int, u: Floats) -> Ints:
    """Numbers 1 … largest with p(i) ∝ i^−α, from uniform ones."""
    below = np.cumsum(np.arange(1, largest + 1, dtype=float) ** -alpha)
    return np.searchsorted(below, u * below[-1], side="right") + 1
