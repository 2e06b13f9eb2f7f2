"""Options that verbs share, each written once, and types of values that import nothing before they are used."""

import csv
import shlex
import textwrap
from collections.abc import Callable, Sequence
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from consilience.cli.outputs import Input, Output, check_apart, runs

F = TypeVar("F", bound=Callable[..., Any])
INPUT = Input(path_type=Path)


class OneOf(click.ParamType):
    """One of the names that a module lists, such as "consilience.consensus:METHODS", and of some more."""

    name = "choice"

    def __init__(self, where: str = "", *more: str, only: Callable[[Any], bool] | None = None) -> None:
        self.where, self.more, self.only = where, more, only

    @property
    def choices(self) -> list[str]:
        if not self.where:
            return [*self.more]
        module, _, name = self.where.partition(":")
        listed = getattr(import_module(module), name)
        return [*self.more, *(one for one in listed if self.only is None or self.only(listed[one]))]

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if ctx is not None and ctx.resilient_parsing:  # the shell is completing: nothing is imported to check
            return value
        from consilience._check import check_choice

        return check_choice(value, self.choices, param.opts[0])

    def get_metavar(self, param: Any, ctx: Any = None) -> str:
        # click breaks no line here; only after a bar, so that names stay whole
        return "[" + "\n      ".join(textwrap.wrap("| ".join(self.choices), 60)).replace("| ", "|") + "]"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[Any]:
        """Complete the last of the names that commas or plus signs join."""
        from click.shell_completion import CompletionItem

        done = 1 + max(incomplete.rfind(","), incomplete.rfind("+"))
        names = [name for name in self.choices if name.startswith(incomplete[done:])]
        return [CompletionItem(incomplete[:done] + name) for name in names]


