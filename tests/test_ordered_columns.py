"""Words in an order: which are, what becomes of them, and that what is said of them is said in their own words."""

import json

import numpy as np
import pandas as pd
import pytest
from consilience.tables.ordered import find_order

import consilience as cs
from consilience._check import InputError
from consilience.inputs.guess import guess
from consilience.measures import adjusted_rand, distinguishing_features
from consilience.measures.cluster_features import Spreads
from consilience.tables import Encoder, read_table

AGREE = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
OFTEN = ["never", "rarely", "sometimes", "often", "always"]
SERVICE = ["1 - Very dissatisfied", "2 - Dissatisfied", "3 - Neutral", "4 - Satisfied", "5 - Very satisfied"]
AGE = ["under 18", "18-24", "25-34", "35-49", "50+"]
SIZES = {"q": AGREE, "use": OFTEN, "service": SERVICE}


def survey(n=300, missing=0.0, seed=0):
    """Three segments that answer eight questions differently, beside their ages and regions, which say nothing."""
    rng = np.random.default_rng(seed)
    segment = rng.integers(0, 3, n)
    table = {}
    for name, words in (
        ("q1", AGREE),
        ("q2", AGREE),
        ("q3", AGREE),
        ("q4", AGREE),
        ("use1", OFTEN),
        ("use2", OFTEN),
        ("use3", OFTEN),
    ):
        middle = rng.permutation([0.3, 2.0, 3.7])[segment]
        table[name] = np.array(words, object)[np.clip(rng.normal(middle, 0.9).round(), 0, 4).astype(int)]
    table["service"] = np.array(SERVICE, object)[np.clip(rng.normal(4 - segment, 0.9).round(), 0, 4).astype(int)]
    table |= {"age": rng.choice(AGE, n), "region": rng.choice(["north", "south", "west"], n)}
    frame = pd.DataFrame(table).astype(object)
    return frame.mask(rng.random(frame.shape) < missing, None), segment


def order(words):
    """The words from the lowest to the highest, or None."""
    found = find_order(words, np.ones(len(words), int))
    return None if found is None else [words[i] for i in np.argsort(found.places, kind="stable")]


@pytest.mark.parametrize(
    "words",
    [
        AGREE,
        OFTEN,
        SERVICE,
        AGE,
        ["low", "Medium", "HIGH"],
        ["poor", "fair", "good", "excellent"],
        ["S", "M", "L", "XL"],
        ["none", "mild", "moderate", "severe"],
        ["High school", "Bachelor's degree", "Master's degree", "PhD"],
        ["not at all useful", "slightly useful", "very useful", "extremely useful"],
        ["much worse", "somewhat worse", "about the same", "somewhat better", "much better"],
        ["strongly_disagree", "somewhat disagree", "undecided", "agree somewhat", "agree strongly"],
        ["very difficult", "difficult", "neutral", "easy", "very easy"],
        ["1 (not at all)", "2", "3", "4", "5 (very much)"],
        ["0", "1", "2", "3 or more"],
        ["< $10k", "$10k - $25k", "$25k - $100k", "$100k+"],
        ["less than 1,000", "1,000 to 4,999", "5,000 to 9,999", "10,000 and more"],
        ["Stage I", "Stage II", "Stage III", "Stage IV"],
        ["$", "$$", "$$$"],
        ["no", "maybe", "yes"],
        ["-", "+/-", "+", "++", "+++"],
        ["neg", "trace", "1+", "2+", "3+"],
        ["0", "1+", "2+", "3+"],
        ["0.125-0.250", "0.250-0.500", "0.500-1.000", "1.000-2.500"],
        ["<40", "40-59", "60", ">60"],
        ["I", "II", "III", "IV"],
        ["--", "-", "0", "+", "++"],
        ["-", "0", "+", "++"],
        ["nie", "selten", "manchmal", "oft", "immer"],
    ],
)
def test_words_that_tell_their_order(words):
    assert order(words) == words
    assert order(words[::-1]) == words


@pytest.mark.parametrize(
    "words",
    [
        ["red", "green", "blue"],
        ["free", "basic", "pro", "team"],
        ["Mon", "Tue", "Wed", "Thu"],
        ["January", "February", "March"],
        ["01 North", "02 South", "03 West"],
        ["low", "high"],
        ["1", "2", "3", "4"],
        ["2-1", "1-3", "0-0"],
        ["10-20", "15-25", "20-30"],
        ["north", "south", "low"],
        ["I", "II", "III", "X"],
        ["I", "V", "X"],
    ],
)
def test_words_that_do_not(words):
    assert order(words) is None


