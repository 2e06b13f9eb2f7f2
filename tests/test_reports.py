"""Every kind of result: from the result to the page, its pictures and tables, and what a notebook shows."""

import html
import io
import itertools
import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from rich.console import Console

import consilience as cs
from command_line import apart, ran
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels
from consilience.ensemble.results import Result
from consilience.inputs import Provenance, open_source
from consilience.measures import accuracy, matched_accuracy
from consilience.measures.explained_variance import VarianceBetween
from consilience.measures.spreads_and_top_words import ComparableTable
from consilience.meta import organize, score
from consilience.reports import draw, ensemble
from consilience.reports.clusters import match_known
from consilience.reports.comparison import _like_first, comparison_figure, comparison_finding
from consilience.reports.files import write_table
from consilience.reports.meta import MetaReport, _branches, describe_null, meta_finding
from consilience.reports.plane import aligned
from consilience.reports.report import make_report, opened_clusters, write_report
from consilience.reports.sections import Options, code_of, report_of
from consilience.reports.terminal import print_finding, show
from consilience.tables import read_table
from page_server import chromium
from report_pages import lines_of, read_page, report_page
from samples import first_of, refuses, three_kinds
from test_page_axe import AXE, RUN

EVIL = "<img src=x onerror=alert(1)>\"'&$x_1$"
BEADS = load_beads()
FRAME = pd.DataFrame(BEADS.values, index=pd.Index(BEADS.ids, name="bead"), columns=BEADS.columns)
LABELS = np.random.default_rng(0).integers(3, size=(40, 6))


@pytest.fixture(scope="module")
def meta():
    return cs.organize(load_beads_labels(), 3)


@pytest.fixture(scope="module")
def told(meta, tmp_path_factory):
    """The report of clusterings beside their data, in another order, and what is known of it: its folder and its page."""
    folder = tmp_path_factory.mktemp("told")
    options = {
        "data": FRAME.sample(frac=1, random_state=0),
        "known": BEADS.labels,
        "n_shuffles": 2,
        "figures": folder / "parts",
    }
    return folder, report_page(meta, folder / "page.html", **options)


@pytest.fixture(scope="module")
def compared():
    return cs.compare(load_beads_labels(), ("jaccard", "cluster_difference"), known=dict(BEADS.labels.items()))


# Pages of many clusterings.


def test_the_sections_stand_in_their_order(told):
    heads = ["The groups", "Group by group", "How alike", "The tree", "Scores", "The clusterings one by one", "A map"]
    heads += ["One clustering from all", "Stable components", "Floaters", "What was done", "What these figures"]
    text = told[1].text.split("What these figures do not say", 1)[1]  # after the list of contents
    places = [text.index(head) for head in heads]
    assert places == sorted(places)


def test_the_numbers_are_those_of_the_library(told, meta):
    ens, parts = meta.ensemble, told[0] / "parts"
    stability = pd.read_csv(parts / "stability.csv", index_col="measure")
    assert stability.loc["jaccard", "mean"] == pytest.approx(cs.stability(ens).mean)
    assert stability.loc["jaccard", "standard_error"] == pytest.approx(cs.stability(ens).sem)
    groups = pd.read_csv(parts / "groups.csv", index_col="group")
    assert groups["clusterings"].tolist() == meta.sizes.tolist()
    assert groups["medoid"].tolist() == [ens.names[medoid] for medoid in meta.medoids]
    objects, one = pd.read_csv(parts / "objects.csv", index_col=0), meta.consensus()
    assert objects["cluster"].tolist() == one.labels.tolist()
    np.testing.assert_allclose(objects["confidence"], one.confidence, atol=1e-6)
    np.testing.assert_allclose(objects["support"], one.support, atol=1e-6)
    for group in meta.numbers:
        found = meta.consensus(group)
        assert objects[f"group{group}"].tolist() == found.labels.tolist()
        assert groups.loc[group, "support"] == pytest.approx(found.support.mean())
        assert groups.loc[group, "floaters"] == len(found.floating)
        for name in ("shape", "color"):
            assert groups.loc[group, f"accuracy:{name}"] == pytest.approx(accuracy(BEADS.labels[name], found.labels))
    null = pd.read_csv(parts / "null.csv", index_col="known_labels")
    assert null.loc["shape", "best_group"] == pytest.approx(groups["accuracy:shape"].max())
    clusters = pd.read_csv(parts / "clusters.csv")
    assert clusters["floaters"].sum() == len(one.floating) == len(cs.consensus.floaters(ens, one))
    assert set(clusters["most_frequent_shape"]) <= set(BEADS.labels["shape"])
    np.testing.assert_allclose(pd.read_csv(parts / "map.csv")[["x", "y"]], meta.map().xy)
    scores = cs.meta.score(ens, BEADS, known=BEADS.labels).set_index("name").drop(columns="clusters")
    table = pd.read_csv(parts / "clusterings.csv", index_col="clustering")
    np.testing.assert_allclose(table.loc[scores.index, scores.columns], scores)


