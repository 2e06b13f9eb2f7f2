"""The explorer's finish: nothing overlaps or is cut, words are explained, steps are undone, and small screens and notebooks fit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import consilience as cs
from consilience.explorer import Server
from page_server import cut_into, looking, press, rest, said, show, state, swipe, until

LAPTOP = {"width": 1366, "height": 768}
CUT_OFF = """() => [...document.querySelectorAll(".tile-head span, .tile-foot span")]
  .filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 1 && !one.classList.contains("hidden"))
  .map(one => one.textContent)"""
OVERLAPS = """() => {
  const boxes = ["#panel-tiles", "#overview", "#lower", "#panel-tray"].map(one => document.querySelector(one).getBoundingClientRect());
  return boxes.slice(1).filter((box, at) => box.top < boxes[at].bottom).length;
}"""
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"
SMALL = """() => [...document.querySelectorAll("button, select, input, summary, a[href]")]
  .filter(one => one.checkVisibility() && !one.disabled && !one.closest("[role=presentation]") && one.type !== "checkbox")
  .map(one => [one.getBoundingClientRect(), one])
  .filter(([box, one]) => box.width > 0 && box.height > 0 && (box.width < 24 || box.height < 23.5) && box.bottom > 0)
  .filter(([, one]) => !one.matches(".skip, .hidden"))
  .map(([box, one]) => `${one.className} ${one.getAttribute("aria-label") ?? one.textContent} ${box.width}x${box.height}`)"""


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    with looking(browser, server, viewport=LAPTOP) as found:
        yield found


@pytest.mark.slow
def test_two_rows_of_tiles_fit_a_laptop(page: Any) -> None:
    cut_into(page, 12)
    page.wait_for_selector('.tile[data-group="10"] canvas')
    assert page.evaluate(OVERLAPS) == 0
    assert page.evaluate(CUT_OFF) == []
    press(page, "c")
    page.wait_for_selector(".tile-picture:empty", state="detached")
    assert page.evaluate(CUT_OFF) == []
    show(page, "Scores")
    assert page.evaluate(OVERLAPS) == 0
    for axis in "yx":
        field = page.get_by_label(f"Score on the {axis} axis")
        names = field.locator("option").all_inner_texts()
        assert "purity: shape" in names
        assert field.evaluate("one => one.clientWidth") > 7 * len("purity: shape") + 20, "names of scores are whole"


def test_a_number_that_cannot_be_is_said(page: Any) -> None:
    field = cut_into(page, 9999)
    said(page, "at most: no more clusterings differ")
    assert int(field.input_value()) <= 120
    show(page, "Scores")
    page.locator(".null-line", has_text=f"the most, not {field.input_value()}").wait_for()
    field = cut_into(page, 0)
    said(page, "one group at least")
    assert field.input_value() == "1"
    assert "the fewest" in page.locator(".null-line").inner_text()


@pytest.mark.slow
def test_undo_goes_back_over_a_linkage_and_over_picks(page: Any, run: Path) -> None:
    press(page, "2")
    before = state(page)
    page.get_by_label("Linkage of the tree").select_option("average")
    said(page, "undo brings it back")
    meta = cs.organize(cs.Ensemble.load(run), linkage="average")
    assert page.locator("#title-tiles").inner_text().startswith(str(meta.n_groups))
    assert "sel" not in state(page)
    page.get_by_role("button", name="Undo").click()
    said(page, "grown by ward linkage")
    assert page.get_by_label("Linkage of the tree").input_value() == "ward"
    after = state(page)
    assert all(after[name] == before[name] for name in ("sel", "tree", "cut"))
    page.get_by_role("button", name="Redo").click()
    said(page, "grown by average linkage")
    page.get_by_role("button", name="Undo").click()
    said(page, "grown by ward linkage")
    page.get_by_label("Find objects").fill("b001")
    page.get_by_label("Find objects").press("Enter")
    said(page, "1 object picked")
    page.locator(".title").click()
    press(page, "z")
    said(page, "No object is picked")
    press(page, "Shift+Z")
    said(page, "1 object picked")
    assert state(page)["sel"] == before["sel"], "picking is a step of its own"


def test_how_it_was_made_is_told_in_words_first(page: Any) -> None:
    made = page.locator(".made-of")
    made.wait_for()
    assert "k-means" in made.locator("p").inner_text().lower()
    assert not made.locator(".facts").is_visible()
    made.locator("summary").click()
    assert "inertia" in made.locator(".facts").inner_text()


FAINTEST = """() => {
  const light = ([r, g, b]) => [r, g, b].map(one => one / 255)
    .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = light(getComputedStyle(document.querySelector("#panel-picture")).backgroundColor.match(/\\d+/g).map(Number));
  const canvas = document.querySelector(".big-picture canvas");
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Map();
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] === 255) seen.set(data.slice(at, at + 3).join(), (seen.get(data.slice(at, at + 3).join()) ?? 0) + 1);
  return [...seen].filter(([, count]) => count > 40)
    .map(([color]) => (light(color.split(",").map(Number)) + 0.05) / (ground + 0.05))
    .map(ratio => Math.max(ratio, 1 / ratio));
}"""


def test_zoom_covers_no_object_and_dark_points_are_seen(browser: Any, server: Server) -> None:
    with looking(browser, server, viewport=LAPTOP, color_scheme="dark") as page:
        page.wait_for_selector(".big-picture[aria-busy=false] canvas")
        plot = page.locator(".big-picture").bounding_box()
        buttons = page.get_by_role("group", name="Zoom the objects").bounding_box()
        assert buttons["y"] >= plot["y"] + plot["height"]
        contrasts = page.evaluate(FAINTEST)
        assert len(contrasts) >= 2, "clusters have colors"
        assert min(contrasts) >= 3


@pytest.mark.slow
def test_small_screens_scroll_one_way_and_fit_a_finger(browser: Any, server: Server) -> None:
    with looking(browser, server, viewport={"width": 320, "height": 844}, has_touch=True, is_mobile=True) as page:
        assert page.locator(".actions kbd").first.is_hidden(), "there are no keys to press"
        for tab in ("Map", "Scores", "Tree", "Why", "Objects", "Picked", "Compare", "Stable components", "Detail"):
            page.get_by_role("tab", name=tab, exact=True).tap()
            rest(page)
            assert page.evaluate(SIDEWAYS) <= 0, tab
            assert page.evaluate(SMALL) == [], tab
        for tab, selector in (("Tree", ".tree-plot"), ("Scores", ".scores-plot"), ("Scores", ".big-picture")):
            page.get_by_role("tab", name=tab, exact=True).tap()
            page.locator(selector).scroll_into_view_if_needed()
            box = page.locator(selector).bounding_box()
            before = page.evaluate("scrollY")
            swipe(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, -200)
            until(page, "before => scrollY > before + 60", before)
        assert "brush" not in state(page)


def test_a_notebook_sets_the_theme(browser: Any, server: Server) -> None:
    with looking(browser, server, viewport=LAPTOP) as page:
        dark = "() => document.querySelector('.consilience').dataset.theme === 'dark'"
        assert not page.evaluate(dark)
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")  # as JupyterLab says it
        until(page, dark)
        page.evaluate("document.body.dataset.jpThemeLight = 'true'")
        until(page, "() => document.querySelector('.consilience').dataset.theme === 'light'")
