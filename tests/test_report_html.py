"""The page itself: what goes in comes out as text, and nothing else."""

import numpy as np
import pandas as pd

from consilience.reports.figures import new_figure
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
    blocks = [
        *(
            Text(EVIL),
            Text([EVIL, Link("figure-b", EVIL)], note=True),
            Heading(EVIL, EVIL),
            Facts([(EVIL, EVIL)]),
            Code(EVIL),
        ),
        *(
            Sheet("a", frame, EVIL, most=1, strips={EVIL: [Strip([1], [1], EVIL, levels=[EVIL])]}),
            Picture("b", figure(EVIL), EVIL, EVIL),
        ),
    ]
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
    assert "#000000" not in one
    assert "#ffffff" not in one
    assert "currentColor" in one
    assert "&lt;b&gt;" in one
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
