"""Cells that are kept and not run again, and the page of results beside its CSV files."""

import json
from collections import deque
from pathlib import Path

import pandas as pd
import pytest

import papers
from papers import PAPERS
from papers.cells import Cells, code_of
from papers.claims import Claim, TableFolder, verdict
from papers.results import FOLDER, PAGE, render

RAN = deque()  # a list would count as a constant of the code
POWER = 0.5


def root(x, seed):
    RAN.append((x, seed))
    return [{"x": x, "seed": seed, "root": x**POWER}]


def tasks(*numbers):
    return [({"x": x, "seed": 0}, ()) for x in numbers]


@pytest.fixture
def file(tmp_path):
    RAN.clear()
    return tmp_path / "cells.jsonl"


def test_finished_cells_are_not_run_again(file):
    lines = []
    first = Cells(file, lines.append).run("roots", root, tasks(2, 3))["rows"]
    again = Cells(file)
    pd.testing.assert_frame_equal(
        again.run("roots", root, tasks(3, 2, 5))["rows"].head(2), first[::-1].reset_index(drop=True)
    )
    assert list(RAN) == [(2, 0), (3, 0), (5, 0)]
    assert [line.split(" (")[0] for line in lines] == ["roots 1/2: x=2, seed=0", "roots 2/2: x=3, seed=0"]
    assert [cell["setting"]["x"] for cell in again.log] == [3, 2, 5]
    assert all(cell["cpu_seconds"] >= 0 and "numpy" in cell["versions"] for cell in again.log)
    Cells(file).run("other roots", root, tasks(2))
    assert RAN[-1] == (2, 0)  # the same settings of another experiment are another cell


def test_a_kill_costs_one_cell(file):
    Cells(file).run("roots", root, tasks(2, 3))
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    Cells(file).run("roots", root, tasks(2, 3))
    assert list(RAN) == [(2, 0), (3, 0), (3, 0)]
    assert [json.loads(line)["setting"]["x"] for line in file.read_text().splitlines()] == [2, 3]


def test_changed_code_is_run_again(file, monkeypatch):
    before = code_of(root)
    Cells(file).run("roots", root, tasks(2))
    monkeypatch.setitem(globals(), "POWER", 1 / 3)  # a constant that the cell uses
    assert code_of(root) != before
    assert Cells(file).run("roots", root, tasks(2))["rows"]["root"].iloc[0] == 2 ** (1 / 3)
    assert code_of(papers.strehl2002.run_controlled) != code_of(papers.strehl2002.run_rcc)


def test_a_cell_that_fails_leaves_the_others(file):
    def some(x, seed):
        if x == 3:
            raise ValueError("three")
        return root(x, seed)

    with pytest.raises(ValueError, match="three"):
        Cells(file).run("roots", some, tasks(2, 3))
    assert len(file.read_text().splitlines()) == 1


def test_verdict_needs_all_parts():
    assert [verdict(parts) for parts in ([1, 1], [1, 0], [0])] == ["holds", "holds in part", "does not hold"]


def test_page_is_rendered_from_the_tables(tmp_path):
    class Paper:
        title = "A paper"

        @staticmethod
        def claims(tables):
            value = tables("numbers")["value"].iloc[0]
            return [
                Claim("it is one", f"{value:.2f}", verdict([value == 1]), "numbers", "Because." if value != 1 else "")
            ]

    folder = tmp_path / FOLDER / "one"
    folder.mkdir(parents=True)
    log = {"versions": "v 1", "cpu_seconds": [1.2, 2], "peak_mb": 100.0, "quick": False}
    pd.DataFrame(log).to_csv(folder / "runs.csv", index=False)
    for value, said in ((1, "**holds**"), (2, "**does not hold**")):
        pd.DataFrame({"value": [value]}).to_csv(folder / "numbers.csv", index=False)
        page = render(tmp_path, {"one": Paper, "not run": Paper})
        assert f"| 1 | it is one | {value:.2f} | {said} | [numbers]({FOLDER}/one/numbers.csv) |" in page
        assert ("- **1.** Because." in page) == (value != 1)
    assert "2 cells, 3 CPU-seconds, at most 100 MB; v 1." in page
    assert "numbers" in TableFolder(folder)
    assert "letters" not in TableFolder(folder)
    (folder / "numbers.csv").unlink()
    assert "run by older code, without numbers.csv: run `python -m papers one` again" in render(
        tmp_path, {"one": Paper}
    )


def test_committed_page_agrees_with_its_tables():
    here = Path(papers.__file__).parent
    if not (here / PAGE).exists():
        pytest.skip("no results are committed")
    assert (here / PAGE).read_text(encoding="utf-8") == render(here, PAPERS)
