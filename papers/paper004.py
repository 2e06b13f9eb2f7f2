"""The experiments of P. Wang, C. Domeniconi and K. B. Laskey, Nonparametric Bayesian clustering ensembles (ECML 2010)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from papers.paper004_data import read_data_sets
from papers.paper004_models import run_models
from papers.paper004_printed import NOISE
from papers.paper004_synthetic import report_outliers, run_outliers
from papers.paper004_tables import report_models
from papers.report import Report, check_run, introduce


@dataclass(frozen=True)
class Plan:
    """Sizes of the experiments; variational inference has seeds of its own because it takes long; `nbce` are NBCE's options."""

    seeds: int
    seeds_variational: int
    n_objects: int | None = None
    noise: tuple[float, ...] = NOISE
    nbce: dict[str, Any] = field(default_factory=lambda: {"n_jobs": -1})


QUICK = Plan(2, 1, 150, (0.05, 0.2), {"n_iter": 100, "n_chains": 2, "n_init": 2, "max_iter": 100})


def run(
    folder: str | Path,
    *,
    data: str | Path | None = None,
    n_seeds: int = 10,
    quick: bool = False,
    progress: bool | None = None,
) -> Report:
    """Run the experiments of tables 2 to 7 and write ``report.md``, tables as CSV and figures as PNG.

    Parameters
    ----------
    folder : path
        Where the report goes; made if it is not there.
    data : path, optional
        A folder with `glass.npz`, `ecoli.npz`, `segment.npz`, `isolet.npz`, `letter.npz`, `trace.npz` and `control_chart.npz`;
        without it only the synthetic experiment is run.
    n_seeds : int, default 10
        Repeats: base clusterings, held-out rows and methods all depend on the seed. Variational inference has at most 3.
    quick : bool
        Two seeds and at most 150 objects, to see that everything works.
    progress : bool, optional
        Bars on standard error; by default only on a terminal.

    Returns
    -------
    Report
    """
    source = check_run(n_seeds, data)
    plan = QUICK if quick else Plan(n_seeds, min(n_seeds, 3))
    sets = None if source is None else read_data_sets(source)
    report = Report(
        "Nonparametric Bayesian clustering ensembles (Wang, Domeniconi and Laskey 2010), reproduced", folder
    )
    _introduce(report, quick, real=source is not None)
    if sets is not None:
        rows = run_models(
            sets,
            plan.seeds,
            n_variational=plan.seeds_variational,
            n_objects=plan.n_objects,
            progress=progress,
            **plan.nbce,
        )
        report_models(report, rows)
        report.write()
    report_outliers(report, run_outliers(plan.noise, plan.seeds, progress=progress, **plan.nbce), **plan.nbce)
    report.write()
    return report


def _introduce(report: Report, quick: bool, *, real: bool) -> None:
    introduce(
        report,
        "004",
        "Every number here can be made again: seeds count from 0.",
        quick=quick,
        left_out="" if real else "tables 2 and 4 to 7",
    )
    report.section("What the paper leaves open or cannot mean, and what is done here")
    report.text(
        "\n".join(
            [
                "- **Model.** Eq. 5 and 10 multiply over all labels where only the observed one has a factor; the stick-breaking prior "
                "lacks α^(K−1), without which it is no distribution and α cannot be estimated; the updates of VB have log ρ in place of "
                "its digammas. The corrected formulas are used, and tested by enumeration.",
                "- **Perplexity.** Eq. 12 divides by all labels, which makes it a perplexity per label: at least 1, and J for a uniform "
                "guess among J labels. Tables 4, 5 and 7 have values below 1, table 3 values far above any J. So ours are beside the "
                "paper's to be seen; what is compared is the order of the methods.",
                "- **log p(Y)** is not said how. Here: held-out or not, the posterior predictive probability of each row under the fitted "
                "model; for Gibbs sampling averaged over samples; for BCE the mean over draws of the membership.",
                "- **F1.** The sum runs to k and is divided by h, it is open which side is the truth, and precision and recall are "
                "maximized apart. Table 2 is given by our reading (average over classes of the best match) and by the paper's formula.",
                "- **Repeats.** One number each in the paper. Here mean and standard error over seeds; with every seed the base "
                "clusterings, the held-out quarter and the methods are drawn anew.",
                "- **Base clusterings.** k-means from random rows, one start, on unscaled features (the paper does not speak of "
                "scaling); 50, 75, 100, 150 and 200 % of the number of classes, each twice. They see all objects; a quarter of the "
                "rows of labels is then held out.",
                "- **NBCE.** Truncation at 100 clusters; α and β estimated. Compared with other methods it is Gibbs sampling, as in the "
                "paper, with TSB, where the paper does not say. Its answer is the partition of least expected variation of information, "
                "where the paper has a sample.",
                "- **Data.** LetterRecognition: 700 of the 7,648 letters A to J, drawn anew with every seed. ISOLET: all 1,800 "
                "letters A, B, C, D, E, G of parts 1 to 5. The partitioners are METIS and Mt-KaHyPar.",
            ]
        )
    )
