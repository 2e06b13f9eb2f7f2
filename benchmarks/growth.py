"""How CPU-seconds of `combine`, as it comes, and `pairwise` grow with objects, clusterings and clusters.

    python -m benchmarks.growth          # writes results/growth.json; then python -m benchmarks.beside --render

Clusterings are runs of k-means on overlapping clouds, which repeat the same mistakes as real ones do. One thread, the median of three runs;
an exponent is the slope of a line through the logarithms of the three largest sizes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

import consilience as cs
from benchmarks.timing import cpu

USUAL = {"combine": {"n": 4000, "m": 20, "k": 10}, "pairwise": {"n": 4000, "m": 200, "k": 10}}
SIZES = {
    "combine": {"n": (4000, 16_000, 64_000, 256_000), "m": (10, 20, 40, 80), "k": (5, 10, 20, 40)},
    "pairwise": {"n": (2000, 4000, 8000, 16_000), "m": (50, 100, 200, 400), "k": (5, 10, 20, 40)},
}
RUNS = 3
FILE = Path(__file__).parent / "results" / "growth.json"


def labels(n: int, m: int, k: int) -> np.ndarray:
    """n objects × m runs of k-means of twice as many clouds as clusters."""
    X, _ = make_blobs(n, n_features=8, centers=2 * k, cluster_std=4.0, random_state=0)
    return cs.generate(X, m, k, methods="minima", max_iter=20, n_jobs=1, progress=False).labels


def measured(name: str, call: Callable[[cs.Ensemble], Any], what: str) -> dict[str, Any]:
    """CPU-seconds over the sizes of one of n, m and k, the others as usual, and the exponent."""
    seconds, sizes = [], SIZES[name][what]
    for size in sizes:
        given = labels(**{**USUAL[name], what: size})
        call(cs.Ensemble(given))
        seconds.append(float(np.median([cpu(lambda given=given: call(cs.Ensemble(given)))[0] for _ in range(RUNS)])))
    slope = np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0]
    return {"sizes": list(sizes), "cpu_s": seconds, "exponent": float(slope)}


def growth_section(growth: Mapping[str, Any]) -> str:
    """Of the page of results."""
    lines = ["| | | sizes | CPU-seconds | exponent |", "| --- | --- | --- | --- | --- |"]
    names = {"n": "objects", "m": "clusterings", "k": "clusters"}
    for call, curves in growth["curves"].items():
        for what, curve in curves.items():
            sizes = ", ".join(f"{size:,}" for size in curve["sizes"])
            seconds = ", ".join(f"{value:.2g}" for value in curve["cpu_s"])
            lines.append(f"| `{call}` | {names[what]} | {sizes} | {seconds} | {curve['exponent']:.2f} |")
    usual = "; ".join(
        f"{', '.join(f'{sizes[what]:,} {names[what]}' for what in names)} for `{call}`"
        for call, sizes in growth["usual"].items()
    )
    return "\n\n".join(
        [
            "## Growth",
            "`combine` as it comes, with confidence, and `pairwise` (adjusted Rand), on runs of k-means of overlapping clouds: "
            f"{usual}; and one of the three varied. One thread, the median of {growth['runs']} runs; an exponent is the slope of a line "
            "through the logarithms of the three largest sizes. Objects with equal labels are one row for `combine`. "
            f"`python -m benchmarks.growth`, {growth['date']}.",
            "![CPU-seconds over objects, clusterings and clusters, on logarithmic scales](growth.png)",
            "\n".join(lines),
        ]
    )


def main() -> None:
    from benchmarks.beside.collect import conditions

    calls: dict[str, Callable[[cs.Ensemble], Any]] = {
        "combine": lambda ensemble: cs.combine(ensemble, n_jobs=1, progress=False),
        "pairwise": lambda ensemble: cs.pairwise(ensemble, "adjusted_rand"),
    }
    curves = {name: {what: measured(name, call, what) for what in SIZES[name]} for name, call in calls.items()}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps({**conditions(), "usual": USUAL, "runs": RUNS, "curves": curves}, indent=1) + "\n")
    print(FILE)


if __name__ == "__main__":
    main()
