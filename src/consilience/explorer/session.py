"""A session of the explorer: what does not change while people look, and the snapshot that is shown now."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from consilience._check import InputError, fingerprint
from consilience.agreement import Agreement
from consilience.ensemble import Ensemble
from consilience.explorer.edits import EDITS, Edited
from consilience.explorer.explorer_json import Kept, Known
from consilience.explorer.object_images import Look
from consilience.explorer.planes import planes_of
from consilience.explorer.scores import score_table
from consilience.explorer.snapshot import Snapshot, among_first
from consilience.generation import Variations
from consilience.inputs import Provenance
from consilience.measures.compare import known_labels
from consilience.measures.explained_variance import VarianceBetween
from consilience.measures.spreads_and_top_words import ComparableTable
from consilience.meta import MetaClustering, organize
from consilience.meta.tree import check_cut, usual_measure
from consilience.reports.plane import Plane, feature_names
from consilience.reports.words import code_names
from consilience.tables import Table, scale


class Added(NamedTuple):
    # of those before; their labels and distances are the first of those after: people may ask for more many times
    info: pd.DataFrame
    scores: pd.DataFrame
    n_lines: int  # of Python that makes them
    numbers: tuple[int, ...]  # on disk

    @property
    def first(self) -> int:
        return len(self.info)


@dataclass(frozen=True)
class Source:
    origin: Provenance | None = None
    agreement: Agreement | None = None  # the process that they came out of
    base: Any = None  # scikit-learn clusterer that made them in place of k-means
    code: str = ""  # Python that opens them; empty for what is in memory
    id_name: str = "id"  # of the column of the ids
    seeks_stable: bool = False  # nobody said how many clusters: the page looks for the stable numbers when it is opened


class Session:
    """What the explorer shows; the linkage is by default that which was shown last, as it is kept with the run, or Ward's."""

    def __init__(
        self,
        clusterings: Ensemble | MetaClustering,
        *,
        data: Table | None = None,
        known: Mapping[str, Any] | None = None,
        axes: Any = None,
        embeddings: Mapping[str, Any] | None = None,
        look: Look | None = None,
        linkage: str | None = None,
        n_groups: int | None = None,
        source: Source = Source(),
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
            what = f"{data.source} has {data.n_objects:,} objects and the clusterings {ensemble.n_objects:,}"
            raise InputError(f"{what}: give the data that they are of")
        self.source, self.origin = source, _named_origin(source.origin, ensemble)
        self.data, self.look, self.n_jobs = data, look, n_jobs
        self.seeks_stable = source.seeks_stable and data is not None
        self.stable: dict[str, Any] | None = None  # numbers of clusters that are, once they were looked for
        made = self.origin.fingerprint
        self.other_data = data is not None and made is not None and fingerprint(data.values) != made
        self.ids = ensemble.ids if ensemble.ids is not None or data is None else data.ids
        self.known = {name: _known(name, labels, ensemble) for name, labels in (known or {}).items()}
        self.kept = Kept(self.origin.store, ensemble.n_objects)
        self.edited = self.kept.edits
        self.report: tuple[int, bytes] | None = None  # the job that wrote the last report, and its page
        # labels that people made here
        self.saved = {name: one for name, one in self.kept.labels.items() if name not in self.known}
        self.edition = 0  # goes up with every change of them
        self.features = [] if data is None or data.kind == "distances" else feature_names(data)
        self.planes = planes_of(ensemble, data, axes, embeddings or {})
        self.linkage = given.linkage if given else linkage or self.kept.view.get("linkage", "ward")
        self.measure = given.measure if given else usual_measure(ensemble)
        self.sketch: Any = given.n_pairs if given else "auto"
        self.seed = given.seed if given else 0
        self.grown: list[str] = []  # lines that make what was added in memory
        self.renumbered = ensemble is not whole
        self.n_groups = n_groups or (given.n_groups if given else None)
        if given is None or self.renumbered:
            meta = self._organize(ensemble, progress)
        else:
            meta = given if n_groups is None else given.cut(n_groups)
        if ensemble.n_clusterings > 1:
            self.sketch = meta.n_pairs  # the same for every revision, so that earlier trees can be grown again
        self.snapshot = self._snapshot(0, meta)
        self.added: list[Added] = []  # what can be taken away again, the last first
        self.last_seed = -1  # of more like a clustering; goes up only, so that what was taken away is not made again
        self._linked: dict[str, MetaClustering] = {}  # trees of other linkages of the same clusterings
        self._growing, self._saving = threading.Lock(), threading.Lock()

    def _organize(self, ensemble: Ensemble, progress: bool | None) -> MetaClustering:
        if ensemble.n_clusterings == 1:
            return _alone(ensemble, self.linkage, self.measure)
        how: dict[str, Any] = {"linkage": self.linkage, "measure": self.measure, "sketch": self.sketch}
        how |= {"random_state": self.seed, "n_jobs": self.n_jobs, "progress": progress}
        return organize(ensemble, self.n_groups or "auto", **how)

    def _snapshot(self, revision: int, meta: MetaClustering) -> Snapshot:
        known = {name: one.codes for name, one in self.known.items()}
        return Snapshot(revision, meta, score_table(meta, self.data, known), self.edited)

    def grow(self, made: Ensemble, lines: Sequence[str] = (), numbers: Sequence[int] = ()) -> None:
        """Add clusterings, with the `numbers` that they have on disk: the tree is grown anew, leaves keep their numbers."""
        with self._growing:
            old = self.snapshot
            meta = self._organize(Ensemble.concat([old.meta.ensemble, without_gaps(made)]), False)
            new = self._snapshot(old.revision + 1, meta)
            self.grown += lines
            self.added.append(Added(old.meta.ensemble.info, old.scores, len(lines), tuple(numbers)))
            self._linked.clear()
            self.snapshot = new  # at once for all who ask from now on; those who are asking keep the old one

    def shrink(self) -> None:
        with self._growing:
            last = self.added.pop()
            del self.grown[len(self.grown) - last.n_lines :]
            now, m = self.snapshot.meta, last.first
            labels, names = now.ensemble.labels[:, :m], now.ensemble.label_names[:m]
            ensemble = Ensemble.from_codes(labels, label_names=names, info=last.info, ids=now.ensemble.ids)
            meta = self._relinked(replace(now, ensemble=ensemble, distances=among_first(now.distances, m)))
            self._linked.clear()
            self.snapshot = Snapshot(self.snapshot.revision + 1, meta, last.scores, self.edited)

    def _relinked(self, meta: MetaClustering) -> MetaClustering:
        """Clusterings and their distances in the tree of the linkage that is shown."""
        if meta.n_clusterings == 1:
            return _alone(meta.ensemble, self.linkage, self.measure)
        return meta.relink(self.linkage, self.n_groups or "auto")

    def relink(self, linkage: str) -> Snapshot:
        """Show the tree of another linkage; those that were shown before are kept."""
        with self._growing:
            old = self.snapshot
            if linkage == self.linkage:
                return old
            self._linked[self.linkage] = old.meta
            self.linkage = linkage
            meta = self._linked.get(linkage) or self._relinked(old.meta)
            self.snapshot = Snapshot(old.revision + 1, meta, old.scores, self.edited)
            return self.snapshot

    def take_edited(self, one: Edited) -> None:
        """Have a clustering that was edited by hand; of many that nobody put into the tray the oldest are let go."""
        with self._saving:
            self.edited.setdefault(one.number, one)
            kept = {item["ref"] for item in self.kept.tray}
            loose = [number for number in list(self.edited) if f"{number}e" not in kept]
            for number in loose[: max(0, len(loose) - EDITS)]:
                del self.edited[number]

    @property
    def plane(self) -> Plane:
        return next(iter(self.planes.values()))

    @property
    def labelings(self) -> dict[str, Known]:
        return {**self.known, **self.saved}

    def change_label(self, name: str, change: Callable[[Known | None], Known | None]) -> None:
        """Keep under a name what `change` makes of the labels that it has now (None where it has none), or let them go (None)."""
        with self._saving:  # of two changes that come at once, the later sees what the earlier made
            made = change(self.saved.get(name))
            others = {one: labels for one, labels in self.saved.items() if one != name}
            self.saved = others if made is None else {**others, name: made}  # at once for all who ask from now on
            self.edition += 1
            self.kept.keep(labels=self.saved)

    def take_over(self, labels: Mapping[str, Known], tray: list[dict[str, str]], view: dict[str, str]) -> None:
        """Have labels beside those that are here, and another tray and view: written down once, however many they are."""
        with self._saving:
            self.saved = {**self.saved, **labels}
            self.edition += 1
            self.kept.keep(labels=self.saved, tray=tray, view=view)

    @property
    def tree(self) -> str:
        """What refs mean: the same as long as leaves and nodes of the trees of the first m clusterings keep their numbers."""
        told = [self.linkage, self.measure, self.sketch, self.seed, self.renumbered, list(self.origin.refused)]
        return fingerprint(np.frombuffer(json.dumps(told).encode(), np.uint8))[:16]

    @cached_property
    def compared(self) -> ComparableTable:
        return ComparableTable(self.data, self.features)

    @cached_property
    def following(self) -> VarianceBetween:
        return VarianceBetween(self.compared)

    @cached_property
    def rare_words(self) -> Any:
        """Counts with rare columns weighted up, in rows of length 1."""
        assert self.data is not None
        return scale(self.data.values, "tfidf")

    @cached_property
    def variations(self) -> Variations:
        """What makes more like a clustering; the data is prepared once."""
        return Variations(self.data, base=self.source.base, n_jobs=self.n_jobs)

    def name_of(self, index: int) -> Any:
        return int(index) if self.ids is None else self.ids[index]


def _alone(ensemble: Ensemble, linkage: str, measure: str) -> MetaClustering:
    """One clustering as a tree of one leaf, so that it can be looked at."""
    how: dict[str, Any] = {"linkage": linkage, "measure": measure, "note": "one clustering has no groups"}
    how["curve"] = pd.DataFrame({"n_groups": [1], "compactness": [0.0], "jump": [np.nan], "bend": [np.nan]})
    tree: dict[str, Any] = {"distances": np.empty(0), "tree": np.empty((0, 4))}
    tree |= {"nodes": np.zeros(1, np.int64), "groups": np.ones(1, np.int64)}
    return MetaClustering(ensemble=ensemble, **tree, **how)


def _named_origin(origin: Provenance | None, ensemble: Ensemble) -> Provenance:
    """Where clusterings came from; those in memory are told apart by their labels."""
    if origin is not None and origin.run:
        lasts = origin.path is not None or origin.code
        return origin if lasts else replace(origin, name="clusterings", source="memory")
    run = fingerprint(ensemble.labels)[:16]
    return Provenance("clusterings", "memory", run=run) if origin is None else replace(origin, run=run)


def without_gaps(ensemble: Ensemble) -> Ensemble:
    """The same clusterings with clusters numbered 0 … k − 1: what other programs wrote may have gaps."""
    tops = ensemble.labels.max(axis=0) + 1
    return ensemble if np.array_equal(tops, ensemble.n_clusters) else Ensemble(ensemble)


def _known(name: str, labels: Any, ensemble: Ensemble) -> Known:
    codes = known_labels({name: labels}, ensemble)[name]
    return Known(codes, code_names(labels, codes))
