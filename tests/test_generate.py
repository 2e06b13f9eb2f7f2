"""generate: what it draws, that it can be made again, and what it refuses; methods="auto": which recipe a kind of data gets, that it is
said, and that the answer is good."""

import re
from functools import partial
from itertools import pairwise
from json import dumps, loads
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from scipy.stats import chisquare
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience._check import fingerprint
from consilience.datasets import customers, load_beads
from consilience.ensemble.store import Store
from consilience.explorer.scores import score_table
from consilience.generation import METHODS, Method, NumberBlocks, Variations, extend
from consilience.generation.default_methods import recipe_of, usual_clusters
from consilience.generation.kmeans import base_text
from consilience.generation.methods import describe, mds
from consilience.generation.methods.random_kmeans import zipf_numbers
from consilience.generation.plan import Plan, check_clusters, check_methods
from consilience.generation.runner import Runner
from consilience.generation.spaces import GenerationWarning, Spaces
from consilience.inputs import as_table, open_source
from consilience.measures import adjusted_rand, compactness
from consilience.meta import score
from consilience.tables import read_table
from moody_clusterers import Moody
from samples import refuses, row_blocks, same_runs

BEADS = load_beads()
EVERYTHING = "+".join(METHODS)
MANY = 10 * len(METHODS)
TREES = ["average", "ward", "genie", "layers"]
MIXTURES = [GaussianMixture(), BayesianGaussianMixture(max_iter=500, tol=0.1)]
BASES = [HDBSCAN(), *MIXTURES, Birch(), AgglomerativeClustering(), MiniBatchKMeans(), KMeans()]


@pytest.fixture(scope="module")
def mixed():
    return cs.generate(BEADS, MANY, (3, 6), EVERYTHING, random_state=3)


def test_every_method_in_its_share(mixed):
    assert mixed.info["method"].value_counts().to_dict() == dict.fromkeys(METHODS, 10)
    assert mixed.info["n_clusters"].between(3, 6).all()
    assert mixed.info["n_clusters"].nunique() == 4
    for name in ("seed", "unit", "compactness", "seconds"):
        assert mixed.info[name].notna().all(), name
    for name in ("inertia", "steps"):  # where k-means has no part
        assert mixed.info[name].notna().equals(~mixed.info["method"].isin(["graph", "density", "gaussian", *TREES])), (
            name
        )


def test_weights_are_where_the_method_says(mixed):
    width = BEADS.values.shape[1]
    rows = mixed.info.set_index("method")
    assert all(len(w) == width and min(w) >= 1 for w in rows.loc["zipf", "weights"])
    assert all(sum(w) == width // 2 and set(w) == {0, 1} for w in rows.loc["features", "weights"])
    assert all(w is None or w != w for w in rows.loc["minima", "weights"])
    missing = (mixed.labels < 0).mean(axis=0)
    np.testing.assert_allclose(missing[(mixed.info["method"] == "objects").to_numpy()], 0.2)
    assert not missing[~mixed.info["method"].isin(["objects", "density", "layers"]).to_numpy()].any()


def test_each_can_be_made_again_alone(mixed):
    for i in range(0, MANY, 9):
        np.testing.assert_array_equal(Variations(BEADS).remake(mixed.info.loc[i]), mixed.labels[:, i])
    rows = pd.DataFrame(mixed.info.to_dict("list"))  # as it comes back from a file
    np.testing.assert_array_equal(Variations(BEADS).remake(rows.loc[1]), mixed.labels[:, 1])


@pytest.mark.slow
def test_threads_batches_and_stores_make_no_difference(mixed, tmp_path):
    two = cs.generate(BEADS, MANY, (3, 6), EVERYTHING, random_state=3, n_jobs=2)
    np.testing.assert_array_equal(two.labels, mixed.labels)
    first = cs.generate(BEADS, 25, (3, 6), EVERYTHING, random_state=3, store=tmp_path / "run")
    np.testing.assert_array_equal(first.labels, mixed.labels[:, :25])
    grown = cs.generate(BEADS, MANY, (3, 6), EVERYTHING, random_state=3, store=tmp_path / "run")
    same_runs(grown, mixed)
    stored = cs.Ensemble.load(tmp_path / "run")
    np.testing.assert_array_equal(stored.labels, mixed.labels)
    assert stored.ids.tolist() == BEADS.ids.tolist()


def test_a_lost_part_is_made_again(mixed, tmp_path):
    settings = {"n_clusters": (3, 6), "methods": EVERYTHING, "random_state": 3, "store": tmp_path / "run"}
    for n in (20, 40, MANY):
        cs.generate(BEADS, n, **settings)
    sorted((tmp_path / "run").glob("part-*"))[2].unlink()
    again = cs.generate(BEADS, MANY, **settings)
    np.testing.assert_array_equal(again.labels, mixed.labels)


def test_a_store_of_something_else_is_refused(tmp_path):
    cs.generate(BEADS, 5, 3, random_state=3, store=tmp_path / "run")
    refuses("plan", cs.generate, BEADS, 5, 4, random_state=3, store=tmp_path / "run")
    how = {"random_state": 3, "store": tmp_path / "other", "standardize": False}
    cs.generate(BEADS.values + 1, 5, 3, **how)
    refuses("fingerprint", cs.generate, BEADS.values, 5, 3, **how)
    ours = cs.generate(BEADS, 9, 3, random_state=None, store=tmp_path / "run")  # no seed asked: the run's own
    assert set(ours.info["seed"]) == {3}


def test_compactness_is_on_the_data_not_the_weights(mixed):
    data = (BEADS.values - BEADS.values.mean(axis=0)) / BEADS.values.std(axis=0)
    np.testing.assert_allclose(mixed.info["compactness"], compactness(data, mixed))


def test_zipf_numbers_follow_their_law():
    u = np.random.default_rng(0).random(20_000)
    for alpha in (0.0, 0.8, 1.5):
        drawn = zipf_numbers(alpha, 20, u)
        expected = np.arange(1, 21) ** -alpha
        assert chisquare(np.bincount(drawn, minlength=21)[1:], 20_000 * expected / expected.sum()).pvalue > 0.001
    assert zipf_numbers(1.0, 5, np.array([0.0, 1 - 2.0**-53])).tolist() == [1, 5]


def test_components_hold_the_share_asked():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6)) * [8, 4, 2, 1, 0.5, 0.25] @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    for rule in ("variance", "deviation"):
        settings = Plan.checked(methods="pca", n_clusters=3, standardize=False, pca_rule=rule, pca_share=0.9)
        found = Spaces(X, settings).of("pca").table
        size = found.var(axis=0) if rule == "variance" else found.std(axis=0)
        everything = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** (2 if rule == "variance" else 1)
        held = size.sum() * (len(X) if rule == "variance" else np.sqrt(len(X))) / everything.sum()
        assert held >= 0.9
        assert held - size[-1] / size.sum() * held < 0.9
        np.testing.assert_allclose(np.corrcoef(found.T), np.eye(found.shape[1]), atol=1e-8)


