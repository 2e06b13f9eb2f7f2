"""The groups of a clustering of clusterings in a report: the answer of each, how sure it is, and what tells its clusters apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from consilience._check import count
from consilience.consensus import Consensus
from consilience.ensemble import Ensemble
from consilience.measures import matched_accuracy
from consilience.meta import MetaClustering, Null
from consilience.reports.clusters import (
    FEATURES,
    SPREAD,
    brief,
    called,
    cluster_frame,
    cluster_sheet,
    describe_plane,
    effect_note,
    feature_frame,
    feature_sheet,
    find_marks,
    say_columns,
    say_sureness,
)
from consilience.reports.ensemble import EnsembleReport
from consilience.reports.finding import DEFINITIONS, Block, Heading, Items, Link, See, Sheet, Text, Words
from consilience.reports.meta import clustering_table, group_table
from consilience.reports.sections import section

PLAIN = ("group", "medoid", "clusters", "method", "n_clusters", "seed")  # columns that the page has room for
TOLD = 8  # safeguard: groups that are told one by one on the page; files have all
SOME, CLUSTERS = 3, 12  # safeguard: columns of each cluster of a group, and clusters, on the page


def say_groups(report: EnsembleReport) -> list[Text | Items]:
    """The answer of a report of many clusterings: the groups, by what they go, how sure they are, and how different."""
    meta = report.meta
    assert meta is not None
    clusterings = f"{count(meta.n_clusterings, 'clustering')} of {count(report.ensemble.n_objects, 'object')}"
    first = f"{clusterings}, in {count(meta.n_groups, 'group')} of like ones"
    rest = []
    if meta.n_groups > 1:
        likeness = f"{report.likeness:.2f} (0 by chance, 1 for the same)"
        rest.append(f"Mean adjusted Rand index of the answers of two groups: {likeness}.")
    if report.null is not None:
        n = len(report.null.shuffled)
        rest += [describe_null(str(name), row, n) for name, row in report.null.table.iterrows()]
    if meta.n_groups > 1:
        match = report.matches[-1]
        like = f" that {match.words}" if match else ""
        rest.append(f"All combined are a compromise of {count(report.consensus.n_clusters, 'cluster')}{like}.")
    items = Items([_say_group(report, place) for place in range(min(meta.n_groups, TOLD))])
    return [Text([first, See(("tiles",), ("groups",)), "."]), items, *([Text(" ".join(rest))] if rest else [])]


def _say_group(report: EnsembleReport, place: int) -> Words:
    """One group: its size, what it follows, and how sure its answer is."""
    meta, one, match = report.meta, report.group_consensus[place], report.matches[place]
    assert meta is not None
    group, share = meta.numbers[place], meta.sizes[place] / meta.n_clusterings
    parts = [f"{100 * share:.0f} % of the clusterings", count(one.n_clusters, "cluster"), say_sureness(one)]
    text = f": {', '.join(parts)}" + (f"; {match.words}" if match else "")
    if columns := report.group_columns[place]:
        text += f"; goes by {say_columns(columns, brief=place > 0)}"
    return [Link(f"group-{group}", f"Group {group}"), f"{text}."]


def describe_null(name: str, row: Any, n_shuffles: int) -> str:
    """Whether the best group's match with known labels is more than picking the best, in words."""
    as_good, mean = round(row["p_value"] * (1 + n_shuffles)) - 1, f"{row['null_mean']:.2f} on average"
    shuffles = f"{count(n_shuffles, 'shuffle')} of the members"
    if as_good > 0.05 * n_shuffles:
        return f"Groups add little for {name}: {as_good} of {shuffles} have one that matches it as well ({mean})."
    than = f"any group of {shuffles}" if not as_good else f"all but {as_good} of {shuffles}"
    return f"Group {row['group']:.0f} matches {name} better (purity {row['best']:.2f}) than {than} ({mean})."


@section(Ensemble, MetaClustering, title="The groups", order=10)
def groups(report: EnsembleReport) -> Iterator[Block]:
    meta = report.meta
    if meta is None:
        return
    yield Text(
        f"Each group's clusterings are combined into one ({report.consensus.method}). Groups have the same numbers in the explorer and on "
        f"the command line, the largest is 1. The medoid is {DEFINITIONS['medoid']}."
    )
    links: list[str | Link | See] = [" More of each: "]
    tiles, under = {}, {}
    for group, size, one in list(zip(meta.numbers, meta.sizes, report.group_consensus, strict=True))[:TOLD]:
        links += [Link(f"group-{group}", f"group {group}"), ", "]
        tiles[f"group {group}"] = one.labels
        under[f"group {group}"] = _under(report, one, count(int(size), "clustering"))
    links[-1] = f"; {meta.n_groups - TOLD} more are not drawn" if meta.n_groups > TOLD else ""
    tiles["all"], under["all"] = report.consensus.labels, _under(report, report.consensus, "all clusterings")
    yield from describe_plane(report, tiles, under=under, more=[*links, "."], reference=report.reference)
    table = group_table(meta, report.scores, report.group_consensus, report.known)
    links_to = [f"group-{group}" for group in meta.numbers]
    shown = [name for name in table if name != "height" and not str(name).startswith("mean ")]
    yield Sheet("groups", table, "The groups, the largest first", most=40, links=links_to, columns=shown)
    if report.null is not None:
        yield from _describe_null(report, report.null)


