"""Clusterings that agree: as a table, printed, drawn by iteration, and in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console

from consilience._check import count
from consilience._json import plain
from consilience._types import Array
from consilience.agreement import Agreement, stable_groups
from consilience.agreement.components import column_information
from consilience.consensus import Consensus, combine, floaters
from consilience.ensemble import Ensemble
from consilience.reports.clusters import called, find_marks, say_clusters
from consilience.reports.consensus import describe_consensus
from consilience.reports.figures import QUIET, color_of, new_figure, open_frame, save_figure, short_name
from consilience.reports.files import object_index, object_table
from consilience.reports.finding import format_list, format_name, format_range, format_with_error
from consilience.reports.html import Block, Facts, Items, Picture, See, Sheet, Text
from consilience.reports.sections import CLUSTERED, CONFIDENCE, NOT_TRUTH, Report, section
from consilience.reports.terminal import DEFINITIONS, print_definitions, print_table, terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = 12  # groups of columns that are printed
MEMBERS = 10  # of each of them
TITLES = {"rows": "rows, Jaccard", "columns": "columns, Jaccard"}
MARKERS = "o^sD"


def labels_table(ensemble: Ensemble, consensus: Consensus | None = None, *, ids: Any = None) -> pd.DataFrame:
    """One row per object: its label in every clustering as it was given, after its cluster in a consensus with confidence and support.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.reports.agreement import labels_table
    >>> ens = cs.Ensemble([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]], ids=list("abcde"))
    >>> labels_table(ens, cs.combine(ens, 2, "vote")).drop(columns="confidence").reset_index()
      id  cluster  support  clustering_0  clustering_1
    0  a        0      1.0             0             0
    1  b        0      1.0             0             0
    2  c        0      0.5             0             1
    3  d        1      1.0             1             1
    4  e        1      1.0             1             1
    """
    index = object_index(ensemble.ids if ids is None else ids, ensemble.n_objects)
    frame = pd.DataFrame(index=index) if consensus is None else object_table(consensus, index)
    for j, (codes, names) in enumerate(zip(ensemble.labels.T, ensemble.label_names, strict=True)):
        frame[f"clustering_{j}"] = codes if names is None else ensemble.named_labels(j)
    return frame


def agreement_summary(
    result: Agreement, table: pd.DataFrame, *, consensus: Consensus, groups: pd.DataFrame, known: Mapping[str, Any]
) -> dict[str, Any]:
    """Plain numbers and text, for print and JSON.

    Parameters
    ----------
    result : Agreement
    table : DataFrame
        Of :meth:`~consilience.agreement.Agreement.stability_by_iteration`.
    consensus : Consensus
        Of the rows after the process.
    groups : DataFrame
        Of :func:`~consilience.agreement.stable_groups`, for the columns.
    known : mapping
        Accuracy of the consensus by the name of the known labels.
    """
    last = result.after
    ends = (("before", result.before), ("after", last))
    return plain(
        {
            "n_rows": last.rows.n_objects,
            "n_columns": last.columns.n_objects,
            "n_empty_rows": len(result.empty_rows),
            "n_empty_columns": len(result.empty_columns),
            "n_clusterings": last.rows.n_clusterings,
            "n_clusters": _range(last.rows),
            "n_column_clusters": _range(last.columns),
            "stability": table,
            "components": {
                side: {when: components_of(getattr(sides, side)) for when, sides in ends}
                for side in ("rows", "columns")
            },
            "consensus": {
                "method": consensus.method,
                "sizes": consensus.sizes,
                "mean_confidence": consensus.mean_confidence,
                "mean_support": consensus.mean_support,
                "n_floaters": len(consensus.floating),
                "accuracy": known,
            },
            "groups": groups,
        }
    )


def _range(ensemble: Ensemble) -> list[int]:
    return [int(ensemble.n_clusters.min()), int(ensemble.n_clusters.max())]


def components_of(ensemble: Ensemble) -> dict[str, Any]:
    """How many stable components there are, the size of the largest, and the share of the objects that are in one with others."""
    found = ensemble.signatures()
    sizes = found.counts[(found.labels >= 0).any(axis=1)]
    return {
        "number": len(sizes),
        "largest": int(sizes.max(initial=0)),
        "share_in_groups": float(sizes[sizes > 1].sum() / max(sizes.sum(), 1)),
    }


def print_agreement(summary: Mapping[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`agreement_summary` holds.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> from consilience.agreement import stable_groups
    >>> from consilience.reports import print_agreement
    >>> from consilience.reports.agreement import agreement_summary
    >>> topic = np.arange(60) % 3
    >>> counts = np.random.default_rng(0).poisson(0.2 + 3 * (topic[:, None] == np.arange(30) % 3))
    >>> found = cs.agree(counts, 3, 3, n_clusterings=3, max_iter=1)
    >>> parts = {"consensus": cs.combine(found.after.rows, 3), "known": {}}
    >>> parts["groups"] = stable_groups(found.before.columns, found.after.columns, new=True)
    >>> summary = agreement_summary(found, found.stability_by_iteration(), **parts)
    >>> print_agreement(summary, title="counts.npz")  # doctest: +ELLIPSIS
    counts.npz: 3 clusterings of 60 rows into 3 clusters, and of 30 columns into 3 clusters
    ...
    """
    console = console or terminal()
    rows, columns = count(summary["n_rows"], "row"), count(summary["n_columns"], "column")
    m = count(summary["n_clusterings"], "clustering")
    console.print(
        f"{title}: {m} of {rows} into {format_range(summary['n_clusters'], 'cluster')}, "
        f"and of {columns} into {format_range(summary['n_column_clusters'], 'cluster')}",
        markup=False,
    )
    for what in ("row", "column"):
        if empty := summary[f"n_empty_{what}s"]:
            console.print(f"{count(empty, what)} without counts: in no cluster")
    console.print("\nAgreement over all pairs of clusterings, by iteration (0 is before)")
    table = pd.DataFrame(summary["stability"])
    shown = [name for name in table.columns if f"{name}_sem" in table.columns]
    heads = ["iteration", *(TITLES.get(name, name) for name in shown)]
    cells = [
        [str(row["iteration"]), *(format_with_error(row[name], row[f"{name}_sem"]) for name in shown)]
        for row in summary["stability"]
    ]
    print_table(console, heads, cells, tuple(range(1, len(heads))))
    console.print("\nStable components")
    heads = ["", "groups before", "after", "largest before", "after", "in groups before", "after"]
    print_table(console, heads, [_component_row(summary, side) for side in ("rows", "columns")], tuple(range(1, 7)))
    _print_consensus(console, summary["consensus"])
    if summary["groups"]:
        console.print("\nColumns that were apart before and are together in every clustering now")
        some = summary["groups"][:GROUPS]
        print_table(
            console,
            ["size", "members"],
            [[str(g["size"]), format_list(list(map(str, g["members"])), MEMBERS)] for g in some],
            (0,),
        )
        if len(summary["groups"]) > GROUPS:
            console.print(f"… and {count(len(summary['groups']) - GROUPS, 'more group')}: --components lists them all")
    print_definitions(console, "stable component", "support", "floater")


