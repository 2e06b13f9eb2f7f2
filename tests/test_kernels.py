"""Every native kernel against its plain twin in `oracle`."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

import oracle
from consilience import _kernels
from samples import first_of, random_labels

seeds = st.integers(0, 2**32 - 1)


def same(kernel, *given, into=None, rtol=0.0, atol=0.0, threads=1, **options):
    """What a kernel gives, and leaves in an array: as its twin does, floats to rounding, and to the bit as in several threads."""
    runs = []
    for module, how in ((oracle, {}), (_kernels, {}), (_kernels, {"threads": threads} if threads > 1 else {})):
        own = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
        found = getattr(module, kernel)(*own, **options, **how)
        found = found if isinstance(found, tuple) else (found,)
        runs.append([np.asarray(x) for x in (found if into is None else (*found, own[into]))])
    for plain, mine, threaded in zip(*runs, strict=True):
        assert mine.dtype == plain.dtype
        assert_array_equal(mine, threaded)
        if mine.dtype.kind == "f":
            assert_allclose(mine, plain, rtol=rtol, atol=atol)
        else:
            assert_array_equal(mine, plain)
    return runs[1]


@given(seed=seeds, n=st.integers(0, 40), k=st.integers(1, 40), l=st.integers(1, 40))
def test_contingency(seed, n, k, l):  # noqa: E741
    (a, b), shape = np.ascontiguousarray(random_labels(seed, n, 2, [k, l], missing=0.2).T), (k, l)
    rng = np.random.default_rng(seed)
    whole, parts = rng.integers(0, 100, len(a)), rng.random(len(a))
    for weights in (None, whole, whole.astype(np.uint8), parts, parts.astype(np.float32)):
        same("contingency", a, b, shape, weights=weights)  # also floats: both add in the order of the objects


def test_contingency_counts_whole_weights_exactly_beyond_doubles():
    zero = np.zeros(2, np.int32)
    assert _kernels.contingency(zero, zero, (1, 1), weights=np.array([2**60, 1])).item() == 2**60 + 1


@given(
    seed=seeds, n=st.integers(1, 12), m=st.integers(1, 5), k=st.integers(1, 5), square=st.booleans(), own=st.booleans()
)
def test_allocate(seed, n, m, k, square, own):
    rng = np.random.default_rng(seed)
    labels = random_labels(seed, n, m, k, missing=0.2)
    known = np.column_stack([labels >= 0, np.ones(n, bool)])
    columns = np.column_stack([labels + k * np.arange(m), np.full(n, k * m)])[known].astype(np.int32)
    start = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    weight = rng.integers(1, 5, n).astype(np.int32)
    value = rng.integers(1, np.repeat(weight, np.diff(start)) + 1).astype(np.int32) if own else np.empty(0, np.int32)
    scale = np.append(-rng.random(k * m), rng.random() * m) * rng.random()
    limit = int(rng.integers(1, n + 1))
    begin, order = rng.integers(-1, limit, n).astype(np.int32), rng.permutation(n)
    for passes in (0, 1, 20):
        how = {"square": square, "limit": limit, "passes": passes}
        same("allocate", start, columns, value, weight, scale, begin, order, into=5, **how, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("top", "kind"),
    [(0, np.uint8), (254, np.uint8), (255, np.uint16), (65534, np.uint16), (65535, np.uint32), (2**31 - 2, np.uint32)],
)
def test_codes_take_the_smallest_type_with_room_for_missing(top, kind):
    labels = np.array([[0, top], [-1, 0], [top, -1]], np.int32)
    codes = _kernels.encode_codes(labels)
    assert codes.dtype == kind
    assert codes.flags.c_contiguous
    missing = np.iinfo(kind).max
    assert codes.tolist() == [[0, missing, top], [top, 0, missing]]


def coded(labels, begin=0, end=None, clusters=None):
    """What kernels of pairs of clusterings take."""
    end = labels.shape[1] if end is None else end
    return _kernels.encode_codes(labels), labels.max(axis=0) + 1 if clusters is None else clusters, begin, end


def check_pair_sums(labels, *band):
    for term in ("square", "xlogx"):
        how = {"term": term, "missing": bool((labels < 0).any()), "threads": 3}
        same("pair_sums", *coded(labels, *band), **how, rtol=1e-13, atol=1e-12)


# The plain twins take n × n numbers and binomials: n is small.
def check_overlaps(labels, *band):
    given, how = coded(labels, *band), {"threads": 3, "rtol": 1e-12, "atol": 1e-12}
    for missing in {bool((labels < 0).any()), True}:
        same("overlap_sums", *given, missing=missing, **how)
    same("expected_sums", *given, **how)
    same("object_overlaps", *given, np.ones(len(labels)), into=4, **how)


@given(
    seed=seeds, n=st.integers(1, 30), m=st.integers(1, 7), k=st.integers(1, 90), holes=st.sampled_from([0.0, 0.3, 1.0])
)
def test_sums_over_pairs(seed, n, m, k, holes):
    labels = random_labels(seed, n, m, k, holes)
    check_pair_sums(labels)
    check_overlaps(labels)


@pytest.mark.parametrize("holes", first_of([0.2, 0.0]))
@pytest.mark.parametrize(
    ("check", "n", "m", "k", "band"),
    [
        *(
            (check_pair_sums, 320, 4, k, ())
            for k in (1, 2, 3, 4, 7, 8, 9, 15, 16, 47, 48, 49, 79, 80, 81, 100, 255, 256, 300)
        ),
        # clusters larger than a byte counts
        *((check_pair_sums, n, 3, k, ()) for n, k in ((255, 1), (256, 1), (511, 1), (700, 2), (1200, 2))),
        # a band across lane groups, and lane groups that mix few and many clusters
        *(
            (check_pair_sums, 25, 70, 6, band)
            for band in ((0, 1), (0, 32), (3, 36), (32, 33), (30, 70), (5, 70), (69, 70), (4, 4))
        ),
        *(
            (check_pair_sums, 150, 70, np.r_[np.full(33, 3), np.full(20, top), np.full(17, 40)], (2,))
            for top in (120, 300)
        ),
        *((check_overlaps, 310, 3, k, ()) for k in (1, 2, 15, 16, 81, 255, 256, 300)),
        *(
            (check_overlaps, 12, 50, np.r_[np.full(34, 4), np.full(16, 9)], band)
            for band in ((0, 1), (3, 36), (30, 50), (49, 50), (4, 4))
        ),
        (check_overlaps, 60, 4, 5, (0, 4, np.array([5, 9, 70, 90], np.int32))),  # clusters that do not occur
    ],
)
def test_sums_of_many_shapes(check, n, m, k, band, holes):
    labels = random_labels(n, n, m, k, holes)
    labels[:4] = np.asarray(k) - 1  # the last cluster occurs
    check(labels, *band)


@pytest.mark.parametrize("k", [3, 100, 300])
def test_pair_sums_of_clusterings_and_clusters_that_do_not_occur(k):
    labels = random_labels(4, 350, 3, k)
    for missing in (1, slice(None)):
        labels[:, missing] = -1
        check_pair_sums(labels)
    check_pair_sums(random_labels(5, 60, 4, 5, missing=0.2), 0, 4, np.array([5, 9, 70, 90], np.int32))


def test_pair_sums_of_more_than_65535_clusters():
    n = 70_000
    rng = np.random.default_rng(7)
    single = rng.permutation(n)
    labels = np.column_stack([single, rng.integers(0, 3, n), rng.integers(-1, 3, n)]).astype(np.int32)
    assert _kernels.encode_codes(labels).dtype == np.uint32
    check_pair_sums(labels, 1)
    # The n × n table of two clusterings into single objects is known without making it: n cells of 1.
    codes, clusters = _kernels.encode_codes(labels[:, :1]), np.array([n], np.int32)
    assert _kernels.pair_sums(codes, clusters, 0, 1, term="square", missing=False)[0].item() == n
    assert _kernels.pair_sums(codes, clusters, 0, 1, term="xlogx", missing=False)[0].item() == 0
    some, n_known = labels[:, :1].copy(), n - 100
    some[:100] = -1
    sums = _kernels.pair_sums(_kernels.encode_codes(some), clusters, 0, 1, term="square", missing=True)
    assert [x.item() for x in sums] == [n_known] * 4


def test_pair_sums_beyond_the_table_of_logarithms():
    n = 2**20 + 5  # the table ends at 2^20
    labels = np.zeros((n, 2), np.int32)
    labels[0, 1] = 1
    check_pair_sums(labels)


@given(seed=seeds, n=st.integers(1, 200), m=st.integers(1, 6), k=st.integers(1, 5))
def test_signatures(seed, n, m, k):
    same("signatures", random_labels(seed, n, m, k, missing=0.2))


@pytest.mark.parametrize("m", [1, 3])
def test_signatures_met_again_after_the_hash_table_grew(m):
    rng = np.random.default_rng(8)
    order = np.r_[rng.permutation(9000), rng.permutation(9000)]
    same("signatures", order[:, None] * np.array([1, 7, -3][:m]))


@given(seed=seeds, n=st.integers(1, 200), m=st.integers(1, 20), kind=st.sampled_from(["int8", "int16", "int32"]))
def test_rows_of_narrow_labels_are_collapsed_and_found(seed, n, m, kind):
    labels = random_labels(seed, n, m, 3, missing=0.2).astype(kind)
    same("distinct_rows", labels)
    rows = labels[_kernels.distinct_rows(labels[: n // 2 + 1])[0]]  # some of the others are not among them
    assert_array_equal(_kernels.find_rows(rows, _kernels.slots_of(rows), labels), oracle.find_rows(rows, labels))


@given(seed=seeds, n=st.integers(1, 60), m=st.integers(1, 5), k=st.integers(1, 5))
def test_color_rows(seed, n, m, k):
    labels, rng = random_labels(seed, n, m, k, missing=0.2), np.random.default_rng(seed)
    offsets = np.arange(m + 1) * k
    colors, own = (rng.integers(0, 2**64, size, np.uint64) for size in (m * k, n))
    same("color_rows", labels, offsets, colors, own)


@given(seed=seeds, n=st.integers(1, 50), m=st.integers(1, 6), k=st.integers(1, 5), holes=st.sampled_from([0, 0.3]))
def test_row_distances(seed, n, m, k, holes):
    columns = np.ascontiguousarray(random_labels(seed, n, m, k, missing=holes).T)
    offsets, weights = np.arange(m + 1) * k, np.random.default_rng(seed).random(m * k)
    found = same("row_distances", columns, offsets, weights, atol=1e-14)[0]
    assert_array_equal(found, found.T)


@pytest.mark.parametrize(
    ("n", "m", "top", "holes", "equal"),
    [(1100, 3, 4, 0.2, False), *((700, 600, top, holes, True) for top in (3, 254, 256) for holes in (0, 0.3))],
)
def test_row_distances_beyond_a_block_and_of_equal_weights_beyond_what_a_byte_counts(n, m, top, holes, equal):
    columns = np.ascontiguousarray(random_labels(3, n, m, 2 if equal else top, missing=holes).T)
    columns[:, 5] = top - 1  # 254 is the largest label that a byte holds beside the missing
    columns[7:9] = -1 if holes else 0
    offsets, weights = np.arange(m + 1) * top, np.random.default_rng(3).random(m * top)
    weights = np.ones(m * top) if equal else weights
    found = _kernels.row_distances(columns, offsets, weights)
    some = np.array([0, 5, 6, 511, 512, 699, n - 1])
    want = oracle.row_distances(columns[:, some], offsets, weights)
    assert_allclose(found[np.ix_(some, some)], want, atol=1e-14)


@given(seed=seeds, n=st.integers(1, 60), kind=st.sampled_from(_kernels.LINKAGES), ties=st.booleans())
def test_linkage(seed, n, kind, ties):
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 4, (n, n)) / 3 if ties else rng.random((n, n))
    distances, weights = distances + distances.T, rng.integers(1, 5, n).astype(float)
    same("linkage", distances, weights, kind, tie=1e-12, atol=1e-11)


@given(seed=seeds, n=st.integers(1, 60), d=st.integers(1, 4), ties=st.booleans(), cores=st.booleans())
def test_spanning_tree(seed, n, d, ties, cores):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 6, (n, d)).astype(float) if ties else rng.random((n, d))
    same("spanning_tree", points, rng.integers(0, 4, n) / 4 if cores else None, atol=1e-14)


@given(
    seed=seeds,
    n=st.integers(1, 60),
    gini=st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]),
    shape=st.sampled_from(["path", "star", "any"]),
)
def test_genie_merges(seed, n, gini, shape):
    rng = np.random.default_rng(seed)
    child = np.arange(1, n)
    parent = {"path": child - 1, "star": child * 0, "any": (rng.random(n - 1) * child).astype(np.int64)}[shape]
    edges = rng.permutation(n)[np.column_stack([parent, child])].reshape(-1, 2)
    same("genie_merges", rng.permutation(edges), gini)


def test_spanning_tree_beyond_a_block_and_genie_on_it():
    points = np.random.default_rng(0).normal(size=(1100, 3))
    edges, lengths = _kernels.spanning_tree(points)
    found = minimum_spanning_tree(squareform(pdist(points))).tocoo()
    assert_allclose(lengths, np.sort(found.data), rtol=1e-12)
    joined = np.sort(np.column_stack([found.row, found.col]), axis=1)
    assert set(map(tuple, edges.tolist())) == set(map(tuple, joined.tolist()))
    assert_array_equal(np.sort(_kernels.genie_merges(edges, 0.3).ravel()), np.arange(2 * 1100 - 2))


@given(seed=seeds, n=st.integers(1, 25), m=st.integers(1, 4), k=st.integers(1, 5), data=st.data())
def test_within_sums(seed, n, m, k, data):
    labels = np.ascontiguousarray(random_labels(seed, n, m, k, missing=0.2).T)
    begin = data.draw(st.integers(0, n - 1))
    columns = data.draw(st.integers(1, n - begin))
    rows = data.draw(st.integers(1, columns))
    block = np.random.default_rng(seed).random((rows, columns))
    same("within_sums", block, begin, labels, np.full((m, k), 0.5), into=3, threads=3, rtol=1e-13)


@given(st.lists(st.integers(0, 5000), max_size=20), st.integers(0, 6000))
def test_xlogx(x, limit):
    assert_allclose(_kernels.xlogx(np.array(x, np.uint64), limit=limit), oracle.xlogx(x), rtol=1e-11)


def test_xlogx_at_and_beyond_the_limit():
    x = [0, 1, 2, 2**20 - 2, 2**20 - 1, 2**20, 2**20 + 1, 10**9, 2**40, 2**52]
    same("xlogx", x, rtol=1e-9)
    # Beyond the table, where two nearly equal numbers would be subtracted, the rise keeps its digits.
    assert_allclose(_kernels.xlogx(x[-3:])[1], oracle.xlogx(x[-3:])[1], rtol=1e-14)


# --- random streams -------------------------------------------------------------------------------------------------

# Published with the generator (Random123, kat_vectors).
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_philox_known_answers(counter, key, answer):
    assert oracle.philox(counter, key) == answer


wide = st.integers(0, 2**64 - 1)


@given(seed=wide, unit=wide, size=st.integers(0, 9), n=st.one_of(st.integers(1, 50), st.integers(1, 2**64 - 1)))
def test_random_streams(seed, unit, size, n):
    for what in ("random_bits", "random_uniform", "random_permutation"):
        same(what, seed, unit, size)
    same("random_below", seed, unit, n, size)


def test_random_streams_are_fair_and_differ_by_seed_and_unit():
    n = 2**63 + 1  # nearly half of all draws
    assert not np.array_equal(same("random_below", 1, 2, n, 50)[0], _kernels.random_bits(1, 2, 50) % np.uint64(n))
    one = _kernels.random_bits(7, 1, 1000)
    assert_array_equal(_kernels.random_bits(7, 1, 33), one[:33])
    for other in (_kernels.random_bits(7, 2, 1000), _kernels.random_bits(8, 1, 1000)):
        assert not np.isin(one, other).any()


def some_columns(seed, r, n, most):
    """Labels as clusterings × rows, where each one's begin, and the numbers they were drawn by."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most, r)
    columns = np.array([rng.integers(-1, size, n) for size in sizes], np.int32)
    return columns, np.concatenate([[0], np.cumsum(sizes)]), rng


