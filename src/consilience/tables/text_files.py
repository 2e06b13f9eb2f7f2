"""Delimited text (CSV and its kin) as columns of strings; every oddity is named by its line."""

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import dropwhile, islice, pairwise
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from consilience._check import InputError, count, show
from consilience.tables.decimal_signs import sign_of_file
from consilience.tables.raw_table import Options, RawTable, is_number

Records = Iterator[tuple[int, list[str]]]  # lines, and the cells of the rows that begin there
TAB = "\t"
SEPARATORS = {",": "commas", ";": "semicolons", TAB: "tabs", "|": "bars"}
UNPACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
MAGIC = {
    b"PAR1": ("Parquet", ".parquet"),
    b"PK\x03\x04": ("a zip archive", ".npz, or unpack it if it is not a file of NumPy's"),
    b"\x1f\x8b": ("text packed with gzip", ".csv.gz or .tsv.gz"),
    b"BZh": ("text packed with bzip2", ".csv.bz2 or .tsv.bz2"),
    b"\xfd7zXZ": ("text packed with xz", ".csv.xz or .tsv.xz"),
    b"\x93NUMPY": ("a NumPy array", ".npy"),
    b"\x89HDF": ("HDF5", ".h5ad"),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", ".xls, or save it as .xlsx or CSV"),
}
LOOK = 20  # safeguard: first lines that tell what separates cells
_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def is_stream(path: Path) -> bool:
    """Whether it is text that can be read once: standard input, or what a shell hands over in place of a file."""
    return str(path) in ("-", "/dev/stdin") or re.fullmatch(r"/dev/fd/\d+", str(path)) is not None


