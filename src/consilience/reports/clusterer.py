"""Clusters of a table, and of new objects: as tables, and printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from consilience._check import count
from consilience._json import plain
from consilience.clusterer import Assignment, EnsembleClusterer
from consilience.clusterer.saving import ClustererModel
from consilience.consensus.result import clusters_to_show, describe_scales
from consilience.consensus.trust.confidence import floating
from consilience.consensus.trust.tables import cluster_means
from consilience.reports.clusters import describe_plane, find_marks, in_words, say_clusters, title_of
from consilience.reports.consensus import describe_clusters, floaters, match_known
from consilience.reports.files import name_objects, object_index, object_table, whole_or_empty
from consilience.reports.finding import format_number
from consilience.reports.html import Block, Items, Sheet, Text
from consilience.reports.scales import describe_scale_table
from consilience.reports.sections import CLUSTERED, CONFIDENCE, Report, section
from consilience.reports.terminal import DEFINITIONS, print_definitions, print_doubt, print_lines, print_table, terminal

PRINTED = 20  # clusters on the terminal


def cluster_frame(model: EnsembleClusterer, ids: Any) -> pd.DataFrame:
    """Every object of the data with its cluster, confidence and support, as files have it."""
    shares = {"confidence": np.round(model.confidence_, 6), "support": np.round(model.support_, 6)}
    index = object_index(ids, len(model.labels_))
    return pd.DataFrame({"cluster": whole_or_empty(model.labels_), **shares}, index=index)


def cluster_summary(model: EnsembleClusterer, known: Mapping[str, Any]) -> dict[str, Any]:
    """Plain numbers and text, for print and JSON; `known` are labels that the clusters are compared with."""
    labels, there = model.labels_, model.labels_ >= 0
    return {
        "n_clusters": model.n_clusters_,
        "n_objects": len(labels),
        "n_clusterings": model.ensemble_.n_clusterings,
        "n_sampled": None if model.sample_ is None else len(model.sample_),
        "n_without_labels": int(np.count_nonzero(~there)),
        "mean_confidence": float(model.confidence_[there].mean()),
        "mean_support": float(model.support_[there].mean()),
        "n_floaters": len(floating(labels, model.support_)),
        "method": model.consensus_.method,
        "chosen": model.note_,
        "doubt": model.doubt_,
        "scales": None if model.scales_ is None else plain(model.scales_),
        "scales_in_words": describe_scales(model.consensus_),
        "clusters": plain(cluster_means(labels, model.confidence_, model.support_)),
        "known": {name: match_known(values, labels) for name, values in known.items()},
    }


def print_clusters(summary: Mapping[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`cluster_summary` holds."""
    console = console or terminal()
    print_doubt(console, summary["doubt"])
    found = f"{count(summary['n_clusters'], 'cluster')} of {count(summary['n_objects'], 'object')}"
    console.print(f"{title}: {found}, from {count(summary['n_clusterings'], 'clustering')}")
    lines = {"chosen": summary["chosen"]} if summary["chosen"] else {}
    lines["confidence"] = f"{summary['mean_confidence']:.3f} on average"
    lines["support"] = f"{summary['mean_support']:.3f} on average; {count(summary['n_floaters'], 'floater')}"
    if summary["scales_in_words"]:
        lines["scales"] = summary["scales_in_words"] + _other_scales(summary)
    if summary["n_without_labels"]:
        lines["no label"] = f"{count(summary['n_without_labels'], 'object')} that no clustering labels"
    for name, values in summary["known"].items():
        lines[f"with {name}"] = ", ".join(f"{measure} {format_number(value)}" for measure, value in values.items())
    print_lines(console, lines)
    console.print()
    names = ["cluster", "size", "share", "confidence", "support", "floaters"]
    shown, left = clusters_to_show([row["confidence"] for row in summary["clusters"]], PRINTED)
    rows = [[format_number(summary["clusters"][c][name]) for name in names] for c in shown]
    print_table(console, names, rows, tuple(range(len(names))))
    if left:
        console.print(f"… {left}")
    print_definitions(console, "confidence", "support", "floater")


def _other_scales(summary: Mapping[str, Any]) -> str:
    """How to have the clusters at another number that is more stable than chance: the most stable of the finer ones, or else of all."""
    others = [
        row["n_clusters"] for row in summary["scales"] if row["real"] and row["n_clusters"] != summary["n_clusters"]
    ]
    finer = [k for k in others if k > summary["n_clusters"]]
    return f"; -k {(finer or others)[0]} gives those" if others else ""


