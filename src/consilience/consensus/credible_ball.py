"""How sure a summary of samples is: the ball of partitions around it that holds most of the probability.

The credible ball of level 1 − α is the smallest ball around a partition, by a distance of partitions, with at least 1 − α of the
samples. Its bounds say what it spans: the **horizontal** bounds are the partitions in it that are farthest from its center; the **upper
vertical** ones have the fewest clusters and are the farthest of those, the **lower vertical** ones the most clusters (S. Wade and
Z. Ghahramani, Bayesian cluster analysis: point estimation and credible balls, Bayesian Analysis 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from consilience._check import check_share, count
from consilience._types import Array, Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.results import Result

SAME = 1e-9  # distances that differ by less are equal
BOUNDS = ("horizontal", "upper vertical", "lower vertical")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CredibleBall(Result):
    """The smallest ball around a summary that holds a share of the samples.

    Attributes
    ----------
    level : float
        The share asked for.
    share : float
        The share of the samples inside; at least `level`.
    radius : float
        The largest distance of a sample inside, in the unit of the loss.
    inside : int array
        Positions of those samples.
    bounds : DataFrame
        One row for every partition at a bound: `bound` ("horizontal", "upper vertical": fewest clusters, "lower vertical": most clusters),
        `sample` (name of the first sample that has it), `n_clusters` and `distance`. A bound has several where distances are equal.
    labels : (n_objects, len(bounds)) int32 array
        Those partitions; −1 where the sample has no label.
    ids : (n_objects,) array or None

    Examples
    --------
    >>> import consilience as cs
    >>> ball = cs.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0]]).ball(0.5)
    >>> ball.inside.tolist(), round(ball.share, 2)
    ([0, 1], 0.67)
    """

    level: float
    share: float
    radius: float
    inside: Ints
    bounds: pd.DataFrame
    labels: Labels
    ids: Array | None = None

    @property
    def ensemble(self) -> Ensemble:
        """The partitions at the bounds as clusterings."""
        info = self.bounds.rename(columns={"bound": "name"})[["name", "sample", "distance"]]
        names = info["name"] + np.where(info["name"].duplicated(keep=False), " " + info["sample"].astype(str), "")
        return Ensemble.from_codes(self.labels, ids=self.ids, info=info.assign(name=names))

    def to_frame(self) -> pd.DataFrame:
        """The bounds."""
        return self.bounds.copy()

    def __repr__(self) -> str:
        lines = [f"Credible ball: {100 * self.share:.3g} % of the samples within {self.radius:.4g}"]
        for name in BOUNDS:
            rows = self.bounds[self.bounds["bound"] == name]
            more = f", and {len(rows) - 1} more as far" if len(rows) > 1 else ""
            first = rows.iloc[0]
            lines.append(
                f"{name:<15} {count(first['n_clusters'], 'cluster')} at {first['distance']:.4g} ({first['sample']}{more})"
            )
        return "\n  ".join(lines)


def credible_ball(samples: Ensemble, distances: Floats, level: float) -> CredibleBall:
    """The ball of a level, from the samples and their distances to its center (NaN: a sample that does not count)."""
    check_share("level", level)
    known = np.flatnonzero(~np.isnan(distances))
    ranked = np.sort(distances[known])
    radius = float(ranked[int(np.ceil(level * len(known) - SAME)) - 1])
    inside = known[distances[known] <= radius + SAME]
    clusters, away = samples.n_clusters[inside], distances[inside]
    rows, columns = [], []
    for name, among in zip(
        BOUNDS, (clusters >= 0, clusters == clusters.min(), clusters == clusters.max()), strict=True
    ):
        farthest = inside[among & (away >= away[among].max() - SAME)]
        for s in _distinct(samples.labels, farthest):
            rows.append((name, samples.names[s], int(samples.n_clusters[s]), float(distances[s])))
            columns.append(samples.labels[:, s])
    return CredibleBall(
        level=level,
        share=len(inside) / len(known),
        radius=radius,
        inside=inside,
        bounds=pd.DataFrame(rows, columns=["bound", "sample", "n_clusters", "distance"]),
        labels=np.column_stack(columns),
        ids=samples.ids,
    )


def _distinct(labels: Labels, columns: Ints) -> list[int]:
    """The first of every partition among some columns."""
    seen: dict[bytes, int] = {}
    for s in columns.tolist():
        _, first, codes = np.unique(labels[:, s], return_index=True, return_inverse=True)
        seen.setdefault(np.argsort(np.argsort(first))[codes.reshape(-1)].tobytes() + (labels[:, s] < 0).tobytes(), s)
    return list(seen.values())
