"""Tables 2 and 4 to 7 of Wang et al. 2010 beside ours, their figures, and what becomes of the paper's claims."""

from __future__ import annotations

import pandas as pd
from scipy.stats import ttest_rel

from papers.report import Report, over_seeds, with_error
from papers.wang2010 import printed as printed
from papers.wang2010.figures import draw_f1, draw_inference, draw_perplexity
from papers.wang2010.models import GRAPHS, INFERENCES, NBCE_MAIN, PRIORS

TITLES = {
    "k-means max": "base k-means, best",
    "k-means mean": "base k-means, mean",
    "cspa": "CSPA",
    "hgpa": "HGPA",
    "mcla": "MCLA",
    "mixture": "MM",
    "mixture, k of nbce": "MM, as many clusters as NBCE",
    "bce": "BCE",
    NBCE_MAIN: "NBCE",
    "nbce merged": "NBCE, merged to the classes",
}
VARIANTS = {
    f"nbce {inference} {prior}": f"{'Gibbs' if inference == 'gibbs' else inference.upper()}, {prior.upper()}"
    for inference in INFERENCES
    for prior in PRIORS
}
VARIANTS |= {f"nbce moves {prior}": f"Gibbs with split–merge, {prior.upper()}" for prior in PRIORS}
TABLE_2 = {"k-means max": "k-means max", "k-means mean": "k-means mean", "cspa": "cspa", "hgpa": "hgpa", "mcla": "mcla"}
TABLE_2 |= {NBCE_MAIN: "nbce"}
GENERATIVE = {"mixture": "mixture", "bce": "bce", NBCE_MAIN: "nbce"}


def report_models(report: Report, rows: pd.DataFrame) -> None:
    """All tables on data."""
    mean = over_seeds(rows, ["data", "objects", "method"])
    report.runs("data_sets", rows)
    _report_f1(report, mean)
    _report_perplexity(report, mean, rows)
    _report_singletons(report, mean)
    few = rows[rows["seed"].isin(rows.loc[rows["method"] == "nbce vb fsd", "seed"])]
    _report_inference(report, over_seeds(few, ["data", "objects", "method"]), rows)


def _spread(mean: pd.DataFrame) -> str:
    return f"seeds {mean['seeds'].iloc[0]}, {mean['repeats'].iloc[0]} repeats, mean ± standard error of the mean"


