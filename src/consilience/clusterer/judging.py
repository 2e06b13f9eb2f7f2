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
from consilience.consensus.how_many.voices import Voices, consensus_at, find_voices, nearest_kind
from consilience.consensus.result import Consensus
from consilience.consensus.rows.problem import Problem, check_problem
from consilience.consensus.trust.tables import trust_tables
from consilience.ensemble import Ensemble
from consilience.generation.kinds import MOST_OBJECTS, kinds_of, numbers_for
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
            kinds = kinds_of(points, numbers)
            found = find_voices(
                kinds, consensus_at(problem if some is None else check_problem(ensemble[some]), numbers)
            )
            n_clusters = min(found.n_clusters, problem.n_rows)
        else:
            kinds = kinds_of(points, np.array([min(n_clusters, n)]))
    consensus = combine_problem(
        ensemble, problem.with_clusters(n_clusters), n_clusters, method, how, {}, progress=False
    )
    judged = _judged(consensus, problem, kinds, some, found)
    if few and judged.doubt:
        judged = replace(judged, doubt=f"the table has only {count(distinct, 'distinct row')}, and {judged.doubt}")
    return judged, kinds


def scalings(runner: Runner, some: Ints | None) -> dict[str, Floats]:
    """The points that kinds are asked on: standardized columns, and as they came too where they may share a unit."""
    spaces = runner.spaces
    columns = spaces.columns if some is None else spaces.columns[some]
    forms = {"standardized": np.ones(columns.shape[1])}
    if spaces.own_scales is not None:
        forms["as they came"] = spaces.own_scales
    if runner.guide is not None and runner.guide.strength:
        wishes = runner.guide.weights(spaces.columns)
        forms = {name: weights * wishes for name, weights in forms.items()}
    return {name: Points.of(weighted(columns, weights)).table for name, weights in forms.items()}


def _judged(
    consensus: Consensus, problem: Problem, kinds: Ensemble, some: Ints | None, found: Voices | None
) -> Consensus:
    labels = consensus.labels
    nearest = nearest_kind(labels if some is None else labels[some], consensus.n_clusters, kinds)
    factor, doubts, notes = np.ones(consensus.n_clusters), [], [consensus.note]
    if found is not None:
        factor *= found.trust
        doubts.append(found.doubt)
        speak = found.others["kinds"].iloc[0]
        notes.insert(
            0,
            f"{count(found.n_clusters, 'cluster')} by {count(found.voices, 'voice')}" + (f": {speak}" if speak else ""),
        )
    if nearest is not None:
        factor *= nearest.jaccard
        if not nearest.confirms:
            these = f"these {count(consensus.n_clusters, 'cluster')}"
            doubts.append(
                f"no other kind of clustering finds {these} ({nearest.kind} agrees on {100 * nearest.share:.0f} % of the objects)"
            )
    confidence = consensus.confidence * np.append(factor, 0.0)[labels]
    tables = trust_tables(problem, labels, confidence, consensus.support, consensus.names)
    scales = None if found is None else found.others
    said = {"doubt": next(filter(None, doubts), ""), "note": "; ".join(filter(None, notes))}
    return replace(consensus, confidence=confidence, scales=scales, **said, **tables)