def _component_row(summary: Mapping[str, Any], side: str) -> list[str]:
    before, after = (summary["components"][side][when] for when in ("before", "after"))
    cells = [side]
    for name in ("number", "largest"):
        cells += [f"{before[name]:,}", f"{after[name]:,}"]
    return [*cells, f"{100 * before['share_in_groups']:.1f} %", f"{100 * after['share_in_groups']:.1f} %"]


def _print_consensus(console: Console, consensus: Mapping[str, Any]) -> None:
    sizes = consensus["sizes"]
    clusters = f"{count(len(sizes), 'cluster')} of {format_list(sizes, 15)}"
    console.print(f"\nConsensus of the rows ({consensus['method'].upper()}): {clusters}")
    means = f"mean confidence {consensus['mean_confidence']:.3f}, mean support {consensus['mean_support']:.3f}"
    console.print(f"{means}, {count(consensus['n_floaters'], 'floater')}")
    for name, value in consensus["accuracy"].items():
        console.print(f"accuracy with {name}: {value:.4f}", markup=False)


def draw_iterations(table: pd.DataFrame, path: str | Path) -> None:
    """Draw stability, and accuracy where it is known, by iteration with standard errors (Bekkerman et al. 2009, Figure 4).

    Parameters
    ----------
    table : DataFrame
        Of :meth:`~consilience.agreement.Agreement.stability_by_iteration`.
    path : file ending in .png, .svg or .pdf

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> import numpy as np
    >>> from consilience.reports import draw_iterations
    >>> found = cs.agree(np.kron(np.eye(3, dtype=int), np.full((6, 5), 4)), 3, n_clusterings=4)
    >>> with TemporaryDirectory() as folder:
    ...     draw_iterations(found.stability_by_iteration(), f"{folder}/iterations.svg")
    """
    save_figure(path, iterations_figure, table)


