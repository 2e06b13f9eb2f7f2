"""The tree: its cuts, its layout, and the compactness curve against Eq. 3 itself; and maps in the plane."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, leaves_list
from scipy.spatial.distance import pdist, squareform

from consilience.measures import compactness
from consilience.meta import maps, organize
from consilience.meta import tree as trees
from consilience.meta.maps import make_map
from samples import refusals, same_partition, three_kinds


def some_distances(m, seed=0, ties=False):
    """Not Euclidean, not even a metric: the identities must hold all the same."""
    drawn = np.random.default_rng(seed).random(m * (m - 1) // 2)
    return np.round(drawn, 1) if ties else drawn


def grown(distances, linkage="average"):
    """The tree and its curve."""
    tree = trees.grow(distances, linkage)
    return tree, trees.compactness_curve(tree, distances, linkage)


@pytest.mark.parametrize("linkage", trees.LINKAGES)
@pytest.mark.parametrize("ties", [False, True])
def test_curve_is_eq_3_of_every_cut(linkage, ties):
    distances = some_distances(25, 3, ties)
    (tree, curve), matrix = grown(distances, linkage), squareform(distances)
    expected = [compactness(matrix, trees.cut(tree, g)[1], metric="precomputed") for g in curve["n_groups"]]
    np.testing.assert_allclose(curve["compactness"], expected, atol=1e-12)
    assert curve["jump"].isna().tolist() == [True] + [False] * 24
    np.testing.assert_allclose(curve["jump"][1:], -np.diff(expected), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(m=st.integers(2, 20), seed=st.integers(0, 99), linkage=st.sampled_from(trees.LINKAGES), ties=st.booleans())
def test_cuts_are_nested_and_numbered_by_size(m, seed, linkage, ties):
    distances = some_distances(m, seed, ties)
    tree = trees.grow(distances, linkage)
    order, first, sizes = trees.layout(tree)
    np.testing.assert_array_equal(order, leaves_list(tree))
    for g in range(1, m + 1):
        nodes, groups = trees.cut(tree, g)
        counts = np.bincount(groups, minlength=g + 1)[1:]
        assert len(nodes) == g == len(counts)
        assert (np.diff(counts) <= 0).all()
        assert counts.min() > 0
        np.testing.assert_array_equal(sizes[nodes], counts)
        for group, node in enumerate(nodes, 1):
            leaves = np.sort(order[first[node] : first[node] + sizes[node]])
            np.testing.assert_array_equal(leaves, np.flatnonzero(groups == group))
        if not ties:
            assert same_partition(groups, fcluster(tree, g, "maxclust"))
        if g > 1:
            coarser = trees.cut(tree, g - 1)[1]
            assert len(np.unique(np.column_stack([groups, coarser]), axis=0)) == g  # a group has one group above it


def test_equal_sizes_are_numbered_by_first_clustering():
    distances = squareform(np.array([[0, 9, 1, 9], [9, 0, 9, 0.5], [1, 9, 0, 9], [9, 0.5, 9, 0]]))
    assert trees.cut(trees.grow(distances, "average"), 2)[1].tolist() == [1, 2, 1, 2]


def test_a_height_makes_the_groups_that_are_complete_there():
    tree, curve = grown(some_distances(15))
    for height in (0.0, float(tree[4, 2]), 9.0):
        n, _ = trees.number_of_groups(tree, curve, None, height)
        assert same_partition(trees.cut(tree, n)[1], fcluster(tree, height, "distance"))


@pytest.mark.parametrize("linkage", trees.LINKAGES)
@pytest.mark.parametrize("differing", [1, 2, 5])
def test_auto_does_not_part_equal_items(linkage, differing):
    kind = np.arange(20) % differing
    matrix = squareform(some_distances(5) + 0.5)[np.ix_(kind, kind)]
    distances = squareform(np.where(kind[:, None] == kind, 0, matrix))
    tree, curve = grown(distances, linkage)
    most = trees.candidate_jumps(curve)["n_groups"].max()
    assert np.isnan(most) if differing == 1 else most == differing
    n, note = trees.number_of_groups(tree, curve)
    assert n <= differing
    assert ("equal ones" in note) == (differing == 1)
    groups = trees.cut(tree, n)[1]
    assert all(len(set(groups[kind == one])) == 1 for one in range(differing))


def test_auto_takes_the_sharpest_jump_within_thirty():
    tree, curve = grown(some_distances(60))
    jumps = trees.candidate_jumps(curve)
    assert set(jumps["n_groups"]) == set(range(2, 31))
    assert (np.diff(jumps["bend"]) <= 0).all()
    best = max(range(2, 31), key=lambda g: curve["jump"][g - 1] - curve["jump"][g])
    n, note = trees.number_of_groups(tree, curve, "auto", None)
    assert n == jumps["n_groups"][0] == best
    assert "not a truth" in note


def test_looking_up_condensed_distances():
    distances, some, others = some_distances(11), np.array([7, 1, 4]), np.array([0, 4, 10])
    matrix = trees.square(distances)
    np.testing.assert_array_equal(matrix, squareform(distances).astype(np.float32))
    np.testing.assert_allclose(
        trees.totals(distances, some, others), matrix[np.ix_(some, others)].sum(axis=1), rtol=1e-6
    )
    assert trees.medoid_of(distances, some, others) == others[matrix[np.ix_(others, some)].sum(axis=1).argmin()]


SPACE = pdist(np.random.default_rng(0).normal(size=(150, 12)))


def test_points_of_the_plane_are_found_again():
    points = np.random.default_rng(0).normal(size=(60, 2))
    found = make_map(pdist(points))
    assert found.stress < 1e-3
    np.testing.assert_allclose(pdist(found.xy), pdist(points), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("block", [2**18, 300])  # rows at a time: all, and seven
def test_distortion_is_what_it_is_defined_as(monkeypatch, block):
    monkeypatch.setattr(maps, "BLOCK", block)
    distances = pdist(np.random.default_rng(0).normal(size=(40, 12)))
    found = make_map(distances)
    d = pdist(found.xy)
    fit = (d @ distances) ** 2 / ((d @ d) * (distances @ distances))
    assert found.stress == pytest.approx(np.sqrt(1 - fit), abs=1e-4)
    pairs = zip(squareform(distances), squareform(d), strict=True)  # of every row the nearest is itself
    kept = [len(set(np.argsort(given)[1:11]) & set(np.argsort(drawn)[1:11])) for given, drawn in pairs]
    assert found.neighbors_kept == pytest.approx(np.mean(kept) / 10, abs=1e-6)
    assert found.n_neighbors == 10


def test_every_step_lowers_the_stress():
    errors = [np.square(pdist(make_map(SPACE, max_iter=n).xy) - SPACE).sum() for n in (1, 2, 5, 20, 100)]
    assert (np.diff(errors) < 0).all()


def test_a_neighbor_map_keeps_more_neighbors():
    near, far = make_map(SPACE, "neighbors"), make_map(SPACE)
    assert near.neighbors_kept > far.neighbors_kept
    assert near.stress > far.stress


@pytest.mark.parametrize("kind", ["mds", "neighbors"])
def test_the_same_seed_gives_the_same_map(kind):
    meta = organize(three_kinds(noise=0.4)[0], 3)
    one, again = meta.map(kind), meta.map(kind, random_state=0)
    assert one.xy.shape == (19, 2)
    np.testing.assert_array_equal(one.xy, again.xy)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("kind", ["mds", "neighbors"])
def test_few_and_equal_clusterings(kind, m):
    found = make_map(np.ones(m * (m - 1) // 2), kind)
    assert found.xy.shape == (m, 2)
    assert np.isfinite(found.xy).all()
    if kind == "mds" and m < 4:
        np.testing.assert_allclose(pdist(found.xy), 1, atol=1e-3)
    equal = make_map(np.zeros(10))
    assert (equal.xy == 0).all()
    assert equal.stress == 0


test_bad_options_are_refused = refusals(
    ({"kind": "umap"}, "unknown kind of map 'umap'"),
    ({"kind": "neighbors", "max_iter": 10}, "at least 250"),
    call=lambda options: make_map(np.ones(3), **options),
)


@pytest.mark.slow
def test_a_neighbor_map_in_stages_is_as_good(monkeypatch):
    distances = pdist(np.random.default_rng(5).random((200, 6)))
    whole, steps = make_map(distances, "neighbors"), []
    monkeypatch.setattr(maps, "ALONE", 100)
    staged = make_map(distances, "neighbors", step=lambda: steps.append(1))
    assert len(steps) == maps.STAGES
    assert staged.neighbors_kept > 0.95 * whole.neighbors_kept
    np.testing.assert_array_equal(staged.xy, make_map(distances, "neighbors").xy)
