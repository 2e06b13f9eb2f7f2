"""Stages 1 and 2 of conditional ensembles: split every known group, and extend every split to all objects."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from consilience._check import InputError, check_choice, check_count
from consilience._parallel import workers
from consilience._progress import track
from consilience._random import child_seed
from consilience.alternatives.bases import Split, check_base, fit_base, is_random
from consilience.alternatives.data import Centering
from consilience.alternatives.extend_labels import extend
from consilience.alternatives.given import Group, NoSplitError
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
    """Split every group, and extend every split to all objects.

    Parameters
    ----------
    X : (n_objects, n_features) array or CSR matrix
    groups : list of Group
        Those with more than `n_clusters` objects; see :func:`groups_of`.
    n_clusters, base, n_init, keep, n_jobs
        As of :class:`CondEns`.
    centering : Centering, optional
        Objects are seen as if their group's mean were that of the group being split.

    Returns
    -------
    ensemble : Ensemble
        One clustering per group and run; `info` says of which. Splits with a single cluster are left out.
    failed : dict
        By (given, group) why groups that could not be split were not.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.alternatives.given import groups_of
    >>> from consilience.alternatives.splits import split_groups
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> groups = groups_of(cs.Ensemble(given), len(X), "joint")
    >>> split_groups(X, groups, 2, n_init=3)[0].info.columns.tolist()
    ['given', 'group', 'name', 'run', 'objective']
    """
    from joblib import delayed

    check_base(base)
    check_choice(keep, KEEP, "choice of runs to keep")
    check_count("n_init", n_init)
    controller, runs = ThreadpoolController(), range(n_init if is_random(base) else 1)
    units = [(group, [run]) for group in groups for run in runs] if keep == "all" else [(g, runs) for g in groups]

    def one(group: Group, runs: Any) -> tuple[NDArray[np.int32] | None, dict[str, Any]]:
        here = None if centering is None else centering.at(X, group.rows)
        part = X[group.rows] if here is None else here.seen(X, group.rows)
        with controller.limit(limits=1, user_api="openmp"):  # a setting of this thread alone
            tried = {run: _split(base, part, group, n_clusters, [seed, group.given, group.code, run]) for run in runs}
            made = {run: split for run, split in tried.items() if isinstance(split, Split)}
            about = {"given": group.given, "group": group.code, "name": group.name}
            if not made:
                return None, about | {"reason": next(iter(tried.values()))}
            best = max(made, key=lambda run: made[run].objective)
            return extend(X, made[best], here), about | {"run": best, "objective": made[best].objective}

    # One thread each, so that no sum depends on their number; that of BLAS belongs to the process, so it is set out here.
    with warnings.catch_warnings(), controller.limit(limits=1, user_api="blas"):
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
