"""Ensembles and data made to a known truth: after the slides of Strehl and Ghosh 2002, and counts after Gondek and Hofmann 2005."""

from collections.abc import Sequence

import numpy as np

from consilience._check import InputError, check_choice, check_count, check_seed, is_number, show
from consilience._run.random import stream
from consilience._types import Floats, Ints, Labels, RandomState
from consilience.ensemble import Ensemble

READINGS = ("shear", "member")
# Probabilities of the levels of an axis; the two highest together still leave room for other events.
LOWEST, STEP, HIGHEST = 0.04, 0.11, 0.48  # safeguard: data that are made, not judged


def noisy_labels(
    n_objects: int = 400,
    n_clusters: int = 10,
    n_clusterings: int = 8,
    noise: float = 0.3,
    *,
    sizes: float | Sequence[float] | None = None,
    random_state: RandomState = 0,
) -> tuple[Ensemble, Labels]:
    """Copies of a random partition, each with a share of its labels replaced at random.

    Parameters
    ----------
    n_objects, n_clusters, n_clusterings : int
        The defaults are those of the slides.
    noise : float, default 0.3
        Share of the labels of every copy, 0 … 1, that are drawn anew, uniformly from all clusters. As in the slides the
        new label may be the old one, so noise p changes p (1 − 1/k) of the labels.
    sizes : float or (n_clusters,) sequence, optional
        None for equal sizes; a ratio by which each cluster is smaller than the one before; or the clusters' relative
        sizes. Every cluster has at least one object.
    random_state : int, generator or None

    Returns
    -------
    ensemble : Ensemble
        `info` has the noise.
    known : (n_objects,) int32 array

    Notes
    -----
    Memory about 12 bytes per label.

    Examples
    --------
    >>> from consilience.datasets import noisy_labels
    >>> ensemble, known = noisy_labels(noise=0.2, random_state=0)
    >>> ensemble
    Ensemble: 8 clusterings of 400 objects
      clusters  10
      made by   noisy copy 8
    >>> round(float((ensemble.labels == known[:, None]).mean()), 2)
    0.82
    """
    for name, value in (("n_objects", n_objects), ("n_clusters", n_clusters), ("n_clusterings", n_clusterings)):
        check_count(name, value)
    if not 0 <= noise <= 1:
        raise InputError(f"noise must be a share between 0 and 1; got {noise!r}")
    seed = check_seed(random_state)
    counts = _cluster_sizes(n_objects, n_clusters, sizes)
    known = stream(seed, "scenarios").permutation(np.repeat(np.arange(n_clusters, dtype=np.int32), counts))
    labels = np.repeat(known[:, None], n_clusterings, axis=1)
    n_replaced = round(noise * n_objects)
    for q in range(n_clusterings):
        rng = stream(seed, "scenarios.views", q)
        replaced = rng.choice(n_objects, n_replaced, replace=False, shuffle=False)
        labels[replaced, q] = rng.integers(n_clusters, size=n_replaced, dtype=np.int32)
    info = {"method": ["noisy copy"] * n_clusterings, "noise": [float(noise)] * n_clusterings}
    return Ensemble(labels, info=info), known


def _cluster_sizes(n: int, k: int, sizes: float | Sequence[float] | None) -> Ints:
    """Whole sizes that add up to n, as near to the wanted shares as they come (largest remainders), none empty."""
    if k > n:
        raise InputError(f"{n} objects cannot fill {k} clusters")
    shares = np.ones(k) if sizes is None else np.asarray(sizes, float)
    if shares.ndim == 0:
        shares = shares ** np.arange(k)
    if shares.shape != (k,) or not np.isfinite(shares).all() or (shares <= 0).any():
        raise InputError(f"sizes must be a positive ratio or {k} positive relative sizes; got {sizes!r}")
    wanted = shares / shares.sum() * n
    counts = np.floor(wanted + 1e-9).astype(np.int64)
    counts[np.argsort(counts - wanted, kind="stable")[: n - counts.sum()]] += 1
    while not counts.all():
        counts[counts.argmax()] -= 1
        counts[counts.argmin()] += 1
    return counts


