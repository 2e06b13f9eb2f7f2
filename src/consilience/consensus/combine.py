"""One clustering from many: choose a method and a number of clusters, and run it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from consilience._check import InputError, check_choice, check_seed, check_word, count, nearest
from consilience._hooks import hook
from consilience._run.parallel import runs_tasks
from consilience._types import Columns, EnsembleLike, Ints, PathLike
from consilience.consensus.choose import about_nbce, about_stability, about_work, choose_method, combine_auto, number_of
from consilience.consensus.how_many.stability import FEWEST, find_stable
from consilience.consensus.left_out import worth_combining
from consilience.consensus.methods import METHODS, make_estimator
from consilience.consensus.methods.nbce import NBCE, SWEEPS, usual_effort
from consilience.consensus.result import Consensus
from consilience.consensus.rows.problem import Problem
from consilience.consensus.trust.clusters_and_members import families_of, trust_tables
from consilience.ensemble import Ensemble
from consilience.ensemble.from_sources import in_blocks
from consilience.ensemble.results import written_call
from consilience.inputs import as_ensemble

Named = dict[str, Any]  # arguments, by name
# by other names
MEANT = {"k": "n_clusters", "seed": "random_state", "weights": "sample_weight", "weight": "sample_weight"}
SAMPLED = 100_000  # safeguard: for time, objects that n_clusters="auto" draws; beyond, it bounds
WORK = 1e10  # safeguard: labels × clusters that it looks at while drawing, in well under a minute
WIDE = 100  # safeguard: for time, clusterings beyond which it bounds from fewer starts


@runs_tasks
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
    client: Any = None,
    log: PathLike | None = None,
    progress: bool | None = None,
    memory_limit: int | str | None = None,
    output: PathLike | None = None,
    keep_all: bool = False,
    **options: Any,
) -> Consensus:
    """Combine the clusterings of an ensemble into one, with a confidence and a support for every object.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from: path, folder, DataFrame, array, AnnData, result
        Or labels in row blocks, which need not fit into memory: a Dask array or dataframe, a folder of Parquet files, or
        :class:`consilience.blocks.LabelBlocks`. The answer is the same as in memory.
    n_clusters : int, None or "auto"
        None takes the median of the clusterings' numbers of clusters; "auto" the finest number on which two halves of the clusterings
        agree: see `scales` of the result. For ``method="nbce"`` both leave the number to the model.
    method : str
        "walk", "vote", "mcla", "dawid_skene", "quadratic", "information", "hbgf", "cspa", "evidence", "lwea", "lwgp", "sccc", "anmi",
        "hgpa", "mixture", "bce", "nbce", or "auto": "dawid_skene" where the errors of the clusterings are independent, as in noisy
        copies of one grouping, and else "walk" (:mod:`consilience.consensus.choose`).
    sample_weight : (n_objects,) array, optional
        Whole numbers count copies of an object; others are relative.
    columns : str, int or sequence of them, optional
        Of a table or a run: the clusterings to take, by name, position or pattern (``"leiden_*"``).
    id_column : str or int, optional
        Of a table: the column that names the objects.
    random_state : int
        Of methods that draw. The confidence and the number of clusters do not depend on it: their resamples are the same every time.
    n_jobs : int, optional
        Threads, for methods that have them.
    client : dask.distributed.Client, optional
        A cluster that the tasks go to, instead, and the reading of row blocks (``docs/scale.md``); the answer is the same.
    log : path, optional
        A file that lines are added to, of what was done, where, in how many seconds and with how much memory (``docs/scale.md``).
    progress : bool, optional
        A bar on standard error while ``method="nbce"`` draws; by default only on a terminal.
    memory_limit : int or str, optional
        Bytes, or text such as "4GB", that this process may take; with it, a Parquet file is read in blocks.
    output : path, optional
        A new folder of Parquet parts for `id`, `cluster`, `confidence` and `support` of the objects, in their order, written block by
        block. The record that is returned then reads them only when asked for.
    keep_all : bool
        Whether no clustering is left out (:mod:`consilience.consensus.left_out`).
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
    _check_method(method, options)
    if isinstance(n_clusters, str):
        check_word("n_clusters", n_clusters)
    seed = check_seed(random_state)
    asked: Named = {"n_clusters": n_clusters, "method": method, "sample_weight": sample_weight, "keep_all": keep_all}
    asked |= {"memory_limit": memory_limit, "output": output}
    chosen: Named = {"columns": columns, "id_column": id_column}
    call = written_call(combine, ensemble, **asked, **chosen, random_state=seed, **options)
    how = {"random_state": seed, "n_jobs": n_jobs}
    if in_blocks(ensemble) or memory_limit is not None or output is not None:
        asked |= {"how": how, "options": options, "progress": progress, "call": call, "start": start}
        consensus: Consensus = hook("as_blocks")(ensemble, **chosen).combine(**asked)
        return consensus
    ens = as_ensemble(ensemble, **chosen)
    number = None if isinstance(n_clusters, str) else n_clusters
    ens, problem, left = worth_combining(ens, number, sample_weight, keep_all=keep_all)
    source = Path(ensemble).resolve().name if isinstance(ensemble, (str, os.PathLike)) else ""
    about = {"call": call, "source": source, "left_out": left}
    return combine_problem(ens, problem, n_clusters, method, how, options, progress, start, **about)


