"""Methods, measures and sections from outside the package, by the public registries: the examples of CONTRIBUTING.md."""

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans

import consilience as cs
from command_line import answer, ran, refused
from consilience import consensus, generation
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels, sample_path
from consilience.explorer.api import Api
from consilience.explorer.calls.detail import _made, _weights
from consilience.explorer.session import Session
from consilience.generation import Method, Variations
from consilience.generation.methods import describe
from consilience.generation.methods.method import Space
from consilience.measures import MEASURES
from consilience.meta import MetaClustering
from consilience.reports import Finding, Report, Text, remove_section, section, sections
from consilience.reports.report import make_report, write_report
from consilience.reports.sections import sections_of
from explorer_cases import ask
from report_pages import read_page, report_page
from samples import refuses

BEADS = (sample_path("beads.csv"), "--id", "bead", "-t", "shape,color")
LABELS = np.tile([[0, 0, 1, 1, -1], [0, 0, 0, 1, 1], [0, 1, 1, 1, 0]], 4).T


@pytest.fixture(autouse=True)
def as_before():
    """The registries hold afterwards what they held before."""
    with patch.dict(generation.METHODS), patch.dict(consensus.METHODS), patch.dict(MEASURES):
        yield
    for kind in (cs.Ensemble, MetaClustering):
        remove_section(kind, "evenness")


def example(kind):
    """Run the example under a heading of CONTRIBUTING.md, and return what it defines."""
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    defined = {}
    exec(text.split(f"## Add a {kind}\n")[1].split("```python\n")[1].split("```")[0], defined)
    return defined


@pytest.fixture
def table(tmp_path):
    """A file of three clusterings."""
    path = tmp_path / "labels.csv"
    pd.DataFrame(LABELS, columns=list("abc")).to_csv(path, index=False)
    return path


def test_without_the_examples_nothing_is_known_of_them(table, tmp_path):
    generate = ("generate", *BEADS, "-o", tmp_path, "--methods", "noise")
    for words in (("combine", table, "--method", "heaviest"), ("compare", table, "-m", "same_sizes"), generate):
        assert words[-1] in refused(*words)
    assert "evenness" not in [one.name for one in sections_of(cs.Ensemble)]


@pytest.mark.slow
def test_a_generation_method(tmp_path):
    example("generation method")
    beads, run = load_beads(), tmp_path / "run"
    ens = cs.generate(beads, 12, 4, "noise:2+pca", noise=0.5, store=run)
    assert ens.info["method"].value_counts().to_dict() == {"noise": 8, "pca": 4}
    assert ens.info["strength"].max() <= 0.5
    with pytest.raises(ValueError, match="noise must be above 0 and at most 1; got 2"):
        cs.generate(beads, 3, 4, "noise", noise=2)
    number = int(np.flatnonzero(ens.info["method"] == "noise")[0])
    words = f"k-means, the columns weighted by 1 ± {ens.info['strength'][number]:.2f}"
    assert ask(Api(Session(ens, data=beads)), f"detail/{number}m")["made"]["made by"] == words
    assert "noise" in report_page(ens, tmp_path / "page.html", n_groups=2).text
    for verb in ("generate", "explore"):
        assert "|noise]" in "".join(ran(verb, "--help").stdout.split())  # long lists are folded
    ran("generate", *BEADS, "-k", 3, "-n", 4, "--methods", "noise+zipf", "-o", tmp_path / "other")
    assert set(cs.Ensemble(tmp_path / "other").info["method"]) == {"noise", "zipf"}
    both = cs.EnsembleClusterer(3, n_clusterings=6, methods="noise", random_state=0).fit(beads.values)
    assert set(both.ensemble_.info["method"]) == {"noise"}


def check_angle(name, value):
    if not value > 0:
        raise InputError(f"{name} must be a finite number above 0")
    return float(value)


