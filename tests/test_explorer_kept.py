"""Labels, tray and notes kept beside the run."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads
from consilience.explorer.api import Api
from consilience.explorer.kept import FILE, Kept
from consilience.explorer.sources import GenerateOptions, open_clusterings
from consilience.store import Store
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
    assert post(first, "tray", 200, tray=[ENTRY]) == {"lasts": True}
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
    assert post(api, "tray", 200, tray=[ENTRY]) == {"lasts": False}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        json.dumps({"version": 2, "labels": {}, "tray": []}),
        json.dumps({"version": 1, "labels": {"mine": {"warm": [300]}}, "tray": []}),
        json.dumps({"version": 1, "labels": {}, "tray": [{"ref": 3, "name": "", "note": "", "of": ""}]}),
    ],
)
def test_a_file_of_another_kind_is_refused_and_left_alone(run: Path, content: str) -> None:
    (run / FILE).write_text(content)
    with pytest.raises(InputError, match=r"explorer.json is not what the explorer wrote for 300 objects"):
        opened(run)
    assert (run / FILE).read_text() == content


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept(tmp_path / "gone", 4)
    with caplog.at_level(logging.WARNING):
        kept.keep(tray=[ENTRY])
    assert "last until the explorer ends" in caplog.text
    assert (kept.lasts, kept.tray) == (False, [ENTRY])


@pytest.mark.parametrize(
    "tray", ["x", [3], [{"ref": "3m"}], [{**ENTRY, "ref": "../x"}], [{**ENTRY, "note": "x" * 2001}]]
)
def test_a_tray_that_is_none_is_refused(run: Path, tray: object) -> None:
    assert "tray must be" in post(opened(run), "tray", 400, tray=tray)["error"]
