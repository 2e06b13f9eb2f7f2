"""Random streams: the only maker of generators.

A stream belongs to a seed, a purpose and a unit (a clustering, a chain, a restart). No two purposes share one, so that what one part
draws never depends on, or repeats, what another draws; and any unit's numbers can be drawn again alone.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

PURPOSES: dict[str, str] = {
    "agreement.cap_columns": "labels that one given clustering of the columns lacks",
    "agreement.cap_restart": "the seed of all searches of the process once it has begun again",
    "agreement.cap_rows": "labels that one given clustering of the rows lacks",
    "agreement.cap_search": "the seed of all searches of the process",
    "agreement.comraf": "the first labels of one node",
    "agreement.comraf_search": "the seed of all searches of the graph",
    "agreement.comraf_start": "the seed of one node's first search",
    "agreement.dataloom": "merges of one run",
    "agreement.dataloom_search": "the seed of the searches of one run",
    "agreement.dataloom_start": "the first clusters of one run",
    "agreement.grow": "splits of one clustering that suits one of the other side",
    "agreement.grow_search": "the seed of its searches",
    "agreement.mdc": "splits and merges of one run",
    "agreement.mdc_search": "the seed of the searches of one run",
    "alternatives.at_once": "one start of groupings that are looked for at once",
    "alternatives.at_once_half": "the seed of what one half of the objects makes of them",
    "alternatives.at_once_null": "the seed of what is found in one null data set",
    "alternatives.at_once_sample": "objects that starts are made on",
    "alternatives.bottleneck": "the annealed start of the base clusterer",
    "alternatives.bottleneck_search": "the seed of the base clusterer's search",
    "alternatives.bottleneck_start": "the seed of the base clusterer's random start",
    "alternatives.ccib": "the annealed start of one run",
    "alternatives.ccib_search": "the seed of the searches of one run",
    "alternatives.ccib_combine": "the seed of the combination of the splits",
    "alternatives.condens": "the seed of the combination of the splits",
    "alternatives.conditional": "the run of the base in one group",
    "alternatives.halves": "which half an object belongs to",
    "alternatives.multinomial": "starts of the mixture",
    "alternatives.null": "one Gaussian null data set",
    "alternatives.run_halves": "the seed of the combination of one half of the runs",
    "alternatives.sequence": "the seed of one step of a sequence",
    "alternatives.splits": "the seed of the base in one group and run",
    "clusterer.consensus": "the seed of the consensus of an ensemble clusterer",
    "clusterer.members": "the seed of its clusterings",
    "clusterer.sample": "the objects of large data that it clusters",
    "consensus.anmi": "polishing of the starts of the search for average NMI",
    "consensus.bce": "Dirichlet draws of the likelihood",
    "consensus.bottleneck": "the annealed start of one restart",
    "consensus.chain": "the seed of one chain's kernel",
    "consensus.chain_start": "the first assignment of one chain",
    "consensus.confidence": "which pairs of clusterings the dependence is judged by",
    "consensus.cspa": "order of the rows",
    "consensus.dependence": "pairs and shuffles by which the dependence of clusterings is judged, and the seed of its consensus",
    "consensus.evidence": "rows that a tree of co-association is made of",
    "consensus.halves": "which half a clustering belongs to",
    "consensus.hyper": "slice sampling of one chain's parameters",
    "consensus.inits": "the seed of one start of a search over many kinds of starts",
    "consensus.partition": "order of the vertices",
    "consensus.polish": "the seed of the passes after the best start is chosen",
    "consensus.quick": "the seed of one quick consensus that a chain begins at",
    "consensus.repair": "which vertices move to balance parts",
    "consensus.rows": "rows that stand for all of them",
    "consensus.summary_child": "one partition made from others in the search for that of least loss",
    "consensus.summary_start": "the order in which one start of that search meets its items",
    "consensus.transfer_cut": "the start of Lanczos steps on the graph of clusters",
    "consensus.transfer_kmeans": "one start of k-means in the eigenvectors of a transfer cut",
    "consensus.variational_quick": "the seed of one quick consensus that a bound begins at",
    "consensus.variational_rows": "rows of the sample that bounds begin on",
    "consensus.variational_start": "one start of a bound",
    "consensus.resamples": "how often each clustering counts in one resample",
    "consensus.scale_halves": "the seed of the halves of one cloud's clusterings",
    "consensus.scale_null": "one cloud without clusters",
    "consensus.scale_runs": "the seed of its clusterings",
    "consensus.scale_sample": "objects by which the number of clusters is judged",
    "consensus.vote": "rows that the vote begins on",
    "datasets.beads": "the sample of beads",
    "datasets.customers": "the table of customers",
    "datasets.gaussians": "Gaussian clusters",
    "datasets.multinomials": "counts with two independent groupings",
    "explorer.components": "the start of principal components",
    "explorer.embedding": "the seed of t-SNE or UMAP",
    "explorer.more_like": "the seed of one chunk of clusterings like one that is shown",
    "explorer.plane": "clusterings that the plane of labels is made of",
    "generation.block_sample": "rows of row blocks that are clustered",
    "generation.density": "which clusters of one density tree are taken",
    "generation.draw": "what one clustering is asked to be",
    "generation.embedded": "objects by which the centers of one landmark clustering are found",
    "generation.even": "where a sequence that spreads evenly begins",
    "generation.filling": "which filling of missing cells a clustering is made on",
    "generation.landmark_clusters": "the seed of k-means in its eigenvectors",
    "generation.landmarks": "objects that its landmarks are made of",
    "generation.metrics": "metric and width of one clustering",
    "generation.neighbors": "objects that stand for the others where a clustering has no means",
    "generation.objects": "the objects of one subsample",
    "generation.resolution": "where between two numbers of clusters the resolution of one clustering aims",
    "generation.run": "the clusterer's own stream",
    "generation.vary": "weights of one variation",
    "information.search": "order and noise of one search",
    "information.starts": "starts of one restart of the engine",
    "measures.sample": "the one sample of objects that scores of large data are computed on",
    "meta.classical": "the start of classical scaling",
    "meta.null": "one shuffle of the groups",
    "consensus.sample": "objects that a tree of a group is built on",
    "meta.pairs": "pairs of objects of a sketch",
    "reports.objects": "objects that a picture shows",
    "tables.donors": "rows that missing cells are filled from",
    "tables.filling": "one filling of the missing cells of a table",
    "scenarios": "the known clusters of a scenario",
    "scenarios.views": "one clustering of a scenario",
}


def _key(purpose: str) -> tuple[int, int]:
    if purpose not in PURPOSES:
        raise KeyError(
            f"{purpose!r} is not a purpose of a random stream: enter it in PURPOSES (consilience/_run/random.py)"
        )
    digest = hashlib.sha256(purpose.encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")


def _sequence(seed: int, purpose: str, unit: tuple[int, ...]) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(*_key(purpose), *unit))


def stream(seed: int, purpose: str, *unit: int) -> np.random.Generator:
    """The generator of a seed, a purpose of :data:`PURPOSES` and a unit."""
    return np.random.default_rng(_sequence(seed, purpose, unit))


@lru_cache(maxsize=1024)
def child_seed(seed: int, purpose: str, *unit: int) -> int:
    """A 63-bit seed for what makes its own streams: a kernel, an estimator inside another."""
    return int(_sequence(seed, purpose, unit).generate_state(1, np.uint64)[0] >> np.uint64(1))


def fresh_seed() -> int:
    """A seed from the system's entropy."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
