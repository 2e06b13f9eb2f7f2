"""consilience cluster, assign and combine, as a person meets them."""

import html

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import mmwrite

import consilience as cs
from command_line import answer, ran, refused, run
from consilience import EnsembleClusterer
from consilience.consensus import METHODS
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.trust.clusters_and_members import families_of, shared_information
from consilience.datasets import customers, load_beads_labels, noisy_labels, sample_path
from consilience.inputs import open_source
from consilience.measures import adjusted_rand
from report_pages import lines_of, read_page
from samples import first_of, row_blocks

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
    exec("\n".join(lines_of(page)[:-1]), made := {})  # the report says how to make it again
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


def test_a_weak_answer_is_said_first(tmp_path):
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    noise.to_csv(tmp_path / "noise.csv", index=False)
    done = run("cluster", tmp_path / "noise.csv", "-n", 15, "--report", tmp_path / "r.html", "--save", tmp_path / "m")
    said = f"A weak answer: {answer('cluster', tmp_path / 'noise.csv', '-n', 15)['doubt']}."
    assert done.stdout.splitlines()[1] == said
    assert said in html.unescape((tmp_path / "r.html").read_text())
    ran("report", tmp_path / "m", tmp_path / "m.html")
    assert said in html.unescape((tmp_path / "m.html").read_text())


