"""Labels of one's own, with names and gaps: seen by name, and taken away as they came."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from journeys.steps import exported, journey, keep, settled
from page_server import said, show

NAMES = np.array(["T cell", "B cell", "NK", "=SUM(A1)"])


@pytest.fixture
def labels(tmp_path: Path) -> pd.DataFrame:
    """Five people's annotations of 120 cells, two of them nearly alike; every one left some out."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, 120), rng.integers(0, 3, 120)
    frame = pd.DataFrame({"cell": [f"c{number:03}" for number in range(120)]})
    for person, base in (("ann", first), ("bob", first), ("eve", second), ("kim", second), ("joe", second)):
        given = NAMES[np.where(rng.random(120) < 0.05, rng.integers(0, 3, 120), base)].astype(object)
        given[rng.random(120) < 0.1] = ""
        frame[person] = given
    frame.to_csv(tmp_path / "labels.csv", index=False)
    return frame


def test_names_are_kept_and_gaps_stay_empty(browser: Any, tmp_path: Path, labels: pd.DataFrame) -> None:
    with journey(browser, tmp_path, "explore labels.csv --id cell") as page:
        assert page.locator("#title-tiles").inner_text() == "2 ways to group your data"
        for person in ("ann", "joe"):
            page.get_by_label("Number of groups").fill("5")
            page.get_by_label("Number of groups").press("Enter")
            at = next(
                tile
                for tile in page.locator(".tile").all()
                if (tile.click(), settled(page), person in page.locator("#panel-picture header").inner_text())[-1]
            )
            at.click()
            bars = page.locator("#panel-detail .bars")
            bars.get_by_text("T cell").wait_for()
            page.locator("#panel-detail", has_text=f"{(labels[person] == '').sum()}").wait_for()
            keep(page, person)
        page.get_by_label("Find objects").fill("c007")
        page.get_by_label("Find objects").press("Enter")
        said(page, "1 object picked")
        show(page, "Objects")
        taken = exported(page)
    assert taken["cell"].tolist() == labels["cell"].tolist()
    for person in ("ann", "joe"):
        wanted = [f"'{name}" if name.startswith("=") else name for name in labels[person]]
        assert taken[person].tolist() == wanted, "a formula is quoted, and nothing else is changed"
