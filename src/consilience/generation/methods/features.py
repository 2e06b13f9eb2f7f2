"""K-means on a random share of the columns, `feature_share` of them (the random subspaces of Ho 1998)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from consilience._check import check_share
from consilience._types import Floats
from consilience.generation.methods.method import Method, Options

if TYPE_CHECKING:
    from consilience.generation.clustering_spec import Spec
    from consilience.generation.plan import Plan


class Features(Method):
    """k-means on a random share of the columns."""

    options: ClassVar[Options] = {"feature_share": (0.5, check_share)}

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        """Weight 1 for the columns that take part, at least one, and 0 for the others."""
        order = np.argsort(u[2:], kind="stable")
        weights = np.zeros(len(order), np.int64)
        weights[order[: max(1, round(plan.options["feature_share"] * len(order)))]] = 1
        return replace(spec, weights=weights)
