"""NBCE's variational bounds by row blocks: every block has its rows scored by small tables, and sends sums over its rows.

Starts compete on the sample of the rows by the functions of memory; the passes over all objects are
:func:`consilience.consensus.bayes.variational.repeat`, with the blocks' statistics merged.

**vb**: the probabilities γ of a row's components follow from the tables alone. **cvb** and **cvb2** take a row's own γ of the pass before
out of the tables. Blocks keep nothing, so each pass goes through the tables of all passes before again: exact, and T passes
cost as much as T²/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._types import Floats, Ints, Labels
from consilience.blocks.distinct_rows import Layout
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.running import Workers
from consilience.blocks.survey import Survey, coded_blocks
from consilience.blocks.words import says
from consilience.consensus import NBCE
from consilience.consensus.bayes.bounds import (
    BLOCK,
    compete,
    components_of,
    count_shared,
    likeliest,
    owners_of,
    soft_of,
)
from consilience.consensus.bayes.variational import Block, State, Statistics, harden, merge, renew, repeat, statistics
from consilience.consensus.methods.label_model import LabelRows, by_row
from consilience.consensus.rows.problem import Problem


@dataclass(frozen=True, eq=False)
class Numbering:
    """Labels as the sample's problem has them, so that sums are taken in the order of memory.

    Attributes
    ----------
    columns : (n_columns,) int array
        The clustering of every column; one without a label in the sample has none.
    places : list of int32 arrays
        For every column, the code of each of the clustering's labels, those that the sample lacks behind the others; last, −1.
    offsets : (n_columns + 1,) int array
        Where each column's labels begin.
    """

    columns: Ints
    places: list[Labels]
    offsets: Ints

    @classmethod
    def of(cls, problem: Problem, survey: Survey) -> Numbering:
        """That of the sample's problem."""
        assert problem.given is not None
        places = []
        for q, codes in zip(problem.given.columns, problem.given.codes, strict=True):
            size = int(survey.offsets[q + 1] - survey.offsets[q])
            order = np.concatenate([codes, np.setdiff1d(np.arange(size), codes)])
            places.append(np.append(np.argsort(order), -1).astype(np.int32))
        offsets = np.concatenate([[0], np.cumsum([len(place) - 1 for place in places])])
        return cls(problem.given.columns, places, offsets.astype(np.int64))

    def rows(self, labels: Labels) -> Labels:
        """Rows in the survey's codes, in these."""
        found = np.empty((len(labels), len(self.columns)), np.int32)
        for j, (q, place) in enumerate(zip(self.columns, self.places, strict=True)):
            found[:, j] = place[labels[:, q]]
        return found


@dataclass(frozen=True, eq=False)
class Passes:
    """What blocks need for a pass: the state by which rows begin, and those of the passes since (only the last for "vb")."""

    numbering: Numbering
    begin: State
    states: tuple[State, ...]

    def then(self, state: State) -> Passes:
        """With one more state."""
        before = () if state.kind == "vb" else self.states
        return replace(self, states=(*before, state))

    def soft(self, rows: LabelRows) -> Floats:
        """γ of the rows by a pass under the last state."""
        if self.begin.kind == "vb":
            return renew(Block(rows), self.states[-1])
        soft = harden(likeliest(rows, self.begin), len(self.begin.statistics.sizes))
        for state in self.states:
            soft = renew(Block(rows, soft), state)
        return soft

    def answer(self, rows: LabelRows) -> Floats:
        """γ of the rows where the passes have ended."""
        last = self.states[-1]
        kept = None if last.kind == "vb" else replace(self, states=self.states[:-1]).soft(rows)
        return soft_of(Block(rows, kept), last)


