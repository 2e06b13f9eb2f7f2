"""What every verb prints, word by word: ``golden/cli/VERB.txt`` holds command lines with exit status, printed text and files.

After a change of words: ``REWRITE_GOLDEN=1 pytest tests/test_cli_golden.py``, then read the diff. Commands of one file share a folder
with the bundled data (beads.csv, beads_labels.csv, counts.csv, run.csv), so that later ones can use what earlier ones wrote.
"""

import os
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import consilience
from command_line import run
from consilience.cli import VERBS
from consilience.datasets import sample_path

GOLDEN = Path(__file__).parent / "golden" / "cli"
FILES = sorted(GOLDEN.glob("*.txt"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("beads.csv", "beads_labels.csv"):
        shutil.copyfile(sample_path(name), tmp_path / name)
    counts = np.random.default_rng(0).poisson(np.kron(np.eye(3), np.ones((10, 5))) * 4 + 0.2)
    frame = pd.DataFrame(counts, columns=[f"{topic}{i}" for topic in ("sea", "law", "art") for i in range(5)])
    frame.assign(topic=np.repeat(["s", "l", "a"], 10)).to_csv(tmp_path / "counts.csv", index=False)
    form = pd.read_csv(tmp_path / "beads_labels.csv").filter(regex="bead|form")
    form.to_csv(tmp_path / "form.csv", index=False)
    junk = {"single": 0, "random": np.random.default_rng(0).integers(0, 4, len(form)), "ward": form["form1"]}
    form.assign(**junk).to_csv(tmp_path / "junk.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def plain(text, folder):
    """Text without what may differ: places, versions, seconds, and all measured numbers, which other tests hold."""
    text = text.replace(str(folder.resolve()), "FOLDER").replace(str(folder), "FOLDER")
    text = text.replace(consilience.__version__, "VERSION")
    text = re.sub(r"\b[\d.]+(e-\d+)? (s\b|seconds|kB|MB)", r"# \2", text)
    text = re.sub(r"-?\b\d+\.\d+\b", "#", text)
    lines = (re.sub(r"  +", "  ", line.rstrip()) for line in text.rstrip().split("\n"))
    return "\n".join(line for line in lines if not line.endswith("# s, # MB"))  # the steps of --verbose


def told(line, folder):
    """One command line with its status, its files and its words."""
    before = set(folder.rglob("*"))
    done = run(*shlex.split(line)[1:])
    new = sorted(path for path in set(folder.rglob("*")) - before if path.parent == folder)
    parts = [f"$ {line}", f"status {done.returncode}"]
    parts += [f"new: {' '.join(path.name for path in new)}"] if new else []
    for text, name in ((done.stdout, "printed"), (done.stderr, "said")):
        words = plain(text, folder)
        parts += [f"--- {name}", words] if words.strip() else []
    return "\n".join(parts)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_golden_texts(path, folder):
    wanted = path.read_text(encoding="utf-8")
    lines = [line[2:] for line in wanted.splitlines() if line.startswith("$ ")]
    found = "\n\n".join(told(line, folder) for line in lines) + "\n"
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert found == wanted


def test_every_verb_has_a_golden_text():
    assert {path.stem for path in FILES} == {*VERBS} - {"explore"}
