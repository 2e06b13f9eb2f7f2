"""Guides: pairs and labels as weights on generation, and as scores that clusterings are chosen by."""

import warnings
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from command_line import answer, ran, refused
from consilience._check import InputError, check_labels
from consilience.datasets import load_beads, sample_path
from consilience.ensemble.store import Store
from consilience.generation import Guide, Variations
from consilience.generation.guide import LARGEST_RATIO, PRIOR, BoundGuide
from consilience.measures import adjusted_mutual_information
from consilience.measures.pairwise import with_each
from samples import refuses, same_runs

BEADS = load_beads()
AMI = "adjusted_mutual_information"


def some_pairs(labels, n_pairs, seed=0):
    """Disjoint pairs of objects, those with one label and those with two."""
    pairs = np.random.default_rng(seed).permutation(len(labels))[: 2 * n_pairs].reshape(-1, 2)
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return pairs[same], pairs[~same]


def near(ens, labels):
    """Adjusted mutual information of every clustering with some labels."""
    return with_each(AMI, check_labels(labels), ens)


def plain_weights(X, pairs_apart, pairs_together, strength):
    """The weights as the formula says, pair by pair; labels are given as all their pairs, with their worth."""
    overall = np.array([np.mean([(x - y) ** 2 for x in column for y in column]) for column in X.T])
    means = []
    for pairs, worth in (pairs_apart, pairs_together):
        squares = np.array([(X[i] - X[j]) ** 2 for i, j in pairs]).reshape(-1, X.shape[1])
        mean = squares.mean(axis=0) if len(pairs) else np.zeros(X.shape[1])
        means.append((mean * worth + PRIOR * overall) / (worth + PRIOR))
    found = np.clip(np.log(means[0] / means[1]), -np.log(LARGEST_RATIO), np.log(LARGEST_RATIO))
    weights = np.exp(found) ** strength
    return weights / np.exp(np.mean(np.log(weights)))


def bound(n, strength, together, apart, **labels):
    return BoundGuide(n, strength, {"together": together, "apart": apart}, {"like": {}, "unlike": {}, **labels})


def test_weights_of_columns_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4)) * (rng.random((20, 4)) < 0.6)
    together, apart = np.array([(0, 1), (1, 2), (5, 9)]), np.array([(0, 7), (3, 4)])
    nobody = np.zeros((0, 2), np.int64)
    for a, t in ((apart, together), (nobody, together), (apart, nobody)):
        expected = plain_weights(X, (a, len(np.unique(a)) / 2), (t, len(np.unique(t)) / 2), 1.5)
        for table in (X, sparse.csr_matrix(X)):
            np.testing.assert_allclose(bound(20, 1.5, t, a).weights(table), expected)
    codes = np.array([0, 1, 2, -1, 1] * 4, np.int32)
    known = np.flatnonzero(codes >= 0)
    inside = [(i, j) for i, j in combinations(known, 2) if codes[i] == codes[j]]
    between = [(i, j) for i, j in combinations(known, 2) if codes[i] != codes[j]]
    expected = plain_weights(X, (between, len(known) / 2), (inside, len(known) / 2), 2)
    like = bound(20, 2.0, nobody, nobody, like={"a": codes})
    for table in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(like.weights(table), expected)
    np.testing.assert_allclose(bound(20, 2.0, nobody, nobody, unlike={"a": codes}).weights(X), 1 / expected)
    constant = np.column_stack([X, np.ones(20)])
    assert np.isfinite(like.weights(constant)).all()


def test_scores_are_those_of_every_pair():
    rng = np.random.default_rng(1)
    labels = rng.integers(-1, 3, (12, 30)).astype(np.int32)
    labels[:, 0] = -1
    labels[0, 0] = 0
    ens = cs.Ensemble.from_codes(labels)
    known = rng.integers(0, 2, 12)
    guide = Guide(together=[(0, 1), (2, 3), (4, 5)], apart=[(0, 2), (6, 7)], like={"a": known}, unlike=pd.Series(known))
    found = guide.score(ens)
    assert list(found) == ["together", "apart", "like:a", "unlike:known", "total"]
    for column, row in zip(labels.T, found.to_dict("records"), strict=True):
        kept = [float(column[i] == column[j]) for i, j in guide.together if min(column[i], column[j]) >= 0]
        broken = [float(column[i] == column[j]) for i, j in guide.apart if min(column[i], column[j]) >= 0]
        mean = [np.mean(side) if side else np.nan for side in (kept, broken)]
        shared = adjusted_mutual_information(known, column)
        np.testing.assert_allclose([row["together"], 1 - row["apart"]], mean)
        np.testing.assert_allclose([row["like:a"], row["unlike:known"]], shared)
        np.testing.assert_allclose(row["total"], np.nanmean([mean[0] - mean[1], shared, -shared]))


