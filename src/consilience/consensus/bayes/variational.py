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
from itertools import combinations
from operator import add
from typing import Any

import numpy as np
from joblib import delayed
from scipy.sparse import csr_array
from scipy.special import digamma, xlogy

from consilience import _kernels
from consilience._check import check_choice
from consilience._run.parallel import workers
from consilience._run.random import child_seed, stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.bayes.gibbs_chains import merge_clusters, quick_consensus
from consilience.consensus.bayes.model import (
    Components,
    column_totals,
    estimate_alpha,
    estimate_beta,
    labels_curve,
    log_hyperprior,
    prior_curve,
)
from consilience.consensus.methods.label_model import LabelRows
from consilience.consensus.rows.problem import Problem, sample_evenly
from consilience.engine.annealing import soft_rows

KINDS = ("vb", "cvb", "cvb2")
FACTORS = 8  # safeguard: multiplied before their logarithm is taken, as many as a double has room for
SMALLEST = 1e-38  # safeguard: of a factor, so that the product of eight has a logarithm
BLOCK = 8192  # safeguard: rows in a block, so that tables of rows × components stay small
SAMPLE = 10_000  # safeguard: for time, objects on which starts compete
FINER = (1.0, 1.5, 2.0, 3.0)  # times the usual number of clusters, where starts begin; one more begins at random


def _empty() -> Floats:
    return np.zeros((0, 0))


@dataclass(frozen=True)
class Statistics:
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
    return soft_rows(size_scores(state, soft) + label_scores(block.rows, state, soft))[0]


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


def begin(rows: LabelRows, start: Array, kind: str, n_components: int) -> tuple[Block, Statistics]:
    """A block with every row wholly in the component where it starts, and its statistics."""
    check_choice(kind, KINDS, "inference")
    soft = np.eye(n_components)[start]
    return Block(rows, None if kind == "vb" else soft), statistics(rows, soft, kind)


# From a problem to a bound, and from the bound to one answer for its rows.


@dataclass(frozen=True)
class Method:
    """What is fitted: "vb", "cvb" or "cvb2", with its prior; α and β None to be estimated; the power of the likelihood."""

    kind: str
    prior: str
    n_components: int
    alpha: float | None = None
    beta: float | None = None
    power: float = 1.0
    max_iter: int = 500
    tol: float = 1e-6

    def fit(self, rows: LabelRows, start: Array, most: int) -> Fit:
        parts = ((rows.take(part), start[part]) for part in _parts(len(rows.labels)))
        blocks, found = zip(*(begin(*part, self.kind, self.n_components) for part in parts), strict=True)
        return iterate(blocks, self.first(merge(found), rows.offsets), max_iter=min(most, self.max_iter), tol=self.tol)

    def first(self, merged: Statistics, offsets: Ints) -> State:
        estimate = tuple(name for name in ("alpha", "beta") if getattr(self, name) is None)
        start = self.alpha or 1.0, self.beta or 1.0
        return State(self.kind, self.prior, offsets, merged, *start, estimate, power=self.power)


def _parts(n: int) -> list[Ints]:
    return np.split(np.arange(n), range(BLOCK, n, BLOCK))


def fit_bound(problem: Problem, method: Method, **how: Any) -> Fit:
    """The best of several starts by its bound, carried on until it stands still; of many objects, they compete on a sample."""
    rows = LabelRows.of(problem)
    best, whole = compete(problem, rows.offsets, method, **how)
    if whole and best.converged:
        return best
    return method.fit(rows, likeliest(rows, best.state), method.max_iter)


def compete(
    problem: Problem, offsets: Ints, method: Method, *, init: str, n_init: int, seed: int, n_jobs: int | None
) -> tuple[Fit, bool]:
    """The best of short fits from several starts by its bound, and whether it is of all objects rather than of some."""
    # `offsets` are where each clustering's labels begin; there may be more of them than the problem's rows have.
    part = _some_objects(problem, seed) if problem.weights.sum() > SAMPLE else problem
    starts = [_start(part, init, i, method.n_components, seed, n_jobs) for i in range(n_init)]
    some = LabelRows(part.labels, part.weights, offsets)
    tasks = (delayed(method.fit)(some, each, 50) for each in starts)
    found = workers(n_jobs)(tasks)
    return max(found, key=lambda fit: fit.history[-1]), part is problem


