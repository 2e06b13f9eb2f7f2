"""What every consensus method promises, beside that orders and names do not matter (`test_same_answer`); a new one enters METHODS."""

from functools import partial

import numpy as np
import pytest

import consilience as cs
from consilience.consensus import METHODS
from consilience.consensus.methods import information_and_quadratic as bottleneck
from consilience.measures import anmi, nmi
from samples import first_of, noisy_copies, refuses

every_method = pytest.mark.parametrize("method", METHODS)
GOOD = [name for name in METHODS if name != "hgpa"]  # whose objective has its best value elsewhere
good_methods = pytest.mark.parametrize("method", GOOD)

some_copies = partial(noisy_copies, n=120, k=4, r=6, noise=0.15)
QUICK = {"nbce": {"max_iter": 40, "n_chains": 2}, "bce": {"n_init": 2}}


def make(method, n_clusters=None, **options):
    estimator = METHODS[method](n_clusters, **QUICK.get(method, {}) | options)
    return estimator.set_params(random_state=0) if "random_state" in estimator.get_params() else estimator


@every_method
def test_fitted_attributes(method):
    labels, _ = some_copies(missing=0.1)
    found = make(method).fit(labels)
    assert found.labels_.shape == (120,)
    sizes = np.bincount(found.labels_)
    assert len(sizes) == found.n_clusters_ <= (6 if method == "nbce" else 4)  # which finds its own number
    assert (np.diff(sizes) <= 0).all()
    assert found.confidence_.shape == (120,)
    assert found.confidence_.min() >= 0
    assert found.confidence_.max() <= 1
    assert found.membership_.shape == (120, found.n_clusters_)
    np.testing.assert_allclose(found.membership_.sum(axis=1), 1)
    assert found.anmi_ == pytest.approx(anmi(labels, found.labels_), abs=1e-12)
    assert found.fit_predict(labels).tolist() == found.labels_.tolist()


@good_methods
@pytest.mark.parametrize(("noise", "missing", "least"), [(0.15, 0, 0.95), (0.1, 0.3, 0.85)])
def test_it_finds_what_is_planted_also_with_missing_labels(method, noise, missing, least):
    labels, truth = some_copies(noise=noise, missing=missing)
    assert nmi(truth, make(method).fit(labels).labels_) > least


@good_methods
@pytest.mark.parametrize("seed", first_of(range(3)))
def test_weights_are_copies(method, seed):
    labels, _ = some_copies(n=60, noise=0.2, seed=seed)
    copies = np.random.default_rng(seed).integers(1, 4, 60)
    weighted = make(method, 4).fit(labels, sample_weight=copies).labels_
    repeated = make(method, 4).fit(np.repeat(labels, copies, axis=0)).labels_
    assert np.repeat(weighted, copies).tolist() == repeated.tolist()
    labels, truth = some_copies(n=60, noise=0.1)
    how = {"inference": "vb"} if method == "nbce" else {}  # samples are of whole objects
    fractional = make(method, 4, **how).fit(labels, sample_weight=copies * 0.37).labels_
    assert nmi(truth, fractional) > 0.8  # balanced methods feel the uneven weights


@every_method
def test_an_object_without_labels_belongs_nowhere(method):
    labels, _ = some_copies(noise=0.1)
    labels[[3, 70]] = -1
    found = make(method).fit(labels)
    assert found.labels_[[3, 70]].tolist() == [-1, -1]
    assert found.confidence_[[3, 70]].tolist() == [0, 0]
    shares = 2 if method in ("nbce", "mixture", "bce") else 0  # those of the clusters, by the models of labels
    assert found.membership_[[3, 70]].sum() == pytest.approx(shares)
    assert (np.delete(found.labels_, [3, 70]) >= 0).all()


@every_method
@pytest.mark.parametrize(
    "labels",
    first_of(
        [
            [[0, 0, 1, 1, 2, 2]],  # one clustering
            [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0]],  # a clustering of one cluster
            [[0, 0, 1, 1, -1, -1], [-1, -1, -1, -1, 0, 1]],  # parts that do not overlap
            [[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 1]],  # every object alone
            [[0, 0, 1, -1, -1, -1], [-1, -1, 0, 0, 1, -1], [0, -1, -1, -1, -1, 1]],
            [[0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]],
            [[0, 1, 2, 3, 4, 5]] * 3,
        ],
        3,
    ),
)
def test_edge_cases_give_an_answer(method, labels):
    rows = len(cs.Ensemble(labels).signatures())
    for k in {2, min(3, rows), rows}:
        if k <= rows:
            found = make(method, k).fit(labels)
            assert 1 <= found.n_clusters_ <= k
            assert np.isfinite(found.confidence_).all()
    heavy = make(method, 2).fit(labels, sample_weight=[1e3 if method == "nbce" else 1e6, 1, 1, 1, 1, 1])
    assert np.isfinite(heavy.membership_).all()


@every_method
@pytest.mark.parametrize(
    ("labels", "k", "sentence"),
    [
        ([[0, 0, 1], [0, 1, 1]], 1, "at least 2"),
        ([[0, 0, 1], [0, 1, 1]], 2.5, "whole number"),
        ([[0, 0, 1], [0, 1, 1]], True, "whole number"),
        ([[0, 0, 1], [0, 1, 1]], 4, "only 3 distinct rows"),
        ([[None, None], [None, None]], 2, "no object has a label"),
        ([[0, 0, 1], [0, 1]], 2, "has 2 labels"),
        ([[0.5, 0.2, 0.3]], 2, "is not a label"),
    ],
)
def test_bad_input_gets_one_sentence(method, labels, k, sentence):
    refuses(sentence, make(method, k).fit, labels)


