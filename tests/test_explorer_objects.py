"""What the explorer says of picked objects, against plain NumPy."""

import base64
import io
import re
import threading
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from consilience.datasets import load_beads
from consilience.explorer.api import Api
from consilience.explorer.calls.call import Call
from consilience.explorer.explorer_json import Known
from consilience.explorer.session import Session
from consilience.generation.spaces import GenerationWarning
from consilience.measures import accuracy, distinguishing_features
from consilience.tables import read_table
from explorer_cases import arrays, ask, beads_ensemble, beads_session, codes, drop, post, unpack

BEADS = load_beads()
WORDS = ["the", "cat", "cattle", "dog", "Fish"]


@pytest.fixture(scope="module")
def documents():
    """Documents of two topics, a hundred further words that hardly occur, and texts beside them."""
    rng = np.random.default_rng(0)
    topic = np.repeat([0, 1], 20)
    counts = np.zeros((40, 105), int)
    counts[:, 0] = rng.integers(1, 6, 40)
    counts[topic == 0, 1] = rng.integers(2, 9, 20)
    counts[topic == 1, 3] = rng.integers(2, 9, 20)
    counts[3, 2] = 1
    counts[5, 4] = 9
    counts[7, 5:] = 1
    names = [*WORDS, *(f"word{i}" for i in range(100))]
    table = read_table(sparse.csr_matrix(counts), kind="counts")
    table = cs.tables.Table(**{**vars(table), "columns": names})
    labels = [topic, np.roll(topic, 1), np.roll(topic, 2), topic]
    return Api(Session(cs.Ensemble(labels), data=table)), counts


def found(api, text):
    header, some = arrays(api, "search", text=text)
    assert header["total"] == len(some["rows"])
    return some["rows"].tolist(), header["where"]


def treated(api, **body):
    return unpack(post(api, "treat", **body).body)


def pairs_together(labels, rows):
    """The share by going through all pairs."""
    return np.mean([labels[i] == labels[j] for i, j in combinations(rows, 2) if labels[i] >= 0 and labels[j] >= 0])


def test_search_by_id_label_and_number(api):
    red = np.flatnonzero(BEADS.labels["color"] == "red").tolist()
    length = BEADS.values[:, BEADS.columns.index("length_mm")]
    long, short = (np.flatnonzero(some).tolist() for some in (length > 12, length <= 12))
    expected = {str(BEADS.ids[17]).upper(): ([17], ["id"]), "RED": (red, ["color"]), "color: ed": (red, ["color"])}
    expected |= {"length_mm > 12": (long, ["length_mm"]), "Length_mm<=12": (short, ["length_mm"])}
    expected |= {"color = ed": ([], ["color"]), "no such thing": ([], []), "  ": ([], [])}
    for text, where in expected.items():
        assert found(api, text) == where, text
    long_red = [row for row in red if length[row] > 12]
    assert long_red
    for text in ("color: red length_mm > 12", "length_mm>12 and Color: RED", "color: red, length_mm > 12"):
        assert sorted(found(api, text)[0]) == long_red


@pytest.mark.parametrize(
    "call", ["treat", "contrast", "search?text=round", "objects/3m?text=round", "why/60.112m", "detail/4m"]
)
def test_what_nobody_waits_for_any_more_ends_on_the_way(call, monkeypatch):
    api = Api(beads_session())
    looks, step = [], Call.step

    def hang_up_at_the_third(self):
        looks.append(1)
        step(replace(self, is_gone=lambda: len(looks) >= 3))

    monkeypatch.setattr(Call, "step", hang_up_at_the_third)
    path, _, text = call.partition("?text=")
    method, body = ("POST", b'{"rows": [1, 2]}') if path in ("treat", "contrast") else ("GET", b"")
    asked = method, f"/api/{path}", {"text": text} if text else {}, body
    assert api.call(*asked).status == 499
    assert len(looks) == 3
    monkeypatch.undo()
    assert api.call(*asked).status == 200  # nothing of it was kept


