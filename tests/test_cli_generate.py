"""consilience generate and organize: a run, its groups, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from command_line import answer, ran, run
from consilience import Ensemble
from consilience.cli.generate import command, parse_base
from consilience.datasets import sample_path
from consilience.generation import METHODS

BEADS = sample_path("beads.csv")
TABLE = ("--id", "bead", "--known", "shape,color")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "run"
    done = ran("generate", BEADS, *TABLE, "-k", 4, "-n", 80, "-o", folder)
    return folder, done


def test_generate_writes_a_run_that_goes_on_and_grows(made):
    folder, done = made
    ens = Ensemble.load(folder)
    assert (ens.n_clusterings, ens.n_objects) == (80, 300)
    assert ens.ids[0] == "b001"
    assert f"consilience organize {folder} --known-from {BEADS} --known shape,color" in done.stdout
    folder, _ = made
    before = Ensemble.load(folder)
    assert answer("generate", BEADS, *TABLE, "-k", 4, "-n", 90, "-o", folder)["n_clusterings"] == 90
    np.testing.assert_array_equal(Ensemble.load(folder).labels[:, :80], before.labels)
    folder, _ = made
    ran("generate", BEADS, *TABLE, "-o", folder, "-n", 5, "--around", 3, "--jitter", 0.1, "--json")
    info = Ensemble.load(folder).info
    assert (info["around"] == 3).sum() == 5


def test_bases_are_parsed_and_methods_completed():
    base = parse_base("HDBSCAN(min_cluster_size=12, cluster_selection_method='leaf')")
    assert type(base).__name__ == "HDBSCAN"
    assert base.min_cluster_size == 12
    assert type(parse_base("GaussianMixture")).__name__ == "GaussianMixture"
    mix = next(option for option in command.params if option.name == "methods").type
    completed = {text: [one.value for one in mix.shell_complete(None, None, text)] for text in ("a", "zipf+")}
    assert completed["a"] == ["auto"]
    assert set(completed["zipf+"]) >= {f"zipf+{name}" for name in METHODS}


def test_other_clusterers_and_several_numbers(tmp_path):
    base = ("--base", "AgglomerativeClustering()")
    ran("generate", BEADS, *TABLE, "-o", tmp_path / "run", "-n", 4, "-k", "3,5", *base, "--json")
    assert set(Ensemble.load(tmp_path / "run").n_clusters) <= {3, 5}


@pytest.mark.slow
def test_organize_prints_groups_and_writes_them(made, tmp_path):
    folder, _ = made
    out = tmp_path / "organized"
    ran("organize", folder, "--known-from", BEADS, *TABLE, "-g", 4, "--linkage", "ward", "-o", out, "--n-shuffles", 3)
    groups, clusterings = pd.read_csv(out / "groups.csv"), pd.read_csv(out / "clusterings.csv")
    assert groups["clusterings"].sum() == len(clusterings)
    assert clusterings["medoid"].sum() == 4
    objects = pd.read_csv(out / "consensus.csv")
    assert objects["bead"].tolist()[:2] == ["b001", "b002"]
    assert {"group1", "confidence4"} <= set(objects)
    made_files = {path.name for path in out.iterdir()}
    assert {"curve.png", "map.png", "tree_accuracy_shape.png", "scores_accuracy_color.png", "null.csv"} <= made_files


def test_organize_for_machines(made):
    found = answer("organize", made[0], "--height", 0.2)
    assert len(found["group_of"]) == found["n_clusterings"]
    assert len(found["groups"]) == max(found["group_of"])
    assert found["null"] is None


def test_known_labels_are_matched_by_name_even_unasked(made, tmp_path):
    shuffled = tmp_path / "shuffled.csv"
    pd.read_csv(BEADS).sample(frac=1, random_state=0).to_csv(shuffled, index=False)
    plain, mixed = (
        answer("organize", made[0], "--known-from", path, "-t", "shape", "-g", 3, "--n-shuffles", 0)
        for path in (BEADS, shuffled)
    )
    assert plain["groups"] == mixed["groups"]


def test_interrupted_it_says_how_to_go_on(made, monkeypatch):
    def stop(*args, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr("consilience.generation.generate", stop)
    done = run("generate", BEADS, *TABLE, "-k", 4, "-n", 500, "-o", made[0])
    assert done.returncode == 130
    assert "the same command goes on" in done.stderr
