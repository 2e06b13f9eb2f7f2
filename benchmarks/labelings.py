"""Several groupings at once: `alternatives` beside NrKmeans of ClustPy 0.0.3, scored with all known groupings.

ClustPy needs a compiler and, for parts that are not used here, torch: it gets a virtual environment of its own, without its
dependencies; set CONSILIENCE_CLUSTPY_PYTHON to reuse one. All are told the numbers of clusters, NrKmeans also that there is a space of
noise; it keeps the best of ten starts. CPU-seconds, one after the other, on the same standardized tables; those of `alternatives` include
its tests of what it found, after which it keeps less; `at_once_all` is what it began with.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import cpu
from consilience.alternatives import alternatives
from consilience.alternatives.at_once import find_at_once
from consilience.datasets import load_beads
from consilience.measures import compare_labelings

STACK = ["numpy<2.3", "scipy", "scikit-learn", "pandas", "matplotlib", "pillow", "setuptools", "wheel", "cython"]
PEER = """
import json, sys, time
import numpy as np
from clustpy.alternative import NrKmeans
X = np.load(sys.argv[1])
start = time.process_time()
found = NrKmeans(json.loads(sys.argv[2]), n_init=10, random_state=int(sys.argv[3])).fit(X)
print("RESULT", json.dumps({"cpu_s": time.process_time() - start, "labels": np.asarray(found.labels_).tolist()}))
"""
SEEDS = 5


def _peer_python(folder):
    if given := os.environ.get("CONSILIENCE_CLUSTPY_PYTHON"):
        return given
    python = Path(folder) / "peer" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", Path(folder) / "peer"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *STACK], check=True)
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "clustpy==0.0.3"], check=True
    )
    return str(python)


def planted(seed, sizes=(4, 3, 2), *, n=600, width=4, noise=6, rotated=False):
    """Independent groupings, each in columns of its own, and columns of noise; or all of it rotated at random."""
    rng = np.random.default_rng(seed)
    known = {f"grouping {k}": rng.integers(0, k, n) for k in sizes}
    parts = [2.0 * rng.normal(size=(k, width))[labels] for k, labels in zip(sizes, known.values(), strict=True)]
    X = np.column_stack([*parts, np.zeros((n, noise))]) + rng.normal(size=(n, width * len(sizes) + noise))
    if rotated:
        X = X @ np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    return X, known


def _beads(seed):
    beads = load_beads()
    return beads.values, {name: beads.labels[name].to_numpy() for name in ("shape", "color")}


def _beside(name, make, seeds=SEEDS):
    """Mean over tables of what both found."""

    def case():
        rows = {"one_by_one": [], "at_once": [], "at_once_all": [], "nrkmeans": []}
        with tempfile.TemporaryDirectory() as folder:
            python = _peer_python(folder)
            for seed in range(seeds):
                X, known = make(seed)
                X = (X - X.mean(axis=0)) / X.std(axis=0)
                sizes = [len(np.unique(labels)) for labels in known.values()]
                how = {"n_clusters": sizes, "random_state": seed, "progress": False}
                for who in ("one_by_one", "at_once"):
                    seconds, found = cpu(
                        lambda X=X, how=how, who=who: alternatives(
                            X, len(how["n_clusters"]), at_once=who == "at_once", **how
                        )
                    )
                    labels = np.zeros((len(X), 1), int) if found.ensemble is None else found.labels
                    rows[who].append(_scores(labels, known, seconds))
                seconds, found = cpu(lambda X=X, sizes=sizes, seed=seed: find_at_once(X, sizes, seed=seed))
                rows["at_once_all"].append(_scores(found.labels, known, seconds))
                np.save(Path(folder) / "X.npy", X)
                words = [python, "-c", PEER, str(Path(folder) / "X.npy"), json.dumps([*sizes, 1]), str(seed)]
                done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
                theirs = json.loads(done.stdout.split("RESULT ")[-1])
                rows["nrkmeans"].append(_scores(np.array(theirs["labels"]), known, theirs["cpu_s"]))
        means = {
            who: {key: round(float(np.mean([row[key] for row in some])), 3) for key in some[0]}
            for who, some in rows.items()
        }
        return means | {"ok": means["at_once_all"]["nmi"] >= means["nrkmeans"]["nmi"] - 0.02}

    case.__name__ = name
    return case


def _scores(labels, known, seconds):
    by_nmi, by_ari = (compare_labelings(labels, known, measure) for measure in ("nmi", "adjusted_rand"))
    return {"nmi": by_nmi.matched, "ari": by_ari.matched, "pairs_f1": by_nmi.pairs["f1"], "cpu_s": seconds}


CASES = [
    _beside("labelings_beads", _beads),
    _beside("labelings_planted", planted),
    _beside("labelings_rotated", lambda seed: planted(seed, rotated=True)),
]
