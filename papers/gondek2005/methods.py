"""The algorithms that Gondek and Hofmann 2005 compares, by its names, and some of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from consilience._run.random import child_seed
from consilience.alternatives import CCIB, CondEns
from consilience.consensus import combine
from consilience.ensemble import Ensemble
from consilience.tables import scale

CCIBS = {"dCCIB": "annealing", "seqCCIB": "sequential"}
COMBINE = {"CondEns2": "quadratic", "CondEnsMI": "information"}
BASE = {"EM": "multinomial", "dIB": "annealing", "kmeans": "kmeans"}
STARTS = 3  # of CCIB, the best by its objective: one start takes as long as CondEns with all of its restarts
# Not the paper's: λ = 1 in place of λ chosen; columns centered in every group; for documents tf-idf or square roots, rows of length 1.
HEAVY = "seqCCIB, λ = 1"
CENTRED = "CondEnsMI-kmeans, centered"
EXTRAS = ("CondEnsMI-kmeans, tfidf, centered", "CondEnsMI-kmeans, roots, centered")


@dataclass(frozen=True)
class Answer:
    """Labels, and the seconds of processor time they took."""

    labels: NDArray[Any]
    seconds: float


def answers(
    X: Any, given: Any, n_clusters: int, algorithms: Sequence[str], *, n_restarts: int, seed: int
) -> dict[str, Answer]:
    """What each algorithm finds beside the given grouping; CondEns2 and CondEnsMI combine the same splits."""
    found: dict[str, Answer] = {}
    splits: dict[str, tuple[Ensemble, float]] = {}
    for name in algorithms:
        algorithm, *ways = name.split(", ")
        if algorithm in CCIBS:
            trade_off = 1.0 if name == HEAVY else "auto"
            how: dict[str, Any] = {
                "trade_off": trade_off,
                "search": CCIBS[algorithm],
                "n_init": STARTS,
                "keep": "best",
            }
            found[name] = Answer(
                *_timed(lambda how: CCIB(n_clusters, **how, random_state=seed).fit(X, given).labels_, how)
            )
            continue
        ensemble, split = name.split("-", 1)
        if split not in splits:
            scaled = scale(X, ways[0]) if len(ways) == 2 else X
            how = {"base": BASE[split.split(", ")[0]], "center": "group" if ways else None, "n_init": n_restarts}
            splits[split] = _split(scaled, given, n_clusters, how, seed)
        labels, seconds = _combined(splits[split][0], n_clusters, COMBINE[ensemble], seed)
        found[name] = Answer(labels, splits[split][1] + seconds)
    return found


def _split(X: Any, given: Any, n_clusters: int, how: dict[str, Any], seed: int) -> tuple[Ensemble, float]:
    """The extended splits of all groups, and what they took without the combination."""
    model, seconds = _timed(lambda how: CondEns(n_clusters, **how, random_state=seed).fit(X, given), how)
    return model.ensemble_, seconds - _combined(model.ensemble_, n_clusters, "information", seed)[1]


def _combined(ensemble: Ensemble, n_clusters: int, method: str, seed: int) -> tuple[NDArray[Any], float]:
    own = child_seed(seed, "alternatives.condens")  # as CondEns does
    return _timed(lambda m: combine(ensemble, n_clusters, m, random_state=own, progress=False).labels, method)


def _timed(find: Callable[[Any], Any], how: Any) -> tuple[Any, float]:
    start = time.process_time()
    return find(how), time.process_time() - start
