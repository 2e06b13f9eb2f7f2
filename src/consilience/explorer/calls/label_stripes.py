"""The stripe picture: clusterings × objects, every clustering in the numbers of a consensus, objects that belong together side by side.

There are more of both than a screen has points: neighbors share a cell, which shows the cluster that most of them are in, and the share
that is.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from consilience import _kernels
from consilience._types import Array, Floats, Ints, Labels
from consilience.explorer.calls.call import Call
from consilience.explorer.checks import Keys, one_of, whole
from consilience.explorer.replies import RefusedError, Reply, binary_reply
from consilience.explorer.snapshot import THREADS, DisplayedClustering, Ref, Snapshot

SUBGROUPS = 4  # safeguard: parts of a branch whose medoids order the objects in a display
CHUNK = 64  # safeguard: clusterings whose tables are in memory at a time
SURE = 254  # safeguard: the byte of a cell whose objects are all in one cluster


@dataclass(frozen=True, eq=False)
class Alignment:
    """Clusterings in the numbers of a consensus of K clusters."""

    members: Ints
    slots: list[Ints]  # of each cluster the one of the consensus that it is matched to, or K, K + 1, … if to none
    kept: Floats  # (m, K): share of every cluster of the consensus in the cluster matched to it; NaN without labels
    agreement: Floats  # (m,): the same over all objects

    @property
    def n_slots(self) -> int:
        """Numbers that are used, and at least those of the consensus."""
        return max(self.kept.shape[1], *(int(slots.max(initial=-1)) + 1 for slots in self.slots))

    def take(self, order: Ints) -> "Alignment":
        slots = [self.slots[at] for at in order]
        return Alignment(self.members[order], slots, self.kept[order], self.agreement[order])


def align(snapshot: Snapshot, members: Ints, codes: Labels, step: Callable[[], None] = lambda: None) -> Alignment:
    """Match the clusters of each clustering to those of a consensus, one to one, so that they share the most objects."""
    k = int(codes.max()) + 1
    sizes = snapshot.meta.ensemble.n_clusters[members]
    slots, kept, agreement = [], np.empty((len(members), k)), np.empty(len(members))
    for begin in range(0, len(members), CHUNK):
        step()
        some = slice(begin, begin + CHUNK)
        offsets = np.concatenate([[0], np.cumsum(sizes[some])])
        columns = snapshot.encoded[members[some]]
        tables = _kernels.label_tables(columns, offsets, codes, k, threads=THREADS)
        for at, (low, high) in enumerate(itertools.pairwise(offsets), begin):
            table = tables[low:high]
            mine, theirs = slots_of(table)
            slots.append(mine)
            matched = np.where(theirs >= 0, table[theirs, np.arange(k)], 0)
            with np.errstate(invalid="ignore"):
                kept[at] = matched / table.sum(axis=0)
                agreement[at] = matched.sum() / np.float64(table.sum())
    return Alignment(members, slots, kept, agreement)


def slots_of(table: Ints) -> tuple[Ints, Ints]:
    """The slot of every row of a table, and of every column its row (−1 none): matched by maximum overlap, others get the next slots."""
    rows, columns = linear_sum_assignment(table, maximize=True)
    real = table[rows, columns] > 0
    slots, owners = np.full(len(table), -1), np.full(table.shape[1], -1)
    slots[rows[real]], owners[columns[real]] = columns[real], rows[real]
    slots[slots < 0] = table.shape[1] + np.arange(np.count_nonzero(slots < 0))
    return slots, owners


def object_order(snapshot: Snapshot, ref: Ref, consensus: DisplayedClustering) -> Ints:
    """Objects by their cluster in the consensus; inside, by where the medoids of the largest parts of the branch put them, then by support.

    Those that a medoid puts as the consensus does come first, objects without a label last.
    """
    codes = consensus.codes
    keys: list[Array] = [] if consensus.support is None else [-consensus.support]
    leaves = [snapshot.medoid(part) for part in reversed(parts_of(snapshot, ref))]
    for leaf, slots in zip(leaves, align(snapshot, np.array(leaves), codes).slots, strict=True):
        mine = np.append(slots, np.iinfo(np.int32).max - 1)[snapshot.meta.ensemble.labels[:, leaf]]
        keys.append(np.where(mine == codes, -1, mine))
    return np.lexsort([*keys, np.where(codes < 0, np.iinfo(np.int32).max, codes)])


def parts_of(snapshot: Snapshot, ref: Ref) -> list[Ref]:
    """A branch's last merges undone until there are a few parts, the largest first."""
    tree, parts = snapshot.tree(ref.m), [ref.node]
    while len(parts) < SUBGROUPS and max(parts) >= ref.m:
        last = max(parts)
        parts.remove(last)
        parts += [int(node) for node in tree.links[last - ref.m, :2]]
    parts.sort(key=lambda node: (-tree.sizes[node], node))
    return [Ref(ref.m, node, "m") for node in parts]


