"""One HTML file about any result, with its figures and tables as files beside it if wanted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from consilience._check import InputError, check_count, check_seed, kind_of
from consilience._parallel import check_n_jobs
from consilience._progress import track
from consilience.agreement import Agreement
from consilience.alternatives import Contrast
from consilience.consensus import Consensus
from consilience.ensemble import Ensemble
from consilience.measures import Comparison
from consilience.measures.summary import known_labels
from consilience.meta import MetaClustering
from consilience.reports.figures import new_figure, write_figure
from consilience.reports.files import without_formulas, write_file, write_table
from consilience.reports.html_report import Options, Story
from consilience.reports.page import Picture, Section, Sheet, render
from consilience.reports.provenance import Origin
from consilience.reports.sections_agreement import tell_agreement
from consilience.reports.sections_consensus import tell_consensus
from consilience.reports.sections_contrast import tell_contrast
from consilience.reports.story_clusterings import tell_comparison, tell_ensemble, tell_meta
from consilience.results import saved_kind
from consilience.store.folder import find_manifest
from consilience.tables import Table, match_rows, read_table

Teller = Callable[[Any, Origin, Options], Story]
TELLERS: dict[type, Teller] = {
    Ensemble: tell_ensemble,
    MetaClustering: tell_meta,
    Consensus: tell_consensus,
    Agreement: tell_agreement,
    Contrast: tell_contrast,
    Comparison: tell_comparison,
}
COMBINED = (Ensemble, MetaClustering, Agreement)
USES: dict[str, tuple[type, ...]] = {
    "n_groups": (Ensemble,),
    "linkage": (Ensemble,),
    "n_clusters": COMBINED,
    "method": COMBINED,
    "data": (*COMBINED, Contrast, Consensus),
    "known": (*COMBINED, Contrast, Consensus),
}
PICTURES: tuple[str, ...] = ("agreement", "curve", "map", "confidence", "tiles", "iterations", "contrast")
PICTURES += tuple(f"{name}_{number}" for name in ("tree", "scores") for number in (1, 2, 3, 4))
TABLES = (
    *(
        "stability",
        "comparison",
        "curve",
        "groups",
        "null",
        "clusterings",
        "map",
        "clusters",
        "features",
        "against_known",
    ),
    *(
        "objects",
        "candidates",
        "number_of_clusters",
        "components",
        "floaters",
        "iterations",
        "objective",
        "column_groups",
    ),
    "redundancy",
)
FOOTER = "Written by consilience. Where a table is cut, --figures (figures= in Python) writes it whole."
FILES = tuple(f"{name}{end}" for name in PICTURES for end in (".png", ".svg")) + tuple(f"{name}.csv" for name in TABLES)


def report(
    result: Any,
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    known: Any = None,
    title: str | None = None,
    figures: str | os.PathLike[str] | None = None,
    n_groups: int | str | None = None,
    linkage: str | None = None,
    n_clusters: int | str | None = None,
    method: str | None = None,
    n_shuffles: int = 20,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> None:
    """Write one HTML file that says what was found: no script, nothing outside the file, to be kept, sent and printed.

    Parameters
    ----------
    result : Ensemble, MetaClustering, Consensus, Agreement, Contrast, Comparison, or path
        A path is that of a stored run, of a saved agreement, or of a table of labels.
    path : path ending in .html
    data : array, sparse matrix, DataFrame, Table or path, optional
        What was clustered, a row per object: for effect sizes, compactness and pictures. Matched by id where both have ids.
    known : label vector, Series, DataFrame or mapping of name to label vector, optional
        Known labels of the objects, which everything is held against.
    title : str, optional
    figures : path, optional
        A folder for every figure as PNG and SVG and every table, whole, as CSV, under fixed names.
    n_groups, linkage
        Of an ensemble: as for :func:`consilience.organize`.
    n_clusters, method
        How clusterings are combined, as for :meth:`MetaClustering.consensus`; "vote" by default, and "sccc" for an agreement.
    n_shuffles : int
        Shuffles that the best of the groups is held against, where there are known labels; 0 for none.
    random_state : int
    n_jobs : int, optional
        Threads.
    progress : bool, optional
        Show a bar; by default only on a terminal.

    Notes
    -----
    The same result gives the same bytes. 1,000 clusterings of 100,000 objects take about two CPU-minutes; long tables are cut on the
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
    inputs = [Path(given) for given in (result, data) if isinstance(given, (str, os.PathLike))]
    found, origin = open_result(result) if isinstance(result, (str, os.PathLike)) else (result, None)
    write_report(
        found,
        origin or Origin(type(found).__name__),
        path,
        inputs=inputs,
        title=title,
        figures=figures,
        progress=progress,
        data=data,
        known=known,
        n_groups=n_groups,
        linkage=linkage,
        n_clusters=n_clusters,
        method=method,
        n_shuffles=n_shuffles,
        seed=check_seed(random_state),
        n_jobs=n_jobs,
    )