@pytest.mark.parametrize("side", ["together", "apart"])
def test_pairs_of_one_kind_are_judged_beside_all_pairs(side):
    """One cluster of everything keeps all pairs together, and single objects all apart, and neither says anything."""
    labels = np.column_stack([np.zeros(6), np.arange(6), [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]]).astype(np.int32)
    guide = Guide(**{side: [(0, 1), (3, 4)] if side == "together" else [(0, 3), (1, 4)]})
    total = guide.score(cs.Ensemble.from_codes(labels))["total"]
    share = 6 / 15  # pairs of objects inside the clusters of the last two
    expected = [0, 0, 1 - share, -share] if side == "together" else [0, 0, share, share]
    np.testing.assert_allclose(total, expected)


def test_pairs_of_a_few_dozen_objects_bring_clusterings_near_a_grouping():
    shape = BEADS.labels["shape"].to_numpy()
    pairs = np.array(list(combinations(np.random.default_rng(0).permutation(300)[:36], 2)))
    same = shape[pairs[:, 0]] == shape[pairs[:, 1]]
    guide, how = Guide(pairs[same], pairs[~same]), {"n_clusters": (3, 6), "progress": False}
    for methods in ("zipf", "pca", "minima", "features", "objects"):
        plain, guided = (near(cs.generate(BEADS, 100, methods=methods, guide=g, **how), shape) for g in (None, guide))
        assert np.mean(guided > 0.5) >= np.mean(plain > 0.5) + 0.15, methods
        assert guided.mean() > plain.mean() + 0.1, methods


def test_like_and_unlike_one_of_two_groupings():
    how = {"n_clusters": (3, 6), "methods": "zipf+minima", "progress": False}
    wishes = {}, {"like": "shape"}, {"unlike": "shape"}
    plain, like, unlike = (cs.generate(BEADS, 100, **wish, **how) for wish in wishes)
    shape, color = BEADS.labels["shape"], BEADS.labels["color"]
    assert np.mean(near(like, shape) > 0.5) > np.mean(near(plain, shape) > 0.5) + 0.25
    assert np.mean(near(unlike, color) > 0.5) > np.mean(near(plain, color) > 0.5) + 0.4
    assert near(unlike, shape).max() < 0.3
    np.testing.assert_allclose(unlike.info["guide"], -near(unlike, shape))
    np.testing.assert_allclose(like.info["guide"], near(like, shape))
    assert "guide" not in plain.info


def test_columns_of_noise_are_weighed_down_and_the_best_are_selected():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 30))
    X[:, :3] += 3 * np.eye(3)[y]
    together, apart = some_pairs(y, 40)
    guide = Guide(together, apart)
    weights = guide.of(cs.tables.read_table(X, kind="data")).weights(X)
    assert weights[:3].min() > weights[3:].max()
    plain, guided = (cs.generate(X, 100, 3, "zipf+minima", guide=g, progress=False) for g in (None, guide))
    assert near(guided, y).mean() > 2 * near(plain, y).mean()
    chosen = guide.select(guided, 0.2)
    assert chosen.n_clusterings == 20
    assert near(chosen, y).mean() > 1.2 * near(guided, y).mean()
    assert np.all(np.diff(chosen.info["unit"]) > 0)
    assert chosen.info["guide"].min() >= np.sort(guided.info["guide"])[80]


def test_order_and_repetition_of_pairs_change_nothing():
    together, apart = some_pairs(BEADS.labels["shape"].to_numpy(), 15)
    ids = BEADS.ids
    by_id = [(ids[j], ids[i]) for i, j in together[::-1]]
    one = cs.generate(BEADS, 10, 4, together=together, apart=apart, progress=False)
    other = cs.generate(BEADS, 10, 4, together=by_id + by_id[:3], apart=pd.DataFrame(apart[::-1]), progress=False)
    same_runs(one, other)


