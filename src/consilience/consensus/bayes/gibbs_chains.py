"""Chains of collapsed Gibbs samples, sweeps in the kernel, α and β by slice sampling between them; and one partition from many samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed

from consilience import _kernels
from consilience._check import InputError
from consilience._run.parallel import workers
from consilience._run.progress import track
from consilience._run.random import child_seed, stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.bayes.model import Components, labels_curve, log_hyperprior, prior_curve, slice_step
from consilience.consensus.methods.information_and_quadratic import best_start, problem_views
from consilience.consensus.rows.problem import Problem
from consilience.consensus.samples.expected_loss import TRIED, ExpectedLoss, best_partition, term, usual_starts


@dataclass(frozen=True)
class Sample:
    clusters: Array  # (n,) Of every object; of the K clusters some are empty
    sizes: Ints  # (K,)
    table: Labels  # (labels, used) Members with each label, of the clusters up to the last occupied one
    alpha: float
    beta: float


@dataclass(frozen=True)
class Chain:
    trace: pd.DataFrame  # log_joint, n_clusters, alpha and beta of every sweep
    samples: list[Sample]


@dataclass(frozen=True)
class Sampler:
    labels: Labels  # (n, r) One row per object, −1 missing
    offsets: Ints  # (r + 1,) Where each clustering's labels begin in a table of labels
    prior: str
    n_components: int  # K, where the prior is cut off
    alpha: float | None = None
    beta: float | None = None
    power: float = 1.0  # Of the likelihood of every clustering
    n_moves: int = 0  # Split–merge moves after every sweep over the objects

    def sweeps(self, clusters: Labels, *, seed: int, chain: int = 0) -> Iterator[tuple[Sample, float]]:
        """Samples without end, each with its log joint; sweep t of a chain draws from its own streams."""
        # `clusters` is the start. The samples share no memory.
        clusters = clusters.astype(np.int32)
        alpha, beta = self.alpha or 1.0, self.beta or 1.0
        rng, own = stream(seed, "consensus.hyper", chain), child_seed(seed, "consensus.chain", chain)
        kind = np.min_scalar_type(self.n_components - 1)
        how: dict[str, Any] = {"n_clusters": self.n_components, "prior": self.prior, "power": self.power}
        how["moves"] = self.n_moves
        for sweep in count():
            now: dict[str, Any] = {"alpha": alpha, "beta": beta, "seed": own, "unit": sweep}
            table, sizes = _kernels.gibbs_sweep(self.labels, self.offsets, clusters, **how, **now)
            table = table[:, : int(np.flatnonzero(sizes)[-1]) + 1]
            alpha, beta, joint = self._step(sizes, table, alpha, beta, rng)
            yield Sample(clusters.astype(kind), sizes, table.astype(np.int32), alpha, beta), joint

    def _step(
        self, sizes: Array, table: Array, alpha: float, beta: float, rng: np.random.Generator
    ) -> tuple[float, float, float]:
        """New α and β where they are not given, and log p(Y, Z, and α and β where they are estimated), p(Y | Z) tempered."""
        # Chains wait for each other here, and nowhere else: this is Python's own time.
        of_alpha, of_beta = cache(prior_curve(sizes, self.prior)), cache(labels_curve(table, self.offsets))
        if self.alpha is None:
            alpha = slice_step(alpha, lambda value: of_alpha(value) + log_hyperprior(value), rng)
        if self.beta is None:
            beta = slice_step(beta, lambda value: self.power * of_beta(value) + log_hyperprior(value), rng)
        joint = of_alpha(alpha) + self.power * of_beta(beta)
        joint += log_hyperprior(alpha) if self.alpha is None else 0.0
        return alpha, beta, joint + (log_hyperprior(beta) if self.beta is None else 0.0)

    def chain(self, start: Labels, keep: Array, *, seed: int, chain: int = 0) -> Chain:
        """As many sweeps as `keep` is long, from a start; the samples where it is True."""
        trace, samples = [], []
        for kept, (sample, joint) in zip(keep, self.sweeps(start, seed=seed, chain=chain), strict=False):
            trace.append((joint, np.count_nonzero(sample.sizes), sample.alpha, sample.beta))
            if kept:
                samples.append(sample)
        return Chain(pd.DataFrame(trace, columns=["log_joint", "n_clusters", "alpha", "beta"]), samples)


def run_chains(
    sampler: Sampler,
    starts: Sequence[Labels],
    *,
    max_iter: int,
    n_samples: int,
    seed: int,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> list[Chain]:
    """One chain from every start, in parallel threads; about `n_samples` samples in all, evenly from the second halves."""
    keep = np.zeros(max_iter, bool)
    each = min(-(-n_samples // len(starts)), max_iter - max_iter // 2)
    keep[np.linspace(max_iter - 1, max_iter // 2, each).round().astype(int)] = True
    # A chain from many clusters takes longest until they are few: it begins first, so that no worker is left with it at the end.
    order = sorted(range(len(starts)), key=lambda c: -len(np.unique(starts[c])))
    work = (delayed(sampler.chain)(starts[c], keep, seed=seed, chain=c) for c in order)
    found = list(track(workers(n_jobs, lazily=True)(work), len(starts), "sampling", progress))
    return [found[order.index(c)] for c in range(len(starts))]


# Have the chains arrived, and how much do they tell? Split R-hat and effective sample size of a trace.
#
# R-hat compares the variance between the halves of all chains with that within them: near 1 they tell the same story (A. Gelman and
# others; here, as in Stan, every chain is split in two, so that a drift shows too). The effective sample size divides
# the number of draws by the autocorrelation time, summed in pairs while these fall (C. J. Geyer's initial monotone sequence).


def r_hat(trace: Floats) -> float:
    """Split R-hat of (chains, draws); 1 where nothing ever changes, infinite where chains stand still in different places."""
    parts = _split(trace)
    if parts.shape[1] < 2:
        return float("nan")
    within, between = float(parts.var(axis=1, ddof=1).mean()), float(parts.mean(axis=1).var(ddof=1))
    if within <= 1e-20 * max(1.0, float(np.abs(parts).max()) ** 2):
        return 1.0 if between <= within else float("inf")
    n = parts.shape[1]
    return float(np.sqrt((n - 1) / n + between / within))


def effective_sample_size(trace: Floats) -> float:
    """How many independent draws (chains, draws) are worth; all of them where nothing ever changes, NaN of fewer than eight."""
    parts = _split(trace)
    chains, n = parts.shape
    if n < 4:
        return float("nan")
    centered = parts - parts.mean(axis=1, keepdims=True)
    within = float((centered**2).sum() / (chains * (n - 1)))
    if within <= 1e-20 * max(1.0, float(np.abs(parts).max()) ** 2):
        return float(parts.size)
    total = within * (n - 1) / n + float(parts.mean(axis=1).var(ddof=1))
    spectrum = np.fft.rfft(centered, 2 * n, axis=1)
    autocovariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, :n].mean(axis=0) / n  # at all lags
    correlation = 1 - (within - autocovariance) / total
    correlation[0] = 1.0
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    return float(parts.size / max(2 * pairs.sum() - 1, 1.0))


def _split(trace: Floats) -> Floats:
    trace = np.atleast_2d(np.asarray(trace, float))
    half = trace.shape[1] // 2
    return np.concatenate([trace[:, :half], trace[:, trace.shape[1] - half :]])


# One partition of the rows from posterior samples of their objects.
#
# The search is that of `consilience.summarize`, on rows instead of objects: objects with the same labels are exchangeable, so they
# stay together even where samples part them.
#
# **Clusters of one.** Either loss is least if every object without a majority for any cluster stands alone, even one that no sample
# has alone: on noisy labels that makes more clusters than any sample has. Such an object is doubtful, which `confidence_` says, and no
# cluster. So in the end objects that stand alone, and do not in most samples, join the cluster where the loss is least.

OPENED = 10  # clusters that a partition may have more than any sample: in noise most rows would stand alone, and are gathered anyway


@dataclass(frozen=True)
class Draws:
    """Posterior samples of the clusters of objects, the objects grouped by row and those alike in all samples counted once."""

    row: Ints  # (units,) Row of every unit, in order
    weight: Floats  # (units,) Objects in it
    clusters: Labels  # (units, S)
    first: Ints  # (S + 1,) Where each sample's clusters begin when all are numbered through

    @classmethod
    def of(cls, samples: Sequence[Array], rows: Ints) -> Draws:
        """From samples of the clusters of all objects, and the objects' rows, which are numbered in order."""
        whole = np.empty((len(rows), len(samples) + 1), np.int32)
        whole[:, 0] = rows
        for s, sample in enumerate(samples):
            whole[:, s + 1] = sample
        first, _, count = _kernels.signatures(whole)
        order = np.argsort(rows[first], kind="stable")
        kept = whole[first[order]]
        sizes = kept[:, 1:].max(axis=0).astype(np.int64) + 1
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return cls(kept[:, 0].astype(np.int64), count[order].astype(float), np.ascontiguousarray(kept[:, 1:]), starts)

    @property
    def n_samples(self) -> int:
        return len(self.first) - 1

    def tables(self, labels: Array, k: int) -> Floats:
        """T of all samples, one below the other: (clusters of all samples, k), for the labels of the rows."""
        mine = labels[self.row].astype(np.int32)
        weights = self.weight.astype(np.int64)
        parts = [
            _kernels.contingency(column.copy(), mine, (int(size), k), weights=weights)
            for column, size in zip(self.clusters.T, np.diff(self.first), strict=True)
        ]
        return np.concatenate(parts).astype(float)

    def by_row(self, table: Floats) -> Floats:
        """(rows, k): a table of clusters of all samples × k, summed over the samples and the objects of every row."""
        scores = np.zeros((len(self.row), table.shape[1]))
        _kernels.row_scores(self.clusters, self.first[:-1], table, scores)
        starts = np.flatnonzero(np.diff(self.row, prepend=-1))
        return np.add.reduceat(scores * self.weight[:, None], starts, axis=0)

    @cached_property
    def row_weights(self) -> Floats:
        return np.asarray(np.bincount(self.row, self.weight), float)

    @cached_property
    def apart(self) -> Array:
        """Which rows are one object that is alone in most samples."""
        alone = [np.bincount(column, self.weight) == 1 for column in self.clusters.T]
        share = self.by_row(np.concatenate(alone).astype(float)[:, None])[:, 0]
        return np.asarray(share > 0.5 * self.n_samples * self.row_weights)

    def sample(self, s: int) -> Ints:
        """A sample as labels of the rows: where most of a row's objects are."""
        width = int(self.first[s + 1] - self.first[s])
        counts = np.zeros((int(self.row[-1]) + 1, width))
        np.add.at(counts, (self.row, self.clusters[:, s]), self.weight)
        return np.unique(counts.argmax(axis=1), return_inverse=True)[1].reshape(-1)


