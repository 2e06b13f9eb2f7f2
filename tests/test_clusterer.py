"""EnsembleClusterer: what it finds, and that scikit-learn's tools take it for one of theirs; as a model: kept on disk, used in another
process, on new objects, and what it says of those that are strange."""

import json
import pickle
import subprocess
import sys
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.cluster import HDBSCAN, Birch
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import consilience as cs
from consilience import EnsembleClusterer
from consilience.clusterer import DriftWarning, judging
from consilience.clusterer.saving import ClustererModel
from consilience.datasets import customers
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.ensemble.results import Result
from consilience.generation import METHODS, extend
from consilience.measures import adjusted_rand
from samples import refuses


@pytest.fixture(scope="module")
def points():
    return gaussians_8d5k(400, random_state=3)


def quick(n_clusters=5, **options):
    return EnsembleClusterer(n_clusters, **{"n_clusterings": 20, "method": "quadratic", "random_state": 0, **options})


def test_it_is_generate_and_combine(points):
    X, known = points
    model = quick().fit(X)
    assert adjusted_rand(known, model.labels_) > 0.9
    assert adjusted_rand(cs.combine(model.ensemble_, 5, "quadratic").labels, model.labels_) == 1
    np.testing.assert_array_equal(model.labels_, model.consensus_.labels)
    np.testing.assert_array_equal(model.support_, model.consensus_.support)
    np.testing.assert_array_equal(model.confidence_, model.consensus_.confidence)
    assert model.ensemble_.n_clusterings == 20
    assert model.ensemble_.n_clusters.min() >= 5
    assert model.ensemble_.n_clusters.max() <= 20


@pytest.mark.parametrize("methods", METHODS)
def test_the_data_itself_gets_its_own_labels_again(methods, points):
    X, known = points
    model = quick(methods=methods).fit(X[:300])
    rows = model._model.labeler.label(X[:300])
    made = model.ensemble_.labels
    assert (rows == made)[made >= 0].mean() > 0.999  # objects at equal distance from two means may go either way
    assert (model.predict(X[:300]) == model.labels_).mean() > (0.995 if methods != "objects" else 0.97)
    found = model.predict(X[300:])
    assert adjusted_rand(known[300:], found) > {"ward": 0.7, "genie": 0.5}.get(
        methods, 0.85
    )  # cuts of one tree err alike
    shares = model.predict_proba(X[300:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1)[found >= 0], found[found >= 0])
    assert methods == "layers" or found.min() == 0  # what is noise in all layers has no label
    found = model.predict(X[:300])
    np.testing.assert_array_equal(model.predict_proba(X[:300]).argmax(axis=1)[found >= 0], found[found >= 0])
    assert 0.5 < model.score(X[300:]) <= 1


def test_fewer_clusters_than_asked_for_get_a_warning(points, monkeypatch):
    combine = judging.combine_problem
    four = lambda ens, problem, k, *rest, **how: combine(ens, problem.with_clusters(4), 4, *rest, **how)  # noqa: E731
    monkeypatch.setattr(judging, "combine_problem", four)
    with pytest.warns(ConvergenceWarning, match="has 4 clusters, fewer than n_clusters=5: ask for fewer") as told:
        assert quick().fit(points[0]).n_clusters_ == 4
    assert told[0].filename == __file__


@pytest.mark.parametrize("base", [Birch(), HDBSCAN(min_cluster_size=10, copy=True)], ids=["Birch", "HDBSCAN"])
def test_other_clusterers_label_by_the_nearest_object(base, points):
    X, _ = points
    model = quick(base=base, methods="features+objects", n_clusterings=12).fit(X)
    rows, made = model._model.labeler.label(X), model.ensemble_.labels
    whole = (model.ensemble_.info["method"] == "features").to_numpy()
    np.testing.assert_array_equal(rows[:, whole], made[:, whole])
    assert (model.predict(X) == model.labels_).mean() > 0.9
    assert model.predict(X + 0.001).min() >= -1


