"""Delimited text (CSV and its kin) as columns of strings; every oddity is named by its line."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator

import pyarrow as pa
from pyarrow import csv as arrow_csv

from consilience._check import InputError, count, show
from consilience.tables.sheet import Sheet, is_number

TAB = "\t"


def read_text(source: str, raw: bytes, *, sep: str, sep_given: bool, header: bool | None) -> Sheet:
    """Columns of strings from the bytes of a text file.

    `header=None` expects names in the first line and refuses numbers there.
    """
    _check_utf8(source, raw)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    first = _first_record(source, raw, sep)
    if header is None:
        _check_header(source, first)
    if len(first) == 1 and not sep_given:
        _check_single(source, first[0])
    lines = _Lines(source, raw, sep, len(first), skip=header is not False)
    try:
        body = _parse(raw, sep, len(first), header is not False)
    except pa.ArrowInvalid as error:
        lines.refuse_ragged()
        raise InputError(
            f"{source}: cannot be read as text with separator {sep!r}: {str(error).splitlines()[0]}"
        ) from error
    if body.num_rows == 0:
        raise InputError(f"{source}: has a header but no rows: add at least one row")
    names = None if header is False else first
    return Sheet(source, body, names, line=lines.of_row)


def _parse(raw: bytes, sep: str, width: int, skip: bool) -> pa.Table:
    positions = [str(i) for i in range(width)]
    return arrow_csv.read_csv(
        pa.BufferReader(raw),
        read_options=arrow_csv.ReadOptions(
            column_names=positions,
            skip_rows_after_names=int(skip),
            use_threads=len(raw) > 1 << 24,  # no threads left running when a small file ends in an error
            # A row must fit into a block: leave 4 kB for each of its cells.
            block_size=min(max(1 << 20, width << 12), 2**31 - 1),
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=sep,
            newlines_in_values=b'"' in raw,
            # In a single column a blank line is an empty cell; dropping it would shift the rows below.
            ignore_empty_lines=width > 1,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(positions, pa.string()), strings_can_be_null=False
        ),
    )


def _check_utf8(source: str, raw: bytes) -> None:
    try:
        if not raw.isascii():
            raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{source}, line {line}: byte {error.start + 1} (0x{raw[error.start]:02x}) is not UTF-8: "
            "save the file as UTF-8"
        ) from error


def _records(source: str, raw: bytes, sep: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it starts in."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(raw), "utf-8", newline=""), delimiter=sep)
    start = 1
    try:
        for record in reader:
            yield start, record
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{source}, line {start}: cannot be split into cells ({error}): is a quote left open?"
        ) from error


def _first_record(source: str, raw: bytes, sep: str) -> list[str]:
    _, record = next(_records(source, raw, sep))
    if not record:
        raise InputError(f"{source}, line 1: is blank: the first line must hold the column names")
    return [name.strip() for name in record]


def _check_header(source: str, names: list[str]) -> None:
    numeric = [is_number(name) for name in names if name]
    if numeric and all(numeric):
        raise InputError(
            f"{source}, line 1: holds only numbers, such as {show(next(filter(None, names)))}, and would be "
            "taken as column names: header=False (--no-header) reads it as data, header=True (--header) as names"
        )


def _check_single(source: str, name: str) -> None:
    for sep in ";\t|":
        if sep in name:
            raise InputError(
                f"{source}, line 1: the only column is named {show(name)}: "
                f"if {sep!r} separates its cells, give sep={sep!r} (--sep {'tab' if sep == TAB else repr(sep)})"
            )


class _Lines:
    """Finds rows in the file: slow, exact, and used only once something is wrong."""

    def __init__(self, source: str, raw: bytes, sep: str, width: int, skip: bool) -> None:
        self.source, self.raw, self.sep, self.width, self.skip = source, raw, sep, width, skip

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        records = _records(self.source, self.raw, self.sep)
        if self.skip:
            next(records)
        return ((line, record) for line, record in records if record or self.width == 1)

    def of_row(self, row: int) -> int:
        """Line (from 1) of a data row (from 0)."""
        return next(line for number, (line, _) in enumerate(self.rows()) if number == row)

    def refuse_ragged(self) -> None:
        """Say which row has too many or too few cells, if one has."""
        row = -1
        for row, (line, record) in enumerate(self.rows()):
            if max(len(record), 1) != self.width:
                raise InputError(
                    f"{self.source}, row {row + 1} (line {line}): has {count(len(record), 'cell')} where the first "
                    f"line has {self.width}: add or remove separators there"
                )
        if row < 0:
            raise InputError(f"{self.source}: has a header but no rows: add at least one row")
