"""Real tables: what each kind of column becomes, how missing cells are filled, and what new rows become."""

from __future__ import annotations

import datetime as dt
import decimal
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from consilience.tables.shapes import shape_features, shape_names
from scipy import sparse

import consilience as cs
from command_line import run
from consilience._check import InputError
from consilience.cli.inputs import open_clusterings
from consilience.datasets import planted as customers
from consilience.explorer.api import Api
from consilience.explorer.session import Session
from consilience.generation import Variations
from consilience.measures import adjusted_rand, distinguishing_features
from consilience.measures.effect_sizes import effect_sizes
from consilience.meta import score
from consilience.tables import Encoder, match_rows, read_table, scale
from consilience.tables.encoder import skewness
from consilience.tables.filling import NEIGHBORS, find_gaps
from consilience.tables.parse_text import written_dates, written_numbers
from explorer_cases import ask
from samples import block_counts

N = 40


def spread(words: str, n: int = N) -> list[str]:
    return [words.split()[i % len(words.split())] for i in range(n)]


def read(frame: pd.DataFrame, **options):
    return read_table(frame, kind="data", **options)


# --- what a column is ---------------------------------------------------------------------------------------


def test_numbers_that_are_whole_tables_stay_as_they_are():
    frame = pd.DataFrame({"a": np.exp(np.arange(30.0)), "b": np.arange(30)[::-1] % 7})
    table = read(frame)
    np.testing.assert_array_equal(table.values, frame)
    assert (table.encoder, table.original, table.gaps, table.groups) == (None, None, None, None)
    gone = frame.mask(frame["b"] == 3)
    filled = read(gone)
    known = ~gone.isna().to_numpy()
    np.testing.assert_array_equal(filled.values[known], frame.to_numpy()[known])  # not even logged
    assert np.isfinite(filled.values).all()


def test_every_kind_of_column():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, N),
            "income": np.exp(rng.normal(10, 2, N)),
            "orders": np.floor(np.exp(rng.normal(0, 2, N))),
            "plan": spread("free pro"),
            "region": spread("n s e w"),
            "news": [bool(i % 3) for i in range(N)],
            "paid": spread("yes no"),
            "since": pd.date_range("2020-01-01", periods=N),
            "born": [dt.date(1990, 1, 1 + i % 28) for i in range(N)],
            "weight": pd.array([*range(N - 1), None], "Int64"),
            "country": "NL",
            "nothing": None,
            "hardly": [1.0, 2.0, 3.0] + [None] * (N - 3),
            "email": [f"{i}@x.org" for i in range(N)],
            "note": [f"call {i // 2} again" for i in range(N - 10)] + [f"text {i}" for i in range(10)],
            "row": np.arange(100, 100 + N),
        }
    )
    encoder = read(frame).encoder
    assert {column.name: column.kind for column in encoder.columns} == {
        "age": "number",
        "income": "log",
        "orders": "log1p",
        "plan": "category",
        "region": "category",
        "news": "boolean",
        "paid": "boolean",
        "since": "date",
        "born": "date",
        "weight": "number",
    }
    assert encoder.aside == {
        "country": "constant",
        "nothing": "empty",
        "hardly": "92 % missing",
        "email": "names the objects",
        "note": "free text, 25 different",
        "row": "id-like, all different",
    }
    said = encoder.describe()
    assert said.startswith(
        "4 numbers: age, income (logged), orders (logged), weight; 1 category: region; 1 category of two: plan; 2 yes-or-no: "
    )
    assert "1 missing cell (0.25 %) filled from similar rows" in said
    assert "\n" not in said


def test_only_names_of_ids_make_numbers_ids():
    numbers = np.random.default_rng(0).permutation(1000)[:N]
    words = ["paid", "Covid", "ACID", "grid", "valid"]
    ids = ["customer_id", "customerId", "userID", "order no", "key"]
    frame = pd.DataFrame({**dict.fromkeys([*words, *ids], numbers), "plan": spread("a b")})
    table = read(frame, id_column="userID")
    assert [column.name for column in table.encoder.columns] == [*words, "plan"]
    assert table.encoder.aside == dict.fromkeys((name for name in ids if name != "userID"), "id-like, all different")


def test_a_word_that_is_missing_in_one_column_is_so_in_all():
    plans = ["basic", "plus", "pro", "Unbekannt"] * 10
    frame = pd.DataFrame({"plan": plans, "sales": [str(i) for i in range(39)] + ["unbekannt"], "tie": [*"aabc"] * 10})
    table = read(frame)
    assert table.columns[:3] == ["plan=basic", "plan=plus", "plan=pro"]
    assert table.encoder.n_missing == 11
    assert "10 cells such as 'Unbekannt' count as missing" in " ".join(table.notices)
    again = Encoder.from_json(json.loads(json.dumps(table.encoder.to_json())))
    new = read(frame.assign(plan="UNBEKANNT"), encoder=again)
    assert "unknown" not in " ".join(new.notices)
    assert "plan=Unbekannt" in read(frame.assign(sales=range(40))).columns, (
        "where no other column tells, it may be a category"
    )
    none = frame.assign(plan=["basic", "plus", "pro", "none"] * 10, sales=[*frame["sales"][:39], "none"])
    assert "plan=none" in read(none).columns, "no plan is an answer"


def test_distances_read_as_measurements_are_noticed():
    places = np.arange(12.0) ** 2
    apart = pd.DataFrame(np.abs(places[:, None] - places), columns=[f"p{i}" for i in range(12)])
    apart.insert(0, "id", list(apart.columns))
    said = " ".join(read(apart, id_column="id").notices)
    assert "looks like distances" in said
    assert "kind='distances' (--distances of cluster and explore)" in said
    apart.iloc[0, 5] += 1
    assert "looks like distances" not in " ".join(read(apart, id_column="id").notices)


