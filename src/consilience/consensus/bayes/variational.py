"""Variational inference for the mixture of label rows, on weighted rows, in parts that can live apart.

Every row has probabilities γ of the K components. With the expected sizes n_k = Σ γ_k and tables N_kmj in place of the counts,

    bound = log p(Z | α) + τ log p(Y | Z, β) − Σ_i Σ_k γ_ik log γ_ik      (the formulas of :mod:`consilience.consensus.bayes.model`)

is exactly the bound of **vb** at its best q(π) q(θ), and an approximation of that of **cvb**, where expected counts below 1 are taken
for what they are, now and then a count of 1. One pass gives

    vb     γ_k ∝ exp( E log π_k + τ Σ_m [Ψ(β + N_kmy) − Ψ(J_m β + N_km)] )
    cvb    γ_k ∝ the conditional of the Gibbs sampler at expected counts, without the object's own γ
    cvb2   the same after E log(x + N) ≈ log(x + E N) − Var N / 2 (x + E N)²

(The VB of Wang et al. 2010 has log ρ where Ψ(ρ_kmj) − Ψ(Σ_j ρ_kmj) belongs.) All rows are updated together, so that a pass
needs nothing but sums over rows: objects with the same labels count once with their weight, and the result does not depend on how
rows or clusterings are dealt out.

**Rows apart** (blocks of objects): every block computes ``block, found = partial(block, state)``; the sum of what they found, ``merge``,
gives the next ``state = advance(state, merged)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from operator import add

import numpy as np
from scipy.special import digamma, xlogy

from consilience._check import check_choice
from consilience._types import Array, Floats, Ints
from consilience.consensus.bayes.model import (
    column_totals,
    estimate_alpha,
    estimate_beta,
    labels_curve,
    log_hyperprior,
    prior_curve,
)
from consilience.consensus.methods.label_model import LabelRows

KINDS = ("vb", "cvb", "cvb2")
FACTORS = 8  # safeguard: multiplied before their logarithm is taken, as many as a double has room for
SMALLEST = 1e-38  # safeguard: of a factor, so that the product of eight has a logarithm


def _empty() -> Floats:
    return np.zeros((0, 0))


@dataclass(frozen=True)
class Statistics:
    """What parts exchange; those of disjoint sets of rows add up."""

    sizes: Floats  # (K,)
    table: Floats  # (labels, K)
    entropy: float  # −Σ γ log γ
    # Log-probabilities that n_k, n_≥k and the cells of the table are 0; empty for "vb"
    size_none: Floats = field(default_factory=_empty)
    tail_none: Floats = field(default_factory=_empty)
    table_none: Floats = field(default_factory=_empty)
    # Variances of the same; only for "cvb2"
    size_variance: Floats = field(default_factory=_empty)
    tail_variance: Floats = field(default_factory=_empty)
    table_variance: Floats = field(default_factory=_empty)

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def nothing(self, what: str) -> Floats | None:
        """Log-probabilities that sizes, tables or n_>k ("tail") are 0, None where they are not kept."""
        found: Floats = getattr(self, f"{what}_none")
        return None if not found.size else found[1:] if what == "tail" else found

    def ordered(self, order: Ints) -> Statistics:
        """The components in another order; tails, which only the next pass knows, as they are."""
        names = ("sizes", "table", "size_none", "table_none", "size_variance", "table_variance")
        arrays = {name: getattr(self, name) for name in names}
        return replace(self, **{name: array[..., order] for name, array in arrays.items() if array.size})


@dataclass(frozen=True)
class State:
    """What every part needs to know for a pass: the statistics of all, α and β, and how the components were just reordered."""

    # `estimate` names what is estimated: alpha, beta, both or neither; `power` is τ, to which the likelihood counts.

    kind: str
    prior: str
    offsets: Ints
    statistics: Statistics
    alpha: float
    beta: float
    estimate: tuple[str, ...] = ("alpha", "beta")
    order: Ints | None = None
    power: float = 1.0

    @property
    def bound(self) -> float:
        s = self.statistics
        labels = self.power * labels_curve(s.table, self.offsets, s.nothing("table"))(self.beta)
        sizes = prior_curve(s.sizes, self.prior, s.nothing("size"), s.nothing("tail"))(self.alpha)
        return sizes + labels + s.entropy + sum(log_hyperprior(getattr(self, name)) for name in self.estimate)


@dataclass(frozen=True)
class Block:
    """Some of the rows, and in the collapsed methods their γ of the last pass."""

    rows: LabelRows
    soft: Floats | None = None

    def ordered(self, order: Ints | None) -> Floats | None:
        return self.soft if self.soft is None or order is None else self.soft[:, order]


def statistics(rows: LabelRows, soft: Floats, kind: str) -> Statistics:
    sums = rows.weights @ soft, np.asarray(rows.holders @ soft), -float(rows.weights @ xlogy(soft, soft).sum(axis=1))
    if kind == "vb":
        return Statistics(*sums)
    tails = np.minimum(np.cumsum(soft[:, ::-1], axis=1)[:, ::-1], 1.0)

    def over(function: Callable[[Floats], Floats]) -> tuple[Floats, Floats, Floats]:
        each = function(soft)
        return rows.weights @ each, rows.weights @ function(tails), np.asarray(rows.holders @ each)

    none = over(lambda x: np.log1p(-np.minimum(x, 1 - 1e-16)))
    return Statistics(*sums, *none, *(over(lambda x: x * (1 - x)) if kind == "cvb2" else ()))


def renew(block: Block, state: State) -> Floats:
    soft = block.ordered(state.order)
    return soften(size_scores(state, soft) + label_scores(block.rows, state, soft))


def partial(block: Block, state: State) -> tuple[Block, Statistics]:
    """One pass over a block: the block with its γ anew, and their statistics. The block given stays, so a pass may be retried."""
    soft = renew(block, state)
    return Block(block.rows, None if state.kind == "vb" else soft), statistics(block.rows, soft, state.kind)


def merge(parts: Iterable[Statistics]) -> Statistics:
    return reduce(add, parts)  # as they come: there may be many


def advance(state: State, merged: Statistics) -> State:
    """The state after a pass: sticks in the order of their sizes, α and β at their best."""
    order = None
    if state.prior == "tsb":  # larger sticks in front raise the bound; the last has no stick of its own and stays
        order = np.append(np.argsort(-merged.sizes[:-1], kind="stable"), len(merged.sizes) - 1)
        merged = merged.ordered(order)
    alpha, beta = state.alpha, state.beta
    if "alpha" in state.estimate:
        alpha = estimate_alpha(merged.sizes, alpha, state.prior, merged.nothing("size"), merged.nothing("tail"))
    if "beta" in state.estimate:
        beta = estimate_beta(merged.table, state.offsets, beta, merged.nothing("table"), power=state.power)
    return replace(state, statistics=merged, alpha=alpha, beta=beta, order=order)


def soften(scores: Floats) -> Floats:
    soft = np.exp(scores - scores.max(axis=1, keepdims=True))
    soft /= soft.sum(axis=1, keepdims=True)
    return soft


def size_scores(state: State, soft: Floats | None) -> Floats:
    """E log p(z = k), up to a constant: (1, K), or (rows, K) where a row's own γ is taken out."""
    s, alpha, k = state.statistics, state.alpha, len(state.statistics.sizes)
    if state.prior == "fsd":
        return _mean_log(state, alpha / k, s.sizes, s.size_variance, soft)
    tails = np.cumsum(s.sizes[::-1])[::-1]
    own = None if soft is None else np.cumsum(soft[:, ::-1], axis=1)[:, ::-1]
    piece = _mean_log(state, 1.0, s.sizes, s.size_variance, soft)
    whole = _mean_log(state, 1 + alpha, tails, s.tail_variance, own)
    rest = _mean_log(state, alpha, tails, s.tail_variance, own)[:, 1:] - whole[:, :-1]
    before = np.concatenate([np.zeros((len(rest), 1)), np.cumsum(rest, axis=1)], axis=1)
    stick = piece - whole
    stick[:, -1] = 0.0
    return np.asarray(before + stick)


