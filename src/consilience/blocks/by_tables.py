"""A consensus where the distinct rows are too many for the memory: by tables that add up over blocks, and a sample of the rows.

**MCLA** needs how many objects every two clusters share, which blocks count exactly, and then each row by itself. **The vote** goes on
from the answer for the sample: labels speak for clusters, every block votes and counts, the counts say for which clusters labels speak.
**Dawid and Skene's model** begins with MCLA's clusters; how reliable the clusterings are is fitted to the sample, as it is to 20,000
rows in memory. **NBCE**'s bounds have passes over the blocks (:mod:`consilience.blocks.mixtures`), and so have the EM of the
**mixture** (:mod:`consilience.blocks.expectation`) and the k-means of **LWGP** (:mod:`consilience.blocks.cutting`) and of
the **quadratic** consensus, which begins with the answer for the sample. **SCCC** finds its seeds by two passes and more
(:mod:`consilience.blocks.seeding`).
Tables of labels × clusters, sizes, support and the average NMI are those of all objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from consilience import _kernels
from consilience._check import InputError
from consilience._types import Floats, Ints
from consilience.blocks.cutting import PointRule, fit_cut
from consilience.blocks.distinct_rows import Layout, read_part
from consilience.blocks.expectation import fit_by_passes
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.mixtures import MixtureRule, fit_mixture
from consilience.blocks.rules import Memberships, Posteriors, Rule, RuledTable, Ruling
from consilience.blocks.running import Workers
from consilience.blocks.seeding import check_seeding, find_seeds
from consilience.blocks.survey import Survey, coded_blocks, survey
from consilience.blocks.words import says
from consilience.consensus import LWGP, NBCE, SCCC, DawidSkene, MajorityVote, QuadraticConsensus
from consilience.consensus.bayes.variational import KINDS
from consilience.consensus.choose import about_bound, about_median, about_scales, about_worth, choose_method
from consilience.consensus.combine import WIDE
from consilience.consensus.how_many.curve import FEWEST, find_scales
from consilience.consensus.methods.mcla import MCLA, jaccard_of
from consilience.consensus.methods.registry import make_estimator
from consilience.consensus.methods.sccc import few_seeds, gaps_of
from consilience.consensus.methods.vote import owners_of
from consilience.consensus.rows.error_model import fit_errors
from consilience.consensus.rows.problem import Problem, check_problem
from consilience.consensus.trust.confidence import (
    FLOATING,
    average_nmi,
    discount,
    err_alike,
    label_owners,
    noise_tables,
)
from consilience.consensus.trust.tables import confusions, families_of, member_table
from consilience.engine.information import quadratic_scores

METHODS = ("mcla", "dawid_skene", "vote", "nbce", "quadratic", "lwgp", "mixture", "sccc")
NEEDS_ROWS = {  # why the others do not work by tables
    "walk": "cuts a tree of the distinct rows",
    "information": "moves single rows",
    "anmi": "moves single rows",
    "hbgf": "partitions a graph of the distinct rows",
    "cspa": "partitions a graph of the distinct rows",
    "hgpa": "partitions a graph of the distinct rows",
    "evidence": "links the distinct rows in a tree",
    "lwea": "links the distinct rows in a tree",
    "bce": "fits its tables to the distinct rows",
}
PASSES = 20  # of the vote over all blocks, at most
STEPS = 50  # of batch k-means over all blocks, at most


@dataclass(frozen=True, eq=False)
class ByTables:
    """An answer for all rows of labels: what gives it to objects, what was found of it, and its fields of a consensus."""

    table: RuledTable
    membership: Memberships | Posteriors
    survey: Survey
    tally: dict[str, Any]
    fields: dict[str, Any]


def answer_by_tables(
    blocks: LabelBlocks,
    workers: Workers,
    *,
    method: str,
    n_clusters: int | str | None,
    how: Mapping[str, Any],
    options: Mapping[str, Any],
    check: Callable[[int], None],
) -> ByTables:
    """Combine labels of which only tables fit. Labels are read five times, and more often by methods with passes.

    ``check(n_objects)`` is called after the first reading, and raises an error where so many objects have no room.
    """
    found = survey(blocks, workers, check)
    median = max(2, int(np.median(np.diff(found.offsets))))
    wanted = None if n_clusters == "auto" else n_clusters
    problem = check_problem(found.sample, median if wanted is None else wanted, even=blocks.even)  # type: ignore[arg-type]
    notes = [
        f"by tables of all objects and {found.sample.n_objects:,} of their rows, since there is no room for all distinct rows"
    ]
    if n_clusters == "auto" and method != "nbce" and problem.n_rows > 2 and problem.n_clusterings >= FEWEST:
        scales = find_scales(problem, how["random_state"])
        problem = problem.with_clusters(scales.ranked[0])
        notes.insert(0, f"{about_scales(scales)}, by the sample")
    elif n_clusters == "auto" and method != "nbce":
        notes.insert(0, about_median(problem))
    if method == "auto":
        method, note = choose_method(problem, dict(how))
        if method == "walk":
            method, note = "mcla", f"mcla, since {note.partition('since ')[2]}, and walk needs the distinct rows"
        notes.insert(0, note)
    fit = _Fit(blocks, workers, found, problem, int(how["random_state"]), dict(options))
    ways: dict[str, Callable[[], Ruling]] = {"mcla": fit.mcla, "dawid_skene": fit.dawid_skene, "vote": fit.vote}
    ways |= {"quadratic": fit.quadratic, "lwgp": fit.lwgp, "sccc": fit.sccc}
    chosen: Ruling
    if method == "nbce":
        k: Any = wanted
        chosen, note = fit.nbce(make_estimator("nbce", k, dict(how), bound_options(options, k, len(found.codes))))
        notes.insert(0, note)
    elif method == "mixture":
        model = make_estimator("mixture", problem.n_clusters, dict(how), dict(options))
        chosen, converged = fit_by_passes(blocks, workers, found, problem, model)
        notes += [] if converged else ["EM has not converged: raise max_iter"]
    else:
        chosen = ways[method]()
    rule, tables, sizes = fit.by_size(chosen)
    ruled = RuledTable(rule, found.codes, label_owners(tables.astype(float)), fit.noise(rule, tables, sizes))
    sums: Floats = sum(workers.each(partial(_sum_part, layout=blocks.layout), blocks.parts, ruled, found.lengths))  # type: ignore[assignment]
    parts = [np.ascontiguousarray(part.T) for part in np.split(tables.astype(float), found.offsets[1:-1])]
    fields = {"n_clusters": len(sizes), "method": method, "anmi": average_nmi(parts), "names": found.sample.names}
    fields |= {"note": "; ".join(notes), "clusters": _clusters(sums[:, :-1], parts)}
    fields["members"] = partial(member_table, problem, rule.labels(found.sample.labels), found.sample.names)
    fields["families"] = partial(families_of, problem)
    own = Posteriors(ruled) if method in ("quadratic", "lwgp", "sccc") else Memberships(rule, found.codes)
    return ByTables(ruled, own, found, _tally(sums), fields)


@dataclass(frozen=True, eq=False)
class _Fit:
    blocks: LabelBlocks
    workers: Workers
    survey: Survey
    problem: Problem  # of the sample
    seed: int
    options: dict[str, Any]

    @property
    def numbers(self) -> Ints:
        """The labels of the sample's problem, in its order, numbered as in the survey."""
        given = self.problem.given
        assert given is not None
        return np.concatenate(
            [self.survey.offsets[q] + codes for q, codes in zip(given.columns, given.codes, strict=True)]
        )

    def _order(self) -> Ints:
        """All labels, those that the sample lacks last."""
        rest = np.setdiff1d(np.arange(int(self.survey.offsets[-1])), self.numbers)
        return np.concatenate([self.numbers, rest[np.argsort(-self.survey.sizes[rest], kind="stable")]])

    def mcla(self) -> Rule:
        """Groups of clusters compete."""
        return self._mcla(self.options)

    def _mcla(self, options: dict[str, Any]) -> Rule:
        c, sizes, order = int(self.survey.offsets[-1]), self.survey.sizes, self._order()
        graph = jaccard_of(self.survey.overlaps[np.ix_(order, order)].astype(float))
        meta = np.empty(c, np.int64)
        meta[order] = MCLA(random_state=self.seed, **options)._group(graph, self.problem.n_clusters)
        members = np.bincount(meta)
        first = np.argsort(-np.bincount(meta, sizes) / members, kind="stable")
        return Rule(
            self.survey.offsets, np.eye(len(members))[meta], members.astype(float), np.zeros(len(members)), first
        )

    def dawid_skene(self) -> Rule:
        """The most probable cluster by how reliable each clustering is."""
        start = self.by_size(self._mcla({}))[0]
        model = DawidSkene(random_state=self.seed, **self.options)
        labels = start.labels(self.problem.as_given(self.problem.labels))
        if len(np.unique(labels)) < len(start.order):
            return start
        found = self._errors(labels, prior=model.prior, max_iter=model.max_iter)
        again = found.labels(self.problem.as_given(self.problem.labels))
        return start if len(np.unique(again)) < len(start.order) else found

    def _errors(self, labels: Ints, **options: Any) -> Rule:
        model = fit_errors(self.problem, labels, **options)
        k = len(model.shares)
        table = np.zeros((int(self.survey.offsets[-1]), k))  # a label that the sample lacks says nothing
        table[self.numbers] = model.logs
        return Rule(self.survey.offsets, table, np.ones(k), model.shares, np.arange(k), probabilities=True)

    def vote(self) -> Rule:
        """Labels speak for clusters; all objects vote, in turn with what labels speak for."""
        k, offsets = self.problem.n_clusters, self.survey.offsets
        labels = MajorityVote(k, random_state=self.seed, **self.options)._answer(self.problem)[1]
        owners = owners_of(self._tables(labels), offsets)
        for _ in range(PASSES):
            rule = Rule(offsets, np.eye(k)[owners], np.ones(k), np.zeros(k), np.arange(k))
            again = owners_of(self._count(rule)[0], offsets)
            if np.array_equal(again, owners):
                break
            owners = again
        return rule

    def _tables(self, labels: Ints) -> Ints:
        """Labels × clusters of the sample's objects."""
        rows = np.ascontiguousarray(self.problem.as_given(self.problem.labels).T)
        weights, k = self.problem.weights.astype(np.int64), self.problem.n_clusters
        return _kernels.label_tables(rows, self.survey.offsets, labels.astype(np.int32), k, weights=weights)

    def quadratic(self) -> Rule:
        """Batch k-means of all objects on their labels, from the answer for the sample."""
        k = self.problem.n_clusters
        model = QuadraticConsensus(k, random_state=self.seed, **self.options)
        tables = self._tables(model._answer(self.problem)[1])
        for _ in range(STEPS):
            rule = self._squares(tables)
            again = self._count(rule)[0]
            if np.array_equal(again, tables):
                break
            tables = again
        return rule

    def _squares(self, tables: Ints) -> Rule:
        """Rows join the cluster at whose means of one-hot labels they are nearest, by all of their labels; tables are labels × clusters."""
        widths, k = np.diff(self.survey.offsets), tables.shape[1]
        view_of = np.repeat(np.arange(len(widths)), widths)
        totals = np.zeros((k, len(widths)))
        np.add.at(totals.T, view_of, tables.astype(float))
        columns, lengths = quadratic_scores(
            tables.T.astype(float), totals, view_of, 1 / np.maximum(totals.sum(axis=0), 1)
        )
        start = np.where(totals.any(axis=1), 0.0, -np.inf)  # nobody joins a cluster without objects
        table = np.ascontiguousarray((columns - lengths[:, view_of]).T)
        return Rule(self.survey.offsets, table, np.ones(k), start, np.arange(k))

    def lwgp(self) -> PointRule:
        """k-means of all objects in the eigenvectors of the graph of clusters."""
        model = LWGP(random_state=self.seed, **self.options)
        return fit_cut(self.blocks, self.workers, self.survey, self.problem, model, self._order())

    def sccc(self) -> Rule:
        """The nearest of k seeds, of the gap whose clusters share most with the clusterings."""
        model, k = SCCC(random_state=self.seed, **self.options), self.problem.n_clusters
        check_seeding(model, self.survey, self.blocks.layout.source)
        seeds = find_seeds(self.blocks, self.workers, self.survey, k, gaps_of(self.problem, model.gap))
        if not seeds:
            raise few_seeds(model.gap, k)
        best: tuple[float, Rule] | None = None
        for some in {one.tobytes(): one for one in seeds.values()}.values():
            table = np.zeros((int(self.survey.offsets[-1]), k))
            for cluster, seed in enumerate(some):
                table[self.survey.offsets[:-1] + seed, cluster] = 1.0
            rule = Rule(self.survey.offsets, table, np.ones(k), np.zeros(k), np.arange(k))
            counts = np.split(self._count(rule)[0].astype(float), self.survey.offsets[1:-1])
            shared = average_nmi([np.ascontiguousarray(part.T) for part in counts])
            if best is None or shared > best[0]:
                best = shared, rule
        assert best is not None
        return best[1]

    def nbce(self, model: NBCE) -> tuple[MixtureRule, str]:
        """The likeliest component of a mixture, and what is to be said of it."""
        rule, power, converged = fit_mixture(self.blocks, self.workers, self.survey, self.problem, model)
        return rule, about_bound(model, rule.shape[1], converged) + about_worth(len(self.survey.codes), power)

    def _count(self, rule: Ruling) -> tuple[Ints, Ints, Ints]:
        """Of all objects: labels × clusters, sizes, and the first object of every cluster."""
        count = partial(_count_part, layout=self.blocks.layout)
        shared = (rule, self.survey.codes)
        each = self.workers.each(count, self.blocks.parts, shared, self.survey.starts)
        tables, sizes, first = next(each)
        for more, some, begin in each:  # as they come, so that only some parts' tables are held
            tables, sizes, first = tables + more, sizes + some, np.minimum(first, begin)
        return tables, sizes, first

    def by_size(self, rule: Any) -> tuple[Any, Ints, Ints]:
        """The rule with its clusters numbered as ever, those without objects left out; tables and sizes of all objects."""
        tables, sizes, first = self._count(rule)
        order = np.lexsort((first, -sizes))[: np.count_nonzero(sizes)]
        return rule.keep(order), tables[:, order], sizes[order]

    def noise(self, rule: Ruling, tables: Ints, sizes: Ints) -> Any:
        """What the confidence comes from: the model of errors, or where clusterings err alike the discounted tables."""
        labels = rule.labels(self.problem.as_given(self.problem.labels))
        if len(np.unique(labels)) == len(sizes) > 1 and not err_alike(self.problem, labels):
            return self._errors(labels)
        parts = [np.ascontiguousarray(part.T) for part in np.split(tables.astype(float), self.survey.offsets[1:-1])]
        return noise_tables(parts, sizes.astype(float), discount(self.problem, labels))