def test_values_of_the_kinds():
    frame = pd.DataFrame(
        {
            "plan": spread("free pro pro"),
            "when": pd.to_datetime(spread("1970-01-02 1970-01-11")),
            "x": range(N),
            "go": spread("no yes"),
        }
    )
    table = read(frame, types={"x": "number"})
    assert table.columns == ["plan=free", "when", "x", "go=yes"]
    np.testing.assert_array_equal(table.values[:3], [[1, 1, 0, 0], [0, 10, 1, 1], [0, 1, 2, 0]])
    assert list(table.original["plan"][:3]) == ["free", "pro", "pro"]
    assert table.original["when"].dtype.kind == "M"
    assert read(frame, types={"x": "log"}).values[3, 2] == np.log1p(3)


def test_two_words_are_as_far_apart_as_two_numbers_on_average():
    frame = pd.DataFrame({"a": spread("p q r s t"), "b": spread("u v v v v v v"), "x": np.linspace(0, 9, N)})
    table = read(frame)
    scaled = table.scaling().apply(table.values)
    squares = np.square(scaled[:, None] - scaled[None])
    apart = {name: squares[:, :, table.groups == g].sum(axis=2) for g, name in enumerate(frame)}
    for name in "ab":
        words = frame[name].to_numpy()
        np.testing.assert_allclose(apart[name], 2 * (words[:, None] != words[None]), atol=1e-12)
    np.testing.assert_allclose(apart["x"].mean(), 2)
    families = read(pd.DataFrame(np.random.default_rng(0).normal(size=(20, 9))), types="series")
    shapes = families.scaling().apply(families.values)
    np.testing.assert_allclose(np.bincount(families.groups, shapes.var(axis=0)), 1)


def test_rare_categories_are_pooled_and_common_ones_kept():
    words = ["a"] * 150 + ["b"] * 140 + [f"rare{i}" for i in range(5)] * 1 + ["c"] * 5
    table = read(pd.DataFrame({"w": words, "x": np.arange(300.0) % 7}))
    assert table.columns == ["w=a", "w=b", "w=c", "w=other", "x"]
    assert table.values[290:295, 3].tolist() == [1] * 5
    assert "w (rare ones pooled)" in table.encoder.describe()
    one = ["a"] * 150 + ["b"] * 149 + ["rare"]
    assert read(pd.DataFrame({"w": one, "x": np.arange(300.0) % 7})).columns[:3] == ["w=a", "w=b", "w=rare"]


def test_skewed_numbers_are_logged_only_where_that_helps():
    rng = np.random.default_rng(1)
    base = {"g": spread("a b", 500)}

    def kinds(values):
        return read(pd.DataFrame({**base, "x": values})).encoder.columns[1].kind

    heavy = np.exp(rng.normal(0, 1.5, 500))
    assert skewness(heavy) > 2
    assert kinds(heavy) == "log"
    assert kinds(np.where(np.arange(500) < 5, 0, heavy)) == "log1p"
    assert kinds(heavy - 1) == "number"  # negative numbers have no logarithm
    assert kinds(rng.normal(50, 5, 500)) == "number"
    assert kinds((np.arange(500) > 490).astype(float)) == "number"  # few values


# --- numbers and dates as people write them -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("1,234 12,500 7", [1234, 12500, 7]),
        ("1,5 2,25 3", [1.5, 2.25, 3]),
        ("1.234,5 2,1", [1234.5, 2.1]),
        ("1,234.5 2.1", [1234.5, 2.1]),
        ("1.234.567 12", [1234567, 12]),
        ("1'234 2'345.5", [1234, 2345.5]),
        ("12% 7.5%", [12, 7.5]),
        ("$5 $1,200.50", [5, 1200.5]),
        ("-$5 $7", [-5, 7]),
        ("€ 5|7€|3 EUR", [5, 7, 3]),
        ("-$5 €7", [np.nan] * 2),
        ("1e3 -2E-1", [1000, -0.2]),
        ("12a x7 5-6 .", [np.nan] * 4),
        ("3.4.2024 12.3.2023", [np.nan] * 2),
        ("5kg", [np.nan]),
    ],
)
def test_written_numbers(words, numbers):
    np.testing.assert_array_equal(written_numbers(words.split("|") if "|" in words else words.split())[0], numbers)


def test_units_must_agree():
    np.testing.assert_array_equal(written_numbers(["5 kg", "7,5 kg", "8"])[0], [5, 7.5, 8])
    assert np.isnan(written_numbers(["5 kg", "7 cm"])[0]).all()
    np.testing.assert_array_equal(written_numbers(["1 234,5", "12 34"])[0], [1234.5, np.nan])
    assert written_numbers(["1,234"], ",")[0].tolist() == [1.234]


@pytest.mark.parametrize(
    ("words", "dates"),
    [
        (["3.4.2024", "13.4.24"], ["2024-04-03", "2024-04-13"]),
        (["3/4/2024", "3/14/2024"], ["2024-03-04", "2024-03-14"]),
        (["3/4/2024", "14/3/2024"], ["2024-04-03", "2024-03-14"]),
        (["2024-2-3", "2024/02/30", "2024-02"], ["2024-02-03", "NaT", "2024-02-01"]),
        (["Mar 5, 2024", "5 March 2024", "5. Mai 2024"], ["2024-03-05", "2024-03-05", "2024-05-05"]),
        (["2024-01-02T03:04:05Z", "1/2/2024 3:04 PM"], ["2024-01-02T03:04:05", "2024-01-02T15:04:00"]),
        (
            [
                "2024-01-02T03:04:05+02:00",
                "2024-01-02 03:04 -0530",
                "2024-01-01T00:00:00.5+01:00",
                "2024-01-02T03:04+24:00",
            ],
            ["2024-01-02T01:04:05", "2024-01-02T08:34:00", "2023-12-31T23:00:00", "NaT"],
        ),
        (["soon", "2024", "99.99.2024", "xyz 5, 2024"], ["NaT"] * 4),
    ],
)
def test_written_dates(words, dates):
    np.testing.assert_array_equal(written_dates(words)[0], np.array(dates, "datetime64[s]"))