def test_sparse_tables():
    counts = sparse.random(200, 30, 0.2, format="csr", random_state=0)
    everything = EVERYTHING.replace("+layers", "")  # of which noise has none
    made = cs.generate(counts, 24, 4, everything)
    again = cs.generate(counts, 24, 4, everything, n_jobs=2)
    np.testing.assert_array_equal(made.labels, again.labels)
    dense = cs.generate(counts.toarray(), 24, 4, "minima", standardize=False)
    same = cs.generate(counts, 24, 4, "minima", standardize=False)
    assert np.mean((dense.labels == same.labels).all(axis=0)) > 0.8  # rounding may part ways


def test_distances():
    data = (BEADS.values - BEADS.values.mean(axis=0)) / BEADS.values.std(axis=0)
    D = squareform(pdist(data))
    made = cs.generate(D, 40, 4, "zipf+minima", metric="precomputed")
    np.testing.assert_allclose(made.info["compactness"], compactness(D, made, metric="precomputed"))
    best = cs.generate(data, 40, 4, "minima").info["compactness"].min()
    assert made.info.loc[made.info["method"] == "minima", "compactness"].min() == pytest.approx(best, rel=0.02)


@pytest.mark.filterwarnings("ignore:The default value of `copy`:FutureWarning")
@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
def test_any_clusterer(base):
    made = cs.generate(BEADS, 6, 4, base=base)
    again = cs.generate(BEADS, 6, 4, base=base, n_jobs=2)
    np.testing.assert_array_equal(made.labels, again.labels)
    np.testing.assert_array_equal(Variations(BEADS, base=base).remake(made.info.loc[5]), made.labels[:, 5])
    if any(name in base.get_params() for name in ("n_clusters", "n_components")):
        assert (made.n_clusters <= 4).all()
        assert made.n_clusters.max() > 1
    if isinstance(base, HDBSCAN):
        noise = (made.labels < 0).sum(axis=0)
        assert noise.any()
        assert made.info["note"].iloc[0] == f"{noise[0]} of 300 objects are noise, left without a label"


class Halves(KMeans):
    def fit_predict(self, X, y=None):
        return super().fit_predict(X) + 0.5


