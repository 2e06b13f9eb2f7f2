"""The ensemble: every accepted form, every refusal, slicing, joining, collapsing, keeping."""

import datetime
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import sparse

import oracle
from consilience import Ensemble, compare
from consilience.ensemble.store import Store
from consilience.measures import accuracy, anmi, compactness, rand
from consilience.tables import read_table
from samples import refuses, same

label_tables = arrays(np.int32, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=st.integers(-1, 4))
WIDE = [-(2**63), -5, -2, -1, 0, 1, 900, 5000, 2**63 - 1]


def codes(labels):
    return Ensemble(labels).labels.T.tolist()


ONE_CLUSTERING = {
    "list": ([5, 5, 9], [0, 0, 1]),
    "vector": (np.array([5, 5, 9]), [0, 0, 1]),
    "int8": (np.array([5, -1, 9], np.int8), [0, -1, 1]),
    "uint8 up to its end": (np.array([255, 0, 255], np.uint8), [1, 0, 1]),
    "-1 is missing": ([1, -1, 0], [1, -1, 0]),
    "other negative labels": ([-2, -1, 3, -7, 3], [1, -1, 2, 0, 2]),
    "negative labels without -1": ([-2, 3, -7], [1, 2, 0]),
    "huge integers": (np.array([2**62, 0, 2**62, -(2**62), -1]), [2, 1, 2, 0, -1]),
    "uint64": (np.array([2**64 - 1, 7, 2**64 - 1], np.uint64), [1, 0, 1]),
    "huge integers in a list": ([2**63, 7, 2**63], [1, 0, 1]),
    "integers beyond 64 bits in a list": ([2**70, 7, None, 2**70], [1, 0, -1, 1]),
    "float with NaN": (np.array([2.0, np.nan, 1.0, -1.0]), [1, -1, 0, -1]),
    "float16": (np.array([2.0, np.nan, 1.0], np.float16), [1, -1, 0]),
    "None in a list": ([1, None, 0], [1, -1, 0]),
    "floats and None in a list": ([1.0, None, 0.0, float("nan")], [1, -1, 0, -1]),
    "strings": (["b", "a", "b"], [1, 0, 1]),
    "strings with None": (["b", None, "a"], [1, -1, 0]),
    "string array": (np.array(["b", "a", "b"]), [1, 0, 1]),
    "bytes": ([b"b", b"a"], [1, 0]),
    "the text -1 is a name": (["-1", "a"], [0, 1]),
    "the empty text is a name": (["", "a"], [0, 1]),
    "bool": ([True, False, True], [1, 0, 1]),
    "bool array": (np.array([True, False, True]), [1, 0, 1]),
    "mixed types, as they appear": (np.array(["b", 1, None, (2, 3), "b"], object), [0, 1, -1, 2, 0]),
    "tuples": (np.array([(2, 3), (1, 2), (2, 3), None], object)[[0, 1, 3]], [1, 0, -1]),
    "whole floats among objects": (np.array([2.0, 1, None], object), [1, 0, -1]),
    "-1 among objects": (np.array(["a", -1, -1.0], object), [0, -1, -1]),
    "dates": ([datetime.date(2020, 2, 1), datetime.date(2020, 1, 1)], [1, 0]),
    "datetime64": (np.array(["2020-02-01", "NaT", "2020-01-01"], "M8[ns]"), [1, -1, 0]),
    "masked": (np.ma.array([3, 9, 4], mask=[0, 1, 0]), [0, -1, 1]),
    "masked float over NaN": (np.ma.array([3, np.nan, 4.5], mask=[0, 0, 1]), [0, -1, -1]),
    "masked uint8": (np.ma.array([3, 9, 4], mask=[0, 1, 0], dtype=np.uint8), [0, -1, 1]),
    "masked bool": (np.ma.array([True, True, False], mask=[0, 1, 0]), [1, -1, 0]),
    "masked strings": (np.ma.array(["b", "x", "a"], mask=[0, 1, 0]), [1, -1, 0]),
    "masked objects": (np.ma.array(["b", 3, "a"], mask=[0, 1, 0], dtype=object), [1, -1, 0]),
    "Series": (pd.Series([5, 5, 9], index=[7, 8, 9]), [0, 0, 1]),
    "Int64 with -1 and NA": (pd.Series([-1, None, 3], dtype="Int64"), [-1, -1, 0]),
    "Float64 with NA": (pd.Series([5, None, 3], dtype="Float64"), [1, -1, 0]),
    "string with NA": (pd.Series(["b", None, "a"], dtype="string"), [1, -1, 0]),
    "object column": (pd.Series(["b", None, "a", np.nan, pd.NA]), [1, -1, 0, -1, -1]),
    "category with NA": (pd.Series(["b", None, "a"], dtype="category"), [1, -1, 0]),
    "categories out of order": (pd.Categorical(["b", "a"], categories=["b", "unused", "a"]), [1, 0]),
    "boolean with NA": (pd.Series([True, None, False], dtype="boolean"), [1, -1, 0]),
    "Index": (pd.Index(["b", "a"]), [1, 0]),
    "all missing": ([None, -1, float("nan")], [-1, -1, -1]),
    "one object": (["a"], [0]),
}


