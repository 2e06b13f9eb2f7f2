"""What people take away from the page: clusters edited by hand, sessions, pictures, and the report of the view."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from consilience.explorer import Server
from consilience.explorer.kept import FILE
from page_server import beads_run, download, press, rename, said, serve, serve_many, show, state, tray, until, visit


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Path:
    return beads_run(tmp_path_factory.mktemp("takeaway") / "beads", 60)


@pytest.fixture(scope="module")
def server(run: Path) -> Iterator[Server]:
    with closing(serve_many(run)) as found:
        yield found


def exported(page: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(download(page, "CSV").decode().splitlines()))


@pytest.mark.slow
def test_clusters_are_renamed_merged_and_split_undone_and_exported_as_such(browser: Any, server: Server) -> None:
    with visit(browser, server.url) as seen:
        page = seen.page
        press(page, "c", "1")
        show(page, "Edit")
        rename(page, "2", "warm")
        assert state(page)["sel"].endswith("e")
        assert [name for _, name, *_ in tray(page)] == ["group 1 consensus edited"]
        page.get_by_label("Check cluster 0", exact=True).check()
        page.get_by_label("Check cluster 1", exact=True).check()
        page.get_by_label("Name of the merged cluster").fill("both")
        page.get_by_role("button", name="Merge 2 clusters").click()
        said(page, "0 and 1 merged to both")
        assert "both" in page.locator(".color-legend").inner_text()
        page.locator(".big-picture").focus()
        page.keyboard.press("Enter")  # picks all in sight
        page.locator(".edit-line input[list]").fill("all of them")
        page.get_by_role("button", name="picked objects").click()
        said(page, "300 objects put into all of them")
        press(page, "z")
        until(page, "() => document.querySelector('.color-legend')?.innerText.includes('both')")
        page.get_by_label("Check cluster both", exact=True).check()
        page.get_by_label("Split as this clustering does").select_option(index=1)
        page.get_by_role("button", name="Split “both”").click()
        said(page, "both split as clustering")
        page.get_by_label("Name of cluster both ·").first.wait_for()
        names = page.locator(".edit-clusters input.name").evaluate_all("fields => fields.map((one) => one.value)")
        assert sum(name.startswith("both · ") for name in names) >= 2
        table = exported(page)
        assert {row["group 1 consensus edited"] for row in table} == set(names)
        press(page, "z")
        until(page, "() => document.querySelector('.color-legend')?.innerText.match(/both(?! ·)/)")
        assert {row["group 1 consensus edited"] for row in exported(page)} == {"both", "warm", "3"}
        show(page, "Compare")
        page.locator("#panel-compare .flow").wait_for()
        assert "warm" in page.locator("#panel-compare .flow").text_content()
        show(page, "Detail")
        page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
        assert "both" in page.locator("#panel-detail .bars").first.inner_text()


@pytest.mark.slow
def test_a_session_is_there_tomorrow_and_opens_where_it_is_sent(browser: Any, run: Path, tmp_path: Path) -> None:
    with closing(serve(run)) as server:
        with visit(browser, server.url) as seen:
            page = seen.page
            show(page, "Scores")
            press(page, "2")
            show(page, "Edit")
            rename(page, "0", "kept name")
            page.get_by_label("Colors", exact=True).select_option(label="shape")
            with page.expect_download() as found:
                page.get_by_role("button", name="Save session").click()
            saved = tmp_path / "session.json"
            found.value.save_as(saved)
            kept = state(page)
            page.wait_for_timeout(1800)  # the view rests, and goes to the run
        with visit(browser, server.url) as seen:  # a browser that knows nothing but the address
            page = seen.page
            said(page, "colored by shape")
            assert {name: state(page)[name] for name in ("sel", "pane", "tab")} == {
                name: kept[name] for name in ("sel", "pane", "tab")
            }
            assert page.get_by_label("Name of cluster kept name", exact=True).input_value() == "kept name"
        (run / FILE).unlink()
    with closing(serve(run)) as server, visit(browser, server.url) as seen:
        page = seen.page
        assert tray(page) == []
        page.get_by_label("Session file").set_input_files(saved)
        said(page, "session.json is opened")
        assert state(page)["sel"] == kept["sel"]
        assert [name for _, name, *_ in tray(page)] == ["group 2 medoid edited"]
        press(page, "z")
        assert tray(page) == []
        content = json.loads(saved.read_text())
        saved.write_text(json.dumps({**content, "run": "0123456789abcdef"}))
        page.get_by_label("Session file").set_input_files(saved)
        said(page, "is of another run")
    (run / FILE).unlink(missing_ok=True)
