"""The explorer's calls against what the package itself says."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.optimize import linear_sum_assignment

import consilience as cs
from consilience.agreement import stable_groups
from consilience.agreement.stable_groups import column_information
from consilience.consensus import floaters, stable_components
from consilience.datasets import load_beads, load_beads_labels
from consilience.explorer.api import Api
from consilience.explorer.calls import CALLS
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Snapshot
from consilience.measures import accuracy, contingency, distinguishing_features
from consilience.meta.tree import cut, medoid_of
from consilience.tables import read_table
from explorer_cases import arrays, ask, beads_ensemble, codes

BEADS = load_beads()
KNOWN = {name: BEADS.labels[name] for name in BEADS.labels}


@pytest.fixture(scope="module")
def meta():
    return cs.organize(beads_ensemble())


def test_the_session_in_words(api, meta):
    told = ask(api, "session")
    assert (told["revision"], told["n_objects"], told["n_clusterings"]) == (0, 300, 60)
    assert told["features"] == BEADS.columns
    assert told["known"] == ["shape", "color"]
    assert (told["linkage"], told["measure"]) == ("ward", "cluster_difference")
    assert {name for name, can in told["can"].items() if can} == {"h5ad", "more_like", "null", "features"}
    most = {"refs": 64, "more_like": 1000, "rows": 500, "items": 64}
    assert told["limits"] == {"quick_map": 3000, "quick_scales": 30_000_000, **most}
    assert (len(told["run"]), told["job"], told["embedding"]["kind"]) == (16, None, "pca")
    scores = {score["name"]: score for score in told["scores"]}
    assert list(scores) == ["compactness", "accuracy:shape", "accuracy:color", "clusters", "mean difference"]
    assert (scores["compactness"]["better"], scores["accuracy:shape"]["better"]) == ("low", "high")
    assert scores["compactness"]["low"] == beads_ensemble().info["compactness"].min()
    nodes, candidates = meta.nodes.tolist(), meta.jumps["n_groups"].head(6).tolist()
    assert told["cut"] == {"groups": meta.n_groups, "nodes": nodes, "candidates": candidates, "note": meta.note}


def test_groups_have_the_numbers_that_the_page_gives_them():
    """The same cases are a test of the page."""
    for case in json.loads((Path(__file__).parents[1] / "page" / "test" / "cuts.json").read_text()):
        m = len(case["order"])
        merges = np.reshape(case["merges"], (m - 1, 2))
        sizes = [1] * m
        for a, b in merges:
            sizes.append(sizes[a] + sizes[b])
        tree = np.column_stack([merges, np.arange(1.0, m), sizes[m:]])
        assert [cut(tree, n)[0].tolist() for n in range(1, m + 1)] == case["groups"]


def test_every_call_is_documented():
    page = (Path(__file__).parents[1] / "docs" / "explorer.md").read_text("utf-8")
    listed = re.findall(r"^\| `(GET|POST|DELETE) ([^`]+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted((method, path.replace(":number", "")) for method, path, *_ in CALLS)


def test_a_session_without_data_says_what_to_do(holes):
    told = ask(holes, "session")
    assert {name for name, can in told["can"].items() if can} == {"h5ad"}
    assert "generate" in told["more_like_note"]
    assert told["embedding"]["kind"] == "labels"
    assert "--data" in ask(Api(Session(beads_ensemble())), "session")["more_like_note"]


def test_a_branch_in_which_no_clustering_has_the_median_number_of_clusters():
    rng = np.random.default_rng(2)
    ens = cs.Ensemble([rng.integers(k, size=30) for k in (2, 2, 4, 4)])
    _, found = arrays(Api(Session(ens)), "labels/4.6c")
    whole = cs.organize(ens, 1).consensus()
    np.testing.assert_array_equal(codes(found["labels"][0]), whole.labels)
    np.testing.assert_allclose(found["support"][0] / 254, whole.support, atol=1 / 254)


def test_every_node_of_clusterings_with_holes(holes):
    ens = load_beads_labels()
    for leaf in range(ens.n_clusterings):
        header, found = arrays(holes, f"labels/{leaf}m")
        np.testing.assert_array_equal(codes(found["labels"][0]), ens.labels[:, leaf])
        assert (header["items"][0]["clusters"], "support" in found) == (ens.n_clusters[leaf], False)
    meta = cs.organize(ens)
    for node in range(16, 31):
        whole = meta.consensus(meta.branch(node))
        _, found = arrays(holes, f"labels/16.{node}c")
        np.testing.assert_array_equal(codes(found["labels"][0]), whole.labels)
        known = whole.labels >= 0
        np.testing.assert_allclose(found["support"][0][known] / 254, whole.support[known], atol=0.5 / 254 + 1e-6)


def test_boot_has_what_the_first_page_needs(api, meta):
    header, found = arrays(api, "boot")
    assert (found["xy"].shape, found["xy"].min(), found["xy"].max()) == ((300, 2), 0, 1)
    np.testing.assert_array_equal(found["merges"], meta.tree[:, :2])
    np.testing.assert_allclose(found["heights"], meta.tree[:, 2], rtol=1e-6)
    assert sorted(found["order"]) == list(range(60))
    np.testing.assert_array_equal(found["clusters"], beads_ensemble().n_clusters)
    np.testing.assert_allclose(found["scores"][0], beads_ensemble().info["compactness"], rtol=1e-6)
    shape = [accuracy(KNOWN["shape"], labels) for labels in beads_ensemble().labels.T]
    np.testing.assert_allclose(found["scores"][1], shape, rtol=1e-6)
    distances = cs.pairwise(beads_ensemble())
    np.testing.assert_allclose(found["scores"][4], distances.sum(axis=1) / 59, rtol=1e-6)
    place = np.argsort(found["order"])
    for node in range(60, 119):  # the tree is drawn without crossings
        assert np.ptp(place[meta.branch(node)]) == len(meta.branch(node)) - 1
    groups = meta.cut(len(header["items"]))
    for one, node, medoid, labels in zip(header["items"], groups.nodes, groups.medoids, found["labels"], strict=True):
        assert one["ref"] == (f"60.{node}m" if node >= 60 else f"{node}m")
        assert one["leaf"] == medoid
        assert one["clusters"] == 4
        np.testing.assert_array_equal(codes(labels), beads_ensemble().labels[:, medoid])


def test_numbers_of_the_users_own_are_scores_too():
    info = {"modularity": [0.4, None], "note": [None, None], "who": ["a", "b"]}
    ens = cs.Ensemble([[0, 0, 1, 1], [0, 1, 0, 1]], info=info)
    scores = {score["name"]: score for score in ask(Api(Session(ens)), "session")["scores"]}
    assert list(scores) == ["modularity", "clusters", "mean difference"]
    assert (scores["modularity"]["low"], scores["modularity"]["better"]) == (0.4, None)


def test_labels_of_leaves_medoids_and_consensus(api, meta):
    header, found = arrays(api, "labels/7m,7c,60.110m,60.110c")
    ens, branch = beads_ensemble(), meta.branch(110)
    items = header["items"]
    assert [item["ref"] for item in items] == ["7m", "7c", "60.110m", "60.110c"]
    assert [item["leaf"] for item in items] == [7, 7, meta.medoid(branch), None]
    assert [item["size"] for item in items] == [1, 1, len(branch), len(branch)]
    np.testing.assert_array_equal(codes(found["labels"][0]), ens.labels[:, 7])
    np.testing.assert_array_equal(codes(found["labels"][2]), ens.labels[:, meta.medoid(branch)])
    whole = meta.consensus(branch)
    np.testing.assert_array_equal(codes(found["labels"][3]), whole.labels)
    np.testing.assert_allclose(found["support"][3] / 254, whole.support, atol=0.5 / 254 + 1e-6)
    assert (found["support"][:3] == 255).all()
    own = {f"accuracy:{name}": accuracy(labels, whole.labels) for name, labels in KNOWN.items()}
    assert (items[3]["scores"], items[0]["scores"]) == (pytest.approx(own), {})


def test_a_consensus_of_more_clusters_than_a_byte_has_is_sent_whole():
    api = Api(Session(cs.Ensemble(np.random.default_rng(0).integers(0, 20, (1500, 6)))))
    wanted = api.session.snapshot.displayed(api.session.snapshot.ref("6.10c300")).codes
    assert wanted.max() == 299
    np.testing.assert_array_equal(codes(arrays(api, "labels/6.10c300")[1]["labels"][0]), wanted)


def test_many_clusters_need_two_bytes():
    wide = np.where(np.arange(400) == 5, -1, np.arange(400) % 300)
    header, found = arrays(Api(Session(cs.Ensemble([wide, wide % 5, wide % 7]))), "labels/0m")
    assert (found["labels"].dtype, header["items"][0]["clusters"]) == (np.uint16, 300)
    np.testing.assert_array_equal(codes(found["labels"][0]), wide)


@pytest.mark.parametrize("kind", ["mds", "neighbors"])
def test_maps(api, meta, kind):
    header, found = arrays(api, f"map/{kind}")
    made = meta.map(kind)
    assert (header["kind"], header["stress"], header["kept"]) == (kind, made.stress, made.neighbors_kept)
    assert 0 <= found["xy"].min() < found["xy"].max() <= 1
    extent = np.ptp(made.xy, axis=0).max()  # one scale for both axes
    np.testing.assert_allclose(np.ptp(found["xy"], axis=0), np.ptp(made.xy, axis=0) / extent, rtol=1e-4)


def test_detail_of_a_leaf(api):
    leaf = int(np.flatnonzero(beads_ensemble().info["method"] == "zipf")[0])  # which weighs columns
    told, row = ask(api, f"detail/{leaf}m"), beads_ensemble().info.iloc[leaf]
    labels = beads_ensemble().labels[:, leaf]
    assert told["trust"] is told["members"] is told["confidence"] is None
    assert (told["ref"], told["node"], told["leaf"], told["size"], told["n_missing"]) == (f"{leaf}m", leaf, leaf, 1, 0)
    assert (told["sizes"], told["floaters"]) == (np.bincount(labels).tolist(), [])
    assert told["scores"]["compactness"] == row["compactness"]
    assert (told["made"]["method"], told["made"]["unit"]) == (row["method"], row["unit"])
    assert told["made"]["parameters"]["standardize"] is True
    weights = {one["feature"]: one["weight"] for one in told["weights"]}
    assert weights == dict(zip(BEADS.columns, row["weights"], strict=True))
    assert list(weights.values()) == sorted(row["weights"], reverse=True)
    for one in told["known"]:
        given = KNOWN[one["name"]]
        assert (one["table"], one["accuracy"]) == (contingency(labels, given).tolist(), accuracy(given, labels))
        assert one["labels"] == sorted(set(given))


def test_detail_of_a_consensus(api, meta):
    told, branch = ask(api, "detail/60.112c"), meta.branch(112)
    whole = meta.consensus(branch)
    assert (told["leaf"], told["made"], told["weights"], told["size"]) == (None, None, None, len(branch))
    for name, values in (("confidence", whole.confidence), ("support", whole.support)):
        assert told[name]["mean"] == pytest.approx(values.mean())
        assert told[name]["histogram"] == np.histogram(values, 20, (0, 1))[0].tolist()
    floating = floaters(beads_ensemble()[:, branch], whole)
    assert told["n_floaters"] == len(floating) > 0
    for name, values in told["trust"].items():
        assert values == pytest.approx(whole.clusters[name].tolist()), name
    rows = whole.members.assign(leaf=branch).sort_values("reliability", kind="stable")
    for name in ("leaf", "reliability", "better_without"):
        assert told["members"][name] == pytest.approx(rows[name].tolist()), name
    assert told["members"]["n_better_without"] == whole.members["better_without"].sum()
    assert {one["id"] for one in told["floaters"]} == set(floating["id"][:100])
    for one in told["floaters"]:
        assert one["support"] == pytest.approx(whole.support[one["index"]])
        assert one["confidence"] == pytest.approx(whole.confidence[one["index"]])
    assert all(one["id"] == BEADS.ids[one["index"]] for one in told["floaters"])


def test_clusters_keep_the_names_that_they_were_given():
    ens = cs.Ensemble(pd.DataFrame({"mine": ["T cell", "B cell", None, "T cell"], "other": [2, 2, 3, 3]}))
    api = Api(Session(ens))
    told = ask(api, "detail/0m")
    assert (told["names"], told["sizes"]) == (["B cell", "T cell"], [1, 2])
    assert [row["name"] for row in ask(api, "objects/0m")["rows"]] == ["T cell", "B cell", None, "T cell"]
    assert ask(api, "compare/0m/1m")["names"] == [["B cell", "T cell"], ["2", "3"]]
    assert ask(api, "detail/2.2c")["names"] is None


def check_marks(told, values, labels, names):
    """That the columns that mark the first clusters are those that the package lists."""
    for one in told:
        expected = distinguishing_features(values, labels, names=names, top=8).query("cluster == @one['cluster']")
        found = pd.DataFrame(one["top"])
        assert found["feature"].tolist() == expected["feature"].tolist()
        numbers = expected[["effect", "low", "high", "mean", "mean_elsewhere"]]
        np.testing.assert_allclose(found[["d", "low", "high", "mean", "rest"]], numbers)


def test_what_marks_a_cluster(api):
    told = ask(api, "detail/5m")["features"]
    assert [one["cluster"] for one in told] == [0, 1, 2, 3]
    check_marks(told, BEADS.values, beads_ensemble().labels[:, 5], BEADS.columns)


def test_only_the_first_of_many_clusters_are_described():
    rng = np.random.default_rng(0)
    labels, values = rng.integers(80, size=400), rng.standard_normal((400, 3))
    data = read_table(values, kind="data")
    told = ask(Api(Session(cs.Ensemble([labels, labels % 7]), data=data)), "detail/0m")["features"]
    assert [one["cluster"] for one in told] == list(range(60))
    check_marks(told[5:7], values, labels, ["column 0", "column 1", "column 2"])


def test_objects_page_by_page(api, meta):
    whole = meta.consensus(meta.branch(112))
    first = ask(api, "objects/60.112c")
    assert (first["total"], first["columns"]) == (300, BEADS.columns)
    assert [row["index"] for row in first["rows"]] == list(range(50))
    row = ask(api, "objects/60.112c", start=123, count=1)["rows"][0]
    assert (row["id"], row["cluster"]) == (BEADS.ids[123], whole.labels[123])
    assert (row["confidence"], row["support"]) == pytest.approx((whole.confidence[123], whole.support[123]))
    assert row["known"] == {name: labels[123] for name, labels in KNOWN.items()}
    assert list(row["values"].values()) == BEADS.values[123].tolist()
    some = ask(api, "objects/60.112c", cluster=1, count=500)
    assert [one["index"] for one in some["rows"]] == np.flatnonzero(whole.labels == 1).tolist()
    for order in ("confidence", "support"):
        unsure = [one[order] for one in ask(api, "objects/60.112c", order=order, count=500)["rows"]]
        assert unsure == sorted(unsure)
    assert ask(api, "objects/60.112c", start=300)["rows"] == []
    empty = ask(api, "objects/60.112c", cluster=65535)
    assert (empty["total"], empty["names"], empty["places"], empty["rows"]) == (0, None, list(range(8)), [])


def test_objects_without_a_label(holes):
    labels = load_beads_labels().labels
    leaf = int(np.argmax((labels < 0).sum(axis=0)))
    missing = np.flatnonzero(labels[:, leaf] < 0)
    told = ask(holes, f"objects/{leaf}m", cluster=-1, count=500)
    assert [row["index"] for row in told["rows"]] == missing.tolist()
    assert all(row["cluster"] == -1 and row["values"] == {} for row in told["rows"])


def test_compare_two(holes):
    a, b = load_beads_labels().labels[:, 4], load_beads_labels().labels[:, 14]
    told = ask(holes, "compare/4m/14m")
    table = contingency(a, b)
    assert told["clusters"] == list(table.shape)
    assert told["table"] == table.tolist()
    assert (told["only_a"], told["only_b"]) == (int(((a >= 0) & (b < 0)).sum()), int(((a < 0) & (b >= 0)).sum()))
    rows, columns = linear_sum_assignment(table, maximize=True)
    assert sum(table[i, j] for i, j in told["matched"]) == table[rows, columns].sum()
    matched = {tuple(pair) for pair in told["matched"]}
    moved = [i for i in range(300) if a[i] >= 0 and b[i] >= 0 and (a[i], b[i]) not in matched]
    assert told["n_moved"] == len(moved)
    assert [one["index"] for one in told["moved"]] == moved[:200]
    assert all((one["from"], one["to"]) == (a[one["index"]], b[one["index"]]) for one in told["moved"])
    for name in ("cluster_difference", "nmi", "adjusted_rand", "jaccard", "variation_of_information"):
        assert told["measures"][name] == pytest.approx(getattr(cs.measures, name)(a, b))


def test_stable_components_of_a_branch(api, meta):
    branch = meta.branch(112)
    found, told = stable_components(beads_ensemble()[:, branch]), ask(api, "components/60.112c")
    assert (told["n_members"], told["n_components"], told["largest"]) == (len(branch), len(found), found["size"].max())
    assert told["share_in_groups"] == pytest.approx(found.loc[found["size"] > 1, "share"].sum())
    assert [one["size"] for one in told["components"]] == found["size"].head(100).tolist()
    for one, objects in zip(told["components"], found["objects"], strict=False):
        assert one["ids"][: len(objects)] == objects
        assert len(one["ids"]) == min(one["size"], 20)
    assert told["floaters"] == ask(api, "detail/60.112c")["floaters"]
    assert ask(api, "components/60.112m")["n_components"] == told["n_components"]
    leaf = ask(api, "components/9m")
    assert (leaf["n_components"], leaf["share_in_groups"]) == (4, 1), "of one clustering they are its clusters"


def test_components_of_most_clusterings_where_none_hold_in_all():
    rng = np.random.default_rng(0)
    rows = np.tile(np.repeat(np.arange(4), 10), (39, 1))
    api = Api(Session(cs.Ensemble([*rows, rng.permutation(40)])))  # the last one parts all objects
    told = ask(api, "components/40.78c")
    assert (told["n_members"], told["among"]) == (40, 38)
    assert [one["size"] for one in told["components"]] == [10, 10, 10, 10]
    api = Api(Session(cs.Ensemble([*rows])))
    told = ask(api, "components/39.76c")
    assert (told["n_members"], told["among"], told["largest"]) == (39, 39, 10)


def test_branches_of_earlier_trees_can_still_be_named():
    ens = beads_ensemble()
    api, early = Api(Session(ens)), cs.organize(ens[:, :40])
    for node in (45, 70, 78):
        header, found = arrays(api, f"labels/40.{node}m,40.{node}c")
        branch = early.branch(node)
        assert header["items"][0]["leaf"] == early.medoid(branch)
        np.testing.assert_array_equal(codes(found["labels"][1]), early.consensus(branch).labels)
    assert arrays(api, "labels/40.7m")[0]["items"][0]["ref"] == "7m"
    for bad in ("1.0m", "0.0m", "61.3m", "40.79m", "119c", "60m", "60c"):
        ask(api, f"labels/{bad}", 404)


@pytest.mark.parametrize("linkage_name", ["average", "ward", "complete"])
def test_the_tree_of_the_first_clusterings_is_scipys(linkage_name):
    api = Api(Session(beads_ensemble(), linkage=linkage_name))
    snapshot: Snapshot = api.session.snapshot
    expected = linkage(cs.organize(beads_ensemble()[:, :25]).distances, linkage_name)
    np.testing.assert_allclose(snapshot.tree(25).links, expected)


def test_medoids_of_large_branches_are_exact():
    rng = np.random.default_rng(1)
    base = rng.integers(4, size=(60, 3))
    labels = np.column_stack([base[:, i % 3] for i in range(150)])  # many equal clusterings: ties
    noise = rng.random(labels.shape) < 0.1
    labels = np.where(noise, rng.integers(4, size=labels.shape), labels)
    snapshot = Session(cs.Ensemble(labels)).snapshot
    for node in range(150, 299):
        ref = snapshot.top(node, "m")
        assert snapshot.medoid(ref) == medoid_of(snapshot.meta.distances, snapshot.members(ref))


def test_two_objects_in_two_clusterings_and_equal_ones():
    api = Api(Session(cs.Ensemble([[0, 1], [0, 0]])))
    for path in ("session", "detail/2.2c", "components/2.2c", "compare/0m/2.2c", "objects/1m"):
        ask(api, path)
    header, found = arrays(api, "boot")
    assert found["merges"].tolist() == [[0, 1]]
    assert np.isfinite(found["xy"]).all()
    assert len(header["items"]) == 1
    arrays(api, "map/mds")
    api = Api(Session(cs.Ensemble([[0] * 5] * 3)))  # equal clusterings draw a plane too
    assert (arrays(api, "boot")[1]["xy"] == 0.5).all()


def test_objects_that_no_clustering_labels():
    api = Api(Session(cs.Ensemble([[0, 0, 1, -1], [0, 1, 1, -1], [0, 0, 1, -1]])))
    _header, found = arrays(api, "labels/3.4c")
    assert codes(found["labels"][0])[3] == -1
    assert found["support"][0][3] == 255
    assert ask(api, "detail/3.4c")["n_missing"] == 1
    assert ask(api, "components/3.4c")["n_components"] == 3


def test_data_of_another_size_is_refused():
    with pytest.raises(cs._check.InputError, match="300 objects and the clusterings 4"):
        Session(cs.Ensemble([[0, 0, 1, 1], [0, 1, 0, 1]]), data=load_beads())


def test_one_clustering_is_shown_and_what_takes_two_is_refused():
    api = Api(Session(beads_ensemble()[:, :1]))
    assert ask(api, "session")["cut"]["nodes"] == [0]
    assert len(arrays(api, "boot")[1]["order"]) == 1
    for path in ("map/mds", "stripes/0m", "scales/0m"):
        assert "two" in ask(api, path, 400)["error"], path


def test_clusters_with_gaps_are_numbered_through():
    _, found = arrays(Api(Session(cs.Ensemble.from_codes(np.array([[0, 5], [5, 5], [9, 0]])))), "labels/0m,1m")
    assert found["labels"].tolist() == [[0, 1, 2], [1, 1, 0]]


def test_groups_of_columns_come_in_the_order_of_what_they_tell() -> None:
    rng = np.random.default_rng(3)
    topics = np.repeat(np.arange(3), 20)
    counts = rng.poisson(0.2 + 9.0 * (topics[:, None] == np.arange(6)[None, :] // 2)).repeat(2, axis=1)
    counts = np.hstack([counts, np.ones((60, 9), int)])  # nine columns that tell nothing
    found = cs.agree(counts, 3, n_column_clusters=4, n_clusterings=4, max_iter=2, random_state=0, progress=False)
    columns = found.after.columns
    for data in (None, counts):
        server = cs.explore(found, data=data, browser=False, block=False, progress=False)
        told = ask(server.api, "agreement")
        snapshot = server.api.session.snapshot
        root = snapshot.displayed(snapshot.ref(f"{snapshot.n_clusterings}.{2 * snapshot.n_clusterings - 2}c"))
        server.close()
        weights = None if data is None else column_information(counts, root.codes)
        expected = stable_groups(columns, columns, weights=weights, top=20)["members"]
        groups = [one["members"] for one in told["groups"] if (one["side"], one["when"]) == ("columns", "after")]
        assert told["telling"] is (data is not None)
        assert groups == [list(members)[:20] for members in expected]
    assert weights is not None
    assert groups[0] != max(groups, key=len), "the largest tells nothing"


@pytest.mark.parametrize("n", [300, 120_000])
def test_more_clusters_than_rows_that_differ_are_refused_of_few_and_many_objects(n):
    labels = np.stack([np.arange(n) % 2] * 5, axis=1)
    api = Api(Session(cs.Ensemble(labels)))
    told = ask(api, "detail/5.8c9", 400)["error"]
    assert "only 2 distinct rows" in told
    assert ("the 2,000 objects that are combined have only" in told) == (n > 100_000)  # the others are not looked at
