"""The explorer's page in a real browser: what people do with it, by mouse and by keyboard."""

import csv
import io
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.datasets import load_beads
from consilience.explorer import Server
from page_server import NUMBER, download, looking, press, said, select_branch, show, state, tray, visit


def test_opens_with_every_panel_and_cleans_the_address(page: Any, server: Server) -> None:
    for panel in ("tiles", "picture", "detail", "tray"):
        assert page.locator(f"#panel-{panel}").is_visible()
    for pane in ("Scores", "Map", "Tree"):
        show(page, pane)
        page.locator(f"#panel-{pane.lower()} canvas").first.wait_for()
    assert page.title() == "beads · consilience"
    assert f"{NUMBER} clusterings of 300 objects" in page.locator(".top").inner_text()
    assert "token" not in page.url
    assert server.token not in page.content()
    page.locator("#panel-detail .bars button").first.wait_for()
    assert page.locator("#panel-detail .bars button").count() == 4


def test_a_browser_is_let_in_by_its_code_and_strangers_tokens_change_nothing(
    browser: Any, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses: list[str] = []
    opened = threading.Event()
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda url: (addresses.append(url), opened.set()))
    server.open_browser()
    assert opened.wait(60)
    with visit(browser, addresses[0]) as seen:
        assert "code" not in seen.page.url
        other = seen.page.context.new_page()
        other.goto(f"{addresses[0].split('#')[0]}#token={'0' * 32}")
        other.wait_for_selector("#panel-tiles")
        other.close()
        seen.page.reload()
        seen.page.wait_for_selector("#panel-tiles")


def test_detail_picks_out_a_cluster_and_objects_follow(page: Any) -> None:
    press(page, "2")
    page.locator("#panel-detail .bars button").nth(1).click()
    assert state(page)["cluster"] == "1"
    page.locator("#panel-detail").get_by_text("What sets cluster 1 apart").wait_for()
    page.locator("#panel-detail .effect .dot").nth(7).wait_for()
    assert page.locator("#panel-detail .effect .dot").count() == 8
    size = page.locator("#panel-detail .bars button[aria-pressed=true] .count").inner_text()
    page.get_by_role("tab", name="Objects").click()
    page.locator("#panel-objects .pager", has_text=f"of {size}").wait_for()
    assert page.locator("#panel-objects tbody tr").first.locator("th").inner_text().startswith("b")
    press(page, "1")
    assert "cluster" not in state(page), "clusters are numbered within a clustering"


def test_undo_and_redo(page: Any) -> None:
    begin = state(page)
    undo, redo = page.get_by_role("button", name="Undo"), page.get_by_role("button", name="Redo")
    assert undo.is_disabled()
    page.get_by_role("button", name="Consensus", exact=True).click()
    press(page, "2", "p")
    changed = state(page)
    assert changed["rep"] == "c"
    assert changed["pin"] == changed["sel"]
    undo.click()
    assert "pin" not in state(page)
    press(page, "Control+z", "z")
    assert state(page) == begin
    assert undo.is_disabled()
    press(page, "Control+Shift+z", "Shift+Z")
    redo.click()
    assert state(page) == changed
    assert redo.is_disabled()
    show(page, "Scores")
    page.get_by_role("tab", name="Why").click()
    undo.click()
    assert "pin" not in state(page), "tabs are no deeds: undo goes back to the pin"
    assert (state(page)["pane"], state(page)["tab"]) == ("scores", "why")


def test_a_slider_in_motion_is_one_step(page: Any) -> None:
    begin = state(page)["cut"]
    slider = page.get_by_role("slider", name="Groups")
    slider.focus()
    press(page, "ArrowRight", "ArrowRight", "ArrowRight")
    slider.fill("9")
    assert state(page)["cut"] == "9"
    for _ in range(10):
        press(page, "z")
    assert state(page)["cut"] == begin


