"""The README tells the truth: its Python prints what it says, its commands run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from consilience.explorer.launch import PageMissingError, load_page

pytestmark = pytest.mark.full_effort

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL)


def test_python_prints_what_the_readme_says():
    code, said = blocks("python")[0], blocks("text")[0]
    assert len([line for line in code.splitlines() if line]) <= 10
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == said


def test_every_package_has_its_room():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "consilience"
    rooms = [path.parent.relative_to(source).as_posix() for path in source.rglob("__init__.py")]
    assert [room for room in rooms if room != "." and f"`{room}/`" not in page] == []


@pytest.mark.slow
def test_commands_run_in_the_order_given(tmp_path):
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("consilience ")]
    assert len(commands) == 2
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for command in ("consilience demo --output consilience-demo", *commands):
        words = [sys.executable, "-m", *shlex.split(command, comments=True)]
        if "explore" in words:
            explores([*words, "--no-browser"], cwd=tmp_path, env=environment)
            continue
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stderr == ""


def has_page():
    try:
        return bool(load_page())
    except PageMissingError:
        return False


def explores(words, **where):
    """The explorer starts, names its address and goes on until it is ended; without a page it says how to get one."""
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **where) as process:
        said = process.stderr.readline()
        if has_page():
            assert re.fullmatch(r"The explorer is ready at http://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}\n", said)
            assert process.poll() is None
        else:
            assert "Node.js" in said
        process.terminate()


def test_make_targets_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"^make (\w+)", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