@cache
def _read_stream(name: str) -> bytes:
    """A table is looked at more than once, and a stream comes once."""
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked by its ending; an empty one is refused."""
    raw = _read_stream(str(path)) if is_stream(path) else path.read_bytes()
    if unpack := UNPACK.get(path.suffix.lower()):
        raw = unpack(raw)
    if not raw.strip():
        raise InputError(f"{path.name}: is empty: write the table to it again")
    return raw


def read_text(path: Path, options: Options) -> RawTable:
    """Columns of strings from a text file; what is not said is found: the encoding, the separator, the decimal sign."""
    source, header, decimal = path.name, options.header, options.decimal
    sep = {"tab": "\t", "\\t": "\t"}.get(options.sep or "", options.sep)
    if sep is not None and (len(sep) != 1 or not sep.isascii() or sep in '"\r\n'):
        raise InputError(f"{source}: sep={sep!r} (--sep) cannot separate cells: give one ASCII character, or tab")
    if decimal not in (None, ".", ",") or (decimal is not None and decimal == sep):
        raise InputError(f"{source}: decimal={decimal!r} (--decimal) must be '.' or ',', and not separate cells")
    raw = read_bytes(path)
    if raw.startswith(b"PK\x03\x04") and b"xl/" in raw:
        raise InputError(f"{source}: holds an Excel workbook, not text: give it the ending .xlsx, or save it as CSV")
    for start, (kind, ending) in MAGIC.items():
        if raw.startswith(start):
            raise InputError(f"{source}: holds {kind}, not text: give it the ending {ending}")
    name = source.lower()
    for packed in UNPACK:
        name = name.removesuffix(packed)
    default = {".csv": ",", ".tsv": "\t"}.get(name[-4:])
    raw, notices = _as_utf8(source, raw, options.encoding)
    sep_given, sep = sep is not None, sep if sep is not None else find_separator(source, raw, default)
    if not sep_given and sep != default:
        notices.append(f"{SEPARATORS[sep]} separate the cells; sep= (--sep) says otherwise")
    above = 0 if header is False else _lines_above(source, raw, sep)
    if above:
        raw = b"".join(raw.splitlines(keepends=True)[above:])
        notices.append(f"{count(above, 'line')} above the names of the columns left out")
    has_header, first = header is not False, _first_record(source, raw, sep, above)
    if header is None:
        _check_header(source, first, above + 1)
    if len(first) == 1 and not sep_given and (other := next((mark for mark in ";\t|" if mark in first[0]), "")):
        flag = "tab" if other == TAB else repr(other)
        remedy = f"if {other!r} separates its cells, give sep={other!r} (--sep {flag})"
        raise InputError(f"{source}, line {above + 1}: the only column is named {show(first[0])}: {remedy}")
    if has_header and _has_row_names(source, raw, sep, len(first)):
        first = ["", *first]  # as R writes a table: nothing stands over the names of the rows
    rows = partial(_rows, source, raw, sep, above, len(first), has_header)
    try:
        body = _parse(raw, sep, len(first), has_header)
    except pa.ArrowInvalid as error:
        _refuse_ragged(source, rows(), len(first))
        reason = str(error).splitlines()[0]
        raise InputError(f"{source}: cannot be read as text with separator {sep!r}: {reason}") from error
    if body.num_rows == 0:
        raise InputError(f"{source}: has a header but no rows: add at least one row")
    told = decimal
    if decimal is None and b"," in raw and (sep != "," or b'"' in raw):
        told, are_commas = sign_of_file(body)
        if sep != "," and are_commas:
            decimal = ","
            notices.append("commas are decimal signs; decimal= (--decimal) says otherwise")
    names, line = first if has_header else None, partial(_line_of, rows)
    return RawTable(source, body, names, line=line, decimal=decimal or ".", told_decimal=told, notices=tuple(notices))


def _lines_above(source: str, raw: bytes, sep: str) -> int:
    """How many of the first lines are comments (#) or a title, which holds one cell where the names below have three or more."""
    head = raw[: 1 << 18]
    try:
        rows = list(islice(_records(source, head[: head.rfind(b"\n") + 1] or head, sep), LOOK))
    except (InputError, UnicodeDecodeError):
        return 0
    filled = [sum(bool(cell.strip()) for cell in row) for _, row in rows]
    wide = max(filled, default=0) >= 3
    for n, ((line, row), below) in enumerate(pairwise(rows)):
        if not filled[n]:
            continue
        is_comment = row[0].startswith("#")  # or the names: as many cells as below, no space behind #, or numbers below
        if is_comment and len(row) == len(below[1]) > 1:
            is_comment = row[0].startswith("# ") and not any(map(is_number, below[1]))
        if not is_comment and not (wide and filled[n] == 1 and not is_number(row[0])):
            return line - 1 if n else 0
    return 0


def _as_utf8(source: str, raw: bytes, encoding: str | None) -> tuple[bytes, list[str]]:
    """The bytes in UTF-8 without a mark, and what was found out."""
    if encoding is not None:
        return _decoded(source, raw, encoding), []
    mark = next((mark for mark in _BOMS if raw.startswith(mark)), b"")
    found = _BOMS.get(mark, "utf-8")
    if not mark and (zeros := raw[:4000].count(b"\0")):
        if zeros < len(raw[:4000]) // 4:
            raise InputError(f"{source}: holds zero bytes and is not text: give it the ending that it should have")
        found = "utf-16-be" if raw[0] == 0 else "utf-16-le"
    if found != "utf-8":
        return _decoded(source, raw, found), [f"read as {found.upper()[:6]} text"]
    raw = raw.removeprefix(mark)
    try:
        if not raw.isascii():
            raw.decode()
        return raw, []
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        where = f"byte {error.start + 1} (0x{raw[error.start]:02x}, line {line}) is not UTF-8"
    try:
        text, name = raw.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        text, name = raw.decode("latin-1"), "Latin-1"
    return text.encode(), [f"read as {name} text, since {where}; encoding= (--encoding) says otherwise"]


def _decoded(source: str, raw: bytes, encoding: str) -> bytes:
    try:
        return raw.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError:
        said = f"encoding {encoding!r} (--encoding) is unknown: 'latin-1' and 'utf-16' are examples"
    except UnicodeError as error:
        said = f"damaged, or not {encoding} ({error}): write it again, or give another encoding= (--encoding)"
    raise InputError(f"{source}: {said}")


def find_separator(source: str, raw: bytes, default: str | None) -> str:
    """What separates cells: the default if the first lines agree with it, otherwise another that they do agree with."""
    head = raw[: 1 << 16]
    head = head[: head.rfind(b"\n") + 1] if len(head) < len(raw) else head
    for sep in dict.fromkeys([*([default] if default else []), *SEPARATORS]):
        try:
            records = [record for _, record in islice(_records(source, head, sep), LOOK) if record]
            below = list(dropwhile(lambda record: len(record) == 1, records))  # a title
            lone = [record[0] for record in records[: len(records) - len(below)]]
            are_above = len(below[0]) >= 3 or all(cell.startswith("#") for cell in lone) if below else False
            if are_above and not any(mark in cell for cell in lone for mark in SEPARATORS):
                records = below
            widths = [len(record) for record in records]
        except (InputError, UnicodeDecodeError):  # a quote left open, a character cut at the end
            continue
        if widths and widths[0] > 1 and set(widths[1:]) in ({widths[0]}, {widths[0] + 1}, set()):
            return sep
    if default is None and b" " in head.split(b"\n")[0].strip():
        remedy = "give sep=',' (--sep ,) or sep='\\t' (--sep tab), say"
        raise InputError(f"{source}: what separates the cells of a .txt file? {remedy}")
    return default or ","


def _has_row_names(source: str, raw: bytes, sep: str, width: int) -> bool:
    """Whether the first rows all have one cell more than the header, and something in the last."""
    try:
        rows = [record for _, record in islice(_records(source, raw, sep), 1, LOOK) if record]
    except InputError:
        return False
    return bool(rows) and all(len(row) == width + 1 for row in rows) and any(row[-1].strip() for row in rows)


def _parse(raw: bytes, sep: str, width: int, skip: bool) -> pa.Table:
    names = [str(i) for i in range(width)]
    blocks = {
        "use_threads": len(raw) > 1 << 24,  # no threads left running when a small file ends in an error
        "block_size": min(max(1 << 20, width << 12), 2**31 - 1),  # a row must fit: 4 kB for each of its cells
    }
    drop = width > 1  # in a single column a blank line is an empty cell; dropping it would shift the rows below
    read = arrow_csv.ReadOptions(column_names=names, skip_rows_after_names=int(skip), **blocks)
    parse = arrow_csv.ParseOptions(delimiter=sep, newlines_in_values=b'"' in raw, ignore_empty_lines=drop)
    types = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    return arrow_csv.read_csv(pa.BufferReader(raw), read_options=read, parse_options=parse, convert_options=types)


def _records(source: str, raw: bytes, sep: str, above: int = 0) -> Records:
    """Each record with the line it starts in, below so many others."""
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(raw), "utf-8", newline=""), delimiter=sep)
    start = above + 1
    try:
        for record in reader:
            yield start, record
            start = above + reader.line_num + 1
    except csv.Error as error:
        what = f"cannot be split into cells ({error}): is a quote left open?"
        if "field limit" in str(error):
            what = f"a cell has more than {csv.field_size_limit():,} letters: shorten it, or close the quote that was left open"
        raise InputError(f"{source}, line {start}: {what}") from error


