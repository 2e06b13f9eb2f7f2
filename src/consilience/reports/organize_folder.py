"""A folder about many clusterings: their groups, what each group says of every object, and pictures."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience.consensus import Consensus
from consilience.ensemble import Ensemble
from consilience.meta import MetaClustering, Null, score
from consilience.reports.files import write_table
from consilience.reports.meta import draw_curve, draw_tree
from consilience.reports.points import draw_maps, draw_scores

FILES = (
    "clusterings.csv",
    "groups.csv",
    "consensus.csv",
    "curve.csv",
    "null.csv",
    "curve.png",
    "map.png",
)  # of fixed name
MAPPED = 2000  # clusterings up to which the neighbor map comes in seconds


def is_ours(name: str) -> bool:
    """Whether a file in the folder has a name that :func:`write_organized` gives."""
    return name in FILES or (name.startswith(("tree", "scores_")) and name.endswith(".png"))


def known_scores(ensemble: Ensemble, known: dict[str, Any], data: Any = None) -> pd.DataFrame | None:
    """Accuracies with known labels, beside the compactness on the data or, without data, as it was measured by generate."""
    found = pd.DataFrame({"name": ensemble.names, "clusters": ensemble.n_clusters})
    if known or data is not None:
        found = score(ensemble, data, known=known or None, progress=False)
    if "compactness" in ensemble.info and "compactness" not in found:
        found["compactness"] = ensemble.info["compactness"].to_numpy(float)
    if found["clusters"].nunique() == 1:
        found = found.drop(columns="clusters")
    return found if len(found.columns.difference(["name", "clusters"])) else None


def clustering_table(meta: MetaClustering, scores: pd.DataFrame | None) -> pd.DataFrame:
    """One row per clustering: its group, whether it is the group's medoid, its scores, and what made it."""
    info = meta.ensemble.info
    frame = pd.DataFrame(index=pd.Index(meta.ensemble.names, name="clustering"))
    frame["group"] = meta.groups
    frame["medoid"] = np.isin(np.arange(len(frame)), meta.medoids)
    if scores is not None:
        for name in scores.columns.difference(["name"], sort=False):
            frame[name] = scores[name].to_numpy()
    for name in info.columns.difference([*frame.columns, "name", "number"], sort=False):
        frame[name] = info[name].to_numpy()
    return frame


def group_table(meta: MetaClustering, scores: pd.DataFrame | None, found: list[Consensus]) -> pd.DataFrame:
    """One row per group: size, medoid, its consensus in numbers, and the mean of every score over its clusterings."""
    frame = pd.DataFrame(
        {
            "clusterings": meta.sizes,
            "height": meta.heights,
            "medoid": [meta.ensemble.names[medoid] for medoid in meta.medoids],
            "n_clusters": [one.n_clusters for one in found],
            "anmi": [one.anmi for one in found],
            "confidence": [float(one.confidence[one.labels >= 0].mean()) for one in found],
        },
        index=pd.Index(meta.numbers, name="group"),
    )
    if scores is not None:
        means = scores.select_dtypes("number").groupby(meta.groups).mean()
        frame = frame.join(means.drop(columns="clusters", errors="ignore").add_prefix("mean "))
    return frame


def consensus_tables(meta: MetaClustering, found: list[Consensus]) -> pd.DataFrame:
    """One row per object: for every group the cluster that its consensus puts the object in, and how surely."""
    names = range(meta.ensemble.n_objects) if meta.ensemble.ids is None else meta.ensemble.ids
    frame = pd.DataFrame(index=pd.Index(names, name="object"))
    for group, one in enumerate(found, 1):
        frame[f"group{group}"] = pd.array(np.where(one.labels >= 0, one.labels, 0), "Int64")
        frame.loc[one.labels < 0, f"group{group}"] = pd.NA
        frame[f"confidence{group}"] = np.round(one.confidence, 6)
    return frame


def write_organized(
    meta: MetaClustering,
    folder: Path,
    found: list[Consensus],
    *,
    scores: pd.DataFrame | None = None,
    null: Null | None = None,
    marked: dict[str, pd.DataFrame] | None = None,
) -> list[Path]:
    """Write clusterings.csv, groups.csv, consensus.csv, curve.csv, null.csv, and with matplotlib the pictures.

    `marked` are scores of other clusterings, by name, such as those of the groups' consensus, to be drawn among the rest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "clusterings": clustering_table(meta, scores),
        "groups": group_table(meta, scores, found),
        "consensus": consensus_tables(meta, found),
        "curve": meta.curve.set_index("n_groups"),
    }
    if null is not None:
        tables["null"] = null.table.rename_axis("score")
    written = []
    for name, frame in tables.items():
        written.append(folder / f"{name}.csv")
        write_table(frame, written[-1])
    if find_spec("matplotlib"):
        written += _pictures(meta, folder, scores, marked)
    return written


def _pictures(meta: MetaClustering, folder: Path, scores: pd.DataFrame | None, marked: Any) -> list[Path]:
    numbers = (
        [] if scores is None else list(scores.select_dtypes("number").columns.difference(["clusters"], sort=False))
    )
    shown = [name for name in numbers if name.startswith("accuracy:")] or numbers[:1]
    written = [folder / "curve.png", folder / "map.png"]
    draw_curve(meta, written[0])
    kinds = ("mds", "neighbors") if 10 < meta.n_clusterings <= MAPPED else ("mds",)
    draw_maps([meta.map(kind, progress=False) for kind in kinds], written[1], groups=meta.groups)
    for name in shown or [None]:
        written.append(folder / ("tree.png" if name is None else f"tree_{_plain(name)}.png"))
        draw_tree(meta, written[-1], score=None if scores is None or name is None else scores[name])
    for name in shown if scores is not None and "compactness" in numbers else ():
        if name != "compactness":
            written.append(folder / f"scores_{_plain(name)}.png")
            draw_scores(scores, "compactness", name, written[-1], marked=marked)
    return written


def _plain(name: str) -> str:
    """A score's name that any file system takes."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)
