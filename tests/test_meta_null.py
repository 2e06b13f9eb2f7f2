"""The null of the best of g groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from consilience._check import InputError
from consilience.measures import accuracy
from consilience.meta import organize
from samples import three_kinds


@pytest.fixture(scope="module")
def organized():
    ens, kinds, truths = three_kinds(noise=0.3)
    return organize(ens, 3), kinds, truths


def test_groups_of_a_kind_beat_shuffled_ones(organized):
    meta, kinds, truths = organized
    scores = {"one": truths[0], "two": truths[1], "three": truths[2]}
    found = meta.null(scores, n_shuffles=19, method="evidence", random_state=1)
    assert found.table.index.tolist() == ["one", "two", "three"]
    assert (found.table["best"] > found.table["null_mean"] + 2 * found.table["null_sd"]).sum() >= 2
    assert found.table["p_value"].min() == 1 / 20
    for kind, group in enumerate(found.table["group"]):
        assert kinds[meta.medoid(group)] == kind


def test_the_table_follows_from_groups_and_shuffles(organized):
    meta, _, truths = organized
    found = meta.null({"a": truths[0]}, n_shuffles=6)
    assert found.groups["size"].tolist() == meta.sizes.tolist()
    assert found.groups["a"].tolist() == [accuracy(truths[0], meta.consensus(g).labels) for g in meta.numbers]
    row = found.table.loc["a"]
    assert row["best"] == found.groups["a"].max()
    assert row["null_mean"] == pytest.approx(found.shuffled["a"].mean())
    assert row["null_sd"] == pytest.approx(found.shuffled["a"].std())
    assert row["p_value"] == (1 + (found.shuffled["a"] >= row["best"]).sum()) / 7


def test_clusterings_of_one_kind_are_no_better_than_shuffled():
    ens, _, truths = three_kinds(sizes=(30, 0, 0), noise=0.4, seed=2)
    found = organize(ens, 5).null(truths[0], n_shuffles=19, random_state=1)
    assert found.table["p_value"].iloc[0] > 0.05


def test_shuffles_have_the_same_sizes_and_all_clusterings(organized, monkeypatch):
    meta, _, _ = organized
    from consilience.meta import scores as null

    columns, seen, real = [tuple(column) for column in meta.ensemble.labels.T], [], null.quick_labels
    assert len(set(columns)) == 19

    def spy(ensemble, n_clusters):
        seen.append(np.array([columns.index(tuple(column)) for column in ensemble.labels.T]))
        return real(ensemble, n_clusters)

    monkeypatch.setattr(null, "quick_labels", spy)
    meta.null(lambda labels: 0.0, n_shuffles=2)
    for begin in (0, 3, 6):
        assert [len(members) for members in seen[begin : begin + 3]] == [9, 6, 4]
        assert sorted(np.concatenate(seen[begin : begin + 3])) == list(range(19))
    assert any((a[:4] != b[:4]).any() for a, b in zip(seen[3:6], seen[6:9], strict=True))


def test_scores_come_in_many_forms(organized):
    meta, _, truths = organized
    spread = lambda labels: float(len(np.unique(labels)))  # noqa: E731
    by_name = meta.null({"known": truths[0], "spread": spread}, n_shuffles=2)
    assert set(by_name.table.index) == {"known", "spread"}
    assert meta.null(truths[0].tolist(), n_shuffles=2).table.index.tolist() == ["known"]
    alone = meta.null(spread, n_shuffles=1).table.iloc[0]
    assert alone["best"] == 4
    assert np.isnan(alone["null_sd"])


def test_the_same_seed_gives_the_same_null(organized):
    meta, _, truths = organized
    one, again, more = (meta.null(truths[0], n_shuffles=n, random_state=5).shuffled for n in (3, 3, 5))
    pd.testing.assert_frame_equal(one, again)
    pd.testing.assert_frame_equal(one, more.head(3))  # every shuffle has its own stream
    assert not one.equals(meta.null(truths[0], n_shuffles=3, random_state=6).shuffled)


def test_bad_scores_are_refused(organized):
    meta, _, truths = organized
    with pytest.raises(InputError, match="'a' are 3 for 120 objects"):
        meta.null({"a": [1, 2, 3]})
    with pytest.raises(InputError, match="n_shuffles"):
        meta.null(truths[0], n_shuffles=0)
    for nothing in ({}, None):
        with pytest.raises(InputError, match="no score"):
            meta.null(nothing)
