"""Caruana et al. 2006 again, in small: files appear, and tables hold what they say."""

import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from consilience import Ensemble
from papers import PAPERS, caruana2006
from papers.__main__ import command
from papers.caruana2006.data import LETTERS, data_sets, percentile, read_covertype, read_letters
from papers.caruana2006.groups import run_groups
from papers.caruana2006.protein import largest_near
from papers.claims import TableFolder
from papers.results import render

pytestmark = pytest.mark.slow

TINY = caruana2006.Plan(seeds=2, seeds_groups=1, n=60, n_cloud=60, n_spectral=6, n_protein=40, n_shuffles=2, n_groups=3)


def test_whole_run_by_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(caruana2006, "QUICK", TINY)
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    done = CliRunner().invoke(
        command, ["caruana2006", "-o", str(tmp_path), "--quick", "--jobs", "1"], catch_exceptions=False
    )
    assert done.exit_code == 0
    folder = tmp_path / "results" / "caruana2006"
    made = {path.name for path in folder.iterdir()}
    figures = {f"figure{i}.png" for i in (2, 3, 5, 8)} | {"figure11_beads.png", "tree_beads_shape.png"}
    assert figures | {"report.md", "clouds.csv", "groups_beads.csv", "table2_beads.csv", "jumps.csv"} <= made
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "**Left out:** phoneme" in text
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert page == render(tmp_path, PAPERS)
    assert len(re.findall(r"\*\*(holds|holds in part|does not hold)\*\*", page)) >= 2


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")  # of k-means on few points, with the newest NumPy
def test_whole_run_on_real_data(tmp_path, monkeypatch, data_folder):
    monkeypatch.setattr(caruana2006, "QUICK", caruana2006.Plan(1, 1, 40, 30, 0, 40, 1, 3))
    report = caruana2006.PAPER.run(tmp_path / "out", data=data_folder, quick=True)
    assert {"protein.csv", "figure9.png", "groups_phoneme.csv"} <= {path.name for path in report.files}
    assert len(caruana2006.PAPER.claims(TableFolder(tmp_path / "out"))) == 18
    clouds = pd.read_csv(tmp_path / "out" / "clouds.csv")
    assert set(clouds["data"]) == {"beads", "phoneme", "covertype", "letters"}
    assert clouds["best"].between(0, 1).all()
    assert (clouds["best"] >= clouds["of_most_compact"]).all()


def test_letters_are_in_the_papers_proportions(data_folder):
    X, known = read_letters(data_folder, 0)
    assert X.shape == (514, 617)
    assert pd.Series(known["letter"]).value_counts().to_dict() == LETTERS
    assert np.abs(X).max() <= 1
    X, _ = read_covertype(data_folder, 0)
    assert len(X) == 1000
    assert (X.std(axis=0) > 0).all()


def test_percentile_of_the_most_accurate():
    found = pd.DataFrame({"compactness": [1.0, 2.0, 3.0, 4.0], "accuracy:x": [0.1, 0.9, 0.2, 0.8]})
    assert percentile(found, "x", 1) == 0.25
    assert percentile(found, "x", 2) == 0.5


def test_largest_near_cluster():
    D = np.abs(np.subtract.outer([0.0, 1, 2, 10, 11], [0.0, 1, 2, 10, 11]))
    found = largest_near(D, Ensemble([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 1, 2, 3, 4]]), 1.4)
    assert found.tolist() == [3, 2, 0]


def test_gain_is_what_is_left_over_the_null():
    rows, first = run_groups(data_sets(None)["beads"], 200, 1, 3, 6)
    assert np.allclose(rows["shape_gain"], rows["shape_best"] - rows["shape_shuffled"])
    average = rows.set_index(["linkage", "consensus"]).loc[("average", "vote")]
    assert average["color_gain"] > 0.05  # groups by color exist; shuffled ones lose them
    assert len(first["table"]) == 7
    assert first["table"]["clusterings"].iloc[1:].sum() == 200


@pytest.mark.parametrize("name", ["phoneme", "protein"])
def test_real_sets_are_there(data_folder, name):
    data = data_sets(data_folder)[name]
    _, found = data.make(0, 6, "zipf+minima")
    assert len(found) == 6
