"""Wang et al. 2010 again, in small: the protocol is the paper's, and tables hold what they say."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

from consilience._check import InputError
from consilience.consensus import NBCE, MixtureModel
from consilience.measures import adjusted_rand
from papers import PAPERS, Report, wang2010
from papers.__main__ import command
from papers.claims import TableFolder
from papers.report import over_seeds
from papers.results import render
from papers.wang2010 import printed as printed
from papers.wang2010.data import (
    DataSet,
    base_clusterings,
    draw_outliers,
    hold_out,
    printed_f1,
    read_data_sets,
)
from papers.wang2010.models import MEASURES, MOVES, NBCE_MAIN, NBCES, PAPER, run_models
from papers.wang2010.synthetic import run_outliers
from papers.wang2010.tables import TABLE_2, TITLES, VARIANTS, beside, report_models

pytestmark = pytest.mark.slow

SMALL = {"n_chains": 1, "n_init": 1, "n_components": 20, "max_iter": 20}
TINY = replace(wang2010.QUICK, seeds=1, n_objects=60, noise=(0.1,), nbce=SMALL)


def blobs(name="Glass", n=80, k=4):
    rng = np.random.default_rng(0)
    classes = np.arange(n) % k
    return DataSet(name, rng.normal(size=(n, 2)) + 4 * np.column_stack([classes % 2, classes // 2]), classes)


@pytest.fixture(scope="module")
def rows():
    return run_models([blobs(), blobs("Tracedata", 60, 3)], 2, n_variational=1, **SMALL)


def test_base_clusterings_have_half_to_twice_the_classes():
    ens = base_clusterings(blobs().X, 4, 0)
    assert ens.info["n_clusters"].tolist() == [2, 2, 3, 3, 4, 4, 6, 6, 8, 8]
    assert ens.n_clusters.tolist() == ens.info["n_clusters"].tolist()
    assert (ens.labels == base_clusterings(blobs().X, 4, 0).labels).all()
    assert (ens.labels != base_clusterings(blobs().X, 4, 1).labels).any()
    assert adjusted_rand(ens.labels[:, 8], ens.labels[:, 9]) < 1  # starts differ


def test_a_quarter_is_held_out():
    old, new = hold_out(90, 3)
    assert len(new) == 22
    assert sorted([*old, *new]) == list(range(90))
    assert not np.array_equal(new, hold_out(90, 4)[1])


def test_samples_are_drawn_with_the_seed():
    data = replace(blobs(n=80), sample=50)
    ens, classes = data.draw(0)
    assert (ens.n_objects, len(classes)) == (50, 50)
    assert data.draw(0, 30)[0].n_objects == 30
    assert not np.array_equal(classes, data.draw(1)[1])


def test_the_printed_f1_likes_many_clusters():
    truth = np.array([0, 0, 0, 0, 1, 1])
    # P: shares of the classes in their best clusters (3/4, 1); R: the purest clusters (1, 2/3).
    assert printed_f1(truth, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(2 * 0.875 * (5 / 6) / (0.875 + 5 / 6))
    assert printed_f1(truth, truth) == 1
    assert printed_f1(truth, np.zeros(6, int)) == pytest.approx(2 * 1 * 0.5 / 1.5)
    rng = np.random.default_rng(0)
    truth, labels = rng.integers(0, 3, 300), rng.integers(0, 30, (20, 300))
    few = np.mean([printed_f1(truth, found % 3) for found in labels])
    assert np.mean([printed_f1(truth, np.where(rng.random(300) < 0.1, found + 3, found % 3)) for found in labels]) > few


def test_outliers_and_noise_are_as_many_as_said():
    drawn = draw_outliers(0.1, 0)
    assert np.bincount(drawn.groups).tolist() == [100, 100, 20]
    changed = (drawn.ensemble.labels != drawn.groups[:, None]).mean(axis=0)
    assert_allclose(changed, 0.1)
    assert np.linalg.norm(drawn.X[drawn.groups == 2], axis=1).min() > 5.9


def test_nbce_finds_the_outliers_that_two_clusters_cannot_hold():
    found = run_outliers((0.1,), 1, max_iter=60, n_chains=2).set_index("method")
    assert found.at["NBCE", "clusters"] == 3
    assert found.at["NBCE", "outliers_apart"] > 0.9
    assert found.at["MM, 2 clusters", "outliers_apart"] == 0
    assert found.at["NBCE", "perplexity"] < found.at["MM, 2 clusters", "perplexity"]
    assert found.at["NBCE", "perplexity"] == pytest.approx(found.at["MM, 3 clusters", "perplexity"], rel=0.05)
    assert (found["perplexity"] >= 1).all()


def test_every_method_is_measured_on_the_same_rows(rows):
    methods = {*TABLE_2, "nbce merged", "mixture", "bce", "mixture, k of nbce", *NBCES, *MOVES}
    assert set(rows["method"]) == methods
    assert len(rows) == 2 * (len(methods) + len(methods) - 8)  # variational ones with one seed of two
    assert set(MEASURES) <= set(rows.columns)
    modeled = rows[rows["method"].isin({*NBCES, "mixture", "bce"})]
    assert (modeled[["train", "test"]] >= 1).all(axis=None)
    assert set(rows.loc[rows["r_hat"].notna(), "method"]) == {"nbce gibbs tsb", "nbce gibbs fsd", *MOVES}
    data = blobs()
    ens, classes = data.draw(1)
    old, new = hold_out(80, 1)
    model = MixtureModel(4, random_state=1).fit(ens[old])
    row = rows.query("data == 'Glass' and seed == 1 and method == 'mixture'").iloc[0]
    assert row["test"] == pytest.approx(model.perplexity(ens[new]))
    assert row["train"] == pytest.approx(model.perplexity(ens[old]))
    assert row["adjusted_rand"] == pytest.approx(adjusted_rand(classes[old], model.labels_))
    merged = rows[rows["method"] == "nbce merged"]
    assert (merged["clusters"] <= merged["data"].map({"Glass": 4, "Tracedata": 3})).all()


def test_tables_stand_beside_the_papers(rows, tmp_path):
    report = Report("Small", tmp_path)
    report_models(report, rows)
    text = report.write().read_text(encoding="utf-8")
    assert "| NBCE | paper | 0.69 | 0.66 |" in text
    assert "| CVB, FSD | paper | 0.85 | – |" in text
    assert "| Gibbs, FSD | paper | 5.4 | – |" in text
    saved = pd.read_csv(tmp_path / "table5_test.csv").set_index(["data", "method"])
    own = rows.query("data == 'Tracedata' and method == 'bce'")["test"]
    assert saved.at[("Tracedata", "bce"), "test"] == pytest.approx(own.mean())
    assert saved.at[("Tracedata", "bce"), "test_sem"] == pytest.approx(own.sem())
    assert saved.at[("Tracedata", "bce"), "paper"] == 2.94
    assert saved.at[("Glass", NBCE_MAIN), "paper"] == 0.98
    assert "runs of Gibbs sampling here (median" in text
    order = pd.read_csv(tmp_path / "table7_order.csv")
    assert (order["data sets"] == 2).all()
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in report.files} | {"report.md"}
    shares = beside(over_seeds(rows, ["data", "objects", "method"]), "f1", TITLES, printed.TABLE_2, TABLE_2)[0]
    assert shares[shares["method"] == "mixture"]["paper"].isna().all()
    assert set(VARIANTS) == {*NBCES, *MOVES}


def test_the_printed_tables_are_whole():
    for table, n in ((printed.TABLE_2, 7), (printed.TABLE_3, 4), (printed.TABLE_4, 7), (printed.TABLE_5, 7)):
        assert {len(values) for values in table.values()} == {n}
    for table in (printed.TABLE_6, printed.TABLE_7):
        assert {len(values) for values in table.values()} == {5}
    assert printed.TABLE_4["nbce"][:5] == printed.TABLE_7["gibbs"]  # the paper gives them twice


def test_whole_run_by_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(wang2010, "QUICK", TINY)
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    done = CliRunner().invoke(
        command, ["wang2010", "-o", str(tmp_path), "--quick", "--jobs", "1"], catch_exceptions=False
    )
    assert done.exit_code == 0
    folder = tmp_path / "results" / "wang2010"
    made = {path.name for path in folder.iterdir()}
    assert made == {"report.md", "table3.csv", "table3_runs.csv", "runs.csv", "outliers.png"}
    assert "**Left out:** tables 2 and 4 to 7" in (folder / "report.md").read_text(encoding="utf-8")
    assert "left out what needs real data" in done.output
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert page == render(tmp_path, PAPERS)
    assert len(re.findall(r"\*\*(holds|holds in part|does not hold)\*\*", page)) >= 2


def test_whole_run_on_real_data(tmp_path, monkeypatch, data_folder):
    monkeypatch.setattr(wang2010, "QUICK", TINY)
    report = PAPERS["wang2010"].run(tmp_path, data=data_folder, quick=True)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert [line[3:5] for line in text.splitlines() if line.startswith("## ")][1:] == [
        "1.",
        "2.",
        "3.",
        "4.",
        "5.",
        "Wh",
    ]
    tables = {path.stem for path in report.files if path.suffix == ".csv"}
    assert len(PAPERS["wang2010"].claims(TableFolder(tmp_path))) == 10
    assert {"table2_f1", "table3", "table4_train", "table5_test", "table6", "table7_train"} <= tables
    assert {path.stem for path in report.files if path.suffix == ".png"} == {
        "table2",
        "perplexity",
        "inference",
        "outliers",
    }


def test_real_data_are_what_the_paper_describes(data_folder):
    sets = {data.name: (len(data.X), data.n_classes) for data in read_data_sets(data_folder)}
    assert tuple(sets) == printed.DATA
    assert sets["Glass"] == (214, 6)
    assert sets["Ecoli"] == (336, 8)
    assert sets["ImageSegmentation"] == (2310, 7)
    assert sets["ISOLET"] == (1800, 6)
    assert sets["LetterRecognition"] == (7648, 10)
    assert sets["Tracedata"] == (200, 4)
    assert sets["ControlChart"] == (600, 6)


def test_nbce_predicts_held_out_rows_better_than_a_mixture_of_as_many_clusters_as_classes(data_folder):
    for data in read_data_sets(data_folder):
        ens, _ = data.draw(0)
        old, new = hold_out(ens.n_objects, 0)
        ours = NBCE(max_iter=100, n_chains=2, random_state=0, **PAPER).fit(ens[old]).perplexity(ens[new])
        mixture = MixtureModel(data.n_classes, random_state=0).fit(ens[old]).perplexity(ens[new])
        assert 1 <= ours <= mixture, data.name


def test_folder_without_the_data_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no glass\.npz, ecoli\.npz"):
        PAPERS["wang2010"].run(tmp_path / "out", data=tmp_path, quick=True)
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="n_seeds"):
        PAPERS["wang2010"].run(tmp_path / "out", n_seeds=0)
