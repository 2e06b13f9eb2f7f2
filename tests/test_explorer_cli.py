"""consilience explore, as people type it."""

import os
import re
import socket
from contextlib import closing

import httpx
import pandas as pd
import pytest

import consilience as cs
from command_line import ran, refused, run
from consilience.datasets import load_beads, load_beads_labels, sample_path
from consilience.explorer import server as serving
from explorer_cases import ASSETS, ask

BEADS, LABELS = sample_path("beads.csv"), sample_path("beads_labels.csv")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    cs.generate(load_beads(), 25, 4, store=folder, progress=False)
    return folder


@pytest.fixture
def opened(monkeypatch):
    """What would be shown: the server answers one question and ends."""
    found = []

    def wait(self):
        found.append({**ask(self.api, "session"), "url": self.url, "note": self.note})

    monkeypatch.setattr(serving, "load_page", lambda: ASSETS)
    monkeypatch.setattr(serving.Server, "wait", wait)
    monkeypatch.setattr(serving, "_open_browser", lambda url: None)
    return found


def explore(*args):
    return ran("explore", "--no-browser", *args)


def refusal(*args):
    return refused("explore", "--no-browser", *args)


KNOWN = ["shape", "color"]
DAMAGED = {"empty.csv": b"", "zeros.csv": b"\0" * 100, "header.csv": b"a,b\n", "damaged.parquet": b"PAR1xxPAR1"}
DAMAGED["foreign.docx"] = b"PK"


def test_a_run(stored, opened):
    done = explore(stored)
    assert (done.stdout, opened[0]["n_clusterings"]) == ("", 25)
    assert re.search(r"http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}", done.stderr)


@pytest.mark.parametrize(
    ("words", "known", "grows"),
    [
        (["--data", BEADS, "--known", "shape,color", "--linkage", "ward", "-g", "6"], KNOWN, True),
        (["--known-from", BEADS, "--known", "shape"], ["shape"], False),
        (["--data", BEADS, "-t", "shape,color", "--known-from", "odd.csv"], [*KNOWN, "odd"], True),
    ],
)
def test_a_run_with_data_and_truth(stored, opened, tmp_path, monkeypatch, words, known, grows):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"bead": load_beads().ids, "odd": [i % 2 for i in range(300)]}).to_csv("odd.csv", index=False)
    explore(stored, "--id", "bead", *words)
    assert (opened[0]["known"], opened[0]["can"]["more_like"]) == (known, grows)
    if "-g" in words:
        assert (opened[0]["linkage"], opened[0]["cut"]["groups"]) == ("ward", 6)


def test_a_table_of_data(opened, tmp_path):
    how = ["--id", "bead", "-t", "shape,color", "-n", "12", "-k", "3", "-o", tmp_path / "new", "--xy", "red,blue"]
    assert "beads.csv is taken for data" in explore(BEADS, *how).stderr
    assert opened[0]["embedding"] == {"kind": "columns", "note": "red and blue"}
    assert cs.Ensemble.load(tmp_path / "new").n_clusterings == opened[0]["n_clusterings"] == 12


def test_a_table_of_labels_and_with_its_data(opened):
    said = explore(LABELS, "--id", "bead", "-t", "shape,color").stderr
    assert "beads_labels.csv is taken for labels; --kind says otherwise." in said
    assert "taken for" not in explore(LABELS, "--id", "bead", "--kind", "labels").stderr
    explore(LABELS, "--id", "bead", "--data", BEADS, "-t", "shape,color")
    # what is known is no clustering, though it stands in both files
    assert [(one["n_clusterings"], one["known"]) for one in (opened[0], opened[2])] == [(16, KNOWN)] * 2
    assert (opened[0]["features"], opened[2]["features"]) == ([], load_beads().columns)


def test_a_busy_port(opened):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} is taken; took another." in explore(LABELS, "--id", "bead", "--port", port).stderr
    assert f":{port}/" not in opened[0]["url"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "nowhere: no such file or folder"),
        ([".."], "not a stored run"),
        ([LABELS, "--id", "nobody"], "no column 'nobody' for --id"),
        ([LABELS, "--id", "bead", "--xy", "a,b"], "there is none"),
        ([LABELS, "--id", "bead", "--host", "0.0.0.0"], "every address"),
        ([LABELS, "--id", "bead", "-g", "99"], "99 groups cannot be made"),
        ([LABELS, "--id", "bead", "-n", "99"], "say how a table of data is clustered"),
        *(([name], name) for name in DAMAGED),
    ],
)
def test_bad_use_is_one_sentence(arguments, sentence, opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in DAMAGED.items():
        (tmp_path / name).write_bytes(content)
    done = run("explore", "--no-browser", *arguments)
    assert (done.returncode, done.stderr.count("\n"), opened) == (2, 1, [])
    assert sentence in done.stderr


def test_what_would_be_ignored_is_refused(stored, opened):
    for words in (["-o", "new"], ["--methods", "zipf"], ["-k", "3"], ["--seed", "1"]):
        assert "how a table of data is clustered" in refusal(stored, *words)
    assert "with the table of --data" in refusal(stored, "--id", "bead")
    with pytest.raises(cs._check.InputError, match="made already"):
        cs.explore(load_beads_labels(), store="new", block=False)
    assert opened == []


def test_without_the_page_no_work_is_done(monkeypatch, tmp_path):
    monkeypatch.setattr("consilience.explorer.server.static_folder", lambda: tmp_path)
    said = refusal(BEADS, "--id", "bead", "-t", "shape,color", "-o", tmp_path / "run")
    assert re.search("install Node.js 18 or newer and reinstall.*make page", said)
    assert not (tmp_path / "run").exists()


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    done = run("explore", "--no-browser", LABELS, "--id", "bead")
    said = "consilience: the explorer needs Starlette and uvicorn: pip install 'consilience[explore]'\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.skipif(os.name != "posix", reason="such names of files")
def test_names_reach_the_terminal_without_control_characters(opened, tmp_path):
    file = tmp_path / "\033]0;pwn\033\\.csv"
    file.write_bytes(LABELS.read_bytes())
    said = explore(file, "--id", "bead").stderr
    assert "\033" not in said
    assert "pwn" in said


def test_in_python(monkeypatch):
    monkeypatch.setattr(serving, "load_page", lambda: ASSETS)
    server = cs.explore(load_beads_labels(), data=load_beads(), known=load_beads().labels, browser=False, block=False)
    with closing(server):
        address, headers = server.url.split("#")[0] + "api/session", {"X-Consilience-Token": server.token}
        found = httpx.get(address, headers=headers, timeout=60).json()
    assert (found["known"], len(found["features"])) == (KNOWN, 8)
    by_name = cs.explore(LABELS, id_column="bead", known=[0, 1] * 150, browser=False, block=False)
    by_name.close()
    assert list(by_name.api.session.known) == ["known"]
