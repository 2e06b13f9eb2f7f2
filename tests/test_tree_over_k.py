"""The tree over k and the curve of stability: edges against their definition, the layout, and what is drawn."""

import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import run as consilience
from consilience.consensus import Consensus
from consilience.reports import draw, report
from consilience.reports.consensus import members_figure
from consilience.reports.scales import scales_figure
from consilience.reports.tree_over_k import _places, tree_over_k, tree_over_k_edges
from samples import refuses


@pytest.fixture(scope="module")
def ens():
    """Noisy copies of eight blocks, at several finenesses."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(8), 25)
    runs = []
    for k in (2, 4, 8, 8, 4, 8):
        run = truth * k // 8
        moved = rng.random(200) < 0.15
        run[moved] = rng.integers(k, size=int(moved.sum()))
        runs.append(run)
    return cs.Ensemble(runs)


@pytest.fixture(scope="module")
def scaled(ens):
    """A consensus with three scales."""
    answers = [cs.combine(ens, k, "evidence") for k in (2, 4, 8)]
    scales = pd.DataFrame({"n_clusters": [8, 4, 2], "stability": [0.9, 1.0, 1.0], "sem": 0.01})
    scales["real"], scales["confidence"] = scales["stability"] > 0.95, 0.9
    curve = pd.DataFrame({"n_clusters": range(2, 10), "stability": 0.7, "sem": 0.01})
    labels = np.stack([one.labels for one in answers], 1)
    confidence = np.stack([one.confidence for one in answers], 1)
    found = {"scales": scales, "curve": curve, "scale_labels": labels, "scale_confidence": confidence}
    return replace(answers[-1], **found)


def plain_edges(upper, lower):
    both = [(a, b) for a, b in zip(upper, lower, strict=True) if a >= 0 and b >= 0]
    found = {}
    for pair in sorted(set(both)):
        n = both.count(pair)
        found[pair] = n, n / sum(a == pair[0] for a, _ in both), n / sum(b == pair[1] for _, b in both)
    return found


def test_edges_are_what_the_definition_says_also_with_missing_labels(ens):
    labels = ens.labels[:, [0, 1, 2]].copy()
    labels[np.random.default_rng(1).random(labels.shape) < 0.1] = -1
    edges = tree_over_k_edges(labels[:, [2, 0, 1]])  # in any order
    assert edges["level"].unique().tolist() == [0, 1]
    for level in (0, 1):
        some = edges[edges["level"] == level]
        assert (some["from_k"].unique().tolist(), some["to_k"].unique().tolist()) == ([2 << level], [4 << level])
        found = {(r.from_cluster, r.to_cluster): (r.n, r.share_of_from, r.share_of_to) for r in some.itertuples()}
        wanted = plain_edges(labels[:, level], labels[:, level + 1])
        assert found.keys() == wanted.keys()
        for pair, values in wanted.items():
            assert found[pair] == pytest.approx(values)


def test_edges_speak_in_the_names_that_were_given():
    edges = tree_over_k_edges({"coarse": ["a", "a", "b"], "fine": ["x", "y", "z"]})
    assert edges[["from_cluster", "to_cluster"]].to_numpy().tolist() == [["a", "x"], ["a", "y"], ["b", "z"]]
    axis = tree_over_k({"coarse": ["a", "a", "b"], "fine": ["x", "y", "z"]}).axes[0]
    assert {"a", "b", "x", "y", "z", "50 %"} <= {text.get_text() for text in axis.texts}


def test_few_edges_cross():
    names = np.random.default_rng(0).permutation(12)  # a tree whose nodes have numbers in no order: nothing need cross
    fine = np.repeat(np.arange(12), 3)
    edges = tree_over_k_edges(np.stack([fine // 6, fine // 3, names[fine]], 1))
    places = _places([2, 4, 12], edges)
    for level in (0, 1):
        some = edges[edges["level"] == level]
        ends = [(places[level][row.from_cluster], places[level + 1][row.to_cluster]) for row in some.itertuples()]
        assert not any(a < c and b > d for (a, b), (c, d) in product(ends, ends))
    parents = places[1][np.argsort(places[1])]
    np.testing.assert_allclose(parents, [1, 4, 7, 10])  # in the middle of their three children


def test_the_picture_of_scales_has_confidence_and_shares(scaled, tmp_path):
    figure = tree_over_k(scaled)
    axis = figure.axes[0]
    dots = axis.collections[0]
    assert len(dots.get_offsets()) == 14
    at = [(s, c) for s, k in enumerate((2, 4, 8)) for c in range(k)]
    means = [scaled.scale_confidence[scaled.scale_labels[:, s] == c, s].mean() for s, c in at]
    np.testing.assert_allclose(dots.get_array(), means)
    sizes = np.concatenate([np.bincount(column) for column in scaled.scale_labels.T])
    large = dots.get_sizes() > 60
    np.testing.assert_allclose((dots.get_sizes() / sizes)[large], dots.get_sizes()[0] / sizes[0])
    for path in (tmp_path / "tree.png", tmp_path / "tree.svg"):
        draw(scaled, path, "tree_over_k")
        assert path.stat().st_size > 5000


def test_any_score_colors_an_ensemble_and_wrong_ones_are_refused(ens):
    some = ens[:, [0, 1, 2]]
    score = pd.Series(np.arange(200.0), name="depth")
    score[:10] = np.nan
    figure = tree_over_k(some, color=score)
    assert figure.axes[1].get_ylabel() == "mean depth"
    assert figure.axes[0].collections[0].get_array()[0] == pytest.approx(np.nanmean(score[some.labels[:, 0] == 0]))
    assert len(tree_over_k(some).axes) == 1
    refuses("one number for each of 200 objects", tree_over_k, some, color=[1.0, 2.0])
    refuses("this consensus has no scales", tree_over_k, cs.combine(some, 2, "vote"))
    refuses("has room for 60 clusterings", tree_over_k, np.zeros((5, 61), int))


def test_scales_are_drawn_beside_what_clouds_reach(scaled, tmp_path):
    axis = scales_figure(scaled).axes[0]
    assert [text.get_text() for text in axis.texts] == ["8", "4", "2"]
    levels = {
        line.get_label(): line.get_ydata()[0]
        for line in axis.lines
        if "enough" in line.get_label() or "ever" in line.get_label()
    }
    assert sorted(levels.values()) == [0.85, 0.95]
    found = {dots.get_label(): len(dots.get_offsets()) for dots in axis.collections if "scale" in str(dots.get_label())}
    assert found == {"a scale, beyond clouds": 2, "a scale, cannot be told": 1}
    draw(scaled, tmp_path / "scales.png", "scales")
    assert (tmp_path / "scales.png").stat().st_size > 5000
    lone = replace(scaled, curve=scaled.curve.iloc[:1], scales=scaled.scales.iloc[2:])  # copies of one grouping
    assert scales_figure(lone).axes[0].get_xlim() == (1, 3)
    refuses("no curve of stability", scales_figure, replace(scaled, curve=None))


def test_members_to_drop_are_marked(ens, tmp_path):
    rng = np.random.default_rng(0)
    one = cs.combine(np.column_stack([ens.labels, rng.integers(8, size=200)]), 8, "vote", keep_all=True)
    assert np.flatnonzero(one.members["better_without"]).tolist() == [6]
    left, right = members_figure(one).axes
    kept, dropped = (dots.get_offsets() for dots in left.collections[1:])
    assert (len(kept), dropped.tolist()) == (6, [[pytest.approx(one.members["reliability"][6]), 0.0]])
    assert right.collections[2].get_offsets()[0, 0] == pytest.approx(one.members["weight"][6])
    refuses("no table of the clusterings", members_figure, replace(one, members=None))


@pytest.mark.slow
def test_the_report_of_a_saved_consensus_has_scales_trees_and_members(scaled, tmp_path):
    scaled.save(tmp_path / "kept")
    again = Consensus.load(tmp_path / "kept")
    np.testing.assert_array_equal(again.scale_labels, scaled.scale_labels)
    pd.testing.assert_frame_equal(again.scales, scaled.scales)
    known = np.repeat(["a", "b", "c", "d"], 50)
    report(again, tmp_path / "page.html", known={"kind": known}, figures=tmp_path / "parts")
    names = {path.name for path in (tmp_path / "parts").iterdir()}
    pictures = {"tree_over_k.svg", "stability_by_k.png", "members.png"}
    assert pictures | {"scales.csv", "members.csv", "clusters.csv"} <= names
    edges = pd.read_csv(tmp_path / "parts" / "tree_over_k_edges.csv")
    pd.testing.assert_frame_equal(edges, tree_over_k_edges(scaled), check_dtype=False)


@pytest.mark.slow
def test_the_report_of_clusterings_looks_for_the_number_of_all_and_not_of_every_group(ens, tmp_path, monkeypatch):
    asked = []
    combine_file = sys.modules["consilience.consensus.combine"]  # the package's name for it is the function
    found = combine_file.find_stable
    monkeypatch.setattr(combine_file, "find_stable", lambda *given: asked.append(given) or found(*given))
    known = {"kind": np.repeat(["a", "b"], 100)}
    report(ens, tmp_path / "page.html", n_clusters="auto", n_groups=2, known=known, n_shuffles=3)
    assert len(asked) == 1
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "At which numbers of clusters does the ensemble agree with itself?" in text


def test_the_command_writes_its_tables(ens, tmp_path):
    ens.to_frame().add_prefix("run").to_csv(tmp_path / "labels.csv", index=False)
    names = ("clusters", "members", "scales")
    files = [word for name in names for word in (f"--{name}", tmp_path / f"{name}.csv")]
    tree = ["--tree", tmp_path / "tree.png"]
    done = consilience("combine", tmp_path / "labels.csv", "-k", "auto", "--method", "walk", *files, *tree)
    assert done.returncode == 0, done.stderr
    one = cs.combine(tmp_path / "labels.csv", "auto", "walk")
    for name in names:
        written = pd.read_csv(tmp_path / f"{name}.csv")
        pd.testing.assert_frame_equal(written, getattr(one, name), check_dtype=False)
    assert (tmp_path / "tree.png").stat().st_size > 5000
