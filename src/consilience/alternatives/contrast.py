"""A new grouping beside a known one, in one call: what it is, how new, how good, how sure."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import check_seed, count
from consilience.alternatives.bases import takes_counts
from consilience.alternatives.condens import CondEns
from consilience.alternatives.diagnostics import Diagnostics, diagnose, restart_stability, walk_through
from consilience.alternatives.given import check_given
from consilience.ensemble import Ensemble


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
        NMI with the given grouping, the largest one if there are several: 0 is new.
    quality : float
        Share of the variance explained, or for counts I(C; Y) in nats per count.
    stability : float
        Adjusted Rand index between the answers of two halves of the restarts; NaN with one restart.
    ensemble : Ensemble
        The splits of the groups, extended to all objects.
    groups : DataFrame
        Every group, its size, and whether it was split.
    diagnostics : Diagnostics
        Redundancy with each given grouping, what is told twice, the quality of the given groupings.
    given : Ensemble
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
        good, known = self.quality, self.diagnostics.quality_of_given
        if self.diagnostics.measure == "variance":
            told = f"explains {good:.0%} of the variance (the given grouping {known:.0%})"
        else:
            told = f"keeps {good:.3g} nats of information per count (the given grouping {known:.3g})"
        sure = f"mean confidence {self.confidence[self.labels >= 0].mean():.2f}"
        if not np.isnan(self.stability):
            sure = f"two halves of the restarts agree to an adjusted Rand index of {self.stability:.2f}, {sure}"
        return [f"{_how_new(self.redundancy)}: NMI {self.redundancy:.2f} with the given grouping", told, sure]

    def walk_through(self, truth: Any = None) -> pd.DataFrame:
        """What each group's splits were worth, inside the group and extended; beside a hidden labelling if given."""
        return walk_through(self.ensemble, self.labels, self.given, truth)

    def __repr__(self) -> str:
        skipped = self.groups[self.groups["outcome"] != "split"]
        lines = [
            f"Contrast: {self.n_clusters} new clusters of {count(len(self.labels), 'object')}",
            f"sizes  {', '.join(f'{size:,}' for size in self.sizes[:12])}",
            *(f"{word:<5}  {text}" for word, text in zip(("new", "good", "sure"), self._verdict(), strict=True)),
        ]
        if len(skipped):
            names = ", ".join(f"{row['name']} ({row['size']}, {row['outcome']})" for _, row in skipped[:6].iterrows())
            lines.append(f"unused {names}{' …' if len(skipped) > 6 else ''}")
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
    base: Any = "kmeans",
    combine: str = "information",
    n_restarts: int = 10,
    centre: str | None = None,
    n_clusters_local: int | None = None,
    restarts: str = "pool",
    several: str = "joint",
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
    base, combine, n_restarts, centre, n_clusters_local, restarts, several, n_jobs
        As of :class:`consilience.alternatives.CondEns`.
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
    >>> cs.contrast(X, topic, 2, centre="group")
    Contrast: 2 new clusters of 200 objects
      sizes  100, 100
      new    new: NMI 0.00 with the given grouping
      good   explains 48% of the variance (the given grouping 46%)
      sure   two halves of the restarts agree to an adjusted Rand index of 1.00, mean confidence 1.00
    """
    start = time.perf_counter()
    seed = check_seed(random_state)
    found = CondEns(
        n_clusters,
        base=base,
        combine=combine,
        n_clusters_local=n_clusters_local,
        n_restarts=n_restarts,
        restarts=restarts,
        centre=centre,
        several=several,
        random_state=seed,
        n_jobs=n_jobs,
    ).fit(X, given, progress=progress)
    known = check_given(given, len(found.labels_)).ensemble
    about = diagnose(X, found.labels_, known, measure="information" if takes_counts(base) else "variance")
    return Contrast(
        labels=found.labels_,
        confidence=found.confidence_,
        membership=found.membership_,
        n_clusters=found.n_clusters_,
        redundancy=float(about.redundancy["nmi"].max()),
        quality=about.quality,
        stability=restart_stability(found.ensemble_, n_clusters, found.consensus_.method, random_state=seed),
        ensemble=found.ensemble_,
        groups=found.groups_,
        diagnostics=about,
        given=known,
        seconds=time.perf_counter() - start,
    )
