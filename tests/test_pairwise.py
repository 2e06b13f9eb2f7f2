"""All pairs of an ensemble against the same measure of two clusterings; stability against its definition."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform

import consilience as cs
from consilience import Ensemble, pairwise, stability
from consilience._check import InputError
from consilience.measures import MEASURES
from consilience.measures.counts import BAND
from samples import random_labels, refuses

every_measure = pytest.mark.parametrize("name", MEASURES)
with_and_without_holes = pytest.mark.parametrize("holes", [0.0, 0.3])


def ensemble_of(*drawn):
    return Ensemble.from_codes(random_labels(*drawn))


def check_against_single_pairs(ens, name, pairs=None):
    measure, matrix = MEASURES[name].function, pairwise(ens, name)
    m = ens.n_clusterings
    assert matrix.shape == (m, m)
    for i, j in itertools.product(range(m), repeat=2) if pairs is None else pairs:
        expected = measure(ens.labels[:, i], ens.labels[:, j])
        assert matrix[i, j] == pytest.approx(expected, abs=1e-11, nan_ok=True), (i, j)


@every_measure
@given(
    st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 5), st.integers(1, 6), st.sampled_from([0.0, 0.3, 0.9])
)
def test_equal_to_single_pairs(name, seed, n, m, k, holes):
    check_against_single_pairs(ensemble_of(seed, n, m, k, holes), name)


@every_measure
@with_and_without_holes
def test_across_bands_and_lane_groups(name, holes):
    m = BAND + 35
    ens = ensemble_of(1, 12, m, 4, holes)
    edges = [0, 1, 31, 32, 33, BAND - 1, BAND, BAND + 1, BAND + 31, BAND + 32, m - 1]
    check_against_single_pairs(ens, name, itertools.product(edges, repeat=2))


@every_measure
@with_and_without_holes
def test_mixed_numbers_of_clusters(name, holes):
    k = np.r_[2, 300, 5, 90, 40, 80, 81, 254, 255, 256, 1]
    check_against_single_pairs(ensemble_of(2, 400, len(k), k, holes), name)


@every_measure
def test_objects_left_out_leave_clusters_empty(name):
    whole = ensemble_of(3, 60, 6, 12)
    part = whole[:15]
    assert_allclose(pairwise(part, name), pairwise(Ensemble(part.labels), name), atol=1e-12)
    check_against_single_pairs(part, name)


@every_measure
def test_no_shared_object_is_nan(name):
    matrix = pairwise([[0, 1, None, None], [None, None, 0, 1], [0, 0, 0, 1], [None] * 4], name)
    expected = np.zeros((4, 4), bool)
    expected[[0, 1], [1, 0]] = expected[3] = expected[:, 3] = True
    assert_array_equal(np.isnan(matrix), expected)


@every_measure
@with_and_without_holes
def test_threads_and_sides_do_not_change_a_bit(name, holes):
    ens = ensemble_of(4, 50, 40, np.r_[np.full(33, 5), np.full(7, 120)], holes)
    matrix = pairwise(ens, name)
    assert_array_equal(matrix, pairwise(ens, name, n_jobs=3))
    if MEASURES[name].symmetric:
        assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize("name", [name for name, how in MEASURES.items() if how.is_distance])
@with_and_without_holes
def test_distances_go_straight_into_scipy(name, holes):
    matrix = pairwise(ensemble_of(6, 500, 40, 9, holes), name)
    assert not matrix.diagonal().any()
    assert len(squareform(matrix)) == 40 * 39 / 2


def test_refusals():
    for call in (
        lambda: stability([[0, 1, 1]]),
        lambda: pairwise([[0, 1]], "jacard"),
        lambda: pairwise([[0, 1]], n_jobs=0),
    ):
        with pytest.raises(InputError):
            call()
    many = Ensemble.from_codes(np.zeros((2, 50_000), np.int32))
    for verb in (pairwise, stability, cs.compare):
        refuses(r"1,249,975,000 pairs.*--columns", verb, many)


@every_measure
@pytest.mark.parametrize("holes", [0.0, 0.3, 0.8])
def test_stability_is_the_mean_over_pairs(name, holes):
    ens = ensemble_of(8, 15, 7, 3, holes)
    measure = MEASURES[name].function
    columns = list(ens.labels.T)

    def values(kept):
        both_ways = [(measure(a, b) + measure(b, a)) / 2 for a, b in itertools.combinations(kept, 2)]
        return np.array([x for x in both_ways if not np.isnan(x)])

    all_pairs = values(columns)
    left_out = [values(columns[:i] + columns[i + 1 :]).mean() for i in range(7)]
    got = stability(ens, name)
    assert (len(all_pairs) < 21) == (holes == 0.8), "pairs without shared objects are left out"
    assert got.measure == name
    assert got.n_pairs == len(all_pairs)
    assert got.mean == pytest.approx(all_pairs.mean(), abs=1e-11)
    assert got.sem == pytest.approx(all_pairs.std(ddof=1) / np.sqrt(len(all_pairs)), abs=1e-11)
    assert got.sem_jackknife == pytest.approx(np.sqrt(6 * np.var(left_out)), abs=1e-11)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([[0, 0, 1, 1]] * 4, (1, 0, 0, 6)),
        ([[0, 0, 1], [0, 1, 1]], (0, np.nan, np.nan, 1)),
        ([[0, None], [None, 0]], (np.nan, np.nan, np.nan, 0)),
    ],
)
def test_stability_at_the_edges(labels, expected):
    got = stability(labels)
    assert_array_equal((got.mean, got.sem, got.sem_jackknife, got.n_pairs), expected)


def test_results_are_equal_to_themselves_only_and_are_saved(tmp_path):
    found = cs.compare([[0, 0, 1, 1], [0, 1, 1, 1]], ["jaccard"])
    assert found == found
    assert found != cs.compare([[0, 0, 1, 1], [0, 1, 1, 1]], ["jaccard"])
    found.save(tmp_path / "kept")
    again = cs.measures.Comparison.load(tmp_path / "kept")
    assert repr(again) == repr(found)
    pd.testing.assert_frame_equal(again.to_frame(), found.to_frame())