def beside(
    mean: pd.DataFrame,
    measure: str,
    titles: dict[str, str],
    table: printed.Printed,
    keys: dict[str, str],
    scale: float = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table for the CSV (one row per data set and method), and the same to be shown, the paper's lines above ours.

    `titles` names the methods, in order; `keys` gives the name in the paper's table of each method that stands there.
    """
    methods = list(titles)
    kept = mean[mean["method"].isin(methods)].copy()
    kept[measure] *= scale
    kept[f"{measure}_sem"] *= scale
    kept["paper"] = [
        dict(zip(printed.DATA, table.get(keys.get(method, ""), ()), strict=False)).get(data)
        for data, method in zip(kept["data"], kept["method"], strict=True)
    ]
    kept["text"] = with_error(kept, measure, digits=1 if scale > 1 else 2)
    names = [name for name in printed.DATA if name in set(kept["data"])]
    lines = []
    for method in methods:
        own = kept[kept["method"] == method].set_index("data")
        if method in keys and own["paper"].notna().any():
            theirs = {name: "–" if pd.isna(own.at[name, "paper"]) else f"{own.at[name, 'paper']:g}" for name in names}
            lines.append({"method": titles[method], "whose": "paper", **theirs})
        lines.append({"method": titles[method], "whose": "ours", **{name: own["text"].get(name) for name in names}})
    csv = kept[["data", "objects", "method", "seeds", "repeats", measure, f"{measure}_sem", "paper"]]
    return csv, pd.DataFrame(lines)


def wide(mean: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Means of a measure, data sets × methods."""
    return mean.pivot(index="data", columns="method", values=measure).reindex(
        [name for name in printed.DATA if name in set(mean["data"])]
    )


def _report_f1(report: Report, mean: pd.DataFrame) -> None:
    report.section("1. Consensus beside the classes (table 2)")
    report.text(
        "All methods but NBCE get the number of classes. F1 is measured on the three quarters of the objects that the methods saw; "
        "“base k-means” are the ten base clusterings. “NBCE, merged” is NBCE's answer merged down to the number of classes."
    )
    methods = (*TABLE_2, "nbce merged", "mixture", "bce")
    captions = {
        "f1": ("table2_f1", "F1 averaged over classes, of each class's best cluster", printed.TABLE_2),
        "f1_printed": (
            "table2_f1_printed",
            "F1 by the paper's formula, precision and recall maximized apart",
            printed.TABLE_2,
        ),
        "f1_clusters": ("table2_f1_clusters", "F1 averaged over clusters, of each cluster's best class", {}),
        "adjusted_rand": ("table2_adjusted_rand", "Adjusted Rand index with the classes", {}),
        "clusters": ("table2_clusters", "Clusters", {}),
    }
    for measure, (name, caption, table) in captions.items():
        chosen = methods if measure != "clusters" else (NBCE_MAIN, "nbce merged")
        csv, shown = beside(mean, measure, {method: TITLES[method] for method in chosen}, table, TABLE_2)
        report.table(name, csv, f"{caption}; {_spread(mean)}.", shown=shown)
    report.figure(
        "table2", draw_f1(mean, TABLE_2, TITLES), "F1 averaged over classes: the paper's above (hollow), ours below."
    )
    report.text(*_f1_in_words(mean))


def _f1_in_words(mean: pd.DataFrame) -> list[str]:
    rivals = list(GRAPHS)
    named = {
        "f1": "averaged over classes",
        "f1_printed": "by the paper's formula",
        "f1_clusters": "averaged over clusters",
    }
    best = []
    for measure, words in named.items():
        values = wide(mean, measure)
        best.append(f"{(values[NBCE_MAIN] > values[rivals].max(axis=1)).sum()} of {len(values)} data sets {words}")
    rand = wide(mean, "adjusted_rand")
    best.append(f"{(rand[NBCE_MAIN] > rand[rivals].max(axis=1)).sum()} of {len(rand)} by the adjusted Rand index")
    values, found = wide(mean, "f1"), wide(mean, "clusters")
    classes = found["nbce merged"]
    base = values["k-means mean"]
    above = ", ".join(f"{TITLES[m]} on {(values[m] > base).sum()}" for m in (*GRAPHS, NBCE_MAIN))
    said = [
        f"**“NBCE gives the highest accuracy for each data set.”** Its F1 is above CSPA, HGPA and MCLA on {'; '.join(best)}. It finds "
        f"{(found[NBCE_MAIN] / classes).min():.1f} to {(found[NBCE_MAIN] / classes).max():.1f} times as many clusters as there are "
        "classes: the modes of the overlay of ten base clusterings with up to twice as many clusters. More clusters help by the paper's "
        "formula, where a small pure cluster is as good for the second maximum as a whole class; they hurt averaged over clusters.",
        f"**“All ensemble methods outperform the baseline k-means.”** Above the mean of the base clusterings, of {len(values)} data "
        f"sets: {above}.",
    ]
    if len(values) > 2:
        test = ttest_rel(values[NBCE_MAIN], values[rivals].max(axis=1))
        said.append(
            "**“Significant at the 0.002 level.”** A paired t-test over the data sets of NBCE against the best of the three, F1 over "
            f"classes: t = {test.statistic:.2f}, p = {test.pvalue:.3f}"
            + (", in NBCE's favor." if test.statistic > 0 else ", against NBCE.")
        )
    return said


def _report_perplexity(report: Report, mean: pd.DataFrame, rows: pd.DataFrame) -> None:
    report.section("2. Perplexity on data (tables 4 and 5)")
    report.text(
        "Perplexity per known label (Eq. 12), on the rows that were fitted and on the quarter held out. The paper's numbers are "
        "beside ours to be seen, not compared: a perplexity below 1 is impossible for labels."
    )
    titles = {method: TITLES[method] for method in (*GENERATIVE, "mixture, k of nbce")}
    for number, measure, what, table in (
        (4, "train", "fitted", printed.TABLE_4),
        (5, "test", "held-out", printed.TABLE_5),
    ):
        csv, shown = beside(mean, measure, titles, table, GENERATIVE)
        report.table(f"table{number}_{measure}", csv, f"Perplexity of the {what} rows; {_spread(mean)}.", shown=shown)
    report.figure("perplexity", draw_perplexity(mean, titles), "Perplexity per label; bars are standard errors.")
    report.text(*_perplexity_in_words(mean, rows))


def _perplexity_in_words(mean: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    said = []
    for measure, what in (("train", "fitted"), ("test", "held-out")):
        values = wide(mean, measure)
        nbce, bce, mixture = values[NBCE_MAIN], values["bce"], values["mixture"]
        said.append(f"{what} rows: NBCE below BCE on {(nbce < bce).sum()}, BCE below MM on {(bce < mixture).sum()}")
    runs = rows.pivot(index=["data", "seed"], columns="method", values="test")
    values = wide(mean, "test")
    below = runs[NBCE_MAIN] <= runs["mixture"]
    same, gap = (values[method] - values[NBCE_MAIN] for method in ("mixture, k of nbce", "mixture"))
    impossible = rows["impossible"].dropna()
    return [
        f"**“NBCE fits better than BCE, and BCE better than MM.”** Of {len(values)} data sets, {'; '.join(said)}. On held-out rows NBCE "
        f"is at or below MM on {(values[NBCE_MAIN] <= values['mixture']).sum()} data sets on average, and in {below.sum()} of "
        f"{len(below)} single runs.",
        f"How much of that is the number of clusters: with as many as NBCE found, MM's held-out perplexity minus NBCE's is "
        f"{same.min():+.3f} to {same.max():+.3f}; with the number of classes it is {gap.min():+.3f} to {gap.max():+.3f}.",
        "MM is smoothed by a tenth of a count per label and cluster. Fitted by maximum likelihood, as first published, it gives some "
        f"held-out row no chance at all, and so has infinite perplexity, in {impossible.sum():.0f} of {len(impossible)} runs.",
    ]


def _report_singletons(report: Report, mean: pd.DataFrame) -> None:
    report.section("3. Sticks or a symmetric Dirichlet (table 6)")
    keys = {f"nbce gibbs {prior}": prior for prior in PRIORS}
    csv, shown = beside(mean, "singletons", {key: VARIANTS[key] for key in keys}, printed.TABLE_6, keys, scale=100)
    report.table(
        "table6", csv, f"Objects in clusters of one, in percent, under Gibbs sampling; {_spread(mean)}.", shown=shown
    )
    values, found = wide(mean, "singletons"), wide(mean, "clusters")
    tsb, fsd = (f"nbce gibbs {prior}" for prior in PRIORS)
    report.text(
        f"**“TSB gives fewer singleton clusters than FSD.”** Of {len(values)} data sets: fewer on {(values[tsb] < values[fsd]).sum()}, "
        f"more on {(values[tsb] > values[fsd]).sum()}, the same on {(values[tsb] == values[fsd]).sum()}. Clusters found on average: "
        f"{found[tsb].mean():.1f} and {found[fsd].mean():.1f}."
    )


def _report_inference(report: Report, mean: pd.DataFrame, rows: pd.DataFrame) -> None:
    report.section("4. Gibbs sampling, collapsed and plain variational inference (table 7)")
    report.text(
        "The paper has one column per inference, for the fitted rows, without saying with which prior (VB: FSD); it stands beside FSD. "
        "Gibbs sampling averages the predictive distribution over its samples; the others use one set of expected counts. CVB2 is "
        "of second order. Fewer seeds than above, for time, and the same ones for all."
    )
    keys = {f"nbce {inference} fsd": inference for inference in ("gibbs", "cvb", "vb")}
    for measure, what in (("train", "fitted"), ("test", "held-out")):
        csv, shown = beside(mean, measure, VARIANTS, printed.TABLE_7 if measure == "train" else {}, keys)
        report.table(f"table7_{measure}", csv, f"Perplexity of the {what} rows; {_spread(mean)}.", shown=shown)
    report.figure("inference", draw_inference(mean), "Perplexity over that of Gibbs sampling with the same prior.")
    lines = []
    for measure, what in (("train", "fitted"), ("test", "held-out")):
        values = wide(mean, measure)
        for prior in PRIORS:
            gibbs, cvb2, cvb, vb = (values[f"nbce {inference} {prior}"] for inference in INFERENCES)
            moves = values[f"nbce moves {prior}"]
            lines.append(
                {
                    "rows": what,
                    "prior": prior.upper(),
                    "Gibbs ≤ CVB": int((gibbs <= cvb).sum()),
                    "CVB ≤ VB": int((cvb <= vb).sum()),
                    "Gibbs ≤ CVB ≤ VB": int(((gibbs <= cvb) & (cvb <= vb)).sum()),
                    "split–merge ≤ CVB": int((moves <= cvb).sum()),
                    "split–merge ≤ CVB ≤ VB": int(((moves <= cvb) & (cvb <= vb)).sum()),
                    "CVB2 ≤ CVB": int((cvb2 <= cvb).sum()),
                    "data sets": len(values),
                }
            )
    report.table("table7_order", pd.DataFrame(lines), "On how many data sets the means are in the paper's order.")
    mixed = {
        name: rows.loc[rows["method"].str.startswith(name), "r_hat"].dropna() for name in ("nbce gibbs", "nbce moves")
    }
    lines = [
        {"chains": what, "runs": len(r), "above 1.1": int((r > 1.1).sum()), "median": r.median(), "largest": r.max()}
        for what, r in zip(("one object at a time", "with split–merge moves"), mixed.values(), strict=True)
    ]
    report.table("mixing", pd.DataFrame(lines), "R-hat of the log joint over the chains of each run: 1 is mixed.")
    r_hat = mixed["nbce gibbs"]
    report.text(
        "**“Gibbs sampling is asymptotically unbiased, so it gives lower perplexity.”** That takes chains that have forgotten where they "
        f"began. R-hat of the log joint is above 1.1 in {(r_hat > 1.1).sum()} of {len(r_hat)} runs of Gibbs sampling here (median "
        f"{r_hat.median():.2f}): moves of one object at a time rarely make or join whole clusters of alike rows. With split–merge moves it "
        f"is above 1.1 in {(mixed['nbce moves'] > 1.1).sum()} of {len(mixed['nbce moves'])}."
    )
