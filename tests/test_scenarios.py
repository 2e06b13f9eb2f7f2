"""Labels and data made to a known truth: sizes, noise and seeds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from consilience._check import InputError
from consilience.datasets import noisy_labels
from consilience.datasets.scenarios import _cluster_sizes, gaussians_8d5k


def test_noise_replaces_exactly_its_share():
    ensemble, truth = noisy_labels(10_000, 10, 4, 0.3, random_state=0)
    assert_array_equal(np.bincount(truth), [1000] * 10)
    changed = (ensemble.labels != truth[:, None]).mean(axis=0)
    assert_allclose(changed, 0.27, atol=0.01)  # a tenth of the new labels are the old ones
    assert (changed <= 0.3).all()
    assert ensemble.info["noise"].tolist() == [0.3] * 4
    quiet, truth = noisy_labels(noise=0.0, random_state=1)
    assert_array_equal(quiet.labels, np.repeat(truth[:, None], 8, axis=1))


def test_seeds():
    first, again, other = (noisy_labels(noise=0.3, random_state=seed)[0].labels for seed in (5, 5, 6))
    assert_array_equal(first, again)
    assert (other != first).any()
    assert_array_equal(noisy_labels(noise=0.3, n_clusterings=12, random_state=5)[0].labels[:, :8], first)
    assert len({tuple(column) for column in first.T}) == 8


@pytest.mark.parametrize(
    ("n", "k", "sizes", "expected"),
    [
        (10, 3, None, [4, 3, 3]),
        (400, 2, [390, 10], [390, 10]),
        (100, 3, 0.5, [57, 29, 14]),
        (5, 3, 0.01, [3, 1, 1]),
        (3, 3, [100, 1, 1], [1, 1, 1]),
    ],
)
def test_cluster_sizes(n, k, sizes, expected):
    assert_array_equal(_cluster_sizes(n, k, sizes), expected)


def test_gaussians_are_as_described():
    X, truth = gaussians_8d5k(50_000, cluster_std=0.2, random_state=0)
    assert_array_equal(np.bincount(truth), [10_000] * 5)
    centers = np.array([X[truth == c].mean(axis=0) for c in range(5)])
    assert ((centers > -0.01) & (centers < 1.01)).all()
    assert_allclose((X - centers[truth]).std(axis=0), 0.2, rtol=0.02)


BAD = [({"noise": 1.2}, "noise"), ({"n_objects": 5, "n_clusters": 10}, "cannot fill")]
BAD += [({"n_clusterings": 0}, "n_clusterings"), ({"sizes": [1, 2]}, "relative sizes")]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_input(options, words):
    with pytest.raises(InputError, match=words):
        noisy_labels(**options)
