"""The method `graph`, Leiden on graphs of nearest neighbors and on given ones; spectral clustering, by landmarks or by all objects; trees
and layers of density: shapes that k-means cannot find, their parts against plain definitions, and new objects."""

import pickle
import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import cut_tree, fcluster, is_valid_linkage, linkage
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.generation import METHODS, Variations
from consilience.generation.kmeans import kmeans_runs
from consilience.generation.methods import describe
from consilience.generation.methods import landmarks as landmark_graph
from consilience.generation.methods.graph import igraph_of, leiden
from consilience.generation.methods.landmarks import choose_landmarks, landmark_run, nearest_landmarks
from consilience.generation.methods.linkage_genie_layers import (
    Trees,
    average_tree,
    cut,
    density_layers,
    genie_tree,
    layers_of,
    ward_tree,
)
from consilience.generation.methods.neighbors import Points, connectivities, nearest_neighbors
from consilience.generation.methods.spectral import first_vectors, spectral_run
from consilience.generation.plan import Plan
from consilience.generation.predict import Labeler
from consilience.generation.runner import Runner
from samples import refuses

RNG = np.random.default_rng(0)
Z = RNG.integers(5, size=200)
X = RNG.normal(size=(5, 6))[Z] * 3 + RNG.normal(size=(200, 6))
MOONS = make_moons(600, noise=0.06, random_state=0)


def plain_connectivities(X, k):
    """UMAP's formula, object by object: σ by bisection of Σ exp(−(d − ρ)⁺ / σ) = log₂ (k + 1)."""
    n = len(X)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    directed = np.zeros((n, n))
    for i in range(n):
        near = [j for j in np.argsort(distances[i], kind="stable") if j != i][:k]
        beyond = distances[i, near] - distances[i, near[0]]
        low, high = 1e-9, 1e9
        for _ in range(200):
            sigma = np.sqrt(low * high)
            if np.exp(-beyond / sigma).sum() > np.log2(k + 1):
                high = sigma
            else:
                low = sigma
        directed[i, near] = np.exp(-beyond / sigma)
    return directed + directed.T - directed * directed.T


def test_connectivities_are_those_of_the_formula():
    found = connectivities(*nearest_neighbors(X, 7)).toarray()
    assert np.allclose(found, plain_connectivities(X, 7), atol=1e-6)
    assert np.allclose(found, found.T)
    assert not found.diagonal().any()


def test_copies_of_objects_are_neighbors_and_not_the_object_itself():
    twice = np.repeat(np.arange(8.0)[:, None], 6, axis=0)
    distances, numbers = nearest_neighbors(twice, 4)
    assert not (numbers == np.arange(48)[:, None]).any()
    assert not distances.any()
    assert np.isfinite(connectivities(distances, numbers).data).all()


def test_wide_and_sparse_tables_are_reduced_and_new_rows_too():
    wide = np.hstack([X, 0.01 * RNG.normal(size=(200, 90))])
    for table in (wide, sparse.csr_matrix(wide)):
        points = Points.of(table)
        assert points.table.shape == (200, 50)
        assert np.allclose(points.transform(table[:9]), points.table[:9], atol=1e-8)
    centered = wide - wide.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:50]
    assert np.allclose(np.abs(Points.of(wide).table[:, :6]), np.abs(centered @ axes[:6].T), atol=1e-6)


def modularity(A, labels, resolution):
    degree, total = A.sum(axis=1), A.sum()
    same = labels[:, None] == labels
    return float(((A - resolution * np.outer(degree, degree) / total) * same).sum() / total)


def test_leiden_finds_communities_that_no_single_move_betters():
    A = connectivities(*nearest_neighbors(X, 10)).toarray()
    labels = leiden(igraph_of(A), 1.0, seed=3)
    assert np.array_equal(labels, leiden(igraph_of(A), 1.0, seed=3))
    assert (np.diff(np.bincount(labels)) <= 0).all()
    assert adjusted_rand_score(Z, labels) > 0.9
    best = modularity(A, labels, 1.0)
    assert best > modularity(A, Z, 1.0) - 1e-3
    for i in range(0, 200, 20):
        for c in range(labels.max() + 1):
            moved = labels.copy()
            moved[i] = c
            assert modularity(A, moved, 1.0) <= best + 1e-9


