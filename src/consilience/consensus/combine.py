"""One clustering from many: choose a method, run it, say how sure it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError, check_choice, check_seed, count
from consilience.consensus.anmi_search import ANMISearch
from consilience.consensus.bce import BCE
from consilience.consensus.bottleneck import InformationBottleneck
from consilience.consensus.cspa import CSPA
from consilience.consensus.distinct_rows import check_problem
from consilience.consensus.estimator import ConsensusEstimator
from consilience.consensus.evidence import EvidenceAccumulation
from consilience.consensus.hbgf import HBGF
from consilience.consensus.hgpa import HGPA
from consilience.consensus.mcla import MCLA
from consilience.consensus.mixture import MixtureModel
from consilience.consensus.model_selection import choose_n_clusters, leave_one_out, most_stable
from consilience.consensus.nbce import NBCE, SWEEPS, usual_sweeps
from consilience.consensus.quadratic import QuadraticConsensus
from consilience.consensus.sccc import SCCC
from consilience.consensus.vote import MajorityVote
from consilience.ensemble import Ensemble
from consilience.information import Views, label_views, objective_of
from consilience.measures import anmi

METHODS: dict[str, type[ConsensusEstimator]] = {
    "vote": MajorityVote,
    "mcla": MCLA,
    "quadratic": QuadraticConsensus,
    "bottleneck": InformationBottleneck,
    "hbgf": HBGF,
    "cspa": CSPA,
    "evidence": EvidenceAccumulation,
    "sccc": SCCC,
    "anmi": ANMISearch,
    "hgpa": HGPA,
    "mixture": MixtureModel,
    "bce": BCE,
    "nbce": NBCE,
}
SAMPLED = 100_000  # objects that n_clusters="auto" draws; beyond, it bounds
WORK = 1e10  # labels × clusters that it looks at while drawing, in well under a minute
WIDE = 100  # clusterings beyond which it bounds from fewer starts
CANDIDATES = ("vote", "mcla", "quadratic", "bottleneck", "hbgf", "cspa", "evidence")
MODES = "; it finds the modes of all clusterings laid over one another, often more than the classes: give n_clusters to merge"
QUICK = {"vote": {"n_init": 3}, "quadratic": {"n_init": 3}, "bottleneck": {"n_init": 3}}  # while choosing


@dataclass(frozen=True, eq=False)
class Consensus:
    """One clustering combined from many.

    Attributes
    ----------
    labels : (n_objects,) int array
        Clusters 0 … k − 1, the largest first; −1 for objects that no clustering labels, or of weight 0.
    confidence : (n_objects,) float array
        Probability that each object belongs where it was put, if clusterings err independently after a discount for how
        alike they err (:mod:`consilience.consensus.confidence`); by "nbce", the membership of the object's own cluster.
    membership : (n_objects, n_clusters) array
    n_clusters : int
    method : str
    anmi : float
        Average NMI with the ensemble: how much of it the answer tells. Grows with k; not a measure of truth.
    candidates : DataFrame or None
        With ``method="auto"``: every candidate and its NMI with clusterings it had not seen.
    curve : DataFrame or None
        With ``n_clusters="stable"``: agreement between answers of two halves of the clusterings, for every k.
    note : str
        How the choices were made.
    estimator : the fitted estimator
    """

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    membership: NDArray[np.float64] = field(repr=False)
    n_clusters: int
    method: str
    anmi: float
    candidates: pd.DataFrame | None = None
    curve: pd.DataFrame | None = None
    note: str = ""
    seconds: float = 0.0
    estimator: Any = field(default=None, repr=False)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of objects in every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    def __repr__(self) -> str:
        known = self.labels >= 0
        sure = self.confidence[known]
        lines = [
            f"Consensus: {count(self.n_clusters, 'cluster')} of {known.sum():,} objects by {self.method}",
            f"sizes       {_list(self.sizes)}",
            f"confidence  mean {sure.mean():.3f}; {np.count_nonzero(sure < 0.5):,} objects below 0.5",
            f"anmi        {self.anmi:.4f}",
        ]
        if not known.all():
            lines.append(f"no label    {np.count_nonzero(~known):,} objects (-1)")
        if self.note:
            lines.append(f"chosen      {self.note}")
        return "\n  ".join(lines)


def _list(sizes: NDArray[np.int64], most: int = 12) -> str:
    shown = ", ".join(f"{size:,}" for size in sizes[:most])
    return shown if len(sizes) <= most else f"{shown} … ({len(sizes) - most} more)"


def combine(
    ensemble: Any,
    n_clusters: int | str | None = None,
    method: str = "auto",
    *,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Consensus:
    """Combine the clusterings of an ensemble into one, with a confidence for every object.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from
    n_clusters : int, None, "auto" or "stable"
        None takes the median of the clusterings' numbers of clusters; "auto" what :class:`NBCE` finds, and with
        ``method="auto"`` its answer too; "stable" the largest number at which answers of two halves of the clusterings agree
        nearly as well as at the best. For ``method="nbce"`` None is "auto".
    method : str
        "vote", "mcla", "quadratic", "bottleneck", "hbgf", "cspa", "evidence", "sccc", "anmi", "hgpa",
        "mixture", "bce", "nbce", or "auto": the fast ones compete in telling about clusterings they have not seen, and the winner is
        run on everything.
    sample_weight : (n_objects,) array, optional
        Whole numbers count copies of an object; others are relative.
    random_state : int
    n_jobs : int, optional
        Threads, for methods that have them.
    progress : bool, optional
        A bar on standard error while choosing; by default only on a terminal.
    **options
        Parameters of the method's estimator (only with a named method).

    Returns
    -------
    Consensus

    Examples
    --------
    >>> import consilience as cs
    >>> example = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, None, 1, 2, None, None]]
    >>> cs.combine(example, 3).labels
    array([0, 0, 0, 1, 1, 2, 2])
    """
    start = time.perf_counter()
    check_choice(method, ("auto", *METHODS), "method")
    if method == "auto" and options:
        raise InputError(f"{', '.join(options)}: options belong to a method; name it with method=")
    ens = ensemble if isinstance(ensemble, Ensemble) else Ensemble(ensemble)
    seed = check_seed(random_state)
    curve, notes, k = None, [], n_clusters if not isinstance(n_clusters, str) else None
    if isinstance(n_clusters, str):
        check_choice(n_clusters, ("auto", "stable"), "n_clusters")
    if n_clusters == "stable":
        by = "quadratic" if method in ("auto", "hgpa", "anmi", "nbce") else method
        fit = _quick_fit(by, seed, options if by == method else {})
        curve = choose_n_clusters(ens, fit, seed=seed, weights=sample_weight, progress=progress)
        k = most_stable(curve)
        notes.append(_about_curve(curve, k, by))
    elif n_clusters == "auto" and method not in ("auto", "nbce"):
        model = _nbce(ens, sample_weight, {}, seed, n_jobs, progress)
        k = max(2, model.n_clusters_) if model.n_rows_ > 1 else None
        notes.append(_about_nbce(model))
        if k is not None and model.n_clusters_ < k:
            notes.append(f"{k} is the least that {method} can make")
    elif n_clusters == "auto" or (n_clusters is None and method == "nbce"):
        return _finish(ens, _nbce(ens, sample_weight, options, seed, n_jobs, progress), "nbce", sample_weight, start)
    candidates = None
    if method == "auto":
        method, candidates, note = _choose_method(ens, k, seed, sample_weight, progress)
        notes.append(note)
    estimator = _make(method, k, seed, n_jobs, options, progress)
    estimator.fit(ens, sample_weight=sample_weight)
    asked = check_problem(ens, k, sample_weight).n_clusters
    if estimator.n_clusters_ < asked:
        notes.append(f"{method} told apart only {estimator.n_clusters_} of the {asked} clusters asked for")
    return _finish(ens, estimator, method, sample_weight, start, notes, candidates=candidates, curve=curve)


def _finish(
    ens: Ensemble,
    estimator: Any,
    method: str,
    weights: Any,
    start: float,
    notes: Sequence[str] = (),
    **chosen: pd.DataFrame | None,
) -> Consensus:
    """What a fitted estimator found, with how it was chosen."""
    notes = list(notes)
    if isinstance(estimator, NBCE) and estimator.n_clusters is None:
        notes.append(_about_nbce(estimator))
    if getattr(estimator, "sampled_", False) or getattr(estimator, "sparsified_", False):
        notes.append(f"{method} worked on a sample of the distinct rows, or on the strongest similarities only")
    return Consensus(
        labels=estimator.labels_,
        confidence=estimator.confidence_,
        membership=estimator.membership_,
        n_clusters=estimator.n_clusters_,
        method=method,
        anmi=_anmi(ens, estimator.labels_, weights),
        note="; ".join(notes),
        seconds=time.perf_counter() - start,
        estimator=estimator,
        **chosen,
    )


def _nbce(
    ens: Ensemble, weights: Any, options: dict[str, Any], seed: int, n_jobs: int | None, progress: bool | None
) -> NBCE:
    """NBCE with an open number of clusters, in about a minute at most."""
    model: NBCE = _make("nbce", None, seed, n_jobs, _effort(ens, weights) | options, progress)
    model.fit(ens, sample_weight=weights)
    return model


def _effort(ens: Ensemble, weights: Any) -> dict[str, Any]:
    """Samples, with as many sweeps as there is time for; bounds where these are too few, or there are fractions of objects."""
    whole = weights is None or not (np.asarray(weights, float) % 1).any()
    objects = float(ens.n_objects if weights is None else np.sum(weights))
    clusters = 2 * max(1.0, float(np.median(ens.n_clusters)))  # the overlay is finer than the clusterings
    sweeps = WORK / (4 * objects * ens.n_clusterings * clusters)
    if not whole or objects > SAMPLED or sweeps < SWEEPS[0]:
        return {"inference": "vb", "n_init": 5 if ens.n_clusterings <= WIDE else 2}
    return {"n_iter": int(min(sweeps, usual_sweeps(objects)))}


def _about_nbce(model: NBCE) -> str:
    """How NBCE found its number of clusters, and how far to trust it."""
    found = count(model.n_clusters_, "cluster")
    if model.inference != "gibbs":
        note = f"{found} by NBCE ({model.inference}, prior {model.prior})"
        return (note if model.converged_ else f"{note}, which has not converged: raise max_iter") + MODES
    shares = model.n_clusters_posterior_.cumsum()
    low, high = shares.index[shares >= 0.05][0], shares.index[shares >= 0.95][0]
    lone = "" if low <= model.n_clusters_ <= high else ", objects without company included"
    chains = f"{count(model.n_chains, 'chain')} of {count(model.n_iter_, 'sweep')}"
    note = f"{found} by NBCE (prior {model.prior}, {chains}; its samples mostly have {_span(low, high)}{lone})"
    worst = float(model.convergence_["r_hat"].max())
    if high >= model.n_components > 1:
        note += ", which is as many as n_components allows: raise it"
    elif np.isnan(worst):
        note += ", whose chains are too short to be compared: raise n_iter"
    elif worst >= 1.1:
        note += f", whose chains do not tell one story yet (R-hat {worst:.2f}): raise n_iter"
    return note + MODES


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _about_curve(curve: pd.DataFrame, k: int, by: str) -> str:
    """How the number of clusters was chosen, and how far to trust it."""
    agreement = float(curve.loc[curve["n_clusters"] == k, "agreement"].iloc[0])
    note = f"{k} clusters, the most at which two halves of the clusterings still agree (ARI {agreement:.2f}, by {by})"
    if agreement < 0.2:
        note += "; they hardly agree at any number, so do not rely on it"
    elif k == curve["n_clusters"].max():
        note += "; it is the largest number tried"
    return note


def _anmi(ens: Ensemble, labels: NDArray[Any], weights: Any) -> float:
    """Average NMI; with sample weights, of the weighted objects."""
    if weights is None:
        return anmi(ens, labels)
    known = labels >= 0
    views = label_views(ens.labels[known], object_weights=np.asarray(weights, float)[known])
    coverage = views.totals
    views = Views(views.table, views.view_of, coverage, views.object_weights, one_hot=True)
    return objective_of(views, labels[known], int(labels.max()) + 1, "normalized") / float(coverage.sum())


def _choose_method(
    ens: Ensemble, n_clusters: int | None, seed: int, weights: Any, progress: bool | None
) -> tuple[str, pd.DataFrame | None, str]:
    k = check_problem(ens, n_clusters, weights).n_clusters
    if ens.n_clusterings < 3:
        return "quadratic", None, "quadratic, since fewer than three clusterings leave nothing to choose by"
    candidates = leave_one_out(
        ens, k, {name: _quick_fit(name, seed, {}) for name in CANDIDATES}, seed=seed, weights=weights, progress=progress
    )
    best = candidates.iloc[0]
    if np.isnan(best["unseen_nmi"]):
        return "quadratic", candidates, "quadratic, since no candidate could be tried"
    note = f"{best['method']}, best at telling about clusterings it had not seen (NMI {best['unseen_nmi']:.3f})"
    if ens.n_objects > 1000:
        note += ", judged on a sample of 1,000 objects"
    return str(best["method"]), candidates, note


def _quick_fit(method: str, seed: int, options: dict[str, Any]) -> Any:
    def fit(ens: Ensemble, k: int) -> NDArray[Any]:
        return np.asarray(_make(method, k, seed, None, QUICK.get(method, {}) | options, False).fit(ens).labels_)

    return fit


def _make(
    method: str, n_clusters: Any, seed: int, n_jobs: int | None, options: dict[str, Any], progress: bool | None
) -> Any:
    estimator = METHODS[method]
    known = set(estimator._get_param_names())
    unknown = set(options) - known
    if unknown:
        check_choice(sorted(unknown)[0], sorted(known), f"option of {method}")
    given = {"random_state": seed, "n_jobs": n_jobs, "progress": progress} | options
    return estimator(**{"n_clusters": n_clusters, **{name: value for name, value in given.items() if name in known}})
