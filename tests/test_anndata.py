"""`consilience.anndata`: what goes into an AnnData, what comes out of a file again, and with scanpy itself."""

import warnings
from dataclasses import fields

import anndata
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy import sparse
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, roc_auc_score

import consilience as cs
import consilience.anndata as ca
from consilience.anndata.h5ad_values import without_crumbs
from consilience.explorer.sources import open_clusterings
from consilience.generation.methods.neighbors import connectivities, nearest_neighbors
from consilience.measures import element_centric
from samples import refuses

plt.switch_backend("Agg")
RNG = np.random.default_rng(1)
TYPES = np.repeat(np.arange(6), 40)
MARKERS = np.zeros((6, 30))
MARKERS[np.arange(6), np.arange(6)] = 3  # gene i marks type i
MARKERS[:3, 10:13] = 3  # three types of one kind
MARKERS[3:, 13:16] = 3


def cells(**more):
    values = np.log1p(RNG.poisson(np.exp(MARKERS[TYPES] * 0.8) * 0.6))
    adata = anndata.AnnData(sparse.csr_matrix(values), **more)
    adata.obs_names = [f"cell{i}" for i in range(240)]
    adata.var_names = [f"gene{i}" for i in range(30)]
    adata.obs["type"] = pd.Categorical(TYPES.astype(str))
    return adata


@pytest.fixture(scope="module")
def made():
    adata = cells()
    ca.generate(adata, 30, use_rep="X")
    ca.combine(adata, n_clusters="auto")
    ca.compare(adata)
    ca.split_genes(adata)
    return adata


def same(a, b):
    for field in fields(a):
        one, other = getattr(a, field.name), getattr(b, field.name)
        if field.name == "estimator":
            assert other is None
        elif isinstance(one, pd.DataFrame):
            pd.testing.assert_frame_equal(one, other, check_dtype=len(one) > 0)  # text of no rows is of no type
        else:
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None), field.name
            np.testing.assert_equal(other, one, field.name)


def with_runs(labels_of, n=6):
    """Cells with Leiden runs in `obs`."""
    adata = cells()
    for i in range(n):
        adata.obs[f"leiden_{i}"] = pd.Categorical(np.asarray(labels_of(i)).astype(str))
    return adata


def kinds_and_types(i):
    return TYPES // 3 if i % 2 else TYPES


def test_the_types_of_cells_are_found(made):
    assert adjusted_rand_score(TYPES, made.obs["consensus"]) > 0.9
    assert isinstance(made.obs["consensus"].dtype, pd.CategoricalDtype)
    for what in ("confidence", "support"):
        assert made.obs[f"consensus_{what}"].between(0, 1).all()
    assert made.obsm["clusterings"].shape == (240, 30)
    assert made.obsm["clusterings"].dtype == np.int8
    assert made.uns["clusterings"]["info"]["found"].between(2, 30).all()
    numbers = ca.ensemble(made).n_clusters
    assert numbers.min() <= 3
    assert numbers.max() >= 8
    assert len(np.unique(numbers)) >= 5


def test_a_file_keeps_everything(made, tmp_path):
    path = tmp_path / "cells.h5ad"
    made.write_h5ad(path)
    read = anndata.read_h5ad(path)
    same(ca.consensus(made), ca.consensus(read))
    before, after = ca.ensemble(made), ca.ensemble(read)
    np.testing.assert_array_equal(before.labels, after.labels)
    pd.testing.assert_frame_equal(before.info, after.info)
    assert list(after.ids) == list(read.obs_names)
    for table in ("tree", "split_genes"):
        pd.testing.assert_frame_equal(made.uns["consensus"][table], read.uns["consensus"][table], check_dtype=False)
    pd.testing.assert_frame_equal(made.uns["comparison"]["values"], read.uns["comparison"]["values"])
    np.testing.assert_array_equal(made.obs["comparison_consistency"], read.obs["comparison_consistency"])
    pd.testing.assert_frame_equal(ca.split_genes(read), ca.split_genes(made))


