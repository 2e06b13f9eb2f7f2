"""Table 1 and Figures 3 and 4 of Bekkerman et al. 2009 beside ours, from what :mod:`documents` found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.reports.figures import new_figure
from papers.bekkerman2009.data import NEWSGROUPS
from papers.bekkerman2009.documents import Found
from papers.figures import curve, legend_outside
from papers.report import Report, with_error

MEASURES = {"accuracy": "accuracy", "documents": "Jaccard, documents", "words": "Jaccard, words"}
STAGES = {"before": "before", "cap": "after CAP", "sccc": "after SCCC", "cap_sccc": "after CAP and SCCC"}
# The paper's Table 1: mean and standard error at the four stages.
PAPER: dict[str, dict[str, list[tuple[float, float]]]] = {
    "20 Newsgroups": {
        "accuracy": [(0.7203, 0.0044), (0.7562, 0.0047), (0.7388, 0.0083), (0.7523, 0.0067)],
        "documents": [(0.4924, 0.0061), (0.7404, 0.0133), (0.7732, 0.0292), (0.8556, 0.0165)],
        "words": [(0.1006, 0.0005), (0.6430, 0.0010), (0.2639, 0.0363), (0.4607, 0.0395)],
    },
    "sanders-r": {
        "accuracy": [(0.6594, 0.0051), (0.6745, 0.0036), (0.6763, 0.0028), (0.6826, 0.0018)],
        "documents": [(0.4186, 0.0062), (0.6435, 0.0099), (0.6831, 0.0266), (0.7242, 0.0306)],
        "words": [(0.1743, 0.0013), (0.3453, 0.0034), (0.3459, 0.0264), (0.5024, 0.0315)],
    },
    "kitchen-l": {
        "accuracy": [(0.4053, 0.0035), (0.4350, 0.0017), (0.4214, 0.0060), (0.4481, 0.0016)],
        "documents": [(0.1757, 0.0020), (0.3784, 0.0071), (0.5576, 0.0262), (0.7067, 0.0214)],
        "words": [(0.2038, 0.0014), (0.3696, 0.0027), (0.3202, 0.0308), (0.4476, 0.0405)],
    },
}
ACROSS = 5  # sets in a row of Figure 4
SHOWN = 6  # groups of words shown for every set
WORDS = 15  # of each


def paper_rows() -> pd.DataFrame:
    """The paper's Table 1 in the form of ours."""
    return pd.DataFrame(
        [
            {"data": data, "recipe": "the paper", "measure": measure, "stage": stage, "value": mean, "value_sem": error}
            for data, measures in PAPER.items()
            for measure, values in measures.items()
            for stage, (mean, error) in zip(STAGES, values, strict=True)
        ]
    )


def report_documents(report: Report, found: Found, *, m: int, n_iter: int) -> None:
    """Tables, figures, and what they say about the paper's claims."""
    report.section("1. Documents and words (Table 1)")
    report.text(
        f"m = {m} co-clusterings of every set, {n_iter} iterations of the process, as many clusters as categories. ± is the standard "
        "error of the mean as the paper takes it: over the clusterings for accuracy, over all pairs of them for the Jaccard "
        "index, over the valid gaps for SCCC. Clusterings after the process depend on each other, so it says how much they differ "
        "and not how far another ensemble would end from this one (section 3 does)."
    )
    report.table(
        "documents_sizes", found.sizes, "The sets; CPU-seconds of clusterings and process.", shown=_whole(found.sizes)
    )
    both = _side_by_side(paper_rows(), found.stages)
    report.table(
        "table1", both, "Table 1, the paper's and ours; in brackets the change against “before”.", shown=_wide(both)
    )
    report.text(*_claims(found))
    report.figure(
        "figure4", _draw_iterations(found.iterations), "Figure 4: stability and accuracy by iteration (0 is before)."
    )
    report.table("figure4", found.iterations, "The numbers behind Figure 4.", shown=_curves_in_words(found.iterations))
    _report_words(report, found)
    if len(found.members):
        report.section("2. How many clusterings take part (Figure 3)")
        report.table(
            "figure3", found.members, "Accuracy before and after the process with m clusterings.", shown=_m(found)
        )
        report.figure("figure3", _draw_members(found.members), "Figure 3: accuracy by the number of clusterings.")


