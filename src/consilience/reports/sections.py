"""The sections of reports: a registry that anybody can add to, and what the report of every kind of result has."""

import ast
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from consilience._check import InputError, count, kind_of
from consilience._types import Array, Ints
from consilience.ensemble import Ensemble
from consilience.ensemble.from_sources import ensemble_of
from consilience.measures.explained_variance import VarianceBetween
from consilience.measures.spreads_and_top_words import ComparableTable
from consilience.reports.figures import slots_of
from consilience.reports.finding import Block, Code, Facts, Finding, Items, Section, Text
from consilience.reports.plane import feature_names
from consilience.tables import Table

NOT_TRUTH = "Stability is not truth: clusterings that are wrong in the same way agree."
CONFIDENCE = (
    "Confidence is the probability that an independent ensemble of the same kind puts the object in the same cluster: that the answer "
    "would come again. It is not the probability that the cluster is true: a mistake that all clusterings share is not doubted."
)
CLUSTERED = (
    "Clusters are made to differ on the data: effect sizes, compactness and pictures of the data show what the clusters are, not "
    "that they are real."
)


@dataclass(frozen=True)
class Options:
    """What was given beyond the result; None where nothing was. `known` holds codes by name, `label_names` what they stand for."""

    data: Table | None = None
    known: dict[str, Any] = field(default_factory=dict)
    label_names: dict[str, list[str]] = field(default_factory=dict)
    n_groups: int | str | None = None
    linkage: str | None = None
    n_clusters: int | str | None = None
    method: str | None = None
    n_shuffles: int = 20  # of the groups' members
    seed: int = 0
    n_jobs: int | None = None
    id_name: str = "id"  # what the column of the ids is called


