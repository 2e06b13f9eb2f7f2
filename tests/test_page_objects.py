"""Objects in the page, in a real browser: picked by click, search, lasso and table, asked about, named, and drawn as what they are."""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.datasets import load_beads
from consilience.explorer import Server
from consilience.reports.plane import plane_of
from page_server import NUMBER, download, explored, press, said, show

BEADS = load_beads()
N = 60
TYPES = np.repeat([0, 1, 2], N // 3)
FEW: dict[str, Any] = {"n_clusterings": 8, "n_clusters": 3}


@pytest.fixture(scope="module")
def ensemble(run: Path) -> cs.Ensemble:
    return cs.Ensemble.load(run)


def places(page: Any, ensemble: cs.Ensemble) -> np.ndarray:
    """Where the objects stand on the screen: the frame is as wide as the marks and a bit."""
    box = page.locator(".big-picture").bounding_box()
    xy = plane_of(ensemble, BEADS).xy.astype(float)
    width, height = box["width"], box["height"]
    mark = max(1, min(5, round(np.sqrt(width * height / len(xy) / 40))))
    pad = mark + 3
    across, down = width - 1 - 2 * pad, height - 1 - 2 * pad
    return np.column_stack([box["x"] + pad + xy[:, 0] * across, box["y"] + height - 1 - pad - xy[:, 1] * down])


def lonely(spots: np.ndarray, count: int) -> list[int]:
    """Objects with the most room around them."""
    near = np.square(spots[:, None] - spots[None]).sum(axis=2)
    np.fill_diagonal(near, np.inf)
    return np.argsort(-near.min(axis=1))[:count].tolist()


def picked(page: Any) -> int:
    """How many objects the page says are picked."""
    bar = page.locator(".picked-bar b")
    return int(bar.inner_text().split()[0].replace(",", "")) if bar.count() else 0


def search(page: Any, text: str, key: str = "Enter") -> None:
    press(page, "/")
    page.get_by_label("Find objects").fill(text)
    page.get_by_label("Find objects").press(key)
    page.get_by_label("Find objects").press("Escape")  # keys are the page's again


def test_a_click_picks_an_object_and_lights_it_everywhere(page: Any, ensemble: cs.Ensemble) -> None:
    one, other = lonely(places(page, ensemble), 2)
    before = page.locator(".tile canvas").first.evaluate("canvas => canvas.toDataURL()")
    page.mouse.click(*places(page, ensemble)[one])
    assert picked(page) == 1
    assert page.locator(".tile canvas").first.evaluate("canvas => canvas.toDataURL()") != before
    show(page, "Objects")
    page.get_by_role("button", name="Only picked").click()
    page.locator("#panel-objects .pager", has_text="1–1 of 1").wait_for()
    row = page.locator("#panel-objects tbody tr")
    assert str(BEADS.ids[one]) in row.inner_text()
    assert row.get_attribute("class") == "picked"
    page.keyboard.down("Shift")
    page.mouse.click(*places(page, ensemble)[other])
    page.keyboard.up("Shift")
    assert picked(page) == 2
    page.locator("#panel-objects tbody tr", has_text=str(BEADS.ids[other])).wait_for()
    press(page, "Escape")
    assert picked(page) == 0


def test_a_lasso_picks_what_it_encloses(page: Any, ensemble: cs.Ensemble) -> None:
    spots = places(page, ensemble)
    box = page.locator(".big-picture").bounding_box()
    left, right = box["x"] + 40, box["x"] + 0.55 * box["width"]
    top, bottom = box["y"] + 40, box["y"] + 0.6 * box["height"]
    inside = (spots[:, 0] > left) & (spots[:, 0] < right) & (spots[:, 1] > top) & (spots[:, 1] < bottom)
    page.get_by_role("button", name="Lasso").click()
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(x, y, steps=3)
    page.mouse.up()
    assert picked(page) == int(inside.sum()) > 20
    press(page, "Escape", "Escape")
    assert page.get_by_role("button", name="Lasso").get_attribute("aria-pressed") == "false"
    page.locator(".big-picture").focus()
    press(page, "+", "+", "Enter")
    assert 0 < picked(page) < 300


def test_how_the_clusterings_treat_what_is_picked(page: Any, ensemble: cs.Ensemble) -> None:
    chosen = [3, 17, 40]
    for number, i in enumerate(chosen):
        search(page, str(BEADS.ids[i]), "Shift+Enter")
        said(page, f"{number + 1} object")
    search(page, "no such bead")
    said(page, "Nothing is found")
    page.get_by_role("button", name="How are they treated?").focus()
    press(page, "Enter")
    same = (ensemble.labels[chosen] == ensemble.labels[chosen[0]]).all(axis=0).sum()
    panel = page.locator("#panel-picked")
    panel.locator(".treated b", has_text=f"{same} of {NUMBER}").wait_for()
    part = panel.locator("table", has_text="Part them").locator("tbody tr").first
    name = part.locator("td").first.inner_text()
    part.locator("button").click()
    page.locator("#title-picture", has_text=re.compile(name, re.IGNORECASE)).wait_for()
    effects = panel.locator(".effects .effect .text").all_inner_texts()
    assert set(effects[:3]) <= set(BEADS.columns)
    assert panel.locator(".effects svg.spread").count() >= 3
    panel.get_by_role("button", name="Set aside").click()
    said(page, "3 objects set aside")
    search(page, "color: red")
    others = sum(BEADS.labels["color"].iloc[i] != "red" for i in chosen)
    panel.locator("h3", has_text=f"These against the {others} set aside").wait_for()


@pytest.mark.slow
def test_a_label_is_saved_colored_by_and_dropped(page: Any) -> None:
    search(page, "color: red")
    said(page, "found in color")
    show(page, "Picked")
    form = page.locator(".save-label")
    form.get_by_label("Save as label").fill("mine")
    form.get_by_label("value").fill("warm")
    form.get_by_role("button", name="Save").click()
    said(page, "saved as mine: warm")
    page.get_by_label("Colors").select_option("mine")
    page.locator(".color-legend li", has_text="warm").wait_for()
    show(page, "Detail")
    page.locator("#panel-detail caption", has_text="purity: mine").wait_for()
    press(page, "1", "s")
    labels = pd.read_csv(io.BytesIO(download(page, "CSV")))
    assert (labels["mine"] == "warm").tolist() == (BEADS.labels["color"] == "red").tolist()
    show(page, "Picked")
    page.get_by_role("button", name="Drop the label mine").click()
    said(page, "is dropped")
    page.locator(".color-legend").wait_for(state="detached")


def test_the_table_of_objects_is_paged_sorts_filters_and_picks(page: Any) -> None:
    show(page, "Objects")
    panel = page.locator("#panel-objects")
    panel.get_by_text("1–50 of 300").wait_for()
    panel.get_by_label("Next page").click()
    panel.get_by_text("51–100 of 300").wait_for()
    panel.locator("[aria-busy=false] tbody tr:first-child th", has_text="b051").wait_for()
    values = BEADS.values[:, BEADS.columns.index("length_mm")]
    for place in (values.argmin(), values.argmax()):
        panel.get_by_role("button", name="length_mm").click()
        panel.locator("tbody tr").first.locator("th", has_text=str(BEADS.ids[place])).wait_for()
    panel.get_by_label("Filter objects").fill("color: red")
    panel.get_by_label("Filter objects").press("Enter")
    panel.locator(".pager", has_text=f"of {(BEADS.labels['color'] == 'red').sum()}").wait_for()
    panel.get_by_role("checkbox").nth(2).check()
    assert picked(page) == 1
    assert panel.locator("tbody tr.picked").count() == 1


def test_picked_objects_are_lit_in_the_flow(page: Any) -> None:
    search(page, "color: red")
    said(page, "found in color")
    press(page, "1", "p", "2", "x")
    page.locator(".flow .ribbons.lit path").first.wait_for()
    lit = page.locator(".flow .ribbons.lit title").all_text_contents()
    assert sum(int(text.split()[0].replace(",", "")) for text in lit) == (BEADS.labels["color"] == "red").sum()


def test_why_a_branch_is_different(page: Any, server: Server) -> None:
    press(page, "1")
    show(page, "Why")
    panel = page.locator("#panel-why")
    panel.locator(".sentences li").first.wait_for()
    node = server.api.session.snapshot.meta.nodes[0]
    size = len(server.api.session.snapshot.meta.branch(int(node)))
    against = f"{size} clusterings of this branch against {NUMBER - size} other clusterings"
    assert panel.locator(".note").first.inner_text() == against
    assert {row.inner_text() for row in panel.locator(".pairs").first.locator(".text").all()} == set(BEADS.columns)
    assert panel.locator(".strips svg.spread").count() >= 4
    panel.get_by_role("button", name="as a table").click()
    panel.locator("caption", has_text="Share of each column's variance").wait_for()


@pytest.mark.slow
def test_planes_are_switched_and_made(browser: Any, ensemble: cs.Ensemble) -> None:
    axes = np.random.default_rng(0).random((300, 2))
    with explored(browser, ensemble, data=BEADS, axes=axes) as (page, _):
        assert page.locator(".picture-foot .note").last.inner_text() == "own coordinates"
        before = page.locator(".big-picture canvas").first.evaluate("canvas => canvas.toDataURL()")
        page.get_by_label("Plane").select_option("main axes")
        page.locator(".picture-foot .note", has_text="two principal components").wait_for()
        assert page.locator(".big-picture canvas").first.evaluate("canvas => canvas.toDataURL()") != before
        page.get_by_label("Plane").select_option("tsne")
        page.locator(".picture-foot .note", has_text="t-SNE (perplexity 30)").wait_for()
        assert page.get_by_label("Plane").evaluate("one => one.selectedOptions[0].text") == "t-SNE"


RED = """(canvas, at) => canvas.getContext("2d").getImageData(
  (at % 4 + 0.5) * canvas.width / 4, (Math.floor(at / 4) + 0.5) * canvas.height / 4, 1, 1).data[0]"""


def test_pixels_of_objects_and_averages_of_clusters(browser: Any) -> None:
    X = np.random.default_rng(1).random((N, 16)) + 3 * np.eye(16)[TYPES]
    with explored(browser, X, kind="data", images_shape=(4, 4), **FEW) as (page, server):
        looks = page.locator(".cluster-looks li")
        mean = looks.first.locator("canvas").first
        mean.wait_for()
        assert looks.count() == 3
        snapshot = server.api.session.snapshot
        shown = snapshot.displayed(snapshot.top(int(snapshot.meta.nodes[0]), "m"))
        expected, low, high = X[shown.codes == 0].mean(axis=0), X.min(), X.max()
        brightest = int(expected.argmax())
        assert abs(mean.evaluate(RED, brightest) - 255 * (expected[brightest] - low) / (high - low)) < 3
        looks.nth(1).locator("button").first.click()
        assert picked(page) == 1
        show(page, "Picked")
        page.locator(".picked-objects .looks canvas").wait_for()


@pytest.mark.parametrize(
    ("look", "selector"),
    [({"images": "picture"}, "img.look"), ({"columns": [f"t{i}" for i in range(6)], "curves": True}, ".look canvas")],
)
def test_images_from_files_and_curves(browser: Any, tmp_path: Path, look: dict[str, Any], selector: str) -> None:
    pillow = pytest.importorskip("PIL.Image")
    values = np.random.default_rng(2).normal(size=(N, 6)) + TYPES[:, None]
    frame = pd.DataFrame(values, columns=[f"t{i}" for i in range(6)])
    pillow.fromarray(np.full((5, 7, 3), 200, np.uint8)).save(tmp_path / "one.png")
    frame.assign(picture=["one.png"] * 59 + ["../none.png"]).to_csv(tmp_path / "table.csv", index=False)
    with explored(browser, tmp_path / "table.csv", kind="data", **look, **FEW) as (page, _):
        page.locator(f".cluster-looks {selector}").first.wait_for()
        search(page, "12")
        said(page, "1 object picked")
        show(page, "Picked")
        picture = page.locator(f".picked-objects {selector}")
        picture.wait_for()
        if "images" in look:
            assert picture.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [7, 5]
            assert picture.get_attribute("src").startswith("blob:")


def test_clusters_of_words_are_named_by_them(browser: Any) -> None:
    counts = np.random.default_rng(3).poisson(0.03, (N, 120)) + 6 * (TYPES[:, None] == np.arange(120))
    counts[np.arange(120) % N, np.arange(120)] += 1
    words = ["apple", "banana", "cherry", *(f"word{i}" for i in range(117))]
    with explored(browser, counts, kind="data", names=words, methods="minima", **FEW) as (page, _):
        named = page.locator("#panel-detail .bars .called")
        named.first.wait_for()
        assert {text.split(",")[0] for text in named.all_inner_texts()} == {"apple", "banana", "cherry"}
        search(page, "banana")
        said(page, f"{(counts[:, 1] > 0).sum()} objects picked: found in banana")
        show(page, "Objects")
        page.locator("#panel-objects td.words", has_text="apple").first.wait_for()