def test_the_resolution_follows_the_number_of_clusters():
    ens = cs.generate(X, 30, (2, 14), "graph")
    asked = ens.info["n_clusters"].to_numpy()
    assert np.corrcoef(asked, ens.n_clusters)[0, 1] > 0.9
    assert abs(ens.n_clusters - asked).mean() < 1.5
    assert ens.info["n_neighbors"].isin([10, 15, 20, 30]).all()
    assert describe(ens.info.loc[7]).startswith("Leiden clusters of a graph of ")
    assert np.median([adjusted_rand_score(Z, labels) for labels in ens.labels.T]) > 0.6


def test_resolutions_that_are_given():
    between = cs.generate(X, 20, 5, "graph", resolutions=(0.5, 2), graph_neighbors=12).info
    assert between["resolution"].between(0.5, 2).all()
    assert between["resolution"].nunique() == 20
    assert (between["n_neighbors"] == 12).all()
    among = cs.generate(X, 20, 5, "graph", resolutions=[0.1, 1, 4]).info
    assert set(among["resolution"]) == {0.1, 1, 4}


def test_clusterings_spread_evenly_over_what_they_are_drawn_from():
    for seed in range(3):
        asked = cs.generate(X, 48, (2, 13), "graph", random_state=seed).info["n_clusters"]
        assert asked.value_counts().size == 12
        assert asked.value_counts().between(3, 5).all()  # drawn at random, some would come once or nine times
        at = cs.generate(X, 16, 5, "graph", resolutions=(0.5, 8), random_state=seed).info["resolution"]
        octaves = np.log2(at / 0.5).astype(int).value_counts()
        assert octaves.size == 4
        assert octaves.between(3, 5).all()


def test_no_clustering_has_one_cluster():
    cloud = np.random.default_rng(2).normal(size=(90, 2))
    for how in ({"resolutions": [1e-3, 0.02, 1]}, {}):
        ens = cs.generate(cloud, 12, (2, 3), "graph", random_state=1, **how)
        assert ens.n_clusters.min() >= 2
        assert all(np.array_equal(Variations(cloud).remake(row), ens.labels[:, i]) for i, row in ens.info.iterrows())
        low = ens.info[ens.info["resolution"] < 1]
        numbers = set(low["n_neighbors"].astype(int))
        graphs = {k: igraph_of(connectivities(*nearest_neighbors(cloud, k))) for k in numbers}
        for row in low.itertuples():  # the resolution that is written down is about the lowest
            assert how == {} or leiden(graphs[int(row.n_neighbors)], row.resolution * 0.8, 0).max() == 0
    apart = sparse.block_diag([sparse.csr_matrix(np.ones((size, size))) for size in (4, 5)])
    parts = cs.generate(apart, 3, 2, "graph", metric="graph", resolutions=[1e-4])
    assert (parts.info["resolution"] == 1e-4).all()
    assert (parts.n_clusters == 2).all()


def test_a_resolution_that_turns_out_too_low_is_raised_and_that_is_said():
    cloud = np.random.default_rng(2).normal(size=(90, 2))
    row = cs.generate(cloud, 1, 2, "graph", graph_neighbors=10).info.loc[0]
    labels = cs.generate(cloud, 8, around=row, jitter=1.5)  # whose resolutions nobody has looked at before
    assert labels.n_clusters.min() >= 2
    notes = labels.info.loc[labels.info["note"].notna(), "note"]
    assert len(notes)
    assert notes.str.fullmatch(r"one cluster at resolution [\d.]+, so that [\d.]+ was taken").all()
    for i in range(8):
        assert np.array_equal(Variations(cloud).remake(labels.info.loc[i]), labels.labels[:, i])