class Report:
    """The report of one result. A subclass ``class MyReport(Report, of=MyResult)`` makes a kind of result known.

    Sections are functions of a report, see :func:`section`. What several of them need is a cached property of the subclass.

    Attributes
    ----------
    result
        What the report is of.
    origin : Provenance
        Where it came from.
    options : Options
        What was given beside it: data, known labels, and how to combine.
    command : str
        The command that writes the report; empty from Python.

    Examples
    --------
    A kind of result of one's own gets a page:

    >>> from consilience.reports import Finding, Report
    >>> class Tally:
    ...     def __init__(self, counts):
    ...         self.counts = counts
    >>> class TallyReport(Report, of=Tally):
    ...     name, about = "tally", "how many there are"
    ...
    ...     def finding(self):
    ...         return Finding(f"{sum(self.result.counts)} in {len(self.result.counts)} clusters")
    >>> TallyReport(Tally([5, 3]), None).finding().title
    '8 in 2 clusters'
    """

    uses: ClassVar[tuple[str, ...]] = ("data", "known")  # options that this kind of result has a use for
    data_kind: ClassVar[str] = "data"
    name: ClassVar[str] = "found"  # of the result, in code that writes the report again
    about: ClassVar[str] = ""  # what the title says after the source

    def __init_subclass__(cls, of: type | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if of is not None:
            KINDS[of] = cls

    def __init__(self, result: Any, origin: Any, options: Options | None = None, command: str = "") -> None:
        self.result, self.origin, self.command = result, origin, command
        self.options = options or Options()

    @property
    def data(self) -> Table | None:
        """The table that was clustered, a row per object."""
        return self.options.data

    @property
    def known(self) -> dict[str, Any]:
        """Known labels of the objects, as codes by name."""
        return self.options.known

    @property
    def how(self) -> dict[str, Any]:
        """How clusterings are combined."""
        asked = self.options
        return {"n_clusters": asked.n_clusters, "method": asked.method or "auto", "random_state": asked.seed}

    def names_of(self, known: str) -> list[str]:
        """What the codes of known labels stand for."""
        return self.options.label_names.get(known) or [str(code) for code in range(int(self.known[known].max()) + 1)]

    @property
    def objects(self) -> Ensemble:
        """Clusterings of the objects that data and known labels are of."""
        return ensemble_of(self.result)

    @property
    def title(self) -> str:
        """Of the page."""
        return f"{self.origin.source}: {self.about}" if self.about else str(self.origin.source)

    def finding(self) -> Finding:
        """What there is to say of the result."""
        return Finding("")

    def answer(self) -> list[Text | Items]:
        """What was found, in a few sentences on top of the page: by default the doubts, title and sentences of the finding."""
        found = self.finding()
        doubts = [Text(doubt, note=True) for doubt in found.doubts]
        return [*doubts, *(Text(f"{text.removesuffix('.')}.") for text in (found.title, *found.sentences) if text)]

    @cached_property
    def comparable(self) -> ComparableTable | None:
        """The data as its columns can be compared between clusters; None without columns."""
        data = self.data
        return None if data is None or data.kind == "distances" else ComparableTable(data, feature_names(data))

    @cached_property
    def following(self) -> VarianceBetween | None:
        """What says which columns a clustering follows."""
        return None if self.comparable is None else VarianceBetween(self.comparable)

    @property
    def reference(self) -> Array:
        """Labels that the colors of clusters follow."""
        return np.asarray(self.result.labels)

    def slots(self, labels: Array) -> Ints:
        """Which color each cluster of a clustering has, in pictures and tables."""
        return slots_of(labels, self.reference)

    def facts(self) -> list[tuple[str, str]]:
        """What was done, in terms and values."""
        return [("source", self.origin.source)]

    def code(self) -> list[str]:
        """Lines of Python that make the result, as `name`."""
        return [f"{self.name} = {self.origin.code}"] if self.origin.code else []

    def notes(self) -> list[str | None]:
        """What the figures do not say; None where a note does not apply."""
        return []

    def sections(self) -> Iterator[Callable[[], Section | None]]:
        """What makes the sections, in order: those registered for this kind of result, what was done, and the notes."""
        yield from (partial(one.make, self) for one in sections_of(type(self.result)))
        yield self._done
        yield lambda: Section("What these figures do not say", [Text(text) for text in self.notes() if text])

    def _done(self) -> Section:
        facts, lines, labels = [*self.facts()], ["import consilience as cs", ""], None
        if self.data is not None:
            facts += [] if self.data.encoder is None else [("columns of the data", self.data.encoder.describe())]
            size = f"{self.data.n_objects:,} × {count(self.data.values.shape[1], 'column')}"
            facts.append(("data", f"{self.data.source}: {size}"))
            lines.append(f"data = {self.origin.data_code or '...  # the table that was given as data'}")
            labels = self.data.labels if self.origin.data_code else None
        lines += self.code()
        if self.known:
            classes = (f"{name} ({count(int(codes.max()) + 1, 'label')})" for name, codes in self.known.items())
            facts.append(("known labels", ", ".join(classes)))
            is_there = labels is not None and set(self.known) <= set(labels)
            lines.append(f"known = {'data.labels' if is_there else '...  # the known labels by name'}")
        facts.append(("versions", _versions()))
        command = [Code(self.command)] if self.command else []
        again = Code("\n".join([*lines, self._call()]))
        return Section("What was done", [Facts(facts), Text("To write this report again:"), *command, again])

    def _call(self) -> str:
        words = [self.name, '"report.html"']
        words += ["data=data"] if self.data is not None else []
        words += ["known=known"] if self.known else []
        asked = self.how | {"method": self.options.method, "random_state": self.options.seed or None}
        words += [f"{name}={value!r}" for name, value in asked.items() if value is not None]
        return f"cs.report({', '.join(words)})"


def code_of(name: str, call: str, meaning: str) -> list[str]:
    """Lines of Python that make a result by the call that made it; what the call names and nobody kept is left open."""
    if not call:
        return [f"{name} = ...  # the result that was given"]
    made: Any = ast.parse(call, mode="eval").body
    words = [word.id for word in [*made.args, *(given.value for given in made.keywords)] if isinstance(word, ast.Name)]
    opened = [f"{word} = ...  # {'as it was given' if i else meaning}" for i, word in enumerate(words)]
    return [*opened, f"{name} = {call}"]


@dataclass(frozen=True)
class RegisteredSection:
    name: str
    title: str
    order: float
    blocks: "Maker"

    def make(self, report: Report) -> Section | None:
        blocks = list(self.blocks(report))
        return Section(self.title, blocks) if blocks else None


Maker = Callable[[Any], Iterable[Block]]
KINDS: dict[type, type[Report]] = {}
SECTIONS: dict[type, dict[str, RegisteredSection]] = {}


def section(*results: type, title: str, order: float = 100) -> Callable[[Maker], Maker]:
    """Register a function that makes a section of the report of some kinds of results.

    The function gets the :class:`Report` and returns (or yields) blocks: :class:`Text`, :class:`Facts`, :class:`Code`,
    :class:`Sheet` (a table) and :class:`Picture` (a matplotlib figure). Sheets and pictures are also written to the folder of
    figures, under their names. No blocks, no section.

    Parameters
    ----------
    *results : type
        Kinds of results, such as :class:`consilience.Ensemble` and :class:`consilience.meta.MetaClustering`.
    title : str
        The heading.
    order : float
        Sections stand in increasing order; the package's own have 10, 20, … 90.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.reports import Text, remove_section, section
    >>> @section(cs.Ensemble, title="Names")
    ... def names(report):
    ...     yield Text(", ".join(report.result.names))
    >>> remove_section(cs.Ensemble, "names")
    """

    def register(blocks: Maker) -> Maker:
        for result in results:
            if not isinstance(result, type):
                raise InputError(f"a section belongs to kinds of results, which are classes; got {kind_of(result)}")
            name = blocks.__name__
            SECTIONS.setdefault(result, {})[name] = RegisteredSection(name, title, order, blocks)
        return blocks

    return register


def remove_section(result: type, name: str) -> None:
    """Take a section out of the reports of a kind of result, by the name of its function.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.reports import remove_section, section
    >>> @section(cs.Ensemble, title="Mine", order=95)
    ... def mine(report):
    ...     yield from ()
    >>> remove_section(cs.Ensemble, "mine")
    """
    SECTIONS.get(result, {}).pop(name, None)


def sections_of(result: type) -> Sequence[RegisteredSection]:
    return sorted(SECTIONS.get(result, {}).values(), key=lambda one: one.order)


def report_of(result: Any) -> type[Report]:
    for kind in type(result).__mro__:
        if kind in KINDS:
            return KINDS[kind]
    kinds = ", ".join(sorted(kind.__name__ for kind in KINDS))
    raise InputError(f"a report is of one of {kinds}, or of what can be opened as one; got {kind_of(result)}")


def _versions() -> str:
    """Everything that can change a number."""
    parts = [f"{name} {version(name)}" for name in ("consilience", "numpy", "scipy", "scikit-learn", "pandas")]
    return ", ".join([*parts, f"Python {platform.python_version()}"])
