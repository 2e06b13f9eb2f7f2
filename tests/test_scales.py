"""The number of clusters: agreement of halves, its null, scales and splits, by definition and on what is planted."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import entropy, t
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.consensus.how_many.curve import (
    Judged,
    Scales,
    find_scales,
    find_splits,
    make_curve,
    rank,
    sample_objects,
    stable_range,
)
from consilience.consensus.how_many.significance import (
    Halves,
    at_ceiling,
    by_groups,
    by_walk,
    clouds,
    cluster_cloud,
    compare_halves,
    expanded,
    mean_agreement,
    nesting,
)
from consilience.consensus.rows.cluster_similarity import Overlaps, nearest_clusters
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.rows.row_tree import cut_clusters, similarity_tree
from consilience.generation.kmeans import kmeans_runs
from consilience.measures import adjusted_rand
from samples import noisy_copies, random_labels

pytestmark = pytest.mark.full_effort


def kmeans_of(seed, spread, n=200, r=12, numbers=(2, 9), length=1.0):
    """k-means with several numbers of clusters of four clusters as far apart as said, and the clusters; of one cloud without spread."""
    rng, truth = np.random.default_rng(seed), np.arange(n) % 4
    X = rng.normal(size=(n, 4)) * [length, 1, 1, 1] + spread * np.eye(4)[truth]
    drawn = np.random.default_rng(seed).integers(numbers[0], numbers[1] + 1, r)
    return np.asarray(kmeans_runs(X, drawn, seed=seed, max_iter=100).labels).T, truth


def curve_of(stability, null_high=0.5, start=2, sem=0.0):
    k = np.arange(start, start + len(stability))
    null = {"sem": sem, "null": 0.1, "null_high": null_high, "nesting": 0.5, "nesting_high": 0.9}
    return pd.DataFrame({"n_clusters": k, "stability": stability, **null})


def test_agreement_is_the_adjusted_rand_index_of_all_objects():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (2, 2, 4, 9)).astype(np.int16)
    weights = rng.integers(1, 4, 9)
    halves = Halves(labels, weights.astype(float), np.arange(2, 6))
    often = np.repeat(labels, weights, axis=3)
    assert halves.agreement.shape == (2, 4)
    for s in range(2):
        for i in range(4):
            expected = adjusted_rand_score(often[s, 0, i], often[s, 1, i])
            assert halves.agreement[s, i] == pytest.approx(expected)
    inside = np.arange(9) < 6
    some = np.repeat(labels[:, :, 1, :6], weights[:6], axis=2)
    assert_allclose(halves.within(1, inside), [adjusted_rand_score(*split) for split in some])


def test_halves_that_part_nothing_agree_on_nothing():
    whole = np.zeros((1, 2, 1, 6), np.int16)
    assert Halves(whole, np.ones(6), np.array([4])).agreement.tolist() == [[0.0]]
    parted = np.array([[[[0, 0, 0, 1, 1, 1]], [[0, 0, 0, 1, 1, 2]]]], np.int16)
    assert Halves(parted, np.ones(6), np.array([3])).within(0, np.arange(6) < 3).tolist() == [0.0]


@pytest.mark.parametrize("how", ["walk", "groups"])
def test_halves_are_combined_apart(how):
    """Every half is what its clusterings alone give, and no clustering is in both."""
    problem, seen = check_problem(noisy_copies(n=60, k=3, r=7, noise=0.2)[0]), []
    combine = by_groups if how == "groups" else by_walk(Overlaps.of(problem))

    def note(problem, half, numbers):
        seen.append(half)
        return combine(problem, half, numbers)

    numbers = np.array([2, 3, 4])
    halves = compare_halves(problem, numbers, 2, 0, note)
    assert [len(half) for half in seen] == [3] * 4
    assert not set(seen[0]) & set(seen[1])
    assert sorted(seen[0].tolist()) != sorted(seen[2].tolist())
    for i, half in enumerate(seen):
        alone = problem.labels[:, half]
        if how == "walk":
            expected = cs.combine(np.repeat(alone, problem.weights.astype(int), axis=0), 3, "walk").labels
            found = np.repeat(halves.labels[i // 2, i % 2, 1], problem.weights.astype(int))
            assert adjusted_rand(found, expected) > 0.95
        assert set(halves.labels[i // 2, i % 2, 1]) == {0, 1, 2}


def test_halves_that_cannot_make_as_many_clusters():
    labels = np.column_stack([np.arange(12) % 2] * 2 + [np.arange(12) // 6] * 2)
    problem = check_problem(labels)
    halves = compare_halves(problem, np.array([2, 3, 4]), 8, 0, by_walk(Overlaps.of(problem)))
    assert halves.agreement.shape == (8, 3)
    assert (halves.agreement <= 1).all()
    alone = np.array([len(np.unique(half)) for split in halves.labels[:, :, 2] for half in split])
    assert set(alone) <= {1, 4}
    assert 1 in alone


@pytest.mark.parametrize(("stability", "said"), [(0.92, True), (0.88, False), (0.9, True)])
def test_what_is_steady_is_not_told_from_chance_that_is_as_high_as_can_be(stability, said):
    scales = Scales(curve_of([0.5, stability, 0.5, 0.4], null_high=1.0), [3], None, [], None, False).table
    assert at_ceiling(scales) == said
    assert not at_ceiling(scales.assign(null_high=0.98))


SHARP = [0.99, 0.94, 0.95, 0.85, 0.7, 0.6]


@pytest.mark.parametrize(
    ("stability", "sem", "null_high", "expected"),
    [
        ([0.3, 0.4, 0.9, 0.4, 0.3, 0.2, 0.1], 0.0, 0.5, [4]),
        ([0.3, 0.4, 0.9, 0.4, 0.3, 0.3, 0.8, 0.3, 0.2], 0.0, 0.5, [4, 8]),
        ([0.3, 0.4, 0.7, 0.4, 0.3, 0.3, 0.9, 0.3, 0.2], 0.0, 0.5, [8, 4]),
        ([0.3, 0.4, 0.9, 0.8, 0.85, 0.2, 0.1], 0.0, 0.5, [4]),  # 6 is not a peak of its own once smoothed
        ([0.9, 0.3, 0.3, 0.9, 0.3, 0.2, 0.1], 0.0, 0.5, [5, 2]),  # 2 has a handicap
        ([1.0, 0.9, 0.3, 0.2, 0.1, 0.1], 0.0, 0.5, [2]),
        ([0.1, 0.2, 0.3, 0.4, 0.5], 0.0, 0.5, [6]),  # no other than the largest
        ([0.1, 0.6, 0.3, 0.4, 0.9], 0.0, 0.5, [3]),  # the largest may go on rising
        ([0.3, 0.4, 0.5, 0.69, 0.7, 0.71, 0.72, 0.71, 0.3], 0.0, 0.5, [5]),  # where the curve is flat, the fewest
        ([0.3, 0.4, 0.5, 0.93, 0.94, 0.95, 0.93, 0.3], 0.0, 0.5, [7]),  # but not where it is sure
        (SHARP, 0.0, 1.0, [4]),  # smoothing puts the peak at 3, and 2 is no more than chance
        ([0.99, 0.94, 0.94, 0.85, 0.7, 0.6], 0.0, 1.0, [4]),  # the larger of equals
        (SHARP, 0.01, 1.0, [3]),  # 4 is no more stable than can be measured
        (SHARP, 0.0, 0.97, [2]),  # more than chance
        ([1.0, 0.75, 0.5, 0.4, 0.3], 0.0, 1.0, [2]),  # leads by far
        ([0.99, 0.8, 0.95, 0.85, 0.7, 0.6], 0.0, 0.9, [4, 2]),  # real and the most stable, a scale though not the first
        ([0.99, 0.8, 0.95, 0.85, 0.7, 0.6], 0.0, 1.0, [4]),
    ],
)
def test_scales_of_hand_made_curves(stability, sem, null_high, expected):
    assert rank(curve_of(stability, null_high, sem=sem)) == expected


def test_what_is_more_than_chance():
    curve = curve_of([0.2, 0.3, 0.9, 0.3, 0.2, 0.2, 0.4, 0.2, 0.1])
    curve.loc[6, "nesting"] = 0.95  # either measure makes a number real
    for real in (True, False):
        table = Scales(curve, rank(curve), None, [], None, False).table
        assert table["n_clusters"].tolist() == [4, 8]
        assert table["real"].tolist() == [True, real]
        assert_allclose(table["excess"], [0.4, -0.1])
        curve["nesting"] = 0.5
    perfect = curve_of([0.3, 0.3, 1.0, 0.3, 0.3], null_high=0.9995)
    assert not Scales(perfect, [4], None, [], None, False).table["real"].any()  # nothing is told apart so near to 1


def test_the_largest_number_is_a_peak_where_it_sets_all_rows_apart():
    assert rank(curve_of([0.1, 0.6, 0.3, 0.4, 0.9]), all_apart=True) == [6, 3]


def test_the_null_by_definition():
    rng = np.random.default_rng(0)
    numbers, shapes = np.array([2, 3, 4]), np.array([0, 0, 0, 1, 1])
    found, *clouds = (
        Judged(Halves(rng.integers(0, 3, (4, 2, 3, 30)).astype(np.int16), np.ones(30), numbers), rng.random(3), shape)
        for shape in (0, *shapes)
    )
    curve = make_curve(found, clouds)
    every = {
        "stability": (np.arctanh([cloud.halves.agreement.mean(axis=0) for cloud in clouds]), 0.15),
        "nesting": (-np.log(1 - np.array([cloud.nesting for cloud in clouds])), 0.3),
    }
    high = {}
    for name, (z, least) in every.items():
        squares = sum(((z[shapes == s] - z[shapes == s].mean(axis=0)) ** 2).sum(axis=0) for s in (0, 1))
        around = np.array([[3, 1, 0], [1, 2, 1], [0, 1, 3]])  # the ends count once more for what is beyond
        deviation = np.sqrt(around @ squares / (4 * 3))  # five clouds of two shapes
        high[name] = np.max([z[shapes == s].mean(axis=0) for s in (0, 1)], axis=0) + np.maximum(5 * deviation, least)
    assert_allclose(curve["stability"], found.halves.agreement.mean(axis=0))
    assert_allclose(curve["sem"], found.halves.agreement.std(axis=0, ddof=1) / 2)
    assert_allclose(curve["null_high"], np.tanh(high["stability"]))
    assert_allclose(curve["nesting"], found.nesting)
    assert_allclose(curve["nesting_high"], 1 - np.exp(-high["nesting"]))


def test_nesting_by_definition():
    """Of entropies, on the objects that a clustering labels; a clustering of one cluster says nothing."""
    answer = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    finer, torn = np.array([0, 0, 1, 1, 2, 2, 2, 2]), np.array([0, 0, 0, 1, 1, 1, 1, 1])
    unlike, missing = np.array([0, 1, 0, 1, 0, 1, 0, 1]), np.array([0, 0, -1, -1, 1, 1, -1, -1])

    def of(*columns):
        problem = check_problem(np.column_stack(columns))
        return nesting(problem, [answer[problem.first]])[0]

    assert of(finer) == pytest.approx(1)
    assert of(unlike) == pytest.approx(0)
    assert of(missing, np.arange(8) // 2) == pytest.approx(1)
    both = entropy([3 / 8, 1 / 8, 4 / 8])
    own, theirs = entropy([1, 1]), entropy([3 / 8, 5 / 8])
    expected = 1 - min((both - theirs) / own, (both - own) / theirs)
    assert of(torn, np.arange(8)) == pytest.approx((expected + 1) / 2)
    assert of(torn, np.arange(8), np.zeros(8, int)) == pytest.approx((expected + 1) / 2)


def test_all_numbers_from_one_tree_are_what_each_gives_alone():
    """The clusters of `cuts` are those that the walk cuts and refines at one number."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, (90, 8))
    labels[:, :4] = np.repeat(rng.integers(0, 6, (15, 4)), 6, axis=0)
    problem = check_problem(labels, None, rng.integers(1, 4, 90))
    similarity, numbers = Overlaps.of(problem).similarity(), np.array([2, 3, 5, 9, 20])
    tree = similarity_tree(similarity.of_rows(problem.labels, problem.weights), problem.weights)
    found = by_walk(Overlaps.of(problem))(problem, np.arange(8), numbers)
    for k, mine in zip(numbers.tolist(), found, strict=True):
        cut = cut_clusters(tree, problem.weights, k)
        expected = nearest_clusters(problem, similarity, cut, k, 3)[0]
        assert adjusted_rand(mine, expected) > 0.999, k


