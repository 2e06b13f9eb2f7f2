"""The site tells the truth: its code and gallery run and print what they say, commands can be parsed, links lead somewhere, and
every public name is on the page of the API, with an example that runs (doctests).

A block after ``<!-- not run: why -->`` is checked for syntax and for names of consilience; one after ``<!-- slow -->`` runs in the
slow tests."""

import ast
import contextlib
import importlib
import importlib.util
import inspect
import io
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import click
import httpx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from command_line import apart, ran
from consilience.cli import program
from consilience.consensus import METHODS, MajorityVote
from consilience.datasets import load_beads, load_beads_labels, noisy_labels, sample_path
from consilience.explorer.server import PageMissingError, load_page
from consilience.measures import MEASURES
from consilience.meta import MetaClustering
from consilience.reports import remove_section

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "docs/gallery")
PAGES = ["README.md", *(f"{folder}/{path.name}" for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md")))]
FENCE = re.compile(
    r"(?:<!-- (?P<mark>not run|slow)(?:: (?P<reason>[^\n]*?))? -->\n+)?"
    r"^```(?P<kind>[^\n]*)\n(?P<code>.*?)^```$(?:\n\n^```(?:text)?\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, kind):
    """Blocks of code with the line where each begins, its mark (``not run``, ``slow`` or none) and what the page says it prints."""
    text = read(page)
    found = (one for one in FENCE.finditer(text) if one["kind"] == kind)
    return [SimpleNamespace(line=text.count("\n", 0, one.start("code")), **one.groupdict()) for one in found]


def run(page, block, names):
    """Run the block in `names`; what it prints, or what its last expression is, as a notebook would show."""
    tree = ast.parse(block.code)
    ast.increment_lineno(tree, block.line)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, page, "exec"), names)
        value = eval(compile(ast.Expression(last.value), page, "eval"), names) if isinstance(last, ast.Expr) else None
    if not said.getvalue() and value is not None:
        return repr(value) + "\n"
    return said.getvalue()


def unknown_names(code):
    """Names of consilience in `code` that are not there: modules, what is imported from them, attributes, keywords."""
    tree, known, wrong = ast.parse(code), {"cs": importlib.import_module("consilience")}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("consilience"):
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                if hasattr(module, alias.name):
                    known[alias.asname or alias.name] = getattr(module, alias.name)
                else:
                    wrong.append(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Import):
            ours = [one for one in node.names if one.asname and one.name.startswith("consilience")]
            known.update((one.asname, importlib.import_module(one.name)) for one in ours)

    def resolve(node):
        if isinstance(node, ast.Name):
            return known.get(node.id)
        owner = resolve(node.value) if isinstance(node, ast.Attribute) else None
        if owner is None:
            return None
        if not hasattr(owner, node.attr):
            wrong.append(ast.unparse(node))
        return getattr(owner, node.attr, None)

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (function := resolve(node.func)) is not None:
            parameters, called = inspect.signature(function).parameters, ast.unparse(node.func)
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                wrong += [f"{called}({one.arg}=)" for one in node.keywords if one.arg and one.arg not in parameters]
        elif isinstance(node, ast.Attribute):
            resolve(node)
    return sorted(set(wrong))


def slug(heading):
    """The anchor of a heading, as GitHub and MyST make it."""
    words = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(path):
    """Of the headings of a page, and of what it includes."""
    whole = path.read_text(encoding="utf-8")
    included = re.findall(r"^```\{include\} (\S+)$", whole, re.MULTILINE)
    text = re.sub(r"^```.*?^```$", "", whole, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#{1,4} (.+)$", text, re.MULTILINE)
    there = set().union(*(anchors(path.parent / other) for other in included))
    return there | {slug(heading) for heading in headings} | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


pytestmark = pytest.mark.full_effort

WITH_PYTHON = [page for page in PAGES if page != "README.md" and blocks(page, "python")]


def granted():
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
        "new_rows": ensemble.labels[:5],
        "Mine": MajorityVote,
        "samples": noisy_labels(40, 3, 20, 0.2)[0],
        "labels_of": lambda i: rng.integers(4, size=1000),
        "info_of": lambda i: {"method": "random"},
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """One of its own, with the files that pages speak of."""
    beads = load_beads()
    shutil.copy(sample_path("beads.csv"), tmp_path)
    load_beads_labels().to_frame().rename_axis("cell").to_csv(tmp_path / "labels.csv")
    iris = pd.DataFrame(beads.values[:, :4], columns=list("abcd"), index=pd.Index(beads.ids, name="name"))
    iris.assign(species=beads.labels["shape"].to_numpy()).to_csv(tmp_path / "iris.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def registries_as_before():
    with patch.dict(METHODS), patch.dict(MEASURES):
        yield
    for result in (cs.Ensemble, MetaClustering):
        remove_section(result, "sizes")


SLOW = [page for page in WITH_PYTHON if any(block.mark == "slow" for block in blocks(page, "python"))]


@pytest.mark.filterwarnings("ignore:.*columns left out, being constant")
@pytest.mark.parametrize(
    ("page", "skip"),
    [*((page, {"not run", "slow"}) for page in WITH_PYTHON)]
    + [pytest.param(page, {"not run"}, marks=pytest.mark.slow) for page in SLOW],
)
def test_code_runs_and_prints_what_the_page_says(page, skip, folder):
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


def test_commands_have_the_options_that_pages_give_them():
    seen = 0
    for page in [*PAGES, "CONTRIBUTING.md"]:
        lines = "\n".join(block.code for kind in ("sh", "text") for block in blocks(page, kind))
        for command in re.split(r" && | \| |\n", lines):
            if not command.startswith("consilience "):
                continue
            _, name, *words = shlex.split(command, comments=True)
            verb = program.get_command(click.Context(program), name)
            assert verb is not None, f"{page}: {command}"
            try:
                verb.make_parser(click.Context(verb)).parse_args(words)
            except click.UsageError as error:
                pytest.fail(f"{page}: {command}: {error}")
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "SECURITY.md"])
def test_links_lead_somewhere(page):
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


def test_every_page_is_in_the_site():
    listed = {name for page in PAGES for block in blocks(page, "{toctree}") for name in block.code.split()}
    gallery = read("docs/gallery/index.md")  # docs/conf.py lists them in the site
    listed |= set(re.findall(r"^\[!\[.*\]\((\w+)\.md\)$", gallery, re.MULTILINE))
    assert {Path(page).stem for page in PAGES} - {"README", "index"} <= listed


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="the site is built by Sphinx: the extra docs")
def test_the_site_builds_without_warnings(tmp_path):
    copy = tmp_path / "copy"  # the pages of the API are written beside the others
    shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("api"))
    for name in ("CONTRIBUTING.md", "SECURITY.md"):
        shutil.copy(ROOT / name, copy)
    (copy / "benchmarks").mkdir()
    for path in [*(ROOT / "benchmarks").glob("*.md"), *(ROOT / "benchmarks").glob("*.png")]:
        shutil.copy(path, copy / "benchmarks")
    done = apart("-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "site", cwd=copy)
    assert done.returncode == 0, done.stderr
    index = (copy / "site" / "index.html").read_text(encoding="utf-8")
    assert "consilience" in index
    assert not re.findall(r'(?:src|href)="(?:https?:)?//(?!github)[^"]*\.(?:js|css)', index), "the site works offline"


GALLERY = ROOT / "docs" / "gallery"
NAMES = sorted({path.stem for path in GALLERY.glob("*.py")} - {"make", "screen"})
QUICK = {"alternative", "sites"}
PLAYED = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in NAMES]
NEEDS = {"cells": "scanpy", "customers": "uvicorn", "digits": "uvicorn"}


