"""Long work of the explorer: more like this, and the null of the best group."""

import threading

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience._run.random import child_seed
from consilience._run.time_limit import Child
from consilience.datasets import load_beads, sample_path
from consilience.ensemble.store import Store
from consilience.explorer.api import Api
from consilience.explorer.calls.jobs import find, summary
from consilience.explorer.jobs import Jobs
from consilience.explorer.replies import RefusedError
from consilience.explorer.session import Session
from consilience.explorer.sources import GenerateOptions, open_clusterings
from consilience.generation import Variations
from consilience.inputs import as_table
from consilience.measures import accuracy
from explorer_cases import arrays, ask, beads_ensemble, beads_session, drop, finish, post, stored_session
from test_explorer_export import exported, run_snippet


@pytest.fixture
def api():
    found = Api(beads_session())
    yield found
    found.close()


def more_like(api, **more):
    return post(api, "jobs", 202, **{"kind": "more_like", "ref": "5m", "count": 30, "jitter": 0.3, **more})


def test_more_like_this(api):
    before = arrays(api, "labels/0m,59m")[1]["labels"]
    before_scores = [score["name"] for score in ask(api, "session")["scores"]]
    job = more_like(api)
    assert (job["kind"], job["total"]) == ("more_like", 30)
    done = finish(api, job["id"])
    assert (done["state"], done["done"], done["revision"]) == ("done", 30, 1)
    assert done["result"] == {"added": list(range(60, 90)), "around": 5}
    told = ask(api, "session")
    assert (told["revision"], told["n_clusterings"]) == (1, 90)
    assert [score["name"] for score in told["scores"]] == before_scores
    np.testing.assert_array_equal(arrays(api, "labels/0m,59m")[1]["labels"], before)  # leaves keep their numbers
    assert arrays(api, "boot")[1]["merges"].shape == (89, 2)
    ens = api.session.snapshot.meta.ensemble
    near = [cs.measures.cluster_difference(ens.labels[:, 5], ens.labels[:, j]) for j in range(60, 90)]
    far = [cs.measures.cluster_difference(ens.labels[:, 5], ens.labels[:, j]) for j in range(60) if j != 5]
    assert np.mean(near) < np.mean(far)
    np.testing.assert_array_equal(Variations(load_beads()).remake(ens.info.iloc[77]), ens.labels[:, 77])


@pytest.fixture
def before_each(monkeypatch):
    """Called with a hook: that runs before each chunk is made."""
    real = Variations.__call__

    def put(hook):
        monkeypatch.setattr(Variations, "__call__", lambda *args, **how: (hook(how), real(*args, **how))[1])

    return put


def test_every_chunk_has_a_seed_of_its_own_purpose(api, monkeypatch, before_each):
    seeds = []
    monkeypatch.setattr("consilience.explorer.calls.more_like.CHUNK", 2)
    before_each(lambda how: seeds.append(how["random_state"]))
    finish(api, more_like(api, count=4)["id"])
    assert seeds == [child_seed(60, "explorer.more_like", done) for done in (0, 2)]


def test_around_a_branch_is_around_its_medoid_and_its_tree_is_still_there(api):
    before = arrays(api, "labels/60.112c,60.100m,60.112m")
    done = finish(api, more_like(api, ref="60.112c", count=3)["id"])
    assert done["result"]["around"] == before[0]["items"][2]["leaf"]
    done = finish(api, more_like(api, ref="61m", count=2)["id"])  # around what was added
    assert (done["state"], done["result"]["around"]) == ("done", 61)
    np.testing.assert_array_equal(before[1]["labels"], arrays(api, "labels/60.112c,60.100m,60.112m")[1]["labels"])


def test_one_job_at_a_time(api):
    gate = threading.Event()
    api.jobs.start("wait", 1, lambda job: {"waited": gate.wait(60)})
    assert "job is running" in post(api, "jobs", 409, kind="more_like", ref="5m", count=5, jitter=0.3)["error"]
    assert ask(api, "session")["job"]["kind"] == "wait"
    gate.set()
    assert finish(api, 1)["result"] == {"waited": True}
    finish(api, more_like(api, count=2)["id"])


