"""consilience generate and organize: a run, its groups, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import run
from consilience import Ensemble
from consilience.cli.generate import command, parse_base
from consilience.datasets import sample_path
from consilience.generation import METHODS
from consilience.generation.recipes import usual_clusters

BEADS = sample_path("beads.csv")
TABLE = ("--id", "bead", "--known", "shape,color")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "run"
    done = run("generate", BEADS, *TABLE, "-k", 4, "-n", 80, "-o", folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_generate_writes_a_run_and_says_what_comes_next(made):
    folder, done = made
    ens = Ensemble.load(folder)
    assert (ens.n_clusterings, ens.n_objects) == (80, 300)
    assert ens.ids[0] == "b001"
    assert "80 clusterings of 300 objects, 4 clusters" in done.stdout
    assert "made by zipf 40, pca 40" in done.stdout
    best = ens.info["compactness"].idxmin()
    assert f"number {best}" in done.stdout
    assert f"consilience organize {folder} --known-from {BEADS} --known shape,color" in done.stdout


def test_the_same_command_goes_on(made):
    folder, _ = made
    before = Ensemble.load(folder)
    done = run("generate", BEADS, *TABLE, "-k", 4, "-n", 90, "-o", folder, "--json")
    assert json.loads(done.stdout)["n_clusterings"] == 90
    np.testing.assert_array_equal(Ensemble.load(folder).labels[:, :80], before.labels)


def test_more_like_this(made):
    folder, _ = made
    done = run("generate", BEADS, *TABLE, "-o", folder, "-n", 5, "--around", 3, "--jitter", 0.1, "--json")
    assert done.returncode == 0, done.stderr
    info = Ensemble.load(folder).info
    assert (info["around"] == 3).sum() == 5


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--n-clusters", "many"], "nor a range such as 5-20"),
        (["-k", "9-3"], "from 9 to 3"),
        (["--methods", "zipff"], "did you mean 'zipf'"),
        (["--base", "KMean()"], "did you mean 'KMeans'"),
        (["--base", "os.system('x')"], "is not a clusterer"),
        (["--base", "Birch(size=3)"], "size"),
        (["--jitter", "0.5"], "name the clustering with --around"),
        (["--around", "7"], "no store at"),
        (["--known", "form"], "form"),
        (["--id", "nobody"], "nobody"),
    ],
)
def test_mistakes_get_a_sentence(args, sentence, tmp_path):
    options = [*TABLE, *args] if "--known" not in args and "--id" not in args else args
    done = run("generate", BEADS, "-o", tmp_path / "run", "-n", 3, *options)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not (tmp_path / "run").exists()


def test_columns_of_text_are_categories_and_it_is_said(tmp_path):
    done = run("generate", BEADS, "--id", "bead", "-o", tmp_path / "run", "-n", 3)
    assert done.returncode == 0, done.stderr
    assert "2 categories" in done.stdout + done.stderr


def test_parse_base():
    base = parse_base("HDBSCAN(min_cluster_size=12, cluster_selection_method='leaf')")
    assert type(base).__name__ == "HDBSCAN"
    assert base.min_cluster_size == 12
    assert type(parse_base("GaussianMixture")).__name__ == "GaussianMixture"


def test_other_clusterers_and_several_numbers(tmp_path):
    done = run(
        "generate",
        BEADS,
        *TABLE,
        "-o",
        tmp_path / "run",
        "-n",
        4,
        "-k",
        "3,5",
        "--base",
        "AgglomerativeClustering()",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert set(Ensemble.load(tmp_path / "run").n_clusters) <= {3, 5}


def test_numbers_of_clusters_follow_the_table_where_none_is_given(tmp_path):
    rows = np.random.default_rng(0).normal(size=(10, 3))
    pd.DataFrame(rows, columns=["a", "b", "c"]).to_csv(tmp_path / "ten.csv", index=False)
    done = run("generate", tmp_path / "ten.csv", "-n", 8, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert set(Ensemble.load(tmp_path / "run").info["n_clusters"]) == {2, 3}
    done = run("generate", BEADS, *TABLE, "-n", 60, "-o", tmp_path / "beads")
    assert done.returncode == 0, done.stderr
    asked = Ensemble.load(tmp_path / "beads").info["n_clusters"]
    assert (asked.min(), asked.max()) == usual_clusters(300)


def test_methods_named_and_completed():
    said = "".join(run("generate", "--help").stdout.split())
    assert "--methodsauto|[zipf|pca|" in said
    mix = next(option for option in command.params if option.name == "methods").type
    completed = {text: [one.value for one in mix.shell_complete(None, None, text)] for text in ("a", "zipf+")}
    assert completed["a"] == ["auto"]
    assert completed["zipf+"] == [f"zipf+{name}" for name in METHODS]  # auto stands alone


def test_organize_prints_groups_and_writes_them(made, tmp_path):
    folder, _ = made
    out = tmp_path / "organized"
    done = run(
        "organize", folder, "--known-from", BEADS, *TABLE, "-g", 4, "--linkage", "ward", "-o", out, "--n-shuffles", 3
    )
    assert done.returncode == 0, done.stderr
    assert "in 4 groups" in done.stdout
    assert "3 shuffles" in done.stdout
    groups, clusterings = pd.read_csv(out / "groups.csv"), pd.read_csv(out / "clusterings.csv")
    assert groups["clusterings"].sum() == len(clusterings)
    assert clusterings["medoid"].sum() == 4
    objects = pd.read_csv(out / "consensus.csv")
    assert objects["bead"].tolist()[:2] == ["b001", "b002"]
    assert {"group1", "confidence4"} <= set(objects)
    made_files = {path.name for path in out.iterdir()}
    assert {"curve.png", "map.png", "tree_accuracy_shape.png", "scores_accuracy_color.png", "null.csv"} <= made_files


def test_organize_for_machines(made):
    done = run("organize", made[0], "--height", 0.2, "--json")
    found = json.loads(done.stdout)
    assert len(found["group_of"]) == found["n_clusterings"]
    assert len(found["groups"]) == max(found["group_of"])
    assert found["null"] is None


def test_organize_does_not_write_over_what_it_reads(tmp_path):
    table = tmp_path / "consensus.csv"
    table.write_bytes(sample_path("beads_labels.csv").read_bytes())
    done = run("organize", table, *TABLE, "-g", 3, "-o", tmp_path)
    assert done.returncode == 2
    assert "is also read" in done.stderr


def test_settings_of_the_clustering_are_its_own(made):
    done = run("generate", BEADS, *TABLE, "-o", made[0], "-n", 5, "--around", 3, "-k", 15)
    assert done.returncode == 2
    assert "--n-clusters is the clustering's own" in done.stderr


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["-g", "0"], "group"),
        (["-g", "3", "--height", "0.1"], "height"),
        (["--linkage", "median"], "median"),
        (["--known", "shape"], "--known-from"),
        (["-o", "RUN/inside"], "lies in the run itself"),
    ],
)
def test_organize_mistakes(args, sentence, made):
    done = run("organize", made[0], *[arg.replace("RUN", str(made[0])) for arg in args])
    assert done.returncode == 2
    assert sentence in done.stderr


def test_organize_a_table_of_labels():
    done = run("organize", sample_path("beads_labels.csv"), *TABLE, "-g", 3, "--n-shuffles", 2)
    assert done.returncode == 0, done.stderr
    assert "16 clusterings of 300 objects in 3 groups" in done.stdout


def test_known_labels_are_matched_by_name_even_unasked(made, tmp_path):
    shuffled = tmp_path / "shuffled.csv"
    pd.read_csv(BEADS).sample(frac=1, random_state=0).to_csv(shuffled, index=False)
    plain, mixed = (
        json.loads(
            run("organize", made[0], "--known-from", path, "-t", "shape", "-g", 3, "--n-shuffles", 0, "--json").stdout
        )
        for path in (BEADS, shuffled)
    )
    assert plain["groups"] == mixed["groups"]


def test_what_differs_from_the_run_is_named(made):
    done = run("generate", BEADS, *TABLE, "-k", 5, "-n", 80, "-o", made[0])
    assert "in its plan, n_clusters ([4] there, [5] asked)" in done.stderr
    done = run("generate", BEADS, *TABLE, "-k", 4, "-n", 80, "-o", made[0], "--columns", "width_mm,gloss")
    assert "the data, or their order, are not those it was made from" in done.stderr


def test_interrupted_it_says_how_to_go_on(made, monkeypatch):
    def stop(*args, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr("consilience.generation.generate", stop)
    done = run("generate", BEADS, *TABLE, "-k", 4, "-n", 500, "-o", made[0])
    assert done.returncode == 130
    assert "the same command goes on" in done.stderr


def test_what_lies_there_from_before_is_named(made, tmp_path):
    (tmp_path / "tree_accuracy_old.png").write_bytes(b"")
    done = run("organize", made[0], "-g", 2, "-o", tmp_path)
    assert "left there from before: tree_accuracy_old.png" in done.stdout


def test_what_was_found_out_and_how_columns_are_scaled_is_said(tmp_path):
    path = tmp_path / "d.csv"
    frame = pd.DataFrame({"a": np.arange(20) % 7 + 0.5, "b": np.arange(20) % 3})
    frame.to_csv(path, sep=";", decimal=",", index=False)
    done = run("generate", path, "-k", 2, "-n", 3, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "Scaling: 2 columns, each scaled to mean 0 and standard deviation 1." in lines
    assert any(line.startswith("d.csv: ") for line in lines), lines
