"""Stages 1 and 2 of conditional ensembles: split every known group, and extend every split to all objects."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from consilience._check import InputError, check_choice, check_count
from consilience._run.parallel import own_threads, workers
from consilience._run.progress import track
from consilience._run.random import child_seed
from consilience._types import Floats, Labels
from consilience.alternatives.bases import Split, check_base, fit_base, is_random
from consilience.alternatives.data import Centering, Group, NoSplitError, group_means
from consilience.ensemble import Ensemble

KEEP = ("all", "best")


def split_groups(
    X: Any,
    groups: list[Group],
    n_clusters: int,
    *,
    base: Any = "kmeans",
    n_init: int = 10,
    keep: str = "all",
    centering: Centering | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = False,
) -> tuple[Ensemble, dict[tuple[int, int], str]]:
    """Split every group, and extend every split to all objects."""
    from joblib import delayed

    check_base(base)
    check_choice(keep, KEEP, "choice of runs to keep")
    check_count("n_init", n_init)
    runs = range(n_init if is_random(base) else 1)
    units = [(group, [run]) for group in groups for run in runs] if keep == "all" else [(g, runs) for g in groups]

    def one(group: Group, runs: Any) -> tuple[NDArray[np.int32] | None, dict[str, Any]]:
        here = None if centering is None else centering.at(X, group.rows)
        part = X[group.rows] if here is None else here.seen(X, group.rows)
        with own_threads(of="openmp"):  # a setting of this thread alone
            tried = {run: _split(base, part, group, n_clusters, [seed, group.given, group.code, run]) for run in runs}
            made = {run: split for run, split in tried.items() if isinstance(split, Split)}
            about = {"given": group.given, "group": group.code, "name": group.name}
            if not made:
                return None, about | {"reason": next(iter(tried.values()))}
            best = max(made, key=lambda run: made[run].objective)
            return extend(X, made[best], here), about | {"run": best, "objective": made[best].objective}

    # One thread each, so that no sum depends on their number; that of BLAS belongs to the process, so it is set out here.
    with warnings.catch_warnings(), own_threads(of="blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a member of an ensemble need not be the last word
        lazily = workers(n_jobs, lazily=True)
        found = list(track(lazily(delayed(one)(*u) for u in units), len(units), "clustering within groups", progress))
    made = [(labels, about) for labels, about in found if labels is not None]
    failed = [about for labels, about in found if labels is None]
    if not made:
        first = failed[0]
        raise InputError(f"the base clusterer cannot split group {first['name']!r}: {first['reason']}")
    made = [(labels, about) for labels, about in made if len(np.unique(labels[labels >= 0])) > 1]
    if not made:
        raise NoSplitError("the base clusterer found a single cluster in every group, so there is nothing to combine")
    codes, about = np.column_stack([labels for labels, _ in made]), pd.DataFrame([about for _, about in made])
    ens = Ensemble.from_codes(codes, info=about)
    return ens, {(about["given"], about["group"]): about["reason"] for about in failed}


def _split(base: Any, part: Any, group: Group, n_clusters: int, stream: list[int]) -> Split | str:
    """A run of the base, or in words why it refused the group: one group must not take the others with it."""
    state = child_seed(stream[0], "alternatives.splits", *stream[1:]) >> 31
    try:
        return fit_base(base, part, group.rows, n_clusters, state)
    except (TypeError, ValueError) as error:
        if isinstance(error, TypeError) and not sparse.issparse(part):  # how scikit-learn refuses sparse data
            raise
        return " ".join(str(error).split())


def extend(X: Any, split: Split, centering: Centering | None = None) -> Labels:
    """Labels of all rows of X (−1 where the model leaves an object out), with the model's parameters fixed."""
    # An estimator that can `predict` does; one that knows probabilities only takes the likeliest; any other one's clusters take the
    # objects whose nearest mean they have. The group's own objects keep the labels they got.
    centers, names = _centers(X, split, centering)
    out = np.empty(X.shape[0], np.int32)
    if centers is not None:
        out[:] = names[_nearest(X, centers, centering)]
    elif centering is None:
        out[:] = _predict(split.model, X)
    else:
        for some, part in centering.blocks(X, np.arange(X.shape[0])):
            out[some] = _predict(split.model, part)
    out[split.rows] = split.labels
    return np.where(out < 0, -1, out)


def _centers(X: Any, split: Split, centering: Centering | None) -> tuple[Floats | None, NDArray[Any]]:
    """The clusters' means and labels, where assignment goes by them; None where the model has its own way."""
    from sklearn.cluster import KMeans

    if isinstance(split.model, KMeans):
        return split.model.cluster_centers_, np.arange(len(split.model.cluster_centers_))
    if hasattr(split.model, "predict") or hasattr(split.model, "predict_proba"):
        return None, np.empty(0, int)
    known = split.labels >= 0
    names, codes = np.unique(split.labels[known], return_inverse=True)
    rows = split.rows[known]
    part = X[rows] if centering is None else centering.seen(X, rows)
    return group_means(part, codes, len(names)), names


def _predict(model: Any, X: Any) -> NDArray[Any]:
    if hasattr(model, "predict"):
        return np.asarray(model.predict(X))
    return np.asarray(model.predict_proba(X)).argmax(axis=1)


def _nearest(X: Any, centers: Floats, centering: Centering | None) -> NDArray[np.int64]:
    """argmax_c of x·μ_c − |μ_c|²/2, the nearest center; the shift of x is taken up by the centers, so X stays sparse."""
    home = centers.mean(axis=0) if centering is None else centering.home
    moved = centers - home  # about a place among them: far from zero the squares of the centers would lose their digits
    half = (moved**2).sum(axis=1) / 2
    if centering is None:
        return np.asarray(X @ moved.T - (home @ moved.T + half)).argmax(axis=1)
    return np.asarray(X @ moved.T - (centering.means @ moved.T + half)[centering.cells]).argmax(axis=1)