def test_figures_and_tables_have_fixed_names(told):
    names = {path.name for path in (told[0] / "parts").iterdir()}
    pictures = ["comparison", "tree_1", "tree_2", "curve", "scores_1", "scores_3"]
    pictures += ["map", "confidence", "tiles", "members"]
    assert {f"{name}{ending}" for name in pictures for ending in (".png", ".svg")} <= names
    assert {"clusterings.csv", "features.csv", "clusters.csv", "curve.csv", "null.csv", "group_clusters.csv"} <= names


def test_a_run_says_how_it_was_made_and_its_lines_make_it_again(tmp_path):
    run = tmp_path / "run"
    ens = cs.generate(BEADS, 12, n_clusters=(3, 5), methods="zipf:2+pca", store=run, max_alpha=1.0)
    text = report_page(run, tmp_path / "page.html", data=BEADS, n_groups=2).text
    line = text.split("# made by ")[1]
    again = eval(line[: line.index(") ") + 1], {"cs": cs, "data": BEADS})
    np.testing.assert_array_equal(again.labels, ens.labels)
    for fact in ("12, of 300 objects", "3 to 5", "zipf (8), pca (4)", f"consilience {cs.__version__}", "beads.csv"):
        assert fact in text
    refuses("5 rows for 300 objects", cs.report, run, tmp_path / "page.html", data=BEADS.values[:5])


@pytest.mark.slow
def test_whatever_comes_from_outside_is_text_and_the_same_bytes(tmp_path):
    rng = np.random.default_rng(0)
    info = {"name": [f"{EVIL} {j}" for j in range(4)], "method": EVIL, "seed": EVIL, "settings": EVIL}
    ens = cs.Ensemble(rng.integers(0, 3, (40, 4)), info=info, ids=[f"{EVIL} {i}" for i in range(40)])
    folder = tmp_path / "<img src=x onerror=alert(1)>&'"
    ens.save(folder)
    data = pd.DataFrame(rng.normal(size=(40, 2)), columns=[EVIL, "b"], index=ens.ids)
    known = {EVIL: np.array([EVIL, "b"])[rng.integers(0, 2, 40)]}
    options = {"known": known, "n_shuffles": 2, "n_groups": 2, "title": EVIL, "data": data}
    page = report_page(folder, tmp_path / "page.html", figures=tmp_path / "<b>figures", **options)
    assert page.text.count(EVIL) > 20
    assert "known labels " + EVIL in page.text
    cs.report(folder, tmp_path / "again.html", figures=tmp_path / "<b>figures", **options)
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "again.html").read_bytes()


def test_clusterings_without_a_tree(tmp_path, meta):
    assert "The tree" not in report_page(cs.Ensemble([[0, 0, 1, 1, None]]), tmp_path / "page.html", n_clusters=2).text
    ens = cs.Ensemble([[0, 0, 1, 1, None, None], [None, None, None, None, 0, 1], [0, 0, 0, 1, 1, 1]])
    assert "The tree" not in report_page(ens, tmp_path / "page.html").text
    refuses("share no labeled object", cs.report, ens, tmp_path / "page.html", n_groups=2)
    refuses("does not take n_groups", cs.report, meta, tmp_path / "page.html", n_groups=3)


