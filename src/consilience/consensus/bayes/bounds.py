"""From a problem to a variational bound, and from the bound to one answer for its rows."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from joblib import delayed
from scipy.sparse import csr_array

from consilience import _kernels
from consilience._run.parallel import workers
from consilience._run.random import child_seed, stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.bayes.model import Components
from consilience.consensus.bayes.sampling import merge_clusters, quick_consensus
from consilience.consensus.bayes.variational import (
    Block,
    Fit,
    State,
    Statistics,
    begin,
    first_state,
    iterate,
    label_scores,
    merge,
    renew,
    size_scores,
)
from consilience.consensus.methods.label_model import LabelRows
from consilience.consensus.rows.problem import Problem, sample_evenly

BLOCK = 8192  # safeguard: rows in a block, so that tables of rows × components stay small
SAMPLE = 10_000  # safeguard: for time, objects on which starts compete
FINER = (1.0, 1.5, 2.0, 3.0)  # times the usual number of clusters, where starts begin; one more begins at random


@dataclass(frozen=True)
class Method:
    """What is fitted: "vb", "cvb" or "cvb2", with its prior; α and β None to be estimated; the power of the likelihood."""

    kind: str
    prior: str
    n_components: int
    alpha: float | None
    beta: float | None
    power: float = 1.0

    def fit(self, rows: LabelRows, start: Array, *, max_iter: int, tol: float) -> Fit:
        cuts = range(0, len(rows.labels), BLOCK)
        parts = [rows.take(np.arange(i, min(i + BLOCK, len(rows.labels)))) for i in cuts]
        begun = [
            begin(part, start[i : i + BLOCK], self.kind, self.n_components) for i, part in zip(cuts, parts, strict=True)
        ]
        state = self.first(merge(found for _, found in begun), rows.offsets)
        return iterate([block for block, _ in begun], state, max_iter=max_iter, tol=tol)

    def first(self, merged: Statistics, offsets: Ints) -> State:
        hyper: dict[str, Any] = {"alpha": self.alpha, "beta": self.beta, "power": self.power}
        return first_state(merged, offsets, self.kind, self.prior, **hyper)


def fit_bound(problem: Problem, method: Method, *, max_iter: int, tol: float, **how: Any) -> Fit:
    """The best of several starts by its bound, carried on until it stands still; of many objects, they compete on a sample."""
    rows = LabelRows.of(problem)
    best, whole = compete(problem, rows.offsets, method, max_iter=max_iter, tol=tol, **how)
    if whole and best.converged:
        return best
    return method.fit(rows, likeliest(rows, best.state), max_iter=max_iter, tol=tol)


def compete(
    problem: Problem,
    offsets: Ints,
    method: Method,
    *,
    init: str,
    n_init: int,
    max_iter: int,
    tol: float,
    seed: int,
    n_jobs: int | None,
) -> tuple[Fit, bool]:
    """The best of short fits from several starts by its bound, and whether it is of all objects rather than of some."""
    # `offsets` are where each clustering's labels begin; there may be more of them than the problem's rows have.
    part = _some_objects(problem, seed) if problem.weights.sum() > SAMPLE else problem
    starts = [_start(part, init, i, method.n_components, seed, n_jobs) for i in range(n_init)]
    some = LabelRows(part.labels, part.weights, offsets)
    tasks = (delayed(method.fit)(some, each, max_iter=min(50, max_iter), tol=tol) for each in starts)
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
    parts = [np.arange(i, min(i + BLOCK, len(rows.labels))) for i in range(0, max(1, len(rows.labels)), BLOCK)]
    fixed = size_scores(state, None)
    return np.concatenate([(label_scores(rows.take(part), state, None) + fixed).argmax(axis=1) for part in parts])


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

LEFT = 0.04  # of what clusterings share, from which on a consensus that leaves it does not explain them


def likelihood_power(
    problem: Problem, *, seed: int, n_jobs: int | None = 1, objects: int = 10_000, n_pairs: int = 60
) -> float:
    """τ, in (0, 1]: 1 where their errors are independent, near 1/r where all say the same and no consensus tells why."""
    # Cost O(pairs · objects), of at most `n_pairs` pairs of clusterings and `objects` objects.
    telling = np.flatnonzero(problem.sizes > 1)  # a clustering with one cluster says nothing, and repeats nothing
    r = len(telling)
    if r < 2 or problem.n_rows < 2:
        return 1.0
    # all objects, or evenly spaced ones; of fractions of objects, about as many as there are rows
    rows = sample_evenly(problem, min(objects, max(problem.n_rows, round(float(problem.weights.sum())))))
    used, inverse, counts = np.unique(rows, return_inverse=True, return_counts=True)
    part = problem.part(used, counts.astype(float))
    own = child_seed(seed, "consensus.dependence")  # with enough starts not to mistake a poor optimum for dependence
    z = quick_consensus(part, part.n_rows, own, n_init=10, max_iter=50, n_jobs=n_jobs)[inverse]
    pairs = np.array(list(combinations(telling, 2)))
    rng = stream(seed, "consensus.dependence")
    if len(pairs) > n_pairs:
        pairs = rng.permutation(pairs)[:n_pairs]
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
    """Of the columns together, in nats."""
    counts: Floats = _kernels.signatures(np.column_stack(columns))[2].astype(float)
    n = counts.sum()
    return float(np.log(n) - counts @ np.log(counts) / n)
