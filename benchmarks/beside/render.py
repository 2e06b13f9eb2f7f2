"""The page of results, from the JSON files alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.beside.collect import RESULTS
from benchmarks.beside.how_many import how_many_section
from benchmarks.beside.notes import NOTES
from benchmarks.beside.peers import PEERS
from benchmarks.beside.task import Task, difference
from benchmarks.beside.tasks import TASKS
from benchmarks.cluster_file import cluster_file_section
from benchmarks.growth import growth_section
from benchmarks.textbook import textbook_section

PAGE = Path(__file__).resolve().parents[1] / "RESULTS.md"
PICTURE = "beside.png"
TIE = 0.01  # in ARI
BUSY = 3
SAME_TIME = 0.95  # ratios above it are no slower, as far as CPU-seconds tell
HERE = Path(__file__).parent
SECTIONS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "how_many": how_many_section,
    "textbook": textbook_section,
    "cluster_file": cluster_file_section,
    "growth": growth_section,
}


def load(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """What was kept of every task that was run."""
    files = {name: folder / f"{name}.json" for name in TASKS}
    return {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}


def ratios(found: Mapping[str, Any]) -> list[tuple[dict[str, Any], float]]:
    """The peers of a task that ran, and their CPU-seconds over ours."""
    ours, *others = found["sides"]
    if "cpu_s" not in ours:
        return []
    return [(row, row["cpu_s"] / ours["cpu_s"]) for row in others if "cpu_s" in row and row["side"] != "consilience"]


def behind(task: Task, found: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """The peers that are faster or better, and in what."""
    ours, words = found["sides"][0], {}
    for row, ratio in ratios(found):
        slower = ratio < SAME_TIME
        worse = task.score is not difference and row["quality"] > ours["quality"] + TIE
        if slower or worse:
            words[row["side"], row["function"]] = " and ".join(["faster"] * slower + ["better"] * worse)
    return words


def render(results: Mapping[str, Mapping[str, Any]], **more: Mapping[str, Any]) -> str:
    """The page; `more` are the figures of the studies in SECTIONS."""
    run = {name: found for name, found in results.items() if "sides" in found}
    parts = [
        _prose("head.md"),
        _conditions(run),
        f"![Ratios of CPU-seconds, on a logarithmic scale]({PICTURE})",
        _summary(run),
    ]
    family = None
    for name, found in run.items():
        task = TASKS[name]
        if task.family != family:
            family = task.family
            parts.append(f"## {family}")
        parts += [f"### {_capital(task.title)}", f"{_capital(task.about)}.", _table(task, found), *_notes(task, found)]
    parts += _missing(results)
    parts += [section(more[name]) for name, section in SECTIONS.items() if name in more]
    parts.append(_prose("pools.md"))
    return "\n\n".join(parts) + "\n"


def _prose(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8").strip()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _conditions(run: Mapping[str, Mapping[str, Any]]) -> str:
    every = list(run.values())
    rows = [{"date": found["date"], "load": found["load"]} | row for found in every for row in found["sides"]]
    dates = sorted({row["date"] for row in rows})
    versions: dict[str, str] = {}
    for found in every:
        for row in found["sides"]:
            if "version" in row:
                versions[PEERS[row["side"]].name] = row["version"]
    loads = sorted(row["load"] for row in rows)
    names = ", ".join(f"{name} {versions[name]}" for name in sorted(versions, key=str.lower))
    return (
        f"**Machine**: {every[0]['machine']}; load {loads[0]} to {loads[-1]}{_busy(loads[-1])}. **Date**: {' to '.join(dates)}. "
        f"**Python** {every[0]['python']}. **Versions**: {names}."
    )


def _busy(load: float) -> str:
    if load < BUSY:
        return ""
    return ", under other load, so that wall seconds tell little and ratios near 1 (.8 to 1.25) may be chance"


def _summary(run: Mapping[str, Mapping[str, Any]]) -> str:
    lines = []
    for name, found in run.items():
        for row, ratio in ratios(found):
            ours, task = found["sides"][0], TASKS[name]
            mark = " (¹)" if (row["side"], row["function"]) in behind(task, found) else ""
            lines.append(
                (
                    task.title,
                    f"{PEERS[row['side']].name}: {task.peers[row['side'], row['function']]}",
                    f"{_times(ratio)}{mark}",
                    _quality(task, row["quality"])
                    + ("" if task.score is difference else f" / {_quality(task, ours['quality'])}"),
                    f"{row['added_mb']:.0f} / {ours['added_mb']:.0f}",
                )
            )
    peers = {row["side"] for found in run.values() for row, _ in ratios(found)}
    count = (
        f"{len(lines)} comparisons of {len(run)} tasks with {len(peers)} peers. (¹) faster or better: explained below."
    )
    return count + "\n\n" + _markdown(("task", "peer", "ratio", "quality: peer / ours", "MB: peer / ours"), lines)


def _table(task: Task, found: Mapping[str, Any]) -> str:
    ours, lines = found["sides"][0], []
    for row in found["sides"]:
        own = row["side"] == "consilience"
        words = {task.ours: "", **task.also}[row["function"]] if own else task.peers[row["side"], row["function"]]
        name = f"**{PEERS[row['side']].name}**" if own else PEERS[row["side"]].name
        name += f", {words}" if words else ""
        if "cpu_s" not in row:
            said = row.get("failed", "not on this machine")
            lines.append((name, said.replace("|", "/"), "", "", "", "", "", ""))
            continue
        ratio = _times(row["cpu_s"] / ours["cpu_s"])
        clusters = str(row.get("n_clusters", ""))
        quality = "" if own and task.score is difference else _quality(task, row["quality"])
        lines.append(
            (
                name,
                _seconds(row["cpu_s"]),
                ratio,
                _seconds(row["wall_s"]),
                f"{row['added_mb']:.0f}",
                quality,
                clusters,
                str(row["runs"]),
            )
        )
    return _markdown(("", "CPU s", "ratio", "wall s", "MB", task.quality, "clusters", "runs"), lines)


def _notes(task: Task, found: Mapping[str, Any]) -> list[str]:
    found_behind = behind(task, found)
    return [
        f"*{PEERS[side].name}, {task.peers[side, function]}, is {how}.* {NOTES.get((task.name, side, function), 'Not explained.')}"
        for (side, function), how in found_behind.items()
    ]


def _missing(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [f"- {TASKS[name].title}: {found['skipped']}." for name, found in results.items() if "skipped" in found]
    lines += [f"- {task.title}: not run yet." for name, task in TASKS.items() if name not in results]
    absent = {
        PEERS[row["side"]].name for found in results.values() for row in found.get("sides", []) if row.get("absent")
    }
    lines += [f"- {name}: not on this machine." for name in sorted(absent)]
    return ["## Not run", "\n".join([*lines, _prose("not_run.md")])]


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"


def _seconds(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.2g}"


def _quality(task: Task, value: float) -> str:
    if task.score is difference:
        return f"{value:.0e}"
    return f"{value:.3f}".replace("0.", ".", 1) if value < 1 else f"{value:.3f}"


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def load_more(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """What was kept of every study that has a section."""
    files = {name: folder.parent / f"{name}.json" for name in SECTIONS}
    return {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}


def write_page() -> Path:
    """Write the page and its pictures."""
    from benchmarks.beside.figures import draw_growth, draw_ratios

    results, more = load(), load_more()
    draw_ratios(results, PAGE.parent / PICTURE)
    if "growth" in more:
        draw_growth(more["growth"], PAGE.parent / "growth.png")
    PAGE.write_text(render(results, **more), encoding="utf-8")
    return PAGE
