"""One clustering from many: as a table, printed, drawn, and in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console

from consilience._check import InputError, count, kind_of
from consilience._json import plain
from consilience._types import Array, Ints
from consilience.agreement import Agreement
from consilience.consensus import Consensus
from consilience.consensus.result import (
    clusters_to_show,
    describe_doubt,
    describe_drops,
    describe_families,
    describe_scales,
)
from consilience.consensus.trust.confidence import FLOATING
from consilience.consensus.trust.tables import cluster_means
from consilience.ensemble import Ensemble
from consilience.measures import Stability, accuracy, adjusted_rand, nmi
from consilience.meta import MetaClustering
from consilience.reports.clusters import (
    SHOWN_CLUSTERS,
    STEADY,
    brief,
    called,
    cluster_frame,
    cluster_sheet,
    describe_features,
    describe_plane,
    find_marks,
    in_words,
    say_clusters,
    title_of,
)
from consilience.reports.figures import (
    ACCENT,
    PALETTE,
    QUIET,
    color_of,
    new_figure,
    open_frame,
    save_figure,
    short_name,
)
from consilience.reports.files import object_table, whole_or_empty
from consilience.reports.finding import format_list, format_number
from consilience.reports.html import Block, Facts, Items, Picture, Sheet, Text
from consilience.reports.scales import describe_scale_blocks, print_scales
from consilience.reports.sections import CLUSTERED, CONFIDENCE, Report, code_of, section
from consilience.reports.terminal import DEFINITIONS, print_definitions, print_doubt, print_lines, print_table, terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED = 20  # clusters on the terminal
FLOATERS = 20  # on the page; files have all
WEAKEST = 8  # clusters that are named as least to be trusted, where a table is cut
TABLES = ("clusters", "members", "curve", "scales", "splits")


def consensus_summary(
    result: Consensus, stability: Stability | None, known: Mapping[str, Mapping[str, float]]
) -> dict[str, Any]:
    """Plain numbers and text, for print and JSON; `known` has matches with known labels by name."""
    return {
        "method": result.method,
        "n_clusters": result.n_clusters,
        "sizes": result.sizes.tolist(),
        "n_objects": result.n_objects,
        "n_without_labels": result.n_without_labels,
        "mean_confidence": result.mean_confidence,
        "mean_support": result.mean_support,
        "n_floaters": result.n_floaters,
        "anmi": result.anmi,
        "ensemble_jaccard": None if stability is None or np.isnan(stability.mean) else stability.mean,
        "known": known,
        "chosen": result.note,
        "doubt": describe_doubt(result),
        **{name: None if (table := getattr(result, name)) is None else plain(table) for name in TABLES},
        "scales_in_words": describe_scales(result),
        "drops_in_words": describe_drops(result),
        "families": None if result.families is None else [len(family) for family in result.families],
        "families_in_words": describe_families(result),
        "seconds": result.seconds,
    }


def say_families(words: str) -> str:
    """What :func:`describe_families` says, with what to do about it."""
    return f"{words[0].upper()}{words[1:]}: consilience organize tells them apart, and consilience explore shows them."


def match_known(known: Any, labels: Any) -> dict[str, float]:
    """How well labels match known ones."""
    return {
        "nmi": nmi(known, labels),
        "adjusted_rand": adjusted_rand(known, labels),
        "accuracy": accuracy(known, labels),
    }


def print_consensus(summary: Mapping[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`consensus_summary` holds.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import noisy_labels
    >>> from consilience.reports import print_consensus
    >>> from consilience.reports.consensus import consensus_summary
    >>> one = cs.combine(noisy_labels(60, 3, 8, 0.1, random_state=0)[0], 3)
    >>> print_consensus(consensus_summary(one, None, {}), title="labels.csv")  # doctest: +ELLIPSIS
    labels.csv: 3 clusters of 60 objects by ...
    """
    console = console or terminal()
    objects = summary["n_objects"] - summary["n_without_labels"]
    if summary["families_in_words"]:
        console.print(f"{say_families(summary['families_in_words'])}\n")
    print_doubt(console, summary["doubt"])
    console.print(
        f"{title}: {count(summary['n_clusters'], 'cluster')} of {count(objects, 'object')} by {summary['method']}",
        markup=False,
    )
    if summary["chosen"]:
        console.print(f"Chosen: {summary['chosen']}.")
    lines = {
        "confidence": f"{summary['mean_confidence']:.3f} on average",
        "support": f"{summary['mean_support']:.3f} on average; {count(summary['n_floaters'], 'floater')}",
        "ANMI": f"{summary['anmi']:.4f} with the clusterings",
    }
    if summary["ensemble_jaccard"] is not None:
        lines["ensemble"] = (
            f"the clusterings agree with each other to a Jaccard index of {summary['ensemble_jaccard']:.3f}"
        )
    if summary["n_without_labels"]:
        lines["no label"] = f"{count(summary['n_without_labels'], 'object')} that no clustering labels"
    for name, key in (("scales", "scales_in_words"), ("to drop", "drops_in_words")):
        if summary[key]:
            lines[name] = summary[key]
    for name, values in summary["known"].items():
        lines[f"with {name}"] = ", ".join(f"{measure} {format_number(value)}" for measure, value in values.items())
    print_lines(console, lines)
    if summary["scales"]:
        print_scales(summary, console)
    if summary["clusters"]:
        console.print("\nHow far to trust each cluster")
        names = ["cluster", "size", "confidence", "support", "floaters", "recurrence", "nearest", "confused"]
        shown, left = clusters_to_show([row["confidence"] for row in summary["clusters"]], PRINTED)
        rows = [[format_number(summary["clusters"][c][name]) for name in names] for c in shown]
        rows = [[*row[:6], "–" if row[6] == "-1" else row[6], row[7]] for row in rows]
        print_table(console, names, rows, tuple(range(len(names))))
        if left:
            console.print(f"… {left}")
    terms = [*(["stability", "nesting"] if summary["scales"] else []), "confidence", "support", "floater"]
    terms += ["recurrence", "nearest", "confused"] if summary["clusters"] else []
    print_definitions(console, *terms, *(["reliability"] if summary["drops_in_words"] else []))


