"""One way in: whatever a user points at becomes clusterings, data, known labels and where they came from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels, sample_path
from consilience.opening import as_ensemble, as_table, choose, labels_from, open_source

LABELS = sample_path("beads_labels.csv")
READING = {"id_column": "bead", "known": ["shape", "color"]}


def test_table_of_labels():
    opened = open_source(LABELS, **READING)
    assert opened.kind == "labels"
    assert opened.ensemble.n_clusterings == 16
    assert sorted(opened.known) == ["color", "shape"]
    assert opened.provenance.name == "beads_labels"
    assert opened.provenance.source == "beads_labels.csv"
    assert len(opened.provenance.run) == 16


def test_table_of_data():
    opened = open_source(sample_path("beads.csv"), **READING)
    assert opened.kind == "data"
    assert opened.data.values.shape == (300, 8)
    with pytest.raises(InputError, match="not clusterings"):
        _ = opened.ensemble


def test_stored_run(tmp_path):
    cs.generate(load_beads(), 5, 3, store=tmp_path / "run")
    opened = open_source(tmp_path / "run")
    assert opened.kind == "run"
    assert opened.provenance.store == (tmp_path / "run").resolve()
    assert not opened.with_data(load_beads()).other_data
    other = pd.DataFrame(load_beads().values[:, :3], index=pd.Index(load_beads().ids, name="bead"))
    assert opened.with_data(as_table(other.rename(columns=str), "data")).other_data
    again = eval(opened.provenance.code, {"cs": cs})
    np.testing.assert_array_equal(again.labels, opened.ensemble.labels)
    with pytest.raises(InputError, match="say how to read a table"):
        open_source(tmp_path / "run", id_column="bead")


def test_columns_choose_clusterings_by_pattern(tmp_path):
    ens = load_beads_labels()
    assert choose(ens, "color*").names == [name for name in ens.names if name.startswith("color")]
    ens.save(tmp_path / "run")
    assert as_ensemble(tmp_path / "run", columns=["form1", "color*"]).n_clusterings == 7
    with pytest.raises(InputError, match="did you mean 'form1'"):
        as_ensemble(ens, columns="forn1")


def test_known_labels_of_another_file(tmp_path):
    beads = pd.read_csv(sample_path("beads.csv"))[["bead", "shape"]].iloc[::-1]
    beads.to_csv(tmp_path / "known.csv", index=False)
    opened = open_source(LABELS, id_column="bead", known=["shape", "color"], columns=["form1", "form2"])
    more = labels_from(tmp_path / "known.csv", opened.ensemble)
    assert list(more["shape"]) == list(opened.known["shape"])
    with pytest.raises(InputError, match="are also in beads_labels"):
        opened.with_known(more, "known.csv")
    found = open_source(load_beads_labels(), known=tmp_path / "known.csv")
    assert list(found.known["shape"]) == list(opened.known["shape"])


def test_objects_without_known_labels(tmp_path):
    beads = pd.read_csv(sample_path("beads.csv"))[["bead", "shape"]].iloc[:100]
    beads.to_csv(tmp_path / "known.csv", index=False)
    with pytest.warns(UserWarning, match="200 objects not in it"):
        found = labels_from(tmp_path / "known.csv", load_beads_labels(), id_column="bead")
    assert sum(label is None for label in found["shape"]) == 200


@pytest.mark.parametrize("source", [load_beads_labels(), LABELS.parent])
def test_what_is_not_a_table_is_said_so(source):
    with pytest.raises(InputError, match="table of data"):
        as_table(source, "data")


def test_a_column_of_ids_is_asked_about(tmp_path):
    pd.DataFrame({"name": range(20), "a": [0, 1] * 10}).to_csv(tmp_path / "labels.csv", index=False)
    assert as_ensemble(tmp_path / "labels.csv").ids[-1] == "19"
    pd.DataFrame({"row": range(20), "a": [0, 1] * 10}).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(InputError, match="--id row"):
        as_ensemble(tmp_path / "rows.csv")


def test_columns_may_be_named_by_an_array():
    names = np.array(["form1", "color1"])
    assert as_ensemble(LABELS, columns=names, **READING).names == ["form1", "color1"]
