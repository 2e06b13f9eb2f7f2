"""The Dirichlet-process mixture of label rows, with its parameters integrated out.

    z_i ~ π,   y_im ~ θ_{z_i m},   θ_km ~ Dirichlet(β, …, β) over the J_m labels of clustering m,

and two priors of π, cut off at K clusters: truncated sticks ("tsb", v_k ~ Beta(1, α), v_K = 1) and a finite symmetric Dirichlet
("fsd", π ~ Dirichlet(α/K, …)). With n_k the sizes of the clusters, N_kmj their members with label j of clustering m, and N_km those with
any label of it,

    p_tsb(Z) = α^(K−1) Π_{k<K} Γ(1 + n_k) Γ(α + n_>k) / Γ(1 + α + n_≥k)
    p_fsd(Z) = Γ(α) / Γ(α + n) Π_k Γ(α/K + n_k) / Γ(α/K)
    p(Y | Z) = Π_km Γ(J_m β) / Γ(J_m β + N_km) Π_j Γ(β + N_kmj) / Γ(β)

(P. Wang, C. Domeniconi and K. B. Laskey, ECML 2010, Eq. 4. There the factor α^(K−1), without which p_tsb does not sum to one, is
missing, and N_km counts unlabelled members too.) Sizes and tables may be expected ones, so they need not be whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from consilience._kernels import PRIORS
from consilience.consensus.problem import Floats

__all__ = ["PRIORS", "column_totals", "log_labels", "log_predictive", "log_prior", "log_shares"]


def log_prior(sizes: NDArray[Any], alpha: float, prior: str) -> float:
    """log p(Z | α) from the sizes of all K clusters."""
    k, n = len(sizes), float(sizes.sum())
    if prior == "fsd":
        used = sizes[sizes > 0]
        each = gammaln(alpha / k + used).sum() - len(used) * gammaln(alpha / k)
        return float(gammaln(alpha) - gammaln(alpha + n) + each)
    here_on = n - np.concatenate([[0.0], np.cumsum(sizes[:-1])])  # n_≥k
    behind = np.maximum(here_on[:-1] - sizes[:-1], 0.0)
    pieces = gammaln(1 + sizes[:-1]) + gammaln(alpha + behind) - gammaln(1 + alpha + here_on[:-1])
    return float((k - 1) * np.log(alpha) + pieces.sum())


def log_labels(table: NDArray[Any], offsets: NDArray[np.int64], beta: float) -> float:
    """log p(Y | Z, β) from the members with each label (labels × clusters)."""
    used = table[table > 0]
    totals, widths = column_totals(table, offsets), np.diff(offsets).astype(float)[:, None]
    cells = gammaln(beta + used).sum() - used.size * gammaln(beta)
    return float(cells + (gammaln(widths * beta) - gammaln(widths * beta + totals)).sum())


def column_totals(table: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """(clusterings × clusters) sums of a table over the labels of each clustering."""
    return np.add.reduceat(table, offsets[:-1], axis=0)


def log_shares(sizes: NDArray[Any], alpha: float, prior: str) -> Floats:
    """log p(z = k) of one more object, given the sizes of the K clusters."""
    k, n = len(sizes), float(sizes.sum())
    if prior == "fsd":
        return np.asarray(np.log(alpha / k + sizes) - np.log(alpha + n))
    here_on = n - np.concatenate([[0.0], np.cumsum(sizes[:-1])])
    whole = np.log(1 + alpha + here_on)
    broken = np.concatenate([[0.0], np.cumsum(np.log(alpha + np.maximum(here_on - sizes, 0.0)) - whole)[:-1]])
    return np.asarray(broken + np.append((np.log(1 + sizes) - whole)[:-1], 0.0))


def log_predictive(table: NDArray[Any], offsets: NDArray[np.int64], beta: float) -> Floats:
    """log p(label | cluster) of one more object (labels × clusters)."""
    widths = np.diff(offsets)
    totals = column_totals(table, offsets) + beta * widths[:, None]
    return np.asarray(np.log(table + beta) - np.log(np.repeat(totals, widths, axis=0)))
