"""What every report has: what was asked for, what was done and how to do it again, and what its figures do not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from consilience.reports.page import Block, Code, Facts, Section, Text
from consilience.reports.provenance import Origin, given_facts, versions
from consilience.tables import Table

Step = Callable[[], Section | None]
PAIRS = "Stability is no truth: clusterings that are wrong in the same way agree."
APART = "Some of the clusterings share no object: nothing says how far apart they are, so there is no tree of them."
MANY = "The number of groups is a choice. The same experiment with another seed often suggests another one."
BEST = (
    "A group, a clustering or a number that was picked because it matches known labels best matches new ones less well; the null "
    "of the groups says how much of the match is picking."
)
SURE = (
    "Confidence takes the clusterings for independent witnesses, after a discount for erring alike. A mistake that all of them share "
    "makes it too high: read it as a ranking of the objects."
)
MADE = (
    "Clusters are made to differ on the data: effect sizes, compactness and pictures of the data show what the clusters are, not "
    "that they are real."
)


@dataclass(frozen=True)
class Options:
    """What was given beyond the result; None where nothing was. `known` holds codes by name."""

    data: Table | None = None
    known: dict[str, Any] = field(default_factory=dict)
    n_groups: int | str | None = None
    linkage: str | None = None
    n_clusters: int | str | None = None
    method: str | None = None
    n_shuffles: int = 20
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class Story:
    """A title, the sections in order, each made when its turn comes, and one or two sentences that stand above them all."""

    title: str
    steps: Sequence[Step]
    lead: Callable[[], str]


def done(facts: list[tuple[str, str]], origin: Origin, options: Options, lines: Sequence[str]) -> Section:
    """What was done, and the lines that do it again."""
    blocks: list[Block] = [
        Facts([*facts, *given_facts(options.data, options.known), ("versions", versions())]),
        Text("To make this report again:"),
    ]
    if origin.command:
        blocks.append(Code(origin.command))
    head = ["import consilience as cs"]
    if any("read_table(" in line for line in lines):
        head.append("from consilience.tables import read_table")
    given = ["data = ...  # the table that was given as data"] if options.data is not None else []
    given += ["known = ...  # the known labels by name"] if options.known else []
    return Section("What was done", [*blocks, Code("\n".join([*head, "", *given, *lines]))])


def report_line(what: str, options: Options, **others: Any) -> str:
    """The call of :func:`consilience.report` that writes the same again."""
    words = [what, '"report.html"']
    words += [name for name in ("data=data",) if options.data is not None]
    words += [name for name in ("known=known",) if options.known]
    asked = {"n_clusters": options.n_clusters, "method": options.method, **others}
    words += [f"{name}={value!r}" for name, value in asked.items() if value is not None]
    return f"cs.report({', '.join(words)})"


def ending(*texts: str | None) -> Step:
    """The last section; texts that do not apply are None."""
    return lambda: Section("What these figures do not say", [Text(text) for text in texts if text])
