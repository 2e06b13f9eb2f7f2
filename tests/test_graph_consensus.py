"""CSPA, HGPA, MCLA and HBGF: the example of the slides, quality, weights; and the partition functions below them."""

import itertools
import multiprocessing
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience._check import InputError
from consilience.consensus.methods import cspa_hgpa_mcla
from consilience.consensus.methods import graph_partition as partition
from consilience.consensus.methods.cspa_hgpa_mcla import CSPA, HGPA, MCLA, associate, cluster_jaccard, compete
from consilience.consensus.methods.graph_partition import partition_graph, partition_hypergraph
from consilience.consensus.methods.hbgf_and_lwgp import HBGF
from consilience.consensus.rows.problem import Problem, check_problem, incidence
from consilience.measures import nmi
from samples import block_graph, cut, noisy_copies, same_partition

SLIDES = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2], [0, 1, -1, 0, 1, -1, -1]]
META = np.array([2, 1, 0, 0, 2, 1, 2, 1, 0, 1, 2])  # of h1 … h11 on the slides
FRACTIONS = np.array([[0, 0, 0, 0, 1 / 3, 1, 1], [1 / 4, 0, 1 / 4, 1, 1 / 2, 0, 0], [3 / 4, 1, 1 / 2, 0, 1 / 4, 0, 0]])


def test_mcla_on_the_slides():
    model = MCLA(3, random_state=0).fit(SLIDES)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert model.association_ == pytest.approx(FRACTIONS[[2, 1, 0]].T)
    assert model.meta_labels_.tolist() == (2 - META).tolist()


def test_ties_go_to_the_larger_then_the_lower_meta_cluster():
    association = np.array([[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])
    assert compete(association, association.sum(axis=0)).tolist() == [1, 1, 1, 0]
    assert compete(association, np.array([1, 1, 3.0])).tolist() == [0, 1, 2, 2]
    # Two clusterings that disagree on one object alone: it goes where more objects are, by weight.
    labels, weights = [[0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1]], np.array([1, 1, 1, 1, 5, 5, 5])
    for weight, side in ((weights, 4), (weights[::-1], 2)):
        found = MCLA(2, random_state=0).fit(labels, sample_weight=weight).labels_
        assert found[3] == found[side]


@pytest.mark.parametrize("dense", [0, 1_000])
def test_jaccard_between_clusters_counts_objects(dense, monkeypatch):
    monkeypatch.setattr(cspa_hgpa_mcla, "DENSE", dense)
    labels = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, -1]])
    problem = check_problem(labels, 2)
    found, at = cluster_jaccard(problem).toarray(), problem.labels_as_given()[0]
    sets = [{0, 1, 2}, {3, 4}, {0, 1}, {2, 3}]
    for a in range(4):
        for b in range(4):
            want = 0 if a == b else len(sets[a] & sets[b]) / len(sets[a] | sets[b])
            assert found[at[a], at[b]] == pytest.approx(want)


def test_hgpa_is_exact_without_noise_and_poor_with_it():
    for noise, objective, least, most in ((0, "cut", 1, 1), (0.01, "km1", 0.95, 1), (0.1, "cut", 0.3, 0.8)):
        labels, truth = noisy_copies(noise=noise)
        found = HGPA(10, objective=objective, random_state=0).fit(labels)
        assert least - 1e-9 <= nmi(truth, found.labels_) <= most + 1e-9


def test_similarity_is_the_share_of_clusterings_that_agree():
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, (30, 5))
    problem = check_problem(labels, 2)
    rows = problem.labels
    agree = ((rows[:, None] == rows[None]) & (rows[:, None] >= 0)).sum(axis=2) / 5
    np.fill_diagonal(agree, 0)
    assert cspa_hgpa_mcla.similarity(incidence(problem), 5).toarray() == pytest.approx(agree)


def test_sparsified_similarity_holds_true_values_of_the_strongest():
    labels, _ = noisy_copies(noise=0.4)
    labels[np.random.default_rng(0).random(labels.shape) < 0.1] = -1
    problem = check_problem(labels, 10)
    members = incidence(problem)
    exact = cspa_hgpa_mcla.similarity(members, 8).toarray()
    found = cspa_hgpa_mcla.strongest_similarity(problem, members, 20, seed=1)
    assert abs(found - found.T).max() == 0
    assert found.toarray()[found.nonzero()] == pytest.approx(exact[found.nonzero()])
    assert 20 * problem.n_rows <= found.nnz <= 40 * problem.n_rows
    strongest = np.sort(exact, axis=1)[:, -20:].mean()
    assert found.data.mean() >= 0.8 * strongest
    assert found.data.mean() >= 2 * exact.mean()


