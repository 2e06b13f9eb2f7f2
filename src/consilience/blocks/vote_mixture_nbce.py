"""Voting, the mixture's EM and NBCE's variational bound over all objects, from what they found of a sample."""

# What they need of objects are tables of labels × clusters, which add up over blocks: a pass reads all labels under the tables of the
# pass before, until these stand still. Labels that the sample lacks say nothing.

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._types import Floats, Ints, Labels
from consilience.blocks.distinct_rows import Layout, look_up_codes, read_part
from consilience.blocks.reading_and_writing import Reading
from consilience.blocks.written_consensus import fields_of
from consilience.consensus.bayes import variational
from consilience.consensus.bayes.variational import BLOCK, Block, State, Statistics, components_of, statistics
from consilience.consensus.methods import make_estimator
from consilience.consensus.methods.estimator import Answer
from consilience.consensus.methods.label_model import LabelRows, by_row
from consilience.consensus.methods.mixture import Expected, Mixture, MixtureModel, climb
from consilience.consensus.methods.nbce import NBCE
from consilience.consensus.methods.vote import owners_of as owners_of_labels
from consilience.consensus.result import Consensus
from consilience.consensus.rows.problem import Problem, by_size, sum_over_labels
from consilience.consensus.trust.clusters_and_members import trust_tables
from consilience.engine.annealing import soft_rows
from consilience.ensemble import Ensemble

ROUNDS = 20  # safeguard: rounds of the vote over all blocks, which hardly ever takes more than five


@dataclass(frozen=True, eq=False)
class Passes:
    reading: Reading
    codes: list[dict[Any, int]]
    problem: Problem  # of the sample, in whose canonical order of clusterings and codes sums are taken, as in memory

    def over(self, what: str, function: Callable[..., Any], shared: Any) -> Iterator[Any]:
        """``function(rows, shared)`` of the distinct rows of every block, some at a time, summed for every part."""
        task = partial(_sum_of_part, function=function, numbering=self.numbering)
        return self.reading.each(what, task, (shared, self.codes))

    @property
    def numbering(self) -> "Numbering":
        given = self.problem.given
        assert given is not None
        places = [np.append(np.argsort(codes), -1).astype(np.int32) for codes in given.codes]
        return Numbering(given.columns, places, self.problem.offsets)


@dataclass(frozen=True, eq=False)
class Numbering:
    """Columns of a problem: the clustering of each, the code there of each of its labels (last, −1), and where labels begin."""

    columns: Ints
    places: list[Labels]
    offsets: Ints

    def rows(self, labels: Labels) -> Labels:
        coded = np.empty((len(labels), len(self.columns)), np.int32)
        for j, (q, place) in enumerate(zip(self.columns, self.places, strict=True)):
            coded[:, j] = place[labels[:, q]]
        return coded


def _sum_of_part(part: Any, shared: Any, more: None, function: Any, layout: Layout, numbering: Numbering) -> Any:
    given, codes = shared
    return reduce(add, (function(rows, given) for rows in _distinct(part, codes, layout, numbering)))


def _distinct(part: Any, codes: Any, layout: Layout, numbering: Numbering) -> Iterator[LabelRows]:
    # Some rows at a time; those without labels count nowhere.
    for block in read_part(part, layout):
        rows = numbering.rows(look_up_codes(block, codes))
        rows = np.ascontiguousarray(rows[(rows >= 0).any(axis=1)])
        first, _, counts = _kernels.signatures(rows)
        for i in range(0, max(1, len(first)), BLOCK):
            yield LabelRows(rows[first[i : i + BLOCK]], counts[i : i + BLOCK].astype(float), numbering.offsets)


@dataclass(frozen=True, eq=False)
class Scores:
    """A row joins the cluster whose sum over its labels is largest; memberships are shares of the sums, or soft ones."""

    numbering: Numbering
    table: Floats  # labels × clusters
    start: Floats
    soft: bool

    def places(self, rows: Labels) -> tuple[Ints, Floats]:
        mine = self.numbering.rows(rows)
        scores = sum_over_labels(mine, self.numbering.offsets, self.table) + self.start
        membership = soft_rows(scores)[0] if self.soft else scores / np.maximum(scores.sum(axis=1, keepdims=True), 1)
        return np.where((mine >= 0).any(axis=1), scores.argmax(axis=1), -1), membership

    def keep(self, order: Ints) -> "Scores":
        return replace(self, table=np.ascontiguousarray(self.table[:, order]), start=self.start[order])


def refine(
    passes: Passes, sample: Ensemble, answer: Consensus, k: int | None, how: dict[str, Any], options: dict[str, Any]
) -> "tuple[Consensus, Scores | Components | None]":
    # A method without passes has no rule.
    problem, rule = passes.problem, None  # type: tuple[Problem, Scores | Components | None]
    if answer.method == "vote":
        rule = _vote(passes, answer.labels[problem.first], answer.n_clusters)
    elif answer.method == "mixture":
        rule = _mixture(passes, make_estimator("mixture", problem.n_clusters, how, options))
    elif answer.method == "nbce" and options.get("inference") == "vb":
        rule = _bound(passes, make_estimator("nbce", k, how, options))
    if rule is None:
        return answer, None
    rows = np.ascontiguousarray(sample.labels[problem.first])
    labels, membership = rule.places(rows)
    order = by_size(labels, problem.weights, membership.shape[1], problem.first)[: len(np.unique(labels))]
    rule = rule.keep(order)
    labels, membership = rule.places(rows)
    model = answer.estimator._take(problem, (Answer(labels, membership), labels, membership))
    model.membership_[model.labels_ < 0] = rule.places(np.full((1, rows.shape[1]), -1, rows.dtype))[1]
    fitted = ("labels", "confidence", "support", "membership", "n_clusters", "anmi")
    fields = fields_of(answer) | {name: getattr(model, f"{name}_") for name in fitted}
    fields |= trust_tables(problem, model.labels_, model.confidence_, model.support_, sample.names)
    return Consensus(**fields), rule