def iterations_figure(table: pd.DataFrame) -> Figure:
    """The picture of :func:`draw_iterations`."""
    known = [name for name in table.columns if name.startswith("accuracy") and not name.endswith("_sem")]
    figure = new_figure(9.2 if known else 5.2, 3.8)
    axes = figure.subplots(1, 2 if known else 1, squeeze=False)[0]
    _curves(axes[0], table, ["rows", "columns"], "Do the clusterings agree?", "mean Jaccard index of all pairs")
    if known:
        _curves(axes[1], table, known, "Are they right?", "accuracy of the row clusterings")
    return figure


def _curves(axis: Any, table: pd.DataFrame, names: list[str], title: str, what: str) -> None:
    for number, name in enumerate(names):
        how: dict[str, Any] = {"color": color_of(number), "marker": MARKERS[number % len(MARKERS)]}
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
    """From stability by iteration to one clustering of the rows."""

    uses = ("data", "known", "n_clusters", "method")
    data_kind = "counts"
    about = "clusterings that agree"

    @cached_property
    def consensus(self) -> Consensus:
        """What the clusterings of the rows say together."""
        how: dict[str, Any] = {"random_state": self.options.seed, "n_jobs": self.options.n_jobs, "progress": False}
        return combine(self.objects, self.options.n_clusters, self.options.method or "auto", **how)

    @cached_property
    def floaters(self) -> pd.DataFrame:
        """Rows with weak support in the consensus."""
        return floaters(self.objects, self.consensus)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Stability and accuracy by iteration."""
        return self.result.stability_by_iteration(self.known, n_jobs=self.options.n_jobs)

    @property
    def reference(self) -> Array:
        """Labels that the colors of clusters follow."""
        return self.consensus.labels

    def answer(self) -> list[Text | Items]:
        """How alike the clusterings became, and the one clustering of the rows that they give."""
        found = called(self, find_marks(self, self.consensus.labels))
        before, after = (components_of(sides.columns) for sides in (self.result.before, self.result.after))
        text = f"{self.describe()} Columns that all clusterings keep together with others: "
        text += f"{100 * before['share_in_groups']:.0f} % before, {100 * after['share_in_groups']:.0f} % after"
        seen = See(("iterations",), ("components", "column_groups"))
        return [Text([text, seen, "."]), *say_clusters(self.consensus, self, found)]

    def describe(self) -> str:
        """How alike the clusterings were and became."""
        rows, columns = self.objects, self.result.after.columns
        sides = f"{count(rows.n_objects, 'row')} and {count(columns.n_objects, 'column')}"
        text = (
            f"{count(rows.n_clusterings, 'clustering')} of {sides}, {count(len(self.result.iterations), 'iteration')}."
        )
        if rows.n_clusterings > 1:
            before, after = self.table["rows"].iloc[[0, -1]]
            text += f" Mean Jaccard index of the clusterings of the rows: {before:.3f} before, {after:.3f} after."
        return text

    def facts(self) -> list[tuple[str, str]]:
        """What was done, in numbers."""
        result, source = self.result, self.origin.source
        rows, columns = result.after.rows, result.after.columns
        facts = [
            ("source", source if result.source is None else f"{source}, of {result.source}"),
            ("clusterings", f"{rows.n_clusterings:,} of the rows and {columns.n_clusterings:,} of the columns"),
            ("rows", f"{rows.n_objects:,} into {format_range(_range(rows), 'cluster')}"),
            ("columns", f"{columns.n_objects:,} into {format_range(_range(columns), 'cluster')}"),
            ("iterations", f"{len(result.iterations):,}"),
        ]
        for what, empty in (("row", result.empty_rows), ("column", result.empty_columns)):
            if len(empty):
                facts.append((f"{what}s without counts", f"{count(len(empty), what)}, which nothing can move"))
        if "method" in result.before.rows.info:
            facts.append(("started by", ", ".join(map(str, pd.unique(result.before.rows.info["method"].dropna())))))
        return facts

    def code(self) -> list[str]:
        """The call of agree, or of what loads it."""
        return super().code() or ["found = cs.agree(counts, n_clusters)"]

    def notes(self) -> list[str | None]:
        """What agreement and confidence do not say."""
        return [NOT_TRUTH, CONFIDENCE, CLUSTERED if self.data is not None else None]


@section(Agreement, title="Agreement by iteration", order=10)
def by_iteration(report: AgreementReport) -> Iterator[Block]:
    """How alike the clusterings are before the process and after every iteration."""
    table, objective = report.table, report.result.objective
    first, last = table.iloc[0], table.iloc[-1]
    text = " ".join(
        f"{format_name(name).capitalize()}: {first[name]:.3f} before, {last[name]:.3f} after."
        for name in table
        if f"{name}_sem" in table
    )
    yield Picture("iterations", iterations_figure(table), f"Curves by iteration. {text}", text)
    caption = "Stability (mean Jaccard index) by iteration; 0 is before"
    yield Sheet("iterations", table.set_index("iteration"), caption)
    yield Text(
        "The process makes the clusterings depend on each other: that they agree is what it does. The standard error says how "
        "much they differ, not how far another run of the process would end from this one.",
        note=True,
    )
    yield Facts([("objective", f"{objective[0]:.6g} before, {objective[-1]:.6g} after; it never falls")])
    halves = pd.DataFrame({"objective": objective}, index=pd.RangeIndex(len(objective), name="half_iteration"))
    yield Sheet("objective", halves, "Objective after every half of an iteration", most=0)


@section(Agreement, title="What became stable", order=20)
def became_stable(report: AgreementReport) -> Iterator[Block]:
    """Stable components of both sides, before and after, and the groups of columns that are new."""
    result: Agreement = report.result
    rows = [
        {"side": side, "when": when, **components_of(getattr(sides, side))}
        for side in ("rows", "columns")
        for when, sides in (("before", result.before), ("after", result.after))
    ]
    yield Text(f"A stable component is {DEFINITIONS['stable component']}: here of rows, or of columns.")
    yield Sheet("components", pd.DataFrame(rows).set_index("side"), "Stable components before and after")
    counts = report.data
    weights = None if counts is None else column_information(counts.values, report.consensus.labels)
    names = counts.columns if counts is not None and result.after.columns.ids is None else None
    new = stable_groups(result.before.columns, result.after.columns, names=names, weights=weights, new=True, top=1000)
    if len(new):
        order = "the largest first" if weights is None else "those that tell most about the clusters of the rows first"
        caption = f"Columns that were apart before and are together in every clustering now, {order}"
        yield Sheet("column_groups", new.set_index(pd.RangeIndex(len(new), name="group")), caption, most=20)


@section(Agreement, title="One clustering of the rows", order=60)
def consensus(report: AgreementReport) -> Iterator[Block]:
    """What the clusterings of the rows say together."""
    one = report.consensus
    yield from describe_consensus(one, report, tiles={"consensus": one.labels})
    yield Sheet("objects", object_table(one), "Every object", most=0)
