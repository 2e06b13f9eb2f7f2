"""Objects are seen: control charts as curves, written digits by an image of each; what is seen is taken away."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from consilience.measures import adjusted_rand
from journeys.steps import exported, find, journey, keep, settled, tile_of
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


SIDE = 28  # pixels
N = 3000


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory, data_folder: Path) -> Path:
    """A table of the pens' eight places, the digit, and the path of an image that is drawn from them."""
    image, draw = pytest.importorskip("PIL.Image"), pytest.importorskip("PIL.ImageDraw")
    folder = tmp_path_factory.mktemp("digits")
    (folder / "images").mkdir()
    with np.load(data_folder / "pendigits.npz") as z:
        places, digit = z["X"][:N], z["y"][:N]
    table = pd.DataFrame(places, columns=[f"{axis}{at}" for at in range(8) for axis in "xy"])
    table["digit"] = [f"digit {one}" for one in digit]
    table["image"] = [f"images/{number}.png" for number in range(N)]
    for number, points in enumerate(places.reshape(N, 8, 2) * (SIDE - 5) / 100 + 2):
        paper = image.new("L", (SIDE, SIDE), 255)
        draw.Draw(paper).line([(float(x), SIDE - float(y)) for x, y in points], fill=0, width=2)
        paper.save(folder / "images" / f"{number}.png")
    table.to_csv(folder / "digits.csv", index_label="number")
    return folder


def test_clusters_are_seen_by_their_images(browser: Any, digits: Path) -> None:
    line = "explore digits.csv --id number --known digit --images image -k 10 -n 60"
    with journey(browser, digits, line) as page:
        tile_of(page, "digit").click()
        settled(page)
        looks = page.locator(".cluster-looks li")
        looks.first.locator("img.look").first.wait_for()
        assert looks.count() == 10
        first = looks.first.locator("img.look").first
        assert first.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [SIDE, SIDE]
        find(page, "17", "1 object picked")
        show(page, "Picked")
        page.locator(".picked-objects img.look").wait_for()
        keep(page, "written")
        taken = exported(page)
    digit = pd.read_csv(digits / "digits.csv", dtype=str)
    assert taken["number"].tolist() == digit["number"].tolist()
    assert adjusted_rand(taken["written"], digit["digit"]) > 0.4
