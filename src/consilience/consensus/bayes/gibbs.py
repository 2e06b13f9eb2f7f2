"""Chains of collapsed Gibbs samples: sweeps in the kernel, α and β by slice sampling between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import _kernels
from consilience._run.parallel import workers
from consilience._run.progress import track
from consilience._run.random import child_seed, stream
from consilience._types import Labels
from consilience.consensus.bayes.hyper import log_hyperprior, slice_step
from consilience.consensus.bayes.model import labels_curve, prior_curve


@dataclass(frozen=True)
class Sample:
    """One draw from the posterior.

    Attributes
    ----------
    clusters : (n,) uint8 or larger array
        Of every object; of the K clusters some are empty.
    sizes : (K,) int array
    table : (labels, used) int32 array
        Members with each label, of the clusters up to the last occupied one.
    alpha, beta : float
    """

    clusters: NDArray[Any]
    sizes: NDArray[np.int64]
    table: NDArray[np.int32]
    alpha: float
    beta: float


@dataclass(frozen=True)
class Chain:
    """What one chain leaves behind: a trace of every sweep, and the samples that were kept."""

    log_joint: NDArray[np.float64]
    n_clusters: NDArray[np.int64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    samples: list[Sample]


@dataclass(frozen=True)
class Sampler:
    """How to sample: the model, and what is known of α and β (None: to be estimated).

    Attributes
    ----------
    labels : (n, r) int32 array
        One row per object, −1 missing.
    offsets : (r + 1,) int array
        Where each clustering's labels begin in a table of labels.
    n_components : int
        K, where the prior is cut off.
    power : float
        Of the likelihood of every clustering.
    n_moves : int
        Split–merge moves after every sweep over the objects.
    """

    labels: Labels
    offsets: NDArray[np.int64]
    prior: str
    n_components: int
    alpha: float | None = None
    beta: float | None = None
    power: float = 1.0
    n_moves: int = 0

    def sweeps(self, clusters: Labels, *, seed: int, chain: int = 0) -> Iterator[tuple[Sample, float]]:
        """Samples without end, each with its log joint; sweep t of a chain draws from its own streams.

        `clusters` is the start. The samples share no memory.
        """
        clusters = clusters.astype(np.int32)
        alpha, beta = self.alpha or 1.0, self.beta or 1.0
        rng, own = stream(seed, "consensus.hyper", chain), child_seed(seed, "consensus.chain", chain)
        kind = np.min_scalar_type(self.n_components - 1)
        sweep = 0
        while True:
            table, sizes = _kernels.gibbs_sweep(
                self.labels,
                self.offsets,
                clusters,
                n_clusters=self.n_components,
                prior=self.prior,
                alpha=alpha,
                beta=beta,
                power=self.power,
                moves=self.n_moves,
                seed=own,
                unit=sweep,
            )
            table = table[:, : int(np.flatnonzero(sizes)[-1]) + 1]
            alpha, beta, joint = self._step(sizes, table, alpha, beta, rng)
            yield Sample(clusters.astype(kind), sizes, table.astype(np.int32), alpha, beta), joint
            sweep += 1

    def _step(
        self, sizes: NDArray[Any], table: NDArray[Any], alpha: float, beta: float, rng: np.random.Generator
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

    def chain(self, start: Labels, keep: NDArray[np.bool_], *, seed: int, chain: int = 0) -> Chain:
        """As many sweeps as `keep` is long, from a start; the samples where it is True."""
        trace = np.empty((4, len(keep)))
        samples = []
        for t, (sample, joint) in zip(range(len(keep)), self.sweeps(start, seed=seed, chain=chain), strict=False):
            trace[:, t] = joint, np.count_nonzero(sample.sizes), sample.alpha, sample.beta
            if keep[t]:
                samples.append(sample)
        return Chain(trace[0], trace[1].astype(np.int64), trace[2], trace[3], samples)


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
    from joblib import delayed

    keep = np.zeros(max_iter, bool)
    each = min(-(-n_samples // len(starts)), max_iter - max_iter // 2)
    keep[np.linspace(max_iter - 1, max_iter // 2, each).round().astype(int)] = True
    # A chain from many clusters takes longest until they are few: it begins first, so that no worker is left with it at the end.
    order = sorted(range(len(starts)), key=lambda c: -len(np.unique(starts[c])))
    work = (delayed(sampler.chain)(starts[c], keep, seed=seed, chain=c) for c in order)
    found = list(track(workers(n_jobs, lazily=True)(work), len(starts), "sampling", progress))
    return [found[order.index(c)] for c in range(len(starts))]
