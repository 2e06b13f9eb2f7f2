"""What importing costs: nothing heavy is loaded, and the first call is quick."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str) -> str:
    """Standard output of the code in a fresh process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_neither_dask_nor_web_nor_plotting_nor_command_line():
    loaded = set(run("import sys, consilience; print(*sys.modules)").split())
    assert "consilience.ensemble" in loaded
    assert not loaded & {"dask", "distributed", "starlette", "uvicorn", "matplotlib", "click", "anndata", "rich"}


TIMED = """
import time
{before}
start = time.process_time()
{timed}
print(time.process_time() - start)
"""


def best_of_three(before: str, timed: str) -> float:
    return min(float(run(TIMED.format(before=before, timed=timed))) for _ in range(3))


def test_first_call_is_quick():
    call = "consilience.pairwise([[0, 0, 1], [0, 1, 1]])"
    assert best_of_three("import consilience", call) < 0.1


def test_import_adds_little_to_scikit_learn():
    assert best_of_three("import sklearn.cluster", "import consilience") < 0.5


@pytest.mark.parametrize("name", ["Ensemble", "pairwise", "stability", "__version__"])
def test_public_names(name):
    import consilience

    assert name in consilience.__all__
    assert hasattr(consilience, name)
