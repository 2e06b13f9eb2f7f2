"""Compactness against a literal double loop, for every kind of data it takes."""

import importlib
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from consilience import Ensemble
from consilience._check import InputError
from consilience.measures import compactness

MODULE = importlib.import_module("consilience.measures.compactness")  # its name is also the function's


def by_hand(X, labels):
    """(1/N) Σ_c N_c · [mean distance of the pairs in c], straight from the formula."""
    total = known = 0
    for cluster in set(labels) - {-1}:
        inside = [x for x, label in zip(X, labels, strict=True) if label == cluster]
        distances = [math.dist(x, y) for i, x in enumerate(inside) for y in inside[i + 1 :]]
        total += len(inside) * (sum(distances) / len(distances) if distances else 0.0)
        known += len(inside)
    return total / known if known else math.nan


def made(seed, n=30, d=3, m=4, k=4, holes=0.2):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.4, 0.0, rng.normal(size=(n, d)))
    return X, np.where(rng.random((n, m)) < holes, -1, rng.integers(0, k, (n, m)))


FORMS = {
    "dense": (lambda X: X, "euclidean"),
    "Fortran order": (np.asfortranarray, "euclidean"),
    "lists": (lambda X: X.tolist(), "euclidean"),
    "DataFrame": (pd.DataFrame, "euclidean"),
    "csr": (sparse.csr_matrix, "euclidean"),
    "csc": (sparse.csc_matrix, "euclidean"),
    "csr array": (sparse.csr_array, "euclidean"),
    "precomputed": (lambda X: cdist(X, X), "precomputed"),
}
every_form = pytest.mark.parametrize(("form", "metric"), FORMS.values(), ids=FORMS)


SHAPES = st.tuples(*(st.integers(1, most) for most in (30, 4, 1, 6)), st.sampled_from([0.0, 0.3, 1.0]))


@every_form
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), shape=SHAPES)
def test_one_clustering(form, metric, seed, shape):
    X, labels = made(seed, *shape)
    got = compactness(form(X), labels[:, 0], metric=metric)
    assert isinstance(got, float)
    assert got == pytest.approx(by_hand(X, labels[:, 0].tolist()), abs=1e-7, nan_ok=True)


@every_form
@pytest.mark.parametrize("block", [1, 7, 100, 2**22])
def test_an_ensemble_is_its_clusterings_one_by_one_in_blocks_of_any_size(monkeypatch, form, metric, block):
    monkeypatch.setattr(MODULE, "BLOCK", block)
    X, labels = made(1)
    got = compactness(form(X), Ensemble(labels), metric=metric)
    assert_allclose(got, [by_hand(X, column) for column in labels.T.tolist()], atol=1e-7)
    assert_allclose(got, [compactness(form(X), column, metric=metric) for column in labels.T], rtol=1e-10)


def test_names_and_order_do_not_matter():
    X, labels = made(2, m=1)
    value = compactness(X, labels[:, 0])
    order = np.random.default_rng(2).permutation(len(X))
    names = [None if x < 0 else "qpsr"[x] for x in labels[:, 0]]
    assert compactness(X[order], labels[order, 0]) == pytest.approx(value)
    assert compactness(X, names) == pytest.approx(value)


def test_single_objects_add_nothing():
    assert compactness([[0.0], [5.0], [9.0]], [0, 1, 2]) == 0
    assert compactness([[0.0], [4.0], [9.0]], [0, 0, 1]) == pytest.approx(2 * 4 / 3)
    assert compactness([[3.0]], [0]) == 0


def test_missing_everywhere_is_nan():
    assert math.isnan(compactness([[0.0], [5.0]], [-1, -1]))
    got = compactness([[0.0], [5.0]], Ensemble([[0, 0], [None, None]]))
    assert got[0] == 5
    assert math.isnan(got[1])


def test_rows_left_out_leave_clusters_empty():
    X, labels = made(3, n=40, k=9)
    part = Ensemble(labels)[:12]
    assert_allclose(compactness(X[:12], part), [by_hand(X[:12], column) for column in part.labels.T.tolist()])


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_do_not_change_a_bit(monkeypatch, n_jobs):
    monkeypatch.setattr(MODULE, "BLOCK", 500)
    X, labels = made(4, n=60, m=9)
    assert_array_equal(compactness(X, Ensemble(labels)), compactness(X, Ensemble(labels), n_jobs=n_jobs))


@pytest.mark.parametrize(
    ("kind", "origin", "error"),
    [(np.int64, 0, 1e-10), (np.uint8, 0, 1e-10), (bool, 0, 1e-10), (np.float32, 0, 1e-10), (float, 1e6, 1e-6)],
)
def test_sparse_data_of_any_type_and_place_is_as_exact_as_dense(kind, origin, error):
    X = (origin + 10 * np.random.default_rng(6).random((40, 3))).astype(kind)
    labels = np.arange(40) % 3
    assert compactness(sparse.csr_matrix(X), labels) == pytest.approx(compactness(X, labels), rel=error)


SQUARE = {"metric": "precomputed"}
REFUSED = {
    "unknown metric": ([[0.0], [1.0]], [0, 1], {"metric": "euclid"}, "euclidean"),
    "other length": ([[0.0], [1.0]], [0, 1, 1], {}, "2 objects and the labels 3"),
    "vector of data": ([0.0, 1.0], [0, 1], {}, "1 dimension"),
    "NaN": ([[0.0], [np.nan]], [0, 1], {}, "row 2, column 0"),
    "NaN in sparse data": (sparse.csr_matrix([[0.0], [np.nan]]), [0, 1], {}, "row 2, column 0"),
    "no square": (np.zeros((2, 3)), [0, 1], SQUARE, "2 rows and 3 columns"),
    "sparse distances": (sparse.eye(3, format="csr"), [0, 0, 1], SQUARE, "full matrix"),
    "negative": ([[0, -1.0], [-1, 0]], [0, 0], SQUARE, "row 1, column 1"),
    "not symmetric": ([[0, 1.0], [2, 0]], [0, 0], SQUARE, "is 1 and 2"),
    "not 0 to itself": ([[0, 1.0], [1, 3]], [0, 0], SQUARE, "is 3, not 0"),
    "table of labels": ([[0.0], [1.0]], np.zeros((2, 2)), {}, "one label per object"),
}


@pytest.mark.parametrize(("X", "labels", "options", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(X, labels, options, words):
    with pytest.raises(InputError, match=words):
        compactness(X, labels, **options)