def _under(report: EnsembleReport, one: Consensus, of: str) -> str:
    """What stands under a tile."""
    scores = [f"{name} {matched_accuracy(codes, one.labels):.2f}" for name, codes in list(report.known.items())[:3]]
    return f"{of}, {count(one.n_clusters, 'cluster')}\n" + " · ".join([*scores, f"support {one.mean_support:.2f}"])


def _describe_null(report: EnsembleReport, null: Null) -> Iterator[Block]:
    table = null.table.rename_axis("known_labels").rename(columns={"best": "best_group", "group": "which"})
    table["which"] = table["which"].astype(int)
    n = len(null.shuffled)
    told = f"Accuracy of the best group, beside the null of {count(n, 'shuffle')} of the groups' members"
    yield Sheet("null", table, told)
    sample = f" Both are of {report.sample:,} objects drawn at random." if report.sample else ""
    yield Text(
        f"The null is {DEFINITIONS['null']}. The best of several groups is better than the rest partly because it is the best: "
        f"only what is beyond the null counts. {count(n, 'shuffle')} cannot give a p-value below {1 / (1 + n):.3f}: where it is that, "
        f"no shuffle was as good, and more of them could tell how rare it is.{sample}",
        note=True,
    )


@section(Ensemble, MetaClustering, title="Group by group", order=12)
def each_group(report: EnsembleReport) -> Iterator[Block]:
    meta = report.meta
    if meta is None or meta.n_groups < 2:
        return
    rows, features, any_features = [], [], False
    for place, (group, one) in enumerate(zip(meta.numbers, report.group_consensus, strict=True)):
        frame, found = cluster_frame(one, report), find_marks(report, one.labels)
        if names := called(report, found):
            frame.insert(1, "words", names)
        rows.append(frame.reset_index().assign(group=group))
        if found is not None:
            features.append(feature_frame(found).reset_index().assign(group=group))
        if place < TOLD:
            any_features = any_features or found is not None
            yield from _one_group(report, group, one, frame, found)
    if any_features:
        yield Text(f"{SPREAD} {effect_note(report)}", note=True)
    if meta.n_groups > TOLD:
        left = count(meta.n_groups - TOLD, "smaller group")
        yield Text(f"{left} more: --figures writes the clusters of all of them.")
    yield Sheet("group_clusters", pd.concat(rows).set_index("group"), "The clusters of every group", most=0)
    if features:
        yield Sheet("group_features", pd.concat(features).set_index("group"), "Columns of every group", most=0)


def _one_group(
    report: EnsembleReport, group: int, one: Consensus, frame: pd.DataFrame, found: list[list[dict[str, Any]]] | None
) -> Iterator[Block]:
    meta = report.meta
    assert meta is not None
    at = meta.numbers.index(group)
    match, size = report.matches[at], int(meta.sizes[at])
    yield Heading(f"Group {group}{f': {match.words}' if match else ''}", f"group-{group}")
    medoid = meta.ensemble.names[meta.medoids[at]]
    text = f"{count(size, 'clustering')}; the medoid is {medoid}. Together: {count(one.n_clusters, 'cluster')}, {say_sureness(one)}"
    if columns := report.group_columns[at]:
        text += f". They go by {say_columns(columns)}"
    yield Text([text, See(("tiles",), ("groups",)), "."])
    how: dict[str, Any] = {"place": f"group-{group}-cluster", "slots": report.slots(one.labels), "on_page": True}
    shown = brief(frame, report, "recurrence", "nearest", "confused", "share")
    yield cluster_sheet(one, shown, f"Clusters of group {group}", name=f"group_{group}_clusters", **how)
    if found is None:
        return
    some = [columns[: min(SOME, 2 * CLUSTERS // min(CLUSTERS, len(found)))] for columns in found[:CLUSTERS]]
    caption = f"What tells the clusters of group {group} apart"
    caption += f" (the largest {CLUSTERS})" if len(found) > CLUSTERS else ""
    if sheet := feature_sheet(some, caption, name=f"group_{group}_features", most=CLUSTERS * FEATURES, **how):
        yield sheet


@section(Ensemble, MetaClustering, title="The clusterings one by one", order=45)
def clusterings(report: EnsembleReport) -> Iterator[Block]:
    meta = report.meta
    if meta is None:
        return
    table = clustering_table(meta, report.scores)
    shown = [name for name in table if name in PLAIN or (report.scores is not None and name in report.scores)]
    table = table.sort_values(["medoid", "group"], ascending=[False, True], kind="stable")
    yield Sheet("clusterings", table, "The clusterings, medoids first", most=max(16, meta.n_groups), columns=shown)