def _some_objects(problem: Problem, seed: int) -> Problem:
    """Objects drawn at random, not rows: rows made heavier than they are would look like clusters."""
    share = problem.weights / problem.weights.sum()
    counts = stream(seed, "consensus.variational_rows").multinomial(SAMPLE, share)
    rows = np.flatnonzero(counts)
    return problem.part(rows, counts[rows].astype(float))


def _start(problem: Problem, init: str, number: int, most: int, seed: int, n_jobs: int | None) -> Labels:
    """Consensus starts of growing fineness and, every fifth, one with every row anywhere; or all of one kind."""
    turn = number % (len(FINER) + 1)
    if init == "random" or (init == "both" and turn == len(FINER)):
        return stream(seed, "consensus.variational_start", number).integers(0, most, problem.n_rows).astype(np.int32)
    own = child_seed(seed, "consensus.variational_quick", number)
    return quick_consensus(problem, most, own, FINER[turn % len(FINER)], n_jobs=n_jobs)


def likeliest(rows: LabelRows, state: State) -> Ints:
    """The likeliest component of every row under what a sample has taught."""
    fixed, parts = size_scores(state, None), (rows.take(part) for part in _parts(len(rows.labels)))
    return np.concatenate([(label_scores(part, state, None) + fixed).argmax(axis=1) for part in parts])


def answer_of(fit: Fit, *, loss: str, n_clusters: int | None) -> tuple[Ints, Floats, Components]:
    """Labels and memberships of the rows, and the components with the clusters that they stand for."""
    state, k = fit.state, len(fit.state.statistics.sizes)
    best, shared, sizes = [], np.zeros((k, k)), np.zeros(k)
    for block in fit.blocks:
        soft = soft_of(block, state)
        best.append(soft.argmax(axis=1))
        found = count_shared(soft, best[-1], block.rows.weights)
        shared, sizes = shared + found[0], sizes + found[1]
    place, owner = owners_of(shared, sizes, loss=loss, n_clusters=n_clusters)
    membership = np.concatenate([soft_of(block, state) @ owner for block in fit.blocks])
    return place[np.concatenate(best)], membership, components_of(state, owner)


def components_of(state: State, owner: Floats) -> Components:
    s = state.statistics
    return Components(s.sizes, s.table, state.alpha, state.beta, state.prior, owner)


