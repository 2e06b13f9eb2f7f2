"""Clusterings in several files, joined by the names of their objects."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import run
from consilience.inputs import open_source

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
    made = run("combine", first, *where, "-k", "3", "-o", tmp_path / "made.csv")
    assert made.returncode == 0, made.stderr
    assert "joined by id" in made.stderr
    table = pd.read_csv(tmp_path / "made.csv")
    assert table["cluster"].tolist() == result.labels.tolist()
    assert table.columns[0] == "cell"
    for verb in (["compare"], ["organize"], ["report"]):
        page = [tmp_path / "page.html"] if verb == ["report"] else []
        said = run(*verb, first, *page, *where)
        assert said.returncode == 0, said.stderr
        assert "joined by id" in said.stderr + said.stdout


def test_rows_without_ids(tmp_path):
    for name, labels in (("a", [0, 0, 1, 1]), ("b", [1, 1, 0, 2])):
        pd.DataFrame({name: labels}).to_csv(tmp_path / f"{name}.csv", index=False)
    opened = open_source([tmp_path / "a.csv", tmp_path / "b.csv"])
    np.testing.assert_array_equal(opened.ensemble.labels[:, 0], [0, 0, 1, 1])
    assert "a.csv, b.csv: joined row by row, since they have no ids: 4 objects" in opened.notices
    pd.DataFrame({"c": [0, 1]}).to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(ValueError, match=r"a\.csv has 4 objects and another file 2, and none has ids"):
        open_source([tmp_path / "a.csv", tmp_path / "c.csv"])


def test_what_cannot_be_joined(files, tmp_path):
    first, second, one, _ = files
    one.drop(columns="cell").to_csv(tmp_path / "bare.csv", index=False)
    with pytest.raises(ValueError, match=r"bare\.csv has no ids, and one\.csv has"):
        open_source([first, tmp_path / "bare.csv"])
    one.assign(cell=[f"x{i}" for i in range(N)]).to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(ValueError, match="share no id: they have 'cell_0' and 'x0'"):
        open_source([first, tmp_path / "other.csv"])
    with pytest.raises(ValueError, match=r"'typ' is not a column of one\.csv, two\.tsv: did you mean 'type'\?"):
        open_source([first, second], known="typ")
    with pytest.raises(ValueError, match="no such file"):
        cs.combine([str(first), str(tmp_path / "two.csv")])
    said = run("combine", first, "--with", tmp_path / "tow.tsv")
    assert said.returncode == 2
    said = run("combine", first, "--with", second, "-o", second)
    assert "is also read" in said.stderr


def test_a_run_and_a_table(files, tmp_path):
    first, second, _, _ = files
    open_source(first, columns=["leiden", "kmeans"]).ensemble.save(tmp_path / "run")
    opened = open_source([tmp_path / "run", second])
    assert opened.ensemble.names == ["leiden", "kmeans (run)", "SC3", "kmeans (two)"]


def test_what_was_said_of_reading_is_heeded(files, tmp_path):
    first, second, one, _ = files
    with pytest.raises(ValueError, match="cel"):
        open_source([first, second], id_column="cel")
    with pytest.raises(ValueError, match="SC33"):
        open_source([first, second], columns=["leiden", "SC33"])
    assert open_source([first, second], id_column=0).ensemble.n_objects == N + 1
    open_source(first, columns=["leiden", "kmeans"]).ensemble.save(tmp_path / "run")
    assert open_source([tmp_path / "run", second], columns=["leiden", "SC3"]).ensemble.names == ["leiden", "SC3"]
    code = open_source([first, second], columns=["leiden", "SC3"], known="type").provenance.code
    assert eval(code, {"cs": cs}).names == ["leiden", "SC3"]
    page = tmp_path / "page.html"
    assert run("report", first, page, "--with", second, "-t", "type").returncode == 0
    assert f"--with {second}" in page.read_text()
    lies = run("organize", first, "--with", tmp_path / "run", "-o", tmp_path / "run/in")
    assert "lies in the run itself" in lies.stderr
    assert "leave" in run("explore", first, "--with", second, "--kind", "data", "--no-browser").stderr
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
