"""Known labels of clusterings that come with their data: in either file, or in both."""

import json

import pandas as pd
import pytest

import consilience as cs
from command_line import ran, run
from consilience._check import InputError
from consilience.cli.inputs import known_in
from consilience.datasets import load_beads, sample_path
from consilience.explorer.session import Session
from consilience.inputs import open_source
from consilience.tables import read_table


@pytest.fixture
def files(tmp_path):
    labels = pd.read_csv(sample_path("beads_labels.csv"))
    data = pd.read_csv(sample_path("beads.csv"))
    labels.insert(1, "maker", data["color"])
    labels.drop(columns=[name for name in ("shape", "color") if name in labels]).to_csv(
        tmp_path / "labels.csv", index=False
    )
    data.sample(frac=1, random_state=0).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "labels.csv", tmp_path / "data.csv"


def test_every_name_is_looked_for_in_both_files(files):
    assert known_in(["maker", "shape"], files, files[0], {}) == [["maker"], ["shape"]]
    assert known_in(["bead"], files, files[0], {}) == [["bead"], ["bead"]]
    with pytest.raises(InputError, match=r"'shap' is not a column of .*labels\.csv or .*data\.csv"):
        known_in(["shap"], files, files[0], {})


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
    own = ["cluster", sample_path("beads.csv"), "--id", "bead", "-n", "10", "-k", "3", "--json", "-t", "shape,color"]
    apart = [tmp_path / "bare.csv" if arg == own[1] else arg for arg in own]
    told = ran(*apart, "--known-from", files[1])  # in another order
    made, wanted = json.loads(told.stdout), json.loads(run(*own).stdout)
    assert {**made, "source": ""} == {**wanted, "source": ""}