def _mean_log(state: State, start: float, counts: Floats, variance: Floats, own: Floats | None) -> Floats:
    """E log(start + count) in the sense of the method, the row's own share taken out."""
    if own is None:
        return np.asarray(digamma(start + counts))[None, :]
    mean = start + np.maximum(counts - own, 0.0)
    if state.kind == "cvb":
        return np.log(mean)
    return np.asarray(np.log(mean) - np.maximum(variance - own * (1 - own), 0.0) / _twice_square(mean))


def _twice_square(mean: Floats) -> Floats:
    """What a variance is divided by, not so small that it is 0."""
    return np.asarray(np.maximum(2 * mean**2, 1e-300))


def label_scores(rows: LabelRows, state: State, soft: Floats | None) -> Floats:
    """(rows, K): τ Σ_m E log p(y_m | k); of some of the clusterings, if the rows and the tables of the state have only these."""
    table, widths = state.statistics.table, np.diff(state.offsets)
    totals, beta = column_totals(table, state.offsets), state.beta
    if soft is None:
        logs = digamma(beta + table) - np.repeat(digamma(beta * widths[:, None] + totals), widths, axis=0)
        return rows.scores(state.power * logs)
    scores, product, second = np.zeros_like(soft), np.ones_like(soft), state.kind == "cvb2"
    if second:
        own, spread = soft * (1 - soft), state.statistics.table_variance
        spreads = column_totals(spread, state.offsets)
    for m, labels in enumerate(rows.labels.T):
        known = np.flatnonzero(labels >= 0)
        cells = state.offsets[m] + labels[known]
        top = beta + np.maximum(table[cells] - soft[known], 0.0)
        bottom = beta * widths[m] + np.maximum(totals[m] - soft[known], 0.0)
        product[known] *= np.maximum(top / bottom, SMALLEST)
        if second:  # the variances of the counts are taken off, without the row's own part
            above = np.maximum(spread[cells] - own[known], 0.0) / _twice_square(top)
            scores[known] += np.maximum(spreads[m] - own[known], 0.0) / _twice_square(bottom) - above
        if (m + 1) % FACTORS == 0:
            scores += np.log(product)
            product[:] = 1.0
    return np.asarray(state.power * (scores + np.log(product)))


