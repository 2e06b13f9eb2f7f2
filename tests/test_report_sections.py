"""The sections of reports say what Python says."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.datasets import load_beads, load_beads_labels


def test_every_report_shows_the_two_numbers_of_the_consensus(tmp_path):
    ens = load_beads_labels()
    meta = cs.organize(ens, 3)
    one = meta.consensus()
    cs.report(meta, tmp_path / "page.html", data=load_beads(), figures=tmp_path / "parts")
    objects = pd.read_csv(tmp_path / "parts" / "objects.csv", index_col="id")
    np.testing.assert_allclose(objects["confidence"], one.confidence, atol=1e-6)
    np.testing.assert_allclose(objects["support"], one.support, atol=1e-6)
    groups = pd.read_csv(tmp_path / "parts" / "groups.csv", index_col="group")
    assert groups.index.tolist() == sorted(set(meta.groups))
    for group in groups.index:
        found = meta.consensus(group)
        np.testing.assert_allclose(objects[f"confidence{group}"], found.confidence, atol=1e-6)
        np.testing.assert_allclose(objects[f"support{group}"], found.support, atol=1e-6)
        assert groups.loc[group, "support"] == pytest.approx(found.support.mean())
        assert groups.loc[group, "floaters"] == len(found.floating)
    clusters = pd.read_csv(tmp_path / "parts" / "clusters.csv")
    assert clusters["floaters"].sum() == len(one.floating) == len(cs.consensus.floaters(ens, one))


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The folder of a report of clusterings beside the data and what is known of them."""
    folder, beads = tmp_path_factory.mktemp("told"), load_beads()
    options = {"data": beads, "known": beads.labels, "n_shuffles": 0, "figures": folder / "parts"}
    cs.report(load_beads_labels(), folder / "page.html", **options)
    return folder


def test_known_labels_are_told_by_their_names(told):
    clusters = pd.read_csv(told / "parts" / "clusters.csv")
    assert set(clusters["most_frequent_shape"]) <= set(load_beads().labels["shape"])
    assert "ball" in (told / "parts" / "tiles.svg").read_text() or "ball" in (told / "page.html").read_text()


def test_scores_are_those_of_python(told):
    beads, ens = load_beads(), load_beads_labels()
    table = pd.read_csv(told / "parts" / "clusterings.csv", index_col="clustering")
    scores = cs.meta.score(ens, beads, known=beads.labels).set_index("name")
    for name in ("compactness", "accuracy:shape", "accuracy:color"):
        np.testing.assert_allclose(table.loc[scores.index, name], scores[name])
