"""The one partition of many samples, in a report: its clusters, its credible ball in words, and its certain core."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from consilience._check import count
from consilience.consensus import Summary
from consilience.consensus.credible_ball import BOUNDS
from consilience.consensus.summary import NAMES
from consilience.reports.formats import format_number
from consilience.reports.html import Block, Facts, Sheet, Text
from consilience.reports.sections import CLUSTERED, Report, section
from consilience.reports.tiles import describe_plane

CORES = (0.95, 0.8, 0.5)  # levels that a report names
MEANINGS = {
    "horizontal": "the farthest from the summary",
    "upper vertical": "those with the fewest clusters, the farthest of them",
    "lower vertical": "those with the most clusters, the farthest of them",
}


class SummaryReport(Report, of=Summary):
    """One partition and the samples it stands for."""

    name, about = "found", "the one partition of many"

    def describe(self) -> str:
        """Its clusters and its loss."""
        one, (name, unit) = self.result, NAMES[self.result.loss]
        clusters = f"{count(one.n_clusters, 'cluster')} of {count(int((one.labels >= 0).sum()), 'object')}"
        return f"{clusters}, expected {name} {one.expected_loss:.4f}{unit} over {count(one.samples.n_clusterings, 'sample')}."

    def facts(self) -> list[tuple[str, str]]:
        """How it was found."""
        one = self.result
        facts = [*super().facts(), ("objects", f"{len(one.labels):,}"), ("samples", f"{one.samples.n_clusterings:,}")]
        return [*facts, ("loss", NAMES[one.loss][0]), ("cost of parting", f"{one.cost:g} (joining {2 - one.cost:g})")]

    def code(self) -> list[str]:
        """The call of summarize."""
        cost = "" if self.result.cost == 1 else f", cost={self.result.cost:g}"
        return super().code() or [f"found = cs.summarize(samples, {self.result.loss!r}{cost})"]

    def notes(self) -> list[str | None]:
        """What effect sizes do not say."""
        return [CLUSTERED if self.data is not None else None]


@section(Summary, title="The partition, and how sure it is", order=60)
def summary(report: SummaryReport) -> Iterator[Block]:
    """The clusters and their cohesion, the credible ball, and the certain core."""
    one: Summary = report.result
    there, unit = one.labels >= 0, NAMES[one.loss][1]
    facts = [
        ("clusters", f"{one.n_clusters:,}"),
        ("expected loss", f"{one.expected_loss:.4f}{unit}"),
        ("mean cohesion", format_number(float(np.nanmean(one.cohesion[there])))),
    ]
    yield Facts([*facts, *([("note", one.note)] if one.note else [])])
    yield Text(
        "Cohesion: the share of the other objects of its cluster that a sample has together with an object, on average over samples."
    )
    known = there & ~np.isnan(one.cohesion)
    told = np.bincount(one.labels[known], minlength=one.n_clusters)
    mean = np.bincount(one.labels[known], one.cohesion[known], minlength=one.n_clusters) / np.maximum(told, 1)
    frame = pd.DataFrame({"objects": one.sizes, "mean_cohesion": mean}).rename_axis("cluster")
    yield Sheet("clusters", frame, "The clusters, the largest first", most=40)
    ball = one.ball()
    yield Text(
        f"{100 * ball.share:.3g} % of the samples lie within {ball.radius:.4g}{unit} of this partition (its credible ball). "
        + " ".join(_bound(ball.bounds, name, unit) for name in BOUNDS)
    )
    yield Sheet("ball", ball.bounds.set_index("bound"), "Partitions at the bounds of the credible ball", most=12)
    cores = [one.core(level) for level in CORES]
    rows = [(core.level, core.probability, len(core.objects), core.n_clusters) for core in cores]
    table = pd.DataFrame(rows, columns=["level", "probability", "objects", "clusters"]).set_index("level")
    yield Text("The certain core: objects that at least a share of the samples parts in one and the same way.")
    yield Sheet("core", table, "The certain core by level")
    yield from describe_plane(report, {"summary": one.labels})
    yield Sheet("objects", one.to_frame(), "Every object", most=0)


def _bound(bounds: pd.DataFrame, name: str, unit: str) -> str:
    """One bound in a sentence."""
    rows = bounds[bounds["bound"] == name]
    clusters = ", ".join(f"{k}" for k in sorted(set(rows["n_clusters"])))
    return f"{name.capitalize()} bound, {MEANINGS[name]}: {clusters} clusters at {rows['distance'].max():.4g}{unit}."
