"""One HTML file about any result, with its figures and tables as files beside it if wanted."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from consilience._check import InputError, check_choice, check_count, check_seed, kind_of
from consilience._run.parallel import check_n_jobs
from consilience._run.progress import track
from consilience._types import PathLike, RandomState
from consilience.clusterer import EnsembleClusterer
from consilience.clusterer.saving import model_of
from consilience.inputs import Opened, Provenance, as_table, known_labels_of, open_source
from consilience.inputs.guess import guess
from consilience.inputs.known_labels import read_names
from consilience.measures.compare import known_labels
from consilience.reports.figures import new_figure, write_figure
from consilience.reports.files import check_file, name_objects, write_file, write_table
from consilience.reports.finding import Block, Picture, Sheet
from consilience.reports.html import render
from consilience.reports.plane import with_own_names
from consilience.reports.sections import KINDS, Options, Report, report_of
from consilience.reports.spreadsheet_formulas import without_formulas
from consilience.reports.words import code_names
from consilience.tables import Table, match_rows, read_table, take_rows
from consilience.tables.raw_table import check_reading

FOOTER = "Written by consilience. Where a table is cut, --figures (figures= in Python) writes it whole."


def report(
    result: Any,
    path: PathLike | None = None,
    *,
    data: Any = None,
    known: Any = None,
    names: Any = None,
    kind: str = "auto",
    title: str | None = None,
    figures: PathLike | None = None,
    n_groups: int | str | None = None,
    linkage: str | None = None,
    n_clusters: int | str | None = None,
    method: str | None = None,
    n_shuffles: int = 20,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **reading: Any,
) -> None:
    """Write one HTML file that says what was found: no script, nothing outside the file, to be kept, sent and printed.

    Parameters
    ----------
    result : Ensemble, MetaClustering, Consensus, Summary, Agreement, Contrast, Comparison, EnsembleClusterer, or what can be opened as one
        A path is that of a stored run, of a saved result, of a table of labels, or of a table of measurements, which is clustered first
        (:class:`consilience.EnsembleClusterer`); a frame, an array and a list of label vectors are clusterings.
    path : path ending in .html
    data : array, sparse matrix, DataFrame, Table or path, optional
        What was clustered, a row per object: for effect sizes, compactness and pictures. Matched by id where both have ids.
    known : label vector, Series, DataFrame, mapping of name to label vector, path, or names of columns of the source, optional
        Known labels of the objects, which everything is compared with.
    names : sequence of str, or path of a text file with one a line, optional
        Of the columns of data, such as words; those that an agreement knows are taken of themselves.
    kind : {"auto", "data", "labels"}
        What the table at a path holds; "auto" takes columns of few whole numbers or names for labels. Data is clustered first.
    title : str, optional
    figures : path, optional
        A folder for every figure as PNG and SVG and every table, whole, as CSV, under fixed names.
    n_groups, linkage
        Of an ensemble: as for :func:`consilience.organize`.
    n_clusters, method
        How clusterings are combined, as for :func:`consilience.combine`.
    n_shuffles : int
        Shuffles that the best of the groups is compared with, where there are known labels; 0 for none.
    random_state : int
    n_jobs : int, optional
        Threads.
    progress : bool, optional
        Show a bar; by default only on a terminal.
    **reading
        How to read a table of labels: `id_column`, `columns` and the other parameters of :func:`consilience.tables.read_table`.

    Notes
    -----
    Sections are registered with :func:`consilience.reports.section`, where more can be added. The same result gives the same
    bytes. 1,000 clusterings of 100,000 objects take about two CPU-minutes; long tables are cut on the
    page, which says by how much, and are whole in `figures`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads, load_beads_labels
    >>> path = Path(tempfile.mkdtemp()) / "beads.html"
    >>> cs.report(load_beads_labels(), path, data=load_beads(), known=load_beads().labels, n_groups=3, n_shuffles=5)
    >>> path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    if path is None:
        raise InputError('report(result, path) writes an HTML file: say where, such as report(result, "report.html")')
    if isinstance(result, EnsembleClusterer):
        check_is_fitted(result)
        result = model_of(result)
    paths = [Path(given) for given in (result, data, known) if isinstance(given, (str, Path)) and Path(given).exists()]
    page, folder = check_places(path, figures, paths)
    is_result, seed = isinstance(result, tuple(KINDS)), check_seed(random_state)
    reading = check_reading(reading, "report")
    check_choice(kind, ("auto", "data", "labels"), "kind of table")
    given = {**reading, "known": [known] if isinstance(known, str) else known} if names_columns(known) else reading
    is_data = kind == "data" or (kind == "auto" and data is None and is_table_of_data(result, given))
    opened = open_source(result, kind="data" if is_data else "labels", known=None if is_result else known, **reading)
    if opened.result is None:
        opened = cluster_table(opened, n_clusters, method, seed, n_jobs)
        data, n_clusters, method = opened.data, None, None
    about: dict[str, Any] = {"data": data, "known": known if is_result else opened.known, "names": names}
    about |= {"n_groups": n_groups, "linkage": linkage, "n_clusters": n_clusters, "method": method}
    about |= {"n_shuffles": n_shuffles, "seed": seed, "n_jobs": n_jobs, "id_name": opened.id_name}
    made = make_report(opened.result, opened.provenance, **about)
    write_report(made, page, folder, inputs=paths, title=title, progress=progress)


