"""The number of clusters by the agreement of halves: by definition, on what is planted, and where labels cannot tell."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.consensus import Consensus
from consilience.consensus.how_many import stability
from consilience.consensus.how_many.stability import by_groups, by_walk, compare_halves, rank, sample_objects
from consilience.consensus.result import describe_doubt
from consilience.consensus.rows.cluster_similarity import Overlaps, nearest_clusters
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.rows.row_tree import cut_clusters, similarity_tree
from consilience.generation.kmeans import kmeans_runs
from consilience.measures import adjusted_rand
from samples import noisy_copies, random_labels

pytestmark = pytest.mark.full_effort


def runs_of(X, seed, r=12, numbers=(2, 9)):
    drawn = np.random.default_rng(seed).integers(numbers[0], numbers[1] + 1, r)
    return np.asarray(kmeans_runs(X, drawn, seed=seed, max_iter=100).labels).T


def kmeans_of(seed, spread, n=200, length=1.0):
    """k-means with several numbers of clusters of four clusters as far apart as said, and the clusters; of one cloud without spread."""
    rng, truth = np.random.default_rng(seed), np.arange(n) % 4
    return runs_of(rng.normal(size=(n, 4)) * [length, 1, 1, 1] + spread * np.eye(4)[truth], seed), truth


def curve_of(values, start=2):
    return pd.DataFrame({"n_clusters": np.arange(start, start + len(values)), "stability": values, "sem": 0.0})


@pytest.mark.parametrize("how", ["walk", "groups"])
def test_stability_is_the_adjusted_rand_index_of_halves_that_are_combined_apart(how):
    labels = noisy_copies(n=60, k=3, r=7, noise=0.2)[0]
    problem, seen = check_problem(labels, None, np.random.default_rng(0).integers(1, 4, 60)), []
    combine = by_groups if how == "groups" else by_walk(Overlaps.of(problem))

    def note(problem, half, numbers, rng):
        seen.append((half, combine(problem, half, numbers, rng)))
        return seen[-1][1]

    values = compare_halves(problem, np.array([2, 3, 4]), note)
    assert values.shape == (stability.SPLITS, 3)
    often = problem.weights.astype(int)
    for s, (one, other) in enumerate(zip(seen[::2], seen[1::2], strict=True)):
        assert len(one[0]) == len(other[0]) == 3
        assert not set(one[0]) & set(other[0])
        answers = [[np.repeat(found, often) for found in half[1]] for half in (one, other)]
        assert_allclose(values[s], [adjusted_rand_score(*pair) for pair in zip(*answers, strict=True)])
        alone = cs.combine(np.repeat(problem.labels[:, one[0]], often, axis=0), 3, "walk").labels
        assert how == "groups" or adjusted_rand(alone, answers[0][1]) > 0.95
    assert sorted(seen[0][0].tolist()) != sorted(seen[2][0].tolist())


def test_all_numbers_from_one_tree_are_what_each_gives_alone():
    """The clusters of `cuts` are those that the walk cuts and refines at one number."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, (90, 8))
    labels[:, :4] = np.repeat(rng.integers(0, 6, (15, 4)), 6, axis=0)
    problem = check_problem(labels, None, rng.integers(1, 4, 90))
    similarity, numbers = Overlaps.of(problem).similarity(), np.array([2, 3, 5, 9, 20])
    tree = similarity_tree(similarity.of_rows(problem.labels, problem.weights), problem.weights)
    found = by_walk(Overlaps.of(problem))(problem, np.arange(8), numbers, rng)
    for k, mine in zip(numbers.tolist(), found, strict=True):
        cut = cut_clusters(tree, problem.weights, k)
        expected = nearest_clusters(problem, similarity, cut, k, 3)[0]
        assert adjusted_rand(mine, expected) > 0.999, k


def test_halves_that_part_nothing_or_cannot_make_as_many_agree_on_nothing():
    labels = np.column_stack([np.arange(12) % 2] * 3 + [np.arange(12) // 6])
    problem = check_problem(labels)
    values = compare_halves(problem, np.array([2, 3, 4]), by_walk(Overlaps.of(problem)))
    assert (values[:, 2] == 0).all()  # four rows, which a half of one kind of clustering does not have
    assert stability._agreement(np.zeros(6, int), np.array([0, 0, 0, 1, 1, 1]), np.ones(6)) == 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.3, 0.4, 0.9, 0.4, 0.3, 0.2, 0.1], [4]),
        ([0.3, 0.4, 1.0, 0.4, 0.3, 0.3, 0.3, 0.3, 0.95, 0.3], [10, 4]),  # the finest peak
        ([0.3, 0.4, 1.0, 0.4, 0.3, 0.95, 0.3, 0.3, 0.3, 0.3], [4]),  # 7 is less than twice as many
        ([0.86, 0.3, 0.3, 0.9, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.88], [12, 5, 2]),  # others by their stability
        ([1.0, 0.3, 0.3, 0.84, 0.3], [2]),  # two where that is a peak
        ([0.1, 0.2, 0.3, 0.9, 0.95], [6]),
        ([0.3, 0.4, 1.0, 1.0, 1.0, 0.3, 0.2], [4]),  # of equals, the fewest
        ([0.8, 0.3, 0.5, 0.8, 0.8, 0.8, 0.6], [6]),  # where none is stable: the fewest as stable as any, from three
        ([0.4], [2]),
    ],
)
def test_the_answer_of_hand_made_curves(values, expected):
    assert rank(curve_of(values)) == expected