def rows_partition(
    draws: Draws, seed: int, *, loss: str = "vi", n_clusters: int | None = None, n_jobs: int | None = None
) -> tuple[Ints, float]:
    """Labels 0 … k − 1 of the rows and their expected loss: of the best partition found, lone objects gathered."""
    expected = ExpectedLoss.of(draws.clusters, draws.weight, loss).grouped(draws.row)
    most = int(np.diff(draws.first).max()) + OPENED
    limit = min(expected.n_items, most if n_clusters is None else n_clusters)
    tried = [draws.sample(s) for s in range(0, draws.n_samples, -(-draws.n_samples // TRIED))]
    n_starts = usual_starts(expected, float(np.median(np.diff(draws.first))))
    labels, _ = best_partition(expected, tried, limit=limit, n_starts=n_starts, seed=seed, n_jobs=n_jobs)
    labels = _gather(draws, expected, labels)
    return labels.astype(np.int64), expected.at(labels)


def _gather(draws: Draws, expected: ExpectedLoss, labels: Labels) -> Labels:
    """Objects alone in a cluster that most samples do not have alone join the others where the loss is least."""
    lone = np.bincount(labels, draws.row_weights)[labels] == 1
    gathered = np.flatnonzero(lone & ~draws.apart)
    if not len(gathered) or lone.all():
        return labels
    kept = np.full(len(labels), -1)  # outliers alone in their clusters do not attract them
    kept[~lone] = np.unique(labels[~lone], return_inverse=True)[1].reshape(-1)
    k = int(kept.max()) + 1
    found, _ = expected.improve(kept, gathered, limit=k, passes=1)
    outliers = np.flatnonzero(found < 0)
    found[outliers] = k + np.arange(len(outliers))
    return found


def merge_clusters(table: Floats, sizes: Floats, loss: str, n_clusters: int) -> Ints | None:
    """The new cluster of every cluster after merging, down to `n_clusters`, the pair that adds least to the loss; None if none merge."""
    # `table` (components × clusters) says how much of every component each cluster has, and stands for one sample of
    # `consilience.consensus.samples.expected_loss`.
    square = loss == "binder"
    k, left = len(sizes), len(sizes)
    columns, sizes, owner = table.T.copy(), sizes.copy(), np.arange(len(sizes))
    alive, inside = np.ones(k, bool), term(columns, square).sum(axis=1)
    change = np.full((k, k), np.inf)
    for a in range(k):
        change[a, :a] = _merge_changes(columns, inside, sizes, a, np.arange(a), square)
    change = np.minimum(change, change.T)
    while left > max(n_clusters, 1):
        a, b = divmod(int(change.argmin()), k)
        columns[a] += columns[b]
        sizes[a] += sizes[b]
        inside[a] = term(columns[a], square).sum()
        owner[owner == b] = a
        alive[b], left = False, left - 1
        change[b], change[:, b] = np.inf, np.inf
        others = np.flatnonzero(alive & (np.arange(k) != a))
        change[a, others] = change[others, a] = _merge_changes(columns, inside, sizes, a, others, square)
    return None if left == k else owner


def _merge_changes(columns: Floats, inside: Floats, sizes: Floats, a: int, others: Ints, square: bool) -> Floats:
    """How merging cluster a with each of some others changes f₀ times the loss; `inside` is Σ f of every column."""
    gain = term(columns[a] + columns[others], square).sum(axis=1) - inside[a] - inside[others]
    whole = term(sizes[a] + sizes[others], square) - term(sizes[a], square) - term(sizes[others], square)
    return np.asarray(whole - 2 * gain)


# From a problem to chains, and from chains to one answer for its rows.

COPIES = 10_000_000  # safeguard: objects that are sampled, at most; a chain keeps and moves every one
INITS = ("both", "consensus", "random")


@dataclass(frozen=True)
class Posterior:
    chains: list[Chain]
    # (n_chains,) Not if in a chain's second half its log joint never reaches the lowest of the best chain's
    arrived: Array
    rows: Ints  # (n,) Row of every object that was sampled

    @property
    def samples(self) -> list[Sample]:
        return [s for chain, good in zip(self.chains, self.arrived, strict=True) if good for s in chain.samples]


def sample_posterior(
    problem: Problem,
    sampler: dict[str, Any],
    *,
    init: str,
    n_chains: int,
    max_iter: int,
    n_samples: int,
    seed: int,
    n_jobs: int | None,
    **how: Any,
) -> Posterior:
    """Chains over the objects of a problem; every one stands in them as often as it weighs."""
    if not problem.whole:
        other = "round them, or use inference='vb' or 'cvb'"
        raise InputError(f"Gibbs sampling draws every object, so weights must be whole numbers; {other}")
    if problem.weights.sum() > COPIES:
        raise InputError(
            f"Gibbs sampling draws every one of {problem.weights.sum():,.0f} objects, and up to {COPIES:,} can be drawn: "
            "use inference='vb', which counts objects with the same labels once"
        )
    rows = np.repeat(np.arange(problem.n_rows), problem.weights.astype(np.int64))
    model = Sampler(np.ascontiguousarray(problem.labels[rows]), problem.offsets, **sampler)
    starts = _starts(problem, rows, init, n_chains, model.n_components, seed, n_jobs)
    chains = run_chains(model, starts, max_iter=max_iter, n_samples=n_samples, seed=seed, n_jobs=n_jobs, **how)
    second = np.stack([chain.trace["log_joint"][max_iter // 2 :] for chain in chains])
    best = second.mean(axis=1).argmax()
    return Posterior(chains, second.max(axis=1) >= second[best].min(), rows)


def _starts(problem: Problem, rows: Ints, init: str, n: int, k: int, seed: int, n_jobs: int | None) -> list[Labels]:
    """Chains begin at a quick consensus, or with every object anywhere; with "both", in turn."""
    starts = []
    for chain in range(n):
        if init == "random" or (init == "both" and chain % 2):
            rng = stream(seed, "consensus.chain_start", chain)
            starts.append(rng.integers(0, k, len(rows)).astype(np.int32))
        else:
            own = child_seed(seed, "consensus.quick", chain)
            starts.append(quick_consensus(problem, k, own, n_jobs=n_jobs)[rows])
    return starts


def quick_consensus(problem: Problem, most: int, seed: int, finer: float = 1.0, **more: Any) -> Labels:
    """Labels of the rows by k-means on the labels, into `finer` times as many clusters as the clusterings usually have."""
    k = min(max(2, int(finer * np.median(problem.sizes))), problem.n_rows, most)
    how: dict[str, Any] = {"n_init": 3, "batch": 20, "max_iter": 20, "seed": seed} | more
    return best_start(problem_views(problem), k, objective="quadratic", **how)


def summarize(
    posterior: Posterior, prior: str, *, loss: str, n_clusters: int | None, seed: int, n_jobs: int | None = None
) -> tuple[Ints, Floats, list[Components], float, list[Labels]]:
    """Labels and memberships of the rows, the components of every sample, the expected loss, and the samples as labels of the rows."""
    samples = posterior.samples
    draws = Draws.of([sample.clusters for sample in samples], posterior.rows)
    labels, expected = rows_partition(draws, seed, loss=loss, n_clusters=n_clusters, n_jobs=n_jobs)
    k = int(labels.max()) + 1
    tables = draws.tables(labels, k)
    components = []
    for s, sample in enumerate(samples):
        table = tables[draws.first[s] : draws.first[s + 1]]
        owner = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
        components.append(Components(sample.sizes, sample.table, sample.alpha, sample.beta, prior, owner))
    drawn = [draws.sample(s).astype(np.int32) for s in range(draws.n_samples)]
    return labels, companions(draws, labels, tables), components, expected, drawn


def companions(draws: Draws, labels: Ints, tables: Floats) -> Floats:
    """(rows, k): of the objects that share an object's cluster in a sample, the share that the answer has in each cluster."""
    # The mean over samples, without the object itself; where it is alone in a sample, its own cluster if it is alone
    # there too, and otherwise nothing is known: every cluster by its size.
    sizes = np.bincount(labels, draws.row_weights, minlength=tables.shape[1])
    others = tables.sum(axis=1, keepdims=True) - 1
    also_alone = tables * (sizes == 1)
    unknown = np.where(also_alone.any(axis=1, keepdims=True), also_alone, sizes / sizes.sum())
    found = draws.by_row(np.where(others > 0, tables / np.maximum(others, 1), unknown))
    itself = draws.by_row((others > 0) / np.maximum(others, 1))[:, 0]
    found[np.arange(len(labels)), labels] -= itself
    found = np.maximum(found, 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def trace_table(chains: list[Chain]) -> pd.DataFrame:
    traces = {number: chain.trace for number, chain in enumerate(chains)}
    return pd.concat(traces, names=["chain", "sweep"]).reset_index()


def convergence_table(chains: list[Chain]) -> pd.DataFrame:
    """R-hat, effective sample size, mean and standard deviation over the second halves of all chains."""
    rows = {}
    for name in ("log_joint", "n_clusters"):
        trace = np.stack([chain.trace[name][len(chain.trace) // 2 :] for chain in chains]).astype(float)
        ess = effective_sample_size(trace)
        rows[name] = {"mean": trace.mean(), "sd": trace.std(), "r_hat": r_hat(trace), "ess": ess}
    return pd.DataFrame(rows).T
