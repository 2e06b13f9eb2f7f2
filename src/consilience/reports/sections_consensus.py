"""The parts of a report about one clustering of the objects: its clusters, confidence, components, floaters, and the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import count
from consilience.consensus import Consensus, stable_components
from consilience.ensemble import Ensemble
from consilience.reports.analysis import Findings
from consilience.reports.clusters import LISTED, confidence_figure, plane, tiles_figure
from consilience.reports.consensus import against, whole_or_empty
from consilience.reports.features import distinguishing_features
from consilience.reports.html_report import MADE, SURE, Options, Step, Story, done, ending, report_line
from consilience.reports.organize_folder import consensus_tables
from consilience.reports.page import Block, Facts, Picture, Section, Sheet, Text
from consilience.reports.provenance import Origin
from consilience.tables import Table

TILES = 8  # clusterings that the data's plane is colored by
FEATURES = 5  # of each cluster


def consensus(found: Findings) -> Section:
    """What all clusterings say together, how surely, and what tells its clusters apart."""
    one, ids = found.whole, found.ensemble.ids
    blocks: list[Block] = list(about_consensus(one, len(found.weak)))
    if found.meta is not None and found.meta.n_groups > 1:
        blocks.append(
            Text(
                "One clustering of everything is a compromise: where groups of clusterings see different things, it may "
                "show none of them well. Each group's own consensus is above.",
                note=True,
            )
        )
    blocks += clusters(one.labels, one.confidence, found.options.data, found.known)
    objects = every_object(one.labels, one.confidence, ids)
    if found.meta is not None:
        objects = replace(objects, frame=objects.frame.join(consensus_tables(found.meta, found.of_groups)))
        tiles = {"all": one.labels} | {f"group {g}": c.labels for g, c in enumerate(found.of_groups)}
        blocks += data_tiles(found.options.data, tiles, found.known)
    blocks.append(objects)
    return Section("One clustering from all, and how sure it is", blocks)


def about_consensus(one: Consensus, n_floaters: int | None) -> list[Block]:
    """How the consensus was made, in numbers."""
    sure = one.confidence[one.labels >= 0]
    facts = [
        ("method", one.method),
        ("clusters", f"{one.n_clusters:,}"),
        ("mean confidence", f"{sure.mean():.3f}; {count(int((sure < 0.5).sum()), 'object')} below 0.5"),
        ("average NMI with the clusterings", f"{one.anmi:.4f}"),
    ]
    if n_floaters is not None:
        facts.append(("floaters", f"{count(n_floaters, 'object')} that at most half of their clusterings put there"))
    if missing := int((one.labels < 0).sum()):
        facts.append(("without a label", count(missing, "object")))
    if one.note:
        facts.append(("chosen", one.note))
    blocks: list[Block] = [Facts(facts)]
    if one.candidates is not None:
        caption = "Candidates, by how much they tell about clusterings they have not seen"
        table = one.candidates.set_index("method")
        shown = [name for name in table if name != "error" or table["error"].any()]
        blocks.append(Sheet("candidates", table, caption, columns=shown))
    if one.curve is not None:
        blocks.append(
            Sheet("number_of_clusters", one.curve.set_index("n_clusters"), "Agreement of halves by number of clusters")
        )
    return blocks


def clusters(
    labels: NDArray[Any], confidence: NDArray[Any], data: Table | None, known: Mapping[str, Any]
) -> list[Block]:
    """Sizes, confidence, and against known labels; distinguishing features where there is data."""
    has = labels >= 0
    if not has.any():
        return [Text("No object has a label.", note=True)]
    sizes = np.bincount(labels[has])
    frame = pd.DataFrame(
        {"objects": sizes, "share": sizes / has.sum()}, index=pd.RangeIndex(len(sizes), name="cluster")
    )
    frame["mean_confidence"] = np.bincount(labels[has], confidence[has]) / sizes
    frame["below_half"] = np.bincount(labels[has & (confidence < 0.5)], minlength=len(sizes))
    for name, codes in known.items():
        frame[f"largest_share:{name}"] = _largest_share(labels, codes, len(sizes))
    shown = ", ".join(f"{size:,}" for size in sizes[:12]) + (" …" if len(sizes) > 12 else "")
    blocks: list[Block] = [
        Picture(
            "confidence",
            confidence_figure(labels, confidence),
            f"Left: histogram of the objects' confidence, mean {confidence[has].mean():.2f}. Right: sizes of the clusters, {shown}.",
            "The confidence is a probability if clusterings err independently, after a discount for erring alike: read it as a ranking.",
        ),
        Sheet("clusters", frame, "The clusters, the largest first", most=LISTED),
    ]
    if known:
        rows = {name: against(codes, labels) for name, codes in known.items()}
        matches = pd.DataFrame(rows).T.rename_axis("known_labels")
        blocks.append(Sheet("against_known", matches, "How well the clusters match known labels"))
    return blocks if data is None else [*blocks, *features(data, labels)]


def _largest_share(labels: NDArray[Any], codes: NDArray[Any], k: int) -> NDArray[np.float64]:
    """For every cluster the share of its most frequent known label, among its objects that have one."""
    both = (labels >= 0) & (codes >= 0)
    table = np.zeros((k, int(codes.max()) + 1))
    np.add.at(table, (labels[both], codes[both]), 1)
    total = table.sum(axis=1)
    return np.where(total > 0, table.max(axis=1) / np.maximum(total, 1), np.nan)


def features(data: Table, labels: NDArray[Any]) -> list[Block]:
    """Columns on which the clusters differ most from the rest."""
    names = data.columns or [f"column {number}" for number in range(data.values.shape[1])]
    table = distinguishing_features(data.values, labels, names=names, top=FEATURES).set_index("cluster")
    caption = "Columns on which each cluster differs most from all other objects"
    text = (
        "Effect is Cohen's d, with its 95 % interval: the difference of the means in standard deviations. The clusters were made "
        "to differ on these columns, so large effects describe them and prove nothing."
    )
    return [Sheet("features", table, caption, most=12 * FEATURES), Text(text, note=True)]


def data_tiles(data: Table | None, tiles: Mapping[str, NDArray[Any]], known: Mapping[str, Any]) -> list[Block]:
    """The data on its two main axes, colored by each of several clusterings."""
    if data is None:
        return []
    objects, places, kept = plane(data)
    shown = dict(list(tiles.items())[:TILES]) | {f"known: {name}": codes for name, codes in list(known.items())[:3]}
    left = f" {count(len(tiles) - TILES, 'more group')} are not drawn." if len(tiles) > TILES else ""
    some = f"{len(objects):,} of {data.n_objects:,} objects" if len(objects) < data.n_objects else "All objects"
    what = "square roots of the counts" if data.kind == "counts" else "columns on one scale"
    said = f"{some} on the two main axes of the data ({what}), which keep {100 * kept:.0f} % of the variance.{left}"
    return [
        Picture(
            "tiles",
            tiles_figure(places, {name: np.asarray(labels)[objects] for name, labels in shown.items()}),
            f"The same points colored by {', '.join(shown)}. {said}",
            f"{said} Colors follow the first picture by overlap, so equal colors mean nearly the same objects.",
        )
    ]


def every_object(labels: NDArray[Any], confidence: NDArray[Any], ids: Any) -> Sheet:
    """One row per object, cluster and confidence: for the file."""
    frame = pd.DataFrame(index=pd.Index(range(len(labels)) if ids is None else ids, name="object"))
    frame = frame.assign(cluster=whole_or_empty(labels), confidence=np.round(confidence, 6))
    return Sheet("objects", frame, "Every object", most=0)


def one_clustering(title: str, one: Consensus, n_floaters: int | None, ids: Any, options: Options) -> Section:
    """A consensus alone, and the data colored by it."""
    blocks = [*about_consensus(one, n_floaters), *clusters(one.labels, one.confidence, options.data, options.known)]
    blocks += data_tiles(options.data, {"consensus": one.labels}, options.known)
    return Section(title, [*blocks, every_object(one.labels, one.confidence, ids)])


def components(ensemble: Ensemble) -> Section:
    """Groups of objects that no clustering parts."""
    signatures = ensemble.signatures()
    sizes, n = signatures.counts, ensemble.n_objects
    together = int(sizes[sizes > 1].sum())
    several = int((sizes > 1).sum())
    table = stable_components(ensemble, top=max(1, min(several, 1000))).drop(columns="labels")
    table.index = pd.RangeIndex(len(table), name="component")
    said = "Here, no two objects are together in all of them."
    if several:
        share = f"{100 * together / n:.1f} % of the objects"
        said = f"There are {several:,} of two objects or more, with {share}; the largest has {int(sizes.max()):,}."
    blocks: list[Block] = [Text(f"A stable component is a set of objects that every clustering keeps together. {said}")]
    if several:
        shown = table.rename(columns={"objects": "first_objects"})
        blocks.append(Sheet("components", shown, "Stable components, the largest first", most=20))
    return Section("Stable components", blocks)


def floating(weak: pd.DataFrame) -> Section:
    """Objects with weak support, by id."""
    blocks: list[Block] = [
        Text(
            "A floater is an object that at most half of its clusterings put where the consensus does. The support is that of its "
            "own cluster; second is where most of the others put it."
        )
    ]
    if len(weak):
        table = weak.set_index("id").rename(columns={"known": "clusterings"})
        table["second"] = whole_or_empty(table["second"])
        blocks.append(Sheet("floaters", table, f"{count(len(weak), 'floater')}, the weakest first", most=50))
    else:
        blocks.append(Text("There is none."))
    return Section("Floaters", blocks)


def unsure(one: Consensus, ids: Any) -> Section:
    """Objects with a confidence below one half, and the cluster that comes second: floaters where the clusterings are gone."""
    at = np.flatnonzero((one.labels >= 0) & (one.confidence < 0.5))
    at = at[np.argsort(one.confidence[at], kind="stable")]
    if not len(at):
        return Section("Floaters", [Text("No object has a confidence below one half.")])
    others = one.membership[at].copy()
    others[np.arange(len(at)), one.labels[at]] = -1
    table = pd.DataFrame(
        {
            "cluster": one.labels[at],
            "confidence": one.confidence[at],
            "second": others.argmax(axis=1),
            "membership_of_second": others.max(axis=1),
        },
        index=pd.Index(at if ids is None else np.asarray(ids)[at], name="object"),
    )
    caption = f"{count(len(at), 'object')} with a confidence below one half, the least sure first"
    return Section("Floaters", [Sheet("floaters", table, caption, most=50)])


def tell_consensus(one: Consensus, origin: Origin, options: Options) -> Story:
    """One clustering without the clusterings it came from."""
    ids = None if options.data is None else options.data.ids
    sure = one.confidence[one.labels >= 0]

    def made() -> Section:
        facts = [("source", origin.name), ("objects", f"{len(one.labels):,}"), ("method", one.method)]
        if one.estimator is not None:
            facts.append(("parameters", " ".join(repr(one.estimator).split())))
        call = f"one = cs.combine(ens, {one.n_clusters}, {one.method!r})"
        return done(facts, origin, options, [call, report_line("one", options)])

    steps: list[Step] = [
        made,
        lambda: one_clustering("The clustering, and how sure it is", one, None, ids, options),
        lambda: unsure(one, ids),
        ending(SURE, MADE if options.data is not None else None),
    ]
    what = f"{count(one.n_clusters, 'cluster')} of {count(len(sure), 'object')} by {one.method}"
    return Story(f"{origin.name}: one from many", steps, lambda: f"{what}, mean confidence {sure.mean():.2f}.")
