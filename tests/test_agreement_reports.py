"""An agreement on the terminal, in JSON and as a picture."""

import json

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.agreement import stable_groups
from consilience.reports import draw
from consilience.reports.agreement import (
    agreement_finding,
    agreement_summary,
    components_of,
    labels_table,
)
from test_agreement_readout import process


@pytest.fixture(scope="module")
def found():
    result, truth = process([0.6, 0.3, 0.1])
    table = result.stability_by_iteration({"topic": truth})
    consensus = cs.combine(result.after.rows, method="sccc")
    groups = stable_groups(result.before.columns, result.after.columns, new=True)
    about = {"consensus": consensus, "groups": groups, "known": {"topic": {"accuracy": 0.5, "purity": 0.7}}}
    return result, table, about, agreement_summary(result, table, **about)


def test_summary_is_plain_json(found):
    result, table, _, summary = found
    again = json.loads(json.dumps(summary))
    assert again == summary
    assert summary["n_clusters"] == [4, 4]
    assert [row["rows"] for row in summary["stability"]] == table["rows"].tolist()
    assert sum(summary["consensus"]["sizes"]) == 60
    for side in ("rows", "columns"):
        for when in ("before", "after"):
            sizes = getattr(getattr(result, when), side).signatures().counts
            found = summary["components"][side][when]
            assert (found["number"], found["largest"]) == (len(sizes), sizes.max())
            assert found["share_in_groups"] == pytest.approx(1 - (sizes == 1).sum() / sizes.sum())


def test_the_finding_has_every_iteration_and_group(found):
    result, table, about, _ = found
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
    assert list(labels_table(ens).columns) == ["clustering_0", "clustering_1"]


def test_labels_table_speaks_the_names_of_labels():
    ens = cs.Ensemble(pd.DataFrame({"a": ["x", None, "y"], "b": [0, 1, 1]}))
    assert labels_table(ens)["clustering_0"].fillna("").tolist() == ["x", "", "y"]
    assert labels_table(ens)["clustering_1"].tolist() == [0, 1, 1]


def test_panels_and_error_bars(found, monkeypatch, tmp_path):
    from consilience.reports import agreement, figures

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