def test_keyboard_alone_goes_through_the_whole_work(page: Any) -> None:
    before = int(state(page)["cut"])
    press(page, "+", "+", "-")
    assert int(state(page)["cut"]) == before + 1
    press(page, "2", "c", "s", "ArrowDown")
    assert state(page)["sel"] != tray(page)[0][0]
    press(page, "ArrowUp", "p", "1", "x")
    assert state(page)["tab"] == "compare"
    page.locator("#panel-compare .flow").wait_for()
    press(page, "Escape")
    assert "cmp" not in state(page)
    page.get_by_role("tab", name="Compare").focus()
    press(page, "ArrowLeft")
    assert state(page)["tab"] == "picked"
    assert page.evaluate("document.activeElement.id") == "tab-picked"
    press(page, "?")
    page.get_by_role("dialog", name="How this page works").wait_for()
    press(page, "Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
    with page.expect_download() as download:
        press(page, "e")
    assert download.value.suggested_filename == "consilience.csv"


def test_keys_do_not_act_while_somebody_types(page: Any) -> None:
    press(page, "1", "s")
    before = state(page)
    name = page.get_by_label("Name", exact=True)
    name.fill("")
    name.press_sequentially("spectrum 2 + [x]")
    press(page, "Tab")
    assert tray(page)[0][1] == "spectrum 2 + [x]"
    assert {k: v for k, v in state(page).items() if k != "tray"} == {k: v for k, v in before.items() if k != "tray"}


def test_tray_names_notes_order_and_undo(page: Any) -> None:
    press(page, "1", "s", "2", "s", "s")
    said(page, "in the tray already")
    items = page.locator("#panel-tray .tray li")
    assert items.count() == 2
    items.nth(0).get_by_label("Name", exact=True).fill("by form")
    items.nth(0).get_by_placeholder("note").fill("round ones apart")
    items.nth(1).get_by_role("button", name="Move").first.click()
    assert [kept[1:] for kept in tray(page)][1] == ["by form", "round ones apart"]
    items.nth(1).get_by_role("button", name="Remove by form").click()
    assert items.count() == 1
    page.get_by_role("button", name="Undo").click()
    assert items.count() == 2
    items.nth(1).get_by_role("button", name="Show by form").click()
    assert state(page)["sel"] == tray(page)[1][0]


def test_a_copied_address_opens_the_same_view(browser: Any, server: Server) -> None:
    with looking(browser, server, permissions=["clipboard-read", "clipboard-write"]) as page:
        press(page, "+", "c", "3", "p", "s", "2", "x")
        page.get_by_label("Note on").last.fill("to look at again: 100 % & more #")
        page.get_by_label("Color tree by").select_option("accuracy:shape")
        page.get_by_role("button", name="Copy link").click()
        said(page, "copied")
        assert {"v", "run", "cut", "rep", "sel", "pin", "cmp", "color", "tab", "tray"} <= set(state(page))
        copied = page.evaluate("navigator.clipboard.readText()")
        assert "token" not in copied
        other = page.context.new_page()
        other.goto(copied)
        other.locator("#panel-compare .flow").wait_for()
        assert state(other) == state(page)
        assert tray(other) == tray(page)
        assert other.get_by_placeholder("note").last.input_value() == "to look at again: 100 % & more #"
        assert other.get_by_label("Color tree by").input_value() == "accuracy:shape"
        press(other, "1", "Escape")
        held = other.get_by_role("button", name="Follow the selection")
        held.wait_for(state="detached")
        other.evaluate("address => location.replace(address)", copied)  # pasted over the open page
        held.wait_for()
        assert state(other) == state(page)


def test_exports_hold_the_labels_of_the_ensemble_byte_for_byte(page: Any, run: Path) -> None:
    select_branch(page)
    press(page, "s", "c", "s")
    refs = [kept[0] for kept in tray(page)]
    for at, name in enumerate(("medoid", "consensus")):
        page.get_by_label("Name", exact=True).nth(at).fill(name)
    page.get_by_label("confidence and support").uncheck()
    meta = cs.organize(cs.Ensemble.load(run))
    members = meta.branch(int(refs[0].split(".")[1][:-1]))
    labels = pd.DataFrame({"bead": load_beads().ids, "medoid": meta.ensemble.labels[:, meta.medoid(members)]})
    labels["consensus"] = meta.consensus(members).labels
    text = labels.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    assert download(page, "CSV") == text.encode()
    np.testing.assert_array_equal(pd.read_parquet(io.BytesIO(download(page, "Parquet"))), labels)
    assert f"tree_of_{NUMBER}.consensus" in download(page, "Python").decode()


def test_compare_shows_counts_flow_and_moved_objects(page: Any, run: Path) -> None:
    press(page, "c", "1", "p")
    page.get_by_role("tab", name="Compare").click()
    page.get_by_text("Comparing takes two").wait_for()
    press(page, "2")
    panel = page.locator("#panel-compare")
    panel.locator(".flow").wait_for()
    counts = [int(text) for text in panel.locator(".heat td").all_inner_texts()]
    assert sum(counts) == 300
    assert panel.locator(".flow .ribbons path").count() == sum(count > 0 for count in counts)
    panel.locator(".flow .block").last.click()
    assert "cluster" in state(page)
    first = state(page)["pin"]
    panel.get_by_role("button", name="Swap").click()
    assert state(page)["pin"] != first
    assert state(page)["cmp"] == first


@pytest.mark.slow
def test_every_view_has_a_table_that_picks_the_same(page: Any) -> None:
    press(page, "2")
    selected = state(page)["sel"]
    press(page, "1", "t")
    for panel in ("tiles", "detail", "tray"):
        page.locator(f"#panel-{panel} table").first.wait_for()
    for pane in ("Scores", "Map", "Tree"):
        show(page, pane)
        page.locator(f"#panel-{pane.lower()} table").first.wait_for()
    page.locator("#panel-tiles tbody button.link").nth(1).click()
    assert state(page)["sel"] == selected
    page.locator("#panel-detail table").first.locator("tbody button.link").nth(2).click()
    assert state(page)["cluster"] == "2"
    for tab in ("Objects", "Compare", "Stable components"):
        page.get_by_role("tab", name=tab).click()
        page.locator("#lower-body table").first.wait_for()
    press(page, "t")
    page.locator("#panel-tree canvas").first.wait_for()


@pytest.mark.parametrize("system", ["light", "dark"])
def test_theme_follows_the_system_and_can_be_chosen(browser: Any, server: Server, system: str) -> None:
    def ground(page: Any) -> int:
        color = page.evaluate("getComputedStyle(document.querySelector('.panel')).backgroundColor")
        return sum(int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(","))

    with looking(browser, server, color_scheme=system) as page:
        assert (ground(page) > 600) == (system == "light")
        other = "dark" if system == "light" else "light"
        page.get_by_label("Theme").select_option(other)
        assert (ground(page) > 600) == (other == "light")
        page.reload()
        page.wait_for_selector("#panel-tiles")
        assert (ground(page) > 600) == (other == "light"), "a choice is kept"


def test_nothing_overflows_on_smaller_screens(browser: Any, server: Server) -> None:
    for width in (1100, 800):
        with looking(browser, server, viewport={"width": width, "height": 900}) as page:
            assert page.evaluate("document.documentElement.scrollWidth") == width
