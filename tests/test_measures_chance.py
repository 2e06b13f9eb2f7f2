"""Adjusted mutual information against scikit-learn and against every way to deal the objects out."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import metrics

from consilience import Ensemble, pairwise, stability
from consilience.measures import adjusted_mutual_information, compare
from samples import noisy_copies, random_labels


def entropy(labels):
    share = np.unique(labels, return_counts=True, axis=0)[1] / len(labels)
    return -np.sum(share * np.log(share))


def information(a, b):
    return entropy(a) + entropy(b) - entropy(np.column_stack([a, b]))


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
def test_against_all_permutations(a, b):
    a, b = np.array(a), np.array(b)
    chance = np.mean([information(a, b[list(order)]) for order in itertools.permutations(range(len(b)))])
    want = (information(a, b) - chance) / ((entropy(a) + entropy(b)) / 2 - chance)
    assert adjusted_mutual_information(a, b) == pytest.approx(want, abs=1e-12)


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # of which scikit-learn 1.7 warns
def test_all_pairs_equal_to_scikit_learn():
    labels = np.column_stack([noisy_copies(3000, 20, 4, 0.5)[0], random_labels(0, 3000, 4, [2, 30, 300, 2500])])
    matrix = pairwise(Ensemble(labels), "adjusted_mutual_information")
    for i, j in itertools.combinations(range(8), 2):
        want = metrics.adjusted_mutual_info_score(labels[:, i], labels[:, j])
        assert matrix[i, j] == pytest.approx(want, abs=1e-9), (i, j)
    assert_array_equal(matrix, matrix.T)
    assert_array_equal(np.diag(matrix), 1.0)


def test_one_cluster_and_single_objects():
    """Whatever is dealt out, the information is the same: nothing can be said beyond chance, unless they are equal."""
    one, single, three = [0] * 6, list(range(6)), [0, 0, 1, 1, 2, 2]
    for a, b, want in [(one, one, 1), (single, single, 1), (one, single, 0), (one, three, 0), (three, single, 0)]:
        assert adjusted_mutual_information(a, b) == want
        assert adjusted_mutual_information(b, a) == want
    assert adjusted_mutual_information([0], [5]) == 1


def test_unrelated_clusterings_score_nothing():
    ens = Ensemble(random_labels(3, 500, 30, np.r_[np.full(15, 3), np.full(15, 60)]))
    found = stability(ens, "adjusted_mutual_information")
    assert abs(found.mean) < 4 * found.sem_jackknife + 1e-3
    assert compare(ens, ["nmi"]).stability["nmi"].mean > 0.1
