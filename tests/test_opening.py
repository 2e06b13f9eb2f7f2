"""One way in: whatever a user points at becomes clusterings, data, known labels and where they came from."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import ran, refused
from consilience.datasets import load_beads, load_beads_labels, sample_path
from consilience.ensemble.from_sources import choose
from consilience.inputs import as_ensemble, as_table, open_source
from consilience.inputs.guess import guess
from consilience.inputs.known_labels import labels_from
from samples import refuses

LABELS = sample_path("beads_labels.csv")
READING = {"id_column": "bead", "known": ["shape", "color"]}


def test_a_table_of_data_or_of_labels():
    data = open_source(sample_path("beads.csv"), **READING)
    assert (data.kind, data.data.values.shape) == ("data", (300, 8))
    refuses("not clusterings", lambda: data.ensemble)
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
    refuses("say how to read a table", open_source, tmp_path / "run", id_column="bead")


def test_columns_choose_clusterings_by_pattern(tmp_path):
    ens = load_beads_labels()
    assert choose(ens, "color*").names == [name for name in ens.names if name.startswith("color")]
    ens.save(tmp_path / "run")
    assert as_ensemble(tmp_path / "run", columns=["form1", "color*"]).n_clusterings == 7
    refuses("did you mean 'form1'", as_ensemble, ens, columns="forn1")
    assert as_ensemble(ens, columns=np.array(["form1", "color1"])).names == ["form1", "color1"]
    assert choose(ens, np.int64(1)).names == choose(ens, np.array([1])).names == [ens.names[1]]


@pytest.mark.parametrize("misspelled", ["colums", "id_colum"])
def test_misspelled_options_of_reading_get_the_nearest_name(misspelled):
    for verb in (as_ensemble, cs.combine, lambda source, **how: cs.combine(source, method="vote", n_clusters=3, **how)):
        refuses(f"did you mean '{misspelled[:-1]}", verb, LABELS, **{misspelled: "form1"})


def test_known_labels_of_another_file(tmp_path):
    beads = pd.read_csv(sample_path("beads.csv"))[["bead", "shape"]].iloc[::-1]
    beads.to_csv(tmp_path / "known.csv", index=False)
    opened = open_source(LABELS, id_column="bead", known=["shape", "color"], columns=["form1", "form2"])
    more = labels_from(tmp_path / "known.csv", opened.ensemble)
    assert list(more["shape"]) == list(opened.known["shape"])
    refuses("are also in beads_labels", opened.with_known, more, "known.csv")
    found = open_source(load_beads_labels(), known=tmp_path / "known.csv")
    assert list(found.known["shape"]) == list(opened.known["shape"])
    beads[:100].to_csv(tmp_path / "some.csv", index=False)
    with pytest.warns(UserWarning, match="200 objects not in it"):
        some = labels_from(tmp_path / "some.csv", load_beads_labels(), id_column="bead")
    assert sum(label is None for label in some["shape"]) == 200


@pytest.mark.parametrize("source", [load_beads_labels(), LABELS.parent])
def test_what_is_not_a_table_is_said_so(source):
    refuses("table of data", as_table, source, "data")


# --- frames are looked at as files are -------------------------------------------------------------------------------

LABELED = pd.DataFrame(
    {"cell": [f"c{i}" for i in range(8)], "leiden": [0, 0, 0, 1, 1, 1, 1, 0], "louvain": [0, 0, 1, 1, 1, 1, 1, 0]}
)


def test_a_column_that_names_the_objects_is_no_clustering_in_frames_either(tmp_path):
    polars, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    LABELED.to_csv(tmp_path / "labels.csv", index=False)
    arrow = pa.Table.from_pandas(LABELED, preserve_index=False)
    for source in (tmp_path / "labels.csv", LABELED, polars.from_pandas(LABELED), arrow):
        for ens in (cs.Ensemble(source), as_ensemble(source)):
            assert ens.names == ["leiden", "louvain"]
            assert ens.ids.tolist() == LABELED["cell"].tolist()


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
    others = pd.Series(range(8), index=list("abcdefgh"), name="type")
    refuses("names none of the objects", cs.compare, ens, "rand", known=others)


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
    refuses("id_column", cs.contrast, data, group, 2, idcolumn="where")


def test_words_that_may_mean_missing_are_warned_of(tmp_path):
    (tmp_path / "na.csv").write_text("a,b\nN/A,0\n1,0\nN/A,1\n2,1\n1,0\n2,1\n")
    with pytest.warns(UserWarning, match="if it means missing"):
        cs.Ensemble(tmp_path / "na.csv")
    assert cs.Ensemble(tmp_path / "na.csv", missing="N/A").n_clusters.tolist() == [2, 2]


# --- clusterings in several files, joined by the names of their objects ----------------------------------------

N = 60


@pytest.fixture
def files(tmp_path):
    """Two programs' labels of the same cells: another order, other holes, a cell more, a name that both have."""
    rng = np.random.default_rng(0)
    truth = np.arange(N) % 3
    cells = np.array([f"cell_{i}" for i in range(N)])
    one, two = pd.DataFrame({"cell": cells, "leiden": truth}), pd.DataFrame({"barcode": cells})
    one["kmeans"], one["type"] = np.where(rng.random(N) < 0.1, 0, truth), np.array(list("abc"))[truth]
    two["SC3"], two["kmeans"] = np.array(["c1", "c2", "c3"])[truth], np.where(rng.random(N) < 0.1, 1, truth)
    two.loc[5, "SC3"] = None
    two.loc[N] = ["cell_new", "c1", 0]
    two = two.sample(frac=1, random_state=1)
    one.to_csv(tmp_path / "one.csv", index=False)
    two.iloc[2:].to_csv(tmp_path / "two.tsv", sep="\t", index=False)
    return tmp_path / "one.csv", tmp_path / "two.tsv", one, two.iloc[2:]


