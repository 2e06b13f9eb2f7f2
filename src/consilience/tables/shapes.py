"""Rows that are series, as features of their shape: what stays the same when a curve is lifted, stretched or moved in time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from consilience._check import InputError
from consilience._types import Floats, Ints

PARTS, WAVES = 8, 16
LEVELS = np.arange(1, 10) / 10
STEPS = np.array([0, 5, 10, 25, 50, 75, 90, 95, 100]) / 100
FEWEST = 8  # points of a series


def shape_names(n_points: int) -> tuple[list[str], Ints]:
    """Names of the features of series of so many points, and which of four families each belongs to."""
    if n_points < FEWEST:
        raise InputError(
            f"series need at least {FEWEST} points, and there are {n_points} columns: leave types='series' out"
        )
    families = [
        [f"part {i + 1}" for i in range(PARTS)],
        [f"wave {i + 1}" for i in range(min(WAVES, n_points // 2))],
        [f"level {100 * q:.0f} %" for q in LEVELS],
        [f"step {100 * q:.0f} %" for q in STEPS],
    ]
    return [name for names in families for name in names], np.repeat(np.arange(4), [len(names) for names in families])


def shape_features(series: Floats) -> Floats:
    """Shapes of rows, each brought to mean 0 and standard deviation 1 first; missing points lie on the line between their neighbors.

    Parameters
    ----------
    series : (n, points) array
        NaN where a point is missing; a row without any is flat.

    Returns
    -------
    (n, features) array
        Four families: means over eight parts (where it is high), amplitudes of the first 16 frequencies, and the quantiles of its values
        and of its steps; the last three stay the same when a curve is moved in time, the first may not.

    Notes
    -----
    O(n · points · log points).

    Examples
    --------
    >>> import numpy as np
    >>> t = np.arange(64)
    >>> same = np.stack([np.sin(t / 5), 3 + 2 * np.sin(t / 5)])
    >>> bool(np.allclose(*shape_features(same)))
    True
    """
    rows = _whole(series)
    rows = rows - rows.mean(axis=1, keepdims=True)
    size = rows.std(axis=1, keepdims=True)
    rows = rows / np.where(size > 1e-12 * (1 + np.abs(series[:, :1])), size, 1)
    rows = np.nan_to_num(rows)
    n_points = rows.shape[1]
    ends = np.linspace(0, n_points, PARTS + 1).round().astype(int)
    parts = np.stack([rows[:, b:e].mean(axis=1) for b, e in pairwise(ends)], axis=1)
    waves = np.abs(np.fft.rfft(rows, axis=1))[:, 1 : min(WAVES, n_points // 2) + 1] * 2 / n_points
    levels = np.quantile(rows, LEVELS, axis=1).T
    steps = np.quantile(np.diff(rows, axis=1), STEPS, axis=1).T
    return np.concatenate([parts, waves, levels, steps], axis=1)


def _whole(series: Floats) -> Floats:
    lost = np.isnan(series)
    if not lost.any():
        return series
    rows, at = series.copy(), np.arange(series.shape[1])
    for i in np.flatnonzero(lost.any(axis=1)):
        known = ~lost[i]
        rows[i] = np.interp(at, at[known], series[i, known]) if known.any() else 0.0
    return rows