class Rotated(Method):
    """k-means on randomly rotated ranks."""

    options: ClassVar[dict] = {"largest_angle": (0.5, check_angle)}
    drawn = ("angle",)
    space = "ranks"

    def fit_space(self, columns, plan):
        return Space(np.argsort(np.argsort(columns, axis=0), axis=0).astype(float))

    def draw(self, spec, u, plan):
        return replace(spec, drawn={"angle": float(plan.options["largest_angle"] * u[0])})

    def make(self, table, spec, plan):
        seed, unit = spec.run_stream
        angle = spec.drawn["angle"]
        turned = table[:, :2] @ [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        return KMeans(spec.n_clusters, n_init=1, random_state=(seed + unit) % 2**32).fit_predict(turned)

    def describe(self, row):
        return f"rotated by {row['angle']:.2f}"


@pytest.mark.slow
def test_a_generation_method_in_a_space_of_its_own(tmp_path):
    generation.METHODS["rotated"] = Rotated()
    beads, run, how = load_beads(), tmp_path / "run", {"methods": "rotated+pca", "largest_angle": 0.2}
    made = cs.generate(beads, 12, 4, store=run, **how)
    assert made.info["method"].value_counts().to_dict() == {"rotated": 6, "pca": 6}
    own = made.info[made.info["method"] == "rotated"]
    assert own["angle"].between(0, 0.2).all()
    assert own["alpha"].isna().all()
    np.testing.assert_array_equal(cs.generate(beads, 12, 4, n_jobs=2, **how).labels, made.labels)
    np.testing.assert_array_equal(cs.generate(beads, 15, 4, store=run, **how).labels[:, :12], made.labels)
    row = own.iloc[1]
    np.testing.assert_array_equal(Variations(beads).remake(row), made.labels[:, own.index[1]])
    near = cs.generate(beads, 5, around=int(own.index[1]), jitter=0.1, store=run)
    assert near.n_clusterings == 5
    assert set(near.info["angle"]) == {row["angle"]}
    refuses("largest_angle must be", cs.generate, beads, 3, 4, "rotated", largest_angle=-1)
    refuses("largest_angle is an option of rotated", cs.generate, beads, 3, 4, "zipf", largest_angle=0.1)
    refuses("did you mean 'largest_angle'", cs.generate, beads, 3, 4, "rotated", largest_angel=0.1)
    assert describe(row) == f"rotated by {row['angle']:.2f}"
    assert _made(row)["made by"] == describe(row)
    assert describe(near.info.iloc[0]).endswith(f"varied around clustering {own.index[1]}")
    assert _weights(SimpleNamespace(features=[]), near.info.iloc[0])[0]["feature"].startswith("rank ")


def test_a_consensus_method(table, tmp_path):
    example("consensus method")
    labels = np.array([[0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 1]]).T
    one = cs.combine(labels, 2, "heaviest", reverse=True)
    assert one.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert (one.method, one.estimator.heaviest_) == ("heaviest", 3)
    assert one.confidence.shape == one.support.shape == (6,)
    refuses("option of heaviest 'revers': did you mean 'reverse'", cs.combine, labels, 2, "heaviest", revers=True)
    assert cs.organize(labels, 1).consensus(1, method="heaviest").method == "heaviest"
    assert clone(one.estimator).reverse is True
    assert answer("combine", table, "--method", "heaviest", "-k", 2)["method"] == "heaviest"
    for verb in ("combine", "organize", "report"):
        assert "|heaviest]" in "".join(ran(verb, "--help").stdout.split())
    ran("report", table, tmp_path / "page.html", "--method", "heaviest")
    assert "combined into one (heaviest)" in read_page(tmp_path / "page.html").text


def test_a_measure(table, tmp_path):
    function = example("measure")["same_sizes"]
    matrix = cs.pairwise(LABELS, "same_sizes")
    assert matrix[1, 2] == 1
    both = np.tile([0, 0, 1, 1], 4), np.tile([0, 0, 0, 1], 4)  # of the objects that both label
    assert matrix[0, 1] == function(*both)
    assert cs.stability(LABELS, "same_sizes").mean == pytest.approx(matrix[np.triu_indices(3, 1)].mean())
    found = cs.compare(LABELS, ["same_sizes"], known={"class": [0, 0, 1, 1, 1] * 4})
    assert found.clusterings["same_sizes:class"].tolist() == [1, 1, 1]
    meta = cs.organize(LABELS, 2, measure="same_sizes")
    assert ask(Api(Session(meta)), "session")["measure"] == "same_sizes"
    assert "ward linkage of same sizes" in report_page(meta, tmp_path / "page.html").text
    told = answer("compare", table, "-m", "same_sizes")
    assert told["stability"]["same_sizes"]["mean"] == pytest.approx(cs.stability(LABELS, "same_sizes").mean)
    assert answer("organize", table, "-g", 2, "-m", "same_sizes")["measure"] == "same_sizes"
    for verb in ("compare", "organize"):
        assert "|same_sizes]" in "".join(ran(verb, "--help").stdout.split())  # long lists are folded


@pytest.mark.slow
def test_a_report_section(tmp_path):
    example("report section")
    ens = load_beads_labels()[:, :6]
    for result, folder in ((ens, tmp_path / "parts"), (cs.organize(ens, 2), None)):
        page = report_page(result, tmp_path / "page.html", figures=folder)
        text = page.text.split("What these figures do not say", 1)[1]  # after the list of sections
        assert text.index("The groups") < text.index("The tree of") < text.index("How even are the clusters?")
        assert "The mean entropy is" in text
        assert any(svg["aria-label"] == "Histogram of entropies." for svg in page.all("svg"))
    table = pd.read_csv(tmp_path / "parts" / "evenness.csv", index_col="clustering")
    assert table.index.tolist() == ens.names
    assert {"evenness.png", "evenness.svg"} <= {path.name for path in (tmp_path / "parts").iterdir()}


@pytest.mark.slow
def test_what_is_read_is_safe_from_sections_from_outside(tmp_path):
    example("report section")
    path = tmp_path / "evenness.csv"
    load_beads_labels().to_frame().to_csv(path, index=False)
    before = path.read_bytes()
    refuses("over, or into, what is read", cs.report, path, tmp_path / "page.html", figures=tmp_path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["evenness.csv"]


def test_a_section_that_says_nothing_is_left_out_and_one_taken_away_is_gone(tmp_path):
    @section(cs.Ensemble, title="Nothing to say")
    def silent(report):
        return []

    assert "Nothing to say" not in report_page(cs.Ensemble([[0, 0, 1, 1]]), tmp_path / "page.html", n_clusters=2).text
    assert "silent" in [one.name for one in sections_of(cs.Ensemble)]
    remove_section(cs.Ensemble, "silent")
    assert "silent" not in [one.name for one in sections_of(cs.Ensemble)]
    refuses("belongs to kinds of results, which are classes; got a str", section("Ensemble", title="x"), silent)


def test_a_kind_of_result_from_outside_has_a_report(tmp_path):
    @dataclass(frozen=True, eq=False)
    class Purity:
        value: float

    class PurityReport(Report, of=Purity):
        uses = ()

        def finding(self):
            return Finding(f"Purity {self.result.value}")

    try:
        section(Purity, title="Purity")(lambda report: [Text("It is pure.")])
        origin = cs.inputs.Provenance("mine", "mine.csv")
        write_report(make_report(Purity(0.5), origin), tmp_path / "page.html")
        text = read_page(tmp_path / "page.html").text
        assert "Purity 0.5." in text
        assert "It is pure." in text
    finally:
        sections.KINDS.pop(Purity)
        sections.SECTIONS.pop(Purity)