def printed(name):
    """What a page says that its script prints."""
    (block,) = blocks(f"docs/gallery/{name}.md", "text")
    return block.code


@pytest.mark.parametrize("name", PLAYED)
def test_a_script_prints_what_its_page_says_and_draws(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(GALLERY))
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr()
    assert said.out == printed(name)
    assert (tmp_path / f"{name}.png").exists() or f"no {name}.png" in said.err


def test_every_script_has_a_page_with_a_picture_and_is_in_the_index():
    assert len(NAMES) == 8
    index, maker = read("docs/gallery/index.md"), read("docs/gallery/make.py")
    assert "{" not in index, "markup that only the site reads"
    for name in NAMES:
        page = read(f"docs/gallery/{name}.md")
        assert re.search(rf"^!\[.+\]\({name}\.png\)$", page, re.MULTILINE), f"{name} has no picture"
        assert f"[{name}.py]({name}.py)" in page, f"{name} does not link to its script"
        assert len(printed(name)) > 100
        assert f"]({name}.png)]({name}.md)\n" in index, f"{name} has no picture in the index"
        assert f'"{name}"' in maker, f"make.py does not make {name}"
        picture = (GALLERY / f"{name}.png").read_bytes()
        assert picture[:4] == b"\x89PNG", name
        assert len(picture) < 200_000, f"{name}.png"


