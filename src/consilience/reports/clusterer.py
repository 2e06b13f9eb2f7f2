"""Clusters of a table, and of new objects: what there is to say of them, and the report of a model that was kept."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._json import plain
from consilience.clusterer import Assignment, EnsembleClusterer
from consilience.clusterer.saving import ClustererModel, model_of
from consilience.consensus.result import describe_scales
from consilience.consensus.trust.clusters_and_members import cluster_means
from consilience.reports.clusters import (
    cautions,
    describe_plane,
    matches,
    say_size,
    sureness,
    sureness_facts,
    trust_sheet,
)
from consilience.reports.consensus import LabelsReport, describe_clusters, floaters
from consilience.reports.files import name_objects, object_index, object_table, whole_or_empty
from consilience.reports.finding import Block, Finding, Sheet, Text
from consilience.reports.scales import scale_table, scales_finding
from consilience.reports.sections import section
from consilience.reports.words import DEFINITIONS


def cluster_table(model: EnsembleClusterer, ids: Any) -> pd.DataFrame:
    """Every object of the data with its cluster, confidence and support, as files have it."""
    shares = {"confidence": np.round(model.confidence_, 6), "support": np.round(model.support_, 6)}
    index = object_index(ids, len(model.labels_))
    return pd.DataFrame({"cluster": whole_or_empty(model.labels_), **shares}, index=index)


def cluster_summary(model: EnsembleClusterer, known: Mapping[str, Any]) -> dict[str, Any]:
    labels = model.labels_
    return {
        "n_clusters": model.n_clusters_,
        "n_objects": len(labels),
        "n_clusterings": model.ensemble_.n_clusterings,
        "n_sampled": None if model.sample_ is None else len(model.sample_),
        **sureness(model_of(model)),
        "method": model.consensus_.method,
        "chosen": model.note_,
        "doubt": model.doubt_,
        "scales": None if model.scales_ is None else plain(model.scales_),
        "scales_in_words": describe_scales(model.consensus_),
        "clusters": plain(cluster_means(labels, model.confidence_, model.support_)),
        "known": matches(known, labels),
    }


def clusters_finding(model: EnsembleClusterer, known: Mapping[str, Any]) -> Finding:
    one, labels = model_of(model), model.labels_
    facts = sureness_facts(one, matches(known, labels))
    if model.sample_ is not None:
        sampled = f"{len(model.sample_):,} of {count(len(labels), 'object')} were clustered"
        facts.append(("sample", f"{sampled}, the others labeled as new ones"))
    if scales := describe_scales(model.consensus_):
        facts.append(("scales", scales + _other_scales(model)))
    how = [("method", model.consensus_.method), *([("chosen", model.note_)] if model.note_ else [])]
    found = scales_finding(model.consensus_)
    title = f"{say_size(one)}, from {count(model.ensemble_.n_clusterings, 'clustering')}"
    reasons = Finding("How this came about", how, found.tables, sentences=found.sentences)
    tables = [trust_sheet(cluster_means(labels, model.confidence_, model.support_))]
    return Finding(title, facts, tables, doubts=cautions(model.doubt_), reasons=reasons)


def _other_scales(model: EnsembleClusterer) -> str:
    """How to have the clusters at another number with three voices: the one with the most."""
    assert model.scales_ is not None
    others = model.scales_.loc[model.scales_["n_clusters"] != model.n_clusters_, "n_clusters"]
    return f"; -k {others.iloc[0]} gives those" if len(others) else ""


def assignment_summary(found: Assignment, known: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "n_objects": len(found.labels),
        "n_clusters": found.n_clusters,
        "sizes": found.sizes.tolist(),
        **sureness(found),
        "drift": {
            "share_outside": found.drift.share,
            **{name: plain(getattr(found.drift, name)) for name in ("expected", "large", "columns", "unseen")},
            "in_words": found.describe_drift(),
        },
        "known": matches(known, found.labels),
    }


def assignment_finding(found: Assignment, known: Mapping[str, Any]) -> Finding:
    facts = [("sizes", ", ".join(f"{size:,}" for size in found.sizes))]
    facts += [*sureness_facts(found, matches(known, found.labels)), ("drift", found.describe_drift())]
    return Finding(f"{count(len(found.labels), 'object')} to {count(found.n_clusters, 'cluster')}", facts)


class ClustererReport(LabelsReport, of=ClustererModel):
    name = "model"

    @property
    def cautions(self) -> list[str]:
        return cautions(self.result.doubt)

    def facts(self) -> list[tuple[str, str]]:
        model = self.result
        given = ", ".join(f"{name}={value!r}" for name, value in model.parameters.items() if value is not None)
        facts = [*super().facts(), ("objects", f"{len(model.labels):,}"), ("columns", f"{model.n_columns:,}")]
        if model.encoder is not None and self.data is None:
            facts.append(("columns of the data", model.encoder.describe()))
        facts += [("chosen", model.note)] if model.note else []
        return [*facts, ("parameters", given)]


@section(ClustererModel, title="The clusters, and their confidence", order=60)
def clusters(report: ClustererReport) -> Iterator[Block]:
    model: ClustererModel = report.result
    yield Text(f"Confidence: {DEFINITIONS['confidence']}. Support: {DEFINITIONS['support']}.")
    if model.scales is not None:
        yield scale_table(model.scales)
        yield Sheet("scales", model.scales.set_index("n_clusters"), "Scales", most=0)
    yield from describe_plane(report, {"clusters": model.labels})
    yield from describe_clusters(model, report)
    read_by = model.encoder or model.reader
    objects = name_objects(object_table(model), (read_by and read_by.id_name) or "id")
    yield Sheet("objects", objects, "Every object", most=0)


section(ClustererModel, title="Floaters", order=80)(floaters)
