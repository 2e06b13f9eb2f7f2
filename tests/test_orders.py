"""Words in an order: which are, what becomes of them, and that what is said of them is said in their own words."""

import numpy as np
import pandas as pd
import pytest

from consilience._check import InputError
from consilience.measures import distinguishing_features
from consilience.measures.cluster_features import Spreads
from consilience.tables import read_table

N = 60
AGES = ["under 25", "25-34", "35-49", "50+"]


def read(words, **options):
    frame = pd.DataFrame(
        {"w": np.resize(np.array(words, object), N), "x": np.arange(N) % 7.0, "g": ["a", "b"] * (N // 2)}
    )
    return read_table(frame, kind="data", **options)


@pytest.mark.parametrize(
    "words",
    [
        AGES,
        ["0", "1", "2", "3 or more"],
        ["4 or less hours", "5 hours", "6 hours", "7 or more hours"],
        ["< $10k", "$10k - $25k", "$25k - $100k", "$100k+"],
        ["less than 1,000", "1,000 to 4,999", "5,000 to 9,999", "10,000 and more"],
        ["0.125-0.250", "0.250-0.500", "0.500-1.000", "1.000-2.500"],
        ["<40", "40-59", "60", ">60"],
    ],
)
def test_words_that_tell_their_order(words):
    for way in (words, words[::-1], [*words, "unknown", None]):
        assert read(way).encoder.columns[0].levels == tuple(words)


@pytest.mark.parametrize(
    "words",
    [
        ["red", "green", "blue"],
        ["01 North", "02 South", "03 West"],
        ["low", "medium", "high"],
        ["2-1", "1-3", "0-0"],
        ["10-20", "15-25", "20-30"],
        ["north", "south", "low"],
        ["I", "II", "III", "IV"],
        ["never", "sometimes", "often"],
        ["-", "+", "++"],
    ],
)
def test_words_that_do_not(words):
    assert read(words).encoder.types["w"] == "category"


def test_an_order_that_is_given_and_one_of_pandas():
    steps = np.resize([0.0, 2, 1], N)
    given = {"list": ["low", "mid", "top"], "text": "low<mid<top"}
    tables = [read(["low", "top", "mid"], types={"w": order}) for order in given.values()]
    words = pd.Categorical(np.resize(["low", "top", "mid"], N), ["low", "mid", "top"], ordered=True)
    tables.append(read_table(pd.DataFrame({"w": words, "x": np.arange(N) % 7.0}), kind="data"))
    for table in tables:
        np.testing.assert_array_equal(table.values[:, 0], steps)
        assert "1 ordered category: w (low to top)" in table.notices[-1]
    assert read(["low", "unknown", "top"], types={"w": "low<mid<top"}).gaps.n_cells == N / 3
    with pytest.raises(InputError, match=r"row 2, column 'w': 'huge' is not in the order that was given"):
        read(["low", "huge"], types={"w": "low<mid<top"})
    with pytest.raises(InputError, match="the order of its words"):
        read(["red", "green", "blue"], types={"w": "ordered"})
    with pytest.raises(InputError, match="two levels or more"):
        read(["low"], types={"w": ["low", "low"]})


def test_new_rows_and_what_is_said_of_them():
    table = read(AGES)
    new = pd.DataFrame({"w": ["25 to 34", "UNDER 25", "unknown", "often"], "x": 1.0, "g": "a"})
    again = read_table(new, kind="data", encoder=table.encoder)
    assert again.values[:2, 0].tolist() == [1, 0]
    assert again.gaps.n_cells == 2
    assert "1 cell of 'w' is a level not seen before, such as 'often', and counts as missing" in again.notices[-1]
    group = (np.arange(N) % 4 > 1).astype(np.int32)
    found = distinguishing_features(table, group, top=1)["words"].tolist()
    assert found == ["w: 100 % 25-34 or lower against 0 %", "w: 100 % 35-49 or higher against 0 %"]
    assert Spreads(table, group).of(0, 0)["levels"] == AGES
