"""Clusters in a report: sizes, how far to trust each, and what tells them apart, with how that is spread."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, Ints
from consilience.consensus.result import clusters_to_show
from consilience.consensus.trust.clusters_and_members import cluster_means
from consilience.consensus.trust.floaters import floating
from consilience.measures import accuracy, adjusted_rand, contingency, matched_accuracy, nmi
from consilience.measures.explained_variance import WORTHY
from consilience.measures.spreads_and_top_words import marks, top_words
from consilience.reports.figures import NAMED, POINTS, color_of
from consilience.reports.files import whole_or_empty
from consilience.reports.finding import Block, Items, Link, Picture, See, Sheet, Strip, Text, Words
from consilience.reports.plane import plane_of, tiles_figure
from consilience.reports.sections import Report
from consilience.reports.words import format_number

FEATURES = 5  # safeguard: columns of each cluster on a page; files have all
TILES = 9  # safeguard: clusterings that the plane is colored by on one picture
SPREAD = "Filled is how the cluster is spread, the line is all other objects."
EFFECT = (
    "Effect is Cohen's d, with its 95 % interval: the difference of the means in standard deviations{of}. The clusters were made to differ "
    "on these columns, so large effects describe them and prove nothing."
)
FOLLOWS = 0.3  # adjusted Rand index from which a page says that clusters follow known labels (benchmarks/RULES.md)
TOLD = 12  # safeguard: clusters that the answer of a page names
IN_CLUSTERS = See(("tiles", "confidence"), ("clusters", "features"))
EFFECTS, CALLED = ("d", "low", "high"), {"d": "effect", "rest": "mean_elsewhere"}  # of a mark, and in files
TRUST = ("size", "share", "confidence", "support", "floaters", "recurrence", "nearest", "confused")  # of a cluster
Marks = list[list[dict[str, Any]]]  # of every cluster the columns that tell it from the rest
OF_WORDS = " (of a category, of the share of the one named)"
OF_COUNTS = " (of the square roots of the counts, in rows of length 1)"


def cluster_frame(one: Any, report: Report) -> pd.DataFrame:
    """One row per cluster: size, confidence, support, floaters, and the most frequent of what is known."""
    found = getattr(one, "clusters", None)
    found = cluster_means(one.labels, one.confidence, one.support) if found is None else found
    frame = found.set_index("cluster")
    for name, codes in report.known.items():
        table = contingency(one.labels, codes)
        total = table.sum(axis=1)
        called = np.array([*report.names_of(name)], object)[table.argmax(axis=1)]
        frame[f"most_frequent_{name}"] = np.where(total > 0, called, None)
        frame[f"share_of_most_frequent_{name}"] = table.max(axis=1) / np.where(total > 0, total, np.nan)
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
    colors, anchors = [color_of(slot) for slot in slots], [f"{place}-{cluster}" for cluster in range(len(slots))]
    counts = [np.histogram(one.support[one.labels == cluster], 20, (0, 1))[0] for cluster in range(len(slots))]
    shares = [list(np.round(some / max(1, some.sum()), 4)) for some in counts]
    spread = [Strip(some, None, color, 0.0, 1.0) for some, color in zip(shares, colors, strict=True)]
    look: dict[str, Any] = {"colors": colors, "anchors": anchors, "strips": {"support of its objects": spread}}
    return Sheet(name, frame, caption, NAMED, on_page=on_page, **look)


def find_marks(report: Report, labels: Array, top: int = FEATURES) -> Marks | None:
    """For every cluster the columns that tell it from the rest, the strongest first; None without data."""
    if report.comparable is None or labels.max(initial=-1) < 0:
        return None
    return marks(report.comparable, labels.astype(np.int32), int(labels.max()) + 1, top, infinite=True)


def feature_frame(found: Marks) -> pd.DataFrame:
    rows = []
    for cluster, one in ((cluster, one) for cluster, some in enumerate(found) for one in some):
        what, means = ("words", []) if "words" in one else ("feature", ["mean", "rest"])
        rows.append({"cluster": cluster, **{CALLED.get(name, name): one[name] for name in (what, *EFFECTS, *means)}})
    return pd.DataFrame(rows).set_index("cluster") if rows else pd.DataFrame()


def feature_sheet(
    found: Marks, caption: str, *, name: str, place: str, slots: Ints, most: int = 12 * FEATURES, on_page: bool = False
) -> Sheet | None:
    """The columns that tell clusters apart, each with how it is spread; None where there are none."""
    frame = feature_frame(found)
    if not len(frame):
        return None
    colors = [color_of(slots[cluster]) for cluster in frame.index]
    told = list(zip((one for some in found for one in some), colors, strict=True))[:most]
    look: dict[str, Any] = {"colors": colors, "links": [f"{place}-{cluster}" for cluster in frame.index]}
    look["strips"] = {"spread": [_strip(one["spread"], color) for one, color in told]}
    return Sheet(name, frame, caption, most, on_page=on_page, **look)


def _strip(spread: dict[str, Any], color: str) -> Strip:
    inside, outside = (list(map(float, spread[side])) for side in ("inside", "outside"))
    return Strip(inside, outside, color, spread.get("low"), spread.get("high"), spread["levels"])


def effect_note(report: Report) -> str:
    assert report.comparable is not None
    assert report.data is not None
    return EFFECT.format(of=OF_COUNTS if report.comparable.is_counts else OF_WORDS if report.data.in_words else "")


def called(report: Report, found: Marks | None) -> list[str] | None:
    """What names each cluster, of counts: the words of which it has most more than others."""
    if found is None or report.comparable is None or not report.comparable.is_counts:
        return None
    return [", ".join(words) for words in top_words(found)]


def in_words(report: Report, found: Marks | None) -> list[str] | None:
    """What each cluster is, in a few words: those that name it, of counts, and else its strongest marks, first with whom it is beside."""
    names = called(report, found)
    if names is not None or found is None:
        return names
    words = ["; ".join(_mark_words(one) for one in some[:2]) for some in found]
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
    n = report.data.n_objects
    follow = "Colors are those of the tables."
    if len(shown) > 1:
        follow = "Colors follow the first picture by overlap: equal colors mean nearly the same objects, and are those of the tables."
    some = f"{f'{POINTS:,} of {n:,}' if n > POINTS else 'All'} objects on {plane.note}."
    some += f" {count(len(tiles) - TILES, 'more clustering')} are not drawn." if len(tiles) > TILES else ""
    figure = tiles_figure(plane.xy, shown, note=plane.note, names=names, under=under, reference=reference)
    caption = [f"{some} Numbers are those of the clusters. {follow}", *more]
    yield Picture("tiles", figure, f"The same points colored by {', '.join(shown)}. {some}", caption)


@dataclass(frozen=True)
class Match:
    """The known labels that a clustering comes nearest to: by the adjusted Rand index, which allows for chance."""

    known: str
    accuracy: float
    rand: float

    @property
    def words(self) -> str:
        if self.rand >= FOLLOWS:
            return f"follows {self.known} (accuracy {self.accuracy:.2f})"
        return f"matches no known labels (the nearest, {self.known}: accuracy {self.accuracy:.2f})"


def nearest_known(report: Report, labels: Array) -> Match | None:
    """The known labels that match best; None where nothing is known, or of no object."""
    there = {name: codes for name, codes in report.known.items() if ((codes >= 0) & (labels >= 0)).any()}
    matches = [Match(name, matched_accuracy(own, labels), adjusted_rand(own, labels)) for name, own in there.items()]
    return max(matches, key=lambda match: np.nan_to_num(match.rand, nan=-1.0), default=None)


def match_known(known: Any, labels: Any) -> dict[str, float]:
    """How well labels match known ones: accuracy is one to one, purity lets several clusters be of one known label."""
    by = {"nmi": nmi, "adjusted_rand": adjusted_rand, "accuracy": matched_accuracy, "purity": accuracy}
    return {name: measure(known, labels) for name, measure in by.items()}


def matches(known: Mapping[str, Any], labels: Any) -> dict[str, dict[str, float]]:
    return {name: match_known(values, labels) for name, values in known.items()}


def say_match(values: Mapping[str, float]) -> str:
    return ", ".join(f"{measure} {format_number(value)}" for measure, value in values.items())


def followed_columns(report: Report, labels: Array, most: int = WORTHY) -> list[tuple[str, float]]:
    """The columns that a clustering follows most, beyond chance; none without data."""
    return [] if report.following is None else report.following.followed(labels, most)


def say_columns(columns: Sequence[tuple[str, float]], *, brief: bool = False) -> str:
    """Names, each with its share of variance between clusters; unless it is to be brief, the first says so."""
    of = " of its variance lies between clusters"
    words = [f"{name} ({100 * share:.0f} %{'' if i or brief else of})" for i, (name, share) in enumerate(columns)]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def say_follows(report: Report, labels: Array, goes: str) -> str:
    """The known labels and the columns that a clustering follows, as sentences after others."""
    match, columns = nearest_known(report, labels), followed_columns(report, labels)
    return (f". It {match.words}" if match else "") + (f". {goes} by {say_columns(columns)}" if columns else "")


def say_size(one: Any) -> str:
    return f"{count(int(one.labels.max(initial=-1)) + 1, 'cluster')} of {count(int((one.labels >= 0).sum()), 'object')}"


def sureness(one: Any) -> dict[str, Any]:
    """How sure the clusters of some labels are: plain numbers, None for the means of no object."""
    there = one.labels >= 0
    means = {f"mean_{name}": getattr(one, name)[there] for name in ("confidence", "support")}
    return {
        "n_without_labels": int(np.count_nonzero(~there)),
        **{name: float(values.mean()) if values.size else None for name, values in means.items()},
        "n_floaters": len(floating(one.labels, one.support)),
    }


def cautions(doubt: str, families: str = "") -> list[str]:
    """What to know before one trusts an answer: that it is weak, or a compromise, and what to do then."""
    advice = "consilience organize tells them apart, and consilience explore shows them."
    compromise = [f"{families[0].upper()}{families[1:]}: {advice}"] if families else []
    return [f"A weak answer: {doubt}.", *compromise] if doubt else compromise


def sureness_facts(one: Any, known: Mapping[str, Any]) -> list[tuple[str, str]]:
    sure = sureness(one)
    lacking = [("no label", f"{count(sure['n_without_labels'], 'object')} that no clustering labels")]
    if sure["mean_confidence"] is None:
        return lacking
    facts = [("confidence", f"{sure['mean_confidence']:.3f} on average")]
    facts += [("support", f"{sure['mean_support']:.3f} on average; {count(sure['n_floaters'], 'floater')}")]
    facts += lacking if sure["n_without_labels"] else []
    return facts + [(f"with {name}", say_match(values)) for name, values in known.items()]


def trust_sheet(table: pd.DataFrame) -> Sheet:
    """The clusters, the largest and those least to be trusted, as the terminal has room for them."""
    shown, left = clusters_to_show(table["confidence"], 20)
    frame = table.iloc[shown].set_index("cluster")
    frame = frame[[name for name in TRUST if name in frame]]
    if "nearest" in frame:
        frame = frame.assign(nearest=whole_or_empty(frame["nearest"]))
    return Sheet("trust", frame, f"The clusters{f' ({left})' if left else ''}")


def say_sureness(one: Any) -> str:
    if not (one.labels >= 0).any():
        return ""
    sure = sureness(one)
    means = f"mean confidence {sure['mean_confidence']:.2f}, mean support {sure['mean_support']:.2f}"
    return f"{means}, {count(sure['n_floaters'], 'floater')}"


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
    """The answer of a report of one clustering: its clusters, what they follow, and what each is."""
    if not (one.labels >= 0).any():
        return [Text("No object has a label.")]
    text = called + say_size(one)
    text += f", {say_sureness(one)}" if one.support is not None else ""
    text += say_follows(report, one.labels, "The clusters go")
    answer: list[Text | Items] = [Text([text, see, "."])]
    if names is not None and any(names):
        sizes, items = np.bincount(one.labels[one.labels >= 0]), list[Words]()
        for c, name in ((c, name) for c, name in enumerate(names[:TOLD]) if name):
            link = Link(f"{place}-{c}", f"Cluster {c if numbers is None else numbers[c]}")
            items.append([link, f" ({count(int(sizes[c]), 'object')}): {name}"])
        answer.append(Items(items))
    return answer
