"""A few partitions that stand for many: the modes of samples, how much each weighs, and how many there are.

For K modes, every sample belongs to the mode that it is nearest to by the loss, and every mode is the partition of least expected loss of
those samples (:mod:`consilience.consensus.samples.expected_loss`), in turn until nobody moves: k-means in the space of partitions. It
begins at the best of k-medoids from several starts: cuts of trees of the samples, and random ones.

**How many?** As many as make the shortest description of all samples, in the manner of A. Kirkley and M. E. J. Newman (Representative
community divisions of networks, Communications Physics 5, 2022): first the modes, then for every sample which mode it belongs to, and
then its labels given those of the mode, by L(s | C) of :mod:`consilience.consensus.samples.ways`. A sample that no mode makes shorter is
described alone. So one mode is an answer, and so is none: samples that have nothing in common.

With the loss "ways" the modes are the ways of the samples: however fine or coarse, what says the same is one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.special import gammaln

from consilience._check import InputError, check_count, check_word, count
from consilience._run.random import stream
from consilience._types import Floats, Ints, Labels
from consilience.consensus.rows.problem import by_size, check_problem
from consilience.consensus.samples.expected_loss import TRIED, ExpectedLoss, best_partition, usual_starts
from consilience.consensus.samples.ways import Lengths, find_ways
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result
from consilience.measures.chance import shared_information
from consilience.measures.counts import sums_with_each
from consilience.measures.pairwise import pairwise

PATIENCE = 4  # safeguard: time; numbers of modes in a row that make nothing shorter, before the search ends
MOST = 30  # safeguard: time; modes that are looked for
PASSES = 10  # safeguard: time; in which samples change modes
LINKAGES = ("ward", "average", "complete")
MEASURE = {"vi": "variation_of_information", "binder": "cluster_difference", "ways": "shared_information"}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Modes(Result):
    """A small weighted set of partitions that stands for many samples.

    Attributes
    ----------
    labels : (n_objects, n_modes) int array
        The modes, the heaviest first; clusters 0 … k − 1, the largest first, −1 without a label.
    members : (n_samples,) int array
        The mode of every sample; −1 for samples that no mode stands for.
    expected_losses : (n_modes,) float array
        Of every mode, the mean over its samples: nats for "vi", the share of pairs for "binder", the share of information that is not
        shared for "ways".
    expected_loss : float
        The mean over all samples that a mode stands for.
    lengths : DataFrame
        Bits that describe all samples, for each object and sample (`bits`), by the number of modes that was tried (`n_modes`).
    loss : str
    samples : Ensemble
    seconds : float

    Examples
    --------
    >>> import consilience as cs
    >>> samples = [[0, 0, 0, 0, 1, 1, 1, 1] * 4] * 6 + [[0, 1, 0, 1, 0, 1, 0, 1] * 4] * 3
    >>> cs.summarize(samples, modes="auto")
    Modes: 2 partitions for 9 samples of 32 objects
      1  2 clusters, 6 samples (67 %), expected loss 0.0000
      2  2 clusters, 3 samples (33 %), expected loss 0.0000
    """

    labels: Labels
    members: Ints
    expected_losses: Floats
    expected_loss: float
    lengths: pd.DataFrame
    loss: str
    samples: Ensemble
    seconds: float = 0.0

    @property
    def n_modes(self) -> int:
        """Number of modes; 0 where the samples have nothing in common."""
        return int(self.labels.shape[1])

    @property
    def sizes(self) -> Ints:
        """How many samples each mode stands for."""
        return np.bincount(self.members[self.members >= 0], minlength=self.n_modes)

    @property
    def weights(self) -> Floats:
        """The shares of the samples."""
        return self.sizes / len(self.members)

    @property
    def ensemble(self) -> Ensemble:
        """The modes as clusterings."""
        info = self.to_frame().rename(columns={"mode": "name"})
        return Ensemble.from_codes(self.labels, ids=self.samples.ids, info=info.assign(name=info["name"].astype(str)))

    def to_frame(self) -> pd.DataFrame:
        """One row per mode: its number from 1, clusters, samples, weight and expected loss."""
        columns = {"mode": np.arange(1, self.n_modes + 1), "clusters": self.labels.max(axis=0, initial=-1) + 1}
        columns |= {"samples": self.sizes, "weight": self.weights, "expected_loss": self.expected_losses}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        n, m = count(len(self.labels), "object"), count(len(self.members), "sample")
        many = count(self.n_modes, "partition") if self.n_modes else "none"
        lines = [f"Modes: {many} for {m} of {n}" + ("" if self.n_modes else ", which have nothing in common")]
        for row in self.to_frame().itertuples():
            what = f"{count(int(row.clusters), 'cluster')}, {count(int(row.samples), 'sample')}"
            lines.append(f"{row.mode}  {what} ({100 * row.weight:.0f} %), expected loss {row.expected_loss:.4f}")
        if alone := int((self.members < 0).sum()):
            lines.append(f"-  {count(alone, 'sample')} that no mode stands for")
        return "\n  ".join(lines)


def find_modes(
    ens: Ensemble, modes: int | str, loss: str, cost: float, limit: int | None, seed: int, n_jobs: int | None
) -> Modes:
    """The modes of samples: so many, or as many as describe them shortest ("auto")."""
    began = time.perf_counter()
    if isinstance(modes, str):
        check_word("modes", modes)
    elif loss == "ways":
        raise InputError("how many ways there are is found: with loss='ways' modes is 'auto'")
    else:
        check_count("modes", modes)
    search = _Search(ens, loss, cost, limit, seed, n_jobs)
    if loss == "ways":
        tried = [search.ways()]
    elif not isinstance(modes, str):
        tried = [search.found(min(modes, search.m))]
    else:
        tried = [search.described([], np.full(search.m, -1))]
        for k in range(1, min(MOST, search.m) + 1):
            tried.append(search.without_strangers(search.found(k)))
            if len(tried) - 1 - int(np.argmin([one.bits for one in tried])) >= PATIENCE:
                break
    best = min(tried, key=lambda one: one.bits)
    order = sorted(range(len(best.modes)), key=lambda i: (-int((best.members == i).sum()), best.modes[i].tobytes()))
    members = np.full(ens.n_clusterings, -1)
    members[search.columns] = belongs = np.append(np.argsort(order), -1)[best.members]
    labels = np.full((ens.n_objects, len(order)), -1, np.int32)
    for place, i in enumerate(order):
        labels[:, place] = search.problem.to_objects(best.modes[i], -1)
    each = [apart[belongs == i] for i, apart in enumerate(search.losses([best.modes[i] for i in order]))]
    return Modes(
        labels=labels,
        members=members,
        expected_losses=np.array([np.nanmean(own) for own in each]),
        expected_loss=float(np.nanmean(np.concatenate(each))) if each else float("nan"),
        lengths=pd.DataFrame({"n_modes": [len(one.modes) for one in tried], "bits": [one.bits for one in tried]}),
        loss=loss,
        samples=ens,
        seconds=time.perf_counter() - began,
    )


@dataclass(frozen=True, eq=False)
class _Tried:
    modes: list[Labels]  # of the rows
    members: Ints  # in the canonical order of the samples; −1 for none
    bits: float  # for each object and sample


class _Search:
    def __init__(self, ens: Ensemble, loss: str, cost: float, limit: int | None, seed: int, n_jobs: int | None) -> None:
        self.problem = problem = check_problem(ens)
        self.columns = np.arange(ens.n_clusterings) if problem.given is None else problem.given.columns
        self.m, self.loss, self.cost, self.seed, self.n_jobs = len(self.columns), loss, cost, seed, n_jobs
        self.limit = min(problem.n_rows, limit or max(200, 4 * int(problem.sizes.max())))
        self.lengths = Lengths(np.ascontiguousarray(problem.labels.T), problem.exact)
        self.objects = problem.to_objects(problem.labels, -1)
        apart = pairwise(ens[:, self.columns], MEASURE[loss], n_jobs=n_jobs, progress=False)
        self.apart = np.nan_to_num(np.maximum(1 - apart if loss == "ways" else apart, 0.0), nan=1.0)
        np.fill_diagonal(self.apart, 0.0)
        self.known: dict[bytes, Labels] = {}

    def tree(self, how: str) -> Floats:
        return linkage(squareform(self.apart, checks=False), how) if self.m > 1 else np.empty((0, 4))

    def found(self, k: int) -> _Tried:
        """The best that k modes come to from several starts."""
        best: tuple[float, list[Labels], Ints] = np.inf, [], np.zeros(self.m, int)
        for members in self.starts(k):
            for _ in range(PASSES):
                modes = [self.partition(np.flatnonzero(members == i)) for i in np.unique(members)]
                apart, before = np.nan_to_num(self.losses(modes), nan=0.0), np.unique(members, return_inverse=True)[1]
                members = apart.argmin(axis=0)
                if np.array_equal(before, members):
                    break
            best = min(best, (float(apart.min(axis=0).sum()), modes, members), key=lambda one: one[0])
        return self.described(*best[1:])

    def starts(self, k: int) -> list[Ints]:
        """Samples by the nearest of k of them, which are the medoids of theirs: by cuts of trees, and the best of random ones."""
        if k in (1, self.m):
            return [np.arange(self.m) % k]
        work = ExpectedLoss.of(self.problem.labels, self.problem.weights)
        n_starts = usual_starts(work, float(np.median(self.problem.sizes)), fewest=1, most=6, work=3e5)
        found = {}
        for start in range(4 * n_starts):
            if start < len(LINKAGES):
                members = fcluster(self.tree(LINKAGES[start]), k, "maxclust")
            else:
                medoids = stream(0, "consensus.modes", k, start).choice(self.m, k, replace=False)
                members = self.apart[:, medoids].argmin(axis=1)
            for _ in range(PASSES):
                groups = [np.flatnonzero(members == i) for i in np.unique(members)]
                medoids = np.array([some[self.apart[np.ix_(some, some)].sum(axis=1).argmin()] for some in groups])
                before, members = np.unique(members, return_inverse=True)[1], self.apart[:, medoids].argmin(axis=1)
                if np.array_equal(before, members):
                    break
            found[members.tobytes()] = float(self.apart[np.arange(self.m), medoids[members]].sum()), start, members
        return [members for _, _, members in sorted(found.values(), key=lambda one: one[:2])[:n_starts]]

    def ways(self) -> _Tried:
        """The ways, each at the stable number of clusters of its samples."""
        from consilience.consensus.combine import combine  # which needs this package

        members, modes = np.full(self.m, -1), []
        for i, some in enumerate(find_ways(self.problem, self.tree("ward"))):
            members[some] = i
            one = combine(Ensemble.from_codes(self.objects[:, some]), "auto", random_state=self.seed)
            modes.append(np.asarray(one.labels[self.problem.first], np.int32))
        return self.described(modes, members)

    def partition(self, some: Ints) -> Labels:
        """The partition of least expected loss over some of the samples."""
        if (key := some.tobytes()) not in self.known:
            labels, weights = np.ascontiguousarray(self.problem.labels[:, some]), self.problem.weights
            expected = ExpectedLoss.of(labels, weights, self.loss, self.cost)
            how: dict[str, Any] = {"limit": self.limit, "seed": self.seed, "n_jobs": self.n_jobs}
            how["n_starts"] = usual_starts(expected, float(np.median(self.problem.sizes[some])))
            found, _ = best_partition(expected, list(labels.T[:: -(-len(some) // TRIED)]), **how)
            order = by_size(found, weights, int(found.max()) + 1, self.problem.first)
            self.known[key] = np.argsort(order)[found].astype(np.int32)
        return self.known[key]

    def losses(self, modes: list[Labels]) -> list[Floats]:
        """Of every mode the loss beside every sample, on the objects that the sample labels."""
        each = [np.asarray(self.problem.to_objects(mode, -1), np.int32) for mode in modes]
        if self.loss == "ways":
            return [np.array([1 - shared_information(one, column) for column in self.objects.T]) for one in each]
        term, power = ("square", 2) if self.loss == "binder" else ("xlogx", 1)
        sums = [sums_with_each(one, self.objects, term) for one in each]
        return [np.maximum((2 - self.cost) * s.own + self.cost * s.other - 2 * s.joint, 0.0) / s.n**power for s in sums]

    def described(self, modes: list[Labels], members: Ints) -> _Tried:
        """With the bits of the modes, of which mode every sample belongs to, and of the samples given these."""
        given = np.array([self.lengths.alone, *(self.lengths.given(mode) for mode in modes)])
        counts = np.bincount(members + 1, minlength=len(modes) + 1)
        which = gammaln(self.m + len(modes) + 1) - gammaln(len(modes) + 1) - gammaln(counts + 1.0).sum()
        stated = Lengths(np.array(modes, np.int32), self.problem.exact).alone.sum() if modes else 0.0
        nats = given[members + 1, np.arange(self.m)].sum() + which + stated
        return _Tried(modes, members, float(nats / np.log(2) / self.problem.weights.sum() / self.m))

    def without_strangers(self, tried: _Tried) -> _Tried:
        """The same without samples that are described shorter alone, and modes that none is left of."""
        given = np.array([self.lengths.given(mode) for mode in tried.modes])[tried.members, np.arange(self.m)]
        members = np.where(self.lengths.alone <= given, -1, tried.members)
        kept = np.unique(members[members >= 0])
        return self.described([tried.modes[i] for i in kept], np.where(members < 0, -1, np.searchsorted(kept, members)))
