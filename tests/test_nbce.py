"""NBCE as an estimator: what it finds, what it says of new rows, and what it refuses."""

from functools import partial

import numpy as np
import pytest
from scipy.special import logsumexp

from consilience._check import InputError
from consilience.consensus import NBCE
from consilience.datasets import noisy_labels
from consilience.measures import nmi
from samples import noisy_copies

INFERENCE = ["gibbs", "vb", "cvb", "cvb2"]
every_inference = pytest.mark.parametrize("inference", INFERENCE)
both_priors = pytest.mark.parametrize("prior", ["tsb", "fsd"])
QUICK = {"max_iter": 80, "n_chains": 2, "n_init": 2, "n_components": 20, "random_state": 0}
some_copies = partial(noisy_copies, n=150, k=5, r=8, noise=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "bar", "most"), [(0, 1, 10), (0.1, 0.98, 12), (0.3, 0.94, 13)])
def test_controlled_noise(noise, bar, most):
    """n = 400, k = 10, r = 8: three seeds with the defaults; the planted clusters exactly where there is no noise."""
    values = []
    for seed in range(3):
        labels, truth = noisy_labels(noise=noise, random_state=seed)
        found = NBCE(random_state=0).fit(labels)
        assert 10 <= found.n_clusters_ <= most
        values.append(nmi(truth, found.labels_))
    assert np.mean(values) >= bar - 1e-12


@every_inference
@both_priors
def test_every_inference_and_prior_finds_what_is_planted(inference, prior):
    labels, truth = some_copies()
    found = NBCE(inference=inference, prior=prior, **QUICK).fit(labels)
    assert nmi(truth, found.labels_) > 0.97
    assert 5 <= found.n_clusters_ <= 6
    np.testing.assert_allclose(found.membership_.sum(axis=1), 1)
    assert np.mean(found.confidence_ > 0.9) > 0.9
    assert np.mean(found.predict(labels) == found.labels_) > 0.98
    assert 1 <= found.perplexity(labels) < 5
    assert found.alpha_ > 0
    assert found.beta_ > 0


@every_inference
@both_priors
def test_the_probabilities_of_all_rows_sum_to_one(inference, prior):
    labels, _ = some_copies(n=60, k=3, r=3, noise=0.3)
    found = NBCE(inference=inference, prior=prior, **QUICK).fit(labels)
    rows = np.array(np.meshgrid(*[range(3)] * 3)).reshape(3, -1).T
    assert logsumexp(found._log_rows(rows.astype(np.int32))) == pytest.approx(0, abs=1e-9)
    part = rows.astype(np.int32)
    part[:, 2] = -1  # the marginal of two clusterings
    part = np.unique(part, axis=0)
    assert logsumexp(found._log_rows(part)) == pytest.approx(0, abs=1e-9)
    rest = 2 * np.log1p(1 / 60)  # of labels that fitting never saw
    assert found.score(part) == pytest.approx(found._log_rows(part).mean() - rest)


def test_seeds_threads_and_chains():
    labels, _ = some_copies(noise=0.4)
    one, two = (NBCE(**QUICK | {"n_jobs": jobs, "n_chains": 3}).fit(labels) for jobs in (1, 2))
    assert one.labels_.tolist() == two.labels_.tolist()
    assert one.trace_.equals(two.trace_)
    alone = NBCE(**QUICK | {"n_chains": 1}).fit(labels)
    first = one.trace_[one.trace_["chain"] == 0]
    assert alone.trace_["log_joint"].tolist() == first["log_joint"].tolist()  # a chain does not depend on the others
    starts = (NBCE(inference="vb", **QUICK | {"n_jobs": jobs}).fit(labels).labels_.tolist() for jobs in (1, 2))
    assert len({tuple(labels) for labels in starts}) == 1


def test_what_chains_say_of_themselves():
    labels, _ = some_copies()
    found = NBCE(**QUICK | {"max_iter": 200}).fit(labels)
    assert list(found.convergence_.index) == ["log_joint", "n_clusters"]
    assert found.convergence_["r_hat"].max() < 1.1
    assert found.n_clusters_posterior_.sum() == pytest.approx(1)
    assert found.n_clusters_posterior_.idxmax() in (5, 6)
    assert len(found.trace_) == 400
    assert len(found.chains_left_out_) == 0


def test_a_chain_that_has_not_arrived_is_left_out():
    labels, truth = noisy_labels(2000, 10, 8, noise=0.3, random_state=0)
    found = NBCE(max_iter=10, n_chains=4, random_state=0).fit(labels)
    assert set(found.chains_left_out_) - {1, 3} == set() != set(found.chains_left_out_)  # of those that began at random
    assert found.convergence_.loc["log_joint", "r_hat"] > 1.1  # and it shows
    assert nmi(truth, found.labels_) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("inference", ["gibbs", "vb"])
