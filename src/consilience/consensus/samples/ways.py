"""How many truly different groupings many clusterings show, each at whatever fineness.

**What is said.** Described by a partition C, the labels s of a clustering cost

    L(s | C) = Σ_c [ log Γ(n_c + k) − log Γ(k) − Σ_j log Γ(T_cj + 1) ]   nats,

the exact code that holds every table of C with s equally likely (k labels, n_c objects in cluster c, T_cj of them with label j). C says
of s as many nats as that is shorter than s described alone. What is coarser than C is said nearly whole; what is finer, as far as C goes.

**One rule.** A clustering belongs to the way whose consensus says most of it, and to none if none says anything. A way stands if without
it half or more of what is said of its clusterings is lost: no other way says it. That decides both who belongs and how many there are.

**The search** begins with branches of the tree of clusterings: those are divided as long as the consensuses of both parts share less than
half of what the coarser one says (`shared_information`: chance is 0, a refinement 1) and neither part holds less than 8 % of the
clusterings, and stay if those of their own two halves share half or more. Of the ways that are not needed, the one without which least
is lost goes, until all are; each consensus is then found anew, at the stable number of clusters of those who belong, and so on until
nobody moves. Where nothing is firm there is no way.

Why not take the number that describes everything shortest? Runs of k-means are no independent witnesses: every local optimum that
occurs twice pays for itself, and wine would have dozens of ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from scipy.special import gammaln

from consilience import _kernels
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.choose import combine_auto
from consilience.consensus.how_many.stability import FEWEST, find_stable
from consilience.consensus.rows.problem import Problem, check_problem, sample_evenly
from consilience.consensus.rows.row_tree import narrowed
from consilience.ensemble import Ensemble
from consilience.measures.chance import shared_information

HALF = 0.5  # of what is said, from which two groups of clusterings say the same
RARE = 0.08  # share of the clusterings below which a branch is no way
OBJECTS = 1000  # safeguard: time; that ways are told apart on
CLUSTERS = 600  # safeguard: time; clusters, of all clusterings together, that a consensus is made of
ROUNDS = 5  # safeguard: time; in which clusterings change ways


@dataclass(frozen=True, eq=False)
class Lengths:
    """What it takes to describe each of some clusterings, given a partition of their objects."""

    columns: Labels  # (clusterings, objects), −1 missing
    weights: Array | None = None

    @cached_property
    def offsets(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.columns.max(axis=1, initial=-1).astype(np.int64) + 1)])

    def given(self, labels: Labels) -> Floats:
        """(clusterings,) nats; objects that either leaves out cost nothing."""
        k = int(labels.max(initial=-1)) + 1
        table = _kernels.label_tables(self.columns, self.offsets, labels.astype(np.int32), k, weights=self.weights)
        sizes = np.diff(self.offsets)
        inside = np.add.reduceat(np.vstack([table, np.zeros((1, k))]), self.offsets[:-1]) * (sizes > 0)[:, None]
        cells = np.add.reduceat(np.append(gammaln(table + 1.0).sum(axis=1), 0.0), self.offsets[:-1]) * (sizes > 0)
        kinds = np.maximum(sizes, 1)[:, None]
        return np.asarray((gammaln(inside + kinds) - gammaln(kinds)).sum(axis=1) - cells)

    @cached_property
    def alone(self) -> Floats:
        return self.given(np.zeros(self.columns.shape[1], np.int32))


def find_ways(clusterings: Ensemble | Problem, tree: Floats) -> list[Ints]:
    """The clusterings of every way, the largest first, by the tree of their distances; of a problem in canonical order."""
    search = _Search(clusterings, tree)
    members = sorted(search.pieces(2 * len(tree)), key=lambda some: (-len(some), some[0]))
    for _ in range(ROUNDS):
        kept, belongs = search.needed(members)
        before, members = members, [np.flatnonzero(belongs == i) for i in kept]
        if len(members) == len(before) and all(map(np.array_equal, members, before)):
            break
    return sorted(members, key=lambda some: (-len(some), some[0]))


class _Search:
    def __init__(self, clusterings: Ensemble | Problem, tree: Floats) -> None:
        problem = clusterings if isinstance(clusterings, Problem) else check_problem(clusterings)
        rows = np.repeat(np.arange(problem.n_rows), problem.weights.astype(int))
        if len(rows) > OBJECTS:
            rows = sample_evenly(problem, OBJECTS)
        self.tree, self.m = tree, len(tree) + 1
        columns = np.arange(self.m) if problem is clusterings or problem.given is None else problem.given.columns
        self.place = np.argsort(columns)  # of every clustering in the canonical order, which is that of chance
        self.labels = np.full((self.m, len(rows)), -1, np.int32)
        self.labels[columns] = problem.labels[rows].T
        self.least = max(2, int(np.ceil(RARE * self.m)))
        self.known: dict[bytes, Labels] = {}
        self.firm: dict[bytes, float] = {}
        self.lengths = Lengths(np.ascontiguousarray(_without_gaps(self.labels)))

    def consensus(self, members: Ints) -> Labels:
        """What some clusterings say together, of the objects looked at, at their own stable number of clusters."""
        key = members.tobytes()
        if key not in self.known:
            part = Ensemble.from_codes(np.ascontiguousarray(self.lengths.columns[members].T))
            problem = narrowed(check_problem(part), CLUSTERS)
            if len(members) >= FEWEST:
                problem = problem.with_clusters(find_stable(problem).ranked[0])
            labels = combine_auto(problem, {"random_state": 0, "n_jobs": None}).labels
            self.known[key] = np.asarray(problem.to_objects(labels, -1), np.int32)
        return self.known[key]

    def firmness(self, members: Ints) -> float:
        """How much the two halves of some clusterings share."""
        key = members.tobytes()
        if key not in self.firm:
            order = members[np.argsort(self.place[members])]
            self.firm[key] = self.shared(np.sort(order[::2]), np.sort(order[1::2]))
        return self.firm[key]

    def shared(self, one: Ints, other: Ints) -> float:
        return shared_information(self.consensus(one), self.consensus(other))

    def branch(self, node: int) -> Ints:
        below, leaves = [node], []  # not by recursion: single linkage makes branches as deep as there are clusterings
        while below:
            if (one := below.pop()) < self.m:
                leaves.append(one)
            else:
                below += self.tree[one - self.m, :2].astype(int).tolist()
        return np.sort(leaves)

    def pieces(self, node: int) -> list[Ints]:
        """A branch, divided as long as its parts differ and are common; of it the whole, or what is left without rare parts, if firm."""
        passed = [self.branch(node)]
        while len(passed[-1]) > 1:
            both = {child: self.branch(child) for child in self.tree[node - self.m, :2].astype(int).tolist()}
            parts = sorted(both, key=lambda child: len(both[child]))
            few, many = (both[child] for child in parts)
            if len(few) >= self.least:
                if self.shared(few, many) < HALF and (found := [some for part in parts for some in self.pieces(part)]):
                    return found
                break
            if len(many) < self.least:
                break
            node = parts[1]
            passed.append(many)
        return list(islice((some for some in passed if self.firmness(some) >= HALF), 1))

    def needed(self, ways: list[Ints]) -> tuple[list[int], Ints]:
        """The ways without which their clusterings lose half of what is said of them, or more; and the way of each clustering, or −1."""
        said = np.array([self.lengths.alone - self.lengths.given(self.consensus(some)) for some in ways])
        kept = list(range(len(ways)))
        while kept:
            own, belongs = said[kept].max(axis=0), np.array(kept)[said[kept].argmax(axis=0)]
            belongs[own <= 0] = -1
            lost = {}  # of those that are not needed
            for i in kept:
                mine = belongs == i
                others = said[[j for j in kept if j != i]][:, mine].max(axis=0, initial=0.0).sum()
                if others > HALF * own[mine].sum() or mine.sum() < 2:
                    lost[i] = own[mine].sum() - others
            if not lost:
                return kept, belongs
            kept.remove(min(lost, key=lambda i: lost[i]))
        return [], np.full(self.m, -1)


def _without_gaps(columns: Labels) -> Labels:
    """The same clusters, numbered 0 … k − 1 among the objects looked at."""
    present = [np.bincount(row + 1, minlength=2)[1:] > 0 for row in columns]
    return np.array([np.append(np.cumsum(p) - 1, -1)[row] for p, row in zip(present, columns, strict=True)], np.int32)
