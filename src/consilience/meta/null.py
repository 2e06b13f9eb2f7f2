"""Is the best of many groups better than chance? The same group sizes with members shuffled answer it.

The best of g consensus clusterings beats the consensus of all partly because it is the best of g: that much the null has too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_count, check_seed, count
from consilience._run.progress import track
from consilience._run.random import stream
from consilience._types import Floats, Ints
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result
from consilience.measures import accuracy
from consilience.measures.summary import known_labels
from consilience.meta.group_consensus import consensus_labels

Score = Callable[[Any], float]


@dataclass(frozen=True, eq=False)
class Null(Result):
    """The best of the groups, against the best of random groups of the same sizes.

    Attributes
    ----------
    table : DataFrame
        One row per score: ``best`` of the groups, which ``group``, ``null_mean`` and ``null_sd`` of the best of shuffled groups,
        and ``p_value`` = (1 + shuffles that are at least as good) / (1 + shuffles).
    groups : DataFrame
        One row per group, by number: size, and the scores of its consensus (Caruana et al. 2006, Table 2).
    shuffled : DataFrame
        One row per shuffle: the best score among its groups.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> meta = cs.organize(cs.generate(load_beads(), 12, n_clusters=4), 3)
    >>> found = meta.null(load_beads().labels, n_shuffles=2)
    >>> list(found.table.index), list(found.table.columns)
    (['shape', 'color'], ['best', 'group', 'null_mean', 'null_sd', 'p_value'])
    """

    table: pd.DataFrame
    groups: pd.DataFrame = field(repr=False)
    shuffled: pd.DataFrame = field(repr=False)

    def __repr__(self) -> str:
        lines = [
            f"Best of {count(len(self.groups), 'group')}, against {count(len(self.shuffled), 'shuffle')} of their members"
        ]
        for name, row in self.table.iterrows():
            spread = f"{row['null_mean']:.4f} ± {row['null_sd']:.4f}"
            lines.append(
                f"{name}: {row['best']:.4f} (group {row['group']:.0f}); shuffled {spread}, p = {row['p_value']:.3g}"
            )
        return "\n  ".join(lines)


def best_of_groups(
    ensemble: Ensemble,
    distances: Floats,
    groups: Ints,
    scores: Any,
    *,
    n_shuffles: int = 20,
    random_state: Any = 0,
    progress: bool | None = None,
    **how: Any,
) -> Null:
    """Score the consensus of every group, and of groups of the same sizes whose members are shuffled.

    Parameters
    ----------
    ensemble, distances, groups
        As in :class:`MetaClustering`.
    scores : labels, function, DataFrame, or mapping of name to labels or function
        Known labels stand for the accuracy against them (Caruana et al. 2006, Eq. 4); a function takes the labels of a
        consensus and returns a number of which more is better.
    n_shuffles : int
    random_state : int
        Every shuffle draws from its own stream.
    progress : bool, optional
    **how
        As in :meth:`MetaClustering.consensus`; the same for groups and shuffles.

    Returns
    -------
    Null

    Notes
    -----
    Costs as much as `n_shuffles` + 1 times the labels of the consensus of all groups.
    """
    check_count("n_shuffles", n_shuffles)
    seed = check_seed(random_state)
    functions = _score_functions(scores, ensemble)

    def score_groups(assigned: Ints) -> pd.DataFrame:
        rows = []
        for group in range(1, assigned.max() + 1):
            members = np.flatnonzero(assigned == group)
            labels = consensus_labels(ensemble, distances, members, random_state=seed, **how)
            rows.append({"size": len(members)} | {name: score(labels) for name, score in functions.items()})
        return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="group"))

    observed = score_groups(groups)
    best = []
    for shuffle in track(range(n_shuffles), n_shuffles, "null", progress):
        drawn = stream(seed, "meta.null", shuffle).permutation(groups)
        best.append(score_groups(drawn).drop(columns="size").max())
    shuffled = pd.DataFrame(best).reset_index(drop=True)
    table = [_compare(observed[name], shuffled[name]) for name in functions]
    return Null(pd.DataFrame(table, index=pd.Index(list(functions), name="score")), observed, shuffled)


def _compare(observed: pd.Series, shuffled: pd.Series) -> dict[str, Any]:
    best = observed.max()
    return {
        "best": float(best),
        "group": int(observed.idxmax()),
        "null_mean": float(shuffled.mean()),
        "null_sd": float(shuffled.std(ddof=1)) if len(shuffled) > 1 else float("nan"),
        "p_value": (1 + int((shuffled >= best).sum())) / (1 + len(shuffled)),
    }


def _score_functions(scores: Any, ensemble: Ensemble) -> dict[str, Score]:
    """A function of labels for every score, known labels by their accuracy."""
    if scores is None:
        raise InputError("there is no score: give known labels, or functions of labels")
    given = {getattr(scores, "__name__", "score"): scores} if callable(scores) else scores
    functions = {str(name): f for name, f in given.items() if callable(f)} if isinstance(given, Mapping) else {}
    labels = {name: x for name, x in given.items() if not callable(x)} if functions else given
    if not functions and isinstance(given, Mapping) and not given:
        raise InputError("there is no score: give known labels, or functions of labels")
    known = known_labels(labels, ensemble) if len(labels) else {}
    return functions | {name: _accuracy_with(codes) for name, codes in known.items()}


def _accuracy_with(codes: Any) -> Score:
    return lambda labels: accuracy(codes, labels)
