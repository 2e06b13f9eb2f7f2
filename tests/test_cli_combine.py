"""consilience combine, as a person meets it."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import answer, ran, refused, run
from consilience.consensus import METHODS
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.trust.tables import families_of, shared_information
from consilience.datasets import load_beads_labels, noisy_labels, sample_path
from consilience.inputs import open_source

LABELS = str(sample_path("beads_labels.csv"))
FORM = ["--columns", "form1,form2,form3,form4,form5,form6"]


def test_labels_and_confidence_come_out(tmp_path):
    out, weak = tmp_path / "consensus.csv", tmp_path / "floaters.csv"
    ran("combine", LABELS, "--id", "bead", "-t", "shape,color", "-k", 3, "-o", out, "--floaters", weak)
    table = pd.read_csv(out, index_col="bead")
    assert list(table.columns) == ["cluster", "confidence", "support"]
    assert list(table.index[:2]) == ["b001", "b002"]
    assert set(table["cluster"]) == {0, 1, 2}
    assert table["confidence"].between(0, 1).all()
    assert {"bead", "cluster", "support", "second"} <= set(pd.read_csv(weak).columns)


def test_json_is_the_library_s_answer():
    found = answer("combine", LABELS, "--id", "bead", *FORM, "-k", 3, "--method", "vote")
    expected = cs.combine(cs.Ensemble(pd.read_csv(LABELS).filter(regex="form")), 3, "vote")
    assert found["sizes"] == expected.sizes.tolist()
    assert found["anmi"] == expected.anmi
    assert found["scales"] is None


@pytest.mark.parametrize(
    ("suffix", "read"), [("csv", pd.read_csv), ("tsv", pd.read_table), ("parquet", pd.read_parquet)]
)
def test_memberships_in_every_format(tmp_path, suffix, read):
    out = tmp_path / f"c.{suffix}"
    ran("combine", LABELS, "--id", "bead", *FORM, "-k", 3, "--method", "mcla", "--membership", "-o", out)
    assert [c for c in read(out).columns if c.startswith("membership")] == [
        "membership_0",
        "membership_1",
        "membership_2",
    ]


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


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method):
    found = answer("combine", LABELS, "--id", "bead", *FORM, "-k", 3, "--method", method)
    assert found["method"] == method


def test_parquet_in_row_blocks(tmp_path):
    ens = noisy_labels(500, 4, 8, 0.2, random_state=0)[0]
    table = pd.DataFrame(ens.labels, columns=[f"run{j}" for j in range(8)])
    table.insert(0, "cell", [f"c{i}" for i in range(500)])
    file, out, folder = tmp_path / "labels.parquet", tmp_path / "consensus", tmp_path / "labels"
    table.to_parquet(file, row_group_size=99, index=False)
    folder.mkdir()
    table[:200].to_parquet(folder / "a.parquet", index=False)
    table[200:].to_parquet(folder / "b.parquet", index=False)
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
    assert "to drop" not in repr(one)
    one.save(tmp_path / "one")
    again = cs.consensus.Consensus.load(tmp_path / "one")
    assert [family.tolist() for family in again.families] == [family.tolist() for family in one.families]
    cs.report(again, tmp_path / "one.html")
    page = (tmp_path / "one.html").read_text()
    assert page.count("2 families (of 10 and 6)") == 2, "in the answer, and where the consensus is described"
    assert "No clustering is so far from the others" not in page
    assert "better left out" not in page
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
    labels = np.stack(
        [near(objects % 3, draw) for _ in range(4)] + [near(objects // 200, draw) for _ in range(4)], axis=1
    )
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
