"""The one partition of many samples, and how sure it is: what :func:`summarize` returns."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, check_count, check_seed, check_share, count, is_number, show
from consilience._run.parallel import runs_tasks
from consilience._types import Array, Columns, EnsembleLike, Floats, Ints, Labels, PathLike
from consilience.consensus.result import Labeled, list_numbers
from consilience.consensus.rows.problem import Problem, by_size, check_problem, label_tables, row_scores
from consilience.consensus.samples.expected_loss import LOSSES, TRIED, ExpectedLoss, best_partition, usual_starts
from consilience.consensus.samples.modes import find_modes
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result, written_call
from consilience.inputs import as_ensemble
from consilience.measures.counts import sums_with_each

NAMES = {"vi": ("variation of information", " nats"), "binder": ("Binder's loss", "")}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Summary(Labeled, Result):
    """The partition of least expected loss over samples.

    Attributes
    ----------
    labels : (n_objects,) int array
        Clusters 0 … k − 1, the largest first; −1 for objects that no sample labels.
    n_clusters : int
    expected_loss : float
        Of `labels`, the mean over the samples: nats for "vi", the share of pairs for "binder".
    loss : str
    cost : float
    cohesion : (n_objects,) float array
        How sure each object's place is: the mean, over samples, of the share of the other objects of its cluster that
        the sample has together with it. Of an object alone in its cluster, the share of samples that have it alone. NaN where no
        sample tells; 0 without a label.
    distances : (n_samples,) float array
        Of every sample from `labels`, by the loss with equal costs; NaN for a sample without labels.
    samples : Ensemble
    ids : (n_objects,) array or None
    note : str
        What limited the search, if anything did.
    call : str
        The call that made it, as Python.
    seconds : float

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0]])
    >>> found.labels.tolist(), round(found.expected_loss, 3)
    ([0, 0, 1, 1], 0.275)
    """

    labels: Ints
    n_clusters: int
    expected_loss: float
    loss: str
    cost: float
    cohesion: Floats
    distances: Floats
    samples: Ensemble
    ids: Array | None = None
    note: str = ""
    call: str = ""
    seconds: float = 0.0

    _clustering, _maker = "summary", "loss"

    def ball(self, level: float = 0.95) -> CredibleBall:
        """The smallest ball around the partition that holds a share of the samples, and the partitions at its bounds.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.summarize([[0, 0, 0, 1, 1, 1]] * 8 + [[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5]])
        >>> found.ball(0.9)
        Credible ball: 90 % of the samples within 0.3183
          horizontal      3 clusters at 0.3183 (8)
          upper vertical  2 clusters at 0 (0)
          lower vertical  3 clusters at 0.3183 (8)
        """
        check_share("level", level)
        samples, known = self.samples, np.flatnonzero(~np.isnan(self.distances))
        ranked = np.sort(self.distances[known])
        radius = float(ranked[int(np.ceil(level * len(known) - SAME)) - 1])
        inside = known[self.distances[known] <= radius + SAME]
        clusters, away = samples.n_clusters[inside], self.distances[inside]
        rows, columns = [], []
        few_and_many = clusters >= 0, clusters == clusters.min(), clusters == clusters.max()
        for name, among in zip(BOUNDS, few_and_many, strict=True):
            farthest = inside[among & (away >= away[among].max() - SAME)]
            for s in _distinct(samples.labels, farthest):
                rows.append((name, samples.names[s], int(samples.n_clusters[s]), float(self.distances[s])))
                columns.append(samples.labels[:, s])
        return CredibleBall(
            level=level,
            share=len(inside) / len(known),
            radius=radius,
            inside=inside,
            bounds=pd.DataFrame(rows, columns=["bound", "sample", "n_clusters", "distance"]),
            labels=np.column_stack(columns),
            ids=samples.ids,
        )

    def core(self, level: float = 0.95) -> CertainCore:
        """A large set of objects that at least a share of the samples parts in one and the same way, and exactly how many do.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.summarize([[0, 0, 0, 1, 1, 1]] * 8 + [[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5]])
        >>> found.core(0.9)
        Certain core: 5 objects of 6 in 2 clusters, parted so by 90 % of the samples
        >>> found.core(0.9).labels
        array([ 0,  0,  0,  1,  1, -1])
        """
        problem = check_problem(self.samples)
        cohesion, labels = np.nan_to_num(self.cohesion[problem.first]), self.labels[problem.first]
        return certain_core(problem, cohesion, labels, level, self.ids)

    def to_frame(self) -> pd.DataFrame:
        """One row per object: id (or number), cluster (−1 without one), cohesion."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return pd.DataFrame({"id": ids, "cluster": self.labels, "cohesion": self.cohesion})

    def __repr__(self) -> str:
        known = self.labels >= 0
        name, unit = NAMES[self.loss]
        ball, clusters = self.ball(), self.samples.n_clusters
        low, high = clusters[ball.inside].min(), clusters[ball.inside].max()
        span = count(int(low), "cluster") if low == high else f"{low} to {high} clusters"
        cost = "" if self.cost == 1 else f", cost {self.cost:g}"
        lines = [
            f"Summary: {count(self.n_clusters, 'cluster')} of {known.sum():,} objects from {count(len(clusters), 'sample')}",
            f"sizes     {list_numbers(self.sizes)}",
            f"loss      {self.expected_loss:.4f}{unit} expected ({name}{cost})",
            f"cohesion  mean {np.nanmean(self.cohesion[known]):.3f}",
            f"ball      {100 * ball.share:.3g} % of the samples within {ball.radius:.4g}{unit}; they have {span}",
        ]
        if not known.all():
            lines.append(f"no label  {np.count_nonzero(~known):,} objects (-1)")
        if self.note:
            lines.append(f"note      {self.note}")
        return "\n  ".join(lines)