def plain_labels(labels):
    """The labels themselves, in Python's types."""
    of = pd.Index(labels) if getattr(labels, "dtype", None) == "M8[ns]" else labels
    return [label.item() if isinstance(label, np.generic) else label for label in of]


@pytest.mark.parametrize(("labels", "expected"), ONE_CLUSTERING.values(), ids=ONE_CLUSTERING)
def test_one_clustering_alone_in_a_list_or_in_a_mapping(labels, expected):
    """As codes, and back as what they were."""
    assert codes(labels) == codes({"a": labels}) == [expected]
    assert codes([labels, labels]) == [expected] * 2
    ens = Ensemble([labels])
    given = [None if code < 0 else label for label, code in zip(plain_labels(labels), expected, strict=True)]
    same(ens.named_labels(0), given)
    same(Ensemble([ens.to_frame()["0"]]).named_labels(0), given)


MANY_CLUSTERINGS = {
    "array": np.array([[1, 5], [1, 6], [2, -1]]),
    "Fortran order": np.asfortranarray([[1, 5], [1, 6], [2, -1]]),
    "float array": np.array([[1, 5], [1, 6], [2, np.nan]]),
    "object array": np.array([["x", 5], ["x", 6], ["y", None]], object),
    "masked array": np.ma.array([[1, 5], [1, 6], [2, 9]], mask=[[0, 0], [0, 0], [0, 1]]),
    "list of lists": [[1, 1, 2], [5, 6, None]],
    "list of unlike vectors": [["x", "x", "y"], np.array([5, 6, np.nan])],
    "mapping": {"one": [1, 1, 2], "two": [5, 6, None]},
    "DataFrame": pd.DataFrame({"one": ["x", "x", "y"], "two": [5, 6, None]}),
    "DataFrame of nullable columns": pd.DataFrame({"one": ["x", "x", "y"], "two": [5, 6, None]}).convert_dtypes(),
    "DataFrame with a name twice": pd.DataFrame([[1, 5], [1, 6], [2, -1]], columns=["one", "one"]),
}


def test_polars():
    polars = pytest.importorskip("polars")
    assert codes(polars.Series([5, 7, None])) == codes([polars.Series([5, 7, None])]) == [[0, 1, -1]]
    assert rand(polars.Series([5, 7, None]), [0, 1, 1]) == 1
    assert "rand:class" in compare([[0, 1, 0]], "rand", known=polars.DataFrame({"class": [0, 0, 1]})).clusterings


# --- what pandas indexes say ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "ids"),
    [
        (None, None),
        ([0, 1, 2], None),
        (pd.RangeIndex(3, name="cell"), [0, 1, 2]),
        ([2, 0, 1], [2, 0, 1]),
        (["x", "y", "z"], ["x", "y", "z"]),
    ],
)
def test_an_index_that_says_something_names_the_objects(index, ids):
    frame = pd.DataFrame({"a": [0, 0, 1], "ids": [0, 1, 1]}, index=index)
    for labels in (frame, dict(frame.items()), [frame["a"], frame["ids"]], frame["a"]):
        found = Ensemble(labels).ids
        assert (None if found is None else found.tolist()) == ids
    assert Ensemble(frame, ids=["p", "q", "r"]).ids.tolist() == ["p", "q", "r"]


def test_an_index_with_repeats_is_refused():
    frame = pd.DataFrame({"a": [0, 0, 1]}, index=["x", "y", "x"])
    refuses(r"'x' stands in it more than once: .*reset_index\(drop=True\)", Ensemble, frame)
    assert Ensemble(frame, ids=[1, 2, 3]).n_objects == 3


