import bz2
import gzip
import io
import json
import lzma
import os
import re
import sys
import tracemalloc
import warnings
from decimal import Decimal
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from command_line import answer, apart, ran
from consilience import EnsembleClusterer
from consilience._check import InputError
from consilience.ensemble import Ensemble
from consilience.tables import Standardizer, check_matrix, read_table
from consilience.tables.file_formats import READERS, read_vector
from consilience.tables.text_files import _read_stream
from samples import refuses

X = np.array([[0.0, 1.5, 0.1 + 0.2], [2.0, 0.0, 0.0], [3.0, 1e-300, 7.25], [0.0, 0.0, 12345678.9]])
COUNTS = np.array([[0, 1, 2], [3, 0, 0], [0, 0, 2**53 + 1], [0, 4, 0]])
D = np.abs(np.subtract.outer([0.0, 1.0, 4.0, 9.0], [0.0, 1.0, 4.0, 9.0]))
NAMES = ["a", "b", "c"]


def write(path, content: str | bytes):
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def bytes_of(save, *args, **arrays) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *args, **arrays)
    return buffer.getvalue()


npz_bytes, npy_bytes = partial(bytes_of, np.savez_compressed), partial(bytes_of, np.save)
mtx_bytes, save_npz_bytes = partial(bytes_of, scipy_io.mmwrite), partial(bytes_of, sparse.save_npz)


def cells(column) -> list:
    return [None if pd.isna(cell) else cell for cell in column]


def refusal(source, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_table(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


FRAME = pd.DataFrame(X, columns=NAMES)


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("x.csv", FRAME.to_csv(index=False), {}),
        ("x.CSV", FRAME.to_csv(index=False), {}),
        ("x.csv", "\ufeff" + FRAME.to_csv(index=False, lineterminator="\r\n"), {}),
        ("x.csv", FRAME.to_csv(index=False, lineterminator="\r"), {}),
        ("x.csv", FRAME.to_csv(index=False).replace("\n", "\n\n"), {}),
        ("x.csv", FRAME.to_csv(index=False).replace(",", " , ").replace("\n2", "\n+2"), {}),
        ("x.csv", FRAME.to_csv(index=False, sep=";"), {"sep": ";"}),
        ("x.tsv", FRAME.to_csv(index=False, sep="\t"), {}),
        ("x.txt", FRAME.to_csv(index=False, sep="\t"), {"sep": "\t"}),
        ("x.parquet", FRAME.to_parquet(), {}),
        ("x.csv", FRAME.to_csv(index=False, header=False), {"header": False}),
        ("x.npy", npy_bytes(np.asfortranarray(X)), {}),
        ("x.npz", npz_bytes(X=X), {}),
        ("x.npz", npz_bytes(X=X, words=np.array(["x", None, "y", "z"], dtype=object)), {"key": "X"}),
        ("x.mtx", mtx_bytes(X), {}),
        ("x.mtx.gz", mtx_bytes(X), {}),
    ],
)
def test_files_round_trip(tmp_path, name, content, options):
    table = read_table(write(tmp_path / name, content), kind="data", **options)
    np.testing.assert_array_equal(table.values, X)
    assert table.values.dtype == np.float64
    has_names = name.startswith(("x.csv", "x.CSV", "x.t", "x.parquet")) and "header" not in options
    assert (table.columns, table.source, table.n_objects) == (NAMES if has_names else None, name, 4)
    assert table.ids is None
    assert table.labels is None


CSR = sparse.csr_matrix(COUNTS)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.npz", save_npz_bytes(CSR)),
        ("c.npz", save_npz_bytes(sparse.csc_array(COUNTS))),
        ("c.npz", save_npz_bytes(sparse.coo_matrix(COUNTS))),
        ("c.npz", npz_bytes(data=CSR.data, indices=CSR.indices, indptr=CSR.indptr, shape=CSR.shape, y=range(4))),
        ("c.npz", npz_bytes(only=COUNTS)),
        ("c.mtx", mtx_bytes(CSR)),
        ("c.npy", npy_bytes(COUNTS)),
        ("c.npy", npy_bytes(COUNTS.astype(np.uint64))),
        ("c.csv", pd.DataFrame(COUNTS, columns=NAMES).to_csv(index=False)),
        ("c.parquet", pd.DataFrame(COUNTS, columns=NAMES).to_parquet()),
    ],
)
def test_counts_stay_exact_integers(tmp_path, name, content):
    table = read_table(write(tmp_path / name, content), kind="counts")
    assert isinstance(table.values, sparse.csr_matrix)
    assert table.values.dtype == np.int64
    np.testing.assert_array_equal(table.values.toarray(), COUNTS)
    assert read_table(write(tmp_path / "0.mtx", mtx_bytes(sparse.csr_matrix((5, 3)))), kind="data").values.nnz == 0


