"""Adjusted mutual information against scikit-learn and against every way to deal the objects out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn import metrics

from consilience import Ensemble, pairwise, stability
from consilience._check import InputError
from consilience.measures import adjusted_mutual_information, compare
from samples import noisy_copies, random_labels

MEANS = {"arithmetic": lambda a, b: (a + b) / 2, "geometric": lambda a, b: np.sqrt(a * b), "max": max, "min": min}
every_mean = pytest.mark.parametrize("mean", MEANS)


def entropy(labels):
    share = np.unique(labels, return_counts=True, axis=0)[1] / len(labels)
    return -np.sum(share * np.log(share))


def information(a, b):
    return entropy(a) + entropy(b) - entropy(np.column_stack([a, b]))


@every_mean
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 2]),
        ([0, 0, 1], [0, 1, 0]),
        ([0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 0]),
        ([0, 0, 0, 0, 1, 1], [0, 1, 1, 1, 1, 2]),
        ([0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0]),
    ],
)
def test_against_all_permutations(mean, a, b):
    a, b = np.array(a), np.array(b)
    chance = np.mean([information(a, b[list(order)]) for order in itertools.permutations(range(len(b)))])
    want = (information(a, b) - chance) / (MEANS[mean](entropy(a), entropy(b)) - chance)
    assert adjusted_mutual_information(a, b, average_method=mean) == pytest.approx(want, abs=1e-12)


@every_mean
def test_equal_to_scikit_learn(mean):
    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 10**6), st.integers(10, 200), st.integers(2, 9), st.integers(2, 9))
    def check(seed, n, k, other):
        a, b = random_labels(seed, n, 2, [k, other]).T
        want = metrics.adjusted_mutual_info_score(a, b, average_method=mean)
        assert adjusted_mutual_information(a, b, average_method=mean) == pytest.approx(want, abs=1e-9)

    check()


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # of which scikit-learn 1.7 warns
def test_all_pairs_equal_to_scikit_learn():
    labels = np.column_stack([noisy_copies(3000, 20, 4, 0.5)[0], random_labels(0, 3000, 4, [2, 30, 300, 2500])])
    matrix = pairwise(Ensemble(labels), "adjusted_mutual_information")
    for i, j in itertools.combinations(range(8), 2):
        want = metrics.adjusted_mutual_info_score(labels[:, i], labels[:, j])
        assert matrix[i, j] == pytest.approx(want, abs=1e-9), (i, j)
    assert_array_equal(matrix, matrix.T)
    assert_array_equal(np.diag(matrix), 1.0)


@every_mean
def test_one_cluster_and_single_objects(mean):
    """Whatever is dealt out, the information is the same: nothing can be said beyond chance, unless they are equal."""
    one, single, three = [0] * 6, list(range(6)), [0, 0, 1, 1, 2, 2]
    for a, b, want in [(one, one, 1), (single, single, 1), (one, single, 0), (one, three, 0), (three, single, 0)]:
        assert adjusted_mutual_information(a, b, average_method=mean) == want
        assert adjusted_mutual_information(b, a, average_method=mean) == want
    assert adjusted_mutual_information([0], [5], average_method=mean) == 1


def test_unrelated_clusterings_score_nothing():
    ens = Ensemble(random_labels(3, 500, 30, np.r_[np.full(15, 3), np.full(15, 60)]))
    found = stability(ens, "adjusted_mutual_information")
    assert abs(found.mean) < 4 * found.sem_jackknife + 1e-3
    assert compare(ens, ["nmi"]).stability["nmi"].mean > 0.1


def test_refuses_an_unknown_mean():
    with pytest.raises(InputError, match="unknown average_method 'mean'"):
        adjusted_mutual_information([0, 1], [0, 1], average_method="mean")