@pytest.mark.parametrize("seed", [0, 2])
def test_separated_clusters_are_found_without_doubt(seed):
    ensemble, truth = kmeans_of(seed, 8.0)
    one = cs.combine(ensemble, "auto")
    assert (one.n_clusters, describe_doubt(one)) == (4, "")
    assert adjusted_rand(truth, one.labels) > 0.97
    assert one.curve["n_clusters"].tolist() == list(range(2, ensemble.max() + 2))
    numbers = sorted(one.scales["n_clusters"])
    assert list(one.scales) == ["n_clusters", "stability", "sem", "real", "confidence"]
    assert one.scales["n_clusters"].iloc[0] == 4
    at = numbers.index(4)
    assert_array_equal(one.scale_labels[:, at], one.labels)
    assert_array_equal(one.scale_confidence[:, at], one.confidence)
    confidence = one.scales.set_index("n_clusters")["confidence"]
    assert_allclose(one.scale_confidence.mean(axis=0), confidence[numbers])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_of_nested_scales_one_is_found_and_the_other_shown(seed):
    groups = np.array([[0, 0], [14, 0], [7, 12]])
    blobs = np.concatenate([group + 3.2 * np.array([[0, 0], [1, 0.2], [0.4, 1]]) for group in groups])
    X = blobs.repeat(60, axis=0) + np.random.default_rng(seed).normal(size=(540, 2)) * 0.7
    one = cs.combine(runs_of(X, seed, 30, (2, 16)), "auto")
    assert one.n_clusters in (9, 10)
    assert one.scales["n_clusters"].tolist()[1:] in ([3], [2])
    assert one.scales["real"].iloc[1]
    assert "stable at" in repr(one)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("noise", [0.1, 0.3, 0.5])
def test_noisy_copies_have_their_number(noise, seed):
    labels, truth = noisy_copies(n=200, k=6, r=8, noise=noise, seed=seed)
    one = cs.combine(labels, "auto")
    assert (one.n_clusters, describe_doubt(one)) == (6, "")
    assert one.curve["n_clusters"].tolist() == [6]
    assert adjusted_rand(truth, one.labels) > (0.9 if noise < 0.5 else 0.7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("length", [None, 1.0, 5.0], ids=["random labels", "one cloud", "a long cloud"])
def test_where_there_is_nothing_it_says_so(length, seed):
    ensemble = kmeans_of(seed, 0.0, length=length)[0] if length else random_labels(seed, 200, 8, 4)
    one = cs.combine(ensemble, "auto")
    assert not one.scales["real"].any()
    assert "no number of clusters is stable" in describe_doubt(one)
    assert "no number of clusters is stable enough to tell" in repr(one)


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
def test_degenerate_clusterings_are_in_doubt_and_no_cause_for_warnings(labels):
    one = cs.combine(labels, "auto")
    assert not one.scales["real"].any()
    assert np.isfinite(one.confidence).all()


def test_clusterings_that_are_all_the_same():
    labels = np.tile(np.repeat([0, 1, 2], 8)[:, None], 6)
    one = cs.combine(labels, "auto")
    assert_array_equal(one.labels, labels[:, 0])
    assert one.scales["real"].tolist() == [True]


@pytest.mark.parametrize("what", ["three clusterings", "two rows"])
def test_too_little_to_choose_by(what):
    few = what == "three clusterings"
    labels = noisy_copies(n=40, k=3, r=3, noise=0.2)[0] if few else np.tile(np.repeat([0, 1], 8)[:, None], 6)
    one = cs.combine(labels, "auto")
    assert one.n_clusters == int(np.median(labels.max(axis=0))) + 1
    assert one.curve is one.scales is one.scale_labels is None
    assert "leave nothing to choose by" in one.note


def test_the_order_of_objects_and_clusterings_changes_nothing():
    ensemble, rng = kmeans_of(1, 3.0)[0], np.random.default_rng(0)
    one, order = cs.combine(ensemble, "auto"), rng.permutation(200)
    for other, labels in (
        (cs.combine(ensemble[order], "auto"), one.labels[order]),
        (cs.combine(ensemble[:, rng.permutation(12)], "auto"), one.labels),
    ):
        pd.testing.assert_frame_equal(other.curve, one.curve)
        assert adjusted_rand(other.labels, labels) == 1


def test_missing_labels_and_weights():
    ensemble, truth = kmeans_of(0, 8.0)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(ensemble.shape) < 0.2, -1, ensemble)
    assert cs.combine(labels, "auto").n_clusters == 4
    weights = rng.integers(0, 3, 200)
    weighted = cs.combine(ensemble, "auto", sample_weight=weights)
    literal = cs.combine(np.repeat(ensemble, weights, axis=0), "auto")
    pd.testing.assert_frame_equal(weighted.curve, literal.curve)
    assert adjusted_rand(np.repeat(weighted.labels, weights), literal.labels) == 1
    assert adjusted_rand(truth[weights > 0], weighted.labels[weights > 0]) > 0.8


def test_a_sample_of_the_objects_stands_for_them():
    labels = random_labels(0, 4000, 6, [3, 3, 3, 3, 3, 40], 0.1, labeled=True)
    problem = check_problem(labels)
    some = sample_objects(problem)
    assert some.weights.sum() == 1000
    assert some.n_rows < problem.n_rows
    assert all(set(np.unique(column)) - {-1} == set(range(column.max() + 1)) for column in some.labels.T)
    assert sample_objects(check_problem(labels[:900])).weights.sum() == 900


def test_a_result_that_was_saved_with_splits_opens(tmp_path):
    one = cs.combine(kmeans_of(0, 8.0)[0], "auto")
    one.save(tmp_path / "kept")
    (header,) = (tmp_path / "kept").glob("*.json")
    held = json.loads(header.read_text())
    held["fields"]["splits"] = held["fields"]["scales"]  # a table, as there was
    header.write_text(json.dumps(held))
    again = Consensus.load(tmp_path / "kept")
    pd.testing.assert_frame_equal(again.scales, one.scales)
