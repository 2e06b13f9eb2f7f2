"""Consensus k-means of cells from principal components."""

import anndata
import numpy as np
import sc3s


def cells(inputs):
    X, k = inputs["X"], int(inputs["k"])

    def run(seed):
        adata = anndata.AnnData(X.astype(np.float32))
        adata.obsm["X_pca"] = X
        sc3s.tl.consensus(adata, n_clusters=[k], random_state=seed)
        return adata.obs[f"sc3s_{k}"].astype(int).to_numpy()

    return run