@pytest.mark.parametrize("kind", ["data", "counts"])
def test_sparse_input_is_tidied_without_touching_the_users(kind):
    mine = sparse.csr_matrix((np.array([1, 2, 3.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    table = read_table(mine, kind=kind)
    np.testing.assert_array_equal(table.values.toarray(), [[2, 4]])
    assert table.values.has_canonical_format
    np.testing.assert_array_equal(mine.indices, [1, 0, 1])
    chosen = read_table(sparse.csr_matrix([[1, 2, 5], [0, 3, 4]]), kind=kind, columns=[2, 0])
    np.testing.assert_array_equal(chosen.values.toarray(), [[5, 1], [4, 0]])
    assert chosen.values.has_sorted_indices


def make_anndata(matrix) -> anndata.AnnData:
    obs = pd.DataFrame({"leiden": pd.Categorical(["0", "1", None, "1"]), "depth": [1, 2, 3, 4]})
    data = anndata.AnnData(matrix, obs=obs.set_index(pd.Index(["w", "x", "y", "z"])))
    data.obs["leiden_1"], data.obs["leiden_2"] = pd.Categorical(["0", "1", "0", "1"]), pd.Categorical(list("aabb"))
    data.obs_names.name = "cell"
    data.var_names = NAMES
    data.layers["scaled"] = X * 2
    data.obsm["X_pca"] = X[:, :2]
    data.obsm["frame"] = pd.DataFrame(X[:, 1:], columns=["u", "v"], index=data.obs_names)
    return data


@pytest.mark.parametrize("on_disk", [True, False])
@pytest.mark.parametrize("matrix", [X, sparse.csr_matrix(X), sparse.csc_matrix(X)], ids=["dense", "csr", "csc"])
def test_anndata(tmp_path, matrix, on_disk):
    source = make_anndata(matrix)
    if on_disk:
        source.write_h5ad(tmp_path / "a.h5ad")
        source = tmp_path / "a.h5ad"
    table = read_table(source, kind="data", known="leiden")
    values = table.values.toarray() if sparse.issparse(table.values) else table.values
    np.testing.assert_array_equal(values, X)
    assert sparse.issparse(table.values) == sparse.issparse(matrix)
    assert list(table.ids) == ["w", "x", "y", "z"]
    assert table.columns == NAMES
    assert cells(table.labels["leiden"]) == ["0", "1", None, "1"]
    np.testing.assert_array_equal(read_table(source, kind="data", key="scaled").values, X * 2)
    assert sparse.issparse(read_table(source, kind="data", key="X").values) == sparse.issparse(matrix)
    table = read_table(source, kind="data", key="X_pca")
    np.testing.assert_array_equal(table.values, X[:, :2])
    assert (table.columns, list(table.ids)) == (["X_pca 1", "X_pca 2"], list("wxyz"))
    assert read_table(source, kind="data", key="frame").columns == ["u", "v"]
    assert list(read_table(source, kind="data", id_column="depth").ids) == [1, 2, 3, 4]
    labels = read_table(source, kind="labels")
    assert cells(labels.values["depth"]) == [1, 2, 3, 4]
    assert list(labels.ids) == ["w", "x", "y", "z"]
    labels = read_table(source, kind="labels", columns="leiden_*", id_column="cell")
    assert (labels.columns, list(labels.ids)) == (["leiden_1", "leiden_2"], list("wxyz"))
    assert cells(labels.values["leiden_2"]) == list("aabb")
    assert "not part of it" in refusal(source, kind="data", columns=["a", "depth"])
    message = refusal(source, kind="data", key="pca")
    assert "unknown key (layer, obsm or obsp)" in message
    assert "choose from X, scaled" in message


def test_without_anndata_it_says_what_to_install(tmp_path, monkeypatch):
    make_anndata(X).write_h5ad(tmp_path / "a.h5ad")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r"^a.h5ad needs AnnData: pip install 'consilience\[anndata\]'$"):
        read_table(tmp_path / "a.h5ad", kind="data")


HERE = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@HERE
@given(
    rows=st.lists(
        st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2, st.integers(-(2**53), 2**53)),
        min_size=1,
        max_size=30,
    )
)
def test_any_floats_survive_csv(tmp_path, rows):
    frame = pd.DataFrame(rows, columns=NAMES)
    path = write(tmp_path / "x.csv", frame.to_csv(index=False))
    np.testing.assert_array_equal(read_table(path, kind="data").values, frame.to_numpy(np.float64))


words = st.text("abcxyzé ,;\"'\n1", min_size=1, max_size=5).filter(lambda w: w.strip() == w and "1" not in w)
words |= st.sampled_from(["N/A", "-", "nil", "none", "NULL"])
column = st.one_of(
    *(st.lists(st.none() | cell, min_size=20, max_size=20) for cell in (st.integers(-(2**63), 2**63 - 1), words))
)


@HERE
@given(
    columns=st.lists(column, min_size=1, max_size=3), missing=st.sampled_from(["", "NA", "NaN", "nan", "null", "None"])
)
def test_any_labels_survive_csv(tmp_path, columns, missing):
    frame = pd.DataFrame({f"c{i}": pd.Series(column, dtype=object) for i, column in enumerate(columns)})
    path = write(tmp_path / "x.csv", frame.to_csv(index=False, na_rep=missing))
    got = read_table(path, kind="labels", columns=list(frame)).values
    assert [cells(got[name]) for name in got] == [list(frame[name]) for name in frame]


LABELS, COUNTS_KIND = {"kind": "labels"}, {"kind": "counts"}
PEOPLE = pd.DataFrame({"height": [1.5, 2.25, 0.5], "café": [3.0, 4.0, 5.5]}, index=["p", "q", "r"])
MEN = PEOPLE.to_dict("list")
RUNS = "cell,leiden_1,leiden_2,depth,louvain\na,0,1,5,2\nb,1,1,6,2\n"
TWO = {"leiden_1": [0, 1], "leiden_2": [1, 1]}
GERMAN, THOUSANDS = 'a,b\n1,"5,1"\n2,"6,25"\n', "a;b\n1;1.234,5\n2;6,25\n"
WORDS = "a,b\nN/A,0\n1,0\nN/A,1\n2,NULL\n"
TRIPLES, BARE = {"kind": "counts", "triples": True}, {"header": False, "id_column": 0, "columns": "-0"}
DRINKS = "doc,word,n\nd2,tea,3\nd1,milk,1\nd2,tea,2\n"
MOMENTS = '"",1940,1945\n"1962.25",1,2\n"1962.5",3,4\n'
KINDS_OF_LABELS = (
    "run,mixed,gaps,float,hex,big\n1,1,1,1.0,0x1,9007199254740993\n-1,a,,-1.0,0x2,1\n007, b ,NA,,0x1,2\n",
    {
        "run": ["1", None, "007"],
        "mixed": ["1", "a", "b"],
        "gaps": [1, None, None],
        "float": [1, -1, None],
        "hex": ["0x1", "0x2", "0x1"],
        "big": [9007199254740993, 1, 2],
    },
)
LABELS_AS_TEXT = (
    "zip,flag,part,whole,plus,mark\n007,True,1.0,1.0,+1,1\n7,False,1,,2,a\n010,True,2,-1.0,2,b\n",
    {
        "zip": ["007", "7", "010"],
        "flag": [True, False, True],
        "part": ["1.0", "1", "2"],
        "whole": [1, None, -1],
        "plus": ["+1", "2", "2"],
        "mark": ["1", "a", "b"],
    },
)

TEXTS = [
    # name, content, options, columns, ids, part of the notices
    ("c.csv", "a,b\n0.5,1\n0,2\n", COUNTS_KIND, {"a": [0.5, 0], "b": [1, 2]}, None, ""),
    ("l.csv", KINDS_OF_LABELS[0], LABELS, KINDS_OF_LABELS[1], None, ""),
    ("l.csv", LABELS_AS_TEXT[0], LABELS, LABELS_AS_TEXT[1], None, ""),
    ("l.csv", "a\nx\n-1\n -1 \n-1.0\n", LABELS, {"a": ["x", None, None, "-1.0"]}, None, ""),
    ("l.csv", "run\n1\n\n2\n", LABELS, {"run": [1, None, 2]}, None, ""),
    ("l.csv", 'x\n1\n2\n"1"\n', LABELS, {"x": [1, 2, 1]}, None, ""),
    ("l.csv", ",a,b\nx,0,1\ny,0,0\n", LABELS, {"a": [0, 0], "b": [1, 0]}, ["x", "y"], "names the objects"),
    ("l.csv", WORDS, LABELS, {"a": ["N/A", "1", "N/A", "2"], "b": ["0", "0", "1", "NULL"]}, None, "missing='NULL'"),
    ("l.csv", WORDS, {**LABELS, "missing": ["N/A", "NULL"]}, {"a": [None, 1, None, 2], "b": [0, 0, 1, None]}, None, ""),
    ("l.csv", RUNS, {**LABELS, "columns": "leiden_*"}, TWO, ["a", "b"], "names the objects"),
    ("l.csv", RUNS, {**LABELS, "columns": ["l*", "!louvain"]}, TWO, ["a", "b"], ""),
    ("l.csv", RUNS, {**LABELS, "columns": "-depth"}, {**TWO, "louvain": [2, 2]}, ["a", "b"], ""),
    ("l.csv", RUNS, {"columns": ["depth", "le*_[2]"]}, {"depth": [5, 6], "leiden_2": [1, 1]}, ["a", "b"], ""),
    ("x.csv", PEOPLE.to_csv(index_label="Unnamed: 0"), {}, MEN, list("pqr"), "names the objects"),
    ("x.csv", pd.DataFrame([[1.5], [2]]).to_csv(), {}, {"0": [1.5, 2]}, ["0", "1"], ""),
    ("r.csv", '"a","b"\n"p",1,2\n"q",3,4\n', {}, {"a": [1, 3], "b": [2, 4]}, ["p", "q"], ""),
    ("x.csv", PEOPLE.to_csv(sep=";"), {}, MEN, list("pqr"), "semicolons separate the cells"),
    ("x.csv", PEOPLE.to_csv(sep="\t"), {}, MEN, list("pqr"), "tabs separate the cells"),
    ("x.txt", PEOPLE.to_csv(sep="|"), {}, MEN, list("pqr"), "bars separate the cells"),
    ("x.tsv", PEOPLE.to_csv(), {}, MEN, list("pqr"), "commas separate the cells"),
    ("x.csv", PEOPLE.to_csv(sep=";", decimal=","), {}, MEN, list("pqr"), "commas are decimal signs"),
    ("x.csv", PEOPLE.to_csv(sep=";", decimal=","), {"decimal": ","}, MEN, list("pqr"), ""),
    ("x.csv", GERMAN, {}, {"a": [1, 2], "b": [5.1, 6.25]}, None, ""),
    ("x.csv", THOUSANDS, {}, {"a": [1, 2], "b": [1234.5, 6.25]}, None, ""),
    ("u.csv", PEOPLE.to_csv().encode("utf-16"), {}, MEN, list("pqr"), "read as UTF-16 text"),
    ("u.csv", PEOPLE.to_csv().encode("utf-16-le"), {}, MEN, list("pqr"), "read as UTF-16 text"),
    ("u.csv", PEOPLE.to_csv().encode("utf-16-be"), {"encoding": "utf-16-be"}, MEN, list("pqr"), ""),
    ("u.csv", PEOPLE.to_csv().encode("utf-32"), {}, MEN, list("pqr"), "read as UTF-32 text"),
    ("u.csv", PEOPLE.to_csv().encode("latin-1"), {}, MEN, list("pqr"), "byte 12 (0xe9, line 1) is not UTF-8"),
    ("3.csv", DRINKS, TRIPLES, {"tea": [5, 0], "milk": [0, 1]}, ["d2", "d1"], ""),
    ("t.csv", MOMENTS, {}, {"1940": [1, 3], "1945": [2, 4]}, ["1962.25", "1962.5"], "names the objects"),
    ("h.csv", "#ff0000,12,3\n#00ff00,13,4\n", BARE, {"1": [12, 13], "2": [3, 4]}, ["#ff0000", "#00ff00"], ""),
]


def said(table) -> str:
    assert all("\n" not in notice and notice.startswith(f"{table.source}: ") for notice in table.notices)
    return " | ".join(table.notices)


def columns_of(table) -> dict[str, list]:
    if table.kind == "labels":
        return {name: cells(table.values[name]) for name in table.values}
    values = table.values.toarray() if sparse.issparse(table.values) else table.values
    return dict(zip(table.columns or "12", values.T.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "content", "options", "columns", "ids", "notice"),
    TEXTS,
    ids=[f"{i}-{row[0]}" for i, row in enumerate(TEXTS)],
)
def test_text_becomes_columns(tmp_path, name, content, options, columns, ids, notice):
    table = read_table(write(tmp_path / name, content), **{"kind": "data", **options})
    assert columns_of(table) == columns
    assert (None if table.ids is None else list(table.ids)) == ids
    assert notice in said(table)
    assert "encoding" not in options or "text" not in said(table)


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_packed_text(tmp_path, suffix, pack):
    path = tmp_path / f"x.csv.{suffix}"
    packed = pack(PEOPLE.to_csv(sep="\t").encode())
    path.write_bytes(packed)
    np.testing.assert_array_equal(read_table(path, kind="data").values, PEOPLE)
    for damage in (b"nonsense", packed[:-20], packed[:20] + b"\xff" * 9 + packed[29:]):
        path.write_bytes(damage)
        assert f"x.csv.{suffix}: damaged" in refusal(path, kind="data")
    (tmp_path / "y.csv").write_bytes(pack(b"a,b\n1,2\n"))
    assert f".csv.{suffix}" in refusal(tmp_path / "y.csv", kind="data")


def test_columns_of_every_numeric_kind():
    frame = pd.DataFrame(
        {"bool": [True, False], "nullable": pd.array([1, 2], "Int64"), "category": pd.Categorical([3, 4])}
    )
    frame = frame.assign(object=np.array([1, 2.5], object), decimal=[Decimal("0.5"), Decimal(2)])
    table = read_table(frame, kind="data")
    np.testing.assert_array_equal(table.values, [[1, 1, 3, 1, 0.5], [0, 2, 4, 2.5, 2]])


def test_words_for_missing_are_labels_in_a_frame():
    frame = pd.DataFrame({"a": ["x", "-1", "NA", ""], "b": [9, 1, 1, 1]})
    assert columns_of(read_table(frame, kind="labels")) == {"a": ["x", "-1", "NA", ""], "b": [9, 1, 1, 1]}
    told = read_table(frame, kind="labels", missing=["NA", "9"])
    assert columns_of(told) == {"a": ["x", "-1", None, ""], "b": [None, 1, 1, 1]}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_text_is_coded_once(tmp_path, monkeypatch, ending):
    """Arrow codes the words of a file as it is read, and its codes go on to the ensemble."""
    again = Mock(side_effect=AssertionError("the words were decoded and coded again"))
    frame = pd.DataFrame({"a": pd.Categorical(["x", None, "b", "x"]), "b": pd.Categorical(list("uvvu"))})
    made = {"csv": frame.to_csv(index=False), "parquet": frame.to_parquet()}
    path = write(tmp_path / f"l.{ending}", made[ending])
    monkeypatch.setattr(pd, "factorize", again)
    monkeypatch.setattr("consilience._check._factorize", again)
    table = read_table(path, kind="labels")
    assert {str(dtype) for dtype in table.values.dtypes} == {"category"}
    ens = Ensemble(table)
    assert ens.labels.T.tolist() == [[1, -1, 0, 1], [0, 1, 1, 0]]
    assert [names.tolist() for names in ens.label_names] == [["b", "x"], ["u", "v"]]
    data = read_table(path, kind="data", types="category")
    assert {str(dtype) for dtype in data.original.dtypes} == {"category"}


def test_labels_from_arrays():
    assert cells(read_table(np.array([1, 1, 2]), kind="labels").values["0"]) == [1, 1, 2]
    assert list(read_table(np.array([["a", ""]]), kind="labels").values.loc[0]) == ["a", ""]
    masked = np.ma.array([[1, 2]], mask=[[False, True]])
    assert list(read_table(masked, kind="labels").values.loc[0]) == [1, None]
    assert read_table(pd.Series([3, 4], name="run"), kind="labels").columns == ["run"]


# --- ids, columns set aside --------------------------------------------------------------------------------


@pytest.mark.parametrize(("id_column", "known"), [("name", ["species, or class"]), (0, "species*")])
def test_ids_and_columns_set_aside(tmp_path, id_column, known):
    flowers = 'name,length,"species, or class",width\n007,5.1,"set, osa",1\n7,4.9,,2\n"NA",4.8,2,3\n'
    table = read_table(write(tmp_path / "f.csv", flowers), kind="data", id_column=id_column, known=known)
    assert columns_of(table) == {"length": [5.1, 4.9, 4.8], "width": [1, 2, 3]}
    assert list(table.ids) == ["007", "7", "NA"]
    assert cells(table.labels["species, or class"]) == ["set, osa", None, "2"]
    assert repr(table) == "Table('f.csv', data, 3 objects × 2 columns, dense, with ids, labels species, or class)"


@pytest.mark.parametrize(
    ("codes", "names", "labels"),
    [
        ([0, 2, -1, 0], ["a", "b", "c"], ["a", "c", None, "a"]),
        ([1, 2, 1, 2], ["a", "b", "c"], [1, 2, 1, 2]),  # they may start at one
        ([1, 0, -1, 1], ["a"], [1, 0, -1, 1]),  # too few names
    ],
)
def test_vectors_beside_an_npz_matrix(tmp_path, codes, names, labels):
    beside = {"y": np.array(codes), "y_names": np.array(names), "ids": np.array(list("pqrs")), "words": np.zeros(9)}
    path = write(tmp_path / "x.npz", npz_bytes(X=X, **beside))
    table = read_table(path, kind="data", key="X", id_column="ids", known=["y"])
    assert table.labels["y"].tolist() == labels  # by the names of the classes beside them
    assert list(table.ids) == list("pqrs")
    np.testing.assert_array_equal(table.values, X)


def test_line_ends_within_quotes_in_a_long_file(tmp_path):
    text = "id,x\n" + "".join(f'"object\n{i}",{i}\n' for i in range(100_000))
    table = read_table(write(tmp_path / "long.csv", text), kind="data", id_column="id")
    np.testing.assert_array_equal(table.values[:, 0], np.arange(100_000))
    assert table.ids[-1] == "object\n99999"


def test_index_is_used_where_it_names_objects(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["p", "q"])
    assert list(read_table(frame, kind="data").ids) == ["p", "q"]
    assert read_table(frame.reset_index(drop=True), kind="data").ids is None
    assert read_table(frame.set_axis(["p", "p"]), kind="data").ids is None
    assert read_table(frame.set_axis(["p", None]), kind="data").ids is None
    assert list(read_table(frame.assign(name=["r", "s"]), kind="data", id_column="name").ids) == ["r", "s"]
    assert list(read_table(frame, kind="data", id_column="index").ids) == ["p", "q"]
    frame.to_parquet(tmp_path / "i.parquet")
    assert list(read_table(tmp_path / "i.parquet", kind="data", id_column="index").ids) == ["p", "q"]
    named = pd.DataFrame({"index": ["r", "s"], "a": [1.0, 2.0]}, index=["p", "q"])
    assert list(read_table(named, kind="data", id_column="index").ids) == ["r", "s"]


def test_the_vectors_of_an_npz_file_are_clusterings(tmp_path):
    path = write(tmp_path / "l.npz", npz_bytes(one=[0, 1, 1], two=np.array(["x", "y", "x"]), X=np.eye(3)))
    table = read_table(path, kind="labels")
    assert columns_of(table) == {"one": [0, 1, 1], "two": ["x", "y", "x"]}
    assert read_table(path, kind="labels", key="X").columns is None
    uneven = write(tmp_path / "u.npz", npz_bytes(one=[0, 1, 1], two=[0, 1]))
    assert "u.npz: holds 2 arrays (one, two): name one with key= (--key)" in refusal(uneven, kind="labels")
    pickled = write(tmp_path / "p.npz", npz_bytes(one=[0, 1], two=np.array(["x", None], object)))
    assert "pickled" in refusal(pickled, kind="labels")


@pytest.mark.parametrize("as_file", [True, False])
def test_triples_of_integers_are_in_numeric_order(tmp_path, as_file):
    frame = pd.DataFrame({"user": [10, 9, 9], "item": [1, 1, 100], "n": [0.5, 1, 2], "note": ["x", "y", "z"]})
    source = write(tmp_path / "t.csv", frame.to_csv(index=False)) if as_file else frame
    table = read_table(source, kind="counts", triples=True, columns=["user", "item", "n"])
    assert list(map(int, table.ids)) == [9, 10]
    assert table.columns == ["1", "100"]
    np.testing.assert_array_equal(table.values.toarray(), [[1, 2], [0.5, 0]])


# --- bad input: every refusal names file, row and column ---------------------------------------------------

PARQUET = FRAME.to_parquet()
NPZ = npz_bytes(X=X)
NAN = sparse.csr_matrix([[0, 1.0], [np.nan, 0]])
HALVES = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 3.1]})