def _vote(passes: Passes, labels: Ints, k: int) -> Scores:
    """Labels speak for clusters, every block votes, its tables say for which clusters labels speak."""
    numbering, problem = passes.numbering, passes.problem
    offsets, rows = numbering.offsets, np.ascontiguousarray(problem.labels.T)
    weights = problem.weights.astype(np.int64)
    tables = _kernels.label_tables(rows, offsets, labels.astype(np.int32), k, weights=weights).astype(float)
    rule = Scores(numbering, np.eye(k)[owners_of_labels(tables, offsets)], np.zeros(k), False)
    for _ in range(ROUNDS):
        tables = reduce(add, passes.over("votes", _count_votes, rule.table))
        again = np.eye(k)[owners_of_labels(tables, offsets)]
        if np.array_equal(again, rule.table):
            break
        rule = replace(rule, table=again)
    return rule


def _count_votes(rows: LabelRows, table: Floats) -> Floats:
    labels = rows.scores(table).argmax(axis=1)
    return rows.holders @ np.eye(table.shape[1])[labels]


def _mixture(passes: Passes, model: MixtureModel) -> Scores:
    def expected(mixture: Mixture) -> Expected:
        return reduce(add, passes.over("pass of EM", Expected.under, replace(mixture, history=[])))

    first = expected(model._start(passes.problem))
    how: dict[str, Any] = {"smoothing": model.smoothing, "max_iter": model.max_iter, "tol": model.tol}
    total = float(round(first.mass.sum()))  # objects with a label, whole
    mixture = climb(first, expected, passes.numbering.offsets, total, **how)
    return Scores(passes.numbering, mixture.log_shares, mixture.log_weights, True)


@dataclass(frozen=True, eq=False)
class Components:
    # A row joins the cluster of its likeliest component under a state of the bound. `place` is the cluster of every component, `owner` (K
    # × k) the share of it that each cluster has.

    numbering: Numbering
    state: State
    place: Ints
    owner: Floats
    power: float

    def places(self, rows: Labels) -> tuple[Ints, Floats]:
        mine = self.numbering.rows(rows)
        there = (mine >= 0).any(axis=1)
        soft = by_row(self._soft, mine)
        nothing = np.full((1, mine.shape[1]), -1, np.int32)
        joint = components_of(self.state, self.owner).log_joint(nothing, self.numbering.offsets, self.power)[0, :-1]
        nobody = np.exp(joint - joint.max())
        membership = soft @ self.owner
        membership /= membership.sum(axis=1, keepdims=True)
        membership[~there] = nobody / nobody.sum()
        place = self.place[soft.argmax(axis=1)]
        return np.where(there, np.where(place < 0, membership.argmax(axis=1), place), -1), membership

    def keep(self, order: Ints) -> "Components":
        new = np.full(self.owner.shape[1] + 1, -1)
        new[order] = np.arange(len(order))
        return replace(self, place=new[self.place], owner=self.owner[:, order])

    def _soft(self, rows: Labels) -> Floats:
        return variational.soft_of(Block(LabelRows(rows, np.ones(len(rows)), self.numbering.offsets)), self.state)


def _bound(passes: Passes, model: NBCE) -> Components:
    """The bound over all objects: starts compete on the sample, and passes go on as in memory."""
    model._check()
    numbering, power = passes.numbering, model._find_power(passes.problem)
    method, how = model._bound(power)
    best, _ = variational.compete(passes.problem, numbering.offsets, method, **how)
    begun = variational.merge(passes.over("start of the bound", _begin, best.state))

    def merged(state: State) -> Statistics:
        return variational.merge(passes.over("pass of the bound", _pass, state))

    first = method.first(begun, numbering.offsets)
    state, _, _ = variational.repeat(merged, first, max_iter=method.max_iter, tol=method.tol)
    shared = reduce(add, passes.over("shared components", _share, state))
    place, owner = variational.owners_of(shared[:, :-1], shared[:, -1], loss=model.loss, n_clusters=model.n_clusters)
    return Components(numbering, state, place, owner, power)


def _begin(rows: LabelRows, state: State) -> Statistics:
    return statistics(rows, np.eye(len(state.statistics.sizes))[variational.likeliest(rows, state)], state.kind)


def _pass(rows: LabelRows, state: State) -> Statistics:
    return statistics(rows, variational.renew(Block(rows), state), state.kind)


def _share(rows: LabelRows, state: State) -> Floats:
    """(K, K + 1): what components have of the rows of each, and the weight of these rows."""
    soft = variational.soft_of(Block(rows), state)
    table, sizes = variational.count_shared(soft, soft.argmax(axis=1), rows.weights)
    return np.column_stack([table, sizes])
