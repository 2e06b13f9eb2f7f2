"""Consensus k-means. Its seed is not kept, so NumPy's global one is set."""

import numpy as np
from pyckmeans import CKmeans


def monti(inputs):
    X, k, runs = inputs["X"], int(inputs["k"]), int(inputs["runs"])

    def run(seed):
        np.random.seed(seed)  # noqa: NPY002 - the generator that it draws from
        model = CKmeans(k=k, n_rep=runs, p_samp=0.8, p_feat=1.0, random_state=seed)
        model.fit(X)
        return model.predict(X).cl

    return run
