"""How many clusters, by voices: kinds of clustering that fail differently are asked at every number.

Two partitions into k clusters are **the same** if every cluster of either has a Jaccard index of at least .88 with one of the other, on the
objects that both label. A partition P of all objects has a voice of every other kind that has the same; one if a kind that has it finds the
same in two halves of the objects; and one of each kind whose own number is k:

    voices(k) = max_P ( #{kinds Q ≠ kind of P: min over clusters J(P, Q) ≥ .88} + [P is found again in halves] ) + #{kinds whose own is k}

The answer is the finest number with three voices; without such, the one with the most voices, then the nearest partitions, then the fewest
clusters. The consensus of the members at every number is one of the kinds, and gives the labels.

**Doubt** is told by voices alone: three may agree by chance, four hardly ever do. **Trust** in the number is 1 − 2^−(voices − 2): every
voice after the second halves the chance of a coincidence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Floats, Ints, Labels
from consilience.consensus.how_many.stability import cuts
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import LEAVES, narrowed, row_tree
from consilience.ensemble import Ensemble
from consilience.generation.kinds import TREES, Halves

Partition: TypeAlias = tuple[str, str, Labels]  # kind, scaling, clusters of the objects

SAME = 0.88  # Jaccard index from which clusters are the same one
ENOUGH, FIRM = 3, 4  # voices of an answer, and of one without a doubt
LABELED = 0.3  # share of the objects that a kind with noise must label to be compared with others
CONSENSUS = "consensus"  # the members' own kind


@dataclass(frozen=True, eq=False)
class Voices:
    """What kinds say of every number of clusters."""

    # `n_clusters`, `voices`, `nearest` (the least Jaccard index of the two partitions that are most alike) and `kinds`, those that speak
    table: pd.DataFrame
    n_clusters: int  # the answer

    @property
    def voices(self) -> int:
        return int(self.table.set_index("n_clusters").loc[self.n_clusters, "voices"])

    @property
    def trust(self) -> float:
        return float(1 - 0.5 ** max(self.voices - ENOUGH + 1, 0))

    @property
    def doubt(self) -> str:
        """Why the number may be wrong; empty where four voices speak for it."""
        if self.voices >= FIRM:
            return ""
        if self.voices < ENOUGH:
            return "too few kinds of clustering find the same clusters at any number: there may be none"
        said = f"only {count(self.voices, 'voice')} speak for {count(self.n_clusters, 'cluster')}"
        most = self.table.loc[self.table["voices"].idxmax()]
        return f"{said}, and {most['voices']} for {most['n_clusters']}" if most["voices"] > self.voices else said

    @property
    def note(self) -> str:
        said, speak = (
            f"{count(self.n_clusters, 'cluster')} by {count(self.voices, 'voice')}",
            self.others["kinds"].iloc[0],
        )
        return f"{said}: {speak}" if speak else said

    @property
    def others(self) -> pd.DataFrame:
        """The answer's row, and those of other numbers with three voices, the most voices first; `real` are those with four."""
        table = self.table
        order = np.lexsort((table["n_clusters"], -table["voices"], table["n_clusters"] != self.n_clusters))
        kept = (table["voices"] >= ENOUGH) | (table["n_clusters"] == self.n_clusters)
        found = table.iloc[[i for i in order if kept.iloc[i]]].reset_index(drop=True)
        return found.assign(real=found["voices"] >= FIRM)


def consensus_at(problem: Problem, numbers: Ints) -> dict[int, Labels]:
    """The members' consensus of at most 3,000 rows at several numbers of clusters, all cut from one tree."""
    problem = narrowed(problem)
    tree = row_tree(problem, LEAVES)
    numbers = numbers[numbers <= problem.n_rows]
    alike = tree.similarity.of_rows(problem.labels[tree.leaves], tree.weights)
    found = cuts(tree.linkage, alike, tree.weights, numbers)
    return {int(k): problem.to_objects(labels, -1) for k, labels in zip(numbers, found, strict=True)}


def find_voices(kinds: Ensemble, consensus: Mapping[int, Labels], halves: Halves) -> Voices:
    """Ask `kinds` (with `method`, `scaling`, `n_clusters` and `own` in their info) and the members' consensus at every number."""
    at: dict[int, list[Partition]] = {k: [(CONSENSUS, "", labels)] for k, labels in consensus.items()}
    own: dict[int, set[str]] = {}
    for labels, info in zip(kinds.labels.T, kinds.info.itertuples(), strict=True):
        if info.own:
            own.setdefault(int(info.n_clusters), set()).add(info.method)
        if info.method != "mixture" and (labels >= 0).mean() >= LABELED:
            at.setdefault(int(info.n_clusters), []).append((info.method, info.scaling, labels))
    rows = []
    asked = kinds.info.loc[
        ~kinds.info["own"], "n_clusters"
    ]  # a kind's own number beyond these has nobody to confirm it
    for k in sorted({int(k) for k in asked if k > 1}):
        nearest, best = _most_voices(at[k])
        numbers = sorted(own.get(k, ()))
        voices = len({kind for kind, *_ in best[0]}) - 1 + len(numbers)
        again = (same for same in best if voices and any(_found_again(halves, *one, k) for one in same))
        same = next(again, [])
        speak = list(dict.fromkeys(kind for kind, *_ in same or best[0]))
        speak = (speak if len(speak) > 1 else []) + ["halves"] * bool(same)
        rows.append((k, voices + bool(same), nearest, ", ".join(speak + [f"{kind} (own number)" for kind in numbers])))
    table = pd.DataFrame(rows, columns=["n_clusters", "voices", "nearest", "kinds"])
    enough = table.loc[table["voices"] >= ENOUGH, "n_clusters"]
    best = table.sort_values(["voices", "nearest", "n_clusters"], ascending=[False, False, True])["n_clusters"].iloc[0]
    return Voices(table, int(enough.max() if len(enough) else best))


