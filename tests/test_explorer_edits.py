"""Clusters edited by hand, exported as such, and sessions that are kept and sent."""

import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience._check import InputError
from consilience.explorer.api import Api
from consilience.explorer.calls.tray_and_session_file import open_session, session_text
from consilience.explorer.edits import Edited, clean, distinct_names, seen_in
from consilience.explorer.explorer_json import FILE, Kept
from consilience.explorer.session import Session
from consilience.explorer.sources import open_clusterings
from explorer_cases import arrays, ask, codes, drop, finish, holes_session, post, stored_session
from test_explorer_export import run_snippet


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("edits") / "run"


@pytest.fixture(scope="module")
def api(folder: Path) -> Api:
    found = Api(stored_session(folder))
    found.session.kept._path = None
    return found


def edit(api: Api, ref: str, do: str, **how: Any) -> str:
    """The ref of what comes out."""
    told = post(api, "edit", 200, ref=ref, do=do, origin="group 1 consensus", **how)
    return str(told["edited"]["ref"])


def labels_of(api: Api, ref: str) -> list[str | None]:
    header, found = arrays(api, f"labels/{ref}")
    return [None if code < 0 else header["items"][0]["names"][code] for code in codes(found["labels"][0])]


def edited_twice(api: Api) -> tuple[str, np.ndarray]:
    """A consensus after one edit of every kind, and the codes of the consensus."""
    base = str(api.session.snapshot.top(api.session.snapshot.meta.nodes[0], "c"))
    before = codes(arrays(api, f"labels/{base}")[1]["labels"][0])
    ref = edit(api, base, "rename", cluster="2", name="warm")
    ref = edit(api, ref, "merge", clusters=["0", "warm"], name="")
    ref = edit(api, ref, "move", rows=[3, 4, 5], name="odd ones")
    return edit(api, ref, "split", cluster="1", by="7m"), before


def test_every_kind_of_edit_does_what_it_says(api: Api) -> None:
    ref, before = edited_twice(api)
    by = codes(arrays(api, "labels/7m")[1]["labels"][0])
    wanted = [{0: "0 + warm", 2: "0 + warm"}.get(one, str(one)) for one in before]
    for row in (3, 4, 5):
        wanted[row] = "odd ones"
    wanted = [f"1 · {by[row]}" if name == "1" else name for row, name in enumerate(wanted)]
    assert labels_of(api, ref) == wanted
    (told,) = [one for one in ask(api, "session")["edits"] if one["ref"] == ref]
    detail = ask(api, f"detail/{ref}")
    assert told["origin"] == detail["made"]["edited from"] == "group 1 consensus"
    assert told["edits"][:3] == ["2 renamed to warm", "0 and warm merged to 0 + warm", "3 objects put into odd ones"]
    assert detail["sizes"] == [wanted.count(name) for name in detail["names"]]
    assert set(detail["names"]) == set(wanted), "a cluster that lost all objects is gone"
    assert ask(api, f"compare/7m/{ref}")["names"][1] == detail["names"]
    assert ask(api, f"objects/{ref}", start=3, count=1)["rows"][0]["name"] == "odd ones"


def test_an_edit_is_a_clustering_of_its_own_that_lasts_through_other_trees(api: Api) -> None:
    first = edit(api, "3m", "rename", cluster="0", name="a")
    assert edit(api, "3m", "rename", cluster="0", name="a") == first, "the same edit is the same clustering"
    second = edit(api, first, "rename", cluster="a", name="b")
    assert labels_of(api, first) != labels_of(api, second)
    before = labels_of(api, second)
    post(api, "linkage", 200, linkage="average")
    assert labels_of(api, second) == before
    post(api, "linkage", 200, linkage="ward")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"do": "rename", "cluster": "9", "name": "a"}, "there is no cluster '9'"),
        ({"do": "rename", "cluster": "0", "name": "1"}, "merge the two"),
        ({"do": "rename", "cluster": "0", "name": "  "}, "1 to 80 letters"),
        ({"do": "merge", "clusters": ["0"]}, "at least two"),
        ({"do": "move", "rows": [], "name": "a"}, "at least 1 object"),
        ({"do": "move", "rows": [10**6], "name": "a"}, "there is no object"),
        ({"do": "split", "cluster": "0", "by": "3m"}, "all objects of '0' together"),
        ({"do": "paint"}, "do must be one of"),
    ],
)
def test_what_cannot_be_done_is_said(api: Api, how: dict[str, Any], words: str) -> None:
    assert words in post(api, "edit", 404 if "no object" in words else 400, ref="3m", **how)["error"]


