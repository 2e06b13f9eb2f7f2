"""A made-up table of customers as they come: columns of every kind, gaps, and segments that were planted."""

import numpy as np
import pandas as pd

from consilience._check import check_count, check_seed, check_share
from consilience._run.random import stream
from consilience._types import Array, Ints, RandomState

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
