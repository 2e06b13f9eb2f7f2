"""Labels in row blocks: the same answers as in memory, however the rows are cut and whoever reads them; and where their distinct rows
have no room, a method is fitted to a sample, and the other objects are placed."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience._check import InputError
from consilience.blocks import LabelBlocks, WrittenConsensus, combining, sample_and_place, vote_mixture_nbce
from consilience.blocks.combining import FIXED, bytes_of
from consilience.blocks.distinct_rows import Coded, of_block
from consilience.consensus import METHODS, MajorityVote
from consilience.consensus.bayes import variational
from consilience.datasets import noisy_labels
from consilience.measures import adjusted_rand
from dask_cluster import local_cluster
from samples import refuses

OF_OBJECTS = ("labels", "confidence", "support", "membership", "ids", "scale_labels", "scale_confidence")


@pytest.fixture(scope="module")
def codes():
    table = noisy_labels(900, 5, 7, 0.25, random_state=3)[0].labels.copy()
    table[::17, 2] = -1
    table[[5, 700]] = -1  # without any label
    return table


@pytest.fixture(scope="module")
def frame(codes):
    table = pd.DataFrame(codes, columns=[f"run{j}" for j in range(codes.shape[1])])
    names = {-1: None, **{i: f"group {9 - i}" for i in range(5)}}
    table["run1"] = table["run1"].map(names)
    table["run3"] = table["run3"].astype("Int64").mask(table["run3"] < 0) + 100  # pandas' missing whole numbers
    table.insert(0, "cell", [f"cell{i:04d}" for i in range(len(table))])
    return table


def cut(table, size):
    return [table[i : i + size] for i in range(0, len(table), size)]


def assert_same(found, wanted):
    for name in OF_OBJECTS:
        here, there = getattr(found, name), getattr(wanted, name)
        assert (here is None) == (there is None), name
        if here is not None:
            np.testing.assert_array_equal(here, there, err_msg=name)  # bitwise
    for name in ("n_clusters", "method", "note", "anmi", "names"):
        assert getattr(found, name) == getattr(wanted, name), name
    pd.testing.assert_frame_equal(found.clusters, wanted.clusters, check_exact=True)
    pd.testing.assert_frame_equal(found.members, wanted.members, check_exact=True)
    assert repr(found) == repr(wanted)


@pytest.mark.parametrize("size", [1, 70, 600, 900])
def test_any_size_of_blocks_gives_the_answer_in_memory(codes, size):
    table = codes[:40] if size == 1 else codes
    assert_same(cs.combine(LabelBlocks(cut(table, size))), cs.combine(table))


@pytest.mark.parametrize("asked", [(4, "vote"), (4, "quadratic"), (4, "sccc"), (4, "mixture"), ("auto",)], ids=str)
def test_methods_give_the_answer_in_memory(codes, asked):
    assert_same(cs.combine(LabelBlocks(cut(codes, 400)), *asked), cs.combine(codes, *asked))


def test_blocks_without_rows_change_nothing(codes):
    blocks = LabelBlocks([codes[:0], *cut(codes, 700), codes[:0]])
    assert_same(cs.combine(blocks, 4, "mcla"), cs.combine(codes, 4, "mcla"))
    assert LabelBlocks([codes[:0, 0], codes[:, 0]]).n_clusters.tolist() == [5]


def test_parquet_is_read_as_the_same_file_in_memory(frame, tmp_path):
    file = tmp_path / "labels.parquet"
    frame.to_parquet(file, row_group_size=200, index=False)
    wanted = cs.combine(file)
    assert_same(cs.combine(file, memory_limit="1GB"), wanted)
    folder = tmp_path / "labels"
    folder.mkdir()
    for i, part in enumerate(cut(frame, 400)):
        part.to_parquet(folder / f"{i}.parquet", index=False)
    assert_same(cs.combine(folder), wanted)
    some = cs.combine(folder, columns=["run1", "run3", "run4"])
    assert_same(some, cs.combine(file, columns=["run1", "run3", "run4"]))


@pytest.mark.parametrize("rows", [1, 25, 10**6])
def test_rows_at_a_time_do_not_matter(frame, tmp_path, rows):
    frame = frame[:60]
    file = tmp_path / "labels.parquet"
    frame.to_parquet(file, row_group_size=30, index=False)
    assert_same(cs.combine(LabelBlocks.from_parquet(file, block_rows=rows)), cs.combine(file))


def test_index_of_a_parquet_file_names_the_objects(codes, tmp_path):
    index, file = pd.Index([f"x{i}" for i in range(len(codes))], name="cell"), tmp_path / "labels.parquet"
    pd.DataFrame(codes, columns=list("abcdefg"), index=index).to_parquet(file)
    assert_same(cs.combine(file, memory_limit="1GB"), cs.combine(file))


def test_output_is_written_in_parts_and_read_when_asked_for(frame, tmp_path):
    file, out = tmp_path / "labels.parquet", tmp_path / "consensus"
    frame.to_parquet(file, row_group_size=400, index=False)
    found = cs.combine(LabelBlocks.from_parquet(file, block_rows=500), output=out)
    wanted = cs.combine(file)
    assert isinstance(found, WrittenConsensus)
    assert sorted(part.name for part in out.iterdir()) == [f"part-{i:05d}.parquet" for i in range(2)]
    assert not callable(vars(found)["n_clusters"])
    assert callable(vars(found)["labels"]), "nothing is read before it is asked for"
    assert repr(found) == repr(wanted)
    assert callable(vars(found)["labels"]), "nor by printing"
    assert_same(found, wanted)
    np.testing.assert_array_equal(found.sizes, wanted.sizes)
    written = pd.read_parquet(out)
    assert written["cell"].tolist() == frame["cell"].tolist()
    assert written["cluster"].isna().sum() == wanted.n_without_labels == 2
    refuses("is there already", cs.combine, file, output=out)


def test_saved_and_opened_again(codes, tmp_path):
    found = cs.combine(LabelBlocks(cut(codes, 400)), output=tmp_path / "out")
    assert pd.read_parquet(tmp_path / "out")["id"].tolist() == list(range(len(codes)))
    found.save(tmp_path / "saved")
    again = WrittenConsensus.load(tmp_path / "saved")
    np.testing.assert_array_equal(again.labels, found.labels)
    assert again.n_objects == len(codes)


def test_two_worker_processes_give_the_answer_in_memory(client, codes, frame, tmp_path):
    assert_same(cs.combine(LabelBlocks(cut(codes, 300)), 4, "mcla", client=client), cs.combine(codes, 4, "mcla"))
    file = tmp_path / "labels.parquet"
    frame.to_parquet(file, row_group_size=200, index=False)
    blocks = LabelBlocks.from_parquet(file, block_rows=250)
    wanted = cs.combine(file, 4, "mcla")
    assert_same(cs.combine(blocks, 4, "mcla", client=client, output=tmp_path / "out"), wanted)
    assert len(blocks.parts) == 5


def test_dask_collections(client, codes, frame):
    array = pytest.importorskip("dask.array")
    dataframe = pytest.importorskip("dask.dataframe")
    wanted, table = cs.combine(codes, 4, "mcla"), frame.drop(columns="cell")
    assert_same(cs.combine(array.from_array(codes, chunks=(400, 3)), 4, "mcla"), wanted)
    assert_same(cs.combine(dataframe.from_pandas(table, npartitions=3), 4, "mcla"), cs.combine(table, 4, "mcla"))
    assert_same(cs.combine(LabelBlocks(client.scatter(cut(codes, 600), hash=False)), 4, "mcla"), wanted)


def test_the_log_has_a_line_for_every_block(client, codes, tmp_path):
    log, blocks = tmp_path / "run.log", LabelBlocks(cut(codes, 180))
    cs.combine(blocks, 4, "vote", client=client, log=log)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    names = [line["name"] for line in lines if line["what"] == "task"]
    assert {f"{what}, part {i} of 5" for what in ("distinct rows", "answers") for i in range(1, 6)} <= set(names)
    workers = {line["worker"] for line in lines if line["what"] == "task"}
    assert workers <= set(client.scheduler_info()["workers"])


@pytest.mark.slow
def test_a_worker_that_dies_costs_nothing(codes, tmp_path):
    """Its tasks are given out again, and what was written twice is there once."""
    with local_cluster() as client:
        client.submit(_die_once, str(tmp_path / "died"), retries=3)
        blocks = LabelBlocks(cut(codes, 150))
        assert_same(cs.combine(blocks, 4, "mcla", client=client, output=tmp_path / "out"), cs.combine(codes, 4, "mcla"))
        assert (tmp_path / "died").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["died", "out"]


def _die_once(mark):
    import os
    from pathlib import Path

    if not Path(mark).exists():
        Path(mark).touch()
        os._exit(1)


@given(st.data())
def test_merging_in_any_order_of_neighbors_finds_the_same_rows(data):
    n = data.draw(st.integers(1, 30))
    flat = data.draw(st.lists(st.integers(-1, 3), min_size=2 * n, max_size=2 * n))
    table = np.array(flat, np.int32).reshape(n, 2)
    cuts = data.draw(st.lists(st.integers(0, n), max_size=6))
    names = [["c0", "c1", "c2"]] * 2
    found = [of_block(Coded(table[a:b], names)) for a, b in pairwise([0, *sorted(cuts), n])]
    while len(found) > 1:
        at = data.draw(st.integers(0, len(found) - 2))
        found[at : at + 2] = [found[at].merge(found[at + 1])]
    wanted = cs.Ensemble.from_codes(table).signatures()
    np.testing.assert_array_equal(found[0].rows, wanted.labels)
    np.testing.assert_array_equal(found[0].counts, wanted.counts)
    assert found[0].n_objects == n


@given(st.data())
def test_labels_of_blocks_are_coded_as_in_memory(data):
    words = st.one_of(st.none(), st.integers(-1, 3), st.sampled_from(["b", "a", "c", "-1", 10**12, True]))
    vector = data.draw(st.lists(words, min_size=1, max_size=20))
    at = data.draw(st.integers(0, len(vector)))
    parts = [pd.DataFrame({"x": pd.Series(part, dtype=object)}) for part in (vector[:at], vector[at:])]
    found = LabelBlocks(parts).distinct().ensemble(["x"])
    wanted = cs.Ensemble({"x": vector})
    rows = wanted.signatures()
    np.testing.assert_array_equal(found.labels, rows.labels)
    assert [type(name) for name in found.categories(0)] == [type(name) for name in wanted.categories(0)]
    assert found.categories(0).tolist() == wanted.categories(0).tolist()


def test_numbers_of_bytes():
    assert bytes_of(" 2 gb") == 2 * 10**9
    for wrong in ("4 apples", "GB", 5, True, -1, "0.1GB"):
        refuses("memory_limit", bytes_of, wrong)


def test_what_does_not_fit_is_said_before_the_work(codes, monkeypatch):
    for work in ("combine_problem", "spread"):
        monkeypatch.setattr(combining, work, None)
    few = LabelBlocks(cut(codes, 500))
    refuses(r"900 objects have no room .* output=", cs.combine, few, memory_limit=FIXED + few.distinct().n_bytes)


def test_masked_labels_are_missing(codes):
    masked = np.ma.array(codes, mask=np.arange(len(codes))[:, None] % 7 == np.arange(codes.shape[1]))
    np.testing.assert_array_equal(cs.combine(LabelBlocks([masked])).labels, cs.combine(masked).labels)


def test_wrong_blocks(codes, tmp_path):
    for parts, says in (
        ([], "there are no blocks"),
        ([codes, codes[:, :6]], "a block has 6 clusterings, the one before 7"),
        ([{1, 2}], "a block of labels cannot be a set"),
        ([pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1], "c": [2]})], "no column 'b'"),
    ):
        with pytest.raises(InputError, match=says):
            cs.combine(LabelBlocks(parts))
    refuses("sample_weight", cs.combine, LabelBlocks([codes]), sample_weight=np.ones(len(codes)))
    (tmp_path / "none").mkdir()
    refuses("without", LabelBlocks.from_parquet, tmp_path / "none")
    (tmp_path / "none" / "x.parquet").write_text("no Parquet")
    refuses(r"damaged, or not a \.parquet file \(Parquet", cs.combine, tmp_path / "none")
    pd.DataFrame({"a": range(10), "b": [0, 1] * 5}).to_parquet(tmp_path / "ids.parquet")
    refuses(r"'a' \(10 different values for 10 objects\)", cs.combine, tmp_path / "ids.parquet", memory_limit="1GB")


def test_a_clustering_named_id_is_no_id(codes):
    named = pd.DataFrame(codes[:, :3], columns=["id", "b", "c"], index=[f"x{i}" for i in range(len(codes))])
    ens = cs.Ensemble({name: named[name] for name in named}, ids=named.index)
    found = cs.combine(ens, 4, memory_limit="1GB")
    assert_same(found, cs.combine(ens, 4))
    assert found.ids[:2].tolist() == ["x0", "x1"]


def test_columns_of_one_name_are_refused(codes, tmp_path):
    twice = pd.DataFrame(codes[:, :3], columns=["a", "b", "a"])
    for parts, columns in (([twice], None), ([twice], ["b", "a"]), ([codes[:, :2]], ["a", "a"])):
        with pytest.raises(InputError, match="two columns are called 'a'"):
            cs.combine(LabelBlocks(parts, columns=columns))
    refuses("no column 'who' of ids", cs.combine, LabelBlocks([twice], columns=["b"], id_column="who"))
    assert cs.combine(LabelBlocks([twice], columns=["b"]), 4).n_objects == len(codes)


def test_clusterings_that_are_spread_evenly_are_so_in_blocks():
    """Their confidence is that of memory, where resamples draw their like."""
    rng = np.random.default_rng(0)
    truth, hard = np.repeat(np.arange(6), 40), rng.random(240) < 0.3  # all are wrong about the same objects
    columns = [
        np.where(rng.random(240) < np.where(hard, 0.8, 0.05), rng.integers(6, size=240), truth) for _ in range(24)
    ]
    columns = [np.minimum(column, 1 + i % 5) for i, column in enumerate(columns)]
    info = {"method": ["graph"] * 24, "place": np.linspace(0, 0.95, 24)}
    ens = cs.Ensemble.from_codes(np.column_stack(columns).astype(np.int32), info=info)
    wanted = cs.combine(ens, 3, "walk")
    assert_same(cs.combine(ens, 3, "walk", memory_limit="1GB"), wanted)
    plain = cs.combine(np.asarray(ens.labels), 3, "walk")
    assert not np.array_equal(plain.confidence, wanted.confidence), "that it is even matters here"


def test_stores_and_results_are_no_blocks(codes, tmp_path):
    cs.Ensemble.from_codes(codes).save(tmp_path / "run")
    assert_same(cs.combine(tmp_path / "run", memory_limit="1GB"), cs.combine(tmp_path / "run"))
    (tmp_path / "run" / "manifest.json").unlink()
    with pytest.warns(UserWarning, match="manifest"):
        assert cs.combine(tmp_path / "run").n_objects == len(codes)


# --- no room for the distinct rows ---


OBJECTS, CLUSTERS = 1200, 4
NBCE = {"n_components": 6, "n_init": 1, "max_iter": 12}
OPTIONS = {"nbce": {**NBCE, "inference": "vb"}}
SLOW = ("anmi", "cspa", "hgpa", "bce")


@pytest.fixture(scope="module")
def many():
    table = noisy_labels(OBJECTS, CLUSTERS, 8, 0.3, random_state=1)[0].labels.copy()
    table[::19, 3] = -1
    table[[7, 800]] = -1
    return table


def in_blocks(table, size=250):
    return LabelBlocks(cut(table, size))


def combine_tightly(table, method="auto", size=250, k=CLUSTERS, **options):
    """With room for the answers, and for no more than a hundred distinct rows."""
    return cs.combine(in_blocks(table, size), k, method, memory_limit=FIXED + 50_000 + 40 * len(table), **options)


def assert_close(answer, wanted):
    np.testing.assert_array_equal(answer.labels, wanted.labels)
    for name in ("confidence", "support", "membership"):
        np.testing.assert_allclose(getattr(answer, name), getattr(wanted, name), atol=1e-6, err_msg=name)
    assert (answer.n_clusters, answer.method, answer.names) == (wanted.n_clusters, wanted.method, wanted.names)
    pd.testing.assert_frame_equal(answer.clusters, wanted.clusters, rtol=1e-9)
    pd.testing.assert_frame_equal(answer.members, wanted.members, rtol=1e-9)


@pytest.mark.parametrize("method", ["auto", *(method for method in METHODS if method not in ("vote", *SLOW))])
def test_a_sample_of_all_objects_has_the_answer_of_memory(many, method):
    answer = combine_tightly(many, method, **OPTIONS.get(method, {}))
    assert_close(answer, cs.combine(many, CLUSTERS, method, **OPTIONS.get(method, {})))
    assert "the others are placed by their labels" in answer.note


@pytest.mark.parametrize("method", ["walk", "mcla", "dawid_skene", "lwea", "sccc", "vote", "mixture", "nbce"])
def test_the_rest_is_placed_whatever_the_blocks(many, method, monkeypatch):
    monkeypatch.setattr(sample_and_place, "SAMPLE", 400)
    monkeypatch.setattr(sample_and_place, "CHUNK", 100)
    table = many.astype(str).astype(object)
    table[many < 0] = None
    table[11, 0] = "a label that the sample lacks"
    table[12] = [f"only here {j}" for j in range(8)]
    how = OPTIONS.get(method, {})
    answer, other = (combine_tightly(table, method, size, **how) for size in (90, OBJECTS))
    for name in ("labels", "confidence", "support", "membership"):
        np.testing.assert_allclose(getattr(answer, name), getattr(other, name), atol=1e-9, err_msg=name)
    wanted = cs.combine(many, CLUSTERS, method, **how)
    assert adjusted_rand(answer.labels, wanted.labels) > 0.9
    assert abs(answer.mean_confidence - wanted.mean_confidence) < 0.03
    np.testing.assert_array_equal(np.flatnonzero(answer.labels < 0), [7, 800])
    np.testing.assert_array_equal(answer.clusters["size"], np.bincount(answer.labels[answer.labels >= 0]))
    assert (np.diff(answer.clusters["size"]) <= 0).all()
    there = answer.labels >= 0
    np.testing.assert_allclose(answer.membership[there].sum(axis=1), 1)


def test_passes_of_the_mixture_and_the_bound_go_over_all_objects(many, monkeypatch):
    """From a start on a sample they end where those in memory do."""
    monkeypatch.setattr(sample_and_place, "SAMPLE", 900)
    mixture = {"tol": 1e-12, "max_iter": 500}
    wanted = cs.combine(many, CLUSTERS, "mixture", **mixture)
    np.testing.assert_allclose(combine_tightly(many, "mixture", **mixture).membership, wanted.membership, atol=1e-4)
    bound = {**NBCE, "inference": "vb", "max_iter": 300, "tol": 1e-10, "power": 0.7, "prior": "fsd"}
    wanted = cs.combine(many, None, "nbce", **bound)
    answer = combine_tightly(many, "nbce", k=None, **bound)
    assert (answer.labels == wanted.labels).mean() > 0.99


def test_starts_of_the_bound_compete_on_few_objects_as_in_memory(many, monkeypatch):
    monkeypatch.setattr(variational, "SAMPLE", 500)
    monkeypatch.setattr(vote_mixture_nbce, "BLOCK", 300)
    how = {**NBCE, "inference": "vb"}
    assert_close(combine_tightly(many, "nbce", k=None, **how), cs.combine(many, None, "nbce", **how))


def test_a_method_from_outside_works_in_row_blocks(many, monkeypatch):
    class Louder(MajorityVote):
        """A method that consilience does not know."""

    monkeypatch.setitem(METHODS, "louder", Louder)
    assert_close(combine_tightly(many, "louder"), cs.combine(many, CLUSTERS, "louder"))
    wanted = cs.combine(many, CLUSTERS, "louder").labels
    np.testing.assert_array_equal(cs.combine(in_blocks(many), CLUSTERS, "louder").labels, wanted)


def test_the_number_of_clusters_is_that_of_the_sample(many):
    wanted, answer = cs.combine(many, "auto"), combine_tightly(many, k="auto")
    np.testing.assert_array_equal(answer.labels, wanted.labels)
    assert (answer.method, answer.scales, answer.scale_labels) == (wanted.method, None, None)
    assert wanted.note in answer.note


def test_written_and_read_again(many, tmp_path):
    wanted = cs.combine(many, CLUSTERS, "mcla")
    answer = combine_tightly(many, "mcla", output=tmp_path / "out")
    assert isinstance(answer, WrittenConsensus)
    assert (answer.n_objects, answer.n_without_labels, answer.n_floaters) == (OBJECTS, 2, wanted.n_floaters)
    assert answer.mean_confidence == pytest.approx(wanted.mean_confidence, abs=1e-9)
    assert_close(answer, wanted)


def test_answers_that_have_no_room_are_refused_before_the_work(many, monkeypatch):
    monkeypatch.setattr(sample_and_place, "_take", None)
    refuses(r"objects have no room .* give output=", cs.combine, in_blocks(many), CLUSTERS, memory_limit=FIXED + 1000)