BAD_FILES = [
    # name, content, options, what the message must hold
    ("e.csv", "", {}, ["e.csv", "is empty"]),
    ("e.csv", "a,b\n", {}, ["e.csv", "header but no rows"]),
    ("e.parquet", FRAME[:0].to_parquet(), {}, ["e.parquet", "has no rows"]),
    ("e.npy", npy_bytes(np.zeros((3, 0))), {}, ["e.npy", "has no columns"]),
    ("e.xyz", b"x", {}, ["e.xyz", "unknown file type '.xyz'", ".csv", ".h5ad", ".mtx.gz"]),
    ("e.txt", "a b\n1 2\n", {}, ["e.txt", "give sep="]),
    ("e.csv", "a,b\n1,2\n", {"sep": "::"}, ["e.csv", "sep='::'", "one ASCII character"]),
    ("e.csv", "a;b\n1;2\n3\n", {"kind": "labels"}, ["e.csv, line 1", "'a;b'", "sep=';' (--sep ';')"]),
    ("m.csv", "a,b\n1,2\n3,\n", {"kind": "counts"}, ["m.csv, row 2 (line 3), column 'b'", "missing", "the only one"]),
    ("m.csv", "a,b\n1,2\n\n3,-inf\n", {}, ["m.csv, row 2 (line 4), column 'b'", "infinite value (-inf)"]),
    ("m.csv", 'i,b\n"x\ny",2\nz,\n', {"id_column": "i", "kind": "counts"}, ["m.csv, row 2 (line 4), column 'b'"]),
    ("m.npz", save_npz_bytes(NAN), {"kind": "counts"}, ["m.npz, row 2, column 0", "nan"]),
    ("t.csv", "a,b\n1,2\n3,four\n", {"kind": "counts"}, ["t.csv, row 2 (line 3), column 'b'"]),
    ("t.csv", "a;b\n1.5;2\n3;1,5\n", {"sep": ";", "kind": "counts"}, ["t.csv, row 2 (line 3), column 'b'", "'1,5'"]),
    ("t.csv", "a,b\n1," + "y" * 999 + "\n", {"kind": "counts"}, ["t.csv, row 1 (line 2)", "column 'b' holds text"]),
    ("t.npy", npy_bytes(np.array([[1j]])), {"kind": "counts"}, ["t.npy, row 1", "column 0", "complex"]),
    ("t.mtx", mtx_bytes(sparse.csr_matrix([[1j]])), {}, ["t.mtx", "complex", "not numbers"]),
    ("c.csv", "a,b\n1,2\n3,-4\n", {"kind": "counts"}, ["c.csv, row 2 (line 3), column 'b'", "negative", "-4"]),
    ("d.csv", "a,b\n1,2\n", {"kind": "distances"}, ["d.csv", "square", "1 rows and 2 columns", "id_column="]),
    ("d.csv", "a,b\n0,1\n2,0\n", {"kind": "distances"}, ["d.csv, row 1 (line 2), column 'b'", "is 1 and 2", "order"]),
    ("d.csv", "a,b\n0,1\n1,1\n", {"kind": "distances"}, ["d.csv, row 2 (line 3), column 'b'", "itself is 1"]),
    ("d.csv", "a,b\n0,-1\n-1,0\n", {"kind": "distances"}, ["d.csv, row 1 (line 2), column 'b'", "negative"]),
    ("d.npz", save_npz_bytes(sparse.csr_matrix(D)), {"kind": "distances"}, ["d.npz", "full matrix"]),
    ("i.csv", "id,b\nx,2\ny,1\nx,3\n", {"id_column": "id"}, ["i.csv, row 3 (line 4), column 'id'", "'x'"]),
    ("i.csv", "id,b\nx,2\n ,1\n", {"id_column": "id"}, ["i.csv, row 2 (line 3), column 'id'", "id is missing"]),
    ("i.csv", "aaa,b\n1,2\n", {"id_column": "aaaa"}, ["no column 'aaaa' for id_column (--id)", "did you mean 'aaa'"]),
    ("i.csv", "a,b\n1,2\n", {"id_column": 2}, ["i.csv", "id_column (--id) 2", "0 to 1"]),
    ("i.csv", "name,b\n1,2\n", {"known": ["nam"]}, ["i.csv: no column", "for known (--known, --given)", "'name'"]),
    ("i.csv", ",b\n0,2\n", {}, ["i.csv", "column 0", "no name", "id_column=0 (--id 0)"]),
    ("h.csv", "a,b,a\n1,2,3\n", {"kind": "labels"}, ["h.csv", "the name 'a'", "0 and 2", "rename"]),
    ("h.csv", "1,2.5\n3,4\n", {}, ["h.csv, line 1", "'1'", "header=False (--no-header)"]),
    ("g.csv", PARQUET, {}, ["g.csv: holds Parquet, not text", ".parquet"]),
    ("r.csv", "a,b\n1,2\n3,4,5\n", {}, ["r.csv, row 2 (line 3)", "3 cells", "first line has 2"]),
    ("r.csv", 'a,b\n1,2\n3,"' + "4\n" * 99999, {}, ["r.csv, line 3", "131,072 letters", "quote"]),
    ("u.csv", b"a,b\n1,2\n3,caf\xe9\n", {"encoding": "utf-8"}, ["u.csv", "not utf-8", "position 13", "encoding="]),
    ("u.csv", "a,b\n1,2\n".encode("utf-16")[:-1], {}, ["u.csv", "damaged, or not utf-16"]),
    ("u.csv", b"a,b\n1,\x002\n", {}, ["u.csv", "zero bytes", "not text"]),
    ("u.csv", "a,b\n1,2\n", {"encoding": "utf-88"}, ["u.csv", "'utf-88' (--encoding) is unknown"]),
    ("z.parquet", PARQUET[: len(PARQUET) // 2], {}, ["z.parquet", "damaged", "write it again"]),
    ("z.npz", NPZ[:60] + b"\0" * 20 + NPZ[80:], {}, ["z.npz", "damaged"]),
    ("z.npz", npz_bytes(data=[1, 2], indices=[0, 9], indptr=[0, 1, 2], shape=[2, 2]), {}, ["z.npz", "sparse matrix"]),
    ("z.mtx", mtx_bytes(CSR)[:-12], {}, ["z.mtx", "damaged"]),
    ("y.mtx", mtx_bytes(CSR).replace(b" 1 ", b" x ", 1), {}, ["y.mtx", "damaged"]),
    ("p.npy", npy_bytes(np.array([[{}]], dtype=object)), {}, ["p.npy", "pickled"]),
    ("k.npz", npz_bytes(X=X, y=[1, 2]), {}, ["k.npz", "2 arrays (X, y)", "key="]),
    ("k.npz", npz_bytes(X=X, y=[1, 2]), {"key": "Z"}, ["unknown key of k.npz", "'Z'", "X, y"]),
    ("k.npy", npy_bytes(X), {"key": "X"}, ["k.npy", "key= (--key) is for npz files"]),
    ("k.npy", npy_bytes(X), {"sep": ","}, ["k.npy", "sep= (--sep) is for text files"]),
    ("k.npy", npy_bytes(X[0]), {}, ["k.npy", "1 dimension ", "(3,)"]),
    ("l.csv", HALVES.to_csv(index=False), {"kind": "labels"}, ["l.csv, row 2", "3.1 is not a label"]),
    ("l.npy", npy_bytes(HALVES), {"kind": "labels"}, ["l.npy, row 2", "3.1 is not a label"]),
    ("l.parquet", HALVES.to_parquet(), {"kind": "labels"}, ["l.parquet, row 2", "3.1 is not a label"]),
    ("k.mtx", mtx_bytes(CSR), {"kind": "labels"}, ["k.mtx", "labels cannot be a sparse matrix"]),
    ("3.csv", "a,b\n1,2\n", {"kind": "counts", "triples": True}, ["3.csv", "three columns", "there are 2"]),
    ("3.csv", "a,b,c\n1,2,3\n", {"triples": True}, ["3.csv", "triples=True is for kind='counts'"]),
    ("q.csv", GERMAN, {"kind": "counts"}, ["q.csv, row 1 (line 2)", "'5,1'", "--decimal ,"]),
    ("l.csv", RUNS, {"kind": "labels", "columns": "lieden_*"}, ["'lieden_*' matches no column", "'leiden_"]),
    ("i.csv", ",a\np,1\np,2\n", {"kind": "counts"}, ["column 0", "has no name", "--id 0"]),
    ("a.csv", "a,b,c\nx,y,1\nz,u,2\n", {"kind": "counts"}, ["2 of 3 columns", "'a'", "'b'", "--id", "--columns"]),
    ("x.csv", "a,b\n1,-4\n2,3\n", {"types": "counts"}, ["row 1 (line 2), column 'b'", "negative"]),
]


@pytest.mark.parametrize(
    ("name", "content", "options", "needles"), BAD_FILES, ids=[f"{i}-{bad[0]}" for i, bad in enumerate(BAD_FILES)]
)
def test_bad_file_is_refused_in_one_sentence(tmp_path, name, content, options, needles):
    message = refusal(write(tmp_path / name, content), **{"kind": "data", **options})
    assert [needle for needle in needles if needle not in message] == []


class StrangeError(Exception):
    """Of a library, which nobody knows."""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StrangeError("unable to get group info"), "damaged, or not a .csv file"),
        (pa.ArrowMemoryError("malloc of size 1048640 failed"), "memory is too small"),
        (PermissionError(13, "Permission denied"), "may not be read by this user"),
    ],
)
def test_what_a_library_raises_while_it_reads_is_the_files_fault_unless_it_says_otherwise(
    tmp_path, monkeypatch, error, said
):
    monkeypatch.setitem(READERS, ".csv", Mock(side_effect=error))
    assert f"a.csv: {said}" in refusal(write(tmp_path / "a.csv", "a\n1\n"), kind="data")


