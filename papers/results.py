"""The page of results: every claim of the papers beside what was found, rendered from the CSV files alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from consilience.reports.files import write_file
from papers.claims import Claim, TableFolder
from papers.report import markdown

PAGE, FOLDER = "RESULTS.md", "results"
HEAD = (
    "# Five papers, reproduced",
    "What each paper claims, what was found here, and where the two differ. Every number on this page is rendered from the CSV files it "
    "links to, which name the seeds behind them; the full reports stand beside those (`report.md`), with what each paper leaves "
    "open and what was chosen. `python -m papers all --data FOLDER` writes all of it ([how](../docs/papers.md)).",
)


def render(output: Path, papers: Mapping[str, Any]) -> str:
    """The page for the papers whose tables are in the folder.

    Parameters
    ----------
    output : path
        What :mod:`papers` wrote: tables are in ``results/<paper>/``.
    papers : mapping of str to Paper
    """
    there = [name for name in papers if "runs" in TableFolder(output / FOLDER / name)]
    found, stale = {}, []
    for name in there:
        try:
            found[name] = papers[name].claims(TableFolder(output / FOLDER / name))
        except (FileNotFoundError, KeyError) as missing:
            what = Path(missing.filename).name if isinstance(missing, FileNotFoundError) else f"a column {missing}"
            again = f"run `python -m papers {name}` again"
            stale.append(f"**{papers[name].title}** was run by older code, without {what}: {again}.")
    there = list(found)
    parts = [*HEAD, *stale, _overview(found, papers)]
    for name in there:
        folder = TableFolder(output / FOLDER / name)
        parts += [f"## {papers[name].title}", _claims(found[name], name), *_differences(found[name])]
        parts.append(_cost(folder("runs"), name))
    return "\n\n".join(parts) + "\n"


def write_results(output: Path, papers: Mapping[str, Any]) -> Path:
    """Write the page into the folder."""
    text = render(output, papers)
    write_file(output / PAGE, lambda file: file.write(text.encode()))
    return output / PAGE


def _overview(found: Mapping[str, Sequence[Claim]], papers: Mapping[str, Any]) -> str:
    lines = []
    for name, claims in found.items():
        count = pd.Series([claim.verdict for claim in claims], dtype=str).value_counts()
        verdicts = {verdict: int(count.get(verdict, 0)) for verdict in ("holds", "holds in part", "does not hold")}
        lines.append({"paper": papers[name].title, "claims": sum(verdicts.values()), **verdicts})
    return markdown(pd.DataFrame(lines))


def _claims(claims: Sequence[Claim], name: str) -> str:
    lines = [
        {"": str(number), "claim": claim.said, "found": claim.found, "verdict": f"**{claim.verdict}**"}
        | {"from": ", ".join(f"[{table}]({FOLDER}/{name}/{table}.csv)" for table in _names(claim))}
        for number, claim in enumerate(claims, 1)
    ]
    return markdown(pd.DataFrame(lines))


def _names(claim: Claim) -> Sequence[str]:
    return (claim.tables,) if isinstance(claim.tables, str) else claim.tables


def _differences(claims: Sequence[Claim]) -> list[str]:
    said = [f"- **{number}.** {claim.why}" for number, claim in enumerate(claims, 1) if claim.why]
    return ["Where we differ, and why:", "\n".join(said)] if said else []


def _cost(runs: pd.DataFrame, name: str) -> str:
    """What the runs took, from their log."""
    versions = "; ".join(dict.fromkeys(runs["versions"]))
    quick = " **Small sizes and few seeds (`--quick`): draw no conclusions.**" if runs["quick"].any() else ""
    return (
        f"[Report]({FOLDER}/{name}/report.md); [log of the runs]({FOLDER}/{name}/runs.csv): {len(runs):,} cells, "
        f"{runs['cpu_seconds'].sum():,.0f} CPU-seconds, at most {runs['peak_mb'].max():,.0f} MB; {versions}.{quick}"
    )
