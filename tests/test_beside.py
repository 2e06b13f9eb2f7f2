"""The benchmarks beside peers: one task run for real, absent peers, and the page that is rendered from what was kept."""

import gzip
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.beside.collect import collect, conditions, run_side, write
from benchmarks.beside.notes import NOTES
from benchmarks.beside.peers import PEERS, SIDES, Peer
from benchmarks.beside.render import PAGE, behind, load, load_more, ratios, render
from benchmarks.beside.task import Task, ari, difference, matched_ari
from benchmarks.beside.tasks import TASKS
from benchmarks.beside.tasks.labels import noisy
from benchmarks.how_many import figures, row_of, write_labels
from benchmarks.how_many_sets import cloud, planted

ASIDE = {
    ("scikit_learn", "kmeans_of_labels"): "k-means",
    ("plain", "nothing"): "a function that is not there",
    ("clusim", "nmi"): "a peer that is not there",
}
SMALL = Task("quadratic", "small", "small", "small", lambda: noisy(300, 5, 3, 0.3), "quadratic", ASIDE, "ARI", ari)


@pytest.fixture
def found():
    """What `collect` gives for it."""
    cost = {"runs": 3, "cpu_s": 1.0, "wall_s": 2.0, "added_mb": 3.0, "peak_mb": 90.0, "quality": 0.9, "version": "7.8"}
    sides = [
        {"side": "consilience", "function": "quadratic", **cost},
        {"side": "scikit_learn", "function": "kmeans_of_labels", **cost, "cpu_s": 25.0},
        {"side": "plain", "function": "nothing", "failed": "no such function"},
        {"side": "clusim", "function": "nmi", "absent": True},
    ]
    return {"task": "quadratic", **conditions(), "sides": sides}


@pytest.mark.slow
def test_sides_are_run_and_judged():
    ours, peer, failed, absent = collect(SMALL, None)["sides"]
    assert ours["runs"] == peer["runs"] == len(peer["cpu_s_of_runs"]) == 5
    assert ours["cpu_s"] == pytest.approx(np.median(ours["cpu_s_of_runs"]), abs=1e-4)
    assert ours["peak_mb"] > 30
    assert min(ours["quality"], peer["quality"]) > 0.8
    assert ours["n_clusters"] == 3
    assert "nothing" in failed["failed"]
    assert absent.items() >= {"side": "clusim", "function": "nmi", "absent": True}.items()


def test_kept_sides_are_not_run_again(found, monkeypatch):
    monkeypatch.setitem(TASKS, "quadratic", SMALL)
    found |= {"date": "2001-02-03", "load": 99.5}
    *kept, again = collect(SMALL, None, only=["clusim"], kept=found)["sides"]
    assert kept == [row | {"date": "2001-02-03", "load": 99.5} for row in found["sides"][:-1]]
    assert again.items() >= found["sides"][-1].items()
    assert again["date"] > "2001-02-03"
    found["sides"] = [*kept, again]
    conditions_told = render({"quadratic": found})
    assert "to 99.5, under other load" in conditions_told
    assert f"2001-02-03 to {again['date']}" in conditions_told


def test_a_difference_is_from_our_answer_also_where_ours_was_kept(found, monkeypatch):
    ran = []

    def run_side(side, function, *_):
        ran.append(side)
        return {"runs": 1}, [np.array([1.0, 2.0 if side == "consilience" else 2.5])]

    monkeypatch.setattr("benchmarks.beside.collect.run_side", run_side)
    task = replace(SMALL, score=difference)
    ours, peer, *_ = collect(task, None, only=["scikit_learn"], kept=found)["sides"]
    assert (ran, ours["quality"], peer["quality"]) == (["consilience", "scikit_learn"], 0, 0.5)


