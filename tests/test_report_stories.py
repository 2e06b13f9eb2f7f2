"""Every kind of result, from the call to the file."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels
from consilience.measures import accuracy
from consilience.reports import ensemble
from consilience.reports.meta import MetaReport
from consilience.reports.plane import aligned
from consilience.reports.report import PARTS
from consilience.reports.sections import Options
from consilience.tables import read_table, scale
from report_pages import read_page

EVIL = "<img src=x onerror=alert(1)>\"'&$x_1$"


@pytest.fixture(scope="module")
def beads():
    return load_beads()


@pytest.fixture(scope="module")
def run(tmp_path_factory, beads):
    folder = tmp_path_factory.mktemp("runs") / "run"
    cs.generate(beads, 60, n_clusters=(3, 5), methods="zipf:2+pca", store=folder, max_alpha=1.0)
    return folder


@pytest.fixture(scope="module")
def told(run, beads, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    options = {"data": beads, "known": beads.labels, "n_groups": 4, "linkage": "ward", "n_shuffles": 3}
    cs.report(run, out / "page.html", figures=out / "parts", **options)
    return out, read_page(out / "page.html")


def test_a_run_is_told_from_its_groups_to_what_is_not_said(told):
    heads = ["The groups", "Group by group", "How alike", "The tree", "Scores", "The clusterings one by one", "A map"]
    heads += [
        "One clustering from all",
        "Stable components",
        "Floaters",
        "What was done",
        "What these figures do not say",
    ]
    text = told[1].text.split("What these figures do not say", 1)[1]  # after the list of contents
    places = [text.index(head) for head in heads]
    assert places == sorted(places)


def test_it_says_how_to_make_it_again(told, beads, run):
    text = told[1].text
    line = next(part for part in text.split("# made by ")[1:])
    call = line[: line.index(") ") + 1]
    assert "random_state=0" in text
    assert "max_alpha=1.0" in call
    again = eval(call, {"cs": cs, "data": beads})
    np.testing.assert_array_equal(again.labels, cs.Ensemble.load(run).labels)
    for fact in ("60, of 300 objects", "3 to 5", "zipf (40), pca (20)", f"consilience {cs.__version__}", "beads.csv"):
        assert fact in text


def test_clusterings_in_memory_say_how_they_were_made(tmp_path, beads):
    ens = cs.generate(beads, 12, n_clusters=3, random_state=4)
    cs.report(ens, tmp_path / "page.html")
    text = read_page(tmp_path / "page.html").text
    call = text.split("ens = cs.generate(")[1].split(") ")[0]
    again = eval(f"cs.generate({call})", {"cs": cs, "data": beads})
    np.testing.assert_array_equal(again.labels, ens.labels)


def test_its_numbers_are_those_of_the_library(told, run, beads):
    out, page = told
    ens = cs.Ensemble.load(run)
    meta = cs.organize(ens, 4, "ward")
    stability = pd.read_csv(out / "parts" / "stability.csv", index_col="measure")
    assert stability.loc["jaccard", "mean"] == pytest.approx(cs.stability(ens).mean)
    assert stability.loc["jaccard", "standard_error"] == pytest.approx(cs.stability(ens).sem)
    assert cs.stability(ens).words(4) in page.text
    groups = pd.read_csv(out / "parts" / "groups.csv", index_col="group")
    assert groups["clusterings"].tolist() == meta.sizes.tolist()
    assert groups["medoid"].tolist() == meta.medoids.tolist()
    for name in ("shape", "color"):
        expected = [accuracy(beads.labels[name], meta.consensus(g).labels) for g in meta.numbers]
        np.testing.assert_allclose(groups[f"accuracy:{name}"], expected)
    null = pd.read_csv(out / "parts" / "null.csv", index_col="known_labels")
    assert null.loc["shape", "best_group"] == pytest.approx(groups["accuracy:shape"].max())
    assert null.loc["shape", "p_value"] >= 0.25
    objects = pd.read_csv(out / "parts" / "objects.csv", index_col="bead")
    assert objects.index.tolist() == beads.ids.tolist()
    assert objects["cluster"].tolist() == meta.consensus().labels.tolist()
    assert objects["group2"].tolist() == meta.consensus(2).labels.tolist()
    weak = pd.read_csv(out / "parts" / "floaters.csv")
    assert weak["bead"].tolist() == cs.consensus.floaters(ens, meta.consensus())["id"].tolist()
    found = meta.map()
    assert f"Stress {found.stress:.2f}" in page.text
    np.testing.assert_allclose(pd.read_csv(out / "parts" / "map.csv")[["x", "y"]], found.xy)


def test_figures_and_tables_have_fixed_names(told):
    names = {path.name for path in (told[0] / "parts").iterdir()}
    for name in ("comparison", "tree_1", "tree_2", "curve", "scores_1", "scores_3", "map", "confidence", "tiles"):
        assert {f"{name}.png", f"{name}.svg"} <= names
    assert {"clusterings.csv", "features.csv", "clusters.csv", "curve.csv", "null.csv"} <= names
    assert len(pd.read_csv(told[0] / "parts" / "clusterings.csv")) == 60
    assert {name.split(".")[0] for name in names} <= set(PARTS)


def test_the_same_result_gives_the_same_bytes(tmp_path):
    for name in ("a.html", "b.html"):
        cs.report(load_beads_labels()[:, :5], tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_whatever_comes_from_outside_is_text(tmp_path):
    rng = np.random.default_rng(0)
    n = 40
    names = [f"{EVIL} {j}" for j in range(4)]
    info = {"name": names, "method": EVIL, "seed": EVIL, "settings": EVIL}
    ens = cs.Ensemble(rng.integers(0, 3, (n, 4)), info=info, ids=[f"{EVIL} {i}" for i in range(n)])
    folder = tmp_path / "<img src=x onerror=alert(1)>&'"
    ens.save(folder)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=[EVIL, "b"], index=ens.ids)
    known = {EVIL: np.array([EVIL, "b"])[rng.integers(0, 2, n)]}
    options = {"known": known, "n_shuffles": 2, "n_groups": 2, "title": EVIL, "figures": tmp_path / "<b>figures"}
    cs.report(folder, tmp_path / "page.html", data=data, **options)
    page = read_page(tmp_path / "page.html")
    assert page.text.count(EVIL) > 20
    assert "<b>figures/floaters.csv" in page.text or len(cs.consensus.floaters(ens, [0] * n)) <= 20
    assert "known labels " + EVIL in page.text


def test_an_organized_ensemble_is_taken_as_it_is(tmp_path):
    meta = cs.organize(load_beads_labels(), 5, measure="nmi")
    cs.report(meta, tmp_path / "page.html")
    text = read_page(tmp_path / "page.html").text
    assert "in 5 groups" in text
    assert "measure='nmi'" in text
    with pytest.raises(InputError, match="of a MetaClustering does not take n_groups"):
        cs.report(meta, tmp_path / "page.html", n_groups=3)


def test_a_single_clustering_has_no_tree(tmp_path):
    cs.report(cs.Ensemble([[0, 0, 1, 1, None]]), tmp_path / "page.html", n_clusters=2)
    text = read_page(tmp_path / "page.html").text
    assert "only one clustering" in text
    assert "The tree" not in text
    assert "without a label 1 object" in text


def test_clusterings_of_different_objects_have_no_tree(tmp_path):
    ens = cs.Ensemble([[0, 0, 1, 1, None, None], [None, None, None, None, 0, 1], [0, 0, 0, 1, 1, 1]])
    cs.report(ens, tmp_path / "page.html")
    text = read_page(tmp_path / "page.html").text
    assert "share no object" in text
    assert "The tree" not in text
    with pytest.raises(InputError, match="share no labeled object"):
        cs.report(ens, tmp_path / "page.html", n_groups=2)


@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_a_consensus(tmp_path, beads, n_clusters):
    one = cs.combine(load_beads_labels(), n_clusters, "auto" if n_clusters == 3 else "evidence")
    cs.report(one, tmp_path / "page.html", data=beads, known=beads.labels, figures=tmp_path / "parts")
    text = read_page(tmp_path / "page.html").text
    assert f"there with probability {one.confidence.mean():.2f} (its confidence)" in text
    assert one.note.replace(" ", "") in text.replace(" ", "")
    assert ("Stability above the grey band" in text) == (n_clusters == "auto")
    assert "roundness" in text
    listed = pd.read_csv(tmp_path / "parts" / "floaters.csv")["id"].tolist() if len(one.floating) else []
    assert listed == beads.ids[one.floating].tolist()  # the weakest support first


def test_an_agreement_and_its_folder(tmp_path):
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.ones((20, 10))) + 0.7
    counts = rng.poisson(topics)
    found = cs.agree(counts, 3, n_clusterings=4, max_iter=2)
    truth = np.repeat(["a", "b", "c"], 20)
    found.save(tmp_path / "saved")
    cs.report(
        tmp_path / "saved", tmp_path / "page.html", data=counts, known={"topic": truth}, figures=tmp_path / "parts"
    )
    text = read_page(tmp_path / "page.html").text
    assert "Agreement by iteration" in text
    assert "Result.load(" in text
    table = pd.read_csv(tmp_path / "parts" / "iterations.csv", index_col="iteration")
    pd.testing.assert_frame_equal(
        table.reset_index(), found.stability_by_iteration({"topic": truth}), check_exact=False
    )
    for end in table["rows"].iloc[[0, -1]]:
        assert f"{end:.3f}" in text
    assert len(pd.read_csv(tmp_path / "parts" / "objects.csv")) == 60


def test_a_contrast_names_the_given_groups(tmp_path, beads):
    found = cs.contrast(scale(beads.values, "columns"), beads.labels["shape"], 4, n_init=3)
    cs.report(found, tmp_path / "page.html", data=beads, known={"color": beads.labels["color"]})
    page = read_page(tmp_path / "page.html")
    assert found.sentence[1:-1] in page.text
    for name in ("ball", "disc", "tube"):
        assert page.text.count(name) >= 2  # in the table of groups, and on the picture
    cs.report(found, tmp_path / "page.html")
    assert "tube" in read_page(tmp_path / "page.html").text


def test_a_comparison(tmp_path, beads):
    found = cs.compare(load_beads_labels(), ["rand", "cluster_difference"], known=beads.labels)
    cs.report(found, tmp_path / "page.html")
    assert found.stability["cluster_difference"].words(4) in read_page(tmp_path / "page.html").text
    with pytest.raises(InputError, match="of a Comparison does not take known"):
        cs.report(found, tmp_path / "page.html", known=beads.labels)


def test_data_and_known_labels_are_matched_with_the_objects(tmp_path, beads, run):
    order = np.random.default_rng(0).permutation(300)
    frame = pd.DataFrame(beads.values, index=pd.Index(beads.ids, name="bead"), columns=beads.columns)
    shuffled = read_table(frame.iloc[order].reset_index(), kind="data", id_column="bead")
    few, found = load_beads_labels(), []
    one = cs.combine(few, 3, "vote")
    for data in (beads, shuffled):
        cs.report(cs.Ensemble(one.labels, ids=beads.ids), tmp_path / "page.html", data=data)
        text = read_page(tmp_path / "page.html").text
        found.append(text[text.index("Columns on which") : text.index("Effect is")])
    assert found[0] == found[1]
    with pytest.raises(InputError, match="5 rows for 300 objects"):
        cs.report(run, tmp_path / "page.html", data=beads.values[:5])
    lacking = read_table(frame.iloc[1:].reset_index(), kind="data", id_column="bead")
    with pytest.raises(InputError, match="no row for 1 object of the clusterings, such as 'b001'"):
        cs.report(run, tmp_path / "page.html", data=lacking)
    with pytest.raises(InputError, match="'shape' are 5 for 300 objects"):
        cs.report(run, tmp_path / "page.html", known={"shape": beads.labels["shape"][:5]})


def test_large_ensembles_are_shuffled_on_a_sample_and_compared_by_one_measure(tmp_path, monkeypatch, beads):
    monkeypatch.setattr(ensemble, "SHUFFLED", 97)
    monkeypatch.setattr(ensemble, "COSTLY", 1000)
    options = {"known": beads.labels, "n_groups": 2, "n_shuffles": 2, "data": beads}
    cs.report(load_beads_labels()[:, :6], tmp_path / "page.html", **options)
    text = read_page(tmp_path / "page.html").text
    assert "of 97 objects drawn at random" in text
    assert "nmi with" not in text
    ens = load_beads_labels()[:, :6]
    known = {"shape": np.unique(beads.labels["shape"], return_inverse=True)[1]}
    null = MetaReport(cs.organize(ens, 2), None, Options(known=known, n_shuffles=2)).null
    right = 97 * null.groups["shape"].to_numpy()
    np.testing.assert_allclose(right, right.round(), atol=1e-9)  # a whole number of 97 objects, not of 300


def test_estimated_distances_are_named(tmp_path):
    cs.report(cs.organize(load_beads_labels(), 2, sketch=500), tmp_path / "page.html")
    assert read_page(tmp_path / "page.html").text.count("are estimated") == 2


def test_nothing_is_written_where_something_would_be_lost(tmp_path, run, beads):
    before = {path: path.read_bytes() for path in run.iterdir()}
    for page in (run / "page.html", run / "deeper" / ".." / "page.html"):
        with pytest.raises(InputError, match=r"over, or into, what is read|does not exist"):
            cs.report(run, page)
    with pytest.raises(InputError, match="over, or into, what is read"):
        cs.report(run, tmp_path / "page.html", figures=run)
    table = tmp_path / "groups.csv"
    pd.DataFrame(beads.values, columns=beads.columns).to_csv(table, index=False)
    with pytest.raises(InputError, match="over, or into, what is read"):
        cs.report(run, tmp_path / "page.html", data=table, figures=tmp_path)
    assert {path: path.read_bytes() for path in run.iterdir()} == before
    assert {path.name for path in tmp_path.iterdir()} == {"groups.csv"}


def test_figures_over_what_is_read_are_refused_before_the_work(tmp_path, monkeypatch):
    table = tmp_path / "objects.csv"
    load_beads_labels().to_frame().to_csv(table, index=False)
    monkeypatch.setattr("consilience.reports.Report.sections", lambda *_: pytest.fail("work was begun"))
    with pytest.raises(InputError, match=r"objects.csv would be written over, or into, what is read"):
        cs.report(table, tmp_path / "page.html", figures=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["objects.csv"]


def test_a_report_that_fails_leaves_the_old_one(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    with pytest.raises(InputError, match="groups cannot be made of 16"):
        cs.report(load_beads_labels(), page, n_groups=99)
    assert page.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("result", "path", "options", "message"),
    [
        (5, "a.html", {}, "labels cannot be an int"),
        (cs.stability([[0, 1], [1, 1]]), "a.html", {}, "a report is of one of Agreement, .*; got a Stability"),
        ("nowhere", "a.html", {}, "nowhere"),
        (None, "a.txt", {}, "give it the ending .html"),
        (None, "no/a.html", {}, "does not exist"),
        (None, "a.html", {"linkage": "x"}, "unknown linkage"),
        (None, "a.html", {"method": "x"}, "unknown method"),
        (None, "a.html", {"n_shuffles": -1}, "n_shuffles"),
        (None, "a.html", {"data": [["x"]]}, "table|type|read"),
    ],
)
def test_bad_use_is_refused(tmp_path, result, path, options, message):
    with pytest.raises(InputError, match=message):
        cs.report(load_beads_labels() if result is None else result, tmp_path / path, **options)
    assert not list(tmp_path.iterdir())


def test_colors_follow_by_overlap():
    reference = np.array([0, 0, 0, 1, 1, 2, -1])
    np.testing.assert_array_equal(aligned(np.array([2, 2, 2, 0, 0, 1, 1]), reference), [0, 0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(aligned(np.array([0, 1, 1, 2, 2, 3, -1]), reference), [3, 0, 0, 1, 1, 2, -1])
    assert aligned(np.full(3, -1), np.array([0, 1, 1])).tolist() == [-1, -1, -1]