def test_labels_meet_by_id(files):
    first, second, one, two = files
    opened = open_source([first, second], known="type")
    ensemble = opened.ensemble
    assert ensemble.names == ["leiden", "kmeans (one)", "SC3", "kmeans (two)"]
    assert cs.Ensemble([first, second], known="type").names == ensemble.names
    assert ensemble.n_objects == N + 1
    frame = ensemble.to_frame()
    both = one.merge(two, left_on="cell", right_on="barcode", how="outer", suffixes=("_1", "_2"))
    both = both.assign(id=both["cell"].fillna(both["barcode"])).set_index("id").loc[ensemble.ids]
    same = {"leiden": "leiden", "SC3": "SC3", "kmeans (one)": "kmeans_1", "kmeans (two)": "kmeans_2"}
    for name, theirs in same.items():
        made, wanted = frame[name].to_numpy(object), both[theirs].to_numpy(object)
        assert [None if pd.isna(a) else a for a in made] == [None if pd.isna(b) else b for b in wanted]
    assert opened.known["type"][-1] is None
    assert list(opened.known["type"][:N]) == list(one["type"])
    everywhere = N - 2 + 1 - ("cell_new" in set(two["barcode"]))
    assert f"one.csv, two.tsv: joined by id: 61 objects, {everywhere} of them in every file" in opened.notices


def test_everywhere(files, tmp_path):
    first, second, one, _ = files
    result = cs.combine([str(first), str(second)], 3, columns=["leiden", "SC3", "km*"])
    assert (pd.crosstab(result.labels[:N], one["type"]) > 0).to_numpy().sum() == 3
    assert cs.compare([first, second], "nmi", columns="-type").clusterings.shape[0] == 4
    where = ["--with", str(second), "--known", "type"]
    made = ran("combine", first, *where, "-k", "3", "-o", tmp_path / "made.csv")
    assert "joined by id" in made.stderr
    table = pd.read_csv(tmp_path / "made.csv")
    assert table["cluster"].tolist() == result.labels.tolist()
    assert table.columns[0] == "cell"
    for verb in ("compare", "organize"):
        said = ran(verb, first, *where)
        assert "joined by id" in said.stderr + said.stdout


def test_rows_without_ids(tmp_path):
    for name, labels in (("a", [0, 0, 1, 1]), ("b", [1, 1, 0, 2])):
        pd.DataFrame({name: labels}).to_csv(tmp_path / f"{name}.csv", index=False)
    opened = open_source([tmp_path / "a.csv", tmp_path / "b.csv"])
    np.testing.assert_array_equal(opened.ensemble.labels[:, 0], [0, 0, 1, 1])
    assert "a.csv, b.csv: joined row by row, since they have no ids: 4 objects" in opened.notices
    pd.DataFrame({"c": [0, 1]}).to_csv(tmp_path / "c.csv", index=False)
    both = [tmp_path / "a.csv", tmp_path / "c.csv"]
    refuses(r"a\.csv has 4 objects and another file 2, and none has ids", open_source, both)


