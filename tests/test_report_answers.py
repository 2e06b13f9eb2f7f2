"""The answer on top of a report, in sentences, of every kind of result."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.consensus.trust.tables import cluster_means
from consilience.datasets import load_beads, load_beads_labels
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.inputs import open_source
from consilience.measures import accuracy, adjusted_rand
from consilience.measures.cluster_features import ComparableTable
from consilience.measures.explained_variance import VarianceBetween
from consilience.reports.clusters import STEADY, in_words, say_clusters
from consilience.reports.html import Link, Text
from consilience.reports.report import make_report, opened_clusters, write_report
from consilience.tables import read_table
from explorer_cases import arrays, ask
from page_server import chromium
from report_pages import read_page
from test_page_axe import AXE, RUN

pytestmark = pytest.mark.full_effort

ROWS, COLUMNS = np.repeat([0, 1, 2], 30), np.tile([0, 1, 2], 30)


def answer(result, **options):
    """What stands on top of a report, without what it cites."""
    opened = open_source(result)
    blocks = make_report(opened.result, opened.provenance, **options).answer()
    parts = [words for one in blocks for words in ([one.text] if isinstance(one, Text) else one.items)]
    return "\n".join(
        "".join(_words(part) for part in ([words] if isinstance(words, str) else words)) for words in parts
    )


def _words(part):
    return part if isinstance(part, str) else part.words if isinstance(part, Link) else ""


def noisy(labels, rng, n=6):
    found = labels.copy()
    found[rng.choice(len(labels), n, replace=False)] = rng.integers(0, 3, n)
    return found


@pytest.fixture(scope="module")
def two_ways():
    """Ten clusterings by two groupings that have nothing in common."""
    rng = np.random.default_rng(0)
    return cs.Ensemble([noisy(ROWS, rng) for _ in range(6)] + [noisy(COLUMNS, rng) for _ in range(4)])


def test_kinds_of_groups_without_known_labels_give_nearly_the_same_answer(two_ways):
    text = answer(two_ways, n_groups=4)
    assert "four ways to group them. Two kinds: groups 1 and 3 give nearly the same answer; groups 2 and 4" in text
    text = answer(two_ways, n_groups=2)
    assert "two ways to group them. Each has an answer of its own." in text
    assert "The two answers have little in common" in text
    assert "one way to group them. It has 3 clusters" in answer(two_ways, n_groups=1)


def test_kinds_of_groups_with_known_labels(two_ways):
    known = {"row": ROWS, "column": COLUMNS}
    text = answer(two_ways, n_groups=4, known=known, n_shuffles=0)
    assert re.search(
        r"Two kinds: groups 1 and 3 follow row \(accuracy [\d.]+ and [\d.]+\); groups 2 and 4 follow", text
    )
    text = answer(two_ways, n_groups=4, known={"row": ROWS}, n_shuffles=0)
    assert re.search(
        r"them. Groups 1 and 3 follow row \(.*?\); groups 2 and 4 match no known labels \(the nearest, row", text
    )
    assert "All of them follow" in answer(two_ways[:, :6], n_groups=2, known={"row": ROWS}, n_shuffles=0)
    other = {"other": np.random.default_rng(1).integers(0, 3, 90)}
    assert "None of them matches known labels" in answer(two_ways, n_groups=2, known=other, n_shuffles=0)


def test_groups_of_the_answer_are_those_of_the_page(two_ways):
    opened = open_source(two_ways)
    report = make_report(opened.result, opened.provenance, n_groups=3)
    shares = re.findall(r"Group (\d+): (\d+) % of the clusterings", answer(two_ways, n_groups=3))
    assert [(int(group), int(share) // 10) for group, share in shares] == list(enumerate(report.meta.sizes, 1))
    api = Api(Session(cs.organize(two_ways, 3)))
    refs = [f"10.{node}c" for node in ask(api, "session")["cut"]["nodes"]]
    _, sent = arrays(api, f"labels/{','.join(refs)}")
    for place, one in enumerate(report.group_consensus):
        assert adjusted_rand(sent["labels"][place], one.labels) == 1


def test_the_answer_of_a_clusterer(tmp_path):
    beads = load_beads()
    model = cs.EnsembleClusterer(3, n_clusterings=20, random_state=0).fit(beads)
    model.save(tmp_path / "model")
    text = answer(tmp_path / "model", data=beads, known=beads.labels)
    sizes = np.bincount(model.labels_)
    assert f"300 objects in 3 clusters, of {sizes[0]}, {sizes[1]} and {sizes[2]}. This grouping" in text
    for name in ("shape", "color"):
        score = accuracy(beads.labels[name], model.labels_)
        assert (f"{name} (accuracy {score:.2f})" in text) == (name == "color")
    assert "The clusters go by" in text
    weak = int((model.support_ <= 0.5).sum())
    assert weak > 1
    assert f"{weak} of 300 objects float: no majority puts them where they are." in text
    assert f"another ensemble like this would put it there with probability {model.confidence_.mean():.2f}" in text


def test_columns_that_chance_would_follow_as_well_are_not_told():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(40, 4))
    shown = VarianceBetween(ComparableTable(read_table(data, kind="data"), list("abcd")))
    draws = [rng.integers(0, 12, 40) for _ in range(300)]
    beyond = [shown.of(labels).max() >= shown.by_chance(labels) for labels in draws]
    assert np.mean(beyond) < 0.03
    assert sum(shown.of(labels).max() >= 0.25 for labels in draws) > 200  # what would be told without
    data[:, 1] += 3 * draws[0]
    labels = cs.combine([draws[0]] * 3, len(np.unique(draws[0])))
    assert "The clusters go by column 1 (" in answer(labels, data=data)
    assert "go by" not in answer(cs.combine([draws[1]] * 3, len(np.unique(draws[1]))), data=data)


def test_clusters_of_what_is_left_over_are_told():
    rng = np.random.default_rng(0)
    members = [np.where(np.arange(60) < 48, np.arange(60) // 16, rng.integers(0, 4, 60)) for _ in range(9)]
    ensemble = cs.Ensemble(members)
    one = cs.organize(ensemble, 1).consensus(1, n_clusters=4)
    means = cluster_means(one.labels, one.confidence, one.support)
    hollow = means[means["floaters"] == means["size"]]
    assert len(hollow) == 1
    said = f"4 clusters, one of them only of objects that no majority puts there ({hollow['size'].sum()})"
    assert said in answer(ensemble, n_groups=1, n_clusters=4)


def test_no_row_that_is_looked_at_has_a_label():
    data = np.random.default_rng(0).normal(size=(10_001, 2))
    shown = VarianceBetween(ComparableTable(read_table(data, kind="data"), list("ab")))
    labels = np.full(len(data), -1)
    labels[1::3] = 0
    labels[4::3] = 1
    assert shown.of(labels).tolist() == [0, 0]
    assert shown.by_chance(labels) == np.inf


def test_the_answer_of_an_agreement_names_clusters_by_their_words():
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.kron(np.eye(3), np.ones((20, 10))) * 4 + 0.4)
    words = [f"{topic}{i}" for topic in ("sea", "law", "art") for i in range(10)]
    found = cs.agree(counts, 3, n_clusterings=3, max_iter=2)
    text = answer(found, data=counts, names=words, known={"topic": np.repeat(["s", "l", "a"], 20)})
    assert "60 objects in 3 clusters, of 20, 20 and 20. This grouping follows topic (accuracy 1.00)." in text
    named = re.findall(r"Cluster \d \(20 objects\): ([a-z]+)\d, \1\d, \1\d", text)
    assert sorted(named) == ["art", "law", "sea"]
    assert "A majority puts every object where it is." in text
    assert "before" in text


def test_the_answer_of_a_summary(two_ways):
    found = cs.summarize(two_ways[:, :6])
    text = answer(found, known={"row": ROWS})
    core = found.core(0.95)
    assert text.startswith(f"{found.n_clusters} clusters of 90 objects, expected")
    assert f"It follows row (accuracy {accuracy(ROWS, found.labels):.2f})" in text
    assert f"95 % of the samples part {len(core.objects)} objects in one and the same way" in text


def test_little_support_beside_much_confidence_is_explained(tmp_path):
    ens = load_beads_labels()
    one = cs.combine(ens, 9, "evidence")
    means = cluster_means(one.labels, one.confidence, one.support)
    steady = means[(means["support"] <= 0.5) & (means["confidence"] >= STEADY)]
    first, second = steady["cluster"]
    assert f"Clusters {first} and {second} have little support and much confidence: few" in answer(one)
    cs.report(one, tmp_path / "page.html")
    page = read_page(tmp_path / "page.html").text
    assert "Support and confidence answer two questions" in page
    firm = cs.combine(ens, 4, "evidence")
    assert "little support" not in answer(firm)


@pytest.mark.slow
def test_reports_have_no_axe_violation_and_fit_a_phone(tmp_path):
    if not AXE.exists():
        pytest.skip("no axe-core: npm install in page/")
    beads = load_beads()
    data = pd.DataFrame(beads.values, columns=beads.columns)
    cs.report(load_beads_labels(), tmp_path / "page.html", data=data, known=beads.labels, n_groups=3, n_shuffles=2)
    with chromium() as browser:
        for scheme, width in (("light", 1366), ("dark", 1366), ("light", 390), ("dark", 390)):
            context = browser.new_context(
                color_scheme=scheme, viewport={"width": width, "height": 844}, bypass_csp=True
            )
            page = context.new_page()
            page.goto((tmp_path / "page.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate(AXE.read_text())
            assert page.evaluate(RUN) == [], (scheme, width)
            context.close()


def test_only_marks_say_whom_a_cluster_is_beside_and_once():
    marks = [[], [{"words": "plan: 71 % pro against 22 %"}], [{"words": "age: 54 against 31 (median)"}]]
    told = in_words(SimpleNamespace(comparable=None), marks)
    assert told == ["", f"{marks[1][0]['words']} (against all other objects)", marks[2][0]["words"]]
    one = SimpleNamespace(labels=np.array([0, 0, 1]), support=None)
    report = SimpleNamespace(known={}, following=None)
    names = str(say_clusters(one, report, ["voted against it", "voted for it"]))
    assert "voted against it" in names
    assert "all other objects" not in names


def test_a_table_is_told_by_its_clusters_and_the_lines_write_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    centers = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], [20, 15, 12], axis=0)
    table = pd.DataFrame(centers + np.random.default_rng(0).normal(size=(47, 2)), columns=["width", "depth"])
    table.to_csv("jars.csv", index=False)
    cs.report("jars.csv", "first.html", kind="data", n_clusters=3)
    page = read_page(tmp_path / "first.html")
    text = page.text
    assert "jars.csv: 3 clusters of 47 objects" in text
    assert re.search(r"Cluster 1 \(15 objects\): width: 9\.\d+ against", text)
    assert text.index("All objects on") < text.index("Left of the dashed line"), "the picture comes first"
    exec(next(part for part in page.texts if "import consilience as cs" in part), {})
    assert (tmp_path / "report.html").exists()


def jars(n_objects):
    centers = np.repeat([[0.0, 0.0], [9.0, 9.0]], n_objects // 2, axis=0)
    return pd.DataFrame(centers + np.random.default_rng(0).normal(size=centers.shape), columns=["width", "depth"])


def run_lines(path):
    Path("report.html").unlink(missing_ok=True)
    exec(next(part for part in read_page(path).texts if "import consilience as cs" in part), {})
    assert Path("report.html").exists()


def test_the_lines_write_it_again_of_a_sample_and_of_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = jars(60)
    table.assign(kind=["u", "v"] * 30).to_csv("x.csv", index=False)
    opened = open_source("x.csv", kind="data", known_columns=["kind"])
    model = cs.EnsembleClusterer(2, n_clusterings=5, max_objects=40, random_state=0).fit(opened.data)
    found = opened_clusters(model, opened)
    made = make_report(found.result, found.provenance, data=found.data, known=found.known)
    write_report(made, Path("sample.html"))
    run_lines(tmp_path / "sample.html")
    for name, frame in {"data": table, "labels": pd.DataFrame({"a": [0, 1, 1] * 20, "b": [0, 1, 2] * 20})}.items():
        Path(name).mkdir()
        for part in range(2):
            frame[part * 30 : part * 30 + 30].to_parquet(f"{name}/{part}.parquet", index=False)
        code = open_source(name, kind=name).provenance.code
        assert eval(code, {"cs": cs}).n_objects == 60
