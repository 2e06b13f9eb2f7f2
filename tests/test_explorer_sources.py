"""What the explorer can be pointed at, and what it says to everything else."""

import inspect
import json
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience._check import InputError
from consilience.datasets import load_beads, load_beads_labels, sample_path
from consilience.ensemble.store import Store, StoreWarning
from consilience.explorer.api import Api
from consilience.explorer.sources import GenerateOptions, open_clusterings
from consilience.inputs.guess import guess
from consilience.reports.plane import plane_of
from consilience.tables import read_table
from explorer_cases import arrays, ask, beads_ensemble
from samples import block_counts, refuses

BEADS, LABELS = sample_path("beads.csv"), sample_path("beads_labels.csv")
HOW = {"id_column": "bead", "known": ["shape", "color"]}


def told(found, **options):
    return ask(Api(found.session(**options)), "session")


def test_a_stored_run(run):
    found = open_clusterings(run)
    assert (found.ensemble.n_clusterings, found.opened.provenance.store) == (120, run.resolve())
    session = told(found)
    assert (session["name"], session["source"], session["refused"]) == ("beads", "beads", [])
    assert str(run.parent) not in json.dumps(session)


def test_a_run_keeps_its_number_as_it_grows(run, tmp_path):
    shutil.copytree(run, tmp_path / "copy")
    cs.generate(load_beads(), 130, 4, store=tmp_path / "copy", progress=False)
    cs.generate(load_beads(), 30, 4, random_state=1, store=tmp_path / "other", progress=False)
    first, same, other = (
        open_clusterings(one).opened.provenance.run for one in (run, tmp_path / "copy", tmp_path / "other")
    )
    assert first == same != other


def test_data_in_another_order_is_matched_by_id(run, tmp_path):
    frame = pd.read_csv(BEADS).sample(frac=1, random_state=0)
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    found = open_clusterings(run).with_data(read_table(tmp_path / "mixed.csv", kind="data", **HOW))
    np.testing.assert_array_equal(found.opened.data.values, load_beads().values)
    assert list(found.opened.known["shape"]) == load_beads().labels["shape"].tolist()
    session = told(found)
    assert (session["can"]["more_like"], session["known"]) == (True, ["shape", "color"])
    assert session["embedding"]["note"].startswith("two principal components")


def test_data_that_lacks_objects(run, tmp_path):
    pd.read_csv(BEADS).iloc[5:].to_csv(tmp_path / "some.csv", index=False)
    with pytest.raises(InputError, match="no row for 5 objects of the clusterings, such as 'b001'"):
        open_clusterings(run).with_data(read_table(tmp_path / "some.csv", kind="data", **HOW))
    refuses("7 rows for 300 objects", open_clusterings(run).with_data, read_table(np.zeros((7, 2)), kind="data"))


def test_a_damaged_part_is_named_and_the_rest_is_shown(tmp_path):
    folder = tmp_path / "run"
    cs.generate(load_beads(), 20, 4, store=folder, progress=False)
    cs.generate(load_beads(), 30, 4, store=folder, progress=False)
    part = sorted(folder.glob("part-*"))[-1]
    kept = 30 - pq.read_metadata(part).num_rows
    part.write_bytes(part.read_bytes()[:-20] + b"x" * 20)
    with pytest.warns(StoreWarning, match="is left out"):
        found = open_clusterings(folder)
    session = told(found)
    assert 20 <= session["n_clusterings"] == kept < 30
    (refused,) = session["refused"]
    assert refused.startswith(part.name)
    assert str(tmp_path) not in refused


def test_labels_with_data():
    data = read_table(BEADS, kind="data", id_column="bead", columns=["red", "blue"])
    session = told(open_clusterings(LABELS, reading=HOW).with_data(data))
    assert session["features"] == ["red", "blue"]
    assert "compactness" in [score["name"] for score in session["scores"]]
    assert session["can"]["more_like"] is False


def test_data_is_clustered_into_few_and_many_clusters_where_nothing_is_said():
    assert inspect.signature(cs.explore).parameters["n_clusters"].default is None
    found = open_clusterings(BEADS, reading=HOW, options=GenerateOptions(15))
    data = load_beads()
    few_and_many = 2, int(np.sqrt(data.n_objects))
    np.testing.assert_array_equal(found.ensemble.labels, cs.generate(data, 15, few_and_many).labels)
    again = eval(found.opened.provenance.code, {"cs": cs, "data": data})  # what the page says it was made by
    np.testing.assert_array_equal(again.labels, found.ensemble.labels)
    assert (told(found)["name"], told(found)["can"]["more_like"]) == ("beads", True)