def assignment_summary(found: Assignment, known: Mapping[str, Any]) -> dict[str, Any]:
    """Plain numbers and text of clusters of new objects, for print and JSON."""
    there = found.labels >= 0
    return {
        "n_objects": len(found.labels),
        "n_clusters": found.n_clusters,
        "sizes": found.sizes.tolist(),
        "n_without_labels": int(np.count_nonzero(~there)),
        "mean_confidence": float(found.confidence[there].mean()) if there.any() else None,
        "mean_support": float(found.support[there].mean()) if there.any() else None,
        "n_floaters": len(floating(found.labels, found.support)),
        "drift": {
            "share_outside": found.drift.share,
            "expected": found.drift.expected,
            "large": found.drift.large,
            "columns": plain(found.drift.columns),
            "unseen": found.drift.unseen,
            "in_words": found.describe_drift(),
        },
        "known": {name: match_known(values, found.labels) for name, values in known.items()},
    }


def print_assignment(summary: Mapping[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`assignment_summary` holds."""
    console = console or terminal()
    console.print(f"{title}: {count(summary['n_objects'], 'object')} to {count(summary['n_clusters'], 'cluster')}")
    lines = {
        "sizes": ", ".join(f"{size:,}" for size in summary["sizes"]),
        "confidence": f"{format_number(summary['mean_confidence'])} on average",
        "support": f"{format_number(summary['mean_support'])} on average; {count(summary['n_floaters'], 'floater')}",
    }
    if summary["n_without_labels"]:
        lines["no label"] = f"{count(summary['n_without_labels'], 'object')} that no clustering labels"
    for name, values in summary["known"].items():
        lines[f"with {name}"] = ", ".join(f"{measure} {format_number(value)}" for measure, value in values.items())
    print_lines(console, {**lines, "drift": summary["drift"]["in_words"]})


# The report of a clusterer that was saved: its clusters, and how far to trust them.


class ClustererReport(Report, of=ClustererModel):
    """Clusters of a table, by the model that was kept of them.

    Examples
    --------
    ``report(fitted, "report.html")`` makes one of these:

    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> from consilience.clusterer.saving import ClustererModel
    >>> from consilience.datasets import load_beads
    >>> from consilience.reports import ClustererReport
    >>> fitted = cs.EnsembleClusterer(3, n_clusterings=10, random_state=0).fit(load_beads().values)
    >>> with TemporaryDirectory() as folder:
    ...     fitted.save(f"{folder}/model")
    ...     model = ClustererModel.load(f"{folder}/model")
    >>> ClustererReport(model, None).describe()
    '3 clusters of 300 objects, mean confidence 0.91, mean support 0.89, 18 floaters.'
    """

    name = "model"

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
        weak = [Text(f"A weak answer: {self.result.doubt}.", note=True)] if self.result.doubt else []
        return [*weak, *say_clusters(self.result, self, in_words(self, find_marks(self, self.result.labels)))]

    def describe(self) -> str:
        """Its clusters, confidence and support."""
        model = self.result
        there = model.labels >= 0
        means = f"mean confidence {model.confidence[there].mean():.2f}, mean support {model.support[there].mean():.2f}"
        weak = count(len(model.floating), "floater")
        doubt = f"A weak answer: {model.doubt}. " if model.doubt else ""
        return f"{doubt}{count(model.n_clusters, 'cluster')} of {count(int(there.sum()), 'object')}, {means}, {weak}."

    def facts(self) -> list[tuple[str, str]]:
        """What was clustered, and how."""
        model = self.result
        given = ", ".join(f"{name}={value!r}" for name, value in model.parameters.items() if value is not None)
        facts = [*super().facts(), ("objects", f"{len(model.labels):,}"), ("columns", f"{model.n_columns:,}")]
        if model.encoder is not None and self.data is None:
            facts.append(("columns of the data", model.encoder.describe()))
        facts += [("chosen", model.note)] if model.note else []
        return [*facts, ("parameters", given)]

    def notes(self) -> list[str | None]:
        """What confidence and effect sizes do not say."""
        return [CONFIDENCE, CLUSTERED if self.data is not None else None]


@section(ClustererModel, title="The clusters, and their confidence", order=60)
def clusters(report: ClustererReport) -> Iterator[Block]:
    """The clusters, what tells them apart, and the numbers of clusters that are stable."""
    model: ClustererModel = report.result
    yield Text(f"Confidence: {DEFINITIONS['confidence']}. Support: {DEFINITIONS['support']}.")
    if model.scales is not None:
        yield from describe_scale_table(model.scales)
    yield from describe_plane(report, {"clusters": model.labels})
    yield from describe_clusters(model, report)
    read_by = model.encoder or model.reader
    objects = name_objects(object_table(model), (read_by and read_by.id_name) or "id")
    yield Sheet("objects", objects, "Every object", most=0)


section(ClustererModel, title="Floaters", order=80)(floaters)
