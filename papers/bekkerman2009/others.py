"""Beside Bekkerman et al. 2009 on the same counts: sequential information bottleneck, topic models, k-means on tf-idf."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from consilience.agreement import MDC
from consilience.measures import accuracy, adjusted_mutual_information, adjusted_rand
from consilience.tables import scale
from papers.bekkerman2009.data import Documents
from papers.cells import Cells
from papers.report import Report, over_seeds, with_error

COMPONENTS = 100  # of the decomposition before k-means
CELLS_HSBM = (
    150_000  # counts up to which the nested block model is tried: 90 seconds of processor time and 1.1 GB for 117,000
)
MEASURES = ("accuracy", "ami", "ari")
OURS = {"before": "MDC, mean of an ensemble", "cap": "after CAP, mean", "sccc": "SCCC", "cap_sccc": "SCCC after CAP"}


def _sib(counts: Any, k: int, seed: int) -> NDArray[Any]:
    some = np.flatnonzero(np.diff(counts.indptr))  # it takes no empty rows
    labels = np.zeros(counts.shape[0], np.int64)
    labels[some] = import_module("sib").SIB(k, random_state=seed, n_jobs=1).fit(counts[some].astype(np.int64)).labels_
    return labels


def _lda(counts: Any, k: int, seed: int) -> NDArray[Any]:
    model = LatentDirichletAllocation(k, learning_method="online", batch_size=1024, max_iter=10, random_state=seed)
    return np.asarray(model.fit_transform(counts).argmax(axis=1))


def _nmf(counts: Any, k: int, seed: int) -> NDArray[Any]:
    model = NMF(k, init="nndsvdar", max_iter=200, random_state=seed)
    return np.asarray(model.fit_transform(scale(counts, "tfidf")).argmax(axis=1))


def _kmeans(counts: Any, k: int, seed: int) -> NDArray[Any]:
    size = min(COMPONENTS, *(side - 1 for side in counts.shape))
    points = normalize(TruncatedSVD(size, random_state=seed).fit_transform(scale(counts, "tfidf")))
    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit_predict(points))


def _mdc(counts: Any, k: int, seed: int) -> NDArray[Any]:
    return np.asarray(MDC(k, random_state=seed, n_jobs=1).fit(counts).row_labels_)


def _hsbm(counts: Any, k: int, seed: int) -> NDArray[Any]:
    """The level of the nested block model whose number of blocks of documents is nearest to `k`."""
    cells = counts.tocoo()
    python, script = graph_tool_python(), Path(__file__).parent / "hsbm.py"
    assert python is not None
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "counts.npz", Path(folder) / "levels.npy"
        np.savez(source, rows=cells.row, columns=cells.col, counts=cells.data.astype(np.int64))
        subprocess.run([python, script, source, target, str(seed)], check=True, capture_output=True)
        levels = np.load(target)
    found = levels[np.argmin(np.abs(levels.max(axis=1) + 1 - k))]
    labels = np.zeros(counts.shape[0], np.int64)
    labels[: len(found)] = found  # the last documents may be empty
    return labels


@cache
def graph_tool_python() -> str | None:
    """A Python that has graph-tool: this one, or the system's."""
    for python in (sys.executable, shutil.which("python3", path=os.defpath)):
        if (
            python
            and not subprocess.run([python, "-c", "import graph_tool"], capture_output=True, check=False).returncode
        ):
            return python
    return None


def _can(method: Callable[..., Any], one: Documents) -> bool:
    """Whether a method is installed and, in the time there is, fit for the set."""
    if method is _hsbm:
        return one.counts.nnz <= CELLS_HSBM and graph_tool_python() is not None
    return method is not _sib or find_spec("sib") is not None


METHODS: dict[str, Callable[[Any, int, int], NDArray[Any]]] = {
    "sIB (sib-clustering, best of 10)": _sib,
    "LDA (scikit-learn)": _lda,
    "NMF on tf-idf (scikit-learn)": _nmf,
    "k-means on tf-idf and SVD (scikit-learn)": _kmeans,
    "hSBM (graph-tool), level nearest to k": _hsbm,
    "MDC, one run": _mdc,
}


def run_others(sets: Sequence[Documents], n_seeds: Mapping[str, int], *, cells: Cells | None = None) -> pd.DataFrame:
    """Every other method on every set, as often as `n_seeds` says of its name; one row per run.

    The sequential bottleneck only where `sib` is installed, the nested block model where graph-tool is, once, on the smaller sets.
    """
    tasks = [
        ({**one.key, "method": name, "seed": seed}, (one,))
        for one in sets
        for name, method in METHODS.items()
        if _can(method, one)
        for seed in range(1 if method is _hsbm else n_seeds[one.name])
    ]
    return (cells or Cells()).run("other methods", _one_method, tasks)["rows"]


def _one_method(source: Documents, data: str, documents: int, method: str, seed: int) -> list[dict[str, Any]]:
    start = _processor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 passes of NMF are what is compared
        labels = METHODS[method](source.counts, source.n_clusters, seed)
    seconds = _processor() - start
    return [{"data": data, "seed": seed, "method": method, **judged(source.truth, labels), "cpu_seconds": seconds}]


def _processor() -> float:
    """Seconds of processor time, with those of processes that were waited for."""
    return sum(os.times()[:4])


def judged(truth: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    """Accuracy, adjusted mutual information and adjusted Rand index with the categories."""
    found = (accuracy(truth, labels), adjusted_mutual_information(truth, labels), adjusted_rand(truth, labels))
    return dict(zip(MEASURES, found, strict=True))


def report_others(report: Report, rows: pd.DataFrame, ours: pd.DataFrame) -> None:
    """The others beside the default recipe."""
    mean = over_seeds(rows, ["data", "method"])
    own = ours[ours["recipe"] == "default"].assign(method=ours["stage"].map(OURS), seeds="0 to 0", repeats=1)
    both = pd.concat([mean, own[["data", "method", "seeds", "repeats", *MEASURES, "cpu_seconds"]]], ignore_index=True)
    both = both.sort_values(
        "data", kind="stable", key=lambda names: names.map({n: i for i, n in enumerate(mean["data"].unique())})
    )
    report.section("5. Other methods on the same counts")
    report.runs("others", rows)
    report.text(
        "All get the number of categories. Documents go to their largest topic (LDA, NMF). Seconds of one processor; an ensemble's are "
        "for all ten clusterings, with the process where it took part. The ensemble is the one of section 1. The nested stochastic "
        "block model (hSBM, Gerlach and others 2018) finds its own numbers of blocks: its level nearest to the categories is shown."
    )
    texts = {name: with_error(both, name) for name in MEASURES}
    shown = both[["data", "method"]].assign(**texts, **{"CPU-seconds": both["cpu_seconds"].round(1)})
    report.table(
        "others", both, "Accuracy, AMI and ARI with the categories; mean ± standard error over seeds.", shown=shown
    )
