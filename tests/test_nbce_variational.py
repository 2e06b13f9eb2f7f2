"""Variational inference of NBCE: fixed points, a bound that never falls, weights, and parts that live apart."""

import numpy as np
import pytest

from consilience.consensus.bayes import variational as vb
from consilience.consensus.methods.label_model import LabelRows
from consilience.engine.annealing import soft_rows
from oracle import label_models as oracle
from oracle.label_mixture import posterior
from samples import noisy_copies

every_kind = pytest.mark.parametrize("kind", vb.KINDS)
both_priors = pytest.mark.parametrize("prior", ["tsb", "fsd"])


def rows_of(n=60, k=4, r=5, p=0.35, holes=0.1, seed=0, weights=None):
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
    rows = rows_of(p=0.25)
    fit, soft = fitted(rows, kind, prior, **hyper)
    assert fit.converged
    how = {"kind": kind, "prior": prior, "alpha": fit.state.alpha, "beta": fit.state.beta}
    expected = oracle.update(rows.labels, [4] * 5, soft, **how)
    np.testing.assert_allclose(soft, expected, atol=1e-6, rtol=0)
    assert 1 < np.count_nonzero(soft.sum(axis=0) > 2) < 8


@every_kind
@both_priors
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_a_pass_is_the_oracle_s(kind, prior, power):
    rows = rows_of(n=20)
    soft = np.random.default_rng(1).dirichlet(np.ones(6), 20)
    state = vb.Method(kind, prior, 6, alpha=0.7, beta=0.2, power=power).first(
        vb.statistics(rows, soft, kind), rows.offsets
    )
    known = None if kind == "vb" else soft
    found, _ = soft_rows(vb.size_scores(state, known) + vb.label_scores(rows, state, known))
    how = {"kind": kind, "prior": prior, "alpha": 0.7, "beta": 0.2, "power": power}
    expected = oracle.update(rows.labels, [4] * 5, soft, **how)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@both_priors
@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_vb_never_falls(prior, seed, power):
    rows = rows_of(p=0.5, seed=seed, weights=np.random.default_rng(seed).integers(1, 4, 60).astype(float))
    fit, _ = fitted(rows, "vb", prior, start=start_of(60, 8, seed), power=power)
    assert len(fit.history) > 5
    assert np.diff(fit.history).min() > -1e-8
    assert fit.history[-1] > fit.history[0]


@both_priors
@pytest.mark.parametrize("power", [1.0, 0.5])
def test_the_bound_is_below_the_evidence(prior, power):
    """On a case small enough to sum over all assignments."""
    rows = rows_of(n=5, r=2, k=3, holes=0.2)
    evidence = np.log(sum(posterior(rows.labels, [3, 3], 3, prior, 0.7, 0.3, power).values()))
    for seed in range(5):
        fit, _ = fitted(rows, "vb", prior, K=3, start=start_of(5, 3, seed), alpha=0.7, beta=0.3, power=power)
        assert evidence - 10 < fit.history[-1] < evidence


@every_kind
@both_priors
def test_weighted_rows_are_copies(kind, prior):
    rows = rows_of(n=30, seed=2)
    copies = np.random.default_rng(0).integers(1, 5, 30)
    weighted = LabelRows(rows.labels, copies.astype(float), rows.offsets)
    repeated = LabelRows(np.repeat(rows.labels, copies, axis=0), np.ones(copies.sum()), rows.offsets)
    start = start_of(30, 8)
    one, soft = fitted(weighted, kind, prior, start=start, tol=1e-9)
    two, full = fitted(repeated, kind, prior, start=np.repeat(start, copies), tol=1e-9)
    np.testing.assert_allclose(np.repeat(soft, copies, axis=0), full, atol=1e-9)
    np.testing.assert_allclose(one.history, two.history, rtol=1e-9)


@every_kind
@both_priors
def test_rows_apart_give_the_same_numbers(kind, prior):
    rows = rows_of(n=90, p=0.4)
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
    rows = rows_of()
    block, found = vb.begin(rows, start_of(60, 8), kind, 8)
    state = vb.Method(kind, prior, 8).first(found, rows.offsets)
    for _ in range(3):
        (first, one), (again, two) = vb.partial(block, state), vb.partial(block, state)
        np.testing.assert_array_equal(one.table, two.table)
        np.testing.assert_array_equal(first.soft, again.soft)
        block, state = first, vb.advance(state, one)