def test_sparse_data_and_one_column(points):
    X, _ = points
    few = np.where(X > 0.5, X, 0)
    as_sparse, dense = quick(standardize=False).fit(sparse.csr_matrix(few)), quick(standardize=False).fit(few)
    assert adjusted_rand(as_sparse.labels_, dense.labels_) > 0.9
    np.testing.assert_array_equal(as_sparse.predict(sparse.csr_array(few)), as_sparse.labels_)
    assert quick(3, methods="minima").fit(X[:, :1]).n_clusters_ == 3
    assert quick(3).fit(X[:, :1]).n_clusters_ == 3


def test_numbers_of_clusters(points):
    X, _ = points
    one = quick(1).fit(X)
    assert one.labels_.tolist() == [0] * 400
    assert one.score(X) == 1
    assert quick(None).fit(X).n_clusters_ == 6  # the middle of what is drawn from 2 … 20
    assert quick(None, base_n_clusters=4).fit(X).n_clusters_ == 4
    assert quick("auto", n_clusterings=8, base_n_clusters=(4, 6)).fit(X[:80]).n_clusters_ in range(2, 9)
    assert quick("auto", n_clusterings=6, method="auto", base_n_clusters=3).fit(X[:60]).n_clusters_ >= 2
    for wrong, says in (
        (quick(500), "500 clusters need as many objects"),
        (quick(n_clusterings=0), "n_clusterings must be"),
        (quick(methods="minimal"), "did you mean 'minima'"),
        (quick(""), "n_clusters must be a whole number or 'auto'; got ''"),
    ):
        refuses(says, wrong.fit, X[:40])


def test_objects_that_are_all_alike_in_pairs():
    X = np.repeat([[0.0, 1], [5, 5], [9, 0]], 20, axis=0)
    assert quick(None).fit(X).n_clusters_ <= 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quick(3).fit(np.c_[X, np.ones(60)]).n_clusters_ == 3  # a constant column is not worth a warning here


def test_another_seed_is_another_ensemble_and_a_model_keeps_no_data(points):
    one, other = (quick(methods="minima+features", random_state=seed).fit(points[0][:300]) for seed in (0, 1))
    assert (one.ensemble_.labels != other.ensemble_.labels).any()
    assert len(pickle.dumps(one)) < 400_000  # labels and means, not the data


def test_in_a_pipeline_and_a_grid_search(points):
    X, known = points
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    chain = make_pipeline(MinMaxScaler().set_output(transform="pandas"), quick()).fit(frame)
    assert adjusted_rand(known, chain.predict(frame)) > 0.9
    assert chain[-1].feature_names_in_.tolist() == list(frame)
    few = quick(methods="minima", n_clusterings=10)
    grid = GridSearchCV(few, {"n_clusters": [3, 9], "methods": ["minima", "features"]}, cv=2).fit(X)
    assert grid.best_params_["n_clusters"] == 3
    by_known = GridSearchCV(few, {"n_clusters": [3, 5, 9]}, cv=2, scoring="adjusted_rand_score").fit(X, known)
    assert by_known.best_params_ == {"n_clusters": 5}
    assert by_known.predict(X).shape == (400,)


@pytest.mark.parametrize(("n", "columns", "apart"), [(30, 2, 6), (50, 1, 10), (100, 2, 10)])
def test_two_clusters_far_apart_are_found(n, columns, apart):
    truth = np.repeat([0, 1], n)
    X = np.random.default_rng(1).normal(size=(2 * n, columns)) + apart * truth[:, None]
    assert quick(2).fit(X).scales_ is None
    found = EnsembleClusterer(random_state=0).fit(X)
    assert found.doubt_ == ""
    assert adjusted_rand(found.labels_, truth) > 0.95
    assert found.scales_["n_clusters"].iloc[0] == 2
    pd.testing.assert_frame_equal(found.scales_, found.consensus_.scales)


def test_a_cloud_is_in_doubt():
    found = quick("auto").fit(np.random.default_rng(2).normal(size=(300, 5)) * np.r_[5, np.ones(4)])
    assert "too few kinds of clustering" in found.doubt_
    assert found.confidence_.max() <= 0.5
    assert (
        quick(3).fit(np.random.default_rng(2).uniform(size=(300, 2))).doubt_.startswith("no other kind of clustering")
    )


