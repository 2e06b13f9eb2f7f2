"""Many k-means runs (Lloyd 1982) over one table: feature weights, number of clusters and random stream per run."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError, check_choice, check_labels, kind_of, show
from consilience._types import Array, ArrayLike, Floats, Ints, Labels
from consilience.tables import check_matrix

INITS = ("random", "k-means++")


@dataclass(frozen=True)
class Runs:
    """What came of many k-means runs, one row or entry each; a clustering of another kind has inertia NaN and −1 steps."""

    labels: Labels  # (runs, n_objects) 0 … k − 1, all of them used where there are as many distinct objects
    inertia: Floats  # squared distances to the means of the clusters, summed, in the weighted space
    steps: Labels  # passes over the objects, the last of which changed nothing; `max_iter` where it was cut short
    seconds: Floats
    note: str | None = None  # something to say of a single run
    # An object with ``label(rows) -> labels`` of new rows, weighted already, as a single run would: a small dataclass, registered in
    # consilience.ensemble.results so that a clusterer can be saved.
    predictor: Any = None

    @classmethod
    def of_labels(cls, labels: ArrayLike, note: str | None = None, predictor: Any = None) -> Self:
        rows, nothing = np.asarray(labels, np.int32)[None], np.array([np.nan])
        return cls(rows, nothing, np.array([-1], np.int32), np.zeros(1), note, predictor)


def check_table(X: ArrayLike) -> ArrayLike:
    # C-contiguous float64, or CSR, as the kernel wants it. What is so already is not copied.
    data = check_matrix(X)
    if not sparse.issparse(data):
        return np.ascontiguousarray(data)
    if data.shape[1] >= 2**31:
        raise InputError(f"{data.shape[1]:,} features are more than k-means can number")
    if not data.has_canonical_format:
        data = data.copy()  # the caller's own stays as it was
        data.sum_duplicates()
    rows = sparse.csr_matrix(data.shape, dtype=np.float64)
    rows.data = np.ascontiguousarray(data.data)
    rows.indices, rows.indptr = data.indices.astype(np.int32, copy=False), data.indptr
    return rows


def kmeans_runs(
    X: Any,
    n_clusters: Any,
    *,
    weights: Any = None,
    units: Any = None,
    seed: int = 0,
    init: str | ArrayLike = "random",
    max_iter: int = 300,
    threads: int = 1,
    checked: bool = False,
) -> Runs:
    # Minimizes Σ_i Σ_j w_j² (x_ij − c_{z(i) j})² over labels z and centers c; O(steps · n · k · d) for each run at worst. A run stops
    # when no label changes; an emptied cluster takes the object farthest from its center. The labels are those of arithmetic in float64:
    # the kernel scores in float32 and decides again in float64 where rounding could have mattered. Run r depends on (`seed`, units[r])
    # and its own row of the other arguments alone, so that any run can be made by itself, with any number of threads. `weights` (runs,
    # n_features) multiply the features; `init` may name the objects to start from (runs, n_clusters).
    table = X if checked else check_table(X)
    starts = None if isinstance(init, str) else np.ascontiguousarray(init, np.int64)
    each: tuple[Any, ...] = (n_clusters, weights, units, starts)
    runs = next((len(given) for given in each if given is not None and np.ndim(given)), 1)
    # What does not fit the table, or these runs, is refused at the kernel's door.
    numbers = np.ascontiguousarray(np.broadcast_to(np.asarray(n_clusters, np.int32), runs))
    streams = np.arange(runs, dtype=np.uint64) if units is None else np.ascontiguousarray(units, np.uint64)
    weights = None if weights is None else np.ascontiguousarray(weights, np.float64)
    begin = check_choice(init, INITS, "init") if isinstance(init, str) else INITS[0]
    how: dict[str, Any] = {"init": begin, "max_iter": max_iter, "seed": seed, "threads": threads}
    return Runs(*_kernels.lloyd(table, numbers, streams, weights=weights, starts=starts, **how))


def cluster_means(table: ArrayLike, labels: Labels, sizes: Ints | None = None) -> tuple[Floats, Ints, Ints]:
    # The means of all clusters of some clusterings one below the other, their numbers of objects, and how many each has. `labels` are
    # (n_objects, n_clusterings), −1 where an object has none; `sizes` their numbers of clusters, where the last ones may have no object,
    # and so the mean 0.
    if sizes is None:
        sizes = labels.max(axis=0).astype(np.int64) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows, which = np.nonzero(labels >= 0)
    numbers = labels[rows, which] + offsets[which]
    members = sparse.csr_array((np.ones(len(rows)), (numbers, rows)), (int(offsets[-1]), len(labels)))
    sums = members @ table
    means = np.asarray(sums.todense() if sparse.issparse(sums) else sums)
    counts = np.bincount(numbers, minlength=len(means))
    return means / np.maximum(counts, 1)[:, None], counts, sizes


# Any scikit-learn clusterer in the place of k-means.
CLUSTERS = ("n_clusters", "n_components")  # what estimators call it


def check_base(base: Any) -> None:
    if isinstance(base, type):
        raise InputError(f"base must be a clusterer, not its class: give {base.__name__}() with its parameters")
    if not hasattr(base, "get_params") or not (hasattr(base, "fit_predict") or hasattr(base, "fit")):
        raise InputError(f"base must be a scikit-learn clusterer such as HDBSCAN(); got {kind_of(base)}")


def base_text(base: Any) -> str | None:
    # In words that are the same in every process: the class and all its parameters.
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
    # What to set of a clusterer, or of the last step of a pipeline; a number of clusters that is None is meant so.
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