def test_large_ensembles_are_shuffled_on_a_sample_and_compared_by_one_measure(monkeypatch):
    monkeypatch.setattr(ensemble, "SHUFFLED", 97)
    monkeypatch.setattr(ensemble, "COSTLY", 1000)
    known = {"shape": np.unique(BEADS.labels["shape"], return_inverse=True)[1]}
    report = MetaReport(cs.organize(load_beads_labels()[:, :6], 2), None, Options(known=known, n_shuffles=2))
    right = 97 * report.null.groups["shape"].to_numpy()
    np.testing.assert_allclose(right, right.round(), atol=1e-9)  # a whole number of 97 objects, not of 300
    assert list(report.comparison.matrices) == ["jaccard"]


# Pages of one clustering, and of other results.


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_a_consensus(tmp_path, n_clusters):
    one = cs.combine(load_beads_labels(), n_clusters, "vote" if n_clusters == 3 else "evidence")
    text = report_page(one, tmp_path / "page.html", data=BEADS, known=BEADS.labels, figures=tmp_path / "parts").text
    assert f"mean confidence {one.confidence.mean():.2f}, mean support {one.support.mean():.2f}" in text
    assert one.note.replace(" ", "") in text.replace(" ", "")
    assert (tmp_path / "parts" / "stability_by_k.svg").exists() == (n_clusters == "auto")
    listed = pd.read_csv(tmp_path / "parts" / "floaters.csv")["id"].tolist() if len(one.floating) else []
    assert listed == BEADS.ids[one.floating].tolist()  # the weakest support first
    matches = pd.read_csv(tmp_path / "parts" / "against_known.csv", index_col=0)
    assert matches.loc["shape", "accuracy"] == pytest.approx(matched_accuracy(BEADS.labels["shape"], one.labels))
    assert matches.loc["shape", "purity"] == pytest.approx(accuracy(BEADS.labels["shape"], one.labels))


@pytest.mark.slow
def test_an_agreement_and_its_folder(tmp_path):
    counts = np.random.default_rng(0).poisson(np.kron(np.eye(3), np.ones((20, 10))) * 4 + 0.4)
    words = [f"{topic}{i}" for topic in ("sea", "law", "art") for i in range(10)]
    found, truth = cs.agree(counts, 3, n_clusterings=3, max_iter=2), np.repeat(["a", "b", "c"], 20)
    found.save(tmp_path / "saved")
    pd.DataFrame(counts, columns=words).assign(topic=truth).to_csv(tmp_path / "counts.csv", index=False)
    options = ("--data", tmp_path / "counts.csv", "-t", "topic", "--figures", tmp_path / "parts")
    ran("report", tmp_path / "saved", tmp_path / "page.html", *options)
    text = read_page(tmp_path / "page.html").text
    assert "Agreement by iteration" in text
    assert "known labels topic (3 labels)" in text
    named = re.findall(r"Cluster \d \(20 objects\): ([a-z]+)\d, \1\d, \1\d", text)
    assert sorted(named) == ["art", "law", "sea"]
    table = pd.read_csv(tmp_path / "parts" / "iterations.csv", index_col="iteration")
    wanted = found.stability_by_iteration({"topic": truth})
    pd.testing.assert_frame_equal(table.reset_index(), wanted, check_exact=False)
    assert len(pd.read_csv(tmp_path / "parts" / "objects.csv")) == 60
    consensus = make_report(found, Provenance("", "")).consensus
    np.testing.assert_array_equal(consensus.labels, cs.combine(found.after.rows).labels)


@pytest.mark.slow
def test_a_contrast_names_the_given_groups(tmp_path):
    found = cs.contrast(BEADS, BEADS.labels["shape"], 4, n_init=2)
    text = report_page(found, tmp_path / "page.html", data=BEADS, known={"color": BEADS.labels["color"]}).text
    assert found.sentence[1:-1] in text
    assert all(text.count(name) >= 2 for name in ("ball", "disc", "tube"))  # in the table of groups, and on the picture