def _most_voices(partitions: list[Partition]) -> tuple[float, list[list[Partition]]]:
    """Every partition of all objects that no other one has more voices than, with those that are the same; and the least Jaccard index."""
    values = np.zeros((len(partitions), len(partitions)))
    for i, j in combinations(range(len(partitions)), 2):
        if partitions[i][0] != partitions[j][0]:
            values[i, j] = values[j, i] = likeness(partitions[i][2], partitions[j][2]).min()
    found: list[tuple[int, float, float, list[Partition]]] = []
    for i, (_, _, labels) in enumerate(partitions):
        if labels.min() >= 0:
            near: dict[str, float] = {}  # of several scalings of a kind the better one
            for (kind, *_), value in zip(partitions, values[i], strict=True):
                near[kind] = max(near.get(kind, 0.0), value)
            same = [partitions[i], *(partitions[j] for j in np.flatnonzero(values[i] >= SAME))]
            found.append((sum(value >= SAME for value in near.values()), sum(near.values()), max(near.values()), same))
    found.sort(key=lambda one: one[:2], reverse=True)
    return round(found[0][2], 2), [same for n, _, _, same in found if n == found[0][0]]


def _found_again(halves: Halves, kind: str, scaling: str, labels: Labels, k: int) -> bool:
    if kind not in TREES:
        return False
    found = [likeness(labels[objects], part).min() for objects, part in halves.partitions(kind, scaling, k)]
    return bool(found) and min(found) >= SAME


def likeness(one: Labels, two: Labels) -> Floats:
    """Of every cluster of either partition, the largest Jaccard index with one of the other, on the objects that both label."""
    both = (one >= 0) & (two >= 0)
    overlaps = _overlaps(one[both], two[both])
    return np.concatenate([overlaps.max(axis=1), overlaps.max(axis=0)])


def _overlaps(one: Any, two: Any, k: int = 0) -> Floats:
    """(k, k') Jaccard indices."""
    k, others = max(k, int(one.max(initial=0)) + 1), int(two.max(initial=0)) + 1
    joint = np.bincount(one.astype(np.int64) * others + two, minlength=k * others).reshape(k, others).astype(float)
    return joint / np.maximum(joint.sum(axis=1)[:, None] + joint.sum(axis=0) - joint, 1)


@dataclass(frozen=True, eq=False)
class Agreement:
    """What the kind that is nearest to an answer says of its clusters."""

    kind: str
    share: float  # of the objects that are in the matched clusters
    jaccard: Floats  # (k,) of every cluster and the matched one of that kind

    @property
    def doubt(self) -> str:
        """Why the clusters may be wrong; empty where that kind has them too."""
        if self.jaccard.min() >= SAME:
            return ""
        these, share = count(len(self.jaccard), "cluster"), f"{100 * self.share:.0f} %"
        return f"no other kind of clustering finds these {these} ({self.kind} agrees on {share} of the objects)"


def nearest_kind(labels: Ints, n_clusters: int, kinds: Ensemble) -> Agreement | None:
    """The kind whose partition into as many clusters is nearest to the labels; None where no kind has one."""
    best, known, info = None, labels >= 0, kinds.info
    for other, kind, k, own in zip(kinds.labels.T, info["method"], info["n_clusters"], info["own"], strict=True):
        if k == n_clusters and not own:
            overlaps = _overlaps(labels[known], other[known], n_clusters)
            match = overlaps.argmax(axis=1)
            match[overlaps.argmax(axis=0)[match] != np.arange(len(match))] = -2  # which is another's
            share = float((match[labels[known]] == other[known]).mean())
            if best is None or share > best.share:
                best = Agreement(str(kind), share, overlaps.max(axis=1))
    return best


def confirmed(kinds: Ensemble, n_clusters: int) -> tuple[str, Labels] | None:
    """Two kinds that find the same clusters, of those that label all objects: their names, and the clusters; the nearest two."""
    of_k = kinds.info["n_clusters"].eq(n_clusters) & ~kinds.info["own"]
    partitions = [(kinds.info["method"][j], kinds.labels[:, j]) for j in np.flatnonzero(of_k)]
    pairs = [(likeness(a[1], b[1]).min(), a, b) for a, b in combinations(partitions, 2) if a[0] != b[0]]
    if not pairs:
        return None
    value, (one, labels), (two, _) = max(pairs, key=lambda pair: pair[0])
    return (f"{one} and {two}", labels) if value >= SAME else None