def test_answers_beside_a_scale_count_as_missing_and_are_said():
    words = np.array([*OFTEN, "don't know", "daily"], object)
    cells = words[np.r_[np.arange(5).repeat(30), [5] * 20, [6] * 2]]
    frame = pd.DataFrame({"use": cells, "x": np.arange(172.0) % 7, "plan": np.resize(["a", "b", "c"], 172)})
    table = read_table(frame, kind="data")
    assert table.encoder.types["use"] == "ordered"
    assert "1 ordered category: use (never to always)" in table.notices[-1]
    assert 'use: 22 cells that are not on its scale, such as "don\'t know", count as missing' in table.notices[-1]
    np.testing.assert_array_equal(table.values[:150, 1 - 1], np.arange(5).repeat(30))
    frame.loc[:20, "use"] = "purple"  # too many that are none
    assert read_table(frame, kind="data").encoder.types["use"] == "category"


def test_none_is_a_level_where_a_scale_has_it(tmp_path):
    frame = pd.DataFrame({"pain": np.resize(["None", "Mild", "Moderate", "Severe"], 40), "x": np.arange(40) * 1.5})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", kind="data", columns=["pain", "x"])
    assert table.encoder.columns[0].levels == ("None", "Mild", "Moderate", "Severe")
    assert table.gaps is None
    new = read_table(pd.DataFrame({"pain": ["None", "severe"], "x": [1.0, 2.0]}), kind="data", encoder=table.encoder)
    assert new.values[:, 0].tolist() == [0, 3]


def test_a_dash_beside_signs_is_a_finding(tmp_path):
    n = 60
    frame = pd.DataFrame(
        {"x": np.arange(n) % 7.0, "er": np.resize(["+", "-"], n), "urine": np.resize(["-", "+/-", "+", "++"], n)}
    )
    frame["old"] = np.resize(["3", "-", "5+", "4"], n)  # a number that is not known
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", kind="data")
    assert table.encoder.types == {"x": "number", "er": "boolean", "urine": "ordered", "old": "ordered"}
    assert table.columns[:2] == ["x", "er=+"]
    np.testing.assert_array_equal(table.original["er"], frame["er"])
    np.testing.assert_array_equal(table.values[:, 2], np.resize([0, 1, 2, 3], n))
    assert table.gaps.n_cells == n / 4
    new = read_table(
        pd.DataFrame({"x": [1.0, 2.0], "er": ["-", "-"], "urine": ["-", "-"], "old": ["3", "3"]}),
        kind="data",
        encoder=table.encoder,
    )
    assert new.gaps is None
    np.testing.assert_array_equal(new.values[:, 1:3], 0)


def test_a_dash_that_is_none(tmp_path):
    n = 60
    frame = pd.DataFrame(
        {
            "x": np.arange(n) % 7.0,
            "age": np.resize(["3+", "4+", "12+", "-"], n),
            "er": np.resize(["+", "-", "unknown"], n),
        }
    )
    frame["beds"] = np.resize(["1+", "2+", "3+", "-"], n)
    frame["n"] = [str(i % 9) for i in range(n - 2)] + ["+", "-"]
    table = read_table(frame, kind="data")
    assert table.encoder.types["er"] == "boolean"
    assert table.encoder.types["n"] == "number"
    assert table.original["age"].isna().sum() == table.original["beds"].isna().sum() == n / 4
    assert table.original["er"].isna().sum() == n / 3


def test_a_dash_of_new_rows_is_what_it_was():
    n = 60
    frame = pd.DataFrame({"x": np.arange(n) % 7.0, "her2": np.resize(["neg", "-", "+", "++"], n)})
    table = read_table(frame, kind="data")
    for cells in (["-"], ["-", "+", "++"]):
        new = read_table(pd.DataFrame({"x": 1.0, "her2": cells}), kind="data", encoder=table.encoder)
        assert new.gaps is None
        assert new.values[0, 1] == 0


def test_columns_on_one_scale_have_its_steps():
    frame = pd.DataFrame(
        {
            "q1": np.resize(AGREE, 60),
            "q2": np.resize(["disagree", "agree", "strongly agree"], 60),
            "x": np.arange(60) / 7,
        }
    )
    one, two = read_table(frame, kind="data").encoder.columns[:2]
    assert one.levels == tuple(AGREE)
    assert two.levels == ("Strongly disagree", "disagree", "Neither agree nor disagree", "agree", "strongly agree")


