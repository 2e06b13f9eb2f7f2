"""New objects as people bring them to a model: with gaps, other decimal signs, other ids, and far from all that was seen."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.clusterer import EnsembleClusterer
from consilience.consensus.result import describe_doubt
from samples import refuses

N = 120


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, N)
    return pd.DataFrame({"a": rng.normal(8 * group), "b": rng.normal(-6 * group), "c": rng.normal(4 * group)}).round(3)


@pytest.fixture(scope="module")
def model(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    frame.to_csv(folder / "t.csv", index=False, sep=";", decimal=",")
    fitted = EnsembleClusterer(3, n_clusterings=10, random_state=0).fit(folder / "t.csv")
    fitted.save(folder / "model")
    return EnsembleClusterer.load(folder / "model")


def test_gaps_are_filled_where_the_data_had_none(frame, model):
    holes = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.1)
    found = model.assign(holes)
    lost = int(holes.isna().sum().sum())
    assert (found.labels == model.labels_).mean() > 0.95
    assert f"{lost} missing cells filled from similar rows of the first table" in found.notices[0]
    assert f"read        DataFrame: {lost} missing cells" in repr(found)
    empty = model.assign(pd.DataFrame({"a": [None], "b": [None], "c": [np.nan]}))
    assert empty.drift.outside.all()
    assert empty.confidence[0] < 0.9
    array = EnsembleClusterer(3, n_clusterings=5, random_state=0).fit(frame.to_numpy())
    assert (array.predict(holes.to_numpy()) == array.labels_).mean() > 0.95
    refuses("X has 2 features, but EnsembleClusterer is expecting 3 features", array.predict, holes.to_numpy()[:, :2])


def test_words_in_new_numbers_are_missing(frame, model):
    new = frame.astype(object).copy()
    new.loc[3, "b"] = "unknown"
    found = model.assign(new)
    assert (found.labels == model.labels_).mean() > 0.95
    assert any("b: 1 cell that is no number, such as 'unknown', counts as missing" in said for said in found.notices)


def test_a_column_that_is_lacking_is_named(frame, model, tmp_path):
    frame.drop(columns="b").to_csv(tmp_path / "new.csv", index=False)
    refuses(r"new.csv: the new table lacks column 'b' that the model was fitted on", model.assign, tmp_path / "new.csv")
    frame.rename(columns={"b": "B"}).to_csv(tmp_path / "new.csv", index=False)
    refuses(r"if it is 'B', rename that", model.read, tmp_path / "new.csv")


def test_the_decimal_sign_is_that_of_the_data_unless_the_cells_say_otherwise(frame, model, tmp_path):
    head = frame.head(12)
    head.to_csv(tmp_path / "points.csv", index=False)
    head.to_csv(tmp_path / "commas.csv", index=False, sep=";", decimal=",")
    for name in ("points", "commas"):
        table = model.read(tmp_path / f"{name}.csv")
        np.testing.assert_allclose(table.values, head, err_msg=name)
        assert any("decimal" in said for said in table.notices), name
    (tmp_path / "one.csv").write_text("a;b;c\n1.234;0;0\n")  # thousands, where commas are decimal signs
    assert model.read(tmp_path / "one.csv").values[0, 0] == 1234
    assert model.read(tmp_path / "one.csv", decimal=".").values[0, 0] == 1.234


def test_ids_are_those_of_the_data(frame, tmp_path):
    clients = frame.assign(client=[f"K-{i:03d}" for i in range(N)])
    for table in (clients, clients.assign(plan=["x", "y", "z"] * (N // 3))):
        table.to_csv(tmp_path / "t.csv", index=False)
        fitted = EnsembleClusterer(3, n_clusterings=5, random_state=0).fit(tmp_path / "t.csv")
        fitted.save(tmp_path / "m", overwrite=True)
        model = EnsembleClusterer.load(tmp_path / "m")
        table.head(7).assign(name="x", id=range(7)).to_csv(tmp_path / "new.csv", index=False)
        new = model.read(tmp_path / "new.csv")
        assert new.ids.tolist() == [f"K-{i:03d}" for i in range(7)]
        assert model.assign(new).ids.tolist() == new.ids.tolist()
        assert any("column 'client' names the objects, as it did at first" in said for said in new.notices)
        assert model.read(tmp_path / "new.csv", id_column="id").ids.tolist() == [str(i) for i in range(7)]
        table.head(7).assign(client="K").to_csv(tmp_path / "new.csv", index=False)
        assert model.read(tmp_path / "new.csv").ids is None


def test_far_from_all_that_was_seen_nothing_is_certain(frame, model):
    far = model.assign(frame + 1000)
    assert far.drift.outside.all()
    assert far.confidence.max() < 0.05
    near = model.assign(frame)
    inside = ~near.drift.outside
    assert near.confidence[inside].mean() > 0.9
    steps = [model.assign(frame.head(1) + shift).confidence[0] for shift in (0, 20, 40, 80)]
    assert (np.diff(steps) < 0).all()


def test_a_weak_answer_says_so_and_a_clear_one_nothing(frame):
    rng = np.random.default_rng(0)
    noise = EnsembleClusterer(n_clusterings=20, random_state=0).fit(rng.normal(size=(150, 3)))
    assert noise.doubt_.startswith("too few kinds of clustering")
    two = EnsembleClusterer(n_clusterings=5).fit([[1.0, 2.0], [2.0, 5.0]])
    assert two.doubt_.startswith("2 objects are too few")
    low = SimpleNamespace(labels=np.zeros(20, int), confidence=np.full(20, 0.52), scales=None)
    assert "only 52 % of the objects" in describe_doubt(low)
    assert EnsembleClusterer(n_clusterings=20, random_state=0).fit(frame).doubt_ == ""


def test_a_guide_and_options_of_methods(tmp_path):
    beads = cs.datasets.load_beads()
    guide = cs.generation.Guide(unlike="shape", together=[("b001", "b005"), ("b003", "b004")])
    how = {"n_clusterings": 20, "methods": "zipf+minima", "random_state": 0}
    plain, guided = (cs.EnsembleClusterer(4, **how, guide=one).fit(beads) for one in (None, guide))
    color, shape = (cs.measures.nmi(beads.labels[name], guided.labels_) for name in ("color", "shape"))
    assert color > 0.6 > 0.3 > shape > -1
    assert cs.measures.nmi(beads.labels["color"], plain.labels_) < 0.4
    assert "members guided by 2 pairs together, unlike shape" in guided.note_
    frame = pd.DataFrame(beads.values, columns=beads.columns, index=beads.ids)
    frame["shape"] = beads.labels["shape"].to_numpy()
    np.testing.assert_array_equal(cs.EnsembleClusterer(4, **how, guide=guide).fit(frame).labels_, guided.labels_)
    sampled = cs.EnsembleClusterer(4, **how, guide=guide, max_objects=150).fit(beads)
    assert cs.measures.nmi(beads.labels["color"], sampled.labels_) > 0.5
    guided.save(tmp_path / "m")
    again = EnsembleClusterer.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(beads), guided.predict(beads))
    refuses("guide must be a Guide", again.fit, beads)
    how = {"n_clusterings": 5, "methods": "landmarks", "random_state": 0}
    fast = cs.EnsembleClusterer(4, **how, options={"n_landmarks": 40}).fit(beads)
    assert '"n_landmarks": 40' in fast.ensemble_.info["settings"][0]
    for wrong, says in (({"n_landmark": 40}, "unknown option"), ({"metric": "precomputed"}, "options has 'metric'")):
        refuses(says, cs.EnsembleClusterer(4, **how, options=wrong).fit, beads)
