"""Maps: exact where the plane suffices, honest where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from consilience._check import InputError
from consilience.meta import Map, maps, organize
from consilience.meta.maps import make_map
from samples import three_kinds


def test_points_of_the_plane_are_found_again():
    points = np.random.default_rng(0).normal(size=(60, 2))
    found = make_map(pdist(points))
    assert found.stress < 1e-3
    np.testing.assert_allclose(pdist(found.xy), pdist(points), rtol=0.02, atol=0.02)


def random_space(m=150, dimensions=12, seed=0):
    return pdist(np.random.default_rng(seed).normal(size=(m, dimensions)))


@pytest.mark.parametrize("block", [2**18, 300])  # rows at a time: all, and seven
def test_distortion_is_what_it_is_defined_as(monkeypatch, block):
    monkeypatch.setattr(maps, "BLOCK", block)
    distances = random_space(40)
    found = make_map(distances)
    d = pdist(found.xy)
    assert found.stress == pytest.approx(
        np.sqrt(1 - (d @ distances) ** 2 / ((d @ d) * (distances @ distances))), abs=1e-4
    )
    kept = []
    for given, drawn in zip(squareform(distances), squareform(d), strict=True):
        kept.append(len(set(np.argsort(given)[1:11]) & set(np.argsort(drawn)[1:11])))  # the first is itself
    assert found.neighbors_kept == pytest.approx(np.mean(kept) / 10, abs=1e-6)
    assert found.n_neighbors == 10


def test_every_step_lowers_the_stress():
    distances = random_space()

    def error(xy):
        return np.square(pdist(xy) - distances).sum()

    errors = [error(make_map(distances, max_iter=steps).xy) for steps in (1, 2, 5, 20, 100)]
    assert (np.diff(errors) < 0).all()


def test_a_neighbor_map_keeps_more_neighbors():
    distances = random_space()
    near, far = make_map(distances, "neighbors"), make_map(distances)
    assert near.neighbors_kept > far.neighbors_kept
    assert near.stress > far.stress


@pytest.mark.parametrize("kind", ["mds", "neighbors"])
def test_the_same_seed_gives_the_same_map(kind):
    ens, _, _ = three_kinds(noise=0.4)
    meta = organize(ens, 3)
    one, again = meta.map(kind), meta.map(kind, random_state=0)
    assert isinstance(one, Map)
    assert one.xy.shape == (19, 2)
    np.testing.assert_array_equal(one.xy, again.xy)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("kind", ["mds", "neighbors"])
def test_few_clusterings(kind, m):
    found = make_map(np.ones(m * (m - 1) // 2), kind)
    assert found.xy.shape == (m, 2)
    assert np.isfinite(found.xy).all()
    if kind == "mds" and m < 4:
        np.testing.assert_allclose(pdist(found.xy), 1, atol=1e-3)


def test_equal_clusterings_fall_together():
    found = make_map(np.zeros(10))
    assert (found.xy == 0).all()
    assert found.stress == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [({"kind": "umap"}, "unknown kind of map 'umap'"), ({"kind": "neighbors", "max_iter": 10}, "at least 250")],
)
def test_bad_options_are_refused(options, says):
    with pytest.raises(InputError, match=says):
        make_map(np.ones(3), **options)


@pytest.mark.slow
def test_a_neighbor_map_in_stages_is_as_good(monkeypatch):
    distances = pdist(np.random.default_rng(5).random((200, 6)))
    whole, steps = make_map(distances, "neighbors"), []
    monkeypatch.setattr(maps, "ALONE", 100)
    staged = make_map(distances, "neighbors", step=lambda: steps.append(1))
    assert len(steps) == maps.STAGES
    assert staged.neighbors_kept > 0.95 * whole.neighbors_kept
    np.testing.assert_array_equal(staged.xy, make_map(distances, "neighbors").xy)


def test_a_neighbor_map_in_stages_can_be_ended(monkeypatch):
    monkeypatch.setattr(maps, "ALONE", 10)

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_map(pdist(np.random.default_rng(5).random((40, 6))), "neighbors", step=stop)
