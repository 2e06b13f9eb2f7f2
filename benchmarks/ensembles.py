"""Signatures of large ensembles."""

import resource

import consilience as cs
from benchmarks.timing import cpu, noisy_labels


def _signatures(n, noise=0.05):
    ensemble = cs.Ensemble(noisy_labels(n, 10, 10, noise))
    seconds, found = cpu(ensemble.signatures)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"cpu_s": round(seconds, 3), "distinct_rows": len(found), "peak_gb": round(peak, 2)}


def signatures_million():
    """1,000,000 × 10 labels, k = 10, 5 % noise, one thread."""
    found = _signatures(1_000_000)
    return {**found, "bar_cpu_s": 2, "ok": found["cpu_s"] <= 2}


def signatures_million_noisy():
    """The same at 30 % noise, where half of the rows are distinct."""
    return _signatures(1_000_000, 0.3)


def signatures_ten_million():
    """10,000,000 × 10 labels within 4 GB."""
    found = _signatures(10_000_000)
    return {**found, "bar_gb": 4, "ok": found["peak_gb"] <= 4}


CASES = [signatures_million, signatures_million_noisy, signatures_ten_million]