def count_shared(soft: Floats, best: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """How much of every component is in the rows of which each component is the likeliest (K × K), and the weight of these rows."""
    # Those of disjoint sets of rows add up.
    k = soft.shape[1]
    holders = csr_array((weights, (best, np.arange(len(best)))), shape=(k, len(best)))
    return np.asarray(holders @ soft).T, np.bincount(best, weights, minlength=k).astype(float)


def owners_of(shared: Floats, sizes: Floats, *, loss: str, n_clusters: int | None) -> tuple[Ints, Floats]:
    """The cluster of every component, −1 of one that is the likeliest of no row; and the share of it that each cluster has (K × k)."""
    # A cluster is a component that is the likeliest of some row; the others stand for the clusters of the rows that they share.
    used = np.flatnonzero(sizes)
    shared, place = shared[:, used], np.full(len(sizes), -1)
    place[used] = np.arange(len(used))
    owner = shared / np.maximum(shared.sum(axis=1, keepdims=True), 1e-300)
    owner[used] = np.eye(len(used))
    merged = None if n_clusters is None else merge_clusters(shared, sizes[used], loss, n_clusters)
    if merged is not None:
        names, place[used] = np.unique(merged, return_inverse=True)
        owner = owner @ np.eye(len(names))[place[used]]
    return place, owner


def soft_of(block: Block, state: State) -> Floats:
    soft = block.ordered(state.order)
    return renew(block, state) if soft is None else soft


# How far clusterings repeat each other: the power to which the likelihood of each of them should count.
#
# NBCE takes the labels of an object as independent given its cluster. Runs of one algorithm on the same data are not: they cut alike, and
# taken for so many witnesses they make every cell of their overlay a cluster. If r clusterings share a part ρ of what they say, they are
# worth r / (1 + (r − 1) ρ) independent ones (the design effect of survey sampling), so each should count to the power
#
#     τ = 1 / (1 + (r − 1) ρ).
#
# Between two clusterings a and b the shared part is I(a; b) / min(H(a), H(b)), so that a clustering and a finer one share all that
# the coarser one says; ρ₀ is Σ I / Σ min H over pairs. Noisy copies of one grouping share much too, and rightly: the grouping explains
# it. So the dependence counts only as far as a consensus leaves it unexplained. With z a quick consensus of as many clusters as the
# clusterings usually have, and u = Σ I(a; b | z) / Σ I(a; b),
#
#     ρ = ρ₀ · min(1, u / 0.04).
#
# Copies with independent errors leave u below .01, up to half of the labels wrong; runs of k-means with different k .04 to .1, since z
# cuts where none of them cuts quite so. Every I is taken less what it is by chance, with b shuffled within the clusters of z.
#
# Two ends: r equal clusterings leave nothing unexplained, and τ is 1; and if r dependent clusterings count to 1/r each, p(Y | Z)^τ is the
# likelihood of a single one.

OBJECTS, PAIRS = 10_000, 60  # safeguard: for time, objects and pairs of clusterings that are looked at
LEFT = 0.04  # of what clusterings share, from which on a consensus that leaves it does not explain them


def likelihood_power(problem: Problem, *, seed: int, n_jobs: int | None) -> float:
    """τ, in (0, 1]: 1 where their errors are independent, near 1/r where all say the same and no consensus tells why."""
    telling = np.flatnonzero(problem.sizes > 1)  # a clustering with one cluster says nothing, and repeats nothing
    r = len(telling)
    if r < 2 or problem.n_rows < 2:
        return 1.0
    # all objects, or evenly spaced ones; of fractions of objects, about as many as there are rows
    rows = sample_evenly(problem, min(OBJECTS, max(problem.n_rows, round(float(problem.weights.sum())))))
    used, inverse, counts = np.unique(rows, return_inverse=True, return_counts=True)
    part = problem.part(used, counts.astype(float))
    own = child_seed(seed, "consensus.dependence")  # with enough starts not to mistake a poor optimum for dependence
    z = quick_consensus(part, part.n_rows, own, n_init=10, max_iter=50, n_jobs=n_jobs)[inverse]
    pairs = np.array(list(combinations(telling, 2)))
    rng = stream(seed, "consensus.dependence")
    if len(pairs) > PAIRS:
        pairs = rng.permutation(pairs)[:PAIRS]
    whole, left, least = 0.0, 0.0, 0.0
    for a, b in pairs:
        both = part.labels[inverse][:, [a, b]]
        known = (both >= 0).all(axis=1)
        one, other = both[known].T
        information, entropy = _shared(one, other, np.zeros(len(one), np.int32), rng)
        whole, least = whole + information, least + entropy
        left += _shared(one, other, z[known], rng)[0]
    if whole <= 0 or least <= 0:
        return 1.0
    dependence = min(1.0, whole / least) * min(1.0, max(0.0, left) / whole / LEFT)
    return 1.0 / (1.0 + (r - 1) * dependence)


def _shared(a: Labels, b: Labels, z: Labels, rng: np.random.Generator) -> tuple[float, float]:
    """I(a; b | z) less that of a shuffled b, and min(H(a | z), H(b | z)), in nats."""
    if not len(z):
        return 0.0, 0.0
    order = np.argsort(z, kind="stable")
    shuffled, chance, times = np.empty_like(b), 0.0, int(np.clip(10_000 // len(z), 1, 10))
    for _ in range(times):
        shuffled[order] = b[order[np.lexsort((rng.random(len(z)), z[order]))]]
        chance += _entropy(z, a, shuffled) / times
    return chance - _entropy(z, a, b), min(_entropy(z, a), _entropy(z, b)) - _entropy(z)


def _entropy(*columns: Labels) -> float:
    counts: Floats = _kernels.signatures(np.column_stack(columns))[2].astype(float)
    n = counts.sum()
    return float(np.log(n) - counts @ np.log(counts) / n)
