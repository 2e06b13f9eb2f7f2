"""What several test files share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets: CONSILIENCE_DATA, or shared/data next to the repository."""
    given = os.environ.get("CONSILIENCE_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set CONSILIENCE_DATA")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _state_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the explorer keeps for a user is kept for the tests alone."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; without one the test is skipped."""
    from page_server import chromium

    with chromium() as found:
        yield found