def test_killed_and_out_of_time_are_told_apart(tmp_path, monkeypatch):
    for code, said in (
        ("while True: pass", "not done in 1 CPU-seconds"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed, as processes are where memory runs out"),
    ):
        monkeypatch.setattr(Peer, "command", lambda *_, code=code: [sys.executable, "-c", code])
        assert run_side("plain", "nothing", {}, tmp_path, None, limit=1) == ({"failed": said}, [])


def test_who_is_ahead(found):
    ours, peer, *_ = found["sides"]
    ours |= {"cpu_s": 1.0, "quality": 0.9}
    found_so = ((2, 0.905, None), (2, 0.95, "better"), (0.5, 0.5, "faster"), (0.5, 1, "faster and better"))
    for cpu, quality, said in found_so:
        peer |= {"cpu_s": cpu, "quality": quality}
        assert behind(SMALL, found).get(("scikit_learn", "kmeans_of_labels")) == said


def test_page_says_what_was_kept(tmp_path, monkeypatch, found):
    monkeypatch.setitem(TASKS, "quadratic", SMALL)
    assert [ratio for _, ratio in ratios(found)] == [25]
    write(found, tmp_path)
    page = render(load(tmp_path))
    assert "| small | scikit-learn: k-means | 25 | .900 / .900 | 3 / 3 |" in page
    assert "| scikit-learn, k-means | 25.0 | 25 | 2.00 | 3 | .900 |  | 3 |" in page
    assert "| plain NumPy, a function that is not there | no such function |" in page
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
            # in the line on how to call it, or defined at the top of the file
            defined = rf"CODE_FOLDER \S*\b{function}\b" if file.suffix == ".m" else rf"^(def )?(\w+, )*{function}\b"
            assert re.search(defined, file.read_text(), re.MULTILINE), (side, function)
    assert len(TASKS) >= 10
    assert len(PEERS) - 1 >= 8


def test_committed_page_agrees_with_its_figures():
    assert PAGE.read_text(encoding="utf-8") == render(load(), **load_more())
    assert {path.name for path in Path(PAGE).parent.glob("*.png")} >= {"beside.png", "growth.png"}


def test_whatever_is_slower_or_worse_is_explained():
    compared = 0
    for name, kept in load().items():
        for peer in behind(TASKS[name], kept) if "sides" in kept else ():
            assert NOTES.get((name, *peer)), (name, peer)
        compared += bool("sides" in kept and ratios(kept))
    assert compared >= 10


def test_answers_to_how_many_are_judged_and_counted():
    refs = np.array([[1, 1, 1, 2, 2, 2, 0], [1, 2, 3, 1, 2, 3, 1]]).T
    told = [row_of("b_x", refs, 2, np.array([0, 0, 0, 1, 1, 1, 1]), sure=0.95, doubt=False, cpu_s=1.0)]
    assert (told[0]["ari"], told[0]["right"]) == (1, True)
    bad = row_of("a_x", refs, "auto", np.array([0, 1, 0, 1, 0, 1, 2]), sure=0.95, doubt=False, cpu_s=1.0)
    whole = row_of("c_x", refs, "auto", np.array([0, 0, 0, 1, 1, -1, -1]), sure=0.2, doubt=True, cpu_s=1.0)
    assert (bad["k"], bad["right"], whole["right"]) == (3, True, True)
    assert whole["ari"] < 1  # what was left out of the clusters is a cluster
    found = figures([bad, whole, *told])
    assert (found["right"], found["right_odd"], found["right_doubted"], found["firm"]) == (3, 2, 1, 2)
    assert found["sure_and_bad"] == ["a_x"]


def test_labels_of_the_suite_are_written_as_its_authors_do(tmp_path):
    for k, labels in ((3, [2, 0, 1, -1]), ("auto", [0, 1, 1, 0]), (4, [0, 1, 2, 2])):
        write_labels(tmp_path, "fcps_two_words", np.array(labels), k)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.gz")}
    assert files == {"consilience/fcps/two_words.result3.gz", "consilience_auto/fcps/two_words.result2.gz"}
    with gzip.open(tmp_path / "consilience/fcps/two_words.result3.gz", "rt") as file:
        assert file.read() == "consilience\n3\n1\n2\n0\n"


def test_planted_sets_and_clouds_stay_what_they_are():
    X, refs = planted(7)
    assert (*X.shape, int(refs.max()), round(float(X.sum()), 4)) == (3582, 20, 19, 3105.0273)
    assert len({round(float(cloud(seed)[0].std()), 6) for seed in range(6)}) == 6
