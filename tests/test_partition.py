"""The two partition functions: what they promise on ordinary graphs, and that nothing breaks them."""

import itertools
import multiprocessing
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience.consensus.methods import graph_partition as partition
from consilience.consensus.methods.graph_partition import partition_graph, partition_hypergraph
from samples import block_graph, cut, same_partition


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


def test_another_seed_finds_other_blocks():
    graph, _ = block_graph(1, 60, 0.3, 0, 4)
    assert len({tuple(partition_graph(graph, 5, random_state=seed)) for seed in range(4)}) > 1


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


@settings(max_examples=100, deadline=None)
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
        found = [pool.apply_async(partition_graph, (graph, 4)) for _ in range(2)]
        for got in found:
            assert np.array_equal(expected, got.get(timeout=60))
