"""How a clusterer is fitted: members by its recipe, their consensus, and what labels new objects."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from consilience._check import InputError, check_count, check_seed, check_word, count
from consilience._random import child_seed, stream
from consilience._types import ArrayLike, Ints
from consilience.clusterer.choosing import combine_members
from consilience.clusterer.distances import Places, check_metric, learn_distances
from consilience.clusterer.drift import Seen
from consilience.clusterer.new_objects import NewObjects
from consilience.clusterer.rows import check_different_rows, check_options, learn_rows, reader_of, rows_of
from consilience.consensus.placement import Placement
from consilience.consensus.result import describe_doubt
from consilience.generation.guide import check_guide
from consilience.generation.labeler import Labeler
from consilience.generation.mds import MOST as MOST_DISTANCES
from consilience.generation.plan import Plan
from consilience.generation.recipes import is_auto, recipe_of, usual_clusters
from consilience.generation.registry import METHODS
from consilience.generation.runner import Runner
from consilience.generation.sklearn_base import base_text, check_base
from consilience.generation.spaces import GenerationWarning
from consilience.tables import Table, take_rows

if TYPE_CHECKING:
    from consilience.clusterer.estimator import EnsembleClusterer

FEW = 50  # objects up to which the stability of numbers of clusters says little
QUICK, SLOW = 100, 30  # members, of k-means and of what takes longer


def fit_clusterer(made: EnsembleClusterer, X: ArrayLike) -> None:
    """Make the members of a clusterer, combine them, and keep what labels new objects."""
    is_distances = check_metric(made.metric)
    learn = learn_distances if is_distances else learn_rows
    table, guide, seed = *learn(made, X, check_guide(made.guide)), check_seed(made.random_state)
    if made.n_clusterings is not None:
        check_count("n_clusterings", made.n_clusterings)
    if made.base is not None:
        check_base(made.base)
    made.encoder_, made._ids, made._notices = table.encoder, table.ids, table.notices
    made._reader = None if is_distances else reader_of(table)
    made.sample_ = _sample(made, table.n_objects, seed)
    some = table if made.sample_ is None else take_rows(table, made.sample_)
    made._recipe = recipe_of(some, metric=made.metric, base=made.base) if is_auto(made.methods) else None
    plan = Plan.checked(
        methods=made.methods if made._recipe is None else made._recipe.methods,
        n_clusters=_member_clusters(made, some.n_objects),
        base=None if made.base is None else base_text(made.base),
        metric=made.metric,
        standardize=made.standardize,
        guide=guide if guide is None or made.sample_ is None else guide.of_rows(made.sample_),
        **check_options(made.options, is_distances=is_distances),
    )
    made._guide_words = plan.guide_words
    with warnings.catch_warnings():  # a fold of the data often has constant columns, which is not worth a warning
        warnings.filterwarnings("ignore", ".* being constant", GenerationWarning)
        runner = Runner(some, plan, made.base, made.n_jobs, keeps_predictors=True)
    made.ensemble_ = runner.run(_number(made, plan), child_seed(seed, "clusterer.members"), progress=False)
    values = some.values
    made._places = None
    if is_distances:
        values = runner.spaces.columns
        made._places = Places.of(values, some.values, made.sample_)
    numbers = plan.n_clusters if made.base is None else made.ensemble_.n_clusters
    middle = min(max(int(np.median(numbers)), 2), len(made.ensemble_.signatures()))
    wanted = made.n_clusters
    if wanted is None or (isinstance(wanted, str) and made.ensemble_.n_objects < FEW):
        check_word("n_clusters", "auto" if wanted is None else wanted)
        wanted = middle
    if isinstance(wanted, (int, np.integer)) and wanted > len(made.ensemble_.signatures()):
        check_different_rows(values, int(wanted))
    made.consensus_ = combine_members(
        made.ensemble_,
        values,
        wanted,
        made.method,
        seed=child_seed(seed, "clusterer.consensus"),
        n_jobs=made.n_jobs,
    )
    made.n_clusters_, made.scales_ = made.consensus_.n_clusters, made.consensus_.scales
    if not isinstance(made.n_clusters, str) and made.n_clusters_ < (made.n_clusters or 0):
        found = f"the consensus has {count(made.n_clusters_, 'cluster')}, fewer than n_clusters={made.n_clusters}"
        warnings.warn(
            f"{found}: ask for fewer, or for another method", ConvergenceWarning, stacklevel=3
        )  # of whoever calls fit
    made._model = NewObjects(
        Labeler.of(runner, made.ensemble_),
        Placement.of(made.ensemble_, made.consensus_),
        Seen.of(values, runner.spaces.columns, made.ensemble_),
    )
    _spread(made, table)


def _sample(made: EnsembleClusterer, n: int, seed: int) -> Ints | None:
    """The objects that are clustered and combined; None for all."""
    if made.max_objects is None:
        return None
    most = check_count("max_objects", made.max_objects, 2)
    most = min(most, MOST_DISTANCES) if made.metric == "precomputed" else most
    return None if n <= most else np.sort(stream(seed, "clusterer.sample").choice(n, most, replace=False))


def _spread(made: EnsembleClusterer, table: Table) -> None:
    """What was found of the objects, and where only a sample was combined, what the model says of the others."""
    found = made.consensus_
    recipe = "" if made._recipe is None else f"members by recipe: {made._recipe.words}"
    guide = f"members guided by {made._guide_words}" if made._guide_words else ""
    said = [found.note, recipe, guide, *made._notices]
    if made.sample_ is not None:
        n, size = table.n_objects, len(made.sample_)
        said.append(f"{size:,} of {n:,} objects were clustered, the others labeled as new ones are")
    made.note_, made.doubt_ = "; ".join(filter(None, said)), describe_doubt(found)
    made.labels_, made.confidence_, made.support_ = found.labels, found.confidence, found.support
    if made.sample_ is None:
        return
    made.labels_, _, made.support_, made.confidence_, _ = made._model.assigned(
        rows_of(table) if made._places is None else made._places.rows(table)
    )
    made.labels_[made.sample_], made.support_[made.sample_] = found.labels, found.support
    made.confidence_[made.sample_] = found.confidence


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
