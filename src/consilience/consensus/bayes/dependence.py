"""How far clusterings repeat each other: the power to which the likelihood of each of them should count.

NBCE takes the labels of an object as independent given its cluster. Runs of one algorithm on the same data are not: they cut alike, and
taken for so many witnesses they make every cell of their overlay a cluster. If r clusterings share a part ρ of what they say, they are
worth r / (1 + (r − 1) ρ) independent ones (the design effect of survey sampling), so each should count to the power

    τ = 1 / (1 + (r − 1) ρ).

Between two clusterings a and b the shared part is I(a; b) / min(H(a), H(b)), so that a clustering and a finer one share all that the
coarser has to say; ρ₀ is Σ I / Σ min H over pairs. But noisy copies of one grouping share much too, and rightly: the grouping explains it.
So the dependence counts only as far as a consensus leaves it unexplained. With z a quick consensus of as many clusters as the
clusterings usually have, and u = Σ I(a; b | z) / Σ I(a; b),

    ρ = ρ₀ · min(1, u / 0.04).

Copies with independent errors leave u below .01, up to half of the labels wrong; runs of k-means with different k .04 to .1, since z
cuts where none of them cuts quite so. Every I is taken less what it is by chance, with b shuffled within the clusters of z.

Two ends: r equal clusterings leave nothing unexplained, and τ is 1; and if r dependent clusterings count to 1/r each, p(Y | Z)^τ is the
likelihood of a single one.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from consilience import _kernels
from consilience._run.random import child_seed, stream
from consilience._types import Floats, Labels
from consilience.consensus.methods.engine_consensus import best_start, problem_views
from consilience.consensus.rows.problem import Problem, sample_evenly

SAMPLE = 10_000  # objects by which the dependence is judged
PAIRS = 60  # of clusterings
SHUFFLES = 10  # of a pair, at most; fewer of many objects, which vary less by chance
LEFT = 0.04  # of what clusterings share, from which on a consensus that leaves it does not explain them


def likelihood_power(problem: Problem, *, seed: int, n_jobs: int | None = 1) -> float:
    """τ, in (0, 1]: 1 where the clusterings err independently, near 1/r where all say the same and no consensus tells why.

    Cost O(pairs · objects), of at most 60 pairs of clusterings and 10,000 objects.
    """
    telling = np.flatnonzero(problem.sizes > 1)  # a clustering with one cluster says nothing, and repeats nothing
    r = len(telling)
    if r < 2 or problem.n_rows < 2:
        return 1.0
    # all objects, or evenly spaced ones; of fractions of objects, about as many as there are rows
    rows = sample_evenly(problem, min(SAMPLE, max(problem.n_rows, round(float(problem.weights.sum())))))
    used, inverse, counts = np.unique(rows, return_inverse=True, return_counts=True)
    labels = np.ascontiguousarray(problem.labels[used])
    part = Problem(labels, counts.astype(float), problem.n_clusters, inverse)
    z = _consensus(part, child_seed(seed, "consensus.dependence"), n_jobs)[inverse]
    pairs = np.array(list(combinations(telling, 2)))
    rng = stream(seed, "consensus.dependence")
    if len(pairs) > PAIRS:
        pairs = rng.permutation(pairs)[:PAIRS]
    whole, left, least = 0.0, 0.0, 0.0
    for a, b in pairs:
        both = labels[inverse][:, [a, b]]
        known = (both >= 0).all(axis=1)
        one, other = both[known].T
        information, entropy = _shared(one, other, np.zeros(len(one), np.int32), rng)
        whole, least = whole + information, least + entropy
        left += _shared(one, other, z[known], rng)[0]
    if whole <= 0 or least <= 0:
        return 1.0
    dependence = min(1.0, whole / least) * min(1.0, max(0.0, left) / whole / LEFT)
    return 1.0 / (1.0 + (r - 1) * dependence)


def _consensus(problem: Problem, seed: int, n_jobs: int | None) -> Labels:
    """By k-means on the labels; with enough starts not to mistake a poor optimum for dependence."""
    k = min(max(2, int(np.median(problem.sizes))), problem.n_rows)
    views = problem_views(problem)
    return best_start(views, k, objective="quadratic", n_init=10, batch=20, max_iter=50, seed=seed, n_jobs=n_jobs)


def _shared(a: Labels, b: Labels, z: Labels, rng: np.random.Generator) -> tuple[float, float]:
    """I(a; b | z) less that of a shuffled b, and min(H(a | z), H(b | z)), in nats."""
    if not len(z):
        return 0.0, 0.0
    order = np.argsort(z, kind="stable")
    shuffled, chance, times = np.empty_like(b), 0.0, int(np.clip(SAMPLE // len(z), 1, SHUFFLES))
    for _ in range(times):
        shuffled[order] = b[order[np.lexsort((rng.random(len(z)), z[order]))]]
        chance += _entropy(z, a, shuffled) / times
    return chance - _entropy(z, a, b), min(_entropy(z, a), _entropy(z, b)) - _entropy(z)


def _entropy(*columns: Labels) -> float:
    """Of the columns together, in nats."""
    counts: Floats = _kernels.signatures(np.column_stack(columns))[2].astype(float)
    n = counts.sum()
    return float(np.log(n) - counts @ np.log(counts) / n)
