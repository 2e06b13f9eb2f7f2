"""What a command reads: the files it names, and what was said of how to read each of them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from consilience._check import InputError, nearest, printable
from consilience.cli.errors import QUOTED, as_typed
from consilience.cli.shared_options import OF_DATA, TEXT
from consilience.ensemble.from_sources import in_blocks, is_one_table, refuse_blocks
from consilience.inputs import Opened, open_source
from consilience.inputs.guess import has_own_ids
from consilience.inputs.known_labels import column_names, labels_from
from consilience.tables import Table, read_table
from consilience.tables.column_roles import Doubt
from consilience.tables.raw_table import PARSING
from consilience.tables.read_table import find_id_column

LONG = 120  # safeguard: letters of a notice that a line has room for


def open_clusterings(
    source: Path, kind: str = "labels", data_kind: str = "data", more: Any = (), known: Sequence[str] = (), **how: Any
) -> Opened:
    """Clusterings in a table, a stored run or a saved result, with their data and what is known of the objects."""
    data, data_id, data_columns, data_key = (how.pop(name, None) for name in OF_DATA)
    known_from, known_id = (how.pop(name, None) for name in ("known_from", "known_id"))
    is_folder = source.is_dir() and not is_one_table(source)
    if data is None and (data_id or data_columns or data_key):
        raise InputError("--data-id, --data-columns and --data-key say how to read the table of --data: give it too")
    if is_folder:
        refuse_blocks(source, "a stored run, a saved result or one table")
    of_data = {name: how.pop(name, None) for name in ("types", "transpose")} if data is not None else {}
    alone = is_folder and data is None and known_from is None and not more
    if alone and (known or any(value not in (None, []) for name, value in how.items() if name != "columns")):
        what = "--known, --id, --columns, --type, --sep, --header, --key and --transpose are for tables"
        remedy = "known labels of its objects come with --known-from, or with the table of --data where there is one"
        raise InputError(f"{source} is a folder of clusterings: {what}; {remedy}")
    own = [None if path.is_dir() and not is_one_table(path) else path for path in (source, *more)]
    turned = (data or source) if of_data.get("transpose") or how.get("transpose") else None
    by_table = known_in(known, [*own, *(path for path in (data, known_from) if path is not None)], source, how, turned)
    mine, theirs = dict.fromkeys(name for names in by_table[: len(own)] for name in names), by_table[len(own) :]
    reading = {"columns": how["columns"]} if is_folder and not more else {**how, "known_columns": list(mine)}
    opened = open_source([source, *more] if more else source, kind="labels" if more else kind, **reading)
    if data is not None:
        if opened.data is not None:
            raise InputError(f"{source} is taken for {opened.kind} itself: leave --data out, or say --kind labels")
        parsing = _parsing(data, source, how)
        same = known_from is not None and known_from.resolve() == data.resolve()
        reading = {
            "id_column": _id_column(data, data_id, how["id_column"], opened.ensemble.ids, parsing),
            "columns": list(data_columns or ()),
            "key": data_key,
            "known": [] if same else theirs[0],  # what is known is taken from one of them
            **of_data,
            **parsing,
        }
        reading = {name: value for name, value in reading.items() if value}
        opened = opened.with_data(read_table(data, kind=data_kind, **reading))
        said = "".join(f", {name}={value!r}" for name, value in reading.items())
        code = f"cs.tables.read_table({str(data.resolve())!r}, kind={data_kind!r}{said})"
        opened = replace(opened, provenance=replace(opened.provenance, data_code=code))
    if known_from is None:
        return opened
    return opened.with_known(_labels_of(opened, known_from, known_id, source, theirs[-1], how), known_from)


def open_data(
    source: Path, kind: str, known: Sequence[str] = (), given: Sequence[str] = (), **how: Any
) -> tuple[Opened, dict[str, Any]]:
    """A table of data, counts or distances with what is known of its objects, and the groupings that are given, by name."""
    known_from, known_id, given_from = (how.pop(name, None) for name in ("known_from", "known_id", "given_from"))
    if source.is_dir():
        refuse_blocks(source, "one table")
        raise InputError(f"{source} is a folder, and this needs the table itself: name its file")
    here = [] if given_from else list(given)
    if both := [name for name in here if name in known]:
        raise InputError(f"{both[0]!r} is named by --given and by --known: leave it out of one")
    turned = source if how.get("transpose") else None
    mine, *theirs = known_in(known, [path for path in (source, known_from) if path is not None], source, how, turned)
    opened = open_source(source, kind=kind, known_columns=[*here, *mine], **how)
    groups = {name: opened.known[name] for name in here}
    opened = Opened(None, opened.provenance, opened.data, {name: opened.known[name] for name in mine}, opened.kind)
    if given_from is not None:
        groups = _labels_of(opened, given_from, known_id, source, list(given), how)
    if known_from is None:
        return opened, groups
    own = _labels_of(opened, known_from, known_id, source, theirs[-1], how)
    return opened.with_known(own, known_from), groups


def open_number_blocks(source: Path, aside: Sequence[Any], how: dict[str, Any]) -> Any:
    """A folder of Parquet files as a table of numbers in row blocks; None for anything else."""
    if not in_blocks(source):
        return None
    numbers = "--columns takes some of its columns by name, which are all numbers, and --id that of their names"
    _refuse_of_blocks(source, aside, how, numbers)
    from consilience.generation import NumberBlocks

    names = how.get("columns")
    return NumberBlocks(source, columns=list(names) if names else None, id_column=how.get("id_column"))


def open_count_blocks(source: Path, aside: Sequence[Any], how: dict[str, Any]) -> Any:
    """A folder of npz files or Parquet triples as counts in row blocks; None for anything else."""
    if not source.is_dir() or not (in_blocks(source) or any(source.glob("*.npz"))):
        return None
    named = [how.get("id_column"), *(how.get("columns") or ())]
    _refuse_of_blocks(source, [*aside, *named], how, "its rows and columns are numbers from 0")
    from consilience.agreement import CountBlocks

    return CountBlocks(source)


def _refuse_of_blocks(source: Path, aside: Sequence[Any], how: dict[str, Any], instead: str) -> None:
    """What is said of how to read one table, or of its objects, is refused where there are row blocks."""
    taken = ("columns", "id_column")
    if any(aside) or any(value not in (None, [], False) for name, value in how.items() if name not in taken):
        what = f"{source} is a folder of row blocks, read as they are"
        raise InputError(f"{what}: {instead}; leave the other options out")


def _labels_of(
    opened: Opened, path: Path, own_id: str | None, source: Path, names: Sequence[str], how: dict[str, Any]
) -> dict[str, Any]:
    """Labels of the objects in another file: those of these names, or all."""
    objects = opened.ensemble if opened.data is None else opened.data
    parsing = _parsing(path, source, how)
    ids = _id_column(path, own_id, how["id_column"], objects.ids, parsing)
    return labels_from(path, objects, id_column=ids, columns=list(names) or None, **parsing)


def known_in(
    known: Sequence[str], tables: Sequence[Path | None], source: Path, how: dict[str, Any], turned: Path | None = None
) -> list[list[str]]:
    """Which of the names are columns of each table, of one that is `turned` rows; a name that is nowhere is refused."""
    if not known or len([path for path in tables if path is not None]) == 1:  # what it lacks is said where it is read
        return [[] if path is None else list(known) for path in tables]
    there = [
        [] if path is None else column_names(path, **_parsing(path, source, how), transpose=path == turned)
        for path in tables
    ]
    for name in known:
        if not any(name in names for names in there):
            near = nearest(name, [other for names in there for other in names])
            hint = f": did you mean {near[0]!r}?" if near else ": check its name"
            files = " or ".join(str(path) for path in tables if path is not None)
            raise InputError(f"--known {name!r} is not a column of {files}{hint}")
    return [[name for name in known if name in names] for names in there]


def _parsing(path: Path, source: Path, how: dict[str, Any]) -> dict[str, Any]:
    """How to parse a text file, where it was said of one like it."""
    alike = path.suffix == source.suffix or (source.is_dir() and path.suffix not in (".h5ad", ".npz", ".parquet"))
    return {name: how[name] for name in TEXT if how.get(name) not in (None, [])} if alike else {}


def _id_column(path: Path, own: str | None, shared: str | None, ids: Any, parsing: dict[str, Any]) -> str | None:
    """The id column of a second table: as said of it, as said of the first if it has that too, or the one with those ids."""
    if own is not None or has_own_ids(path):
        return own
    if shared is not None and shared in column_names(path, **parsing):
        return shared
    if ids is None:
        return None
    return find_id_column(path, ids, **{name: parsing[name] for name in PARSING if name in parsing})


def in_lines(notice: str) -> str:
    """A long notice of several parts with each in a line of its own; what is quoted stays whole."""
    return notice if len(notice) <= LONG else re.sub(f"({QUOTED})|; ", lambda m: m[1] or "\n  ", notice)


def print_notices(read: Any, *, standardize: bool | None = None, own_scales: bool = False, err: bool = False) -> None:
    """Say what was noticed while tables or blocks were read and, in one line, how data were scaled; doubts were warned of before."""
    if read is None:
        return
    table = read.data if isinstance(read, Opened) else read if isinstance(read, Table) else None
    for notice in dict.fromkeys((*read.notices, *(() if table is None else table.notices))):
        if not isinstance(notice, Doubt):
            click.echo(in_lines(printable(as_typed(notice), keep="")), err=err)
    if standardize is not None and table is not None and table.kind == "data":
        scaling = table.scaling().describe() if standardize else "columns as they are"
        share = ", and then by a share of its own scale, since the columns may share a unit" if own_scales else ""
        click.echo(f"Scaling: {scaling}{share}.", err=err)
