"""NBCE: what it finds and refuses; its sampler against full enumeration; one partition from many samples; the diagnostics of chains;
variational inference: fixed points, a bound that never falls, weights, and parts that live apart."""

from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from consilience import _kernels
from consilience.consensus import NBCE
from consilience.consensus.bayes import gibbs_chains
from consilience.consensus.bayes import model as bayes
from consilience.consensus.bayes import variational as vb
from consilience.consensus.bayes.gibbs_chains import Draws, Sampler, effective_sample_size, r_hat
from consilience.consensus.methods.label_model import LabelRows
from consilience.consensus.samples.expected_loss import ExpectedLoss
from consilience.datasets import noisy_labels
from consilience.engine.annealing import soft_rows
from consilience.measures import nmi
from oracle import label_mixture as oracle
from oracle import label_models as models
from oracle import label_tables
from samples import every_partition, first_of, noisy_copies, random_labels, refuses

every_inference = pytest.mark.parametrize("inference", ["gibbs", "vb", "cvb", "cvb2"])
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
    assert np.mean(found.confidence_ > 0.9) > 0.9
    assert np.mean(found.predict(labels) == found.labels_) > 0.98
    assert min(found.alpha_, found.beta_) > 0


@every_inference
@both_priors
def test_the_probabilities_of_all_rows_sum_to_one(inference, prior):
    labels, _ = some_copies(n=60, k=3, r=3, noise=0.3)
    found = NBCE(inference=inference, prior=prior, **QUICK).fit(labels)
    rows = np.array(np.meshgrid(*[range(3)] * 3)).reshape(3, -1).T
    assert logsumexp(found._log_rows(rows.astype(np.int32))) == pytest.approx(0, abs=1e-9)
    part = np.unique(rows * [1, 1, 0] - [0, 0, 1], axis=0).astype(np.int32)  # the marginal of two clusterings
    assert logsumexp(found._log_rows(part)) == pytest.approx(0, abs=1e-9)


def test_the_predictive_of_samples_is_the_mean_over_them():
    labels, _ = some_copies(n=40, k=3, r=3, noise=0.3)
    found = NBCE(**QUICK).fit(labels)
    rows = labels[:5]
    each = []
    for sample in found.components_:
        sizes, table = sample.sizes, sample.table
        n, top = sizes.sum(), 1.0
        chance = np.zeros(5)
        for k in range(len(sizes)):
            behind = sizes[k + 1 :].sum()
            share = top * ((1 + sizes[k]) / (1 + sample.alpha + sizes[k] + behind) if k < len(sizes) - 1 else 1.0)
            top *= (sample.alpha + behind) / (1 + sample.alpha + sizes[k] + behind)
            counts = table[:, k].reshape(3, 3) if k < table.shape[1] else np.zeros((3, 3))
            cells = (sample.beta + counts) / (3 * sample.beta + counts.sum(axis=1, keepdims=True))
            chance += share * np.prod([cells[m, rows[:, m]] for m in range(3)], axis=0)
        each.append(chance)
        assert n == 40
    expected = np.log(np.mean(each, axis=0)).mean()
    assert found.score(rows) == pytest.approx(expected - 3 * np.log1p(1 / 40), abs=1e-10)


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
    for k in (2, 6):
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
    monkeypatch.setattr("consilience.consensus.bayes.variational.SAMPLE", 300)
    plain = NBCE(inference="cvb", **QUICK).fit(labels)
    monkeypatch.setattr("consilience.consensus.bayes.variational.BLOCK", 200)
    blocks = NBCE(inference="cvb", **QUICK).fit(labels)
    assert blocks.labels_.tolist() == plain.labels_.tolist()
    np.testing.assert_allclose(blocks.history_, plain.history_, rtol=1e-9)
    assert nmi(truth, plain.labels_) > 0.9


@pytest.mark.parametrize("weight", [0.5, 1e12])
def test_sampling_refuses_fractions_of_objects_and_more_than_it_can_draw(weight):
    refuses("use inference='vb'", NBCE().fit, [[0, 0, 1, 1], [0, 1, 1, 1]], sample_weight=[weight, 1, 1, 1])


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


SHAPES = [(n, widths, k) for n in range(1, 6) for widths in ((2,), (3,), (2, 3)) for k in (1, 2, 3)]


