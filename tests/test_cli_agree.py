"""consilience agree, as a person meets it."""

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse

import consilience as cs
from command_line import answer, ran, refused
from consilience.agreement import Agreement, stable_groups
from consilience.agreement.components import column_information
from consilience.measures import matched_accuracy
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
    scipy_io.mmwrite(folder / "counts.mtx", csr)
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
    for name, options, ids in (
        ("table.csv", ["--id", "doc", "-t", "topic"], "doc"),
        ("triples.csv", ["--triples"], "id"),
    ):
        out = tmp_path / f"labels_{name}"
        done = ran("agree", files / name, *SMALL, *options, "-o", out)
        assert set(pd.read_csv(out)[ids]) == {f"d{i:02}" for i in range(60)}
        assert "word" in done.stdout or "apart before" not in done.stdout


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("counts.mtx", ["--known-from", "in_order.csv"]),
        ("triples.csv", ["--triples", "--known-from", "known.csv", "--id", "doc"]),
    ],
)
def test_known_labels_from_another_table(files, table, options):
    options = [files / option if option.endswith(".csv") else option for option in options]
    assert answer("agree", files / table, *SMALL, *options)["consensus"]["accuracy"]["topic"] > 0.4


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
