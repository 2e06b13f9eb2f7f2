"""Options of the verbs that share out their work: a cluster, a log, words on the way, a time limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import consilience as cs
from command_line import ran, refused, run
from consilience._check import InputError
from consilience.cli.inputs import open_clusterings
from consilience.datasets import sample_path
from consilience.inputs import as_ensemble

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
BEADS = sample_path("beads.csv")
COMMAND = [sys.executable, "-m", "consilience"]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_log_and_verbose(tmp_path):
    log = tmp_path / "log.jsonl"
    done = ran("generate", BEADS, "--id", "bead", "-k", 4, "-n", 30, "-o", tmp_path / "run", "--log", log, "--verbose")
    found = lines(log)
    assert sorted(line["unit"] for line in found if line["what"] == "clustering") == list(range(30))
    assert (found[0]["verb"], found[-1]["status"]) == ("generate", "done")
    assert "clusterings: 30 of 30 in " in done.stderr
    assert "generate: done after " in done.stderr
    done = ran("combine", tmp_path / "run", "--log", log)
    assert "after" not in done.stderr, "nothing is said unless it is asked for"
    assert lines(log)[-1]["verb"] == "combine", "a log is added to"


def test_no_scheduler_there(tmp_path):
    assert "is not the address of a Dask scheduler" in refused(
        "combine", sample_path("beads_labels.csv"), "--id", "bead", "--scheduler", "nonsense://here"
    )


@pytest.mark.slow
def test_a_time_limit_that_nothing_meets(tmp_path):
    words = ["generate", BEADS, "--id", "bead", "-k", 4, "-n", 2, "-o", tmp_path / "run"]
    assert "none of the first 2 clusterings could be made: it took longer than its limit" in refused(
        *words, "--base", "KMeans(n_init=20000)", "--time-limit", 0.05
    )


def test_a_local_cluster_misspelt():
    pytest.importorskip("distributed")
    assert "N is 1 or more" in refused(
        "combine", sample_path("beads_labels.csv"), "--id", "bead", "--scheduler", "local:0"
    )


@pytest.mark.slow
def test_a_local_cluster_gives_the_same_and_leaves_nothing(tmp_path):
    pytest.importorskip("distributed")
    words = ["generate", str(BEADS), "--id", "bead", "-k", "4", "-n", "60"]
    command = [*COMMAND, *words, "-o", tmp_path / "there", "--scheduler", "local:2"]
    there = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (there.returncode, there.stderr) == (0, "")
    ran(*words, "-o", tmp_path / "here")
    one, other = (cs.Ensemble.load(tmp_path / name) for name in ("there", "here"))
    np.testing.assert_array_equal(one.labels, other.labels)


@pytest.mark.parametrize(
    ("verb", "said"),
    [("cluster", "is a folder of row blocks, and this needs"), ("organize", "blocks: 2 of 2 columns")],
)
def test_row_blocks_where_one_table_is_needed(tmp_path, verb, said):
    folder = tmp_path / "blocks"
    folder.mkdir()
    pd.DataFrame({"a": [1.5, 2.5], "b": [3.5, 4.5]}).to_parquet(folder / "a.parquet")
    assert said in refused(verb, folder)


def test_labels_in_row_blocks_are_one_table_for_a_report(tmp_path):
    truth = np.arange(80) // 20
    table = pd.DataFrame({"cell": [f"c{i}" for i in range(80)], "one": truth, "two": truth // 2, "three": truth % 2})
    (tmp_path / "labels").mkdir()
    for i, part in enumerate((table[:30], table[30:])):
        part.to_parquet(tmp_path / "labels" / f"{i}.parquet")
    opened = open_clusterings(tmp_path / "labels", columns=None, id_column=None)
    assert_array_equal(opened.ensemble.labels, as_ensemble(table.set_index("cell")).labels)
    assert opened.ensemble.ids.tolist() == table["cell"].tolist()
    done = ran("combine", tmp_path / "labels", "-k", 4, "-o", tmp_path / "out", "--save", tmp_path / "saved")
    assert "column 'cell' names the objects" in done.stderr
    done = ran("report", tmp_path / "saved", tmp_path / "page.html")
    with pytest.raises(InputError, match=r"the folder that --save wrote; columns='cluster'"):
        open_clusterings(tmp_path / "out", columns=None, id_column=None)


def test_generate_takes_numbers_in_row_blocks(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)) + np.arange(60)[:, None] // 20 * 6, columns=["x", "y", "z"])
    (tmp_path / "blocks").mkdir()
    for i, part in enumerate((table[:25], table[25:])):
        part.assign(name="bead", bead=[f"b{j}" for j in part.index]).to_parquet(tmp_path / "blocks" / f"{i}.parquet")
    table.to_csv(tmp_path / "table.csv", index=False)
    more = ["-n", 5, "-k", 3, "--json"]
    for source, columns in (("blocks", ["--columns", "x,y,z", "--id", "bead"]), ("table.csv", [])):
        ran("generate", tmp_path / source, *columns, *more, "-o", tmp_path / f"{source}-run")
    blocks, whole = (as_ensemble(tmp_path / f"{name}-run") for name in ("blocks", "table.csv"))
    assert_array_equal(blocks.labels, whole.labels)
    assert blocks.ids.tolist() == [f"b{i}" for i in range(60)]
    for words in ([], ["--id", "name", "--columns", "x,y"], ["--known", "name"]):
        assert run("generate", tmp_path / "blocks", *words, *more, "-o", tmp_path / "other").returncode == 2


def test_agree_takes_counts_in_row_blocks(tmp_path):
    counts = sparse.csr_matrix(np.random.default_rng(0).poisson(np.kron(np.eye(3), np.ones((20, 12))) * 2 + 0.2))
    (tmp_path / "blocks").mkdir()
    for i, part in enumerate((counts[:33], counts[33:])):
        sparse.save_npz(tmp_path / "blocks" / f"{i}.npz", part)
    sparse.save_npz(tmp_path / "counts.npz", counts)
    found = {}
    for source in ("blocks", "counts.npz"):
        out = tmp_path / f"{source}.csv"
        more = ["-k", 3, "-n", 3, "--max-iter", 1, "--model", "dataloom", "--json", "-o", out]
        done = ran("agree", tmp_path / source, *more)
        found[source] = json.loads(done.stdout), pd.read_csv(out)
    (blocks, rows), (whole, same) = found["blocks"], found["counts.npz"]
    assert blocks["n_rows"] == whole["n_rows"] == 60
    assert rows["cluster"].tolist() == same["cluster"].tolist()
    assert "leave the other options out" in refused("agree", tmp_path / "blocks", "-k", 3, "--names", "words")