@pytest.mark.slow
def test_a_comparison_and_a_summary(tmp_path, compared):
    assert compared.stability["cluster_difference"].words(4) in report_page(compared, tmp_path / "page.html").text
    refuses("of a Comparison does not take known", cs.report, compared, tmp_path / "page.html", known=BEADS.labels)
    found = cs.summarize(LABELS, "binder", cost=0.8, max_clusters=4)
    cs.report(found, tmp_path / "page.html", figures=tmp_path / "parts")
    again = "found = cs.summarize(samples, loss='binder', cost=0.8, max_clusters=4)"
    assert lines_of(tmp_path / "page.html")[-2] == again
    core = pd.read_csv(tmp_path / "parts" / "core.csv", index_col="level")
    assert core.loc[0.95, "objects"] == len(found.core(0.95).objects)


@pytest.mark.slow
def test_a_clusterer_and_a_table(tmp_path, monkeypatch):
    model = cs.EnsembleClusterer(3, n_clusterings=8, random_state=0).fit(BEADS)
    model.save(tmp_path / "model")
    opened = open_source(tmp_path / "model")
    (doubt, first, *items) = make_report(opened.result, opened.provenance, data=BEADS, known=BEADS.labels).answer()
    assert str(doubt.text) == f"A weak answer: {model.doubt_}."
    best = max(match_known(BEADS.labels[name], model.labels_)["accuracy"] for name in ("shape", "color"))
    assert f"accuracy {best:.2f}" in str(first.text)
    assert len(items[-1].items) == 3  # what each cluster is
    monkeypatch.chdir(tmp_path)
    centers = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], [25, 20, 15], axis=0)
    table = pd.DataFrame(centers + np.random.default_rng(0).normal(size=(60, 2)), columns=["width", "depth"])
    table.insert(0, "Jar ID", [f"j{i}" for i in range(60)])
    table.to_csv("jars.csv", index=False)
    assert "taken for measurements" in ran("report", "jars.csv", "-k", 3, "--figures", "parts").stdout
    page = tmp_path / "jars_report.html"
    words = r"3 clusters of 60 objects.*The clusters go by .*Cluster 1 \(20 objects\): width: 9\.\d+ against"
    assert re.search(words, read_page(page).text)
    assert pd.read_csv("parts/objects.csv")["Jar ID"].tolist() == table["Jar ID"].tolist()
    exec("\n".join(lines_of(page)), {})
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_a_sample_of_a_table_is_told_with_its_own_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(np.repeat([[0.0, 0.0], [9.0, 9.0]], 30, axis=0), columns=["width", "depth"])
    table += np.random.default_rng(0).normal(size=table.shape)
    table.assign(kind=["u", "v"] * 30).to_csv("x.csv", index=False)
    opened = open_source("x.csv", kind="data", known_columns=["kind"])
    model = cs.EnsembleClusterer(2, n_clusterings=5, max_objects=40, random_state=0)
    found = opened_clusters(model.fit(opened.data), opened)
    write_report(make_report(found.result, found.provenance, data=found.data, known=found.known), Path("sample.html"))
    exec("\n".join(lines_of(Path("sample.html"))), {})
    assert Path("report.html").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, ""),
        ({"n_clusters": "auto", "random_state": 5}, ", n_clusters='auto', random_state=5"),
        ({"n_clusters": 3, "method": "lwea", "theta": 0.2}, ", n_clusters=3, method='lwea', theta=0.2"),
        ({"n_clusters": 2, "sample_weight": np.arange(40) % 3}, ", n_clusters=2, sample_weight=sample_weight"),
    ],
)
def test_the_lines_of_a_report_make_the_same_again(given, words):
    one, call = cs.combine(LABELS, **given), f"cs.combine(ensemble{words})"
    assert one.call == call
    *opening, last = ["import consilience as cs", *report_of(one)(one, Provenance("", "")).code()]
    assert last == f"one = {call}"
    names = {}
    exec("\n".join(opening), names)
    assert {name for name, value in names.items() if value is ...} == {"ensemble"} | ({"sample_weight"} & set(given))
    exec(last, names | {"ensemble": LABELS, "sample_weight": given.get("sample_weight")}, again := {})
    np.testing.assert_array_equal(again["one"].labels, one.labels)
    assert code_of("one", "", "") == ["one = ...  # the result that was given"]


