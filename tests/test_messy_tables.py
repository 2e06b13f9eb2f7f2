"""Columns as people have them: what they are taken for, that what is set aside has no say, and that one sentence refuses the rest."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.measures import adjusted_rand
from consilience.tables import check_matrix, read_table
from consilience.tables.file_formats import open_raw
from consilience.tables.raw_table import Options
from samples import refuses

N = 120


def groups(seed=0):
    return np.random.default_rng(seed).integers(0, 3, N)


def numbers(seed=0):
    rng, group = np.random.default_rng(seed), groups(seed)
    return pd.DataFrame({"a": rng.normal(5 * group), "b": rng.normal(-3 * group), "c": rng.normal(size=N)})


def read(frame, **options):
    return read_table(frame, kind="data", **options)


def from_csv(tmp_path, frame, **options):
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";")
    return read(tmp_path / "t.csv", **options)


def wide(rng):
    table = pd.DataFrame(rng.normal(size=(N, 99))).add_prefix("w")  # with one more column it would be a wide table
    table.iloc[:60, :9] += 3
    return table


def words(rng):
    table = pd.DataFrame(rng.poisson(0.04, (N, 120))).add_prefix("w")
    table.iloc[:60, :10] += rng.poisson(1, (60, 10))
    return table


TABLES = {
    "numbers": lambda rng: numbers(),
    "truths": lambda rng: numbers().assign(old=groups() > 1, new=rng.random(N) > 0.5),
    "a count of the rows": lambda rng: numbers().assign(row=np.arange(N)[::-1]),
    "gaps": lambda rng: numbers().mask(rng.random((N, 3)) < 0.05),
    "wide": wide,
    "counts": words,
}
ASIDE = {
    "constant": 7,
    "country": "NL",
    "note": [f"what {i} said of it" for i in range(N)],
    "client": [f"K-{i:03d}" for i in range(N)],
    "empty": None,
}


@pytest.mark.parametrize("name", TABLES)
def test_what_is_set_aside_has_no_say(name):
    frame = TABLES[name](np.random.default_rng(1))
    made = [cs.EnsembleClusterer(3, n_clusterings=4, methods="minima", random_state=0).fit(frame)]
    for extra, cells in ASIDE.items():
        more = frame.copy()
        more.insert(0 if extra == "country" else more.shape[1], extra, cells)
        made.append(cs.EnsembleClusterer(3, n_clusterings=4, methods="minima", random_state=0).fit(more))
        np.testing.assert_array_equal(made[-1].ensemble_.labels, made[0].ensemble_.labels, extra)
        np.testing.assert_array_equal(made[-1].labels_, made[0].labels_, extra)


def test_what_is_set_aside_is_said_and_kept(tmp_path):
    table = read(numbers().assign(country="NL"))
    assert table.encoder is None
    assert table.columns == ["a", "b", "c"]
    assert table.aside == {"country": "constant"}
    assert table.notices == ("DataFrame: 3 numbers: a, b, c; set aside country (constant)",)
    model = cs.EnsembleClusterer(3, n_clusterings=3).fit(numbers().assign(country="NL"))
    assert "3 numbers: a, b, c; set aside country (constant)" in model.note_
    cs.generate(table, 3, 3, store=tmp_path / "run", progress=False)
    assert "set aside country" in (tmp_path / "run" / "manifest.json").read_text()


def test_one_column_of_short_text_that_all_differs_names_the_objects():
    client, note = [f"K-{i:03d}" for i in range(N)], [f"what {i} said of it" for i in range(N)]
    table = read(numbers().assign(client=client, note=note))
    assert table.id_name == "client"
    assert table.ids.tolist() == client
    assert table.aside == {"client": "names the objects", "note": "id-like, all different"}
    assert read(numbers().assign(client=client, other=client)).ids is None
    assert read(numbers().assign(id=range(N), client=client)).id_name == "id"
    assert read(numbers().assign(client=client), columns=["-client"]).ids is None


def test_codes_with_leading_zeros_are_no_numbers(tmp_path):
    rng = np.random.default_rng(0)
    codes = np.array(["01234", "80331", "00501"])[groups()]
    table = from_csv(tmp_path, numbers().assign(zip=codes))
    assert table.encoder.types["zip"] == "category"
    assert "begin with zeros as codes do" in table.notices[-1]
    assert from_csv(tmp_path, numbers().assign(zip=codes), types={"zip": "number"}).encoder.types["zip"] == "number"
    many = from_csv(tmp_path, numbers().assign(zip=[f"{x:05d}" for x in rng.choice(20_000, N)]))
    assert many.encoder is None
    assert set(many.aside) == {"zip"}
    assert from_csv(tmp_path, numbers().assign(month=rng.integers(0, 12, N))).encoder is None  # 0, not 00
    assert read(numbers().assign(zip=codes)).encoder.types["zip"] == "category"


REFUSED = {
    "one row": (pd.DataFrame({"a": [1.0], "b": [2.0]}), "has one row [(]1 sample[)]: give at least 2"),
    "one array": (np.ones((1, 3)), "has one row [(]1 sample[)]: give at least 2"),
    "no rows": (pd.DataFrame({"a": [], "b": []}), "has no rows"),
    "no columns": (pd.DataFrame(index=range(5)), "has no columns"),
    "nothing": (pd.DataFrame(), "has no (columns|rows)"),
    "alike": (pd.DataFrame({"a": [1.0] * 30, "b": 2.0}), "all 2 columns of the table are constant: there is nothing"),
    "alike, with words": (pd.DataFrame({"a": [1.0] * 30, "b": ["x"] * 30}), "there is nothing to cluster"),
    "one dimension": (np.ones(4), "has 1 dimension"),
    "ragged": ([[1, 2], [3]], "its rows differ in length"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_clustered_is_refused_in_words_of_our_own(name):
    data, words = REFUSED[name]
    for verb in (lambda: cs.generate(data, 3, progress=False), lambda: cs.EnsembleClusterer(n_clusterings=3).fit(data)):
        with pytest.raises(InputError, match=words) as refused:
            verb()
        assert "Found array" not in str(refused.value)
        assert "Expected" not in str(refused.value)


def test_fewer_different_rows_than_clusters():
    few = pd.DataFrame({"a": [1.0, 2, 3] * 10, "b": ["x", "y", "z"] * 10})
    refuses("asks for 5 clusters, and only 3 rows differ: ask for at most 3", cs.EnsembleClusterer(5).fit, few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cs.generate(few, 3, 5, progress=False).n_clusters.max() <= 3
        assert cs.EnsembleClusterer(n_clusterings=3).fit(few).n_clusters_ <= 3


def test_text_in_an_array_is_read_as_in_a_frame():
    cells = np.array([["red", "1"], ["blue", "2"], ["red", "4"]] * 8)
    models = [cs.EnsembleClusterer(2, n_clusterings=3, random_state=0).fit(one) for one in (cells, cells.tolist())]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    assert models[0].encoder_.types == {"0": "category", "1": "number"}


def test_an_earlier_consensus_is_no_clustering_and_judges_nothing():
    """Neither of clusterings in `obs`, nor of those that an AnnData carries."""
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(numbers().to_numpy())
    for k in (2, 3, 4):
        cells.obs[f"leiden_{k}"] = pd.Categorical(np.minimum(groups(), k - 1).astype(str))
    import consilience.anndata as ca

    ca.combine(cells, keys="leiden_", n_clusters=3)
    table = read_table(cells, kind="labels")
    assert list(table.values) == ["leiden_2", "leiden_3", "leiden_4"]
    assert "left out consensus, consensus_confidence, consensus_support, which consilience wrote" in table.notices[0]
    assert list(read_table(cells, kind="labels", columns=["leiden_2", "consensus"]).values) == ["leiden_2", "consensus"]
    cells.obsm["X_pca"] = cells.X
    ca.generate(cells, 4)
    opened = cs.inputs.open_source(cells)
    assert opened.kind == "labels"
    assert "consensus" not in opened.known
    assert "leiden_3" in opened.known


def test_names_that_come_again_are_numbered_and_blank_columns_at_the_end_left_out(tmp_path):
    file, new = tmp_path / "shops.csv", tmp_path / "new.csv"
    head, rows = "id;margin;margin;open;;\n", [f"s{i};{i};{2 * i};{'yes' if i % 2 else 'no'};;\n" for i in range(9)]
    file.write_text(head + "".join(rows))
    new.write_text(head + rows[3])
    table = read_table(file, kind="data")
    assert table.columns[:2] == ["margin", "margin (2)"]
    assert len(table.columns) == 3
    assert table.values[:, :2].T.tolist() == [list(range(9)), list(range(0, 18, 2))]
    assert any("column 2 (the first is 0) is 'margin (2)'" in notice for notice in table.notices)
    assert read_table(new, kind="data", encoder=table.encoder).values.tolist() == [table.values[3].tolist()]
    file.write_text("1,1,2\n3,4,5\n")
    refuses(r"'1' stands over two columns.*--no-header", read_table, file, kind="data", header=True)


def test_units(tmp_path):
    money = np.random.default_rng(0).integers(1000, 9000, N)
    pay = [f"€ {x // 1000}.{x % 1000:03d},50" for x in money]
    one = from_csv(tmp_path, numbers().assign(pay=pay, share=[f"{x % 97} %" for x in money]))
    np.testing.assert_allclose(one.original["pay"], money + 0.5)
    np.testing.assert_allclose(one.original["share"], money % 97)
    assert [column.unit for column in one.encoder.columns if column.unit] == ["€", "%"]
    few = from_csv(tmp_path, numbers().assign(pay=[f"{x} EUR" if i else f"${x}" for i, x in enumerate(money)]))
    assert few.encoder.n_missing == 1
    both = [f"${x % 9}" if i % 2 else f"€{x % 9}" for i, x in enumerate(money)]
    assert from_csv(tmp_path, numbers().assign(pay=both)).encoder.types["pay"] == "category"


ABOVE = {  # text, the names of its columns, and the line that its first row is in
    "comments": ("# logger 7\n# 2024\n\ntime,flow\n1,2.5\n2,3.5\n", ["time", "flow"], 5),
    "names behind #": ("#chrom,start\nX,2.5\nY,4\n", ["chrom", "start"], 2),
    "names behind # and a space": ("# made by hand\n# id;x\n1;2,5\n4;3,5\n", ["id", "x"], 3),
    "a sentence of as many cells": ("# made by us, 2024\nname,kind\na,u\nb,u\n", ["name", "kind"], 3),
    "a title": ("Sales 2024\n\nstore;sales;staff\na;1;2\nb;3;4\n", ["store", "sales", "staff"], 4),
    "a title of a workbook": ("Sales 2024,,\n,,\nstore,sales,staff\na,1,2\nb,3,4\n", ["store", "sales", "staff"], 4),
    "a name of two lines": ('"a\nfirst",b,c\n1,2,3\n4,5,6\n', ["a\nfirst", "b", "c"], 3),
    "years": (",1940,1945\na,1,2\nb,3,4\n", ["", "1940", "1945"], 2),
}


@pytest.mark.parametrize("name", ABOVE)
def test_lines_above_the_names_are_left_out_and_lines_keep_their_numbers(name, tmp_path):
    text, names, line = ABOVE[name]
    (tmp_path / "t.csv").write_text(text)
    sheet = open_raw(tmp_path / "t.csv", Options("data"))
    assert sheet.names == names
    assert (sheet.n_rows, sheet.line(0)) == (2, line)


def test_a_last_row_of_totals_is_noticed(tmp_path):
    frame = pd.DataFrame({"shop": [f"s{i}" for i in range(9)] + ["Total"], "sales": [*range(9), 36]})
    assert any("'Total'" in said for said in from_csv(tmp_path, frame, id_column="shop").notices)


def test_a_decimal_comma_does_not_multiply_a_column(tmp_path):
    cells = ["2,5", *(f"0.{100 + i}" for i in range(40))]
    table = from_csv(tmp_path, pd.DataFrame({"price": cells, "b": [f"{i % 7}.25" for i in range(41)]}))
    assert table.original["price"][1] == 0.1
    assert table.original["price"].isna().sum() == 1
    grouped = ["2,5", *(f"1.{100 + i}" for i in range(40))]  # thousands, unless another column has decimal points
    told = from_csv(tmp_path, pd.DataFrame({"price": grouped, "b": [f"{i % 7}.25" for i in range(41)]}))
    alone = from_csv(tmp_path, pd.DataFrame({"price": grouped, "b": range(41)}))
    assert (told.original["price"][1], alone.original["price"][1]) == (1.1, 1100)
    assert ["by 1 cell such as 2,5" in " ".join(one.notices) for one in (told, alone)] == [False, True]


def test_masked_cells_are_missing_or_refused():
    values = numbers().to_numpy()
    mask = np.zeros(values.shape, bool)
    mask[::7, 0] = True
    masked = np.ma.masked_array(np.where(mask, 999.0, values), mask)
    model = cs.EnsembleClusterer(3, n_clusterings=5, random_state=0)
    gaps = model.fit(masked.filled(np.nan)).labels_
    np.testing.assert_array_equal(model.fit(masked).labels_, gaps)
    np.testing.assert_array_equal(model.predict(masked[:9]), model.predict(masked.filled(np.nan)[:9]))
    for options in ({}, {"estimator": model}):
        refuses("row 1, column 0", check_matrix, masked, **options)
    weights = np.ma.array([1, 2], mask=[0, 1])
    refuses("weights", cs.consensus.MajorityVote(2).fit, np.array([[0, 1], [1, 1]]), sample_weight=weights)


@pytest.mark.parametrize("numbers_", [np.array([[2**63], [2**63 + 300]], np.uint64), np.array([[2**53 + 1], [3]])])
def test_whole_numbers_that_lose_digits_are_refused(numbers_):
    for read_it in (check_matrix, lambda X: cs.EnsembleClusterer(2, n_clusterings=3).fit(X), read):
        refuses("beyond 2⁵³", read_it, numbers_)
    gapped = pd.DataFrame(
        {"x": pd.array([*numbers_[:, 0].tolist(), None], "UInt64" if numbers_.dtype == np.uint64 else "Int64")}
    )
    refuses("beyond 2⁵³", read, gapped)


def test_denormal_numbers_are_scaled_as_others_are():
    values = numbers().to_numpy()
    for factor in (1e-310, 1e300):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = cs.EnsembleClusterer(3, n_clusterings=5, random_state=0).fit(values * factor)
        assert adjusted_rand(made.labels_, groups()) > 0.5


def test_the_work_on_a_wide_text_table_grows_with_its_columns_and_not_their_square(tmp_path):
    def steps(width):
        rows = [",".join(f"c{i}" for i in range(width)), *[",".join(["12.5"] * width)] * 3]
        (tmp_path / "w.csv").write_text("\n".join(rows))
        read_table(tmp_path / "w.csv", kind="counts")  # imports and caches
        events = []
        sys.setprofile(lambda frame, event, _: events.append(event) if event in ("call", "c_call") else None)
        try:
            read_table(tmp_path / "w.csv", kind="counts")
        finally:
            sys.setprofile(None)
        return len(events)

    assert steps(400) < 12 * steps(40)
