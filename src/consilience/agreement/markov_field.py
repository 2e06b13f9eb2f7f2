"""Inference in a combinatorial Markov random field whose potentials are mutual information (Bekkerman et al. 2009, sections 3 and 4).

A node is a clustering of some objects; an edge carries a count table between the objects of its ends, and its potential is
I(X̃; Ỹ) of the two clusterings on that table. Iterated conditional modes: one node, or all of a class of nodes
without edges among them, is improved by local search while the others are fixed. Only a search that gains moves anything, so the
sum of the potentials never falls (Proposition 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from consilience._run.parallel import n_threads, workers
from consilience._types import Labels
from consilience.agreement.local_search import engine_of
from consilience.engine.information import Search
from consilience.engine.views import Views, regrouped

Clusterings = dict[str, Labels]


@dataclass(frozen=True)
class Node:
    """A clustering in the field.

    Attributes
    ----------
    name : str
    rows : Views
        The objects' counts in all tables at the node's edges, side by side.
    seen : list of (str, int, float)
        For every edge the neighbor, the first column of `rows` with the neighbor's objects, and the weight.
    """

    name: str
    rows: Views
    seen: list[tuple[str, int, float]]

    def views(self, labels: Mapping[str, Labels]) -> Views:
        """The neighbors' clusterings as views of the node's objects."""
        codes = np.full((len(self.seen), self.rows.table.shape[1]), -1, np.int32)
        for code, (other, first, _) in zip(codes, self.seen, strict=True):
            code[first : first + len(labels[other])] = labels[other]
        return regrouped(self.rows, codes, weights=[weight for *_, weight in self.seen])

    def without(self, names: set[str]) -> Node:
        """The node without the edges to some neighbors."""
        return Node(self.name, self.rows, [edge for edge in self.seen if edge[0] not in names])


def color(nodes: Sequence[Node]) -> list[list[Node]]:
    """Classes of nodes without edges among them: each node joins the first class that holds no neighbor."""
    classes: list[list[Node]] = []
    for node in nodes:
        near = {other for other, *_ in node.seen}
        free = (c for c in classes if not any(member.name in near for member in c))
        home = next(free, None)
        if home is None:
            classes.append([node])
        else:
            home.append(node)
    return classes


def infer(
    classes: Sequence[Sequence[Node]],
    labels: Clusterings,
    *,
    max_iter: int,
    max_iter_local: int = 1,
    temperature: float = 0.0,
    tol: float = 0.0,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Iterator[tuple[Clusterings, list[float]]]:
    """Improve the classes in turn; after every iteration yield all clusterings, and the objective before and after each class.

    The nodes of a class are searched in parallel; each has its own stream, so that the number of threads does not matter. Those of
    the first class begin with a noisy pass, at a temperature that falls evenly to 0 in the last iteration. It ends after `max_iter`
    iterations, or when one gains no more than `tol` of the objective.
    """
    from joblib import delayed

    threads = n_threads(n_jobs)

    def improve(which: int, labels: Clusterings, heat: float, units: Sequence[int]) -> Sequence[Search]:
        group = classes[which]
        inner = threads if len(group) == 1 else 1
        return list(
            parallel(
                delayed(_improve)(node, labels, max_iter_local, heat, seed, unit, inner)
                for node, unit in zip(group, units, strict=True)
            )
        )

    names = [[node.name for node in group] for group in classes]
    with workers(n_jobs) as parallel:
        yield from take_turns(
            names, labels, improve, partial(_start, classes), max_iter=max_iter, temperature=temperature, tol=tol
        )


def take_turns(
    classes: Sequence[Sequence[str]],
    labels: Clusterings,
    improve: Callable[[int, Clusterings, float, Sequence[int]], Sequence[Search]],
    start: Callable[[Clusterings, Mapping[str, Search]], float],
    *,
    max_iter: int,
    temperature: float,
    tol: float,
) -> Iterator[tuple[Clusterings, list[float]]]:
    """The schedule of :func:`infer`, whoever improves the nodes of a class.

    `improve` is given the number of the class, all clusterings, the temperature, and a number of its own for every node; `start` finds the
    objective before the first class moved.
    """
    names = [name for group in classes for name in group]
    labels = dict(labels)
    history: list[float] = []
    for t in range(max_iter):
        for which, group in enumerate(classes):
            heat = temperature * (1 - (t + 1) / max_iter) if which == 0 else 0.0
            units = [t * len(names) + names.index(name) for name in group]
            found = dict(zip(group, improve(which, labels, heat, units), strict=True))
            if not history:
                history.append(start(labels, found))
            labels |= {name: search.labels for name, search in found.items()}
            history.append(history[-1] + sum(search.objective - search.history[0] for search in found.values()))
        yield dict(labels), list(history)
        if history[-1] - history[-1 - len(classes)] <= tol * abs(history[-1]):
            return


def _improve(node: Node, labels: Clusterings, max_iter: int, heat: float, seed: int, unit: int, n_jobs: int) -> Search:
    """Plain passes, after a noisy one if that ends higher than where it began."""
    mine = labels[node.name]
    engine = engine_of(node.views(labels), int(mine.max()) + 1, n_jobs)
    how: dict[str, Any] = {"max_iter": max_iter, "seed": seed, "unit": unit, "revalue": False}
    if heat > 0:
        found = engine.search(mine, temperature=heat, noisy_iter=1, **how)
        if found.objective > found.history[0]:
            return found
    return engine.search(mine, **how)


def _start(classes: Sequence[Sequence[Node]], labels: Clusterings, found: Mapping[str, Search]) -> float:
    """The objective before the first class moved: its edges are counted already, the others once each."""
    value = sum(search.history[0] for search in found.values())
    done = set(found)
    for node in (node for group in classes for node in group if node.name not in found):
        left = node.without(done)
        if left.seen:
            value += engine_of(left.views(labels), int(labels[node.name].max()) + 1).value(labels[node.name])
        done.add(node.name)
    return float(value)
