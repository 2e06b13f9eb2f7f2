"""Commands that are stopped end at once, say so, and leave no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from command_line import ran, run
from consilience.cli.stopping import when_stopped
from consilience.datasets import sample_path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
COMMAND = [sys.executable, "-m", "consilience"]


READY = "import signal, sys; from consilience.__main__ import main; print('on', flush=True); sys.argv[0] = 'consilience'; main()"


def start(*words):
    """A command in a process of its own, whose handlers of signals are there once this returns."""
    words = [sys.executable, "-c", READY, *map(str, words)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "on\n"
    return process


def wait_until(there, process):
    """Until something is there, the process has ended, or two minutes are over."""
    end = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end and not there():
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
    with start("compare", sample_path("beads_labels.csv"), "--id", "bead") as process:
        time.sleep(after)  # any moment will do
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode in (130, 0)
    assert process.returncode == 0 or said.strip() in ("", "consilience: stopped")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full device, as Linux has it")
def test_a_full_standard_output_is_named():
    words = [*COMMAND, "compare", str(sample_path("beads_labels.csv")), "--id", "bead"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"consilience: standard output: {os.strerror(28)}\n"


def test_ctrl_c_says_that_it_stopped(monkeypatch):
    when_stopped(lambda: "of an earlier command")

    def stop(*args, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr("consilience.measures.compare", stop)
    done = run("compare", sample_path("beads_labels.csv"), "--id", "bead")
    assert done.returncode == 130
    assert done.stderr.strip() == "consilience: stopped"


@pytest.mark.slow
def test_a_terminal_without_these_letters_shows_others():
    words = [*COMMAND, "compare", str(sample_path("beads_labels.csv")), "--id", "bead", "-m", "nmi"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
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
    time.sleep(20)

consilience.cli.main = run
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "")