def rows_of(n, widths, seed, holes=0.2):
    return random_labels(seed, n, len(widths), widths, holes), np.concatenate([[0], np.cumsum(widths)])


def tables_of(labels, offsets, z, k):
    return label_tables(labels.T, offsets, z, k), np.bincount(z, minlength=k)


@both_priors
@pytest.mark.parametrize("power", first_of([0.35, 1.0]))
@pytest.mark.parametrize(("n", "widths", "k"), SHAPES)
def test_every_tiny_case_equals_enumeration(n, widths, k, prior, power):
    labels, offsets = rows_of(n, widths, seed=n + 10 * k)
    alpha, beta = 0.7, 0.3
    how = {"n_clusters": k, "prior": prior, "alpha": alpha, "beta": beta, "power": power}
    joint = oracle.posterior(labels, widths, k, prior, alpha, beta, power)
    whole = sum(np.exp(oracle.log_prior(np.array(z), k, prior, alpha)) for z in joint)
    assert whole == pytest.approx(1, abs=1e-12)
    for z, probability in joint.items():
        table, sizes = tables_of(labels, offsets, np.array(z), k)
        sampler, rng = Sampler(labels, offsets, prior, k, alpha=alpha, beta=beta, power=power), np.random.default_rng(0)
        step = sampler._step(sizes, table, alpha, beta, rng)
        assert step == pytest.approx((alpha, beta, np.log(probability)), abs=1e-10)
        found = _kernels.gibbs_conditionals(labels, offsets, np.array(z, np.int32), **how)
        np.testing.assert_allclose(found, oracle.conditionals(joint, z, k), atol=1e-10, rtol=0)


@both_priors
def test_one_more_object_is_what_the_joint_says(prior):
    labels, offsets = rows_of(4, (2, 3), seed=3, holes=0.0)
    z, k, alpha, beta = np.array([0, 0, 2, 0]), 4, 0.6, 0.2
    table, sizes = tables_of(labels, offsets, z, k)
    shares, cells = bayes.log_shares(sizes, alpha, prior), bayes.log_predictive(table, offsets, beta)
    assert np.exp(shares).sum() == pytest.approx(1, abs=1e-12)
    before = bayes.prior_curve(sizes, prior)(alpha) + bayes.labels_curve(table, offsets)(beta)
    for k_new, y0, y1 in product(range(k), range(2), range(3)):
        more, larger = tables_of(np.vstack([labels, [y0, y1]]), offsets, np.append(z, k_new), k)
        after = bayes.prior_curve(larger, prior)(alpha) + bayes.labels_curve(more, offsets)(beta)
        assert shares[k_new] + cells[y0, k_new] + cells[2 + y1, k_new] == pytest.approx(after - before, abs=1e-10)


@both_priors
@pytest.mark.parametrize("more", [{}, {"power": 0.4}, {"moves": 8}, {"power": 0.4, "moves": 8}])
def test_a_sweep_is_its_twin(prior, more):
    for seed in range(12):
        labels, offsets = rows_of(5, (2, 3), seed)
        k = 1 + seed % 4
        z = np.random.default_rng(seed).integers(0, k, 5).astype(np.int32)
        how = {"n_clusters": k, "prior": prior, "alpha": 1.5, "beta": 0.4, "seed": seed, "unit": 5, **more}
        expected = oracle.gibbs_sweep(labels, (2, 3), z, **how)
        table, sizes = _kernels.gibbs_sweep(labels, offsets, z, **how)
        assert z.tolist() == expected
        again, counts = tables_of(labels, offsets, z, k)
        assert table.tolist() == again.tolist()
        assert sizes.tolist() == counts.tolist()


def visits(labels, offsets, prior, *, sweeps, thin, **how):
    """How often a chain is in every partition."""
    sampler = Sampler(labels, offsets, prior, 3, alpha=0.7, beta=0.3, **how)
    seen = {}
    for t, (sample, _) in zip(range(sweeps), sampler.sweeps(np.zeros(len(labels), np.int32), seed=1), strict=False):
        if t >= 100 and t % thin == 0:
            found = oracle.partition(sample.clusters.tolist())
            seen[found] = seen.get(found, 0) + 1
    return seen