def test_cancel_keeps_what_was_made(api, before_each):
    begun, go = threading.Event(), threading.Event()
    before_each(lambda how: (begun.set(), go.wait(60)))
    job = more_like(api, count=1000)
    assert begun.wait(60)
    drop(api, f"jobs/{job['id']}")
    go.set()
    done = finish(api, job["id"])
    assert (done["state"], done["done"]) == ("canceled", 25)
    assert done["result"]["added"] == list(range(60, 85))
    assert ask(api, "session")["n_clusterings"] == 85
    drop(api, f"jobs/{job['id']}")  # asked too late: nothing changes
    assert ask(api, f"jobs/{job['id']}")["state"] == "canceled"


@pytest.mark.parametrize("made", [0, 1])
@pytest.mark.parametrize("failure", [InputError("the disk is full"), ZeroDivisionError("the secret")])
def test_a_failure_on_the_way_keeps_what_was_made_and_an_unforeseen_one_is_not_shown(
    api, before_each, caplog, failure, made
):
    calls = []

    def breaks(how):
        calls.append(how)
        if len(calls) > made:
            raise failure

    before_each(breaks)
    done, told = finish(api, more_like(api, count=60)["id"]), ask(api, "session")
    assert (done["state"], told["n_clusterings"], told["revision"]) == ("failed", 60 + 25 * made, made)
    if made:
        assert done["result"]["added"] == list(range(60, 85))
    foreseen = isinstance(failure, InputError)
    assert (done["message"] == "the disk is full", "ZeroDivisionError" in caplog.text) == (foreseen, not foreseen)
    assert "secret" not in done["message"]


def test_a_stored_run_grows_on_disk(tmp_path):
    api = Api(stored_session(tmp_path / "run"))
    finish(api, more_like(api, count=30)["id"])
    finish(api, more_like(api, count=10, ref="45m")["id"])
    stored, shown = cs.Ensemble.load(tmp_path / "run"), api.session.snapshot.meta.ensemble
    np.testing.assert_array_equal(stored.labels, shown.labels)
    assert stored.info["around"].iloc[40:].tolist() == [5] * 30 + [45] * 10
    again = Api(stored_session(tmp_path / "run"))  # a new server on the same run
    told, before = ask(again, "session"), ask(api, "session")
    assert (told["n_clusterings"], told["run"]) == (80, before["run"])
    shown, there = (arrays(one, "labels/70.130c")[1]["labels"] for one in (api, again))
    np.testing.assert_array_equal(shown, there)
    done = finish(again, more_like(again, count=30)["id"])
    assert done["result"]["added"] == list(range(80, 110))
    weights = [tuple(row) for row in again.session.snapshot.meta.ensemble.info["weights"].iloc[40:]]
    assert len(set(weights)) == 70  # the new server makes none of them again


def test_generate_goes_on_beside_what_was_added(tmp_path):
    api = Api(stored_session(tmp_path / "run"))
    finish(api, more_like(api, count=10)["id"])
    grown = cs.generate(load_beads(), 50, 4, store=tmp_path / "run", progress=False)
    np.testing.assert_array_equal(grown.labels, cs.generate(load_beads(), 50, 4, progress=False).labels)


def test_a_run_that_somebody_writes_to(tmp_path):
    api = Api(stored_session(tmp_path / "run"))
    manifest = Store.open(tmp_path / "run").manifest
    same = {name: manifest[name] for name in ("n_objects", "fingerprint", "plan")}
    with Store.resume(tmp_path / "run", ids=load_beads().ids, **same):
        done = finish(api, more_like(api)["id"])
    assert done["state"] == "failed"
    assert "being written to" in done["message"]
    assert ask(api, "session")["n_clusterings"] == 40


def test_other_data_than_the_run_was_made_from(tmp_path):
    stored_session(tmp_path / "run")
    other = load_beads()
    other.values[0, 0] += 1
    with pytest.warns(UserWarning, match="is not the data that run was made from"):
        found = open_clusterings(tmp_path / "run").with_data(other)
    api = Api(found.session())
    assert ask(api, "session")["can"]["more_like"] is False
    assert "differs" in post(api, "jobs", 400, kind="more_like", ref="5m")["error"]


