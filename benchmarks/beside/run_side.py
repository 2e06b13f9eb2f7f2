"""Run one side of a task, in whatever interpreter that side needs: NumPy and the peer are all it may import.

    PYTHON run_side.py SIDE.py FUNCTION FOLDER PACKAGE

FUNCTION of SIDE.py takes the arrays of FOLDER/inputs.npz and returns the call to be timed, which takes a seed. Answers go to
FOLDER/answer_SEED.npy, costs to FOLDER/cost.json. A call of less than two seconds is first made once to warm up. Then it is made
three times; five times below a third of a second, once above a minute.
"""

import importlib.metadata
import importlib.util
import json
import os
import resource
import sys
import time
import warnings

BRIEF, QUICK, LONG = 0.3, 2.0, 60.0
ENOUGH = 0.2  # CPU-seconds that a clock of four milliseconds measures well


def main(side, function, folder, package):
    del sys.path[0]  # this folder: files there are named as the packages are
    import numpy as np

    warnings.simplefilter("ignore")
    spec = importlib.util.spec_from_file_location("side", side)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with np.load(os.path.join(folder, "inputs.npz"), allow_pickle=False) as file:
        call = getattr(module, function)({name: file[name] for name in file.files})
    before = peak_mb()
    first = cost(call, 0)
    repeats = max(1, round(ENOUGH / max(first[0], ENOUGH / 100))) if first[0] < ENOUGH / 2 else 1
    costs, answers = ([], []) if first[0] < QUICK else ([first[:2]], [first[2]])
    for seed in range(len(costs), 5 if first[0] < BRIEF else 3 if first[0] < LONG else 1):
        *spent, answer = cost(call, seed, repeats)
        costs.append(spent)
        answers.append(answer)
    for seed, answer in enumerate(answers):
        np.save(os.path.join(folder, f"answer_{seed}.npy"), np.asarray(answer))
    cpu, wall = zip(*costs)  # noqa: B905 - peers may need an old Python
    found = {"cpu_s": cpu, "wall_s": wall, "before_mb": before, "peak_mb": peak_mb()}
    found["version"] = importlib.metadata.version(package)
    with open(os.path.join(folder, "cost.json"), "w") as file:
        json.dump(found, file)


def cost(call, seed, repeats=1):
    """(CPU-seconds with those of children, seconds, answer), a mean where the call is too brief for the clock."""
    cpu, wall = used(), time.perf_counter()
    for _ in range(repeats):
        answer = call(seed)
    return (used() - cpu) / repeats, (time.perf_counter() - wall) / repeats, answer


def used():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
