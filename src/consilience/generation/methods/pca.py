"""K-means on principal components with Zipf weights (Caruana et al. 2006, section 2.1.3, Eq. 1)."""

# The first components that hold `pca_share` of the variability: of Σ σ² (`pca_rule` "variance") or of Σ σ ("deviation"), since the
# printed numbers of components fit the one on some data sets and the other on others.

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from consilience._check import InputError, check_choice, check_share
from consilience._run.parallel import own_threads
from consilience._types import ArrayLike, Floats
from consilience.generation.methods.landmarks import Landmarks
from consilience.generation.methods.method import Options, Space
from consilience.generation.methods.neighbors import FEWEST_COMPONENTS, MOST_COMPONENTS, OnPoints
from consilience.generation.methods.random_kmeans import Zipf
from consilience.generation.plan import Plan, Spec

MOST_COLUMNS = 5000  # safeguard: columns, or objects if fewer: a matrix of that number squared is decomposed, 200 MB


class PCA(Zipf):
    """k-means, the principal components multiplied by random weights."""

    options: ClassVar[Options] = {
        **Zipf.options,
        "pca_share": (0.95, check_share),
        "pca_rule": ("variance", lambda name, rule: check_choice(rule, ("variance", "deviation"), name)),
    }
    space = "components"

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        with own_threads():  # the same numbers whatever the number of threads
            scores = principal_components(columns, plan.options["pca_share"], plan.options["pca_rule"])
            sizes = np.square(scores).sum(axis=0)
            axes = np.asarray(columns.T @ (scores / np.where(sizes > 0, sizes, 1)))  # X = U S Vᵀ: V = Xᵀ (U S) / S²
            return Components(scores, axes, np.asarray(columns.mean(axis=0)).ravel() @ axes)


@dataclass(frozen=True, eq=False)
class Components(Space):
    axes: Floats
    mean: Floats

    def transform(self, columns: ArrayLike) -> Floats:
        return np.asarray(columns @ self.axes - self.mean)


def principal_components(table: ArrayLike, share: float, rule: str) -> Floats:
    # From the covariance of the columns or, if they are fewer, the products of the rows.
    n, d = table.shape
    if min(n, d) > MOST_COLUMNS:
        large = f"principal components of {n:,} × {d:,} numbers need a matrix of {min(n, d):,} squared"
        instead = "reduce the table first (scikit-learn's TruncatedSVD), or leave 'pca' out of methods"
        raise InputError(f"{large}: {instead}")
    mean = np.asarray(table.mean(axis=0)).ravel()
    product = table @ table.T if n < d else table.T @ table
    product = product.toarray() if sparse.issparse(product) else product
    if n < d:
        along = np.asarray(table @ mean).ravel()
        values, vectors = largest_first(product - along - along[:, None] + mean @ mean)
    else:
        values, vectors = largest_first(product - n * np.outer(mean, mean))
    axes = vectors[:, : n_axes(values, share, rule)]
    scores = axes * np.sqrt(values[: axes.shape[1]]) if n < d else np.asarray(table @ axes - mean @ axes)
    return scores * np.where(scores[np.abs(scores).argmax(axis=0), range(axes.shape[1])] < 0, -1.0, 1.0)  # one sign


def n_axes(values: Floats, share: float, rule: str) -> int:
    size = values if rule == "variance" else np.sqrt(values)
    enough = int(np.searchsorted(np.cumsum(size), share * size.sum() * (1 - 1e-12))) + 1
    return min(max(enough, 2), len(values))


def largest_first(matrix: Floats) -> tuple[Floats, Floats]:
    values, vectors = np.linalg.eigh(matrix)
    return np.maximum(values[::-1], 0), vectors[:, ::-1]


# K-means and landmark spectral clustering on the first 10 to 50 principal components, a number that each clustering draws: for wide tables
# and counts, where most columns are noise. Up to 50 columns are taken as they are.
class Reduced(OnPoints):
    """k-means on the first principal components."""

    drawn: ClassVar[tuple[str, ...]] = ("n_components",)

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        number = FEWEST_COMPONENTS + int(u[0] * (MOST_COMPONENTS + 1 - FEWEST_COMPONENTS))
        return replace(spec, drawn={"n_components": float(number)})

    def describe(self, row: Mapping[str, Any]) -> str:
        return f"{super().describe(row)} ({int(row['n_components'])})"


class ComponentLandmarks(Reduced, Landmarks):
    """Spectral clustering through landmarks, on the first principal components."""
