"""Tables with planted blocks, for the tests of agreement."""

import numpy as np
from scipy import sparse


def planted(n=300, d=400, k=5, counts=40, own=0.5, seed=0):
    """Rows and columns in k blocks: a share `own` of a row's counts falls on the columns of its block, the rest anywhere."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, k, n), rng.integers(0, k, d)
    inside = [np.flatnonzero(columns == b) for b in range(k)]
    which = np.repeat(np.arange(n), counts)
    drawn = rng.integers(0, d, n * counts)
    for b in range(k):
        mine = (rng.random(n * counts) < own) & (rows[which] == b)
        drawn[mine] = rng.choice(inside[b], mine.sum())
    table = sparse.csr_matrix((np.ones(n * counts), (which, drawn)), shape=(n, d))
    table.sum_duplicates()
    return table, rows, columns
