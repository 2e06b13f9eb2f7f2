"""Cells with several choices of a list: which are, what becomes of them, and how clusters are told by them."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.inputs.guess import guess
from consilience.measures import adjusted_rand, distinguishing_features
from consilience.measures.cluster_features import Spreads
from consilience.tables import Encoder, read_table

TOOLS = np.array(["Excel", "Python", "R", "Tableau", "Power BI"])
LIKELY = np.array([[0.9, 0.1, 0.05, 0.2, 0.6], [0.3, 0.95, 0.7, 0.2, 0.1], [0.2, 0.1, 0.1, 0.9, 0.85]])


def form(n=240, sep=", ", seed=0):
    rng = np.random.default_rng(seed)
    segment = rng.integers(0, 3, n)
    picked = rng.random((n, 5)) < LIKELY[segment]
    picked[~picked.any(axis=1), 0] = True
    frame = pd.DataFrame(
        {"tools": [sep.join(TOOLS[row]) for row in picked], "age": rng.normal(40, 9, n), "x": rng.normal(3 * segment)}
    )
    return frame, picked, segment


@pytest.mark.parametrize("sep", [", ", ";", " | "])
def test_each_choice_has_a_column(sep):
    frame, picked, _ = form(sep=sep)
    table = read_table(frame, kind="data")
    assert "1 column of several choices: tools" in table.notices[-1]
    names = [f"tools={tool}" for tool in TOOLS]
    np.testing.assert_array_equal(pd.DataFrame(table.values, columns=table.columns)[names], picked)
    made = table.scaling().apply(table.values)[:, : len(TOOLS)]
    apart = np.square(made[:, None] - made).sum(axis=2)
    assert apart.mean() == pytest.approx(2, rel=0.01)  # as two numbers are on average


def test_what_is_not_choices():
    rng = np.random.default_rng(0)
    places = rng.choice(["Berlin, Germany", "Bonn, Germany", "Paris, France", "Lyon, France"], 100)
    texts = [f"well, {i} things, and more" for i in rng.integers(0, 40, 100)]
    table = read_table(pd.DataFrame({"place": places, "text": texts, "x": np.arange(100) / 7}), kind="data")
    assert table.encoder.types == {"place": "category", "text": "category", "x": "number"}
    frame, *_ = form()
    assert read_table(frame, kind="data", types={"tools": "category"}).encoder.types["tools"] == "category"
    with pytest.raises(InputError, match="no cell holds several choices"):
        read_table(pd.DataFrame({"a": ["x", "y", "z"], "b": [1.0, 2, 4]}), kind="data", types={"a": "choices"})


def test_new_rows_with_other_choices():
    frame, *_ = form()
    table = read_table(frame, kind="data")
    encoder = Encoder.from_json(table.encoder.to_json())
    new = pd.DataFrame({"tools": ["R, Excel, SPSS", "SAS", "n/a", None], "age": [40.0] * 4, "x": [1.0] * 4})
    found = read_table(new, kind="data", encoder=encoder)
    row = dict(zip(found.columns, found.values[0].tolist(), strict=True))
    assert [row[f"tools={tool}"] for tool in TOOLS] == [1, 0, 1, 0, 0]
    assert found.gaps.n_cells == 3
    assert "2 cells of 'tools' have choices not seen before, such as 'SAS', and are left out" in found.notices[-1]


def test_clusters_are_told_by_choices():
    frame, picked, segment = form()
    table = read_table(frame, kind="data")
    told = distinguishing_features(table, segment, top=3)
    words = told[(told["cluster"] == 1) & (told["feature"] == "tools")]["words"].item()
    inside, outside = (100 * picked[side, 1].mean() for side in (segment == 1, segment != 1))
    assert words == f"tools: {inside:.0f} % Python against {outside:.0f} %"
    bins = Spreads(table, segment.astype(np.int32)).of(1, 0)
    shares = pd.Series(bins["inside"], bins["levels"])
    counts = pd.Series(picked[segment == 1].sum(axis=0), TOOLS)
    np.testing.assert_allclose(shares[TOOLS], counts / counts.sum(), atol=1e-4)


def test_choices_tell_more_one_by_one_than_as_whole_cells():
    frame, _, segment = form()
    right = []
    for types in (None, {"tools": "category"}):
        table = read_table(frame.drop(columns="age"), kind="data", types=types)
        model = cs.EnsembleClusterer(3, n_clusterings=20, random_state=0).fit(table)
        right.append(adjusted_rand(model.labels_, segment))
    assert right[0] > max(0.8, right[1] + 0.05)


def test_columns_of_zeros_and_ones_are_items_where_they_are_no_clusterings():
    rng = np.random.default_rng(0)
    items = pd.DataFrame(
        (rng.random((200, 12)) < np.where(rng.random((200, 1)) < 0.5, 0.6, 0.2)).astype(int)
    ).add_prefix("item")
    assert guess(items, {}) == "data"
    cuts = pd.DataFrame({f"cut{j}": np.where(rng.random(200) < 0.05, 1, 0) ^ (np.arange(200) < 80) for j in range(12)})
    assert guess(cuts, {}) == "labels"
    assert guess(cuts.assign(never=0), {}) == "data"


def test_no_answer_is_no_choice():
    cells = np.resize(
        [
            "Excel, Python",
            "Python, R",
            "Prefer not to say",
            "Excel",
            "R, Excel",
            "Prefer not to say",
            "Excel, Python, R",
        ],
        70,
    )
    frame = pd.DataFrame({"tools": cells, "x": np.arange(70.0) % 7})
    table = read_table(frame, kind="data")
    assert table.columns[:3] == ["tools=Excel", "tools=Python", "tools=R"]
    assert "20 cells such as 'Prefer not to say' count as missing" in table.notices[-1]
    again = read_table(frame, kind="data", encoder=table.encoder)
    np.testing.assert_array_equal(again.values, table.values)
