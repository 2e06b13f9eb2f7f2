"""What a user waits for before anything happens (wall seconds, best of five fresh processes)."""

import subprocess
import sys

IMPORT = """
import time
start = time.perf_counter(); import sklearn.cluster, sklearn.metrics
middle = time.perf_counter(); import consilience as cs
end = time.perf_counter(); cs.pairwise([[0, 0, 1, 1], [0, 1, 1, 1]], "nmi")
print(end - middle, time.perf_counter() - end)
"""


def _fresh():
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True)
    return [float(x) for x in done.stdout.split()]


def import_and_first_call():
    """Import beyond scikit-learn's own, and the first call after it."""
    added, first = (min(times) for times in zip(*(_fresh() for _ in range(5)), strict=True))
    ok = added <= 0.5 and first <= 0.1
    return {
        "import_added_s": round(added, 3),
        "bar_import_s": 0.5,
        "first_call_s": round(first, 4),
        "bar_first_call_s": 0.1,
        "ok": ok,
    }


CASES = [import_and_first_call]