def test_search_by_words_of_counts(documents):
    api, counts = documents
    assert found(api, "cat") == (np.flatnonzero(counts[:, 1]).tolist(), ["cat"])
    assert found(api, "ca")[0] == np.flatnonzero(counts[:, 1] + counts[:, 2]).tolist()
    assert found(api, "fish") == ([5], ["Fish"])
    assert found(api, "12") == ([12], ["id"])
    assert found(api, "dog >= 5")[0] == np.flatnonzero(counts[:, 3] >= 5).tolist()


def test_search_by_the_text_of_a_column():
    frame = {"size": [1.0, 2.0, 3.0, 4.0] * 5, "plan": ["Pro", "free", None, "pro max"] * 5}
    table = read_table(pd.DataFrame(frame), kind="data")
    api = Api(Session(cs.Ensemble([[0, 1] * 10, [0, 0, 1, 1] * 5, [0, 0, 0, 1] * 5]), data=table))
    assert found(api, "pro") == ([0, 3, 4, 7, 8, 11, 12, 15, 16, 19], ["plan"])
    assert found(api, "plan = pro")[0] == [0, 4, 8, 12, 16]
    assert found(api, "size >= 4")[0] == [3, 7, 11, 15, 19]


def test_values_that_differ_by_case_alone_can_be_told_apart():
    vowels = np.array(["hid", "hId", "hidden", "had"] * 5)
    api = Api(Session(cs.Ensemble([[0, 1] * 10, [0, 0, 1, 1] * 5]), known={"vowel": vowels}))
    assert set(vowels[found(api, "vowel: hid")[0]]) == {"hid", "hidden"}
    assert set(vowels[found(api, "hId")[0]]) == {"hId", "hidden"}
    assert set(vowels[found(api, "vowel = hId")[0]]) == {"hId"}
    assert set(vowels[found(api, "HID")[0]]) == {"hid", "hId", "hidden"}


def test_a_search_in_a_column_that_is_not_there_names_those_that_may_be_meant(api):
    hints = {"length > 3": "no column 'length': length_mm?", "colr: red": "no column 'colr': color?"}
    hints |= {"zzz = 3": "no column 'zzz'", "length_mm > 3000": "", "nothing like this": "", "color: red": ""}
    for text, hint in hints.items():
        assert arrays(api, "search", text=text)[0]["hint"] == (hint and f"there is {hint}")


def test_search_by_time_with_and_without_a_zone():
    times = pd.date_range("2020-01-01", periods=10)
    table = read_table(pd.DataFrame({"when": times, "x": np.arange(10.0) % 4}), kind="data")
    api = Api(Session(cs.Ensemble([np.arange(10) % 2, np.arange(10) % 3]), data=table))
    assert found(api, "when > 2020-01-05") == ([5, 6, 7, 8, 9], ["when"])
    assert found(api, "when > 2020-01-05T00:00Z") == ([5, 6, 7, 8, 9], ["when"])
    assert found(api, "when >= 2020-01-05T01:00+02:00") == ([4, 5, 6, 7, 8, 9], ["when"])
    assert found(api, "when > never") == ([], [])
    for text in ("nat", "99999-01-01", "9" * 30, "now", "2020-01-05 Europe/Nowhere", "1e400"):
        assert found(api, f"when > {text}")[0] == []


