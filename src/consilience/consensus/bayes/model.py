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
integrated out before the power is taken, so that r equal clusterings with τ = 1/r are exactly one; `likelihood_power` estimates τ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, polygamma

from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.rows.problem import sum_over_labels

Logs = Array | None  # log-probabilities that counts are 0; None for known counts


def positive(counts: Array, none: Logs) -> tuple[Any, Array]:
    """The chance that a count is above 0, and its mean if it is."""
    # An expected count of .01 is a count of 1 once in a hundred times: Γ(x + .01) would be far off where x is small (Y.
    # W. Teh, K. Kurihara and M. Welling, Collapsed variational inference for HDP, 2007).
    if none is None:
        return 1.0, counts
    chance = -np.expm1(none)
    return chance, np.divide(counts, chance, out=np.zeros_like(counts), where=chance > 0)


def log_rising(start: Any, counts: Array, none: Logs = None) -> Array:
    """E log Γ(start + count) / Γ(start)."""
    chance, mean = positive(counts, none)
    return np.asarray(chance * (gammaln(start + mean) - gammaln(start)))


def prior_curve(sizes: Array, prior: str, none: Logs = None, none_behind: Logs = None) -> Callable[[float], float]:
    """log p(Z | α) as a function of α, from the sizes of all K clusters."""
    # Of expected sizes, with the log-probabilities that n_k and n_>k are 0. What does not depend on α is worked out once.
    k, n = len(sizes), np.asarray(float(sizes.sum()))
    if prior == "fsd":
        return lambda alpha: float(log_rising(alpha / k, sizes, none).sum() - log_rising(alpha, n))
    here_on, behind = tails(sizes)
    own = gammaln(1 + sizes[:-1])

    def sticks(alpha: float) -> float:  # Γ(1 + α) = α Γ(α) takes up the factor α of every stick
        return float((own + log_rising(alpha, behind, none_behind) - log_rising(1 + alpha, here_on)).sum())

    return sticks


def tails(sizes: Array) -> tuple[Floats, Floats]:
    """n_≥k and n_>k of all but the last cluster."""
    from_here = np.cumsum(np.asarray(sizes, float)[::-1])[::-1]
    return from_here[:-1], from_here[1:]


def labels_curve(table: Array, offsets: Ints, none: Logs = None) -> Callable[[float], float]:
    """log p(Y | Z, β) as a function of β, from the members with each label (labels × clusters)."""
    totals, widths = column_totals(table, offsets), np.diff(offsets).astype(float)[:, None]
    none_at_all = None if none is None else column_totals(none, offsets)
    cells = table[table > 0] if none is None else table  # most cells are empty, and say nothing

    def curve(beta: float) -> float:
        return float(log_rising(beta, cells, none).sum() - log_rising(widths * beta, totals, none_at_all).sum())

    return curve


def column_totals(table: Array, offsets: Ints) -> Array:
    """(clusterings × clusters) sums of a table over the labels of each clustering."""
    return np.add.reduceat(table, offsets[:-1], axis=0)


def log_shares(sizes: Array, alpha: float, prior: str) -> Floats:
    """log p(z = k) of one more object, given the sizes of the K clusters."""
    k, n = len(sizes), float(sizes.sum())
    if prior == "fsd":
        return np.asarray(np.log(alpha / k + sizes) - np.log(alpha + n))
    here_on, behind = tails(sizes)
    whole = np.log(1 + alpha + here_on)
    before = np.concatenate([[0.0], np.cumsum(np.log(alpha + behind) - whole)])
    return np.asarray(before + np.append(np.log(1 + sizes[:-1]) - whole, 0.0))


def log_predictive(table: Array, offsets: Ints, beta: float) -> Floats:
    """log p(label | cluster) of one more object (labels × clusters)."""
    widths = np.diff(offsets)
    totals = column_totals(table, offsets) + beta * widths[:, None]
    return np.asarray(np.log(table + beta) - np.log(np.repeat(totals, widths, axis=0)))


# Estimating α and β: a slice sampler for chains, Newton's method for bounds.
#
# Both have a Gamma(1, 1) prior, which says little where there are data and keeps them from running away where there are none.

LIMITS = np.log(1e-6), np.log(1e6)  # safeguard: of log α and log β, far outside what data ask for
STEPS = 50  # safeguard: of Newton's method, which needs about five


def log_hyperprior(value: float) -> float:
    """log density of α or β under Gamma(1, 1)."""
    return -value


def slice_step(value: float, log_density: Callable[[float], float], rng: np.random.Generator) -> float:
    """A new value by slice sampling of its logarithm (R. M. Neal, Annals of Statistics 2003: stepping out, then shrinking)."""
    # `log_density` is that of the value itself, prior included.

    def height(x: float) -> float:
        return log_density(float(np.exp(x))) + x if LIMITS[0] < x < LIMITS[1] else -np.inf

    x = float(np.log(value))
    level = height(x) - rng.exponential()
    low = x - rng.random()
    high = low + 1
    while height(low) > level:
        low -= 1
    while height(high) > level:
        high += 1
    while True:
        new = low + (high - low) * rng.random()
        if height(new) > level:
            return float(np.exp(new))
        low, high = (new, high) if new < x else (low, new)


