"""Sequences of alternatives, and the tests of whether there is anything in one."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import MeanShift

from consilience.alternatives import CondEns, alternatives, reproducibility, z_score
from consilience.alternatives.at_once import _start, find_at_once
from consilience.alternatives.given_groups_and_centering import NoSplitError
from consilience.alternatives.sequence import NO_SPLIT
from consilience.datasets import orthogonal_multinomials
from consilience.ensemble.results import Result
from consilience.measures import compare_labelings, matched_accuracy, nmi
from samples import crossed_groups, first_of, refusals, refuses


def crossed(n=600):
    """Three crossed pairs of groups, the first farthest apart, and columns of noise: all in one unit."""
    return crossed_groups(n, (8.0, 6.0, 4.5), noise=3)


X, LABELS = crossed()


@pytest.mark.parametrize("several", first_of(["joint", "each"]))
def test_it_finds_all_there_is_and_stops(several):
    found = alternatives(X, 5, n_clusters=2, multiple_given=several, n_init=3, standardize=False)
    assert len(found) == 3
    assert [matched_accuracy(LABELS[:, j], found.labels[:, j]) > 0.95 for j in range(3)] == [True] * 3
    assert found.table["kept"].tolist() == [True, True, True, False]
    assert found.stopped.startswith("the next one")
    assert (found.table["redundancy"] < 0.05).all()
    assert repr(found).startswith("Alternatives: 3 groupings")
    assert found.table.index.tolist() == [1, 2, 3, 4]  # one number for each, in every table
    assert found.ensemble.names == list(found.to_frame())[1:] == ["cluster_1", "cluster_2", "cluster_3"]
    assert [line.split()[0] for line in repr(found).splitlines()[1:4]] == ["1", "2", "3"]


def test_it_goes_on_from_what_is_given_and_counts_go_without_null_data():
    found = alternatives(X, 1, n_clusters=2, given=LABELS[:, :2], n_init=3, standardize=False)
    assert matched_accuracy(LABELS[:, 2], found.labels[:, 0]) > 0.9
    assert found.stopped == "1 were asked for"
    counts, given, hidden = orthogonal_multinomials(2, random_state=0)
    found = alternatives(counts, 1, n_clusters=2, given=given, base="multinomial", center=None, n_init=3)
    assert matched_accuracy(hidden, found.labels[:, 0]) > 0.95
    assert found.table["z_score"].isna().all()


@pytest.mark.slow
def test_numbers_of_clusters_are_found():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 3, 500), rng.integers(0, 2, 500)
    X = np.column_stack([np.eye(3)[one] * 9, other * 5.0]) + rng.normal(size=(500, 4)) * 0.7
    found = alternatives(X, 1, given=other, n_init=3)
    assert found.table["n_clusters"].tolist() == [3]
    assert nmi(one, found.labels[:, 0]) > 0.95


@pytest.mark.parametrize("features", first_of([2, 6]))
def test_nothing_is_found_in_a_plain_null_data(features):
    kept = [
        len(alternatives(np.random.default_rng(seed).normal(size=(300, features)), 2, n_clusters=2, n_init=2))
        for seed in range(5)
    ]
    assert sum(kept) <= 1


def test_each_rule_stops():
    by = {"n_clusters": 2, "n_init": 2, "standardize": False}
    assert "not reproducible" in alternatives(X, 1, min_reproducibility=1.01, **by).stopped
    assert "data without clusters" in alternatives(X, 1, min_z_score=1e6, **by).stopped
    assert "repeats" in alternatives(X, 1, given=LABELS[:, 0], max_redundancy=0.0, **by).stopped
    small = alternatives(X[:40], 1, given=np.arange(40) // 4, n_clusters=4, n_init=2)
    assert small.stopped == "the groups have become too small to split"
    assert len(small) == 0
    assert small.labels.shape == (0, 0)
    assert small.table.empty


def test_evidence():
    model = CondEns(2, center="group", n_init=2, random_state=0)
    assert reproducibility(X, LABELS[:, 0], model) > 0.95
    assert reproducibility(X, LABELS, model) < 0.5
    assert z_score(X, list(LABELS[:, :2].T), model) > 3
    assert z_score(X, list(LABELS.T), model) < 2
    assert np.isnan(z_score(sparse.csr_matrix(X), None, model))
    assert np.isnan(reproducibility(X[:8], np.arange(8) // 4, CondEns(3)))
    some, codes = crossed(300)[:2]
    model = CondEns(2, n_init=2, random_state=0)
    one = z_score(some, codes[:, 0], model, n_null=2)
    assert one == z_score(some.tolist(), codes[:, :1], model, n_null=2)
    assert reproducibility(some.tolist(), codes[:, 0], model) == reproducibility(some, codes[:, :1], model)
    first = np.arange(300) < 150
    apart = np.column_stack([np.where(first, codes[:, 0], -1), np.where(first, -1, codes[:, 0])])
    each = CondEns(2, multiple_given="each", n_init=2, random_state=0)
    assert np.isnan(z_score(some, apart, each))
    refuses(r"row 1, column 0 .*missing or infinite", z_score, np.full((4, 2), np.nan), None, model)


test_bad_input_gets_one_sentence = refusals(
    ({"n_clusterings": 0}, "n_clusterings must be"),
    ({"n_clusters": [2, 3]}, "one for each of the 1 alternatives; got 2"),
    ({"n_clusters": 1}, "n_clusters"),
    ({"min_reproducibility": "high"}, "min_reproducibility"),
    ({"min_z_score": None}, "min_z_score"),
    ({"max_redundancy": -1}, "max_redundancy"),
    ({"given": [0, 1]}, "of 2 objects, the data of 600"),
    ({"base": "multinomial", "center": "group"}, "leaves no counts"),
    ({"n_clusters": 2.5}, "n_clusters must be a whole number"),
    ({"n_clusters": "two"}, "n_clusters must be a whole number"),
    ({"n_init": 0}, "n_init"),
    call=lambda options: alternatives(X, **{"n_clusterings": 1} | options),
)


@pytest.mark.slow
def test_a_base_that_finds_nothing_in_null():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0]], 60, axis=0) + rng.normal(size=(120, 2)) * 0.3
    model = CondEns(2, base=MeanShift(bandwidth=14.0), random_state=0)
    with pytest.raises(NoSplitError):
        clone(model).fit(X)
    assert alternatives(X, 1, n_clusters=2, base=MeanShift(bandwidth=100.0)).stopped == NO_SPLIT
    finds = CondEns(2, base=MeanShift(bandwidth=7.0), random_state=0)
    assert z_score(X, None, finds, n_null=3) > 4


def test_records_keep_names_and_tables(tmp_path):
    frame = pd.DataFrame(crossed(200)[0], index=[f"o{i}" for i in range(200)])
    found = alternatives(frame, 1, n_clusters=2, n_init=2, standardize=False)
    found.save(tmp_path / "found")
    again = Result.load(tmp_path / "found")
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
    pd.testing.assert_frame_equal(again.table, found.table)
    assert found.to_frame().columns.tolist() == ["id", "cluster_1"]
    assert found.to_frame()["id"].tolist() == frame.index.tolist() == found.ensemble.ids.tolist()
    assert again.stopped == found.stopped


# --- at once: the objective against its formula, planted groupings --------------------------------------------------------


def planted(seed, sizes=(3, 2), n=300, noise=4, apart=4.0):
    """Independent groupings, each in four columns of its own, and noise; all of it rotated."""
    rng = np.random.default_rng(seed)
    known = {f"k{k}": rng.integers(0, k, n) for k in sizes}
    parts = [apart * np.linalg.qr(rng.normal(size=(4, 4)))[0][labels] for labels in known.values()]
    X = np.column_stack([*parts, np.zeros((n, noise))]) + rng.normal(size=(n, 4 * len(sizes) + noise))
    return X @ np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0], known


def plain_cost(X, found):
    """Squared distances to the means of the clusters in every space, and to the mean of all in that of the noise."""
    cost = 0.0
    for j, basis in enumerate(found.axes):
        points = X @ basis
        codes = found.labels[:, j] if j < found.labels.shape[1] else np.zeros(len(X), int)
        cost += sum(np.square(points[codes == c] - points[codes == c].mean(axis=0)).sum() for c in np.unique(codes))
    return cost


def test_the_cost_is_its_formula_and_falls_with_every_step(monkeypatch):
    X, _ = planted(0)
    found = find_at_once(X, [3, 2], n_init=3)
    assert found.cost == pytest.approx(plain_cost(X, found))
    basis = np.column_stack(found.axes)
    np.testing.assert_allclose(basis.T @ basis, np.eye(X.shape[1]), atol=1e-10)
    centered = X - X.mean(axis=0)
    costs = []
    for steps in range(1, 12):
        monkeypatch.setattr("consilience.alternatives.at_once.STEPS", steps)
        costs.append(_start(centered, [3, 2], np.random.default_rng(1)).cost)
    assert np.all(np.diff(costs) <= 1e-9 * costs[0])
    assert costs[-1] < costs[0]
    assert [axes.shape[1] for axes in found.axes[:2]] == [2, 1]  # k means lie in k − 1 dimensions


def test_equally_strong_groupings_are_found_at_once():
    for seed in range(2):
        X, known = planted(seed, (4, 3, 2))
        found = alternatives(X, 3, n_clusters=[4, 3, 2], at_once=True, n_init=10, standardize=False, random_state=seed)
        assert len(found) == 3
        assert found.stopped == "all were looked for at once"
        assert [matched_accuracy(y, found.labels[:, j]) > 0.95 for j, y in enumerate(known.values())] == [True] * 3
        assert found.score(known).matched > 0.9
        assert (found.table["z_score"] > 2).all()


def test_a_grouping_too_many_is_not_kept():
    X, known = planted(0)
    found = alternatives(X, 3, n_clusters=[3, 2, 3], at_once=True, n_init=10, standardize=False)
    assert found.table["kept"].tolist().count(True) == 2
    assert found.stopped.startswith("1 of 3 looked for at once are not kept: the next one")
    assert found.score(known).matched > 0.9
    kept = [
        len(alternatives(np.random.default_rng(seed).normal(size=(200, 5)), 2, n_clusters=2, at_once=True, n_init=3))
        for seed in range(3)
    ]
    assert sum(kept) <= 1


def test_starts_on_a_sample_and_threads_change_little(monkeypatch):
    X, known = planted(1)
    whole = find_at_once(X, [3, 2], n_init=8)
    np.testing.assert_array_equal(find_at_once(X, [3, 2], n_init=8, n_jobs=2).labels, whole.labels)
    np.testing.assert_array_equal(whole.predict(X), whole.labels)
    shifted = find_at_once(X + 100, [3, 2], n_init=8)
    np.testing.assert_array_equal(shifted.predict(X + 100), shifted.labels)
    monkeypatch.setattr("consilience.alternatives.at_once.SAMPLE", 100)
    sampled = find_at_once(X, [3, 2], n_init=8)
    assert compare_labelings(sampled.labels, known).matched == pytest.approx(
        compare_labelings(whole.labels, known).matched, abs=0.05
    )
    assert sampled.cost == pytest.approx(plain_cost(X, sampled))


test_what_cannot_be_looked_for_at_once_is_one_sentence = refusals(
    ({"n_clusters": None}, "at_once needs the numbers of clusters"),
    ({"given": [0, 1] * 150}, "given is of groupings found one after another"),
    ({"base": "gaussian"}, "base is of groupings"),
    ({"center": "group"}, "center is of groupings"),
    ({"keep": "best"}, "keep is of groupings"),
    ({"n_clusters": 200}, "need twice as many, and there are 300"),
    ({"at_once": "yes"}, "at_once must be True or False"),
    ({"X": sparse.csr_matrix((300, 12))}, "needs a dense table"),
    ({"X": np.zeros((300, 1))}, "2 groupings at once need a column each"),
    ({"X": np.zeros((50, 201)), "standardize": False}, "201 columns squared"),
    call=lambda options: alternatives(
        **{"X": planted(0)[0], "n_clusterings": 2, "n_clusters": 3, "at_once": True} | options
    ),
)
