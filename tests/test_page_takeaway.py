"""What people take away from the page: clusters edited by hand, sessions, pictures, and the report of the view."""

import csv
import json
import struct
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from consilience.explorer import Server
from consilience.explorer.explorer_json import FILE
from page_server import beads_run, download, looking, press, rename, said, serve, show, state, tray, until, until_kept

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Path:
    return beads_run(tmp_path_factory.mktemp("takeaway") / "beads", 60)


def exported(page: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(download(page, "CSV").decode().splitlines()))


@pytest.mark.slow
def test_clusters_are_renamed_merged_and_split_undone_and_exported_as_such(page: Any) -> None:
    press(page, "c", "1")
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


def test_a_session_is_there_tomorrow_and_opens_where_it_is_sent(browser: Any, run: Path, tmp_path: Path) -> None:
    with closing(serve(run)) as server:
        with looking(browser, server) as page:
            show(page, "Scores")
            press(page, "2")
            rename(page, "0", "kept name")
            page.get_by_label("Colors", exact=True).select_option(label="shape")
            for field, text in (("name", "the shapes"), ("remark", "look at these again")):
                page.locator(f"#panel-tray input.{field}").fill(text)
            until(page, "() => location.hash.includes('again')")
            noted = tray(page)
            assert noted[0][1:3] == ["the shapes", "look at these again"]
            with page.expect_download() as found:
                page.get_by_role("button", name="Save session").click()
            saved = tmp_path / "session.json"
            found.value.save_as(saved)
            kept = state(page)
            until(page, lambda: kept["sel"] in server.api.session.kept.view.get("address", ""))
            until(page, lambda: server.api.session.kept.view["colors"] == "shape")
            until_kept(page, server)
        with looking(browser, server) as page:  # a browser that knows nothing but the address
            said(page, "colored by shape")
            assert all(state(page)[name] == kept[name] for name in ("sel", "pane", "tab"))
            assert tray(page) == noted
            assert page.get_by_label("Name of cluster kept name", exact=True).input_value() == "kept name"
        (run / FILE).unlink()
    with closing(serve(run)) as server, looking(browser, server) as page:
        assert tray(page) == []
        page.get_by_label("Session file").set_input_files(saved)
        said(page, "session.json is opened")
        assert state(page)["sel"] == kept["sel"]
        assert tray(page) == noted
        press(page, "z")
        assert tray(page) == []
        content = json.loads(saved.read_text())
        saved.write_text(json.dumps({**content, "run": "0123456789abcdef"}))
        page.get_by_label("Session file").set_input_files(saved)
        said(page, "is of another run")
    (run / FILE).unlink(missing_ok=True)


def picture(page: Any, panel: str, form: str) -> bytes:
    """A panel as a picture."""
    with page.expect_download() as found:
        page.locator(f"#panel-{panel} select.save-picture").select_option(form)
    assert found.value.suggested_filename == f"consilience_{panel}.{form}"
    return Path(found.value.path()).read_bytes()


def words_of(svg: ElementTree.Element) -> str:
    return " ".join("".join(one.itertext()) for one in svg.iter(f"{SVG}text"))


@pytest.mark.slow
def test_every_panel_leaves_as_a_picture_with_its_names_on_a_light_ground(browser: Any, server: Server) -> None:
    with looking(browser, server, color_scheme="dark") as page:
        press(page, "c", "1")
        rename(page, "2", "warm <&>")
        shown = page.evaluate("() => getComputedStyle(document.querySelector('#panel-tiles')).backgroundColor")
        found = {name: ElementTree.fromstring(picture(page, name, "svg")) for name in ("picture", "tiles", "tree")}
        show(page, "Detail")
        page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
        found["detail"] = ElementTree.fromstring(picture(page, "detail", "svg"))
        show(page, "Compare")
        page.locator("#panel-compare .flow").first.wait_for()
        found["compare"] = ElementTree.fromstring(picture(page, "compare", "svg"))
        for pane in ("Scores", "Map"):
            show(page, pane)
            page.locator(f"#panel-{pane.lower()} canvas").first.wait_for()
            found[pane.lower()] = ElementTree.fromstring(picture(page, pane.lower(), "svg"))
        for name in ("picture", "detail", "compare"):
            assert "warm <&>" in words_of(found[name]), name
        assert len(list(found["picture"].iter(f"{SVG}circle"))) >= 300, "objects are marks, not an image"
        assert not list(found["picture"].iter(f"{SVG}image"))
        assert len(list(found["tree"].iter(f"{SVG}rect"))) > 60
        for one in found.values():
            assert one.find(f"{SVG}title").text
            assert "60 clusterings of 300 objects" in one.find(f"{SVG}desc").text
            assert one.find(f"{SVG}rect").get("fill") == "#ffffff"
            assert "NaN" not in ElementTree.tostring(one, "unicode")
        png = picture(page, "map", "png")
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        size = [float(found["map"].get(side)) for side in ("width", "height")]
        assert list(struct.unpack(">II", png[16:24])) == [2 * side for side in size]
        assert page.evaluate("() => getComputedStyle(document.querySelector('#panel-tiles')).backgroundColor") == shown


@pytest.mark.slow
def test_the_report_is_of_exactly_this_view(page: Any) -> None:
    press(page, "1", "o", "c", "1")
    groups = page.locator(".tile").count()
    rename(page, "0", "by hand")
    with page.expect_download() as found:
        page.get_by_role("button", name="Report of this view").click()
    text = Path(found.value.path()).read_text("utf-8")
    assert found.value.suggested_filename == "consilience_report.html"
    members = sum(int(text.split()[0]) for text in page.locator(".tile-head > span:nth-child(2)").all_inner_texts())
    assert "What is in view" in text
    assert f"{groups} of {members} clusterings" in text
    assert f"a branch of {members} of 60 clusterings" in text
    assert "0 renamed to by hand" in text
