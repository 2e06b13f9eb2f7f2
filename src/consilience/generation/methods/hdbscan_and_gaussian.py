"""Clusterings by scikit-learn, their parameters drawn: HDBSCAN (Campello, Moulavi and Sander 2013) and mixtures of Gaussians."""

# `min_cluster_size` is drawn from 5 … n/20 and `min_samples` from 1 … min_cluster_size, both evenly on a logarithmic scale; clusters are
# the leaves of the tree or those with the largest excess of mass. How many there are is found, not asked; where all is noise, smaller
# clusters are allowed. Wide tables are reduced to 50 principal components.

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from consilience import _kernels
from consilience._check import InputError
from consilience._run.random import child_seed
from consilience._types import ArrayLike, Floats, Labels
from consilience.ensemble.results import register
from consilience.generation.kmeans import Runs, noise_note
from consilience.generation.methods.neighbors import OnPoints
from consilience.generation.plan import Plan, Spec

MOST_OBJECTS = 50_000  # safeguard: some minutes a clustering beyond
SMALLEST, LARGEST = 5, 0.05  # ends of the range of min_cluster_size: objects, and a share of all objects


class Density(OnPoints):
    """HDBSCAN with drawn parameters; objects that it calls noise have no label."""

    drawn: ClassVar[tuple[str, ...]] = ("size_draw", "samples_draw", "leaf")
    takes_base = False

    def check(self, n_objects: int) -> None:
        if n_objects > MOST_OBJECTS:
            many = f"{n_objects:,} objects are more than {MOST_OBJECTS:,}"
            instead = "use methods='landmarks', which finds clusters of any shape too"
            raise InputError(f"density looks for neighbors again and again, and {many}: {instead}")

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
        return Runs.of_labels(np.maximum(labels, -1), noise_note(labels))

    def describe(self, row: Mapping[str, Any]) -> str:
        return f"HDBSCAN, clusters by {'leaves' if row['leaf'] else 'excess of mass'}; noise has no label"


def parameters(n: int, drawn: Mapping[str, float]) -> tuple[int, int]:
    """`min_cluster_size` and `min_samples` of n objects, from uniform numbers."""
    smallest = min(SMALLEST, max(2, n // 4))
    size = round(smallest * (max(smallest, LARGEST * n) / smallest) ** drawn["size_draw"])
    return size, max(1, min(round(size ** drawn["samples_draw"]), n - 1))


# Mixtures of Gaussians by EM, the form of their covariances drawn for each clustering; full ones only where a cluster has, on average, more
# than twice as many objects as columns. Wide tables are reduced here, too.
FORMS = ("spherical", "diag", "tied", "full")
REGULARIZATION = 1e-4  # safeguard: share of the mean variance of columns that is added: no covariance is singular


class Gaussian(OnPoints):
    """A mixture of Gaussians."""

    drawn: ClassVar[tuple[str, ...]] = ("form_draw",)
    takes_base = False

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
