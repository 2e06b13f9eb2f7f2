"""Scores of every clustering, against the functions they come from, and the null of the best of g groups."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import davies_bouldin_score, silhouette_score

import consilience as cs
from consilience.datasets import load_beads
from consilience.measures import accuracy, compactness, jaccard
from consilience.measures.pairwise import sample_objects
from consilience.meta import organize, score
from samples import refusals, refuses, three_kinds

ENS, KINDS, TRUTHS = three_kinds(missing=0.1)
X = np.random.default_rng(5).normal(size=(120, 3)) + TRUTHS[0][:, None]


def test_scores_are_those_of_the_functions():
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    known = {"a": TRUTHS[0], "b": np.where(TRUTHS[1] == 0, -1, TRUTHS[1])}
    found = score(ENS, scaled, known=known, measures=["compactness", "accuracy", "silhouette", "davies_bouldin"])
    named = ["compactness", "accuracy:a", "accuracy:b", "silhouette", "davies_bouldin"]
    assert list(found.columns) == ["name", "clusters", *named]
    np.testing.assert_allclose(found["compactness"], compactness(scaled, ENS))
    for column, row in zip(ENS.labels.T, found[named[1:]].to_numpy(), strict=True):
        there = (scaled[column >= 0], column[column >= 0])
        own = (accuracy(known["a"], column), accuracy(known["b"], column))
        assert row.tolist() == pytest.approx([*own, silhouette_score(*there), davies_bouldin_score(*there)])


def test_by_default_what_there_is_data_for():
    assert list(score(ENS, X).columns)[2:] == ["compactness"]
    assert list(score(ENS, known=TRUTHS[0]).columns)[2:] == ["accuracy:known"]
    assert list(score(ENS, X, known=pd.DataFrame({"t": TRUTHS[0]})).columns)[2:] == ["compactness", "accuracy:t"]


def test_distances_and_sparse_data():
    both = ["compactness", "silhouette"]
    plain = score(ENS, X, measures=both, standardize=False)
    given = score(ENS, squareform(pdist(X)), measures=both, metric="precomputed")
    pd.testing.assert_frame_equal(plain, given)
    spread = score(ENS, sparse.csr_matrix(X), measures=[*both, "davies_bouldin"], standardize=False)
    pd.testing.assert_frame_equal(plain, spread[plain.columns])


def test_a_sample_of_the_objects():
    some, again, whole = (score(ENS, X, measures="silhouette", n_sample=n)["silhouette"] for n in (60, 60, 120))
    pd.testing.assert_series_equal(some, again)
    assert 0 < np.abs(some - whole).mean() < 0.1


def test_stability_is_the_mean_agreement_with_variations():
    ens = cs.Ensemble(ENS.labels, info={"shift": np.arange(19)})
    calls = []

    def variations(row, n, *, jitter, random_state):
        calls.append((int(row["shift"]), n, jitter, random_state))
        rng = np.random.default_rng([random_state, int(row["shift"])])
        made = np.repeat(ens.labels[:, [int(row["shift"])]], n, axis=1)
        return cs.Ensemble(np.where(rng.random(made.shape) < jitter, 0, made))

    how = {"measures": ["variation_stability"], "variations": variations}
    found = score(ens, X, n_variations=3, jitter=0.2, **how)["variation_stability"]
    assert calls == [(j, 3, 0.2, 0) for j in range(19)]
    made = variations(ens.info.iloc[4], 3, jitter=0.2, random_state=0)
    assert found[4] == pytest.approx(np.mean([jaccard(ens.labels[:, 4], column) for column in made.labels.T]))
    np.testing.assert_array_equal(score(ens, X, jitter=1e-9, **how)["variation_stability"], 1)


def test_stability_of_generated_clusterings():
    beads = load_beads()
    ens = cs.generate(beads, 12, n_clusters=4)
    name = "variation_stability"
    near, far = (score(ens, beads, measures=[name], jitter=jitter)[name] for jitter in (0.01, 1.0))
    assert near.between(0.6, 1).all()
    assert near.mean() > far.mean() + 0.1
    refuses("info", score, ens.labels, beads, measures=["variation_stability"])


test_bad_input_is_refused = refusals(
    ({}, "nothing to score by"),
    ({"measures": ["compactness"]}, "compactness needs X"),
    ({"X": X, "measures": ["accuracy"]}, "accuracy needs known"),
    ({"X": X, "measures": ["beauty"]}, "unknown measure 'beauty'"),
    ({"X": X, "metric": "precomputed", "measures": ["davies_bouldin"]}, "needs the data itself"),
    ({"X": X, "measures": ["silhouette"], "n_sample": 1}, "n_sample"),
    ({"X": np.zeros((3, 2)), "measures": ["silhouette"]}, "3 rows for 120 objects"),
    ({"X": np.full((120, 2), np.inf), "measures": ["silhouette"]}, "missing or infinite value"),
    ({"known": [1, 2]}, "2 for 120 objects"),
    call=lambda options: score(ENS, **options),
)

test_bad_scores_of_the_null_are_refused = refusals(
    ({"scores": {"a": [1, 2, 3]}}, "'a' are 3 for 120 objects"),
    ({"scores": {}}, "no score"),
    ({"scores": None}, "no score"),
    ({"scores": TRUTHS[0], "n_shuffles": 0}, "n_shuffles"),
    call=lambda options: organize(ENS, 3).null(**options),
)


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


@pytest.fixture(scope="module")
def meta():
    return organize(three_kinds(noise=0.3)[0], 3)


def test_groups_of_a_kind_beat_shuffled_ones(meta):
    scores = dict(zip(("one", "two", "three"), TRUTHS, strict=True))
    found = meta.null(scores, n_shuffles=19, method="evidence", random_state=1)
    assert found.table.index.tolist() == ["one", "two", "three"]
    assert (found.table["best"] > found.table["null_mean"] + 2 * found.table["null_sd"]).sum() >= 2
    assert found.table["p_value"].min() == 1 / 20
    for kind, group in enumerate(found.table["group"]):
        assert KINDS[meta.medoid(group)] == kind


def test_the_table_follows_from_groups_and_shuffles(meta):
    found = meta.null({"a": TRUTHS[0]}, n_shuffles=6)
    assert found.groups["size"].tolist() == meta.sizes.tolist()
    assert found.groups["a"].tolist() == [accuracy(TRUTHS[0], meta.consensus(g).labels) for g in meta.numbers]
    best, shuffled = found.groups["a"].max(), found.shuffled["a"]
    wanted = [best, shuffled.mean(), shuffled.std(), (1 + (shuffled >= best).sum()) / 7]
    assert found.table.loc["a"].drop("group").tolist() == pytest.approx(wanted)


def test_clusterings_of_one_kind_are_no_better_than_shuffled():
    ens, _, truths = three_kinds(sizes=(30, 0, 0), noise=0.4, seed=2)
    found = organize(ens, 5).null(truths[0], n_shuffles=19, random_state=1)
    assert found.table["p_value"].iloc[0] > 0.05


def test_shuffles_have_the_same_sizes_and_all_clusterings(meta, monkeypatch):
    columns, seen = [tuple(column) for column in meta.ensemble.labels.T], []
    assert len(set(columns)) == 19

    def spy(ensemble, n_clusters):
        seen.append(np.array([columns.index(tuple(column)) for column in ensemble.labels.T]))
        return ensemble.labels[:, 0]

    monkeypatch.setattr("consilience.meta.scores.quick_labels", spy)
    meta.null(lambda labels: 0.0, n_shuffles=2)
    for begin in (0, 3, 6):
        assert [len(members) for members in seen[begin : begin + 3]] == [9, 6, 4]
        assert sorted(np.concatenate(seen[begin : begin + 3])) == list(range(19))
    assert any((a[:4] != b[:4]).any() for a, b in zip(seen[3:6], seen[6:9], strict=True))


def test_scores_come_in_many_forms(meta):
    spread = lambda labels: float(len(np.unique(labels)))  # noqa: E731
    by_name = meta.null({"known": TRUTHS[0], "spread": spread}, n_shuffles=2)
    assert set(by_name.table.index) == {"known", "spread"}
    assert meta.null(TRUTHS[0].tolist(), n_shuffles=2).table.index.tolist() == ["known"]
    alone = meta.null(spread, n_shuffles=1).table.iloc[0]
    assert alone["best"] == 4
    assert np.isnan(alone["null_sd"])


def test_the_same_seed_gives_the_same_null(meta):
    one, again, more = (meta.null(TRUTHS[0], n_shuffles=n, random_state=5).shuffled for n in (3, 3, 5))
    pd.testing.assert_frame_equal(one, again)
    pd.testing.assert_frame_equal(one, more.head(3))  # every shuffle has its own stream
    assert not one.equals(meta.null(TRUTHS[0], n_shuffles=3, random_state=6).shuffled)
