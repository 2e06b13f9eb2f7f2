"""Kinds of clustering that fail differently, and what they say of a number of clusters."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.mixture import GaussianMixture

import consilience as cs
from consilience.consensus.how_many.voices import confirmed, consensus_at, find_voices, likeness, nearest_kind
from consilience.consensus.rows.problem import check_problem
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.generation.kinds import Halves, best_mixture, kinds_of, numbers_for
from consilience.measures import adjusted_rand


@pytest.fixture(scope="module")
def blobs():
    X, known = gaussians_8d5k(300, random_state=0)
    scalings = {"standardized": (X - X.mean(axis=0)) / X.std(axis=0)}
    kinds = kinds_of(scalings, numbers_for(300)), Halves(scalings)
    return X, known, kinds, consensus_at(check_problem(cs.generate(X, 20, (2, 15), random_state=0)), numbers_for(300))


def test_kinds_at_every_number(blobs):
    X, known, (kinds, _), _ = blobs
    table = kinds.info[~kinds.info["own"]].groupby("method")["n_clusters"].apply(list)
    assert set(table.index) == {"average", "genie", "means"}
    assert all(numbers == list(range(2, 18)) for numbers in table)
    assert dict(kinds.info.loc[kinds.info["own"], ["method", "n_clusters"]].values) == {"density": 5, "mixture": 5}
    for j in np.flatnonzero((kinds.info["n_clusters"] == 5) & (kinds.info["method"] != "density")):
        assert adjusted_rand(kinds.labels[:, j], known) > 0.95
    bic = {
        (shape, k): GaussianMixture(k, covariance_type=shape, random_state=0).fit(X).bic(X)
        for shape in ("full", "diag", "spherical")
        for k in range(1, 8)
    }
    starts = {1: np.zeros(300, int)} | {k: GaussianMixture(k, random_state=0).fit_predict(X) for k in range(2, 8)}
    assert best_mixture(X, starts).max() + 1 == min(bic, key=bic.get)[1]


def test_halves_are_clustered_as_whole_tables_are(blobs):
    X, _, (_, halves), _ = blobs
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for kind in ("average", "genie", "means"):
        (some, labels), (others, _) = halves.partitions(kind, "standardized", 4)
        assert np.array_equal(np.sort(np.concatenate([some, others])), np.arange(300))
        alone = kinds_of({"standardized": X[some]}, np.array([4]))
        assert adjusted_rand(labels, alone.labels[:, alone.info["method"] == kind].ravel()) == 1
    assert not list(halves.partitions("average", "standardized", 75))


def test_the_number_of_voices_is_as_defined(blobs):
    _, known, (kinds, halves), consensus = blobs
    found = find_voices(kinds, consensus, halves)
    assert (found.n_clusters, found.voices, found.doubt, found.trust) == (5, 7, "", 1 - 2**-5)
    assert adjusted_rand(consensus[5], known) > 0.95
    for labels in kinds.labels[:, kinds.info["n_clusters"] == 5].T:
        joint = pd.crosstab(consensus[5][labels >= 0], labels[labels >= 0]).to_numpy()
        jaccard = joint / (joint.sum(1)[:, None] + joint.sum(0) - joint)
        assert likeness(consensus[5], labels).min() == pytest.approx(jaccard[linear_sum_assignment(-jaccard)].min())


def test_without_agreement_there_is_a_doubt_and_noise_only_confirms():
    rng = np.random.default_rng(0)
    info = pd.DataFrame(
        {"method": ["average", "genie", "density"], "scaling": "", "n_clusters": 3, "own": [False, False, True]}
    )
    halves = Halves({"": rng.uniform(size=(90, 2))})
    kinds = cs.Ensemble.from_codes(rng.integers(0, 3, (90, 3)).astype(np.int32), info=info)
    found = find_voices(kinds, {}, halves)
    assert (found.voices, found.trust) == (1, 0)
    assert "too few kinds" in found.doubt
    one = np.repeat([0, 1, 2], 30).astype(np.int32)
    two = cs.Ensemble.from_codes(np.column_stack([one, (one + 1) % 3, np.where(np.arange(90) % 9, one, -1)]), info=info)
    assert find_voices(two, {}, halves).voices == 3
    assert find_voices(two, {}, Halves({"": one[:, None] + rng.normal(scale=0.01, size=(90, 1))})).voices == 4
    assert confirmed(two, 3)[0] == "average and genie"
    assert confirmed(kinds, 3) is None
    near = nearest_kind(one, 3, two)
    assert (near.doubt, near.share, near.jaccard.tolist()) == ("", 1, [1, 1, 1])
    assert "these 3 clusters (" in nearest_kind(one, 3, kinds).doubt
    assert nearest_kind(one, 4, two) is None
