"""A picture of the explorer's page, for the scripts of the gallery: needs Playwright and a Chromium."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
READ = "localStorage['consilience-prefs'] ??= '{\"guided\": true}'"  # the first lines of guidance were read


def picture(url: str, path: str, *, panel: str = "", dark: bool = False) -> bool:
    """Write what the page shows at first, 1,280 × 800, or scrolled to a panel; where there is no browser, a line says so."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return _lacking(path)
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, BROWSERS)), None)
        if found is None and not Path(playwright.chromium.executable_path).exists():
            return _lacking(path)
        browser = playwright.chromium.launch(executable_path=found)
        scheme = "dark" if dark else "light"
        context = browser.new_context(
            viewport={"width": 1280, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.add_init_script(READ)
        page = context.new_page()
        page.set_default_timeout(120_000)  # a loaded machine takes its time over scores of many objects
        page.goto(url)
        page.wait_for_selector(".tile canvas")
        page.locator("#panel-detail .answered[aria-busy=false]").first.wait_for()
        if panel:
            page.locator(panel).evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 56)")
        page.wait_for_timeout(1500)
        page.screenshot(path=path)
        browser.close()
    shrink(path)
    return True


def _lacking(path: str) -> bool:
    print(f"no {path}: that needs Playwright (pip install playwright) and a Chromium", file=sys.stderr)
    return False


def shrink(path: str) -> None:
    """Write the picture with 256 colors: a third of the bytes, and nothing that the eye would miss."""
    from PIL import Image

    with Image.open(path) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
