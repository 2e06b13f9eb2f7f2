"""Run every case in a process of its own and print a table.

Times are CPU-seconds of one run unless the case says otherwise (wall times on a shared machine are noise), and the
memory is the process's peak. A bar is a figure the project promises; `ok` says whether this run met it.
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

from benchmarks import (
    agreement,
    alternatives,
    bases,
    consensus,
    ensembles,
    explorer,
    how_many,
    kinds,
    kmeans,
    labelings,
    meta,
    nbce,
    page,
    pairwise,
    pools,
    scale,
    startup,
    storing,
    tables,
    ways,
)

CASES = {
    f.__name__: f
    for module in (
        startup,
        ensembles,
        pairwise,
        storing,
        tables,
        kmeans,
        consensus,
        pools,
        kinds,
        how_many,
        bases,
        nbce,
        meta,
        alternatives,
        labelings,
        agreement,
        explorer,
        page,
        ways,
        scale,
    )
    for f in module.CASES
}
RESULTS = Path(__file__).parent / "results"


def run_here(name: str) -> None:
    found = CASES[name]()
    found["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(found, default=lambda value: value.item()))


def run_apart(name: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--here", name], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"cases to run: {', '.join(CASES)}")
    parser.add_argument("--here", metavar="NAME", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        run_here(options.here)
        return
    unknown = set(options.names) - set(CASES)
    if unknown:
        parser.error(f"unknown case {', '.join(sorted(unknown))}: choose from {', '.join(CASES)}")
    results = {}
    for name in options.names or CASES:
        results[name] = run_apart(name)
        print(f"{name}: {json.dumps(results[name])}", flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "latest.json").write_text(json.dumps(results, indent=2) + "\n")
    missed = [name for name, found in results.items() if not found.get("ok", "error" not in found)]
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
