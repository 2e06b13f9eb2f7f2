"""What a generation method is: it draws what one clustering is asked to be, and makes it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

from consilience._check import InputError
from consilience._types import Array, ArrayLike, Floats, Ints
from consilience.ensemble.results import register
from consilience.generation.kmeans import Runs, check_table, kmeans_runs
from consilience.generation.plan import Plan, Spec

Check: TypeAlias = Callable[[str, Any], Any]  # (name, value) → the value to keep, or an InputError
Options: TypeAlias = Mapping[str, tuple[Any, Check]]


def check_each(name: str, given: Any, check: Check, what: str) -> tuple[Any, ...]:
    """One value, or several to draw from; `what` says what they are."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    values = tuple(check(name, value) for value in (given if several else [given]))
    if not values:
        raise InputError(f"{name} is empty: give {what}")
    return values


@register
@dataclass(frozen=True, eq=False)
class Space:
    """A form of the data that clusterings are made on: here the columns themselves, (n_objects, width), dense or CSR.

    A subclass is a dataclass as well; its fields are saved with a model that labels new objects, but the table is not.
    """

    table: ArrayLike

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        register(cls)

    @property
    def width(self) -> int:
        return int(self.table.shape[1])

    @cached_property
    def checked(self) -> ArrayLike:
        # Validated once for all batches of a run.
        return check_table(self.table)

    @property
    def places(self) -> ArrayLike:
        """Coordinates of the objects, in which new ones are near some of them."""
        return self.table

    def transform(self, columns: ArrayLike) -> ArrayLike:
        """New rows, given by their columns, in this space."""
        return columns

    def bare(self) -> Self:
        """What :meth:`transform` needs, without the objects."""
        return replace(self, table=None)

    def settle(self, spec: Spec) -> Spec:
        """A spec as it was drawn, with what depends on the data."""
        return spec


class Method:
    """A source of diversity. A subclass, entered in :data:`consilience.generation.METHODS`, is all that a new one needs.

    As it stands it is k-means from random starts on the columns of the data. Override what differs. A method that overrides
    neither `objects` nor `make` is weighted k-means, and its clusterings are made many at a time in one kernel call.

    Attributes
    ----------
    options : mapping of str to (default, check)
        Keywords of :func:`consilience.generate` that it reads from ``plan.options``; ``check(name, value)`` returns the value to
        keep, which must be a JSON value. An option of several methods has the same default and check in all of them.
    drawn : tuple of str
        Names of the numbers in ``spec.drawn``: columns of `info`.
    varied : tuple of str
        Those of them that ``generate(…, around=…)`` varies beside the weights.
    space : str
        Which form of the data its weights belong to; methods that name the same one share it.
    min_columns : int
        Columns, constant ones aside, that it needs.
    takes_base : bool
        Whether a scikit-learn clusterer can take the place of k-means.
    takes_graph : bool
        Whether it clusters the matrix of a graph, ``metric="graph"``.

    Examples
    --------
    >>> from consilience.generation import METHODS, Method
    >>> isinstance(METHODS["zipf"], Method), METHODS["zipf"].drawn
    (True, ('alpha',))
    """

    options: ClassVar[Options] = {}
    drawn: ClassVar[tuple[str, ...]] = ()
    varied: ClassVar[tuple[str, ...]] = ()
    space: ClassVar[str] = "columns"
    min_columns: ClassVar[int] = 1
    takes_base: ClassVar[bool] = True
    takes_graph: ClassVar[bool] = False

    def check(self, n_objects: int) -> None:
        """Refuse data that it cannot cluster, with one sentence."""

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        """The form of the data that `space` names; computed once for a run."""
        return Space(columns)

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        """The spec with its weights and its `drawn` numbers.

        `u` are uniform numbers of the clustering's own: two, and then one for each column of the space.
        """
        return spec

    def objects(self, spec: Spec, n_objects: int, plan: Plan) -> Ints | None:
        """The objects that take part, in order; None for all. The others have no label."""
        return None

    def make(self, table: ArrayLike, spec: Spec, plan: Plan) -> Runs | Array:
        """The labels of the rows of `table` (its columns have their weights already), or what `kmeans_runs` returned.

        All that is random must come from ``spec.run_stream``, a seed and a unit. A method that can label new objects as it labeled these
        returns ``Runs.of_labels(labels, predictor=…)``; without a predictor they get the label of the nearest object.
        """
        seed, unit = spec.run_stream  # a stream of its own: what is made beside it cannot change it
        return kmeans_runs(table, spec.n_clusters, seed=seed, units=[unit], init=plan.init, max_iter=plan.max_iter)

    def describe(self, row: Mapping[str, Any]) -> str:
        """How a clustering was made, in a few words, from its row of `info`."""
        # People read the first line of a method's docstring.
        return (type(self).__doc__ or type(self).__name__).partition("\n")[0].rstrip(".")

    @property
    def is_kmeans(self) -> bool:
        """Whether its clusterings are weighted k-means, so that every object is with the nearest mean."""
        return type(self).make is Method.make

    @property
    def is_batched(self) -> bool:
        """Whether, besides, all objects take part, so that many can be made in one kernel call."""
        return self.is_kmeans and type(self).objects is Method.objects