def test_a_base_that_raises(tmp_path):
    with pytest.warns(GenerationWarning, match=r"of 30 clusterings could not be made .*moon"):
        some = cs.generate(BEADS, 30, 3, base=Moody(), store=tmp_path / "run")
    assert 10 < some.n_clusterings < 30
    assert sorted(some.info["unit"]) == some.info["unit"].tolist()
    with pytest.warns(GenerationWarning, match="could not be made"):  # asked again: the same, not an error
        again = cs.generate(BEADS, 30, 3, base=Moody(), store=tmp_path / "run")
    np.testing.assert_array_equal(again.labels, some.labels)
    halves = partial(cs.generate, BEADS, 16, 3, base=Halves(n_init=1))
    refuses(r"none of the first 16 clusterings could be made: .*is not a label", halves)


@pytest.mark.slow
def test_more_like_this(mixed, tmp_path):
    run = tmp_path / "run"
    stored = cs.generate(BEADS, MANY, (3, 6), EVERYTHING, random_state=3, store=run)
    center = int(stored.info.index[stored.info["method"] == "pca"][0])
    near = cs.generate(BEADS, 20, around=center, jitter=0.1, store=run)
    far = cs.generate(BEADS, 20, around=center, jitter=2, store=run)
    of_row = cs.generate(BEADS, 20, around=stored.info.loc[center], jitter=0.1)
    np.testing.assert_array_equal(near.labels, of_row.labels)
    assert cs.Ensemble.load(run).n_clusterings == MANY + 40
    assert set(near.info["around"]) == {center}
    longer = cs.generate(BEADS, 25, around=center, jitter=0.1, store=run)
    np.testing.assert_array_equal(longer.labels[:, :20], near.labels)

    def distance(ens):
        both = cs.Ensemble.concat([stored[:, [center]], ens])
        return cs.pairwise(both)[0, 1:].mean()

    assert distance(near) < distance(far)
    np.testing.assert_array_equal(Variations(BEADS).remake(near.info.loc[4]), near.labels[:, 4])
    again = cs.generate(BEADS, 3, around=center, jitter=1e-12, store=run)
    np.testing.assert_array_equal(again.labels, stored.labels[:, [center] * 3])  # no noise: the clustering itself
    grown = cs.generate(BEADS, MANY + 10, (3, 6), EVERYTHING, random_state=3, store=run)  # beside the variations
    np.testing.assert_array_equal(grown.labels[:, :MANY], mixed.labels)
    assert grown.info["unit"].tolist() == list(range(MANY + 10))
    whole = cs.Ensemble.load(run)
    last = whole.info.index[whole.info.get("number", whole.info.index.to_series()) == grown.info["number"].iloc[-1]][0]
    np.testing.assert_array_equal(whole.labels[:, last], grown.labels[:, -1])


def test_compactness_is_the_same_number_everywhere():
    X = np.random.default_rng(0).normal(size=(6000, 3)) * [1, 5, 9]
    made = cs.generate(X, 3, 5, "minima")
    np.testing.assert_allclose(score(made, X)["compactness"], made.info["compactness"])
    bare = cs.organize(cs.Ensemble(made.labels))
    shown = score_table(bare, read_table(X, kind="data"), {})
    np.testing.assert_allclose(shown["compactness"], made.info["compactness"])


def test_bad_settings_get_a_sentence():
    ask = partial(cs.generate, BEADS, n_clusterings=4, n_clusters=3)
    refuses("301 clusters need as many objects", ask, n_clusters=301)
    refuses("at least 2", ask, n_clusters=1)
    refuses("n_clusterings must be", ask, n_clusterings=0)
    refuses("twice", ask, methods="zipf+zipf")
    refuses("above 0", ask, methods="zipf:0")
    refuses("unknown method", ask, methods="")
    refuses("methods must be text", ask, methods=3)
    refuses(r"give KMeans\(\)", ask, base=KMeans)
    refuses("scikit-learn clusterer", ask, base="kmeans")
    refuses("leave it out", ask, base=KMeans(), methods="spectral")
    refuses("unknown metric", ask, metric="cosine")
    refuses("needs distances", ask, metric="precomputed")
    refuses("True or False", ask, standardize="yes")
    refuses("max_alpha", ask, max_alpha=-1)
    refuses("zipf_max", ask, zipf_max=0)
    refuses("pca_share must be a share", ask, pca_share=1.5)
    refuses("unknown pca_rule", ask, pca_rule="all")
    refuses("unknown init", ask, init="best")
    refuses("sigma_divisors is empty", ask, sigma_divisors=())
    refuses("jitter", ask, jitter=-1, around=3)
    refuses("name its run by store", ask, around=3)
    refuses("no 'seed' in its info", ask, around={"method": "zipf", "unit": 3})
    refuses("n_jobs", ask, n_jobs=0)