def test_series_of_other_objects_are_refused():
    one, other = pd.Series([0, 0, 1], index=list("abc")), pd.Series([0, 1, 1], index=list("bca"))
    tests = [
        lambda: Ensemble([one, other]),
        lambda: Ensemble({"one": one, "other": other}),
        lambda: rand(one, other),
        lambda: accuracy(one, other),
        lambda: anmi([one], other),
        lambda: compactness(pd.DataFrame({"x": [0.0, 1, 2]}, index=one.index), other),
    ]
    for call in tests:
        refuses(r"row 0 is 'a' in one and 'b' in another\): align them", call)
    assert rand(one, other.to_numpy()) == rand([0, 0, 1], [0, 1, 1])
    assert "rand:known" in compare([one, one], "rand", known=other.reset_index(drop=True)).clusterings


@pytest.mark.parametrize("labels", MANY_CLUSTERINGS.values(), ids=MANY_CLUSTERINGS)
def test_many_clusterings(labels):
    ens = Ensemble(labels)
    assert ens.labels.T.tolist() == [[0, 0, 1], [0, 1, -1]]
    assert ens.labels.dtype == np.int32
    assert ens.labels.flags.c_contiguous
    assert (ens.n_objects, ens.n_clusterings) == (3, 2)
    assert ens.n_clusters.tolist() == [2, 2]
    assert ens.coverage.tolist() == [1, 2 / 3]
    assert ens.has_missing


def test_names_of_columns_become_info():
    named = {"one": [0, 1], "two": [0, 1]}
    for labels in (named, pd.DataFrame(named)):
        assert Ensemble(labels).info["name"].tolist() == ["one", "two"]
    assert Ensemble(pd.Series([0, 1], name="one")).info["name"].tolist() == ["one"]
    assert Ensemble({"one": [0, 1]}, info={"method": ["kmeans"]}).info.columns.tolist() == ["method"]


def test_ensemble_of_an_ensemble_keeps_info_and_ids():
    ens = Ensemble([[0, 1], [0, 0]], info={"method": ["a", "b"]}, ids=["x", "y"])
    again = Ensemble(ens)
    assert (again.labels.tolist(), again.ids.tolist()) == (ens.labels.tolist(), ["x", "y"])
    assert again.info.equals(ens.info)
    assert Ensemble(ens, ids=["p", "q"]).ids.tolist() == ["p", "q"]
    assert Ensemble(ens, info={"seed": [1, 2]}).info.columns.tolist() == ["seed"]


@given(label_tables)
def test_codes_follow_the_sorted_labels_without_gaps(table):
    for column, given_labels in zip(Ensemble(list(table.T)).labels.T, table.T, strict=True):
        names = np.unique(given_labels[given_labels >= 0])
        assert_array_equal(column, np.where(given_labels < 0, -1, np.searchsorted(names, given_labels)))


@given(arrays(np.int64, st.integers(1, 20), elements=st.sampled_from(WIDE)))
def test_integers_of_any_width_agree_with_their_objects(labels):
    as_objects = [None if x == -1 else x for x in labels.tolist()]
    assert codes(labels) == codes(np.array(as_objects, object))


def test_labels_are_read_only(tmp_path):
    ens = Ensemble([[0, 1, 1], [0, 0, 1]])
    ens.save(tmp_path / "run")
    copies = Ensemble.concat([ens, ens]), Ensemble(ens), Ensemble.load(tmp_path / "run")
    for made in (ens, ens[:2], ens[[0, 1]], *copies):
        with pytest.raises(ValueError, match="read-only"):
            made.labels[0, 0] = 5


