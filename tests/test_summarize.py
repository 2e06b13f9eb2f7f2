"""One partition from many samples: the least loss of all, its credible ball and its certain core."""

from itertools import combinations

import numpy as np
import pytest

import consilience as cs
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.samples.expected_loss import ExpectedLoss
from consilience.consensus.samples.summarize import CertainCore, CredibleBall, Summary
from consilience.ensemble.results import Result
from consilience.measures import adjusted_rand, variation_of_information
from samples import every_partition, noisy_copies, pool_of, refuses

both_losses = pytest.mark.parametrize("loss", ["vi", "binder"])
BARS = {"VS": 1.434, "IS": 1.1551}  # nats; the R package salso: 1.4355 and 1.1551


def loss_of(labels, sample, loss, cost=1.0):
    """From pairs, or conditional entropies, of the objects that the sample labels."""
    a, b = labels[sample >= 0], sample[sample >= 0]
    if loss == "binder":
        mine, theirs = a[:, None] == a, b[:, None] == b
        return np.mean(cost * (theirs & ~mine) + (2 - cost) * (mine & ~theirs))
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1 / len(a))

    def entropy(x):
        return -(x[x > 0] * np.log(x[x > 0])).sum()

    joint = entropy(table)
    # H(mine | theirs) is what mine parts needlessly, H(theirs | mine) what it joins.
    return cost * (joint - entropy(table.sum(axis=0))) + (2 - cost) * (joint - entropy(table.sum(axis=1)))


def expected(labels, samples, loss, cost=1.0):
    return np.mean([loss_of(labels, sample, loss, cost) for sample in samples.T])


