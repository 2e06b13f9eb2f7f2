"""Control charts: series of 60 points, seen as curves; trends and shifts come apart, and are taken away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from consilience.measures import adjusted_rand
from journeys.steps import exported, journey, keep, settled, tile_of
from page_server import said, show

pytestmark = pytest.mark.slow

INK = """canvas => {
  const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return bytes.filter((value, at) => at % 4 === 3 && value > 0).length;
}"""


def test_clusters_are_seen_as_curves(browser: Any, tmp_path: Path, data_folder: Path) -> None:
    file = data_folder / "control_chart.npz"
    with journey(browser, tmp_path, f"explore {file} --key X --known y --curves -k 6 -n 100") as page:
        tile_of(page, "y").click()
        settled(page)
        looks = page.locator(".cluster-looks li")
        looks.first.locator("canvas").first.wait_for()
        assert looks.count() == 6
        assert looks.first.locator("canvas").first.evaluate(INK) > 200, "a curve and its band"
        looks.nth(1).locator("button").first.click()  # one that is typical
        said(page, "1 object picked")
        show(page, "Picked")
        page.locator(".picked-objects .looks canvas").wait_for()
        keep(page, "patterns")
        taken = exported(page)
    with np.load(file) as known:
        assert adjusted_rand(taken["patterns"], known["y"]) > 0.5
