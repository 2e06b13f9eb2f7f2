"""axe-core on every view, light and dark: no violation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from consilience.explorer import Server
from page_server import beads_run, press, serve, show, turn, visit

AXE = Path(__file__).parents[1] / "page" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """axe.run(document, {rules: {"label-content-name-mismatch": {enabled: true}, "target-size": {enabled: true}}}).then(
  (found) => found.violations.flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`)))"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Server]:
    if not AXE.exists():
        pytest.skip("no axe-core: npm install in page/")
    found = serve(beads_run(tmp_path_factory.mktemp("axe") / "beads", 60))
    yield found
    found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_violation(browser: Any, server: Server, scheme: str) -> None:
    script = AXE.read_text()
    # the page's own policy would keep axe out
    with visit(
        browser, server.url, color_scheme=scheme, bypass_csp=True, viewport={"width": 1366, "height": 768}
    ) as seen:
        page = seen.page
        page.wait_for_selector(".tile canvas")
        page.evaluate(script)
        found: dict[str, list[str]] = {}

        def look(view: str) -> None:
            page.wait_for_timeout(150)
            if wrong := page.evaluate(RUN):
                found[view] = wrong

        page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
        look("first view")
        for pane in ("Scores", "Map"):
            show(page, pane)
            page.locator(f"#panel-{pane.lower()} canvas").first.wait_for()
            look(pane)
        show(page, "Tree")
        press(page, "x")
        page.locator("#panel-compare .flow").wait_for()
        look("Compare")
        for tab in ("Objects", "Stable components"):
            show(page, tab)
            page.locator("#lower-body [aria-busy=false]").first.wait_for()
            look(tab)
        show(page, "Detail")
        press(page, "c", "1", "s", "o")
        page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
        look("a branch by its consensus, and the tray")
        press(page, "t")
        page.locator("#panel-tray table").wait_for()
        look("tables")
        turn(page, "tree")
        for _ in range(12):
            press(page, "+")
        look("many groups")
        press(page, "?")
        look("help")
        press(page, "Escape", "r")
        page.locator(".steering summary").click()
        look("more like this")
        assert found == {}
