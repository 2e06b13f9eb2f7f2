"""The experiments of P. Wang, C. Domeniconi and K. B. Laskey, Nonparametric Bayesian clustering ensembles (ECML 2010)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from papers.report import Report
from papers.runner import Paper, Setting
from papers.wang2010.claims import claims
from papers.wang2010.data import read_data_sets
from papers.wang2010.models import run_models
from papers.wang2010.printed import NOISE
from papers.wang2010.synthetic import report_outliers, run_outliers
from papers.wang2010.tables import report_models


@dataclass(frozen=True)
class Plan:
    """Sizes of the experiments; variational inference has seeds of its own because it takes long; `nbce` are NBCE's options."""

    seeds: int
    seeds_variational: int
    n_objects: int | None = None
    noise: tuple[float, ...] = NOISE
    nbce: dict[str, Any] = field(default_factory=dict)


QUICK = Plan(2, 1, 150, (0.05, 0.2), {"max_iter": 100, "n_chains": 2, "n_init": 2})


def _plan(setting: Setting) -> Plan:
    return QUICK if setting.quick else Plan(setting.n_seeds, min(setting.n_seeds, 3))


def _experiments(report: Report, sets: Any, plan: Plan, setting: Setting) -> Iterator[None]:
    if sets is not None:
        how: dict[str, Any] = {
            "n_variational": plan.seeds_variational,
            "n_objects": plan.n_objects,
            "cells": setting.cells,
            "n_jobs": setting.n_jobs,
        }
        report_models(report, run_models(sets, plan.seeds, **how, **plan.nbce))
        yield
    threads = {"n_jobs": setting.n_jobs}
    outliers = run_outliers(plan.noise, plan.seeds, cells=setting.cells, **threads, **plan.nbce)
    report_outliers(report, outliers, **plan.nbce)
    yield


def _notes(plan: Plan) -> Sequence[str]:
    return [
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
        "letters A, B, C, D, E, G of parts 1 to 5. The partitioner is Mt-KaHyPar.",
    ]


PAPER = Paper(
    name="wang2010",
    title="Nonparametric Bayesian clustering ensembles (Wang, Domeniconi and Laskey 2010)",
    about="",
    left_out="tables 2 and 4 to 7",
    plan=_plan,
    read=lambda setting, plan: None if setting.data is None else read_data_sets(setting.data),
    notes=_notes,
    experiments=_experiments,
    claims=claims,
)