def bound_options(options: Mapping[str, Any], n_clusters: int | None, n_clusterings: int) -> dict[str, Any]:
    """Options of NBCE: where none say how to infer and the number of clusters is open, those of very many objects in memory."""
    if "inference" not in options and n_clusters is None:
        return {"inference": "vb", "n_init": 5 if n_clusterings <= WIDE else 2} | dict(options)
    if options.get("inference", "gibbs") == "gibbs":
        raise InputError(
            f"NBCE by Gibbs sampling moves single objects and needs the distinct rows: give inference= one of {', '.join(KINDS)}, or raise "
            "memory_limit= (--memory-limit)"
        )
    return dict(options)


@says("clusters and labels")
def _count_part(part: Any, shared: tuple[Ruling, Any], start: int, layout: Layout) -> tuple[Ints, Ints, Ints]:
    rule, codes = shared
    k, begin = rule.shape[1], start
    tables, sizes, first = np.zeros(rule.shape, np.int64), np.zeros(k, np.int64), np.full(k, 2**62)
    for rows, _ in coded_blocks(part, codes, layout):
        labels = rule.labels(rows)
        tables += _kernels.label_tables(np.ascontiguousarray(rows.T), rule.offsets, labels.astype(np.int32), k)
        there = np.flatnonzero(labels >= 0)
        sizes += np.bincount(labels[there], minlength=k)
        np.minimum.at(first, labels[there], there + begin)
        begin += len(rows)
    return tables, sizes, first


