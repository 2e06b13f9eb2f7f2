"""Real tables: what each kind of column becomes, how missing cells are filled, and what new rows become."""

import datetime as dt
import decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import consilience as cs
from command_line import ran
from consilience._check import InputError
from consilience.cli.inputs import open_clusterings
from consilience.datasets import customers
from consilience.generation import Variations
from consilience.measures import adjusted_rand, distinguishing_features
from consilience.measures.distinguishing_columns import effect_sizes
from consilience.measures.spreads_and_top_words import Spreads
from consilience.meta import score
from consilience.tables import Encoder, match_rows, read_table, scale
from consilience.tables.filling import NEIGHBORS, find_gaps
from consilience.tables.numbers_and_dates import written_dates, written_numbers
from samples import block_counts, refuses

N = 40


def spread(words: str, n: int = N) -> list[str]:
    return [words.split()[i % len(words.split())] for i in range(n)]


def read(frame: pd.DataFrame, **options):
    return read_table(frame, kind="data", **options)


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
    kinds = {
        "age": (rng.integers(18, 80, N), "number"),
        "income": (np.exp(rng.normal(10, 2, N)), "log"),
        "orders": (np.floor(np.exp(rng.normal(0, 2, N))), "log1p"),
        "plan": (spread("free pro"), "category"),
        "region": (spread("n s e w"), "category"),
        "news": ([bool(i % 3) for i in range(N)], "boolean"),
        "paid": (spread("yes no"), "boolean"),
        "since": (pd.date_range("2020-01-01", periods=N), "date"),
        "born": ([dt.date(1990, 1, 1 + i % 28) for i in range(N)], "date"),
        "weight": (pd.array([*range(N - 1), None], "Int64"), "number"),
    }
    aside = {
        "country": ("NL", "constant"),
        "nothing": (None, "empty"),
        "hardly": ([1.0, 2.0, 3.0] + [None] * (N - 3), "92 % missing"),
        "email": ([f"{i}@x.org" for i in range(N)], "names the objects"),
        "note": (
            [f"call {i // 2}" for i in range(N - 10)] + [f"text {i}" for i in range(10)],
            "free text, 25 different",
        ),
        "row": (np.arange(1, 1 + N), "counts the rows"),
    }
    encoder = read(pd.DataFrame({name: cells for name, (cells, _) in (kinds | aside).items()})).encoder
    assert {column.name: column.kind for column in encoder.columns} == {name: kind for name, (_, kind) in kinds.items()}
    assert encoder.aside == {name: why for name, (_, why) in aside.items()}
    said = encoder.describe()
    assert said.startswith(
        "4 numbers: age, income (logged), orders (logged), weight; 1 category: region; 1 category of two: "
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


def test_values_of_the_kinds():
    when = pd.to_datetime(spread("1970-01-02 1970-01-11"))
    frame = pd.DataFrame({"plan": spread("free pro pro"), "when": when, "x": range(N), "go": spread("no yes")})
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

    heavy = np.exp(rng.normal(0, 1.5, 500))
    few = (np.arange(500) > 490).astype(float)
    for values, kind in (
        (heavy, "log"),
        (np.where(np.arange(500) < 5, 0, heavy), "log1p"),
        (heavy - 1, "number"),  # negative numbers have no logarithm
        (rng.normal(50, 5, 500), "number"),
        (few, "number"),
    ):
        assert read(pd.DataFrame({**base, "x": values})).encoder.columns[1].kind == kind


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
        ("-$5 €7", [-5, np.nan]),
        ("5 kg|7,5 kg|8", [5, 7.5, 8]),
        ("5 kg|7 kg|7 cm", [5, 7, np.nan]),
        ("50 %|1|2|$3", [np.nan, 1, 2, np.nan]),
        ("1 234,5|12 34", [1234.5, np.nan]),
        ("970 Evo|980 Pro|1960 Jan", [np.nan] * 3),
        ("--5 -+5 +-5 -5", [np.nan] * 3 + [-5]),
        ("2,5 0.100 0.101 0.102", [np.nan, 0.1, 0.101, 0.102]),
        ("1.234 2,5", [1234, 2.5]),
        ("1e3 -2E-1", [1000, -0.2]),
        ("12a x7 5-6 .", [np.nan] * 4),
        ("3.4.2024 12.3.2023", [np.nan] * 2),
        ("5kg", [np.nan]),
    ],
)
def test_written_numbers(words, numbers):
    np.testing.assert_array_equal(written_numbers(words.split("|") if "|" in words else words.split())[0], numbers)


