"""A customer table as it comes out of a spreadsheet, through cluster, assign, report and explore without an option on how to read it."""

import re

import numpy as np
import pandas as pd
import pytest

from command_line import ran
from consilience.datasets import customers
from consilience.explorer import server as serving
from consilience.measures import adjusted_rand
from explorer_cases import ASSETS, ask

NESTED = re.compile(r"\([^()]*\([^()]*\)[^()]*\)")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Text with decimal commas and semicolons, and Excel: words, yes and no, dates, gaps, ids, codes, units, words for unknown."""
    folder = tmp_path_factory.mktemp("messy")
    frame, segments = customers(240, missing=0.05, random_state=3)
    rng = np.random.default_rng(0)
    frame["zip"] = np.array(["01067", "80331", "04109"])[rng.integers(0, 3, len(frame))]
    frame["discount"] = [f"{x} %" for x in rng.integers(0, 30, len(frame))]
    frame["visits"] = np.where(rng.random(len(frame)) < 0.2, "unknown", rng.poisson(9, len(frame)).astype(str))
    text = frame.assign(
        income=[None if np.isnan(x) else f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in frame["income"]],
        signup=frame["signup"].dt.strftime("%d.%m.%Y"),
        newsletter=frame["newsletter"].map({True: "ja", False: "nein"}),
    )
    text.to_csv(folder / "kunden.csv", sep=";", index=False, encoding="cp1252")
    frame.to_excel(folder / "kunden.xlsx", index=False)
    text[:50].drop(columns="country").to_csv(folder / "neu.csv", sep=";", index=False)
    return folder, segments


@pytest.fixture
def opened(monkeypatch):
    found = []
    monkeypatch.setattr(serving, "load_page", lambda: ASSETS)
    monkeypatch.setattr(serving.Server, "wait", lambda self: found.append(ask(self.api, "session")))
    monkeypatch.setattr(serving, "_open_browser", lambda url: None)
    return found


@pytest.mark.parametrize("name", ["kunden.csv", pytest.param("kunden.xlsx", marks=pytest.mark.slow)])
def test_the_whole_journey(tables, opened, tmp_path, monkeypatch, name):
    folder, segments = tables
    monkeypatch.chdir(tmp_path)
    said = {}
    journey = {
        "cluster": [
            "cluster",
            folder / name,
            "-k",
            4,
            "-n",
            30,
            "-o",
            "labels.csv",
            "--save",
            "model",
            "--report",
            "r.html",
        ],
        "assign": ["assign", "model", folder / "neu.csv", "-o", "new.csv"],
        "report": ["report", "model", "m.html"],
        "explore": ["explore", folder / name, "--no-browser", "-n", 12],
    }
    for step, words in journey.items():
        done = ran(*words)
        said[step] = done.stdout + done.stderr
        assert not NESTED.search(said[step]), NESTED.search(said[step])
    labels = pd.read_csv("labels.csv", index_col="customer_id")
    assert adjusted_rand(segments, labels["cluster"].to_numpy()) > 0.85
    new = pd.read_csv("new.csv", index_col="customer_id")
    assert new.index.tolist() == labels.index[:50].tolist()
    assert (new["cluster"].to_numpy() == labels["cluster"].to_numpy()[:50]).mean() > 0.9
    for words in (
        "5 numbers: ",
        "set aside country (constant), note (id-like, all different)",
        "zip: a category, since its numbers begin with zeros as codes do",
        "cells that are no numbers, such as 'unknown', count as missing",
        "column 'customer_id' names the objects",
    ):
        assert words in said["cluster"], words
        assert words in said["explore"] or words.startswith("column"), words
    assert "column 'customer_id' names the objects, as it did at first" in said["assign"]
    assert opened[0]["n_clusterings"] == 12
