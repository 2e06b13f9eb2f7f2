"""Every public name is on the page of the API, and says by an example that runs (doctests) what it does."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from test_docs import read

PACKAGES = (
    "",
    "consensus",
    "generation",
    "measures",
    "meta",
    "agreement",
    "alternatives",
    "anndata",
    "blocks",
    "ensemble.store",
    "tables",
)
PACKAGES += ("datasets", "reports")


def public(package: str) -> dict[str, Any]:
    """Functions and classes of a package, by name; a warning is said by its name."""
    module = importlib.import_module(f"consilience.{package}".rstrip("."))
    named = {name: getattr(module, name) for name in module.__all__}
    return {
        name: thing
        for name, thing in named.items()
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Warning))
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_an_example(package: str) -> None:
    lacking = [name for name, thing in public(package).items() if ">>>" not in (thing.__doc__ or "")]
    assert not lacking


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_on_the_page_of_the_api(package: str) -> None:
    section = read("docs/api.md").split(f"## consilience.{package}".rstrip(".") + "\n")[1].split("\n## ")[0]
    listed = set(re.findall(r"^   (\w+)$", section, re.MULTILINE))
    assert set(public(package)) <= listed
