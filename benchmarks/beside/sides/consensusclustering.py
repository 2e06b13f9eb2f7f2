"""Monti's consensus matrix of resampled k-means; its labels are those of average linkage."""

import numpy as np
from consensusclustering import ConsensusClustering
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans


def monti(inputs):
    X, k, runs = inputs["X"], int(inputs["k"]), int(inputs["runs"])

    def run(seed):
        np.random.seed(seed)  # noqa: NPY002 - the generator that it draws from
        model = ConsensusClustering(
            clustering_obj=KMeans(n_init=1, random_state=seed),
            min_clusters=k,
            max_clusters=k,
            n_resamples=runs,
            resample_frac=0.8,
        )
        model.fit(X, n_jobs=1, progress_bar=False)
        distance = 1 - model.consensus_k(k)
        np.fill_diagonal(distance, 0)
        return fcluster(linkage(squareform(distance, checks=False), "average"), k, "maxclust")

    return run
