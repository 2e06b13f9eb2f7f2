"""What Wang, Domeniconi and Laskey 2010 claims, beside what our tables say."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from scipy.stats import ttest_rel

from papers.claims import Claim, TableFolder, among, verdict
from papers.wang2010.models import GRAPHS, NBCE_MAIN


def claims(tables: TableFolder) -> list[Claim]:
    """One row per claim, in the order of the paper."""
    found = (
        [*_accuracy(tables), *_perplexity(tables), _singletons(tables), *_inference(tables)]
        if "table6" in tables
        else []
    )
    return [*found, *_outliers(tables("table3"))]


def _wide(tables: TableFolder, name: str, measure: str) -> pd.DataFrame:
    return tables(name).pivot(index="data", columns="method", values=measure)


def _accuracy(tables: TableFolder) -> Iterator[Claim]:
    f1 = _wide(tables, "table2_f1", "f1")
    above = {m: f1[m] > f1["k-means mean"] for m in (*GRAPHS, NBCE_MAIN)}
    yield Claim(
        "Table 2: all ensemble methods outperform the base k-means (its mean)",
        "; ".join(f"{m.split()[0].upper()} on {int(a.sum())} of {len(f1)}" for m, a in above.items()),
        verdict([a.all() for a in above.values()]),
        "table2_f1",
        "Base clusterings with half to twice the number of classes differ in F1 for that reason alone.",
    )
    ways = {"table2_f1": "f1", "table2_f1_printed": "f1_printed", "table2_f1_clusters": "f1_clusters"}
    ways |= {"table2_adjusted_rand": "adjusted_rand"}
    words = {
        "f1": "averaged over classes",
        "f1_printed": "by the printed formula",
        "f1_clusters": "averaged over clusters",
        "adjusted_rand": "by the adjusted Rand index",
    }
    best = {}
    for name, measure in ways.items():
        values = _wide(tables, name, measure)
        best[measure] = (values[NBCE_MAIN] > values[list(GRAPHS)].max(axis=1)).sum(), len(values)
    yield Claim(
        "Table 2: NBCE has the highest F1 on every data set",
        "above CSPA, HGPA and MCLA on " + "; ".join(f"{n} of {of} {words[m]}" for m, (n, of) in best.items()),
        verdict([n == of for n, of in best.values()] if best["f1"][0] else [False]),
        list(ways),
        "As published, NBCE finds the modes of the overlay of the base clusterings, several times the number of classes, while its "
        "rivals are told that number. By the printed formula (precision and recall maximized apart) many small pure clusters are "
        "rewarded; averaged over clusters they are not.",
    )
    test = ttest_rel(f1[NBCE_MAIN], f1[list(GRAPHS)].max(axis=1))
    yield Claim(
        "Table 2: significant at the .002 level in NBCE's favor (paired t-test against the next best)",
        f"t = {test.statistic:.2f}, p = {test.pvalue:.3f}, F1 averaged over classes",
        verdict([test.statistic > 0 and test.pvalue < 0.002]),
        "table2_f1",
    )


def _perplexity(tables: TableFolder) -> Iterator[Claim]:
    for number, measure, what in ((4, "train", "fitted"), (5, "test", "held-out")):
        values = _wide(tables, f"table{number}_{measure}", measure)
        nbce, bce, mixture = values[NBCE_MAIN], values["bce"], values["mixture"]
        same = values["mixture, k of nbce"] - nbce
        yield Claim(
            f"Table {number}: on {what} rows NBCE has a lower perplexity than BCE, and BCE than MM",
            f"NBCE below BCE on {int((nbce < bce).sum())} of {len(values)}, BCE below MM on {int((bce < mixture).sum())}, NBCE below MM on "
            f"{int((nbce < mixture).sum())}; with as many clusters as NBCE, MM less NBCE is {same.min():+.3f} to {same.max():+.3f}",
            verdict([(nbce < bce).all(), (bce < mixture).all()]),
            f"table{number}_{measure}",
            "NBCE's lead is its larger number of clusters. The printed values below 1 cannot be perplexities of labels (at least 1)."
            if number == 4
            else "",
        )


def _singletons(tables: TableFolder) -> Claim:
    values = _wide(tables, "table6", "singletons")
    fewer = values["nbce gibbs tsb"] < values["nbce gibbs fsd"]
    return Claim(
        "Table 6: the stick-breaking prior (TSB) leaves fewer objects in clusters of one than the symmetric one (FSD)",
        f"fewer on {int(fewer.sum())} of {len(values)} data sets; mean {values['nbce gibbs tsb'].mean():.1f} % and "
        f"{values['nbce gibbs fsd'].mean():.1f} %; not on: {among(values.index, ~fewer)}",
        verdict(fewer),
        "table6",
    )


def _inference(tables: TableFolder) -> Iterator[Claim]:
    order = tables("table7_order")
    for what, some in order.groupby("rows", sort=False):
        each = "; ".join(
            f"{row['prior']}: Gibbs ≤ CVB on {row['Gibbs ≤ CVB']}, CVB ≤ VB on {row['CVB ≤ VB']}, all on {row['Gibbs ≤ CVB ≤ VB']} of "
            f"{row['data sets']} (with split–merge moves Gibbs ≤ CVB on {row['split–merge ≤ CVB']}, all on {row['split–merge ≤ CVB ≤ VB']})"
            for _, row in some.iterrows()
        )
        yield Claim(
            f"Table 7: Gibbs sampling has the lowest perplexity, then CVB, then VB ({what} rows)",
            each,
            verdict([row[c] == row["data sets"] for _, row in some.iterrows() for c in ("Gibbs ≤ CVB", "CVB ≤ VB")]),
            "table7_order",
            _mixed(tables("mixing")) if what == "fitted" else "",
        )


def _mixed(rows: pd.DataFrame) -> str:
    plain, moves = rows.iloc[0], rows.iloc[1]
    return (
        "The paper's argument is that Gibbs sampling is asymptotically unbiased, which takes chains that have mixed. As published (one "
        f"object at a time) R-hat is above 1.1 in {plain['above 1.1']} of {plain['runs']} runs (median {plain['median']:.2f}), with "
        f"split–merge moves in {moves['above 1.1']} of {moves['runs']} ({moves['median']:.2f})."
    )


def _outliers(rows: pd.DataFrame) -> Iterator[Claim]:
    values = rows.pivot(index="noise", columns="method", values="perplexity")
    apart = rows.pivot(index="noise", columns="method", values="outliers_apart")
    order = [values["NBCE"] < values["BCE, 2 clusters"], values["BCE, 2 clusters"] < values["MM, 2 clusters"]]
    yield Claim(
        "Table 3: with two clusters and outliers NBCE fits better than BCE, and BCE better than MM",
        f"of {len(values)} noises: NBCE below BCE on {int(order[0].sum())}, BCE below MM on {int(order[1].sum())} (at the least noise "
        + ", ".join(
            f"{m} {values[m].iloc[0]:.3f}" for m in ("NBCE", "BCE, 2 clusters", "MM, 2 clusters", "MM, 3 clusters")
        )
        + ")",
        verdict([o.all() for o in order]),
        "table3",
        "The printed 5.6 to 21 cannot be perplexities per label of labels with two or three values.",
    )
    found = rows[rows["method"] == "NBCE"]["clusters"]
    yield Claim(
        "NBCE is robust to outliers because it finds the number of clusters",
        f"{found.min():.1f} to {found.max():.1f} clusters found; {apart['NBCE'].min():.0%} to {apart['NBCE'].max():.0%} of the outliers "
        f"lie apart from both clusters (MM with two: at most {apart['MM, 2 clusters'].max():.0%})",
        verdict([apart["NBCE"].min() > 0.9]),
        "table3",
    )