def noisy_samples(seed, n=8, count=9, missing=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    samples = np.where(rng.random((n, count)) < 0.35, rng.integers(0, 5, (n, count)), truth[:, None]).astype(np.int32)
    samples[rng.random((n, count)) < missing] = -1
    samples[:, 0] = truth
    return samples


@both_losses
@pytest.mark.parametrize("cost", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_search_finds_the_smallest_loss_of_all_partitions(loss, cost, missing):
    partitions = every_partition(8)
    for seed in range(4):
        samples = noisy_samples(seed, missing=missing)
        table = ExpectedLoss.of(samples, np.ones(8), loss, cost)
        values = [table.at(partition) for partition in partitions]
        found = cs.summarize(samples, loss, cost=cost)
        assert found.expected_loss == pytest.approx(min(values), abs=1e-12)
        assert found.expected_loss == pytest.approx(expected(found.labels, samples, loss, cost), abs=1e-12)
        for i in (0, 100, 4000):
            assert values[i] == pytest.approx(expected(partitions[i], samples, loss, cost), abs=1e-12)


@both_losses
def test_at_most_so_many_clusters(loss):
    partitions = every_partition(7)
    samples = noisy_samples(3, 7)
    for most in (1, 2, 3):
        found = cs.summarize(samples, loss, max_clusters=most)
        allowed = [expected(p, samples, loss) for p in partitions if p.max() < most]
        assert found.n_clusters <= most
        assert found.expected_loss == pytest.approx(min(allowed), abs=1e-12)


@both_losses
def test_groups_of_items_cost_what_their_objects_cost(loss):
    samples = noisy_samples(5, 30, missing=0.1)
    samples[(samples < 0).all(axis=1), 0] = 0
    groups = np.random.default_rng(0).integers(0, 7, 30)
    groups[:7] = np.arange(7)
    labels = np.array([0, 1, 0, 2, 2, 1, 3], np.int32)
    whole = ExpectedLoss.of(samples, np.ones(30), loss)
    assert whole.grouped(groups).at(labels) == pytest.approx(whole.at(labels[groups]), abs=1e-12)
    assert whole.grouped(groups).weight.tolist() == np.bincount(groups).tolist()


def test_cost_moves_the_number_of_clusters():
    samples, _ = noisy_copies(120, 6, 20, 0.25)
    numbers = [cs.summarize(samples, cost=cost).n_clusters for cost in (0.3, 1.0, 1.7)]
    assert numbers[0] > numbers[1] > numbers[2]


@both_losses
def test_it_is_no_worse_than_any_sample_and_the_distances_are_its_own(loss):
    samples, _ = noisy_copies(60, 4, 10, 0.3)
    found = cs.summarize(samples, loss)
    assert found.expected_loss <= min(expected(sample, samples, loss) for sample in samples.T) + 1e-12
    assert found.distances == pytest.approx([loss_of(found.labels, sample, loss) for sample in samples.T], abs=1e-12)
    assert found.distances.mean() == pytest.approx(found.expected_loss, abs=1e-12)


@both_losses
def test_shuffled_objects_samples_and_names_change_nothing(loss):
    samples, _ = noisy_copies(150, 5, 12, 0.35, seed=2)
    found = cs.summarize(samples, loss)
    rng = np.random.default_rng(1)
    objects, order = rng.permutation(150), rng.permutation(12)
    other = cs.summarize((samples[objects][:, order] + 3) * 7, loss)
    assert other.expected_loss == pytest.approx(found.expected_loss, abs=1e-12)
    assert adjusted_rand(other.labels, found.labels[objects]) == pytest.approx(1)
    again = cs.summarize(samples, loss, n_jobs=3)
    assert (again.labels == found.labels).all()


def test_missing_labels():
    samples, _ = noisy_copies(80, 4, 12, 0.1, missing=0.3)
    samples[5] = -1
    found = cs.summarize(samples)
    assert found.labels[5] == -1
    assert found.cohesion[5] == 0
    assert (np.delete(found.labels, 5) >= 0).all()
    assert found.expected_loss == pytest.approx(expected(found.labels, samples, "vi"), abs=1e-12)
    assert "no label  1 object" in repr(found)
    empty = np.column_stack([samples, np.full(80, -1)])
    assert np.isnan(cs.summarize(empty).distances[-1])
    assert cs.summarize(empty).ball().inside.max() < 12


def test_cohesion_is_how_often_the_others_of_a_cluster_are_there():
    samples, _ = noisy_copies(40, 4, 10, 0.3, seed=4)
    found = cs.summarize(samples)
    for i, c in enumerate(found.labels):
        others = np.flatnonzero((found.labels == c) & (np.arange(40) != i))
        if len(others):
            together = np.mean([(sample[others] == sample[i]).mean() for sample in samples.T])
        else:
            together = np.mean([(sample == sample[i]).sum() == 1 for sample in samples.T])
        assert found.cohesion[i] == pytest.approx(together)


def ball_by_definition(samples, labels, loss, level):
    """The smallest radius whose ball holds enough samples, tried one after the other; the bounds as sets of partitions."""
    away = np.array([loss_of(labels, sample, loss) for sample in samples.T])
    radius = min(r for r in away if np.mean(away <= r + 1e-12) >= level - 1e-12)
    inside = [s for s in range(len(away)) if away[s] <= radius + 1e-12]
    k = {s: len(np.unique(samples[:, s])) for s in inside}
    bounds = {}
    for name, wanted in (
        ("horizontal", inside),
        ("upper vertical", [s for s in inside if k[s] == min(k.values())]),
        ("lower vertical", [s for s in inside if k[s] == max(k.values())]),
    ):
        far = max(away[s] for s in wanted)
        bounds[name] = {pairs_of(samples[:, s]) for s in wanted if away[s] >= far - 1e-9}
    return radius, inside, bounds


def pairs_of(labels):
    return frozenset((i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j])


@both_losses
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 1.0])
def test_the_credible_ball_is_that_of_its_definition(loss, level):
    for seed in range(6):
        samples = noisy_samples(seed, 6, 20)
        found = cs.summarize(samples, loss)
        ball = found.ball(level)
        radius, inside, bounds = ball_by_definition(samples, found.labels, loss, level)
        assert ball.radius == pytest.approx(radius, abs=1e-12)
        assert ball.inside.tolist() == inside
        assert ball.share == pytest.approx(len(inside) / 20)
        for name, wanted in bounds.items():
            rows = np.flatnonzero(ball.bounds["bound"] == name)
            assert {pairs_of(ball.labels[:, row]) for row in rows} == wanted
            assert len(rows) == len(wanted)
            for row in rows:
                assert ball.bounds["distance"][row] == pytest.approx(loss_of(found.labels, ball.labels[:, row], loss))
                assert ball.bounds["n_clusters"][row] == len(np.unique(ball.labels[:, row]))