def test_what_cannot_be_joined(files, tmp_path):
    first, second, one, _ = files
    one.drop(columns="cell").to_csv(tmp_path / "bare.csv", index=False)
    refuses(r"bare\.csv has no ids, and one\.csv has", open_source, [first, tmp_path / "bare.csv"])
    one.assign(cell=[f"x{i}" for i in range(N)]).to_csv(tmp_path / "other.csv", index=False)
    refuses("share no id: they have 'cell_0' and 'x0'", open_source, [first, tmp_path / "other.csv"])
    said = r"'typ' is not a column of one\.csv, two\.tsv: did you mean 'type'\?"
    refuses(said, open_source, [first, second], known="typ")
    refuses("no such file", cs.combine, [str(first), str(tmp_path / "two.csv")])
    refused("combine", first, "--with", tmp_path / "tow.tsv")
    assert "is also read" in refused("combine", first, "--with", second, "-o", second)


def test_what_was_said_of_reading_is_heeded(files, tmp_path):
    first, second, one, _ = files
    refuses("cel", open_source, [first, second], id_column="cel")
    refuses("SC33", open_source, [first, second], columns=["leiden", "SC33"])
    assert open_source([first, second], id_column=0).ensemble.n_objects == N + 1
    open_source(first, columns=["leiden", "kmeans"]).ensemble.save(tmp_path / "run")
    assert open_source([tmp_path / "run", second]).ensemble.names == ["leiden", "kmeans (run)", "SC3", "kmeans (two)"]
    assert open_source([tmp_path / "run", second], columns=["leiden", "SC3"]).ensemble.names == ["leiden", "SC3"]
    code = open_source([first, second], columns=["leiden", "SC3"], known="type").provenance.code
    assert eval(code, {"cs": cs}).names == ["leiden", "SC3"]
    page = tmp_path / "page.html"
    assert "joined by id" in ran("report", first, page, "--with", second, "-t", "type").stdout
    assert f"--with {second}" in page.read_text()
    assert "lies in the run itself" in refused("organize", first, "--with", tmp_path / "run", "-o", tmp_path / "run/in")
    assert "leave" in refused("explore", first, "--with", second, "--kind", "data", "--no-browser")
    one.rename(columns={"cell": "id"}).to_excel(tmp_path / "book.xlsx", index=False, sheet_name="kept")
    joined = open_source([first, tmp_path / "book.xlsx"], key="kept", sep=",", columns="leiden")
    assert joined.ensemble.names == ["leiden (one)", "leiden (book)"]


def test_numbers_are_the_same_ids_however_they_are_written(tmp_path):
    labels = np.arange(20) % 2
    for name, ids in (("a", range(20)), ("b", [f"{i:03d}" for i in range(20)]), ("c", [f"{i}.0" for i in range(20)])):
        pd.DataFrame({"id": ids, name: labels}).to_csv(tmp_path / f"{name}.csv", index=False)
    pd.DataFrame({"id": np.arange(20.0), "d": labels}).to_parquet(tmp_path / "d.parquet")
    opened = open_source([tmp_path / name for name in ("a.csv", "b.csv", "c.csv", "d.parquet")], id_column="id")
    np.testing.assert_array_equal(opened.ensemble.labels, np.stack([labels] * 4, axis=1))
    assert opened.ensemble.ids[3] == "3"


def test_files_of_the_same_name(tmp_path):
    for folder in ("seurat", "sc3"):
        (tmp_path / folder).mkdir()
        pd.DataFrame({"cell": list("abcd"), "k": [0, 0, 1, 1]}).to_csv(tmp_path / folder / "labels.csv", index=False)
    opened = open_source([tmp_path / "seurat/labels.csv", tmp_path / "sc3/labels.csv"])
    assert opened.ensemble.names == ["k (seurat/labels)", "k (sc3/labels)"]
    assert cs.combine([["x" * 3000, "y", "x" * 3000, "y"]]).labels.tolist() == [0, 1, 0, 1]


def test_whatever_a_library_says_of_damaged_cells_a_sentence_comes_of_it(tmp_path, monkeypatch):
    (tmp_path / "x.h5ad").write_bytes(b"nonsense")
    monkeypatch.setattr("anndata.read_h5ad", lambda *_, **__: 1 / 0)
    refuses("damaged", open_source, tmp_path / "x.h5ad")