def test_standard_input_is_read_once_and_looked_at_as_often_as_need_be(monkeypatch):
    text = "a;b;c\n1;2,5;1\n3;4,5;2\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    _read_stream.cache_clear()
    for _ in range(2):
        assert read_table("-", kind="data").values.tolist() == [[1, 2.5, 1], [3, 4.5, 2]]
    found = answer("compare", "-", "--columns", "a,c")
    _read_stream.cache_clear()
    if os.path.exists("/dev/stdin"):
        done = apart("-m", "consilience", "compare", "/dev/stdin", "--columns", "a,c", "--json", input=text)
        assert json.loads(done.stdout) == {**found, "source": "/dev/stdin"}


def test_missing_file_and_folder(tmp_path):
    assert "nowhere.csv: no such file" in refusal(tmp_path / "nowhere.csv", kind="data")
    assert ".: is a folder" in refusal(".", kind="data")
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv: is a folder" in refusal(str(tmp_path / "folder.csv"), kind="data")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    assert "is a link that leads nowhere, or to itself" in refusal(tmp_path / "loop.csv", kind="data")


def of(*cells, **options):
    return pd.DataFrame({"a": cells}, **options)


@pytest.mark.parametrize(
    ("source", "options", "needles"),
    [
        ([[1, 2]], {}, ["list", "DataFrame"]),
        (X, {"kind": "table"}, ["unknown kind of table 'table'", "data, counts, distances, new_distances, labels"]),
        (np.ma.array([[1, 2]], mask=[[False, True]]), COUNTS_KIND, ["MaskedArray, row 1, column 1", "missing"]),
        (of(1, None, 3), COUNTS_KIND, ["DataFrame, row 2, column 'a'", "the only one"]),
        (of(1, "x"), COUNTS_KIND, ["DataFrame, row 2, column 'a'", "'x' is not a number"]),
        (of(pd.Timestamp("2020-01-01")), COUNTS_KIND, ["'a' holds values of type Timestamp"]),
        (None, {}, ["cannot be made of None"]),
        (of(1, 2, index=["p", "p"]), {"id_column": "index"}, ["DataFrame, row 2", "'p'", "row 1"]),
        (of(1, 2, index=["p", None]), {"id_column": "index"}, ["DataFrame, row 2", "missing"]),
        (sparse.csr_matrix([[1.0, -1]]), COUNTS_KIND, ["csr_matrix, row 1, column 1", "-1"]),
        (sparse.csr_matrix(np.ones((2, 40))), {"columns": ["w"]}, ["csr_matrix: no column", "and 20 more"]),
    ],
)
def test_bad_object_is_refused_in_one_sentence(source, options, needles):
    message = refusal(source, **{"kind": "data", **options})
    assert [needle for needle in needles if needle not in message] == []


