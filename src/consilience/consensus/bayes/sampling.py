"""From a problem to chains, and from chains to one answer for its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError
from consilience._run.random import child_seed, stream
from consilience._types import Floats, Labels
from consilience.consensus.bayes.convergence import effective_sample_size, r_hat
from consilience.consensus.bayes.gibbs import Chain, Sample, Sampler, run_chains
from consilience.consensus.bayes.predictive import Components
from consilience.consensus.bayes.summary import Draws, rows_partition
from consilience.consensus.methods.engine_consensus import best_start, problem_views
from consilience.consensus.rows.problem import Problem

COPIES = 10_000_000  # objects that are sampled, at most
INITS = ("both", "consensus", "random")


@dataclass(frozen=True)
class Posterior:
    """Chains of a problem's objects, and those that have arrived.

    Attributes
    ----------
    chains : list of Chain
    arrived : (n_chains,) bool array
        A chain has not arrived if in its second half its log joint never reaches the lowest of the best chain's.
    rows : (n,) int array
        Row of every object that was sampled.
    """

    chains: list[Chain]
    arrived: NDArray[np.bool_]
    rows: NDArray[np.int64]

    @property
    def samples(self) -> list[Sample]:
        """Those kept, of the chains that have arrived."""
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
    progress: bool | None,
) -> Posterior:
    """Chains over the objects of a problem; every one stands in them as often as it weighs."""
    if not problem.whole:
        raise InputError(
            "Gibbs sampling draws every object, so weights must be whole numbers; round them, or use inference='vb' or 'cvb'"
        )
    if problem.weights.sum() > COPIES:
        raise InputError(
            f"Gibbs sampling draws every one of {problem.weights.sum():,.0f} objects, and up to {COPIES:,} can be drawn: "
            "use inference='vb', which counts objects with the same labels once"
        )
    rows = np.repeat(np.arange(problem.n_rows), problem.weights.astype(np.int64))
    offsets = problem.offsets
    model = Sampler(np.ascontiguousarray(problem.labels[rows]), offsets, **sampler)
    starts = _starts(problem, rows, init, n_chains, model.n_components, seed, n_jobs)
    how: dict[str, Any] = {"seed": seed, "n_jobs": n_jobs, "progress": progress}
    chains = run_chains(model, starts, max_iter=max_iter, n_samples=n_samples, **how)
    second = np.stack([chain.log_joint[max_iter // 2 :] for chain in chains])
    best = second.mean(axis=1).argmax()
    return Posterior(chains, second.max(axis=1) >= second[best].min(), rows)


def _starts(
    problem: Problem, rows: NDArray[np.int64], init: str, n_chains: int, k: int, seed: int, n_jobs: int | None
) -> list[Labels]:
    """Chains begin at a quick consensus, or with every object anywhere; with "both", in turn."""
    random = {"consensus": 0, "random": 1, "both": 2}[init]
    starts = []
    for chain in range(n_chains):
        if random == 1 or (random == 2 and chain % 2):
            rng = stream(seed, "consensus.chain_start", chain)
            starts.append(rng.integers(0, k, len(rows)).astype(np.int32))
        else:
            own = child_seed(seed, "consensus.quick", chain)
            starts.append(quick_consensus(problem, k, own, n_jobs=n_jobs)[rows])
    return starts


def quick_consensus(problem: Problem, most: int, seed: int, finer: float = 1.0, *, n_jobs: int | None = 1) -> Labels:
    """Labels of the rows by k-means on the labels, into `finer` times as many clusters as the clusterings usually have."""
    k = min(max(2, int(finer * np.median(problem.sizes))), problem.n_rows, most)
    views = problem_views(problem)
    return best_start(views, k, objective="quadratic", n_init=3, batch=20, max_iter=20, seed=seed, n_jobs=n_jobs)


def summarize(
    posterior: Posterior, prior: str, *, loss: str, n_clusters: int | None, seed: int, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], Floats, list[Components], float]:
    """Labels and memberships of the rows, the components of every sample, and the expected loss."""
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
    return labels, companions(draws, labels, tables), components, expected


def companions(draws: Draws, labels: NDArray[np.int64], tables: Floats) -> Floats:
    """(rows, k): of the objects that share an object's cluster in a sample, the share that the answer has in each cluster.

    The mean over samples, without the object itself; where it is alone in a sample, its own cluster if it is alone there too,
    and otherwise nothing is known: every cluster by its size.
    """
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
    """One row per chain and sweep: log_joint, n_clusters, alpha, beta."""
    parts = []
    for number, chain in enumerate(chains):
        trace = {name: getattr(chain, name) for name in ("log_joint", "n_clusters", "alpha", "beta")}
        parts.append(pd.DataFrame({"chain": number, "sweep": np.arange(len(chain.log_joint)), **trace}))
    return pd.concat(parts, ignore_index=True)


def convergence_table(chains: list[Chain]) -> pd.DataFrame:
    """R-hat, effective sample size, mean and standard deviation over the second halves of all chains."""
    rows = {}
    for name in ("log_joint", "n_clusters"):
        trace = np.stack([getattr(chain, name)[len(chain.log_joint) // 2 :] for chain in chains]).astype(float)
        rows[name] = {
            "mean": trace.mean(),
            "sd": trace.std(),
            "r_hat": r_hat(trace),
            "ess": effective_sample_size(trace),
        }
    return pd.DataFrame(rows).T