def test_text_with_time_zones_is_what_typed_moments_are():
    moments = pd.date_range("2024-01-01 20:00", periods=N, freq="7h", tz="America/New_York")
    typed = read(pd.DataFrame({"when": moments, "plan": spread("a b")}))
    text = read(pd.DataFrame({"when": moments.astype(str), "plan": spread("a b")}))
    np.testing.assert_array_equal(text.values, typed.values)
    row = pd.DataFrame({"when": [moments[3].tz_convert("Asia/Kolkata").isoformat()], "plan": "b"})
    np.testing.assert_array_equal(read(row, encoder=typed.encoder).values[0], typed.values[3])


def test_messy_text_columns(tmp_path):
    rows = [
        f"{i};{20 + i % 9},5;1.{i:03d},50 €;{1 + i % 28}.{1 + i % 12}.2023;{'ja' if i % 3 else 'nein'};{i % 4} %"
        for i in range(N)
    ]
    rows[3] = "3;unknown;n/a;31.2.2023;?;-"
    (tmp_path / "k.csv").write_text("nr;alter;umsatz;seit;aktiv;rabatt\n" + "\n".join(rows))
    table = read_table(tmp_path / "k.csv", kind="data")
    assert table.columns == ["alter", "umsatz", "seit", "aktiv=ja", "rabatt"]
    assert table.values[1, :2].tolist() == [21.5, 1001.5]
    assert table.original["seit"][1] == pd.Timestamp("2023-02-02")
    assert table.original.loc[3].isna().all()
    assert table.gaps.n_cells == 5
    said = " ".join(table.notices)
    assert "alter: 1 cell that is no number, such as 'unknown', counts as missing" in said
    assert "seit: 1 cell" in said
    assert "set aside nr" in said


# --- missing cells --------------------------------------------------------------------------------------------


def test_gaps_are_filled_from_the_nearest_rows():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 5))
    groups, scale = np.array([0, 1, 1, 2, 3]), np.array([1, 2, 2, 1, 0.5])
    values[rng.random((60, 5)) < 0.2] = np.nan
    values[:, 1:3][np.isnan(values[:, 1:3]).any(axis=1)] = np.nan  # a group is missing as one
    donors = values[:50]
    gaps = find_gaps(values, donors, groups, scale)
    seen = set()
    for gap in gaps.gaps:
        np.testing.assert_array_equal(np.isnan(values[np.ix_(gap.rows, gap.columns)]), True)
        for row, chosen in zip(gap.rows, gap.donors, strict=True):
            seen.add((row, gap.columns[0]))
            squares = np.square((values[row] - donors) / scale)
            shared = (~np.isnan(squares)).sum(axis=1)
            apart = np.where(shared > 0, np.nansum(squares, axis=1) / np.maximum(shared, 1), np.inf)
            apart[np.isnan(donors[:, gap.columns[0]])] = np.inf
            np.testing.assert_allclose(np.sort(apart[chosen]), np.sort(apart)[:NEIGHBORS])
    assert seen == {(i, groups.tolist().index(groups[j])) for i, j in np.argwhere(np.isnan(values))}
    filled, drawn = values.copy(), values.copy()
    gaps.fill(filled)
    gaps.fill(drawn, 3)
    known = ~np.isnan(values)
    for one in (filled, drawn):
        np.testing.assert_array_equal(one[known], values[known])
        assert np.isfinite(one).all()
    gap = gaps.gaps[0]
    np.testing.assert_allclose(filled[gap.rows[0], gap.columns[0]], donors[gap.donors[0], gap.columns[0]].mean())
    assert drawn[gap.rows[0], gap.columns[0]] in donors[gap.donors[0], gap.columns[0]]


def test_fillings_differ_and_can_be_drawn_again():
    frame, _ = customers(120, missing=0.1)
    table = read(frame)
    assert not np.array_equal(table.filled(0), table.filled(1))
    np.testing.assert_array_equal(table.filled(1), read(frame).filled(1))
    whole = ~frame[list(table.original)].isna().any(axis=1).to_numpy()
    np.testing.assert_array_equal(table.filled(1)[whole], table.values[whole])
    turned = match_rows(table, table.ids[::-1], 120)
    np.testing.assert_array_equal(turned.values, table.values[::-1])
    assert turned.gaps.n_cells == table.gaps.n_cells
    np.testing.assert_array_equal(np.isfinite(turned.filled(0)), True)
    assert list(turned.original["plan"]) == list(table.original["plan"][::-1])


def test_clusterings_are_made_on_several_fillings_and_remade_alone():
    frame, _ = customers(120, missing=0.1)
    ens = cs.generate(frame, 30, (3, 5), methods="zipf+pca+objects")
    assert ens.info["filling"].nunique() > 4
    for i in (0, 1, 2):
        np.testing.assert_array_equal(Variations(frame).remake(ens.info.loc[i]), ens.labels[:, i])
    again = cs.generate(frame, 30, (3, 5), methods="zipf+pca+objects")
    np.testing.assert_array_equal(again.labels, ens.labels)
    assert "filling" not in cs.generate(customers(120, missing=0)[0], 5, 3).info
    more = cs.generate(frame, 3, around=ens.info.loc[0])
    assert set(more.info["filling"]) == {ens.info["filling"][0]}


def test_columns_of_a_category_share_their_weights():
    frame, _ = customers(120, missing=0.0)
    table = read(frame)
    weights = np.array(cs.generate(table, 4, 3, methods="zipf").info["weights"].tolist())
    for group in range(table.groups.max() + 1):
        assert (np.ptp(weights[:, table.groups == group], axis=1) == 0).all()
    assert np.ptp(weights, axis=1).min() > 0


