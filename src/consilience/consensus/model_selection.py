"""Choosing a method and a number of clusters without knowing the truth.

**Method**, by leave-one-clustering-out NMI: combine all clusterings but one, see how much the answer tells about the one left
out, average over those left out (weighted by coverage). Unlike ANMI, which rewards fitting the noise of the very clusterings it is
measured on, this is a test on something unseen. With many objects the choice is made on a random sample of them.

**Number of clusters**, by stability: combine two random halves of the clusterings separately into k clusters and compare the two answers
(adjusted Rand index), over several splits; the largest k that is nearly as stable as the most stable one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError
from consilience._progress import track
from consilience._random import stream
from consilience.ensemble import Ensemble
from consilience.measures import adjusted_rand, nmi

SAMPLE = 1000  # objects on which the choice is made
FOLDS = 8  # clusterings left out, one at a time

Fit = Callable[[Ensemble, int], NDArray[Any]]


def sample_objects(ens: Ensemble, size: int, rng: np.random.Generator, weights: Any = None) -> Ensemble:
    """A random sample of the labeled objects, or all of them if there are no more; by weight, with repeats, if weighted."""
    labeled = (ens.labels >= 0).any(axis=1)
    if weights is None:
        chosen = np.flatnonzero(labeled)
        if len(chosen) > size:
            chosen = np.sort(rng.choice(chosen, size, replace=False))
    else:
        odds = np.where(labeled, np.asarray(weights, float), 0.0)
        chosen = np.sort(rng.choice(ens.n_objects, min(size, ens.n_objects), p=odds / odds.sum()))
    return Ensemble(ens.labels[chosen], info=ens.info)


def leave_one_out(
    ens: Ensemble,
    n_clusters: int,
    methods: dict[str, Fit],
    *,
    seed: int,
    weights: Any = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Mean NMI of every method's answer with a clustering it has not seen; one row per method, the best first.

    Columns: method, unseen_nmi, sem (over the clusterings left out), n_left_out, error (why a method could not be used, if so).
    """
    rng = stream(seed, "consensus.unseen")
    part = sample_objects(ens, SAMPLE, rng, weights)
    if part.n_clusterings < 3:
        raise InputError("choosing a method needs at least three clusterings; name one with method=")
    left_out = np.sort(rng.permutation(part.n_clusterings)[:FOLDS])
    rows = []
    for name, fit in track(methods.items(), len(methods), "choosing a method", progress):
        try:
            values, weights = zip(*(_unseen(part, n_clusters, fit, q) for q in left_out), strict=True)
        except InputError as error:
            rows.append({"method": name, "unseen_nmi": np.nan, "sem": np.nan, "n_left_out": 0, "error": str(error)})
            continue
        found, kept = np.array(values), np.array(weights) > 0
        mean = float(np.average(found[kept], weights=np.array(weights)[kept])) if kept.any() else np.nan
        sem = float(found[kept].std(ddof=1) / np.sqrt(kept.sum())) if kept.sum() > 1 else np.nan
        rows.append({"method": name, "unseen_nmi": mean, "sem": sem, "n_left_out": int(kept.sum()), "error": ""})
    return pd.DataFrame(rows).sort_values("unseen_nmi", ascending=False, kind="stable", ignore_index=True)


def _unseen(ens: Ensemble, n_clusters: int, fit: Fit, q: int) -> tuple[float, float]:
    """NMI of the answer of all clusterings but q with q, and the share of objects it is measured on."""
    others = ens[:, np.delete(np.arange(ens.n_clusterings), q)]
    distinct = len(others.signatures())
    labels = fit(others, min(n_clusters, distinct))
    both = (labels >= 0) & (ens.labels[:, q] >= 0)
    return (nmi(labels, ens.labels[:, q]) if both.any() else 0.0), float(both.mean())


def choose_n_clusters(
    ens: Ensemble,
    fit: Fit,
    *,
    seed: int,
    n_splits: int = 10,
    largest: int | None = None,
    weights: Any = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Agreement of the answers of two halves of the clusterings for every k; columns n_clusters, agreement, sem."""
    if ens.n_clusterings < 4:
        raise InputError('n_clusters="stable" needs at least four clusterings, two for each half')
    rng = stream(seed, "consensus.halves")
    part = sample_objects(ens, SAMPLE, rng, weights)
    halves = [rng.permutation(part.n_clusterings) for _ in range(n_splits)]
    middle = part.n_clusterings // 2
    usual = float(np.quantile(part.n_clusters, 0.75))  # one odd clustering does not widen the search
    top = int(min(largest or max(1.5 * usual, 10), 50))
    limit = min(len(part.signatures()), largest or 50)
    rows: list[dict[str, Any]] = []
    for k in track(range(2, limit + 1), top - 1, "choosing the number of clusters", progress):
        if k > top and (not rows or most_stable(pd.DataFrame(rows)) < rows[-1]["n_clusters"]):
            break  # beyond the usual numbers only as long as the largest is still the best
        values = []
        for order in halves:
            one, two = part[:, order[:middle]], part[:, order[middle : 2 * middle]]
            if min(len(one.signatures()), len(two.signatures())) >= k:
                answers = fit(one, k), fit(two, k)
                if (
                    min(len(np.unique(answer[answer >= 0])) for answer in answers) == k
                ):  # no credit for clusters not made
                    values.append(adjusted_rand(*answers))
        values = [value for value in values if not np.isnan(value)]
        if values:
            sem = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
            rows.append({"n_clusters": k, "agreement": float(np.mean(values)), "sem": float(sem)})
    if not rows:
        raise InputError(
            "the clusterings have too few distinct rows of labels to choose a number of clusters; give one"
        )
    return pd.DataFrame(rows)


def most_stable(curve: pd.DataFrame) -> int:
    """The largest k whose agreement comes within 0.02, or two standard errors of the highest, of the highest.

    Coarser groupings are often as stable as the finest stable one, because clusters that belong together merge alike.
    """
    known = curve.dropna(subset=["agreement"])
    if known.empty:
        raise InputError("the halves of the clusterings share too few objects to choose a number of clusters; give one")
    best = known.loc[known["agreement"].idxmax()]
    slack = max(0.02, 2 * (0.0 if np.isnan(best["sem"]) else best["sem"]))
    return int(known.loc[known["agreement"] >= best["agreement"] - slack, "n_clusters"].max())
