"""Landmark spectral clustering (:mod:`consilience.generation.landmark_graph`), new landmarks for each clustering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from consilience._check import check_count
from consilience._types import ArrayLike, Floats
from consilience.generation.kmeans import Runs
from consilience.generation.landmark_graph import landmark_run
from consilience.generation.methods.method import Method, Options

if TYPE_CHECKING:
    from consilience.generation.clustering_spec import Spec
    from consilience.generation.plan import Plan


class Landmarks(Method):
    """Spectral clustering through landmarks.

    Columns that are standardized get back a share of their own scales, between none and all, drawn for each clustering: some tables are
    better as they came, some standardized, and most between.
    """

    options: ClassVar[Options] = {
        "n_landmarks": (1000, partial(check_count, least=2)),
        "n_neighbors": (5, partial(check_count, least=1)),
    }
    drawn: ClassVar[tuple[str, ...]] = ("own_scale",)
    takes_base = False

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        """Draw how much of the columns' own scales counts; the run knows them."""
        return replace(spec, drawn={"own_scale": float(u[0])})

    def make(self, table: ArrayLike, spec: Spec, plan: Plan) -> Runs:
        """Embed the rows through new landmarks, of which there are at most half as many as objects, and cluster them."""
        seed, unit = spec.run_stream
        most = max(2, table.shape[0] // 2, min(spec.n_clusters, table.shape[0]))
        return landmark_run(
            table,
            spec.n_clusters,
            n_landmarks=min(plan.options["n_landmarks"], most),
            n_neighbors=plan.options["n_neighbors"],
            seed=seed,
            unit=unit,
            max_iter=plan.max_iter,
            sigma_factor=spec.drawn.get("sigma_factor", 1.0),
        )

    def describe(self, row: Mapping[str, Any]) -> str:
        """With its number of clusters, which is what it draws."""
        return f"{super().describe(row)}, {int(row['n_clusters'])} clusters"