def test_a_graph_of_ones_own():
    A = connectivities(*nearest_neighbors(X, 15))
    ens = cs.generate(A, 8, (2, 9), "graph", metric="graph")
    assert ens.info["n_neighbors"].isna().all()
    assert ens.info["compactness"].isna().all()
    row = ens.info.loc[3]
    assert np.array_equal(Variations(A).remake(row), ens.labels[:, 3])
    assert describe(row).startswith("Leiden clusters of a given graph")
    one_way = sparse.triu(A)
    assert np.array_equal(cs.generate(one_way, 8, (2, 9), "graph", metric="graph").labels, ens.labels)


def test_what_cannot_be_is_said():
    ask = partial(cs.generate, n_clusterings=3, n_clusters=2, methods="graph")
    refuses("zipf needs columns", ask, np.eye(5), metric="graph", methods="graph+zipf")
    refuses("5 rows and 4 columns", ask, np.ones((5, 4)), metric="graph")
    refuses("negative", ask, -np.ones((5, 5)), metric="graph")
    refuses("no edges", ask, np.eye(5), metric="graph")
    refuses("smaller number first", ask, X, resolutions=(2, 1))
    refuses("graph_neighbors", ask, X, graph_neighbors=0)
    refuses("there are 2", ask, X[:2])


def test_without_igraph_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(ImportError, match=r"consilience\[graph\]"):
        cs.generate(X, 3, 2, "graph")


def test_new_objects_go_with_their_neighbors(tmp_path):
    model = cs.EnsembleClusterer(5, n_clusterings=10, methods="graph").fit(X[:150])
    found = model.predict(X[150:])
    assert adjusted_rand_score(Z[150:], found) > 0.9
    model.save(tmp_path / "model")
    assert np.array_equal(cs.EnsembleClusterer.load(tmp_path / "model").predict(X[150:]), found)


def test_a_process_builds_each_graph_of_a_run_once():
    space = METHODS["graph"].fit_space(X, Plan.checked(methods="graph", n_clusters=(2, 5)))
    sent = pickle.dumps(space.table)
    first, again = pickle.loads(sent), pickle.loads(sent)
    assert first.graph(10) is again.graph(10)
    assert first.graph(10) is not space.table.graph(10)
    assert first.graph(15).ecount() > first.graph(10).ecount() == space.table.graph(10).ecount()
    other = METHODS["graph"].fit_space(X + 1, Plan.checked(methods="graph", n_clusters=(2, 5)))
    assert pickle.loads(pickle.dumps(other.table)).graph(10) is not first.graph(10)


def test_the_graph_of_an_anndata_is_taken():
    anndata = pytest.importorskip("anndata")
    halves = np.kron(np.eye(2), np.ones((20, 20))) - np.eye(40)
    adata = anndata.AnnData(np.random.default_rng(0).normal(size=(40, 5)), obsp={"connectivities": halves})
    found = cs.generate(adata, 3, 2, "graph")
    assert all(adjusted_rand_score(np.repeat([0, 1], 20), labels) == 1 for labels in found.labels.T)
    assert list(found.ids) == list(adata.obs_names)
    assert "connectivities" not in str(cs.generate(adata, 2, 2, "minima").info["settings"][0])
    other = cs.generate(adata, 3, 2, "graph", key="X")  # what is asked for goes before it
    assert not all(adjusted_rand_score(np.repeat([0, 1], 20), labels) == 1 for labels in other.labels.T)


def rings(n=300):
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 3 * n)
    radius = np.repeat([1.0, 2.0, 3.0], n)
    noise = np.random.default_rng(1).normal(scale=0.04, size=(3 * n, 2))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + noise, np.repeat(np.arange(3), n)


