"""Distances into columns: multidimensional scaling with the weights of Caruana et al. 2006, Eq. 2."""

import numpy as np
from scipy.spatial.distance import cdist

from consilience._check import InputError
from consilience._types import Floats

MOST_OBJECTS = 6000  # safeguard: objects; beyond, a matrix takes 288 MB and the scaling minutes
CLOSE = 1e-3  # safeguard: of the mean distance: pairs nearer than that weigh no more, or equal objects would outweigh all others
BLOCK = 2**22  # safeguard: distances at a time, 32 MB
TRACE = 1e-9  # safeguard: of the nearest distance that counts: objects nearer than that are at one place


def embed(distances: Floats, n_dimensions: int, max_iter: int = 300, tolerance: float = 1e-6) -> tuple[Floats, float]:
    # A minimum of J = Σ (d − δ)² / δ / Σ δ over pairs, from classical scaling downhill by majorisation (SMACOF), whose every step lowers
    # J, so that no step size and no restart is needed; the gradient descent of Caruana et al. has both. Returns the columns, on their
    # principal axes in the order of their variance, and J; 0 is perfect.
    if len(distances) > MOST_OBJECTS:
        many = f"scaling the distances of {len(distances):,} objects needs several matrices of that size"
        instead = "scale them by other means and give the columns, or take a sample"
        raise InputError(f"{many}: {MOST_OBJECTS:,} is the most; {instead}")
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


def place(columns: Floats, distances: Floats, near: float, *, max_iter: int = 300, tolerance: float = 1e-6) -> Floats:
    # New objects in the columns of `embed`, by their (n_new, n) distances to the objects there. Each is put where Σ (d − δ)² / δ is
    # least, the others staying where they are, by the same majorisation, from the object that is nearest. `near` is that of `closest`.
    # Time O(steps · n_new · n · width), memory O(block · n).
    places = columns[distances.argmin(axis=1)] if len(distances) else np.empty((0, columns.shape[1]))
    step = max(1, BLOCK // len(columns))
    for begin in range(0, len(distances), step):
        todo, last = np.arange(begin, min(begin + step, len(distances))), None
        for _ in range(max_iter):
            wanted = distances[todo]
            weights = 1 / np.maximum(wanted, near)
            made = cdist(places[todo], columns)
            stress = (weights * np.square(made - wanted)).sum(axis=1)
            if last is not None:
                going = last - stress > tolerance * last
                todo, wanted, weights, made, stress = (x[going] for x in (todo, wanted, weights, made, stress))
            if not todo.size:
                break
            # An object right at the place of another is pushed off it in no direction of its own: along the first column.
            ratio = weights * wanted / np.maximum(made, TRACE * near)
            moved = weights @ columns + ratio.sum(axis=1)[:, None] * places[todo] - ratio @ columns
            moved[:, 0] += np.where(made == 0, weights * wanted, 0).sum(axis=1)
            places[todo], last = moved / weights.sum(axis=1)[:, None], stress
    return places


def closest(distances: Floats) -> float:
    # Pairs that are nearer weigh no more.
    n = len(distances)
    return float(CLOSE * distances.sum() / (n * (n - 1)))


def _weights(distances: Floats) -> Floats:
    weights = 1 / np.maximum(distances, closest(distances))
    np.fill_diagonal(weights, 0)
    return weights


def _stress(made: Floats, distances: Floats, weights: Floats) -> float:
    return float((weights * np.square(made - distances)).sum() / distances.sum())


def _classical(distances: Floats, n_dimensions: int) -> Floats:
    # Columns that would be imaginary are 0, except for a trace that lets the descent use them.
    squares = np.square(distances)
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centered / 2)
    values, vectors = values[::-1][:n_dimensions], vectors[:, ::-1][:, :n_dimensions]
    return np.asarray(vectors * np.sqrt(np.maximum(values, 1e-6 * values[0])))
