"""Our place among the 71 methods of a survey, on the sets that it shares with the pools.

X. Zhang et al., *A comprehensive survey of ensemble clustering* (2026), publish the mean NMI of 71 methods on 86 sets:
`data/review-data.json` of the GitHub repository xuz2019/ensemble-clustering-survey-interactive-explorer, which is not part
of this package. A method that did not finish a set within an hour has no figure there, so each is compared with ours on
the sets it finished.

    python -m benchmarks.survey review-data.json -m 20 --draws 20
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np

from benchmarks.pools import folder, pool_names, quality

OURS = "auto"
FORMULA = "plain_lwgp"  # the survey's LWGP is the same formula: how far apart the two are says how far its draws are from ours


def read_survey(path, sets):
    """The names of the methods, and their mean NMI on these sets (methods × sets, NaN where one did not finish)."""
    table = json.loads(Path(path).read_text(encoding="utf-8"))["matrix"]["mean"]["NMI"]
    at = [table["datasets"].index(name) for name in sets]
    return table["methodLabels"], np.array(table["values"], float)[:, at]


def place(values, ours):
    """How the methods stand to ours: by the mean over the sets that each finished, among those that finished all, and set by set."""
    done = ~np.isnan(values)
    mean = np.nanmean(values, axis=1)
    beside = np.array([ours[row].mean() for row in done])
    whole = done.all(axis=1)
    return {
        "mean": mean,
        "beside": beside,
        "n_sets": done.sum(axis=1),
        "above": np.flatnonzero(mean > beside),
        "place": 1 + int(np.count_nonzero(mean > beside)),
        "place_of_whole": 1 + int(np.count_nonzero(mean[whole] > ours.mean())),
        "n_whole": int(whole.sum()),
        "place_by_set": 1 + (values > ours).sum(axis=0),
        "n_by_set": done.sum(axis=0),
    }


def report(names, sets, values, ours, formula):
    """The findings, in Markdown."""
    found = place(values, ours)
    best = np.nanmax(values, axis=0)
    lines = [
        f"place {found['place']} of {len(names) + 1} by the sets that each finished; "
        f"{found['place_of_whole']} of {found['n_whole'] + 1} among those that finished all",
        "",
        "| | " + " | ".join([*sets, "mean"]) + " |",
        "|" + " --- |" * (len(sets) + 2),
        _row("`combine`", ours),
        _row("the survey's best", best, mean=False),
        _row("LWGP, the formula on our draws", formula),
        "| place of `combine` | "
        + " | ".join(f"{at} of {n + 1}" for at, n in zip(found["place_by_set"], found["n_by_set"], strict=True))
        + " | |",
        "",
        "| above, or within .01 | sets finished | its mean NMI | `combine` there |",
        "| --- | --- | --- | --- |",
    ]
    for at in np.argsort(found["beside"] - found["mean"]):
        if found["mean"][at] > found["beside"][at] - 0.01:
            lines.append(
                f"| {names[at]} | {found['n_sets'][at]} | {_short(found['mean'][at])} | {_short(found['beside'][at])} |"
            )
    return "\n".join(lines)


def _row(name, figures, mean=True):
    return f"| {name} | " + " | ".join([*map(_short, figures), _short(figures.mean()) if mean else ""]) + " |"


def _short(figure):
    return f"{figure:.3f}".removeprefix("0")


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.survey", description=__doc__.splitlines()[0])
    parser.add_argument("table", help="the survey's review-data.json")
    parser.add_argument("-m", type=int, default=20, help="clusterings in a draw; the survey does not say its own")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--data", help="folder that holds pools/; by default CONSILIENCE_DATA")
    options = parser.parse_args()
    if options.data:
        os.environ["CONSILIENCE_DATA"] = options.data
    sets = pool_names()
    if not sets:
        parser.error(f"no pools in {folder()}: give --data")
    names, values = read_survey(options.table, sets)
    results = [quality(name, options.m, options.draws, (OURS, FORMULA)) for name in sets]
    ours, formula = (np.array([one[method]["nmi"] for one in results]) for method in (OURS, FORMULA))
    print(report(names, sets, values, ours, formula))


if __name__ == "__main__":
    main()
