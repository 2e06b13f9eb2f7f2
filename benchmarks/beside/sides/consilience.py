"""Our side of every task: public calls, one thread."""

import numpy as np
from scipy import sparse

import consilience as cs
from consilience.agreement import DataLoom
from consilience.alternatives import CountBottleneck, alternatives
from consilience.alternatives.at_once import find_at_once
from consilience.consensus import METHODS
from consilience.consensus.rows.problem import check_problem
from consilience.measures import element_consistency as consistency_of


def combine(method):
    """Labels with a confidence and a support for every object."""

    def side(inputs):
        labels, k = inputs["labels"], int(inputs["k"])
        return lambda seed: cs.combine(labels, k, method, random_state=seed, n_jobs=1, progress=False).labels

    return side


auto, mcla, hbgf, hgpa, cspa, evidence, lwea, lwgp, quadratic, vote, dawid_skene = (
    combine(method)
    for method in (
        "auto",
        "mcla",
        "hbgf",
        "hgpa",
        "cspa",
        "evidence",
        "lwea",
        "lwgp",
        "quadratic",
        "vote",
        "dawid_skene",
    )
)


def labels_alone(method):
    """Without the confidence and support of every object: what a profile of `combine` calls the method."""

    def side(inputs):
        labels, k = inputs["labels"], int(inputs["k"])

        def run(seed):
            problem = check_problem(cs.Ensemble(labels), k, None)
            return problem.to_objects(METHODS[method](k, random_state=seed)._answer(problem)[1], -1)

        return run

    return side


lwea_labels, lwgp_labels, evidence_labels, dawid_skene_labels, hgpa_labels, walk_labels = (
    labels_alone(method) for method in ("lwea", "lwgp", "evidence", "dawid_skene", "hgpa", "walk")
)


def pairs(measure):
    return lambda inputs: lambda seed: cs.pairwise(cs.Ensemble(inputs["labels"]), measure)


adjusted_rand, nmi, ami, element_centric = (
    pairs(measure) for measure in ("adjusted_rand", "nmi", "adjusted_mutual_information", "element_centric")
)


def element_consistency(inputs):
    return lambda seed: consistency_of(cs.Ensemble(inputs["labels"]))


def kmeans_runs(inputs):
    how = {"methods": "minima", "standardize": False, "n_jobs": 1, "progress": False}
    X, k, runs = inputs["X"], int(inputs["k"]), int(inputs["runs"])
    return lambda seed: cs.generate(X, runs, k, random_state=seed, **how).labels


def monti(inputs):
    """K-means of 80 % of the objects, then average linkage of the co-association."""
    how = {"methods": "objects", "standardize": False, "n_jobs": 1, "progress": False}
    X, k, runs = inputs["X"], int(inputs["k"]), int(inputs["runs"])

    def run(seed):
        ensemble = cs.generate(X, runs, k, random_state=seed, **how)
        return cs.combine(ensemble, k, "evidence", n_jobs=1, progress=False).labels

    return run


def monti_every_number(inputs):
    """As often as there are numbers of clusters from 2 to k; the answer is that of k."""
    k = int(inputs["k"])
    each = [monti({**inputs, "k": number}) for number in range(2, k + 1)]
    return lambda seed: [one(seed) for one in each][-1]


def cells(inputs):
    """Twenty clusterings of the kind that `generate` takes for the table, and `combine`, as it comes."""
    how = {"methods": "auto", "standardize": False, "n_jobs": 1, "progress": False}
    X, k = inputs["X"], int(inputs["k"])

    def run(seed):
        return cs.combine(cs.generate(X, 20, k, random_state=seed, **how), k, n_jobs=1, progress=False).labels

    return run


def counts(inputs):
    shape = tuple(inputs["shape"])
    return sparse.csr_matrix((inputs["data"], inputs["indices"], inputs["indptr"]), shape=shape)


def bottleneck(inputs):
    table, k = counts(inputs), int(inputs["k"])
    return lambda seed: CountBottleneck(k, random_state=seed).fit(table).labels_


def co_clustering(inputs):
    table, k = counts(inputs), int(inputs["k"])
    return lambda seed: DataLoom(k, random_state=seed).fit(table).row_labels_


def at_once(inputs):
    """Those that pass its tests; the others count as one cluster."""
    X, numbers = inputs["X"], inputs["numbers"].tolist()

    def run(seed):
        found = alternatives(
            X, len(numbers), n_clusters=numbers, at_once=True, random_state=seed, n_jobs=1, progress=False
        )
        return np.zeros((len(X), 1), int) if found.ensemble is None else found.labels

    return run


def at_once_search(inputs):
    """What the peer does: the best of many starts, untested."""
    X, numbers = inputs["X"], inputs["numbers"].tolist()
    return lambda seed: find_at_once(X, numbers, seed=seed).labels