@pytest.mark.parametrize("shapes", [MOONS, rings()], ids=["moons", "rings"])
def test_shapes_that_k_means_cannot_find(shapes):
    X, known = shapes
    k = len(set(known))
    found = landmark_run(X, k, n_landmarks=200, n_neighbors=5, seed=0, unit=0).labels[0]
    assert adjusted_rand_score(known, found) > 0.98
    assert adjusted_rand_score(known, kmeans_runs(X, [k]).labels[0]) < 0.6
    ensemble = cs.generate(X, 15, (k, 4 * k), "landmarks", random_state=0)
    assert adjusted_rand_score(known, cs.combine(ensemble, k, random_state=0).labels) > 0.95


@pytest.mark.parametrize(("p", "number"), [(7, 3), (40, 5), (60, 5), (101, 5), (1000, 5), (999, 1), (12, 12)])
def test_nearest_landmarks_are_the_nearest(p, number):
    rng = np.random.default_rng(p)
    X, landmarks = rng.normal(size=(50, 7)) + 1e5, rng.normal(size=(p, 7)) + 1e5
    squares = np.square(X[:, None] - landmarks).sum(axis=2)
    near, found = nearest_landmarks(X, landmarks, number)
    np.testing.assert_array_equal(near, np.sort(np.argsort(squares, axis=1)[:, :number], axis=1))
    np.testing.assert_allclose(found, np.take_along_axis(squares, near.astype(int), axis=1))


def test_spectral_finds_rings_that_k_means_cannot():
    X, known = rings(150)
    some = known != 1
    found = spectral_run(X[some], 2, 16.0, seed=0, unit=0).labels[0]
    assert adjusted_rand_score(known[some], found) == 1.0


def test_spectral_with_objects_like_no_other():
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 2)), [[1e4, 1e4], [-1e4, 3e4]]])
    assert spectral_run(X, 3, 1e6, seed=0, unit=0).labels[0].min() >= 0


def test_nearest_landmarks_of_sparse_rows_are_those_of_dense_ones():
    counts = sparse.random(200, 40, 0.3, format="csr", random_state=0)
    some = counts[:30]
    near, found = nearest_landmarks(counts, some, 3)
    np.testing.assert_allclose(nearest_landmarks(counts, some.toarray(), 3)[1], found, atol=1e-12)
    dense = nearest_landmarks(counts.toarray(), some.toarray(), 3)
    np.testing.assert_array_equal(near, dense[0])
    np.testing.assert_allclose(found, dense[1], atol=1e-12)


def test_the_transfer_cut_is_the_cut_of_the_bipartite_graph():
    """Its vectors are those of the whole graph of objects and landmarks (Li, Wu and Chang 2012): λ (1 + …) aside, the same spaces."""
    X = MOONS[0][:150]
    landmarks = choose_landmarks(X, 40, 0, 0)
    near, squares = nearest_landmarks(X, landmarks, 5)
    sigma = np.sqrt(squares).mean()
    Z = np.zeros((150, len(landmarks)))
    np.put_along_axis(Z, near.astype(int), np.exp(-squares / (2 * sigma**2)), axis=1)
    whole = np.block([[np.zeros((150, 150)), Z], [Z.T, np.zeros((len(landmarks),) * 2)]])
    degree = whole.sum(axis=1)
    values, vectors = np.linalg.eigh(whole / np.sqrt(np.outer(degree, degree)))
    expected = (vectors / np.sqrt(degree)[:, None])[:150, np.argsort(-values)[:4]]
    ties = landmark_graph._ties(near, squares, sigma, len(landmarks))
    found = (ties @ landmark_graph.landmark_vectors(ties, 4, tau=0.0)) / ties.sum(axis=1).A1[:, None]
    for one, other in zip(expected.T, found.T[::-1], strict=True):  # the same up to their lengths and signs
        assert abs(one @ other) / np.linalg.norm(one) / np.linalg.norm(other) > 1 - 1e-6


