"""Labels come out as they went in: text, text like 007, booleans, numbers, categories, missing ones."""

import copy
import pickle
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import answer, ran
from consilience import Ensemble
from consilience.consensus import BCE, MixtureModel
from consilience.explorer import Server
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.explorer.sources import open_clusterings
from consilience.reports.plane import plane_of
from explorer_cases import post
from page_server import press, visit
from samples import refuses, same

KINDS = {
    "text": ["T cell", "B cell", "T cell", "NK, activated"],
    "text of numbers": ["007", "7", "07", "007"],
    "text that looks missing": ["NA", "-1", "", "NA"],
    "text with NUL": ["a\0", "a", "a\0b", "a\0"],
    "booleans": [True, False, True, True],
    "only true": [True, True, True, True],
    "integers": [7, 3, 3, 12],
    "negative integers": [-5, 3, -2, 3],
    "huge integers": [2**70, 0, 2**70, -(2**62)],
    "codes": [0, 2, 1, 0],
    "floats": [1.0, 5.0, 1.0, 2.0],
    "floats that are codes": [1.0, 0.0, 1.0, 2.0],
    "mixed": ["a", 1, True, "b"],
    "missing": ["T cell", None, "B cell", None],
    "missing integers": [7, None, 3, 7],
    "missing booleans": [True, None, False, True],
    "all missing": [None, None, None, None],
}


def ensemble():
    return Ensemble(KINDS, ids=["p", "q", "r", "s"])


@pytest.mark.parametrize("name", KINDS)
def test_labels_come_out_as_they_went_in(tmp_path, name):
    given = [None if label == -1 and not isinstance(label, str) else label for label in KINDS[name]]
    if name == "mixed":
        given = ["a", 1, 1, "b"]  # Python's 1 and True are equal
    ens = ensemble()
    ens.save(tmp_path / "run")
    forms = [
        ens,
        Ensemble.load(tmp_path / "run"),
        Ensemble(ens),
        Ensemble.concat([Ensemble([[0, 1, 1, 0]], ids=ens.ids), ens])[:, 1:],
        copy.deepcopy(ens),
        pickle.loads(pickle.dumps(ens)),
        Ensemble.from_codes(ens.labels, label_names=ens.label_names, info=ens.info, ids=ens.ids),
        Ensemble(ens.to_frame()),
        Ensemble(ens[::-1].to_frame())[::-1],
    ]
    for form in forms:
        same(form.named_labels(name), given)
        same(form[[3, 1]].named_labels(name), [given[3], given[1]])
        same(form[:, [name]].named_labels(0), given)
        column = form.to_frame()[name]
        assert column.astype(object).where(column.notna(), None).tolist() == given
        assert form.to_frame().index.tolist() == ["p", "q", "r", "s"]


def test_codes_have_no_names_and_typed_columns_stay_typed():
    ens = Ensemble({"codes": [1, 0, 1], "gaps": [4, 0, 4], "sure": [True, False, True], "share": [2.0, 4.0, 2.0]})
    assert ens.label_names[0] is None
    assert [names.tolist() for names in ens.label_names[1:]] == [[0, 4], [False, True], [2.0, 4.0]]
    assert [dtype.kind for dtype in ens.to_frame().dtypes] == ["i", "i", "b", "f"]
    assert ens.to_frame().index.equals(pd.RangeIndex(3))
    with pytest.raises(ValueError, match="read-only"):
        ens.label_names[1][0] = 9


def test_a_selection_keeps_the_names_and_an_ensemble_of_it_those_that_occur():
    ens = Ensemble({"type": ["a", "b", "c"], "gaps": [0, 1, 5]})
    some = ens[[2]]
    assert some.labels.tolist() == [[2, 2]]
    assert some.label_names[0] is ens.label_names[0]
    assert some.categories("type").tolist() == ["a", "b", "c"]
    compact = Ensemble(some)
    assert compact.labels.tolist() == [[0, 0]]
    assert [names.tolist() for names in compact.label_names] == [["c"], [5]]
    codes = Ensemble(Ensemble.from_codes([[0], [2], [4]]))
    assert codes.categories(0).tolist() == [0, 2, 4]


