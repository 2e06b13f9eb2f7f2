"""consilience report, as it is typed, and known labels that come with labels, with data, or in a file of their own."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import answer, ran, refused
from consilience.cli.inputs import known_in
from consilience.datasets import load_beads, sample_path
from consilience.explorer.session import Session
from consilience.inputs import open_source
from consilience.tables import read_table
from report_pages import read_page
from samples import refuses

BEADS, LABELS = sample_path("beads.csv"), sample_path("beads_labels.csv")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    ran("generate", BEADS, "--id", "bead", "-t", "shape,color", "-k", 4, "-n", 30, "-o", folder)
    return folder


@pytest.fixture(scope="module")
def with_data(stored, tmp_path_factory):
    """The page of a run with its data, and what the command said."""
    page = tmp_path_factory.mktemp("told") / "page.html"
    done = ran("report", stored, page, "--data", BEADS, "--id", "bead", "-t", "shape,color", "-g", 3, "--n-shuffles", 2)
    return page, done.stdout


def test_a_run_with_its_data(with_data):
    page, said = with_data
    assert said.startswith(f"wrote {page}, ")
    text = read_page(page).text
    for words in ("purity with shape", "purity with color", "length_mm", "in 3 groups"):
        assert words in text


@pytest.mark.slow
def test_the_command_that_a_page_says_makes_it_again(with_data):
    page, _ = with_data
    text = read_page(page).text
    before, said = page.read_bytes(), text[text.index("consilience report ") :]
    words = shlex.split(said[: said.index(" import consilience")])
    page.unlink()
    ran(*words[1:])
    assert page.read_bytes() == before


def test_our_own_consensus_is_not_clustered(tmp_path):
    ran("combine", LABELS, "--id", "bead", "-t", "shape,color", "-k", 3, "-o", tmp_path / "one.csv")
    said = refused("report", tmp_path / "one.csv", tmp_path / "one.html")
    assert "one.csv holds clusters with their confidence and support" in said
    assert not (tmp_path / "one.html").exists()
    ran("report", tmp_path / "one.csv", tmp_path / "one.html", "--columns", "cluster")


@pytest.mark.slow
def test_labels_with_figures(tmp_path):
    page, folder = tmp_path / "page.html", tmp_path / "figures"
    options = ("--id", "bead", "-t", "shape,color", "--data", BEADS, "--figures", folder, "--title", "Mine", "-k", 3)
    done = ran("report", LABELS, page, *options, "--n-shuffles", 0, "--linkage", "complete", "--method", "quadratic")
    files = list(folder.iterdir())
    assert f"wrote {len(files)} files of figures and tables to {folder}" in done.stdout
    assert (folder / "tiles.svg").exists()
    assert not (folder / "null.csv").exists()
    assert pd.read_csv(folder / "objects.csv")["cluster"].max() == 2
    page = read_page(page)
    assert page.text.startswith("Mine ")
    assert "complete linkage" in page.text.lower()
    assert "(quadratic)" in page.text


def test_names_of_the_columns(tmp_path):
    counts = np.random.default_rng(0).poisson(np.kron(np.eye(2), np.ones((15, 8))) * 2 + 0.2)
    pd.DataFrame(counts, columns=list("abcdefghijklmnop")).to_csv(tmp_path / "counts.csv", index=False)
    (tmp_path / "words.txt").write_text("\n".join(f"word{j}" for j in range(16)))
    cs.Ensemble([np.repeat([0, 1], 15), np.arange(30) % 2]).save(tmp_path / "run")
    page, words = tmp_path / "page.html", tmp_path / "words.txt"
    ran("report", tmp_path / "run", page, "--data", tmp_path / "counts.csv", "--names", words)
    assert re.search(r"word\d", read_page(page).text)
    refused("report", tmp_path / "run", page, "--names", words)


# Known labels of clusterings that come with their data: in either file, or in both.


@pytest.fixture
def files(tmp_path):
    labels = pd.read_csv(sample_path("beads_labels.csv"))
    data = pd.read_csv(sample_path("beads.csv"))
    labels.insert(1, "maker", data["color"])
    labels.drop(columns=["shape", "color"]).to_csv(tmp_path / "labels.csv", index=False)
    data.sample(frac=1, random_state=0).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "labels.csv", tmp_path / "data.csv"


def test_every_name_is_looked_for_in_both_files(files):
    assert known_in(["maker", "shape"], files, files[0], {}) == [["maker"], ["shape"]]
    assert known_in(["bead"], files, files[0], {}) == [["bead"], ["bead"]]
    refuses(r"'shap' is not a column of .*labels\.csv or .*data\.csv", known_in, ["shap"], files, files[0], {})


@pytest.mark.slow
def test_a_report_of_labels_beside_data(files, tmp_path):
    (labels, data), page = files, tmp_path / "page.html"
    known = ("-t", "maker,shape,color", "--n-shuffles", 0)
    ran("report", labels, page, "--data", data, "--id", "bead", *known)
    text = page.read_text(encoding="utf-8")
    for told in ("maker (4 labels)", "shape (3 labels)", "color (4 labels)"):
        assert told in text
    assert "16, of 300 objects" in text  # none of the known labels is a clustering


def test_an_index_names_objects_throughout():
    beads = load_beads()
    frame = pd.DataFrame(beads.values, index=pd.Index(beads.ids, name="bead"))
    ens = cs.generate(frame, 6, 4, progress=False)
    assert list(ens.ids) == list(beads.ids)
    known = pd.Series(beads.labels["shape"].to_numpy(), index=frame.index)
    right = Session(ens, known={"shape": known}).snapshot.scores["accuracy:shape"]
    moved = Session(ens, known={"shape": known.sample(frac=1, random_state=1)}).snapshot.scores["accuracy:shape"]
    assert moved.equals(right)
    shuffled = open_source(ens).with_data(read_table(frame.sample(frac=1, random_state=2), kind="data"))
    assert (shuffled.data.values == beads.values).all()
    assert right.between(0, 1).all()


def test_clusters_of_a_table_are_judged_by_another_file(files, tmp_path):
    beads = pd.read_csv(sample_path("beads.csv"))
    beads.drop(columns=["shape", "color"]).to_csv(tmp_path / "bare.csv", index=False)
    own = ["cluster", sample_path("beads.csv"), "--id", "bead", "-n", "10", "-k", "3", "-t", "shape,color"]
    apart = [tmp_path / "bare.csv" if arg == own[1] else arg for arg in own]
    made, wanted = answer(*apart, "--known-from", files[1]), answer(*own)  # in another order
    assert {**made, "source": ""} == {**wanted, "source": ""}
