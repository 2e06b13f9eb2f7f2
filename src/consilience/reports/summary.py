"""The one partition of many samples, drawn and in a report: its clusters, its credible ball, and its certain core."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Floats
from consilience.consensus.samples.summarize import BOUNDS, NAMES, CertainCore, Summary
from consilience.reports import figures
from consilience.reports.clusters import describe_plane, say_follows, say_size
from consilience.reports.finding import Block, Facts, Finding, Items, Picture, See, Sheet, Text
from consilience.reports.sections import CLUSTERED, Report, code_of, section
from consilience.reports.words import format_number

CORES = (0.95, 0.8, 0.5)  # safeguard: levels of the certain core that are shown; `core(level)` has any
COHESION = "Cohesion: the share of the other objects of its cluster that a sample has together with an object, on average over samples."
MEANINGS = {
    "horizontal": "the farthest from the summary",
    "upper vertical": "those with the fewest clusters, the farthest of them",
    "lower vertical": "those with the most clusters, the farthest of them",
}


class SummaryReport(Report, of=Summary):
    name, about = "found", "the one partition of many"

    def finding(self) -> Finding:
        one, (name, unit) = self.result, NAMES[self.result.loss]
        samples = count(one.samples.n_clusterings, "sample")
        return Finding(f"{say_size(one)}, expected {name} {one.expected_loss:.4f}{unit} over {samples}")

    def answer(self) -> list[Text | Items]:
        one = self.result
        core, ball = one.core(CORES[0]), one.ball()
        text = self.finding().title + say_follows(self, one.labels, "It goes")
        sure = (
            f"{100 * core.level:.0f} % of the samples part {count(len(core.objects), 'object')} in one and the same way, the certain core; "
            f"{100 * ball.share:.3g} % of them lie within {ball.radius:.4g}{NAMES[one.loss][1]} of this partition."
        )
        return [Text([text, See(("summary", "tiles"), ("clusters",)), "."]), Text(sure)]

    def facts(self) -> list[tuple[str, str]]:
        one = self.result
        facts = [*super().facts(), ("objects", f"{len(one.labels):,}"), ("samples", f"{one.samples.n_clusterings:,}")]
        return [*facts, ("loss", NAMES[one.loss][0]), ("cost of parting", f"{one.cost:g} (joining {2 - one.cost:g})")]

    def code(self) -> list[str]:
        return super().code() or code_of(self.name, self.result.call, "the samples that were summarized")

    def notes(self) -> list[str | None]:
        return [CLUSTERED if self.data is not None else None]


@section(Summary, title="The partition, and how sure it is", order=60)
def summary(report: SummaryReport) -> Iterator[Block]:
    one: Summary = report.result
    there, unit = one.labels >= 0, NAMES[one.loss][1]
    cohesion = format_number(float(np.nanmean(one.cohesion[there])))
    facts = [("clusters", f"{one.n_clusters:,}"), ("expected loss", f"{one.expected_loss:.4f}{unit}")]
    yield Facts([*facts, ("mean cohesion", cohesion), *([("note", one.note)] if one.note else [])])
    yield Text(COHESION)
    cores, ball = [one.core(level) for level in CORES], one.ball()
    sure = "; ".join(f"{100 * core.level:.0f} %: {count(len(core.objects), 'object')}" for core in cores)
    yield Picture(
        "summary",
        summary_figure(one, cores),
        f"Left: sizes of the clusters, and how much of each is in the certain core ({sure}). Middle: mean cohesion of every cluster. "
        f"Right: the samples' distances from the partition; {100 * ball.share:.3g} % lie within {ball.radius:.4g}{unit}.",
        "Dark bars are the certain core, by the share of the samples that part it in one and the same way. Left of the dashed line lie the "
        "samples of the credible ball.",
    )
    frame = pd.DataFrame({"objects": one.sizes, "mean_cohesion": _mean_cohesion(one)}).rename_axis("cluster")
    yield Sheet("clusters", frame, "The clusters, the largest first", most=40)
    inside = f"{100 * ball.share:.3g} % of the samples lie within {ball.radius:.4g}{unit} of this partition (its credible ball)."
    yield Text(" ".join([inside, *(_bound(ball.bounds, name, unit) for name in BOUNDS)]))
    yield Sheet("ball", ball.bounds.set_index("bound"), "Partitions at the bounds of the credible ball", most=12)
    rows = [(core.level, core.probability, len(core.objects), core.n_clusters) for core in cores]
    table = pd.DataFrame(rows, columns=["level", "probability", "objects", "clusters"]).set_index("level")
    yield Text("The certain core: objects that at least a share of the samples parts in one and the same way.")
    yield Sheet("core", table, "The certain core by level")
    yield from describe_plane(report, {"summary": one.labels})
    yield Sheet("objects", one.to_frame(), "Every object", most=0)


@figures.picture("summary", Summary)
def summary_figure(one: Summary, cores: Sequence[CertainCore] | None = None) -> figures.Figure:
    """The clusters with their certain core and cohesion, and how far the samples are from them."""
    cores = [one.core(level) for level in CORES] if cores is None else cores
    shown, ball, (name, unit) = min(one.n_clusters, figures.NAMED), one.ball(), NAMES[one.loss]
    figure = figures.new_figure(11, float(np.clip(1.6 + 0.22 * shown, 3.2, 9)))
    left, middle, right = figure.subplots(1, 3, width_ratios=(4, 3, 4))
    left.barh(range(shown), one.sizes[:shown], color=[figures.color_of(c) for c in range(shown)], alpha=0.55)
    looks = ((0.5, "0.55"), (0.35, "0.3"), (0.2, "0"))
    for core, (height, gray) in zip(sorted(cores, key=lambda core: core.level), looks, strict=False):
        inside = np.bincount(one.labels[(core.labels >= 0) & (one.labels >= 0)], minlength=one.n_clusters)
        word = f"sure for {100 * core.level:.0f} % of the samples"
        left.barh(range(shown), inside[:shown], color=gray, height=height, label=word)
    figure.legend(*left.get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower left", ncols=3)
    left.set(ylabel="cluster", xlabel="objects (dark: certain core)")
    title = "Sizes, and what is sure" if shown == one.n_clusters else f"The largest {shown} clusters, and what is sure"
    left.set_title(title, loc="left")
    cohesion = _mean_cohesion(one)[:shown]
    middle.hlines(range(shown), 0, cohesion, color=figures.QUIET, linewidth=1)
    middle.scatter(cohesion, range(shown), color=figures.PALETTE[0], zorder=3)
    middle.set(xlabel="mean cohesion", xlim=(-0.03, 1.03))
    middle.set_title("How firmly do they hold?", loc="left")
    distances = one.distances[~np.isnan(one.distances)]
    right.hist(distances, bins=min(30, max(5, len(distances) // 4)), color=figures.PALETTE[0], alpha=0.55)
    word = f"{100 * ball.share:.3g} % of them within {ball.radius:.3g}"
    right.axvline(ball.radius, color=figures.ACCENT, linewidth=1, linestyle=(0, (4, 3)), label=word)
    right.legend(frameon=False, fontsize=8, loc="upper left")
    of = f"{name} from this partition{f' ({unit.strip()})' if unit else ''}"
    right.set(xlabel=of, ylabel="samples", xlim=(0, None))
    right.set_title("How far are the samples?", loc="left")
    figures.name_rows(shown, left, middle)
    return figures.open_frame(left, middle, right)


def _mean_cohesion(one: Summary) -> Floats:
    known = (one.labels >= 0) & ~np.isnan(one.cohesion)
    told = np.bincount(one.labels[known], minlength=one.n_clusters)
    return np.bincount(one.labels[known], one.cohesion[known], minlength=one.n_clusters) / np.maximum(told, 1)


def _bound(bounds: pd.DataFrame, name: str, unit: str) -> str:
    rows = bounds[bounds["bound"] == name]
    clusters = ", ".join(f"{k}" for k in sorted(set(rows["n_clusters"])))
    return f"{name.capitalize()} bound, {MEANINGS[name]}: {clusters} clusters at {rows['distance'].max():.4g}{unit}."