def test_all_landmarks_are_tied_a_little():
    X = MOONS[0][:150]
    landmarks = choose_landmarks(X, 40, 0, 0)
    near, squares = nearest_landmarks(X, landmarks, 5)
    ties = landmark_graph._ties(near, squares, 1.0, len(landmarks))
    Z, p = ties.toarray(), len(landmarks)
    E = Z.T @ (Z / Z.sum(axis=1, keepdims=True))
    E += 0.1 * E.sum() / p**2
    root = 1 / np.sqrt(E.sum(axis=1))
    _, vectors = np.linalg.eigh(E * np.outer(root, root))
    found = landmark_graph.landmark_vectors(ties, 3, tau=0.1)
    np.testing.assert_allclose(np.abs(found), np.abs(vectors[:, -3:] * root[:, None]), atol=1e-5)


def test_outliers_do_not_take_the_clusters():
    X, known = make_blobs(600, 2, centers=4, cluster_std=1.0, random_state=3)
    far = np.repeat([[60.0, 0], [0, 60], [-60, 0], [0, -60]], 6, axis=0)
    apart = np.concatenate([X, far + np.random.default_rng(0).normal(size=far.shape)])
    found = landmark_run(apart, 4, n_landmarks=200, n_neighbors=5, seed=0, unit=0).labels[0]
    assert adjusted_rand_score(known, found[:600]) > 0.8


def test_first_vectors_iterated_and_direct():
    rng = np.random.default_rng(0)
    matrix = sparse.random(600, 600, 0.02, random_state=rng)
    matrix = sparse.csr_matrix(matrix + matrix.T)
    _, vectors = np.linalg.eigh(matrix.toarray())
    np.testing.assert_allclose(np.abs(first_vectors(matrix, 3)), np.abs(vectors[:, -3:]), atol=1e-4)
    plus = rng.normal(size=600)
    _, vectors = np.linalg.eigh(matrix.toarray() + np.outer(plus, plus))
    np.testing.assert_allclose(np.abs(first_vectors(matrix, 3, plus=plus)), np.abs(vectors[:, -3:]), atol=1e-4)
    pieces = sparse.kron(sparse.eye(100), np.ones((6, 6)), format="csr")  # eigenvalue 6 a hundred times
    found = first_vectors(pieces, 40)
    np.testing.assert_allclose(pieces @ found, 6 * found, atol=1e-6)


def test_many_objects_are_labeled_by_the_centers_of_some(monkeypatch):
    X, known = MOONS
    monkeypatch.setattr(landmark_graph, "EMBEDDED", 300)
    found = landmark_run(X, 2, n_landmarks=100, n_neighbors=5, seed=0, unit=0)
    assert adjusted_rand_score(known, found.labels[0]) > 0.98
    np.testing.assert_array_equal(found.predictor.label(X), found.labels[0])


def test_depends_on_its_unit_alone():
    X = MOONS[0]
    many = cs.generate(X, 6, (4, 9), "landmarks", random_state=3)
    few = cs.generate(X, 6, (4, 9), "landmarks+minima", random_state=3)
    for i in np.flatnonzero(few.info["method"] == "landmarks"):
        np.testing.assert_array_equal(few.labels[:, i], many.labels[:, i])
    assert len({labels.tobytes() for labels in many.labels.T.copy()}) == 6
    scaled = cs.generate(X * 4 - 7, 6, (4, 9), "landmarks", random_state=3)
    np.testing.assert_array_equal(scaled.labels, many.labels)


