"""What journeys start from."""

import shutil
from pathlib import Path

import pytest

from journeys.steps import consilience


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which README's demo was run."""
    folder = tmp_path_factory.mktemp("demo")
    consilience(folder, "demo --output consilience-demo")
    return folder


@pytest.fixture
def demo(demo_run: Path, tmp_path: Path) -> Path:
    """A copy of it: a tray is kept with its run, and the next journey begins without one."""
    return shutil.copytree(demo_run, tmp_path / "demo")