@given(seeds, st.integers(1, 6), st.integers(1, 30), st.integers(1, 5), st.sampled_from(["none", "whole", "parts"]))
def test_label_tables_count_what_they_say(seed, r, n, k, kind):
    columns, offsets, rng = some_columns(seed, r, n, 6)
    clusters = rng.integers(-1, k, n).astype(np.int32)
    weights = {"none": None, "whole": rng.integers(0, 9, n), "parts": rng.random(n)}[kind]
    same("label_tables", columns, offsets, clusters, k, weights=weights, threads=2, rtol=1e-12)


@given(seeds, st.integers(1, 6), st.integers(1, 3000), st.integers(1, 9))
def test_columns_of_few_bytes_say_the_same(seed, r, n, k):
    columns, offsets, rng = some_columns(seed, r, n, 255)
    clusters, owner = rng.integers(-1, k, n).astype(np.int32), rng.integers(0, k, offsets[-1]).astype(np.int32)
    table, scores = rng.integers(0, 1000, (offsets[-1], k)).astype(float), np.zeros((n, k))
    oracle.row_scores(columns.T, offsets, table, scores)
    tables, votes = oracle.label_tables(columns, offsets, clusters, k), oracle.label_votes(columns, offsets, owner, k)
    for kind, threads in ((np.int32, 1), (np.uint8, 1), (np.uint16, 2)):
        narrow = columns.astype(kind)  # −1 becomes the largest value
        assert_array_equal(_kernels.column_scores(narrow, offsets, table, threads=threads), scores)
        assert_array_equal(_kernels.label_tables(narrow, offsets, clusters, k, threads=threads), tables)
        assert_array_equal(_kernels.label_votes(narrow, offsets, owner, k, threads=threads), votes)
    by_row = np.ascontiguousarray(columns.T)
    same("row_scores", by_row, offsets[:-1], table, np.ones((n, k)), into=3, threads=2, rtol=1e-12)