@dataclass(frozen=True)
class Fit:
    state: State
    history: list[float]
    converged: bool
    blocks: list[Block]


def iterate(blocks: Sequence[Block], state: State, *, max_iter: int, tol: float) -> Fit:
    def over(state: State) -> Statistics:
        nonlocal blocks
        blocks, found = zip(*(partial(block, state) for block in blocks), strict=True)
        return merge(found)

    return Fit(*repeat(over, state, max_iter=max_iter, tol=tol), list(blocks))


def repeat(
    over: Callable[[State], Statistics], state: State, *, max_iter: int, tol: float
) -> tuple[State, list[float], bool]:
    """Passes, wherever the rows are: where they ended, the bound after each, and whether the table came to rest."""
    history, converged = [state.bound], False
    for _ in range(max_iter):
        merged = over(state)
        change = float(np.abs(merged.table - state.statistics.table).sum())
        state = advance(state, merged)
        history.append(state.bound)
        if change <= tol * float(merged.table.sum()):
            converged = True
            break
    return state, history, converged


def harden(start: Array, n_components: int) -> Floats:
    """γ of rows that are wholly in one component each."""
    found: Floats = np.eye(n_components)[start]
    return found


def begin(rows: LabelRows, start: Array, kind: str, n_components: int) -> tuple[Block, Statistics]:
    """A block with every row wholly in the component where it starts, and its statistics."""
    check_choice(kind, KINDS, "inference")
    soft = harden(start, n_components)
    return Block(rows, None if kind == "vb" else soft), statistics(rows, soft, kind)


def first_state(
    merged: Statistics,
    offsets: Ints,
    kind: str,
    prior: str,
    *,
    alpha: float | None = None,
    beta: float | None = None,
    power: float = 1.0,
) -> State:
    """The state at the start; α and β are estimated where they are None."""
    estimate = tuple(name for name, value in (("alpha", alpha), ("beta", beta)) if value is None)
    return State(kind, prior, offsets, merged, alpha or 1.0, beta or 1.0, estimate, power=power)
