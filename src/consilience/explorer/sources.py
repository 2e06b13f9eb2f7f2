"""What users point the explorer at, made ready to be shown: clusterings as they are, or data that is clustered first."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from consilience._check import InputError, fingerprint
from consilience.agreement import Agreement
from consilience.ensemble import Ensemble
from consilience.explorer.object_images import Look, curves_of, files_of, pixels_from, pixels_of
from consilience.explorer.session import Session, Source
from consilience.generation import generate
from consilience.generation.default_methods import usual_clusters
from consilience.inputs import Opened, Provenance, open_source
from consilience.inputs.known_labels import read_names
from consilience.inputs.open import cell_embeddings
from consilience.meta import MetaClustering
from consilience.reports.plane import with_own_names

KINDS = ("auto", "data", "distances", "labels")


@dataclass(frozen=True)
class GenerateOptions:
    """How a table of data is clustered before it is explored; the words are those of :func:`consilience.generate`.

    Without a number of clusters each clustering draws from 2 … √n, at most 20, as for :class:`consilience.EnsembleClusterer`: people look
    for a number that serves them, and the few clusters that may be there must be among those that are shown.
    """

    n_clusterings: int = 1000
    n_clusters: Any = None
    methods: Any = "zipf+pca"
    base: Any = None
    random_state: int = 0
    store: Path | None = None
    n_jobs: int | None = None
    progress: bool | None = None


@dataclass(frozen=True, eq=False)
class OpenedSource:
    opened: Opened
    embeddings: Mapping[str, Any] = field(default_factory=dict)
    seeks_stable: bool = False

    @property
    def ensemble(self) -> Ensemble:
        return self.opened.ensemble

    def with_data(self, source: Any, *, kind: str = "data", **reading: Any) -> "OpenedSource":
        """The same with the data of its objects, and what is known of them there."""
        data = open_source(source, kind=kind, **reading)
        if data.data is None:
            raise InputError(f"{data.provenance.source} holds clusterings: the data is the table that they are of")
        opened = self.opened.with_data(data.data)
        origin = replace(opened.provenance, data_code=data.provenance.code)
        return self._checked(replace(opened, provenance=origin)).with_embeddings(source)

    def with_embeddings(self, source: Any) -> "OpenedSource":
        """The same with the arrays in the `obsm` of an AnnData or h5ad file beside those that it has."""
        ids, data = self.ensemble.ids, self.opened.data
        ids = data.ids if ids is None and data is not None else ids
        return replace(self, embeddings={**self.embeddings, **cell_embeddings(source, ids)})

    def named(self, names: Any, path: Path | None = None) -> "OpenedSource":
        """The same with names of the columns of its data, such as words; see :func:`consilience.inputs.read_names`."""
        if self.opened.data is None:
            raise InputError("names are those of the columns of the data, and there is none: give it too (--data)")
        table = replace(self.opened.data, columns=read_names(path, names, self.opened.data))
        return replace(self, opened=replace(self.opened, data=table))

    def look(self, images: Any, shape: Any, curves: Any, folder: Path) -> "tuple[OpenedSource, Look | None]":
        """What the objects look like, of what was said of images and curves; the column of their paths is no known label."""
        drawn = curves not in (None, False)
        if sum([images is not None, shape is not None, drawn]) > 1:
            raise InputError("objects have one picture: give a column of images, the shape of pixels, or curves")
        if isinstance(images, str):
            known = dict(self.opened.known)
            paths = known.pop(images)
            return replace(self, opened=replace(self.opened, known=known)), files_of(paths, folder)
        if images is not None:
            return self, pixels_from(images, self.ensemble.n_objects)
        if shape is not None:
            return self, pixels_of(self.opened.data, shape)
        return self, curves_of(self.opened.data, None if curves is True else curves) if drawn else None

    def _checked(self, opened: Opened) -> "OpenedSource":
        """The same with another data, of which is said if the clusterings were not made from it."""
        assert opened.data is not None
        origin, source = opened.provenance, opened.data.source
        if opened.other_data:
            what = f"{source} is not the data that {origin.source} was made from, or not the same columns of it"
            warnings.warn(f"{what}: it is shown, but no clusterings can be added", stacklevel=4)
        called = Path(source).stem
        if origin.store is not None and called != origin.name:  # a folder called "run" says little
            origin = replace(origin, name=f"{called} · {origin.name}")
        return replace(self, opened=replace(opened, provenance=origin))

    def session(self, *, known: Mapping[str, Any] | None = None, base: Any = None, **options: Any) -> Session:
        """The session; options as in :class:`Session`, and known labels beside those that the tables have."""
        opened, result = self.opened, self.opened.result
        code, agreement = opened.provenance.code, result if isinstance(result, Agreement) else None
        if code and not isinstance(result, Ensemble):  # Python that opens the clusterings
            code += ".ensemble" if agreement is None else ".after.rows"
        return Session(
            result if isinstance(result, MetaClustering) else opened.ensemble,
            data=None if opened.data is None else with_own_names(opened.data, result),
            embeddings=self.embeddings,
            known={**opened.known, **(known or {})},
            source=Source(opened.provenance, agreement, base, code, opened.id_name, self.seeks_stable),
            **options,
        )


def open_clusterings(
    source: Any, *, kind: str = "auto", reading: Mapping[str, Any] | None = None, options: GenerateOptions | None = None
) -> OpenedSource:
    return ready(open_source(source, kind=kind, **(reading or {})), options).with_embeddings(source)


def ready(opened: Opened, options: GenerateOptions | None = None) -> OpenedSource:
    if opened.result is None:
        return _clustered(opened, options or GenerateOptions())
    found = OpenedSource(opened)
    return found if opened.data is None else found._checked(opened)


def _clustered(opened: Opened, options: GenerateOptions) -> OpenedSource:
    table, origin = opened.data, opened.provenance
    assert table is not None
    how = dict(vars(options))
    n_clusterings, n_clusters, methods = (how.pop(name) for name in ("n_clusterings", "n_clusters", "methods"))
    if n_clusters is None:
        n_clusters = usual_clusters(table.n_objects, search=True)
    how |= {"metric": "precomputed"} if table.kind == "distances" else {}
    ensemble = generate(table, n_clusterings, n_clusters, methods, **how)
    if options.store is not None:  # the run may hold more than was asked for now
        stored = open_source(options.store)
        ensemble, made = stored.ensemble, replace(stored.provenance, name=origin.name, data_code=origin.code)
    else:
        said = [repr(n_clusterings), repr(n_clusters), repr(methods)]
        said += ["metric='precomputed'"] if table.kind == "distances" else []
        said += [] if options.base is None else ["base=base"]
        code = f"cs.generate(data, {', '.join(said)}, random_state={options.random_state})"
        run, data_code = fingerprint(ensemble.labels)[:16], origin.code
        made = Provenance(origin.name, origin.source, origin.path, run, code, data_code=data_code)
    opened = replace(opened, result=ensemble, provenance=made)
    return OpenedSource(opened, seeks_stable=options.n_clusters is None)
