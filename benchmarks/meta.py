"""Organizing thousands of clusterings, exactly and from a sketch."""

import resource

import numpy as np

import consilience as cs
from benchmarks.timing import cpu, noisy_labels


def _kinds(n, m, k, kinds=16, seed=0):
    """Noisy copies (30 %) of several unrelated clusterings, as an ensemble of kinds."""
    parts = [noisy_labels(n, m // kinds, k, 0.3, seed=seed + i).astype(np.int8) for i in range(kinds)]
    return cs.Ensemble(np.hstack(parts))


def organize_5000():
    """5,000 clusterings × 990 objects, k = 15, one thread: distances, tree, 16 groups, and the consensus of each by default."""
    ensemble = _kinds(990, 5008, 15)[:, :5000]
    found = {}
    found["organize_cpu_s"], meta = cpu(lambda: cs.organize(ensemble, 16, "ward"))
    found["groups_cpu_s"], _ = cpu(lambda: [meta.consensus(group) for group in meta.numbers])
    found["all_cpu_s"], _ = cpu(meta.consensus)
    seconds = found["organize_cpu_s"] + found["groups_cpu_s"]
    return {name: round(value, 2) for name, value in found.items()} | {"bar_cpu_s": 12, "ok": seconds <= 12}


def map_5000():
    """The MDS map of the same, its stress and what it keeps."""
    meta = cs.organize(_kinds(990, 5008, 15), 16)
    seconds, found = cpu(meta.map)
    return {
        "cpu_s": round(seconds, 1),
        "stress": round(found.stress, 3),
        "kept": round(found.neighbors_kept, 3),
        "note": found.note,
    }


def sketch_1000_of_100000():
    """1,000 clusterings × 100,000 objects from 32,768 pairs, beside exact distances; within 4 GB."""
    ensemble = _kinds(100_000, 1008, 15)
    sketched, meta = cpu(lambda: cs.organize(ensemble, 16, "ward", sketch=2**15))
    exact, truth = cpu(lambda: cs.organize(ensemble, 16, "ward", sketch=None))
    error = float(np.sqrt(np.mean((meta.distances - truth.distances) ** 2)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "sketch_cpu_s": round(sketched, 2),
        "exact_cpu_s": round(exact, 2),
        "standard_error": round(meta.standard_error, 5),
        "measured_error": round(error, 5),
        "peak_gb": round(peak, 2),
        "bar_gb": 4,
        "ok": peak <= 4 and 4 * sketched <= exact,
    }


CASES = [organize_5000, map_5000, sketch_1000_of_100000]
