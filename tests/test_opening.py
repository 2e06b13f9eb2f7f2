"""One way in: whatever a user points at becomes clusterings, data, known labels and where they came from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels, sample_path
from consilience.ensemble.opening import choose
from consilience.inputs import as_ensemble, as_table, open_source
from consilience.inputs.guess import guess
from consilience.inputs.known import labels_from

LABELS = sample_path("beads_labels.csv")
READING = {"id_column": "bead", "known": ["shape", "color"]}


def test_a_table_of_data_or_of_labels():
    data = open_source(sample_path("beads.csv"), **READING)
    assert (data.kind, data.data.values.shape) == ("data", (300, 8))
    with pytest.raises(InputError, match="not clusterings"):
        _ = data.ensemble
    opened = open_source(LABELS, **READING)
    assert opened.kind == "labels"
    assert opened.ensemble.n_clusterings == 16
    assert sorted(opened.known) == ["color", "shape"]
    assert opened.provenance.name == "beads_labels"
    assert opened.provenance.source == "beads_labels.csv"
    assert len(opened.provenance.run) == 16


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ({"plan": ["free", "pro", "team"], "region": ["north", "south", "east"], "new": ["yes", "no"]}, "data"),
        ({"plan": ["free"], "country": ["NL"]}, "data"),  # one category: there is nothing to cluster
        ({"km3": ["3-0", "3-1", "3-2"], "km2": ["2-0", "2-1"]}, "labels"),
        ({"leiden": ["c1", "c2", "c3"], "kmeans": ["Cluster 1", "Cluster 2"]}, "labels"),
        ({"leiden": [1, 2, 3], "type": ["T cell", "B cell", "NK"]}, "labels"),
        ({"expert": ["T cell", "B cell", "NK"], "student": ["T cell", "NK"]}, "labels"),
    ],
)
def test_words_of_columns_that_tell_nothing_of_one_another(columns, kind):
    rng = np.random.default_rng(0)
    assert guess(pd.DataFrame({name: rng.choice(words, 90) for name, words in columns.items()}), {}) == kind


def test_what_words_were_taken_for_is_said():
    table = pd.DataFrame({"plan": ["free", "pro", "pro", "free"] * 15, "region": ["north", "south"] * 30})
    assert "not for clusterings: kind='labels'" in open_source(table).notices[-1]
    assert not any("taken for" in notice for notice in open_source(table, kind="data").notices)


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
    assert as_ensemble(ens, columns=np.array(["form1", "color1"])).names == ["form1", "color1"]
    assert choose(ens, np.int64(1)).names == choose(ens, np.array([1])).names == [ens.names[1]]


@pytest.mark.parametrize("misspelled", ["colums", "id_colum"])
def test_misspelled_options_of_reading_get_the_nearest_name(misspelled):
    for verb in (as_ensemble, cs.combine, lambda source, **how: cs.combine(source, method="vote", n_clusters=3, **how)):
        with pytest.raises(InputError, match=f"did you mean '{misspelled[:-1]}"):
            verb(LABELS, **{misspelled: "form1"})


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


# --- frames are looked at as files are -------------------------------------------------------------------------------

LABELED = pd.DataFrame(
    {"cell": [f"c{i}" for i in range(8)], "leiden": [0, 0, 0, 1, 1, 1, 1, 0], "louvain": [0, 0, 1, 1, 1, 1, 1, 0]}
)


def frames_of(frame):
    polars, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    return [frame, polars.from_pandas(frame), pa.Table.from_pandas(frame, preserve_index=False)]


def test_a_column_that_names_the_objects_is_no_clustering_in_frames_either(tmp_path):
    LABELED.to_csv(tmp_path / "labels.csv", index=False)
    for source in [tmp_path / "labels.csv", *frames_of(LABELED)]:
        for ens in (cs.Ensemble(source), as_ensemble(source)):
            assert ens.names == ["leiden", "louvain"]
            assert ens.ids.tolist() == LABELED["cell"].tolist()


def test_columns_of_frames_that_are_no_clusterings_are_asked_about(tmp_path):
    doubtful = {"class": LABELED.assign(species=["a", "b"] * 4), "text": LABELED.rename(columns={"cell": "where"})}
    for frame, words in ((doubtful["class"], "known='species'"), (doubtful["text"], "id_column='where'")):
        frame.to_csv(tmp_path / "labels.csv", index=False)
        for source in [tmp_path / "labels.csv", *frames_of(frame)]:
            with pytest.raises(InputError, match=words):
                cs.stability(source, "rand")
    assert cs.Ensemble(doubtful["class"], columns=["leiden", "species"]).names == ["leiden", "species"]


def test_known_labels_in_another_order_are_matched_by_id(tmp_path):
    ens = cs.Ensemble(LABELED)
    known = pd.Series([0, 0, 0, 1, 1, 1, 1, 0], index=LABELED["cell"], name="type").sample(frac=1, random_state=3)
    known.to_csv(tmp_path / "known.csv")
    frame = known.rename_axis("cell").reset_index()
    right = cs.compare(ens, "rand", known={"type": LABELED["leiden"].to_numpy()}).to_frame()
    for given in (known, known.to_frame(), frame, {"type": known}, tmp_path / "known.csv"):
        pd.testing.assert_frame_equal(cs.compare(ens, "rand", known=given).to_frame(), right)
    numbered = pd.Series(known.to_numpy(), index=[int(cell[1:]) for cell in known.index], name="type")
    pd.testing.assert_frame_equal(
        cs.compare(ens.labels, "rand", known=numbered).to_frame().drop(columns="name", errors="ignore"),
        right.drop(columns="name", errors="ignore"),
        check_index_type=False,
    )
    with pytest.raises(InputError, match="names none of the objects"):
        cs.compare(ens, "rand", known=pd.Series(range(8), index=list("abcdefgh"), name="type"))


def test_verbs_on_data_read_as_they_are_told(tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat(["x", "y"], 10)
    data = pd.DataFrame(
        {"where": [f"o{i}" for i in range(20)], "a": rng.random(20) + 3 * (group == "y"), "b": rng.random(20)}
    )
    data.assign(kind=group).to_csv(tmp_path / "data.csv", index=False)
    data[["where"]].assign(kind=group).sample(frac=1, random_state=1).to_csv(tmp_path / "given.csv", index=False)
    how = {"id_column": "where", "columns": ["a", "b"]}
    ens = cs.generate(tmp_path / "data.csv", 3, 2, **how)
    assert ens.ids.tolist() == data["where"].tolist()
    by_name = cs.contrast(tmp_path / "data.csv", "kind", 2, n_init=2, **how)
    by_path = cs.contrast(tmp_path / "data.csv", tmp_path / "given.csv", 2, n_init=2, **how)
    assert (by_name.labels == by_path.labels).all()
    cs.report(tmp_path / "given.csv", tmp_path / "r.html", id_column="where")
    counts = data.assign(a=rng.poisson(4, 20) + 1, b=rng.poisson(4, 20) + 1)
    assert cs.agree(counts, 2, n_clusterings=2, max_iter=1, id_column="where").ids.tolist() == data["where"].tolist()
    with pytest.raises(InputError, match="id_column"):
        cs.contrast(data, group, 2, idcolumn="where")


def test_words_that_may_mean_missing_are_warned_of(tmp_path):
    (tmp_path / "na.csv").write_text("a,b\nN/A,0\n1,0\nN/A,1\n2,1\n1,0\n2,1\n")
    with pytest.warns(UserWarning, match="if it means missing"):
        cs.Ensemble(tmp_path / "na.csv")
    assert cs.Ensemble(tmp_path / "na.csv", missing="N/A").n_clusters.tolist() == [2, 2]


def test_missing_labels_are_not_counted_as_different_ones(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,b\n0,0\n0,0\n1,1\n1,1\n-1,0\n")
    assert cs.Ensemble(path).labels[:, 0].tolist() == [0, 0, 1, 1, -1]