def cohesion_of(problem: Problem, labels: Ints) -> Floats:
    """(rows,): how often the objects of every row are together with the others of their cluster; see :class:`Summary`."""
    k = int(labels.max()) + 1
    alone = np.bincount(labels, problem.weights, minlength=k)[:, None] == 1
    shares, told = [], []
    for table in label_tables(problem, labels, k):
        others = table.sum(axis=1, keepdims=True) - 1
        known = alone | (others > 0)
        share = np.where(alone, table.sum(axis=0) == 1, (table - 1) / np.maximum(others, 1))
        shares.append(np.where(known, share, 0.0))
        told.append(np.broadcast_to(known, table.shape).astype(float))
    rows = np.arange(problem.n_rows)
    total, samples = (row_scores(problem, tables)[rows, labels] for tables in (shares, told))
    return np.where(samples > 0, total / np.maximum(samples, 1), np.nan)


# How sure a summary of samples is: the ball of partitions around it that holds most of the probability.
#
# Its bounds are the partitions in it that are farthest from its center: of all, of those with the fewest clusters, and of those with the
# most (S. Wade and Z. Ghahramani, Bayesian cluster analysis: point estimation and credible balls, Bayesian Analysis 2018).

SAME = 1e-9  # safeguard: distances that differ by less are equal
BOUNDS = ("horizontal", "upper vertical", "lower vertical")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CredibleBall(Result):
    """The smallest ball around a summary that holds a share of the samples.

    Attributes
    ----------
    level : float
        The share asked for.
    share : float
        The share of the samples inside; at least `level`.
    radius : float
        The largest distance of a sample inside, in the unit of the loss.
    inside : int array
        Positions of those samples.
    bounds : DataFrame
        One row for every partition at a bound: `bound` ("horizontal", "upper vertical": fewest clusters, "lower vertical": most clusters),
        `sample` (name of the first sample that has it), `n_clusters` and `distance`. A bound has several where distances are equal.
    labels : (n_objects, len(bounds)) int32 array
        Those partitions; −1 where the sample has no label.
    ids : (n_objects,) array or None

    Examples
    --------
    >>> import consilience as cs
    >>> ball = cs.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0]]).ball(0.5)
    >>> ball.inside.tolist(), round(ball.share, 2)
    ([0, 1], 0.67)
    """

    level: float
    share: float
    radius: float
    inside: Ints
    bounds: pd.DataFrame
    labels: Labels
    ids: Array | None = None

    @property
    def ensemble(self) -> Ensemble:
        """The partitions at the bounds as clusterings."""
        info = self.bounds.rename(columns={"bound": "name"})[["name", "sample", "distance"]]
        names = info["name"] + np.where(info["name"].duplicated(keep=False), " " + info["sample"].astype(str), "")
        return Ensemble.from_codes(self.labels, ids=self.ids, info=info.assign(name=names))

    def to_frame(self) -> pd.DataFrame:
        """The bounds."""
        return self.bounds.copy()

    def __repr__(self) -> str:
        lines = [f"Credible ball: {100 * self.share:.3g} % of the samples within {self.radius:.4g}"]
        for name in BOUNDS:
            rows = self.bounds[self.bounds["bound"] == name]
            more = f", and {len(rows) - 1} more as far" if len(rows) > 1 else ""
            first = rows.iloc[0]
            clusters = count(first["n_clusters"], "cluster")
            lines.append(f"{name:<15} {clusters} at {first['distance']:.4g} ({first['sample']}{more})")
        return "\n  ".join(lines)


