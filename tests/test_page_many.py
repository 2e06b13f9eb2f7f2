"""Many clusterings at once, in a real browser: the flow over tiles, tray and numbers of clusters, and the stripes."""

import re
import threading
from typing import Any

import numpy as np
import pytest

from consilience.explorer import Server
from consilience.explorer.calls import session
from consilience.meta.group_consensus import GroupLabels
from page_server import NUMBER, drag, looking, press, said, show, state, turn, until

ORDERED = "names => [...document.querySelectorAll('.flows .name')].map(e => e.lastChild.data).join() === names"


def over(page: Any, scope: str) -> Any:
    """Choose what the flow is over, and wait for it."""
    show(page, "Flow")
    panel = page.locator("#panel-flow")
    panel.get_by_role("button", name=scope, exact=True).click()
    panel.locator("[aria-busy=false] svg.flows").wait_for()
    return panel


def names(panel: Any) -> list[str]:
    return [text.removesuffix(" usual") for text in panel.locator(".flows-columns .show").all_inner_texts()]


@pytest.mark.slow
def test_a_flow_over_the_tray_is_ordered_picked_from_and_lit(page: Any, server: Server) -> None:
    labels = server.api.session.snapshot.meta.ensemble.labels
    press(page, "+", "+", "1", "s", "2", "s", "3", "s")
    panel = over(page, "tray")
    assert sorted(names(panel)) == ["group 1 medoid", "group 2 medoid", "group 3 medoid"]
    first, second, third = names(panel)
    panel.get_by_role("button", name=f"Move {first} to the right").click()
    until(page, ORDERED, ",".join([second, first, third]))
    page.keyboard.press("z")
    until(page, ORDERED, ",".join([first, second, third]))

    ribbon = panel.locator(".flows .ribbons path").first
    box = ribbon.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    for share in np.linspace(0.02, 0.98, 40):  # the outline is curved: somewhere at its left edge it is hit
        page.mouse.move(box["x"] + 2, box["y"] + share * box["height"])
        if panel.locator(".tip").count():
            break
    told = panel.locator(".tip").inner_text()
    way = r"(\d+) of (\d+) objects of cluster .* of group \d medoid go to cluster .* of group \d medoid"
    found = re.match(way, told)
    assert found, told
    page.mouse.down()
    page.mouse.up()
    said(page, f"{found[1]} object")
    assert panel.locator(".flows .ribbons.lit path").count() >= 2  # on the whole way
    page.locator(".picked-bar").wait_for()

    table = turn(page, "flow")
    table.locator("tbody tr").first.wait_for()
    rows = [row.split("\t") for row in table.locator("tbody tr").all_inner_texts()]
    counts = [int(row[0].replace(",", "")) for row in rows]
    assert sum(counts) == 2 * len(labels)  # every object goes through both gaps
    turn(page, "flow")


def test_a_flow_by_keyboard(page: Any) -> None:
    panel = over(page, "tiles")
    panel.locator(".flows-plot").focus()
    press(page, "ArrowDown")
    status = panel.locator("[role=status]")
    assert re.match(r"\d+ objects of cluster .* of group \d", status.inner_text())
    press(page, "ArrowRight")
    told = re.match(r"(\d+) of \d+ objects? of cluster .* go to cluster", status.inner_text())
    assert told
    press(page, "Enter")
    said(page, f"{told[1]} object")


def test_a_number_of_clusters_is_shown_kept_and_named(page: Any) -> None:
    press(page, "1")
    panel = over(page, "numbers of clusters")
    assert names(panel)[:4] == ["2 clusters", "3 clusters", "4 clusters", "5 clusters"]
    assert panel.get_by_role("button", name="4 clusters usual").count() == 1
    panel.get_by_role("button", name="5 clusters", exact=True).click()
    page.locator("#title-picture", has_text="in 5 clusters").wait_for()
    assert state(page)["sel"].endswith("c5")
    page.locator("#panel-picture .note", has_text="5 clusters").first.wait_for()
    press(page, "s")
    assert page.locator("#panel-tray .name").last.input_value() == "group 1 consensus in 5 clusters"
    panel.locator("input[type=number]").fill("8")
    panel.locator("input[type=number]").press("Enter")
    panel.get_by_role("button", name="8 clusters", exact=True).wait_for()


def test_stripes_show_clusterings_and_pick_objects(page: Any) -> None:
    show(page, "Stripes")
    plot = page.locator(".stripes-plot")
    plot.locator("canvas").first.wait_for()
    assert f"{NUMBER} clusterings × 300 objects" in page.locator("#panel-stripes .note").inner_text()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    assert re.search(r"clustering \d+\n.*cluster \d", page.locator("#panel-stripes .tip").inner_text())
    leaf = re.search(r"clustering (\d+)", page.locator("#panel-stripes .tip").inner_text())[1]
    page.mouse.down()
    page.mouse.up()
    assert state(page)["sel"] == f"{leaf}m"
    # the width of the consensus' first cluster: a drag over the left half picks the objects that stand there
    left = box["x"] + 26
    drag(page, (left + 1, box["y"] + 100), (left + (box["width"] - 26) / 2, box["y"] + 110))
    until(page, "/^(14[5-9]|15[0-5]) objects picked/.test(document.querySelector('.said [role=status]').textContent)")
    page.locator("#panel-stripes").get_by_role("button", name="by agreement").click()
    until(page, "document.querySelector('.stripes-plot').ariaBusy === 'false'")
    table = turn(page, "stripes")
    table.locator("tbody tr").first.wait_for()
    shares = [float(text.split()[0]) for text in table.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    turn(page, "stripes")
    plot.focus()
    press(page, "ArrowDown", "ArrowDown", "Enter")
    assert state(page)["sel"].endswith("m")
    press(page, "Shift+ArrowRight", "Shift+ArrowRight", "Space")
    said(page, "3 objects picked")


def test_stripes_and_flow_by_touch(browser: Any, server: Server) -> None:
    with looking(browser, server, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        show(page, "Stripes")
        page.locator(".stripes-plot canvas").first.wait_for()
        page.locator(".stripes-plot").tap(position={"x": 150, "y": 120})
        assert re.fullmatch(r"\d+m", state(page)["sel"])
        panel = over(page, "tiles")
        panel.locator(".flows .block rect").first.tap()
        said(page, "objects picked")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_numbers_of_clusters_that_take_long_are_made_by_a_job(
    browser: Any, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SLOW_SCALES", 1)
    waiting, real = threading.Event(), GroupLabels.answers

    def slowly(self: GroupLabels, numbers: list[int | None]) -> Any:
        while len(numbers) > 1 and not waiting.wait(0.05):
            self.step()
        return real(self, numbers)

    monkeypatch.setattr(GroupLabels, "answers", slowly)
    with looking(browser, server) as page:
        press(page, "2")
        show(page, "Flow")
        panel = page.locator("#panel-flow")
        panel.get_by_role("button", name="numbers of clusters", exact=True).click()
        page.locator(".job").get_by_role("button", name="Cancel").click()
        again = panel.get_by_role("button", name="Try again")
        again.wait_for()
        waiting.set()
        again.click()
        panel.locator("[aria-busy=false] svg.flows").wait_for()
        assert names(panel)[0] == "2 clusters"
