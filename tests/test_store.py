"""The store: what goes in comes out, and whatever is wrong is said by name."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience._whole_files
from consilience import Ensemble
from consilience.ensemble.store import Store, StoreWarning
from samples import refuses, same

N = 40
RUN = {"n_objects": N, "fingerprint": "abc", "plan": {"n_clusters": [2, 3]}}


def some_labels(m, n=N, k=5, seed=0):
    return np.random.default_rng(seed).integers(-1, k, (m, n), dtype=np.int32).T


@pytest.fixture
def run(tmp_path):
    """A store of three parts with two clusterings each."""
    folder = tmp_path / "run"
    with Store.create(folder, **RUN) as store:
        for seed in range(3):
            store.append(some_labels(2, seed=seed), pd.DataFrame({"seed": [seed, seed]}))
    return folder


def parts(folder):
    return sorted(folder.glob("part-*.parquet"))


def open_and_catch(folder):
    """The store, and the warnings on opening it; every refused file must have been warned of by name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        store = Store.open(folder)
    messages = [str(w.message) for w in caught if w.category is StoreWarning]
    assert len(messages) == len(caught)
    for name, reason in store.refused:
        assert any(str(folder / name) in message and reason in message for message in messages)
    return store, messages


def bytes_of(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def add_part(folder, table, number=9):
    """Put a table into the folder under the name a part of these bytes would have."""
    data = bytes_of(table)
    path = folder / f"part-{number:08d}-{zlib.crc32(data):08x}.parquet"
    path.write_bytes(data)
    return path


@settings(max_examples=20)
@given(data=st.data())
def test_any_labels_in_any_parts_come_back(data):
    n = data.draw(st.integers(1, 30))
    sizes = data.draw(st.lists(st.integers(0, 4), max_size=5))
    top = data.draw(st.sampled_from([0, 3, 300, 2**31 - 1]))
    labels = np.random.default_rng(len(sizes)).integers(-1, top, (n, sum(sizes)), endpoint=True)
    ids = np.array(data.draw(st.permutations(range(-2, sum(sizes) - 2))), dtype=np.int64)
    with tempfile.TemporaryDirectory() as folder:
        with Store.create(folder, n_objects=n) as store:
            for end, size in zip(np.cumsum(sizes), sizes, strict=True):
                names = ids[end - size : end]
                np.testing.assert_array_equal(store.append(labels[:, end - size : end], numbers=names), names)
        for read in (store, Store.open(folder)):
            order = np.argsort(ids)
            np.testing.assert_array_equal(read.numbers, ids[order])
            np.testing.assert_array_equal(read.labels(), labels[:, order])
            np.testing.assert_array_equal(read.labels(ids[::-1]), labels[:, ::-1])
            assert read.labels().dtype == np.int32
            assert read.info().index.tolist() == sorted(ids.tolist())
            assert read.n_clusterings == len(ids)


def test_row_groups_bound_what_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("consilience.ensemble.store.part.LABELS_PER_ROW_GROUP", 3 * N)
    labels = some_labels(10)
    with Store.create(tmp_path, n_objects=N) as store:
        store.append(np.asfortranarray(labels.astype(np.int64)), pd.DataFrame({"row": range(10)}))
    assert pq.ParquetFile(parts(tmp_path)[0]).num_row_groups == 4
    store = Store.open(tmp_path)
    np.testing.assert_array_equal(store.labels(), labels)
    np.testing.assert_array_equal(store.labels([7, 0, 7]), labels[:, [7, 0, 7]])
    assert store.info()["row"].tolist() == list(range(10))


def test_ids_default_to_the_next_free_ones(tmp_path):
    with Store.create(tmp_path / "run", n_objects=N) as store:
        assert store.append(some_labels(2)).tolist() == [0, 1]
        assert store.append(some_labels(1), numbers=[10]).tolist() == [10]
        assert store.append(some_labels(2)).tolist() == [11, 12]
        assert store.append(np.empty((N, 0), int)).tolist() == []
    assert len(parts(store.path)) == 3
    with Store.resume(tmp_path / "run", n_objects=N) as store:
        assert store.append(some_labels(1)).tolist() == [13]


def test_info_cells_come_back(tmp_path):
    first = pd.DataFrame(
        {
            "method": ["kmeans", None],
            "parameters": [{"k": 3, "weights": np.array([1.5, 2.0]), "n": np.int64(4)}, None],
            "scores": [[0.5, float("nan")], np.array([1.0])],
            "seed": [2**62 + 1, 5],
            "k": [3, "auto"],
            "empty": [None, None],
            "seconds": [np.float32(0.5), np.nan],
            "kind": pd.Categorical(["a", "b"]),
            "when": pd.to_datetime(["2026-01-01", "2026-01-02"]),
            "labels.x": [1, 2],
            "mixed": ["one", 2.5],
        }
    )
    second = {
        "parameters": [{}],
        "k": [4],
        "seconds": [2],
        "empty": ["now filled"],
        "late": [True],
        "mixed": [{"a": 1}],
    }
    with Store.create(tmp_path, n_objects=N) as store:
        store.append(some_labels(2), first, numbers=[4, 2])
        store.append(some_labels(1), pd.DataFrame(second), numbers=[3])
    info = Store.open(tmp_path).info()
    assert (info.index.name, info.index.tolist()) == ("number", [2, 3, 4])
    assert list(info.columns) == [*first.columns, "late"]
    nothing = info.astype(object).where(info.notna(), None)
    assert nothing["parameters"].tolist() == [None, {}, {"k": 3, "weights": [1.5, 2.0], "n": 4}]
    np.testing.assert_array_equal(info.loc[4, "scores"], [0.5, np.nan])
    assert info.loc[2, "scores"] == [1.0]
    assert int(info.loc[4, "seed"]) == 2**62 + 1
    assert nothing["k"].tolist() == ["auto", 4, 3]
    assert nothing["empty"].tolist() == [None, "now filled", None]
    assert nothing["seconds"].tolist() == [None, 2.0, 0.5]
    assert nothing["kind"].tolist() == ["b", None, "a"]
    assert info.loc[2, "when"] == pd.Timestamp("2026-01-02")
    assert nothing["labels.x"].tolist() == [2, None, 1]
    assert nothing["late"].tolist() == [None, True, None]
    assert nothing["method"].tolist() == [None, None, "kmeans"]
    assert nothing["mixed"].tolist() == [2.5, {"a": 1}, "one"]


def check_the_rest(store, missing):
    """All of the fixture's clusterings but the missing part's are there, and right."""
    for seed in range(3):
        ids = [2 * seed, 2 * seed + 1]
        if seed == missing:
            assert not np.isin(ids, store.numbers).any()
        else:
            np.testing.assert_array_equal(store.labels(ids), some_labels(2, seed=seed))
    assert store.info()["seed"].tolist() == [seed for seed in range(3) if seed != missing for _ in range(2)]


def test_every_flipped_bit_and_every_missing_byte_is_seen(run):
    path = parts(run)[1]
    data = path.read_bytes()
    flipped = [bytearray(data) for _ in range(60)]
    for position, damaged in zip(np.linspace(0, len(data) - 1, 60).astype(int), flipped, strict=True):
        damaged[position] ^= 1 << int(position % 8)
    for damaged in (*flipped, data[:0], data[:3], data[:200], data[:-1]):
        path.write_bytes(damaged)
        store, messages = open_and_catch(run)
        why = "it does not match the checksum in its name, so it is damaged or cut short"
        assert (store.refused, len(messages)) == ([(path.name, why)], 1)
    check_the_rest(store, missing=1)


def test_damage_after_opening_is_an_error_not_a_wrong_label(run):
    store, path = Store.open(run), parts(run)[1]
    data = path.read_bytes()
    right = store.labels()
    column = pq.ParquetFile(path).metadata.row_group(0).column(2)
    assert column.path_in_schema.startswith("labels")
    end = column.dictionary_page_offset + column.total_compressed_size
    for position in range(end - 30, end, 5):  # in the page, not its header
        damaged = bytearray(data)
        damaged[position] ^= 4
        path.write_bytes(damaged)
        refuses(f"{path.name} has changed since the store was opened", store.labels)
    path.write_bytes(data)
    np.testing.assert_array_equal(store.labels(), right)


def put(run, name, content):
    (run / name).write_bytes(content)
    return name


def of_another_run(**changes):
    def put_it(run):
        with Store.create(run.parent / "other", **(RUN | changes)) as other:
            other.append(some_labels(1, n=other.n_objects), numbers=[77])
        path = parts(other.path)[0]
        return put(run, path.name, path.read_bytes())

    return put_it


def rewritten(change):
    return lambda run: add_part(run, change(pq.read_table(parts(run)[0]))).name


def with_wider_labels(table):
    labels = pa.array([[0] * (N + 1)] * 2, pa.list_(pa.int32(), N + 1))
    return table.set_column(table.column_names.index("labels"), "labels", labels)


def of_a_newer_version(table):
    manifest = json.loads(table.schema.metadata[b"consilience"]) | {"version": 3}
    return table.replace_schema_metadata({"consilience": json.dumps(manifest)})


OTHER = "it belongs to another run, which differs in its"


@pytest.mark.parametrize(
    ("put_it", "reason"),
    [
        (rewritten(lambda table: pa.table({"x": [1]})), "it was not written by consilience"),
        (lambda run: put(run, "notes.parquet", b"not Parquet at all"), "it cannot be read as Parquet"),
        (lambda run: (run / "sub.parquet").mkdir() or "sub.parquet", "it cannot be read as Parquet"),
        (
            lambda run: put(run, "copy.parquet", parts(run)[0].read_bytes()),
            "it was renamed, so its checksum is lost: give it",
        ),
        (of_another_run(plan=5), f"{OTHER} plan"),
        (of_another_run(fingerprint=None), f"{OTHER} fingerprint of the data"),
        (of_another_run(n_objects=N + 1), f"{OTHER} number of objects"),
        (of_another_run(ids=range(N)), f"{OTHER} ids"),
        (rewritten(with_wider_labels), f"its columns are not a number and {N} labels"),
        (rewritten(of_a_newer_version), "it was written in store format 3 by a newer consilience"),
        (rewritten(lambda t: t.replace_schema_metadata({"consilience": "{}"})), "its copy of the manifest is damaged"),
    ],
)
def test_what_does_not_belong_is_refused_by_name(run, put_it, reason):
    name = put_it(run)
    store, messages = open_and_catch(run)
    [(refused, why)] = store.refused
    assert refused == name
    assert why.startswith(reason)
    assert len(messages) == 1
    check_the_rest(store, missing=None)


def test_a_repeated_id_keeps_its_first_place(run):
    table = pq.read_table(parts(run)[2])
    path = add_part(run, table.set_column(0, table.schema.field("number"), [[0, 99]]))
    store, messages = open_and_catch(run)
    assert messages == [f"{path} holds clustering 0 again: the one in an earlier part is kept"]
    assert store.numbers.tolist() == [0, 1, 2, 3, 4, 5, 99]
    np.testing.assert_array_equal(store.labels([0])[:, 0], some_labels(2, seed=0)[:, 0])
    np.testing.assert_array_equal(store.labels([99])[:, 0], some_labels(2, seed=2)[:, 1])
    assert store.info()["seed"].tolist() == [0, 0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("text", [None, b"", b"{", b"[]", b'{"name": "some web page"}', b"\xff\xfe"])
def test_a_lost_manifest_is_taken_from_the_parts(run, text):
    whole = Store.open(run).manifest
    path = run / "manifest.json"
    path.unlink() if text is None else path.write_bytes(text)
    store, messages = open_and_catch(run)
    assert store.manifest == whole
    assert [name for name, _ in store.refused] == ["manifest.json"]
    assert len(messages) == 1
    check_the_rest(store, missing=None)
    with Store.resume(run, **RUN):
        pass
    assert Store.open(run).refused == []


def test_any_flip_in_the_manifest_is_seen(run):
    path = run / "manifest.json"
    data = path.read_bytes()
    whole = Store.open(run).manifest
    for position in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[position] ^= 1
        path.write_bytes(damaged)
        with contextlib.suppress(ValueError):  # white space, or a version that is refused
            if b'"version": 3' in damaged or json.loads(damaged) == whole:
                continue
        store, _ = open_and_catch(run)
        assert store.manifest == whole
        assert [name for name, _ in store.refused] == ["manifest.json"]


@pytest.mark.parametrize("damage", ["missing", "cut", "other ids"])
def test_lost_object_ids_are_said_and_written_anew(tmp_path, damage):
    ids = [f"row {i}" for i in range(N)]
    with Store.create(tmp_path, **RUN, ids=ids) as store:
        store.append(some_labels(1))
    path = tmp_path / "ids.parquet"
    left = {"missing": b"", "cut": path.read_bytes()[:-5], "other ids": bytes_of(pa.table({"id": ids[::-1]}))}[damage]
    path.write_bytes(left) if left else path.unlink()
    store, messages = open_and_catch(tmp_path)
    assert [name for name, _ in store.refused] == ["ids.parquet"]
    assert store.ids is None
    assert store.n_clusterings == len(messages) == 1
    with Store.resume(tmp_path, **RUN, ids=ids) as store:
        assert store.ids.tolist() == ids
    assert Store.open(tmp_path).ids.tolist() == ids


def test_left_over_files_are_ignored_then_removed(run):
    leftover = run / ".unfinished-part-00000003-00000000.parquet"
    leftover.write_bytes(parts(run)[0].read_bytes()[:50])
    assert Store.open(run).refused == []
    assert leftover.exists()
    with Store.resume(run, **RUN):
        assert not leftover.exists()


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_nothing_and_the_store_goes_on(run, monkeypatch, call):
    with Store.resume(run, **RUN) as store:
        before = sorted(run.iterdir())
        monkeypatch.setattr(consilience._whole_files.os, call, Mock(side_effect=OSError(28, "No space left on device")))
        said = "No space left.*the 6 clusterings before are safe, and the same command goes on"
        with pytest.raises(OSError, match=said) as caught:
            store.append(some_labels(1))
        assert caught.value.filename == str(run)
        monkeypatch.undo()
        assert sorted(run.iterdir()) == before
        assert store.append(some_labels(1)).tolist() == [6]
    assert Store.open(run).n_clusterings == 7


def test_a_drop_that_is_interrupted_leaves_the_open_store_as_the_folder_is(run, monkeypatch):
    """What is gone is unknown, what is left can be read and dropped, and new ones have new numbers."""
    unlink = Path.unlink

    with Store.resume(run, **RUN) as store:
        made = np.concatenate([store.append(some_labels(1)) for _ in range(3)])
        for error, before in ((KeyboardInterrupt, False), (PermissionError, True)):
            last = parts(run)[-2].name

            def stopped(path, *args, error=error, before=before, left=last):
                if not (before and path.name == left):
                    unlink(path, *args)
                if path.name == left:
                    raise error

            with monkeypatch.context() as patch:
                patch.setattr(Path, "unlink", stopped)
                with pytest.raises(error):
                    store.drop(made)
            made = np.intersect1d(made, store.numbers)
            left, messages = open_and_catch(run)  # as a killed process leaves it
            assert messages == []
            assert store.numbers.tolist() == left.numbers.tolist()
            np.testing.assert_array_equal(store.labels(), left.labels())
            assert store.info().index.tolist() == store.numbers.tolist()
            made = np.append(made, store.append(some_labels(1)))
        store.drop(made)
        assert store.numbers.tolist() == Store.open(run).numbers.tolist() == list(range(6))


def test_failures_are_known_by_their_units(tmp_path):
    """Numbers are not those of units where two runs share a store, or variations have been made again."""

    def add(store, made, seed, unit, number=None, **more):
        info = {"seed": [seed], "unit": [unit], "note": [None if made else f"{seed} {unit}"], **more}
        store.append([[0 if made else -1]], info, numbers=number, failed=[not made])

    def failed(store):
        return [store.failures(["note"])["note"].tolist() for store in (store, Store.open(tmp_path))]

    with Store.create(tmp_path, n_objects=1) as store:
        add(store, False, 2**62 + 1, 3, [3])
        add(store, False, 2**62 + 2, 3, [3])
        assert failed(store) == [[f"{2**62 + 1} 3", f"{2**62 + 2} 3"]] * 2
        add(store, True, 2**62 + 2, 3, [3])
        assert failed(store) == [[f"{2**62 + 1} 3"]] * 2
        add(store, False, 7, 0, around=[3], jitter=[0.1])
        add(store, True, 7, 0)
        add(store, True, 7, 0, around=[3], jitter=[0.2])
        assert failed(store) == [[f"{2**62 + 1} 3", "7 0"]] * 2
        add(store, True, 7, 0, around=[3], jitter=[0.1])
        add(store, True, 2**62 + 1, 3)
        assert failed(store) == [[], []]
        assert store.failures().empty
        store.append([[-1]], numbers=[90], failed=[True])
        assert store.failures().index.tolist() == Store.open(tmp_path).failures().index.tolist() == [90]
        store.append([[0]], numbers=[90])
        assert store.failures().empty


def test_a_part_is_synced_before_it_gets_its_name(run, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(consilience._whole_files.os, name)
        monkeypatch.setattr(
            consilience._whole_files.os, name, lambda *a, name=name, real=real: (calls.append(name), real(*a))
        )
    with Store.resume(run, **RUN) as store:
        store.append(some_labels(1))
    folder = ["fsync"] if os.name == "posix" else []
    assert calls == ["fsync", "replace", *folder]


def test_resuming_goes_on_where_it_stopped_and_makes_up_for_damage(run):
    damaged = parts(run)[2]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.warns(StoreWarning, match=damaged.name):
        store = Store.resume(run, **RUN)
    with store:
        assert store.numbers.tolist() == [0, 1, 2, 3]
        store.append(some_labels(2, seed=2), pd.DataFrame({"seed": [2, 2]}), numbers=[4, 5])
    assert [path.name[:13] for path in parts(run)] == [f"part-{i:08d}" for i in range(4)]
    check_the_rest(open_and_catch(run)[0], missing=None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_objects": N + 1}, rf"in its number of objects \({N} there, {N + 1} asked\): ask for the same"),
        ({"fingerprint": "xyz"}, r"in its fingerprint of the data: the data, or their order, are not those"),
        ({"plan": {"n_clusters": [2, 4]}}, r"in its plan, n_clusters \(\[2, 3\] there, \[2, 4\] asked\)"),
        ({"ids": range(N)}, r"in its ids \(None there, "),
    ],
)
def test_resuming_another_run_is_refused(run, change, said):
    refuses(said, Store.resume, run, **RUN | change)
    with Store.resume(run, **RUN) as store:  # the lock was let go
        assert store.n_clusterings == 6


def test_one_writer_at_a_time_any_number_of_readers(run):
    with Store.resume(run, **RUN) as store:
        refuses(re.escape(f"store {run} is being written to"), Store.resume, run, **RUN)
        code = f"from consilience.ensemble.store import Store; Store.resume({str(run)!r}, **{RUN!r})"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert f"InputError: store {run} is being written to" in other.stderr
        assert Store.open(run).n_clusterings == 6
        store.append(some_labels(1))
    subprocess.run([sys.executable, "-c", code], check=True)


def test_threads_may_append_at_the_same_time(tmp_path):
    with Store.create(tmp_path, n_objects=N) as store, ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda seed: (seed, store.append(some_labels(2, seed=seed))), range(40)))
    assert sorted(i for _, ids in made for i in ids.tolist()) == list(range(80))
    back = Store.open(tmp_path)
    for seed, ids in made:
        np.testing.assert_array_equal(back.labels(ids), some_labels(2, seed=seed))


