"""Reports say how to make their result again, by the call that made it; and what is asked for in other words is understood."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience._check import InputError
from consilience.ensemble.results import Result
from consilience.inputs import Provenance
from consilience.measures import pairwise
from consilience.reports import draw_summary
from consilience.reports.sections import code_of, report_of

LABELS = np.random.default_rng(0).integers(3, size=(40, 6))


def lines_of(result, tmp_path, **options):
    """The lines of Python of a report, without the last, which writes it."""
    cs.report(result, tmp_path / "report.html", **options)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    blocks = [html.unescape(re.sub(r"<[^>]*>", "", block)) for block in re.findall(r"<pre.*?</pre>", page, re.S)]
    code = next(block for block in blocks if "import consilience" in block)
    return code.strip().split("\n")[:-1]


@pytest.mark.parametrize(
    ("given", "call"),
    [
        ({}, "cs.combine(ensemble)"),
        ({"n_clusters": 3}, "cs.combine(ensemble, n_clusters=3)"),
        ({"n_clusters": "auto", "random_state": 5}, "cs.combine(ensemble, n_clusters='auto', random_state=5)"),
        (
            {"n_clusters": 3, "method": "lwea", "theta": 0.2},
            "cs.combine(ensemble, n_clusters=3, method='lwea', theta=0.2)",
        ),
        (
            {"n_clusters": 2, "sample_weight": np.arange(40) % 3},
            "cs.combine(ensemble, n_clusters=2, sample_weight=sample_weight)",
        ),
    ],
)
def test_the_lines_of_a_report_make_the_same_again(given, call):
    one = cs.combine(LABELS, **given)
    assert one.call == call
    lines = ["import consilience as cs", *report_of(one)(one, Provenance("", "")).code()]
    assert lines[-1] == f"one = {call}"
    names: dict = {}
    exec("\n".join(lines[:-1]), names)
    opened = {name for name, value in names.items() if value is ...}
    exec(lines[-1], names | {"ensemble": LABELS, "sample_weight": given.get("sample_weight")}, again := {})
    np.testing.assert_array_equal(again["one"].labels, one.labels)
    assert opened == {"ensemble"} | ({"sample_weight"} & set(given))


def test_lines_name_the_file_that_was_combined(tmp_path):
    path = tmp_path / "labels.csv"
    pd.DataFrame(LABELS, columns=list("abcdef")).to_csv(path, index=False)
    one = cs.combine(path, 3, columns=["a", "b", "c", "d"])
    names: dict = {}
    exec("\n".join(lines_of(one, tmp_path)), names)
    np.testing.assert_array_equal(names["one"].labels, one.labels)
    one.save(tmp_path / "one")
    assert Result.load(tmp_path / "one").call == one.call
    again: dict = {}
    exec("\n".join(lines_of(tmp_path / "one", tmp_path)), again)
    np.testing.assert_array_equal(again["one"].labels, one.labels)


def test_a_summary_is_drawn_and_made_again(tmp_path):
    found = cs.summarize(LABELS, "binder", cost=0.8, max_clusters=4)
    lines = lines_of(found, tmp_path, figures=tmp_path / "figures")
    assert lines[-2:] == [
        "samples = ...  # the samples that were summarized",
        "found = cs.summarize(samples, loss='binder', cost=0.8, max_clusters=4)",
    ]
    assert (tmp_path / "figures" / "summary.png").stat().st_size > 10_000
    draw_summary(found, tmp_path / "summary.svg")
    assert "samples" in (tmp_path / "summary.svg").read_text()
    with pytest.raises(InputError, match="draw_summary draws a Summary; got a Consensus"):
        draw_summary(cs.combine(LABELS, 3), tmp_path / "other.png")


def test_results_that_no_call_made_are_left_open():
    assert code_of("one", "", "") == ["one = ...  # the result that was given"]


def test_a_report_without_a_place_says_so():
    with pytest.raises(InputError, match=r'say where, such as report\(result, "report.html"\)'):
        cs.report(pd.DataFrame(LABELS))


def test_other_words_are_understood():
    with pytest.raises(InputError, match="unknown option 'k': did you mean 'n_clusters'"):
        cs.combine(LABELS, k=3)
    with pytest.raises(InputError, match="unknown option 'seed': did you mean 'random_state'"):
        cs.combine(LABELS, 3, "lwea", seed=3)
    for short, name in {"ami": "adjusted_mutual_information", "ARI": "adjusted_rand", "ecs": "element_centric"}.items():
        with pytest.raises(InputError, match=f"did you mean '{name}'"):
            pairwise(LABELS, short)


def test_notes_say_what_was_left_out():
    rows = len(np.unique(LABELS, axis=0))
    note = cs.combine(LABELS, 3, "cspa", memory_budget=1000, n_neighbors=5).note
    assert note.endswith(f"cspa kept the 5 strongest similarities of each of the {rows} distinct rows of labels")
    note = cs.combine(LABELS, 3, "lwea", memory_budget=2000).note
    found = re.search(r"lwea clustered (\d+) of the (\d+) distinct rows of labels, which the others joined", note)
    assert found
    assert 0 < int(found[1]) < int(found[2]) == rows