def test_the_command_line_guides_the_clusters(tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("one,other\nb001,b003\nb002,b004\n")
    guided = ["--id", "bead", "-k", 4, "--methods", "zipf+minima", "-n", 20]
    found = answer("cluster", BEADS, *guided, "--unlike", "shape", "--apart", pairs, "-t", "color")
    assert found["known"]["color"]["nmi"] > 0.6
    assert list(found["known"]) == ["color"]
    assert "members guided by 2 pairs apart, unlike shape" in found["chosen"]
    assert answer("cluster", BEADS, *guided, "-t", "color,shape")["known"]["color"]["nmi"] < 0.5


LABELS = str(sample_path("beads_labels.csv"))
FORM = ["--columns", "form1,form2,form3,form4,form5,form6"]


@pytest.mark.parametrize("method", first_of(METHODS, 3))
def test_json_is_the_library_s_answer(method):
    found = answer("combine", LABELS, "--id", "bead", *FORM, "-k", 3, "--method", method)
    expected = cs.combine(cs.Ensemble(pd.read_csv(LABELS).filter(regex="form")), 3, method)
    assert found["method"] == method
    assert found["sizes"] == expected.sizes.tolist()
    assert found["anmi"] == expected.anmi
    assert found["scales"] is None


def test_memberships_in_every_format(tmp_path):
    for suffix, read in {"csv": pd.read_csv, "tsv": pd.read_table, "parquet": pd.read_parquet}.items():
        out, weak = (tmp_path / f"{name}.{suffix}" for name in ("c", "weak"))
        more = ("--method", "mcla", "--membership", "--floaters", weak)
        ran("combine", LABELS, "--id", "bead", *FORM, "-k", 3, *more, "-o", out)
        assert [c for c in read(out).columns if c.startswith("membership")] == [f"membership_{c}" for c in range(3)]
        assert {"bead", "cluster", "support", "second"} <= set(read(weak).reset_index().columns)


def test_auto_number_of_clusters():
    found = answer("combine", LABELS, "--id", "bead", *FORM, "-k", "auto")
    expected = cs.combine(cs.Ensemble(pd.read_csv(LABELS).filter(regex="form")), "auto")
    assert (found["method"], found["n_clusters"]) == (expected.method, expected.n_clusters)
    assert found["chosen"] == expected.note
    assert [row["n_clusters"] for row in found["curve"]] == expected.curve["n_clusters"].tolist()
    assert [row["real"] for row in found["scales"]] == expected.scales["real"].tolist()


def test_ids_called_like_an_answer_and_objects_without_labels(tmp_path):
    path, out = tmp_path / "l.csv", tmp_path / "c.csv"
    path.write_text("support,a,b\nx,1,1\ny,1,1\nz,2,2\n")
    ran("combine", path, "--id", "support", "-o", out)
    assert list(pd.read_csv(out)) == ["id", "cluster", "confidence", "support"]
    path.write_text("id,a,b,c\nx,1,1,2\ny,1,1,2\nz,2,2,1\nw,,,\n")
    ran("combine", path, "--id", "id", "-o", out)
    table = pd.read_csv(out, index_col="id")
    assert np.isnan(table.loc["w", "cluster"])
    assert table.loc["w", "confidence"] == 0


def test_parquet_in_row_blocks(tmp_path):
    ens = noisy_labels(500, 4, 8, 0.2, random_state=0)[0]
    table = pd.DataFrame(ens.labels, columns=[f"run{j}" for j in range(8)])
    table.insert(0, "cell", [f"c{i}" for i in range(500)])
    file, out = tmp_path / "labels.parquet", tmp_path / "consensus"
    table.to_parquet(file, row_group_size=99, index=False)
    folder = row_blocks(tmp_path / "labels", table[:200], table[200:])
    wanted = cs.combine(file)
    clusters = tmp_path / "clusters.csv"
    ran("combine", file, "--memory-limit", "2GB", "-o", out, "--clusters", clusters)
    written = pd.read_parquet(out)
    assert written["cluster"].tolist() == wanted.labels.tolist()
    assert written["cell"].tolist() == table["cell"].tolist()
    assert pd.read_csv(clusters)["size"].tolist() == wanted.sizes.tolist()
    found = answer("combine", folder, "--columns", "run*")
    assert found["sizes"] == wanted.sizes.tolist()
    for flags, word in (
        (["--floaters", tmp_path / "weak.csv"], "--floaters needs all labels in memory"),
        (["--known", "run1"], "--known needs all labels"),
        (["-o", out], "is there already"),
        (["-o", tmp_path / "c.csv"], "a folder of Parquet parts"),
        (["--memory-limit", "little"], "--memory-limit must be bytes"),
    ):
        assert word in refused("combine", folder, *flags)


def test_what_was_combined_names_its_ids_and_titles_its_report(tmp_path):
    table, folder, out = tmp_path / "table.csv", tmp_path / "run", tmp_path / "one.csv"
    table.write_text("Customer ID,spent,visits\nc1,1,2\nc2,2,1\nc3,8,9\nc4,9,8\n")
    ran("generate", table, "--id", "Customer ID", "-k", 2, "-n", 4, "-o", folder)
    ran("combine", folder, "-k", 2, "-o", out)
    assert pd.read_csv(out)["Customer ID"].tolist() == ["c1", "c2", "c3", "c4"]
    assert open_source(folder).id_name == "Customer ID"  # by which the explorer's export goes
    run("combine", LABELS, "--id", "bead", *FORM, "-k", 3, "--save", tmp_path / "answer")
    cs.report(tmp_path / "answer", tmp_path / "page.html")
    assert "<title>beads_labels.csv: 3 clusters of 300 objects" in (tmp_path / "page.html").read_text()
    assert cs.combine(LABELS, 3, columns="form*", id_column="bead").source == "beads_labels.csv"


def families_in(labels):
    return families_of(check_problem(cs.Ensemble(labels)))


def test_a_saved_answer_and_its_report_tell_of_families(tmp_path):
    labels = load_beads_labels()
    one = cs.combine(labels, 3)
    assert [{labels.names[i][:-1] for i in family} for family in one.families] == [{"form", "both"}, {"color"}]
    assert "families    the clusterings fall into 2 families" in repr(one)
    one.save(tmp_path / "one")
    again = cs.consensus.Consensus.load(tmp_path / "one")
    assert [family.tolist() for family in again.families] == [family.tolist() for family in one.families]
    cs.report(again, tmp_path / "one.html")
    page = (tmp_path / "one.html").read_text()
    assert page.count("2 families (of 10 and 6)") == 2, "in the answer, and where the consensus is described"
    shuffled = labels[np.random.default_rng(0).permutation(labels.n_objects)]
    assert [f.tolist() for f in cs.combine(shuffled, 3).families] == [f.tolist() for f in one.families]
    assert cs.combine(labels[:, ["form1", "form2", "form3", "form4", "form5", "form6"]], 3).families == []


def near(truth, draw, share=0.05):
    return np.where(draw.random(len(truth)) < share, draw.integers(0, 3, len(truth)), truth)


def test_families_of_many_clusterings_have_all_of_them():
    draw, objects = np.random.default_rng(0), np.arange(600)
    labels = [near(objects % 3, draw) for _ in range(60)] + [near(objects // 200, draw) for _ in range(140)]
    found = families_in(np.stack(labels, axis=1))
    assert [one.tolist() for one in found] == [list(range(60, 200)), list(range(60))]


def test_objects_that_are_missing_make_no_families():
    """Those of sites or subsamples are missing together, which says nothing of the labels."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 3, (600, 8))
    labels[:200, :4] = labels[400:, 4:] = -1
    assert families_in(labels) == []
    apart = np.repeat(draw.integers(0, 3, (600, 1)), 8, axis=1)  # the same everywhere, but no objects in common
    apart[:300, :4] = apart[300:, 4:] = -1
    assert families_in(apart) == []
    objects = np.arange(600)
    labels = np.stack([near(truth, draw) for truth in (objects % 3, objects // 200) for _ in range(4)], axis=1)
    labels[draw.random(labels.shape) < 0.3] = -1
    assert sorted(one.tolist() for one in families_in(labels)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    holes = np.column_stack([np.full(600, -1), objects % 3, np.where(objects < 300, objects // 100, -1)])
    shared = shared_information(holes)
    assert np.isnan(shared[0, 1])
    assert shared[1, 2] < 0.01


def test_no_pool_has_families(data_folder):
    files = sorted((data_folder / "pools").glob("*.npz"))
    assert files
    for file in files:
        with np.load(file) as held:
            labels = next(held[name] for name in held.files if held[name].ndim == 2)
        assert families_in(labels if len(labels) > labels.shape[1] else labels.T) == [], file.name
