"""Experiment 1 of Strehl and Ghosh 2002: copies of a known partition with more and more noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience.consensus import METHODS, ANMISearch, combine
from consilience.datasets.scenarios import noisy_labels
from consilience.measures import adjusted_rand, anmi, nmi
from consilience.reports.figures import new_figure
from papers.cells import Cells
from papers.figures import curve, legend_outside
from papers.report import Report, over_seeds, with_error
from papers.strehl2002.data import SUPRA, answers, title

CHOICES = {
    "ANMI, of CSPA, HGPA, MCLA": "what the slides suggest",
    "ANMI, of all": "the same among all methods here",
    "auto": "the default, which asks whether the clusterings err independently",
}
ORDER = ("cspa", "hgpa", "mcla", "greedy", *(m for m in METHODS if m not in SUPRA), "auto", "truth")


@dataclass(frozen=True)
class Controlled:
    """What the experiment found: one row per run and method, and one per run and way of choosing."""

    methods: pd.DataFrame
    choices: pd.DataFrame


def run_controlled(
    noise: Any, n_seeds: int, *, n_objects: int = 400, n_clusters: int = 10, cells: Cells | None = None
) -> Controlled:
    """Combine eight noisy copies by every method, for every noise and seed."""
    sizes = {"n_objects": n_objects, "n_clusters": n_clusters}
    tasks = [({"noise": float(p), "seed": seed, **sizes}, ()) for p in noise for seed in range(n_seeds)]
    found = (cells or Cells()).run("controlled noise", _one_noise, tasks)
    return Controlled(found["methods"], found["choices"])


def _one_noise(noise: float, seed: int, n_objects: int, n_clusters: int) -> dict[str, list[dict[str, Any]]]:
    ensemble, truth = noisy_labels(n_objects, n_clusters, noise=noise, random_state=seed)
    found = answers(ensemble, n_clusters, METHODS, seed)
    found["greedy"] = ANMISearch(n_clusters, init=("greedy",), random_state=seed).fit(ensemble).labels_
    chosen = combine(ensemble, n_clusters, "auto", random_state=seed, progress=False)
    found |= {"auto": chosen.labels, "truth": truth}
    scores = {
        method: {
            "nmi": nmi(truth, found[method]),
            "anmi": anmi(ensemble, found[method]),
            "adjusted_rand": adjusted_rand(truth, found[method]),
            "clusters": len(np.unique(found[method])),
        }
        for method in ORDER
    }
    where = {"seed": seed, "noise": noise}
    return {
        "methods": [{**where, "method": method, **values} for method, values in scores.items()],
        "choices": [{**where, **row} for row in _choices(scores, list(METHODS), chosen.method)],
    }


def _choices(scores: dict[str, dict[str, float]], candidates: list[str], winner: str) -> list[dict[str, Any]]:
    """For every way of choosing: NMI of what it chose and of the best it could have chosen."""

    def row(choice: str, pool: Any, chosen: str) -> dict[str, Any]:
        best = max(scores[m]["nmi"] for m in pool)
        value = scores[chosen]["nmi"]
        return {"choice": choice, "best": best, "chosen": value, "regret": best - value, "hit": float(value >= best)}

    by_anmi = [max(pool, key=lambda m: scores[m]["anmi"]) for pool in (SUPRA, candidates)]
    return [
        row(choice, pool, chosen)
        for choice, pool, chosen in zip(CHOICES, (SUPRA, candidates, candidates), (*by_anmi, winner), strict=True)
    ]


def report_controlled(report: Report, found: Controlled, setting: str) -> None:
    """Tables, figures and what they say about the slides' remarks."""
    mean = over_seeds(found.methods, ["noise", "method"])
    seeds = f"seeds {mean['seeds'].iloc[0]}, {mean['repeats'].iloc[0]} repeats, mean ± standard error of the mean"
    report.section("1. Controlled noise")
    report.text(
        f"{setting} The slides draw two curves against the noise, without numbers in the text: ANMI of the answer with the "
        "noisy copies, and its NMI with the partition behind them. “greedy ANMI” is the slides' greedy scheme; “truth” is "
        "that partition itself, seen as an answer; below are also methods that came later."
    )
    report.runs("controlled", found.methods)
    named = {"nmi": "NMI with the truth", "anmi": "ANMI", "adjusted_rand": "Adjusted Rand index with the truth"}
    for measure, what in named.items():
        shown = _wide(mean, measure)
        report.table(f"controlled_{measure}", _columns(mean, measure), f"{what}; {seeds}.", shown=shown)
    found_all = found.methods["clusters"].unique()
    same = pd.DataFrame({"method": ["every one"], "clusters": [f"{found_all[0]} in every run"]})
    report.table(
        "controlled_clusters",
        _columns(mean, "clusters"),
        f"Clusters found; {seeds}.",
        shown=same if len(found_all) == 1 else _wide(mean, "clusters", 1),
    )
    report.figure(
        "controlled", _draw(mean), "ANMI and NMI against the noise, as on the slides; grey lines are the other methods."
    )
    _report_claims(report, found, mean)
    _report_choices(report, found, seeds)


