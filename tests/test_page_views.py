"""The explorer's pictures in a real browser: tree, scores, map and tiles show what the package knows, and answer to hands."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import consilience as cs
from consilience.datasets import load_beads
from consilience.explorer import Server
from consilience.measures import accuracy
from consilience.meta import score
from consilience.reports.plane import plane_of
from page_server import NUMBER, beads_run, cut_into, drag, looking, pixels, serve, show, state, turn


@pytest.fixture(scope="module")
def ensemble(run: Path) -> cs.Ensemble:
    return cs.Ensemble.load(run)


def cells(table: Any) -> list[list[str]]:
    return [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]


def point(page: Any, selector: str, across: float, down: float) -> tuple[float, float]:
    """A place on a plot, from shares of its width and height."""
    box = page.locator(selector).bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def largest_box(page: Any) -> Any:
    return max(page.locator(".group-box").all(), key=lambda box: box.bounding_box()["width"])


def consensus_of_the_larger(page: Any, ensemble: cs.Ensemble) -> tuple[np.ndarray, Any]:
    """Show that of two groups, and make it: its clusterings, and it."""
    cut_into(page, 2)
    page.keyboard.press("c")
    largest_box(page).click()
    page.locator("#title-picture", has_text="Consensus of").wait_for()
    meta = cs.organize(ensemble, 2)
    branch = meta.branch(int(state(page)["sel"].split(".")[1].rstrip("c")))
    return branch, meta.consensus(branch)


def test_boxes_under_the_tree_are_the_groups(page: Any, ensemble: cs.Ensemble) -> None:
    cut_into(page, 5)
    boxes = page.locator(".group-box")
    assert boxes.count() == 5
    titles = [box.get_attribute("title") for box in boxes.all()]
    sizes = sorted(int(title.split(": ")[1].split()[0]) for title in titles)
    assert sizes == sorted(cs.organize(ensemble, 5).sizes)
    largest = page.locator("button.group-box").first
    largest.click()
    assert largest.get_attribute("aria-pressed") == "true"
    assert page.locator(".tile[aria-pressed=true]").count() == 1


def test_a_click_on_the_tree_selects_a_branch_and_tells_of_it(page: Any) -> None:
    tip = page.locator("#panel-tree .tip")
    for height in (0.45, 0.35, 0.25, 0.15):
        x, y = point(page, ".tree-plot", 0.6, height)
        page.mouse.move(x, y)
        if "Branch of" in tip.inner_text():
            break
    assert "Branch of" in tip.inner_text()
    assert "mean of compactness" in tip.inner_text()
    size = tip.locator("b").inner_text().split()[2]
    page.mouse.click(x, y)
    assert state(page)["sel"].startswith(f"{NUMBER}.")
    page.locator("#title-picture", has_text=f"Medoid of {size} clusterings").wait_for()
    assert page.evaluate("performance.getEntriesByName('consilience-first-paint').length") == 1


@pytest.mark.slow
def test_the_cut_line_is_dragged(page: Any) -> None:
    cut_into(page, 3)
    box = page.locator(".tree-plot").bounding_box()
    line = next(y for y in range(int(box["y"]) + 4, int(box["y"] + box["height"])) if _on_line(page, box, y)) + 4
    middle = box["x"] + box["width"] / 2
    drag(page, (middle, line), (middle, line + 60))
    groups = int(state(page)["cut"])
    assert groups > 3
    assert page.locator(".group-box").count() == groups
    page.get_by_role("button", name="Undo").click()
    assert state(page)["cut"] == "3", "the whole drag is one step"


def _on_line(page: Any, box: dict[str, float], y: float) -> bool:
    page.mouse.move(box["x"] + box["width"] / 2, y)
    return bool(page.locator(".tree-plot.on-cut").count())


def test_groups_are_split_and_joined_by_hand(page: Any) -> None:
    cut_into(page, 4)
    boxes = page.locator(".group-box")
    largest_box(page).dblclick()
    assert boxes.count() == 5
    assert state(page)["split"]
    join = page.locator("#panel-tree").get_by_role("button", name="join")
    join.click()
    assert boxes.count() == 4
    assert "split" not in state(page)
    join.click()
    joined = boxes.count()
    assert joined < 4
    assert state(page)["join"] in state(page)["sel"]
    page.keyboard.press("[")
    assert boxes.count() == joined + 1


def test_the_tree_is_zoomed_to_a_branch_and_back(page: Any) -> None:
    cut_into(page, 6)
    boxes = page.locator(".group-box")
    page.get_by_role("button", name="Zoom in").click()
    smallest = min(page.locator("button.group-box").all(), key=lambda box: box.bounding_box()["width"])
    smallest.focus()
    page.keyboard.press("Enter")
    before = page.locator(".group-box[aria-pressed=true]").bounding_box()["width"]
    page.get_by_role("button", name="branch", exact=True).click()
    assert page.locator(".group-box[aria-pressed=true]").bounding_box()["width"] > before
    page.get_by_role("button", name="all", exact=True).click()
    assert boxes.count() == 6
    x, y = point(page, ".tree-plot", 0.5, 0.3)
    page.mouse.click(x, y)
    page.mouse.wheel(0, -600)
    page.wait_for_selector("#panel-tree button[aria-label='Zoom out']:enabled")


@pytest.mark.slow
def test_tables_of_the_tree_walk_it(page: Any, ensemble: cs.Ensemble) -> None:
    cut_into(page, 4)
    table = turn(page, "tree")
    rows = cells(table)
    meta = cs.organize(ensemble, 4)
    assert [row[0] for row in rows] == [f"group {number}" for number in range(1, 5)]
    assert sorted(int(row[1]) for row in rows) == sorted(meta.sizes)
    largest = max(range(4), key=lambda row: int(rows[row][1]))
    table.get_by_role("button", name=f"group {largest + 1}").click()
    around = page.locator("#panel-tree table").first
    around.get_by_role("button", name="left branch").click()
    assert state(page)["sel"].rstrip("m") in around.locator("tr.picked").inner_text().replace("branch ", f"{NUMBER}.")
    around.get_by_role("button", name="up").click()
    assert page.locator("#panel-tree table").last.locator("tr.picked").count() == 1


def test_brushing_the_scores_marks_clusterings_everywhere(page: Any, ensemble: cs.Ensemble) -> None:
    show(page, "Scores")
    drag(page, point(page, ".scores-plot", 0.15, 0.05), point(page, ".scores-plot", 0.5, 0.5))
    low, high, bottom, top = map(float, state(page)["brush"].split(","))
    shape = score(ensemble, known=dict(load_beads().labels))["accuracy:shape"]
    inside = (ensemble.info["compactness"].between(low, high) & shape.between(bottom, top)).to_numpy()
    assert 0 < inside.sum() < NUMBER
    page.get_by_role("button", name=f"{inside.sum()} brushed").wait_for()
    listed = cells(turn(page, "scores"))
    assert len(listed) == min(100, inside.sum())
    best = shape.to_numpy()[inside].max()
    assert float(listed[0][4]) == pytest.approx(best, abs=1e-3)
    page.get_by_label("most purity: shape").fill("0")
    page.get_by_label("most purity: shape").press("Enter")
    page.get_by_role("button", name="0 brushed").click()
    assert "brush" not in state(page)
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    show(page, "Tree")
    rows = cells(turn(page, "tree"))
    assert sum(int(row[-1]) for row in rows) == inside.sum()


def test_a_point_of_the_scores_is_selected(page: Any) -> None:
    show(page, "Scores")
    page.get_by_label("Score on the y axis").select_option("accuracy:color")
    assert state(page)["y"] == "accuracy:color"
    for share in np.linspace(0.2, 0.9, 29):
        page.mouse.move(*point(page, ".scores-plot", share, 0.5))
        tip = page.locator("#panel-scores .tip b")
        if tip.count():
            name = tip.inner_text()
            page.mouse.click(*point(page, ".scores-plot", share, 0.5))
            assert state(page)["sel"] == name.removeprefix("Clustering ") + "m"
            return
    raise AssertionError("no point was found")


@pytest.mark.slow
def test_the_null_is_tested_and_drawn(browser: Any, tmp_path: Path) -> None:
    ensemble = cs.Ensemble.load(run := beads_run(tmp_path / "run", 16))  # each shuffle takes a consensus of all
    with closing(serve(run)) as server, looking(browser, server) as page:
        show(page, "Scores")
        cut_into(page, 2)
        page.get_by_role("button", name="is the best of 2 groups chance?").click()
        line = page.locator(".null-line span")
        line.wait_for()
        words = line.inner_text()
        meta = cs.organize(ensemble, 2)
        shape = load_beads().labels["shape"]
        best = max(accuracy(shape, meta.consensus(group).labels) for group in meta.numbers)
        assert f"Best of 2 groups: {float(f'{best:.3g}'):g}, of shuffled groups" in words
        assert "20 shuffles" in line.get_attribute("title")
        told = words.split("p = ")[1]
        assert "by 20 shuffles, which can give 0.048 at least" in told
        assert "chance" in told or told.startswith("0.048 ")
        assert told.startswith("0.048 ") == ("no shuffle was as good" in told)


@pytest.mark.slow
def test_the_map_says_how_far_it_can_be_trusted(page: Any, ensemble: cs.Ensemble) -> None:
    show(page, "Map")
    page.wait_for_selector(".map-plot canvas")
    found = cs.organize(ensemble).map()
    note = page.locator("#panel-map .note").inner_text()
    assert f"Stress {float(f'{found.stress:.2g}'):g}" in note
    assert f"{100 * found.neighbors_kept:.0f} % of the {found.n_neighbors} nearest neighbors kept" in note
    page.get_by_role("button", name="neighbors", exact=True).click()
    page.locator("#panel-map .note", has_text="neighbors kept").wait_for()
    assert state(page)["map"] == "neighbors"
    rows = cells(turn(page, "map"))
    assert len(rows) == 100
    page.locator("#panel-map").get_by_role("button", name="later").click()
    page.locator("#panel-map tbody tr").nth(19).get_by_role("button").click()
    assert state(page)["sel"].endswith("m")


def test_a_map_that_was_refused_can_be_asked_for_again(page: Any) -> None:
    show(page, "Map")
    page.wait_for_selector(".map-plot canvas")
    refusal = {"status": 429, "content_type": "application/json", "body": '{"error": "too many calls at once"}'}
    page.route("**/api/map/neighbors", lambda route: route.fulfill(**refusal), times=1)
    page.get_by_role("button", name="neighbors", exact=True).click()
    page.locator("#panel-map [role=alert]", has_text="too many calls at once").wait_for()
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".map-plot canvas")


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, 2])
def test_tiles_color_every_object_by_its_cluster(
    browser: Any, server: Server, ensemble: cs.Ensemble, scale: int
) -> None:
    xy = plane_of(ensemble, load_beads()).xy
    with looking(browser, server, device_scale_factor=scale) as page:
        cut_into(page, 4)
        rows = cells(turn(page, "tiles"))
        leaves = [int(row[2].split()[1]) for row in rows]
        turn(page, "tiles")
        for number, leaf in enumerate(leaves, start=1):
            page.keyboard.press(str(number))
            page.wait_for_selector(".big-picture[aria-busy=false] canvas")
            colors = _colors(pixels(page, ".big-picture canvas"), xy)
            labels = ensemble.labels[:, leaf]
            mapped = {label: np.unique(colors[labels == label], return_counts=True) for label in np.unique(labels)}
            chosen = [found[np.argmax(counts)] for found, counts in mapped.values()]
            assert len(set(chosen)) == len(chosen), "clusters have colors of their own"
            right = sum(counts.max() for _, counts in mapped.values())
            assert right >= 0.85 * len(labels), "the rest lies under other objects"


def _colors(picture: NDArray[np.uint32], xy: NDArray[np.float32]) -> NDArray[np.uint32]:
    """The pixel in the middle of every object, as the page places them."""
    height, width = picture.shape
    room = width * height / len(xy)
    pad = max(0 if room < 6 else 1, min(5, int(np.sqrt(room / 40) + 0.5))) + 3
    across = pad + np.floor(xy[:, 0] * (width - 1 - 2 * pad) + 0.5).astype(int)
    down = pad + np.floor((1 - xy[:, 1]) * (height - 1 - 2 * pad) + 0.5).astype(int)
    return picture[down, across]


def test_colors_follow_the_pinned_clustering(page: Any) -> None:
    cut_into(page, 4)
    page.wait_for_selector(".tile-picture:empty", state="detached")  # the labels of all tiles are here
    before = pixels(page, ".tile canvas")
    page.locator(".tile:not(:has(.pin))").last.click()  # the largest group rules until one is pinned
    page.locator("#panel-picture").get_by_role("button", name="Pin").click()
    assert state(page)["pin"] == state(page)["sel"]
    assert page.locator(".tile .pin").count() == 1
    assert (pixels(page, ".tile canvas") != before).any()
    page.locator("#panel-picture").get_by_role("button", name="Pin").click()
    assert (pixels(page, ".tile canvas") == before).all()


def test_a_picked_cluster_fades_the_rest(page: Any, ensemble: cs.Ensemble) -> None:
    page.keyboard.press("2")
    page.locator("#panel-detail .bars button").first.click()
    faint = 0xFFCCC8C4
    assert np.count_nonzero(pixels(page, ".big-picture canvas") == faint) > 1000
    assert faint in pixels(page, ".tile canvas")
    page.keyboard.press("Escape")
    assert faint not in pixels(page, ".tile canvas")


@pytest.mark.slow
def test_a_consensus_tells_how_far_to_trust_each_clustering(page: Any, ensemble: cs.Ensemble) -> None:
    branch, whole = consensus_of_the_larger(page, ensemble)
    table = page.locator("#panel-detail table", has_text="How far to trust each clustering")
    table.wait_for()
    members = whole.members.assign(leaf=branch).sort_values("reliability", kind="stable")
    rows = cells(table)
    assert len(rows) == min(len(members), 100)
    for (name, reliability, without), row in zip(rows, members.itertuples(), strict=False):
        assert name == f"clustering {row.leaf}"
        assert float(reliability.replace("−", "-")) == pytest.approx(row.reliability, rel=5e-3, abs=1e-6)
        assert (without == "yes") == row.better_without
    left, told = members["better_without"].sum(), page.locator("#panel-detail").inner_text()
    assert (f"Better without {left} of {len(members)} clusterings" in told) == (left > 0)


def test_an_object_under_the_pointer_has_its_id(page: Any, ensemble: cs.Ensemble) -> None:
    xy = plane_of(ensemble, load_beads()).xy
    alone = int(np.argmax(xy[:, 0]))
    across, up = map(float, xy[alone])
    picture = page.locator(".big-picture").bounding_box()
    x, y = picture["x"] + 6 + across * (picture["width"] - 12), picture["y"] + 6 + (1 - up) * (picture["height"] - 12)
    page.mouse.move(x, y)
    page.locator(".big-picture .tip b", has_text=str(ensemble.ids[alone])).wait_for()


def test_tiles_go_page_by_page(page: Any) -> None:
    cut_into(page, 40)
    shown = page.locator(".tile").count()
    assert shown < 40
    page.get_by_label("Later groups").click()
    page.locator(".tile:first-child .group-mark", has_text=re.compile(f"^{shown + 1}$")).wait_for()
    page.keyboard.press("1")
    page.locator(".tile:first-child .group-mark", has_text=re.compile("^1$")).wait_for()


def test_unsure_objects_of_a_consensus_are_hollow(page: Any, ensemble: cs.Ensemble) -> None:
    _, whole = consensus_of_the_larger(page, ensemble)
    page.wait_for_selector(".big-picture[aria-busy=false] canvas")
    unsure = whole.support <= 0.5
    assert unsure.sum() > 20
    hollow = _colors(pixels(page, ".big-picture canvas"), plane_of(ensemble, load_beads()).xy) >> 24 < 255
    assert hollow[unsure].mean() > 0.5
    assert hollow[~unsure].mean() < 0.05


def test_the_tree_follows_score_and_theme(page: Any) -> None:
    by_group = pixels(page, ".tree-plot canvas")
    page.locator("#color-by").select_option("compactness")
    by_score = pixels(page, ".tree-plot canvas")
    assert (by_score != by_group).any()
    assert page.locator("#panel-tree .legend .ramp").is_visible()
    page.get_by_label("Theme").select_option("dark")
    assert (pixels(page, ".tree-plot canvas") != by_score).any()