def test_clusters_that_two_kinds_confirm_are_taken_where_none_confirms_the_consensus():
    rng = np.random.default_rng(
        0
    )  # three large clusters beside five small ones, which members rather divide than tell apart
    centers = np.array([[0, 0], [0, 2], [2, 1], [30, -4], [30, 0], [30, 4], [34, -2], [34, 2]], float)
    truth = np.repeat(np.arange(8), [200] * 3 + [10] * 5)
    X = centers[truth] + np.where(truth < 3, 0.25, 0.5)[:, None] * rng.normal(size=(650, 2))
    found, walk = (EnsembleClusterer(8, method=method, random_state=0).fit(X) for method in ("auto", "walk"))
    assert adjusted_rand(found.labels_, truth) > 0.99 > 0.9 > adjusted_rand(walk.labels_, truth)
    assert "both find" in found.note_
    np.testing.assert_array_equal(walk.labels_, cs.combine(walk.ensemble_, 8, "walk").labels)


def test_units_and_seeds_change_nothing(points):
    X, _ = points
    one = quick("auto").fit(X)
    other = quick("auto", random_state=1).fit(X * [1000, 1, 1, 0.001, 1, 1, 1, 1])
    assert one.n_clusters_ == other.n_clusters_ == 5
    assert adjusted_rand(one.labels_, other.labels_) > 0.98


@pytest.mark.parametrize("levels", [[2, 2, 2, 2], [3, 3, 3], [4, 2]])
def test_independent_columns_of_words_are_in_doubt(levels):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"q{j}": rng.choice(list("abcd")[:k], 600) for j, k in enumerate(levels)})
    found = EnsembleClusterer(random_state=0).fit(table)
    assert found.doubt_
    assert found.n_clusters_ < np.prod(levels)
    assert found.confidence_.mean() < 0.8


# --- as a model ---


OTHER_PROCESS = """
import pickle, sys
import numpy as np
from consilience import EnsembleClusterer
folder, pickled, rows = sys.argv[1:]
X = np.load(rows)
for path, model in ((folder, EnsembleClusterer.load(folder)), (pickled, pickle.load(open(pickled, "rb")))):
    found = {"labels": model.predict(X), "shares": model.predict_proba(X), "own": model.labels_}
    np.savez(path + ".npz", **found, outside=model.drift(X).outside)
"""


def named(X):
    return pd.DataFrame(X.copy(), columns=[f"c{i}" for i in range(8)])


@pytest.fixture(scope="module")
def blobs():
    return gaussians_8d5k(600, random_state=3)