def test_align_by_name():
    ens = Ensemble({"type": ["T", "B", "T"], "run": [0, 1, 2], "batch": [10, 20, 30], "none": [None] * 3})
    new = ens.align({"type": ["B", "new", None], "run": [2, 3, 0], "batch": [30, 5, 10.0], "none": ["x", "y", "x"]})
    assert new.labels.T.tolist() == [[0, 2, -1], [2, 3, 0], [2, 3, 0], [0, 1, 0]]
    same(new.named_labels("type"), ["B", "new", None])
    assert new.categories("type").tolist() == ["B", "T", "new"]
    assert ens.align(ens[[1, 0]]).labels.tolist() == ens.labels[[1, 0]].tolist()
    assert Ensemble([[True, False]]).align([[1, 0]]).labels.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ([[0, 1]], "2 clusterings cannot be matched with 1 clustering: give as many, in the same order"),
        ({"type": [1, 2], "run": [0, 1]}, "'type': the label 1 is a number, and those it is matched with are text"),
        ({"type": ["a", "b"], "run": ["0", "1"]}, "'run': the label '0' is text, and .* are numbers"),
        ({"run": [0, 1], "type": ["a", "b"]}, "clustering 'run' is given in the place of 'type': keep their order"),
    ],
)
def test_align_refuses(other, said):
    refuses(said, Ensemble({"type": ["a", "b"], "run": [0, 1]}).align, other)


def test_from_codes_takes_contiguous_codes_as_they_are():
    codes = np.array([[0, 5], [-1, 5]], np.int32)
    ens = Ensemble.from_codes(codes, info={"name": ["a", "b"]}, ids=[3, 4])
    assert np.shares_memory(ens.labels, codes)
    assert codes.flags.writeable
    assert not ens.labels.flags.writeable
    assert ens.labels.tolist() == codes.tolist()
    assert ens.label_names == [None, None]
    assert ens.n_clusters.tolist() == [1, 1]
    assert ens.names == ["a", "b"]


@pytest.mark.parametrize(
    ("codes", "label_names", "said"),
    [
        ([0, 1], None, r"objects × clusterings; got int64 of shape \(2,\): Ensemble\(labels\) takes labels"),
        ([[0.0]], None, "codes must be whole numbers, objects × clusterings; got float64"),
        (np.empty((0, 2), int), None, "codes must be whole numbers, objects × clusterings"),
        ([[-2]], None, "codes must be −1"),
        ([[2**40]], None, "codes must be −1"),
        ([[0]], [None, None], "label_names has 2 entries for 1 clustering"),
        ([[0], [1]], [["a"]], "clustering 0 has the code 1 and only 1 label name"),
    ],
)
def test_from_codes_refuses(codes, label_names, said):
    refuses(said, Ensemble.from_codes, codes, label_names=label_names)


@pytest.mark.parametrize("choice", [55, "nobody", [0, 1], slice(2)])
def test_one_clustering_is_asked_for(choice):
    refuses("clustering", ensemble().named_labels, choice)
    assert ensemble().named_labels(-1).tolist() == [None] * 4


GROUPS = {
    "text": ["T cell", "B cell", "NK, activated"],
    "zeros": ["007", "07", "7"],
    "booleans": [True, False, True],
    "integers": [12, 3, 7],
    "some": ["T cell", None, "B cell"],
    "some zeros": ["007", None, "010"],
    "some integers": [3, None, 12],
    "some booleans": [True, None, False],
}  # three labels of each kind


