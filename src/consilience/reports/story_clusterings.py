"""The report of many clusterings: from how alike they are to what all of them say together."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from consilience._check import count
from consilience.ensemble import Ensemble
from consilience.measures import Comparison
from consilience.meta import MetaClustering, organize
from consilience.reports.analysis import Findings
from consilience.reports.html_report import (
    APART,
    BEST,
    MADE,
    MANY,
    PAIRS,
    SURE,
    Options,
    Step,
    Story,
    done,
    ending,
    report_line,
)
from consilience.reports.page import Section
from consilience.reports.provenance import Origin, ensemble_facts, generate_line
from consilience.reports.sections_clusterings import alike, groups, plane_map, scores, tree
from consilience.reports.sections_consensus import components, consensus, floating


def tell_ensemble(ensemble: Ensemble, origin: Origin, options: Options) -> Story:
    """Organize the clusterings first, as the options say; those that share no object have no tree."""
    asked = options.n_groups is not None or options.linkage is not None
    if ensemble.n_clusterings < 2 or (_apart(ensemble) and not asked):
        return tell_findings(Findings(ensemble, None, options), origin)
    wanted = "auto" if options.n_groups is None else options.n_groups
    how: dict[str, Any] = {"random_state": options.seed, "n_jobs": options.n_jobs, "progress": False}
    return tell_meta(organize(ensemble, wanted, options.linkage or "ward", **how), origin, options)


def _apart(ensemble: Ensemble) -> bool:
    """Whether two of the clusterings have no labeled object in common."""
    if not ensemble.has_missing:
        return False
    there = (ensemble.labels >= 0).astype(np.float32)
    return bool((there.T @ there == 0).any())


def tell_meta(meta: MetaClustering, origin: Origin, options: Options) -> Story:
    """Of clusterings that are organized already, as they are."""
    return tell_findings(Findings(meta.ensemble, meta, options), origin)


def tell_findings(found: Findings, origin: Origin) -> Story:
    """From how alike the clusterings are to what all of them say together."""
    ens, meta, options = found.ensemble, found.meta, found.options
    estimated = None
    if meta is not None and meta.n_pairs is not None:
        estimated = (
            f"Distances between clusterings are estimated, with a standard error of {meta.standard_error:.4f}: differences of that "
            "size in the tree, its groups and the map mean nothing."
        )
    notes = (
        PAIRS,
        MANY if meta is not None else APART if ens.n_clusterings > 1 else None,
        BEST if options.known else None,
        estimated,
        SURE,
        MADE if options.data is not None or "compactness" in ens.info else None,
    )
    steps: list[Step] = [lambda: _done(ens, meta, origin, options), lambda: alike(found.comparison)]
    steps += [partial(make, found) for make in (tree, groups, scores, plane_map, consensus)]
    steps += [partial(components, ens), lambda: floating(found.weak), ending(*notes)]
    return Story(f"{origin.name}: {count(ens.n_clusterings, 'clustering')}", steps, lambda: _lead(found))


def _done(ens: Ensemble, meta: MetaClustering | None, origin: Origin, options: Options) -> Section:
    facts, made = ensemble_facts(ens, origin), generate_line(ens, origin)
    lines = [f"# made by {made}"] if made and origin.load else [f"ens = {made}"] if made else []
    if origin.load:
        lines.append(f"ens = {origin.load}")
    if meta is None:
        return done(facts, origin, options, [*lines, report_line("ens", options, random_state=options.seed)])
    facts.append(
        ("organized", f"{meta.linkage} linkage of {meta.measure}; {count(meta.n_groups, 'group')}: {meta.note}")
    )
    how = "" if meta.measure == "cluster_difference" else f", measure={meta.measure!r}"
    lines.append(f"meta = cs.organize(ens, {meta.n_groups}, {meta.linkage!r}{how}, random_state={options.seed})")
    return done(facts, origin, options, [*lines, report_line("meta", options, random_state=options.seed)])


def _lead(found: Findings) -> str:
    said = f"{count(found.ensemble.n_clusterings, 'clustering')} of {count(found.ensemble.n_objects, 'object')}"
    if found.meta is not None:
        measure, value = next(iter(found.comparison.stability.items()))
        said += f" in {count(found.meta.n_groups, 'group')}. Mean {measure} of all pairs: {value.words(4)}"
    known = found.whole.labels >= 0
    clusters, weak = count(found.whole.n_clusters, "cluster"), count(len(found.weak), "floater")
    sure = f"mean confidence {found.whole.confidence[known].mean():.2f}"
    return f"{said}. All combined: {clusters}, {sure}, {weak}."


def tell_comparison(result: Comparison, origin: Origin, options: Options) -> Story:
    """How alike clusterings are, and nothing else."""
    what = f"{count(len(result.clusterings), 'clustering')} of {count(result.n_objects, 'object')}"

    def made() -> Section:
        facts = [("source", origin.name), ("clusterings", what), ("measures", ", ".join(result.matrices))]
        lines = [f"found = cs.compare(ens, {list(result.matrices)!r})", report_line("found", options)]
        return done(facts, origin, options, lines)

    said = [f"{name.replace('_', ' ')} {value.words(4)}" for name, value in result.stability.items()]
    lead = f"{what}. Mean of all pairs: {', '.join(said)}." if said else f"{what}."
    return Story(f"{origin.name}: how alike", [made, lambda: alike(result), ending(PAIRS)], lambda: lead)
