"""Ways and modes: planted groupings found again whatever their fineness, none in random labels, the same answer in any order."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

import consilience as cs
from benchmarks.ways import blurred, planted, refined
from consilience.consensus import NBCE
from consilience.consensus.samples.ways import Lengths, find_ways
from consilience.datasets import load_beads
from consilience.measures import adjusted_mutual_information, variation_of_information
from samples import every_partition, random_labels, refuses


@pytest.fixture(scope="module")
def two_ways():
    """Two groupings, one at two depths, with the grouping and the depth of each clustering."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 3, 300), rng.integers(0, 4, 300)
    depths = [one, refined(rng, one, 9), other]
    which = rng.integers(0, 3, 45)
    return cs.Ensemble(np.column_stack([blurred(rng, depths[i], 0.1) for i in which])), which, depths


def test_a_grouping_and_its_refinement_are_one_way(two_ways):
    ens, which, depths = two_ways
    ways = cs.organize(ens).ways
    assert [set(which[way.members]) for way in ways] == [{0, 1}, {2}]
    assert sum(way.weight for way in ways) == pytest.approx(1)
    for way, k, labels in ((ways[0], 3, depths[0]), (ways[0], 9, depths[1]), (ways[1], 4, depths[2])):
        assert variation_of_information(labels, way.at(k).labels) < 0.05
    assert all(0.5 < way.firmness < 1 and len(way.agreement) == len(way.members) for way in ways)
    table = ways[0].tree
    assert table["depth"].unique().tolist() == ways[0].depths
    assert table.groupby("depth")["size"].sum().eq(300).all()


@pytest.mark.parametrize("seed", [6, 23])
def test_planted_ways_are_counted(seed):
    ens, way, depths = planted(seed)
    found = cs.organize(ens).ways
    assert len(found) == len(depths)
    assert sorted(len(one.members) for one in found) == sorted(np.bincount(way))


def test_a_tree_may_be_as_deep_as_there_are_clusterings():
    m = 1200
    chain = [[0, 1], *([i, m + i - 2] for i in range(2, m))]
    tree = np.column_stack([chain, np.arange(1.0, m), np.arange(2, m + 1)])
    same = cs.Ensemble(np.repeat(np.random.default_rng(0).integers(0, 4, (60, 1)), m, axis=1))
    assert [len(members) for members in find_ways(same, tree)] == [m]


def test_options_that_modes_do_not_have_are_refused():
    samples = cs.Ensemble(random_labels(3, 30, 8, 3))
    refuses("n_starts does nothing for modes: leave it out", cs.summarize, samples, modes=2, n_starts=3)
    refuses("cost does nothing for modes with loss='ways'", cs.summarize, samples, "ways", modes="auto", cost=1.5)


def test_order_names_and_seeds_do_not_matter(two_ways):
    ens, _, _ = two_ways
    rng = np.random.default_rng(1)
    objects, order = rng.permutation(300), rng.permutation(45)
    other = cs.Ensemble(ens.labels[objects][:, order] * 3 + 5)
    for loss in ("vi", "ways"):
        found = cs.summarize(ens, loss, modes="auto")
        again = cs.summarize(other, loss, modes="auto", random_state=7 if loss == "ways" else 0, n_jobs=2)
        assert_array_equal(again.members, found.members[order])
        assert all(cs.measures.nmi(*pair) == 1 for pair in zip(again.labels.T, found.labels[objects].T, strict=True))


def test_samples_without_anything_in_common_have_no_ways_and_no_modes():
    ens = cs.Ensemble(random_labels(0, 200, 24, 4))
    assert cs.organize(ens).ways == []
    for loss in ("vi", "binder", "ways"):
        found = cs.summarize(ens, loss, modes="auto")
        assert (found.n_modes, found.labels.shape) == (0, (200, 0))
        assert (found.members == -1).all()
        assert "nothing in common" in repr(found)