class Mix(OneOf):
    """Names with shares, joined by plus signs, as the verb's function reads them; or one of some more words, alone."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return value

    def get_metavar(self, param: Any, ctx: Any = None) -> str:
        return f"{super().get_metavar(param)}[:SHARE]+…"


class Names(OneOf):
    """A comma-separated list, quoted as in CSV; with the place of a list of choices, each is checked and completed."""

    name = "NAME,…"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        names = [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]
        if not all(names) or not names:
            self.fail("give at least one name, and one between every two commas", param, ctx)
        return [super(Names, self).convert(name, param, ctx) for name in names] if self.where else names

    def get_metavar(self, param: Any, ctx: Any = None) -> str:
        return f"{super().get_metavar(param)},…" if self.where else self.name


class Number(click.ParamType):
    """A whole number, or one of some words; with `several`, also a range (5-20) or a list (5,10,15)."""

    def __init__(self, *words: str, several: bool = False) -> None:
        self.words, self.several = words, several
        self.name = "|".join(["number", *(["low-high", "a,b,…"] if several else []), *words])

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value.lower() in self.words:
            return value.lower()
        try:
            if self.several and "," in value:
                return [int(k) for k in value.split(",")]
            low, dash, high = value.partition("-") if self.several else (value, "", "")
            return (int(low), int(high)) if dash else int(low)
        except ValueError:
            forms = ["a whole number", *(["a range such as 5-20", "a list such as 5,10,15"] if self.several else [])]
            self.fail(f"{value!r} is neither {' nor '.join([*forms, *map(repr, self.words)])}", param, ctx)


def option(flags: str, text: str, *, of: str = "", more: Sequence[str] = (), writes: str = "", **settings: Any) -> Any:
    """An option, its default shown: of a name that a module lists (`of`) or of some more, or of what is written."""
    if of:
        settings["type"] = OneOf(of, *more)
    if writes:
        settings["type"] = Output(writes)
    settings.setdefault("show_default", settings.get("default") is not None and not settings.get("is_flag"))
    return click.option(*flags.split(), help=text, **settings)


def input_option(flags: str, text: str, **settings: Any) -> Any:
    return option(flags, text, type=INPUT, **settings)


def block(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def together(name: str, *blocks: Callable[[F], F]) -> Callable[[F], F]:
    """Options whose values the verb gets together, by their names in one dictionary."""
    add = block(*blocks)
    nothing: Any = add(cast(F, lambda: None))
    names = [param.name for param in nothing.__click_params__]

    def collect(function: F) -> F:
        @wraps(function)
        def command(**given: Any) -> Any:
            return function(**{name: {one: given.pop(one) for one in names}}, **given)

        return add(cast(F, command))

    return collect


reading = partial(together, "how")  # what is read, and how
writing = partial(together, "out")  # the files that are written


def names_option(flags: str, text: str, *, of: str = "", **settings: Any) -> Any:
    """An option of names: in one list, or given several times."""

    def join(ctx: click.Context, param: click.Parameter, lists: tuple[list[str], ...]) -> list[str]:
        return list(dict.fromkeys(name for names in lists for name in names))

    return option(flags, text, type=Names(of), multiple=True, callback=join, **settings)


def _types(ctx: click.Context, param: click.Parameter, lists: tuple[list[str], ...]) -> dict[str, str] | str | None:
    """Types of columns by name, in one list or given several times; one type alone is that of all columns."""
    given = [one for some in lists for one in some]
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    types = {name.strip(): kind.strip() for name, _, kind in (one.rpartition("=") for one in given)}
    if not all(types) or not all(types.values()):
        raise click.BadParameter("name columns with their types, such as zip=category.", ctx, param)
    return types or None


def output_option(what: str) -> Any:
    return option("--output -o", f"Write {what} (.csv, .tsv, .parquet).", writes="table")


def figure_option(what: str) -> Any:
    return option("--figure", f"Draw {what} (.png, .svg, .pdf); needs the extra 'plots'.", writes="picture")


def consensus_options(number: str, method: str, default: str | None = None) -> Any:
    how = option("--method", method, of="consilience.consensus:METHODS", more=("auto",), default=default)
    return block(option("--n-clusters -k", number, type=Number("auto")), how)


def clusters_option(text: str, drawn: str = "√n / 4 to √n for n objects, at most 60") -> Any:
    return option("--n-clusters -k", f"{text}  [default: drawn from {drawn}]", type=Number(several=True))


def standardize_option(others: str = "counts are weighted by tf-idf, distances stay as they are") -> Any:
    text = f"Bring the columns of data to one scale first (the default); {others}."
    return option("--standardize/--no-standardize", text, default=True, show_default=False)


def methods_option(default: str = "zipf+pca") -> Any:
    text = "How clusterings of data are made; auto: as the kind of data asks for, where one good clustering is the aim."
    return option("--methods", text, type=Mix("consilience.generation:METHODS", "auto"), default=default)


def kind_option(of: str, *kinds: str) -> Any:
    text = "What a table holds: 'auto' takes columns of few whole numbers or names for labels."
    return option("--kind", text, type=OneOf(of, *(() if of else ("auto",)), *kinds), default="auto")


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta["as_json"] = value


def _base(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    if value is None or ctx.resilient_parsing:
        return None
    from consilience.cli.generate import parse_base

    return parse_base(value)


def _metric(ctx: click.Context, param: click.Parameter, value: bool) -> str:
    return "precomputed" if value else "euclidean"


seed_option = option("--seed random_state", "Seed of everything random.", default=0)
json_option = option("--json", "Print JSON.", is_flag=True, expose_value=False, callback=_remember)
jobs_option = runs  # and where the work is done, and what is said of it
run_options = block(seed_option, json_option, jobs_option)
base_option = option(
    "--base", "A scikit-learn clusterer in place of k-means: 'HDBSCAN(min_cluster_size=10)'.", callback=_base
)
distances_option = option("--distances metric", "DATA is a matrix of distances.", is_flag=True, callback=_metric)
_names = "Names of the columns of data, such as words: a vector of its npz file, or a text file with one a line."
column_names_option = option("--names", _names)
linkage_option = option("--linkage", "How the tree is grown.", of="consilience.meta.tree:LINKAGES", default="ward")
_shuffles = "Shuffles that the best group is compared with (with known labels)."
shuffles_option = option("--n-shuffles", _shuffles, type=click.IntRange(min=0), default=20)
known_option = names_option("--known -t", "Known labels: columns of a table that is read, set aside to judge by.")
known_options = block(
    known_option,
    input_option(
        "--known-from",
        "A table of known labels for the same objects, matched by id, or in the same order where there are no ids.",
    ),
    option("--known-id", "Its column of ids; by default --id, or the one that has the objects' ids.", metavar="NAME"),
)
_more = "Another file of clusterings of the same objects, joined by id; any number of times."
more_option = input_option("--with more", _more, multiple=True, metavar="PATH")
given_options = block(
    names_option("--given -g", "The grouping you know: columns of the table, set aside."),
    input_option(
        "--given-from", "The table that holds --given (all its columns by default), matched as --known-from is."
    ),
)
data_options = block(
    input_option("--data", "The table that was clustered, matched by id or in the same order."),
    option("--data-id", "Its column of ids; by default --id, or the one that has those ids.", metavar="NAME"),
    names_option("--data-columns", "Keep only these columns of it."),
    option("--data-key", "Which array of an npz file, sheet of a workbook, layer or obsm of an h5ad it is."),
)
_TURNED = "The columns of data are the objects and the rows what was measured, as genes × samples."
_KINDS = (
    "What columns of data are, where it is not what their cells say: number, log, category, ordered, date or ignore, "
    "or words from the lowest, as in 'size=S<M<L'; or one type for all, also counts."
)
TEXT = ("sep", "header", "decimal", "encoding", "missing")  # how to read a text file
OF_DATA = ("data", "data_id", "data_columns", "data_key")
table_options = block(
    option("--id id_column", "Column that names the objects; or its position, from 0.", metavar="NAME"),
    names_option("--columns", "Keep only these columns, or clusterings of a run: names, or patterns ('leiden_*')."),
    option("--type types", _KINDS, type=Names(), multiple=True, callback=_types, metavar="NAME=TYPE,…"),
    option("--sep", "Separator of a text file, or 'tab'; found by default."),
    option("--decimal", "Decimal sign of a text file; found by default.", type=click.Choice([".", ","])),
    option("--encoding", "Of a text file; UTF-8, UTF-16 and Windows-1252 are found by default."),
    names_option("--missing", "Words that count as missing beside NA, NaN, null and the empty cell."),
    option("--header/--no-header", "Whether the first line of a text file holds names.", default=None, is_flag=True),
    option("--key --sheet key", "Which array of an npz file, sheet of a workbook, layer or obsm of an h5ad."),
    option("--transpose", _TURNED, default=None, is_flag=True),
)
_PAIRS = "Pairs of objects to keep"
guide_options = together(
    "guide",
    input_option("--together", f"{_PAIRS} together: a table of two columns of ids, or of rows from 0.", metavar="FILE"),
    input_option("--apart", f"{_PAIRS} apart.", metavar="FILE"),
    names_option("--like", "Columns of the table, set aside, that the clusterings should be like."),
    names_option("--unlike", "Columns of the table, set aside, that they should not be like."),
    option("--guide-strength", "How much these weigh the columns [default: 1.5]; 0 only scores.", type=float),
)


def verb(name: str, files: str = "", terms: str = "") -> Any:
    """A verb that reads these files, whose help explains these words."""
    arguments = [click.argument(file, type=INPUT, is_eager=True) for file in files.split()]
    words = terms.split(", ") if terms else []
    return block(click.command(name, cls=Verb, terms=words), *arguments)


def given_by_user() -> set[str]:
    """Names of the parameters that were not left at their defaults."""
    ctx, default = click.get_current_context(), click.core.ParameterSource.DEFAULT
    return {name for name in ctx.params if ctx.get_parameter_source(name) is not default}


def command_line() -> str:
    return shlex.join(["consilience", *click.get_current_context().obj])


class Verb(click.Command):
    """A verb whose help ends with what the words of its output mean."""

    def __init__(self, *args: Any, terms: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.terms = terms

    def invoke(self, ctx: click.Context) -> Any:
        check_apart()
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.terms:
            from consilience.reports.words import DEFINITIONS  # which takes longer to import than all other help

            with formatter.section("Words"):
                formatter.write_dl([(term, DEFINITIONS[term]) for term in self.terms])
