"""Labels of one's own, with names and gaps: seen by name, and taken away as they came."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from journeys.steps import exported, find, journey, keep, settled

NAMES = np.array(["T cell", "B cell", "NK", "=SUM(A1)"])
PEOPLE = ("ann", "bob", "eve", "kim", "joe")


@pytest.fixture
def labels(tmp_path: Path) -> pd.DataFrame:
    """Five people's annotations of 120 cells, two of them nearly alike; every one left some out."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, 120), rng.integers(0, 3, 120)
    frame = pd.DataFrame({"cell": [f"c{number:03}" for number in range(120)]})
    for person, base in zip(PEOPLE, (first, first, second, second, second), strict=True):
        given = NAMES[np.where(rng.random(120) < 0.05, rng.integers(0, 3, 120), base)].astype(object)
        given[rng.random(120) < 0.1] = ""
        frame[person] = given
    frame.to_csv(tmp_path / "labels.csv", index=False)
    return frame


@pytest.mark.slow
def test_names_are_kept_and_gaps_stay_empty(browser: Any, tmp_path: Path, labels: pd.DataFrame) -> None:
    with journey(browser, tmp_path, "explore labels.csv --id cell") as page:
        assert page.locator("#title-tiles").inner_text() == "2 ways to group your data"
        page.get_by_label("Number of groups").fill("5")
        page.get_by_label("Number of groups").press("Enter")
        for at, person in enumerate(PEOPLE):
            page.locator(".tile").nth(at).click()
            settled(page)
            assert page.locator("#title-picture").inner_text() == person, "as the file has it"
            shown = page.locator("#panel-detail").inner_text()
            assert f"{(labels[person] == '').sum()} objects without a label" in shown
            assert {"T cell", "B cell", "NK"} <= set(shown.splitlines())
            keep(page, f"by {person}")
        find(page, "c007", "1 object picked")
        taken = exported(page)
    assert taken["cell"].tolist() == labels["cell"].tolist()
    for person in PEOPLE:
        wanted = [f"'{name}" if name.startswith("=") else name for name in labels[person]]
        assert taken[f"by {person}"].tolist() == wanted, "a formula is quoted, and nothing else is changed"
