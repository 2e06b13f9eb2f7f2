"""Vowel: 990 sounds; the group nearest to the vowels, what it votes for and how sure it is, and what is taken away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import consilience as cs
from consilience.measures import adjusted_rand
from journeys.steps import drawn, exported, journey, keep, settled, tile_of
from page_server import said, show, state

pytestmark = pytest.mark.slow


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
        page.get_by_label("Find objects").fill("y: hAd")
        page.get_by_label("Find objects").press("Enter")
        said(page, "90 objects picked")
        show(page, "Picked")
        page.locator("#panel-picked .treated").wait_for()
        taken = exported(page)
    one = cs.organize(cs.Ensemble.load(tmp_path / "run"), 6).consensus(group)
    assert taken["vowels"].astype(int).tolist() == one.labels.tolist()
    np.testing.assert_allclose(taken["vowels confidence"].astype(float), one.confidence, atol=1e-6)
    np.testing.assert_allclose(taken["vowels support"].astype(float), one.support, atol=1e-6)
    with np.load(file) as known:
        vowels, speakers = (adjusted_rand(taken["vowels"], known[name]) for name in ("y", "y2"))
    assert vowels > 0.15, "the best k-means reaches about .2"
    assert speakers < vowels
