"""K-means from random starts on the first 50 principal components: for wide tables and counts, where most columns are noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience._types import ArrayLike
from consilience.generation.method import Method, Space
from consilience.generation.neighbors import Points

if TYPE_CHECKING:
    from consilience.generation.plan import Plan


class Reduced(Method):
    """k-means on the first principal components."""

    space = "points"

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        """The columns, or 50 principal components where they are more."""
        return Points.of(columns)
