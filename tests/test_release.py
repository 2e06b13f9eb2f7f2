"""What a release consists of says one thing."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize(
    ("file", "version"),
    [
        ("page/package.json", lambda text: json.loads(text)["version"]),
        ("CITATION.cff", lambda text: re.search(r"^version: (\S+)", text, re.M)[1]),
        ("conda/recipe.yaml", lambda text: re.search(r'^  version: "(\S+)"', text, re.M)[1]),
        ("CHANGELOG.md", lambda text: re.search(r"^## (\S+)", text, re.M)[1]),
    ],
)
def test_every_file_names_the_same_version(file, version):
    assert version((ROOT / file).read_text()) == PROJECT["version"]


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for():
    recipe = (ROOT / "conda/recipe.yaml").read_text()
    wanted = {re.match(r"[\w.-]+>=[\w.]+", one.replace(" ", ""))[0] for one in PROJECT["dependencies"]}
    asked = {
        f"{name}>={lowest}"
        for name, lowest in re.findall(r"^    - ([\w.-]+) >=(\S+)$", recipe.split("  run:")[1], re.M)
    }
    assert wanted <= asked