def test_anndata_without_x_or_with_equal_names():
    bare = anndata.AnnData(obs=pd.DataFrame({"y": [1, 2]}, index=["p", "q"]))
    assert "AnnData: has no X" in refusal(bare, kind="data")
    assert "key= (--key) is not needed" in refusal(bare, kind="labels", key="X")
    data = make_anndata(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data.obs_names = ["w", "x", "w", "z"]
    assert "AnnData, row 3: the id 'w' is already that of row 1" in refusal(data, kind="data")


def test_distances_within_rounding_pass():
    nearly = D.astype(np.float32) * (1 + 1e-7 * np.arange(16).reshape(4, 4)).astype(np.float32)
    np.testing.assert_array_equal(read_table(nearly, kind="distances").values, nearly)


def test_worst_asymmetric_pair_is_found_across_blocks(monkeypatch):
    monkeypatch.setattr("consilience.tables.table_kinds._BLOCK", 8)
    wrong = D.copy()
    wrong[0, 1] += 0.1
    wrong[3, 2] += 0.5
    assert "array, row 3, column 3" in refusal(wrong, kind="distances")
    wrong[3, 2] = np.nan
    assert "array, row 4, column 2" in refusal(wrong, kind="distances")


def test_distance_checks_need_no_second_matrix():
    points = np.arange(1500.0)
    big = np.abs(np.subtract.outer(points, points))
    tracemalloc.start()
    read_table(big, kind="distances")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < big.nbytes / 2


# --- one check of a matrix, one scaling ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [X, X.tolist(), FRAME, pa.table(FRAME), sparse.csr_matrix(X), sparse.coo_array(X), read_table(X, kind="data")],
    ids=["array", "list", "frame", "arrow", "csr", "coo", "table"],
)
def test_a_matrix_from_whatever_holds_numbers(source):
    found = check_matrix(source)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)
    assert not sparse.issparse(found) or found.format == "csr"


