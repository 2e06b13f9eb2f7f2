"""One clustering from many: choose a method and a number of clusters, and run it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, check_seed, count, nearest
from consilience._random import child_seed
from consilience._types import Array, Columns, EnsembleLike
from consilience.consensus.anmi_search import ANMISearch
from consilience.consensus.bce import BCE
from consilience.consensus.bottleneck import InformationBottleneck
from consilience.consensus.cspa import CSPA
from consilience.consensus.distinct_rows import Problem, check_problem
from consilience.consensus.estimator import ConsensusEstimator
from consilience.consensus.evidence import EvidenceAccumulation
from consilience.consensus.hbgf import HBGF
from consilience.consensus.hgpa import HGPA
from consilience.consensus.lwea import LWEA
from consilience.consensus.lwgp import LWGP
from consilience.consensus.mcla import MCLA
from consilience.consensus.mixture import MixtureModel
from consilience.consensus.model_selection import Fit, choose_n_clusters, leave_one_out, most_stable
from consilience.consensus.nbce import NBCE, SWEEPS, usual_sweeps
from consilience.consensus.quadratic import QuadraticConsensus
from consilience.consensus.result import Consensus
from consilience.consensus.sccc import SCCC
from consilience.consensus.trust import trust_tables
from consilience.consensus.vote import MajorityVote
from consilience.ensemble import Ensemble
from consilience.opening import as_ensemble

METHODS: dict[str, type[ConsensusEstimator]] = {
    "vote": MajorityVote,
    "mcla": MCLA,
    "quadratic": QuadraticConsensus,
    "information": InformationBottleneck,
    "hbgf": HBGF,
    "cspa": CSPA,
    "evidence": EvidenceAccumulation,
    "lwea": LWEA,
    "lwgp": LWGP,
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
CANDIDATES = ("vote", "mcla", "quadratic", "information", "hbgf", "cspa", "evidence")
QUICK = {"vote": {"n_init": 3}, "quadratic": {"n_init": 3}, "information": {"n_init": 3}}  # while choosing


def combine(
    ensemble: EnsembleLike,
    n_clusters: int | str | None = None,
    method: str = "auto",
    *,
    sample_weight: Any = None,
    columns: Columns = None,
    id_column: str | int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Consensus:
    """Combine the clusterings of an ensemble into one, with a confidence and a support for every object.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from: path, folder, DataFrame, array, AnnData, result
    n_clusters : int, None, "auto" or "stable"
        None takes the median of the clusterings' numbers of clusters; "auto" what :class:`NBCE` finds, and with
        ``method="auto"`` its answer too; "stable" the largest number at which answers of two halves of the clusterings agree
        nearly as well as at the best. For ``method="nbce"`` None is "auto".
    method : str
        "vote", "mcla", "quadratic", "information", "hbgf", "cspa", "evidence", "lwea", "lwgp", "sccc", "anmi",
        "hgpa", "mixture", "bce", "nbce", or "auto": the fast ones compete in telling about clusterings they have not seen, and the
        winner is run on everything.
    sample_weight : (n_objects,) array, optional
        Whole numbers count copies of an object; others are relative.
    columns : str, int or sequence of them, optional
        Of a table or a run: the clusterings to take, by name, position or pattern (``"leiden_*"``).
    id_column : str or int, optional
        Of a table: the column that names the objects.
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
    for name in set(options).difference(() if method == "auto" else signature(METHODS[method]).parameters):
        for near in nearest(name, signature(combine).parameters):
            raise InputError(f"unknown option {name!r}: did you mean {near!r}?")
    if method == "auto" and options:
        raise InputError(f"{', '.join(options)}: options belong to a method; name it with method=")
    ens, seed = as_ensemble(ensemble, columns=columns, id_column=id_column), check_seed(random_state)
    if isinstance(n_clusters, str):
        check_choice(n_clusters, ("auto", "stable"), "n_clusters")
    problem = check_problem(ens, None if isinstance(n_clusters, str) else n_clusters, sample_weight)
    how = {"random_state": seed, "n_jobs": n_jobs}
    chosen: dict[str, pd.DataFrame | None] = {}
    notes: list[str] = []
    if n_clusters == "stable":
        by = "quadratic" if method in ("auto", "hgpa", "anmi", "nbce") else method
        fit = _quick_fit(by, seed, options if by == method else {})
        chosen["curve"] = curve = choose_n_clusters(ens, fit, seed=seed, weights=sample_weight, progress=progress)
        problem = problem.with_clusters(most_stable(curve))
        notes.append(_about_curve(curve, problem.n_clusters, by))
    elif n_clusters == "auto" and method not in ("auto", "nbce"):
        model = _nbce(ens, problem, how | {"random_state": child_seed(seed, "consensus.count")}, {}, progress)
        notes.append(_about_nbce(model))
        if problem.n_rows > 1:
            problem = problem.with_clusters(max(2, model.n_clusters_))
            if model.n_clusters_ < problem.n_clusters:
                notes.append(f"{problem.n_clusters} is the least that {method} can make")
    elif n_clusters == "auto" or (n_clusters is None and method == "nbce"):
        return _finish(ens, _nbce(ens, problem, how, options, progress), "nbce", start)
    if method == "auto":
        method, chosen["candidates"], note = _choose_method(ens, problem, seed, sample_weight, progress)
        notes.append(note)
    estimator = _make(method, problem.n_clusters if problem.n_rows > 1 else None, how, options)._fit(ens, problem)
    if estimator.n_clusters_ < problem.n_clusters:
        notes.append(f"{method} told apart only {estimator.n_clusters_} of the {problem.n_clusters} clusters asked for")
    return _finish(ens, estimator, method, start, notes, **chosen)