def test_orders_that_are_said():
    frame = pd.DataFrame(
        {
            "taste": np.resize(["sweet", "bitter", "sour"], 30),
            "day": np.resize(["Tue", "Mon", "Sun"], 30),
            "x": np.arange(30) / 7,
        }
    )
    types = {"taste": ["sweet", "sour", "bitter"], "day": "ordered"}
    table = read_table(frame, kind="data", types=types)
    assert table.values[:3, :2].tolist() == [[0, 1], [2, 0], [1, 2]]
    same = read_table(frame, kind="data", types={"taste": "sweet<sour < bitter", "day": "ordered"})
    np.testing.assert_array_equal(same.values, table.values)
    typed = frame.assign(taste=pd.Categorical(frame["taste"], ["sweet", "sour", "bitter"], ordered=True))
    assert read_table(typed, kind="data").values[:3, 0].tolist() == [0, 2, 1]
    assert read_table(typed, kind="data", types={"taste": "category"}).encoder.types["taste"] == "category"
    with pytest.raises(
        InputError,
        match=r"row 2, column 'taste': 'bitter' is not in the order that was given, 'sweet' < 'sour': add it",
    ):
        read_table(frame, kind="data", types={"taste": "sweet<sour"})
    with pytest.raises(
        InputError, match=r"the order of its words, such as 'sweet' and 'bitter', is not known: give it from the lowest"
    ):
        read_table(frame, kind="data", types={"taste": "ordered"})
    with pytest.raises(InputError, match="two levels or more, all different"):
        read_table(frame, kind="data", types={"taste": ["sweet", "sweet"]})


def test_clusters_are_told_in_the_words():
    frame, segment = survey(missing=0.05)
    table = read_table(frame, kind="data")
    found = distinguishing_features(table, segment, top=10)
    words = found[(found["cluster"] == 2) & (found["feature"] == "service")]["words"].item()
    inside, outside = (
        frame["service"][side].dropna().isin(SERVICE[:3]).mean() for side in (segment == 2, segment != 2)
    )
    assert words == f"service: {100 * inside:.0f} % 3 - Neutral or lower against {100 * outside:.0f} %"
    bins = Spreads(table, segment.astype(np.int32)).of(2, 7)
    assert bins["levels"] == SERVICE
    shares = frame["service"][segment == 2].value_counts(normalize=True).reindex(SERVICE, fill_value=0)
    np.testing.assert_allclose(bins["inside"], shares, atol=1e-4)


def test_a_survey_of_nothing_but_answers_is_data():
    frame, _ = survey()
    assert guess(frame[["q1", "q2", "use1"]], {}) == "data"
    assert (
        guess(pd.DataFrame({"a": np.resize(["c1", "c2", "c3"], 60), "b": np.resize(["c1", "c2"], 60)}), {}) == "labels"
    )


def test_new_answers_and_a_saved_model(tmp_path):
    frame, _ = survey(missing=0.05)
    model = cs.EnsembleClusterer(3, n_clusterings=8, random_state=0).fit(frame[:250])
    model.save(tmp_path / "model")
    again = cs.EnsembleClusterer.load(tmp_path / "model")
    new = frame[250:].reset_index(drop=True)
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    odd = new.assign(q1=new["q1"].str.upper(), use1="fortnightly", service="n/a")
    found = again.assign(odd)
    said = "50 cells of 'use1' are levels not seen before, such as 'fortnightly', and count as missing"
    assert any(said in notice for notice in found.notices)
    assert found.drift.unseen == {"use1": 50}
    low = again.assign(new.assign(**dict.fromkeys(("q1", "q2", "q3"), AGREE[0])))
    assert {"q1", "q2", "q3"} <= set(low.drift.moved)
    encoder = Encoder.from_json(json.loads(json.dumps(model.encoder_.to_json())))
    np.testing.assert_array_equal(
        read_table(new, kind="data", encoder=encoder).values,
        read_table(new, kind="data", encoder=model.encoder_).values,
    )


@pytest.mark.parametrize("missing", [pytest.param(0.0, marks=pytest.mark.slow), 0.1])
def test_planted_segments_of_a_survey_are_found(missing):
    frame, segment = survey(missing=missing, seed=1)
    model = cs.EnsembleClusterer(random_state=0).fit(frame)
    assert model.n_clusters_ == 3
    assert adjusted_rand(model.labels_, segment) >= 0.9


def test_words_of_one_level_are_known_again():
    words = np.resize(["never", "rarely", "often", "frequently", "always"], 60)
    frame = pd.DataFrame({"use": words, "x": np.arange(60.0) % 7})
    table = read_table(frame, kind="data")
    again = read_table(frame, kind="data", encoder=table.encoder)
    np.testing.assert_array_equal(again.values, table.values)


def test_a_word_that_many_cells_have_is_a_category():
    words = np.r_[np.resize(["low", "medium", "high"], 54), ["decommissioned"] * 6]
    table = read_table(pd.DataFrame({"state": words, "x": np.arange(60.0) % 7}), kind="data")
    assert table.encoder.types["state"] == "category"
