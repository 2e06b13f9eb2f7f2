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


def test_known_labels_are_told_by_their_names(tmp_path):
    beads = load_beads()
    cs.report(
        load_beads_labels(),
        tmp_path / "page.html",
        data=beads,
        known=beads.labels,
        n_shuffles=0,
        figures=tmp_path / "parts",
    )
    clusters = pd.read_csv(tmp_path / "parts" / "clusters.csv")
    assert set(clusters["most_frequent_shape"]) <= set(beads.labels["shape"])
    assert "ball" in (tmp_path / "parts" / "tiles.svg").read_text() or "ball" in (tmp_path / "page.html").read_text()


def test_scores_are_those_of_python(tmp_path):
    beads, ens = load_beads(), load_beads_labels()
    cs.report(ens, tmp_path / "page.html", data=beads, known=beads.labels, n_shuffles=0, figures=tmp_path / "parts")
    table = pd.read_csv(tmp_path / "parts" / "clusterings.csv", index_col="clustering")
    scores = cs.meta.score(ens, beads, known=beads.labels).set_index("name")
    for name in ("compactness", "accuracy:shape", "accuracy:color"):
        np.testing.assert_allclose(table.loc[scores.index, name], scores[name])
