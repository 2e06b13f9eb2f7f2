"""A new grouping beside a given one, in one call: what it is, how new it is, its quality and its confidence."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError, check_choice, check_seed, count
from consilience._run.parallel import runs_tasks
from consilience._types import Array, EnsembleLike, Ints, PathLike, RandomState
from consilience.alternatives.ccib import CCIB
from consilience.alternatives.condens import CondEns
from consilience.alternatives.diagnostics import Diagnostics, diagnostics_of, group_breakdown, run_agreement
from consilience.alternatives.given_groups_and_centering import check_data, group_table, groups_of
from consilience.alternatives.splits import is_random, takes_counts
from consilience.consensus.trust.floaters import floating
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result
from consilience.tables.raw_table import check_reading

METHODS = ("condens", "ccib")
HOW_NEW = ((0.05, "new"), (0.2, "mostly new"), (0.5, "partly new"))
USED = ("split", "not split")  # what the outcome of a group is that tells nothing odd: CCIB splits none


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Result):
    """A clustering that is new to given ones.

    Attributes
    ----------
    labels : (n_objects,) int array
        The new clustering, 0 … k − 1, the largest first.
    confidence, support : (n_objects,) float arrays
        Probability that independent splits of the same kind put the object in the same cluster, and share of the splits that agree
        with its place (:mod:`consilience.consensus.trust.confidence`).
    membership : (n_objects, n_clusters) array
    n_clusters : int
    redundancy : float
        NMI with the given grouping, of several the largest of each and of all together: 0 is new.
    quality : float
        Share of the variance explained, or for counts I(C; Y) in nats per count.
    run_agreement : float
        Adjusted Rand index between the answers of two halves of the runs; NaN with one run, or the best of them only.
    ensemble : Ensemble
        The splits of the groups, extended to all objects.
    groups : DataFrame
        Every group, its size, and whether it was split.
    diagnostics : Diagnostics
        Redundancy with each given grouping, shared information, the quality of the given groupings.
    given : Ensemble
        With the names of its labels.
    ids : array or None
        Names of the objects.
    method : {"condens", "ccib"}
    multiple_given : {"joint", "each"}
        How several given groupings were used.
    scaling : str
        What was done to the columns of the data.
    note : str
        What was done otherwise than asked for; empty if nothing.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> beads = load_beads()
    >>> found = cs.contrast(beads, beads.labels["shape"], 4)
    >>> round(found.redundancy, 2), found.n_clusters
    (0.0, 4)
    """

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    support: NDArray[np.float64]
    membership: NDArray[np.float64] = field(repr=False)
    n_clusters: int
    redundancy: float
    quality: float
    run_agreement: float
    ensemble: Ensemble
    groups: pd.DataFrame
    diagnostics: Diagnostics
    given: Ensemble
    ids: Array | None = None
    method: str = "condens"
    multiple_given: str = "joint"
    scaling: str = ""
    note: str = ""
    seconds: float = 0.0

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of objects in every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def floating(self) -> Ints:
        """Numbers of the objects with a support of at most one half, the weakest first; see :func:`~consilience.consensus.floaters`."""
        return floating(self.labels, self.support)

    @property
    def sentence(self) -> str:
        """Redundancy, quality and confidence, in plain words."""
        return "; ".join(self._verdict()) + "."

    def _verdict(self) -> list[str]:
        known, means = self.labels >= 0, "no object has a label"
        if known.any():
            values = self.confidence[known].mean(), self.support[known].mean()
            means = "mean confidence {:.2f}, mean support {:.2f}".format(*values)
        if not np.isnan(self.run_agreement):
            means = f"two halves of the runs agree to an adjusted Rand index of {self.run_agreement:.2f}, {means}"
        new = next((words for most, words in HOW_NEW if self.redundancy <= most), "mostly the given grouping again")
        new = f"{new}: NMI {self.redundancy:.2f} with the given grouping"
        if np.isnan(self.redundancy):
            new = "no object has both a new and a given label, so nothing tells how new it is"
        return [new, self._explains(), means]

    def _explains(self) -> str:
        if np.isnan(self.quality):
            return "its quality is not known"
        by_variance, known = self.diagnostics.measure == "variance", self.diagnostics.quality_of_given
        number = "{:.0%}" if by_variance else "{:.3g}"
        beside = "" if np.isnan(known) else f" (the given grouping {number.format(known)})"
        said = "explains {} of the variance{}" if by_variance else "keeps {} nats of information per count{}"
        return said.format(number.format(self.quality), beside)

    def to_frame(self) -> pd.DataFrame:
        """One row per object: id (or number), cluster (−1 without one), confidence and support."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return pd.DataFrame({"id": ids, "cluster": self.labels, "confidence": self.confidence, "support": self.support})

    def group_breakdown(self, known: Any = None) -> pd.DataFrame:
        """What the runs have in common with the result in each given group: tables 3 and 4 of Gondek and Hofmann 2005.

        Parameters
        ----------
        known : label vector, optional
            Known labels to compare with.

        Returns
        -------
        DataFrame
            A row per group, means over its runs: I(L; C) / H(L) of the splits inside the group (`inside_…`) and of all objects
            (`extended_…`), with L the combined labels, the given grouping and the known labels.
        """
        return group_breakdown(self.ensemble, self.labels, self.given, known, self.multiple_given)

    def __repr__(self) -> str:
        skipped = self.groups[~self.groups["outcome"].isin(USED)]
        verdict = zip(("new", "quality", "confidence"), self._verdict(), strict=True)
        lines = [
            f"Contrast: {self.n_clusters} new clusters of {count(len(self.labels), 'object')}",
            f"sizes      {', '.join(f'{size:,}' for size in self.sizes[:12])}",
            *(f"{word:<10} {text}" for word, text in verdict),
            f"data       {self.scaling}",
        ]
        if len(skipped):
            names = ", ".join(f"{row['name']} ({row['size']}, {row['outcome']})" for _, row in skipped[:6].iterrows())
            lines.append(f"unused     {names}{' …' if len(skipped) > 6 else ''}")
        if self.note:
            lines.append(f"note       {self.note}")
        return "\n  ".join(lines)