def test_what_was_done_is_kept_with_the_run(tmp_path):
    frame, _ = customers(120, missing=0.05)
    cs.generate(frame, 4, 3, store=tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert "filled from similar rows" in json.dumps(manifest["plan"], ensure_ascii=False)
    grown = cs.generate(frame, 6, 3, store=tmp_path / "run")
    np.testing.assert_array_equal(grown.labels, cs.generate(frame, 6, 3).labels)


# --- new rows -----------------------------------------------------------------------------------------------


def test_new_rows_become_what_they_were():
    frame, _ = customers(150, missing=0.05)
    table = read(frame)
    encoder = Encoder.from_json(json.loads(json.dumps(table.encoder.to_json())))
    mixed = frame.sample(frac=1, random_state=0, ignore_index=True)[list(reversed(frame.columns))]
    new = read_table(mixed, kind="data", encoder=encoder)
    np.testing.assert_allclose(new.values, match_rows(table, new.ids, 150).values)
    assert encoder.describe() == table.encoder.describe()


WRITTEN = pd.DataFrame(
    {
        "when": [f"{1 + i % 28:02d}/{1 + i % 12:02d}/2024" for i in range(N)],
        "price": [f"{i},{i}00" if i % 2 else f"1.{200 + i},5" for i in range(N)],
        "weight": [f"{i},125 kg" if i else "0,5 kg" for i in range(N)],
        "us": [f"{i},125 $" if i % 3 else "1,200.5 $" for i in range(N)],
        "plan": spread("free pro"),
    }
)


@pytest.mark.parametrize("as_file", [False, True])
def test_a_new_row_is_read_as_the_table_was(as_file, tmp_path):
    def source(frame, name):
        if not as_file:
            return frame
        frame.to_csv(tmp_path / name, sep=";", index=False)
        return tmp_path / name

    table = read_table(source(WRITTEN, "all.csv"), kind="data")
    assert table.values[7, 0] - table.values[0, 0] == pd.Timestamp("2024-08-08").day_of_year - 1
    assert table.original.loc[3, ["price", "weight", "us"]].tolist() == [3.3, 3.125, 1200.5]
    encoder = Encoder.from_json(json.loads(json.dumps(table.encoder.to_json())))
    for i in range(N):
        row = read_table(source(WRITTEN[i : i + 1], "one.csv"), kind="data", encoder=encoder)
        assert row.original.loc[0].tolist() == table.original.loc[i].tolist()
        np.testing.assert_allclose(row.values[0], table.values[i])
    strange = WRITTEN[:3].assign(when="01/15/2024", weight=["5 lb", "5 kg", "5"])
    read_strange = read_table(source(strange, "strange.csv"), kind="data", encoder=encoder).original
    assert read_strange["when"].isna().all()
    np.testing.assert_array_equal(read_strange["weight"], [np.nan, 5, 5])


def test_cells_of_new_rows_that_cannot_be_read_are_counted():
    encoder = read(WRITTEN).encoder
    new = WRITTEN[:3].assign(when=["foo", "31/02/2024", "03/04/2024"], price=["x", None, "-"], weight="5 kg")
    table = read(new, encoder=encoder)
    assert table.gaps.n_cells == 5
    assert [notice for notice in table.notices if "no" in notice] == [
        "DataFrame: when: 2 cells that are no dates, such as 'foo', count as missing",
        "DataFrame: price: 1 cell that is no number, such as 'x', counts as missing",
    ]
    assert not any("missing" in notice for notice in read(WRITTEN, encoder=encoder).notices)
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 9))).astype(object)
    wide.iloc[0, :8] = "x"
    said = read(wide, types="series").notices
    assert "0: 1 cell that is no number, such as 'x', counts as missing" in said[1]
    assert said[-1].endswith("so do cells of 3 more columns")


def test_a_decimal_sign_that_is_said_holds_for_new_rows(tmp_path):
    rows = [f"{i},125;{'ab'[i % 2]}" for i in range(N)]
    (tmp_path / "de.csv").write_text("x;g\n" + "\n".join(rows))
    encoder = read_table(tmp_path / "de.csv", kind="data").encoder
    (tmp_path / "en.csv").write_text("x;g\n3.125;a\n")
    for said, number in ((None, 3125), (".", 3.125)):
        new = read_table(tmp_path / "en.csv", kind="data", encoder=encoder, decimal=said)
        assert new.values[0, 0] == number
    text = pd.DataFrame({"x": ["3,125"], "g": "a"})
    assert read(text, encoder=encoder).values[0, 0] == 3.125


def test_new_rows_with_surprises():
    frame, _ = customers(150, missing=0.0)
    frame["city"] = ["a"] * 80 + ["b"] * 60 + [f"c{i}" for i in range(10)]
    encoder = read(frame).encoder
    new = frame.head(4).assign(plan=["gold", "pro", None, "pro"], city=["z", "a", "c3", "a"], income=[-5.0, 0, 1e9, 10])
    table = read_table(new, kind="data", encoder=encoder)
    assert np.isfinite(table.values).all()
    names = table.columns
    assert table.values[:, names.index("city=other")].tolist() == [1, 0, 1, 0]
    said = " ".join(table.notices)
    assert "1 cell of 'plan' is a category not seen before, such as 'gold', and counts as missing" in said
    assert "of 'city' are categories not seen before" in said
    assert table.gaps.n_cells == 2
    with pytest.raises(InputError, match="the new table lacks columns 'age', 'plan' that the model was fitted on"):
        read_table(new.drop(columns=["age", "plan"]), kind="data", encoder=encoder)
    with pytest.raises(InputError, match="leave types="):
        read_table(new, kind="data", encoder=encoder, types={"age": "number"})
    with pytest.raises(InputError, match="not an encoder"):
        Encoder.from_json({"version": 1})


# --- frames of other kinds ------------------------------------------------------------------------------------


def test_frames_of_other_libraries():
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame(
        {"a": [1.5, None, 3, 4, 9], "b": ["u", "v", "u", None, "v"], "c": [True, False, None, True, True]}
    )
    expected = read(frame)
    assert expected.columns == ["a", "b=v", "c=true"]
    for other in (
        polars.from_pandas(frame),
        pa.Table.from_pandas(frame),
        frame.assign(b=frame["b"].astype("category"), c=frame["c"].astype("boolean"), a=frame["a"].astype("Float64")),
        frame.convert_dtypes(),
    ):
        np.testing.assert_array_equal(read(other).values, expected.values)


