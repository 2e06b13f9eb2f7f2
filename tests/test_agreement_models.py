"""MDC and DataLoom: what they find, and what they promise."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from consilience.agreement import MDC, DataLoom
from consilience.agreement.count_table import check_counts
from consilience.agreement.mdc_and_dataloom import column_clusters, grow
from consilience.measures import adjusted_rand, nmi
from oracle.sweep import mutual_information
from samples import block_counts, refusals

both = pytest.mark.parametrize("model", [MDC(5, random_state=3), DataLoom(5, random_state=3)], ids=["mdc", "dataloom"])


def information(table, rows, columns):
    """I(X̃; Ỹ) from scratch."""
    table = np.asarray(table.todense() if sparse.issparse(table) else table, float)
    sums = np.array([table[rows == c].sum(axis=0) for c in range(rows.max() + 1)])
    return mutual_information(np.array([sums[:, columns == c].sum(axis=1) for c in range(columns.max() + 1)]))


def uniform(table):
    length = np.maximum(np.asarray(table.sum(axis=1)).ravel(), 1)
    return sparse.csr_matrix(sparse.diags(1 / length) @ table)


@both
def test_it_finds_planted_blocks_and_knows_its_objective(model):
    table, rows, columns = block_counts()
    found = clone(model).fit(table)
    assert nmi(rows, found.row_labels_) > 0.95
    weighted = table if isinstance(model, DataLoom) else uniform(table)
    value = information(weighted, found.row_labels_, found.column_labels_)
    assert found.objective_ == pytest.approx(value, abs=1e-12)
    assert len(np.unique(found.row_labels_)) == 5
    if isinstance(model, DataLoom):
        assert adjusted_rand(columns, found.column_labels_) > 0.9


@both
def test_the_seed_decides_and_threads_do_not(model):
    table, _, _ = block_counts(n=400, d=300, own=0.3)
    many = clone(model).set_params(n_clusters=300)
    for one in (model, many):
        first = clone(one).fit(table)
        again = clone(one).set_params(n_jobs=2).fit(table)
        other = clone(one).set_params(random_state=4).fit(table)
        assert first.row_labels_.tolist() == again.row_labels_.tolist()
        assert first.column_labels_.tolist() == again.column_labels_.tolist()
        assert first.row_labels_.tolist() != other.row_labels_.tolist()


@pytest.mark.parametrize("rule", ["random", "nearest", "greedy"])
def test_mdc_halves_rows_and_doubles_columns(rule):
    table, rows, _ = block_counts(n=200, own=0.7)
    found = MDC(5, merge=rule, temperature=0, random_state=0).fit(table)
    sizes = [(a, b) for a, b, _ in found.history_]
    assert sizes[:4] == [(200, 2), (200, 4), (200, 8), (100, 8)]
    assert [a for a, _ in sizes[3::2]] == [100, 50, 25, 13, 7, 5]
    assert all(later[1] <= 2 * earlier[1] for earlier, later in pairwise(sizes))
    assert nmi(rows, found.row_labels_) > (0.3 if rule == "random" else 0.95)


def test_column_clusters_are_as_many_as_asked():
    table, _, _ = block_counts(n=200)
    for wanted in (2, 13, 200):
        found = MDC(5, n_column_clusters=wanted, random_state=0).fit(table)
        assert found.column_labels_.max() + 1 == wanted
    counts = check_counts(table)
    assert MDC(5, random_state=0).fit(table).column_labels_.max() + 1 <= column_clusters(counts, 5) == 8 * 2**5
    assert grow(counts, np.arange(200, dtype=np.int32) % 5, 17, seed=0, run=0).max() + 1 == 17


def test_weights_and_spare_clusters_do_what_they_say():
    table, _, _ = block_counts(n=120)
    heavy = sparse.csr_matrix(sparse.diags(np.where(np.arange(120) < 60, 7.0, 1.0)) @ table)
    same = [MDC(5, random_state=0).fit(t).row_labels_ for t in (table, heavy)]
    assert adjusted_rand(*same) == 1  # all rows weigh the same whatever their length
    other = MDC(5, weighting="length", random_state=0).fit(heavy)
    assert other.objective_ == pytest.approx(information(heavy, other.row_labels_, other.column_labels_), abs=1e-12)
    table, _, _ = block_counts(n=1000, d=1000, k=12, counts=50, own=0.5)
    values = {s: [DataLoom(12, spare=s, random_state=r).fit(table).objective_ for r in range(3)] for s in (1, 2)}
    assert min(values[2]) >= max(values[1]) - 1e-9
    assert np.mean(values[2]) > np.mean(values[1])


@both
def test_empty_rows_and_columns_have_no_label(model):
    table = block_counts(n=100)[0].tolil()
    table[[3, 50]] = 0
    table[:, [7, 9]] = 0
    found = clone(model).fit(table.tocsr())
    assert np.flatnonzero(found.row_labels_ < 0).tolist() == [3, 50]
    assert set(np.flatnonzero(found.column_labels_ < 0)) >= {7, 9}


test_bad_input = refusals(
    (lambda: MDC(20).fit(np.ones((10, 30))), "20 clusters are more than the 10 rows that have counts"),
    (lambda: MDC(2, n_column_clusters=31).fit(np.ones((10, 30))), "31 clusters are more than the 30 columns"),
    (lambda: MDC(2).fit(np.zeros((10, 30))), "all counts are 0"),
    (lambda: MDC(2).fit(-np.ones((10, 30))), "-1"),
)
