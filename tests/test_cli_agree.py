"""consilience agree and contrast, as a person meets them."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

import consilience as cs
from command_line import answer, ran, refused, run
from consilience.agreement import Agreement, stable_groups
from consilience.agreement.stable_groups import column_information
from consilience.alternatives.splits import BASES, COUNTS
from consilience.datasets import load_beads, orthogonal_multinomials, sample_path
from consilience.measures import matched_accuracy
from consilience.reports import draw
from consilience.tables import scale
from papers.bekkerman2009.data import draw_documents

DRAWN = draw_documents(60, 80, 3)
SMALL = ["-k", 3, "--n-column-clusters", 12, "--n-clusterings", 3, "--max-iter", 2]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One table in every form that counts come in."""
    folder, csr = tmp_path_factory.mktemp("counts"), DRAWN.counts
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape}
    np.savez(folder / "counts.npz", **parts, y=DRAWN.truth, vocab=DRAWN.words)
    sparse.save_npz(folder / "scipy.npz", csr)
    io.mmwrite(folder / "counts.mtx", csr)
    coo = csr.tocoo()
    triples = pd.DataFrame({"doc": [f"d{i:02}" for i in coo.row], "word": DRAWN.words[coo.col], "count": coo.data})
    triples.to_csv(folder / "triples.csv", index=False)
    frame = pd.DataFrame(csr.toarray(), columns=DRAWN.words)
    frame.insert(0, "doc", [f"d{i:02}" for i in range(60)])
    frame.assign(topic=[f"t{y}" for y in DRAWN.truth]).to_csv(folder / "table.csv", index=False)
    known = pd.DataFrame({"doc": frame["doc"], "topic": DRAWN.truth})
    known.to_csv(folder / "known.csv", index=False)
    known[["topic"]].to_csv(folder / "in_order.csv", index=False)
    (folder / "vocabulary.txt").write_text("\n".join(DRAWN.words), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def expected():
    return cs.agree(DRAWN.counts, 3, 12, n_clusterings=3, max_iter=2, random_state=0)


def test_everything_comes_out(files, expected, tmp_path):
    out = {name: tmp_path / f"{name}.csv" for name in ("labels", "words", "stability", "components")}
    done = ran(
        *("agree", files / "counts.npz", *SMALL, "--names", "vocab", "-t", "y", "--figure", tmp_path / "a.png"),
        *("-o", out["labels"], "--column-output", out["words"]),
        *("--stability", out["stability"], "--components", out["components"]),
    )
    assert done.stderr == ""
    labels = pd.read_csv(out["labels"], index_col="id")
    np.testing.assert_array_equal(labels[[f"clustering_{j}" for j in range(3)]], expected.after.rows.labels)
    assert labels["cluster"].tolist() == cs.combine(expected.after.rows).labels.tolist()
    words = pd.read_csv(out["words"], index_col="id")
    assert words.index.tolist() == DRAWN.words.tolist()
    np.testing.assert_array_equal(words, expected.after.columns.labels)
    table = pd.read_csv(out["stability"], index_col="iteration")
    by_hand = expected.stability_by_iteration({"y": DRAWN.truth}).set_index("iteration")
    pd.testing.assert_frame_equal(table, by_hand)
    parts = pd.read_csv(out["components"])
    weights = column_information(DRAWN.counts, cs.combine(expected.after.rows).labels)
    groups = stable_groups(expected.before.columns, expected.after.columns, names=DRAWN.words, weights=weights)
    after = parts[(parts["side"] == "columns") & (parts["when"] == "after")]
    assert after["members"].tolist() == ["; ".join(members) for members in groups["members"]]
    assert after["pieces"].tolist() == groups["pieces"].tolist()
    assert (parts[parts["when"] == "before"]["pieces"] == 1).all()
    assert set(parts["side"]) == {"rows", "columns"}
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_json_is_the_library_s_answer(files, expected):
    found = answer("agree", files / "counts.npz", *SMALL, "-t", "y")
    assert found["stability"][-1]["rows"] == cs.stability(expected.after.rows, "jaccard").mean
    labels = cs.combine(expected.after.rows).labels
    assert found["consensus"]["accuracy"] == {"y": matched_accuracy(DRAWN.truth, labels)}
    assert found["n_columns"] == 80


def test_the_same_table_in_every_form(files):
    one, two, three = (answer("agree", files / name, *SMALL) for name in ("counts.npz", "scipy.npz", "counts.mtx"))
    assert one | {"source": ""} == two | {"source": ""} == three | {"source": ""}


def test_rows_and_columns_with_names(files, tmp_path):
    ways = (("table.csv", ["--id", "doc", "-t", "topic"], "doc"), ("triples.csv", ["--triples"], "id"))
    for name, options, ids in ways:
        out = tmp_path / f"labels_{name}"
        done = ran("agree", files / name, *SMALL, *options, "-o", out)
        assert set(pd.read_csv(out)[ids]) == {f"d{i:02}" for i in range(60)}
        assert "word" in done.stdout or "apart before" not in done.stdout


def test_known_labels_from_another_table(files):
    in_order = answer("agree", files / "counts.mtx", *SMALL, "--known-from", files / "in_order.csv")
    named = ("--triples", "--known-from", files / "known.csv", "--id", "doc")
    by_name = answer("agree", files / "triples.csv", *SMALL, *named)
    assert all(found["consensus"]["accuracy"]["topic"] > 0.4 for found in (in_order, by_name))


def test_everything_is_kept(files, expected, tmp_path):
    folder, words = tmp_path / "found", [f"w{j % 79}" for j in range(79)] + [""]  # w0 … w78, and one without a name
    words[5] = "w4"
    (tmp_path / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    ran("agree", files / "counts.mtx", *SMALL, "--names", tmp_path / "words.txt", "--save", folder)
    kept = Agreement.load(folder)
    np.testing.assert_array_equal(kept.after.rows.labels, expected.after.rows.labels)
    assert kept.after.columns.ids[[0, 4, 5, 79]].tolist() == ["w0", "w4", "w4 (2)", "79"]
    assert kept.source == "counts.mtx"
    refused("agree", files / "counts.mtx", *SMALL, "--save", folder)


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


def test_json_of_a_contrast_is_the_library_s_answer():
    found = answer("contrast", BEADS, *SHAPE, "--center", "--n-init", 3, "--combine", "quadratic", "--seed", 5)
    beads = load_beads()
    how = {"center": "group", "n_init": 3, "combine": "quadratic", "random_state": 5}
    expected = cs.contrast(beads.values, beads.labels["shape"], 4, **how)
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
    told = [(row["group"], row["outcome"], row["runs"]) for row in found["groups"]]
    assert told == [("ash", "not split", 3), ("oak", "not split", 3)]
    heavy = answer(*args, "--trade-off", 0.5, "--search", "annealing")
    X = sparse.csr_matrix(io.mmread(words / "words.mtx", spmatrix=True))
    tree = pd.read_csv(words / "labels.csv")["tree"]
    expected = cs.contrast(X, tree, 2, method="ccib", trade_off=0.5, search="annealing", n_init=3)
    assert heavy["quality"] == pytest.approx(expected.quality)


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
    given = ("--given-from", tmp_path / "known.csv", "--json")
    done = ran("contrast", tmp_path / "beads.csv", "--id", "bead", "-k", 4, *given)
    assert done.stderr.startswith("consilience: warning:")
    assert "50 objects not in it" in done.stderr
    sizes = {row["group"]: row["size"] for row in json.loads(done.stdout)["groups"]}
    assert sizes == known.iloc[:250]["shape"].value_counts().to_dict()


def test_scaling_is_applied():
    words = ("contrast", BEADS, "--id", "bead", "-g", "color", "-t", "shape", "-k", 3)
    plain, scaled = answer(*words, "--no-standardize"), answer(*words)
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


def test_figure_of_sparse_data_with_missing_labels(tmp_path):
    X, given, _ = orthogonal_multinomials(2)
    given = np.where(np.arange(len(given)) % 7 == 0, -1, given)
    result = cs.contrast(sparse.csr_matrix(X), given, 2)
    draw(result, tmp_path / "f.svg", X=sparse.csr_matrix(X), given={"a name with $": given})
    assert (tmp_path / "f.svg").stat().st_size > 5000


def test_the_table_is_written_even_if_the_figure_fails(tmp_path, monkeypatch):
    def fail(*args, **options):
        raise OSError("no space left")

    monkeypatch.setattr("consilience.reports.draw", fail)
    out = tmp_path / "c.csv"
    args = [BEADS, *SHAPE, "-k", "4", "--n-init", "2", "-o", str(out), "--figure", str(tmp_path / "c.png")]
    assert run("contrast", *args).returncode == 1
    assert len(pd.read_csv(out)) == 300
