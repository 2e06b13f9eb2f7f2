"""Sections added from outside the package, by the public registry alone."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels
from consilience.reports import Picture, Report, Sheet, Text, remove_section, section, sections_of
from report_pages import read_page


@pytest.fixture
def entropy():
    """A section of our own: how even the clusters of every clustering are."""

    @section(cs.Ensemble, cs.meta.MetaClustering, title="How even are the clusters?", order=25)
    def evenness(report):
        from matplotlib.figure import Figure

        shares = [np.bincount(labels[labels >= 0]) / (labels >= 0).sum() for labels in report.ensemble.labels.T]
        values = [float(-(share[share > 0] * np.log2(share[share > 0])).sum()) for share in shares]
        figure = Figure((4, 2))
        figure.subplots().hist(values)
        names = pd.Index(report.ensemble.names, name="clustering")
        yield Text(f"The mean entropy is {np.mean(values):.3f} bits.")
        yield Picture("evenness", figure, "Histogram of entropies.", "Entropy of the clusters' sizes.")
        yield Sheet("evenness", pd.DataFrame({"bits": values}, index=names), "Entropy by clustering")

    yield evenness
    for kind in (cs.Ensemble, cs.meta.MetaClustering):
        remove_section(kind, "evenness")


@pytest.mark.usefixtures("entropy")
def test_a_section_from_outside_is_on_the_page_and_among_the_files(tmp_path):
    ens = load_beads_labels()
    for result in (ens, cs.organize(ens, 2)):
        cs.report(result, tmp_path / "page.html", figures=tmp_path / "parts")
        page = read_page(tmp_path / "page.html")
        text = page.text.split("What was done", 2)[2]
        assert text.index("The tree of") < text.index("How even are the clusters?") < text.index("The groups")
        assert "The mean entropy is" in text
        assert any(svg["aria-label"] == "Histogram of entropies." for svg in page.all("svg"))
        table = pd.read_csv(tmp_path / "parts" / "evenness.csv", index_col="clustering")
        assert table.index.tolist() == ens.names
        assert {"evenness.png", "evenness.svg"} <= {path.name for path in (tmp_path / "parts").iterdir()}


@pytest.mark.usefixtures("entropy")
def test_what_is_read_is_safe_from_sections_from_outside(tmp_path):
    path = tmp_path / "evenness.csv"
    load_beads_labels().to_frame().to_csv(path, index=False)
    before = path.read_bytes()
    with pytest.raises(InputError, match="over, or into, what is read"):
        cs.report(path, tmp_path / "page.html", figures=tmp_path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["evenness.csv"]


def test_a_section_that_says_nothing_is_left_out_and_one_taken_away_is_gone(tmp_path):
    @section(cs.Ensemble, title="Nothing to say")
    def silent(report):
        return []

    cs.report(cs.Ensemble([[0, 0, 1, 1]]), tmp_path / "page.html", n_clusters=2)
    assert "Nothing to say" not in read_page(tmp_path / "page.html").text
    assert "silent" in [one.name for one in sections_of(cs.Ensemble)]
    remove_section(cs.Ensemble, "silent")
    assert "silent" not in [one.name for one in sections_of(cs.Ensemble)]
    with pytest.raises(InputError, match="a section belongs to kinds of results, which are classes; got a str"):
        section("Ensemble", title="x")(silent)


def test_a_kind_of_result_from_outside_has_a_report(tmp_path):
    from consilience.reports import sections
    from consilience.reports.report import make_report, write_report

    @dataclass(frozen=True, eq=False)
    class Purity:
        value: float

    class PurityReport(Report, of=Purity):
        uses = ()

        def describe(self):
            return f"Purity {self.result.value}."

    try:
        section(Purity, title="Purity")(lambda report: [Text("It is pure.")])
        origin = cs.opening.Provenance("mine", "mine.csv")
        write_report(make_report(Purity(0.5), origin), tmp_path / "page.html")
        text = read_page(tmp_path / "page.html").text
        assert "Purity 0.5." in text
        assert "It is pure." in text
    finally:
        sections.KINDS.pop(Purity)
        sections.SECTIONS.pop(Purity)


def test_every_report_shows_the_two_numbers_of_the_consensus(tmp_path):
    ens = load_beads_labels()
    meta = cs.organize(ens, 3)
    one = meta.consensus()
    cs.report(meta, tmp_path / "page.html", data=load_beads(), figures=tmp_path / "parts")
    objects = pd.read_csv(tmp_path / "parts" / "objects.csv", index_col="id")
    np.testing.assert_allclose(objects["confidence"], one.confidence, atol=1e-6)
    np.testing.assert_allclose(objects["support"], one.support, atol=1e-6)
    groups = pd.read_csv(tmp_path / "parts" / "groups.csv", index_col="group")
    assert groups.index.tolist() == sorted(set(meta.groups))
    for group in groups.index:
        found = meta.consensus(group)
        np.testing.assert_allclose(objects[f"confidence{group}"], found.confidence, atol=1e-6)
        np.testing.assert_allclose(objects[f"support{group}"], found.support, atol=1e-6)
        assert groups.loc[group, "support"] == pytest.approx(found.support.mean())
        assert groups.loc[group, "floaters"] == len(found.floating)
    clusters = pd.read_csv(tmp_path / "parts" / "clusters.csv")
    assert clusters["floaters"].sum() == len(one.floating) == len(cs.consensus.floaters(ens, one))


def test_known_labels_are_told_by_their_names(tmp_path):
    beads = load_beads()
    cs.report(
        load_beads_labels(),
        tmp_path / "page.html",
        data=beads,
        known=beads.labels,
        n_shuffles=0,
        figures=tmp_path / "parts",
    )
    clusters = pd.read_csv(tmp_path / "parts" / "clusters.csv")
    assert set(clusters["most_frequent_shape"]) <= set(beads.labels["shape"])
    assert "ball" in (tmp_path / "parts" / "tiles.svg").read_text() or "ball" in (tmp_path / "page.html").read_text()


def test_scores_are_those_of_python(tmp_path):
    beads, ens = load_beads(), load_beads_labels()
    cs.report(ens, tmp_path / "page.html", data=beads, known=beads.labels, n_shuffles=0, figures=tmp_path / "parts")
    table = pd.read_csv(tmp_path / "parts" / "clusterings.csv", index_col="clustering")
    scores = cs.meta.score(ens, beads, known=beads.labels).set_index("name")
    for name in ("compactness", "accuracy:shape", "accuracy:color"):
        np.testing.assert_allclose(table.loc[scores.index, name], scores[name])
