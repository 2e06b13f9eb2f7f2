"""Redundancy, quality and confidence: the numbers beside their definitions, and the sentence."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

import consilience as cs
from consilience.alternatives import CCIB, diagnose, quality
from consilience.datasets import orthogonal_multinomials
from consilience.measures import adjusted_rand, information_ratio, matched_accuracy, nmi
from samples import refusals

X, GIVEN, HIDDEN = orthogonal_multinomials(3, random_state=0)


@pytest.fixture(scope="module")
def found():
    return cs.contrast(X, GIVEN, 3, base="multinomial", n_init=4)


def test_quality_is_its_definition():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 3)) + 5, rng.integers(0, 4, 50)
    inside = sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in range(4))
    total = ((X - X.mean(axis=0)) ** 2).sum()
    assert quality(X, labels) == pytest.approx(1 - inside / total)
    assert quality(sparse.csr_matrix(X), labels) == pytest.approx(1 - inside / total)
    assert quality(X, np.arange(50)) == pytest.approx(1)
    known = np.where(np.arange(50) < 40, labels, -1)
    assert quality(X, known) == pytest.approx(quality(X[:40], labels[:40]))
    assert np.isnan(quality(X, np.full(50, -1)))
    assert quality(np.ones((4, 2)), [0, 0, 1, 1]) == 0
    X, labels = rng.poisson(3, (30, 4)), rng.integers(0, 3, 30)
    rows = np.repeat(np.arange(30), X.sum(axis=1))
    words = np.concatenate([np.repeat(np.arange(4), x) for x in X])
    assert quality(X, labels, measure="information") == pytest.approx(mutual_info_score(labels[rows], words))


def test_diagnostics_are_their_definitions(found):
    about = found.diagnostics
    row = about.redundancy.iloc[0]
    assert row["information"] == pytest.approx(mutual_info_score(GIVEN, found.labels), abs=1e-12)
    assert row["nmi"] == pytest.approx(nmi(GIVEN, found.labels)) == found.redundancy
    assert row["share"] == pytest.approx(information_ratio(GIVEN, found.labels))
    parts = [quality(X, labels, measure="information") for labels in (found.labels, GIVEN, 3 * GIVEN + found.labels)]
    assert row["shared_information"] == pytest.approx(parts[0] + parts[1] - parts[2])
    assert (found.quality, about.quality_of_given) == pytest.approx(tuple(parts[:2]))
    assert about.measure == "information"


def test_what_is_shared_information():
    orthogonal = diagnose(X, HIDDEN, GIVEN, measure="information").redundancy["shared_information"][0]
    same = diagnose(X, GIVEN, GIVEN, measure="information").redundancy["shared_information"][0]
    assert same == pytest.approx(quality(X, GIVEN, measure="information"))
    assert abs(orthogonal) < 0.1 * same
    assert diagnose(X, HIDDEN).redundancy.empty
    known = np.arange(450) < 350
    row = diagnose(X, HIDDEN, np.where(known, GIVEN, -1)).redundancy.iloc[0]
    alone = diagnose(X[known], HIDDEN[known], GIVEN[known]).redundancy.iloc[0]
    np.testing.assert_allclose(row[1:].astype(float), alone[1:].astype(float))


def test_the_walk_through_is_the_papers_tables(found):
    table = found.group_breakdown(HIDDEN)
    assert table["group"].tolist() == ["0", "1", "2"]
    assert table["size"].tolist() == np.bincount(GIVEN).tolist()
    info = found.ensemble.info
    for code, row in table.iterrows():
        columns = found.ensemble.labels[:, info.index[info["group"] == code]].T
        inside = code == GIVEN
        told = np.mean([information_ratio(HIDDEN[inside], c[inside]) for c in columns])
        assert row["inside_known"] == pytest.approx(told)
        for name, labels in (("known", HIDDEN), ("given", GIVEN), ("combined", found.labels)):
            told = np.mean([information_ratio(labels, c) for c in columns])
            assert row[f"extended_{name}"] == pytest.approx(told)
        assert row["inside_known"] > row["extended_known"]  # the extension leaks
    assert "inside_known" not in found.group_breakdown()


def test_run_agreement_is_that_of_two_halves_of_the_runs(found):
    info = found.ensemble.info
    halves = [
        cs.combine(found.ensemble[:, np.flatnonzero(info["run"] % 2 == r)], 3, "information", random_state=0).labels
        for r in (0, 1)
    ]
    assert found.run_agreement == adjusted_rand(*halves) > 0.8
    assert np.isnan(cs.contrast(X, GIVEN, 3, n_init=1).run_agreement)
    noise = np.random.default_rng(0).normal(size=(200, 6))
    assert cs.contrast(noise, np.arange(200) % 2, 3, n_init=4).run_agreement < 0.8
    found = cs.contrast(X, GIVEN, 3, n_init=4, keep="best")
    assert np.isnan(found.run_agreement)
    assert "halves" not in found.sentence


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_quality_does_not_depend_on_where_zero_is(kind):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    X = labels[:, None] * [1.0, 0.5] + rng.normal(size=(300, 2))
    expected = quality(X, labels)
    assert 0.2 < expected < 0.6
    assert quality(kind(X + 1e9), labels) == pytest.approx(expected, abs=1e-6)
    counts = rng.poisson(0.4, (300, 7)).astype(float)  # most are not stored
    assert quality(kind(counts), labels) == pytest.approx(quality(counts, labels), rel=1e-12)
    assert quality(kind(X + np.array([1e9, 0.0])), labels) == pytest.approx(expected, abs=1e-6)


def test_ccib_makes_the_same_record():
    names = np.array(["ash", "elm", "oak"])[GIVEN]
    found = cs.contrast(X, names, 3, method="ccib", n_init=4, trade_off=0.1)
    assert matched_accuracy(HIDDEN, found.labels) > 0.9
    assert found.groups["outcome"].tolist() == ["not split"] * 3
    assert "unused" not in repr(found)
    table = found.group_breakdown(HIDDEN)
    assert table["group"].tolist() == ["ash", "elm", "oak"]
    assert table["runs"].tolist() == [4, 4, 4]
    assert (table["inside_known"] > 0.5).all()
    halves = [
        cs.combine(found.ensemble[:, np.arange(r, 4, 2)], 3, "information", random_state=0).labels for r in (0, 1)
    ]
    assert found.run_agreement == adjusted_rand(*halves)


def test_several_groupings_are_compared_together_too():
    one, two = np.repeat([0, 1], 50), np.tile([0, 1], 50)
    X = np.column_stack([one, two, one ^ two]) + np.random.default_rng(0).normal(size=(100, 3)) * 0.1
    table = diagnose(X, one ^ two, [one, two]).redundancy.set_index("given")
    assert table["nmi"].iloc[:2].max() < 1e-9
    assert table.loc["together", "nmi"] == pytest.approx(2**-0.5)  # both tell all of it: I = H(C) = H(Z) / 2
    counts = np.random.default_rng(0).poisson(1 + 20 * np.column_stack([one, two, one ^ two]))
    found = CCIB(2, n_init=2, random_state=0).fit(counts, [one, two])
    together = diagnose(counts, found.labels_, [one, two]).redundancy["nmi"].max()
    assert found.redundancy_ == pytest.approx(together, rel=1e-9)


BAD = np.where(np.arange(450)[:, None] == 3, [0, np.nan, 0], X)

test_what_does_not_fit_gets_one_sentence = refusals(
    (lambda: quality(BAD, HIDDEN), r"row 4, column 1 .*missing or infinite"),
    (lambda: diagnose(BAD, HIDDEN, GIVEN), r"row 4, column 1 .*missing or infinite"),
    (lambda: diagnose(X, HIDDEN, GIVEN[:10]), "given labels are of 10 objects, the clustering of 450"),
    (lambda: cs.contrast(X, GIVEN, 3, n_init=1).group_breakdown(HIDDEN[:10]), "10 known labels"),
    (lambda: quality(X, [0, 1, 1]), "3 labels for data of 450 objects"),
    (lambda: quality(X, HIDDEN, measure="entropy"), "unknown measure"),
    (lambda: cs.contrast(X, GIVEN, 3, method="ccib", base="multinomial"), "base is not an option of method='ccib'"),
    (lambda: cs.contrast(X, GIVEN, 3, trade_off=1.0), "trade_off is not an option of method='condens'"),
)
