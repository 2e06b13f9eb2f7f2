"""The two partition functions: what they promise on ordinary graphs, and that nothing breaks them."""

import itertools
import multiprocessing
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from consilience._check import InputError
from consilience.consensus.methods import graph_partition as partition
from consilience.consensus.methods.graph_partition import cut, partition_graph, partition_hypergraph
from samples import block_graph, same_partition


def test_planted_blocks_are_found():
    graph, truth = block_graph(6, 30, 0.5, 0.03, 0)
    labels = partition_graph(graph, 6)
    assert same_partition(labels, truth)


def test_the_cut_is_the_best_of_all_balanced_ones():
    rng = np.random.default_rng(3)
    weights = np.triu(rng.random((8, 8)), 1)
    graph = sparse.csr_array(weights + weights.T)
    best = min(cut(graph, np.isin(np.arange(8), half).astype(int)) for half in itertools.combinations(range(8), 4))
    labels = partition_graph(graph, 2)
    assert np.bincount(labels).tolist() == [4, 4]
    assert cut(graph, labels) == pytest.approx(best)


def test_vertex_weights_are_what_is_balanced():
    path = sparse.diags_array([np.ones(11), np.ones(11)], offsets=[-1, 1], format="csr")
    weights = np.array([6.0, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3])
    labels = partition_graph(path, 2, vertex_weights=weights)
    assert np.bincount(labels, weights).tolist() == [12, 12]


def test_a_giant_fills_a_block_and_the_others_are_balanced():
    graph, _ = block_graph(1, 31, 0.5, 0, 1)
    weights = np.ones(31)
    weights[5] = 1e12
    labels = partition_graph(graph, 4, vertex_weights=weights)
    sizes = np.bincount(labels)
    assert sizes[labels[5]] == 1
    assert max(sizes) <= 11


def test_the_scale_of_the_weights_does_not_matter():
    graph, truth = block_graph(3, 20, 0.6, 0.1, 2)
    for scale in (1e-305, 1 / 3, 1e300):
        labels = partition_graph(graph * scale, 3, vertex_weights=np.full(60, scale))
        assert same_partition(labels, truth)


def test_same_seed_same_blocks_and_another_seed_others():
    graph, _ = block_graph(1, 60, 0.3, 0, 4)
    first = partition_graph(graph, 5, random_state=7)
    assert np.array_equal(first, partition_graph(graph, 5, random_state=7))
    others = [partition_graph(graph, 5, random_state=seed) for seed in range(4)]
    assert any(not np.array_equal(first, other) for other in others)


def test_dense_graphs_keep_the_heaviest_edges():
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((200, 200)), 1)
    graph = sparse.csr_array(weights + weights.T)
    kept = partition._strongest(graph, rng)
    assert kept.nnz < 0.45 * graph.nnz
    assert abs(kept - kept.T).max() == 0
    bar = np.sort(graph.toarray(), axis=1)[:, -partition.HEAVIEST]
    expected = np.where((graph.toarray() >= bar[:, None]) | (graph.toarray() >= bar), graph.toarray(), 0)
    assert np.array_equal(kept.toarray(), expected)
    small = graph[:30][:, :30]
    assert partition._strongest(small, rng) is small