def chi_square(seen, labels, widths, prior, beta, power=1.0):
    """p-value of the visits under the enumerated posterior; partitions that are too rare are taken together."""
    expected = {}
    for z, probability in oracle.posterior(labels, widths, 3, prior, 0.7, beta, power).items():
        expected[oracle.partition(z)] = expected.get(oracle.partition(z), 0.0) + probability
    counts = np.array([seen.get(found, 0) for found in expected])
    wanted = np.array(list(expected.values())) / sum(expected.values()) * counts.sum()
    rare = wanted < 5
    observed, wanted = (np.append(x[~rare], x[rare].sum()) for x in (counts, wanted))
    return stats.chisquare(observed[wanted > 0], wanted[wanted > 0]).pvalue


@both_priors
@pytest.mark.parametrize("power", first_of([1.0, 0.5]))
def test_chains_with_moves_visit_partitions_as_often_as_they_should(prior, power):
    labels, offsets = rows_of(5, (2, 3), seed=5)
    seen = visits(labels, offsets, prior, sweeps=16_000, thin=4, n_moves=3, power=power)
    assert chi_square(seen, labels, (2, 3), prior, beta=0.3, power=power) > 1e-3
    assert chi_square(seen, labels, (2, 3), prior, beta=0.3, power=1.5 * power) < 1e-6  # the test can fail


def test_moves_cross_where_single_objects_cannot():
    """Two groups of 60, alike in 40 clusterings, that begin as one cluster: a new one of a single object hardly ever opens."""
    labels = np.repeat(np.array([[0] * 40, [1] * 40], np.int32), 60, axis=0)
    counts = {}
    for n_moves in (0, 10):
        sampler = Sampler(labels, np.arange(0, 82, 2), "tsb", 20, alpha=1e-6, beta=2.0, n_moves=n_moves)
        sweeps = zip(range(10), sampler.sweeps(np.zeros(120, np.int32), seed=0), strict=False)
        counts[n_moves] = [np.count_nonzero(sample.sizes) for _, (sample, _) in sweeps][-1]
    assert counts == {0: 1, 10: 2}


def test_slice_samples_have_the_density():
    rng = np.random.default_rng(0)
    value, found = 1.0, []
    for _ in range(20_000):
        value = bayes.slice_step(value, lambda x: 2 * np.log(x) - 2 * x, rng)
        found.append(value)
    assert stats.kstest(found[::10], stats.gamma(3, scale=0.5).cdf).pvalue > 1e-3
    assert stats.kstest(found[::10], stats.gamma(2.7, scale=0.5).cdf).pvalue < 1e-6  # the test can fail


@both_priors
def test_newton_finds_the_largest_value(prior):
    rng = np.random.default_rng(0)
    sizes = np.array([40.0, 25.5, 3.0, 0.2, 0, 0, 0, 0])
    table = rng.gamma(0.5, 20, (7, 8)) * (sizes > 0)
    offsets = np.array([0, 3, 7])
    grid = np.exp(np.linspace(np.log(1e-3), np.log(100), 4001))
    of_alpha, of_beta = bayes.prior_curve(sizes, prior), bayes.labels_curve(table, offsets)
    alpha = grid[np.argmax([of_alpha(a) + bayes.log_hyperprior(a) for a in grid])]
    beta = grid[np.argmax([of_beta(b) + bayes.log_hyperprior(b) for b in grid])]
    for start in (0.01, 1.0, 50.0):
        assert bayes.estimate_alpha(sizes, start, prior) == pytest.approx(alpha, rel=5e-3)
        assert bayes.estimate_beta(table, offsets, start) == pytest.approx(beta, rel=5e-3)


def test_many_clusterings_do_not_underflow():
    labels = np.zeros((6, 2000), np.int32)
    labels[3:] = 1
    offsets = np.arange(0, 4002, 2)
    z = np.array([0, 0, 0, 1, 1, 1], np.int32)
    found = _kernels.gibbs_conditionals(labels, offsets, z, n_clusters=5, prior="fsd", alpha=1.0, beta=1e-3)
    np.testing.assert_allclose(found, np.eye(5)[z], atol=1e-12)