def test_jobs_that_need_the_data_say_so_without_it():
    api = Api(Session(beads_ensemble()))
    assert "--data" in post(api, "jobs", 400, kind="more_like", ref="5m")["error"]
    assert "there is none here" in post(api, "jobs", 400, kind="stable")["error"]
    assert not ask(api, "session")["can"]["stable"]
    one = Api(Session(cs.Ensemble([[0, 0, 1, 1]])))
    assert "at least two clusterings" in post(one, "jobs", 400, kind="map")["error"]


def test_a_clustering_among_others_that_generate_did_not_make():
    ens = cs.Ensemble.concat([beads_ensemble()[:, :20], cs.Ensemble([np.arange(300) % 4])])
    beads = load_beads()
    api = Api(Session(cs.Ensemble(ens, ids=beads.ids), data=beads))
    assert "only one made by generate" in post(api, "jobs", 400, kind="more_like", ref="20m")["error"]
    assert finish(api, more_like(api, count=2)["id"])["state"] == "done"


def test_the_snippet_makes_what_was_added_in_memory():
    how = {"id_column": "bead", "known": ["shape", "color"]}
    api = Api(open_clusterings(sample_path("beads.csv"), reading=how, options=GenerateOptions(12, 4)).session())
    finish(api, more_like(api, count=30)["id"])
    frame = run_snippet(exported(api, "python", [{"ref": "41m", "name": "x"}, {"ref": "42.70c", "name": "y"}]))
    snapshot = api.session.snapshot
    np.testing.assert_array_equal(frame["x"], snapshot.meta.ensemble.labels[:, 41])
    np.testing.assert_array_equal(frame["y"], snapshot.displayed(snapshot.ref("42.70c")).codes)


@pytest.mark.slow
def test_the_null_is_that_of_the_package(api):
    shape = load_beads().labels["shape"]
    name = "accuracy:shape"
    job = post(api, "jobs", 202, kind="null", groups=5, score=name, shuffles=3)
    done = finish(api, job["id"])
    found = cs.organize(beads_ensemble(), 5).null({name: lambda labels: accuracy(shape, labels)}, n_shuffles=3)
    row, told = found.table.iloc[0], done["result"]
    assert (told["score"], told["groups"], done["done"], done["total"], done["revision"]) == (name, 5, 4, 4, 0)
    assert all(told[of] == row[of] for of in ("best", "p_value", "null_mean", "null_sd"))
    assert told["shuffled"] == found.shuffled[name].tolist()
    assert told["values"] == found.groups[name].tolist()


def test_less_compactness_is_better_in_its_null(api):
    told = finish(api, post(api, "jobs", 202, kind="null", groups=4, score="compactness", shuffles=2)["id"])["result"]
    assert told["best"] == min(told["values"]) > 0
    assert told["p_value"] == (1 + sum(value <= told["best"] for value in told["shuffled"])) / 3


def test_the_null_can_be_canceled(api):
    job = post(api, "jobs", 202, kind="null", groups=40, score="accuracy:shape", shuffles=100)
    drop(api, f"jobs/{job['id']}")
    done = finish(api, job["id"])
    assert (done["state"], done["result"]) == ("canceled", None)
    assert done["done"] < 101


NULL, MORE = {"kind": "null", "groups": 5, "score": "accuracy:shape"}, {"kind": "more_like", "ref": "5m"}
WRONG = [NULL | {"score": "accuracy:nobody"}, NULL | {"groups": 61}, NULL | {"groups": 1}, NULL | {"shuffles": 101}]
WRONG += [{"kind": "null", "groups": 5}, {"kind": "more_like"}, {"kind": "shell"}, {"kind": ["more_like"]}, {}]
WRONG += [MORE | {"count": count} for count in (1001, 0, 2.0, True)]
WRONG += [MORE | {"jitter": jitter} for jitter in (0, "0.3", 4)]
WRONG += [MORE | {"store": "/tmp/x"}, MORE | {"ref": "../5m"}]