REFUSED = {
    "ragged": ([[0, 1], [0, 1, 2]], "clustering 1 has 3 labels, the first has 2"),
    "ragged mapping": ({"a": [0, 1], "b": [0]}, "clustering 'b' has 1 labels, the first has 2"),
    "empty list": ([], "there are no labels"),
    "empty vectors": ([[], []], "there are no labels"),
    "no clustering": (np.empty((3, 0)), "there are no labels"),
    "empty array": (np.empty((0, 3)), "there are no labels"),
    "empty mapping": ({}, "there are no labels"),
    "empty DataFrame": (pd.DataFrame(), "there are no labels"),
    "three dimensions": (np.zeros((2, 2, 2)), "got 3 dimensions"),
    "a single number": (5, "labels cannot be an int: give an array"),
    "None": (None, "labels cannot be None: give an array"),
    "a text": ("abc", "abc: no such file in .*: check the path"),
    "vector among values": ([[0, 1], 3], "clustering 1 is an int, not a vector of labels"),
    "value among vectors": ([3, [0, 1]], "clustering 0 is an int, not a vector of labels"),
    "a single value in a mapping": ({"a": 3}, "clustering 'a'"),
    "fraction": (np.array([0.0, 0.5]), r"clustering 0: .*0\.5.* \(object 1\) is not a label; .* measured data"),
    "fraction in a list": ([0.0, None, 0.5], r"clustering 0: .*0\.5.* \(object 2\) is not a label"),
    "fraction in a named column": ({"x": np.array([0.5])}, r"clustering 'x': .*0\.5.* \(object 0\) is not a label"),
    "infinity": (np.array([0.0, np.inf]), r"inf.* \(object 1\) is not a label"),
    "minus infinity": (np.array([-np.inf, 0.0]), r"-inf.* \(object 0\) is not a label"),
    "float too large to be whole": (np.array([0, 2.0**60]), r"\(object 1\) is not a label"),
    "unhashable lists": ([[[1], [2]]], r"clustering 0: \[1\] \(object 0\) cannot be a label, since it is not hashable"),
    "an unhashable dict": (np.array(["a", {}], object), r"\{\} \(object 1\) cannot be a label"),
    "a set in a list": ([{0, 1}], "clustering 0 is a set|cannot be a label"),
    "sparse": (sparse.csr_matrix([[0, 1]]), "labels cannot be a csr_matrix"),
    "an Ensemble in a list": ([Ensemble([[0, 1]])], r"got an Ensemble: choose one of its clusterings"),
    "data in a table": (read_table(np.eye(2), kind="data"), "array: was read as data: clusterings need kind='labels'"),
    "a table in a list": ([np.zeros((2, 2))], r"clustering 0 must be one label per object; got .* shape \(2, 2\)"),
}


