"""Every measure of two clusterings against scikit-learn, brute force, or a literal reading of its formula."""

import itertools
import tracemalloc
from inspect import signature

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn import metrics

from consilience import Ensemble, measures
from consilience._check import InputError
from consilience.measures import (
    MEASURES,
    accuracy,
    anmi,
    cluster_difference,
    contingency,
    f1,
    jaccard,
    matched_accuracy,
    nmi,
    perplexity,
    rand,
    variation_of_information,
)

quick = settings(max_examples=60, deadline=None)
fewer = settings(max_examples=25, deadline=None)  # of each of the measures, which share their parts
EVERY = {name: getattr(measures, name) for name in MEASURES}
every_measure = pytest.mark.parametrize("measure", EVERY.values(), ids=EVERY)


def scikit_learn_ami(a, b):
    """Of two objects apart in both, which are equal clusterings, scikit-learn 1.6 says 0."""
    return 1.0 if len(set(a)) == len(set(b)) == len(a) == 2 else metrics.adjusted_mutual_info_score(a, b)


SCIKIT_LEARN = {
    "rand": metrics.rand_score,
    "adjusted_rand": metrics.adjusted_rand_score,
    "nmi": lambda a, b: metrics.normalized_mutual_info_score(a, b, average_method="geometric"),
    "adjusted_mutual_information": scikit_learn_ami,
    "information_ratio": metrics.homogeneity_score,
}


@st.composite
def clusterings(draw, count=2, low=0, most=30, k=5):
    """`count` label vectors of one length; with low=-1 some labels are missing."""
    n = draw(st.integers(1, most))
    bounds = [draw(st.integers(1, k)) for _ in range(count)]
    return [draw(st.lists(st.integers(low, top - 1), min_size=n, max_size=n)) for top in bounds]


one, two, three = [0] * 6, list(range(6)), [0, 0, 1, 1, 2, 2]
edge_cases = [
    pytest.param(a, b, id=name)
    for name, a, b in [
        ("one object", [0], [3]),
        ("two objects, equal", [0, 0], [1, 1]),
        ("two objects, apart", [0, 1], [1, 0]),
        ("two objects, together and apart", [0, 0], [0, 1]),
        ("two objects, apart and together", [0, 1], [0, 0]),
        ("single cluster twice", one, one),
        ("single objects twice", two, two),
        ("single cluster and single objects", one, two),
        ("single objects and single cluster", two, one),
        ("single cluster and three", one, three),
        ("three and single objects", three, two),
        ("crossed", [0, 0, 1, 1], [0, 1, 0, 1]),
    ]
]


@pytest.mark.parametrize("name", SCIKIT_LEARN)
@pytest.mark.parametrize(("a", "b"), edge_cases)
def test_equal_to_scikit_learn_at_the_edges(name, a, b):
    assert EVERY[name](a, b) == pytest.approx(SCIKIT_LEARN[name](a, b), abs=1e-10)


@pytest.mark.parametrize("name", SCIKIT_LEARN)
def test_equal_to_scikit_learn(name):
    @quick
    @given(clusterings(k=9))
    def check(pair):
        a, b = pair
        assert EVERY[name](a, b) == pytest.approx(SCIKIT_LEARN[name](a, b), abs=1e-10)

    check()


# --- properties of every measure ------------------------------------------------------------------------------------


@every_measure
@pytest.mark.parametrize(("a", "b"), edge_cases)
def test_range_and_identity_at_the_edges(measure, a, b):
    check_range_and_identity(measure, a, b)


def check_range_and_identity(measure, a, b):
    how = MEASURES[measure.__name__]
    low, high = {
        "adjusted_rand": (-1, 1),
        "adjusted_mutual_information": (-1, 1),
        "variation_of_information": (0, np.log(len(a)) + 1e-12),
    }.get(measure.__name__, (0, 1))
    assert low <= measure(a, b) <= high
    assert measure(a, a) == pytest.approx(0 if how.is_distance else 1, abs=1e-12)
    assert isinstance(measure(a, b), float)


@every_measure
def test_range_and_identity(measure):
    @fewer
    @given(clusterings(k=9))
    @example([list(range(3000))] * 2)
    def check(pair):
        check_range_and_identity(measure, *pair)

    check()


