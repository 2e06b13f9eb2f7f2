"""Made-up clusterings, tables and graphs with something planted in them, for all tests.

Noisy copies are those of the public `noisy_labels`; `seed` alone decides what is drawn.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import consilience as cs
from consilience._check import InputError
from consilience.datasets import noisy_labels


def first_of(values, n=1):
    """Values of a parameter: the first n for every change, the others for the slow tests."""
    values = list(values)
    rest = [one if isinstance(one, tuple) else (one,) for one in values[n:]]
    return values[:n] + [pytest.param(*one, marks=pytest.mark.slow) for one in rest]


def refuses(said, call, /, *given, **how):
    """Ask for what must be refused, in a sentence in which `said`, a regular expression, is found."""
    with pytest.raises(InputError, match=said):
        call(*given, **how)


def refusals(*cases, call=lambda make: make()):
    """A test that what is given in every case is refused with the case's sentence: one line, in the words of a user."""

    @pytest.mark.parametrize(("given", "sentence"), cases)
    def test(given, sentence):
        with pytest.raises(InputError, match=sentence) as caught:
            call(given)
        assert "\n" not in str(caught.value)

    return test


def random_labels(seed, n, r, k, missing=0.0, *, labeled=False):
    """Labels of n objects in r clusterings, below k (one bound, or one per clustering), a share of them missing.

    With `labeled`, every object has a label in one clustering at least.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, (n, r)).astype(np.int32)
    labels[rng.random((n, r)) < missing] = -1
    if labeled:
        labels[(labels < 0).all(axis=1), 0] = 0
    return labels


def noisy_copies(n=400, k=10, r=8, noise=0.3, *, missing=0.0, sizes=None, seed=0):
    """Labels of r noisy copies of a partition, a share of them missing, and the partition."""
    ensemble, truth = noisy_labels(n, k, r, noise, sizes=sizes, random_state=seed)
    drawn = np.random.default_rng(seed).random((n, r))
    return np.where(drawn < missing, np.int32(-1), ensemble.labels), truth


def three_kinds(n_objects=120, sizes=(9, 6, 4), noise=0.1, seed=0, missing=0.0):
    """Noisy copies of three unrelated clusterings of 4 clusters, shuffled; also the kind of each, and the three."""
    rng = np.random.default_rng(seed)
    truths = rng.integers(0, 4, (3, n_objects))
    kinds = rng.permutation(np.repeat(np.arange(3), sizes))
    labels = truths[kinds].T
    drawn = rng.random(labels.shape)
    labels = np.where(drawn < noise, rng.integers(0, 4, labels.shape), labels)
    return cs.Ensemble(np.where(drawn > 1 - missing, -1, labels)), kinds, truths


def every_partition(n):
    """All partitions of n objects, one a row."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*p, k) for p in found for k in range(max(p) + 2)]
    return np.array(found, np.int32)


def same(found, given):
    """Equal labels of equal types."""
    assert list(found) == list(given)
    assert [type(label) for label in found] == [type(label) for label in given]


def same_partition(a, b):
    """Whether two vectors of labels say the same but for the names."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})


def same_runs(one, other):
    """That two runs have the same labels, and the same told of them, but for the seconds that they took."""
    np.testing.assert_array_equal(one.labels, other.labels)
    told = (run.info.drop(columns="seconds") for run in (one, other))
    pd.testing.assert_frame_equal(*told, rtol=1e-12, atol=0)  # the order of sums over a batch may differ


def row_blocks(folder, *parts):
    """The folder, new, with a Parquet file of each part."""
    folder.mkdir()
    for number, part in enumerate(parts):
        part.to_parquet(folder / f"{number}.parquet")
    return folder


def pool_of(data_folder, name, what="members"):
    """Labels of the clusterings of a pool of the literature, or its known classes, `y`."""
    path = data_folder / "pools" / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"no pool of clusterings at {path}")
    with np.load(path) as file:
        return file[what]


def crossed_groups(n=400, shifts=(6.0, 5.0), noise=0, seed=0):
    """Data with independent pairs of groups, each along its own column and `shift` apart, and columns of noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, (n, len(shifts)))
    return np.hstack([labels * shifts, np.zeros((n, noise))]) + rng.normal(size=(n, len(shifts) + noise)), labels


def block_counts(n=300, d=400, k=5, counts=40, own=0.5, seed=0):
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


def block_graph(k, size, inside, outside, seed):
    """A random graph of k blocks with likely edges inside and unlikely ones between, and its blocks."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(k), size))
    chance = np.where(truth[:, None] == truth, inside, outside)
    upper = np.triu(rng.random(chance.shape) < chance, 1)
    return sparse.csr_array((upper | upper.T).astype(float)), truth


def cut(graph, labels):
    """Weight of the edges between blocks, each edge once."""
    edges = sparse.coo_array(graph)
    return float(edges.data[labels[edges.row] != labels[edges.col]].sum()) / 2
