"""Distances into columns: multidimensional scaling with the weights of Caruana et al. 2006, Eq. 2."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from consilience._check import InputError
from consilience._types import Floats

MOST = 6000  # objects: 288 MB a matrix, and minutes
CLOSE = 1e-3  # of the mean distance: pairs nearer than that weigh no more, or equal objects would outweigh all others


def embed(
    distances: Floats, n_dimensions: int, *, max_iter: int = 300, tolerance: float = 1e-6
) -> tuple[Floats, float]:
    """Columns whose Euclidean distances d come near the given δ: a minimum of J = Σ (d − δ)² / δ / Σ δ over pairs.

    Starts from classical scaling and goes down by majorisation (SMACOF), whose every step lowers J, so that no step
    size and no restart is needed; the gradient descent of Caruana et al. has both.

    Returns
    -------
    columns : (n, n_dimensions) array
        In the order of their variance, on their principal axes.
    stress : float
        J; 0 is perfect.
    """
    if len(distances) > MOST:
        raise InputError(
            f"scaling the distances of {len(distances):,} objects needs several matrices of that size: {MOST:,} is the most; "
            "scale them by other means and give the columns, or take a sample"
        )
    weights = _weights(distances)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights, hermitian=True)
    columns = _classical(distances, n_dimensions)
    made = cdist(columns, columns)
    stress = _stress(made, distances, weights)
    for _ in range(max_iter):
        ratio = np.divide(weights * distances, made, out=np.zeros_like(made), where=made > 0)
        columns = inverse @ (ratio.sum(axis=1)[:, None] * columns - ratio @ columns)
        made = cdist(columns, columns)
        last, stress = stress, _stress(made, distances, weights)
        if last - stress <= tolerance * last:
            break
    columns -= columns.mean(axis=0)
    axes = np.linalg.svd(columns, full_matrices=False)[2]
    return columns @ axes.T, stress


def _weights(distances: Floats) -> Floats:
    n = len(distances)
    mean = distances.sum() / (n * (n - 1))
    weights = 1 / np.maximum(distances, CLOSE * mean)
    np.fill_diagonal(weights, 0)
    return weights


def _stress(made: Floats, distances: Floats, weights: Floats) -> float:
    return float((weights * np.square(made - distances)).sum() / distances.sum())


def _classical(distances: Floats, n_dimensions: int) -> Floats:
    """Classical scaling; columns that would be imaginary are 0, except for a trace that lets the descent use them."""
    squares = np.square(distances)
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centered / 2)
    values, vectors = values[::-1][:n_dimensions], vectors[:, ::-1][:, :n_dimensions]
    return np.asarray(vectors * np.sqrt(np.maximum(values, 1e-6 * values[0])))