@every_measure
def test_symmetry_where_it_is_claimed(measure):
    @fewer
    @given(clusterings(low=-1))
    def check(pair):
        a, b = pair
        assert measure(a, b) == pytest.approx(measure(b, a), abs=1e-12, nan_ok=True)

    if MEASURES[measure.__name__].symmetric:
        check()
    else:
        assert measure([0, 0, 1, 2, 2, 3], [0, 0, 0, 1, 1, 1]) != measure([0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 3])


@every_measure
def test_names_and_order_do_not_matter(measure):
    @fewer
    @given(clusterings(low=-1), st.permutations(range(5)), st.randoms(use_true_random=False))
    def check(pair, renamed, random):
        a, b = pair
        value = measure(a, b)
        names = [None if x < 0 else "pqrst"[renamed[x]] for x in a]
        assert measure(names, b) == pytest.approx(value, abs=1e-12, nan_ok=True)
        order = list(range(len(a)))
        random.shuffle(order)
        shuffled = measure([a[i] for i in order], [b[i] for i in order])
        assert shuffled == pytest.approx(value, abs=1e-12, nan_ok=True)

    check()


@every_measure
def test_missing_labels_are_left_out(measure):
    @fewer
    @given(clusterings(low=-1))
    def check(pair):
        a, b = np.array(pair)
        known = (a >= 0) & (b >= 0)
        if known.any():
            assert measure(a, b) == pytest.approx(measure(a[known], b[known]), abs=1e-12)
        else:
            assert np.isnan(measure(a, b))

    check()


@every_measure
def test_no_shared_object_is_nan(measure):
    assert np.isnan(measure([0, 1, -1, -1], [-1, -1, 0, 1]))
    assert np.isnan(measure([-1, -1], [0, 1]))
    assert np.isnan(measure([-1], [-1]))


@every_measure
def test_what_is_no_pair_of_label_vectors_is_refused(measure):
    one, two = ("known labels", "clustering") if "known" in signature(measure).parameters else ("first", "second")
    half = np.array([0, 0.5])
    for a, b, words in [
        ([0, 1], [0, 1, 2], "2 and 3 labels"),
        (half, [0, 1], f"the {one}.*object 1"),
        ([0, 1], half, f"the {two}.*object 1"),
        (None, [0, 1], "got None"),
        ([0, 1], Ensemble([[0, 1]]), "got an Ensemble"),
    ]:
        with pytest.raises(InputError, match=words):
            measure(a, b)


@pytest.mark.parametrize("measure", [cluster_difference, variation_of_information])
def test_triangle_inequality(measure):
    @settings(max_examples=100, deadline=None)
    @given(clusterings(count=3, most=12))
    def check(triple):
        a, b, c = triple
        assert measure(a, c) <= measure(a, b) + measure(b, c) + 1e-12

    check()


@pytest.mark.parametrize(
    "name",
    [
        "rand",
        "jaccard",
        "nmi",
        "adjusted_mutual_information",
        "variation_of_information",
        "element_centric",
        "adjusted_rand",
    ],
)
def test_clusterings_into_single_objects_need_no_table_of_objects_by_objects(name):
    single = np.arange(2000)
    tracemalloc.start()
    try:
        EVERY[name](single, single)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8e6  # the table alone would be 32 MB


# --- against a literal reading --------------------------------------------------------------------------------------


@quick
@given(clusterings(low=-1))
def test_contingency(pair):
    a, b = pair
    table = contingency(a, b)
    rows, columns = (sorted(set(x) - {-1}) for x in pair)
    assert table.shape == (len(rows), len(columns))
    for (i, x), (j, y) in itertools.product(enumerate(rows), enumerate(columns)):
        assert table[i, j] == sum(p == x and q == y for p, q in zip(a, b, strict=True))


def count_pairs(a, b):
    """Pairs of objects together in both, and in either."""
    both = either = 0
    for i, j in itertools.combinations(range(len(a)), 2):
        both += a[i] == a[j] and b[i] == b[j]
        either += a[i] == a[j] or b[i] == b[j]
    return both, either


@quick
@given(clusterings())
def test_jaccard(pair):
    both, either = count_pairs(*pair)
    assert jaccard(*pair) == pytest.approx(both / either if either else 1.0, abs=1e-12)


@quick
@given(clusterings())
def test_cluster_difference(pair):
    a, _ = pair
    both, either = count_pairs(*pair)
    pairs = len(a) * (len(a) - 1) / 2
    assert cluster_difference(*pair) == pytest.approx((either - both) / pairs if pairs else 0.0, abs=1e-12)
    assert rand(*pair) == pytest.approx(1 - cluster_difference(*pair), abs=1e-12)


