"""Columns as people have them: what they are taken for, that what is set aside has no say, and that one sentence refuses the rest."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.datasets import planted as customers
from consilience.measures import adjusted_rand
from consilience.tables import Encoder, read_table

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


@pytest.mark.parametrize("word", ["unknown", "n/a", "-", "k.A.", "refused"])
def test_numbers_among_words_for_unknown(word):
    rng = np.random.default_rng(0)
    lost = rng.random(N) < 0.25
    table = read(
        numbers().assign(age=np.where(lost, word, rng.integers(20, 80, N).astype(str)), plan=["x", "y", "z"] * (N // 3))
    )
    column = next(one for one in table.encoder.columns if one.name == "age")
    assert column.kind == "number"
    assert table.encoder.n_missing == lost.sum()
    assert (
        word in ("-", "n/a")
        or f"age: {lost.sum()} cells that are no numbers, such as {word!r}, count as missing" in table.notices[-1]
    )


def test_words_with_some_numbers_among_them_stay_words():
    rng = np.random.default_rng(0)
    mostly = read(numbers().assign(size=np.where(rng.random(N) < 0.45, "7", rng.choice(["small", "large"], N))))
    half = read(numbers().assign(code=rng.choice(["7", "8", "a", "b", "c", "d", "e", "f"], N)))
    assert mostly.encoder.types["size"] == half.encoder.types["code"] == "category"


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


def test_postal_codes_are_no_numbers(tmp_path):
    codes = np.array([1234, 80331, 50100])[groups()]
    for table in (from_csv(tmp_path, numbers().assign(plz=codes)), read(numbers().assign(plz=codes.astype(float)))):
        assert table.encoder.types["plz"] == "category"
        assert "plz: a category, since its name is that of postal codes" in table.notices[-1]
        assert set(table.columns[3:]) == {"plz=1234", "plz=80331", "plz=50100"}
    assert read(numbers().assign(plz=codes), types={"plz": "number"}).encoder.types["plz"] == "number"
    assert read(numbers().assign(zipped=codes)).encoder is None


def test_ids_with_a_slip_are_set_aside_and_the_row_is_said(tmp_path):
    slip = 1000 + np.arange(N)
    slip[7] = 1006
    for name in ("Kundennr", "customer_id", "order_no"):
        table = from_csv(tmp_path, numbers().assign(**{name: slip}))
        assert table.columns == ["a", "b", "c"]
        assert f"set aside {name} (looks like ids, but row 8 (line 9) repeats '1006')" in table.notices[-1]
        assert read(numbers().assign(**{name: slip})).aside == {name: "looks like ids, but row 8 repeats 1006"}
    assert read(numbers().assign(customer_id=slip), columns=["a", "customer_id"]).columns == ["a", "customer_id"]
    words = numbers().assign(customer_id=[f"K{x}" for x in slip])
    assert read(words).aside == {"customer_id": "looks like ids, but row 8 repeats 'K1006'"}
    plain = numbers().assign(shop_id=groups())
    assert "shop_id" in read(plain).columns
    mixed = numbers().assign(kunde=slip, plan=["x", "y", "z"] * (N // 3))  # by its numbers alone
    assert read(mixed).aside == {"kunde": "looks like ids, but row 8 repeats 1006"}


def test_words_for_missing_are_no_category():
    plan = np.array(["free", "pro", "team"], object)[groups()]
    paid = np.array(["TRUE", "FALSE", "TRUE"], object)[groups()]
    plan[:4], paid[:2], paid[2] = "k.A.", "n/a", "unknown"
    table = read(numbers().assign(plan=plan, paid=paid))
    assert table.encoder.types["paid"] == "boolean"
    assert table.original[["plan", "paid"]].isna().sum().tolist() == [4, 3]
    assert "plan: 4 cells such as 'k.A.' count as missing" in table.notices[-1]
    assert "paid: 1 cell such as 'unknown' counts as missing" in table.notices[-1]
    new = read(numbers().assign(plan="n/a", paid="TRUE"), encoder=table.encoder)
    assert new.gaps.n_cells == N
    asked = read(numbers().assign(plan=plan), types={"plan": "category"})
    assert "plan=k.A." in asked.columns


def test_units(tmp_path):
    rng = np.random.default_rng(0)
    money = rng.integers(1000, 9000, N)
    one = from_csv(
        tmp_path,
        numbers().assign(pay=[f"€ {x // 1000}.{x % 1000:03d},50" for x in money], share=[f"{x % 97} %" for x in money]),
    )
    np.testing.assert_allclose(one.original["pay"], money + 0.5)
    np.testing.assert_allclose(one.original["share"], money % 97)
    assert [column.unit for column in one.encoder.columns if column.unit] == ["€", "%"]
    mixed = [f"${x}" if i % 2 else f"€{x}" for i, x in enumerate(money)]
    table = from_csv(tmp_path, numbers().assign(pay=mixed, b="7 kg"))
    assert table.aside == {"pay": "mixed units, € and $", "b": "constant"}
    with pytest.raises(InputError, match=r"has mixed units, € and [$]: bring them to one unit"):
        from_csv(tmp_path, numbers().assign(pay=mixed), types={"pay": "number"})
    few = [f"{x} EUR" if i else f"${x}" for i, x in enumerate(money)]
    table = from_csv(tmp_path, numbers().assign(pay=few))
    assert table.encoder.n_missing == 1
    assert "such as '$" in table.notices[-1]
    rooms = from_csv(tmp_path, numbers().assign(size=["1 room", "2 rooms", "3 rooms"] * (N // 3)))
    assert rooms.encoder.types["size"] == "number"


REFUSED = {
    "one row": (pd.DataFrame({"a": [1.0], "b": [2.0]}), "has one row [(]1 sample[)]: give at least 2"),
    "one array": (np.ones((1, 3)), "has one row [(]1 sample[)]: give at least 2"),
    "no rows": (pd.DataFrame({"a": [], "b": []}), "has no rows"),
    "no rows in an array": (np.ones((0, 3)), "has no rows"),
    "no columns": (pd.DataFrame(index=range(5)), "has no columns"),
    "nothing": (pd.DataFrame(), "has no (columns|rows)"),
    "no columns in an array": (np.ones((3, 0)), "has no columns"),
    "alike": (
        pd.DataFrame({"a": [1.0] * 30, "b": [2.0] * 30}),
        "all 2 columns of the table are constant: there is nothing to cluster",
    ),
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
    with pytest.raises(InputError, match="asks for 5 clusters, and only 3 rows differ: ask for at most 3"):
        cs.EnsembleClusterer(5, n_clusterings=3).fit(few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cs.generate(few, 3, 5, progress=False).n_clusters.max() <= 3
        assert cs.EnsembleClusterer(n_clusterings=3).fit(few).n_clusters_ <= 3


def test_text_in_an_array_is_read_as_in_a_frame():
    cells = np.array([["red", "1"], ["blue", "2"], ["red", "4"]] * 8)
    model = cs.EnsembleClusterer(2, n_clusterings=3, random_state=0).fit(cells)
    np.testing.assert_array_equal(
        model.labels_, cs.EnsembleClusterer(2, n_clusterings=3, random_state=0).fit(cells.tolist()).labels_
    )
    assert model.encoder_.types == {"0": "category", "1": "number"}


def test_an_encoder_is_said_in_a_line():
    encoder = read(numbers().assign(plan=["x", "y", "z"] * (N // 3))).encoder
    assert repr(encoder) == "Encoder: 3 numbers: a, b, c; 1 category: plan"
    assert Encoder.from_json(encoder.to_json()).describe() == encoder.describe()


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


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Alter", ""),
        ("agee", "did you mean 'age'?"),
        ("INCOME", "did you mean 'income'?"),
        ("ids", ""),
        ("ag", "did you mean 'age'?"),
    ],
)
def test_a_name_that_is_misspelt_gets_a_hint_that_makes_sense(name, hint):
    frame = numbers().assign(age=1.5, income=2.0, salary=3.0, filter=1.0, is_done=True, annual_gain=1.0)
    with pytest.raises(InputError, match=r"no column .* for columns") as refused:
        read(frame, columns=[name])
    assert ("did you mean" in str(refused.value)) == bool(hint)
    assert hint in str(refused.value)


def test_three_segments_are_not_called_two_where_three_are_as_stable():
    frame, segments = customers(120, n_segments=3, random_state=0)
    model = cs.EnsembleClusterer(n_clusterings=60, random_state=0).fit(frame)
    assert adjusted_rand(model.labels_, segments) == 1
    curve = model.consensus_.curve.set_index("n_clusters")["stability"]
    assert curve[2] > curve[3] > curve[2] - 0.02  # which is why only two were looked at once
    assert model.scales_["n_clusters"].tolist()[:2] == [3, 2]


def test_comments_above_a_table_are_left_out_and_lines_keep_their_numbers(tmp_path):
    file = tmp_path / "log.tsv"
    file.write_text("# logger 7\n# 2024\ntime\tflow\n1\t2.5\n2\t3.5\n")
    table = read_table(file, kind="data")
    assert table.columns == ["time", "flow"]
    assert table.values.tolist() == [[1, 2.5], [2, 3.5]]
    assert any("2 lines that begin with # left out" in notice for notice in table.notices)
    file.write_text("# logger 7\ntime\tflow\n1\t2.5\n2\n")
    with pytest.raises(InputError, match=r"row 2 \(line 4\): has 1 cell where"):
        read_table(file, kind="data")
    file.write_text("#chrom\tstart\n1\t2.5\n2\t4\n")
    assert read_table(file, kind="data").columns == ["chrom", "start"]


NAMED = {  # text, and the names of its columns
    "text labels": ("#sample,run1,run2\ns1,T,B\ns2,T,B\ns3,U,C\n", ["sample", "run1", "run2"]),
    "text labels, spaced": ("# sample,run1,run2\ns1,T,B\ns2,T,B\ns3,U,C\n", ["sample", "run1", "run2"]),
    "decimal commas": ("#id;x;y\na;2,5;5,1\nb;3,5;6,1\n", ["id", "x", "y"]),
    "quotes": ('#"id","x, y","z"\n"a","2","5"\n"b","3","4"\n', ["id", "x, y", "z"]),
    "one column": ("# made by hand\n#x\n4\n5\n7\n", ["x"]),
    "one column of words": ("#kind\na\nb\na\n", ["kind"]),
    "a number sign": ("#,name,x\n1,a,5\n1,b,6\n", ["#", "name", "x"]),
    "a comment of as many cells": ("#version,2\nname,x\na,1\nb,NA\n", ["name", "x"]),
    "a sentence of as many cells": ("# made by us, 2024\nname,kind\na,u\nb,u\n", ["name", "kind"]),
    "blank lines": ("# made by hand\n\n#\n\nname,x\na,1\nb,2\n", ["name", "x"]),
    "only such lines": ("# colors\n#code,x\n#ff0000,12\n#00ff00,13\n", ["#code", "x"]),
}


@pytest.mark.parametrize("name", NAMED)
def test_the_last_comment_may_name_the_columns(name, tmp_path):
    from consilience.tables.files import open_sheet
    from consilience.tables.sheet import Options

    text, names = NAMED[name]
    (tmp_path / "t.csv").write_text(text)
    sheet = open_sheet(tmp_path / "t.csv", Options("data", None, None, None, None, None))
    assert sheet.names == names
    data = [line for line in text.splitlines() if line]
    above = next(i for i, line in enumerate(data) if names[-1] in line) + 1  # also of the names
    assert sheet.n_rows == len(data) - above
    assert text.splitlines()[sheet.line(0) - 1] == data[above]


def test_without_a_header_only_sentences_are_comments(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("# a, 1\n3,4\n5,6\n9,1\n")
    table = read(file, header=False)
    assert table.values.tolist() == [[3, 4], [5, 6], [9, 1]]
    assert any("1 line that begins with # left out" in notice for notice in table.notices)
    file.write_text("#a,12,3\nb,1,4\n")
    assert read(file, header=False, id_column=0).ids.tolist() == ["#a", "b"]
    file.write_text("#ff0000,12,3\n#00ff00,13,4\n")
    assert read(file, header=False, id_column=0).ids.tolist() == ["#ff0000", "#00ff00"]


@pytest.mark.parametrize("header", [None, True, False])
def test_comments_alone_are_no_table(header, tmp_path):
    (tmp_path / "t.csv").write_text("# a\n# b\n")
    with pytest.raises(InputError, match="all its lines begin with # and are comments"):
        read(tmp_path / "t.csv", header=header)
    (tmp_path / "t.csv").write_text("# a b\n# c d\n1,2\n3,4\n")
    if header is None:
        with pytest.raises(InputError, match="line 3: holds only numbers"):
            read(tmp_path / "t.csv")


def test_names_of_many_columns_are_looked_through_once():
    from consilience.tables.sheet import Sheet

    names = [f"gene {i}" for i in range(40_000)]
    sheet = Sheet("genes.csv", np.ones((1, len(names) + 3)), [*names, "a", "a (2)", "a"])
    begin = time.process_time()
    assert sheet.with_own_names().names[-3:] == ["a", "a (2)", "a (3)"]
    assert time.process_time() - begin < 2  # a minute where every name is looked for among all


def test_answers_that_were_not_given_are_missing():
    words = ["often", "never", "Prefer not to say", "often"] * 10
    table = read_table(pd.DataFrame({"answer": words, "age": range(40)}), kind="data")
    assert not any("refer" in name for name in table.columns)
    assert any("count as missing" in notice for notice in table.notices)


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
    assert "shops.csv: 2 columns without a name or any cell left out" in table.notices
    assert read_table(new, kind="data", encoder=table.encoder).values.tolist() == [table.values[3].tolist()]
    file.write_text("1,1,2\n3,4,5\n")
    with pytest.raises(InputError, match=r"'1' stands over two columns.*--no-header"):
        read_table(file, kind="data", header=True)
