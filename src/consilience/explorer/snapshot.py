"""What is shown at one revision: clusterings, their tree, and whatever was worked out of them so far."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.distance import num_obs_y

from consilience import _kernels
from consilience._check import InputError, fingerprint
from consilience._run.parallel import n_threads
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.trust.floaters import floating
from consilience.explorer.edits import Edited
from consilience.explorer.replies import Cache, RefusedError
from consilience.meta import MetaClustering
from consilience.meta.group_consensus import GroupLabels, combined_members, group_confidence, group_reliability
from consilience.meta.tree import grow, layout, medoid_of, square

ROOM = 2**28  # safeguard: bytes of answers that are kept
MOST_CLUSTERS = 2**16 - 1  # safeguard: labels are sent in two bytes
THREADS = n_threads(-1)  # people wait for a consensus: all cores, whatever else they were told
SMALL = 64  # safeguard: clusterings of a branch whose medoid is found at once, without single precision
WIDE = 10_000  # safeguard: clusterings of a tree whose distances are kept at hand, in 400 MB
REF = re.compile(r"(?:([0-9]{1,9})\.)?([0-9]{1,9})(m|c)([0-9]{1,4})?")
EDITED = re.compile(r"([0-9]{1,9})e")
NOT_HERE = "this edited clustering is not here any more: put it into the tray to keep it"


class Ref(NamedTuple):
    """A clustering that can be shown: the medoid (m) or the consensus (c) of the branch under a node, or one edited by hand (e)."""

    m: int  # nodes are numbered in the tree of the first m clusterings: such a name lasts when more are added; 0 if edited
    node: int  # or the number of what was edited
    kind: str
    k: int = 0  # clusters of a consensus; 0 for the median of its clusterings

    def __str__(self) -> str:
        ending = f"{self.kind}{self.k or ''}"
        return f"{self.node}{ending}" if self.node < self.m or not self.m else f"{self.m}.{self.node}{ending}"


@dataclass(frozen=True, eq=False)
class DisplayedClustering:
    ref: Ref
    codes: Labels
    encoded: Array  # the same in one or two bytes; the largest value is missing
    leaf: int | None  # the clustering's number; None for a consensus of several
    size: int  # clusterings of the branch
    names: list[str] | None = None  # of its clusters, where they have names
    support: Floats | None = None  # share of the branch that puts each object there; None of a single clustering
    assess: Callable[[], Floats] | None = None  # computes the confidence, which takes longer than the consensus
    judge: Callable[[], pd.DataFrame] | None = None  # computes how reliable each clustering of a consensus is
    edited: Edited | None = None
    note: str = ""  # of a consensus: what was left out, and that it was found by a sample of the objects

    @property
    def nbytes(self) -> int:
        return 5 * self.codes.nbytes + self.encoded.nbytes  # with confidence and support

    @cached_property
    def clusters(self) -> int:
        return int(self.codes.max(initial=-1)) + 1

    @cached_property
    def confidence(self) -> Floats | None:
        """Probability that each object belongs to its cluster; None of a single clustering."""
        return None if self.assess is None else self.assess()

    @cached_property
    def members(self) -> pd.DataFrame | None:
        """`leaf`, `reliability` and `better_without` of the clusterings of a consensus, the least reliable first."""
        return None if self.judge is None else self.judge()

    @cached_property
    def floaters(self) -> Ints:
        """The objects that no majority of the branch puts where they are, the weakest first."""
        return np.empty(0, np.int64) if self.support is None else floating(self.codes, self.support)

    def name_of(self, cluster: int) -> str | int | None:
        """What a cluster is called: its name or its number; None for missing."""
        if cluster < 0:
            return None
        return int(cluster) if self.names is None else self.names[cluster]


def encoded_codes(codes: Labels) -> Array:
    """Labels as they are sent: the largest value of the type is missing."""
    return codes.astype(np.uint8 if codes.max(initial=-1) < 255 else np.uint16)  # −1 becomes the largest value


def alike(columns: list[Array]) -> list[Array]:
    """Labels of one type, as they are sent: one edited by hand may have more clusters than all others, or fewer."""
    wide = np.result_type(*columns)
    return [
        one if one.dtype == wide else np.where(one == np.iinfo(one.dtype).max, np.iinfo(wide).max, one).astype(wide)
        for one in columns
    ]


class Tree:
    def __init__(self, links: Floats) -> None:
        self.links = links
        self.order, self.first, self.sizes = layout(links)

    @property
    def nbytes(self) -> int:
        return self.links.nbytes + self.order.nbytes + self.first.nbytes + self.sizes.nbytes

    def leaves(self, node: int) -> Ints:
        return self.order[self.first[node] : self.first[node] + self.sizes[node]]


def among_first(distances: Floats, m: int) -> Floats:
    if m < 2:
        return distances[:0]
    begins = np.concatenate([[0], np.cumsum(np.arange(num_obs_y(distances) - 1, 0, -1))])
    return np.concatenate([distances[begins[i] : begins[i] + m - 1 - i] for i in range(m - 1)])


class Snapshot:
    def __init__(self, revision: int, meta: MetaClustering, scores: pd.DataFrame, edited: Mapping[int, Edited]) -> None:
        if int(meta.ensemble.labels.max()) >= MOST_CLUSTERS:
            raise InputError(f"a clustering has more than {MOST_CLUSTERS:,} clusters: the explorer shows no more")
        self.revision, self.meta, self.scores, self.edited = revision, meta, scores, edited
        # a row of labels per clustering, as they are sent: the largest value of the type is missing
        self.encoded: Array = _kernels.encode_codes(meta.ensemble.labels)
        self.newest = Tree(meta.tree)
        self._near = square(meta.distances) if 1 < meta.n_clusterings <= WIDE else None
        self.cache = Cache(ROOM)
        self.tag = fingerprint(meta.tree)[:12]

    @property
    def n_clusterings(self) -> int:
        return self.meta.n_clusterings

    @property
    def n_objects(self) -> int:
        return self.meta.ensemble.n_objects

    def top(self, node: int, kind: str) -> Ref:
        return Ref(self.n_clusterings, int(node), kind)

    def ref(self, text: str) -> Ref:
        """The ref in a text, refused if it names nothing here."""
        if by_hand := EDITED.fullmatch(text):
            if int(by_hand[1]) not in self.edited:
                raise RefusedError(404, NOT_HERE)
            return Ref(0, int(by_hand[1]), "e")
        found, most = REF.fullmatch(text), self.n_clusterings
        if found is None:
            raise RefusedError(404, "a clustering is named by a node of the tree and m or c, such as 17m")
        m, node, k = int(found[1] or most), int(found[2]), int(found[4] or 0)
        if found[1] is None and node >= most:
            raise RefusedError(404, f"there is no clustering {node} here: they are numbered 0 to {most - 1}")
        if not min(2, most) <= m <= most:
            raise RefusedError(404, f"there is no tree of {m} clusterings here: they are {most}")
        if node > 2 * m - 2:
            raise RefusedError(404, f"the nodes of this tree are numbered 0 to {2 * m - 2}")
        if found[4] is not None and (found[3] == "m" or node < m or k < 2):
            raise RefusedError(404, "a number of clusters, at least 2, is chosen for the consensus of a branch alone")
        return Ref(m, node, found[3], k)

    def branch(self, text: str) -> Ref:
        """The ref in a text; of a clustering that was edited by hand, that of the one it was edited from."""
        ref = self.ref(text)
        if ref.m:
            return ref
        one = self.edited[ref.node]
        base = self.ref(one.base)
        if base.node >= base.m and one.linkage != self.meta.linkage:
            tree = f"the tree by {one.linkage} linkage"
            raise RefusedError(400, f"this was edited from a branch of {tree}: show that tree for more")
        return base

    def tree(self, m: int) -> Tree:
        if m == self.n_clusterings:
            return self.newest
        return self.cache.get(("tree", m), lambda: Tree(grow(among_first(self.meta.distances, m), self.meta.linkage)))

    def members(self, ref: Ref) -> Ints:
        """The clusterings of a ref's branch, in increasing order."""
        if not ref.m:
            raise RefusedError(400, "a clustering that was edited by hand is no branch: select one of the tree")
        return np.sort(self.tree(ref.m).leaves(ref.node)) if ref.node >= ref.m else np.array([ref.node])

    def medoid(self, ref: Ref) -> int:
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

    def displayed(self, ref: Ref, step: Callable[[], None] = lambda: None) -> DisplayedClustering:
        """The clustering that a ref names; `step` is called on the way to a consensus, and may raise to give up."""
        if ref.kind == "e":
            one = self.edited.get(ref.node)
            if one is None:  # let go since the ref was looked up
                raise RefusedError(404, NOT_HERE)
            return DisplayedClustering(ref, one.codes, encoded_codes(one.codes), None, 1, one.names, edited=one)
        size = 1 if ref.node < ref.m else int(self.tree(ref.m).sizes[ref.node])
        if ref.kind == "m" or size == 1:
            leaf, ensemble = self.medoid(ref), self.meta.ensemble
            names = ensemble.label_names[leaf]
            called = None if names is None else [str(name) for name in names]
            return DisplayedClustering(ref, ensemble.labels[:, leaf], self.encoded[leaf], leaf, size, called)
        return self.cache.get(("consensus", ref.m, ref.node, ref.k), lambda: self._consensus(ref, size, step))

    def named_labels(self, one: DisplayedClustering) -> Array:
        """The labels of a clustering as they were given; the codes where they have no names."""
        if one.edited is not None:
            return np.array([*one.edited.names, None], object)[one.codes]
        return one.codes if one.names is None or one.leaf is None else self.meta.ensemble.named_labels(one.leaf)

    def _consensus(self, ref: Ref, size: int, step: Callable[[], None]) -> DisplayedClustering:
        ensemble = self.meta.ensemble
        members, left = combined_members(ensemble, self.members(ref))
        group = self.group(members, step)
        [codes] = group.answers([ref.k or None])
        support = group.support(codes)

        def assess() -> Floats:  # with the members' labels anew: they are too large to keep
            return group_confidence(ensemble[:, members], codes)

        def judge() -> pd.DataFrame:
            table = group_reliability(ensemble[:, members], codes)
            table.insert(0, "leaf", members)
            return table.sort_values("reliability", kind="stable")

        encoded, note = encoded_codes(codes), "; ".join(filter(None, [left and f"left out, {left}", group.note]))
        return DisplayedClustering(ref, codes, encoded, None, size, None, support, assess, judge, note=note)

    def group(self, members: Ints, step: Callable[[], None] = lambda: None) -> GroupLabels:
        ensemble = self.meta.ensemble
        labels, n_clusters = partial(self._labels, members), ensemble.n_clusters[members]
        return GroupLabels(labels, self.n_objects, n_clusters, ensemble.has_missing, THREADS, step)

    def distinct_rows(self, ref: Ref) -> int:
        """How many clusters the consensus of a branch can have: distinct rows of labels, of the objects that are combined."""
        members, _ = combined_members(self.meta.ensemble, self.members(ref))
        rows = self._labels(members, self.group(members).sample)
        none = np.iinfo(rows.dtype).max
        return len(np.unique(rows[:, (rows != none).any(axis=0)], axis=1).T)

    def _labels(self, members: Ints, objects: slice | Ints) -> Array:
        """The labels of some objects in some clusterings, one after the other, as they are sent."""
        places = (members, objects) if isinstance(objects, slice) else np.ix_(members, objects)
        return np.asarray(self.encoded[places])
