"""The Dirichlet-process mixture of label rows, with its parameters integrated out.

    z_i ~ π,   y_im ~ θ_{z_i m},   θ_km ~ Dirichlet(β, …, β) over the J_m labels of clustering m,

and two priors of π, cut off at K clusters: truncated sticks ("tsb", v_k ~ Beta(1, α), v_K = 1) and a finite symmetric Dirichlet
("fsd", π ~ Dirichlet(α/K, …)). With n_k the sizes of the clusters, N_kmj their members with label j of clustering m, and N_km those with
any label of it,

    p_tsb(Z) = α^(K−1) Π_{k<K} Γ(1 + n_k) Γ(α + n_>k) / Γ(1 + α + n_≥k)
    p_fsd(Z) = Γ(α) / Γ(α + n) Π_k Γ(α/K + n_k) / Γ(α/K)
    p(Y | Z) = Π_km Γ(J_m β) / Γ(J_m β + N_km) Π_j Γ(β + N_kmj) / Γ(β)

(P. Wang, C. Domeniconi and K. B. Laskey, ECML 2010, Eq. 4. There the factor α^(K−1), without which p_tsb does not sum to one, is
missing, and N_km counts unlabeled members too.) Sizes and tables may be expected ones, so they need not be whole.

**Tempering.** Clusterings that repeat each other are not so many witnesses, and the joint is p(Z) p(Y | Z)^τ with a power τ in (0, 1]
(a power posterior; on why: J. W. Miller and D. B. Dunson, Journal of the American Statistical Association 2019). The parameters are
integrated out before the power is taken, so that r equal clusterings with τ = 1/r are exactly one; :mod:`.dependence` estimates τ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from consilience._kernels import PRIORS
from consilience._types import Floats

__all__ = [
    "PRIORS",
    "column_totals",
    "labels_curve",
    "log_labels",
    "log_predictive",
    "log_prior",
    "log_rising",
    "log_shares",
    "positive",
    "prior_curve",
]


def positive(counts: NDArray[Any], none: NDArray[Any] | None) -> tuple[Any, NDArray[Any]]:
    """The chance that a count is above 0, and its mean if it is; `none` is the log-probability of 0, None for known counts.

    An expected count of .01 is a count of 1 once in a hundred times: Γ(x + .01) would be far off where x is small (Y. W. Teh,
    K. Kurihara and M. Welling, Collapsed variational inference for HDP, 2007).
    """
    if none is None:
        return 1.0, counts
    chance = -np.expm1(none)
    return chance, np.divide(counts, chance, out=np.zeros_like(counts), where=chance > 0)


def log_rising(start: Any, counts: NDArray[Any], none: NDArray[Any] | None = None) -> NDArray[Any]:
    """E log Γ(start + count) / Γ(start)."""
    chance, mean = positive(counts, none)
    return np.asarray(chance * (gammaln(start + mean) - gammaln(start)))


def log_prior(
    sizes: NDArray[Any],
    alpha: float,
    prior: str,
    none: NDArray[Any] | None = None,
    none_behind: NDArray[Any] | None = None,
) -> float:
    """log p(Z | α) from the sizes of all K clusters; of expected ones, with the log-probabilities that n_k and n_>k are 0."""
    return prior_curve(sizes, prior, none, none_behind)(alpha)


def prior_curve(
    sizes: NDArray[Any], prior: str, none: NDArray[Any] | None = None, none_behind: NDArray[Any] | None = None
) -> Callable[[float], float]:
    """:func:`log_prior` as a function of α: what does not depend on it is worked out once."""
    k, n = len(sizes), np.asarray(float(sizes.sum()))
    if prior == "fsd":
        return lambda alpha: float(log_rising(alpha / k, sizes, none).sum() - log_rising(alpha, n))
    here_on, behind = tails(sizes)
    own = gammaln(1 + sizes[:-1])

    def sticks(alpha: float) -> float:  # Γ(1 + α) = α Γ(α) takes up the factor α of every stick
        return float((own + log_rising(alpha, behind, none_behind) - log_rising(1 + alpha, here_on)).sum())

    return sticks


def tails(sizes: NDArray[Any]) -> tuple[Floats, Floats]:
    """n_≥k and n_>k of all but the last cluster."""
    from_here = np.cumsum(np.asarray(sizes, float)[::-1])[::-1]
    return from_here[:-1], from_here[1:]


def log_labels(table: NDArray[Any], offsets: NDArray[np.int64], beta: float, none: NDArray[Any] | None = None) -> float:
    """log p(Y | Z, β) from the members with each label (labels × clusters); see :func:`log_prior` for `none`."""
    return labels_curve(table, offsets, none)(beta)


def labels_curve(
    table: NDArray[Any], offsets: NDArray[np.int64], none: NDArray[Any] | None = None
) -> Callable[[float], float]:
    """:func:`log_labels` as a function of β: what does not depend on it is worked out once."""
    totals, widths = column_totals(table, offsets), np.diff(offsets).astype(float)[:, None]
    none_at_all = None if none is None else column_totals(none, offsets)
    cells = table[table > 0] if none is None else table  # most cells are empty, and say nothing

    def curve(beta: float) -> float:
        return float(log_rising(beta, cells, none).sum() - log_rising(widths * beta, totals, none_at_all).sum())

    return curve


def column_totals(table: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """(clusterings × clusters) sums of a table over the labels of each clustering."""
    return np.add.reduceat(table, offsets[:-1], axis=0)


def log_shares(sizes: NDArray[Any], alpha: float, prior: str) -> Floats:
    """log p(z = k) of one more object, given the sizes of the K clusters."""
    k, n = len(sizes), float(sizes.sum())
    if prior == "fsd":
        return np.asarray(np.log(alpha / k + sizes) - np.log(alpha + n))
    here_on, behind = tails(sizes)
    whole = np.log(1 + alpha + here_on)
    before = np.concatenate([[0.0], np.cumsum(np.log(alpha + behind) - whole)])
    return np.asarray(before + np.append(np.log(1 + sizes[:-1]) - whole, 0.0))


def log_predictive(table: NDArray[Any], offsets: NDArray[np.int64], beta: float) -> Floats:
    """log p(label | cluster) of one more object (labels × clusters)."""
    widths = np.diff(offsets)
    totals = column_totals(table, offsets) + beta * widths[:, None]
    return np.asarray(np.log(table + beta) - np.log(np.repeat(totals, widths, axis=0)))