def test_frames_with_times_and_the_verbs():
    polars = pytest.importorskip("polars")
    frame, segment = customers(120)
    ens = cs.generate(frame, 12, 4)
    zoned = frame.assign(plan=frame["plan"].astype("category"), signup=frame["signup"].dt.tz_localize("UTC"))
    for other in (polars.from_pandas(frame).lazy(), pa.Table.from_pandas(frame), frame.convert_dtypes(), zoned):
        np.testing.assert_array_equal(cs.generate(other, 12, 4).labels, ens.labels)
    pd.testing.assert_frame_equal(score(ens, frame), score(ens, read(frame)))
    new = cs.contrast(frame.assign(seg=segment), "seg", 3, n_init=2)
    assert len(new.labels) == 120


def random_column(rng, n):
    """A column of some kind, with some cells missing and some of another kind."""
    makers = [
        lambda: rng.normal(size=n),
        lambda: rng.integers(0, 5, n),
        lambda: rng.choice(np.array(["a", "b", "c"], object), n),
        lambda: [dt.datetime(2020, 1, 1) + dt.timedelta(int(i)) for i in rng.integers(0, 500, n)],
        lambda: rng.random(n) < 0.5,
        lambda: [f"id{i}" for i in range(n)],
        lambda: ["same"] * n,
        lambda: [f"{x:,.2f}" for x in rng.normal(0, 1e5, n)],
        lambda: [[1]] * n,
        lambda: pd.array(rng.integers(0, 9, n), "Int64"),
        lambda: [decimal.Decimal(int(i)) for i in rng.integers(0, 9, n)],
        lambda: pd.Categorical(rng.choice(["x", "y", "z"], n)),
        lambda: pd.to_timedelta(rng.integers(0, 99, n), unit="h"),
        lambda: [dt.time(int(i)) for i in rng.integers(0, 24, n)],
        lambda: pd.period_range("2020-01", periods=n, freq="M"),
    ]
    cells = pd.Series(makers[rng.integers(len(makers))]())
    if rng.random() < 0.5:
        cells = cells.mask(rng.random(n) < rng.choice([0.05, 0.5, 0.95, 1]))
    if rng.random() < 0.2:
        cells = cells.astype(object)
        odd = ["?", "oops", 7, None, 3.5, dt.date(2020, 1, 1), "", b"x", True]
        cells.iloc[rng.integers(n)] = odd[rng.integers(len(odd))]
    return cells


def test_any_frame_becomes_finite_numbers_and_so_do_new_rows():
    rng, read_ones, refusals = np.random.default_rng(0), 0, []
    for _ in range(150):
        n = int(rng.choice([1, 2, 3, 7, 30, 60]))
        frame = pd.DataFrame({f"c{j}": random_column(rng, n) for j in range(rng.integers(1, 6))})
        try:
            table = read(frame)
        except InputError as error:
            refusals.append(str(error))
            continue
        read_ones += 1
        assert np.isfinite(table.values).all()
        assert table.values.shape == (n, len(table.columns))
        if table.encoder is not None:
            encoder = Encoder.from_json(json.loads(json.dumps(table.encoder.to_json())))
            np.testing.assert_allclose(read_table(frame, kind="data", encoder=encoder).values, table.values)
    assert read_ones > 100
    assert all("no column is left to cluster by" in said for said in refusals)


# --- types ----------------------------------------------------------------------------------------------------


def test_types_are_taken_as_said():
    frame = pd.DataFrame(
        {
            "zip": spread("1011 1012 1013"),
            "code": range(N),
            "when": [20200101 + i % 9 for i in range(N)],
            "x": np.linspace(1, 9, N),
            "id2": range(N),
        }
    ).astype({"zip": int})
    table = read(frame, types={"zip": "category", "cod*": "ignore", "when": "date", "id2": "number"})
    assert table.columns == ["zip=1011", "zip=1012", "zip=1013", "when", "x", "id2"]
    assert table.encoder.aside == {"code": "asked for"}
    assert table.original["when"][1] == pd.Timestamp("2020-01-02")
    assert read(frame, types="number").columns == list(frame)
    for types, sentence in (
        ({"zipp": "category"}, "did you mean 'zip'"),
        ({"zip": "kategory"}, "did you mean 'category'"),
        ({"x": "date"}, "no cell is a date"),
        (["zip"], "types must map columns to types"),
        ("ignore", "no column is left to cluster by"),
    ):
        with pytest.raises(InputError, match=sentence):
            read(frame, types=types)
    with pytest.raises(InputError, match="this is read as labels"):
        read_table(frame, kind="labels", types={"zip": "category"})


# --- bad input ------------------------------------------------------------------------------------------------


def aside(values, **options) -> dict[str, str]:
    return read(
        pd.DataFrame({"x": np.arange(len(values)) % 7.0, "g": spread("a b", len(values)), "bad": values}), **options
    ).encoder.aside


def test_bad_columns_are_set_aside_or_refused():
    rng = np.random.default_rng(0)
    assert aside([None] * 30) == {"bad": "empty"}
    assert aside([""] * 30) == {"bad": "empty"}
    assert aside(["same"] * 30) == {"bad": "constant"}
    assert aside(["same"] * 20 + [None] * 10) == {"bad": "constant"}
    many = [f"w{i}" for i in rng.integers(0, 10_000, 30_000)]
    assert "categories, hardly one of them common" in aside(many)["bad"]
    assert "free text" in aside([*map(str, many[:10_000])])["bad"]
    with pytest.raises(InputError, match=r"row 3, column 'bad': infinite value \(inf\), the only one"):
        aside([1.0, 2, np.inf, *range(27)])
    with pytest.raises(InputError, match="no column is left to cluster by: a \\(empty\\), b \\(constant\\)"):
        read(pd.DataFrame({"a": [None] * 9, "b": ["x"] * 9}))


