"""The explorer's pictures in README, made anew: `python docs/pictures.py`, with Playwright and a Chromium.

They show what README's commands show: the demo's run, its first view, and two of its groups compared in the dark theme.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SIZE = {"width": 1440, "height": 900}
READ = "localStorage['consilience-prefs'] ??= '{\"guided\": true}'"  # the first lines of guidance were read
CONSILIENCE = [sys.executable, "-m", "consilience"]


def main() -> None:
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


if __name__ == "__main__":
    main()