def test_bad_data_gets_a_sentence():
    ask = partial(cs.generate, n_clusterings=4, n_clusters=2)
    refuses("all 3 columns of the table are constant", ask, np.ones((9, 3)))
    refuses("only one is not constant", ask, np.arange(9.0)[:, None])
    refuses("only one is not constant", ask, np.arange(9.0)[:, None], methods="spectral")
    refuses("missing or infinite", ask, [[1.0, np.inf], [2, 3], [4, 5]])
    refuses("infinite value", ask, [[1.0, np.nan], [2, np.inf], [4, 5]])
    refuses("not 0", ask, np.array([[0, 1], [3, 3.0]]), metric="precomputed")
    refuses("the other way round", ask, np.array([[0, 1, 2], [3, 0, 1], [2, 1, 0.0]]), metric="precomputed")
    refuses("every distance is 0", ask, np.zeros((4, 4)), metric="precomputed")
    refuses("has one row", ask, np.eye(1))
    refuses("TruncatedSVD", ask, sparse.eye(5500, format="csr"))
    refuses("9,000 objects are more than 8,000", ask, np.random.default_rng(0).random((9000, 2)), methods="spectral")


def test_constant_columns_are_left_out():
    with_constant = np.insert(BEADS.values, 3, 7.0, axis=1)
    with pytest.warns(GenerationWarning, match="1 of 9 columns left out, being constant"):
        made = cs.generate(with_constant, 10, 4, "zipf")
    plain = cs.generate(BEADS.values, 10, 4, "zipf")
    np.testing.assert_array_equal(made.labels, plain.labels)
    assert all(weights[3] == 0 and len(weights) == 9 for weights in made.info["weights"])
    with pytest.warns(GenerationWarning, match="constant"):
        np.testing.assert_array_equal(Variations(with_constant).remake(made.info.loc[4]), made.labels[:, 4])
    with pytest.warns(GenerationWarning, match="constant"):
        near = Variations(with_constant)(made.info.loc[4], 3, jitter=0.1)
    np.testing.assert_array_equal(near.labels, Variations(BEADS)(plain.info.loc[4], 3, jitter=0.1).labels)


def test_settings_of_a_run_cannot_be_changed_on_the_way(tmp_path):
    cs.generate(BEADS, 5, 3, "minima", store=tmp_path / "run")
    more = partial(cs.generate, BEADS, 5)
    refuses(r"n_clusters was \(3,\) when the clustering was made", more, 4, around=2, store=tmp_path / "run")
    refuses("holds no clustering 77", more, around=77, store=tmp_path / "run")
    more(3, base=Birch(), store=tmp_path / "birch")
    refuses(r"made with base=Birch\(.*give the one it was made with", more, around=2, store=tmp_path / "birch")


def test_parsing():
    assert check_methods({"zipf": 1, "pca": 3}) == (("zipf", 0.25), ("pca", 0.75))
    assert check_methods("zipf, pca:3") == (("zipf", 0.25), ("pca", 0.75))
    assert check_clusters((3, 5)) == (3, 4, 5)
    assert check_clusters([2, 9]) == (2, 9)
    assert check_clusters(np.int64(4)) == (4,)
    settings = Plan.checked(methods="zipf+pca", n_clusters=[3, 4], max_alpha=1)
    assert Plan.of_json(settings.as_json()) == settings
    methods = Plan.checked(methods="zipf:3+minima:1", n_clusters=3).method_of(200)
    assert all(abs(methods[:n].count("minima") - n / 4) <= 1 for n in (4, 17, 200))  # in any first units


@pytest.mark.parametrize("unwritten", [{"guide"}, {"guide", "max_iter", "zipf_max"}])
def test_what_was_made_before_a_setting_was_there_is_taken_on(tmp_path, monkeypatch, unwritten):
    def written(plan):
        return {name: value for name, value in plan.items() if name not in unwritten}

    json, settings = Plan.as_json, Plan.text
    with monkeypatch.context() as before:
        before.setattr(Plan, "as_json", lambda plan: written(json(plan)))
        before.setattr(Plan, "text", lambda plan: dumps(written(loads(settings(plan)))))
        made = cs.generate(BEADS, 6, 3, "zipf", store=tmp_path / "run", progress=False)
    assert not unwritten & set(loads(made.info.loc[0, "settings"]))
    assert Plan.of_json(Store.open(tmp_path / "run").manifest["plan"]).guide is None
    np.testing.assert_array_equal(Variations(BEADS).remake(made.info.loc[4]), made.labels[:, 4])
    more = cs.generate(BEADS, 9, 3, "zipf", store=tmp_path / "run", progress=False)
    np.testing.assert_array_equal(more.labels, cs.generate(BEADS, 9, 3, "zipf", progress=False).labels)
    assert cs.generate(BEADS, 2, around=3, store=tmp_path / "run", progress=False).n_clusterings == 2
    refuses("in its plan, max_iter", cs.generate, BEADS, 9, 3, "zipf", max_iter=7, store=tmp_path / "run")


