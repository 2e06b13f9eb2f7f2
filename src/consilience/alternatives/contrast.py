"""A new grouping beside a known one, in one call: what it is, how new, how good, how sure."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError, check_choice, check_seed, count
from consilience.alternatives.bases import is_random, takes_counts
from consilience.alternatives.ccib import CCIB
from consilience.alternatives.condens import COLUMNS, CondEns
from consilience.alternatives.diagnostics import Diagnostics, diagnose, restart_stability, walk_through
from consilience.alternatives.given import Given, check_given, groups_of
from consilience.ensemble import Ensemble

METHODS = ("condens", "ccib")
USED = ("split", "not split")  # what the outcome of a group is that tells nothing odd: CCIB splits none


@dataclass(frozen=True, eq=False)
class Contrast:
    """A clustering that is new to known ones.

    Attributes
    ----------
    labels : (n_objects,) int array
        The new clustering, 0 … k − 1, the largest first.
    confidence : (n_objects,) float array
        How sure each object is of its cluster (:mod:`consilience.consensus.confidence`).
    membership : (n_objects, n_clusters) array
    n_clusters : int
    redundancy : float
        NMI with the given grouping, of several the largest of each and of all together: 0 is new.
    quality : float
        Share of the variance explained, or for counts I(C; Y) in nats per count.
    stability : float
        Adjusted Rand index between the answers of two halves of the restarts; NaN with one restart, or the best of them only.
    ensemble : Ensemble
        The splits of the groups, extended to all objects.
    groups : DataFrame
        Every group, its size, and whether it was split.
    diagnostics : Diagnostics
        Redundancy with each given grouping, what is told twice, the quality of the given groupings.
    given : Ensemble
    method : {"condens", "ccib"}
    several : {"joint", "each"}
        How several given groupings were used.
    note : str
        What was done otherwise than asked for; empty if nothing.
    """

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    membership: NDArray[np.float64] = field(repr=False)
    n_clusters: int
    redundancy: float
    quality: float
    stability: float
    ensemble: Ensemble
    groups: pd.DataFrame
    diagnostics: Diagnostics
    given: Ensemble
    method: str = "condens"
    several: str = "joint"
    note: str = ""
    seconds: float = 0.0

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of objects in every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def sentence(self) -> str:
        """How new, how good, how sure, in plain words."""
        return "; ".join(self._verdict()) + "."

    def _verdict(self) -> list[str]:
        known = self.labels >= 0
        sure = f"mean confidence {self.confidence[known].mean():.2f}" if known.any() else "no object has a label"
        if not np.isnan(self.stability):
            sure = f"two halves of the restarts agree to an adjusted Rand index of {self.stability:.2f}, {sure}"
        new = f"{_how_new(self.redundancy)}: NMI {self.redundancy:.2f} with the given grouping"
        if np.isnan(self.redundancy):
            new = "no object has both a new and a given label, so nothing tells how new it is"
        return [new, self._told(), sure]

    def _told(self) -> str:
        by_variance = self.diagnostics.measure == "variance"
        good, known = (
            f"{value:.0%}" if by_variance else f"{value:.3g}"
            for value in (self.quality, self.diagnostics.quality_of_given)
        )
        if np.isnan(self.quality):
            return "how good it is cannot be told"
        beside = "" if np.isnan(self.diagnostics.quality_of_given) else f" (the given grouping {known})"
        return (
            f"explains {good} of the variance{beside}"
            if by_variance
            else f"keeps {good} nats of information per count{beside}"
        )

    def walk_through(self, truth: Any = None) -> pd.DataFrame:
        """What the runs were worth in each group, inside it and extended; beside a hidden labeling if given."""
        table = walk_through(self.ensemble, self.labels, self.given, truth, several=self.several)
        return table.assign(group=self.groups["name"].to_numpy()) if self.method == "ccib" else table

    def __repr__(self) -> str:
        skipped = self.groups[~self.groups["outcome"].isin(USED)]
        lines = [
            f"Contrast: {self.n_clusters} new clusters of {count(len(self.labels), 'object')}",
            f"sizes  {', '.join(f'{size:,}' for size in self.sizes[:12])}",
            *(f"{word:<5}  {text}" for word, text in zip(("new", "good", "sure"), self._verdict(), strict=True)),
        ]
        if len(skipped):
            names = ", ".join(f"{row['name']} ({row['size']}, {row['outcome']})" for _, row in skipped[:6].iterrows())
            lines.append(f"unused {names}{' …' if len(skipped) > 6 else ''}")
        if self.note:
            lines.append(f"note   {self.note}")
        return "\n  ".join(lines)


def _how_new(redundancy: float) -> str:
    for limit, words in ((0.05, "new"), (0.2, "mostly new"), (0.5, "partly new")):
        if redundancy <= limit:
            return words
    return "mostly the given grouping again"


def contrast(
    X: Any,
    given: Any,
    n_clusters: int,
    *,
    method: str = "condens",
    base: Any = "kmeans",
    combine: str = "information",
    n_restarts: int = 10,
    center: str | None = None,
    n_clusters_local: int | None = None,
    restarts: str = "pool",
    several: str = "joint",
    weight: float | str = "auto",
    search: str = "sequential",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Contrast:
    """Find a clustering of the data that is good and tells something else than the grouping you know.

    Parameters
    ----------
    X : (n_objects, n_features) array, DataFrame or sparse matrix
    given : label vector, or several of them
        What is known: columns of an array or DataFrame, items of a list. Labels may be missing.
    n_clusters : int
    method : {"condens", "ccib"}
        Conditional ensembles, or for counts the coordinated conditional information bottleneck.
    base, combine, center, n_clusters_local, several
        As of :class:`consilience.alternatives.CondEns`, for "condens" only.
    weight, search
        As of :class:`consilience.alternatives.CCIB`, for "ccib" only.
    n_restarts, restarts, n_jobs
        As of both.
    random_state : int
    progress : bool, optional
        A bar on standard error; by default only on a terminal.

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
      sizes  100, 100
      new    new: NMI 0.00 with the given grouping
      good   explains 48% of the variance (the given grouping 46%)
      sure   two halves of the restarts agree to an adjusted Rand index of 1.00, mean confidence 1.00
    """
    start, seed = time.perf_counter(), check_seed(random_state)
    split: dict[str, Any] = {
        "base": base,
        "combine": combine,
        "center": center,
        "n_clusters_local": n_clusters_local,
        "several": several,
    }
    whole: dict[str, Any] = {"weight": weight, "search": search}
    by_ccib = check_choice(method, METHODS, "method") == "ccib"
    kind: Any
    kind, own = (CCIB, whole) if by_ccib else (CondEns, split)
    _check_unused(split if by_ccib else whole, CondEns() if by_ccib else CCIB(), method)
    model: Any = kind(n_clusters, **own, n_restarts=n_restarts, restarts=restarts, random_state=seed, n_jobs=n_jobs)
    found = model.fit(X, given, progress=progress)
    known = check_given(given, len(found.labels_))
    combined = "information" if by_ccib else found.consensus_.method
    counts = by_ccib or takes_counts(base)
    about = diagnose(X, found.labels_, known.ensemble, measure="information" if counts else "variance")
    stable = (
        restart_stability(found.ensemble_, n_clusters, combined, random_state=seed) if restarts == "pool" else np.nan
    )
    return Contrast(
        labels=found.labels_,
        confidence=found.confidence_,
        membership=found.membership_,
        n_clusters=found.n_clusters_,
        redundancy=float(about.redundancy["nmi"].max()),
        quality=about.quality,
        stability=stable,
        ensemble=found.ensemble_,
        groups=_not_split(known, len(found.labels_)) if by_ccib else found.groups_,
        diagnostics=about,
        given=known.ensemble,
        method=method,
        several=several,
        note="" if by_ccib else _fewer(found),
        seconds=time.perf_counter() - start,
    )


def _check_unused(options: dict[str, Any], model: Any, method: str) -> None:
    """Refuse options of the other method, instead of leaving them unused."""
    defaults = model.get_params(deep=False)
    for name, value in options.items():
        if value is not defaults[name] and value != defaults[name]:
            raise InputError(f"{name} is no option of method={method!r}: leave it out, or choose the other method")


def _not_split(known: Given, n_objects: int) -> pd.DataFrame:
    rows = [(g.given, g.code, g.name, len(g.rows), "not split") for g in groups_of(known, n_objects, "joint")]
    return pd.DataFrame(rows, columns=COLUMNS)


def _fewer(model: CondEns) -> str:
    if model.n_restarts_ == model.n_restarts or not is_random(model.base):
        return ""
    return f"{model.n_restarts_} in place of {count(model.n_restarts, 'restart')}, since there are so many groups"
