"""Clusterings side by side: two in a table, several in a flow, and a consensus at several numbers of clusters."""

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, permutations
from math import ceil
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform

from consilience import _kernels
from consilience._types import Floats, Labels
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.checks import ref_text, whole
from consilience.explorer.jobs import Job
from consilience.explorer.replies import RefusedError, Reply, binary_reply
from consilience.explorer.snapshot import DisplayedClustering, Ref, Snapshot, alike, encoded_codes
from consilience.measures import adjusted_rand, cluster_difference, jaccard, nmi, variation_of_information

MEASURES = (cluster_difference, nmi, adjusted_rand, jaccard, variation_of_information)
COMPARED_CELLS = 1_000_000  # safeguard: of a table that a browser can still hold
MOVED = 200  # safeguard: objects that are listed; the page names their number


@kept
def compare(call: Call) -> Reply:
    one, other = call.clustering(0), call.clustering(1)
    shape = one.clusters, other.clusters
    if shape[0] * shape[1] > COMPARED_CELLS:
        raise RefusedError(400, f"{shape[0]:,} clusters beside {shape[1]:,} are too many for a table")
    there, here = one.codes >= 0, other.codes >= 0
    both = there & here
    table = _kernels.contingency(one.codes, other.codes, shape)
    matched = np.column_stack(linear_sum_assignment(table, maximize=True))
    matched = matched[table[tuple(matched.T)] > 0]
    partner = np.full(shape[0] + 1, -2)
    partner[matched[:, 0]] = matched[:, 1]
    moved = np.flatnonzero(both & (partner[one.codes] != other.codes))
    name_of = call.session.name_of
    return call.reply(
        a=str(one.ref),
        b=str(other.ref),
        clusters=shape,
        names=(one.names, other.names),
        table=table,
        only_a=np.count_nonzero(there & ~here),
        only_b=np.count_nonzero(here & ~there),
        matched=matched,
        n_moved=len(moved),
        moved=[{"index": i, "id": name_of(i), "from": one.codes[i], "to": other.codes[i]} for i in moved[:MOVED]],
        measures={f.__name__: f(one.codes, other.codes) if both.any() else None for f in MEASURES},
    )


# How objects flow between the clusters of several clusterings, side by side, and the order in which those are alike.

FEWEST_COLUMNS, MOST_COLUMNS = 2, 8  # safeguard: clusterings that fit side by side; all their orders are tried
FLOW_CELLS = 250_000  # safeguard: of all tables together, which a browser can still draw


def flow_reply(revision: int, columns: Sequence[DisplayedClustering], **more: Any) -> Reply:
    """The columns, the table of every two neighbors, and the labels of all; a table's last row and column are of missing labels."""
    cells = sum((a.clusters + 1) * (b.clusters + 1) for a, b in pairwise(columns))
    if cells > FLOW_CELLS:
        raise RefusedError(400, f"these clusterings have too many clusters for a flow: {cells:,} pairs of neighbors")
    places = [np.where(one.codes < 0, one.clusters, one.codes) for one in columns]
    sizes = [np.bincount(place, minlength=one.clusters + 1) for place, one in zip(places, columns, strict=True)]
    told = [
        {"ref": str(one.ref), "clusters": one.clusters, "names": one.names, "sizes": n[:-1], "n_missing": n[-1]}
        for one, n in zip(columns, sizes, strict=True)
    ]
    both = zip(pairwise(places), pairwise(sizes), strict=True)
    tables = [_kernels.contingency(*neighbors, (len(n), len(m))) for neighbors, (n, m) in both]
    labels = np.stack(alike([one.encoded for one in columns]))
    return binary_reply({"revision": revision, "columns": told, "tables": tables, **more}, {"labels": labels})


def arranged(columns: Sequence[DisplayedClustering]) -> list[int]:
    """The order in which neighbors are most alike: the shortest way through all by variation of information, the coarser end first."""
    n = len(columns)
    far = squareform([_distance(a.codes, b.codes) for a, b in combinations(columns, 2)])
    ways = np.array([way for way in permutations(range(n)) if way[0] <= way[-1]])
    best = ways[far[ways[:, :-1], ways[:, 1:]].sum(axis=1).round(9).argmin()].tolist()
    ends = columns[best[0]].clusters, columns[best[-1]].clusters
    return best[::-1] if ends[0] > ends[1] else best


