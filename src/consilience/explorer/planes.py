"""The planes of a session: what is looked at first, embeddings that came with the data, and those that are made on request."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from consilience._check import InputError, nearest
from consilience._run.random import child_seed
from consilience._types import Array
from consilience.ensemble import Ensemble
from consilience.reports.plane import Plane, comparable, given_plane, plane_of
from consilience.tables import Table

MOST_TSNE, MOST_UMAP = 10_000, 200_000  # safeguard: objects; more take many minutes
WIDE = 50  # safeguard: columns beyond which principal components are taken first, as scikit-learn advises for t-SNE
FIRST = ("umap", "tsne", "draw_graph")  # embeddings that people look at before others


def planes_of(ensemble: Ensemble, data: Table | None, axes: Any, embeddings: Mapping[str, Any]) -> dict[str, Plane]:
    """Planes by name: the one that is shown first, the usual one, and embeddings, those of two columns and well-known kinds first."""

    def rank(name: str) -> tuple[bool, int]:
        plain = name.lower().removeprefix("x_")
        kinds = [i for i, kind in enumerate(FIRST) if plain.startswith(kind)]
        return np.shape(embeddings[name])[1] != 2, kinds[0] if kinds else len(FIRST)

    n, first, names = ensemble.n_objects, dict[str, Plane](), sorted(embeddings, key=rank)
    given = {name: given_plane(embeddings[name], name, n) for name in names}
    if isinstance(axes, (str, list, tuple)) and (name := _embedding(axes, embeddings)):
        first[name] = given[name]
    elif isinstance(axes, np.ndarray) and axes.ndim == 2:
        first["own coordinates"] = given_plane(axes, "own coordinates", n)
    elif axes is not None:
        plane = plane_of(ensemble, data, axes)
        first[plane.note] = plane
    elif names and np.shape(embeddings[names[0]])[1] == 2:
        first[names[0]] = given[names[0]]
    own = plane_of(ensemble, data)
    first.setdefault(NAMES[own.kind], own)
    return {**first, **given}


NAMES = {"pca": "main axes", "svd": "main axes", "mds": "scaling", "labels": "labels", "columns": "columns"}


def _embedding(axes: Any, embeddings: Mapping[str, Any]) -> str | None:
    """The embedding that is named alone, with or without its X_; None where columns are named."""
    names = [axes] if isinstance(axes, str) else list(axes)
    if len(names) != 1 or not isinstance(names[0], str):
        return None
    name = names[0]
    for called in (name, f"X_{name}"):
        if called in embeddings:
            return called
    if embeddings:
        near = nearest(name, list(embeddings))
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(embeddings)}"
        raise InputError(f"no embedding is called {name!r}: {hint} (or name two columns of the data)")
    wanted = "a plane needs two columns of the data, or an embedding in the obsm of an AnnData file"
    raise InputError(f"{name!r} is one name: {wanted}, and there is none")


def makeable(data: Table | None, n_objects: int) -> dict[str, str]:
    """Planes that can be made on request, each with what hinders it, "" for nothing."""
    if data is None:
        return {}
    tsne = "" if n_objects <= MOST_TSNE else f"t-SNE is for at most {MOST_TSNE:,} objects"
    umap = "" if find_spec("umap") else "UMAP needs a package: pip install umap-learn"
    return {"tsne": tsne, "umap": umap if n_objects <= MOST_UMAP else f"UMAP is for at most {MOST_UMAP:,} objects"}


def make_plane(data: Table, method: str, step: Callable[[], None]) -> Plane:
    """t-SNE or UMAP of the data, by default settings; `step` is called between its parts."""
    is_far = data.kind == "distances"
    values = data.values if is_far else reduced(comparable(data))
    step()
    seed = child_seed(0, "explorer.embedding") % 2**31
    metric = "precomputed" if is_far else "euclidean"
    n = values.shape[0]
    if method == "tsne":
        from sklearn.manifold import TSNE

        perplexity = min(30.0, max(1.0, (n - 1) / 3))
        start = "random" if is_far or values.shape[1] < 2 else "pca"
        made = TSNE(2, perplexity=perplexity, init=start, metric=metric, random_state=seed)
        note = f"t-SNE (perplexity {perplexity:.0f})"
    else:
        from umap import UMAP

        neighbors = min(15, n - 1)
        made = UMAP(neighbors, metric=metric, random_state=seed)
        note = f"UMAP ({neighbors} neighbors)"
    plane = given_plane(np.asarray(made.fit_transform(values), float), note, n)
    step()
    return plane


def reduced(values: Any) -> Array:
    from scipy import sparse
    from sklearn.decomposition import PCA

    n, d = values.shape
    if d <= WIDE:
        return values.toarray() if sparse.issparse(values) else np.asarray(values)
    width = min(WIDE, n - 1, d - 1)
    solver = "arpack" if sparse.issparse(values) else "auto"
    return np.asarray(PCA(width, svd_solver=solver, random_state=0).fit_transform(values))
