"""A clustering of clusterings: what there is to say of it, as a folder of tables and pictures, drawn, and in a report."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, count
from consilience._types import Array, Floats
from consilience.consensus import Consensus
from consilience.ensemble import Ensemble
from consilience.measures import accuracy, matched_accuracy
from consilience.meta import Map, MetaClustering, Null
from consilience.meta.tree import layout, sketched
from consilience.reports import clusters, figures
from consilience.reports.consensus import describe_consensus
from consilience.reports.ensemble import EnsembleReport
from consilience.reports.files import name_objects, object_table, write_table
from consilience.reports.finding import Block, Finding, Heading, Items, Link, Picture, See, Sheet, Text, Words
from consilience.reports.sections import section
from consilience.reports.words import DEFINITIONS, decimals_of, format_list, format_name, format_number

TREES = 3  # safeguard: scores that the tree is colored by, each in a picture of its own
# files of fixed name that `write_organized` writes
FOLDER = ("clusterings.csv", "groups.csv", "consensus.csv", "curve.csv", "null.csv", "curve.png", "map.png")
MAPPED = 2000  # safeguard: clusterings up to which the neighbor map comes in seconds
COMPROMISE = (
    "One clustering of everything is a compromise: where groups of clusterings see different things, it may "
    "show none of them well. Each group's own consensus is above"
)
OF_GROUPS = ("n_clusters", "anmi", "mean_confidence", "mean_support", "n_floaters")  # of a consensus
PLAIN = ("group", "medoid", "clusters", "method", "n_clusters", "seed")  # columns that the page has room for
TOLD = 8  # safeguard: groups that are told one by one on the page; files have all
SOME, CLUSTERS = 3, 12  # safeguard: columns of each cluster of a group, and clusters, on the page


def meta_finding(result: MetaClustering, *, scores: pd.DataFrame | None = None, null: Null | None = None) -> Finding:
    """The groups with the mean of every score over their clusterings, candidates for their number, and the null."""
    m, n = count(result.n_clusterings, "clustering"), count(result.ensemble.n_objects, "object")
    groups = group_table(result, scores).rename(columns=lambda name: str(name).replace("accuracy:", "purity:"))
    tables = [Sheet("groups", groups, "The groups, the largest first")]
    if null is not None:
        caption = f"Best consensus of a group by purity, against the null: {count(len(null.shuffled), 'shuffle')} of the members"
        tables.append(Sheet("null", null.table.rename_axis("known labels").astype({"group": int}), caption))
    how = list(_about_tree(result))
    if jumps := _jumps(result):
        how.append(f"Sharpest jumps of the compactness curve, with their bends: {jumps}. None of them is the truth.")
    reasons = Finding("How the tree was grown and cut", sentences=how)
    return Finding(f"{m} of {n} in {count(result.n_groups, 'group')}", tables=tables, reasons=reasons)


def _about_tree(meta: MetaClustering) -> Iterator[str]:
    yield f"Tree: {meta.linkage} linkage of {format_name(meta.measure)}; groups: {meta.note}."
    if meta.n_pairs is not None:
        yield f"Distances are estimated from {sketched(meta.measure, meta.n_pairs)}, standard error {meta.standard_error:.4f}."


def _jumps(meta: MetaClustering) -> str:
    jumps = meta.jumps.head(6)
    decimals = decimals_of(jumps["bend"])
    return ", ".join(f"{row.n_groups} ({format_number(row.bend, decimals)})" for row in jumps.itertuples())


def clustering_table(meta: MetaClustering, scores: pd.DataFrame | None) -> pd.DataFrame:
    """One row per clustering: its group, whether it is the group's medoid, its scores, and what made it."""
    info = meta.ensemble.info
    frame = meta.to_frame().drop(columns="name")
    frame = frame if scores is None else frame.join(scores.drop(columns="name"))
    more = info.columns.difference([*frame.columns, "name", "number"], sort=False)
    return frame.join(info[more].set_axis(frame.index)).set_axis(pd.Index(meta.ensemble.names, name="clustering"))


