"""The report of what is in view: its groups and nothing else, at any size of the tree."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import squareform

import consilience as cs
from consilience._check import InputError
from consilience.explorer.calls.report import in_view, shown
from consilience.explorer.calls.tray_and_session_file import read_session, session_text
from consilience.explorer.explorer_json import Known
from consilience.explorer.session import Session
from consilience.reports.finding import Sheet
from consilience.reports.html import render
from consilience.reports.report import make_report
from consilience.tables import read_table


@pytest.fixture(scope="module")
def session():
    """Clusterings with many ties: copies of few."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, (5, 30))
    return Session(cs.Ensemble([kinds[i] for i in rng.integers(0, 5, 40)]))


def test_a_branch_is_shown_as_it_is_in_the_tree(session):
    meta, m = session.snapshot.meta, session.snapshot.n_clusterings
    under = [meta.branch(node).tolist() for node in range(2 * m - 1)]
    for top in range(m, 2 * m - 1):
        nodes = [int(node) for node in meta.tree[top - m, :2]]
        if nodes[0] >= m:
            nodes[:1] = [int(node) for node in meta.tree[nodes[0] - m, :2]]
        view, members = in_view(session.snapshot, nodes, top), np.array(under[top])
        assert [members[view.branch(int(node))].tolist() for node in view.nodes] == [under[node] for node in nodes]
        assert [members[view.groups == g + 1].tolist() for g in range(len(nodes))] == [under[node] for node in nodes]
        merges = [node - m for node in range(m, top + 1) if set(under[node]) <= set(under[top])]
        assert view.tree[:, 2].tolist() == meta.tree[merges, 2].tolist()
        assert view.curve["n_groups"].tolist() == list(range(1, len(members) + 1))
        np.testing.assert_array_equal(squareform(view.distances), squareform(meta.distances)[np.ix_(members, members)])


def view(session, ref, called):
    """The answer in words and the tables of a view of one group, with a clustering selected."""
    snapshot, top = session.snapshot, 2 * session.snapshot.n_clusterings - 2
    report = make_report(in_view(snapshot, [top], top), session.origin, data=session.data)
    lead, section = shown(session, snapshot, report, snapshot.displayed(snapshot.ref(ref)), called)
    return render("", lead, [section], ""), {one.name: one for one in section.blocks if isinstance(one, Sheet)}


def test_the_clusters_of_the_selected_have_a_heading(session):
    page, sheets = view(session, "3m", "mine")
    frame = sheets["view_clusters"].frame
    assert frame.index.name == "cluster"
    assert frame["size"].sum() == session.snapshot.n_objects
    assert "Shown is “mine”: 3 clusters of 30 objects" in page
    assert "its support" not in page, "nothing is known of how sure one clustering is"


def test_the_report_opens_with_the_consensus_that_is_shown():
    truth = np.repeat([0, 1, 2], 20)
    rng = np.random.default_rng(0)
    columns = 9.0 * np.equal.outer(truth, [1, 2]) + rng.normal(size=(60, 2))
    finer = [np.where(rng.random(60) < 0.5, truth, truth + 3) for _ in range(6)]
    made = Session(cs.Ensemble(finer), data=read_table(pd.DataFrame(columns, columns=["size", "age"]), kind="data"))
    page, sheets = view(made, "6.10c3", "consensus of 6 in 3 clusters")
    lead = page[page.index('class="lead"') : page.index("<nav")]
    assert "Shown is “consensus of 6 in 3 clusters”: 3 clusters of 60 objects" in lead
    assert "mean confidence" in lead
    assert lead.count("view-cluster-") == 3
    assert list(sheets) == ["view_clusters", "view_features"]
    assert {"size", "confidence", "support", "floaters"} <= set(sheets["view_clusters"].frame)
    assert all(f'id="view-cluster-{cluster}"' in page for cluster in range(3)), "links lead to the view's own clusters"


def test_a_view_of_a_sent_session_keeps_its_colors_where_the_name_is_taken():
    ensemble = cs.Ensemble(np.tile([0, 1, 1, 2], (3, 1)).T[:, :3])
    theirs, mine = Session(ensemble), Session(ensemble)
    for session, codes in ((theirs, [0, 0, 1, 1]), (mine, [0, 1, 0, 1])):
        session.change_label("type", lambda old, codes=codes: Known(np.array(codes, np.int32), ["a", "b"]))
    theirs.kept.keep(tray=[], view={"address": "", "plane": "", "colors": "type", "linkage": theirs.linkage})
    read_session(mine, json.loads(session_text(theirs)))
    (taken,) = set(mine.saved) - {"type"}
    assert mine.kept.view["colors"] == taken
    assert mine.saved[taken].codes.tolist() == [0, 0, 1, 1]


def test_all_labels_of_a_file_are_written_at_once_and_are_few():
    session = Session(cs.Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]]))
    written, keep = [], session.kept.keep
    session.kept.keep = lambda **how: written.append(how) or keep(**how)
    content = json.loads(session_text(session))
    content["labels"] = {f"l{i}": {"v": [0]} for i in range(200)}
    read_session(session, content)
    assert (len(written), len(session.saved)) == (1, 200)
    for more in ({f"l{i}": {"v": [0]} for i in range(201)}, {"one more": {"v": [1]}}):
        with pytest.raises(InputError, match="200"):
            read_session(session, content | {"labels": more})
    assert len(session.saved) == 200
