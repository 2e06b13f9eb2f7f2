"""Commands under way: options that share out their work, and how they end at once when they are stopped, leaving no process behind."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import consilience as cs
from command_line import apart, log_lines, ran, refused, run
from consilience._check import InputError
from consilience.cli.inputs import open_clusterings
from consilience.datasets import sample_path
from consilience.inputs import as_ensemble
from samples import row_blocks

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
BEADS, LABELS = sample_path("beads.csv"), (sample_path("beads_labels.csv"), "--id", "bead")


def test_log_and_verbose(tmp_path):
    log = tmp_path / "log.jsonl"
    done = ran("generate", BEADS, "--id", "bead", "-k", 4, "-n", 30, "-o", tmp_path / "run", "--log", log, "--verbose")
    found = log_lines(log)
    assert sorted(line["unit"] for line in found if line["what"] == "clustering") == list(range(30))
    assert (found[0]["verb"], found[-1]["status"]) == ("generate", "done")
    assert "clusterings: 30 of 30 in " in done.stderr
    assert "generate: done after " in done.stderr
    done = ran("combine", tmp_path / "run", "--log", log)
    assert "after" not in done.stderr, "nothing is said unless it is asked for"
    assert log_lines(log)[-1]["verb"] == "combine", "a log is added to"


def test_no_scheduler_there():
    pytest.importorskip("distributed")
    for scheduler, said in (
        ("nonsense://here", "is not the address of a Dask scheduler"),
        ("local:0", "N is 1 or more"),
    ):
        assert said in refused("combine", *LABELS, "--scheduler", scheduler)


@pytest.mark.slow
def test_a_time_limit_that_nothing_meets(tmp_path):
    words = ["generate", BEADS, "--id", "bead", "-k", 4, "-n", 2, "-o", tmp_path / "run"]
    said = refused(*words, "--base", "KMeans(n_init=20000)", "--time-limit", 0.05)
    assert "none of the first 2 clusterings could be made: it took longer than its limit" in said


@pytest.mark.slow
def test_a_local_cluster_gives_the_same_and_leaves_nothing(tmp_path):
    pytest.importorskip("distributed")
    words = ["generate", str(BEADS), "--id", "bead", "-k", "4", "-n", "60"]
    there = apart("-m", "consilience", *words, "-o", tmp_path / "there", "--scheduler", "local:2")
    assert (there.returncode, there.stderr) == (0, "")
    ran(*words, "-o", tmp_path / "here")
    one, other = (cs.Ensemble.load(tmp_path / name) for name in ("there", "here"))
    np.testing.assert_array_equal(one.labels, other.labels)


def test_row_blocks_where_one_table_is_needed(tmp_path):
    folder = row_blocks(tmp_path / "blocks", pd.DataFrame({"a": [1.5, 2.5], "b": [3.5, 4.5]}))
    assert "is a folder of row blocks, and this needs" in refused("cluster", folder)
    assert "blocks: 2 of 2 columns" in refused("organize", folder)


def test_labels_in_row_blocks_are_one_table_for_a_report(tmp_path):
    truth = np.arange(80) // 20
    table = pd.DataFrame({"cell": [f"c{i}" for i in range(80)], "one": truth, "two": truth // 2, "three": truth % 2})
    row_blocks(tmp_path / "labels", table[:30], table[30:])
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
    named = table.assign(name="bead", bead=[f"b{i}" for i in range(60)])
    row_blocks(tmp_path / "blocks", named[:25], named[25:])
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


READY = "import signal, sys; from consilience.__main__ import main; print('on', flush=True); sys.argv[0] = 'consilience'; main()"


def start(*words):
    """A command in a process of its own, whose handlers of signals are there once this returns."""
    words = [sys.executable, "-c", READY, *map(str, words)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "on\n"
    return process


def wait_until(there, process):
    """Until something is there, or the process has ended."""
    while process.poll() is None and not there():
        time.sleep(0.05)


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    values = np.random.default_rng(0).integers(0, 8, (2500, 60))
    pd.DataFrame(values, columns=[f"run{j}" for j in range(60)]).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("begun", [False, True])
def test_sigterm_is_143_during_imports_and_in_a_kernel(labels, tmp_path, begun):
    words = ["combine", labels, "--method", "cspa", "-k", 8, "-o", tmp_path / "c.csv", "--log", tmp_path / "log.jsonl"]
    with start(*words) as process:
        wait_until(lambda: not begun or (tmp_path / "log.jsonl").exists(), process)
        process.terminate()
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 143 or (begun and process.returncode == 0)
    assert process.returncode == 0 or said == "consilience: stopped\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "number"),
    [
        (["-j", 2, "--base", "KMeans(n_init=20)"], signal.SIGTERM),
        (["--scheduler", "local:2"], signal.SIGTERM),
        (["--scheduler", "local:2"], signal.SIGINT),
    ],
)
def test_a_signal_leaves_no_workers(tmp_path, options, number):
    if "--scheduler" in options:
        pytest.importorskip("distributed")
    data = tmp_path / "d.csv"
    pd.DataFrame(np.random.default_rng(0).normal(size=(2000, 8)), columns=list("abcdefgh")).to_csv(data, index=False)
    with start("generate", data, "-n", 100_000, "-k", 9, "-o", tmp_path / "run", *options) as process:
        wait_until(lambda: list((tmp_path / "run").glob("part-*.parquet")), process)
        os.killpg(process.pid, number) if number == signal.SIGINT else process.terminate()  # as a terminal does
        said = process.communicate(timeout=60)[1]  # workers would hold the pipes for minutes
    assert process.returncode == 128 + number, said
    assert len(said.strip().splitlines()) == 1, said  # nothing of trackers after the sentence
    assert "the same command goes on" in said


@pytest.mark.parametrize("after", [0.0, 0.2, *(pytest.param(s, marks=pytest.mark.slow) for s in (0.4, 0.8))])
def test_ctrl_c_is_130_also_during_imports(after):
    with start("compare", *LABELS) as process:
        time.sleep(after)  # any moment will do
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode in (130, 0)
    assert process.returncode == 0 or said.strip() in ("", "consilience: stopped")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full device, as Linux has it")
def test_a_full_standard_output_is_named():
    words = [sys.executable, "-m", "consilience", "compare", *LABELS]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"consilience: standard output: {os.strerror(28)}\n"


@pytest.mark.slow
def test_a_terminal_without_these_letters_shows_others():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = apart("-m", "consilience", "compare", *LABELS, "-m", "nmi", env=environment)
    assert done.returncode == 0, done.stderr
    assert "?" in done.stdout


def test_names_never_reach_the_terminal_with_control_characters(tmp_path):
    path = tmp_path / "e.csv"
    path.write_bytes(b"\x1b]0;pwn\x1b\\a,b\n1,2\n2,1\n1,1\n")
    done = ran("compare", path)
    assert "\x1b" not in done.stdout
    assert "\ufffd]0;pwn\ufffd\\a" in done.stdout
    done = run("compare", path, "--columns", "\x1b[31mred")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr


def test_an_interrupt_that_meets_a_finalizer_is_not_lost():
    code = """
import os, signal, time
import consilience.cli
from consilience.__main__ import main

class Kept:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))

def run():
    Kept()
    time.sleep(600)

consilience.cli.main = run
main()
"""
    done = apart("-c", code)
    assert (done.returncode, done.stderr) == (130, "")