def test_how_all_clusterings_treat_some_objects(api):
    rows = [3, 17, 40, 41, 200]
    labels = beads_ensemble().labels
    header, some = treated(api, rows=rows)
    expected = np.array([pairs_together(labels[:, c], rows) for c in range(60)])
    np.testing.assert_allclose(some["share"], expected, rtol=1e-6)
    assert (header["n_together"], header["n_apart"]) == ((expected == 1).sum(), (expected == 0).sum())
    assert header["mean"] == pytest.approx(expected.mean())
    assert header["histogram"] == np.histogram(expected, 20, (0, 1))[0].tolist()
    assert header["together"][0]["share"] == pytest.approx(expected.max())
    assert header["parting"][0]["share"] == pytest.approx(expected.min())
    for one in header["parting"]:
        assert one["parts"] == len(set(labels[rows, one["leaf"]]))
    company = np.array([np.mean([labels[i] == labels[j] for j in rows if j != i]) for i in range(300)])
    outside = np.setdiff1d(np.arange(300), rows)
    assert header["company"][0]["share"] == pytest.approx(company[outside].max())
    for one in (*header["company"], *header["loosest"]):
        assert one["share"] == pytest.approx(company[one["index"]])
        assert one["id"] == BEADS.ids[one["index"]]
    assert [one["index"] for one in header["loosest"]] == [rows[i] for i in np.argsort(company[rows], kind="stable")]


def test_how_a_branch_with_holes_treats_them(holes):
    rows = list(range(0, 300, 7))
    whole = holes.session.snapshot.meta
    header, some = treated(holes, rows=rows, ref="16.29m")
    members = np.sort(whole.branch(29))
    expected = [pairs_together(whole.ensemble.labels[:, c], rows) for c in members]
    np.testing.assert_allclose(some["share"][members], expected, rtol=1e-6)
    assert np.isnan(np.delete(some["share"], members)).all()
    likeness = []
    for c in members:
        column = whole.ensemble.labels[:, c]
        sets = [set(np.flatnonzero(column == k)) for k in range(column.max() + 1)]
        likeness.append(max(len(one & set(rows)) / len(one | set(rows)) for one in sets))
    assert header["alike"][0]["likeness"] == pytest.approx(max(likeness))


def test_a_cluster_is_found_as_it_is(api):
    rows = np.flatnonzero(beads_ensemble().labels[:, 11] == 2)
    bits = base64.b64encode(np.packbits(np.isin(np.arange(300), rows), bitorder="little").tobytes()).decode()
    header, _ = treated(api, rows=bits)
    assert header["n_rows"] == len(rows)
    assert header["alike"][0]["likeness"] == 1
    assert 11 in [one["leaf"] for one in header["alike"] if one["likeness"] == 1]
    assert treated(api, rows=rows.tolist())[0] == header


def test_one_object_has_company_but_no_pairs(api):
    header, some = treated(api, rows=[5])
    assert (header["n_known"], header["mean"], header["loosest"]) == (0, None, [])
    assert np.isnan(some["share"]).all()
    labels = beads_ensemble().labels
    together = (labels == labels[5]).mean(axis=1)
    together[5] = 0
    assert header["company"][0]["share"] == pytest.approx(together.max())


def test_these_against_all_others(api):
    rows = np.flatnonzero(BEADS.labels["shape"] == BEADS.labels["shape"].iloc[0])
    told = post(api, "contrast", rows=rows.tolist())
    inside = np.isin(np.arange(300), rows).astype(int)
    expected = distinguishing_features(BEADS.values, inside, names=BEADS.columns, top=8).query("cluster == 1")
    assert [one["feature"] for one in told["features"]] == expected["feature"].tolist()
    for name, column in (("d", "effect"), ("mean", "mean")):
        np.testing.assert_allclose([one[name] for one in told["features"]], expected[column])
    assert told["sizes"] == [len(rows), 300 - len(rows)]
    shape = told["known"][0]
    assert (shape["name"], shape["classes"][0]["inside"], shape["classes"][0]["outside"]) == ("shape", 1, 0)


def test_these_against_those_with_their_spreads(api):
    these, those = list(range(40)), list(range(60, 160))
    told = post(api, "contrast", rows=these, against=those)
    assert told["sizes"] == [40, 100]
    one = told["features"][0]
    column = BEADS.values[:, one["column"]]
    assert one["mean"] == pytest.approx(column[these].mean())
    assert one["rest"] == pytest.approx(column[those].mean())
    spread, both = one["spread"], column[these + those]
    inner, outer = np.quantile(both, [0.01, 0.99])
    assert spread["low"] == max(both.min(), 2 * inner - outer)
    assert spread["high"] == min(both.max(), 2 * outer - inner)
    edges = np.linspace(spread["low"], spread["high"], 17)
    for side, rows in (("inside", these), ("outside", those)):
        clipped = np.clip(column[rows], spread["low"], spread["high"])
        np.testing.assert_allclose(spread[side], np.histogram(clipped, edges)[0] / len(rows), atol=1e-4)


