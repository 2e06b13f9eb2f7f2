"""Several groupings beside several known ones: against enumeration of all pairs and all assignments."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.alternatives.sequence import Alternatives
from consilience.datasets import load_beads
from consilience.ensemble.results import Result
from consilience.measures import MEASURES, adjusted_rand, compare_labelings
from consilience.measures.compare_labelings import SCORES, _by_rows, _by_sets, joined_pairs
from samples import refuses


def plain_pairs(found, known):
    """The scores, pair by pair."""
    both = [i for i in range(len(found)) if (found[i] >= 0).any() and (known[i] >= 0).any()]
    tp = fp = fn = tn = 0
    for i, j in combinations(both, 2):
        ours, theirs = (bool(((side[i] == side[j]) & (side[i] >= 0)).any()) for side in (found, known))
        tp, fp, fn, tn = tp + (ours and theirs), fp + (ours > theirs), fn + (ours < theirs), tn + (not (ours or theirs))
    if not tp + fp + fn:
        return dict.fromkeys(SCORES, 1.0)
    precision, recall = (tp / whole if whole else 0.0 for whole in (tp + fp, tp + fn))
    f1 = 2 * precision * recall / (precision + recall) if tp else 0.0
    values = precision, recall, f1, (tp + tn) / (tp + fp + fn + tn), tp / (tp + fp + fn)
    return dict(zip(SCORES, values, strict=True))


def some_labels(rng, n, m, k, missing):
    """Random labels in which every column has at least two clusters."""
    labels = rng.integers(-1 if missing else 0, k, (n, m))
    labels[:2] = [[0] * m, [1] * m]
    return labels


@pytest.mark.parametrize("missing", [False, True])
def test_pairs_of_two_sets_are_those_that_enumeration_finds(missing):
    rng = np.random.default_rng(int(missing))
    for _ in range(40):
        n, k = int(rng.integers(2, 25)), int(rng.integers(2, 7))
        found, known = (some_labels(rng, n, int(rng.integers(1, 4)), k, missing) for _ in range(2))
        expected = plain_pairs(found, known)
        named = {str(j): column for j, column in enumerate(known.T)}
        assert compare_labelings(found, named).pairs == pytest.approx(expected)
        labels = np.column_stack([found, known]).astype(np.int32)
        joined = sum(bool(((a == b) & (a >= 0)).any()) for a, b in combinations(labels, 2))
        distinct = cs.Ensemble.from_codes(labels).signatures()
        assert _by_sets(labels) == _by_rows(distinct.labels, distinct.counts) == joined_pairs(labels) == joined


def test_groupings_of_different_objects_have_no_value():
    result = compare_labelings([[0, 1, 1, -1, -1, -1]], {"x": [-1, -1, -1, 0, 1, 1]})
    assert np.isnan(result.table.iloc[0, 0])
    assert (result.matched, result.matches["matched"].iloc[0]) == (0.0, None)


@pytest.mark.parametrize("measure", ["nmi", "adjusted_rand", "cluster_difference", "variation_of_information", "f1"])
@pytest.mark.parametrize(("n_found", "n_known"), [(3, 3), (2, 3), (4, 2)])
def test_known_groupings_get_the_best_partners(measure, n_found, n_known):
    rng = np.random.default_rng(n_found)
    found, known = some_labels(rng, 30, n_found, 4, False), some_labels(rng, 30, n_known, 3, False)
    names = [f"k{j}" for j in range(n_known)]
    result, how = compare_labelings(found, pd.DataFrame(known, columns=names), measure), MEASURES[measure]
    values = np.array([[how.function(k, f) for k in known.T] for f in found.T])
    np.testing.assert_allclose(result.table, values)
    sign = -1 if how.is_distance else 1
    best = sign * (sign * values).max(axis=0)
    np.testing.assert_allclose(result.matches["best_value"], best)
    assert result.best == pytest.approx(best.mean())
    size = min(n_found, n_known)
    worst = (np.nan if how.largest is None else how.largest) if how.is_distance else 0.0
    sums = [
        sign * sum(values[i, j] for i, j in zip(rows, columns, strict=True))
        for rows in permutations(range(n_found), size)
        for columns in combinations(range(n_known), size)
    ]
    rest = worst * (n_known - size) if n_known > size else 0.0
    np.testing.assert_allclose(result.matched, (sign * max(sums) + rest) / n_known)
    partners = result.matches["matched"].dropna()
    assert len(partners) == len(set(partners)) == size


def test_spaces_of_noise_are_left_out_and_order_changes_nothing(tmp_path):
    rng = np.random.default_rng(5)
    known = some_labels(rng, 40, 2, 3, False)
    found = {"a": known[:, 1], "noise": np.zeros(40, int), "b": known[:, 0]}
    result = compare_labelings(found, {"x": known[:, 0], "y": known[:, 1], "all": np.ones(40, int)})
    assert result.left_out == ("noise", "all")
    assert (result.matched, result.best) == (1.0, 1.0)
    assert set(result.pairs.values()) == {1.0}
    assert result.matches["matched"].to_dict() == {"x": "b", "y": "a"}
    again = compare_labelings(dict(reversed(found.items())), {"y": known[:, 1], "x": known[:, 0]})
    assert again.matches["matched"].to_dict() == {"y": "a", "x": "b"}
    result.save(tmp_path / "kept")
    again = Result.load(tmp_path / "kept").matches  # pandas 3 has a type of its own for text
    pd.testing.assert_frame_equal(again, result.matches, check_dtype=False)
    numbers = result.matches.select_dtypes("number").columns
    assert len(numbers)
    assert again[numbers].dtypes.equals(result.matches[numbers].dtypes)
    alone = compare_labelings({"noise": np.zeros(40, int)}, {"x": known[:, 0]})
    assert (alone.matched, alone.best, alone.pairs["recall"], alone.pairs["f1"]) == (0, 0, 0, 0)
    assert "left out, being one cluster: noise" in repr(alone)
    refuses("one group", compare_labelings, found, {"x": np.ones(40, int)})
    refuses("3 for 40 objects", compare_labelings, found, {"x": [0, 1, 2]})


def test_alternatives_are_scored():
    beads = load_beads()
    ens = cs.Ensemble({"cluster_1": beads.labels["color"], "cluster_2": beads.labels["shape"]}, ids=beads.ids)
    table = pd.DataFrame({"kept": [True, True]}, index=[1, 2])
    found = Alternatives(ens, table, "enough", beads.ids)
    result = found.score(beads.labels, "adjusted_rand")
    assert result.matched == 1.0
    assert result.table.loc["cluster_1", "shape"] == adjusted_rand(beads.labels["color"], beads.labels["shape"])
    refuses("no grouping was kept", Alternatives(None, table, "nothing").score, beads.labels)
