"""Deterministic annealing of the information engine's objective.

Soft memberships p(c | x) ∝ p(c) exp(β Σ_v s_v Σ_y x_y log p_v(y | c) / |x|), |x| = Σ_v s_v x_v, where s_v = w_v / N_v are the scales of the
views: the gradient of Σ_v w_v I(C; v), so that β → ∞ is hard assignment by it (N. Tishby, F. Pereira and W. Bialek 1999; with the views of
a group and of the whole, D. Gondek and T. Hofmann 2004). β rises from 1, where one cluster is best, until memberships are hard.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._types import Floats
from consilience.engine.search import refill_empty
from consilience.engine.views import Views

HARDEST = 1000.0  # safeguard: β at which it ends in any case; memberships are hard long before
TINY = 1e-9  # safeguard: keeps the logarithm of an empty cell finite


def anneal(views: Views, n_clusters: int, *, cooling: float, rng: np.random.Generator) -> NDArray[np.int32]:
    """Labels of the rows after β has risen step by step, by the factor `cooling`."""
    scale = np.divide(views.weights, views.totals, out=np.zeros(views.n_views), where=views.totals > 0)
    rows = views.table @ sparse.diags(scale[views.view_of])
    mass = np.asarray(rows.sum(axis=1)).ravel()
    rows = sparse.csr_matrix(sparse.diags(1 / np.maximum(mass, 1e-300)) @ rows)
    weight = mass / mass.sum()
    soft, _ = soft_rows(0.1 * rng.random((views.n_objects, n_clusters)))
    beta = 1.0
    while beta < HARDEST:
        soft = _settle(views, rows, soft, weight, beta)
        if (soft.max(axis=1) > 0.999).mean() > 0.999:
            break
        beta *= cooling
        soft *= 1 + 0.02 * rng.random(soft.shape)  # lets equal clusters part when they can
        soft /= soft.sum(axis=1, keepdims=True)
    labels = soft.argmax(axis=1).astype(np.int32)
    refill_empty(labels, soft.max(axis=1), n_clusters)
    return labels


def _settle(views: Views, rows: Any, soft: Floats, weight: Floats, beta: float) -> Floats:
    for _ in range(30):
        logs, prior = _cluster_logs(views, soft, weight)
        new, _ = soft_rows(np.log(prior) + beta * np.asarray(rows @ logs))
        shift = float(np.abs(new - soft).max())
        soft = new
        if shift < 1e-3:
            break
    return soft


def _cluster_logs(views: Views, soft: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """log p_v(y | c) of every column (columns × k) and p(c)."""
    table = np.asarray(views.table.T @ soft) + TINY
    totals = np.zeros((views.n_views, soft.shape[1]))
    np.add.at(totals, views.view_of, table)
    return np.log(table / totals[views.view_of]), np.maximum(weight @ soft, 1e-300)


def soft_rows(scores: Floats) -> tuple[Floats, Floats]:
    """exp of the scores with rows that sum to one, and the logarithms of the sums."""
    top = scores.max(axis=1, keepdims=True)
    out = np.exp(scores - top)
    total = out.sum(axis=1, keepdims=True)
    out /= total
    return out, (top + np.log(total)).ravel()
