"""What Caruana, Elhawary, Nguyen and Smith 2006 claims, beside what our tables say."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from papers.claims import Claim, TableFolder, among, verdict

PAPERS = ("phoneme", "covertype", "letters")  # the paper's own sets among ours
PRINTED = {("covertype", "cover"): "more than half", ("letters", "letter"): "20–30 %"}
PRINTED |= {("phoneme", "speaker"): "38 %", ("phoneme", "vowel"): "53 %"}

PRINTED_ALL = {"compactness": 2.66, "speaker": 0.291, "vowel": 0.405}
PRINTED_ERROR = {"compactness": 0.03, "speaker": 0.02, "vowel": 0.02}  # that counts as the same


def claims(tables: TableFolder) -> list[Claim]:
    """One row per claim, in the order of the paper."""
    clouds = tables("clouds")
    clouds = clouds[clouds["data"].isin(PAPERS)] if clouds["data"].isin(PAPERS).any() else clouds
    found = [*_weights(tables("zipf")), *_clouds(clouds), *_spread(tables("diversity")), _others(tables("others"))]
    found += [_spectral(tables("others")), *(_weighted(tables("spectral")) if "spectral" in tables else ())]
    name = "phoneme" if "groups_phoneme" in tables else "beads"
    found += _groups(tables(f"groups_{name}"), name, tables(f"groups_{name}_runs"))
    found.append(_jumps(tables("curves_runs"), name))
    if "accuracies" in tables:
        found.append(_exclude(tables("accuracies")))
    return [*found, *(_protein(tables("protein")) if "protein" in tables else ())]


def _weights(rows: pd.DataFrame) -> Iterator[Claim]:
    parts, held, accurate, where = [], [], [], []
    for (data, label), some in rows.groupby(["data", "label"], sort=False):
        some = some.sort_values("alpha")
        low, high = some.iloc[0], some.iloc[-1]
        held.append(high["compactness"] > low["compactness"])
        parts.append(f"{data} {low['compactness']:.2f} to {high['compactness']:.2f}")
        top = some.loc[some["best"].idxmax()]
        accurate.append(top["alpha"] >= 0.75)
        where.append(f"{data}, {label}: α ≈ {top['alpha']:g} ({top['best']:.3f}, at α ≈ 0 {low['best']:.3f})")
    yield Claim(
        "Figure 2: the larger α, the less compact the clusterings",
        "mean compactness (distance) at the smallest and largest α: " + "; ".join(dict.fromkeys(parts)),
        verdict(held),
        "zipf",
    )
    yield Claim(
        "Figure 2: some of the most accurate clusterings come from larger α (.75 and more)",
        "most accurate at: " + "; ".join(where),
        verdict(accurate),
        "zipf",
    )


def _clouds(rows: pd.DataFrame) -> Iterator[Claim]:
    both = rows[rows["source"] == "both"]
    places = "; ".join(
        f"{r['data']}, {r['label']} {r['percentile_of_top']:.0%} (single best {r['percentile_of_best']:.0%} ± "
        f"{r['percentile_of_best_sem']:.0%}; paper {PRINTED.get((r['data'], r['label']), '–')})"
        for _, r in both.iterrows()
    )
    yield Claim(
        "Figure 3, section 6: the most accurate clusterings are not among the most compact (at least a fifth are more compact)",
        f"share of clusterings more compact than the 25 most accurate, median: {places}",
        verdict(both["percentile_of_top"] >= 0.2),
        "clouds",
        "The paper's percentile is that of the single most accurate clustering, which jumps between seeds.",
    )
    gap = both["best"] - both["of_most_compact"]
    yield Claim(
        "Figure 3: the most compact clustering is clearly less accurate than the most accurate",
        "; ".join(
            f"{r['data']}, {r['label']} {r['of_most_compact']:.3f}, best {r['best']:.3f}" for _, r in both.iterrows()
        ),
        verdict(gap > 0.02),
        "clouds",
    )
    wide = rows.pivot(index=["data", "label"], columns="source", values="best")
    for data, source, said in (
        ("covertype", "after PCA", "Figure 3: on Covertype PCA eliminates the cloud of accurate clusterings"),
        (
            "covertype",
            "local minima",
            "Figure 4: on Covertype k-means without weights does not find the accurate clusterings",
        ),
    ):
        for (name, label), row in wide.iterrows():
            if name == data:
                yield Claim(
                    said,
                    f"best accuracy ({label}) before PCA {row['before PCA']:.3f}, {source} {row[source]:.3f}",
                    verdict([row["before PCA"] - row[source] > 0.02]),
                    "clouds",
                )


def _spread(rows: pd.DataFrame) -> Iterator[Claim]:
    wide = rows.pivot(index="data", columns="source", values="spread")
    for name, more in (("letters", True), ("covertype", False)):
        if name in wide.index:
            before, after = wide.at[name, "before PCA"], wide.at[name, "after PCA"]
            yield Claim(
                f"Figure 3: on {name.capitalize()} PCA yields {'more' if more else 'less'} diverse clusterings",
                f"mean Cluster Difference of two clusterings {before:.4f} before and {after:.4f} after PCA",
                verdict([(after > before) == more]),
                "diversity",
            )
    ratio = wide["both"] / wide["local minima"]
    yield Claim(
        "Figure 4: weights yield more diverse clusterings than local minima",
        "mean Cluster Difference, times that of local minima: " + "; ".join(f"{n} {r:.1f}" for n, r in ratio.items()),
        verdict(ratio > 1),
        "diversity",
    )


def _others(rows: pd.DataFrame) -> Claim:
    ways = [c for c in rows["method"].unique() if c != "meta clustering"]
    wide = rows.pivot(index=["data", "label"], columns="method", values="accuracy")
    best = wide[ways].max(axis=1)
    beaten = wide["meta clustering"] >= best
    return Claim(
        "Figure 4: hierarchical, mixture and spectral clustering are outperformed by at least one clustering of meta clustering",
        "; ".join(
            f"{data}, {label} {row['meta clustering']:.3f} (best other: {row[ways].idxmax()} {row[ways].max():.3f})"
            for (data, label), row in wide.iterrows()
        ),
        verdict(beaten),
        "others",
        "The best of thousands against the best of a few, both by the labels.",
    )


def _spectral(rows: pd.DataFrame) -> Claim:
    wide = rows.pivot(index=["data", "label"], columns="method", values="accuracy")
    ways = [c for c in wide.columns if c != "meta clustering"]
    first = wide[ways].idxmax(axis=1) == "spectral"
    return Claim(
        "Of the other methods, spectral clustering does best",
        f"on {int(first.sum())} of {len(first)}: " + among([f"{d}, {n}" for d, n in wide.index], first),
        verdict(first),
        "others",
    )


def _weighted(rows: pd.DataFrame) -> Iterator[Claim]:
    best = rows.pivot(index=["data", "label"], columns="method", values="best")
    compact = rows.pivot(index=["data", "label"], columns="method", values="most_compact")
    tighter = compact["k-means"] <= compact["spectral"]
    yield Claim(
        "Figures 5 and 10: weighted k-means finds more compact clusterings than weighted spectral clustering on every set",
        "; ".join(f"{d} {c['k-means']:.3f}, {c['spectral']:.3f}" for (d, _), c in compact.iterrows()),
        verdict(tighter),
        "spectral",
    )
    near = best["spectral"] >= best["k-means"] - 0.05
    yield Claim(
        "… and spectral is more accurate (Covertype) or nearly as accurate (Letters, Phoneme; within .05)",
        "; ".join(
            f"{d}, {n} k-means {b['k-means']:.3f}, spectral {b['spectral']:.3f}" for (d, n), b in best.iterrows()
        ),
        verdict(near),
        "spectral",
        "Ten times as many clusterings by k-means as by spectral clustering, so its best has more tries.",
    )


def _groups(rows: pd.DataFrame, name: str, runs: pd.DataFrame) -> Iterator[Claim]:
    labels = [
        c.removesuffix("_of_all") for c in rows.columns if c.endswith("_of_all") and not c.startswith("compactness")
    ]
    paper = rows[(rows["linkage"] == "average") & (rows["consensus"] == "evidence")].iloc[0]
    ours = rows[(rows["linkage"] == "ward") & (rows["consensus"] == "evidence")].iloc[0]
    where = f"groups_{name}"
    yield Claim(
        "Figure 6: clusterings of similar accuracy are grouped together, though accuracy is not known",
        "share of the variance of accuracy between 16 groups, beyond chance: "
        + "; ".join(
            f"{label} {paper[f'{label}_explained']:.0%} (Ward {ours[f'{label}_explained']:.0%})" for label in labels
        ),
        verdict([paper[f"{label}_explained"] > 0.1 for label in labels]),
        where,
    )
    yield Claim(
        "Table 2: the consensus of all has compactness 2.66 and accuracy .291 (speaker), .405 (vowel)",
        f"{paper['compactness_of_all']:.2f}; "
        + ", ".join(f"{label} {paper[f'{label}_of_all']:.3f}" for label in labels),
        verdict(
            [abs(paper.get(f"{name}_of_all", 0) - value) < PRINTED_ERROR[name] for name, value in PRINTED_ALL.items()]
        ),
        where,
    )
    better = [paper[f"{label}_best"] > paper[f"{label}_of_all"] for label in labels]
    above = {label: (ours[f"{label}_gain"], ours[f"{label}_gain_sem"]) for label in labels}
    yield Claim(
        "Table 2: the best of 16 groups' consensus is more accurate than the consensus of all (.333 and .445)",
        "; ".join(f"{label} {paper[f'{label}_best']:.3f}" for label in labels),
        verdict(better),
        where,
        "Part of it is the choice of the best of 16: shuffled groups of the same sizes reach "
        + ", ".join(f"{paper[f'{label}_shuffled']:.3f}" for label in labels)
        + ". Above their null by our defaults (Ward, co-association): "
        + ", ".join(f"{label} {gain:+.3f} ± {sem:.3f}" for label, (gain, sem) in above.items())
        + ".",
    )


def _jumps(curves: pd.DataFrame, name: str) -> Claim:
    chosen = curves[curves["data"] == name].groupby("seed")["chosen"].first()
    return Claim(
        "Section 6: the curve of compactness shows 16 natural groups of clusterings",
        f"the sharpest jump is at {', '.join(str(n) for n in chosen)} groups, one number per seed",
        verdict([(chosen == 16).all(), (chosen.between(14, 18)).mean() >= 0.5]),
        "curves_runs",
    )


def _exclude(rows: pd.DataFrame) -> Claim:
    values = rows["correlation"]
    return Claim(
        "Figure 11: accuracy by speaker and by vowel are weakly inversely correlated over the clusterings",
        f"correlation {values.mean():+.2f} (over seeds {values.min():+.2f} to {values.max():+.2f}); among the tenth most accurate by "
        f"either {rows['correlation_top'].mean():+.2f}",
        verdict([values.mean() < 0, rows["correlation_top"].mean() < 0]),
        "accuracies",
    )


def _protein(rows: pd.DataFrame) -> Iterator[Claim]:
    weighted = rows[rows["source"] == "Zipf weights"].iloc[0]
    best, compact = weighted["largest near cluster, best"], weighted["of the most compact"]
    yield Claim(
        "Section 5: of 5,000 clusterings the best has a much larger near cluster than experts found (48 against 30), the most not",
        f"largest {best} proteins, of the most compact clustering {compact}, 95 % of the clusterings at most "
        f"{weighted['95 % of clusterings at most']}",
        verdict([best > compact, best > weighted["95 % of clusterings at most"]]),
        "protein",
        "The paper's 639 proteins are not to be had; other protein distances stand in, without experts.",
    )
    share = float(str(weighted["more compact than the best"]).rstrip(" %")) / 100
    yield Claim(
        "Section 5: that clustering is of middling compactness",
        f"{share:.0%} of the clusterings are more compact",
        verdict([0.25 <= share <= 0.75]),
        "protein",
    )
