"""A run in Python, in files, in the report and on the page: the same groups, confidence, support and floaters."""

import io
import re

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import answer, ran
from consilience.datasets import load_beads
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.reports.figures import PALETTE
from explorer_cases import arrays
from page_server import download, press, serve, state, visit
from report_pages import read_page, read_table

DIGITS = 0.00051  # half of the last of three printed decimals
ROUNDED = 0.51e-6  # of the files' six


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A stored run of 40 clusterings, which is as the demo's of 500."""
    folder = tmp_path_factory.mktemp("same") / "run"
    cs.generate(load_beads(), 40, 4, store=folder, progress=False)
    return folder


@pytest.fixture(scope="module")
def meta(run):
    return cs.organize(cs.Ensemble(run), 3)


@pytest.fixture(scope="module")
def groups(meta):
    """The consensus of every group."""
    return [meta.consensus(group) for group in meta.numbers]


def numbers(meta, found):
    """What is compared of the groups, from the results themselves."""
    return pd.DataFrame(
        {
            "clusterings": np.bincount(meta.groups)[1:],
            "medoid": [meta.ensemble.names[one] for one in meta.medoids],
            "confidence": [one.confidence.mean() for one in found],
            "support": [one.support.mean() for one in found],
            "floaters": [int((one.support <= 0.5).sum()) for one in found],
        },
        index=pd.RangeIndex(1, meta.n_groups + 1, name="group"),
    )


def same_groups(table, meta, found, within):
    """A table of groups, by their numbers, says what the results say."""
    wanted = numbers(meta, found)
    assert [int(group) for group in table.index] == wanted.index.tolist()
    assert table["medoid"].astype(str).tolist() == wanted["medoid"].tolist()
    for name in ("clusterings", "floaters"):
        assert table[name].astype(int).tolist() == wanted[name].tolist(), name
    for name in ("confidence", "support"):
        np.testing.assert_allclose(table[name].astype(float), wanted[name], rtol=0, atol=within, err_msg=name)


def same_objects(table, meta, found):
    """A table of objects has the clusters, confidence and support of every group's consensus."""
    assert table["bead"].tolist() == meta.ensemble.ids.tolist()
    for group, one in zip(meta.numbers, found, strict=True):
        assert table[f"group{group}"].tolist() == one.labels.tolist()
        np.testing.assert_allclose(table[f"confidence{group}"], one.confidence, rtol=0, atol=ROUNDED)
        np.testing.assert_allclose(table[f"support{group}"], one.support, rtol=0, atol=ROUNDED)


def test_the_files_of_organize(run, meta, groups, tmp_path):
    told = answer("organize", run, "-g", 3, "-o", tmp_path)
    assert told["group_of"] == meta.groups.tolist()
    same_groups(pd.DataFrame(told["groups"]).set_index("group"), meta, groups, 1e-12)
    same_groups(pd.read_csv(tmp_path / "groups.csv", index_col="group"), meta, groups, 1e-12)
    assert pd.read_csv(tmp_path / "clusterings.csv")["group"].tolist() == meta.groups.tolist()
    same_objects(pd.read_csv(tmp_path / "consensus.csv"), meta, groups)


@pytest.mark.slow
def test_the_report(run, meta, groups, tmp_path):
    whole = meta.consensus()
    page, folder = tmp_path / "report.html", tmp_path / "figures"
    ran("report", run, page, "-g", 3, "--figures", folder)
    same_groups(read_table(page, "The groups"), meta, groups, DIGITS)
    listed = pd.read_csv(folder / "clusterings.csv", index_col="clustering")
    assert listed["group"].sort_index().tolist() == meta.groups.tolist()
    same_objects(pd.read_csv(folder / "objects.csv"), meta, groups)
    weak = pd.read_csv(folder / "floaters.csv")
    assert weak["bead"].tolist() == meta.ensemble.ids[whole.floating].tolist()
    np.testing.assert_allclose(weak["support"], whole.support[whole.floating], rtol=1e-12)
    text = read_page(page).text
    assert f"40 clusterings of 300 objects, in {meta.n_groups} groups" in text
    means = f"confidence {whole.confidence.mean():.3f} on average support {whole.support.mean():.3f} on average"
    assert f"{means}; {len(whole.floating)} floaters" in text
    same_colors((folder / "map.svg").read_text(encoding="utf-8"), meta)


def same_colors(svg, meta):
    """The legend of a picture has every group's number beside the color of that place in the palette."""
    legend = re.findall(r'fill: (#\w{6}); stroke: \1"/>.*?<!-- (\d+) -->', svg.split('id="legend_1"')[1], re.DOTALL)
    assert {int(group): color for color, group in legend} == {g: PALETTE[g - 1].lower() for g in meta.numbers}


