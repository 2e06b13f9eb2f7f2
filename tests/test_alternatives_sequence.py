"""Sequences of alternatives, and the tests of whether there is anything in one."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import MeanShift

from consilience._check import InputError
from consilience.alternatives import CondEns, alternatives, reproducibility, z_score
from consilience.alternatives.data import NoSplitError
from consilience.alternatives.sequence import NO_SPLIT
from consilience.datasets import orthogonal_multinomials
from consilience.ensemble.results import Result
from consilience.measures import matched_accuracy, nmi
from samples import crossed_groups, first_of


def crossed(n=600):
    """Three crossed pairs of groups, the first farthest apart, and columns of noise: all in one unit."""
    return crossed_groups(n, (8.0, 6.0, 4.5), noise=3)


@pytest.mark.parametrize("several", first_of(["joint", "each"]))
def test_it_finds_all_there_is_and_stops(several):
    X, labels = crossed()
    found = alternatives(X, 5, n_clusters=2, multiple_given=several, n_init=3, standardize=False)
    assert len(found) == 3
    assert [matched_accuracy(labels[:, j], found.labels[:, j]) > 0.95 for j in range(3)] == [True] * 3
    assert found.table["kept"].tolist() == [True, True, True, False]
    assert found.stopped.startswith("the next one")
    assert (found.table["redundancy"] < 0.05).all()
    assert repr(found).startswith("Alternatives: 3 groupings")
    assert found.table.index.tolist() == [1, 2, 3, 4]  # one number for each, in every table
    assert found.ensemble.names == list(found.to_frame())[1:] == ["cluster_1", "cluster_2", "cluster_3"]
    assert [line.split()[0] for line in repr(found).splitlines()[1:4]] == ["1", "2", "3"]


def test_it_goes_on_from_what_is_given():
    X, labels = crossed()
    found = alternatives(X, 1, n_clusters=2, given=labels[:, :2], n_init=3, standardize=False)
    assert matched_accuracy(labels[:, 2], found.labels[:, 0]) > 0.9
    assert found.stopped == "1 were asked for"


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
    X, labels = crossed()
    by = {"n_clusters": 2, "n_init": 2, "standardize": False}
    assert "not reproducible" in alternatives(X, 1, min_reproducibility=1.01, **by).stopped
    assert "data without clusters" in alternatives(X, 1, min_z_score=1e6, **by).stopped
    assert "repeats" in alternatives(X, 1, given=labels[:, 0], max_redundancy=0.0, **by).stopped
    small = alternatives(X[:40], 1, given=np.arange(40) // 4, n_clusters=4, n_init=2)
    assert small.stopped == "the groups have become too small to split"
    assert len(small) == 0
    assert small.labels.shape == (0, 0)
    assert small.table.empty


def test_counts_go_without_null_data():
    X, given, hidden = orthogonal_multinomials(2, random_state=0)
    found = alternatives(X, 1, n_clusters=2, given=given, base="multinomial", center=None, n_init=3)
    assert matched_accuracy(hidden, found.labels[:, 0]) > 0.95
    assert found.table["z_score"].isna().all()


def test_evidence():
    X, labels = crossed()
    model = CondEns(2, center="group", n_init=2, random_state=0)
    assert reproducibility(X, labels[:, 0], model) > 0.95
    assert reproducibility(X, labels, model) < 0.5
    assert z_score(X, list(labels[:, :2].T), model) > 3
    assert z_score(X, list(labels.T), model) < 2
    assert np.isnan(z_score(sparse.csr_matrix(X), None, model))
    assert np.isnan(reproducibility(X[:8], np.arange(8) // 4, CondEns(3)))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
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
    ],
)
def test_bad_input_gets_one_sentence(options, sentence):
    with pytest.raises(InputError, match=sentence):
        alternatives(crossed()[0], **{"n_clusterings": 1} | options)


def test_evidence_takes_what_users_have():
    X, labels = crossed(300)[:2]
    model = CondEns(2, n_init=2, random_state=0)
    one = z_score(X, labels[:, 0], model, n_null=2)
    assert one == z_score(X.tolist(), labels[:, :1], model, n_null=2)
    assert reproducibility(X.tolist(), labels[:, 0], model) == reproducibility(X, labels[:, :1], model)
    first = np.arange(300) < 150
    apart = np.column_stack([np.where(first, labels[:, 0], -1), np.where(first, -1, labels[:, 0])])
    each = CondEns(2, multiple_given="each", n_init=2, random_state=0)
    assert np.isnan(z_score(X, apart, each))
    with pytest.raises(InputError, match=r"row 1, column 0 .*missing or infinite"):
        z_score(np.full((4, 2), np.nan), None, model)


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


def test_records_are_saved_and_opened(tmp_path):
    X, _ = crossed(200)
    frame = pd.DataFrame(X, index=[f"o{i}" for i in range(200)])
    found = alternatives(frame, 1, n_clusters=2, n_init=2, standardize=False)
    found.save(tmp_path / "found")
    again = Result.load(tmp_path / "found")
    assert isinstance(again, type(found))
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
    pd.testing.assert_frame_equal(again.table, found.table)
    assert found.to_frame().columns.tolist() == ["id", "cluster_1"]
    assert found.to_frame()["id"].tolist() == frame.index.tolist() == found.ensemble.ids.tolist()
    assert (repr(again), again.stopped) == (repr(found), found.stopped)