@pytest.fixture
def groups(tmp_path):
    """A table of one clustering of each kind, of 24 objects, and what is in it."""
    turn = np.arange(24)[:, None] // [8, 4, 6, 3, 6, 5, 2, 8] % 3
    given = {name: [GROUPS[name][code] for code in turn[:, q]] for q, name in enumerate(GROUPS)}
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in given.items()})
    frame.insert(0, "cell", [f"{i:03}" for i in range(24)])
    frame.to_csv(tmp_path / "labels.csv", index=False)
    return SimpleNamespace(path=tmp_path / "labels.csv", given=given, frame=frame, ids=frame["cell"].tolist())


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_csv_ensemble_store_explorer_csv(groups, tmp_path, form):
    ens = Ensemble(groups.path, id_column="cell")
    ens.save(tmp_path / "run")
    api = Api(open_clusterings(tmp_path / "run").session())
    items = [{"ref": f"{q}m"} for q in range(ens.n_clusterings)]
    exported = tmp_path / f"exported.{form}"
    exported.write_bytes(post(api, "export", format=form, items=items).body)
    back = Ensemble(exported, id_column="id")
    assert back.names == list(GROUPS)
    assert back.ids.tolist() == groups.ids
    for name, given in groups.given.items():
        same(ens.named_labels(name), given)
        same(back.named_labels(name), given)
    table = ens.to_frame().rename_axis("cell")
    table.to_csv(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == groups.path.read_bytes()


@pytest.mark.slow
def test_the_page_in_a_browser_calls_clusters_by_their_names(browser, groups):
    ens = Ensemble(groups.path, id_column="cell")[:, ["text", "zeros"]]
    with Server(Session(ens, n_groups=2)) as server, visit(browser, server.url) as seen:
        page = seen.page
        press(page, "1")
        page.locator("#panel-detail .bars .number", has_text="NK, activated").wait_for()
        press(page, "2", "x")
        page.locator("#panel-compare .flow text").first.wait_for()
        texts = page.locator("#panel-compare .flow text").all_text_contents()
        assert {text.split(": ")[0] for text in texts} == {"T cell", "B cell", "NK, activated", "007", "07", "7"}
        press(page, "1")
        xy = plane_of(ens, None).xy
        box = page.locator(".big-picture").bounding_box()
        across, up = map(float, xy[int(np.argmax(xy[:, 0]))])
        page.mouse.move(box["x"] + 6 + across * (box["width"] - 12), box["y"] + 6 + (1 - up) * (box["height"] - 12))
        page.locator(".big-picture .tip", has_text=re.compile("cluster (T cell|B cell|NK, activated)")).wait_for()


@pytest.mark.slow
def test_a_consensus_of_named_labels(groups, tmp_path):
    """Names do not change it, ids stay as they are, and known labels are told by their names."""
    ens = Ensemble(groups.path, id_column="cell")
    one = cs.combine(ens, 3, "vote")
    codes = cs.combine(Ensemble.from_codes(ens.labels, ids=ens.ids), 3, "vote")
    np.testing.assert_array_equal(one.labels, codes.labels)
    np.testing.assert_array_equal(one.confidence, codes.confidence)
    assert one.to_frame()["id"].tolist() == groups.ids
    ran("combine", groups.path, "--id", "cell", "-k", 3, "-o", tmp_path / "one.csv", "--save", tmp_path / "kept")
    written = pd.read_csv(tmp_path / "one.csv", dtype=str)
    assert written["cell"].tolist() == groups.ids
    assert type(one).load(tmp_path / "kept").ids.tolist() == groups.ids
    names = ("text", "zeros", "booleans", "some zeros", "some integers")
    known = [word for name in names for word in ("--known", name)]
    ran("report", groups.path, tmp_path / "page.html", "--id", "cell", *known, "-g", 2, "--n-shuffles", 0,
         "--figures", tmp_path / "parts")  # fmt: skip
    clusters = pd.read_csv(tmp_path / "parts" / "clusters.csv", dtype=str, keep_default_na=False)
    for name in names:
        shown = set(clusters[f"most_frequent_{name}"]) - {""}
        assert shown <= {str(label) for label in GROUPS[name] if label is not None}, name


@pytest.mark.parametrize("name", GROUPS)
def test_what_contrast_was_given_keeps_its_names(groups, tmp_path, name):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(24, 3)) + np.arange(24)[:, None] % 2 * [4, 0, 0], columns=["x", "y", "z"])
    told = {str(label) for label in GROUPS[name] if label is not None}
    found = cs.contrast(data, given={name: groups.given[name]}, n_clusters=2)
    same(found.given.named_labels(name), groups.given[name])
    assert set(found.groups["name"]) == told
    found.save(tmp_path / "kept")
    again = type(found).load(tmp_path / "kept")
    same(again.given.named_labels(name), groups.given[name])
    data.insert(0, "cell", groups.ids)
    data.to_csv(tmp_path / "data.csv", index=False)
    words = ("contrast", tmp_path / "data.csv", "--id", "cell", "--given", name, "--given-from", groups.path, "-k", 2)
    assert {row["group"] for row in answer(*words)["groups"]} == told
    ran(*words, "-o", tmp_path / "new.csv")
    assert pd.read_csv(tmp_path / "new.csv", dtype=str)["cell"].tolist() == groups.ids


@pytest.mark.parametrize("model", [MixtureModel, BCE])
def test_new_rows_of_a_file_are_matched_by_name(groups, tmp_path, model):
    """Whatever the labels are and in whatever order they come, also where a file has only some of them."""
    ens = Ensemble(groups.path, id_column="cell")
    found = model(3, random_state=0).fit(ens)
    assert found.label_codes_[1] == {name: code for code, name in enumerate(sorted(GROUPS["zeros"]))}
    expected = found.predict_proba(ens)
    for rows in (slice(None, None, -1), slice(0, 8), slice(16, 24)):
        groups.frame[rows].to_csv(tmp_path / "new.csv", index=False)
        new = Ensemble(tmp_path / "new.csv", id_column="cell", columns=list(GROUPS))
        np.testing.assert_allclose(found.predict_proba(new), expected[rows], atol=1e-9)
