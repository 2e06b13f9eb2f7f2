"""The parts of a report about many clusterings: how alike they are, their tree, its groups, their scores, a map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience.measures import MEASURES, Comparison
from consilience.meta import MetaClustering
from consilience.reports.analysis import Findings
from consilience.reports.figures import agreement_figure
from consilience.reports.meta import curve_figure, tree_figure
from consilience.reports.organize_folder import clustering_table
from consilience.reports.page import Block, Picture, Section, Sheet, Text
from consilience.reports.points import maps_figure, scores_figure

TYPICAL = 16  # clusterings listed
TREES = 3  # scores that the tree is colored by, each in a picture of its own
PLAIN = (
    "group",
    "medoid",
    "clusters",
    "method",
    "n_clusters",
    "seed",
)  # columns of a clustering that the page has room for


def alike(comparison: Comparison) -> Section:
    """Agreement over all pairs, with standard errors."""
    if not comparison.stability:
        text = "There is only one clustering, so nothing can be said about how alike several are."
        return Section("How alike are the clusterings?", [Text(text), *_each(comparison)])
    rows = []
    for name, found in comparison.stability.items():
        ends = [f"{one}, {other} ({value:.3f})" for one, other, value in comparison.extremes(name)]
        most, least = ends or ("no two share an object", "")
        rows.append((name, found.mean, found.sem, found.sem_jackknife, found.n_pairs, most, least))
    columns = ["measure", "mean", "standard_error", "jackknife_error", "pairs", "most_alike", "least_alike"]
    table = pd.DataFrame(rows, columns=columns).set_index("measure")
    first, found = next(iter(comparison.stability.items()))
    said = f"Mean {first} of all pairs {found.words(4)}."
    known = [name for name in comparison.clusterings if ":" in name]
    beside = " Right: how well each matches known labels." if known else ""
    return Section(
        "How alike are the clusterings?",
        [
            Sheet("stability", table, "Agreement over all pairs of clusterings"),
            Text(
                "The standard error is that of papers, over pairs. Pairs share clusterings, so it is too small to compare two "
                "ensembles by; the jackknife error, which leaves out one clustering at a time, allows for that."
            ),
            Picture(
                "agreement",
                agreement_figure(comparison),
                f"Matrix of all pairs of {count(len(comparison.clusterings), 'clustering')}. {said}{beside}",
                f"Like clusterings stand side by side. {said}{beside}",
            ),
            *_each(comparison),
        ],
    )


def _each(comparison: Comparison) -> list[Block]:
    """The clusterings, those most like the others first."""
    table = comparison.clusterings.set_index("name")
    if comparison.stability:
        first = next(iter(comparison.stability))
        table = table.sort_values(first, ascending=MEASURES[first].is_distance, kind="stable")
    caption = "Every clustering: its mean with the others, those most like them first"
    return [Sheet("comparison", table, caption if comparison.stability else "The clustering", most=TYPICAL)]


def tree(found: Findings) -> Section | None:
    """The tree with its groups, and how their number came about."""
    meta, scores = found.meta, found.scores
    if meta is None:
        return None
    blocks: list[Block] = [Text(f"{meta.linkage.capitalize()} linkage of {_words(meta.measure)}; groups: {meta.note}.")]
    if meta.n_pairs is not None:
        blocks.append(_estimated(meta))
    sizes = ", ".join(f"{size:,}" for size in meta.sizes[:12]) + (" …" if meta.n_groups > 12 else "")
    alt = f"Tree of {meta.n_clusterings:,} clusterings cut into {count(meta.n_groups, 'group')} of {sizes}."
    for number, name in enumerate(_shown(scores) or [None], 1):
        color = "" if name is None else f" A branch has the color of its mean {_words(name)}."
        figure = tree_figure(meta, score=None if scores is None or name is None else scores[name])
        caption = f"The higher two branches meet, the less alike they are; the strip below shows the groups.{color}"
        blocks.append(Picture(f"tree_{number}", figure, alt + color, caption))
    if len(meta.jumps):
        jumps = ", ".join(f"{row.n_groups} ({row.bend:.2g})" for row in meta.jumps.head(6).itertuples())
        blocks += [
            Text(
                f"Numbers of groups at which the curve bends most: {jumps}. They are candidates; none of them is the truth."
            ),
            Picture(
                "curve",
                curve_figure(meta),
                f"Compactness of the groups by their number. Sharpest jumps at {jumps}.",
                "How compact the groups are when there are so many of them; marked are the sharpest jumps.",
            ),
        ]
    blocks.append(Sheet("curve", meta.curve.set_index("n_groups"), "Compactness by number of groups", most=0))
    return Section("The tree of the clusterings", blocks)


def _estimated(meta: MetaClustering) -> Text:
    pairs = f"{meta.n_pairs:,} random pairs of objects"
    return Text(f"Distances are estimated from {pairs}, with a standard error of {meta.standard_error:.4f}.", note=True)


def _shown(scores: pd.DataFrame | None) -> list[str]:
    """Scores that are drawn: accuracies, or else compactness."""
    if scores is None:
        return []
    return [name for name in scores if str(name).startswith("accuracy:")][:TREES] or ["compactness"]


def groups(found: Findings) -> Section | None:
    """The groups one by one, the best of them against luck, and every clustering."""
    meta = found.meta
    if meta is None:
        return None
    blocks: list[Block] = [
        Text(
            f"Each group's clusterings are combined into one ({found.method}). The medoid is the clustering with the least mean "
            "distance to the others of its group."
        ),
        Sheet("groups", found.groups, "The groups, the largest first", most=40),
    ]
    if found.null is not None:
        blocks += _null(found)
    table = clustering_table(meta, found.scores)
    scores = [] if found.scores is None else [str(name) for name in found.scores]
    shown = [name for name in table if name in PLAIN or name in scores]
    order = np.lexsort((meta.groups, ~table["medoid"].to_numpy()))
    blocks.append(
        Sheet(
            "clusterings",
            table.iloc[order],
            "The clusterings, medoids first",
            most=max(TYPICAL, meta.n_groups),
            columns=shown,
        )
    )
    return Section("The groups", blocks)


def _null(found: Findings) -> list[Block]:
    null = found.null
    assert null is not None
    table = null.table.rename_axis("known_labels").rename(columns={"best": "best_group", "group": "which"})
    table["which"] = table["which"].astype(int)
    sample = f" Both are of {found.sample:,} objects drawn at random." if found.sample else ""
    least = 1 / (1 + len(null.shuffled))
    return [
        Sheet(
            "null",
            table,
            f"Accuracy of the best group, against {count(len(null.shuffled), 'shuffle')} of the groups' members",
        ),
        Text(
            "The best of several groups is better than the rest partly because it is the best: groups of the same sizes with "
            f"shuffled members have that much, too, and only what is beyond it counts. So many shuffles cannot give a p-value "
            f"below {least:.3f}.{sample}",
            note=True,
        ),
    ]


def scores(found: Findings) -> Section | None:
    """Compactness against every accuracy, or two accuracies against each other."""
    table, meta = found.scores, found.meta
    if table is None or meta is None:
        return None
    known = _shown(table)
    axes = [("compactness", name) for name in known if name != "compactness"] if "compactness" in table else []
    if len(known) > 1:
        axes.append((known[0], known[1]))
    if not axes:
        return None
    blocks: list[Block] = [
        Text("Every point is a clustering, with the look of its group. Small compactness is compact.")
    ]
    for number, (x, y) in enumerate(axes, 1):
        name, row = y.removeprefix("accuracy:"), None
        if found.null is not None and name in found.null.table.index:
            row = found.null.table.loc[name]
        band = None if row is None else (float(row["null_mean"]), float(row["null_sd"]))
        both = table[[x, y]].corr(method="spearman").iloc[0, 1]
        said = f"{_words(x)} against {_words(y)}; rank correlation {both:.2f}."
        line = " The band is what the best of shuffled groups reaches." if band else ""
        figure = scores_figure(table, x, y, marked=found.marked, groups=meta.groups, null=band)
        said = said[0].upper() + said[1:]
        blocks.append(Picture(f"scores_{number}", figure, f"Scatter plot of {said}{line}", f"{said}{line}"))
    return Section("Scores", blocks)


def plane_map(found: Findings) -> Section | None:
    """The clusterings in the plane, with how much that distorts."""
    if found.meta is None or found.meta.n_clusterings < 3:
        return None
    one = found.meta.map(random_state=found.options.seed, progress=False)
    kept = f"{100 * one.neighbors_kept:.0f} % of the {one.n_neighbors} nearest neighbors"
    said = f"Stress {one.stress:.2f} (0 is perfect, above 0.2 is poor); it keeps {kept}."
    where = pd.DataFrame(one.xy, columns=["x", "y"], index=pd.Index(found.meta.ensemble.names, name="clustering"))
    return Section(
        "A map of the clusterings",
        [
            Text(f"Clusterings do not lie in a plane, and a map distorts: believe the tree first. {said}"),
            Picture(
                "map",
                maps_figure(one, groups=found.meta.groups),
                f"Map of {found.meta.n_clusterings:,} clusterings by their distances, colored by group. {said}",
                f"Multidimensional scaling of the distances. {said}",
            ),
            Sheet("map", where, "Places on the map", most=0),
        ],
    )


def _words(name: Any) -> str:
    return str(name).replace("_", " ").replace(":", " with ", 1)