def test_rows_of_many_labels_that_fit_no_cluster_well(inference):
    """Of 1,500 labels, 60 % redrawn: an empty component is likelier than any cluster by more than e⁷⁰⁸."""
    model = NBCE(inference=inference, **QUICK | {"max_iter": 10, "n_components": 8})
    found = model.fit(noisy_copies(80, 4, 1500, 0.02)[0])
    assert found.n_clusters_ == 4
    assert found.predict(noisy_copies(80, 4, 1500, 0.6)[0]).tolist() == found.labels_.tolist()


@pytest.mark.parametrize("inference", ["gibbs", "vb"])
def test_merging_down_to_a_number(inference):
    labels, truth = some_copies(n=300, k=6, noise=0.2)
    for k in (2, 4, 6):
        found = NBCE(k, inference=inference, **QUICK).fit(labels)
        assert found.n_clusters_ == k
        assert found.membership_.shape == (300, k)
        assert found.predict_proba(labels).shape == (300, k)
    assert nmi(truth, found.labels_) > 0.97


def test_outliers_are_clusters_of_one():
    labels, _ = some_copies(n=100, k=2, r=10, noise=0.05)
    odd = np.arange(2, 12)  # labels of its own in every clustering
    labels = np.vstack([labels, odd])
    found = NBCE(**QUICK | {"max_iter": 200}).fit(labels)
    assert found.outliers_.tolist() == [100]
    assert found.n_clusters_ == 3
    assert found.n_singletons_.mean() > 0.5


@pytest.mark.slow
def test_many_rows_are_fitted_in_blocks_from_a_sample(monkeypatch):
    labels, truth = some_copies(n=800, noise=0.3)
    monkeypatch.setattr("consilience.consensus.bayes.bounds.SAMPLE", 300)
    plain = NBCE(inference="cvb", **QUICK).fit(labels)
    monkeypatch.setattr("consilience.consensus.bayes.bounds.BLOCK", 200)
    blocks = NBCE(inference="cvb", **QUICK).fit(labels)
    assert blocks.labels_.tolist() == plain.labels_.tolist()
    np.testing.assert_allclose(blocks.history_, plain.history_, rtol=1e-9)
    assert nmi(truth, plain.labels_) > 0.9


@pytest.mark.parametrize("weight", [0.5, 1e12])
def test_sampling_refuses_fractions_of_objects_and_more_than_it_can_draw(weight):
    with pytest.raises(InputError, match="use inference='vb'"):
        NBCE().fit([[0, 0, 1, 1], [0, 1, 1, 1]], sample_weight=[weight, 1, 1, 1])


@every_inference
@pytest.mark.parametrize("beta", [1e-60, 1e-300])
def test_a_beta_next_to_nothing(inference, beta):
    labels, _ = some_copies()
    found = NBCE(inference=inference, beta=beta, **QUICK).fit(labels)
    assert np.isfinite(found.membership_).all()


@every_inference
def test_one_component_is_one_cluster(inference):
    found = NBCE(inference=inference, **QUICK | {"n_components": 1}).fit(some_copies()[0])
    assert found.n_clusters_ == 1
    assert found.confidence_.min() == 1


@pytest.mark.parametrize("noise", [0, 0.3])
@pytest.mark.parametrize(("n", "k", "r"), [(400, 10, 8), (2000, 4, 5)])
def test_copies_with_independent_errors_count_in_full(n, k, r, noise):
    model = NBCE(inference="vb", n_init=1, max_iter=2, random_state=0)
    assert 0.75 < model.fit(noisy_labels(n, k, r, noise, random_state=1)[0]).power_ <= 1


def repeated(n=600, r=12, seed=0):
    """Cuts of a line into 3 to 14 pieces, each object a little off: dependent, and with no grouping behind them."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    cuts = [np.sort(rng.random(rng.integers(2, 14))) for _ in range(r)]
    return np.column_stack([np.searchsorted(c, x + rng.normal(0, 0.01, n)) for c in cuts])


@pytest.mark.slow
def test_clusterings_that_repeat_each_other_are_discounted():
    labels = repeated()
    full, found = (NBCE(power=power, **QUICK | {"n_components": 100}).fit(labels) for power in (1.0, "auto"))
    assert found.power_ * 12 < 3
    assert full.power_ == 1
    assert found.n_clusters_ < full.n_clusters_ / 2


def test_given_hyperparameters_stay():
    found = NBCE(alpha=0.5, beta=0.2, **QUICK).fit(some_copies()[0])
    assert set(found.trace_["alpha"]) == {0.5}
    assert set(found.trace_["beta"]) == {0.2}