def newton(value: float, slopes: Callable[[float], tuple[float, float]]) -> float:
    """The value at which a concave function of its logarithm is largest, prior included."""
    # `slopes` gives the first and second derivative in the value itself; steps are made in the logarithm, so that it
    # stays positive, and are bounded where the function is not concave.
    x = float(np.log(value))
    for _ in range(STEPS):
        value = float(np.exp(x))
        first, second = slopes(value)
        first -= 1.0  # of the prior
        slope, bend = first * value, second * value**2 + first * value
        step = float(np.clip(-slope / bend, -1.0, 1.0)) if bend < 0 else float(np.sign(slope))
        x = float(np.clip(x + step, *LIMITS))
        if abs(step) < 1e-10:
            break
    return float(np.exp(x))


def _rising_slopes(start: Any, counts: Floats, none: Logs = None, scale: Any = 1.0) -> tuple[float, float]:
    """First and second derivative of Σ E log Γ(start + count) / Γ(start), where the start is `scale` times the value."""
    chance, mean = positive(counts, none)
    first = (scale * chance * (digamma(start + mean) - digamma(start))).sum()
    second = (scale**2 * chance * (polygamma(1, start + mean) - polygamma(1, start))).sum()
    return float(first), float(second)


def estimate_alpha(sizes: Floats, alpha: float, prior: str, none: Logs = None, none_behind: Logs = None) -> float:
    """The α of largest p(Z | α) p(α), from the sizes of all K clusters."""
    k, (here_on, behind) = len(sizes), tails(sizes)

    def slopes(a: float) -> tuple[float, float]:
        if prior == "tsb":
            up, down = _rising_slopes(a, behind, none_behind), _rising_slopes(1 + a, here_on)
        else:
            up, down = _rising_slopes(a / k, sizes, none, 1 / k), _rising_slopes(a, np.asarray(sizes.sum()))
        return up[0] - down[0], up[1] - down[1]

    return newton(alpha, slopes)


def estimate_beta(table: Floats, offsets: Ints, beta: float, none: Logs = None, power: float = 1.0) -> float:
    """The β of largest p(Y | Z, β)^power p(β), from the members with each label (labels × clusters)."""
    totals, widths = column_totals(table, offsets), np.diff(offsets).astype(float)[:, None]
    none_at_all = None if none is None else column_totals(none, offsets)

    def slopes(b: float) -> tuple[float, float]:
        up, down = _rising_slopes(b, table, none), _rising_slopes(widths * b, totals, none_at_all, widths)
        return power * (up[0] - down[0]), power * (up[1] - down[1])

    return newton(beta, slopes)


# What a draw from the posterior, or a variational bound, says of one more row of labels.


@dataclass(frozen=True)
class Components:
    """The components of one draw, and the clusters of the answer that they stand for."""

    sizes: Array  # (K,) Members of all components, whole or expected
    table: Array  # (labels, used) Members with each label, of the first `used` components; the others are empty
    alpha: float
    beta: float
    prior: str
    # (used, k) Share of each component's members that each cluster of the answer has; rows sum to 1, or to 0 for an empty one
    owner: Floats

    def log_joint(self, rows: Labels, offsets: Ints, power: float = 1.0) -> Floats:
        """(n, k + 1) log p(row, cluster): the last is a component that none of the members of the answer is in."""
        # With a power it is log p(cluster) p(row | cluster)^power, from which the cluster of a row follows.
        used = self.table.shape[1]
        shares = log_shares(self.sizes, self.alpha, self.prior)
        widths = np.diff(offsets)
        inside = sum_over_labels(rows, offsets, power * log_predictive(self.table, offsets, self.beta)) + shares[:used]
        behind = np.full((len(rows), 1), logsumexp(shares[used:]) if used < len(shares) else -np.inf)
        behind -= power * ((rows >= 0) @ np.log(widths)[:, None])
        nobody = np.maximum(1 - self.owner.sum(axis=1, keepdims=True), 0)
        owner = np.vstack([np.hstack([self.owner, nobody]), np.eye(1, self.owner.shape[1] + 1, k=self.owner.shape[1])])
        return _log_mixtures(np.hstack([inside, behind]), owner)


def _log_mixtures(logs: Floats, shares: Floats) -> Floats:
    """log(exp(logs) @ shares), column by column: of many labels, one component may be likelier than another by e¹⁰⁰⁰."""
    found = np.full((len(logs), shares.shape[1]), -np.inf)
    for column, share in enumerate(shares.T):
        some = np.flatnonzero(share)
        if len(some):
            found[:, column] = logsumexp(logs[:, some] + np.log(share[some]), axis=1)
    return found


def mean_log_joint(draws: Sequence[Components], rows: Labels, offsets: Ints, power: float = 1.0) -> Floats:
    """log of the mean over the draws of p(row, cluster), or of p(cluster) p(row | cluster)^power."""
    total = draws[0].log_joint(rows, offsets, power)
    for draw in draws[1:]:
        np.logaddexp(total, draw.log_joint(rows, offsets, power), out=total)
    return np.asarray(total - np.log(len(draws)))