def make_report(
    result: Any, origin: Provenance, *, data: Any = None, known: Any = None, names: Any = None, **settings: Any
) -> Report:
    """The report of a result, with what goes with it checked; an option that it does not take is refused."""
    kind, command = report_of(result), settings.pop("command", "")
    for name, value in {**settings, "data": data, "known": known}.items():
        is_given = value is not None and not (name == "known" and not len(value))
        if is_given and name in {"data", "known", "n_groups", "linkage", "n_clusters", "method"} - set(kind.uses):
            raise InputError(f"a report of {kind_of(result)} does not take {name}: leave it out")
    check_count("n_shuffles", settings.get("n_shuffles", Options.n_shuffles), least=0)
    check_n_jobs(settings.get("n_jobs"))
    if not kind.uses:
        return kind(result, origin, Options(**settings), command)
    objects = kind(result, origin, Options()).objects
    table = None
    if data is not None:
        table = data if isinstance(data, Table) else as_table(data, kind.data_kind)
        table = with_own_names(match_rows(table, objects.ids, objects.n_objects), result)
        table = table if names is None else replace(table, columns=read_names(None, names, table))
    elif names is not None:
        raise InputError("names are those of the columns of the data, and there is none: give it too")
    named = known_labels_of(known, objects)
    codes = known_labels(named or None, objects)
    called = {name: code_names(named[name], codes[name]) for name in codes}
    return kind(result, origin, Options(table, codes, called, **settings), command)


def write_report(
    report: Report,
    page: Path,
    folder: Path | None = None,
    *,
    inputs: Sequence[Path] = (),
    title: str | None = None,
    progress: bool | None = None,
) -> list[Path]:
    """Make the sections, then write the page and the folder of figures and tables; returns what was written."""
    new_figure(1, 1)  # says so where there is nothing to draw with
    steps = list(report.sections())
    sections = [section for make in track(steps, len(steps), "report", progress) if (section := make())]
    blocks = [block for section in sections for block in section.blocks]
    for block in blocks:
        if isinstance(block, Sheet) and block.frame.index.name == "id":
            block.frame.index = name_objects(block.frame, report.options.id_name).index
    text = render(title or report.title, report.answer(), sections, FOOTER, more="" if folder is None else folder.name)
    written = [] if folder is None else _write_parts(blocks, folder, inputs)
    write_file(page, lambda file: file.write(text.encode("utf-8", "replace")))
    return [page, *written]


