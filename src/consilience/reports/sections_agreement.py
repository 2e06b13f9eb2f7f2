"""The parts of a report about an agreement: stability by iteration, what became stable, and the consensus of the rows."""

from __future__ import annotations

from typing import Any

import pandas as pd

from consilience._check import count
from consilience.agreement import Agreement, column_information, stable_groups
from consilience.consensus import combine, floaters
from consilience.reports.agreement import components_of, iterations_figure
from consilience.reports.html_report import MADE, PAIRS, SURE, Options, Step, Story, done, ending, report_line
from consilience.reports.page import Block, Facts, Picture, Section, Sheet, Text
from consilience.reports.provenance import Origin
from consilience.reports.sections_consensus import floating, one_clustering
from consilience.tables import Table


def by_iteration(result: Agreement, table: pd.DataFrame) -> Section:
    """How alike the clusterings are before the process and after every iteration."""
    first, last = table.iloc[0], table.iloc[-1]
    said = " ".join(
        f"{name.capitalize().replace(':', ' with ', 1)}: {first[name]:.3f} before, {last[name]:.3f} after."
        for name in table
        if f"{name}_sem" in table
    )
    objective = pd.DataFrame(
        {"objective": result.objective}, index=pd.RangeIndex(len(result.objective), name="half_iteration")
    )
    return Section(
        "Agreement by iteration",
        [
            Picture("iterations", iterations_figure(table), f"Curves by iteration. {said}", said),
            Sheet(
                "iterations", table.set_index("iteration"), "Stability (mean Jaccard index) by iteration; 0 is before"
            ),
            Text(
                "The process makes the clusterings depend on each other: that they agree is its aim. The standard error says how "
                "much they differ, not how far another run of the process would end from this one.",
                note=True,
            ),
            Facts(
                [("objective", f"{result.objective[0]:.6g} before, {result.objective[-1]:.6g} after; it never falls")]
            ),
            Sheet("objective", objective, "Objective after every half of an iteration", most=0),
        ],
    )


def became_stable(result: Agreement, labels: Any, counts: Table | None) -> Section:
    """Stable components of both sides, before and after, and the groups of columns that are new."""
    rows = []
    for side in ("rows", "columns"):
        for when, sides in (("before", result.before), ("after", result.after)):
            rows.append({"side": side, "when": when, **components_of(getattr(sides, side))})
    table = pd.DataFrame(rows).set_index("side")
    weights = None if counts is None else column_information(counts.values, labels)
    names = counts.columns if counts is not None and result.after.columns.ids is None else None
    new = stable_groups(result.before.columns, result.after.columns, names=names, weights=weights, new=True, top=1000)
    new.index = pd.RangeIndex(len(new), name="group")
    blocks: list[Block] = [
        Text("A stable component is a set of rows, or of columns, that every clustering keeps together."),
        Sheet("components", table, "Stable components before and after"),
    ]
    if len(new):
        caption = "Columns that were apart before and are together in every clustering now"
        order = (
            "those that tell most about the clusters of the rows first" if weights is not None else "the largest first"
        )
        blocks.append(Sheet("column_groups", new, f"{caption}, {order}", most=20))
    return Section("What became stable", blocks)


def agreement_facts(result: Agreement, source: str) -> list[tuple[str, str]]:
    """What was done, in numbers."""
    rows, columns = result.after.rows, result.after.columns
    facts = [
        ("source", source if result.source is None else f"{source}, of {result.source}"),
        ("clusterings", f"{rows.n_clusterings:,} of the rows and {columns.n_clusterings:,} of the columns"),
        ("rows", f"{rows.n_objects:,} into {_span(rows)} clusters"),
        ("columns", f"{columns.n_objects:,} into {_span(columns)} clusters"),
        ("iterations", f"{len(result.iterations):,}"),
    ]
    for what, empty in (("row", result.empty_rows), ("column", result.empty_columns)):
        if len(empty):
            facts.append((f"{what}s without counts", f"{count(len(empty), what)}, which nothing can move"))
    if "method" in result.before.rows.info:
        facts.append(("started by", ", ".join(map(str, pd.unique(result.before.rows.info["method"].dropna())))))
    return facts


def _span(ensemble: Any) -> str:
    low, high = int(ensemble.n_clusters.min()), int(ensemble.n_clusters.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def tell_agreement(result: Agreement, origin: Origin, options: Options) -> Story:
    """From stability by iteration to one clustering of the rows."""
    rows = result.after.rows
    how: dict[str, Any] = {"random_state": options.seed, "n_jobs": options.n_jobs, "progress": False}
    one = combine(rows, options.n_clusters, options.method or "sccc", **how)
    weak, table = floaters(rows, one.labels), result.stability_by_iteration(options.known, n_jobs=options.n_jobs)

    def made() -> Section:
        lines = [f"found = {origin.load or 'cs.agree(counts, n_clusters)'}", report_line("found", options)]
        return done(agreement_facts(result, origin.name), origin, options, lines)

    steps: list[Step] = [
        made,
        lambda: by_iteration(result, table),
        lambda: became_stable(result, one.labels, options.data),
        lambda: one_clustering("One clustering of the rows", one, len(weak), rows.ids, options),
        lambda: floating(weak),
        ending(PAIRS, SURE, MADE if options.data is not None else None),
    ]
    sides = f"{count(rows.n_objects, 'row')} and {count(result.after.columns.n_objects, 'column')}"
    said = f"{count(rows.n_clusterings, 'clustering')} of {sides}, {count(len(result.iterations), 'iteration')}."
    if rows.n_clusterings > 1:
        before, after = table["rows"].iloc[[0, -1]]
        said += f" Mean Jaccard index of the clusterings of the rows: {before:.3f} before, {after:.3f} after."
    return Story(f"{origin.name}: clusterings that agree", steps, lambda: f"{said} {count(len(weak), 'floater')}.")