def entropy(labels):
    share = np.unique(labels, return_counts=True, axis=0)[1] / len(labels)
    return -np.sum(share * np.log(share))


@quick
@given(clusterings())
def test_variation_of_information(pair):
    a, b = pair
    joint = entropy(np.column_stack(pair))
    assert variation_of_information(a, b) == pytest.approx(2 * joint - entropy(a) - entropy(b), abs=1e-10)


@quick
@given(clusterings(k=4, most=15))
def test_matched_accuracy(pair):
    truth, labels = pair
    # Four classes and room for a cluster to match none of them.
    best = max(
        sum(matched[y] == x for x, y in zip(truth, labels, strict=True))
        for matched in itertools.permutations(range(4), max(labels) + 1)
    )
    assert matched_accuracy(truth, labels) == pytest.approx(best / len(truth), abs=1e-12)


def test_matched_accuracy_leaves_clusters_beyond_the_classes_unmatched():
    assert matched_accuracy([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5


@quick
@given(clusterings())
def test_accuracy(pair):
    truth, labels = pair
    right = 0
    for cluster in set(labels):
        inside = [x for x, y in zip(truth, labels, strict=True) if y == cluster]
        right += max(inside.count(x) for x in set(inside))
    assert accuracy(truth, labels) == pytest.approx(right / len(truth), abs=1e-12)


@quick
@given(clusterings())
def test_f1(pair):
    truth, labels = pair

    def score(x, y):
        hit = sum(p == x and q == y for p, q in zip(truth, labels, strict=True))
        precision, recall = hit / labels.count(y), hit / truth.count(x)
        return 2 * precision * recall / (precision + recall) if hit else 0.0

    by_class = [max(score(x, y) for y in set(labels)) for x in set(truth)]
    by_cluster = [max(score(x, y) for x in set(truth)) for y in set(labels)]
    assert f1(truth, labels) == pytest.approx(np.mean(by_class), abs=1e-12)
    assert f1(truth, labels, average="clusters") == pytest.approx(np.mean(by_cluster), abs=1e-12)


# --- average NMI ----------------------------------------------------------------------------------------------------


@quick
@given(clusterings(count=4, low=-1))
def test_anmi_weights_clusterings_by_their_coverage(made):
    labels, *ensemble = np.array(made)
    labels = np.maximum(labels, 0)
    weights = [(x >= 0).mean() for x in ensemble]
    assume(sum(weights) > 0)
    values = [nmi(labels, x) if w else 0.0 for x, w in zip(ensemble, weights, strict=True)]
    assert anmi(ensemble, labels) == pytest.approx(np.average(values, weights=weights), abs=1e-12)
    assert anmi(Ensemble(ensemble), labels) == anmi(ensemble, labels)


def test_anmi_of_the_worked_example():
    ensemble = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, None, 1, 2, None, None]]
    assert anmi(ensemble, [1, 1, 1, 2, 2, 3, 3]) == pytest.approx(0.7178, abs=5e-5)


def test_anmi_refusals():
    with pytest.raises(InputError, match="3 labels for an ensemble of 2 objects"):
        anmi([[0, 1]], [0, 1, 2])
    with pytest.raises(InputError, match="no object is labeled both"):
        anmi([[0, None]], [None, 0])


# --- perplexity -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("j", [1, 2, 7, 1000])
def test_perplexity_of_a_uniform_guess_is_the_number_of_labels(j):
    assert perplexity(np.full((3, 4), -np.log(j))) == pytest.approx(j)


def test_perplexity_is_the_geometric_mean_and_skips_missing_labels():
    p = np.array([[0.5, 0.25], [np.nan, 0.1]])
    assert perplexity(np.log(p)) == pytest.approx((0.5 * 0.25 * 0.1) ** (-1 / 3))


def test_perplexity_at_the_ends():
    assert perplexity([0.0, 0.0]) == 1
    assert perplexity([1e-16]) == 1  # rounding above 0 is certainty
    assert perplexity([-np.inf, 0.0]) == np.inf
    assert perplexity([-1000.0]) == np.inf  # beyond the doubles, without a warning
    for refused in ([-1, 0.5], "a", [], [np.nan]):
        with pytest.raises(InputError):
            perplexity(refused)
