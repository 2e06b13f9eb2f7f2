"""The scikit-learn estimator: many clusterings of the data, combined, and new objects labeled."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from consilience._check import InputError, check_count, check_seed, check_word, count
from consilience._run.parallel import n_threads, on_cluster, own_threads
from consilience._run.random import child_seed, stream
from consilience._types import ArrayLike, Floats, Ints, PathLike, RandomState
from consilience.clusterer.distances import Places, check_metric, learn_distances, read_distances
from consilience.clusterer.drift import Drift, DriftWarning, Seen
from consilience.clusterer.input_rows import Rows, check_options, learn_rows, new_rows, read_new, reader_of, rows_of
from consilience.clusterer.judging import judge
from consilience.clusterer.new_objects import Assignment, NewObjects
from consilience.clusterer.saving import KEPT, ClustererModel, model_of
from consilience.consensus.result import Consensus, describe_doubt
from consilience.consensus.rows.placement import Placement
from consilience.ensemble import Ensemble
from consilience.generation.default_methods import Recipe, is_auto, recipe_of, usual_clusters
from consilience.generation.guide import BoundGuide, Guide, check_guide
from consilience.generation.kinds import numbers_for
from consilience.generation.methods import METHODS
from consilience.generation.methods.mds import MOST_OBJECTS as MOST_DISTANCES
from consilience.generation.plan import Plan
from consilience.generation.predict import Labeler
from consilience.generation.runner import Runner
from consilience.generation.spaces import GenerationWarning
from consilience.tables import Table, take_rows

QUICK, SLOW = 100, 30  # members, of k-means and of what takes longer
DRAWS = 30  # safeguard: precision; numbers that stand for a range of them, evenly in logarithms, as many as members that take longer


@dataclass(eq=False, repr=False)
class EnsembleClusterer(ClusterMixin, BaseEstimator):
    """Cluster data many times, differently each time, and combine the clusterings into one.

    Parameters
    ----------
    n_clusters : int, "auto" or None
        Of the answer. "auto" takes the finest number with three voices of kinds of clustering that fail differently
        (:mod:`consilience.consensus.how_many.voices`); `doubt_` says where it has fewer than four.
        None takes the middle of the numbers that the members draw from (with `base`, the median of those that they found), without looking.
    n_clusterings : int, optional
        Members of the ensemble; by default 100 where they are k-means, and 30 where each takes longer.
    base_n_clusters : int, (low, high), list of int or None
        Clusters of the members, as `n_clusters` of :func:`consilience.generate`. None draws from k … 4k where
        ``n_clusters=k`` (at most √n, but at least up to 2k), and otherwise from 2 … √n, evenly in logarithms.
    methods : str or dict, default "auto"
        How the members are made: names of :data:`consilience.generation.METHODS`. "auto" takes those whose consensus is best on data of
        this kind (:mod:`consilience.generation.default_methods`; `note_` says which).
    base : scikit-learn clusterer, optional
        Takes the place of k-means.
    method : str, default "auto"
        How the members are combined: a name of :data:`consilience.consensus.METHODS`; "auto" is "dawid_skene" where
        errors are independent, and else "walk".
    metric : {"euclidean", "precomputed"}
        With "precomputed", X is a square matrix of distances between the objects, which are scaled to ten columns first (``{"n_dimensions":
        10}`` of `options`), as :func:`consilience.generate` does it. New objects are given by their distances to all objects of X, one
        column for each.
    standardize : bool, default True
        Give every column mean 0 and standard deviation 1 first; sparse data is only scaled, and distances stay as they are.
    guide : Guide, optional
        Wishes that weigh the columns of every member (:class:`consilience.generation.Guide`): pairs of objects, and columns of the
        table to be like or unlike, which are set aside. Of objects that are not in the sample it says nothing.
    options : mapping, optional
        Of the methods and of k-means, as keywords of :func:`consilience.generate`: ``{"n_landmarks": 500, "max_iter": 50}``.
    max_objects : int or None, default 50,000
        Of more objects, so many are drawn at random, clustered and combined; the others are labeled as new objects are. None
        takes all, however long that is.
    random_state : int, generator or None
    n_jobs : int, optional
    client : dask.distributed.Client, optional
        A cluster that makes the members and combines them, instead (``docs/scale.md``); the answer is the same. What
        ``sklearn.base.clone`` makes has it too; an estimator that is copied otherwise, pickled or saved does not.

    Attributes
    ----------
    labels_ : (n_objects,) int array
        Clusters 0 … k − 1, the largest first (by the sample, where one was drawn); −1 for objects that no member labels.
    confidence_ : (n_objects,) array
        Probability that an independent ensemble of the same kind puts the object in the same cluster, times how far the nearest other kind
        of clustering has the same cluster (Jaccard index), and times the trust in the number where it was looked for
        (1 − 2^−(voices − 2)). Of objects that are not in the sample, the mean of those that are and have as much support.
    support_ : (n_objects,) array
        Share of the members that agree with that.
    n_clusters_ : int
        Fewer than `n_clusters`, with a :class:`~sklearn.exceptions.ConvergenceWarning`, where the consensus leaves some without objects.
    note_ : str
        How the choices were made, and what was done to columns that are not all numbers.
    doubt_ : str
        Why the answer is weak: too few kinds of clustering speak for the number, no other kind finds the clusters, few objects, or low
        confidence; empty where nothing says so.
    scales_ : DataFrame or None
        With ``n_clusters="auto"``: the answer's number and the others with three voices, the most voices first: `n_clusters`, `voices`,
        `nearest` (how alike two kinds are at least there), `kinds` (those that speak) and `real` (four voices).
    kinds_ : Ensemble
        The partitions of other kinds, of at most 3,000 objects; `info` says which kind, scaling and number. Not there after :meth:`load`.
    ensemble_ : Ensemble
        The members; not there after :meth:`load`.
    consensus_ : Consensus
        Of the objects that were combined; not there after :meth:`load`.
    encoder_ : Encoder or None
        How columns that are not all numbers became numbers; new objects are encoded alike.
    sample_ : (n_sampled,) int array or None
        The objects that were clustered and combined, where not all were.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where the columns have names.

    Notes
    -----
    A new object gets a label from every member: the nearest of its cluster means, in the member's own weighted columns, or the
    label of the nearest object where a member has no means (of up to 20,000 that are kept). What the members say of it then decides
    (:mod:`consilience.consensus.rows.placement`). An object with missing cells is labeled with them taken from each of ten similar
    objects of
    the data, and its probabilities, support and confidence are the means; one without any cell lies outside what was seen.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets.scenarios import gaussians_8d5k
    >>> X, known = gaussians_8d5k(300, random_state=0)
    >>> model = cs.EnsembleClusterer(5, n_clusterings=30, random_state=0).fit(X[:200])
    >>> model.n_clusters_, model.predict(X[200:]).shape
    (5, (100,))
    >>> model.drift(X[200:] + 1).large
    True
    """

    n_clusters: int | str | None = "auto"
    _: KW_ONLY
    n_clusterings: int | None = None
    base_n_clusters: Any = None
    methods: Any = "auto"
    base: Any = None
    method: str = "auto"
    metric: str = "euclidean"
    standardize: bool = True
    guide: Guide | None = None
    options: Mapping[str, Any] | None = None
    max_objects: int | None = 50_000
    random_state: RandomState = None
    n_jobs: int | None = None
    client: Any = None

    def __sklearn_clone__(self) -> EnsembleClusterer:
        """A copy that is not fitted, with the same client: a connection cannot be copied."""
        mine = self.get_params(deep=False)
        return type(self)(**{name: mine[name] if name == "client" else clone(mine[name], safe=False) for name in mine})

    def __getattr__(self, name: str) -> Any:
        """Only for attributes that are not there: those that a saved model has lost are explained."""
        if name in ("ensemble_", "consensus_", "kinds_") and "labels_" in vars(self):
            raise AttributeError(
                f"a clusterer that was loaded has no {name}, since members are not saved: its labels_, confidence_ and support_ say what "
                "was found, and fit makes it again"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def fit(self, X: ArrayLike, y: object = None) -> EnsembleClusterer:
        """Generate the members and combine them.

        Parameters
        ----------
        X : (n_objects, n_columns) array, sparse matrix, DataFrame, AnnData, Table or path
            Numbers; or (n_objects, n_objects) distances, with ``metric="precomputed"``. Tables may hold categories, dates and missing
            cells too: they are encoded as :func:`consilience.tables.read_table` does it (`encoder_`). Frames with named columns are read as
            files are: a column that is named like an id and has another value for every object names the objects, and is not clustered
            by; `note_` says so.
        y : ignored
        """
        with on_cluster(self.client), own_threads(n_threads(self.n_jobs), "blas"):
            return self._fit(X)

    def _fit(self, X: ArrayLike) -> EnsembleClusterer:
        is_distances = check_metric(self.metric)
        learn = learn_distances if is_distances else learn_rows
        table, guide = learn(self, X, check_guide(self.guide))
        seed = check_seed(self.random_state)
        sample = self._draw(table.n_objects, seed)
        clustered = table if sample is None else take_rows(table, sample)
        if guide is not None and sample is not None:
            guide = guide.of_rows(sample)
        runner, recipe = self._runner(clustered, guide, is_distances)
        ensemble = runner.run(self._n_members(runner.plan), child_seed(seed, "clusterer.members"), progress=False)
        values = runner.spaces.columns if is_distances else clustered.values
        places = Places.of(values, clustered.values, sample) if is_distances else None
        n_clusters = self._number_to_find(runner.plan, ensemble)
        if n_clusters is not None and n_clusters > len(ensemble.signatures()):
            _check_different_rows(values, n_clusters)
        if n_clusters == 1:
            consensus, kinds = _one_cluster(ensemble, self.method), None
        else:
            how = {"random_state": child_seed(seed, "clusterer.consensus"), "n_jobs": self.n_jobs}
            consensus, kinds = judge(runner, ensemble, n_clusters, self.method, how)
        if not isinstance(self.n_clusters, str) and consensus.n_clusters < (self.n_clusters or 0):
            found = f"the consensus has {count(consensus.n_clusters, 'cluster')}, fewer than"
            fewer = f"{found} n_clusters={self.n_clusters}: ask for fewer, or for another method"
            warnings.warn(fewer, ConvergenceWarning, stacklevel=3)  # of whoever calls fit
        seen = Seen.of(values, runner.spaces.columns, ensemble)
        model = NewObjects(Labeler.of(runner, ensemble), Placement.of(ensemble, consensus), seen)
        notes = [consensus.note, "" if recipe is None else f"members by recipe: {recipe.words}"]
        notes += [f"members guided by {words}" if (words := runner.plan.guide_words) else "", *table.notices]
        labels, confidence, support = consensus.labels, consensus.confidence, consensus.support
        if sample is not None:
            drawn = f"{len(sample):,} of {table.n_objects:,} objects were clustered, the others labeled as new ones are"
            notes.append(drawn)
            rows = rows_of(table) if places is None else places.rows(table)
            labels, _, support, confidence, _ = model.assigned(rows)
            labels[sample], confidence[sample] = consensus.labels, consensus.confidence
            support[sample] = consensus.support
        self.labels_, self.confidence_, self.support_ = labels, confidence, support
        self.n_clusters_, self.scales_, self.kinds_ = consensus.n_clusters, consensus.scales, kinds
        self.ensemble_, self.consensus_, self.sample_, self.encoder_ = ensemble, consensus, sample, table.encoder
        self.note_, self.doubt_ = "; ".join(filter(None, notes)), describe_doubt(consensus)
        self._model, self._places, self._guide_words = model, places, runner.plan.guide_words
        self._ids, self._source = table.ids, table.source if table.from_file else ""
        self._reader = None if is_distances else reader_of(table)
        return self

    def _draw(self, n: int, seed: int) -> Ints | None:
        """The objects that are clustered and combined; None for all."""
        if self.max_objects is None:
            return None
        most = check_count("max_objects", self.max_objects, 2)
        most = min(most, MOST_DISTANCES) if self.metric == "precomputed" else most
        return None if n <= most else np.sort(stream(seed, "clusterer.sample").choice(n, most, replace=False))

    def _runner(self, table: Table, guide: BoundGuide | None, is_distances: bool) -> tuple[Runner, Recipe | None]:
        """What makes the members, and the recipe that they are made by."""
        if self.n_clusterings is not None:
            check_count("n_clusterings", self.n_clusterings)
        recipe = recipe_of(table, metric=self.metric, base=self.base) if is_auto(self.methods) else None
        plan = Plan.checked(
            methods=self.methods if recipe is None else recipe.methods,
            n_clusters=self._member_clusters(table.n_objects),
            base=self.base,
            metric=self.metric,
            standardize=self.standardize,
            guide=guide,
            **check_options(self.options, is_distances=is_distances),
        )
        with warnings.catch_warnings():  # a fold of the data often has constant columns, which is not worth a warning
            warnings.filterwarnings("ignore", ".* being constant", GenerationWarning)
            return Runner(table, plan, self.base, self.n_jobs, keeps_predictors=True, scored=False), recipe

    def _member_clusters(self, n: int) -> Any:
        if self.base_n_clusters is not None:
            return self.base_n_clusters
        if isinstance(self.n_clusters, str) or self.n_clusters is None:
            return [round(k) for k in np.geomspace(2, numbers_for(n)[-1], DRAWS)]
        k = check_count("n_clusters", self.n_clusters)
        if k > n:
            raise InputError(f"{k} clusters need as many objects, and there are {n}: lower n_clusters (-k)")
        return usual_clusters(n, k)

    def _n_members(self, plan: Plan) -> int:
        if self.n_clusterings is not None:
            return self.n_clusterings
        quick = self.base is not None or all(METHODS[name].is_batched for name, _ in plan.methods)
        return QUICK if quick else SLOW

    def _number_to_find(self, plan: Plan, ensemble: Ensemble) -> int | None:
        """The number of clusters; None where it is to be looked for."""
        if isinstance(self.n_clusters, str):
            check_word("n_clusters", self.n_clusters)
            return None
        if self.n_clusters is not None:
            return int(self.n_clusters)
        numbers = plan.n_clusters if self.base is None else ensemble.n_clusters
        return min(max(int(np.median(numbers)), 2), len(ensemble.signatures()))

    def predict(self, X: ArrayLike) -> Ints:
        """The cluster of each row of `X`; −1 where no member has a label for it.

        A :class:`DriftWarning` says so where many rows lie outside what was seen, or a column has hardly any value.
        """
        new = self._read(X)
        for said in self._model.warnings(new):
            warnings.warn(said, DriftWarning, stacklevel=2)
        return np.concatenate([labels for labels, *_ in self._model.judged(new)])

    def predict_proba(self, X: ArrayLike) -> Floats:
        """(n_new, n_clusters) probabilities of the clusters given the members' labels; :meth:`predict` is the largest.

        They say which cluster, not whether any: how far to trust that for rows outside what was seen is the confidence of :meth:`assign`.
        """
        new = self._read(X)
        return np.concatenate([shares for _, shares, *_ in self._model.judged(new)])

    def assign(self, X: ArrayLike) -> Assignment:
        """Clusters of new objects with confidence, support, probabilities, and how far the objects are from what was seen.

        Parameters
        ----------
        X : (n_new, n_columns) array, sparse matrix, DataFrame, AnnData, Table or path
            With the columns of the data; with ``metric="precomputed"``, (n_new, n_objects) distances to the objects of the data.

        Returns
        -------
        Assignment
            `labels`, `confidence`, `support`, `membership`, `drift`, and :meth:`~Assignment.to_frame`.
        """
        new = self._read(X)
        labels, membership, support, confidence, beyond = self._model.assigned(new)
        return Assignment(
            labels=labels,
            confidence=confidence,
            support=support,
            membership=membership,
            drift=self._model.drift(new, self._column_names, beyond),
            ids=new.ids,
            notices=new.notices,
        )

    def read(self, source: Any, **reading: Any) -> Table:
        """New objects as a table, read as the one that was clustered: its columns by name, its decimal sign, and its column of ids.

        Parameters
        ----------
        source : path, or what :func:`consilience.tables.read_table` takes
        **reading
            Parameters of that, where something is to be read otherwise.
        """
        check_is_fitted(self)
        if self._places is not None:
            return read_distances(self, source, reading)
        return read_new(self, source, reading, self._reader)

    def drift(self, X: ArrayLike) -> Drift:
        """How the rows of `X` differ from those that were clustered: which lie outside, and which columns moved."""
        new = self._read(X)
        return self._model.drift(new, self._column_names)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean support of the rows of `X`: the share of the members that agree with their cluster. One cluster has 1."""
        new, total, known = self._read(X), 0.0, 0
        for labels, _, support, _ in self._model.judged(new):
            total, known = total + float(support.sum()), known + int((labels >= 0).sum())
        return total / max(known, 1)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write the fitted model to a new folder, which appears whole or not at all, without code.

        It holds all that :meth:`predict`, :meth:`assign` and :meth:`drift` need, and what was found of the objects, under their ids; not
        the members, and of the data only rows that missing cells are filled from (where it has words or gaps) and a sample where members
        have no means. With `overwrite` it takes the place of a saved result.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import consilience as cs
        >>> from consilience.datasets.scenarios import gaussians_8d5k
        >>> X, known = gaussians_8d5k(200, random_state=0)
        >>> model = cs.EnsembleClusterer(5, n_clusterings=10, random_state=0).fit(X)
        >>> path = Path(tempfile.mkdtemp()) / "model"
        >>> model.save(path)
        >>> bool((cs.EnsembleClusterer.load(path).predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        model_of(self).save(path, overwrite=overwrite)

    @classmethod
    def load(cls, path: PathLike) -> EnsembleClusterer:
        """The fitted model that :meth:`save` wrote; another clusterer (`base`) or guide is text then, and it cannot be fitted again."""
        return cls._of(ClustererModel.load(path))

    @classmethod
    def _of(cls, model: ClustererModel) -> EnsembleClusterer:
        made = cls(**model.parameters)
        made._guide_words = model.parameters.get("guide")
        for name in KEPT:
            setattr(made, f"{name}_", getattr(model, name))
        made.n_features_in_ = model.n_columns
        if model.columns is not None:
            made.feature_names_in_ = model.columns
        made._places, made._source = model.places, model.source
        made._model = NewObjects(model.labeler, model.placement, model.seen)
        made._ids, made._reader = model.ids, model.reader if model.encoder is None else model.encoder
        return made

    @property
    def _column_names(self) -> list[str] | None:
        if self._places is not None:
            return self._places.names
        names = getattr(self, "feature_names_in_", None) if self.encoder_ is None else self.encoder_.names
        return None if names is None else [str(name) for name in names]

    def _read(self, X: ArrayLike) -> Rows:
        check_is_fitted(self)
        if self._places is not None:
            return self._places.rows(read_distances(self, X))
        return new_rows(self, X, self.encoder_, self._reader)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.sparse = tags.input_tags.allow_nan = not tags.input_tags.pairwise
        # scikit-learn's check of sparse data asks this of whatever has predict_proba
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags


def _check_different_rows(values: Any, n_clusters: int) -> None:
    """Refuse more clusters than the data has different rows."""
    dense = values.toarray() if sparse.issparse(values) else values
    if (n := len(np.unique(dense, axis=0))) < n_clusters:
        asked = f"n_clusters={n_clusters} asks for {n_clusters:,} clusters"
        raise InputError(f"{asked}, and only {n:,} rows differ: ask for at most {n}")


def _one_cluster(ensemble: Ensemble, method: str) -> Consensus:
    known = (ensemble.labels >= 0).any(axis=1)
    labels, sure = np.where(known, 0, -1), known.astype(float)
    trust: dict[str, Any] = {"confidence": sure, "support": sure, "membership": sure[:, None]}
    return Consensus(labels=labels, **trust, n_clusters=1, method=method, anmi=0.0)
