"""Clusters in a report: sizes, how far to trust each, and what tells them apart, with how that is spread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, Floats, Ints
from consilience.consensus.trust.confidence import FLOATING
from consilience.consensus.trust.tables import cluster_means
from consilience.measures import accuracy, adjusted_rand, contingency
from consilience.measures.cluster_features import marks, top_words
from consilience.measures.explained_variance import WORTHY
from consilience.reports.figures import color_of
from consilience.reports.files import whole_or_empty
from consilience.reports.finding import format_number
from consilience.reports.html import Block, Items, Link, Picture, See, Sheet, Strip, Text
from consilience.reports.plane import POINTS, plane_of, tiles_figure
from consilience.reports.sections import Report

SHOWN_CLUSTERS = 40  # clusters that a table has room for
FEATURES = 5  # of each cluster
TELLING = 2  # marks that tell a cluster in the answer
BINS = 20  # of support
TILES = 9  # clusterings that the plane is colored by
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
        most=SHOWN_CLUSTERS,
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


def describe_plane(
    report: Report,
    tiles: Mapping[str, Array],
    *,
    under: Mapping[str, str] | None = None,
    more: Sequence[str | Link | See] = (),
    reference: Array | None = None,
) -> Iterator[Block]:
    """The data's plane, colored by each of several clusterings and by what is known; `more` is said below."""
    if report.data is None or not tiles:
        return
    plane = plane_of(report.objects, report.data)
    known = {f"known: {name}": codes for name, codes in list(report.known.items())[:3]}
    shown = dict(list(tiles.items())[:TILES]) | known
    names = {f"known: {name}": report.names_of(name) for name in report.known}
    left = f" {count(len(tiles) - TILES, 'more clustering')} are not drawn." if len(tiles) > TILES else ""
    n = report.data.n_objects
    follow = "Colors are those of the tables."
    if len(shown) > 1:
        follow = "Colors follow the first picture by overlap: equal colors mean nearly the same objects, and are those of the tables."
    some = f"{POINTS:,} of {n:,} objects" if n > POINTS else "All objects"
    yield Picture(
        "tiles",
        tiles_figure(plane.xy, shown, note=plane.note, names=names, under=under, reference=reference),
        f"The same points colored by {', '.join(shown)}. {some} on {plane.note}.{left}",
        [
            f"{some} on {plane.note}.{left} Numbers are those of the clusters. {follow}",
            *more,
        ],
    )


# What was found, in sentences: these stand on top of a report.

FOLLOWS, LEANS = 0.3, 0.1  # adjusted Rand indices from which labels are followed, or leant to
ALIKE, APART = 0.65, 0.2  # of two answers: from which they are much alike, up to which they have little in common
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
STEADY = 0.8  # confidence from which it is much, where there is little support
LOOKED_AT, PAIRS = 5_000, 10_000  # objects that pairs of answers are compared on at least, and pairs that are on so few
IN_CLUSTERS = See(("tiles", "confidence"), ("clusters", "features"))
NAMED = 6  # groups, or clusters, that sentences name


@dataclass(frozen=True)
class Match:
    """The known labels that a clustering comes nearest to: by the adjusted Rand index, which allows for chance."""

    known: str
    accuracy: float
    rand: float

    @property
    def follows(self) -> tuple[str, str] | None:
        """The word for how nearly it follows them, of one and of several; None where it does not."""
        return (
            None
            if not self.rand >= LEANS
            else ("follows", "follow")
            if self.rand >= FOLLOWS
            else ("leans to", "lean to")
        )

    @property
    def words(self) -> str:
        """Whether it follows them."""
        if self.follows:
            return f"{self.follows[0]} {self.known} (accuracy {self.accuracy:.2f})"
        return f"matches no known labels (the nearest, {self.known}: accuracy {self.accuracy:.2f})"


def nearest_known(report: Report, labels: Array) -> Match | None:
    """The known labels that match best; None where nothing is known, or of no object."""
    found = [
        Match(name, accuracy(codes, labels), adjusted_rand(codes, labels))
        for name, codes in report.known.items()
        if ((codes >= 0) & (labels >= 0)).any()
    ]
    return max(found, key=lambda match: np.nan_to_num(match.rand, nan=-1.0), default=None)


def followed_columns(report: Report, labels: Array, most: int = WORTHY) -> list[tuple[str, float]]:
    """The columns that a clustering follows most, beyond chance; none without data."""
    return [] if report.following is None else report.following.followed(labels, most)


def say_columns(columns: Sequence[tuple[str, float]], *, brief: bool = False) -> str:
    """Names, each with its share; unless it is to be brief, the first says of what.

    Examples
    --------
    >>> say_columns([("red", 0.81), ("blue", 0.6)])
    'red (81 % of its variance lies between clusters) and blue (60 %)'
    """
    of = " of its variance lies between clusters"
    words = [f"{name} ({100 * share:.0f} %{'' if i or brief else of})" for i, (name, share) in enumerate(columns)]
    return listed(words)


