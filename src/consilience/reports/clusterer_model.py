"""The report of a clusterer that was saved: its clusters, and how far to trust them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from consilience._check import count
from consilience.clusterer import ClustererModel
from consilience.reports.answers import say_clusters
from consilience.reports.clusters import find_marks, in_words, title_of
from consilience.reports.consensus import describe_clusters, floaters
from consilience.reports.files import name_objects, object_table
from consilience.reports.html import Block, Items, Sheet, Text
from consilience.reports.scales import describe_scale_table
from consilience.reports.sections import CLUSTERED, CONFIDENCE, Report, section
from consilience.reports.terminal import DEFINITIONS
from consilience.reports.tiles import describe_plane


class ClustererReport(Report, of=ClustererModel):
    """Clusters of a table, by the model that was kept of them.

    Examples
    --------
    ``report(fitted, "report.html")`` makes one of these:

    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> from consilience.clusterer import ClustererModel
    >>> from consilience.datasets import load_beads
    >>> from consilience.reports import ClustererReport
    >>> fitted = cs.EnsembleClusterer(3, n_clusterings=10, random_state=0).fit(load_beads().values)
    >>> with TemporaryDirectory() as folder:
    ...     fitted.save(f"{folder}/model")
    ...     model = ClustererModel.load(f"{folder}/model")
    >>> ClustererReport(model, None).describe()
    '3 clusters of 300 objects, mean confidence 0.91, mean support 0.89, 18 floaters.'
    """

    name = "model"

    @property
    def title(self) -> str:
        """What was found in what."""
        return title_of(self, self.result.source)

    @property
    def floaters(self) -> pd.DataFrame:
        """Objects with weak support, the weakest first."""
        return self.result.to_frame().iloc[self.result.floating]

    def answer(self) -> list[Text | Items]:
        """Its clusters, what they follow, and how sure they are."""
        weak = [Text(f"A weak answer: {self.result.doubt}.", note=True)] if self.result.doubt else []
        return [*weak, *say_clusters(self.result, self, in_words(self, find_marks(self, self.result.labels)))]

    def describe(self) -> str:
        """Its clusters, confidence and support."""
        model = self.result
        there = model.labels >= 0
        means = f"mean confidence {model.confidence[there].mean():.2f}, mean support {model.support[there].mean():.2f}"
        weak = count(len(model.floating), "floater")
        doubt = f"A weak answer: {model.doubt}. " if model.doubt else ""
        return f"{doubt}{count(model.n_clusters, 'cluster')} of {count(int(there.sum()), 'object')}, {means}, {weak}."

    def facts(self) -> list[tuple[str, str]]:
        """What was clustered, and how."""
        model = self.result
        given = ", ".join(f"{name}={value!r}" for name, value in model.parameters.items() if value is not None)
        facts = [*super().facts(), ("objects", f"{len(model.labels):,}"), ("columns", f"{model.n_columns:,}")]
        if model.encoder is not None and self.data is None:
            facts.append(("columns of the data", model.encoder.describe()))
        facts += [("chosen", model.note)] if model.note else []
        return [*facts, ("parameters", given)]

    def notes(self) -> list[str | None]:
        """What confidence and effect sizes do not say."""
        return [CONFIDENCE, CLUSTERED if self.data is not None else None]


@section(ClustererModel, title="The clusters, and their confidence", order=60)
def clusters(report: ClustererReport) -> Iterator[Block]:
    """The clusters, what tells them apart, and the numbers of clusters that are stable."""
    model: ClustererModel = report.result
    yield Text(f"Confidence: {DEFINITIONS['confidence']}. Support: {DEFINITIONS['support']}.")
    if model.scales is not None:
        yield from describe_scale_table(model.scales)
    yield from describe_plane(report, {"clusters": model.labels})
    yield from describe_clusters(model, report)
    read_by = model.encoder or model.reader
    objects = name_objects(object_table(model), (read_by and read_by.id_name) or "id")
    yield Sheet("objects", objects, "Every object", most=0)


section(ClustererModel, title="Floaters", order=80)(floaters)
