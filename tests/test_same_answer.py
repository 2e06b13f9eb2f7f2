"""The same ensemble has the same answer, whatever the order of its objects and clusterings and the names of its labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.vq import kmeans2

import consilience as cs
from consilience.consensus import METHODS, EvidenceAccumulation
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.trust import confidence as confidence_file
from consilience.measures import adjusted_rand
from samples import first_of, random_labels

OPTIONS = {"nbce": {"max_iter": 30, "n_chains": 2, "n_init": 2}, "anmi": {"n_init": 2}, "bce": {"n_init": 2}}


def shuffled(labels, seed):
    """Other orders and other names; and the order of the objects."""
    rng = np.random.default_rng(seed)
    objects, clusterings = rng.permutation(labels.shape[0]), rng.permutation(labels.shape[1])
    other = labels[objects][:, clusterings]
    for column in other.T:
        names = rng.permutation(column.max() + 4)[: column.max() + 1]
        column[:] = np.append(names, -1)[column]
    return other, objects


def kmeans_ensemble(seed, n=150, r=7):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3)) + 3 * rng.integers(0, 2, (n, 3))
    runs = [kmeans2(points, int(k), seed=rng, minit="points")[1] for k in rng.integers(2, 13, r)]
    return np.column_stack([np.unique(run, return_inverse=True)[1] for run in runs])


@pytest.fixture(scope="module")
def pool(data_folder):
    """Objects and clusterings of a pool of the literature."""
    path = data_folder / "pools" / "VS.npz"
    if not path.exists():
        pytest.skip(f"no pool of clusterings at {path}")
    with np.load(path) as file:
        return file["members"][::3, ::9].astype(np.int64)


def assert_same_answer(labels, k, method, seed, weights=None, **options):
    options = OPTIONS.get(method, {}) | options
    one = cs.combine(labels, k, method, random_state=seed, sample_weight=weights, **options)
    other, objects = shuffled(labels, seed)
    moved = None if weights is None else weights[objects]
    two = cs.combine(other, k, method, random_state=seed, sample_weight=moved, **options)
    assert adjusted_rand(one.labels[objects], two.labels) == 1
    # Clusters of equal size are numbered by their first object, and sums over clusters rounded accordingly.
    assert_allclose(one.confidence[objects], two.confidence, rtol=1e-12)
    assert_array_equal(one.support[objects], two.support)
    assert one.anmi == pytest.approx(two.anmi, rel=1e-12)


@pytest.mark.parametrize("seed", first_of([0, 1]))
@pytest.mark.parametrize("method", METHODS)
def test_every_method_on_a_pool(method, seed, pool):
    assert_same_answer(pool, 4, method, seed)


@pytest.mark.parametrize("k", [4, "auto"])
def test_the_default_on_a_pool(k, pool):
    assert_same_answer(pool[::2], k, "auto", 0)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("method", "k"), [*((method, 5) for method in METHODS), ("auto", 5), ("auto", "auto")])
def test_with_weights_and_missing_labels(method, k, seed):
    labels, rng = kmeans_ensemble(seed), np.random.default_rng(seed)
    labels[rng.random(labels.shape) < 0.15] = -1
    assert_same_answer(labels, k, method, seed, weights=rng.integers(1, 4, len(labels)))
    fractions = {"inference": "vb"} if method == "nbce" else {}  # Gibbs sampling draws whole objects
    assert_same_answer(labels, k, method, seed, weights=rng.random(len(labels)) + 0.5, **fractions)


# A handful of objects can have places that differ and that colors cannot tell apart: two copies of a clustering and one across
# them, four objects each. Chance makes no such thing of dozens.
@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(30, 90),
    r=st.integers(1, 6),
    size=st.integers(1, 6),
    holes=st.sampled_from([0.0, 0.3]),
    copies=st.integers(1, 2),
)
def test_the_problem_is_the_same(seed, n, r, size, holes, copies):
    labels = np.hstack([random_labels(seed, n, r, size, holes, labeled=True)] * copies)
    other, objects = shuffled(labels, seed)
    weights = np.random.default_rng(seed).random(n) + 0.5
    for mine, theirs in ((None, None), (weights, weights[objects])):
        if len(np.unique(labels, axis=0)) < 2:
            return
        one, two = check_problem(labels, 2, mine), check_problem(other, 2, theirs)
        assert_array_equal(one.labels, two.labels)
        assert_array_equal(one.weights, two.weights)
        # Objects that change places without any change in the ensemble may be either row.
        assert_array_equal(two.as_given(two.labels)[two.inverse], cs.Ensemble(other).labels)
        assert_array_equal(two.inverse[two.first], np.arange(two.n_rows))


def test_rows_and_labels_are_as_given():
    labels = random_labels(3, 40, 5, 4, 0.3, labeled=True)
    labels[:, 2] = -1
    ensemble = cs.Ensemble(labels)
    problem = check_problem(ensemble, 3)
    assert problem.n_clusterings == 4
    assert_array_equal(problem.as_given(problem.labels[problem.inverse]), ensemble.labels)
    numbers, offsets = problem.labels_as_given()
    edges, _ = problem.hyperedges()
    place = np.argsort(numbers)  # of every label, in the order of the ensemble
    kept = ensemble.labels[:, [0, 1, 3, 4]]
    for q, column in enumerate(problem.columns_as_given()):
        known = kept[:, q] >= 0
        assert_array_equal(place[edges[problem.inverse[known], column]], kept[known, q] + offsets[q])
    leaves = EvidenceAccumulation(3).fit(ensemble).linkage_rows_
    assert set(map(tuple, leaves)) == set(map(tuple, ensemble.labels))


def test_symmetric_parts_are_told_apart_alike():
    """Two halves that mirror one another in several clusterings: each tie alone could be broken either way, together they cannot."""
    half = random_labels(5, 12, 3, 3)
    labels = np.vstack([half, half + 3])
    problems = [check_problem(shuffled(labels, seed)[0], 2) for seed in range(6)]
    for problem in problems[1:]:
        assert_array_equal(problem.labels, problems[0].labels)


def test_dependence_is_judged_by_the_same_objects(monkeypatch):
    monkeypatch.setattr(confidence_file, "SAMPLE", 60)
    labels = kmeans_ensemble(3)
    assert_same_answer(labels, 4, "vote", 3)
    problem = check_problem(labels, 4)
    rows, weights = confidence_file._sampled(problem)
    step = -(-len(labels) // 60)
    assert_array_equal(np.repeat(rows, weights.astype(int)), np.sort(problem.inverse)[::step])