def share_that_agrees(samples, core):
    """The samples that label all of the core and part it so."""
    wanted = pairs_of(core.labels[core.objects])
    return np.mean([(s[core.objects] >= 0).all() and pairs_of(s[core.objects]) == wanted for s in samples.T])


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("level", [0.3, 0.6, 0.9])
def test_the_certain_core_has_the_probability_it_says(level, missing):
    samples, _ = noisy_copies(90, 4, 15, 0.1, missing=missing, seed=7)
    core = cs.summarize(samples).core(level)
    assert core.probability == pytest.approx(share_that_agrees(samples, core))
    assert core.probability >= level or not len(core.objects)
    assert len(core.objects) > 0 or missing


def test_the_certain_core_is_the_largest_of_all_on_small_cases():
    for seed in range(12):
        samples = noisy_samples(seed, 6, 12)
        for level in (0.25, 0.5, 0.75):
            largest = 0
            for size in range(1, 7):
                for some in combinations(range(6), size):
                    parted = [pairs_of(sample[list(some)]) for sample in samples.T]
                    if max(map(parted.count, parted)) >= level * 12 - 1e-9:
                        largest = size
            core = cs.summarize(samples).core(level)
            assert share_that_agrees(samples, core) >= level
            assert len(core.objects) == largest


def test_a_summary_is_kept_and_shown(tmp_path):
    samples = cs.Ensemble(noisy_copies(50, 3, 10, 0.2)[0], ids=[f"o{i}" for i in range(50)])
    found = cs.summarize(samples, "binder", cost=1.2)
    for record, kind in ((found, Summary), (found.ball(), CredibleBall), (found.core(), CertainCore)):
        record.save(tmp_path / kind.__name__)
        opened = Result.load(tmp_path / kind.__name__)
        assert isinstance(opened, kind)
        assert repr(opened) == repr(record)
        assert opened.to_frame().equals(record.to_frame())
    assert "cost 1.2" in repr(found)
    assert found.to_frame()["id"][3] == "o3"
    assert found.ensemble.n_clusterings == 1
    assert found.ball().ensemble.n_objects == 50
    assert (np.diff(found.sizes) <= 0).all()


def test_a_limit_that_was_reached_is_said():
    samples = np.column_stack([np.repeat(np.arange(16), 16), np.tile(np.arange(16), 16)])
    found = cs.summarize(samples, cost=0.1)
    assert found.n_clusters == 200
    assert "max_clusters" in found.note
    assert cs.summarize(samples, cost=0.1, max_clusters=256).n_clusters > 200


def test_wrong_options_are_refused():
    samples = [[0, 1], [0, 0]]
    refuses("unknown loss", cs.summarize, samples, loss="rand")
    refuses("cost must be a number above 0 and below 2", cs.summarize, samples, cost=2)
    refuses("cost must be", cs.summarize, samples, cost=True)
    refuses("max_clusters", cs.summarize, samples, max_clusters=0)
    refuses("n_starts", cs.summarize, samples, n_starts=0)
    refuses("level must be a share", cs.summarize(samples).ball, 95)
    refuses("level must be a share", cs.summarize(samples).core, 0)


def test_one_object_one_sample_and_all_alike():
    assert cs.summarize([[0]]).labels.tolist() == [0]
    same = cs.summarize([[1, 1, 1]] * 3)
    assert (same.n_clusters, same.expected_loss) == (1, pytest.approx(0, abs=1e-12))
    one = cs.summarize([[0, 1, 1, 2]])
    assert one.expected_loss == pytest.approx(0, abs=1e-12)
    assert one.core().probability == 1
    assert len(one.core().objects) == 4


@pytest.mark.parametrize("name", BARS)
def test_real_clusterings(data_folder, name):
    pool = pool_of(data_folder, name)
    found = cs.summarize(pool)
    assert found.expected_loss <= BARS[name]
    losses = [variation_of_information(found.labels, sample) for sample in pool.T]
    assert found.expected_loss == pytest.approx(np.mean(losses), abs=1e-9)
    assert check_problem(pool).n_rows >= found.n_clusters
