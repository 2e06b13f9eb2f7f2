"""The coordinated conditional information bottleneck: max I(C; Y | Z) + λ I(C; Y).

D. Gondek and T. Hofmann, Non-redundant data clustering, ICDM 2004. The first term is what the clusters tell of the columns beyond the
known groups Z, but it is blind to how clusters of different groups are numbered; the second coordinates them, and brings Z
back where it weighs much. So λ decides everything, and Gondek and Hofmann give no way to choose it.

**The rule for λ** needs no labels: coordinate as far as it is free. Along a path of rising λ, each search starting where the one
before ended, take the largest λ at which the mean I(C; Y | Z) over the runs is still 99 % of the largest on the path.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from consilience._check import InputError, check_choice, check_count, check_positive, check_seed, check_word
from consilience._kernels import x_log_x
from consilience._run.parallel import workers
from consilience._run.progress import track
from consilience._run.random import child_seed, stream
from consilience._types import EnsembleLike, Floats, Labels, RandomState
from consilience.alternatives.count_bases import SEARCHES, CountClusterer
from consilience.alternatives.diagnostics import redundancy
from consilience.alternatives.given_groups_and_centering import check_counts, checked, group_sums, joint
from consilience.alternatives.splits import KEEP
from consilience.consensus import combine
from consilience.consensus.rows.problem import by_size, check_problem
from consilience.consensus.trust.confidence import Assessment
from consilience.engine.annealing import anneal
from consilience.engine.objective import objective_of
from consilience.engine.search import Engine, random_starts
from consilience.engine.views import Views, count_views
from consilience.ensemble import Ensemble
from consilience.measures import nmi

PATH = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
FREE = 0.01  # share of I(C; Y | Z) that coordination may cost
ROUNDS = 20  # safeguard: time; searches at most, with groups renumbered in between


@dataclass(frozen=True)
class ConditionalProblem:
    """Counts (CSR), the group of every object (−1 unknown), the views of both terms, and the number of clusters."""

    X: Any
    groups: Labels
    views: Views
    n_clusters: int

    def conditional_information(self, labels: NDArray[Any]) -> float:
        """I(C; Y | Z) in nats per count."""
        return objective_of(reweigh(self.views, conditional=1, whole=0), labels, self.n_clusters)

    def information(self, labels: NDArray[Any]) -> float:
        """I(C; Y) in nats per count."""
        return objective_of(reweigh(self.views, conditional=0, whole=1), labels, self.n_clusters)


def follow_path(
    problem: ConditionalProblem,
    path: tuple[float, ...],
    *,
    search: str = "sequential",
    max_iter: int = 50,
    cooling: float = 1.3,
    seed: int = 0,
    unit: int = 0,
) -> tuple[list[Labels], int]:
    """One run: the labels found at every λ of the path, each search starting from the labels before; and the passes made."""
    X, groups, k = problem.X, problem.groups, problem.n_clusters
    if search == "annealing":
        views = reweigh(problem.views, conditional=1, whole=path[0])
        start = anneal(views, k, cooling=cooling, rng=stream(seed, "alternatives.ccib", unit))
        labels = coordinate(X, groups, start, k)
    else:
        labels = local_start(X, groups, k, seed, unit)
    found, passes, own = [], 0, child_seed(seed, "alternatives.ccib_search", unit)
    for step, trade_off in enumerate(path):
        engine = Engine(reweigh(problem.views, conditional=1, whole=trade_off), k)
        for again in range(ROUNDS):
            better = engine.search(labels, max_iter=max_iter, seed=own, unit=step * ROUNDS + again)
            passes += len(better.moves)
            labels = coordinate(X, groups, better.labels, k)
            if (labels == better.labels).all():
                break
        found.append(labels)
    return found, passes


@dataclass(eq=False, repr=False)
class CCIB(CountClusterer):
    """Clusters of counts that are new to a known grouping: the coordinated conditional information bottleneck.

    Parameters
    ----------
    n_clusters : int
    trade_off : float or "auto"
        λ. "auto" takes the largest on a path from .001 to 3 that costs at most 1 % of I(C; Y | Z).
    search : {"sequential", "annealing"}
        Where runs begin: seeds in every group, or deterministic annealing. Objects then move one at a time, and in between
        the clusters of whole groups are renumbered, until neither helps.
    n_init : int
        Runs.
    keep : {"all", "best"}
        The consensus of all runs, or the best by the objective.
    max_iter : int
        Passes of a search at most.
    cooling : float
        Factor between the steps of β in annealing.
    random_state : int, optional
    n_jobs : int, optional
        Threads over the runs; the labels do not depend on it.

    Attributes
    ----------
    labels_ : (n_objects,) int array
        Clusters 0 … k − 1 by falling size.
    confidence_, support_, membership_
        What the runs say of each object's place; see :mod:`consilience.consensus.trust.confidence`.
    n_clusters_ : int
    trade_off_ : float
        λ as used.
    path_ : DataFrame
        For every λ tried, means over the runs: I(C; Y | Z), I(C; Y), NMI with the known grouping.
    conditional_information_, information_ : float
        Of `labels_`, in nats per count.
    redundancy_ : float
        NMI of `labels_` with the known grouping, the largest of several and of all together; NaN without one.
    objective_ : float
        I(C; Y | Z) + λ I(C; Y) of `labels_`.
    ensemble_ : Ensemble
        The runs' answers at `trade_off_`.
    n_iter_ : int
        Passes over the objects, of the run that made the most.

    Notes
    -----
    A pass costs O(entries · k), a renumbering O(groups · k² · columns), memory is O(entries + (groups + 1) · columns · k).
    Objects weigh as much as they have counts: pass rows scaled to a common sum to let them weigh the same.

    Examples
    --------
    >>> from consilience.alternatives import CCIB
    >>> from consilience.measures import matched_accuracy
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(3, random_state=0)
    >>> found = CCIB(3, n_init=3, random_state=0).fit(X, given)
    >>> round(matched_accuracy(hidden, found.labels_), 2), round(found.redundancy_, 3)
    (1.0, 0.0)
    """

    n_clusters: int = 2
    _: KW_ONLY
    trade_off: float | str = "auto"
    search: str = "sequential"
    n_init: int = 10
    keep: str = "all"
    max_iter: int = 50
    cooling: float = 1.3
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: Any, given: EnsembleLike | None = None) -> Self:
        """Find a clustering of the counts X that is new to `given`.

        Parameters
        ----------
        X : (n_objects, n_columns) array, DataFrame or sparse matrix of counts
        given : label vector, or several, optional
            The known grouping; of several, the groups they make together. Missing labels are allowed. Without any, this is
            the plain information bottleneck.
        """
        return self._fit(*checked(X, given, self, estimator=self))

    def fit_predict(self, X: Any, given: EnsembleLike | None = None) -> NDArray[np.int64]:
        """Labels of :meth:`fit`."""
        return self.fit(X, given).labels_

    def _fit(self, X: Any, given: Ensemble | None, progress: bool | None = False) -> Self:
        groups = np.zeros(X.shape[0], np.int32) if given is None else joint(given.labels)
        if groups.max() < 0:
            raise InputError("no object has a label in all of the given groupings, so they make no groups together")
        counts = sparse.csr_matrix(X)
        problem = ConditionalProblem(counts, groups, conditional_views(counts, groups, 1.0), self.n_clusters)
        seed, path = check_seed(self.random_state), self._path()
        found = self._runs(problem, path, seed, progress)
        self.path_ = _path_table(problem, path, found, None if given is None else groups)
        kept = self.path_["conditional_information"].to_numpy()
        at = int(np.flatnonzero(kept >= (1 - FREE) * kept.max())[-1])  # the largest λ that is free
        self.trade_off_ = path[at]
        self._answer(problem, [labels[at] for labels in found], seed)
        self.redundancy_ = float("nan") if given is None else redundancy(self.labels_, given.labels)
        return self

    def _check(self, X: Any) -> None:
        check_count("n_clusters", self.n_clusters, 2)
        check_choice(self.search, SEARCHES, "search")
        check_count("n_init", self.n_init)
        check_choice(self.keep, KEEP, "choice of runs to keep")
        check_count("max_iter", self.max_iter)
        check_positive("cooling", self.cooling, above=1)
        self._path()
        check_counts(X, "CCIB")
        if self.n_clusters > X.shape[0]:
            raise InputError(f"{self.n_clusters} clusters of n_samples = {X.shape[0]} cannot be made: ask for fewer")

    def _path(self) -> tuple[float, ...]:
        if isinstance(self.trade_off, str):
            check_word("trade_off", self.trade_off, what="a number")
            return PATH
        return (check_positive("trade_off", self.trade_off, or_equal=True),)

    def _runs(
        self, problem: ConditionalProblem, path: tuple[float, ...], seed: int, progress: bool | None
    ) -> list[list[Labels]]:
        from joblib import delayed

        how = {"search": self.search, "max_iter": self.max_iter, "cooling": self.cooling, "seed": seed}
        lazily = workers(self.n_jobs, lazily=True)
        runs = lazily(delayed(follow_path)(problem, path, unit=unit, **how) for unit in range(self.n_init))
        found = list(track(runs, self.n_init, "runs", progress))
        self.n_iter_ = max(passes for _, passes in found)
        return [labels for labels, _ in found]

    def _answer(self, problem: ConditionalProblem, found: list[Labels], seed: int) -> None:
        self.ensemble_ = Ensemble.from_codes(np.column_stack(found), info={"run": range(len(found))})
        if self.keep == "all" and self.n_init > 1:
            own = child_seed(seed, "alternatives.ccib_combine")
            answer: Any = combine(self.ensemble_, self.n_clusters, "information", random_state=own)
            self.labels_, self.membership_ = answer.labels, answer.membership
            self.confidence_, self.support_ = answer.confidence, answer.support
        else:
            whole = reweigh(problem.views, conditional=1, whole=self.trade_off_)
            best = max(found, key=lambda labels: objective_of(whole, labels, self.n_clusters))
            self.labels_ = np.argsort(by_size(best, np.ones(len(best)), self.n_clusters))[best]
            rows = check_problem(self.ensemble_, self.n_clusters)
            judged = Assessment(rows, self.labels_[rows.first])
            self.membership_, self.confidence_ = judged.posterior[rows.inverse], judged.confidence[rows.inverse]
            self.support_ = judged.support[rows.inverse]
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.conditional_information_ = problem.conditional_information(self.labels_)
        self.information_ = problem.information(self.labels_)
        self.objective_ = self.conditional_information_ + self.trade_off_ * self.information_


def _path_table(
    problem: ConditionalProblem, path: tuple[float, ...], found: list[list[Labels]], groups: Labels | None
) -> pd.DataFrame:
    told: dict[str, Callable[[Labels], float]] = {
        "conditional_information": problem.conditional_information,
        "information": problem.information,
        "redundancy": lambda some: float("nan") if groups is None else nmi(groups, some),
    }
    steps = zip(path, zip(*found, strict=True), strict=True)
    rows = [
        {"trade_off": at} | {name: np.mean([f(some) for some in runs]) for name, f in told.items()}
        for at, runs in steps
    ]
    return pd.DataFrame(rows)


# The problem of the coordinated conditional bottleneck: its views, its starts, and the move that coordinates groups.
#
# I(C; Y | Z) = Σ_z (N_z / N) I(C; Y | Z = z) is blind to how the clusters of one group are numbered beside those of another, and
# single objects cannot renumber a group. So there is a move of its own: renumber the clusters of one group so that I(C; Y) is
# largest. That leaves I(C; Y | Z) as it is, splits into one term per pair (cluster of the others, cluster of the group), and is
# solved exactly as an assignment.


def conditional_views(X: Any, groups: NDArray[Any], weight: float) -> Views:
    """Views whose objective is I(C; Y | Z) + weight · I(C; Y): an object's counts in the view of its group (if any), and in that of all."""
    n, d = X.shape
    n_groups = int(groups.max(initial=0)) + 1
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    known = groups[row] >= 0
    place = groups[row[known]].astype(np.int64) * d + X.indices[known]
    inside = sparse.csr_matrix((X.data[known], (row[known], place)), shape=(n, n_groups * d))
    table = sparse.hstack([inside, X], format="csr")
    table.sort_indices()
    mass = np.asarray(X.sum(axis=1)).ravel()
    share = np.bincount(groups[groups >= 0], mass[groups >= 0], minlength=n_groups) / mass[groups >= 0].sum()
    view_of = np.repeat(np.arange(n_groups + 1, dtype=np.int32), d)
    return Views(table, view_of, np.append(share, weight), np.ones(n))