def test_a_data_file_is_clustered_first_into_a_run(tmp_path):
    folder = tmp_path / "run"
    found = open_clusterings(BEADS, reading=HOW, options=GenerateOptions(15, 3, "zipf", store=folder))
    np.testing.assert_array_equal(found.ensemble.labels, cs.generate(load_beads(), 15, 3, "zipf").labels)
    session = told(found)
    assert (session["name"], session["can"]["more_like"]) == ("beads", True)
    assert cs.Ensemble.load(folder).n_clusterings == 15
    assert found.opened.provenance.store == folder.resolve()
    again = open_clusterings(BEADS, reading=HOW, options=GenerateOptions(10, 3, "zipf", store=folder))
    assert again.ensemble.n_clusterings == 15  # what the run has, not only what is asked for now


def test_distances():
    distances = squareform(pdist(load_beads().values))
    api = Api(open_clusterings(distances, kind="distances", options=GenerateOptions(10, 4)).session())
    session = ask(api, "session")
    assert session["embedding"]["kind"] == "mds"
    assert (session["can"]["features"], session["can"]["more_like"]) == (False, True)
    assert ask(api, "detail/3m")["features"] is None


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ({"a": [0, 1, 0, 1, 1, 1], "b": ["x", "y", "x", "y", "x", "x"]}, "labels"),
        ({"a": [0, 1, 0, 1, 1, 1], "b": [0.5, 1, 2, 3, 4, 5]}, "data"),
        ({"a": [0, 1, 0, 1, 1, 1], "b": [10, 20, 30, 40, 50, 60]}, "data"),
        ({"a": [1.0, 2.0, None, 1.0, 2.0, 1.0]}, "labels"),
    ],
)
def test_labels_or_data(table, kind):
    assert guess(pd.DataFrame(table), {}) == kind


def test_results_in_memory():
    meta = cs.organize(beads_ensemble(), 7, "ward")
    session = told(open_clusterings(meta))
    assert (session["linkage"], session["cut"]["groups"]) == ("ward", 7)
    assert told(open_clusterings(beads_ensemble()))["n_clusterings"] == 60
    assert told(open_clusterings([[0, 0, 1, 1], [0, 1, 0, 1]]))["n_objects"] == 4
    assert told(open_clusterings(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])))["n_clusterings"] == 2
    few = GenerateOptions(8, 3)
    assert told(open_clusterings(load_beads(), options=few))["known"] == ["shape", "color"]
    assert len(told(open_clusterings(pd.DataFrame(load_beads().values), options=few))["features"]) == 8


@pytest.fixture(scope="module")
def agreement():
    return cs.agree(block_counts(60, 90, 3, own=0.3)[0], 3, n_clusterings=4, max_iter=2, random_state=0)


def test_an_agreement(agreement, tmp_path):
    agreement.save(tmp_path / "found")
    truth = {"kind": np.arange(agreement.after.rows.n_objects) % 3}
    api = Api(open_clusterings(tmp_path / "found").session(known=truth))
    assert ask(api, "session")["can"]["agreement"] is True
    np.testing.assert_array_equal(arrays(api, "labels/2m")[1]["labels"][0], agreement.after.rows.labels[:, 2])
    found, table = ask(api, "agreement"), agreement.stability_by_iteration(truth)
    assert [row["iteration"] for row in found["iterations"]] == [0, 1, 2]
    for row, expected in zip(found["iterations"], table.to_dict("records"), strict=True):
        assert row == pytest.approx(expected)
    for side in ("rows", "columns"):
        for when in ("before", "after"):
            sizes = getattr(getattr(agreement, when), side).signatures().counts
            one = found["components"][side][when]
            assert (one["number"], one["largest"]) == (len(sizes), sizes.max())
            assert one["share_in_groups"] == pytest.approx(sizes[sizes > 1].sum() / sizes.sum())
            groups = [g for g in found["groups"] if (g["side"], g["when"]) == (side, when)]
            assert [g["size"] for g in groups] == sorted(sizes[sizes > 1], reverse=True)[:20]
            assert all(len(g["members"]) == min(g["size"], 20) for g in groups)
    in_memory = Api(open_clusterings(agreement).session())
    assert ask(in_memory, "agreement")["empty_rows"] == len(agreement.empty_rows)


