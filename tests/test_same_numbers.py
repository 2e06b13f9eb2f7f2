"""The demo's run in Python, in files, in the report and on the page: the same groups, confidence, support and floaters."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from command_line import run as consilience
from consilience.cli.demo import CLUSTERS, GROUPS, NUMBER
from consilience.consensus import Consensus, floaters
from consilience.datasets import load_beads
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.meta import MetaClustering
from consilience.reports import PALETTE
from explorer_cases import arrays
from page_server import download, press, serve, state, visit
from report_pages import read_page, read_table

DIGITS = 0.00051  # half of the last of three printed decimals
ROUNDED = 0.51e-6  # of the files' six


def done(*words: Any) -> str:
    """What a command prints."""
    found = consilience(*words)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """What `consilience demo -o` prints and writes."""
    folder = tmp_path_factory.mktemp("same") / "demo"
    return SimpleNamespace(folder=folder, run=folder / "run", said=done("demo", "-o", folder))


@pytest.fixture(scope="module")
def ens(demo: SimpleNamespace) -> cs.Ensemble:
    return cs.Ensemble(demo.run)


@pytest.fixture(scope="module")
def cuts(ens: cs.Ensemble) -> dict[str, MetaClustering]:
    """Organized as it comes, and in as many groups as the demo shows."""
    return {"auto": cs.organize(ens), str(GROUPS): cs.organize(ens, GROUPS)}


@pytest.fixture(scope="module")
def found(cuts: dict[str, MetaClustering]) -> dict[str, list[Consensus]]:
    """The consensus of every group of every cut."""
    return {cut: [meta.consensus(group) for group in meta.numbers] for cut, meta in cuts.items()}


@pytest.fixture(scope="module", params=["auto", str(GROUPS)])
def cut(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def numbers(meta: MetaClustering, found: list[Consensus]) -> pd.DataFrame:
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


def same_groups(table: pd.DataFrame, meta: MetaClustering, found: list[Consensus], within: float) -> None:
    """A table of groups, by their numbers, says what the results say."""
    wanted = numbers(meta, found)
    assert [int(group) for group in table.index] == wanted.index.tolist()
    assert table["medoid"].astype(str).tolist() == wanted["medoid"].tolist()
    for name in ("clusterings", "floaters"):
        assert table[name].astype(int).tolist() == wanted[name].tolist(), name
    for name in ("confidence", "support"):
        np.testing.assert_allclose(table[name].astype(float), wanted[name], rtol=0, atol=within, err_msg=name)


def same_objects(table: pd.DataFrame, meta: MetaClustering, found: list[Consensus]) -> None:
    """A table of objects has the clusters, confidence and support of every group's consensus."""
    assert table["bead"].tolist() == meta.ensemble.ids.tolist()
    for group, one in zip(meta.numbers, found, strict=True):
        assert table[f"group{group}"].tolist() == one.labels.tolist()
        np.testing.assert_allclose(table[f"confidence{group}"], one.confidence, rtol=0, atol=ROUNDED)
        np.testing.assert_allclose(table[f"support{group}"], one.support, rtol=0, atol=ROUNDED)


def test_the_run_is_what_python_generates_and_groups_are_numbered_by_size(ens, cuts, found, cut):
    np.testing.assert_array_equal(cs.generate(load_beads(), NUMBER, CLUSTERS, progress=False).labels, ens.labels)
    meta = cuts[cut]
    assert sorted(set(meta.groups)) == [*meta.numbers]
    assert meta.sizes.tolist() == sorted(meta.sizes, reverse=True)
    np.testing.assert_array_equal(cuts["auto"].cut(meta.n_groups).groups, meta.groups)
    for group, one in zip(meta.numbers, found[cut], strict=True):
        assert len(floaters(ens[:, meta.groups == group], one)) == len(one.floating) == (one.support <= 0.5).sum()


