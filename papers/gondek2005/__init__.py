"""The experiments of D. Gondek and T. Hofmann, Non-redundant clustering with conditional ensembles (KDD 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from papers.gondek2005.claims import claims
from papers.gondek2005.data import MOST, read_texts
from papers.gondek2005.representation import report_representations, run_representations
from papers.gondek2005.synthetic import report_synthetic, run_synthetic
from papers.gondek2005.text import report_orthogonality, report_text, run_text
from papers.gondek2005.walk import report_walk, run_walk
from papers.gondek2005.why import report_finer, report_starts, run_finer, run_starts
from papers.report import Report
from papers.runner import Paper, Setting


@dataclass(frozen=True)
class Plan:
    """Sizes of the experiments; documents have fewer seeds, since their runs take longer and vary less.

    `starts` are those of k-means of which the best is looked at, `represented` the sets on which a representation is chosen.
    """

    seeds: int
    seeds_text: int
    n_clusters: tuple[int, ...] = (2, 3, 4, 5)
    alphas: tuple[float, ...] = (0, 0.2, 0.4, 0.6, 0.8, 1)
    restarts: int = 5
    restarts_text: int = 10
    n_documents: int | None = None
    starts: int = 100
    represented: int = 4


QUICK = Plan(2, 2, (2, 3), (0.4, 1), 2, 2, 200, 3, 1)


def _plan(setting: Setting) -> Plan:
    return QUICK if setting.quick else Plan(setting.n_seeds, min(setting.n_seeds, 5))


def _read(setting: Setting, plan: Plan) -> Any:
    sets = [] if setting.data is None else read_texts(setting.data)
    return [texts.sample(plan.n_documents) for texts in sets]


def _experiments(report: Report, sets: Any, plan: Plan, setting: Setting) -> Iterator[None]:
    cells = setting.beside
    rows = run_synthetic(plan.n_clusters, plan.alphas, plan.seeds, n_restarts=plan.restarts, cells=cells)
    report_synthetic(report, rows, plan.restarts)
    yield
    if not sets:
        return
    report_orthogonality(report, sets)
    found = run_text(sets, plan.seeds_text, n_restarts=plan.restarts_text, cells=cells)
    report_text(report, found, sets, plan.restarts_text)
    yield
    report_walk(report, run_walk(sets[0], plan.seeds, cells=cells))
    yield
    report_starts(report, run_starts(sets[0], plan.starts, cells=cells))
    yield
    report_finer(report, run_finer(sets[1], plan.seeds, cells=cells))
    yield
    report_representations(report, run_representations(sets[: plan.represented], plan.seeds_text, cells=cells))
    yield


def _notes(plan: Plan) -> Sequence[str]:
    return [
        "- **Orthogonality α.** Not defined beyond its ends, where the hidden grouping follows from the given one (0) or is "
        "independent of it (1). Two readings: *shear* and *member*, below.",
        "- **Levels of the synthetic data.** The sizes are printed, the multinomials are not: here the probability of an event "
        "is .04 + .11 j in group j, which gives the ranges of the paper's figures 1 and 3.",
        "- **Eq. 8.** The information of the clusters about all label vectors at once is their own entropy, whatever they "
        "are; CondEnsMI maximizes Σ I(C; Cʲ), the paper's Eq. 1, which is what its bottleneck does on bags of labels.",
        "- **“Best of 20”.** By what is not said. Here all restarts enter one ensemble and nothing is chosen.",
        "- **λ of CCIB.** Not given, and it decides everything. Here it is chosen without labels.",
        "- **Repeated rows.** In table 1 the CondEnsMI k-means rows of ec5x6 are those of gmcat2x2 again; they are left out.",
        "- **WebKB.** 1,087 pages in the paper, of which two are empty here, and 5,560 terms (5,650 in the paper).",
        "- **RCV1** is not to be had; its subsets are rebuilt from Reuters-21578, stories of one topic and one country. gmcat2x2 "
        "(two top-level categories by two countries, cells of equal size, as table 2 shows): company news and economic "
        "indicators by USA and UK. ec5x6: the five most frequent economic indicators by the six most frequent countries. "
        "top7x9: company news, economic indicators and the five most frequent other topics by nine countries, at most "
        f"{MOST} stories for each pair. They are smaller than the paper's, so its numbers are a landmark, not a target.",
        "- **Term counts.** As in the paper for all of its algorithms, terms in at least three documents.",
    ]


PAPER = Paper(
    name="gondek2005",
    title="Non-redundant clustering with conditional ensembles (Gondek and Hofmann 2005)",
    about="A grouping Z is given, another one is hidden and has to be found. CondEns splits every group of Z, extends the splits to all "
    "objects and combines them: CondEns2 by the quadratic criterion, CondEnsMI by mutual information; EM is a mixture of multinomials, "
    "dIB and dCCIB use deterministic annealing, seqCCIB moves objects one at a time.",
    left_out="WebKB and Reuters",
    plan=_plan,
    read=_read,
    notes=_notes,
    experiments=_experiments,
    claims=claims,
)