def test_the_budget_decides_whether_the_similarity_is_sparsified():
    labels, _ = noisy_copies()
    assert not CSPA(10, random_state=0).fit(labels).sparsified_
    assert CSPA(10, memory_budget=1e5, random_state=0).fit(labels).sparsified_
    assert not HBGF(10, random_state=0).fit(labels).sampled_
    assert HBGF(10, max_rows=100, random_state=0).fit(labels).sampled_


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 12), r=st.integers(1, 4), missing=st.booleans())
def test_weights_give_the_cut_of_the_graph_of_all_objects(seed, n, r, missing):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1 if missing else 0, 3, (n, r))
    labels[:, 0] = np.arange(n) % 3
    rows = check_problem(np.repeat(labels, rng.integers(1, 5, n), axis=0), 2)
    every = rows.labels[rows.inverse]  # a row for every object
    objects, blocks = Problem(every, np.ones(len(every)), 2, np.arange(len(every))), rng.integers(0, 2, rows.n_rows)

    def cspa_cut(problem, labels):
        graph = cspa_hgpa_mcla.similarity(incidence(problem), problem.n_clusterings)
        return cut(cspa_hgpa_mcla._by_pairs(graph, problem.weights), labels)

    assert cspa_cut(rows, blocks) == pytest.approx(cspa_cut(objects, blocks[rows.inverse]))
    jaccard = [cluster_jaccard(problem).toarray() for problem in (rows, objects)]
    assert jaccard[0] == pytest.approx(jaccard[1])
    by_row, by_object = (MCLA(random_state=0)._combine(problem).labels for problem in (rows, objects))
    assert same_partition(by_row[rows.inverse], by_object)


@pytest.mark.parametrize(("method", "most"), [(HGPA, 1.06), (HBGF, 1.2)])
def test_balance_is_of_objects_not_rows(method, most):
    labels, truth = noisy_copies(40, 2, 6, 0.2)
    weights = np.where(truth == 0, 1.0, 3.0)
    model = method(2, random_state=0).fit(labels, sample_weight=weights)
    assert np.bincount(model.labels_, weights).max() <= most * weights.sum() / 2


def test_memberships_follow_their_definitions():
    labels, _ = noisy_copies(60, 3, 5)
    labels[::7, 2] = -1
    model = CSPA(3, random_state=0).fit(labels)
    agree = ((labels[:, None] == labels[None]) & (labels[:, None] >= 0)).sum(axis=2)
    means = np.stack([agree[:, model.labels_ == c].mean(axis=1) for c in range(3)], axis=1)
    assert model.membership_ == pytest.approx(means / means.sum(axis=1, keepdims=True))


@settings(max_examples=20)
@given(
    n=st.integers(2, 40),
    sizes=st.lists(st.sampled_from([1, 2, 3, 30]), min_size=1, max_size=5),
    missing=st.sampled_from([0.0, 0.3, 0.8]),
    weighting=st.integers(0, 2),
    seed=st.integers(0, 2**32 - 1),
    budget=st.sampled_from([1.0, 1e9]),
)
def test_no_ensemble_breaks_a_method(n, sizes, missing, weighting, seed, budget):
    """Few rows, single clusters, many missing labels, no overlap, giants."""
    rng = np.random.default_rng(seed)
    labels = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
    labels[rng.random(labels.shape) < missing] = -1
    weights = (None, rng.random(n) + 0.01, np.where(np.arange(n) == 0, 1e12, 1.0))[weighting]
    try:
        k = int(rng.integers(2, check_problem(labels, 2, weights).n_rows + 1))
    except InputError:  # no label at all, or a single row: nothing to combine
        return
    methods = MCLA(k), CSPA(k, memory_budget=budget, n_neighbors=3), HBGF(k, max_rows=max(k, 10)), HGPA(k)
    for model in methods:
        model.set_params(random_state=0).fit(labels, sample_weight=weights)
        assert 1 <= model.n_clusters_ <= k
        assert ((model.labels_ >= 0) == (model.confidence_ > 0)).all()
        assert model.membership_.shape == (len(labels), model.n_clusters_)
        assert model.membership_.sum(axis=1) == pytest.approx((model.labels_ >= 0).astype(float))


def test_disconnected_parts_are_clusters():
    labels = np.full((40, 2), -1)
    labels[:20, 0] = 0
    labels[20:, 1] = 0
    labels[:10, 1] = 1  # so that there are more rows than parts
    labels[20:30, 0] = 1
    for model in (MCLA, CSPA, HBGF):
        found = model(2, random_state=0).fit(labels).labels_
        assert len(set(found[:10])) == len(set(found[20:30])) == 1
        assert found[0] != found[20]


def test_associations_are_the_same_without_a_dense_table(monkeypatch):
    labels = np.random.default_rng(0).integers(-1, 4, (50, 6))
    problem = check_problem(labels)
    meta = np.arange(int(problem.offsets[-1])) % 5
    dense = associate(problem, meta)
    monkeypatch.setattr(cspa_hgpa_mcla, "TABLE", 0)
    np.testing.assert_allclose(associate(problem, meta), dense, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-305, 1 / 3, 1, 1e300])
