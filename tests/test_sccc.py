"""SCCC against a literal transcription of the paper's steps; stable components and floaters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from consilience import Ensemble, stability
from consilience._check import InputError
from consilience.consensus.methods import sccc as module
from consilience.consensus.methods.sccc import SCCC
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.rows.stable_components import floaters, stable_components
from consilience.datasets import noisy_labels
from consilience.measures import anmi, nmi
from samples import random_labels


def distance(a, b):
    both = [(x, y) for x, y in zip(a, b, strict=True) if x >= 0 and y >= 0]
    return len(a) * sum(x != y for x, y in both) / len(both) if both else len(a)


def by_the_paper(problem, gap):
    """Section 5.3, step by step: seeds and the seed of every row."""
    ranked = sorted(range(problem.n_rows), key=lambda i: -problem.weights[i])
    seeds = []
    for i in ranked:
        if len(seeds) < problem.n_clusters and all(
            distance(problem.labels[i], problem.labels[s]) >= gap - 1e-9 for s in seeds
        ):
            seeds.append(i)
    if len(seeds) < problem.n_clusters:
        return None
    labels = np.empty(problem.n_rows, int)
    for i in range(problem.n_rows):
        far = [round(distance(problem.labels[i], problem.labels[s]), 9) for s in seeds]
        labels[i] = seeds.index(i) if i in seeds else far.index(min(far))
    return seeds, labels


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    r=st.integers(1, 6),
    size=st.integers(2, 4),
    k=st.integers(2, 5),
    holes=st.sampled_from([0.0, 0.0, 0.4]),
)
def test_equal_to_the_paper(seed, n, r, size, k, holes):
    labels = random_labels(seed, n, r, size, holes, labeled=True)
    k = min(k, len(np.unique(labels, axis=0)))
    if k < 2:
        return
    problem = check_problem(labels, k)
    r = problem.n_clusterings
    expected = {g: found for g in range(r + 1) if (found := by_the_paper(problem, g)) is not None}
    for gap in range(r + 1):
        if gap in expected:
            answer = SCCC(gap=gap)._combine(problem)
            assert_array_equal(answer.extras["seeds"], problem.as_given(problem.labels[expected[gap][0]]))
            assert_array_equal(answer.labels, expected[gap][1])
        else:
            with pytest.raises(InputError, match="smaller gap"):
                SCCC(gap=gap)._combine(problem)
    everything = SCCC()._combine(problem)
    low = 0 if (problem.labels < 0).any() else 1
    assert_array_equal(everything.extras["gaps"], [g for g in expected if g >= low])


def test_seeds_found_far_down_the_list(monkeypatch):
    ensemble, _ = noisy_labels(500, 5, 6, 0.5, random_state=0)
    usual = SCCC(5).fit(ensemble)
    for most in (module.DISTANCES, 3):
        monkeypatch.setattr(module, "FIRST", 2)
        monkeypatch.setattr(module, "DISTANCES", most)
        assert_array_equal(SCCC(5).fit(ensemble).labels_by_gap_.labels, usual.labels_by_gap_.labels)


def test_labels_are_those_with_the_highest_anmi():
    ensemble, _ = noisy_labels(noise=0.3, random_state=2)
    found = SCCC(10).fit(ensemble)
    values = [anmi(ensemble, column) for column in found.labels_by_gap_.labels.T]
    assert len(set(np.round(values, 6))) > 1
    assert found.gap_ == found.gaps_[np.argmax(values)]
    assert nmi(found.labels_by_gap_.labels[:, np.argmax(values)], found.labels_) == pytest.approx(1)
    assert_allclose(found.stability_.mean, stability(found.labels_by_gap_).mean)
    assert found.labels_by_gap_.info["gap"].tolist() == found.gaps_.tolist()
    assert found.seeds_.shape == (10, 8)


def test_stable_components():
    labels = [["a", "a", "b", "a", "b", None], [0, 0, 1, 1, 1, 0]]
    table = stable_components(Ensemble(labels, ids=list("uvwxyz")))
    assert table["size"].tolist() == [2, 2, 1, 1]
    assert table["objects"].tolist() == [["u", "v"], ["w", "y"], ["x"], ["z"]]
    assert table["labels"].tolist() == [(0, 0), (1, 1), (0, 1), (-1, 0)]
    assert table["share"].sum() == pytest.approx(1)
    assert len(stable_components(labels, top=1)) == 1
    assert stable_components(np.zeros((9, 1), int))["objects"].tolist() == [[0, 1, 2, 3, 4]]
    with pytest.raises(InputError, match="top"):
        stable_components(labels, top=0)


def test_floaters_are_those_whose_clusterings_do_not_agree():
    ensemble, truth = noisy_labels(300, 3, 9, 0.1, random_state=0)
    labels = np.array(ensemble.labels)
    wander = [7, 8, 9]
    labels[wander] = [[0, 0, 0, 0, 1, 1, 1, 2, 2]] * 3
    labels[10] = -1
    consensus = truth.copy()
    consensus[wander] = 0
    consensus[11] = -1
    table = floaters(labels, consensus)
    assert set(wander) <= set(table["id"])
    assert not {10, 11} & set(table["id"])
    first = table[table["id"] == 7].iloc[0]
    assert (first["cluster"], first["second"], first["labeled"]) == (0, 1, 9)
    assert (first["support"], first["second_support"]) == pytest.approx((4 / 9, 3 / 9))
    assert (np.diff(table["support"]) >= 0).all()
    assert len(floaters(labels, consensus, threshold=1.0)) == 298
    assert set(floaters(labels, consensus, threshold=0.4)["id"]).isdisjoint(wander)


def test_floaters_tell_apart_objects_of_one_row():
    labels = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    table = floaters(Ensemble(labels, ids=list("abcd")), [0, 0, 1, 0])
    assert table["id"].tolist() == ["c"]  # of two objects with labels 1, 1 the larger cluster's keeps them
    with pytest.raises(InputError, match="3 labels for 4 objects"):
        floaters(labels, [0, 0, 1])
    with pytest.raises(InputError, match="no object"):
        floaters(labels, [-1, -1, -1, -1])
