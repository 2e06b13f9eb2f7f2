"""A made-up table of customers as they come: columns of every kind, gaps, and segments that were planted."""

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, check_count, check_seed, check_share, is_number, show
from consilience._run.random import stream
from consilience._types import Array, Ints, Labels, RandomState

PLANS, REGIONS = ("free", "basic", "pro", "team"), ("north", "south", "east", "west", "center")


def customers(
    n: int = 500, *, n_segments: int = 4, missing: float = 0.05, n_noise: int = 2, random_state: RandomState = 0
) -> tuple[pd.DataFrame, Ints]:
    """Customers in planted segments: numbers, categories, a yes or no, a date, and columns that say nothing of the segments.

    Parameters
    ----------
    n : int
    n_segments : int
    missing : float
        Share of the cells that are empty, of all columns but id, country and note.
    n_noise : int
        Columns of noise, numbers and categories in turn.
    random_state : int or NumPy generator, optional

    Returns
    -------
    frame : DataFrame
        `customer_id`, `age`, `income`, `plan`, `region`, `newsletter`, `signup`, `country` (constant), `note` (free text) and the noise.
    segments : (n,) int array

    Examples
    --------
    >>> from consilience.datasets import customers
    >>> frame, segments = customers(3, random_state=0)
    >>> frame.shape, segments.shape
    ((3, 11), (3,))
    """
    check_count("n", n)
    check_count("n_segments", n_segments, 2)
    if missing:
        check_share("missing", missing)
    rng = stream(check_seed(random_state), "datasets.customers")
    segments = rng.integers(0, n_segments, n)
    steps = np.arange(n_segments)
    orders = [rng.permutation(n_segments) for _ in range(4)]  # who is old is not who is rich
    plan, region = rng.permutation(n_segments), rng.permutation(n_segments)
    likes = np.where(rng.permutation(n_segments) % 2 == 0, 0.9, 0.1)
    frame = pd.DataFrame({"customer_id": [f"C{i:06d}" for i in rng.permutation(n)]})
    frame["age"] = np.round(rng.normal((25 + 15 * steps)[orders[0]][segments], 5))
    frame["income"] = np.round(np.exp(rng.normal((9.5 + 0.9 * steps)[orders[1]][segments], 0.35)), 2)
    frame["plan"] = _mostly(rng, plan[segments], PLANS, 0.85)
    frame["region"] = _mostly(rng, region[segments], REGIONS, 0.7)
    frame["newsletter"] = rng.random(n) < likes[segments]
    days = np.round(rng.normal((200 + 900 * steps)[orders[2]][segments], 200))
    frame["signup"] = pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D")
    frame["country"] = "NL"
    words = np.array(["called", "wrote", "angry", "happy", "later", "offer"])
    frame["note"] = [f"{' '.join(rng.choice(words, 3))} {i}" for i in range(n)]
    for j in range(n_noise):
        frame[f"noise_{j + 1}"] = rng.normal(size=n) if j % 2 == 0 else rng.choice(list("uvw"), n)
    for name in frame.columns.difference(["customer_id", "country", "note"], sort=False):
        gone = rng.random(n) < missing
        if gone.any():
            kept = frame[name].astype(object) if frame[name].dtype == bool else frame[name]
            frame[name] = kept.mask(gone, None)
    return frame, segments


def _mostly(rng: np.random.Generator, codes: Ints, words: tuple[str, ...], share: float) -> Array:
    """The word of each code, or with a chance of 1 − share any word."""
    drawn = np.where(rng.random(len(codes)) < share, codes % len(words), rng.integers(0, len(words), len(codes)))
    return np.array(words, object)[drawn]


# Counts with two independent groupings (Gondek and Hofmann 2005): what a search for an alternative should find.

READINGS = ("shear", "member")
# Probabilities of the levels of an axis; the two highest together still leave room for other events.
LOWEST, STEP, HIGHEST = 0.04, 0.11, 0.48  # safeguard: data that are made, not judged


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
