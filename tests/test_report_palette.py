"""Twenty colors that can be told apart, the same in pictures and on the page."""

import re
from pathlib import Path

import numpy as np
import pytest

from consilience.reports.figures import MARKERS, PALETTE, UNLABELED, color_of, marker_of

# Linear RGB as people without one kind of cones see it (Machado, Oliveira and Fernandes 2009), and Ottosson's OKLab.
VISION = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
OPPONENT = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
]


def seen(colors, vision):
    rgb = np.array([[int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)] for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ np.transpose(VISION[vision])
    return np.cbrt(np.clip(linear, 0, 1) @ np.transpose(CONES)) @ np.transpose(OPPONENT)


@pytest.mark.parametrize(("vision", "least"), [("all", 0.1), ("no red", 0.05), ("no green", 0.05), ("no blue", 0.04)])
def test_every_two_colors_can_be_told_apart(vision, least):
    places = seen([*PALETTE, UNLABELED], vision)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert apart[np.triu_indices(len(places), 1)].min() > least


def test_beyond_twenty_the_marker_tells():
    assert len(set(PALETTE)) == 20
    looks = [(color_of(number), marker_of(number)) for number in range(-1, 20 * len(MARKERS))]
    assert len(set(looks)) == len(looks)


def test_the_page_has_the_same_colors():
    (path,) = (Path(__file__).parents[1] / "page" / "src").rglob("palette.js")
    listed = re.search(r"export const COLOU?RS = \[(.*?)\]", path.read_text("utf-8"), re.DOTALL)
    assert tuple(re.findall(r'"(#\w{6})"', listed[1])) == PALETTE