@pytest.mark.parametrize("loss", ["vi", "binder"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_modes_are_the_planted_partitions(loss, missing):
    rng = np.random.default_rng(2)
    truth = [rng.integers(0, k, 120) for k in (2, 4, 4)]
    which = np.repeat([0, 1, 2], [12, 8, 6])
    samples = np.column_stack([blurred(rng, truth[i], 0.1) for i in which])
    samples[rng.random(samples.shape) < missing] = -1
    found = cs.summarize(cs.Ensemble(samples), loss, modes="auto")
    assert_array_equal(found.members, which)
    assert found.sizes.tolist() == [12, 8, 6]
    assert max(variation_of_information(*pair) for pair in zip(truth, found.labels.T, strict=True)) < 0.1
    assert found.expected_loss == pytest.approx(np.average(found.expected_losses, weights=found.sizes))
    assert found.lengths.set_index("n_modes")["bits"].idxmin() == 3
    assert found.ensemble.n_clusters.tolist() == found.to_frame()["clusters"].tolist()


def test_one_mode_is_the_summary_and_each_mode_that_of_its_samples():
    samples = cs.Ensemble(random_labels(3, 30, 8, 3))
    one = cs.summarize(samples, modes=1)
    assert one.expected_loss == pytest.approx(cs.summarize(samples).expected_loss)
    two = cs.summarize(samples, modes=2)
    for i in range(two.n_modes):
        own = cs.summarize(samples[:, two.members == i])
        assert two.expected_losses[i] == pytest.approx(own.expected_loss)


@pytest.mark.parametrize("seed", range(3))
def test_two_modes_of_few_samples_are_the_best_of_all(seed):
    samples = random_labels(seed, 4, 6, 3)
    every = every_partition(4)
    apart = np.array([[variation_of_information(one, column) for column in samples.T] for one in every])
    best = min(np.minimum(apart[i], apart[j]).mean() for i, j in combinations(range(len(every)), 2))
    assert cs.summarize(cs.Ensemble(samples), modes=2).expected_loss == pytest.approx(best)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_lengths_are_those_of_the_formula(missing):
    labels = random_labels(5, 40, 6, [1, 2, 3, 4, 5, 9], missing)
    mode = random_labels(6, 40, 1, 4, missing)[:, 0]
    wanted = []
    for column in labels.T:
        both = (column >= 0) & (mode >= 0)
        k, nats = column.max() + 1, 0.0
        for c in range(mode.max() + 1):
            counts = np.bincount(column[both & (mode == c)], minlength=k)
            nats += gammaln(counts.sum() + k) - gammaln(k) - gammaln(counts + 1).sum()
        wanted.append(nats)
    assert_allclose(Lengths(np.ascontiguousarray(labels.T)).given(mode), wanted, atol=1e-9)


def test_the_beads_have_two_ways_and_the_words_say_which():
    beads = load_beads()
    ways = cs.organize(cs.generate(beads, 200, n_clusters=(2, 12))).ways
    for way, start, columns in zip(
        ways, ("by shape (", "by color ("), ({"length_mm", "width_mm"}, {"blue", "green"}), strict=True
    ):
        words = way.describe(beads, beads.labels)
        assert words.startswith(start)
        assert columns < set(words.removeprefix(start).split("; ")[0].split(", "))
        assert words.endswith(f"firm: {100 * way.firmness:.0f} % agree)")
    for way, name in zip(ways, ("shape", "color"), strict=True):
        found = way.follows(known=beads.labels).set_index("name")
        assert adjusted_mutual_information(beads.labels[name], way.at(4).labels) > 0.6
        values = [
            adjusted_mutual_information(beads.labels[name], column, average="min") for column in way.ensemble.labels.T
        ]
        assert found.loc[name, "mean"] == pytest.approx(np.mean(values))  # of the members, not of the medoid
        assert found.loc[name, ["sd", "best", "coverage"]].tolist() == pytest.approx([np.std(values), max(values), 1.0])


def test_groups_are_not_told_apart_by_their_number_of_clusters():
    ens = cs.generate(load_beads(), 200, n_clusters=(2, 20))
    meta = cs.organize(ens, 2)
    assert meta.measure == "shared_information"
    few, many = (ens.n_clusters[meta.members(group)] for group in meta.numbers)
    auc = np.mean(few[:, None] < many) + np.mean(few[:, None] == many) / 2
    assert 0.3 <= auc <= 0.7
    assert cs.organize(cs.Ensemble(ens.labels[:, ens.n_clusters == 4])).measure == "cluster_difference"


def test_modes_of_a_posterior():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    labels = np.column_stack([blurred(rng, truth, 0.1) for _ in range(5)])
    model = NBCE(max_iter=60, random_state=0).fit(labels)
    found = model.modes()
    assert (model.samples_.labels.shape, found.n_modes) == ((60, 100), 1)
    assert variation_of_information(found.labels[:, 0], model.labels_) < 0.2
    refuses("inference='gibbs' draws", NBCE(inference="vb", random_state=0).fit(labels).modes)


def test_modes_are_refused_and_kept(tmp_path):
    samples = random_labels(0, 20, 5, 3)
    refuses("modes is 'auto'", cs.summarize, samples, "ways", modes=2)
    refuses("unknown loss 'ways'", cs.summarize, samples, "ways")
    refuses("modes", cs.summarize, samples, modes=0)
    found = cs.summarize(samples, modes=2)
    found.save(tmp_path / "modes")
    assert repr(type(found).load(tmp_path / "modes")) == repr(found)