def test_mixed_types_in_a_column():
    some = [*range(95), *["unknown"] * 3, None, "-inf"]
    found = read(pd.DataFrame({"x": some, "g": spread("a b", 100)})).encoder.columns[0]
    assert found.kind == "number"
    assert "4 cells that are no numbers, such as 'unknown', count as missing" in found.notes[0]
    half = [1, 2, "two", "three"] * 10
    assert read(pd.DataFrame({"x": half, "y": range(40), "g": spread("a b c")})).encoder.columns[0].kind == "category"
    dates = [*[f"2024-01-{1 + i % 28:02d}" for i in range(38)], "2024-02-31", "soon"]
    found = read(pd.DataFrame({"x": dates, "g": spread("a b")})).encoder.columns[0]
    assert found.kind == "date"
    assert "2 cells that are no dates" in found.notes[0]
    no_dates = read(pd.DataFrame({"x": spread("31.13.2024 45.1.2024 soon"), "g": spread("a b")}))
    assert no_dates.encoder.columns[0].kind == "category"
    odd = read(pd.DataFrame({"x": [[1, 2], {"a": 3}] * 20, "g": spread("a b")}))
    assert odd.encoder.columns[0].kind == "category"


def test_negative_counts_are_refused():
    with pytest.raises(InputError, match="counts must not be negative, and this is -4"):
        read(pd.DataFrame({"a": [1, -4], "b": [0, 2]}), types="counts")
    with pytest.raises(InputError, match="counts must not be negative, and this is -4, the only one"):
        read_table(pd.DataFrame({"a": [1, -4], "b": [0, 2]}), kind="counts")


def test_a_column_named_as_a_class_is_noticed():
    table = read(pd.DataFrame({"x": np.linspace(0, 9, N), "species": spread("a b c")}))
    assert "if it is a class that is known, say known='species' (--known species)" in " ".join(table.notices)


# --- counts and series ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_type", [np.asarray, sparse.csr_matrix, pd.DataFrame])
def test_counts_are_recognized_and_weighted(as_type):
    counts, block, _ = block_counts(120, 300, 3, 30, own=0.6)
    words = counts.toarray()
    table = read(as_type(words))
    assert table.is_counts
    assert "of counts: 1 + log, rare columns weighted up, rows to length 1 (tf-idf)" in " ".join(table.notices)
    dense = table.scaling().apply(table.values)
    dense = dense.toarray() if sparse.issparse(dense) else dense
    np.testing.assert_allclose(dense, scale(words.astype(float), "tfidf"), atol=1e-12)
    made = cs.generate(as_type(words), 8, 3, methods="minima")
    assert np.mean([adjusted_rand(made.labels[:, j], block) for j in range(8)]) > 0.4
    same = cs.generate(scale(words.astype(float), "tfidf"), 8, 3, methods="minima", standardize=False)
    np.testing.assert_array_equal(made.labels, same.labels)
    assert not read(as_type(words), types="number").is_counts


def test_what_is_not_counts():
    words = np.zeros((50, 200))
    words[np.arange(50), np.arange(50)] = 1
    assert not read(words).is_counts  # 0 and 1 only
    words[0, 0] = 3
    assert read(words).is_counts
    assert not read(words + 1).is_counts
    assert not read(np.where(words == 3, -3, words)).is_counts
    assert not read(np.where(words == 3, 2.5, words)).is_counts
    assert not read(words[:, :90]).is_counts
    assert read(words[:, :90], types="counts").is_counts
    labeler = cs.EnsembleClusterer(3, n_clusterings=5, methods="minima", random_state=0)
    counts = block_counts(120, 300, 3, 30)[0]
    fitted = labeler.fit(counts[:80])
    assert (fitted.predict(counts[:80]) == fitted.labels_).mean() > 0.95


def shifted(n=160, points=96, seed=0):
    """Sines, squares and saws that rise or fall, begun anywhere, at any height and size."""
    rng = np.random.default_rng(seed)
    kind, t = rng.integers(0, 4, n), np.arange(points)
    at = (3 * (t + rng.integers(0, points, n)[:, None]) / points) % 1
    waves = np.stack([np.sin(2 * np.pi * at), np.sign(np.sin(2 * np.pi * at)), at, -at])[kind, np.arange(n)]
    return rng.normal(0, 5, (n, 1)) + np.exp(rng.normal(size=(n, 1))) * (
        waves + 0.1 * rng.normal(size=waves.shape)
    ), kind


def test_series_are_told_apart_by_shape():
    rows, kind = shifted()
    found = cs.combine(cs.generate(rows, 40, (4, 8), types="series"), 4)
    assert adjusted_rand(found.labels, kind) > 0.9
    assert adjusted_rand(cs.combine(cs.generate(rows, 40, (4, 8)), 4).labels, kind) < 0.3


def test_shapes_do_not_change_with_height_size_and_shift():
    rows, _ = shifted(20)
    names, groups = shape_names(96)
    shape = shape_features(rows)
    assert shape.shape == (20, len(names))
    np.testing.assert_allclose(shape_features(3 * rows - 7), shape, atol=1e-9)
    moved = np.roll(rows, 11, axis=1)
    still = np.isin(groups, [1, 2])
    np.testing.assert_allclose(shape_features(moved)[:, still], shape[:, still], atol=1e-9)
    assert not np.allclose(shape_features(moved)[:, groups == 0], shape[:, groups == 0])
    np.testing.assert_array_equal(shape_features(np.ones((2, 20))), 0)
    z = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
    np.testing.assert_allclose(shape[:, names.index("level 50 %")], np.median(z, axis=1))
    np.testing.assert_allclose(shape[:, names.index("step 100 %")], np.diff(z, axis=1).max(axis=1))