def test_clouds_are_like_the_ensemble():
    """As many objects and clusters, the same labels missing, and clusterings that agree at least as much in every shape."""
    ensemble, _ = kmeans_of(0, 3.0)
    labels = np.where(np.random.default_rng(1).random(ensemble.shape) < 0.2, -1, ensemble)
    problem = check_problem(labels)
    every, made = expanded(problem), list(clouds(problem, 0))
    assert len(made) == 9
    for _, cloud in made:
        assert_array_equal(cloud.labels < 0, every < 0)
        assert (cloud.n_clusters <= problem.sizes).all()
    assert np.mean([mean_agreement(cloud) for _, cloud in made]) > mean_agreement(cs.Ensemble(every)) - 0.02
    round_one, long = (mean_agreement(cluster_cloud(problem, every, 8, length, 0)) for length in (1.0, 20.0))
    assert long > round_one + 0.1


def test_the_range_of_a_scale():
    curve = curve_of([0.3, 0.86, 0.9, 0.87, 0.8, 0.88])
    assert stable_range(curve, 4) == (3, 5)
    assert stable_range(curve, 7) == (7, 7)
    assert stable_range(curve, 2) == (2, 2)  # those beside it are more stable


def test_splits_of_hand_made_scales():
    """Cluster 0 of 2 splits into 0 and 2 of 3, which the halves agree on; of 4, cluster 1 splits, and they do not."""
    two, three = np.repeat([0, 0, 1], 4), np.repeat([0, 2, 1], 4)
    four = np.array([0] * 4 + [2] * 4 + [1, 1, 3, 3])
    other = np.array([0] * 4 + [2] * 4 + [1, 3, 1, 3])
    labels = np.array([[[two, three, four], [two, three, other]]], np.int16)
    halves = Halves(labels, np.ones(12), np.array([2, 3, 4]))
    # In the cloud the halves disagree inside the clusters.
    mixed = np.array([0, 2, 0, 2, 0, 2, 0, 2, 1, 1, 1, 1])
    torn = np.array([0, 0, 0, 2, 0, 2, 2, 2, 1, 1, 1, 1])
    null = [
        Halves(np.array([[[two, three, four], [two, half, other]]], np.int16), np.ones(12), np.array([2, 3, 4]))
        for half in (mixed, torn)
    ]
    scales = Scales(curve_of([0.9, 0.8, 0.7]), [3, 2, 4], halves, null, np.arange(12), False)
    weights = np.full(12, 5.0)
    found = find_splits(scales, {2: two, 3: three, 4: four}, weights)
    assert found[["from_k", "to_k", "cluster", "into", "size"]].to_numpy().tolist() == [
        [2, 3, 0, "0, 2", 40],
        [3, 4, 1, "1, 3", 20],
    ]
    assert found["stability"].iloc[0] == 1
    z = np.arctanh([adjusted_rand_score(three[:8], half[:8]) for half in (mixed, torn)])
    high = np.tanh(z.mean() + t.ppf(1 - 0.05 / 2, 1) * z.std(ddof=1))  # two splits are looked at
    assert found["null_high"].iloc[0] == pytest.approx(high)
    assert found["real"].tolist() == [True, False]
    nothing = find_splits(scales, {3: three}, weights)
    assert list(nothing) == list(found)
    assert len(nothing) == 0


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_noisy_copies_have_their_number(noise, seed):
    labels, truth = noisy_copies(n=200, k=6, r=8, noise=noise, seed=seed)
    result = cs.combine(labels, "auto")
    assert result.n_clusters == 6
    assert result.scales["real"].tolist() == [True]
    assert adjusted_rand(truth, result.labels) > 0.9
    assert len(result.splits) == 0


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("length", [None, 1.0, 5.0], ids=["random labels", "one cloud", "a long cloud"])
def test_nothing_is_more_stable_than_chance_where_there_is_nothing(length, seed):
    ensemble = kmeans_of(seed, 0.0, length=length)[0] if length else random_labels(seed, 200, 8, 4)
    result = cs.combine(ensemble, "auto")
    assert not result.scales["real"].any()
    assert "no number of clusters is more stable than chance" in repr(result)


