"""The explorer in a notebook: the same answers, through messages."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import consilience as cs
from consilience.explorer import server as assets
from consilience.explorer.widget import Explorer
from explorer_cases import ASSETS, beads_ensemble, beads_session


@pytest.fixture
def widget():
    found = Explorer(beads_session(), ASSETS)
    yield found
    found.close()


def tell(widget, **message):
    answers = []
    widget.send = lambda content, buffers: answers.append((content, buffers))
    widget._handle_custom_msg(message, [])
    return answers[-1]


def test_calls_queries_and_bodies_are_those_of_the_server(widget):
    content, buffers = tell(widget, id=7, method="GET", path="/api/labels/3m,60.112c", body=None)
    expected = widget._api.call("GET", "/api/labels/3m,60.112c")
    assert (content["id"], content["status"], content["type"]) == (7, 200, "application/octet-stream")
    assert bytes(buffers[0]) == expected.body
    _, buffers = tell(widget, id=1, method="GET", path="/api/objects/3m?start=5&count=2", body=None)
    assert [row["index"] for row in json.loads(buffers[0])["rows"]] == [5, 6]
    body = {"format": "csv", "items": [{"ref": "3m", "name": "x"}]}
    content, buffers = tell(widget, id=2, method="POST", path="/api/export", body=body)
    assert content["name"] == "consilience.csv"
    assert buffers[0].startswith(b'"id","x"\n')


def test_what_cannot_be_answered(widget):
    foreign = {"id": 1, "method": "GET", "path": "//x/api/session"}
    for message in ({}, foreign, {"path": 3, "body": "x", "method": None}):
        content, buffers = tell(widget, **message)
        assert (content["status"], list(json.loads(buffers[0]))) == (404, ["error"])


def test_the_selection_is_a_table_of_labels(widget):
    heard = []
    widget.observe(lambda change: heard.append(change["new"]), names="selection")
    assert widget.selection.shape == (300, 0)
    widget.selected = "5m"
    np.testing.assert_array_equal(widget.selection["5m"], beads_ensemble().labels[:, 5])
    widget.tray = [{"ref": "3m", "name": "mine"}, {"ref": "60.112c", "name": ""}]
    assert list(widget.selection) == ["mine", "60.112c"]
    meta = cs.organize(beads_ensemble())
    np.testing.assert_array_equal(widget.selection["60.112c"], meta.consensus(meta.branch(112)).labels)
    assert widget.selection.index[0] == "b001"
    assert len(heard) == 2


def test_a_notebook_gets_the_widget(monkeypatch, tmp_path):
    for path, (name, _) in assets.STATIC.items():
        (tmp_path / name).write_bytes(ASSETS[path].body)
    monkeypatch.setattr(assets, "static_folder", lambda: tmp_path)
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=object()))
    found = cs.explore(beads_ensemble())
    assert isinstance(found, Explorer)
    assert (found._esm, found._css) == ("export {}", "")
    found.close()