def test_series_with_gaps_and_new_ones():
    rows, _ = shifted(30)
    gone = rows.copy()
    gone[:, 5] = np.nan
    table = read(pd.DataFrame(gone, columns=[f"t{i}" for i in range(96)]), types="series")
    assert "30 missing points on the line between neighbors" in table.encoder.describe()
    filled = rows.copy()
    filled[:, 5] = (rows[:, 4] + rows[:, 6]) / 2
    np.testing.assert_allclose(table.values, shape_features(filled))
    again = Encoder.from_json(json.loads(json.dumps(table.encoder.to_json())))
    new = read_table(table.original.head(3), kind="data", encoder=again)
    np.testing.assert_array_equal(new.values, table.values[:3])
    assert distinguishing_features(table, np.arange(30) % 2, top=1)["feature"].isin(table.columns).all()
    with pytest.raises(InputError, match="at least 8 points, and there are 4"):
        read(pd.DataFrame(rows[:, :4]), types="series")


# --- what tells clusters apart ------------------------------------------------------------------------------


def test_effects_speak_of_the_columns_as_they_came():
    rng = np.random.default_rng(0)
    n, group = 200, np.repeat([0, 1], 100)
    frame = pd.DataFrame(
        {
            "age": np.where(group == 0, 54.0, 31.0) + rng.integers(-3, 4, n),
            "plan": np.where(np.arange(n) % 100 < np.where(group == 0, 71, 22), "pro", "free"),
            "city": np.where(group == 0, "Ulm", np.array(["Bonn", "Köln"] * 100)),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(group * 366, unit="D"),
            "noise": rng.normal(size=n),
        }
    )
    frame.loc[5, "plan"] = frame.loc[7, "age"] = None
    found = distinguishing_features(frame, group, top=5).set_index(["cluster", "feature"])
    assert found.loc[(0, "plan"), "words"] == f"plan: {100 * 70 / 99:.0f} % pro against 22 %"
    assert found.loc[(1, "plan"), "words"] == "plan: 78 % free against 29 %"
    np.testing.assert_allclose(found.loc[(0, "plan"), ["mean", "mean_elsewhere"]].astype(float), [70 / 99, 0.22])
    ages = frame["age"][group == 0].median(), frame["age"][group == 1].median()
    assert found.loc[(0, "age"), "words"] == f"age: {ages[0]:.0f} against {ages[1]:.0f} (median)"
    assert found.loc[(0, "city"), "words"] == "city: 100 % Ulm against 0 %"
    assert found.loc[(1, "since"), "words"] == "since: 2021-01-01 against 2020-01-01 (median)"
    table = read(frame)
    effect = effect_sizes(table.values, group.astype(np.int32))[2]
    assert found.loc[(0, "age"), "effect"] == effect[0, table.columns.index("age")]
    assert np.abs(found.loc[(0, "city"), "effect"]) == np.abs(effect[0, table.groups == 2]).max()
    assert "words" not in distinguishing_features(frame[["noise"]], group)


def test_the_explorer_and_its_table_speak_so_too():
    frame, segment = customers(100, missing=0.05)
    table = read(frame)
    api = Api(Session(cs.Ensemble([segment, segment % 2]), data=table))
    told = ask(api, "detail/0m")["features"]
    expected = distinguishing_features(table, segment, top=1)["words"].tolist()
    assert [one["top"][0]["words"] for one in told] == expected
    assert told[0]["top"][0]["feature"] in table.original


def test_a_pooled_category_has_a_share_too():
    group = np.repeat([0, 1], 100)
    words = ["a", "b"] * 50 + [f"rare{i // 2}" for i in range(60)] + ["b"] * 40
    found = distinguishing_features(pd.DataFrame({"w": words, "x": np.arange(200.0) % 9}), group, top=1)
    assert found["words"].tolist() == ["w: 0 % other against 60 %", "w: 60 % other against 0 %"]


def test_a_category_called_other_is_not_the_pool():
    group = np.repeat([0, 1], 100)
    words = ["other", "b"] * 50 + [f"rare{i // 2}" for i in range(60)] + ["b"] * 40
    table = read(pd.DataFrame({"w": words, "x": np.arange(200.0) % 9}))
    assert table.columns == ["w=b", "w=other", "w=other (pooled)", "x"]
    found = distinguishing_features(table, group, top=1)
    assert found["words"].tolist() == ["w: 0 % other (pooled) against 60 %", "w: 60 % other (pooled) against 0 %"]
    words = (
        ["other"] * 90
        + [f"rare{i // 2}" for i in range(10)]
        + ["b", "b", "c"] * 30
        + [f"rare{i // 2}" for i in range(10)]
    )
    found = distinguishing_features(pd.DataFrame({"w": words, "x": np.arange(200.0) % 9}), group, top=1)
    assert found["words"].tolist() == ["w: 90 % other against 0 %", "w: 0 % other against 90 %"]
    new = read(pd.DataFrame({"w": ["other", "gold"], "x": 1.0}), encoder=table.encoder)
    assert new.values[:, 1:3].tolist() == [[1, 0], [0, 1]]
    assert "such as 'gold', and counts as 'other (pooled)'" in new.notices[-1]


# --- command line -------------------------------------------------------------------------------------------


def done(args) -> str:
    ended = run(*args)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def refused(args) -> str:
    ended = run(*args)
    assert ended.returncode == 2, ended.stdout
    return ended.stderr