def test_ids_of_a_refused_part_are_not_given_out_again(run):
    for path in parts(run)[1:]:
        path.write_bytes(b"nothing of it is left")
    with pytest.warns(StoreWarning):
        store = Store.resume(run, **RUN)
    with store:
        assert store.append(some_labels(1)).tolist() == [6]


def test_paths_that_are_no_store(tmp_path):
    refuses(r"there is no store at .*nowhere: check the path", Store.open, tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("mine")
    for action in (Store.open, lambda path: Store.resume(path, **RUN)):
        refuses(r"is a folder, not a stored run: its manifest.json is missing", action, tmp_path)
        refuses(r"notes.txt is a file, and a store is a folder", action, tmp_path / "notes.txt")
    refuses("is not empty: choose a new folder, or resume", Store.create, tmp_path, **RUN)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"n_objects": 0}, "n_objects must be a whole number of at least 1; got 0"),
        ({"n_objects": 2.5}, "n_objects must be a whole number of at least 1; got 2.5"),
        ({"n_objects": 3, "ids": ["a"]}, "3 objects cannot have 1 id: give one for each"),
        ({"n_objects": 2, "ids": ["a", 1]}, "all text or all numbers; that of object 1 is 1"),
        ({"n_objects": 2, "ids": [1.5, 2]}, "all text or all numbers; that of object 1 is 2"),
        ({"n_objects": 2, "plan": {"f": print}}, "the plan must be a JSON value .*: a builtin_function_or_method"),
        ({"n_objects": 2, "ids": [1, 2**64]}, "must fit in 64 bits: give them as text"),
        ({"n_objects": 2, "plan": float("nan")}, "the plan must be a JSON value"),
    ],
)
def test_bad_arguments_write_nothing(tmp_path, arguments, said):
    refuses(said, Store.create, tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()


ONE, TWO = np.zeros((N, 1), int), np.zeros((N, 2), int)


@pytest.mark.parametrize(
    ("labels", "arguments", "said"),
    [
        (ONE[:, 0], {}, rf"of shape \({N}, n_clusterings\), one column per clustering; got int.* of shape"),
        (np.zeros((N + 1, 1), int), {}, rf"got int.* of shape \({N + 1}, 1\)"),
        (ONE.astype(float), {}, "must be whole numbers .* got float64"),
        (ONE - 2, {}, r"labels\[0, 0\] is -2"),
        (ONE + 2**31, {}, r"labels\[0, 0\] is 2147483648"),
        (TWO, {"numbers": [1]}, "numbers must be 2 whole numbers"),
        (TWO, {"numbers": ["a", "b"]}, "numbers must be 2 whole numbers"),
        (TWO, {"numbers": [50, 50]}, "clustering 50 is already in .*, or given twice"),
        (ONE, {"numbers": [3]}, "clustering 3 is already in "),
        (ONE, {"numbers": np.array([2**63], np.uint64)}, "numbers must be below 2.*63; got 9223372036854775808"),
        (ONE, {"info": 5}, "info cannot be read as a table"),
        (TWO, {"info": pd.DataFrame({"a": [1]})}, "info has 1 row for 2 clusterings"),
        (ONE, {"info": pd.DataFrame({"labels": [1]})}, "info column 'labels' must be named"),
        (ONE, {"info": pd.DataFrame({0: [1]})}, "info column 0 must be named by a string"),
        (ONE, {"info": pd.DataFrame({"f": [print]})}, "info column 'f' cannot be stored: a builtin_function_or_method"),
    ],
)
def test_what_cannot_be_appended_is_said_and_leaves_no_trace(run, labels, arguments, said):
    before = sorted(run.iterdir())
    with Store.resume(run, **RUN) as store:
        refuses(said, store.append, labels, **arguments)
    assert sorted(run.iterdir()) == before


def test_reading_and_writing_where_it_cannot_be(run):
    store = Store.open(run)
    refuses(r"is not open for writing: use Store.resume", store.append, some_labels(1))
    refuses("has no clustering 1234: `numbers` lists", store.labels, [0, 1234])
    refuses(r"has no clustering 0.5", store.labels, [0.5])


def test_codes_cost_nothing_and_parts_which_any_reader_can_read_may_differ(tmp_path):
    with Store.create(tmp_path, n_objects=3) as store:
        store.append([[0], [1], [2]])
        store.append([[0, 0], [1, 1], [-1, 2]], label_names=[None, ["x", "y", "z"]])
    plain, named = (pd.read_parquet(path) for path in parts(tmp_path))
    assert list(plain) == ["number", "labels"]
    assert (plain["number"].tolist(), np.stack(plain["labels"]).tolist()) == ([0], [[0, 1, 2]])
    assert len(pd.read_parquet(parts(tmp_path))) == 3
    assert list(named) == ["number", "label_names", "label_type", "labels"]
    assert named["label_type"].isna().tolist() == [True, False]
    assert named["label_type"][1] == "text"
    assert named["label_names"].tolist()[1].tolist() == ["x", "y", "z"]
    for reader in (store, Store.open(tmp_path)):
        found = reader.label_names([2, 0, 1])
        assert [None if names is None else names.tolist() for names in found] == [["x", "y", "z"], None, None]
        assert not {"label_names", "label_type"} & set(reader.info())


@pytest.mark.parametrize(
    ("names", "kind", "texts"),
    [
        (["T cell", "007"], "text", ["T cell", "007"]),
        ([7, -3, 2**70], "integer", ["7", "-3", str(2**70)]),
        ([1.0, 2.0], "number", ["1.0", "2.0"]),
        ([False, True], "boolean", ["false", "true"]),
        (["a", 1], "mixed", ['"a"', "1"]),
        (["\ud800"], "mixed", ['"\\ud800"']),
    ],
)
def test_what_other_tools_read(tmp_path, names, kind, texts):
    with Store.create(tmp_path, n_objects=1) as store:
        store.append([[0]], label_names=[names])
    row = pd.read_parquet(parts(tmp_path)[0]).iloc[0]
    assert (row["label_type"], row["label_names"].tolist()) == (kind, texts)
    same(store.label_names()[0], names)


def test_names_that_cannot_be_stored(tmp_path):
    when = pd.Timestamp("2024-01-01")
    with Store.create(tmp_path, n_objects=1) as store:
        refuses("label_names has 2 entries", store.append, [[0]], label_names=[["x"], None])
        refuses("0: the label Timestamp.* cannot be stored: make", store.append, [[0]], label_names=[["a", when]])
        refuses("of type tuple cannot be stored", store.append, [[0]], label_names=[[("a", 1)]])
    assert parts(tmp_path) == []


WHOLE = st.integers(-(2**70), 2**70).filter(lambda x: x != -1)
SMALL = st.integers(-(2**53), 2**53).filter(lambda x: x != -1).map(float)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.one_of(*(st.lists(st.none() | kind, min_size=1) for kind in (st.text(), WHOLE, SMALL, st.booleans()))))
def test_any_labels_come_back(labels):
    with tempfile.TemporaryDirectory() as folder:
        Ensemble([labels]).save(f"{folder}/run")
        same(Ensemble.load(f"{folder}/run").named_labels(0), labels)


