"""Consensus beside `ensembleclustering` 1.0.2, the one packaged peer with CSPA, HGPA, MCLA and HBGF.

With its own pins it does not install on Python 3.11, so it gets a virtual environment of its own with the newest SciPy it
still runs on; set CONSILIENCE_PEER_PYTHON to reuse one. Both run on the same labels, one after the other, in CPU-seconds.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import consilience as cs
from benchmarks.timing import cpu, noisy_labels
from consilience.consensus import METHODS
from consilience.measures import adjusted_rand, nmi

STACK = ["numpy==1.26.4", "scipy==1.10.1", "scikit-learn==1.3.2", "pymetis", "kahypar"]
PEER = """
import json, sys, time
import numpy as np
import ensembleclustering as peer
labels = np.load(sys.argv[1]).T.astype(float)
start = time.process_time()
found = peer.cluster_ensembles(labels, nclass=10, solver=sys.argv[2], random_state=0)
print("RESULT", json.dumps({"cpu_s": time.process_time() - start, "labels": np.asarray(found).ravel().tolist()}))
"""


def _peer_python(folder):
    given = os.environ.get("CONSILIENCE_PEER_PYTHON")
    if given:
        return given
    python = Path(folder) / "peer" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", Path(folder) / "peer"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *STACK], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "ensembleclustering==1.0.2"], check=True)
    return str(python)


def _peer(python, path, method, limit_s=300):
    try:
        done = subprocess.run(
            [python, "-c", PEER, path, method], capture_output=True, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    line = [x for x in done.stdout.splitlines() if x.startswith("RESULT ")]
    return json.loads(line[-1][7:]) if line else None


def beside_ensembleclustering():
    """n = 10,000, r = 20, k = 10, 30 % noise."""
    labels = noisy_labels(10_000, 20, 10, 0.3)
    truth = np.random.default_rng(0).integers(0, 10, (10_000, 1), dtype=np.int32).ravel()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "labels.npy", labels)
        python = _peer_python(folder)
        for method in ("mcla", "hbgf", "hgpa"):
            METHODS[method](10).fit(labels[:500])  # the partitioner's own start-up is not the method
            theirs = _peer(python, str(Path(folder) / "labels.npy"), method)
            ours, fitted = cpu(lambda m=method: METHODS[m](10).fit(cs.Ensemble(labels)))
            found[method] = {
                "peer_cpu_s": None if theirs is None else round(theirs["cpu_s"], 2),
                "peer_nmi": None if theirs is None else round(nmi(truth, theirs["labels"]), 3),
                "peer_ari": None if theirs is None else round(adjusted_rand(truth, theirs["labels"]), 3),
                "ours_cpu_s": round(ours, 3),
                "ours_nmi": round(nmi(truth, fitted.labels_), 3),
                "ours_ari": round(adjusted_rand(truth, fitted.labels_), 3),
                "clusters": fitted.n_clusters_,
                "ratio": None if theirs is None else round(theirs["cpu_s"] / ours, 1),
            }
    ok = all(row["ratio"] is not None and row["ratio"] >= 10 for row in found.values())
    return {**found, "bar_ratio": 10, "ok": ok}


CASES = [beside_ensembleclustering]
