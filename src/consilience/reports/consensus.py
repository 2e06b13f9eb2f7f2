"""One clustering from many: what there is to say of it, its pictures, and its sections of a report."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count
from consilience._json import plain
from consilience._types import Array, Ints
from consilience.agreement import Agreement
from consilience.consensus import Consensus
from consilience.consensus.result import KEPT, describe_doubt, describe_families, describe_scales
from consilience.consensus.trust.clusters_and_members import cluster_means
from consilience.consensus.trust.floaters import FLOATING
from consilience.ensemble import Ensemble
from consilience.measures import Stability
from consilience.meta import MetaClustering
from consilience.reports import clusters, figures
from consilience.reports.files import object_table, whole_or_empty
from consilience.reports.finding import Block, Facts, Finding, Items, Picture, Sheet, Text
from consilience.reports.scales import describe_scale_blocks, scales_finding
from consilience.reports.sections import CLUSTERED, CONFIDENCE, Report, code_of, section
from consilience.reports.words import DEFINITIONS, format_list

TABLES = ("clusters", "members", "curve", "scales")


def consensus_summary(result: Consensus, stability: Stability | None, known: Mapping[str, Any]) -> dict[str, Any]:
    own = ("method", "n_clusters", "sizes", "n_objects", "anmi", "seconds")
    return {
        **{name: plain(getattr(result, name)) for name in own},
        **clusters.sureness(result),
        "ensemble_jaccard": None if stability is None or np.isnan(stability.mean) else stability.mean,
        "known": known,
        "chosen": result.note,
        "doubt": describe_doubt(result),
        **{name: None if (table := getattr(result, name)) is None else plain(table) for name in TABLES},
        "scales_in_words": describe_scales(result),
        "left_out": result.left_out,
        "families": None if result.families is None else [len(family) for family in result.families],
        "families_in_words": describe_families(result),
    }


def consensus_finding(
    one: Consensus, known: Mapping[str, Any] | None = None, stability: Stability | None = None
) -> Finding:
    """What there is to say of a consensus; `known` has matches with known labels by name."""
    facts = clusters.sureness_facts(one, known or {})
    scales = describe_scales(one)
    if scales and one.scales is not None and one.scales["real"].any():  # a doubt says that none is
        facts.append(("scales", scales))
    if one.left_out:
        facts.append(("left out", f"{one.left_out}; {KEPT}"))
    how = [("chosen", one.note)] if one.note else []
    how.append(("ANMI", f"{one.anmi:.4f} with the clusterings"))
    if stability is not None and not np.isnan(stability.mean):
        how.append(("ensemble", f"the clusterings agree with each other to a Jaccard index of {stability.mean:.3f}"))
    found = scales_finding(one)
    tables = [] if one.clusters is None else [clusters.trust_sheet(one.clusters)]
    doubts = clusters.cautions(describe_doubt(one), describe_families(one))
    how_found = Finding("How this came about", how, [*found.tables, *members_tables(one)], sentences=found.sentences)
    return Finding(f"{clusters.say_size(one)} by {one.method}", facts, tables, doubts=doubts, reasons=how_found)


@figures.picture("confidence", Consensus)
def confidence_figure(one: Any, slots: Ints | None = None) -> figures.Figure:
    """Confidence and support of the objects, and sizes and means of the clusters, in the colors `slots`."""
    there = one.labels >= 0
    if not there.any():
        raise InputError("no object has a label: there is nothing to draw")
    sizes = np.bincount(one.labels[there])
    shown = min(len(sizes), figures.NAMED)
    colors = [figures.color_of(slot) for slot in (range(len(sizes)) if slots is None else slots)]
    figure = figures.new_figure(11, float(np.clip(1.4 + 0.22 * shown, 3.2, 9)))
    left, middle, right = figure.subplots(1, 3, width_ratios=(5, 3, 4))
    bins = np.linspace(0, 1, 21)
    line: dict[str, Any] = {"color": figures.ACCENT, "linewidth": 1, "linestyle": (0, (4, 3))}
    left.hist(one.confidence[there], bins=bins, color=figures.PALETTE[0], alpha=0.55, label="confidence")
    left.hist(one.support[there], bins=bins, histtype="step", color="black", linewidth=1.4, label="support")
    left.axvline(FLOATING, label="floaters: support up to here", **line)
    left.legend(frameon=False, fontsize=8, loc="upper left")
    left.set(xlabel="confidence, and support", ylabel="objects", xlim=(0, 1))
    left.set_title("How firmly do objects belong?", loc="left")
    middle.barh(range(shown), sizes[:shown], color=colors[:shown])
    table = cluster_means(one.labels, one.confidence, one.support).head(shown)
    middle.barh(range(shown), table["floaters"], color="black", height=0.25)
    middle.set(ylabel="cluster", xlabel="objects (black: floaters)")
    middle.set_title("Sizes of the clusters" if shown == len(sizes) else f"The largest {shown} clusters", loc="left")
    right.hlines(range(shown), table["support"], table["confidence"], color=figures.QUIET, linewidth=1)
    right.scatter(table["confidence"], range(shown), color=figures.PALETTE[0], zorder=3)
    right.scatter(table["support"], range(shown), facecolor="white", edgecolor="black", zorder=2)
    right.axvline(FLOATING, **line)
    right.set(xlabel="mean confidence (blue) and support (open)", xlim=(-0.03, 1.03))
    right.set_title("How far to trust them", loc="left")
    figures.name_rows(shown, middle, right)
    return figures.open_frame(left, middle, right)


def describe_consensus(
    one: Consensus, report: Report, *, tiles: Mapping[str, Array], note: Text | None = None
) -> Iterator[Block]:
    """How a consensus was made, its clusters, what tells them apart, and the data colored by it."""
    found = consensus_finding(one)
    families = 1 if note is not None and describe_families(one) else 0  # the note says the same
    yield from (Text(doubt, note=True) for doubt in found.doubts[: len(found.doubts) - families])
    assert found.reasons is not None
    yield Facts([("method", one.method), *found.facts, *found.reasons.facts])
    yield Text(f"Confidence: {DEFINITIONS['confidence']}. Support: {DEFINITIONS['support']}.")
    yield from clusters.describe_plane(report, tiles)
    if note is not None:
        yield note
    yield from describe_clusters(one, report)
    yield from describe_scale_blocks(one)
    yield from describe_members(one)


def describe_clusters(one: Any, report: Report) -> Iterator[Block]:
    labels = one.labels
    if not (labels >= 0).any():
        yield Text("No object has a label.", note=True)
        return
    slots, frame, found = report.slots(labels), clusters.cluster_frame(one, report), clusters.find_marks(report, labels)
    if names := clusters.called(report, found):
        frame.insert(1, "words", names)
    mean = f"mean confidence {clusters.sureness(one)['mean_confidence']:.2f}"
    yield Picture(
        "confidence",
        confidence_figure(one, slots),
        f"Left: histograms of the objects' confidence and support, {mean}. Middle: sizes of the clusters, "
        f"{format_list(frame['size'].tolist())}. "
        "Right: mean confidence and support of every cluster, as in the table.",
        "Left of the dashed line are the floaters, in black in the middle: no majority of clusterings puts them where they are.",
    )
    how: dict[str, Any] = {"name": "clusters", "place": "cluster", "slots": slots, "on_page": True}
    yield clusters.cluster_sheet(one, clusters.brief(frame, report, "share"), "The clusters, the largest first", **how)
    yield Sheet("clusters", frame, "The clusters", most=0)
    told = [name for name in ("recurrence", "nearest", "confused") if name in frame]
    if told:
        yield Text(f"{'. '.join(f'{name.capitalize()}, {DEFINITIONS[name]}' for name in told)}.")
    if len(frame) > figures.NAMED:
        weak = frame.sort_values("confidence", kind="stable").head(8)[["size", "confidence"]]
        named = [f"{c} ({size:,} objects, {p:.2f})" for c, size, p in weak.itertuples(name=None)]
        yield Text(f"The clusters least to be trusted, by their confidence: {', '.join(named)}.")
    if report.known:
        rows = {name: clusters.match_known(codes, labels) for name, codes in report.known.items()}
        matches = pd.DataFrame(rows).T.rename_axis("known_labels")
        yield Sheet("against_known", matches, "How well the clusters match known labels")
    caption = "Columns on which each cluster differs most from all other objects"
    how |= {"name": "features", "on_page": False}
    if found is not None and (sheet := clusters.feature_sheet(found, caption, **how)):
        yield sheet
        yield Text(f"{clusters.SPREAD} {clusters.effect_note(report)}", note=True)


class LabelsReport(Report):
    @property
    def title(self) -> str:
        return f"{self.result.source or self.origin.source}: {clusters.say_size(self.result)}"  # a saved one's source is itself

    @property
    def floaters(self) -> pd.DataFrame:
        return self.result.to_frame().iloc[self.result.floating]

    @property
    def cautions(self) -> list[str]:
        return []

    def answer(self) -> list[Text | Items]:
        names = clusters.in_words(self, clusters.find_marks(self, self.result.labels))
        return [*(Text(doubt, note=True) for doubt in self.cautions), *clusters.say_clusters(self.result, self, names)]

    def notes(self) -> list[str | None]:
        return [CONFIDENCE, CLUSTERED if self.data is not None else None]


class ConsensusReport(LabelsReport, of=Consensus):
    name = "one"

    @property
    def cautions(self) -> list[str]:
        return clusters.cautions(describe_doubt(self.result), describe_families(self.result))

    def facts(self) -> list[tuple[str, str]]:
        one = self.result
        made_by = [] if one.estimator is None else [("parameters", " ".join(repr(one.estimator).split()))]
        return [*super().facts(), ("objects", f"{len(one.labels):,}"), ("method", one.method), *made_by]

    def code(self) -> list[str]:
        return super().code() or code_of(self.name, self.result.call, "the clusterings that were combined")


@section(Consensus, title="The clustering, and its confidence", order=60)
def consensus(report: ConsensusReport) -> Iterator[Block]:
    one: Consensus = report.result
    yield from describe_consensus(one, report, tiles={"consensus": one.labels})
    yield Sheet("objects", object_table(one), "Every object", most=0)


@section(Consensus, Ensemble, MetaClustering, Agreement, title="Floaters", order=80)
def floaters(report: Any) -> Iterator[Block]:
    weak: pd.DataFrame = report.floaters
    yield Text(f"A floater is {DEFINITIONS['floater']}. Support: {DEFINITIONS['support']}.")
    if not len(weak):
        yield Text("There is none.")
        return
    table = weak.set_index("id").rename(columns={"known": "clusterings"})
    if "second" in table:
        table["second"] = whole_or_empty(table["second"])
    yield Sheet("floaters", table, f"{count(len(weak), 'floater')}, the weakest first", most=20)
    if "confidence" in weak and weak["confidence"].max() >= 0.8:
        yield Text(
            "A floater with much confidence lies between clusters: the clusterings disagree on it, but another ensemble, once "
            "combined, would put it in the same place."
        )


@figures.picture("members", Consensus, main=False)
def members_figure(one: Consensus) -> figures.Figure:
    """The reliability and the weight of every clustering, the least reliable first; a cross marks an outlier."""
    if not isinstance(one, Consensus) or one.members is None:
        raise InputError("there is no table of the clusterings: combine(ens) makes one")
    table = one.members.sort_values("reliability", kind="stable")
    n, drop = len(table), table["better_without"].to_numpy(bool) & (not one.families)
    named, at = n <= figures.NAMED, np.arange(n)
    kinds = ((~drop, figures.PALETTE[0], "o"), (drop, figures.ACCENT, "X"))
    figure = figures.new_figure(9, float(np.clip(1.3 + 0.2 * n, 2.6, 9)) if named else 4.5)
    left, right = figure.subplots(1, 2, sharey=True)
    for axis, name in ((left, "reliability"), (right, "weight")):
        values = table[name].to_numpy(float)
        axis.hlines(at, 0, np.nan_to_num(values), color=figures.QUIET, linewidth=1 if named else 0.5)
        for mask, color, marker in kinds:
            axis.scatter(values[mask], at[mask], color=color, s=24 if named else 9, zorder=3, marker=marker)
        axis.axvline(0, color=figures.QUIET, linewidth=0.8)
        figures.open_frame(axis)
    left.set(xlabel="reliability (0 is chance, 1 is the most)", xlim=(None, 1.03), ylim=(n - 0.4, -0.6))
    right.set(xlabel="weight")
    left.set_title("How well does it agree with the others?", loc="left", fontsize=10)
    right.set_title("How much does it say?", loc="left", fontsize=10)
    if named:
        left.set_yticks(at, [figures.short_name(name) for name in table["clustering"]], fontsize=8)
    else:
        left.set(yticks=[], ylabel=f"{count(n, 'clustering')}, the least reliable on top")
    return figure


def members_tables(one: Consensus) -> list[Sheet]:
    if one.members is None:
        return []
    table = one.members.set_index("clustering").sort_values("reliability", kind="stable")
    return [Sheet("members", table, "How far to trust each clustering, the least reliable first", most=12)]


def describe_members(one: Consensus) -> Iterator[Block]:
    if one.members is not None and len(one.members) > 1:
        yield Text(f"Reliability: {DEFINITIONS['reliability']}. Weight: {DEFINITIONS['weight']}.")
        alt = f"Reliability and weight of {count(len(one.members), 'clustering')}, the least reliable on top."
        caption = "How far to trust each clustering, the least reliable on top; a cross marks an outlier."
        yield Picture("members", members_figure(one), alt, caption)
    yield from members_tables(one)
