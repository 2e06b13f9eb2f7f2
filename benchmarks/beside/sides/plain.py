"""LWEA and LWGP as published, in a few lines of NumPy (benchmarks/plain.py)."""

import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location("plain_code", Path(__file__).resolve().parents[2] / "plain.py")
code = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(code)


def lwea(inputs):
    return lambda seed: code.lwea(inputs["labels"], int(inputs["k"]))


def lwgp(inputs):
    return lambda seed: code.lwgp(inputs["labels"], int(inputs["k"]))
