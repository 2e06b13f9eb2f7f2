"""Counts with two independent groupings (Gondek and Hofmann 2005): what a search for an alternative should find."""

from __future__ import annotations

import numpy as np

from consilience._check import InputError, check_choice, check_count, check_seed, is_number, show
from consilience._run.random import stream
from consilience._types import Ints, Labels, RandomState

READINGS = ("shear", "member")
# Probabilities of the levels of an axis; the two highest together still leave room for other events.
LOWEST, STEP, HIGHEST = 0.04, 0.11, 0.48


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
