"""K-means and landmark spectral clustering on the first 10 to 50 principal components, a number that each clustering draws: for wide tables
and counts, where most columns are noise. Up to 50 columns are taken as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from consilience._types import ArrayLike, Floats
from consilience.generation.methods.landmarks import Landmarks
from consilience.generation.methods.method import Method, Space
from consilience.generation.neighbors import FEWEST, WIDEST, Points

if TYPE_CHECKING:
    from consilience.generation.clustering_spec import Spec
    from consilience.generation.plan import Plan


class Reduced(Method):
    """k-means on the first principal components."""

    drawn: ClassVar[tuple[str, ...]] = ("n_components",)
    space = "points"

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        """The columns, or 50 principal components where they are more."""
        return Points.of(columns)

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        """Draw how many components take part, where there are components."""
        return replace(spec, drawn={"n_components": float(FEWEST + int(u[0] * (WIDEST + 1 - FEWEST)))})

    def describe(self, row: Mapping[str, Any]) -> str:
        """With their number."""
        return f"{super().describe(row)} ({int(row['n_components'])})"


class Components(Reduced, Landmarks):
    """Spectral clustering through landmarks, on the first principal components."""
