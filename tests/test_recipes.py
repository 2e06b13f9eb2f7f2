"""methods="auto": which recipe a kind of data gets, that it is said, and that the answer is good."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.datasets import customers
from consilience.generation import METHODS
from consilience.generation.recipes import recipe_of, usual_clusters
from consilience.inputs import as_table


def counts():
    rng = np.random.default_rng(0)
    return sparse.csr_matrix(rng.poisson(0.05, size=(80, 300)) * rng.integers(1, 4, size=(80, 300)))


@pytest.mark.parametrize(
    ("data", "how", "methods"),
    [
        (np.zeros((50, 6)), {}, "landmarks"),
        (np.zeros((50, 400)), {}, "metrics"),
        (counts(), {}, "reduced+components"),
        (np.zeros((50, 50)), {"metric": "precomputed"}, "landmarks"),
        (np.zeros((50, 50)), {"metric": "graph"}, "graph"),
        (np.zeros((50, 6)), {"base": object()}, "minima+features"),
    ],
)
def test_each_kind_has_a_recipe(data, how, methods):
    found = recipe_of(data, **how)
    assert found.methods == methods
    assert set(found.methods.split("+")) <= set(METHODS)
    assert "50" in found.words or found.kind in ("counts", "base")


def test_what_was_chosen_is_kept_and_said():
    X = np.random.default_rng(0).normal(size=(60, 4))
    ensemble = cs.generate(X, 3, methods="auto")
    assert set(ensemble.info["method"]) == {"landmarks"}
    assert json.loads(ensemble.info["settings"][0])["recipe"] == "60 objects × 4 columns: landmarks"
    assert ensemble.info["n_clusters"].between(*usual_clusters(60)).all()
    model = cs.EnsembleClusterer(3, random_state=0).fit(X)
    assert "60 objects × 4 columns: landmarks" in model.note_
    assert model.ensemble_.n_clusterings == 30
    assert cs.EnsembleClusterer(3, methods="minima", random_state=0).fit(X).ensemble_.n_clusterings == 100


def test_more_like_one_of_them_and_growing_runs(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 4))
    run = tmp_path / "run"
    first = cs.generate(X, 3, methods="auto", store=run)
    grown = cs.generate(X, 5, methods="auto", store=run)
    np.testing.assert_array_equal(grown.labels[:, :3], first.labels)
    assert cs.generate(X, 2, around=1, store=run, jitter=0.01).n_clusterings == 2


def test_cells_have_a_recipe_by_what_is_known_of_them():
    anndata = pytest.importorskip("anndata")
    counted = recipe_of(as_table(anndata.AnnData(counts().astype(float)), "data"))
    assert (counted.kind, counted.methods) == ("cells", "reduced+components")
    logs = recipe_of(as_table(anndata.AnnData(np.random.default_rng(0).normal(size=(30, 200))), "data"))
    assert (logs.kind, logs.methods) == ("cells", "metrics")
    assert recipe_of(as_table(anndata.AnnData(np.eye(30)[:, :6]), "data")).kind == "columns"


def test_clusterings_on_components_take_the_first_of_them():
    X = counts()
    ensemble = cs.generate(X[:, X.getnnz(axis=0) > 0], 12, (2, 4), "auto", random_state=0)
    assert set(ensemble.info["method"]) == {"reduced", "components"}
    numbers = ensemble.info["n_components"].astype(int)
    assert numbers.between(10, 50).all()
    assert numbers.nunique() > 3
    for weights, number in zip(ensemble.info["weights"], numbers, strict=True):
        assert weights is None or weights == [1] * number + [0] * (len(weights) - number)
    narrow = cs.generate(np.random.default_rng(0).normal(size=(60, 20)), 4, 3, "reduced+components").info
    assert narrow["weights"].isna().all()  # columns have no order, and all of them take part
    assert (narrow["n_components"] == 20).all()


def test_new_counts_are_labeled_through_components():
    rng = np.random.default_rng(0)
    known = np.repeat([0, 1, 2], 60)
    rates = 0.02 + 0.6 * (rng.random((3, 200)) < 0.15)
    X = sparse.csr_matrix(rng.poisson(rates[known])).astype(float)
    model = cs.EnsembleClusterer(3, random_state=0).fit(X)
    assert "reduced+components" in model.note_
    assert adjusted_rand_score(known, model.labels_) == 1
    assert adjusted_rand_score(known, model.predict(sparse.csr_matrix(rng.poisson(rates[known])).astype(float))) == 1


def test_counts_that_are_said_to_be_none():
    table = as_table(counts(), "data")
    assert recipe_of(table).methods == "reduced+components"
    assert recipe_of(replace(table, reading=replace(table.reading, counts=False))).methods == "metrics"


@pytest.mark.parametrize("n", [2, 3, 10, 1000, 10**6])
def test_numbers_of_clusters_fit_the_objects(n):
    for k in (None, 2, 5):
        low, high = usual_clusters(n, k)
        assert 2 <= low <= high <= max(n, 2)
        assert k is None or low == max(2, min(k, n))
    assert usual_clusters(n, search=True) == (2, max(2, min(20, int(np.sqrt(n)))))


def test_the_page_has_every_recipe():
    page = (Path(__file__).parent.parent / "docs" / "bases.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| [^|]+ \| `([\w+]+)` \| [^|]+ \|$", page, re.MULTILINE)
    frame, _ = customers(60, random_state=0)
    graph, base = {"metric": "graph"}, {"base": object()}
    data = [(np.zeros((50, 6)), {}), (np.zeros((50, 400)), {}), (as_table(frame), {}), (counts(), {})]
    data += [(np.zeros((50, 50)), graph), (np.zeros((50, 6)), base)]
    assert told == [recipe_of(X, **how).methods for X, how in data]