@pytest.mark.parametrize("seed", [0, 2])
def test_separated_clusters_are_real(seed):
    ensemble, truth = kmeans_of(seed, 8.0)
    result = cs.combine(ensemble, "auto")
    assert result.n_clusters == 4
    assert adjusted_rand(truth, result.labels) > 0.97
    assert result.scales["real"].iloc[0]
    assert result.curve["n_clusters"].iloc[0] == 2
    numbers = sorted(result.scales["n_clusters"])
    assert result.scale_labels.shape == (200, len(numbers))
    assert [len(np.unique(column)) for column in result.scale_labels.T] == numbers
    at = numbers.index(4)
    assert_array_equal(result.scale_labels[:, at], result.labels)
    assert_array_equal(result.scale_confidence[:, at], result.confidence)
    confidence = result.scales.set_index("n_clusters")["confidence"]
    for k, column in zip(numbers, result.scale_confidence.T, strict=True):
        assert confidence[k] == pytest.approx(column.mean())


@pytest.mark.parametrize("what", ["three clusterings", "two rows"])
def test_too_little_to_choose_by(what):
    few = what == "three clusterings"
    labels = noisy_copies(n=40, k=3, r=3, noise=0.2)[0] if few else np.tile(np.repeat([0, 1], 8)[:, None], 6)
    result = cs.combine(labels, "auto")
    assert result.n_clusters == int(np.median(labels.max(axis=0))) + 1
    assert result.curve is result.scales is result.splits is result.scale_labels is None
    assert "leave nothing to choose by" in result.note