def test_remake_says_what_is_wrong(mixed):
    refuses("8 weights, and the columns of the data are 7", Variations(BEADS.values[:, :7]).remake, mixed.info.loc[0])
    row = {"method": "spell", "seed": 0, "unit": 0, "n_clusters": 3}
    refuses("'spell', which generate does not know", Variations(BEADS).remake, row)


def test_a_row_knows_the_settings_it_was_made_with():
    how = {"standardize": False, "init": "k-means++", "pca_share": 0.8, "object_share": 0.6}
    made = cs.generate(BEADS, 8, 4, "zipf+pca+objects", **how)
    for i in range(8):
        np.testing.assert_array_equal(Variations(BEADS).remake(made.info.loc[i]), made.labels[:, i])
    by_birch = cs.generate(BEADS, 2, 4, base=Birch())
    refuses(r"made with base=Birch", Variations(BEADS).remake, by_birch.info.loc[0])
    refuses("made with k-means", Variations(BEADS, base=Birch()).remake, made.info.loc[0])


def test_info_is_the_same_wherever_it_comes_from(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    for methods in ("minima", "minima+zipf", "pca+objects"):
        one = cs.generate(X, 520, 3, methods)  # two batches
        same_runs(one, cs.generate(X, 520, 3, methods, store=tmp_path / methods))
        assert {"weights", "note", "settings"} <= set(one.info)


def test_what_a_clusterer_says_of_itself_is_kept():
    by_height = AgglomerativeClustering(n_clusters=None, distance_threshold=150.0)
    assert cs.generate(BEADS, 3, 4, base=by_height).n_clusters.min() > 1
    chain = make_pipeline(StandardScaler(), KMeans(n_init=1))
    made = cs.generate(BEADS, 4, 5, base=chain)
    assert set(made.n_clusters) == {5}
    np.testing.assert_array_equal(made.labels, cs.generate(BEADS, 4, 5, base=chain).labels)
    assert base_text(Birch(threshold=0.2)) != base_text(Birch())
    assert "0x" not in base_text(HDBSCAN(metric=pdist))


def test_wide_tables_have_components_too():
    X = np.random.default_rng(0).normal(size=(60, 300))
    settings = Plan.checked(methods="pca", n_clusters=3)
    wide, few = (Spaces(table, settings).of("pca").table for table in (X, sparse.csr_matrix(X)))
    assert wide.shape[1] < 60
    U, lengths, _ = np.linalg.svd((X - X.mean(axis=0)) / X.std(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(wide), np.abs(U * lengths)[:, : wide.shape[1]], atol=1e-8)
    assert few.shape[0] == 60


def test_distances_tell_their_stress_and_have_a_limit(monkeypatch):
    D = squareform(pdist(np.random.default_rng(0).normal(size=(30, 4))))
    made = cs.generate(D, 4, 3, metric="precomputed", n_dimensions=2)
    assert made.info["stress"].nunique() == 1
    assert made.info["stress"].iloc[0] > 0
    monkeypatch.setattr(mds, "MOST_OBJECTS", 20)
    refuses("of 30 objects needs several matrices", cs.generate, D, 4, 3, metric="precomputed")


def test_a_method_that_returns_something_else_is_told_so(monkeypatch):
    class Short(Method):
        def make(self, table, spec, plan):
            return np.zeros(3)

    monkeypatch.setitem(METHODS, "short", Short())
    refuses(r"labels of shape \(3,\) for 300 objects", cs.generate, BEADS, 2, 3, "short")


@pytest.mark.parametrize("name", METHODS)
def test_methods_say_how_a_clustering_was_made(name, mixed):
    row = mixed.info[mixed.info["method"] == name].iloc[0]
    words = describe(row)
    assert "luster" in words or "k-means" in words
    assert describe(row.drop(["alpha", "sigma_divisor"]))  # a row that lost some of it
    assert describe({"method": "spell"}) == "spell"
    assert describe({}) == ""


@pytest.mark.parametrize(("seconds", "n_parts"), [(0.0, 5), (1e9, 2)])
def test_what_is_finished_is_stored_at_once_and_then_after_so_many_seconds(tmp_path, monkeypatch, seconds, n_parts):
    monkeypatch.setattr(Runner, "batch_seconds", seconds)
    monkeypatch.setattr(Runner, "_compactness", lambda self, labels: np.zeros(len(labels)))  # no time is scored away
    monkeypatch.setattr(Runner, "scoring", property(lambda self: 0.0, lambda self, value: None), raising=False)
    cs.generate(BEADS, 5, 3, base=KMeans(3, n_init=1), store=tmp_path / "run")
    assert len(list((tmp_path / "run").glob("part-*"))) == n_parts


@pytest.mark.parametrize("power", [1015, -700])
def test_numbers_whose_squares_leave_float64(power):
    plain, scaled = BEADS.values, np.ldexp(BEADS.values, power)
    np.testing.assert_array_equal(cs.generate(scaled, 6, 3).labels, cs.generate(plain, 6, 3).labels)
    refuses("multiply them by a constant first", cs.generate, scaled, 3, 3, standardize=False)


def counts():
    rng = np.random.default_rng(0)
    return sparse.csr_matrix(rng.poisson(0.05, size=(80, 300)) * rng.integers(1, 4, size=(80, 300)))


def test_each_kind_has_a_recipe_that_is_on_the_page():
    page = (Path(__file__).parent.parent / "docs" / "bases.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| [^|]+ \| `([\w+]+)` \| [^|]+ \|$", page, re.MULTILINE)
    columns, square, cases = np.zeros((50, 6)), np.zeros((50, 50)), as_table(customers(60, random_state=0)[0])
    data = [(columns, {}), (np.zeros((50, 400)), {}), (cases, {}), (counts(), {})]
    data += [(square, {"metric": "graph"}), (columns, {"base": object()}), (square, {"metric": "precomputed"})]
    found = [recipe_of(X, **how) for X, how in data]
    assert [one.methods for one in found[:-1]] == told
    methods = ["landmarks", "metrics", "reduced+components", "graph", "minima+features", "landmarks"]
    assert [one.methods for one in found[:2] + found[3:]] == methods
    assert set("+".join(one.methods for one in found).split("+")) <= set(METHODS)
    assert all("50" in one.words or one.kind in ("counts", "base", found[2].kind) for one in found)


def test_what_was_chosen_is_kept_and_said():
    X = np.random.default_rng(0).normal(size=(60, 4))
    ensemble = cs.generate(X, 3, methods="auto")
    assert set(ensemble.info["method"]) == {"landmarks"}
    assert loads(ensemble.info["settings"][0])["recipe"] == "60 objects × 4 columns: landmarks"
    assert ensemble.info["n_clusters"].between(*usual_clusters(60)).all()
    model = cs.EnsembleClusterer(3, random_state=0).fit(X)
    assert "60 objects × 4 columns: landmarks" in model.note_
    assert model.ensemble_.n_clusterings == 30
    assert cs.EnsembleClusterer(3, methods="minima", random_state=0).fit(X).ensemble_.n_clusterings == 100


def test_more_like_one_of_them_and_growing_runs(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 4))
    run = tmp_path / "run"
    first = cs.generate(X, 3, methods="auto", store=run)
    grown = cs.generate(X, 5, methods="auto", store=run)
    np.testing.assert_array_equal(grown.labels[:, :3], first.labels)
    assert cs.generate(X, 2, around=1, store=run, jitter=0.01).n_clusterings == 2


def test_cells_have_a_recipe_by_what_is_known_of_them():
    anndata = pytest.importorskip("anndata")
    counted = recipe_of(as_table(anndata.AnnData(counts().astype(float)), "data"))
    assert (counted.kind, counted.methods) == ("cells", "reduced+components")
    logs = recipe_of(as_table(anndata.AnnData(np.random.default_rng(0).normal(size=(30, 200))), "data"))
    assert (logs.kind, logs.methods) == ("cells", "metrics")
    assert recipe_of(as_table(anndata.AnnData(np.eye(30)[:, :6]), "data")).kind == "columns"


def test_clusterings_on_components_take_the_first_of_them():
    X = counts()
    ensemble = cs.generate(X[:, X.getnnz(axis=0) > 0], 12, (2, 4), "auto", random_state=0)
    assert set(ensemble.info["method"]) == {"reduced", "components"}
    numbers = ensemble.info["n_components"].astype(int)
    assert numbers.between(10, 50).all()
    assert numbers.nunique() > 3
    for weights, number in zip(ensemble.info["weights"], numbers, strict=True):
        assert weights is None or weights == [1] * number + [0] * (len(weights) - number)
    narrow = cs.generate(np.random.default_rng(0).normal(size=(60, 20)), 4, 3, "reduced+components").info
    assert narrow["weights"].isna().all()  # columns have no order, and all of them take part
    assert (narrow["n_components"] == 20).all()


def test_new_counts_are_labeled_through_components():
    rng = np.random.default_rng(0)
    known = np.repeat([0, 1, 2], 60)
    rates = 0.02 + 0.6 * (rng.random((3, 200)) < 0.15)
    X = sparse.csr_matrix(rng.poisson(rates[known])).astype(float)
    model = cs.EnsembleClusterer(3, random_state=0).fit(X)
    assert "reduced+components" in model.note_
    assert adjusted_rand_score(known, model.labels_) == 1
    assert adjusted_rand_score(known, model.predict(sparse.csr_matrix(rng.poisson(rates[known])).astype(float))) == 1


@pytest.mark.parametrize("n", [2, 3, 10, 1000, 10**6])
def test_numbers_of_clusters_fit_the_objects(n):
    for k in (None, 2, 5):
        low, high = usual_clusters(n, k)
        assert 2 <= low <= high <= max(n, 2)
        assert k is None or low == max(2, min(k, n))
    assert usual_clusters(n, search=True) == (2, max(2, min(20, int(np.sqrt(n)))))


# --- numbers in row blocks: a sample is clustered, and the other rows are labeled, whatever the blocks and the workers ---


HOW = {"n_clusters": 4, "methods": "minima", "progress": False}


def blobs(n=400, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(6, d)) * 3)[rng.integers(0, 6, n)] + rng.normal(size=(n, d))