def _finish(
    ens: Ensemble,
    estimator: Any,
    method: str,
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
        support=estimator.support_,
        membership=estimator.membership_,
        n_clusters=estimator.n_clusters_,
        method=method,
        anmi=estimator.anmi_,
        ids=ens.ids,
        note="; ".join(notes),
        seconds=time.perf_counter() - start,
        estimator=estimator,
        **trust_tables(ens.labels.T, estimator.labels_, estimator.confidence_, estimator.support_, ens.names),
        **chosen,
    )


def _nbce(ens: Ensemble, problem: Problem, how: dict[str, Any], options: dict[str, Any], progress: bool | None) -> NBCE:
    """NBCE with an open number of clusters, in about a minute at most."""
    model: NBCE = _make("nbce", None, how, _effort(problem) | options)
    model._progress = progress
    return model._fit(ens, problem)


def _effort(problem: Problem) -> dict[str, Any]:
    """Samples, with as many sweeps as there is time for; bounds where these are too few, or there are fractions of objects."""
    objects, r = float(problem.weights.sum()), problem.n_clusterings
    clusters = 2 * max(1.0, float(np.median(problem.sizes)))  # the overlay is finer than the clusterings
    sweeps = WORK / (4 * objects * r * clusters)
    if not problem.whole or objects > SAMPLED or sweeps < SWEEPS[0]:
        return {"inference": "vb", "n_init": 5 if r <= WIDE else 2}
    return {"max_iter": int(min(sweeps, usual_sweeps(objects)))}


def _about_nbce(model: NBCE) -> str:
    """How NBCE found its number of clusters, and how far to trust it."""
    found = count(model.n_clusters_, "cluster")
    if model.inference != "gibbs":
        note = f"{found} by NBCE ({model.inference}, prior {model.prior})"
        return (note if model.converged_ else f"{note}, which has not converged: raise max_iter") + _worth(model)
    shares = model.n_clusters_posterior_.cumsum()
    low, high = shares.index[shares >= 0.05][0], shares.index[shares >= 0.95][0]
    lone = "" if low <= model.n_clusters_ <= high else ", objects alone in their cluster included"
    span = f"{low}" if low == high else f"{low} to {high}"
    chains = f"{count(model.n_chains, 'chain')} of {count(model.n_iter_, 'sweep')}"
    note = f"{found} by NBCE (prior {model.prior}, {chains}; its samples mostly have {span}{lone})"
    worst = float(model.convergence_["r_hat"].max())
    if high >= model.n_components > 1:
        note += ", which is as many as n_components allows: raise it"
    elif np.isnan(worst):
        note += ", whose chains are too short to be compared: raise max_iter"
    elif worst >= 1.1:
        note += f", whose chains do not agree yet (R-hat {worst:.2f}): raise max_iter"
    return note + _worth(model)


def _worth(model: NBCE) -> str:
    """How many independent clusterings NBCE took them for."""
    return f"; the {count(len(model.label_codes_), 'clustering')} counted as {model.power_ * len(model.label_codes_):.1f} independent ones"


def _about_curve(curve: pd.DataFrame, k: int, by: str) -> str:
    """How the number of clusters was chosen, and how far to trust it."""
    agreement = float(curve.loc[curve["n_clusters"] == k, "agreement"].iloc[0])
    note = f"{k} clusters, the most at which two halves of the clusterings still agree (ARI {agreement:.2f}, by {by})"
    if agreement < 0.2:
        note += "; they hardly agree at any number, so do not rely on it"
    elif k == curve["n_clusters"].max():
        note += "; it is the largest number tried"
    return note


def _choose_method(
    ens: Ensemble, problem: Problem, seed: int, weights: Any, progress: bool | None
) -> tuple[str, pd.DataFrame | None, str]:
    if ens.n_clusterings < 3:
        return "quadratic", None, "quadratic, since fewer than three clusterings leave nothing to choose by"
    fits = {name: _quick_fit(name, seed, {}) for name in CANDIDATES}
    candidates = leave_one_out(ens, problem.n_clusters, fits, seed=seed, weights=weights, progress=progress)
    best = candidates.iloc[0]
    if np.isnan(best["unseen_nmi"]):
        return "quadratic", candidates, "quadratic, since no candidate could be tried"
    note = f"{best['method']}, best at telling about clusterings it had not seen (NMI {best['unseen_nmi']:.3f})"
    if ens.n_objects > 1000:
        note += ", judged on a sample of 1,000 objects"
    return str(best["method"]), candidates, note


def _quick_fit(method: str, seed: int, options: dict[str, Any]) -> Fit:
    """Labels of the objects by a method, in a hurry, and without what the clusterings say of them."""
    how = {"random_state": child_seed(seed, "consensus.choice"), "n_jobs": None}

    def fit(ens: Ensemble, k: int) -> Array:
        problem = check_problem(ens, k)
        return problem.to_objects(_make(method, k, how, QUICK.get(method, {}) | options)._answer(problem)[1], -1)

    return fit


def _make(method: str, n_clusters: int | None, how: dict[str, Any], options: dict[str, Any]) -> Any:
    estimator = METHODS[method]
    known = set(estimator._get_param_names())
    unknown = set(options) - known
    if unknown:
        check_choice(sorted(unknown)[0], sorted(known), f"option of {method}")
    given = {name: value for name, value in (how | options).items() if name in known}
    return estimator(n_clusters=n_clusters, **given)