def test_why_and_components_are_of_what_was_edited(api: Api) -> None:
    m = api.session.snapshot.n_clusterings
    for base in ("3m", f"{m}.{2 * m - 3}c"):
        ref = edit(api, base, "rename", cluster="0", name="a")
        for kind in ("why", "components"):
            assert ask(api, f"{kind}/{ref}") == ask(api, f"{kind}/{base}")
    post(api, "linkage", linkage="average")
    assert "by ward linkage" in ask(api, f"why/{ref}", 400)["error"]
    ask(api, "labels/5e", 404)


def test_exports_have_the_names_and_python_makes_them_again(api: Api) -> None:
    ref, _ = edited_twice(api)
    medoid = edit(api, "11m", "rename", cluster="1", name="=cold")
    items = [{"ref": ref, "name": "mine"}, {"ref": medoid, "name": "yours"}]
    table = pd.read_csv(io.BytesIO(post(api, "export", 200, format="csv", items=items, assessed=True).body), dtype=str)
    assert list(table) == ["bead", "mine", "yours"]
    assert table["mine"].tolist() == labels_of(api, ref)
    assert "'=cold" in set(table["yours"]), "a spreadsheet must not run it"
    content = post(api, "export", 200, format="json", items=items)
    assert content.content_type.startswith("application/json")
    told = json.loads(content.body)
    assert told["clusterings"]["mine"]["edited_from"] == "group 1 consensus"
    assert told["columns"]["mine"] == labels_of(api, ref)
    labels = run_snippet(post(api, "export", 200, format="python", items=items))
    assert labels["mine"].tolist() == labels_of(api, ref)
    assert labels["yours"].tolist() == labels_of(api, medoid)