def test_new_objects_get_the_label_that_the_run_would_give():
    X, known = MOONS
    plan = Plan.checked(methods="landmarks", n_clusters=(2, 6), n_landmarks=150)
    runner = Runner(X[:400], plan, keeps_predictors=True)
    ensemble = runner.run(4)
    labeler = pickle.loads(pickle.dumps(Labeler.of(runner, ensemble)))
    np.testing.assert_array_equal(labeler.label(X[:400]), ensemble.labels)
    assert len(pickle.dumps(labeler)) < 200_000
    model = cs.EnsembleClusterer(2, n_clusterings=8, methods="landmarks", random_state=0).fit(X[:400])
    assert adjusted_rand_score(known[400:], model.predict(X[400:])) > 0.95


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_a_model_keeps_its_landmarks_in_float32(kind, monkeypatch):
    monkeypatch.setattr(landmark_graph, "DENSE", 0)  # landmarks of sparse tables are some of their rows
    X, known = make_blobs(600, 40, centers=4, center_box=(1e5, 1e5 + 10), random_state=0)
    made = landmark_run(kind(X), 4, n_landmarks=300, n_neighbors=5, seed=0, unit=0)
    np.testing.assert_array_equal(made.predictor.label(kind(X)), made.labels[0])
    if kind is np.asarray:  # sparse tables are not centered
        assert adjusted_rand_score(known, made.labels[0]) > 0.98
    per_number = 4 if kind is np.asarray else 8
    assert len(pickle.dumps(made.predictor)) < 300 * 40 * per_number + 300 * 4 * 4 + 5000


def test_few_and_equal_objects():
    assert cs.generate(np.arange(6.0).reshape(3, 2), 3, 2, "landmarks").n_clusterings == 3
    equal = np.repeat([[0.0, 1.0], [5.0, 2.0]], 40, axis=0)
    labels = cs.generate(equal, 3, 2, "landmarks", standardize=False).labels
    assert all(adjusted_rand_score(np.repeat([0, 1], 40), one) == 1 for one in labels.T)
    X, _ = make_blobs(200, 3, centers=3, random_state=0)
    X[0] = 1e6  # far from everything
    assert (cs.generate(X, 3, 3, "landmarks").labels >= 0).all()


TREES = ["average", "ward", "genie", "layers"]
BLOBS = make_blobs([60, 90, 150], 2, centers=[[0, 0], [9, 0], [4, 8]], random_state=0)


@pytest.mark.parametrize("make", [average_tree, ward_tree, genie_tree])
def test_a_cut_of_a_tree_is_that_of_scipy(make):
    tree = make(X)
    assert is_valid_linkage(tree)
    for k in (1, 2, 5, 40, 199, 200):
        labels = cut(tree, k)
        _, first = np.unique(labels, return_index=True)
        assert len(first) == k
        assert (np.diff(first) > 0).all()  # numbered by their first objects
        np.testing.assert_array_equal(labels, cut_tree(tree, k)[:, 0])
        assert adjusted_rand_score(fcluster(tree, k, "maxclust"), labels) == 1


def test_genie_on_trees_of_any_unevenness():
    uneven = np.concatenate([np.random.default_rng(0).normal(size=(200, 2)), [[9, 9], [-9, 9], [20, 0]]])
    single = linkage(uneven, "single")
    for k in (2, 4, 9):
        assert adjusted_rand_score(fcluster(single, k, "maxclust"), cut(genie_tree(uneven, 1.0), k)) == 1
        assert np.bincount(cut(genie_tree(uneven, 0.0), k)).min() > 100 / k
    moons, known = MOONS
    assert adjusted_rand_score(known, cut(genie_tree(moons), 2)) > 0.99


def plain_leaves(merges, least, m):
    """The leaves just above the least size m, as sets of objects, and their persistence: by definition."""
    sets = [frozenset([i]) for i in range(len(merges) + 1)]
    for a, b in merges:
        sets.append(sets[a] | sets[b])
    deaths = [(sets[a], sets[b], min(len(sets[a]), len(sets[b]))) for a, b in merges]
    leaves = {}
    for *pair, death in deaths:
        for side in pair:
            birth = max([least, *(below for one, other, below in deaths if one | other <= side)])
            if birth <= m < death:
                leaves[side] = death - birth
    return leaves