def draw_confidence(result: Consensus, path: str | Path) -> None:
    """Draw the objects' confidence and support, and the clusters with their sizes, floaters, and mean confidence and support.

    Parameters
    ----------
    result : Consensus
    path : file ending in .png, .svg or .pdf

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from consilience.datasets import load_beads_labels
    >>> import consilience as cs
    >>> from consilience.reports import draw_confidence
    >>> with TemporaryDirectory() as folder:
    ...     draw_confidence(cs.combine(load_beads_labels(), 3), f"{folder}/confidence.svg")
    """
    if not isinstance(result, Consensus):
        raise InputError(f"draw_confidence draws a Consensus; got {kind_of(result)}")
    save_figure(path, confidence_figure, result)


def confidence_figure(one: Any, slots: Ints | None = None) -> Figure:
    """The picture of :func:`draw_confidence`: of a Consensus, or of a Contrast; `slots` are the clusters' colors."""
    labels = one.labels
    there = labels >= 0
    sizes = np.bincount(labels[there])
    shown = min(len(sizes), SHOWN_CLUSTERS)
    colors = [color_of(slot) for slot in (range(len(sizes)) if slots is None else slots)]
    figure = new_figure(11, float(np.clip(1.4 + 0.22 * shown, 3.2, 9)))
    left, middle, right = figure.subplots(1, 3, width_ratios=(5, 3, 4))
    bins = np.linspace(0, 1, 21)
    left.hist(one.confidence[there], bins=bins, color=PALETTE[0], alpha=0.55, label="confidence")
    left.hist(one.support[there], bins=bins, histtype="step", color="black", linewidth=1.4, label="support")
    left.axvline(FLOATING, color=ACCENT, linewidth=1, linestyle=(0, (4, 3)), label="floaters: support up to here")
    left.legend(frameon=False, fontsize=8, loc="upper left")
    left.set(xlabel="confidence, and support", ylabel="objects", xlim=(0, 1))
    left.set_title("How firmly do objects belong?", loc="left")
    middle.barh(range(shown), sizes[:shown], color=colors[:shown])
    table = cluster_means(labels, one.confidence, one.support).head(shown)
    middle.barh(range(shown), table["floaters"], color="black", height=0.25)
    middle.set(ylabel="cluster", xlabel="objects (black: floaters)")
    middle.set_title("Sizes of the clusters" if shown == len(sizes) else f"The largest {shown} clusters", loc="left")
    right.hlines(range(shown), table["support"], table["confidence"], color=QUIET, linewidth=1)
    right.scatter(table["confidence"], range(shown), color=PALETTE[0], zorder=3)
    open_dots: dict[str, Any] = {"facecolor": "white", "edgecolor": "black", "zorder": 2}
    right.scatter(table["support"], range(shown), **open_dots)
    right.axvline(FLOATING, color=ACCENT, linewidth=1, linestyle=(0, (4, 3)))
    right.set(xlabel="mean confidence (blue) and support (open)", xlim=(-0.03, 1.03))
    right.set_title("How far to trust them", loc="left")
    for axis in (middle, right):
        axis.set_yticks(range(shown), [str(c) for c in range(shown)], fontsize=8)
        axis.set_ylim(shown - 0.4, -0.6)
    for axis in (left, middle, right):
        open_frame(axis)
    return figure


