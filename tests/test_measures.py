"""Every measure of two clusterings against scikit-learn, brute force, or a literal reading of its formula."""

import itertools
import tracemalloc
from inspect import signature
from math import comb

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

import oracle
from consilience import Ensemble, measures, pairwise, stability
from consilience._check import InputError
from consilience.measures import MEASURES
from consilience.measures import element_centric_similarity as module
from samples import noisy_copies, random_labels, refuses

fewer = settings(max_examples=25)  # of each of the measures, which share their parts
EVERY = {name: how.function for name, how in MEASURES.items()}
every_measure = pytest.mark.parametrize("measure", EVERY.values(), ids=EVERY)


def scikit_learn_ami(a, b, average="arithmetic"):
    """Of two objects apart in both, which are equal clusterings, scikit-learn 1.6 says 0; of 0 / 0 beside single objects it says 1."""
    singles = [len(set(labels)) == len(a) for labels in (a, b)]
    if len(a) == 2 and all(singles):
        return 1.0
    if average == "min" and any(singles) and not all(singles):
        return 0.0
    return metrics.adjusted_mutual_info_score(a, b, average_method=average)


SCIKIT_LEARN = {
    "rand": metrics.rand_score,
    "adjusted_rand": metrics.adjusted_rand_score,
    "nmi": lambda a, b: metrics.normalized_mutual_info_score(a, b, average_method="geometric"),
    "adjusted_mutual_information": scikit_learn_ami,
    "shared_information": lambda a, b: scikit_learn_ami(a, b, "min"),
    "information_ratio": metrics.homogeneity_score,
}


@st.composite
def clusterings(draw, count=2, low=0, most=30, k=5):
    """`count` label vectors of one length; with low=-1 some labels are missing."""
    n = draw(st.integers(1, most))
    bounds = [draw(st.integers(1, k)) for _ in range(count)]
    return [draw(st.lists(st.integers(low, top - 1), min_size=n, max_size=n)) for top in bounds]


def also_at_the_edges(test):
    """Clusterings of one cluster, of three and of single objects, and all of few objects."""
    one, two, three = [0] * 6, list(range(6)), [0, 0, 1, 1, 2, 2]
    few = [([0], [3]), ([0, 0, 1, 1], [0, 1, 0, 1]), *itertools.product([[0, 0], [0, 1]], [[1, 1], [1, 0]])]
    for pair in (*few, *itertools.product([one, two], repeat=2), (one, three), (three, two)):
        test = example(pair)(test)
    return test


@pytest.mark.parametrize("name", SCIKIT_LEARN)
@also_at_the_edges
@given(clusterings(k=9))
def test_equal_to_scikit_learn(name, pair):
    assert EVERY[name](*pair) == pytest.approx(SCIKIT_LEARN[name](*pair), abs=1e-10)


@every_measure
@fewer
@also_at_the_edges
@given(clusterings(k=9))
@example([list(range(3000))] * 2)
def test_range_and_identity(measure, pair):
    (a, b), how = pair, MEASURES[measure.__name__]
    low, high = {
        "adjusted_rand": (-1, 1),
        "adjusted_mutual_information": (-1, 1),
        "shared_information": (-1, 1),
        "variation_of_information": (0, np.log(len(a)) + 1e-12),
    }.get(measure.__name__, (0, 1))
    assert low <= measure(a, b) <= high
    assert measure(a, a) == pytest.approx(0 if how.is_distance else 1, abs=1e-12)
    assert isinstance(measure(a, b), float)


@every_measure
@fewer
@given(clusterings(low=-1))
def test_symmetry_where_it_is_claimed(measure, pair):
    if MEASURES[measure.__name__].symmetric:
        assert measure(*pair) == pytest.approx(measure(*pair[::-1]), abs=1e-12, nan_ok=True)
    else:
        assert measure([0, 0, 1, 2, 2, 3], [0, 0, 0, 1, 1, 1]) != measure([0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 3])


