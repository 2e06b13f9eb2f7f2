"""What clusterings agree on: of the group nearest to the vowels, and of 1,000 clusterings of 100,000 objects."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import consilience as cs
from benchmarks.page import copies
from consilience.measures import adjusted_rand
from journeys.steps import drawn, exported, find, journey, keep, settled, tile_of
from page_server import press, show, state

pytestmark = [pytest.mark.slow, pytest.mark.full_effort]


def test_the_consensus_of_the_group_nearest_to_the_vowels(browser: Any, tmp_path: Path, data_folder: Path) -> None:
    file = data_folder / "vowel.npz"
    line = f"explore {file} --key X --known y,y2 -k 11 -n 200 -o run"
    with journey(browser, tmp_path, line) as page:
        page.get_by_label("Number of groups").fill("6")
        page.get_by_label("Number of groups").press("Enter")
        assert page.locator(".tile").count() == 6
        page.get_by_role("button", name="Consensus", exact=True).click()
        drawn(page)
        nearest = tile_of(page, "y")
        group = int(nearest.get_attribute("data-group"))
        nearest.click()
        settled(page)
        assert state(page)["sel"].endswith("c")
        page.locator("#panel-detail", has_text="How far to trust each clustering").wait_for()
        keep(page, "vowels")
        find(page, "y: hAd", "90 objects picked")
        show(page, "Picked")
        page.locator("#panel-picked .treated").wait_for()
        taken = exported(page)
    one = cs.organize(cs.Ensemble.load(tmp_path / "run"), 6).consensus(group)
    assert taken["vowels"].astype(int).tolist() == one.labels.tolist()
    np.testing.assert_allclose(taken["vowels confidence"].astype(float), one.confidence, atol=1e-6)
    np.testing.assert_allclose(taken["vowels support"].astype(float), one.support, atol=1e-6)
    with np.load(file) as known:
        vowels, speakers = (adjusted_rand(taken["vowels"], known[name]) for name in ("y", "y2"))
    assert vowels > 0.1, "the best k-means reaches about .2"
    assert speakers < vowels


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
        find(page, "99999")
        page.locator(".picked-bar").wait_for()
        taken = exported(page)
    assert len(taken) == N
    kinds = copies(N, 16, 15, noise=(0, 0)).labels
    near = [adjusted_rand(taken["agreed"].to_numpy(), kinds[:, kind]) for kind in range(16)]
    assert max(near) > 0.95, "one of the clusterings that the others are noisy copies of"
    support = taken["agreed support"].astype(float)
    assert 0.5 < support.mean() <= 1
