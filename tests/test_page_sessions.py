"""The explorer's page through the life of a session: jobs, a server started again, other sources, a notebook."""

import base64
import json
import os
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.explorer import Server
from consilience.explorer.server import load_page
from consilience.explorer.sources import open_clusterings
from consilience.generation import Variations
from explorer_cases import free_port
from page_server import beads_run, download, explored, looking, press, said, serve, state, tray, turn, until, until_kept


@pytest.mark.slow
def test_a_job_can_be_canceled_also_after_a_reload(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = beads_run(tmp_path / "run", 60)
    begun, canceled, real = list[Any](), threading.Event(), Variations.__call__

    def slowly(*args: Any, **how: Any) -> Any:
        begun.append(how)
        if len(begun) > 1:  # the first 25 are made
            canceled.wait(60)
        return real(*args, **how)

    monkeypatch.setattr(Variations, "__call__", slowly)
    with closing(serve(run)) as server, looking(browser, server) as page:
        press(page, "1", "r")
        page.get_by_label("How many").fill("1000")
        page.get_by_role("button", name="Make them").click()
        page.get_by_role("progressbar").wait_for()
        page.reload()
        page.get_by_role("progressbar").wait_for()
        press(page, "r")
        said(page, "A job is running")
        with page.expect_response(lambda reply: reply.request.method == "DELETE"):
            page.locator(".job").get_by_role("button", name="Cancel").click()
        canceled.set()
        said(page, "Stopped.")
        page.locator(".job").wait_for(state="detached")
        assert server.api.session.snapshot.n_clusterings == 60 + 2 * 25
        page.locator(".top", has_text="110 clusterings").wait_for()


@pytest.mark.slow
def test_a_server_started_again_is_found_by_the_open_page(browser: Any, tmp_path: Path) -> None:
    run = beads_run(tmp_path / "run", 60)
    first = serve(run, port=free_port())
    with looking(browser, first) as page:
        press(page, "c", "2", "s")
        before = state(page)
        settle(page, first)
        first.close()
        press(page, "3")
        page.get_by_role("alert").filter(has_text="does not answer").wait_for()
        with closing(serve(run, port=first.port)) as second:
            assert second.port == first.port
            page.get_by_role("alert").filter(has_text="started again").wait_for()
            other = page.context.new_page()
            other.goto(second.url)
            other.wait_for_selector("#panel-tiles")
            page.get_by_role("alert").wait_for(state="detached")
            assert tray(page)[0][0] == json.loads(before["tray"])[0]
            assert state(page)["rep"] == "c"
            press(page, "4")
            page.locator("#panel-detail .bars button").first.wait_for()


def settle(page: Any, server: Any) -> None:
    """Wait until nothing is on its way: a server that ends in this process does not take its open connections along."""
    page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
    page.locator(".big-picture[aria-busy=false]").wait_for()
    until_kept(page, server)


def test_texts_of_the_data_are_shown_as_text(browser: Any, tmp_path: Path) -> None:
    evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
    rng = np.random.default_rng(0)
    columns = {f"{evil} {j}": rng.integers(0, 3, 60).astype(str) for j in range(6)}
    table = pd.DataFrame({**columns, "truth": [evil, "plain"] * 30}, index=[f"{evil} {i}" for i in range(60)])
    name = "<img src=x onerror=hacked>" if os.name == "posix" else "&lt;img src=x&gt;"  # as far as file names go
    file = tmp_path / f"{name}.csv"
    table.to_csv(file, index_label="id")
    session = open_clusterings(file, kind="labels", reading={"id_column": "id", "known": ["truth"]}).session()
    with Server(session) as server, looking(browser, server) as page:
        assert page.locator("h1").inner_text() == name
        page.get_by_role("spinbutton", name="Number of groups").fill("6")
        page.locator("#title-tray").click()
        press(page, "1")
        page.locator("#panel-detail h2", has_text=evil).wait_for()  # the file's own names
        page.locator("#panel-detail .heat th", has_text="<script>").first.wait_for()
        page.get_by_role("tab", name="Objects").click()
        assert page.locator("#panel-objects tbody th").first.inner_text() == f"{evil} 0"
        press(page, "s")
        page.get_by_label("Name", exact=True).fill(evil)
        page.locator("#title-tray").click()
        press(page, "t")
        page.locator("#panel-tray td", has_text="<script>").first.wait_for()
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, main script").count() == 0


def test_without_data_the_page_says_what_is_missing(browser: Any, tmp_path: Path) -> None:
    labels = np.random.default_rng(1).integers(0, 3, (40, 8))
    with Server(open_clusterings(labels, kind="labels").session()) as server, looking(browser, server) as page:
        press(page, "1", "r")
        said(page, "were not made by consilience generate")
        page.get_by_text("There is no data table here").wait_for()
        press(page, "e")
        said(page, "The tray is empty")


def test_agreement_runs_show_how_stability_grew(browser: Any) -> None:
    rng = np.random.default_rng(3)
    topics = np.repeat(np.arange(3), 20)
    counts = rng.poisson(0.2 + 4.0 * (topics[:, None] == np.arange(30)[None, :] // 10))
    found = cs.agree(counts, 3, n_clusterings=4, max_iter=2, random_state=0, progress=False)
    with explored(browser, found, known={"topic": topics}) as (page, _):
        page.get_by_role("tab", name="Agreement").click()
        panel = page.locator("#panel-agreement")
        panel.locator(".chart").first.wait_for()
        assert panel.locator(".chart polyline").count() == 3, "rows, columns and one accuracy"
        panel.get_by_role("button", name="Rows").click()
        largest = str(found.after.rows.signatures().counts.max())
        first = "document.querySelector('#panel-agreement .choices + .scroll tbody td')"
        until(page, f"largest => {first}?.innerText === largest", largest)
        turn(page, "agreement")
        steps = panel.locator("table").first.locator("tbody tr")
        assert steps.count() == len(found.stability_by_iteration())


WIDGET = """
async () => {
  const traits = {tray: [], selected: ""}, hears = {}, sent = [];
  const model = {
    get: (name) => traits[name],
    set: (name, value) => { traits[name] = value; },
    save_changes: () => window.changed(JSON.stringify(traits)),
    on: (event, hear) => { hears[event] = hear; },
    off: () => {},
    send: async (message) => {
      const [reply, body] = await window.ask(JSON.stringify(message));
      const bytes = Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
      hears["msg:custom"](reply, [new DataView(bytes.buffer)]);
    },
  };
  window.choose = (ref) => { traits.selected = ref; hears["change:selected"](); };
  const host = document.createElement("div");
  document.body.replaceChildren(host);
  const { default: widget } = await import("/explorer.js");
  window.end = widget.render({model, el: host});
}
"""


def test_the_same_page_in_a_notebook(browser: Any, tmp_path: Path) -> None:
    widgets = pytest.importorskip("consilience.explorer.widget")
    with closing(serve(beads_run(tmp_path / "run", 60))) as server:
        widget = widgets.Explorer(server.api.session, load_page())
        replies: list[list[Any]] = []
        widget.send = lambda reply, buffers: replies.append([reply, base64.b64encode(buffers[0]).decode()])

        def ask(message: str) -> list[Any]:
            widget._answer(widget, json.loads(message), [])
            return replies.pop()

        with looking(browser, server) as page:
            page.expose_function("ask", ask)
            page.expose_function("changed", lambda traits: widget.set_state(json.loads(traits)))
            page.evaluate(WIDGET)
            page.locator(".consilience-widget #panel-tiles").wait_for()
            before = page.url
            page.locator(".consilience").focus()
            turn(page, "tiles")
            page.locator("#panel-tiles tbody button.link").nth(1).click()
            page.locator("#panel-detail .bars button").first.wait_for()
            press(page, "s")
            page.locator("#panel-tray .tray li").wait_for()
            assert widget.selected == widget.tray[0]["ref"]
            np.testing.assert_array_equal(widget.selection.iloc[:, 0], codes(server, widget.selected))
            assert download(page, "CSV").count(b"\n") == 301
            page.evaluate("window.choose('7m')")
            page.locator("#panel-detail h2", has_text="Clustering 7").wait_for()
            assert page.url == before, "a notebook's address is not ours"
            page.evaluate("window.end()")
            assert page.locator(".consilience").count() == 0


def codes(server: Server, ref: str) -> Any:
    snapshot = server.api.session.snapshot
    return snapshot.displayed(snapshot.ref(ref)).codes
