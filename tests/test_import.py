"""What importing costs: nothing heavy is loaded, and the first call is quick."""

import os

import pytest

from command_line import apart


def run(code):
    """Standard output of the code in a fresh process."""
    done = apart("-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout


def within_three(seconds, most):
    """Whether the best of three tries stays below; one that does is enough."""
    return any(seconds() < most for _ in range(3))


HEAVY = {"numpy", "scipy", "pandas", "sklearn", "pyarrow", "joblib", "rich"}
NEVER = {"dask", "distributed", "starlette", "uvicorn", "matplotlib", "click", "anndata", "rich", "IPython"}


def test_import_loads_nothing_before_it_is_used():
    loaded = set(run("import sys, consilience as cs; dir(cs); print(*sys.modules)").split())
    assert not loaded & (HEAVY | NEVER)


COMMAND = """
import resource, sys
sys.argv = ["consilience", *{args!r}]
from consilience.__main__ import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("", used.ru_utime + used.ru_stime, *sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--version"], None),
        (["--help"], None),
        (["completion", "bash"], None),
        ([], "consilience "),
        ([], "consilience combine --"),
        ([], "consilience explore x.csv --k"),
    ],
)
def test_the_command_line_answers_at_once(args, words):
    """Version, help and completion import neither NumPy nor anything like it, within 0.3 CPU-seconds at best of three."""
    asked = {"_CONSILIENCE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str((words or "").count(" "))}

    def used():
        done = apart("-c", COMMAND.format(args=args), env={**os.environ, **(asked if words else {})})
        assert done.returncode == 0, done.stderr
        assert done.stdout
        assert not set(done.stderr.split()) & (HEAVY | NEVER - {"click"})
        return float(done.stderr.split()[0])

    assert within_three(used, 0.3)


TIMED = """
import time
{before}
start = time.process_time()
{timed}
print(time.process_time() - start)
"""


def test_a_call_is_quick():
    call = "consilience.pairwise([[0, 0, 1], [0, 1, 1]])"
    called = TIMED.format(before="import consilience; consilience.pairwise", timed=call)
    assert within_three(lambda: float(run(called)), 0.1)


def test_verbs_load_quickly_and_neither_dask_nor_web_nor_plotting_nor_command_line():
    verbs = "import consilience as cs; [getattr(cs, name) for name in cs.__all__ if name != 'report']"
    imported = TIMED.format(before="import sys, sklearn.base", timed=verbs) + "print(*sys.modules)"

    def seconds():
        spent, *loaded = run(imported).split()
        assert "consilience.ensemble" in loaded
        assert not set(loaded) & NEVER
        return float(spent)

    assert within_three(seconds, 1.0)


def test_public_names_and_modules_are_attributes():
    import consilience

    assert set(consilience.__all__) <= set(dir(consilience))
    assert consilience.measures.accuracy([0, 1], [1, 0]) == 1
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = consilience.nothing
