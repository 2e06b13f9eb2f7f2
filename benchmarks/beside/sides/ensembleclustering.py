"""CSPA, HGPA, MCLA, HBGF and NMF of labels."""

import ensembleclustering


def solver(name):
    def side(inputs):
        labels, k = inputs["labels"].T.astype(float), int(inputs["k"])
        return lambda seed: ensembleclustering.cluster_ensembles(labels, nclass=k, solver=name, random_state=seed)

    return side


cspa, hgpa, mcla, hbgf, nmf = (solver(name) for name in ("cspa", "hgpa", "mcla", "hbgf", "nmf"))
