"""The pictures of README and the site, made anew: `python docs/pictures.py [NAME …]`; without a name, all.

| picture | made from |
| --- | --- |
| agreement.png | the bundled clusterings of the beads, compared |
| start.png, how_many.png, ways.png, single_cell.png | the code of their pages, as it stands there |
| engine.svg | `engine_picture.py` |
| explorer.png, explorer-compare.png | README's demo in the explorer, and two of its groups compared; with Playwright and a Chromium |

The gallery's are made by `gallery/make.py`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SIZE = {"width": 1440, "height": 900}
READ = "localStorage['consilience-prefs'] ??= '{\"guided\": true}'"  # the first lines of guidance were read
CONSILIENCE = [sys.executable, "-m", "consilience"]
BLOCK = re.compile(r"(<!-- not run[^\n]*-->\n+)?^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main(names: list[str]) -> None:
    """Make the pictures that are named, or all."""
    for name in names or MAKERS:
        MAKERS[name]()


def draw_agreement() -> None:
    """README's first picture."""
    import consilience as cs
    from consilience.datasets import load_beads, load_beads_labels
    from consilience.reports import draw

    known = {name: load_beads().labels[name].to_numpy() for name in ("shape", "color")}
    draw(cs.compare(load_beads_labels(), known=known), HERE / "agreement.png")


def draw_start() -> None:
    """The digits of *Start here*."""
    run_page("start.md", "start.png")


def draw_how_many() -> None:
    """The curve of *How many clusters?*"""
    run_page("how_many.md", "how_many.png")


def draw_ways() -> None:
    """The clusterings of *Ways and modes* in the plane."""
    run_page("ways.md", "ways.png")


def draw_single_cell() -> None:
    """The figure of *Single cells*; its page writes a PDF."""
    names = run_page("single_cell.md")
    names["figure"].savefig(HERE / "single_cell.png", dpi=80)


def draw_engine() -> None:
    """The engine's tables and moves."""
    from engine_picture import engine_picture

    (HERE / "engine.svg").write_text(engine_picture(), encoding="utf-8")


def run_page(page: str, picture: str = "") -> dict[str, Any]:
    """Run the blocks of a page in a folder of their own; its picture is kept, and its names are returned."""
    import matplotlib

    matplotlib.use("Agg")
    names: dict[str, Any] = {}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            for apart, code in BLOCK.findall((HERE / page).read_text(encoding="utf-8")):
                if not apart:
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(code, page, "exec"), names)
                if picture and Path(picture).exists():
                    shutil.copy(picture, HERE)
                    break
        finally:
            os.chdir(before)
    return names


def draw_explorer() -> None:
    """Run the demo, explore it as README says, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "consilience-demo"
        subprocess.run([*CONSILIENCE, "demo", "--output", str(demo)], check=True, stdout=subprocess.DEVNULL)
        explore = ["explore", "run", "--data", "beads.csv", "--id", "bead", "--known", "shape,color", "--no-browser"]
        with subprocess.Popen(
            [*CONSILIENCE, *explore], cwd=demo, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as server:
            try:
                assert server.stdout is not None
                found = next(filter(None, (re.search(r"http://\S+", line) for line in server.stdout)))
                take(found.group())
            finally:
                server.terminate()


def take(url: str) -> None:
    """Open the page and write its pictures beside this file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        browser = playwright.chromium.launch(executable_path=chromium)
        page = _open(browser, url, "light")
        page.screenshot(path=str(HERE / "explorer.png"))
        page = _open(browser, url, "dark")
        page.keyboard.press("c")
        page.wait_for_selector(".tile-picture:empty", state="detached")
        for key in ("2", "p", "1", "x"):
            page.keyboard.press(key)
        page.locator("#panel-compare .flow").first.wait_for()
        page.locator("#lower").evaluate("one => scrollTo(0, one.offsetTop - 56)")
        page.wait_for_timeout(500)
        page.screenshot(path=str(HERE / "explorer-compare.png"))
        browser.close()


def _open(browser: Any, url: str, scheme: str) -> Any:
    context = browser.new_context(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
    context.add_init_script(READ)
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector(".tile canvas")
    page.locator("#panel-detail .answered[aria-busy=false]").wait_for()
    page.wait_for_timeout(500)
    return page


MAKERS: dict[str, Callable[[], None]] = {
    "agreement": draw_agreement,
    "start": draw_start,
    "how_many": draw_how_many,
    "ways": draw_ways,
    "single_cell": draw_single_cell,
    "engine": draw_engine,
    "explorer": draw_explorer,
}

if __name__ == "__main__":
    main(sys.argv[1:])
