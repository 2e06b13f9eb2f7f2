"""A real browser on a real explorer, for tests of the page: nothing but this machine is ever reached."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import consilience as cs
from consilience.datasets import load_beads
from consilience.explorer.page import PageMissingError, load_page

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OUTSIDE = re.compile(r"^(?!(http://127\.0\.0\.1[:/]|data:|blob:http://127\.0\.0\.1[:/]))")


@dataclass
class Visit:
    """An open page, with what it asked for off this machine and what went wrong in it."""

    page: Any
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def hear(self, message: Any) -> None:
        """Keep what the browser complains of, but for answers that the server refused on purpose."""
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless Chromium; the test is skipped where there is none, or no page to show."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("no Playwright: pip install playwright (and a Chromium: apt-get install chromium)")
    try:
        load_page()
    except PageMissingError as error:
        pytest.skip(str(error))
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, CHROMIUM)), None)
        if found is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("no Chromium: apt-get install chromium, or playwright install chromium")
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def visit(browser: Any, url: str, **options: Any) -> Iterator[Visit]:
    """Open an address in a browser profile of its own, and see at the end that nothing went wrong or out."""
    options = {"viewport": {"width": 1440, "height": 1000}, "reduced_motion": "reduce", **options}
    context = browser.new_context(**options)
    found = Visit(context.new_page())

    def refuse(route: Any) -> None:
        found.outside.append(route.request.url)
        route.abort()

    context.route(OUTSIDE, refuse)
    found.page.on("console", found.hear)
    found.page.on("pageerror", lambda error: found.errors.append(str(error)))
    found.page.set_default_timeout(10_000)
    try:
        found.page.goto(url)
        found.page.wait_for_selector("#panel-tiles")
        yield found
        assert found.outside == []
        assert found.errors == []
    finally:
        context.close()


def beads_run(folder: Path, number: int = 120) -> Path:
    """A stored run of clusterings of the beads, as the demo makes it."""
    cs.generate(load_beads(), number, 4, store=folder, progress=False)
    return folder


def serve(source: Any, **options: Any) -> Any:
    """The explorer on a run of the beads, in a thread; its `url` is the address to open."""
    return cs.explore(source, data=load_beads(), browser=False, block=False, progress=False, **options)
