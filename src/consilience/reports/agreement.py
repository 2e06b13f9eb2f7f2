"""An agreement for people and for files: tables on the terminal, one for JSON, and the curves by iteration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console

from consilience._check import check_labels, count
from consilience.agreement import Agreement, soft_memberships
from consilience.ensemble import Ensemble
from consilience.reports.figures import QUIET, look, new_figure, save_figure
from consilience.reports.terminal import print_table, terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = 12  # groups of columns that are printed
MEMBERS = 10  # of each of them
TITLES = {"rows": "rows, Jaccard", "columns": "columns, Jaccard"}
MARKS = "o^sD"


def labels_table(ensemble: Ensemble, consensus: Any = None, *, names: Any = None) -> pd.DataFrame:
    """One row per object: its label in every clustering, after its cluster in a consensus and the share of them for it.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.reports.agreement import labels_table
    >>> ens = cs.Ensemble([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]], ids=list("abcde"))
    >>> labels_table(ens, [0, 0, 0, 1, 1]).reset_index()
      object  cluster  share  clustering_0  clustering_1
    0      a        0    1.0             0             0
    1      b        0    1.0             0             0
    2      c        0    0.5             0             1
    3      d        1    1.0             1             1
    4      e        1    1.0             1             1
    """
    called = names if names is not None else range(ensemble.n_objects) if ensemble.ids is None else ensemble.ids
    frame = pd.DataFrame(index=pd.Index(called, name="object"))
    if consensus is not None:
        labels = check_labels(consensus, "the consensus labels")
        frame["cluster"] = pd.array(labels, "Int64")
        frame.loc[labels < 0, "cluster"] = pd.NA
        soft = soft_memberships(ensemble, labels)
        frame["share"] = np.round(np.where(labels >= 0, soft[np.arange(len(labels)), labels], 0.0), 6)
    for j, column in enumerate(ensemble.labels.T):
        frame[f"clustering_{j}"] = column
    return frame


def agreement_summary(
    result: Agreement,
    table: pd.DataFrame,
    *,
    consensus: Any,
    n_floaters: int,
    groups: pd.DataFrame,
    truth: dict[str, Any],
) -> dict[str, Any]:
    """Plain numbers and text, ready for JSON.

    Parameters
    ----------
    result : Agreement
    table : DataFrame
        Of :meth:`~consilience.agreement.Agreement.stability_by_iteration`.
    consensus : fitted SCCC
        Of the rows after the process.
    n_floaters : int
        Rows with weak support in the consensus.
    groups : DataFrame
        Of :func:`~consilience.agreement.stable_groups`, for the columns.
    truth : dict
        Accuracy of the consensus by the name of the known labels.
    """
    last = result.after
    return {
        "n_rows": last.rows.n_objects,
        "n_columns": last.columns.n_objects,
        "n_empty_rows": len(result.empty_rows),
        "n_empty_columns": len(result.empty_columns),
        "n_clusterings": last.rows.n_clusterings,
        "n_clusters": _range(last.rows),
        "n_column_clusters": _range(last.columns),
        "stability": [_plain(row) for row in table.to_dict("records")],
        "components": {
            side: {
                when: components_of(getattr(sides, side))
                for when, sides in (("before", result.before), ("after", last))
            }
            for side in ("rows", "columns")
        },
        "consensus": {
            "sizes": np.bincount(consensus.labels_[consensus.labels_ >= 0]).tolist(),
            "gap": consensus.gap_,
            "n_floaters": n_floaters,
            "accuracy": truth,
        },
        "groups": [_plain(row) for row in groups.to_dict("records")],
    }


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


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    plain = {str(name): value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
    return {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in plain.items()}


def print_agreement(summary: dict[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`agreement_summary` holds."""
    console = console or terminal()
    rows, columns = count(summary["n_rows"], "row"), count(summary["n_columns"], "column")
    m = count(summary["n_clusterings"], "clustering")
    console.print(
        f"{title}: {m} of {rows} into {_clusters(summary['n_clusters'])}, "
        f"and of {columns} into {_clusters(summary['n_column_clusters'])}",
        markup=False,
    )
    for what in ("row", "column"):
        if empty := summary[f"n_empty_{what}s"]:
            console.print(f"{count(empty, what)} without counts: in no cluster")
    console.print("\nAgreement over all pairs of clusterings, by iteration (0 is before)")
    table = pd.DataFrame(summary["stability"])
    shown = [name for name in table.columns if f"{name}_sem" in table.columns]
    heads = ["iteration", *(TITLES.get(name, name) for name in shown)]
    cells = [[str(row["iteration"]), *(_with_error(row, name) for name in shown)] for row in summary["stability"]]
    print_table(console, heads, cells, tuple(range(1, len(heads))))
    console.print("\nStable components: groups that no clustering parts")
    heads = ["", "groups before", "after", "largest before", "after", "in groups before", "after"]
    print_table(console, heads, [_component_row(summary, side) for side in ("rows", "columns")], tuple(range(1, 7)))
    _print_consensus(console, summary["consensus"])
    if summary["groups"]:
        console.print("\nColumns that were apart before and are together in every clustering now")
        some = summary["groups"][:GROUPS]
        print_table(console, ["size", "members"], [[str(g["size"]), _members(g["members"])] for g in some], (0,))
        if len(summary["groups"]) > GROUPS:
            console.print(f"… and {count(len(summary['groups']) - GROUPS, 'more group')}: --components lists them all")


