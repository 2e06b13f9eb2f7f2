"""What people take away from the explorer is what they saw."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.datasets import load_beads_labels, sample_path
from consilience.ensemble.store import Store
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.explorer.sources import open_clusterings
from explorer_cases import beads_ensemble, beads_session, holes_session, post, stored_session

RISKY = ["=1+1", "+1", "-1", "@sum", "\tx", "\rx", "plain", 'qu"ote', "com,ma", "li\nne"]


def exported(api, form, items, **more):
    return post(api, "export", format=form, items=items, **more)


def rows(reply):
    return list(csv.reader(io.StringIO(reply.body.decode(), newline="")))


def test_csv_holds_the_labels_of_the_ensemble_byte_for_byte_and_parquet_the_same():
    reply = exported(Api(holes_session()), "csv", [{"ref": "0m", "name": "a"}, {"ref": "5m", "name": "b"}])
    ens = load_beads_labels()
    lines = ['"id","a","b"']
    for name, a, b in zip(ens.ids, ens.labels[:, 0], ens.labels[:, 5], strict=True):
        lines.append(f'"{name}",{a if a >= 0 else ""},{b if b >= 0 else ""}')
    assert reply.body.decode() == "\n".join(lines) + "\n"
    assert reply.headers["Content-Disposition"] == 'attachment; filename="consilience.csv"'
    assert reply.content_type == "text/csv; charset=utf-8"
    frame = pd.read_parquet(io.BytesIO(exported(Api(holes_session()), "parquet", [{"ref": "5m", "name": "=b"}]).body))
    assert list(frame) == ["id", "=b"]  # nothing runs in a Parquet file, so nothing is escaped
    assert frame["=b"].fillna(-1).astype(int).tolist() == ens.labels[:, 5].tolist()
    assert frame["id"].tolist() == ens.ids.tolist()


def test_confidence_beside_a_consensus():
    meta = cs.organize(beads_ensemble())
    whole = meta.consensus(meta.branch(112))
    items = [{"ref": "60.112c", "name": "found"}, {"ref": "3m", "name": "one"}]
    table = rows(exported(Api(beads_session()), "csv", items, assessed=True))
    assert table[0] == ["id", "found", "found confidence", "found support", "one"]
    assert [int(row[1]) for row in table[1:]] == whole.labels.tolist()
    np.testing.assert_array_equal([float(row[2]) for row in table[1:]], whole.confidence)
    np.testing.assert_array_equal([float(row[3]) for row in table[1:]], whole.support)


def test_labels_leave_as_they_came_and_ids_under_their_name(tmp_path):
    given = pd.DataFrame({"cell": ["c1", "c2", "c3", "c4"], "type": ["T cell", "B cell", None, "T cell"]})
    given = given.assign(code=["007", "010", "007", None], risky=["=1+1", "b", "b", "=1+1"], number=[3, 3, 5, 5])
    given["plain"] = [0, 1, 1, 0]
    given.to_csv(tmp_path / "mine.csv", index=False)
    opened = open_clusterings(tmp_path / "mine.csv", kind="labels", reading={"id_column": "cell"})
    items = [{"ref": f"{j}m"} for j in range(5)]
    api = Api(opened.session())
    table = rows(exported(api, "csv", items))
    assert table[0] == list(given)
    columns = list(zip(*table[1:], strict=True))[1:4]
    assert columns == [("T cell", "B cell", "", "T cell"), ("007", "010", "007", ""), ("'=1+1", "b", "b", "'=1+1")]
    frame = pd.read_parquet(io.BytesIO(exported(api, "parquet", items).body))
    kept, went = (table.astype(object).where(table.notna(), None).to_numpy().tolist() for table in (frame, given))
    assert kept == went


def test_ids_of_a_frame_have_the_name_of_its_index():
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": [0, 0, 1]}, index=pd.Index(["i", "j", "k"], name="cell"))
    table = rows(exported(Api(open_clusterings(frame, kind="labels").session()), "csv", [{"ref": "0m"}]))
    assert table == [["cell", "a"], ["i", "x"], ["j", "y"], ["k", "x"]]


def test_cells_that_a_spreadsheet_would_run_are_quoted():
    ens = cs.Ensemble([np.arange(len(RISKY)) % 2, np.arange(len(RISKY)) % 3], ids=RISKY)
    table = rows(exported(Api(Session(ens)), "csv", [{"ref": "0m", "name": "=cmd|' /C calc'!A0"}, {"ref": "1m"}]))
    assert table[0] == ["id", "'=cmd|' /C calc'!A0", "1"]
    assert [row[0] for row in table[1:]] == [f"'{name}" for name in RISKY[:6]] + RISKY[6:]
    assert [row[1] for row in table[1:]] == [str(i % 2) for i in range(len(RISKY))]


@pytest.mark.parametrize(
    "ids", [None, [-5, 0, 7], [("a", 1), ("a", 2), ("b", 1)], [1, "x", 2], [1.5, 2.5, 3.5], [True, 0, 7]]
)
def test_ids_of_any_kind_and_without_ids_objects_are_numbered(ids):
    api = Api(Session(cs.Ensemble([[0, 0, 1], [0, 1, 1]], ids=ids and np.fromiter(ids, object))))
    csv_, parquet = (exported(api, form, [{"ref": "1m", "name": "x"}]) for form in ("csv", "parquet"))
    names = [str(one) for one in ids or range(3)]
    assert rows(csv_) == [["id", "x"], *map(list, zip(names, "011", strict=True))]
    assert pd.read_parquet(io.BytesIO(parquet.body))["id"].astype(str).tolist() == names


def test_names_are_made_different():
    api = Api(beads_session())
    items = [{"ref": "1m", "name": name} for name in ("a", "a", "id", "a (2)", "", "", "b confidence", "b")]
    items.append({"ref": "60.112c", "name": "a confidence"})
    expected = ["id", "a", "a (2)", "id (2)", "a (2) (2)", "1", "1 (2)", "b confidence", "b (2)", "a confidence (2)"]
    assert rows(exported(api, "csv", items))[0] == expected


def run_snippet(reply):
    """The labels that an exported snippet makes."""
    made = {}
    exec(compile(reply.body.decode(), "snippet", "exec"), made)
    return made["labels"]


def test_the_python_snippet_makes_the_same_labels_and_prints_them(tmp_path, capsys):
    session = stored_session(tmp_path / "run")
    api, name = Api(session), 'it\'s "mine"\\'
    items = [{"ref": "3m", "name": name}, {"ref": "40.75c", "name": "joint"}, {"ref": "25.40c", "name": "early"}]
    reply = exported(api, "python", items)  # under a name that hides no package
    assert reply.headers["Content-Disposition"] == 'attachment; filename="consilience_labels.py"'
    frame = run_snippet(reply)
    snapshot = session.snapshot
    assert list(frame) == [name, "joint", "early"]
    assert "joint" in capsys.readouterr().out
    for column, item in zip(frame, items, strict=True):
        np.testing.assert_array_equal(frame[column], snapshot.displayed(snapshot.ref(item["ref"])).codes)


def test_the_snippet_gives_labels_as_they_were_given(tmp_path):
    how = {"id_column": "bead", "known": ["shape", "color"]}
    labels = open_clusterings(sample_path("beads_labels.csv"), reading=how).session()
    frame = run_snippet(exported(Api(labels), "python", [{"ref": "2m", "name": "x"}]))
    assert frame["x"].tolist() == load_beads_labels().named_labels(2).tolist()
    with Store.create(tmp_path / "run", n_objects=3) as store:
        store.append([[0, 7], [5, 7], [9, 0]])
    api = Api(open_clusterings(tmp_path / "run").session())
    frame = run_snippet(exported(api, "python", [{"ref": "0m", "name": "x"}, {"ref": "1m", "name": "y"}]))
    assert frame["x"].tolist() == [0, 5, 9]
    assert frame["y"].tolist() == [7, 7, 0]


ONE = {"format": "csv", "items": [{"ref": "1m"}]}
WRONG = [ONE | {"format": "xlsx"}, ONE | {"format": ["csv"]}, {"items": ONE["items"]}]
WRONG += [ONE | {"items": items} for items in ([], [{"ref": "1m"}] * 65)]
WRONG += [ONE | {"items": [{"ref": ref}]} for ref in ("1x", "../1m", 1)]
WRONG += [ONE | {"items": [{"ref": "1m", **more}]} for more in ({"name": "x" * 81}, {"name": None}, {"path": "/etc"})]
WRONG += [ONE | {"assessed": 1}, ONE | {"path": "/tmp/x"}]


def test_what_makes_no_sense_is_refused():
    api = Api(holes_session())
    for body in WRONG:
        assert "error" in post(api, "export", 400, **body), body
    assert "error" in post(api, "export", 404, format="csv", items=[{"ref": "99m"}])
