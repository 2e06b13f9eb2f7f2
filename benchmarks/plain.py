"""LWGP and LWEA as they are published, in a few lines each: what a user would write without a library.

D. Huang, C.-D. Wang and J.-H. Lai, Locally weighted ensemble clustering, IEEE Trans. Cybernetics 48(5), 2018. Labels are an
objects × clusterings array without missing labels.
"""

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans

THETA = 0.4


def clusters_of(labels):
    """Objects × clusters of all clusterings, 1 for a member."""
    columns = [np.unique(column, return_inverse=True)[1] for column in labels.T]
    first = np.cumsum([0] + [column.max() + 1 for column in columns])
    at = np.concatenate([column + begin for column, begin in zip(columns, first[:-1], strict=True)])
    objects = np.tile(np.arange(len(labels)), labels.shape[1])
    return sparse.csr_matrix((np.ones(len(at)), (objects, at)), shape=(len(labels), first[-1]))


def cluster_weights(members, n_clusterings):
    """exp(−H / (θ M)), H the entropy, in bits, of all clusterings' labels within a cluster."""
    overlap = (members.T @ members).toarray()
    share = overlap / overlap.diagonal()[:, None]
    entropy = -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=1)
    return np.exp(-entropy / (THETA * n_clusterings))


def lwea(labels, k):
    """Average linkage of the weighted co-association, n × n."""
    members = clusters_of(labels)
    weighted = members.multiply(cluster_weights(members, labels.shape[1])).tocsr()
    distance = 1 - (weighted @ members.T).toarray() / labels.shape[1]
    np.fill_diagonal(distance, 0)
    return fcluster(linkage(squareform(distance, checks=False), "average"), k, "maxclust")


def lwgp(labels, k):
    """Transfer cut of the graph of objects and weighted clusters, then k-means of the objects' rows."""
    members = clusters_of(labels)
    weighted = members.multiply(cluster_weights(members, labels.shape[1])).tocsr()
    walk = sparse.diags(1 / np.asarray(weighted.sum(axis=1)).ravel()) @ weighted
    between = (weighted.T @ walk).toarray()
    scale = 1 / np.sqrt(between.sum(axis=1))
    vectors = np.linalg.eigh(between * scale[:, None] * scale)[1][:, : -k - 1 : -1]
    places = walk @ (vectors * scale[:, None])
    places /= np.maximum(np.linalg.norm(places, axis=1, keepdims=True), 1e-12)
    return KMeans(k, n_init=3, random_state=0).fit_predict(places)