def test_messy_customers_go_through_without_an_option(tmp_path):
    frame, _ = customers(200, missing=0.05)
    text = frame.assign(
        income=[None if np.isnan(x) else f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in frame["income"]],
        signup=frame["signup"].dt.strftime("%d.%m.%Y"),
        newsletter=frame["newsletter"].map({True: "ja", False: "nein"}),
    )
    text.to_csv(tmp_path / "kunden.csv", sep=";", index=False)
    frame.to_excel(tmp_path / "c.xlsx", index=False)
    expected = read(frame)
    for name in ("kunden.csv", "c.xlsx"):
        table = read_table(tmp_path / name, kind="data")
        np.testing.assert_allclose(np.sort(table.values, axis=1), np.sort(expected.values, axis=1))
        said = done(["generate", tmp_path / name, "-o", tmp_path / f"run {name}", "-n", 20, "-k", "4"])
        assert "set aside country (constant), note (id-like, all different)" in said
        assert "8 columns, encoded as 17 of numbers" in said
    page = tmp_path / "r.html"
    done(["report", tmp_path / "run kunden.csv", page, "--data", tmp_path / "kunden.csv", "--type", "plan=category"])
    assert "--type plan=category" in page.read_text()
    assert " % pro against " in page.read_text()
    assert "set aside country (constant)" in page.read_text()


def test_types_on_the_command_line(tmp_path):
    frame, _ = customers(100, missing=0.05)
    frame.to_csv(tmp_path / "c.csv", index=False)
    types = ["--type", "age=category,note=ignore", "--type", "signup=ignore"]
    said = done(["generate", tmp_path / "c.csv", "-o", tmp_path / "run", "-n", 4, "-k", 3, *types])
    assert "signup (asked for)" in said
    assert "note (asked for)" in said
    asked = {"types": {"age": "category", "note": "ignore", "signup": "ignore"}, "columns": [], "id_column": None}
    opened = open_clusterings(tmp_path / "run", data=tmp_path / "c.csv", **asked)
    assert not opened.other_data
    assert open_clusterings(tmp_path / "run", data=tmp_path / "c.csv", columns=[], id_column=None).other_data
    assert "is not a column and its type" in refused(
        ["generate", tmp_path / "c.csv", "-o", tmp_path / "x", "--type", "a=b,age"]
    )
    assert "did you mean 'category'" in refused(
        ["generate", tmp_path / "c.csv", "-o", tmp_path / "x", "--type", "age=categry"]
    )


# --- segments that were planted -------------------------------------------------------------------------------


def test_support_is_lower_where_cells_are_missing():
    frame, _ = customers(300, missing=0.2)
    answer = cs.combine(cs.generate(frame, 60, (4, 8)), 4)
    gone = frame.drop(columns=["noise_1", "noise_2"]).isna().sum(axis=1).to_numpy()
    assert answer.support[gone >= 3].mean() < answer.support[gone == 0].mean() - 0.03


@pytest.mark.parametrize("missing", [0.0, 0.05, 0.2])
def test_planted_segments_are_found(missing):
    frame, segment = customers(400, missing=missing, random_state=1)
    answer = cs.combine(cs.generate(frame, 60, (4, 8)), 4)
    assert adjusted_rand(answer.labels, segment) >= 0.9
    by_recipe = cs.generate(frame, 30, (4, 8), methods="auto")
    assert set(by_recipe.info["method"]) == {"zipf", "pca", "minima"}
    assert adjusted_rand(cs.combine(by_recipe, 4).labels, segment) >= 0.9


def test_none_is_a_word_and_a_tick_is_a_yes(tmp_path):
    n = 60
    frame = pd.DataFrame(
        {"x": np.arange(n) % 7.0, "allergy": np.resize(["None", "Penicillin"], n), "stent": np.resize(["x", ""], n)}
    )
    frame["visits"] = np.resize(["2", "None", "3", "5"], n)
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", kind="data")
    assert table.encoder.types == {"x": "number", "allergy": "category", "stent": "boolean", "visits": "number"}
    assert table.columns == ["x", "allergy=Penicillin", "stent=x", "visits"]
    np.testing.assert_array_equal(table.values[:, 2], np.resize([1, 0], n))
    np.testing.assert_array_equal(table.values[:, 1], np.resize([0, 1], n))
    assert "stent: an empty cell means no, since all others are 'x'" in table.notices[-1]
    assert table.gaps.n_cells == n / 4
    new = pd.DataFrame({"x": [1.0, 2.0], "allergy": ["None", "None"], "stent": ["", "x"], "visits": [2, 2]})
    again = read_table(new, kind="data", encoder=table.encoder)
    assert again.gaps is None
    np.testing.assert_array_equal(again.values[:, 1:3], [[0, 0], [0, 1]])
    new["stent"] = ["X", "no"]
    np.testing.assert_array_equal(read_table(new, kind="data", encoder=table.encoder).values[:, 2], [1, 0])
    new["stent"] = ["NA", "✓"]
    assert read_table(new, kind="data", encoder=table.encoder).gaps.n_cells == 1
    frame.loc[2:, "stent"] = ""  # hardly anything is ticked
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "stent (constant)" in read_table(tmp_path / "t.csv", kind="data").notices[-1]


def test_none_is_no_date_number_or_choice_and_what_is_missing_is_no_no():
    n, rng = 60, np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d").to_numpy(object)
    frame = pd.DataFrame({"x": np.arange(n) % 7.0, "since": np.where(rng.random(n) < 0.6, "None", days)})
    frame["pay"] = np.where(rng.random(n) < 0.6, "None", [f"{i},03 €" for i in range(n)])
    frame["uses"] = np.resize(["Excel, R", "R, Python", "R", "Python, Excel", "None"], n)
    frame["ok"] = np.resize(["yes", "NA", "?"], n)
    frame["asked"] = np.resize(["yes", "refused"], n)
    frame["plan"] = np.resize(["a", "b"] * 24 + ["None", "d"], n)
    table = read_table(frame, kind="data", missing="refused")
    assert {name: table.encoder.types.get(name) for name in ("since", "pay", "uses")} == {
        "since": "date",
        "pay": "number",
        "uses": "choices",
    }
    assert {"ok", "asked"} <= set(table.encoder.aside)
    new = frame.iloc[48:50]
    again = read_table(new, kind="data", encoder=table.encoder)
    plan = [i for i, name in enumerate(table.columns) if name.startswith("plan=")]
    np.testing.assert_array_equal(again.values[:, plan], table.values[48:50][:, plan])