@pytest.fixture(scope="module")
def model(blobs):
    return quick(methods="minima+features").fit(named(blobs[0][:400]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_saved_models_and_pickles_say_the_same_in_another_process(model, blobs, tmp_path):
    X = blobs[0][400:]
    model.save(tmp_path / "model")
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "rows.npy", X)
    files = [str(tmp_path / name) for name in ("model", "model.pickle", "rows.npy")]
    subprocess.run([sys.executable, "-W", "ignore", "-c", OTHER_PROCESS, *files], check=True)
    wanted = {"labels": model.predict(X), "shares": model.predict_proba(X), "own": model.labels_}
    for kept in files[:2]:
        with np.load(f"{kept}.npz") as found:
            for name, values in {**wanted, "outside": model.drift(X).outside}.items():
                np.testing.assert_array_equal(found[name], values)
    assert sum(file.stat().st_size for file in (tmp_path / "model").rglob("*")) < 200_000  # no data


@pytest.mark.parametrize(
    "options", [{"methods": "pca+spectral+landmarks"}, {"methods": "objects"}, {"base": Birch()}], ids=str
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_every_kind_of_clustering_survives(options, form, blobs, tmp_path):
    X = form(np.abs(blobs[0][:200]))
    model = quick(3, n_clusterings=6, **options).fit(X)
    model.save(tmp_path / "model")
    loaded = EnsembleClusterer.load(tmp_path / "model")
    new = form(np.abs(blobs[0][200:300]))
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
    one, two = (each.assign(new).to_frame(membership=True) for each in (loaded, model))
    pd.testing.assert_frame_equal(one, two)
    if "base" in options:
        refuses("base must be a scikit-learn clusterer", loaded.fit, X)  # no code was kept
    else:
        assert adjusted_rand(loaded.fit(X).labels_, model.labels_) == 1


def test_what_a_loaded_model_knows(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = EnsembleClusterer.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    for name in ("labels_", "confidence_", "support_", "feature_names_in_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    assert (loaded.n_clusters_, loaded.note_, loaded.scales_) == (5, model.note_, None)
    assert isinstance(Result.load(tmp_path / "model"), ClustererModel)
    again = cs.Ensemble(model.labels_[:, None])
    np.testing.assert_array_equal(Result.load(tmp_path / "model").ensemble.labels, again.labels)
    loaded.save(tmp_path / "again")
    np.testing.assert_array_equal(EnsembleClusterer.load(tmp_path / "again").labels_, model.labels_)
    refuses("exists already", model.save, tmp_path / "model")
    model.save(tmp_path / "model", overwrite=True)


def test_a_fitted_and_a_loaded_clusterer_are_reported_alike(model, blobs, tmp_path):
    pytest.importorskip("matplotlib")
    model.save(tmp_path / "model")
    loaded = EnsembleClusterer.load(tmp_path / "model")
    for name, one in (("fitted", model), ("loaded", loaded)):
        cs.report(one, tmp_path / f"{name}.html", data=blobs[0][:400])
    assert "5 clusters of 400 objects" in (tmp_path / "fitted.html").read_text(encoding="utf-8")
    assert (tmp_path / "fitted.html").read_bytes() == (tmp_path / "loaded.html").read_bytes()
    with pytest.raises(NotFittedError):
        cs.report(quick(), tmp_path / "none.html")
    for name in ("consensus_", "ensemble_"):
        with pytest.raises(AttributeError, match=f"a clusterer that was loaded has no {name}"):
            getattr(loaded, name)
        assert not hasattr(quick(), name)


def test_files_that_are_no_model_are_refused_in_a_sentence(model, tmp_path):
    folder = tmp_path / "model"
    model.save(folder)
    for file in ("arrays.npz", "result.json"):
        whole = (folder / file).read_bytes()
        for part in (whole[: len(whole) // 2], b"", b"x" * 100):
            (folder / file).write_bytes(part)
            refuses(r"model.* is (damaged|not that of a saved result)", EnsembleClusterer.load, folder)
        (folder / file).write_bytes(whole)
    header = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps(header | {"version": 99}))
    refuses("saved in format 99", EnsembleClusterer.load, folder)
    cs.combine([[0, 0, 1], [0, 1, 1], [0, 0, 1]], 2).save(tmp_path / "consensus")
    for name, says in (
        ("nowhere", "there is no folder .*nowhere: check the path"),
        ("odelm", f"there is no folder .*: did you mean '{folder}'"),
        ("consensus", "holds a saved Consensus, not a ClustererModel"),
    ):
        refuses(says, EnsembleClusterer.load, tmp_path / name)


def test_an_assignment_says_all_there_is(model, blobs):
    frame = named(blobs[0][400:])
    found = model.assign(frame)
    np.testing.assert_array_equal(found.labels, model.predict(frame))
    np.testing.assert_array_equal(found.membership, model.predict_proba(frame))
    assert list(found.to_frame()) == ["id", "cluster", "confidence", "support", "outside"]
    assert found.support.mean() == pytest.approx(model.score(frame))
    assert found.confidence.mean() == pytest.approx(model.confidence_.mean(), abs=0.05)
    inside = ~found.drift.outside
    order = np.argsort(found.support[inside])
    assert (np.diff(found.confidence[inside][order]) >= -1e-12).all()
    assert found.sizes.sum() == 200
    assert "200 new objects to 5 clusters" in repr(found)


def test_drift_is_said(model, blobs):
    strange = named(blobs[0][400:])
    strange.loc[:99, "c2"] += 5
    with pytest.warns(DriftWarning, match=r"5\d(\.\d)? % of 200 objects lie outside what was seen"):
        model.predict(strange)
    found = model.drift(strange)
    assert found.large
    assert found.moved == ["c2"]
    assert found.outside[:100].all()
    assert found.outside[100:].mean() < 0.1
    assert "1 of 8 columns moved: c2 (mean" in found.describe()
    assert "cluster again" in found.describe()
    assert found.columns["difference"][0] == pytest.approx(0.5, abs=0.12)
    one = strange.iloc[:1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DriftWarning)
        model.predict(one)  # a lone object may be strange by chance
    assert model.drift(one).outside.tolist() == [True]


def test_many_objects_are_sampled_and_the_others_placed(blobs):
    X, known = gaussians_8d5k(3000, random_state=0)
    model = quick(max_objects=500).fit(X)
    assert model.ensemble_.n_objects == len(model.sample_) == 500
    assert model.labels_.shape == model.confidence_.shape == model.support_.shape == (3000,)
    assert adjusted_rand(known, model.labels_) > 0.9
    np.testing.assert_array_equal(model.labels_[model.sample_], model.consensus_.labels)
    assert "500 of 3,000 objects were clustered" in model.note_
    np.testing.assert_array_equal(quick(max_objects=500).fit(X).labels_, model.labels_)
    assert quick(max_objects=None).fit(X[:600]).sample_ is None
    refuses("max_objects must be", quick(max_objects=1).fit, X)


def test_objects_outside_the_sample_are_judged_as_new_ones_are():
    """Also one that is far from all that was clustered: its confidence is divided by how far."""
    X, _ = gaussians_8d5k(1000, random_state=0)
    sampled = quick(max_objects=300).fit(X)
    far = int(np.setdiff1d(np.arange(1000), sampled.sample_)[0])
    X[far] *= 10
    model = quick(max_objects=300).fit(X)
    np.testing.assert_array_equal(model.sample_, sampled.sample_)
    rest = np.setdiff1d(np.arange(1000), model.sample_)
    found = model.assign(X[rest])
    assert found.drift.outside[0]
    for name in ("labels", "support", "confidence"):
        np.testing.assert_array_equal(getattr(model, f"{name}_")[rest], getattr(found, name))
    assert model.confidence_[far] < 0.5 < found.support[0]


@pytest.mark.slow
def test_blobs_are_counted():
    for k, width, size in ((3, 2, 60), (9, 4, 50)):
        corners = 9.0 * np.random.default_rng(k).permutation(np.array(list(product((0, 1, 2), repeat=width))))[:k]
        X = np.repeat(corners, size, axis=0) + np.random.default_rng(0).normal(size=(size * k, width))
        model = EnsembleClusterer(random_state=0).fit(X)
        assert model.n_clusters_ == k
        assert adjusted_rand(np.repeat(np.arange(k), size), model.labels_) > 0.98


def test_tables_of_every_kind_and_new_rows_of_them(tmp_path):
    frame, segments = customers(500, missing=0.05, random_state=2)
    model = quick(4).fit(frame[:300])
    assert adjusted_rand(segments[:300], model.labels_) > 0.85
    assert model.feature_names_in_.tolist() == [column.name for column in model.encoder_.columns]
    new = frame[300:][frame.columns[::-1]].reset_index(drop=True)
    assert adjusted_rand(segments[300:], model.predict(new)) > 0.85
    found = model.assign(new)
    assert found.ids.tolist() == new["customer_id"].tolist()
    assert found.drift.unseen == {}
    strange = new.copy()
    strange["plan"] = strange["plan"].replace({"pro": "gold"})
    assert model.drift(strange).unseen == {"plan": int((strange["plan"] == "gold").sum())}
    assert "category not seen before, in plan" in model.drift(strange).describe()
    model.save(tmp_path / "model")
    loaded = EnsembleClusterer.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(new), model.predict(new))
    assert loaded.encoder_.describe() == model.encoder_.describe()
    np.testing.assert_array_equal(loaded.predict(cs.tables.read_table(new, kind="data")), model.predict(new))
    refuses("the new table lacks column 'age'", model.predict, new.drop(columns="age"))


def test_missing_numbers_of_an_array(blobs):
    X, known = blobs
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    model = quick().fit(holes[:400])
    assert adjusted_rand(known[:400], model.labels_) > 0.85
    assert adjusted_rand(known[400:], model.predict(holes[400:])) > 0.85
    refuses("infinite", quick().fit, np.where(np.isnan(holes), np.inf, holes))
    whole = quick().fit(X[:400])
    assert whole.encoder_ is None
    assert adjusted_rand(known, whole.predict(holes)) > 0.85  # filled from rows of the data
    sampled = quick(max_objects=200).fit(holes)
    assert adjusted_rand(known, sampled.labels_) > 0.85


def test_a_frame_is_clustered_as_its_file_is(blobs, tmp_path):
    frame = pd.DataFrame(blobs[0][:200, :3], columns=["x", "y", "z"])
    frame.insert(0, "customer_id", np.arange(200)[::-1] * 7 + 1000)
    frame.to_csv(tmp_path / "x.csv", index=False)
    by_file, by_frame = quick(3).fit(tmp_path / "x.csv"), quick(3).fit(frame)
    by_arrow, bare = quick(3).fit(pa.Table.from_pandas(frame)), quick(3).fit(frame[["x", "y", "z"]])
    for model in (by_file, by_frame, by_arrow, bare):
        assert model.feature_names_in_.tolist() == ["x", "y", "z"]
        np.testing.assert_array_equal(model.labels_, by_file.labels_)
        assert ("'customer_id' names the objects" in model.note_) == (model is not bare)
        for new in (frame, frame[["z", "customer_id", "x", "y"]], pa.Table.from_pandas(frame)):
            found = model.assign(new)
            np.testing.assert_array_equal(found.labels, by_file.predict(tmp_path / "x.csv"))
            assert found.ids.tolist() == frame["customer_id"].tolist()
        np.testing.assert_array_equal(model.predict(frame[:1]), model.predict(frame)[:1])
    refuses("same order", bare.predict, frame[["z", "y", "x"]])
    numbers = quick(3).fit(frame.to_numpy())
    assert (numbers.n_features_in_, numbers._ids) == (4, None)  # an array has no names


@pytest.mark.parametrize(
    "options", [{}, {"methods": "minima+features"}, {"standardize": False}, {"base": Birch()}], ids=str
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_numbers_that_overflow_lie_outside(options, form, blobs):
    X = np.abs(blobs[0][:150])
    model = quick(3, n_clusterings=5, **options).fit(form(X))
    for far in (1e5, 1e100, 1e200, 1e300, np.finfo(float).max):
        new = X[:3].copy()
        new[0] = far
        new[1, 2] = -far
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            found = model.assign(form(new))
        assert found.drift.outside.tolist() == [True, True, False]
        assert np.isfinite(found.confidence).all()
        assert np.isfinite(found.membership).all()
        np.testing.assert_array_equal(model.predict(form(new))[2:], model.predict(form(X[2:3])))


def test_rows_that_were_read_before_are_read_as_the_data_was(tmp_path):
    frame, _ = customers(400, missing=0.05, random_state=2)
    frame["since"] = pd.date_range("2024-01-01", periods=400).strftime("%d/%m/%Y")
    model = quick(4).fit(frame[:300])
    new = frame[300:].reset_index(drop=True)
    few = new[(new["plan"] == new["plan"].mode()[0]) & (new["since"].str[:2] < "13")].reset_index(drop=True)
    few.to_csv(tmp_path / "few.csv", index=False)
    expected = model.assign(few)
    tables = [cs.tables.read_table(one, kind="data") for one in (few, tmp_path / "few.csv")]
    assert "plan" not in tables[0].original  # is constant there
    for table in tables:
        found = model.assign(table)
        pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())
        assert found.ids.tolist() == few["customer_id"].tolist()
        some = np.array([5, 2])
        part = model.assign(cs.tables.take_rows(table, some))
        np.testing.assert_array_equal(part.membership, expected.membership[some])
        assert part.ids.tolist() == few["customer_id"][some].tolist()
    lacking = cs.tables.read_table(few.drop(columns="plan"), kind="data")
    refuses("the new table lacks column 'plan'", model.assign, lacking)
    refuses("was read as labels", model.assign, cs.tables.read_table(few[["plan"]], kind="labels"))


def test_whole_numbers_beside_data_with_gaps(blobs):
    holes = pd.DataFrame(blobs[0][:200, :3].copy(), columns=["a", "b", "c"])
    holes.iloc[3, 1] = np.nan
    new = pd.DataFrame(blobs[0][200:230, :3], columns=["a", "b", "c"], index=[f"n{i}" for i in range(30)])
    table = cs.tables.read_table(new, kind="data")
    assert table.encoder is None
    model = quick(3).fit(holes)
    assert model.assign(table).ids.tolist() == new.index.tolist()
    np.testing.assert_array_equal(model.assign(table).labels, model.predict(new))
    ensemble = cs.generate(holes, 5, n_clusters=3, progress=False)
    longer = extend(ensemble, holes, table)
    np.testing.assert_array_equal(longer.labels, extend(ensemble, holes, new).labels)


def test_cells_that_are_missing_make_a_row_less_certain(blobs):
    X, _ = blobs
    holes = X[:400].copy()
    holes[::40, 0] = np.nan
    model = quick().fit(holes)
    new = X[400:430].copy()
    new[:, 1:] = np.nan
    new[0] = np.nan
    found, whole = model.assign(new), model.assign(X[400:430])
    assert found.drift.outside[0]
    assert found.drift.outside[1:].mean() < 0.2
    assert not whole.drift.outside[1:].all()
    assert found.support[1:].mean() < whole.support[1:].mean() - 0.1
    assert found.confidence[1:].mean() < whole.confidence[1:].mean() - 0.1
    assert found.membership[1:].max(axis=1).mean() < whole.membership[1:].max(axis=1).mean() - 0.1
    np.testing.assert_allclose(found.membership.sum(axis=1), 1)
    np.testing.assert_array_equal(found.labels, model.predict_proba(new).argmax(axis=1))
    with pytest.warns(DriftWarning, match="hardly any value"):
        np.testing.assert_array_equal(found.labels, model.predict(new))
    for i in range(4):  # whatever other rows there are
        np.testing.assert_allclose(model.predict_proba(new[[i]])[0], found.membership[i])
    by_hand = [row.copy() for row in holes[~np.isnan(holes).any(axis=1)]]
    nearest = sorted(by_hand, key=lambda row: abs(row[0] - new[5, 0]))[:10]
    for row in nearest:
        row[0] = new[5, 0]
    np.testing.assert_allclose(model.predict_proba(np.array(nearest)).mean(axis=0), found.membership[5])


@pytest.mark.parametrize("numbers", [range(2, 5), np.array([2, 3, 4]), [2, 3, 4], (2, 4)], ids=str)
def test_numbers_of_clusters_of_any_kind_are_saved(numbers, blobs, tmp_path):
    model = quick(3, n_clusterings=5, base_n_clusters=numbers).fit(blobs[0][:100])
    model.save(tmp_path / "model")
    loaded = EnsembleClusterer.load(tmp_path / "model")
    assert loaded.base_n_clusters == (numbers if isinstance(numbers, tuple) else [2, 3, 4])
    np.testing.assert_array_equal(loaded.fit(blobs[0][:100]).labels_, model.labels_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_cells_of_an_anndata(form, blobs):
    anndata = pytest.importorskip("anndata")
    X = np.abs(blobs[0][:150])
    names = {"obs": pd.DataFrame(index=[f"cell{i}" for i in range(150)]), "var": pd.DataFrame(index=list("abcdefgh"))}
    adata = anndata.AnnData(form(X), **names)
    model, plain = quick(3).fit(adata), quick(3).fit(form(X))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = model.assign(adata[:20])
        turned = model.predict(adata[:20, ::-1])
    assert found.ids.tolist() == adata.obs_names[:20].tolist()
    np.testing.assert_array_equal(found.labels, plain.predict(form(X[:20])))
    np.testing.assert_array_equal(turned, found.labels)
