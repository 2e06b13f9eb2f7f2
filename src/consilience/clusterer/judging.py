"""How many clusters the data has, by kinds of clustering that fail differently, and which of them confirms an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from consilience._check import count
from consilience._run.parallel import own_threads
from consilience._run.random import stream
from consilience._types import Floats, Ints
from consilience.consensus.combine import combine_problem
from consilience.consensus.how_many.voices import Agreement, confirmed, consensus_at, find_voices, nearest_kind
from consilience.consensus.methods.walk import ClusterWalk
from consilience.consensus.result import Consensus
from consilience.consensus.rows.problem import Problem, check_problem
from consilience.consensus.trust.clusters_and_members import trust_tables
from consilience.ensemble import Ensemble
from consilience.generation.kinds import MOST_OBJECTS, Halves, kinds_of, numbers_for
from consilience.generation.methods.neighbors import Points
from consilience.generation.runner import Runner
from consilience.generation.tasks import weighted


def judge(
    runner: Runner, ensemble: Ensemble, n_clusters: int | None, method: str, how: dict[str, Any]
) -> tuple[Consensus, Ensemble]:
    """Combine the members into so many clusters, or as many as kinds of clustering speak for; and the partitions of these kinds."""
    # The confidence is replication × the agreement of the nearest kind × the trust in the number.
    problem, n = check_problem(ensemble, n_clusters), ensemble.n_objects
    # The same ones whatever the seed, so that another seed asks the same kinds.
    some = np.sort(stream(0, "clusterer.kinds").choice(n, MOST_OBJECTS, replace=False)) if n > MOST_OBJECTS else None
    found, few, distinct = None, False, 0
    with own_threads():  # the same numbers whatever the number of threads
        points = scalings(runner, some)
        if n_clusters is None:
            distinct = min(len(np.unique(next(iter(points.values())), axis=0)), problem.n_rows)
            numbers = numbers_for(min(n, MOST_OBJECTS))  # as many clusters as distinct rows are found by every kind
            few, numbers = bool(distinct <= numbers[-1]), numbers[(numbers < distinct) | (numbers == 2)]
            kinds = kinds_of(points, numbers, mixture=not runner.table.has_words)
            seen = problem if some is None else check_problem(ensemble[some])
            found = find_voices(kinds, consensus_at(seen, numbers), Halves(points))
            n_clusters = min(found.n_clusters, problem.n_rows)
        else:
            kinds = kinds_of(points, np.array([min(n_clusters, n, MOST_OBJECTS)]))
    to_combine = problem.with_clusters(n_clusters)
    consensus = combine_problem(ensemble, to_combine, n_clusters, method, how, {}, progress=False)
    consensus, nearest = _beside_kinds(to_combine, consensus, kinds, some, method)
    factor, doubts, notes, scales = np.ones(consensus.n_clusters), [], [consensus.note], None
    if found is not None:
        factor, doubts, scales = factor * found.trust, [found.doubt], found.others
        notes.insert(0, found.note)
    if nearest is not None:
        factor = factor * nearest.jaccard
        doubts.append(nearest.doubt)
    if (doubt := next(filter(None, doubts), "")) and few:
        doubt = f"the table has only {count(distinct, 'distinct row')}, and {doubt}"
    confidence = consensus.confidence * np.append(factor, 0.0)[consensus.labels]
    said: dict[str, Any] = {"doubt": doubt, "note": "; ".join(filter(None, notes))}
    said |= trust_tables(problem, consensus.labels, confidence, consensus.support, consensus.names)
    return replace(consensus, confidence=confidence, scales=scales, **said), kinds


def _beside_kinds(
    problem: Problem, consensus: Consensus, kinds: Ensemble, some: Ints | None, method: str
) -> tuple[Consensus, Agreement | None]:
    """The consensus, and the kind that is nearest to it. Where none has its clusters and two confirm each other, theirs are taken."""
    # Not where a method was named, or found fewer clusters; nor where the members do not tell the clusters of these kinds apart.

    def nearest_to(labels: Ints) -> Agreement | None:
        return nearest_kind(labels if some is None else labels[some], int(labels.max()) + 1, kinds)

    nearest, k = nearest_to(consensus.labels), problem.n_clusters
    is_walk = method == "auto" and consensus.method == "walk" and consensus.n_clusters == k
    others = confirmed(kinds, k) if is_walk and nearest is not None and nearest.doubt else None
    if nearest is None or others is None:
        return consensus, nearest
    names, labels = others
    rows = problem.inverse if some is None else problem.inverse[some]
    start, model = np.full(problem.n_rows, -1), ClusterWalk(k)
    start[rows[rows >= 0]] = labels[rows >= 0]
    if len(np.unique(start[start >= 0])) < k:
        return consensus, nearest
    model._take(problem, model._ordered(problem, model._from(problem, start)))
    now = nearest_to(model.labels_)
    if now is None or now.jaccard.min() <= nearest.jaccard.min():
        return consensus, nearest
    fields = {name: getattr(model, f"{name}_") for name in ("labels", "confidence", "support", "membership", "anmi")}
    return replace(consensus, **fields, note=f"the clusters are those that {names} both find", estimator=model), now


def scalings(runner: Runner, some: Ints | None) -> dict[str, Floats]:
    """The points that kinds are asked on: standardized columns, and as they came too where they may share a unit."""
    spaces = runner.spaces
    columns = spaces.columns if some is None else spaces.columns[some]
    forms = {"standardized" if spaces.preparation.scaling is not None else "as they came": np.ones(columns.shape[1])}
    if spaces.own_scales is not None:
        forms["as they came"] = spaces.own_scales
    if runner.guide is not None and runner.guide.strength:
        wishes = runner.guide.weights(spaces.columns)
        forms = {name: weights * wishes for name, weights in forms.items()}
    return {name: Points.of(weighted(columns, weights)).table for name, weights in forms.items()}