def test_folders_that_cannot_be_shown(agreement, tmp_path):
    agreement.save(tmp_path / "found")
    (tmp_path / "found" / "result.json").write_text("{")
    Store.create(tmp_path / "empty", n_objects=3).close()
    for name, content in (("nothing", None), ("foreign", '{"format": "something else"}')):
        (tmp_path / name).mkdir()
        if content:
            (tmp_path / name / "manifest.json").write_text(content)
    nowhere = "not a stored run"
    refused = {"found": "is not JSON", "empty": "no finished clustering", "nothing": nowhere, "foreign": nowhere}
    for name, words in refused.items():
        refuses(words, open_clusterings, tmp_path / name)


def test_the_plane_of_two_columns():
    found = plane_of(load_beads_labels(), load_beads(), ["red", 5])
    columns = load_beads().values[:, 4:6]
    np.testing.assert_allclose(found.xy, (columns - columns.min(axis=0)) / np.ptp(columns, axis=0), atol=1e-6)
    assert (found.kind, found.note) == ("columns", "red and green")
    for axes, message in ((["red"], "two axes"), (["rad", "blue"], "did you mean 'red'"), ([0, 8], "0 to 7")):
        refuses(message, plane_of, load_beads_labels(), load_beads(), axes)
    refuses("there is none", plane_of, load_beads_labels(), None, ["red", "blue"])


def test_the_plane_is_that_of_pca():
    scores = PCA(2).fit_transform(StandardScaler().fit_transform(load_beads().values))
    assert same_axes(plane_of(load_beads_labels(), load_beads()).xy, scores)


def same_axes(xy, others):
    """Whether two planes are one but for lengths and directions of the axes."""
    return all(abs(np.corrcoef(xy[:, j], others[:, j])[0, 1]) > 1 - 1e-6 for j in range(2))


def test_the_plane_of_labels_has_their_principal_components():
    """Against the definition: the singular vectors of the centered table of labels."""
    ens = load_beads_labels()
    one_hot = np.hstack([(column[:, None] == np.arange(column.max() + 1)).astype(float) for column in ens.labels.T])
    left, values, _ = np.linalg.svd(one_hot - one_hot.mean(axis=0), full_matrices=False)
    found = plane_of(ens, None)
    assert same_axes(found.xy, left)
    share = np.square(values[:2]).sum() / np.square(values).sum()
    assert f"{100 * share:.0f} %" in found.note
    inverse = ens.signatures().inverse
    for row in range(inverse.max() + 1):  # objects alike lie together
        assert np.ptp(found.xy[inverse == row], axis=0).max() < 1e-6


def test_a_far_object_stands_at_the_edge():
    ens = cs.Ensemble([np.arange(200) % 2, np.arange(200) % 3])
    columns = np.random.default_rng(0).random((200, 2))
    columns[7] = [1000, 0.5]
    found = plane_of(ens, read_table(columns, kind="data"), [0, 1]).xy
    assert found[7, 0] == 1
    assert np.ptp(np.delete(found[:, 0], 7)) > 0.3
    assert 0 <= found.min() < found.max() <= 1


SPARSE = sparse.random(40, 30, 0.2, "csr", random_state=0)


@pytest.mark.parametrize(
    ("X", "kind"), [(np.ones((40, 2)), "pca"), (np.arange(40.0)[:, None], "columns"), (SPARSE, "svd")]
)
def test_the_plane_of_constant_single_and_sparse_columns(X, kind):
    found = plane_of(cs.Ensemble([np.arange(40) % 2, np.arange(40) % 3]), read_table(X, kind="data"))
    assert (found.kind, bool(np.isfinite(found.xy).all())) == (kind, True)


def test_ids_keep_the_name_of_their_column(run, tmp_path):
    labels = pd.read_csv(LABELS).rename(columns={"bead": "Bead ID"})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    assert open_clusterings(tmp_path / "labels.csv", kind="labels").session().source.id_name == "Bead ID"
    assert open_clusterings(LABELS, reading={"id_column": 0}).session().source.id_name == "bead"
    assert open_clusterings(run).session().source.id_name == "bead"
    assert open_clusterings(run).with_data(BEADS, **HOW).session().source.id_name == "bead"