def _clusters(ends: list[int]) -> str:
    low, high = ends
    return count(low, "cluster") if low == high else f"{low:,} to {high:,} clusters"


def _with_error(row: dict[str, Any], name: str) -> str:
    if row[name] is None:
        return "–"
    return f"{row[name]:.4f}" + ("" if row[f"{name}_sem"] is None else f" ± {row[f'{name}_sem']:.4f}")


def _component_row(summary: dict[str, Any], side: str) -> list[str]:
    before, after = (summary["components"][side][when] for when in ("before", "after"))
    cells = [side]
    for name in ("number", "largest"):
        cells += [f"{before[name]:,}", f"{after[name]:,}"]
    return [*cells, f"{100 * before['share_in_groups']:.1f} %", f"{100 * after['share_in_groups']:.1f} %"]


def _print_consensus(console: Console, consensus: dict[str, Any]) -> None:
    sizes = consensus["sizes"]
    shown = ", ".join(f"{size:,}" for size in sizes[:15]) + (f" … ({len(sizes) - 15} more)" if len(sizes) > 15 else "")
    console.print(f"\nConsensus of the rows around stable components (SCCC): {count(len(sizes), 'cluster')} of {shown}")
    console.print(f"{count(consensus['n_floaters'], 'row')} that at most half of the clusterings put there")
    for name, value in consensus["accuracy"].items():
        console.print(f"accuracy with {name}: {value:.4f}", markup=False)


def _members(names: list[Any]) -> str:
    shown = ", ".join(map(str, names[:MEMBERS]))
    return shown if len(names) <= MEMBERS else f"{shown} … ({len(names) - MEMBERS:,} more)"


def draw_iterations(table: pd.DataFrame, path: str | Path) -> None:
    """Draw stability, and accuracy where it is known, by iteration with standard errors (Figure 4 of the paper).

    Parameters
    ----------
    table : DataFrame
        Of :meth:`~consilience.agreement.Agreement.stability_by_iteration`.
    path : file ending in .png, .svg or .pdf
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
        color, mark = look(number % 6)[0], MARKS[number % len(MARKS)]
        errors = np.nan_to_num(table[f"{name}_sem"].to_numpy(float))
        label = name.split(":", 1)[-1].replace("$", r"\$")
        axis.errorbar(
            table["iteration"],
            table[name],
            yerr=errors,
            color=color,
            marker=mark,
            capsize=3,
            linewidth=1.6,
            label=label,
        )
    axis.set_title(title, loc="left")
    axis.set(xlabel="iteration (0 is before)", ylabel=what)
    axis.set_xticks(table["iteration"])
    axis.grid(axis="y", color=QUIET, alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    if len(names) > 1 or ":" in names[0]:
        axis.legend(frameon=False)
