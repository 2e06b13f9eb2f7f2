"""Variations in a real browser: a branch is opened, more is made of it, and taken away again, from the run too."""

from contextlib import closing
from pathlib import Path
from typing import Any

import consilience as cs
from page_server import beads_run, download, looking, press, said, select_branch, serve, state, tile_sizes, tray


def clusterings(page: Any) -> int:
    return int(page.locator(".title p").inner_text().split()[0])


def test_a_branch_is_opened_cut_and_left_by_its_trail(browser: Any, tmp_path: Path) -> None:
    with closing(serve(beads_run(tmp_path / "run", 120))) as server, looking(browser, server) as page:
        begin = state(page)
        select_branch(page)
        press(page, "o")
        said(page, "Opened: a branch of")
        opened = state(page)
        node = int(opened["open"])
        meta = cs.organize(cs.Ensemble.load(tmp_path / "run"))
        inside = set(meta.branch(node).tolist())
        assert page.locator("#title-tiles").inner_text().endswith("within this branch")
        assert page.get_by_role("navigation", name="Opened branches").is_visible()
        assert sum(tile_sizes(page)) == len(inside) < 120
        page.get_by_label("Number of groups").fill("5")
        page.get_by_label("Number of groups").press("Enter")
        assert page.locator(".tile").count() == 5
        page.locator("#title-tray").click()
        press(page, "1", "o")
        assert len(state(page)["open"].split(",")) == 2
        deep = state(page)
        page.reload()
        page.wait_for_selector(".tile canvas")
        assert state(page) == deep, "the address holds it"
        trail = page.get_by_role("navigation", name="Opened branches")
        trail.get_by_role("button", name=f"branch of {len(inside)}").click()
        assert state(page)["cut"] == "5"
        press(page, "b")
        assert "open" not in state(page)
        assert state(page)["cut"] == begin["cut"]
        press(page, "z")
        assert state(page)["open"] == str(node)


def test_more_is_opened_steered_and_taken_away_by_undo_or_a_button(browser: Any, tmp_path: Path) -> None:
    run = beads_run(tmp_path / "run", 60)
    with closing(serve(run)) as server, looking(browser, server) as page:
        press(page, "c")
        select_branch(page)
        press(page, "s")
        other = page.context.new_page()
        other.goto(server.url)
        other.wait_for_selector("#panel-tiles")
        page.bring_to_front()
        press(page, "2", "r")
        page.get_by_label("How many").fill("20")
        page.get_by_role("button", name="Make them").click()
        said(page, "20 clusterings added")
        assert clusterings(page) == 80
        assert tray(page)[0][0].startswith("60."), "names of before still hold"
        press(other, "1", "2")
        other.locator(".top", has_text="80 clusterings").wait_for()  # noticed by the other page, too
        assert download(page, "CSV").count(b"\n") == 301
        page.bring_to_front()
        assert "open" in state(page)
        fresh = [int(text.split()[0]) for text in page.locator(".tile .fresh").all_inner_texts()]
        assert 10 <= sum(fresh) <= 20, "the branch that at least half of them landed in"
        assert cs.Ensemble.load(run).n_clusterings == 80
        press(page, "z")
        said(page, "20 clusterings taken away")
        assert clusterings(page) == 60
        assert cs.Ensemble.load(run).n_clusterings == 60
        assert "open" not in state(page)
        page.locator(".tile canvas").first.wait_for()
        press(page, "1", "r")
        page.get_by_label("How many").fill("12")
        page.get_by_text("Steer: columns").click()
        page.get_by_label("More of").select_option(label="gloss")
        page.get_by_label("Less of").select_option(label="red")
        page.get_by_role("button", name="gloss: as before").wait_for()
        page.get_by_role("button", name="Make them").click()
        said(page, "12 clusterings added")
        page.get_by_role("button", name="drop these").click()
        said(page, "12 clusterings taken away")
        assert cs.Ensemble.load(run).n_clusterings == 60