def test_the_demo_prints_them(demo, cuts, found):
    meta, groups = cuts[str(GROUPS)], found[str(GROUPS)]
    sizes, after = demo.said.split("\nOne clustering from each group")
    for group, one in zip(meta.numbers, groups, strict=True):
        row = re.search(rf"^ *{group} +(\d+) +[\d.]+ +(\S+) ", sizes, re.MULTILINE)
        assert row is not None
        assert (int(row[1]), row[2]) == (meta.sizes[group - 1], meta.ensemble.names[meta.medoids[group - 1]])
        row = re.search(rf"^{group} +([\d.]+) +([\d.]+) ", after, re.MULTILINE)
        assert row is not None
        assert [float(x) for x in row.groups()] == pytest.approx(
            [one.confidence.mean(), one.support.mean()], abs=DIGITS
        )
    assert f"-g {GROUPS}" in after


def test_the_files_of_organize(demo, cuts, found, tmp_path):
    told = json.loads(done("organize", demo.run, "-g", GROUPS, "--json"))
    assert told["group_of"] == cuts[str(GROUPS)].groups.tolist()
    same_groups(pd.DataFrame(told["groups"]).set_index("group"), cuts[str(GROUPS)], found[str(GROUPS)], 1e-12)
    meta, groups, folder = cuts["auto"], found["auto"], tmp_path / "organized"
    said = done("organize", demo.run, "-o", folder)
    assert f"in {meta.n_groups} groups" in said
    assert meta.note in said
    same_groups(pd.read_csv(folder / "groups.csv", index_col="group"), meta, groups, 1e-12)
    assert pd.read_csv(folder / "clusterings.csv")["group"].tolist() == meta.groups.tolist()
    same_objects(pd.read_csv(folder / "consensus.csv"), meta, groups)


def test_the_report(demo, cuts, found, tmp_path):
    meta, groups, whole = cuts["auto"], found["auto"], cuts["auto"].consensus()
    page, folder = tmp_path / "report.html", tmp_path / "figures"
    done("report", demo.run, page, "--figures", folder)
    same_groups(read_table(page, "The groups"), meta, groups, DIGITS)
    same_groups(pd.read_csv(folder / "groups.csv", index_col="group"), meta, groups, 1e-12)
    listed = pd.read_csv(folder / "clusterings.csv", index_col="clustering")
    assert listed["group"].sort_index().tolist() == meta.groups.tolist()
    objects = pd.read_csv(folder / "objects.csv")
    same_objects(objects, meta, groups)
    assert objects["cluster"].tolist() == whole.labels.tolist()
    np.testing.assert_allclose(objects["support"], whole.support, rtol=0, atol=ROUNDED)
    np.testing.assert_allclose(objects["confidence"], whole.confidence, rtol=0, atol=ROUNDED)
    weak = pd.read_csv(folder / "floaters.csv")
    assert weak["bead"].tolist() == meta.ensemble.ids[whole.floating].tolist()
    np.testing.assert_allclose(weak["support"], whole.support[whole.floating], rtol=1e-12)
    text = read_page(page).text
    assert f"{NUMBER} clusterings of 300 objects fall into {meta.n_groups} groups" in text
    means = f"mean confidence {whole.confidence.mean():.3f} mean support {whole.support.mean():.3f}"
    assert f"{means}; {len(whole.floating)} floaters" in text
    same_colors((folder / "map.svg").read_text(encoding="utf-8"), meta)


def same_colors(svg: str, meta: MetaClustering) -> None:
    """The legend of a picture has every group's number beside the color of that place in the palette."""
    legend = re.findall(r'fill: (#\w{6}); stroke: \1"/>.*?<!-- (\d+) -->', svg.split('id="legend_1"')[1], re.DOTALL)
    assert {int(group): color for color, group in legend} == {g: PALETTE[g - 1].lower() for g in meta.numbers}


def test_the_report_that_the_demo_writes(demo, cuts, found):
    same_groups(read_table(demo.folder / "report.html", "The groups"), cuts[str(GROUPS)], found[str(GROUPS)], DIGITS)