def parted(table, *ends):
    return [table[a:b] for a, b in pairwise([0, *ends, len(table)])]


def test_rows_that_fit_the_sample_have_the_clusterings_of_memory():
    X, how = blobs(), {**HOW, "n_clusters": (3, 9), "methods": "+".join(METHODS), "n_landmarks": 50}
    whole = cs.generate(X, 13, **how)
    same_runs(whole, cs.generate(NumberBlocks(parted(X, 100, 101, 333)), 13, **how))
    same_runs(cs.generate(X, 2, methods="auto"), cs.generate(NumberBlocks([X]), 2, methods="auto"))


@pytest.mark.parametrize("methods", ["zipf+pca+features+objects", "spectral+density+gaussian+landmarks"])
def test_answers_do_not_depend_on_blocks_or_workers(methods):
    """Nor on which clusterings share a pass: in a store they come one after the other."""
    X, how = blobs(9000), {**HOW, "methods": methods}
    forms = [[X], parted(X, 4095, 4097), parted(X, 10, 8500)]
    sources = [NumberBlocks(form, sample_size=300) for form in forms]
    first = cs.generate(sources[0], 4, **how, n_jobs=1)
    for source, n_jobs in zip(sources[1:], (1, 2), strict=True):
        same_runs(first, cs.generate(source, 4, **how, n_jobs=n_jobs))
    assert (first.labels >= 0).mean() > 0.7


