"""The gallery tells the truth: its scripts print what its pages say, draw a picture, and are all listed."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from doc_pages import ROOT

GALLERY = ROOT / "docs" / "gallery"
NAMES = sorted({path.stem for path in GALLERY.glob("*.py")} - {"make", "screen"})
QUICK = {"alternative", "sites"}
PLAYED = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in NAMES]
NEEDS = {"cells": "scanpy", "customers": "uvicorn", "digits": "uvicorn"}


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
    assert said.out == (GALLERY / f"{name}.txt").read_text(encoding="utf-8")
    assert (tmp_path / f"{name}.png").exists() or f"no {name}.png" in said.err


def test_every_script_has_a_page_with_a_picture_and_is_in_the_index() -> None:
    assert len(NAMES) == 8
    index = (GALLERY / "index.md").read_text(encoding="utf-8")
    maker = (GALLERY / "make.py").read_text(encoding="utf-8")
    for name in NAMES:
        page = (GALLERY / f"{name}.md").read_text(encoding="utf-8")
        assert {f"{name}.png", f"{name}.txt", f"{name}.py"} <= set(re.findall(rf"\b{name}\.\w+", page))
        assert f":link: {name}\n" in index, f"{name} has no card"
        assert re.search(rf"^{name}$", index, re.MULTILINE), f"{name} is not in the toctree"
        assert f'"{name}"' in maker, f"make.py does not make {name}"
        picture = (GALLERY / f"{name}.png").read_bytes()
        assert picture[:4] == b"\x89PNG", name
        assert len(picture) < 200_000, f"{name}.png"