@every_measure
@fewer
@given(clusterings(low=-1), st.permutations(range(5)), st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(measure, pair, renamed, random):
    a, b = pair
    value = measure(a, b)
    names = [None if x < 0 else "pqrst"[renamed[x]] for x in a]
    assert measure(names, b) == pytest.approx(value, abs=1e-12, nan_ok=True)
    order = list(range(len(a)))
    random.shuffle(order)
    shuffled = measure([a[i] for i in order], [b[i] for i in order])
    assert shuffled == pytest.approx(value, abs=1e-12, nan_ok=True)


@every_measure
@fewer
@given(clusterings(low=-1))
@example([[0, 1, -1, -1], [-1, -1, 0, 1]])
@example([[-1, -1], [0, 1]])
@example([[-1], [-1]])
def test_missing_labels_are_left_out(measure, pair):
    a, b = np.array(pair)
    known = (a >= 0) & (b >= 0)
    if known.any():
        assert measure(a, b) == pytest.approx(measure(a[known], b[known]), abs=1e-12)
    else:
        assert np.isnan(measure(a, b))


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
        refuses(words, measure, a, b)


@pytest.mark.parametrize("measure", [measures.cluster_difference, measures.variation_of_information])
@given(clusterings(count=3, most=12))
def test_triangle_inequality(measure, triple):
    a, b, c = triple
    assert measure(a, c) <= measure(a, b) + measure(b, c) + 1e-12


@pytest.mark.parametrize("name", sorted(set(MEASURES) - {"matched_accuracy"}))
def test_clusterings_into_single_objects_need_no_table_of_objects_by_objects(name):
    single = np.arange(2000)
    tracemalloc.start()
    try:
        EVERY[name](single, single)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8e6  # the table alone would be 32 MB


@given(clusterings(low=-1))
def test_contingency(pair):
    a, b = pair
    table = measures.contingency(a, b)
    cells = list(zip(a, b, strict=True))
    rows, columns = (sorted(set(x) - {-1}) for x in pair)
    assert table.shape == (len(rows), len(columns))
    assert table.ravel().tolist() == [cells.count(cell) for cell in itertools.product(rows, columns)]


@given(clusterings())
def test_measures_of_pairs(pair):
    together = [(p[0] == q[0], p[1] == q[1]) for p, q in itertools.combinations(zip(*pair, strict=True), 2)]
    both, either = (sum(map(which, together)) for which in (all, any))
    assert measures.jaccard(*pair) == pytest.approx(both / either if either else 1.0, abs=1e-12)
    pairs = comb(len(pair[0]), 2)
    assert measures.cluster_difference(*pair) == pytest.approx((either - both) / pairs if pairs else 0.0, abs=1e-12)
    assert measures.rand(*pair) == pytest.approx(1 - measures.cluster_difference(*pair), abs=1e-12)


def entropy(labels):
    share = np.unique(labels, return_counts=True, axis=0)[1] / len(labels)
    return -np.sum(share * np.log(share))


@given(clusterings())
def test_variation_of_information(pair):
    a, b = pair
    joint = entropy(np.column_stack(pair))
    assert measures.variation_of_information(a, b) == pytest.approx(2 * joint - entropy(a) - entropy(b), abs=1e-10)


@given(clusterings(k=4, most=15))
def test_matched_accuracy(pair):
    truth, labels = pair
    # Four classes and room for a cluster to match none of them.
    best = max(
        sum(matched[y] == x for x, y in zip(truth, labels, strict=True))
        for matched in itertools.permutations(range(4), max(labels) + 1)
    )
    assert measures.matched_accuracy(truth, labels) == pytest.approx(best / len(truth), abs=1e-12)


def test_matched_accuracy_leaves_clusters_beyond_the_classes_unmatched():
    assert measures.matched_accuracy([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5


@given(clusterings())
def test_measures_by_matching(pair):
    truth, labels = pair
    right = 0
    for cluster in set(labels):
        inside = [x for x, y in zip(truth, labels, strict=True) if y == cluster]
        right += max(inside.count(x) for x in set(inside))
    assert measures.accuracy(truth, labels) == pytest.approx(right / len(truth), abs=1e-12)

    def score(x, y):
        hit = sum(p == x and q == y for p, q in zip(truth, labels, strict=True))
        precision, recall = hit / labels.count(y), hit / truth.count(x)
        return 2 * precision * recall / (precision + recall) if hit else 0.0

    by_class = [max(score(x, y) for y in set(labels)) for x in set(truth)]
    by_cluster = [max(score(x, y) for x in set(truth)) for y in set(labels)]
    assert measures.f1(truth, labels) == pytest.approx(np.mean(by_class), abs=1e-12)
    assert measures.f1(truth, labels, average="clusters") == pytest.approx(np.mean(by_cluster), abs=1e-12)


@given(clusterings(count=4, low=-1))
def test_anmi_weights_clusterings_by_their_coverage(made):
    labels, *ensemble = np.array(made)
    labels = np.maximum(labels, 0)
    weights = [(x >= 0).mean() for x in ensemble]
    assume(sum(weights) > 0)
    values = [measures.nmi(labels, x) if w else 0.0 for x, w in zip(ensemble, weights, strict=True)]
    assert measures.anmi(ensemble, labels) == pytest.approx(np.average(values, weights=weights), abs=1e-12)
    assert measures.anmi(Ensemble(ensemble), labels) == measures.anmi(ensemble, labels)


def test_anmi_of_the_worked_example_and_refusals():
    ensemble = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, None, 1, 2, None, None]]
    assert measures.anmi(ensemble, [1, 1, 1, 2, 2, 3, 3]) == pytest.approx(0.7178, abs=5e-5)
    refuses("3 labels for an ensemble of 2 objects", measures.anmi, [[0, 1]], [0, 1, 2])
    refuses("no object is labeled both", measures.anmi, [[0, None]], [None, 0])


def test_perplexity():
    assert measures.perplexity(np.full((3, 4), -np.log(7))) == pytest.approx(7)  # of a uniform guess
    p = np.array([[0.5, 0.25], [np.nan, 0.1]])
    assert measures.perplexity(np.log(p)) == pytest.approx((0.5 * 0.25 * 0.1) ** (-1 / 3))
    assert measures.perplexity([0.0, 0.0]) == 1
    assert measures.perplexity([1e-16]) == 1  # rounding above 0 is certainty
    assert measures.perplexity([-np.inf, 0.0]) == np.inf
    assert measures.perplexity([-1000.0]) == np.inf  # beyond the doubles, without a warning
    for refused in ([-1, 0.5], "a", [], [np.nan]):
        with pytest.raises(InputError):
            measures.perplexity(refused)


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # of which scikit-learn 1.7 warns
@pytest.mark.parametrize(
    ("name", "average"), [("adjusted_mutual_information", "arithmetic"), ("shared_information", "min")]
)
def test_all_pairs_equal_to_scikit_learn(name, average):
    labels = np.column_stack([noisy_copies(3000, 20, 4, 0.5)[0], random_labels(0, 3000, 4, [2, 30, 300, 2500])])
    matrix = pairwise(Ensemble(labels), name)
    for i, j in itertools.combinations(range(8), 2):
        want = metrics.adjusted_mutual_info_score(labels[:, i], labels[:, j], average_method=average)
        assert matrix[i, j] == pytest.approx(want, abs=1e-9), (i, j)
    assert_array_equal(matrix, matrix.T)
    assert_array_equal(np.diag(matrix), 1.0)


@fewer
@given(clusterings(k=4), st.integers(2, 4))
def test_shared_information_forgives_refinement(pair, parts):
    a, b = map(np.array, pair)
    finer = a * parts + b % parts
    assume(len(set(a)) > 1 and len(set(finer)) < len(a))
    assert measures.adjusted_mutual_information(a, finer, average="min") == pytest.approx(1, abs=1e-9)
    refuses("unknown average 'max'", measures.adjusted_mutual_information, a, b, "max")


ensembles = st.builds(
    random_labels,
    st.integers(0, 10**6),
    st.integers(1, 25),
    st.integers(2, 5),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.3, 0.9]),
)


