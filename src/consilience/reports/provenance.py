"""How clusterings were made, in words, and the lines that make them again."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience.ensemble import Ensemble
from consilience.generation.plan import defaults
from consilience.tables import Table

SEEDS = 5  # that are listed


@dataclass(frozen=True)
class Origin:
    """Where a result came from.

    Attributes
    ----------
    name : str
        Of the file or folder, or the type of the object.
    load : str
        The Python expression that reads it; empty for an object in memory.
    command : str
        The command that writes the report; empty from Python.
    manifest : mapping
        Of a stored run.
    """

    name: str
    load: str = ""
    command: str = ""
    manifest: Mapping[str, Any] | None = None


def versions() -> str:
    """Everything that can change a number."""
    parts = [f"{name} {version(name)}" for name in ("consilience", "numpy", "scipy", "scikit-learn", "pandas")]
    return ", ".join([*parts, f"Python {platform.python_version()}"])


def ensemble_facts(ensemble: Ensemble, origin: Origin) -> list[tuple[str, str]]:
    """What is known of how an ensemble was made."""
    info, low, high = ensemble.info, int(ensemble.n_clusters.min()), int(ensemble.n_clusters.max())
    middle = f" (median {np.median(ensemble.n_clusters):g})"
    facts = [
        ("source", origin.name),
        ("clusterings", f"{ensemble.n_clusterings:,}, of {count(ensemble.n_objects, 'object')}"),
        ("clusters in each", f"{low:,}" if low == high else f"{low:,} to {high:,}{middle}"),
    ]
    if ensemble.has_missing:
        facts.append(("missing labels", f"{100 * np.mean(ensemble.labels < 0):.3g} % of all"))
    if "method" in info:
        made = info["method"].fillna("unknown").astype(str).value_counts()
        facts.append(("methods", ", ".join(f"{name} ({n:,})" for name, n in made.items())))
    settings = settings_of(ensemble)
    if settings:
        facts.append(
            (
                "parameters",
                ", ".join(f"{name} {_plain(value)}" for name, value in settings.items() if value is not None),
            )
        )
    if "around" in info and (some := int(info["around"].notna().sum())):
        facts.append(("variations", f"{some:,} of them were made around others"))
    for name in ("seed", "random_state"):
        if name in info and len(seeds := pd.unique(info[name].dropna().astype(str))):
            more = f" … ({len(seeds) - SEEDS:,} more)" if len(seeds) > SEEDS else ""
            facts.append(("seeds" if len(seeds) > 1 else "seed", ", ".join(map(str, seeds[:SEEDS])) + more))
    if "seconds" in info:
        facts.append(("time of clustering", f"{pd.to_numeric(info['seconds'], errors='coerce').sum():.3g} seconds"))
    if origin.manifest is not None:
        if origin.manifest.get("fingerprint"):
            facts.append(("fingerprint of the data", str(origin.manifest["fingerprint"])))
        facts.append(("stored by", f"consilience {origin.manifest.get('consilience')}"))
    return facts


def given_facts(data: Table | None, known: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was given beside the result."""
    facts = []
    if data is not None:
        facts.append(("data", f"{data.source}: {data.n_objects:,} × {count(data.values.shape[1], 'column')}"))
    if known:
        classes = (f"{name} ({count(int(codes.max()) + 1, 'label')})" for name, codes in known.items())
        facts.append(("known labels", ", ".join(classes)))
    return facts


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


def generate_line(ensemble: Ensemble, origin: Origin) -> str:
    """The call of :func:`consilience.generate` that makes these clusterings; empty where it is not known to be just one."""
    info, plan = ensemble.info, _plan(ensemble, origin)
    if plan is None or plan["base"] is not None or not {"unit", "around"} <= set(info):
        return ""
    if info["around"].notna().any() or not np.array_equal(np.sort(info["unit"]), np.arange(len(info))):
        return ""
    shares = dict(plan["methods"])
    methods = "+".join(shares) if len(set(shares.values())) == 1 else shares
    clusters = list(plan["n_clusters"])
    own = {name: plan[name] for name, usual in defaults(shares).items() if plan[name] != _listed(usual)}
    words = [
        f"data, {len(info)}",
        f"n_clusters={clusters[0] if len(clusters) == 1 else clusters!r}",
        f"methods={methods!r}",
        *(f"{name}={value!r}" for name, value in own.items()),
        f"random_state={int(plan['seed'])}",
    ]
    return f"cs.generate({', '.join(words)})"


def _plan(ensemble: Ensemble, origin: Origin) -> dict[str, Any] | None:
    """What generate was asked to do: as the run keeps it, or from its clusterings where these leave no doubt."""
    kept = None if origin.manifest is None else origin.manifest.get("plan")
    if isinstance(kept, dict) and kept.get("made_by") == "generate":
        return (
            kept if {*defaults(dict(kept.get("methods", ()))), "methods", "n_clusters", "seed"} <= set(kept) else None
        )
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


def _plain(value: Any) -> str:
    return ", ".join(f"{x:.4g}" for x in value) if isinstance(value, list) else str(value)