def cautions(one: Consensus, *, compromise: bool = True) -> list[Text]:
    """What to know before one trusts an answer: that it is weak, or a compromise, unless that is said elsewhere."""
    doubt, families = describe_doubt(one), describe_families(one) if compromise else ""
    return [
        *([Text(f"A weak answer: {doubt}.", note=True)] if doubt else []),
        *([Text(say_families(families), note=True)] if families else []),
    ]


def describe_consensus(
    one: Consensus, report: Report, *, tiles: Mapping[str, Array], note: Text | None = None
) -> Iterator[Block]:
    """How a consensus was made, its clusters, what tells them apart, and the data colored by it."""
    there = one.labels >= 0
    yield from cautions(one, compromise=note is None)
    facts = [
        ("method", one.method),
        ("clusters", f"{one.n_clusters:,}"),
        ("mean confidence", format_number(one.mean_confidence)),
        ("mean support", f"{one.mean_support:.3f}; {count(len(one.floating), 'floater')}"),
        ("average NMI with the clusterings", f"{one.anmi:.4f}"),
    ]
    if missing := int((~there).sum()):
        facts.append(("without a label", count(missing, "object")))
    if one.note:
        facts.append(("chosen", one.note))
    yield Facts(facts)
    yield Text(f"Confidence: {DEFINITIONS['confidence']}. Support: {DEFINITIONS['support']}.")
    yield from describe_plane(report, tiles)
    if note is not None:
        yield note
    yield from describe_clusters(one, report)
    yield from describe_scale_blocks(one, report)
    yield from describe_members(one)


def describe_clusters(one: Any, report: Report) -> Iterator[Block]:
    """Sizes, confidence and support, and matches with known labels; distinguishing features where there is data."""
    labels, there = one.labels, one.labels >= 0
    if not there.any():
        yield Text("No object has a label.", note=True)
        return
    sizes, slots = np.bincount(labels[there]), report.slots(labels)
    frame, found = cluster_frame(one, report), find_marks(report, labels)
    if names := called(report, found):
        frame.insert(1, "words", names)
    mean = f"mean confidence {one.confidence[there].mean():.2f}"
    yield Picture(
        "confidence",
        confidence_figure(one, slots),
        f"Left: histograms of the objects' confidence and support, {mean}. Middle: sizes of the clusters, {format_list(sizes)}. "
        "Right: mean confidence and support of every cluster, as in the table.",
        "Left of the dashed line are the floaters, in black in the middle: no majority of clusterings puts them where they are.",
    )
    how: dict[str, Any] = {"name": "clusters", "place": "cluster", "slots": slots}
    yield cluster_sheet(one, brief(frame, report, "share"), "The clusters, the largest first", on_page=True, **how)
    yield Sheet("clusters", frame, "The clusters", most=0)
    said = [
        f"{name.capitalize()}, {DEFINITIONS[name]}" for name in ("recurrence", "nearest", "confused") if name in frame
    ]
    if said:
        yield Text(f"{'. '.join(said)}.")
    if len(frame) > SHOWN_CLUSTERS:
        weak = frame.reset_index().sort_values("confidence", kind="stable").head(WEAKEST)
        named = [
            f"{c} ({size:,} objects, {p:.2f})"
            for c, size, p in weak[["cluster", "size", "confidence"]].to_numpy(object)
        ]
        yield Text(f"The clusters least to be trusted, by their confidence: {', '.join(named)}.")
    if report.known:
        rows = {name: match_known(codes, labels) for name, codes in report.known.items()}
        matches = pd.DataFrame(rows).T.rename_axis("known_labels")
        yield Sheet("against_known", matches, "How well the clusters match known labels")
    yield from describe_features(report, found, slots)


