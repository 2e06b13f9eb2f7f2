"""A folder with a report in Markdown, every table of it as CSV and every figure as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from consilience._check import InputError, check_path
from consilience._types import PathLike
from consilience.reports.files import write_file, write_table
from papers.figures import shrink

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Report:
    """Collects text, tables and figures; tables and figures are files at once, the text with :meth:`write`.

    Parameters
    ----------
    title : str
    folder : path
        Made if it is not there; files of the same name are replaced.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> report = Report("Two numbers", tempfile.mkdtemp())
    >>> report.table("numbers", pd.DataFrame({"n": [1, 2], "root": [1.0, 1.41421]}), "Roots.")
    >>> report.write().read_text(encoding="utf-8").splitlines()[2:6]
    ['| n | root |', '| --- | --- |', '| 1 | 1.000 |', '| 2 | 1.414 |']
    """

    def __init__(self, title: str, folder: PathLike) -> None:
        self.folder = check_path(folder, "the report's place")
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; give the name of a folder for the report")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files: list[Path] = []
        self._parts = [f"# {title}"]

    def section(self, title: str) -> None:
        """Begin a section."""
        self._parts.append(f"## {title}")

    def text(self, *paragraphs: str) -> None:
        """Add paragraphs of Markdown."""
        self._parts.extend(paragraphs)

    def table(self, name: str, frame: pd.DataFrame, caption: str, *, shown: pd.DataFrame | None = None) -> None:
        """Write `frame` without its index as ``name.csv``, and show it, or `shown` in its place, above its caption."""
        path = self.folder / f"{name}.csv"
        write_table(frame.set_index(frame.columns[0]), path)
        self.files.append(path)
        self._parts.append(markdown(frame if shown is None else shown))
        self._parts.append(f"*{caption}* ([{path.name}]({path.name}))")

    def runs(self, name: str, frame: pd.DataFrame) -> None:
        """Write the single runs behind a section's means, one row for every seed, as ``name_runs.csv``."""
        path = self.folder / f"{name}_runs.csv"
        rounded = frame.set_index("seed").rename_axis("seed")
        write_table(rounded.round(6), path)
        self.files.append(path)
        self._parts.append(f"Single runs, by seed: [{path.name}]({path.name}).")

    def figure(self, name: str, figure: Figure, caption: str) -> None:
        """Write `figure` as ``name.png`` and show it above its caption."""
        path = self.folder / f"{name}.png"
        write_file(path, lambda file: figure.savefig(file, format="png", dpi=120))
        shrink(path)
        self.files.append(path)
        self._parts.append(f"![{caption}]({path.name})")
        self._parts.append(f"*{caption}*")

    def write(self) -> Path:
        """Write all there is so far as ``report.md``."""
        path = self.folder / "report.md"
        content = "\n\n".join(self._parts) + "\n"
        write_file(path, lambda file: file.write(content.encode()))
        return path


def markdown(frame: pd.DataFrame, *, digits: int = 3) -> str:
    """A table in Markdown; fractions with so many digits, what is missing as a dash.

    Examples
    --------
    >>> import pandas as pd
    >>> print(markdown(pd.DataFrame({"p": [0.5], "method": ["vote"]})))
    | p | method |
    | --- | --- |
    | 0.500 | vote |
    """
    rows = [[str(name) for name in frame.columns], ["---"] * frame.shape[1]]
    rows += [[_cell(value, digits) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(value: object, digits: int) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if isinstance(value, (float, np.floating)):
        return f"{value:.{digits}f}"
    return str(value).replace("|", "\\|")


def over_seeds(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean and standard error over seeds of every other column, in the order in which groups first appear.

    Parameters
    ----------
    rows : DataFrame
        One row per run, with a column `seed`, columns `by`, and measures.
    by : sequence of str

    Returns
    -------
    DataFrame
        Columns `by`, `seeds` (such as "0 to 9"), `repeats`, then for every measure its mean and, as ``<measure>_sem``, the
        standard error of that mean (missing with a single run).

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"seed": [0, 1], "method": ["a", "a"], "nmi": [0.4, 0.6]})
    >>> over_seeds(rows, ["method"]).round(3).to_dict("records")
    [{'method': 'a', 'seeds': '0 to 1', 'repeats': 2, 'nmi': 0.5, 'nmi_sem': 0.1}]
    """
    groups = rows.groupby(list(by), sort=False)
    found = groups["seed"].agg(lambda seeds: f"{seeds.min()} to {seeds.max()}").to_frame("seeds")
    found["repeats"] = groups.size()
    for measure in rows.columns.drop([*by, "seed"]):
        found[measure] = groups[measure].mean()
        found[f"{measure}_sem"] = groups[measure].sem()
    return found.reset_index()


def with_error(frame: pd.DataFrame, measure: str, *, digits: int = 3) -> pd.Series:
    """A measure of :func:`over_seeds` as text, mean ± standard error.

    Examples
    --------
    >>> import pandas as pd
    >>> with_error(pd.DataFrame({"nmi": [0.5], "nmi_sem": [0.1]}), "nmi").tolist()
    ['0.500 ± 0.100']
    """
    pairs = zip(frame[measure], frame[f"{measure}_sem"], strict=True)
    texts = [
        "–" if np.isnan(mean) else f"{mean:.{digits}f}" + ("" if np.isnan(sem) else f" ± {sem:.{digits}f}")
        for mean, sem in pairs
    ]
    return pd.Series(texts, frame.index, dtype=object)
