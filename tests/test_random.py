"""Random streams: one maker, and no two purposes share a stream."""

import ast
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import consilience
from consilience._run.random import PURPOSES, child_seed, stream

SOURCE = Path(consilience.__file__).parent
MAKERS = ("stream", "child_seed")
RUNS = ("agreement.mdc", "agreement.grow", "agreement.dataloom")
PUT_TOGETHER = {  # purposes that are not written out where they are used
    "agreement/cap.py": ("agreement.cap_rows", "agreement.cap_columns"),
    "agreement/co_clustering.py": (*RUNS, *(f"{run}_search" for run in RUNS)),
}


@cache
def codes():
    """The code of every file of the package, by its path there."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def calls():
    """(file, function, purpose) of every call that makes a stream in the package."""
    for file, code in codes().items():
        for node in ast.walk(code):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
                yield file, node.func.id, node.args[1]


def test_every_stream_is_made_for_a_purpose_of_the_registry():
    found = {}
    for file, _, purpose in calls():
        if file == "_run/random.py":
            continue
        names = [purpose.value] if isinstance(purpose, ast.Constant) else PUT_TOGETHER.get(file, ())
        assert names, f"{file} makes a stream for a purpose that is not written out"
        for name in names:
            assert name in PURPOSES
            found.setdefault(name, set()).add(file)
    assert set(found) == set(PURPOSES), "a purpose that nothing draws for"
    several = {name for name, files in found.items() if len(files) > 1}
    assert several == {"reports.objects"}, (
        "two files would draw the same numbers from one seed"
    )  # pictures show the same ones


def test_no_two_purposes_share_a_stream():
    seen = {}
    for purpose in PURPOSES:
        for unit in ((), (0,), (1,), (0, 0), (0, 1), (2**40,)):
            for drawn in (stream(7, purpose, *unit).integers(2**63), child_seed(7, purpose, *unit)):
                assert seen.setdefault(int(drawn), (purpose, unit)) == (purpose, unit)


def test_a_unit_is_drawn_alike_alone_and_among_others():
    together = [stream(3, "information.starts", unit).random(4) for unit in range(5)]
    assert (stream(3, "information.starts", 4).random(4) == together[4]).all()
    assert not any((a == b).any() for a, b in pairwise(together))


def test_seeds_fit_kernels_and_the_largest_is_taken():
    assert 0 <= child_seed(2**63 - 1, "information.search", 2**63) < 2**63


def test_an_unknown_purpose_is_refused():
    with pytest.raises(KeyError, match="not a purpose"):
        stream(0, "anything")


def test_nothing_else_makes_generators():
    assert "_run/random.py" in codes()
    for file, code in codes().items():
        if file == "_run/random.py":
            continue
        made = {
            node.func.attr
            for node in ast.walk(code)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        assert not made & {"default_rng", "SeedSequence", "Philox", "RandomState"}, file


def test_numpy_generators_are_those_of_the_same_seed():
    assert isinstance(stream(0, "information.starts"), np.random.Generator)