def test_a_tiny_beta_is_not_lost():
    labels, z = np.array([[0, 0], [0, 0], [1, 1]], np.int32), np.array([0, 0, 1], np.int32)
    how = {"n_clusters": 3, "prior": "fsd", "alpha": 1.0, "beta": 1e-20}
    found = _kernels.gibbs_conditionals(labels, np.array([0, 2, 4]), z, **how)
    expected = [[16 / 17, 0, 1 / 17], [16 / 17, 0, 1 / 17], [0, 0.5, 0.5]]  # the last one's is empty without it
    np.testing.assert_allclose(found, expected, atol=1e-12)


both_losses = pytest.mark.parametrize("loss", ["vi", "binder"])


def samples_of(n=40, k=4, count=12, p=0.2, seed=0):
    labels, truth = noisy_copies(n, k, count, p, seed=seed)
    return list(labels.T), truth


def expected_loss(draws, labels, loss="vi"):
    return ExpectedLoss.of(draws.clusters, draws.weight, loss).at(labels[draws.row])


@both_losses
def test_objects_with_one_row_are_moved_together(loss):
    rows = np.repeat(np.arange(15), np.arange(15) % 4 + 1)
    samples, _ = samples_of(n=len(rows), seed=1)
    draws = Draws.of(samples, rows)
    assert draws.row_weights.tolist() == np.bincount(rows).tolist()
    labels, found = gibbs_chains.rows_partition(draws, 0, loss=loss)
    assert len(labels) == 15
    assert found == pytest.approx(expected_loss(draws, labels, loss), abs=1e-12)
    single = Draws.of(samples, np.arange(len(rows)))
    assert found == pytest.approx(expected_loss(single, labels[rows], loss), abs=1e-12)


@both_losses
@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_the_smallest_loss_of_all_partitions(loss, seed):
    """Of those without an object alone that most samples do not have alone."""
    rng = np.random.default_rng(seed)
    truth = np.array([0, 0, 0, 1, 1, 1, 2])
    samples = [np.where(rng.random(7) < 0.15, rng.integers(0, 4, 7), truth) for _ in range(20)]
    draws = Draws.of(samples, np.arange(7))
    alone = np.mean([np.bincount(s)[s] == 1 for s in samples], axis=0)
    allowed = (p for p in every_partition(7) if (alone[np.bincount(p)[p] == 1] > 0.5).all())
    least = min(expected_loss(draws, p, loss) for p in allowed)
    labels, found = gibbs_chains.rows_partition(draws, 0, loss=loss)
    assert found == pytest.approx(expected_loss(draws, labels, loss), abs=1e-12)
    assert found == pytest.approx(least, abs=1e-9)


@both_losses
def test_a_doubtful_object_joins_a_cluster_and_an_outlier_stays_alone(loss):
    base = np.repeat([0, 1, 2], 10)
    # One more object is everywhere in turn, another always alone.
    doubtful = [np.append(base, [i % 3, 3]) for i in range(30)]
    labels, _ = gibbs_chains.rows_partition(Draws.of(doubtful, np.arange(32)), 0, loss=loss)
    assert oracle.partition(labels[:30].tolist()) == oracle.partition(base.tolist())
    assert labels[30] in labels[:30]
    assert np.count_nonzero(labels == labels[31]) == 1


def test_objects_with_one_row_are_no_cluster_of_one():
    rows = np.array([0, 1, 2, 3, 4, 4])  # the last two have the same labels, and are together more often than not
    samples = [np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 2, 1, 1])]
    labels, _ = gibbs_chains.rows_partition(Draws.of(samples, rows), 0)
    assert labels[4] not in labels[:3]


@both_losses
def test_merging_takes_the_pair_that_costs_least(loss):
    samples, _ = samples_of(count=1, p=0.3)
    draws = Draws.of(samples, np.arange(40))
    labels = np.arange(40) % 5
    table, sizes = draws.tables(labels, 5), np.bincount(labels).astype(float)
    owner = gibbs_chains.merge_clusters(table, sizes, loss, 4)
    merged = [expected_loss(draws, np.where(labels == b, a, labels), loss) for a, b in combinations(range(5), 2)]
    assert expected_loss(draws, owner[labels], loss) == pytest.approx(min(merged), abs=1e-12)
    assert gibbs_chains.merge_clusters(table, sizes, loss, 5) is None
    for k in range(4, 0, -1):
        assert len(np.unique(gibbs_chains.merge_clusters(table, sizes, loss, k))) == k


