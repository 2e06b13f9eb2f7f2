"""Spectral clustering of Zipf-weighted columns (Ng, Jordan and Weiss 2002), as Caruana et al. 2006 use it in section 4.5."""

# k-means of the first k eigenvectors of D^−1/2 S D^−1/2, S = exp(−|x − y|² / σ²), rows scaled to length 1; σ is the largest distance over
# one of `sigma_divisors`, drawn for each clustering: 2^(i/4) for i = 0, 2, 4, 8, 16, 32 (there "0, 2, 4, …, 32", six values).

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from scipy.spatial.distance import pdist, squareform

from consilience._check import InputError, check_positive
from consilience._types import ArrayLike, Floats
from consilience.generation.kmeans import Runs, kmeans_runs
from consilience.generation.methods.method import Options, check_each
from consilience.generation.methods.random_kmeans import Zipf
from consilience.generation.plan import Plan, Spec

MOST_OBJECTS = 8000  # safeguard: objects whose similarities are half a gigabyte
SIGMA_DIVISORS = tuple(2 ** (i / 4) for i in (0, 2, 4, 8, 16, 32))
DIVISORS = partial(check_each, check=check_positive, what="the numbers that the largest distance is divided by")


class Spectral(Zipf):
    """Spectral clustering, the columns multiplied by random weights."""

    options: ClassVar[Options] = {**Zipf.options, "sigma_divisors": (SIGMA_DIVISORS, DIVISORS)}
    drawn = ("alpha", "sigma_divisor")
    takes_base = False

    def check(self, n_objects: int) -> None:
        if n_objects > MOST_OBJECTS:
            many = f"{n_objects:,} objects are more than {MOST_OBJECTS:,}"
            instead = "use methods='landmarks', spectral clustering for any number of objects"
            raise InputError(f"spectral needs the similarities of all pairs, and {many}: {instead}")

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        spec, divisors = super().draw(spec, u, plan), plan.options["sigma_divisors"]
        return replace(spec, drawn={**spec.drawn, "sigma_divisor": divisors[int(u[1] * len(divisors))]})

    def make(self, table: ArrayLike, spec: Spec, plan: Plan) -> Runs:
        how: dict[str, Any] = {"init": plan.init, "max_iter": plan.max_iter}
        return spectral_run(table, spec.n_clusters, spec.drawn["sigma_divisor"], *spec.run_stream, **how)

    def describe(self, row: Mapping[str, Any]) -> str:
        return f"{super().describe(row)}; σ is the largest distance / {row['sigma_divisor']:.3g}"


def spectral_run(table: Any, n_clusters: int, sigma_divisor: float, seed: int, unit: int, **how: Any) -> Runs:
    # An object that is like no other (its similarities all vanish) has a row of zeros.
    squares = _squares(table)
    widest = squares.max(initial=0)
    similarity = np.exp(-squares * (sigma_divisor**2 / widest if widest else 0.0))
    np.fill_diagonal(similarity, 0)
    degree = similarity.sum(axis=1)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    similarity *= scale[:, None]
    similarity *= scale
    vectors = first_vectors(similarity, min(n_clusters, len(squares)))
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return kmeans_runs(vectors, n_clusters, seed=seed, units=[unit], **how)


def _squares(table: Any) -> Floats:
    if not sparse.issparse(table):
        return np.asarray(squareform(pdist(table, "sqeuclidean")))
    products = (table @ table.T).toarray()
    lengths = products.diagonal()
    return np.maximum(lengths + lengths[:, None] - 2 * products, 0)


ITERATED = 500  # safeguard: rows from which the first eigenvectors come sooner by iteration; they are the same


def first_vectors(matrix: ArrayLike, k: int, *, plus: Floats | None = None, rounds: int = 10) -> Floats:
    # In rising order of the eigenvalues; with `plus` = s, of matrix + s sᵀ. A graph in many pieces has many eigenvalues near 1, at which
    # iteration hardly moves: a few rounds, then the direct way.
    n = matrix.shape[0]
    if n >= max(ITERATED, 12 * k):
        with contextlib.suppress(ArpackNoConvergence):
            start, size = np.linspace(1, 2, n), max(2 * k + 1, 40)
            values, vectors = eigsh(_sum(matrix, plus), k, which="LA", v0=start, ncv=size, maxiter=rounds, tol=1e-6)
            return np.asarray(vectors[:, np.argsort(values, kind="stable")])
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    dense = dense if plus is None else dense + np.outer(plus, plus)
    return np.asarray(eigh(dense, subset_by_index=[n - k, n - 1])[1])


def _sum(matrix: ArrayLike, plus: Floats | None) -> ArrayLike | LinearOperator:
    if plus is None:
        return matrix
    return LinearOperator(matrix.shape, matvec=lambda x: matrix @ x.ravel() + plus * (plus @ x.ravel()), dtype=float)
