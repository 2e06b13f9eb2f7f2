"""New groupings beside what was given: what there is to say of them, drawn, and in a report."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import check_labels, count
from consilience._json import plain
from consilience._run.random import stream
from consilience._types import Array
from consilience.alternatives import Alternatives, Contrast
from consilience.alternatives.contrast import USED
from consilience.measures import contingency
from consilience.reports import figures
from consilience.reports.clusters import describe_plane, match_known, matches, say_clusters, say_match, sureness
from consilience.reports.consensus import describe_clusters
from consilience.reports.files import object_table
from consilience.reports.finding import Block, Finding, Items, Picture, See, Sheet, Text, Words
from consilience.reports.sections import CLUSTERED, CONFIDENCE, Report, section
from consilience.reports.words import code_names, format_list, format_number

REDUNDANCY = {"nmi": "NMI", "information": "I(C;Z)", "share": "I(C;Z)/H(Z)", "shared_information": "shared"}
WORTH = {"inside_combined": "inside", "extended_combined": "extended", "extended_given": "with given"}


def contrast_summary(result: Contrast, known: Mapping[str, Any]) -> dict[str, Any]:
    about, sure = result.diagnostics, sureness(result)
    del sure["n_floaters"]
    own = ("n_clusters", "sizes", "quality", "run_agreement", "method", "scaling", "note", "seconds")
    return plain(
        {
            "sentence": result.sentence,
            "n_objects": len(result.labels),
            **sure,
            **{name: getattr(result, name) for name in own},
            **{name: getattr(about, name) for name in ("redundancy", "measure", "quality_of_given")},
            "groups": _groups(result, known),
            "known": matches(known, result.labels),
        }
    )


def alternatives_summary(found: Alternatives, known: Mapping[str, Any]) -> dict[str, Any]:
    rows = plain(found.table)
    for row, labels in zip(rows, found.labels.T, strict=False):  # the last one may not have been kept
        row["known"] = plain(matches(known, labels))
    compared = None
    if known and len(found):
        labelings = found.score(known)
        compared = {name: getattr(labelings, name) for name in ("measure", "matched", "best", "matches", "pairs")}
        compared["matches"] = compared["matches"].reset_index()
    about = {"labelings": plain(compared), "scaling": found.scaling, "stopped": found.stopped}
    return {"n_alternatives": len(found), "alternatives": rows, **about}


def _groups(result: Contrast, known: Mapping[str, Any]) -> pd.DataFrame:
    """Every group, and what its splits were worth (Gondek and Hofmann 2005, tables 3 and 4), beside the first known labeling too."""
    groups = result.groups[["name", "size", "outcome"]].rename(columns={"name": "group"})
    used = groups.index[groups["outcome"].isin(USED)]
    if not len(used) or not result.ensemble.n_clusterings:
        return groups
    worth = result.group_breakdown(next(iter(known.values()), None)).drop(columns=["group", "size"])
    return groups.join(worth.set_axis(used))


def contrast_finding(result: Contrast, known: Mapping[str, Any]) -> Finding:
    there = result.labels >= 0
    facts = [("sizes", format_list(result.sizes, 12))]
    if missing := int((~there).sum()):
        facts.append(("no label", count(missing, "object")))
    facts += [(f"with {name}", say_match(values)) for name, values in matches(known, result.labels).items()]
    shared = result.diagnostics.redundancy.set_index("given")[list(REDUNDANCY)].rename(columns=REDUNDANCY)
    return Finding(
        f"{result.n_clusters} new clusters of {count(int(there.sum()), 'object')}",
        facts,
        [Sheet("redundancy", shared, "How new: what the clusters share with what was given")],
        sentences=[result.sentence],
        reasons=Finding("How this came about", _data_facts(result), [_worth(result, known)]),
    )


def _data_facts(result: Contrast) -> list[tuple[str, str]]:
    return [("data", result.scaling), *([("note", result.note)] if result.note else [])]


def _worth(result: Contrast, known: Mapping[str, Any]) -> Sheet:
    table = _groups(result, known).set_index("group")
    runs = [outcome if pd.isna(n) else f"{n:.0f}" for outcome, n in zip(table["outcome"], table["runs"], strict=True)]
    name = next(iter(known), None)
    columns = WORTH if name is None else WORTH | {f"{key}_known": f"{key}:{name}" for key in ("inside", "extended")}
    shown = table[["size"]].assign(runs=runs).join(table[list(columns)].rename(columns=columns))
    who = "the runs" if result.method == "ccib" else "their splits"
    return Sheet("groups", shown, f"Groups: how much of the answer {who} tell, inside the group and of all objects", 12)


def alternatives_finding(found: Alternatives, known: Mapping[str, Any]) -> Finding:
    table = found.table[["n_clusters", "quality", "redundancy", "reproducibility"]].copy()
    for name, labels in known.items():
        scores = [match_known(labels, column)["nmi"] for column in found.labels.T]
        table[f"NMI with {name}"] = pd.Series(scores, table.index[: len(scores)], float)  # the last may not be kept
    kept = found.table["kept"].astype(bool)
    table.index = pd.Index([str(i) if is_kept else "–" for i, is_kept in enumerate(kept, 1)], name="grouping")
    title = f"{count(len(found), 'grouping')}, each new to what was given and to all before it"
    facts = []
    if known and len(found):
        compared = found.score(known)
        matched = compared.matches.reset_index().to_dict("records")
        who = [f"{row['known']} by {(row['matched'] or 'none').removeprefix('cluster_')}" for row in matched]
        nearest = f"mean NMI {format_number(compared.matched)}, each with its nearest {format_number(compared.best)}"
        pairs = ", ".join(f"{name} {format_number(value)}" for name, value in compared.pairs.items())
        facts = [("one to one", f"{', '.join(who)}: {nearest}")]
        facts += [("pairs", f"together in at least one grouping: {pairs}")]
    how = [("data", found.scaling), ("stopped", found.stopped)]
    tables = [Sheet("alternatives", table, "The groupings")] if len(table) else []
    return Finding(title, facts, tables, reasons=Finding("How this came about", how))


@figures.picture("contrast", Contrast)
def contrast_figure(result: Contrast, X: Any = None, given: Mapping[str, Any] | None = None) -> figures.Figure:
    """Where the given groups went and, with data, the data colored by what was given (names with labels) and by what was found."""
    given = given_labels(result) if given is None else given
    name, labels = next(iter(given.items()))
    codes = check_labels(labels, name)
    names = code_names(labels, codes)
    figure = figures.new_figure(5.4, 4.2) if X is None else figures.new_figure(13, 4.4)
    axes = [figure.subplots()] if X is None else figure.subplots(1, 3, width_ratios=[1.15, 1, 1])
    _draw_table(axes[0], result, codes, names, name)
    if X is None:
        return figure
    places = np.column_stack([_along(X, codes), _along(X, result.labels)])
    shown = np.sort(stream(0, "reports.objects").permutation(len(codes))[: figures.POINTS])
    found = (axes[2], result.labels, [str(c) for c in range(result.n_clusters)], "Found")
    for axis, groups, words, what in ((axes[1], codes, names, f"Given: {figures.short_name(name)}"), found):
        figures.scatter_codes(axis, places[shown], groups[shown], size=12)
        figures.legend_of(axis, dict(enumerate(words)), "", loc="center left", bbox_to_anchor=(1, 0.5))
        axis.set_title(what, loc="left")
        figures.open_frame(axis)
        axis.set(xlabel=f"where {figures.short_name(name)} differs most", ylabel="where the new clusters differ most")
    return figure


def given_labels(result: Contrast) -> dict[str, Array]:
    return {str(name): result.given.named_labels(j) for j, name in enumerate(result.given.names)}


def _along(X: Any, codes: Array) -> Array:
    """Objects along the direction in which the means of the groups differ most."""
    groups = np.flatnonzero(np.bincount(codes[codes >= 0]))
    means = np.vstack([np.asarray(X[codes == g].mean(axis=0)).ravel() for g in groups])
    sizes = np.bincount(codes[codes >= 0])[groups]
    apart = (means - np.average(means, axis=0, weights=sizes)) * np.sqrt(sizes)[:, None]
    direction = np.linalg.svd(apart, full_matrices=False)[2][0]
    along = np.asarray(X @ direction).ravel() if sparse.issparse(X) else np.asarray(X, float) @ direction
    return np.asarray(along - along.mean())


def _draw_table(axis: Any, result: Contrast, codes: Array, names: list[str], name: str) -> None:
    counts = contingency(result.labels, codes)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    image = axis.imshow(shares, cmap="viridis", vmin=0, vmax=1, aspect="auto")
    axis.figure.colorbar(image, ax=axis, label=f"share of each {figures.short_name(name)}")
    if counts.size <= 144:
        for (row, column), value in np.ndenumerate(counts):
            light = figures.NEARLY_BLACK if shares[row, column] > 0.6 else figures.NEARLY_WHITE
            axis.text(column, row, f"{value:,}", ha="center", va="center", color=light, fontsize=9)
    axis.set_xticks(range(len(names)), map(figures.short_name, names), rotation=30 if len(names) > 4 else 0)
    axis.set_yticks(range(result.n_clusters))
    axis.set(xlabel=f"given: {figures.short_name(name)}", ylabel="new cluster")
    axis.set_title("Where did each given group go?", loc="left")


class ContrastReport(Report, of=Contrast):
    about = "a new grouping"

    def finding(self) -> Finding:
        return contrast_finding(self.result, self.known)

    def answer(self) -> list[Text | Items]:
        said = str(self.result.sentence)
        first: Words = [said[0].upper() + said[1:].removesuffix("."), See(("contrast",), ("redundancy",)), "."]
        return [Text(first), *say_clusters(self.result, self)]

    def facts(self) -> list[tuple[str, str]]:
        result: Contrast = self.result
        facts = [*super().facts(), ("method", result.method), ("objects", f"{len(result.labels):,}")]
        facts += [("given groupings", ", ".join(map(str, result.given.names)))]
        facts += [("new clusters", f"{result.n_clusters:,}"), ("splits combined", f"{result.ensemble.n_clusterings:,}")]
        if not np.isnan(result.run_agreement):
            halves = f"adjusted Rand index {result.run_agreement:.3f} between two halves of the runs"
            facts.append(("agreement of runs", halves))
        if "seed" in result.ensemble.info and len(seeds := pd.unique(result.ensemble.info["seed"].dropna())) == 1:
            facts.append(("seed", str(seeds[0])))
        return [*facts, *_data_facts(result)]

    def code(self) -> list[str]:
        call = f"found = cs.contrast(data, given, {self.result.n_clusters}, method={self.result.method!r})"
        return super().code() or [call]

    def notes(self) -> list[str | None]:
        return [CONFIDENCE, CLUSTERED]


@section(Contrast, title="How new, how good", order=10)
def how_new(report: ContrastReport) -> Iterator[Block]:
    result: Contrast = report.result
    given = given_labels(result)
    redundancy = result.diagnostics.redundancy.set_index("given")
    yield Sheet("redundancy", redundancy, "What the new clusters share with what was given")
    figure = contrast_figure(result, None if report.data is None else report.data.values, given)
    alt = f"Share of every given group of {next(iter(given))} in each new cluster. {result.sentence}"
    caption = "Where each given group went: rows alike mean that the new clusters cut across what was given."
    yield Picture("contrast", figure, alt, caption)
    caption = "The given groups, and how much of the answer their splits tell"
    yield Sheet("groups", _groups(result, {}).set_index("group"), caption)


@section(Contrast, title="The new clusters", order=60)
def new_clusters(report: ContrastReport) -> Iterator[Block]:
    result: Contrast = report.result
    given = {f"given: {name}": codes for name, codes in zip(result.given.names, result.given.labels.T, strict=True)}
    yield from describe_clusters(result, report)
    yield from describe_plane(report, {"new": result.labels} | given)
    yield Sheet("objects", object_table(result), "Every object", most=0)
