"""What marks groups of objects: the columns on which they differ most from others, with effect sizes and spreads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.explorer.session import Session
from consilience.explorer.spreads import Spreads
from consilience.measures.column_effects import ColumnEffects
from consilience.measures.effect_sizes import Z, effect_sizes

TOP_WORDS = 3  # that name a cluster of documents


def marks(
    session: Session, codes: NDArray[np.int32], clusters: int, top: int, step: Callable[[], None] = lambda: None
) -> list[list[dict[str, Any]]]:
    """For each of the first clusters its columns of the largest |d|: means inside and outside, a 95 % interval of d, the spreads.

    Of counts, d is that of their square roots in rows of length 1, and the means are of the counts themselves. `step` is called on the
    way, and may raise to give up.
    """
    assert session.data is not None
    codes = np.minimum(codes, clusters).astype(np.int32)  # the clusters beyond are only part of the rest
    spreads = Spreads(session.data, codes, clusters)
    step()
    if session.data.in_words:
        return _of_columns(session, codes, clusters, top, spreads)
    inside, outside, d, error = effect_sizes(session.comparable, codes)
    step()
    if session.is_counts:
        inside, outside, _, _ = effect_sizes(session.data.values, codes)
    found = []
    for cluster in range(clusters):
        step()
        found.append(
            [
                {
                    "feature": session.features[i],
                    "column": i,
                    "mean": inside[cluster, i],
                    "rest": outside[cluster, i],
                    **_effect(d[cluster, i], error[cluster, i]),
                    "spread": spreads.of(cluster, i),
                }
                for i in _strongest(d[cluster], top)
            ]
        )
    return found


def top_words(found: list[list[dict[str, Any]]]) -> list[list[str]]:
    """What names each cluster of documents or cells: the columns of which it has most more than others."""
    return [[one["feature"] for one in some if one["d"] > 0][:TOP_WORDS] for some in found]


def _of_columns(
    session: Session, codes: NDArray[np.int32], clusters: int, top: int, spreads: Spreads
) -> list[list[dict[str, Any]]]:
    """The same of the columns as they came, in words."""
    assert session.data is not None
    effects, found = ColumnEffects.of(session.data, codes), []
    for cluster in range(clusters):
        some = []
        for i in _strongest(effects.effect[cluster], top):
            mean, rest = effects.values(cluster, i)
            some.append(
                {
                    "feature": effects.name(i),
                    "column": i,
                    "words": effects.words(cluster, i),
                    "mean": mean,
                    "rest": rest,
                    **_effect(effects.effect[cluster, i], effects.error[cluster, i]),
                    "spread": spreads.of(cluster, i),
                }
            )
        found.append(some)
    return found


def _effect(d: float, error: float) -> dict[str, float]:
    return {"d": d, "low": d - Z * error, "high": d + Z * error}


def _strongest(d: Any, top: int) -> list[int]:
    """The columns of the largest |d|; what varies in no cluster has no size."""
    effect = np.abs(np.nan_to_num(d, posinf=0, neginf=0))
    order: list[int] = np.argsort(-effect, kind="stable")[:top].tolist()
    return [i for i in order if effect[i] > 0]
