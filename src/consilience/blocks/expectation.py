"""The mixture model by passes of EM over blocks: what is expected of rows adds up.

Starts compete on the sample, as they do on some rows in memory; EM then goes on over all objects, each pass under the tables of the one
before it. What it finds are tables of labels × clusters, by which a row joins its most probable cluster.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from consilience.blocks.distinct_rows import Layout
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.mixtures import Numbering, distinct_blocks
from consilience.blocks.rules import Rule
from consilience.blocks.running import Workers
from consilience.blocks.survey import Survey
from consilience.blocks.words import says
from consilience.consensus.methods.mixture import Expected, Mixture, MixtureModel, climb
from consilience.consensus.rows.problem import Problem


def fit_by_passes(
    blocks: LabelBlocks, workers: Workers, survey: Survey, problem: Problem, model: MixtureModel
) -> tuple[Rule, bool]:
    """The rule that EM has found, and whether it converged. Labels are read once for every iteration, and once before.

    `problem` is that of the sample.
    """
    numbering = Numbering.of(problem, survey)
    start = model._start(problem)
    k, labels = len(start.log_weights), int(numbering.offsets[-1])
    if labels > len(
        start.log_shares
    ):  # labels that the sample lacks have a little chance, so that every row finds a cluster
        shares = np.full((labels, k), 0.5 / problem.n_rows)
        shares[_places(problem, numbering)] += np.exp(start.log_shares)
        start = replace(start, log_shares=np.log(shares))
    task = partial(_expect, layout=blocks.layout)

    def expected(mixture: Mixture) -> Expected:
        plain = replace(mixture, history=[])
        return reduce(add, workers.each(task, blocks.parts, (plain, numbering, survey.codes), survey.lengths))

    first = expected(start)
    total = float(round(first.mass.sum()))  # objects with a label, whole
    how: dict[str, Any] = {"smoothing": model.smoothing, "max_iter": model.max_iter, "tol": model.tol}
    found = climb(first, expected, numbering.offsets, total, **how)
    table = np.zeros((int(survey.offsets[-1]), k))  # a clustering without a label in the sample says nothing
    for column, places, begin in zip(numbering.columns, numbering.places, numbering.offsets, strict=False):
        table[survey.offsets[column] : survey.offsets[column + 1]] = found.log_shares[begin + places[:-1]]
    return Rule(survey.offsets, table, np.ones(k), found.log_weights, np.arange(k), True, True), found.converged


def _places(problem: Problem, numbering: Numbering) -> Any:
    """Where the labels of the sample's problem stand in the numbering of all labels."""
    sizes = problem.sizes
    return np.concatenate([begin + np.arange(n) for begin, n in zip(numbering.offsets, sizes, strict=False)])


@says("pass of EM")
def _expect(part: Any, shared: tuple[Mixture, Numbering, Any], length: int, layout: Layout) -> Expected:
    mixture, numbering, codes = shared
    nothing = Expected(np.zeros(len(mixture.log_weights)), np.zeros(mixture.log_shares.shape))
    return reduce(
        add, (Expected.under(mixture, rows) for rows in distinct_blocks(part, numbering, codes, layout)), nothing
    )
