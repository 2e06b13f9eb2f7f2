"""The same ensemble has the same answer, whatever the order of its objects and clusterings and the names of its labels; and a run in
Python, in files, in the report and on the page the same groups, confidence, support and floaters.
Any number of threads: test_consensus_battery, test_information, test_generate, test_pairwise, test_kmeans, test_kernels."""

import io
import re
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.vq import kmeans2

import consilience as cs
from command_line import answer, ran
from consilience.consensus import METHODS, EvidenceAccumulation
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.trust import confidence as confidence_file
from consilience.datasets import load_beads
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.measures import adjusted_rand
from consilience.reports.figures import PALETTE
from explorer_cases import arrays
from page_server import download, press, serve, state, visit
from report_pages import read_page, read_table
from samples import first_of, pool_of, random_labels

OPTIONS = {"nbce": {"max_iter": 30, "n_chains": 2, "n_init": 2}, "anmi": {"n_init": 2}, "bce": {"n_init": 2}}


def shuffled(labels, seed):
    """Other orders and other names; and the order of the objects."""
    rng = np.random.default_rng(seed)
    objects, clusterings = rng.permutation(labels.shape[0]), rng.permutation(labels.shape[1])
    other = labels[objects][:, clusterings]
    for column in other.T:
        names = rng.permutation(column.max() + 4)[: column.max() + 1]
        column[:] = np.append(names, -1)[column]
    return other, objects


def kmeans_ensemble(seed, n=150, r=7):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3)) + 3 * rng.integers(0, 2, (n, 3))
    runs = [kmeans2(points, int(k), seed=rng, minit="points")[1] for k in rng.integers(2, 13, r)]
    return np.column_stack([np.unique(run, return_inverse=True)[1] for run in runs])


@pytest.fixture(scope="module")
def pool(data_folder):
    """Objects and clusterings of a pool of the literature."""
    return pool_of(data_folder, "VS")[::3, ::9].astype(np.int64)


def assert_same_answer(labels, k, method, seed, weights=None, **options):
    options = OPTIONS.get(method, {}) | options
    one = cs.combine(labels, k, method, random_state=seed, sample_weight=weights, **options)
    other, objects = shuffled(labels, seed)
    moved = None if weights is None else weights[objects]
    two = cs.combine(other, k, method, random_state=seed, sample_weight=moved, **options)
    assert adjusted_rand(one.labels[objects], two.labels) == 1
    # Clusters of equal size are numbered by their first object, and sums over clusters rounded accordingly.
    assert_allclose(one.confidence[objects], two.confidence, rtol=1e-12)
    assert_array_equal(one.support[objects], two.support)
    assert one.anmi == pytest.approx(two.anmi, rel=1e-12)


@pytest.mark.parametrize("seed", first_of([0, 1]))
@pytest.mark.parametrize("method", METHODS)
def test_every_method_on_a_pool(method, seed, pool):
    assert_same_answer(pool, 4, method, seed)


@pytest.mark.parametrize("k", [4, "auto"])
def test_the_default_on_a_pool(k, pool):
    assert_same_answer(pool[::2], k, "auto", 0)


@pytest.mark.parametrize("seed", first_of([0, 1]))
@pytest.mark.parametrize(("method", "k"), [*((method, 5) for method in METHODS), ("auto", 5), ("auto", "auto")])
def test_with_weights_and_missing_labels(method, k, seed):
    labels, rng = kmeans_ensemble(seed), np.random.default_rng(seed)
    labels[rng.random(labels.shape) < 0.15] = -1
    assert_same_answer(labels, k, method, seed, weights=rng.integers(1, 4, len(labels)))
    fractions = {"inference": "vb"} if method == "nbce" else {}  # Gibbs sampling draws whole objects
    assert_same_answer(labels, k, method, seed, weights=rng.random(len(labels)) + 0.5, **fractions)


# A handful of objects can have places that differ and that colors cannot tell apart: two copies of a clustering and one across
# them, four objects each. Chance makes no such thing of dozens.
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(30, 90),
    r=st.integers(1, 6),
    size=st.integers(1, 6),
    holes=st.sampled_from([0.0, 0.3]),
    copies=st.integers(1, 2),
)
def test_the_problem_is_the_same(seed, n, r, size, holes, copies):
    labels = np.hstack([random_labels(seed, n, r, size, holes, labeled=True)] * copies)
    other, objects = shuffled(labels, seed)
    weights = np.random.default_rng(seed).random(n) + 0.5
    for mine, theirs in ((None, None), (weights, weights[objects])):
        if len(np.unique(labels, axis=0)) < 2:
            return
        one, two = check_problem(labels, 2, mine), check_problem(other, 2, theirs)
        assert_array_equal(one.labels, two.labels)
        assert_array_equal(one.weights, two.weights)
        # Objects that change places without any change in the ensemble may be either row.
        assert_array_equal(two.as_given(two.labels)[two.inverse], cs.Ensemble(other).labels)
        assert_array_equal(two.inverse[two.first], np.arange(two.n_rows))