@pytest.mark.parametrize(
    ("source", "options", "sentence"),
    [
        (FRAME.replace(2.0, np.nan), {}, "the data, row 2, column 'a': missing or infinite value (nan), the only one"),
        (sparse.csr_matrix([[0, np.inf]]), {"what": "X"}, "X, row 1, column 1 (the first is 0): missing or infinite"),
        ([[1], [1, 2]], {}, "the data cannot be read as a table: its rows differ in length"),
        (X[0], {}, "the data: has 1 dimension"),
        (X[:1], {"min_objects": 2}, "the data has one row (1 sample): give at least 2"),
        (X * 1e300, {}, "beyond 1e+140, whose squares overflow"),
        (np.full((2, 2), 1e-200), {}, "too small for their squares to be told from 0"),
        (FRAME.assign(s="t"), {}, "the data, row 1: column 's' holds text, such as 't': turn it into numbers"),
        (FRAME.assign(s="t", u="v"), {}, "'s' (text, such as 't'), 'u' (text, such as 'v')"),
        (read_table(np.ones((2, 2), int), kind="labels"), {}, "was read as labels"),
    ],
)
def test_a_matrix_is_refused_in_one_sentence(source, options, sentence):
    refuses(re.escape(sentence), check_matrix, source, **options)


def test_an_estimator_learns_its_features_and_missing_ones_are_placed():
    model = BaseEstimator()
    check_matrix(FRAME, estimator=model)
    assert (model.n_features_in_, list(model.feature_names_in_)) == (3, NAMES)
    refuses("feature names should match", check_matrix, FRAME[["a"]], estimator=model, reset=False)
    refuses("row 2, column 'a': missing or infinite value", check_matrix, FRAME.replace(2.0, np.nan), estimator=model)
    refuses(r"one row \(1 sample\): give at least 2", check_matrix, X[:1], estimator=model, min_objects=2)


@pytest.mark.parametrize("factor", [1.0, 1e307, 1e-200])
@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix], ids=["dense", "sparse"])
def test_columns_come_to_one_scale_however_large_or_small_their_numbers_are(make, factor):
    values = np.abs(np.random.default_rng(0).normal(size=(40, 3))) * [1, 5, 0.1]
    values[:, 2] = 0.25
    expected = values / np.append(values[:, :2].std(axis=0), 1)
    if make is np.array:
        expected -= expected.mean(axis=0)
    table = make(values * [factor, 1, 1])
    found = Standardizer.of(table)
    scaled = found.apply(table)
    assert sparse.issparse(scaled) == (make is sparse.csr_matrix)
    np.testing.assert_allclose(scaled.toarray() if sparse.issparse(scaled) else scaled, expected, atol=1e-12)
    mean = "" if make is sparse.csr_matrix else "mean 0 and "
    assert found.describe() == f"3 columns, each scaled to {mean}standard deviation 1 (1 is constant)"
    np.testing.assert_array_equal(found.constant, [False, False, True])


