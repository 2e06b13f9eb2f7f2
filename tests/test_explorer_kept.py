"""Labels, tray and notes kept beside the run."""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads
from consilience.ensemble.store import Store
from consilience.explorer.api import Api
from consilience.explorer.edits import Edited, seen_in
from consilience.explorer.explorer_json import FILE, Kept
from consilience.explorer.jobs import Jobs
from consilience.explorer.replies import RefusedError
from consilience.explorer.sources import GenerateOptions, open_clusterings
from explorer_cases import ask, post

ENTRY = {"ref": "3m", "name": "the colors", "note": "über alles", "of": "run.tree"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    cs.generate(load_beads(), 6, 3, store=tmp_path / "run", progress=False)
    return tmp_path / "run"


def opened(run: Path) -> Api:
    return Api(open_clusterings(run, options=GenerateOptions()).session())


def test_what_people_made_is_there_at_the_next_start(run: Path) -> None:
    first = opened(run)
    assert (ask(first, "session")["tray"], ask(first, "session")["lasts"]) == ([], True)
    assert not (run / FILE).exists(), "nothing is written before there is something to keep"
    post(first, "known", 200, name="mine", value="warm", rows=[1, 4])
    post(first, "known", 200, name="mine", value="cold", rows=[2])
    assert post(first, "tray", 200, tray=[ENTRY])["lasts"] is True
    again = opened(run)
    told = ask(again, "session")
    assert (told["saved"], told["tray"]) == (["mine"], [ENTRY])
    saved = again.session.saved["mine"]
    assert saved.classes == ["warm", "cold"]
    assert saved.codes[:6].tolist() == [-1, 0, 1, -1, 0, -1]
    assert Store.open(run).n_clusterings == 6, "the store takes no notice"
    post(again, "tray", 200, tray=[])
    assert ask(opened(run), "session")["tray"] == []
    assert list(opened(run).session.saved) == ["mine"]


def test_memory_alone_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    api = Api(open_clusterings(cs.Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]]), options=GenerateOptions()).session())
    assert post(api, "tray", 200, tray=[ENTRY])["lasts"] is False
    assert list(tmp_path.iterdir()) == []


EMPTY = {"version": 2, "labels": {}, "tray": []}
FOREIGN = [EMPTY, EMPTY | {"version": 1, "labels": {"mine": {"warm": [300]}}}, EMPTY | {"version": 1, "tray": [ENTRY]}]


@pytest.mark.parametrize("content", ["{", "[]", *map(json.dumps, FOREIGN)])
def test_a_file_of_another_kind_is_refused_and_left_alone(run: Path, content: str) -> None:
    (run / FILE).write_text(content)
    with pytest.raises(InputError, match=r"explorer.json is not what the explorer wrote for 300 objects"):
        opened(run)
    assert (run / FILE).read_text() == content


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept(tmp_path / "gone", 4)
    with caplog.at_level(logging.WARNING):
        kept.keep(tray=[ENTRY])
    assert "cannot be written now" in caplog.text
    assert (kept.lasts, kept.tray) == (False, [ENTRY])
    (tmp_path / "gone").mkdir()
    kept.keep(view={})
    assert (kept.lasts, kept.note, Kept(tmp_path / "gone", 4).tray) == (True, "", [ENTRY])


def test_what_is_damaged_is_refused_and_left_alone(tmp_path: Path) -> None:
    codes = np.array([0, 1, 1, 0], np.int32)
    good = Edited(codes, ["a", "b"], "3m", "ward", "x", seen_in(codes))
    view = {"address": "", "plane": "", "colors": "", "linkage": "ward"}
    content = {"version": 2, "labels": {"fine": {"x": [1]}}, "edits": [json.loads(good.written)], "tray": [ENTRY]}
    content["view"] = view
    (tmp_path / FILE).write_text(json.dumps(content))
    kept = Kept(tmp_path, 4)
    assert (list(kept.labels), list(kept.edits), kept.tray, kept.view) == (["fine"], [good.number], [ENTRY], view)
    damage: list[dict[str, Any]] = [{"labels": {"odd": {"x": [row]}}} for row in (9, 2**70, 1.5)]
    damage += [{"tray": [entry]} for entry in ({**ENTRY, "ref": "<b>"}, {**ENTRY, "name": "x" * 5000}, 3)]
    damage += [{"tray": [ENTRY] * 300}, {"view": view | {"linkage": "best"}}]
    damage += [{"edits": [{**json.loads(good.written), "origin": "a\nb"}]}]
    for harm in damage:
        (tmp_path / FILE).write_text(json.dumps(content | harm))
        with pytest.raises(InputError, match="mend it, or move it away"):
            Kept(tmp_path, 4)


def test_a_tray_that_others_changed_is_not_overwritten(run: Path) -> None:
    api = opened(run)
    told = ask(api, "session")["tray_edition"]
    mine = post(api, "tray", 200, tray=[ENTRY], edition=told)["edition"]
    assert "changed elsewhere" in post(api, "tray", 409, tray=[], edition=told)["error"]
    view = {"address": "sel=3m", "plane": "", "colors": ""}
    assert post(api, "tray", 200, view=view)["edition"] == mine, "a view leaves the tray alone"
    assert ask(api, "session")["tray"] == [ENTRY]
    post(api, "tray", 200, tray=[], edition=mine)
    assert ask(opened(run), "session")["tray_edition"] != told, "a server that was started again has another"


def test_edits_that_the_view_names_in_a_list_are_written() -> None:
    kept = Kept(None, 4)
    codes = np.array([0, 1, 1, 0], np.int32)
    for name in ("first", "second", "third"):
        one = Edited(codes, [name, "b"], "3m", "ward", "x", seen_in(codes))
        kept.edits[one.number] = one
    first, second, _ = kept.edits
    kept.keep(view={"address": f"sel=3m&order={first}e%2C{second}e", "plane": "", "colors": "", "linkage": "ward"})
    assert [one["names"][0] for one in json.loads(kept.text())["edits"]] == ["first", "second"]


def test_no_job_begins_while_clusterings_are_taken_away() -> None:
    jobs = Jobs()
    with jobs.held(), pytest.raises(RefusedError, match="a job is running"):
        jobs.start("count", 1, lambda job: None)
    jobs.start("count", 1, lambda job: None)
    jobs.close()


def test_a_tray_that_is_none_is_refused(run: Path) -> None:
    api = opened(run)
    for tray in ("x", [3], [{"ref": "3m"}], [{**ENTRY, "ref": "../x"}], [{**ENTRY, "note": "x" * 2001}]):
        assert "tray must be" in post(api, "tray", 400, tray=tray)["error"]
