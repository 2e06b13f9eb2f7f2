"""Sets with known numbers of clusters: a public suite, Gaussian clusters that are planted, and clouds that have none."""

from functools import partial

import numpy as np

from benchmarks.pools import folder

SHAPES = "gauss", "uniform", "long", "heavy", "banana", "skew"


def _root(rng, d, most):
    """Of a random covariance, its axes exp(−most) to exp(most) long."""
    return np.linalg.qr(rng.normal(size=(d, d)))[0] * np.exp(rng.uniform(-most, most, d))


def _size(rng):
    return int(np.exp(rng.uniform(np.log(200), np.log(5000)))), int(rng.choice([2, 3, 5, 10, 20, 50]))


def planted(seed):
    """Clusters whose centers lie `gap` apart or more, in units of their spread along the line between them, some under noise columns."""
    rng = np.random.default_rng(seed)
    k, (n, d) = int(rng.integers(2, 21)), _size(rng)
    k = min(k, n // 25)
    sizes = np.maximum((rng.dirichlet(np.full(k, 3.0)) * n).astype(int), 12)
    gap = rng.uniform(3.5, 7.0)  # in standard deviations, of which both have two: at 4 they touch
    roots = [_root(rng, d, 0.7) for _ in range(k)]
    centers, reach = [rng.normal(size=d)], 1.0
    while len(centers) < k:
        reach *= 1.02
        center, own = rng.normal(size=d) * reach * gap / np.sqrt(min(d, 6)), roots[len(centers)]
        if all(_apart(center - other, own, root, gap) for other, root in zip(centers, roots, strict=False)):
            centers.append(center)
    X = np.vstack([c + rng.normal(size=(m, d)) @ root.T for c, root, m in zip(centers, roots, sizes, strict=True)])
    noise = int(rng.choice([0, 0, d // 2, d])) if d <= 20 else 0
    if noise:
        X = np.hstack([X, rng.normal(size=(len(X), noise)) * X.std()])
    order = rng.permutation(len(X))
    return X[order], np.repeat(np.arange(1, k + 1), sizes)[order][:, None]


def _apart(way, own, other, gap):
    length = np.linalg.norm(way)
    spread = sum(np.sqrt(way @ root @ root.T @ way) / length for root in (own, other))
    return length > gap * spread / 2


def cloud(seed):
    """One cloud without clusters."""
    rng, shape = np.random.default_rng(10_000 + seed), SHAPES[seed % len(SHAPES)]
    n, d = _size(rng)
    if shape == "gauss":
        X = rng.normal(size=(n, d)) @ _root(rng, d, 1)
    elif shape == "uniform":
        X = rng.random((n, d))
    elif shape == "long":
        X = (rng.random((n, d)) if seed % 2 else rng.normal(size=(n, d))) * np.r_[rng.uniform(4, 12), np.ones(d - 1)]
    elif shape == "heavy":
        X = rng.standard_t(4, size=(n, d))
    elif shape == "banana":
        X = rng.normal(size=(n, d))
        X[:, 1] += 0.8 * X[:, 0] ** 2
    else:
        X = rng.gamma(2.0, size=(n, d))
    return X, np.ones((n, 1), int)


def read(path):
    with np.load(path) as file:
        return file["X"].astype(float), file["refs"].astype(np.int64)


MADE = {"planted": (planted, 52), "clouds": (cloud, 58)}


def sets(study, only=None):
    """Name, table and reference groupings (numbered from 1; 0 is noise) of every set, in the order of their names."""
    if study in MADE:
        make, n = MADE[study]
        found = ((f"{study}_{seed:02d}", partial(make, seed)) for seed in range(n))
    else:
        found = ((path.stem, partial(read, path)) for path in sorted((folder().parent / "suite").glob("*.npz")))
    yield from ((name, *get()) for name, get in found if not only or name in only)


def numbers_of(refs):
    return sorted({int(ref.max()) for ref in refs.T if ref.max() > 1})