@every_method
@pytest.mark.parametrize("weights", [[1, 1], [1, -1, 1, 1], [np.nan, 1, 1, 1], [0] * 4, [1e19] * 4, [1e-170, 1, 1, 1]])
def test_bad_weights(method, weights):
    refuses("weights", make(method, 2).fit, [[0, 0, 1, 1], [0, 1, 1, 0]], sample_weight=weights)


NONSENSE = {
    "n_init": [0, 1.5, True, "ten"],
    "max_iter": [0, -1, 2.0, None],
    "max_rows": [0, 1, 100.0],
    "n_neighbors": [0, 2.5, True],
    "temperature": [-0.1, np.inf, np.nan, "hot"],
    "cooling": [1, 0.5, np.inf, None],
    "memory_budget": [0, -1, np.nan, "1 GB"],
    "imbalance": [-0.1, np.nan, 11, "even"],
    "backend": ["hmetis"],
    "gap": [-1, 1.5, "some"],
    "theta": [0, -1],
    "steps": [0, 1.5],
    "max_leaves": [0],
    "linkage": ["ward"],
    "objective": ["soed"],
    "search": ["greedy"],
    "smoothing": [-1, "no"],
    "tol": [-1, "no"],
    "prior": [-1, "dp"],
    "inference": ["cvb3"],
    "loss": ["vj"],
    "n_components": [0],
    "n_chains": [0],
    "n_moves": [-1],
    "n_samples": [0],
    "alpha": [0, -1.0],
    "beta": [0.0, np.inf],
    "power": [0, 1.5, "full"],
}
BAD_INIT = {"anmi": [[], "greed", ["greedy", "greed"], 3], "vote": ["greed", 3], "nbce": ["greed"]}


@every_method
def test_nonsense_gets_one_sentence(method):
    for name in set(NONSENSE) & set(make(method).get_params()):
        default = METHODS[method]().get_params()[name]
        for value in (value for value in NONSENSE[name] if value is not None or default is not None):
            words = {"backend": "partitioner"}.get(name, name)
            refuses(words, make(method, 2, **{name: value}).fit, [[0, 0, 1, 1], [0, 1, 1, 0]])


@pytest.mark.parametrize("method", BAD_INIT)
def test_a_start_that_is_none_is_refused(method):
    for init in BAD_INIT[method]:
        refuses("init", make(method, 2, init=init).fit, [[0, 0, 1, 1], [0, 1, 1, 0]])


@pytest.mark.parametrize("method", ["vote", "anmi"])
def test_a_missing_label_of_a_start_is_no_cluster(method):
    labels, truth = some_copies(noise=0.1)
    start = np.where(np.arange(len(truth)) % 3 == 0, -1, truth)  # four clusters, which a fifth would make too many
    for given in (start, np.where(start < 0, np.nan, start)):
        found = make(method, 4, init=given if method == "vote" else [given]).fit(labels)
        assert nmi(truth, found.labels_) > 0.95
    refuses("no label", make(method, 4, init=start * 0 - 1 if method == "vote" else [start * 0 - 1]).fit, labels)


def test_rows_that_a_start_does_not_label_join_by_their_other_labels():
    labels = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 0]])
    found = make("anmi", 2, init=[[0, 0, -1, 1, 1, -1]], max_iter=1).fit(labels)
    assert found.labels_[0] == found.labels_[1] != found.labels_[3] == found.labels_[4]
    assert found.init_ == "given 0"


def test_a_single_name_is_one_start():
    labels, _ = some_copies()
    assert set(make("anmi", 4, init="greedy").fit(labels).init_anmi_) == {"greedy"}


SAMPLES = [
    ("vote", {"init": "best"}, ["methods.vote"]),
    ("vote", {"init": "clusterings"}, ["methods.vote"]),
    ("dawid_skene", {}, ["rows.error_model"]),
    *((model, {}, ["methods.label_model", "methods.mixture"]) for model in ("mixture", "bce", "nbce")),
]


@pytest.mark.parametrize(("method", "options", "files"), SAMPLES)
def test_a_sample_of_the_rows_carries_it_in_any_number_of_threads(method, options, files, monkeypatch):
    labels, truth = some_copies(n=900, noise=0.4)
    whole = make(method, 4, **options).fit(labels)
    for file in files:
        monkeypatch.setattr(f"consilience.consensus.{file}.SAMPLE", 80)
    threads = ({"n_jobs": jobs} if "n_jobs" in whole.get_params() else {} for jobs in (1, 2))
    one, two = (make(method, 4, **options, **how).fit(labels) for how in threads)
    assert one.n_rows_ > 80
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert not hasattr(one, "score") or one.score(labels) == two.score(labels)
    assert method != "dawid_skene" or (one.labels_ != whole.labels_).any()
    assert nmi(truth, one.labels_) > nmi(truth, whole.labels_) - 0.05


def test_anneals_do_not_depend_on_the_threads_and_take_a_sample_of_many_rows(monkeypatch):
    labels, truth = some_copies(n=600, noise=0.3)
    shapes, anneal = [], bottleneck.anneal
    noted = lambda part, *k, **how: shapes.append(part.n_objects) or anneal(part, *k, **how)  # noqa: E731
    monkeypatch.setattr(bottleneck, "anneal", noted)
    monkeypatch.setattr(bottleneck, "SAMPLE", 200)
    one, two = (make("information", 4, search="annealing", n_init=3, n_jobs=jobs).fit(labels) for jobs in (1, 2))
    assert one.n_rows_ > 200
    assert shapes == [200] * 6
    assert one.labels_.tolist() == two.labels_.tolist()
    assert nmi(truth, one.labels_) > 0.75
