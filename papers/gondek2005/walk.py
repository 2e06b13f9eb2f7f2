"""Tables 3 and 4 of Gondek and Hofmann 2005: one run of CondEns on WebKB, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience.alternatives import CondEns
from consilience.measures import information_ratio
from consilience.tables import scale
from papers.cells import Cells
from papers.gondek2005.data import Texts
from papers.report import Report, over_seeds, with_error

# The paper's step 1 by group. Its step 2 is printed so that the text does not tell which numbers belong to which group.
STEP1 = {
    "topic": {"course": 0.1068, "faculty": 0.1700, "project": 0.0745, "staff": 0.0963, "student": 0.5098},
    "university": {"cornell": 0.2606, "texas": 0.2542, "washington": 0.3247, "wisconsin": 0.3876},
}
STEP2 = {
    "topic": "university .3865 for student, .01 to .10 for the other groups; topic .03 to .06",
    "university": "topic .18 to .26; university .02 to .07",
}
STEP3 = {"topic": 0.2694, "university": 0.2736}
COMBINED = "combined"


REPRESENTATIONS = ("counts", "rows of length 1")


def run_walk(texts: Texts, n_seeds: int, *, cells: Cells | None = None) -> pd.DataFrame:
    """Single runs of CondEns with k-means; one row per run and group, and one for the combination."""
    tasks = [
        ({**texts.key, "representation": way, "given": given, "hidden": hidden, "seed": seed}, (texts,))
        for way in REPRESENTATIONS
        for given, hidden in texts.directions
        for seed in range(n_seeds)
    ]
    return (cells or Cells()).run("step by step", _one_walk, tasks)["rows"]


def _one_walk(
    texts: Texts, data: str, documents: int, representation: str, given: str, hidden: str, seed: int
) -> list[dict[str, Any]]:
    known, target = texts.labels[given].to_numpy(), texts.labels[hidden].to_numpy()
    X = texts.counts if representation == REPRESENTATIONS[0] else scale(texts.counts, "rows")
    model = CondEns(len(set(target)), base="kmeans", combine="quadratic", n_init=1, random_state=seed).fit(X, known)
    where = {"seed": seed, "given": given, "representation": representation}
    return [where | row for row in _steps(model, known, target)]


def _steps(model: CondEns, known: NDArray[Any], target: NDArray[Any]) -> list[dict[str, Any]]:
    groups = zip(model.ensemble_.info["name"], model.ensemble_.labels.T, strict=True)
    found = [(name, labels, known == name) for name, labels in groups]
    return [
        {
            "group": name,
            "objects": int(own.sum()),
            "step1_hidden": information_ratio(target[own], labels[own]) if name != COMBINED else np.nan,
            "step2_hidden": information_ratio(target, labels),
            "step2_given": information_ratio(known, labels),
        }
        for name, labels, own in [*found, (COMBINED, model.labels_, np.ones(len(known), bool))]
    ]


def report_walk(report: Report, rows: pd.DataFrame) -> None:
    """The paper's step 1 beside ours, and what extension and combination make of it."""
    mean = over_seeds(rows, ["given", "representation", "group", "objects"])
    report.section("3. Step by step (tables 3 and 4)")
    report.text(
        "CondEns2 with k-means on WebKB, one run of the base in every group. The paper walks through one run (the one reported in its "
        "table 1); here are means over runs. Step 1: NMI with the hidden labeling within the group that was split. Step 2: NMI "
        "of the split extended to all documents, with the hidden and with the given labeling. “combined” is step 3."
    )
    report.runs("tables3_4", rows)
    for number, (given, here) in zip((3, 4), mean.groupby("given", sort=False), strict=True):
        here = here.assign(paper_step1=[STEP1[given].get(name, np.nan) for name in here["group"]])
        report.table(
            f"table{number}",
            here,
            f"Table {number}, given {given}: seeds {here['seeds'].iloc[0]}, {here['repeats'].iloc[0]} runs, mean ± standard error "
            f"of the mean. The paper's step 2: {STEP2[given]}; step 3: {STEP3[given]:.4f}.",
            shown=_wide(here),
        )
    report.text(*_in_words(mean))


def _wide(here: pd.DataFrame) -> pd.DataFrame:
    """One row per group, the steps of both representations side by side."""
    shown = here.drop_duplicates("group").set_index("group")[["objects", "paper_step1"]]
    shown.columns = ["objects", "paper, step 1"]
    for representation in REPRESENTATIONS:
        own = here[here["representation"] == representation].set_index("group")
        for measure in ("step1_hidden", "step2_hidden", "step2_given"):
            shown[f"{representation}: {measure.replace('_', ', ').replace('step', 'step ')}"] = with_error(own, measure)
    return shown.reset_index()


def _in_words(mean: pd.DataFrame) -> list[str]:
    parts, combined = mean[mean["group"] != COMBINED], mean[mean["group"] == COMBINED]
    above = [
        row["step2_hidden"] - parts.loc[_same(parts, row), "step2_hidden"].mean() for _, row in combined.iterrows()
    ]
    paper = [STEP1[given][group] for given, group in zip(parts["given"], parts["group"], strict=True)]
    off = (parts["step1_hidden"] - paper).abs().groupby([parts["given"], parts["representation"]], sort=False).mean()
    said = "; ".join(f"given {given}, {way}: {value:.3f}" for (given, way), value in off.items())
    return [
        f"**Representation.** How far our step 1 is from the paper's, mean over groups: {said}. The paper speaks of counts, with which "
        "a few long pages outweigh all others in k-means; it may have scaled them.",
        f"**The combination** tells {np.mean(above):.3f} more of the hidden labeling than the mean of the extended splits.",
    ]


def _same(parts: pd.DataFrame, row: pd.Series) -> pd.Series:
    return (parts["given"] == row["given"]) & (parts["representation"] == row["representation"])
