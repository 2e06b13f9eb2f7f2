"""Clusters in a report: sizes, how far to trust each, and what tells them apart, with how that is spread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, Ints
from consilience.consensus.trust.tables import cluster_means
from consilience.measures import contingency
from consilience.measures.cluster_features import marks, top_words
from consilience.reports.files import whole_or_empty
from consilience.reports.formats import format_number
from consilience.reports.html import Block, Sheet, Text
from consilience.reports.palette import color_of
from consilience.reports.sections import Report
from consilience.reports.strips import Strip

BARS = 40  # clusters that a table has room for
FEATURES = 5  # of each cluster
TELLING = 2  # marks that tell a cluster in the answer
BINS = 20  # of support
SPREAD = "Filled is how the cluster is spread, the line is all other objects."
EFFECT = (
    "Effect is Cohen's d, with its 95 % interval: the difference of the means in standard deviations{of}. The clusters were made to differ "
    "on these columns, so large effects describe them and prove nothing."
)
OF_WORDS = " (of a category, of the share of the one named)"
OF_COUNTS = " (of the square roots of the counts, in rows of length 1)"


def cluster_frame(one: Any, report: Report) -> pd.DataFrame:
    """One row per cluster: size, confidence, support, floaters, and the most frequent of what is known."""
    labels = one.labels
    found = getattr(one, "clusters", None)
    found = cluster_means(labels, one.confidence, one.support) if found is None else found
    frame = found.set_index("cluster")
    for name, codes in report.known.items():
        table = contingency(labels, codes)
        total = np.maximum(table.sum(axis=1), 1)
        called = np.array([*report.names_of(name)], object)[table.argmax(axis=1)]
        frame[f"most_frequent_{name}"] = np.where(table.sum(axis=1) > 0, called, None)
        frame[f"share_of_most_frequent_{name}"] = np.where(table.sum(axis=1) > 0, table.max(axis=1) / total, np.nan)
    return frame


def brief(frame: pd.DataFrame, report: Report, *leave: str) -> pd.DataFrame:
    """The same for the page: what is known in one column each, "disc (35 %)", and without some of the columns."""
    short = frame.drop(columns=[name for name in leave if name in frame])
    if "nearest" in short:
        short["nearest"] = whole_or_empty(short["nearest"])
    for name in report.known:
        shares = short.pop(f"share_of_most_frequent_{name}")
        told = zip(short[f"most_frequent_{name}"], shares, strict=True)
        short[f"most_frequent_{name}"] = [None if what is None else f"{what} ({100 * p:.0f} %)" for what, p in told]
    return short


def cluster_sheet(
    one: Any, frame: pd.DataFrame, caption: str, *, name: str, place: str, slots: Ints, on_page: bool = False
) -> Sheet:
    """The clusters with their colors and the spread of their objects' support; `place` is what links to them begin with."""
    spread = [
        Strip(_shares(one.support[one.labels == cluster]), None, color_of(slot), 0.0, 1.0)
        for cluster, slot in enumerate(slots)
    ]
    return Sheet(
        name,
        frame,
        caption,
        most=BARS,
        on_page=on_page,
        colors=[color_of(slot) for slot in slots],
        anchors=[f"{place}-{cluster}" for cluster in range(len(slots))],
        strips={"support of its objects": spread},
    )


def _shares(values: Array) -> list[float]:
    counts = np.histogram(values, BINS, (0, 1))[0]
    return list(np.round(counts / max(1, counts.sum()), 4))


def find_marks(report: Report, labels: Array, top: int = FEATURES) -> list[list[dict[str, Any]]] | None:
    """For every cluster the columns that tell it from the rest, the strongest first; None without data."""
    if report.comparable is None or labels.max(initial=-1) < 0:
        return None
    return marks(report.comparable, labels.astype(np.int32), int(labels.max()) + 1, top, infinite=True)


def feature_frame(found: list[list[dict[str, Any]]]) -> pd.DataFrame:
    """One row per cluster and column, as files have it."""
    rows = [
        {
            "cluster": cluster,
            **({"words": one["words"]} if "words" in one else {"feature": one["feature"]}),
            "effect": one["d"],
            "low": one["low"],
            "high": one["high"],
            **({} if "words" in one else {"mean": one["mean"], "mean_elsewhere": one["rest"]}),
        }
        for cluster, some in enumerate(found)
        for one in some
    ]
    return pd.DataFrame(rows).set_index("cluster") if rows else pd.DataFrame()


def feature_sheet(
    found: list[list[dict[str, Any]]],
    caption: str,
    *,
    name: str,
    place: str,
    slots: Ints,
    most: int = 12 * FEATURES,
    on_page: bool = False,
) -> Sheet | None:
    """The columns that tell clusters apart, each with how it is spread; None where there are none."""
    frame = feature_frame(found)
    if not len(frame):
        return None
    colors = [color_of(slots[cluster]) for cluster in frame.index]
    told = [(one, color) for one, color in zip((one for some in found for one in some), colors, strict=True)]
    return Sheet(
        name,
        frame,
        caption,
        most=most,
        on_page=on_page,
        colors=colors,
        links=[f"{place}-{cluster}" for cluster in frame.index],
        strips={"spread": [_strip(one["spread"], color) for one, color in told[:most]]},
    )


def _strip(spread: dict[str, Any], color: str) -> Strip:
    inside, outside = (list(map(float, spread[side])) for side in ("inside", "outside"))
    return Strip(inside, outside, color, spread.get("low"), spread.get("high"), spread["levels"])


def describe_features(report: Report, found: list[list[dict[str, Any]]] | None, slots: Ints) -> Iterator[Block]:
    """Columns on which the clusters differ most from the rest, of the one clustering that a report is of."""
    if found is None:
        return
    caption = "Columns on which each cluster differs most from all other objects"
    if sheet := feature_sheet(found, caption, name="features", place="cluster", slots=slots):
        yield sheet
        yield Text(f"{SPREAD} {effect_note(report)}", note=True)


def effect_note(report: Report) -> str:
    """What an effect is, of this data."""
    assert report.comparable is not None
    assert report.data is not None
    return EFFECT.format(of=OF_COUNTS if report.comparable.is_counts else OF_WORDS if report.data.in_words else "")


def called(report: Report, found: list[list[dict[str, Any]]] | None) -> list[str] | None:
    """What names each cluster, of counts: the words of which it has most more than others."""
    if found is None or report.comparable is None or not report.comparable.is_counts:
        return None
    return [", ".join(words) for words in top_words(found)]


def title_of(report: Report, clustered: str = "") -> str:
    """The title of a report of one clustering: what was found in what, by its name where the source is only what was kept of it."""
    n, k = int((report.result.labels >= 0).sum()), report.result.n_clusters
    return f"{clustered or report.origin.source}: {count(k, 'cluster')} of {count(n, 'object')}"


def in_words(report: Report, found: list[list[dict[str, Any]]] | None) -> list[str] | None:
    """What each cluster is, in a few words: those that name it, of counts, and else its strongest marks, first with whom it is beside."""
    names = called(report, found)
    if names is not None or found is None:
        return names
    words = ["; ".join(_mark_words(one) for one in some[:TELLING]) for some in found]
    first = next((c for c, said in enumerate(words) if said), None)
    return [f"{said} (against all other objects)" if c == first else said for c, said in enumerate(words)]


def _mark_words(one: dict[str, Any]) -> str:
    if "words" in one:
        return str(one["words"])
    return f"{one['feature']}: {format_number(one['mean'], 3)} against {format_number(one['rest'], 3)} (mean)"
