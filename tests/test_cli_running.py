"""Options of the verbs that share out their work: a cluster, a log, words on the way, a time limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import run
from consilience.datasets import sample_path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
BEADS = sample_path("beads.csv")
COMMAND = [sys.executable, "-m", "consilience"]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_log_and_verbose(tmp_path):
    log = tmp_path / "log.jsonl"
    done = run("generate", BEADS, "--id", "bead", "-k", 4, "-n", 30, "-o", tmp_path / "run", "--log", log, "--verbose")
    assert done.returncode == 0, done.stderr
    found = lines(log)
    assert sorted(line["unit"] for line in found if line["what"] == "clustering") == list(range(30))
    assert (found[0]["verb"], found[-1]["status"]) == ("generate", "done")
    assert "clusterings: 30 of 30 in " in done.stderr
    assert "generate: done after " in done.stderr
    done = run("combine", tmp_path / "run", "--log", log)
    assert done.returncode == 0, done.stderr
    assert "after" not in done.stderr, "nothing is said unless it is asked for"
    assert lines(log)[-1]["verb"] == "combine", "a log is added to"


def test_no_scheduler_there(tmp_path):
    done = run("combine", sample_path("beads_labels.csv"), "--id", "bead", "--scheduler", "nonsense://here")
    assert done.returncode == 2
    assert "is not the address of a Dask scheduler" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_time_limit_that_nothing_meets(tmp_path):
    words = ["generate", BEADS, "--id", "bead", "-k", 4, "-n", 2, "-o", tmp_path / "run"]
    done = run(*words, "--base", "KMeans(n_init=20000)", "--time-limit", 0.05)
    assert done.returncode == 2
    assert "none of the first 2 clusterings could be made: it took longer than its limit" in done.stderr


def test_bad_time_limit(tmp_path):
    done = run("generate", BEADS, "--id", "bead", "-n", 2, "-o", tmp_path / "run", "--time-limit", 0)
    assert done.returncode == 2
    assert "time_limit must be" in done.stderr


@pytest.mark.slow
def test_a_local_cluster_gives_the_same_and_leaves_nothing(tmp_path):
    pytest.importorskip("distributed")
    words = ["generate", str(BEADS), "--id", "bead", "-k", "4", "-n", "60"]
    there = subprocess.run(
        [*COMMAND, *words, "-o", tmp_path / "there", "--scheduler", "local:2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert there.returncode == 0, there.stderr
    assert there.stderr == ""
    assert run(*words, "-o", tmp_path / "here").returncode == 0
    one, other = (cs.Ensemble.load(tmp_path / name) for name in ("there", "here"))
    np.testing.assert_array_equal(one.labels, other.labels)


@pytest.mark.slow
def test_sigterm_ends_a_local_cluster_too(tmp_path):
    pytest.importorskip("distributed")
    data = tmp_path / "d.csv"
    pd.DataFrame(np.random.default_rng(0).normal(size=(2000, 8)), columns=list("abcdefgh")).to_csv(data, index=False)
    words = [
        *COMMAND,
        "generate",
        str(data),
        "-n",
        "100000",
        "-k",
        "9",
        "-o",
        str(tmp_path / "run"),
        "--scheduler",
        "local:2",
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while not list((tmp_path / "run").glob("part-*.parquet")) and time.monotonic() < deadline:
            time.sleep(0.1)
        process.terminate()
        said = process.communicate(timeout=30)[1]  # workers would hold the pipes
    assert process.returncode == 143, said
    assert "the same command goes on" in said
    assert "Traceback" not in said
