"""Beads: nobody said that they can be grouped by shape or by color; both groupings are found, told apart and taken away."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from consilience.measures import adjusted_rand
from journeys.steps import consilience, exported, journey, keep, readme, table, tile_of, tiles, why
from page_server import press, show

KNOWN = ("shape", "color")
SHAPE = ("length_mm", "width_mm", "roundness")  # the columns that say something about it
COLOR = ("red", "green", "blue")


@pytest.fixture(scope="module")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which README's demo was run."""
    folder = tmp_path_factory.mktemp("demo")
    consilience(folder, "demo --output consilience-demo -n 150")
    return folder


@pytest.fixture
def demo(demo_run: Path, tmp_path: Path) -> Path:
    """A copy of it: a tray is kept with its run, and the next journey begins without one."""
    return shutil.copytree(demo_run, tmp_path / "demo")


def check(demo: Path, taken: pd.DataFrame) -> None:
    """Both groupings, against what the beads are."""
    truth = pd.read_csv(demo / "consilience-demo" / "beads.csv", dtype=str)
    assert taken["bead"].tolist() == truth["bead"].tolist()
    assert list(taken) == ["bead", "by shape", "by color"]
    score = {(own, known): adjusted_rand(taken[f"by {own}"], truth[known]) for own in KNOWN for known in KNOWN}
    assert score["shape", "shape"] > 0.75  # three shapes, of which one is in two clusters
    assert score["color", "color"] > 0.75
    assert score["shape", "color"] < 0.1
    assert score["color", "shape"] < 0.1


def explained(words: str, name: str) -> None:
    """The page says what a grouping is near to, by which columns, and what it leaves aside."""
    other, own, rest = ("color", SHAPE, COLOR) if name == "shape" else ("shape", COLOR, SHAPE)
    assert f"come nearer to {name}" in words
    assert f"come less near to {other}" in words
    begins = ("Its clusters follow", "Less than elsewhere its clusters follow")
    followed, left = (next(line for line in words.splitlines() if line.startswith(begin)) for begin in begins)
    assert sum(column in followed for column in own) >= 2
    assert sum(column in left for column in rest) >= 2
    assert not any(column in followed for column in rest)


@pytest.mark.slow
def test_two_groupings_are_found_told_apart_and_taken_away(browser: Any, demo: Path) -> None:
    with journey(browser, demo, readme("explore"), guided=False) as page:
        assert "ways to group your data" in page.locator(".guidance").inner_text()
        page.get_by_role("button", name="Got it").click()
        for name in KNOWN:
            tile_of(page, name).click()
            show(page, "Why")
            explained(why(page), name)
            keep(page, f"by {name}")
        check(demo, exported(page))


@pytest.mark.slow
def test_the_same_by_keyboard_alone(browser: Any, demo: Path) -> None:
    with journey(browser, demo, readme("explore"), guided=False) as page:
        go_to(page, "button", "Got it")
        press(page, "Enter")
        page.locator(".guidance").wait_for(state="detached")
        for name in KNOWN:
            group = next(group for group, words in tiles(page).items() if words.startswith(name))
            press(page, group)
            go_to(page, "#lower [role=tab]")
            while page.evaluate("document.activeElement.textContent") != "Why":
                press(page, "ArrowRight")
            explained(why(page), name)
            press(page, "s")
            go_to(page, "input[aria-label=Name]", f"group {group}")
            press(page, "Control+a")
            page.keyboard.type(f"by {name}")
            go_to(page, "#panel-tray button", "Show")  # past the note, where letters would be typed
        with page.expect_download() as found:
            press(page, "e")
        check(demo, table(Path(found.value.path()).read_bytes()))


HAS_FOCUS = """([selector, words]) => {
  const at = document.activeElement;
  return at.matches(selector) && (at.value || at.textContent).includes(words);
}"""


def go_to(page: Any, selector: str, words: str = "") -> None:
    """Press Tab until something has the focus."""
    for _ in range(200):
        press(page, "Tab")
        if page.evaluate(HAS_FOCUS, [selector, words]):
            return
    raise AssertionError(f"Tab never comes to {selector} {words}")


@pytest.mark.slow
def test_the_same_by_touch_on_a_phone(browser: Any, demo: Path) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 3}
    with journey(browser, demo, readme("explore"), guided=False, **phone) as page:
        page.get_by_role("button", name="Got it").tap()
        for name in KNOWN:
            tile_of(page, name).tap()
            page.get_by_role("tab", name="Why").tap()
            explained(why(page), name)
            page.locator("#panel-picture").get_by_role("button", name="Keep").tap()
            field = page.get_by_label("Name", exact=True).last
            field.tap()
            field.fill(f"by {name}")
            assert page.evaluate("document.documentElement.scrollWidth") == 390, "nothing sticks out at the side"
        with page.expect_download() as found:
            page.locator("#panel-tray").get_by_role("button", name="CSV", exact=True).tap()
        check(demo, table(Path(found.value.path()).read_bytes()))
