"""The sequential information bottleneck of IBM, one start."""

from scipy import sparse
from sib import SIB


def bottleneck(inputs):
    shape = tuple(inputs["shape"])
    table = sparse.csr_matrix((inputs["data"], inputs["indices"], inputs["indptr"]), shape=shape)
    k = int(inputs["k"])
    return lambda seed: SIB(n_clusters=k, n_init=1, n_jobs=1, random_state=seed).fit(table).labels_