def test_the_page_draws_floaters_hollow_and_nothing_else(meta, groups):
    refs = ",".join(f"{meta.n_clusterings}.{node}c" for node in meta.nodes)
    _, sent = arrays(Api(Session(meta)), f"labels/{refs}")
    for steps, one in zip(sent["support"], groups, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(steps <= 127), np.sort(one.floating))


@pytest.fixture(scope="module")
def page(browser, run):
    server = serve(run)
    try:
        with visit(browser, server.url) as seen:
            yield seen.page
    finally:
        server.close()


def shown_groups(page):
    """Number and size of every tile; groups have no colors of their own, which are for clusters, but for the selected one."""
    tiles = page.locator(".tile").all()
    marks = [tile.locator(".group-mark") for tile in tiles]
    assert len({mark.evaluate("mark => getComputedStyle(mark).backgroundColor") for mark in marks}) <= 2
    words = [re.match(r"group (\d+): ([\d,]+) clusterings?, ", tile.get_attribute("title")) for tile in tiles]
    assert [int(mark.inner_text()) for mark in marks] == [int(word[1]) for word in words]
    return [(int(word[1]), int(word[2].replace(",", ""))) for word in words]


def shown_numbers(page, size):
    """Mean confidence, mean support and number of floaters of the selected consensus, once it is shown."""
    detail = page.locator("#panel-detail")
    detail.locator("h2", has_text=f"Consensus of {size} clusterings").wait_for()
    detail.locator("[aria-busy=false]", has_text=f"{size} clusterings").wait_for()
    text = detail.locator("section", has_text="Confidence of objects").inner_text()
    means = re.findall(r"(?:confidence|support) of objects\s+mean ([\d.]+)", text, re.IGNORECASE)
    weak = re.search(r"(\d+) floaters?, no majority", text)
    return *map(float, means), int(weak[1]) if weak else 0


@pytest.mark.slow
def test_the_page(page, meta, groups):
    press(page, "c")
    box = page.get_by_label("Number of groups", exact=True)
    box.fill(str(meta.n_groups))
    box.press("Enter")
    page.locator(".tile").nth(meta.n_groups - 1).wait_for()
    assert shown_groups(page) == list(zip(meta.numbers, meta.sizes, strict=True))
    boxes = [box.get_attribute("title") for box in page.locator(".group-box").all()]
    assert sorted(boxes) == [f"Group {group}: {size} clusterings" for group, size in enumerate(meta.sizes, 1)]
    page.locator("h1").click()  # out of the field, so that keys act
    for group, one in zip(meta.numbers, groups, strict=True):
        press(page, str(group))
        assert int(re.match(r"\d+\.(\d+)c", state(page)["sel"])[1]) == meta.nodes[group - 1]
        shown = shown_numbers(page, meta.sizes[group - 1])
        wanted = (one.confidence.mean(), one.support.mean(), len(one.floating))
        assert shown == pytest.approx(wanted, abs=DIGITS)
        table = page.locator("#panel-detail table", has_text=re.compile(r"How far to trust each cluster(?!ing)"))
        rows = table.locator("tbody tr")
        texts = [row.locator("th, td").all_inner_texts() for row in rows.all()]
        wanted = one.clusters[["cluster", "size", "confidence", "support", "floaters"]].to_numpy(float)
        np.testing.assert_allclose([[float(x) for x in row] for row in texts], wanted, rtol=0, atol=DIGITS)
        if one.floating.size:
            rows = page.locator("#panel-detail table", has_text="Floaters, the weakest first").locator("tbody tr")
            texts = [row.locator("th, td").all_inner_texts() for row in rows.all()]
            assert [row[0] for row in texts] == meta.ensemble.ids[one.floating][:100].tolist()
            shown, wanted = (
                [[float(x) for x in row[1:4]] for row in texts],
                np.stack([one.labels, one.confidence, one.support], 1),
            )
            np.testing.assert_allclose(shown, wanted[one.floating][:100], rtol=0, atol=DIGITS)
    for group in meta.numbers:
        press(page, str(group), "s")
    table = pd.read_csv(io.BytesIO(download(page, "CSV")))
    assert table["bead"].tolist() == meta.ensemble.ids.tolist()
    for group, one in zip(meta.numbers, groups, strict=True):
        name = f"group {group} consensus"
        assert table[name].tolist() == one.labels.tolist()
        np.testing.assert_allclose(table[f"{name} confidence"], one.confidence, rtol=1e-12)
        np.testing.assert_allclose(table[f"{name} support"], one.support, rtol=1e-12)


def test_all_clusterings_together_on_the_page(page, meta):
    whole = meta.consensus()
    if state(page).get("rep") != "c":
        press(page, "c")
    press(page, "1")
    while not state(page)["sel"].endswith(f".{2 * meta.n_clusterings - 2}c"):
        press(page, "ArrowUp")
    shown = shown_numbers(page, meta.n_clusterings)
    assert shown == pytest.approx((whole.confidence.mean(), whole.support.mean(), len(whole.floating)), abs=DIGITS)