@dataclass(frozen=True, eq=False)
class MixtureRule:
    """A row joins the cluster of its likeliest component.

    Attributes
    ----------
    offsets : (r + 1,) int array
        Where each clustering's labels begin when all are numbered through.
    passes : Passes
    place : (K,) int array
        The cluster of every component, −1 of one that is the likeliest of no row.
    owner : (K, k) array
        The share of every component that each cluster has.
    nobody : (k,) array
        Memberships of a row without labels.
    """

    offsets: Ints
    passes: Passes
    place: Ints
    owner: Floats
    nobody: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of labels and of clusters."""
        return int(self.offsets[-1]), self.owner.shape[1]

    def labels(self, rows: Labels) -> Ints:
        """(n,) clusters; −1 of rows without labels."""
        mine = self.passes.numbering.rows(rows)
        best = by_row(lambda some: self.place[self._soft(some).argmax(axis=1)].astype(float), mine).astype(np.int64)
        return np.where((mine >= 0).any(axis=1), best, -1)

    def membership(self, rows: Labels) -> Floats:
        """(n, k): the probability of each cluster."""
        mine = self.passes.numbering.rows(rows)
        found = by_row(lambda some: self._soft(some) @ self.owner, mine)
        found /= found.sum(axis=1, keepdims=True)
        return np.where((mine >= 0).any(axis=1, keepdims=True), found, self.nobody)

    def _soft(self, rows: Labels) -> Floats:
        return self.passes.answer(LabelRows(rows, np.ones(len(rows)), self.passes.numbering.offsets))

    def keep(self, clusters: Ints) -> MixtureRule:
        """These clusters, all that have objects, numbered anew."""
        place = np.full(self.owner.shape[1] + 1, -1)
        place[clusters] = np.arange(len(clusters))
        return replace(self, place=place[self.place], owner=self.owner[:, clusters], nobody=self.nobody[clusters])


def fit_mixture(
    blocks: LabelBlocks, workers: Workers, survey: Survey, problem: Problem, model: NBCE
) -> tuple[MixtureRule, float, bool]:
    """The rule that a bound has found, the power to which clusterings counted, and whether passes converged.

    `problem` is that of the sample. Labels are read once for the start, once for every pass, and once for what components share.
    """
    model._check()
    numbering, power = Numbering.of(problem, survey), model._find_power(problem)
    method, how = model._bound(power)
    tol, max_iter = how["tol"], how["max_iter"]
    best, whole = compete(problem, numbering.offsets, method, **how)
    passes = Passes(numbering, best.state, (best.state,))

    def over(function: Any, shared: Passes) -> Iterator[Any]:
        task = partial(function, layout=blocks.layout)
        return workers.each(task, blocks.parts, (shared, survey.codes), survey.lengths)

    converged = best.converged
    if not (whole and converged and method.kind == "vb"):  # γ of the others are those of rows
        passes = replace(passes, states=())

        def merged(state: State) -> Statistics:
            nonlocal passes
            passes = passes.then(state)
            return merge(over(_pass_over, passes))

        first = method.first(merge(over(_begin, passes)), numbering.offsets)
        state, _, converged = repeat(merged, first, max_iter=max_iter, tol=tol)
        passes = passes.then(state)
    shared, sizes = reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]), over(_share, passes))
    place, owner = owners_of(shared, sizes, loss=model.loss, n_clusters=model.n_clusters)
    nothing = np.full((1, len(numbering.columns)), -1, np.int32)
    joint = components_of(passes.states[-1], owner).log_joint(nothing, numbering.offsets, power)[0, :-1]
    nobody = np.exp(joint - joint.max())
    return MixtureRule(survey.offsets, passes, place, owner, nobody / nobody.sum()), power, converged


Shared = tuple[Passes, Any]


def _rows(part: Any, shared: Shared, layout: Layout) -> Iterator[LabelRows]:
    passes, codes = shared
    return distinct_blocks(part, passes.numbering, codes, layout)


def distinct_blocks(part: Any, numbering: Numbering, codes: Any, layout: Layout) -> Iterator[LabelRows]:
    """The distinct rows of the blocks of a part, some at a time; rows without labels count nowhere."""
    for labels, _ in coded_blocks(part, codes, layout):
        rows = numbering.rows(labels)
        rows = np.ascontiguousarray(rows[(rows >= 0).any(axis=1)])
        first, _, counts = _kernels.signatures(rows)
        for i in range(0, max(1, len(first)), BLOCK):
            some = first[i : i + BLOCK]
            yield LabelRows(rows[some], counts[i : i + BLOCK].astype(float), numbering.offsets)


@says("start of the mixture")
def _begin(part: Any, shared: Shared, length: int, layout: Layout) -> Statistics:
    begin = shared[0].begin
    k = len(begin.statistics.sizes)
    each = _rows(part, shared, layout)
    return merge(statistics(rows, harden(likeliest(rows, begin), k), begin.kind) for rows in each)


@says("pass of the mixture")
def _pass_over(part: Any, shared: Shared, length: int, layout: Layout) -> Statistics:
    passes = shared[0]
    return merge(statistics(rows, passes.soft(rows), passes.begin.kind) for rows in _rows(part, shared, layout))


@says("components that share objects")
def _share(part: Any, shared: Shared, length: int, layout: Layout) -> tuple[Floats, Floats]:
    k = len(shared[0].begin.statistics.sizes)
    table, sizes = np.zeros((k, k)), np.zeros(k)
    for rows in _rows(part, shared, layout):
        soft = shared[0].answer(rows)
        found = count_shared(soft, soft.argmax(axis=1), rows.weights)
        table, sizes = table + found[0], sizes + found[1]
    return table, sizes