@pytest.mark.parametrize("seed", range(6))
def test_layers_are_those_of_the_definition(seed):
    points = np.random.default_rng(seed).normal(size=(80, 2)) + np.repeat([[0, 0], [4, 0]], 40, axis=0)
    merges = linkage(points, ["single", "average"][seed % 2])[:, :2].astype(int)
    leaves = [plain_leaves(merges, 3, m) for m in range(3, 81)]
    totals = np.array([sum(each.values()) for each in leaves])
    layers = layers_of(merges, 3)
    assert layers[0][2] == totals.max()
    best = leaves[int(totals.argmax())]
    assert {frozenset(np.flatnonzero(layers[0][1] == c).tolist()) for c in range(layers[0][0])} == set(best)
    steps = totals[np.flatnonzero(np.diff(totals, prepend=-1))]
    peaks = [b for a, b, c in zip([0, *steps[:-1]], steps, [*steps[1:], 0], strict=True) if a < b > c]
    assert [layer[2] for layer in layers] == sorted(peaks, reverse=True)


def test_layers_find_blobs_and_noise():
    points, known = BLOBS
    number, labels, persistence = density_layers(points)[0]
    assert number == 3
    assert persistence > 0
    assert adjusted_rand_score(known[labels >= 0], labels[labels >= 0]) == 1
    assert (labels < 0).mean() < 0.1
    far = np.concatenate([points, [[40, 40], [-40, 5]]])
    assert (density_layers(far)[0][1][-2:] == -1).all()
    assert density_layers(np.arange(5.0)[:, None]) == []


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_trees_in_a_run(kind):
    points, known = BLOBS
    wide = np.hstack([points, 0.01 * RNG.normal(size=(300, 90))])
    for table in (points, wide):
        ens = cs.generate(kind(table), 16, (2, 5), "+".join(TREES), standardize=False)
        methods = ens.info["method"]
        assert methods.value_counts().to_dict() == dict.fromkeys(TREES, 4)
        asked = ens.info["n_clusters"] == ens.n_clusters
        assert asked[methods != "layers"].all()
        assert all(adjusted_rand_score(known, ens.labels[:, i]) > 0.98 for i in np.flatnonzero(ens.n_clusters == 3))
        assert describe(ens.info.loc[0]) == f"Average linkage, {ens.n_clusters[0]} clusters"


def test_trees_of_some_objects(tmp_path):
    points, known = BLOBS
    how = {"methods": "+".join(TREES), "tree_objects": 80, "random_state": 1}
    whole = cs.generate(points, 8, 3, **how, store=tmp_path / "run")
    assert min(adjusted_rand_score(known, labels) for labels in whole.labels.T) > 0.95
    for i in range(8):
        assert np.array_equal(Variations(points).remake(whole.info.loc[i]), whole.labels[:, i])
    longer = cs.generate(points, 12, 3, **how, store=tmp_path / "run")
    np.testing.assert_array_equal(longer.labels[:, :8], whole.labels)
    drawn = METHODS["genie"].fit_space(points, Plan.checked(methods="genie", n_clusters=3, tree_objects=80))
    assert isinstance(drawn, Trees)
    assert np.bincount(drawn.table.nearest).shape == (80,)
    with pytest.warns(match="raise tree_objects"):
        cs.generate(points, 9, [81, 2], "ward", tree_objects=80)
    refuses("tree_objects", cs.generate, points, 2, 3, "ward", tree_objects=1)


def test_new_objects_go_with_the_nearest_of_a_tree(tmp_path):
    points, known = BLOBS
    model = cs.EnsembleClusterer(3, n_clusterings=8, methods="+".join(TREES)).fit(points[::2])
    found = model.predict(points[1::2])
    assert adjusted_rand_score(known[1::2], found) > 0.98
    model.save(tmp_path / "model")
    assert np.array_equal(cs.EnsembleClusterer.load(tmp_path / "model").predict(points[1::2]), found)


def test_data_without_two_dense_parts_has_no_layers():
    refuses("no two parts", cs.generate, np.arange(8.0)[:, None], 2, 2, "layers")