@pytest.mark.parametrize(("labels", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_labels(labels, sentence):
    refuses(sentence, Ensemble, labels)


def test_info_of_another_length_is_refused():
    for info, rows in (({"seed": [1, 2, 3]}, "3 rows"), (pd.DataFrame({"seed": [1]}), "1 row"), ([], "0 rows")):
        refuses(f"info has {rows} for 2 clusterings", Ensemble, [[0, 1], [1, 0]], info=info)


def test_ids():
    assert Ensemble([[0, 1]], ids=["x", "y"]).ids.tolist() == ["x", "y"]
    refuses(r"2 objects need as many ids; got shape \(3,\)", Ensemble, [[0, 1]], ids=["x", "y", "z"])
    refuses(r"the id .*'x'.* occurs more than once \(object 2\)", Ensemble, [[0, 1, 1]], ids=["x", "y", "x"])


@pytest.fixture
def ens():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (6, 4))
    labels[:3] = np.arange(3)[:, None]  # all three clusters occur, so codes are the labels
    return Ensemble(labels, info={"seed": [10, 11, 12, 13]}, ids=list("abcdef"))


SELECTIONS = [
    *(2, -1, np.int64(1), slice(None), slice(1, 3), slice(None, None, -1), slice(None, None, 2)),
    *([0, 2], [2, 0], (1,), np.array([3, 1], np.uint8), [-1, 0], pd.Index([1, 2])),
]


def plain(key):
    """The same selection, as NumPy takes it and with the dimension kept."""
    return key if isinstance(key, slice) else np.atleast_1d(np.asarray(key))


@pytest.mark.parametrize("columns", [*SELECTIONS, [False, True, False, True]], ids=str)
@pytest.mark.parametrize("rows", [*SELECTIONS, np.array([True, False, True, True, False, False])], ids=str)
def test_slices(ens, rows, columns):
    part = ens[rows, columns]
    assert_array_equal(part.labels, ens.labels[plain(rows)][:, plain(columns)])
    assert part.ids.tolist() == list(np.array(list("abcdef"))[plain(rows)])
    assert part.info["seed"].tolist() == list(np.arange(10, 14)[plain(columns)])
    assert part.info.index.tolist() == list(range(part.n_clusterings))


def test_labels_keep_their_numbers_and_clusters_are_counted_again():
    ens = Ensemble([[0, 1, 2, 2], [0, 0, 0, None]])
    assert ens.n_clusters.tolist() == [3, 1]
    assert ens[[1, 3]].labels.tolist() == [[1, 0], [2, -1]]
    assert ens[[1, 3]].n_clusters.tolist() == [2, 1]
    assert ens[3].n_clusters.tolist() == [1, 0]
    assert ens[3].coverage.tolist() == [1, 0]
    assert not ens[:3].has_missing


BAD_SELECTIONS = {
    "beyond the objects": (6, "there is no object 6: 6 in all"),
    "before the objects": ([-7], "there is no object -7: 6 in all"),
    "beyond the clusterings": ((0, [1, 4]), "there is no clustering 4: 4 in all"),
    "short mask": ([True, False], "a mask needs 6 entries, one for every object"),
    "short mask of clusterings": ((0, [True]), "a mask needs 4 entries, one for every clustering"),
    "name": ("a", "choose each object by number, slice or mask; got 'a'"),
    "fraction": (1.0, r"choose each object by number, slice or mask; got 1\.0"),
    "ellipsis": (..., "choose each object by number"),
    "table": ([[0, 1]], "choose each object by number"),
    "no object": (slice(0, 0), "leaves 4 clusterings of 0 objects"),
    "no clustering": ((slice(None), [False] * 4), "leaves 0 clusterings of 6 objects"),
    "three selections": ((0, 1, 2), "choose|select"),
}


@pytest.mark.parametrize(("key", "sentence"), BAD_SELECTIONS.values(), ids=BAD_SELECTIONS)
def test_bad_selections(ens, key, sentence):
    refuses(sentence, ens.__getitem__, key)


def test_clusterings_go_by_name():
    ens = Ensemble({"a": [0, 1], "b": [0, 0], "c": [1, 1]})
    assert ens[:, "b"].names == ["b"]
    assert ens[:, ["c", "a"]].names == ["c", "a"]
    assert ens[0, np.array(["c"])].names == ["c"]
    refuses("unknown clustering 'A': did you mean 'a'", ens.__getitem__, np.s_[:, "A"])
    twice = Ensemble([[0, 1], [0, 0]], info={"name": ["a", "a"]})
    refuses("more than one clustering is named 'a'", twice.__getitem__, np.s_[:, "a"])


def test_concat(ens):
    both = Ensemble.concat(part for part in (ens[:, :1], ens[:, 1:]))
    assert_array_equal(both.labels, ens.labels)
    assert both.info.equals(ens.info)
    assert both.ids.tolist() == list("abcdef")
    bare, other = Ensemble(ens.labels), Ensemble(ens.labels[:, :1], info={"method": ["kmeans"]})
    both = Ensemble.concat([other, ens])
    assert both.ids.tolist() == list("abcdef")
    assert both.info["method"].fillna("").tolist() == ["kmeans", "", "", "", ""]
    assert both.info["seed"].tolist()[1:] == [10, 11, 12, 13]
    assert Ensemble.concat([bare, ens]).info["seed"].isna().sum() == 4
    assert Ensemble.concat([bare, bare]).info.shape == (8, 0)


def test_concat_keeps_63_bit_seeds_and_names():
    seed = 2**62 + 1
    parts = [Ensemble({"a": [0, 1]}), Ensemble([[0, 1]], info={"seed": [seed]}), Ensemble([[0, 1]])]
    both = Ensemble.concat(parts)
    assert both.info["seed"].tolist()[1] == seed
    assert both.info["seed"].isna().tolist() == [True, False, True]
    assert both.info["name"].tolist() == both.names == ["a", "1", "2"]
    assert Ensemble.concat([parts[0]] * 3).names == ["a", "a (2)", "a (3)"]


def test_concat_refusals(ens):
    for parts, said in (
        *((nothing, "at least one ensemble") for nothing in ([], None, ens)),
        ([ens, [[0, 1]]], "number 1 is a list: make it one first"),
        ([ens, ens[:5]], "ensemble 1 has 5 objects, the first 6"),
        ([ens, ens[::-1]], r"object 0 is .*'a'.* in one and .*'f'.* in another"),
        ([ens, Ensemble(ens.labels, ids=range(6))], "name their objects differently"),
    ):
        refuses(said, Ensemble.concat, parts)


@given(label_tables)
def test_signatures(table):
    ens = Ensemble(table)
    s = ens.signatures()
    first, inverse, counts = oracle.signatures(ens.labels)
    assert_array_equal(s.first, first)
    assert_array_equal(s.inverse, inverse)
    assert_array_equal(s.counts, counts)
    assert_array_equal(s.labels[s.inverse], ens.labels)
    assert_array_equal(s.labels, ens.labels[s.first])
    assert s.counts.sum() == ens.n_objects
    assert len(s) == len(np.unique(ens.labels, axis=0))
    assert ens.signatures() is s


def test_repr():
    assert repr(Ensemble([["x"]])) == "Ensemble: 1 clustering of 1 object\n  clusters  1"
    ens = Ensemble([[0, 1, 2, None], [0, 0, 0, 0]], info={"method": ["kmeans", "leiden"]})
    assert repr(ens).splitlines() == [
        "Ensemble: 2 clusterings of 4 objects",
        "  clusters  1 to 3 (median 2)",
        "  missing   12.5 % of the labels, in 1 clustering",
        "  made by   kmeans 1, leiden 1",
    ]
    assert "1,000 clusterings" in repr(Ensemble(np.zeros((2, 1000), int)))


def test_save_does_not_write_over_a_store_unasked(ens, tmp_path):
    ens.save(tmp_path / "run")
    refuses("run exists already: choose another path, or say overwrite=True", ens.save, tmp_path / "run")
    ens[:, :2].save(tmp_path / "run", overwrite=True)
    assert Ensemble.load(tmp_path / "run").n_clusterings == 2
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_save_never_replaces_what_is_no_store(ens, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    ens.save(tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("mine")
    for name, said in (("mine", "not a stored run"), ("file", "is a file"), ("run", "it holds notes.txt")):
        refuses(said, ens.save, tmp_path / name, overwrite=True)
    assert (tmp_path / "mine" / "notes.txt").read_text() == (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_save_does_not_replace_a_store_that_is_being_written(ens, tmp_path):
    with Store.create(tmp_path / "run", n_objects=6):
        refuses("is being written to", ens.save, tmp_path / "run", overwrite=True)


def test_save_that_fails_leaves_the_old_store_and_nothing_else(ens, tmp_path, monkeypatch):
    ens.save(tmp_path / "run")
    full = OSError(28, "No space left on device", str(tmp_path / ".unfinished-1-run" / "part"))
    monkeypatch.setattr(Store, "append", Mock(side_effect=full))
    with pytest.raises(OSError, match="No space left") as caught:
        ens[:, :1].save(tmp_path / "run", overwrite=True)
    assert caught.value.filename == str(tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert Ensemble.load(tmp_path / "run").n_clusterings == 4


def test_save_of_info_that_cannot_be_stored_leaves_nothing_behind(tmp_path):
    for info in ({"number": ["x"]}, {"number": [None]}, {"labels": [7]}):
        refuses("number", Ensemble([[0, 1]], info=info).save, tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_numbers_of_clusterings_come_back_only_if_they_say_something(ens, tmp_path):
    with Store.create(tmp_path / "run", n_objects=2) as store:
        store.append([[0, 0], [1, 0]], numbers=[7, 3])
    back = Ensemble.load(tmp_path / "run")
    assert back.info["number"].tolist() == [3, 7]
    back.save(tmp_path / "again")
    assert Store.open(tmp_path / "again").numbers.tolist() == [3, 7]
    ens.save(tmp_path / "plain")
    plain = Ensemble.load(tmp_path / "plain")
    assert_array_equal(plain.labels, ens.labels)
    assert plain.ids.tolist() == ens.ids.tolist()
    pd.testing.assert_frame_equal(plain.info, ens.info, check_index_type=False)


def test_load_renumbers_labels_that_would_not_fit_a_table(tmp_path):
    with Store.create(tmp_path / "run", n_objects=3) as store:
        store.append([[5, 2], [2**31 - 1, 0], [-1, 0]])
    back = Ensemble.load(tmp_path / "run")
    assert back.labels.T.tolist() == [[0, 1, -1], [2, 0, 0]]
    assert back.n_clusters.tolist() == [2, 2]


@pytest.mark.parametrize("path", [None, 5, ""])
def test_paths_that_are_none(ens, path):
    for action in (ens.save, Ensemble.load):
        refuses("must be the path of a folder", action, path)


def test_a_table_that_looks_transposed_is_warned_of():
    rows = [[0] * 12 + [1] * 12 + [2] * 12, [1, 0, 2] * 12, [0, 1, 1] * 12]
    for table in (np.array(rows), pd.DataFrame(rows)):
        with pytest.warns(
            UserWarning, match="36 clusterings of 3 objects, since a column is a clustering: .* transpose"
        ):
            Ensemble(table)
    assert Ensemble(rows).n_objects == Ensemble(np.array(rows).T).n_objects == 36  # without a word