def _distinct(labels: Labels, columns: Ints) -> list[int]:
    seen: dict[bytes, int] = {}
    for s in columns.tolist():
        _, first, codes = np.unique(labels[:, s], return_index=True, return_inverse=True)
        seen.setdefault(np.argsort(np.argsort(first))[codes.reshape(-1)].tobytes() + (labels[:, s] < 0).tobytes(), s)
    return list(seen.values())


# The certain core of samples of a partition: a large set of objects that a given share of the samples parts in one and the same way.
#
# The largest such set is hard to find (the samples to set aside and the objects to keep depend on one another), so it is grown from
# several objects, in the manner of `chips` in the R package salso: at every step the object, in a cluster of the core or a new one, that
# adds most objects for the samples that it contradicts. Its probability is exact: the samples that part the core so are counted. A sample
# without a label for an object of the core does not count among them.


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CertainCore(Result):
    """Objects whose partition is sure.

    Attributes
    ----------
    labels : (n_objects,) int array
        Clusters 0 … k − 1 of the core, the largest first; −1 for objects that are not in it.
    probability : float
        The share of the samples that part the core's objects exactly so.
    level : float
        The least probability asked for.
    ids : (n_objects,) array or None

    Examples
    --------
    >>> import consilience as cs
    >>> core = cs.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0]]).core(0.9)
    >>> core.labels.tolist(), core.probability
    ([0, 0, 1, -1], 1.0)
    """

    labels: Ints
    probability: float
    level: float
    ids: Array | None = None

    @property
    def objects(self) -> Ints:
        """Positions of the objects in the core."""
        return np.flatnonzero(self.labels >= 0)

    @property
    def n_clusters(self) -> int:
        """Number of its clusters."""
        return int(self.labels.max(initial=-1)) + 1

    def to_frame(self) -> pd.DataFrame:
        """One row per object of the core: id (or number) and cluster."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return pd.DataFrame({"id": ids[self.objects], "cluster": self.labels[self.objects]})

    def __repr__(self) -> str:
        size, sure = len(self.objects), 100 * self.probability
        if not size:
            return f"Certain core: no object is in {100 * self.level:.3g} % of the samples"
        share = f"{count(size, 'object')} of {len(self.labels):,} in {count(self.n_clusters, 'cluster')}"
        return f"Certain core: {share}, parted so by {sure:.3g} % of the samples"


def certain_core(problem: Problem, cohesion: Floats, labels: Array, level: float, ids: Array | None) -> CertainCore:
    """The largest core found, from the distinct rows of samples and, for every row, its cohesion and its cluster in the summary."""
    check_share("level", level)
    columns = problem.hyperedges
    need = max(1, int(np.ceil(level * problem.n_clusterings - 1e-9)))
    best = np.full(problem.n_rows, -1), 0
    for seed in _seeds(problem, cohesion, labels):
        found = _grow(columns, problem.weights, int(seed), need, cohesion)
        weights = [problem.weights[core >= 0].sum() for core, _ in (found, best)]
        if (weights[0], found[1]) > (weights[1], best[1]):
            best = found
    core, agreeing = best
    if agreeing:
        some = core >= 0
        order = by_size(core[some], problem.weights[some], int(core.max()) + 1, problem.first[some])
        core = np.where(some, np.argsort(order)[core], -1)
    objects, probability = problem.to_objects(core.astype(np.int64), -1), agreeing / problem.n_clusterings
    return CertainCore(labels=objects, probability=probability, level=level, ids=ids)


def _seeds(problem: Problem, cohesion: Floats, labels: Array, *, few: int = 64, most: int = 8) -> Ints:
    """Rows to begin at: all if there are at most `few`; otherwise the heaviest, and the most cohesive of each of the largest clusters."""
    if problem.n_rows <= few:
        return np.arange(problem.n_rows)
    order = np.lexsort((-problem.weights, -cohesion))
    first = order[np.unique(labels[order], return_index=True)[1]]
    sizes = np.bincount(labels, problem.weights)
    first = first[np.argsort(-sizes[labels[first]], kind="stable")][: most - 1]
    return np.unique(np.append(first, problem.weights.argmax()))


def _grow(columns: Labels, weights: Floats, seed: int, need: int, cohesion: Floats) -> tuple[Ints, int]:
    """The cluster of every row in the core that grows from one (−1: not in it), and the number of samples that agree on it."""
    nothing = np.full(len(columns), -1)
    left = columns[:, columns[seed] >= 0]  # the samples that agree with all of the core
    if left.shape[1] < need:
        return nothing, 0
    # the core's cluster that every column stands for: −1 none; the last place is of no label
    owner = np.full(int(columns.max()) + 2, -1)
    owner[-1] = -2
    owner[left[seed]], k = 0, 1
    while True:
        there = owner[left]
        core = np.where((there == there[:, :1]).all(axis=1) & (there[:, 0] >= 0), there[:, 0], -1)
        rest = np.flatnonzero(core < 0)
        places = np.arange(len(rest))[:, None] * (k + 2) + there[rest] + 2
        votes = np.bincount(places.ravel(), minlength=len(rest) * (k + 2)).reshape(len(rest), k + 2)[:, 1:]
        option = votes[:, ::-1].argmax(axis=1)  # on ties an old cluster rather than a new one
        option = votes.shape[1] - 1 - option - 1  # −1: a new cluster
        against = left.shape[1] - votes.max(axis=1)
        near = against <= left.shape[1] - need
        if not near.any():
            return core, left.shape[1]
        rest, option, against = rest[near], option[near], against[near]
        row, cluster = _next(left, there[rest], weights, rest, option, against, cohesion)
        left = left[:, there[row] == cluster]
        if cluster < 0:
            cluster, k = k, k + 1
        owner[left[row]] = cluster


def _next(
    left: Labels, there: Ints, weights: Floats, rest: Ints, option: Ints, against: Ints, cohesion: Floats, few: int = 64
) -> tuple[int, int]:
    """Of the few rows that contradict fewest samples, the row that adds most objects for the samples it contradicts, and its cluster."""
    some = np.lexsort((-cohesion[rest], -weights[rest], against))[:few]
    contradicts = (there != option[:, None]).astype(np.float32)
    joins = (contradicts @ contradicts[some].T >= against[:, None] - 0.5) & (option >= 0)[:, None]
    gain = weights[rest] @ joins
    for c in np.flatnonzero(option[some] < 0):  # a new cluster brings the rows that are always with it
        with_it = left[rest][:, contradicts[some[c]] == 0]
        gain[c] = weights[rest][(with_it == with_it[some[c]]).all(axis=1)].sum()
    score = gain / np.where(against[some] > 0, against[some], 1e-9)
    best = some[int(score.argmax())]
    return int(rest[best]), int(option[best])


# One partition from samples of a posterior, or from any clusterings: that of least expected loss.


@runs_tasks
def summarize(
    samples: EnsembleLike,
    loss: str = "vi",
    *,
    modes: int | str | None = None,
    cost: float = 1.0,
    max_clusters: int | None = None,
    n_starts: int | None = None,
    columns: Columns = None,
    id_column: str | int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    client: Any = None,
    log: PathLike | None = None,
    progress: bool | None = None,
) -> Any:
    """Find the one partition that stands for many: that of least expected loss over posterior samples, or over any clusterings.

    Or find a few (`modes`), each for the samples that it is nearest to.

    Parameters
    ----------
    samples : Ensemble, or what one is made from: path, folder, DataFrame, array (objects × samples), list of label vectors, result
    loss : {"vi", "binder", "ways"}
        The variation of information in nats, or Binder's loss: the share of ordered pairs of objects that one partition has together and
        the other apart. "ways", of modes alone, forgives fineness: samples of one grouping, finer or coarser, have one mode.
    modes : int or "auto", optional
        How many partitions, or "auto" for as many as make the shortest description of the samples: one may be enough, and there is none
        where samples have nothing in common.
    cost : float
        Between 0 and 2: what it costs to part objects that belong together, where joining objects that do not costs
        2 − `cost`. Above 1 gives fewer clusters, below 1 more (``a`` of the R package salso).
    max_clusters : int, optional
        The most clusters there may be. By default four times those of the sample with the most, and at least 200; `note`
        says if that was reached.
    n_starts : int, optional
        Starts of the search; by default 12, and fewer where a pass over the samples takes long. More may find a lower loss.
    columns, id_column
        Of a table: see :func:`combine`.
    random_state : int
    n_jobs : int, optional
        Threads over starts; the answer does not depend on it.
    client, log, progress
        See :func:`combine`.

    Returns
    -------
    Summary or Modes
        A summary has the credible ball (:meth:`Summary.ball`) and the certain core (:meth:`Summary.core`); modes have weights.

    Notes
    -----
    The minimum is true to the loss: objects may stand alone. A sample that lacks labels is compared on the objects that it
    labels, all samples count alike, and an object without any label has none (−1). The formulas are in
    :mod:`consilience.consensus.samples.expected_loss`. A pass costs O(distinct rows · samples · clusters), memory is
    O(rows · samples + clusters · samples' clusters).

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.summarize([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1]])
    >>> found
    Summary: 2 clusters of 6 objects from 4 samples
      sizes     3, 3
      loss      0.2529 nats expected (variation of information)
      cohesion  mean 0.833
      ball      100 % of the samples within 0.6931 nats; they have 2 to 3 clusters
    >>> found.labels
    array([0, 0, 0, 1, 1, 1])
    """
    began = time.perf_counter()
    check_choice(loss, LOSSES if modes is None else (*LOSSES, "ways"), "loss")
    if not is_number(cost) or not 0 < cost < 2:
        raise InputError(f"cost must be a number above 0 and below 2 (1: both errors cost the same); got {show(cost)}")
    if max_clusters is not None:
        check_count("max_clusters", max_clusters)
    if n_starts is not None:
        check_count("n_starts", n_starts)
    ens, seed = as_ensemble(samples, columns=columns, id_column=id_column), check_seed(random_state)
    if modes is not None:
        ways = {"cost": cost != 1, "max_clusters": max_clusters is not None} if loss == "ways" else {}
        for name, is_given in {"n_starts": n_starts is not None, **ways}.items():
            if is_given:
                raise InputError(f"{name} does nothing for modes{f' with loss={loss!r}' if ways else ''}: leave it out")
        return find_modes(ens, modes, loss, cost, max_clusters, seed, n_jobs)
    given = {"loss": loss, "cost": cost, "max_clusters": max_clusters, "n_starts": n_starts, "columns": columns}
    call = written_call(summarize, samples, **given, id_column=id_column, random_state=seed)
    problem = check_problem(ens)
    expected = ExpectedLoss.of(problem.labels, problem.weights, loss, cost)
    limit = min(problem.n_rows, max_clusters or max(200, 4 * int(problem.sizes.max())))
    tried = list(problem.labels.T[:: -(-problem.n_clusterings // TRIED)])
    n_starts = n_starts or usual_starts(expected, float(np.median(problem.sizes)))
    how: dict[str, Any] = {"seed": seed, "n_jobs": n_jobs, "progress": progress}
    labels, value = best_partition(expected, tried, limit=limit, n_starts=n_starts, **how)
    k = int(labels.max()) + 1
    rows = np.argsort(by_size(labels, problem.weights, k, problem.first))[labels]
    note = ""
    if max_clusters is None and k == limit < problem.n_rows:
        note = f"the search stopped at {count(k, 'cluster')}: raise max_clusters for more"
    of_objects = problem.to_objects(rows, -1)
    return Summary(
        labels=of_objects,
        n_clusters=k,
        expected_loss=value,
        loss=loss,
        cost=float(cost),
        cohesion=problem.to_objects(cohesion_of(problem, rows), 0.0),
        distances=distances_to(ens, of_objects, loss),
        samples=ens,
        ids=ens.ids,
        note=note,
        call=call,
        seconds=time.perf_counter() - began,
    )


def distances_to(samples: Ensemble, labels: Ints, loss: str) -> Floats:
    """The loss with equal costs between a partition and every sample, on the objects that it labels; NaN where it labels none."""
    sums = sums_with_each(labels.astype(np.int32), samples.labels, "square" if loss == "binder" else "xlogx")
    base = np.where(sums.n > 0, sums.n**2 if loss == "binder" else sums.n, np.nan)
    return np.maximum(sums.own + sums.other - 2 * sums.joint, 0.0) / base