def _side_by_side(paper: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """The paper's rows on 20 Newsgroups before ours on the same, its mailboxes before what stands in for them."""
    same = ours["data"].isin(NEWSGROUPS)
    parts = [paper[paper["data"] == "20 Newsgroups"], ours[same], paper[paper["data"] != "20 Newsgroups"], ours[~same]]
    return pd.concat(parts, ignore_index=True)


def _report_words(report: Report, found: Found) -> None:
    report.text(
        "**Words.** The Jaccard index of words is ruled by a few large clusters of rare words, which nothing tells apart: by how many "
        "documents a word occurs in, it says more."
    )
    bands = found.bands.assign(
        band=[f"{low} to {high}" for low, high in zip(found.bands["low"], found.bands["high"], strict=True)],
        **{when: with_error(found.bands, when) for when in ("before", "after")},
    )
    shown = bands[["data", "recipe", "band", "words", "before", "after"]].rename(columns={"band": "documents with it"})
    report.table("words_by_frequency", found.bands, "Jaccard index of words by document frequency.", shown=shown)
    report.text(
        "**Words that came together.** Groups of three and more words, every two of which some clustering parted before, and which "
        "all clusterings keep together now; those first whose words tell most about the clusters of documents."
    )
    some = found.groups.groupby(["data", "recipe"], sort=False).head(SHOWN)
    shown = some.assign(members=[_few(text) for text in some["members"]])[["data", "recipe", "size", "members"]]
    report.table("word_groups", found.groups, "Word groups that became stable.", shown=shown)


def _few(text: str) -> str:
    words = text.split("; ")
    return ", ".join(words[:WORDS]) + (f" … ({len(words) - WORDS:,} more)" if len(words) > WORDS else "")


def _whole(sizes: pd.DataFrame) -> pd.DataFrame:
    return sizes.assign(cpu_seconds=[f"{seconds:.1f}" for seconds in sizes["cpu_seconds"]])


def _wide(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per set, recipe and measure, one column per stage."""
    texts = rows.assign(text=with_error(rows, "value", digits=4))
    out = []
    for (data, recipe, measure), group in texts.groupby(["data", "recipe", "measure"], sort=False):
        stages = group.set_index("stage")
        start = stages.at["before", "value"]
        cells = {
            what: stages.at[stage, "text"]
            + ("" if stage == "before" or not start > 0 else f" ({stages.at[stage, 'value'] / start - 1:+.1%})")
            for stage, what in STAGES.items()
        }
        out.append({"data": data, "recipe": recipe, "measure": MEASURES[measure], **cells})
    return pd.DataFrame(out)


def _claims(found: Found) -> list[str]:
    """The paper's claims, counted on our sets."""
    keys = ["data", "recipe", "measure"]
    wide, error = (found.stages.pivot(index=keys, columns="stage", values=v) for v in ("value", "value_sem"))
    documents = wide.xs("documents", level="measure")
    right, wrong = wide.xs("accuracy", level="measure"), error.xs("accuracy", level="measure")
    gain = documents["cap"] / documents["before"] - 1
    slack = np.hypot(wrong["before"], wrong["cap"])
    better, worse = right["cap"] > right["before"] + slack, right["cap"] < right["before"] - slack
    n, early = len(gain), _early(found.iterations)
    said = [
        f"**Stability** rose on all sets of the paper. Here the Jaccard index of documents rises in {int((gain > 0).sum())} of {n} runs, "
        f"by {gain.min():+.0%} to {gain.max():+.0%}, and by at least 20 % in {int((gain >= 0.2).sum())}.",
        f"**Accuracy** rose on all sets of the paper. Here it rises by more than a standard error in {int(better.sum())} of {n} runs and "
        f"falls by more than one in {int(worse.sum())}"
        + (f" ({'; '.join(map(', '.join, worse[worse].index))})." if worse.any() else "."),
    ]
    if len(early):
        said.append(
            "**Iterations.** The paper found the first two to matter most. Here they bring "
            f"{early.min():.0%} to {early.max():.0%} of the gain in the Jaccard index of documents."
        )
    return said


def _early(iterations: pd.DataFrame) -> pd.Series:
    """What part of the gain in stability the first two iterations bring, where there are more."""
    parts = {}
    for key, group in iterations.groupby(["data", "recipe"], sort=False):
        values = group["rows"].to_numpy()
        if len(values) > 3 and values[-1] > values[0]:
            parts[key] = (values[2] - values[0]) / (values[-1] - values[0])
    return pd.Series(parts, dtype=float)


def _curves_in_words(iterations: pd.DataFrame) -> pd.DataFrame:
    names = {"rows": "Jaccard, documents", "columns": "Jaccard, words", "accuracy": "accuracy"}
    texts = {title: with_error(iterations, name, digits=4) for name, title in names.items()}
    return iterations[["data", "recipe", "iteration"]].assign(**texts)


def _m(found: Found) -> pd.DataFrame:
    texts = {when: with_error(found.members, when, digits=4) for when in ("before", "after")}
    return found.members[["data", "recipe", "m"]].assign(**texts)


def _draw_iterations(iterations: pd.DataFrame) -> Any:
    """A column for every set, stability above accuracy, the recipes in one panel; five sets in a row."""
    sets = list(iterations.groupby("data", sort=False))
    wide, deep = min(len(sets), ACROSS), -(-len(sets) // ACROSS)
    figure = new_figure(2.6 + 2.4 * wide, 5.2 * deep)
    axes = figure.subplots(2 * deep, wide, squeeze=False)
    for axis in axes[-2:, (len(sets) - 1) % ACROSS + 1 :].ravel():
        axis.set_visible(False)
    for i, (name, group) in enumerate(sets):
        above, below = axes[2 * (i // ACROSS) : 2 * (i // ACROSS) + 2, i % ACROSS]
        for number, (recipe, rows) in enumerate(group.groupby("recipe", sort=False)):
            for axis, side, place in ((above, "rows", 1), (above, "columns", 2), (below, "accuracy", 1)):
                label = f"{'words' if side == 'columns' else 'documents'}, {recipe} recipe"
                curve(axis, rows["iteration"], rows[side], rows[f"{side}_sem"], place + 2 * number, label)
        above.set_title(name, fontsize=10)
        above.set_ylim(0, 1)
        below.set_xlabel("iteration")
        for axis, what in ((above, "mean Jaccard index"), (below, "accuracy")):
            axis.set_xticks(sorted(set(group["iteration"])))
            axis.set_ylabel(what if i % ACROSS == 0 else "")
    legend_outside(figure, axes[0, 0])
    return figure


def _draw_members(members: pd.DataFrame) -> Any:
    sets = list(members.groupby(["data", "recipe"], sort=False))
    figure = new_figure(2.4 + 3.2 * len(sets), 3.6)
    axes = figure.subplots(1, len(sets), squeeze=False, sharey=True)[0]
    for axis, ((data, recipe), rows) in zip(axes, sets, strict=True):
        curve(axis, rows["m"], rows["before"], rows["before_sem"], 0, "before")
        curve(axis, rows["m"], rows["after"], rows["after_sem"], 1, "after the process")
        axis.set(title=f"{data}, {recipe} recipe", xlabel="clusterings that take part")
        axis.set_xticks(rows["m"])
    axes[0].set_ylabel("accuracy")
    legend_outside(figure, axes[0])
    return figure
