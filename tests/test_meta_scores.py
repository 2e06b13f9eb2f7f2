"""Scores of every clustering, against the functions they come from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import davies_bouldin_score, silhouette_score

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads
from consilience.measures import accuracy, compactness, jaccard
from consilience.measures.pairwise import sample_objects
from consilience.meta import score
from samples import three_kinds


@pytest.fixture(scope="module")
def case():
    ens, _, truths = three_kinds(missing=0.1)
    X = np.random.default_rng(5).normal(size=(120, 3)) + truths[0][:, None]
    return ens, X, truths


def test_scores_are_those_of_the_functions(case):
    ens, X, truths = case
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    known = {"a": truths[0], "b": np.where(truths[1] == 0, -1, truths[1])}
    found = score(ens, X, known=known, measures=["compactness", "accuracy", "silhouette", "davies_bouldin"])
    named = ["compactness", "accuracy:a", "accuracy:b", "silhouette", "davies_bouldin"]
    assert list(found.columns) == ["name", "clusters", *named]
    np.testing.assert_allclose(found["compactness"], compactness(X, ens))
    for j, column in enumerate(ens.labels.T):
        there = column >= 0
        row = found.iloc[j]
        assert row["accuracy:a"] == pytest.approx(accuracy(known["a"], column))
        assert row["accuracy:b"] == pytest.approx(accuracy(known["b"], column))
        assert row["silhouette"] == pytest.approx(silhouette_score(X[there], column[there]))
        assert row["davies_bouldin"] == pytest.approx(davies_bouldin_score(X[there], column[there]))


def test_by_default_what_there_is_data_for(case):
    ens, X, truths = case
    assert list(score(ens, X).columns)[2:] == ["compactness"]
    assert list(score(ens, known=truths[0]).columns)[2:] == ["accuracy:known"]
    assert list(score(ens, X, known=pd.DataFrame({"t": truths[0]})).columns)[2:] == ["compactness", "accuracy:t"]


def test_distances_and_sparse_data(case):
    ens, X, _ = case
    both = ["compactness", "silhouette"]
    plain = score(ens, X, measures=both, standardize=False)
    given = score(ens, squareform(pdist(X)), measures=both, metric="precomputed")
    pd.testing.assert_frame_equal(plain, given)
    spread = score(ens, sparse.csr_matrix(X), measures=[*both, "davies_bouldin"], standardize=False)
    pd.testing.assert_frame_equal(plain, spread[plain.columns])


def test_a_sample_of_the_objects(case):
    ens, X, _ = case
    some = score(ens, X, measures=["silhouette"], n_sample=60, random_state=3)
    again = score(ens, X, measures="silhouette", n_sample=60, random_state=3)
    pd.testing.assert_frame_equal(some, again)
    whole = score(ens, X, measures=["silhouette"], n_sample=120)["silhouette"]
    assert 0 < np.abs(some["silhouette"] - whole).mean() < 0.1


def test_stability_is_the_mean_agreement_with_variations(case):
    ens, X, _ = case
    ens = cs.Ensemble(ens.labels, info={"shift": np.arange(19)})
    calls = []

    def variations(row, n, *, jitter, random_state):
        calls.append((int(row["shift"]), n, jitter, random_state))
        rng = np.random.default_rng([random_state, int(row["shift"])])
        made = np.repeat(ens.labels[:, [int(row["shift"])]], n, axis=1)
        return cs.Ensemble(np.where(rng.random(made.shape) < jitter, 0, made))

    found = score(ens, X, measures=["variation_stability"], variations=variations, n_variations=3, jitter=0.2)[
        "variation_stability"
    ]
    assert calls == [(j, 3, 0.2, 0) for j in range(19)]
    made = variations(ens.info.iloc[4], 3, jitter=0.2, random_state=0)
    assert found[4] == pytest.approx(np.mean([jaccard(ens.labels[:, 4], column) for column in made.labels.T]))
    still = score(ens, X, measures=["variation_stability"], variations=variations, jitter=1e-9)["variation_stability"]
    np.testing.assert_array_equal(still, 1)


def test_stability_of_generated_clusterings():
    beads = load_beads()
    ens = cs.generate(beads, 12, n_clusters=4)
    near, far = (
        score(ens, beads, measures=["variation_stability"], jitter=jitter)["variation_stability"]
        for jitter in (0.01, 1.0)
    )
    assert near.between(0.6, 1).all()
    assert near.mean() > far.mean() + 0.1
    with pytest.raises(InputError, match="info"):
        score(ens.labels, beads, measures=["variation_stability"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "nothing to score by"),
        ({"measures": ["compactness"]}, "compactness needs X"),
        ({"X": True, "measures": ["accuracy"]}, "accuracy needs known"),
        ({"X": True, "measures": ["beauty"]}, "unknown measure 'beauty'"),
        ({"X": True, "metric": "precomputed", "measures": ["davies_bouldin"]}, "needs the data itself"),
        ({"X": True, "measures": ["silhouette"], "n_sample": 1}, "n_sample"),
        ({"X": np.zeros((3, 2)), "measures": ["silhouette"]}, "3 rows for 120 objects"),
        ({"X": np.full((120, 2), np.inf), "measures": ["silhouette"]}, "missing or infinite value"),
        ({"known": [1, 2]}, "2 for 120 objects"),
    ],
)
def test_bad_input_is_refused(case, options, says):
    ens, X, _ = case
    if options.get("X") is True:
        options = {**options, "X": X}
    with pytest.raises(InputError, match=says):
        score(ens, **options)


def test_scores_are_of_standardized_data_as_generate_has_it():
    beads = load_beads()
    ens = cs.generate(beads, 6, n_clusters=3, progress=False)
    found = score(ens, beads)["compactness"]
    np.testing.assert_allclose(found, ens.info["compactness"], rtol=1e-9)
    raw = score(ens, beads, standardize=False)["compactness"]
    np.testing.assert_allclose(raw, compactness(beads.values, ens))
    assert not np.allclose(found, raw)


@pytest.mark.slow
def test_large_data_is_scored_on_the_one_sample():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(5200, 2)), rng.integers(0, 3, (5200, 2))
    objects = sample_objects(5200)
    assert len(objects) == 2000
    found = score(labels, X, standardize=False)["compactness"]
    np.testing.assert_allclose(found, compactness(X[objects], cs.Ensemble(labels[objects])))
    distances = squareform(pdist(X))
    np.testing.assert_allclose(score(labels, distances, metric="precomputed")["compactness"], found)
    ens = cs.generate(X, 2, n_clusters=3, progress=False)
    np.testing.assert_allclose(score(ens, X)["compactness"], ens.info["compactness"], rtol=1e-9)
