"""1,000 clusterings of 100,000 objects: looked through, their consensus made, and taken away whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.page import copies
from consilience.measures import adjusted_rand
from journeys.steps import drawn, exported, journey, keep, settled
from page_server import press, show, state

pytestmark = pytest.mark.slow

N, M = 100_000, 1000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored run of them, and data to show."""
    folder = tmp_path_factory.mktemp("large")
    ensemble = copies(N, M, 15)
    ensemble.save(folder / "run")
    np.save(folder / "data.npy", np.random.default_rng(0).standard_normal((N, 10)))
    return folder


def test_looked_through_agreed_on_and_taken_away(browser: Any, large: Path) -> None:
    with journey(browser, large, "explore run --data data.npy") as page:
        assert "1,000 clusterings of 100,000 objects" in page.locator(".top").inner_text()
        for pane in ("Map", "Scores", "Tree"):
            show(page, pane)
            page.locator(f"#panel-{pane.lower()} canvas").first.wait_for()
        press(page, "c")
        drawn(page)
        slider = page.get_by_role("slider", name="Groups")
        for groups in (4, 9, 17, 16):
            slider.fill(str(groups))
        drawn(page)
        press(page, "1")
        settled(page)
        assert state(page)["sel"].endswith("c")
        keep(page, "agreed")
        page.get_by_label("Find objects").fill("99999")
        page.get_by_label("Find objects").press("Enter")
        page.locator(".picked-bar").wait_for()
        taken = exported(page)
    assert len(taken) == N
    kinds = copies(N, 16, 15, noise=(0, 0)).labels
    near = [adjusted_rand(taken["agreed"].to_numpy(), kinds[:, kind]) for kind in range(16)]
    assert max(near) > 0.95, "one of the clusterings that the others are noisy copies of"
    support = taken["agreed support"].astype(float)
    assert 0.5 < support.mean() <= 1
