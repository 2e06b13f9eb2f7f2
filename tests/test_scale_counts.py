"""Counts in row blocks: where they may lie, and that answers depend neither on the blocks nor on who works on them."""

import os
import signal
from itertools import pairwise

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone

import consilience as cs
from consilience.agreement import CAP, CountBlocks, DataLoom, block_search
from consilience.agreement.block_search import BlockCounts, RowSearch, information_on_columns, take_back, value_of
from consilience.agreement.count_blocks import load
from consilience.agreement.count_table import check_counts
from consilience.engine.objective import objective_of
from consilience.engine.views import count_views
from consilience.generation import NumberBlocks
from dask_cluster import local_cluster, worker_pids
from samples import refusals, refuses

TINY = 1e-12  # as far as sums in another order differ


def table_of(n=300, d=120, seed=0):
    """Counts with blocks in them; row 7 and column 3 have none."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(np.kron(rng.random((5, 6)) ** 3 * 2, np.ones((n // 5, d // 6))))
    counts[7], counts[:, 3] = 0, 0
    return sparse.csr_matrix(counts)


def parted(table, *ends):
    """The table in blocks that end at some rows."""
    ends = [0, *ends, table.shape[0]]
    return [table[a:b] for a, b in pairwise(ends)]


@pytest.fixture
def small_chunks(monkeypatch):
    """So small that a pass over a few hundred rows has rounds of several chunks."""
    monkeypatch.setattr(block_search, "CHUNK", 32)
    monkeypatch.setattr(block_search, "ROUNDS", 3)


def found_in(result):
    """The labels of both sides, and the objectives."""
    if isinstance(result, DataLoom):
        return [result.row_labels_, result.column_labels_], np.hstack([*result.history_, result.objective_])
    return [side.labels for step in result.iterations for side in (step.rows, step.columns)], result.objective


def same(one, other, rtol=0.0):
    """Whether two results have equal labels, and objectives that are equal to the last bit, or nearly."""
    labels, values = zip(found_in(one), found_in(other), strict=True)
    are_equal = all(np.array_equal(a, b) for a, b in zip(*labels, strict=True))
    return are_equal and len(values[0]) == len(values[1]) and np.allclose(*values, rtol=rtol, atol=rtol)


MANY = {"n_clusters": 290, "spare": 1, "n_column_clusters": 10}


@pytest.mark.parametrize(("how", "rtol"), [({}, TINY), (MANY, TINY), ({"weighting": "uniform"}, 1e-9)], ids=str)
def test_a_co_clustering_by_blocks_is_that_of_the_whole_table(how, rtol):
    table, how = table_of(), {"n_clusters": 6, "random_state": 1, **how}
    assert same(DataLoom(**how).fit(table), DataLoom(**how).fit(parted(table, 50, 51, 210)), rtol)


def test_agreement_by_blocks_is_that_of_the_whole_table():
    table, how = table_of(), {"n_clusterings": 3, "max_iter": 3, "weighting": "length"}
    found = cs.agree(parted(table, 50, 51, 210), 6, **how)
    assert same(found, cs.agree(table, 6, model="dataloom", **how), TINY)
    assert found.empty_rows.tolist() == [7]
    assert found.empty_columns.tolist() == [3]
    assert found.after.rows.labels[7].tolist() == [-1] * 3


@pytest.mark.parametrize("weighting", ["length", "uniform"])
def test_answers_do_not_depend_on_the_blocks(small_chunks, weighting):
    table = table_of()
    forms = [[table], parted(table, 50, 51, 210), parted(table, *range(13, 300, 13))]
    how = {"weighting": weighting, "spare": 1, "max_iter": 4, "random_state": 1}
    runs = [DataLoom(6, **how, n_jobs=jobs).fit(form) for form, jobs in zip(forms, (1, 1, 2), strict=True)]
    starts = [np.arange(300) % 4, np.arange(300) % 5], [np.arange(120) % 3] * 2
    process = CAP(2, weighting=weighting, random_state=0)
    found = [process.fit(form, *starts).agreement_ for form in forms]
    assert all(same(runs[0], run) for run in runs[1:])
    assert all(same(found[0], one) for one in found[1:])
    assert (np.diff(found[0].objective) >= 0).all()


@pytest.mark.slow
def test_nor_on_the_workers(small_chunks, client, tmp_path):
    table = table_of()
    for i, part in enumerate(parted(table, 90, 200)):
        sparse.save_npz(tmp_path / f"{i}.npz", part)
    model, process = DataLoom(6, spare=1, max_iter=2, random_state=1), CAP(1, random_state=0)
    starts = [np.arange(300) % 4, np.arange(300) % 5], [np.arange(120) % 3] * 2
    here = clone(model).fit(tmp_path), process.fit(parted(table, 90, 200), *starts).agreement_
    with joblib.parallel_config(backend="dask", client=client):
        assert same(here[0], clone(model).fit(tmp_path))
    given = {"rows": starts[0], "columns": starts[1], "max_iter": 1}
    assert same(here[1], cs.agree(parted(table, 90, 200), **given, client=client))


def test_chunks_move_rows_beside_what_the_clusters_hold_elsewhere(small_chunks):
    """A pass over many chunks keeps its tables exact, and gains nearly what one search of all rows does."""
    table, rng = table_of(), np.random.default_rng(1)
    counts = BlockCounts.of(CountBlocks([table]), "length", None)
    rows = (rng.permutation(len(counts.rows.kept)) % 20).astype(np.int32)
    columns = (rng.permutation(len(counts.columns.kept)) % 10).astype(np.int32)
    search = RowSearch(counts, [columns], [rows], counts.row_tables([rows], [columns]), 0, [0])
    before = search.values()[0]
    found = search.search(1)[0]
    assert np.array_equal(search.tables[0], counts.row_tables([found.labels], [columns])[0])
    block_search.CHUNK = 4096
    whole = RowSearch(counts, [columns], [rows], counts.row_tables([rows], [columns]), 0, [0])
    assert found.objective - before > 0.8 * (whole.search(1)[0].objective - before)
    assert len(np.unique(found.labels)) == 20
    before, after = np.array([0, 0, 1, 1, 2, 3], np.int32), np.array([2, 2, 0, 2, 2, 2], np.int32)
    assert take_back(before, after, 4), "the last row of a cluster stays, whichever block it is in"
    assert after.tolist() == [0, 2, 1, 2, 2, 3]


def test_runs_are_chosen_by_what_they_know_of_single_columns():
    table = table_of()
    counts = BlockCounts.of(CountBlocks(parted(table, 99)), "length", None)
    labels = (np.arange(len(counts.rows.kept)) % 6).astype(np.int32)
    dense = table.toarray()[counts.rows.kept][:, counts.columns.kept]
    value = objective_of(count_views([dense]), labels, 6)
    assert information_on_columns(counts, labels) == pytest.approx(value, abs=1e-12)
    how = {"n_clusterings": 2, "max_iter": 1, "n_init": 2, "weighting": "length"}
    assert same(cs.agree(parted(table, 99), 6, **how), cs.agree(table, 6, model="dataloom", **how), TINY)


@pytest.mark.parametrize("restart", [False, True])
def test_given_clusterings_start_the_process(restart):
    table = table_of()
    rows, columns = [np.arange(300) % 4, np.arange(300) % 3], [np.arange(120) % 5] * 2
    process = CAP(2, random_state=0, weighting="length", restart=restart)
    whole = process.fit(table, rows, columns).agreement_
    blocks = process.fit(parted(table, 70), rows, columns).agreement_
    assert same(whole, blocks, TINY)
    refuses("of both sides", cs.agree, parted(table, 70), rows=rows)
    refuses("needs the whole table", cs.agree, parted(table, 70), 4, model="mdc")


def triples_in(folder, table, group, **kinds):
    entries = table.tocoo()
    order = np.lexsort((entries.col, entries.row))
    columns = {"row": entries.row, "column": entries.col, "count": entries.data}
    columns = {name: values[order].astype(kinds.get(name, values.dtype)) for name, values in columns.items()}
    frame = pa.table(columns)
    half = len(order) // 2
    folder.mkdir()
    pq.write_table(frame[:half], folder / "a.parquet", row_group_size=group)
    pq.write_table(frame[half:], folder / "b.parquet", row_group_size=group, write_statistics=False)


@pytest.mark.parametrize("group", [7, 100, 10**6])
def test_triples_are_read_as_they_lie(tmp_path, group):
    dense = table_of(60, 30).toarray()
    dense[-1], dense[:, -1] = 0, 0
    table = sparse.csr_matrix(dense)
    triples_in(tmp_path / "triples", table, group, row=np.int32)
    blocks = CountBlocks(tmp_path / "triples", shape=table.shape)
    assert (blocks.n_rows, blocks.n_columns) == table.shape
    for step in (1, 16):
        read = sparse.vstack([load(blocks.piece(span)) for span in blocks.spans(step)])
        assert (read != table).nnz == 0
    assert CountBlocks(tmp_path / "triples").n_rows == 59
    refuses("too small", CountBlocks, tmp_path / "triples", shape=(10, 10))


def test_triples_that_are_not_sorted_are_refused(tmp_path):
    frame = pa.table({"row": [3, 1, 2, 9, 9], "column": [0, 1, 2, 0, 0], "count": [1, 1, 1, 2, 3]})
    pq.write_table(frame, tmp_path / "one.parquet")
    pq.write_table(frame, tmp_path / "two.parquet")
    refuses("sort the triples", CountBlocks, tmp_path)
    blocks = CountBlocks(tmp_path / "one.parquet")  # one row group is read as a whole, in whatever order
    assert load(blocks.piece((1, 10))).sum(axis=1).ravel().tolist() == [[1, 1, 1, 0, 0, 0, 0, 0, 5]]


def test_dask_collections_are_blocks(client):
    import dask.array as da
    import dask.bag as db
    from dask.delayed import delayed

    table = table_of(200)
    dense = da.from_array(table.toarray(), chunks=(70, 50))
    lazily = dense.map_blocks(sparse.csr_matrix)
    forms = [dense, lazily, db.from_sequence(parted(table, 100, 160), npartitions=2), [delayed(table)]]
    whole = DataLoom(6, random_state=1).fit(table)
    for form in forms:
        assert same(whole, DataLoom(6, random_state=1).fit(form), TINY)
    with joblib.parallel_config(backend="dask", client=client):
        assert same(whole, DataLoom(6, random_state=1).fit(dense.persist()), TINY)


test_blocks_that_are_no_counts_are_refused = refusals(
    ([table_of(), table_of()[:, :5]], "differ in their number of columns"),
    ([-table_of()], "negative or not finite"),
    ([sparse.csr_matrix((4, 4))], "all counts are 0"),
    call=lambda blocks: DataLoom(2).fit(blocks),
)


@pytest.mark.parametrize("blocks", [CountBlocks, NumberBlocks])
def test_masked_cells_are_refused_here_and_on_dask(blocks):
    da = pytest.importorskip("dask.array")
    masked = np.ma.masked_array(table_of(60, 12).toarray(), np.eye(60, 12, -1, dtype=bool))
    refuses("row 2, column 0 .*: fill such cells", blocks, [masked])
    lazy = blocks(da.from_array(masked, chunks=(20, 5)))
    refuses("row 2, column 0 .*: fill such cells", lazy.piece((0, 60)).read)
    assert np.all(blocks([np.ma.masked_array(masked.data)]).piece((0, 60)).read()[0] == masked.data)


def test_sums_are_exact_in_any_order():
    """Rows of the same mass have fractions: the grain they are rounded to lets all sums fit, and is too fine to be seen."""
    rng = np.random.default_rng(0)
    table = sparse.csr_matrix(rng.poisson(0.7, (2000, 30)).astype(float))
    counts = BlockCounts.of(CountBlocks([table]), "uniform", None)
    rows = counts.reading().table(counts.blocks.piece((0, 2000)))
    order = rng.permutation(rows.nnz)
    assert np.cumsum(rows.data)[-1] == np.cumsum(rows.data[order])[-1]
    exact = check_counts(table, "uniform").rows.views.table
    np.testing.assert_allclose(rows[:, counts.columns.kept].toarray(), exact.toarray(), atol=1e-10)
    assert value_of(np.eye(3), [3]) == pytest.approx(np.log(3))


@pytest.mark.slow
@pytest.mark.parametrize("when", [1, 40])
def test_the_death_of_a_worker_changes_nothing(small_chunks, monkeypatch, tmp_path, when):
    """Of one that dies when so many results are in, and others under way."""
    table = table_of(2000)
    for i, part in enumerate(parted(table, 500, 1200)):
        sparse.save_npz(tmp_path / f"{i}.npz", part)
    how = {"n_clusters": 6, "n_clusterings": 2, "max_iter": 1}
    here = cs.agree(tmp_path, **how)
    results, seen = BlockCounts._pass, []
    with local_cluster() as client:
        workers = worker_pids(client)

        def watched(*given):
            for result in results(*given):
                seen.append(1)
                if len(seen) == when:
                    os.kill(workers[0], signal.SIGKILL)
                yield result

        monkeypatch.setattr(BlockCounts, "_pass", watched)
        assert same(here, cs.agree(tmp_path, **how, client=client))
    assert len(seen) > when


def test_a_shape_that_the_blocks_do_not_have_is_refused(tmp_path):
    sparse.save_npz(tmp_path / "a.npz", sparse.eye(4, 3, format="csr"))
    assert CountBlocks(tmp_path, shape=(4, 3)).n_rows == 4
    for source in (tmp_path, [sparse.eye(4, 3, format="csr")]):
        refuses(r"4 rows and 3 columns, and shape=\(4, 5\) says otherwise", CountBlocks, source, shape=(4, 5))