def test_families_are_kept_in_a_file(tmp_path):
    rng, adata = np.random.default_rng(0), cells()
    for kind in "ab":
        truth = rng.integers(0, 3, 240)
        for copy in range(5):
            adata.obs[f"{kind}{copy}"] = np.where(rng.random(240) < 0.1, rng.integers(0, 3, 240), truth).astype(str)
    found = ca.combine(adata, [f"{kind}{copy}" for kind in "ab" for copy in range(5)], n_clusters=3, scales=False)
    assert sorted(family.tolist() for family in found.families) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    same(found, ca.consensus(anndata.read_h5ad(tmp_path / "cells.h5ad")))


@pytest.mark.parametrize("numbers_asked", [(None, 5), pytest.param((2, 4), marks=pytest.mark.slow)])
def test_the_answer_is_one_of_the_scales(numbers_asked):
    adata = cells()
    ca.generate(adata, 20, use_rep="X", random_state=5)
    stable = ca.combine(adata, n_clusters="auto", key_added="stable")
    same(stable, ca.consensus(adata, "stable"))
    np.testing.assert_array_equal(cs.combine(ca.ensemble(adata), "auto").labels, stable.labels)
    for k in numbers_asked:
        found = ca.combine(adata, n_clusters=k)
        assert k in (None, found.n_clusters)
        middle = int(np.ceil(np.median(ca.ensemble(adata).n_clusters)))
        np.testing.assert_array_equal(cs.combine(ca.ensemble(adata), k or middle).labels, found.labels)
        assert (f"{middle} is the median" in found.note) == (k is None)
        assert set(stable.scales["n_clusters"]) <= set(found.scales["n_clusters"])
        numbers = sorted(found.scales["n_clusters"])
        np.testing.assert_array_equal(found.scale_labels[:, numbers.index(found.n_clusters)], found.labels)
        assert [column.max() + 1 for column in found.scale_labels.T] == numbers
        curve = found.curve.set_index("n_clusters")["stability"]
        for row in found.scales.itertuples():
            assert row.stability == pytest.approx(curve[row.n_clusters])
        same(found, ca.consensus(adata))
    alone = ca.combine(adata, n_clusters=3, scales=False)
    assert "consensus_scale_labels" not in adata.obsm
    same(alone, ca.consensus(adata))


@pytest.mark.slow
def test_verbs_take_what_was_written(made, tmp_path):
    path = tmp_path / "cells.h5ad"
    made.write_h5ad(path)
    for source in (made, path):
        np.testing.assert_array_equal(cs.Ensemble(source).labels, ca.ensemble(made).labels)
        opened = open_clusterings(source)
        assert opened.ensemble.n_clusterings == 30
        assert set(opened.opened.known) == {"type"}  # not what was made of the clusterings
        assert opened.opened.data.values.shape == (240, 30)
        assert cs.combine(source, 6).n_clusters == 6


def test_cells_without_a_label_have_no_cluster():
    adata = with_runs(lambda i: TYPES)
    adata.obs.loc["cell5", [f"leiden_{i}" for i in range(6)]] = np.nan
    found = ca.combine(adata, n_clusters=6)
    assert adata.obs["consensus"].isna().to_numpy().nonzero()[0].tolist() == [5]
    same(found, ca.consensus(adata))


