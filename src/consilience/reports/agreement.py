"""Clusterings that agree: what there is to say of them, drawn by iteration, and in a report."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count
from consilience._json import plain
from consilience._types import Array
from consilience.agreement import Agreement, stable_groups
from consilience.agreement.stable_groups import column_information
from consilience.consensus import Consensus, combine, floaters
from consilience.ensemble import Ensemble
from consilience.reports.clusters import called, find_marks, say_clusters, say_sureness
from consilience.reports.consensus import describe_consensus
from consilience.reports.figures import QUIET, Figure, color_of, new_figure, open_frame, picture, short_name
from consilience.reports.files import object_index, object_table
from consilience.reports.finding import Block, Facts, Finding, Items, Picture, See, Sheet, Text
from consilience.reports.sections import CLUSTERED, CONFIDENCE, NOT_TRUTH, Report, section
from consilience.reports.words import DEFINITIONS, format_list, format_name, format_number, format_range

NEW_GROUPS = "Columns that were apart before and are together in every clustering now"
MADE_TO_AGREE = (
    "The process makes the clusterings depend on each other: that they agree is what it does. The standard error says how much they "
    "differ, not how far another run of the process would end from this one."
)


def labels_table(ensemble: Ensemble, consensus: Consensus | None = None, *, ids: Any = None) -> pd.DataFrame:
    """One row per object: its cluster in a consensus with confidence and support, and its label in every clustering as it was given."""
    index = object_index(ensemble.ids if ids is None else ids, ensemble.n_objects)
    frame = pd.DataFrame(index=index) if consensus is None else object_table(consensus, index)
    for j, (codes, names) in enumerate(zip(ensemble.labels.T, ensemble.label_names, strict=True)):
        frame[f"clustering_{j}"] = codes if names is None else ensemble.named_labels(j)
    return frame


def agreement_summary(
    result: Agreement, table: pd.DataFrame, *, consensus: Consensus, groups: pd.DataFrame, known: Mapping[str, Any]
) -> dict[str, Any]:
    """Plain numbers and text for JSON: of the stability by iteration, the consensus of the rows, new groups of columns."""
    last, parts = result.after, component_sheet(result).frame.groupby(level=0, sort=False)
    own = ("method", "sizes", "mean_confidence", "mean_support", "n_floaters")
    one = {name: getattr(consensus, name) for name in own}
    one |= {by: {name: values[by] for name, values in known.items()} for by in ("accuracy", "purity")}
    return plain(
        {
            "n_rows": last.rows.n_objects,
            "n_columns": last.columns.n_objects,
            "n_empty_rows": len(result.empty_rows),
            "n_empty_columns": len(result.empty_columns),
            "n_clusterings": last.rows.n_clusterings,
            "n_clusters": [last.rows.n_clusters.min(), last.rows.n_clusters.max()],
            "n_column_clusters": [last.columns.n_clusters.min(), last.columns.n_clusters.max()],
            "stability": table,
            "components": {side: some.set_index("when").to_dict("index") for side, some in parts},
            "consensus": one,
            "groups": groups,
        }
    )


def components_of(ensemble: Ensemble) -> dict[str, Any]:
    """How many stable components there are, the size of the largest, and the share of the objects that are in one with others."""
    found = ensemble.signatures()
    sizes = found.counts[(found.labels >= 0).any(axis=1)]
    share = float(sizes[sizes > 1].sum() / max(sizes.sum(), 1))
    return {"number": len(sizes), "largest": int(sizes.max(initial=0)), "share_in_groups": share}


def agreement_finding(
    result: Agreement, table: pd.DataFrame, *, consensus: Consensus, groups: pd.DataFrame, known: Mapping[str, Any]
) -> Finding:
    """Stability by iteration, stable components, and the consensus of the rows; parameters are those of :func:`agreement_summary`."""
    rows, columns = result.after.rows, result.after.columns
    title = (
        f"{count(rows.n_clusterings, 'clustering')} of {count(rows.n_objects, 'row')} into {format_range(rows.n_clusters, 'cluster')}, "
        f"and of {count(columns.n_objects, 'column')} into {format_range(columns.n_clusters, 'cluster')}"
    )
    empty = (("row", result.empty_rows), ("column", result.empty_columns))
    sentences = [f"{count(len(some), what)} without counts: in no cluster" for what, some in empty if len(some)]
    facts = [("consensus", f"{count(consensus.n_clusters, 'cluster')} of {format_list(consensus.sizes, 15)}")]
    facts += [("", say_sureness(consensus))]
    facts += [(f"with {name}", f"accuracy {v['accuracy']:.3f}, purity {v['purity']:.3f}") for name, v in known.items()]
    stability = pd.DataFrame(index=pd.Index(table["iteration"], name="iteration"))
    for name in (name for name in table if f"{name}_sem" in table):
        pairs = ([format_number(value, 4) for value in pair] for pair in table[[name, f"{name}_sem"]].to_numpy(float))
        words = [mean if "–" in (mean, error) else f"{mean} ± {error}" for mean, error in pairs]
        stability[name.replace("accuracy:", "purity:")] = words
    caption = "Mean Jaccard index of all pairs of clusterings, by iteration (0 is before)"
    tables = [Sheet("stability", stability, caption), component_sheet(result)]
    if len(groups):
        members = [format_list(list(map(str, some)), 10) for some in groups["members"]]
        new = pd.DataFrame({"members": members}, index=pd.Index(groups["size"], name="size"))
        tables.append(Sheet("groups", new, NEW_GROUPS, most=12))
    return Finding(title, facts, tables, sentences=sentences)


def component_sheet(result: Agreement) -> Sheet:
    both = product(("rows", "columns"), ("before", "after"))
    rows = [{"side": a, "when": when, **components_of(getattr(getattr(result, when), a))} for a, when in both]
    return Sheet("components", pd.DataFrame(rows).set_index("side"), "Stable components before and after")


@picture("iterations", Agreement, pd.DataFrame)
def iterations_figure(found: Agreement | pd.DataFrame) -> Figure:
    """Stability and purity by iteration with standard errors, of an Agreement or its ``stability_by_iteration(known)``."""
    if isinstance(found, Agreement) and found.after.rows.n_clusterings < 2:
        raise InputError("a single clustering agrees with no other: there is nothing to draw")
    table = found.stability_by_iteration() if isinstance(found, Agreement) else found
    known = [name for name in table.columns if name.startswith("accuracy") and not name.endswith("_sem")]
    figure = new_figure(9.2 if known else 5.2, 3.8)
    axes = figure.subplots(1, 2 if known else 1, squeeze=False)[0]
    _curves(axes[0], table, ["rows", "columns"], "Do the clusterings agree?", "mean Jaccard index of all pairs")
    if known:
        _curves(axes[1], table, known, "Are they right?", "purity of the row clusterings")
    return figure


def _curves(axis: Any, table: pd.DataFrame, names: list[str], title: str, what: str) -> None:
    for number, name in enumerate(names):
        how: dict[str, Any] = {"color": color_of(number), "marker": "o^sD"[number % 4]}
        how |= {"capsize": 3, "linewidth": 1.6, "label": short_name(name.split(":", 1)[-1])}
        axis.errorbar(table["iteration"], table[name], yerr=np.nan_to_num(table[f"{name}_sem"].to_numpy(float)), **how)
    axis.set_title(title, loc="left")
    axis.set(xlabel="iteration (0 is before)", ylabel=what)
    axis.set_xticks(table["iteration"])
    axis.grid(axis="y", color=QUIET, alpha=0.25)
    open_frame(axis)
    if len(names) > 1 or ":" in names[0]:
        axis.legend(frameon=False)


class AgreementReport(Report, of=Agreement):
    uses = ("data", "known", "n_clusters", "method")
    data_kind = "counts"
    about = "clusterings that agree"

    @cached_property
    def consensus(self) -> Consensus:
        return combine(self.objects, progress=False, n_jobs=self.options.n_jobs, **self.how)

    @cached_property
    def floaters(self) -> pd.DataFrame:
        return floaters(self.objects, self.consensus)

    @cached_property
    def table(self) -> pd.DataFrame:
        return self.result.stability_by_iteration(self.known, n_jobs=self.options.n_jobs)

    @property
    def reference(self) -> Array:
        return self.consensus.labels

    def answer(self) -> list[Text | Items]:
        names = called(self, find_marks(self, self.consensus.labels))
        seen = See(("iterations",), ("components", "column_groups"))
        return [Text([self.finding().title, seen, "."]), *say_clusters(self.consensus, self, names)]

    def finding(self) -> Finding:
        rows, columns = self.objects, self.result.after.columns
        text = f"{count(rows.n_clusterings, 'clustering')} of {count(rows.n_objects, 'row')} and "
        text += f"{count(columns.n_objects, 'column')}, {count(len(self.result.iterations), 'iteration')}"
        if rows.n_clusterings > 1:
            before, after = self.table["rows"].iloc[[0, -1]]
            text += f". Mean Jaccard index of the clusterings of the rows: {before:.3f} before, {after:.3f} after"
        return Finding(text)

    def facts(self) -> list[tuple[str, str]]:
        result, source = self.result, self.origin.source
        rows, columns = self.objects, result.after.columns
        facts = [("source", source if result.source is None else f"{source}, of {result.source}")]
        facts += [("clusterings", f"{rows.n_clusterings:,} of the rows and {columns.n_clusterings:,} of the columns")]
        for what, side in (("rows", rows), ("columns", columns)):
            facts.append((what, f"{side.n_objects:,} into {format_range(side.n_clusters, 'cluster')}"))
        facts.append(("iterations", f"{len(result.iterations):,}"))
        for what, empty in (("row", result.empty_rows), ("column", result.empty_columns)):
            if len(empty):
                facts.append((f"{what}s without counts", f"{count(len(empty), what)}, which nothing can move"))
        if "method" in result.before.rows.info:
            facts.append(("started by", ", ".join(map(str, pd.unique(result.before.rows.info["method"].dropna())))))
        return facts

    def code(self) -> list[str]:
        return super().code() or ["found = cs.agree(counts, n_clusters)"]

    def notes(self) -> list[str | None]:
        return [NOT_TRUTH, CONFIDENCE, CLUSTERED if self.data is not None else None]


@section(Agreement, title="Agreement by iteration", order=10)
def by_iteration(report: AgreementReport) -> Iterator[Block]:
    table, objective = report.table, report.result.objective
    first, last = table.iloc[0], table.iloc[-1]
    ends = {name: f"{first[name]:.3f} before, {last[name]:.3f} after." for name in table if f"{name}_sem" in table}
    text = " ".join(f"{format_name(name).capitalize()}: {said}" for name, said in ends.items())
    yield Picture("iterations", iterations_figure(table), f"Curves by iteration. {text}", text)
    caption = "Stability (mean Jaccard index) by iteration; 0 is before"
    yield Sheet("iterations", table.set_index("iteration"), caption)
    yield Text(MADE_TO_AGREE, note=True)
    yield Facts([("objective", f"{objective[0]:.6g} before, {objective[-1]:.6g} after; it never falls")])
    halves = pd.DataFrame({"objective": objective}, index=pd.RangeIndex(len(objective), name="half_iteration"))
    yield Sheet("objective", halves, "Objective after every half of an iteration", most=0)


@section(Agreement, title="What became stable", order=20)
def became_stable(report: AgreementReport) -> Iterator[Block]:
    result: Agreement = report.result
    yield Text(f"A stable component is {DEFINITIONS['stable component']}: here of rows, or of columns.")
    yield component_sheet(result)
    counts = report.data
    weights = None if counts is None else column_information(counts.values, report.consensus.labels)
    names = counts.columns if counts is not None and result.after.columns.ids is None else None
    new = stable_groups(result.before.columns, result.after.columns, names=names, weights=weights, new=True, top=1000)
    if len(new):
        order = "the largest first" if weights is None else "those that tell most about the clusters of the rows first"
        new = new.set_index(pd.RangeIndex(len(new), name="group"))
        yield Sheet("column_groups", new, f"{NEW_GROUPS}, {order}", most=20)


@section(Agreement, title="One clustering of the rows", order=60)
def consensus(report: AgreementReport) -> Iterator[Block]:
    one = report.consensus
    yield from describe_consensus(one, report, tiles={"consensus": one.labels})
    yield Sheet("objects", object_table(one), "Every object", most=0)
