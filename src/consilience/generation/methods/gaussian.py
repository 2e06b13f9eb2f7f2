"""Mixtures of Gaussians fitted by EM (scikit-learn's GaussianMixture), the form of their covariances drawn for each clustering."""

# Wide tables are reduced to 50 principal components. Full covariances are drawn only where a cluster has, on average, more than twice as
# many objects as columns.

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from consilience import _kernels
from consilience._types import ArrayLike, Floats, Labels
from consilience.ensemble.results import register
from consilience.generation.kmeans import Runs
from consilience.generation.methods.method import Method, Space
from consilience.generation.methods.neighbors import Points
from consilience.generation.plan import Plan, Spec

FORMS = ("spherical", "diag", "tied", "full")
# safeguard: share of the columns' mean variance that is added in every direction, so that no covariance is singular.
REGULARIZATION = 1e-4


class Gaussian(Method):
    """A mixture of Gaussians."""

    drawn: ClassVar[tuple[str, ...]] = ("form_draw",)
    space = "points"
    takes_base = False

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        return Points.of(columns)

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        return replace(spec, drawn={"form_draw": float(u[0])})

    def make(self, table: ArrayLike, spec: Spec, plan: Plan) -> Runs:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture

        n, d = table.shape
        # Full covariances need more objects than they have numbers, or EM fits single objects.
        forms = FORMS if n > 2 * d * spec.n_clusters else FORMS[:2]
        form = forms[int(spec.drawn["form_draw"] * len(forms))]
        seed = int(_kernels.random_bits(*spec.run_stream, 1)[0]) % 2**32
        added = REGULARIZATION * float(np.var(table, axis=0).mean())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a mixture that still moves is a clustering as well
            mixture = GaussianMixture(spec.n_clusters, covariance_type=form, reg_covar=added, random_state=seed)
            found = mixture.fit(table)
        model = GaussianModel(form, found.weights_, found.means_, found.precisions_cholesky_)
        return Runs.of_labels(model.label(table), predictor=model)

    def describe(self, row: Mapping[str, Any]) -> str:
        return f"Clusters of a mixture of {int(row['n_clusters'])} Gaussians"


@register
@dataclass(frozen=True, eq=False)
class GaussianModel:
    """Labels rows by the likeliest component; `roots` are Cholesky factors of the precisions, as scikit-learn keeps them."""

    form: str
    weights: Floats
    means: Floats
    roots: Floats

    def label(self, table: ArrayLike) -> Labels:
        X = np.asarray(table)
        scores = np.empty((len(X), len(self.weights)))
        for j, (weight, mean) in enumerate(zip(self.weights, self.means, strict=True)):
            if self.form in ("full", "tied"):
                root = self.roots if self.form == "tied" else self.roots[j]
                away, volume = (X - mean) @ root, np.log(np.diagonal(root)).sum()
            else:
                spread = np.broadcast_to(self.roots[j], mean.shape)
                away, volume = (X - mean) * spread, np.log(spread).sum()
            scores[:, j] = np.log(weight) + volume - np.square(away).sum(axis=1) / 2
        return scores.argmax(axis=1).astype(np.int32)