def test_excel(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        PEOPLE.to_excel(book, sheet_name="sizes")
        labels = pd.DataFrame({"run": [1, 1, 2], "name": ["x", None, "007"]})
        labels.to_excel(book, sheet_name="runs", index=False)
    table = read_table(path, kind="data")
    np.testing.assert_array_equal(table.values, PEOPLE)
    assert (list(table.ids), table.columns) == (["p", "q", "r"], ["height", "café"])
    assert "read the first sheet, 'sizes'; the others are 'runs' (key= (--key))" in said(table)
    found = read_table(path, kind="labels", key="runs")
    assert columns_of(found) == {"run": [1, 1, 2], "name": ["x", None, "007"]}
    assert found.notices == ()
    assert "did you mean 'runs'" in refusal(path, kind="data", key="run")
    assert "Excel workbook" in refusal(write(tmp_path / "book.csv", path.read_bytes()), kind="data")
    assert "damaged" in refusal(write(tmp_path / "cut.xlsx", path.read_bytes()[:900]), kind="data")
    bare = tmp_path / "bare.xlsx"
    pd.DataFrame(X).to_excel(bare, index=False, header=False)
    np.testing.assert_allclose(read_table(bare, kind="data", header=False).values, X, rtol=1e-15)


def test_labels_and_data_of_frames_of_every_kind(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "run": [2**53 + 1, None, 3],
            "kind": polars.Series(["a", "b", "a"], dtype=polars.Categorical),
            "text": ["1", "NA", None],
            "gaps": [1.0, None, -1.0],
            "x": [0.5, 1.0, 2.0],
        }
    )
    frame.write_parquet(tmp_path / "l.parquet")
    nullable = frame.to_pandas().assign(run=pd.array([2**53 + 1, None, 3], "Int64"))
    for source in (*forms_of(frame.to_arrow()), tmp_path / "l.parquet", nullable):
        assert columns_of(read_table(source, kind="labels", columns=["run", "kind", "text", "gaps"])) == {
            "run": [2**53 + 1, None, 3],
            "kind": ["a", "b", "a"],
            "text": ["1", "NA", None],
            "gaps": [1, None, -1],
        }
        assert read_table(source, kind="data", columns="x").values.tolist() == [[0.5], [1.0], [2.0]]
        ens = Ensemble(source, columns=["run", "kind"])
        assert (ens.names, ens.labels.T.tolist()) == (["run", "kind"], [[1, -1, 0], [0, 1, 0]])
    assert read_table(frame["x"], kind="data").columns == ["x"]


def forms_of(arrow):
    frame = pytest.importorskip("polars").from_arrow(arrow)
    speaks = SimpleNamespace(__arrow_c_stream__=arrow.__arrow_c_stream__)  # Arrow's protocol and nothing else
    return frame, frame.lazy(), arrow, arrow.to_batches()[0], speaks


class Tensor:
    """As much of a torch tensor as matters: on a graph and a device, perhaps of a type that NumPy lacks."""

    def __init__(self, array, *, needs_grad=True, strange=False):
        self.array, self.needs_grad, self.strange = array, needs_grad, strange

    def detach(self):
        return Tensor(self.array, needs_grad=False, strange=self.strange)

    def cpu(self):
        return self

    def double(self):
        return Tensor(self.array.astype(float), needs_grad=False)

    def __array__(self, dtype=None, copy=None):
        if self.needs_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        if self.strange:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return np.asarray(self.array, dtype)


def test_tensors():
    np.testing.assert_array_equal(read_table(Tensor(X), kind="data").values, X)
    np.testing.assert_array_equal(check_matrix(Tensor(X, strange=True)), X)
    assert cells(read_table(Tensor(np.array([1, 2, 1])), kind="labels").values["0"]) == [1, 2, 1]
    assert Ensemble(Tensor(np.array([1, 0, 1]))).labels[:, 0].tolist() == [1, 0, 1]


# --- choosing columns, ids and labels that are asked about -----------------------------------------------------


ROWS = range(12)


@pytest.mark.parametrize(
    "name", ["id", "Name", "customer_id", "customerId", "barcode", "index", "rownames", "row.names"]
)
@pytest.mark.parametrize("kind", ["labels", "data"])
def test_a_column_named_like_an_id_is_taken_if_all_differ(name, kind):
    frame = pd.DataFrame({"a": [0, 1] * 6, name: [f"o{i}" for i in ROWS], "b": [0, 0, 1] * 4})
    table = read_table(frame, kind=kind)
    assert (table.columns, list(table.ids)) == (["a", "b"], list(frame[name]))
    assert f"column {name!r} names the objects" in said(table)
    numbers = frame.assign(**{name: ROWS})
    assert list(read_table(numbers, kind=kind).ids) == list(ROWS)
    kept = read_table(numbers, kind=kind, columns=["a", name])
    assert (kept.columns, kept.ids) == (["a", name], None)
    assert read_table(numbers.assign(**{name: np.arange(12) + 0.5}), kind="data").ids is None
    assert read_table(numbers.assign(**{name: [0, 1] * 6}), kind=kind).ids is None


@pytest.mark.parametrize("words", [{}, {"plan": ["free", "pro"] * 20}], ids=["numbers", "words"])
@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        (np.arange(1, 41), "counts the rows"),
        (np.arange(40), "counts the rows"),
        (np.arange(1, 41)[::-1], None),  # ranks
        (np.arange(1950, 1990), None),  # years
        (np.arange(0, 80, 2), None),
    ],
)
def test_a_column_that_counts_the_rows_in_their_order_is_set_aside(numbers, why, words, tmp_path):
    frame = pd.DataFrame({"a": np.sin(np.arange(40)), "no": numbers, **words})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        table = read_table(source, kind="data")
        assert dict(table.aside) == ({"no": why} if why else {})
        assert (why is None) or "set aside no (counts the rows)" in said(table)
        assert "no" in read_table(source, kind="data", columns=["a", "no"]).columns


def test_new_rows_are_placed_without_the_column_that_counted_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"no": np.arange(60), "a": rng.normal(size=60) + 9 * (np.arange(60) % 2), "b": rng.random(60)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame[::-3].to_csv(tmp_path / "new.csv", index=False)
    model = EnsembleClusterer(2, n_clusterings=5, random_state=0).fit(tmp_path / "t.csv")
    assert model.predict(tmp_path / "new.csv").tolist() == model.labels_[::-3].tolist()


