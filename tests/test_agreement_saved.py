"""An agreement on disk and back."""

import json
import os
import shutil

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience._names import unique_names
from consilience.agreement import Agreement
from consilience.inputs import as_ensemble
from samples import block_counts

SIDES = ("rows", "columns")


def steps(found):
    return [found.before, *found.iterations]


def assert_same(one, other):
    for mine, theirs in zip(steps(one), steps(other), strict=True):
        for a, b in ((mine.rows, theirs.rows), (mine.columns, theirs.columns)):
            assert a.labels.dtype == b.labels.dtype
            np.testing.assert_array_equal(a.labels, b.labels)
            np.testing.assert_array_equal(a.ids, b.ids)
            pd.testing.assert_frame_equal(a.info, b.info, check_dtype=False, check_column_type=False)
    for name in ("objective", "empty_rows", "empty_columns", "source"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.fixture(scope="module")
def named():
    """Named rows and columns, one of each without counts."""
    table = block_counts(n=40, d=30, k=3, own=0.2)[0].toarray()
    table[3], table[:, 5] = 0, 0
    frame = pd.DataFrame(table, index=[f"doc{i}" for i in range(40)], columns=[f"word{j}" for j in range(30)])
    return cs.agree(frame, 3, 8, n_clusterings=3, max_iter=2, model="mdc_plain")


@pytest.fixture(scope="module")
def kept(named, tmp_path_factory):
    folder = tmp_path_factory.mktemp("agreements") / "found"
    named.save(folder)
    return folder


@pytest.fixture
def copy(kept, tmp_path):
    """A copy to damage."""
    return shutil.copytree(kept, tmp_path / "copy")


def test_what_was_saved_comes_back(named, kept):
    again = Agreement.load(kept)
    assert_same(named, again)
    assert again.after is again.iterations[-1]
    np.testing.assert_array_equal(as_ensemble(kept).labels, named.after.rows.labels)
    assert as_ensemble(kept).ids.tolist() == again.ids.tolist()
    pd.testing.assert_frame_equal(again.to_frame(), named.stability_by_iteration())
    for side in SIDES:
        whole = cs.Ensemble.load(kept / side)
        assert whole.info["iteration"].tolist() == [0] * 3 + [1] * 3 + [2] * 3
        assert whole.info["run"].tolist() == [0, 1, 2] * 3
        np.testing.assert_array_equal(whole.labels[:, -3:], getattr(named.after, side).labels)
    header = json.loads((kept / "result.json").read_text())
    assert (header["kind"], header["n_clusterings"], header["n_iter"]) == ("Agreement", 3, 2)
    assert (header["empty_rows"], header["source"]) == ([3], "DataFrame")
    assert 5 in header["empty_columns"]


def test_without_names_and_with_as_few_as_one_clustering(tmp_path):
    found = cs.agree(block_counts(n=40, d=30, k=2)[0], 2, n_clusterings=1, max_iter=1)
    found.save(tmp_path)  # an empty folder will do
    assert_same(found, Agreement.load(tmp_path))


def test_clusterings_of_ones_own_keep_their_numbers_and_what_is_known_of_them(tmp_path):
    table, truth, _ = block_counts(n=40, d=30, k=3)
    info = {"name": ["a", "b"], "run": [7, 8], "iteration": ["x", "y"], "number": [1, 2]}
    info["scores"] = [{"ari": 0.5}, None]
    mine = cs.Ensemble(np.column_stack([truth, truth * 0 + np.arange(40) % 3]), info=info)
    found = cs.agree(table, rows=mine[:, :], columns=[np.arange(30) % 4] * 3, max_iter=1)
    found.save(tmp_path / "a")
    assert_same(found, Agreement.load(tmp_path / "a"))


def part(folder, side):
    return next((folder / side).glob("part-*.parquet"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: rewrite(folder, objective="many"), "copy is damaged, or written by another version"),
        (lambda folder: rewrite(folder, n_clusterings=2), "rows does not hold 2 clusterings of each of 3 steps"),
        (
            lambda folder: os.truncate(part(folder, "rows"), 500),
            r"damaged: .*part-.*parquet is left out: it does not match",
        ),
        (lambda folder: os.remove(part(folder, "columns")), "columns: the store holds no finished clustering"),
        (lambda folder: os.remove(folder / "rows" / "ids.parquet"), r"ids\.parquet is left out: it is missing"),
    ],
)
def test_damage_is_named(copy, damage, words):
    damage(copy)
    with pytest.raises(InputError, match=words) as caught:
        Agreement.load(copy)
    assert "\n" not in str(caught.value)


def rewrite(folder, **changes):
    path = folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_names_become_distinct():
    names = ["a", "b", "a", "a (2)", "", None, np.nan, "a"]
    assert unique_names(names) == ["a", "b", "a (2)", "a (2) (2)", "4", "5", "6", "a (3)"]
