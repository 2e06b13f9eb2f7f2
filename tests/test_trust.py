"""How far to trust clusters and clusterings: the tables against their plain definitions, and what they find; and the confidence."""

import pickle
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import consilience as cs
from consilience.consensus import Consensus
from consilience.consensus.rows.error_model import error_posterior
from consilience.consensus.rows.problem import Problem, check_problem, label_tables, spread_evenly
from consilience.consensus.trust import clusters_and_members as trust
from consilience.consensus.trust import confidence as resampling
from consilience.consensus.trust.clusters_and_members import cluster_table, member_table, trust_tables
from consilience.consensus.trust.confidence import Assessment, alike, confirmed_posterior, matched, resampled_shares
from consilience.generation.kmeans import kmeans_runs
from consilience.generation.methods.graph import even_place
from consilience.reports.scales import scale_table
from oracle import trust as plain
from samples import noisy_copies

pytestmark = pytest.mark.full_effort

CLUSTERS = ["cluster", "size", "share", "confidence", "support", "floaters", "recurrence", "nearest", "confused"]
MEMBERS = ["clustering", "n_clusters", "coverage", "reliability", "weight", "kept", "better_without"]


def noisy(n, k, m, share, seed, missing=0.0):
    """A partition, and copies of it (clusterings × objects) of which a share of the labels is drawn anew and some are missing."""
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.integers(k, size=n)).astype(np.int32)
    columns = np.tile(truth, (m, 1))
    changed = rng.random(columns.shape) < share
    columns[changed] = rng.integers(k, size=int(changed.sum()))
    columns[rng.random(columns.shape) < missing] = -1
    return truth, columns


def rows_of(columns):
    """The distinct rows of clusterings × objects."""
    return check_problem(cs.Ensemble.from_codes(np.ascontiguousarray(columns.T)))


def ranks(problem, labels):
    """The places of the clusters by falling size, equals by their first row."""
    rows = labels[problem.first].tolist()
    clusters = range(int(labels.max()) + 1)
    order = sorted(clusters, key=lambda c: (-np.count_nonzero(labels == c), rows.index(c)))
    return [order.index(c) for c in clusters]


