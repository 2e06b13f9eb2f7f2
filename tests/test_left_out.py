"""Clusterings that agree with no other, and copies, are left out of an answer; tests/test_one_consensus.py has every verb."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import consilience as cs
from consilience.consensus.left_out import agreement, left_out
from consilience.consensus.rows.problem import check_problem
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from explorer_cases import ask
from oracle import trust as plain
from samples import noisy_copies

TOOLS = ["kmeans", "ward", "gmm", "spectral", "leiden", "dbscan"]


@pytest.fixture
def frame():
    return pd.DataFrame(noisy_copies(n=200, k=4, r=6, noise=0.2)[0], columns=TOOLS)


def with_junk(frame):
    rng = np.random.default_rng(0)
    return frame.assign(single=0, random=rng.integers(0, 5, 200), shuffled=rng.permutation(frame["gmm"]))


@pytest.mark.parametrize("method", ["auto", "mcla"])
def test_the_answer_with_junk_is_the_one_without_it(frame, method):
    one, two = cs.combine(with_junk(frame), method=method), cs.combine(frame, method=method)
    for name in ("labels", "confidence", "support", "membership", "anmi", "names"):
        assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.left_out == "agreeing with no other: single, random, shuffled"
    assert "left out    agreeing" in repr(one)
    all_of_them = cs.combine(with_junk(frame), method=method, keep_all=True)
    assert (len(all_of_them.names), all_of_them.left_out) == (9, "")
    assert cs.combine(with_junk(frame).assign(apart=range(200)).to_numpy()).names == list("012345")  # their places


@pytest.mark.parametrize(("n", "noise"), [(400, 0.7), (60, 0.6), (20, 0.5), (10, 0.3)])
@pytest.mark.parametrize("r", [2, 3, 8])
def test_few_objects_and_weak_clusterings_stay(n, noise, r):
    for seed in range(3):
        ens = cs.Ensemble(noisy_copies(n=n, k=3, r=r, noise=noise, seed=seed)[0])
        assert not left_out(ens, check_problem(ens))[0].any()


def test_something_is_always_left():
    rng = np.random.default_rng(0)
    unlike = {"a": np.repeat([0, 1], 60), "b": np.tile([0, 1], 60)}
    assert cs.combine(unlike | {"c": rng.integers(0, 3, 120), "single": np.zeros(120)}).left_out == ""
    assert cs.combine(unlike | {"c": unlike["a"] ^ (rng.random(120) < 0.1)}).left_out == "agreeing with no other: b"


def test_a_partition_that_several_tools_found_counts_once(frame):
    again = (frame["ward"] + 1) % 4  # under other names
    one = cs.combine(frame.assign(birch=again))
    assert_array_equal(one.support, cs.combine(frame).support)
    assert one.left_out == "the same as another: birch (ward)"
    runs = frame.assign(ward_2=again, ward_3=again)
    assert cs.combine(runs).left_out == cs.combine(runs.to_numpy()).left_out == ""
    assert cs.combine(runs.assign(birch=again).iloc[:, ::-1]).names == runs.columns[::-1].tolist()
    assert cs.combine(frame[TOOLS[:4]].assign(birch=again)).left_out == ""  # too few to be judged by would be left
    seeds = cs.Ensemble(frame.assign(birch=again), info={"name": [*TOOLS, "birch"], "seed": range(7)})
    assert cs.combine(seeds).left_out == ""


def test_agreement_is_measured_by_all_orders_of_the_labels():
    one, other = np.array([0, 0, 1, 1, 1, 2, -1]), np.array([0, 0, 1, 1, 0, 2, 1])
    problem = check_problem(cs.Ensemble([one, other, other + 5]))
    order, pairs = problem.columns_as_given(), plain.shuffled_pairs(one[:6], other[:6])
    beyond, same = (table[np.ix_(order, order)] for table in agreement(problem))
    assert_allclose(beyond[0, 1:], (plain.pairs_together(one[:6], other[:6]) - pairs.mean()) / pairs.std())
    assert_array_equal(same, [[1, 0, 0], [0, 1, 1], [0, 1, 1]])


def test_more_clusterings_and_the_page(frame):
    assert cs.combine(frame[TOOLS[:5]]).update(with_junk(frame)).names == TOOLS
    told = ask(Api(Session(cs.organize(with_junk(frame), 2, progress=False))), "detail/9.16c")
    assert told["made"] == {"combined": "left out, agreeing with no other: single, random, shuffled"}
