"""K-means generation on numbers in row blocks: the clusterings of the whole table, whatever the blocks and the workers."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import consilience as cs
import oracle
from consilience import _check
from consilience._check import InputError, fingerprint
from consilience._run.random import stream
from consilience.ensemble.store import Store
from consilience.generation import NumberBlocks, Variations, block_kmeans, by_blocks, number_blocks, remake
from consilience.generation.block_kmeans import BlockSpace, _starts, lloyd_by_blocks
from consilience.generation.methods.method import Space
from consilience.generation.spaces import GenerationWarning, Preparation
from consilience.inputs import open_source
from oracle.lloyd import far_apart
from oracle.random import stream as bits


def blobs(n=400, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(6, d)) * 3)[rng.integers(0, 6, n)] + rng.normal(size=(n, d))


def parted(table, *ends):
    return [table[a:b] for a, b in pairwise([0, *ends, len(table)])]


@pytest.fixture
def small_chunks(monkeypatch):
    for module in (_check, number_blocks, block_kmeans):
        monkeypatch.setattr(module, "CHUNK", 64)


def same(one, other, rtol=0.0):
    """Equal labels; inertia and compactness equal to the last bit, or nearly."""
    assert np.array_equal(one.labels, other.labels)
    assert one.info["steps"].tolist() == other.info["steps"].tolist()
    for name in ("inertia", "compactness"):
        np.testing.assert_allclose(one.info[name].astype(float), other.info[name].astype(float), rtol=rtol, atol=0)
    return True


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_row_blocks_have_the_clusterings_of_the_whole_table(small_chunks, init):
    X, how = blobs(), {"n_clusters": (3, 9), "methods": "zipf+pca+minima+features", "init": init, "progress": False}
    whole = cs.generate(X, 8, **how)
    blocks = cs.generate(NumberBlocks(parted(X, 100, 101, 333)), 8, **how)
    assert same(whole, blocks, 1e-9)
    assert [list(w) for w in whole.info["weights"].dropna()] == [list(w) for w in blocks.info["weights"].dropna()]


def test_answers_do_not_depend_on_the_blocks(small_chunks):
    X, how = blobs(200), {"n_clusters": 5, "methods": "zipf+pca", "progress": False}
    forms = [[X], parted(X, 70, 71), parted(X, 10, 150)]
    found = [cs.generate(NumberBlocks(form), 2, **how, n_jobs=j) for form, j in zip(forms, (1, 1, 2), strict=True)]
    assert all(same(found[0], one) for one in found[1:])


@pytest.mark.parametrize("max_iter", [1, 3, 300])
def test_a_run_is_its_definition(small_chunks, max_iter):
    """Against the plain twin, also where clusters run empty and where a run is cut short."""
    rng = np.random.default_rng(1)
    X = np.round(blobs(200, 3)) * (rng.random((200, 1)) < 0.4)  # many copies: clusters run empty
    clusters, weights = np.array([2, 9, 40, 60]), rng.random((4, 3))
    everything = Preparation(None, np.arange(3), 3)
    space = BlockSpace(NumberBlocks(parted(X, 90)), everything, Space(None), 3, None)
    for init in ("random", "k-means++"):
        found = lloyd_by_blocks(space, clusters, weights, np.arange(4), seed=7, init=init, max_iter=max_iter)
        labels, inertia, steps = oracle.lloyd(
            X, clusters, np.arange(4), weights=weights, seed=7, init=init, max_iter=max_iter
        )
        assert np.array_equal(found.labels, labels)
        assert found.steps.tolist() == steps.tolist()
        np.testing.assert_allclose(found.inertia, inertia, rtol=1e-9, atol=1e-9)


def test_mini_batches_go_before_the_full_passes(small_chunks):
    """Fewer full passes to where every object is with the nearest mean; the blocks do not matter."""
    X, how = blobs(800), {"n_clusters": 6, "methods": "minima", "progress": False, "standardize": False}
    plain = cs.generate(X, 4, **how)
    found = [cs.generate(NumberBlocks(form, mini_batch=100), 4, **how) for form in ([X], parted(X, 500))]
    assert same(*found)
    assert found[0].info["steps"].sum() < plain.info["steps"].sum()
    for labels, inertia in zip(found[0].labels.T, found[0].info["inertia"], strict=True):
        means = np.array([X[labels == c].mean(axis=0) for c in range(6)])
        squares = np.square(X[:, None] - means).sum(axis=2)
        assert np.array_equal(squares.argmin(axis=1), labels)
        assert inertia == pytest.approx(squares.min(axis=1).sum())


def test_starts_far_apart_come_from_a_sample(small_chunks, monkeypatch):
    monkeypatch.setattr(block_kmeans, "SAMPLE", 50)
    X, how = blobs(300), {"n_clusters": 4, "methods": "minima", "init": "k-means++", "progress": False}
    found = [cs.generate(NumberBlocks(form), 3, **how) for form in ([X], parted(X, 123))]
    assert same(*found)
    space = BlockSpace(NumberBlocks(parted(X, 123)), Preparation(None, np.arange(5), 5), Space(None), 5, None)
    for unit in range(3):
        rows = np.sort(stream(7, "generation.block_starts", unit).choice(300, 50, replace=False, shuffle=False))
        wanted = X[rows][far_apart(X[rows], 4, bits(7, unit))]
        np.testing.assert_array_equal(_starts(space, 4, np.ones(5), 7, unit, "k-means++"), wanted)
        assert not np.array_equal(wanted, X[far_apart(X, 4, bits(7, unit))]), "of all rows there are others"


def test_parquet_and_dask_are_blocks_and_a_store_is_resumed(tmp_path):
    da = pytest.importorskip("dask.array")
    X, how = blobs(), {"n_clusters": 4, "methods": "minima", "progress": False}
    folder = tmp_path / "data"
    folder.mkdir()
    for i, part in enumerate(parted(X, 150)):
        pq.write_table(pa.table({f"x{j}": part[:, j] for j in range(5)}), folder / f"{i}.parquet", row_group_size=60)
    whole = cs.generate(X, 4, **how)
    assert same(whole, cs.generate(da.from_array(X, chunks=(90, 2)), 4, **how), 1e-9)
    assert cs.generate(folder, 2, **how, store=tmp_path / "run").n_clusterings == 2
    assert same(whole, cs.generate(str(folder), 4, **how, store=tmp_path / "run"), 1e-9)
    with pytest.raises(InputError, match="fingerprint of the data"):
        cs.generate(da.from_array(X + 1, chunks=90), 5, **how, store=tmp_path / "run")


def test_the_data_of_a_run_by_blocks_is_known_again(tmp_path):
    """Whatever the blocks, and in memory; other data with the same moments is not."""
    X, how = blobs(5000, 3), {"n_clusters": 4, "methods": "minima", "progress": False, "max_iter": 3}
    cs.generate(NumberBlocks(parted(X, 4000)), 2, **how, store=tmp_path / "run")
    assert cs.generate(NumberBlocks(parted(X, 1, 4500)), 3, **how, store=tmp_path / "run").n_clusterings == 3
    assert cs.generate(X, 4, **how, store=tmp_path / "run").n_clusterings == 4
    assert open_source(tmp_path / "run").provenance.fingerprint == fingerprint(X)
    shuffled = X.copy()
    np.random.default_rng(0).shuffle(shuffled[:, 0])
    with pytest.raises(InputError, match="fingerprint of the data"):
        cs.generate(NumberBlocks([shuffled]), 5, **how, store=tmp_path / "run")


def test_mini_batches_and_sampled_starts_are_in_the_settings(small_chunks, monkeypatch, tmp_path):
    """Without them the same row of `info` has other labels: they are made again from blocks alone."""
    monkeypatch.setattr(block_kmeans, "SAMPLE", 50)
    monkeypatch.setattr(by_blocks, "SAMPLE", 50)
    X, how = blobs(400), {"n_clusters": 6, "methods": "minima", "progress": False}
    for init, size, said in (
        ("random", 100, "mini_batch=100"),
        ("k-means++", 0, "starts_from=50"),
        ("k-means++", 100, "mini_batch=100 and starts_from=50"),
    ):
        blocks = NumberBlocks(parted(X, 123), mini_batch=size)
        found = cs.generate(blocks, 3, **how, init=init, store=tmp_path / said)
        row = found.info.loc[2]
        assert np.array_equal(remake(blocks, row), found.labels[:, 2])
        for again in (lambda row=row: remake(X, row), lambda row=row: Variations(X)(row, 2, jitter=0.1)):
            with pytest.raises(InputError, match=f"by row blocks with {said}"):
                again()
        with pytest.raises(InputError, match="differs from what is asked in its plan"):
            cs.generate(X, 4, **how, init=init, store=tmp_path / said)
        if size:
            with pytest.raises(InputError, match=r"give NumberBlocks\(source, mini_batch=100\)"):
                remake(NumberBlocks([X]), row)
    plain = cs.generate(X, 3, **how, init="k-means++")
    with pytest.raises(InputError, match="made in memory"):
        remake(NumberBlocks([X]), plain.info.loc[0])
    plain = cs.generate(NumberBlocks([X]), 3, **how)
    for form in (X, NumberBlocks(parted(X, 50))):
        assert np.array_equal(remake(form, plain.info.loc[1]), plain.labels[:, 1]), "random starts are those in memory"
    with pytest.raises(InputError, match="needs the whole table"):
        remake(NumberBlocks([X]), cs.generate(X, 1, **{**how, "methods": "spectral"}).info.loc[0])


def test_clusterings_are_kept_as_they_are_finished(tmp_path, monkeypatch):
    """Those that rest are on disk while others that share their passes go on, whatever ends the process then."""
    step, seen = block_kmeans._step, []

    def watched(space, runs, max_iter):
        seen.append((len(runs), Store.open(tmp_path / "run").n_clusterings))
        if len(runs) == 1:
            raise KeyboardInterrupt
        step(space, runs, max_iter)

    X, how = blobs(), {"n_clusters": 5, "methods": "minima", "progress": False, "store": tmp_path / "run"}
    whole = cs.generate(X, 6, **{**how, "store": None})
    assert len(set(whole.info["steps"])) > 2
    with monkeypatch.context() as patch:
        patch.setattr(block_kmeans, "_step", watched)
        with pytest.raises(KeyboardInterrupt):
            cs.generate(NumberBlocks([X]), 6, **how)
    assert seen[-1][0] == 1 <= seen[-1][1], "some are on disk before the last one rests"
    assert Store.open(tmp_path / "run").n_clusterings == 5
    assert same(whole, cs.generate(NumberBlocks([X]), 6, **how), 1e-9)


def test_columns_of_row_blocks_are_taken_by_name(tmp_path):
    """Where others hold no numbers."""
    dd = pytest.importorskip("dask.dataframe")
    X, how = blobs(), {"n_clusters": 4, "methods": "minima", "progress": False}
    frame = pd.DataFrame({"name": [f"o{i}" for i in range(len(X))], **{f"x{j}": X[:, j] for j in range(5)}})
    folder = tmp_path / "data"
    folder.mkdir()
    for i, part in enumerate((frame[:150], frame[150:])):
        part.to_parquet(folder / f"{i}.parquet")
    with pytest.raises(InputError, match=r"columns= .*takes some by name"):
        cs.generate(folder, 2, **how)
    whole, names = cs.generate(X[:, [0, 3]], 2, **how), ["x0", "x3"]
    lazy = dd.from_pandas(frame, npartitions=3)
    for source in (folder, lazy, NumberBlocks([frame[:9], frame[9:]], columns=names)):
        chosen = {} if isinstance(source, NumberBlocks) else {"columns": names}
        assert same(whole, cs.generate(source, 2, **how, **chosen), 1e-9)
    every = cs.generate(X, 2, **how)
    for source in (folder, lazy, NumberBlocks([frame[:9], frame[9:]], id_column="name")):
        found = cs.generate(source, 2, **how, **({} if isinstance(source, NumberBlocks) else {"id_column": "name"}))
        assert same(every, found, 1e-9)
        assert found.ids.tolist() == frame["name"].tolist()
    for make, said in (
        (lambda: cs.generate(folder, 2, **how, columns=["x9"]), "no column 'x9': columns= names those to take"),
        (lambda: cs.generate(lazy, 2, **how, columns=["x9"]), "no column 'x9': columns= names those to take"),
        (lambda: cs.generate(folder, 2, **how, columns=["x1", "x1"]), "each once"),
        (lambda: cs.generate(folder, 2, **how, id_column="nam"), "a block has no column 'nam': check id_column="),
        (lambda: cs.generate(folder, 2, **how, types="number"), "types= is for tables that are read as a whole"),
        (lambda: NumberBlocks([X], columns=names), "columns= names columns, and"),
        (
            lambda: NumberBlocks([frame], columns=names, id_column="x0"),
            "'x0' names the objects .*leave it out of columns=",
        ),
        (lambda: NumberBlocks([frame[["name"]]], id_column="name"), "there is no column but 'name'"),
    ):
        with pytest.raises(InputError, match=said):
            make()


def test_what_needs_all_objects_is_refused():
    blocks = NumberBlocks(parted(blobs(), 100))
    for how, said in (
        ({"methods": "spectral"}, "spectral needs the whole table"),
        ({"methods": "objects"}, "objects needs the whole table"),
        ({"methods": "auto"}, "looks at the whole table"),
        ({"metric": "precomputed"}, "whole matrix"),
        ({"together": [(0, 1)]}, "guide= needs"),
        ({"n_clusters": 500}, "lower n_clusters"),
    ):
        with pytest.raises(InputError, match=said):
            cs.generate(blocks, 2, **{"n_clusters": 3, **how})
    with pytest.raises(InputError, match="missing or not finite"):
        cs.generate(NumberBlocks([np.array([[1.0], [np.nan]])]), 2, n_clusters=2, methods="minima")
    with pytest.raises(InputError, match="tables of numbers"):
        NumberBlocks([np.array([["a"]])])
    with pytest.raises(InputError, match="at least one row"):
        NumberBlocks([np.ones((0, 2))])
    with pytest.raises(InputError, match="differ in their number"):
        NumberBlocks([np.ones((2, 2)), np.ones((2, 3))])
    with pytest.raises(InputError, match="are constant"):
        cs.generate(NumberBlocks([np.ones((5, 2))]), 2, n_clusters=2, methods="minima")
    with pytest.warns(GenerationWarning, match="being constant"):
        cs.generate(NumberBlocks([np.c_[blobs(50), np.ones(50)]]), 2, n_clusters=2, methods="minima", progress=False)


def test_a_column_that_holds_no_numbers_is_named(tmp_path):
    pq.write_table(pa.table({"cell": ["x", "y"], "a": [1.0, 2.0]}), tmp_path / "one.parquet")
    with pytest.raises(InputError, match=r"one\.parquet: column 'cell' holds string, .* columns= .*takes some by name"):
        cs.generate(tmp_path, 5, 2)
    (tmp_path / "one.parquet").write_text("cut short")
    with pytest.raises(InputError, match=r"one\.parquet: damaged, or not a \.parquet file \(Parquet"):
        NumberBlocks(tmp_path)
