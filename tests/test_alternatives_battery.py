"""scikit-learn's own checks of the estimators, with the reason of every exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.alternatives import CCIB, CondEns, CountBottleneck, MultinomialMixture

ONE_CLUSTER = dict.fromkeys(
    (
        "check_dont_overwrite_parameters",
        "check_methods_subset_invariance",
        "check_fit2d_predict1d",
        "check_fit2d_1feature",
    ),
    "asks for one cluster, in which nothing is new",
)
EMPTY_ROWS = dict.fromkeys(
    (
        "check_estimators_dtypes",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_fit2d_1feature",
    ),
    "has rows without any count, which are refused",
)
GIVEN = {"check_fit_score_takes_y": "the second argument of fit is the given grouping, under its name"}
NEGATIVE = {"check_clustering": "has negative numbers, though the tag says positive only"}
COUNTS = EMPTY_ROWS | NEGATIVE


def exceptions(estimator):
    if isinstance(estimator, (MultinomialMixture, CountBottleneck)):
        return COUNTS
    if isinstance(estimator, CCIB) or estimator.base == "bottleneck":
        return COUNTS | ONE_CLUSTER | GIVEN
    return ONE_CLUSTER | GIVEN


@parametrize_with_checks(
    [
        CondEns(n_init=2, center="group"),
        CondEns(n_init=2, base="bottleneck"),
        CCIB(n_init=2, trade_off=0.1),
        MultinomialMixture(),
        CountBottleneck(),
    ],
    expected_failed_checks=exceptions,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn(estimator, check):
    check(estimator)