@pytest.mark.parametrize("body", WRONG)
def test_what_makes_no_sense_is_refused(api, body):
    assert "error" in post(api, "jobs", 400, **body)
    assert api.jobs.running() is None


def test_jobs_that_are_not_there_and_old_ones_are_forgotten(api):
    for call, number in ((ask, "1"), (drop, "7"), (ask, "x")):
        call(api, f"jobs/{number}", 404)
    jobs = Jobs()
    for _ in range(40):
        jobs.start("quick", 1, lambda job: None)
        jobs.close()
    with pytest.raises(RefusedError):
        jobs.get(1)
    assert jobs.get(40).state == "done"


def test_a_neighbor_map_as_a_job_which_can_be_canceled(monkeypatch):
    monkeypatch.setattr("consilience.meta.maps.ALONE", 10)
    api = Api(Session(beads_ensemble()))
    job = post(api, "jobs", 202, kind="map")
    api.jobs.get(job["id"]).ask_to_stop()
    api.jobs.close()
    assert (ask(api, f"jobs/{job['id']}")["state"], len(api.session.snapshot.cache)) == ("canceled", 0)
    told = finish(api, post(api, "jobs", 202, kind="map")["id"])
    assert (told["state"], told["done"], told["total"]) == ("done", 5, 5)
    made = len(api.session.snapshot.cache)
    header, found = arrays(api, "map/neighbors")
    assert len(api.session.snapshot.cache) == made, "the job made it"
    assert (header["kind"], len(found["xy"])) == ("neighbors", 60)


def test_what_nobody_asked_for_gives_way_and_the_end_of_a_server_stops_its_job():
    jobs, begun = Jobs(), threading.Event()

    def endless(job):
        while True:
            begun.set()
            job.step()

    idle = jobs.start("stable", 1, endless, gives_way=True)
    begun.wait()
    job = jobs.start("endless", 1, endless)
    jobs.close()
    assert (idle.state, job.state) == ("canceled", "canceled")


def blobs(n, columns):
    """Two of them, far apart."""
    return np.random.default_rng(0).normal(size=(n, columns)) + 20 * (np.arange(n) % 2)[:, None]


def test_stable_numbers_of_distances_are_found():
    X = blobs(52, 2)
    far = np.linalg.norm(X[:, None] - X, axis=2)
    found = find(as_table(far, "distances"), 1)
    assert (found["numbers"][0], found["real"]) == (2, True)
    assert "give at least 2" in find(as_table(X[:1], "data"), 1)["refused"]


def test_numbers_that_were_not_looked_for_are_not_claimed():
    found = summary(cs.EnsembleClusterer(2, n_clusterings=10, random_state=0).fit(np.arange(30.0)[:, None] % 2))
    assert found == {"numbers": [], "real": None, "words": ""}


def test_stable_numbers_that_give_way_end_and_are_still_to_be_found(monkeypatch):
    table = pd.DataFrame(blobs(60, 3), columns=list("abc")).assign(word=["left", "right"] * 30)
    options = GenerateOptions(n_clusterings=10, n_jobs=1)
    api, kept = Api(open_clusterings(table, kind="data", options=options).session(n_jobs=1)), []
    monkeypatch.setattr("consilience.explorer.calls.jobs.Child", lambda: kept.append(Child()) or kept[-1])
    first = post(api, "jobs", 202, kind="stable", unasked=True)
    post(api, "linkage", 200, linkage="average")  # no reason to wait for what nobody asked for
    finish(api, post(api, "jobs", 202, kind="map")["id"])  # takes its place
    assert ask(api, f"jobs/{first['id']}")["state"] == "canceled"
    assert kept[0]._process.poll() is not None, "nothing works on"
    assert ask(api, "session")["seeks_stable"], "it is looked for again"
    asked = post(api, "jobs", 202, kind="stable")
    assert "a job is running" in post(api, "jobs", 409, kind="map")["error"], "what was asked for does not give way"
    api.jobs.get(asked["id"]).ask_to_stop()
    api.jobs.close()
    assert kept[1]._process.poll() is not None
