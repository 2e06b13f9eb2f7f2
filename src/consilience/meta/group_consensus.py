"""What a group of clusterings says together: the answer of :func:`consilience.combine`, quick enough to be shown while one waits.

Up to half a million labels of two thousand clusters, that answer is computed. Beyond, the same method combines 2,000 of the objects by as
many of the clusterings as have 1,000 clusters together, and every other object is placed by the labels that *all* clusterings have for it
(:mod:`consilience.consensus.rows.placement`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience import _kernels
from consilience._check import InputError, count
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.choose import combine_auto
from consilience.consensus.left_out import left_out, members_of_runs
from consilience.consensus.rows.placement import Placement, sample_objects
from consilience.consensus.rows.problem import Problem, by_size, check_problem
from consilience.consensus.rows.row_tree import narrowed
from consilience.consensus.trust.clusters_and_members import reliability_of
from consilience.consensus.trust.confidence import Assessment, label_owners
from consilience.ensemble import Ensemble

# A person waits for the answer: these keep it below about a second.
EXACT_LABELS = 500_000  # safeguard: for time, objects × clusterings up to which nothing is sampled
EXACT_CLUSTERS = 2000  # safeguard: for time, clusters of all clusterings up to which nothing is sampled
SAMPLE = 2000  # safeguard: for time, objects that are combined where they are more
SAMPLE_CLUSTERS = 1000  # safeguard: for time, clusters of the clusterings that they are combined by
BLOCK = 8192  # safeguard: objects placed at a time, so that the work can be given up within a tenth of a second

Columns = Callable[[Any], Array]


@dataclass(frozen=True)
class GroupLabels:
    # Of a slice or an array of objects the labels, clusterings × objects: int32 with −1 missing, or as `encode_codes` makes them, with
    # the largest value missing.
    columns: Columns
    n_objects: int
    n_clusters: Ints
    missing: bool = True
    threads: int = 1
    step: Callable[[], None] = lambda: None  # called between blocks of objects; may raise to end the work

    @classmethod
    def of(cls, ensemble: Ensemble) -> GroupLabels:
        columns = np.ascontiguousarray(ensemble.labels.T)
        return cls(lambda some: columns[:, some], ensemble.n_objects, ensemble.n_clusters, ensemble.has_missing)

    @property
    def is_sampled(self) -> bool:
        n_labels, n_clusters = self.n_objects * len(self.n_clusters), int(self.n_clusters.sum())
        return self.n_objects > SAMPLE and (n_labels > EXACT_LABELS or n_clusters > EXACT_CLUSTERS)

    @property
    def sample(self) -> Ints:
        return sample_objects(self.n_objects, SAMPLE) if self.is_sampled else np.arange(self.n_objects)

    @property
    def note(self) -> str:
        """How the answer was found, where it is not the one of all labels; else empty."""
        if not self.is_sampled:
            return ""
        return f"{SAMPLE:,} of {count(self.n_objects, 'object')} were combined, the others placed by their labels"

    def blocks(self) -> list[slice]:
        return [slice(begin, min(begin + BLOCK, self.n_objects)) for begin in range(0, self.n_objects, BLOCK)]

    def answers(self, numbers: list[int | None]) -> list[Labels]:
        """The consensus at several numbers of clusters, None being the median: clusters by falling size, −1 without labels."""
        columns = self.columns(self.sample)
        labels = np.where(columns == _none(columns), np.int32(-1), columns.astype(np.int32))
        sample = Ensemble.from_codes(np.ascontiguousarray(labels.T))
        problem = check_problem(sample)
        if self.is_sampled:
            problem = narrowed(problem, SAMPLE_CLUSTERS)
        found = []
        for k in numbers:
            self.step()
            labels = combine_auto(self._with_clusters(problem, k), {"random_state": 0, "n_jobs": None}).labels
            found.append(problem.to_objects(labels, -1))
        if self.is_sampled:
            return self._place(sample, found)
        return [labels.astype(np.int32) for labels in found]

    def _with_clusters(self, problem: Problem, k: int | None) -> Problem:
        if not self.is_sampled:
            return problem.with_clusters(k)
        if k is not None and k > problem.n_rows:
            raise InputError(
                f"{k} clusters cannot be told apart: the {SAMPLE:,} objects that are combined have only "
                f"{count(problem.n_rows, 'distinct row')} of labels; ask for fewer clusters"
            )
        return problem.with_clusters(min(max(2, int(np.median(self.n_clusters))), problem.n_rows) if k is None else k)

    def _place(self, sample: Ensemble, found: list[Ints]) -> list[Labels]:
        rules = [Placement.of(sample, labels, self.n_clusters) for labels in found]
        codes = np.full((len(found), self.n_objects), -1, np.int32)
        for block in self.blocks():
            self.step()
            columns = self.columns(block)
            there = ~(columns == _none(columns)).all(axis=0) if self.missing else True
            for labels, rule in zip(codes, rules, strict=True):
                labels[block] = np.where(there, rule.places_of_columns(columns, self.threads), -1)
        codes[:, self.sample] = found  # so that no cluster of the answer is left empty
        return [_numbered(labels) for labels in codes]

    def support(self, labels: Labels) -> Floats:
        """Share of the clusterings whose label for an object is, by plurality, a label of its cluster."""
        k, offsets = int(labels.max()) + 1, np.concatenate([[0], np.cumsum(self.n_clusters)])
        table, support = np.zeros((int(offsets[-1]), k), np.int64), np.empty(self.n_objects)
        for block in self.blocks():
            self.step()
            table += _kernels.label_tables(self.columns(block), offsets, labels[block], k, threads=self.threads)
        owners = label_owners(table)
        for block in self.blocks():
            self.step()
            votes = _kernels.label_votes(self.columns(block), offsets, owners, k, threads=self.threads)
            own = votes[np.arange(len(votes)), np.maximum(labels[block], 0)]
            support[block] = own / np.maximum(votes.sum(axis=1), 1)
        return support


def quick_labels(ensemble: Ensemble, n_clusters: int | None = None) -> Labels:
    """What the explorer shows of the consensus of some clusterings: the labels of :func:`combine`, or nearly so where they are many."""
    members, _ = combined_members(ensemble, np.arange(ensemble.n_clusterings))
    return GroupLabels.of(ensemble[:, members]).answers([n_clusters])[0]


def combined_members(ensemble: Ensemble, members: Ints) -> tuple[Ints, str]:
    """Those of some clusterings that :func:`combine` does not leave out, and which it does, in words."""
    if members_of_runs(ensemble)[members].all():
        return members, ""
    some = ensemble[:, members]
    some = some[GroupLabels.of(some).sample]
    out, said = left_out(some, check_problem(some))
    return members[~out], said


def group_confidence(ensemble: Ensemble, labels: Labels) -> Floats:
    """Probability that an independent group of the kind puts each object where it is; 0 without labels."""
    problem = check_problem(ensemble)
    return np.asarray(problem.to_objects(Assessment(problem, labels[problem.first]).confidence, 0.0))


def group_reliability(ensemble: Ensemble, labels: Labels) -> pd.DataFrame:
    """Of every member of a group, its `reliability`, and whether it is `better_without` it; see `Consensus.members`."""
    reliability, without = reliability_of(check_problem(ensemble), labels)
    return pd.DataFrame({"reliability": reliability, "better_without": without})


def _none(columns: Array) -> int:
    return -1 if columns.dtype.kind == "i" else int(np.iinfo(columns.dtype).max)


def _numbered(labels: Labels) -> Labels:
    has, k = labels >= 0, int(labels.max()) + 1
    place = np.argsort(by_size(labels[has], np.ones(int(has.sum())), k))
    return np.where(has, place[labels], -1).astype(np.int32)
