"""The texts of Gondek and Hofmann 2005, as near as they can be had: documents with two labelings, of which one is given.

WebKB is the paper's own selection (`webkb.npz`). Its three subsets of RCV1 are rebuilt from Reuters-21578 (`reuters21578.npz`): topics
by countries, of the same numbers of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience.measures import contingency
from consilience.tables import read_table
from consilience.tables.file_formats import read_vector
from papers.strehl2002.data import data_file

COMPANIES = ("acq", "earn")
# Reuters' sixteen economic indicators, and interest rates and foreign exchange.
ECONOMY = (
    *(
        "bop",
        "cpi",
        "cpu",
        "gnp",
        "housing",
        "income",
        "instal-debt",
        "inventories",
        "ipi",
        "jobs",
        "lei",
        "money-supply",
    ),
    *("reserves", "retail", "trade", "wpi", "interest", "money-fx"),
)
FEWEST = 3  # documents with a term
MOST = 100  # stories of one topic and country, where cells are not made equal


@dataclass(frozen=True)
class Texts:
    """Documents as term counts, and two labelings of them.

    Attributes
    ----------
    name : str
    like : str
        Whose numbers in the paper stand beside it.
    counts : (n_documents, n_terms) csr_matrix
    labels : DataFrame
        Two columns of class names, L1 and L2 of the paper.
    finer : (n_documents,) array, optional
        Classes that those of L1 were put together from.
    """

    name: str
    like: str
    counts: Any
    labels: pd.DataFrame
    finer: NDArray[Any] | None = None

    @property
    def directions(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Given and hidden labeling: Z = L1, and Z = L2."""
        first, second = self.labels.columns
        return (first, second), (second, first)

    @property
    def key(self) -> dict[str, Any]:
        """What names a cell on these documents."""
        return {"data": self.name, "documents": len(self.labels)}

    def orthogonality(self) -> tuple[float, float]:
        """I(L1; X) + I(L2; X) and I(L1, L2; X) in nats.

        A document belongs to one class, so that its terms tell it: the two are H(L1) + H(L2) and H(L1, L2).
        """
        table = contingency(*(self.labels[name].to_numpy() for name in self.labels.columns))
        return _entropy(table.sum(axis=1)) + _entropy(table.sum(axis=0)), _entropy(table.ravel())

    def sample(self, n_documents: int | None, seed: int = 0) -> Texts:
        """So many documents at random, or all."""
        if n_documents is None or n_documents >= len(self.labels):
            return self
        rows = np.random.default_rng([seed, 3]).permutation(len(self.labels))[:n_documents]
        finer = None if self.finer is None else self.finer[rows]
        return _texts(self.name, self.like, self.counts[rows], self.labels.iloc[rows], finer)


def _entropy(counts: NDArray[Any]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def read_texts(folder: Path) -> list[Texts]:
    """The paper's four sets, three of them rebuilt."""
    web = _read(folder, "webkb.npz", "topic", "university")
    stories = _read(folder, "reuters21578.npz", "topic", "country")
    economy = {topic: (topic,) for topic in _frequent(stories, ECONOMY, 5)}
    others = set(stories[1]["topic"].dropna()) - {*COMPANIES, *ECONOMY}
    seven = {"companies": COMPANIES, "economy": ECONOMY} | {topic: (topic,) for topic in _frequent(stories, others, 5)}
    return [
        _texts("WebKB", "WebKB", *web),
        _subset("Reuters 2×2", "RCV1 gmcat2x2", stories, {"companies": COMPANIES, "economy": ECONOMY}, ("usa", "uk")),
        _subset("Reuters 5×6", "RCV1 ec5x6", stories, economy, 6),
        _subset("Reuters 7×9", "RCV1 top7x9", stories, seven, 9),
    ]


def _read(folder: Path, name: str, first: str, second: str) -> tuple[Any, pd.DataFrame]:
    """Term counts and the names of the two classes, None for documents of several."""
    path = data_file(folder, name)
    table = read_table(path, kind="counts", known=["y", "y2"])
    labels = {}
    for column, title in (("y", first), ("y2", second)):
        codes, names = read_vector(path, column), read_vector(path, f"{column}_names")
        assert codes is not None
        assert names is not None
        labels[title] = np.array([*names, None], object)[codes]  # -1: of several
    return table.values, pd.DataFrame(labels)


def _frequent(stories: tuple[Any, pd.DataFrame], topics: Any, n: int) -> list[str]:
    """The most frequent of these topics, among stories of one topic and one country."""
    labels = stories[1].dropna()
    return _most(labels.loc[labels["topic"].isin(list(topics)), "topic"], n)


def _most(names: pd.Series, n: int) -> list[str]:
    counts = names.value_counts()
    return sorted(counts.index, key=lambda name: (-counts[name], name))[:n]


def _subset(
    name: str,
    like: str,
    stories: tuple[Any, pd.DataFrame],
    groups: Mapping[str, Sequence[str]],
    countries: int | tuple[str, ...],
) -> Texts:
    """Stories of one topic and one country: groups of topics by countries.

    Named countries get cells of equal size, as the paper's numbers for gmcat2x2 show it had; of so many most frequent countries
    there are at most `MOST` stories in a cell, so that none outweighs the rest.
    """
    counts, labels = stories
    group_of = {topic: group for group, topics in groups.items() for topic in topics}
    finer = labels["topic"]
    labels = labels.assign(topic=labels["topic"].map(group_of)).dropna()
    chosen = _most(labels["country"], countries) if isinstance(countries, int) else list(countries)
    labels = labels[labels["country"].isin(chosen)]
    rng = np.random.default_rng(0)
    cells = [rng.permutation(cell.index) for _, cell in labels.groupby(["topic", "country"])]
    size = MOST if isinstance(countries, int) else min(map(len, cells))
    rows = np.sort(np.concatenate([cell[:size] for cell in cells]))
    return _texts(name, like, counts[rows], labels.loc[rows], finer.loc[rows].to_numpy())


def _texts(name: str, like: str, counts: Any, labels: pd.DataFrame, finer: NDArray[Any] | None = None) -> Texts:
    """Terms of at least `FEWEST` documents, documents that have any, in random order."""
    counts = counts[:, np.bincount(counts.indices, minlength=counts.shape[1]) >= FEWEST]
    rows = np.random.default_rng(1).permutation(np.flatnonzero(np.diff(counts.indptr)))
    part = None if finer is None else finer[rows]
    return Texts(name, like, counts[rows], labels.iloc[rows].reset_index(drop=True), part)
