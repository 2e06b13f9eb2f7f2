"""The gallery tells the truth: its scripts print what its pages say, draw a picture, and are all listed."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from doc_pages import ROOT

pytestmark = pytest.mark.full_effort

GALLERY = ROOT / "docs" / "gallery"
NAMES = sorted({path.stem for path in GALLERY.glob("*.py")} - {"make", "screen"})
QUICK = {"alternative", "sites"}
PLAYED = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in NAMES]
NEEDS = {"cells": "scanpy", "customers": "uvicorn", "digits": "uvicorn"}


def printed(name: str) -> str:
    """What a page says that its script prints."""
    page = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
    found = re.search(r"^## What it prints\n\n```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert found, f"{name}.md has no output"
    return found[1]


@pytest.mark.parametrize("name", PLAYED)
def test_a_script_prints_what_its_page_says_and_draws(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(GALLERY))
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr()
    assert said.out == printed(name)
    assert (tmp_path / f"{name}.png").exists() or f"no {name}.png" in said.err


def test_every_script_has_a_page_with_a_picture_and_is_in_the_index() -> None:
    assert len(NAMES) == 8
    index = (GALLERY / "index.md").read_text(encoding="utf-8")
    maker = (GALLERY / "make.py").read_text(encoding="utf-8")
    assert "{" not in index, "markup that only the site reads"
    for name in NAMES:
        page = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
        assert re.search(rf"^!\[.+\]\({name}\.png\)$", page, re.MULTILINE), f"{name} has no picture"
        assert f"[{name}.py]({name}.py)" in page, f"{name} does not link to its script"
        assert len(printed(name)) > 100
        assert f"]({name}.png)]({name}.md)\n" in index, f"{name} has no picture in the index"
        assert f'"{name}"' in maker, f"make.py does not make {name}"
        picture = (GALLERY / f"{name}.png").read_bytes()
        assert picture[:4] == b"\x89PNG", name
        assert len(picture) < 200_000, f"{name}.png"