@runs_tasks
def contrast(
    X: Any,
    given: EnsembleLike,
    n_clusters: int,
    *,
    method: str = "condens",
    base: Any = "kmeans",
    combine: str = "information",
    n_init: int = 10,
    keep: str = "all",
    center: str | None = None,
    n_clusters_local: int | None = None,
    multiple_given: str = "joint",
    trade_off: float | str = "auto",
    search: str = "sequential",
    standardize: bool = True,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    client: Any = None,
    log: PathLike | None = None,
    progress: bool | None = None,
    **reading: Any,
) -> Contrast:
    """Find a clustering of the data that is good and tells something else than the grouping you know.

    Parameters
    ----------
    X : (n_objects, n_features) array or sparse matrix, data frame, Table, AnnData, or a path
    given : label vector, or several of them
        What is known: columns of an array or DataFrame, items of a list. Labels may be missing. Of a path, frame or AnnData
        also the name of a column, or a list of names; or the path of a table, matched by id where both have ids.
    n_clusters : int
    method : {"condens", "ccib"}
        Conditional ensembles, or for counts the coordinated conditional information bottleneck.
    base, combine, center, n_clusters_local, multiple_given
        As of :class:`consilience.alternatives.CondEns`, for "condens" only.
    trade_off, search
        As of :class:`consilience.alternatives.CCIB`, for "ccib" only.
    n_init, keep, n_jobs
        As of both.
    standardize : bool
        Scale every column to mean 0 and standard deviation 1 first (sparse: standard deviation only). Counts, for "ccib" and the
        bases that take them, stay as they are.
    random_state : int
    client : dask.distributed.Client, optional
        A cluster that the tasks go to, instead (``docs/scale.md``); the answer is the same.
    log : path, optional
        A file that lines are added to, of what was done, where, in how many seconds and with how much memory (``docs/scale.md``).
    progress : bool, optional
        A bar on standard error; by default only on a terminal.
    **reading
        How to read a table: `id_column`, `columns` and the other parameters of :func:`consilience.tables.read_table`.

    Returns
    -------
    Contrast

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, topic, hidden = orthogonal_multinomials(2, random_state=0)
    >>> cs.contrast(X, topic, 2, center="group")
    Contrast: 2 new clusters of 200 objects
      sizes      100, 100
      new        new: NMI 0.00 with the given grouping
      quality    explains 47% of the variance (the given grouping 47%)
      confidence two halves of the runs agree to an adjusted Rand index of 1.00, mean confidence 1.00, mean support 1.00
      data       3 columns, each scaled to mean 0 and standard deviation 1
    """
    start, seed = time.perf_counter(), check_seed(random_state)
    by_ccib = check_choice(method, METHODS, "method") == "ccib"
    splitting = {"base": base, "combine": combine, "center": center, "n_clusters_local": n_clusters_local}
    own: dict[str, dict[str, Any]] = {
        "condens": splitting | {"multiple_given": multiple_given},
        "ccib": {"trade_off": trade_off, "search": search},
    }
    _check_unused(own["condens" if by_ccib else "ccib"], method)
    counts = by_ccib or takes_counts(base)
    data = check_data(X, given, counts=counts, standardize=standardize, **check_reading(reading, "contrast"))
    if data.given is None:
        raise InputError("contrast needs a given grouping to differ from: alternatives() finds groupings without one")
    both: dict[str, Any] = {"n_init": n_init, "keep": keep, "random_state": seed, "n_jobs": n_jobs}
    model: Any = (CCIB if by_ccib else CondEns)(n_clusters, **own[method], **both)
    model._check(data.X)
    groups = groups_of(data.given, data.given.n_objects, "joint")
    found = model._fit(data.X, data.given, progress=progress)
    about = diagnostics_of(data.X, found.labels_, data.given, "information" if counts else "variance")
    combined = "information" if by_ccib else found.consensus_.method
    agree = run_agreement(found.ensemble_, n_clusters, combined, seed=seed) if keep == "all" else float("nan")
    learned = ("labels", "confidence", "support", "membership", "n_clusters")
    return Contrast(
        **{name: getattr(found, f"{name}_") for name in learned},
        redundancy=float(about.redundancy["nmi"].max()),
        quality=about.quality,
        run_agreement=agree,
        ensemble=found.ensemble_,
        groups=group_table(groups, ["not split"] * len(groups)) if by_ccib else found.groups_,
        diagnostics=about,
        given=data.given,
        ids=data.ids,
        method=method,
        multiple_given=multiple_given,
        scaling=data.scaling,
        note="" if by_ccib else _fewer(found),
        seconds=time.perf_counter() - start,
    )


def _check_unused(options: dict[str, Any], method: str) -> None:
    """Refuse options of the other method, instead of leaving them unused."""
    defaults: dict[str, Any] = contrast.__kwdefaults__ or {}
    for name, value in options.items():
        if value is not defaults[name] and value != defaults[name]:
            raise InputError(f"{name} is not an option of method={method!r}: leave it out, or choose the other method")


def _fewer(model: CondEns) -> str:
    if model.n_init_ == model.n_init or not is_random(model.base):
        return ""
    return f"{model.n_init_} in place of {count(model.n_init, 'run')} in each group, since there are so many groups"