IDS = [["a", "ü"], [3, -4], [7, 2**60], [0.5, 2.0], [True, False], np.array([1, 2], np.int32), pd.Index(["x", "y"])]


@pytest.mark.parametrize("ids", IDS, ids=str)
def test_ids_come_back_with_their_type(tmp_path, ids):
    Ensemble([[0, 1]], ids=ids).save(tmp_path / "run")
    given = getattr(ids, "tolist", lambda: ids)()
    same(Ensemble.load(tmp_path / "run").ids.tolist(), given)
    with Store.resume(tmp_path / "run", n_objects=2, ids=ids) as store:
        same(store.ids.tolist(), given)


def test_ids_that_are_not_unicode(tmp_path):
    ids = np.array(["a", os.fsdecode(b"caf\xe9")], object)
    refuses(r"the id 'caf\\udce9' of object 1 is not Unicode text", Ensemble([[0, 1]], ids=ids).save, tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def named(tmp_path):
    with Store.create(tmp_path / "run", n_objects=2) as store:
        store.append([[0], [1]])
        store.append([[1], [0]], label_names=[["a", "b"]])
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("part", "labels", "said"),
    [
        (0, [-7, 1], r"part-00000000-\w+.parquet holds the label -7, which is below −1 \(missing\): correct it"),
        (1, [1, 2], "run: clustering 1 has the code 2 and only 2 label names"),
    ],
)
def test_a_part_with_labels_that_cannot_be_is_refused(named, part, labels, said):
    table = pq.read_table(parts(named)[part])
    field = table.schema.field("labels")
    parts(named)[part].unlink()
    column = pa.array([labels], field.type)
    add_part(named, table.set_column(table.column_names.index("labels"), field, column), part)
    refuses(said, Ensemble.load, named)


