"""What is measured of the clouds of Caruana et al. 2006: by α, how diverse, beside other methods, and of two labels at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture

from consilience import Ensemble, pairwise
from consilience.generation.plan import Plan
from consilience.generation.spaces import Spaces
from consilience.measures import accuracy
from papers.caruana2006.data import DataSet

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
SOURCES = {"before PCA": ("zipf",), "after PCA": ("pca",), "both": ("zipf", "pca"), "local minima": ("minima",)}
SAMPLE = 200  # clusterings of each source whose differences are averaged
LINKAGES = ("single", "complete", "average")
WIDTHS = (0, 8, 16, 24, 32)  # σ of the spectral similarity: the largest distance over 2 to the power of k / 8
RUNS = 5  # of the mixture; the best counts, as in the paper


def labels_of(found: pd.DataFrame) -> list[str]:
    """Names of the auxiliary labels that accuracies are there of."""
    return [str(name).removeprefix("accuracy:") for name in found if str(name).startswith("accuracy:")]


def nearest_alpha(weighted: pd.DataFrame) -> NDArray[np.int64]:
    """Which of `ALPHAS` is nearest to the one each clustering was made with."""
    return np.asarray(np.abs(weighted["alpha"].to_numpy()[:, None] - np.array(ALPHAS)).argmin(axis=1))


def by_alpha(where: dict[str, Any], found: pd.DataFrame) -> list[dict[str, Any]]:
    """Compactness and the best accuracy of weighted clusterings (before PCA) by the nearest α."""
    weighted = found[found["method"] == "zipf"]
    nearest, rows = nearest_alpha(weighted), []
    for label in labels_of(found):
        for i, alpha in enumerate(ALPHAS):
            some = weighted[nearest == i]
            if len(some):
                best = some[f"accuracy:{label}"].max()
                row = {
                    "label": label,
                    "alpha": alpha,
                    "clusterings": len(some),
                    "compactness": some["compactness"].mean(),
                }
                rows.append({**where, **row, "best": best})
    return rows


def diversity(where: dict[str, Any], made: Ensemble, found: pd.DataFrame) -> list[dict[str, Any]]:
    """The mean Cluster Difference of two clusterings of each source."""
    rows = []
    for source, methods in SOURCES.items():
        chosen = np.flatnonzero(found["method"].isin(methods))
        chosen = chosen[np.linspace(0, len(chosen) - 1, min(SAMPLE, len(chosen))).astype(int)]
        apart = np.asarray(pairwise(made[:, chosen], "cluster_difference", progress=False))
        spread = float(apart[np.triu_indices(len(chosen), 1)].mean())
        some = found["compactness"].iloc[np.flatnonzero(found["method"].isin(methods))]
        rows.append({**where, "source": source, "spread": spread, "widest": float(some.max() - some.min())})
    return rows


def two_labels(where: dict[str, Any], found: pd.DataFrame) -> list[dict[str, Any]]:
    """How the accuracies with two labels go together, over all clusterings and over the best tenth by either."""
    names = labels_of(found)
    if len(names) < 2:
        return []
    one, two = (found.loc[found["method"].isin(("zipf", "pca")), f"accuracy:{name}"] for name in names[:2])
    top = (one >= one.quantile(0.9)) | (two >= two.quantile(0.9))
    rest = {"labels": " and ".join(names[:2]), "correlation": one.corr(two), "correlation_top": one[top].corr(two[top])}
    return [{**where, **rest}]


def other_methods(where: dict[str, Any], source: DataSet, found: pd.DataFrame) -> list[dict[str, Any]]:
    """Best accuracies of hierarchical, mixture and spectral clustering beside the best of the cloud."""
    X, known = source.draw(where["seed"])
    made_as: dict[str, Any] = {"metric": source.metric, "standardize": source.standardize}
    columns = np.asarray(Spaces(X, Plan.checked(methods="zipf", n_clusters=2, **made_as)).columns, float)
    k, seed = source.n_clusters, where["seed"]
    tried = {
        f"{linkage} linkage": [AgglomerativeClustering(k, linkage=linkage).fit_predict(columns)] for linkage in LINKAGES
    }
    mixtures = [
        GaussianMixture(k, covariance_type="diag", max_iter=300, reg_covar=1e-3, random_state=RUNS * seed + run)
        for run in range(RUNS)
    ]
    tried["mixture"] = [model.fit_predict(columns) for model in mixtures]
    apart = pairwise_distances(columns)
    near = [np.exp(-((apart / (apart.max() / 2 ** (width / 8))) ** 2)) for width in WIDTHS]
    tried["spectral"] = [SpectralClustering(k, affinity="precomputed", random_state=seed).fit_predict(S) for S in near]
    rows = []
    for label, codes in known.items():
        best = {name: max(accuracy(codes, labels) for labels in answers) for name, answers in tried.items()}
        best["meta clustering"] = found.loc[found["method"].isin(("zipf", "pca")), f"accuracy:{label}"].max()
        rows += [{**where, "label": label, "method": name, "accuracy": value} for name, value in best.items()]
    return rows


def weighted_spectral(where: dict[str, Any], found: pd.DataFrame) -> list[dict[str, Any]]:
    """Weighted k-means beside weighted spectral clustering: best accuracy, and the most compact."""
    if not (found["method"] == "spectral").any():
        return []
    ways = {"k-means": found["method"].isin(("zipf", "pca")), "spectral": found["method"] == "spectral"}
    return [
        {
            **where,
            "label": label,
            "method": name,
            "clusterings": int(chosen.sum()),
            "best": found.loc[chosen, f"accuracy:{label}"].max(),
            "most_compact": found.loc[chosen, "compactness"].min(),
        }
        for label in labels_of(found)
        for name, chosen in ways.items()
    ]
