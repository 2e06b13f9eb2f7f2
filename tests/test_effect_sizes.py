"""Effect sizes of columns, against their definition."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from consilience.datasets import load_beads, load_beads_labels
from consilience.measures import distinguishing_columns as features
from consilience.measures import distinguishing_features
from samples import refuses


def plain(X, labels, cluster, column):
    """Cohen's d with pooled standard deviation, by its formula."""
    mine, rest = X[labels == cluster, column], X[(labels != cluster) & (labels >= 0), column]
    pooled = np.sqrt(((mine - mine.mean()) ** 2).sum() + ((rest - rest.mean()) ** 2).sum())
    pooled /= np.sqrt(len(mine) + len(rest) - 2)
    d = (mine.mean() - rest.mean()) / pooled
    half = 1.959964 * np.sqrt(1 / len(mine) + 1 / len(rest) + d**2 / (2 * (len(mine) + len(rest))))
    return d, d - half, d + half, mine.mean(), rest.mean()


@pytest.mark.parametrize("kind", ["dense", "sparse", "far from zero", "in blocks"])
def test_effects_are_those_of_the_formula(kind, monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, 60)
    X = rng.poisson(2, (60, 7)).astype(float) + np.outer(labels == 1, [0, 3, 0, 1, 0, 0, 0])
    if kind == "far from zero":
        X += 1e6
    if kind == "in blocks":
        monkeypatch.setattr(features, "BLOCK", 100)
    names = [f"c{i}" for i in range(7)]
    found = distinguishing_features(sparse.csr_matrix(X) if kind == "sparse" else X, labels, names=names, top=7)
    assert len(found) == 21
    for row in found.itertuples():
        expected = plain(X, labels, row.cluster, names.index(row.feature))
        np.testing.assert_allclose([row.effect, row.low, row.high, row.mean, row.mean_elsewhere], expected, rtol=1e-6)
    for _, part in found.groupby("cluster"):
        assert (np.diff(part["effect"].abs()) <= 1e-12).all()
    assert found[found["cluster"] == 1]["feature"].iloc[0] == "c1"


def test_columns_that_tell_nothing_and_bad_shapes():
    X = np.column_stack([np.ones(6), [0, 0, 0, 5, 5, 5], np.arange(6)])
    found = distinguishing_features(X, [0, 0, 0, 1, 1, 1], top=3)
    assert 0 not in set(found["feature"])  # constant
    assert np.isinf(found["effect"].iloc[0])  # the clusters differ and nothing varies inside them
    alone = distinguishing_features(X, [0] * 6)
    assert alone.empty  # nothing to differ from
    refuses("3 labels for data of shape", distinguishing_features, np.eye(4), [0, 1, 1])


def test_effects_of_sparse_data_and_of_empty_or_constant_ones():
    rng = np.random.default_rng(3)
    values = np.column_stack([rng.poisson(1.0, 50), rng.poisson(3.0, 50), np.full(50, 7)]).astype(float)
    labels = rng.integers(3, size=50).astype(np.int32)
    labels[labels == 2] = 3  # the cluster 2 is empty
    labels[:4] = -1
    dense = features.effect_sizes(values, labels)
    for one, other in zip(dense, features.effect_sizes(sparse.csr_matrix(values), labels), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert np.isnan(dense[2][:, 2]).all()
    assert np.isnan(dense[2][2]).all()


def test_names_are_those_of_the_table_and_labels_those_of_a_result():
    beads = load_beads()
    one = cs.combine(load_beads_labels(), 3, "vote")
    frame = pd.DataFrame(beads.values, columns=beads.columns)
    found = [distinguishing_features(X, y) for X in (beads, frame) for y in (one, one.labels)]
    assert set(found[0]["feature"]) <= set(beads.columns)
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)


def test_data_with_gaps_is_described_as_it_is_clustered():
    """In an array as in a frame: what the clusterer encodes, its features are told of."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:30, 1] += 8
    X[5, 0] = np.nan
    labels = cs.EnsembleClusterer(2, methods="minima", n_clusterings=5, random_state=0).fit(X).labels_
    array, frame = (distinguishing_features(data, labels) for data in (X, pd.DataFrame(X)))
    assert array["effect"].tolist() == frame["effect"].tolist()
    assert array["feature"].astype(str).tolist() == frame["feature"].astype(str).tolist()
    assert str(array["feature"][0]) == "1"
    assert distinguishing_features(X, labels, names=["age", "size", "rate"])["feature"][0] == "size"
    refuses(r"2 names for data of shape \(60, 3\)", distinguishing_features, X, labels, names=["age", "size"])
