"""Random streams: one maker, and no two purposes share a stream."""

import ast
from functools import cache
from itertools import pairwise
from pathlib import Path

import consilience
from consilience._run.random import child_seed, stream

SOURCE = Path(consilience.__file__).parent
MAKERS = {"default_rng", "SeedSequence", "Philox", "RandomState"}
WORDS = "stream", "child_seed", *MAKERS
RUNS = ("agreement.mdc", "agreement.grow", "agreement.dataloom")
PUT_TOGETHER = {  # purposes that are not written out where they are used
    "agreement/cap.py": ("agreement.cap_rows", "agreement.cap_columns"),
    "agreement/co_clustering.py": (*RUNS, *(f"{run}_search" for run in RUNS)),
}


@cache
def codes():
    """The nodes of the code of every file of the package that may make random numbers, by its path there."""
    read = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    del read["_run/random.py"]
    return {file: list(ast.walk(ast.parse(text))) for file, text in read.items() if any(map(text.__contains__, WORDS))}


@cache
def purposes():
    """The files that draw for every purpose."""
    files = {}
    for file, nodes in codes().items():
        for node in nodes:
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("stream", "child_seed"):
                purpose = node.args[1]
                names = [purpose.value] if isinstance(purpose, ast.Constant) else PUT_TOGETHER.get(file, ())
                assert names, f"{file} makes a stream for a purpose that is not written out"
                for name in names:
                    files.setdefault(name, set()).add(file)
    return files


def test_no_two_files_draw_the_same_numbers_from_one_seed():
    shared = {name for name, files in purposes().items() if len(files) > 1}
    assert shared <= {"reports.objects"}, "pictures show the same"


def test_no_two_purposes_share_a_stream():
    seen = {}
    for purpose in purposes():
        for unit in ((), (0,), (1,), (0, 0), (0, 1), (2**40,)):
            for drawn in (stream(7, purpose, *unit).integers(2**63), child_seed(7, purpose, *unit)):
                assert seen.setdefault(int(drawn), (purpose, unit)) == (purpose, unit)


def test_a_unit_is_drawn_alike_alone_and_among_others():
    together = [stream(3, "information.starts", unit).random(4) for unit in range(5)]
    assert (stream(3, "information.starts", 4).random(4) == together[4]).all()
    assert not any((a == b).any() for a, b in pairwise(together))
    # Seeds fit kernels, and the largest is taken.
    assert 0 <= child_seed(2**63 - 1, "information.search", 2**63) < 2**63


def test_nothing_else_makes_generators():
    for file, nodes in codes().items():
        made = {getattr(node.func, "attr", "") for node in nodes if isinstance(node, ast.Call)}
        assert not made & MAKERS, file