class ConsensusReport(Report, of=Consensus):
    """One clustering without the clusterings it came from."""

    name = "one"

    @property
    def title(self) -> str:
        """What was found in what."""
        return title_of(self, self.result.source)

    @property
    def floaters(self) -> pd.DataFrame:
        """Objects with weak support, the weakest first."""
        return self.result.to_frame().iloc[self.result.floating]

    def answer(self) -> list[Text | Items]:
        """Its clusters, what they follow, and how sure they are."""
        told = say_clusters(self.result, self, in_words(self, find_marks(self, self.result.labels)))
        return [*cautions(self.result), *told]

    def describe(self) -> str:
        """Its clusters, confidence and support."""
        doubt, families = describe_doubt(self.result), describe_families(self.result)
        weak = f"A weak answer: {doubt}. " if doubt else ""
        weak += f"{say_families(families)} " if families else ""
        return f"{weak}{describe_briefly(self.result)}; combined by {self.result.method}."

    def facts(self) -> list[tuple[str, str]]:
        """How it was combined."""
        one = self.result
        facts = [*super().facts(), ("objects", f"{len(one.labels):,}"), ("method", one.method)]
        return [*facts, *([("parameters", " ".join(repr(one.estimator).split()))] if one.estimator is not None else [])]

    def code(self) -> list[str]:
        """The call of combine."""
        return super().code() or code_of(self.name, self.result.call, "the clusterings that were combined")

    def notes(self) -> list[str | None]:
        """What confidence and effect sizes do not say."""
        return [CONFIDENCE, CLUSTERED if self.data is not None else None]


def describe_briefly(one: Consensus) -> str:
    """Clusters, confidence and support in a few words."""
    there = one.labels >= 0
    means = f"mean confidence {one.mean_confidence:.2f}, mean support {one.mean_support:.2f}"
    return f"{count(one.n_clusters, 'cluster')} of {count(int(there.sum()), 'object')}, {means}, {count(len(one.floating), 'floater')}"


@section(Consensus, title="The clustering, and its confidence", order=60)
def consensus(report: ConsensusReport) -> Iterator[Block]:
    """The clusters, their confidence and support, and the data."""
    one: Consensus = report.result
    yield from describe_consensus(one, report, tiles={"consensus": one.labels})
    yield Sheet("objects", object_table(one), "Every object", most=0)


@section(Consensus, Ensemble, MetaClustering, Agreement, title="Floaters", order=80)
def floaters(report: Any) -> Iterator[Block]:
    """Objects with weak support, by id."""
    weak: pd.DataFrame = report.floaters
    yield Text(f"A floater is {DEFINITIONS['floater']}. Support: {DEFINITIONS['support']}.")
    if not len(weak):
        yield Text("There is none.")
        return
    table = weak.set_index("id").rename(columns={"known": "clusterings"})
    if "second" in table:
        table["second"] = whole_or_empty(table["second"])
    yield Sheet("floaters", table, f"{count(len(weak), 'floater')}, the weakest first", most=FLOATERS)
    sure = weak[weak["confidence"] >= STEADY] if "confidence" in weak else weak[:0]
    if len(sure):
        first, them = sure.iloc[0], "it" if len(sure) == 1 else "them"
        have = f"{count(len(sure), 'floater')} {'has' if len(sure) == 1 else 'have'} a confidence of {STEADY} or more"
        yield Text(
            "Support and confidence answer two questions: how many of these clusterings put an object where it is, and whether another "
            f"ensemble like this would, once combined. {have}, {first['id']} for one (support {first['support']:.2f}, confidence "
            f"{first['confidence']:.2f}): the clusterings part over {them}, but in a way that comes again, so the combined answer would "
            "be the same."
        )


