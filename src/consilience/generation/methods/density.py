"""HDBSCAN (Campello, Moulavi and Sander 2013), by scikit-learn, with parameters drawn for each clustering; noise has no label."""

# `min_cluster_size` is drawn from 5 … n/20 and `min_samples` from 1 … min_cluster_size, both evenly on a logarithmic scale; clusters are
# the leaves of the tree or those with the largest excess of mass. How many there are is found, not asked; where all is noise, smaller
# clusters are allowed. Wide tables are reduced to 50 principal components.

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from consilience import _kernels
from consilience._check import InputError
from consilience._run.random import child_seed
from consilience._types import ArrayLike, Floats
from consilience.generation.kmeans import Runs
from consilience.generation.methods.method import Method, Space
from consilience.generation.methods.neighbors import Points
from consilience.generation.plan import Plan, Spec

# safeguard: some minutes a clustering beyond.
MOST_OBJECTS = 50_000
SMALLEST, LARGEST = 5, 0.05  # ends of the range of min_cluster_size: objects, and a share of all objects


class Density(Method):
    """HDBSCAN with drawn parameters; objects that it calls noise have no label."""

    drawn: ClassVar[tuple[str, ...]] = ("size_draw", "samples_draw", "leaf")
    space = "points"
    takes_base = False

    def check(self, n_objects: int) -> None:
        if n_objects > MOST_OBJECTS:
            raise InputError(
                f"density looks for neighbors again and again, and {n_objects:,} objects are more than {MOST_OBJECTS:,}: "
                "use methods='landmarks', which finds clusters of any shape too"
            )

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        return Points.of(columns)

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        leaf = _kernels.random_uniform(child_seed(spec.seed, "generation.density"), spec.unit, 1)[0] < 0.5
        return replace(spec, drawn={"size_draw": float(u[0]), "samples_draw": float(u[1]), "leaf": float(leaf)})

    def make(self, table: ArrayLike, spec: Spec, plan: Plan) -> Runs:
        # Where every object is noise, smaller clusters are allowed; if that does not help there is no clustering.
        from sklearn.cluster import HDBSCAN

        least, samples = parameters(table.shape[0], spec.drawn)
        how = {"cluster_selection_method": "leaf" if spec.drawn["leaf"] else "eom", "copy": True}
        for size, core in dict.fromkeys([(least, samples), (least, 1), (min(least, SMALLEST), 1), (2, 1)]):
            labels = HDBSCAN(min_cluster_size=size, min_samples=core, **how).fit_predict(np.asarray(table))
            if (labels >= 0).any():
                break
        noise = int(np.count_nonzero(labels < 0))
        said = f"{noise:,} of {len(labels):,} objects are noise, left without a label" if noise else None
        return Runs.of_labels(np.maximum(labels, -1), said)

    def describe(self, row: Mapping[str, Any]) -> str:
        return f"HDBSCAN, clusters by {'leaves' if row['leaf'] else 'excess of mass'}; noise has no label"


def parameters(n: int, drawn: Mapping[str, float]) -> tuple[int, int]:
    """`min_cluster_size` and `min_samples` of n objects, from uniform numbers."""
    smallest = min(SMALLEST, max(2, n // 4))
    size = round(smallest * (max(smallest, LARGEST * n) / smallest) ** drawn["size_draw"])
    return size, max(1, min(round(size ** drawn["samples_draw"]), n - 1))