@given(n=st.integers(0, 60), data=st.data())
def test_expected_xlogx(n, data):
    sizes = st.lists(st.integers(0, n), max_size=5)
    own, other = data.draw(sizes), data.draw(sizes)
    same("expected_xlogx", n, own, other, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("n", [90, 400])
def test_expected_xlogx_of_large_clusters(n):
    sizes = [1, 2, 7, n // 50, n // 3, n // 2, n - n // 5, n - 1, n]
    same("expected_xlogx", n, sizes, sizes, rtol=1e-12, threads=3)


def test_expected_xlogx_beyond_the_table_of_logarithms():
    """All but three of n objects leave out of a half as many as of the three lie in it."""
    n = 2**22
    share = [comb(n // 2, y) * comb(n // 2, 3 - y) / comb(n, 3) for y in range(4)]
    want = sum(p * (n // 2 - y) * np.log(n // 2 - y) for y, p in enumerate(share))
    assert _kernels.expected_xlogx(n, [n // 2], [n - 3])[0, 0] == pytest.approx(want, rel=1e-13)


def test_overlaps_of_more_than_65535_clusters():
    n = 70_000
    single = np.random.default_rng(7).permutation(n)
    labels = np.column_stack([single, np.arange(n), np.arange(n) // 2]).astype(np.int32)
    sums, _ = _kernels.overlap_sums(_kernels.encode_codes(labels), labels.max(axis=0) + 1, 0, 3, missing=False)
    assert_array_equal(sums, [[n, n, n / 2], [0, n, n / 2], [0, 0, n]])


# --- what does not fit is refused, and no kernel reads or writes beyond its arrays ----------------------------------------


def i32(*values):
    return np.array(values, np.int32)


ROWS = np.arange(40, dtype=np.int8).reshape(20, 2)
SLOTS = _kernels.slots_of(ROWS)
ONE_WAY = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]], float)  # each is nearest to the next, round and round
ITEMS = {"start": np.array([0, 1, 2]), "column": i32(0, 0), "value": i32(), "weight": i32(1, 1), "scale": np.ones(1)}
GIBBS = {"n_clusters": 2, "prior": "tsb", "alpha": 1, "beta": 1}
ITEMS |= {"labels": i32(0, 0), "order": np.arange(2)}
COLORS, ONE, HIGH = np.zeros(3, np.uint64), np.array([0, 1]), i32([0, 2, -1])


def codes(value, kind=np.uint8):
    return np.full((2, 50), value, kind)


REFUSED = {
    _kernels.contingency: [
        ((i32(0, 3), i32(0, 0), (3, 2)), {}, r"outside the table of shape \(3, 2\)"),
        ((i32(0, 0), i32(0, 2), (3, 2)), {}, r"outside the table of shape \(3, 2\)"),
        ((i32(0), i32(0, 1), (3, 2)), {}, "one length"),
        ((i32(0), i32(0), (3, 2)), {"weights": [1, 2]}, "1 objects need as many weights"),
    ],
    _kernels.allocate: [
        ((ITEMS | changes).values(), {"square": False, "limit": 2, "passes": 1}, message)
        for changes, message in (
            ({"labels": i32(0, 2)}, "labels in -1 … 1"),
            ({"order": np.array([2])}, "order"),
            ({"column": i32(0, 1)}, "column"),
            ({"start": np.array([0, 1])}, "fit together"),
            ({"weight": i32(0, 1)}, "at least 1"),
        )
    ],
    _kernels.pair_sums: [
        ((table, i32(*clusters), 0, len(clusters)), {"term": "square", "missing": True}, message)
        for table, clusters, message in (
            (codes(200), [3, 3], "range"),
            (codes(90), [3, 100], "range"),  # of one of the two
            (codes(40_000, np.uint16), [3, 3], "range"),
            (codes(0), [1, 1, 1, 1], "not among the 2 given"),
        )
    ],
    _kernels.find_rows: [
        *(
            ((ROWS, wrong, ROWS), {}, "slots")
            for wrong in (SLOTS[:-1], SLOTS[:16], np.append(SLOTS[:-1], np.uint32(20)))
        ),
        ((ROWS, SLOTS, ROWS.astype(np.int16)), {}, "4 bytes"),
    ],
    _kernels.color_rows: [
        ((i32([0, 1]), np.array(offsets), of_labels, of_rows), {}, "need a color each")
        for offsets, of_labels, of_rows in (
            ([0, 1, 2], COLORS[:2], COLORS[:1]),
            ([0, 1, 3], COLORS[:2], COLORS[:1]),
            ([0, 1, 3], COLORS, COLORS[:0]),
        )
    ],
    _kernels.linkage: [
        ((np.ones((3, 2)), np.ones(3)), {}, "square distances"),
        ((np.ones((3, 3)), np.ones(2)), {}, "square distances"),
        ((np.ones((3, 3)), np.zeros(3)), {}, "square distances"),
        ((np.ones((3, 3), np.float32), np.ones(3)), {}, "writable"),
        ((ONE_WAY, np.ones(3)), {}, "not finite or not symmetric"),
        ((np.full((3, 3), np.nan), np.ones(3)), {}, "not finite or not symmetric"),
    ],
    _kernels.spanning_tree: [
        ((np.ones(3),), {}, "needs points"),
        ((np.ones((0, 2)),), {}, "needs points"),
        ((np.ones((3, 2)), np.ones(2)), {}, "as many cores"),
        ((np.full((3, 2), np.nan),), {}, "finite"),
        ((np.ones((3, 2)), -np.ones(3)), {}, "not negative"),
    ],
    _kernels.genie_merges: [
        ((np.array(edges), 0.3), {}, "2 edges must join the objects 0 … 2")
        for edges in ([[0, 1], [1, 3]], [[0, 1], [0, 1]], [[0, 1], [-1, 2]], [0, 1])
    ],
    _kernels.row_distances: [((i32([0, 1]), ONE, np.ones(1)), {}, "need a weight each")],
    _kernels.within_sums: [
        ((np.ones((2, 3)), 1, i32([0, 0, 0]), np.zeros((1, 1))), {}, "beyond the objects"),
        ((np.ones((3, 2)), 0, i32([0, 0, 0]), np.zeros((1, 1))), {}, "beyond the objects"),  # more rows than columns
        ((np.ones((3, 3)), 0, i32([2, 2, 2]), np.zeros((1, 2))), {}, "no room"),
        ((np.ones((3, 3)), 0, i32([0, 0, 0], [0, 0, 0]), np.zeros((1, 2))), {}, "no room"),
    ],
    _kernels.random_below: [((0, 0, 0, 1), {}, "no whole number")],
    _kernels.label_tables: [
        ((i32([0, 0, 0]), np.array([0]), i32(0, 0, 0), 1), {}, "one offset more"),
        ((i32([1, 1, 1]), ONE, i32(0, 0, 0), 1), {}, "outside its clustering's part"),
        ((i32([0, 0, 0]), ONE, i32(1, 1, 1), 1), {}, "as many clusters below 1"),
        ((i32([0, 0, 0]), ONE, i32(0, 0, 0), 1), {"weights": np.ones(2)}, "as many weights"),
    ],
    _kernels.label_votes: [
        *(((i32([0, 0]), ONE, i32(*own), 1), {}, "need an owner each, from 0 to 0") for own in ([], [0, 0], [1], [-1])),
        ((i32([1, 1]), ONE, i32(0), 1), {}, "outside its clustering's part"),
    ],
    _kernels.column_scores: [
        *(
            ((HIGH.astype(kind), end * ONE, np.ones((2, 1))), {}, message)
            for kind in (np.int32, np.uint8, np.uint16)
            for end, message in ((2, "outside its clustering's part"), (3, "need a row of the table each"))
        ),
        ((i32([np.iinfo(np.int32).max]), 2 * ONE, np.ones((2, 1))), {}, "outside its clustering's part"),
    ],
    _kernels.gibbs_conditionals: [
        ((i32([0], [1], [1]), np.array(offsets), clusters), GIBBS, message)
        for offsets, clusters, message in (
            ([0, 2], i32(0, 5, 0), "clusters in 0"),
            ([0, 2], i32(0, 1), "3 clusters"),
            ([0, 2], np.zeros(3, np.int64), "writable"),
            ([0, 1], i32(0, 0, 0), "outside"),
            ([0], i32(0, 0, 0), "outside"),
        )
    ],
    _kernels.expected_xlogx: [
        ((10, own, other), {}, "a cluster of 10 objects has 0 … 10 of them")
        for own, other in ([[-1], [2]], [[2], [11]])
    ],
    _kernels.overlap_sums: [
        ((codes(40), i32(41, 3), 0, 2), {"missing": True}, "outside its clustering's range"),
        ((codes(40, np.uint16), i32(3, 41), 0, 2), {"missing": False}, "outside its clustering's range"),
        ((codes(0), i32(1, 1), 0, 3), {"missing": False}, "clusterings 0 … 2 are not among the 2 given"),
    ],
    _kernels.object_overlaps: [
        ((codes(40), i32(41, 3), 0, 2, np.zeros(50)), {}, "outside its clustering's range"),
        ((codes(0), i32(1, 1), 0, 1, np.zeros(49)), {}, "a place for every object"),
        ((codes(0), i32(1), 0, 1, np.zeros(50)), {}, "a place for every object"),
    ],
    _kernels.expected_sums: [
        ((codes(40, kind), i32(41, 3), 0, 2), {}, "outside its clustering's range") for kind in (np.uint8, np.uint16)
    ],
}


@pytest.mark.parametrize(
    ("kernel", "arrays", "options", "message"), [(kernel, *case) for kernel, cases in REFUSED.items() for case in cases]
)
def test_what_does_not_fit_is_refused(kernel, arrays, options, message):
    with pytest.raises(ValueError, match=message):
        kernel(*arrays, **options)