@pytest.mark.parametrize(
    ("words", "dates"),
    [
        (["3.4.2024", "13.4.24"], ["2024-04-03", "2024-04-13"]),
        (["3/4/2024", "3/14/2024"], ["2024-03-04", "2024-03-14"]),
        (["3/4/2024", "14/3/2024"], ["2024-04-03", "2024-03-14"]),
        (["1960 Jan", "1960 Mär", "1960 Q4", "1960 Evo"], ["1960-01-01", "1960-03-01", "1960-10-01", "NaT"]),
        (["2024-2-3", "2024/02/30", "2024-02"], ["2024-02-03", "NaT", "2024-02-01"]),
        (["Mar 5, 2024", "5 March 2024", "5. Mai 2024"], ["2024-03-05", "2024-03-05", "2024-05-05"]),
        (["2024-01-02T03:04:05Z", "1/2/2024 3:04 PM"], ["2024-01-02T03:04:05", "2024-01-02T15:04:00"]),
        (["2024-01-02T03:04:05+02:00", "2024-01-02 03:04 -0530"], ["2024-01-02T01:04:05", "2024-01-02T08:34:00"]),
        (["2024-01-01T00:00:00.5+01:00", "2024-01-02T03:04+24:00"], ["2023-12-31T23:00:00", "NaT"]),
        (["soon", "2024", "99.99.2024", "xyz 5, 2024"], ["NaT"] * 4),
    ],
)
def test_written_dates(words, dates):
    np.testing.assert_array_equal(written_dates(words)[0], np.array(dates, "datetime64[s]"))


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
    again = read(frame.iloc[::-1, ::-1], encoder=table.encoder)
    np.testing.assert_allclose(again.values, turned.values)


def test_clusterings_are_made_on_several_fillings_and_remade_alone(tmp_path):
    frame, _ = customers(120, missing=0.1)
    ens = cs.generate(frame, 30, (3, 5), methods="zipf+pca+objects")
    assert ens.info["filling"].nunique() > 4
    for i in (0, 1, 2):
        np.testing.assert_array_equal(Variations(frame).remake(ens.info.loc[i]), ens.labels[:, i])
    cs.generate(frame, 10, (3, 5), methods="zipf+pca+objects", store=tmp_path / "run")
    assert "filled from similar rows" in (tmp_path / "run" / "manifest.json").read_text()
    again = cs.generate(frame, 30, (3, 5), methods="zipf+pca+objects", store=tmp_path / "run")
    np.testing.assert_array_equal(again.labels, ens.labels)
    assert "filling" not in cs.generate(customers(120, missing=0)[0], 5, 3).info
    more = cs.generate(frame, 3, around=ens.info.loc[0])
    assert set(more.info["filling"]) == {ens.info["filling"][0]}


