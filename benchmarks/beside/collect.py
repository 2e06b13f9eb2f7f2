"""Run the sides of a task one after the other, and keep what they cost and how good they are."""

from __future__ import annotations

import datetime
import json
import os
import platform
import resource
import signal
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.beside.peers import PEERS
from benchmarks.beside.task import Arrays, NoDataError, Task, difference

RESULTS = Path(__file__).resolve().parents[1] / "results" / "beside"
LIMIT = 240  # CPU-seconds of a side
WAIT = 1800  # seconds that they may take
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def collect(
    task: Task, peers: Path | None, only: Collection[str] | None = None, kept: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Costs and quality of all sides of a task; with `only`, those of some peers, and the rest from what was `kept`.

    Every side has the date and the load of its own run. Where quality is a difference from our answer, ours is run again too.
    """
    before = {(row["side"], row["function"]): row for row in (kept or {}).get("sides", ())}
    found: dict[str, Any] = {"task": task.name, **conditions()}
    then = {name: kept[name] for name in ("date", "load")} if kept else {}
    try:
        inputs, truth = task.inputs()
    except NoDataError as missing:
        return {**found, "skipped": str(missing)}
    sides = []
    ours = None
    own = [("consilience", function) for function in (task.ours, *task.also)]
    for side, function in (*own, *task.peers):
        needed = task.score is difference and (side, function) == own[0]
        if only is not None and side not in only and (side, function) in before and not needed:
            sides.append(then | before[side, function])
            continue
        now = {"date": found["date"], "load": round(os.getloadavg()[0], 1)}
        with tempfile.TemporaryDirectory() as folder:
            row, answers = run_side(side, function, inputs, Path(folder), peers)
        if answers:
            ours = answers if ours is None else ours
            scores = [task.score(truth, answer, ours[0]) for answer in answers]
            row["quality"] = float(np.max(scores) if task.score is difference else np.median(scores))
            row["quality_of_runs"] = [round(score, 4) for score in scores] if task.score is not difference else scores
            if np.ndim(answers[0]) == 1 and task.score is not difference:
                row["n_clusters"] = int(np.median([len(np.unique(answer)) for answer in answers]))
        sides.append({"side": side, "function": function, **now, **row})
    return {**found, "sides": sides}


def run_side(
    side: str, function: str, inputs: Arrays, work: Path, peers: Path | None, limit: int = LIMIT
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What one side cost, and its answers; or why there are none."""
    words = PEERS[side].command(side, function, work, peers)
    if words is None:
        return {"absent": True}, []
    np.savez(work / "inputs.npz", **inputs)
    if PEERS[side].where in ("R", "octave"):
        for name, array in inputs.items():
            np.savetxt(work / f"{name}.csv", np.atleast_1d(array), delimiter=",", fmt="%.17g")
    environment = {
        key: value for key, value in os.environ.items() if key != "PYTHONPATH" or PEERS[side].where == "here"
    }
    try:
        done = subprocess.run(
            words,
            env=environment | THREADS,
            capture_output=True,
            text=True,
            timeout=WAIT,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 60)),  # so that time is SIGXCPU
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {WAIT} s"}, []
    if done.returncode == -signal.SIGXCPU:
        return {"failed": f"not done in {limit} CPU-seconds"}, []
    if done.returncode == -signal.SIGKILL:
        return {"failed": "killed, as processes are where memory runs out"}, []
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1][:200]}, []
    cost = json.loads((work / "cost.json").read_text())
    answers = []
    for seed in range(len(cost["cpu_s"])):
        kept = work / f"answer_{seed}.npy"
        answers.append(np.load(kept) if kept.exists() else np.loadtxt(work / f"answer_{seed}.csv", delimiter=","))
    row = {
        "version": cost["version"],
        "runs": len(answers),
        "cpu_s": float(np.median(cost["cpu_s"])),
        "cpu_s_of_runs": [round(one, 5) for one in cost["cpu_s"]],
        "wall_s": float(np.median(cost["wall_s"])),
        "added_mb": max(0.0, cost["peak_mb"] - cost["before_mb"]),
        "peak_mb": cost["peak_mb"],
    }
    return row, answers


def conditions() -> dict[str, Any]:
    """Machine, versions, date and load."""
    packages = "consilience", "numpy", "scipy", "scikit-learn"
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "machine": f"{processor()}, {os.cpu_count()} cores, {memory_gb()} GB, {platform.system()}",
        "python": platform.python_version(),
        "versions": {package: version(package) for package in packages},
        "load": round(os.getloadavg()[0], 1),
    }


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def memory_gb() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def write(found: dict[str, Any], folder: Path = RESULTS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{found['task']}.json"
    file.write_text(json.dumps(found, indent=1) + "\n")
    return file
