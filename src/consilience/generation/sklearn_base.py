"""Any scikit-learn clusterer in the place of k-means."""

from typing import Any

import numpy as np

from consilience._check import InputError, check_labels, kind_of, show
from consilience._types import Array, Labels
from consilience.generation.kmeans import Runs

CLUSTERS = ("n_clusters", "n_components")  # what estimators call it


def check_base(base: Any) -> None:
    if isinstance(base, type):
        raise InputError(f"base must be a clusterer, not its class: give {base.__name__}() with its parameters")
    if not hasattr(base, "get_params") or not (hasattr(base, "fit_predict") or hasattr(base, "fit")):
        raise InputError(f"base must be a scikit-learn clusterer such as HDBSCAN(); got {kind_of(base)}")


def base_text(base: Any) -> str | None:
    """A clusterer in words that are the same in every process: its class and all its parameters; None for none."""
    if base is None:
        return None
    check_base(base)
    words = [f"{name}={_word(value)}" for name, value in sorted(base.get_params(deep=True).items())]
    return f"{type(base).__name__}({', '.join(words)})"


def _word(value: Any) -> str:
    # Addresses in memory would differ in every process.
    if hasattr(value, "get_params"):
        return type(value).__name__
    return getattr(value, "__qualname__", None) or " ".join(repr(value).split())


def base_run(base: Any, table: Array, n_clusters: int, seed: int) -> Runs:
    """Cluster the rows with a copy of `base`, whose number of clusters and random state are set where it has them."""
    from sklearn.base import clone

    model = clone(base)  # the user's own stays as it was, and may be fitted already
    model.set_params(**clusterer_settings(model, n_clusters, seed % 2**32))
    answer = model.fit_predict(table) if hasattr(model, "fit_predict") else model.fit(table).labels_
    labels = check_found(answer, table.shape[0])
    return Runs.of_labels(labels, noise_note(labels))


def noise_note(labels: Labels) -> str | None:
    noise = int(np.count_nonzero(labels < 0))
    return f"{noise:,} of {len(labels):,} objects are noise, left without a label" if noise else None


def reason(error: Exception) -> str:
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {show(str(error), 200)}"


def clusterer_settings(model: Any, n_clusters: int, seed: int) -> dict[str, Any]:
    """What to set of a clusterer, or of the last step of a pipeline; a number of clusters that is None is meant so."""
    known = model.get_params(deep=True)
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    clusters = next((prefix + name for name in CLUSTERS if prefix + name in known), None)
    chosen = {clusters: n_clusters} if clusters is not None and known[clusters] is not None else {}
    return chosen | {name: seed for name in known if name == "random_state" or name.endswith("__random_state")}


def check_found(answer: Any, n_objects: int) -> Labels:
    found = np.asarray(answer)
    if found.shape != (n_objects,):
        raise InputError(f"it gave labels of shape {found.shape} for {n_objects:,} objects")
    found = np.where(found < 0, -1, found) if found.dtype.kind == "i" else found
    labels = check_labels(found, "what the clusterer returned")
    if not (labels >= 0).any():
        raise InputError("it called every object noise")
    return labels
