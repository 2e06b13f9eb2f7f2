"""One way to run a paper's experiments: the data looked at first, every experiment written when it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import consilience
from consilience._check import check_count, check_path
from consilience._types import PathLike
from consilience.reports.figures import new_figure
from papers.report import Report


@dataclass(frozen=True)
class Setting:
    """What a run was asked for; `data` is the folder of real data, or None."""

    data: Path | None
    n_seeds: int
    quick: bool
    n_jobs: int | None
    progress: bool | None

    @property
    def work(self) -> dict[str, Any]:
        """Threads and progress bars, as most experiments take them."""
        return {"n_jobs": self.n_jobs, "progress": self.progress}


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
    """

    name: str
    title: str
    about: str
    left_out: str
    plan: Callable[[Setting], Any]
    read: Callable[[Setting, Any], Any]
    notes: Callable[[Any], Sequence[str]]
    experiments: Callable[[Report, Any, Any, Setting], Iterator[None]]

    def run(
        self,
        folder: PathLike,
        *,
        data: PathLike | None = None,
        n_seeds: int = 10,
        quick: bool = False,
        n_jobs: int | None = -1,
        progress: bool | None = None,
    ) -> Report:
        """Run the experiments and write ``report.md``, tables as CSV and figures as PNG.

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
        progress : bool, optional
            Bars on standard error; by default only on a terminal.
        """
        check_count("n_seeds", n_seeds)
        new_figure(1, 1)  # without matplotlib, say so now and not after the first experiment
        source = None if data is None else check_path(data, "data")
        setting = Setting(source, n_seeds, quick, n_jobs, progress)
        plan = self.plan(setting)
        sets = self.read(setting, plan)
        report = Report(f"{self.title}, reproduced", folder)
        self._introduce(report, plan, setting)
        for _ in self.experiments(report, sets, plan, setting):
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
