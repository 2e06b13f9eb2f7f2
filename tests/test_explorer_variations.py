"""Steering, dropping and other linkages of the explorer: what is made can be taken away, on disk too."""

import gc
import weakref
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import linkage as scipy_linkage

import consilience as cs
from consilience.datasets import load_beads
from consilience.ensemble.store import Store
from consilience.explorer.api import Api
from consilience.generation import Guide, Variations
from explorer_cases import arrays, ask, beads_session, finish, post, stored_session
from test_explorer_export import exported


@pytest.fixture
def api():
    found = Api(beads_session())
    yield found
    found.close()


def more(api, **how):
    job = post(api, "jobs", 202, **{"kind": "more_like", "ref": "5m", "count": 20, "jitter": 0.3, **how})
    done = finish(api, job["id"])
    assert done["state"] == "done", done
    return done["result"]["added"]


def weights(api, added):
    return np.stack([np.asarray(row) for row in api.session.snapshot.meta.ensemble.info["weights"].iloc[added]])


def logs(api, **how):
    """The mean logarithms of the weights of more of them."""
    return np.log(weights(api, more(api, **how))).mean(axis=0)


def by_method(api, method):
    """A clustering that weighs columns, or components."""
    return f"{int(np.flatnonzero(api.session.snapshot.meta.ensemble.info['method'] == method)[0])}m"


def test_columns_count_more_or_less(api):
    ref = by_method(api, "zipf")
    plain = logs(api, ref=ref)
    by = (logs(api, ref=ref, more=[0, 2], less=[1]) - plain) / np.log(2)
    np.testing.assert_allclose(by[:3], [1, -1, 1], atol=0.6)
    assert abs(by[3:]).max() < 0.57


def test_components_count_by_what_the_columns_explain(api):
    ref = by_method(api, "pca")
    plain = logs(api, ref=ref)
    steered = logs(api, ref=ref, more=list(range(len(api.session.features))))
    np.testing.assert_allclose((steered - plain) / np.log(2), 1, atol=0.6)  # all of every component


def test_objects_are_kept_together_and_apart(api):
    beads, ref = load_beads(), by_method(api, "zipf")
    shape = beads.labels["shape"]
    one, other = (np.flatnonzero(shape == value)[:12].tolist() for value in np.unique(shape)[:2])
    plain = logs(api, ref=ref, count=100)
    steered = logs(api, ref=ref, count=100, together=one, apart=other)
    near = [(beads.ids[a], beads.ids[b]) for a, b in combinations(one, 2)]
    far = [(beads.ids[a], beads.ids[b]) for a, b in zip(one, other, strict=True)]
    values = beads.scaling().apply(beads.values)
    learned = np.log(Guide(together=near, apart=far).of(beads).weights(values))
    np.testing.assert_allclose(steered - plain, learned, atol=0.2)
    assert abs(learned).max() > 0.5


def test_wishes_that_cannot_be_are_refused(api):
    wrong = {"no column": {"more": [999]}, "no object 300": {"apart": [300]}}
    wrong |= {"both ways": {"more": [1], "less": [1]}, "list of at most": {"together": [1, 1]}}
    for words, wish in wrong.items():
        assert words in post(api, "jobs", 400, kind="more_like", ref="5m", count=5, **wish)["error"]


def test_what_was_steered_is_made_again_by_its_line_of_python(api):
    before = api.session.snapshot.meta.ensemble
    added = more(api, count=3, ref=by_method(api, "zipf"), more=[1], together=[0, 1], apart=[2])
    code = exported(api, "python", [{"ref": f"{added[-1]}m", "name": "mine"}]).body.decode()
    assert "from consilience.generation import Guide, Variations" in code
    made = {"cs": cs, "Guide": Guide, "variations": Variations(load_beads()), "ensemble": before}
    exec("\n".join(api.session.grown), made)
    np.testing.assert_array_equal(made["ensemble"].labels, api.session.snapshot.meta.ensemble.labels)


def test_asking_again_after_a_drop_makes_others(api):
    how = {"ref": by_method(api, "zipf"), "count": 3}
    first = weights(api, more(api, **how))
    post(api, "drop", 200, first=60)
    others = weights(api, [*more(api, **how), *more(api, **how)])
    assert len(np.unique(np.concatenate([first, others]), axis=0)) == 9


def test_a_drop_goes_back_to_just_what_was_there(api):
    more(api, count=4)
    before, scores = api.session.snapshot.meta, api.session.snapshot.scores
    more(api, count=4)
    assert ask(api, "session")["added"] == [60, 64]
    assert "not the last" in post(api, "drop", 409, first=60)["error"]
    assert post(api, "drop", 200, first=64)["n_clusterings"] == 64
    after = api.session.snapshot.meta
    assert after is not before
    for name in ("distances", "tree", "nodes", "groups"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    np.testing.assert_array_equal(after.ensemble.labels, before.ensemble.labels)
    frames = (after.ensemble.info, after.curve, api.session.snapshot.scores)
    for now, then in zip(frames, (before.ensemble.info, before.curve, scores), strict=True):
        pd.testing.assert_frame_equal(now, then)
    assert after.ensemble.names == before.ensemble.names
    assert post(api, "drop", 200, first=60) == {"revision": 4, "n_clusterings": 60}
    assert api.session.grown == []


def test_what_was_shown_before_is_not_kept(api):
    more(api, count=2)
    old = api.session.snapshot
    held = [weakref.ref(old), weakref.ref(old.meta), weakref.ref(old.meta.ensemble)]
    del old
    more(api, count=2)
    gc.collect()
    assert [one() for one in held] == [None] * 3


def test_what_was_added_is_dropped_from_the_store(tmp_path):
    folder = tmp_path / "run"
    session = stored_session(folder)
    api = Api(session)
    m = session.snapshot.n_clusterings
    labels = Store.open(folder).labels()
    more(api, count=30)
    assert Store.open(folder).n_clusterings == m + 30
    post(api, "drop", 200, first=m)
    np.testing.assert_array_equal(Store.open(folder).labels(), labels)
    assert more(api, count=2) == [m, m + 1]
    assert cs.Ensemble.load(folder).n_clusterings == m + 2
    api.close()


@pytest.mark.parametrize("name", ["average", "complete", "single"])
def test_the_tree_is_grown_by_another_linkage(api, name):
    first = ask(api, "session")
    assert first["linkages"] == ["ward", "average", "complete", "single"]
    assert post(api, "linkage", 200, linkage=name) == {"revision": 1, "linkage": name}
    told = ask(api, "session")
    assert told["linkage"] == name
    assert told["tree"] != first["tree"], "refs of one tree mean nothing in the other"
    heights = arrays(api, "boot")[1]["heights"]
    expected = scipy_linkage(api.session.snapshot.meta.distances, name)[:, 2]
    np.testing.assert_allclose(heights, expected, rtol=1e-6)
    post(api, "linkage", 200, linkage="ward")
    assert ask(api, "session")["tree"] == first["tree"]
    assert "one of ward" in post(api, "linkage", 400, linkage="centroid")["error"]