def _columns(mean: pd.DataFrame, measure: str) -> pd.DataFrame:
    return mean[["noise", "method", "seeds", "repeats", measure, f"{measure}_sem"]]


def _wide(mean: pd.DataFrame, measure: str, digits: int = 3) -> pd.DataFrame:
    """One row per method, one column per noise."""
    texts = mean.assign(text=with_error(mean, measure, digits=digits))
    wide = texts.pivot(index="method", columns="noise", values="text").loc[list(ORDER)]
    wide.columns = [f"p = {p:g}" for p in wide.columns]
    return wide.set_axis([title(m) for m in wide.index]).rename_axis("method").reset_index()


def _draw(mean: pd.DataFrame) -> Any:
    figure = new_figure(10.5, 4.4)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    bold = ("truth", "auto", "mcla", "cspa", "hgpa", "greedy", "lwea", "lwgp")
    for axis, measure, label in zip(axes, ("anmi", "nmi"), ("ANMI with the copies", "NMI with the truth"), strict=True):
        for method, rows in mean.groupby("method", sort=False):
            if method not in bold:
                axis.plot(rows["noise"], rows[measure], color="0.8", linewidth=1, zorder=1, label="other methods")
        for number, method in enumerate(bold):
            rows = mean[mean["method"] == method]
            curve(axis, rows["noise"], rows[measure], rows[f"{measure}_sem"], number, title(method))
        axis.set(xlabel="share of labels replaced, p", ylabel=label, ylim=(-0.02, 1.04))
    legend_outside(figure, axes[0])
    return figure


def _report_claims(report: Report, found: Controlled, mean: pd.DataFrame) -> None:
    """Who of the slides' three is best at each noise, by NMI and by ANMI, and what ANMI says of NMI."""
    rows = []
    for p, runs in found.methods.groupby("noise"):
        row: dict[str, Any] = {"noise": p}
        for measure in ("nmi", "anmi"):
            values = runs.pivot(index="seed", columns="method", values=measure)[list(SUPRA)]
            row[f"best_by_{measure}"], row[f"{measure}_lead"], row[f"{measure}_lead_sem"] = _leader(values)
        here = mean[(mean["noise"] == p) & ~mean["method"].isin(("auto", "truth"))]
        row["rank_correlation"] = _rank_correlation(here)
        for measure in ("nmi", "anmi"):
            worst = here.loc[here[measure].idxmin(), "method"]
            row[f"worst_by_{measure}"] = title(worst) if np.ptp(here[measure]) >= 0.001 else "tie"
        three = here[here["method"].isin(SUPRA)]
        row["truth_minus_best_anmi"] = float(
            mean.loc[(mean["noise"] == p) & (mean["method"] == "truth"), "anmi"].iloc[0] - here["anmi"].max()
        )
        row["best_of_three_nmi"] = float(three["nmi"].max())
        rows.append(row)
    claims = pd.DataFrame(rows)
    report.table(
        "controlled_claims",
        claims,
        "For every noise: the best of CSPA, HGPA and MCLA (“tie” if it leads by less than .001 or two paired standard errors), "
        "its lead over the next and the lead's standard error over seeds, by NMI and by ANMI; the worst of all methods by either; "
        "Spearman's correlation of mean ANMI with mean NMI over the methods (without auto and truth); "
        "how far the truth's ANMI lies above the best method's; NMI of the best of three.",
        shown=_claims_table(claims),
    )
    report.text(*_claims_in_words(claims))