def test_lines_name_the_file_that_was_combined(tmp_path):
    path = tmp_path / "labels.csv"
    pd.DataFrame(LABELS, columns=list("abcdef")).to_csv(path, index=False)
    one = cs.combine(path, 3, columns=["a", "b", "c", "d"])
    one.save(tmp_path / "one")
    assert Result.load(tmp_path / "one").call == one.call
    for source in (one, tmp_path / "one"):
        cs.report(source, tmp_path / "page.html")
        exec("\n".join(lines_of(tmp_path / "page.html")[:-1]), again := {})
        np.testing.assert_array_equal(again["one"].labels, one.labels)


def test_columns_that_chance_would_follow_as_well_are_not_told():
    rng = np.random.default_rng(0)
    shown = VarianceBetween(ComparableTable(read_table(rng.normal(size=(40, 4)), kind="data"), list("abcd")))
    draws = [rng.integers(0, 12, 40) for _ in range(200)]
    assert np.mean([shown.of(labels).max() >= shown.by_chance(labels) for labels in draws]) < 0.03
    assert sum(shown.of(labels).max() >= 0.25 for labels in draws) > 130  # what would be told without
    none = np.full(40, -1)
    none[::2] = 0
    assert shown.by_chance(none) == np.inf


def test_nothing_is_written_where_something_would_be_lost(tmp_path):
    table = tmp_path / "features.csv"
    pd.DataFrame(BEADS.values, columns=BEADS.columns).to_csv(table, index=False)
    old = table.read_bytes()
    with pytest.raises(InputError, match="over, or into, what is read"):
        cs.report(load_beads_labels()[:, :1], tmp_path / "page.html", data=table, figures=tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"features.csv": old}
    page = tmp_path / "page.html"
    page.write_text("old")
    refuses("groups cannot be made of 16", cs.report, load_beads_labels(), page, n_groups=99)
    assert page.read_text() == "old"


