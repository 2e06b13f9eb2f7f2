"""What scikit-learn has: k-means, scores of a pair, linkage, co-clustering, density, mixtures. Loops are what a user would write."""

import numpy as np
from scipy import sparse
from sklearn import metrics
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralCoclustering
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import OneHotEncoder


def kmeans_of_labels(inputs):
    """The usual recipe for a consensus: one-hot labels and k-means of five starts."""
    labels, k = inputs["labels"], int(inputs["k"])
    return lambda seed: KMeans(k, n_init=5, random_state=seed).fit_predict(
        OneHotEncoder(dtype=np.float32).fit_transform(labels)
    )


def linkage_of_labels(inputs):
    """Evidence accumulation as it is usually written: the n × n co-association, then average linkage."""
    labels, k = inputs["labels"], int(inputs["k"])

    def run(seed):
        shared = sum((column[:, None] == column).astype(np.float32) for column in labels.T) / labels.shape[1]
        return AgglomerativeClustering(k, metric="precomputed", linkage="average").fit_predict(1 - shared)

    return run


def pairs(score):
    def side(inputs):
        columns = list(inputs["labels"].T)

        def run(seed):
            matrix = np.eye(len(columns))
            for i, one in enumerate(columns):
                for j in range(i):
                    matrix[i, j] = matrix[j, i] = score(one, columns[j])
            return matrix

        return run

    return side


adjusted_rand, nmi, ami = (
    pairs(score)
    for score in (
        metrics.adjusted_rand_score,
        lambda a, b: metrics.normalized_mutual_info_score(a, b, average_method="geometric"),
        metrics.adjusted_mutual_info_score,
    )
)


def kmeans_runs(inputs):
    X, k, runs = inputs["X"], int(inputs["k"]), int(inputs["runs"])
    return lambda seed: np.column_stack(
        [KMeans(k, init="random", n_init=1, random_state=1000 * seed + run).fit_predict(X) for run in range(runs)]
    )


def counts(inputs):
    shape = tuple(inputs["shape"])
    return sparse.csr_matrix((inputs["data"], inputs["indices"], inputs["indptr"]), shape=shape)


def spectral_coclustering(inputs):
    table, k = counts(inputs).astype(float), int(inputs["k"])
    return lambda seed: SpectralCoclustering(k, random_state=seed).fit(table).row_labels_


def hdbscan(inputs):
    """Every table, clusters of a fiftieth of the objects or more, at least five."""
    return lambda seed: np.concatenate(
        [HDBSCAN(min_cluster_size=max(5, len(X) // 50), copy=True).fit_predict(X) for X in inputs.values()]
    )


def mixture(inputs):
    """Every table, Gaussians with full covariances, the number with the least BIC; none is tried after five that were no better."""

    def best(X, seed):
        least, kept, at = np.inf, None, 1
        for k in range(1, min(max(10, int(len(X) ** 0.5)), 60) + 1):
            fitted = GaussianMixture(k, random_state=seed).fit(X)
            bic = fitted.bic(X)
            if bic < least:
                least, kept, at = bic, fitted, k
            elif k >= at + 5:
                break
        return kept.predict(X)

    return lambda seed: np.concatenate([best(X, seed) for X in inputs.values()])
