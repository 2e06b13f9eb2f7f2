"""Experiments 2 and 3 of Strehl and Ghosh 2002: clusterers that see only some features, or only some objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.consensus import METHODS
from consilience.measures import anmi, matched_accuracy, nmi
from consilience.reports.figures import new_figure
from papers.cells import Cells
from papers.figures import COLORS, MARKS, curve, legend_outside
from papers.report import Report, over_seeds, with_error
from papers.strehl2002.data import DataSet, answers, supra, title
from papers.strehl2002.scenarios import feature_distributed, object_distributed

# The slides' table: all features, consensus, best, mean and worst view.
SLIDES_FDC = {
    "2D2K-like": (0.84747, 0.68864, 0.68864, 0.64145, 0.54706),
    "8D5K-like": (1.00000, 0.98913, 0.76615, 0.69823, 0.62134),
    "PENDIG": (0.67805, 0.63918, 0.47865, 0.41951, 0.32641),
    "YAHOO": (0.48877, 0.41008, 0.20183, 0.16033, 0.11143),
}
MEASURED = ("all_features", "consensus", "max_view", "mean_view", "min_view")
ODC_METHODS = ("cspa", "hgpa", "mcla", "evidence", "vote", "lwea", "lwgp", "auto")
DRAWN = ("cspa", "hgpa", "mcla", "lwea", "lwgp", "auto")


def run_fdc(
    sets: list[tuple[DataSet, int | None, int]], *, cells: Cells | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cluster views and combine them; `sets` has the data, how many objects (None for all) and how many seeds.

    Returns one row per run in the slides' columns, and one row per run and method.
    """
    tasks = [({**one.key(n), "seed": seed}, (one,)) for one, n, n_seeds in sets for seed in range(n_seeds)]
    found = (cells or Cells()).run("feature-distributed", _one_fdc, tasks)
    return found["rows"], found["by_method"]


def _one_fdc(
    source: DataSet, data: str, n_objects: int | None, n_clusters: int, seed: int
) -> dict[str, list[dict[str, Any]]]:
    X, truth = source.draw(seed, n_objects)
    n_views, n_features = source.views
    how: dict[str, Any] = {"n_views": n_views, "n_features": n_features, "base": source.base, "random_state": seed}
    views = feature_distributed(X, n_clusters, **how)
    found = answers(views, n_clusters, (*METHODS, "auto"), seed)
    chosen = found[supra(views, found)]
    single = [nmi(truth, labels) for labels in views.labels.T]
    where = {"seed": seed, "data": data, "objects": len(truth)}
    row = {
        **where,
        "all_features": nmi(truth, source.cluster(X, seed)),
        "consensus": nmi(truth, chosen),
        "max_view": max(single),
        "mean_view": float(np.mean(single)),
        "min_view": min(single),
        "auto": nmi(truth, found["auto"]),
        "mislabeled_view": min(_mislabeled(truth, labels) for labels in views.labels.T),
        "mislabeled_consensus": _mislabeled(truth, chosen),
        "mislabeled_auto": _mislabeled(truth, found["auto"]),
    }
    by_method = [
        {**where, "method": m, "nmi": nmi(truth, labels), "anmi": anmi(views, labels)} for m, labels in found.items()
    ]
    return {"rows": [row], "by_method": by_method}


def _mislabeled(truth: Any, labels: Any) -> float:
    """Objects outside the cluster matched one to one with their category."""
    return round((1 - matched_accuracy(truth, labels)) * len(truth))