def group_table(
    meta: MetaClustering, scores: pd.DataFrame | None, found: Sequence[Consensus] = (), known: Any = None
) -> pd.DataFrame:
    """One row per group: size, medoid, its consensus in numbers and against known labels, and means of scores."""
    frame = pd.DataFrame({"clusterings": meta.sizes, "height": meta.heights})
    frame["medoid"] = [meta.ensemble.names[medoid] for medoid in meta.medoids]
    frame.index = pd.Index(meta.numbers, name="group")
    if found:
        for name, own in zip(("n_clusters", "anmi", "confidence", "support", "floaters"), OF_GROUPS, strict=True):
            frame[name] = [getattr(one, own) for one in found]
        for name, codes in (known or {}).items():
            frame[f"accuracy:{name}"] = [accuracy(codes, one.labels) for one in found]
    if scores is None:
        return frame
    means = scores.select_dtypes("number").drop(columns="clusters", errors="ignore").groupby(meta.groups).mean()
    return frame.join(means.add_prefix("mean "))


def group_consensus_table(meta: MetaClustering, found: list[Consensus]) -> pd.DataFrame:
    """One row per object: for every group the cluster of its consensus, its confidence and its support."""
    tables = (object_table(one).rename(columns={"cluster": "group"}) for one in found)
    return pd.concat([one.add_suffix(str(g)) for g, one in zip(meta.numbers, tables, strict=True)], axis=1)


