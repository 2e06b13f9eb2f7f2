"""How clusterings were made: printed, in the terms of a report, and as the line that makes them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from consilience._check import check_labels, count
from consilience.ensemble import Ensemble
from consilience.generation.plan import defaults
from consilience.measures import accuracy
from consilience.reports.formats import format_list, format_number, format_range
from consilience.reports.terminal import print_definitions, print_table, terminal

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
SEEDS = 5  # that are listed


def generation_summary(ensemble: Ensemble, known: Mapping[str, Any]) -> dict[str, Any]:
    """Plain numbers and text, for print and JSON; `known` are labels that clusterings are compared with."""
    scores = {"compactness": ensemble.info["compactness"].to_numpy(float)}
    if "guide" in ensemble.info and ensemble.info["guide"].notna().any():
        scores["guide"] = ensemble.info["guide"].to_numpy(float)
    for name, labels in known.items():
        codes = check_labels(labels, f"known labels {name!r}")
        scores[f"accuracy with {name}"] = np.array([accuracy(codes, column) for column in ensemble.labels.T])
    return {
        "n_clusterings": ensemble.n_clusterings,
        "n_objects": ensemble.n_objects,
        "n_clusters": [int(ensemble.n_clusters.min()), int(ensemble.n_clusters.max())],
        "methods": {str(k): int(v) for k, v in ensemble.info["method"].value_counts(sort=False).items()},
        "seconds": float(ensemble.info["seconds"].sum()),
        "share_missing": float(np.mean(ensemble.labels < 0)),
        "scores": {name: _quantiles(values, ensemble, least=name == "compactness") for name, values in scores.items()},
    }


def _quantiles(values: Any, ensemble: Ensemble, *, least: bool) -> dict[str, Any]:
    """The quantiles of a score, and the number of the best clustering: the one with the least, or the most of it."""
    at = int(np.nanargmin(values) if least else np.nanargmax(values))
    number = int(ensemble.info["number"].iloc[at]) if "number" in ensemble.info else at
    return {"best": number, "quantiles": [float(q) for q in np.nanquantile(values, QUANTILES)]}


def print_generation(summary: Mapping[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`generation_summary` holds.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> from consilience.reports import print_generation
    >>> from consilience.reports.generation import generation_summary
    >>> ens = cs.generate(load_beads(), 10, n_clusters=3)
    >>> print_generation(generation_summary(ens, {}), title="beads.csv")  # doctest: +ELLIPSIS
    beads.csv: 10 clusterings of 300 objects, 3 clusters, in ... seconds of clustering
    made by zipf 5, pca 5
    ...
    """
    console = console or terminal()
    clusters = format_range(summary["n_clusters"], "cluster")
    what = f"{count(summary['n_clusterings'], 'clustering')} of {count(summary['n_objects'], 'object')}, {clusters}"
    console.print(f"{title}: {what}, in {summary['seconds']:.2g} seconds of clustering")
    console.print("made by " + ", ".join(f"{name} {n:,}" for name, n in summary["methods"].items()))
    if summary["share_missing"]:
        console.print(f"{100 * summary['share_missing']:.3g} % of the labels are missing: objects left out, or noise")
    console.print()
    names = ["", "least", "¼ below", "median", "¾ below", "most", "best clustering"]
    rows = [
        [name, *map(format_number, found["quantiles"]), f"number {found['best']}"]
        for name, found in summary["scores"].items()
    ]
    print_table(console, names, rows, (1, 2, 3, 4, 5))
    print_definitions(console, *(name for name in ("compactness", "guide") if name in summary["scores"]))


def generation_facts(ensemble: Ensemble, manifest: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """What is known of how an ensemble was made, from its `info` and the manifest of its run."""
    info = ensemble.info
    facts = []
    if "method" in info:
        made = info["method"].fillna("unknown").astype(str).value_counts()
        facts.append(("methods", ", ".join(f"{name} ({n:,})" for name, n in made.items())))
    settings = {name: value for name, value in settings_of(ensemble).items() if value is not None}
    if settings:
        facts.append(("parameters", ", ".join(f"{name} {_parameter(value)}" for name, value in settings.items())))
    if "around" in info and (some := int(info["around"].notna().sum())):
        facts.append(("variations", f"{some:,} of them were made around others"))
    for name in ("seed", "random_state"):
        if name in info and len(seeds := pd.unique(info[name].dropna().astype(str))):
            facts.append(("seeds" if len(seeds) > 1 else "seed", format_list(list(seeds), SEEDS)))
    if "seconds" in info:
        facts.append(("time of clustering", f"{pd.to_numeric(info['seconds'], errors='coerce').sum():.3g} seconds"))
    if manifest is not None:
        if manifest.get("fingerprint"):
            facts.append(("fingerprint of the data", str(manifest["fingerprint"])))
        facts.append(("stored by", f"consilience {manifest.get('consilience')}"))
    return facts


def _parameter(value: Any) -> str:
    return ", ".join(f"{x:.4g}" for x in value) if isinstance(value, list) else str(value)


def settings_of(ensemble: Ensemble) -> dict[str, Any]:
    """The settings that :func:`consilience.generate` kept, where all clusterings share them; otherwise nothing."""
    texts = pd.unique(ensemble.info["settings"].dropna().astype(str)) if "settings" in ensemble.info else []
    if len(texts) != 1:
        return {}
    try:
        found = json.loads(texts[0])
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def generate_call(ensemble: Ensemble, manifest: Mapping[str, Any] | None = None) -> str:
    """The call of :func:`consilience.generate` that makes these clusterings; empty where it is not known to be just one."""
    info, plan = ensemble.info, _plan(ensemble, manifest)
    if plan is None or plan["base"] is not None or "unit" not in info:
        return ""
    varied = "around" in info and info["around"].notna().any()
    if varied or not np.array_equal(np.sort(info["unit"]), np.arange(len(info))):
        return ""
    shares = dict(plan["methods"])
    methods = "+".join(shares) if len(set(shares.values())) == 1 else shares
    clusters = list(plan["n_clusters"])
    own = {name: plan[name] for name, usual in defaults(shares).items() if plan[name] != _listed(usual)}
    words = [
        f"data, {len(info)}",
        f"n_clusters={clusters[0] if len(clusters) == 1 else clusters!r}",
        f"methods={methods!r}",
        *(f"{name}={'guide' if name == 'guide' else repr(value)}" for name, value in own.items()),
        f"random_state={int(plan['seed'])}",
    ]
    return f"cs.generate({', '.join(words)})"


def _plan(ensemble: Ensemble, manifest: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What generate was asked to do: as the run keeps it, or from its clusterings where these leave no doubt."""
    kept = None if manifest is None else manifest.get("plan")
    if isinstance(kept, dict) and kept.get("made_by") == "generate":
        needed = {*defaults(dict(kept.get("methods", ()))), "methods", "n_clusters", "seed"}
        return kept if needed <= set(kept) else None
    info, settings = ensemble.info, settings_of(ensemble)
    if not {"method", "n_clusters", "seed"} <= set(info) or not set(defaults(info["method"].unique())) <= set(settings):
        return None
    made = info["method"].value_counts(sort=False)
    if info["n_clusters"].nunique() != 1 or info["seed"].nunique() != 1 or made.max() - made.min() > 1:
        return None
    seed, k = info["seed"].iloc[0], int(info["n_clusters"].iloc[0])
    return {**settings, "methods": [(name, 1.0) for name in made.index], "n_clusters": [k], "seed": seed}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
