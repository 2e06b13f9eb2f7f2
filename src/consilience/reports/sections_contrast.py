"""The report of a new grouping: how new it is, how good, where the known groups went, and its clusters."""

from __future__ import annotations

import numpy as np
import pandas as pd

from consilience.alternatives import Contrast
from consilience.alternatives.contrast import USED
from consilience.reports.alternatives import contrast_figure, given_labels
from consilience.reports.html_report import MADE, SURE, Options, Step, Story, done, ending, report_line
from consilience.reports.page import Block, Picture, Section, Sheet, Text
from consilience.reports.provenance import Origin
from consilience.reports.sections_consensus import clusters, data_tiles, every_object
from consilience.tables import Table


def how_new(result: Contrast, data: Table | None) -> Section:
    """Redundancy with what was given, and what every group was worth."""
    given = given_labels(result)
    name = next(iter(given))
    blocks: list[Block] = [
        Text(result.sentence[0].upper() + result.sentence[1:]),
        Sheet(
            "redundancy",
            result.diagnostics.redundancy.set_index("given"),
            "What the new clusters share with what was given",
        ),
        Picture(
            "contrast",
            contrast_figure(result, None if data is None else data.values, given),
            f"Share of every given group of {name} in each new cluster. {result.sentence}",
            "Where each given group went: rows alike mean that the new clusters cut across what was known.",
        ),
    ]
    groups = result.groups[["name", "size", "outcome"]].rename(columns={"name": "group"}).set_index("group")
    if result.groups["outcome"].isin(USED).any() and result.ensemble.n_clusterings:
        worth = result.walk_through().drop(columns=["size"]).set_index("group")
        groups = groups.join(worth) if groups.index.is_unique and worth.index.is_unique else groups
    blocks.append(Sheet("groups", groups, "The given groups, and how much of the answer their splits tell"))
    return Section("How new, how good", blocks)


def contrast_facts(result: Contrast, source: str) -> list[tuple[str, str]]:
    """What was done, in numbers."""
    facts = [
        ("source", source),
        ("method", result.method),
        ("objects", f"{len(result.labels):,}"),
        ("given groupings", ", ".join(map(str, result.given.names))),
        ("new clusters", f"{result.n_clusters:,}"),
        ("splits combined", f"{result.ensemble.n_clusterings:,}"),
    ]
    if not np.isnan(result.stability):
        facts.append(("stability", f"adjusted Rand index {result.stability:.3f} between two halves of the restarts"))
    if "seed" in result.ensemble.info and len(seeds := pd.unique(result.ensemble.info["seed"].dropna())) == 1:
        facts.append(("seed", str(seeds[0])))
    if result.note:
        facts.append(("note", result.note))
    return facts


def tell_contrast(result: Contrast, origin: Origin, options: Options) -> Story:
    """How new the grouping is, and its clusters."""

    def made() -> Section:
        call = f"found = cs.contrast(data, given, {result.n_clusters}, method={result.method!r})"
        return done(contrast_facts(result, origin.name), origin, options, [call, report_line("found", options)])

    def found() -> Section:
        given = {f"given: {name}": codes for name, codes in zip(result.given.names, result.given.labels.T, strict=True)}
        ids = None if options.data is None else options.data.ids
        blocks = clusters(result.labels, result.confidence, options.data, options.known)
        blocks += data_tiles(options.data, {"new": result.labels} | given, options.known)
        return Section("The new clusters", [*blocks, every_object(result.labels, result.confidence, ids)])

    sentence = result.sentence[0].upper() + result.sentence[1:]
    steps: list[Step] = [made, lambda: how_new(result, options.data), found, ending(SURE, MADE)]
    return Story(f"{origin.name}: a new grouping", steps, lambda: sentence)
