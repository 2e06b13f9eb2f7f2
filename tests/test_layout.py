"""Rows of files that are no objects: titles, names in two rows, units, totals."""

import numpy as np
import pandas as pd
import pytest

from consilience.tables import read_table

N = 30
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(N, 4)).round(3)


def read(folder, lines, name="t.csv", **options):
    (folder / name).write_text("\n".join(lines) + "\n")
    return read_table(folder / name, kind="data", **options)


def rows(sep=","):
    return [sep.join(map(str, row)) for row in NUMBERS]


@pytest.mark.parametrize(
    ("above", "n"),
    [(["Sales 2024"], 1), (["Sales 2024,,,", ",,,"], 2), (['"Sales, and ""more"""', "", "all shops"], 3)],
)
def test_a_title_is_left_out(tmp_path, above, n):
    table = read(tmp_path, [*above, "a,b,c,d", *rows()])
    assert table.columns == list("abcd")
    np.testing.assert_allclose(table.values, NUMBERS)
    assert f"t.csv: {n} line{'s' if n > 1 else ''} above the names of the columns left out" in table.notices
    with pytest.raises(ValueError, match=rf"row 2 \(line {n + 3}\)"):
        read(tmp_path, [*above, "a,b,c,d", "1,2,3,4", "1,2,inf,4", *rows()])


def test_what_is_no_title(tmp_path):
    head = ['"a\nfirst"', "b", "c", "d"]  # a name of two lines
    table = read(tmp_path, [",".join(head), *rows()])
    assert table.n_objects == N
    assert not any("above the names" in notice for notice in table.notices)


def test_names_in_two_rows(tmp_path):
    table = read(
        tmp_path,
        ["x;y,size,,shape,".replace(";", "_"), ",width,depth,p,q", *(f"{i}.5,{row}" for i, row in enumerate(rows()))],
    )
    assert table.columns == ["x_y", "size width", "size depth", "shape p", "shape q"]
    again = read(tmp_path, ["size,size,shape,shape", "width,depth,p,q", *rows()])
    assert again.columns == ["size width", "size depth", "shape p", "shape q"]
    np.testing.assert_allclose(again.values, NUMBERS)
    for cells in ("n/a,n/a,?,?", "ND,ND,low,low"):  # not names
        assert read(tmp_path, ["a,a,b,b", cells, *rows()]).n_objects == N + 1


def test_a_row_of_units(tmp_path):
    lines = ["id,width,depth,p,q", ",cm,[cm],%,g/dl", *(f"k{i},{row}" for i, row in enumerate(rows()))]
    table = read(tmp_path, lines)
    assert table.n_objects == N
    assert "t.csv: row 1 (line 2) holds units (cm, [cm], %, g/dl) and is left out" in table.notices
    for row in ("id,cm,[cm],%,g/dl", "-,cm,cm,-,g/dl"):
        assert read(tmp_path, [lines[0], row, *lines[2:]]).n_objects == N
    for row in (
        "k,lost,lost,broken,lost",
        "P0,N/D,N/D,N/D,N/D",
        "W0,U,U,U,U",
        "P0,H,L,,",
        "S0,$ -,$ -,$ -,$ -",
        "S0,w/o,w/o,,",
    ):
        lines[1] = row  # an object that has a name
        assert read(tmp_path, lines).n_objects == N + 1, row
    flagged = [lines[0], "a,mg/l,kg/l,,", *lines[2:6], "b,mg/l,kg/l,1,2", *lines[6:]]  # words that come again
    assert read(tmp_path, flagged).n_objects == N + 2


@pytest.mark.parametrize(
    ("first", "n"),
    [
        ("kg/m2,10^9/L,10³/µL,mg/100 ml", N),
        ("m^2,x10e6/L,ml min-1,mL/min/1.73m2", N),
        ("ND,ND,ND,ND", N + 1),
        ("BDL,pending,nd,n.d.", N + 1),
    ],
)
def test_what_is_a_unit(tmp_path, first, n):
    assert read(tmp_path, ["width,depth,p,q", first, *rows()]).n_objects == n


def test_a_laboratory_in_two_rows_of_names_and_one_of_units(tmp_path):
    signs = np.resize(["-", "+", "++"], N)
    cells = [
        f"P{i},{a},{'ND' if i % 3 else b},{c},{d},{sign},{'+-'[i % 2]}"
        for i, ((a, b, c, d), sign) in enumerate(zip(NUMBERS, signs, strict=True))
    ]
    table = read(
        tmp_path,
        [
            ",Vitals,Blood,,Kidney,Urine,Receptors",
            "Patient,BMI,Troponin,WBC,eGFR,Protein,ER",
            ",kg/m2,ng/mL,10^9/L,mL/min/1.73m2,,",
            *cells,
        ],
    )
    assert table.n_objects == N
    assert table.ids[0] == "P0"
    assert table.encoder.types["Urine Protein"] == "ordered"
    assert table.encoder.types["Receptors ER"] == "boolean"


@pytest.mark.parametrize("title", ["Revenue 2024,,,", "Revenue 2024"])
def test_names_that_are_years(tmp_path, title):
    table = read(tmp_path, [title, "growth,2022,2023,2024", *rows()])
    assert table.columns == ["growth", "2022", "2023", "2024"]