def _first_record(source: str, raw: bytes, sep: str, above: int) -> list[str]:
    line, record = next(_records(source, raw, sep, above))
    if not record:
        raise InputError(f"{source}, line {line}: is blank: the first line must hold the column names")
    names = [name.strip() for name in record]
    return [names[0].lstrip("#").strip() or names[0], *names[1:]]


def _check_header(source: str, names: list[str], line: int) -> None:
    # Where nothing stands over the names of the rows, years or numbers may stand over the columns.
    if names and names[0] and all(map(is_number, names)):
        what = f"holds only numbers, such as {show(names[0])}, and would be taken as column names"
        remedy = "header=False (--no-header) reads it as data, header=True (--header) as names"
        raise InputError(f"{source}, line {line}: {what}: {remedy}")


def _rows(source: str, raw: bytes, sep: str, above: int, width: int, has_header: bool) -> Records:
    """The rows of the table with their lines: slow, exact, and used only once something is wrong."""
    records = islice(_records(source, raw, sep, above), int(has_header), None)
    return ((line, record) for line, record in records if record or width == 1)


def _line_of(rows: Callable[[], Records], row: int) -> int:
    return next(islice(rows(), row, None))[0]


def _refuse_ragged(source: str, rows: Records, width: int) -> None:
    """Say which row has too many or too few cells, if one has."""
    for row, (line, record) in enumerate(rows):
        if max(len(record), 1) != width:
            what = f"has {count(len(record), 'cell')} where the first line has {width}"
            remedy = "add or remove separators there, and delete lines above the names of the columns"
            raise InputError(f"{source}, row {row + 1} (line {line}): {what}: {remedy}")