def test_python_prints_what_the_readme_says():
    block = blocks("README.md", "python")[0]
    assert len([line for line in block.code.splitlines() if line]) <= 10
    assert run("README.md", block, {}) == block.output


def test_every_package_has_its_room():
    page = read("docs/architecture.md")
    source = ROOT / "src" / "consilience"
    rooms = [path.parent.relative_to(source).as_posix() for path in source.rglob("__init__.py")]
    assert [room for room in rooms if room != "." and f"`{room}/`" not in page] == []


@pytest.mark.slow
def test_commands_run_in_the_order_given(tmp_path, monkeypatch):
    lines = [line for block in blocks("README.md", "sh") for line in block.code.splitlines()]
    commands = [line for line in lines if line.startswith("consilience ")]
    assert len(commands) == 2
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    monkeypatch.chdir(tmp_path)
    for command in ("consilience demo --output consilience-demo -n 50", *commands):
        words = shlex.split(command, comments=True)
        if "explore" in words:
            explores([sys.executable, "-m", *words, "--no-browser"], env=environment)
        else:
            assert ran(*words[1:]).stderr == "", command


def explores(words, **where):
    """The explorer starts, names its address and answers until Ctrl-C ends it; without a page it says how to get one."""
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **where) as process:
        said = process.stderr.readline()
        if "Node.js" in said:
            with pytest.raises(PageMissingError):
                load_page()
            return
        found = re.fullmatch(r"The explorer is ready at (http://127\.0\.0\.1:\d+)/#token=([0-9a-f]{32})\n", said)
        reply = httpx.get(f"{found[1]}/api/session", headers={"X-Consilience-Token": found[2]}, timeout=60)
        assert reply.json()["n_clusterings"] > 0
        if os.name == "posix":
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60)[1].splitlines()[-1] == "The explorer has ended."
            assert process.returncode == 0
        process.terminate()


def test_make_targets_in_the_readme_exist():
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"^make (\w+)", read(page), re.MULTILINE):
            assert re.search(rf"^{target}:", read("Makefile"), re.MULTILINE), target


PACKAGES = ("", "consensus", "generation", "measures", "meta", "agreement", "alternatives", "anndata", "blocks")
PACKAGES += ("ensemble.store", "tables", "datasets", "reports")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_an_example_and_is_on_the_page_of_the_api(package):
    module = importlib.import_module(f"consilience.{package}".rstrip("."))
    named = {name: getattr(module, name) for name in module.__all__ if not name.endswith("Warning")}
    public = {name: thing.__doc__ or "" for name, thing in named.items() if callable(thing)}
    assert [name for name, words in public.items() if ">>>" not in words] == []
    section = read("docs/api.md").split(f"## consilience.{package}".rstrip(".") + "\n")[1].split("\n## ")[0]
    assert set(public) <= set(re.findall(r"^   (\w+)$", section, re.MULTILINE))