def test_rows_and_labels_are_as_given():
    labels = random_labels(3, 40, 5, 4, 0.3, labeled=True)
    labels[:, 2] = -1
    ensemble = cs.Ensemble(labels)
    problem = check_problem(ensemble, 3)
    assert problem.n_clusterings == 4
    assert_array_equal(problem.as_given(problem.labels[problem.inverse]), ensemble.labels)
    numbers, offsets = problem.labels_as_given()
    edges = problem.hyperedges
    place = np.argsort(numbers)  # of every label, in the order of the ensemble
    kept = ensemble.labels[:, [0, 1, 3, 4]]
    for q, column in enumerate(problem.columns_as_given()):
        known = kept[:, q] >= 0
        assert_array_equal(place[edges[problem.inverse[known], column]], kept[known, q] + offsets[q])
    leaves = EvidenceAccumulation(3).fit(ensemble).linkage_rows_
    assert set(map(tuple, leaves)) == set(map(tuple, ensemble.labels))


def test_symmetric_parts_are_told_apart_alike():
    """Two halves that mirror one another in several clusterings: each tie alone could be broken either way, together they cannot."""
    half = random_labels(5, 12, 3, 3)
    labels = np.vstack([half, half + 3])
    problems = [check_problem(shuffled(labels, seed)[0], 2) for seed in range(6)]
    for problem in problems[1:]:
        assert_array_equal(problem.labels, problems[0].labels)


def test_dependence_is_judged_by_the_same_objects(monkeypatch):
    monkeypatch.setattr(confidence_file, "SAMPLE", 60)
    labels = kmeans_ensemble(3)
    assert_same_answer(labels, 4, "vote", 3)
    problem = check_problem(labels, 4)
    rows, weights = confidence_file._sampled(problem)
    step = -(-len(labels) // 60)
    assert_array_equal(np.repeat(rows, weights.astype(int)), np.sort(problem.inverse)[::step])


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


def same_groups(table, meta, found, within):
    """A table of groups, by their numbers, says what the results say."""
    assert [int(group) for group in table.index] == list(meta.numbers)
    assert table["medoid"].astype(str).tolist() == [meta.ensemble.names[one] for one in meta.medoids]
    assert table["clusterings"].astype(int).tolist() == np.bincount(meta.groups)[1:].tolist()
    assert table["floaters"].astype(int).tolist() == [(one.support <= 0.5).sum() for one in found]
    for name in ("confidence", "support"):
        wanted = [getattr(one, name).mean() for one in found]
        np.testing.assert_allclose(table[name].astype(float), wanted, rtol=0, atol=within, err_msg=name)


def same_objects(table, meta, found):
    """A table of objects has the clusters, confidence and support of every group's consensus."""
    assert table["bead"].tolist() == meta.ensemble.ids.tolist()
    for group, one in zip(meta.numbers, found, strict=True):
        assert table[f"group{group}"].tolist() == one.labels.tolist()
        np.testing.assert_allclose(table[f"confidence{group}"], one.confidence, rtol=0, atol=ROUNDED)
        np.testing.assert_allclose(table[f"support{group}"], one.support, rtol=0, atol=ROUNDED)


@pytest.mark.slow
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
    with closing(serve(run)) as server, visit(browser, server.url) as seen:
        yield seen.page


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


def shown_rows(page, words):
    """Texts of the cells of a table, row by row."""
    rows = page.locator("#panel-detail table", has_text=words).locator("tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


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
        texts = shown_rows(page, re.compile(r"How far to trust each cluster(?!ing)"))
        wanted = one.clusters[["cluster", "size", "confidence", "support", "floaters"]].to_numpy(float)
        np.testing.assert_allclose([[float(x) for x in row] for row in texts], wanted, rtol=0, atol=DIGITS)
        if one.floating.size:
            texts = shown_rows(page, "Floaters, the weakest first")
            assert [row[0] for row in texts] == meta.ensemble.ids[one.floating][:100].tolist()
            shown = [[float(x) for x in row[1:4]] for row in texts]
            wanted = np.stack([one.labels, one.confidence, one.support], 1)[one.floating]
            np.testing.assert_allclose(shown, wanted[:100], rtol=0, atol=DIGITS)
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
