"""Documents: read by their words; a branch is opened and opened again, more is made of it and taken back, on disk too."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import consilience as cs
from consilience.measures import adjusted_rand
from journeys.steps import consilience, exported, find, journey, keep, settled, tile_of
from page_server import press, said, select_branch, show, state

pytestmark = pytest.mark.slow


def test_an_agreement_is_read_by_its_words(browser: Any, tmp_path: Path, data_folder: Path) -> None:
    file = data_folder / "cluto_tr11.npz"
    consilience(tmp_path, f"agree {file} -k 9 -n 5 --names vocab --save agreed")
    with journey(browser, tmp_path, f"explore agreed --data {file} --known y") as page:
        tile_of(page, "y").click()
        settled(page)
        named = page.locator("#panel-detail .bars .called")
        named.nth(8).wait_for()
        called = named.all_inner_texts()
        assert len(called) == 9
        with np.load(file) as known:
            vocabulary, classes = set(known["vocab"].tolist()), known["y"]
        words = [word for text in called for word in text.split(", ")]
        assert set(words) <= vocabulary
        assert len(words) == 27
        show(page, "Agreement")
        page.locator("#panel-agreement .chart").first.wait_for()
        assert "column " not in page.locator("#panel-agreement").inner_text()
        word = words[0]
        find(page, word, f"found in {word}")
        keep(page, "topics")
        taken = exported(page)
    assert adjusted_rand(taken["topics"], classes) > 0.4


def on_disk(run: Path) -> dict[str, bytes]:
    """Every file of a run but the tray, which is kept at every change."""
    return {
        str(file.relative_to(run)): file.read_bytes()
        for file in sorted(run.rglob("*"))
        if file.is_file() and file.name not in ("explorer.json", "lock")
    }


def test_a_branch_is_opened_twice_and_more_is_made_and_undone(browser: Any, tmp_path: Path, data_folder: Path) -> None:
    file, run = data_folder / "cluto_tr11.npz", tmp_path / "run"
    consilience(tmp_path, f"generate {file} -k 9 -n 60 -o run")
    before = on_disk(run)
    with journey(browser, tmp_path, f"explore run --data {file} --names vocab --known y") as page:
        for depth in (1, 2):
            select_branch(page)
            page.locator("#panel-picture").get_by_role("button", name="Open").click()
            said(page, "Opened: a branch of")
            assert len(state(page)["open"].split(",")) == depth
            page.locator(".tile canvas").first.wait_for()
        opened = state(page)["open"]
        page.locator(".tile").first.click()
        page.locator("#panel-picture").get_by_role("button", name="More").click()
        page.get_by_label("How many").fill("10")
        page.get_by_role("button", name="Make them").click()
        said(page, "10 clusterings added")
        page.locator(".tile .fresh").first.wait_for()
        assert cs.Ensemble.load(run).n_clusterings == 70
        page.get_by_role("button", name="Undo").click()
        said(page, "10 clusterings taken away")
        assert state(page)["open"] == opened, "back where it was asked for"
        assert on_disk(run) == before
        press(page, "b", "b")
        assert "open" not in state(page)
        tile_of(page, "y").click()
        settled(page)
        keep(page, "topics")
        leaf = int(page.locator("#panel-detail dd", has_text="clustering ").last.inner_text().split()[-1])
        taken = exported(page)
    assert taken["topics"].astype(int).tolist() == cs.Ensemble.load(run).labels[:, leaf].tolist()