def _check_method(method: str, options: Named) -> None:
    check_choice(method, ("auto", *METHODS), "method")
    for name in set(options).difference(() if method == "auto" else signature(METHODS[method]).parameters):
        for near in [MEANT[name]] if name in MEANT else nearest(name, signature(combine).parameters):
            raise InputError(f"unknown option {name!r}: did you mean {near!r}?")
    if method == "auto" and options:
        raise InputError(f"{', '.join(options)}: options belong to a method; name it with method=")


def combined_labels(
    ensemble: EnsembleLike,
    n_clusters: int | None,
    method: str = "auto",
    *,
    random_state: Any = 0,
    n_jobs: int | None = None,
    **options: Any,
) -> Ints:
    """Labels of :func:`combine` at a number of clusters, without how far to trust them, which takes about as long."""
    _check_method(method, options)
    ens, problem, _ = worth_combining(as_ensemble(ensemble), n_clusters)
    how = {"random_state": check_seed(random_state), "n_jobs": n_jobs}
    if method == "nbce" and n_clusters is None:
        return _nbce(ens, problem, how, options, False).labels_
    if method == "auto":
        labels = combine_auto(problem, how).labels
    else:
        _, labels, _ = make_estimator(method, number_of(problem), how, options)._answer(problem)
    return problem.to_objects(labels, -1)