def check_places(path: PathLike, figures: PathLike | None, inputs: Iterable[Path]) -> tuple[Path, Path | None]:
    """Where to write; refused where something would be lost."""
    page = Path(path)
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{page}: a report is an HTML file; give it the ending .html")
    check_file(page)
    folder = None if figures is None else Path(figures)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; figures go into a folder")
    _check_apart(filter(None, (page, folder)), inputs)  # what is in the folder: before it is written
    return page, folder


def _check_apart(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    for output, given in product(outputs, inputs):
        here, there = output.resolve(), given.resolve()
        if here == there or (given.is_dir() and there in here.parents):
            raise InputError(f"{output} would be written over, or into, what is read ({given}): choose another place")


def _write_parts(blocks: Sequence[Block], folder: Path, inputs: Sequence[Path]) -> list[Path]:
    drawn = [block for block in blocks if isinstance(block, Picture)]
    pictures = {folder / f"{one.name}{end}": one.figure for one in drawn for end in (".png", ".svg")}
    tables = {folder / f"{b.name}.csv": b.frame for b in blocks if isinstance(b, Sheet) and not b.on_page}
    _check_apart([*pictures, *tables], inputs)
    folder.mkdir(parents=True, exist_ok=True)
    for path, figure in pictures.items():
        write_figure(figure, path)
    for path, frame in tables.items():
        write_table(without_formulas(frame), path)
    return [*pictures, *tables]


# A table of measurements, for which a report has to cluster it first.


def is_table_of_data(source: Any, reading: dict[str, Any]) -> bool:
    """Whether a source is the file of a table of measurements, which has to be clustered before there is something to tell."""
    if not isinstance(source, (str, Path)) or not Path(source).is_file():
        return False
    if Path(source).suffix.lower() == ".h5ad" and reading.get("columns") is not None:
        try:  # whether the columns that are named are labels of cells, in `obs`, and not genes
            read_table(source, kind="labels", **reading)
        except InputError:
            return True
        return False
    return guess(source, reading) == "data"


def names_columns(known: Any) -> bool:
    """Whether known labels are named, as columns of a table."""
    if isinstance(known, str):
        return not Path(known).is_file()
    return isinstance(known, (list, tuple)) and bool(known) and all(isinstance(name, str) for name in known)


def cluster_table(opened: Opened, n_clusters: Any, method: str | None, seed: int, n_jobs: int | None) -> Opened:
    """Cluster a table, as :class:`consilience.EnsembleClusterer` does by default; with its clusters, see :func:`opened_clusters`."""
    k = "auto" if n_clusters is None else n_clusters
    model = EnsembleClusterer(k, method=method or "auto", random_state=seed, n_jobs=n_jobs)
    return opened_clusters(model.fit(opened.data), opened)


def opened_clusters(model: EnsembleClusterer, opened: Opened) -> Opened:
    """The clusters of a model, of the objects that were clustered, with their data and what is known of them."""
    table = opened.data
    assert table is not None
    rows = np.arange(table.n_objects) if model.sample_ is None else np.asarray(model.sample_)
    # a copy, since that has no client, which no code line could name
    called = " ".join(repr(copy(model)).split()).replace("guide=Guide(", "guide=cs.generation.Guide(")
    read = opened.provenance.code
    code = f"cs.{called}.fit(data).consensus_" if read else ""
    if read and model.sample_ is not None:  # whose objects alone the consensus has
        code = f"(model := cs.{called}.fit(data)).consensus_\ndata = cs.tables.take_rows(data, model.sample_)"
    known = {name: np.asarray(values, object)[rows] for name, values in opened.known.items()}
    origin = replace(opened.provenance, code=code, data_code=read)
    found = replace(opened, result=model.consensus_, provenance=origin, data=take_rows(table, rows), known=known)
    return replace(found, id_name=table.id_heading)
