"""Several groupings at once: the objective against its formula, planted groupings, and what is refused."""

import numpy as np
import pytest
from scipy import sparse

from consilience._check import InputError
from consilience.alternatives import alternatives
from consilience.alternatives.at_once import _start, find_at_once
from consilience.measures import compare_labelings, matched_accuracy


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


def test_what_cannot_be_looked_for_at_once_is_one_sentence():
    X, known = planted(0)
    for options, says in (
        ({"n_clusters": None}, "at_once needs the numbers of clusters"),
        ({"given": known["k2"]}, "given is of groupings found one after another"),
        ({"base": "gaussian"}, "base is of groupings"),
        ({"center": "group"}, "center is of groupings"),
        ({"keep": "best"}, "keep is of groupings"),
        ({"n_clusters": 200}, "need twice as many, and there are 300"),
        ({"at_once": "yes"}, "at_once must be True or False"),
    ):
        with pytest.raises(InputError, match=says):
            alternatives(X, 2, **{"n_clusters": 3, "at_once": True} | options)
    with pytest.raises(InputError, match="needs a dense table"):
        alternatives(sparse.csr_matrix(X), 2, n_clusters=2, at_once=True)
    with pytest.raises(InputError, match="2 groupings at once need a column each"):
        alternatives(X[:, :1], 2, n_clusters=2, at_once=True)
    with pytest.raises(InputError, match="201 columns squared"):
        alternatives(np.random.default_rng(0).normal(size=(50, 201)), 2, n_clusters=2, at_once=True)