def graphs():
    """Adjacency, number of blocks, vertex weights: sparse, dense, disconnected, without edges, tiny and giant weights."""

    def build(n, density, scale, weighting, k, seed):
        rng = np.random.default_rng(seed)
        values = np.exp(rng.normal(0, scale, (n, n)))
        upper = np.triu(values * (rng.random((n, n)) < density), 1)
        giant = np.ones(n)
        giant[0] = 1e9
        weights = {
            "none": None,
            "zeros": np.zeros(n),
            "some": (rng.random(n) < 0.5).astype(float),
            "giant": giant,
            "wild": np.exp(rng.normal(0, 20, n)),
        }
        return sparse.csr_array(upper + upper.T), k, weights[weighting], seed

    return st.builds(
        build,
        st.integers(1, 40),
        st.sampled_from([0.0, 0.02, 0.2, 1.0]),
        st.sampled_from([0.0, 1.0, 100.0]),
        st.sampled_from(["none", "zeros", "some", "giant", "wild"]),
        st.integers(1, 45),
        st.integers(0, 2**40),
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(case=graphs(), imbalance=st.sampled_from([0.0, 0.05, 0.3, 10.0]))
def test_any_graph_gets_all_its_blocks(case, imbalance):
    graph, k, weights, seed = case
    n = graph.shape[0]
    labels = partition_graph(graph, k, vertex_weights=weights, imbalance=imbalance, random_state=seed)
    assert labels.shape == (n,)
    assert sorted(set(labels.tolist())) == list(range(min(n, k)))


@settings(max_examples=150, deadline=None)
@given(case=graphs(), objective=st.sampled_from(["cut", "km1"]))
def test_any_hypergraph_gets_all_its_blocks(case, objective):
    graph, k, weights, seed = case
    n = graph.shape[0]
    edges = np.split(graph.indices, graph.indptr[1:-1])  # the neighbors of every vertex; empty and single ones as well
    labels = partition_hypergraph(
        edges,
        k,
        n_vertices=n,
        vertex_weights=weights,
        objective=objective,
        random_state=seed,
    )
    assert sorted(set(labels.tolist())) == list(range(min(n, k)))


def test_hyperedges_are_kept_whole_where_they_can_be():
    rng = np.random.default_rng(5)
    truth = rng.permutation(np.repeat(np.arange(4), 15))
    edges = [rng.choice(np.flatnonzero(truth == c), 6, replace=False) for c in range(4) for _ in range(12)]
    edges += [rng.choice(60, 4, replace=False) for _ in range(6)]
    for objective in ("cut", "km1"):
        assert same_partition(partition_hypergraph(edges, 4, n_vertices=60, objective=objective), truth)


def test_hypergraph_blocks_are_balanced_by_weight():
    rng = np.random.default_rng(0)
    edges = [rng.choice(40, 3, replace=False) for _ in range(60)]
    weights = np.where(np.arange(40) < 4, 9.0, 1.0)
    labels = partition_hypergraph(edges, 2, n_vertices=40, vertex_weights=weights)
    assert np.bincount(labels, weights).max() <= 1.06 * weights.sum() / 2


def test_an_empty_block_takes_the_vertex_least_tied_to_its_own():
    weights = np.zeros((4, 4))
    weights[[0, 1, 2], [1, 2, 3]] = [5, 1, 4]
    graph = sparse.csr_array(weights + weights.T)
    assert partition._fill_blocks(np.zeros(4, int), 2, graph).tolist() == [0, 0, 0, 1]
    assert partition._fill_blocks(np.array([0, 0, 1, 1]), 4, graph).tolist() == [2, 0, 3, 1]


def test_the_diagonal_is_ignored_and_the_callers_graph_stays_as_it_is():
    graph, truth = block_graph(2, 12, 0.9, 0.05, 0)
    with_loops = sparse.csr_matrix(graph + 100 * sparse.eye_array(24))
    before = with_loops.copy()
    assert not partition._check_graph(with_loops).diagonal().any()
    assert same_partition(partition_graph(with_loops, 2), truth)
    assert abs(with_loops - before).max() == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no file descriptors to close")
def test_a_closed_standard_output_is_no_matter():
    code = (
        "import os; os.close(1); from consilience.consensus import MCLA; "
        "MCLA(2, random_state=0).fit([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1]])"
    )
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.skipif(not hasattr(multiprocessing, "get_context") or sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_library_survives_a_fork():
    graph, _ = block_graph(4, 20, 0.5, 0.05, 0)
    expected = partition_graph(graph, 4)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = [pool.apply_async(partition_graph, (graph, 4)) for _ in range(2)]
        for got in found:
            assert np.array_equal(expected, got.get(timeout=60))


@pytest.mark.parametrize(
    ("graph", "options", "words"),
    [
        (np.ones((2, 3)), {}, "square"),
        ([[0, 1], [0, 0]], {}, "symmetric"),
        ([[0, -1], [-1, 0]], {}, "not negative"),
        ([[0, np.nan], [np.nan, 0]], {}, "finite"),
        (np.ones((3, 3)), {"k": 0}, "number of blocks"),
        (np.ones((3, 3)), {"imbalance": -0.1}, "imbalance"),
        (np.ones((3, 3)), {"vertex_weights": [1, 2]}, "3 vertex weights"),
        (np.ones((3, 3)), {"vertex_weights": [1, 2, -1]}, "not negative"),
    ],
)
def test_bad_graphs_get_one_sentence(graph, options, words):
    options = {"k": 2} | options
    with pytest.raises(InputError, match=words):
        partition_graph(sparse.csr_array(np.asarray(graph, float)), options.pop("k"), **options)


def test_bad_hypergraphs_get_one_sentence():
    with pytest.raises(InputError, match="outside 0 … 2"):
        partition_hypergraph([[0, 3]], 2, n_vertices=3)
    with pytest.raises(InputError, match="objective"):
        partition_hypergraph([[0, 1]], 2, n_vertices=3, objective="soed")