def test_combine(demo, ens, tmp_path):
    one = cs.combine(ens, method="information", progress=False)
    told = json.loads(
        done("combine", demo.run, "--method", "information", "-o", tmp_path / "one.csv", "--floaters", tmp_path / "weak.csv", "--save",
             tmp_path / "kept", "--json")
    )  # fmt: skip
    assert (told["method"], told["n_clusters"], told["sizes"]) == (one.method, one.n_clusters, one.sizes.tolist())
    assert told["n_floaters"] == len(one.floating)
    means = [one.confidence.mean(), one.support.mean()]
    assert [told["mean_confidence"], told["mean_support"]] == pytest.approx(means)
    table = pd.read_csv(tmp_path / "one.csv")
    assert table["cluster"].tolist() == one.labels.tolist()
    np.testing.assert_allclose(table["confidence"], one.confidence, rtol=0, atol=ROUNDED)
    np.testing.assert_allclose(table["support"], one.support, rtol=0, atol=ROUNDED)
    assert pd.read_csv(tmp_path / "weak.csv")["bead"].tolist() == ens.ids[one.floating].tolist()
    done("report", tmp_path / "kept", tmp_path / "one.html", "--figures", tmp_path / "figures")
    facts = read_page(tmp_path / "one.html").text
    assert f"mean confidence {means[0]:.3f} mean support {means[1]:.3f}; {len(one.floating)} floaters" in facts
    clusters = pd.read_csv(tmp_path / "figures" / "clusters.csv")
    told_clusters, kept = pd.DataFrame(told["clusters"]), cs.consensus.Consensus.load(tmp_path / "kept")
    for table in (clusters, told_clusters, kept.clusters):
        pd.testing.assert_frame_equal(table, one.clusters, check_dtype=False, rtol=1e-9)
    members = pd.read_csv(tmp_path / "figures" / "members.csv", dtype={"clustering": str})
    for table in (
        members.set_index("clustering").loc[one.members["clustering"]].reset_index(),
        pd.DataFrame(told["members"]),
    ):
        pd.testing.assert_frame_equal(table, one.members, check_dtype=False, rtol=1e-9)
    shown = read_table(tmp_path / "one.html", "The clusters, the largest first")
    np.testing.assert_allclose(shown["recurrence"].astype(float), one.clusters["recurrence"], rtol=0, atol=DIGITS)
    np.testing.assert_allclose(shown["support"].astype(float), one.clusters["support"], rtol=0, atol=DIGITS)


def test_the_page_draws_floaters_hollow_and_nothing_else(cuts, found, cut):
    meta = cuts[cut]
    refs = ",".join(f"{meta.n_clusterings}.{node}c" for node in meta.nodes)
    _, sent = arrays(Api(Session(meta)), f"labels/{refs}")
    for steps, one in zip(sent["support"], found[cut], strict=True):
        np.testing.assert_array_equal(np.flatnonzero(steps <= 127), np.sort(one.floating))


@pytest.fixture(scope="module")
def page(browser: Any, demo: SimpleNamespace) -> Iterator[Any]:
    server = serve(demo.run)
    try:
        with visit(browser, server.url) as seen:
            yield seen.page
    finally:
        server.close()


def shown_groups(page: Any) -> list[tuple[int, int]]:
    """Number and size of every tile; groups have no colors of their own, which are for clusters, but for the selected one."""
    tiles = page.locator(".tile").all()
    marks = [tile.locator(".group-mark") for tile in tiles]
    assert len({mark.evaluate("mark => getComputedStyle(mark).backgroundColor") for mark in marks}) <= 2
    words = [re.match(r"group (\d+): ([\d,]+) clusterings?, ", tile.get_attribute("title")) for tile in tiles]
    assert [int(mark.inner_text()) for mark in marks] == [int(word[1]) for word in words]
    return [(int(word[1]), int(word[2].replace(",", ""))) for word in words]


