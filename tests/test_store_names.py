"""What the store keeps beside codes: label names with their types, ids; and what it refuses of both."""

from __future__ import annotations

import json
import os
import tempfile
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Ensemble
from consilience._check import InputError
from consilience.ensemble.store import Store
from test_label_names import KINDS, same


def parts(folder):
    return sorted(folder.glob("part-*.parquet"))


def rewrite(path, table):
    """The part with other content, under a name with the right checksum."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    data = sink.getvalue().to_pybytes()
    path.unlink()
    new = path.with_name(f"{path.name[:-17]}-{zlib.crc32(data):08x}.parquet")
    new.write_bytes(data)
    return new


def test_label_names_come_back_with_their_types(tmp_path):
    ens = Ensemble(KINDS, ids=["p", "q", "r", "s"])
    ens.save(tmp_path / "run")
    back = Ensemble.load(tmp_path / "run")
    for name in KINDS:
        same(back.named_labels(name), ens.named_labels(name))
    assert [names is None for names in back.label_names] == [names is None for names in ens.label_names]
    store = Store.open(tmp_path / "run")
    same(store.label_names([4])[0], [False, True])
    assert not {"label_names", "label_type"} & set(store.info())


def test_codes_cost_nothing_and_parts_may_differ(tmp_path):
    with Store.create(tmp_path, n_objects=3) as store:
        store.append([[0], [1], [2]])
        store.append([[0, 0], [1, 1], [-1, 2]], label_names=[None, ["x", "y", "z"]])
    plain, named = (pd.read_parquet(path) for path in parts(tmp_path))
    assert list(plain) == ["number", "labels"]
    assert list(named) == ["number", "label_names", "label_type", "labels"]
    assert named["label_type"].isna().tolist() == [True, False]
    assert named["label_type"][1] == "text"
    assert named["label_names"].tolist()[1].tolist() == ["x", "y", "z"]
    for reader in (store, Store.open(tmp_path)):
        found = reader.label_names([2, 0, 1])
        assert [None if names is None else names.tolist() for names in found] == [["x", "y", "z"], None, None]


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


@pytest.mark.parametrize(
    ("label_names", "said"),
    [
        ([None, None], "label_names has 2 entries"),
        ([["a", pd.Timestamp("2024-01-01")]], "clustering 0: the label Timestamp.* of type Timestamp cannot be stored: make"),
        ([[("a", 1)]], "of type tuple cannot be stored"),
    ],
)  # fmt: skip
def test_names_that_cannot_be_stored(tmp_path, label_names, said):
    with Store.create(tmp_path, n_objects=1) as store, pytest.raises(InputError, match=said):
        store.append([[0]], label_names=[["x"], None] if len(label_names) == 2 else label_names)
    assert parts(tmp_path) == []


WHOLE = st.integers(-(2**70), 2**70).filter(lambda x: x != -1)
SMALL = st.integers(-(2**53), 2**53).filter(lambda x: x != -1).map(float)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.one_of(*(st.lists(st.none() | kind, min_size=1) for kind in (st.text(), WHOLE, SMALL, st.booleans()))))
def test_any_labels_come_back(labels):
    with tempfile.TemporaryDirectory() as folder:
        Ensemble([labels]).save(f"{folder}/run")
        same(Ensemble.load(f"{folder}/run").named_labels(0), labels)


@pytest.mark.parametrize("ids", [["a", "ü"], [3, -4], [0.5, 2.0], [True, False]])
def test_ids_come_back_with_their_type(tmp_path, ids):
    Ensemble([[0, 1]], ids=ids).save(tmp_path / "run")
    same(Ensemble.load(tmp_path / "run").ids.tolist(), ids)
    with Store.resume(tmp_path / "run", n_objects=2, ids=ids) as store:
        same(store.ids.tolist(), ids)


def test_ids_that_are_not_unicode(tmp_path):
    ids = np.array(["a", os.fsdecode(b"caf\xe9")], object)
    with pytest.raises(InputError, match=r"the id 'caf\\udce9' of object 1 is not Unicode text"):
        Ensemble([[0, 1]], ids=ids).save(tmp_path / "run")
    assert not list(tmp_path.iterdir())


# --- what others may have written -----------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    with Store.create(tmp_path / "run", n_objects=2) as store:
        store.append([[0], [1]])
        store.append([[1], [0]], label_names=[["a", "b"]])
    return tmp_path / "run"


def with_labels(path, labels):
    table = pq.read_table(path)
    field = table.schema.field("labels")
    return rewrite(path, table.set_column(table.column_names.index("labels"), field, pa.array([labels], field.type)))


def test_labels_below_minus_one_are_refused_by_the_name_of_the_part(run):
    path = with_labels(parts(run)[0], [-7, 1])
    with pytest.raises(InputError, match=rf"{path.name} holds the label -7, which is below −1 \(missing\): correct it"):
        Ensemble.load(run)


def test_codes_without_a_name_are_refused(run):
    with_labels(parts(run)[1], [1, 2])
    with pytest.raises(InputError, match=r"run: clustering 1 has the code 2 and only 2 label names"):
        Ensemble.load(run)


def with_manifest(run, change):
    path = run / "manifest.json"
    body = {key: value for key, value in json.loads(path.read_text()).items() if key != "crc32"}
    change(body)
    text = json.dumps(body, sort_keys=True)
    path.write_text(json.dumps(body | {"crc32": zlib.crc32(text.encode())}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda body: body.pop("plan"), "has no valid plan"),
        (lambda body: body.pop("ids"), "has no valid ids"),
        (lambda body: body.update(n_objects=0), "has no valid n_objects"),
        (lambda body: body.update(n_objects="2"), "has no valid n_objects"),
        (lambda body: body.update(fingerprint=5), "has no valid fingerprint"),
        (lambda body: body.update(version=None), "has no valid version"),
        (lambda body: body.update(version="2"), "has no valid version"),
        (lambda body: body.update(version=2.0), "has no valid version"),
        (lambda body: body.update(version=True), "has no valid version"),
    ],
)
def test_a_manifest_that_lacks_something_is_damaged(run, change, said):
    with_manifest(run, change)
    with pytest.warns(UserWarning, match=f"manifest.json is left out: it is damaged .{said}.; its copy in the parts"):
        assert Store.open(run).n_clusterings == 2


def test_a_store_of_the_old_format_is_refused(run):
    with_manifest(run, lambda body: body.update(version=1))
    with pytest.raises(InputError, match=r"written in store format 1 by an older consilience, .*: make the run again"):
        Store.open(run)


# --- numbers, and whose they are ------------------------------------------------------------------------------------


def test_the_last_number(tmp_path):
    with Store.create(tmp_path, n_objects=1) as store:
        assert store.append([[0]], numbers=[2**63 - 2]).tolist() == [2**63 - 2]
        assert store.append([[0]]).tolist() == [2**63 - 1]
        with pytest.raises(InputError, match="has a clustering 9223372036854775807: give numbers yourself"):
            store.append([[0]])
        assert store.append([[0]], numbers=[5]).tolist() == [5]
    assert Store.open(tmp_path).numbers.tolist() == [5, 2**63 - 2, 2**63 - 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_only_the_process_that_opened_a_store_writes_to_it(tmp_path, monkeypatch):
    with Store.create(tmp_path, n_objects=1) as store:
        store.append([[0]])
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            for write in (lambda: store.append([[0]]), lambda: store.drop([0])):
                with pytest.raises(
                    InputError, match="was opened by another process, before a fork: write to it from there"
                ):
                    write()
        assert store.append([[0]]).tolist() == [1]
