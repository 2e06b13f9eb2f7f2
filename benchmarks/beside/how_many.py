"""The part of the page on how many clusters there are, from results/how_many.json and results/cluster_file.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.how_many import STUDIES, judged

ABOUT = Path(__file__).with_suffix(".md")
AUTO = (
    "suite: right, of 41",
    "odd · even sets",
    "right, of 29 small",
    "ARI, 41 sets",
    "29 small",
    "planted: right, of 52",
    "ARI",
    "clouds without a doubt, of 58",
    "CPU s a set",
)


def how_many_section(kept: Mapping[str, Any]) -> str:
    """Beside the peers, told the number, and the bars."""
    ours = kept["ours"]
    seeds = [seed for seed in ours["told"] if all(seed in ours[study] for study in STUDIES)]
    rows = {f"**consilience**, {_seeds(seeds)}": {study: [ours[study][seed] for seed in seeds] for study in STUDIES}}
    rows |= {peer: {study: [one] for study, one in found.items()} for peer, found in kept["peers"].items()}
    rows |= {f"{name}, as published": {"told": [one]} for name, one in kept["published"].items()}
    auto = [("", *AUTO), *(_not_told(name, row) for name, row in rows.items() if "suite" in row)]
    told = [("", "mean ARI", "odd sets", "even sets")]
    for name, row in rows.items():
        if "told" in row:
            told.append((name, *(_said(one[what] for one in row["told"]) for what in ("ari", "ari_odd", "ari_even"))))
    parts = [_table(auto), "**Told the number**, the suite:", _table(told), "**The bars**:", _bars(ours, seeds)]
    return "\n\n".join([ABOUT.read_text(encoding="utf-8").strip(), *parts])


def _not_told(name: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    suite, planted, clouds = (
        {what: _said(one[what] for one in row[study]) for what in row[study][0]} for study in STUDIES[:3]
    )
    cost = sum(one["cpu_s"] for study in STUDIES[:3] for one in row[study]) / (151 * len(row["suite"]))
    halves = f"{suite['right_odd']} · {suite['right_even']}"
    whole = (suite["right"], halves, suite["right_small"], suite["ari"], suite["ari_small"])
    return (name, *whole, planted["right"], planted["ari"], clouds["firm"], f"{cost:.2f}")


def _seeds(seeds: Sequence[str]) -> str:
    return f"seed{'s' * (len(seeds) > 1)} {', '.join(seeds)}"


def _bars(ours: Mapping[str, Any], seeds: Sequence[str]) -> str:
    every = [judged({study: ours[study][seed] for study in STUDIES}) for seed in seeds]
    rows = [("", _seeds(seeds), "bar", "")]
    for what, (_, least, most) in every[0].items():
        values = [one[what][0] for one in every]
        bar = f"at least {_said([least])}" if least else f"at most {_said([most])}"
        rows.append((what, _said(values), bar, "" if all(least <= value <= most for value in values) else "missed"))
    return _table(rows)


def _said(values: Iterable[Any]) -> str:
    """Shares and means without the zero before the point."""
    return ", ".join(f"{one:.3f}".removeprefix("0") if isinstance(one, float) else str(one) for one in values)


def _table(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:]))