def report_fdc(report: Report, rows: pd.DataFrame, by_method: pd.DataFrame) -> None:
    """The slides' table beside ours, and every method."""
    mean = over_seeds(rows, ["data", "objects"])
    report.section("2. Feature-distributed clustering (FDC)")
    report.text(
        "Every clusterer sees all objects by a few random features. “Consensus” is the best of CSPA, HGPA and MCLA by ANMI: the "
        "slides' table does not say which it is, but ANMI is the choice they argue for. “auto” is the default of `combine`."
    )
    report.runs("fdc", rows)
    report.runs("fdc_methods", by_method)
    lines = []
    for _, ours in mean.iterrows():
        slides = dict(zip(MEASURED, SLIDES_FDC[ours["data"]], strict=True))
        lines.append(
            {"data": ours["data"], "whose": "slides", **{m: f"{slides[m]:.3f}" for m in MEASURED}, "auto": "–"}
        )
        own = {m: with_error(ours.to_frame().T.infer_objects(), m).iloc[0] for m in (*MEASURED, "auto")}
        lines.append({"data": "", "whose": f"ours, {ours['objects']:,} objects, {ours['repeats']} repeats", **own})
    kept = mean[[c for c in mean.columns if not c.startswith("mislabeled")]].copy()
    for i, m in enumerate(MEASURED):
        kept[f"slides_{m}"] = [SLIDES_FDC[name][i] for name in kept["data"]]
    report.table(
        "fdc",
        kept,
        "NMI with the categories: clustering all features, the consensus of the views, and the best, mean and worst single view; "
        "mean ± standard error over seeds from 0 (how many: beside ours; which: in the CSV).",
        shown=pd.DataFrame(lines).rename(columns=lambda name: name.replace("_", " ")),
    )
    report.figure("fdc", _draw_fdc(mean), "The same numbers: slides above (hollow), ours below (filled).")
    report.text(*_fdc_in_words(mean))
    means = over_seeds(by_method, ["data", "objects", "method"])
    wide = means.assign(text=with_error(means, "nmi")).pivot(index="method", columns="data", values="text")
    wide = wide.loc[[*METHODS, "auto"], mean["data"].tolist()]
    wide.insert(0, "method", [title(m) for m in wide.index])
    report.table(
        "fdc_methods",
        means,
        "NMI with the categories of every method on the same views; seeds, repeats and spread as above.",
        shown=wide,
    )


def _fdc_in_words(mean: pd.DataFrame) -> list[str]:
    reached, above = mean["consensus"] >= mean["max_view"] - 0.0005, mean["consensus"] > mean["mean_view"]
    ours = mean.loc[mean["data"] == "8D5K-like"].iloc[0]
    return [
        "**“The consensus is as good as or better than the best single clustering, and always better than their average.”** On "
        f"average over seeds, at least as good as the best view: {_list(mean['data'][reached])}; not: {_list(mean['data'][~reached])}. "
        f"Better than the mean view: {_list(mean['data'][above])}; not: {_list(mean['data'][~above])}. (On 2D2K one of two features "
        "comes twice in three views and outvotes the other, so the consensus is as good as that feature, whichever it is.)",
        "**“Best individual result: 120 mislabeled points, consensus: 3”** (8D5K, one draw). Here, of "
        f"{ours['objects']:,} points and on average over {ours['repeats']} draws: best view "
        f"{ours['mislabeled_view']:.0f} ± {ours['mislabeled_view_sem']:.0f}, consensus {ours['mislabeled_consensus']:.0f} ± "
        f"{ours['mislabeled_consensus_sem']:.0f}, auto {ours['mislabeled_auto']:.0f} ± {ours['mislabeled_auto_sem']:.0f}.",
    ]


def _list(names: pd.Series) -> str:
    return ", ".join(names) or "none"


def _draw_fdc(mean: pd.DataFrame) -> Any:
    figure = new_figure(8.4, 0.9 + 0.75 * len(mean))
    axis = figure.subplots()
    names = ("all features", "consensus", "best view", "mean view", "worst view")
    for row, (_, ours) in enumerate(mean.iterrows()):
        for number, (measure, name) in enumerate(zip(MEASURED, names, strict=True)):
            style: dict[str, Any] = {
                "color": COLORS[number],
                "marker": MARKS[number],
                "markersize": 8,
                "linestyle": "",
            }
            slides = SLIDES_FDC[ours["data"]][number]
            axis.plot(slides, row - 0.16, **style, markerfacecolor="white", zorder=3)
            axis.plot(ours[measure], row + 0.16, **style, label=name, zorder=3)
        axis.plot(ours["auto"], row + 0.16, "P", color=COLORS[6], markersize=8, label="auto", zorder=3)
        for shift in (-0.16, 0.16):
            axis.axhline(row + shift, color="0.92", linewidth=1, zorder=1)
    axis.set_yticks(range(len(mean)), mean["data"])
    axis.set(ylim=(len(mean) - 0.5, -0.5), xlim=(0, 1.03), xlabel="NMI with the categories")
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    legend_outside(figure, axis)
    return figure


