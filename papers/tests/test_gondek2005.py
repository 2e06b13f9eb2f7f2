"""Gondek and Hofmann 2005 again, in small: files appear, and tables hold what they say."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from consilience._check import InputError
from consilience.alternatives import CCIB, CondEns
from consilience.datasets import orthogonal_multinomials
from consilience.tables import scale
from papers import PAPERS, Report, gondek2005
from papers.__main__ import command
from papers.cells import Cells
from papers.claims import TableFolder
from papers.gondek2005.data import Texts, read_texts
from papers.gondek2005.methods import CENTRED, EXTRAS, HEAVY, STARTS, answers
from papers.gondek2005.synthetic import ALGORITHMS, _claims, _difference, report_synthetic, run_synthetic
from papers.gondek2005.text import ALGORITHMS as TEXT_ALGORITHMS
from papers.gondek2005.text import PAPERS as IN_TABLE1
from papers.gondek2005.text import REPEATED, TABLE1, report_orthogonality, report_text, run_text
from papers.gondek2005.walk import COMBINED, REPRESENTATIONS, STEP1, report_walk, run_walk
from papers.results import render

pytestmark = pytest.mark.slow

TINY = replace(gondek2005.QUICK, seeds=1, seeds_text=1, n_clusters=(2,), restarts_text=1, n_documents=80)


@pytest.fixture(scope="module")
def synthetic():
    return run_synthetic((2,), (0.4, 1), 2, n_restarts=2)


@pytest.fixture(scope="module")
def pages():
    """Pages of a small web: what a page is about and where it is from, each with terms of its own."""
    X, topic, place = orthogonal_multinomials(2, n_objects=120, random_state=1)
    from scipy.sparse import csr_matrix

    labels = pd.DataFrame(
        {"topic": np.array(["course", "student"])[topic], "university": np.array(["cornell", "texas"])[place]}
    )
    return Texts("WebKB", "WebKB", csr_matrix(X), labels)


def test_every_set_algorithm_and_reading_has_a_row(synthetic):
    assert len(synthetic) == 2 * 2 * 2 * len(ALGORITHMS)
    assert set(synthetic["algorithm"]) == set(ALGORITHMS)
    at_one = synthetic[synthetic["alpha"] == 1].groupby("reading")
    shear, member = (at_one.get_group(r).drop(columns="reading").reset_index(drop=True) for r in ("shear", "member"))
    pd.testing.assert_frame_equal(shear, member)
    assert synthetic["precision"].between(0.5, 1).all()
    assert (synthetic["seconds"] > 0).all()


def test_what_the_readings_do(synthetic):
    mean = synthetic.groupby(["reading", "alpha", "algorithm"])["precision"].mean()
    assert mean["shear", 1.0].drop([HEAVY]).min() > 0.95
    assert mean["shear", 0.4][CENTRED] > 0.85 > mean["shear", 0.4]["CondEnsMI-EM"]
    assert mean["member", 0.4]["CondEnsMI-EM"] > 0.95 > mean["member", 0.4][CENTRED]


def test_runs_can_be_made_again_on_any_number_of_processes(synthetic):
    again = run_synthetic((2,), (0.4, 1), 2, n_restarts=2, cells=Cells(n_jobs=2))
    pd.testing.assert_frame_equal(again.drop(columns="seconds"), synthetic.drop(columns="seconds"))


def test_synthetic_report(synthetic, tmp_path):
    report = Report("Synthetic", tmp_path)
    report_synthetic(report, synthetic, 2)
    text = report.write().read_text(encoding="utf-8")
    assert "seeds 0 to 1, 2 data sets" in text
    saved = pd.read_csv(tmp_path / "synthetic_shear.csv").set_index(["alpha", "algorithm"])["precision"]
    own = synthetic[synthetic["reading"] == "shear"].groupby(["alpha", "algorithm"])["precision"].mean()
    assert saved[0.4, "dCCIB"] == pytest.approx(own[0.4, "dCCIB"])
    assert (tmp_path / "synthetic.png").read_bytes().startswith(b"\x89PNG")
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in report.files} | {"report.md"}


def test_claims_are_paired_differences(synthetic):
    claims = _claims(synthetic)
    low = claims[
        claims["said"].str.contains(".4") & (claims["other"] == "dCCIB") & (claims["reading"] == "shear")
    ].iloc[0]
    here = synthetic.query("reading == 'shear' and alpha <= .4").pivot(
        index="seed", columns="algorithm", values="precision"
    )
    assert low["difference"] == pytest.approx((here["CondEnsMI-EM"] - here["dCCIB"]).mean())
    assert low["sets"] == 2
    assert "k ≥ 4" not in " ".join(claims["said"])  # there is no such data set here


@pytest.mark.parametrize(
    ("paired", "expected", "found", "holds"),
    [
        ([0.10, 0.11, 0.12], "above", "above", True),
        ([0.10, 0.11, 0.12], "slight", "above", False),
        ([-0.10, -0.11, -0.12], "above", "below", False),
        ([0.30, -0.31, 0.02], "above", "no clear difference", False),
        ([0.01, 0.012, 0.011], "slight", "above", True),
    ],
)
def test_a_difference_counts_only_beyond_its_spread(paired, expected, found, holds):
    row = _difference(pd.Series(paired), expected)
    assert (row["found"], row["holds"]) == (found, holds)


def test_table_1_is_the_paper_s():
    web = [dict(zip(IN_TABLE1, way, strict=True)) for way in TABLE1["WebKB"]]
    assert web[0]["CondEns2-kmeans"][:2] == (0.2694, 0.0587)  # also in the text of the paper
    assert web[1]["CondEns2-kmeans"][0] == 0.2736
    assert TABLE1["RCV1 gmcat2x2"][1][0] == (0.8548, 0.0001, 4.68)
    repeated = [[row[4][:2] for row in TABLE1[name]] for name in ("RCV1 gmcat2x2", REPEATED[0])]
    assert repeated[0] == repeated[1]


def test_documents_beside_the_paper(pages, tmp_path):
    rows = run_text([pages], 2, n_restarts=2)
    assert len(rows) == 2 * 2 * len(TEXT_ALGORITHMS)
    assert set(TEXT_ALGORITHMS) == {*IN_TABLE1, "seqCCIB", *EXTRAS}
    found = rows.groupby(["given", "algorithm"])["nmi_hidden"].mean()
    assert found["topic", "CondEnsMI-EM"] > 0.9
    assert rows.groupby(["given", "algorithm"])["nmi_given"].mean()["topic", "CondEnsMI-EM"] < 0.1
    report = Report("Documents", tmp_path)
    report_orthogonality(report, [pages])
    report_text(report, rows, [pages], 2)
    saved = pd.read_csv(tmp_path / "table1_webkb.csv").set_index(["given", "algorithm"])
    assert saved.at[("topic", "dCCIB"), "paper_hidden"] == 0.0243
    assert saved.at[("university", "CondEnsMI-kmeans"), "paper_given"] == 0.0509
    assert np.isnan(saved.at[("topic", "seqCCIB"), "paper_hidden"])
    assert saved.at[("topic", "CondEnsMI-EM"), "nmi_hidden"] == pytest.approx(found["topic", "CondEnsMI-EM"])
    text = report.write().read_text(encoding="utf-8")
    assert "2 topics × 2 universities" in text
    assert "| topic → university | dCCIB |" in text


def test_the_repeated_row_stands_beside_nothing(pages, tmp_path):
    sets = [replace(pages, name="Reuters 5×6", like="RCV1 ec5x6")]
    report_text(Report("Documents", tmp_path), run_text(sets, 1, n_restarts=1), sets, 1)
    saved = pd.read_csv(tmp_path / "table1_reuters_5x6.csv").set_index(["given", "algorithm"])["paper_hidden"]
    assert np.isnan(saved["topic", "CondEnsMI-kmeans"])
    assert saved["topic", "CondEns2-kmeans"] == 0.2805


def test_step_by_step(pages, tmp_path):
    rows = run_walk(pages, 2)
    assert len(rows) == len(REPRESENTATIONS) * 2 * 2 * (2 + 1)
    parts = rows[rows["group"] != COMBINED]
    assert set(parts["group"]) == {"course", "student", "cornell", "texas"}
    sizes = pages.labels["topic"].value_counts()
    assert (parts.loc[parts["group"] == "course", "objects"] == sizes["course"]).all()
    assert parts["step1_hidden"].mean() > 0.9
    assert rows.loc[rows["group"] == COMBINED, "step1_hidden"].isna().all()
    report = Report("Steps", tmp_path)
    report_walk(report, rows)
    saved = pd.read_csv(tmp_path / "table3.csv").set_index(["representation", "group"])["paper_step1"]
    assert saved["counts", "student"] == STEP1["topic"]["student"] == 0.5098
    assert "step 3: 0.2694" in report.write().read_text(encoding="utf-8")


def test_answers_are_those_of_the_estimators():
    X, given, _ = orthogonal_multinomials(2, 0.2, n_objects=80)
    names = ("CondEns2-kmeans", CENTRED, "CondEnsMI-EM", "CondEnsMI-kmeans, roots, centered", "seqCCIB", HEAVY)
    found = answers(X, given, 2, names, n_restarts=2, seed=3)
    how = {"n_init": 2, "random_state": 3}
    expected = [
        CondEns(2, combine="quadratic", **how).fit(X, given),
        CondEns(2, center="group", **how).fit(X, given),
        CondEns(2, base="multinomial", **how).fit(X, given),
        CondEns(2, center="group", **how).fit(scale(X, "roots"), given),
        CCIB(2, n_init=STARTS, keep="best", random_state=3).fit(X, given),
        CCIB(2, trade_off=1, n_init=STARTS, keep="best", random_state=3).fit(X, given),
    ]
    assert list(found) == list(names)
    for answer, model in zip(found.values(), expected, strict=True):
        np.testing.assert_array_equal(answer.labels, model.labels_)
    assert len({tuple(answer.labels) for answer in found.values()}) > 3


def test_texts_are_what_the_paper_describes(data_folder):
    web, two, five, seven = read_texts(data_folder)
    assert web.counts.shape == (1085, 5560)
    assert web.directions == (("topic", "university"), ("university", "topic"))
    np.testing.assert_allclose(web.orthogonality(), (2.6691, 2.6504), atol=0.002)
    np.testing.assert_allclose(two.orthogonality(), 2 * np.log(2))
    assert two.labels.value_counts().nunique() == 1
    assert [five.labels[c].nunique() for c in ("topic", "country")] == [5, 6]
    assert [seven.labels[c].nunique() for c in ("topic", "country")] == [7, 9]
    assert seven.labels.value_counts().max() == 100
    for texts in (web, two, five, seven):
        assert texts.counts.shape[0] == len(texts.labels)
        assert np.diff(texts.counts.indptr).min() > 0
        assert np.bincount(texts.counts.indices).min() >= 3 or texts is web
        assert not texts.labels.isna().any(axis=None)
        one, both = texts.orthogonality()
        assert one >= both > 0
    part = web.sample(100)
    assert part.counts.shape[0] == len(part.labels) <= 100
    assert web.sample(None) is web


def test_real_documents_in_small(data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(gondek2005, "QUICK", TINY)
    report = PAPERS["gondek2005"].run(tmp_path / "out", data=data_folder, quick=True, n_jobs=1)
    names = {path.name for path in report.files}
    assert {
        "documents.csv",
        "table1.png",
        "table1_webkb.csv",
        "table1_reuters_7x9.csv",
        "table3.csv",
        "table4.csv",
    } <= names
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")][1:] == [
        "## 1. Synthetic data (figure 4)",
        "## 2. Documents (tables 1 and 2)",
        "## 3. Step by step (tables 3 and 4)",
        "## 4. Best of 20, by what? (table 1, k-means on WebKB)",
        "## 5. Why Reuters 2×2 given the topic finds little",
        "## 6. A representation chosen without labels",
        "## What it took",
    ]
    assert len(PAPERS["gondek2005"].claims(TableFolder(tmp_path / "out"))) == 17


def test_whole_run_by_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(gondek2005, "QUICK", TINY)
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    done = CliRunner().invoke(
        command, ["gondek2005", "-o", str(tmp_path), "--quick", "--jobs", "1"], catch_exceptions=False
    )
    assert done.exit_code == 0
    folder = tmp_path / "results" / "gondek2005"
    made = {path.name for path in folder.iterdir()}
    tables = {f"synthetic_{name}.csv" for name in ("shear", "member", "claims", "runs")}
    assert made == {"report.md", "synthetic.png", "runs.csv", *tables}
    assert "**Left out:** WebKB and Reuters" in (folder / "report.md").read_text(encoding="utf-8")
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert page == render(tmp_path, PAPERS)
    assert len(re.findall(r"\*\*(holds|holds in part|does not hold)\*\*", page)) >= 2


def test_bad_use_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no webkb\.npz"):
        PAPERS["gondek2005"].run(tmp_path / "out", data=tmp_path, quick=True)
    with pytest.raises(InputError, match="n_seeds"):
        PAPERS["gondek2005"].run(tmp_path / "out", n_seeds=0)
    assert not (tmp_path / "out").exists()
