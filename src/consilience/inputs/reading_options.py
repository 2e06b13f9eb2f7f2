"""What says how to read a table, of all that a verb is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from consilience._check import InputError, check_choice

PARSING = ("header", "sep", "decimal", "encoding")  # how to parse a file, of all that says how to read it
READING = (
    *PARSING,
    "id_column",
    "known",
    "columns",
    "missing",
    "key",
    "types",
    "transpose",
)  # parameters of read_table that verbs pass on


def split_reading(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What says how to read a table, and the other options of a verb."""
    reading = {name: value for name, value in options.items() if name in READING}
    return reading, {name: value for name, value in options.items() if name not in READING}


def check_reading(reading: Mapping[str, Any], verb: str) -> dict[str, Any]:
    """Options that say how to read a table and nothing else."""
    for name in reading:
        check_choice(name, READING, f"option of {verb}")
    return dict(reading)


def given_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of how to read, without what was left out."""
    for name in reading:
        check_choice(name, (*READING, "triples"), "option of reading")
    said = {name: list(value) if isinstance(value, np.ndarray) else value for name, value in reading.items()}
    return {
        name: value
        for name, value in said.items()
        if value is not None and value not in ([], (), {}) and not (name == "transpose" and not value)
    }


def parsing(reading: Mapping[str, Any]) -> dict[str, Any]:
    """How to parse a file, of all that was said of how to read it."""
    return {name: reading[name] for name in PARSING if reading.get(name) is not None}


def refuse_reading(source: str, state: str, reading: Mapping[str, Any]) -> None:
    """How to read a table is said of tables."""
    if reading:
        flags = {"id_column": "id", "types": "type"}
        words = ", ".join(f"{name}= (--{flags.get(name, name)})" for name in reading)
        raise InputError(f"{source} {state}: {words} say how to read a table, so leave them out, or name that table")
