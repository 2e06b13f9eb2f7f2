"""The first view: ways to group the data, the data large and in sight, colors that keep their meaning."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.datasets import load_beads
from consilience.explorer import Server
from consilience.measures import accuracy, adjusted_rand
from page_server import drag, explored, looking, pixels, press, said, show, state, tile_sizes, until


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1440, 900), (1920, 1080)])
def test_the_data_is_large_and_stays_in_sight(browser: Any, server: Server, width: int, height: int) -> None:
    with looking(browser, server, viewport={"width": width, "height": height}) as page:
        for scroll in (0, 10_000):
            page.evaluate("y => scrollTo(0, y)", scroll)
            box = page.locator(".big-picture").bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= height
            assert box["width"] * box["height"] > 0.2 * width * height


def test_the_title_says_how_many_ways_and_the_largest_comes_first(page: Any) -> None:
    groups = int(state(page)["cut"])
    assert page.locator("#title-tiles").inner_text() == f"{groups} ways to group your data"
    assert tile_sizes(page) == sorted(tile_sizes(page), reverse=True)
    assert page.locator(".tile[aria-pressed=true]").count() == 1, "the one that is shown is marked"


def test_tiles_name_the_known_labels_that_they_come_closest_to(page: Any, run: Path) -> None:
    meta = cs.organize(cs.Ensemble.load(run))
    known = load_beads().labels
    for group, tile in zip(meta.numbers, page.locator(".tile-foot > span:last-child").all_inner_texts(), strict=True):
        labels = meta.ensemble.labels[:, meta.medoid(group)]
        best, value = max(((name, accuracy(known[name], labels)) for name in known), key=lambda one: one[1])
        assert tile == f"{best} {value:.2f}".replace(" 0.", " .")


@pytest.mark.slow
def test_the_plane_is_zoomed_and_moved_by_every_hand(page: Any) -> None:
    whole = pixels(page, ".big-picture canvas")
    box = page.locator(".big-picture").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.wheel(0, -500)
    page.wait_for_selector(".big-picture.enlarged")
    near = pixels(page, ".big-picture canvas")
    assert (near != whole).any()
    drag(page, middle, (middle[0] + 80, middle[1] + 40))
    assert (pixels(page, ".big-picture canvas") != near).any()
    page.mouse.dblclick(*middle)
    assert (pixels(page, ".big-picture canvas") == whole).all()
    page.get_by_role("button", name="Objects larger").click()
    page.locator(".big-picture").focus()
    press(page, "+", "ArrowLeft", "0")
    assert (pixels(page, ".big-picture canvas") == whole).all()
    assert "sel" not in state(page), "arrows there move the plane, not the selection"


def test_numbers_do_not_hide_the_objects_of_fifty_clusters(browser: Any) -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(1000, 4))
    ensemble = cs.generate(data, 12, 50, random_state=0, progress=False)
    with explored(browser, ensemble, data=data) as (page, _):
        picture = pixels(page, ".big-picture canvas")
        ink = np.count_nonzero(np.isin(picture, [0xFF241F1B, 0xFFFFFFFF]))
        drawn = np.count_nonzero(picture)
        assert 0 < ink < 0.15 * drawn


def test_groups_have_no_colors_of_clusters(page: Any) -> None:
    tree = np.unique(pixels(page, ".tree-plot canvas"))
    tree = tree[tree >> 24 == 255]
    red, green, blue = (tree >> 0 & 255).astype(int), (tree >> 8 & 255).astype(int), (tree >> 16 & 255).astype(int)
    assert (np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue) < 40).all()


@pytest.mark.slow
def test_colors_stay_between_medoid_and_consensus(page: Any, run: Path) -> None:
    meta = cs.organize(cs.Ensemble.load(run))
    group = max(meta.numbers, key=lambda one: _likeness(meta, one))
    page.locator(f".tile[data-group='{group}']").click()
    page.wait_for_selector(".big-picture[aria-busy=false] canvas")
    medoid = pixels(page, ".big-picture canvas")
    press(page, "c")
    page.locator("#title-picture", has_text="Consensus of").wait_for()
    page.wait_for_selector(".big-picture[aria-busy=false] canvas")
    consensus = pixels(page, ".big-picture canvas")
    full = (medoid >> 24 == 255) & (consensus >> 24 == 255)
    assert (medoid == consensus)[full].mean() > 0.9 * _likeness(meta, group)


def _likeness(meta: Any, group: int) -> float:
    return float(accuracy(meta.ensemble.labels[:, meta.medoid(group)], meta.consensus(group).labels))


def test_clusters_have_one_number_and_those_that_match_stand_on_the_diagonal(page: Any) -> None:
    press(page, "x")
    said(page, "Comparing")
    panel = page.locator("#panel-compare")
    panel.locator(".flow").wait_for()
    told = "all => all.map((one) => [one.querySelector('.mark').style.color, one.lastChild.textContent.trim()])"
    first = panel.locator(".heat tbody th button").evaluate_all(told)
    second = panel.locator(".heat thead th button").evaluate_all(told)
    assert len(first) == len(second) == 4
    assert sorted(number for _, number in first) == sorted(number for _, number in second) == list("0123")
    matched = [(one, other) for (one, _), (other, _) in zip(first, second, strict=True) if other in dict(first)]
    assert matched
    assert all(one == other for one, other in matched)
    press(page, "p")
    page.locator(".tile .pin").wait_for()


def test_an_empty_brush_clears(page: Any) -> None:
    show(page, "Scores")
    box = page.locator(".scores-plot").bounding_box()
    corner = box["x"] + box["width"] - 14, box["y"] + 12
    drag(page, corner, (corner[0] - 6, corner[1] + 2))
    said(page, "the brush is cleared")
    assert "brush" not in state(page)


def test_single_letters_can_be_turned_off(page: Any) -> None:
    press(page, "?")
    page.get_by_label("single letters and signs").uncheck()
    press(page, "Escape", "c", "2", "+", "?")
    assert "rep" not in state(page)
    assert "sel" not in state(page)
    assert page.get_by_role("dialog").count() == 0
    page.reload()
    page.wait_for_selector(".tile canvas")
    press(page, "c")
    assert "rep" not in state(page), "the choice is kept"
    page.locator(".tile").last.click()
    press(page, "Control+z")
    assert "sel" not in state(page), "with Control they work"


def test_the_first_stop_leads_to_the_picture_and_arrows_scroll_the_page_unless_on_tree_or_tiles(page: Any) -> None:
    press(page, "Tab", "Enter")
    assert page.evaluate("document.activeElement.classList.contains('big-picture')")
    page.locator("#title-tray").click()
    page.evaluate("scrollTo(0, 0)")
    press(page, "ArrowDown")
    until(page, "scrollY > 0")
    assert "sel" not in state(page)
    press(page, "2", "ArrowDown")
    assert "sel" in state(page)


def test_three_lines_lead_the_first_time_and_words_are_explained(browser: Any, server: Server) -> None:
    with looking(browser, server, guided=False) as page:
        lines = page.locator(".guidance li")
        assert lines.count() == 3
        assert "ways to group your data" in lines.first.inner_text()
        page.get_by_role("button", name="Got it").click()
        assert lines.count() == 0
        page.reload()
        page.wait_for_selector(".tile canvas")
        assert lines.count() == 0
        compactness = page.locator("#panel-detail .term", has_text="compactness").first
        compactness.focus()
        page.locator(".meaning", has_text="mean distance").wait_for()


@pytest.mark.slow
def test_a_slider_in_consensus_mode_takes_back_what_it_passed(page: Any) -> None:
    asked: list[str] = []
    page.route("**/api/labels/*c", lambda route: (asked.append(route.request.url), route.continue_()))
    press(page, "c")
    slider = page.get_by_role("slider", name="Groups")
    for groups in range(10, 60):
        slider.fill(str(groups))
    slider.fill("4")
    page.wait_for_selector(".tile-picture:empty", state="detached")
    assert page.locator(".tile canvas").count() == 4
    assert len(asked) < 60, "of about 1,700 consensuses that were passed"


@pytest.mark.slow
def test_a_server_that_stands_still_is_said(page: Any) -> None:
    from playwright.sync_api import Error

    held: list[Any] = []
    page.route("**/api/**", lambda route: held.append(route))
    press(page, "c")
    page.get_by_role("alert").filter(has_text="has not answered for 5 seconds").wait_for()
    for route in held:
        with suppress(Error):  # the page took some back
            route.continue_()
    page.unroute("**/api/**")
    page.get_by_role("alert").wait_for(state="detached")


@pytest.mark.slow
def test_a_table_is_shown_with_the_number_of_clusters_that_cluster_finds(browser: Any) -> None:
    centers = np.repeat([[0, 0, 0], [9, 0, 4], [0, 9, 9]], 25, axis=0)
    table = pd.DataFrame(centers + np.random.default_rng(0).normal(size=(75, 3)), columns=["a", "b", "c"])
    with explored(browser, table, kind="data", n_clusterings=40) as (page, server):
        chip = page.get_by_role("button", name="Show the consensus in 3 clusters")
        chip.wait_for()
        assert page.locator(".stable").inner_text().startswith("Stable beyond chance:")
        chip.click()
        ref = state(page)["sel"]
        assert chip.get_attribute("aria-pressed") == "true"
        pressed = page.get_by_role("group", name="Show groups by").locator("[aria-pressed=true]")
        assert pressed.count() == 0, "what is in sight is no medoid"
        page.locator("#panel-picture header .note", has_text="3 clusters").wait_for()
        snapshot = server.api.session.snapshot
        found = cs.EnsembleClusterer("auto", random_state=0).fit(table)
        assert adjusted_rand(snapshot.displayed(snapshot.ref(ref)).codes, found.labels_) == 1
        assert not server.api.session.seeks_stable, "it is looked for once"
        press(page, "c")
        said(page, "selected: consensus of 40 clusterings in 3 clusters")
        assert state(page)["sel"] == ref, "what is a consensus already stays"
        assert pressed.all_inner_texts() == ["Consensus"]
        press(page, "s")
        assert page.locator("#panel-tray .name").input_value() == "consensus of 3 clusters"
        page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
        text = page.locator("#panel-detail .effect .text").first
        assert text.bounding_box()["width"] > 200, "words have room beside the trust in a consensus"
        page.route("**/api/detail/**", lambda route: None)  # an answer that never comes
        press(page, "1")
        text.wait_for(state="hidden")


def test_one_clustering_can_be_looked_at(browser: Any, tmp_path: Path) -> None:
    table = pd.DataFrame({"cell": [f"c{i}" for i in range(30)], "kind": ["T cell", "B cell", "NK"] * 10})
    table.to_csv(tmp_path / "labels.csv", index=False)
    with explored(browser, tmp_path / "labels.csv", kind="labels", id_column="cell") as (page, _):
        assert page.locator("#title-tiles").inner_text() == "One way to group your data"
        assert "it has no groups" in page.locator("#overview, .stage > .empty").inner_text()
        assert page.get_by_label("Colors of the clusters").inner_text().split("\n") == ["● B cell", "● NK", "● T cell"]
        for tab in page.locator("#lower [role=tab]").all():
            tab.click()
            page.locator("#lower-body > section").wait_for()
        press(page, "1", "c", "ArrowDown", "o", "z")
        assert page.locator(".tile").count() == 1
