"""What agreement asks of the engine: rows summed by groups, candidates listed by blocks, clusters that merge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError
from consilience.engine.information import Engine, batch_scores, objective_of
from consilience.engine.views import cluster_tables, count_views, grouped_views
from oracle import sweep as oracle
from oracle.sweep import mutual_information
from samples import refusals

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
    np.testing.assert_allclose(
        batch_scores(grouped, labels, 4, "quadratic"), batch_scores(plain, labels, 4, "quadratic")
    )
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
    return mutual_information(np.array([table[labels == c].sum(axis=0) for c in range(labels.max() + 1)]))


test_bad_input = refusals(
    (lambda: _kernels.merge_clusters(np.ones((3, 2)), 3), "3 merges need more clusters than 3"),
    (lambda: _kernels.merge_clusters(-np.ones((3, 2)), 1), "not negative"),
    (lambda: _kernels.merge_clusters(np.ones((3, 2)), 1, order=[0, 0, 1]), "each of the 3 clusters once"),
    (lambda: grouped_views(np.ones((3, 2)), [[0, 1, 1]]), "2 columns are clustered"),
)
