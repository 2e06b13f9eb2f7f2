"""A session of the explorer: what does not change while people look, and the edition that is shown now."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError, fingerprint
from consilience.agreement import Agreement
from consilience.ensemble import Ensemble
from consilience.explorer.scores import score_table
from consilience.explorer.snapshot import Edition
from consilience.generation import Variations
from consilience.measures.summary import known_labels
from consilience.meta import MetaClustering, organize
from consilience.meta.tree import check_cut
from consilience.reports.plane import feature_names, plane_of
from consilience.tables import Table


@dataclass(frozen=True)
class Known:
    """A known labeling: codes, −1 missing, and the names of the classes."""

    codes: NDArray[np.int32] = field(repr=False)
    classes: list[str]


@dataclass(frozen=True)
class Origin:
    """Where the clusterings of a session came from.

    Attributes
    ----------
    name : str
        What people call it.
    source : str
        Name of the file or folder, without its path.
    run : str
        16 hexadecimal digits that stay the same as long as it is the same run, however it grows.
    code : list of str
        Python lines that make `ensemble` again.
    store : Path or None
        The run that new clusterings are added to.
    refused : list of str
        Files that were left out, each with the reason.
    fingerprint : str or None
        Of the data that the run was made from.
    other_data : bool
        Whether the data that is shown is not that.
    """

    name: str
    source: str
    run: str
    code: Sequence[str]
    store: Path | None = None
    refused: Sequence[str] = ()
    fingerprint: str | None = None
    other_data: bool = False


class Session:
    """What the explorer shows.

    Parameters
    ----------
    clusterings : Ensemble or MetaClustering
    origin : Origin, optional
    data : Table, optional
        Measurements of the same objects, or their distances.
    known : mapping of name to labels, optional
    axes : two columns of the data, optional
        The plane; by default its two main axes.
    linkage : str
    n_groups : int, optional
        Where the tree is cut at first.
    agreement : Agreement, optional
        The process that the clusterings came out of.
    base : scikit-learn clusterer, optional
        What made the clusterings in place of k-means.
    n_jobs : int, optional
    progress : bool, optional

    Examples
    --------
    >>> from consilience.datasets import load_beads, load_beads_labels
    >>> session = Session(load_beads_labels(), data=load_beads())
    >>> session.edition.revision, session.edition.n_groups
    (0, 8)
    """

    def __init__(
        self,
        clusterings: Ensemble | MetaClustering,
        *,
        origin: Origin | None = None,
        data: Table | None = None,
        known: Mapping[str, Any] | None = None,
        axes: Any = None,
        linkage: str = "ward",
        n_groups: int | None = None,
        agreement: Agreement | None = None,
        base: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        given = clusterings if isinstance(clusterings, MetaClustering) else None
        whole = given.ensemble if given else clusterings
        assert isinstance(whole, Ensemble)
        ensemble = without_gaps(whole)
        if n_groups is not None:
            check_cut(ensemble.n_clusterings, n_groups, None)
        if data is not None and data.n_objects != ensemble.n_objects:
            raise InputError(
                f"{data.source} has {data.n_objects:,} objects and the clusterings {ensemble.n_objects:,}: give the data "
                "that they are of"
            )
        self.origin = origin or memory(ensemble)
        self.data, self.agreement, self.base, self.n_jobs = data, agreement, base, n_jobs
        self.ids = ensemble.ids if ensemble.ids is not None or data is None else data.ids
        self.known = {name: _known(name, labels, ensemble) for name, labels in (known or {}).items()}
        self.features = [] if data is None or data.kind == "distances" else feature_names(data)
        self.plane = plane_of(ensemble, data, axes)
        self.linkage = given.linkage if given else linkage
        self.measure = given.measure if given else "cluster_difference"
        self.sketch: Any = given.n_pairs if given else "auto"
        self.seed = given.seed if given else 0
        self.grown: list[str] = []  # lines that make what was added in memory
        self.renumbered = ensemble is not whole
        meta = self._organize(ensemble, progress) if given is None or self.renumbered else given
        self.sketch = meta.n_pairs  # the same for every revision, so that earlier trees can be grown again
        self.n_groups = n_groups or (given.n_groups if given else None)
        self.edition = self._edition(0, meta, self.n_groups)

    def _organize(self, ensemble: Ensemble, progress: bool | None) -> MetaClustering:
        how: dict[str, Any] = {"linkage": self.linkage, "measure": self.measure, "sketch": self.sketch}
        return organize(ensemble, **how, random_state=self.seed, n_jobs=self.n_jobs, progress=progress)

    def _edition(self, revision: int, meta: MetaClustering, n_groups: int | None) -> Edition:
        known = {name: one.codes for name, one in self.known.items()}
        return Edition(revision, meta, score_table(meta, self.data, known), n_groups)

    def grow(self, made: Ensemble, lines: Sequence[str] = ()) -> Edition:
        """Add clusterings: the tree is grown anew and the revision goes up; leaves keep their numbers."""
        old = self.edition
        meta = self._organize(Ensemble.concat([old.meta.ensemble, without_gaps(made)]), False)
        new = self._edition(old.revision + 1, meta, self.n_groups)
        self.grown += lines
        self.edition = new  # at once for all who ask from now on; those who are asking keep the old one
        return new

    @property
    def tree(self) -> str:
        """What refs mean: the same as long as leaves and nodes of the trees of the first m clusterings keep their numbers."""
        told = [self.linkage, self.measure, self.sketch, self.seed, self.renumbered, list(self.origin.refused)]
        return fingerprint(np.frombuffer(json.dumps(told).encode(), np.uint8))[:16]

    @cached_property
    def variations(self) -> Variations:
        """What makes more like a clustering; the data is prepared once."""
        return Variations(self.data, base=self.base, n_jobs=self.n_jobs)

    def name_of(self, index: int) -> Any:
        """What an object is called: its id, or its number."""
        return int(index) if self.ids is None else self.ids[index]


def memory(ensemble: Ensemble) -> Origin:
    """The origin of clusterings that were given as they are."""
    run = fingerprint(ensemble.labels)[:16]
    return Origin("clusterings", "memory", run, ["ensemble = ...  # the clusterings that you gave to cs.explore"])


def without_gaps(ensemble: Ensemble) -> Ensemble:
    """The same clusterings with clusters numbered 0 … k − 1: what other programs wrote may have gaps."""
    tops = ensemble.labels.max(axis=0) + 1
    return ensemble if np.array_equal(tops, ensemble.n_clusters) else Ensemble(ensemble)


def _known(name: str, labels: Any, ensemble: Ensemble) -> Known:
    codes = known_labels({name: labels}, ensemble)[name]
    values = pd.Series(np.asarray(labels, dtype=object))
    found, first = np.unique(codes, return_index=True)
    return Known(codes, [str(values[i]) for i in first[found >= 0]])