def shown_numbers(page: Any, size: int) -> tuple[float, float, int]:
    """Mean confidence, mean support and number of floaters of the selected consensus, once it is shown."""
    detail = page.locator("#panel-detail")
    detail.locator("h2", has_text=f"Consensus of {size} clusterings").wait_for()
    detail.locator("[aria-busy=false]", has_text=f"{size} clusterings").wait_for()
    text = detail.locator("section", has_text="Confidence of objects").inner_text()
    means = [float(re.search(rf"{name} of objects\s+mean ([\d.]+)", text, re.IGNORECASE)[1]) for name in ("confidence", "support")]  # type: ignore[index]  # fmt: skip
    weak = re.search(r"(\d+) floaters?, no majority", text)
    return means[0], means[1], int(weak[1]) if weak else 0


def test_the_page(page: Any, demo: SimpleNamespace, cuts, found) -> None:
    meta = cuts["auto"]
    assert int(state(page)["cut"]) == meta.n_groups
    press(page, "c")
    for cut, meta in cuts.items():
        box = page.get_by_label("Number of groups", exact=True)
        box.fill(str(meta.n_groups))
        box.press("Enter")
        page.locator(".tile").nth(meta.n_groups - 1).wait_for()
        assert shown_groups(page) == list(zip(meta.numbers, meta.sizes, strict=True))
        boxes = [box.get_attribute("title") for box in page.locator(".group-box").all()]
        assert sorted(boxes) == [f"Group {group}: {size} clusterings" for group, size in enumerate(meta.sizes, 1)]
        page.locator("h1").click()  # out of the field, so that keys act
        for group, one in zip(meta.numbers, found[cut], strict=True):
            press(page, str(group))
            assert int(re.match(r"\d+\.(\d+)c", state(page)["sel"])[1]) == meta.nodes[group - 1]
            shown = shown_numbers(page, meta.sizes[group - 1])
            wanted = (one.confidence.mean(), one.support.mean(), len(one.floating))
            assert shown == pytest.approx(wanted, abs=DIGITS)
            rows = page.locator(
                "#panel-detail table", has_text=re.compile(r"How far to trust each cluster(?!ing)")
            ).locator("tbody tr")
            texts = [row.locator("th, td").all_inner_texts() for row in rows.all()]
            wanted = one.clusters[["cluster", "size", "confidence", "support", "floaters"]].to_numpy(float)
            np.testing.assert_allclose([[float(x) for x in row] for row in texts], wanted, rtol=0, atol=DIGITS)
            if one.floating.size:
                rows = page.locator("#panel-detail table", has_text="Floaters, the weakest first").locator("tbody tr")
                texts = [row.locator("th, td").all_inner_texts() for row in rows.all()]
                assert [row[0] for row in texts] == meta.ensemble.ids[one.floating][:100].tolist()
                np.testing.assert_allclose(
                    [[float(x) for x in row[1:4]] for row in texts],
                    np.stack([one.labels, one.confidence, one.support], 1)[one.floating][:100],
                    rtol=0,
                    atol=DIGITS,
                )
    for group in meta.numbers:
        press(page, str(group), "s")
    table = pd.read_csv(io.BytesIO(download(page, "CSV")))
    assert table["bead"].tolist() == meta.ensemble.ids.tolist()
    for group, one in zip(meta.numbers, found[cut], strict=True):
        name = f"group {group} consensus"
        assert table[name].tolist() == one.labels.tolist()
        np.testing.assert_allclose(table[f"{name} confidence"], one.confidence, rtol=1e-12)
        np.testing.assert_allclose(table[f"{name} support"], one.support, rtol=1e-12)


def test_all_clusterings_together_on_the_page(page: Any, cuts) -> None:
    meta, whole = cuts["auto"], cuts["auto"].consensus()
    if state(page).get("rep") != "c":
        press(page, "c")
    press(page, "1")
    while not state(page)["sel"].endswith(f".{2 * meta.n_clusterings - 2}c"):
        press(page, "ArrowUp")
    shown = shown_numbers(page, meta.n_clusterings)
    assert shown == pytest.approx((whole.confidence.mean(), whole.support.mean(), len(whole.floating)), abs=DIGITS)
