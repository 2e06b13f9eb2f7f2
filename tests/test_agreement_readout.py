"""What is read off an agreement: stability by iteration, groups with names; on the terminal, in JSON and as a picture."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from consilience.agreement import Agreement, stable_groups
from consilience.agreement.result import Sides
from consilience.agreement.stable_groups import column_information
from consilience.consensus import stable_components
from consilience.datasets import noisy_labels
from consilience.measures import accuracy
from consilience.reports import agreement, draw, figures
from consilience.reports.agreement import agreement_finding, agreement_summary, components_of, labels_table
from samples import refusals


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
    found = zip(table["members"].map(frozenset), table["pieces"], table["largest_piece"], strict=True)
    assert set(found) == groups_by_hand(before, after)
    assert table["size"].tolist() == [len(m) for m in table["members"]]
    assert table["size"].is_monotonic_decreasing
    assert table["size"].tolist() == stable_components(after)["size"].tolist()


def test_names_weights_and_what_is_new():
    words = np.array(["altar", "bible", "gospel", "goal", "team", "the"])
    before = [[0, 1, 2, 3, 3, 4]]
    after = [[0, 0, 0, 1, 1, 2]]
    table = stable_groups(before, after, names=words, weights=[1, 5, 3, 9, 2, 100])
    heaviest_first = [["goal", "team"], ["bible", "gospel", "altar"]]  # the lone word left out
    assert table["members"].tolist() == heaviest_first
    assert table["pieces"].tolist() == [1, 3]
    assert stable_groups(before, after, names=words, new=True)["members"].tolist() == [["altar", "bible", "gospel"]]
    assert stable_groups(before, after, names=words, top=1)["size"].tolist() == [3]
    by_id = stable_groups(before, cs.Ensemble(after, ids=words))
    assert by_id["members"].tolist() == [["altar", "bible", "gospel"], ["goal", "team"]]
    assert stable_groups(before, [[0, 1, 2, 3, 4, 5]])["members"].tolist() == []
    assert stable_groups(before, [[0, 0, -1, -1, 1, 2]])["members"].tolist() == [[0, 1]]  # no label is no group


test_bad_options = refusals(
    (lambda: stable_groups([[0, 0, 1]], [[0, 0, 1]], names=["a"]), "names must have 3 entries"),
    (lambda: stable_groups([[0, 0, 1]], [[0, 0, 1]], smallest=0), "smallest must be"),
    (lambda: stable_groups([[0, 0]], [[0, 0, 1]]), "2 objects before and 3 after"),
    (lambda: column_information(np.eye(3), [0, 1]), "3 rows and 2 labels"),
    (lambda: column_information(np.eye(3), np.full(3, -1)), "no row with a label"),
    (lambda: process([0.1, 0.1])[0].stability_by_iteration([0] * 59), "59 for 60 rows"),
)


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


@pytest.fixture(scope="module")
def found():
    result, truth = process([0.6, 0.3, 0.1])
    table = result.stability_by_iteration({"topic": truth})
    consensus = cs.combine(result.after.rows, method="sccc")
    groups = stable_groups(result.before.columns, result.after.columns, new=True)
    about = {"consensus": consensus, "groups": groups, "known": {"topic": {"accuracy": 0.5, "purity": 0.7}}}
    return result, table, about, agreement_summary(result, table, **about)


def test_summary_is_plain_json_and_the_finding_has_every_iteration_and_group(found):
    result, table, about, summary = found
    again = json.loads(json.dumps(summary))
    assert again == summary
    assert summary["n_clusters"] == [4, 4]
    assert [row["rows"] for row in summary["stability"]] == table["rows"].tolist()
    assert sum(summary["consensus"]["sizes"]) == 60
    for side in ("rows", "columns"):
        for when in ("before", "after"):
            sizes = getattr(getattr(result, when), side).signatures().counts
            told = summary["components"][side][when]
            assert (told["number"], told["largest"]) == (len(sizes), sizes.max())
            assert told["share_in_groups"] == pytest.approx(1 - (sizes == 1).sum() / sizes.sum())
    stability, components, groups = agreement_finding(result, table, **about).tables
    shown = [f"{row.rows:.4f} ± {row.rows_sem:.4f}" for row in table.itertuples()]
    assert stability.frame["rows"].tolist() == shown
    assert components.frame["number"].tolist()[1] == components_of(result.after.rows)["number"]
    assert len(groups.frame) == len(about["groups"])


def test_labels_table_has_consensus_support_and_all_labels():
    ens = cs.Ensemble([[0, 0, 0, 1, 1, -1], [0, 0, 1, 1, 1, -1]])
    consensus = cs.combine(ens, 2, "vote")
    table = labels_table(ens, consensus, ids=list("abcdef"))
    assert table["support"].tolist() == [1, 1, 0.5, 1, 1, 0]
    np.testing.assert_allclose(table["confidence"], consensus.confidence, atol=1e-6)
    assert table.loc["f", "cluster"] is pd.NA
    np.testing.assert_array_equal(table[["clustering_0", "clustering_1"]], ens.labels)
    named = labels_table(cs.Ensemble(pd.DataFrame({"a": ["x", None, "y"], "b": [0, 1, 1]})))
    assert list(named.columns) == ["clustering_0", "clustering_1"]
    assert named.fillna("").to_numpy().T.tolist() == [["x", "", "y"], [0, 1, 1]]


def test_panels_and_error_bars(found, monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(agreement, "new_figure", lambda *size: drawn.append(figures.new_figure(*size)) or drawn[-1])
    _, table, *_ = found
    draw(table, tmp_path / "both.png", "iterations")
    alone = table[["iteration", "rows", "rows_sem", "columns", "columns_sem"]]
    draw(alone, tmp_path / "one.png", "iterations")
    assert [len(figure.axes) for figure in drawn] == [2, 1]
    line, _, (bars,) = drawn[0].axes[0].containers[1]
    np.testing.assert_allclose(line.get_ydata(orig=False), table["columns"])
    heights = [float(segment[1, 1] - segment[0, 1]) for segment in bars.get_segments()]
    np.testing.assert_allclose(heights, 2 * table["columns_sem"])
    assert [text.get_text() for text in drawn[0].axes[1].get_legend().get_texts()] == ["topic"]
