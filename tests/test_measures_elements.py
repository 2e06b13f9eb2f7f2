"""Element-centric similarity and consistency against the definition by walks, n × n numbers for each clustering."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import oracle
from consilience import Ensemble, pairwise, stability
from consilience._check import InputError
from consilience.measures import element_centric, element_consistency
from consilience.measures import elements as module
from samples import random_labels

quick = settings(max_examples=40, deadline=None)
ensembles = st.builds(
    random_labels,
    st.integers(0, 10**6),
    st.integers(1, 25),
    st.integers(2, 5),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.3, 0.9]),
)


@quick
@given(ensembles, st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_of_every_object(labels, alpha):
    a, b = labels[:, :2].T
    want = oracle.element_scores(a, b, alpha)
    assert_allclose(element_centric(a, b, per_object=True), want, atol=1e-12)
    if not np.isnan(want).all():
        assert element_centric(a, b) == pytest.approx(np.nanmean(want), abs=1e-12)


def test_worked_example():
    """Six objects: {0 1 2 3} {4 5} and {0 1} {2 3 4} {5}."""
    a, b = [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 2]
    assert_allclose(element_centric(a, b, per_object=True), [2 / 4, 2 / 4, 2 / 4, 2 / 4, 1 / 3, 1 / 2])


def test_one_cluster_and_single_objects():
    one, single = [0] * 5, list(range(5))
    assert element_centric(one, one) == element_centric(single, single) == 1
    assert element_centric(one, single) == pytest.approx(1 / 5)
    assert element_centric([0], [3]) == 1
    assert np.isnan(element_centric([-1, 0], [0, -1], per_object=True)).all()


@quick
@given(ensembles)
def test_consistency_is_the_mean_over_pairs(labels):
    scores = [oracle.element_scores(a, b) for a, b in itertools.combinations(labels.T, 2)]
    known = ~np.isnan(scores)
    want = np.where(known.any(axis=0), np.nansum(scores, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)
    assert_allclose(element_consistency(Ensemble(labels)), want, atol=1e-12)


def test_consistency_does_not_depend_on_threads_or_what_is_held(monkeypatch):
    ens = Ensemble(random_labels(1, 300, 21, 7, 0.1))
    found = element_consistency(ens)
    assert_array_equal(found, element_consistency(ens, n_jobs=3))
    monkeypatch.setattr(module, "HELD", 700)
    assert_array_equal(found, element_consistency(ens))


def test_objects_pairs_and_stability_agree():
    ens = Ensemble(random_labels(2, 200, 40, np.r_[np.full(35, 6), np.full(5, 90)]))
    matrix, mean = pairwise(ens, "element_centric"), stability(ens, "element_centric").mean
    assert matrix[np.triu_indices(40, 1)].mean() == pytest.approx(mean)
    assert element_consistency(ens).mean() == pytest.approx(mean, abs=1e-12)


def test_equal_clusterings_are_exactly_1():
    labels = random_labels(3, 490, 1, 49)
    same = Ensemble(np.repeat(labels, 34, axis=1))
    assert_array_equal(pairwise(same, "element_centric"), 1.0)
    assert_array_equal(element_consistency(same), 1.0)


def test_consistency_needs_two_clusterings():
    with pytest.raises(InputError, match="consistency needs at least two clusterings"):
        element_consistency([[0, 1]])