def test_memberships_are_shares_of_companions():
    samples = [np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 2])]
    draws = Draws.of(samples, np.arange(5))
    labels = np.array([0, 0, 1, 1, 1])
    found = gibbs_chains.companions(draws, labels, draws.tables(labels, 2))
    np.testing.assert_allclose(found[0], [(1 + 1 / 2) / 2, 1 / 2 / 2])
    np.testing.assert_allclose(found[2], [1 / 2, 1 / 2])
    np.testing.assert_allclose(found[3], [0.4 / 2, 1.6 / 2])  # alone in the second sample, where nothing is known
    np.testing.assert_allclose(found.sum(axis=1), 1)
    labels = np.array([0, 0, 0, 0, 1])
    alone = gibbs_chains.companions(draws, labels, draws.tables(labels, 2))
    np.testing.assert_allclose(alone[4], [1 / 2, 1 / 2])  # in one sample as in the answer; with others in the other


def test_r_hat_and_effective_sample_size():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 1000))
    assert r_hat(noise) < 1.01
    assert 3000 < effective_sample_size(noise) <= 4000
    assert r_hat(noise + np.array([[0], [0], [0], [3]])) > 1.3
    assert r_hat(noise + np.linspace(0, 5, 1000)) > 1.3  # a drift, alike in all chains
    slow = np.zeros((4, 1000))
    for t in range(1, 1000):
        slow[:, t] = 0.9 * slow[:, t - 1] + noise[:, t]
    assert effective_sample_size(slow) == pytest.approx(4000 * 0.1 / 1.9, rel=0.35)  # (1 − ρ) / (1 + ρ) of the draws
    still = np.full((3, 50), 7.0)
    assert (r_hat(still), effective_sample_size(still)) == (1, 150)
    assert r_hat(still + np.arange(3)[:, None]) == np.inf
    assert np.isnan(r_hat(np.ones((2, 2))))
    assert np.isnan(effective_sample_size(np.ones((2, 1))))


# --- variational inference ---


every_kind = pytest.mark.parametrize("kind", vb.KINDS)


def label_rows(n=60, k=4, r=5, p=0.35, holes=0.1, seed=0, weights=None):
    labels, _ = noisy_copies(n, k, r, p, missing=holes, seed=seed)
    return LabelRows(labels, np.ones(n) if weights is None else weights, np.arange(0, r * k + 1, k))


def start_of(n, K, seed=0):
    return np.random.default_rng(seed).integers(0, K, n)


def fitted(rows, kind, prior, K=8, start=None, max_iter=3000, tol=1e-12, **hyper):
    block, found = vb.begin(rows, start_of(len(rows.labels), K) if start is None else start, kind, K)
    fit = vb.iterate([block], vb.Method(kind, prior, K, **hyper).first(found, rows.offsets), max_iter=max_iter, tol=tol)
    return fit, soft_of(fit.blocks[0], fit.state)


def soft_of(block, state):
    soft = None if block.soft is None else block.soft if state.order is None else block.soft[:, state.order]
    return (
        soft_rows(vb.size_scores(state, soft) + vb.label_scores(block.rows, state, soft))[0] if soft is None else soft
    )


@every_kind
@both_priors
@pytest.mark.parametrize("hyper", [{"alpha": 0.8, "beta": 0.3}, {}])
def test_fixed_points_satisfy_their_equations(kind, prior, hyper):
    rows = label_rows(p=0.25)
    fit, soft = fitted(rows, kind, prior, **hyper)
    assert fit.converged
    how = {"kind": kind, "prior": prior, "alpha": fit.state.alpha, "beta": fit.state.beta}
    expected = models.update(rows.labels, [4] * 5, soft, **how)
    np.testing.assert_allclose(soft, expected, atol=1e-6, rtol=0)
    assert 1 < np.count_nonzero(soft.sum(axis=0) > 2) < 8