def test_documents_against_others_in_words(documents):
    api, counts = documents
    told = post(api, "contrast", rows=list(range(20)))
    assert {one["feature"] for one in told["features"][:2]} == {"cat", "dog"}
    cat = next(one for one in told["features"] if one["feature"] == "cat")
    assert cat["mean"] == pytest.approx(counts[:20, 1].mean())
    assert cat["spread"]["levels"] == ["0", "1", "2–3", "4–7", "8 or more"]
    shares = np.histogram(counts[:20, 1], [2, 4, 8, 100])[0] / 20
    assert cat["spread"]["inside"][2:] == pytest.approx(shares.tolist())
    assert cat["spread"]["outside"][0] == 1
    assert [mark["called"][0] for mark in ask(api, "detail/0m")["features"]] == ["cat", "dog"]
    row = ask(api, "objects/0m", start=5, count=1)["rows"][0]
    assert (row["words"][0], row["values"]) == ("Fish", {})


def test_a_label_is_saved_grows_and_is_dropped():
    api = Api(beads_session())
    before = ask(api, "detail/3m")["known"]
    told = post(api, "known", name=" odd ones ", value="left", rows=[1, 2, 3])
    assert told == {"known": ["shape", "color"], "saved": ["odd ones"]}
    post(api, "known", name="odd ones", value="right", rows=[3, 4])
    header, some = arrays(api, "known/2")
    assert header == {"name": "odd ones", "classes": ["left", "right"], "saved": True, "arrays": header["arrays"]}
    assert codes(some["codes"])[:6].tolist() == [-1, 0, 0, 1, 1, -1]
    assert len(ask(api, "detail/3m")["known"]) == len(before) + 1
    assert found(api, "odd ones: right")[0] == [3, 4]
    assert ask(api, "session")["saved"] == ["odd ones"]
    file = post(api, "export", format="csv", items=[{"ref": "3m", "name": "odd ones"}], saved=True).body
    table = pd.read_csv(io.BytesIO(file))
    own = table.columns[2]
    assert own.startswith("odd ones")
    assert table[own].iloc[:6].fillna("").tolist() == ["", "left", "left", "right", "right", ""]
    assert ask(api, "objects/3m", start=3, count=1)["rows"][0]["known"]["odd ones"] == "right"
    for name, status in (("odd ones", 200), ("shape", 400), ("odd ones", 404)):
        drop(api, "known", status, name=name)
    assert ask(api, "session")["saved"] == []
    assert ask(api, "detail/3m")["known"] == before
    header, some = arrays(api, "known/1")
    assert [header["classes"][c] for c in some["codes"]] == BEADS.labels["color"].tolist()
    for name in ("a", "b", "c"):
        post(api, "known", name=name, rows=[1])
    for name in ("a", "b"):  # the other page still has all three in its list
        drop(api, "known", name=name)
    assert ask(api, "session")["saved"] == ["c"]


def test_labels_that_are_saved_at_once_are_all_kept():
    api = Api(beads_session())
    seen = []

    def slow(old):
        seen.append(old)
        other = threading.Thread(target=post, args=(api, "known"), kwargs={"name": "a", "value": "later", "rows": [2]})
        other.start()
        other.join(0.2)
        seen.append(other)
        return Known(np.where(np.arange(300) == 1, 0, -1).astype(np.int32), ["first"])

    api.session.change_label("a", slow)
    seen[1].join(60)
    kept = api.session.saved["a"]
    assert (seen[0], api.session.edition) == (None, 2)
    assert (kept.classes, kept.codes[:3].tolist()) == (["first", "later"], [-1, 0, 1])