def test_runs_go_on_and_clusterings_are_made_again(tmp_path):
    guide = Guide(together=[(0, 3), (5, 9)], apart=[(0, 1)], like="shape")
    how = {"n_clusters": (3, 5), "methods": "zipf+pca+minima+objects", "guide": guide, "progress": False}
    whole = cs.generate(BEADS, 16, **how)
    cs.generate(BEADS, 7, store=tmp_path / "run", **how)
    resumed = cs.generate(BEADS, 16, store=tmp_path / "run", **how)
    same_runs(whole, resumed)
    assert Store.open(tmp_path / "run").manifest["plan"]["guide"]["together"] == [[0, 3], [5, 9]]
    assert "2 pairs together, 1 pair apart, like shape, strength 1.5" in whole.info["settings"][0]
    for i in (0, 1, 2, 3):
        np.testing.assert_array_equal(Variations(BEADS).remake(resumed.info.loc[i]), whole.labels[:, i])
    for other in (Guide(like="color"), None):
        refuses("plan", cs.generate, BEADS, 16, store=tmp_path / "run", **how | {"guide": other})


def test_more_like_a_guided_clustering(tmp_path):
    guide = Guide(like="shape")
    how = {"n_clusters": 4, "methods": "zipf", "progress": False}
    ens = cs.generate(BEADS, 5, guide=guide, store=tmp_path / "run", **how)
    in_run = cs.generate(BEADS, 4, around=2, store=tmp_path / "run", progress=False)
    of_row = cs.generate(BEADS, 4, around=ens.info.loc[2], progress=False)
    scored = cs.generate(BEADS, 4, around=ens.info.loc[2], guide=guide, progress=False)
    np.testing.assert_array_equal(in_run.labels, of_row.labels)
    np.testing.assert_array_equal(in_run.labels, scored.labels)
    np.testing.assert_allclose(in_run.info["guide"], near(in_run, BEADS.labels["shape"]))
    np.testing.assert_allclose(scored.info["guide"], in_run.info["guide"])
    assert "guide" not in of_row.info
    refuses(r"guide was '.*like shape", cs.generate, BEADS, 4, around=ens.info.loc[2], like="color", progress=False)
    np.testing.assert_array_equal(Variations(BEADS).remake(in_run.info.loc[1]), in_run.labels[:, 1])


def test_columns_that_a_guide_names_are_set_aside():
    path = sample_path("beads.csv")
    from_file = cs.generate(path, 5, 4, like="shape", id_column="bead", known="color", progress=False)
    from_frame = cs.generate(pd.read_csv(path, index_col="bead"), 5, 4, like=["shape"], unlike="color", progress=False)
    of_table = cs.generate(BEADS, 5, 4, like="shape", progress=False)
    np.testing.assert_array_equal(from_file.labels, of_table.labels)
    assert "like shape, unlike color" in from_frame.info["settings"][0]
    series = pd.Series(BEADS.labels["shape"].to_numpy(), index=BEADS.ids, name="form")[::-1]
    np.testing.assert_array_equal(cs.generate(BEADS, 5, 4, like=series, progress=False).labels, of_table.labels)
    assert Guide(like=series).score(of_table)["like:form"].tolist() == of_table.info["guide"].tolist()