def reweigh(views: Views, *, conditional: float, whole: float) -> Views:
    """The same views with I(C; Y | Z) times `conditional` and I(C; Y) times `whole`."""
    share = views.weights[:-1] / views.weights[:-1].sum()
    return Views(views.table, views.view_of, np.append(conditional * share, whole), views.object_weights)


def local_start(X: Any, groups: NDArray[Any], n_clusters: int, root: int, unit: int) -> Labels:
    """Every group split by seeds of its own, the splits coordinated; objects without a group by seeds of theirs."""
    labels = np.zeros(len(groups), np.int32)
    for group in range(-1, int(groups.max(initial=0)) + 1):
        rows = np.flatnonzero(groups == group)
        if len(rows):
            k = min(n_clusters, len(rows))
            seed = child_seed(root, "alternatives.conditional", unit, group + 1)
            labels[rows] = random_starts(count_views([X[rows]]), k, 1, random_state=seed)[0]
    return coordinate(X, groups, labels, n_clusters)


def coordinate(X: Any, groups: NDArray[Any], labels: Labels, n_clusters: int, *, max_iter: int = 20) -> Labels:
    """Renumber the clusters within one group after another, so that I(C; Y) grows, until no renumbering helps."""
    labels = labels.copy()
    everyone = group_sums(X, labels, n_clusters)
    for _ in range(max_iter):
        changed = False
        for group in range(-1, int(groups.max(initial=0)) + 1):
            rows = np.flatnonzero(groups == group)
            own = group_sums(X[rows], labels[rows], n_clusters)
            others = np.maximum(everyone - own, 0.0)
            name = _best_names(others, own)
            if len(rows) and (name != np.arange(n_clusters)).any():
                labels[rows] = name[labels[rows]]
                everyone = others + group_sums(X[rows], labels[rows], n_clusters)
                changed = True
        if not changed:
            break
    return labels


def _best_names(others: Floats, own: Floats) -> NDArray[np.int64]:
    """Which cluster of the others each cluster of the group should be; their own numbers unless others are better."""
    seen = own.any(axis=0)
    others_seen, own_seen = others[:, seen], own[:, seen]
    gain = np.empty((len(own), len(own)))  # what joining adds to Σ φ(T_cy) − φ(T_c·), row: cluster of the others
    for c, (row, total) in enumerate(zip(others_seen, others.sum(axis=1), strict=True)):
        gain[c] = (
            (x_log_x(row + own_seen) - x_log_x(row)).sum(axis=1) - x_log_x(total + own.sum(axis=1)) + x_log_x(total)
        )
    names, clusters = linear_sum_assignment(gain, maximize=True)
    better = gain[names, clusters].sum() > np.trace(gain) + 1e-9 * abs(np.trace(gain))
    return names[np.argsort(clusters)] if better else np.arange(len(own))
