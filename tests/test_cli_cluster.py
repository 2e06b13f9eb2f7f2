"""consilience cluster and assign, as a person meets them."""

import html

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import mmwrite

from command_line import answer, ran, refused, run
from consilience import EnsembleClusterer
from consilience.datasets import customers, sample_path
from consilience.measures import adjusted_rand
from report_pages import read_page

BEADS = str(sample_path("beads.csv"))
QUICK = ["-n", 15, "--method", "quadratic"]
OF_BEADS = ["cluster", BEADS, "--id", "bead", "-t", "shape,color", "-k", 4, *QUICK]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Customers, a model of the first of them, and the others."""
    where = tmp_path_factory.mktemp("customers")
    frame, segments = customers(500, random_state=1)
    frame = frame.assign(segment=segments)
    frame[:350].to_csv(where / "customers.csv", index=False)
    new = frame[350:].copy()
    new.iloc[:3, new.columns.get_loc("plan")] = "gold"
    new[new.columns[::-1]].assign(more="x").to_csv(where / "new.csv", index=False)
    out = ("-o", where / "labels.csv", "--save", where / "model")
    done = ran("cluster", where / "customers.csv", "-k", 4, "-t", "segment", *QUICK, *out)
    (where / "said.txt").write_text(done.stdout)
    return where


def test_clusters_come_out_with_what_was_done(folder):
    labels = pd.read_csv(folder / "labels.csv", index_col="customer_id")
    frame = pd.read_csv(folder / "customers.csv")
    assert list(labels.columns) == ["cluster", "confidence", "support"]
    assert labels.index.tolist() == frame["customer_id"].tolist()
    assert adjusted_rand(frame["segment"].to_numpy(), labels["cluster"].to_numpy()) > 0.85
    said = (folder / "said.txt").read_text()
    for words in ("set aside country (constant)", "missing cells", f"consilience assign {folder / 'model'} new.csv"):
        assert words in said


def test_new_objects_are_assigned(folder):
    out = folder / "assigned.csv"
    ran("assign", folder / "model", folder / "new.csv", "-t", "segment", "-o", out, "--membership")
    found, new = pd.read_csv(out, index_col="customer_id"), pd.read_csv(folder / "new.csv")
    membership = [f"membership_{c}" for c in range(4)]
    assert list(found.columns) == ["cluster", "confidence", "support", "outside", *membership]
    assert found.index.tolist() == new["customer_id"].tolist()
    assert adjusted_rand(new["segment"].to_numpy(), found["cluster"].to_numpy()) > 0.85
    model = EnsembleClusterer.load(folder / "model")
    np.testing.assert_array_equal(model.predict(new), found["cluster"])
    np.testing.assert_array_equal(model.assign(str(folder / "new.csv")).labels, found["cluster"])


def test_a_report_of_the_model(folder, tmp_path):
    page, figures = tmp_path / "page.html", tmp_path / "figures"
    ran("report", folder / "model", page)
    text = read_page(page).text
    assert text.startswith("customers.csv: 4 clusters of 350 objects"), "by what was clustered, not the folder's name"
    assert "differs most" not in text
    ran("report", folder / "model", page, "--data", folder / "customers.csv", "-t", "segment", "--figures", figures)
    text = read_page(page).text
    for words in ("Columns on which each cluster differs most", "match known labels", "segment"):
        assert words in text
    labels, objects = pd.read_csv(folder / "labels.csv"), pd.read_csv(figures / "objects.csv")
    pd.testing.assert_frame_equal(objects, labels)
    assert (figures / "features.csv").exists()


def test_json_of_both(folder):
    found = answer("assign", folder / "model", folder / "new.csv")
    assert (found["n_objects"], found["n_clusters"], found["drift"]["large"]) == (150, 4, False)
    assert found["drift"]["unseen"] == {"plan": 3}
    found = answer(*OF_BEADS)
    assert sum(row["size"] for row in found["clusters"]) == found["n_objects"] == 300
    assert set(found["known"]) == {"shape", "color"}


def test_a_report_and_a_sample(tmp_path):
    page, labels = tmp_path / "page.html", tmp_path / "labels.csv"
    done = ran(*OF_BEADS, "--max-objects", 150, "--report", page)
    assert "150 of 300 objects were clustered" in done.stdout
    assert "color" in page.read_text()
    assert "--max-objects 150" in page.read_text()
    done = ran(*OF_BEADS, "--max-objects", "all", "-o", labels, "--report", page)
    assert "objects were clustered" not in done.stdout
    # the report says how to make it again
    lines = html.unescape(page.read_text()).splitlines()
    again = [line for line in lines if line.startswith(("import ", "data = ", "one = "))]
    made = {}
    exec("\n".join(["import consilience as cs", *again]), made)
    assert made["one"].labels.tolist() == pd.read_csv(labels)["cluster"].tolist()


def test_numbers_that_look_like_counts_are_what_was_said(tmp_path):
    rates = np.full((60, 120), 0.06)
    rates[:30, :8] = rates[30:, 8:16] = 0.5
    mmwrite(tmp_path / "w.mtx", sparse.csr_matrix(np.random.default_rng(0).poisson(rates)))
    found = {}
    for said in ("counts", "number"):
        done = ran("cluster", tmp_path / "w.mtx", "--type", said, "-k", 2, *QUICK, "-v")
        found[said] = done.stdout
    assert "members by recipe: counts" in found["counts"]
    assert ": a wide table, 60 objects × 1" in found["number"]
    scaling = {said: text.split("Scaling: ")[1].split("\n")[0] for said, text in found.items()}
    assert "standard deviation" in scaling["number"]
    assert "counts" in scaling["counts"]


def test_bad_use_is_a_sentence(folder, tmp_path):
    assert "age" in refused("assign", folder / "model", folder / "labels.csv")
    assert str(tmp_path) in refused("assign", tmp_path, folder / "new.csv")
    (tmp_path / "gaps.csv").write_text("id,a,b\n" + "\n".join(f"{i},{i},{i % 5}" for i in range(60)))
    ran("cluster", tmp_path / "gaps.csv", "-k", 2, *QUICK, "--save", tmp_path / "m")
    (tmp_path / "new.csv").write_text("id,a,b\n1,2,\n2,3,4\n")
    filled = run("assign", tmp_path / "m", tmp_path / "new.csv")
    assert "1 missing cell filled from similar rows" in filled.stdout


def test_a_weak_answer_is_said_first(tmp_path):
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    noise.to_csv(tmp_path / "noise.csv", index=False)
    done = run("cluster", tmp_path / "noise.csv", "-n", 15, "--report", tmp_path / "r.html", "--save", tmp_path / "m")
    said = "A weak answer: no number of clusters is more stable than chance, so there may be no clusters in this data."
    assert done.stdout.splitlines()[1] == said
    assert said in html.unescape((tmp_path / "r.html").read_text())
    ran("report", tmp_path / "m", tmp_path / "m.html")
    assert said in html.unescape((tmp_path / "m.html").read_text())
    assert answer("cluster", tmp_path / "noise.csv", "-n", 15)["doubt"] == said[15:-1]


def test_the_command_line_guides_the_clusters(tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("one,other\nb001,b003\nb002,b004\n")
    guided = ["--id", "bead", "-k", 4, "--methods", "zipf+minima", "-n", 20]
    found = answer("cluster", BEADS, *guided, "--unlike", "shape", "--apart", pairs, "-t", "color")
    assert found["known"]["color"]["nmi"] > 0.6
    assert list(found["known"]) == ["color"]
    assert "members guided by 2 pairs apart, unlike shape" in found["chosen"]
    assert answer("cluster", BEADS, *guided, "-t", "color,shape")["known"]["color"]["nmi"] < 0.5
    pairs.write_text("one,other\nb001,nobody\n")
    assert "pairs.csv, row 1 (line 2): 'nobody' is no id" in run("cluster", BEADS, *guided, "--apart", pairs).stderr
    assert "guide_strength" in run("cluster", BEADS, *guided, "--guide-strength", 1).stderr
