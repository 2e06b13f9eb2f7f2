"""Oddities of files, planted into clean public tables, and hidden cells: what the reader makes of them with a rule and without it.

    python -m benchmarks.rules_planted --tables TABLES

TABLES are the CSV files that `public_tables` writes. Figures and verdicts stand in RULES.md.
"""

import argparse
import csv
import io
import random
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.rules import outcome, without
from consilience.tables import read_table

N_TABLES, N_HIDDEN = 80, 100


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def numeric(rows, position):
    """Whether nine in ten cells of a column are numbers."""
    known = [row[position] for row in rows if row[position] not in ("", "NA")]
    return bool(known) and sum(map(is_number, known)) > 0.9 * len(known)


def text(rows, sep=","):
    out = io.StringIO()
    csv.writer(out, delimiter=sep, lineterminator="\n").writerows(rows)
    return out.getvalue()


def semicolons(names, rows):
    return text([names, *rows], ";").encode()


def decimal_commas(names, rows):
    return text(
        [names, *([cell.replace(".", ",") if is_number(cell) else cell for cell in row] for row in rows)], ";"
    ).encode()


def accents(names, rows):
    words = next((j for j in range(1, len(names)) if not numeric(rows, j)), None)
    if words is None:
        return None
    made = [[cell.replace("e", "é") if j == words else cell for j, cell in enumerate(row)] for row in rows]
    return text([names, *made]).encode("cp1252", "ignore")


def utf16(names, rows):
    return text([names, *rows]).encode("utf-16")


def comments(names, rows):
    return f"# exported by us, 2024\n# see the manual\n{text([names, *rows])}".encode()


def title(names, rows):
    return f"Report of 2024\n\n{text([names, *rows])}".encode()


def title_of_a_sheet(names, rows):
    blank = "," * (len(names) - 1)
    return f"Report of 2024{blank}\n{blank}\n{text([names, *rows])}".encode()


def two_rows(names, rows):
    if len(names) < 5:
        return None
    groups = {1: "first", len(names) // 2: "second"}
    above = [names[0], *(groups.get(j, "") for j in range(1, len(names)))]
    return text([above, ["", *names[1:]], *rows]).encode()


def units(names, rows):
    columns = [j for j in range(len(names)) if numeric(rows, j)]
    if len(columns) < 3:
        return None
    held = dict(zip(columns, ["kg", "cm", "mg/l", "%", "s"] * len(columns), strict=False))
    return text([names, [held.get(j, "") for j in range(len(names))], *rows]).encode()


def totals(names, rows):
    columns = [j for j in range(1, len(names)) if numeric(rows, j)]
    if not columns:
        return None
    sums = {j: f"{sum(float(row[j]) for row in rows if is_number(row[j])):.6g}" for j in columns}
    return text([names, *rows, ["Total", *(sums.get(j, "") for j in range(1, len(names)))]]).encode()


def names_again(names, rows):
    return text([[*names, names[-1]], *([*row, row[-1]] for row in rows)]).encode()


def blank_columns(names, rows):
    return text([[*names, "", ""], *([*row, "", ""] for row in rows)]).encode()


def row_names(names, rows):
    return text([names[1:], *rows]).encode() if names[0] == "" else None


#: What is planted: the rule that should read it, and how.
PLANTED = {
    "semicolons": ("separators", semicolons),
    "decimal commas": ("decimal comma", decimal_commas),
    "Windows-1252": ("encodings", accents),
    "UTF-16": ("encodings", utf16),
    "comments": ("comments", comments),
    "title": ("title", title),
    "title of a sheet": ("title", title_of_a_sheet),
    "names in two rows": ("names in two rows", two_rows),
    "row of units": ("row of units", units),
    "totals": ("totals", totals),
    "names that come again": ("names that come again", names_again),
    "blank columns": ("blank columns", blank_columns),
    "names of rows as R writes": ("names of rows as R writes", row_names),
}


def planted(files):
    """How many tables are read as before, with the rule and without it."""
    found, n = defaultdict(Counter), 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        for path in files:
            rows = _clean(path)
            if rows is None:
                continue
            file.write_text(text(rows))
            before = outcome(file)
            if before["state"] != "read":
                continue
            for name, (rule, plant) in PLANTED.items():
                made = plant(rows[0], rows[1:])
                if made is None:
                    continue
                file.write_bytes(made)
                with_rule = outcome(file)
                with without(rule):
                    off = outcome(file)
                strict = name not in (
                    "Windows-1252",
                    "names that come again",
                )  # these have other cells, or one column more
                found[name]["planted"] += 1
                for words, after in (("with", with_rule), ("without", off)):
                    found[name][f"as before {words}"] += _as_before(before, after, strict)
                    found[name][f"refused {words}"] += after["state"] == "refused"
            n += 1
            if n == N_TABLES:
                break
    return found


def _clean(path):
    """The rows of a small table without ragged ones; None of any other."""
    if path.stat().st_size > 150_000:
        return None
    try:
        rows = list(csv.reader(io.StringIO(path.read_text("utf-8"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return None
    fits = len(rows) > 20 and len(rows[0]) > 2 and all(len(row) == len(rows[0]) for row in rows)
    return rows if fits else None


def _as_before(before, after, strict):
    if after["state"] != "read" or after["shape"][0] != before["shape"][0]:
        return False
    return not strict or (after["shape"], after["values"]) == (before["shape"], before["values"])


def hidden(files):
    """Of tables of numbers with a tenth of their cells hidden: how far the filled cells are, beside means."""
    ratios = []
    for path in files:
        try:
            table = read_table(path, kind="data")
        except ValueError:
            continue
        values = table.values
        if (
            table.encoder is not None
            or not isinstance(values, np.ndarray)
            or len(values) < 50
            or not 3 <= values.shape[1] <= 40
        ):
            continue
        values = values[:2000]
        lost = np.random.default_rng(0).random(values.shape) < 0.1
        frame = pd.DataFrame(np.where(lost, np.nan, values), columns=table.columns)
        how = {"kind": "data", "types": "number", "columns": list(table.columns)}
        filled = read_table(frame, **how).values
        with without("gaps"):
            means = read_table(frame, **how).values
        if filled.shape != values.shape or means.shape != values.shape:
            continue
        spread = np.where(values.std(axis=0) > 0, values.std(axis=0), 1)
        errors = [np.sqrt(np.mean(((one - values) / spread)[lost] ** 2)) for one in (filled, means)]
        ratios.append(errors[0] / errors[1])
        if len(ratios) == N_HIDDEN:
            break
    return np.array(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True)
    files = sorted(parser.parse_args().tables.glob("*.csv"))
    random.Random(5).shuffle(files)
    for name, counts in planted(files).items():
        print(f"{name:26}", ", ".join(f"{what} {n}" for what, n in counts.items()))
    ratios = hidden(files)
    print(f"gaps: nearer in {(ratios < 0.98).sum()}, farther in {(ratios > 1.02).sum()} of {len(ratios)} tables")


if __name__ == "__main__":
    main()