def spread(n: int, most: int) -> Ints:
    """Where `n` things in a row are parted into at most so many cells of nearly one size: begins, and the end."""
    cells = min(n, most)
    return np.arange(cells + 1) * n // cells


def modes(
    snapshot: Snapshot, aligned: Alignment, order: Ints, rows: Ints, wide: Ints, step: Callable[[], None] = lambda: None
) -> tuple[Array, Array]:
    """The most frequent slot of every cell, and its share."""
    n_slots = aligned.n_slots + 1  # the last one is missing
    widths = np.diff(wide)
    base = np.repeat(np.arange(len(widths), dtype=np.int32) * n_slots, widths)
    small = n_slots <= 255
    found = np.empty((len(rows) - 1, len(widths)), np.uint8 if small else np.uint16)
    shares = np.empty(found.shape, np.uint8)
    counts = np.zeros(len(widths) * n_slots, np.int64)
    for row, (low, high) in enumerate(itertools.pairwise(rows)):
        step()
        counts[:] = 0
        for at in range(low, high):
            labels = snapshot.encoded[aligned.members[at]]
            slot_of = np.full(int(np.iinfo(labels.dtype).max) + 1, n_slots - 1, np.int32)
            slot_of[: len(aligned.slots[at])] = aligned.slots[at]
            cells = base + slot_of[labels[order]]
            if len(counts) <= len(cells):
                counts += np.bincount(cells, minlength=len(counts))
            else:  # a pass over all counts for every member would cost more than the objects
                np.add.at(counts, cells, 1)
        table = counts.reshape(len(widths), n_slots)
        best = table.argmax(axis=1)
        shares[row] = np.round(SURE * table[np.arange(len(best)), best] / (widths * (high - low)))
        found[row] = np.where(best == n_slots - 1, np.iinfo(found.dtype).max, best)
    return found, shares


BY = ("tree", "agreement")
SLOTS = 4000  # safeguard: clusters of the consensus and of one clustering; a row of cells × them is in memory
NAMES = 20_000  # safeguard: names of clusters in one answer
STRIPES_KEYS: Keys = {"rows": (whole(1, 2000), 400), "columns": (whole(1, 4000), 800), "by": (one_of(BY), "tree")}


def stripes(call: Call) -> Reply:
    """The cells, and what is needed to say what is in them; kept for those who ask again."""
    asked = call.asked(STRIPES_KEYS)
    ref = call.snapshot.ref(call.parts[0])._replace(kind="c")
    if not ref.m or ref.node < ref.m:
        raise RefusedError(400, "stripes are of a branch of at least two clusterings")
    key = ("stripes", *ref, *asked.values())
    return call.snapshot.cache.get(key, lambda: _stripes(call, ref, **asked))


def _stripes(call: Call, ref: Ref, rows: int, columns: int, by: str) -> Reply:
    snapshot, ensemble = call.snapshot, call.snapshot.meta.ensemble
    consensus, members = snapshot.displayed(ref, call.step), snapshot.tree(ref.m).leaves(ref.node)
    if consensus.clusters + int(ensemble.n_clusters[members].max()) > SLOTS:
        raise RefusedError(400, f"these clusterings have more clusters than the {SLOTS:,} that stripes have room for")
    aligned = align(snapshot, members, consensus.codes, call.step)
    if by == "agreement":
        aligned = aligned.take(np.argsort(-np.nan_to_num(aligned.agreement, nan=-1), kind="stable"))
        members = aligned.members
    order = object_order(snapshot, ref, consensus)
    high, wide = spread(len(members), rows), spread(snapshot.n_objects, columns)
    found, shares = modes(snapshot, aligned, order, high, wide, call.step)
    own = np.full((len(members), aligned.n_slots), 2**16 - 1, np.uint16)
    for row, slots in enumerate(aligned.slots):
        own[row, slots] = np.arange(len(slots))
    named = [ensemble.label_names[leaf] for leaf in members]
    many = sum(0 if names is None else len(names) for names in named) > NAMES
    names = None if many else [None if names is None else [str(one) for one in names] for names in named]
    sizes = np.bincount(consensus.codes[consensus.codes >= 0], minlength=consensus.clusters)
    told = {"ref": str(ref), "by": by, "clusters": consensus.clusters, "sizes": sizes, "names": names}
    # objects from left to right and clusterings from top to bottom, where cells begin, and of every clustering the cluster
    # that is drawn as each slot
    places = {"order": order, "members": members, "rows": high, "columns": wide}
    arrays: dict[str, Array] = {name: values.astype(np.uint32) for name, values in places.items()}
    arrays |= {"slots": found, "shares": shares, "own": own}
    arrays |= {"agreement": aligned.agreement.astype(np.float32), "kept": aligned.kept.astype(np.float32)}
    return binary_reply({"revision": snapshot.revision, **told}, arrays)