def test_clusterings_that_are_all_the_same():
    labels = np.tile(np.repeat([0, 1, 2], 8)[:, None], 6)
    result = cs.combine(labels, "auto")
    assert result.n_clusters == 3
    assert_array_equal(result.labels, labels[:, 0])
    assert result.scales["real"].tolist() == [True]


@pytest.mark.parametrize(
    "labels",
    [
        np.tile(np.arange(20)[:, None], 6),
        np.hstack([np.zeros((30, 4), int), np.arange(30)[:, None] % 5]),
        np.where(np.random.default_rng(0).random((40, 6)) < 0.5, 0, -1),
        np.kron(np.eye(4, dtype=int), np.ones((8, 1), int)) * (1 + np.arange(32)[:, None] % 3) - 1,
    ],
    ids=["every object alone", "all but one say nothing", "one label each", "no object in common"],
)
def test_degenerate_clusterings_are_not_real_and_no_cause_for_warnings(labels):
    result = cs.combine(labels, "auto")
    assert not result.scales["real"].any()
    assert np.isfinite(result.confidence).all()


def test_missing_labels_and_weights():
    ensemble, truth = kmeans_of(0, 8.0)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(ensemble.shape) < 0.2, -1, ensemble)
    assert cs.combine(labels, "auto").n_clusters == 4
    weights = rng.integers(0, 3, 200)
    weighted = cs.combine(ensemble, "auto", sample_weight=weights)
    literal = cs.combine(np.repeat(ensemble, weights, axis=0), "auto")
    assert weighted.n_clusters == literal.n_clusters
    assert weighted.labels[weights > 0].max() == literal.labels.max()
    pd.testing.assert_frame_equal(weighted.curve, literal.curve)
    pd.testing.assert_frame_equal(weighted.splits, literal.splits)
    assert adjusted_rand(np.repeat(weighted.labels, weights), literal.labels) == 1
    assert adjusted_rand(truth[weights > 0], weighted.labels[weights > 0]) > 0.8


