"""The steps that journeys share: the command in a shell, the page that it opens, what is read there, and the file taken away."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from page_server import Visit, download, said, visit

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}")
README = Path(__file__).parents[2] / "README.md"


def command() -> str:
    """The command as it was installed, beside this Python."""
    return shutil.which("consilience", path=Path(sys.executable).parent) or shutil.which("consilience") or "consilience"


def readme(verb: str) -> str:
    """README's first line of a verb, without the name of the command: what a newcomer types."""
    lines = (line.removeprefix("consilience ") for line in README.read_text().splitlines())
    return next(line for line in lines if line.startswith(f"{verb} "))


def consilience(folder: Path, line: str) -> str:
    done = subprocess.run([command(), *line.split()], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@contextmanager
def explorer(folder: Path, line: str) -> Iterator[str]:
    """The address that `explore …` prints in a folder; Ctrl-C ends it, cleanly."""
    words, told = [command(), *line.split(), "--no-browser"], {**os.environ, "PYTHONWARNINGS": "default"}
    with (
        ThreadPoolExecutor(1) as reader,
        subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True, env=told) as process,
    ):
        try:
            log = ""
            while not (found := ADDRESS.search(log)):
                more = process.stderr.readline()
                assert more, log  # it ended without one
                log += more
            rest = reader.submit(process.stderr.read)
            yield found[0]
            process.send_signal(signal.SIGINT)
            assert process.wait() == 0
            log += rest.result()
            assert "Traceback" not in log, log
        finally:
            process.kill()


@contextmanager
def journey(browser: Any, folder: Path, line: str, **options: Any) -> Iterator[Any]:
    """The page that a command opens, from its first picture on."""
    seen: Visit
    with explorer(folder, line) as url, visit(browser, url, **options) as seen:
        seen.page.wait_for_selector(".tile canvas")
        seen.page.wait_for_selector(".big-picture[aria-busy=false] canvas")
        yield seen.page


def tiles(page: Any) -> dict[str, str]:
    """What stands under each tile on the right, by the number of its group: the known label it comes closest to."""
    marks, feet = page.locator(".tile .group-mark").all_inner_texts(), page.locator(".tile-foot > span:last-child")
    return dict(zip(marks, feet.all_inner_texts(), strict=True))


def tile_of(page: Any, name: str) -> Any:
    """The tile that comes closest to a known label; the best of several."""
    found = {group: float(words.split()[-1]) for group, words in tiles(page).items() if words.startswith(f"{name} ")}
    assert found, f"no tile says {name}: {tiles(page)}"
    return page.locator(f".tile[data-group='{max(found, key=found.__getitem__)}']")


def settled(page: Any) -> None:
    """Wait for what was asked last: the picture, and the panel below it."""
    page.wait_for_selector(".big-picture[aria-busy=false] canvas")
    page.wait_for_selector("#lower-body [aria-busy=true]", state="detached")


def drawn(page: Any) -> None:
    """Wait until every tile in sight is drawn."""
    page.wait_for_selector(".tile-picture:empty", state="detached")


def why(page: Any) -> str:
    """What the tab Why says about the selected group, once it is about this one."""
    settled(page)
    page.locator("#panel-why .sentences").wait_for()
    return str(page.locator("#panel-why .sentences").inner_text())


def table(text: bytes) -> pd.DataFrame:
    """A CSV as it was exported, every cell as text and empty where nothing was written."""
    return pd.read_csv(io.BytesIO(text), dtype=str, keep_default_na=False)


def exported(page: Any) -> pd.DataFrame:
    return table(download(page, "CSV"))


def keep(page: Any, name: str) -> None:
    """Put what is shown into the tray, under a name."""
    page.locator("#panel-picture").get_by_role("button", name="Keep").click()
    page.get_by_label("Name", exact=True).last.fill(name)


def find(page: Any, words: str, answer: str = "") -> None:
    """Look for objects, and wait for what is said of them."""
    page.get_by_label("Find objects").fill(words)
    page.get_by_label("Find objects").press("Enter")
    if answer:
        said(page, answer)