NO_ROWS = [[-1], [True], [1.5], list(range(5001)), "A" * 500_004, "é"]


@pytest.mark.parametrize(
    ("call", "body", "words"),
    [
        ("treat", {"rows": [300]}, "no object 300"),
        ("treat", {"rows": []}, "at least 1 object"),
        *(("treat", {"rows": rows}, "rows must be") for rows in NO_ROWS),
        ("treat", {"rows": [1], "ref": "99m"}, "no clustering 99"),
        ("treat", {}, "rows is missing"),
        ("contrast", {"rows": list(range(300))}, "no others"),
        ("contrast", {"rows": [1, 2], "against": [2, 3]}, "on both sides"),
        ("known", {"rows": [1], "name": "  "}, "not empty"),
        ("known", {"rows": [1], "name": "shape"}, "came with the data"),
        ("known", {"rows": [1], "name": "x" * 81}, "at most 80"),
        ("objects/3m", {"rows": [400]}, "no object 400"),
        ("objects/3m", {"rows": [4], "order": "known", "at": 9}, "no label 9"),
    ],
)
def test_what_cannot_be_asked(api, call, body, words):
    assert words in post(api, call, 404 if re.match("no (clustering|object|label)", words) else 400, **body)["error"]


def test_the_table_of_objects_sorts_filters_and_holds_to_the_picked(api):
    length = BEADS.columns.index("length_mm")
    values = BEADS.values[:, length]
    rows = ask(api, "objects/3m", order="column", at=length, falling=1, count=300)["rows"]
    assert [row["index"] for row in rows] == np.argsort(-values, kind="stable").tolist()
    told = ask(api, "objects/3m", text="color: red", cluster=1, count=300)
    labels = beads_ensemble().labels[:, 3]
    red = (BEADS.labels["color"] == "red").to_numpy()
    assert [row["index"] for row in told["rows"]] == np.flatnonzero(red & (labels == 1)).tolist()
    told = post(api, "objects/3m", rows=[9, 4, 200], order="id", falling=1)
    assert [row["id"] for row in told["rows"]] == sorted((BEADS.ids[i] for i in (9, 4, 200)), reverse=True)
    colors = [row["known"]["color"] for row in ask(api, "objects/3m", order="known", at=1, count=300)["rows"]]
    assert colors == sorted(colors)
    clusters = [row["cluster"] for row in ask(api, "objects/3m", order="cluster", falling=1, count=300)["rows"]]
    assert clusters == sorted(clusters, reverse=True)


def test_why_a_branch_is_different(api):
    told = ask(api, "why/60.115m")
    meta, info = api.session.snapshot.meta, beads_ensemble().info
    inside = np.sort(meta.branch(115))
    outside = np.setdiff1d(np.arange(60), inside)
    assert (told["n_inside"], told["n_outside"]) == (len(inside), len(outside))
    for one in told["methods"]:
        assert one["inside"] == pytest.approx((info["method"].iloc[inside] == one["name"]).mean())
        assert one["outside"] == pytest.approx((info["method"].iloc[outside] == one["name"]).mean())
    for one in told["known"]:
        scores = np.array([accuracy(BEADS.labels[one["name"]], labels) for labels in beads_ensemble().labels.T])
        edges = np.linspace(scores.min(), scores.max(), 13)
        for side, members in (("inside", inside), ("outside", outside)):
            assert one[f"mean_{side}"] == pytest.approx(scores[members].mean())
            np.testing.assert_allclose(one[side], np.histogram(scores[members], edges)[0] / len(members), atol=1e-4)
    shares = {one["feature"]: one for one in told["followed"]}
    for name, column in zip(BEADS.columns, BEADS.values.T, strict=True):
        for side, members in (("inside", inside), ("outside", outside)):
            some = members[np.unique(np.linspace(0, len(members) - 1, min(len(members), 40)).astype(int))]
            expected = []
            for leaf in some:
                labels = beads_ensemble().labels[:, leaf]
                means = np.array([column[labels == c].mean() for c in range(4)])[labels]
                expected.append(np.square(means - column.mean()).sum() / np.square(column - column.mean()).sum())
            assert shares[name][side] == pytest.approx(np.mean(expected))
    columns = next(one for one in told["weights"] if one["space"] == "columns")
    of_columns = [i for i in range(60) if info["method"].iloc[i] == "zipf"]
    mean = [
        np.mean([info["weights"][i] / np.mean(info["weights"][i]) for i in of_columns if (i in inside) == mine], axis=0)
        for mine in (True, False)
    ]
    for row in columns["rows"]:
        at = BEADS.columns.index(row["feature"])
        assert (row["inside"], row["outside"]) == (pytest.approx(mean[0][at]), pytest.approx(mean[1][at]))
    differences = [abs(one["inside"] - one["outside"]) for one in told["followed"]]
    for gaps in (differences, [abs(row["d"]) for row in columns["rows"]]):
        assert gaps == sorted(gaps, reverse=True)
    components = next(one for one in told["weights"] if one["space"] == "components")
    assert all("component " in row["feature"] and "(" in row["feature"] for row in components["rows"])
    assert any("clusters follow" in words or "come nearer to" in words for words in told["words"])