def test_real_scales_come_first():
    """Two clusters far apart: 2 has a handicap among the peaks, and none once it is more than chance."""
    truth = np.arange(240) % 2
    X = np.random.default_rng(3).normal(size=(240, 2)) + 9 * np.eye(2)[truth]
    labels = np.asarray(kmeans_runs(X, np.full(12, 8), seed=0, max_iter=50).labels).T
    scales = find_scales(check_problem(labels), 0)
    assert scales.ranked[0] == 2
    assert scales.table["real"].tolist() == sorted(scales.table["real"], reverse=True)
    assert rank(scales.curve)[0] != 2


def test_a_sample_of_the_objects_stands_for_them():
    labels = random_labels(0, 4000, 6, [3, 3, 3, 3, 3, 40], 0.1, labeled=True)
    problem = check_problem(labels)
    some, rows = sample_objects(problem, 0)
    assert some.weights.sum() == 1000
    assert some.n_rows == len(rows) < problem.n_rows
    assert all(set(np.unique(column)) - {-1} == set(range(column.max() + 1)) for column in some.labels.T)
    for column, sampled in zip(problem.labels[rows].T, some.labels.T, strict=True):
        assert_array_equal(column < 0, sampled < 0)
        pairs = set(zip(column.tolist(), sampled.tolist(), strict=True))
        assert len(pairs) == len(set(column.tolist())) == len(set(sampled.tolist()))
    assert sample_objects(check_problem(labels[:900]), 0)[0].weights.sum() == 900