@pytest.fixture(params=[0.0, 0.3])
def case(request):
    """Clusterings of several finenesses, with and without missing labels, and a consensus with an object left out."""
    labels, columns = noisy(40, 4, 5, 0.35, 1, request.param)
    columns[3] = np.where(columns[3] >= 0, columns[3] // 2, -1)
    columns[4] = np.where(columns[4] >= 0, columns[4] * 2 + np.arange(40) % 2, -1)
    labels = labels.copy()
    labels[(columns == columns[:, 7:8]).all(axis=0)] = -1
    return labels, columns


def test_clusters_are_what_the_definitions_say(case):
    labels, columns = case
    rng = np.random.default_rng(0)
    problem = rows_of(columns)
    confidence, support = rng.random((2, problem.n_rows))[:, problem.inverse]
    labels = labels[problem.first][problem.inverse]  # objects of a row are in one cluster
    table = cluster_table(problem, labels, confidence, support)
    assert table.columns.tolist() == CLUSTERS
    assert table["cluster"].tolist() == [0, 1, 2, 3]
    for row in table.itertuples():
        mine = labels == row.cluster
        assert (row.size, row.floaters) == (mine.sum(), (mine & (support <= 0.5)).sum())
        found = [row.share, row.confidence, row.support, row.recurrence, row.nearest, row.confused]
        means = [mine.sum() / (labels >= 0).sum(), confidence[mine].mean(), support[mine].mean()]
        recurrence = plain.recurrence(columns, labels, row.cluster)
        confused = plain.confused(columns, labels, row.cluster, 4, ranks(problem, labels))
        np.testing.assert_allclose(found, [*means, recurrence, *confused], rtol=1e-12)


def test_members_are_what_the_definitions_say(case):
    labels, columns = case
    problem = rows_of(columns)
    labels = labels[problem.first][problem.inverse]
    table = member_table(problem, labels, names=list("abcde"))
    assert table.columns.tolist() == MEMBERS
    assert table["clustering"].tolist() == list("abcde")
    for q, row in enumerate(table.itertuples()):
        column = columns[q]
        others = plain.what_others_say(columns, labels, 4, q, ranks(problem, labels))
        both = (others >= 0) & (column >= 0)
        found = [row.n_clusters, row.coverage, row.reliability, row.weight, row.kept]
        own, theirs = (x[(column >= 0) & (labels >= 0)] for x in (column, labels))
        kept = plain.pairs_together(own, theirs) / plain.pairs_together(own, own)
        reliability = plain.adjusted_wallace(others[both], column[both])
        wanted = [len(set(column[column >= 0])), (column >= 0).mean(), reliability, plain.weight(columns, q), kept]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_a_clustering_that_is_mostly_noise_is_an_outlier_though_above_chance():
    labels, columns = noisy(600, 5, 12, 0.1, 0)
    rng = np.random.default_rng(0)
    some = rng.random(600) < 0.6
    columns[4, some] = rng.permutation(columns[4, some])
    found = member_table(rows_of(columns), labels)
    assert np.flatnonzero(found["better_without"]).tolist() == [4]
    others = cs.combine(np.delete(columns, 4, 0).T, 5, "vote").labels
    assert cs.measures.adjusted_rand(others, columns[4]) > 0.08  # shuffled labels stay within 0.01 of 0


def test_fineness_costs_no_reliability_and_only_the_fine_say_much():
    labels, columns = noisy(200, 4, 6, 0.0, 0)
    columns[1] = columns[1] * 5 + np.arange(200) % 5
    columns[2] = columns[2] // 2
    found = member_table(rows_of(columns), labels)
    np.testing.assert_allclose(found["reliability"], 1.0)
    assert found["weight"][1] > found["weight"][0] > found["weight"][2]
    assert found["kept"].tolist()[:2] == [1.0, 1.0]
    assert found["kept"][2] < 0.6
    assert not found["better_without"].any()


def test_clusterings_that_say_nothing():
    labels, columns = noisy(30, 3, 6, 0.1, 0)
    columns[1], columns[2], columns[3] = 0, np.arange(30), -1
    found = member_table(rows_of(columns), labels)
    assert found["reliability"][[1, 2]].tolist() == [0.0, 0.0]
    assert found.loc[3, ["reliability", "weight", "kept"]].isna().all()
    assert (found.loc[3, "n_clusters"], found.loc[3, "coverage"]) == (0, 0.0)


def test_one_clustering_and_one_cluster():
    one = cs.combine([[0, 0, 1, 1, 2]], 3)
    assert one.members["reliability"].isna().all()
    assert one.members[["weight", "kept", "better_without"]].to_numpy().tolist() == [[1.0, 1.0, False]]
    np.testing.assert_allclose(one.clusters["recurrence"], 1.0)
    same = cs.combine([[0, 0, 0], [1, 1, 1]])
    assert same.n_clusters == 1
    assert same.clusters[["size", "recurrence", "nearest", "confused"]].to_numpy().tolist() == [[3, 1.0, -1, 0.0]]
    assert same.members["reliability"].isna().all()


def test_clusters_that_no_clustering_labels_have_no_recurrence():
    rows, nobody = np.array([[0], [0], [-1], [-1]], np.int32), np.arange(4)
    problem = Problem(rows, np.ones(4), 2, nobody)
    found = cluster_table(problem, np.array([0, 0, 1, 1]), np.ones(4), np.ones(4))
    np.testing.assert_array_equal(found["recurrence"], [1.0, np.nan])
    assert found["nearest"].tolist() == [-1, -1]


@pytest.mark.parametrize("weighted", [False, True])
def test_samples_do_not_depend_on_the_order_of_objects_and_clusterings(weighted, monkeypatch):
    _, columns = noisy(3000, 4, 26, 0.3, 0, 0.1)
    whole = cs.combine(columns.T, 4, "vote").members
    for name, value in {"FEWEST_OBJECTS": 200, "OBJECTS": 300, "READ": 10**5}.items():
        monkeypatch.setattr(trust, name, value)
    rng = np.random.default_rng(1)
    objects, clusterings = rng.permutation(3000), rng.permutation(26)
    copies = rng.integers(1, 4, 3000) if weighted else np.ones(3000, int)
    one = cs.combine(columns.T, 4, "vote", sample_weight=copies).members
    two = cs.combine(columns[clusterings][:, objects].T, 4, "vote", sample_weight=copies[objects]).members
    for name in ("reliability", "weight", "kept"):
        np.testing.assert_allclose(one[name].to_numpy()[clusterings], two[name], rtol=1e-9)
    assert not np.allclose(one[["reliability", "weight"]], whole[["reliability", "weight"]], rtol=1e-6)


def test_combine_fills_them_in_and_they_are_saved(tmp_path):
    _, columns = noisy(80, 3, 6, 0.2, 0, 0.1)
    columns[4] = np.random.default_rng(0).permutation(columns[4])
    frame = pd.DataFrame(columns.T, columns=[f"run{q}" for q in range(6)])
    one = cs.combine(frame, 3, "information", keep_all=True)
    tables = trust_tables(rows_of(columns), one.labels, one.confidence, one.support, frame.columns)
    for name, make in tables.items():
        pd.testing.assert_frame_equal(getattr(one, name), make())
    assert one.clusters["size"].tolist() == one.sizes.tolist()
    assert np.average(one.clusters["confidence"], weights=one.sizes) == pytest.approx(one.mean_confidence)
    assert np.average(one.clusters["support"], weights=one.sizes) == pytest.approx(one.mean_support)
    assert one.clusters["floaters"].sum() == len(one.floating)
    one.save(tmp_path / "one")
    again = Consensus.load(tmp_path / "one")
    pd.testing.assert_frame_equal(again.clusters, one.clusters)
    pd.testing.assert_frame_equal(again.members, one.members)
    assert repr(again) == repr(one)
    assert again.scales is again.scale_labels is None


@pytest.mark.parametrize("fractional", [False, True])
def test_weights_count_copies(fractional):
    _, columns = noisy(120, 3, 8, 0.35, 0, 0.1)
    columns[3] = np.random.default_rng(0).permutation(columns[3])
    copies = np.random.default_rng(1).integers(0, 4, 120)
    unit = copies.sum() / np.count_nonzero(copies) if fractional else 1  # relative weights are scaled to a mean of 1
    one = cs.combine(columns.T, 3, "vote", keep_all=True, sample_weight=copies / (3.7 if fractional else 1))
    two = cs.combine(np.repeat(columns, copies, axis=1).T, 3, "vote", keep_all=True)
    assert (one.labels[copies == 0] == -1).all()
    assert one.clusters["size"].tolist() == np.bincount(one.labels[one.labels >= 0]).tolist()
    same = ["share", "recurrence", "nearest", "confused"] + ["confidence", "support"] * (not fractional)
    pd.testing.assert_frame_equal(one.clusters[same], two.clusters[same])
    same = ["clustering", "n_clusters", "coverage", "better_without", "weight"]
    pd.testing.assert_frame_equal(one.members[same], two.members[same])
    for name in ("reliability", "kept"):
        np.testing.assert_allclose(one.members[name], two.members[name], atol=0.02 if unit != 1 else 1e-12)
    plain_one = cs.combine(columns[:, copies > 0].T, 3, "vote", keep_all=True)
    assert not np.allclose(plain_one.members["kept"], one.members["kept"], atol=1e-6)


def test_objects_of_weight_zero_are_as_good_as_not_there():
    _, columns = noisy(90, 3, 6, 0.2, 0)
    away = np.arange(90) % 3 == 0
    columns[:, away] = np.arange(30) + 3  # clusters of their own in every clustering
    columns[5] = np.where(away, columns[5], -1)  # and one clustering that labels nothing else
    columns[0, :3] = columns[0, 3]
    one = cs.combine(columns.T, None, "vote", sample_weight=~away * 1.0)
    two = cs.combine(columns[:, ~away].T, None, "vote")
    assert one.n_clusters == two.n_clusters == 3
    assert (one.labels[away] == -1).all()
    np.testing.assert_array_equal(one.labels[~away], two.labels)
    pd.testing.assert_frame_equal(one.clusters, two.clusters)
    pd.testing.assert_frame_equal(one.members, two.members)
    scales = cs.combine(columns.T, "auto", sample_weight=~away * 1.0)
    assert (scales.scale_labels[away] == -1).all()


def test_ties_do_not_go_by_the_numbers_of_clusters():
    """Two halves of equal size whose labels are torn evenly: renumbering the clusters renames them, and nothing else."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        labels = np.repeat(np.arange(4), 6)
        columns = np.stack([rng.permutation(labels) for _ in range(4)]).astype(np.int32)
        problem = rows_of(columns)
        labels = labels[problem.first][problem.inverse]
        new = rng.permutation(4)
        ones = np.ones(24)
        one, two = (cluster_table(problem, found, ones, ones) for found in (labels, new[labels]))
        two = two.iloc[new].reset_index(drop=True)
        nearest = np.append(new, -1)[one["nearest"]]
        np.testing.assert_array_equal(nearest, two["nearest"])
        named = ["cluster", "nearest"]
        pd.testing.assert_frame_equal(one.drop(columns=named), two.drop(columns=named))
        one, two = (member_table(problem, found) for found in (labels, new[labels]))
        pd.testing.assert_frame_equal(one, two)


def test_tables_are_made_when_first_read(monkeypatch):
    made = []
    monkeypatch.setattr(trust, "label_tables", lambda *given: made.append(1) or label_tables(*given))
    _, columns = noisy(60, 3, 6, 0.2, 0)
    one = cs.combine(columns.T, 3, "vote")
    assert not made
    one.clusters, one.clusters, one.members, one.members  # noqa: B018
    assert len(made) == 2
    for again in (pickle.loads(pickle.dumps(one)), replace(one)):
        pd.testing.assert_frame_equal(again.clusters, one.clusters)
        pd.testing.assert_frame_equal(again.members, one.members)
    assert len(made) == 2
    other = pickle.loads(pickle.dumps(cs.combine(columns.T, 3, "vote")))
    pd.testing.assert_frame_equal(other.members, one.members)


def test_numbers_that_are_stable_beyond_doubt_are_named():
    one = cs.combine([[0, 0, 1, 1] * 5, [0, 0, 1, 1] * 5], 2)
    scales = pd.DataFrame({"n_clusters": [2, 4, 6], "stability": [0.97, 0.99, 0.9], "sem": 0.0, "confidence": 1.0})
    scales["real"] = scales["stability"] >= 0.95
    assert "stable at 2, also at 4\n" in repr(replace(one, scales=scales))
    assert "stable at 2 only\n" in repr(replace(one, scales=scales.iloc[[0, 2]]))
    assert "stable at 4, less so at 2\n" in repr(replace(one, scales=scales.assign(real=[False, True, False])))
    assert "stable enough to tell" in repr(replace(one, scales=scales.assign(real=False)))
    assert scale_table(scales).frame["beyond clouds"].tolist() == [True, True, False]


# --- the confidence: shares of resamples, clusters matched one to one, and how far a few clusterings confirm one another ---


def kmeans_labels(seed=0, n=90, r=8):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return np.asarray(kmeans_runs(X, np.arange(r) % 4 + 3, seed=seed, max_iter=50).labels).T


@pytest.fixture(scope="module")
def answer():
    labels = kmeans_labels()
    problem = check_problem(labels, 4)
    return problem, cs.combine(labels, 4, "walk").labels[problem.first]


def test_shares_of_resamples(answer):
    problem, labels = answer
    shares = resampled_shares(problem, labels)
    assert shares.shape == (problem.n_rows, 4)
    assert (shares >= 0).all()
    assert (shares.sum(axis=1) <= 1 + 1e-12).all()
    whole = shares * resampling.RESAMPLES
    assert_allclose(whole, whole.round(), atol=1e-9)
    assert_array_equal(shares, resampled_shares(problem, labels))
    assert shares[np.arange(len(labels)), labels].mean() > 0.5


def test_clusterings_that_are_all_the_same_are_sure_in_every_resample():
    labels = np.tile(np.repeat([0, 1, 2], 5)[:, None], 6)
    problem = check_problem(labels, 3)
    own = labels[problem.first, 0]
    assert_array_equal(resampled_shares(problem, own), np.eye(3)[own])


def test_half_of_the_clusterings_or_as_many_drawn_anew():
    for m in (5, 8):
        for b in range(6):
            copies = resampling._copies([np.arange(m)], b)
            assert copies.sum() == (-(-m // 2) if b % 2 else m)
            assert copies.max() == 1 or b % 2 == 0


def test_clusterings_that_are_spread_evenly_are_exchanged_for_their_like():
    labels = kmeans_labels(r=20)
    info = {"method": ["graph"] * 20, "place": np.linspace(0, 0.95, 20)}
    even = check_problem(cs.Ensemble.from_codes(labels.astype(np.int32), info=info), 4)
    assert even.even
    for broken in ({"method": ["graph"] * 20}, {**info, "place": [0.5] * 20}, {**info, "place": [np.nan, *[0.5] * 19]}):
        assert not check_problem(cs.Ensemble.from_codes(labels.astype(np.int32), info=broken), 4).even
    ens = cs.Ensemble.from_codes(labels.astype(np.int32), info=info)
    assert not check_problem(ens[:, :10], 4).even, "a part of them is not spread"
    varied = {**info, "around": [*[np.nan] * 19, 3]}
    assert not check_problem(cs.Ensemble.from_codes(labels.astype(np.int32), info=varied), 4).even
    for n, start in ((2, 0.1), (7, 0.9), (12, 0.3), (24, 0.7), (100, 0.5)):
        places = [even_place(start, unit) for unit in range(n)]
        info_n = {"method": ["graph"] * n, "place": places}
        assert spread_evenly(cs.Ensemble.from_codes(np.tile([[0], [1]], n).astype(np.int32), info=info_n))
    assert_array_equal(alike(check_problem(labels, 4)), [np.arange(20)])
    groups = alike(even)
    assert [len(group) for group in groups] == [7, 7, 6]
    assert sorted(np.concatenate(groups)) == list(range(20))
    ends = [(even.sizes[group].min(), even.sizes[group].max()) for group in groups]
    assert all(low <= high for (_, low), (high, _) in pairwise(ends))
    for b in range(6):
        drawn = [resampling._copies(groups, b)[group] for group in groups]
        assert [part.sum() for part in drawn] == ([3, 4, 3] if b % 2 else [7, 7, 6])
        assert np.max(np.concatenate(drawn)) == 1 or b % 2 == 0


def test_an_even_ensemble_is_as_sure_as_others_of_its_kind_agree():
    """Coarse and fine clusterings by turns: two clusters, of which one always splits; resamples by chance would have too few fine ones."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 30)
    columns = [np.where(rng.random(90) < 0.1, rng.integers(3, size=90), truth) for _ in range(12)]
    columns = [np.minimum(column, 1) if i % 2 else column for i, column in enumerate(columns)]
    labels = np.column_stack(columns).astype(np.int32)
    info = {"method": ["graph"] * 12, "place": np.linspace(0, 0.9, 12)}
    plain = check_problem(labels, 3)
    even = check_problem(cs.Ensemble.from_codes(labels, info=info), 3)
    own = cs.combine(labels, 3, "walk").labels[plain.first]
    sure = [resampling.resampled_confidence(resampled_shares(p, own), own) @ p.weights / 90 for p in (plain, even)]
    assert sure[0] < sure[1] <= 1


@pytest.mark.parametrize("seed", range(8))
def test_clusters_are_matched_as_well_as_can_be(seed):
    rng = np.random.default_rng(seed)
    k, others = 4, 3 + seed % 3
    labels, found, weights = rng.integers(0, k, 30), rng.integers(0, others, 30), rng.random(30)
    labels[:k], found[:others] = np.arange(k), np.arange(others)
    place = matched(labels, found, weights, k)
    assert len(place) == others
    used = place[place >= 0]
    assert len(set(used)) == len(used) == min(k, others)

    def common(places):
        return weights[np.array(places)[found] == labels].sum()

    each = [*range(k), *[-1] * others]
    assert common(place) == pytest.approx(max(common(places) for places in set(permutations(each, others))))


def test_alike_errors_are_resampled_and_independent_ones_are_not(answer):
    problem, labels = answer
    found, shares = Assessment(problem, labels), resampled_shares(problem, labels)
    assert found.errors_correlate
    own = shares[np.arange(len(labels)), labels]  # between it and the agreement of two resamples
    assert_allclose(found.confidence, (own + (shares**2).sum(axis=1)) / 2)
    assert_allclose(found.posterior.sum(axis=1), 1)
    noisy, truth = noisy_copies(n=200, k=4, r=8, noise=0.3)
    independent = check_problem(noisy, 4)
    found = Assessment(independent, truth[independent.first])
    assert not found.errors_correlate
    assert_array_equal(found.posterior, error_posterior(independent, truth[independent.first])[0])


def test_a_tree_of_groups_and_rows_beyond_the_leaves(monkeypatch):
    labels = kmeans_labels(n=400)
    problem = check_problem(labels, 4)
    own = cs.combine(labels, 4, "walk").labels[problem.first]
    whole = resampling.resampled_confidence(resampled_shares(problem, own), own)
    monkeypatch.setattr(resampling, "GROUPS", 40)
    grouped = resampling.resampled_confidence(resampled_shares(problem, own), own)
    assert np.abs(np.average(grouped - whole, weights=problem.weights)) < 0.1
    monkeypatch.setattr(resampling, "LEAVES", 60)
    few = resampled_shares(problem, own)
    assert few.shape == (problem.n_rows, 4)
    assert (few.sum(axis=1) <= 1 + 1e-12).all()


def test_rare_clusters_that_no_leaf_is_in(monkeypatch):
    """The last code of a clustering may belong to one row, which the rows that stand for all need not hold."""
    rng = np.random.default_rng(0)
    labels = np.minimum(rng.geometric(0.25, size=(3000, 8)) - 1, 30)
    monkeypatch.setattr(resampling, "LEAVES", 30)
    problem = check_problem(cs.Ensemble(labels), 4)
    shares = resampled_shares(problem, np.arange(problem.n_rows) % 4)
    assert_allclose(shares.sum(axis=1), 1)


def planted(n, k, m, noise, rng):
    """Two ensembles of noisy copies of one partition."""
    truth = rng.integers(k, size=n)
    both = []
    for _ in range(2):
        labels = np.tile(truth[:, None], (1, m))
        changed = rng.random(labels.shape) < noise
        labels[changed] = rng.integers(k, size=int(changed.sum()))
        both.append(labels)
    return both


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_the_posterior_is_what_the_definition_says(missing):
    labels, _ = noisy_copies(40, 3, 4, 0.4, missing=missing, seed=3)
    problem = check_problem(cs.Ensemble.from_codes(labels.astype(np.int32)), 3)
    own = cs.combine(labels, 3, "vote").labels[problem.first]
    order, place = resampling.heaviest_first(problem, own)
    objects = np.flatnonzero(problem.inverse >= 0)
    columns, answer = labels[objects].T, own[problem.inverse[objects]]
    tau, found = Assessment(problem, own).discount, confirmed_posterior(Assessment(problem, own))
    share = np.bincount(answer) / len(answer)
    rank, owners = np.argsort(order), resampling.owners_of_labels(label_tables(problem, place, 3))
    others = [plain.what_others_say(columns, answer, 3, q, rank) for q in range(4)]
    for row, said in zip(range(4), resampling.what_others_say(problem.labels, owners, 3), strict=True):
        q = problem.given.columns[row]
        np.testing.assert_array_equal(np.append(order, -1)[said[problem.inverse[objects]]], others[q])
    for i in range(0, len(objects), 3):
        weights = np.log(share)
        for q in range(4):
            column = columns[q]
            if column[i] < 0:
                continue
            labeled = column[column >= 0]
            width = int(column.max()) + 1
            for c in range(3):
                inside = (others[q] == c) & (column >= 0) & (np.arange(len(column)) != i)
                count = np.count_nonzero(inside & (column == column[i]))
                prior = width * np.mean(labeled == column[i])
                weights[c] += tau * np.log((count + prior) / (np.count_nonzero(inside) + width))
        chances = np.exp(weights - weights.max())
        np.testing.assert_allclose(found[problem.inverse[objects[i]]], chances / chances.sum(), rtol=1e-9)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0])
