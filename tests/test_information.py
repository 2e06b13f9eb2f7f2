"""The engine against its definition, and its promises; for agreement: rows summed by groups, lists of candidates, clusters that merge."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError
from consilience.engine.objective import OBJECTIVES, objective_of
from consilience.engine.search import Engine, batch_scores, random_starts
from consilience.engine.views import Views, cluster_tables, count_views, grouped_views, label_views
from oracle import sweep as oracle
from samples import refusals

every_objective = pytest.mark.parametrize("objective", OBJECTIVES)


def random_views(rng, n, kind, weights):
    """Views of all sorts with holes, and the same as a dense table."""
    mass = {"ones": np.ones(n), "whole": rng.integers(1, 4, n) * 1.0, "real": rng.random(n) + 0.1}[weights]
    if kind == "labels":
        labels = rng.integers(-1, 4, (n, 3))
        labels[0] = 0
        views = label_views(labels, weights=rng.random(3) + 0.5, object_weights=mass)
    else:
        tables = [sparse.random(n, 6, 0.4, random_state=int(rng.integers(1 << 30)), format="csr") for _ in range(2)]
        for table in tables:
            table.data = np.ceil(table.data * 5) if weights != "real" else table.data
        views = count_views(tables, weights=rng.random(2) + 0.5, object_weights=mass)
    return views, np.asarray(views.table.todense())


problems = st.tuples(
    st.integers(0, 10**6), st.sampled_from(["labels", "counts"]), st.sampled_from(["ones", "whole", "real"])
)


@every_objective
@given(problem=problems)
def test_objective_is_the_textbook_s(objective, problem):
    rng = np.random.default_rng(problem[0])
    views, dense = random_views(rng, 12, *problem[1:])
    labels = rng.integers(0, 3, 12)
    expected = oracle.objective_of(dense, views.view_of, views.weights, labels, 3, objective)
    assert objective_of(views, labels, 3, objective) == pytest.approx(expected, abs=1e-10)


@every_objective
@given(problem=problems, keep=st.booleans(), room=st.sampled_from([np.inf, 1.5]))
def test_a_sweep_makes_the_same_moves_as_its_definition(objective, problem, keep, room):
    rng = np.random.default_rng(problem[0])
    n, k = 14, 3
    views, dense = random_views(rng, n, *problem[1:])
    labels = rng.integers(0, k, n).astype(np.int32)
    labels[:k] = np.arange(k)
    capacity = room * views.object_weights.sum() / k
    engine = Engine(views, k, objective=objective, capacity=capacity, keep_clusters=keep)
    value = partial(oracle.objective_of, dense, views.view_of, views.weights, n_clusters=k, objective=objective)
    limits = {"sizes": views.object_weights, "capacity": capacity, "keep_clusters": keep}
    for i in rng.permutation(n):  # row by row, so that a tie broken otherwise does not lead elsewhere
        mine, theirs = labels.copy(), labels.copy()
        before, after, moves = _kernels.sweep(*engine._arrays, mine, np.array([i]), **engine._options)
        oracle.sweep(dense, views.view_of, views.weights, theirs, [i], n_clusters=k, objective=objective, **limits)
        assert value(labels=mine) == pytest.approx(value(labels=theirs), abs=1e-9)
        assert after - before == pytest.approx(value(labels=mine) - value(labels=labels), abs=1e-9)
        assert moves == np.count_nonzero(mine != labels)
        labels = mine


@every_objective
@given(problem=problems, keep=st.booleans())
def test_the_gains_of_a_whole_pass_add_up(objective, problem, keep):
    """Tables are kept up to date over many moves, also where clusters run empty and heavy rows leave."""
    rng = np.random.default_rng(problem[0])
    n, k = 40, 6
    views, _ = random_views(rng, n, *problem[1:])
    heavy = np.where(rng.random(n) < 0.1, 1e6, 1.0)
    table = sparse.csr_matrix(sparse.diags(heavy) @ views.table)
    views = Views(table, views.view_of, views.weights, views.object_weights * heavy)
    labels = rng.integers(0, k, n).astype(np.int32)
    before = objective_of(views, labels, k, objective)
    engine = Engine(views, k, objective=objective, keep_clusters=keep)
    for _ in range(3):
        start, end, _ = _kernels.sweep(*engine._arrays, labels, rng.permutation(n), **engine._options)
        after = objective_of(views, labels, k, objective)
        assert end - start == pytest.approx(after - before, abs=1e-8)
        before = after


def test_kernel_doors_of_the_sweep():
    engine = Engine(label_views(np.array([[0, 1], [1, 0], [1, 1]])), 2)
    start, column, value, weight, view_of, scale, group = engine._arrays
    labels, order = np.array([0, 1, 0], np.int32), np.arange(3)
    for arrays in (
        (start, column - 5, value, weight, view_of, scale, group),
        (start, column, weight[:1], weight, view_of, scale, group),
        (start[::-1].copy(), column, value, weight, view_of, scale, group),
        (start, column, value, weight, view_of[::-1].copy(), scale, group),
        (start, column, value, weight, view_of, scale[:1], group),
        (start, column, value, weight, view_of, scale, np.full((2, 4), 9, np.int32)),
        (start, column, value, weight, view_of, scale, np.zeros((1, 4), np.int32)),
    ):
        with pytest.raises(InputError):
            _kernels.sweep(*arrays, labels.copy(), order, **engine._options)


@every_objective
@given(problem=problems, batch=st.sampled_from([0, 10]))
def test_search_never_falls_and_ends_where_nothing_moves(objective, problem, batch):
    rng = np.random.default_rng(problem[0])
    views, dense = random_views(rng, 25, *problem[1:])
    engine = Engine(views, 3, objective=objective)
    found = engine.search(rng.integers(0, 3, 25), batch=batch, seed=problem[0])
    assert (np.diff(found.history) >= -1e-10).all()
    assert found.objective == pytest.approx(objective_of(views, found.labels, 3, objective), abs=1e-9)
    if found.moves[-1] == 0:
        again = found.labels.copy()
        how = {"n_clusters": 3, "objective": objective, "sizes": views.object_weights}
        oracle.sweep(dense, views.view_of, views.weights, again, np.arange(25), **how)
        better = oracle.objective_of(dense, views.view_of, views.weights, again, 3, objective)
        assert better <= found.objective + 1e-9


@every_objective
def test_a_row_of_weight_three_is_three_rows(objective):
    """Whatever the order of the rows, and the names of labels and clusters."""
    rng = np.random.default_rng(4)
    rows, copies = rng.integers(-1, 4, (30, 4)), rng.integers(1, 4, 30)
    partition = rng.integers(0, 3, 30)
    light = objective_of(label_views(rows, object_weights=copies), partition, 3, objective)
    every = rng.permutation(np.repeat(np.arange(30), copies))
    renamed = np.array([3, 1, 0, 2, -1])[rows[every, ::-1]]
    assert light == pytest.approx(objective_of(label_views(renamed), 2 - partition[every], 3, objective))


@every_objective
def test_threads_do_not_matter(objective):
    rng = np.random.default_rng(6)
    views = label_views(rng.integers(0, 5, (200, 6)))
    starts = random_starts(views, 5, 6, random_state=1)
    engine = Engine(views, 5, objective=objective)
    one = engine.best(starts, seed=2, n_jobs=1, temperature=0.05)
    three = engine.best(starts, seed=2, n_jobs=3, temperature=0.05)
    assert one.labels.tolist() == three.labels.tolist()


def test_a_shortlist_of_all_clusters_is_the_exact_search():
    rng = np.random.default_rng(7)
    views = count_views([sparse.random(80, 30, 0.2, random_state=1, format="csr")])
    start = rng.integers(0, 12, 80)
    exact = Engine(views, 12).search(start, seed=1)
    short = Engine(views, 12, shortlist=12).search(start, seed=1)
    assert exact.labels.tolist() == short.labels.tolist()


def test_batch_scores_are_the_kmeans_distances():
    rng = np.random.default_rng(10)
    labels, partition = rng.integers(0, 3, (40, 4)), rng.integers(0, 3, 40)
    views = label_views(labels)
    onehot = np.asarray(views.table.todense())
    centers = np.array([onehot[partition == c].mean(axis=0) for c in range(3)])
    distance = ((onehot[:, None] - centers) ** 2).sum(axis=2)
    scores = batch_scores(views, partition, 3, "quadratic") * 40
    np.testing.assert_allclose(scores - scores[:, :1], -(distance - distance[:, :1]), atol=1e-10)


def test_empty_rows_stay_and_capacity_holds():
    table = sparse.csr_matrix(np.vstack([np.eye(4), np.zeros((2, 4)), np.eye(4)]))
    start = np.array([0, 0, 0, 0, 1, 0, 1, 1, 1, 1])
    found = Engine(count_views([table]), 2, capacity=6).search(start)
    assert found.labels[4] == 1
    assert found.labels[5] == 0
    assert np.bincount(found.labels).max() <= 6


@every_objective
def test_k_clusters_stay_k(objective):
    views = label_views(np.random.default_rng(11).integers(0, 2, (30, 3)))
    found = Engine(views, 6, objective=objective).best(random_starts(views, 6, 3, random_state=0), batch=5)
    assert len(np.unique(found.labels)) == 6


test_bad_input = refusals(
    (lambda: label_views(np.array([[0.5]])), "whole-number codes"),
    (lambda: count_views([]), "at least one table"),
    (lambda: count_views([np.eye(2), np.eye(3)]), "same objects"),
    (lambda: count_views([-np.eye(2)]), "view 0 holds a count that is negative"),
    (lambda: Engine(label_views(np.array([[0], [1]])), 0), "must be positive"),
    (lambda: Engine(label_views(np.array([[0], [1]])), 2, objective="shanon"), "did you mean 'shannon'"),
    (lambda: Engine(label_views(np.array([[0], [1]])), 2).search([0, 5]), "labels in 0 … 1"),
    (lambda: Engine(label_views(np.array([[0], [1]])), 2, capacity=1).search([0, 1], batch=1), "know no capacity"),
    (lambda: Engine(label_views(np.array([[0], [1]])), 2).search([0, 1], temperature=np.nan), "must be finite"),
    (lambda: label_views(np.array([[0], [1]]), object_weights=[1, -1]), "object weights"),
    (lambda: label_views(np.array([[0], [1]]), weights=[1, 1]), "view weights"),
    (lambda: _kernels.merge_clusters(np.ones((3, 2)), 3), "3 merges need more clusters than 3"),
    (lambda: _kernels.merge_clusters(-np.ones((3, 2)), 1), "not negative"),
    (lambda: _kernels.merge_clusters(np.ones((3, 2)), 1, order=[0, 0, 1]), "each of the 3 clusters once"),
    (lambda: grouped_views(np.ones((3, 2)), [[0, 1, 1]]), "2 columns are clustered"),
)


# --- rows summed by groups, candidates listed by blocks, clusters that merge ---


few = settings(max_examples=25, deadline=None)


def grouped_problem(seed, n=40, d=30, whole=True):
    """A table, three clusterings of its columns with holes, and the tables they give."""
    rng = np.random.default_rng(seed)
    table = sparse.random(n, d, 0.25, random_state=seed, format="csr")
    table.data = np.ceil(5 * table.data) if whole else table.data
    codes = rng.integers(-1, 6, (3, d)).astype(np.int32)
    codes[:, :6] = np.arange(6)
    summed = [
        table @ sparse.csr_matrix(((c >= 0) * 1.0, (np.arange(d), np.maximum(c, 0))), shape=(d, 6)) for c in codes
    ]
    return rng, table, codes, summed


@few
@given(seed=st.integers(0, 10**6), whole=st.booleans())
def test_grouped_rows_are_the_rows_of_the_summed_tables(seed, whole):
    rng, table, codes, summed = grouped_problem(seed, whole=whole)
    weights = rng.random(3) + 0.5
    grouped, plain = grouped_views(table, codes, weights=weights), count_views(summed, weights=weights)
    labels = rng.integers(0, 4, 40).astype(np.int32)
    np.testing.assert_allclose(grouped.column_totals, plain.column_totals)
    np.testing.assert_allclose(grouped.mass.toarray(), plain.mass.toarray())
    for mine, theirs in zip(cluster_tables(grouped, labels, 4), cluster_tables(plain, labels, 4), strict=True):
        np.testing.assert_allclose(mine, theirs)
    mine, theirs = (batch_scores(views, labels, 4, "quadratic") for views in (grouped, plain))
    np.testing.assert_allclose(mine, theirs)
    for objective in ("shannon", "quadratic"):
        value = objective_of(plain, labels, 4, objective)
        assert objective_of(grouped, labels, 4, objective) == pytest.approx(value, abs=1e-12)
        assert Engine(grouped, 4, objective=objective).value(labels) == pytest.approx(value, abs=1e-12)


@few
@given(seed=st.integers(0, 10**6), shortlist=st.sampled_from([0, 2]), m=st.sampled_from([1, 3]))
def test_grouped_rows_make_the_moves_of_the_summed_tables(seed, shortlist, m):
    rng, table, codes, summed = grouped_problem(seed)
    labels = rng.integers(0, 5, 40).astype(np.int32)
    found = []
    for views in (grouped_views(table, codes[:m]), count_views(summed[:m])):
        mine = labels.copy()
        engine = Engine(views, 5, shortlist=shortlist)
        before, after, _ = _kernels.sweep(*engine._arrays, mine, np.arange(40), **engine._options)
        value = objective_of(views, mine, 5)
        assert after - before == pytest.approx(value - objective_of(views, labels, 5), abs=1e-12)
        found.append(value)
    # A summed table sorts a row's columns, grouped rows come in the order met: a tie may fall otherwise.
    assert found[0] == pytest.approx(found[1], rel=0.05)


def test_rows_are_summed_once_by_one_clustering_and_refused_where_they_do_not_fit():
    _, table, codes, summed = grouped_problem(5, whole=False)
    rows = (table.indptr.astype(np.int64), table.indices, table.data)
    start, column, value = _kernels.sum_rows(*rows, np.ones(40), codes[0])
    found = sparse.csr_matrix((value, column, start), shape=(40, 6))
    np.testing.assert_allclose(found.toarray(), summed[0].toarray(), rtol=1e-14)
    for group in (codes[0][:-5], codes[0] - 1):
        with pytest.raises(InputError):
            _kernels.sum_rows(*rows, np.ones(40), group)


@few
@given(seed=st.integers(0, 10**6))
def test_single_precision_never_hides_the_best_cluster(seed):
    """A pass that looks at near scores first ends where a pass of exact scores does."""
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.gamma(0.3, 2, (60, 25))) * rng.choice([1e-6, 1.0, 1e5], 60)[:, None]
    views = count_views([table])
    labels = rng.integers(0, 6, 60).astype(np.int32)
    engine = Engine(views, 6)
    for i in rng.permutation(60):
        if not table[i].any() or np.count_nonzero(labels == labels[i]) == 1:
            continue
        values = [objective_of(views, np.where(np.arange(60) == i, c, labels), 6) for c in range(6)]
        _kernels.sweep(*engine._arrays, labels, np.array([i]), **engine._options)
        assert values[labels[i]] == pytest.approx(max(values), abs=1e-10)


@few
@given(seed=st.integers(0, 10**6), k=st.integers(2, 9), share=st.floats(0.2, 1))
def test_greedy_merges_lose_what_their_definition_loses(seed, k, share):
    rng = np.random.default_rng(seed)
    table = rng.poisson(1.5, (k, 5)) * rng.choice([1.0, 0.37])
    table[0, 0] += 1
    merges = int(share * (k - 1))
    labels, left = _kernels.merge_clusters(table, merges)
    theirs, expected = oracle.merge_clusters(table, merges)
    assert left == expected == len(np.unique(labels)) == k - merges
    assert information(table, labels) == pytest.approx(information(table, theirs), abs=1e-9)


@few
@given(seed=st.integers(0, 10**6), k=st.integers(2, 9))
def test_nearest_merges_are_those_of_their_definition(seed, k):
    rng = np.random.default_rng(seed)
    table = rng.random((k, 5)) * (rng.random((k, 5)) < 0.7) + 1e-3
    order = rng.permutation(k)
    for merges in (k // 2, max(k // 2 - 1, 0)):
        labels, left = _kernels.merge_clusters(table, merges, order=order)
        theirs, expected = oracle.merge_clusters(table, merges, order=order)
        assert left == expected
        assert labels.tolist() == theirs.tolist()


def information(table, labels):
    return oracle.mutual_information(np.array([table[labels == c].sum(axis=0) for c in range(labels.max() + 1)]))