def run_odc(
    sets: list[tuple[DataSet, int | None, int]],
    coverages: Any,
    *,
    n_parts: int = 5,
    cells: Cells | None = None,
) -> pd.DataFrame:
    """Cluster overlapping parts of the objects and combine them, for every coverage; one row per run and method."""
    tasks = [
        ({**one.key(n), "n_parts": n_parts, "coverage": float(v), "seed": seed}, (one,))
        for one, n, n_seeds in sets
        for seed in range(n_seeds)
        for v in coverages
    ]
    return (cells or Cells()).run("object-distributed", _one_odc, tasks)["rows"]


def _one_odc(
    source: DataSet, data: str, n_objects: int | None, n_clusters: int, n_parts: int, coverage: float, seed: int
) -> list[dict[str, Any]]:
    X, truth = source.draw(seed, n_objects)
    how: dict[str, Any] = {"n_parts": n_parts, "coverage": coverage, "base": source.base, "random_state": seed}
    parts = object_distributed(X, n_clusters, **how)
    found = answers(parts, n_clusters, ODC_METHODS, seed)
    found["supra"] = found[supra(parts, found)]
    found["all objects"] = source.cluster(X, seed)
    where = {"seed": seed, "data": data, "objects": len(truth), "parts": n_parts, "coverage": coverage}
    return [{**where, "method": m, "nmi": nmi(truth, labels)} for m, labels in found.items()]


def report_odc(report: Report, rows: pd.DataFrame) -> None:
    """NMI against the coverage."""
    mean = over_seeds(rows, ["data", "objects", "parts", "coverage", "method"])
    report.section("3. Object-distributed clustering (ODC)")
    report.text(
        f"The objects are dealt to {mean['parts'].iloc[0]} clusterers, then each borrows objects of the others until the sizes of "
        "the parts add up to v times the number of objects. The slides draw a curve against v without numbers in the text, and "
        "do not say how many parts there were; v and the parts are our choice. “all objects” is the base clusterer on "
        "everything at once."
    )
    report.runs("odc", rows)
    order = [*ODC_METHODS, "supra", "all objects"]
    for name, group in mean.groupby("data", sort=False):
        wide = group.assign(text=with_error(group, "nmi")).pivot(index="method", columns="coverage", values="text")
        wide = wide.loc[order]
        wide.columns = [f"v = {v:g}" for v in wide.columns]
        wide.insert(0, "method", [title(m) for m in order])
        first = group.iloc[0]
        report.table(
            f"odc_{name.split('-')[0].lower()}",
            group,
            f"{name}, {first['objects']:,} objects: NMI with the categories; seeds {first['seeds']}, {first['repeats']} repeats, "
            "mean ± standard error of the mean.",
            shown=wide,
        )
    report.figure("odc", _draw_odc(mean, order), "NMI with the categories against the total coverage of the parts.")
    report.text(*_odc_in_words(mean))


def _odc_in_words(mean: pd.DataFrame) -> list[str]:
    said = []
    for name, group in mean.groupby("data", sort=False):
        values = group.pivot(index="coverage", columns="method", values="nmi")
        reached = (values["supra"] >= 0.95 * values["all objects"])[::-1].cummin()[::-1]  # at this v and all above
        enough = values.index[reached]
        said.append(
            f"**{name}.** At v = {values.index[0]:g} the best of three by ANMI has NMI {values['supra'].iloc[0]:.3f}"
            + (
                f"; it reaches 95 % of clustering all objects at once from v = {enough[0]:g} on."
                if len(enough)
                else "; it does not reach 95 % of clustering all objects at once."
            )
        )
    return said


def _draw_odc(mean: pd.DataFrame, order: list[str]) -> Any:
    groups = list(mean.groupby("data", sort=False))
    figure = new_figure(2.6 + 4 * len(groups), 4)
    axes = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
    for axis, (name, group) in zip(axes, groups, strict=True):
        for number, method in enumerate(["all objects", *DRAWN]):
            rows = group[group["method"] == method]
            curve(axis, range(len(rows)), rows["nmi"], rows["nmi_sem"], number, title(method))
        axis.set_xticks(range(len(rows)), [f"{v:g}" for v in rows["coverage"]])
        axis.set(title=name, xlabel="total coverage v (not to scale)", ylim=(-0.02, 1.04))
    axes[0].set_ylabel("NMI with the categories")
    legend_outside(figure, axes[0])
    return figure
