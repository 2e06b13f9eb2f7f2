"""What every estimator of the package promises. It is found by its name in `__all__` of a public package: none needs entering here."""

import importlib
import inspect
import pickle
import pkgutil
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import estimator_checks_generator

import consilience
from consilience.agreement import CAP, Comraf
from consilience.alternatives import CCIB, CondEns
from consilience.consensus import METHODS, ConsensusEstimator
from consilience.datasets import noisy_labels
from consilience.datasets.scenarios import gaussians_8d5k


def discover():
    """Every public estimator, by name."""
    modules = [name for _, name, _ in pkgutil.iter_modules(consilience.__path__) if not name.startswith("_")]
    found = {}
    for module in (consilience, *(importlib.import_module(f"consilience.{name}") for name in sorted(modules))):
        for name in getattr(module, "__all__", ()):
            kind = getattr(module, name)
            if inspect.isclass(kind) and issubclass(kind, BaseEstimator) and kind is not ConsensusEstimator:
                found[name] = kind
    return found


ESTIMATORS = discover()
QUICK = {
    "CCIB": {"n_init": 2, "trade_off": 0.1},
    "CondEns": {"n_init": 2, "center": "group"},
    "EnsembleClusterer": {"n_clusters": 4, "n_clusterings": 6, "method": "quadratic"},  # which one check asks for
    "NBCE": {"max_iter": 40, "n_chains": 2},
}
OF_COUNTS = ("CCIB", "CountBottleneck", "DataLoom", "MDC", "MultinomialMixture")
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def make(name, **options):
    estimator = ESTIMATORS[name](**QUICK.get(name, {}) | options)
    return estimator.set_params(random_state=0) if "random_state" in estimator.get_params() else estimator


def arguments(name):
    """What `fit` takes: labels, edges of tables, counts with clusterings of both sides, counts, or measurements."""
    kind = ESTIMATORS[name]
    labels, known = noisy_labels(60, 3, 5, 0.2, random_state=0)
    columns, groups = noisy_labels(12, 2, 5, 0.1, random_state=1)
    counts = np.random.default_rng(0).poisson(np.where(known[:, None] % 2 == groups, 5.0, 0.5)) + 1
    if kind in METHODS.values():
        return (labels.labels,)
    if kind is Comraf:
        return ([("rows", "columns", counts)],)
    if kind is CAP:
        return counts, labels, columns
    data = counts if name in OF_COUNTS else gaussians_8d5k(60, random_state=0)[0]
    return (data, known) if kind in (CCIB, CondEns) else (data,)


def fitted(estimator):
    """What it learned, in arrays and numbers."""
    names = [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]
    return {name: v for name in names if isinstance(v := getattr(estimator, name), (np.ndarray, int, float))}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], name)


def test_all_are_found():
    assert set(METHODS.values()) <= set(ESTIMATORS.values())
    assert {"EnsembleClusterer", "CAP", "Comraf", "MDC", "DataLoom", "CondEns", "CCIB"} <= set(ESTIMATORS)


@every_estimator
def test_the_constructor_only_stores(name):
    parameters = inspect.signature(ESTIMATORS[name]).parameters
    values = {parameter: object() for parameter in parameters}
    estimator = ESTIMATORS[name](**values)
    assert estimator.get_params(deep=False) == values
    assert set(vars(estimator)) <= set(values)
    other = ESTIMATORS[name]().set_params(**values)
    assert other.get_params(deep=False) == values
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[1:])
    if "random_state" in parameters:
        assert parameters["random_state"].default is None
    assert "progress" not in parameters


@every_estimator
def test_fit_returns_itself_with_labels_and_leaves_its_parameters(name):
    estimator, given = make(name), arguments(name)
    before = estimator.get_params(deep=False)
    assert estimator.fit(*given) is estimator
    assert estimator.get_params(deep=False) == before
    for labels in ("labels_", "row_labels_"):
        if isinstance(getattr(estimator, labels, None), np.ndarray):
            assert getattr(estimator, labels).shape == (60,)
            assert getattr(estimator, labels).dtype.kind == "i"
    assert clone(estimator).get_params(deep=False).keys() == before.keys()


@every_estimator
def test_y_is_ignored(name):
    if "y" not in inspect.signature(ESTIMATORS[name].fit).parameters:
        pytest.skip("fit has no y")
    y = np.arange(60) % 4
    assert_same(fitted(make(name).fit(*arguments(name), y)), fitted(make(name).fit(*arguments(name))))


@every_estimator
def test_the_same_seed_gives_the_same_whatever_the_number_of_jobs(name):
    first = fitted(make(name).fit(*arguments(name)))
    again = {"n_jobs": 2} if "n_jobs" in ESTIMATORS[name]().get_params() else {}
    assert_same(first, fitted(make(name, **again).fit(*arguments(name))))