def test_planted_blocks_are_found_whatever_the_scale_of_the_weights(scale):
    graph, truth = block_graph(6, 20, 0.6, 0.05, 2)
    assert same_partition(partition_graph(graph * scale, 6, vertex_weights=np.full(120, scale)), truth)


def test_the_cut_is_the_best_of_all_balanced_ones():
    weights = np.triu(np.random.default_rng(3).random((8, 8)), 1)
    graph = sparse.csr_array(weights + weights.T)
    best = min(cut(graph, np.isin(np.arange(8), half).astype(int)) for half in itertools.combinations(range(8), 4))
    labels = partition_graph(graph, 2)
    assert np.bincount(labels).tolist() == [4, 4]
    assert cut(graph, labels) == pytest.approx(best)


def test_vertex_weights_are_balanced_and_a_giant_fills_a_block():
    path = sparse.diags_array([np.ones(11), np.ones(11)], offsets=[-1, 1], format="csr")
    weights = np.array([6.0, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3])
    labels = partition_graph(path, 2, vertex_weights=weights)
    assert np.bincount(labels, weights).tolist() == [12, 12]
    graph, _ = block_graph(1, 31, 0.5, 0, 1)
    weights = np.ones(31)
    weights[5] = 1e12
    labels = partition_graph(graph, 4, vertex_weights=weights)
    sizes = np.bincount(labels)
    assert sizes[labels[5]] == 1
    assert max(sizes) <= 11


def test_dense_graphs_keep_the_heaviest_edges():
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((200, 200)), 1)
    graph = sparse.csr_array(weights + weights.T)
    kept = partition._strongest(graph, rng)
    assert kept.nnz < 0.45 * graph.nnz
    bar = np.sort(graph.toarray(), axis=1)[:, -partition.HEAVIEST]
    expected = np.where((graph.toarray() >= bar[:, None]) | (graph.toarray() >= bar), graph.toarray(), 0)
    assert np.array_equal(kept.toarray(), expected)
    small = graph[:30][:, :30]
    assert partition._strongest(small, rng) is small


@st.composite
def graphs(draw):
    """Adjacency, number of blocks, vertex weights: sparse, dense, disconnected, without edges, tiny and giant weights."""
    n, rng = draw(st.integers(1, 40)), np.random.default_rng(draw(st.integers(0, 2**40)))
    values = np.exp(rng.normal(0, draw(st.sampled_from([0.0, 1.0, 100.0])), (n, n)))
    upper = np.triu(values * (rng.random((n, n)) < draw(st.sampled_from([0.0, 0.02, 0.2, 1.0]))), 1)
    weights = [None, np.zeros(n), (rng.random(n) < 0.5) * 1.0, np.exp(rng.normal(0, 20, n)), 1e9 ** (np.arange(n) == 0)]
    return sparse.csr_array(upper + upper.T), draw(st.integers(1, 45)), weights[draw(st.integers(0, 4))]


@given(graphs(), st.sampled_from([0.0, 0.05, 10.0]), st.sampled_from(["cut", "km1"]), st.integers(0, 2**40))
def test_any_graph_and_hypergraph_get_all_their_blocks(case, imbalance, objective, seed):
    graph, k, weights = case
    n, how = graph.shape[0], {"vertex_weights": weights, "imbalance": imbalance, "random_state": seed}
    edges = np.split(graph.indices, graph.indptr[1:-1])  # the neighbors of every vertex; empty and single ones as well
    for labels in (
        partition_graph(graph, k, **how),
        partition_hypergraph(edges, k, n_vertices=n, objective=objective, **how),
    ):
        assert labels.shape == (n,)
        assert sorted(set(labels.tolist())) == list(range(min(n, k)))


@pytest.mark.parametrize("objective", ["cut", "km1"])
def test_hyperedges_are_kept_whole_where_they_can_be(objective):
    rng = np.random.default_rng(5)
    truth = rng.permutation(np.repeat(np.arange(4), 15))
    edges = [rng.choice(np.flatnonzero(truth == c), 6, replace=False) for c in range(4) for _ in range(12)]
    edges += [rng.choice(60, 4, replace=False) for _ in range(6)]
    assert same_partition(partition_hypergraph(edges, 4, n_vertices=60, objective=objective), truth)


def test_an_empty_block_takes_the_vertex_least_tied_to_its_own():
    weights = np.zeros((4, 4))
    weights[[0, 1, 2], [1, 2, 3]] = [5, 1, 4]
    graph = sparse.csr_array(weights + weights.T)
    assert partition._fill_blocks(np.zeros(4, int), 2, graph).tolist() == [0, 0, 0, 1]
    assert partition._fill_blocks(np.array([0, 0, 1, 1]), 4, graph).tolist() == [2, 0, 3, 1]


@pytest.mark.skipif(not hasattr(multiprocessing, "get_context") or sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_library_survives_a_fork():
    graph, _ = block_graph(4, 20, 0.5, 0.05, 0)
    expected = partition_graph(graph, 4)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.starmap(partition_graph, [(graph, 4)] * 2):
            assert np.array_equal(expected, found)
