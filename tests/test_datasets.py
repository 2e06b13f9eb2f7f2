"""Data of the package: the synthetic sets of paper 002 in both readings, and the beads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels
from consilience.datasets.scenarios import READINGS, orthogonal_multinomials
from consilience.measures import accuracy


@pytest.mark.parametrize(("k", "n", "m"), [(2, 200, 400), (3, 450, 700), (4, 800, 1100), (5, 1250, 1600)])
def test_sizes_are_the_paper_s(k, n, m):
    X, given, hidden = orthogonal_multinomials(k)
    assert X.shape == (n, 3)
    assert given.dtype == hidden.dtype == np.int32
    assert (X.sum(axis=1) == m).all()
    assert_array_equal(np.bincount(k * given + hidden), [50] * k**2)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("alpha", [0, 0.4, 1])
def test_orthogonality(reading, alpha):
    X, given, hidden = orthogonal_multinomials(3, alpha, reading=reading, n_objects=9000, n_draws=2000)
    share = X / 2000
    cells = [(a, b) for a in range(3) for b in range(3) if ((given == a) & (hidden == b)).any()]
    means = np.array([share[(given == a) & (hidden == b), :2].mean(axis=0) for a, b in cells])
    second = [alpha * b + (1 - alpha) * a if reading == "shear" else b for a, b in cells]
    assert_allclose(means[:, 0], [0.04 + 0.11 * a for a, _ in cells], atol=0.002)
    assert_allclose(means[:, 1], [0.04 + 0.11 * level for level in second], atol=0.002)
    same = 1 / 3 if reading == "shear" else 1 - alpha * 2 / 3
    assert np.mean(given == hidden) == pytest.approx(same, abs=0.02)


def test_readings_agree_where_groupings_are_independent_and_seeds_decide():
    for one, other in zip(*(orthogonal_multinomials(4, reading=r, random_state=3) for r in READINGS), strict=True):
        assert_array_equal(one, other)
    first, again, other = (orthogonal_multinomials(2, random_state=seed)[0] for seed in (1, 1, 2))
    assert_array_equal(first, again)
    assert (first != other).any()


def test_groups_stay_probabilities_and_share_what_is_left():
    X, *_ = orthogonal_multinomials(9, n_objects=500)
    assert X.min() >= 0
    assert X[:, 2].min() > 0
    for n in (9, 13, 16, 31):
        _, given, hidden = orthogonal_multinomials(3, n_objects=n, random_state=0)
        counts = [np.bincount(labels, minlength=3) for labels in (given, hidden)]
        assert all(sizes.max() - sizes.min() <= 1 for sizes in counts), n
        pairs = np.bincount(3 * given + hidden, minlength=9)
        assert pairs.max() - pairs.min() <= 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": 1}, "n_clusters must be a whole number of at least 2; got 1"),
        ({"alpha": 1.1}, "alpha must be a number between 0 and 1; got 1.1"),
        ({"alpha": float("nan")}, "alpha must be a number between 0 and 1; got nan"),
        ({"alpha": "high"}, "got 'high'"),
        ({"reading": "sheer"}, "did you mean 'shear'"),
        ({"n_objects": 2}, "n_objects must be a whole number of at least 9"),
        ({"n_draws": 0}, "n_draws"),
    ],
)
def test_mistakes(settings, words):
    with pytest.raises(InputError) as caught:
        orthogonal_multinomials(**({"n_clusters": 3} | settings))
    assert words in str(caught.value)


# The beads.


def test_beads_have_two_independent_groupings_and_clusterings_find_either():
    beads = load_beads()
    assert beads.values.shape == (300, 8)
    assert accuracy(beads.labels["shape"], beads.labels["color"]) < 0.5
    beads, ens = load_beads(), load_beads_labels()
    assert list(ens.ids) == list(beads.ids)
    by_name = dict(zip(ens.info["name"], ens.labels.T, strict=True))
    assert accuracy(beads.labels["shape"], by_name["form1"]) > 0.95
    assert accuracy(beads.labels["color"], by_name["color1"]) > 0.9
    assert np.count_nonzero(ens.coverage < 1) == 4
