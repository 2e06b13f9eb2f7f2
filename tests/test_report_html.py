"""The page itself: what goes in comes out as text, and nothing else; and twenty colors that can be told apart, the page's too."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from consilience.reports.figures import MARKERS, PALETTE, UNLABELED, color_of, marker_of, new_figure
from consilience.reports.finding import Code, Facts, Heading, Items, Link, Picture, Section, See, Sheet, Strip, Text
from consilience.reports.html import draw_strip, inline_svg, render
from report_pages import Page

EVIL = "<script>alert('x')</script>\"&<img src=x onerror=alert(1)>"


def figure(text="plain"):
    made = new_figure(9, 4)
    axis = made.subplots()
    axis.plot([0, 1], [0, 1], color="black", label=text)
    axis.scatter([0, 1], [1, 0], edgecolor="white", rasterized=True)
    axis.set_title(text)
    axis.legend()
    return made


def test_text_of_every_block_is_escaped():
    frame = pd.DataFrame({EVIL: [EVIL, 2], "list": [[EVIL], [1, 2]]}, index=pd.Index([EVIL, "b"], name=EVIL))
    strips = {EVIL: [Strip([1], [1], EVIL, levels=[EVIL])]}
    blocks = [Text(EVIL), Text([EVIL, Link("figure-b", EVIL)], note=True), Heading(EVIL, EVIL), Facts([(EVIL, EVIL)])]
    blocks += [Code(EVIL), Sheet("a", frame, EVIL, most=1, strips=strips), Picture("b", figure(EVIL), EVIL, EVIL)]
    page = Page(render(EVIL, [Text(EVIL), Items([EVIL])], [Section(EVIL, blocks)], EVIL, more=EVIL)).check()
    assert page.text.count(EVIL) >= 14
    assert page.all("svg")[-1]["aria-label"] == EVIL


def test_control_characters_and_lone_surrogates_do_no_harm():
    text = render("a\x00b\ud800c\x1b[0m", [], [], "")
    assert "<title>a\ufffdb\ufffdc\ufffd[0m</title>" in text
    assert text.encode("utf-8")


def test_cells_are_short_and_numbers_readable():
    values = [0.12345, 1234567.0, float("nan"), -6.7e-05, -0.0]
    table = pd.DataFrame({"x": values, "n": 1234567, "w": ["y" * 500, None, pd.NA, True, [1, 2]]}).rename_axis("at")
    text = Page(render("t", [], [Section("s", [Sheet("x", table, "c")])], "")).text
    for shown in ("0.123", "1,234,567", "–", "0.000", "yes", "1, 2", "y" * 159 + "…"):
        assert f" {shown} " in f"{text} "
    assert "y" * 160 not in text


def test_long_tables_are_cut_and_say_so():
    table = pd.DataFrame({"x": range(100)}, index=pd.RangeIndex(100, name="at"))
    one = Page(render("t", [], [Section("s", [Sheet("numbers", table, "c", most=30)])], "", more="folder"))
    assert one.text.count("row") == 1
    assert "… and 70 more rows, in folder/numbers.csv." in one.text
    assert len(one.all("tr")) == 31
    assert "more row" not in render("t", [], [Section("s", [Sheet("x", table, "c", most=100)])], "")
    assert not Page(render("t", [], [Section("s", [Sheet("x", table, "c", most=0)])], "")).all("table")


def test_figures_turn_over_in_the_dark_and_share_no_ids():
    one, two = (inline_svg(figure("é <b>"), name, "words") for name in ("one", "two"))
    assert [word in one for word in ("#000000", "#ffffff", "currentColor", "&lt;b&gt;")] == [False, False, True, True]
    ids = [{attrs["id"] for _, attrs in Page(svg).tags if "id" in attrs} for svg in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert one == inline_svg(figure("é <b>"), "one", "words")  # the same picture, the same bytes


def test_colors_of_data_stay():
    made = new_figure(2, 2)
    made.subplots().imshow(np.eye(2))
    made.axes[0].text(0, 0, "5", color="#fefefe")
    assert "#fefefe" in inline_svg(made, "x", "y")


def test_figures_and_tables_are_cited_by_their_numbers_and_what_is_not_there_is_left_out():
    frame = pd.DataFrame({"x": [-1.5]}, index=pd.Index([7], name="cluster"))
    rows = Sheet("rows", frame, "Rows", anchors=["cluster-7"], colors=["#0072B2"])
    more = Sheet("more", frame, "More", links=["cluster-7"])
    hidden = Sheet("hidden", frame, "Hidden", most=0)
    lead = Text(["Found", See(("plot", "gone"), ("rows", "more", "hidden")), ", ", Link("nowhere", "not here"), "."])
    text = render("t", [lead], [Section("s", [hidden, rows, Picture("plot", figure(), "a", "c"), more])], "")
    page = Page(text).check()
    assert "Found ( Figure 1 , Table 1 , Table 2 ), not here." in page.text
    assert [one["href"] for one in page.all("a")][1:4] == ["#figure-plot", "#table-rows", "#table-more"]
    assert 'href="#cluster-7"' in text
    assert "Table 2. More" in page.text
    assert "−1.500" in page.text


def test_a_strip_says_what_it_shows():
    strip = Strip([0, 1, 0, 0], [0.25] * 4, "#0072B2", 0.0, 4.0)
    assert strip.words == "here the middle half from 1.250 to 1.750; elsewhere the middle half from 1.000 to 3.000"
    assert "V26H28V0H56V26H84V26H112" in draw_strip(strip)
    levels = Strip([0.2, 0.8], None, "#0072B2", levels=["no", "yes"])
    assert levels.words == "here yes 80 %, no 20 %"
    assert draw_strip(levels).count("M") == 2


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