@pytest.mark.filterwarnings("ignore:Transforming to str index")  # AnnData 0.10's own, where there are no columns
def test_names_of_a_file_and_gaps_are_edited_too(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    frame = pd.DataFrame({"a": ["T cell", "B cell", None, "B cell"], "b": ["x", "x", "y", "y"]})
    api = Api(open_clusterings(frame, kind="labels").session())
    ref = edit(api, "0m", "merge", clusters=["T cell", "B cell"], name="lymphocyte")
    assert labels_of(api, ref) == ["lymphocyte", "lymphocyte", None, "lymphocyte"]
    reply = post(api, "export", 200, format="h5ad", items=[{"ref": ref, "name": "kind"}, {"ref": "1m", "name": "b"}])
    path = tmp_path / "labels.h5ad"
    path.write_bytes(reply.body)
    obs = anndata.read_h5ad(path).obs
    assert obs["kind"].astype(object).where(obs["kind"].notna(), None).tolist() == labels_of(api, ref)
    assert obs["b"].tolist() == ["x", "x", "y", "y"]


def test_missing_labels_stay_missing() -> None:
    api = Api(holes_session())
    missing = api.session.snapshot.meta.ensemble.labels < 0
    base = int(missing.any(axis=0).argmax())
    ref = edit(api, f"{base}m", "rename", cluster="0", name="zero")
    assert [one is None for one in labels_of(api, ref)] == missing[:, base].tolist()


def test_edits_and_view_are_there_tomorrow_and_on_another_machine(folder: Path, tmp_path: Path) -> None:
    first = Api(stored_session(folder))
    ref = edit(first, "3m", "rename", cluster="0", name="mine")
    lost = edit(first, ref, "rename", cluster="mine", name="not kept")
    post(first, "linkage", 200, linkage="average")
    post(first, "known", 200, name="picked", value="odd", rows=[1, 2])
    entry = {"ref": ref, "name": "named", "note": "a note", "of": "x"}
    view = {"address": f"v=1&run=x&sel={ref}", "plane": "", "colors": "picked"}
    post(first, "tray", 200, tray=[entry], view=view)
    again = Api(stored_session(folder))
    told = ask(again, "session")
    assert (told["tray"], told["linkage"], told["view"]["address"]) == ([entry], "average", view["address"])
    assert [one["ref"] for one in told["edits"]] == [ref], "what is neither in the tray nor in view is let go"
    assert labels_of(again, ref) == labels_of(first, ref)
    ask(again, f"labels/{lost}", 404)

    file = tmp_path / "sent.json"
    file.write_bytes(again.call("GET", "/api/kept").body)
    (folder / FILE).unlink()
    other = stored_session(folder)
    open_session(other, file)
    told = ask(Api(other), "session")
    assert (told["tray"], told["linkage"], told["saved"]) == ([entry], "average", ["picked"])
    assert labels_of(Api(other), ref) == labels_of(first, ref)
    open_session(other, file)
    assert list(other.saved) == ["picked"], "the same label is not there twice"
    (folder / FILE).unlink()


def test_a_session_of_another_run_is_refused_in_a_sentence(folder: Path, tmp_path: Path) -> None:
    text = session_text(stored_session(folder))
    strangers = holes_session()
    damaged = json.loads(session_text(strangers)) | {"edits": [{"codes": "AAAA"}]}
    refused = [(text, "is of another run"), (json.dumps(damaged), "damaged")]
    for content, words in [*refused, ("{", "not a session"), ("[]", "not a session"), ("{}", "not a session")]:
        (tmp_path / "session.json").write_text(content, "utf-8")
        with pytest.raises(InputError, match=words):
            open_session(strangers, tmp_path / "session.json")


def test_labels_of_a_file_are_checked() -> None:
    one = Edited(np.array([0, 1, -1], np.int32), ["a", "b"], "3m", "ward", "x", 16 * "0").rename("a", "c")
    good = json.loads(one.written)
    assert Edited.parsed(good, 3).names == ["c", "b"]
    split = {"do": "split", "cluster": "c", "by": "3m", "linkage": "ward", "seen": 16 * "0", "names": {"0": "d"}}
    assert Edited.parsed({**good, "steps": [split]}, 3).steps == (split,)
    wrongs: list[dict[str, Any]] = [{"names": ["c"]}, {"names": ["c", "c"]}, {"base": 3}, {"base": "3m)"}]
    wrongs += [{"linkage": "x = 1"}, {"origin": "x\nimport os"}, {"steps": [{"do": "paint"}]}]
    wrongs += [{"steps": [{**split, **one}]} for one in ({"by": 4}, {"linkage": None}, {"names": ["d"]})]
    below = np.array([0, 1, -7], np.int32)
    wrongs += [{"codes": json.loads(Edited(below, ["a", "b"], "3m", "ward", "x", 16 * "0").written)["codes"]}]
    wrongs += [{"seen": 3}, {"steps": [{"do": "move", "rows": 3, "name": "d"}]}]
    wrongs += [{"steps": [{"do": "merge", "clusters": [1, 2], "name": "d"}]}]
    for wrong in wrongs:
        with pytest.raises((ValueError, KeyError, TypeError)):
            Edited.parsed({**good, **wrong}, 3)
    with pytest.raises(ValueError, match="other objects"):
        Edited.parsed(good, 4)


LETTERS = st.text(st.sampled_from("ab \t\u00a0\u200f\ud800·"), max_size=90)


@given(st.lists(LETTERS, min_size=2, max_size=5), LETTERS, LETTERS)
def test_what_a_call_takes_is_read_from_the_file_as_it_was(names: list[str], origin: str, new: str) -> None:
    codes = np.arange(12, dtype=np.int32) % len(names)
    first = Edited(codes, distinct_names(names), "3m", "ward", clean(origin), seen_in(codes))
    assert all(first.names)
    assert len(set(first.names)) == len(names)
    parts = np.arange(12) // len(names) % 2
    made = [
        first,
        first.split(first.names[0], "4m", "ward", parts, distinct_names(names)),
        first.merge(first.names[:2]),
    ]
    if clean(new) and clean(new) not in first.names and len(new) <= 80:
        made.append(first.rename(first.names[0], new))
    for one in made:
        again = Edited.parsed(json.loads(one.written), 12)
        assert (again.names, again.origin, again.number) == (one.names, one.origin, one.number)


@pytest.mark.parametrize(
    "labels",
    [["T cell", "T cell ", "B"], ["x" * 80 + "1", "x" * 80 + "2", "B"], [" ", "a", "B"], ["a\u00a0", "\t", "B"]],
)
def test_names_that_are_alike_are_edited_and_there_at_the_next_start(labels: list[str], tmp_path: Path) -> None:
    names = np.array(labels, object)
    frame = pd.DataFrame({f"run\u00a0{i}": names[np.arange(30) // (i + 1) % 3] for i in range(3)})
    session = open_clusterings(frame, kind="labels").session()
    session.kept = Kept(tmp_path, 30)
    session.edited = session.snapshot.edited = session.kept.edits
    api = Api(session)
    came = [name for name in ask(api, "detail/1m")["names"] if name != "B"]
    ref = post(api, "edit", 200, ref="1m", do="merge", clusters=came, name="both")["edited"]["ref"]
    again = post(api, "edit", 200, ref=ref, do="rename", cluster="B", name="beta\t")["edited"]["ref"]
    post(api, "tray", 200, tray=[{"ref": again, "name": "", "note": "", "of": ""}])
    kept = Kept(tmp_path, 30)
    assert (kept.note, [f"{number}e" for number in kept.edits]) == ("", [again])
    assert set(next(iter(kept.edits.values())).names) == {"both", "beta"}


def test_calls_answer_while_clusters_are_edited() -> None:
    api = Api(holes_session())
    failed, stop = [], Event()

    def look() -> None:
        while not stop.is_set():
            replies = [api.call("GET", f"/api/{path}") for path in ("session", "kept")]
            failed.extend(one.body for one in replies if one.status != 200)

    with ThreadPoolExecutor(3) as readers:
        looks = [readers.submit(look) for _ in range(3)]
        try:
            for number in range(300):
                edit(api, "3m", "rename", cluster="0", name=f"n{number}")
        finally:
            stop.set()
    assert [one.result() for one in looks] == [None] * 3
    assert failed == []


@pytest.mark.slow
def test_the_report_of_a_view_does_not_take_an_edit_for_known_labels() -> None:
    truth = np.repeat(["a", "b", "c"], 10)
    table = np.random.default_rng(0).integers(0, 3, (30, 6))
    api = Api(Session(cs.Ensemble(table), known={"type": truth}))
    ref = edit(api, "3m", "rename", cluster="0", name="warm")
    pages = []
    for name in ("mine", "type"):
        job = post(api, "jobs", 202, kind="report", m=6, nodes=[10], top=10, ref=ref, name=name)
        assert finish(api, job["id"])["state"] == "done"
        pages.append(api.call("GET", f"/api/report/{job['id']}").body.decode())
    assert "follows mine" not in pages[0]
    assert "purity: mine" not in pages[0]
    figures = [re.findall(r"purity[^0-9]{0,60}([01]\.[0-9]+)", page) for page in pages]
    assert figures[0] == figures[1] != []


def test_the_report_of_a_view_is_refused_in_a_sentence_and_can_be_canceled(api: Api) -> None:
    snapshot = api.session.snapshot
    m, top = snapshot.n_clusterings, 2 * snapshot.n_clusterings - 2
    left, right = (int(one) for one in snapshot.meta.tree[-1, :2])
    nodes = [left, *(int(one) for one in snapshot.meta.tree[right - m, :2])]  # one group split by hand
    asked = {"kind": "report", "m": m, "ref": "3m"}
    for wrong in ({"nodes": nodes[:2], "top": top}, {"nodes": [], "top": top}, {"nodes": [0], "top": 0}):
        assert "each once" in post(api, "jobs", 400, **asked, **wrong)["error"]
    assert "ask again" in post(api, "jobs", 409, **{**asked, "m": m - 1}, nodes=nodes, top=top)["error"]
    job = post(api, "jobs", 202, **asked, nodes=nodes, top=top)
    drop(api, f"jobs/{job['id']}")
    assert finish(api, job["id"])["state"] == "canceled"
    ask(api, f"report/{job['id']}", 404)