def test_the_graph_that_scanpy_made_is_used_and_new_ones_are_made_where_asked():
    adata = cells()
    adata.obsm["X_pca"] = adata.X.toarray()[:, :16]
    ca.generate(adata, 4)
    assert adata.uns["clusterings"]["source"] == "obsm X_pca"
    graph = sparse.csr_matrix(TYPES[:, None] == TYPES, dtype=float)
    adata.obsp["connectivities"] = graph
    adata.uns["neighbors"] = {"connectivities_key": "connectivities", "params": {}}
    ca.generate(adata, 4, key_added="own")
    assert adata.uns["own"]["source"] == "obsp connectivities"
    assert {adjusted_rand_score(TYPES, labels) for labels in ca.ensemble(adata, "own").labels.T} == {1.0}
    ca.generate(adata, 4, n_neighbors=[8, 12], key_added="anew")
    assert ca.ensemble(adata, "anew").info["n_neighbors"].isin([8, 12]).all()
    adata.obsp["mine"], adata.uns["mine"] = graph, {"connectivities_key": "mine"}
    ca.generate(adata, 4, neighbors_key="mine", resolutions=[0.5, 1, 2])
    assert adata.uns["clusterings"]["source"] == "obsp mine"
    assert set(ca.ensemble(adata).info["resolution"]) <= {0.5, 1, 2}
    assert list(ca.combine(adata).members["clustering"]) == [f"clusterings_{i}" for i in range(4)]  # the last written


def test_compare_is_pairwise_by_rising_number_of_clusters(made):
    values = ca.compare(made, key_added="again")
    ens = ca.ensemble(made)
    order = np.argsort(ens.n_clusters, kind="stable")
    assert list(values.columns) == [ens.names[i] for i in order]
    first, last = ens.labels[:, order[0]], ens.labels[:, order[-1]]
    assert values.iloc[0, -1] == pytest.approx(adjusted_mutual_info_score(first, last), abs=1e-9)
    by_elements = ca.compare(made, measure="ecs", key_added="again")
    assert by_elements.iloc[0, -1] == pytest.approx(element_centric(first, last))
    pairs = [element_centric(a, b, per_object=True)[17] for i, a in enumerate(ens.labels.T) for b in ens.labels.T[:i]]
    assert made.obs["again_consistency"].iloc[17] == pytest.approx(np.mean(pairs))


def test_genes_of_a_split(made):
    table = ca.split_genes(made, n_genes=3)
    found = ca.consensus(made)
    dense = made.X.toarray()
    row = table.iloc[0]
    upper, lower = found.scale_labels[:, row["level"]], found.scale_labels[:, row["level"] + 1]
    siblings = table.loc[(table["level"] == row["level"]) & (table["cluster"] == row["cluster"]), "child"].unique()
    own = (upper == row["cluster"]) & (lower == row["child"])
    rest = (upper == row["cluster"]) & np.isin(lower, siblings) & (lower != row["child"])
    values = dense[:, int(row["gene"].removeprefix("gene"))]
    both = own | rest
    assert row["auc"] == pytest.approx(roc_auc_score(own[both], values[both]))
    fold = np.log2(np.expm1(values[own].mean()) / np.expm1(values[rest].mean()))
    assert row["log2_fold_change"] == pytest.approx(fold, abs=1e-6)
    assert row["share_in"] == pytest.approx((values[own] > 0).mean())
    best = max(roc_auc_score(own[both], column[both]) for column in dense.T)
    assert row["auc"] == pytest.approx(best)  # no gene tells them apart better


