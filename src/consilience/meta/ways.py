"""The ways among organized clusterings: who belongs to each, how firm it is, how deep it goes, and what it follows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from consilience._types import ArrayLike, Floats, Ints
from consilience.consensus import Consensus, combine
from consilience.consensus.samples.ways import HALF
from consilience.ensemble import Ensemble
from consilience.measures.chance import shared_information
from consilience.measures.compare import known_labels
from consilience.measures.explained_variance import MARKED, WORTHY, VarianceBetween
from consilience.measures.spreads_and_top_words import ComparableTable
from consilience.tables import Table, read_table


@dataclass(frozen=True, eq=False, repr=False)
class Way:
    """One way to group the objects, as some clusterings show it at one fineness or several.

    Attributes
    ----------
    number : int
        1 for the way of most clusterings.
    members : int array
        Its clusterings, by their numbers in the ensemble that was organized.
    weight : float
        Their share of all.
    ensemble : Ensemble
        Its clusterings.

    Examples
    --------
    >>> import consilience as cs
    >>> meta = cs.organize([[0, 0, 1, 1] * 9, [0, 0, 1, 2] * 9, [0, 1, 0, 1] * 9, [1, 0, 1, 0] * 9])
    >>> meta.ways[0].describe(known={"side": [0, 0, 1, 1] * 9})
    'by side (firm: 100 % agree)'
    """

    number: int
    members: Ints
    weight: float
    ensemble: Ensemble

    @cached_property
    def consensus(self) -> Consensus:
        """What its clusterings say together, at their stable number of clusters: :func:`consilience.combine` of them, "auto"."""
        return combine(self.ensemble, "auto")

    @property
    def labels(self) -> Ints:
        """The consensus as labels."""
        return self.consensus.labels

    @property
    def depths(self) -> list[int]:
        """The numbers of clusters at which its clusterings are stable, rising; that of the consensus is among them."""
        scales = self.consensus.scales
        stable = [] if scales is None else scales["n_clusters"][scales["real"].astype(bool)].tolist()
        return sorted({*map(int, stable), self.consensus.n_clusters})

    def at(self, n_clusters: int) -> Consensus:
        """The way at a number of clusters."""
        return self.consensus if n_clusters == self.consensus.n_clusters else combine(self.ensemble, n_clusters)

    @cached_property
    def tree(self) -> pd.DataFrame:
        """Every cluster at every depth: in which cluster of the depth before most of its objects are (`parent`), and their `share`."""
        rows, before = [], None
        for depth in self.depths:
            labels = self.at(depth).labels
            above = (
                np.zeros_like(labels) if before is None else before
            )  # all objects are one cluster before the first depth
            for cluster, size in enumerate(np.bincount(labels[labels >= 0]).tolist()):
                inside = np.bincount(above[(labels == cluster) & (above >= 0)], minlength=1)
                parent = -1 if before is None else int(inside.argmax())
                rows.append((depth, cluster, size, parent, float(inside.max() / max(size, 1))))
            before = labels
        return pd.DataFrame(rows, columns=["depth", "cluster", "size", "parent", "share"])

    @cached_property
    def agreement(self) -> Floats:
        """(members,) The information that each clustering shares with the consensus: 1 where one refines the other, by chance 0."""
        return np.array([shared_information(self.labels, column) for column in self.ensemble.labels.T])

    @property
    def firmness(self) -> float:
        """How far its clusterings agree with its consensus, on average."""
        return float(np.nanmean(self.agreement))

    def follows(self, data: ArrayLike = None, known: Any = None) -> pd.DataFrame:
        """Which known labels and columns of data its clusterings follow, the most first.

        One row each: `kind` ("known" or "column"), `name`, `mean`, `sd` and `best` of its clusterings, what the `consensus` has, and
        `coverage`, the share of the objects with a known label that a clustering labels, on average. Of known labels these are shared
        information, of columns the share of their variance that lies between clusters.
        """
        rows: list[dict[str, Any]] = []
        columns = self.ensemble.labels.T
        for name, codes in (known_labels(known, self.ensemble) if known is not None and len(known) else {}).items():
            values = np.array([shared_information(codes, column) for column in (*columns, self.labels)])
            coverage = (columns[:, codes >= 0] >= 0).mean()
            rows.append({"kind": "known", "name": name, **_spread(values), "coverage": coverage})
        if data is not None:
            table = data if isinstance(data, Table) else read_table(data, kind="data")
            names = table.columns or [f"column {i}" for i in range(table.values.shape[1])]
            following = VarianceBetween(ComparableTable(table, list(names)))
            shares = np.array([following.of(column) for column in (*columns, self.labels)])
            coverage = (columns >= 0).mean()
            rows += [
                {"kind": "column", "name": name, **_spread(values), "coverage": coverage}
                for name, values in zip(following.names, shares.T, strict=True)
            ]
        found = pd.DataFrame(rows, columns=["kind", "name", "mean", "sd", "best", "consensus", "coverage"])
        order = np.lexsort((-found["mean"].to_numpy(float), found["kind"] == "column"))
        return found.iloc[order].reset_index(drop=True)

    def describe(self, data: ArrayLike = None, known: Any = None) -> str:
        """The way in words: the known labels and columns that it follows, how firm it is, and at which numbers of clusters."""
        found = self.follows(data, known)
        least = np.where(found["kind"] == "known", HALF, MARKED)
        followed = found[found["consensus"] >= least]
        known_to, columns = (
            followed.loc[followed["kind"] == kind, "name"].astype(str).tolist() for kind in ("known", "column")
        )
        start = f"by {' and '.join(known_to)}" if known_to else f"way {self.number}"
        said = [", ".join(columns[:WORTHY]), f"firm: {100 * self.firmness:.0f} % agree"]
        return f"{start} ({'; '.join(part for part in said if part)})"

    def __repr__(self) -> str:
        depths = ", ".join(map(str, self.depths))
        share = f"{len(self.members):,} clusterings ({100 * self.weight:.0f} %)"
        return f"Way {self.number}: {share}, firm: {100 * self.firmness:.0f} % agree, stable at {depths} clusters"


def _spread(values: Floats) -> dict[str, float]:
    """Of the clusterings and, last, of their consensus."""
    own = values[:-1]
    return {"mean": np.nanmean(own), "sd": np.nanstd(own), "best": np.nanmax(own), "consensus": values[-1]}
