"""Distances that are scaled to columns, a clusterer of them, and new objects given by their distances to the others."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone

import consilience as cs
from command_line import run
from consilience import EnsembleClusterer
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.generation.methods.mds import closest, embed, place
from consilience.measures import adjusted_rand
from samples import refuses

N = 100  # objects that are clustered; 50 are new


def quick(**options):
    usual = {
        "metric": "precomputed",
        "methods": "minima",
        "n_clusterings": 15,
        "method": "quadratic",
        "random_state": 0,
    }
    return EnsembleClusterer(5, **usual | options)


@pytest.fixture(scope="module")
def frame():
    """Distances of 150 named objects in five clusters, and these."""
    X, known = gaussians_8d5k(150, random_state=0)
    names = [f"p{i:03d}" for i in range(150)]
    return pd.DataFrame(cdist(X, X), index=pd.Index(names, name="protein"), columns=names), known


@pytest.fixture(scope="module")
def model(frame):
    return quick().fit(frame[0].iloc[:N, :N])


def stress_of(columns, D):
    """Eq. 2 of Caruana et al. 2006, pair by pair."""
    i, j = np.triu_indices(len(D), 1)
    made = np.linalg.norm(columns[i] - columns[j], axis=1)
    return (np.square(made - D[i, j]) / D[i, j]).sum() / D[i, j].sum()


def test_euclidean_distances_are_recovered():
    X = np.random.default_rng(0).normal(size=(60, 3))
    D = squareform(pdist(X))
    columns, stress = embed(D, 3)
    np.testing.assert_allclose(cdist(columns, columns), D, atol=1e-3)
    assert stress < 1e-6
    assert (np.diff(columns.var(axis=0)) < 0).all()


def test_the_descent_goes_down_to_a_minimum_of_its_own_formula():
    rng = np.random.default_rng(1)
    D = squareform(np.abs(rng.normal(1, 0.4, 45)) + 0.1)
    columns, stress = embed(D, 2, max_iter=5000, tolerance=1e-13)
    assert stress == pytest.approx(stress_of(columns, D), rel=1e-9)
    assert stress < embed(D, 2, max_iter=3)[1] < embed(D, 2, max_iter=1)[1]
    for _ in range(20):
        assert stress_of(columns + rng.normal(0, 1e-3, columns.shape), D) > stress - 1e-9


def test_equal_objects_do_not_break_the_scaling():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 3, axis=0)
    columns, stress = embed(squareform(pdist(X)), 2)
    assert np.isfinite(columns).all()
    assert stress < 1e-4


def test_new_objects_are_put_where_the_stress_is_least():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    D = cdist(X, X, "cityblock")  # which no three columns have exactly
    columns, _ = embed(D[:50, :50], 3)
    near = closest(D[:50, :50])

    def stress(at, wanted):
        return (np.square(np.linalg.norm(columns - at, axis=1) - wanted) / np.maximum(wanted, near)).sum()

    for at, wanted in zip(place(columns, D[50:, :50], near, tolerance=1e-12), D[50:, :50], strict=True):
        best = minimize(stress, at, args=(wanted,), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
        assert stress(at, wanted) <= best.fun * (1 + 1e-6)
        starts = [minimize(stress, start, args=(wanted,)).fun for start in columns[::7]]
        assert stress(at, wanted) <= np.median(starts) * (1 + 1e-6)
    exact = np.random.default_rng(1).normal(size=(30, 3))
    np.testing.assert_allclose(place(exact, cdist(exact[:5] + 0.1, exact), 1e-3), exact[:5] + 0.1, atol=1e-2)
    twice = np.repeat(exact[:4], 2, axis=0)  # the nearest is at one place with another, and not with the new one
    assert np.isfinite(place(twice, np.ones((1, 8)), 1e-3)).all()
    assert place(exact, np.empty((0, 30)), 1e-3).shape == (0, 3)


def test_distances_are_clustered_and_new_objects_assigned(model, frame, tmp_path):
    D, known = frame
    assert adjusted_rand(model.labels_, known[:N]) > 0.95
    np.testing.assert_array_equal(model.predict(D.iloc[:N, :N]), model.labels_)
    found = model.assign(D.iloc[N:, :N])
    assert adjusted_rand(found.labels, known[N:]) > 0.95
    assert found.ids.tolist() == list(D.index[N:])
    assert not found.drift.large
    assert model.drift(D.iloc[N:, :N] * 9).large
    shares = model.predict_proba(D.iloc[N:, :N].to_numpy())
    np.testing.assert_array_equal(shares.argmax(axis=1), found.labels)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(EnsembleClusterer.load(tmp_path / "model").predict(D.iloc[N:, :N]), found.labels)
    same = clone(model).fit(D.iloc[:N, :N].to_numpy())
    np.testing.assert_array_equal(same.labels_, model.labels_)
    assert model.__sklearn_tags__().input_tags.pairwise


def test_columns_go_by_name_and_those_of_files_without_names_by_order(model, frame, tmp_path):
    D = frame[0].iloc[N:, :N]
    np.testing.assert_array_equal(model.predict(D.iloc[:, ::-1]), model.predict(D.to_numpy()))
    D.reset_index().to_csv(tmp_path / "bare.csv", index=False, header=False)
    table = model.read(tmp_path / "bare.csv", header=False)
    assert table.ids.tolist() == list(D.index)
    np.testing.assert_array_equal(model.predict(table), model.predict(D))


def test_it_is_generate_and_combine(model, frame):
    D = frame[0].iloc[:N, :N]
    runs = cs.generate(D, 15, model.ensemble_.info["n_clusters"].unique().tolist(), "minima", metric="precomputed")
    assert model.ensemble_.info["stress"].iloc[0] == pytest.approx(runs.info["stress"].iloc[0])
    assert model.ensemble_.ids.tolist() == list(D.index)


def test_a_sample_is_scaled_and_the_others_placed(frame):
    D, known = frame
    model = quick(max_objects=90, options={"n_dimensions": 6}).fit(D)
    assert len(model.sample_) == 90
    assert model._places.columns.shape == (90, 6)
    assert adjusted_rand(model.labels_, known) > 0.95
    np.testing.assert_array_equal(model.predict(D), model.labels_)


def test_what_cannot_be_is_one_sentence(model, frame):
    D = frame[0].to_numpy()
    for wrong, says in (
        (D[N:, :7], r"X has 7 features.* distances of every new object to each of the 100 objects"),
        (-D[N:, :N], "distances must not be negative"),
        (frame[0].iloc[N:, 1:N], "no column 'p000'"),
        (cs.tables.read_table(D, kind="data"), "was read as data"),
    ):
        refuses(says, model.predict, wrong)
    for options, wrong, says in (
        ({}, D[:, :7], "must be square"),
        ({}, D + 1, "are these similarities"),
        ({"metric": "graph"}, D, "for a graph, cs.combine"),
        ({"metric": "cosine"}, D, "metric must be 'euclidean' or 'precomputed'"),
        ({"metric": "euclidean", "options": {"n_dimensions": 3}}, D, "n_dimensions.*leave it out"),
    ):
        refuses(says, quick(**options).fit, wrong)


def test_the_command_line_takes_distances(frame, tmp_path):
    D, known = frame
    D.iloc[:N, :N].to_csv(tmp_path / "a.csv")
    D.iloc[N:, :N].to_csv(tmp_path / "b.csv")
    how = ("--distances", "-k", 5, "-n", 10, "--methods", "minima", "--method", "quadratic")
    done = run("cluster", tmp_path / "a.csv", *how, "--save", tmp_path / "m", "--report", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    done = run("assign", tmp_path / "m", tmp_path / "b.csv", "-o", tmp_path / "new.csv")
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "new.csv", index_col="protein")
    assert adjusted_rand(found["cluster"].to_numpy(), known[N:]) > 0.95
