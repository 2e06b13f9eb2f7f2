"""Colors of rows and labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Colors = NDArray[np.uint64]


def mix(color: int) -> int:
    """The finalizer of splitmix64."""
    color = (color ^ (color >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    color = (color ^ (color >> 27)) * 0x94D049BB133111EB % 2**64
    return color ^ (color >> 31)


def color_rows(
    labels: NDArray[np.int32], offsets: NDArray[np.int64], colors: Colors, own: Colors
) -> tuple[Colors, Colors]:
    """Each row's color from its own and those of its labels; for every label, the sum over its rows."""
    rows, sums = [], [0] * len(colors)
    for row, color in zip(labels, own.tolist(), strict=True):
        numbers = (offsets[:-1] + row)[row >= 0]
        rows.append(mix((color + sum(colors[numbers].tolist())) % 2**64))
        for number in numbers:
            sums[number] = (sums[number] + rows[-1]) % 2**64
    return np.array(rows, np.uint64), np.array(sums, np.uint64)
