"""A real browser on a real explorer, for tests of the page: nothing but this machine is ever reached."""

import base64
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from numpy.typing import NDArray

import consilience as cs
from consilience.datasets import load_beads
from consilience.explorer.server import PageMissingError, load_page
from page_coverage import counted

# Without the windows of a whole browser, which are never seen here, a page costs a third.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ["--no-sandbox", "--no-first-run"]
FLAGS += [f"--disable-{part}" for part in ("gpu", "quic", "background-networking", "component-update", "sync")]
NUMBER = 120  # clusterings of the beads in the run that several files share
OUTSIDE = re.compile(r"^(?!(http://127\.0\.0\.1[:/]|data:|blob:http://127\.0\.0\.1[:/]))")

PIXELS = """selector => {
  const canvas = document.querySelector(selector), {width, height} = canvas;
  const bytes = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const parts = [];
  for (let at = 0; at < bytes.length; at += 8190) parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 8190))));
  return [width, height, parts.join("")];
}"""


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
    guided = options.pop("guided", True)  # whether the first lines of guidance were read already
    context = browser.new_context(**options)
    if guided:
        context.add_init_script("localStorage['consilience-prefs'] ??= '{\"guided\": true}'")
    found = Visit(context.new_page())

    def refuse(route: Any) -> None:
        found.outside.append(route.request.url)
        route.abort()

    context.route(OUTSIDE, refuse)
    found.page.on("console", found.hear)
    found.page.on("pageerror", lambda error: found.errors.append(str(error)))
    found.page.set_default_timeout(60_000)
    try:
        with counted(found.page):
            found.page.goto(url)
            found.page.wait_for_selector("#panel-tiles")
            yield found
        assert found.outside == []
        assert found.errors == []
    finally:
        context.close()


@contextmanager
def looking(browser: Any, server: Any, **options: Any) -> Iterator[Any]:
    """The page of a server that is visited, from the first picture on."""
    with visit(browser, server.url, **options) as seen:
        seen.page.wait_for_selector(".tile canvas")
        yield seen.page


@contextmanager
def explored(browser: Any, source: Any, **how: Any) -> Iterator[tuple[Any, Any]]:
    """A page on a server of its own, once its pictures are drawn."""
    served = cs.explore(source, browser=False, block=False, progress=False, **how)
    with closing(served) as server, looking(browser, server) as page:
        page.wait_for_selector(".big-picture[aria-busy=false] canvas")
        yield page, server


def cut_into(page: Any, groups: int) -> Any:
    """Cut the tree into so many groups, by the field that comes back."""
    field = page.get_by_label("Number of groups")
    field.fill(str(groups))
    field.press("Enter")
    page.locator(".title").click()  # letters are keys again
    return field


def beads_run(folder: Path, number: int = NUMBER) -> Path:
    """A stored run of clusterings of the beads, as the demo makes it."""
    cs.generate(load_beads(), number, 4, store=folder, progress=False)
    return folder


def serve(source: Any, **options: Any) -> Any:
    """The explorer on a run of the beads, in a thread; its `url` is the address to open."""
    return cs.explore(source, data=load_beads(), browser=False, block=False, progress=False, **options)


def serve_many(source: Any) -> Any:
    """The same for tests that share a server: the tray of one is not kept for the next."""
    found = serve(source)
    found.api.session.kept._path = None
    return found


def address(page: Any) -> dict[str, list[str]]:
    """The parts of the address, which is written in the browser's next turn."""
    href = page.evaluate("new Promise(done => setTimeout(() => done(location.href)))")
    return parse_qs(urlsplit(href).fragment)


def state(page: Any) -> dict[str, str]:
    """What the address says."""
    return {name: values[-1] for name, values in address(page).items()}


def tray(page: Any) -> list[list[str]]:
    """Ref, name and note of what is in the tray."""
    return [json.loads(text) for text in address(page).get("tray", [])]


def select_branch(page: Any) -> None:
    for number in range(1, int(state(page)["cut"]) + 1):
        press(page, str(number))
        if "." in state(page)["sel"]:
            return
    raise AssertionError("every group is a single clustering")


def tile_sizes(page: Any) -> list[int]:
    """How many clusterings the groups in sight have."""
    return [int(text.split()[0]) for text in page.locator(".tile-head > span:nth-child(2)").all_inner_texts()]


def show(page: Any, tab: str) -> None:
    page.get_by_role("tab", name=tab).click()


def turn(page: Any, panel: str) -> Any:
    """Turn a panel into its table, or back; the last table in it."""
    page.locator(f"#panel-{panel}").get_by_role("button", name="as a table").click()
    return page.locator(f"#panel-{panel} table").last


def said(page: Any, words: str) -> None:
    """Wait until the page tells people something."""
    page.locator(".said [role=status]", has_text=words).wait_for()


def pixels(page: Any, selector: str) -> NDArray[np.uint32]:
    """The first such canvas: a number a pixel, alpha, blue, green, red."""
    width, height, text = page.evaluate(PIXELS, selector)
    return np.frombuffer(base64.b64decode(text), np.dtype("<u4")).reshape(height, width)


def rename(page: Any, old: str, new: str) -> None:
    show(page, "Edit")
    field = page.get_by_label(f"Name of cluster {old}", exact=True)
    field.fill(new)
    field.press("Enter")  # as people do: type, and go on
    said(page, f"{old} renamed to {new}")


def until(page: Any, holds: str | Callable[[], Any], argument: Any = None) -> None:
    """Wait until a script or a function says true; the page's own policy forbids Playwright's way of waiting."""
    end = time.monotonic() + 60  # only to end what hangs
    while not (page.evaluate(holds, argument) if isinstance(holds, str) else holds()):
        assert time.monotonic() < end, f"never: {holds}"
        page.wait_for_timeout(25)


def rest(page: Any) -> None:
    """Wait until nothing is asked for, and what came is drawn."""
    until(page, "() => !document.querySelector('[aria-busy=true]')")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def until_kept(page: Any, server: Any) -> None:
    """Wait until the tray is with the run as it stands: what is written is sent a moment later."""
    kept = server.api.session.kept
    names = ("ref", "name", "note")
    until(page, lambda: [[one[name] for name in names] for one in kept.tray] == [entry[:3] for entry in tray(page)])


def drag(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def swipe(page: Any, x: float, y: float, by: float) -> None:
    touch = page.context.new_cdp_session(page)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 11):
        point = {"x": x, "y": y + step * by / 10}
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        page.wait_for_timeout(16)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def download(page: Any, name: str) -> bytes:
    """What a button of the tray exports."""
    with page.expect_download() as found:
        page.locator("#panel-tray").get_by_role("button", name=name, exact=True).click()
    return Path(found.value.path()).read_bytes()