@every_kind
@both_priors
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_a_pass_is_the_oracle_s(kind, prior, power):
    rows = label_rows(n=20)
    soft = np.random.default_rng(1).dirichlet(np.ones(6), 20)
    state = vb.Method(kind, prior, 6, alpha=0.7, beta=0.2, power=power).first(
        vb.statistics(rows, soft, kind), rows.offsets
    )
    known = None if kind == "vb" else soft
    found, _ = soft_rows(vb.size_scores(state, known) + vb.label_scores(rows, state, known))
    how = {"kind": kind, "prior": prior, "alpha": 0.7, "beta": 0.2, "power": power}
    expected = models.update(rows.labels, [4] * 5, soft, **how)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@both_priors
@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_vb_never_falls(prior, seed, power):
    rows = label_rows(p=0.5, seed=seed, weights=np.random.default_rng(seed).integers(1, 4, 60).astype(float))
    fit, _ = fitted(rows, "vb", prior, start=start_of(60, 8, seed), power=power)
    assert len(fit.history) > 5
    assert np.diff(fit.history).min() > -1e-8
    assert fit.history[-1] > fit.history[0]


@both_priors
@pytest.mark.parametrize("power", [1.0, 0.5])
def test_the_bound_is_below_the_evidence(prior, power):
    """On a case small enough to sum over all assignments."""
    rows = label_rows(n=5, r=2, k=3, holes=0.2)
    evidence = np.log(sum(oracle.posterior(rows.labels, [3, 3], 3, prior, 0.7, 0.3, power).values()))
    for seed in range(5):
        fit, _ = fitted(rows, "vb", prior, K=3, start=start_of(5, 3, seed), alpha=0.7, beta=0.3, power=power)
        assert evidence - 10 < fit.history[-1] < evidence


@every_kind
@both_priors
def test_weighted_rows_are_copies(kind, prior):
    rows = label_rows(n=30, seed=2)
    copies = np.random.default_rng(0).integers(1, 5, 30)
    weighted = LabelRows(rows.labels, copies.astype(float), rows.offsets)
    repeated = LabelRows(np.repeat(rows.labels, copies, axis=0), np.ones(copies.sum()), rows.offsets)
    start = start_of(30, 8)
    one, soft = fitted(weighted, kind, prior, start=start, tol=1e-9)
    two, full = fitted(repeated, kind, prior, start=np.repeat(start, copies), tol=1e-9)
    np.testing.assert_allclose(np.repeat(soft, copies, axis=0), full, atol=1e-9)
    np.testing.assert_allclose(one.history, two.history, rtol=1e-9)


@every_kind
@pytest.mark.parametrize("prior", first_of(["tsb", "fsd"]))
def test_rows_apart_give_the_same_numbers(kind, prior):
    rows = label_rows(n=90, p=0.4)
    start = start_of(90, 8)
    whole, soft = fitted(rows, kind, prior, start=start, tol=1e-9)
    cuts = [np.arange(0, 20), np.arange(20, 70), np.arange(70, 90)]
    blocks, found = zip(*(vb.begin(rows.take(cut), start[cut], kind, 8) for cut in cuts), strict=True)
    state = vb.Method(kind, prior, 8).first(vb.merge(found), rows.offsets)
    for _ in range(len(whole.history) - 1):
        blocks, found = zip(*(vb.partial(block, state) for block in blocks), strict=True)
        state = vb.advance(state, vb.merge(found))
    assert state.alpha == pytest.approx(whole.state.alpha, abs=1e-9)
    assert state.beta == pytest.approx(whole.state.beta, abs=1e-9)
    assert state.bound == pytest.approx(whole.history[-1], abs=1e-8)
    np.testing.assert_allclose(state.statistics.table, whole.state.statistics.table, atol=1e-9)
    np.testing.assert_allclose(np.vstack([soft_of(block, state) for block in blocks]), soft, atol=1e-9)


@every_kind
@both_priors
def test_a_pass_may_be_retried(kind, prior):
    """A worker that answers twice, after the sticks were put in another order, says the same twice."""
    rows = label_rows()
    block, found = vb.begin(rows, start_of(60, 8), kind, 8)
    state = vb.Method(kind, prior, 8).first(found, rows.offsets)
    for _ in range(3):
        (first, one), (again, two) = vb.partial(block, state), vb.partial(block, state)
        np.testing.assert_array_equal(one.table, two.table)
        np.testing.assert_array_equal(first.soft, again.soft)
        block, state = first, vb.advance(state, one)
