"""Lines of comments above a table of text: which they are, and where the last one is the names of the columns."""

from __future__ import annotations

import csv
import re

from consilience._check import InputError
from consilience.tables.read_cells import ABSENT, DECIMAL_COMMA
from consilience.tables.sheet import is_number

LOOK = 20  # lines below that say what a line is
_PLAIN = re.compile(rb"#[ \t]*(?=\r?\n|$)|# |##")  # what begins so is a comment, whatever is below


def without_comments(source: str, raw: bytes, header: bool | None, separators: str) -> tuple[bytes, int, int]:
    """The text without the comments above it, how many these are, and how many lines are gone with the blank ones below them.

    Comments are the lines at the beginning that begin with ``#``. The last of them holds the names of the columns where it has as
    many cells as the line below, which does not look like names itself. Without a header, and where nothing else
    follows, only lines that begin with ``# `` or ``##`` are comments: others may be data, such as colors.

    Examples
    --------
    >>> without_comments("log.csv", b"# logger 7\\n\\ntime,flow\\n1,2\\n", None, ",;")
    (b'time,flow\\n1,2\\n', 1, 2)
    >>> without_comments("bed.csv", b"# bed\\n#chrom,start\\nX,2\\n", None, ",;")
    (b'chrom,start\\nX,2\\n', 1, 1)
    >>> without_comments("colors.csv", b"#ff0000,2\\n#00ff00,3\\n", False, ",;")
    (b'#ff0000,2\\n#00ff00,3\\n', 0, 0)
    """
    if not raw.startswith(b"#"):
        return raw, 0, 0
    starts: list[tuple[int, int]] = []  # of the comments: byte and line
    at = n_lines = 0
    while line := _line(raw, at):
        if not (_PLAIN.match(line) if header is False else line.startswith(b"#") or not line.strip()):
            break
        starts += [(at, n_lines)] if line.strip() else []
        at, n_lines = at + len(line), n_lines + 1
    if at >= len(raw):  # nothing but such lines
        plain = next((i for i, (start, _) in enumerate(starts) if not _PLAIN.match(raw, start)), None)
        if plain is None:
            raise InputError(f"{source}: all its lines begin with # and are comments: write the table below them")
        return raw[starts[plain][0] :], plain, starts[plain][1]
    if header is not False and _are_names(raw, last := starts[-1][0], at, separators):
        begin = last if raw[last + 1 : last + 2] in (sep.encode() for sep in separators) else last + 1  # '#' is a name
        return raw[begin:].lstrip(b" "), len(starts) - 1, starts[-1][1]
    return raw[at:], len(starts), n_lines


def _are_names(raw: bytes, last: int, at: int, separators: str) -> bool:
    """Whether the line at `last` names the columns of the lines from `at` on."""
    spaced = raw.startswith(b"# ", last)
    line = _line(raw, last)[1:].decode(errors="replace").strip()
    found: list[bytes] = []
    while at < len(raw) and len(found) < LOOK:
        found.append(_line(raw, at))
        at += len(found[-1])
    lines = [one.decode(errors="replace") for one in found]
    if not any(sep in line or sep in lines[0] for sep in separators):
        # A comment of one word looks as a name does, so the line below must be data.
        return len(line.split()) == 1 and not is_number(line) and _is_data([[cell.strip()] for cell in lines])
    for sep in separators:
        try:
            names = next(csv.reader([line], delimiter=sep), [])
            below = [row for row in csv.reader(lines, delimiter=sep) if row]
        except csv.Error:  # said with its line where cells are split
            continue
        if len(names) == len(below[0]) > 1 and (_is_data(below) or not (spaced or _is_header(below))):
            return True
    return False


def _line(raw: bytes, at: int) -> bytes:
    """The line that begins there, with its end."""
    end = raw.find(b"\n", at) + 1
    return raw[at:end] if end else raw[at:]


def _is_data(rows: list[list[str]]) -> bool:
    """Whether the first row has a number, or a cell that stands again in its column."""
    first, *others = rows
    return any(map(_number, first)) or any(
        cell.strip() and cell == other for row in others for cell, other in zip(first, row, strict=False)
    )


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row has a word over nothing but numbers."""
    first, *others = rows
    return any(
        cell.strip() not in ABSENT and _all_numbers([row[j] if len(row) > j else "" for row in others])
        for j, cell in enumerate(first)
    )


def _all_numbers(cells: list[str]) -> bool:
    present = [cell for cell in cells if cell.strip() not in ABSENT]
    return bool(present) and all(map(_number, present))


def _number(cell: str) -> bool:
    return is_number(cell) or re.match(DECIMAL_COMMA, cell) is not None
