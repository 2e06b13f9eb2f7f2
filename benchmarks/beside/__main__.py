"""Run tasks beside the peers, then render the page."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.beside import peers
from benchmarks.beside.collect import collect, write
from benchmarks.beside.render import load, write_page
from benchmarks.beside.tasks import TASKS


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.beside", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"by default all: {', '.join(TASKS)}")
    parser.add_argument("--peers", type=Path, help="folder of the peers' environments; by default CONSILIENCE_PEERS")
    parser.add_argument(
        "--install", action="store_true", help="make the environments first (of those of --only, or all)"
    )
    parser.add_argument("--only", help="run these peers, with commas between, and keep what there is of the others")
    parser.add_argument("--render", action="store_true", help="only write RESULTS.md and its pictures again")
    options = parser.parse_args()
    unknown = set(options.tasks) - set(TASKS)
    if unknown:
        parser.error(f"unknown task {', '.join(sorted(unknown))}: choose from {', '.join(TASKS)}")
    only = options.only.split(",") if options.only else None
    unknown = set(only or ()) - set(peers.PEERS)
    if unknown:
        parser.error(f"unknown peer {', '.join(sorted(unknown))}: choose from {', '.join(peers.PEERS)}")
    given = os.environ.get("CONSILIENCE_PEERS")
    folder = options.peers or (Path(given) if given else None)
    if options.install:
        if folder is None:
            parser.error("--install: where to? Give --peers FOLDER")
        peers.install(folder, only)
    if not options.render:
        for name in options.tasks or TASKS:
            found = collect(TASKS[name], folder, only, load().get(name))
            write(found)
            print(name, *map(said, found.get("sides", [])), found.get("skipped", ""), sep="\n  ", flush=True)
    print(write_page())


def said(row: dict) -> str:
    name = f"{row['side']}.{row['function']}"
    if "cpu_s" not in row:
        return f"{name}: {row.get('failed', 'not here')}"
    return f"{name}: {row['cpu_s']:.4f} s, {row['added_mb']:.0f} MB, {row['quality']:.4g}, {row.get('n_clusters', '')}"


if __name__ == "__main__":
    sys.exit(main())
