"""The site tells the truth: its code runs and prints what it says, its commands can be parsed, its links lead somewhere.

A block after ``<!-- not run: why -->`` is checked for syntax and for names of consilience; one after ``<!-- slow -->`` runs in the
slow tests."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from consilience.cli import program
from consilience.consensus import METHODS, MajorityVote
from consilience.datasets import load_beads, load_beads_labels, noisy_labels, sample_path
from consilience.measures import MEASURES
from consilience.meta import MetaClustering
from consilience.reports import remove_section
from doc_pages import PAGES, ROOT, anchors, blocks, read, run, unknown_names

pytestmark = pytest.mark.full_effort

WITH_PYTHON = [page for page in PAGES if page != "README.md" and blocks(page, "python")]


def fill(folder: Path) -> None:
    """The files that pages speak of."""
    beads, labels = load_beads(), load_beads_labels()
    (folder / "beads.csv").write_bytes(Path(sample_path("beads.csv")).read_bytes())
    labels.to_frame().rename_axis("cell").to_csv(folder / "labels.csv")
    pd.DataFrame(beads.values[:, :4], columns=list("abcd"), index=pd.Index(beads.ids, name="name")).assign(
        species=beads.labels["shape"].to_numpy()
    ).to_csv(folder / "iris.csv")


def granted() -> dict[str, Any]:
    """What the blocks of the pages take for granted: the names that the text introduces, with small values."""
    ensemble, rng = load_beads_labels(), np.random.default_rng(0)
    topic = np.arange(300) % 4
    return {
        "cs": cs,
        "np": np,
        "ens": ensemble,
        "frame": ensemble.to_frame(),
        "X": load_beads().values,
        "load_beads": load_beads,
        "counts": sparse.csr_array(rng.poisson(0.2 + 2.0 * (topic[:, None] == np.arange(40) % 4))),
        "topic": topic,
        "known": topic,
        "samples": noisy_labels(40, 3, 20, 0.2)[0],
        "new_rows": ensemble.labels[:5],
        "Mine": MajorityVote,
        "labels_of": lambda i: rng.integers(4, size=1000),
        "info_of": lambda i: {"method": "random"},
    }


def run_page(page: str, skip: set[str]) -> None:
    """Run the blocks of `page` in one namespace, in a folder of its own, and compare what they print with what it says."""
    names = granted()
    for block in blocks(page, "python"):
        where = f"{page}:{block.line}"
        wrong = unknown_names(block.code)
        assert not wrong, f"{where}: consilience has no {', '.join(wrong)}"
        if block.mark in skip:
            assert block.mark == "slow" or block.reason, f"{where}: say why it is not run"
            continue
        said = run(page, block, names)
        assert block.output in (None, said), f"{where} prints\n{said}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def registries_as_before() -> Iterator[None]:
    kept = [(registry, dict(registry)) for registry in (METHODS, MEASURES)]
    yield
    for registry, before in kept:
        registry.clear()
        registry.update(before)
    for result in (cs.Ensemble, MetaClustering):
        remove_section(result, "sizes")


@pytest.mark.filterwarnings("ignore:.*columns left out, being constant")
@pytest.mark.parametrize("page", WITH_PYTHON)
def test_code_runs_and_prints_what_the_page_says(page: str, folder: Path) -> None:
    run_page(page, {"not run", "slow"})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*columns left out, being constant")
@pytest.mark.parametrize(
    "page", [page for page in WITH_PYTHON if any(b.mark == "slow" for b in blocks(page, "python"))]
)
def test_slow_code_runs_too(page: str, folder: Path) -> None:
    run_page(page, {"not run"})


def test_commands_have_the_options_that_pages_give_them() -> None:
    seen = 0
    for page in [*PAGES, "CONTRIBUTING.md"]:
        for line in (
            line for kind in ("sh", "text") for block in blocks(page, kind) for line in block.code.splitlines()
        ):
            for command in re.split(r" && | \| ", line):
                words = shlex.split(command, comments=True) if command.startswith("consilience ") else []
                if not words:
                    continue
                context = click.Context(program)
                verb = program.get_command(context, words[1])
                assert verb is not None, f"{page}: {command}"
                try:
                    verb.make_parser(click.Context(verb)).parse_args(words[2:])
                except click.UsageError as error:
                    pytest.fail(f"{page}: {command}: {error}")
                seen += 1
    assert seen > 20


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "SECURITY.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"^```(?!\{).*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
    here = ROOT / page
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        other = here.parent / file if file else here
        assert other.exists(), f"{page} points to {file}"
        if other.suffix == ".md" and anchor:
            assert anchor in anchors(other), f"{page} points to {target}; there are {sorted(anchors(other))}"
    for target in re.findall(r"^:link: (\S+)$", text, re.MULTILINE):
        assert (here.parent / f"{target}.md").exists(), f"{page} points to {target}"


def test_every_page_is_in_the_site() -> None:
    listed = {name for page in PAGES for block in blocks(page, "{toctree}") for name in block.code.split()}
    gallery = (ROOT / "docs/gallery/index.md").read_text()
    listed |= set(re.findall(r"^\[!\[.*\]\((\w+)\.md\)$", gallery, re.MULTILINE))  # docs/conf.py lists them in the site
    assert {Path(page).stem for page in PAGES} - {"README", "index"} <= listed


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="the site is built by Sphinx: the extra docs")
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    copy = tmp_path / "copy"  # the pages of the API are written beside the others
    shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("api"))
    for name in ("CONTRIBUTING.md", "SECURITY.md"):
        shutil.copy(ROOT / name, copy)
    (copy / "benchmarks").mkdir()
    for path in [*(ROOT / "benchmarks").glob("*.md"), *(ROOT / "benchmarks").glob("*.png")]:
        shutil.copy(path, copy / "benchmarks")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "site"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    index = (copy / "site" / "index.html").read_text(encoding="utf-8")
    assert "consilience" in index
    assert not re.findall(r'(?:src|href)="(?:https?:)?//(?!github)[^"]*\.(?:js|css)', index), "the site works offline"