def _claims_table(claims: pd.DataFrame) -> pd.DataFrame:
    shown = pd.DataFrame({"p": [f"{p:g}" for p in claims["noise"]]})
    for measure in ("nmi", "anmi"):
        lead = with_error(claims, f"{measure}_lead")
        shown[f"best by {measure.upper()}, lead"] = claims[f"best_by_{measure}"] + ", " + lead
    shown["worst of all by NMI, by ANMI"] = claims["worst_by_nmi"] + ", " + claims["worst_by_anmi"]
    shown["rank correlation"] = [f"{r:.2f}" if r == r else "–" for r in claims["rank_correlation"]]
    shown["ANMI of truth less best"] = claims["truth_minus_best_anmi"]
    shown["NMI of best of three"] = claims["best_of_three_nmi"]
    return shown


def _leader(values: pd.DataFrame) -> tuple[str, float, float]:
    """The best column, its lead over the second and the standard error of that lead over paired runs."""
    first, second = values.mean().sort_values(ascending=False, kind="stable").index[:2]
    lead = values[first] - values[second]
    sem = float(lead.sem()) if len(lead) > 1 else np.nan
    clear = lead.mean() >= 0.001 and not lead.mean() < 2 * sem
    return (title(first) if clear else "tie"), float(lead.mean()), sem


def _rank_correlation(rows: pd.DataFrame) -> float:
    """Spearman's; missing where all methods are equal on either side."""
    one, two = rows["anmi"].round(9), rows["nmi"].round(9)
    return float(one.rank().corr(two.rank())) if one.nunique() > 1 and two.nunique() > 1 else np.nan


def _claims_in_words(claims: pd.DataFrame) -> list[str]:
    def at(chosen: pd.Series) -> str:
        return "p = " + ", ".join(f"{p:g}" for p in claims.loc[chosen, "noise"]) if chosen.any() else "no p"

    said = [
        "**“MCLA tends to be best in low noise, HGPA and CSPA in high noise.”** "
        + " ".join(
            f"By {name}, MCLA leads at {at(claims[column] == 'MCLA')}, CSPA at {at(claims[column] == 'CSPA')}, HGPA at "
            f"{at(claims[column] == 'HGPA')}; ties at {at(claims[column] == 'tie')}."
            for name, column in (("NMI with the truth", "best_by_nmi"), ("ANMI", "best_by_anmi"))
        )
    ]
    useful = claims[(claims["best_of_three_nmi"] > 0.1) & claims["rank_correlation"].notna()]
    weak, alike = useful[useful["rank_correlation"] < 0.5], useful["worst_by_nmi"] == useful["worst_by_anmi"]
    over = at((claims["truth_minus_best_anmi"] < -0.001) & (claims["best_of_three_nmi"] > 0.1))
    said.append(
        "**“ANMI seems suitable to evaluate the algorithms where the truth is not known.”** Of the "
        f"{len(useful)} noise levels above 0 with something to find (an NMI above .1), ANMI names the worst method at "
        f"{alike.sum()}, but ranks the methods only weakly like NMI (correlation below .5) at {len(weak)}. Methods score a higher "
        f"ANMI than the truth at {over}: there ANMI rewards fitting the noise."
    )
    return said


def _report_choices(report: Report, found: Controlled, seeds: str) -> None:
    mean = over_seeds(found.choices, ["noise", "choice"])
    shown = pd.DataFrame({"p": [f"{p:g}" for p in mean["noise"]], "chosen by": mean["choice"]})
    for measure in ("best", "chosen", "regret"):
        shown[measure] = with_error(mean, measure)
    shown["best chosen"] = [f"{share:.0%}" for share in mean["hit"]]
    report.text(
        "**Choosing a method without the truth.** NMI with the truth of the best method in the pool, of the one chosen, and "
        "the regret, their difference. " + "; ".join(f"“{name}” is {what}" for name, what in CHOICES.items()) + "."
    )
    report.table("controlled_choice", mean, f"How well a method is chosen; {seeds}.", shown=shown)
    figure = new_figure(6.6, 3.6)
    axis = figure.subplots()
    for number, choice in enumerate(CHOICES):
        rows = mean[mean["choice"] == choice]
        curve(axis, rows["noise"], rows["regret"], rows["regret_sem"], number + 1, choice)
    axis.set(xlabel="share of labels replaced, p", ylabel="regret in NMI with the truth")
    legend_outside(figure, axis)
    report.figure("controlled_choice", figure, "What is lost by choosing without the truth: lower is better.")