def test_years_below_a_group(tmp_path):
    names = ["customer,Revenue,,Costs,", ",2022,2023,2022,2023"]
    table = read(tmp_path, [*names, *(f"{i}.5,{row}" for i, row in enumerate(rows()))])
    assert table.columns == ["customer", "Revenue 2022", "Revenue 2023", "Costs 2022", "Costs 2023"]
    names = [",Revenue,,Costs,", "growth,2022,2023,2022,2023"]
    table = read(tmp_path, [*names, *(f"{i % 7}.5,{row}" for i, row in enumerate(rows()))])
    assert table.columns == ["growth", "Revenue 2022", "Revenue 2023", "Costs 2022", "Costs 2023"]
    table = read(tmp_path, ["id,value,value", "a,1990,2010", *(f"k{i},{500 + i},{900 - i}" for i in range(N))])
    assert table.n_objects == N + 1


def test_totals_are_left_out_where_they_are_some(tmp_path):
    lines = ["shop,a,b,c,d", *(f"shop {i},{row}" for i, row in enumerate(rows()))]
    total = "Total," + ",".join(f"{x:.3f}" for x in NUMBERS.sum(axis=0))
    mean = "Average," + ",".join(f"{x:.5f}" for x in NUMBERS.mean(axis=0))
    table = read(tmp_path, [*lines, total])
    np.testing.assert_allclose(table.values, NUMBERS)
    assert "t.csv: the last row holds totals ('Total') and is left out" in table.notices
    assert read(tmp_path, [*lines, mean]).n_objects == N
    assert read(tmp_path, [*lines, "Total,1.0,2.0,0.3,0.7"]).n_objects == N + 1  # an oil company


def test_all_of_these_in_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Report"], [], ["Shop", "Sales", None, "Staff", None], [None, "Q1", "Q2", "FTE", "left"]):
        book.active.append(row)
    for i, row in enumerate(NUMBERS.tolist()):
        book.active.append([f"shop {i}", *row])
    book.active.append(["Sum", *NUMBERS.sum(axis=0).tolist()])
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx", kind="data")
    assert table.columns == ["Sales Q1", "Sales Q2", "Staff FTE", "Staff left"]
    np.testing.assert_allclose(table.values, NUMBERS)
    assert table.ids[0] == "shop 0"


def test_an_object_with_years_is_no_row_of_names(tmp_path):
    with pytest.raises(ValueError, match="has no name"):
        read(tmp_path, ["Cities,,", "Berlin,2001,1950", *(f"k{i},{500 + i},{900 - i}" for i in range(N))])


def test_losses_and_bounds(tmp_path):
    amounts = [f"(${abs(x) * 1000:,.2f})" if x < 0 else f"${x * 1000:,.2f}" for x in NUMBERS[:, 0]]
    frame = pd.DataFrame({"profit": amounts, "old": [f"{abs(x)}-" if x < 0 else f"{x}" for x in NUMBERS[:, 1]]})
    frame["crp"] = ["<0.5" if i < 4 else f"{x:.1f}" for i, x in enumerate(np.linspace(0, 40, N))]
    frame.assign(plan=np.resize(["a", "b", "c"], N)).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", kind="data")
    np.testing.assert_allclose(table.original["profit"], 1000 * NUMBERS[:, 0], atol=0.01)
    np.testing.assert_allclose(table.original["old"], NUMBERS[:, 1])
    assert table.original["crp"][:5].tolist() == [0.5] * 4 + [pytest.approx(5.5)]
    assert "crp: 4 cells such as '<0.5' count as the number there" in table.notices[-1]
    new = read_table(
        pd.DataFrame({"profit": ["($5.00)"], "old": ["2-"], "crp": ["> 90"], "plan": ["a"]}),
        kind="data",
        encoder=table.encoder,
    )
    assert new.original.iloc[0, :3].tolist() == [-5, -2, 90]


@pytest.mark.parametrize("words", [["<65", ">=65"], ["<50%", ">50%"], ["1", "1-", "2", "2-", "3"]])
def test_groups_and_marks_are_categories(words):
    frame = pd.DataFrame({"x": np.resize(words, N), "y": NUMBERS[:, 0], "z": NUMBERS[:, 1]})
    table = read_table(frame, kind="data")
    assert sorted(set(table.original["x"])) == sorted(words)


def test_thousands_are_no_scale():
    frame = pd.DataFrame({"x": np.resize(["300", "450", "500", "1,200"], N), "y": NUMBERS[:, 0]})
    assert read_table(frame, kind="data").original["x"].max() == 1200


@pytest.mark.parametrize("sep", ["\t", ";", "|"])
def test_commas_in_a_column_of_text_make_no_title(tmp_path, sep):
    lines = [
        f"who{i}{sep}{i} High Road, Old Town, 10{i}, Berlin{sep}{x}{sep}{y}" for i, (x, y) in enumerate(NUMBERS[:, :2])
    ]
    table = read(tmp_path, [sep.join(["name", "address", "score", "age"]), *lines])
    assert table.n_objects == N
    assert table.columns[-2:] == ["score", "age"]


def test_the_first_line_is_the_names_where_that_was_said(tmp_path):
    with pytest.raises(ValueError, match="line"):
        read(tmp_path, ["Report", "a,b,c", "1,2,3", "4,5,6"], header=True)


def test_a_brand_called_total_is_an_object(tmp_path):
    lines = [f"shop{i},1,1,{x}" for i, x in enumerate(NUMBERS[:, 0])]
    table = read(tmp_path, ["name,selfservice,open,price", *lines, "Total,1,1,0.123"])
    assert table.n_objects == N + 1
