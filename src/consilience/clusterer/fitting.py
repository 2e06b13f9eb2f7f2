"""How a clusterer is fitted: members by its recipe, their consensus, and what labels new objects."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from consilience._check import InputError, check_count, check_seed, check_word, count
from consilience._run.random import child_seed, stream
from consilience._types import Array, ArrayLike, Floats, Ints
from consilience.clusterer.choosing import combine_members
from consilience.clusterer.distances import Places, check_metric, learn_distances
from consilience.clusterer.drift import Seen
from consilience.clusterer.new_objects import NewObjects
from consilience.clusterer.rows import check_different_rows, check_options, learn_rows, reader_of, rows_of
from consilience.consensus import Consensus
from consilience.consensus.result import describe_doubt
from consilience.consensus.rows.placement import Placement
from consilience.ensemble import Ensemble
from consilience.generation.guide import check_guide
from consilience.generation.methods import METHODS
from consilience.generation.methods.mds import MOST as MOST_DISTANCES
from consilience.generation.plan import Plan
from consilience.generation.predict import Labeler
from consilience.generation.recipes import is_auto, recipe_of, usual_clusters
from consilience.generation.runner import Runner
from consilience.generation.sklearn_base import base_text, check_base
from consilience.generation.spaces import GenerationWarning
from consilience.tables import Encoder, take_rows

if TYPE_CHECKING:
    from consilience.clusterer.estimator import EnsembleClusterer

FEW_TO_CHOOSE = 50  # objects below which the stability of numbers of clusters says nothing of how many there are
QUICK, SLOW = 100, 30  # members, of k-means and of what takes longer


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """What fitting a clusterer gives: the members, their consensus, what was found of all objects, and what labels new ones.

    Attributes
    ----------
    ensemble : Ensemble
    consensus : Consensus
        Of the objects that were combined.
    labels, confidence, support : (n_objects,) arrays
    note, doubt, guide_words : str
    ids : array or None
    source : str
        The name of the table's file; empty where it was no file.
    sample : int array or None
        The objects that were combined, where not all were.
    encoder, reader : Encoder or None
        How the data was encoded, and how new objects are read.
    places : Places or None
        Where distances put new objects.
    model : NewObjects
    """

    ensemble: Ensemble
    consensus: Consensus
    labels: Ints
    confidence: Floats
    support: Floats
    note: str
    doubt: str
    guide_words: str | None
    ids: Array | None
    source: str
    sample: Ints | None
    encoder: Encoder | None
    reader: Encoder | None
    places: Places | None
    model: NewObjects


def fit_clusterer(made: EnsembleClusterer, X: ArrayLike) -> Fitted:
    """Make the members of a clusterer, combine them, and find the clusters of all objects."""
    is_distances = check_metric(made.metric)
    learn = learn_distances if is_distances else learn_rows
    table, guide, seed = *learn(made, X, check_guide(made.guide)), check_seed(made.random_state)
    if made.n_clusterings is not None:
        check_count("n_clusterings", made.n_clusterings)
    if made.base is not None:
        check_base(made.base)
    sample = _sample(made, table.n_objects, seed)
    some = table if sample is None else take_rows(table, sample)
    recipe = recipe_of(some, metric=made.metric, base=made.base) if is_auto(made.methods) else None
    plan = Plan.checked(
        methods=made.methods if recipe is None else recipe.methods,
        n_clusters=_member_clusters(made, some.n_objects),
        base=None if made.base is None else base_text(made.base),
        metric=made.metric,
        standardize=made.standardize,
        guide=guide if guide is None or sample is None else guide.of_rows(sample),
        **check_options(made.options, is_distances=is_distances),
    )
    with warnings.catch_warnings():  # a fold of the data often has constant columns, which is not worth a warning
        warnings.filterwarnings("ignore", ".* being constant", GenerationWarning)
        runner = Runner(some, plan, made.base, made.n_jobs, keeps_predictors=True)
    ensemble = runner.run(_number(made, plan), child_seed(seed, "clusterer.members"), progress=False)
    values, places = some.values, None
    if is_distances:
        values = runner.spaces.columns
        places = Places.of(values, some.values, sample)
    wanted, few = _wanted(made, plan, ensemble)
    if isinstance(wanted, (int, np.integer)) and wanted > len(ensemble.signatures()):
        check_different_rows(values, int(wanted))
    found = combine_members(
        ensemble,
        values,
        wanted,
        made.method,
        seed=child_seed(seed, "clusterer.consensus"),
        n_jobs=made.n_jobs,
    )
    if not isinstance(made.n_clusters, str) and found.n_clusters < (made.n_clusters or 0):
        fewer = f"the consensus has {count(found.n_clusters, 'cluster')}, fewer than n_clusters={made.n_clusters}"
        warnings.warn(
            f"{fewer}: ask for fewer, or for another method", ConvergenceWarning, stacklevel=3
        )  # of whoever calls fit
    model = NewObjects(
        Labeler.of(runner, ensemble),
        Placement.of(ensemble, found),
        Seen.of(values, runner.spaces.columns, ensemble),
    )
    said = [few and f"{count(found.n_clusters, 'cluster')}, the middle of those tried, since {few}", found.note]
    said += [f"members by recipe: {recipe.words}"] if recipe is not None else []
    said += [f"members guided by {plan.guide_words}"] if plan.guide_words else []
    said += table.notices
    labels, confidence, support = found.labels, found.confidence, found.support
    if sample is not None:
        said.append(
            f"{len(sample):,} of {table.n_objects:,} objects were clustered, the others labeled as new ones are"
        )
        labels, _, support, confidence, _ = model.assigned(rows_of(table) if places is None else places.rows(table))
        labels[sample], support[sample], confidence[sample] = found.labels, found.support, found.confidence
    return Fitted(
        ensemble=ensemble,
        consensus=found,
        labels=labels,
        confidence=confidence,
        support=support,
        note="; ".join(filter(None, said)),
        doubt=describe_doubt(found) or few,
        guide_words=plan.guide_words,
        ids=table.ids,
        source=table.source if table.from_file else "",
        sample=sample,
        encoder=table.encoder,
        reader=None if is_distances else reader_of(table),
        places=places,
        model=model,
    )


def _wanted(made: EnsembleClusterer, plan: Plan, ensemble: Ensemble) -> tuple[int | str, str]:
    """The number of clusters to be found, or "auto"; and why it is not looked for, where it was to be and there are too few objects."""
    wanted, n = made.n_clusters, ensemble.n_objects
    if isinstance(wanted, str):
        check_word("n_clusters", wanted)
    few = isinstance(wanted, str) and n < FEW_TO_CHOOSE
    if wanted is not None and not few:
        return wanted, ""
    numbers = plan.n_clusters if made.base is None else ensemble.n_clusters
    middle = min(max(int(np.median(numbers)), 2), len(ensemble.signatures()))
    return middle, f"{count(n, 'object')} are too few to tell how many clusters there are" if few else ""


def _sample(made: EnsembleClusterer, n: int, seed: int) -> Ints | None:
    """The objects that are clustered and combined; None for all."""
    if made.max_objects is None:
        return None
    most = check_count("max_objects", made.max_objects, 2)
    most = min(most, MOST_DISTANCES) if made.metric == "precomputed" else most
    return None if n <= most else np.sort(stream(seed, "clusterer.sample").choice(n, most, replace=False))


def _member_clusters(made: EnsembleClusterer, n: int) -> Any:
    """What the members draw their numbers of clusters from."""
    if made.base_n_clusters is not None:
        return made.base_n_clusters
    if isinstance(made.n_clusters, str) or made.n_clusters is None:
        return usual_clusters(n, search=True)
    k = check_count("n_clusters", made.n_clusters)
    if k > n:
        raise InputError(f"{k} clusters need as many objects, and there are {n}: lower n_clusters (-k)")
    return usual_clusters(n, k)


def _number(made: EnsembleClusterer, plan: Plan) -> int:
    """Of members."""
    if made.n_clusterings is not None:
        return made.n_clusterings
    quick = made.base is not None or all(METHODS[name].is_batched for name, _ in plan.methods)
    return QUICK if quick else SLOW
