"""Which lines of page/src the tests run: in the browser, and in Node.js.

``make coverage`` bundles the page as it was written (``node build.mjs FOLDER --plain``) and names that folder by
CONSILIENCE_PAGE_COVERAGE. The tests' browser then loads that bundle and leaves in FOLDER what V8 counted on each visit; the page's
unit tests leave the same in FOLDER/node (NODE_V8_COVERAGE). ``python tests/page_coverage.py FOLDER LEAST`` tells the share of
lines, and fails where it is below LEAST percent.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

BASE64 = {letter: i for i, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
Lines = dict[str, dict[int, bool]]  # by file: whether a line that does something was run


@contextmanager
def counted(page: Any) -> Iterator[None]:
    """Count what the page's script runs, where it is asked for."""
    folder = os.environ.get("CONSILIENCE_PAGE_COVERAGE")
    if not folder:
        yield
        return
    page.context.route("**/explorer.js", lambda route: route.fulfill(path=Path(folder) / "explorer.js"))
    session = page.context.new_cdp_session(page)
    session.send("Profiler.enable")
    session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})
    yield
    found = session.send("Profiler.takePreciseCoverage")["result"]
    kept = [one for one in found if urlsplit(one["url"]).path == "/explorer.js"]
    with tempfile.NamedTemporaryFile("w", dir=folder, prefix="visit-", suffix=".json", delete=False) as file:
        json.dump(kept, file)


def starts(text: str) -> Any:
    """Where each line begins, in the units of 16 bits that V8 counts, and the end."""
    return np.cumsum([0, *(len(line.encode("utf-16-le")) // 2 for line in text.splitlines(keepends=True))])


def ran(script: Any, size: int) -> Any:
    """For each letter whether it was run: later ranges of V8 lie inside earlier ones."""
    counts = np.zeros(size, bool)
    for function in script["functions"]:
        for part in function["ranges"]:
            counts[part["startOffset"] : part["endOffset"]] = part["count"] > 0
    return counts


def segments(mappings: str) -> Iterator[tuple[int, int, int, int]]:
    """Line and column of the bundle, number of the file and line there, of a source map (version 3)."""
    source = line = 0
    for row, text in enumerate(mappings.split(";")):
        column = 0
        for segment in filter(None, text.split(",")):
            fields, value, shift = [], 0, 0
            for letter in segment:
                digit = BASE64[letter]
                value += (digit & 31) << shift
                shift += 5
                if digit < 32:
                    fields.append(-(value >> 1) if value & 1 else value >> 1)
                    value = shift = 0
            column += fields[0]
            if len(fields) > 1:
                source, line = source + fields[1], line + fields[2]
                yield row, column, source, line


def in_browser(folder: Path) -> Lines:
    """The lines of all files of the bundle."""
    text = (folder / "explorer.js").read_text(encoding="utf-8")
    at = starts(text)
    some = np.zeros(int(at[-1]), bool)
    for path in folder.glob("visit-*.json"):
        for script in json.loads(path.read_text()):
            some |= ran(script, len(some))
    chart = json.loads((folder / "explorer.js.map").read_text(encoding="utf-8"))
    names = [name.split("page/")[-1].replace("../", "") for name in chart["sources"]]
    found: Lines = defaultdict(dict)
    for row, column, source, line in segments(chart["mappings"]):
        if names[source].startswith("src/") and "node_modules" not in chart["sources"][source]:
            hit = bool(some[at[row] + column])
            found[names[source]][line] = found[names[source]].get(line, False) or hit
    return found


def in_node(folder: Path, lines: Lines, page: Path) -> None:
    """Mark the lines that the unit tests run."""
    for path in (folder / "node").glob("*.json"):
        for script in json.loads(path.read_text())["result"]:
            file = Path(unquote(urlsplit(script["url"]).path))
            name = str(file.relative_to(page)) if file.is_relative_to(page) else ""
            if name in lines:
                at = starts(file.read_text(encoding="utf-8"))
                letters = ran(script, int(at[-1]))
                for line in lines[name]:
                    lines[name][line] |= bool(letters[at[line] : at[line + 1]].any())


def main(folder: Path, least: float) -> int:
    """Print the share of lines of each file that is not whole, and of all."""
    lines = in_browser(folder)
    in_node(folder, lines, Path(__file__).resolve().parents[1] / "page")
    for name, marks in sorted(lines.items()):
        if not all(marks.values()):
            print(f"{name:32} {len(marks):5} lines {100 * np.mean(list(marks.values())):5.1f} %")
    every = [mark for marks in lines.values() for mark in marks.values()]
    share = 100 * float(np.mean(every))
    print(f"page/src: {share:.1f} % of {len(every)} lines that do something in {len(lines)} files")
    return int(share < least)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), float(sys.argv[2])))