def open_result(path: str | os.PathLike[str]) -> tuple[Any, Origin]:
    """What a path holds: a stored run, a saved agreement, or a table of labels."""
    place = Path(path)
    if place.is_dir() and saved_kind(place) == "Agreement":
        return Agreement.load(place), Origin(place.name or str(place), f"cs.agreement.Agreement.load({str(place)!r})")
    if place.is_dir():
        return Ensemble.load(place), run_origin(place)
    ensemble = Ensemble(read_table(place, kind="labels"))
    return ensemble, Origin(place.name, f"cs.Ensemble(cs.tables.read_table({str(place)!r}, kind='labels'))")


def run_origin(place: Path) -> Origin:
    """Where a stored run came from."""
    return Origin(place.name or str(place), f"cs.Ensemble.load({str(place)!r})", manifest=find_manifest(place)[0])


def write_report(
    result: Any,
    origin: Origin,
    path: str | os.PathLike[str],
    *,
    inputs: Sequence[Path] = (),
    title: str | None = None,
    figures: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    data: Any = None,
    known: Any = None,
    **settings: Any,
) -> list[Path]:
    """Tell the story of a result and write it; `inputs` are files and folders that must not be written to."""
    page, folder = check_places(path, figures, inputs)
    options = _check_options(result, data, known, settings)
    new_figure(1, 1)  # says so where there is nothing to draw with
    return write_story(TELLERS[type(result)](result, origin, options), page, folder, title=title, progress=progress)


def write_story(
    story: Story, page: Path, folder: Path | None = None, *, title: str | None = None, progress: bool | None = None
) -> list[Path]:
    """Make the sections, then write the page and the folder of figures and tables; returns what was written."""
    sections = [section for make in track(story.steps, len(story.steps), "report", progress) if (section := make())]
    more = "" if folder is None else folder.name
    text = render(title or story.title, story.lead(), sections, FOOTER, more=more)
    written = [] if folder is None else _write_parts(sections, folder)
    write_file(page, lambda file: file.write(text.encode("utf-8", "replace")))
    return [page, *written]


def check_places(
    path: str | os.PathLike[str], figures: str | os.PathLike[str] | None, inputs: Iterable[Path]
) -> tuple[Path, Path | None]:
    """Where to write; refused where something would be lost."""
    page = Path(path)
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{page}: a report is an HTML file; give it the ending .html")
    if not page.parent.is_dir():
        raise InputError(f"{page}: the folder {page.parent} does not exist; make it first")
    folder = None if figures is None else Path(figures)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; figures go into a folder")
    outputs = [page, *([] if folder is None else [folder, *(folder / name for name in FILES)])]
    for given in inputs:
        for output in outputs:
            here, there = output.resolve(), given.resolve()
            if here == there or (given.is_dir() and there in here.parents):
                raise InputError(
                    f"{output} would be written over, or into, what is read ({given}): choose another place"
                )
    return page, folder


def _check_options(result: Any, data: Any, known: Any, settings: dict[str, Any]) -> Options:
    """What goes with the result, checked against it; an option that it has no use for is refused."""
    if type(result) not in TELLERS:
        kinds = ", ".join(kind.__name__ for kind in TELLERS)
        raise InputError(f"a report is of one of {kinds}, or of a path; got {kind_of(result)}")
    for name, value in {**settings, "data": data, "known": known}.items():
        if value is not None and name in USES and not isinstance(result, USES[name]):
            raise InputError(f"a report of {kind_of(result)} has no use for {name}: leave it out")
    check_count("n_shuffles", settings["n_shuffles"], least=0)
    check_n_jobs(settings["n_jobs"])
    objects = _objects(result)
    table = None
    if data is not None:
        kind = "counts" if isinstance(result, Agreement) else "data"
        table = data if isinstance(data, Table) else read_table(data, kind=kind)
        table = match_rows(table, objects.ids, objects.n_objects)
    codes = {} if known is None else known_labels(known, objects)
    return Options(
        table, codes, **{k: v for k, v in settings.items() if k in {field.name for field in fields(Options)}}
    )


def _objects(result: Any) -> Ensemble:
    """Clusterings of the objects that data and known labels are of."""
    if isinstance(result, Ensemble):
        return result
    if isinstance(result, (Consensus, Contrast)):
        return Ensemble(result.labels)
    if isinstance(result, Agreement):
        return result.after.rows
    return result.ensemble if isinstance(result, MetaClustering) else Ensemble(np.zeros(result.n_objects, int))


def _write_parts(sections: Iterable[Section], folder: Path) -> list[Path]:
    """Every figure and table of the page as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for block in (block for section in sections for block in section.blocks):
        if isinstance(block, Picture):
            for ending in (".png", ".svg"):
                written.append(folder / f"{block.name}{ending}")
                write_figure(block.figure, written[-1])
        elif isinstance(block, Sheet):
            written.append(folder / f"{block.name}.csv")
            write_table(without_formulas(block.frame), written[-1])
    return written
