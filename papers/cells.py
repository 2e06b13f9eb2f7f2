"""Cells of an experiment: one setting with one seed each, kept in a file as they finish, so that a run that is cut off goes on."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import consilience
from consilience._run.progress import peak_memory

Rows = Sequence[Mapping[str, Any]]
Tables = Mapping[str, Rows]
Task = tuple[Mapping[str, Any], tuple[Any, ...]]
ROWS = "rows"  # the table of a cell that has only one
LOG = ("experiment", "setting", "cpu_seconds", "seconds", "peak_mb", "code", "versions")


@dataclass
class Cells:
    """Runs the cells of experiments, or takes them from the file of an earlier run.

    Parameters
    ----------
    path : path, optional
        A file of JSON lines, one per finished cell; None keeps nothing.
    tell : function of a text, optional
        Gets a line of progress for every cell that is run.
    n_jobs : int
        Processes for cells that can run beside each other.

    Attributes
    ----------
    log : list of dict
        What each cell took, in the order of the experiments: see `LOG`.

    Examples
    --------
    >>> cells = Cells()
    >>> cells.run("roots", lambda x, seed: [{"x": x, "seed": seed, "root": x**0.5}], [({"x": 4, "seed": 0}, ())])["rows"]
       x  seed  root
    0  4     0   2.0
    """

    path: Path | None = None
    tell: Callable[[str], None] | None = None
    n_jobs: int = 1
    log: list[dict[str, Any]] = field(default_factory=list)

    def run(self, experiment: str, cell: Callable[..., Any], tasks: Iterable[Task]) -> dict[str, pd.DataFrame]:
        """The rows of all cells, by table, in the order of the tasks.

        Parameters
        ----------
        experiment : str
        cell : function
            ``cell(*data, **setting)`` gives a list of rows, or lists of rows by the name of a table.
        tasks : iterable of (setting, data)
            Settings are plain values and, with the name of the experiment and the code, the name of the cell: they must tell apart
            everything that the result depends on.
        """
        todo = [(dict(setting), data) for setting, data in tasks]
        code = code_of(cell)
        keys = [_key(experiment, setting, code) for setting, _ in todo]
        kept = self._kept(set(keys))
        missing = [at for at, key in enumerate(keys) if key not in kept]
        jobs = (delayed(_timed)(cell, *todo[at]) for at in missing)
        for done, (at, (tables, took)) in enumerate(zip(missing, self._each(jobs, len(missing)), strict=True)):
            line = {"key": keys[at], "experiment": experiment, "setting": todo[at][0], **took, "code": code}
            kept[keys[at]] = self._keep(line | {"versions": versions(), "tables": tables})
            if self.tell is not None:
                names = ", ".join(f"{name}={value}" for name, value in todo[at][0].items())
                number = len(todo) - len(missing) + done + 1
                self.tell(f"{experiment} {number}/{len(todo)}: {names} ({took['seconds']:.1f} s, {took['peak_mb']} MB)")
        lines = [kept[key] for key in keys]
        self.log += [{name: line[name] for name in LOG} for line in lines]
        found: dict[str, list[dict[str, Any]]] = {}
        for line in lines:
            for name, rows in line["tables"].items():
                found.setdefault(name, []).extend(rows)
        return {name: pd.DataFrame(rows) for name, rows in found.items()}

    def _each(self, jobs: Any, n: int) -> Any:
        if self.n_jobs == 1 or n < 2:
            return (function(*args, **how) for function, args, how in jobs)
        return Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs)

    def _keep(self, line: dict[str, Any]) -> dict[str, Any]:
        """The cell as it will be read, after writing it: fresh and kept cells are the same to the last digit."""
        text = json.dumps(line, default=_plain)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text + "\n")
        found: dict[str, Any] = json.loads(text)
        return found

    def _kept(self, keys: set[str]) -> dict[str, dict[str, Any]]:
        """Finished cells by their keys; a last line cut off by a kill is dropped from the file."""
        if self.path is None or not self.path.exists():
            return {}
        found, whole = {}, 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                if line[9:].split(b'"', 1)[0].decode() in keys:  # the line begins {"key": "
                    cell = json.loads(line)
                    found[cell["key"]] = cell
        if whole < self.path.stat().st_size:
            with self.path.open("r+b") as file:
                file.truncate(whole)
        return found


def _key(experiment: str, setting: Mapping[str, Any], code: str) -> str:
    text = json.dumps([experiment, sorted(setting.items()), code], default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a plain value")


def _timed(
    cell: Callable[..., Any], setting: Mapping[str, Any], data: tuple[Any, ...]
) -> tuple[Tables, dict[str, Any]]:
    processor, start = time.process_time(), time.monotonic()
    found = cell(*data, **setting)
    took = {"cpu_seconds": time.process_time() - processor, "seconds": time.monotonic() - start}
    tables = found if isinstance(found, Mapping) else {ROWS: found}
    return tables, {name: round(value, 3) for name, value in took.items()} | {"peak_mb": peak_memory()}


def versions() -> str:
    """Of what the numbers depend on."""
    others = (f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "pandas"))
    return f"consilience {consilience.__version__}, Python {platform.python_version()}, {', '.join(others)}"


def code_of(function: Callable[..., Any]) -> str:
    """A short name of the source of a function and of all in `papers` that it calls, so that changed code is run again.

    The library's own code is not part of it: what version there was stands in the log.
    """
    found: dict[str, str] = {}
    _collect(function, found)
    return hashlib.sha256(json.dumps(sorted(found.items())).encode()).hexdigest()[:12]


def _collect(thing: Any, found: dict[str, str]) -> None:
    name = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
    if name in found:
        return
    found[name] = _source(thing)
    members = [thing] if isinstance(thing, FunctionType) else list(vars(thing).values())
    members += [member.fget for member in members if isinstance(member, property)]
    for function in members:
        if isinstance(function, FunctionType):
            for used in _names(function.__code__):
                _collect_global(used, function.__globals__.get(used), found)


def _collect_global(name: str, thing: Any, found: dict[str, str]) -> None:
    ours = str(getattr(thing, "__module__", "")).split(".")[0] in ("papers", "__main__")
    if ours and isinstance(thing, (FunctionType, type)):
        _collect(thing, found)
    elif isinstance(thing, (str, int, float, tuple, list, dict)) and " at 0x" not in repr(thing):
        found[name] = repr(thing)


def _source(thing: Any) -> str:
    try:
        return inspect.getsource(thing)
    except OSError:  # typed in, not in a file
        return str(thing.__code__.co_code.hex())


def _names(code: CodeType) -> set[str]:
    """The global names that a function and what is defined inside it use."""
    inner = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inner)
