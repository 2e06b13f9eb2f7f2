"""The benchmarks beside peers: one task run for real, absent peers, and the page that is rendered from what was kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.beside.collect import collect, write
from benchmarks.beside.peers import PEERS, SIDES
from benchmarks.beside.render import PAGE, behind, load, load_growth, ratios, render
from benchmarks.beside.task import Task, ari, difference, matched_ari
from benchmarks.beside.tasks import TASKS
from benchmarks.beside.tasks.labels import noisy


@pytest.fixture(scope="module")
def small():
    """A task of a moment, with a peer that is here and one that is not."""
    return Task(
        "quadratic",
        "small",
        "small",
        "small",
        lambda: noisy(300, 5, 3, 0.3),
        "quadratic",
        {("scikit_learn", "kmeans_of_labels"): "k-means", ("clusim", "nmi"): "absent"},
        "ARI",
        ari,
    )


@pytest.fixture(scope="module")
def found(small):
    return collect(small, None)


def test_both_sides_are_run_and_judged_and_absent_peers_named(found):
    ours, peer, absent = found["sides"]
    assert ours["runs"] == peer["runs"] == len(peer["cpu_s_of_runs"]) == 5
    assert ours["cpu_s"] == pytest.approx(np.median(ours["cpu_s_of_runs"]), abs=1e-4)
    assert ours["peak_mb"] > 30
    assert min(ours["quality"], peer["quality"]) > 0.8
    assert ours["n_clusters"] == 3
    assert absent == {"side": "clusim", "function": "nmi", "absent": True}
    assert [(row["side"], ratio) for row, ratio in ratios(found)] == [("scikit_learn", peer["cpu_s"] / ours["cpu_s"])]


def test_a_side_that_fails_says_why(small, found):
    wrong = Task(
        **{**vars(small), "inputs": lambda: ({"labels": np.zeros((4, 2), int), "k": np.array(9)}, np.zeros(4))}
    )
    rows = collect(wrong, None)["sides"]
    assert "n_clusters" in rows[0]["failed"]
    assert "n_samples=4" in rows[1]["failed"]


def test_who_is_ahead(small, found):
    found = json.loads(json.dumps(found))
    ours, peer, _ = found["sides"]
    ours |= {"cpu_s": 1.0, "quality": 0.9}
    for cpu, quality, said in (
        (2, 0.905, None),
        (2, 0.95, "better"),
        (0.5, 0.5, "faster"),
        (0.5, 1, "faster and better"),
    ):
        peer |= {"cpu_s": cpu, "quality": quality}
        assert behind(small, found).get(("scikit_learn", "kmeans_of_labels")) == said


def test_page_says_what_was_kept(tmp_path, monkeypatch, small, found):
    monkeypatch.setitem(TASKS, "quadratic", small)
    write(found, tmp_path)
    page = render(load(tmp_path), None)
    assert f"scikit-learn {found['sides'][1]['version']}" in page
    assert "clusim: not on this machine" in page
    assert "evidence accumulation: not run yet" in page


def test_scores():
    truth = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    assert matched_ari(truth, truth[:, ::-1], truth) == 1
    assert matched_ari(truth, truth[:, :1], truth) == 0.5
    assert difference(None, np.array([1.0, 2]), np.array([1.0, 2.5])) == 0.5


def test_every_side_of_every_task_is_there():
    for task in TASKS.values():
        sides = [("consilience", function) for function in (task.ours, *task.also)]
        for side, function in (*sides, *task.peers):
            [file] = SIDES.glob(f"{side}.*")
            assert function in file.read_text(), (side, function)
    assert len(TASKS) >= 10
    assert len(PEERS) - 1 >= 8


def test_committed_page_agrees_with_its_figures():
    assert PAGE.read_text(encoding="utf-8") == render(load(), load_growth())
    assert {path.name for path in Path(PAGE).parent.glob("*.png")} >= {"beside.png", "growth.png"}


def test_whatever_is_slower_or_worse_is_explained():
    compared = 0
    for name, kept in load().items():
        for peer in behind(TASKS[name], kept) if "sides" in kept else ():
            assert TASKS[name].notes.get(peer), (name, peer)
        compared += bool("sides" in kept and ratios(kept))
    assert compared >= 10
