"""Strehl and Ghosh 2002 again, in small: files appear, and tables hold what they say."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

from consilience._check import InputError
from consilience.consensus import METHODS
from consilience.datasets.scenarios import noisy_labels
from consilience.measures import anmi, nmi
from papers import PAPERS, Report, strehl2002
from papers.__main__ import command
from papers.report import markdown, over_seeds, with_error
from papers.results import render
from papers.strehl2002.controlled import CHOICES, ORDER, _leader, report_controlled, run_controlled
from papers.strehl2002.data import (
    SUPRA,
    _shuffled,
    data_sets,
    gaussians_2d2k,
    read_pendigits,
    read_yahoo,
)
from papers.strehl2002.distributed import MEASURED, SLIDES_FDC, report_fdc, run_fdc, run_odc
from papers.strehl2002.robust import run_rcc

pytestmark = pytest.mark.slow

TINY = replace(
    strehl2002.QUICK,
    seeds=1,
    noise=(0.3,),
    n_controlled=60,
    n_drawn=100,
    n_pendig=100,
    n_yahoo=60,
    samples=(50,),
    samples_yahoo=(60,),
)


@pytest.fixture(scope="module")
def drawn():
    return data_sets(None)


@pytest.fixture(scope="module")
def controlled():
    return run_controlled((0, 0.5), 2, n_objects=100, n_clusters=4)


def test_report_is_a_folder_of_markdown_csv_and_png(tmp_path):
    from consilience.reports.figures import new_figure

    report = Report("A title", tmp_path / "new" / "folder")
    report.section("A section")
    report.text("A paragraph.")
    frame = pd.DataFrame({"name": ["a|b", "c"], "value": [0.12345, np.nan]})
    report.table("values", frame, "Values.")
    figure = new_figure(2, 2)
    figure.subplots().plot([0, 1])
    report.figure("line", figure, "A line.")
    text = report.write().read_text(encoding="utf-8")
    assert text.startswith("# A title\n\n## A section\n\nA paragraph.\n\n| name | value |\n| --- | --- |\n")
    assert "| a\\|b | 0.123 |\n| c | – |" in text
    assert "(values.csv)" in text
    assert "![A line.](line.png)" in text
    pd.testing.assert_frame_equal(pd.read_csv(report.folder / "values.csv"), frame)
    assert (report.folder / "line.png").read_bytes().startswith(b"\x89PNG")
    assert report.files == [report.folder / "values.csv", report.folder / "line.png"]


def test_report_refuses_a_file_in_place_of_its_folder(tmp_path):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        Report("A title", tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "mine"


def test_mean_and_standard_error_over_seeds():
    rows = pd.DataFrame(
        {
            "seed": [3, 4, 5, 0],
            "method": ["b", "b", "b", "a"],
            "nmi": [0.1, 0.2, 0.6, 0.5],
            "anmi": [1.0, 1.0, 1.0, 0.0],
        }
    )
    found = over_seeds(rows, ["method"])
    assert found["method"].tolist() == ["b", "a"]
    assert found["seeds"].tolist() == ["3 to 5", "0 to 0"]
    assert found["repeats"].tolist() == [3, 1]
    assert_allclose(found["nmi"], [0.3, 0.5])
    assert_allclose(found["nmi_sem"], [np.std([0.1, 0.2, 0.6], ddof=1) / np.sqrt(3), np.nan])
    assert with_error(found, "nmi").tolist() == ["0.300 ± 0.153", "0.500"]
    assert markdown(found[["method", "anmi_sem"]]).splitlines()[2:] == ["| b | 0.000 |", "| a | – |"]


def test_controlled_has_every_method_noise_and_seed(controlled):
    rows = controlled.methods
    assert set(ORDER) == {*METHODS, "greedy", "auto", "truth"}
    assert len(rows) == len(ORDER) * 2 * 2
    clean = rows[rows["noise"] == 0]
    assert (clean[["nmi", "anmi", "adjusted_rand"]] == 1).all(axis=None)
    assert (clean["clusters"] == 4).all()
    truth = rows[(rows["method"] == "truth") & (rows["noise"] == 0.5)]
    for _, row in truth.iterrows():
        ensemble, labels = noisy_labels(100, 4, noise=0.5, random_state=int(row["seed"]))
        assert row["anmi"] == pytest.approx(anmi(ensemble, labels))
    noisy = rows[rows["noise"] == 0.5].pivot(index="seed", columns="method", values="anmi")
    assert (noisy["anmi"] >= noisy["greedy"] - 1e-12).all()


def test_regret_is_measured_on_what_was_chosen(controlled):
    choices, rows = controlled.choices, controlled.methods
    assert choices["choice"].unique().tolist() == list(CHOICES)
    assert (choices["regret"] >= 0).all()
    assert_allclose(choices["best"] - choices["chosen"], choices["regret"])
    auto = rows[rows["method"] == "auto"]["nmi"].to_numpy()
    assert_allclose(choices[choices["choice"] == "auto"]["chosen"], auto)
    three = rows[rows["method"].isin(SUPRA)]
    by_anmi = three.loc[three.groupby(["noise", "seed"])["anmi"].idxmax(), "nmi"]
    assert_allclose(choices[choices["choice"] == "ANMI, of CSPA, HGPA, MCLA"]["chosen"], by_anmi)


def test_controlled_report_says_who_leads(controlled, tmp_path):
    report = Report("Noise", tmp_path)
    report_controlled(report, controlled, "Small.")
    text = report.write().read_text(encoding="utf-8")
    assert "2 repeats" in text
    assert "| greedy ANMI | 1.000 ± 0.000 |" in text
    assert "| every one | 4 in every run |" in text
    saved = pd.read_csv(tmp_path / "controlled_nmi.csv")
    one = controlled.methods.query("noise == 0.5 and method == 'mcla'")["nmi"]
    row = saved.query("noise == 0.5 and method == 'mcla'").iloc[0]
    assert row["nmi"] == pytest.approx(one.mean())
    assert row["nmi_sem"] == pytest.approx(one.sem())
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in report.files} | {"report.md"}


def test_a_lead_counts_only_beyond_its_spread():
    clear = pd.DataFrame({"cspa": [0.9, 0.8, 0.7], "mcla": [0.8, 0.7, 0.6], "hgpa": [0.1, 0.1, 0.1]})
    name, lead, sem = _leader(clear)
    assert name == "CSPA"
    assert lead == pytest.approx(0.1)
    assert sem == pytest.approx(0, abs=1e-12)
    assert _leader(clear.assign(mcla=[0.6, 0.9, 0.75]))[0] == "tie"
    assert _leader(clear.assign(mcla=clear["cspa"] - 0.0005))[0] == "tie"


def test_2d2k_has_the_nmi_of_the_slides():
    X, truth = gaussians_2d2k(0, 20_000)
    halves = [nmi(truth, X[:, f] > X[:, f].mean()) for f in (0, 1)]
    assert_allclose(halves, [0.68864, 0.54706], atol=0.02)
    assert np.bincount(truth).tolist() == [10_000, 10_000]


def test_objects_come_in_random_order(drawn):
    _, truth = drawn["8D5K-like"].draw(0, 500)
    assert np.bincount(truth).tolist() == [100] * 5
    assert np.count_nonzero(np.diff(truth)) > 300
    X, y = _shuffled((np.arange(50)[:, None], np.arange(50)), 1, 20)
    assert (X[:, 0] == y).all()
    assert len(set(y)) == 20


def test_fdc_table_stands_beside_the_slides(drawn, tmp_path):
    rows, by_method = run_fdc([(drawn["2D2K-like"], 120, 2), (drawn["8D5K-like"], 120, 2)])
    assert (rows["max_view"] >= rows["mean_view"]).all()
    assert (rows["mean_view"] >= rows["min_view"]).all()
    for _, run in rows.iterrows():
        three = by_method[(by_method["data"] == run["data"]) & (by_method["seed"] == run["seed"])]
        three = three[three["method"].isin(SUPRA)]
        best = three[three["anmi"] >= three["anmi"].max() - 1e-12]
        assert np.isclose(best["nmi"], run["consensus"]).any()
    report = Report("Views", tmp_path)
    report_fdc(report, rows, by_method)
    saved = pd.read_csv(tmp_path / "fdc.csv")
    for _, row in saved.iterrows():
        assert tuple(row[f"slides_{m}"] for m in MEASURED) == SLIDES_FDC[row["data"]]
        own = rows[rows["data"] == row["data"]]
        assert row["consensus"] == pytest.approx(own["consensus"].mean())
    assert saved.set_index("data").at["8D5K-like", "slides_consensus"] == 0.98913
    text = report.write().read_text(encoding="utf-8")
    assert "| 8D5K-like | slides | 1.000 | 0.989 | 0.766 | 0.698 | 0.621 | – |" in text
    assert "ours, 120 objects, 2 repeats" in text


def test_parts_without_overlap_cannot_be_aligned(drawn):
    sets = [(drawn["8D5K-like"], 300, 3)]
    rows = run_odc(sets, (1, 2))
    mean = rows.groupby(["coverage", "method"])["nmi"].mean()
    assert mean[1.0].drop("all objects").max() < 0.6  # labels alone say nothing here
    assert mean[2.0].drop("hgpa").min() > 0.9
    pd.testing.assert_frame_equal(rows, run_odc(sets, (1, 2)))


def test_ten_clusterers_and_what_chance_gives(drawn):
    rows = run_rcc([(drawn["8D5K-like"], (60,), 2)])
    wide = rows.pivot(index="seed", columns="clusterer", values="nmi")
    ten = wide[[c for c in wide if ", " in c]]
    assert ten.shape[1] == 10
    assert_allclose(wide["mean of ten"], ten.mean(axis=1))
    assert_allclose(wide["worst of ten"], ten.min(axis=1))
    assert_allclose(wide["best of ten"], ten.max(axis=1))
    chance = (rows["nmi"] - rows["gain"]).groupby(rows["seed"])
    assert (chance.std() < 1e-9).all()
    assert chance.mean().between(0.02, 0.3).all()  # five random clusters of sixty objects


def test_whole_run_by_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(strehl2002, "QUICK", TINY)
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    done = CliRunner().invoke(
        command, ["strehl2002", "-o", str(tmp_path), "--quick", "--jobs", "1"], catch_exceptions=False
    )
    assert done.exit_code == 0
    folder = tmp_path / "results" / "strehl2002"
    made = {path.name for path in folder.iterdir()}
    assert {
        "report.md",
        "controlled.png",
        "controlled_choice.csv",
        "fdc.csv",
        "odc.png",
        "odc_8d5k.csv",
        "rcc.png",
    } <= made
    assert all(f"wrote {folder / name}" in done.output for name in made)
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "**Left out:** PENDIG and YAHOO" in text
    assert "| PENDIG |" not in text
    assert [line for line in text.splitlines() if line.startswith("## ")][1:] == [
        "## 0. The worked example",
        "## 1. Controlled noise",
        "## 2. Feature-distributed clustering (FDC)",
        "## 3. Object-distributed clustering (ODC)",
        "## 4. Robust centralized clustering (RCC)",
        "## What it took",
    ]
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert page == render(tmp_path, PAPERS)
    assert len(re.findall(r"\*\*(holds|holds in part|does not hold)\*\*", page)) >= 2


def test_real_data_are_what_the_slides_describe(data_folder):
    X, digits = read_pendigits(data_folder)
    assert X.shape == (10_992, 16)
    assert len(np.unique(digits)) == 10
    pages, categories = read_yahoo(data_folder)
    assert pages.shape == (2340, 2903)
    sizes = np.bincount(categories)
    assert len(sizes) == 20
    assert round(sizes.mean() / sizes.max(), 2) == 0.24  # the slides' balance


def test_views_and_samples_of_real_data(data_folder):
    sets = data_sets(data_folder)
    assert list(sets) == list(SLIDES_FDC)
    parts = run_odc([(sets["PENDIG"], 300, 1)], (2,)).set_index("method")["nmi"]
    assert parts["supra"] > 0.4
    yahoo = replace(sets["YAHOO"], n_clusters=4, views=(4, 128))  # forty clusters of twenty views take long
    rows, _ = run_fdc([(yahoo, 100, 1)])
    assert rows.at[0, "all_features"] > rows.at[0, "mean_view"]
    ten = run_rcc([(yahoo, (60,), 1)])
    assert ten["nmi"].between(0, 1).all()


def test_folder_without_the_data_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no pendigits\.npz"):
        PAPERS["strehl2002"].run(tmp_path / "out", data=tmp_path, quick=True)
    assert not (tmp_path / "out").exists()


def test_bad_use_is_refused(tmp_path):
    with pytest.raises(InputError, match="n_seeds"):
        PAPERS["strehl2002"].run(tmp_path / "out", n_seeds=0)
    for args in (["009", "-o", "out"], ["001"], ["strehl2002", "-o", "out", "--seeds", "0"]):
        assert CliRunner().invoke(command, args).exit_code == 2
