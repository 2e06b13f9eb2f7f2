"""Pictures of clusterings on their objects: sizes and confidence, and the data's plane colored by several of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from consilience._random import stream
from consilience.measures.counts import tables
from consilience.reports.figures import ACCENT, QUIET, look, new_figure, short_name
from consilience.tables import Table, scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 3000  # objects on a picture
LISTED = 40  # clusters that a picture has room for
ACROSS = 4  # tiles in a row


def confidence_figure(labels: NDArray[Any], confidence: NDArray[Any]) -> Figure:
    """How sure the objects are of their clusters, in all, and by cluster with the clusters' sizes."""
    known = labels >= 0
    sizes = np.bincount(labels[known])
    shown = min(len(sizes), LISTED)
    figure = new_figure(9, float(np.clip(1.4 + 0.22 * shown, 3.2, 9)))
    left, right = figure.subplots(1, 2)
    left.hist(confidence[known], bins=20, range=(0, 1), color=QUIET, edgecolor="white", linewidth=0.6)
    left.axvline(0.5, color=ACCENT, linewidth=1, linestyle=(0, (4, 3)))
    left.set(xlabel="confidence", ylabel="objects", xlim=(0, 1))
    left.set_title("How sure are the objects?", loc="left")
    unsure = np.bincount(labels[known & (confidence < 0.5)], minlength=len(sizes))
    right.barh(range(shown), sizes[:shown], color=[look(c)[0] for c in range(shown)])
    right.barh(range(shown), unsure[:shown], color="black", height=0.25)
    right.set_yticks(range(shown), [str(c) for c in range(shown)], fontsize=8)
    right.invert_yaxis()
    right.set(ylabel="cluster", xlabel="objects (inner bar: confidence below 0.5)")
    right.set_title("Sizes of the clusters" if shown == len(sizes) else f"The largest {shown} clusters", loc="left")
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    return figure


def plane(data: Table) -> tuple[NDArray[Any], NDArray[Any], float]:
    """Some of the objects, their places on two main axes of the scaled data, and the share of its variance that these keep.

    Columns are brought to one spread; of counts, the rows to one length after square roots.
    """
    from sklearn.decomposition import PCA, TruncatedSVD

    objects = np.sort(stream(0, "reports.objects").permutation(data.n_objects)[:POINTS])
    some = scale(data.values[objects], "roots" if data.kind == "counts" else "columns")
    if min(some.shape) < 3:
        some = some.toarray() if sparse.issparse(some) else some
        return objects, np.pad(some, [(0, 0), (0, 2)])[:, :2], 1.0
    found: Any = TruncatedSVD(2, random_state=0) if sparse.issparse(some) else PCA(2, random_state=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # data without any variance
        places = found.fit_transform(some)
    return objects, places, float(np.nan_to_num(found.explained_variance_ratio_.sum()))


def aligned(labels: NDArray[Any], reference: NDArray[Any]) -> NDArray[np.int64]:
    """The labels renumbered so that every cluster has the number of the reference cluster it overlaps most; others the next."""
    if labels.max() < 0 or reference.max() < 0:
        return labels.astype(np.int64)
    both = (labels >= 0) & (reference >= 0)
    overlap = tables(np.where(both, labels, -1).astype(np.int32), np.where(both, reference, -1).astype(np.int32)[None])[
        0
    ]
    k, r = int(labels.max()) + 1, int(reference.max()) + 1
    overlap = np.pad(overlap, [(0, k - overlap.shape[0]), (0, r - overlap.shape[1])])
    new = np.full(k + 1, -1, np.int64)  # the last place is that of -1
    mine, theirs = linear_sum_assignment(overlap, maximize=True)
    new[mine] = theirs
    free = iter(range(r, r + k))
    for cluster in range(k):
        if new[cluster] < 0:
            new[cluster] = next(free)
    return new[labels]


def tiles_figure(places: NDArray[Any], tiles: Mapping[str, NDArray[Any]]) -> Figure:
    """The same objects in the same places, colored by each of several clusterings; colors follow the first by overlap."""
    down = -(-len(tiles) // ACROSS)
    across = min(ACROSS, len(tiles))
    figure = new_figure(2.6 * across, 2.75 * down)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    reference = next(iter(tiles.values()))
    size = float(np.clip(2500 / len(places), 3, 14))
    for axis, (name, labels) in zip(axes, tiles.items(), strict=False):
        codes = aligned(labels, reference)
        for cluster in np.unique(codes):
            color, mark = look(cluster) if cluster >= 0 else ("#c4cad1", ".")
            at = codes == cluster
            axis.scatter(*places[at].T, s=size, color=color, marker=mark, linewidths=0, alpha=0.8, rasterized=True)
        axis.set_title(short_name(name), loc="left", fontsize=10)
    for axis in axes:
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_color("#aab2bc")
    for axis in axes[len(tiles) :]:
        axis.set_axis_off()
    return figure