def write_organized(
    meta: MetaClustering,
    folder: Path,
    found: list[Consensus],
    *,
    scores: pd.DataFrame | None = None,
    null: Null | None = None,
    id_name: str = "id",
) -> list[Path]:
    """Write clusterings.csv, groups.csv, consensus.csv, curve.csv, null.csv, and with matplotlib the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "clusterings": clustering_table(meta, scores),
        "groups": group_table(meta, scores, found),
        "consensus": group_consensus_table(meta, found),
        "curve": meta.curve.set_index("n_groups"),
    }
    if null is not None:
        tables["null"] = null.table.rename_axis("score")
    for name, frame in tables.items():
        write_table(name_objects(frame, id_name) if name == "consensus" else frame, folder / f"{name}.csv")
    drawn = _organized_figures(meta, scores) if find_spec("matplotlib") else {}
    for name, figure in drawn.items():
        figures.write_figure(figure, folder / f"{name}.png")
    return [*(folder / f"{name}.csv" for name in tables), *(folder / f"{name}.png" for name in drawn)]


def _organized_figures(meta: MetaClustering, scores: pd.DataFrame | None) -> dict[str, figures.Figure]:
    kinds = ("mds", "neighbors") if 10 < meta.n_clusterings <= MAPPED else ("mds",)
    maps = [meta.map(kind, progress=False) for kind in kinds]
    made = {"curve": curve_figure(meta), "map": map_figure(maps, groups=meta.groups, names=meta.ensemble.names)}
    if scores is None:
        return made | {"tree": tree_figure(meta)}
    for name in _shown(scores):
        file = "".join(letter if letter.isalnum() else "_" for letter in name)  # a name that any file system takes
        made[f"tree_{file}"] = tree_figure(meta, score=scores[name])
        if "compactness" in scores and name != "compactness":
            made[f"scores_{file}"] = scores_figure(scores, "compactness", name, groups=meta.groups)
    return made


class MetaReport(EnsembleReport, of=MetaClustering):
    uses = ("data", "known", "n_clusters", "method")

    @property
    def meta(self) -> MetaClustering:
        return self.result


@section(Ensemble, MetaClustering, title="The tree of the clusterings", order=20)
def tree(report: EnsembleReport) -> Iterator[Block]:
    meta, scores = report.meta, report.scores
    if meta is None:
        return
    first, *rest = _about_tree(meta)
    yield Text(first)
    yield from (Text(line, note=True) for line in rest)
    alt = f"Tree of {meta.n_clusterings:,} clusterings cut into {count(meta.n_groups, 'group')} of {format_list(meta.sizes)}."
    for number, name in enumerate(_shown(scores)[:TREES] or [None], 1):
        color = "" if name is None else f" A branch has the color of its mean {format_name(name)}."
        figure = tree_figure(meta, score=None if scores is None or name is None else scores[name])
        caption = f"The higher two branches meet, the less alike they are; the strip below shows the groups.{color}"
        yield Picture(f"tree_{number}", figure, alt + color, caption)
    if jumps := _jumps(meta):
        yield Text(
            f"Numbers of groups at which the curve bends most: {jumps}. They are candidates; none of them is the truth. "
            f"(Bend: {DEFINITIONS['bend']}.)"
        )
        alt = f"Compactness of the groups by their number. Sharpest jumps at {jumps}."
        caption = "How compact the groups are when there are so many of them; marked are the sharpest jumps."
        yield Picture("curve", curve_figure(meta), alt, caption)
    yield Sheet("curve", meta.curve.set_index("n_groups"), "Compactness by number of groups", most=0)


def _shown(scores: pd.DataFrame | None) -> list[str]:
    """Scores that are drawn: accuracies, or else compactness."""
    if scores is None:
        return []
    return [str(name) for name in scores if str(name).startswith("accuracy:")] or ["compactness"]


@section(Ensemble, MetaClustering, title="Scores", order=40)
def scores(report: EnsembleReport) -> Iterator[Block]:
    table, meta = report.scores, report.meta
    if table is None or meta is None:
        return
    known = _shown(table)[:TREES]
    axes = [("compactness", name) for name in known if name != "compactness"] if "compactness" in table else []
    axes += [(known[0], known[1])] if len(known) > 1 else []
    if axes:
        yield Text("Every point is a clustering, in the color of its group. Small compactness is compact.")
    for number, (x, y) in enumerate(axes, 1):
        name, band = y.removeprefix("accuracy:"), None
        if report.null is not None and name in report.null.table.index:
            band = tuple(report.null.table.loc[name, ["null_mean", "null_sd"]].astype(float))
        both = table[[x, y]].corr(method="spearman").iloc[0, 1]
        text = f"{format_name(x)} against {format_name(y)}; rank correlation {both:.2f}."
        text = text[0].upper() + text[1:] + (" The band is the null of the best group." if band else "")
        figure = scores_figure(table, x, y, marked=report.marked, groups=meta.groups, null=band)
        yield Picture(f"scores_{number}", figure, f"Scatter plot of {text}", text)


@section(Ensemble, MetaClustering, title="A map of the clusterings", order=50)
def clusterings_map(report: EnsembleReport) -> Iterator[Block]:
    meta = report.meta
    if meta is None or meta.n_clusterings < 3:
        return
    one = meta.map(random_state=report.options.seed, progress=False)
    kept = f"{100 * one.neighbors_kept:.0f} % of the {one.n_neighbors} nearest neighbors"
    distortion = f"Stress {one.stress:.2f} (0 is perfect, above 0.2 is poor); it keeps {kept}."
    yield Text(f"Clusterings do not lie in a plane, and a map distorts: believe the tree first. {distortion}")
    figure = map_figure(one, groups=meta.groups, names=meta.ensemble.names)
    alt = f"Map of {meta.n_clusterings:,} clusterings by their distances, colored by group. {distortion}"
    yield Picture("map", figure, alt, f"Multidimensional scaling of the distances. {distortion}")
    where = pd.DataFrame(one.xy, columns=["x", "y"], index=pd.Index(meta.ensemble.names, name="clustering"))
    yield Sheet("map", where, "Places on the map", most=0)


@section(Ensemble, MetaClustering, title="One clustering from all, and its confidence", order=60)
def consensus(report: EnsembleReport) -> Iterator[Block]:
    one, meta = report.consensus, report.meta
    objects, note = object_table(one), None
    if meta is not None:
        objects = objects.join(group_consensus_table(meta, report.group_consensus))
        if meta.n_groups > 1:
            note = Text([COMPROMISE, See(("tiles",), ("groups",)), "."], note=True)
    tiles = {"all": one.labels} if meta is None else {}  # with groups, the data is above
    yield from describe_consensus(one, report, tiles=tiles, note=note)
    yield Sheet("objects", objects, "Every object", most=0)


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
    meta, one, match = report.meta, report.group_consensus[place], report.matches[place]
    assert meta is not None
    group, share = meta.numbers[place], 100 * meta.sizes[place] / meta.n_clusterings
    text = f": {share:.0f} % of the clusterings, {count(one.n_clusters, 'cluster')}, {clusters.say_sureness(one)}"
    text += f"; {match.words}" if match else ""
    if columns := report.group_columns[place]:
        text += f"; goes by {clusters.say_columns(columns, brief=place > 0)}"
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
    yield from clusters.describe_plane(report, tiles, under=under, more=[*links, "."], reference=report.reference)
    table = group_table(meta, report.scores, report.group_consensus, report.known)
    links_to = [f"group-{group}" for group in meta.numbers]
    shown = [name for name in table if name != "height" and not str(name).startswith("mean ")]
    yield Sheet("groups", table, "The groups, the largest first", most=40, links=links_to, columns=shown)
    if report.null is not None:
        yield from _describe_null(report, report.null)


def _under(report: EnsembleReport, one: Consensus, of: str) -> str:
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
        frame, found = clusters.cluster_frame(one, report), clusters.find_marks(report, one.labels)
        if names := clusters.called(report, found):
            frame.insert(1, "words", names)
        rows.append(frame.reset_index().assign(group=group))
        if found is not None:
            features.append(clusters.feature_frame(found).reset_index().assign(group=group))
        if place < TOLD:
            any_features = any_features or found is not None
            yield from _one_group(report, meta, place, frame, found)
    if any_features:
        yield Text(f"{clusters.SPREAD} {clusters.effect_note(report)}", note=True)
    if meta.n_groups > TOLD:
        left = count(meta.n_groups - TOLD, "smaller group")
        yield Text(f"{left} more: --figures writes the clusters of all of them.")
    yield Sheet("group_clusters", pd.concat(rows).set_index("group"), "The clusters of every group", most=0)
    if features:
        yield Sheet("group_features", pd.concat(features).set_index("group"), "Columns of every group", most=0)


def _one_group(
    report: EnsembleReport, meta: MetaClustering, at: int, frame: pd.DataFrame, found: clusters.Marks | None
) -> Iterator[Block]:
    group, one, match = meta.numbers[at], report.group_consensus[at], report.matches[at]
    yield Heading(f"Group {group}{f': {match.words}' if match else ''}", f"group-{group}")
    text = f"{count(int(meta.sizes[at]), 'clustering')}; the medoid is {meta.ensemble.names[meta.medoids[at]]}. "
    text += f"Together: {count(one.n_clusters, 'cluster')}, {clusters.say_sureness(one)}"
    if columns := report.group_columns[at]:
        text += f". They go by {clusters.say_columns(columns)}"
    yield Text([text, See(("tiles",), ("groups",)), "."])
    how: dict[str, Any] = {"place": f"group-{group}-cluster", "slots": report.slots(one.labels), "on_page": True}
    shown = clusters.brief(frame, report, "recurrence", "nearest", "confused", "share")
    yield clusters.cluster_sheet(one, shown, f"Clusters of group {group}", name=f"group_{group}_clusters", **how)
    if found is None:
        return
    some = [columns[: min(SOME, 2 * CLUSTERS // min(CLUSTERS, len(found)))] for columns in found[:CLUSTERS]]
    caption = f"What tells the clusters of group {group} apart"
    caption += f" (the largest {CLUSTERS})" if len(found) > CLUSTERS else ""
    how |= {"name": f"group_{group}_features", "most": CLUSTERS * clusters.FEATURES}
    if sheet := clusters.feature_sheet(some, caption, **how):
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


@figures.picture("tree", MetaClustering)
def tree_figure(result: MetaClustering, *, score: pd.Series | None = None) -> figures.Figure:
    """The tree, every branch in the color of its mean score, and the groups below it (Caruana et al. 2006, Figure 6)."""
    from matplotlib.collections import LineCollection

    values = None if score is None else np.asarray(score, float)
    if values is not None and values.shape != (result.n_clusterings,):
        raise InputError(f"a score has one number for each of {result.n_clusterings} clusterings; got {values.shape}")
    figure = figures.new_figure(9, 4.8)
    axis, strip = figure.subplots(2, 1, sharex=True, height_ratios=[14, 1])
    paths, means = _branches(result, values)
    lines = LineCollection(list(paths), linewidths=np.clip(300 / result.n_clusterings, 0.5, 1.6), rasterized=True)
    if values is None:
        lines.set_color(figures.QUIET)
    else:
        lines.set_array(means)
        lines.set(cmap=figures.score_colors(), clim=tuple(np.nanquantile(values, [0.01, 0.99])))
        figure.colorbar(lines, ax=[axis, strip], shrink=0.9, pad=0.015, label=f"mean {figures.score_title(score)}")
    axis.add_collection(lines)
    top = result.tree[-1, 2] or 1.0
    axis.set(xlim=(-0.5, result.n_clusterings - 0.5), ylim=(-0.01 * top, 1.04 * top))
    axis.set_ylabel("height" if result.linkage == "ward" else format_name(result.measure))
    g, m = result.n_groups, result.n_clusterings
    if g > 1:
        cut = np.mean(result.tree[[-g, 1 - g], 2]) if g < m else 0
        axis.axhline(cut, color=figures.ACCENT, linewidth=0.8, linestyle=(0, (4, 3)))
    axis.set_title(f"{count(m, 'clustering')} in {count(g, 'group')}, {result.linkage} linkage", loc="left")
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis.tick_params(bottom=False, labelbottom=False)
    _draw_groups(strip, result)
    return figure


def _branches(result: MetaClustering, values: Floats | None) -> tuple[Floats, Floats]:
    """The bracket of every merge, (m − 1, 4, 2), and the mean value of the clusterings under it."""
    m = result.n_clusterings
    order, first, sizes = layout(result.tree)
    x, height = np.zeros(2 * m - 1), np.concatenate([np.zeros(m), result.tree[:, 2]])
    x[order] = np.arange(m)
    left, right = result.tree[:, :2].astype(int).T
    for i in range(m - 1):
        x[m + i] = (x[left[i]] + x[right[i]]) / 2
    top = height[m:]
    corners = ((x[left], height[left]), (x[left], top), (x[right], top), (x[right], height[right]))
    paths = np.stack([np.column_stack(corner) for corner in corners], axis=1)
    if values is None:
        return paths, np.zeros(m - 1)
    known = np.where(np.isnan(values), 0, values)[order]
    sums = np.concatenate([[0], np.cumsum(known)]), np.concatenate([[0], np.cumsum(~np.isnan(values)[order])])
    total, number = (s[first[m:] + sizes[m:]] - s[first[m:]] for s in sums)
    return paths, np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _draw_groups(strip: Any, result: MetaClustering) -> None:
    """A bar per group under the tree, from left to right, its number where there is room."""
    order, first, sizes = layout(result.tree)
    for group, node in zip(result.numbers, result.nodes, strict=True):
        begin, width, color = first[node] - 0.5, sizes[node], figures.color_of(group - 1)
        strip.barh(0, width, left=begin, height=1, color=color, edgecolor="white", linewidth=0.5)
        if width > 0.02 * result.n_clusterings:
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "color": figures.ink_on(color)}
            strip.text(begin + width / 2, 0, str(group), **look)
    strip.set_ylim(-0.5, 0.5)
    strip.set_xlabel("clusterings in the order of the tree, and their groups")
    strip.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    if result.n_clusterings <= figures.NAMED:
        names = [figures.short_name(result.ensemble.names[i]) for i in order]
        strip.set_xticks(range(result.n_clusterings), names, rotation=90, fontsize=8)
        strip.tick_params(labelbottom=True)
    strip.spines[:].set_visible(False)


@figures.picture("curve", MetaClustering, main=False)
def curve_figure(result: MetaClustering, *, most: int = 60, candidates: int = 5) -> figures.Figure:
    """The compactness of the groups by their number, the sharpest jumps marked (Caruana et al. 2006, Figure 8)."""
    axis = figures.new_axis(6.4, 4)
    curve = result.curve.head(most)
    axis.plot(curve["n_groups"], curve["compactness"], color="black", marker=".", markersize=4, linewidth=1)
    for rank, row in enumerate(result.jumps.head(candidates).itertuples()):
        jump = result.curve.iloc[row.n_groups - 2 : row.n_groups]
        look: dict[str, Any] = {"color": figures.ACCENT, "alpha": 1 - 0.14 * rank, "solid_capstyle": "butt"}
        axis.plot(jump["n_groups"], jump["compactness"], linewidth=2.5, **look)
        how: dict[str, Any] = {"xytext": (4, 5), "textcoords": "offset points", "color": figures.ACCENT}
        axis.annotate(f"{row.n_groups}", (row.n_groups, row.compactness), **how)
    look = {"color": figures.QUIET, "linewidth": 0.8, "linestyle": (0, (4, 3)), "zorder": 0}
    axis.axvline(result.n_groups, label=f"{result.n_groups} chosen", **look)
    axis.plot([], [], color=figures.ACCENT, linewidth=2.5, label="sharpest jumps")
    axis.legend(frameon=False, fontsize=8, loc="upper left")
    axis.set(xlabel="number of groups", ylabel=f"compactness ({format_name(result.measure)})", xlim=(0, None))
    axis.set_title("How many kinds of clusterings? Jumps are candidates, not truth", loc="left", fontsize=11)
    return figures.open_frame(axis)


@figures.picture("map", Map, list)
def map_figure(
    maps: Map | list[Map], *, score: pd.Series | None = None, groups: Any = None, names: Any = None
) -> figures.Figure:
    """One or more maps of the clusterings, with their distortion written on them."""
    several = [maps] if isinstance(maps, Map) else maps
    if not several or not all(isinstance(one, Map) for one in several):
        raise InputError("draw_map draws what meta.map() made, one or a list of them")
    if score is not None and groups is not None:
        raise InputError("a map is colored by a score or by groups, not by both")
    figure = figures.new_figure(5.2 * len(several) + 0.8 * (score is not None or groups is not None), 5.2)
    axes = figure.subplots(1, len(several), squeeze=False)[0]
    for axis, one in zip(axes, several, strict=True):
        dots = _scatter(axis, one.xy, score, groups)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_color("#cbd5e1")
        axis.set_title({"mds": "Distances (MDS)", "neighbors": "Neighbors (t-SNE)"}[one.kind], loc="left")
        kept = f"keeps {100 * one.neighbors_kept:.0f} % of the {one.n_neighbors} nearest neighbors"
        axis.set_xlabel(f"stress {one.stress:.2f}, {kept}", color=figures.ACCENT if one.stress > 0.2 else "black")
    if score is not None:
        figure.colorbar(dots, ax=list(axes), shrink=0.8, pad=0.02, label=figures.score_title(score))
    elif groups is not None:
        _group_legend(axes[-1], groups)
    if names is not None and len(names) <= figures.NAMED:
        for axis, one in zip(axes, several, strict=True):
            figures.annotate_points(axis, list(names), one.xy)
    return figure


def _scatter(axis: Any, xy: Array, score: pd.Series | None, groups: Any) -> Any:
    size = float(np.clip(9000 / len(xy), 4, 40))
    if groups is not None:
        return figures.scatter_codes(axis, xy, np.asarray(groups) - 1, size=size)
    how: dict[str, Any] = {"s": size, "linewidths": 0, "alpha": 0.8, "rasterized": True}
    if score is None:
        return axis.scatter(*xy.T, color=figures.QUIET, **how)
    values = np.asarray(score, float)
    low, high = np.nanquantile(values, [0.01, 0.99])
    return axis.scatter(*xy.T, c=values, cmap=figures.score_colors(), vmin=low, vmax=high, **how)


def _group_legend(axis: Any, groups: Any) -> None:
    numbers = {int(group) - 1: group for group in np.unique(groups)}
    figures.legend_of(axis, numbers, "group", loc="center left", bbox_to_anchor=(1, 0.5))


@figures.picture("scores", pd.DataFrame, main=False)
def scores_figure(
    scores: pd.DataFrame,
    x: str,
    y: str,
    *,
    marked: Mapping[str, pd.DataFrame] | None = None,
    groups: Any = None,
    null: tuple[float, float] | None = None,
) -> figures.Figure:
    """One score of all clusterings against another (Caruana et al. 2006, Figures 2 to 5 and 11)."""
    for name in (x, y):
        check_choice(name, [str(column) for column in scores.select_dtypes("number")], "score")
    axis = figures.new_axis(6.4, 4.6)
    _scatter(axis, scores[[x, y]].to_numpy(float), None, groups)
    if null is not None:
        mean, half = null[0], 2 * np.nan_to_num(null[1])
        axis.axhspan(max(0, mean - half), min(1, mean + half), color=figures.QUIET, alpha=0.25, linewidth=0, zorder=0)
        axis.axhline(mean, color=figures.QUIET, linewidth=1, zorder=0, label="best of shuffled groups, ± 2 s.d.")
    how: dict[str, Any] = {"s": 120, "color": "black", "edgecolor": "white", "linewidth": 0.8, "zorder": 3}
    for i, (name, points) in enumerate((marked or {}).items()):
        axis.scatter(points[x], points[y], marker="*X"[i % 2], label=name, **how)
    axis.set(xlabel=figures.score_title(scores[x]), ylabel=figures.score_title(scores[y]))
    if marked or null is not None:
        axis.figure.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=3)
    if groups is not None:
        _group_legend(axis, groups)
    return figures.open_frame(axis)
