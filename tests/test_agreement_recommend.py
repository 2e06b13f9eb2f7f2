"""Popularity lifted by clusters: the formula in plain sums, and what a person gets."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from consilience.agreement import Recommender
from consilience.agreement.recommend import lift_table
from consilience.tables import read_table
from samples import refusals


def r_by_hand(counts, rows, columns, u, m):
    """r(u, m) as the paper prints it."""
    p = counts / counts.sum()
    us, ms = rows == rows[u], columns == columns[m]
    return p[u].sum() * p[:, m].sum() * p[np.ix_(us, ms)].sum() / (p[us].sum() * p[:, ms].sum())


DRAW = np.random.default_rng(0)
COUNTS = DRAW.poisson(0.7, size=(20, 15)) + (np.arange(15) == 0)
ROWS, COLUMNS = DRAW.integers(3, size=(20, 4)), DRAW.integers(4, size=(15, 4))


def test_scores_are_the_paper_s_and_auc_the_share_of_pairs_in_the_right_order():
    who = Recommender().fit(sparse.csr_matrix(COUNTS), ROWS, COLUMNS)
    u, m = np.repeat(np.arange(20), 15), np.tile(np.arange(15), 20)
    found = who.scores(u, m)
    for model in range(4):
        by_hand = [r_by_hand(COUNTS, ROWS[:, model], COLUMNS[:, model], i, j) for i, j in zip(u, m, strict=True)]
        np.testing.assert_allclose(found[:, model], by_hand, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=0), 1)  # r is a distribution
    p = COUNTS / COUNTS.sum()
    np.testing.assert_allclose(who.popularity(u, m), np.outer(p.sum(1), p.sum(0)).ravel())
    who = Recommender().fit(COUNTS, ROWS, COLUMNS)
    rng = np.random.default_rng(1)
    u, m, truth = rng.integers(20, size=60), rng.integers(15, size=60), rng.integers(2, size=60)
    scores = who.scores(u, m)
    for value, s in zip(who.auc(u, m, truth), scores.T, strict=True):
        wins = np.sign(s[truth == 1][:, None] - s[truth == 0][None, :])
        assert value == pytest.approx((wins.mean() + 1) / 2)


def test_clusters_find_what_popularity_cannot():
    """Two tastes, equally popular: held-out pairs of the own taste rank above those of the other."""
    rng = np.random.default_rng(3)
    taste_u, taste_m = np.arange(60) % 2, np.arange(40) % 2
    full = (rng.random((60, 40)) < np.where(taste_u[:, None] == taste_m, 0.7, 0.05)).astype(int)
    held = rng.random(full.shape) < 0.2
    u, m = np.nonzero(held)
    who = Recommender().fit(np.where(held, 0, full), [taste_u], [taste_m])
    assert who.auc(u, m, full[held])[0] > 0.75
    from sklearn.metrics import roc_auc_score

    assert roc_auc_score(full[held], who.popularity(u, m)) < 0.65


def test_recommend_lists_the_best_that_is_not_known():
    names = [f"film {j}" for j in range(15)]
    who = Recommender().fit(COUNTS, ROWS, COLUMNS, row_names=[f"user {i}" for i in range(20)], column_names=names)
    found = who.recommend("user 3", 4)
    unseen = np.flatnonzero(COUNTS[3] == 0)
    mean = who.scores(np.full(len(unseen), 3), unseen).mean(axis=1)
    assert found["column"].tolist() == [names[j] for j in unseen[np.argsort(-mean, kind="stable")][:4]]
    assert found["score"].is_monotonic_decreasing
    base = COUNTS[3].sum() * COUNTS.sum(axis=0) / COUNTS.sum() ** 2
    at = [names.index(c) for c in found["column"]]
    np.testing.assert_allclose(found["score"], found["lift"] * base[at])
    np.testing.assert_allclose(found["popularity"], COUNTS.sum(axis=0)[at] / COUNTS.sum())
    everything = who.recommend("user 3", 100, include_seen=True)
    assert sorted(everything["column"]) == sorted(names)
    assert (everything["sem"] > 0).any()


def test_names_come_from_the_table_and_what_has_no_label_is_ranked_by_popularity():
    frame = pd.DataFrame({"who": ["ann", "bob"], "x": [1, 0], "y": [0, 2]})
    who = Recommender().fit(read_table(frame, kind="counts", id_column="who"), [[0, 1]], [[0, 1]])
    assert who.recommend("ann")["column"].tolist() == ["y"]
    assert who.recommend("ann")["sem"].isna().all()
    counts = np.array([[2, 1, 1], [0, 3, 1]])
    who = Recommender().fit(counts, [[0, -1]], [[0, 1, -1]])
    assert who.scores([1, 0], [0, 2])[:, 0].tolist() == pytest.approx(who.popularity([1, 0], [0, 2]).tolist())
    assert lift_table(counts, np.array([0, 2]), np.array([0, 0, 0]))[1] == 1, "an empty cluster lifts nothing"


def small(**names):
    return Recommender().fit(np.eye(2), [[0, 1]], [[0, 1]], **names)


test_mistakes = refusals(
    (lambda: Recommender().fit(np.zeros((2, 2)), [[0, 1]], [[0, 1]]), "no counts"),
    (lambda: Recommender().fit(np.eye(2), [[0, 1, 1]], [[0, 1]]), "2 rows, and the clusterings of the rows are of 3"),
    (lambda: Recommender().fit(np.eye(2), [[0, 1]] * 2, [[0, 1]]), "2 clusterings of the rows and 1 of the columns"),
    (lambda: small(column_names=["a"]), "column_names must be one per object, 2 in all"),
    (lambda: small().scores([2], [0]), "rows, 0 to 1"),
    (lambda: small().scores([0.5], [0]), "numbers of their rows"),
    (lambda: small().auc([0, 1], [0, 1], [1, 1]), "some of both"),
    (lambda: small().recommend(5), "no single row 5"),
)
