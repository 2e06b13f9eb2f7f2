"""Run the scripts of the gallery, and keep what they print, in their pages, and what they draw: `python docs/gallery/make.py [NAME …]`.

The two that show the explorer need Playwright and a Chromium, and the page (`make page`).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from screen import shrink

HERE = Path(__file__).resolve().parent
NAMES = ("cells", "documents", "customers", "alternative", "sites", "how_many", "digits", "million")
PRINTED = re.compile(r"(^## What it prints\n\n```text\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)


def main(names: list[str]) -> None:
    """Run the scripts, each in a process and a folder of its own."""
    for name in names or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            script = str(HERE / f"{name}.py")
            done = subprocess.run([sys.executable, script], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
            seconds = time.perf_counter() - start
            drawn = Path(folder) / f"{name}.png"
            shrink(str(drawn))
            (HERE / drawn.name).write_bytes(drawn.read_bytes())
        page = HERE / f"{name}.md"
        parts = PRINTED.split(page.read_text(encoding="utf-8"))
        page.write_text("".join([*parts[:2], done.stdout, *parts[3:]]), encoding="utf-8")
        print(f"{name}: {seconds:.0f} s, picture of {(HERE / drawn.name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