@says("means of clusters")
def _sum_part(part: Any, table: RuledTable, length: int, layout: Layout) -> Floats:
    """(4, k + 1): objects, sums of confidence and support, and floaters of every cluster; last, of objects without one."""
    k = table.rule.shape[1]
    sums = np.zeros((4, k + 1))
    for block in read_part(part, layout):
        found = table.look_up(block)
        labels = np.where(found["cluster"] < 0, k, found["cluster"])
        weak = (found["support"] <= FLOATING + 1e-12) & (labels < k)
        for row, values in enumerate((None, found["confidence"], found["support"], weak.astype(float))):
            sums[row] += np.bincount(labels, values, minlength=k + 1)
    return sums


def _clusters(sums: Floats, tables: list[Floats]) -> pd.DataFrame:
    """The table of clusters, as :func:`consilience.consensus.trust.tables.cluster_table` has it."""
    size, k = sums[0], sums.shape[1]
    means = {"cluster": np.arange(k), "size": size.astype(np.int64), "share": size / size.sum()}
    means |= {"confidence": sums[1] / size, "support": sums[2] / size, "floaters": sums[3].astype(np.int64)}
    return pd.DataFrame(means).assign(**confusions(tables, np.arange(k)))


def _tally(sums: Floats) -> dict[str, Any]:
    size = sums[0, :-1]
    return {
        "n_objects": int(sums[0].sum()),
        "n_without_labels": int(sums[0, -1]),
        "n_floaters": int(sums[3].sum()),
        "sizes": size.astype(np.int64).tolist(),
        "mean_confidence": float(sums[1].sum() / size.sum()),
        "mean_support": float(sums[2].sum() / size.sum()),
    }