# How far to trust each clustering of an ensemble: drawn, and in a report.

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMED = 40  # clusterings whose names a picture has room for


def draw_members(result: Consensus, path: str | Path) -> None:
    """Draw the reliability and the weight of every clustering, the least reliable first; those to drop are marked.

    Parameters
    ----------
    result : Consensus
        With a table of its clusterings: from :func:`consilience.combine`.
    path : file ending in .png, .svg or .pdf

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from consilience.datasets import load_beads_labels
    >>> import consilience as cs
    >>> from consilience.reports import draw_members
    >>> with TemporaryDirectory() as folder:
    ...     draw_members(cs.combine(load_beads_labels(), 3), f"{folder}/members.svg")
    """
    save_figure(path, members_figure, result)


def members_figure(one: Consensus) -> Figure:
    """The picture of :func:`draw_members`.

    Examples
    --------
    >>> import consilience as cs
    >>> one = cs.combine([[0, 0, 1, 1, 2, 2]] * 4 + [[0, 1, 0, 1, 0, 1]], 3)
    >>> [text.get_text() for text in members_figure(one).axes[0].get_yticklabels()]
    ['4', '0', '1', '2', '3']
    """
    if not isinstance(one, Consensus) or one.members is None:
        raise InputError("there is no table of the clusterings: combine(ens) makes one")
    table = one.members.sort_values("reliability", kind="stable")
    n, drop = len(table), table["better_without"].to_numpy(bool) & (not one.families)
    named, at = n <= NAMED, np.arange(n)
    figure = new_figure(9, float(np.clip(1.3 + 0.2 * n, 2.6, 9)) if named else 4.5)
    left, right = figure.subplots(1, 2, sharey=True)
    for axis, name in ((left, "reliability"), (right, "weight")):
        values = table[name].to_numpy(float)
        axis.hlines(at, 0, np.nan_to_num(values), color=QUIET, linewidth=1 if named else 0.5)
        for mask, color, word in ((~drop, PALETTE[0], "kept"), (drop, ACCENT, "better left out")):
            if mask.any():
                look: dict[str, Any] = {"color": color, "s": 24 if named else 9, "zorder": 3, "label": word}
                axis.scatter(values[mask], at[mask], marker="X" if word != "kept" else "o", **look)
        axis.axvline(0, color=QUIET, linewidth=0.8)
        open_frame(axis)
    left.set(xlabel="reliability (0 is chance, 1 is the most)", xlim=(None, 1.03), ylim=(n - 0.4, -0.6))
    right.set(xlabel="weight")
    left.set_title("How well does it agree with the others?", loc="left", fontsize=10)
    right.set_title("How much does it say?", loc="left", fontsize=10)
    if named:
        left.set_yticks(at, [short_name(name) for name in table["clustering"]], fontsize=8)
    else:
        left.set(yticks=[], ylabel=f"{count(n, 'clustering')}, the least reliable on top")
    if drop.any():
        figure.legend(*left.get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower left", ncols=2)
    return figure


def describe_members(one: Consensus) -> Iterator[Block]:
    """How far to trust each clustering, the least reliable first."""
    if one.members is None:
        return
    table = one.members.set_index("clustering").sort_values("reliability", kind="stable")
    if len(table) > 1:
        drops = describe_drops(one)
        words = (
            f"All are in this answer; better left out of another: {drops}."
            if drops
            else "A low one says here that a clustering is of a smaller family, not that it should go."
            if one.families
            else "No clustering is so far from the others that it should go."
        )
        yield Text(f"Reliability: {DEFINITIONS['reliability']}. Weight: {DEFINITIONS['weight']}.")
        yield Text(words)
        yield Picture(
            "members",
            members_figure(one),
            f"Reliability and weight of {count(len(table), 'clustering')}, the least reliable on top. {words}",
            "How far to trust each clustering, the least reliable on top."
            + (" A cross marks one that is better left out." if drops else ""),
        )
    yield Sheet("members", table, "How far to trust each clustering, the least reliable first", most=12)
