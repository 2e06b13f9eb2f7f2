"""Sequences of alternatives, and the tests of whether there is anything in one."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import MeanShift

from consilience._check import InputError
from consilience.alternatives import CondEns, alternatives, reproducibility, sequence, significance, surprise
from consilience.alternatives.given import NoSplitError
from consilience.alternatives.sequence import NO_SPLIT
from consilience.datasets import orthogonal_multinomials
from consilience.measures import matched_accuracy, nmi


def crossed(n=600, noise=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, (n, 3))
    return np.hstack([labels * [8.0, 6.0, 4.5], np.zeros((n, noise))]) + rng.normal(size=(n, 3 + noise)), labels


@pytest.mark.parametrize("several", ["joint", "each"])
def test_it_finds_all_there_is_and_stops(several):
    X, labels = crossed()
    found = alternatives(X, 5, n_clusters=2, several=several, n_restarts=3)
    assert len(found) == 3
    assert [matched_accuracy(labels[:, j], found.labels[:, j]) > 0.95 for j in range(3)] == [True] * 3
    assert found.table["kept"].tolist() == [True, True, True, False]
    assert found.stopped.startswith("the next one")
    assert (found.table["redundancy"] < 0.05).all()
    assert repr(found).startswith("Alternatives: 3 groupings")


def test_it_goes_on_from_what_is_given():
    X, labels = crossed()
    found = alternatives(X, 1, n_clusters=2, given=labels[:, :2], n_restarts=3)
    assert matched_accuracy(labels[:, 2], found.labels[:, 0]) > 0.9
    assert found.stopped == "1 were asked for"


def test_numbers_of_clusters_are_found():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 3, 500), rng.integers(0, 2, 500)
    X = np.column_stack([np.eye(3)[one] * 9, other * 5.0]) + rng.normal(size=(500, 4)) * 0.7
    found = alternatives(X, 1, given=other, n_restarts=3)
    assert found.table["n_clusters"].tolist() == [3]
    assert nmi(one, found.labels[:, 0]) > 0.95


@pytest.mark.parametrize("features", [2, 6])
def test_nothing_is_found_in_a_plain_cloud(features):
    kept = [
        len(alternatives(np.random.default_rng(seed).normal(size=(300, features)), 2, n_clusters=2, n_restarts=2))
        for seed in range(5)
    ]
    assert sum(kept) <= 1


def test_each_rule_stops():
    X, labels = crossed()
    by = {"n_clusters": 2, "n_restarts": 2}
    assert "not reproducible" in alternatives(X, 1, min_reproducibility=1.01, **by).stopped
    assert "plain cloud" in alternatives(X, 1, min_surprise=1e6, **by).stopped
    assert "repeats" in alternatives(X, 1, given=labels[:, 0], max_redundancy=0.0, **by).stopped
    small = alternatives(X[:40], 1, given=np.arange(40) // 4, n_clusters=4, n_restarts=2)
    assert small.stopped == "the groups have become too small to split"
    assert len(small) == 0
    assert small.labels.shape == (0, 0)
    assert small.table.empty


def test_counts_go_without_clouds():
    X, given, hidden = orthogonal_multinomials(2, random_state=0)
    found = alternatives(X, 1, n_clusters=2, given=given, base="multinomial", center=None, n_restarts=3)
    assert matched_accuracy(hidden, found.labels[:, 0]) > 0.95
    assert found.table["surprise"].isna().all()


def test_evidence():
    X, labels = crossed()
    model = CondEns(2, center="group", n_restarts=2, random_state=0)
    assert reproducibility(X, labels[:, 0], model) > 0.95
    assert reproducibility(X, labels, model) < 0.5
    assert surprise(X, list(labels[:, :2].T), model) > 3
    assert surprise(X, list(labels.T), model) < 2
    assert np.isnan(surprise(sparse.csr_matrix(X), None, model))
    assert np.isnan(reproducibility(X[:8], np.arange(8) // 4, CondEns(3)))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n": 0}, "n must be"),
        ({"n_clusters": [2, 3]}, "one for each of the 1 alternatives; got 2"),
        ({"n_clusters": 1}, "n_clusters"),
        ({"min_reproducibility": "high"}, "min_reproducibility"),
        ({"min_surprise": None}, "min_surprise"),
        ({"max_redundancy": -1}, "max_redundancy"),
        ({"given": [0, 1]}, "of 2 objects, the data of 600"),
        ({"base": "multinomial", "center": "group"}, "leaves no counts"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number"),
        ({"n_clusters": "two"}, "n_clusters must be a whole number"),
        ({"n_restarts": 0}, "n_restarts"),
    ],
)
def test_bad_input_gets_one_sentence(options, sentence):
    with pytest.raises(InputError, match=sentence):
        alternatives(crossed()[0], **{"n": 1} | options)


def test_evidence_takes_what_users_have():
    X, labels = crossed(300)[:2]
    model = CondEns(2, n_restarts=2, random_state=0)
    one = surprise(X, labels[:, 0], model, n_clouds=2)
    assert one == surprise(X.tolist(), labels[:, :1], model, n_clouds=2)
    assert reproducibility(X.tolist(), labels[:, 0], model) == reproducibility(X, labels[:, :1], model)
    first = np.arange(300) < 150
    apart = np.column_stack([np.where(first, labels[:, 0], -1), np.where(first, -1, labels[:, 0])])
    each = CondEns(2, several="each", n_restarts=2, random_state=0)
    assert np.isnan(surprise(X, apart, each))
    with pytest.raises(InputError, match=r"row 1, column 0 .*missing or infinite"):
        surprise(np.full((4, 2), np.nan), None, model)


def test_a_base_that_finds_nothing_in_clouds():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0]], 60, axis=0) + rng.normal(size=(120, 2)) * 0.3
    model = CondEns(2, base=MeanShift(bandwidth=14.0), random_state=0)
    with pytest.raises(NoSplitError):
        clone(model).fit(X)
    assert alternatives(X, 1, n_clusters=2, base=MeanShift(bandwidth=100.0)).stopped == NO_SPLIT
    finds = CondEns(2, base=MeanShift(bandwidth=7.0), random_state=0)
    assert surprise(X, None, finds, n_clouds=3) > 4


def test_counts_need_no_word_about_centering():
    X, given, hidden = orthogonal_multinomials(2, random_state=0)
    found = alternatives(X, 1, n_clusters=2, given=given, base="multinomial", n_restarts=3)
    assert matched_accuracy(hidden, found.labels[:, 0]) > 0.9


def test_seeds_of_steps():
    seeds = {sequence._seed_of(seed, step) for seed in range(5) for step in range(5)}
    assert len(seeds) == 25
    assert max(seeds) < 2**63
    alternatives(crossed(100)[0], 2, n_clusters=2, n_restarts=1, random_state=2**63 - 1)


def test_clouds_do_not_depend_on_the_signs_of_eigenvectors(monkeypatch):
    X, cells = crossed(100)[0], np.zeros(100, int)
    known, eigh = np.ones(100, bool), np.linalg.eigh
    one = significance._cloud(X, cells, known, np.random.default_rng(0))

    def other(matrix):
        values, vectors = eigh(matrix)
        return values, -vectors * (-1.0) ** np.arange(len(values))

    monkeypatch.setattr(np.linalg, "eigh", other)
    assert np.allclose(one, significance._cloud(X, cells, known, np.random.default_rng(0)))