def combine_problem(
    ens: Ensemble,
    problem: Problem,
    n_clusters: int | str | None,
    method: str,
    how: Named,
    options: Named,
    progress: bool | None = None,
    start: float = 0.0,
    **about: str,
) -> Consensus:
    """:func:`combine` for distinct rows, where everything has been checked."""
    later: dict[str, Any] = {}
    if method == "nbce" and n_clusters in (None, "auto"):
        fit = _Fit(_nbce(ens, problem, how, options, progress), method, [])
    elif n_clusters == "auto" and problem.n_rows > 2 and problem.n_clusterings >= FEWEST:
        fit, later = _fit_at_scales(ens, problem, method, how, options)
    else:
        fit = _fit(ens, problem, method, how, options)
        if n_clusters is None:
            median = f"{problem.n_clusters} is the median of the clusterings' numbers of clusters"
            fit.notes.append(f'{median}; "auto" looks for one')
        elif n_clusters == "auto":
            median = f"{count(problem.n_clusters, 'cluster')}, the median of the clusterings"
            few = "fewer than four clusterings, or than three distinct rows of labels, leave nothing to choose by"
            fit.notes.append(f"{median}, since {few}")
    estimator, notes = fit.estimator, fit.notes
    if isinstance(estimator, NBCE) and estimator.n_clusters is None:
        notes.append(about_nbce(estimator))
    fitted = ("labels", "confidence", "support", "membership", "n_clusters", "anmi")
    return Consensus(
        **{name: getattr(estimator, f"{name}_") for name in fitted},
        method=fit.method,
        ids=ens.ids,
        names=ens.names,
        note="; ".join([*notes, *about_work(estimator, fit.method, problem)]),
        **about,  # type: ignore[arg-type]
        seconds=time.perf_counter() - start,
        estimator=estimator,
        families=partial(families_of, problem),  # type: ignore[arg-type]
        **trust_tables(problem, estimator.labels_, estimator.confidence_, estimator.support_, ens.names),
        **later,
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    estimator: Any
    method: str
    notes: list[str]  # What is to be said of it


def _fit(
    ens: Ensemble, problem: Problem, method: str, how: Named, options: Named, choice: tuple[str, str] | None = None
) -> _Fit:
    notes, rows = [], problem
    if method == "auto":
        chosen = combine_auto(problem, how, choice)
        estimator, rows, method = chosen.estimator, chosen.problem, chosen.method
        notes.append(chosen.note)
        estimator._take(rows, chosen.answer)
    else:
        estimator = make_estimator(method, number_of(problem), how, options)
        estimator._fit(ens, rows)
    if estimator.n_clusters_ < problem.n_clusters:
        notes.append(f"{method} told apart only {estimator.n_clusters_} of the {problem.n_clusters} clusters asked for")
    used = getattr(estimator, "n_clusterings_used_", rows.n_clusterings)
    if used < problem.n_clusterings:
        notes.append(f"by {used} of the {problem.n_clusterings} clusterings, which have enough clusters together")
    if problem.n_clusterings == 1:
        notes.append("confidence is what chance gives, since nothing confirms a single clustering")
    elif problem.n_clusterings < 5:
        notes.append(
            "confidence by how far the clusterings confirm one another, or by resamples of them where that is lower, "
            "since fewer than five always bear out their own answer"
        )
    return _Fit(estimator, method, notes)


def _fit_at_scales(
    ens: Ensemble, problem: Problem, method: str, how: Named, options: Named
) -> tuple[_Fit, dict[str, Any]]:
    """The fit at the number of clusters that halves agree on, and fields of the consensus with those at the other stable numbers."""
    found = find_stable(problem)
    best = problem.with_clusters(found.ranked[0])
    choice = choose_method(best, how) if method == "auto" else None  # one for all scales
    fits = {k: _fit(ens, problem.with_clusters(k), method, how, options, choice) for k in found.ranked}
    fit, ordered = fits[found.ranked[0]], [fits[k].estimator for k in sorted(fits)]
    first, weights = problem.first, problem.n_objects_of_rows
    means = [float(np.average(one.estimator.confidence_[first], weights=weights)) for one in fits.values()]
    fit.notes.insert(0, about_stability(found))
    return fit, {
        "curve": found.curve,
        "scales": found.table.assign(confidence=means),
        "scale_labels": np.column_stack([one.labels_ for one in ordered]),
        "scale_confidence": np.column_stack([one.confidence_ for one in ordered]),
    }


def _nbce(ens: Ensemble, problem: Problem, how: Named, options: Named, progress: bool | None) -> NBCE:
    """NBCE with an open number of clusters, in about a minute at most."""
    model: NBCE = make_estimator("nbce", None, how, _effort(problem) | options)
    model._progress = progress
    return model._fit(ens, problem)


def _effort(problem: Problem) -> dict[str, Any]:
    """Samples, with as many sweeps as there is time for; bounds where these are too few, or there are fractions of objects."""
    objects, r = float(problem.weights.sum()), problem.n_clusterings
    clusters = 2 * max(1.0, float(np.median(problem.sizes)))  # the overlay is finer than the clusterings
    sweeps = WORK / (4 * objects * r * clusters)
    if not problem.whole or objects > SAMPLED or sweeps < SWEEPS[0]:
        return {"inference": "vb", "n_init": 5 if r <= WIDE else 2}
    return {"max_iter": int(min(sweeps, usual_effort(objects, *SWEEPS)))}