def test_bad_use_is_refused(tmp_path):
    ens, page = load_beads_labels(), tmp_path / "a.html"
    refuses("labels cannot be an int", cs.report, 5, page)
    refuses("got a Stability", cs.report, cs.stability([[0, 1], [1, 1]]), page)
    refuses("unknown method", cs.report, ens, page, method="x")
    refuses("n_shuffles", cs.report, ens, page, n_shuffles=-1)
    refuses("table|type|read", cs.report, ens, page, data=[["x"]])
    refuses("b001", cs.report, ens, page, data=FRAME[1:])
    refuses("5 for 300", cs.report, ens, page, known={"shape": [0, 1, 1, 0, 0]})
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_reports_have_no_axe_violation_and_fit_a_phone(told):
    if not AXE.exists():
        pytest.skip("no axe-core: npm install in page/")
    with chromium() as browser:
        for scheme, width in itertools.product(("light", "dark"), (1366, 390)):
            size = {"width": width, "height": 844}
            context = browser.new_context(color_scheme=scheme, viewport=size, bypass_csp=True)
            page = context.new_page()
            page.goto((told[0] / "page.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate(AXE.read_text())
            assert page.evaluate(RUN) == [], (scheme, width)
            context.close()


# Notebooks and the terminal.


@pytest.mark.slow
def test_every_result_has_a_text_and_a_picture(meta, compared, monkeypatch):
    ens = load_beads_labels()
    found = cs.agree(np.random.default_rng(0).poisson(2, (40, 30)), 3, n_clusterings=3, max_iter=1)
    odd = cs.Ensemble({"<b>": [0, 0, 1], "x": [0, 1, 1]}, info={"name": ["<b>", "x"], "method": "<script>"})
    large = cs.Ensemble(np.random.default_rng(0).integers(0, 3, (5000, 150)))
    results = [ens, large, odd, meta, meta.map(), cs.combine(ens, 3, "vote"), compared, found]
    results.append(cs.contrast(BEADS.values, BEADS.labels["shape"], 3, n_init=2))
    for result in results:
        shown = show(result)
        assert shown.startswith("<pre>" + html.escape(repr(result))[:20])
        assert shown.count("data:image/png;base64,iVBOR") == 1
        assert "<script>" not in shown
        assert len(shown) < 200_000
    assert show(cs.Ensemble([[0, 1, 1]])) is None  # nothing to compare a single clustering with
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("consilience.reports.terminal.find_spec", lambda name: None)
    assert show(ens) is None


@pytest.mark.slow
def test_a_notebook_is_told_of_every_result():
    pytest.importorskip("IPython", reason="IPython is not installed: pip install ipython")
    code = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
import consilience as cs
early = "matplotlib" in sys.modules
data, _ = shell.display_formatter.format(cs.Ensemble([[0, 0, 1], [0, 1, 1]]))
print(early, *sorted(data))
"""
    done = apart("-c", code)
    assert done.stdout.endswith("False text/html text/plain\n"), done.stderr


def printed(result, width, **options):
    console = Console(file=io.StringIO(), width=width, **options)
    print_finding(comparison_finding(result), title="[red]t[/] :smile:", console=console)
    return console.file.getvalue()


def test_names_are_printed_as_they_are():
    text = printed(cs.compare({"[bold]x[/]": [0, 0, 1], ":smile:": [0, 1, 1]}, "rand"), 240)
    assert "[red]t[/] :smile:: 2 clusterings of 3 objects" in text
    assert "[bold]x[/], :smile: (0.333)" in text
    assert "nan" not in text


@pytest.mark.parametrize("terminal", [True, False])
def test_nothing_is_cut_at_80_columns(terminal):
    result = cs.compare(load_beads_labels(), list(cs.measures.MEASURES), known=BEADS.labels)
    text = printed(result, 80, force_terminal=terminal, color_system=None)
    lines = text.split("\n")
    assert max(map(len, lines)) <= 80
    assert "…" not in text
    assert {"variation_of_information", "difference", "information", "color6"} <= set(text.split())
    assert terminal or not any(line.endswith(" ") for line in lines)


# Comparisons, pictures and files.


def test_truth_in_every_form():
    ens, y = cs.Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]], ids=list("abcd")), [0, 0, 1, 1]
    for truth in (y, np.array(y), pd.Series(y, index=list("abcd"))):
        assert cs.compare(ens, "rand", known=truth).clusterings["rand:known"].tolist() == [1, 0.5]
    for truth in (pd.Series(y, name="kind"), pd.DataFrame({"kind": y}), {"kind": y}):
        assert cs.compare(ens, "rand", known=truth).clusterings["rand:kind"].tolist() == [1, 0.5]


@pytest.mark.parametrize("truth", ["class", 5, {"class": None}, {0, 1}, {"class": "aabb"}, {"class": [0, 0, 1]}])
def test_truth_that_is_none_is_refused(truth):
    refuses(r"known labels", cs.compare, [[0, 0, 1, 1], [0, 1, 1, 1]], known=truth)


def test_extremes():
    result = cs.compare({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1]}, ["rand", "cluster_difference"])
    most, least = result.extremes("rand")
    assert (most, least[:2]) == (("a", "b", 1.0), ("a", "c"))
    assert result.extremes("cluster_difference") == [("a", "b", 0.0), ("a", "c", 1 - least[2])]
    assert result.to_dict()["stability"]["rand"]["most_alike"] == {"clusterings": ["a", "b"], "value": 1.0}
    refuses("measures must name at least one", cs.compare, [[0, 0, 1, 1], [0, 1, 1, 1]], [])


@pytest.mark.slow
def test_odd_comparisons_are_drawn(tmp_path):
    labels = {"a name that goes on and on and on and on": [0, 1, None], "$x^$": [0, 0, 1], "聚类": [None, None, 0]}
    cases = [
        cs.compare([[0, 0, 1]], "nmi", known=[0, 1, 1]),
        cs.compare(labels, ["nmi", "variation_of_information"], known=[0, 0, 1]),
        cs.compare([[0, None, None], [None, 0, None], [None, None, 0]], "nmi"),
        cs.compare(cs.Ensemble(np.random.default_rng(0).integers(0, 3, (30, 60))), ["nmi"]),
    ]
    for result in cases:
        for measure in result.matrices:  # a warning from matplotlib would be an error here
            draw(result, tmp_path / "x.png", measure=measure)
            assert (tmp_path / "x.png").stat().st_size > 5000


def test_scales_are_those_of_the_measure(monkeypatch):
    ens = cs.Ensemble([[0, 0, 1, None], [0, 0, 1, None], [None, None, None, 0]])
    matrix, known = comparison_figure(cs.compare(ens, "jaccard", known=[0, 0, 1, 1])).axes[:2]
    image = matrix.images[0]
    assert image.get_clim() == (0, 1)
    assert image.get_array().mask.sum() == 4
    assert np.allclose(image.cmap.get_bad()[:3], 0.8)
    assert max(known.get_xticks().max(), known.get_yticks().max()) <= 1 + 1e-6


def test_a_picture_is_drawn_once(monkeypatch, tmp_path):
    """Its layout is found beforehand, for which savefig would draw everything once more."""
    drawn, once = [], Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda self, renderer: drawn.append(self) or once(self, renderer))
    draw(cs.compare([[0, 0, 1, 1], [0, 1, 0, 1]], "nmi"), tmp_path / "one.svg")
    assert len(drawn) == 1


def test_alike_clusterings_stand_side_by_side():
    a, b = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
    order = _like_first(cs.pairwise([a, b, a, b, a], "cluster_difference"), True).tolist()
    assert sorted(order[:2]) == [1, 3] or sorted(order[-2:]) == [1, 3]


def test_names_of_35_clusterings_cover_neither_each_other_nor_the_legend():
    rng = np.random.default_rng(0)
    known = rng.integers(0, 5, 200)
    noise = [np.where(rng.random(200) < j / 40, rng.integers(0, 5, 200), known) for j in range(35)]
    columns = {f"leiden_resolution_{j}": labels for j, labels in enumerate(noise)}
    figure = comparison_figure(cs.compare(cs.Ensemble(pd.DataFrame(columns)), "nmi", known=known))
    figure.draw_without_rendering()
    axis = figure.axes[1]
    boxes = [text.get_window_extent() for text in axis.texts]
    assert len(boxes) > 5
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    assert all(box.x1 <= axis.get_window_extent().x1 + 1 for box in boxes)
    assert axis.get_legend() is not None  # what the colors mean


@pytest.mark.usefixtures("no_matplotlib")
def test_pictures_say_how_to_get_matplotlib(tmp_path):
    ens = cs.Ensemble([[0, 1, 1], [0, 0, 1]])
    for work in (lambda: draw(cs.compare(ens), tmp_path / "x.png"), lambda: cs.report(ens, tmp_path / "x.html")):
        with pytest.raises(ImportError, match=re.escape("pip install 'consilience[plots]'")):
            work()
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    def half(table, file, **options):
        file.write(b"half")
        raise OSError("no space left")

    path = tmp_path / "table.csv"
    path.write_text("old")
    monkeypatch.setattr(pd.DataFrame, "to_csv", half)
    with pytest.raises(OSError, match="no space"):
        write_table(pd.DataFrame({"a": [1]}), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_names_that_come_twice_can_be_written_as_parquet(tmp_path):
    result = cs.compare(cs.Ensemble([[0, 1], [0, 1]], info={"name": ["a", "a"]}), "rand")
    write_table(result.matrix("rand"), tmp_path / "m.parquet")
    assert list(pd.read_parquet(tmp_path / "m.parquet").columns) == ["a", "a (2)"]


def test_colors_follow_by_overlap():
    reference = np.array([0, 0, 0, 1, 1, 2, -1])
    np.testing.assert_array_equal(aligned(np.array([2, 2, 2, 0, 0, 1, 1]), reference), [0, 0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(aligned(np.array([0, 1, 1, 2, 2, 3, -1]), reference), [3, 0, 0, 1, 1, 2, -1])
    assert aligned(np.full(3, -1), np.array([0, 1, 1])).tolist() == [-1, -1, -1]


def test_options_are_those_of_combine():
    refuses("did you mean 'n_clusters'", cs.combine, LABELS, k=3)
    refuses("did you mean 'random_state'", cs.combine, LABELS, seed=3)


def test_the_null_in_words():
    row = {"best": 0.92, "group": 2, "null_mean": 0.5}
    best, none = (describe_null("color", {**row, "p_value": p}, 20) for p in (1 / 21, 20 / 21))
    assert best.startswith("Group 2 matches color better (purity 0.92) than any group of 20")
    assert "19 of 20 shuffles" in none


@pytest.fixture(scope="module")
def kinds():
    ens, _, truths = three_kinds(noise=0.3)
    return organize(ens, 3), score(ens, known={"a": truths[0], "b": truths[1]}), truths


def test_the_finding_has_groups_scores_and_the_null(kinds):
    meta, scores, truths = kinds
    null = meta.null({"a": truths[0]}, n_shuffles=3)
    groups, beaten = meta_finding(meta, scores=scores, null=null).tables
    means = [scores["accuracy:a"][meta.groups == group].mean() for group in meta.numbers]
    assert groups.frame["mean purity:a"].tolist() == pytest.approx(means)
    assert beaten.frame["best"].tolist() == null.table["best"].tolist()
    how = meta_finding(organize(meta.ensemble, 2, sketch=500)).reasons.sentences
    assert any("500 random pairs" in sentence for sentence in how)


@pytest.mark.parametrize(("ending", "magic"), first_of([("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]))
def test_pictures_are_written(kinds, tmp_path, ending, magic):
    meta, scores, _ = kinds
    path = tmp_path / f"picture.{ending}"
    maps = [meta.map(), meta.map("neighbors", max_iter=250)]
    both = {"x": "accuracy:a", "y": "accuracy:b", "marked": {"some": scores.head(2)}}
    for result, name, options in (
        (meta, "tree", {}),
        (meta.cut(19), "tree", {"score": scores["accuracy:a"]}),
        (meta, "curve", {}),
        (maps[0], "map", {}),
        (maps, "map", {"score": scores["accuracy:a"]}),
        (maps, "map", {"groups": meta.cut(19).groups}),
        (scores, "scores", both),
    ):
        path.unlink(missing_ok=True)
        draw(result, path, name, **options)
        assert path.read_bytes().startswith(magic)
        assert path.stat().st_size > 5000


def test_branches_meet_above_the_middle_and_have_their_mean(kinds):
    meta, scores, _ = kinds
    values = scores["accuracy:a"].to_numpy().copy()
    values[3] = np.nan
    paths, means = _branches(meta, values)
    assert paths.shape == (18, 4, 2)
    np.testing.assert_array_equal(paths[:, 1, 1], meta.tree[:, 2])
    for i in range(18):
        assert means[i] == pytest.approx(np.nanmean(values[meta.branch(19 + i)]))


def test_bad_requests_of_pictures_are_refused(kinds, tmp_path):
    meta, scores, _ = kinds
    path, values = tmp_path / "x.png", scores["accuracy:a"]
    refuses("each of 19 clusterings", draw, meta, path, score=values[:2])
    refuses("not by both", draw, meta.map(), path, score=values, groups=meta.groups)
    refuses("one or a list", draw, [], path)
    refuses("no picture of an int", draw, 5, path)
    refuses("unknown picture", draw, meta, path, "scores")
    refuses("unknown score 'c'", draw, scores, path, "scores", x="c", y="accuracy:a")
    assert not list(tmp_path.iterdir())
