"""Generation on numbers in row blocks: a sample is clustered, and the other rows are labeled, whatever the blocks and the workers."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import consilience as cs
from consilience._check import fingerprint
from consilience.generation import METHODS, NumberBlocks, Variations, extend
from consilience.inputs import open_source
from consilience.measures import adjusted_rand
from samples import refuses, row_blocks, same_runs

HOW = {"n_clusters": 4, "methods": "minima", "progress": False}


def blobs(n=400, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(6, d)) * 3)[rng.integers(0, 6, n)] + rng.normal(size=(n, d))


def parted(table, *ends):
    return [table[a:b] for a, b in pairwise([0, *ends, len(table)])]


def test_rows_that_fit_the_sample_have_the_clusterings_of_memory():
    X, how = blobs(), {**HOW, "n_clusters": (3, 9), "methods": "+".join(METHODS), "n_landmarks": 50}
    whole = cs.generate(X, 13, **how)
    same_runs(whole, cs.generate(NumberBlocks(parted(X, 100, 101, 333)), 13, **how))
    same_runs(cs.generate(X, 2, methods="auto"), cs.generate(NumberBlocks([X]), 2, methods="auto"))


@pytest.mark.parametrize("methods", ["zipf+pca+features+objects", "spectral+density+gaussian+landmarks"])
def test_answers_do_not_depend_on_blocks_or_workers(methods):
    """Nor on which clusterings share a pass: in a store they come one after the other."""
    X, how = blobs(9000), {**HOW, "methods": methods}
    forms = [[X], parted(X, 4095, 4097), parted(X, 10, 8500)]
    sources = [NumberBlocks(form, sample_size=300) for form in forms]
    first = cs.generate(sources[0], 4, **how, n_jobs=1)
    for source, n_jobs in zip(sources[1:], (1, 2), strict=True):
        same_runs(first, cs.generate(source, 4, **how, n_jobs=n_jobs))
    assert (first.labels >= 0).mean() > 0.7


def test_other_rows_are_labeled_by_the_clusterings_of_the_sample():
    """As `extend` labels new objects; other seeds have other samples."""
    X = blobs(6000)
    blocks = NumberBlocks(parted(X, 2500), sample_size=500)
    made = cs.generate(blocks, 3, **HOW)
    assert made.n_objects == 6000
    assert made.info["settings"].str.contains('"sample_size": 500').all()
    for labels in made.labels.T:
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        means = np.array([Z[labels == c].mean(axis=0) for c in range(4)])
        nearest = np.square(Z[:, None] - means).sum(axis=2).argmin(axis=1)
        assert (nearest == labels).mean() > 0.97, "by the means of the sample, which are near those of all rows"
    whole = cs.generate(X, 20, **HOW)
    best = whole.labels[:, whole.info["inertia"].idxmin()]
    more = cs.generate(blocks, 20, **HOW)
    assert max(adjusted_rand(best, labels) for labels in more.labels.T) > 0.9
    other = cs.generate(blocks, 3, **HOW, random_state=1)
    assert (other.labels != made.labels).any()
    refuses("from row blocks", extend, made, X, X[:3])


def test_a_clustering_is_made_again_and_varied_from_the_same_blocks():
    X = blobs(900)
    blocks = NumberBlocks(parted(X, 123), sample_size=200)
    made = cs.generate(blocks, 3, **{**HOW, "methods": "zipf"})
    row = made.info.loc[2]
    variations = Variations(NumberBlocks([X], sample_size=200))
    np.testing.assert_array_equal(variations.remake(row), made.labels[:, 2])
    near = variations(row, 2, jitter=0.1)
    same_runs(near, cs.generate(blocks, 2, around=row, jitter=0.1, progress=False))
    np.testing.assert_array_equal(variations.remake(near.info.loc[1]), near.labels[:, 1])
    plain = cs.generate(X, 1, **HOW).info.loc[0]
    assert len(Variations(NumberBlocks([X])).remake(plain)) == 900, "a sample of all rows is the table itself"
    for source, again in ((X, row), (NumberBlocks([X], sample_size=100), row), (blocks, plain)):
        refuses("sample_size=", Variations(source).remake, again)


def test_parquet_and_dask_are_blocks_and_a_store_is_resumed(tmp_path):
    da = pytest.importorskip("dask.array")
    X = blobs()
    folder = tmp_path / "data"
    folder.mkdir()
    for i, part in enumerate(parted(X, 150)):
        pq.write_table(pa.table({f"x{j}": part[:, j] for j in range(5)}), folder / f"{i}.parquet", row_group_size=60)
    whole = cs.generate(X, 4, **HOW)
    same_runs(whole, cs.generate(da.from_array(X, chunks=(90, 2)), 4, **HOW))
    assert cs.generate(folder, 2, **HOW, store=tmp_path / "run").n_clusterings == 2
    same_runs(whole, cs.generate(str(folder), 4, **HOW, store=tmp_path / "run"))
    refuses("fingerprint of the data", cs.generate, da.from_array(X + 1, chunks=90), 5, **HOW, store=tmp_path / "run")


def test_a_store_of_a_sample_is_resumed_and_knows_its_data(tmp_path):
    """Whatever the blocks; other data with the same moments is not it."""
    X, run = blobs(5000, 3), tmp_path / "run"
    whole = cs.generate(NumberBlocks([X], sample_size=400), 5, **HOW)
    cs.generate(NumberBlocks(parted(X, 4000), sample_size=400), 2, **HOW, store=run)
    same_runs(whole, cs.generate(NumberBlocks(parted(X, 1, 4500), sample_size=400), 5, **HOW, store=run))
    assert open_source(run).provenance.fingerprint == fingerprint(X)
    shuffled = X.copy()
    np.random.default_rng(0).shuffle(shuffled[:, 0])
    for source, said in ((NumberBlocks([shuffled], sample_size=400), "fingerprint of the data"), (X, "plan")):
        refuses(said, cs.generate, source, 6, **HOW, store=run)


def test_columns_of_row_blocks_are_taken_by_name(tmp_path):
    """Where others hold no numbers."""
    dd = pytest.importorskip("dask.dataframe")
    X, names = blobs(), ["x0", "x3"]
    frame = pd.DataFrame({"name": [f"o{i}" for i in range(len(X))], **{f"x{j}": X[:, j] for j in range(5)}})
    folder = row_blocks(tmp_path / "data", frame[:150], frame[150:])
    whole, every = cs.generate(X[:, [0, 3]], 2, **HOW), cs.generate(X, 2, **HOW)
    lazy = dd.from_pandas(frame, npartitions=3)
    for source in (folder, lazy):
        same_runs(whole, cs.generate(source, 2, **HOW, columns=names))
    same_runs(whole, cs.generate(NumberBlocks([frame[:9], frame[9:]], columns=names), 2, **HOW))
    for source, chosen in (
        (folder, {"id_column": "name"}),
        (lazy, {"id_column": "name"}),
        (NumberBlocks([frame[:9], frame[9:]], id_column="name"), {}),
    ):
        made = cs.generate(source, 2, **HOW, **chosen)
        same_runs(every, made)
        assert made.ids.tolist() == frame["name"].tolist()
    refuses("0.parquet: column 'name' holds", cs.generate, folder, 2, **HOW)
    for source in (folder, lazy):
        refuses("'x9'", cs.generate, source, 2, **HOW, columns=["x9"])
    refuses("each once", cs.generate, folder, 2, **HOW, columns=["x1", "x1"])
    refuses("'nam'", cs.generate, folder, 2, **HOW, id_column="nam")
    refuses("types=", cs.generate, folder, 2, **HOW, types="number")
    refuses("columns=", NumberBlocks, [X], columns=names)
    refuses("leave it out of columns=", NumberBlocks, [frame], columns=names, id_column="x0")
    refuses("no column but 'name'", NumberBlocks, [frame[["name"]]], id_column="name")
    (folder / "0.parquet").write_text("cut short")
    refuses(r"0\.parquet: damaged", NumberBlocks, folder)


def test_what_row_blocks_cannot_be_is_refused():
    def ask(*parts, **how):
        return cs.generate(NumberBlocks(parts), 2, **{**HOW, "n_clusters": 2, **how})

    refuses("whole table", ask, np.eye(9), metric="precomputed")
    refuses("whole table", ask, np.eye(9), together=[(0, 1)])
    refuses("lower n_clusters", ask, np.eye(9), n_clusters=500)
    refuses("missing or not finite", ask, np.array([[1.0], [np.nan]]))
    refuses("tables of numbers", ask, np.array([["a"]]))
    refuses("at least one row", ask, np.ones((0, 2)))
    refuses("differ in their number", ask, np.ones((2, 2)), np.ones((2, 3)))
    refuses("are constant", ask, np.ones((5, 2)))
