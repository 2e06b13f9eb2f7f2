"""The algorithms that paper 002 compares, by its names, and some of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from consilience._progress import track
from consilience.alternatives import CCIB, CondEns
from consilience.tables import scale

CCIBS = {"dCCIB": "annealing", "seqCCIB": "sequential"}
COMBINE = {"CondEns2": "quadratic", "CondEnsMI": "information"}
BASE = {"EM": "multinomial", "dIB": "annealing", "kmeans": "kmeans"}
STARTS = 3  # of CCIB, the best by its objective: one start takes as long as CondEns with all of its restarts
# Not the paper's: λ = 1 in place of λ chosen; columns centred in every group; for documents tf-idf or square roots, rows of length 1.
HEAVY = "seqCCIB, λ = 1"
CENTRED = "CondEnsMI-kmeans, centred"
EXTRAS = ("CondEnsMI-kmeans, tfidf, centred", "CondEnsMI-kmeans, roots, centred")


@dataclass(frozen=True)
class Answer:
    """Labels, and the seconds of processor time they took."""

    labels: NDArray[Any]
    seconds: float


def answers(
    X: Any, given: Any, n_clusters: int, algorithms: Sequence[str], *, n_restarts: int, seed: int
) -> dict[str, Answer]:
    """What each algorithm finds beside the given grouping."""
    found = {}
    for name in algorithms:
        start = time.process_time()
        algorithm, *ways = name.split(", ")
        scaled = scale(X, ways[0]) if len(ways) == 2 else X
        if algorithm in CCIBS:
            weight = 1.0 if name == HEAVY else "auto"
            how: dict[str, Any] = {
                "weight": weight,
                "search": CCIBS[algorithm],
                "n_restarts": STARTS,
                "restarts": "best",
            }
            model: Any = CCIB(n_clusters, **how, random_state=seed)
        else:
            ensemble, base = algorithm.split("-")
            how = {"base": BASE[base], "combine": COMBINE[ensemble], "centre": "group" if ways else None}
            model = CondEns(n_clusters, **how, n_restarts=n_restarts, random_state=seed)
        labels = model.fit(scaled, given, progress=False).labels_
        found[name] = Answer(labels, time.process_time() - start)
    return found


def run_each(
    rows_of: Callable[..., list[dict[str, Any]]], runs: list[Any], what: str, *, n_jobs: int, progress: bool | None
) -> pd.DataFrame:
    """Rows of independent runs, `rows_of(*run)` each, in their order, on so many processes."""
    lazily = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(rows_of)(*run) for run in runs)
    return pd.DataFrame([row for rows in track(lazily, len(runs), what, progress) for row in rows])