def with_manifest(named, change):
    path = named / "manifest.json"
    body = {key: value for key, value in json.loads(path.read_text()).items() if key != "crc32"}
    change(body)
    text = json.dumps(body, sort_keys=True)
    path.write_text(json.dumps(body | {"crc32": zlib.crc32(text.encode())}))


LOST = object()
DAMAGED = [("plan", LOST), ("ids", LOST), ("n_objects", 0), ("n_objects", "2"), ("fingerprint", 5)]
DAMAGED += [("version", value) for value in (None, "2", 2.0, True)]


@pytest.mark.parametrize(("key", "value"), DAMAGED)
def test_a_manifest_that_lacks_something_is_damaged(named, key, value):
    with_manifest(named, lambda body: body.pop(key) if value is LOST else body.update({key: value}))
    said = f"manifest.json is left out: it is damaged .has no valid {key}.; its copy in the parts"
    with pytest.warns(UserWarning, match=said):
        assert Store.open(named).n_clusterings == 2


@pytest.mark.parametrize(
    ("version", "said"), [(1, "format 1 by an older consilience, .*: make the run again"), (3, "format 3.*: upgrade")]
)
def test_a_store_of_another_format_is_refused_whole(named, version, said):
    with_manifest(named, lambda body: body.update(version=version))
    refuses(said, Store.open, named)
    refuses(said, Store.resume, named, n_objects=2)


def test_the_last_number(tmp_path):
    with Store.create(tmp_path, n_objects=1) as store:
        assert store.append([[0]], numbers=[2**63 - 2]).tolist() == [2**63 - 2]
        assert store.append([[0]]).tolist() == [2**63 - 1]
        refuses("has a clustering 9223372036854775807: give numbers yourself", store.append, [[0]])
        assert store.append([[0]], numbers=[5]).tolist() == [5]
    assert Store.open(tmp_path).numbers.tolist() == [5, 2**63 - 2, 2**63 - 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_only_the_process_that_opened_a_store_writes_to_it(tmp_path, monkeypatch):
    with Store.create(tmp_path, n_objects=1) as store:
        store.append([[0]])
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            for write in (lambda: store.append([[0]]), lambda: store.drop([0])):
                refuses("was opened by another process, before a fork: write to it from there", write)
        assert store.append([[0]]).tolist() == [1]