def test_other_rows_are_labeled_by_the_clusterings_of_the_sample():
    """As `extend` labels new objects; other seeds have other samples."""
    X = blobs(6000)
    blocks = NumberBlocks(parted(X, 2500), sample_size=500)
    made = cs.generate(blocks, 3, **HOW)
    assert made.n_objects == 6000
    assert made.info["settings"].str.contains('"sample_size": 500').all()
    for labels in made.labels.T:
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        means = np.array([Z[labels == c].mean(axis=0) for c in range(4)])
        nearest = np.square(Z[:, None] - means).sum(axis=2).argmin(axis=1)
        assert (nearest == labels).mean() > 0.97, "by the means of the sample, which are near those of all rows"
    whole = cs.generate(X, 20, **HOW)
    best = whole.labels[:, whole.info["inertia"].idxmin()]
    more = cs.generate(blocks, 20, **HOW)
    assert max(adjusted_rand(best, labels) for labels in more.labels.T) > 0.9
    other = cs.generate(blocks, 3, **HOW, random_state=1)
    assert (other.labels != made.labels).any()
    refuses("from row blocks", extend, made, X, X[:3])


def test_a_clustering_is_made_again_and_varied_from_the_same_blocks():
    X = blobs(900)
    blocks = NumberBlocks(parted(X, 123), sample_size=200)
    made = cs.generate(blocks, 3, **{**HOW, "methods": "zipf"})
    row = made.info.loc[2]
    variations = Variations(NumberBlocks([X], sample_size=200))
    np.testing.assert_array_equal(variations.remake(row), made.labels[:, 2])
    near = variations(row, 2, jitter=0.1)
    same_runs(near, cs.generate(blocks, 2, around=row, jitter=0.1, progress=False))
    np.testing.assert_array_equal(variations.remake(near.info.loc[1]), near.labels[:, 1])
    plain = cs.generate(X, 1, **HOW).info.loc[0]
    assert len(Variations(NumberBlocks([X])).remake(plain)) == 900, "a sample of all rows is the table itself"
    for source, again in ((X, row), (NumberBlocks([X], sample_size=100), row), (blocks, plain)):
        refuses("sample_size=", Variations(source).remake, again)


