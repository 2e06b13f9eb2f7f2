"""Tables whose columns are the objects, as genes × samples."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from command_line import run
from consilience.tables import read_table

GENES, SAMPLES = 40, 24
SIDE = np.repeat([0, 1, 2], SAMPLES // 3)


@pytest.fixture
def genes():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(GENES, SAMPLES)).round(3)
    values[:30] += 6 * (np.arange(30)[:, None] // 10 == SIDE)
    frame = pd.DataFrame(values.round(3), columns=[f"S{i}" for i in range(SAMPLES)])
    frame.insert(0, "gene_id", [f"ENSG{i:08d}" for i in range(GENES)])
    return frame


def test_columns_become_objects(genes, tmp_path):
    genes.to_csv(tmp_path / "g.tsv", sep="\t", index=False)
    table = read_table(tmp_path / "g.tsv", kind="data", transpose=True)
    assert table.ids.tolist() == genes.columns[1:].tolist()
    assert table.columns == genes["gene_id"].tolist()
    np.testing.assert_array_equal(table.values, genes.iloc[:, 1:].to_numpy().T)
    assert "g.tsv: turned, so that its 24 columns are the objects" in table.notices
    for other in (genes, genes.set_index("gene_id")):
        again = read_table(other, kind="data", transpose=True)
        np.testing.assert_array_equal(again.values, table.values)
        assert again.columns == table.columns
        assert again.ids.tolist() == table.ids.tolist()


def test_what_tells_of_the_rows_is_left_out(genes, tmp_path):
    lies = {"Chr": "chr1", "Strand": "+"}
    for i, (name, cells) in enumerate(lies.items()):
        genes.insert(i + 1, name, cells)
    genes.insert(0, "number", range(GENES))
    genes.to_csv(tmp_path / "g.csv", index=False)
    table = read_table(tmp_path / "g.csv", kind="data", transpose=True, id_column="gene_id")
    assert table.ids.tolist() == ["number", *(f"S{i}" for i in range(SAMPLES))]
    table = read_table(tmp_path / "g.csv", kind="data", transpose=True)
    assert "left out Chr, Strand, which tell of the rows" in " ".join(table.notices)


def test_rows_of_words_and_gaps(genes, tmp_path):
    genes.loc[3, "S5"] = np.nan
    frame = genes.astype(object)
    frame.loc[GENES] = ["side", *np.array(["a", "b", "c"])[SIDE]]
    frame.loc[GENES + 1] = [None, *np.resize(["x", "y"], SAMPLES)]
    frame.to_csv(tmp_path / "g.csv", index=False, sep=";", decimal=",")
    table = read_table(tmp_path / "g.csv", kind="data", transpose=True, known="side")
    assert table.labels["side"].tolist() == np.array(["a", "b", "c"])[SIDE].tolist()
    assert table.encoder.types[f"row {GENES + 2}"] == "category"
    assert table.gaps.n_cells == 1
    assert table.n_objects == SAMPLES


def test_matrices():
    values = np.arange(12.0).reshape(4, 3)
    for matrix in (values, sparse.csr_matrix(values)):
        turned = read_table(matrix, kind="counts", transpose=True).values
        np.testing.assert_array_equal(turned.toarray(), values.T)


def test_what_cannot_be_turned(genes):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(np.eye(3), obs=pd.DataFrame({"kind": list("aab")}, index=list("xyz")))
    for source, kind, turn, said in (
        (genes, "labels", True, r"transpose= \(--transpose\) turns tables of data, and this is read as labels"),
        (genes, "distances", True, "and this is read as distances"),
        (genes[["gene_id"]], "data", True, "no column holds numbers"),
        (cells, "data", True, "these are the objects: leave transpose="),
        (genes, "data", "no", "transpose must be True or False, not 'no'"),
    ):
        with pytest.raises(ValueError, match=said):
            read_table(source, kind=kind, transpose=turn)


def test_verbs(genes, tmp_path):
    genes.to_csv(tmp_path / "g.tsv", sep="\t", index=False)
    path = str(tmp_path / "g.tsv")
    ensemble = cs.generate(path, n_clusterings=10, transpose=True)
    assert ensemble.ids.tolist() == genes.columns[1:].tolist()
    kept, labels, new = (str(tmp_path / name) for name in ("model", "labels.csv", "new.csv"))
    assert not run("cluster", path, "--transpose", "-k", "3", "-n", "20", "-o", labels, "--save", kept).returncode
    made = pd.read_csv(labels)
    assert adjusted_rand_score(made["cluster"], SIDE) == 1
    assert not run("assign", kept, path, "--transpose", "-o", new).returncode
    assert pd.read_csv(new)["cluster"].tolist() == made["cluster"].tolist()
    told = run("report", labels, "--columns", "cluster", "--data", path, "--transpose", str(tmp_path / "r.html"))
    assert told.returncode == 0, told.stderr
    assert "its 24 columns are the objects" in told.stdout + told.stderr


def test_rows_that_are_known_labels(genes, tmp_path):
    frame = genes.astype(object)
    frame.loc[GENES] = ["side", *np.array(["a", "b", "c"])[SIDE]]
    frame.to_csv(tmp_path / "g.csv", index=False)
    for known in ("side", ["side"]):
        opened = cs.inputs.open_source(tmp_path / "g.csv", kind="data", transpose=True, known=known)
        assert list(opened.known["side"]) == np.array(["a", "b", "c"])[SIDE].tolist()
    pd.DataFrame({"id": genes.columns[1:], "run": SIDE}).to_csv(tmp_path / "l.csv", index=False)
    beside = ["--data", tmp_path / "g.csv", "--transpose", "--known", "side"]
    for words in (
        [tmp_path / "l.csv", tmp_path / "r.html", *beside],
        [tmp_path / "g.csv", tmp_path / "r2.html", *beside[2:]],
    ):
        told = run("report", *words)
        assert told.returncode == 0, told.stderr
