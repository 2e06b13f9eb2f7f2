"""What is read off an agreement: stability by iteration, and groups with names."""

import numpy as np
import pytest
from scipy import sparse

import consilience as cs
from consilience._check import InputError
from consilience.agreement import Agreement, stable_groups
from consilience.agreement.components import column_information
from consilience.agreement.result import Sides
from consilience.consensus import stable_components
from consilience.datasets import noisy_labels
from consilience.measures import accuracy


def process(noises, n_rows=60, n_columns=40):
    """Clusterings that come nearer to a planted truth, as an agreement holds them."""
    sides, truth = [], None
    for noise in noises:
        rows, truth = noisy_labels(n_rows, 4, n_clusterings=5, noise=noise, random_state=0)
        columns, _ = noisy_labels(n_columns, 8, n_clusterings=5, noise=noise, random_state=1)
        sides.append(Sides(rows, columns))
    none = np.array([], int)
    return Agreement(sides[0], sides[-1], sides[1:], np.arange(len(noises), dtype=float), none, none), truth


def groups_by_hand(before, after):
    """The definition, in sets: members, pieces and the largest piece of every stable component."""
    rows, old = [tuple(r) for r in np.array(after)], [tuple(r) for r in np.array(before)]
    found = {}
    for i, row in enumerate(rows):
        found.setdefault(row, []).append(i)
    result = []
    for members in found.values():
        parts = [old[i] for i in members]
        result.append((frozenset(members), len(set(parts)), max(map(parts.count, parts))))
    return set(result)


def test_stability_and_accuracy_of_every_iteration():
    result, truth = process([0.6, 0.3, 0.1])
    table = result.stability_by_iteration(truth)
    assert table["iteration"].tolist() == [0, 1, 2]
    for row, sides in zip(table.itertuples(), (result.before, *result.iterations), strict=True):
        for name in ("rows", "columns"):
            expected = cs.stability(getattr(sides, name), "jaccard")
            assert (getattr(row, name), getattr(row, f"{name}_sem")) == (expected.mean, expected.sem)
        values = [accuracy(truth, labels) for labels in sides.rows.labels.T]
        assert row.accuracy == pytest.approx(np.mean(values))
        assert row.accuracy_sem == pytest.approx(np.std(values, ddof=1) / np.sqrt(5))
    assert table["rows"].is_monotonic_increasing
    assert "accuracy" not in result.stability_by_iteration()
    with pytest.raises(InputError, match="59 for 60 rows"):
        result.stability_by_iteration(truth[1:])


def test_one_clustering_has_no_stability():
    alone, none = Sides(cs.Ensemble([[0, 0, 1]]), cs.Ensemble([[0, 1]])), np.array([], int)
    result = Agreement(alone, alone, [alone], np.zeros(2), none, none)
    table = result.stability_by_iteration([0, 0, 1])
    assert table[["rows", "columns", "rows_sem", "accuracy_sem"]].isna().all(axis=None)
    assert table["accuracy"].tolist() == [1, 1]
    assert "jaccard" not in repr(result)


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    before, after = rng.integers(3, size=(40, 3)), rng.integers(2, size=(40, 3))
    table = stable_groups(before, after, smallest=1)
    found = {
        (frozenset(m), p, part)
        for m, p, part in zip(table["members"], table["pieces"], table["largest_piece"], strict=True)
    }
    assert found == groups_by_hand(before, after)
    assert table["size"].tolist() == [len(m) for m in table["members"]]
    assert table["size"].is_monotonic_decreasing
    assert table["size"].tolist() == stable_components(after)["size"].tolist()


def test_names_weights_and_what_is_new():
    words = np.array(["altar", "bible", "gospel", "goal", "team", "the"])
    before = [[0, 1, 2, 3, 3, 4]]
    after = [[0, 0, 0, 1, 1, 2]]
    table = stable_groups(before, after, names=words, weights=[1, 5, 3, 9, 2, 100])
    assert table["members"].tolist() == [
        ["goal", "team"],
        ["bible", "gospel", "altar"],
    ]  # heaviest first, the lone word left out
    assert table["pieces"].tolist() == [1, 3]
    assert stable_groups(before, after, names=words, new=True)["members"].tolist() == [["altar", "bible", "gospel"]]
    assert stable_groups(before, after, names=words, top=1)["size"].tolist() == [3]
    by_id = stable_groups(before, cs.Ensemble(after, ids=words))
    assert by_id["members"].tolist() == [["altar", "bible", "gospel"], ["goal", "team"]]
    assert stable_groups(before, [[0, 1, 2, 3, 4, 5]])["members"].tolist() == []
    assert stable_groups(before, [[0, 0, -1, -1, 1, 2]])["members"].tolist() == [[0, 1]]  # no label is no group


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"names": ["a"]}, "names must be one per object, 3 in all"),
        ({"smallest": 0}, "smallest must be"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(InputError, match=words):
        stable_groups([[0, 0, 1]], [[0, 0, 1]], **options)
    with pytest.raises(InputError, match="2 objects before and 3 after"):
        stable_groups([[0, 0]], [[0, 0, 1]])


def test_columns_share_the_information_about_the_clusters():
    rng = np.random.default_rng(0)
    counts, labels = rng.poisson(1.0, size=(30, 12)), rng.integers(-1, 3, size=30)
    counts[:, 5] = 0
    found = column_information(sparse.csr_matrix(counts), labels)
    joint = np.array([counts[labels == c].sum(axis=0) for c in range(3)]) / counts[labels >= 0].sum()
    for y in range(12):
        own = joint[:, y].sum()
        by_hand = sum(p * np.log(p / (own * joint[c].sum())) for c, p in enumerate(joint[:, y]) if p > 0)
        assert found[y] == pytest.approx(by_hand, abs=1e-12)
    assert found[5] == 0
    for wrong, words in ((labels[1:], "30 rows and 29 labels"), (np.full(30, -1), "no row with a label")):
        with pytest.raises(InputError, match=words):
            column_information(counts, wrong)