def test_columns_that_do_not_look_like_clusterings_are_asked_about_together(tmp_path):
    frame = pd.DataFrame(
        {
            "leiden": [0, 1] * 6,
            "bead": [f"o{i}" for i in ROWS],
            "age": np.linspace(20, 30, 12),
            "size": [*range(8), 0, 1, 2, 3],
            "cell_type": list("ab") * 6,
        }
    )
    frame.to_csv(tmp_path / "labels.csv", index=False)
    parts = ["4 of 5 columns", "'age'", "'size'", "'cell_type'", "id_column='bead' (--id bead)", "--known cell_type"]
    for source in (frame, tmp_path / "labels.csv", *forms_of(pa.Table.from_pandas(frame, preserve_index=False))):
        message = refusal(source, kind="labels")
        assert [part for part in parts if part not in message] == []
    named = ["leiden", "bead", "cell_type"]
    assert read_table(frame, kind="labels", columns=named).columns == named
    table = read_table(frame, kind="labels", id_column="bead", known="cell_type", columns=["-age", "-size"])
    assert table.columns == ["leiden"]
    for doubtful in ("bead", "age"):
        assert repr(doubtful) in refusal(frame[["leiden", doubtful]], kind="labels")
    assert read_table(frame[["cell_type"]], kind="labels").columns == ["cell_type"]


def test_narrow_sparse_duplicates_are_added_up_in_full():
    pair = (np.array([0, 0]), np.array([0, 0]))
    for dtype, values, total in ((np.uint8, [200, 100], 300), (np.int8, [100, 100], 200), (bool, [True, True], 2)):
        source = sparse.coo_matrix((np.array(values, dtype), pair), (1, 1))
        assert read_table(source, kind="counts").values.toarray() == [[total]]
        csr = sparse.csr_matrix((np.array(values, dtype), np.array([0, 0]), np.array([0, 2])), (1, 1))
        assert read_table(csr, kind="data").values.toarray() == [[total]]


def test_a_pickled_vector_is_named(tmp_path):
    words = np.array(["x", "y", "z", "z"], object)
    path = write(tmp_path / "v.npz", npz_bytes(X=X, y=words, n=np.arange(4)))
    assert "'y' holds pickled Python objects" in refusal(path, kind="data", key="X", known="y")
    refuses(r"v.npz: 'y' holds pickled Python objects", read_vector, path, "y")
    assert read_vector(path, "n").tolist() == [0, 1, 2, 3]
    assert read_vector(path, "X") is None
    assert read_vector(tmp_path / "v.csv", "n") is None


# --- tables whose columns are the objects, as genes × samples ----------------------------------------

GENES, SAMPLES = 40, 24
SIDE = np.repeat([0, 1, 2], SAMPLES // 3)


@pytest.fixture
def genes():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(GENES, SAMPLES)).round(3)
    values[:30] += 6 * (np.arange(30)[:, None] // 10 == SIDE)
    frame = pd.DataFrame(values.round(3), columns=[f"S{i}" for i in range(SAMPLES)])
    frame.insert(0, "gene_id", [f"ENSG{i:08d}" for i in range(GENES)])
    return frame


def test_columns_become_objects(genes, tmp_path):
    genes.to_csv(tmp_path / "g.tsv", sep="\t", index=False)
    table = read_table(tmp_path / "g.tsv", kind="data", transpose=True)
    assert table.ids.tolist() == genes.columns[1:].tolist()
    assert table.columns == genes["gene_id"].tolist()
    np.testing.assert_array_equal(table.values, genes.iloc[:, 1:].to_numpy().T)
    assert "g.tsv: turned, so that its 24 columns are the objects" in table.notices
    for other in (genes, genes.set_index("gene_id")):
        again = read_table(other, kind="data", transpose=True)
        np.testing.assert_array_equal(again.values, table.values)
        assert again.columns == table.columns
        assert again.ids.tolist() == table.ids.tolist()
    counts = np.arange(12.0).reshape(4, 3)
    for matrix in (counts, sparse.csr_matrix(counts)):
        np.testing.assert_array_equal(read_table(matrix, kind="counts", transpose=True).values.toarray(), counts.T)


def test_what_tells_of_the_rows_is_left_out(genes, tmp_path):
    lies = {"Chr": "chr1", "Strand": "+"}
    for i, (name, cells) in enumerate(lies.items()):
        genes.insert(i + 1, name, cells)
    genes.insert(0, "number", range(GENES))
    genes.to_csv(tmp_path / "g.csv", index=False)
    table = read_table(tmp_path / "g.csv", kind="data", transpose=True, id_column="gene_id")
    assert table.ids.tolist() == ["number", *(f"S{i}" for i in range(SAMPLES))]
    table = read_table(tmp_path / "g.csv", kind="data", transpose=True)
    assert "left out Chr, Strand, which tell of the rows" in " ".join(table.notices)


def test_rows_of_words_and_gaps(genes, tmp_path):
    genes.loc[3, "S5"] = np.nan
    frame = genes.astype(object)
    frame.loc[GENES] = ["side", *np.array(["a", "b", "c"])[SIDE]]
    frame.loc[GENES + 1] = [None, *np.resize(["x", "y"], SAMPLES)]
    frame.to_csv(tmp_path / "g.csv", index=False, sep=";", decimal=",")
    for known in ("side", ["side"]):
        opened = cs.inputs.open_source(tmp_path / "g.csv", kind="data", transpose=True, known=known)
        assert list(opened.known["side"]) == np.array(["a", "b", "c"])[SIDE].tolist()
    table = opened.data
    assert table.encoder.types[f"row {GENES + 2}"] == "category"
    assert table.gaps.n_cells == 1
    assert table.n_objects == SAMPLES


def test_what_cannot_be_turned(genes):
    cells = anndata.AnnData(np.eye(3), obs=pd.DataFrame({"kind": list("aab")}, index=list("xyz")))
    for source, kind, turn, said in (
        (genes, "labels", True, r"transpose= \(--transpose\) turns tables of data, and this is read as labels"),
        (genes, "distances", True, "and this is read as distances"),
        (genes[["gene_id"]], "data", True, "no column holds numbers"),
        (cells, "data", True, "these are the objects: leave transpose="),
        (genes, "data", "no", "transpose must be True or False, not 'no'"),
    ):
        refuses(said, read_table, source, kind=kind, transpose=turn)


def test_verbs(genes, tmp_path):
    genes.to_csv(tmp_path / "g.tsv", sep="\t", index=False)
    path = str(tmp_path / "g.tsv")
    ensemble = cs.generate(path, n_clusterings=10, transpose=True)
    assert ensemble.ids.tolist() == genes.columns[1:].tolist()
    kept, labels, new = (str(tmp_path / name) for name in ("model", "labels.csv", "new.csv"))
    ran("cluster", path, "--transpose", "-k", "3", "-n", "20", "-o", labels, "--save", kept)
    made = pd.read_csv(labels)
    assert adjusted_rand_score(made["cluster"], SIDE) == 1
    ran("assign", kept, path, "--transpose", "-o", new)
    assert pd.read_csv(new)["cluster"].tolist() == made["cluster"].tolist()
    told = ran("report", labels, "--columns", "cluster", "--data", path, "--transpose", str(tmp_path / "r.html"))
    assert "its 24 columns are the objects" in told.stdout + told.stderr
    frame = genes.astype(object)
    frame.loc[GENES] = ["side", *SIDE]
    frame.to_csv(tmp_path / "g.csv", index=False)
    beside = [tmp_path / "r.html", "--transpose", "--known", "side"]
    ran("report", tmp_path / "g.csv", *beside)
    ran("report", labels, "--columns", "cluster", "--data", tmp_path / "g.csv", *beside)
