"""The experiments of R. Bekkerman, M. Scholz and K. Viswanathan, Improving clustering stability with combinatorial MRFs (KDD 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papers.paper000_consistency import report_consistency, run_consistency
from papers.paper000_data import (
    NEWSGROUPS,
    STAND_INS,
    Documents,
    Ratings,
    check_folder,
    draw_documents,
    draw_ratings,
    read_documents,
    read_movielens,
)
from papers.paper000_documents import RECIPES, run_documents
from papers.paper000_ratings import report_ratings, run_ratings
from papers.paper000_table1 import report_documents
from papers.report import Report, check_run, introduce

NOTES = (
    "- **Data.** Only 20 Newsgroups is the paper's own; its tokens are not, since the paper's preprocessing is not "
    "described. The 19,997 messages contain copies, most of them under another group, so no clustering can "
    "be right about all. The by-date version has none, fewer documents, and is no like-for-like comparison. The mailboxes "
    "sanders-r and kitchen-l cannot be had: `enron20folders` (without copies of messages; `_americas` and `_americas_esvl`, "
    "which hold the same mail, as one folder), `k1b` and the CLUTO sets stand in, so the paper's rows for mailboxes are "
    "there to compare gains, not values.",
    "- **Recipes.** “paper's” splits words and merges documents as the paper describes, up to details it does not give "
    "(passes, order, how pairs to merge are found). “default” goes on where that ends, with document passes on single words "
    "whose noise cools down, and has a noisy pass over the documents in every turn of the process but the last. "
    "How hot the first is was chosen on the by-date messages by the information on single words, the second on `k1b`, `cluto_re1` and "
    "`cluto_tr11` by the objective of the process; the categories had no say in either.",
    "- **Accuracy** is the share of documents in the plurality category of their cluster, with as many clusters as "
    "categories.",
    "- **Standard errors** are the paper's: over clusterings or pairs of one ensemble. Pairs share clusterings, and "
    "clusterings after the process depend on each other, so they are too small to compare ensembles by.",
    "- **SCCC** over all gaps that give enough seeds, as in the paper; a gap of 0 is the same as 1.",
    "- **Ratings.** MovieLens 1M in place of Netflix: a hundredth of the pairs, and users who all rated at least 20 movies.",
)


@dataclass(frozen=True)
class Plan:
    """Sizes of the experiments.

    `documents` are the sets of Table 1, `figure3` those of Figure 3 with its numbers of clusterings, `consistency` those of Table 3;
    `sample` cuts the sets down.
    """

    m: int = 10
    n_iter: int = 4
    documents: tuple[str, ...] = (*NEWSGROUPS, *STAND_INS)
    figure3: tuple[str, ...] = NEWSGROUPS[:1]
    members: tuple[int, ...] = (2, 3, 5, 7, 10)
    consistency: tuple[str, ...] = ("cluto_re1", "cluto_tr11")
    sample: int | None = None
    rating_clusters: int = 100
    rating_iterations: int = 2


QUICK = Plan(4, 2, ("cluto_tr11",), ("cluto_tr11",), (2, 4), ("cluto_tr11",), 120, 8)
DRAWN = Plan(6, 4, ("drawn",), ("drawn",), (2, 3, 6), ("drawn",), None, 4)
DRAWN_QUICK = Plan(4, 2, ("drawn",), ("drawn",), (2, 4), ("drawn",), 120, 4)


def run(
    folder: str | Path,
    *,
    data: str | Path | None = None,
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
        A folder with the document sets and `movielens1m.npz`; without it everything runs on small drawn tables.
    n_seeds : int, default 10
        Ensembles of Table 3. Table 1 has one ensemble of ten clusterings for every set, as in the paper.
    quick : bool
        Few clusterings, two ensembles and a sample of one set, to see that everything works.
    n_jobs : int, optional
        Threads; the results do not depend on them.
    progress : bool, optional
        Bars on standard error; by default only on a terminal.

    Returns
    -------
    Report
    """
    source = check_run(n_seeds, data)
    plan = (DRAWN_QUICK if quick else DRAWN) if source is None else QUICK if quick else Plan()
    if source is not None:
        check_folder(source, (*plan.documents, "movielens1m"))
    sets = {name: _documents(source, name, plan.sample) for name in dict.fromkeys(plan.documents + plan.consistency)}
    report = Report("Improving clustering stability (Bekkerman, Scholz and Viswanathan 2009), reproduced", folder)
    _introduce(report, quick, real=source is not None)
    how: dict[str, Any] = {"m": plan.m, "n_iter": plan.n_iter}
    work: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}

    runs = [(sets[name], recipe) for name in plan.documents for recipe in RECIPES]
    found = run_documents(runs, members=dict.fromkeys(plan.figure3, plan.members), **how, **work)
    report_documents(report, found, **how)
    report.write()

    n_ensembles = 2 if quick else max(n_seeds, 2)
    rows = run_consistency([sets[name] for name in plan.consistency], n_ensembles, recipe="default", **how, **work)
    report_consistency(report, rows, m=plan.m)
    report.write()

    ratings = [(words, _ratings(source, plan, popular=words == "popular")) for words in ("popular", "uniform")]
    ranked = run_ratings(ratings, plan.rating_clusters, m=plan.m, n_iter=plan.rating_iterations, **work)
    report_ratings(report, ranked, n_clusters=plan.rating_clusters, m=plan.m)
    report.write()
    return report


def _documents(source: Path | None, name: str, sample: int | None) -> Documents:
    data = draw_documents() if source is None else read_documents(source, name)
    return data if sample is None else data.sample(sample)


def _ratings(source: Path | None, plan: Plan, *, popular: bool) -> Ratings:
    if source is None:
        return draw_ratings(popular=popular)
    return read_movielens(source, popular=popular, n_users=plan.sample)


def _introduce(report: Report, quick: bool, *, real: bool) -> None:
    words = "Every number here can be made again: seeds count from 0, and threads change nothing."
    drawn = "all real data (small drawn tables stand in for them)"
    introduce(report, "000", words, quick=quick, left_out="" if real else drawn)
    report.section("What the paper leaves open, and what is done here")
    report.text("\n".join(NOTES))