def listed(words: Sequence[str]) -> str:
    """Words with commas, and "and" before the last.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def number(n: int) -> str:
    """A number, in words up to twelve."""
    return NUMBERS[n] if n < len(NUMBERS) else f"{n:,}"


def say_sureness(one: Any) -> str:
    """How far to trust the clusters of a clustering: support, confidence, floaters, the firmest and the weakest of them."""
    there = one.labels >= 0
    means = cluster_means(one.labels, one.confidence, one.support)
    weak, n = int(np.count_nonzero(there & (one.support <= FLOATING))), int(there.sum())
    floats = "floats: no majority puts it where it is" if weak == 1 else "float: no majority puts them where they are"
    floating = f"{weak:,} of {count(n, 'object')} {floats}."
    text = (
        f"On average, {100 * one.support[there].mean():.0f} % of the clusterings put an object where it is (its support), and another "
        f"ensemble like this would put it there with probability {one.confidence[there].mean():.2f} (its confidence). "
        f"{floating if weak else 'A majority puts every object where it is.'}"
    )
    if len(means) > 1:
        best, worst = (int(means["support"].idxmax()), int(means["support"].idxmin()))
        firm, loose = (f"cluster {means['cluster'][i]} (support {means['support'][i]:.2f})" for i in (best, worst))
        text += f" The firmest is {firm}, the weakest {loose}." if best != worst else ""
    return f"{text} {steady}" if (steady := say_steady(means)) else text


def say_steady(means: pd.DataFrame) -> str:
    """Of clusters with little support and much confidence, how both can be: `means` has a row per cluster.

    Examples
    --------
    >>> import pandas as pd
    >>> say_steady(pd.DataFrame({"cluster": [0, 1], "support": [0.9, 0.2], "confidence": [1.0, 0.97]}))[:68]
    'Cluster 1 has little support and much confidence (0.20 and 0.97): fe'
    >>> say_steady(pd.DataFrame({"cluster": [0, 1], "support": [0.9, 0.2], "confidence": [1.0, 0.5]}))
    ''
    """
    found = means[(means["support"] <= FLOATING) & (means["confidence"] >= STEADY)]
    if not len(found):
        return ""
    rows = list(found[["cluster", "support", "confidence"]].itertuples(index=False, name=None))
    one = len(rows) == 1
    names = listed(
        [str(cluster) for cluster, *_ in rows[:NAMED]] + ([f"{len(rows) - NAMED} more"] * (len(rows) > NAMED))
    )
    values = listed([f"{value:.2f}" for value in rows[0][1:]]) if one else ""
    return (
        f"{f'Cluster {names} has' if one else f'Clusters {names} have'} little support and much confidence{f' ({values})' if one else ''}: "
        f"few of these clusterings have a cluster that is mostly {'this one' if one else 'one of these'}, yet others like them, combined, "
        "would set the same objects apart again. That is a pattern that comes again, not a cluster that many found."
    )


def say_clusters(
    one: Any,
    report: Report,
    names: Sequence[str] | None = None,
    *,
    called: str = "",
    place: str = "cluster",
    see: See = IN_CLUSTERS,
    numbers: Sequence[Any] | None = None,
) -> list[Text | Items]:
    """The answer of a report of one clustering: its clusters, what they follow, and how sure they are.

    `names` say what each cluster is, `called` what the clustering is, `place` what links to its clusters begin with, and `numbers` what
    stands for each cluster. Without support, nothing is said of how sure it is.
    """
    there, k = one.labels >= 0, int(one.labels.max(initial=-1)) + 1
    if not k:
        return [Text("No object has a label.")]
    sizes = np.bincount(one.labels[there])
    more = [f"{number(k - NAMED)} smaller"] if k > NAMED else []
    of = listed([*(f"{size:,}" for size in sizes[:NAMED]), *more])
    text = f"{called}{count(int(there.sum()), 'object')} in {count(k, 'cluster')}{f', of {of}' if k > 1 else ''}"
    if match := nearest_known(report, one.labels):
        text += f". This grouping {match.words}"
    if columns := followed_columns(report, one.labels):
        text += f". The clusters go by {say_columns(columns)}"
    first: list[str | Link | See] = [text, see]
    said: list[Text | Items] = [Text([*first, "."])]
    if names is not None and any(names):
        told = [(c, name) for c, name in enumerate(names[: 2 * NAMED]) if name]
        said.append(
            Items(
                [
                    [
                        Link(f"{place}-{c}", f"Cluster {c if numbers is None else numbers[c]}"),
                        f" ({count(sizes[c], 'object')}): {name}",
                    ]
                    for c, name in told
                ]
            )
        )
    return said if one.support is None else [*said, Text(say_sureness(one))]


def likeness(answers: Sequence[Array]) -> Floats:
    """The adjusted Rand indices of all pairs of answers; of many, and many objects, estimated from evenly spaced ones."""
    n = len(answers[0]) if len(answers) else 0
    most = max(LOOKED_AT, PAIRS * LOOKED_AT // max(1, len(answers) * (len(answers) - 1) // 2))
    answers = [one[:: max(1, -(-n // most))] for one in answers]
    found = np.ones((len(answers), len(answers)))
    for i, one in enumerate(answers):
        for j in range(i):
            found[i, j] = found[j, i] = adjusted_rand(one, answers[j])
    return found


def say_difference(rand: Floats, numbers: Sequence[int]) -> str:
    """How different the answers of groups are."""
    upper = np.triu_indices(len(rand), 1)
    values = rand[upper]
    if not len(values):
        return ""
    scale = "adjusted Rand index, 0 by chance and 1 for the same"
    if len(values) == 1:
        return f"The two answers {_verdict(values[0])} ({scale}: {_signed(values[0])})."
    pairs = [f"{numbers[upper[0][i]]} and {numbers[upper[1][i]]}" for i in (values.argmin(), values.argmax())]
    return (
        f"Two of these answers {_verdict(values.mean())} on average ({scale}: {_signed(values.mean())}); "
        f"the least alike are {pairs[0]} ({_signed(values.min())}), the most {pairs[1]} ({values.max():.2f})."
    )


def _signed(value: float) -> str:
    return format_number(value, 2).replace("-", "−")


def _verdict(rand: float) -> str:
    return "are much alike" if rand >= ALIKE else "have little in common" if rand <= APART else "share a part"