WRITTEN = pd.DataFrame(
    {
        "when": [f"{1 + i % 28:02d}/{1 + i % 12:02d}/2024" for i in range(N)],
        "price": [f"{i},{i}00" if i % 2 else f"1.{200 + i},5" for i in range(N)],
        "weight": [f"{i},125 kg" if i else "0,5 kg" for i in range(N)],
        "us": [f"{i},125 $" if i % 9 else f"1,{200 + i}.5 $" for i in range(N)],
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
    assert table.original.loc[9, ["price", "weight", "us"]].tolist() == [9.9, 9.125, 1209.5]
    for i in range(N):
        row = read_table(source(WRITTEN[i : i + 1], "one.csv"), kind="data", encoder=table.encoder)
        assert row.original.loc[0].tolist() == table.original.loc[i].tolist()
        np.testing.assert_allclose(row.values[0], table.values[i])
    strange = WRITTEN[:3].assign(when="01/15/2024", weight=["5 lb", "5 kg", "5"])
    read_strange = read_table(source(strange, "strange.csv"), kind="data", encoder=table.encoder).original
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
    assert "1 cell of 'city' is a category not seen before, such as 'z', and counts as 'other'" in said, "c3 was rare"
    assert "city" not in " ".join(read_table(frame, kind="data", encoder=encoder).notices)
    assert table.gaps.n_cells == 2
    said = "the new table lacks columns 'age', 'plan' that the model was fitted on"
    refuses(said, read, new.drop(columns=["age", "plan"]), encoder=encoder)
    refuses("leave types=", read_table, new, kind="data", encoder=encoder, types={"age": "number"})


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


@pytest.mark.slow
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
            np.testing.assert_allclose(read_table(frame, kind="data", encoder=table.encoder).values, table.values)
    assert read_ones > 100
    assert all("no column is left to cluster by" in said for said in refusals)


def test_types_are_taken_as_said():
    zips, days = [int(word) for word in spread("1011 1012 1013")], [20200101 + i % 9 for i in range(N)]
    frame = pd.DataFrame({"zip": zips, "code": range(N), "when": days, "x": np.linspace(1, 9, N), "id2": range(N)})
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
        refuses(sentence, read, frame, types=types)
    refuses("this is read as labels", read_table, frame, kind="labels", types={"zip": "category"})


def test_a_column_named_as_a_class_is_noticed():
    table = read(pd.DataFrame({"x": np.linspace(0, 9, N), "species": spread("a b c")}))
    assert "if it is a class that is known, say known='species' (--known species)" in " ".join(table.notices)


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
    counts = words.copy()
    counts[0, 0] = 3
    assert read(counts).is_counts
    others = [words, counts + 1, np.where(counts == 3, -3, counts), np.where(counts == 3, 2.5, counts), counts[:, :90]]
    assert not any(read(other).is_counts for other in others)  # 0 and 1 only, no zeros, below 0, fractions, narrow
    assert read(counts[:, :90], types="counts").is_counts
    labeler = cs.EnsembleClusterer(3, n_clusterings=5, methods="minima", random_state=0)
    counts = block_counts(120, 300, 3, 30)[0]
    fitted = labeler.fit(counts[:80])
    assert (fitted.predict(counts[:80]) == fitted.labels_).mean() > 0.95


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


def test_a_category_called_other_is_not_the_pool():
    group = np.repeat([0, 1], 100)
    words = ["other", "b"] * 50 + [f"rare{i // 2}" for i in range(60)] + ["b"] * 40
    table = read(pd.DataFrame({"w": words, "x": np.arange(200.0) % 9}))
    assert table.columns == ["w=b", "w=other", "w=other (pooled)", "x"]
    found = distinguishing_features(table, group, top=1)
    assert found["words"].tolist() == ["w: 0 % other (pooled) against 60 %", "w: 60 % other (pooled) against 0 %"]
    rare = [f"rare{i // 2}" for i in range(10)]
    words = ["other"] * 90 + rare + ["b", "b", "c"] * 30 + rare
    found = distinguishing_features(pd.DataFrame({"w": words, "x": np.arange(200.0) % 9}), group, top=1)
    assert found["words"].tolist() == ["w: 90 % other against 0 %", "w: 0 % other against 90 %"]
    new = read(pd.DataFrame({"w": ["other", "gold"], "x": 1.0}), encoder=table.encoder)
    assert new.values[:, 1:3].tolist() == [[1, 0], [0, 1]]
    assert "such as 'gold', and counts as 'other (pooled)'" in new.notices[-1]


def test_types_on_the_command_line(tmp_path):
    frame, _ = customers(100, missing=0.05)
    frame.to_csv(tmp_path / "c.csv", index=False)
    types = ["--type", "age=category,note=ignore", "--type", "signup=ignore"]
    done = ran("generate", tmp_path / "c.csv", "-o", tmp_path / "run", "-n", 4, "-k", 3, *types)
    assert "signup (asked for)" in done.stdout
    assert "note (asked for)" in done.stdout
    asked = {"types": {"age": "category", "note": "ignore", "signup": "ignore"}, "columns": [], "id_column": None}
    opened = open_clusterings(tmp_path / "run", data=tmp_path / "c.csv", **asked)
    assert not opened.other_data
    assert open_clusterings(tmp_path / "run", data=tmp_path / "c.csv", columns=[], id_column=None).other_data


@pytest.mark.parametrize("missing", [0.05, 0.2])
def test_planted_segments_are_found(missing):
    frame, segment = customers(400, missing=missing, random_state=1)
    answer = cs.combine(cs.generate(frame, 60, (4, 8)), 4)
    assert adjusted_rand(answer.labels, segment) >= 0.9
    by_recipe = cs.generate(frame, 30, (4, 8), methods="auto")
    assert set(by_recipe.info["method"]) == {"zipf", "pca", "minima"}
    assert adjusted_rand(cs.combine(by_recipe, 4).labels, segment) >= 0.9


def test_words_among_numbers_and_dates_are_missing_where_they_mean_so_or_are_rare():
    def found(cells):
        frame = pd.DataFrame({"bad": cells, "x": np.arange(len(cells)) % 7.0, "g": spread("a b", len(cells))})
        encoder = read(frame).encoder
        return encoder.aside.get("bad") or encoder.types["bad"], encoder.n_missing

    numbers, dates = [*map(str, range(97))], [f"2024-01-{1 + i % 28:02d}" for i in range(97)]
    for word in ("unknown", "n/a", "-", "k.A."):
        assert found([*numbers, *[word] * 30, None]) == ("number", 31)
    assert found([*numbers, "oops"]) == ("number", 1)
    assert found([*numbers[:90], *["oops"] * 10]) == ("free text, 91 different", 0)
    assert found([*dates, "2024-02-31"]) == ("date", 1)
    assert found([1, 2, "two", "three"] * 10) == ("category", 0)
    assert found([[1, 2], {"a": 3}] * 20) == ("category", 0)
    assert found(["None", "Penicillin", "x"] * 20) == ("category", 0), "no plan is an answer"
    assert found(["yes", "no", "unknown", "?"] * 10) == ("boolean", 20)
    assert found([None] * 30)[0] == found([""] * 30)[0] == "empty"
    assert found(["same"] * 20 + [None] * 10)[0] == "constant"
    assert "hardly one of them common" in found([f"w{i % 7000}" for i in range(20_000)])[0]


def test_a_number_that_often_means_missing_is_doubted():
    frame = pd.DataFrame({"x": [*range(-9, 31), *[-999] * 6], "y": np.linspace(0, 1, 46)})
    for more in ({}, {"plan": spread("a b", 46)}):
        assert any("'x': -999 (6 cells)" in said for said in read(frame.assign(**more)).notices)
        assert not any("-999" in said for said in read(frame.assign(**more), missing="-999").notices)
    assert not any("-9" in said for said in read(frame.replace(-999, -998)).notices)


def test_a_model_of_an_older_version_opens():
    """With words for unknown and separators of choices in its columns, which are no longer used."""
    frame, _ = customers(60, missing=0.05, random_state=1)
    frame["age_group"] = spread("under_25 25-34 65+", 60)
    frame["age_group"] = frame["age_group"].str.replace("_", " ")
    frame["often"] = np.array(["never", "rarely", "always"])[np.arange(60) // 20]
    model = cs.EnsembleClusterer.load(Path(__file__).parent / "golden" / "model_mixed")
    assert model.encoder_.types["often"] == "ordered"
    assert (model.assign(frame).labels == model.labels_).mean() > 0.95
    refuses("fitted on series", Encoder._upgrade, {**vars(model.encoder_), "shapes": True}, 1)


AGES = ["under 25", "25-34", "35-49", "50+"]


def read_words(words, **options):
    words = np.resize(np.array(words, object), 60)
    return read(pd.DataFrame({"w": words, "x": np.arange(60) % 7.0, "g": spread("a b", 60)}), **options)


@pytest.mark.parametrize(
    "words",
    [
        "|".join(AGES),
        "0|1|2|3 or more",
        "4 or less hours|5 hours|6 hours|7 or more hours",
        "< $10k|$10k - $25k|$25k - $100k|$100k+",
        "less than 1,000|1,000 to 4,999|5,000 to 9,999|10,000 and more",
        "0.125-0.250|0.250-0.500|0.500-1.000|1.000-2.500",
        "<40|40-59|60|>60",
    ],
)
def test_words_that_tell_their_order(words):
    words = words.split("|")
    for way in (words, words[::-1], [*words, "unknown", None]):
        assert read_words(way).encoder.columns[0].levels == tuple(words)


NO_ORDER = ["red|green|blue", "01 North|02 South|03 West", "low|medium|high", "2-1|1-3|0-0", "10-20|15-25|20-30"]
NO_ORDER += ["north|south|low", "I|II|III|IV", "never|sometimes|often", "-|+|++"]


@pytest.mark.parametrize("words", NO_ORDER)
def test_words_that_do_not(words):
    assert read_words(words.split("|")).encoder.types["w"] == "category"


def test_an_order_that_is_given_and_one_of_pandas():
    steps = np.resize([0.0, 2, 1], 60)
    given = {"list": ["low", "mid", "top"], "text": "low<mid<top"}
    tables = [read_words(["low", "top", "mid"], types={"w": order}) for order in given.values()]
    words = pd.Categorical(np.resize(["low", "top", "mid"], 60), ["low", "mid", "top"], ordered=True)
    tables.append(read_table(pd.DataFrame({"w": words, "x": np.arange(60) % 7.0}), kind="data"))
    for table in tables:
        np.testing.assert_array_equal(table.values[:, 0], steps)
        assert "1 ordered category: w (low to top)" in table.notices[-1]
    assert read_words(["low", "unknown", "top"], types={"w": "low<mid<top"}).gaps.n_cells == 20
    said = "row 2, column 'w': 'huge' is not in the order that was given"
    refuses(said, read_words, ["low", "huge"], types={"w": "low<mid<top"})
    refuses("the order of its words", read_words, ["red", "green", "blue"], types={"w": "ordered"})
    refuses("two levels or more", read_words, ["low"], types={"w": ["low", "low"]})


def test_new_rows_and_what_is_said_of_them():
    table = read_words(AGES)
    new = pd.DataFrame({"w": ["25 to 34", "UNDER 25", "unknown", "often"], "x": 1.0, "g": "a"})
    again = read_table(new, kind="data", encoder=table.encoder)
    assert again.values[:2, 0].tolist() == [1, 0]
    assert again.gaps.n_cells == 2
    assert "1 cell of 'w' is a level not seen before, such as 'often', and counts as missing" in again.notices[-1]
    group = (np.arange(60) % 4 > 1).astype(np.int32)
    found = distinguishing_features(table, group, top=1)["words"].tolist()
    assert found == ["w: 100 % 25-34 or lower against 0 %", "w: 100 % 35-49 or higher against 0 %"]
    assert Spreads(table, group).of(0, 0)["levels"] == AGES