def _distance(a: Labels, b: Labels) -> float:
    both = (a >= 0) & (b >= 0)
    return float(variation_of_information(a, b)) if both.any() else float(np.log(max(2, len(a))))


def numbers_of(median: int, most: int, n_rows: int) -> list[int]:
    """At most eight numbers of clusters from 2 to `most`, each about as much larger than the one before; the median is one of them."""
    most = max(2, min(most, n_rows))
    numbers = sorted({int(k) for k in np.round(np.geomspace(2, most, MOST_COLUMNS))})
    if len(numbers) < MOST_COLUMNS:
        numbers = list(range(2, most + 1))[:MOST_COLUMNS] if most <= MOST_COLUMNS + 1 else numbers
    if 2 < median < most and median not in numbers:
        nearest: Floats = np.abs(np.log(np.array(numbers[1:-1]) / median))
        numbers[1 + int(nearest.argmin())] = median
    return numbers


# Several clusterings side by side: which clusters flow into which, in an order of one's own or by likeness.

FLOW_KEYS: dict[str, Any] = {"arrange": (whole(0, 1), 0)}


def flow(call: Call) -> Reply:
    arrange = call.asked(FLOW_KEYS)["arrange"]
    texts = call.parts[0].split(",")
    if not FEWEST_COLUMNS <= len(texts) <= MOST_COLUMNS:
        raise RefusedError(400, f"a flow is of {FEWEST_COLUMNS} to {MOST_COLUMNS} clusterings")
    if len(set(texts)) < len(texts):
        raise RefusedError(400, "a flow has every clustering once")

    def make() -> Reply:
        columns = [call.snapshot.displayed(call.snapshot.ref(text), call.step) for text in texts]
        if arrange:
            columns = [columns[at] for at in arranged(columns)]
        return flow_reply(call.snapshot.revision, columns)

    return call.snapshot.cache.get(("flow", arrange, *texts), make)


# The consensus of a branch at several numbers of clusters, coarse to fine; one that takes long is made by a job.

FINEST = 60  # safeguard: clusters; more ribbons cannot be told apart
SLOW_SCALES = 30_000_000  # safeguard: labels of a branch from which a job makes them, in more than a second
_most = whole(3, FINEST)
SCALES_KEYS: dict[str, Any] = {"ref": (ref_text, ...), "most": (_most, None)}


def scales(call: Call) -> Reply:
    """The flow from the fewest clusters to the most; made at the first asking."""
    asked = call.asked({"most": SCALES_KEYS["most"]})
    return _scales(call.snapshot, _branch(call.snapshot, call.parts[0]), asked["most"], call.step)


def start_scales(call: Call, ref: str, most: int | None) -> Job:
    """Start a job that makes them; then they are there for those who ask."""
    branch = _branch(call.snapshot, ref)
    group = call.snapshot.group(call.snapshot.members(branch))
    total = (most or FINEST) + (len(group.blocks()) if group.is_sampled else 0)

    def work(job: Job) -> dict[str, Any]:
        _scales(call.snapshot, branch, most, job.advance)
        job.done = total
        return {"scales": str(branch)}

    return call.jobs.start("scales", total, work)


def _branch(snapshot: Snapshot, text: str) -> Ref:
    ref = snapshot.ref(text)._replace(kind="c", k=0)
    if not ref.m or ref.node < ref.m:
        raise RefusedError(400, "numbers of clusters are chosen for a branch of at least two clusterings")
    return ref


def _scales(snapshot: Snapshot, ref: Ref, most: int | None, step: Callable[[], None]) -> Reply:
    def make() -> Reply:
        members = snapshot.members(ref)
        median = max(2, int(np.median(snapshot.meta.ensemble.n_clusters[members])))
        finest = most or min(FINEST, max(6, ceil(1.5 * median)))
        numbers = numbers_of(median, finest, snapshot.distinct_rows(ref))
        found = snapshot.group(members, step).answers([*numbers])
        columns = [
            DisplayedClustering(ref._replace(k=k), codes, encoded_codes(codes), None, len(members))
            for k, codes in zip(numbers, found, strict=True)
        ]
        return flow_reply(snapshot.revision, columns, ref=str(ref), usual=median, most=finest, size=len(members))

    return snapshot.cache.get(("flow of scales", ref.m, ref.node, most), make)
