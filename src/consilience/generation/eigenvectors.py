"""The first eigenvectors of a symmetric matrix of similarities, dense or sparse."""

from __future__ import annotations

import contextlib

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from consilience._types import ArrayLike, Floats

ITERATED = 500  # rows from which the first eigenvectors come sooner by iteration, if they come soon at all


def first_vectors(matrix: ArrayLike, k: int, *, plus: Floats | None = None, rounds: int = 10) -> Floats:
    """(n, k) eigenvectors of the k largest eigenvalues, in rising order, of the matrix or, with `plus` = s, of matrix + s sᵀ.

    A graph in many pieces has many eigenvalues near 1, at which iteration hardly moves: a few rounds, then the direct way.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.generation.eigenvectors import first_vectors
    >>> np.abs(first_vectors(np.diag([1.0, 5.0, 3.0]), 2)).round(3).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """
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
    """matrix + s sᵀ without forming it."""
    if plus is None:
        return matrix
    return LinearOperator(matrix.shape, matvec=lambda x: matrix @ x.ravel() + plus * (plus @ x.ravel()), dtype=float)