@every_estimator
def test_a_pickled_one_is_the_same(name):
    estimator, given = make(name).fit(*arguments(name)), arguments(name)
    copy = pickle.loads(pickle.dumps(estimator))
    assert_same(fitted(estimator), fitted(copy))
    for method in ("predict", "predict_proba", "score"):
        if len(given) == 1 and hasattr(estimator, method):
            np.testing.assert_array_equal(getattr(copy, method)(*given), getattr(estimator, method)(*given))


@every_estimator
def test_one_that_is_not_fitted_says_so(name):
    for method in ("predict", "predict_proba", "score", "perplexity", "transform"):
        if hasattr(ESTIMATORS[name], method):
            with pytest.raises(NotFittedError):
                getattr(make(name), method)(*arguments(name)[:1])


# scikit-learn's own checks. They give measurements, so that those which fit anything are not for estimators of something else;
# what is listed here must fail, so that the list stays honest.
NO_DATA = """check_fit_score_takes_y check_estimators_overwrite_params check_dont_overwrite_parameters
check_estimators_fit_returns_self check_readonly_memmap_input check_n_features_in_after_fitting
check_positive_only_tag_during_fit check_estimators_dtypes check_complex_data check_dtype_object
check_estimators_empty_data_messages check_pipeline_consistency check_estimators_nan_inf
check_estimator_sparse_array check_estimator_sparse_matrix check_estimators_pickle
check_f_contiguous_array_estimator check_methods_sample_order_invariance check_methods_subset_invariance
check_fit2d_1sample check_fit2d_1feature check_dict_unchanged check_fit_idempotent check_fit_check_is_fitted
check_n_features_in check_fit2d_predict1d""".split()  # noqa: SIM905
SPARSE, N_ITER = ["check_estimator_sparse_tag"], ["check_non_transformer_estimators_n_iter"]
LABELS = """check_sample_weights_list check_all_zero_sample_weights_error check_sample_weight_equivalence_on_dense_data
check_clustering""".split()  # noqa: SIM905
# One cluster is asked for, in which nothing is new.
ONE_CLUSTER = """check_dont_overwrite_parameters check_methods_subset_invariance check_fit2d_predict1d
check_fit2d_1feature""".split()  # noqa: SIM905
# Rows without any count are refused.
EMPTY_ROWS = """check_estimators_dtypes check_estimator_sparse_tag check_estimator_sparse_array
check_estimator_sparse_matrix check_fit2d_1feature""".split()  # noqa: SIM905
NEGATIVE = ["check_clustering"]  # has negative numbers, though the tag says positive only
GIVEN = ["check_fit_score_takes_y"]  # the second argument of fit is the given grouping, under its name
# The reader of tables has its own sentences, which name row and column.
OWN_WORDS = """check_positive_only_tag_during_fit check_complex_data check_dtype_object
check_estimators_empty_data_messages""".split()  # noqa: SIM905
EXCEPTIONS = {  # the methods take labels, and these are measurements
    kind.__name__: [*NO_DATA, *SPARSE, *LABELS, *(N_ITER if "max_iter" in kind().get_params() else [])]
    for kind in METHODS.values()
}
EXCEPTIONS |= {"CAP": [*NO_DATA, *SPARSE, "check_fit1d"]}  # takes clusterings as well
EXCEPTIONS |= dict.fromkeys(["CountBottleneck", "MultinomialMixture"], EMPTY_ROWS + NEGATIVE)
EXCEPTIONS |= dict.fromkeys(["DataLoom", "MDC"], OWN_WORDS)
EXCEPTIONS |= {"CCIB": EMPTY_ROWS + NEGATIVE + ONE_CLUSTER + GIVEN, "CondEns": ONE_CLUSTER + GIVEN}
EXCEPTIONS["Comraf"] = NO_DATA  # takes the edges of a graph
CHECKED = {name: ESTIMATORS[name](**QUICK.get(name, {})) for name in ESTIMATORS}
CHECKED["CondEns of counts"] = CondEns(n_init=2, base="bottleneck")
EXCEPTIONS["CondEns of counts"] = EXCEPTIONS["CCIB"]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    CHECKS = [
        pytest.param(name, one, check, id=f"{name}-{check.func.__name__}-{number}")
        for name, estimator in CHECKED.items()
        for number, (one, check) in enumerate(estimator_checks_generator(estimator))
    ]


@pytest.mark.parametrize(("name", "estimator", "check"), CHECKS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn(name, estimator, check):
    if check.func.__name__ not in EXCEPTIONS.get(name, ()):
        check(estimator)
        return
    with pytest.raises((AssertionError, TypeError, ValueError)):
        check(estimator)
