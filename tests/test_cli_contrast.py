"""consilience contrast, as a person meets it."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

import consilience as cs
from command_line import answer, ran, run
from consilience.alternatives.splits import BASES, COUNTS
from consilience.datasets import load_beads, orthogonal_multinomials, sample_path
from consilience.reports import draw
from consilience.tables import scale

BEADS = str(sample_path("beads.csv"))
SHAPE = ["--id", "bead", "--given", "shape", "--known", "color", "-k", "4"]


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Counts with a given and a hidden grouping, in the files that verbs read."""
    folder = tmp_path_factory.mktemp("words")
    X, given, hidden = orthogonal_multinomials(2, random_state=0)
    names = np.array(["ash", "oak"])[given]
    labels = pd.DataFrame({"tree": names, "hidden": hidden})
    labels.to_csv(folder / "labels.csv", index=False)
    io.mmwrite(folder / "words.mtx", sparse.csr_matrix(X))
    csr = sparse.csr_matrix(X)
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape)}
    np.savez(folder / "words.npz", **parts, tree=names, hidden=hidden)
    pd.DataFrame(X, columns=["one", "two", "other"]).join(labels).to_csv(folder / "words.csv", index=False)
    return folder


def test_given_the_shapes_it_finds_the_colors(tmp_path):
    out, picture = tmp_path / "new.csv", tmp_path / "new.png"
    ran("contrast", BEADS, *SHAPE, "--scale", "columns", "-o", out, "--figure", picture)
    table = pd.read_csv(out, index_col="bead")
    assert list(table.columns) == ["cluster", "confidence", "support"]
    assert list(table.index[:2]) == ["b001", "b002"]
    colors = load_beads().labels["color"]
    assert cs.compare(cs.Ensemble([table["cluster"]]), ["accuracy"], known={"c": colors}).clusterings.iloc[0, -1] > 0.9
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_is_the_library_s_answer():
    found = answer("contrast", BEADS, *SHAPE, "--center", "--n-init", 3, "--combine", "quadratic", "--seed", 5)
    beads = load_beads()
    expected = cs.contrast(
        beads.values, beads.labels["shape"], 4, center="group", n_init=3, combine="quadratic", random_state=5
    )
    assert found["sizes"] == expected.sizes.tolist()
    assert found["sentence"] == expected.sentence
    assert found["quality"] == expected.quality
    assert found["redundancy"][0]["nmi"] == expected.redundancy
    assert found["known"]["color"]["nmi"] == pytest.approx(cs.measures.nmi(beads.labels["color"], expected.labels))
    assert [row["runs"] for row in found["groups"]] == [3, 3, 3]
    steps = expected.group_breakdown(beads.labels["color"])
    assert [row["inside_known"] for row in found["groups"]] == pytest.approx(steps["inside_known"].tolist())


@pytest.mark.parametrize(
    "args",
    [
        ["words.csv", "--given", "tree", "--known", "hidden"],
        ["words.npz", "--given", "tree", "--known", "hidden"],
        ["words.mtx", "--given", "tree", "--given-from", "labels.csv", "--known-from", "labels.csv"],
    ],
)
def test_counts_dense_and_sparse(words, args):
    paths = [str(words / arg) if "." in arg else arg for arg in args]
    found = answer("contrast", *paths, "-k", 2, "--base", "multinomial")
    assert found["known"]["hidden"]["accuracy"] > 0.98
    assert found["measure"] == "information"
    assert [row["group"] for row in found["groups"]] == ["ash", "oak"]


@pytest.mark.parametrize("base", BASES)
def test_every_base(words, base):
    center = [] if base in COUNTS else ["--center"]
    args = ("-g", "tree", "-t", "hidden", "-k", 2, "--base", base, *center, "--n-init", 2)
    assert answer("contrast", words / "words.csv", *args)["known"]["hidden"]["accuracy"] > 0.9


def test_ccib(words):
    args = ["contrast", words / "words.npz", "-g", "tree", "-t", "hidden", "-k", 2, "--method", "ccib", "--n-init", 3]
    found = answer(*args)
    assert found["known"]["hidden"]["accuracy"] > 0.98
    assert found["run_agreement"] > 0.9
    assert [(row["group"], row["outcome"], row["runs"]) for row in found["groups"]] == [
        ("ash", "not split", 3),
        ("oak", "not split", 3),
    ]
    heavy = answer(*args, "--trade-off", 0.5, "--search", "annealing")
    X = sparse.csr_matrix(io.mmread(words / "words.mtx", spmatrix=True))
    tree = pd.read_csv(words / "labels.csv")["tree"]
    assert heavy["quality"] == pytest.approx(
        cs.contrast(X, tree, 2, method="ccib", trade_off=0.5, search="annealing", n_init=3).quality
    )