def test_components_are_named_by_what_they_are_made_of(api):
    info = beads_ensemble().info
    leaf = int(np.flatnonzero(info["method"] == "pca")[0])
    X = (BEADS.values - BEADS.values.mean(axis=0)) / BEADS.values.std(axis=0)
    axis = np.linalg.svd(X, full_matrices=False)[2][0]
    heaviest = BEADS.columns[int(np.abs(axis).argmax())]
    first = next(one for one in ask(api, f"detail/{leaf}m")["weights"] if one["feature"].startswith("component 1 "))
    assert first["feature"].split("(")[1].lstrip("−").startswith(heaviest)


def test_constant_columns_keep_no_component_from_its_name():
    values = np.column_stack([BEADS.values, np.ones(300)])
    with pytest.warns(GenerationWarning):
        made = cs.generate(values, 6, 3, methods="pca", progress=False)
    api = Api(Session(made, data=read_table(values, kind="data")))
    assert "(" in ask(api, "detail/0m")["weights"][0]["feature"]


def test_why_of_everything_has_nothing_to_compare(api, holes):
    told = ask(api, "why/60.118m")
    assert (told["n_outside"], told["words"], told["followed"]) == (0, [], None)
    told = ask(holes, "why/16.29m")
    assert (told["methods"], told["weights"], told["followed"]) == ([], [], None)


def test_the_table_shows_cells_as_they_came():
    n = 12
    frame = pd.DataFrame({"since": pd.date_range("2020-01-01", periods=n), "plan": ["pro", "free", "team"] * 4})
    frame["size"] = pd.Categorical(["large", "small", "medium", None] * 3, ["small", "medium", "large"], ordered=True)
    frame["pay"] = np.linspace(1, 5000, n).round(2)
    frame.loc[3, "pay"] = np.nan
    table = read_table(frame, kind="data")
    api = Api(Session(cs.Ensemble([np.arange(n) % 2, np.arange(n) % 3]), data=table))
    shown = ask(api, "objects/0m")
    assert shown["rows"][0]["values"] == {"since": "2020-01-01", "plan": "pro", "size": "large", "pay": 1.0}
    assert shown["rows"][3]["values"]["pay"] is shown["rows"][3]["values"]["size"] is None
    for at, name in enumerate(shown["columns"]):
        rows = ask(api, "objects/0m", order="column", at=at)["rows"]
        cells = [row["values"][name] for row in rows if row["values"][name] is not None]
        key = ["small", "medium", "large"].index if name == "size" else None
        assert cells == sorted(cells, key=key)
        assert [row["values"][name] for row in rows[len(cells) :]] == [None] * (n - len(cells))
    assert ask(api, "objects/0m", order="column", at=3, falling=1)["rows"][0]["values"]["pay"] == 5000
