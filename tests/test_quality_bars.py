"""How well the methods recover what is planted: the bars they are held to, as means over seeds.

Controlled noise is one experiment: 400 objects in 10 clusters, 8 clusterings with a share of their labels replaced at
random. Seeds count from 0: twenty, five where a run takes long (CSPA, distributed data), eight for the choice of a method.
"""

import numpy as np
import pytest

from consilience.consensus import combine
from consilience.datasets import noisy_labels
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.measures import nmi
from papers.strehl2002.scenarios import feature_distributed, object_distributed

pytestmark = pytest.mark.slow
NOISE = {0.1: 0.99, 0.2: 0.99, 0.3: 0.97, 0.4: 0.94, 0.5: 0.83, 0.6: 0.68, 0.7: 0.37}
TWENTY, EIGHT, FIVE = range(20), range(8), range(5)
GOOD = "walk", "vote", "mcla", "quadratic", "hbgf"


def mean_nmi(method, k, cases):
    return np.mean([nmi(truth, combine(ensemble, k, method, random_state=0).labels) for ensemble, truth in cases])


def controlled(noise, seeds, sizes=None):
    return [noisy_labels(noise=noise, sizes=sizes, random_state=seed) for seed in seeds]


@pytest.mark.parametrize(
    ("method", "seeds", "noise"),
    [(method, TWENTY, noise) for method in ("mcla", "vote") for noise in NOISE]
    + [
        (method, seeds, p)
        for method, seeds in (("cspa", FIVE), ("hbgf", FIVE), ("quadratic", TWENTY))
        for p in (0.3, 0.5)
    ],
)
def test_controlled_noise(method, seeds, noise):
    assert mean_nmi(method, 10, controlled(noise, seeds)) >= NOISE[noise]


@pytest.mark.parametrize("method", ["mcla", "vote"])
def test_unequal_clusters(method):
    assert mean_nmi(method, 10, controlled(0.3, TWENTY, sizes=0.7)) >= 0.96


@pytest.mark.parametrize("method", ["mcla", "evidence"])
@pytest.mark.parametrize("coverage", [1.1, 1.5])
def test_parts_of_the_objects(method, coverage):
    cases = []
    for seed in FIVE:
        X, truth = gaussians_8d5k(random_state=seed)
        cases.append((object_distributed(X, 5, coverage=coverage, random_state=seed), truth))
    assert mean_nmi(method, 5, cases) >= 0.94


def test_parts_of_the_features():
    cases, views = [], []
    for seed in FIVE:
        X, truth = gaussians_8d5k(random_state=seed)
        ensemble = feature_distributed(X, 5, random_state=seed)
        cases.append((ensemble, truth))
        views.append(max(nmi(truth, column) for column in ensemble.labels.T))
    assert max(mean_nmi(method, 5, cases) for method in GOOD) >= np.mean(views) + 0.10


@pytest.mark.parametrize("noise", [0.3, 0.5, 0.7])
def test_the_choice_is_near_the_best_method(noise):
    cases = controlled(noise, EIGHT)
    best = max(mean_nmi(method, 10, cases) for method in GOOD)
    assert mean_nmi("auto", 10, cases) >= best - 0.03
