"""axe-core on every view, light and dark: no violation."""

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import consilience as cs
from consilience.explorer import Server
from page_server import looking, press, rest, show, turn
from samples import first_of

AXE = Path(__file__).parents[1] / "page" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """axe.run(document, {rules: {"label-content-name-mismatch": {enabled: true}, "target-size": {enabled: true}}}).then(
  (found) => found.violations.flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`)))"""
pytestmark = pytest.mark.skipif(not AXE.exists(), reason="no axe-core: npm install in page/")


@pytest.mark.parametrize("scheme", first_of(["light", "dark"]))
def test_no_view_has_a_violation(browser: Any, server: Server, scheme: str) -> None:
    laptop = {"width": 1366, "height": 768}
    with looking(browser, server, color_scheme=scheme, bypass_csp=True, viewport=laptop) as page:
        page.evaluate(AXE.read_text())  # the page's own policy would keep it out
        found: dict[str, list[str]] = {}

        def look(view: str) -> None:
            rest(page)
            if wrong := page.evaluate(RUN):
                found[view] = wrong

        def see(tab: str, *selectors: str) -> None:
            show(page, tab)
            for selector in selectors:
                page.locator(selector).first.wait_for()
            look(tab)

        page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
        look("first view")
        for pane in ("Scores", "Map", "Stripes"):
            see(pane, f"#panel-{pane.lower()} canvas")
        show(page, "Tree")
        press(page, "x")
        see("Compare", "#panel-compare .flow")
        see("Flow", "#panel-flow [aria-busy=false] .flows")
        page.locator("#panel-flow").get_by_role("button", name="numbers of clusters", exact=True).click()
        see("Flow", "#panel-flow [aria-busy=false] .flows")
        for tab in ("Objects", "Edit", "Stable components"):
            see(tab, "#lower-body [aria-busy=false]")
        see("Why", "#lower-body .sentences li")
        see("Picked")
        page.get_by_label("Find objects").fill("color: red")
        page.get_by_label("Find objects").press("Enter")
        see("Picked", ".picked-objects", "#lower-body [aria-busy=false]")
        press(page, "Escape")
        show(page, "Detail")
        press(page, "c", "1", "s", "o")
        page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
        look("a branch by its consensus, and the tray")
        press(page, "t")
        page.locator("#panel-tray table").wait_for()
        look("tables")
        show(page, "Stripes")
        show(page, "Flow")
        page.locator("#panel-flow td").first.wait_for()
        page.locator("#panel-stripes td").first.wait_for()
        look("stripes and flow as tables")
        show(page, "Tree")
        show(page, "Detail")
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


@pytest.mark.parametrize("scheme", first_of(["light", "dark"]))
def test_an_agreement_has_no_violation(browser: Any, tmp_path_factory: pytest.TempPathFactory, scheme: str) -> None:
    agreed = tmp_path_factory.mktemp("axe") / "agreed"
    counts = np.random.default_rng(0).poisson([[3, 3, 0, 0, 0, 1]] * 12 + [[0, 0, 3, 3, 1, 0]] * 12)
    cs.agree(counts, 2, n_clusterings=3, max_iter=1).save(agreed)
    served = cs.explore(agreed, browser=False, block=False, progress=False)
    with closing(served) as server, looking(browser, server, color_scheme=scheme, bypass_csp=True) as page:
        page.evaluate(AXE.read_text())
        show(page, "Agreement")
        page.locator("#panel-agreement .chart").first.wait_for()
        rest(page)
        assert page.evaluate(RUN) == []