@pytest.mark.slow
def test_one_grouping_after_another(tmp_path):
    out, beads = tmp_path / "all.csv", load_beads()
    args = ["--id", "bead", "-t", "shape,color", "-k", 3, "--scale", "columns", "--n-init", 3, "--alternatives", 2]
    ran("contrast", BEADS, *args, "-o", out)
    table = pd.read_csv(out, index_col="bead")
    assert list(table.columns) == ["cluster_1", "cluster_2"]
    shape = cs.measures.nmi(beads.labels["shape"].to_numpy(), table["cluster_1"].to_numpy())
    color = cs.measures.nmi(beads.labels["color"].to_numpy(), table["cluster_2"].to_numpy())
    assert shape > 0.8
    assert color > 0.6
    args[args.index("-k") + 1] = 4
    after = answer("contrast", BEADS, *args[:2], "-g", "shape", "-t", "color", *args[4:])
    assert after["alternatives"][0]["known"]["color"]["nmi"] > 0.7
    assert after["n_alternatives"] == 1
    assert after["stopped"].startswith("the next one is not reproducible")


def test_given_labels_are_matched_by_id_and_may_be_missing(tmp_path):
    beads = pd.read_csv(BEADS)
    known = beads[["bead", "shape"]].iloc[::-1]
    known.iloc[:250].to_csv(tmp_path / "known.csv", index=False)
    beads.drop(columns=["shape", "color"]).to_csv(tmp_path / "beads.csv", index=False)
    done = ran(
        "contrast", tmp_path / "beads.csv", "--id", "bead", "--given-from", tmp_path / "known.csv", "-k", 4, "--json"
    )
    assert "50 objects not in it" in done.stderr
    sizes = {row["group"]: row["size"] for row in json.loads(done.stdout)["groups"]}
    assert sizes == known.iloc[:250]["shape"].value_counts().to_dict()


def test_scaling_is_applied():
    plain, scaled = (
        answer("contrast", BEADS, "--id", "bead", "-g", "color", "-t", "shape", "-k", 3, *how)
        for how in (["--no-standardize"], [])
    )
    assert "each scaled to mean 0" in scaled["scaling"]
    assert plain["scaling"] == "columns as they are"
    assert scaled["known"]["shape"]["accuracy"] > 0.95 > plain["known"]["shape"]["accuracy"] + 0.2


def test_scales():
    X = np.array([[4.0, 0.0, 0.0], [1.0, 9.0, 5.0], [0.0, 0.0, 0.0]])
    for how in ("rows", "roots", "tfidf"):
        lengths = np.linalg.norm(scale(X, how), axis=1)
        np.testing.assert_allclose(lengths, [1, 1, 0])
        np.testing.assert_allclose(scale(sparse.csr_matrix(X), how).toarray(), scale(X, how))
    columns = scale(X, "columns")
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(columns.std(axis=0), 1)
    np.testing.assert_allclose(scale(sparse.csr_matrix(X), "columns").toarray(), X / X.std(axis=0))
    with pytest.raises(ValueError, match="negative"):
        scale(-X, "roots")
    stored = sparse.csr_matrix(np.array([[3.0, 1.0, 2.0], [1.0, 4.0, 2.0]]))
    stored.data[1] = 0.0
    kept = stored.copy()
    assert np.allclose(scale(stored, "tfidf").toarray(), scale(stored.toarray(), "tfidf"))
    assert (stored.data == kept.data).all()


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_figure_of_sparse_data_with_missing_labels(tmp_path, suffix):
    X, given, _ = orthogonal_multinomials(2)
    given = np.where(np.arange(len(given)) % 7 == 0, -1, given)
    result = cs.contrast(sparse.csr_matrix(X), given, 2)
    draw(result, tmp_path / f"f.{suffix}", X=sparse.csr_matrix(X), given={"a name with $": given})
    assert (tmp_path / f"f.{suffix}").stat().st_size > 5000


def test_the_table_is_written_even_if_the_figure_fails(tmp_path, monkeypatch):
    def fail(*args, **options):
        raise OSError("no space left")

    monkeypatch.setattr("consilience.reports.draw", fail)
    out = tmp_path / "c.csv"
    args = [BEADS, *SHAPE, "-k", "4", "--n-init", "2", "-o", str(out), "--figure", str(tmp_path / "c.png")]
    assert run("contrast", *args).returncode == 1
    assert len(pd.read_csv(out)) == 300