def test_genes_of_a_planted_split():
    adata = with_runs(kinds_and_types)  # two kinds, then six types
    ca.combine(adata, n_clusters=6)
    table = ca.split_genes(adata, n_genes=1)
    found = ca.consensus(adata)
    planted = 0
    for row in table.itertuples():
        upper, lower = found.scale_labels[:, row.level], found.scale_labels[:, row.level + 1]
        if len(set(TYPES[upper == row.cluster] // 3)) == len(set(TYPES[lower == row.child])) == 1:
            assert row.gene == f"gene{TYPES[lower == row.child][0]}"
            planted += 1
    assert planted >= 3
    adata.layers["dense"] = adata.X.toarray()
    pd.testing.assert_frame_equal(ca.split_genes(adata, n_genes=1, layer="dense"), table)
    adata.raw = adata
    adata.X = sparse.csr_matrix(adata.shape)
    pd.testing.assert_frame_equal(ca.split_genes(adata, n_genes=1), table)
    ca.combine(adata, n_clusters=3, scales=False)
    refuses("nothing splits", ca.split_genes, adata)


def test_pictures_are_axes(made):
    adata = made.copy()
    tree = ca.plot_tree(adata)
    words = {text.get_text() for text in tree.texts}
    top = made.uns["consensus"]["split_genes"].iloc[0]
    assert any(top["gene"] in word for word in words)
    assert not any("gene" in text.get_text() for text in ca.plot_tree(adata, genes=0).texts)
    assert tree.get_yticklabels()[0].get_text().endswith("clusters")
    stability = ca.plot_stability(adata)
    assert stability.get_xlabel() == "number of clusters"
    given = plt.figure().subplots(1, 3)
    for axis, draw in zip(given, (ca.plot_tree, ca.plot_stability), strict=False):
        assert draw(adata, ax=axis) is axis
    assert ca.plot_tree(adata, keys=["type", "consensus"], color="gene3", ax=given[2]) is given[2]
    adata.raw = adata.copy()
    adata.X = sparse.csr_matrix(adata.shape)
    by_gene = ca.plot_tree(adata, keys=["type", "consensus"], color="gene3").collections[0].get_array()
    assert max(by_gene) == pytest.approx(made.X.toarray()[TYPES == 3, 3].mean(), rel=0.05)
    adata.raw.var.index = ["gene3", "gene3", *adata.raw.var_names[2:]]
    refuses("3 genes are called 'gene3'", ca.plot_tree, adata, keys=["type", "consensus"], color="gene3")
    plt.close("all")


def test_what_cannot_be_is_said():
    refuses(r"sc\.pp\.pca", ca.generate, cells())
    refuses("use_rep", ca.generate, cells(), use_rep="X_pcs")
    refuses("say the same thing", ca.generate, cells(), use_rep="X", resolutions=1, n_clusters=3)
    refuses("no graph 'other'", ca.generate, cells(), use_rep="X", neighbors_key="other")
    refuses("no clusterings", ca.combine, cells())
    for verb in (ca.consensus, ca.plot_stability):
        refuses("call it first", verb, cells())
    for verb in (ca.generate, ca.combine, ca.consensus, ca.plot_stability):
        refuses("must be an AnnData", verb, np.zeros((5, 5)))


def with_scanpy(**how):
    scanpy = pytest.importorskip("scanpy", reason="scanpy is not installed: pip install 'consilience[test]'")
    adata = cells()
    scanpy.pp.pca(adata, n_comps=10)
    scanpy.pp.neighbors(adata, n_neighbors=12, use_rep="X_pca", **how)
    scanpy.tl.leiden(adata, resolution=1.0, flavor="igraph", n_iterations=2, directed=False)
    return adata


def test_beside_scanpy():
    adata = with_scanpy(method="gauss")
    ca.generate(adata, 20)
    assert adata.uns["clusterings"]["source"] == "obsp connectivities"
    ca.combine(adata, n_clusters=6)
    assert adjusted_rand_score(adata.obs["leiden"], adata.obs["consensus"]) > 0.95


@pytest.mark.slow
def test_edges_weigh_what_they_weigh_in_scanpy():
    """Slow, since umap-learn is compiled first."""
    adata = with_scanpy()
    ours = connectivities(*nearest_neighbors(adata.obsm["X_pca"].astype(float), 11))
    assert abs(ours - adata.obsp["connectivities"]).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sc_pollen", "sc_yan", "sc_pbmc68k_reduced"])
def test_real_cells(name, data_folder):
    """The consensus is at or above the median Leiden run, and single runs of another seed agree with it as its support says."""
    with np.load(data_folder / f"{name}.npz") as file:
        parts = dict(file)
    three = (parts.get(part) for part in ("data", "indices", "indptr"))
    values = parts["X"] if "X" in parts else sparse.csr_matrix(tuple(three), tuple(parts["shape"]))
    values = sparse.csr_matrix(np.log1p(values) if name == "sc_yan" else values)
    adata = anndata.AnnData(values)
    for seed, key in ((0, "runs"), (1, "others")):
        ca.generate(adata, 50, use_rep="X", random_state=seed, key_added=key)
    found = ca.combine(adata, "runs", scales=False)
    single = [adjusted_rand_score(parts["y"], labels) for labels in ca.ensemble(adata, "runs").labels.T]
    assert adjusted_rand_score(parts["y"], found.labels) >= np.median(single) - 1e-9
    agree = []
    for labels in ca.ensemble(adata, "others").labels.T:
        table = pd.crosstab(labels, found.labels)
        agree.append((table.idxmax(axis=1)[labels].to_numpy() == found.labels).mean())
    assert np.mean(agree) == pytest.approx(found.support.mean(), abs=0.03)


def resolutions():
    return with_runs(lambda i: np.where(np.arange(240) % 60 < 5 * i, 0, TYPES), 3)


def test_what_was_made_of_clusterings_is_not_taken_for_one_of_them():
    adata = resolutions()
    given = ["leiden_0", "leiden_1", "leiden_2"]
    found = ca.combine(adata, n_clusters=6, scales=False, key_added="leiden_consensus")
    values = ca.compare(adata, key_added="leiden_comparison")
    assert sorted(values.columns) == given
    refuses("names only 'type'", ca.combine, adata, "type")
    refuses("no column 'louvain'", ca.combine, adata, ["louvain", "type"])
    for keys in (None, "leiden_", "leiden*", "leiden_?", given):
        again = ca.combine(adata, keys, n_clusters=6, scales=False, key_added="again")
        assert list(adata.uns["again"]["keys"]) == given
        np.testing.assert_array_equal(again.labels, found.labels)
    named = ["leiden_0", "leiden_consensus"]
    assert sorted(ca.compare(adata, named).columns) == named


def test_a_key_of_another_function_is_refused():
    adata = resolutions()
    ca.generate(adata, 5, use_rep="X", n_clusters=6)
    ca.combine(adata, n_clusters=6, scales=False)
    ca.compare(adata)
    before = {key: adata.uns[key]["made_by"] for key in ("clusterings", "consensus", "comparison")}
    for key, owner, verb in (
        ("clusterings", "generate", lambda key: ca.combine(adata, n_clusters=6, scales=False, key_added=key)),
        ("consensus", "combine", lambda key: ca.compare(adata, key_added=key)),
        ("comparison", "compare", lambda key: ca.generate(adata, 5, use_rep="X", n_clusters=6, key_added=key)),
    ):
        refuses(f"key_added='{key}'.*consilience.anndata.{owner}.*choose another", verb, key)
    assert {key: adata.uns[key]["made_by"] for key in before} == before
    ca.generate(adata, 6, use_rep="X", n_clusters=6)
    assert ca.ensemble(adata).n_clusterings == 6


def test_a_selection_of_cells_is_noticed(made):
    kept = made.obs["consensus"].isin(["1", "4"]).to_numpy()
    some = made[kept].copy()
    whole = ca.consensus(made)
    said = rf"has {kept.sum()} cells, and 'consensus' was made of 240: its tables .* tell of all"
    with pytest.warns(UserWarning, match=said):
        found = ca.consensus(some)
    np.testing.assert_array_equal(found.labels, whole.labels[kept])
    np.testing.assert_array_equal(found.scale_labels, whole.scale_labels[kept])
    assert ca.ensemble(some).n_clusters.tolist() == [len(np.unique(c)) for c in ca.ensemble(made).labels[kept].T]
    with pytest.warns(UserWarning, match="was made of 240"):
        tree = ca.plot_tree(some)
    titles = [label.get_text() for label in tree.get_yticklabels()]
    numbers = sorted(whole.scales["n_clusters"])
    present = [len(np.unique(column[kept])) for column in whole.scale_labels.T]
    pairs = zip(present, numbers, strict=True)
    assert titles == [f"{p} clusters" if p == k else f"{p} of {k} clusters" for p, k in pairs]
    assert len(tree.collections[0].get_offsets()) == sum(present)  # no nodes of nothing
    again = ca.combine(some)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(again, ca.consensus(some))


def test_clusters_that_were_renamed_are_read_back(made):
    adata, whole = made.copy(), ca.consensus(made)
    adata.rename_categories("consensus", [f"type {c}" for c in "zyxwvutsrqponmlkjihgfedcba"[-whole.n_clusters :]])
    same(whole, ca.consensus(adata))
    adata.obs["consensus"] = adata.obs["consensus"].astype(str).replace("type a", "type b").astype("category")
    refuses(f"{whole.n_clusters - 1} clusters of other names than the {whole.n_clusters}", ca.consensus, adata)


def crumbled(fine):
    """Three scales: two kinds, six types, and a finer one that is given, all of them called real."""
    columns = np.column_stack([TYPES // 3, TYPES, fine])
    numbers = [2, 6, int(fine.max()) + 1]
    scales = pd.DataFrame({"n_clusters": numbers[::-1], "stability": 0.9, "real": True})
    ones = np.ones(240)
    cell = {"labels": fine, "confidence": ones, "support": ones, "membership": ones[:, None], "scale_labels": columns}
    return cs.consensus.Consensus(**cell, scales=scales, n_clusters=numbers[2], method="walk", anmi=1.0)


@pytest.mark.parametrize(("cells_off", "counts"), [(4, False), (5, True)])
def test_a_handful_of_cells_does_not_decide_what_is_real(cells_off, counts):
    fine = TYPES.copy()
    fine[:cells_off] = 6
    found = without_crumbs(crumbled(fine))
    assert dict(zip(found.scales["n_clusters"], found.scales["real"], strict=True)) == {2: True, 6: True, 7: counts}
    assert found.scales["n_clusters"].tolist() == ([7, 6, 2] if counts else [6, 2, 7])  # real ones first


def test_auto_leaves_out_a_number_that_crumbs_make():
    rng, kinds = np.random.default_rng(3), np.repeat(np.arange(3), 80)

    def run_of(i):  # three kinds, and in half of the runs three cells of each are set apart
        labels = kinds.copy()
        labels[rng.integers(240, size=12)] = rng.integers(3, size=12)
        if i % 2:
            labels[:3], labels[80:83], labels[160:163] = 3, 4, 5
        return labels

    adata = with_runs(run_of, 12)
    plain = cs.combine(cs.Ensemble(adata.obs[[f"leiden_{i}" for i in range(12)]]), "auto")
    assert plain.n_clusters == 6
    assert sorted(np.bincount(plain.labels)) == [3, 3, 3, 77, 77, 77]
    found = ca.combine(adata, n_clusters="auto")
    assert found.n_clusters == 3
    assert not found.scales.set_index("n_clusters").loc[6, "real"]
    assert "3, since 6, on which halves of the clusterings agree best, differ from fewer by crumbs alone" in found.note
    assert adjusted_rand_score(kinds, adata.obs["consensus"]) == 1
    same(found, ca.consensus(adata))


def test_what_leaves_no_genes_is_said():
    adata = with_runs(kinds_and_types)
    ca.combine(adata, n_clusters=6)
    adata.layers["empty"] = sparse.csr_matrix(adata.shape)
    refuses("no gene has more in one part", ca.split_genes, adata, layer="empty")
    upper, lower = np.zeros(240, int), np.zeros(240, int)
    upper[:4] = lower[:4] = 1
    lower[4:8] = 2  # four cells split off
    adata.obsm["consensus_scale_labels"] = np.column_stack([upper, lower])
    refuses(r"two parts of 5 cells or more .*\(2, 3\)", ca.split_genes, adata)
