"""An answer with more clusterings, or more objects, without starting again; docs/consensus.md says what is then as from scratch."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience import _kernels
from consilience._check import InputError, count, show
from consilience._types import Array, EnsembleLike, Floats, Ints
from consilience.consensus.left_out import worth_combining
from consilience.consensus.result import Consensus
from consilience.consensus.rows.placement import Placement, by_support
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.trust.clusters_and_members import cluster_table, families_of, member_table
from consilience.consensus.trust.confidence import average_nmi, label_owners
from consilience.ensemble import Ensemble
from consilience.inputs import as_ensemble

ROUNDS = 10  # safeguard: of counting votes again; two or three are enough


def update(previous: Consensus, ensemble: EnsembleLike) -> Consensus:
    """An answer with more clusterings, or more objects, without starting again.

    Parameters
    ----------
    previous : Consensus
        What :func:`consilience.combine` returned, or what was saved of it; or an answer that was updated before.
    ensemble : Ensemble, or what one is made from
        All clusterings of the answer, by their names, and more; all of its objects, by their ids, and more (the first ones, where there
        are no ids).

    Returns
    -------
    Consensus
        With as many clusters, under their old numbers, so that they may no longer be in the order of their sizes. `membership` are
        shares of votes; `curve`, `scales` and what belongs to them are not there.

    Notes
    -----
    Cost O(objects · clusterings), a few times: for 10 clusterings more than 1,000, of 5,000 objects, a thirtieth of combining them anew.
    Weights of objects count for nothing here.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import noisy_labels
    >>> ens, known = noisy_labels(300, 4, 110, 0.2, random_state=0)
    >>> found = cs.consensus.update(cs.combine(ens[:, :100], 4), ens)
    >>> found.n_clusters, len(found.names), cs.measures.adjusted_rand(found.labels, cs.combine(ens, 4).labels) > 0.99
    (4, 110, True)
    """
    start, ens = time.perf_counter(), as_ensemble(ensemble)
    if not previous.names:
        raise InputError("the answer does not know its clusterings: combine them anew, once, and save that")
    ens, _, left = worth_combining(ens, keep_all=np.isin(ens.names, previous.names))
    columns, rows = _old_clusterings(previous, ens), _old_objects(previous, ens)
    new = np.setdiff1d(np.arange(ens.n_clusterings), columns)
    labels = np.full(ens.n_objects, -1)
    labels[rows] = previous.labels
    old_votes = _Votes.of(ens, columns, labels, previous.n_clusters)
    _check_same(previous, old_votes, rows)
    labels, votes, moved = _settle(ens, columns, new, labels, previous.n_clusters)
    placed = np.flatnonzero((labels < 0) & (ens.labels >= 0).any(axis=1))
    if placed.size:
        known, labels = labels >= 0, labels.copy()
        placement = Placement.of(Ensemble.from_codes(ens.labels[known]), labels[known])
        labels[placed] = placement.places(ens.labels[placed])[0]
        votes = _votes(ens, columns, new, labels, previous.n_clusters)
    both = _Votes(votes[0].counts + votes[1].counts, [*votes[0].tables, *votes[1].tables])
    support = both.support(labels)
    confidence = _confidence(previous, support, rows, labels[rows] == previous.labels)
    confidence[labels < 0] = 0.0
    membership = both.counts / np.maximum(both.counts.sum(axis=1, keepdims=True), 1)
    return Consensus(
        labels=labels,
        confidence=confidence,
        support=support,
        membership=membership,
        n_clusters=previous.n_clusters,
        method=previous.method,
        anmi=average_nmi(both.tables),
        ids=ens.ids,
        clusters=lambda: cluster_table(check_problem(ens), labels, confidence, support),
        members=lambda: member_table(check_problem(ens), labels, ens.names),
        families=lambda: families_of(check_problem(ens)),  # type: ignore[arg-type]
        names=ens.names,
        left_out=left,
        note=_note(previous, ens, votes, moved, len(placed)),
        source=previous.source,
        seconds=time.perf_counter() - start,
    )


@dataclass(frozen=True, eq=False)
class _Votes:
    """What some clusterings say of the objects: counts (n_objects, k), and labels × clusters of every clustering that has labels."""

    counts: Array
    tables: list[Floats]  # (k, k_q)

    @classmethod
    def of(cls, ens: Ensemble, columns: Ints, labels: Ints, k: int) -> _Votes:
        some = np.ascontiguousarray(ens.labels.T[columns])
        if not len(some):
            return cls(np.zeros((ens.n_objects, k), np.int64), [])
        offsets = np.concatenate([[0], np.cumsum(some.max(axis=1).astype(np.int64) + 1)])
        table = _kernels.label_tables(some, offsets, labels.astype(np.int32), k).astype(float)
        counts = _kernels.label_votes(some, offsets, label_owners(table), k)
        return cls(counts.astype(np.int64), [part.T for part in np.split(table, offsets[1:-1]) if part.any()])

    def support(self, labels: Ints) -> Floats:
        own = self.counts[np.arange(len(labels)), labels]
        return np.where(labels >= 0, own / np.maximum(self.counts.sum(axis=1), 1), 0.0)


def _votes(ens: Ensemble, old: Ints, new: Ints, labels: Ints, k: int) -> tuple[_Votes, _Votes]:
    return _Votes.of(ens, old, labels, k), _Votes.of(ens, new, labels, k)


def _settle(ens: Ensemble, old: Ints, new: Ints, labels: Ints, k: int) -> tuple[Ints, tuple[_Votes, _Votes], int]:
    """Move objects until none moves or a cluster would be left empty; and how many have moved."""
    first, everyone = labels, np.arange(len(labels))
    for _ in range(ROUNDS):
        votes = _votes(ens, old, new, labels, k)
        total, latest = votes[0].counts + votes[1].counts, votes[1].counts
        best = total.argmax(axis=1)
        better = (labels >= 0) & (total[everyone, best] > total[everyone, labels])
        better &= latest[everyone, best] > latest[everyone, labels]
        moved = np.where(better, best, labels)
        if not better.any() or (np.bincount(moved[moved >= 0], minlength=k) == 0).any():
            break
        labels = moved
    else:
        votes = _votes(ens, old, new, labels, k)
    return labels, votes, int((labels != first).sum())


def _confidence(previous: Consensus, support: Floats, rows: Ints, stayed: Array) -> Floats:
    """Of objects that are where they were, the old one and what its change of support means; of others, what their support means."""
    supports, confidences = by_support(previous)
    found = np.interp(support, supports, confidences)
    shift = found[rows] - np.interp(previous.support, supports, confidences)
    kept = stayed & (previous.labels >= 0)
    found[rows[kept]] = np.clip(previous.confidence + shift, 0, 1)[kept]
    return found


def _old_clusterings(previous: Consensus, ens: Ensemble) -> Ints:
    names = ens.names
    if len(set(names)) < len(names) or len(set(previous.names)) < len(previous.names):
        columns = np.arange(len(previous.names))  # names that do not tell them apart: the first ones
        if names[: len(columns)] != previous.names:
            raise InputError(
                "clusterings of one name must stand first, as in the answer: keep their order or name them"
            )
        return columns
    return _positions(names, previous.names, "clustering", " and the new ones, or combine anew")


def _old_objects(previous: Consensus, ens: Ensemble) -> Ints:
    n = len(previous.labels)
    if previous.ids is not None and ens.ids is not None:
        return _positions(ens.ids, previous.ids, "object")
    if ens.n_objects < n:
        raise InputError(f"the answer has {count(n, 'object')}, and the clusterings {ens.n_objects:,}: give them all")
    return np.arange(n)


def _positions(names: Any, wanted: Any, what: str, more: str = "") -> Ints:
    found = pd.Index([str(name) for name in names]).get_indexer([str(name) for name in wanted])
    if (lost := np.flatnonzero(found < 0)).size:
        gone = f"{count(lost.size, what)} of the answer are not there, such as {show(wanted[lost[0]])}"
        raise InputError(f"{gone}: give all of them{more}")
    return np.asarray(found)


def _check_same(previous: Consensus, votes: _Votes, rows: Ints, *, most: float = 0.02) -> None:
    """Refuse clusterings that are not those the answer was made of: supports differ by more than `most`, on average."""
    found = _Votes(votes.counts[rows], []).support(previous.labels)
    if float(np.abs(found - previous.support).mean()) > most:
        raise InputError(
            "the clusterings do not support the answer as they did: they, or the order of the objects, are not the same; combine anew"
        )


def _note(previous: Consensus, ens: Ensemble, votes: tuple[_Votes, _Votes], moved: int, placed: int) -> str:
    """What was done, and whether the new clusterings agree less than eight tenths of what the old ones do."""
    made = f"updated from {count(len(previous.names), 'clustering')} to {ens.n_clusterings:,}"
    parts = [f"{made}: {count(moved, 'object')} moved" + (f", {placed:,} new ones placed" if placed else "")]
    if votes[1].tables:
        old, new = average_nmi(votes[0].tables), average_nmi(votes[1].tables)
        parts.append(f"the new clusterings agree with the answer with ANMI {new:.2f}, the old ones with {old:.2f}")
        if new < 0.8 * old:
            parts[-1] += ", so they say something else: combine anew"
    if empty := ens.n_clusterings - len(previous.names) - len(votes[1].tables):
        parts.append(f"{count(empty, 'new clustering')} without labels")
    before = previous.note.split("; updated from")[0]
    return "; ".join([*([before] if before and not before.startswith("updated from") else []), *parts])
