"""The kernels behind adjusted mutual information and element-centric similarity against their plain twins in `oracle`."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import oracle
from consilience import _kernels
from consilience._check import InputError
from samples import random_labels

quick = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)


@quick
@given(n=st.integers(0, 60), data=st.data())
def test_expected_xlogx(n, data):
    sizes = st.lists(st.integers(0, n), max_size=5)
    own, other = data.draw(sizes), data.draw(sizes)
    want = oracle.expected_xlogx(n, own, other)
    assert_allclose(_kernels.expected_xlogx(n, own, other), want, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n", [90, 400])
def test_expected_xlogx_of_large_clusters(n):
    sizes = [1, 2, 7, n // 50, n // 3, n // 2, n - n // 5, n - 1, n]
    table = _kernels.expected_xlogx(n, sizes, sizes)
    assert_allclose(table, oracle.expected_xlogx(n, sizes, sizes), rtol=1e-12)
    assert_array_equal(table, _kernels.expected_xlogx(n, sizes, sizes, threads=3))


def test_expected_xlogx_beyond_the_table_of_logarithms():
    """All but three of n objects leave out of a half as many as of the three lie in it."""
    n = 2**22
    share = [comb(n // 2, y) * comb(n // 2, 3 - y) / comb(n, 3) for y in range(4)]
    want = sum(p * (n // 2 - y) * np.log(n // 2 - y) for y, p in enumerate(share))
    assert _kernels.expected_xlogx(n, [n // 2], [n - 3])[0, 0] == pytest.approx(want, rel=1e-13)


def test_expected_xlogx_refuses_sizes_that_cannot_be():
    for own, other in ([[-1], [2]], [[2], [11]]):
        with pytest.raises(InputError, match="a cluster of 10 objects has 0 … 10 of them"):
            _kernels.expected_xlogx(10, own, other)


def check(labels, begin=0, end=None, clusters=None):  # the plain twins take n × n numbers and binomials: n is small
    end = labels.shape[1] if end is None else end
    codes = _kernels.encode_codes(labels)
    clusters = labels.max(axis=0) + 1 if clusters is None else clusters
    for missing in {bool((labels < 0).any()), True}:
        want = oracle.overlap_sums(codes, clusters, begin, end, missing=missing)
        for threads in (1, 3):
            got = _kernels.overlap_sums(codes, clusters, begin, end, missing=missing, threads=threads)
            assert_allclose(got[0], want[0], rtol=1e-12, atol=1e-12)
            assert_array_equal(got[1], want[1])
    want, found = np.ones(len(labels)), [np.ones(len(labels)) for _ in range(2)]
    oracle.object_overlaps(codes, clusters, begin, end, want)
    for threads, total in zip((1, 3), found, strict=True):
        _kernels.object_overlaps(codes, clusters, begin, end, total, threads=threads)
    assert_allclose(found[0], want, rtol=1e-12, atol=1e-12)
    assert_array_equal(*found)
    expected = _kernels.expected_sums(codes, clusters, begin, end)
    assert_allclose(expected, oracle.expected_sums(codes, clusters, begin, end), rtol=1e-12, atol=1e-12)
    assert_array_equal(expected, _kernels.expected_sums(codes, clusters, begin, end, threads=3))


@quick
@given(
    seed=seeds, n=st.integers(1, 30), m=st.integers(1, 6), k=st.integers(1, 40), holes=st.sampled_from([0.0, 0.3, 1.0])
)
def test_overlaps(seed, n, m, k, holes):
    check(random_labels(seed, n, m, k, holes))


@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("k", [1, 2, 15, 16, 81, 255, 256, 300])
def test_overlaps_of_few_and_many_clusters(k, holes):
    labels = random_labels(k, 310, 3, k, holes)
    labels[:4] = k - 1  # the last cluster occurs
    check(labels)


@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize(("begin", "end"), [(0, 1), (3, 36), (30, 50), (49, 50), (4, 4)])
def test_overlaps_of_a_band_across_lane_groups(begin, end, holes):
    check(random_labels(2, 12, 50, np.r_[np.full(34, 4), np.full(16, 9)], holes), begin, end)


def test_overlaps_of_clusters_that_do_not_occur():
    check(random_labels(5, 60, 4, 5, missing=0.2), clusters=np.array([5, 9, 70, 90], np.int32))
    check(random_labels(5, 60, 4, 5), clusters=np.array([5, 9, 70, 90], np.int32))


def test_overlaps_of_more_than_65535_clusters():
    n = 70_000
    single = np.random.default_rng(7).permutation(n)
    labels = np.column_stack([single, np.arange(n), np.arange(n) // 2]).astype(np.int32)
    sums, _ = _kernels.overlap_sums(_kernels.encode_codes(labels), labels.max(axis=0) + 1, 0, 3, missing=False)
    assert_array_equal(sums, [[n, n, n / 2], [0, n, n / 2], [0, 0, n]])


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_labels_above_k_are_refused(kind):
    codes, clusters = np.full((2, 50), 40, kind), np.array([41, 3], np.int32)
    for kernel in (
        lambda: _kernels.overlap_sums(codes, clusters, 0, 2, missing=True),
        lambda: _kernels.overlap_sums(codes, clusters[::-1].copy(), 0, 2, missing=False),
        lambda: _kernels.object_overlaps(codes, clusters, 0, 2, np.zeros(50)),
        lambda: _kernels.expected_sums(codes, clusters, 0, 2),
    ):
        with pytest.raises(ValueError, match="outside its clustering's range"):
            kernel()


def test_arrays_that_do_not_fit_are_refused():
    codes, clusters = np.zeros((2, 50), np.uint8), np.array([1, 1], np.int32)
    with pytest.raises(InputError, match="clusterings 0 … 2 are not among the 2 given"):
        _kernels.overlap_sums(codes, clusters, 0, 3, missing=False)
    for total, sizes in ((np.zeros(49), clusters), (np.zeros(50), clusters[:1])):
        with pytest.raises(InputError, match="a place for every object"):
            _kernels.object_overlaps(codes, sizes, 0, 1, total)