def test_a_few_clusterings_say_how_far_another_few_would_agree(m, noise):
    """On labels drawn at random the confidence was .6 to .99 where another ensemble confirms a fifth to a third."""
    rng, sure, same = np.random.default_rng(m), [], []
    for _ in range(3):
        one, two = (cs.combine(labels, 4, "walk") for labels in planted(300, 4, m, noise, rng))
        place = matched(one.labels, two.labels, np.ones(300), 4)
        sure.append(one.confidence.mean())
        same.append(np.mean(place[two.labels] == one.labels))
    assert abs(np.mean(sure) - np.mean(same)) < 0.1


def test_one_clustering_is_confirmed_by_nothing():
    one = cs.combine([[0] * 6 + [1] * 3 + [2]], 3)
    np.testing.assert_allclose(one.confidence, [0.6] * 6 + [0.3] * 3 + [0.1])


def test_the_confidence_of_a_few_does_not_depend_on_the_numbers_of_clusters():
    rng = np.random.default_rng(0)
    for _ in range(10):
        labels = np.stack([rng.permutation(np.repeat(np.arange(3), 8)) for _ in range(3)], axis=1)
        problem = check_problem(labels, 3)
        own, new = rng.permutation(np.repeat(np.arange(3), 8))[problem.first], rng.permutation(3)
        one, two = Assessment(problem, own), Assessment(problem, new[own])
        np.testing.assert_allclose(confirmed_posterior(one), confirmed_posterior(two)[:, new], rtol=1e-9)
        np.testing.assert_allclose(one.confidence, two.confidence, rtol=1e-9)
