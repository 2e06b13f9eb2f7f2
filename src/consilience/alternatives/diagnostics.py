"""How new a clustering is to known ones, how good it is on the data, and how sure.

With q(C) the quality, what a clustering tells of the data (I(C; Y) for counts, the share of the variance it explains otherwise),
q(C) + q(Z) − q(C, Z) is what C and Z tell twice: 0 if they are information orthogonal (D. Gondek and T. Hofmann, KDD 2005, Eq. 11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_choice, check_labels
from consilience.alternatives.data import group_means
from consilience.alternatives.given import joint
from consilience.comparison import adjusted_rand, information_ratio, nmi
from consilience.consensus import combine
from consilience.ensemble import Ensemble
from consilience.information import count_views, label_views, objective_of

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
    X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X, float)
    if len(codes) != X.shape[0]:
        raise InputError(f"{len(codes)} labels for data of {X.shape[0]} objects; they must be the same")
    known = codes >= 0
    if not known.any():
        return float("nan")
    X, codes = (X, codes) if known.all() else (X[known], check_labels(codes[known]))
    if measure == "information":
        return objective_of(count_views([X]), codes, int(codes.max()) + 1)
    return _explained(X, codes)


def _explained(X: Any, codes: NDArray[Any]) -> float:
    mean = group_means(X, np.zeros(len(codes), int), 1)
    squares = X.multiply(X).sum(axis=0) if sparse.issparse(X) else (X**2).sum(axis=0)
    total = float(np.sum(squares) - len(codes) * (mean**2).sum())
    k = int(codes.max()) + 1
    between = np.bincount(codes, minlength=k) @ ((group_means(X, codes, k) - mean) ** 2).sum(axis=1)
    return float(between / total) if total > 0 else 0.0


@dataclass(frozen=True)
class Diagnostics:
    """What :func:`diagnose` found.

    Attributes
    ----------
    redundancy : DataFrame
        One row per given grouping: I(C; Z) in nats, NMI, I(C; Z) / H(Z), and what C and Z tell of the data twice.
    quality, quality_of_given : float
        Of the clustering, and of the given groupings together.
    measure : {"variance", "information"}
    """

    redundancy: pd.DataFrame
    quality: float
    quality_of_given: float
    measure: str


def diagnose(X: Any, labels: Any, given: Any = None, *, measure: str = "variance") -> Diagnostics:
    """Compare a clustering of the data with groupings that were known before.

    Examples
    --------
    >>> from consilience.alternatives import diagnose
    >>> X = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]
    >>> found = diagnose(X, [0, 1, 0, 1], [0, 0, 1, 1])
    >>> found.redundancy["nmi"].tolist(), round(found.quality, 2), round(found.quality_of_given, 2)
    ([0.0], 0.2, 0.8)
    """
    codes = check_labels(labels)
    good = quality(X, codes, measure=measure)
    columns = ["given", "information", "nmi", "share", "told_twice"]
    if given is None:
        return Diagnostics(pd.DataFrame(columns=columns), good, float("nan"), measure)
    ens = given if isinstance(given, Ensemble) else Ensemble(given)
    rows = []
    for name, z in zip(ens.names, ens.labels.T, strict=True):
        both = (codes >= 0) & (z >= 0)
        cell = joint(np.column_stack([codes, z]))
        alone = [quality(X, np.where(both, side, -1), measure=measure) for side in (codes, z)]
        twice = sum(alone) - quality(X, cell, measure=measure)
        shared = objective_of(
            label_views(check_labels(z[both])[:, None]), check_labels(codes[both]), int(codes.max()) + 1
        )
        rows.append((name, shared, nmi(codes, z), information_ratio(z, codes), twice))
    known = quality(X, joint(ens.labels), measure=measure)
    return Diagnostics(pd.DataFrame(rows, columns=columns), good, known, measure)


def walk_through(ensemble: Ensemble, labels: Any, given: Any = None, truth: Any = None) -> pd.DataFrame:
    """What each group's splits were worth, inside the group and extended to all objects (tables 3 and 4 of the paper).

    Parameters
    ----------
    ensemble : Ensemble
        Extended splits as :class:`CondEns` makes them: `info` has `given`, `group` and `name`.
    labels : label vector
        The combined clustering.
    given : label vector or vectors
        The groupings that were split.
    truth : label vector, optional
        A hidden labelling to compare with.

    Returns
    -------
    DataFrame
        A row per group, means over its runs: I(L; C) / H(L) of the splits inside the group (`inside_…`) and of all objects
        (`extended_…`), with L the combined labels, the given grouping and the truth.

    Examples
    --------
    >>> from consilience.alternatives import CondEns, walk_through
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> found = CondEns(2, base="multinomial", n_restarts=3, random_state=0).fit(X, given)
    >>> walk_through(found.ensemble_, found.labels_, given, hidden)["size"].tolist()
    [100, 100]
    """
    targets = {"combined": check_labels(labels)}
    if truth is not None:
        targets["truth"] = check_labels(truth, "the truth")
    ens = None if given is None else given if isinstance(given, Ensemble) else Ensemble(given)
    rows = []
    for (which, code, name), info in ensemble.info.groupby(["given", "group", "name"], sort=False):
        inside = _members(ens, int(which), int(code), ensemble)
        row: dict[str, Any] = {"group": name, "size": int(inside.sum()), "runs": len(info)}
        columns = ensemble.labels[:, info.index].T
        for target, codes in targets.items():
            row[f"inside_{target}"] = np.mean([information_ratio(codes[inside], c[inside]) for c in columns])
            row[f"extended_{target}"] = np.mean([information_ratio(codes, c) for c in columns])
        if ens is not None:
            row["extended_given"] = np.mean([max(information_ratio(z, c) for z in ens.labels.T) for c in columns])
        rows.append(row)
    return pd.DataFrame(rows)


def _members(ens: Ensemble | None, which: int, code: int, ensemble: Ensemble) -> NDArray[np.bool_]:
    if ens is None:
        return np.ones(ensemble.n_objects, bool)
    several = ensemble.info["given"].nunique() > 1
    codes = ens.labels[:, which] if several or ens.n_clusterings == 1 else joint(ens.labels)
    return np.asarray(codes == code)


def restart_stability(ensemble: Ensemble, n_clusters: int, method: str, *, random_state: Any = 0) -> float:
    """Adjusted Rand index of the answers of two halves of the restarts (even, odd); NaN with a single restart."""
    odd = ensemble.info["restart"].to_numpy() % 2 == 1
    if odd.all() or not odd.any():
        return float("nan")
    answers = []
    for half in (np.flatnonzero(~odd), np.flatnonzero(odd)):
        part = ensemble[:, half]
        k = min(n_clusters, len(part.signatures()))
        if k < 2:
            return float("nan")
        answers.append(combine(part, k, method, random_state=random_state, progress=False).labels)
    return adjusted_rand(*answers)
