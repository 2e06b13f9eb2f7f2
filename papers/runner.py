"""One way to run a paper's experiments: the data looked at first, every experiment written when it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

import consilience
from consilience._check import check_count, check_path
from consilience._types import PathLike
from consilience.reports.figures import new_figure
from papers.cells import Cells
from papers.claims import Claims
from papers.report import Report

NAMED = ("data", "seed")  # parts of a cell's setting that have a column of their own in the log of runs


@dataclass(frozen=True)
class Setting:
    """What a run was asked for; `data` is the folder of real data, or None."""

    data: Path | None
    n_seeds: int
    quick: bool
    n_jobs: int | None
    cells: Cells

    @property
    def beside(self) -> Cells:
        """The same cells, for experiments whose cells have one thread each: several run at once."""
        return replace(self.cells, n_jobs=self.n_jobs or 1)


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments.

    Attributes
    ----------
    name : str
        First author and year, as on the command line.
    title : str
        Title, authors and year.
    about : str
        How to read the numbers.
    left_out : str
        What is missing from the report without real data.
    plan : function of a Setting
        Sizes of the experiments.
    read : function of a Setting and the plan
        The data sets; whatever is wrong with them is said here, before any work.
    notes : function of the plan
        What the paper leaves open, and what is done here.
    experiments : function of a Report, the data, the plan and the Setting
        Yields after every experiment.
    claims : function of the tables
        What the paper claims, beside what the tables say.
    """

    name: str
    title: str
    about: str
    left_out: str
    plan: Callable[[Setting], Any]
    read: Callable[[Setting, Any], Any]
    notes: Callable[[Any], Sequence[str]]
    experiments: Callable[[Report, Any, Any, Setting], Iterator[None]]
    claims: Claims

    def run(
        self,
        folder: PathLike,
        *,
        data: PathLike | None = None,
        n_seeds: int = 10,
        quick: bool = False,
        n_jobs: int | None = -1,
        cells: PathLike | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> Report:
        """Run the experiments and write ``report.md``, tables as CSV and figures as PNG.

        ``runs.csv`` is the log: every cell (an experiment with one setting and one seed) with its CPU-seconds and memory.

        Parameters
        ----------
        folder : path
            Where the report goes; made if it is not there.
        data : path, optional
            A folder with the data sets that docs/papers.md names; what needs them is left out otherwise.
        n_seeds : int, default 10
            Repeats; some experiments have fewer, for time.
        quick : bool
            Few seeds and small sizes, to see that everything works.
        n_jobs : int, optional
            Threads; the results do not depend on them.
        cells : path, optional
            A file that keeps finished cells; those of earlier runs with the same settings and code are not run again.
        tell : function of a text, optional
            Gets a line for every cell that is run.
        """
        check_count("n_seeds", n_seeds)
        new_figure(1, 1)  # without matplotlib, say so now and not after the first experiment
        source = None if data is None else check_path(data, "data")
        kept = None if cells is None else check_path(cells, "the file of finished cells")
        setting = Setting(source, n_seeds, quick, n_jobs, Cells(kept, tell))
        plan = self.plan(setting)
        sets = self.read(setting, plan)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
        report = Report(f"{self.title}, reproduced", folder)
        self._introduce(report, plan, setting)
        for _ in self.experiments(report, sets, plan, setting):
            report.write()
        _report_log(report, setting)
        report.write()
        return report

    def _introduce(self, report: Report, plan: Any, setting: Setting) -> None:
        small = ", with `--quick`: small sizes and few seeds, so draw no conclusions from it" if setting.quick else ""
        made = f"`python -m papers {self.name}` (version {consilience.__version__}{small})"
        report.text(f"Made by {made}. Seeds count from 0, and threads change nothing. {self.about}".rstrip())
        if setting.data is None:
            report.text(f"**Left out:** {self.left_out}, since no folder of data was given (`--data`).")
        report.section("What the paper leaves open, and what is done here")
        report.text("\n".join(self.notes(plan)))
        report.write()


def _report_log(report: Report, setting: Setting) -> None:
    """What every cell took."""
    lines = []
    for cell in setting.cells.log:
        named = {name: cell["setting"].get(name) for name in NAMED}
        others = {name: value for name, value in cell["setting"].items() if name not in NAMED}
        rest = {name: value for name, value in cell.items() if name not in ("experiment", "setting")}
        about = {"experiment": cell["experiment"], **named, "setting": json.dumps(others, ensure_ascii=False)}
        lines.append(about | rest | {"quick": setting.quick})
    log = pd.DataFrame(lines)
    groups = log.groupby("experiment", sort=False)
    took = pd.DataFrame({"cells": groups.size(), "CPU-seconds": groups["cpu_seconds"].sum().round().astype(int)})
    took["most memory, MB"] = groups["peak_mb"].max()
    report.section("What it took")
    report.table("runs", log, "Every cell: one setting with one seed.", shown=took.reset_index())