def test_parquet_and_dask_are_blocks_and_a_store_is_resumed(tmp_path):
    da = pytest.importorskip("dask.array")
    X = blobs()
    folder = tmp_path / "data"
    folder.mkdir()
    for i, part in enumerate(parted(X, 150)):
        pq.write_table(pa.table({f"x{j}": part[:, j] for j in range(5)}), folder / f"{i}.parquet", row_group_size=60)
    whole = cs.generate(X, 4, **HOW)
    same_runs(whole, cs.generate(da.from_array(X, chunks=(90, 2)), 4, **HOW))
    assert cs.generate(folder, 2, **HOW, store=tmp_path / "run").n_clusterings == 2
    same_runs(whole, cs.generate(str(folder), 4, **HOW, store=tmp_path / "run"))
    refuses("fingerprint of the data", cs.generate, da.from_array(X + 1, chunks=90), 5, **HOW, store=tmp_path / "run")


def test_a_store_of_a_sample_is_resumed_and_knows_its_data(tmp_path):
    """Whatever the blocks; other data with the same moments is not it."""
    X, run = blobs(5000, 3), tmp_path / "run"
    whole = cs.generate(NumberBlocks([X], sample_size=400), 5, **HOW)
    cs.generate(NumberBlocks(parted(X, 4000), sample_size=400), 2, **HOW, store=run)
    same_runs(whole, cs.generate(NumberBlocks(parted(X, 1, 4500), sample_size=400), 5, **HOW, store=run))
    assert open_source(run).provenance.fingerprint == fingerprint(X)
    shuffled = X.copy()
    np.random.default_rng(0).shuffle(shuffled[:, 0])
    for source, said in ((NumberBlocks([shuffled], sample_size=400), "fingerprint of the data"), (X, "plan")):
        refuses(said, cs.generate, source, 6, **HOW, store=run)


def test_columns_of_row_blocks_are_taken_by_name(tmp_path):
    """Where others hold no numbers."""
    dd = pytest.importorskip("dask.dataframe")
    X, names = blobs(), ["x0", "x3"]
    frame = pd.DataFrame({"name": [f"o{i}" for i in range(len(X))], **{f"x{j}": X[:, j] for j in range(5)}})
    folder = row_blocks(tmp_path / "data", frame[:150], frame[150:])
    whole, every = cs.generate(X[:, [0, 3]], 2, **HOW), cs.generate(X, 2, **HOW)
    lazy = dd.from_pandas(frame, npartitions=3)
    for source in (folder, lazy):
        same_runs(whole, cs.generate(source, 2, **HOW, columns=names))
    same_runs(whole, cs.generate(NumberBlocks([frame[:9], frame[9:]], columns=names), 2, **HOW))
    for source, chosen in (
        (folder, {"id_column": "name"}),
        (lazy, {"id_column": "name"}),
        (NumberBlocks([frame[:9], frame[9:]], id_column="name"), {}),
    ):
        made = cs.generate(source, 2, **HOW, **chosen)
        same_runs(every, made)
        assert made.ids.tolist() == frame["name"].tolist()
    refuses("0.parquet: column 'name' holds", cs.generate, folder, 2, **HOW)
    for source in (folder, lazy):
        refuses("'x9'", cs.generate, source, 2, **HOW, columns=["x9"])
    refuses("each once", cs.generate, folder, 2, **HOW, columns=["x1", "x1"])
    refuses("'nam'", cs.generate, folder, 2, **HOW, id_column="nam")
    refuses("types=", cs.generate, folder, 2, **HOW, types="number")
    refuses("columns=", NumberBlocks, [X], columns=names)
    refuses("leave it out of columns=", NumberBlocks, [frame], columns=names, id_column="x0")
    refuses("no column but 'name'", NumberBlocks, [frame[["name"]]], id_column="name")
    (folder / "0.parquet").write_text("cut short")
    refuses(r"0\.parquet: damaged", NumberBlocks, folder)


def test_what_row_blocks_cannot_be_is_refused():
    def ask(*parts, **how):
        return cs.generate(NumberBlocks(parts), 2, **{**HOW, "n_clusters": 2, **how})

    refuses("whole table", ask, np.eye(9), metric="precomputed")
    refuses("whole table", ask, np.eye(9), together=[(0, 1)])
    refuses("lower n_clusters", ask, np.eye(9), n_clusters=500)
    refuses("missing or not finite", ask, np.array([[1.0], [np.nan]]))
    refuses("tables of numbers", ask, np.array([["a"]]))
    refuses("at least one row", ask, np.ones((0, 2)))
    refuses("differ in their number", ask, np.ones((2, 2)), np.ones((2, 3)))
    refuses("are constant", ask, np.ones((5, 2)))