@given(ensembles, st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_of_every_object(labels, alpha):
    a, b = labels[:, :2].T
    want = oracle.element_scores(a, b, alpha)
    assert_allclose(measures.element_centric(a, b, per_object=True), want, atol=1e-12)
    if not np.isnan(want).all():
        assert measures.element_centric(a, b) == pytest.approx(np.nanmean(want), abs=1e-12)


@given(ensembles)
def test_consistency_is_the_mean_over_pairs(labels):
    scores = [oracle.element_scores(a, b) for a, b in itertools.combinations(labels.T, 2)]
    known = ~np.isnan(scores)
    want = np.where(known.any(axis=0), np.nansum(scores, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)
    assert_allclose(measures.element_consistency(Ensemble(labels)), want, atol=1e-12)


def test_consistency_depends_on_the_labels_alone(monkeypatch):
    ens = Ensemble(random_labels(1, 300, 21, 7, 0.1))
    found = measures.element_consistency(ens)
    assert_array_equal(found, measures.element_consistency(ens, n_jobs=3))
    monkeypatch.setattr(module, "HELD", 700)
    assert_array_equal(found, measures.element_consistency(ens))
    ens = Ensemble(random_labels(2, 200, 40, np.r_[np.full(35, 6), np.full(5, 90)]))
    matrix, mean = pairwise(ens, "element_centric"), stability(ens, "element_centric").mean
    assert matrix[np.triu_indices(40, 1)].mean() == pytest.approx(mean)
    assert measures.element_consistency(ens).mean() == pytest.approx(mean, abs=1e-12)


def test_consistency_at_the_ends():
    labels = random_labels(3, 490, 1, 49)
    same = Ensemble(np.repeat(labels, 34, axis=1))
    assert_array_equal(pairwise(same, "element_centric"), 1.0)
    assert_array_equal(measures.element_consistency(same), 1.0)
    refuses("consistency needs at least two clusterings", measures.element_consistency, [[0, 1]])