def test_sparse_tables_and_distances():
    X = np.abs(BEADS.values) * (BEADS.values > np.median(BEADS.values, axis=0))
    how = {"methods": "minima", "like": BEADS.labels["shape"], "progress": False}
    dense, thin = (cs.generate(x, 5, 3, **how).info["weights"][0] for x in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(dense, thin)
    D = np.sqrt(np.square(BEADS.values[:60, None, :4] - BEADS.values[None, :60, :4]).sum(axis=2))
    shape, how = BEADS.labels["shape"][:60].to_numpy(), {"metric": "precomputed", "methods": "zipf", "progress": False}
    plain, guided = (cs.generate(D, 20, 3, **how, like=like) for like in (None, shape))
    assert near(guided, shape).mean() > near(plain, shape).mean()


def test_what_cannot_be_a_guide_is_one_sentence():
    ask = partial(cs.generate, BEADS, 2, 3, progress=False)
    refuses("together, pair 1: 'nobody'", ask, together=[("b001", "nobody")])
    refuses("together, pair 1: 300", ask, together=[(0, 300)])
    refuses("apart, pair 1: -1", ask, apart=[(0, -1)])
    refuses("apart, pair 2: 'b001' is named twice", ask, apart=[(4, 5), ("b001", 0)])
    refuses("'b001' and 'b002' are to be apart, and together", ask, together=[(0, 1)], apart=[(1, 0)])
    refuses(r"pair 1 is \(0, 1, 2\)", ask, together=[(0, 1, 2)])
    refuses("pairs.csv", ask, together="pairs.csv")
    refuses("got 3", ask, together=3)
    refuses("0.5 ", ask, together=[(0.5, 1)])
    refuses("like='form'.*shape, color", ask, like="form")
    refuses("only one group", ask, like=["a"] * 300)
    refuses("2 labels for 300 objects", ask, like=[0, 1])
    refuses("measured data", ask, unlike=np.linspace(0, 1, 300))
    refuses("none of them is given", ask, guide_strength=2.0)
    refuses("strength must be", ask, like="shape", guide_strength=-1.0)
    refuses("guide must be a Guide", ask, guide="shape")
    refuses("like and guide are both given", ask, guide=Guide(like="shape"), like="color")


def test_names_that_mean_nothing_are_one_sentence():
    numbered = cs.Ensemble([[0, 0, 1]], ids=[10, 20, 30])
    assert Guide(together=[(10, "20")]).score(numbered)["together"].tolist() == [1.0]
    refuses("give the table that has it", Guide(like="shape").score, numbered)
    refuses("read with known=", cs.generate, BEADS.values, 2, 3, like="shape")
    refuses("at least one of together", Guide)
    refuses("no id of an object", Guide(together=[(0, 1)]).score, numbered)
    refuses("300 rows, and the clusterings are of 3 objects", Guide(like="shape").score, numbered, BEADS)


def test_pairs_from_files(tmp_path):
    path = tmp_path / "pairs.csv"

    def together(file=path, objects=BEADS):
        return Guide(together=file).of(objects).pairs["together"].tolist()

    for text in ("one,other\nb001, b004\nb003,b002\n", "b901,b902\nb001,b004\nb003,b002\n"):  # the second is misspelt
        path.write_text(text)
        with pytest.warns(UserWarning, match=f"{text[:3]}.*names no object"):
            assert together() == [[0, 3], [1, 2]]
    path.write_text("b001;b004\nb003;b002\n")
    assert together() == [[0, 3], [1, 2]]
    pd.DataFrame({"a": BEADS.ids[[0, 2]], "b": BEADS.ids[[3, 1]]}).to_parquet(tmp_path / "pairs.parquet")
    assert together(tmp_path / "pairs.parquet") == [[0, 3], [1, 2]]
    path.write_text("0,3\n2,1\n")
    assert together(objects=cs.tables.read_table(BEADS.values, kind="data")) == [[0, 3], [1, 2]]
    for text, says in (
        ("b001,b004\nb003,b999\n", r"pairs.csv, row 2 \(line 2\): 'b999'"),
        ("b001,b004\nb003,b003\n", r"pairs.csv, row 2 \(line 2\): 'b003'"),
        ("b001,b004,b005\n", "pairs.csv: has 3 columns"),
        ("b001,b004\nb003\n", r"pairs.csv, row 2 \(line 2\): has 1 cell"),
        ("a,b\n", "names no pair"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=says), warnings.catch_warnings(action="ignore"):
            together()


def test_the_command_line_guides_a_run(tmp_path):
    shape = BEADS.labels["shape"].to_numpy()
    together, apart = some_pairs(shape, 12)
    for name, pairs in (("together", together), ("apart", apart)):
        pd.DataFrame(BEADS.ids[pairs], columns=["bead", "other"]).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [word for name in ("together", "apart") for word in (f"--{name}", tmp_path / f"{name}.csv")]
    data = ("generate", sample_path("beads.csv"), "--id", "bead", "-k", 4, "-n", 10)
    done = ran(*data, *files, "--unlike", "color", "--like", "shape", "--known", "shape", "-o", tmp_path / "run")
    assert "guide" in done.stdout
    ens = cs.Ensemble.load(tmp_path / "run")
    same = cs.generate(BEADS, 10, 4, together=together, apart=apart, like="shape", unlike="color", progress=False)
    np.testing.assert_array_equal(ens.labels, same.labels)
    more = answer(*data[:4], "-n", 3, "--around", 2, "--known", "shape,color", "-o", tmp_path / "run")
    assert "guide" in more["scores"]
    (tmp_path / "apart.csv").write_text("b001,b002\nb003,nobody\n")
    said = refused(*data, *files, "--known", "shape,color", "-o", tmp_path / "other")
    assert "apart.csv, row 2 (line 2): 'nobody' is no id of an object" in said