@pytest.mark.parametrize(
    ("stability", "ranked", "finest", "finer"),
    [
        ([1.0, 0.76, 0.996, 0.8, 0.95, 0.95, 0.95], [7, 4, 2], 4, []),  # a sharp peak at 4, and a broad one farther on
        ([1.0, 0.76, 0.996, 0.8, 0.95, 0.95, 0.95], [2, 7], 2, []),
        ([0.6, 0.97, 0.96, 0.96, 0.5], [3], 3, [5, 4]),  # the range of a scale has finer numbers that are as stable
        ([0.1, 0.15, 0.1], [3], 3, []),  # less than chance
    ],
)
def test_of_numbers_as_stable_as_any_the_finest_is_taken(stability, ranked, finest, finer):
    some = Scales(curve_of(stability, 0.4, sem=0.01), ranked, None, [], np.arange(1), False)
    assert (some.finest(), some.finer(finest)) == (finest, finer)
    assert some.preferring(finest).table["n_clusters"].iloc[0] == finest


@pytest.mark.slow
def test_the_default_hardly_depends_on_the_seed(data_folder):
    with np.load(data_folder / "pools" / "VS.npz") as file:
        pool = file["members"][::3, ::9].astype(np.int64)
    for k in (4, "auto"):
        found = [cs.combine(pool, k, random_state=seed).labels for seed in range(10)]
        pairs = [adjusted_rand(found[a], found[b]) for a in range(10) for b in range(a)]
        assert np.mean(pairs) >= 0.95
