"""One partition from many samples: the expected loss and its minimum, memberships, and the diagnostics of chains."""

from itertools import combinations

import numpy as np
import pytest

from consilience.consensus.bayes.sampling import (
    Draws,
    companions,
    effective_sample_size,
    merge_clusters,
    r_hat,
    rows_partition,
)
from consilience.consensus.samples.expected_loss import ExpectedLoss
from oracle.label_mixture import partition
from samples import every_partition, noisy_copies

both_losses = pytest.mark.parametrize("loss", ["vi", "binder"])


def samples_of(n=40, k=4, count=12, p=0.2, seed=0):
    labels, truth = noisy_copies(n, k, count, p, seed=seed)
    return list(labels.T), truth


def expected_loss(draws, labels, loss="vi"):
    return ExpectedLoss.of(draws.clusters, draws.weight, loss).at(labels[draws.row])


@both_losses
def test_objects_with_one_row_are_moved_together(loss):
    rows = np.repeat(np.arange(15), np.arange(15) % 4 + 1)
    samples, _ = samples_of(n=len(rows), seed=1)
    draws = Draws.of(samples, rows)
    assert draws.row_weights.tolist() == np.bincount(rows).tolist()
    labels, found = rows_partition(draws, 0, loss=loss)
    assert len(labels) == 15
    assert found == pytest.approx(expected_loss(draws, labels, loss), abs=1e-12)
    single = Draws.of(samples, np.arange(len(rows)))
    assert found == pytest.approx(expected_loss(single, labels[rows], loss), abs=1e-12)


@both_losses
@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_the_smallest_loss_of_all_partitions(loss, seed):
    """Of those without an object alone that most samples do not have alone."""
    rng = np.random.default_rng(seed)
    truth = np.array([0, 0, 0, 1, 1, 1, 2])
    samples = [np.where(rng.random(7) < 0.15, rng.integers(0, 4, 7), truth) for _ in range(20)]
    draws = Draws.of(samples, np.arange(7))
    alone = np.mean([np.bincount(s)[s] == 1 for s in samples], axis=0)
    allowed = (p for p in every_partition(7) if (alone[np.bincount(p)[p] == 1] > 0.5).all())
    least = min(expected_loss(draws, p, loss) for p in allowed)
    labels, found = rows_partition(draws, 0, loss=loss)
    assert found == pytest.approx(expected_loss(draws, labels, loss), abs=1e-12)
    assert found == pytest.approx(least, abs=1e-9)


@both_losses
def test_a_doubtful_object_joins_a_cluster_and_an_outlier_stays_alone(loss):
    base = np.repeat([0, 1, 2], 10)
    # One more object is everywhere in turn, another always alone.
    doubtful = [np.append(base, [i % 3, 3]) for i in range(30)]
    labels, _ = rows_partition(Draws.of(doubtful, np.arange(32)), 0, loss=loss)
    assert partition(labels[:30].tolist()) == partition(base.tolist())
    assert labels[30] in labels[:30]
    assert np.count_nonzero(labels == labels[31]) == 1


def test_objects_with_one_row_are_no_cluster_of_one():
    rows = np.array([0, 1, 2, 3, 4, 4])  # the last two have the same labels, and are together more often than not
    samples = [np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 2, 1, 1])]
    labels, _ = rows_partition(Draws.of(samples, rows), 0)
    assert labels[4] not in labels[:3]


@both_losses
def test_merging_takes_the_pair_that_costs_least(loss):
    samples, _ = samples_of(count=1, p=0.3)
    draws = Draws.of(samples, np.arange(40))
    labels = np.arange(40) % 5
    table, sizes = draws.tables(labels, 5), np.bincount(labels).astype(float)
    owner = merge_clusters(table, sizes, loss, 4)
    merged = [expected_loss(draws, np.where(labels == b, a, labels), loss) for a, b in combinations(range(5), 2)]
    assert expected_loss(draws, owner[labels], loss) == pytest.approx(min(merged), abs=1e-12)
    assert merge_clusters(table, sizes, loss, 5) is None
    for k in range(4, 0, -1):
        assert len(np.unique(merge_clusters(table, sizes, loss, k))) == k


def test_memberships_are_shares_of_companions():
    samples = [np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 2])]
    draws = Draws.of(samples, np.arange(5))
    labels = np.array([0, 0, 1, 1, 1])
    found = companions(draws, labels, draws.tables(labels, 2))
    np.testing.assert_allclose(found[0], [(1 + 1 / 2) / 2, 1 / 2 / 2])
    np.testing.assert_allclose(found[2], [1 / 2, 1 / 2])
    np.testing.assert_allclose(found[3], [0.4 / 2, 1.6 / 2])  # alone in the second sample, where nothing is known
    np.testing.assert_allclose(found.sum(axis=1), 1)
    alone = companions(draws, np.array([0, 0, 0, 0, 1]), draws.tables(np.array([0, 0, 0, 0, 1]), 2))
    np.testing.assert_allclose(
        alone[4], [1 / 2, 1 / 2]
    )  # alone in one sample, as in the answer; with others in the other


def test_r_hat_and_effective_sample_size():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 1000))
    assert r_hat(noise) < 1.01
    assert 3000 < effective_sample_size(noise) <= 4000
    assert r_hat(noise + np.array([[0], [0], [0], [3]])) > 1.3
    assert r_hat(noise + np.linspace(0, 5, 1000)) > 1.3  # a drift, alike in all chains
    slow = np.zeros((4, 1000))
    for t in range(1, 1000):
        slow[:, t] = 0.9 * slow[:, t - 1] + noise[:, t]
    assert effective_sample_size(slow) == pytest.approx(4000 * 0.1 / 1.9, rel=0.35)  # (1 − ρ) / (1 + ρ) of the draws
    still = np.full((3, 50), 7.0)
    assert (r_hat(still), effective_sample_size(still)) == (1, 150)
    assert r_hat(still + np.arange(3)[:, None]) == np.inf
    assert np.isnan(r_hat(np.ones((2, 2))))
    assert np.isnan(effective_sample_size(np.ones((2, 1))))
