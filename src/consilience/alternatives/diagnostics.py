"""How new a clustering is to given ones, its quality on the data, and the agreement of its runs.

With q(C) the quality, what a clustering tells of the data (I(C; Y) for counts, the share of the variance it explains otherwise),
q(C) + q(Z) − q(C, Z) is the information about the data that C and Z share: 0 if they are information orthogonal (Gondek and
Hofmann 2005, Eq. 11).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_choice, check_labels, count
from consilience._run.random import child_seed
from consilience._types import EnsembleLike, Floats
from consilience.alternatives.given_groups_and_centering import group_means, groups_of, joint
from consilience.consensus.combine import combined_labels
from consilience.engine.objective import objective_of
from consilience.engine.views import count_views, label_views
from consilience.ensemble import Ensemble
from consilience.ensemble.results import register
from consilience.inputs import as_ensemble
from consilience.measures import adjusted_rand, information_ratio, nmi
from consilience.tables import check_matrix

MEASURES = ("variance", "information")


def quality(X: Any, labels: Any, *, measure: str = "variance") -> float:
    """What a clustering tells of the data: the share of the variance, or I(C; Y) in nats per count.

    Objects without a label are left out.

    Examples
    --------
    >>> from consilience.alternatives import quality
    >>> round(quality([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.988
    >>> round(quality([[3, 1], [1, 3]], [0, 1], measure="information"), 3)
    0.131
    """
    check_choice(measure, MEASURES, "measure")
    codes = check_labels(labels)
    X = check_matrix(X)
    if len(codes) != X.shape[0]:
        raise InputError(f"{len(codes)} labels for data of {X.shape[0]} objects; they must be the same")
    return quality_of(X, codes, measure)


def quality_of(X: Any, codes: NDArray[Any], measure: str) -> float:
    known = codes >= 0
    if not known.any():
        return float("nan")
    X, codes = (X, codes) if known.all() else (X[known], codes[known])
    if measure == "information":
        return objective_of(count_views([X]), codes, int(codes.max()) + 1)
    return _explained(X, codes)


def _explained(X: Any, codes: NDArray[Any]) -> float:
    """Squares between clusters over all squares, of deviations: squares of the values themselves lose digits far from zero."""
    k = int(codes.max()) + 1
    mean = group_means(X, np.zeros(len(codes), int), 1)[0]
    if sparse.issparse(X):
        total, away = _sparse_deviations(X, codes, k, mean)
    else:
        rest = X - mean
        rest -= rest.mean(axis=0)  # what rounding left in the mean
        total, away = float((rest**2).sum()), group_means(rest, codes, k)
    between = np.bincount(codes, minlength=k) @ (away**2).sum(axis=1)
    return float(between / total) if total > 0 else 0.0


def _sparse_deviations(X: Any, codes: NDArray[Any], k: int, mean: Floats) -> tuple[float, Floats]:
    """All squares and the clusters' means, both about `mean`: stored entries deviate by x − mean, the others by −mean."""
    X = X.astype(float)
    X.sum_duplicates()
    stored = sparse.csr_matrix((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    X.data -= mean[X.indices]
    absent = len(codes) - np.bincount(X.indices, minlength=X.shape[1])
    total = float((X.data**2).sum() + absent @ mean**2)
    return total, group_means(X, codes, k) - (1 - group_means(stored, codes, k)) * mean


@register
@dataclass(frozen=True, eq=False)
class Diagnostics:
    redundancy: pd.DataFrame
    quality: float  # of the clustering
    quality_of_given: float  # of the given groupings together
    measure: str  # "variance" or "information"


def diagnose(X: Any, labels: Any, given: EnsembleLike | None = None, *, measure: str = "variance") -> Diagnostics:
    """Compare a clustering of the data with groupings that were known before.

    Returns
    -------
    Diagnostics
        `redundancy`, a data frame with a row per given grouping, and one for several of them together: I(C; Z) in nats, NMI,
        I(C; Z) / H(Z), and the information about the data that C and Z share; `quality` of the clustering, and
        `quality_of_given` of all groupings together.

    Examples
    --------
    >>> from consilience.alternatives import diagnose
    >>> X = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]
    >>> found = diagnose(X, [0, 1, 0, 1], [0, 0, 1, 1])
    >>> found.redundancy["nmi"].tolist(), round(found.quality, 2), round(found.quality_of_given, 2)
    ([0.0], 0.2, 0.8)
    """
    check_choice(measure, MEASURES, "measure")
    codes = check_labels(labels)
    ens = None if given is None else as_ensemble(given)
    if ens is not None and ens.n_objects != len(codes):
        raise InputError(f"the given labels are of {count(ens.n_objects, 'object')}, the clustering of {len(codes):,}")
    return diagnostics_of(check_matrix(X, n_objects=len(codes)), codes, ens, measure)


def diagnostics_of(X: Any, codes: NDArray[Any], given: Ensemble | None, measure: str) -> Diagnostics:
    good, columns = quality_of(X, codes, measure), ["given", "information", "nmi", "share", "shared_information"]
    if given is None:
        return Diagnostics(pd.DataFrame(columns=columns), good, float("nan"), measure)
    cells = joint(given.labels)
    rows = [(name, *_shared(X, codes, z, measure)) for name, z in zip(given.names, given.labels.T, strict=True)]
    if given.n_clusterings > 1:
        rows.append(("together", *_shared(X, codes, cells, measure)))
    return Diagnostics(pd.DataFrame(rows, columns=columns), good, quality_of(X, cells, measure), measure)


def _shared(X: Any, codes: NDArray[Any], z: NDArray[Any], measure: str) -> tuple[float, float, float, float]:
    """What a clustering and a known grouping have in common: a row of the table of redundancy without its name."""
    both = (codes >= 0) & (z >= 0)
    if not both.any():
        return (float("nan"),) * 4
    alone = [quality_of(X, np.where(both, side, -1), measure) for side in (codes, z)]
    twice = sum(alone) - quality_of(X, joint(np.column_stack([codes, z])), measure)
    information = objective_of(label_views(z[both][:, None]), codes[both], int(codes.max()) + 1)
    return information, nmi(codes, z), information_ratio(z, codes), twice


def redundancy(labels: NDArray[Any], given: NDArray[Any]) -> float:
    """NMI with the known groupings (n_objects, m): the largest, of each and of all together."""
    return float(np.nanmax([nmi(z, labels) for z in (*given.T, joint(given)) if (z >= 0).any()]))


def group_breakdown(
    ensemble: Ensemble, labels: NDArray[Any], given: Ensemble, known: Any, multiple_given: str
) -> pd.DataFrame:
    """What each group's splits have in common with the result: tables 3 and 4 of Gondek and Hofmann 2005."""
    targets, info = {"combined": labels}, ensemble.info
    if known is not None:
        targets["known"] = check_labels(known, "the known labels")
        if len(targets["known"]) != ensemble.n_objects:
            raise InputError(
                f"{len(targets['known']):,} known labels for an ensemble of {count(ensemble.n_objects, 'object')}"
            )
    rows = []
    for group in groups_of(given, ensemble.n_objects, multiple_given):
        runs = np.arange(len(info))  # those on all objects, as of CCIB, are looked at in every group
        if "group" in info:
            runs = np.flatnonzero((info["given"] == group.given) & (info["group"] == group.code))
        if not len(runs):
            continue
        row: dict[str, Any] = {"group": group.name, "size": len(group.rows), "runs": len(runs)}
        columns, inside = ensemble.labels[:, runs].T, group.rows
        for target, codes in targets.items():
            row[f"inside_{target}"] = np.mean([information_ratio(codes[inside], c[inside]) for c in columns])
            row[f"extended_{target}"] = np.mean([information_ratio(codes, c) for c in columns])
        row["extended_given"] = np.mean([max(information_ratio(z, c) for z in given.labels.T) for c in columns])
        rows.append(row)
    return pd.DataFrame(rows)


def run_agreement(ensemble: Ensemble, n_clusters: int, method: str, *, seed: int = 0) -> float:
    """Adjusted Rand index of the answers of two halves of the runs (even, odd); NaN with a single run."""
    odd = ensemble.info["run"].to_numpy() % 2 == 1
    if odd.all() or not odd.any():
        return float("nan")
    answers = []
    for which, half in enumerate((np.flatnonzero(~odd), np.flatnonzero(odd))):
        part = ensemble[:, half]
        k = min(n_clusters, len(part.signatures()))
        if k < 2:
            return float("nan")
        own = child_seed(seed, "alternatives.run_halves", which)
        answers.append(combined_labels(part, k, method, random_state=own))
    return adjusted_rand(*answers)
