"""How many clusters a table has: what the data say where halves of the clusterings leave it open."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from consilience import Ensemble
from consilience.consensus.how_many import by_data as choosing

pytestmark = pytest.mark.full_effort

SEGMENT = np.repeat([0, 1, 2], [60, 40, 40])
APART, TOUCHING = np.array([[0.0, 0], [14, 0], [14, 8]]), np.array([[0.0, 0], [14, 0], [14, 2]])


@pytest.mark.parametrize(
    ("centers", "stability", "sem", "chance", "nesting", "expected", "why"),
    [
        (APART, 0.93, 0.01, 0.99, None, 3, "gaps in the data"),
        (APART, 0.7, 0.01, 0.99, None, 2, ""),
        (APART, 0.82, 0.06, 0.99, None, 3, "gaps in the data"),  # a few halves that went wrong
        (APART, 0.7, 0.14, 0.99, None, 2, ""),  # too many
        (TOUCHING, 0.82, 0.06, 0.1, None, 2, ""),  # these tell nothing where no gaps do
        (TOUCHING, 0.93, 0.01, 0.99, None, 2, ""),
        (TOUCHING, 0.93, 0.01, 0.8, None, 3, "farther beyond chance than 2"),
        (TOUCHING, 0.93, 0.01, 0.92, None, 2, ""),
        (TOUCHING, 0.85, 0.01, 0.5, None, 2, ""),
        (TOUCHING, 0.93, 0.01, 0.92, 0.5, 2, ""),  # two are real by their nesting alone: three must be nested too,
        (TOUCHING, 0.93, 0.01, 0.92, 0.96, 3, "farther beyond chance than 2"),
        (TOUCHING, 0.93, 0.01, 0.94, 0.96, 2, ""),  # and more stable than chance
    ],
)
def test_a_finer_number_nearly_as_stable_is_taken_where_its_clusters_have_gaps_or_chance_gives_less(
    monkeypatch: pytest.MonkeyPatch,
    centers: np.ndarray,
    stability: float,
    sem: float,
    chance: float,
    nesting: float | None,
    expected: int,
    why: str,
) -> None:
    """Two clusters are found stable; three, which the data hold, only by most of the halves."""
    noise = np.random.default_rng(0).normal(size=(len(SEGMENT), 4))
    X = noise + np.pad(centers, ((0, 0), (0, 2)))[SEGMENT]
    members = (
        [np.minimum(SEGMENT, 1)] * 5
        + [SEGMENT] * 5
        + [SEGMENT * 2 + (X[:, j % 4] > X[:, j % 4].mean()) for j in range(5)]
    )
    combine = choosing.combine

    def stable_at_two(ensemble: Ensemble, n_clusters: Any, *rest: Any, **options: Any) -> Any:
        found = combine(ensemble, n_clusters, *rest, **options)
        if n_clusters != "auto":
            return found
        two = combine(ensemble, 2, *rest, **options)
        row = {"n_clusters": 2, "from_k": 2, "to_k": 2, "stability": 0.97, "real": True}
        scales = found.scales.iloc[:1].assign(**row)
        curve = pd.DataFrame(
            {"n_clusters": [2, 3], "stability": [0.97, stability], "sem": sem}
            | {"null_high": [0.95 if nesting is None else 0.98, chance], "nesting_high": 0.9}
            | {"nesting": [0.5, 0.5] if nesting is None else [0.95, nesting]}
        )
        each = {"scale_labels": two.labels[:, None], "scale_confidence": two.confidence[:, None]}
        return replace(two, scales=scales, curve=curve, splits=found.splits, **each)

    monkeypatch.setattr(choosing, "combine", stable_at_two)
    found = choosing.combine_with_data(Ensemble(np.stack(members, 1)), X, "auto", "auto", seed=0, n_jobs=1)
    assert found.n_clusters == expected
    said = [phrase for phrase in ("gaps in the data", "farther beyond chance than 2") if phrase in found.note]
    assert said == ([why] if why else [])
    assert found.scales["n_clusters"].iloc[0] == expected


def found(stability: list[float], sem: float, real: bool, scales: list[int]) -> Any:
    k = np.arange(2, 2 + len(stability))
    curve = pd.DataFrame({"n_clusters": k, "stability": stability, "sem": sem})
    return SimpleNamespace(
        curve=curve, scales=curve.set_index("n_clusters").loc[scales].reset_index().assign(real=real)
    )


def test_gaps_do_not_make_a_number_that_halves_do_not_agree_on() -> None:
    some = [4, 3, 2]
    assert choosing._agreed_on(found([0.47, 0.97, 0.87], 0.15, False, [3]), some) == [4, 3]
    assert (
        choosing._agreed_on(found([0.99, 0.7, 0.6], 0.01, False, [2]), some) == some
    )  # fewer are more stable by chance
    assert choosing._agreed_on(found([0.9, 0.97, 0.9], 0.01, False, [3]), some) == some
    assert choosing._agreed_on(found([0.75, 0.94, 0.9], 0.14, False, [3]), some) == [
        4,
        3,
    ]  # halves agree fully or not at all


def test_as_stable_as_any_means_any_scale_that_is_more_than_chance() -> None:
    curve = [1.0, 0.76, 0.996, 0.8, 0.95, 0.95, 0.95]  # a sharp peak at four, and a broad one farther on
    assert choosing._highest(found(curve, 0.01, True, [7, 4, 2]).scales) == 0.996
    assert choosing._highest(found(curve, 0.01, True, [2, 7]).scales) == 1.0
