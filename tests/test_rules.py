"""Every rule of benchmarks/RULES.md that is left can be switched off by itself, and a table is read without it."""

import numpy as np
import pytest

from benchmarks import rules

ROWS = 40


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file with numbers, words, dates, gaps and names."""
    rng = np.random.default_rng(0)
    lines = [
        f"{row},p{row},{rng.normal():.3f},{'NA' if row % 9 == 0 else row % 7},{'ab'[row % 2]},2024-03-{row % 28 + 1:02},€ {row % 5}"
        for row in range(ROWS)
    ]
    path = tmp_path_factory.mktemp("rules") / "table.csv"
    path.write_text("\n".join([",name,x,y,plan,since,paid", *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", rules.RULES)
def test_a_table_is_read_without_each_rule(name, table):
    with rules.without(name):
        found = rules.outcome(table)
        assert rules.guessed(table) == "data"
    refused = {"first column without a name": "has no name"}  # since that is what the rule is for
    assert found["state"] == ("refused" if name in refused else "read")
    assert refused.get(name, "") in found.get("why", "")


def test_a_rule_that_is_switched_off_changes_what_is_read(table):
    before, changed = rules.outcome(table), {}
    for name in ("dates", "units", "gaps", "encodings"):
        with rules.without(name):
            changed[name] = rules.change(before, rules.outcome(table))
    assert changed == {"dates": "values", "units": "values", "gaps": "values", "encodings": ""}