def gaussians_8d5k(
    n_objects: int = 1000, *, cluster_std: float = 0.1, random_state: RandomState = 0
) -> tuple[Floats, Labels]:
    """Draw data like the slides' 8D5K: five Gaussian clusters of equal size in eight dimensions.

    Parameters
    ----------
    n_objects : int, default 1000
    cluster_std : float, default 0.1
        Standard deviation of every cluster in every dimension.
    random_state : int, generator or None

    Returns
    -------
    X : (n_objects, 8) array
    known : (n_objects,) int32 array
        In random order, so that no method gains from the order of the rows.

    Notes
    -----
    The slides give the dimensions and the clusters. They leave open the number of objects, the means and the standard deviation: here the
    means are uniform in the unit cube, and the default one is that at which k-means comes nearest to their NMI: 1.00 on
    all features and .62 to .77 (mean .70) on five pairs of features; here 1.00 and .59 to .83 (mean .71) over ten seeds.

    Examples
    --------
    >>> from consilience.datasets.scenarios import gaussians_8d5k
    >>> X, known = gaussians_8d5k(random_state=0)
    >>> X.shape, sorted(set(known.tolist()))
    ((1000, 8), [0, 1, 2, 3, 4])
    """
    check_count("n_objects", n_objects)
    rng = stream(check_seed(random_state), "datasets.gaussians")
    known = rng.permutation(np.repeat(np.arange(5, dtype=np.int32), _cluster_sizes(n_objects, 5, None)))
    return rng.random((5, 8))[known] + rng.normal(0, cluster_std, (n_objects, 8)), known


def orthogonal_multinomials(
    n_clusters: int,
    alpha: float = 1.0,
    *,
    reading: str = "shear",
    n_objects: int | None = None,
    n_draws: int | None = None,
    random_state: RandomState = 0,
) -> tuple[Ints, Labels, Labels]:
    """Draw counts with two groupings, more or less orthogonal: the synthetic data of Gondek and Hofmann 2005.

    An object draws `n_draws` events. How often the first one comes is the level of the given group, how often the second
    one comes that of the hidden group; the third column counts all other events.

    Parameters
    ----------
    n_clusters : int
        Groups of either grouping, k.
    alpha : float, default 1
        Orthogonality, 0 … 1: at 1 the two are independent, at 0 the given group decides everything.
    reading : {"shear", "member"}
        What `alpha` does, which Gondek and Hofmann leave open. "shear": the level of the second axis is α times that of the hidden
        group plus 1 − α times that of the given one; the groups stay independent. "member": the hidden group is the given one
        with probability 1 − α. At α = 1 both give the same data.
    n_objects : int, optional
        By default 50 k², as in 2005; at least k², shared equally among the k² pairs of groups as far as that goes.
    n_draws : int, optional
        By default 50 k (k + 1) + 100, as in 2005.
    random_state : int, generator or None

    Returns
    -------
    X : (n_objects, 3) int64 array
        Every row adds up to `n_draws`.
    given, hidden : (n_objects,) int32 arrays

    Notes
    -----
    Gondek and Hofmann 2005 print sizes but no levels. Here group j of an axis has probability .04 + .11 j, which gives the ranges of their
    figures 1 and 3 (beyond k = 5 the levels move closer together).

    Examples
    --------
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> X.shape, X[0].tolist(), int(given[0]), int(hidden[0])
    ((200, 3), [61, 18, 321], 1, 0)
    """
    k = check_count("n_clusters", n_clusters, 2)
    n = check_count("n_objects", 50 * k**2 if n_objects is None else n_objects, k**2)
    m = check_count("n_draws", 50 * k * (k + 1) + 100 if n_draws is None else n_draws)
    check_choice(reading, READINGS, "reading")
    if not is_number(alpha) or not 0 <= alpha <= 1:
        raise InputError(f"alpha must be a number between 0 and 1; got {show(alpha)}")
    rng = stream(check_seed(random_state), "datasets.multinomials")
    pairs = np.arange(n, dtype=np.int32) % k**2
    rest = pairs[n - n % k**2 :]
    rest[:] = rest % k * k + (rest + rest // k) % k  # along diagonals, so that all groups of both get their share
    given, hidden = np.divmod(rng.permutation(pairs), np.int32(k))
    own = rng.random(n) < alpha  # drawn in both readings, so that they agree to the last count at α = 1
    if reading == "member":
        hidden = np.where(own, hidden, given)
    mixed = alpha * hidden + (1 - alpha) * given if reading == "shear" else hidden
    levels = LOWEST + min(STEP, (HIGHEST - LOWEST) / (k - 1)) * np.column_stack([given, mixed])
    return rng.multinomial(m, np.column_stack([levels, 1 - levels.sum(axis=1)])), given, hidden
