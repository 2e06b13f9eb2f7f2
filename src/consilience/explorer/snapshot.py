"""What is shown at one revision: clusterings, their tree, and whatever was worked out of them so far."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import num_obs_y

from consilience import _kernels
from consilience._check import InputError, fingerprint
from consilience._parallel import n_threads
from consilience._types import Floats, Ints
from consilience.explorer.cache import Cache
from consilience.explorer.codec import RefusedError
from consilience.meta import MetaClustering
from consilience.meta.distances import medoid_of, square
from consilience.meta.group_consensus import group_vote
from consilience.meta.tree import cut, grow, layout

ROOM = 2**28  # bytes of answers that are kept
LEAST, CANDIDATES = 4, 6  # groups at least, so that tiles are worth it; candidate numbers that are named
MOST_CLUSTERS = 2**16 - 1
THREADS = n_threads(-1)  # people wait for a consensus: all cores, whatever else they were told
SMALL, WIDE = (
    64,
    10_000,
)  # clusterings of a branch whose medoid is found at once; of a tree whose distances are kept at hand
REF = re.compile(r"(?:([0-9]{1,9})\.)?([0-9]{1,9})([mc])")


class Ref(NamedTuple):
    """A clustering that can be shown: the medoid (m) or the consensus (c) of the branch under a node.

    Nodes above the leaves are numbered in the tree of the first `m` clusterings: such a name lasts when more are added.
    """

    m: int
    node: int
    kind: str

    def __str__(self) -> str:
        return f"{self.node}{self.kind}" if self.node < self.m else f"{self.m}.{self.node}{self.kind}"


@dataclass(frozen=True)
class Shown:
    """One clustering, as it is shown.

    Attributes
    ----------
    ref : Ref
    labels : (n_objects,) uint8 or uint16 array
        The largest value is missing.
    confidence : (n_objects,) float32 array or None
        Share of the branch's clusterings whose aligned vote agrees; None of a single clustering.
    leaf : int or None
        The clustering's number; None for a consensus of several.
    size : int
        Clusterings of the branch.
    """

    ref: Ref
    labels: NDArray[Any]
    confidence: NDArray[np.float32] | None
    leaf: int | None
    size: int

    @property
    def nbytes(self) -> int:
        """What it costs to keep."""
        return self.labels.nbytes + 8 * len(self.labels)  # the codes and the confidence

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """The labels as the package has them, −1 missing."""
        codes = self.labels.astype(np.int32)
        codes[self.labels == np.iinfo(self.labels.dtype).max] = -1
        return codes

    @cached_property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.codes.max(initial=-1)) + 1


class Tree:
    """A tree of clusterings: SciPy's linkage, laid out.

    Attributes
    ----------
    links : (m − 1, 4) array
    order : (m,) int array
        The leaves from left to right.
    first, sizes : (2 m − 1,) int arrays
        Of every node its first place there and its number of leaves.
    """

    def __init__(self, links: Floats) -> None:
        self.links = links
        self.order, self.first, self.sizes = layout(links)

    @property
    def nbytes(self) -> int:
        """What it costs to keep."""
        return self.links.nbytes + self.order.nbytes + self.first.nbytes + self.sizes.nbytes

    def leaves(self, node: int) -> Ints:
        """The clusterings under a node, from left to right."""
        return self.order[self.first[node] : self.first[node] + self.sizes[node]]


def among_first(distances: Floats, m: int) -> Floats:
    """The condensed distances of the first m items.

    Examples
    --------
    >>> among_first(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 3)  # of four items
    array([1., 2., 4.])
    """
    begins = np.concatenate([[0], np.cumsum(np.arange(num_obs_y(distances) - 1, 0, -1))])
    return np.concatenate([distances[begins[i] : begins[i] + m - 1 - i] for i in range(m - 1)])


class Edition:
    """The clusterings of a session and their tree at one revision.

    Parameters
    ----------
    revision : int
    meta : MetaClustering
    scores : DataFrame
        A row per clustering.
    n_groups : int or None
        Where the tree is cut at first; None for the sharpest jump of at least four groups.
    """

    def __init__(self, revision: int, meta: MetaClustering, scores: pd.DataFrame, n_groups: int | None = None) -> None:
        if int(meta.ensemble.labels.max()) >= MOST_CLUSTERS:
            raise InputError(f"a clustering has more than {MOST_CLUSTERS:,} clusters: the explorer shows no more")
        self.revision, self.meta, self.scores = revision, meta, scores
        self.codes = _kernels.encode_codes(meta.ensemble.labels)
        self.newest = Tree(meta.tree)
        self._near = square(meta.distances) if meta.n_clusterings <= WIDE else None
        self.cache = Cache(ROOM)
        self.tag = fingerprint(meta.tree)[:12]
        self.candidates = [int(n) for n in meta.jumps["n_groups"][:CANDIDATES]]
        enough = [int(n) for n in meta.jumps["n_groups"] if n >= LEAST]
        self.n_groups = n_groups or (enough[0] if enough else min(LEAST, self.n_clusterings))
        self.note = f"{self.n_groups} groups as asked for" if n_groups else self._note(enough)

    def _note(self, enough: list[int]) -> str:
        if not enough:
            return f"{self.n_groups} groups, as many as there are to look at"
        return f"{self.n_groups} by the sharpest jump of the compactness curve from {LEAST} groups on: a suggestion, not a truth"

    @property
    def n_clusterings(self) -> int:
        """Number of clusterings."""
        return self.meta.n_clusterings

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return self.meta.ensemble.n_objects

    @cached_property
    def groups(self) -> Ints:
        """The nodes of the groups that the tree is cut into at first, the largest first."""
        return cut(self.meta.tree, self.n_groups)[0]

    def top(self, node: int, kind: str) -> Ref:
        """The ref of a node of the newest tree."""
        return Ref(self.n_clusterings, int(node), kind)

    def ref(self, text: str) -> Ref:
        """The ref in a text, refused if it names nothing here."""
        found = REF.fullmatch(text)
        if found is None:
            raise RefusedError(404, "a clustering is named by a node of the tree and m or c, such as 17m")
        if found[1] is None and int(found[2]) >= self.n_clusterings:
            raise RefusedError(
                404, f"there is no clustering {found[2]} here: they are numbered 0 to {self.n_clusterings - 1}"
            )
        m = self.n_clusterings if found[1] is None else int(found[1])
        if not 2 <= m <= self.n_clusterings:
            raise RefusedError(404, f"there is no tree of {m} clusterings here: they are {self.n_clusterings}")
        if int(found[2]) > 2 * m - 2:
            raise RefusedError(404, f"the nodes of this tree are numbered 0 to {2 * m - 2}")
        return Ref(m, int(found[2]), found[3])

    def tree(self, m: int) -> Tree:
        """The tree of the first m clusterings."""
        if m == self.n_clusterings:
            return self.newest
        return self.cache.get(("tree", m), lambda: Tree(grow(among_first(self.meta.distances, m), self.meta.linkage)))

    def members(self, ref: Ref) -> Ints:
        """The clusterings of a ref's branch, in increasing order."""
        return np.sort(self.tree(ref.m).leaves(ref.node)) if ref.node >= ref.m else np.array([ref.node])

    def medoid(self, ref: Ref) -> int:
        """The most central clustering of a ref's branch."""
        if ref.node < ref.m:
            return ref.node
        return int(self.cache.get(("medoid", ref.m, ref.node), lambda: np.int64(self._medoid(self.members(ref)))))

    def _medoid(self, members: Ints) -> int:
        """By single precision first: only those it cannot tell from the best are compared exactly."""
        if self._near is None or len(members) <= SMALL:
            return medoid_of(self.meta.distances, members)
        totals = self._near[np.ix_(members, members)] if len(members) < len(self._near) else self._near
        sums = totals.sum(axis=1, dtype=float)
        return medoid_of(self.meta.distances, members, members[sums <= sums.min() * (1 + 1e-6)])

    def shown(self, ref: Ref) -> Shown:
        """The clustering that a ref names."""
        size = 1 if ref.node < ref.m else int(self.tree(ref.m).sizes[ref.node])
        if ref.kind == "m" or size == 1:
            leaf = self.medoid(ref)
            return Shown(ref, self.codes[leaf], None, leaf, size)
        return self.cache.get(("consensus", ref.m, ref.node), lambda: self._consensus(ref, size))

    def _consensus(self, ref: Ref, size: int) -> Shown:
        members = self.members(ref)
        n_clusters = self.meta.ensemble.n_clusters[members]
        found = group_vote(self._labels(members), n_clusters, self.meta.distances, members, threads=THREADS)
        if found is None:  # no member has the median number of clusters: the vote starts elsewhere
            whole = self.meta.consensus(members)
            labels, confidence = whole.labels.astype(np.int32), whole.support.astype(np.float32)
        else:
            labels, confidence = found.labels, found.support.astype(np.float32)
        return Shown(ref, labels.astype(self.codes.dtype), confidence, None, size)  # −1 becomes the largest value

    def _labels(self, members: Ints) -> NDArray[np.int32]:
        """The labels of some clusterings, one after the other, −1 missing."""
        some = self.codes[members]
        labels = some.astype(np.int32)
        if self.meta.ensemble.has_missing:
            labels[some == np.iinfo(some.dtype).max] = -1
        return labels
